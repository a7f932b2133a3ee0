/*
** One step of an optimiser (sgd, adam, rmsprop, adagrad): the parameter and its
** states change in place in one pass, instead of one per arithmetic operation.
** Tensors with the same order of elements are updated where they are; others
** through contiguous copies.
*/
#include "kernel/nn/optim.h"

#include <math.h>

#include "base/runtime/context.h"
#include "base/libm/libm.h"
#include "base/runtime/thread_pool.h"
#include "iter/iter.h"
#include "op/frame.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/optim.def"
#include "op/call.h"
#include "op/impls.h"

enum { PARAM, GRAD, FIRST_STATE, NTENSORS = FIRST_STATE + LA_OPTIM_STATES };

/* ---- checks ---- */

/* Argument k has the parameter's dtype and shape. */
static la_status check_like(const la_frame *f, int k)
{
    const la_tensor *p = la_arg(f, PARAM), *t = la_arg(f, k);
    char a[128], b[128];
    if (t->dtype != p->dtype)
        return la_error_at(LA_EDTYPE, k + 1, "the parameter's dtype %s is "
                           "expected, got %s",
                           la_dtype_name((la_dtype)p->dtype),
                           la_dtype_name((la_dtype)t->dtype));
    if (!la_same_sizes(t, p))
        return la_error_at(LA_ESHAPE, k + 1, "the parameter's shape %s is "
                           "expected, got %s",
                           la_sizes_text(p->ndim, la_sizes(p), a, sizeof a),
                           la_sizes_text(t->ndim, la_sizes(t), b, sizeof b));
    return LA_OK;
}

/* Argument k is written: it must not overlap itself or any other argument. */
static la_status check_alone(const la_frame *f, int k, int ntensors)
{
    const la_tensor *t = la_arg(f, k);
    LA_TRY(la_tensor_check_writable(t));
    if (la_internal_overlap(t) == LA_OVERLAP_YES)
        return la_error_at(LA_EALIAS, k + 1, "more than one element refers "
                           "to a single memory location: clone the tensor "
                           "first");
    for (int j = 0; j < ntensors; j++) {
        if (j == k || !la_arg(f, j)) continue;
        la_overlap o = la_pair_overlap(t, la_arg(f, j));
        if (o == LA_OVERLAP_FULL || o == LA_OVERLAP_PARTIAL)
            return la_error_at(LA_EALIAS, k + 1, "it shares memory with "
                               "argument #%d: clone one of them first", j + 1);
    }
    return LA_OK;
}

/* Checks the parameter, its gradient and 'nstates' states (nil for those not
** kept). The result is the parameter itself. */
static la_status step_meta(la_frame *f, int nstates)
{
    la_tensor *p = la_arg(f, PARAM);
    if (!la_is_inexact((la_dtype)p->dtype))
        return la_error_at(LA_EDTYPE, 1, "a floating point or complex "
                           "parameter is expected, got %s",
                           la_dtype_name((la_dtype)p->dtype));
    if (la_grad_flag(p) && !la_ctx()->no_grad)
        return la_error_at(LA_EGRAD, 1, "a parameter that requires grad is "
                           "stepped within la.no_grad");
    for (int k = GRAD; k < FIRST_STATE + nstates; k++)
        if (la_arg(f, k)) LA_TRY(check_like(f, k));
    for (int k = PARAM; k < FIRST_STATE + nstates && !la_lacks_values(f); k++)
        /* Meta tensors have no memory to share. */
        if (k != GRAD && la_arg(f, k))
            LA_TRY(check_alone(f, k, FIRST_STATE + nstates));
    return LA_GIVE(f, la_tensor_retain(p));
}

/* ---- the pass ---- */

typedef struct run {
    la_optim o;
    la_optim_fn fn;
    int64_t size;           /* bytes of an element */
} run;

/* Elements begin..end. Each element is updated alone, so bits don't depend on
** how the range is cut. */
static void run_range(int64_t begin, int64_t end, void *context)
{
    const run *r = context;
    la_optim o = r->o;
    o.param += begin * r->size;
    o.grad += begin * r->size;
    for (int k = 0; k < LA_OPTIM_STATES; k++)
        if (o.state[k]) o.state[k] += begin * r->size;
    o.n = end - begin;
    r->fn(&o);
}

/* Over dense tensors in one order of elements. */
static void run_flat(la_tensor **t, la_optim *o, const la_optims *table)
{
    la_dtype d = (la_dtype)t[PARAM]->dtype, real = la_dtype_to_real(d);
    run r = {
        .o = *o, .fn = (*table)[real], .size = (int64_t)la_dtype_size(real)};
    r.o.param = la_data(t[PARAM]);
    r.o.grad = la_data(t[GRAD]);
    for (int k = 0; k < LA_OPTIM_STATES; k++)
        r.o.state[k] = t[FIRST_STATE + k] ? la_data(t[FIRST_STATE + k]) : NULL;
    int64_t n = t[PARAM]->numel * (real == d ? 1 : 2);
    if (n > 0) la_parallel_for(n, LA_GRAIN, run_range, &r);
}

/* Dense, with the parameter's order of elements in memory, without lazy bits:
** then a running index reaches the same element in all tensors. */
static bool has_same_order(const la_tensor *t, const la_tensor *p)
{
    if (t->flags & (LA_F_CONJ | LA_F_NEG)) return false;
    if (la_is_contiguous(t) && la_is_contiguous(p)) return true;
    return (t->flags & LA_F_DENSE) && (p->flags & LA_F_DENSE)
        && memcmp(la_strides(t), la_strides(p), (size_t)p->ndim * 8) == 0;
}

/* Contiguous, lazy conj and neg bits resolved. */
static la_status plain_copy(la_tensor *t, la_tensor **out)
{
    LA_LET(a, la_run(resolve_conj, &a, t));
    LA_LET(b, la_run(resolve_neg, &b, a));
    return la_run(contiguous, out, b);
}

/* On contiguous copies, which are then copied back to what is written. */
static la_status run_copies(la_tensor **t, la_optim *o, const la_optims *table,
                            la_tensor **copy)
{
    for (int k = 0; k < NTENSORS; k++)
        if (t[k]) LA_TRY(plain_copy(t[k], &copy[k]));
    run_flat(copy, o, table);
    for (int k = 0; k < NTENSORS; k++)
        if (t[k] && k != GRAD && copy[k] != t[k])
            LA_TRY(la_run_(copy_, t[k], copy[k]));
    return LA_OK;
}

/* Runs the step and bumps the versions of the states; the dispatcher bumps the
** parameter's. */
static la_status step_impl(la_frame *f, int nstates, la_optim *o,
                           const la_optims *table)
{
    la_tensor *t[NTENSORS] = {NULL}, *copy[NTENSORS] = {NULL};
    la_status status = LA_OK;
    bool in_order = true;
    for (int k = 0; k < FIRST_STATE + nstates; k++) t[k] = la_arg(f, k);
    for (int k = 0; k < NTENSORS; k++)
        if (t[k] && !has_same_order(t[k], t[PARAM])) in_order = false;
    if (in_order) run_flat(t, o, table);
    else status = run_copies(t, o, table, copy);
    for (int k = 0; k < NTENSORS; k++) la_tensor_release(copy[k]);
    for (int k = FIRST_STATE; k < NTENSORS; k++)
        if (t[k]) la_bump_version(t[k]);
    return status;
}

/* ---- the rules ---- */

/* sgd, adagrad: one state; adam, rmsprop: three, of which the optional ones may
** be nil. */
LA_FORWARD(la_meta_sgd_step_, step_meta(f, 1))

/* sgd_step_(param, grad, momentum_buffer, lr, momentum, dampening,
** weight_decay, nesterov, maximize, first); 'first' fills the momentum
** buffer. */
la_status la_impl_sgd_step_(la_frame *f)
{
    la_optim o = {.lr = la_arg_float(f, 3), .rate = la_arg_float(f, 4),
                  .other = 1 - la_arg_float(f, 5),
                  .decay = la_arg_float(f, 6), .nesterov = la_arg_bool(f, 7),
                  .negate = la_arg_bool(f, 8), .first = la_arg_bool(f, 9)};
    return step_impl(f, 1, &o, LA_STUB(sgd));
}

/* The step number corrects the bias of the moments, so it starts at 1. */
la_status la_meta_adam_step_(la_frame *f)
{
    if (la_arg_int(f, 5) < 1)
        return la_error_at(LA_EARG, 6, "steps count from 1, got %lld",
                           (long long)la_arg_int(f, 5));
    return step_meta(f, 3);
}

/* adam_step_(param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, step, lr, beta1,
** beta2, eps, weight_decay, decoupled, maximize): Kingma & Ba 2015; AMSGrad
** with the third state; AdamW (Loshchilov & Hutter 2019) when decoupled. */
la_status la_impl_adam_step_(la_frame *f)
{
    double n = (double)la_arg_int(f, 5), lr = la_arg_float(f, 6);
    double beta1 = la_arg_float(f, 7), beta2 = la_arg_float(f, 8);
    double decay = la_arg_float(f, 10);
    bool decoupled = la_arg_bool(f, 11);
    la_optim o = {.lr = lr / (1 - la_m_pow(beta1, n)), .rate = 1 - beta1,
                  .other = beta2, .root = sqrt(1 - la_m_pow(beta2, n)),
                  .eps = la_arg_float(f, 9), .decay = decoupled ? 0 : decay,
                  .shrink = decoupled ? 1 - lr * decay : 1,
                  .negate = la_arg_bool(f, 12)};
    return step_impl(f, 3, &o, LA_STUB(adam));
}

/* square_avg, and grad_avg (centered) and momentum_buffer if in use. */
LA_FORWARD(la_meta_rmsprop_step_, step_meta(f, 3))

/* rmsprop_step_(param, grad, square_avg, grad_avg, momentum_buffer, lr, alpha,
** eps, weight_decay, momentum, maximize) */
la_status la_impl_rmsprop_step_(la_frame *f)
{
    la_optim o = {.lr = la_arg_float(f, 5), .rate = la_arg_float(f, 6),
                  .eps = la_arg_float(f, 7), .decay = la_arg_float(f, 8),
                  .other = la_arg_float(f, 9), .negate = la_arg_bool(f, 10)};
    return step_impl(f, 3, &o, LA_STUB(rmsprop));
}

/* The sum of squared gradients. */
LA_FORWARD(la_meta_adagrad_step_, step_meta(f, 1))

/* adagrad_step_(param, grad, sum, lr, eps, weight_decay, maximize, lr_decay,
** step) */
la_status la_impl_adagrad_step_(la_frame *f)
{
    double before = (double)la_arg_int(f, 8) - 1;
    double rate = la_arg_float(f, 3) / (1 + before * la_arg_float(f, 7));
    la_optim o = {.lr = rate, .eps = la_arg_float(f, 4),
                  .decay = la_arg_float(f, 5), .negate = la_arg_bool(f, 6)};
    return step_impl(f, 1, &o, LA_STUB(adagrad));
}
