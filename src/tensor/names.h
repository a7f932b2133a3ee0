/* Dimension names: an immutable, counted list; "*" is a dim without a name. */
#ifndef LA_TENSOR_NAMES_H
#define LA_TENSOR_NAMES_H

#include "tensor/tensor.h"

typedef struct la_names {
    _Atomic int32_t refs;
    int ndim;
    const char *name[];     /* interned: equal names are equal pointers */
} la_names;

const char *la_name_intern(const char *text, size_t n);  /* NULL: no memory */
/* Duplicates (except "*") and words that are no identifiers are LA_EARG. */
la_status la_names_new(int ndim, const char *const *interned, la_names **out);
la_names *la_names_retain(la_names *);   /* NULL is allowed */
void la_names_release(la_names *);       /* NULL is allowed */
/* Match from the last dim: equal or one is "*"; the result has the names.
** LA_EARG shows both lists. NULL stands for all "*" of 'nd' dims. */
la_status la_names_unify(const la_names *a, int nda, const la_names *b,
                         int ndb, la_names **out);
/* Replace t's names (taken over; NULL drops them). */
void la_tensor_set_names(la_tensor *t, la_names *names);
/* A list of n names, name k being from[k] of 'list', or "*" where that is -1.
** NULL for NULL. */
la_status la_names_pick(const la_names *list, int n, const int *from,
                        la_names **out);
int la_names_find(const la_names *, const char *interned);   /* dim or -1 */
/* The dim (from 0) of that name, or -1. 't' without names has none; an unknown
** word may be interned on the way. */
int la_dim_by_name(const la_tensor *t, const char *text, size_t n);

#endif
