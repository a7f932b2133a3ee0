/*
** Operations as Lua functions: one closure per row and form.
**
** The closure's own upvalue is the first row of its name; overloads are tried
** in the order of their rows until the arguments fit.
**
** Between take_tensors and the end of la_dispatch no function of Lua is called:
** the tensors are borrowed from handles that a finalizer could empty. So the
** handles of the results are made before.
*/
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/runtime/interrupt.h"
#include "lua/binding.h"
#include "op/call.h"
#include "op/host/hosted.h"
#include "op/op.h"

typedef struct call {
    lua_State *L;
    la_state *state;
    const la_op *op;
    const char *name;           /* that it was called by; set once it runs */
    const la_schema *schema;    /* of op */
    la_call_args args;
    la_frame frame;
    int nwrapped;
    la_value *wrapped[LA_MAX_ARGS];     /* numbers, tensors for the call */
    la_handle *results[LA_MAX_RESULTS];
    la_tensor_box *list;        /* for a result that is a list */
} call;

/* ---- the part in which no Lua code runs ---- */

/* Needed where the schema says Tensor: a 0-dim tensor of the call's own, which
** promotes like a number. */
static la_status wrap_number(call *c, la_value *v)
{
    la_tensor *t;
    LA_TRY(la_tensor_from_scalar(&v->scalar, &t));
    c->wrapped[c->nwrapped++] = v;
    v->tag = LA_VTENSOR;
    v->tensor = t;
    return LA_OK;
}

/* Numbers without a tensor next to them are what la.tensor makes of them: there
** is nothing that their full width would be for. */
static la_status call_op_default_numbers(call *c)
{
    if (la_keeps_numbers(c->op, c->schema->nparams, c->args.args))
        return LA_OK;
    for (int k = 0; k < c->schema->nwatched; k++) {
        const la_value *v = &c->args.args[k];
        if (c->args.handles[k] || v->tag == LA_VTENSORS) return LA_OK;
    }
    for (int k = 0; k < c->nwrapped; k++)
        LA_TRY(la_number_to_default(&c->wrapped[k]->tensor));
    return LA_OK;
}

/* Numbers again, when the call is made 'again': the tensors hold them in full
** width. */
static inline void unwrap_numbers(call *c, bool again)
{
    while (c->nwrapped > 0) {
        la_value *v = c->wrapped[--c->nwrapped];
        la_tensor *t = v->tensor;
        if (again) {
            v->tag = LA_VSCALAR;
            v->scalar = la_scalar_load((la_dtype)t->dtype, la_data(t));
        }
        la_tensor_release(t);
    }
}

/* Fill args[].tensor from the handles, of which a finalizer may have emptied
** one since parsing. LA_ESTATE names the argument. */
static la_status call_op_take_tensors(call *c)
{
    const la_schema *s = c->schema;
    for (int k = 0; k < s->nwatched; k++) {
        la_value *v = &c->args.args[k];
        if (c->args.handles[k]) {
            v->tensor = c->args.handles[k]->tensor;
            if (!v->tensor)
                return la_error_at(LA_ESTATE, k + 1, "%s",
                                   la_freed_text(c->args.handles[k]));
        } else if (v->tag == LA_VSCALAR
                   && s->params[k].type == LA_TYPE_TENSOR) {
            LA_TRY(wrap_number(c, v));
        }
    }
    return c->nwrapped ? call_op_default_numbers(c) : LA_OK;
}

/* An 'out' makes any form an LA_OUT one. */
static la_status take_outs(call *c)
{
    la_frame *f = &c->frame;
    memset(f->outs, 0, sizeof(f->outs));
    if (f->form == LA_INPLACE) f->outs[0] = c->args.args[0].tensor;
    for (int k = 0; k < c->args.nouts; k++) {
        if (!c->args.outs[k]) continue;
        f->form = LA_OUT;
        f->outs[k] = c->args.outs[k]->tensor;
        if (!f->outs[k]) return la_error(LA_ESTATE, "out was freed");
    }
    return LA_OK;
}

/* An observer asks for the line of the coroutine that calls. */
static __attribute__((noinline, cold)) la_status dispatch_observed(call *c)
{
    la_context *context = &c->state->context;
    context->caller = c->L;
    la_status status = la_dispatch(&c->frame);
    context->caller = NULL;
    return status;
}

/* Results are in the frame, owned, after LA_OK. After LA_ENOMEM the arguments
** are as before, so that it may be called again. */
static inline la_status call_op_compute(call *c, la_form form)
{
    la_frame *f = &c->frame;
    f->op = c->op;
    f->form = form;
    f->args = c->args.args;
    f->nargs = c->schema->nparams;
    f->nresults = 0;
    f->unread = 0;
    c->nwrapped = 0;
    la_status status = call_op_take_tensors(c);
    if (!status) status = take_outs(c);
    if (!status) status = __builtin_expect(c->state->context.observed, 0)
        ? dispatch_observed(c) : la_dispatch(f);
    unwrap_numbers(c, status == LA_ENOMEM);
    return status;
}

/* ---- pushing ---- */

/* A list of tensors: every handle is filled as soon as it exists; the rest
** stays owned by the box on the stack. */
static void push_list(call *c, la_value *v)
{
    lua_State *L = c->L;
    la_tensor_box *box = c->list;
    lua_createtable(L, (int)box->n, 0);
    for (int64_t i = 0; i < box->n; i++) {
        if (i % 1024 == 1023) LA_CHECK(L, c->name, la_poll());
        if (!box->list[i]) continue;
        la_handle *h = la_new_handle(L, c->state);
        la_fill_handle(c->state, h, box->list[i]);
        box->list[i] = NULL;
        lua_rawseti(L, -2, i + 1);
    }
    v->tag = LA_VNONE;
}

/* The list moves from the frame into a box that Lua owns. If there is no
** memory for the box the frame's list must not leak: the box is asked for in
** protected mode. */
static int protected_box(lua_State *L)
{
    la_push_box(L, lua_tointeger(L, 1));
    return 1;
}

/* Leaves the box, or an error value, on the top; returns the status of Lua. The
** frame's list is gone in both cases. */
static int box_list(call *c, la_value *v)
{
    lua_State *L = c->L;
    lua_pushcfunction(L, protected_box);
    lua_pushinteger(L, v->tensors.n);
    int status = lua_pcall(L, 1, 1, 0);
    if (status == LUA_OK) {
        c->list = lua_touserdata(L, -1);
        for (int64_t i = 0; i < v->tensors.n; i++) {
            c->list->list[i] = v->tensors.list[i];
            v->tensors.list[i] = NULL;
        }
    }
    la_value_drop(v);
    return status;
}

/* Returns how many values were pushed. A list of tensors must be in its box by
** now. */
static int call_op_push_value(call *c, la_value *v)
{
    lua_State *L = c->L;
    switch (v->tag) {
    case LA_VTENSORS: push_list(c, v); return 1;
    case LA_VBOOL: lua_pushboolean(L, v->b); return 1;
    case LA_VDTYPE: lua_pushstring(L, la_dtype_name(v->dtype)); return 1;
    default: lua_pushnil(L); return 1;
    }
}

static int new_handle(lua_State *L)
{
    la_new_handle(L, la_up_state(L));
    return 1;
}

/* With an operation's first upvalues as arguments. */
static int protected_handle(lua_State *L)
{
    lua_pushcclosure(L, new_handle, LA_UP_META);
    lua_call(L, 0, 1);
    return 1;
}

/* A handle for the one tensor that came instead of the schema's list.
** Protected, as the result is owned by the frame; released on failure. */
static int late_handle(call *c)
{
    lua_State *L = c->L;
    lua_pushcfunction(L, protected_handle);
    for (int k = LA_UP_STATE; k <= LA_UP_META; k++)
        lua_pushvalue(L, lua_upvalueindex(k));
    int status = lua_pcall(L, LA_UP_META, 1, 0);
    if (status == LUA_OK) c->results[0] = lua_touserdata(L, -1);
    else la_value_drop(&c->frame.results[0]);
    return status;
}

/* The one result, in the empty handle on the top of the stack; takes over the
** reference. A result that is the first argument itself (to, contiguous) is
** pushed as the userdata it came in, so that it is the same key of a table. */
static void call_op_fill_result(call *c, la_tensor *t)
{
    const la_value *first = &c->frame.args[0];
    bool same = c->frame.nargs > 0 && first->tag == LA_VTENSOR
        && first->tensor == t;
    la_handle *h = same ? la_to_handle(c->L, 1) : NULL;
    if (h && h->tensor == t) {
        la_tensor_release(t);           /* the handle holds another */
        lua_pushvalue(c->L, 1);
    } else if (same) {
        c->results[0]->tensor = t;      /* no new data to be counted */
    } else {
        la_fill_handle(c->state, c->results[0], t);
    }
}

/* Results go to the handles made before. A list moves into Lua's ownership
** first, so that running out of memory while it is pushed leaks nothing. An
** operation may give fewer results than its schema has at most. */
static int call_op_push_results(call *c)
{
    lua_State *L = c->L;
    const la_schema *s = c->schema;
    int n = 0, status = LUA_OK;
    if (s->nresults == 1 && c->frame.results[0].tag == LA_VTENSOR) {
        if (!c->results[0] && late_handle(c) != LUA_OK) return lua_error(L);
        call_op_fill_result(c, c->frame.results[0].tensor);
        la_pace(L, c->state);
        return 1;               /* the top of the stack */
    }
    for (int k = 0; k < s->nresults; k++) {
        la_value *v = &c->frame.results[k];
        if (!c->results[k] || v->tag != LA_VTENSOR) continue;
        la_fill_handle(c->state, c->results[k], v->tensor);
        v->tag = LA_VNONE;
    }
    for (int k = 0; k < s->nresults; k++)       /* one of them at most */
        if (c->frame.results[k].tag == LA_VTENSORS) {
            status = box_list(c, &c->frame.results[k]);
            c->frame.results[k].tag = LA_VTENSORS;
            break;
        }
    if (status != LUA_OK) return lua_error(L);
    int first = lua_gettop(L) - (c->list != NULL) - s->nresults + 1;
    int given = c->frame.nresults ? c->frame.nresults : s->nresults;
    for (int k = 0; k < s->nresults && k < given; k++) {
        if (c->results[k] && c->results[k]->tensor)
            lua_pushvalue(L, first + k), n++;
        else
            n += call_op_push_value(c, &c->frame.results[k]);
    }
    la_pace(L, c->state);
    return n;
}

/* The userdata that the caller gave. */
static int push_outs(call *c)
{
    for (int k = 0; k < c->args.nouts; k++)
        lua_pushvalue(c->L, c->args.out_at[k]);
    return c->args.nouts;
}

/* One slot of the stack for every result, tensors as empty handles. Below them
** on the stack are the arguments and the parser's anchors. */
static void make_handles(call *c)
{
    const la_schema *s = c->schema;
    la_pace_data(c->L, c->state);
    for (int k = 0; k < s->nresults; k++) {
        c->results[k] = NULL;
        if (s->results[k] == LA_VTENSOR)
            c->results[k] = la_new_handle(c->L, c->state);
        else
            lua_pushnil(c->L);
    }
}

/* Everything after the arguments are parsed. The results' number, for the
** lua_CFunction to return. An in-place call returns its first argument, one
** with out= those tensors. Out of memory, it is tried once more after a full
** collection, as dead tensors may hold the memory; finalizers may empty
** handles there, so compute takes the tensors anew. */
static int finish_call(call *c, const char *name, la_form form)
{
    bool inplace = form == LA_INPLACE || (c->op->forms & LA_MUTATES);
    bool fresh = !inplace && c->args.nouts == 0;
    c->list = NULL;
    c->name = name;
    if (fresh) make_handles(c);
    int top = lua_gettop(c->L);
    la_status status;
    for (bool again = true;; again = false) {
        status = call_op_compute(c, form);
        la_assert(lua_gettop(c->L) == top);     /* no Lua code ran */
        if (__builtin_expect(status != LA_ENOMEM, 1) || !again
            || !la_collect_all(c->L, c->state)) break;
    }
    if (status) return la_raise(c->L, name, status);
    if (fresh) return call_op_push_results(c);
    la_drop_results(&c->frame);
    if (!inplace) return push_outs(c);
    lua_settop(c->L, 1);
    return 1;
}

/* ---- closures ---- */

/* Upvalue LA_UP_OWN of its closure, which Lua sees as an address: thousands of
** small userdata would be work for each cycle of the collector. */
typedef struct entry {
    const la_op *op;            /* the first overload of that form */
    la_state *state;            /* whose closure this belongs to */
    uint32_t forms;             /* LA_FN, LA_METHOD or LA_INPLACE_FORM */
    const char *event;          /* "__add" of an operator, else NULL */
    char name[40];
} entry;

/* Entries lie in blocks for as long as the Lua state is there. The newest is in
** the registry, and each has the one before as its user value. */
enum { ENTRY_BLOCK = 128 };
typedef struct entry_block {
    int used;
    entry list[ENTRY_BLOCK];
} entry_block;
static const char entries_key;

static entry *call_op_new_entry(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &entries_key);
    entry_block *b = lua_touserdata(L, -1);
    if (!b || b->used == ENTRY_BLOCK) {
        b = lua_newuserdatauv(L, sizeof(*b), 1);
        b->used = 0;
        lua_insert(L, -2);
        lua_setiuservalue(L, -2, 1);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &entries_key);
    }
    lua_pop(L, 1);
    return &b->list[b->used++];
}

static la_form call_op_form_of(const entry *e)
{
    return e->forms == LA_INPLACE_FORM ? LA_INPLACE : LA_FUNCTIONAL;
}

static bool is_method(const entry *e) { return e->forms != LA_FN; }

/* 'op' or the next overload of its name that has one of these forms; NULL at
** the end. */
static const la_op *with_form(const la_op *op, uint32_t forms)
{
    while (op && !(op->forms & forms)) op = op->state->next;
    return op;
}

/* Parse for 'op'. False, with the Lua stack as before, when the arguments do
** not fit and 'quiet' is set; an error is raised otherwise. */
static bool call_op_fits(call *c, const entry *e, const la_op *op, bool quiet)
{
    lua_State *L = c->L;
    int top = lua_gettop(L);
    c->op = op;
    c->schema = la_schema_of(op);
    if (la_parse_plain(L, c->schema, is_method(e), &c->args)) return true;
    if (!la_parse(L, op, e->name, is_method(e), quiet, &c->args)) {
        lua_settop(L, top);
        return false;
    }
    luaL_checkstack(L, 2 * LA_MAX_RESULTS + 4, "too many results");
    return true;
}

static void begin_search(call *c, bool exact)
{
    c->args.exact = exact;
    c->args.odd_word = c->args.wanted_at = c->args.nwanted = 0;
}

/* The first overload that the arguments fit; NULL where none does, and then
** *best is the one that most of them fit, of equal ones the last. */
static const la_op *first_fitting(call *c, const entry *e, bool exact,
                                  const la_op **best)
{
    int most = -1;
    begin_search(c, exact);
    for (const la_op *op = e->op; op;
         op = with_form(op->state->next, e->forms)) {
        if (call_op_fits(c, e, op, true)) return op;
        if (c->args.score < most) continue;
        most = c->args.score;
        *best = op;
    }
    return NULL;
}

/* Keywords that stand behind an __index, for all overloads. */
static void see_hidden_keywords(lua_State *L, const entry *e)
{
    int at = lua_gettop(L);
    if (at == 0 || !la_open_options(L, at)) return;
    la_see_option(L, at, "out", 3);
    for (const la_op *op = e->op; op; op = with_form(op->state->next, e->forms))
        for (int k = 0; k < la_schema_of(op)->nparams; k++) {
            const la_word *word = &la_schema_of(op)->params[k].name;
            la_see_option(L, at, word->text, (size_t)word->n);
        }
    lua_replace(L, at);
}

/* Overloads in the order of their rows, those that take a tensor as a tensor
** before those for which it is a number: a recording, which knows no value of
** it, finds the same. When none fits, the one that most of the arguments fit
** speaks. */
static __attribute__((noinline)) void find_overload(call *c, const entry *e)
{
    const la_op *best = e->op;
    see_hidden_keywords(c->L, e);
    begin_search(c, false);
    if (with_form(best->state->next, e->forms)
        && (first_fitting(c, e, true, &best)
            || first_fitting(c, e, false, &best))) return;
    call_op_fits(c, e, best, false);
}

static inline void call_op_begin(call *c)
{
    la_make_current(&c->state->context);
    la_use_modes(c->L, c->state);
}

/* Like la_enter, with the state from the entry: one upvalue instead of two. */
static const entry *call_op_enter(lua_State *L, call *c)
{
    const entry *e = lua_touserdata(L, lua_upvalueindex(LA_UP_OWN));
    c->L = L;
    c->state = e->state;
    la_check_stack(L, e->state);
    call_op_begin(c);
    return e;
}

/* All operations, as function, method and in-place. */
static int run_operation(lua_State *L)
{
    call c;
    const entry *e = call_op_enter(L, &c);
    c.op = e->op;
    c.schema = la_schema_of(e->op);
    if (!la_parse_plain(L, c.schema, is_method(e), &c.args)) {
        find_overload(&c, e);
        call_op_begin(&c);      /* lists may have called Lua code */
    }
    return finish_call(&c, e->name, call_op_form_of(e));
}

static int operation(lua_State *L) { return la_masked(L, run_operation); }

/* Calls an operation that a host registered: the function may have been kept
** since before it was withdrawn. */
static int hosted_operation(lua_State *L)
{
    const entry *e = lua_touserdata(L, lua_upvalueindex(LA_UP_OWN));
    la_make_current(&e->state->context);
    la_status status = la_op_usable(e->op);
    if (status) return la_raise(L, e->name, status);
    return operation(L);
}

/* Operators: two operands (or one, given twice by Lua), no keywords. False for
** a value that has a metamethod of its own for the event; raises for others
** that are no tensor and no number. */
static bool call_op_operand(call *c, const entry *e, int k)
{
    lua_State *L = c->L;
    la_handle *h = la_to_handle(L, k + 1);
    la_value *v = &c->args.args[k];
    c->args.handles[k] = h;
    if (h) {
        v->tag = LA_VTENSOR;
        v->given = true;
        return true;
    }
    v->tag = LA_VSCALAR;
    v->given = true;
    int type = lua_type(L, k + 1);
    if (type == LUA_TNUMBER)
        la_read_number(L, k + 1, &v->scalar);
    else if (type == LUA_TBOOLEAN)
        v->scalar = la_scalar_bool(lua_toboolean(L, k + 1));
    else if (k > 0 && (type == LUA_TTABLE || type == LUA_TUSERDATA)
             && luaL_getmetafield(L, k + 1, e->event) != LUA_TNIL)
        return false;
    else
        la_raise_arg(L, k + 1, e->name, "tensor or number expected, got %s",
                     la_operand_text(L, k + 1));
    return true;
}

/* The metamethod on the top of the stack takes the two operands: Lua asks the
** left one first, and that is us. */
static int call_other(lua_State *L)
{
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
}

/* The operators' metamethods. Their schemas have tensors first; other
** parameters keep their defaults. */
static int run_operator(lua_State *L)
{
    call c;
    const entry *e = call_op_enter(L, &c);
    c.op = e->op;
    const la_schema *s = c.schema = la_schema_of(e->op);
    for (int k = 0; k < s->nparams; k++) {
        c.args.handles[k] = NULL;
        if (s->params[k].type != LA_TYPE_TENSOR)
            c.args.args[k] = s->params[k].fallback;
        else if (!call_op_operand(&c, e, k))
            return call_other(L);
    }
    c.args.nouts = 0;
    return finish_call(&c, e->name, LA_FUNCTIONAL);
}

static int operator(lua_State *L) { return la_masked(L, run_operator); }

/* ---- opening ---- */

/* Push the closure of an entry, whose address is its last upvalue. */
static void push_closure(lua_State *L, lua_CFunction fn, const la_op *op,
                         const char *name, size_t n, uint32_t forms,
                         const char *event)
{
    entry *e = call_op_new_entry(L);
    e->op = op;
    e->state = la_state_of(L);
    e->forms = forms;
    e->event = event;
    snprintf(e->name, sizeof(e->name), "%.*s%s", (int)n, name,
             forms == LA_INPLACE_FORM ? "_" : "");
    lua_pushlightuserdata(L, e);
    la_bare_closure(L, fn);
}

bool la_push_operation(lua_State *L, const char *name, size_t n, uint32_t form)
{
    const la_op *op = memchr(name, '.', n) ? NULL : la_op_first(name, n);
    if (op && la_hosted_of(op)) return false;
    op = with_form(op, form);
    if (!op) return false;
    push_closure(L, operation, op, name, n, form, NULL);
    return true;
}

bool la_push_theme_operation(lua_State *L, const char *theme, const char *name)
{
    char row[40];
    int n = snprintf(row, sizeof row, "%s_%s", theme, name);
    if (n < 0 || n >= (int)sizeof row) return false;
    const la_op *op = la_op_first(row, (size_t)n);
    if (!op || la_op_name_length(op) != (size_t)n || la_hosted_of(op)
        || memcmp(op->signature, row, (size_t)n) != 0)
        return false;
    op = with_form(op, LA_FN);
    if (!op) return false;
    row[strlen(theme)] = '.';           /* errors say it so */
    push_closure(L, operation, op, row, (size_t)n, LA_FN, NULL);
    return true;
}

/* Asks for the name, with the underscore of a form in place. */
static void make_operation(lua_State *L, int table, const char *name, size_t n,
                           const char *underscore)
{
    lua_pushlstring(L, name, n);
    lua_pushstring(L, underscore);
    lua_concat(L, 2);
    lua_gettable(L, table);
    lua_pop(L, 1);
}

static void make_forms(lua_State *L, int table, const char *name, size_t n,
                       bool methods)
{
    const la_op *op = la_op_first(name, n);
    if (with_form(op, methods ? LA_METHOD : LA_FN))
        make_operation(L, table, name, n, "");
    if (methods && with_form(op, LA_INPLACE_FORM))
        make_operation(L, table, name, n, "_");
}

void la_make_operations(lua_State *L, int table, bool methods)
{
    static const char *const aliases[] = {
#define ALIAS(alias, name) #alias,
#define THEME(theme, name)
#include "op/aliases.def"
#undef ALIAS
#undef THEME
    };
    for (int id = 0; id < la_op_builtin(); id++) {
        const la_op *op = la_op_at(id);
        make_forms(L, table, op->signature, la_op_name_length(op), methods);
    }
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        make_forms(L, table, aliases[i], strlen(aliases[i]), methods);
}

void la_make_theme_operations(lua_State *L, const char *theme, int table)
{
    size_t k = strlen(theme);
    for (int id = 0; id < la_op_builtin(); id++) {
        const la_op *op = la_op_at(id);
        size_t n = la_op_name_length(op);
        if (n <= k + 1 || memcmp(op->signature, theme, k) != 0
            || op->signature[k] != '_'
            || !with_form(la_op_first(op->signature, n), LA_FN)) continue;
        make_operation(L, table, op->signature + k + 1, n - k - 1, "");
    }
}

/* Functions of hosts' operations by the address of a member of their rows,
** which outlive the state: one for each form. */
static const char hosted_key;

bool la_push_hosted(lua_State *L, const char *name, size_t n, uint32_t form)
{
    const la_op *op = la_op_first(name, n);
    if (!op || !la_hosted_of(op) || !(op->forms & form)) return false;
    luaL_checkstack(L, 8, "too many results");
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &hosted_key) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &hosted_key);
    }
    const void *key = &op->state->calls[form == LA_METHOD];
    if (lua_rawgetp(L, -1, key) == LUA_TNIL) {
        lua_pop(L, 1);
        push_closure(L, hosted_operation, op, name, n, form, NULL);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, -3, key);
    }
    lua_remove(L, -2);
    return true;
}

void la_push_operator(lua_State *L, const char *name, const char *event)
{
    const la_op *op = la_op_lookup(name, strlen(name));
    if (op) push_closure(L, operator, op, name, strlen(name), LA_FN, event);
    else lua_pushnil(L);
}
