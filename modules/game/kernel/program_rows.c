/* Programs over rows; the contract is program_rows.h. */
#include "modules/game/kernel/program_rows.h"

#include "base/scratch.h"
#include "modules/game/kernel/trig.h"
#include "simd/permute/fields.h"

/* ---- bits ---- */

/* The mixing steps of MurmurHash3's end (A. Appleby), on the lower 32 bits. */
static inline u32v mix_f32(u32v h, u32v k)
{
    h = (h ^ k) * 0x9e3779b1u;
    h = (h ^ (h >> 15)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}
static inline u64v low_f64(u64v a, uint32_t k)
{
    return u64_mul_low32(a, u64_set1(k)) & 0xffffffffu;
}
static inline u64v mix_f64(u64v h, u64v k)
{
    h = low_f64((h ^ k) & 0xffffffffu, 0x9e3779b1u);
    h = low_f64(h ^ (h >> 15), 0x85ebca6bu);
    h = low_f64(h ^ (h >> 13), 0xc2b2ae35u);
    return h ^ (h >> 16);
}

/* A whole number within 2^31 as 32 bits: for doubles it is read from the end
** of the fraction of a number whose last bit counts 1. */
static inline u32v whole_f32(f32v a) { return (u32v)i32_from_f32(a); }
static inline u64v whole_f64(f64v a)
{
    return (u64v)(a + 0x1.8p52) & 0xffffffffu;
}
/* The upper 24 of 32 bits as a whole number. */
static inline f32v upper_f32(u32v h) { return f32_from_i32((i32v)(h >> 8)); }
static inline f64v upper_f64(u64v h)
{
    return (f64v)(h >> 8 | 0x4330000000000000u) - 0x1p52;
}

/* ---- functions: computed as double, so that all dtypes agree ---- */

#define THROUGH_DOUBLE(name)                                                 \
    static inline f32v name##_f32(f32v a)                                   \
    {                                                                       \
        return f32_from_f64(name##_f64(f64_from_f32_low(a)),                \
                            name##_f64(f64_from_f32_high(a)));              \
    }
THROUGH_DOUBLE(sin)
THROUGH_DOUBLE(cos)
static inline f32v atan2_f32(f32v y, f32v x)
{
    return f32_from_f64(
        atan2_f64(f64_from_f32_low(y), f64_from_f32_low(x)),
        atan2_f64(f64_from_f32_high(y), f64_from_f32_high(x)));
}

#define T float
#define EXPONENT 0x7f800000u
#define LEAST_POWER 0x1p-126f
#define MOST_POWER 0x1p125f
#define V f32v
#define M i32v
#define B u32v
#define LANES F32_LANES
#define LANE(x) f32_##x
#define BITS(x) u32_##x
#define NAME(x) x##_f32
#include "modules/game/kernel/rows.inc"
#define T double
#define EXPONENT 0x7ff0000000000000u
#define LEAST_POWER 0x1p-1022
#define MOST_POWER 0x1p1021
#define V f64v
#define M i64v
#define B u64v
#define LANES F64_LANES
#define LANE(x) f64_##x
#define BITS(x) u64_##x
#define NAME(x) x##_f64
#include "modules/game/kernel/rows.inc"

const la_rows_kernels LA_KERNEL(game_rows) = {run_f32, run_f64};
