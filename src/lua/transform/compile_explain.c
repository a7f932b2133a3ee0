/*
** step:explain(): a text for people about a plan.
**
** What the plan is bound by is an estimate from sizes: the work of each call as
** fuel counts it (op/cost/fuel.h), the bytes that it moves to and from memory,
** and what a call costs by itself. The calls of a group are one walk: what only
** they read and write never gets to memory. step:profile measures.
*/
#include <string.h>

#include "lua/transform/compile.h"
#include "op/cost/fuel.h"
#include "op/op.h"

/* Nanoseconds of a unit of work where it is products, and where not; of a byte;
** of a call, or a walk of several. */
#define PRODUCTS 0.13
#define WORK 0.06
#define BYTE 0.02
#define CALL 60

enum { BY_PRODUCTS, BY_FUNCTIONS, BY_MEMORY, BY_CALLS, NBOUNDS };

typedef struct explained {
    const la_prog *p;
    double *ns;             /* of each step; of a group at its first one */
    char *met;              /* views of the step or group at hand */
    int32_t first, end;     /* of the group; else -1 */
    int64_t read, written;  /* bytes of the step or group */
    int64_t bytes;          /* of all */
    double by[NBOUNDS], total;
} explained;

/* ---- what a step costs ---- */

/* Is the view's memory the group's alone? */
static bool explain_is_inner(const explained *x, const la_prog_view *v)
{
    const la_prog_slot *s = la_prog_slot_at(x->p, v->slot);
    return x->end >= 0 && s->kind == LA_SLOT_STEP && s->inner
        && s->maker >= x->first && s->maker <= x->end;
}

static int64_t explain_touched(explained *x, int32_t view)
{
    const la_prog_view *v = la_prog_view_at(x->p, view);
    if (x->met[view] || explain_is_inner(x, v)) return 0;
    x->met[view] = 1;
    int64_t bytes = v->form->numel * (int64_t)la_itemsize(v->form);
    int64_t slot = la_prog_slot_at(x->p, v->slot)->nbytes;
    return bytes < slot ? bytes : slot;     /* repeated ones are read once */
}

static void explain_read(void *context, int32_t view)
{
    explained *x = context;
    x->read += explain_touched(x, view);
}

static void explain_write(void *context, int32_t view)
{
    explained *x = context;
    x->written += explain_touched(x, view);
}

/* Do sums of products make the work? */
static bool explain_is_product(const la_prog_step *s)
{
    switch (s->op->cost) {
    case LA_COST_product: case LA_COST_add_product: case LA_COST_sum_product:
    case LA_COST_pairs_grad: case LA_COST_convolution:
    case LA_COST_convolution_grad: case LA_COST_filters:
    case LA_COST_attention: case LA_COST_attention_grad: case LA_COST_pages:
    case LA_COST_recurrent: case LA_COST_recurrent_grad:
        return true;
    default:
        return false;
    }
}

/* Nanoseconds of the call's work. */
static double explain_work(const la_prog *p, const la_prog_step *s)
{
    la_value args[LA_MAX_ARGS];
    la_frame f = {.op = s->op, .form = LA_FUNCTIONAL, .args = args,
                  .nargs = s->nargs};
    if (s->kind != LA_STEP_CALL) return 0;
    for (int k = 0; k < s->nargs; k++) {
        args[k] = s->args[k];
        if (s->views[k] >= 0)
            args[k].tensor = la_prog_view_at(p, s->views[k])->form;
        else if (args[k].tag == LA_VTENSORS) args[k].tensors.n = 0;
    }
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (s->results[k] >= 0)
            la_set_result(&f, k, la_prog_view_at(p, s->results[k])->form);
    double unit = explain_is_product(s) ? PRODUCTS : WORK;
    return unit * (double)la_cost_of(&f);
}

/* Steps 'first' to 'end', which run as one. */
static void explain_count(explained *x, int32_t first, int32_t end)
{
    double work = 0;
    bool products = false;
    memset(x->met, 0, (size_t)x->p->views.n);
    x->first = first;
    x->end = end > first ? end : -1;
    x->read = x->written = 0;
    for (int32_t i = first; i <= end; i++) {
        const la_prog_step *s = la_prog_step_at(x->p, i);
        if (!la_prog_runs(s) || s->kept) continue;
        la_prog_reads(x->p, s, explain_read, x);
        la_prog_writes(x->p, s, explain_write, x);
        work += explain_work(x->p, s);
        products |= s->kind == LA_STEP_CALL && explain_is_product(s);
    }
    double memory = BYTE * (double)(x->read + x->written);
    if (work < memory) x->by[BY_MEMORY] += memory;
    else x->by[products ? BY_PRODUCTS : BY_FUNCTIONS] += work;
    x->by[BY_CALLS] += CALL;
    x->bytes += x->read + x->written;
    x->ns[first] = (work < memory ? memory : work) + CALL;
    x->total += x->ns[first];
}

static int32_t explain_end(const la_prog *p, int32_t i)
{
    const la_prog_step *s = la_prog_step_at(p, i);
    return s->joined ? la_prog_group_of(p, s)->end : i;
}

/* Is the step one that each run runs? */
static bool explain_counts(const la_prog_step *s)
{
    return la_prog_runs(s) && !s->kept;
}

static void explain_all(explained *x)
{
    for (int32_t i = 0; i < x->p->steps.n; i = explain_end(x->p, i) + 1)
        if (explain_counts(la_prog_step_at(x->p, i)))
            explain_count(x, i, explain_end(x->p, i));
}

/* ---- text ---- */

static void explain_add(luaL_Buffer *b, const char *text)
{
    luaL_addstring(b, text);
}

/* Adds the text on top of the stack. */
#define ADD_PUSHED(b, push) ((void)(push), luaL_addvalue(b))

static void explain_add_bytes(lua_State *L, luaL_Buffer *b, int64_t n)
{
    if (n < 10000) ADD_PUSHED(b, lua_pushfstring(L, "%d bytes", (int)n));
    else if (n < 10000000)
        ADD_PUSHED(b, lua_pushfstring(L, "%d KB", (int)(n / 1000)));
    else ADD_PUSHED(b, lua_pushfstring(L, "%d MB", (int)(n / 1000000)));
}

static int explain_percent(const explained *x, double ns)
{
    return x->total > 0 ? (int)(100 * ns / x->total + 0.5) : 0;
}

static void explain_add_bound(lua_State *L, luaL_Buffer *b, const explained *x)
{
    static const char *const what[NBOUNDS] = {
        "products of matrices and convolutions", "functions of elements",
        "reading and writing memory", "calls by themselves"};
    static const char *const verdict[NBOUNDS] = {
        "arithmetic: products take most of the time",
        "arithmetic: functions of elements take most of the time",
        "memory: most of the time goes to reading and writing",
        "calls: tensors are so small that a call costs more than its elements"};
    int most = NBOUNDS - 1;     /* the call itself, where no step runs */
    for (int k = 0; k < NBOUNDS - 1; k++)
        if (x->by[k] > x->by[most]) most = k;
    ADD_PUSHED(b, lua_pushfstring(L, "bound by %s\nestimated from sizes: ",
                                  verdict[most]));
    for (int k = 0; k < NBOUNDS; k++)
        ADD_PUSHED(b, lua_pushfstring(L, "%s%s %d %%", k ? ", " : "", what[k],
                                      explain_percent(x, x->by[k])));
    explain_add(b, "\nmemory touched: ");
    explain_add_bytes(L, b, x->bytes);
    explain_add(b, " in a run\n");
}

static void explain_add_passes(lua_State *L, luaL_Buffer *b, const la_prog *p)
{
    explain_add(b, "passes: what each did to the recording\n");
    for (int k = 0; k < LA_NPASSES; k++) {
        const la_prog_pass_note *n = &p->notes[k];
        ADD_PUSHED(b, lua_pushfstring(L, "  %s: ", la_prog_pass_name(k)));
        if (n->left_out) {
            explain_add(b, "left out\n");
            continue;
        }
        ADD_PUSHED(b, lua_pushfstring(L, "%s: %d", la_prog_pass_text(k),
                                      (int)n->count));
        if (n->bytes) explain_add(b, ", ");
        if (n->bytes) explain_add_bytes(L, b, n->bytes);
        explain_add(b, "\n");
    }
}

static void explain_add_form(lua_State *L, luaL_Buffer *b, const la_tensor *f)
{
    ADD_PUSHED(b, lua_pushfstring(L, " %s{",
                                  la_dtype_name((la_dtype)f->dtype)));
    for (int d = 0; d < f->ndim; d++)
        ADD_PUSHED(b, lua_pushfstring(L, d ? ", %I" : "%I",
                                      (LUAI_UACINT)la_sizes(f)[d]));
    explain_add(b, "}");
}

/* Operation, what it writes, and the line that called it. */
static void explain_add_step(lua_State *L, luaL_Buffer *b, const la_prog *p,
                             const la_prog_step *s)
{
    int32_t view = s->kind != LA_STEP_CALL ? s->view
        : s->results[0] >= 0 ? s->results[0] : s->list_results >= 0
        && s->nlisted ? la_prog_member(p, s->list_results) : -1;
    la_push_step_name(L, s);
    luaL_addvalue(b);
    if (view >= 0)
        explain_add_form(L, b, la_prog_view_at(p, view)->form);
    else if (s->kind == LA_STEP_GRAD) explain_add(b, " = nil");
    else if (s->kind == LA_STEP_CALL && s->nargs && s->views[0] >= 0)
        explain_add_form(L, b, la_prog_view_at(p, s->views[0])->form);
    explain_add(b, "  ");
    la_push_step_line(L, p, s);
    luaL_addvalue(b);
}

/* A group's head: what it reads and writes of memory. */
static void explain_add_walk(lua_State *L, luaL_Buffer *b, explained *x,
                             int32_t first, int32_t end)
{
    int n = 0;
    explained one = *x;
    for (int32_t i = first; i <= end; i++)
        n += explain_counts(la_prog_step_at(x->p, i));
    explain_count(&one, first, end);
    ADD_PUSHED(b, lua_pushfstring(L, "one walk over memory: %d steps, reads ",
                                  n));
    explain_add_bytes(L, b, one.read);
    explain_add(b, ", writes ");
    explain_add_bytes(L, b, one.written);
    explain_add(b, "\n");
}

static void explain_add_share(lua_State *L, luaL_Buffer *b, const explained *x,
                              int32_t i)
{
    int percent = explain_percent(x, x->ns[i]);
    const char *form = x->total <= 0 ? "  " : percent < 1 ? "   <1 %%  "
        : percent < 10 ? "    %d %%  " : percent < 100 ? "   %d %%  "
        : "  %d %%  ";
    ADD_PUSHED(b, lua_pushfstring(L, form, percent));
}

static void explain_add_steps(lua_State *L, luaL_Buffer *b, explained *x)
{
    const la_prog *p = x->p;
    explain_add(b, "steps: share of the estimate, operation, what it writes, "
                "line\n");
    for (int32_t i = 0, end = -1; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        if (!la_prog_runs(s)) continue;
        if (s->joined && !p->live) {
            end = explain_end(p, i);
            explain_add_share(L, b, x, i);
            explain_add_walk(L, b, x, i, end);
        }
        if (s->kept) explain_add(b, "    -    ");
        else if (i <= end) explain_add(b, "           ");
        else explain_add_share(L, b, x, i);
        explain_add_step(L, b, p, s);
        if (s->kept) explain_add(b, "  (its result is kept)");
        explain_add(b, "\n");
    }
}

static void explain_plan(lua_State *L, luaL_Buffer *b, explained *x)
{
    const la_prog *p = x->p;
    if (p->live)
        explain_add(b, "a result has a history: every call runs with "
                    "autograd\n");
    explain_add_bound(L, b, x);
    if (!p->live) {
        explain_add(b, "arena: ");
        explain_add_bytes(L, b, p->arena_bytes);
        explain_add(b, "; packed: ");
        explain_add_bytes(L, b, p->packed_bytes);
        explain_add(b, "\n");
    }
    explain_add_passes(L, b, p);
}

int la_program_tostring(lua_State *L)
{
    luaL_Buffer b;
    la_called *e = la_check_program(L, "tostring");
    luaL_checkstack(L, 10, "tostring");
    luaL_buffinit(L, &b);
    ADD_PUSHED(&b, lua_pushfstring(L, "program of %I steps\n", (LUAI_UACINT)
                                   (e->p ? la_count_steps(e->p) : 0)));
    for (int32_t i = 0; e->p && i < e->p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(e->p, i);
        if (!la_prog_runs(s)) continue;
        explain_add(&b, "  ");
        explain_add_step(L, &b, e->p, s);
        explain_add(&b, "\n");
    }
    luaL_buffsub(&b, 1);        /* the last end of a line */
    luaL_pushresult(&b);
    return 1;
}

static int explain_called(lua_State *L, const la_called *e)
{
    luaL_Buffer b;
    const la_prog *p = e->p;
    size_t steps = (size_t)p->steps.n * sizeof(double);
    explained x = {.p = p, .end = -1};
    x.ns = lua_newuserdatauv(L, steps + (size_t)p->views.n + 1, 0);
    x.met = (char *)x.ns + steps;
    memset(x.ns, 0, steps);
    luaL_buffinit(L, &b);
    ADD_PUSHED(&b, lua_pushfstring(L, "%I steps for the %d calls of the "
                                   "recording; %d runs\n",
                                   (LUAI_UACINT)la_count_steps(p),
                                   (int)p->steps.n, (int)e->runs));
    if (p->planned) explain_all(&x);
    if (p->eager) {
        explain_add(&b, "the function itself runs at each call: ");
        explain_add(&b, p->why ? p->why : "memory is out");
        explain_add(&b, "\n");
    } else if (p->planned) {
        explain_plan(L, &b, &x);
    } else {
        explain_add(&b, "no plan yet: the next call makes it\n");
    }
    explain_add_steps(L, &b, &x);
    luaL_pushresult(&b);
    return 1;
}

int la_compiled_explain(lua_State *L)
{
    la_compiled *c = la_check_compiled(L, 1, "explain");
    luaL_checkstack(L, 20, "explain");
    la_called *e = la_last_called(c);
    if (!e)
        return luaL_error(L, "explain: nothing was recorded yet: call the "
                          "function first");
    if (!e->p->eager && !e->p->planned)
        LA_CHECK(L, "explain", la_prog_plan(e->p, c->without));
    lua_getiuservalue(L, 1, LA_COMPILED_ENTRIES);
    lua_rawgetp(L, -1, e);      /* stays while finalizers replace it */
    return explain_called(L, e);
}

int la_program_explain(lua_State *L)
{
    la_called *e = la_check_program(L, "explain");
    luaL_checkstack(L, 20, "explain");
    if (!e->p) return luaL_error(L, "explain: the program was freed");
    return explain_called(L, e);
}
