/*
** The pass "fuse": groups of element-wise calls and reductions, one behind the
** other, become chains (fuse/chain.h): as few walks over memory as there can
** be. What is read in the group alone is never stored. Calls in place and with
** out= are among them, and several results.
**
** A chain's arguments are the forms of views, or headers that stand for what
** steps of the group make. Elements that a step of the group writes are read
** through one geometry alone.
*/
#include "program/passes.h"

#include <stdatomic.h>
#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "base/runtime/runtime.h"
#include "fuse/chain.h"
#include "op/families.h"
#include "op/op.h"

/* A group has so many steps, or one of its tensors so many elements: a walk
** costs as much as three small calls. */
enum { STEPS = 4, LARGE = 1024, MOST = 64 };

typedef struct join_walk {
    la_prog *p;
    la_tensor **stand;  /* [views]: in the group at hand; NULL: not met */
    bool *wrote;        /* [views]: a step of the group writes it */
    la_fused *chain;
    int32_t first;      /* of the group at hand */
    int64_t numel;      /* of its largest tensor */
    int n;              /* its steps */
    bool no;
} join_walk;

/* Is the step one of the group that it lies in? Calls that are kept run before
** it, where they have to. */
static bool join_takes(const la_prog_step *s)
{
    return la_prog_runs(s) && !s->kept;
}

static void join_operand(void *context, int32_t view)
{
    join_walk *w = context;
    const la_tensor *f = la_prog_view_at(w->p, view)->form;
    if (f->numel > w->numel) w->numel = f->numel;
    w->no |= f->names || f->flags & (LA_F_CONJ | LA_F_NEG);
}

/* The view that the call writes, if it writes one that was there; or none. */
static int32_t join_target(const la_prog_step *s)
{
    if (s->op->role == LA_ROLE_copy && s->form == LA_FUNCTIONAL)
        return s->views[0];
    return s->form == LA_FUNCTIONAL ? LA_PROG_NONE : s->outs[0];
}

/* Numbers that are read anew are scalars. */
static bool join_sources_suit(const la_prog_step *s)
{
    const la_family *family = s->op->family;
    for (int k = 0; k < s->nsources; k++)
        if (s->args[s->sources[k].arg].tag != LA_VSCALAR) return false;
    return !s->nsources || (family && family->result == LA_UNDEFINED);
}

/* Can the call be one of a group at all? */
static bool join_suits(join_walk *w, const la_prog_step *s)
{
    if (s->kind != LA_STEP_CALL || s->early || s->nresults > 1
        || s->nlisted || s->lists >= 0 || !join_sources_suit(s)) return false;
    for (int k = 1; k < LA_MAX_RESULTS; k++)
        if (s->outs[k] >= 0) return false;
    const la_family *family = s->op->family;
    bool copies = s->op->role == LA_ROLE_copy && s->form == LA_FUNCTIONAL;
    if (!copies && (s->op->forms & LA_MUTATES)) return false;
    if (!copies && (family ? family->impl != la_pointwise_impl
                    : !la_is_reduction(s->op) || s->form != LA_FUNCTIONAL))
        return false;
    w->no = false;
    la_prog_reads(w->p, s, join_operand, w);
    la_prog_writes(w->p, s, join_operand, w);
    if (w->no || join_target(s) >= 0) return !w->no;
    if (s->results[0] < 0) return false;
    const la_prog_view *v = la_prog_view_at(w->p, s->results[0]);
    const la_prog_slot *slot = la_prog_slot_at(w->p, v->slot);
    return slot->kind == LA_SLOT_STEP && v->bytes == 0
        && la_prog_step_at(w->p, slot->maker) == s;
}

/* ---- what stands for a view ---- */

/* A number that became a tensor is a constant, and its form shows it. */
static bool join_show_number(const la_prog *p, const la_prog_view *v)
{
    const la_prog_slot *s = la_prog_slot_at(p, v->slot);
    int64_t item = (int64_t)la_itemsize(v->form);
    if (s->kind != LA_SLOT_CONST || s->written || s->escapes || v->whole
        || v->bytes % item) return false;
    la_tensor_show(v->form, s->own->storage, v->bytes / item);
    return true;
}

/* May two views of a slot have elements in common? */
static bool join_meets(const la_prog_view *a, const la_prog_view *b)
{
    return la_distance_overlap(a->form, b->form, b->bytes - a->bytes)
        != LA_OVERLAP_NO;
}

/* NULL: the group can't read it as the call does. */
static la_tensor *join_stand(join_walk *w, int32_t view)
{
    const la_prog_view *v = la_prog_view_at(w->p, view), *other;
    const la_prog_slot *s = la_prog_slot_at(w->p, v->slot);
    bool fixed = s->kind == LA_SLOT_STEP && s->maker >= w->first && !s->kept;
    for (int32_t i = s->views; i >= 0; i = other->next) {
        other = la_prog_view_at(w->p, i);
        if (w->stand[i] && la_prog_same_view(other, v)) return w->stand[i];
        fixed |= w->wrote[i] && join_meets(other, v);
    }
    if (fixed || ((v->form->flags & LA_F_WRAPPED)
                  && !join_show_number(w->p, v))) return NULL;
    return w->stand[view] = v->form;
}

/* The elements that the call writes have been met in one geometry alone. */
static bool join_is_alone(const join_walk *w, int32_t view)
{
    const la_prog_view *v = la_prog_view_at(w->p, view);
    const la_prog_slot *s = la_prog_slot_at(w->p, v->slot);
    for (int32_t i = s->views; i >= 0; i = la_prog_view_at(w->p, i)->next)
        if (w->stand[i] && !la_prog_same_view(la_prog_view_at(w->p, i), v)
            && join_meets(la_prog_view_at(w->p, i), v)) return false;
    return true;
}

static bool join_looks_like(const la_tensor *a, const la_tensor *b)
{
    size_t bytes = sizeof(int64_t) * (size_t)a->ndim;
    return a->dtype == b->dtype && a->ndim == b->ndim
        && memcmp(la_sizes(a), la_sizes(b), bytes) == 0
        && memcmp(la_strides(a), la_strides(b), bytes) == 0;
}

/* Does the call write what a step of the group made? Then it makes another
** value, and nobody sees the one before. */
static bool join_remakes(const join_walk *w, const la_prog_step *s)
{
    int32_t target = join_target(s);
    if (target < 0 || s->form == LA_FUNCTIONAL) return false;
    const la_prog_slot *slot = la_prog_slot_at(w->p,
        la_prog_view_at(w->p, target)->slot);
    return slot->kind == LA_SLOT_STEP && slot->maker >= w->first;
}

/* The frame of the step in its group; false: it can't be one of it. */
static bool join_frame(join_walk *w, const la_prog_step *s, la_frame *f)
{
    int32_t target = join_target(s);
    *f = (la_frame){.op = s->op, .form = (la_form)s->form, .args = f->args,
                    .nargs = s->nargs, .keys = 1u << LA_KEY_CPU};
    for (int k = 0; k < s->nargs; k++) {
        f->args[k] = s->args[k];
        if (s->views[k] < 0) continue;
        if (!(f->args[k].tensor = join_stand(w, s->views[k]))) return false;
    }
    if (target < 0) return true;
    la_tensor *out = join_stand(w, target);
    if (!out || !join_is_alone(w, target)) return false;
    if (join_remakes(w, s)) f->form = LA_FUNCTIONAL;
    else if (s->form != LA_FUNCTIONAL) f->outs[0] = out;
    return true;
}

/* Later steps read the result through 't'. */
static void join_set(join_walk *w, int32_t view, la_tensor *t)
{
    const la_prog_slot *s = la_prog_slot_at(w->p,
        la_prog_view_at(w->p, view)->slot);
    for (int32_t i = s->views; i >= 0; i = la_prog_view_at(w->p, i)->next)
        if (w->stand[i]) w->stand[i] = t;
    w->stand[view] = t;
}

/* One more step of the group, if it can be one. */
static la_status join_add(join_walk *w, int32_t i, bool *done)
{
    const la_prog_step *s = la_prog_step_at(w->p, i);
    la_value args[LA_MAX_ARGS];
    la_frame f = {.args = args};
    la_tensor *t = NULL;
    int32_t target = join_target(s);
    int32_t view = target >= 0 ? target : s->results[0];
    *done = false;
    if (!join_suits(w, s) || !join_frame(w, s, &f)) return LA_OK;
    LA_TRY(la_fused_add(w->chain, &f, s->nsources > 0, &t));
    if (!t) return LA_OK;
    if (target >= 0 && !join_remakes(w, s))
        w->wrote[target] = true;
    else if (join_looks_like(t, la_prog_view_at(w->p, view)->form))
        join_set(w, view, t);
    else {
        la_fused_take_back(w->chain);
        return LA_OK;
    }
    w->n++;
    *done = true;
    return LA_OK;
}

/* ---- groups ---- */

typedef struct join_use { la_prog *p; int32_t first, end, step; } join_use;

static void join_outer(void *context, int32_t view)
{
    join_use *u = context;
    la_prog_slot *s = la_prog_slot_at(u->p, la_prog_view_at(u->p, view)->slot);
    if (s->kind == LA_SLOT_STEP && s->maker >= u->first && s->maker <= u->end
        && u->step > u->end) s->inner = false;
}

/* The slot of the step's result; NULL: it writes one that was there. */
static la_prog_slot *join_result(la_prog *p, const la_prog_step *s)
{
    if (join_target(s) >= 0) return NULL;
    return la_prog_slot_at(p, la_prog_view_at(p, s->results[0])->slot);
}

/* Which results of the group others read. */
static void join_mark(la_prog *p, int32_t first, int32_t end)
{
    join_use u = {p, first, end, 0};
    for (int32_t i = first; i <= end; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        la_prog_slot *slot = join_takes(s) ? join_result(p, s) : NULL;
        if (slot) slot->inner = !slot->escapes;
    }
    for (u.step = end + 1; u.step < p->steps.n; u.step++) {
        const la_prog_step *s = la_prog_step_at(p, u.step);
        if (!la_prog_runs(s)) continue;
        la_prog_reads(p, s, join_outer, &u);
        la_prog_writes(p, s, join_outer, &u);
    }
}

/* The view that a tensor of a walk over memory stands for. A value that is
** stored, but is not the last one of its slot, stands for none. */
static int32_t join_name(void *context, const la_tensor *t)
{
    join_walk *w = context;
    for (int32_t i = 0; i < w->p->views.n; i++) {
        if (w->stand[i] != t) continue;
        la_prog_slot_at(w->p, la_prog_view_at(w->p, i)->slot)->inner = false;
        return i;
    }
    w->no = true;
    return LA_PROG_NONE;
}

/* The steps run alone. */
static void join_leave(join_walk *w, int32_t end)
{
    for (int32_t i = w->first; i <= end; i++) {
        const la_prog_step *s = la_prog_step_at(w->p, i);
        la_prog_slot *slot = join_takes(s) ? join_result(w->p, s) : NULL;
        if (slot) slot->inner = false;
    }
}

/* Steps first..end are the group's. */
static la_status join_close(join_walk *w, int32_t end)
{
    la_tensor *wanted[MOST];
    int n = 0;
    join_mark(w->p, w->first, end);
    for (int32_t i = w->first; i <= end; i++) {
        const la_prog_step *s = la_prog_step_at(w->p, i);
        la_prog_slot *slot = join_takes(s) ? join_result(w->p, s) : NULL;
        if (slot && !slot->inner) wanted[n++] = w->stand[s->results[0]];
    }
    w->no = false;
    LA_TRY(la_fused_finish(w->chain, n, wanted, join_name, w));
    if (w->no) {
        join_leave(w, end);
        return LA_OK;
    }
    la_prog_group *g = la_prog_add(&w->p->groups, sizeof *g);
    if (!g) return LA_ENOMEM;
    *g = (la_prog_group){w->chain, w->first, end};
    w->chain = NULL;
    la_prog_step_at(w->p, w->first)->joined = w->p->groups.n;
    return LA_OK;
}

/* How many steps in a row might be a group's. */
static int join_ahead(join_walk *w, int32_t first)
{
    int n = 0;
    for (int32_t i = first; i < w->p->steps.n && n < MOST; i++) {
        const la_prog_step *s = la_prog_step_at(w->p, i);
        if (!join_takes(s)) continue;
        if (!join_suits(w, s)) break;
        n++;
    }
    return n;
}

static bool join_pays(int n, int64_t numel)
{
    return n >= STEPS || (n > 1 && numel >= LARGE);
}

/* The group that begins at step 'first', if there is one; *next is where to
** look for the next. */
static la_status join_group(join_walk *w, int32_t first, int32_t *next,
                            la_prog_pass_note *note)
{
    int32_t end = first;
    w->first = first;
    w->numel = w->n = 0;
    *next = first + 1;
    int most = join_ahead(w, first);
    if (!join_pays(most, w->numel)) return LA_OK;
    w->numel = 0;
    memset(w->stand, 0, ((size_t)w->p->views.n + 1) * sizeof *w->stand);
    memset(w->wrote, 0, (size_t)w->p->views.n + 1);
    LA_TRY(la_fused_new(most, &w->chain));
    for (int32_t i = first; i < w->p->steps.n && w->n < most; i++) {
        bool done;
        if (!join_takes(la_prog_step_at(w->p, i))) continue;
        LA_TRY(join_add(w, i, &done));
        if (!done) break;
        end = i;
    }
    if (!join_pays(w->n, w->numel)) return LA_OK;
    LA_TRY(join_close(w, end));
    if (w->no) return LA_OK;
    note->count += w->n;
    *next = end + 1;
    return LA_OK;
}

static la_status join_all(join_walk *w, la_prog_pass_note *note)
{
    int32_t next;
    for (int32_t i = 0; i < w->p->steps.n; i = next) {
        next = i + 1;
        if (!join_takes(la_prog_step_at(w->p, i))) continue;
        la_status status = join_group(w, i, &next, note);
        la_fused_free(w->chain);
        w->chain = NULL;
        LA_TRY(status);
    }
    return LA_OK;
}

/* Calls that a host's kernels take are its own. */
static bool join_may(const la_prog *p)
{
    return !p->live && !atomic_load_explicit(
        &la_runtime_here()->kernels_replaced, memory_order_relaxed);
}

la_status la_prog_pass_join(la_prog *p, la_prog_pass_note *note)
{
    la_context *c = la_ctx();
    size_t views = ((size_t)p->views.n + 1) * sizeof(la_tensor *);
    size_t flags = (size_t)p->views.n + 1;
    join_walk w = {.p = p};
    if (!join_may(p)) return LA_OK;
    w.stand = la_mem_zalloc(views);
    w.wrote = la_mem_zalloc(flags);
    bool no_grad = c->no_grad;
    c->no_grad = true;
    la_status status = w.stand && w.wrote ? join_all(&w, note) : LA_ENOMEM;
    c->no_grad = no_grad;
    if (w.stand) la_mem_free(w.stand, views);
    if (w.wrote) la_mem_free(w.wrote, flags);
    return status;
}
