/*
** Copies of elements by their size: loops over two dims, rows assembled of
** runs, interleaved sources. Offsets and steps are in bytes, counts in
** elements; sources and results do not overlap. The methods are in
** kernel/move/elements.c.
*/
#ifndef LA_KERNEL_MOVE_ELEMENTS_H
#define LA_KERNEL_MOVE_ELEMENTS_H

#include "kernel/kernel.h"

/* One loop per element size: 1, 2, 4, 8, 16 bytes. */
typedef la_loop la_move_table[5];
LA_STUB_DECLARE(la_move_table, move);

/* A run of a row that is put together: 'n' elements to byte 'to' of the row,
** from byte 'from' of a source row on, which steps by 'step' bytes. */
typedef struct la_piece {
    int64_t to, from, step, n;
} la_piece;

/* 'n' rows of dense elements, 'to_step' bytes apart; row i is made of pieces
** of the source row at byte rows[i]. */
typedef void (*la_assemble)(char *to, int64_t to_step, const char *from,
                            const int64_t *rows, int64_t n,
                            const la_piece *pieces, int npieces);
typedef la_assemble la_assemble_table[5];
LA_STUB_DECLARE(la_assemble_table, assemble);

/* Interleave: to[i*sources + k] = from[k][i] for i < n, LA_ZIP_LEAST to
** LA_ZIP_MOST contiguous sources. */
typedef void (*la_zip_loop)(char *to, const char *const *from, int sources,
                       int64_t n);
typedef la_zip_loop la_zip_table[5];
LA_STUB_DECLARE(la_zip_table, zip);
#define LA_ZIP_LEAST 2
#define LA_ZIP_MOST 4

#endif
