/*
** Reading and writing through index tensors by size of the element: gather,
** scatter, index_select, take, x[index], masked_select. The contract is
** index_loops.h.
*/
#include <string.h>

#include "kernel/move/copy_short.h"
#include "kernel/index/offset.h"

typedef struct { uint64_t half[2]; } sixteen;

/* Rows so far ahead are prefetched: those of a large table (an embedding) miss
** every cache, and no hardware prefetcher sees the pattern. */
#define AHEAD 8

/* n dense rows of 'bytes', a constant where it matters, to or from the byte
** offsets 'at' of the operand that is 'indexed'. */
static inline __attribute__((always_inline))
void dense_rows(char *to, int64_t to_step, const char *from, int64_t from_step,
                const int64_t *at, int64_t n, const int indexed,
                const size_t bytes)
{
    for (int64_t j = 0; j < n; j++, to += to_step, from += from_step) {
        if (indexed == 1 && bytes >= 64 && j + AHEAD < n) {
            const char *next = from + AHEAD * from_step + at[j + AHEAD];
            for (size_t k = 0; k < bytes; k += 64) __builtin_prefetch(next + k);
        }
        copy_short(to + (indexed == 0 ? at[j] : 0),
                   from + (indexed == 1 ? at[j] : 0), bytes);
    }
}

static inline __attribute__((always_inline))
void dense_rows_by_size(char *to, int64_t to_step, const char *from,
                        int64_t from_step, const int64_t *at, int64_t n,
                        const int indexed, int64_t bytes)
{
    switch (bytes) {
#define DENSE(bytes) dense_rows(to, to_step, from, from_step, at, n, indexed, \
                                (size_t)(bytes)); break
    case 8: DENSE(8);
    case 12: DENSE(12);
    case 16: DENSE(16);
    case 24: DENSE(24);
    case 32: DENSE(32);
    case 64: DENSE(64);
    default: DENSE(bytes);
#undef DENSE
    }
}

/* The two for all sizes of elements. */
static __attribute__((noinline))
void get_dense(char *to, int64_t to_step, const char *from, int64_t from_step,
               const int64_t *at, int64_t n, int64_t bytes)
{
    dense_rows_by_size(to, to_step, from, from_step, at, n, 1, bytes);
}
static __attribute__((noinline))
void put_dense(char *to, int64_t to_step, const char *from, int64_t from_step,
               const int64_t *at, int64_t n, int64_t bytes)
{
    dense_rows_by_size(to, to_step, from, from_step, at, n, 0, bytes);
}

#define TYPE uint8_t
#define NAME 1
#include "kernel/index/move.inc"
#define TYPE uint16_t
#define NAME 2
#include "kernel/index/move.inc"
#define TYPE uint32_t
#define NAME 4
#include "kernel/index/move.inc"
#define TYPE uint64_t
#define NAME 8
#include "kernel/index/move.inc"
#define TYPE sixteen
#define NAME 16
#include "kernel/index/move.inc"

const la_index_moves LA_KERNEL(index_moves) = {
    .get = {get_1, get_2, get_4, get_8, get_16},
    .put = {put_1, put_2, put_4, put_8, put_16},
    .compress = {compress_1, compress_2, compress_4, compress_8, compress_16},
};
