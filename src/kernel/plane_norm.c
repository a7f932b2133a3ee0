/* Batch and group norm, plane by plane, and what their gradients sum. */
#include "kernel/fold.h"
#include "kernel/rowwise.h"
#include "simd/vec.h"

#define ID f32
#define T float
#define A float
#define LANE f32
#define LOADV(p) f32_load(p)
#define LOADN(p, n, x) f32_load_pad(p, n, x)
#define STOREV(p, v) f32_store(p, v)
#define STOREN(p, n, v) f32_store_n(p, n, v)
#include "kernel/plane_norm.inc"

#define ID f64
#define T double
#define A double
#define LANE f64
#define LOADV(p) f64_load(p)
#define LOADN(p, n, x) f64_load_pad(p, n, x)
#define STOREV(p, v) f64_store(p, v)
#define STOREN(p, n, v) f64_store_n(p, n, v)
#include "kernel/plane_norm.inc"

#define ID f16
#define T la_f16
#define A float
#define LANE f32
#define LOADV(p) f16_load(p)
#define LOADN(p, n, x) f16_load_pad(p, n, x)
#define STOREV(p, v) f16_store(p, v)
#define STOREN(p, n, v) f16_store_n(p, n, v)
#include "kernel/plane_norm.inc"

#define ID bf16
#define T la_bf16
#define A float
#define LANE f32
#define LOADV(p) bf16_load(p)
#define LOADN(p, n, x) bf16_load_pad(p, n, x)
#define STOREV(p, v) bf16_store(p, v)
#define STOREN(p, n, v) bf16_store_n(p, n, v)
#include "kernel/plane_norm.inc"

#define PLANES(k) {apply_##k, sums_##k, back_##k}
const la_plane_norms LA_KERNEL(plane_norm) = {
    [LA_FLOAT16] = PLANES(f16), [LA_BFLOAT16] = PLANES(bf16),
    [LA_FLOAT32] = PLANES(f32), [LA_FLOAT64] = PLANES(f64)
};
