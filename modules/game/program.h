/*
** Programs over rows: what most of la.game is made of.
**
** A program is written once, in C, as a function of the components of its
** inputs: x = la_add(b, la_in(b, 0, 0), la_in(b, 1, 0)). It becomes a list of
** instructions, each of which gives a new value; the operation game_rows runs
** it over all rows at once (modules/game/kernel/program_rows.h), without memory
** for what lies between. The gradient of a program is a program again: the same
** list, followed by the sums of products that the chain rule asks for. So each
** function of la.game has derivatives of any order without a formula of its
** own, and an output that nobody asks for costs nothing.
**
** A value is a number of the list, 0 or more. LA_NO_VALUE is the gradient that
** is known to be zero. After a failure (no memory) all calls go on, harmlessly,
** and la_recipe_finish tells.
*/
#ifndef LA_OP_GAME_PROGRAM_H
#define LA_OP_GAME_PROGRAM_H

#include "modules/game/kernel/program_rows.h"
#include "op/frame.h"

#define LA_NO_VALUE (-1)
#define LA_PROGRAM_INPUTS 32  /* gradients of gradients included */
#define LA_PROGRAM_PARAMS 8

typedef struct la_recipe {
    la_status status;
    la_insn *list;
    int32_t n, capacity;
    double *consts;
    int32_t nconsts, consts_capacity;
    int32_t *outs;            /* values of the outputs, in order */
    int32_t nouts, outs_capacity;
    bool is_double;           /* what it will run in */
    int ninputs;
    int64_t comps[LA_PROGRAM_INPUTS];   /* components of each input */
    int32_t *ins;             /* values of all components, -1: not asked for */
    int64_t nins;
    int32_t *const_at;        /* values of the constants */
    int32_t const_at_capacity;
    int64_t params[LA_PROGRAM_PARAMS];  /* see la_recipe_param */
    int32_t registers;        /* of the finished program */
} la_recipe;

/* ---- writing ---- */

int la_in(la_recipe *b, int input, int64_t comp);
int la_const(la_recipe *b, double x);
int la_seed(la_recipe *b, uint32_t bits);      /* bits to mix others into */
/* An instruction; operands that it does not have are 0. */
int la_emit(la_recipe *b, la_row_op op, int x, int y, int z);
void la_put(la_recipe *b, int value);          /* the next output */
static inline int la_plus(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_ADD, x, y, 0);
}
static inline int la_minus(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_SUB, x, y, 0);
}
static inline int la_times(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_MUL, x, y, 0);
}
static inline int la_over(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_DIV, x, y, 0);
}
static inline int la_root(la_recipe *b, int x)
{
    return la_emit(b, LA_ROW_SQRT, x, 0, 0);
}
static inline int la_less(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_LT, x, y, 0);
}
static inline int la_at_most(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_LE, x, y, 0);
}
static inline int la_equals(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_EQ, x, y, 0);
}
static inline int la_choose(la_recipe *b, int truth, int x, int y)
{
    return la_emit(b, LA_ROW_SELECT, truth, x, y);
}
static inline int la_both(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_AND, x, y, 0);
}
static inline int la_either(la_recipe *b, int x, int y)
{
    return la_emit(b, LA_ROW_OR, x, y, 0);
}
/* x times a number, x plus a number. */
static inline int la_scale(la_recipe *b, int x, double by)
{
    return la_times(b, x, la_const(b, by));
}
static inline int la_shift(la_recipe *b, int x, double by)
{
    return la_plus(b, x, la_const(b, by));
}
int la_negate(la_recipe *b, int x);            /* 0 - x */
static inline int la_magnitude(la_recipe *b, int x)
{
    return la_emit(b, LA_ROW_ABS, x, 0, 0);
}
int la_lesser(la_recipe *b, int x, int y);     /* x where x < y, else y */
static inline int la_larger(la_recipe *b, int x, int y)   /* y < x ? x : y */
{
    return la_emit(b, LA_ROW_MAX, x, y, 0);
}

/* Option k of the call: as an integer, as a number. */
static inline int64_t la_recipe_param(const la_recipe *b, int k)
{
    return b->params[k];
}
double la_param_number(const la_recipe *b, int k);
int64_t la_number_param(double x);              /* what it reads */

/* grads[k], for k < n: the gradient of the values wanted[k], where those of the
** values outs[k], k < nouts, are gs[k]. */
void la_recipe_gradient(la_recipe *b, int nouts, const int *outs,
                         const int *gs, int n, const int *wanted, int *grads);

/* ---- running ---- */

/* A program without instructions, of inputs with so many components. */
la_status la_recipe_start(la_recipe *b, bool is_double, int ninputs,
                           const int64_t *comps);
void la_recipe_free(la_recipe *b);
/* 'list' is in the form that kernels run: first 'nconst' instructions for what
** is the same in every row, as the inputs of 'even_inputs' are (bit k: input
** k). */
la_status la_recipe_finish(la_recipe *b, uint64_t even_inputs,
                            int32_t *nconst);

/* ---- the programs ---- */

typedef void la_recipe_fn(la_recipe *b);
typedef struct la_recipe_row {
    const char *in;           /* a letter for each input, see programs.def */
    const char *out;
    la_recipe_fn *write;
} la_recipe_row;

typedef enum la_recipe_id {
#define PROGRAM(name, in, out) LA_PROGRAM_##name,
#define STEPS(name, in, out) LA_PROGRAM_##name,
#include "modules/game/programs.def"
#undef PROGRAM
#undef STEPS
    LA_NPROGRAMS
} la_recipe_id;

#define PROGRAM(name, in, out) la_recipe_fn la_write_##name;
#define STEPS(name, in, out) la_recipe_fn la_write_##name;
#include "modules/game/programs.def"
#undef PROGRAM
#undef STEPS

/* Run program 'id' on the first n arguments of the composite 'f' with 'params'
** (of la_number_param): checks shapes, converts to one dtype, broadcasts, and
** gives the results as the row of the program says. */
la_status la_run_program(la_frame *f, la_recipe_id id, int n,
                         const int64_t *params, int nparams);
/* Runs rows on tensors of any origin, as one tensor: all components in the last
** dim. */
la_status la_run_rows(la_recipe_id id, int n, la_tensor *const *in,
                      const int64_t *params, int nparams, la_tensor **out);

#endif
