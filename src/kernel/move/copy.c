/*
** Copies of any strides by element size, fills, sign flips in place (conjugates
** and negatives), comparison of all elements. Contracts are in copy.h.
**
** A copy whose operands have different fast dims is a transpose: it goes in
** tiles whose side is a cache line, in registers, and tiles in patches of PATCH
** tiles a side, so that few pages are in use at a time. Dense rows are
** memcpy's; other strides are simple loops, unrolled or shuffled where that is
** faster.
*/
#include "kernel/move/copy.h"

#include "base/scratch.h"
#include "kernel/move/copy_short.h"
#include "simd/permute/short_rows.h"
#include "simd/permute/strided_store.h"
#include "simd/permute/fill.h"

#define LINE 64     /* bytes of a cache line */
#define PATCH 8     /* tiles a side of a patch */
#define AHEAD 2048      /* bytes, as blocks of structs come after pauses */
#define SHORT_BYTES 128 /* rows that a call would cost more than */
#define FILL_BYTES (1 << 20)    /* longer runs outgrow the L2 cache */

/* One cache line past the caches; 'to' is its address. */
static inline void stream_line(char *to, const char *from)
{
    for (int k = 0; k < LINE; k += VEC_BYTES) {
        i32v v;
        memcpy(&v, from + k, VEC_BYTES);
        vec_stream(to + k, v);
    }
}

/* Bytes up to the next cache line. */
static int64_t to_line(const char *p)
{
    return (int64_t)(-(uintptr_t)p & (LINE - 1));
}

/* n1 short rows of 'row' bytes, a constant where it is called. */
static inline __attribute__((always_inline))
void copy_row_by_row(char **data, const int64_t *s, size_t row, int64_t n1)
{
    char *to = data[0];
    const char *from = data[1];
    for (int64_t i = 0; i < n1; i++, to += s[2], from += s[3])
        copy_short(to, from, row);
}

/* Rows of three words of four or eight bytes: through a vector where one
** instruction loads three, else two and one. Into rows that follow each other a
** fourth lane may be written: the next row comes after. */
#if defined(__AVX2__)
#define MOVE_THREE(lane, size, to, from)                                    \
    lane##_store_row(to, 3, lane##_load_row(from, 3))
#define WIDER 1
#else
#define MOVE_THREE(lane, size, to, from)                                    \
    (memcpy(to, from, 2 * size),                                            \
     memcpy(to + 2 * size, from + 2 * size, size))
#define WIDER 0
#endif
#define COPY_THREE(name, lane, size)                                        \
static __attribute__((noinline)) ROW_SPEED                                  \
void name(char **data, const int64_t *s, int64_t n1)                        \
{                                                                           \
    char *to = data[0];                                                     \
    const char *from = data[1];                                             \
    const int64_t t1 = s[2], f1 = s[3];                                     \
    if (WIDER && t1 == 3 * size)                                            \
        for (; n1 > 1; n1--, to += 3 * size, from += f1) {                  \
            __builtin_prefetch(from + AHEAD);                               \
            lane##_store_row(to, 4, lane##_load_row(from, 3));              \
        }                                                                   \
    for (; n1 > 0; n1--, to += t1, from += f1)                              \
        MOVE_THREE(lane, size, to, from);                                   \
}
COPY_THREE(copy_three_4, f32, 4)
COPY_THREE(copy_three_8, f64, 8)
#undef COPY_THREE
#undef MOVE_THREE
#undef WIDER

/* Fields of structs: their usual sizes have loops of their own. */
static void copy_short_rows(char **data, const int64_t *s, size_t row,
                            int64_t n1)
{
    switch (row) {
    case 8: copy_row_by_row(data, s, 8, n1); break;
    case 12: copy_three_4(data, s, n1); break;
    case 16: copy_row_by_row(data, s, 16, n1); break;
    case 24: copy_three_8(data, s, n1); break;
    default: copy_row_by_row(data, s, row, n1); break;
    }
}

/* Rows of both operands are dense: one call of memcpy per row, or one in all.
** Operands never overlap but fully. */
static void copy_rows(char **data, const int64_t *s, int64_t n0, int64_t n1,
                      int64_t size)
{
    size_t row = (size_t)(n0 * size);
    if (n1 == 1 || (s[2] == n0 * size && s[3] == n0 * size)) {
        memmove(data[0], data[1], row * (size_t)n1);
        return;
    }
    if (row <= SHORT_BYTES) {
        copy_short_rows(data, s, row, n1);
        return;
    }
    for (int64_t i = 0; i < n1; i++)
        memcpy(data[0] + i * s[2], data[1] + i * s[3], row);
}

/* Exchange the dims when the inner one is very short and the outer one longer:
** t and the counts become those of the loop to run. */
static void longer_dim_inside(int64_t *t, const int64_t *s, int64_t *n0,
                              int64_t *n1)
{
    bool swap = *n0 < 4 && *n1 > *n0;
    int64_t n = *n0;
    for (int k = 0; k < 4; k++) t[k] = s[swap ? k ^ 2 : k];
    if (swap) *n0 = *n1, *n1 = n;
}

#define SIZE 1
#define WORD uint8_t
#include "kernel/move/copy_size.inc"
#define SIZE 2
#define WORD uint16_t
#include "kernel/move/copy_size.inc"
#define SIZE 4
#define WORD uint32_t
#include "kernel/move/copy_size.inc"
#define SIZE 8
#define WORD uint64_t
#include "kernel/move/copy_size.inc"
typedef uint64_t word16 __attribute__((vector_size(16)));
#define SIZE 16
#define WORD word16
#include "kernel/move/copy_size.inc"

extern const la_size_loops LA_OWN_TABLE(copy), LA_OWN_TABLE(fill);
const la_size_loops LA_KERNEL(copy) = {copy_1, copy_2, copy_4, copy_8,
                                       copy_16};
const la_size_loops LA_KERNEL(fill) = {fill_1, fill_2, fill_4, fill_8,
                                       fill_16};

/* --- streams --- */

/* The contract is in copy.h. The first line may begin anywhere in the pattern,
** so the pattern is rotated to the alignment of the rest. */
static void copy_fill_past_caches(char **data, const int64_t *s, int64_t n0,
                                  int64_t n1, const void *params)
{
    char rotated[LINE];
    const char *pattern = params;
    char *to = data[0];
    int64_t head = to_line(to) < n0 ? to_line(to) : n0, at = head;
    memcpy(to, pattern, (size_t)head);
    for (int k = 0; k < LINE; k++) rotated[k] = pattern[(k + head) % LINE];
    for (; at + LINE <= n0; at += LINE) stream_line(to + at, rotated);
    memcpy(to + at, rotated, (size_t)(n0 - at));
    vec_fence();
}

extern const la_stream_loop LA_OWN_TABLE(stream_fill);
const la_stream_loop LA_KERNEL(stream_fill) = copy_fill_past_caches;

/* --- signs --- */

#define TAG i8
#define PART uint8_t
#define NEGATED(x) (PART)(0u - (x))
#include "kernel/move/flip_sign.inc"
#define TAG i16
#define PART uint16_t
#define NEGATED(x) (PART)(0u - (x))
#include "kernel/move/flip_sign.inc"
#define TAG i32
#define PART uint32_t
#define NEGATED(x) (PART)(0u - (x))
#include "kernel/move/flip_sign.inc"
#define TAG i64
#define PART uint64_t
#define NEGATED(x) (0u - (x))
#include "kernel/move/flip_sign.inc"
#define TAG f16
#define PART uint16_t
#define NEGATED(x) (PART)((x) ^ 0x8000u)
#include "kernel/move/flip_sign.inc"
#define TAG f32
#define PART uint32_t
#define NEGATED(x) ((x) ^ 0x80000000u)
#include "kernel/move/flip_sign.inc"
#define TAG f64
#define PART uint64_t
#define NEGATED(x) ((x) ^ 0x8000000000000000u)
#include "kernel/move/flip_sign.inc"
#define IS_COMPLEX
#define TAG c32
#define PART uint16_t
#define NEGATED(x) (PART)((x) ^ 0x8000u)
#include "kernel/move/flip_sign.inc"
#define IS_COMPLEX
#define TAG c64
#define PART uint32_t
#define NEGATED(x) ((x) ^ 0x80000000u)
#include "kernel/move/flip_sign.inc"
#define IS_COMPLEX
#define TAG c128
#define PART uint64_t
#define NEGATED(x) ((x) ^ 0x8000000000000000u)
#include "kernel/move/flip_sign.inc"

static void flip_sign_none(char **data, const int64_t *s, int64_t n0,
                           int64_t n1, const void *params)
{
}

extern const la_loops LA_OWN_TABLE(flip_sign);
const la_loops LA_KERNEL(flip_sign) = {
    [LA_BOOL] = flip_sign_none,
    [LA_UINT8] = flip_sign_i8, [LA_INT8] = flip_sign_i8,
    [LA_UINT16] = flip_sign_i16, [LA_INT16] = flip_sign_i16,
    [LA_UINT32] = flip_sign_i32, [LA_INT32] = flip_sign_i32,
    [LA_UINT64] = flip_sign_i64, [LA_INT64] = flip_sign_i64,
    [LA_FLOAT16] = flip_sign_f16, [LA_BFLOAT16] = flip_sign_f16,
    [LA_FLOAT32] = flip_sign_f32, [LA_FLOAT64] = flip_sign_f64,
    [LA_COMPLEX32] = flip_sign_c32, [LA_COMPLEX64] = flip_sign_c64,
    [LA_COMPLEX128] = flip_sign_c128
};

/* --- comparison --- */

/* Equality of 16-bit floats by their bits: NaN equals nothing, -0 equals 0. */
static inline bool f16_same(uint16_t a, uint16_t b)
{
    bool nan = (a & 0x7fff) > 0x7c00;
    return (a == b && !nan) || ((a | b) & 0x7fff) == 0;
}
static inline bool bf16_same(uint16_t a, uint16_t b)
{
    bool nan = (a & 0x7fff) > 0x7f80;
    return (a == b && !nan) || ((a | b) & 0x7fff) == 0;
}

#define TAG b8
#define PART uint8_t
#define SAME(a, b) (((a) != 0) == ((b) != 0))
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG i8
#define PART uint8_t
#define SAME(a, b) ((a) == (b))
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG i16
#define PART uint16_t
#define SAME(a, b) ((a) == (b))
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG i32
#define PART uint32_t
#define SAME(a, b) ((a) == (b))
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG i64
#define PART uint64_t
#define SAME(a, b) ((a) == (b))
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG f16
#define PART uint16_t
#define SAME(a, b) f16_same(a, b)
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG bf16
#define PART uint16_t
#define SAME(a, b) bf16_same(a, b)
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG f32
#define PART float
#define SAME(a, b) ((a) == (b))
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG f64
#define PART double
#define SAME(a, b) ((a) == (b))
#define PARTS 1
#include "kernel/move/equal.inc"
#define TAG c32
#define PART uint16_t
#define SAME(a, b) f16_same(a, b)
#define PARTS 2
#include "kernel/move/equal.inc"
#define TAG c64
#define PART float
#define SAME(a, b) ((a) == (b))
#define PARTS 2
#include "kernel/move/equal.inc"
#define TAG c128
#define PART double
#define SAME(a, b) ((a) == (b))
#define PARTS 2
#include "kernel/move/equal.inc"

extern const la_loops LA_OWN_TABLE(differ);
const la_loops LA_KERNEL(differ) = {
    [LA_BOOL] = differ_b8, [LA_UINT8] = differ_i8, [LA_INT8] = differ_i8,
    [LA_UINT16] = differ_i16, [LA_INT16] = differ_i16,
    [LA_UINT32] = differ_i32, [LA_INT32] = differ_i32,
    [LA_UINT64] = differ_i64, [LA_INT64] = differ_i64,
    [LA_FLOAT16] = differ_f16, [LA_BFLOAT16] = differ_bf16,
    [LA_FLOAT32] = differ_f32, [LA_FLOAT64] = differ_f64,
    [LA_COMPLEX32] = differ_c32, [LA_COMPLEX64] = differ_c64,
    [LA_COMPLEX128] = differ_c128
};
