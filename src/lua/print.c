/* tostring and print options. */
#include <string.h>

#include "base/size.h"
#include "lua/binding.h"
#include "lua/transform/autograd.h"
#include "tensor/text/print.h"
#include "vmap/vmap.h"

#define WORK_SHOWN 64       /* elements that the text of one is worth */

/* The text is built outside Lua and handed over in protected mode, so that it
** does not leak when Lua has no memory for the string. */
static int push_text(lua_State *L)
{
    la_text *text = lua_touserdata(L, 1);
    lua_pushlstring(L, text->data, text->size);
    return 1;
}

/* Push the text and free it, raised or not. Leaves one value. */
static int hand_over(lua_State *L, la_text *text)
{
    lua_pushcfunction(L, push_text);
    lua_pushlightuserdata(L, text);
    int status = lua_pcall(L, 1, 1, 0);
    la_text_free(text);
    return status ? lua_error(L) : 1;
}

/* Printing is no failure: the record of errors stays as it is. */
static __attribute__((noinline)) bool lost_history(la_tensor *t)
{
    la_node *n;
    int slot;
    la_error_note note;
    la_error_keep(&note);
    bool lost = la_grad_fn_of(t, &n, &slot) == LA_EGRAD;
    la_error_restore(&note);
    return lost;
}

/* "grad_fn=<MulBackward>" for a result of recorded operations, else NULL. A
** view whose history was lost to a change of its memory still has a text. The
** text stays on the stack. Making it may run finalizers. */
static const char *history_text(lua_State *L, la_tensor *t)
{
    if (!la_grad_flag(t))
        return NULL;
    if (lost_history(la_vmap_root(t)))
        return lua_pushliteral(L, "grad_fn=<Invalid>");
    la_get_grad_fn(L, t);
    if (lua_type(L, -1) != LUA_TSTRING)
        return NULL;
    return lua_pushfstring(L, "grad_fn=<%s>", lua_tostring(L, -1));
}

/* A freed tensor still has a text. */
static int tensor_text(lua_State *L)
{
    la_state *s = la_begin(L, "tostring", 0);
    la_handle *h = la_to_handle(L, 1);
    la_text text = {NULL, 0, 0};
    if (h && !h->tensor) {
        lua_pushliteral(L, "tensor(freed)");
        return 1;
    }
    la_tensor *t = la_check_tensor(L, 1, "tostring");
    la_check_read(L, t, "tostring");
    const char *history = history_text(L, t);
    t = la_check_tensor(L, 1, "tostring");  /* finalizers may have run */
    la_charge_more(L, "tostring", WORK_SHOWN
                   * la_min(t->numel, s->context.print.threshold));
    la_status status = la_tensor_print(t, &s->context.print, history, &text);
    if (status) {
        la_text_free(&text);
        return la_raise(L, "tostring", status);
    }
    luaL_checkstack(L, 4, "stack overflow: no text");
    return hand_over(L, &text);
}

/* --- la.set_printoptions --- */

/* sci_mode: -1 by the values, else 0 or 1. The others as in PyTorch. */
static const la_print_options defaults = {
    .precision = 4, .threshold = 1000, .edgeitems = 3, .linewidth = 80,
    .sci_mode = -1
};

/* The named profile on the top of the stack into 'o'; raises for others. */
static void set_profile(lua_State *L, la_print_options *o)
{
    char quoted[256];
    size_t n;
    const char *word = luaL_checklstring(L, -1, &n);
    if (strcmp(word, "default") == 0)
        *o = defaults;
    else if (strcmp(word, "short") == 0)
        *o = (la_print_options){2, 1000, 2, 80, o->sci_mode};
    else if (strcmp(word, "full") == 0)
        *o = (la_print_options){4, 0x7fffffff, 3, 80, o->sci_mode};
    else
        luaL_error(L, "set_printoptions: unknown profile '%s' (known: default,"
                   " short, full)", la_quote(word, n, quoted, sizeof(quoted)));
}

/* The value on the top of the stack into 'slot', clamped to 31 bits; raises
** below 'least' and for what is no integer. */
static void set_integer(lua_State *L, const char *name, int *slot, int least)
{
    int ok;
    lua_Integer v = lua_tointegerx(L, -1, &ok);
    if (lua_type(L, -1) == LUA_TNUMBER && !ok
        && lua_tonumber(L, -1) > 0x7fffffff) {  /* math.huge: everything */
        *slot = 0x7fffffff;
        return;
    }
    if (lua_type(L, -1) != LUA_TNUMBER || !ok)
        luaL_error(L, "set_printoptions: '%s' must be an integer", name);
    if (v < least)
        luaL_error(L, "set_printoptions: '%s' must be at least %d", name,
                   least);
    *slot = v > 0x7fffffff ? 0x7fffffff : (int)v;
}

static void set_option(lua_State *L, const char *name, la_print_options *o)
{
    char quoted[256];
    if (strcmp(name, "precision") == 0)
        set_integer(L, name, &o->precision, 0);
    else if (strcmp(name, "threshold") == 0)
        set_integer(L, name, &o->threshold, 0);
    else if (strcmp(name, "edgeitems") == 0)
        set_integer(L, name, &o->edgeitems, 0);
    else if (strcmp(name, "linewidth") == 0)
        set_integer(L, name, &o->linewidth, 1);
    else if (strcmp(name, "sci_mode") == 0)
        o->sci_mode = lua_toboolean(L, -1);
    else if (strcmp(name, "profile") != 0)
        luaL_error(L, "set_printoptions: unknown keyword '%s' (known: "
                   "precision, threshold, edgeitems, linewidth, profile, "
                   "sci_mode)", la_quote(name, strlen(name), quoted,
                                         sizeof(quoted)));
}

/* set_printoptions{precision=, threshold=, edgeitems=, linewidth=, profile=,
** sci_mode=}: what is not named stays. sci_mode = "auto" decides by values. */
static int set_printoptions(lua_State *L)
{
    static const char *const known[] = {"precision", "threshold", "edgeitems",
                                        "linewidth", "sci_mode", NULL};
    la_state *s = la_enter(L);
    la_print_options o = s->context.print;
    la_check_table(L, 1, "set_printoptions");
    lua_settop(L, 1);
    la_take_options(L, 1, known);
    if (lua_getfield(L, 1, "profile") != LUA_TNIL)
        set_profile(L, &o);
    lua_settop(L, 1);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            return luaL_error(L, "set_printoptions: named options expected");
        set_option(L, lua_tostring(L, -2), &o);
        if (strcmp(lua_tostring(L, -2), "sci_mode") == 0
            && lua_type(L, -1) == LUA_TSTRING)
            o.sci_mode = -1;
        lua_pop(L, 1);
    }
    s->context.print = o;
    return 0;
}

/* get_printoptions(): a new table; no sci_mode where values decide. */
static int get_printoptions(lua_State *L)
{
    const la_print_options *o = &la_enter(L)->context.print;
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, o->precision);
    lua_setfield(L, -2, "precision");
    lua_pushinteger(L, o->threshold);
    lua_setfield(L, -2, "threshold");
    lua_pushinteger(L, o->edgeitems);
    lua_setfield(L, -2, "edgeitems");
    lua_pushinteger(L, o->linewidth);
    lua_setfield(L, -2, "linewidth");
    if (o->sci_mode >= 0) {
        lua_pushboolean(L, o->sci_mode);
        lua_setfield(L, -2, "sci_mode");
    }
    return 1;
}

static const la_function functions[] = {
    {"set_printoptions", set_printoptions, 1},
    {"get_printoptions", get_printoptions, 0}, {NULL, NULL, 0}
};
const la_function la_tostring_row = {"__tostring", tensor_text, LA_MANY};
const la_part la_part_print = {functions, NULL};
