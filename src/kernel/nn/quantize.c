/*
** Quantized numbers, 4 or 8 bits by groups. Scale and bias are chosen as MLX
** does: the end of the range that is farther from zero is met exactly, and so
** is zero.
*/
#include <float.h>
#include <math.h>

#include "kernel/nn/quantize.h"

#include "simd/vec.h"
#include "simd/permute/widen_int.h"

#define LANES 16              /* partial sums */
#define VECTORS (LANES / F32_LANES)

/* ---- to integers ---- */

/* Half where the range itself would overflow: exact, and 1 for all others. */
static float unit_of(float low, float high)
{
    return high - low <= FLT_MAX ? 1 : 0.5f;
}

/* The bias is 0, or the end of the range farther from 0, the scale's sign so
** that q counts from there. */
static void choose_scale(float low, float high, int steps, float *scale,
                         float *bias)
{
    bool below = -low > high;
    float unit = unit_of(low, high), edge = below ? low : high;
    float s = (high * unit - low * unit) / (float)steps / unit;
    s = s > 1e-7f ? s : 1e-7f;
    s = below ? s : -s;
    float whole = nearbyintf(edge / s);
    *scale = whole != 0 ? edge / whole : s;
    *bias = whole != 0 ? edge : 0;
}

static void pack_group(uint8_t *q, const float *x, int64_t n, int bits,
                       float *scale, float *bias)
{
    int steps = (1 << bits) - 1;
    float low = x[0], high = x[0];
    int infinite = 0;
    for (int64_t j = 0; j < n; j++) {
        low = x[j] < low ? x[j] : low;
        high = x[j] > high ? x[j] : high;
        infinite |= !(fabsf(x[j]) <= FLT_MAX);
    }
    int64_t bytes = bits == 8 ? n : n / 2;
    memset(q, 0, (uint32_t)bytes);      /* a group is small */
    if (infinite) {             /* or NaN */
        *scale = *bias = NAN;
        return;
    }
    choose_scale(low, high, steps, scale, bias);
    float unit = unit_of(low, high), from = *bias * unit, by = *scale * unit;
    for (int64_t j = 0; j < n; j++) {
        float v = nearbyintf((x[j] * unit - from) / by);
        v = v > 0 ? v < (float)steps ? v : (float)steps : 0;
        q[j % bytes] |= (uint8_t)((int)v << (j < bytes ? 0 : 4));
    }
}

static void quantize_pack(const la_quantized *to, const float *x)
{
    int64_t bytes = to->group * to->bits / 8;
    for (int64_t g = 0; g < to->groups; g++)
        pack_group(to->q + g * bytes, x + g * to->group, to->group, to->bits,
                   &to->scale[g], &to->bias[g]);
}

/* ---- back ---- */

/* scale * q + bias; without an fma the product of a group whose range is larger
** than a float's would overflow: halves are added up there. */
static inline f32v value_of(f32v scale, i32v q, f32v bias, bool far)
{
    f32v y = f32_fma(scale, f32_from_i32(q), bias);
    return far ? y + y : y;
}

static void quantize_unpack(const la_quantized *from, float *x)
{
    int64_t n = from->group, bytes = n * from->bits / 8;
    for (int64_t g = 0; g < from->groups; g++, x += n) {
        const uint8_t *q = from->q + g * bytes;
        bool far = fabsf(from->scale[g]) > 0x1p118f;
        f32v s = f32_set1(far ? from->scale[g] / 2 : from->scale[g]);
        f32v b = f32_set1(far ? from->bias[g] / 2 : from->bias[g]);
        for (int64_t j = 0; j < bytes; j += F32_LANES) {
            i32v v = i32_load_u8(q + j);
            i32v low = from->bits == 8 ? v : v & 15;
            f32_store(x + j, value_of(s, low, b, far));
            if (from->bits == 4)
                f32_store(x + j + bytes, value_of(s, v >> 4, b, far));
        }
    }
}

/* ---- products ---- */

/* Lane l of the sums goes to lane l of the partial sums of LANES. */
static float add_up(const f32v sum[VECTORS])
{
    float lane[LANES];
    memcpy(lane, sum, sizeof lane);
    for (int n = LANES / 2; n > 0; n /= 2)
        for (int l = 0; l < n; l++) lane[l] += lane[l + n];
    return lane[0];
}

static float dot(const la_quantized *w, const float *x, const float *sums)
{
    int64_t n = w->group, bytes = n * w->bits / 8;
    f32v sum[VECTORS] = {{0}};
    float shift = 0;
    for (int64_t g = 0; g < w->groups; g++, x += n) {
        const uint8_t *q = w->q + g * bytes;
        f32v part[VECTORS] = {{0}};
        for (int64_t j = 0; j < bytes; j += LANES)
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; v++) {
                const float *at = x + j + v * F32_LANES;
                i32v in = i32_load_u8(q + j + v * F32_LANES);
                i32v low = w->bits == 8 ? in : in & 15;
                part[v] = f32_fma(f32_from_i32(low), f32_load(at), part[v]);
                if (w->bits == 4)
                    part[v] = f32_fma(f32_from_i32(in >> 4),
                                      f32_load(at + bytes), part[v]);
            }
        f32v s = f32_set1(w->scale[g]);
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            sum[v] = f32_fma(s, part[v], sum[v]);
        shift += w->bias[g] * sums[g];
    }
    return add_up(sum) + shift;
}

const la_quantize_kernels LA_KERNEL(quantize) =
    {quantize_pack, quantize_unpack, dot};
