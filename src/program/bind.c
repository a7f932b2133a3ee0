/*
** Binding: which tensor each view is in a run.
**
** A slot has a base, a tensor whose storage its views show. Bases of arguments
** and objects come at the entry; of made slots in the arena once for all; of
** new ones when their step runs. A view is the base itself, or its form shown
** on the base's storage.
*/
#include "program/bind.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "grad/graph.h"
#include "tensor/names.h"

static size_t bind_views_bytes(const la_prog *p)
{
    return ((size_t)p->views.n + 1) * sizeof(la_tensor *);
}

static size_t bind_slots_bytes(const la_prog *p)
{
    return ((size_t)p->slots.n + 1) * sizeof(la_tensor *);
}

/* ---- slots ---- */

/* Shows all views of the slot the memory of 'base'. A view that is a whole
** tensor of somebody's is that tensor itself, so that version counters and
** history stay one. The error can come from objects alone: a host may give one
** that begins elsewhere than in the recording. */
la_status la_bind_slot(la_prog *p, int32_t slot, la_tensor *base)
{
    const la_prog_slot *s = la_prog_slot_at(p, slot);
    int64_t origin = s->kind == LA_SLOT_OBJECT
        ? base->offset * (int64_t)la_itemsize(base) : 0;
    for (int32_t i = s->views; i >= 0; i = la_prog_view_at(p, i)->next) {
        la_prog_view *v = la_prog_view_at(p, i);
        if (v->whole) {
            p->bind->tensors[i] = base;
            continue;
        }
        int64_t at = origin + v->bytes, item = (int64_t)la_itemsize(v->form);
        if (at < 0 || at % item)
            return la_error(LA_EALIAS, "a view of another dtype would begin "
                            "inside of an element");
        la_tensor_show(v->form, base->storage, at / item);
        la_tensor_count_as(v->form, base);
        p->bind->tensors[i] = v->form;
    }
    return LA_OK;
}

/* The views show nothing after it: a program at rest keeps no memory of its
** user alive. */
void la_bind_clear(la_prog *p, int32_t slot)
{
    const la_prog_slot *s = la_prog_slot_at(p, slot);
    for (int32_t i = s->views; i >= 0; i = la_prog_view_at(p, i)->next) {
        la_prog_view *v = la_prog_view_at(p, i);
        if (!v->whole) {
            la_tensor_show(v->form, NULL, 0);
            la_tensor_count_as(v->form, NULL);
        }
        p->bind->tensors[i] = NULL;
    }
}

/* The arena's piece of a slot, as a storage of its own. */
static void bind_keep_nothing(void *context, void *data)
{
    (void)context, (void)data;
}

static la_status bind_piece(la_prog *p, int32_t slot)
{
    const la_prog_slot *s = la_prog_slot_at(p, slot);
    int64_t n = s->nbytes;
    la_tensor *t = NULL;
    LA_TRY(la_tensor_wrap(la_data(p->arena) + s->at, LA_UINT8, 1, &n, NULL,
                          bind_keep_nothing, NULL, &t));
    p->bind->bases[slot] = t;
    return la_bind_slot(p, slot, t);
}

/* ---- making ---- */

/* The recording call leaves blocks of other sizes in the cache: given back,
** they are no part of the peak. */
enum { BIND_LARGE = 1 << 20 };

static la_status bind_arena(la_prog *p)
{
    int64_t n = p->arena_bytes > 0 ? p->arena_bytes : 1;    /* empty pieces */
    if (n >= BIND_LARGE && !p->live) la_mem_trim();
    if (!p->live) LA_TRY(la_tensor_empty(1, &n, LA_UINT8, &p->arena));
    for (int32_t i = 0; i < p->slots.n; i++) {
        const la_prog_slot *s = la_prog_slot_at(p, i);
        if (la_prog_in_arena(p, s)) LA_TRY(bind_piece(p, i));
        else if (s->kind == LA_SLOT_CONST && !s->written && !s->escapes)
            LA_TRY(la_bind_slot(p, i, s->own));
    }
    return LA_OK;
}

/* Made at the first run and kept, as its size follows from the plan alone. */
la_status la_bind_new(la_prog *p)
{
    la_prog_bind *b = la_mem_zalloc(sizeof *b);
    if (!b) return LA_ENOMEM;
    p->bind = b;
    b->tensors = la_mem_zalloc(bind_views_bytes(p));
    b->bases = la_mem_zalloc(bind_slots_bytes(p));
    la_status status = b->tensors && b->bases ? bind_arena(p) : LA_ENOMEM;
    if (status) la_bind_free(p);
    return status;
}

/* Views are cleared first: their headers point into storages that go now. */
void la_bind_free(la_prog *p)
{
    la_prog_bind *b = p->bind;
    if (!b) return;
    for (int32_t i = 0; i < p->views.n; i++) {
        la_tensor_show(la_prog_view_at(p, i)->form, NULL, 0);
        la_tensor_count_as(la_prog_view_at(p, i)->form, NULL);
    }
    for (int32_t i = 0; b->bases && i < p->slots.n; i++)
        la_tensor_release(b->bases[i]);
    if (b->tensors) la_mem_free(b->tensors, bind_views_bytes(p));
    if (b->bases) la_mem_free(b->bases, bind_slots_bytes(p));
    la_mem_free(b, sizeof *b);
    la_tensor_drop(&p->arena);
    p->bind = NULL;
}

/* ---- a run's begin and end ---- */

la_tensor *la_bind_object(const la_prog *p, int32_t i,
                          la_tensor *const *arguments)
{
    const la_prog_object *o = la_prog_object_at(p, i);
    return o->argument >= 0 ? arguments[o->argument] : o->tensor;
}

/* Shows in the slot an object's own memory, or that of the gradient that it has
** at the entry. */
static la_status bind_object_slot(la_prog *p, int32_t i,
                                  la_tensor *const *arguments)
{
    const la_prog_slot *s = la_prog_slot_at(p, i);
    la_tensor *t = la_bind_object(p, s->index, arguments);
    if (s->grad) t = la_leaf_grad(t);
    if (!t) return la_error(LA_ESTATE, "a gradient is gone");
    /* It may be replaced while the program runs. */
    p->bind->bases[i] = la_tensor_retain(t);
    return la_bind_slot(p, i, t);
}

/* A constant that the program writes, or that somebody keeps: as it was. */
static la_status bind_constant(la_prog *p, int32_t i)
{
    const la_prog_slot *s = la_prog_slot_at(p, i);
    la_tensor *t = p->bind->bases[i];
    if (!t) {
        int64_t n = s->nbytes;
        LA_TRY(la_tensor_empty(1, &n, LA_UINT8, &t));
        p->bind->bases[i] = t;
        LA_TRY(la_bind_slot(p, i, t));
    }
    if (s->own->numel > 0)
        memcpy(la_data(t), la_data(s->own), (size_t)s->own->numel);
    return LA_OK;
}

/* Constants that the program writes start from a copy in each run; others were
** bound for good by bind_arena. */
la_status la_bind_entry(la_prog *p, la_tensor *const *arguments)
{
    for (int32_t i = 0; i < p->slots.n; i++) {
        const la_prog_slot *s = la_prog_slot_at(p, i);
        if (s->kind == LA_SLOT_OBJECT)
            LA_TRY(bind_object_slot(p, i, arguments));
        else if (s->kind == LA_SLOT_CONST && (s->written || s->escapes))
            LA_TRY(bind_constant(p, i));
    }
    return LA_OK;
}

/* Drops what this run alone used. Pieces of the arena, plain constants and the
** results of kept steps stay bound for the next. */
void la_bind_leave(la_prog *p)
{
    for (int32_t i = 0; i < p->slots.n; i++) {
        const la_prog_slot *s = la_prog_slot_at(p, i);
        if (la_prog_in_arena(p, s)
            || (s->kind == LA_SLOT_CONST && !s->written && !s->escapes))
            continue;
        if (!p->bind->bases[i] || s->kept) continue;
        la_bind_clear(p, i);
        la_tensor_drop(&p->bind->bases[i]);
    }
}

/* ---- results ---- */

static bool bind_is_base(const la_prog_view *v, const la_tensor *base)
{
    return v->bytes == base->offset * (int64_t)la_itemsize(base)
        && base->dtype == v->form->dtype && base->names == v->form->names
        && !((base->flags ^ v->form->flags) & (LA_F_CONJ | LA_F_NEG))
        && la_same_geometry(base, v->form);
}

/* A result as a tensor of its own, which outlives the run. A view of an object
** stays a view of it, since a caller may write through it; views of constants
** and detached ones have no base, as eager code gives none. */
la_status la_bind_export(la_prog *p, int32_t view, la_tensor **out)
{
    const la_prog_view *v = la_prog_view_at(p, view);
    const la_prog_slot *s = la_prog_slot_at(p, v->slot);
    la_tensor *base = p->bind->bases[v->slot], *t = NULL;
    bool detached = !v->grad && la_grad_flag(base);     /* of a leaf */
    if (s->kind == LA_SLOT_STEP && !detached && bind_is_base(v, base))
        return la_tensor_same(base, out);
    if (s->kind == LA_SLOT_OBJECT && v->whole) {
        LA_TRY(la_tensor_alias(base, false, out));
        return LA_OK;
    }
    int64_t at = v->bytes + (s->kind == LA_SLOT_OBJECT
        ? base->offset * (int64_t)la_itemsize(base) : 0);
    const uint32_t bits = LA_F_CONJ | LA_F_NEG;
    const la_tensor *f = v->form;
    LA_TRY(la_tensor_view_as(base, (la_dtype)f->dtype, f->ndim, la_sizes(f),
                             la_strides(f), at / (int64_t)la_itemsize(f),
                             &t));
    t->flags = (t->flags & ~bits) | (f->flags & bits);
    la_tensor_set_names(t, la_names_retain(f->names));
    detached = !v->grad && la_grad_flag(t);
    if (s->kind == LA_SLOT_CONST || detached) la_tensor_drop(&t->base);
    *out = t;
    return LA_OK;
}

/* ---- histories that are used up ---- */

static la_status bind_run_consumed(la_node *n, la_tensor **grads,
                                   la_tensor **out)
{
    (void)n, (void)grads, (void)out;
    return la_error(LA_EGRAD, "Trying to backward through the graph a second "
                    "time: its saved values were freed. Give retain_graph = "
                    "true to the first backward");
}

static const la_node_class class_consumed = {
    "Compiled", bind_run_consumed, NULL, NULL, NULL
};

/* A result whose history was used up inside must say so when it is asked for
** again, as in eager code: the node of class_consumed does. */
la_status la_bind_history(const la_prog_output *o, la_tensor *t)
{
    la_node *n = NULL;
    if (o->requires_grad) return la_require_grad(t, true);
    if (!o->consumed || t->grad) return LA_OK;
    LA_TRY(la_node_new(&class_consumed, 0, 1, 0, &n));
    la_status status = la_node_output(n, 0, t);
    if (!status) status = la_set_history(t, n, 0);
    la_node_release(n);
    return status;
}
