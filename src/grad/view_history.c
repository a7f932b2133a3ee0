/*
** In-place changes of views, and views of tensors that were changed.
**
** A view shares its root's storage, so a change through one is a change of the
** other. When a view is written, the root's history becomes a CopySlices node:
** gradients of elements outside of the view pass it, those inside go through
** the operation that wrote. A view whose root has changed since gets a new
** history on demand: the strided part of the root's (AsStridedBackward). Both
** are named after PyTorch's.
*/
#include "base/context.h"
#include "base/memory.h"
#include "grad/graph.h"
#include "tensor/shape.h"

/* The geometry of a view and of its root, in elements of the storage. */
typedef struct part {
    la_geometry view, root;
    int64_t numel;              /* elements of the whole storage */
    bool overlaps;
} part;

/* 'overlaps': several elements of the view share memory (expand, unfold). */
static void part_of(const la_tensor *view, const la_tensor *root, part *p)
{
    la_geometry_of(view, &p->view);
    la_geometry_of(root, &p->root);
    p->numel = view->storage->nbytes / (int64_t)la_itemsize(view);
    p->overlaps = la_internal_overlap(view) != LA_OVERLAP_NO;
}

/* The part of flat 't' that 'g' describes. */
static la_status strided(la_tensor *t, const la_geometry *g, la_tensor **out)
{
    return la_run(as_strided, out, LA_T(t), LA_IS(g->sizes, g->ndim),
                  LA_IS(g->strides, g->ndim), LA_I(g->offset));
}

/* Positions (from 1) in the storage of the view's elements, flat. */
static la_status positions(const la_geometry *g, int64_t numel,
                           la_tensor **out)
{
    la_tensor *all = NULL, *some = NULL;
    la_status status = la_run(arange_start, &all, LA_S(la_scalar_int(1)),
                              LA_S(la_scalar_int(numel + 1)));
    if (!status) status = strided(all, g, &some);
    int64_t flat = -1;
    if (!status) status = la_run(reshape, out, LA_T(some), LA_IS(&flat, 1));
    la_tensor_drop(&all);
    la_tensor_drop(&some);
    return status;
}

/* A flat tensor of the storage's length with 'grad' added at the view. */
static la_status into_storage(const part *p, la_tensor *grad, la_tensor **out)
{
    la_tensor *flat = NULL, *at = NULL, *line = NULL;
    int64_t all = -1;
    la_status status = la_run(zeros, &flat, LA_IS(&p->numel, 1),
                              LA_DT((la_dtype)grad->dtype));
    if (!status && !p->overlaps)
        status = la_run(as_strided_scatter, out, LA_T(flat), LA_T(grad),
                        LA_IS(p->view.sizes, p->view.ndim),
                        LA_IS(p->view.strides, p->view.ndim),
                        LA_I(p->view.offset));
    if (!status && p->overlaps) {
        status = positions(&p->view, p->numel, &at);
        if (!status)
            status = la_run(reshape, &line, LA_T(grad), LA_IS(&all, 1));
        if (!status)
            status = la_run(index_add, out, LA_T(flat), LA_I(0), LA_T(at),
                            LA_T(line));
    }
    la_tensor_drop(&flat);
    la_tensor_drop(&at);
    la_tensor_drop(&line);
    return status;
}

/* ---- the strided part of a root ---- */

/* The gradient of the root from that of its view. */
static la_status run_view(la_node *n, la_tensor **grads, la_tensor **out)
{
    part *p = la_node_extra(n);
    la_tensor *flat = NULL;
    LA_TRY(into_storage(p, grads[0], &flat));
    la_status status = strided(flat, &p->root, &out[0]);
    la_tensor_release(flat);
    return status;
}

static const la_node_class class_view = {"AsStridedBackward", run_view, NULL,
                                         NULL};

/* A node for the view's part of its root, with an edge to the root. */
static la_status view_node(la_tensor *t, la_node **out)
{
    la_node *n;
    LA_TRY(la_node_new(&class_view, 1, 1, sizeof(part), &n));
    part_of(t, t->base, la_node_extra(n));
    la_status status = la_node_output(n, 0, t);
    if (!status) status = la_gradient_edge(t->base, &n->edges[0]);
    if (status) {
        la_node_release(n);
        return status;
    }
    *out = n;
    return LA_OK;
}

la_status la_view_history(la_tensor *view)
{
    la_node *n;
    LA_TRY(view_node(view, &n));
    la_status status = la_set_history(view, n, 0);
    la_node_release(n);
    return status;
}

/* A view is stale when its root's version has moved on. */
la_status la_grad_fn_of(la_tensor *t, la_node **out, int *slot)
{
    la_grad_meta *m = t->grad;
    *out = NULL;
    *slot = 0;
    if (!m) return LA_OK;
    bool stale = t->base && la_requires_grad(t->base)
        && m->version != la_version(t);
    if (stale) LA_TRY(la_view_history(t));
    *out = m->fn;
    *slot = m->slot;
    return LA_OK;
}

/* ---- a root written through a view ---- */

typedef struct slices {
    part p;
    la_node *fn;                /* owned: the operation that wrote the view */
} slices;

/* Gradients of the root: outside the view they pass, inside they go through
** 'fn'; its other inputs get theirs from there. */
static la_status run_slices(la_node *n, la_tensor **grads, la_tensor **out)
{
    slices *s = la_node_extra(n);
    part whole = s->p;
    whole.view = s->p.root;
    whole.overlaps = false;
    la_tensor *flat = NULL, *inside = NULL, *rest = NULL, *zero = NULL;
    la_tensor *parts[LA_MAX_EDGES] = {NULL};
    la_status status = into_storage(&whole, grads[0], &flat);
    if (!status) status = strided(flat, &s->p.view, &inside);
    if (!status) status = s->fn->class->run(s->fn, &inside, parts);
    if (!status && !parts[0]) {
        status = la_run(zeros_like, &zero, LA_T(inside));
        parts[0] = zero;
    }
    if (!status && parts[0])
        status = la_validate_grad(&s->fn->outputs[0], "CopySlices", &parts[0]);
    if (!status)
        status = la_run(as_strided_scatter, &rest, LA_T(flat), LA_T(parts[0]),
                        LA_IS(s->p.view.sizes, s->p.view.ndim),
                        LA_IS(s->p.view.strides, s->p.view.ndim),
                        LA_I(s->p.view.offset));
    if (!status) status = strided(rest, &s->p.root, &out[0]);
    for (int i = 1; i < n->nedges && i < LA_MAX_EDGES; i++) {
        out[i] = parts[i];
        parts[i] = NULL;
    }
    la_tensor_drop(&parts[0]);
    la_tensor_drop(&flat);
    la_tensor_drop(&inside);
    la_tensor_drop(&rest);
    return status;
}

/* Saved values of the operation that wrote. */
static void clear_slices(la_node *n)
{
    slices *s = la_node_extra(n);
    if (s->fn && s->fn->class->clear) s->fn->class->clear(s->fn);
}

static void destroy_slices(la_node *n)
{
    slices *s = la_node_extra(n);
    la_node_release(s->fn);
}

static const la_node_class class_slices = {"CopySlices", run_slices,
                                           clear_slices, destroy_slices};

/* The node takes over fn's edges but the first, which led to the view. */
static la_status slices_node(la_tensor *view, la_node *fn, la_node **out)
{
    la_node *n;
    if (fn->nedges > LA_MAX_EDGES)
        return la_error(LA_EGRAD, "an operation with more than %d inputs "
                        "can't write a view while recording", LA_MAX_EDGES);
    LA_TRY(la_node_new(&class_slices, fn->nedges, 1, sizeof(slices), &n));
    slices *s = la_node_extra(n);
    part_of(view, view->base, &s->p);
    s->fn = la_node_retain(fn);
    for (int i = 1; i < fn->nedges; i++) {
        n->edges[i] = fn->edges[i];
        if (n->edges[i].node) la_node_retain(n->edges[i].node);
    }
    la_status status = la_node_output(n, 0, view->base);
    if (!status) status = la_gradient_edge(view->base, &n->edges[0]);
    if (status) {
        la_node_release(n);
        return status;
    }
    *out = n;
    return LA_OK;
}

/* A root takes the node itself; a view makes its root's history a
** CopySlices. */
la_status la_rebase_history(la_tensor *t, la_node *n, int slot)
{
    if (!t->base) return la_set_history(t, n, slot);
    la_node *s = NULL;
    LA_TRY(slices_node(t, n, &s));
    la_status status = la_set_history(t->base, s, 0);
    la_node_release(s);
    LA_TRY(status);
    la_grad_meta *m;
    LA_TRY(la_meta_of(t, &m));
    t->flags |= LA_F_REQUIRES_GRAD;
    m->version = la_version(t) - 1;     /* stale: rebuilt on demand */
    return LA_OK;
}

/* A tensor created with requires_grad has only the flag. */
static bool is_trained_leaf(const la_tensor *t)
{
    if (!t->grad) return !t->base && (t->flags & LA_F_REQUIRES_GRAD);
    return t->grad->requires_grad && !t->grad->fn;
}

la_status la_check_inplace(la_tensor *t)
{
    if (is_trained_leaf(t))
        return la_error(LA_EGRAD, "a leaf Variable that requires grad is being "
                        "used in an in-place operation.");
    if (!t->base) return LA_OK;
    if (is_trained_leaf(t->base))
        return la_error(LA_EGRAD, "a view of a leaf Variable that requires "
                        "grad is being used in an in-place operation.");
    if (t->grad && t->grad->creation == LA_CREATED_MULTI)
        return la_error(LA_EGRAD, "a view that is one of several results "
                        "(split, unbind, chunk) can't be changed in place "
                        "while recording; clone() it first");
    return LA_OK;
}
