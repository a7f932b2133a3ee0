/*
** Products of blocks with numbers of 8 bits. What a type adds to all of its
** numbers (a minimum, -8 or -32) is taken times the sum of x. Eight partial
** sums on all levels.
*/
#include "modules/gguf/kernel/byte_dots.h"

#include <math.h>

#include "modules/gguf/kernel/block_bytes.h"
#include "simd/permute/dot_bytes.h"

/* ---- rounding ---- */

static void round_group(const float *x, int8_t *q, float *scale, float *sum)
{
    float most = 0;
    int total = 0;
    for (int j = 0; j < 32; j++) most = fabsf(x[j]) > most ? fabsf(x[j]) : most;
    float d = most / 127, inverse = d > 0 ? 1 / d : 0;
    for (int j = 0; j < 32; j++) {
        float v = nearbyintf(x[j] * inverse);
        q[j] = (int8_t)(v > 127 ? 127 : v > -127 ? (int)v : -127);
        total += q[j];
    }
    *scale = d;
    *sum = d * (float)total;
}

static void round_row(const float *x, int64_t groups, const la_byte_row *to)
{
    for (int64_t g = 0; g < groups; g++)
        round_group(x + 32 * g, to->q + 32 * g, &to->scale[g], &to->sum[g]);
}

/* ---- products ---- */

static inline sbytes32 group_of(const la_byte_row *x, int64_t g)
{
    return (sbytes32)bytes_load(x->q + 32 * g);
}

static inline float total(floats8 sum)
{
    float lane[8];
    memcpy(lane, &sum, sizeof lane);
    for (int n = 4; n > 0; n /= 2)
        for (int l = 0; l < n; l++) lane[l] += lane[l + n];
    return lane[0];
}

/* Two groups of x, from g on. */
static inline twin_bytes groups_of(const la_byte_row *x, int64_t g)
{
    return twin_load(x->q + 32 * g, x->q + 32 * g + 32);
}

static float dot_Q4_0(const uint8_t *b, int64_t n, const la_byte_row *x)
{
    twin_floats sum = twin_zero();
    float_pair shifts = pair_zero();
    int64_t g = 0;
    for (; g + 2 <= n; g += 2, b += 36) {
        float_pair d = pair_halves(b, b + 18);
        twin_ints dots = twin_dot(twin_nibbles(b + 2, b + 20), groups_of(x, g));
        sum = twin_fma(dots, pair_mul(d, pair_load(x->scale + g)), sum);
        shifts = pair_add(shifts, pair_mul(d, pair_load(x->sum + g)));
    }
    floats8 all = twin_total(sum);
    float shift = pair_sum(shifts);
    if (g < n) {
        float d = block_half(b);
        ints8 dots = bytes_dot(bytes_nibbles(b + 2), group_of(x, g));
        all = bytes_fma(dots, d * x->scale[g], all);
        shift += d * x->sum[g];
    }
    return total(all) - 8 * shift;
}

static float dot_Q4_1(const uint8_t *b, int64_t n, const la_byte_row *x)
{
    twin_floats sum = twin_zero();
    float_pair shifts = pair_zero();
    int64_t g = 0;
    for (; g + 2 <= n; g += 2, b += 40) {
        float_pair d = pair_halves(b, b + 20), m = pair_halves(b + 2, b + 22);
        twin_ints dots = twin_dot(twin_nibbles(b + 4, b + 24), groups_of(x, g));
        sum = twin_fma(dots, pair_mul(d, pair_load(x->scale + g)), sum);
        shifts = pair_add(shifts, pair_mul(m, pair_load(x->sum + g)));
    }
    floats8 all = twin_total(sum);
    float shift = pair_sum(shifts);
    if (g < n) {
        ints8 dots = bytes_dot(bytes_nibbles(b + 4), group_of(x, g));
        all = bytes_fma(dots, block_half(b) * x->scale[g], all);
        shift += block_half(b + 2) * x->sum[g];
    }
    return total(all) + shift;
}

static float dot_Q8_0(const uint8_t *b, int64_t n, const la_byte_row *x)
{
    twin_floats sum = twin_zero();
    int64_t g = 0;
    for (; g + 2 <= n; g += 2, b += 68) {
        float_pair d = pair_halves(b, b + 34);
        twin_ints dots = twin_sdot(twin_load(b + 2, b + 36), groups_of(x, g));
        sum = twin_fma(dots, pair_mul(d, pair_load(x->scale + g)), sum);
    }
    floats8 all = twin_total(sum);
    if (g < n) {
        ints8 dots = bytes_sdot((sbytes32)bytes_load(b + 2), group_of(x, g));
        all = bytes_fma(dots, block_half(b) * x->scale[g], all);
    }
    return total(all);
}

/* Types whose 4 bits name one of 16 values. */
static inline float dot_named(const int8_t *values, const uint8_t *b,
                              int64_t at, float (*scale)(const uint8_t *),
                              int64_t n, const la_byte_row *x)
{
    floats8 sum = {0};
    for (int64_t g = 0; g < n; g++, b += 16 + at) {
        sbytes32 w = bytes_lookup(values, bytes_nibbles(b + at));
        ints8 dots = bytes_sdot(w, group_of(x, g));
        sum = bytes_fma(dots, scale(b) * x->scale[g], sum);
    }
    return total(sum);
}

static float dot_IQ4_NL(const uint8_t *b, int64_t n, const la_byte_row *x)
{
    return dot_named(block_curve, b, 2, block_half, n, x);
}

static float dot_MXFP4(const uint8_t *b, int64_t n, const la_byte_row *x)
{
    return dot_named(block_fp4, b, 1, block_power, n, x);
}

/* Parts of 32 with scale and minimum of 6 bits; 'high' has the fifth bits. */
static inline float dot_parts(const uint8_t *b, int64_t bytes, int64_t q,
                              int64_t high, int64_t n, const la_byte_row *x)
{
    floats8 sum = {0};
    float shift = 0;
    for (int64_t g = 0; g < 8 * n; b += bytes) {
        float d = block_half(b), low = block_half(b + 2);
        for (int part = 0; part < 8; part++, g++) {
            int scale, min;
            block_scales(b + 4, part, &scale, &min);
            bytes32 v = bytes_load(b + q + part / 2 * 32);
            v = part % 2 ? v >> 4 : v & 15;
            if (high) v |= (bytes_load(b + high) >> (uint8_t)part & 1) << 4;
            ints8 dots = bytes_dot(v, group_of(x, g));
            sum = bytes_fma(dots, d * (float)scale * x->scale[g], sum);
            shift += low * (float)min * x->sum[g];
        }
    }
    return total(sum) - shift;
}

static float dot_Q4_K(const uint8_t *b, int64_t n, const la_byte_row *x)
{
    return dot_parts(b, 144, 16, 0, n, x);
}

static float dot_Q5_K(const uint8_t *b, int64_t n, const la_byte_row *x)
{
    return dot_parts(b, 176, 48, 16, n, x);
}

/* Scales for parts of 16: each half of the integers has its own. */
static float dot_Q6_K(const uint8_t *b, int64_t n, const la_byte_row *x)
{
    floats8 sum = {0};
    for (int64_t g = 0; g < 8 * n; b += 210) {
        float d = block_half(b + 208);
        for (int part = 0; part < 8; part++, g++) {
            int half = part / 4, within = part % 4;
            int first = (int8_t)b[192 + 2 * part];
            int second = (int8_t)b[193 + 2 * part];
            bytes32 v = bytes_load(b + half * 64 + within % 2 * 32);
            bytes32 up = bytes_load(b + 128 + half * 32);
            v = within / 2 ? v >> 4 : v & 15;
            v |= (up >> (uint8_t)(2 * within) & 3) << 4;
            ints8 dots = bytes_sdot((sbytes32)v - 32, group_of(x, g));
            dots *= (ints8){first, first, first, first,
                            second, second, second, second};
            sum = bytes_fma(dots, d * x->scale[g], sum);
        }
    }
    return total(sum);
}

#define ENTRY(type) [LA_BLOCK_##type] = dot_##type
const la_byte_kernels LA_KERNEL(byte_dots) = {
    round_row, {ENTRY(Q4_0), ENTRY(Q4_1), ENTRY(Q8_0), ENTRY(Q4_K), ENTRY(Q5_K),
                ENTRY(Q6_K), ENTRY(IQ4_NL), ENTRY(MXFP4)}};
