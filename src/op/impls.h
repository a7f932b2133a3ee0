/*
** The prototypes of what rows name, for the files that implement them:
**
**     #define LA_ROWS "op/def/reduce.def"
**     #include "op/impls.h"
**
** A function whose signature differs from what the dispatcher calls does not
** compile, and -Wmissing-prototypes finds one that no row names. Only the rows
** of the theme are read: a new text rebuilds no other.
**
** LA_FORWARD(la_impl_poisson, impl_distribution(f, &poisson_rule)) defines one
** that is a single call. LA_GIVE(f, t) makes the owned 't' result 0; LA_OK.
*/
#include "op/frame.h"

#ifndef LA_ROWS
#define LA_ROWS "op/ops.def"
#endif

#define NEED_STRUCTURED(n, fam) la_op_fn_ la_meta_##n, la_impl_##n;
#define NEED_DYNAMIC(n, fam) la_op_fn_ la_impl_##n;
#define NEED_VIEW(n, fam) la_op_fn_ la_meta_##n;
#define NEED_METADATA(n, fam) la_op_fn_ la_meta_##n;
#define NEED_COMPOSITE(n, fam) la_op_fn_ la_impl_##n;
#define NEED_FORMULA(n, expr) la_op_fn_ la_impl_##n;
#define NEED_ELEMENTWISE(n, fam)
#define NEED_SHARED(n, fam)
#define NEED_REDUCE(n, fam) NEED_REDUCE_ fam
#define NEED_REDUCE_(rule, table, store) \
    la_op_fn_ la_reduce_##rule##_meta, la_reduce_##rule##_impl;

typedef la_status la_op_fn_(la_frame *f);
#define OP(name, kind, family, dtypes, schema, forms, doc) \
    NEED_##kind(name, family)
#include LA_ROWS
#undef OP
#undef LA_ROWS
#undef NEED_STRUCTURED
#undef NEED_DYNAMIC
#undef NEED_VIEW
#undef NEED_METADATA
#undef NEED_COMPOSITE
#undef NEED_FORMULA
#undef NEED_ELEMENTWISE
#undef NEED_SHARED
#undef NEED_REDUCE
#undef NEED_REDUCE_

#define LA_FORWARD(name, call) la_status name(la_frame *f) { return call; }
#define LA_GIVE(f, t) (la_set_result(f, 0, t), LA_OK)
