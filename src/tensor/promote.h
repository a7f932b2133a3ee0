/*
** Type promotion, PyTorch's: the category order is bool < int < float <
** complex; tensors with dims outrank 0-dim tensors, which outrank wrapped
** numbers, but a higher category always wins.
*/
#ifndef LA_TENSOR_PROMOTE_H
#define LA_TENSOR_PROMOTE_H

#include "tensor/tensor.h"

/* Rank of the category: 0 bool, 1 int, 2 float, 3 complex. */
static inline int la_category(la_dtype d)
{
    switch (la_dtype_kind(d)) {
    case 'b': return 0;
    case 'f': return 2;
    case 'c': return 3;
    default: return 1;
    }
}

/* The smallest dtype both convert to. uint16/32/64 with signed integers or
** each other have none, as in PyTorch: LA_UNDEFINED. */
la_dtype la_promote(la_dtype a, la_dtype b);
/* May a result of 'from' be written into 'to' without losing its category? */
bool la_can_cast(la_dtype from, la_dtype to);

typedef struct la_result_type {   /* start with LA_RESULT_TYPE_INIT */
    la_dtype dim, zero, wrapped;
} la_result_type;
#define LA_RESULT_TYPE_INIT {LA_UNDEFINED, LA_UNDEFINED, LA_UNDEFINED}
void la_result_type_add(la_result_type *, const la_tensor *);
void la_result_type_add_scalar(la_result_type *, const la_scalar *);
/* Counts the dtype as that of a tensor with dims. */
void la_result_type_add_dtype(la_result_type *, la_dtype);
la_status la_result_type_get(const la_result_type *, la_dtype *out);
/* Dtype in which an operation with this one tensor computes: its own, for a
** wrapped number that of its kind. */
la_dtype la_result_type_of(const la_tensor *);

#endif
