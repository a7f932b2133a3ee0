/* Batch and group norm, plane by plane, and what their gradients sum. */
#include "base/runtime/interrupt.h"
#include "kernel/reduce/hsum.h"
#include "kernel/rows/rows.h"
#include "simd/vec.h"

#define ROW_BODY "kernel/rows/plane_norm.inc"
#include "kernel/rows/each_float.inc"

#define PLANES(k) {apply_##k, sums_##k, back_##k}
const la_plane_norms LA_KERNEL(plane_norm) = {
    [LA_FLOAT16] = PLANES(f16), [LA_BFLOAT16] = PLANES(bf16),
    [LA_FLOAT32] = PLANES(f32), [LA_FLOAT64] = PLANES(f64)
};
