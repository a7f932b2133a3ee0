/* cummax and cummin: of equal elements the last one counts, as in PyTorch. */
#include "kernel/reduce_load.h"
#include "kernel/scan.h"

#define OP cummax
#define REACHES(a, b) ((a) >= (b))
#include "kernel/scan_extremes.inc"

#define OP cummin
#define REACHES(a, b) ((a) <= (b))
#include "kernel/scan_extremes.inc"

#define EVERY(op) \
    [LA_BOOL] = line_##op##_b8, [LA_UINT8] = line_##op##_u8, \
    [LA_INT8] = line_##op##_i8, [LA_UINT16] = line_##op##_u16, \
    [LA_INT16] = line_##op##_i16, [LA_UINT32] = line_##op##_u32, \
    [LA_INT32] = line_##op##_i32, [LA_UINT64] = line_##op##_u64, \
    [LA_INT64] = line_##op##_i64, [LA_FLOAT16] = line_##op##_f16, \
    [LA_BFLOAT16] = line_##op##_bf16, [LA_FLOAT32] = line_##op##_f32, \
    [LA_FLOAT64] = line_##op##_f64

const la_scan_extremes LA_KERNEL(scan_max) = {EVERY(cummax)};
const la_scan_extremes LA_KERNEL(scan_min) = {EVERY(cummin)};
