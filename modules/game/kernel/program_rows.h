/*
** The contract of the kernels that run a program over rows: a list of
** instructions over registers, each of which holds one number for every row of
** a block. What la.game computes with vectors, quaternions, matrices, rays and
** noise are such programs (modules/game/program.h).
**
** An element's result depends on its row's inputs alone. Every instruction is
** rounded by itself: + - * / and the square root as IEEE 754 says, functions by
** methods of our own from these, so that all capabilities and all machines
** give the same bits.
*/
#ifndef LA_KERNEL_GAME_ROWS_H
#define LA_KERNEL_GAME_ROWS_H

#include "kernel/kernel.h"

#define LA_ROWS_BLOCK 256     /* rows of a block, at most */

/* Operations of instructions on the registers a, b, c. A truth is all bits or
** none; bits are 32 of them, in the lower half of a double. */
typedef enum la_row_op {
    LA_ROW_IN,                /* component b of input a; c: how many follow
                              ** each other, this one included: the next
                              ** instructions have the others' registers */
    LA_ROW_CONST,             /* number a of the pool, in every row */
    LA_ROW_ADD, LA_ROW_SUB, LA_ROW_MUL, LA_ROW_DIV,
    LA_ROW_MUL_ADD,           /* a * b + c, both of them rounded */
    LA_ROW_MUL_SUB,           /* a * b - c */
    LA_ROW_SUB_MUL,           /* c - a * b */
    LA_ROW_SQRT, LA_ROW_FLOOR, LA_ROW_ABS,
    LA_ROW_MAX,               /* a > b ? a : b */
    LA_ROW_POWER,             /* the largest power of two that is not above |a|,
                              ** kept so far from both ends of the range that
                              ** its reciprocal is exact; 1 of zero */
    LA_ROW_LT, LA_ROW_LE, LA_ROW_EQ,     /* truths; false for NaN */
    LA_ROW_AND, LA_ROW_OR,    /* of truths */
    LA_ROW_SELECT,            /* a is true ? b : c */
    LA_ROW_SIN, LA_ROW_COS, LA_ROW_ATAN2,
    LA_ROW_HASH,              /* bits of a mixed with b, a whole number within
                              ** 2^30 */
    LA_ROW_SEED,              /* bits: number a of the pool, below 2^32 */
    LA_ROW_NUMBER,            /* bits of a mixed with the number of the row */
    LA_ROW_UNIFORM,           /* bits as a number of 0 .. 1 in steps of 2^-24 */
    LA_ROW_SLOPE,             /* component b of the lattice vector of c dims
                              ** that the bits in a choose */
    LA_ROW_OUT,               /* component b of the output is a; all of them in
                              ** order, at the end */
    LA_ROW_NOPS
} la_row_op;

typedef struct la_insn {
    int32_t op, d, a, b, c;   /* d: the register that is written */
} la_insn;

/* Rows of one input: at base + offsets[row] bytes, or every 'step' bytes where
** there are no offsets; components 'comp' bytes apart. */
typedef struct la_rows_input {
    const char *base;
    const int64_t *offsets;
    int64_t step, comp;
} la_rows_input;

typedef struct la_game_rows {
    const la_insn *code;
    int32_t n, nconst;        /* nconst: the first of them give what is the
                              ** same in every row */
    const double *consts;
    bool set;                 /* do that too: the registers are new */
    la_rows_input *in;
    char *out;                /* row-major */
    int64_t width;            /* components of the output */
    int64_t first, rows;      /* number of the first row; at most a block */
    int64_t block;            /* of the largest block: a multiple of 64 */
    void *registers;          /* 'block' elements each, aligned to 64 */
} la_game_rows;

typedef void la_game_rows_fn(const la_game_rows *r);
typedef struct la_rows_kernels { la_game_rows_fn *f32, *f64; } la_rows_kernels;
LA_STUB_DECLARE(la_rows_kernels, game_rows);

#endif
