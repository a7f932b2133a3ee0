/* Programs as data: lists that grow, views that are found again, the end. */
#include "program/program.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "fuse/chain.h"
#include "op/op.h"
#include "program/bind.h"
#include "program/passes.h"

/* ---- lists ---- */

/* Doubles the capacity, from 16 on. The bound allows for sums of two
** numbers of items in 32 bits. Addresses of items hold until the next call. */
void *la_prog_add(la_prog_list *list, size_t size)
{
    if (list->n == list->capacity) {
        int32_t capacity = list->capacity ? 2 * list->capacity : 16;
        if (capacity > INT32_MAX / 4) return NULL;
        char *more = la_mem_alloc((size_t)capacity * size);
        if (!more) return NULL;
        if (list->items) {
            memcpy(more, list->items, (size_t)list->n * size);
            la_mem_free(list->items, (size_t)list->capacity * size);
        }
        list->items = more;
        list->capacity = capacity;
    }
    char *item = (char *)list->items + (size_t)list->n++ * size;
    return memset(item, 0, size);
}

void la_prog_drop_list(la_prog_list *list, size_t size)
{
    if (list->items) la_mem_free(list->items, (size_t)list->capacity * size);
    *list = (la_prog_list){NULL, 0, 0};
}

/* ---- values ---- */

/* Bytes of what the value refers to. */
static size_t build_value_bytes(const la_value *v)
{
    if (v->tag == LA_VTENSOR) return 0;
    if (v->tag == LA_VINTS || v->tag == LA_VFLOATS)
        return (size_t)v->ints.n * sizeof(int64_t);
    if (v->tag == LA_VTENSORS)
        return (size_t)v->tensors.n * sizeof(la_tensor *);
    if (v->tag == LA_VNAMES) return (size_t)v->names.n * sizeof(char *);
    return v->tag == LA_VSTR ? v->str.n + 1 : 0;
}

static const void *build_value_block(const la_value *v)
{
    if (v->tag == LA_VINTS || v->tag == LA_VFLOATS) return v->ints.list;
    if (v->tag == LA_VTENSORS) return v->tensors.list;
    return v->tag == LA_VNAMES ? (const void *)v->names.list : v->str.text;
}

/* Tensors stay out of it because a step names them by views: a copy that held
** them would keep a whole recording's memory alive. */
la_status la_prog_copy_value(la_value *to, const la_value *from)
{
    size_t bytes = build_value_bytes(from);
    *to = *from;
    if (from->tag == LA_VTENSOR) to->tensor = NULL;
    if (!bytes) return LA_OK;
    char *block = la_mem_zalloc(bytes);
    if (!block) {
        *to = (la_value){.tag = LA_VNONE};
        return LA_ENOMEM;
    }
    if (from->tag == LA_VTENSORS) {
        to->tensors.list = (la_tensor **)block;
        return LA_OK;
    }
    if (from->tag == LA_VSTR) memcpy(block, from->str.text, from->str.n);
    else memcpy(block, build_value_block(from), bytes);
    if (from->tag == LA_VSTR) to->str.text = block;
    else if (from->tag == LA_VNAMES)
        to->names.list = (const char *const *)block;
    else to->ints.list = (int64_t *)block;
    return LA_OK;
}

/* Ends what the value refers to. */
static void drop_value(la_value *v)
{
    size_t bytes = build_value_bytes(v);
    if (bytes) la_mem_free((void *)build_value_block(v), bytes);
}

/* ---- views ---- */

static bool build_looks_like(const la_tensor *form, const la_tensor *t)
{
    const uint32_t bits = LA_F_CONJ | LA_F_NEG | LA_F_WRAPPED;
    return form->dtype == t->dtype && form->ndim == t->ndim
        && form->names == t->names && !((form->flags ^ t->flags) & bits)
        && memcmp(la_sizes(form), la_sizes(t), 2 * (size_t)t->ndim * 8) == 0;
}

static bool build_is_view(const la_prog_view *v, const la_tensor *t,
                          const la_prog_view *like)
{
    return v->bytes == like->bytes && v->grad == like->grad
        && v->whole == like->whole
        && v->step == like->step && v->object == like->object
        && build_looks_like(v->form, t);
}

/* A walk over the slot's views, which are few: one for each way in which the
** program looks at one storage. Rows that are taken one after another are
** many, but lie behind all that were met, and come out of the eldest. */
int32_t la_prog_view_of(la_prog *p, int32_t slot, const la_tensor *t,
                        const la_prog_view *like)
{
    la_prog_slot *s = la_prog_slot_at(p, slot);
    bool within = like->bytes >= s->low && like->bytes <= s->high;
    if (s->views >= 0 && within
        && build_is_view(la_prog_view_at(p, s->eldest), t, like))
        return s->eldest;
    for (int32_t i = s->views; i >= 0 && within;
         i = la_prog_view_at(p, i)->next)
        if (build_is_view(la_prog_view_at(p, i), t, like)) return i;
    la_tensor *form = NULL;
    if (la_tensor_form(t, &form)) return LA_PROG_NONE;
    la_prog_view *v = la_prog_add(&p->views, sizeof *v);
    if (!v) {
        la_tensor_release(form);
        return LA_PROG_NONE;
    }
    *v = *like;
    v->slot = slot;
    v->form = form;
    v->last = LA_PROG_NONE;
    la_prog_link_view(s, v, p->views.n - 1);
    return s->views;
}

bool la_prog_same_view(const la_prog_view *a, const la_prog_view *b)
{
    return a->slot == b->slot && a->bytes == b->bytes
        && build_looks_like(a->form, b->form);
}

/* Walks over the views of the slot, as la_prog_view_of does; what differs
** besides the gradient's flag does not matter here. */
int32_t la_prog_twin(const la_prog *p, int32_t view, bool grad)
{
    const la_prog_view *own = la_prog_view_at(p, view);
    if (own->grad == grad) return view;
    for (int32_t i = la_prog_slot_at(p, own->slot)->views; i >= 0;
         i = la_prog_view_at(p, i)->next) {
        const la_prog_view *v = la_prog_view_at(p, i);
        if (v->bytes == own->bytes && v->grad == grad
            && build_looks_like(v->form, own->form)) return i;
    }
    return LA_PROG_NONE;
}

/* ---- life ---- */

la_status la_prog_new(la_prog **out)
{
    la_prog *p = la_mem_zalloc(sizeof *p);
    if (!p) return LA_ENOMEM;
    *out = p;
    return LA_OK;
}

/* ---- memory of arguments ---- */

/* A block that steps take their arguments from. One allocation for each step
** would be a good part of what recording costs. */
typedef struct la_prog_block {
    struct la_prog_block *next;     /* the one before */
    size_t used, bytes;     /* with this head */
} la_prog_block;

enum { BUILD_LEAST = 512, BUILD_MOST = 16384, BUILD_ALIGN = 16 };

/* Zeroed memory that ends with the program; NULL without any. */
static void *build_take(la_prog *p, size_t bytes)
{
    const size_t head = (sizeof(la_prog_block) + BUILD_ALIGN - 1)
        & ~(size_t)(BUILD_ALIGN - 1);
    la_prog_block *b = p->blocks;
    bytes = (bytes + BUILD_ALIGN - 1) & ~(size_t)(BUILD_ALIGN - 1);
    if (!b || b->bytes - b->used < bytes) {
        size_t size = b && 2 * b->bytes <= BUILD_MOST ? 2 * b->bytes
                    : b ? BUILD_MOST : BUILD_LEAST;
        if (size < head + bytes) size = head + bytes;
        b = la_mem_zalloc(size);
        if (!b) return NULL;
        *b = (la_prog_block){p->blocks, head, size};
        p->blocks = b;
    }
    b->used += bytes;
    return (char *)b + b->used - bytes;
}

static void build_drop_blocks(la_prog *p)
{
    while (p->blocks) {
        la_prog_block *next = p->blocks->next;
        la_mem_free(p->blocks, p->blocks->bytes);
        p->blocks = next;
    }
}

/* Arguments, and their views behind them. */
la_status la_prog_take_arguments(la_prog *p, la_prog_step *s, int n)
{
    s->nargs = (uint8_t)n;
    s->args = build_take(p, (size_t)(n ? n : 1)
                         * (sizeof(la_value) + sizeof(int32_t)));
    if (!s->args) return LA_ENOMEM;
    s->views = (int32_t *)(s->args + (n ? n : 1));
    for (int k = 0; k < n; k++) s->views[k] = LA_PROG_NONE;
    return LA_OK;
}

/* Leaves the step as one without arguments, so that a second drop does
** nothing. */
static void build_drop_step(la_prog_step *s)
{
    la_loop_free(s->loop);
    s->loop = NULL;
    for (int k = 0; s->args && k < s->nargs; k++)
        drop_value(&s->args[k]);
    if (s->sources)
        la_mem_free(s->sources, s->nsources * sizeof(la_prog_source));
    s->args = NULL;
    s->views = NULL;
    s->sources = NULL;
}

void la_prog_cut_step(la_prog_step *s) { build_drop_step(s); }

/* Bindings go first: headers of views show memory that the lists own.
** 'recorded' has none of its own, so that this is no deep recursion. */
void la_prog_free(la_prog *p)
{
    if (!p) return;
    la_spare_free(p);
    la_bind_free(p);
    for (int32_t i = 0; i < p->steps.n; i++)
        build_drop_step(la_prog_step_at(p, i));
    for (int32_t i = 0; i < p->views.n; i++)
        la_tensor_release(la_prog_view_at(p, i)->form);
    for (int32_t i = 0; i < p->slots.n; i++)
        la_tensor_release(la_prog_slot_at(p, i)->own);
    for (int32_t i = 0; i < p->objects.n; i++) {
        la_tensor_release(la_prog_object_at(p, i)->tensor);
        la_tensor_release(la_prog_object_at(p, i)->form);
    }
    for (int32_t i = 0; i < p->names.n; i++) {
        char *name = *LA_PROG_AT(p->names, char *, i);
        if (name) la_mem_free(name, strlen(name) + 1);
    }
    la_prog_free(p->recorded);
    la_tensor_release(p->arena);
    for (int32_t i = 0; i < p->groups.n; i++)
        la_fused_free(LA_PROG_AT(p->groups, la_prog_group, i)->chain);
    la_prog_drop_list(&p->groups, sizeof(la_prog_group));
    for (int32_t i = 0; i < p->packs.n; i++)
        la_tensor_release(LA_PROG_AT(p->packs, la_prog_packed, i)->copy);
    la_prog_drop_list(&p->packs, sizeof(la_prog_packed));
    if (p->notes) la_mem_free(p->notes, la_prog_notes_bytes());
    la_prog_drop_list(&p->steps, sizeof(la_prog_step));
    la_prog_drop_list(&p->views, sizeof(la_prog_view));
    la_prog_drop_list(&p->slots, sizeof(la_prog_slot));
    la_prog_drop_list(&p->objects, sizeof(la_prog_object));
    la_prog_drop_list(&p->outputs, sizeof(la_prog_output));
    la_prog_drop_list(&p->members, sizeof(int32_t));
    la_prog_drop_list(&p->names, sizeof(char *));
    build_drop_blocks(p);
    la_mem_free(p, sizeof *p);
}
