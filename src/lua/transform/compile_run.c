/*
** A call of a compiled function whose signature is known: the handles of its
** results, the run, the values that f gave.
*/
#include <string.h>

#include "lua/transform/compile.h"
#include "op/op.h"
#include "program/clock.h"
#include "tensor/shape.h"

/* Reads raw, so that nothing raises; 'counts': the field becomes one more. */
static double run_field(lua_State *L, int refs, const la_number *n, bool counts)
{
    lua_rawgeti(L, refs, n->table);
    lua_rawgeti(L, refs, n->key);
    lua_pushvalue(L, -1);
    lua_rawget(L, -3);
    lua_Number v = lua_tonumber(L, -1);
    lua_pop(L, 1);
    if (counts) {
        v += 1;
        lua_pushinteger(L, (lua_Integer)v);
        lua_rawset(L, -3);
        lua_pop(L, 1);
    } else lua_pop(L, 2);
    return v;
}

static la_status run_read(void *context, int source, la_value *v)
{
    la_run_host *h = context;
    const la_number *n = LA_PROG_AT(h->e->numbers, la_number,
                                    source & ~LA_PROG_AGAIN);
    if (!lua_checkstack(h->L, 6)) return LA_ENOMEM;
    bool counts = n->kind == LA_NUMBER_COUNT && !(source & LA_PROG_AGAIN);
    double d = run_field(h->L, h->refs, n, counts);
    if (v->tag == LA_VINT) v->i = (int64_t)d;
    else if (v->tag == LA_VBOOL) v->b = d != 0;
    else if (v->tag == LA_VSCALAR) v->scalar = la_scalar_float(d);
    else v->d = d;
    return LA_OK;
}

static bool run_collect(void *context)
{
    la_run_host *h = context;
    la_context *c = &h->state->context;
    uint32_t keys = c->excluded_keys;
    bool no_grad = c->no_grad, done = la_collect_all(h->L, h->state);
    la_make_current(c);
    c->excluded_keys = keys;
    c->no_grad = no_grad;
    return done;
}

/* ---- results ---- */

typedef struct run_results {
    lua_State *L;
    const la_called *e;
    int refs, handles, first;
    int tables;         /* a list of the results' tables, where one comes again;
                        ** else 0 */
    int32_t at, ntables;
} run_results;

static void run_push(run_results *r);

static void run_push_key(run_results *r)
{
    const la_sig *key = LA_PROG_AT(r->e->results, la_sig, r->at++);
    lua_rawgeti(r->L, r->refs, key->at);
}

/* Pushes a value of the tables of an argument. A finalizer may have changed
** them since the call began. */
static void run_push_path(run_results *r, const la_sig *item)
{
    lua_pushvalue(r->L, r->first + item->at);
    for (int64_t n = item->i; n > 0; n--) {
        if (lua_type(r->L, -1) != LUA_TTABLE)
            luaL_error(r->L, "compile: a finalizer changed the tables of "
                       "argument %d during the call", (int)item->at + 1);
        run_push_key(r);
        lua_rawget(r->L, -2);
        lua_remove(r->L, -2);
    }
}

static void run_push_table(run_results *r, int32_t n)
{
    lua_State *L = r->L;
    luaL_checkstack(L, 8, "compile: too many results");
    lua_createtable(L, 0, 0);
    if (r->tables) {
        lua_pushvalue(L, -1);
        lua_rawseti(L, r->tables, ++r->ntables);
    }
    for (; n > 0; n--) {
        run_push_key(r);
        run_push(r);
        lua_rawset(L, -3);
    }
}

/* Pushes the result that begins at item r->at. */
static void run_push(run_results *r)
{
    lua_State *L = r->L;
    const la_sig *item = LA_PROG_AT(r->e->results, la_sig, r->at++);
    switch (item->kind) {
    case LA_SIG_NIL: lua_pushnil(L); return;
    case LA_SIG_BOOL: lua_pushboolean(L, item->at); return;
    case LA_SIG_INT: lua_pushinteger(L, item->i); return;
    case LA_SIG_FLOAT: lua_pushnumber(L, item->d); return;
    case LA_SIG_OUTPUT: lua_pushvalue(L, r->handles + item->at); return;
    case LA_SIG_STACK: lua_pushvalue(L, r->first + item->at); return;
    case LA_SIG_PATH: run_push_path(r, item); return;
    case LA_SIG_AGAIN: lua_rawgeti(L, r->tables, item->at); return;
    case LA_SIG_WATCHED:
        la_push_watched(L, r->e, r->refs, item->at);
        return;
    case LA_SIG_KEYS: run_push_table(r, item->at); return;
    default: lua_rawgeti(L, r->refs, item->at); return;
    }
}

static int run_push_all(lua_State *L, const la_called *e, int refs, int handles,
                        int first)
{
    int n = 0;
    run_results r = {L, e, refs, handles, first, 0, 0, 0};
    luaL_checkstack(L, e->results.n + 8, "compile: too many results");
    if (e->ntables) {
        lua_newtable(L);
        r.tables = lua_gettop(L);
    }
    for (; r.at < e->results.n; n++) run_push(&r);
    return n;
}

/* ---- the run ---- */

static la_status run_program(la_run_host *h, la_call_tensors *c,
                             la_tensor **out, bool into, la_prog_clock *clock)
{
    la_prog *p = h->e->p;
    la_prog_host host = {.read = run_read, .collect = run_collect,
                         .context = h, .clock = clock};
    la_tensor *given[LA_COMPILE_TENSORS];   /* finalizers may free them */
    int ngiven = into ? p->outputs.n : 0;
    for (int i = 0; i < c->n; i++) la_tensor_retain(c->tensors[i]);
    for (int i = 0; i < ngiven; i++) given[i] = la_tensor_retain(out[i]);
    la_status status = p->live ? la_prog_run_graph(p, c->tensors, out, &host)
                               : la_prog_run(p, c->tensors, out, into, &host);
    for (int i = 0; i < ngiven; i++) la_tensor_release(given[i]);
    for (int i = 0; i < c->n; i++) la_tensor_release(c->tensors[i]);
    return status;
}

/* The error of the operation that failed, in its name. */
int la_run_raise(lua_State *L, const la_prog *p, la_status status)
{
    char name[64] = "compile";
    if (p->failed && p->failed->named != p->failed->op)
        status = la_blame(status, 0);
    if (p->failed && p->failed->named) {
        size_t n = la_op_name_length(p->failed->named);
        if (n < sizeof name) {
            memcpy(name, p->failed->named->signature, n);
            name[n] = 0;
        }
    }
    return la_raise(L, name, status);
}

la_prog_host la_run_host_of(la_run_host *h, lua_State *L, la_state *s,
                            const la_called *e, int refs)
{
    *h = (la_run_host){L, s, e, refs};
    return (la_prog_host){.read = run_read, .collect = run_collect,
                          .context = h};
}

void la_push_handles(lua_State *L, la_state *s, const la_called *e)
{
    luaL_checkstack(L, e->nhandles + 12, "compile: too many results");
    la_pace_data(L, s);
    for (int32_t i = 0; i < e->nhandles; i++) la_new_handle(L, s);
}

int la_give_results(lua_State *L, la_state *s, la_called *e, int refs,
                    int handles, int first, la_tensor **out)
{
    for (int32_t i = 0; i < e->p->outputs.n; i++) {
        int32_t at = *LA_PROG_AT(e->handles, int32_t, i);
        la_handle *to = at < 0 ? NULL : la_to_handle(L, handles + at);
        if (!to || to->tensor) la_tensor_release(out[i]);
        else la_fill_handle(s, to, out[i]);
    }
    e->runs += e->runs < INT32_MAX;
    la_pace(L, s);
    return run_push_all(L, e, refs, handles, first);
}

/* Finalizers have run since the entry was found: can it still run for these
** tensors? They may have begun another run of it, or changed the tensors. */
static bool run_still_fits(const la_called *e, const la_call_tensors *c)
{
    return !e->p->busy && la_prog_fits(e->p, c->tensors)
        && la_match_shared(e, c->tensors);
}

int la_run_entry(lua_State *L, la_state *s, la_called *e, int refs,
                 la_call_tensors *c, int first, la_prog_clock *clock)
{
    la_tensor *out[LA_COMPILE_TENSORS];
    la_run_host h = {L, s, e, refs};
    int handles = lua_gettop(L) + 1;
    la_push_handles(L, s, e);
    la_take_tensors(L, c, "compile");
    if (!run_still_fits(e, c)) return -1;
    for (int32_t i = 0; i < e->p->outputs.n; i++) out[i] = NULL;
    la_status status = run_program(&h, c, out, false, clock);
    if (status && e->p->unfit) {
        la_error_clear();
        return -1;
    }
    if (status) return la_run_raise(L, e->p, status);
    return la_give_results(L, s, e, refs, handles, first, out);
}

/* ---- into given tensors ---- */

void la_refuse_out(lua_State *L, int i, const la_tensor *f, const la_tensor *t)
{
    char want[256], have[256];
    luaL_error(L, "into: result %d: %s tensor of %s expected, got %s tensor of "
               "%s", i + 1, la_dtype_name((la_dtype)f->dtype),
               la_sizes_text(f->ndim, la_sizes(f), want, sizeof want),
               la_dtype_name((la_dtype)t->dtype),
               la_sizes_text(t->ndim, la_sizes(t), have, sizeof have));
}

/* The tensor for the result that is 'item', at the top of the stack; NULL where
** it is none of its form. */
static la_tensor *run_out(lua_State *L, const la_called *e, const la_sig *item,
                          int32_t *output)
{
    la_handle *h = la_to_handle(L, -1);
    if (item->kind != LA_SIG_OUTPUT || !h || !h->tensor) return NULL;
    for (int32_t i = 0; i < e->p->outputs.n; i++) {
        if (*LA_PROG_AT(e->handles, int32_t, i) != item->at) continue;
        const la_prog_output *o = la_prog_output_at(e->p, i);
        if (o->object >= 0) return NULL;
        const la_tensor *f = la_prog_view_at(e->p, o->view)->form;
        const la_tensor *t = h->tensor;
        if (t->dtype != f->dtype || t->ndim != f->ndim
            || memcmp(la_sizes(t), la_sizes(f), 8 * (size_t)t->ndim) != 0)
            la_refuse_out(L, i, f, t);
        *output = i;
        return h->tensor;
    }
    return NULL;
}

typedef struct run_outs {
    lua_State *L;
    const la_called *e;
    int refs;
    int32_t at, found;
    la_tensor **out;
} run_outs;

/* Tensors for the result that begins at item r->at, in the value on the top.
** False: by the long way. */
static bool run_find_outs(run_outs *r, int depth)
{
    lua_State *L = r->L;
    const la_sig *item = LA_PROG_AT(r->e->results, la_sig, r->at++);
    int32_t at;
    if (item->kind == LA_SIG_KEYS) {
        if (!lua_istable(L, -1) || !lua_checkstack(L, 8)) return false;
        for (int32_t n = item->at; n > 0; n--) {
            const la_sig *key = LA_PROG_AT(r->e->results, la_sig, r->at++);
            lua_rawgeti(L, r->refs, key->at);
            lua_rawget(L, -2);
            bool found = run_find_outs(r, depth + 1);
            lua_pop(L, 1);
            if (!found) return false;
        }
        return true;
    }
    if (item->kind != LA_SIG_OUTPUT) return item->kind <= LA_SIG_FLOAT;
    la_tensor *t = run_out(L, r->e, item, &at);
    if (!t || r->out[at] || la_requires_grad(t)) return false;
    r->out[at] = t;
    r->found++;
    return true;
}

/* One result, or a list of them. */
static bool run_all_outs(lua_State *L, const la_called *e, int refs, int outs,
                         la_tensor **out)
{
    run_outs r = {L, e, refs, 0, 0, out};
    bool fits = true;
    lua_pushvalue(L, outs);
    if (e->nvalues == 1) {
        fits = run_find_outs(&r, 0);
    } else {
        fits = lua_istable(L, -1);
        for (int i = 1; fits && r.at < e->results.n; i++) {
            lua_rawgeti(L, -1, i);
            fits = run_find_outs(&r, 0);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
    return fits && r.found == e->p->outputs.n;
}

bool la_run_entry_into(lua_State *L, la_state *s, la_called *e, int refs,
                       la_call_tensors *c, int outs)
{
    la_tensor *out[LA_COMPILE_TENSORS];
    la_run_host h = {L, s, e, refs};
    for (int32_t i = 0; i < e->p->outputs.n; i++) out[i] = NULL;
    if (!run_all_outs(L, e, refs, outs, out)) return false;
    for (int32_t i = 0; i < e->p->outputs.n; i++)
        LA_CHECK(L, "into", la_tensor_check_writable(out[i]));
    la_status status = run_program(&h, c, out, true, NULL);
    if (status && e->p->unfit) {
        la_error_clear();
        return false;
    }
    if (status) la_run_raise(L, e->p, status);
    e->runs += e->runs < INT32_MAX;
    return true;
}
