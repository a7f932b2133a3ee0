/*
** Rows of images resampled: float, double, and uint8 by fixed-point weights of
** 16 bits, rounded after each step, as Pillow and PyTorch do.
*/
#include "kernel/vision/resample.h"

#include "kernel/matmul/muladd.h"

#define REAL float
#define LANE(x) f32_##x
#define VEC f32v
#define IVEC i32v
#define INT int32_t
#define ALL i32_all
#define INDEX(at) (*(const i32_mem_ *)(at))
#define VL F32_LANES
#define NAME(x) x##_f32
#include "kernel/vision/resample.inc"
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
#include "kernel/vision/resample.inc"

/* ---- bytes ---- */

ALWAYS uint8_t to_byte(int32_t sum, int shift)
{
    sum >>= shift;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

#define BYTES_AT_ONCE 256

/* Sums of a block in 32 bits: 255 times the weights of a window is less than
** 2^31, as they add up to about 1 << shift and are 16 bits each. */
static void blend_u8(void *out, const char *const *rows, const double *weights,
                     int64_t count, int shift, int64_t n)
{
    int32_t sum[BYTES_AT_ONCE];
    uint8_t *to = out;
    for (int64_t i = 0; i < n; i += BYTES_AT_ONCE) {
        int64_t m = n - i < BYTES_AT_ONCE ? n - i : BYTES_AT_ONCE;
        for (int64_t j = 0; j < m; j++) sum[j] = 1 << (shift - 1);
        for (int64_t k = 0; k < count; k++) {
            const uint8_t *row = (const uint8_t *)rows[k] + i;
            int32_t w = (int32_t)weights[k];
            for (int64_t j = 0; j < m; j++) sum[j] += w * row[j];
        }
        for (int64_t j = 0; j < m; j++) to[i + j] = to_byte(sum[j], shift);
    }
}

/* One channel, four outputs at a time. */
static void stretch_bytes(uint8_t *out, const uint8_t *row, const la_taps *t)
{
    const int16_t *w = t->weight;
    int32_t half = 1 << (t->shift - 1);
    for (int64_t i = 0; i < t->out; i++) {
        const uint8_t *at = row + t->from[i];
        const int16_t *by = w + i;
        int32_t sum = half;
        for (int64_t k = 0; k < t->count[i]; k++) sum += by[k * t->out] * at[k];
        out[i] = to_byte(sum, t->shift);
    }
}

static void stretch_u8(void *out, const char *row, const la_taps *t,
                      int64_t channels)
{
    const int16_t *w = t->weight;
    uint8_t *to = out;
    int32_t half = 1 << (t->shift - 1);
    if (channels == 1) {
        stretch_bytes(out, (const uint8_t *)row, t);
        return;
    }
    for (int64_t i = 0; i < t->out; i++, to += channels) {
        const uint8_t *at = (const uint8_t *)row + t->from[i] * channels;
        for (int64_t c = 0; c < channels; c++) {
            int32_t sum = half;
            for (int64_t k = 0; k < t->count[i]; k++)
                sum += w[k * t->out + i] * at[k * channels + c];
            to[c] = to_byte(sum, t->shift);
        }
    }
}

const la_resample_kernels LA_KERNEL(resample_f32) = {
    sizeof(float), blend_f32, stretch_f32
};
const la_resample_kernels LA_KERNEL(resample_f64) = {
    sizeof(double), blend_f64, stretch_f64
};
const la_resample_kernels LA_KERNEL(resample_u8) = {
    sizeof(int16_t), blend_u8, stretch_u8
};
