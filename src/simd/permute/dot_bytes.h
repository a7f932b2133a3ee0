/*
** Products of 32 bytes with 32 signed bytes, summed by fours into 8 integers;
** the same on all levels, as integers are exact. Vectors of 32 bytes whatever
** the level: a block of quantized numbers is no longer.
**
**     bytes_nibbles(p)       16 bytes: their low halves, then their high ones
**     bytes_dot(u, x)        u without a sign, at most 127
**     bytes_sdot(s, x)       s with a sign
**     bytes_lookup(t, u)     t[u] of 16 signed bytes, u at most 15
**     bytes_fma(d, by, sum)  sum + by * d
*/
#ifndef LA_SIMD_PERMUTE_DOT_BYTES_H
#define LA_SIMD_PERMUTE_DOT_BYTES_H

#include <stdint.h>
#include <string.h>

#include "simd/f16_scalar.h"
#include "simd/vec.h"

typedef uint8_t bytes32 __attribute__((vector_size(32)));
typedef int8_t sbytes32 __attribute__((vector_size(32)));
typedef int32_t ints8 __attribute__((vector_size(32)));
typedef float floats8 __attribute__((vector_size(32)));

static inline bytes32 bytes_load(const void *p)
{
    bytes32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

#ifdef __AVX2__
static inline bytes32 bytes_nibbles(const void *p)
{
    __m128i b = _mm_loadu_si128(p);
    __m256i v = _mm256_set_m128i(_mm_srli_epi16(b, 4), b);
    return (bytes32)_mm256_and_si256(v, _mm256_set1_epi8(15));
}
static inline ints8 bytes_dot(bytes32 u, sbytes32 x)
{
    __m256i pairs = _mm256_maddubs_epi16((__m256i)u, (__m256i)x);
    return (ints8)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}
static inline ints8 bytes_sdot(sbytes32 s, sbytes32 x)
{
    __m256i size = _mm256_abs_epi8((__m256i)s);
    __m256i moved = _mm256_sign_epi8((__m256i)x, (__m256i)s);
    return bytes_dot((bytes32)size, (sbytes32)moved);
}
static inline sbytes32 bytes_lookup(const int8_t *t, bytes32 u)
{
    __m256i both = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)(const void *)t));
    return (sbytes32)_mm256_shuffle_epi8(both, (__m256i)u);
}
static inline floats8 bytes_fma(ints8 d, float by, floats8 sum)
{
    return (floats8)_mm256_fmadd_ps(_mm256_cvtepi32_ps((__m256i)d),
                                    _mm256_set1_ps(by), (__m256)sum);
}
#else
static inline bytes32 bytes_nibbles(const void *p)
{
    uint8_t b[32];
    bytes32 v;
    memcpy(b, p, 16);
    for (int j = 0; j < 16; j++) b[16 + j] = b[j] >> 4;
    memcpy(&v, b, sizeof v);
    return v & 15;
}
static inline ints8 bytes_sdot(sbytes32 s, sbytes32 x)
{
    ints8 sum = {0};
    for (int j = 0; j < 32; j++) sum[j / 4] += s[j] * x[j];
    return sum;
}
static inline ints8 bytes_dot(bytes32 u, sbytes32 x)
{
    return bytes_sdot((sbytes32)u, x);
}
static inline sbytes32 bytes_lookup(const int8_t *t, bytes32 u)
{
    sbytes32 v = {0};
    for (int j = 0; j < 32; j++) v[j] = t[u[j]];
    return v;
}
static inline floats8 bytes_fma(ints8 d, float by, floats8 sum)
{
    return sum + __builtin_convertvector(d, floats8) * by;
}
#endif

/*
** Two groups of 32 bytes at once, the same on all levels: their integers, and
** the sums of each, stay apart.
**
**     twin_nibbles(p, q)     bytes_nibbles of both
**     twin_load(p, q)        bytes_load of both
**     twin_dot, twin_sdot    as bytes_dot, bytes_sdot
**     pair_halves(p, q)      the float16 at both addresses as floats
**     pair_load(p)           two floats next to each other
**     twin_fma(d, by, sum)   sum + by * d, a factor for each group
**     twin_total(sum)        the sums of both groups, lane by lane
*/
#if defined(__AVX512BW__) && defined(__AVX512VL__)
typedef __m512i twin_bytes;
typedef __m512i twin_ints;
typedef __m512 twin_floats;
typedef __m128 float_pair;

static inline twin_bytes twin_load(const void *p, const void *q)
{
    __m256i a = _mm256_loadu_si256(p), b = _mm256_loadu_si256(q);
    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}
static inline twin_bytes twin_nibbles(const void *p, const void *q)
{
    const __m512i twice = _mm512_setr_epi64(0, 1, 0, 1, 2, 3, 2, 3);
    const long long four = 0x0004000400040004;
    const __m512i shift = _mm512_setr_epi64(0, 0, four, four, 0, 0, four, four);
    __m256i both = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(p)), _mm_loadu_si128(q), 1);
    __m512i v = _mm512_permutexvar_epi64(twice, _mm512_castsi256_si512(both));
    return _mm512_and_si512(_mm512_srlv_epi16(v, shift), _mm512_set1_epi8(15));
}
static inline twin_ints twin_dot(twin_bytes u, twin_bytes x)
{
    __m512i pairs = _mm512_maddubs_epi16(u, x);
    return _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
}
static inline twin_ints twin_sdot(twin_bytes s, twin_bytes x)
{
    __m512i moved = _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(s),
                                         _mm512_setzero_si512(), x);
    return twin_dot(_mm512_abs_epi8(s), moved);
}
static inline float_pair pair_halves(const void *p, const void *q)
{
    uint16_t a, b;
    memcpy(&a, p, sizeof a);
    memcpy(&b, q, sizeof b);
    return _mm_cvtph_ps(_mm_cvtsi32_si128((int)(a | (uint32_t)b << 16)));
}
static inline float_pair pair_load(const float *p)
{
    return _mm_castpd_ps(_mm_load_sd((const double *)(const void *)p));
}
static inline float_pair pair_mul(float_pair a, float_pair b)
{
    return _mm_mul_ps(a, b);
}
static inline float_pair pair_add(float_pair a, float_pair b)
{
    return _mm_add_ps(a, b);
}
static inline twin_floats twin_fma(twin_ints d, float_pair by, twin_floats sum)
{
    const __m512i each = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0,
                                           1, 1, 1, 1, 1, 1, 1, 1);
    __m512 scale = _mm512_permutexvar_ps(each, _mm512_castps128_ps512(by));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(d), scale, sum);
}
static inline twin_floats twin_zero(void) { return _mm512_setzero_ps(); }
static inline float_pair pair_zero(void) { return _mm_setzero_ps(); }
static inline float pair_sum(float_pair a)
{
    float v[4];
    _mm_storeu_ps(v, a);
    return v[0] + v[1];
}
static inline floats8 twin_total(twin_floats sum)
{
    return (floats8)_mm512_castps512_ps256(sum)
        + (floats8)_mm512_extractf32x8_ps(sum, 1);
}
#else
typedef struct twin_bytes { bytes32 v[2]; } twin_bytes;
typedef struct twin_ints { ints8 v[2]; } twin_ints;
typedef struct twin_floats { floats8 v[2]; } twin_floats;
typedef struct float_pair { float v[2]; } float_pair;

static inline twin_bytes twin_load(const void *p, const void *q)
{
    return (twin_bytes){{bytes_load(p), bytes_load(q)}};
}
static inline twin_bytes twin_nibbles(const void *p, const void *q)
{
    return (twin_bytes){{bytes_nibbles(p), bytes_nibbles(q)}};
}
static inline twin_ints twin_dot(twin_bytes u, twin_bytes x)
{
    return (twin_ints){{bytes_dot(u.v[0], (sbytes32)x.v[0]),
                        bytes_dot(u.v[1], (sbytes32)x.v[1])}};
}
static inline twin_ints twin_sdot(twin_bytes s, twin_bytes x)
{
    return (twin_ints){{bytes_sdot((sbytes32)s.v[0], (sbytes32)x.v[0]),
                        bytes_sdot((sbytes32)s.v[1], (sbytes32)x.v[1])}};
}
static inline float_pair pair_halves(const void *p, const void *q)
{
    la_f16 a, b;
    memcpy(&a, p, sizeof a);
    memcpy(&b, q, sizeof b);
    return (float_pair){{f16_value(a), f16_value(b)}};
}
static inline float_pair pair_load(const float *p)
{
    return (float_pair){{p[0], p[1]}};
}
static inline float_pair pair_mul(float_pair a, float_pair b)
{
    return (float_pair){{a.v[0] * b.v[0], a.v[1] * b.v[1]}};
}
static inline float_pair pair_add(float_pair a, float_pair b)
{
    return (float_pair){{a.v[0] + b.v[0], a.v[1] + b.v[1]}};
}
static inline twin_floats twin_fma(twin_ints d, float_pair by, twin_floats sum)
{
    return (twin_floats){{bytes_fma(d.v[0], by.v[0], sum.v[0]),
                          bytes_fma(d.v[1], by.v[1], sum.v[1])}};
}
static inline twin_floats twin_zero(void) { return (twin_floats){{{0}}}; }
static inline float_pair pair_zero(void) { return (float_pair){{0}}; }
static inline float pair_sum(float_pair a) { return a.v[0] + a.v[1]; }
static inline floats8 twin_total(twin_floats sum)
{
    return sum.v[0] + sum.v[1];
}
#endif

#endif
