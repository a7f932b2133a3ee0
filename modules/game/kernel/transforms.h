/*
** The contract of the kernels for the shortest and most frequent programs over
** rows (modules/game/kernel/program_rows.h) as loops of their own: what goes
** from instruction to instruction through memory there takes longer than the
** arithmetic. They do the same in the same order, so the bits are equal.
*/
#ifndef LA_KERNEL_GAME_TRANSFORMS_H
#define LA_KERNEL_GAME_TRANSFORMS_H

#include "modules/game/kernel/program_rows.h"

typedef struct la_game_transform {
    const la_rows_input *in;  /* what transforms, and vectors of 3 components:
                              ** components one after another */
    void *out;                /* [rows][3], row-major */
    int64_t rows;             /* at most LA_ROWS_BLOCK */
    int64_t side;             /* of matrices */
} la_game_transform;
typedef void la_game_transform_fn(const la_game_transform *t);

/* Vertices under sums of matrices, elements in rows without gaps: points
** {rows, 3}, matrices {count, 4, 4}, indices {rows, most} from 1 or negative
** from the end, weights of that shape. */
typedef struct la_game_skin {
    const void *p, *matrices, *weights;
    const int64_t *joints;
    void *out;
    int64_t rows, most, count;
} la_game_skin;
typedef void la_game_skin_fn(const la_game_skin *s);

/* points, vectors: by one matrix, the same in every row, of 4 x 4 and of
** 'side'. rotate: by quaternions. Of float32 and float64. */
typedef struct la_transform_kernels {
    la_game_transform_fn *points[2], *vectors[2], *rotate[2];
    la_game_skin_fn *skin[2];
} la_transform_kernels;
LA_STUB_DECLARE(la_transform_kernels, game_transforms);

#endif
