/*
** Moving elements without looking at them: by their size only.
**
** A loop over two dims, as kernel.h tells: data[0] is the destination, data[1]
** the source. Runs become memcpy; a step of 0 in the source fills; where the
** source runs along the outer dim instead, squares are turned.
*/
#include <string.h>

#include "kernel/copy_short.h"
#include "kernel/elements.h"

typedef struct { uint64_t lo, hi; } pair64;

/* The side of a square that is turned at once. */
#define TURN 16

typedef struct { char bytes[32]; } line;

#define LONG 4096

/* When a run starts a little behind its source in the low 12 bits of the
** address, the loads wait for stores that only look alike: such a run is
** copied from its end. Not a long one: memory is read forward faster. */
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

static inline __attribute__((always_inline))
void copy_rows_of(char *to, const char *from, const int64_t *s, int64_t rows,
                  const size_t bytes)
{
    const int64_t to_step = s[2], from_step = s[3];
    for (int64_t j = 0; j < rows; j++, to += to_step, from += from_step)
        copy_short(to, from, bytes);
}

/* Three bytes at a time, pixels of an image, next to each other: a fourth goes
** along where neither end of the memory is near. */
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

#define NARROW 64

/* Rows of few bytes: most of the time would go into asking how many. */
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

#define ELEMENT uint8_t
#define NAME(f) f##_1
#include "kernel/elements.inc"
#define ELEMENT uint16_t
#define NAME(f) f##_2
#include "kernel/elements.inc"
#define ELEMENT uint32_t
#define NAME(f) f##_4
#include "kernel/elements.inc"
#define ELEMENT uint64_t
#define NAME(f) f##_8
#include "kernel/elements.inc"
#define ELEMENT pair64
#define NAME(f) f##_16
#include "kernel/elements.inc"

const la_move_table LA_KERNEL(move) = {
    move_1, move_2, move_4, move_8, move_16,
};
const la_assemble_table LA_KERNEL(assemble) = {
    assemble_1, assemble_2, assemble_4, assemble_8, assemble_16,
};
