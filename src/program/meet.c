/* Table of what a recording has met: storages as slots, tensors from outside as
** objects, operands as views. recorder.c tells how. */
#include "program/recorder.h"

#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "grad/graph.h"
#include "op/op.h"

static const char gone;

/* ---- the tables of storages and of tensors ---- */

static uint32_t meet_hash(const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key >> 4;
    return (uint32_t)((h * 0x9e3779b97f4a7c15) >> 32);
}

/* The entry of 'key', or the first free one. */
static la_met *meet_find(const la_met_table *t, const void *key)
{
    uint32_t mask = (uint32_t)t->capacity - 1, i = meet_hash(key) & mask;
    while (t->list[i].key && t->list[i].key != key) i = (i + 1) & mask;
    return &t->list[i];
}

/* The entry of 'key'; NULL. */
static la_met *meet_entry(const la_met_table *t, const void *key)
{
    la_met *m = t->capacity && key ? meet_find(t, key) : NULL;
    return m && m->key ? m : NULL;
}

int32_t la_meet_slot_of(const la_recorder *r, const la_storage *s)
{
    const la_met *m = meet_entry(&r->storages, s);
    return m ? m->is : LA_PROG_NONE;
}

static void meet_drop(la_met_table *t)
{
    if (t->list) la_mem_free(t->list, (size_t)t->capacity * sizeof(la_met));
}

/* Entries of what is gone are left out. Where that is enough, the table stays
** as large as it is: most tensors of a long recording are short-lived. */
static bool meet_grow(la_met_table *t)
{
    int32_t live = 0;
    for (int32_t i = 0; i < t->capacity; i++)
        live += t->list[i].key && t->list[i].key != &gone;
    la_met_table bigger = {.capacity = !t->capacity ? 64
        : 4 * live < t->capacity ? t->capacity : 2 * t->capacity};
    bigger.list = la_mem_zalloc((size_t)bigger.capacity * sizeof(la_met));
    if (!bigger.list) return false;
    for (int32_t i = 0; i < t->capacity; i++) {
        const void *key = t->list[i].key;
        if (!key || key == &gone) continue;
        *meet_find(&bigger, key) = t->list[i];
        bigger.n++;
    }
    meet_drop(t);
    *t = bigger;
    return true;
}

/* False without memory: the recording has failed then. */
static bool meet_add(la_recorder *r, la_met_table *t, const void *key,
                     int32_t is)
{
    if (t->n * 2 >= t->capacity && !meet_grow(t)) {
        r->failed = true;
        return false;
    }
    la_met *m = meet_find(t, key);
    if (!m->key) t->n++;
    *m = (la_met){key, is};
    return true;
}

/* The storage is slot 'slot' from here on. */
static void meet_note(la_recorder *r, la_storage *s, int32_t slot)
{
    if (meet_add(r, &r->storages, s, slot)) s->flags |= LA_S_RECORDED;
}

void la_meet_note_tensor(la_recorder *r, la_tensor *t, int32_t step)
{
    if (!meet_entry(&r->tensors, t) && meet_add(r, &r->tensors, t, step))
        t->flags |= LA_F_RECORDED;
}

void la_meet_storage_ends(const la_storage *s)
{
    for (la_recorder *r = la_ctx()->recorder; r; r = r->outer) {
        la_met *m = meet_entry(&r->storages, s);
        if (m) m->key = &gone;
    }
}

void la_meet_tensor_ends(const la_tensor *t)
{
    for (la_recorder *r = la_ctx()->recorder; r; r = r->outer) {
        la_met *m = meet_entry(&r->tensors, t);
        if (m) m->key = &gone;
    }
}

/* ---- slots and objects ---- */

int32_t la_meet_new_slot(la_recorder *r, la_slot_kind kind,
                                 int32_t index, la_storage *s)
{
    la_prog_slot *slot = la_prog_add(&r->p->slots, sizeof *slot);
    if (!slot) {
        r->failed = true;
        return LA_PROG_NONE;
    }
    *slot = (la_prog_slot){.kind = (uint8_t)kind, .index = index,
                           .views = LA_PROG_NONE, .maker = LA_PROG_NONE,
                           .first = LA_PROG_NONE, .last = LA_PROG_NONE,
                           .nbytes = s->nbytes};
    meet_note(r, s, r->p->slots.n - 1);
    return r->p->slots.n - 1;
}

int32_t la_meet_object_of(const la_recorder *r, const la_tensor *t)
{
    for (int32_t i = 0; i < r->p->objects.n; i++)
        if (la_prog_object_at(r->p, i)->tensor == t) return i;
    return LA_PROG_NONE;
}

/* A tensor from outside becomes an object. Its history is noted: if it has
** another at the end, a call inside gave it that. */
int32_t la_meet_new_object(la_recorder *r, la_tensor *t, int argument)
{
    la_tensor *form = NULL;
    la_node *fn = NULL;
    int at;
    if (la_grad_fn_of(t, &fn, &at) || la_tensor_form(t, &form)) {
        r->failed = true;
        return LA_PROG_NONE;
    }
    const void **history = la_prog_add(&r->fns, sizeof *history);
    la_prog_object *o = history ? la_prog_add(&r->p->objects, sizeof *o) : NULL;
    if (!o) {
        r->failed = true;
        la_tensor_release(form);
        return LA_PROG_NONE;
    }
    *history = fn;
    *o = (la_prog_object){.tensor = la_tensor_retain(t), .argument = argument,
                          .slot = LA_PROG_NONE, .grad_slot = LA_PROG_NONE,
                          .requires_grad = la_requires_grad(t), .form = form,
                          .version = la_tensor_version(t)};
    return r->p->objects.n - 1;
}

/* Is the tensor one that the recording made itself? */
bool la_meet_is_inside(const la_recorder *r, const la_tensor *t)
{
    if (!t->storage) return true;
    return t->storage->born == r->birth
        || la_meet_slot_of(r, t->storage) >= 0;
}

/* The object that 't' is, made where it comes from outside; LA_PROG_NONE for a
** tensor of the recording's own. */
int32_t la_meet_need_object(la_recorder *r, la_tensor *t)
{
    int32_t i = la_meet_object_of(r, t);
    if (i >= 0 || la_meet_is_inside(r, t)) return i;
    return la_meet_new_object(r, t, LA_PROG_NONE);
}

void la_record_give_up(la_recorder *r, const char *why)
{
    r->p->eager = true;
    if (!r->p->why) r->p->why = why;
}

/* Memory that was made meanwhile, but by no step: as it is now. */
static int32_t meet_constant(la_recorder *r, la_tensor *t)
{
    int64_t n = t->storage->nbytes;
    la_tensor *own = NULL;
    int32_t slot = la_meet_new_slot(r, LA_SLOT_CONST, LA_PROG_NONE,
                                     t->storage);
    if (slot < 0 || la_tensor_empty(1, &n, LA_UINT8, &own)) {
        r->failed = true;
        return LA_PROG_NONE;
    }
    if (n > 0) memcpy(la_data(own), t->storage->data, (size_t)n);
    la_prog_slot_at(r->p, slot)->own = own;
    return slot;
}

/* The slot of data from outside: of the root, whose memory its views follow. */
int32_t la_meet_outside(la_recorder *r, la_tensor *t)
{
    la_tensor *root = t->base && t->base->storage == t->storage ? t->base : t;
    int32_t i = la_meet_object_of(r, root);
    if (i < 0) i = la_meet_new_object(r, root, LA_PROG_NONE);
    if (i < 0) return LA_PROG_NONE;
    int32_t slot = la_meet_new_slot(r, LA_SLOT_OBJECT, i, root->storage);
    if (slot < 0) return LA_PROG_NONE;
    la_prog_slot_at(r->p, slot)->origin = root->offset
        * (int64_t)la_itemsize(root);
    la_prog_object_at(r->p, i)->slot = slot;
    la_prog_slot_at(r->p, slot)->varies =
        la_prog_object_at(r->p, i)->argument >= 0;
    return slot;
}

/* The tensor from outside that a slot is of; NULL for others. */
static const la_tensor *meet_base(const la_recorder *r,
                                      const la_prog_slot *s)
{
    if (s->kind != LA_SLOT_OBJECT) return NULL;
    const la_prog_object *o = la_prog_object_at(r->p, s->index);
    return s->grad ? la_leaf_grad(o->tensor) : o->tensor;
}

int64_t la_meet_origin(const la_tensor *t)
{
    return t->offset * (int64_t)la_itemsize(t);
}

/* The first step after the node, whose call it may belong to: nodes are made
** right before their call runs, some right after it. */
static int32_t meet_step_of(const la_recorder *r, uint64_t sequence)
{
    int32_t low = 0, high = r->p->steps.n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (la_prog_step_at(r->p, middle)->sequence <= sequence)
            low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Did the step give the slot a tensor of the form of 't', with a history? */
static bool meet_gives(const la_recorder *r, int32_t step, int32_t slot,
                       const la_tensor *t)
{
    const la_prog_step *s = la_prog_step_at(r->p, step);
    if (s->no_grad || (s->op && s->op->forms & LA_NO_GRAD_OP)) return false;
    for (int k = 0; k < s->nresults + s->nlisted; k++) {
        int32_t v = k < s->nresults ? s->results[k]
            : la_prog_member(r->p, s->list_results + k - s->nresults);
        if (v < 0 || la_prog_view_at(r->p, v)->slot != slot) continue;
        const la_tensor *f = la_prog_view_at(r->p, v)->form;
        if (la_same_geometry(f, t)) return true;
    }
    return false;
}

/* The step that gave a tensor its history, by the node: of one that no step
** gave, as a node saved it. Tensors of the same elements may have several.
** LA_PROG_NONE where the step has other results. */
static int32_t meet_maker(const la_recorder *r, int32_t slot,
                          const la_tensor *t)
{
    const la_node *fn = t->grad ? t->grad->fn : NULL;
    if (!fn) return LA_PROG_NONE;
    int32_t at = meet_step_of(r, fn->sequence);
    if (at > 0 && !la_is_op_node(fn) && meet_gives(r, at - 1, slot, t)
        && la_prog_step_at(r->p, at - 1)->sequence == fn->sequence)
        return at - 1;
    /* Copies of what the node keeps may stand between. */
    for (int32_t i = at; i < r->p->steps.n && la_prog_step_at(r->p, i)->sequence
         == la_prog_step_at(r->p, at)->sequence; i++)
        if (meet_gives(r, i, slot, t)) return i;
    return at > 0 && meet_gives(r, at - 1, slot, t) ? at - 1 : LA_PROG_NONE;
}

int32_t la_meet_view(la_recorder *r, int32_t slot, const la_tensor *t)
{
    if (slot < 0) return LA_PROG_NONE;
    la_prog_slot *s = la_prog_slot_at(r->p, slot);
    const la_tensor *base = meet_base(r, s);
    int64_t bytes = la_meet_origin(t) - s->origin;
    if (t->storage->nbytes > s->nbytes) s->nbytes = t->storage->nbytes;
    la_prog_view like = {.bytes = bytes, .whole = base == t,
        .grad = la_grad_flag(t) != 0, .object = LA_PROG_NONE,
        .step = LA_PROG_NONE};
    const la_met *known = meet_entry(&r->tensors, t);
    if (known) like.step = known->is;
    if (like.grad && like.step < 0) like.step = meet_maker(r, slot, t);
    if (s->kind == LA_SLOT_OBJECT && !s->grad && base != t)
        like.object = la_meet_object_of(r, t);
    /* A leaf of the recording's own, which a run does not make one. */
    if (s->kind == LA_SLOT_STEP && t->grad && t->grad->requires_grad
        && !t->grad->fn)
        r->no_graph = "a tensor that it makes becomes a leaf of a result's "
                      "history";
    int32_t v = la_prog_view_of(r->p, slot, t, &like);
    if (v < 0) r->failed = true;
    return v;
}

/* Did a step make a tensor of the view's elements? Then a new one of them is
** taken for what a node saved of that. */
static bool meet_is_saved(const la_recorder *r, int32_t view)
{
    const la_prog_view *own = la_prog_view_at(r->p, view);
    for (int32_t i = la_prog_slot_at(r->p, own->slot)->views; i >= 0;
         i = la_prog_view_at(r->p, i)->next) {
        const la_prog_view *v = la_prog_view_at(r->p, i);
        if (v->step >= 0 && la_prog_same_view(v, own)) return true;
    }
    return false;
}

/* A view from outside, whose root is the slot's object, has a form and a
** history of its own. Views that steps gave have been met before. */
static void meet_outer_view(la_recorder *r, int32_t view, la_tensor *t)
{
    const la_prog_view *v = la_prog_view_at(r->p, view);
    int32_t slot = v->slot;
    const la_prog_slot *s = la_prog_slot_at(r->p, slot);
    if (s->kind != LA_SLOT_OBJECT || s->grad || v->whole || v->step >= 0
        || la_prog_twin(r->p, view, !v->grad) >= 0 || meet_is_saved(r, view)
        || la_meet_object_of(r, t) >= 0) return;
    int32_t i = la_meet_new_object(r, t, LA_PROG_NONE);
    if (i < 0) return;
    la_prog_object_at(r->p, i)->slot = slot;
    la_prog_view_at(r->p, view)->object = i;
}

/* The view that an operand is. */
int32_t la_meet_operand(la_recorder *r, la_tensor *t)
{
    if (t->device != LA_CPU || !t->storage || t->storage->nbytes < 0) {
        la_record_give_up(r, "a tensor has no elements here");
        return LA_PROG_NONE;
    }
    la_meet_note_tensor(r, t, LA_PROG_NONE);
    int32_t slot = la_meet_slot_of(r, t->storage);
    if (slot < 0 && t->storage->born == r->birth)
        slot = meet_constant(r, t);
    else if (slot < 0) slot = la_meet_outside(r, t);
    int32_t before = r->p->views.n, view = la_meet_view(r, slot, t);
    if (view >= before) meet_outer_view(r, view, t);
    return view;
}

void la_meet_end(la_recorder *r)
{
    for (int32_t i = 0; i < r->storages.capacity; i++) {
        la_storage *s = (la_storage *)r->storages.list[i].key;
        if (!s || (const void *)s == &gone) continue;
        if (!r->outer || la_meet_slot_of(r->outer, s) < 0)
            s->flags &= ~(uint32_t)LA_S_RECORDED;
    }
    for (int32_t i = 0; i < r->tensors.capacity; i++) {
        la_tensor *t = (la_tensor *)r->tensors.list[i].key;
        if (!t || (const void *)t == &gone) continue;
        if (!r->outer || !meet_entry(&r->outer->tensors, t))
            t->flags &= ~(uint32_t)LA_F_RECORDED;
    }
    meet_drop(&r->storages);
    meet_drop(&r->tensors);
}
