/*
** Conversion between all pairs of dtypes: table 'cast', [to][from].
**
** Integers, float32 and float64 convert directly, by plain loops that the
** compiler makes vectors of. Dtypes whose conversions have equal bits share
** them: integers are cut off and copied whatever their signs. In a buffer of
** BLOCK elements float16 and bfloat16 go through float32, complex numbers from
** and to real ones through their real parts, and bool through its truth as
** uint8, as bytes of a host are not always 0 or 1. Rows that are not contiguous
** are gathered and scattered a block at a time.
**
** What a value becomes, on every capability:
** - to bool: false for 0, true for all else, NaN included; a complex number is
**   0 when both parts are;
** - complex to real: the imaginary part is dropped;
** - floating to integer: toward zero. NaN, and values that do not fit int32
**   (for targets up to 32 signed or 16 unsigned bits) or int64 (for the
**   others), count as the least int32 or int64; then the low bits are taken.
**   uint64 takes values up to 2^64 and 0 above. This is what x86 does and
**   PyTorch shows there;
** - integer to narrower integer: the low bits;
** - to a shorter floating dtype: to nearest even; float16 and bfloat16 by way
**   of float32, as PyTorch.
*/
#include "base/scratch.h"
#include "kernel/index/index_loops.h"
#include "simd/permute/rows16.h"

#define BLOCK 256

typedef void (*row_fn)(void *out, const void *in, int64_t n);

/* How a row of one pair is converted: to the dtype that 'direct' takes, by it,
** and from what it gives. NULL: nothing to do; without all three, the elements
** are moved. */
typedef struct pair {
    row_fn widen, direct, narrow;
    uint8_t in, out;           /* bytes of an element */
    uint8_t parts;             /* 2: of complex numbers on both sides, whose
                               ** rows are twice as many parts */
} pair;

#undef bool  /* a tag of dtypes below, pasted into names; then defined again */

#define SIZE__(tag) SIZE_##tag
#define SIZE_(tag) SIZE__(tag)
enum {
#define DTYPE(ID, name, ctype, kind, tag, title) SIZE_##tag = sizeof(ctype),
#include "base/dtype.def"
#undef DTYPE
};

/* --- floating to integer --- */

static inline int32_t f32_trunc_32(float x)
{
    return (int32_t)(x >= -0x1p31f && x < 0x1p31f ? x : -0x1p31f);
}
static inline int32_t f64_trunc_32(double x)
{
    return (int32_t)(x > -0x1p31 - 1 && x < 0x1p31 ? x : -0x1p31);
}
static inline int64_t f32_trunc_64(float x)
{
    return (int64_t)(x >= -0x1p63f && x < 0x1p63f ? x : -0x1p63f);
}
static inline int64_t f64_trunc_64(double x)
{
    return (int64_t)(x >= -0x1p63 && x < 0x1p63 ? x : -0x1p63);
}
static inline uint64_t f64_trunc_u64(double x)
{
    if (x < 0x1p63) return (uint64_t)f64_trunc_64(x);
    if (x < 0x1p64) return (uint64_t)f64_trunc_64(x - 0x1p63) + (1ull << 63);
    return x > 0 ? 0 : 1ull << 63;
}
static inline uint64_t f32_trunc_u64(float x) { return f64_trunc_u64(x); }

/* Rows of trunc_32. What does not fit is the least int32 in the machine's own
** conversion, so that it needs no comparisons. With AVX512 the compiler's loops
** narrow to 8 and 16 bits in one step, which is quicker. */
#if defined(__SSE2__) && !defined(__AVX512F__)
#define TRUNC_ROWS
static void f32_trunc_row(int32_t *out, const float *in, int64_t n)
{
    int64_t i = 0;
    for (; i + F32_LANES <= n; i += F32_LANES)
        u32_store(out + i, (u32v)i32_from_f32(f32_load(in + i)));
    for (; i < n; i++) out[i] = f32_trunc_32(in[i]);
}
static void f64_trunc_row(int32_t *out, const double *in, int64_t n)
{
    int64_t i = 0;
#ifdef __AVX2__
    for (; i + 4 <= n; i += 4)
        _mm_storeu_si128((__m128i *)(out + i),
                         _mm256_cvttpd_epi32(_mm256_loadu_pd(in + i)));
#else
    for (; i + 2 <= n; i += 2)
        _mm_storel_epi64((__m128i *)(out + i),
                         _mm_cvttpd_epi32(_mm_loadu_pd(in + i)));
#endif
    for (; i < n; i++) out[i] = f64_trunc_32(in[i]);
}
#endif

/* --- the direct pairs: a row_fn direct_<to>_<from> each --- */

#define IS_INT 1
#define IS_REAL 2
#define NAME__(to, from) direct_##to##_##from
#define NAME_(to, from) NAME__(to, from)

#define FROM u8
#define IN uint8_t
#define FROM_KIND IS_INT
#define FROM_BYTES 1
#define FROM_SIGNED 0
#include "kernel/move/cast_from.inc"
#define FROM i8
#define IN int8_t
#define FROM_KIND IS_INT
#define FROM_BYTES 1
#define FROM_SIGNED 1
#include "kernel/move/cast_from.inc"
#define FROM u16
#define IN uint16_t
#define FROM_KIND IS_INT
#define FROM_BYTES 2
#define FROM_SIGNED 0
#include "kernel/move/cast_from.inc"
#define FROM i16
#define IN int16_t
#define FROM_KIND IS_INT
#define FROM_BYTES 2
#define FROM_SIGNED 1
#include "kernel/move/cast_from.inc"
#define FROM u32
#define IN uint32_t
#define FROM_KIND IS_INT
#define FROM_BYTES 4
#define FROM_SIGNED 0
#include "kernel/move/cast_from.inc"
#define FROM i32
#define IN int32_t
#define FROM_KIND IS_INT
#define FROM_BYTES 4
#define FROM_SIGNED 1
#include "kernel/move/cast_from.inc"
#define FROM u64
#define IN uint64_t
#define FROM_KIND IS_INT
#define FROM_BYTES 8
#define FROM_SIGNED 0
#define FROM_BIAS 0u
#include "kernel/move/cast_from.inc"
#define FROM i64
#define IN int64_t
#define FROM_KIND IS_INT
#define FROM_BYTES 8
#define FROM_SIGNED 1
#define FROM_BIAS 0x80000000u
#include "kernel/move/cast_from.inc"
#define FROM f32
#define IN float
#define FROM_KIND IS_REAL
#define FROM_BYTES 4
#define TRUNC(bits) f32_trunc_##bits
#include "kernel/move/cast_from.inc"
#define FROM f64
#define IN double
#define FROM_KIND IS_REAL
#define FROM_BYTES 8
#define TRUNC(bits) f64_trunc_##bits
#include "kernel/move/cast_from.inc"

/* Cutting off takes the same bits of signed integers, copying all of them. */
#define direct_u8_i16 direct_u8_u16
#define direct_u8_i32 direct_u8_u32
#define direct_u8_i64 direct_u8_u64
#define direct_u16_i32 direct_u16_u32
#define direct_u16_i64 direct_u16_u64
#define direct_u32_i64 direct_u32_u64
#define direct_u8_u8 NULL
#define direct_u8_i8 NULL
#define direct_u16_u16 NULL
#define direct_u16_i16 NULL
#define direct_u32_u32 NULL
#define direct_u32_i32 NULL
#define direct_u64_u64 NULL
#define direct_u64_i64 NULL
#define direct_f32_f32 NULL
#define direct_f64_f64 NULL

/* --- to bool: likewise --- */

#define FROM u8
#define ID LA_UINT8
#include "kernel/move/cast_truth.inc"
#define FROM u16
#define ID LA_UINT16
#include "kernel/move/cast_truth.inc"
#define FROM u32
#define ID LA_UINT32
#include "kernel/move/cast_truth.inc"
#define FROM u64
#define ID LA_UINT64
#include "kernel/move/cast_truth.inc"
#define FROM f16
#define ID LA_FLOAT16
#include "kernel/move/cast_truth.inc"
#define FROM bf16
#define ID LA_BFLOAT16
#include "kernel/move/cast_truth.inc"
#define FROM f32
#define ID LA_FLOAT32
#include "kernel/move/cast_truth.inc"
#define FROM f64
#define ID LA_FLOAT64
#include "kernel/move/cast_truth.inc"
#define FROM c32
#define ID LA_COMPLEX32
#include "kernel/move/cast_truth.inc"
#define FROM c64
#define ID LA_COMPLEX64
#include "kernel/move/cast_truth.inc"
#define FROM c128
#define ID LA_COMPLEX128
#include "kernel/move/cast_truth.inc"
#define direct_bool_bool direct_bool_u8
#define direct_bool_i8 direct_bool_u8
#define direct_bool_i16 direct_bool_u16
#define direct_bool_i32 direct_bool_u32
#define direct_bool_i64 direct_bool_u64

/* --- complex numbers from and to real ones: a row_fn each --- */

/* The real part is the lower half of the bits; with a zero above it is a
** complex number. */
#define c64_real_row direct_u32_u64
#define c64_from_real_row direct_u64_u32

static void c32_real_row(void *out, const void *in, int64_t n)
{
    uint16_t half[BLOCK];
    direct_u16_u32(half, in, n);
    f16_widen_row(out, half, n);
}
static void c32_from_real_row(void *out, const void *in, int64_t n)
{
    uint16_t half[BLOCK];
    f16_narrow_row(half, in, n);
    direct_u32_u16(out, half, n);
}
static void c128_real_row(void *out, const void *in, int64_t n)
{
    double *restrict to = out;
    const double *restrict from = in;
    for (int64_t i = 0; i < n; i++) to[i] = from[2 * i];
}
static void c128_from_real_row(void *out, const void *in, int64_t n)
{
    double *restrict to = out;
    const double *restrict from = in;
    for (int64_t i = 0; i < n; i++) {
        to[2 * i] = from[i];
        to[2 * i + 1] = 0;
    }
}

/* --- rows --- */

/* A contiguous row of n, a buffer at a time: complex numbers on one side only
** are converted by way of at most BLOCK real ones. */
static void cast_convert_row(const pair *p, char *out, const char *in,
                             int64_t n)
{
    char wide_in[BLOCK * 8] __attribute__((aligned(64)));
    char wide_out[BLOCK * 8] __attribute__((aligned(64)));
    if (!p->widen && !p->narrow) {
        p->direct(out, in, n * p->parts);
        return;
    }
    n *= p->parts;
    for (int64_t m; n > 0; n -= m) {
        m = n < BLOCK ? n : BLOCK;
        const char *wide = in;
        if (p->widen) {
            char *to = p->direct || p->narrow ? wide_in : out;
            p->widen(to, in, m);
            wide = to;
        }
        if (p->direct) {
            char *to = p->narrow ? wide_out : out;
            p->direct(to, wide, m);
            wide = to;
        }
        if (p->narrow) p->narrow(out, wide, m);
        in += m * p->in / p->parts;
        out += m * p->out / p->parts;
    }
}

/* n elements of 'size' bytes between any two steps. */
static void move_row(char *out, int64_t out_step, const char *in,
                     int64_t in_step, int64_t n, int size)
{
    if (out_step == size && in_step == size) {
        memmove(out, in, (size_t)(n * size));
        return;
    }
    switch (size) {
#define SIZE 1
#include "kernel/move/move_row.inc"
#define SIZE 2
#include "kernel/move/move_row.inc"
#define SIZE 4
#include "kernel/move/move_row.inc"
#define SIZE 8
#include "kernel/move/move_row.inc"
#define SIZE 16
#include "kernel/move/move_row.inc"
    }
}

/* A row of any steps: gathered and scattered around convert_row, by blocks. */
static void convert_strided(const pair *p, char *out, int64_t out_step,
                            const char *in, int64_t in_step, int64_t n)
{
    LA_SCRATCH(char, from, BLOCK * 16);
    LA_SCRATCH(char, to, BLOCK * 16);
    while (n > 0) {
        int64_t m = n < BLOCK ? n : BLOCK;
        int dense = in_step == p->in;
        if (!dense) move_row(from, p->in, in, in_step, m, p->in);
        const char *source = dense ? in : from;
        char *target = out_step == p->out ? out : to;
        cast_convert_row(p, target, source, m);
        if (target == to) move_row(out, out_step, to, p->out, m, p->out);
        in += m * in_step;
        out += m * out_step;
        n -= m;
    }
}

/* One row of n elements by the cheapest method for its steps. */
static void cast_run_row(const pair *p, char *out, int64_t out_step,
                         const char *in, int64_t in_step, int64_t n)
{
    if (!p->widen && !p->direct && !p->narrow)
        move_row(out, out_step, in, in_step, n, p->in);
    else if (out_step == p->out && in_step == p->in)
        cast_convert_row(p, out, in, n);
    else convert_strided(p, out, out_step, in, in_step, n);
}

/* The body of all loops of the table: dims that follow each other are one row,
** and the longer dim goes inside where the inner one is very short. */
static void run(const pair *p, char **data, const int64_t *s, int64_t n0,
                int64_t n1)
{
    int64_t out0 = s[0], in0 = s[1], out1 = s[2], in1 = s[3];
    if (n1 == 1 || (out1 == out0 * n0 && in1 == in0 * n0)) {
        n0 *= n1;
        n1 = 1;
    } else if (n0 < 8 && n1 > n0) {  /* the long dim inside */
        int64_t n = n0, out = out0, in = in0;
        n0 = n1, out0 = out1, in0 = in1;
        n1 = n, out1 = out, in1 = in;
    }
    for (int64_t i = 0; i < n1; i++)
        cast_run_row(p, data[0] + i * out1, out0, data[1] + i * in1, in0, n0);
}

/* --- the table --- */

#define LOOP__(to, from) cast_##to##_##from
#define LOOP_(to, from) LOOP__(to, from)
#define FROM u8
#define WIDE u8
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM i8
#define WIDE i8
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM u16
#define WIDE u16
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM i16
#define WIDE i16
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM u32
#define WIDE u32
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM i32
#define WIDE i32
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM u64
#define WIDE u64
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM i64
#define WIDE i64
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM f16
#define WIDE f32
#define WIDEN f16_widen_row
#define FROM_FLOAT
#include "kernel/move/each_cast_loop.inc"
#define FROM bf16
#define WIDE f32
#define WIDEN bf16_widen_row
#define FROM_FLOAT
#include "kernel/move/each_cast_loop.inc"
#define FROM f32
#define WIDE f32
#define WIDEN NULL
#define FROM_FLOAT
#include "kernel/move/each_cast_loop.inc"
#define FROM f64
#define WIDE f64
#define WIDEN NULL
#define FROM_FLOAT
#include "kernel/move/each_cast_loop.inc"
#define FROM c32
#define WIDE f32
#define WIDEN c32_real_row
#define FROM_FLOAT
#define PART_WIDEN f16_widen_row
#include "kernel/move/each_cast_loop.inc"
#define FROM c64
#define WIDE f32
#define WIDEN c64_real_row
#define FROM_FLOAT
#define PART_WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM c128
#define WIDE f64
#define WIDEN c128_real_row
#define FROM_FLOAT
#define PART_WIDEN NULL
#include "kernel/move/each_cast_loop.inc"

#define FROM bool
#define WIDE u8
#define WIDEN direct_bool_u8
#include "kernel/move/each_cast_loop.inc"

/* Rows of the table. Integers are cut off, whatever the target's sign. */
#define FROM_INTS(to) \
    [LA_UINT8] = cast_##to##_u8, [LA_INT8] = cast_##to##_i8, \
    [LA_UINT16] = cast_##to##_u16, [LA_INT16] = cast_##to##_i16, \
    [LA_UINT32] = cast_##to##_u32, [LA_INT32] = cast_##to##_i32, \
    [LA_UINT64] = cast_##to##_u64, [LA_INT64] = cast_##to##_i64
#define FROM_FLOATS(to) \
    [LA_FLOAT16] = cast_##to##_f16, [LA_BFLOAT16] = cast_##to##_bf16, \
    [LA_FLOAT32] = cast_##to##_f32, [LA_FLOAT64] = cast_##to##_f64, \
    [LA_COMPLEX32] = cast_##to##_c32, [LA_COMPLEX64] = cast_##to##_c64, \
    [LA_COMPLEX128] = cast_##to##_c128
#define ROW(ints, floats) \
    {[LA_BOOL] = cast_##ints##_bool, FROM_INTS(ints), FROM_FLOATS(floats)}

typedef la_loops cast_table[LA_NDTYPES];   /* [to][from], as in iter/iter.h */
const cast_table LA_KERNEL(cast) = {
    [LA_BOOL] = ROW(bool, bool),
    [LA_UINT8] = ROW(u8, u8), [LA_INT8] = ROW(u8, u8),
    [LA_UINT16] = ROW(u16, u16), [LA_INT16] = ROW(u16, u16),
    [LA_UINT32] = ROW(u32, u32), [LA_INT32] = ROW(u32, i32),
    [LA_UINT64] = ROW(u64, u64), [LA_INT64] = ROW(u64, i64),
    [LA_FLOAT16] = ROW(f16, f16), [LA_BFLOAT16] = ROW(bf16, bf16),
    [LA_FLOAT32] = ROW(f32, f32), [LA_FLOAT64] = ROW(f64, f64),
    [LA_COMPLEX32] = ROW(c32, c32), [LA_COMPLEX64] = ROW(c64, c64),
    [LA_COMPLEX128] = ROW(c128, c128),
};
#define bool _Bool  /* as it was */
