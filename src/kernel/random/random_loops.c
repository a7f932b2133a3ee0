/*
** Random numbers of every distribution that has a closed formula. The generator
** is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
** easy as 1, 2, 3", SC 2011): a block of four words is a function of a 64-bit
** seed and a counter, so any part of a fill can be computed by any thread.
**
** A maker computes groups of 64 values from whole blocks, as float, double or
** unsigned integers; a converter writes values as another dtype. An entry of
** the table names the two (fill.inc), so that a distribution is compiled once
** or twice and not for thirteen dtypes.
*/
#include "kernel/random/random_loops.h"

#include "kernel/random/math.h"
#include "simd/permute/rows16.h"

#define GROUP LA_RANDOM_GROUP
#define LANES 16

/* The four words of sixteen blocks: word w of block i is u[w][i]. Read as 64
** bits, two words of neighbouring blocks are one integer. */
typedef union words {
    uint32_t u[4][LANES];
    uint64_t wide[2 * LANES];
} __attribute__((aligned(64))) words;

/* One word of U64_LANES blocks: the lower halves count, the upper ones may
** hold anything, as the multiplication does not look at them. */
typedef struct philox {
    u64v a, b, c, d;
} philox;

/* One of ten rounds: two 32 x 32-bit products, their halves crossed and mixed
** with the key. */
static inline philox philox_round(philox x, uint64_t k0, uint64_t k1)
{
    u64v p = u64_mul_low32(x.a, u64_set1(0xD2511F53u));
    u64v q = u64_mul_low32(x.c, u64_set1(0xCD9E8D57u));
    return (philox){(q >> 32) ^ x.b ^ k0, q, (p >> 32) ^ x.d ^ k1, p};
}

/* The lower halves of 'even' and 'odd', alternating. */
static inline u64v random_join(u64v even, u64v odd)
{
    return (even & 0xffffffffu) | odd << 32;
}

/* The words of the 2 * U64_LANES blocks from counter 'low', 'high' on: even
** and odd blocks apart, since a product is twice as wide as a factor. */
static inline void draw_some(uint32_t *to, uint64_t seed, u64v low,
                             uint64_t high)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    u64v zero = u64_zero(), up = u64_set1(high);
    philox x = {low, up, zero, zero}, y = {low + 1, up, zero, zero};
#pragma GCC unroll 10
    for (int r = 0; r < 10; r++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        x = philox_round(x, k0, k1);
        y = philox_round(y, k0, k1);
    }
    u64_store(to, random_join(x.a, y.a));
    u64_store(to + LANES, random_join(x.b, y.b));
    u64_store(to + 2 * LANES, random_join(x.c, y.c));
    u64_store(to + 3 * LANES, random_join(x.d, y.d));
}

/* Sixteen blocks; 'block' is a multiple of 16, so that no carry can occur. */
static inline __attribute__((always_inline))
void draw_inline(words *w, const la_random_call *c, uint64_t block)
{
    uint64_t at = c->block + block;
    u64v low = u64_iota(0) * 2 + (uint64_t)(uint32_t)at;
    for (int i = 0; i < LANES; i += 2 * U64_LANES)
        draw_some(&w->u[0][i], c->seed, low + (uint64_t)i, at >> 32);
}

/* Draws by a function: one call for 64 words, too much only for makers that do
** little else. */
static __attribute__((noinline))
void draw(words *w, const la_random_call *c, uint64_t block)
{
    draw_inline(w, c, block);
}

/* ---- words to uniform numbers ---- */

/* (0, 1): 31 bits and a half. */
static inline f32v open_float(const uint32_t *w)
{
    return f32_from_i32((i32v)(u32_load(w) >> 1)) * 0x1p-31f + 0x1p-32f;
}
/* [0, 1): 52 bits. */
static inline f64v unit_double(const uint64_t *w)
{
    return (f64v)(u64_load(w) >> 12 | 0x3ff0000000000000u) - 1.0;
}
static inline f64v open_double(const uint64_t *w)
{
    return unit_double(w) + 0x1p-53;
}
/* An angle: the quarter of the circle, and the rest in quarters, -1/2 ..
** 1/2. */
static inline f32v angle_float(const uint32_t *w, u32v *quarter)
{
    u32v u = u32_load(w);
    *quarter = (u + 0x20000000u) >> 30;
    return f32_from_i32((i32v)(u - (*quarter << 30))) * 0x1p-30f;
}
static inline f64v angle_double(const uint64_t *w, u64v *quarter)
{
    u64v u = u64_load(w) + 0x2000000000000000u;
    *quarter = u >> 62;
    return (f64v)((u << 2) >> 12 | 0x3ff0000000000000u) - 1.5;
}

/* ---- makers: groups g .. end-1 to 'out', one after the other ---- */

/* 'bits' is for uniform_short alone. */
typedef void (*maker)(void *out, uint64_t g, uint64_t end,
                      const la_random_call *c, int bits);

static void make_words(void *out, uint64_t g, uint64_t end,
                       const la_random_call *c, int bits)
{
    words w;
    for (uint32_t *v = out; g < end; g++, v += GROUP) {
        draw(&w, c, g * LANES);
        memcpy(v, w.u, sizeof w.u);
    }
}

/* [a, b) in steps of 2^-bits: as many as the dtype has, so that b is never
** the result of rounding up. */
static inline __attribute__((always_inline))
void uniform_of(float *v, uint64_t g, uint64_t end, const la_random_call *c,
                const int bits)
{
    words w;
    const la_random_call call = *c;     /* no store to 'v' changes its keys */
    float from = (float)c->a, span = (float)(c->b - c->a);
    float unit = 1.0f / (float)(1 << bits);
    for (; g < end; g++, v += GROUP) {
        draw_inline(&w, &call, g * LANES);
        for (int i = 0; i < GROUP; i += F32_LANES) {
            i32v u = (i32v)(u32_load(w.u[0] + i) >> (32 - bits));
            f32_store(v + i, f32_from_i32(u) * unit * span + from);
        }
    }
}
static void uniform_float(void *out, uint64_t g, uint64_t end,
                          const la_random_call *c, int bits)
{
    uniform_of(out, g, end, c, 24);
}
static void uniform_short(void *out, uint64_t g, uint64_t end,
                          const la_random_call *c, int bits)
{
    uniform_of(out, g, end, c, bits);
}

static void uniform_double(void *out, uint64_t g, uint64_t end,
                           const la_random_call *c, int bits)
{
    words w;
    const la_random_call call = *c;
    double *v = out, span = c->b - c->a, from = c->a;
    for (uint64_t k = 2 * g; k < 2 * end; k++, v += 2 * LANES) {
        draw_inline(&w, &call, k * LANES);
        for (int i = 0; i < 2 * LANES; i += F64_LANES)
            f64_store(v + i, unit_double(w.wide + i) * span + from);
    }
}

/* Box and Muller (1958): a radius from one word, an angle from the next; two
** normal numbers. */
static void normal_float(void *out, uint64_t g, uint64_t end,
                         const la_random_call *c, int bits)
{
    words w;
    float *v = out, mean = (float)c->a, std = (float)c->b;
    for (uint64_t k = 2 * g; k < 2 * end; k++, v += 2 * LANES) {
        const uint32_t (*u)[LANES] = w.u + k % 2 * 2;
        if (k % 2 == 0) draw(&w, c, k / 2 * LANES);
        for (int i = 0; i < LANES; i += F32_LANES) {
            u32v quarter;
            f32v angle = angle_float(u[1] + i, &quarter), s, h;
            f32v x = log_float(open_float(u[0] + i)) * -2.0f;
            f32v radius = f32_sqrt(x) * std;
            sincos_float(angle, quarter, &s, &h);
            f32_store(v + i, radius * h + mean);
            f32_store(v + LANES + i, radius * s + mean);
        }
    }
}

static void normal_double(void *out, uint64_t g, uint64_t end,
                          const la_random_call *c, int bits)
{
    words w;
    double *v = out, mean = c->a, std = c->b;
    for (uint64_t k = 2 * g; k < 2 * end; k++, v += 2 * LANES) {
        draw(&w, c, k * LANES);
        for (int i = 0; i < LANES; i += F64_LANES) {
            u64v quarter;
            f64v angle = angle_double(w.wide + LANES + i, &quarter), s, h;
            f64v x = log_double(open_double(w.wide + i)) * -2.0;
            f64v radius = f64_sqrt(x) * std;
            sincos_double(angle, quarter, &s, &h);
            f64_store(v + i, radius * h + mean);
            f64_store(v + LANES + i, radius * s + mean);
        }
    }
}

/* Exponential by inversion: -log(u) / rate, u in (0, 1). */
static void exponential_float(void *out, uint64_t g, uint64_t end,
                              const la_random_call *c, int bits)
{
    words w;
    float scale = (float)(-1.0 / c->a);
    for (float *v = out; g < end; g++, v += GROUP) {
        draw(&w, c, g * LANES);
        for (int i = 0; i < GROUP; i += F32_LANES)
            f32_store(v + i, log_float(open_float(w.u[0] + i)) * scale);
    }
}

static void exponential_double(void *out, uint64_t g, uint64_t end,
                               const la_random_call *c, int bits)
{
    words w;
    double *v = out, scale = -1.0 / c->a;
    for (uint64_t k = 2 * g; k < 2 * end; k++, v += 2 * LANES) {
        draw(&w, c, k * LANES);
        for (int i = 0; i < 2 * LANES; i += F64_LANES)
            f64_store(v + i, log_double(open_double(w.wide + i)) * scale);
    }
}

/* Cauchy by inversion: the tangent of a uniform angle. sine / cosine has half
** the circle as its period, so the whole circle serves as well as half of
** it. */
static void cauchy_double(void *out, uint64_t g, uint64_t end,
                          const la_random_call *c, int bits)
{
    words w;
    double *v = out;
    for (uint64_t k = 2 * g; k < 2 * end; k++, v += 2 * LANES) {
        draw(&w, c, k * LANES);
        for (int i = 0; i < 2 * LANES; i += F64_LANES) {
            u64v quarter;
            f64v angle = angle_double(w.wide + i, &quarter), s, h;
            sincos_double(angle + 0x1p-53, quarter, &s, &h);
            f64_store(v + i, s / h * c->b + c->a);
        }
    }
}

static void cauchy_float(void *out, uint64_t g, uint64_t end,
                         const la_random_call *c, int bits)
{
    words w;
    float median = (float)c->a, sigma = (float)c->b;
    for (float *v = out; g < end; g++, v += GROUP) {
        draw(&w, c, g * LANES);
        for (int i = 0; i < GROUP; i += F32_LANES) {
            u32v quarter;
            f32v angle = angle_float(w.u[0] + i, &quarter), s, h;
            sincos_float(angle + 0x1p-31f, quarter, &s, &h);
            f32_store(v + i, s / h * sigma + median);
        }
    }
}

/* A uniform integer below 'range', by multiplication instead of a remainder:
** the integer part of a 64-bit fraction times the range. The bias is below
** 2^-32 of a probability at worst, as the range is below 2^32. */
static inline u64v random_below(const uint64_t *w, uint64_t range)
{
    u64v x = u64_load(w), high = x >> 32, r = u64_set1(range);
    u64v low = u64_mul_low32(x, r) >> 32;
    return (u64_mul_low32(high, r) + low) >> 32;
}

static void make_integer(void *out, uint64_t g, uint64_t end,
                         const la_random_call *c, int bits)
{
    words w;
    uint64_t *v = out;
    for (uint64_t k = 2 * g; k < 2 * end; k++, v += 2 * LANES) {
        draw(&w, c, k * LANES);
        for (int i = 0; i < 2 * LANES; i += U64_LANES)
            u64_store(v + i, random_below(w.wide + i, c->range) + c->low);
    }
}

/* Integers of any range by 128 bits; 0 stands for 2^64. */
static void make_wide(void *out, uint64_t g, uint64_t end,
                      const la_random_call *c, int bits)
{
    words w;
    uint64_t *v = out;
    for (uint64_t k = 4 * g; k < 4 * end; k++, v += LANES) {
        draw(&w, c, k * LANES);
        for (int i = 0; i < LANES; i++) {
            unsigned __int128 n = w.wide[i + LANES];
            n = (n * c->range >> 64)
              + (unsigned __int128)w.wide[i] * c->range;
            v[i] = c->low + (c->range ? (uint64_t)(n >> 64) : w.wide[i]);
        }
    }
}

/* A threshold of 2^32 means always. */
static void make_bernoulli(void *out, uint64_t g, uint64_t end,
                           const la_random_call *c, int bits)
{
    words w;
    uint32_t always = c->threshold >> 32 ? 1 : 0;
    for (uint32_t *v = out; g < end; g++, v += GROUP) {
        draw(&w, c, g * LANES);
        for (int i = 0; i < GROUP; i += U32_LANES) {
            i32v hit = u32_load(w.u[0] + i) < (uint32_t)c->threshold;
            u32_store(v + i, ((u32v)hit & 1) | always);
        }
    }
}

/* ---- converters: n values to elements, at most BATCH groups ---- */

enum { BATCH = 4 };         /* groups that are made before they are converted */
typedef void (*converter)(void *to, const void *values, int64_t n);

#define VALUE uint64_t
#define AS int64_t
#define CONVERT(tag) from64_##tag
#include "kernel/random/convert.inc"

#define VALUE uint32_t
#define AS int32_t
#define CONVERT(tag) from32_##tag
#include "kernel/random/convert.inc"

/* ---- one function per distribution and dtype ---- */

/* How a fill is computed: 'size' bytes of a value and of an element. */
typedef struct recipe {
    maker make;
    converter convert;      /* NULL: a value is the element */
    int bits;
    uint8_t value_size, size;
} recipe;

/* A la_random_fill by 'r'. Whole groups that need no conversion are made where
** they belong. */
static __attribute__((noinline))
void fill(const recipe *r, char *out, int64_t g0, int64_t g1, int64_t n,
          const la_random_call *call)
{
    char values[BATCH * GROUP * 8] __attribute__((aligned(64)));
    if (!r->convert) {
        int64_t whole = n / GROUP < g1 ? n / GROUP : g1;
        if (whole < g0) whole = g0;
        r->make(out + g0 * GROUP * r->size, (uint64_t)g0, (uint64_t)whole, call,
                r->bits);
        g0 = whole;
    }
    for (int64_t g = g0; g < g1; g += BATCH) {
        int64_t end = g1 - g < BATCH ? g1 : g + BATCH;
        int64_t most = (end - g) * GROUP, left = n - g * GROUP;
        char *to = out + g * GROUP * r->size;
        if (left > most) left = most;
        r->make(values, (uint64_t)g, (uint64_t)end, call, r->bits);
        if (r->convert) r->convert(to, values, left);
        else memcpy(to, values, (size_t)(left * r->size));
    }
}

#define FILL words_u32
#define RECIPE make_words, NULL, 0, 4, 4
#include "kernel/random/fill.inc"

#define DIST uniform
#define MAKE32 uniform_float
#define MAKE64 uniform_double
#define MAKE16 uniform_short
#include "kernel/random/each_float.inc"

#define DIST normal
#define MAKE32 normal_float
#define MAKE64 normal_double
#define MAKE16 normal_float
#include "kernel/random/each_float.inc"

#define DIST exponential
#define MAKE32 exponential_float
#define MAKE64 exponential_double
#define MAKE16 exponential_float
#include "kernel/random/each_float.inc"

#define DIST cauchy
#define MAKE32 cauchy_float
#define MAKE64 cauchy_double
#define MAKE16 cauchy_float
#include "kernel/random/each_float.inc"

#define DIST integer
#define MAKER make_integer
#define VALUE_SIZE 8
#define CONVERT(tag) from64_##tag
#include "kernel/random/each_int.inc"

#define DIST wide
#define MAKER make_wide
#define VALUE_SIZE 8
#define CONVERT(tag) from64_##tag
#include "kernel/random/each_int.inc"

#define DIST bernoulli
#define MAKER make_bernoulli
#define VALUE_SIZE 4
#define CONVERT(tag) from32_##tag
#include "kernel/random/each_int.inc"

#define FLOATS(d) \
    {[LA_FLOAT16] = d##_f16, [LA_BFLOAT16] = d##_bf16, \
     [LA_FLOAT32] = d##_f32, [LA_FLOAT64] = d##_f64}
/* Integers are cut off, so the sign makes no difference. */
#define REALS(d) \
    {[LA_BOOL] = d##_b8, [LA_UINT8] = d##_u8, [LA_INT8] = d##_u8, \
     [LA_UINT16] = d##_u16, [LA_INT16] = d##_u16, [LA_UINT32] = d##_u32, \
     [LA_INT32] = d##_u32, [LA_UINT64] = d##_u64, [LA_INT64] = d##_u64, \
     [LA_FLOAT16] = d##_f16, [LA_BFLOAT16] = d##_bf16, \
     [LA_FLOAT32] = d##_f32, [LA_FLOAT64] = d##_f64}

const la_random_kernels LA_KERNEL(random) = {
    .words = words_u32,
    .uniform = FLOATS(uniform),
    .normal = FLOATS(normal),
    .exponential = FLOATS(exponential),
    .cauchy = FLOATS(cauchy),
    .integer = REALS(integer),
    .wide = REALS(wide),
    .bernoulli = REALS(bernoulli),
};
