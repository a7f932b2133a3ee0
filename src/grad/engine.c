/*
** The engine: runs the nodes from the results back to the leaves, each when all
** gradients for it have arrived, later operations first.
**
** Invariant: a node runs at most once per run, when 'waiting' (the edges that
** lead to it from nodes of this run) has come down to 0. Everything is
** iterative, so a graph may be of any depth. The only state in the nodes is a
** run's id, that counter and the gradients that have arrived; an error or a
** nested run (a hook that calls backward) restores it.
*/
#include <stdio.h>

#include "base/runtime/context.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "grad/graph.h"
#include "grad/node_verify.h"
#include "op/call.h"
#include "op/host/device_names.h"
#include "op/observe.h"
#include "tensor/shape.h"

/* The first nodes are stored in the list's owner: small graphs allocate
** nothing. */
enum { FEW_NODES = 48 };
typedef struct node_list {
    la_node **list;         /* 'few', or a block */
    int64_t n, capacity;
    la_node *few[FEW_NODES];
} node_list;

/* State of a node in an outer run, put back when the nested one ends. */
typedef struct stash {
    la_node *node;
    la_tensor **grads;
    uint64_t run;
    int32_t waiting;
    bool needed;
    struct stash *next;
} stash;

typedef struct run {
    uint64_t id;
    uint32_t flags;
    node_list nodes;            /* all that are reached; retained by roots */
    node_list ready;            /* a heap, the latest operation on top */
    node_list last;             /* accumulators that wait for the others */
    stash *stashed;
    int ninputs;
    la_edge *wanted;            /* of the inputs */
    la_tensor **captured;       /* their gradients, owned */
    struct run *outer;
} run;

static _Atomic uint64_t next_run = 1;
static _Thread_local run *current;

/* ---- lists ---- */

static void engine_start_list(node_list *l)
{
    l->list = l->few;
    l->n = 0;
    l->capacity = FEW_NODES;
}

static void engine_free_list(node_list *l)
{
    if (l->list != l->few)
        la_mem_free(l->list, (size_t)l->capacity * sizeof(*l->list));
}

/* Four times the capacity: a list is copied rarely, and freed with the run. */
static la_status engine_grow(node_list *l)
{
    int64_t capacity = 4 * l->capacity;
    la_node **more = la_mem_alloc((size_t)capacity * sizeof(*more));
    if (!more) return LA_ENOMEM;
    memcpy(more, l->list, (size_t)l->n * sizeof(*more));
    engine_free_list(l);
    l->list = more;
    l->capacity = capacity;
    return LA_OK;
}

static la_status engine_push(node_list *l, la_node *n)
{
    if (l->n == l->capacity) LA_TRY(engine_grow(l));
    l->list[l->n++] = n;
    return LA_OK;
}

static void engine_swap(node_list *l, int64_t i, int64_t j)
{
    la_node *t = l->list[i];
    l->list[i] = l->list[j];
    l->list[j] = t;
}

/* Heap order: a node that was recorded later runs first. Then every gradient of
** a tensor has been summed by the time its own node runs. */
static bool later(const node_list *l, int64_t i, int64_t j)
{
    return l->list[i]->sequence > l->list[j]->sequence;
}

/* A binary heap in the list. */
static la_status heap_push(node_list *l, la_node *n)
{
    LA_TRY(engine_push(l, n));
    for (int64_t i = l->n - 1; i > 0 && later(l, i, (i - 1) / 2);
         i = (i - 1) / 2)
        engine_swap(l, i, (i - 1) / 2);
    return LA_OK;
}

static la_node *heap_pop(node_list *l)
{
    la_node *top = l->list[0];
    l->list[0] = l->list[--l->n];
    for (int64_t i = 0, k; (k = 2 * i + 1) < l->n; i = k) {
        if (k + 1 < l->n && later(l, k + 1, k)) k++;
        if (!later(l, k, i)) break;
        engine_swap(l, i, k);
    }
    return top;
}

/* ---- which nodes, and how many gradients each waits for ---- */

/* Is 'id' this run or one around it on this thread? */
static bool engine_is_active(uint64_t id)
{
    for (run *r = current; r; r = r->outer)
        if (r->id == id) return true;
    return false;
}

/* A nested run meets a node of an outer one: the outer run's gradients and
** counters are kept aside until the nested run ends. */
static la_status stash_state(run *r, la_node *n)
{
    stash *s = la_mem_zalloc(sizeof(*s));
    size_t bytes = (size_t)n->noutputs * sizeof(la_tensor *);
    if (!s) return LA_ENOMEM;
    s->grads = la_mem_alloc(bytes);
    if (!s->grads) {
        la_mem_free(s, sizeof(*s));
        return LA_ENOMEM;
    }
    memcpy(s->grads, n->grads, bytes);
    memset(n->grads, 0, bytes);
    s->node = n;
    s->run = n->run;
    s->waiting = n->waiting;
    s->needed = n->needed;
    s->next = r->stashed;
    r->stashed = s;
    return LA_OK;
}

/* The node takes part in the run. With requested inputs, 'needed' is computed
** later. */
static la_status engine_reach(run *r, la_node *n)
{
    if (n->run == r->id) return LA_OK;
    if (n->run && engine_is_active(n->run)) LA_TRY(stash_state(r, n));
    LA_TRY(engine_push(&r->nodes, n));
    n->run = r->id;
    n->waiting = 0;
    n->needed = r->ninputs < 0;
    return LA_OK;
}

/* Breadth first over all edges; counts how many gradients each node waits
** for. */
static la_status reach_all(run *r)
{
    for (int64_t i = 0; i < r->nodes.n; i++) {
        la_node *n = r->nodes.list[i];
        for (int e = 0; e < n->nedges; e++) {
            la_node *child = n->edges[e].node;
            if (!child) continue;
            LA_TRY(engine_reach(r, child));
            child->waiting++;
        }
        if ((i & 4095) == 0) LA_TRY(la_poll());
    }
    return LA_OK;
}

/* Is the node one whose gradient was requested? */
static bool is_wanted(const run *r, const la_node *n)
{
    for (int i = 0; i < r->ninputs; i++)
        if (r->wanted[i].node == n) return true;
    return false;
}

/* With requested inputs, only nodes on a path to one of them run. A topological
** order (parents first, Kahn 1962) is built by counting 'waiting' down, then
** walked backwards, which restores the counters. */
static la_status mark_needed(run *r)
{
    node_list order;
    la_status status = LA_OK;
    engine_start_list(&order);
    for (int64_t i = 0; i < r->nodes.n && !status; i++)
        if (r->nodes.list[i]->waiting == 0)
            status = engine_push(&order, r->nodes.list[i]);
    for (int64_t i = 0; i < order.n && !status; i++)
        for (int e = 0; e < order.list[i]->nedges && !status; e++) {
            la_node *child = order.list[i]->edges[e].node;
            if (child && --child->waiting == 0) status =
                engine_push(&order, child);
        }
    for (int64_t i = order.n - 1; i >= 0 && !status; i--) {
        la_node *n = order.list[i];
        n->needed = is_wanted(r, n);
        for (int e = 0; e < n->nedges; e++) {
            la_node *child = n->edges[e].node;
            if (!child) continue;
            child->waiting++;
            n->needed = n->needed || child->needed;
        }
    }
    engine_free_list(&order);
    return status;
}

/* ---- gradients ---- */

/* Dense memory, no lazy bits, no history: it may be written or adopted. */
bool la_exclusive(const la_tensor *t)
{
    return atomic_load(&t->refs) == 1 && !t->base && t->storage
        && atomic_load(&t->storage->refs) == 1 && (t->flags & LA_F_DENSE)
        && !(t->flags & (LA_F_WRAPPED | LA_F_REQUIRES_GRAD | LA_F_CONJ
                         | LA_F_NEG));
}

static bool engine_same_shape(const la_output_meta *o, const la_tensor *t)
{
    return o->ndim == t->ndim
        && memcmp(o->sizes, la_sizes(t), o->ndim * sizeof(int64_t)) == 0;
}

/* *grad = by, when that succeeded. */
static la_status engine_replace(la_tensor **grad, la_status status,
                                la_tensor *by)
{
    if (status) return status;
    la_tensor_release(*grad);
    *grad = by;
    return LA_OK;
}

/* Dims of 'grad' that 'o' broadcast: in front, or of size 1. False when the
** shape does not fit at all. */
static bool engine_broadcast_dims(const la_output_meta *o,
                                  const la_tensor *grad, int64_t *dims, int *n)
{
    int lead = grad->ndim - o->ndim;
    *n = 0;
    if (lead < 0) return false;
    for (int d = 0; d < grad->ndim; d++) {
        int64_t size = la_sizes(grad)[d];
        int64_t want = d < lead ? 1 : o->sizes[d - lead];
        if (d >= lead && want == size) continue;
        if (d >= lead && want != 1) return false;
        dims[(*n)++] = d;
    }
    return true;
}

/* " at index 2", or nothing for 0. */
static const char *engine_index_text(int at, char text[32])
{
    text[0] = 0;
    if (at > 0) snprintf(text, 32, " at index %d", at);
    return text;
}

/* Sums 'grad' over the dims that broadcasting added or expanded. LA_EGRAD when
** the shapes don't fit: a custom function returned a wrong gradient. */
static la_status undo_broadcast(const la_output_meta *o, const char *name,
                                int at, la_tensor **grad)
{
    int64_t dims[LA_MAX_DIMS];
    int n;
    la_tensor *sum = NULL, *by = NULL;
    char have[256], want[256];
    char where[32];
    if (!engine_broadcast_dims(o, *grad, dims, &n))
        return la_error(LA_EGRAD, "%s returned an invalid gradient%s: got "
                        "shape %s but expected shape compatible with %s", name,
                        engine_index_text(at, where),
                        la_sizes_text((*grad)->ndim, la_sizes(*grad), have,
                                      sizeof(have)),
                        la_sizes_text(o->ndim, o->sizes, want, sizeof(want)));
    LA_TRY(la_run(sum, &sum, *grad, la_v_ints(dims, n), la_v_bool(true)));
    la_status status = la_run(reshape, &by, sum, la_v_ints(o->sizes, o->ndim));
    la_tensor_release(sum);
    return engine_replace(grad, status, by);
}

/* Device and shape first, then real from complex, then the dtype. */
la_status la_validate_grad(const la_output_meta *o, const char *name, int at,
                           la_tensor **grad)
{
    char where[32];
    la_tensor *by = NULL;
    la_dtype want = (la_dtype)o->dtype;
    if ((*grad)->device != o->device)
        return la_error(LA_EGRAD, "%s returned an invalid gradient%s: expected "
                        "device %s but got %s", name,
                            engine_index_text(at, where),
                        la_device_name((la_device)o->device),
                        la_device_name((la_device)(*grad)->device));
    if (!engine_same_shape(o, *grad)) LA_TRY(undo_broadcast(o, name, at, grad));
    if (la_is_complex((la_dtype)(*grad)->dtype) && !la_is_complex(want)) {
        la_status status = la_run(real, &by, *grad);
        LA_TRY(engine_replace(grad, status, by));
    }
    if ((la_dtype)(*grad)->dtype == want) return LA_OK;
    la_status status = la_run(astype, &by, *grad, la_v_dtype(want));
    return engine_replace(grad, status, by);
}

/* Adds 'grad' (consumed) to what has arrived: in place when nobody else can see
** that sum and nothing is recorded. */
static la_status arrive(la_tensor **slot, la_tensor *grad)
{
    la_status status = LA_OK;
    la_tensor *sum = NULL;
    if (!*slot) {
        *slot = grad;
        return LA_OK;
    }
    if (!la_grad_enabled() && la_exclusive(*slot)) {
        status = la_run_(add, *slot, grad);
    } else {
        status = la_run(add, &sum, *slot, grad);
        if (!status) {
            la_tensor_release(*slot);
            *slot = sum;
        }
    }
    la_tensor_release(grad);
    return status;
}

/* One gradient along its edge; what is left in *grad the caller releases. */
static la_status send_one(la_node *from, const la_edge *to, la_tensor **grad)
{
    la_tensor *g;
    if (!*grad || !to->node || !to->node->needed) return LA_OK;
    int at = (int)(to - from->edges) + 1;
    LA_TRY(la_validate_grad(&to->node->outputs[to->slot], la_node_name(from),
                            at, grad));
    g = *grad;
    *grad = NULL;
    return arrive(&to->node->grads[to->slot], g);
}

/* All gradients of a node; nodes that then wait for nothing become ready. */
static la_status send(run *r, la_node *n, la_tensor **out)
{
    for (int e = 0; e < n->nedges; e++) {
        la_node *to = n->edges[e].node;
        LA_TRY(send_one(n, &n->edges[e], &out[e]));
        if (to && --to->waiting == 0) LA_TRY(heap_push(&r->ready, to));
    }
    return LA_OK;
}

/* A hook may remove any hook, itself too, so the list is searched again after
** each; ids ascend along it. */
static la_status run_hooks(la_node *n)
{
    const la_hook *h;
    for (int64_t at = 0; (h = la_hooks_after(n->hooks, at));) {
        la_tensor *other = NULL;
        int slot = h->slot;
        at = h->id;
        if (!n->grads[slot] || h->after) continue;
        LA_TRY(h->run(h->context, n->grads[slot], &other));
        if (!other) continue;
        la_tensor_release(n->grads[slot]);
        n->grads[slot] = other;
    }
    return LA_OK;
}

/* Requested gradients are taken before the node runs, after its hooks. */
static void capture(run *r, la_node *n)
{
    for (int i = 0; i < r->ninputs; i++) {
        if (r->wanted[i].node != n) continue;
        la_tensor *g = n->grads[r->wanted[i].slot];
        if (g && !r->captured[i]) r->captured[i] = la_tensor_retain(g);
    }
}

/* Without any gradient the node need not run: its inputs get none either. */
static bool has_gradient(const la_node *n)
{
    for (int k = 0; k < n->noutputs; k++)
        if (n->grads[k]) return true;
    return false;
}

/* Anomaly mode: the error says where the failing operation was recorded. */
static void add_trace(la_status status, const char *trace)
{
    char text[512];
    snprintf(text, sizeof(text), "%s", la_error_message());
    la_error(status, "%s\nthe operation was called here:\n%s", text, trace);
}

/* Does any element equal NaN? */
static la_status has_nan(la_tensor *t, bool *yes)
{
    la_tensor *nan = NULL;
    la_value r[LA_MAX_RESULTS];
    *yes = false;
    LA_TRY(la_run(isnan, &nan, t));
    la_status status = la_run_many(any, r, nan);
    la_tensor_release(nan);
    if (!status) *yes = r[0].b;
    return status;
}

/* Anomaly mode: LA_EGRAD naming the operation whose formula produced NaN. */
static la_status check_nan(la_node *n, la_tensor **out)
{
    bool yes;
    for (int e = 0; e < n->nedges; e++) {
        if (!out[e] || out[e]->device != LA_CPU) continue;
        LA_TRY(has_nan(out[e], &yes));
        if (yes)
            return la_error(LA_EGRAD, "the derivative of %s has NaN values in "
                            "the gradient of input %d", la_node_name(n), e + 1);
    }
    return LA_OK;
}

/* Hooks, capture, the node's own computation; its saved values are freed at
** once unless the graph is retained. */
static la_status engine_compute(run *r, la_node *n, la_tensor **out)
{
    if (!n->needed || !has_gradient(n)) return LA_OK;
    LA_TRY(run_hooks(n));
    bool leaf = la_is_accumulator(n);
    if (leaf) LA_TRY(la_run_leaf_hooks(n));
    if (r->ninputs >= 0) capture(r, n);
    if (leaf && r->ninputs >= 0 && !(r->flags & LA_BW_ACCUMULATE))
        return LA_OK;
    la_status status = n->class->run(n, n->grads, out);
    if (!status && la_anomaly_on()) status = check_nan(n, out);
    if (status && n->trace) add_trace(status, n->trace);
    if (!status && !leaf && !(r->flags & LA_BW_RETAIN_GRAPH)
        && n->class->clear) n->class->clear(n);
    return status;
}

/* Edges of most nodes: their gradients need no allocation. */
#define FEW 16

/* One node: compute, drop what arrived, send what came out. */
static la_status engine_run_one(run *r, la_node *n)
{
    la_tensor *few[FEW] = {NULL}, **out = few;
    size_t bytes = (size_t)n->nedges * sizeof(*out);
    if (n->nedges > FEW && !(out = la_mem_zalloc(bytes))) return LA_ENOMEM;
    la_status status = engine_compute(r, n, out);
    for (int k = 0; k < n->noutputs; k++) la_tensor_drop(&n->grads[k]);
    if (!status) status = send(r, n, out);
    for (int e = 0; e < n->nedges; e++) la_tensor_drop(&out[e]);
    if (out != few) la_mem_free(out, bytes);
    return status;
}

static la_status run_node(run *r, la_node *n)
{
    la_observed call;
    const char *name = la_node_name(n);
    la_node_verify(n);
    if (__builtin_expect(!la_ctx()->observed, 1)) return engine_run_one(r, n);
    la_observe_begin(&call, LA_OBSERVED_NODE, name, strlen(name), n->sequence);
    la_status status = engine_run_one(r, n);
    la_observe_end(&call);
    return status;
}

/* An accumulator that could adopt the gradient if it alone held it. */
static bool may_wait(const run *r, la_node *n)
{
    return la_is_accumulator(n) && n->needed && r->ninputs < 0
        && la_accumulator_waits(n);
}

/* Until the heap is empty; then the accumulators that were postponed because
** others held their gradient too, which then need no copy. */
static la_status engine_run_all(run *r)
{
    for (int64_t i = 0; i < r->nodes.n; i++)
        if (r->nodes.list[i]->waiting == 0)
            LA_TRY(heap_push(&r->ready, r->nodes.list[i]));
    while (r->ready.n > 0) {
        LA_TRY(la_poll());
        la_node *n = heap_pop(&r->ready);
        LA_TRY(may_wait(r, n) ? engine_push(&r->last, n) : run_node(r, n));
    }
    for (int64_t i = 0; i < r->last.n; i++)
        LA_TRY(run_node(r, r->last.list[i]));
    return LA_OK;
}

/* ---- the call ---- */

/* The gradient of root k: as given, or ones for a root of one element. */
static la_status seed_root(int k, la_tensor *root, la_tensor *seed,
                           la_tensor **out)
{
    if (seed) {
        if (la_same_sizes(seed, root)) return la_tensor_same(seed, out);
        char a[256], b[256];
        return la_error(LA_ESHAPE, "Mismatch in shape: grad_output[%d] has a "
                        "shape of %s and output[%d] has a shape of %s", k + 1,
                        la_sizes_text(seed->ndim, la_sizes(seed), a, 256),
                        k + 1,
                        la_sizes_text(root->ndim, la_sizes(root), b, 256));
    }
    if (root->numel != 1)
        return la_error(LA_EGRAD, "grad can be implicitly created only for "
                        "scalar outputs; give the gradient as an argument");
    return la_run(ones_like, out, root);
}

/* Puts the seed of root k at its node. 'edge' is owned by the caller. */
static la_status add_root(run *r, int k, la_tensor *root, la_tensor *seed,
                          la_edge *edge)
{
    la_tensor *grad = NULL;
    LA_TRY(la_gradient_edge(root, edge));
    if (!edge->node)
        return la_error(LA_EGRAD, "element %d of tensors does not require grad "
                        "and does not have a grad_fn", k + 1);
    LA_TRY(seed_root(k, root, seed, &grad));
    la_status status = engine_reach(r, edge->node);
    if (!status)
        status = la_validate_grad(&edge->node->outputs[edge->slot], "the root",
                                  0, &grad);
    if (status) {
        la_tensor_release(grad);
        return status;
    }
    return arrive(&edge->node->grads[edge->slot], grad);
}

/* Restores in the reverse order of stashing. */
static void restore_stashed(run *r)
{
    while (r->stashed) {
        stash *s = r->stashed;
        size_t bytes = (size_t)s->node->noutputs * sizeof(la_tensor *);
        r->stashed = s->next;
        memcpy(s->node->grads, s->grads, bytes);
        s->node->run = s->run;
        s->node->waiting = s->waiting;
        s->node->needed = s->needed;
        la_mem_free(s->grads, bytes);
        la_mem_free(s, sizeof(*s));
    }
}

/* Also after an error: drops what has arrived and restores outer runs. */
static void end_run(run *r)
{
    for (int64_t i = 0; i < r->nodes.n; i++) {
        la_node *n = r->nodes.list[i];
        for (int k = 0; k < n->noutputs; k++) la_tensor_drop(&n->grads[k]);
    }
    restore_stashed(r);
    engine_free_list(&r->nodes);
    engine_free_list(&r->ready);
    engine_free_list(&r->last);
}

/* The edges of the requested inputs; LA_EGRAD for one that needs no
** gradient. */
static la_status want_inputs(run *r, int n, la_tensor **inputs)
{
    for (int i = 0; i < n; i++) {
        LA_TRY(la_gradient_edge(inputs[i], &r->wanted[i]));
        if (!r->wanted[i].node)
            return la_error(LA_EGRAD, "input %d does not require grad", i + 1);
    }
    return LA_OK;
}

/* Reach, mark, run. */
static la_status run_graph(run *r, int nroots, la_tensor **roots,
                           la_tensor **seeds, la_edge *edges)
{
    for (int k = 0; k < nroots; k++)
        LA_TRY(add_root(r, k, roots[k], seeds ? seeds[k] : NULL, &edges[k]));
    LA_TRY(reach_all(r));
    if (r->ninputs >= 0) LA_TRY(mark_needed(r));
    return engine_run_all(r);
}

/* LA_EGRAD for a requested input that the graph does not contain. */
static la_status check_used(const run *r)
{
    if (r->flags & (LA_BW_ALLOW_UNUSED | LA_BW_ACCUMULATE)) return LA_OK;
    for (int i = 0; i < r->ninputs; i++)
        if (!r->captured[i])
            return la_error(LA_EGRAD, "One of the differentiated Tensors "
                            "(number %d) appears to not have been used in the "
                            "graph. Set allow_unused = true if this is the "
                            "desired behavior.", i + 1);
    return LA_OK;
}

/* Nested runs use the C stack; they are limited. */
static int depth_of_runs(void)
{
    int n = 0;
    for (run *r = current; r; r = r->outer) n++;
    return n;
}

/* The lists of the run are part of this frame until they outgrow it, so that
** small graphs allocate nothing. */
la_status la_run_backward(int nroots, la_tensor **roots, la_tensor **seeds,
                          int ninputs, la_tensor **inputs, la_tensor **out,
                          uint32_t flags)
{
    if (depth_of_runs() >= 100)
        return la_error(LA_EGRAD, "stack overflow: backward inside backward, "
                        "100 deep");
    if (flags & LA_BW_CREATE_GRAPH) flags |= LA_BW_RETAIN_GRAPH;
    int nedges = nroots + ninputs;
    la_edge few[FEW] = {{NULL, 0}}, *edges = few;
    size_t bytes = (size_t)nedges * sizeof(la_edge);
    if (nedges > FEW && !(edges = la_mem_zalloc(bytes))) return LA_ENOMEM;
    run r;
    r.id = atomic_fetch_add(&next_run, 1);
    r.flags = flags;
    r.stashed = NULL;
    r.ninputs = inputs ? ninputs : -1;
    r.wanted = edges + nroots;
    r.captured = out;
    r.outer = current;
    for (int i = 0; i < ninputs && out; i++) out[i] = NULL;
    bool grad = la_switch_grad((flags & LA_BW_CREATE_GRAPH) != 0);
    engine_start_list(&r.nodes);
    engine_start_list(&r.ready);
    engine_start_list(&r.last);
    current = &r;
    la_status status = want_inputs(&r, inputs ? ninputs : 0, inputs);
    if (!status) status = run_graph(&r, nroots, roots, seeds, edges);
    end_run(&r);
    current = r.outer;
    la_switch_grad(grad);
    if (!status && la_ctx()->recorder) la_grad_watched.ran(flags);
    if (!status) status = check_used(&r);
    for (int i = 0; status && i < ninputs && out; i++) la_tensor_drop(&out[i]);
    for (int i = 0; i < nedges; i++) la_node_release(edges[i].node);
    if (edges != few) la_mem_free(edges, bytes);
    return status;
}

/* ---- names and anomaly mode ---- */

const char *la_node_name(const la_node *n)
{
    return n ? la_op_node_name(n) : "";
}

bool la_anomaly_on(void) { return la_ctx()->where != NULL; }
char *la_anomaly_where(void)
{
    la_context *c = la_ctx();
    return c->where ? c->where(c) : NULL;
}
