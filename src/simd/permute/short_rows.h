/*
** Rows of one to four elements: fields of structs, in vectors of four of their
** own (f32r, f64r), whatever the length of a register: a longer one would only
** add lanes that nobody wants. f32_load_row(p, w) reads w elements and no byte
** behind them, the other lanes are 0; f32_repeat_row(p) has the element at p in
** all lanes; f32_store_row(p, w, v) writes w elements and leaves what is behind
** them alone, as it may belong to another thread. Likewise for f64. 'w' is a
** constant where they are called.
*/
#ifndef LA_SIMD_PERMUTE_SHORT_ROWS_H
#define LA_SIMD_PERMUTE_SHORT_ROWS_H

#include <string.h>

#include "simd/vec.h"

#define ROW_ static inline __attribute__((always_inline))

/* Attribute of functions whose loops take one row at a time: these are so short
** that they need up to 1.7 times as long where they lie across two lines. */
#if defined(__clang__)
#define ROW_SPEED
#elif defined(__OPTIMIZE_SIZE__)
#define ROW_SPEED \
    __attribute__((optimize("O2", "tree-vectorize", "align-loops=32")))
#else
#define ROW_SPEED __attribute__((optimize("align-loops=64")))
#endif

typedef float f32r __attribute__((vector_size(16)));
typedef double f64r __attribute__((vector_size(32)));

/* Elements by memcpy: those of other types and smaller alignment travel through
** these lanes too. */
ROW_ float load_4(const void *p)
{
    float x;
    memcpy(&x, p, 4);
    return x;
}
ROW_ double load_8(const void *p)
{
    double x;
    memcpy(&x, p, 8);
    return x;
}
ROW_ f32r f32_repeat_row(const void *p)
{
    float x = load_4(p);
    return (f32r){x, x, x, x};
}
ROW_ f64r f64_repeat_row(const void *p)
{
    double x = load_8(p);
    return (f64r){x, x, x, x};
}

#if defined(__AVX2__)
#include "simd/isa/intrinsics.h"

ROW_ f32r f32_load_three_(const void *p)
{
    return (f32r)_mm_maskload_ps(p, _mm_setr_epi32(-1, -1, -1, 0));
}
ROW_ f64r f64_load_three_(const void *p)
{
    return (f64r)_mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0));
}
#else
ROW_ f32r f32_load_three_(const void *p)
{
    typedef double two __attribute__((vector_size(16)));
    f32r high = {load_4((const char *)p + 8)};
    return (f32r)(two){load_8(p), ((two)high)[0]};
}
ROW_ f64r f64_load_three_(const void *p)
{
    const char *at = p;
    return (f64r){load_8(at), load_8(at + 8), load_8(at + 16)};
}
#endif

ROW_ f32r f32_load_row(const void *p, int w)
{
    typedef double two __attribute__((vector_size(16)));
    f32r v;
    if (w == 1) return (f32r){load_4(p)};
    if (w == 2) return (f32r)(two){load_8(p)};
    if (w == 3) return f32_load_three_(p);
    memcpy(&v, p, 16);
    return v;
}
ROW_ f64r f64_load_row(const void *p, int w)
{
    f64r v;
    if (w == 1) return (f64r){load_8(p)};
    if (w == 2) return (f64r){load_8(p), load_8((const char *)p + 8)};
    if (w == 3) return f64_load_three_(p);
    memcpy(&v, p, 32);
    return v;
}

/* Rows of three go in two parts. Masked stores of AVX2 take five cycles on some
** processors; those of AVX512 keep a load of the next row waiting where rows
** follow each other without a gap, six times as long. */
ROW_ void f32_store_row(void *p, int w, f32r v)
{
    memcpy(p, &v, w == 1 ? 4 : w == 4 ? 16 : 8);
    float z = v[2];
    if (w == 3) memcpy((char *)p + 8, &z, 4);
}
ROW_ void f64_store_row(void *p, int w, f64r v)
{
    memcpy(p, &v, w == 1 ? 8 : w == 4 ? 32 : 16);
    double z = v[2];
    if (w == 3) memcpy((char *)p + 16, &z, 8);
}

#undef ROW_

#endif
