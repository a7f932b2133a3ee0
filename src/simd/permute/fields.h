/*
** Rows of two to four fields, one after another in memory, and vectors of one
** field each: f32_split_3(p, v) reads as many rows as a vector has lanes, and
** gives v[0] their first fields, v[1] the second ones and v[2] the third;
** f32_join_3(p, v) writes such rows. Likewise _2 and _4, and f64.
*/
#ifndef LA_SIMD_PERMUTE_FIELDS_H
#define LA_SIMD_PERMUTE_FIELDS_H

#include "simd/permute/deinterleave.h"

#define FIELDS_ static inline __attribute__((always_inline))

/* Lists of lanes: M(n, i, j) for each lane i of n. */
#define LANES2_(M, n, i, j) M(n, i, j), M(n, i + 1, j)
#define LANES4_(M, n, i, j) LANES2_(M, n, i, j), LANES2_(M, n, i + 2, j)
#define LANES8_(M, n, i, j) LANES4_(M, n, i, j), LANES4_(M, n, i + 4, j)
#define LANES16_(M, n, i, j) LANES8_(M, n, i, j), LANES8_(M, n, i + 8, j)
#if VEC_BYTES == 64
#define LIST_f32_(M, j) LANES16_(M, 16, 0, j)
#define LIST_f64_(M, j) LANES8_(M, 8, 0, j)
#elif VEC_BYTES == 32
#define LIST_f32_(M, j) LANES8_(M, 8, 0, j)
#define LIST_f64_(M, j) LANES4_(M, 4, 0, j)
#else
#define LIST_f32_(M, j) LANES4_(M, 4, 0, j)
#define LIST_f64_(M, j) LANES2_(M, 2, 0, j)
#endif

/* Two vectors zipped: their lower halves, their upper ones. */
#define ZIP_(n, i, j) ((j) * (n) / 2 + (i) / 2 + (i) % 2 * (n))
/* Field j of rows of three out of three vectors: what the first two hold, and
** then what the third one does. -1: a lane that does not matter. */
#define SPLIT_(n, i, j) (3 * (i) + (j) < 2 * (n) ? 3 * (i) + (j) : -1)
#define SPLIT_REST_(n, i, j)                                                 \
    (3 * (i) + (j) < 2 * (n) ? (i) : 3 * (i) + (j) - (n))
/* Vector j of three that hold rows of three: the first two fields, and then the
** third one. */
#define AT_(n, i, j) ((j) * (n) + (i))
#define JOIN_(n, i, j)                                                       \
    (AT_(n, i, j) % 3 == 2 ? -1                                             \
     : AT_(n, i, j) / 3 + AT_(n, i, j) % 3 * (n))
#define JOIN_REST_(n, i, j)                                                  \
    (AT_(n, i, j) % 3 == 2 ? (n) + AT_(n, i, j) / 3 : (i))

#define SHUFFLE_ __builtin_shufflevector
#define FIELDS_OF_(lane, type)                                               \
    FIELDS_ void lane##_zip(lane##v *a, lane##v *b)                         \
    {                                                                       \
        lane##v x = *a, y = *b;                                             \
        *a = SHUFFLE_(x, y, LIST_##lane##_(ZIP_, 0));                       \
        *b = SHUFFLE_(x, y, LIST_##lane##_(ZIP_, 1));                       \
    }                                                                       \
    FIELDS_ void lane##_split_2(const type *p, lane##v *v)                  \
    {                                                                       \
        const int n = VEC_BYTES / sizeof(type);                             \
        lane##v a = lane##_load(p), b = lane##_load(p + n);                 \
        v[0] = lane##_even(a, b);                                           \
        v[1] = lane##_odd(a, b);                                            \
    }                                                                       \
    FIELDS_ void lane##_split_3(const type *p, lane##v *v)                  \
    {                                                                       \
        const int n = VEC_BYTES / sizeof(type);                             \
        lane##v a = lane##_load(p), b = lane##_load(p + n);                 \
        lane##v c = lane##_load(p + 2 * n);                                 \
        lane##v x = SHUFFLE_(a, b, LIST_##lane##_(SPLIT_, 0));              \
        lane##v y = SHUFFLE_(a, b, LIST_##lane##_(SPLIT_, 1));              \
        lane##v z = SHUFFLE_(a, b, LIST_##lane##_(SPLIT_, 2));              \
        v[0] = SHUFFLE_(x, c, LIST_##lane##_(SPLIT_REST_, 0));              \
        v[1] = SHUFFLE_(y, c, LIST_##lane##_(SPLIT_REST_, 1));              \
        v[2] = SHUFFLE_(z, c, LIST_##lane##_(SPLIT_REST_, 2));              \
    }                                                                       \
    FIELDS_ void lane##_split_4(const type *p, lane##v *v)                  \
    {                                                                       \
        const int n = VEC_BYTES / sizeof(type);                             \
        lane##v low[2], high[2];                                            \
        lane##_split_2(p, low);                                             \
        lane##_split_2(p + 2 * n, high);                                    \
        v[0] = lane##_even(low[0], high[0]);                                \
        v[1] = lane##_even(low[1], high[1]);                                \
        v[2] = lane##_odd(low[0], high[0]);                                 \
        v[3] = lane##_odd(low[1], high[1]);                                 \
    }                                                                       \
    FIELDS_ void lane##_join_2(type *p, const lane##v *v)                   \
    {                                                                       \
        const int n = VEC_BYTES / sizeof(type);                             \
        lane##v a = v[0], b = v[1];                                         \
        lane##_zip(&a, &b);                                                 \
        lane##_store(p, a);                                                 \
        lane##_store(p + n, b);                                             \
    }                                                                       \
    FIELDS_ void lane##_join_3(type *p, const lane##v *v)                   \
    {                                                                       \
        const int n = VEC_BYTES / sizeof(type);                             \
        lane##v a = SHUFFLE_(v[0], v[1], LIST_##lane##_(JOIN_, 0));         \
        lane##v b = SHUFFLE_(v[0], v[1], LIST_##lane##_(JOIN_, 1));         \
        lane##v c = SHUFFLE_(v[0], v[1], LIST_##lane##_(JOIN_, 2));         \
        lane##_store(p, SHUFFLE_(a, v[2], LIST_##lane##_(JOIN_REST_, 0)));  \
        lane##_store(p + n,                                                 \
                     SHUFFLE_(b, v[2], LIST_##lane##_(JOIN_REST_, 1)));     \
        lane##_store(p + 2 * n,                                             \
                     SHUFFLE_(c, v[2], LIST_##lane##_(JOIN_REST_, 2)));     \
    }                                                                       \
    FIELDS_ void lane##_join_4(type *p, const lane##v *v)                   \
    {                                                                       \
        const int n = VEC_BYTES / sizeof(type);                             \
        lane##v even[2] = {v[0], v[2]}, odd[2] = {v[1], v[3]};              \
        lane##_zip(&even[0], &even[1]);                                     \
        lane##_zip(&odd[0], &odd[1]);                                       \
        lane##_join_2(p, (const lane##v[]){even[0], odd[0]});               \
        lane##_join_2(p + 2 * n, (const lane##v[]){even[1], odd[1]});       \
    }
FIELDS_OF_(f32, float)
FIELDS_OF_(f64, double)

#endif
