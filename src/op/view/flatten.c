/*
** flatten and unflatten, with the names of dims: those that stay keep theirs,
** new ones have the names that the call gives, or none. In la.vmap results have
** no names: these would speak of the dims without the batch.
*/
#include "op/composite.h"
#include "op/view/view.h"

#include "tensor/names.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/view.def"
#include "op/call.h"
#include "op/impls.h"

/* The dims of a result: sizes, and where each comes from. */
typedef struct layout {
    int n;
    int64_t sizes[LA_MAX_DIMS];
    int from[LA_MAX_DIMS];              /* -1: a new one */
    const char *fresh[LA_MAX_DIMS];     /* its name; NULL for none */
} layout;

/* 'out', a reshape of 't' that is taken over, is the result. */
static la_status flatten_give(la_frame *f, la_tensor *out, const la_tensor *t,
                              const layout *to)
{
    const char *list[LA_MAX_DIMS];
    la_names *names = NULL;
    bool any = false;
    for (int k = 0; k < to->n; k++) {
        list[k] = to->from[k] < 0 ? to->fresh[k]
                : t->names ? t->names->name[to->from[k]] : NULL;
        any = any || list[k];
        if (!list[k]) list[k] = la_name_intern("*", 1);
    }
    la_status status = any && !(out->flags & LA_F_BATCHED)
        ? la_names_new(to->n, list, &names) : LA_OK;
    if (status) {
        la_tensor_release(out);
        return status;
    }
    if (names) la_tensor_set_names(out, names);
    return la_give(f, LA_OK, &out);
}

/* The name that argument 'arg' gives to a new dim. */
static la_status name_given(const la_frame *f, int arg, const char **out)
{
    const la_value *v = &f->args[arg];
    *out = la_name_intern(v->str.text, v->str.n);
    return *out ? LA_OK : LA_ENOMEM;
}

/* The dims from 'first' to 'last' become one of that name; a 0-dim tensor
** becomes [1]. */
static la_status flatten_range(la_frame *f, int first, int last,
                               const char *name)
{
    la_tensor *t = la_arg(f, 0), *out;
    layout to = {.n = t->ndim == 0, .sizes = {1}, .from = {-1},
                 .fresh = {name}};
    if (t->ndim > 0 && first == last && !name) return la_same_result(f);
    for (int d = 0; d < t->ndim; d++) {
        /* The first of the joined dims starts a new size, the others multiply
        ** it. */
        if (d <= first || d > last) {
            to.fresh[to.n] = name;
            to.from[to.n] = d == first ? -1 : d;
            to.sizes[to.n++] = la_sizes(t)[d];
        } else {
            to.sizes[to.n - 1] *= la_sizes(t)[d];
        }
    }
    LA_TRY(la_reshape_to(t, to.n, to.sizes, &out));
    return flatten_give(f, out, t, &to);
}

static la_status flatten_between(la_frame *f, const char *name)
{
    int first, last, ndim = la_arg(f, 0)->ndim;
    LA_TRY(la_arg_dim(f, 1, ndim, &first));
    LA_TRY(la_arg_dim(f, 2, ndim, &last));
    if (first > last)
        return la_error(LA_EARG, "flatten() has invalid args: start_dim cannot "
                        "come after end_dim");
    return flatten_range(f, first, last, name);
}

/* flatten(self, start_dim, end_dim) */
la_status la_impl_flatten(la_frame *f) { return flatten_between(f, NULL); }

/* flatten(self, start_dim, end_dim, out_dim) */
la_status la_impl_flatten_named(la_frame *f)
{
    const char *name;
    LA_TRY(name_given(f, 3, &name));
    return flatten_between(f, name);
}

/* flatten(self, dims, out_dim): neighbours, in their order. */
la_status la_impl_flatten_dims(la_frame *f)
{
    int ndim = la_arg(f, 0)->ndim, first = 0;
    const la_value *dims = &f->args[1];
    const char *name;
    LA_TRY(name_given(f, 2, &name));
    if (dims->ints.n == 0)
        return la_error_at(LA_EARG, 2, "dims must be non-empty");
    for (int64_t k = 0; k < dims->ints.n; k++) {
        int d;
        LA_TRY(la_blame(la_wrap_dim(dims->ints.list[k], ndim, &d), 2));
        if (k == 0) first = d;
        if (d != first + k)
            return la_error_at(LA_EARG, 2, "dims must be neighbours in their "
                               "order, but dimension %d is followed by %d",
                               first + (int)k, d + 1);
    }
    return flatten_range(f, first, first + (int)dims->ints.n - 1, name);
}

/* Dim 'd' replaced by those of 'inner', with these names or none. */
static la_status unflatten_to(la_frame *f, int d, const la_shape *inner,
                              const la_value *names)
{
    la_tensor *t = la_arg(f, 0), *out;
    layout to = {.n = 0};
    if (inner->ndim + t->ndim - 1 > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: more than %d dimensions",
                        LA_MAX_DIMS);
    for (int k = 0; k < t->ndim; k++)
        for (int i = 0; i < (k == d ? inner->ndim : 1); i++) {
            to.from[to.n] = k == d ? -1 : k;
            to.fresh[to.n] = k == d && names ? names->names.list[i] : NULL;
            to.sizes[to.n++] = k == d ? inner->sizes[i] : la_sizes(t)[k];
        }
    LA_TRY(la_view_to(t, to.n, to.sizes, &out));
    return flatten_give(f, out, t, &to);
}

static la_status unflatten_by(la_frame *f, const la_value *names)
{
    la_tensor *t = la_arg(f, 0);
    const la_value *asked = &f->args[2];
    la_shape inner;
    int d;
    if (asked->ints.n == 0)
        return la_error_at(LA_EARG, 3, "sizes must be non-empty");
    if (names && names->names.n != asked->ints.n)
        return la_error_at(LA_EARG, 4, "a name for each of the %d sizes "
                           "expected, got %d", (int)asked->ints.n,
                           (int)names->names.n);
    LA_TRY(la_arg_dim(f, 1, t->ndim, &d));
    if (t->ndim == 0)
        return la_error(LA_ESHAPE, "unflatten() cannot be applied to a 0-dim "
                        "tensor");
    LA_TRY(la_blame(la_view_infer(asked->ints.list, (int)asked->ints.n,
                                  la_sizes(t)[d], &inner), 3));
    return unflatten_to(f, d, &inner, names);
}

/* unflatten(self, dim, sizes), unflatten(self, dim, sizes, names) */
la_status la_impl_unflatten(la_frame *f) { return unflatten_by(f, NULL); }
LA_FORWARD(la_impl_unflatten_named, unflatten_by(f, &f->args[3]))
