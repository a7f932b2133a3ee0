/*
** Questions to elements (op/look.h) in programs. Such a step asks again in each
** run. A refusal is the call's error. An answer that decides what is called
** next has to be that of the recording: those questions, and the calls that
** they depend on, run before all others, so that a run that does not fit has
** done nothing, and another recording can run.
*/
#include "program/recorder.h"

#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "op/op.h"
#include "op/schema.h"
#include "program/passes.h"

/* ---- recording ---- */

la_status la_look_record(const la_op *op, const la_look_question *q,
                         la_tensor *t, int64_t answer)
{
    la_recorder *r = la_ctx()->recorder;
    if (!r || r->failed || r->p->eager
        || la_ctx()->excluded_keys & 1u << LA_KEY_RECORD) return LA_OK;
    int32_t view = la_meet_operand(r, t);
    if (view < 0) return LA_OK;
    const la_prog_slot *s = la_prog_slot_at(r->p,
        la_prog_view_at(r->p, view)->slot);
    if (!s->varies) {
        la_record_peek(t);
        return LA_OK;
    }
    la_prog_step step = {.kind = LA_STEP_LOOK, .op = op, .view = view,
                         .object = LA_PROG_NONE, .lists = LA_PROG_NONE,
                         .question = *q, .answer = answer,
                         .sequence = la_node_sequence()};
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        step.results[k] = step.outs[k] = LA_PROG_NONE;
    step.early = la_look_decides(q->kind);
    r->p->chooses |= step.early;
    la_record_step(r, &step);
    return LA_OK;
}

/* ---- what runs first ---- */

typedef struct look_walk {
    la_prog *p;
    bool *need;         /* per slot */
    bool hit, no;
} look_walk;

static void look_need(void *context, int32_t view)
{
    look_walk *w = context;
    w->need[la_prog_view_at(w->p, view)->slot] = true;
    w->no |= w->p->live && la_prog_view_at(w->p, view)->grad;
}

static void look_hit(void *context, int32_t view)
{
    look_walk *w = context;
    w->hit |= w->need[la_prog_view_at(w->p, view)->slot];
}

/* Only the call that makes a slot may stand before its question. */
static void look_makes(void *context, int32_t view)
{
    look_walk *w = context;
    const la_prog_slot *s = la_prog_slot_at(w->p,
        la_prog_view_at(w->p, view)->slot);
    w->no |= s->kind != LA_SLOT_STEP;
}

static bool look_first(look_walk *w, int32_t question, bool mark)
{
    la_prog *p = w->p;
    look_need(w, la_prog_step_at(p, question)->view);
    for (int32_t i = question - 1; i >= 0 && !w->no; i--) {
        la_prog_step *s = la_prog_step_at(p, i);
        w->hit = false;
        la_prog_writes(p, s, look_hit, w);
        if (!w->hit) continue;
        w->no |= s->kind != LA_STEP_CALL || s->form != LA_FUNCTIONAL
            || s->nsources || s->op->forms & LA_MUTATES
            || la_draws_numbers(la_schema_of(s->op));
        la_prog_writes(p, s, look_makes, w);
        la_prog_reads(p, s, look_need, w);
        s->early |= mark;
    }
    return !w->no;
}

static bool look_can(look_walk *w, int32_t question)
{
    return look_first(w, question, false);
}

bool la_look_mark(la_prog *p)
{
    size_t bytes = (size_t)p->slots.n + 1;
    bool fits = true;
    if (!p->chooses) return true;
    for (int32_t i = p->steps.n - 1; i >= 0 && fits; i--) {
        if (la_prog_step_at(p, i)->kind != LA_STEP_LOOK
            || !la_prog_step_at(p, i)->early) continue;
        look_walk w = {.p = p, .need = la_mem_zalloc(bytes)};
        bool soft = la_prog_step_at(p, i)->question.a;
        if (soft && w.need && !look_can(&w, i)) {
            la_prog_step_at(p, i)->dead = la_prog_step_at(p, i)->pure = true;
            la_prog_step_at(p, i)->early = false;
        } else {
            w.no = false;
            if (w.need) memset(w.need, 0, bytes);
            fits = w.need && look_first(&w, i, true);
        }
        if (w.need) la_mem_free(w.need, bytes);
    }
    return fits;
}

/* Which is told by a loop that is a step: whether it has a pass at all. */
static bool look_is_soft(const la_prog_step *s)
{
    return s->kind == LA_STEP_LOOK && s->question.kind == LA_LOOK_truth
        && s->question.a && s->answer;
}

void la_look_let_go(la_prog *p)
{
    p->chooses = false;
    for (int32_t i = 0; i < p->steps.n; i++) {
        la_prog_step *s = la_prog_step_at(p, i);
        s->early = s->kind == LA_STEP_LOOK && s->early && !look_is_soft(s);
        p->chooses |= s->early;
    }
    la_look_mark(p);
}

/* ---- a run ---- */

la_status la_look_again(la_prog *p, la_prog_step *s, const la_tensor *t)
{
    int64_t answer;
    la_status status = la_look_ask(&s->question, t, &answer);
    if (!s->early) return status;
    if (!status && answer == s->answer) return LA_OK;
    p->unfit = true;
    if (status) return status;
    return la_error(LA_ESTATE, "a value decides otherwise than it did in the "
                    "recording");
}
