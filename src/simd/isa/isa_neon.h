/*
** What NEON has instructions for and C no operators: part of isa_plain.h. The
** bits are those of its loops over lanes: half-precision conversions keep the
** payload of NaN as F16C does.
*/
#include <arm_neon.h>

static inline f32v f32_sqrt(f32v a) { return (f32v)vsqrtq_f32((float32x4_t)a); }
static inline f64v f64_sqrt(f64v a) { return (f64v)vsqrtq_f64((float64x2_t)a); }
static inline f32v f32_select(i32v m, f32v a, f32v b)
{
    return (f32v)vbslq_f32((uint32x4_t)m, (float32x4_t)a, (float32x4_t)b);
}
static inline f64v f64_select(i64v m, f64v a, f64v b)
{
    return (f64v)vbslq_f64((uint64x2_t)m, (float64x2_t)a, (float64x2_t)b);
}
/* The second one of two zeros, and with NaN: fmin chooses otherwise. */
static inline f32v f32_min(f32v a, f32v b) { return f32_select(a < b, a, b); }
static inline f64v f64_min(f64v a, f64v b) { return f64_select(a < b, a, b); }
static inline f32v f32_max(f32v a, f32v b) { return f32_select(a > b, a, b); }
static inline f64v f64_max(f64v a, f64v b) { return f64_select(a > b, a, b); }

#define ROUNDING_(name, by)                                                 \
    static inline f32v f32_##name(f32v a)                                   \
    {                                                                       \
        return (f32v)by##_f32((float32x4_t)a);                              \
    }                                                                       \
    static inline f64v f64_##name(f64v a)                                   \
    {                                                                       \
        return (f64v)by##_f64((float64x2_t)a);                              \
    }
ROUNDING_(round, vrndnq)
ROUNDING_(floor, vrndmq)
ROUNDING_(ceil, vrndpq)
ROUNDING_(trunc, vrndq)
#undef ROUNDING_

/* Masks have all bits of a lane set or none. */
static inline bool i32_any(i32v m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
static inline bool i64_any(i64v m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
static inline bool i32_all(i32v m) { return vminvq_u32((uint32x4_t)m) != 0; }
static inline bool i64_all(i64v m) { return vminvq_u32((uint32x4_t)m) != 0; }

/* The instruction gives INT32_MAX above the range, and 0 for NaN. */
static inline i32v i32_from_f32(f32v a)
{
    i32v below = a < 0x1p31f;
    i32v r = (i32v)vcvtq_s32_f32((float32x4_t)a);
    return (r & below) | (INT32_MIN & ~below);
}
static inline f64v f64_from_f32h(f32h h)
{
    return (f64v)vcvt_f64_f32((float32x2_t)h);
}
static inline f32h f32h_from_f64(f64v a)
{
    return (f32h)vcvt_f32_f64((float64x2_t)a);
}
static inline f32h f32_low(f32v a)
{
    return (f32h)vget_low_f32((float32x4_t)a);
}
static inline f32h f32_high(f32v a)
{
    return (f32h)vget_high_f32((float32x4_t)a);
}
static inline f32v f32_join(f32h low, f32h high)
{
    return (f32v)vcombine_f32((float32x2_t)low, (float32x2_t)high);
}
static inline u64v u64_mul_low32(u64v a, u64v b)
{
    return (u64v)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
}
static inline f32v f16_widen(u16h h)
{
    return (f32v)vcvt_f32_f16(vreinterpret_f16_u16((uint16x4_t)h));
}
static inline u16h f16_narrow(f32v a)
{
    return (u16h)vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)a));
}
