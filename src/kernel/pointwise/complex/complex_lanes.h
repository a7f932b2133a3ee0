/*
** Complex elements as two vectors, of real and of imaginary parts, and their
** moduli. n elements are read (none if n < 0), the lanes beyond them are 0. A
** modulus has the same bits in every lane: for one alone take lane 0. Also used
** by kernel/reduce.
*/
#ifndef LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_LANES_H
#define LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_LANES_H

#include "kernel/pointwise/complex/modulus.h"
#include "simd/permute/deinterleave.h"

static inline int64_t lanes_within(int64_t n, int64_t lanes)
{
    return n < 0 ? 0 : n < lanes ? n : lanes;
}

/* The parts of up to a vector of elements at 'p', for each complex dtype; of
** complex32 as float. */
static inline void lanes_c32(const char *p, int64_t n, f32v *re, f32v *im)
{
    u32v x = n >= F32_LANES ? u32_load(p) : u32_load_n(p, n < 0 ? 0 : n);
    *re = f16_widen(u16h_from_u32(x & 0xffff));
    *im = f16_widen(u16h_from_u32(x >> 16));
}
static inline void lanes_c64(const char *p, int64_t n, f32v *re, f32v *im)
{
    f32v a, b;
    if (n >= F32_LANES) {
        a = f32_load(p);
        b = f32_load(p + VEC_BYTES);
    } else {
        int64_t first = lanes_within(2 * n, F32_LANES);
        int64_t rest = lanes_within(2 * n - first, F32_LANES);
        a = f32_load_n(p, first);
        b = f32_load_n(p + 4 * first, rest);
    }
    *re = f32_even(a, b);
    *im = f32_odd(a, b);
}
static inline void lanes_c128(const char *p, int64_t n, f64v *re, f64v *im)
{
    f64v a, b;
    if (n >= F64_LANES) {
        a = f64_load(p);
        b = f64_load(p + VEC_BYTES);
    } else {
        int64_t first = lanes_within(2 * n, F64_LANES);
        int64_t rest = lanes_within(2 * n - first, F64_LANES);
        a = f64_load_n(p, first);
        b = f64_load_n(p + 8 * first, rest);
    }
    *re = f64_even(a, b);
    *im = f64_odd(a, b);
}

/* Sums of squares; an infinite part makes them infinite, whatever the other
** is. */
static inline f32v squares_f32(f32v re, f32v im)
{
    return f32_select(f32_isinf(re) | f32_isinf(im), f32_set1(INFINITY),
                      re * re + im * im);
}
static inline f64v squares_f64(f64v re, f64v im)
{
    return f64_select(f64_isinf(re) | f64_isinf(im), f64_set1(INFINITY),
                      re * re + im * im);
}
/* Squared moduli of n elements at 'p'. */
static inline f32v lanes_square_c32(const char *p, int64_t n)
{
    f32v re, im;
    lanes_c32(p, n, &re, &im);
    return squares_f32(re, im);
}
static inline f32v lanes_square_c64(const char *p, int64_t n)
{
    f32v re, im;
    lanes_c64(p, n, &re, &im);
    return squares_f32(re, im);
}
static inline f64v lanes_square_c128(const char *p, int64_t n)
{
    f64v re, im;
    lanes_c128(p, n, &re, &im);
    return squares_f64(re, im);
}

/* Moduli. The squares of halves do not leave the range of floats; the others
** have the bits of abs. */
static inline f32v lanes_modulus_c32(const char *p, int64_t n)
{
    return f32_sqrt(lanes_square_c32(p, n));
}
static inline f32v lanes_modulus_c64(const char *p, int64_t n)
{
    f32v re, im;
    lanes_c64(p, n, &re, &im);
    return f32_modulus(re, im);
}
static inline f64v lanes_modulus_c128(const char *p, int64_t n)
{
    f64v re, im;
    lanes_c128(p, n, &re, &im);
    return f64_modulus(re, im);
}

#endif
