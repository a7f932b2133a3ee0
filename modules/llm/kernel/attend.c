/*
** Attention of the heads of a group over pages of keys and values, which are
** read once each for all of the heads.
*/
#include "modules/llm/kernel/attend.h"

#include <math.h>
#include <string.h>

#include "simd/math/math.h"
#include "simd/vec.h"

#define LANES 16              /* partial sums, on all levels */
#define VECTORS (LANES / F32_LANES)

static inline float added(const f32v sum[VECTORS])
{
    float lane[LANES];
    memcpy(lane, sum, sizeof lane);
    for (int n = LANES / 2; n > 0; n /= 2)
        for (int l = 0; l < n; l++) lane[l] += lane[l + n];
    return lane[0];
}

/* VECTORS sums at once hide the latency of one fma. The order of additions
** depends on n alone, never on the address. */
static inline float dot(const float *a, const float *b, int64_t n)
{
    f32v sum[VECTORS] = {{0}};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            sum[v] = f32_fma(f32_load(a + j + v * F32_LANES),
                             f32_load(b + j + v * F32_LANES), sum[v]);
    float rest = 0;
    for (; j < n; j++) rest += a[j] * b[j];
    return added(sum) + rest;
}

/* out += by * v */
static inline void add_row(float *out, const float *v, float by, int64_t n)
{
    f32v w = f32_set1(by);
    int64_t j = 0;
    for (; j + F32_LANES <= n; j += F32_LANES)
        f32_store(out + j, f32_fma(w, f32_load(v + j), f32_load(out + j)));
    for (; j < n; j++) out[j] += by * v[j];
}

/* Scores of all heads of a group while a key is in the nearest cache. The soft
** cap bounds them smoothly, as Gemma 2 does. */
static void attend_scores(const la_attend *a)
{
    int64_t n = a->last - a->first;
    for (int64_t i = a->first; i < a->last; i++) {
        const float *k = a->keys[i / a->page] + i % a->page * a->step;
        for (int64_t h = 0; h < a->heads; h++) {
            float s = dot(a->q + h * a->features, k, a->features) * a->scale;
            if (a->softcap != 0) s = a->softcap * tanhf(s / a->softcap);
            a->scores[h * n + i - a->first] = s;
        }
    }
}

/* Weights that add up to 1, of n scores. */
static void soften(float *s, int64_t n)
{
    float most = s[0], part[F32_LANES];
    double total = 0;
    for (int64_t i = 1; i < n; i++) most = s[i] > most ? s[i] : most;
    for (int64_t i = 0; i < n; i += F32_LANES) {
        int64_t m = n - i < F32_LANES ? n - i : F32_LANES;
        for (int64_t k = 0; k < F32_LANES; k++)
            part[k] = k < m ? s[i + k] - most : 0;
        f32_store(part, f32_exp(f32_load(part)));
        for (int64_t k = 0; k < m; k++) total += (double)(s[i + k] = part[k]);
    }
    float by = (float)(1 / total);
    for (int64_t i = 0; i < n; i++) s[i] *= by;
}

/* The whole of one position: scores, softmax, and the sum of values by their
** weights, which reads each value once for all heads of the group. */
static void attend_group(const la_attend *a)
{
    int64_t n = a->last - a->first;
    attend_scores(a);
    memset(a->out, 0, (size_t)(a->heads * a->features) * sizeof *a->out);
    for (int64_t h = 0; h < a->heads; h++) soften(a->scores + h * n, n);
    for (int64_t i = a->first; i < a->last; i++) {
        const float *v = a->values[i / a->page] + i % a->page * a->step;
        for (int64_t h = 0; h < a->heads; h++)
            add_row(a->out + h * a->features, v,
                    a->scores[h * n + i - a->first], a->features);
    }
}

static void rotate(const float *x, float *out, const float *cosines,
                   const float *sines, int64_t pairs, int64_t step,
                   int64_t next)
{
    for (int64_t i = 0; i < pairs; i++) {
        float a = x[i * next], b = x[i * next + step];
        out[i * next] = a * cosines[i] - b * sines[i];
        out[i * next + step] = b * cosines[i] + a * sines[i];
    }
}

const la_attend_kernels LA_KERNEL(llm_attend) = {attend_group, rotate};
