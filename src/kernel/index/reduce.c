/*
** Reductions through index tensors: adding, multiplying, taking the larger or
** the smaller into indexed elements (index_add, scatter_reduce, index_put with
** accumulate). The order is that of the walk: results do not depend on threads.
*/
#include <complex.h>
#include <string.h>

#include "base/half.h"
#include "kernel/index/offset.h"

#define AS_IS(x) (x)
#define AS_BOOL(x) ((x) != 0)
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
/* Through 64 unsigned bits, so that signed integers wrap. */
#define ADD_INT(a, b) (uint64_t)(a) + (uint64_t)(b)
#define MUL_INT(a, b) (uint64_t)(a) * (uint64_t)(b)
#define OR(a, b) ((a) | (b))
#define AND(a, b) ((a) & (b))
#define MAX_INT(a, b) ((a) > (b) ? (a) : (b))
#define MIN_INT(a, b) ((a) < (b) ? (a) : (b))
/* NaN wins. */
#define MAX_FLOAT(a, b) ((a) != (a) || (a) > (b) ? (a) : (b))
#define MIN_FLOAT(a, b) ((a) != (a) || (a) < (b) ? (a) : (b))

/* A bfloat16 that is read, changed and written by itself stays in a vector
** register: ways over the others take longer than the arithmetic. */
typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));

static inline f32x4 lane_of(la_bf16 h)
{
    return (f32x4)(u16x8){0, h.bits};   /* the upper half of the first lane */
}
static inline la_bf16 bf16_of(f32x4 x)
{
    if (x[0] != x[0]) return la_f32_to_bf16(x[0]);
    u32x4 bits = (u32x4)x;
    return (la_bf16){((u16x8)(bits + 0x7fff + (bits >> 16 & 1)))[1]};
}

#define OP add
#define OP_INT ADD_INT
#define OP_FLOAT ADD
#define OP_BOOL OR
#define OP_IN_LANES
#include "kernel/index/each_reduce.inc"
#define OP mul
#define OP_INT MUL_INT
#define OP_FLOAT MUL
#define OP_BOOL AND
#define OP_IN_LANES
#include "kernel/index/each_reduce.inc"
#define OP max
#define OP_INT MAX_INT
#define OP_FLOAT MAX_FLOAT
#define OP_BOOL OR
#include "kernel/index/each_reduce.inc"
#define OP min
#define OP_INT MIN_INT
#define OP_FLOAT MIN_FLOAT
#define OP_BOOL AND
#include "kernel/index/each_reduce.inc"

static inline float _Complex load_c32(la_c32 x)
{
    float _Complex z;
    float parts[2] = {la_f16_to_f32(x.re), la_f16_to_f32(x.im)};
    memcpy(&z, parts, sizeof z);
    return z;
}
static inline la_c32 store_c32(float _Complex z)
{
    return (la_c32){la_f32_to_f16(crealf(z)), la_f32_to_f16(cimagf(z))};
}

#define LOAD AS_IS
#define STORE AS_IS
#define TYPE float _Complex
#define VALUE float _Complex
#define NAME add_c64
#define COMBINE ADD
#include "kernel/index/reduce.inc"
#undef COMBINE
#define NAME mul_c64
#define COMBINE MUL
#include "kernel/index/reduce.inc"
#undef COMBINE
#undef TYPE
#undef VALUE
#define TYPE double _Complex
#define VALUE double _Complex
#define NAME add_c128
#define COMBINE ADD
#include "kernel/index/reduce.inc"
#undef COMBINE
#define NAME mul_c128
#define COMBINE MUL
#include "kernel/index/reduce.inc"
#undef COMBINE
#undef TYPE
#undef VALUE
#undef LOAD
#undef STORE
#define LOAD load_c32
#define STORE store_c32
#define TYPE la_c32
#define VALUE float _Complex
#define NAME add_c32
#define COMBINE ADD
#include "kernel/index/reduce.inc"
#undef COMBINE
#define NAME mul_c32
#define COMBINE MUL
#include "kernel/index/reduce.inc"
#undef COMBINE

#define REALS(op) \
    [LA_BOOL] = op##_b8, [LA_UINT8] = op##_u8, [LA_INT8] = op##_i8, \
    [LA_UINT16] = op##_u16, [LA_INT16] = op##_i16, [LA_UINT32] = op##_u32, \
    [LA_INT32] = op##_i32, [LA_UINT64] = op##_u64, [LA_INT64] = op##_i64, \
    [LA_FLOAT16] = op##_f16, [LA_BFLOAT16] = op##_bf16, \
    [LA_FLOAT32] = op##_f32, [LA_FLOAT64] = op##_f64
#define COMPLEX(op) \
    [LA_COMPLEX32] = op##_c32, [LA_COMPLEX64] = op##_c64, \
    [LA_COMPLEX128] = op##_c128

const la_index_reductions LA_KERNEL(index_reductions) = {
    .add = {REALS(add), COMPLEX(add)},
    .mul = {REALS(mul), COMPLEX(mul)},
    .max = {REALS(max)},
    .min = {REALS(min)},
};
