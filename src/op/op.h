/*
** Operations: the rows, and how they are found.
**
** An operation is a row in op/def/ (name, kind, family, dtypes, schema, forms,
** doc; op/families.h). Kind and family give 'meta' (shapes and dtypes of the
** results, no data) and 'impl' (fills them). A call of one is a frame
** (op/frame.h).
*/
#ifndef LA_OP_OP_H
#define LA_OP_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/dtype.h"
#include "kernel/kernel.h"
#include "op/frame.h"

/* Forms that a row allows; the Lua binding makes functions and methods from
** it. */
enum {
    LA_FN = 1 << 0,           /* la.name(...) */
    LA_METHOD = 1 << 1,       /* x:name(...) */
    LA_INPLACE_FORM = 1 << 2, /* x:name_(...) */
    LA_OUT_FORM = 1 << 3,     /* out= */
    LA_VIEW_OP = 1 << 4,      /* results share the first argument's storage */
    LA_COMPOSITE = 1 << 5,    /* runs other operations: no key but its own */
    LA_MUTATES = 1 << 6,      /* writes its first argument in every form */
    LA_BITS_OK = 1 << 7,      /* understands conj and neg bits of its inputs */
    LA_NO_GRAD_OP = 1 << 8,   /* results never need a gradient */
    LA_METADATA = 1 << 9,     /* LA_MUTATES geometry or storage, not the data */
    LA_CONJ_OK = 1 << 10,     /* understands conj bits of inputs, no others */
    LA_READS_VALUES = 1 << 11,   /* a composite that looks at elements: there
                              ** are none on the meta device */
    LA_IN_FLOAT32 = 1 << 12,  /* a composite: la_in_float32 runs it */
    LA_SAME_BITS = 1 << 13,   /* on every CPU capability: op/lockstep.h */
    LA_MOVES = 1 << 15,       /* copies or fills: needs no kernel on a device
                              ** of the host's, and may mix devices */
    LA_BY_C_LIBRARY = 1 << 16,   /* refused in lockstep */
    LA_ASKS_DTYPE = 1 << 17,  /* dtypes is that after dtype= or out=, or the
                              ** refusal comes after others: the
                              ** implementation asks, not the dispatcher */
    LA_ANY_DEVICES = 1 << 18, /* arguments may lie on several devices */
    LA_KEEPS_VERSION = 1 << 19,   /* LA_MUTATES nothing that a saved value is
                              ** compared by */
    LA_OVERLAPPING = 1 << 21, /* a view whose elements may share memory: its
                              ** gradient goes by the root's memory */
    LA_PURE = 1 << 22,        /* a call does nothing but give its results, and
                              ** no element makes it refuse */
    LA_SIZED = 1 << 23,       /* sizes of results follow from those of the
                              ** arguments, though no meta says how */
    LA_SIZED_BY_MASKS = 1 << 24,  /* the same, unless an index is a mask */
    LA_KEEPS_NUMBERS = 1 << 25,   /* numbers stay numbers where a tensor is
                              ** declared: they are not of the default dtype */
    LA_OF_HANDLES = 1 << 26,  /* its bool is about tensors, not elements */
    LA_ANY = LA_FN | LA_METHOD,
    LA_ALL = LA_FN | LA_METHOD | LA_INPLACE_FORM | LA_OUT_FORM
};

/* Names in the upper half of the same column: LA_BATCH(rule), the row's rule in
** la.vmap, and LA_COST(kind), what a call costs where fuel is counted. Rows
** that name none go by their kind. LA_ROLE(role) is what others know it by. */
enum {
    LA_BATCH_none,
#define BATCH(rule) LA_BATCH_##rule,
#include "op/batch.def"
#undef BATCH
};
enum {
    LA_COST_none,
#define COST(kind) LA_COST_##kind,
#include "op/cost/cost.def"
#undef COST
};
enum {
    LA_ROLE_none,
#define ROLE(name) LA_ROLE_##name,
#include "op/role.def"
#undef ROLE
};
#define LA_BATCH(rule) ((uint64_t)LA_BATCH_##rule << 32)
#define LA_COST(kind) ((uint64_t)LA_COST_##kind << 40)
#define LA_ROLE(name) ((uint64_t)LA_ROLE_##name << 48)
#define LA_BATCH_OF(forms) ((uint8_t)((uint64_t)(forms) >> 32))
#define LA_COST_OF(forms) ((uint8_t)((uint64_t)(forms) >> 40))
#define LA_ROLE_OF(forms) ((uint8_t)((uint64_t)(forms) >> 48))

/* Sets of dtypes: what a row computes in. A set is a mask of these bits. */
#define LA_DTYPE_BIT(d) ((uint32_t)1 << (d))
#define LA_DTYPE_SPAN(first, past) (LA_DTYPE_BIT(past) - LA_DTYPE_BIT(first))
enum {
    LA_INTS = LA_DTYPE_SPAN(LA_UINT8, LA_FLOAT16),
    LA_FLOATS = LA_DTYPE_SPAN(LA_FLOAT16, LA_COMPLEX32),
    LA_COMPLEXES = LA_DTYPE_SPAN(LA_COMPLEX32, LA_NDTYPES),
    LA_BOOL_INTS = LA_DTYPE_BIT(LA_BOOL) | LA_INTS,
    LA_REALS = LA_INTS | LA_FLOATS,
    LA_ORDERED = LA_BOOL_INTS | LA_FLOATS,    /* what < is defined for */
    LA_INEXACT = LA_FLOATS | LA_COMPLEXES,
    LA_NUMBERS = LA_REALS | LA_COMPLEXES,     /* no bool */
    LA_ANY_DTYPE = LA_ORDERED | LA_COMPLEXES,
    LA_WIDE_FLOATS = LA_DTYPE_BIT(LA_FLOAT32) | LA_DTYPE_BIT(LA_FLOAT64),
    /* Dtypes of matrix products: complex32 has no kernel. */
    LA_PRODUCTS = LA_NUMBERS & ~LA_DTYPE_BIT(LA_COMPLEX32),
    /* Dtypes of pooling, as in PyTorch: no wide unsigned integers. */
    LA_POOLED = LA_REALS & ~(LA_DTYPE_BIT(LA_UINT16) | LA_DTYPE_BIT(LA_UINT32)
                             | LA_DTYPE_BIT(LA_UINT64)),
    /* Floats that are the parts of a complex dtype. */
    LA_PARTS = LA_FLOATS & ~LA_DTYPE_BIT(LA_BFLOAT16),
    LA_INDICES = LA_DTYPE_BIT(LA_INT32) | LA_DTYPE_BIT(LA_INT64)
};

struct la_schema;             /* op/schema.h */

/* Meaning of a name to a caller: the first overload and the form. */
typedef struct la_callable {
    const la_op *op;
    bool inplace;
} la_callable;

/* State of a row that changes after the start: the schema is parsed at the
** first use, overloads are chained, src/grad hangs in what is its. */
typedef struct la_op_state {
    const struct la_schema *schema;
    const la_op *next;                 /* the next overload of the name */
    const struct la_grad_rule *grad;   /* set by src/grad */
    la_callable calls[2];              /* of a first overload: name, name_ */
} la_op_state;

struct la_op {
    const char *name;         /* of the row: "add", "max_dim" for an overload */
    const char *signature;    /* the schema as written in the row */
    const char *doc;
    uint32_t forms;
    uint8_t batch, cost;      /* LA_BATCH_..., LA_COST_...: the row's own, or
                              ** its kind's */
    uint8_t role;             /* LA_ROLE_... */
    uint8_t store;            /* la_reduce_mode of a reduction */
    uint32_t dtypes;          /* a set, as above */
    int id;                   /* index in the registry */
    la_op_fn meta, impl;      /* impl NULL: nothing to fill */
    const void *tables[LA_NCAPS];   /* kernels of an element-wise row,
                              ** la_loops, or of a reduction, la_reductions */
    const void *family;       /* la_family of an element-wise row */
    la_op_state *state;
};

/* Is the row a reduction, by a table of kernels? */
static inline bool la_is_reduction(const la_op *op)
{
    return !op->family && op->tables[0];
}

/* Look up by schema name; NULL when there is none. */
const la_op *la_op_lookup(const char *name, size_t n);
const la_op *la_op_at(int id);  /* NULL past the end: walk the registry */
int la_op_count(void);
int la_op_builtin(void);        /* how many of them are rows of ours */
/* The bytes of the row's name, without the overload's. */
static inline size_t la_op_name_length(const la_op *op)
{
    return strcspn(op->signature, ".(");
}
/* The first overload of what users call 'name': a row's name, another name, or
** "theme.name"; state->next leads to the others. NULL for none. By a hash: the
** table is made at the first use, on any thread. */
const la_op *la_op_first(const char *name, size_t n);
/* Callable of a user by that name; rows that only operations of ours call are
** none. "add_" is add in place. Valid as long as the row. */
const la_callable *la_op_callable(const char *name, size_t n);

#endif
