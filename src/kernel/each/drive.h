/*
** Cores: element-wise operations over contiguous runs, and what they are made
** with. A core computes n elements; its operands are contiguous, except those
** whose bit is set in 'repeat': they are one element, used for all. The driver
** (drive.c, one copy per capability) brings any strides to it.
*/
#ifndef LA_KERNEL_EACH_DRIVE_H
#define LA_KERNEL_EACH_DRIVE_H

#include "kernel/kernel.h"
#include "simd/pack16.h"
#include "simd/complex.h"

enum {
    MAX_INPUTS = 3,
    STREAM = 1           /* in 'repeat', where the output has no bit */
};

/* data[0] is the output, data[1..] the inputs; bit k of 'repeat' is for operand
** k. n may be 0. */
typedef void (*core_fn)(char *const *data, unsigned repeat, int64_t n,
                        const la_params *params);
/* How a core's operands are stored: as it takes them, or as 16-bit floats that
** are widened to float in blocks. */
typedef enum core_storage { AS_IT_IS, HALF_f16, HALF_bf16 } core_storage;
typedef struct core_info {
    core_fn run;
    uint8_t ninputs;
    bool vectors;        /* knows STREAM: an aligned output past the caches;
                         ** elements that fill a vector cost nothing */
    uint8_t size[MAX_INPUTS + 1];   /* bytes of an element: output, inputs */
    uint8_t storage;     /* a core_storage: 'size' is that of what is stored */
    bool wide_result;    /* with HALF_*: the output is stored as it is */
} core_info;

typedef float f32_elem;
typedef double f64_elem;
typedef la_f16 f16_elem;
typedef la_bf16 bf16_elem;
typedef struct c64 { float re, im; } c64_elem, c64;
typedef struct c128 { double re, im; } c128_elem, c128;

/* Scalar parameters of a call (la_params) as vectors; complex ones as their
** alternating parts. */
static inline f32v f32_scalar(const la_scalar *s) { return f32_set1(s->re); }
static inline f64v f64_scalar(const la_scalar *s) { return f64_set1(s->re); }
static inline f32v f16_scalar(const la_scalar *s) { return f32_set1(s->re); }
static inline f32v bf16_scalar(const la_scalar *s) { return f32_set1(s->re); }
static inline f32v c64_scalar(const la_scalar *s)
{
    i32v second = -(i32_iota(0) & 1);
    return f32_select(second, f32_set1(s->im), f32_set1(s->re));
}
static inline f64v c128_scalar(const la_scalar *s)
{
    i64v second = -(i64_iota(0) & 1);
    return f64_select(second, f64_set1(s->im), f64_set1(s->re));
}

/* Complex numbers are loaded as twice as many parts; n counts numbers. */
static inline f32v c64_load(const void *p) { return f32_load(p); }
static inline f64v c128_load(const void *p) { return f64_load(p); }
static inline void c64_store(void *p, f32v v) { f32_store(p, v); }
static inline void c128_store(void *p, f64v v) { f64_store(p, v); }
#define c64_load2 f32_load2
#define c128_load2 f64_load2
#define c64_store2 f32_store2
#define c128_store2 f64_store2
#define c64_stream2 f32_stream2
#define c128_stream2 f64_stream2
static inline f32v c64_load_pad(const void *p, int64_t n, float pad)
{
    return f32_load_pad(p, 2 * n, pad);
}
static inline f64v c128_load_pad(const void *p, int64_t n, double pad)
{
    return f64_load_pad(p, 2 * n, pad);
}
static inline void c64_store_n(void *p, int64_t n, f32v v)
{
    f32_store_n(p, 2 * n, v);
}
static inline void c128_store_n(void *p, int64_t n, f64v v)
{
    f64_store_n(p, 2 * n, v);
}

/* --- operands inside a core --- */

/* An input of a vector core: 'step' is 0 for a repeated element, which then
** fills 'hold', so that one loop serves both. */
typedef struct cursor {
    const char *at;
    int64_t step;
} cursor;

static inline cursor cursor_at(const char *p, unsigned repeat, char *hold,
                               int size, int64_t step)
{
    if (!(repeat & 1)) return (cursor){p, step};
    for (int64_t i = 0; i < step; i += size) memcpy(hold + i, p, (size_t)size);
    return (cursor){hold, 0};
}

/* n copies of the element at 'p', by whole vectors, so 'hold' has a multiple of
** VEC_BYTES. Returns 'hold'. Compilers make a string instruction of the plain
** loop over elements, whose start-up takes longer than a short row of bytes. */
static inline const void *fill_block(void *hold, const void *p, int64_t n,
                                     size_t size)
{
    char one[VEC_BYTES];
    for (size_t i = 0; i < VEC_BYTES; i += size) memcpy(one + i, p, size);
    i32v v = i32_load(one);
#pragma GCC unroll 1
    for (int64_t at = 0; at < n * (int64_t)size; at += VEC_BYTES)
        i32_store((char *)hold + at, v);
    return hold;
}

/* --- the driver --- */

/* Tables of kernel/each/drive.c: the body of every element-wise loop, whose
** contract is kernel.h's. 'core' comes last, so that a loop only adds an
** argument to its own. 'drive_swapped' exchanges the two inputs. */
typedef void (*la_drive)(char **data, const int64_t *strides, int64_t n0,
                         int64_t n1, const void *params,
                         const core_info *core);
extern const la_drive LA_OWN_TABLE(drive), LA_OWN_TABLE(drive_swapped);

static inline void drive(const core_info *core, char **data,
                         const int64_t *strides, int64_t n0, int64_t n1,
                         const void *params)
{
    LA_OWN_TABLE(drive)(data, strides, n0, n1, params, core);
}
static inline void drive_swapped(const core_info *core, char **data,
                                 const int64_t *strides, int64_t n0,
                                 int64_t n1, const void *params)
{
    LA_OWN_TABLE(drive_swapped)(data, strides, n0, n1, params, core);
}

#endif
