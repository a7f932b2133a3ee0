/*
** var, std and their pairs with the mean; norms. Complex: the variance is that
** of the real parts plus that of the imaginary parts.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "op/reduce/reduce.h"

#define LA_ROWS "op/def/reduce.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

enum { SELF, DIM, CORRECTION, UNBIASED, KEEPDIM };

static la_dtype dtype_of(const la_tensor *t) { return (la_dtype)t->dtype; }

/* The divisor is n - correction: 1 unless given (Bessel), 0 for
** unbiased=false. */
static double correction_of(const la_frame *f)
{
    if (la_has(f, CORRECTION)) return la_arg_float(f, CORRECTION);
    if (la_has(f, UNBIASED)) return la_arg_bool(f, UNBIASED) ? 1 : 0;
    return 1;
}

/* Result 0 is the variance or deviation; result 1, where asked, the mean. */
static la_status variance_meta(la_frame *f, const char *name, bool mean)
{
    la_tensor *self = la_arg(f, SELF);
    uint64_t mask = 0;
    bool keepdim = la_arg_bool(f, KEEPDIM);
    if (!la_is_inexact(dtype_of(self)))
        return la_error_at(LA_EDTYPE, 1, "%s only support floating point and "
                           "complex dtypes", name);
    LA_TRY(la_reduce_dims(f, DIM, self, &mask));
    if (self->ndim == 0) mask = 0;  /* complex parts are a dim of their own */
    f->scratch[0] = (int64_t)mask;
    LA_TRY(la_reduce_output(f, 0, self, mask, keepdim,
                            la_dtype_to_real(dtype_of(self))));
    if (!mean) return LA_OK;
    return la_reduce_output(f, 1, self, mask, keepdim, dtype_of(self));
}

/* One pass of moments (mean and sum of squared deviations) fills both results.
** Pieces are combined as by Chan, Golub and LeVeque (1983), in a fixed
** order. */
static la_status real_variance(const la_frame *f, const la_tensor *self,
                               la_reduce_mode mode, la_tensor *out,
                               la_tensor *mean)
{
    la_reduce_job job = {
        .kernel = &(*LA_STUB(reduce_var))[self->dtype],
        .args = {.correction = correction_of(f)},
        .nouts = mean ? 2 : 1,
        .out = {{out, mode}, {mean, LA_STORE_VAR_MEAN}}, .decided = -1
    };
    return la_reduce_run(&job, self, (uint64_t)f->scratch[0]);
}

/* Both parts at once, then their sum; of deviations, the root of the sum of
** squares. */
static la_status complex_variance(la_frame *f, la_reduce_mode mode,
                                  la_tensor *out, la_tensor *centre)
{
    LA_OWNED both = NULL;
    la_tensor *self = la_arg(f, SELF);
    la_shape s = la_reduce_shape(self, (uint64_t)f->scratch[0], false);
    s.sizes[s.ndim++] = 2;
    LA_LET(pairs, la_run(view_as_real, &pairs, self));
    LA_LET(parts, la_tensor_empty(s.ndim, s.sizes, dtype_of(out), &parts));
    LA_TRY(real_variance(f, pairs, mode, parts, NULL));
    if (mode == LA_STORE_STD)
        LA_TRY(la_run(vector_norm, &both, parts, la_v_float(2),
                      la_v_ints(((int64_t[]){-1}), 1)));
    else
        LA_TRY(la_run(sum, &both, parts, la_v_ints(((int64_t[]){-1}), 1)));
    memcpy(la_data(out), la_data(both), (size_t)out->numel * la_itemsize(out));
    if (!centre) return LA_OK;
    LA_LET(middle, la_run(mean, &middle, self, f->args[DIM], f->args[KEEPDIM]));
    memcpy(la_data(centre), la_data(middle),
           (size_t)centre->numel * la_itemsize(centre));
    return LA_OK;
}

static la_status variance_impl(la_frame *f, la_reduce_mode mode, bool both)
{
    la_tensor *self = la_arg(f, SELF), *mean = both ? la_result(f, 1) : NULL;
    if (la_is_complex(dtype_of(self)))
        return complex_variance(f, mode, la_result(f, 0), mean);
    return real_variance(f, self, mode, la_result(f, 0), mean);
}

/* (self, dim, correction, unbiased, keepdim); results are real. LA_EDTYPE for
** integers. */
LA_FORWARD(la_meta_var, variance_meta(f, "std and var", false))
LA_FORWARD(la_meta_std, variance_meta(f, "std and var", false))
LA_FORWARD(la_meta_var_mean, variance_meta(f, "var_mean", true))
LA_FORWARD(la_meta_std_mean, variance_meta(f, "std_mean", true))
LA_FORWARD(la_impl_var, variance_impl(f, LA_STORE_VAR, false))
LA_FORWARD(la_impl_std, variance_impl(f, LA_STORE_STD, false))
LA_FORWARD(la_impl_var_mean, variance_impl(f, LA_STORE_VAR, true))
LA_FORWARD(la_impl_std_mean, variance_impl(f, LA_STORE_STD, true))

/* x:var(unbiased) and x:var(dim, unbiased, keepdim): a boolean where the
** correction would stand. */
static la_status by_flag(la_frame *f, const la_op *op, la_value dim,
                         la_value unbiased, la_value keepdim)
{
    la_tensor *out = NULL;
    la_value all[] = {f->args[0], dim, la_v_none(), unbiased, keepdim};
    LA_TRY(la_do(op, &out, 5, all));
    return LA_GIVE(f, out);
}
LA_FORWARD(la_impl_var_unbiased,
           by_flag(f, LA_OP(var), la_v_none(), f->args[1], la_v_bool(false)))
LA_FORWARD(la_impl_std_unbiased,
           by_flag(f, LA_OP(std), la_v_none(), f->args[1], la_v_bool(false)))
/* The variants of by_flag that return the mean, too. */
static la_status pair_by_flag(la_frame *f, const la_op *op)
{
    la_value all[] = {f->args[0], la_v_none(), la_v_none(), f->args[1]};
    return la_do_many(op, f->results, 4, all);
}
LA_FORWARD(la_impl_var_mean_unbiased, pair_by_flag(f, LA_OP(var_mean)))
LA_FORWARD(la_impl_std_mean_unbiased, pair_by_flag(f, LA_OP(std_mean)))
LA_FORWARD(la_impl_var_flag,
           by_flag(f, LA_OP(var), f->args[1], f->args[2], f->args[3]))
LA_FORWARD(la_impl_std_flag,
           by_flag(f, LA_OP(std), f->args[1], f->args[2], f->args[3]))

/* ---- norms: vector_norm(self, ord, dim, keepdim, dtype) ---- */

enum { V_ORD = 1, V_DIM, V_KEEPDIM, V_DTYPE };

/* A real result in dtype's or self's precision. LA_EDTYPE for integers;
** LA_ESHAPE for an empty dim where the norm has no identity (p < 0, inf). */
la_status la_meta_vector_norm(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    uint64_t mask = 0;
    la_dtype d = la_has(f, V_DTYPE) ? f->args[V_DTYPE].dtype : dtype_of(self);
    if (!la_is_inexact(d))
        return la_error_at(LA_EDTYPE, 1, "linalg.vector_norm: Expected a "
                           "floating point or complex tensor as input. Got %s",
                           la_dtype_name(d));
    LA_TRY(la_reduce_dims(f, V_DIM, self, &mask));
    f->scratch[0] = (int64_t)mask;
    double p = la_arg_float(f, V_ORD);
    if (p < 0 || isinf(p))
        LA_TRY(la_reduce_check_nonzero(self, mask, "linalg.vector_norm",
                                       false));
    return la_reduce_output(f, 0, self, mask, la_arg_bool(f, V_KEEPDIM),
                            la_dtype_to_real(d));
}

/* Terms that a norm sums, and the map from the sum to the norm. */
typedef struct norm_way {
    const la_reductions *table;
    la_reduce_mode mode;
} norm_way;

/* The usual orders have kernels of their own, without a power per element. */
static norm_way way_of(double p)
{
    if (p == 0) return (norm_way){LA_STUB(reduce_nonzero), LA_STORE_PLAIN};
    if (p == 1) return (norm_way){LA_STUB(reduce_abs_sum), LA_STORE_PLAIN};
    if (p == 2) return (norm_way){LA_STUB(reduce_square), LA_STORE_SQRT};
    if (p == 3) return (norm_way){LA_STUB(reduce_cube), LA_STORE_ROOT};
    if (p == INFINITY)
        return (norm_way){LA_STUB(reduce_abs_max), LA_STORE_PLAIN};
    if (p == -INFINITY)
        return (norm_way){LA_STUB(reduce_abs_min), LA_STORE_PLAIN};
    return (norm_way){LA_STUB(reduce_power), LA_STORE_ROOT};
}

/* (sum |x|^p)^(1/p); p = 0 counts what is not zero, inf and -inf take the
** extremes. */
la_status la_impl_vector_norm(la_frame *f)
{
    LA_OWNED other = NULL;
    la_tensor *self = la_arg(f, SELF);
    double p = la_arg_float(f, V_ORD);
    norm_way w = way_of(p);
    if (la_has(f, V_DTYPE) && f->args[V_DTYPE].dtype != dtype_of(self)) {
        LA_TRY(la_convert_to(self, f->args[V_DTYPE].dtype, &other));
        self = other;
    }
    la_reduce_job job = {
        .kernel = &(*w.table)[self->dtype], .args = {.p = p}, .nouts = 1,
        .out = {{la_result(f, 0), w.mode}}, .decided = -1
    };
    return la_reduce_run(&job, self, (uint64_t)f->scratch[0]);
}

/* ---- the same as plans ---- */

/* False where the call converts its input. */
static bool norm_plan(const la_frame *f, la_reduce_plan *p)
{
    double ord = la_arg_float(f, V_ORD);
    norm_way w = way_of(ord);
    if (la_has(f, V_DTYPE) && f->args[V_DTYPE].dtype != p->dtype) return false;
    p->kernel = &(*w.table)[p->dtype];
    p->args = (la_reduce_args){.p = ord, .mode = w.mode};
    p->keepdim = la_arg_bool(f, V_KEEPDIM);
    return !la_reduce_dims(f, V_DIM, la_arg(f, SELF), &p->mask);
}

bool la_var_plan_of(const la_frame *f, la_reduce_plan *p)
{
    const la_tensor *self = la_arg(f, SELF);
    int role = f->op->role;
    p->squares = NULL;
    p->dtype = dtype_of(self);
    p->esize = (int64_t)la_itemsize(self);
    if (self->numel == 0 || !la_is_float(p->dtype)) return false;
    if (role == LA_ROLE_norm) return norm_plan(f, p);
    if ((role != LA_ROLE_var && role != LA_ROLE_std) || self->ndim == 0)
        return false;
    p->kernel = &(*LA_STUB(reduce_var))[p->dtype];
    p->args = (la_reduce_args){
        .correction = correction_of(f),
        .mode = role == LA_ROLE_var ? LA_STORE_VAR : LA_STORE_STD};
    p->keepdim = la_arg_bool(f, KEEPDIM);
    return !la_reduce_dims(f, DIM, self, &p->mask);
}

/* norm(self, p, dim, keepdim, dtype): p may be "fro" or "nuc". */
static la_status norm_order(const la_value *v, double *p)
{
    *p = 2;
    if (v->tag == LA_VNONE || la_str_is(v, "fro")) return LA_OK;
    if (v->tag == LA_VSTR)
        return la_error_at(LA_EARG, 2, "a number, \"fro\" or \"nuc\" is "
                           "expected");
    *p = v->tag == LA_VINT ? (double)v->i
       : v->tag == LA_VFLOAT ? v->d : v->scalar.re;
    return LA_OK;
}

/* The nuclear norm of a matrix, or over two dims. */
static la_status nuclear_norm(la_frame *f)
{
    int64_t own[] = {-2, -1};
    la_value dims = la_v_ints(own, 2);
    if (la_has(f, 2)) dims = f->args[2];
    else if (la_arg(f, SELF)->ndim != 2)
        return la_error_at(LA_ESHAPE, 1, "a matrix expected, got %d-D; or two "
                           "dims", la_arg(f, SELF)->ndim);
    return la_run_result(f, matrix_norm_word, f->args[0], f->args[1], dims,
                         f->args[3], f->args[4]);
}

static la_status norm_run(la_frame *f)
{
    double p;
    if (la_str_is(&f->args[1], "nuc")) return nuclear_norm(f);
    LA_TRY(norm_order(&f->args[1], &p));
    return la_run_result(f, vector_norm, f->args[0], la_v_float(p), f->args[2],
                         f->args[3], f->args[4]);
}
/* A number or a word as the order: two rows of the table, one rule. */
LA_FORWARD(la_impl_norm, norm_run(f))
LA_FORWARD(la_impl_norm_word, norm_run(f))

/* ---- logsumexp(self, dim, keepdim); integers as the default dtype ---- */

/* (self, dim, keepdim): log(sum(exp(self))) without overflow. */
la_status la_meta_logsumexp(la_frame *f)
{
    la_tensor *self = la_arg(f, SELF);
    uint64_t mask = 0;
    la_dtype d = dtype_of(self);
    if (la_is_integral(d) || d == LA_BOOL) d = la_ctx()->default_dtype;
    LA_TRY(la_reduce_dims(f, 1, self, &mask));
    f->scratch[0] = (int64_t)mask;
    return la_reduce_output(f, 0, self, mask, la_arg_bool(f, 2), d);
}

/* Blocks are scaled by their largest element, in double (kernel/reduce). */
la_status la_impl_logsumexp(la_frame *f)
{
    LA_OWNED other = NULL;
    la_tensor *self = la_arg(f, SELF), *out = la_result(f, 0);
    if (self->dtype != out->dtype) {
        LA_TRY(la_convert_to(self, dtype_of(out), &other));
        self = other;
    }
    la_reduce_job job = {
        .kernel = &(*LA_STUB(reduce_lse))[self->dtype], .nouts = 1,
        .out = {{out, LA_STORE_PLAIN}}, .decided = -1
    };
    return la_reduce_run(&job, self, (uint64_t)f->scratch[0]);
}
