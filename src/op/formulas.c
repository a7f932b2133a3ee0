/* The composites whose rows say all: FORMULA in op/families.h. */
#include "op/composite.h"
#include "op/impls.h"
#include "op/op.h"

#define A(k) la_arg(f, k)
#define VAL(k) f->args[k]

#define BODY_STRUCTURED(n, fam)
#define BODY_DYNAMIC(n, fam)
#define BODY_VIEW(n, fam)
#define BODY_METADATA(n, fam)
#define BODY_COMPOSITE(n, fam)
#define BODY_ELEMENTWISE(n, fam)
#define BODY_SHARED(n, fam)
#define BODY_REDUCE(n, fam)
/* A function for each, so that a debugger stops on the row itself. */
#define BODY_FORMULA(n, expr) la_status la_impl_##n(la_frame *f) \
    { LA_CHAIN(w); return la_chain_end(w, f, expr); }
#define OP(n, kind, fam, dtypes, schema, forms, doc) BODY_##kind(n, fam)
#include "op/ops.def"
