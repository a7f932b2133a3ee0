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

/* When a run starts a little behind its source in the low 12 bits of the
** address, the loads wait for stores that only look alike: such a run is
** copied from its end. */
static void copy_run(char *to, const char *from, size_t n)
{
    size_t ahead = (size_t)(to - from) & 4095;
    if (n <= 256) {
        copy_short(to, from, n);
        return;
    }
    if (n < 512 || n > 1 << 20 || ahead == 0 || ahead > 1024) {
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
