/*
** Running programs of hosts: inputs and outputs are compared with what was
** recorded, and then the steps run, all of them or for as long as a budget
** lasts. Nothing here allocates behind the first run but results that nobody
** gave, and nothing takes a lock.
*/
#include "api/program/api_program.h"

#include <string.h>

#include "base/os/clock.h"
#include "base/runtime/context.h"
#include "grad/graph.h"
#include "op/call.h"
#include "program/bind.h"
#include "tensor/shape.h"

/* ---- numbers ---- */

/* Number 'source' of the program, as the step wants it. */
static la_status run_number(void *context, int source, la_value *v)
{
    la_program *g = context;
    const la_program_number *n = LA_PROG_AT(g->numbers, la_program_number,
                                            source & ~LA_PROG_AGAIN);
    la_tensor *t = la_program_weight_at(g, n->weight);
    double d;
    LA_TRY(la_tensor_check_bounds(t));
    memcpy(&d, la_data(t), sizeof d);
    if (n->kind == LA_PROGRAM_COUNT && !(source & LA_PROG_AGAIN)) {
        d += 1;
        LA_TRY(la_tensor_check_writable(t));
        memcpy(la_data(t), &d, sizeof d);
        la_bump_version(t);
    }
    if (v->tag == LA_VINT) {
        if (!(d >= -9007199254740992.0 && d <= 9007199254740992.0))
            return la_error(LA_EARG, "the weight '%s' is no integer",
                            la_program_key(g, 2, n->weight));
        v->i = (int64_t)d;
    } else if (v->tag == LA_VBOOL) v->b = d != 0;
    else if (v->tag == LA_VSCALAR) v->scalar = la_scalar_float(d);
    else v->d = d;
    return LA_OK;
}

/* ---- inputs ---- */

static const char *run_sizes(const la_tensor *t, char *out, size_t n)
{
    return la_sizes_text(t->ndim, la_sizes(t), out, n);
}

/* The sizes of input i as the recording has them; -1 for open ones. */
static const char *run_wanted(const la_program *g, int32_t i, char *out,
                              size_t n)
{
    const la_tensor *f = la_prog_object_at(g->p, i)->form;
    int64_t sizes[LA_MAX_DIMS];
    for (int d = 0; d < f->ndim; d++)
        sizes[d] = la_program_is_open(g, 0, i, d) ? -1 : la_sizes(f)[d];
    return la_sizes_text(f->ndim, sizes, out, n);
}

/* Tells in what the tensor differs from the recording's. */
static la_status run_differs(const la_program *g, int32_t i,
                             const la_tensor *t)
{
    char want[256], have[256];
    const la_tensor *f = la_prog_object_at(g->p, i)->form;
    const char *name = la_program_key(g, 0, i);
    if (t->dtype != f->dtype)
        return la_error(LA_EDTYPE, "input '%s': %s expected, got %s", name,
                        la_dtype_name((la_dtype)f->dtype),
                        la_dtype_name((la_dtype)t->dtype));
    if (!la_has_sizes(t, f->ndim, la_sizes(f)))
        return la_error(LA_ESHAPE, "input '%s': sizes %s expected, got %s",
                        name, run_wanted(g, i, want, sizeof want),
                        run_sizes(t, have, sizeof have));
    if (memcmp(la_strides(t), la_strides(f), 8 * (size_t)f->ndim) != 0)
        return la_error(LA_ESHAPE, "input '%s' lies in memory in another way "
                        "than when it was recorded: give it %s", name,
                        la_is_contiguous(f) ? "contiguous"
                        : "with the same strides");
    if ((t->flags ^ f->flags) & (LA_F_CONJ | LA_F_NEG))
        return la_error(LA_ESTATE, "input '%s' has a conjugate or negative "
                        "bit: resolve it", name);
    return LA_OK;
}

/* Does a step give the input a gradient? Then it has to be a leaf. */
static la_status run_check_leaf(const la_program *g, int32_t i,
                                const la_tensor *t)
{
    const la_prog_object *o = la_prog_object_at(g->p, i);
    if (!o->grad_set && !o->grad_asked) return LA_OK;
    if ((la_grad_flag(t) != 0) == o->requires_grad
        && (!o->grad_asked || (la_leaf_grad(t) != NULL) == o->had_grad))
        return LA_OK;
    return la_error(LA_EGRAD, "input '%s' gets a gradient: it must be a leaf "
                    "%s", la_program_key(g, 0, i), o->grad_asked && o->had_grad
                    ? "that has one" : "without one");
}

/* Does the input fit what the file says? Open sizes may be any. */
static la_status run_check_form(const la_program *g, int32_t i,
                                const la_tensor *t)
{
    const la_tensor *f = la_prog_object_at(g->p, i)->form;
    bool fits = t->dtype == f->dtype && t->ndim == f->ndim;
    for (int d = 0; d < t->ndim && fits; d++)
        fits = la_sizes(t)[d] == la_sizes(f)[d]
            || la_program_is_open(g, 0, i, d);
    return fits ? LA_OK : run_differs(g, i, t);
}

static la_status run_check_input(const la_program *g, int32_t i, la_tensor *t)
{
    const char *name = la_program_key(g, 0, i);
    if (!t) return la_error(LA_EARG, "input '%s' is NULL", name);
    if (t->owner != g->owner)
        return la_error(LA_EARG, "input '%s' belongs to another runtime than "
                        "the program", name);
    if (t->device != LA_CPU)
        return la_error(LA_ESTATE, "input '%s' is on a device", name);
    LA_TRY(la_tensor_check_bounds(t));
    if (la_prog_object_fits(g->p, i, t)) return LA_OK;
    if (la_program_is_whole(g)) return run_check_form(g, i, t);
    LA_TRY(run_differs(g, i, t));
    return run_check_leaf(g, i, t);
}

static bool run_is_written(const la_prog *p, int32_t object)
{
    int32_t slot = la_prog_object_at(p, object)->slot;
    return slot >= 0 && la_prog_slot_at(p, slot)->written;
}

/* No input may share memory that the program writes. */
static la_status run_check_alias(const la_program *g, int32_t i,
                                 la_tensor *const *in)
{
    for (int32_t k = 0; k < g->p->objects.n; k++) {
        const la_prog_object *o = la_prog_object_at(g->p, k);
        const la_tensor *t = o->argument < 0 ? o->tensor : in[k];
        if (k == i || (o->argument >= 0 && k > i)
            || t->storage != in[i]->storage
            || !(run_is_written(g->p, i) || run_is_written(g->p, k))) continue;
        return la_error(LA_EALIAS, "input '%s' shares memory with another "
                        "tensor, and the program writes one of them",
                        la_program_key(g, 0, i));
    }
    return LA_OK;
}

static la_status run_check_weights(const la_program *g)
{
    int64_t at = 0;
    for (int32_t i = 0; i < g->p->objects.n; i++) {
        const la_prog_object *o = la_prog_object_at(g->p, i);
        if (o->argument >= 0) continue;
        if (!la_prog_object_fits(g->p, i, o->tensor))
            return la_error(LA_ESTATE, "weight '%s' is not as it was recorded: "
                            "its sizes, whether it needs a gradient and has "
                            "one%s", la_program_key(g, 2, at),
                            o->pinned ? ", and its elements, which decided "
                            "something" : "");
        at++;
    }
    return LA_OK;
}

/* ---- outputs ---- */

static const la_tensor *run_form(const la_prog *p, int32_t i)
{
    const la_prog_output *o = la_prog_output_at(p, i);
    return o->object >= 0 ? la_prog_object_at(p, o->object)->form
                          : la_prog_view_at(p, o->view)->form;
}

la_status la_program_check_output(const la_program *g, int32_t i, la_tensor *t,
                                  const la_tensor *f)
{
    char want[256], have[256];
    const char *name = la_program_key(g, 1, i);
    if (t->owner != g->owner)
        return la_error(LA_EARG, "output '%s' belongs to another runtime than "
                        "the program", name);
    if (t->device != LA_CPU)
        return la_error(LA_ESTATE, "output '%s' is on a device", name);
    if (t->dtype != f->dtype)
        return la_error(LA_EDTYPE, "output '%s': %s expected, got %s", name,
                        la_dtype_name((la_dtype)f->dtype),
                        la_dtype_name((la_dtype)t->dtype));
    if (!la_has_sizes(t, f->ndim, la_sizes(f)))
        return la_error(LA_ESHAPE, "output '%s': sizes %s expected, got %s",
                        name, run_sizes(f, want, sizeof want),
                        run_sizes(t, have, sizeof have));
    if (la_grad_flag(t))
        return la_error(LA_EGRAD, "output '%s' needs a gradient", name);
    LA_TRY(la_tensor_check_bounds(t));
    return la_tensor_check_writable(t);
}

static la_status run_check(la_program *g, la_tensor *const *in,
                           la_tensor **out)
{
    la_prog *p = g->p;
    if (g->walk.on)
        return la_error(LA_ESTATE, "a call of the program has begun: step it "
                        "to its end first");
    if (p->busy || (g->parts && g->parts->busy))
        return la_error(LA_ESTATE, "the program runs: a clone can run at the "
                        "same time");
    if ((!in && p->narguments) || (!out && p->outputs.n))
        return la_error(LA_EARG, "no list of tensors given");
    for (int32_t i = 0; i < p->narguments; i++)
        LA_TRY(run_check_input(g, i, in[i]));
    for (int32_t i = 0; i < p->narguments && g->writes; i++)
        LA_TRY(run_check_alias(g, i, in));
    LA_TRY(run_check_weights(g));
    for (int32_t i = 0; i < p->outputs.n && !la_program_is_whole(g); i++)
        if (out[i])
            LA_TRY(la_program_check_output(g, i, out[i], run_form(p, i)));
    return LA_OK;
}

/* ---- settings ---- */

static la_program_modes run_set(const la_program *g)
{
    la_context *c = la_ctx();
    la_program_modes before = {c->default_dtype, c->deterministic, c->portable,
                               c->lockstep};
    c->default_dtype = g->p->default_dtype;
    c->deterministic = g->p->deterministic;
    c->portable = g->p->portable;
    c->lockstep = g->p->lockstep;
    return before;
}

static void run_unset(const la_program_modes *before)
{
    la_context *c = la_ctx();
    c->default_dtype = before->default_dtype;
    c->deterministic = before->deterministic;
    c->portable = before->portable;
    c->lockstep = before->lockstep;
}

/* Calls of an open recording would miss what the program does. */
static la_status run_check_context(void)
{
    const la_context *c = la_ctx();
    if (!c->recorder && !c->vmap) return LA_OK;
    return la_error(LA_ESTATE, "a program is no part of la.compile, la.fuse or "
                    "la.vmap");
}

/* ---- the call ---- */

/* Results that nobody gave go to the caller; behind an error they end. */
static void run_hand(la_program *g, la_status status)
{
    la_tensor **results = g->walk.results, **given = g->walk.out;
    for (int32_t i = 0; i < g->p->outputs.n; i++) {
        if (!given[i] && !status) g->walk.to[i] = results[i];
        else if (!given[i]) la_tensor_release(results[i]);
        results[i] = NULL;
    }
}

static la_status run_results(la_program *g)
{
    la_program_walk *w = &g->walk;
    for (int32_t i = 0; i < g->p->outputs.n; i++) w->results[i] = w->out[i];
    return la_prog_results_into(w->p, w->in, w->results, w->out);
}

void la_program_stop(la_program *g)
{
    la_program_walk *w = &g->walk;
    w->on = false;
    w->p->given = NULL;
    la_prog_leave(w->p);
    for (int32_t i = 0; i < g->p->narguments; i++) la_tensor_drop(&w->in[i]);
    for (int32_t i = 0; i < g->p->outputs.n; i++) la_tensor_drop(&w->out[i]);
}

static void run_note(la_program *g)
{
    for (int32_t i = 0; i < g->p->narguments; i++)
        g->walk.versions[i] = la_tensor_version(g->walk.in[i])
            + la_other_writes(g->walk.in[i]);
}

static la_status run_look(const la_program *g)
{
    for (int32_t i = 0; i < g->p->narguments; i++) {
        const la_tensor *t = g->walk.in[i];
        if (la_tensor_version(t) + la_other_writes(t) == g->walk.versions[i])
            continue;
        return la_error(LA_EALIAS, "input '%s' was written since the call "
                        "began, which ends it", la_program_key(g, 0, i));
    }
    return LA_OK;
}

static la_status run_make_parts(la_program *g)
{
    if (g->has_parts) return LA_OK;
    LA_TRY(la_prog_parts(g->p, &g->parts));
    g->has_parts = true;
    return LA_OK;
}

static la_status start_one(la_program *g, bool parts, la_tensor *const *in,
                           la_tensor **out)
{
    la_program_walk *w = &g->walk;
    LA_TRY(run_check(g, in, out));
    if (parts && !la_program_is_whole(g)) LA_TRY(run_make_parts(g));
    w->p = parts && g->parts ? g->parts : g->p;
    la_program_modes before = run_set(g);
    la_status status = la_prog_begin(w->p, in);
    run_unset(&before);
    if (status) return status;
    for (int32_t i = 0; i < g->p->narguments; i++)
        w->in[i] = la_tensor_retain(in[i]);
    for (int32_t i = 0; i < g->p->outputs.n; i++)
        w->out[i] = out[i] ? la_tensor_retain(out[i]) : NULL;
    w->to = out;
    w->on = true;
    run_note(g);
    return LA_OK;
}

la_status la_program_start(la_program *g, bool parts, la_tensor *const *in,
                           la_tensor **out)
{
    la_program *one = g;
    LA_TRY(run_check_context());
    if (g->now && (g->now->walk.on || g->now->p->busy))
        return start_one(g->now, parts, in, out);       /* which refuses */
    if (!g->walk.on && !g->p->busy) LA_TRY(la_program_fitting(g, in, &one));
    g->now = one != g ? one : NULL;
    return start_one(one, parts, in, out);
}

la_status la_program_go_on(la_program *g, int64_t end, bool *done)
{
    if (g->now) g = g->now;
    la_prog_host host = {.read = run_number, .context = g};
    *done = false;
    if (!g->walk.on)
        return la_error(LA_ESTATE, "no call of the program has begun");
    la_status status = run_look(g);
    la_program_modes before = run_set(g);
    la_prog *p = g->walk.p;
    bool whole = la_program_is_whole(g);
    p->given = g->walk.out;
    if (!status && whole)
        status = la_program_run_whole(g, g->walk.in, g->walk.out,
                                      g->walk.results);
    else if (!status) status = la_prog_advance(p, g->walk.in, end, &host);
    p->given = NULL;
    *done = whole || status || p->at >= p->steps.n;
    if (!status && *done && !whole) status = run_results(g);
    run_unset(&before);
    if (*done) {
        run_hand(g, status);
        la_program_stop(g);
    } else {
        run_note(g);
    }
    return status;
}

la_status la_program_call(la_program *g, la_tensor *const *in,
                          la_tensor **out)
{
    bool done;
    LA_TRY(la_program_start(g, false, in, out));
    return la_program_go_on(g, INT64_MAX, &done);
}

/* A copy that keeps histories is one whose calls are all made. */
la_status la_program_replay(la_program *g, la_tensor *const *in,
                            la_tensor **out)
{
    la_prog_host host = {.read = run_number, .context = g};
    la_prog *p = NULL;
    if (la_program_is_whole(g)) return la_program_call(g, in, out);
    LA_TRY(run_check_context());
    LA_TRY(run_check(g, in, out));
    LA_TRY(la_prog_copy(g->p->recorded, &p));
    p->live = true;
    la_program_modes before = run_set(g);
    la_status status = la_prog_plan(p, NULL);
    if (!status) status = la_prog_run_graph(p, in, out, &host);
    run_unset(&before);
    la_prog_free(p);
    return status;
}
