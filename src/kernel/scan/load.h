/* Elements of scans: in double, four at a time for the real dtypes. */
#ifndef LA_KERNEL_SCAN_LOAD_H
#define LA_KERNEL_SCAN_LOAD_H

#include <complex.h>

#include "kernel/reduce/load.h"
#include "kernel/scan/scan.h"
#include "simd/isa/unfused.h"

/* Vectors of GCC's extension: 32 bytes, split by the compiler where the ISA
** extension has shorter ones. */
typedef double x4 __attribute__((vector_size(32)));
typedef int64_t i4 __attribute__((vector_size(32)));
typedef uint64_t u4 __attribute__((vector_size(32)));
typedef float y4 __attribute__((vector_size(16)));

/* Loads by memcpy: a line begins at any element, so that fours are not aligned
** to the size of a vector. */
static inline x4 load4_f32(const char *p)
{
    y4 v;
    memcpy(&v, p, sizeof(v));
    return __builtin_convertvector(v, x4);
}
static inline void store4_f32(char *p, x4 x)
{
    y4 v = __builtin_convertvector(x, y4);
    memcpy(p, &v, sizeof(v));
}
static inline x4 load4_f64(const char *p)
{
    x4 v;
    memcpy(&v, p, sizeof(v));
    return v;
}
static inline void store4_f64(char *p, x4 x) { memcpy(p, &x, sizeof(x)); }

/* The result is rounded once, from double to the element's dtype; 16-bit ones
** by way of float. */
static inline void put_f32(char *p, double x)
{
    float y = (float)x;
    memcpy(p, &y, sizeof(y));
}
static inline void put_f64(char *p, double x) { memcpy(p, &x, sizeof(x)); }
static inline void put_f16(char *p, double x)
{
    la_f16 y = la_f32_to_f16((float)x);
    memcpy(p, &y, sizeof(y));
}
static inline void put_bf16(char *p, double x)
{
    la_bf16 y = la_f32_to_bf16((float)x);
    memcpy(p, &y, sizeof(y));
}

/* Four integers in 64 bits. */
static inline u4 load4_u8(const char *p)
{
    typedef uint8_t four __attribute__((vector_size(4 * sizeof(uint8_t))));
    four v;
    memcpy(&v, p, sizeof(v));
    return (u4)__builtin_convertvector(v, i4);
}
static inline u4 load4_i8(const char *p)
{
    typedef int8_t four __attribute__((vector_size(4 * sizeof(int8_t))));
    four v;
    memcpy(&v, p, sizeof(v));
    return (u4)__builtin_convertvector(v, i4);
}
static inline u4 load4_u16(const char *p)
{
    typedef uint16_t four __attribute__((vector_size(4 * sizeof(uint16_t))));
    four v;
    memcpy(&v, p, sizeof(v));
    return (u4)__builtin_convertvector(v, i4);
}
static inline u4 load4_i16(const char *p)
{
    typedef int16_t four __attribute__((vector_size(4 * sizeof(int16_t))));
    four v;
    memcpy(&v, p, sizeof(v));
    return (u4)__builtin_convertvector(v, i4);
}
static inline u4 load4_u32(const char *p)
{
    typedef uint32_t four __attribute__((vector_size(4 * sizeof(uint32_t))));
    four v;
    memcpy(&v, p, sizeof(v));
    return (u4)__builtin_convertvector(v, i4);
}
static inline u4 load4_i32(const char *p)
{
    typedef int32_t four __attribute__((vector_size(4 * sizeof(int32_t))));
    four v;
    memcpy(&v, p, sizeof(v));
    return (u4)__builtin_convertvector(v, i4);
}
/* Any byte that is not 0 counts as 1: a comparison gives all bits. */
static inline u4 load4_b8(const char *p)
{
    return (u4)(load4_u8(p) != 0) & 1;
}
static inline u4 load4_i64(const char *p)
{
    u4 v;
    memcpy(&v, p, sizeof(v));
    return v;
}
static inline void store4_u64(char *p, u4 x) { memcpy(p, &x, sizeof(x)); }

/* Made through memory: re + im * I would compute with infinities and lose signs
** of zeros. */
static inline double _Complex scan_complex(double re, double im)
{
    double _Complex z;
    double part[2] = {re, im};
    memcpy(&z, part, sizeof(z));
    return z;
}
static inline double _Complex get_c32(const char *p)
{
    return scan_complex(reduce_load_f16(p), reduce_load_f16(p + 2));
}
static inline double _Complex get_c64(const char *p)
{
    return scan_complex(reduce_load_f32(p), reduce_load_f32(p + 4));
}
static inline double _Complex get_c128(const char *p)
{
    return scan_complex(reduce_load_f64(p), reduce_load_f64(p + 8));
}
static inline void put_c32(char *p, double _Complex z)
{
    put_f16(p, creal(z));
    put_f16(p + 2, cimag(z));
}
static inline void put_c64(char *p, double _Complex z)
{
    put_f32(p, creal(z));
    put_f32(p + 4, cimag(z));
}
static inline void put_c128(char *p, double _Complex z)
{
    put_f64(p, creal(z));
    put_f64(p + 8, cimag(z));
}
/* Complex numbers as vectors of two, whose parts are loaded, added and stored
** together. A product would wait for the exchange of its parts. */
typedef double scan_pair __attribute__((vector_size(16)));
typedef float scan_pair32 __attribute__((vector_size(8)));
static inline scan_pair pair_get_c32(const char *p)
{
    return (scan_pair){reduce_load_f16(p), reduce_load_f16(p + 2)};
}
static inline scan_pair pair_get_c64(const char *p)
{
    scan_pair32 x;
    memcpy(&x, p, sizeof(x));
    return __builtin_convertvector(x, scan_pair);
}
static inline scan_pair pair_get_c128(const char *p)
{
    scan_pair x;
    memcpy(&x, p, sizeof(x));
    return x;
}
static inline void pair_put_c32(char *p, scan_pair z)
{
    put_f16(p, z[0]);
    put_f16(p + 2, z[1]);
}
static inline void pair_put_c64(char *p, scan_pair z)
{
    scan_pair32 x = __builtin_convertvector(z, scan_pair32);
    memcpy(p, &x, sizeof(x));
}
static inline void pair_put_c128(char *p, scan_pair z)
{
    memcpy(p, &z, sizeof(z));
}

static inline void put_u64(char *p, uint64_t x) { memcpy(p, &x, sizeof(x)); }

/* Lane 3 everywhere. */
#define SPLAT3(v) __builtin_shufflevector(v, v, 3, 3, 3, 3)
/* One la_scan of the functions that an .inc file has defined for ID k, with the
** carry's type. */
#define SCAN_ENTRY(k, a) \
    {sizeof(a), start_##k, line_##k, total_##k, columns_##k, lines_##k, \
     join_##k}
#define SCAN_REALS \
    [LA_FLOAT16] = SCAN_ENTRY(f16, double), \
    [LA_BFLOAT16] = SCAN_ENTRY(bf16, double), \
    [LA_FLOAT32] = SCAN_ENTRY(f32, double), \
    [LA_FLOAT64] = SCAN_ENTRY(f64, double)
/* uint64 and int64 share functions: their bits are the same modulo 2^64. */
#define SCAN_INTS \
    [LA_BOOL] = SCAN_ENTRY(b8, uint64_t), \
    [LA_UINT8] = SCAN_ENTRY(u8, uint64_t), \
    [LA_INT8] = SCAN_ENTRY(i8, uint64_t), \
    [LA_UINT16] = SCAN_ENTRY(u16, uint64_t), \
    [LA_INT16] = SCAN_ENTRY(i16, uint64_t), \
    [LA_UINT32] = SCAN_ENTRY(u32, uint64_t), \
    [LA_INT32] = SCAN_ENTRY(i32, uint64_t), \
    [LA_UINT64] = SCAN_ENTRY(i64, uint64_t), \
    [LA_INT64] = SCAN_ENTRY(i64, uint64_t)
#define SCAN_COMPLEXES \
    [LA_COMPLEX32] = SCAN_ENTRY(c32, double _Complex), \
    [LA_COMPLEX64] = SCAN_ENTRY(c64, double _Complex), \
    [LA_COMPLEX128] = SCAN_ENTRY(c128, double _Complex)

#endif
