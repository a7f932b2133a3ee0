/*
** Nodes: one memory block each, saved values, histories of tensors.
**
** Invariant: references lead from tensors to their node and from nodes to the
** nodes before them, never forward, so counting frees a graph. Chains of any
** length are released in a loop.
*/
#include "grad/grad.h"
#include "grad/graph.h"

#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "op/observe.h"
#include "tensor/host/host.h"
#include "tensor/shape.h"

/* The order of recording, of this thread: it only says who runs first where
** the edges leave it open. */
static _Thread_local uint64_t next_sequence = 1;

static size_t round_up(size_t n) { return (n + 15) & ~(size_t)15; }

/* The block: node, edges, outputs, grads, extra. */
typedef struct layout {
    size_t edges, outputs, grads, extra, total;
} layout;

/* Offsets of the parts, each aligned to 16 bytes. */
static layout node_layout_of(int nedges, int noutputs, size_t extra)
{
    layout l;
    l.edges = round_up(sizeof(la_node));
    l.outputs = l.edges + round_up((size_t)nedges * sizeof(la_edge));
    l.grads = l.outputs + round_up((size_t)noutputs * sizeof(la_output_meta));
    l.extra = l.grads + round_up((size_t)noutputs * sizeof(la_tensor *));
    l.total = l.extra + round_up(extra);
    return l;
}

uint64_t la_node_sequence(void) { return next_sequence; }

/* One allocation. The block is zeroed: edges lead nowhere, nothing has
** arrived. */
la_status la_node_new(const la_node_class *class, int nedges, int noutputs,
                      size_t extra, la_node **out)
{
    layout l = node_layout_of(nedges, noutputs, extra);
    char *block = la_mem_zalloc(l.total);
    if (!block) return LA_ENOMEM;
    la_node *n = (la_node *)block;
    atomic_init(&n->refs, 1);
    n->nedges = nedges;
    n->noutputs = noutputs;
    n->bytes = (uint32_t)l.total;
    n->class = class;
    n->sequence = next_sequence++;
    n->extra = (uint32_t)l.extra;
    n->edges = (la_edge *)(block + l.edges);
    n->outputs = (la_output_meta *)(block + l.outputs);
    n->grads = (la_tensor **)(block + l.grads);
    if (__builtin_expect(la_ctx()->observed, 0))
        la_observe_recorded(n->sequence);
    *out = n;
    return LA_OK;
}

/* Drops one; true when it was the last. */
static bool last_reference(la_node *n) { return la_drop_ref(&n->refs); }

/* Sizes of more than LA_OUTPUT_DIMS dims have a block of their own. */
static void free_sizes(la_output_meta *o)
{
    if (o->ndim > LA_OUTPUT_DIMS)
        la_mem_free(o->sizes, o->ndim * sizeof(int64_t));
    o->ndim = 0;
}

/* Outputs of list operations lie outside of the block (la_op_node_outputs). */
static void free_outputs(la_node *n)
{
    for (int k = 0; k < n->noutputs; k++) {
        la_tensor_drop(&n->grads[k]);
        free_sizes(&n->outputs[k]);
    }
    char *outputs = (char *)n->outputs, *block = (char *)n;
    if (outputs >= block && outputs < block + n->bytes) return;
    la_mem_free(n->outputs, (size_t)n->noutputs * sizeof(la_output_meta));
    la_mem_free(n->grads, (size_t)n->noutputs * sizeof(la_tensor *));
}

/* Releasing a node may release those before it, and tensors that own nodes
** themselves. They are put on a list of this thread, which the outermost call
** works off: no recursion, no allocation, however long the chain. */
static _Thread_local la_node *dying;
static _Thread_local bool working;

/* A node without references. */
static void free_one(la_node *n)
{
    if (n->class->clear) n->class->clear(n);
    if (n->class->destroy) n->class->destroy(n);
    free_outputs(n);
    la_hooks_free(n->hooks);
    if (n->trace) la_mem_free(n->trace, strlen(n->trace) + 1);
    for (int i = 0; i < n->nedges; i++) la_node_release(n->edges[i].node);
    la_mem_free(n, n->bytes);
}

void la_node_release(la_node *n)
{
    if (!n || !last_reference(n)) return;
    n->next = dying;
    dying = n;
    if (working) return;
    working = true;
    while (dying) {
        la_node *one = dying;
        dying = one->next;
        free_one(one);
    }
    working = false;
}

/* Sizes are copied: the tensor itself is not kept alive. */
la_status la_node_output(la_node *n, int k, const la_tensor *t)
{
    la_output_meta *o = &n->outputs[k];
    free_sizes(o);
    o->sizes = o->few;
    if (t->ndim > LA_OUTPUT_DIMS) {
        o->sizes = la_mem_alloc(t->ndim * sizeof(int64_t));
        if (!o->sizes) return LA_ENOMEM;
    }
    for (int d = 0; d < t->ndim; d++) o->sizes[d] = la_sizes(t)[d];
    o->ndim = t->ndim;
    o->dtype = t->dtype;
    o->device = t->device;
    return LA_OK;
}

/* ---- grad_meta ---- */

/* LA_ENOMEM leaves the tensor as it was. */
la_status la_meta_of(la_tensor *t, la_grad_meta **out)
{
    if (!t->grad) {
        la_grad_meta *m = la_mem_zalloc(sizeof(*m));
        if (!m) return LA_ENOMEM;
        /* Creation operations only set the flag of a leaf. */
        m->requires_grad = (t->flags & LA_F_REQUIRES_GRAD) && !t->base;
        m->context = la_current_context;
        t->grad = m;
    }
    *out = t->grad;
    return LA_OK;
}

/* The tensor dies. The order matters: hooks leave before the nodes they are
** on. */
static void meta_free(la_grad_meta *m)
{
    la_node *fn = m->fn;
    la_tensor *grad = m->grad;
    la_node *accumulator = m->accumulator;
    if (accumulator) la_forget_leaf(accumulator, &m->hooks);
    if (m->retain && fn) la_keep_off(m);
    la_hooks_free(m->hooks);
    la_mem_free(m, sizeof(*m));
    if (grad) la_tensor_release(grad);
    la_node_release(accumulator);
    la_node_release(fn);
}

/* ---- saved values ---- */

/* A root tensor is kept itself; a result, a view, a wrapped scalar or a tensor
** that counts elsewhere by an alias. */
la_status la_saved_set(la_saved *s, la_tensor *t, bool is_result)
{
    s->is_whole = !is_result && !t->base && !t->counter
               && !(t->flags & LA_F_WRAPPED);
    if (s->is_whole) s->data = la_tensor_retain(t);
    else LA_TRY(la_tensor_alias(t, false, &s->data));
    if (!is_result && t->base && la_grad_flag(t)) {
        la_node *fn = NULL;
        la_status status = la_grad_fn_of(t, &fn, &s->slot);
        if (status) {
            la_tensor_drop(&s->data);
            return status;
        }
        s->fn = fn ? la_node_retain(fn) : NULL;
    }
    s->version = la_tensor_version(t);
    s->others = la_other_writes(s->data);
    s->is_result = is_result;
    return LA_OK;
}

/* Was the memory written by a tensor that was given it by set_ or set_data and
** counts elsewhere? Not asked where the saved tensor got other memory. */
static bool is_overwritten(const la_saved *s)
{
    bool same = !s->is_whole || !s->data->counter;
    return same && la_other_writes(s->data) != s->others;
}

/* LA_EGRAD when it was freed, or changed in place since it was saved, LA_ESTATE
** when the host has moved its memory. */
la_status la_unsave(const la_saved *s, la_node *n, la_tensor **out)
{
    if (!s->data)
        return la_error(LA_EGRAD, "Trying to backward through the graph a "
                        "second time: its saved values were freed. Give "
                        "retain_graph = true to the first backward");
    const la_storage *memory = s->data->storage;
    if (memory && (memory->flags & LA_S_MOVED || memory->moved_at > s->version))
        return la_host_moved();
    if (la_tensor_version(s->data) != s->version)
        return la_error(LA_EGRAD, "one of the variables needed for gradient "
                        "computation has been modified by an inplace "
                        "operation: %s needs a tensor at version %u, it is at "
                        "version %u now", la_node_name(n), s->version,
                        la_tensor_version(s->data));
    if (is_overwritten(s))
        return la_error(LA_EGRAD, "one of the variables needed for gradient "
                        "computation has been modified by an inplace "
                        "operation: %s needs a tensor whose memory was written "
                        "through another one that shares it (set_, set_data)",
                        la_node_name(n));
    if (s->is_result && s->fn) return la_written_result(s->fn, s->data, out);
    la_node *fn = s->is_result ? n : s->fn;
    if (!fn) return la_tensor_same(s->data, out);
    LA_TRY(la_tensor_alias(s->data, false, out));
    la_status status = la_set_history(*out, fn, s->slot);
    if (status) la_tensor_drop(out);
    return status;
}

/* Fields first: releasing may come back to this node. */
void la_saved_clear(la_saved *s)
{
    la_tensor *data = s->data;
    la_node *fn = s->is_result ? NULL : s->fn;
    s->data = NULL;
    s->fn = NULL;
    if (data) la_tensor_release(data);
    la_node_release(fn);
}

/* ---- walks ---- */

void la_visit_saved(const la_saved *s, la_visitor *v)
{
    if (s->data) v->tensor(v, s->data);
    if (s->fn && !s->is_result) v->node(v, s->fn);
}

static void visit_hooks(const la_hook_list *list, la_visitor *v)
{
    const la_hook *h = la_hooks_after(list, 0);
    for (; h; h = la_hooks_after(list, h->id)) v->hook(v, h);
}

void la_visit_tensor(const la_tensor *t, la_visitor *v)
{
    const la_grad_meta *m = t->grad;
    if (t->base) v->tensor(v, t->base);
    if (!m) return;
    if (m->grad) v->tensor(v, m->grad);
    if (m->fn) v->node(v, m->fn);
    if (m->accumulator) v->node(v, m->accumulator);
    visit_hooks(m->hooks, v);
}

void la_visit_node(la_node *n, la_visitor *v)
{
    for (int i = 0; i < n->nedges; i++)
        if (n->edges[i].node) v->node(v, n->edges[i].node);
    for (int k = 0; k < n->noutputs; k++)
        if (n->grads[k]) v->tensor(v, n->grads[k]);
    visit_hooks(n->hooks, v);
    if (n->class->visit) n->class->visit(n, v);
}

/* ---- history ---- */

/* The old history is released last, as it may own what 'n' needs. */
la_status la_set_history(la_tensor *t, la_node *n, int slot)
{
    la_grad_meta *m;
    LA_TRY(la_meta_of(t, &m));
    la_node *before = m->fn;
    if (m->retain && before) la_keep_off(m);
    m->fn = la_node_retain(n);
    m->slot = slot;
    t->seen_version = la_tensor_version(t);
    t->flags |= LA_F_REQUIRES_GRAD;
    la_node_release(before);
    return m->retain ? la_keep_on(m) : LA_OK;
}

void la_grad_init_node(void) { la_grad_meta_free = meta_free; }
