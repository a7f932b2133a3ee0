/* cummax and cummin: of equal elements the last one counts, as in PyTorch. NaN
** is an extreme of both kinds. */
#include "kernel/reduce/load.h"
#include "kernel/scan/scan.h"

#define OP cummax
#define REACHES(a, b) ((a) >= (b))
#include "kernel/scan/each_extreme.inc"

#define OP cummin
#define REACHES(a, b) ((a) <= (b))
#include "kernel/scan/each_extreme.inc"

#define EXTREME(op, k) {line_##op##_##k, columns_##op##_##k}
#define EVERY(op) \
    [LA_BOOL] = EXTREME(op, b8), [LA_UINT8] = EXTREME(op, u8), \
    [LA_INT8] = EXTREME(op, i8), [LA_UINT16] = EXTREME(op, u16), \
    [LA_INT16] = EXTREME(op, i16), [LA_UINT32] = EXTREME(op, u32), \
    [LA_INT32] = EXTREME(op, i32), [LA_UINT64] = EXTREME(op, u64), \
    [LA_INT64] = EXTREME(op, i64), [LA_FLOAT16] = EXTREME(op, f16), \
    [LA_BFLOAT16] = EXTREME(op, bf16), [LA_FLOAT32] = EXTREME(op, f32), \
    [LA_FLOAT64] = EXTREME(op, f64)

const la_scan_extremes LA_KERNEL(scan_max) = {EVERY(cummax)};
const la_scan_extremes LA_KERNEL(scan_min) = {EVERY(cummin)};
