/*
** The eight tile registers of AMX, all of 16 rows by 64 bytes: sums in 0 to 3,
** of the products of 4 and 5 (rows of A) with 6 and 7 (columns of B, k and k +
** 1 in one 32-bit element). Tile numbers are immediates of the instructions, so
** these are macros. TILES is defined where the compiler knows them.
*/
#ifndef LA_SIMD_ISA_TILES_H
#define LA_SIMD_ISA_TILES_H

#include "simd/permute/interleave16.h"

#if defined(H16_LANES) && (defined(__AMX_BF16__) || defined(__AMXBF16__))
#define TILES 1
#define TILE_ROWS 16

typedef struct tile_config {
    uint8_t palette, start_row, none[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_config;

/* Configure the tiles; tiles_end releases them, and then a context switch has
** none to save. The contents are not preserved across calls, those of a caller
** neither. */
static inline void tiles_begin(void)
{
    tile_config c __attribute__((aligned(64))) = {.palette = 1};
    for (int t = 0; t < 8; t++) {
        c.bytes[t] = 64;
        c.rows[t] = TILE_ROWS;
    }
    /* gcc declares the intrinsic as if it read eight bytes: the rest must be in
    ** memory before it */
    __asm__ volatile("" :: "r"(&c) : "memory");
    _tile_loadconfig(&c);
}
static inline void tiles_end(void) { _tile_release(); }

#define tile_zero(t) _tile_zero(t)
#define tile_load(t, p, step) _tile_loadd(t, p, step)
#define tile_store(t, p, step) _tile_stored(t, p, step)
#define tile_dot_bf16(sum, a, b) _tile_dpbf16ps(sum, a, b)
/* TDPFP16PS by its encoding: few assemblers know the mnemonic yet. */
#define tile_dot_f16(sum, a, b) \
    __asm__ volatile(".byte 0xc4, 0xe2, %c0, 0x5c, %c1" \
                     :: "i"(0x7b ^ (b) << 3), "i"(0xc0 | (sum) << 3 | (a)))
#endif
#endif
