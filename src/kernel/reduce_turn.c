/* Short rows laid side by side as columns, for reductions that are faster
** there; from any strides. */
#include "kernel/reduce.h"

#include <string.h>

#define NAME turn1
#define WORD uint8_t
#include "kernel/reduce_turn.inc"
#define NAME turn2
#define WORD uint16_t
#include "kernel/reduce_turn.inc"
#define NAME turn4
#define WORD uint32_t
#include "kernel/reduce_turn.inc"
#define NAME turn8
#define WORD uint64_t
#include "kernel/reduce_turn.inc"
#define NAME turn16
#define WORD unsigned __int128
#include "kernel/reduce_turn.inc"

static void turn(const la_reduce_rows *r, int64_t size, int64_t width,
                 char *out)
{
    switch (size) {
    case 1: turn1(r, width, out); break;
    case 2: turn2(r, width, out); break;
    case 4: turn4(r, width, out); break;
    case 8: turn8(r, width, out); break;
    default: turn16(r, width, out);
    }
}

const la_reduce_turn LA_KERNEL(reduce_turn) = {turn};
