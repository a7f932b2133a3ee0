/*
** The rules of plain reductions: sums, products, means, extremes, any, all,
** counts. A rule is a meta (dims, dtype, shape of the result) and an impl; the
** row has the kernel table and how accumulators are stored (kind REDUCE of
** op/families.h). The work is engine.c's. Dims travel from meta to impl in
** scratch[0].
*/
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/call.h"
#include "op/impls.h"
#include "op/op.h"

enum { SELF, DIM, KEEPDIM, DTYPE };

static bool keeps(const la_frame *f, int k) { return la_arg_bool(f, k); }

/* The dims to reduce, as take_dims left them. */
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

/* The kernel of the row for a dtype; the row may promise less than a table
** has, and a table without an entry is an error too. */
static la_status kernel_for(const la_frame *f, la_dtype d,
                            const la_reduction **out)
{
    *out = &(*la_reductions_of(f->op))[d];
    LA_TRY(la_require_dtype(f, d));
    return (*out)->inner ? LA_OK : la_refuse_dtype(f, d);
}

/* The value of an accumulator that no further element changes, or -1. */
static int decided_by(const la_reductions *table)
{
    return table == LA_STUB(reduce_any) ? 1 : table == LA_STUB(reduce_all) ? 0
                                                                           : -1;
}

/* 'store' says what becomes of an accumulator: itself, a mean, a root. */
static la_status run_table(const la_reductions *table, int store,
                           const la_tensor *in, uint64_t mask, la_tensor *out)
{
    la_reduce_job job = {
        .kernel = &(*table)[in->dtype], .nouts = 1,
        .out = {{out, (la_reduce_mode)store}}, .decided = decided_by(table)
    };
    return la_reduce_run(&job, in, mask);
}

/* The row's reduction of 'in' into result 0. */
static la_status reduction_run(la_frame *f, const la_tensor *in, la_tensor *out)
{
    const la_reduction *kernel;
    LA_TRY(kernel_for(f, dtype_of(in), &kernel));
    return run_table(la_reductions_of(f->op), f->op->store, in, mask_of(f),
                     out);
}

/* ---- rule total (sum, nansum, prod): (self, dim, keepdim, dtype) ---- */

static la_dtype total_dtype(const la_frame *f, const la_tensor *self)
{
    if (la_has(f, DTYPE)) return f->args[DTYPE].dtype;
    return is_int(dtype_of(self)) ? LA_INT64 : dtype_of(self);
}

/* Computed in the dtype asked for, that of out=, or the tensor's own. Integers
** have no NaN: they are summed in any dtype. */
la_status la_reduce_total_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    la_dtype d;
    LA_TRY(la_infer_dtype(f, &f->args[DTYPE], total_dtype(f, self), &d));
    LA_TRY(la_require_dtype(f, dtype_of(self)));
    if (!is_int(dtype_of(self))) LA_TRY(la_require_dtype(f, d));
    LA_TRY(take_dims(f, self, DIM));
    return la_reduce_output(f, 0, self, mask_of(f), keeps(f, KEEPDIM), d);
}

/* The kernels answer integers in int64; other results are converted. */
static la_status total_into(la_frame *f, la_tensor *in, la_tensor *out)
{
    if (!is_int(dtype_of(in)) || out->dtype == LA_INT64)
        return reduction_run(f, in, out);
    LA_LET(wide, la_tensor_empty(out->ndim, la_sizes(out), LA_INT64, &wide));
    LA_TRY(reduction_run(f, in, wide));
    return la_run_(copy_, out, wide);
}

/* Self in the dtype of the result, owned. An integer can't hold the NaN that
** nansum leaves out, so those become zero before. */
static la_status convert_input(la_frame *f, la_dtype to, la_tensor **out)
{
    la_tensor *self = la_arg(f, SELF);
    bool skips = la_reductions_of(f->op) == LA_STUB(reduce_nansum);
    if (!skips || !is_int(to) || is_int(dtype_of(self)))
        return la_convert_to(self, to, out);
    LA_LET(nan, la_run(isnan, &nan, self));
    LA_LET(numbers, la_run(masked_fill, &numbers, self, nan, la_scalar_int(0)));
    return la_convert_to(numbers, to, out);
}

/* Conversion to a dtype that is asked for comes before the sum: in float64 a
** sum of float32 elements is that of the converted elements. Only integers come
** to nansum as complex numbers, so sum does it. */
la_status la_reduce_total_impl(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF), *out = la_result(f, 0);
    la_dtype to = dtype_of(out);
    bool natural = to == LA_INT64 && is_int(dtype_of(self));
    if (to == dtype_of(self) || natural) return total_into(f, self, out);
    LA_LET(other, convert_input(f, to, &other));
    if (la_is_complex(to)
        && la_reductions_of(f->op) == LA_STUB(reduce_nansum))
        return run_table(LA_STUB(reduce_sum), f->op->store, other, mask_of(f),
                         out);
    return total_into(f, other, out);
}

/* ---- rule mean: as total, in floating dtypes ---- */

/* The result's dtype is 'dtype', that of out= or self's; LA_EDTYPE when that
** is no floating or complex one: a mean of integers would have to be
** rounded. */
la_status la_reduce_mean_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    la_dtype d, natural = total_dtype(f, self);
    LA_TRY(la_infer_dtype(f, &f->args[DTYPE], natural, &d));
    if (is_int(d) && (la_has(f, DTYPE) || !is_int(natural)))
        return la_error_at(LA_EDTYPE, DTYPE + 1, "mean(): could not infer "
                           "output dtype. Optional dtype must be either a "
                           "floating point or complex dtype. Got: %s",
                           la_dtype_name(d));
    if (is_int(natural) && !la_has(f, DTYPE))
        return la_error_at(LA_EDTYPE, 1, "mean(): could not infer output "
                           "dtype. Input dtype must be either a floating "
                           "point or complex dtype. Got: %s. Say "
                           "dtype = \"float32\"",
                           la_dtype_name(dtype_of(self)));
    LA_TRY(take_dims(f, self, DIM));
    return la_reduce_output(f, 0, self, mask_of(f), keeps(f, KEEPDIM), d);
}
la_status la_reduce_mean_impl(la_frame *f) { return la_reduce_total_impl(f); }

/* ---- rules extreme (amax, amin): (self, dims, keepdim) ---- */

/* LA_ESHAPE for an empty dim: there is no identity. out= must have self's
** dtype, since an extreme is an element of the input. */
static la_status reduction_extreme_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    const char *name = f->op->name;
    LA_TRY(take_dims(f, self, DIM));
    bool whole = !la_has(f, DIM)
        || (f->args[DIM].tag == LA_VINTS && f->args[DIM].ints.n == 0);
    LA_TRY(la_reduce_check_nonzero(self, mask_of(f), name, whole));
    LA_TRY(la_require_dtype(f, dtype_of(self)));
    for (int k = 0; k < 2 && f->form == LA_OUT; k++)
        if (f->outs[k] && f->outs[k]->dtype != self->dtype)
            return la_error(LA_EDTYPE, "Expected the dtype for input and out "
                            "to match, but got %s for input's dtype and %s for "
                            "out's dtype.", la_dtype_name(dtype_of(self)),
                            la_dtype_name(dtype_of(f->outs[k])));
    return la_reduce_output(f, 0, self, mask_of(f), keeps(f, KEEPDIM),
                            dtype_of(self));
}

/* The largest of bools is whether any is set, the smallest whether all are:
** kernels that stop where it is decided. */
static la_status run_extreme(la_frame *f, const la_reductions *table, int k)
{
    la_tensor *self = la_arg(f, SELF);
    if (self->dtype == LA_BOOL)
        table = table == LA_STUB(reduce_max) ? LA_STUB(reduce_any)
                                             : LA_STUB(reduce_all);
    return run_table(table, LA_STORE_PLAIN, self, mask_of(f), la_result(f, k));
}

la_status la_reduce_extreme_meta(la_frame *f)
{
    return reduction_extreme_meta(f);
}
la_status la_reduce_extreme_impl(la_frame *f)
{
    return run_extreme(f, la_reductions_of(f->op), 0);
}

/* Rule extreme_all, max() and min() of everything: (self). */
la_status la_reduce_extreme_all_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    f->scratch[0] = (int64_t)la_all_dims(self);
    LA_TRY(la_reduce_check_nonzero(self, mask_of(f), f->op->name, true));
    LA_TRY(la_require_dtype(f, dtype_of(self)));
    return la_set_output(f, 0, 0, NULL, NULL, dtype_of(self));
}
la_status la_reduce_extreme_all_impl(la_frame *f)
{
    return run_extreme(f, la_reductions_of(f->op), 0);
}

/* (self, dim, keepdim) -> both extremes, by two passes over the input. */
la_status la_meta_aminmax(la_frame *f)
{
    LA_TRY(reduction_extreme_meta(f));
    la_tensor *self = la_arg(f, SELF);
    return la_reduce_output(f, 1, self, mask_of(f), keeps(f, KEEPDIM),
                            dtype_of(self));
}
la_status la_impl_aminmax(la_frame *f)
{
    LA_TRY(run_extreme(f, LA_STUB(reduce_min), 0));
    return run_extreme(f, LA_STUB(reduce_max), 1);
}

/* ---- rule logic (any.dim, all.dim): (self, dims, keepdim) ---- */

/* LA_EDTYPE for an out= that is neither bool nor uint8: a truth value is not
** a number unless it is asked for. */
static la_status check_logic_out(la_dtype d)
{
    if (d == LA_UNDEFINED || d == LA_BOOL || d == LA_UINT8) return LA_OK;
    return la_error(LA_EDTYPE, "out must be a bool or uint8 tensor, got %s",
                    la_dtype_name(d));
}

/* uint8 answers in uint8, everything else in bool; an out= of uint8 has the
** input converted to uint8 first, as in PyTorch. */
la_status la_reduce_logic_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    la_dtype given = f->form == LA_OUT ? dtype_of(f->outs[0]) : LA_UNDEFINED;
    LA_TRY(check_logic_out(given));
    LA_TRY(take_dims(f, self, DIM));
    bool bytes = self->dtype == LA_UINT8 || given == LA_UINT8;
    la_dtype d = bytes ? LA_UINT8 : LA_BOOL;
    return la_reduce_output(f, 0, self, mask_of(f), keeps(f, KEEPDIM), d);
}

/* A nonzero element, NaN included, counts as true. */
la_status la_reduce_logic_impl(la_frame *f)
{
    LA_OWNED bytes = NULL;
    la_tensor *self = la_arg(f, SELF), *out = la_result(f, 0);
    if (out->dtype == LA_UINT8 && self->dtype != LA_UINT8) {
        LA_TRY(la_convert_to(self, LA_UINT8, &bytes));
        self = bytes;
    }
    return reduction_run(f, self, out);
}

/* any() and all() of everything: a boolean, so no tensor on any device. */
static la_status logic_whole(la_frame *f, const la_reductions *table)
{
    la_tensor *self = la_arg(f, SELF);
    LA_LET(out, la_tensor_empty(0, NULL, LA_BOOL, &out));
    LA_TRY(run_table(table, LA_STORE_PLAIN, self, la_all_dims(self), out));
    la_set_result_value(f, 0, la_v_bool(la_data(out)[0] != 0));
    return LA_OK;
}
LA_FORWARD(la_impl_any, logic_whole(f, LA_STUB(reduce_any)))
LA_FORWARD(la_impl_all, logic_whole(f, LA_STUB(reduce_all)))

/* ---- rule count (count_nonzero): (self, dims) ---- */

la_status la_reduce_count_meta(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    LA_TRY(take_dims(f, self, DIM));
    return la_reduce_output(f, 0, self, mask_of(f), false, LA_INT64);
}
la_status la_reduce_count_impl(la_frame *f)
{
    return reduction_run(f, la_arg(f, SELF), la_result(f, 0));
}

/* ---- the same as plans ---- */

/* Is x * x of the dtype what the sum of squares adds? 16-bit floats round. */
static bool squares_exactly(la_dtype d)
{
    return d == LA_FLOAT32 || d == LA_FLOAT64;
}

bool la_reduce_plan_of(const la_frame *f, la_reduce_plan *p)
{
    const la_tensor *self = la_arg(f, SELF);
    const la_op_fn rule = f->op->meta;
    bool total = rule == la_reduce_total_meta || rule == la_reduce_mean_meta;
    bool whole = rule == la_reduce_extreme_all_meta;
    la_dtype d = dtype_of(self);
    if (!total && !whole && rule != la_reduce_extreme_meta)
        return la_var_plan_of(f, p);
    if (self->numel == 0 || la_is_complex(d)) return false;
    p->dtype = total ? total_dtype(f, self) : d;
    if (total && p->dtype != (is_int(d) ? LA_INT64 : d)) return false;
    if (f->op->store == LA_STORE_MEAN && is_int(d)) return false;
    const la_reductions *table = la_reductions_of(f->op);
    p->kernel = &(*table)[d];
    p->squares = table == LA_STUB(reduce_sum) && squares_exactly(d)
        ? &(*LA_STUB(reduce_square))[d] : NULL;
    p->esize = (int64_t)la_dtype_size(d);
    p->args = (la_reduce_args){.mode = (la_reduce_mode)f->op->store};
    p->mask = la_all_dims(self);
    p->keepdim = !whole && keeps(f, KEEPDIM);
    return whole || !la_reduce_dims(f, DIM, self, &p->mask);
}
