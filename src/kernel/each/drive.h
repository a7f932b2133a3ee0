/*
** Cores: element-wise operations over contiguous runs, and what they are made
** with. A core computes n elements; its operands are contiguous, except those
** whose bit is set in 'repeat': they are one element for all, of which there
** are copies: core_info.block of them, or n if that is less, and two vectors at
** least. The driver (drive.c, one copy per capability) brings any strides to
** it.
*/
#ifndef LA_KERNEL_EACH_DRIVE_H
#define LA_KERNEL_EACH_DRIVE_H

#include "kernel/each/elements.h"
#include "kernel/kernel.h"
#include "simd/complex_lanes.h"
#include "simd/permute/mask_bytes.h"
#include "simd/permute/pack16.h"
#include "simd/permute/short_rows.h"

enum {
    MAX_INPUTS = 3,
    REPEAT_BYTES = 1024,
    STREAM = 1           /* in 'repeat', where the output has no bit */
};

/* data[0] is the output, data[1..] the inputs; bit k of 'repeat' is for operand
** k. n may be 0. */
typedef void (*core_fn)(char *const *data, unsigned repeat, int64_t n,
                        const la_params *params);
/* How a core's operands are stored: as it takes them; as 16-bit floats that are
** widened to float in blocks; as complex numbers whose parts it takes, to bytes
** that are combined by 'and' or 'or'; as what it takes the truth values of
** (TRUTH_OF + the dtype). */
typedef enum core_storage {
    AS_IT_IS, HALF_f16, HALF_bf16, PARTS_AND, PARTS_OR, TRUTH_OF
} core_storage;
/* There are thousands of these: 16 bytes, or the compiler aligns them to 32. */
typedef struct core_info {
    core_fn run;
    uint8_t size[MAX_INPUTS + 1];   /* bytes of an element: output, inputs */
    uint16_t block;      /* elements of a repeated operand that it reads: up to
                         ** REPEAT_BYTES */
    uint8_t storage;     /* a core_storage: 'size' is that of what is stored */
    uint8_t ninputs : 2;
    uint8_t vectors : 1; /* knows STREAM: an aligned output past the caches;
                         ** elements that fill a vector cost nothing */
    uint8_t wide_result : 1;    /* with HALF_*: the output is stored as it is */
} core_info;

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

/* The tail of a run, n elements: S_load_tail pads by 1, which divides and has a
** logarithm. Those of 16-bit floats are long where there are no masks, and so
** are not copied into each core. */
#define f32_load_tail(p, n) f32_load_pad(p, n, 1)
#define f64_load_tail(p, n) f64_load_pad(p, n, 1)
#define c64_load_tail(p, n) c64_load_pad(p, n, 1)
#define c128_load_tail(p, n) c128_load_pad(p, n, 1)
#define f32_store_tail f32_store_n
#define f64_store_tail f64_store_n
#define c64_store_tail c64_store_n
#define c128_store_tail c128_store_n
static __attribute__((noinline, unused, pure))
f32v f16_load_tail(const char *p, int64_t n)
{
    return f16_load_pad(p, n, 1);
}
static __attribute__((noinline, unused, pure))
f32v bf16_load_tail(const char *p, int64_t n)
{
    return bf16_load_pad(p, n, 1);
}
/* Passed by address: GCC lets a function that takes a vector leave the upper
** halves of registers dirty, which slows down all SSE code behind it. */
static __attribute__((noinline, unused))
void f16_store_tail_of(char *p, int64_t n, const f32v *v)
{
    f16_store_n(p, n, *v);
}
static __attribute__((noinline, unused))
void bf16_store_tail_of(char *p, int64_t n, const f32v *v)
{
    bf16_store_n(p, n, *v);
}
static inline void f16_store_tail(char *p, int64_t n, f32v v)
{
    f16_store_tail_of(p, n, &v);
}
static inline void bf16_store_tail(char *p, int64_t n, f32v v)
{
    bf16_store_tail_of(p, n, &v);
}

/* Plain loops become vectors also where all else is compiled for size (the copy
** for the lowest capability): one by one, bytes take six times as long. And
** they are aligned: across two lines, short loops take 1.7 times as long. */
#if defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#define CORE_SPEED \
    __attribute__((optimize("O2", "tree-vectorize", "align-loops=32")))
#else
#define CORE_SPEED
#endif

/* --- operands inside a core --- */

/* An input of a vector core: 'step' is 0 for a repeated element, so that one
** loop serves both. 'bit' is the operand's in 'repeat'. */
typedef struct cursor {
    const char *at;
    int64_t step;
} cursor;

static inline cursor cursor_at(const char *p, unsigned bit, int64_t step)
{
    return (cursor){p, bit & 1 ? 0 : step};
}

/* --- short rows --- */

/* How the second input of a row is read: as rows, as one number for all, or as
** one of its own for each row, at any step. */
typedef enum row_way { ROW_PLAIN, ROW_NUMBER, ROW_COLUMN } row_way;

/* A loop over 'n' rows of 'width' elements, 1 to 4, 'step' bytes apart: fields
** of structs. A first input that repeats lies in 'hold', its step is 0. */
typedef struct short_rows {
    char *data[MAX_INPUTS + 1];
    int64_t step[MAX_INPUTS + 1], n;
    int width;
    row_way second;
    char hold[MAX_INPUTS][4 * sizeof(double)];
} short_rows;

/* Are these strides such rows, of elements of 'size' bytes in every operand?
** Then *r describes them. A table of kernel/each/drive.c. */
typedef bool (*la_find_rows)(char **data, const int64_t *strides, int64_t n0,
                             int64_t n1, int ninputs, int size, short_rows *r);
extern const la_find_rows LA_OWN_TABLE(find_rows);

/* --- the driver --- */

/* The body of every element-wise loop (kernel/each/drive.c), whose contract is
** kernel.h's. 'core' comes last, so that a loop only adds an argument to its
** own and jumps. 'drive_swapped' exchanges the two inputs. */
LA_INSIDE void LA_OWN_TABLE(drive)(char **data, const int64_t *strides,
                                   int64_t n0, int64_t n1, const void *params,
                                   const core_info *core);
LA_INSIDE void LA_OWN_TABLE(drive_swapped)(char **data, const int64_t *strides,
                                           int64_t n0, int64_t n1,
                                           const void *params,
                                           const core_info *core);

static inline __attribute__((always_inline))
void drive(const core_info *core, char **data, const int64_t *strides,
           int64_t n0, int64_t n1, const void *params)
{
    LA_OWN_TABLE(drive)(data, strides, n0, n1, params, core);
}
static inline __attribute__((always_inline))
void drive_swapped(const core_info *core, char **data, const int64_t *strides,
                   int64_t n0, int64_t n1, const void *params)
{
    LA_OWN_TABLE(drive_swapped)(data, strides, n0, n1, params, core);
}

#endif
