/* Passes in their order, and what they share. */
#include "program/passes.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "op/op.h"

/* ---- what a step reads and writes ---- */

static void passes_list(const la_prog *p, int32_t first, int64_t n,
                        la_prog_visit fn, void *context)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t view = la_prog_member(p, first + (int32_t)i);
        if (view >= 0) fn(context, view);
    }
}

void la_prog_reads(const la_prog *p, const la_prog_step *s, la_prog_visit fn,
                   void *context)
{
    int32_t list = s->lists;
    if (s->kind != LA_STEP_CALL && s->view >= 0) fn(context, s->view);
    if (s->kind == LA_STEP_LOOP)
        passes_list(p, list, la_loop_operands(s), fn, context);
    if (s->kind != LA_STEP_CALL) return;
    for (int k = 0; k < s->nargs; k++) {
        if (s->views[k] >= 0) fn(context, s->views[k]);
        if (s->args[k].tag != LA_VTENSORS) continue;
        passes_list(p, list, s->args[k].tensors.n, fn, context);
        list += (int32_t)s->args[k].tensors.n;
    }
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (s->outs[k] >= 0) fn(context, s->outs[k]);
}

void la_prog_writes(const la_prog *p, const la_prog_step *s, la_prog_visit fn,
                    void *context)
{
    if (s->kind == LA_STEP_LOOP)
        passes_list(p, s->list_results, s->nlisted, fn, context);
    if (s->kind != LA_STEP_CALL || s->alias) return;
    if ((s->op->forms & LA_MUTATES) && s->views[0] >= 0)
        fn(context, s->views[0]);
    /* Steps of optimisers write what they keep, which comes behind parameter
    ** and gradient. */
    for (int k = 2; k < s->nargs && s->op->role == LA_ROLE_step; k++)
        if (s->views[k] >= 0) fn(context, s->views[k]);
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        if (s->outs[k] >= 0) fn(context, s->outs[k]);
        if (s->results[k] >= 0) fn(context, s->results[k]);
    }
    passes_list(p, s->list_results, s->nlisted, fn, context);
}

/* ---- the order ---- */

static const struct {
    const char *name, *text;
    bool always;
    la_status (*run)(la_prog *p, la_prog_pass_note *note);
} passes[] = {
#define PASS(id, name, always, text) \
    {name, text, always, la_prog_pass_##id},
#include "program/passes.def"
#undef PASS
};

static bool passes_is_in(const char *name, const char *const *list)
{
    for (; list && *list; list++)
        if (strcmp(*list, name) == 0) return true;
    return false;
}

const char *la_prog_pass_name(int k) { return passes[k].name; }
const char *la_prog_pass_text(int k) { return passes[k].text; }

la_status la_prog_plan(la_prog *p, const char *const *without)
{
    p->notes = la_mem_zalloc(la_prog_notes_bytes());
    if (!p->notes) return LA_ENOMEM;
    LA_TRY(la_prog_copy(p, &p->recorded));
    for (int k = 0; k < LA_NPASSES; k++) {
        p->notes[k].left_out = passes_is_in(passes[k].name, without);
        if (p->notes[k].left_out && !passes[k].always) continue;
        LA_TRY(passes[k].run(p, &p->notes[k]));
        LA_TRY(la_prog_verify(p));
    }
    p->planned = true;
    return LA_OK;
}
