/*
** Rows of images resampled: float, double, and uint8 by fixed-point weights of
** 16 bits, rounded after each step, as Pillow and PyTorch do.
*/
#include "modules/vision/kernel/resample.h"

#include "base/scratch.h"
#include "kernel/matmul/muladd.h"
#include "simd/permute/widen_int.h"

#define REAL float
#define LANE(x) f32_##x
#define VEC f32v
#define IVEC i32v
#define INT int32_t
#define ALL i32_all
#define INDEX(at) (*(const i32_mem_ *)(at))
#define VL F32_LANES
#define NAME(x) x##_f32
#include "modules/vision/kernel/resample.inc"
#define REAL double
#define LANE(x) f64_##x
#define VEC f64v
#define IVEC i64v
#define INT int64_t
#define ALL i64_all
#define INDEX(at) NAME(widen)(at)
#define VL F64_LANES
#define NAME(x) x##_f64
#define WIDEN
#include "modules/vision/kernel/resample.inc"

/* ---- bytes ---- */

ALWAYS uint8_t to_byte(int32_t sum, int shift)
{
    sum >>= shift;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

#define BYTES_AT_ONCE 512

/* sum[j] for elements i + j of the rows, nv vectors from j on. They fit in 32
** bits: weights of 16 bits add up to about 1 << shift. */
ALWAYS void blend_bytes(int32_t *sum, const char *const *rows,
                        const double *weights, int64_t count, int shift,
                        int64_t i, const int nv)
{
    i32v s[4];
#pragma GCC unroll 4
    for (int v = 0; v < nv; v++) s[v] = i32_set1(1 << (shift - 1));
    for (int64_t k = 0; k < count; k++) {
        i32v w = i32_set1((int32_t)weights[k]);
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++)
            s[v] += w * i32_load_u8(rows[k] + i + v * I32_LANES);
    }
#pragma GCC unroll 4
    for (int v = 0; v < nv; v++) i32_store(sum + v * I32_LANES, s[v]);
}

static int32_t blend_byte(const char *const *rows, const double *weights,
                          int64_t count, int shift, int64_t i)
{
    int32_t sum = 1 << (shift - 1);
    for (int64_t k = 0; k < count; k++)
        sum += (int32_t)weights[k] * ((const uint8_t *)rows[k])[i];
    return sum;
}

static void blend_u8(void *out, const char *const *rows, const double *weights,
                     int64_t count, int shift, int64_t n)
{
    int32_t sum[BYTES_AT_ONCE];
    uint8_t *to = out;
    for (int64_t i = 0; i < n; i += BYTES_AT_ONCE) {
        int64_t m = n - i < BYTES_AT_ONCE ? n - i : BYTES_AT_ONCE, j = 0;
        for (; j + 4 * I32_LANES <= m; j += 4 * I32_LANES)
            blend_bytes(sum + j, rows, weights, count, shift, i + j, 4);
        for (; j + I32_LANES <= m; j += I32_LANES)
            blend_bytes(sum + j, rows, weights, count, shift, i + j, 1);
        for (; j < m; j++)
            sum[j] = blend_byte(rows, weights, count, shift, i + j);
        for (j = 0; j < m; j++) to[i + j] = to_byte(sum[j], shift);
    }
}

/* Weight k of output i, whatever the layout. */
ALWAYS int32_t byte_weight(const la_taps *t, int64_t i, int64_t k)
{
    return t->width ? ((const int16_t *)t->weight)[i * t->width + k]
        : (int32_t)((const float *)t->weight)[k * t->out + i];
}

/* Outputs first..end-1 of 'channels' side by side, one by one. */
static void stretch_bytes(uint8_t *out, const uint8_t *row, const la_taps *t,
                          int64_t channels, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++)
        for (int64_t c = 0; c < channels; c++) {
            const uint8_t *at = row + t->from[i] * channels + c;
            int32_t sum = 1 << (t->shift - 1);
            for (int64_t k = 0; k < t->count[i]; k++)
                sum += byte_weight(t, i, k) * at[k * channels];
            out[i * channels + c] = to_byte(sum, t->shift);
        }
}

/* Inputs that outputs first..end-1 take: so many from from[first] on. */
ALWAYS int64_t reach_of(const la_taps *t, int64_t first, int64_t end)
{
    return t->from[end - 1] + t->count[end - 1] - t->from[first];
}

#define WIDE_AT_ONCE 2048

/* One channel through floats: products and sums are whole numbers below 2^24,
** as shift is at most 15. */
static void stretch_by_floats(uint8_t *out, const uint8_t *row,
                              const la_taps *t, int64_t first, int64_t end)
{
    LA_SCRATCH(float, in, WIDE_AT_ONCE);
    LA_SCRATCH(float, sum, BYTES_AT_ONCE);
    int64_t base = t->from[first], n = reach_of(t, first, end);
    int shift = t->shift;
    int32_t half = 1 << (shift - 1);
    int64_t j = 0;
    for (; j + I32_LANES <= n; j += I32_LANES)
        f32_store(in + j, f32_from_i32(i32_load_u8(row + base + j)));
    for (; j < n; j++) in[j] = row[base + j];
    stretch_part_f32(sum - first, in, base, n, t, first, end);
    out += first;
    for (j = 0; j < end - first; j++)
        out[j] = to_byte((int32_t)sum[j] + half, shift);
}

/* One channel through sums of products of 16 bits, 16 taps at a time; weights
** behind the window are 0. */
static void stretch_by_products(uint8_t *out, const uint8_t *row,
                                const la_taps *t, int64_t first, int64_t end)
{
    int16_t in[WIDE_AT_ONCE + 16];
    int shift = t->shift;
    int64_t base = t->from[first], n = reach_of(t, first, end);
    for (int64_t j = 0; j < n; j++) in[j] = row[base + j];
    memset(in + n, 0, 16 * sizeof *in);
    for (int64_t i = first; i < end; i++) {
        const int16_t *w = (const int16_t *)t->weight + i * t->width;
        const int16_t *at = in + t->from[i] - base;
        int32_t sum = 1 << (shift - 1);
        for (int64_t k = 0; k < t->count[i]; k += 16)
            for (int j = 0; j < 16; j++) sum += w[k + j] * at[k + j];
        out[i] = to_byte(sum, shift);
    }
}

static void stretch_u8(void *out, const char *row, const la_taps *t,
                       int64_t channels)
{
    const uint8_t *in = (const uint8_t *)row;
    for (int64_t i = 0, end; i < t->out; i = end) {
        end = t->out - i < BYTES_AT_ONCE ? t->out : i + BYTES_AT_ONCE;
        while (end > i + 1 && reach_of(t, i, end) > WIDE_AT_ONCE)
            end = i + (end - i) / 2;
        if (channels > 1 || reach_of(t, i, end) > WIDE_AT_ONCE)
            stretch_bytes(out, in, t, channels, i, end);
        else if (t->width) stretch_by_products(out, in, t, i, end);
        else stretch_by_floats(out, in, t, i, end);
    }
}

const la_resample_kernels LA_KERNEL(resample_f32) = {
    sizeof(float), blend_f32, stretch_f32
};
const la_resample_kernels LA_KERNEL(resample_f64) = {
    sizeof(double), blend_f64, stretch_f64
};
const la_resample_kernels LA_KERNEL(resample_u8) = {
    sizeof(float), blend_u8, stretch_u8
};
