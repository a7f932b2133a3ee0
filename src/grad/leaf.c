/*
** Leaves of the graph: accumulators, requires_grad, hooks, retain_grad, .grad
** and the recording mode.
**
** An accumulator is the node that a leaf's gradient flows into. The leaf owns
** it and it only borrows the leaf, so that a gradient with a history, stored in
** the leaf it leads to, is no reference cycle.
*/
#define LA_INTERNAL
#include "grad/grad.h"
#include "grad/graph.h"

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "lunarray.h"
#include "op/call.h"
#include "tensor/shape.h"

la_grad_watch la_grad_watched;

/* Is a program recorded? */
static bool leaf_is_watched(void) { return la_ctx()->recorder != NULL; }

/* ---- the accumulator of a leaf ---- */

typedef struct accumulator {
    la_tensor *leaf;        /* borrowed; NULL once it is gone */
} accumulator;

/* A view that alone holds the tensor with its memory, all of it and in order:
** what transposing twice leaves. */
static bool is_whole_view(const la_tensor *t)
{
    const la_tensor *base = t->base;
    return base && atomic_load(&t->refs) == 1 && atomic_load(&base->refs) == 1
        && t->storage && t->storage == base->storage
        && atomic_load(&t->storage->refs) == 2 && la_is_contiguous(t)
        && t->numel * (int64_t)la_itemsize(t) == t->storage->nbytes
        && !((t->flags | base->flags)
             & (LA_F_CONJ | LA_F_NEG | LA_F_WRAPPED));
}

/* Put 'grad' into leaf.grad. A gradient that nobody else holds is taken as it
** is when its layout is plain; otherwise it is copied. With create_graph the
** sum is a new tensor, so that its history stays. */
static la_status accumulate(la_tensor *leaf, la_tensor *grad)
{
    la_grad_meta *m;
    LA_TRY(la_meta_of(leaf, &m));
    la_tensor *sum = NULL;
    if (leaf_is_watched()) la_grad_watched.asked(leaf);
    if (!m->grad) {
        if (la_exclusive(grad) || la_grad_enabled())
            sum = la_tensor_retain(grad);
        else if (is_whole_view(grad))
            LA_TRY(la_tensor_alias(grad, false, &sum));
        else LA_TRY(la_run(clone, &sum, grad));
    } else if (la_grad_enabled()) {
        LA_TRY(la_run(add, &sum, m->grad, grad));
    } else {
        return la_run_(add, m->grad, grad);
    }
    la_tensor_drop(&m->grad);
    m->grad = sum;
    if (leaf_is_watched()) la_grad_watched.set(leaf, sum);
    return LA_OK;
}

/* The leaf's next hook behind that of id 'at', of those that run before the
** gradient is added or of the others; NULL also when a hook has ended the
** leaf. */
static const la_hook *next_of(const accumulator *a, int64_t at, bool after)
{
    const la_hook *h = NULL;
    while (a->leaf && a->leaf->grad
           && (h = la_hooks_after(a->leaf->grad->hooks, at))
           && h->after != after) at = h->id;
    return a->leaf && a->leaf->grad ? h : NULL;
}

/* A hook may remove any hook and free the leaf: nothing is kept over a call. */
la_status la_run_leaf_hooks(la_node *n)
{
    const accumulator *a = la_node_extra(n);
    la_tensor **grad = &n->grads[0];
    const la_hook *h;
    for (int64_t at = 0; (h = next_of(a, at, false));) {
        la_tensor *other = NULL;
        at = h->id;
        LA_TRY(h->run(h->context, *grad, &other));
        if (!other) continue;
        la_tensor_release(*grad);
        *grad = other;
    }
    return LA_OK;
}

/* The hooks that run once the gradient is in the leaf; as those before. */
static la_status run_hooks_after(const accumulator *a)
{
    const la_hook *h;
    for (int64_t at = 0; (h = next_of(a, at, true));) {
        at = h->id;
        LA_TRY(h->run(h->context, a->leaf, NULL));
    }
    return LA_OK;
}

/* A hook may have ended the leaf. */
static la_status run_accumulator(la_node *n, la_tensor **grads,
                                 la_tensor **out)
{
    accumulator *a = la_node_extra(n);
    (void)out;
    if (!a->leaf || !grads[0]) return LA_OK;
    LA_TRY(accumulate(a->leaf, grads[0]));
    return run_hooks_after(a);
}

static const la_node_class class_accumulate = {
    "AccumulateGrad", run_accumulator, NULL, NULL, NULL
};

/* Told from other nodes by the class. */
bool la_is_accumulator(const la_node *n)
{
    return n->class == &class_accumulate;
}

/* The leaf is gone while graphs still lead to it: its hooks go on seeing the
** gradient, now as hooks of the node. */
void la_forget_leaf(la_node *n, la_hook_list **hooks)
{
    ((accumulator *)la_node_extra(n))->leaf = NULL;
    if (atomic_load(&n->refs) == 1 || n->hooks) return;
    n->hooks = *hooks;
    *hooks = NULL;
}

/* Whether the gradient at 'n' will be kept as it is once nobody else holds it:
** then waiting until all others are done saves a copy. */
bool la_accumulator_waits(la_node *n)
{
    const accumulator *a = la_node_extra(n);
    return a->leaf && a->leaf->grad && !a->leaf->grad->grad && n->grads[0]
        && !la_grad_enabled() && !la_exclusive(n->grads[0]);
}

/* set_data may have given the leaf another shape or dtype since. */
static bool still_fits(const la_node *n, const la_tensor *t)
{
    const la_output_meta *o = &n->outputs[0];
    if (o->ndim != t->ndim || o->dtype != t->dtype) return false;
    for (int d = 0; d < t->ndim; d++)
        if (o->sizes[d] != la_sizes(t)[d]) return false;
    return true;
}

/* The edge to t's accumulator, which is created at its first use. */
static la_status accumulator_of(la_tensor *t, la_edge *out)
{
    la_grad_meta *m;
    LA_TRY(la_meta_of(t, &m));
    out->slot = 0;
    if (m->accumulator && !still_fits(m->accumulator, t)) {
        la_hook_list *none = NULL;
        la_forget_leaf(m->accumulator, &none);
        la_node_release(m->accumulator);
        m->accumulator = NULL;
    }
    if (m->accumulator) {
        out->node = la_node_retain(m->accumulator);
        return LA_OK;
    }
    la_node *n;
    LA_TRY(la_node_new(&class_accumulate, 0, 1, sizeof(accumulator), &n));
    la_status status = la_node_output(n, 0, t);
    if (status) {
        la_node_release(n);
        return status;
    }
    n->sequence = UINT64_MAX;       /* leaves run as soon as they can */
    ((accumulator *)la_node_extra(n))->leaf = t;
    m->accumulator = n;
    out->node = la_node_retain(n);
    return LA_OK;
}

/* A tensor created with requires_grad has only the flag until it is asked
** here. */
la_status la_gradient_edge(la_tensor *t, la_edge *out)
{
    *out = (la_edge){NULL, 0};
    if (!la_grad_flag(t)) return LA_OK;
    la_grad_meta *m;
    la_node *fn = NULL;
    LA_TRY(la_grad_fn_of(t, &fn, &out->slot));
    if (fn) out->node = la_node_retain(fn);
    if (fn) return LA_OK;
    if (!t->base) LA_TRY(la_meta_of(t, &m));
    return t->grad && t->grad->requires_grad ? accumulator_of(t, out) : LA_OK;
}

/* ---- requires_grad and .grad ---- */

bool la_requires_grad(const la_tensor *t)
{
    return t && la_grad_flag(t) != 0;
}

/* detach_: back to a leaf that records nothing. */
void la_forget_history(la_tensor *t)
{
    la_grad_meta *m = t->grad;
    t->flags &= ~(uint32_t)LA_F_REQUIRES_GRAD;
    if (!m) return;
    la_node *fn = m->fn;
    if (m->retain && fn) la_keep_off(m);
    m->fn = NULL;
    m->retain = m->requires_grad = false;
    la_node_release(fn);
}

la_status la_is_leaf(la_tensor *t, bool *leaf)
{
    la_node *fn;
    int slot;
    LA_TRY(la_grad_fn_of(t, &fn, &slot));
    *leaf = !fn;
    return LA_OK;
}

/* LA_EGRAD unless 't' is a leaf; LA_EDTYPE for integers. */
la_status la_require_grad(la_tensor *t, bool on)
{
    la_grad_meta *m;
    bool leaf;
    if (on == la_requires_grad(t)) return LA_OK;
    LA_TRY(la_is_leaf(t, &leaf));
    if (!leaf)
        return la_error(LA_EGRAD, "you can only change requires_grad flags of "
                        "leaf variables; use x:detach() for a tensor that "
                        "needs no gradient");
    if (on && !la_is_float((la_dtype)t->dtype)
        && !la_is_complex((la_dtype)t->dtype))
        return la_error(LA_EDTYPE, "only Tensors of floating point and complex "
                        "dtype can require gradients, this one is %s",
                        la_dtype_name((la_dtype)t->dtype));
    LA_TRY(la_meta_of(t, &m));
    if (leaf_is_watched()) la_grad_watched.required(t, on);
    m->requires_grad = on;
    if (on) la_tensor_drop(&t->base);  /* its views now belong to this leaf */
    if (on) t->flags |= LA_F_REQUIRES_GRAD;
    else t->flags &= ~(uint32_t)LA_F_REQUIRES_GRAD;
    return LA_OK;
}

la_tensor *la_leaf_grad(const la_tensor *t)
{
    return t->grad ? t->grad->grad : NULL;
}

/* Would 't' keep itself alive as the owner of 'grad'? It is that tensor, or one
** that owns t: the base of a view, the gradient of a gradient. */
static bool owns(const la_tensor *grad, const la_tensor *t)
{
    for (; grad; grad = la_leaf_grad(grad))
        if (grad == t || grad->base == t) return true;
    return false;
}

/* LA_ESHAPE unless shape, dtype and device agree; LA_EARG for a tensor that
** owns t. */
la_status la_set_grad(la_tensor *t, la_tensor *grad)
{
    la_grad_meta *m;
    if (!grad && leaf_is_watched()) la_grad_watched.set(t, NULL);
    if (!grad && !t->grad) return LA_OK;
    if (grad && (grad->dtype != t->dtype || !la_same_sizes(grad, t)))
        return la_error(LA_ESHAPE, "assigned grad must have the shape and "
                        "dtype of the tensor");
    if (owns(grad, t))
        return la_error(LA_EARG, grad == t
                        ? "can't assign a tensor as its own grad"
                        : "can't assign a view of the tensor, or a tensor "
                          "whose grad it is, as its grad: it would keep itself "
                          "alive");
    if (grad && grad->device != t->device)
        return la_error(LA_EARG, "assigned grad has data located on a "
                        "different device");
    LA_TRY(la_meta_of(t, &m));
    la_tensor *before = m->grad;
    m->grad = grad ? la_tensor_retain(grad) : NULL;
    if (before) la_tensor_release(before);
    if (grad && leaf_is_watched()) la_grad_watched.set(t, grad);
    return LA_OK;
}

/* ---- hooks ---- */

static _Atomic int64_t next_hook = 1;

/* The list that t's hooks stand in: the leaf's, or its node's. */
static la_status hook_list(la_tensor *t, la_hook_list ***list, int *slot)
{
    la_grad_meta *m;
    la_node *fn;
    LA_TRY(la_meta_of(t, &m));
    LA_TRY(la_grad_fn_of(t, &fn, slot));
    *list = fn ? &fn->hooks : &m->hooks;
    return LA_OK;
}

/* On a leaf the hook belongs to the tensor, else to its node. */
la_status la_register_hook(la_tensor *t, bool after, la_hook_fn run,
                           void *context, void (*release)(void *),
                           int64_t *id)
{
    la_hook_list **list;
    la_hook h = {run, context, release, atomic_fetch_add(&next_hook, 1), 0,
                 after};
    bool leaf = true;
    la_status status = after ? la_is_leaf(t, &leaf) : LA_OK;
    if (!status && !leaf)
        status = la_error(LA_EGRAD, "post accumulate grad hooks cannot be "
                          "registered on non-leaf tensors");
    if (!status && !la_requires_grad(t))
        status = la_error(LA_EGRAD, "cannot register a hook on a tensor that "
                          "doesn't require gradient");
    if (!status) status = hook_list(t, &list, &h.slot);
    if (!status) status = la_hooks_add(list, &h);
    if (status && release) release(context);
    if (!status && id) *id = h.id;
    return status;
}

static la_status leaf_keep(void *context, la_tensor *grad,
                           la_tensor **replacement);

/* Unknown ids are ignored; hooks of retain_grad are not removed this way. */
void la_remove_hook(la_tensor *t, int64_t id)
{
    la_hook_list **list;
    int slot;
    if (!t->grad || hook_list(t, &list, &slot)) return;
    la_hooks_remove(*list, id, leaf_keep);
}

/* retain_grad is a hook of the node that stores what passes in the tensor's
** metadata. The tensor owns the node, so the hook owns nothing; metadata that
** dies or moves to another node takes its hook along. */
static la_status leaf_keep(void *context, la_tensor *grad,
                           la_tensor **replacement)
{
    la_grad_meta *m = context;
    (void)replacement;
    la_tensor_drop(&m->grad);
    m->grad = la_tensor_retain(grad);
    return LA_OK;
}

/* On while the tensor has this node; moved when its history changes. */
la_status la_keep_on(la_grad_meta *m)
{
    la_hook h = {leaf_keep, m, NULL, atomic_fetch_add(&next_hook, 1), m->slot,
                 false};
    m->keeper = h.id;
    return la_hooks_add(&m->fn->hooks, &h);
}

void la_keep_off(la_grad_meta *m)
{
    la_hooks_remove(m->fn->hooks, m->keeper, NULL);
}

/* Leaves keep their gradient anyway. */
la_status la_retain_grad(la_tensor *t)
{
    la_grad_meta *m;
    bool leaf;
    if (!la_requires_grad(t))
        return la_error(LA_EGRAD, "can't retain_grad on a tensor that has "
                        "requires_grad = false");
    LA_TRY(la_is_leaf(t, &leaf));
    if (leaf) return LA_OK;
    LA_TRY(la_meta_of(t, &m));
    if (m->retain) return LA_OK;
    LA_TRY(la_keep_on(m));
    m->retain = true;
    return LA_OK;
}

/* ---- grad mode ---- */

bool la_grad_enabled(void) { return !la_ctx()->no_grad; }

bool la_switch_grad(bool on)
{
    bool before = !la_ctx()->no_grad;
    la_ctx()->no_grad = !on;
    return before;
}
