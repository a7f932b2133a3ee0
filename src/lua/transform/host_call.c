/*
** How a compiled function takes and gives its values, as a text that a program
** keeps: {"arguments": [...], "results": [...]}, a string for each item of the
** signature. "n" is nil, "b1" a boolean, "i" and digits an integer, "d" and 16
** hexadecimal digits a number, "s" and a text, "k" and how many keys a table,
** whose keys and values follow, "t" and a number an input, "a" an argument of
** the call, "o" an output, "w" one that is a weight, "v" any other value.
*/
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/program/program_text.h"
#include "lua/transform/host_program.h"

/* ---- writing ---- */

static void host_call_text(la_jtext_writer *w, char tag, const char *text,
                           size_t n)
{
    LA_BYTES one = {0};
    la_bytes_put_byte(&one, (unsigned char)tag);
    la_bytes_put(&one, text, n);
    if (one.status) w->to->status = one.status;
    else la_jtext_string(w, (const char *)one.data, one.n);
}

static void host_call_number(la_jtext_writer *w, char tag, int64_t v)
{
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)v);
    host_call_text(w, tag, digits, (size_t)n);
}

/* A key, or a text: the value at the top of the stack. */
static void host_call_ref(lua_State *L, la_jtext_writer *w)
{
    size_t n;
    if (lua_type(L, -1) == LUA_TSTRING) {
        const char *s = lua_tolstring(L, -1, &n);
        if (la_json_is_utf8(s, n) && !memchr(s, 0, n))
            host_call_text(w, 's', s, n);
        else host_call_text(w, 'v', "", 0);
    } else if (lua_isinteger(L, -1)) {
        host_call_number(w, 'i', lua_tointeger(L, -1));
    } else if (lua_isboolean(L, -1)) {
        host_call_number(w, 'b', lua_toboolean(L, -1));
    } else {
        host_call_text(w, 'v', "", 0);
    }
}

/* Which output the handle is that results have; those that are captured tensors
** come in the order of their outputs. */
static int32_t host_call_output(const la_called *e, int32_t handle,
                                int32_t *captured)
{
    for (int32_t i = 0; i < e->handles.n; i++) {
        int32_t at = *LA_PROG_AT(e->handles, int32_t, i);
        if (handle >= 0 ? at == handle : at < 0 && i > *captured) {
            if (handle < 0) *captured = i;
            return i;
        }
    }
    return 0;
}

static void host_call_item(lua_State *L, la_jtext_writer *w, const la_called *e,
                           int refs, const la_sig *item, int32_t *captured)
{
    char digits[20];
    uint64_t bits;
    switch (item->kind) {
    case LA_SIG_NIL: host_call_text(w, 'n', "", 0); return;
    case LA_SIG_BOOL: host_call_number(w, 'b', item->at); return;
    case LA_SIG_INT: host_call_number(w, 'i', item->i); return;
    case LA_SIG_FLOAT:
        memcpy(&bits, &item->d, sizeof bits);
        snprintf(digits, sizeof digits, "%016" PRIx64, bits);
        host_call_text(w, 'd', digits, 16);
        return;
    case LA_SIG_KEYS: host_call_number(w, 'k', item->at); return;
    case LA_SIG_ARGUMENT: host_call_number(w, 't', item->at); return;
    case LA_SIG_STACK: host_call_number(w, 'a', item->at); return;
    case LA_SIG_OUTPUT:
        host_call_number(w, 'o', host_call_output(e, item->at, captured));
        return;
    default: break;
    }
    lua_rawgeti(L, refs, item->at);
    if (la_to_handle(L, -1))
        host_call_number(w, 'w', host_call_output(e, -1, captured));
    else host_call_ref(L, w);
    lua_pop(L, 1);
}

void la_put_call(lua_State *L, const la_called *e, int refs, la_bytes *to)
{
    la_jtext_writer w = {to, false};
    int32_t captured = -1;
    luaL_checkstack(L, 8, "too many values");
    la_jtext_open(&w, '{');
    la_jtext_key(&w, "arguments");
    la_jtext_open(&w, '[');
    for (int32_t i = 0; i < e->items.n; i++)
        host_call_item(L, &w, e, refs, LA_PROG_AT(e->items, la_sig, i),
                       &captured);
    la_jtext_close(&w, ']');
    la_jtext_key(&w, "results");
    la_jtext_open(&w, '[');
    for (int32_t i = 0; i < e->results.n; i++)
        host_call_item(L, &w, e, refs, LA_PROG_AT(e->results, la_sig, i),
                       &captured);
    la_jtext_close(&w, ']');
    la_jtext_close(&w, '}');
    LA_CHECK(L, "save", to->status);
}

/* ---- reading ---- */

typedef struct host_call_reader {
    lua_State *L;
    const la_program *g;
    la_called *e;
    int refs;
    la_jtext_reader t;
    int depth;
} host_call_reader;

static void host_call_damaged(host_call_reader *r)
{
    if (!r->t.status) la_jtext_fail(&r->t, "its values for Lua");
    la_raise(r->L, "load", r->t.status);
}

/* Digits behind the tag, in a range. */
static int64_t host_call_digits(host_call_reader *r, const char *text,
                                int64_t low, int64_t high)
{
    char *end;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || v < low || v > high) host_call_damaged(r);
    return v;
}

static double host_call_double(host_call_reader *r, const char *text)
{
    char *end;
    unsigned long long bits = strtoull(text, &end, 16);
    double d;
    if (*end || strlen(text) != 16) host_call_damaged(r);
    memcpy(&d, &bits, sizeof d);
    return d;
}

static void host_call_add(host_call_reader *r, la_prog_list *list, int kind,
                          int32_t at)
{
    la_add_sig(r->L, list, (la_sig_kind)kind, at);
}

/* The value on the top of the stack becomes one that items name. */
static void host_call_keep(host_call_reader *r, la_prog_list *list, int kind)
{
    int32_t at = la_add_ref(r->L, r->e, r->refs);
    host_call_add(r, list, kind, at);
}

static void host_call_weight(host_call_reader *r, la_prog_list *list,
                             const char *text)
{
    int64_t i = host_call_digits(r, text, 0, (int64_t)r->g->p->outputs.n - 1);
    const la_prog_output *o = la_prog_output_at(r->g->p, (int32_t)i);
    const la_prog_object *object = o->object < 0 ? NULL
        : la_prog_object_at(r->g->p, o->object);
    if (!object || object->argument >= 0) host_call_damaged(r);
    la_state *s = la_state_of(r->L);
    *LA_PROG_AT(r->e->handles, int32_t, i) = -1;
    la_fill_handle(s, la_new_handle(r->L, s),
                   la_tensor_retain(object->tensor));
    host_call_keep(r, list, LA_SIG_VALUE);
}

static void host_call_read(host_call_reader *r, la_prog_list *list,
                           bool results);

static void host_call_keys(host_call_reader *r, la_prog_list *list,
                           int64_t n, bool results)
{
    if (++r->depth > LA_COMPILE_DEPTH) host_call_damaged(r);
    host_call_add(r, list, LA_SIG_KEYS, (int32_t)n);
    for (; n > 0; n--) {
        size_t length, before = r->t.used;
        const char *key = la_jtext_read_string(&r->t, &length);
        if (r->t.status || (*key != 's' && *key != 'i' && *key != 'b'))
            host_call_damaged(r);
        if (*key == 's') lua_pushlstring(r->L, key + 1, length - 1);
        else if (*key == 'b') lua_pushboolean(r->L, key[1] == '1');
        else lua_pushinteger(r->L, host_call_digits(r, key + 1, INT64_MIN,
                                                    INT64_MAX));
        r->t.used = before;
        host_call_keep(r, list, LA_SIG_KEY);
        host_call_read(r, list, results);
    }
    r->depth--;
}

/* An item of plain values; false: it is none. */
static bool host_call_plain(host_call_reader *r, la_prog_list *list,
                            const char *text, size_t n)
{
    la_sig *item;
    switch (*text) {
    case 'n': host_call_add(r, list, LA_SIG_NIL, 0); return true;
    case 'b': host_call_add(r, list, LA_SIG_BOOL, text[1] == '1'); return true;
    case 'i':
        item = la_add_sig(r->L, list, LA_SIG_INT, 0);
        item->i = host_call_digits(r, text + 1, INT64_MIN, INT64_MAX);
        return true;
    case 'd':
        item = la_add_sig(r->L, list, LA_SIG_FLOAT, 0);
        item->d = host_call_double(r, text + 1);
        return true;
    case 's':
        lua_pushlstring(r->L, text + 1, n - 1);
        host_call_keep(r, list, LA_SIG_STRING);
        return true;
    case 'v':                   /* nobody has that value any more */
        lua_newtable(r->L);
        host_call_keep(r, list, LA_SIG_VALUE);
        return true;
    default: return false;
    }
}

/* The next item, and what belongs to it. */
static void host_call_read(host_call_reader *r, la_prog_list *list,
                           bool results)
{
    size_t n;
    const la_prog *p = r->g->p;
    const char *text = la_jtext_read_string(&r->t, &n);
    luaL_checkstack(r->L, 8, "load: too many values");
    if (r->t.status || !n) host_call_damaged(r);
    if (host_call_plain(r, list, text, n)) return;
    const char *digits = text + 1;
    if (*text == 'k')
        host_call_keys(r, list, host_call_digits(r, digits, 0, INT16_MAX),
                       results);
    else if (*text == 't' && !results)
        host_call_add(r, list, LA_SIG_ARGUMENT, (int32_t)host_call_digits(
            r, digits, 0, (int64_t)p->narguments - 1));
    else if (*text == 'o' && results)
        host_call_add(r, list, LA_SIG_OUTPUT, (int32_t)host_call_digits(
            r, digits, 0, (int64_t)p->outputs.n - 1));
    else if (*text == 'a' && results)
        host_call_add(r, list, LA_SIG_STACK, (int32_t)host_call_digits(
            r, digits, 0, (int64_t)r->e->narguments - 1));
    else if (*text == 'w' && results) host_call_weight(r, list, digits);
    else host_call_damaged(r);
}

/* Outputs have a handle each, by their number. */
static void host_call_handles(lua_State *L, const la_program *g, la_called *e)
{
    for (int32_t i = 0; i < g->p->outputs.n; i++) {
        int32_t *to = la_prog_add(&e->handles, sizeof *to);
        if (!to) la_raise(L, "load", LA_ENOMEM);
        *to = i;
    }
    e->nhandles = g->p->outputs.n;
    e->ntensors = g->p->narguments;
}

static void host_call_usual(lua_State *L, const la_program *g, la_called *e)
{
    for (int32_t i = 0; i < g->p->narguments; i++)
        la_add_sig(L, &e->items, LA_SIG_ARGUMENT, i);
    for (int32_t i = 0; i < g->p->outputs.n; i++)
        la_add_sig(L, &e->results, LA_SIG_OUTPUT, i);
    e->narguments = g->p->narguments;
}

void la_get_call(lua_State *L, const la_program *g, la_called *e, int refs)
{
    host_call_reader r = {.L = L, .g = g, .e = e, .refs = refs};
    host_call_handles(L, g, e);
    if (!g->call.n) {
        host_call_usual(L, g, e);
        return;
    }
    r.t.json = (la_json){(const char *)g->call.data,
                         (const char *)g->call.data + g->call.n};
    r.t.capacity = 2 * g->call.n + 64;
    r.t.text = lua_newuserdatauv(L, r.t.capacity, 0);
    la_jtext_enter(&r.t, '{');
    la_jtext_want(&r.t, "arguments");
    la_jtext_enter(&r.t, '[');
    for (; la_jtext_next(&r.t, ']'); e->narguments++)
        host_call_read(&r, &e->items, false);
    la_jtext_want(&r.t, "results");
    la_jtext_enter(&r.t, '[');
    while (la_jtext_next(&r.t, ']')) host_call_read(&r, &e->results, true);
    la_jtext_leave(&r.t, '}');
    if (r.t.status) host_call_damaged(&r);
    lua_pop(L, 1);
}
