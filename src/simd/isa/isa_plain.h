/*
** Machines without SSE2: see the list in simd/vec.h. With NEON (aarch64) what
** plain C has no operators for is in isa_neon.h; elsewhere the compiler makes
** what it can of the loops over lanes.
*/

static inline f32v f32_fma(f32v a, f32v b, f32v c) { return a * b + c; }
static inline f64v f64_fma(f64v a, f64v b, f64v c) { return a * b + c; }
static inline i32v f32_sign_(f32v a) { return (i32v)a & INT32_MIN; }
static inline i64v f64_sign_(f64v a) { return (i64v)a & INT64_MIN; }
static inline u16h u16h_from_u32(u32v a)
{
    return __builtin_convertvector(a, u16h);
}
static inline u32v u32_from_u16h(u16h h)
{
    return __builtin_convertvector(h, u32v);
}
static inline f32v f32_from_i32(i32v a)
{
    return __builtin_convertvector(a, f32v);
}
static inline void vec_stream(void *p, i32v v) { memcpy(p, &v, sizeof v); }
static inline void vec_fence(void) { __sync_synchronize(); }

#if defined(__aarch64__)
#include "simd/isa/isa_neon.h"
#else
static inline f32v f32_sqrt(f32v a)
{
    for (int i = 0; i < F32_LANES; i++) a[i] = sqrtf(a[i]);
    return a;
}
static inline f64v f64_sqrt(f64v a)
{
    for (int i = 0; i < F64_LANES; i++) a[i] = sqrt(a[i]);
    return a;
}
static inline f32v f32_select(i32v m, f32v a, f32v b)
{
    return (f32v)((m & (i32v)a) | (~m & (i32v)b));
}
static inline f64v f64_select(i64v m, f64v a, f64v b)
{
    return (f64v)((m & (i64v)a) | (~m & (i64v)b));
}
static inline f32v f32_min(f32v a, f32v b) { return f32_select(a < b, a, b); }
static inline f64v f64_min(f64v a, f64v b) { return f64_select(a < b, a, b); }
static inline f32v f32_max(f32v a, f32v b) { return f32_select(a > b, a, b); }
static inline f64v f64_max(f64v a, f64v b) { return f64_select(a > b, a, b); }
#define LANE f32
#define CTYPE float
#define MASK i32v
#define MAGIC 0x1p23f
#include "simd/isa/soft_round.inc"
#define LANE f64
#define CTYPE double
#define MASK i64v
#define MAGIC 0x1p52
#include "simd/isa/soft_round.inc"
static inline bool i32_any(i32v m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }
static inline bool i64_any(i64v m) { return (m[0] | m[1]) != 0; }
static inline bool i32_all(i32v m) { return (m[0] & m[1] & m[2] & m[3]) != 0; }
static inline bool i64_all(i64v m) { return (m[0] & m[1]) != 0; }
static inline i32v i32_from_f32(f32v a)
{
    i32v r;
    for (int i = 0; i < F32_LANES; i++) {
        bool fits = a[i] >= -0x1p31f && a[i] < 0x1p31f;
        r[i] = fits ? (int32_t)a[i] : INT32_MIN;
    }
    return r;
}
static inline f64v f64_from_f32h(f32h h) { return (f64v){h[0], h[1]}; }
static inline f32h f32h_from_f64(f64v a)
{
    return (f32h){(float)a[0], (float)a[1]};
}
static inline f32h f32_low(f32v a) { return (f32h){a[0], a[1]}; }
static inline f32h f32_high(f32v a) { return (f32h){a[2], a[3]}; }
static inline f32v f32_join(f32h low, f32h high)
{
    return (f32v){low[0], low[1], high[0], high[1]};
}
static inline u64v u64_mul_low32(u64v a, u64v b)
{
    return (a & 0xffffffffu) * (b & 0xffffffffu);
}
#include "simd/isa/soft_half.inc"
#endif

#include "simd/permute/load_partial16.h"
#include "simd/isa/soft_part.inc"
