/*
** Speed of the vector functions: ours and SLEEF's in one run, nanoseconds per
** element over arrays in the second-level cache, minimum of many passes.
**
**   cc -O3 -std=gnu11 -ffp-contract=off -mavx2 -mfma -mf16c -Isrc \
**     bench/c/math_speed.c -o build/math_speed -lsleef -lm
*/
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "simd/math/math.h"

enum { COUNT = 16384, PASSES = 60 };
static float in[COUNT], out[COUNT];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
/* Inlined per function, so that the loop is as in a kernel. */
static inline __attribute__((always_inline)) double
measure(f32v (*f)(f32v))
{
    double best = 1e30;
    for (int pass = 0; pass < PASSES; pass++) {
        double start = now();
        for (int i = 0; i < COUNT; i += F32_LANES)
            f32_store(out + i, f(f32_load(in + i)));
        double t = now() - start;
        if (t < best) best = t;
        __asm__ volatile("" ::: "memory");
    }
    return best / COUNT;
}
static inline f32v half_power_(f32v x) { return f32_pow(x, f32_set1(2.7f)); }
static inline f32v half_sleef_(f32v x)
{
    return f32_sleef_pow(x, f32_set1(2.7f));
}
static void fill(float low, float high)
{
    for (int i = 0; i < COUNT; i++)
        in[i] = low + (high - low) * (float)rand() / (float)RAND_MAX;
}
static void show(const char *name, double ours, double theirs)
{
    printf("%-10s %6.3f %6.3f %5.2fx\n", name, ours, theirs, theirs / ours);
}
#define ROW(f, low, high) \
    fill(low, high); \
    show(#f, measure(f32_##f), measure(f32_sleef_##f))
#define ALONE(f, low, high) fill(low, high), show(#f, measure(f32_##f), 0)

int main(void)
{
    printf("%-10s %6s %6s  (ns per element)\n", "", "ours", "SLEEF");
    ROW(exp, -10, 10);
    ROW(exp2, -10, 10);
    ROW(expm1, -5, 5);
    ROW(log, 0.001f, 100);
    ROW(log2, 0.001f, 100);
    ROW(log10, 0.001f, 100);
    ROW(log1p, -0.9f, 100);
    ROW(sin, -10, 10);
    ROW(cos, -10, 10);
    ROW(tan, -10, 10);
    ROW(tanh, -4, 4);
    ROW(erf, -3, 3);
    ROW(erfc, -3, 3);
    ROW(atan, -3, 3);
    ROW(asin, -1, 1);
    ROW(acos, -1, 1);
    ROW(sinh, -5, 5);
    ROW(cosh, -5, 5);
    ROW(cbrt, -50, 50);
    ALONE(erfinv, -1, 1);
    ALONE(sigmoid, -6, 6);
    ALONE(silu, -6, 6);
    ALONE(gelu, -6, 6);
    ALONE(gelu_tanh, -6, 6);
    ALONE(softplus, -6, 6);
    ALONE(mish, -6, 6);
    ALONE(rsqrt, 0.1f, 6);
    ALONE(sqrt, 0.1f, 6);
    fill(0.01f, 10);
    show("pow", measure(half_power_), measure(half_sleef_));
    return 0;
}
