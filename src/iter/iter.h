/*
** The tensor iterator: from operands of any shape, stride and dtype to few,
** long, cheap loops. Build order, one function each (iter/build.c): populate
** operands, mark outputs, check memory overlap, names, broadcast shape, resize
** outputs, common dtype, fast set-up, strides, reorder dims, allocate,
** coalesce. The method is PyTorch's TensorIterator.
**
** An iterator lives on the caller's stack and owns references to its operands
** until la_iter_close (with LA_IT_BORROWED it only borrows what it was given:
** the caller keeps those tensors alive). After a build without error outputs
** that were NULL are allocated: take them with la_iter_output. On the meta
** device everything but the loops happens. A la_iter is large: only the parts
** in use are ever written, so never copy or zero one whole.
*/
#ifndef LA_ITER_ITER_H
#define LA_ITER_ITER_H

#include "base/size.h"
#include "kernel/kernel.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

#define LA_ITER_MAX_OPS 8

/* The flags of a config (PyTorch's names). */
enum {
    LA_IT_CHECK_MEM_OVERLAP = 1 << 0,
    LA_IT_ALLOW_CPU_SCALARS = 1 << 1,
    LA_IT_IS_REDUCTION = 1 << 2,   /* by rows; outputs lack row_dims */
    LA_IT_RESIZE_OUTPUTS = 1 << 3,
    LA_IT_CHECK_ALL_SAME_DTYPE = 1 << 4,
    LA_IT_CHECK_ALL_SAME_DEVICE = 1 << 5,
    LA_IT_ENFORCE_SAFE_CASTING_TO_OUTPUT = 1 << 6,
    LA_IT_ENFORCE_LINEAR_ITERATION = 1 << 7,
    LA_IT_PROMOTE_INPUTS = 1 << 8,            /* to the common dtype */
    LA_IT_PROMOTE_INTEGERS_TO_FLOAT = 1 << 9,
    LA_IT_CAST_OUTPUTS = 1 << 10,             /* common dtype to outputs */
    LA_IT_BORROWED = 1 << 11,  /* take no references to given operands */
    /* One element at a time, each seeing what those before it wrote: an output
    ** overlaps itself. Set by itself where the overlap check can not
    ** tell. */
    LA_IT_IN_ORDER = 1 << 12,
    /* Rows (below): dims 'row_dims' first. Outputs have them too. */
    LA_IT_ROWS = 1 << 13,
    LA_IT_BINARY_OP = LA_IT_CHECK_MEM_OVERLAP | LA_IT_ALLOW_CPU_SCALARS
        | LA_IT_CHECK_ALL_SAME_DEVICE | LA_IT_PROMOTE_INPUTS
        | LA_IT_CAST_OUTPUTS
        | LA_IT_ENFORCE_SAFE_CASTING_TO_OUTPUT | LA_IT_RESIZE_OUTPUTS,
    LA_IT_BINARY_FLOAT_OP = LA_IT_BINARY_OP | LA_IT_PROMOTE_INTEGERS_TO_FLOAT,
    LA_IT_COMPARISON_OP = LA_IT_CHECK_MEM_OVERLAP | LA_IT_ALLOW_CPU_SCALARS
        | LA_IT_CHECK_ALL_SAME_DEVICE | LA_IT_PROMOTE_INPUTS
        | LA_IT_RESIZE_OUTPUTS
};

typedef struct la_iter_config {
    uint32_t flags;
    int noutputs, ninputs;
    la_tensor *operands[LA_ITER_MAX_OPS];  /* outputs first; NULL: allocate */
    /* Outputs in this set are also read (in place accumulation). */
    uint32_t read_write;
    /* Dtype that the loop writes to outputs; LA_UNDEFINED: infer. A given
    ** output of another dtype is converted to. */
    la_dtype static_dtype;
    uint64_t row_dims;         /* by rows: bit d for dim d of the first input */
} la_iter_config;
#define LA_ITER_CONFIG(f, nout, nin) \
    {.flags = (f), .noutputs = (nout), .ninputs = (nin), \
     .static_dtype = LA_UNDEFINED}

typedef struct la_iter_operand {
    la_tensor *tensor;         /* what the loop runs over */
    char *data;                /* first element; NULL on the meta device */
    la_dtype current, target;  /* dtype in memory, dtype in the loop */
    bool is_output, is_read_write, will_resize, was_null, owned;
    int64_t strides[LA_MAX_DIMS];  /* bytes; dim 0 is the fastest */
} la_iter_operand;

typedef struct la_iter {
    int noutputs, noperands, ndim;
    int inner;                 /* by rows: so many dims are inside a row */
    uint32_t flags;
    int64_t numel;
    la_dtype common;           /* LA_UNDEFINED when inputs differ unpromoted */
    la_device device;
    bool coalesced;            /* perm says nothing any more */
    bool same_shape, all_scalars;
    bool needs_cast;           /* some operand's current is not its target */
    struct la_names *names;    /* of the outputs; NULL for none */
    uint8_t perm[LA_MAX_DIMS];     /* iterator dim -> tensor dim */
    int64_t shape[LA_MAX_DIMS];    /* dim 0 is the fastest */
    la_iter_operand op[LA_ITER_MAX_OPS];
} la_iter;

/* On failure the iterator is closed already. */
la_status la_iter_build(la_iter *it, const la_iter_config *config);
void la_iter_close(la_iter *it);
#define LA_ITER __attribute__((cleanup(la_iter_close))) la_iter
/* Output k as an owned reference (the tensor that the caller gave, or the one
** that was allocated). */
la_tensor *la_iter_output(la_iter *it, int k);

/* Run 'loop' over everything, in parallel when numel is at least the grain
** (32768 by default: pass LA_GRAIN). Operands whose dtype in memory is not the
** target are converted in chunks through a buffer on the way in and out. (The
** dispatcher has resolved conj and neg bits before.) The loop may change the
** pointers it is given, not the strides. LA_EINTR, or LA_OK. */
#define LA_GRAIN 32768
la_status la_iter_for_each(la_iter *it, la_loop loop, const void *params,
                           int64_t grain);
la_status la_iter_serial(la_iter *it, la_loop loop, const void *params);
/* Runs the loop over the linear range begin..end-1 of the iteration. */
void la_iter_range(const la_iter *it, int64_t begin, int64_t end, la_loop loop,
                   const void *params);

/* ---- rows ----
** A build with LA_IT_ROWS or LA_IT_IS_REDUCTION. Outputs are given; the dtypes
** are the operands' own. Dims 0 .. inner-1 are those of 'row_dims', the dims
** from 'inner' on the others; each group is sorted by the input's strides and
** merged, and has at least one dim, if of size 1. A reduction's outputs have
** stride 0 in the inner dims. */

/* Product of the sizes of dims first .. end-1. */
int64_t la_iter_count(const la_iter *it, int first, int end);
/* Move the operands' pointers to position i of the dims first .. end-1. */
static inline void la_iter_seek(const la_iter *it, int first, int end,
                                int64_t i, char **data)
{
    for (int d = first; d < end && i > 0; d++) {
        int64_t j = i % it->shape[d];
        i /= it->shape[d];
        for (int k = 0; k < it->noperands; k++)
            data[k] += j * it->op[k].strides[d];
    }
}
/* Unit i of the rows, when those along dim 'inner' come in blocks: pointers to
** its first row. Returns how many rows follow along that dim, this included. */
int64_t la_iter_unit(const la_iter *it, int64_t block, int64_t i, char **data);

/* 'rows' rows at 'data', one after another along dim 'inner'. */
typedef void (*la_rows_fn)(const la_iter *it, char *const *data, int64_t rows,
                           void *context);
typedef struct la_row_plan {
    la_rows_fn run;
    int64_t block;             /* rows along dim 'inner' of one unit */
    int64_t batch;             /* most rows of one call, a multiple of block */
    int64_t grain;             /* least units of one thread */
} la_row_plan;
/* Few elements without gaps along dim 'dim', the first or the last of size > 1:
** what a build by rows and a walk over it come to, without either. Fills
** 'inner' (1), 'noutputs' and two dims of shape and strides, for one call of a
** la_rows_fn on it->shape[1] rows at 'data'. False where that does not do; one
** input, no conversion. */
bool la_iter_few_rows(la_iter *it, const la_iter_config *config, int dim,
                      char **data);
/* Call plan->run for all rows, over threads, with a look at the interrupt
** between calls. LA_EINTR or LA_OK. */
la_status la_iter_rows(const la_iter *it, const la_row_plan *plan,
                       void *context);

/* A walk over the shape by linear position, used by the loops above. */
typedef struct la_dim_counter {
    const int64_t *shape;
    int ndim;
    int64_t begin, end, offset;
    int64_t values[LA_MAX_DIMS];
} la_dim_counter;
void la_dim_counter_init(la_dim_counter *, int ndim, const int64_t *shape,
                         int64_t begin, int64_t end);
/* The next box of at most two dims; false at the end. */
bool la_dim_counter_step(const la_dim_counter *, int64_t step[2]);
void la_dim_counter_advance(la_dim_counter *, const int64_t step[2]);
/* When 'step' is a whole plane (dims 0 and 1): how many planes follow each
** other along dim 2, this one included; else 0. And the step over them. */
int64_t la_dim_counter_planes(const la_dim_counter *, const int64_t step[2]);
void la_dim_counter_skip(la_dim_counter *, int64_t planes);

/* Convert elements between dtypes (kernel/move/cast.c); what copy_ runs too. */
typedef la_loops la_cast_table[LA_NDTYPES];   /* [to][from] */
LA_STUB_DECLARE(la_cast_table, cast);
static inline la_loop la_cast_loop(la_dtype to, la_dtype from)
{
    return (*LA_STUB(cast))[to][from];
}

/* One text that shows operands, strides, shape and dtypes (LUNARRAY_TRACE and
** debuggers). Writes at most 'capacity' bytes. */
void la_iter_describe(const la_iter *it, char *out, size_t capacity);

#endif
