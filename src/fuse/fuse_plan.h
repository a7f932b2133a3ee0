/*
** The steps of a chain (what steps.c, write.c and fuse_rows.c write), and the
** plan of a pass over a part of them (what fuse_plan.c makes of it, and
** fuse_run.c runs).
**
** All steps have the shape of the chain, but those of rows: a reduction over
** the last dims gives one element for each row, and element-wise steps over
** such results do too. They have the chain's shape with these dims 1, or
** without them.
*/
#ifndef LA_FUSE_FUSE_PLAN_H
#define LA_FUSE_FUSE_PLAN_H

#include "iter/iter.h"
#include "op/families.h"
#include "op/frame.h"
#include "op/reduce/reduce.h"
#include "tensor/shape.h"

#define LA_FUSE_STEPS 64     /* one bit each in a la_fuse_set */
#define LA_FUSE_INPUTS 32
#define LA_FUSE_SOURCES 3
/* Longer rows are reduced in pieces: their steps see the result only when the
** pass is over. */
#define LA_FUSE_ROW LA_REDUCE_CHUNK
typedef struct la_fused la_fused;       /* fuse/chain.h */
typedef uint64_t la_fuse_set;
#define LA_FUSE_ONE ((la_fuse_set)1)

/* Origin of an operand of a step. */
typedef struct la_fuse_source {
    enum { LA_FROM_STEP, LA_FROM_INPUT, LA_FROM_SCALAR } kind;
    int index;                        /* of the step or the input */
    char scalar[16] __attribute__((aligned(16)));   /* in the step's dtype */
} la_fuse_source;

typedef enum la_fuse_kind {
    LA_STEP_EACH,             /* element by element */
    LA_STEP_ROW,              /* the same on one element for each row */
    LA_STEP_REDUCE              /* reduces the rows of its source */
} la_fuse_kind;

typedef struct la_fuse_step {
    la_fuse_kind kind;
    bool squares;                     /* x * x */
    bool pending;                     /* in no pass yet */
    bool write;                       /* into a tensor that was given, */
    bool replaced;                    /* which a later step writes again */
    bool copies;                      /* its one source */
    bool renewed;                     /* its numbers change */
    la_loop_plan plan;                     /* the loop and its numbers */
    la_reduce_plan reduction;              /* of LA_STEP_REDUCE, instead */
    int nsources;
    la_fuse_source from[LA_FUSE_SOURCES];
    la_tensor *tensor;                /* the result or target, owned */
} la_fuse_step;

struct la_fused {
    int nsteps, ninputs, most;        /* steps at most */
    struct la_fuse_plan *plans;       /* its passes, the last one first */
    la_shape shape;                   /* of the steps but those of rows */
    int64_t strides[LA_MAX_DIMS];
    int ntrail;                       /* last dims that make a row; 0: none */
    int64_t n, rows;                  /* elements of a row; rows */
    la_tensor *inputs[LA_FUSE_INPUTS];        /* owned */
    la_fuse_step steps[LA_FUSE_STEPS];        /* 'most' of them */
};

static inline bool la_fuse_is_pending(const la_fuse_step *s)
{
    return s->pending;
}

/* The set with all pending steps behind it. */
la_fuse_set la_fuse_needed(const la_fused *z, la_fuse_set wanted);

/* Lays out passes that compute the pending steps of the set; the others behind
** them run too, but leave nothing. */
la_status la_fuse_lay_out(la_fused *z, la_fuse_set wanted);

/* ---- steps (steps.c) ---- */

bool la_fuse_is_simple(const la_tensor *t);
bool la_fuse_is_repeated(const la_tensor *t);
/* Begins an empty chain of at most so many steps. */
void la_fuse_init(la_fused *z, int most);
/* Drops the references of steps and inputs. */
void la_fuse_forget(la_fused *z);
/* Does the family compute such a call as a step, and are its inputs simple? */
bool la_fuse_is_recordable(const la_frame *f);
/* Write a call down as a step, if it can be one of this chain; *done says
** whether it was. A refusal is the call's own error. */
la_status la_fuse_record(la_fused *z, la_frame *f, bool *done);
la_status la_fuse_record_given(la_fused *z, la_frame *f, bool *done);
/* The step whose result it is, or -1. */
int la_fuse_step_of(const la_fused *z, const la_tensor *t);
/* The chain has this shape, or takes it on where it is empty. */
bool la_fuse_begin(la_fused *z, int ndim, const int64_t *sizes,
                   const int64_t *strides);
void la_fuse_take_source(la_fused *z, la_fuse_source *from, la_tensor *t,
                         la_dtype dtype);

/* ---- writes (write.c) ---- */

/* The step that a call becomes: n sources from argument 'first' on, of which
** the first nraw are masks, in 'dtype'; its results are of 'result'. */
typedef struct la_fuse_call {
    la_loop_plan plan;
    int first, n, nraw;
    bool copies;
    la_dtype dtype, result;
} la_fuse_call;

/* The pending steps that write tensors which were given. */
la_fuse_set la_fuse_writes(const la_fused *z);
/* Write down a call that writes one tensor, if it can be a step; *done is set
** then. */
la_status la_fuse_record_write(la_fused *z, la_frame *f, const la_fuse_call *c,
                               bool *done);
la_status la_fuse_record_copy(la_fused *z, la_frame *f, bool *done);
bool la_fuse_has_row_order(const la_tensor *t);
la_loop la_fuse_copy_loop(size_t size);

/* ---- rows (fuse_rows.c) ---- */

/* Write a reduction down as a step, if it can be one. */
la_status la_fuse_record_reduction(la_fused *z, la_frame *f, bool *done);
/* Kind of an element-wise call of this result's shape and strides next to the
** chain's rows; false where its arguments do not fit. */
bool la_fuse_kind_of(const la_fused *z, const la_frame *f, int n,
                     const la_shape *shape, const int64_t *strides,
                     la_fuse_kind *kind);
/* Passes that compute the reductions of long rows among the arguments are laid
** out, so that steps can follow. */
la_status la_fuse_settle(la_fused *z, const la_frame *f, int n);

/* ---- two steps in one (two_steps.c) ---- */

/* The loop of 'second' with 'first', which is its source 'side' (0 or 1): from
** the two sources of this and the other one of that. NULL: there is none. */
la_loop la_fuse_chain(const la_fuse_step *first, const la_fuse_step *second,
                      int side);

/* ---- plans (fuse_plan.c) ---- */

/* Location of a step's operand: an operand of the pass, a register, or a scalar
** in the step. */
typedef struct la_fuse_location {
    enum { LA_IN_OPERAND, LA_IN_REGISTER, LA_IN_SCALAR } kind;
    int index;
    char *scalar;
} la_fuse_location;

typedef struct la_fuse_line {
    la_fuse_kind kind;
    int step;                 /* whose result it is; -1: it copies */
    la_loop loop;
    const la_params *params;
    la_reduce_plan reduction;              /* of LA_STEP_REDUCE, instead */
    int n;
    la_fuse_location at[1 + LA_FUSE_SOURCES];    /* the result first */
} la_fuse_line;

/* A register holds a block's elements; where a phase ends between writer and
** last reader those of all rows at hand; or an element for each of these rows.
*/
typedef struct la_fuse_register {
    enum { LA_HOLDS_BLOCK, LA_HOLDS_ROWS, LA_HOLDS_RESULTS } extent;
    int64_t size;             /* of an element */
    int64_t start;            /* in the arena */
} la_fuse_register;

/* Operand that is read and written outside; one of rows may lack the row's
** dims. */
typedef struct la_fuse_operand {
    la_tensor *tensor;        /* borrowed */
    bool short_of;            /* its dims are those before the row's */
    bool results;             /* written by a step of rows */
    bool given;               /* a tensor that a step writes */
    int loaded;               /* the register of its elements, or -1 */
} la_fuse_operand;

#define LA_FUSE_OPERANDS (2 * LA_ITER_MAX_OPS)
/* Rows of two or three elements that go as columns (fuse_columns.c). */
typedef struct la_fuse_columns {
    int64_t unit, n;          /* rows at a time, 0: none; their elements */
    int packed[LA_FUSE_OPERANDS];     /* registers of operands; -1: none */
    bool loads[LA_FUSE_OPERANDS];     /* packed ones that are read outside */
    int lanes[2];             /* registers of a reduction */
} la_fuse_columns;

typedef struct la_fuse_plan {
    const la_fused *z;
    int nlines, noutputs, noperands, nregisters;
    bool rows;                /* some line is no LA_STEP_EACH */
    bool short_rows;          /* blocks are whole rows, reduced one by one */
    bool packs;               /* some operand is packed into a register */
    int nkept;                /* registers before it is run */
    struct la_fuse_plan *next;        /* the pass before */
    int32_t from[LA_FUSE_OPERANDS];   /* what its operands are */
    la_fuse_operand operands[LA_FUSE_OPERANDS];   /* wanted first */
    la_fuse_register registers[LA_FUSE_STEPS + LA_FUSE_OPERANDS];
    int64_t block;            /* elements that lines run over at a time, and */
    int64_t reduce_block;       /* where reductions of these follow */
    char *memory, *arenas;    /* unaligned, aligned */
    int64_t bytes, arena_bytes;       /* in all, of one thread */
    int nslots;
    la_fuse_columns columns;
    _Atomic uint64_t busy;    /* slots of the arenas */
    la_fuse_line lines[LA_FUSE_STEPS + LA_FUSE_OPERANDS];     /* the last
                                ** member: a chain's has what it needs */
} la_fuse_plan;

void la_fuse_make_plan(la_fuse_plan *p, const la_fused *z, la_fuse_set wanted);
/* A register for a block of copies of an operand's row. */
int la_fuse_add_register(la_fuse_plan *p, int64_t size);
/* Arenas for registers of so many elements and results, for so many threads. */
la_status la_fuse_make_arenas(la_fuse_plan *p, int64_t elements,
                              int64_t results, int nslots);
/* A thread's arena, and back. */
int la_fuse_take_slot(la_fuse_plan *p);
void la_fuse_give_slot(la_fuse_plan *p, int slot);

/* ---- running (fuse_run.c, fuse_reduce.c) ---- */

/* A box of elements: lines run over parts of it, one after another. */
typedef struct la_fuse_box {
    char *data[LA_FUSE_OPERANDS];     /* of the operands */
    int64_t inner[LA_FUSE_OPERANDS], outer[LA_FUSE_OPERANDS];
    int64_t n0, n1;
    int64_t at;               /* of its first element in LA_HOLDS_ROWS */
    uint32_t copied;          /* operands that are copies for a block's rows */
    char *registers;
} la_fuse_box;

void la_fuse_run_box(const la_fuse_plan *p, int first, int last,
                     const la_fuse_box *x);

/* ---- rows of two or three elements (fuse_columns.c) ---- */

/* Can boxes of n by 'rows' elements with these steps go as columns? Adds
** registers and sets 'columns', where so. */
bool la_fuse_find_columns(la_fuse_plan *p, const int64_t *inner,
                          const int64_t *outer, int64_t n, int64_t rows);
/* Finds out whether a pass without reductions goes over points; 'columns' says
** so. */
void la_fuse_find_points(la_fuse_plan *p, const la_iter *it);
/* All lines over a box of them. */
void la_fuse_run_points(const la_fuse_plan *p, la_fuse_box *x);
/* All lines over a box of at most 'unit' rows. 'last' says what the registers
** hold of earlier boxes: two entries for each operand, NULL at first. */
void la_fuse_run_columns(const la_fuse_plan *p, const la_fuse_box *x,
                         const char **last);
/* A reduction of rows that lie at 'in', results to 'out'. */
static inline void la_fuse_reduce(const la_fuse_plan *p, const la_fuse_line *l,
                                const char *in, int64_t rows, char *out)
{
    int64_t size = l->reduction.esize, n = p->z->n;
    la_reduce_rows r = {in, size, n, n * size, rows};
    la_reduce_dense(&l->reduction, &r, p->z->rows == 1, out);
}
/* The passes end. */
void la_fuse_drop_plans(la_fused *z);
/* A pass whose operands all have their memory. */
la_status la_fuse_run_plan(la_fuse_plan *p);
/* One pass with reductions; outputs have their storage. */
la_status la_fuse_run_rows(la_fuse_plan *p);

#endif
