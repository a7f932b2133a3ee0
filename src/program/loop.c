/*
** la.while_loop in a program: a step with two programs, test and body, which
** run until the test says no. Both are recorded on the first pass through the
** loop, by recorders within the recorder (la_recorder.outer). What they use of
** what is around becomes further arguments of theirs, and operands of the step.
**
** A body that writes what is around, or draws numbers, is no program of its
** own. The function that has the loop runs in each call then.
*/
#include "program/recorder.h"

#include <string.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "op/call.h"
#include "op/op.h"
#include "op/schema.h"
#include "program/passes.h"

enum { LOOP_MOST = 64 };        /* operands of a loop */

int32_t la_loop_operands(const la_prog_step *s)
{
    return s->loop->ncarry + s->loop->ntest + s->loop->nbody
        + s->loop->chooses;
}

void la_loop_free(la_prog_loop *loop)
{
    if (!loop) return;
    la_prog_free(loop->test);
    la_prog_free(loop->body);
    la_mem_free(loop, sizeof *loop);
}

/* ---- recording ---- */

/* Is a branch recorded that may not be taken? It does nothing that lasts. */
static bool loop_is_dry(void)
{
    const la_recorder *r = la_ctx()->recorder;
    return r && r->dry;
}

la_status la_loop_hold(void)
{
    if (!loop_is_dry()) return LA_OK;
    la_record_refuse("a branch of la.cond changes what is around");
    return la_error(LA_ESTATE, "a branch of la.cond that may not be taken "
                    "changes nothing around it");
}

/* Both programs are recorded with copies: a tensor that a copy differs from in
** strides or in bits that are pending is copied in each run, too. */
static bool loop_is_plain(const la_tensor *t)
{
    int64_t strides[LA_MAX_DIMS];
    la_preserve_strides(t, strides);
    return !(t->flags & (LA_F_CONJ | LA_F_NEG))
        && memcmp(strides, la_strides(t), 8 * (size_t)t->ndim) == 0;
}

/* The operand for a tensor of the carry, which becomes it. */
static bool loop_carried(la_loop_record *l, la_tensor **carry)
{
    LA_OWNED t = la_tensor_retain(*carry);
    if (!loop_is_plain(t)) {
        la_tensor_drop(&t);
        if (la_run(clone, &t, *carry)) {
            la_error_clear();
            return false;
        }
    }
    int32_t view = la_meet_operand(l->outer, t);
    if (view < 0) return false;
    *carry = l->tensors[l->n] = la_tensor_retain(t);
    l->operands[l->n++] = view;
    return true;
}

bool la_loop_begin(la_loop_record *l, la_tensor *condition, int n,
                   la_tensor **carry)
{
    la_recorder *r = la_ctx()->recorder;
    *l = (la_loop_record){.outer = r};
    if (!r || r->failed || r->p->eager || r->outer || n < !condition
        || n > LOOP_MOST / 2 || la_ctx()->excluded_keys & 1u << LA_KEY_RECORD)
        return false;
    for (int i = 0; i < n; i++)
        if (carry[i]->device != LA_CPU || !carry[i]->storage
            || carry[i]->flags & LA_F_BATCHED) return false;
    l->loop = la_mem_zalloc(sizeof *l->loop);
    if (!l->loop) return false;
    l->loop->ncarry = n;
    l->loop->chooses = condition != NULL;
    if (condition) {
        l->tensors[l->n] = la_tensor_retain(condition);
        l->operands[l->n++] = la_meet_operand(r, condition);
        if (l->operands[0] < 0) return false;
    }
    for (int i = 0; i < n; i++)
        if (!loop_carried(l, &carry[i])) return false;
    return true;
}

la_status la_loop_part(la_loop_record *l, int n, la_tensor *const *carry)
{
    LA_TRY(la_record_begin(n, carry, l->outer->where, l->outer->host, false,
                           &l->part));
    l->part->dry = l->loop->chooses;
    return LA_OK;
}

typedef struct loop_walk { la_prog *p; bool no; } loop_walk;

static void loop_written(void *context, int32_t view)
{
    loop_walk *w = context;
    const la_prog_slot *s = la_prog_slot_at(w->p,
        la_prog_view_at(w->p, view)->slot);
    w->no |= s->kind == LA_SLOT_OBJECT;
}

/* Can the program run on other tensors, again and again? */
static bool loop_is_closed(la_prog *p)
{
    loop_walk w = {p, p->eager || p->chooses};
    for (int32_t i = 0; i < p->steps.n && !w.no; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        w.no |= s->kind != LA_STEP_CALL || s->nsources
            || la_draws_numbers(la_schema_of(s->op));
        la_prog_writes(p, s, loop_written, &w);
    }
    for (int32_t i = 0; i < p->objects.n; i++) {
        const la_prog_object *o = la_prog_object_at(p, i);
        w.no |= o->pinned || o->grad_asked || o->grad_set;
    }
    return !w.no;
}

static void loop_read(void *context, int32_t view)
{
    loop_walk *w = context;
    w->no |= la_prog_slot_at(w->p, la_prog_view_at(w->p, view)->slot)->varies;
}

static void loop_vary(void *context, int32_t view)
{
    loop_walk *w = context;
    la_prog_slot_at(w->p, la_prog_view_at(w->p, view)->slot)->varies = true;
}

/* Results of calls on tensors that vary are no constants of the part. */
static void loop_mark_varying(la_prog *p)
{
    for (int32_t i = 0; i < p->steps.n; i++) {
        loop_walk w = {p, false};
        la_prog_reads(p, la_prog_step_at(p, i), loop_read, &w);
        if (w.no) la_prog_writes(p, la_prog_step_at(p, i), loop_vary, &w);
    }
}

/* Tensors from outside of the part become arguments, and operands. Those that
** the outer program computes have other values in each run. */
static bool loop_close(la_loop_record *l, la_prog *p, int32_t *n)
{
    for (int32_t i = 0; i < p->objects.n; i++) {
        la_prog_object *o = la_prog_object_at(p, i);
        if (o->argument >= 0) continue;
        int32_t view = l->n < LOOP_MOST ? la_meet_operand(l->outer, o->tensor)
                                        : LA_PROG_NONE;
        if (view < 0) return false;
        const la_prog_slot *outer = la_prog_slot_at(l->outer->p,
            la_prog_view_at(l->outer->p, view)->slot);
        if (o->slot >= 0 && (outer->varies || outer->kind != LA_SLOT_OBJECT))
            la_prog_slot_at(p, o->slot)->varies = true;
        l->tensors[l->n] = o->tensor;
        o->tensor = NULL;
        l->operands[l->n++] = view;
        ++*n;
        o->argument = p->narguments++;
    }
    for (int32_t i = 0; i < p->outputs.n; i++) {
        la_prog_output *o = la_prog_output_at(p, i);
        o->requires_grad = o->consumed = o->history = false;
    }
    p->live = false;
    loop_mark_varying(p);
    return true;
}

/* Outputs of a body: the argument of the same index, or tensors of its own. */
static bool loop_outputs(la_loop_record *l, const la_prog *p)
{
    for (int32_t i = 0; i < p->outputs.n; i++) {
        const la_prog_output *o = la_prog_output_at(p, i);
        if (o->object >= 0) {
            if (l->loop->chooses) return false;
            l->through[i] = la_prog_object_at(p, o->object)->argument == i;
            if (!l->through[i]) return false;
            continue;
        }
        int32_t slot = la_prog_view_at(p, o->view)->slot;
        if (la_prog_slot_at(p, slot)->kind == LA_SLOT_OBJECT) return false;
        for (int32_t k = 0; k < i; k++) {
            const la_prog_output *e = la_prog_output_at(p, k);
            if (e->view >= 0 && la_prog_view_at(p, e->view)->slot == slot)
                return false;
        }
    }
    return true;
}

static bool loop_same_form(const la_tensor *a, const la_tensor *b)
{
    return a->dtype == b->dtype && a->names == b->names
        && !((a->flags ^ b->flags) & (LA_F_CONJ | LA_F_NEG))
        && la_same_geometry(a, b);
}

bool la_loop_part_end(la_loop_record *l, int n, la_tensor *const *results,
                      la_tensor *const *carry)
{
    bool test = !l->loop->test, fits = true;
    la_prog **to = test ? &l->loop->test : &l->loop->body;
    for (int i = 0; i < n; i++) {
        fits = fits && la_record_output(l->part, results[i]) == i;
        if (!l->loop->chooses)
            fits = fits && (test || loop_same_form(results[i], carry[i]));
        else if (la_requires_grad(results[i])) fits = false;
    }
    /* Histories of results are the outer recording's. */
    l->part->no_graph = NULL;
    la_record_end(l->part, to);
    l->part = NULL;
    fits = fits && *to && loop_is_closed(*to)
        && ((test && !l->loop->chooses) || loop_outputs(l, *to))
        && loop_close(l, *to, test ? &l->loop->ntest : &l->loop->nbody);
    if (!fits && n && !l->loop->chooses)
        la_record_refuse("the body of la.while_loop writes what is around, "
                         "draws numbers, or gives tensors of other strides or "
                         "such that are not its own");
    return fits;
}

void la_loop_drop(la_loop_record *l)
{
    if (l->part) {
        la_prog *p = NULL;
        la_record_end(l->part, &p);
        la_prog_free(p);
        l->part = NULL;
    }
    la_loop_free(l->loop);
    l->loop = NULL;
    for (int i = 0; i < LOOP_MOST; i++) la_tensor_drop(&l->tensors[i]);
}

/* ---- no derivatives ---- */

static la_status loop_backward(la_node *n, la_tensor **grads, la_tensor **out)
{
    (void)n, (void)grads, (void)out;
    return la_error(LA_EGRAD, "while_loop: a compiled loop has no derivative, "
                    "as what each pass computed is not kept: use la.scan, or "
                    "differentiate it outside of la.compile");
}

static const la_node_class class_loop = {
    "WhileLoop", loop_backward, NULL, NULL, NULL
};

la_status la_loop_history(la_tensor *t, int n, la_tensor *const *operands)
{
    la_node *node = NULL;
    if (!la_is_inexact((la_dtype)t->dtype))
        return LA_OK;
    LA_TRY(la_node_new(&class_loop, n, 1, 0, &node));
    la_status status = la_node_output(node, 0, t);
    for (int i = 0; i < n && !status; i++)
        if (la_requires_grad(operands[i]))
            status = la_gradient_edge(operands[i], &node->edges[i]);
    if (!status) status = la_set_history(t, node, 0);
    la_node_release(node);
    return status;
}

/* ---- the step ---- */

static la_status loop_member(la_recorder *r, int32_t view)
{
    int32_t *m = la_prog_add(&r->p->members, sizeof *m);
    if (!m) return LA_ENOMEM;
    *m = view;
    return LA_OK;
}

static la_status loop_results(la_loop_record *l, la_prog_step *s, int n,
                              la_tensor **results)
{
    la_recorder *r = l->outer;
    for (int i = 0; i < n; i++, s->nlisted++) {
        if (l->through[i]) {
            LA_TRY(loop_member(r, LA_PROG_NONE));
            continue;
        }
        int32_t slot = la_meet_new_slot(r, LA_SLOT_STEP, LA_PROG_NONE,
                                        results[i]->storage);
        if (slot < 0) return LA_ENOMEM;
        la_prog_slot_at(r->p, slot)->maker = r->p->steps.n;
        la_prog_slot_at(r->p, slot)->varies = true;
        LA_TRY(loop_member(r, la_meet_view(r, slot, results[i])));
    }
    return LA_OK;
}

/* The call has its results whatever becomes of the recording: where the step
** cannot be written down, the recording has failed and the call has not. The
** results are clones, as a loop that never runs its body would give its
** operands themselves. */
la_status la_loop_end(la_loop_record *l, int n, la_tensor *const *carry,
                      la_tensor **results)
{
    la_recorder *r = l->outer;
    la_prog_step s = {.kind = LA_STEP_LOOP, .op = LA_OP(cond),
        .named = LA_OP(cond), .object = LA_PROG_NONE, .view = LA_PROG_NONE,
        .no_grad = la_ctx()->no_grad, .sequence = la_node_sequence(),
        .loop = l->loop,
        .lists = r->p->members.n};
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        s.results[k] = s.outs[k] = LA_PROG_NONE;
    bool grad = false;
    for (int i = 0; i < l->n; i++) {
        grad |= la_prog_view_at(r->p, l->operands[i])->grad;
        if (loop_member(r, l->operands[i])) r->failed = true;
    }
    for (int i = 0; i < n; i++) {
        LA_LET(plain, la_run(detach, &plain, carry[i]));
        LA_TRY(la_run(clone, &results[i], plain));
    }
    s.list_results = r->p->members.n;
    if (loop_results(l, &s, n, results)) r->failed = true;
    grad &= !s.loop->chooses;
    l->loop = NULL;
    if (r->failed) la_loop_free(s.loop);
    else la_record_step(r, &s);
    la_status status = LA_OK;
    for (int i = 0; i < n && grad && !s.no_grad; i++)
        if (!l->through[i] && !status)
            status = la_loop_history(results[i], l->n, l->tensors);
    la_loop_drop(l);
    return status;
}

/* ---- a run ---- */

static la_status loop_call(la_prog *p, la_tensor **carry, int n,
                           la_tensor *const *others, int32_t nothers,
                           la_tensor **out, const la_prog_host *host)
{
    la_tensor *arguments[LOOP_MOST];
    la_prog_host own = *host;
    own.clock = NULL;
    for (int i = 0; i < n; i++) arguments[i] = carry[i];
    for (int32_t i = 0; i < nothers; i++) arguments[n + i] = others[i];
    if (!p->planned) LA_TRY(la_prog_plan(p, NULL));
    return la_prog_run(p, arguments, out, false, &own);
}

/* *more: does the test hold? */
static la_status loop_test(const la_prog_loop *l, la_tensor **carry,
                           la_tensor *const *operands,
                           const la_prog_host *host, bool *more)
{
    la_tensor *flag = NULL;
    LA_TRY(loop_call(l->test, carry, l->ncarry, operands + l->ncarry, l->ntest,
                     &flag, host));
    *more = *(const uint8_t *)la_data(flag) != 0;
    la_tensor_release(flag);
    return LA_OK;
}

/* la.cond: one of the two programs. */
static la_status loop_choose(const la_prog_loop *l, la_tensor *const *operands,
                             la_tensor **out, const la_prog_host *host)
{
    la_tensor *carry[LOOP_MOST], *const *others = operands + 1 + l->ncarry;
    la_context *c = la_ctx();
    bool no_grad = c->no_grad;
    LA_TRY(la_tensor_check_bounds(operands[0]));
    bool holds = *(const uint8_t *)la_data(operands[0]) != 0;
    for (int32_t i = 0; i < l->ncarry; i++) carry[i] = operands[1 + i];
    LA_WITHOUT_KEYS(1u << LA_KEY_AUTOGRAD | 1u << LA_KEY_RECORD);
    c->no_grad = true;
    la_status status = holds
        ? loop_call(l->test, carry, l->ncarry, others, l->ntest, out, host)
        : loop_call(l->body, carry, l->ncarry, others + l->ntest, l->nbody, out,
                    host);
    c->no_grad = no_grad;
    return status;
}

/* Without autograd: the history of a loop is one node (la_loop_history), not
** those of the calls in it. */
la_status la_loop_run(const la_prog_step *s, la_tensor *const *operands,
                      la_tensor **out, const la_prog_host *host)
{
    const la_prog_loop *l = s->loop;
    la_tensor *carry[LOOP_MOST], *next[LOOP_MOST];
    int n = l->ncarry;
    if (l->chooses) return loop_choose(l, operands, out, host);
    bool more = true;
    la_context *c = la_ctx();
    bool no_grad = c->no_grad;
    LA_WITHOUT_KEYS(1u << LA_KEY_AUTOGRAD | 1u << LA_KEY_RECORD);
    c->no_grad = true;
    for (int i = 0; i < n; i++) carry[i] = la_tensor_retain(operands[i]);
    la_status status = loop_test(l, carry, operands, host, &more);
    while (!status && more) {
        memset(next, 0, sizeof next);
        status = loop_call(l->body, carry, n, operands + n + l->ntest,
                           l->nbody, next, host);
        for (int i = 0; i < n && !status; i++) {
            la_tensor_release(carry[i]);
            carry[i] = next[i];
        }
        if (!status) status = loop_test(l, carry, operands, host, &more);
    }
    for (int i = 0; i < n; i++) {
        if (!status && carry[i] == operands[i])
            out[i] = la_tensor_retain(carry[i]);
        else if (!status) status = la_run(clone, &out[i], carry[i]);
        la_tensor_release(carry[i]);
    }
    for (int i = 0; status && i < n; i++) la_tensor_drop(&out[i]);
    c->no_grad = no_grad;
    return status;
}
