/*
** Moving elements without looking at them: by their size only.
**
** A loop over two dims, as kernel.h tells: data[0] is the destination, data[1]
** the source. Runs become memcpy; a step of 0 in the source fills; where the
** source runs along the outer dim instead, squares are turned that fit the
** first cache level.
*/
#include <string.h>

#include "kernel/elements.h"

typedef struct { uint64_t lo, hi; } pair64;

/* Rows of the source that are turned together: a cache line of bytes. */
#define TURN 16

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
