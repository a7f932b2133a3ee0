/*
** What the columns kind and family of a row in op/def/ stand for.
**
** STRUCTURED   la_meta_<name> makes the results, la_impl_<name> fills them
** DYNAMIC      la_impl_<name> alone: the result's shape depends on data
** VIEW         la_meta_<name> alone: it makes the view, nothing is filled
** METADATA     la_meta_<name> alone: it changes geometry or storage, not data
** COMPOSITE    la_impl_<name> alone, which calls other operations
** FORMULA      a composite that is one expression, written where others have a
**              family, in the words of the derivatives: R(op, ...) is a call,
**              A(k) tensor k of the arguments, VAL(k) any of them
** ELEMENTWISE  by la_family_<family>, with the kernel table of the row's name
** SHARED       the same with another row's table: (family, table)
** REDUCE       (rule, table, store): la_reduce_<rule>_meta and _impl, with the
**              kernel table reduce_<table>, whose accumulators are stored by
**              LA_STORE_<store> (kernel/reduce/reduce_loops.h)
**
** The other kinds have NONE for a family. A new element-wise family is one
** la_family; a new rule of reductions is a meta and an impl in
** op/reduce/ops.c. The column forms also names the row's rule in la.vmap,
** LA_BATCH(rule), and what a call costs, LA_COST(kind), where these do not
** follow from the kind.
**
** dtypes is the set of dtypes that the operation computes in, after promotion
** and dtype=; of a composite what it accepts. The dispatcher refuses a first
** tensor outside of it, element-wise rows, reductions and those with
** LA_ASKS_DTYPE do so themselves. spec/c/op/test_registry.c compares the tables
** of kernels with the rows, spec/registry/dtypes_spec.lua all rows with what
** calls do.
*/
#ifndef LA_OP_FAMILIES_H
#define LA_OP_FAMILIES_H

#include "iter/iter.h"
#include "op/frame.h"

/* The loop that a call runs and its scalar parameters. A plan is made without a
** look at the inputs' elements, which the meta device and headers of a chain
** have not; wrapped scalars are known. 'inspect' (NULL: none) makes the
** refusals that need elements, when the inputs have them and before the loop
** runs. */
typedef struct la_loop_plan {
    la_loop loop;
    la_params params;
    la_status (*inspect)(const la_frame *f, la_dtype dtype);
    int64_t grain;      /* elements between two looks at the limits, where one
                        ** takes long; 0: as always */
} la_loop_plan;

/* Both functions of a family get the whole call: meta makes the results without
** data (meta device), impl makes and fills them (its fast path for plain
** tensors skips the iterator, so it shares meta's rules, not meta's call).
** la_pointwise_meta and la_pointwise_impl (op/pointwise/pointwise.c) serve all
** families of the iterator; the rest of the fields are for them. */
typedef struct la_family {
    la_op_fn meta, impl;
    uint32_t iter_flags;      /* LA_IT_..., for the iterator families */
    la_dtype result;          /* static result dtype, or LA_UNDEFINED */
    la_status (*check)(la_frame *f);   /* extra rules; NULL for none */
    uint8_t ninputs;          /* tensors at the front of the arguments; the
                              ** scalars after them go to the loop, in order */
    uint8_t nraw;             /* the first of them keep their dtype (a mask) */
    uint8_t fast;             /* LA_FAST_...: for these dtypes plain tensors
                              ** skip the iterator */
    bool keeps_numbers;       /* la_pointwise_widens */
    bool wraps;               /* takes -n of an unsigned dtype for its n */
    bool by_value;            /* takes numbers that an integer dtype can't hold
                              ** (la_pointwise_exceeds); others refuse them */
    /* Change the iterator's settings; NULL: out and inputs as they come. */
    la_status (*configure)(la_frame *f, la_iter_config *config);
    /* Choose the loop for the dtype and complete the parameters, or refuse
    ** them; leaves loop NULL when the dtype is not supported. Runs on the meta
    ** device too: reads no element of an input. NULL: the row's kernel. */
    la_status (*pick)(la_frame *f, la_dtype dtype, la_loop_plan *plan);
    /* Before 'configure', where the iterator is to run: leave inputs out, or
    ** put another tensor (*spare, owned by the caller) in place of one. */
    la_status (*adapt)(la_frame *f, la_iter_config *config, la_tensor **spare);
} la_family;

enum {
    LA_FAST_BOOL = 1, LA_FAST_INT = 2, LA_FAST_FLOAT = 4, LA_FAST_COMPLEX = 8,
    LA_FAST_ALL = 15
};

la_status la_pointwise_meta(la_frame *f);
/* Does the call compute in float32 although its tensors are of 'dtype', a
** 16-bit float? So it is where a number is among the inputs that the dtype
** can't hold: rounded, it would be the largest error of the result. */
bool la_pointwise_widens(const la_frame *f, la_dtype dtype);
/* Is there a number among the inputs that the integer dtype can't hold, of a
** family that goes by value? Then 'adapt' has to see the call. */
bool la_pointwise_exceeds(const la_frame *f, la_dtype dtype);
/* The loop and its parameters for a computation in 'dtype' (src/fuse), which
** calls its 'inspect' itself. */
la_status la_pointwise_plan(la_frame *f, la_dtype dtype, la_loop_plan *plan);
la_status la_pointwise_impl(la_frame *f);

#endif
