/*
** Images and volumes at points: where the taps of each point lie and what they
** weigh is computed in vectors once for a chunk of points, then used for every
** channel.
*/
#include "modules/vision/kernel/sample.h"

#include "kernel/matmul/muladd.h"

#define POINTS LA_SAMPLE_POINTS
/* Arrays one behind the other must not lie a page apart: stores to one would
** seem to touch loads from the other. */
#define CAPACITY (POINTS + 16)
#define MOST 16               /* taps of a point */

static int64_t taps_along(const la_sample *s)
{
    return s->mode == LA_SAMPLE_CUBIC ? 4 : s->mode == LA_SAMPLE_LINEAR ? 2 : 1;
}

/* All taps of a point. */
static int64_t taps_of(const la_sample *s)
{
    int64_t k = taps_along(s);
    return s->nd == 3 ? k * k * k : k * k;
}

#define REAL float
#define INT int32_t
#define VEC f32v
#define IVEC i32v
#define VL F32_LANES
#define LANE(x) f32_##x
#define LANE_INT(x) i32_##x
#define ANY i32_any
#define TO_INT(x) i32_from_f32(x)
#define NAME(x) x##_f32
#define PAIRS
#include "modules/vision/kernel/sample.inc"
#define REAL double
#define INT int64_t
#define VEC f64v
#define IVEC i64v
#define VL F64_LANES
#define LANE(x) f64_##x
#define LANE_INT(x) i64_##x
#define ANY i64_any
#define TO_INT(x) __builtin_convertvector(x, i64v)
#define NAME(x) x##_f64
#include "modules/vision/kernel/sample.inc"

const la_sample_kernels LA_KERNEL(sample_f32) = {
    sizeof(chunk_f32), read_f32, add_f32, slope_f32
};
const la_sample_kernels LA_KERNEL(sample_f64) = {
    sizeof(chunk_f64), read_f64, add_f64, slope_f64
};
