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
#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "grad/graph.h"
#include "op/call.h"
#include "tensor/shape.h"

/*
** A tensor and the memory that it shows. The memory is taken as one flat tensor
** of the storage's length; where a view and its root have different dtypes
** (real, imag, view_as_real, view_as_complex) it is one of real numbers, and a
** complex tensor lies in it with a last dim for its two parts.
*/
typedef struct side {
    la_geometry g;
    bool pairs;                 /* complex, seen as pairs of real numbers */
    bool conj, neg;             /* lazy bits: memory holds the opposite */
} side;

typedef struct part {
    side view, root;
    int64_t numel;              /* elements of the whole storage */
    bool overlaps;              /* the view reaches an element twice */
} part;

static la_status side_of(const la_tensor *t, bool pairs, side *s)
{
    la_geometry_of(t, &s->g);
    s->pairs = pairs && la_is_complex((la_dtype)t->dtype);
    s->conj = (t->flags & LA_F_CONJ) != 0;
    s->neg = (t->flags & LA_F_NEG) != 0;
    if (!s->pairs) return LA_OK;
    if (s->g.ndim == LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "a complex tensor of %d dims that shares "
                        "its memory with a real one has no gradient",
                        LA_MAX_DIMS);
    for (int d = 0; d < s->g.ndim; d++) s->g.strides[d] *= 2;
    s->g.sizes[s->g.ndim] = 2;
    s->g.strides[s->g.ndim++] = 1;
    s->g.offset *= 2;
    return LA_OK;
}

static la_status view_history_part_of(const la_tensor *view,
                                      const la_tensor *root, part *p)
{
    bool pairs = view->dtype != root->dtype;
    int64_t item = (int64_t)la_itemsize(view);
    int64_t other = (int64_t)la_itemsize(root);
    LA_TRY(side_of(view, pairs, &p->view));
    LA_TRY(side_of(root, pairs, &p->root));
    p->numel = view->storage->nbytes / (item < other ? item : other);
    p->overlaps = la_internal_overlap(view) != LA_OVERLAP_NO;
    return LA_OK;
}

/* The part of flat 't' that 'g' describes. */
static la_status strided(la_tensor *t, const la_geometry *g, la_tensor **out)
{
    return la_run(as_strided, out, t, la_v_ints(g->sizes, g->ndim),
                  la_v_ints(g->strides, g->ndim), g->offset);
}

/* A gradient of values as one of what memory holds, and the other way round:
** conjugating and negating undo themselves. Borrows 'g'. */
static la_status through_bits(const side *s, la_tensor *g, la_tensor **out)
{
    LA_OWNED lazy = NULL;
    LA_OWNED plain = NULL;
    if (s->conj) {
        LA_TRY(la_run(conj, &lazy, g));
        LA_TRY(la_run(resolve_conj, &plain, lazy));
    } else {
        plain = la_tensor_retain(g);
    }
    if (s->neg) return la_run(neg, out, plain);
    return la_tensor_same(plain, out);
}

/* A gradient of the tensor's values as numbers that lie in memory as s->g. */
static la_status to_memory(const side *s, la_tensor *g, la_tensor **out)
{
    if (!s->pairs) return through_bits(s, g, out);
    LA_LET(plain, through_bits(s, g, &plain));
    LA_LET(resolved, la_run(resolve_conj, &resolved, plain));
    return la_run(view_as_real, out, resolved);
}

/* Contents of memory at s->g of 'flat', as a gradient of the tensor's
** values. */
static la_status from_memory(const side *s, la_tensor *flat, la_tensor **out)
{
    LA_LET(lines, strided(flat, &s->g, &lines));
    if (!s->pairs) return through_bits(s, lines, out);
    LA_LET(packed, la_run(contiguous, &packed, lines));
    LA_LET(whole, la_run(view_as_complex, &whole, packed));
    return through_bits(s, whole, out);
}

/* Positions (from 1) in the storage of a side's elements, flat. */
static la_status view_history_positions(const side *s, int64_t numel,
                                        la_tensor **out)
{
    int64_t flat = -1;
    LA_LET(all, la_run(arange_start, &all, la_scalar_int(1),
                       la_scalar_int(numel + 1)));
    LA_LET(some, strided(all, &s->g, &some));
    return la_run(reshape, out, some, la_v_ints(&flat, 1));
}

/* 'flat' with 'lines' at side s. */
static la_status view_history_put(la_tensor *flat, const side *s,
                                  la_tensor *lines, la_tensor **out)
{
    return la_run(as_strided_scatter, out, flat, lines,
        la_v_ints(s->g.sizes, s->g.ndim), la_v_ints(s->g.strides, s->g.ndim),
        s->g.offset);
}

/* Elements that are reached twice get the sum. */
static la_status put_sums(la_tensor *flat, const side *s, int64_t numel,
                          la_tensor *lines, la_tensor **out)
{
    int64_t all = -1;
    LA_LET(at, view_history_positions(s, numel, &at));
    LA_LET(line, la_run(reshape, &line, lines, la_v_ints(&all, 1)));
    return la_run(index_add, out, flat, 0, at, line);
}

/* A flat tensor of the storage's length, zero but for 'grad' at side 's'. */
static la_status expand_to_storage(const part *p, const side *s, bool overlaps,
                                   la_tensor *grad, la_tensor **out)
{
    LA_LET(lines, to_memory(s, grad, &lines));
    LA_LET(flat, la_run(zeros, &flat, la_v_ints(&p->numel, 1),
                        la_v_dtype((la_dtype)lines->dtype)));
    return overlaps ? put_sums(flat, s, p->numel, lines, out)
                    : view_history_put(flat, s, lines, out);
}

/* ---- a view as a part of its root's storage ---- */

/* The gradient of the root from that of its view. */
static la_status run_view(la_node *n, la_tensor **grads, la_tensor **out)
{
    part *p = la_node_extra(n);
    LA_LET(flat, expand_to_storage(p, &p->view, p->overlaps, grads[0], &flat));
    return from_memory(&p->root, flat, &out[0]);
}

static const la_node_class class_view = {"AsStridedBackward", run_view, NULL,
                                         NULL, NULL};

/* A node for the view's part of 'of', with an edge to that. */
static la_status view_node(la_tensor *t, la_tensor *of, la_node **out)
{
    la_node *n;
    LA_TRY(la_node_new(&class_view, 1, 1, sizeof(part), &n));
    la_status status = view_history_part_of(t, of, la_node_extra(n));
    if (!status) status = la_node_output(n, 0, t);
    if (!status) status = la_gradient_edge(of, &n->edges[0]);
    if (status) {
        la_node_release(n);
        return status;
    }
    *out = n;
    return LA_OK;
}

la_status la_view_history(la_tensor *view, la_tensor *of)
{
    la_node *n;
    LA_TRY(view_node(view, of, &n));
    la_status status = la_set_history(view, n, 0);
    la_node_release(n);
    return status;
}

/* The view or its root was given other memory (set_data): what is written to
** one of them is not seen in the other. */
static bool is_parted(const la_tensor *t)
{
    return t->storage != t->base->storage;
}

/* The history of the root would leave out the function's own backward. */
static la_status refuse_custom(const char *how)
{
    return la_error(LA_EGRAD, "a view that a custom function (la.Function, "
                    "la.checkpoint) returned can't be %s: its gradient would "
                    "miss the function's backward. Return a clone() from "
                    "forward", how);
}

/* Every question on the history of a tensor goes through this first: a view
** whose storage was written since it was made, or since it was last asked,
** gets the history that its root has now. Nothing for other tensors. */
static la_status refresh_history(la_tensor *t)
{
    /* A root that was detached in place has no history, and gives none to the
    ** elements that were written since. */
    uint32_t flags = t->base ? t->flags | t->base->flags : 0;
    if (!(flags & LA_F_REQUIRES_GRAD) || (flags & LA_F_NO_HISTORY)
        || t->seen_version == la_tensor_version(t))
        return LA_OK;
    if (t->grad && t->grad->requires_grad) return LA_OK;    /* a leaf now */
    if (t->flags & LA_F_CUSTOM_VIEW) return refuse_custom("used after "
                    "its memory was changed in place");
    if (is_parted(t))
        return la_error(LA_EGRAD, "a view has no gradient any more: it or the "
                        "tensor that it was made of was given other data "
                        "(set_data) and one of them was written; make the "
                        "view after that");
    return la_view_history(t, t->base);
}

la_status la_grad_fn_of(la_tensor *t, la_node **out, int *slot)
{
    *out = NULL;
    *slot = 0;
    LA_TRY(refresh_history(t));
    if (!t->grad) return LA_OK;
    *out = t->grad->fn;
    *slot = t->grad->slot;
    return LA_OK;
}

/* ---- a root written through a view ---- */

typedef struct slices {
    part p;
    la_node *fn;                /* owned: the operation that wrote the view */
} slices;

/* The gradient before 'fn' wrote: 'flat' of what it left, 'inside' of the view;
** parts are those of fn's inputs, the first of them of the view as it was. */
static la_status through_write(slices *s, la_tensor *flat, la_tensor **parts,
                               la_tensor **before)
{
    LA_LET(inside, from_memory(&s->p.view, flat, &inside));
    LA_TRY(s->fn->class->run(s->fn, &inside, parts));
    if (!parts[0]) LA_TRY(la_run(zeros_like, &parts[0], inside));
    LA_TRY(la_validate_grad(&s->fn->outputs[0], "CopySlices", 0,
                            &parts[0]));
    LA_LET(lines, to_memory(&s->p.view, parts[0], &lines));
    return view_history_put(flat, &s->p.view, lines, before);
}

/* Gradients of the root: outside the view they pass, inside they go through
** 'fn'; its other inputs get theirs from there. */
static la_status run_slices(la_node *n, la_tensor **grads, la_tensor **out)
{
    slices *s = la_node_extra(n);
    LA_OWNED before = NULL;
    la_tensor *parts[LA_MAX_EDGES] = {NULL};
    LA_LET(flat, expand_to_storage(&s->p, &s->p.root, false, grads[0], &flat));
    la_status status = through_write(s, flat, parts, &before);
    if (!status) status = from_memory(&s->p.root, before, &out[0]);
    for (int i = 1; i < n->nedges && i < LA_MAX_EDGES; i++) out[i] = parts[i];
    la_tensor_drop(&parts[0]);
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

static void visit_slices(const la_node *n, la_visitor *v)
{
    const slices *s = la_node_extra((la_node *)n);
    if (s->fn) v->node(v, s->fn);
}

static const la_node_class class_slices = {"CopySlices", run_slices,
                                           clear_slices, destroy_slices,
                                           visit_slices};

const la_node *la_slices_inner(const la_node *n)
{
    return n->class != &class_slices ? NULL
        : ((const slices *)la_node_extra((la_node *)n))->fn;
}

la_node *la_slices_around(const la_tensor *t, const la_node *n)
{
    la_node *fn = t->base && t->base->grad ? t->base->grad->fn : NULL;
    bool around = fn && fn->class == &class_slices
        && ((slices *)la_node_extra(fn))->fn == n;
    return around ? fn : NULL;
}

la_status la_written_result(la_node *s, la_tensor *data, la_tensor **out)
{
    la_node *n;
    LA_TRY(la_node_new(&class_view, 1, 1, sizeof(part), &n));
    *(part *)la_node_extra(n) = ((slices *)la_node_extra(s))->p;
    n->edges[0] = (la_edge){la_node_retain(s), 0};
    la_status status = la_node_output(n, 0, data);
    if (!status) status = la_tensor_alias(data, false, out);
    if (!status) {
        status = la_set_history(*out, n, 0);
        if (status) la_tensor_drop(out);
    }
    la_node_release(n);
    return status;
}

/* The node takes over fn's edges but the first, which led to the view. */
static la_status slices_node(la_tensor *view, la_node *fn, la_node **out)
{
    la_node *n;
    if (fn->nedges > LA_MAX_EDGES)
        return la_error(LA_EGRAD, "an operation with more than %d inputs "
                        "can't write a view while recording", LA_MAX_EDGES);
    LA_TRY(la_node_new(&class_slices, fn->nedges, 1, sizeof(slices), &n));
    slices *s = la_node_extra(n);
    s->fn = la_node_retain(fn);
    for (int i = 1; i < fn->nedges; i++) {
        n->edges[i] = fn->edges[i];
        if (n->edges[i].node) la_node_retain(n->edges[i].node);
    }
    la_status status = view_history_part_of(view, view->base, &s->p);
    if (!status) status = la_node_output(n, 0, view->base);
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
    t->flags |= LA_F_REQUIRES_GRAD;
    t->seen_version = la_tensor_version(t) - 1;    /* made anew when asked */
    return LA_OK;
}

/* A tensor created with requires_grad has only the flag. */
static bool is_trained_leaf(const la_tensor *t)
{
    if (!t->grad) return !t->base && (t->flags & LA_F_REQUIRES_GRAD);
    return t->grad->requires_grad && !t->grad->fn;
}

/* The view itself is asked about before its base: the first message that fits
** tells most about what to change. */
la_status la_check_inplace(la_tensor *t)
{
    if (is_trained_leaf(t))
        return la_error(LA_EGRAD, "a leaf Variable that requires grad is being "
                        "used in an in-place operation.");
    if (!t->base) return LA_OK;
    if (t->flags & LA_F_CUSTOM_VIEW)
        return refuse_custom("changed in place while recording");
    if (t->flags & LA_F_NO_GRAD_VIEW)
        return la_error(LA_EGRAD, "A view was created in no_grad mode and is "
                        "being modified inplace with grad mode enabled. Make "
                        "the view and change it either both inside of no_grad "
                        "or both outside");
    if (t->flags & LA_F_MULTI_VIEW)
        return la_error(LA_EGRAD, "a view that is one of several results "
                        "(split, unbind, chunk) can't be changed in place "
                        "while recording; clone() it first");
    if (is_parted(t))
        return la_error(LA_EGRAD, "a view can't be changed in place while "
                        "recording when it or the tensor that it was made of "
                        "was given other data (set_data); make the view after "
                        "that");
    if (t->grad && t->grad->fn && !(t->base->flags & LA_F_REQUIRES_GRAD))
        return la_error(LA_EGRAD, "a view can't be changed in place while "
                        "recording when the tensor that it was made of was "
                        "detached in place (detach_)");
    if (is_trained_leaf(t->base))
        return la_error(LA_EGRAD, "a view of a leaf Variable that requires "
                        "grad is being used in an in-place operation.");
    return LA_OK;
}
