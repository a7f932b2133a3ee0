/*
** Element-wise operations: from a frame to a loop over an iterator.
**
** A family says which iterator its operations want and how the loop is chosen.
** Plain calls (contiguous tensors of one shape and dtype, or scalars, with
** fewer elements than are worth a thread) skip the iterator: allocate, run.
**
** The order of a call: check (dtypes and arguments), the iterator or the lead
** tensor, then the plan (loop and scalar parameters), which may refuse as well;
** the loop comes last, so that a call that is refused has written nothing.
*/
#include "base/os/cpu.h"
#include "iter/iter.h"
#include "op/families.h"
#include "op/op.h"
#include "op/scalar_range.h"
#include "tensor/promote.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

/* --- the plan: a loop and its scalar parameters --- */

/* A scalar parameter of the loop from an argument; other tags (nil, strings)
** are 0 and mean something to the family's pick alone. */
static la_scalar scalar_of(const la_value *v)
{
    switch (v->tag) {
    case LA_VSCALAR: return v->scalar;
    case LA_VINT: return la_scalar_int(v->i);
    case LA_VFLOAT: return la_scalar_float(v->d);
    case LA_VBOOL: return la_scalar_bool(v->b);
    default: return la_scalar_int(0);
    }
}

/* LA_EDTYPE where a number is no element of the integer dtype that is computed
** in. */
static la_status check_numbers(const la_frame *f, la_dtype dtype)
{
    const la_family *family = f->op->family;
    if (family->by_value || !la_is_integral(dtype)) return LA_OK;
    for (int k = family->nraw; k < family->ninputs; k++) {
        const la_tensor *t = la_arg(f, k);
        if (!t || !(t->flags & LA_F_WRAPPED)) continue;
        if (family->wraps && la_wrapped_is_opposite(t, dtype)) continue;
        LA_TRY(la_wrapped_fits(t, dtype, k + 1));
    }
    return LA_OK;
}

/* Loop and scalar parameters of a computation in 'dtype': the row's table, then
** what the family's pick makes of it. The arguments behind the inputs are the
** parameters in their order, so params.v[0] is the alpha of add. */
static inline la_status pointwise_make_plan(la_frame *f,
                                            const la_family *family,
                                            la_dtype dtype, la_loop_plan *plan)
{
    int n = f->nargs - family->ninputs;
    if (n > LA_MAX_PARAMS) n = LA_MAX_PARAMS;
    for (int k = 0; k < n; k++)
        plan->params.v[k] = scalar_of(&f->args[family->ninputs + k]);
    plan->params.stream = false;
    plan->inspect = NULL;
    plan->grain = 0;
    const la_loops *loops = f->op->tables[la_cpu_cap()];
    plan->loop = (*loops)[dtype];
    if (family->pick) LA_TRY(family->pick(f, dtype, plan));
    return plan->loop ? LA_OK : la_refuse_dtype(f, dtype);
}

la_status la_pointwise_plan(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    LA_TRY(pointwise_make_plan(f, f->op->family, dtype, plan));
    return check_numbers(f, dtype);
}

/* The plan of a call that runs now. */
static inline la_status make_checked_plan(la_frame *f, const la_family *family,
                                          la_dtype dtype, la_loop_plan *plan)
{
    LA_TRY(pointwise_make_plan(f, family, dtype, plan));
    return plan->inspect ? plan->inspect(f, dtype) : LA_OK;
}

/* --- numbers among 16-bit floats --- */

/* A number that rounding to 'dtype' changes. */
static __attribute__((noinline)) bool is_inexact(const la_tensor *t,
                                                 la_dtype dtype)
{
    uint16_t half;
    if (!(t->flags & LA_F_WRAPPED) || !la_is_float((la_dtype)t->dtype)
        || t->device != LA_CPU)
        return false;
    la_scalar s = la_scalar_load((la_dtype)t->dtype, la_data(t));
    la_scalar_cast(&s, dtype, &half);
    la_scalar rounded = la_scalar_load(dtype, &half);
    return rounded.re != s.re;
}

bool la_pointwise_widens(const la_frame *f, la_dtype dtype)
{
    const la_family *family = f->op->family;
    if (!family->keeps_numbers
        || (dtype != LA_FLOAT16 && dtype != LA_BFLOAT16))
        return false;
    for (int k = 0; k < family->ninputs; k++)
        if (is_inexact(la_arg(f, k), dtype)) return true;
    return false;
}

/* --- numbers among integers --- */

bool la_pointwise_exceeds(const la_frame *f, la_dtype dtype)
{
    const la_family *family = f->op->family;
    if (!family->by_value || !la_is_integral(dtype)) return false;
    for (int k = 0; k < family->ninputs; k++) {
        const la_tensor *t = la_arg(f, k);
        if (t && (t->flags & LA_F_WRAPPED) && t->dtype == LA_INT64
            && !la_integer_fits(*(const int64_t *)la_data(t), dtype))
            return true;
    }
    return false;
}

/* --- the fast path --- */

/* Worth the fast path: no names to carry, too few elements for threads. A
** wrapped scalar is no such tensor, it adapts to one. */
static bool pointwise_is_plain(const la_tensor *t)
{
    return (t->flags & (LA_F_CONTIGUOUS | LA_F_WRAPPED)) == LA_F_CONTIGUOUS
        && t->device == LA_CPU && !t->names && t->numel < LA_GRAIN;
}

/* Is it as plain as 'lead', with its dtype and sizes? One flat loop covers both
** then. */
static inline bool is_like(const la_tensor *t, const la_tensor *lead)
{
    if (!pointwise_is_plain(t) || t->dtype != lead->dtype
        || t->ndim != lead->ndim)
        return false;
    for (int d = 0; d < t->ndim; d++)   /* few: a call of memcmp costs more */
        if (la_sizes(t)[d] != la_sizes(lead)[d]) return false;
    return true;
}

/* Does the number adapt to the lead's dtype? Not where it is of a higher
** category (a float with integers): that promotes. */
static bool is_scalar_operand(const la_tensor *t, const la_tensor *lead)
{
    return (t->flags & LA_F_WRAPPED) && t->device == LA_CPU
        && la_category((la_dtype)t->dtype)
           <= la_category((la_dtype)lead->dtype);
}

/* The tensor whose shape and dtype all inputs share (scalars adapt to it), or
** NULL when the iterator has to find out. Next to a number it lays the result
** out by the strides of all tensors, those of dims of size 1 too. */
static inline const la_tensor *find_lead(const la_frame *f,
                                         const la_family *family)
{
    const la_tensor *lead = NULL;
    bool number = false, other = false;     /* dims of size 1 elsewhere */
    for (int k = 0; k < family->ninputs && !lead; k++) {
        const la_tensor *t = la_arg(f, k);
        if (!t) return NULL;
        if (pointwise_is_plain(t)) lead = t;
        else if (!(t->flags & LA_F_WRAPPED)) return NULL;
    }
    for (int k = 0; k < family->ninputs && lead; k++) {
        const la_tensor *t = la_arg(f, k);
        if (t && (t == lead || is_like(t, lead))) {
            other |= family->ninputs > 2 && t != lead && !la_is_row_major(t);
            continue;
        }
        number = true;
        if (!t || !is_scalar_operand(t, lead) || lead->numel == 0
            || !la_is_row_major(lead)) return NULL;
    }
    if (lead && !(family->fast >> la_category((la_dtype)lead->dtype) & 1))
        return NULL;
    return number && other ? NULL : lead;
}

/* Arguments of a loop on the fast path, result first. Strides are for both loop
** dims; those of the outer one stay 0. 'scalar' holds converted numbers, which
** 'data' may point to. */
typedef struct direct {
    char *data[4];
    int64_t strides[8];
    char scalar[4][16] __attribute__((aligned(16)));
} direct;

/* A scalar as an element of 'dtype', in 16 bytes: the usual ones without the
** detour over a la_scalar, which goes through memory. False where an integer is
** none. */
static bool pointwise_put_scalar(const la_tensor *t, la_dtype dtype, void *out)
{
    const char *in = la_data(t);
    float f;
    if (dtype == LA_FLOAT32 && t->dtype == LA_INT64) {
        f = (float)*(const int64_t *)in;
        memcpy(out, &f, sizeof f);
    } else if (dtype == LA_FLOAT32 && t->dtype == LA_FLOAT64) {
        f = (float)*(const double *)in;
        memcpy(out, &f, sizeof f);
    } else if (t->dtype == LA_INT64 && la_is_integral(dtype)) {
        memcpy(out, in, sizeof(int64_t));       /* its low bytes */
        return la_integer_fits(*(const int64_t *)in, dtype);
    } else {
        la_scalar s = la_scalar_load((la_dtype)t->dtype, in);
        la_scalar_cast(&s, dtype, out);
    }
    return true;
}

/* Operand k of the loop: a tensor of lead's layout, or a number that is read
** again and again (stride 0), converted to 'dtype' first. False where that has
** no such element. */
static inline bool take_input(direct *d, int k, const la_tensor *t,
                              la_dtype dtype)
{
    d->data[k] = la_data(t);
    d->strides[k] = (int64_t)la_dtype_size(dtype);
    if (!(t->flags & LA_F_WRAPPED)) return true;
    d->strides[k] = 0;
    if (t->dtype == dtype) return true;
    d->data[k] = d->scalar[k];
    return pointwise_put_scalar(t, dtype, d->scalar[k]);
}

/* May the loop write into the given output at once? It is as plain as the
** inputs, and where it shares their memory it is the very same tensor. */
static bool takes_result(const la_frame *f, const la_family *family,
                         const la_tensor *lead, la_dtype result)
{
    const la_tensor *out = f->outs[0];
    if (out != lead && (!is_like(out, lead) || result != lead->dtype))
        return false;
    if (out->dtype != result) return false;
    for (int k = 0; k < family->ninputs; k++) {
        const la_tensor *t = la_arg(f, k);
        if (t != out && t->storage == out->storage) return false;
    }
    return true;
}

/* The family's own (comparisons: bool), else that of the computation. */
static la_dtype result_dtype(const la_family *family, const la_tensor *lead)
{
    return family->result != LA_UNDEFINED ? family->result
                                          : (la_dtype)lead->dtype;
}

static la_status run_general(la_frame *f);

/* One call of the loop over all elements, without an iterator: 'lead' has
** shape and dtype of the result, 'outs' fits (takes_result) or is NULL. Numbers
** that the dtype can't hold are left to the general way. */
static la_status pointwise_run_direct(la_frame *f, const la_family *family,
                                      const la_tensor *lead)
{
    la_loop_plan plan;
    direct d;
    la_tensor *out = f->outs[0];
    la_dtype dtype = (la_dtype)lead->dtype;
    la_dtype result = result_dtype(family, lead);
    int n = family->ninputs;
    LA_TRY(make_checked_plan(f, family, dtype, &plan));
    if (plan.grain) return run_general(f);
    memset(d.strides, 0, sizeof(d.strides));
    for (int k = 0; k < n; k++)
        if (!take_input(&d, k + 1, la_arg(f, k), dtype)) return run_general(f);
    if (out) la_tensor_retain(out);
    else LA_TRY(la_tensor_empty(lead->ndim, la_sizes(lead), result, &out));
    d.data[0] = la_data(out);
    d.strides[0] = (int64_t)la_dtype_size(result);
    plan.loop(d.data, d.strides, out->numel, 1, &plan.params);
    la_set_result(f, 0, out);
    return LA_OK;
}

/* --- the iterator --- */

/* The iterator of the family over the call's tensors. The caller closes it
** after LA_OK, and then drops the spare tensor. */
static la_status pointwise_build(la_frame *f, const la_family *family,
                                 la_iter *it, la_tensor **spare)
{
    la_iter_config c = LA_ITER_CONFIG(family->iter_flags | LA_IT_BORROWED, 1,
                                      family->ninputs);
    c.static_dtype = family->result;
    c.operands[0] = f->outs[0];
    for (int k = 0; k < family->ninputs; k++)
        c.operands[k + 1] = la_arg(f, k);
    if (family->adapt) LA_TRY(family->adapt(f, &c, spare));
    if (family->configure) LA_TRY(family->configure(f, &c));
    if (c.operands[0] && c.static_dtype != LA_UNDEFINED)
        LA_TRY(la_check_out_dtype(f, 0, c.static_dtype));
    LA_TRY(la_iter_build(it, &c));
    if (la_pointwise_widens(f, it->common)) {
        it->common = LA_FLOAT32;
        for (int k = 0; k < it->noperands; k++)
            it->op[k].target = LA_FLOAT32;
        it->needs_cast = true;
    }
    if (!family->nraw) return LA_OK;
    /* A mask is read as it is; what it chooses from has the result's dtype. */
    it->common = c.static_dtype;
    for (int k = 1 + family->nraw; k < it->noperands; k++) {
        it->op[k].target = it->common;
        it->needs_cast |= it->op[k].current != it->common;
    }
    return LA_OK;
}

/* The family's refusals by arguments and dtypes; LA_OK where it has none. */
static la_status pointwise_check(la_frame *f)
{
    const la_family *family = f->op->family;
    return family->check ? family->check(f) : LA_OK;
}

/* Meta device: the iterator promotes, broadcasts and makes the result, whose
** memory nobody touches; the plan says what the dtype refuses. */
la_status la_pointwise_meta(la_frame *f)
{
    la_loop_plan plan;
    la_iter it;
    LA_OWNED spare = NULL;
    LA_TRY(pointwise_check(f));
    LA_TRY(pointwise_build(f, f->op->family, &it, &spare));
    la_status status = la_pointwise_plan(f, it.common, &plan);
    if (!status) la_set_result(f, 0, la_iter_output(&it, 0));
    la_iter_close(&it);
    return status;
}

/* Past the caches a store that reads its line first costs a third more. What
** an operation reads and writes in all says whether any of it stays there; a
** result that overwrites an input has been read already. */
static bool outgrows_cache(const la_iter *it)
{
    int64_t bytes = 0;
    for (int k = 0; k < it->noperands; k++) {
        const la_tensor *t = it->op[k].tensor;
        bytes += t->numel * (int64_t)la_itemsize(t);
        if (k > 0 && it->op[k].data == it->op[0].data) return false;
    }
    return bytes > (int64_t)la_cpu_cache(3);
}

/* Plan, then the loop over all elements, by threads from LA_GRAIN elements on.
** A refusal comes before anything is written. */
static la_status pointwise_run_iter(la_frame *f, const la_family *family,
                                    la_iter *it)
{
    la_loop_plan plan;
    LA_TRY(make_checked_plan(f, family, it->common, &plan));
    LA_TRY(check_numbers(f, it->common));
    plan.params.stream = outgrows_cache(it);
    return la_iter_for_each(it, plan.loop, &plan.params,
                            plan.grain ? plan.grain : LA_GRAIN);
}

/* Runs by the iterator. Kept out of line: its frame holds an la_iter, which the
** fast path should not pay for. */
static __attribute__((noinline)) la_status run_general(la_frame *f)
{
    la_iter it;
    const la_family *family = f->op->family;
    LA_OWNED spare = NULL;
    LA_TRY(pointwise_build(f, family, &it, &spare));
    la_tensor *out = la_iter_output(&it, 0);
    la_status status = pointwise_run_iter(f, family, &it);
    la_iter_close(&it);
    if (status) la_tensor_release(out);
    else la_set_result(f, 0, out);
    return status;
}

/* The fast path where all of these hold: a lead, no number that would have to
** widen the computation, no given output or one that can be written at once. */
la_status la_pointwise_impl(la_frame *f)
{
    const la_family *family = f->op->family;
    if (family->check) LA_TRY(family->check(f));
    const la_tensor *lead = family->fast ? find_lead(f, family) : NULL;
    if (lead && la_pointwise_widens(f, (la_dtype)lead->dtype))
        return run_general(f);
    if (lead && (!f->outs[0] || takes_result(f, family, lead,
                                             result_dtype(family, lead))))
        return pointwise_run_direct(f, family, lead);
    return run_general(f);
}

/* --- the plain families --- */

/* Checks and promotions of the iterator for each kind of row. UNARY keeps the
** input's dtype, UNARY_FLOAT makes floats of integers, UNARY_BOOL has results
** of bool whatever the input is. */
#define UNARY_OP (LA_IT_CHECK_MEM_OVERLAP | LA_IT_CHECK_ALL_SAME_DTYPE \
    | LA_IT_PROMOTE_INPUTS | LA_IT_RESIZE_OUTPUTS)
#define UNARY_FLOAT_OP (LA_IT_CHECK_MEM_OVERLAP | LA_IT_PROMOTE_INPUTS \
    | LA_IT_PROMOTE_INTEGERS_TO_FLOAT | LA_IT_CAST_OUTPUTS \
    | LA_IT_ENFORCE_SAFE_CASTING_TO_OUTPUT | LA_IT_RESIZE_OUTPUTS)
#define UNARY_BOOL_OP (LA_IT_CHECK_MEM_OVERLAP | LA_IT_PROMOTE_INPUTS \
    | LA_IT_RESIZE_OUTPUTS)
#define POINTWISE .meta = la_pointwise_meta, .impl = la_pointwise_impl

/* 'fast' leaves out the dtypes whose results have another dtype than the lead:
** integers and bool where floats come out. */
const la_family la_family_UNARY = {
    POINTWISE, UNARY_OP, LA_UNDEFINED, .ninputs = 1, .fast = LA_FAST_ALL};
const la_family la_family_UNARY_FLOAT = {
    POINTWISE, UNARY_FLOAT_OP, LA_UNDEFINED, .ninputs = 1,
    .fast = LA_FAST_FLOAT | LA_FAST_COMPLEX};
const la_family la_family_UNARY_BOOL = {
    POINTWISE, UNARY_BOOL_OP, LA_BOOL, .ninputs = 1, .fast = LA_FAST_ALL};
const la_family la_family_BINARY = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, .ninputs = 2,
    .fast = LA_FAST_ALL};
const la_family la_family_MUL = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, .ninputs = 2,
    .fast = LA_FAST_ALL, .wraps = true, .keeps_numbers = true};
const la_family la_family_XLOGY = {
    POINTWISE, LA_IT_BINARY_FLOAT_OP, LA_UNDEFINED, .ninputs = 2,
    .fast = LA_FAST_FLOAT | LA_FAST_COMPLEX, .keeps_numbers = true};
const la_family la_family_BINARY_FLOAT = {
    POINTWISE, LA_IT_BINARY_FLOAT_OP, LA_UNDEFINED, .ninputs = 2,
    .fast = LA_FAST_FLOAT | LA_FAST_COMPLEX};
const la_family la_family_TERNARY = {
    POINTWISE, LA_IT_BINARY_OP, LA_UNDEFINED, .ninputs = 3,
    .fast = LA_FAST_ALL};
