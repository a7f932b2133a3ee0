/*
** Families: what the second column of a row in op/def/ stands for.
**
** OWN        the row has la_meta_<name> and la_impl_<name>
** DATA       only la_impl_<name>: the result's shape depends on data
** VIEW       only la_meta_<name>: it makes the view, nothing is filled
** META       only la_meta_<name>: it changes geometry or storage, not data
** COMPOSITE  only la_impl_<name>, made of other operations
** any other  la_family_<X> with the kernel tables of the row (STUB)
**
** A new element-wise family is one line below and one la_family.
*/
#ifndef LA_OP_FAMILIES_H
#define LA_OP_FAMILIES_H

#include "op/op.h"

/* What a call runs: the loop, and the numbers it is given. */
typedef struct la_plan {
    la_loop loop;
    la_params params;
} la_plan;

/* Of a family both functions get the whole call: meta makes the results without
** data (meta device), impl makes and fills them (its fast path for plain
** tensors skips the iterator, so it shares meta's rules, not meta's call).
** la_pointwise_meta and la_pointwise_impl (op/pointwise/pointwise.c) serve
** all families
** of the iterator; the rest of the fields are for them. */
typedef struct la_family {
    la_op_fn meta, impl;
    uint32_t iter_flags;      /* LA_IT_..., for the iterator families */
    la_dtype result;          /* static result dtype, or LA_UNDEFINED */
    la_status (*check)(la_frame *f);   /* extra rules; NULL for none */
    uint8_t ninputs;          /* tensors at the front of the arguments; the
                              ** numbers after them go to the loop, in order */
    uint8_t nraw;             /* the first of them keep their dtype (a mask) */
    uint8_t fast;             /* LA_FAST_...: for these dtypes plain tensors
                              ** skip the iterator */
    /* Change the iterator's settings; NULL: out and inputs as they come. */
    la_status (*configure)(la_frame *f, la_iter_config *config);
    /* Choose the loop for the dtype and complete the numbers; leaves loop NULL
    ** when the dtype is not supported. NULL: the row's kernel. */
    la_status (*pick)(la_frame *f, la_dtype dtype, la_plan *plan);
} la_family;

enum {
    LA_FAST_BOOL = 1, LA_FAST_INT = 2, LA_FAST_FLOAT = 4, LA_FAST_COMPLEX = 8,
    LA_FAST_ALL = 15
};

la_status la_pointwise_meta(la_frame *f);
/* The loop and its numbers for a computation in 'dtype' (src/fuse). */
la_status la_pointwise_plan(la_frame *f, la_dtype dtype, la_plan *plan);
la_status la_pointwise_impl(la_frame *f);

#define ROW_OWN(n) .meta = la_meta_##n, .impl = la_impl_##n
#define ROW_DATA(n) .impl = la_impl_##n
#define ROW_VIEW(n) .meta = la_meta_##n
#define ROW_META(n) .meta = la_meta_##n
#define ROW_COMPOSITE(n) .impl = la_impl_##n
#define ROW_STUB(n, X) .family = &la_family_##X, \
    .stubs = LA_STUB_TABLES(n)

/* The declarations that a row needs. */
#define NEED_OWN(n) la_status la_meta_##n(la_frame *), la_impl_##n(la_frame *);
#define NEED_DATA(n) la_status la_impl_##n(la_frame *);
#define NEED_VIEW(n) la_status la_meta_##n(la_frame *);
#define NEED_META(n) la_status la_meta_##n(la_frame *);
#define NEED_COMPOSITE(n) la_status la_impl_##n(la_frame *);
#define NEED_STUB(n, X) extern const la_family la_family_##X; \
    LA_STUB_DECLARE(la_loops, n);

/* Flags that come with the family. */
#define FLAGS_OWN 0
#define FLAGS_DATA 0
#define FLAGS_VIEW LA_VIEW_OP
#define FLAGS_META 0
#define FLAGS_COMPOSITE LA_COMPOSITE

/* Element-wise families, one line each: ROW, NEED and FLAGS. */
#include "op/pointwise/stub_families.h"
#include "op/pointwise/math_families.h"

#endif
