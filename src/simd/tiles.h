/*
** The eight tiles of AMX, all of 16 rows by 64 bytes: sums in 0 to 3, of the
** products of 4 and 5 (rows of A) with 6 and 7 (columns of B, pairs of k). Tiles
** are numbers within the instructions, so these are macros.
*/
#ifndef LA_SIMD_TILES_H
#define LA_SIMD_TILES_H

#include "simd/interleave16.h"

#if defined(HALVES) && (defined(__AMX_BF16__) || defined(__AMXBF16__))
#define TILES 1
#define TILE_ROWS 16

typedef struct tile_config {
    uint8_t palette, start_row, none[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_config;

/* Until tiles_end: afterwards the thread has no tiles in use that a switch of
** threads would have to save. Those of a caller are gone, as after any call. */
static inline void tiles_begin(void)
{
    tile_config c __attribute__((aligned(64))) = {.palette = 1};
    for (int t = 0; t < 8; t++) {
        c.bytes[t] = 64;
        c.rows[t] = TILE_ROWS;
    }
    /* gcc's word for it says that it reads eight bytes */
    __asm__ volatile("" :: "r"(&c) : "memory");
    _tile_loadconfig(&c);
}
static inline void tiles_end(void) { _tile_release(); }

#define tile_zero(t) _tile_zero(t)
#define tile_load(t, p, step) _tile_loadd(t, p, step)
#define tile_store(t, p, step) _tile_stored(t, p, step)
#define tile_dot_bf16(sum, a, b) _tile_dpbf16ps(sum, a, b)
/* By number: compilers know the word only since lately. */
#define tile_dot_f16(sum, a, b) \
    __asm__ volatile(".byte 0xc4, 0xe2, %c0, 0x5c, %c1" \
                     :: "i"(0x7b ^ (b) << 3), "i"(0xc0 | (sum) << 3 | (a)))
#endif
#endif
