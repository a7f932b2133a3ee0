/*
** Quantized numbers, 4 or 8 bits by groups. Scale and bias are chosen as MLX
** does: the end of the range that is farther from zero is met exactly, and so
** is zero.
*/
#include "kernel/nn/quantize.h"

#include "simd/vec.h"
#include "simd/widen_int.h"

#define LANES 16              /* partial sums */
#define VECTORS (LANES / F32_LANES)

/* ---- to integers ---- */

/* The bias is 0, or the end of the range farther from 0, the scale's sign so
** that q counts from there. */
static void choose_scale(float low, float high, int steps, float *scale,
                         float *bias)
{
    bool below = -low > high;
    float s = (high - low) / (float)steps, edge = below ? low : high;
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
    for (int64_t j = 1; j < n; j++) {
        low = x[j] < low ? x[j] : low;
        high = x[j] > high ? x[j] : high;
    }
    choose_scale(low, high, steps, scale, bias);
    int64_t bytes = bits == 8 ? n : n / 2;
    memset(q, 0, (size_t)bytes);
    for (int64_t j = 0; j < n; j++) {
        float v = nearbyintf((x[j] - *bias) / *scale);
        v = v > 0 ? v < (float)steps ? v : (float)steps : 0;
        q[j % bytes] |= (uint8_t)((int)v << (j < bytes ? 0 : 4));
    }
}

static void pack(const la_quantized *to, const float *x)
{
    int64_t bytes = to->group * to->bits / 8;
    for (int64_t g = 0; g < to->groups; g++)
        pack_group(to->q + g * bytes, x + g * to->group, to->group, to->bits,
                   &to->scale[g], &to->bias[g]);
}

/* ---- back ---- */

static void unpack(const la_quantized *from, float *x)
{
    int64_t n = from->group, bytes = n * from->bits / 8;
    for (int64_t g = 0; g < from->groups; g++, x += n) {
        const uint8_t *q = from->q + g * bytes;
        f32v s = f32_set1(from->scale[g]), b = f32_set1(from->bias[g]);
        for (int64_t j = 0; j < bytes; j += F32_LANES) {
            i32v v = i32_load_u8(q + j);
            i32v low = from->bits == 8 ? v : v & 15;
            f32_store(x + j, f32_fma(s, f32_from_i32(low), b));
            if (from->bits == 4)
                f32_store(x + j + bytes, f32_fma(s, f32_from_i32(v >> 4), b));
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

const la_quantize_kernels LA_KERNEL(quantize) = {pack, unpack, dot};
