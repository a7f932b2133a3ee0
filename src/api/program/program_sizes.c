/*
** Programs of models whose file leaves sizes open: another size of an input
** leads to another plan, which its first call makes and kept.
*/
#include "api/program/api_program.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "op/move/copy.h"
#include "tensor/shape.h"

/* ---- planners ---- */

la_status la_planner_new(void *source, void (*close)(void *),
                         la_planner **out)
{
    la_planner *k = la_mem_zalloc(sizeof *k);
    if (!k || !la_long_lock_init(&k->lock)) {
        la_mem_free(k, sizeof *k);
        close(source);
        return la_error(LA_ENOMEM, "no memory for a planner");
    }
    atomic_store_explicit(&k->refs, 1, memory_order_relaxed);
    k->source = source;
    k->close = close;
    *out = k;
    return LA_OK;
}

void la_planner_release(la_planner *k)
{
    if (!k || !la_drop_ref(&k->refs)) return;
    k->close(k->source);
    la_long_lock_destroy(&k->lock);
    la_prog_drop_list(&k->open, sizeof(uint64_t));
    la_mem_free(k, sizeof *k);
}

bool la_program_is_open(const la_program *g, int what, int i, int d)
{
    if (!g->planner || what > 1) return false;
    int32_t at = what ? g->p->narguments + i : i;
    return at < g->planner->open.n
        && *LA_PROG_AT(g->planner->open, uint64_t, at) >> d & 1;
}

/* ---- which program ---- */

/* Has each input what the recording had, but for sizes that are 'open'? */
static bool sizes_fit(const la_program *g, la_tensor *const *in, bool open)
{
    for (int32_t i = 0; i < g->p->narguments; i++) {
        const la_tensor *f = la_prog_object_at(g->p, i)->form, *t = in[i];
        if (!t || t->owner != g->owner || t->dtype != f->dtype
            || t->ndim != f->ndim) return false;
        for (int d = 0; d < f->ndim; d++)
            if (la_sizes(t)[d] != la_sizes(f)[d]
                && !(open && la_program_is_open(g, 0, i, d))) return false;
    }
    return true;
}

static bool sizes_runs(const la_program *g)
{
    return g->walk.on || g->p->busy || (g->parts && g->parts->busy);
}

/* The last entry of the list becomes 'one', which stood at 'at'. */
static void sizes_to_end(la_program *g, int32_t at)
{
    la_program **list = g->others.items, *one = list[at];
    size_t after = (size_t)(g->others.n - 1 - at);
    memmove(list + at, list + at + 1, after * sizeof *list);
    list[g->others.n - 1] = one;
}

/* Takes 'fresh' over, in the list of a program that keeps so many. */
static la_status sizes_keep(la_program *g, la_program *fresh)
{
    if (g->others.n == LA_PROGRAM_SIZES) {
        sizes_to_end(g, 0);             /* what ran longest ago goes */
        la_program **last = LA_PROG_AT(g->others, la_program *,
                                       g->others.n - 1);
        la_program_drop(*last);
        *last = fresh;
        return LA_OK;
    }
    la_program **to = la_prog_add(&g->others, sizeof *to);
    if (!to) {
        la_program_drop(fresh);
        return LA_ENOMEM;
    }
    *to = fresh;
    return LA_OK;
}

static la_status sizes_plan(la_program *g, la_tensor *const *in,
                            la_program **out)
{
    la_planner *k = g->planner;
    la_program *fresh = NULL;
    if (!la_long_lock_take(&k->lock))
        return la_error(LA_ESTATE, "the model is planned for other sizes, and "
                        "runs from within that");
    la_status status = k->plan(k->source, in, g->p->narguments, &fresh);
    la_long_lock_drop(&k->lock);
    if (status) return status;
    if (fresh->p->narguments != g->p->narguments
        || fresh->p->outputs.n != g->p->outputs.n
        || !sizes_fit(fresh, in, false)) {
        la_program_drop(fresh);
        return la_error(LA_ESTATE, "the plan for these sizes has other inputs "
                        "or outputs");
    }
    LA_TRY(sizes_keep(g, fresh));
    *out = fresh;
    return LA_OK;
}

la_status la_program_fitting(la_program *g, la_tensor *const *in,
                             la_program **out)
{
    *out = g;
    if (!g->planner || g->planner->whole || !in || sizes_fit(g, in, false)
        || !sizes_fit(g, in, true)) return LA_OK;
    for (int32_t i = g->others.n - 1; i >= 0; i--) {
        la_program *one = *LA_PROG_AT(g->others, la_program *, i);
        if (!sizes_fit(one, in, false) || sizes_runs(one)) continue;
        sizes_to_end(g, i);
        *out = one;
        return LA_OK;
    }
    return sizes_plan(g, in, out);
}

/* ---- models that no plan has whole ---- */

/* The result becomes the given output. */
static la_status sizes_give(const la_program *g, int32_t i, la_tensor *to,
                            la_tensor *from)
{
    LA_TRY(la_program_check_output(g, i, to, from));
    LA_TRY(la_copy_data(to, from));
    la_bump_version(to);
    return LA_OK;
}

la_status la_program_run_whole(la_program *g, la_tensor *const *in,
                               la_tensor *const *given, la_tensor **out)
{
    la_planner *k = g->planner;
    int32_t n = g->p->outputs.n;
    for (int32_t i = 0; i < n; i++) out[i] = NULL;
    if (!la_long_lock_take(&k->lock))
        return la_error(LA_ESTATE, "the model runs, and is called from within "
                        "that");
    la_status status = k->run(k->source, in, g->p->narguments, out, n);
    la_long_lock_drop(&k->lock);
    for (int32_t i = 0; i < n && !status; i++)
        if (given[i]) status = sizes_give(g, i, given[i], out[i]);
    for (int32_t i = 0; i < n; i++)
        if (status || given[i]) la_tensor_drop(&out[i]);
    return status;
}

/* ---- the end ---- */

void la_program_drop_others(la_program *g)
{
    for (int32_t i = 0; i < g->others.n; i++)
        la_program_drop(*LA_PROG_AT(g->others, la_program *, i));
    la_prog_drop_list(&g->others, sizeof(la_program *));
    g->now = NULL;
}
