/*
** Copies by element size for operations that build a result from runs of their
** inputs: cat, pad, flip, roll, repeat, stack. Three tables (contracts in
** elements.h): 'move' is a loop over two dims as in kernel.h, data[0] the
** destination, data[1] the source; 'assemble' makes rows of pieces; 'zip'
** interleaves sources.
**
** What 'move' looks for, in this order: rows of up to 16 bytes (byte shuffles,
** row_shuffle.h), one element repeated over a row, narrow rows of a known
** width, a source that runs along the outer dim (transposed in blocks); else
** row by row: runs become memcpy, a step of 0 a fill, a step of -1 a reversed
** copy.
*/
#include <string.h>

#include "kernel/move/copy_short.h"
#include "kernel/move/elements.h"
#include "kernel/move/row_shuffle.h"

typedef struct { uint64_t lo, hi; } pair64;

/* The side of a block that is transposed at once. */
#define TRANSPOSE_SIDE 16

typedef struct { char bytes[32]; } line;

#define LONG 4096     /* bytes of a run from which on copying forward wins */

/* When a run starts a little behind its source in the low 12 bits of the
** address, loads wait for earlier stores that only look as if they overlapped
** (4K aliasing): such a run is copied from its end. Not a long one: memory is
** read forward faster. */
static void copy_run(char *to, const char *from, size_t n)
{
    size_t ahead = (size_t)(to - from) & 4095;
    if (n <= 256) {
        copy_short(to, from, n);
        return;
    }
    if (n < 512 || n > LONG || ahead == 0 || ahead > 1024) {
        memcpy(to, from, n);
        return;
    }
    size_t rest = n % sizeof(line);
    for (size_t at = n; at > rest; ) {
        line l;
        at -= sizeof l;
        memcpy(&l, from + at, sizeof l);
        memcpy(to + at, &l, sizeof l);
    }
    memcpy(to, from, rest);
}

/* Rows of 'bytes' each, a constant where it is called. */
static inline __attribute__((always_inline))
void copy_rows_of(char *to, const char *from, const int64_t *s, int64_t rows,
                  const size_t bytes)
{
    const int64_t to_step = s[2], from_step = s[3];
    for (int64_t j = 0; j < rows; j++, to += to_step, from += from_step)
        copy_short(to, from, bytes);
}

/* Rows of three bytes (RGB pixels), dense in the result: four are copied where
** neither end of the memory is near, and the next row overwrites the fourth. */
static void copy_threes(char *to, const char *from, const int64_t *s,
                        int64_t rows)
{
    const int64_t from_step = s[3];
    bool dense = s[2] == 3 && (from_step >= 3 || from_step <= -3);
    if (!dense || rows < 3) {
        copy_rows_of(to, from, s, rows, 3);
        return;
    }
    memcpy(to, from, 3);
    for (int64_t j = 1; j < rows - 1; j++)
        memcpy(to + j * 3, from + j * from_step, 4);
    memcpy(to + (rows - 1) * 3, from + (rows - 1) * from_step, 3);
}

#define NARROW 64          /* bytes of a row that is copied without a call */
#define REPEAT_MOST 512    /* bytes of a row of one repeated element */

/* Rows of few bytes: with a variable width most of the time would go into
** branches on it, so common widths are code of their own. */
static void copy_narrow(char *to, const char *from, const int64_t *s,
                        int64_t rows, int64_t bytes)
{
    switch (bytes) {
    case 2: copy_rows_of(to, from, s, rows, 2); break;
    case 3: copy_threes(to, from, s, rows); break;
    case 4: copy_rows_of(to, from, s, rows, 4); break;
    case 6: copy_rows_of(to, from, s, rows, 6); break;
    case 8: copy_rows_of(to, from, s, rows, 8); break;
    case 12: copy_rows_of(to, from, s, rows, 12); break;
    case 16: copy_rows_of(to, from, s, rows, 16); break;
    case 24: copy_rows_of(to, from, s, rows, 24); break;
    case 32: copy_rows_of(to, from, s, rows, 32); break;
    default: copy_rows_of(to, from, s, rows, (size_t)bytes);
    }
}

static bool move_short(char **data, const int64_t *s, int64_t n0, int64_t n1,
                       int64_t size);
static bool assemble_short(char *to, int64_t to_step, const char *from,
                           const int64_t *rows, int64_t n,
                           const la_piece *pieces, int npieces, int64_t size);

#define ELEMENT uint8_t
#define NAME(f) f##_1
#include "kernel/move/elements.inc"
#define ELEMENT uint16_t
#define NAME(f) f##_2
#include "kernel/move/elements.inc"
#define ELEMENT uint32_t
#define NAME(f) f##_4
#include "kernel/move/elements.inc"
#define ELEMENT uint64_t
#define NAME(f) f##_8
#include "kernel/move/elements.inc"
#define ELEMENT pair64
#define NAME(f) f##_16
#include "kernel/move/elements.inc"

/* Rows of at most sixteen bytes, dense in the result; false for others. */
static bool move_short(char **data, const int64_t *s, int64_t n0, int64_t n1,
                       int64_t size)
{
    int64_t off[SHUFFLE_BYTES] = {0}, k;
    row_shuffle w;
    if (n0 * size > SHUFFLE_BYTES || n1 < SHUFFLE_BYTES || s[0] != size
        || s[2] != n0 * size)
        return false;
    if (s[1] == size && s[3] == -n0 * size)
        switch (n0 * size) {
        case 2: backward_2(data[0], data[1], n1); return true;
        case 4: backward_4(data[0], data[1], n1); return true;
        case 8: backward_8(data[0], data[1], n1); return true;
        case 16: backward_16(data[0], data[1], n1); return true;
        }
    for (int64_t e = 0; e < n0; e++) off[e] = e * s[1];
    if (!row_shuffle_make(&w, off, n0, size, s[3])) return false;
    k = row_shuffle_rows(&w);
    if (k == 0 || (k == 1 && s[1] == size && n0 * size == SHUFFLE_BYTES))
        return false;
    row_shuffle_run(data[0], data[1], n1, &w, k);
    return true;
}

/* Are the source rows a constant step apart? */
static bool evenly_spaced(const int64_t *rows, int64_t n)
{
    int64_t apart = 0;
    for (int64_t i = 2; i < n; i++)
        apart |= (rows[i] - rows[i - 1]) ^ (rows[1] - rows[0]);
    return apart == 0;
}

/* n rows of 'bytes', a constant where it is called, from offsets. */
static inline __attribute__((always_inline))
void gather_rows(char *to, int64_t to_step, const char *from,
                 const int64_t *rows, int64_t n, const size_t bytes)
{
    for (int64_t i = 0; i < n; i++, to += to_step)
        copy_short(to, from + rows[i], bytes);
}

/* Rows of equal runs, in the order of the result: stores to one cache line in
** succession are merged. */
static inline __attribute__((always_inline))
void rows_in_order(char *to, int64_t to_step, const char *from,
                   const int64_t *rows, int64_t n, const la_piece *pieces,
                   int npieces, const size_t bytes)
{
    for (int64_t i = 0; i < n; i++, to += to_step)
        for (int p = 0; p < npieces; p++)
            memcpy(to + (size_t)p * bytes, from + rows[i] + pieces[p].from,
                   bytes);
}

static bool equal_runs(const la_piece *pieces, int npieces)
{
    for (int p = 1; p < npieces; p++)
        if (pieces[p].n != pieces[0].n) return false;
    return true;
}

/* Narrow rows of runs that go forward: one run of all rows after the other. */
static bool assemble_narrow(char *to, int64_t to_step, const char *from,
                            const int64_t *rows, int64_t n,
                            const la_piece *pieces, int npieces, int64_t size)
{
    if (to_step > NARROW) return false;
    for (int p = 0; p < npieces; p++)
        if (pieces[p].n > 1 && pieces[p].step != size) return false;
    if (equal_runs(pieces, npieces))
        switch (pieces[0].n * size) {
        case 8: rows_in_order(to, to_step, from, rows, n, pieces, npieces, 8);
            return true;
        case 16: rows_in_order(to, to_step, from, rows, n, pieces, npieces, 16);
            return true;
        case 32: rows_in_order(to, to_step, from, rows, n, pieces, npieces, 32);
            return true;
        }
    for (int p = 0; p < npieces; p++) {
        char *out = to + pieces[p].to;
        const char *in = from + pieces[p].from;
        int64_t bytes = pieces[p].n * size;
        switch (bytes) {
        case 1: gather_rows(out, to_step, in, rows, n, 1); break;
        case 2: gather_rows(out, to_step, in, rows, n, 2); break;
        case 4: gather_rows(out, to_step, in, rows, n, 4); break;
        case 8: gather_rows(out, to_step, in, rows, n, 8); break;
        case 12: gather_rows(out, to_step, in, rows, n, 12); break;
        case 16: gather_rows(out, to_step, in, rows, n, 16); break;
        case 24: gather_rows(out, to_step, in, rows, n, 24); break;
        default: gather_rows(out, to_step, in, rows, n, (size_t)bytes);
        }
    }
    return true;
}

/* Rows assembled of short pieces, by shuffles or run by run; false: not for
** these. */
static bool assemble_short(char *to, int64_t to_step, const char *from,
                           const int64_t *rows, int64_t n,
                           const la_piece *pieces, int npieces, int64_t size)
{
    int64_t off[SHUFFLE_BYTES] = {0}, k;
    row_shuffle w;
    if (to_step > SHUFFLE_BYTES || n < SHUFFLE_BYTES || !evenly_spaced(rows, n))
        return assemble_narrow(to, to_step, from, rows, n, pieces, npieces,
                               size);
    for (int p = 0; p < npieces; p++)
        for (int64_t e = 0; e < pieces[p].n; e++)
            off[pieces[p].to / size + e] = pieces[p].from + e * pieces[p].step;
    if (!row_shuffle_make(&w, off, to_step / size, size, rows[1] - rows[0]))
        return false;
    k = row_shuffle_rows(&w);
    if (k > 0) row_shuffle_run(to, from + rows[0], n, &w, k);
    return k > 0;
}

const la_move_table LA_KERNEL(move) = {
    move_1, move_2, move_4, move_8, move_16,
};
const la_zip_table LA_KERNEL(zip) = {zip_1, zip_2, zip_4, zip_8, zip_16};
const la_assemble_table LA_KERNEL(assemble) = {
    assemble_1, assemble_2, assemble_4, assemble_8, assemble_16,
};
