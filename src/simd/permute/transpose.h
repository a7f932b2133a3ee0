/*
** Transposes of square blocks in registers: f32_transpose makes F32_LANES
** vectors that are columns of those that are rows, f64_transpose likewise.
** Elements are first exchanged inside of 16 bytes, where a shuffle takes one
** cycle, and then the blocks of 16 bytes between rows. f32_transpose_blocks and
** f64_transpose_blocks do that to each side x side block of 'side' vectors that
** lie side by side in them: side is a power of two from 32 bytes on (float32:
** from 16 bytes on) to a whole vector, and a constant.
*/
#ifndef LA_SIMD_PERMUTE_TRANSPOSE_H
#define LA_SIMD_PERMUTE_TRANSPOSE_H

#include "simd/vec.h"

/* Lane numbers of two vectors zipped: their lower halves, their upper ones. */
#define ZIP2_LOW_ 0, 2
#define ZIP2_HIGH_ 1, 3
#define ZIP4_LOW_ 0, 4, 1, 5
#define ZIP4_HIGH_ 2, 6, 3, 7
#define ZIP8_LOW_ 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP8_HIGH_ 4, 12, 5, 13, 6, 14, 7, 15
#define ZIP16_LOW_ 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP16_HIGH_ \
    8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#if VEC_BYTES == 64
#define F32_LOW_ ZIP16_LOW_
#define F32_HIGH_ ZIP16_HIGH_
#define F64_LOW_ ZIP8_LOW_
#define F64_HIGH_ ZIP8_HIGH_
#elif VEC_BYTES == 32
#define F32_LOW_ ZIP8_LOW_
#define F32_HIGH_ ZIP8_HIGH_
#define F64_LOW_ ZIP4_LOW_
#define F64_HIGH_ ZIP4_HIGH_
#else
#define F32_LOW_ ZIP4_LOW_
#define F32_HIGH_ ZIP4_HIGH_
#define F64_LOW_ ZIP2_LOW_
#define F64_HIGH_ ZIP2_HIGH_
#endif

/* Lane numbers of two vectors, for each block b of 16 bytes: the first and the
** last elements zipped, the first and the last halves. */
#define F32_ZIP_FRONT_(b) b, F32_LANES + b, b + 1, F32_LANES + b + 1
#define F32_ZIP_BACK_(b) F32_ZIP_FRONT_(b + 2)
#define F32_HALF_FRONT_(b) b, b + 1, F32_LANES + b, F32_LANES + b + 1
#define F32_HALF_BACK_(b) F32_HALF_FRONT_(b + 2)
#define F64_ZIP_FRONT_(b) b, F64_LANES + b
#define F64_ZIP_BACK_(b) F64_ZIP_FRONT_(b + 1)
/* Blocks b and c of the first vector, then those of the second. */
#define F32_BLOCK_(b) 4 * (b), 4 * (b) + 1, 4 * (b) + 2, 4 * (b) + 3
#define F64_BLOCK_(b) 2 * (b), 2 * (b) + 1
#if VEC_BYTES == 64
#define F32_EACH_(f) f(0), f(4), f(8), f(12)
#define F64_EACH_(f) f(0), f(2), f(4), f(6)
#define BLOCKS_(f, b, c) f(b), f(c), f(b + 4), f(c + 4)
#elif VEC_BYTES == 32
#define F32_EACH_(f) f(0), f(4)
#define F64_EACH_(f) f(0), f(2)
#define BLOCKS_(f, b, c) f(b), f(b + 2)
#else
#define F32_EACH_(f) f(0)
#define F64_EACH_(f) f(0)
#endif

#define F32_MIX_(a, b, f) __builtin_shufflevector(a, b, F32_EACH_(f))
#define F64_MIX_(a, b, f) __builtin_shufflevector(a, b, F64_EACH_(f))

/* The blocks of rows i, i + d, ... exchanged: those of column j come together
** in row i + d j. HALVES: inside of each half of the vectors. */
#if VEC_BYTES == 64
#define EXCHANGE_(V, x, i, d, f) do { \
        V a_ = (x)[i], b_ = (x)[i + d], c_ = (x)[i + 2 * d]; \
        V e_ = (x)[i + 3 * d]; \
        V s_ = __builtin_shufflevector(a_, b_, BLOCKS_(f, 0, 1)); \
        V t_ = __builtin_shufflevector(c_, e_, BLOCKS_(f, 0, 1)); \
        V u_ = __builtin_shufflevector(a_, b_, BLOCKS_(f, 2, 3)); \
        V v_ = __builtin_shufflevector(c_, e_, BLOCKS_(f, 2, 3)); \
        (x)[i] = __builtin_shufflevector(s_, t_, BLOCKS_(f, 0, 2)); \
        (x)[i + d] = __builtin_shufflevector(s_, t_, BLOCKS_(f, 1, 3)); \
        (x)[i + 2 * d] = __builtin_shufflevector(u_, v_, BLOCKS_(f, 0, 2)); \
        (x)[i + 3 * d] = __builtin_shufflevector(u_, v_, BLOCKS_(f, 1, 3)); \
    } while (0)
#define EXCHANGE_HALVES_(V, x, i, d, f) do { \
        V a_ = (x)[i], b_ = (x)[i + d]; \
        (x)[i] = __builtin_shufflevector(a_, b_, f(0), f(4), f(2), f(6)); \
        (x)[i + d] = __builtin_shufflevector(a_, b_, f(1), f(5), f(3), f(7)); \
    } while (0)
#elif VEC_BYTES == 32
#define EXCHANGE_(V, x, i, d, f) do { \
        V a_ = (x)[i], b_ = (x)[i + d]; \
        (x)[i] = __builtin_shufflevector(a_, b_, BLOCKS_(f, 0, 0)); \
        (x)[i + d] = __builtin_shufflevector(a_, b_, BLOCKS_(f, 1, 1)); \
    } while (0)
#define EXCHANGE_HALVES_(V, x, i, d, f) ((void)0)
#else
#define EXCHANGE_(V, x, i, d, f) ((void)0)
#define EXCHANGE_HALVES_(V, x, i, d, f) ((void)0)
#endif

static inline __attribute__((always_inline)) void
f32_transpose_blocks(f32v *x, int side)
{
#pragma GCC unroll 4
    for (int i = 0; i < side; i += 4) {
        f32v a = F32_MIX_(x[i], x[i + 1], F32_ZIP_FRONT_);
        f32v b = F32_MIX_(x[i], x[i + 1], F32_ZIP_BACK_);
        f32v c = F32_MIX_(x[i + 2], x[i + 3], F32_ZIP_FRONT_);
        f32v d = F32_MIX_(x[i + 2], x[i + 3], F32_ZIP_BACK_);
        x[i] = F32_MIX_(a, c, F32_HALF_FRONT_);
        x[i + 1] = F32_MIX_(a, c, F32_HALF_BACK_);
        x[i + 2] = F32_MIX_(b, d, F32_HALF_FRONT_);
        x[i + 3] = F32_MIX_(b, d, F32_HALF_BACK_);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        if (side == F32_LANES) EXCHANGE_(f32v, x, i, 4, F32_BLOCK_);
        else if (side == 8) EXCHANGE_HALVES_(f32v, x, i, 4, F32_BLOCK_);
    }
}

static inline __attribute__((always_inline)) void
f64_transpose_blocks(f64v *x, int side)
{
#pragma GCC unroll 4
    for (int i = 0; i < side; i += 2) {
        f64v a = x[i], b = x[i + 1];
        x[i] = F64_MIX_(a, b, F64_ZIP_FRONT_);
        x[i + 1] = F64_MIX_(a, b, F64_ZIP_BACK_);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        if (side == F64_LANES) EXCHANGE_(f64v, x, i, 2, F64_BLOCK_);
        else if (side == 4) EXCHANGE_HALVES_(f64v, x, i, 2, F64_BLOCK_);
    }
}

static inline __attribute__((always_inline)) void f32_transpose(f32v *x)
{
    f32_transpose_blocks(x, F32_LANES);
}

static inline __attribute__((always_inline)) void f64_transpose(f64v *x)
{
    f64_transpose_blocks(x, F64_LANES);
}

#endif
