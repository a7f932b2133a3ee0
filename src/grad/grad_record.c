/*
** Recording: the Autograd kernel of every operation.
**
** It runs the kernels below with recording switched off, and when an input
** needs a gradient it makes a node: edges by the rule's differentiable
** arguments, saved values by the rows that will be used, the arguments that
** are no tensors by value.
*/
#include "grad/formulas/formula.h"
#include "grad/graph.h"

#include "base/once.h"
#include "base/runtime/memory.h"
#include "base/trace.h"
#include "op/dispatch.h"
#include "op/host/hosted.h"
#include "op/op.h"

#define AUTOGRAD_BIT (1u << LA_KEY_AUTOGRAD)

/* The kernels under the Autograd key, which then record nothing. */
static la_status history_below(la_frame *f)
{
    LA_WITHOUT_KEYS(AUTOGRAD_BIT);
    return la_redispatch(f, LA_KEY_AUTOGRAD);
}

/* Results of other dtypes get no history. */
static bool differentiable(const la_tensor *t)
{
    return la_is_float((la_dtype)t->dtype)
        || la_is_complex((la_dtype)t->dtype);
}

/* Does the value need a gradient? A list does if any member does. */
static bool value_needs_grad(const la_value *v)
{
    if (v->tag == LA_VTENSOR) return la_requires_grad(v->tensor);
    if (v->tag != LA_VTENSORS) return false;
    for (int64_t i = 0; i < v->tensors.n; i++)
        if (v->tensors.list[i] && la_requires_grad(v->tensors.list[i]))
            return true;
    return false;
}

/* Arguments that need a gradient and have a derivative; and how many edges a
** node has: one for every tensor of the call. */
static uint32_t wanted_args(const la_frame *f, const la_grad_rule *r,
                            int *nedges)
{
    uint32_t wanted = 0;
    int n = 0;
    for (int k = 0; k < f->nargs; k++) {
        const la_value *v = &f->args[k];
        if (v->tag == LA_VTENSOR) n++;
        else if (v->tag == LA_VTENSORS) n += (int)v->tensors.n;
        else continue;
        if ((r->args >> k & 1) && value_needs_grad(v)) wanted |= 1u << k;
    }
    *nedges = n;
    return wanted;
}

/* ---- the node ---- */

/* Edges stay empty for arguments whose gradient nobody wants. */
static la_status add_edges(const la_frame *f, uint32_t wanted, la_node *n)
{
    int e = 0;
    for (int k = 0; k < f->nargs; k++) {
        const la_value *v = &f->args[k];
        bool want = wanted >> k & 1;
        if (v->tag == LA_VTENSOR) {
            if (want) LA_TRY(la_gradient_edge(v->tensor, &n->edges[e]));
            e++;
        }
        for (int64_t i = 0; v->tag == LA_VTENSORS && i < v->tensors.n; i++) {
            la_tensor *t = v->tensors.list[i];
            if (want && t) LA_TRY(la_gradient_edge(t, &n->edges[e]));
            e++;
        }
    }
    return LA_OK;
}

/* *out stays NULL when no argument wants a gradient. */
static la_status new_node(la_frame *f, const la_grad_rule *r, la_node **out)
{
    int nedges;
    uint32_t wanted = wanted_args(f, r, &nedges);
    if (!wanted) return LA_OK;
    la_node *n;
    LA_TRY(la_op_node_new(f, r, nedges, wanted, &n));
    la_status status = add_edges(f, wanted, n);
    if (!status)
        status = la_op_node_save_args(n, f, f->form == LA_INPLACE);
    if (status) {
        la_node_release(n);
        return status;
    }
    *out = n;
    return LA_OK;
}

/* ---- histories of the results ---- */

/* True for in-place forms, and operations that write their first argument
** (copy_). */
static bool inplace(const la_frame *f)
{
    return f->form == LA_INPLACE
        || ((f->op->forms & LA_MUTATES) && f->form == LA_FUNCTIONAL);
}

/* The tensor that the call writes. */
static la_tensor *written(const la_frame *f)
{
    return f->form == LA_INPLACE ? f->outs[0] : f->args[0].tensor;
}

/* A new tensor of this call: nobody else knows it, nor the node, so the
** reference is counted without a locked instruction. */
static la_status first_history(la_tensor *t, la_node *n, int slot)
{
    la_grad_meta *m;
    LA_TRY(la_meta_of(t, &m));
    int32_t refs = atomic_load_explicit(&n->refs, memory_order_relaxed);
    atomic_store_explicit(&n->refs, refs + 1, memory_order_relaxed);
    m->fn = n;
    m->slot = slot;
    t->seen_version = la_tensor_version(t);
    m->requires_grad = false;
    t->flags |= LA_F_REQUIRES_GRAD;
    return LA_OK;
}

/* The call's own reference, when others are there: the same. */
static void release_local(la_node *n)
{
    int32_t refs = atomic_load_explicit(&n->refs, memory_order_relaxed);
    if (refs > 1)
        atomic_store_explicit(&n->refs, refs - 1, memory_order_relaxed);
    else
        la_node_release(n);
}

static la_status attach_one(la_frame *f, la_node *n, la_tensor *t, int slot)
{
    if (!differentiable(t)) return LA_OK;
    if (f->op->forms & LA_OVERLAPPING) {
        /* A root that was detached in place: its views still have theirs. And
        ** what a custom function gave has that function's. */
        bool lost = !la_requires_grad(t->base)
                 || t->flags & LA_F_CUSTOM_VIEW;
        return la_view_history(t, lost ? f->args[0].tensor : t->base);
    }
    LA_TRY(la_node_output(n, slot, t));
    /* A change of geometry writes no element: the root's history stays. */
    bool elements = !(f->op->forms & LA_METADATA);
    if (inplace(f) && elements) return la_rebase_history(t, n, slot);
    return t->grad ? la_set_history(t, n, slot) : first_history(t, n, slot);
}

/* All results; members of lists count as outputs. */
static la_status history_attach(la_frame *f, la_node *n)
{
    int slot = 0;
    for (int k = 0; k < f->nresults; k++) {
        la_value *v = &f->results[k];
        if (v->tag == LA_VTENSOR)
            LA_TRY(attach_one(f, n, v->tensor, slot++));
        for (int64_t i = 0; v->tag == LA_VTENSORS && i < v->tensors.n; i++)
            LA_TRY(attach_one(f, n, v->tensors.list[i], slot++));
    }
    return LA_OK;
}

/* Outputs of the call: a list has one for each member. */
static int count_outputs(const la_frame *f)
{
    int n = 0;
    if (f->results[0].tag != LA_VTENSORS) return 0;
    for (int k = 0; k < f->nresults; k++) {
        if (f->results[k].tag == LA_VTENSOR) n++;
        if (f->results[k].tag == LA_VTENSORS)
            n += (int)f->results[k].tensors.n;
    }
    return n;
}

/* ---- the kernel ---- */

/* An operation whose row does not say that its results never need a gradient,
** and that has no row in derivatives.def: it runs, and fails in backward. */
static la_status no_derivative(la_formula *x, la_tensor **out)
{
    (void)out;
    return la_error(LA_EGRAD, "the derivative of %s is not implemented",
                    x->op->op->name);
}

static const la_grad_rule unknown_rule = {
    .all = no_derivative, .args = UINT32_MAX
};

/* An output of an operation without a gradient (comparisons, random numbers)
** does not depend on what was there before. */
static la_status no_gradient(la_formula *x, la_tensor **out)
{
    (void)x, (void)out;
    return LA_OK;
}

static const la_grad_rule constant_rule = {
    .all = no_gradient, .args = 1
};

/* Sizes or storage are replaced: nothing of the history would fit. */
static la_status refuse_metadata(const la_frame *f)
{
    if (f->args[0].tag == LA_VTENSOR && la_requires_grad(f->args[0].tensor))
        return la_error(LA_EGRAD, "can't change the sizes or the storage of a "
                        "tensor that requires grad; detach() it first");
    return LA_OK;
}

static bool wants_gradient(const la_frame *f)
{
    bool wanted = false;
    for (int k = 0; k < f->nargs; k++) wanted |= value_needs_grad(&f->args[k]);
    return wanted;
}

/* The Autograd kernel. Nothing is recorded when no input wants a gradient; a
** failure after the call drops its results. */
static la_status history_record(la_frame *f)
{
    const la_grad_rule *r = f->op->state->grad;
    uint32_t forms = f->op->forms;
    la_node *n = NULL;
    if (la_hosted_of(f->op) && wants_gradient(f))
        return la_error(LA_EGRAD, "a host's operation has no derivative: "
                        "detach() the operands or use no_grad");
    if (forms & LA_NO_GRAD_OP) {
        if (!inplace(f) || (forms & LA_METADATA)) return history_below(f);
        r = &constant_rule;
    } else if (!r && (forms & LA_METADATA)) {
        LA_TRY(refuse_metadata(f));
        return history_below(f);
    }
    if (!r) r = &unknown_rule;
    if (inplace(f)) LA_TRY(la_check_inplace(written(f)));
    LA_TRY(new_node(f, r, &n));
    la_status status = history_below(f);
    if (!n) return status;
    if (!status) status = la_op_node_outputs(n, count_outputs(f));
    if (!status) status = history_attach(f, n);
    if (!status) status = la_op_node_save_results(n, f);
    if (__builtin_expect(la_trace_on, 0) && !status)
        la_trace("graph  node of %s, %d edges", f->op->name, n->nedges);
    release_local(n);
    if (status) la_drop_results(f);
    return status;
}

static void history_connect(void)
{
    la_grad_init_node();
    la_grad_bind();
    la_autograd_kernel = history_record;
}

/* Connects the Autograd kernel; states may be opened on several threads. */
void la_grad_init(void)
{
    static la_once once = LA_ONCE;
    la_run_once(&once, history_connect);
}
