/*
** Schemas: the text of a row, parsed once.
**
**   "sum.dim(Tensor self, dim[]? dim=nil, bool keepdim=false, *,
**            dtype? dtype=nil) -> Tensor"
**
** The part before the first dot is the name that users call; what follows it
** tells overloads apart. Names point into the text.
*/
#ifndef LA_OP_SCHEMA_H
#define LA_OP_SCHEMA_H

#include "op/op.h"

typedef enum la_type {
    LA_TYPE_TENSOR, LA_TYPE_TENSORS, LA_TYPE_SCALAR, LA_TYPE_INT,
    LA_TYPE_FLOAT, LA_TYPE_BOOL, LA_TYPE_STR, LA_TYPE_DTYPE, LA_TYPE_DIM,
    LA_TYPE_DIMS, LA_TYPE_INDEX, LA_TYPE_INDICES, LA_TYPE_INTS, LA_TYPE_SIZE,
    LA_TYPE_INTS_VARIADIC, LA_TYPE_DIMS_VARIADIC, LA_TYPE_FORMAT,
    LA_TYPE_DEVICE, LA_TYPE_GENERATOR, LA_TYPE_NAMES, LA_TYPE_DIM_LISTS,
    LA_TYPE_FLOATS, LA_TYPE_CELLS,
    LA_TYPE_NTYPES
} la_type;

typedef struct la_word {
    const char *text;
    int n;
} la_word;

typedef struct la_param {
    la_word name;
    la_type type;
    bool optional;          /* nil may be given */
    bool nullable;          /* Tensor?[]: entries may be nil */
    bool numbers;           /* Number[]: a list of tensors in which numbers
                            ** stand for tensors of no dim */
    bool required;          /* no default */
    bool keyword_only;
    bool no_number;         /* "Array": a tensor, no number stands for one */
    la_value fallback;      /* the default */
    int64_t ints[4];        /* storage of a list default */
} la_param;

typedef struct la_schema {
    bool broken;            /* its text was not understood */
    la_word name, overload;
    int nparams, npositional;
    int nrequired;          /* those up to the last without a default */
    int nwatched;           /* those up to the last that can hold a tensor or
                            ** name a device: what the gate has to look at */
    uint16_t tags[LA_MAX_ARGS];   /* bit t: the parameter takes la_tag t */
    la_param params[LA_MAX_ARGS];
    int nresults;
    la_tag results[LA_MAX_RESULTS];   /* LA_VTENSOR, LA_VBOOL, ... */
    la_word result_names[LA_MAX_RESULTS];
} la_schema;

/* LA_EARG with the position where the text is not understood, and for two
** parameters of one name or a default that its parameter does not take. Then
** *out is broken: no call fits it. */
la_status la_schema_parse(const char *text, la_schema *out);
/* Why the schema of this text is broken. */
la_status la_schema_fault(const char *text);
/* The schema of 'op', parsed at the first use; safe on any thread. A row of
** ours that does not parse is found by the lint, and its calls fail. */
const la_schema *la_schema_first(const la_op *op);
static inline const la_schema *la_schema_of(const la_op *op)
{
    const la_schema *s = __atomic_load_n(&op->state->schema, __ATOMIC_ACQUIRE);
    return s ? s : la_schema_first(op);
}
/* A list of integers in a frame (LA_VINTS): sizes, dims, indices. */
bool la_type_is_ints(la_type t);
/* A list of anything: a table of it is a value, not keywords. */
bool la_type_is_list(la_type t);
/* Values behind each other are one argument there. */
static inline bool la_type_is_variadic(la_type t)
{
    return t == LA_TYPE_INTS_VARIADIC || t == LA_TYPE_DIMS_VARIADIC;
}
/* User's word for an entry of a type that counts from 1 for users and from 0 in
** a frame; NULL for others. */
const char *la_type_counted(la_type t);
/* The index of the parameter of that name, or -1. */
int la_schema_find(const la_schema *s, const char *name, size_t n);
/* User's word for the type: "tensor", "integer", "list of integers". */
const char *la_type_name(la_type t);
/* Does the operation draw random numbers? It takes a generator then. */
static inline bool la_draws_numbers(const la_schema *s)
{
    for (int k = 0; k < s->nparams; k++)
        if (s->params[k].type == LA_TYPE_GENERATOR) return true;
    return false;
}

#endif
