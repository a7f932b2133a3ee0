/*
** Sums, products, means, extremes, any, all, counts, spreads. Each operation
** is a meta (dims, dtype, shape of the result) and an impl that names kernel
** and way of storing; the work is engine.c's.
*/
#include "op/reduce/reduce.h"

enum { SELF, DIM, KEEPDIM, DTYPE };

static bool keeps(const la_frame *f, int k) { return la_arg_bool(f, k); }

static uint64_t mask_of(const la_frame *f) { return (uint64_t)f->scratch[0]; }

static la_status take_dims(la_frame *f, const la_tensor *self, int k)
{
    uint64_t mask = 0;
    LA_TRY(la_reduce_dims(f, k, self, &mask));
    f->scratch[0] = (int64_t)mask;
    return LA_OK;
}

static la_dtype dtype_of(const la_tensor *t) { return (la_dtype)t->dtype; }

static bool is_int(la_dtype d) { return la_is_integral(d) || d == LA_BOOL; }

/* ---- sum, nansum, mean, prod: (self, dim, keepdim, dtype) ---- */

static la_dtype sum_dtype(const la_frame *f, const la_tensor *self)
{
    if (la_has(f, DTYPE)) return f->args[DTYPE].dtype;
    return is_int(dtype_of(self)) ? LA_INT64 : dtype_of(self);
}

static la_status sum_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    LA_TRY(take_dims(f, self, DIM));
    return la_reduce_output(f, 0, self, mask_of(f), keeps(f, KEEPDIM),
                            sum_dtype(f, self));
}

typedef struct way {          /* kernel table and storing of an operation */
    const la_reductions *table;
    la_reduce_mode mode;
} way;

/* Of operations with one result. */
static way way_of(int id)
{
    switch (id) {
    case LA_OP_sum: return (way){LA_STUB(reduce_sum), LA_STORE_PLAIN};
    case LA_OP_nansum: return (way){LA_STUB(reduce_nansum), LA_STORE_PLAIN};
    case LA_OP_mean: return (way){LA_STUB(reduce_sum), LA_STORE_MEAN};
    case LA_OP_prod: return (way){LA_STUB(reduce_prod), LA_STORE_PLAIN};
    case LA_OP_amax: case LA_OP_max:
        return (way){LA_STUB(reduce_max), LA_STORE_PLAIN};
    case LA_OP_amin: case LA_OP_min:
        return (way){LA_STUB(reduce_min), LA_STORE_PLAIN};
    default: return (way){NULL, LA_STORE_PLAIN};
    }
}

static la_status run(const way *w, const la_tensor *in, uint64_t mask,
                     la_tensor *out)
{
    la_reduce_job job = {
        .kernel = &(*w->table)[in->dtype], .nouts = 1,
        .out = {{out, w->mode}}, .decided = -1
    };
    return la_reduce_run(&job, in, mask);
}

/* The kernels answer integers in int64; other results are converted. */
static la_status sum_into(const way *w, la_tensor *in, uint64_t mask,
                          la_tensor *out)
{
    LA_OWNED wide = NULL;
    if (!is_int(dtype_of(in)) || out->dtype == LA_INT64)
        return run(w, in, mask, out);
    LA_TRY(la_tensor_empty(out->ndim, la_sizes(out), LA_INT64, &wide));
    LA_TRY(run(w, in, mask, wide));
    return la_run_(copy_, out, LA_T(wide));
}

static la_status sum_impl(la_frame *f)
{
    way w = way_of(f->op->id);
    la_tensor *self = la_arg(f, SELF), *out = la_result(f, 0);
    LA_OWNED other = NULL;
    la_dtype to = dtype_of(out);
    bool natural = to == LA_INT64 && is_int(dtype_of(self));
    if (to == dtype_of(self) || natural)
        return sum_into(&w, self, mask_of(f), out);
    LA_TRY(la_convert_to(self, to, &other));
    return sum_into(&w, other, mask_of(f), out);
}

la_status la_meta_sum(la_frame *f) { return sum_meta(f); }
la_status la_impl_sum(la_frame *f) { return sum_impl(f); }

la_status la_meta_nansum(la_frame *f)
{
    if (la_is_complex(dtype_of(la_arg(f, SELF))))
        return la_error_at(LA_EDTYPE, 1, "nansum does not support complex "
                           "inputs");
    return sum_meta(f);
}
la_status la_impl_nansum(la_frame *f) { return sum_impl(f); }

la_status la_meta_prod(la_frame *f) { return sum_meta(f); }
la_status la_impl_prod(la_frame *f) { return sum_impl(f); }

la_status la_meta_mean(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    la_dtype d = sum_dtype(f, self);
    if (la_has(f, DTYPE) && is_int(d))
        return la_error_at(LA_EDTYPE, DTYPE + 1, "mean(): could not infer "
                           "output dtype. Optional dtype must be either a "
                           "floating point or complex dtype. Got: %s",
                           la_dtype_name(d));
    if (is_int(d))
        return la_error_at(LA_EDTYPE, 1, "mean(): could not infer output "
                           "dtype. Input dtype must be either a floating "
                           "point or complex dtype. Got: %s. Say "
                           "dtype = \"float32\"",
                           la_dtype_name(dtype_of(self)));
    return sum_meta(f);
}
la_status la_impl_mean(la_frame *f) { return sum_impl(f); }

static la_status logic_run(const la_tensor *in, uint64_t mask,
                           const la_reductions *table, int decided,
                           la_tensor *out)
{
    la_reduce_job job = {.kernel = &(*table)[in->dtype], .nouts = 1,
                         .out = {{out, LA_STORE_PLAIN}}, .decided = decided};
    return la_reduce_run(&job, in, mask);
}

/* ---- extremes: (self, dims, keepdim) ---- */

static la_status no_order(const la_tensor *self, const char *name)
{
    if (!la_is_complex(dtype_of(self))) return LA_OK;
    return la_error_at(LA_EDTYPE, 1, "%s(): complex numbers have no order",
                       name);
}

static la_status extreme_meta(la_frame *f, const char *name)
{
    la_tensor *self = la_arg(f, SELF);
    LA_TRY(take_dims(f, self, DIM));
    bool whole = !la_has(f, DIM)
        || (f->args[DIM].tag == LA_VINTS && f->args[DIM].ints.n == 0);
    LA_TRY(la_reduce_check_nonzero(self, mask_of(f), name, whole));
    LA_TRY(no_order(self, name));
    if (f->form == LA_OUT && f->outs[0]->dtype != self->dtype)
        return la_error(LA_EDTYPE, "Expected the dtype for input and out to "
                        "match, but got %s for input's dtype and %s for out's "
                        "dtype.", la_dtype_name(dtype_of(self)),
                        la_dtype_name(dtype_of(f->outs[0])));
    return la_reduce_output(f, 0, self, mask_of(f), keeps(f, KEEPDIM),
                            dtype_of(self));
}

/* Of bools the largest is whether any is set, the smallest whether all are:
** kernels that stop where it is decided. */
static la_status extreme_impl(la_frame *f, const la_reductions *table, int k)
{
    way w = {table, LA_STORE_PLAIN};
    bool any = table == LA_STUB(reduce_max);
    if (dtype_of(la_arg(f, SELF)) == LA_BOOL)
        return logic_run(la_arg(f, SELF), mask_of(f),
                         any ? LA_STUB(reduce_any) : LA_STUB(reduce_all), any,
                         la_result(f, k));
    return run(&w, la_arg(f, SELF), mask_of(f), la_result(f, k));
}

static la_status one_extreme(la_frame *f)
{
    return extreme_impl(f, way_of(f->op->id).table, 0);
}

la_status la_meta_amax(la_frame *f) { return extreme_meta(f, "amax"); }
la_status la_meta_amin(la_frame *f) { return extreme_meta(f, "amin"); }
la_status la_impl_amax(la_frame *f) { return one_extreme(f); }
la_status la_impl_amin(la_frame *f) { return one_extreme(f); }

/* max() and min() of everything: (self). */
static la_status whole_meta(la_frame *f, const char *name)
{
    la_tensor *self = la_arg(f, SELF);
    f->scratch[0] = (int64_t)la_all_dims(self);
    LA_TRY(la_reduce_check_nonzero(self, mask_of(f), name, true));
    LA_TRY(no_order(self, name));
    return la_set_output(f, 0, 0, NULL, NULL, dtype_of(self));
}

la_status la_meta_max(la_frame *f) { return whole_meta(f, "max"); }
la_status la_meta_min(la_frame *f) { return whole_meta(f, "min"); }
la_status la_impl_max(la_frame *f) { return one_extreme(f); }
la_status la_impl_min(la_frame *f) { return one_extreme(f); }

la_status la_meta_aminmax(la_frame *f)
{
    LA_TRY(extreme_meta(f, "aminmax"));
    la_tensor *self = la_arg(f, SELF);
    return la_reduce_output(f, 1, self, mask_of(f), keeps(f, KEEPDIM),
                            dtype_of(self));
}
la_status la_impl_aminmax(la_frame *f)
{
    LA_TRY(extreme_impl(f, LA_STUB(reduce_min), 0));
    return extreme_impl(f, LA_STUB(reduce_max), 1);
}

/* ---- any, all, count_nonzero ---- */

/* uint8 answers in uint8, everything else in bool; an out= of uint8 has the
** input converted to uint8 first, as in PyTorch. */
static la_status logic_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    LA_TRY(take_dims(f, self, DIM));
    bool bytes = self->dtype == LA_UINT8
        || (f->form == LA_OUT && f->outs[0]->dtype == LA_UINT8);
    la_dtype d = bytes ? LA_UINT8 : LA_BOOL;
    return la_reduce_output(f, 0, self, mask_of(f), keeps(f, KEEPDIM), d);
}

la_status la_meta_any_dim(la_frame *f) { return logic_meta(f); }
la_status la_meta_all_dim(la_frame *f) { return logic_meta(f); }
static la_status logic_impl(la_frame *f, const la_reductions *table,
                            int decided)
{
    LA_OWNED bytes = NULL;
    la_tensor *self = la_arg(f, SELF), *out = la_result(f, 0);
    if (out->dtype == LA_UINT8 && self->dtype != LA_UINT8) {
        LA_TRY(la_convert_to(self, LA_UINT8, &bytes));
        self = bytes;
    }
    return logic_run(self, mask_of(f), table, decided, out);
}
la_status la_impl_any_dim(la_frame *f)
{
    return logic_impl(f, LA_STUB(reduce_any), 1);
}
la_status la_impl_all_dim(la_frame *f)
{
    return logic_impl(f, LA_STUB(reduce_all), 0);
}

static la_status logic_whole(la_frame *f, const la_reductions *table,
                             int decided)
{
    LA_OWNED out = NULL;
    la_tensor *self = la_arg(f, SELF);
    LA_TRY(la_tensor_empty(0, NULL, LA_BOOL, &out));
    LA_TRY(logic_run(self, la_all_dims(self), table, decided, out));
    la_set_result_value(f, 0, LA_B(la_data(out)[0] != 0));
    return LA_OK;
}
la_status la_impl_any(la_frame *f)
{
    return logic_whole(f, LA_STUB(reduce_any), 1);
}
la_status la_impl_all(la_frame *f)
{
    return logic_whole(f, LA_STUB(reduce_all), 0);
}

la_status la_meta_count_nonzero(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    LA_TRY(take_dims(f, self, DIM));
    return la_reduce_output(f, 0, self, mask_of(f), false, LA_INT64);
}
la_status la_impl_count_nonzero(la_frame *f)
{
    return logic_run(la_arg(f, SELF), mask_of(f), LA_STUB(reduce_count), -1,
                     la_result(f, 0));
}

/* ---- the same as plans ---- */

static bool takes_extremes(const la_frame *f)
{
    int id = f->op->id;
    return id == LA_OP_amax || id == LA_OP_amin || id == LA_OP_max
        || id == LA_OP_min;
}

/* Is x * x of the dtype what the sum of squares adds? 16-bit floats round. */
static bool squares_exactly(la_dtype d)
{
    return d == LA_FLOAT32 || d == LA_FLOAT64;
}

bool la_reduce_plan_of(const la_frame *f, la_reduce_plan *p)
{
    const la_tensor *self = la_arg(f, SELF);
    const way w = way_of(f->op->id);
    la_dtype d = dtype_of(self);
    bool whole = f->op->id == LA_OP_max || f->op->id == LA_OP_min;
    if (!w.table) return la_var_plan_of(f, p);
    if (self->numel == 0 || la_is_complex(d)) return false;
    p->dtype = takes_extremes(f) ? d : sum_dtype(f, self);
    if (!takes_extremes(f) && p->dtype != (is_int(d) ? LA_INT64 : d))
        return false;
    if (w.mode == LA_STORE_MEAN && is_int(d)) return false;
    p->kernel = &(*w.table)[d];
    p->squares = w.table == LA_STUB(reduce_sum) && squares_exactly(d)
        ? &(*LA_STUB(reduce_square))[d] : NULL;
    p->esize = (int64_t)la_dtype_size(d);
    p->args = (la_reduce_args){.mode = w.mode};
    p->mask = la_all_dims(self);
    p->keepdim = !whole && keeps(f, KEEPDIM);
    return whole || !la_reduce_dims(f, DIM, self, &p->mask);
}
