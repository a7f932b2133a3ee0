/*
** Conversion between all pairs of dtypes: table 'cast', [to][from].
**
** Thirteen dtypes convert directly, by plain loops that the compiler makes
** vectors of; float16, bfloat16 and complex32 go through their float32 or
** complex64 form in a buffer of BLOCK elements. Rows that are not contiguous
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
#include "kernel/kernel.h"
#include "simd/rows16.h"

#define BLOCK 256

typedef void (*row_fn)(void *out, const void *in, int64_t n);

/* How a row of one pair is converted: 'widen' (NULL when the dtype converts
** directly), 'direct' (NULL when there is nothing between the other two),
** 'narrow' (NULL as well). */
typedef struct pair {
    row_fn widen, direct, narrow;
    uint8_t in, out;           /* bytes of an element */
    uint8_t same;              /* no conversion: bytes are moved */
} pair;

#undef bool  /* it is a dtype's tag below, and pasted into names */

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

/* --- the direct pairs --- */

#define IS_BOOL 0
#define IS_INT 1
#define IS_REAL 2
#define IS_COMPLEX 3
#define NAME__(to, from) direct_##to##_##from
#define NAME_(to, from) NAME__(to, from)

#define FROM bool
#define IN uint8_t
#define FROM_KIND IS_BOOL
#include "kernel/move/cast_from.inc"
#define FROM u8
#define IN uint8_t
#define FROM_KIND IS_INT
#include "kernel/move/cast_from.inc"
#define FROM i8
#define IN int8_t
#define FROM_KIND IS_INT
#include "kernel/move/cast_from.inc"
#define FROM u16
#define IN uint16_t
#define FROM_KIND IS_INT
#include "kernel/move/cast_from.inc"
#define FROM i16
#define IN int16_t
#define FROM_KIND IS_INT
#include "kernel/move/cast_from.inc"
#define FROM u32
#define IN uint32_t
#define FROM_KIND IS_INT
#include "kernel/move/cast_from.inc"
#define FROM i32
#define IN int32_t
#define FROM_KIND IS_INT
#include "kernel/move/cast_from.inc"
#define FROM u64
#define IN uint64_t
#define FROM_KIND IS_INT
#define FROM_BIAS 0u
#include "kernel/move/cast_from.inc"
#define FROM i64
#define IN int64_t
#define FROM_KIND IS_INT
#define FROM_BIAS 0x80000000u
#include "kernel/move/cast_from.inc"
#define FROM f32
#define IN float
#define FROM_KIND IS_REAL
#define TRUNC(bits) f32_trunc_##bits
#include "kernel/move/cast_from.inc"
#define FROM f64
#define IN double
#define FROM_KIND IS_REAL
#define TRUNC(bits) f64_trunc_##bits
#include "kernel/move/cast_from.inc"
#define FROM c64
#define IN float
#define FROM_KIND IS_COMPLEX
#define TRUNC(bits) f32_trunc_##bits
#include "kernel/move/cast_from.inc"
#define FROM c128
#define IN double
#define FROM_KIND IS_COMPLEX
#define TRUNC(bits) f64_trunc_##bits
#include "kernel/move/cast_from.inc"

/* --- 16-bit floats to and from float: a row_fn each --- */

static void f16_widen_row(void *out, const void *in, int64_t n)
{
    float *to = out;
    const la_f16 *from = in;
    int64_t i = 0;
    for (; i + F16_LANES <= n; i += F16_LANES)
        f32_store(to + i, f16_load(from + i));
    if (i < n) f32_store_n(to + i, n - i, f16_load_n(from + i, n - i));
}
static void f16_narrow_row(void *out, const void *in, int64_t n)
{
    la_f16 *to = out;
    const float *from = in;
    int64_t i = 0;
    for (; i + F16_LANES <= n; i += F16_LANES)
        f16_store(to + i, f32_load(from + i));
    if (i < n) f16_store_n(to + i, n - i, f32_load_n(from + i, n - i));
}
static void bf16_widen_row(void *out, const void *in, int64_t n)
{
    float *to = out;
    const la_bf16 *from = in;
    int64_t i = 0;
    for (; i + BF16_LANES <= n; i += BF16_LANES)
        f32_store(to + i, bf16_load(from + i));
    if (i < n) f32_store_n(to + i, n - i, bf16_load_n(from + i, n - i));
}
static void bf16_narrow_row(void *out, const void *in, int64_t n)
{
    la_bf16 *to = out;
    const float *from = in;
    int64_t i = 0;
    for (; i + 2 * BF16_LANES <= n; i += 2 * BF16_LANES)
        bf16_store_row(to + i, from + i);
    for (; i + BF16_LANES <= n; i += BF16_LANES)
        bf16_store(to + i, f32_load(from + i));
    if (i < n) bf16_store_n(to + i, n - i, f32_load_n(from + i, n - i));
}
static void c32_widen_row(void *out, const void *in, int64_t n)
{
    f16_widen_row(out, in, 2 * n);
}
static void c32_narrow_row(void *out, const void *in, int64_t n)
{
    f16_narrow_row(out, in, 2 * n);
}

/* --- rows --- */

/* A contiguous row of n: widened, converted and narrowed, as much of the three
** as the pair needs; through BLOCK elements at a time when it is more than
** one. */
static void convert_row(const pair *p, char *out, const char *in, int64_t n)
{
    char wide_in[BLOCK * 8] __attribute__((aligned(64)));
    char wide_out[BLOCK * 8] __attribute__((aligned(64)));
    if (!p->widen && !p->narrow) {
        p->direct(out, in, n);
        return;
    }
    if (!p->direct && !(p->widen && p->narrow)) {
        (p->widen ? p->widen : p->narrow)(out, in, n);
        return;
    }
    while (n > 0) {
        int64_t m = n < BLOCK ? n : BLOCK;
        const char *wide = p->widen ? wide_in : in;
        if (p->widen) p->widen(wide_in, in, m);
        if (p->direct) {
            p->direct(p->narrow ? wide_out : out, wide, m);
            wide = wide_out;
        }
        if (p->narrow) p->narrow(out, wide, m);
        in += m * p->in;
        out += m * p->out;
        n -= m;
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
    char from[BLOCK * 16] __attribute__((aligned(64)));
    char to[BLOCK * 16] __attribute__((aligned(64)));
    while (n > 0) {
        int64_t m = n < BLOCK ? n : BLOCK;
        int dense = in_step == p->in;
        if (!dense) move_row(from, p->in, in, in_step, m, p->in);
        const char *source = dense ? in : from;
        char *target = out_step == p->out ? out : to;
        convert_row(p, target, source, m);
        if (target == to) move_row(out, out_step, to, p->out, m, p->out);
        in += m * in_step;
        out += m * out_step;
        n -= m;
    }
}

/* One row of n elements by the cheapest method for its steps. */
static void run_row(const pair *p, char *out, int64_t out_step,
                    const char *in, int64_t in_step, int64_t n)
{
    if (p->same) move_row(out, out_step, in, in_step, n, p->in);
    else if (out_step == p->out && in_step == p->in)
        convert_row(p, out, in, n);
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
        run_row(p, data[0] + i * out1, out0, data[1] + i * in1, in0, n0);
}

/* --- the table --- */

#define LOOP__(to, from) cast_##to##_##from
#define LOOP_(to, from) LOOP__(to, from)
#define ID__(tag) ID_##tag
#define ID_(tag) ID__(tag)
#define SIZE__(tag) SIZE_##tag
#define SIZE_(tag) SIZE__(tag)
enum {
#define DTYPE(ID, name, ctype, kind, tag, title) \
    ID_##tag = LA_##ID, SIZE_##tag = sizeof(ctype),
#include "base/dtype.def"
#undef DTYPE
};

#define FROM bool
#define WIDE bool
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
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
#include "kernel/move/each_cast_loop.inc"
#define FROM bf16
#define WIDE f32
#define WIDEN bf16_widen_row
#include "kernel/move/each_cast_loop.inc"
#define FROM f32
#define WIDE f32
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM f64
#define WIDE f64
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM c32
#define WIDE c64
#define WIDEN c32_widen_row
#include "kernel/move/each_cast_loop.inc"
#define FROM c64
#define WIDE c64
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"
#define FROM c128
#define WIDE c128
#define WIDEN NULL
#include "kernel/move/each_cast_loop.inc"

/* The table: a row per target, with an entry per source. */
#define ROW_(to) {ENTRY(to, bool), ENTRY(to, u8), ENTRY(to, i8), \
    ENTRY(to, u16), ENTRY(to, i16), ENTRY(to, u32), ENTRY(to, i32), \
    ENTRY(to, u64), ENTRY(to, i64), ENTRY(to, f16), ENTRY(to, bf16), \
    ENTRY(to, f32), ENTRY(to, f64), ENTRY(to, c32), ENTRY(to, c64), \
    ENTRY(to, c128)}
#define ENTRY(to, from) cast_##to##_##from
typedef la_loops cast_table[LA_NDTYPES];   /* [to][from], as in iter/iter.h */
const cast_table LA_KERNEL(cast) = {
#define DTYPE(ID, name, ctype, kind, tag, title) [LA_##ID] = ROW_(tag),
#include "base/dtype.def"
#undef DTYPE
};
