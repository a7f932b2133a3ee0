/*
** Raising: only here does the library leave through Lua's longjmp, and hands
** the floating-point flags back before. Where the host has unmasked exceptions,
** closures run in protected mode.
*/
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/runtime/token.h"
#include "lua/binding.h"

const char *la_type_text(lua_State *L, int arg)
{
    if (la_to_handle(L, arg)) return "tensor";
    if (lua_type(L, arg) == LUA_TNONE) return "no value";
    if (luaL_getmetafield(L, arg, "__name") == LUA_TSTRING) {
        size_t n;
        char shown[204];
        const char *name = lua_tolstring(L, -1, &n);
        return lua_pushstring(L, la_quote(name, n, shown, sizeof shown));
    }
    return luaL_typename(L, arg);
}

const char *la_operand_text(lua_State *L, int arg)
{
    if (lua_type(L, arg) == LUA_TTABLE
        && luaL_getmetafield(L, arg, "__name") == LUA_TNIL)
        return "table: a tensor of a list is la.tensor{...}";
    return la_type_text(L, arg);
}

_Thread_local la_fp_mode la_entry_mode = LA_FP_ANY;

int la_call_masked(lua_State *L)
{
    lua_Debug ar;
    luaL_checkstack(L, 1, "too many nested functions");
    lua_getstack(L, 0, &ar);
    lua_getinfo(L, "f", &ar);
    lua_insert(L, 1);
    la_fp_mode before = la_fp_begin();
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    la_fp_restore(before);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

int la_extra_levels(lua_State *L)
{
    lua_Debug running, around;
    if (!lua_getstack(L, 1, &around)) return 0;
    lua_getstack(L, 0, &running);
    lua_getinfo(L, "f", &running);
    lua_getinfo(L, "f", &around);
    bool twice = lua_rawequal(L, -1, -2) && lua_iscfunction(L, -1);
    lua_pop(L, 2);
    return twice;
}

/* ---- which error value is the record about? ---- */

static _Thread_local struct { uint64_t hash; size_t size; } raised;

static uint64_t text_hash(const char *text, size_t n)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3;
    return h;
}

bool la_is_raised(lua_State *L, int index)
{
    size_t n;
    if (lua_type(L, index) != LUA_TSTRING) return false;
    const char *text = lua_tolstring(L, index, &n);
    if (la_error_status() == LA_ENOMEM
        && strcmp(text, "not enough memory") == 0) return true;
    return n == raised.size && text_hash(text, n) == raised.hash;
}

/* An error value is on the top. */
static int error_leave(lua_State *L)
{
    const char *text = lua_tolstring(L, -1, &raised.size);
    raised.hash = text ? text_hash(text, raised.size) : 0;
    la_fp_lower_flags(la_entry_mode);
    la_entry_mode = LA_FP_ANY;
    return lua_error(L);
}

/* Push "chunk:line: " of the function that called us (level 1). Where that is
** one of our Lua modules, it is the line of whoever called into those. */
static void push_where(lua_State *L)
{
    static const char ours[] = "lunarray.";
    lua_Debug ar;
    int first = 1 + la_extra_levels(L), level = first;
    for (; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        bool module = strncmp(ar.short_src, ours, sizeof(ours) - 1) == 0;
        if (!module && (level == first || ar.currentline > 0)) break;
    }
    luaL_where(L, lua_getstack(L, level, &ar) ? level : first);
}

/* The text on the top of the stack, with its position in front, becomes the
** error. */
static int raise_text(lua_State *L)
{
    push_where(L);
    lua_insert(L, -2);
    lua_concat(L, 2);
    return error_leave(L);
}

/* Code of a fault that only Lua's side knows. */
static la_status code_of(const char *text)
{
    if (strcmp(text, "not enough memory") == 0) return LA_ENOMEM;
    return strstr(text, " was freed") ? LA_ESTATE : LA_EARG;
}

/* "bad argument #2 to 'sum' (text)" is "sum: argument 2: text" in the record;
** other texts begin with the function's name already. */
static void error_record(const char *text)
{
    static const char start[] = "bad argument ";
    la_status code = code_of(text);
    bool about = strncmp(text, start, sizeof start - 1) == 0;
    const char *arg = text + (about ? sizeof start - 1 : 0);
    const char *name = about ? strstr(arg, " to '") : NULL;
    const char *why = name ? strstr(name + 5, "' (") : NULL;
    if (why)
        la_error(code, "%.*s: argument %.*s: %.*s", (int)(why - name) - 5,
                 name + 5, (int)(name - arg) - (*arg == '#'),
                 arg + (*arg == '#'), (int)strlen(why) - 4, why + 3);
    else
        la_error(code, "%s", text);
}

/* The text on the top of the stack, behind the position of 'level'. */
static int raise_at(lua_State *L, int level)
{
    luaL_where(L, level + la_extra_levels(L));
    lua_insert(L, -2);
    lua_concat(L, 2);
    return error_leave(L);
}

int la_throw(lua_State *L, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_record(lua_pushvfstring(L, fmt, ap));
    va_end(ap);
    return raise_at(L, 1);
}

int la_throw_as(lua_State *L, const char *name, int level)
{
    const char *text = lua_tostring(L, -1);
    la_error(code_of(text), "%s: %s", name, text);
    return raise_at(L, level);
}

int la_raise_arg(lua_State *L, int arg, const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = lua_pushvfstring(L, fmt, ap);
    va_end(ap);
    error_record(lua_pushfstring(L, "bad argument #%d to '%s' (%s)", arg, name,
                                 text));
    return raise_text(L);
}

/* Makes the text at 'at' harmless: parts of a module's input may stand in
** it. */
static void make_harmless(lua_State *L, int at)
{
    size_t n;
    const char *text = lua_tolstring(L, at, &n);
    if (la_is_harmless(text, n)) return;
    size_t capacity = (n < SIZE_MAX / 8 ? n : SIZE_MAX / 8) * 4 + 1;
    char *copy = lua_newuserdatauv(L, capacity, 0);
    n = la_make_harmless(text, n, copy, capacity);
    lua_pushlstring(L, copy, n);
    lua_replace(L, at);
    lua_pop(L, 1);
}

int la_module_error(lua_State *L)
{
    int level = (int)luaL_optinteger(L, 2, 1);
    const char *name = luaL_optlstring(L, 3, NULL, NULL);
    if (level == 0 || lua_type(L, 1) != LUA_TSTRING) {
        lua_pushvalue(L, 1);
        return error_leave(L);
    }
    make_harmless(L, 1);
    lua_pushvalue(L, 1);
    if (name) return la_throw_as(L, name, level);
    error_record(lua_tostring(L, 1));
    return raise_at(L, level);
}

/* PyTorch's own sentences often begin so: "max(): Expected ...". Those keep
** their wording, without another "max: " in front. */
static bool begins_with_call(const char *text, const char *name)
{
    size_t n = strlen(name);
    return strncmp(text, name, n) == 0 && text[n] == '(';
}

/* Does the function at 'level' stand in one of our Lua modules? */
static bool in_module(lua_State *L, lua_Debug *ar)
{
    static const char ours[] = "lunarray.";
    lua_getinfo(L, "S", ar);
    return strncmp(ar->short_src, ours, sizeof ours - 1) == 0;
}

/* The function that a user called where a module of ours has called 'name':
** the outermost of the module, or the one in C in front of it; 'name' where Lua
** does not know what that was called. */
static const char *users_call(lua_State *L, const char *name)
{
    lua_Debug ar;
    int level = 1 + la_extra_levels(L), outer = 0;
    if (strchr(name, '.')) return name;     /* said in full */
    if (!lua_getstack(L, level, &ar) || !in_module(L, &ar)) return name;
    for (; lua_getstack(L, level, &ar); level++) {
        bool module = in_module(L, &ar);
        if (module) outer = level;
        else if (strcmp(ar.what, "C") != 0) break;
    }
    for (level = outer; level < outer + 2; level++) {
        if (!lua_getstack(L, level, &ar)) break;
        lua_getinfo(L, "nS", &ar);
        if (level > outer && strcmp(ar.what, "C") != 0) break;
        if (ar.name && strcmp(ar.name, "?") != 0) return ar.name;
    }
    return name;
}

int la_raise(lua_State *L, const char *name, la_status status)
{
    bool limit = status == LA_ECANCEL || status == LA_EDEADLINE
        || status == LA_EFUEL || status == LA_EINTR;
    if (limit) name = users_call(L, name);
    const char *text = la_error_message();
    int arg = la_error_arg();
    if (status == LA_ENOMEM && *text == '\0') text = "not enough memory";
    if (begins_with_call(text, name))
        lua_pushstring(L, text);
    else if (arg > 0)
        lua_pushfstring(L, "bad argument #%d to '%s' (%s)", arg, name, text);
    else
        lua_pushfstring(L, "%s: %s", name, text);
    la_error_named(name, status);   /* for the host, after its lua_pcall */
    return raise_text(L);
}

void la_charge(lua_State *L, la_token *k, const char *name, int64_t elements)
{
    LA_CHECK(L, name, la_token_take(k, la_fuel_price(elements)));
}

void la_charge_more(lua_State *L, const char *name, int64_t elements)
{
    int64_t price = la_fuel_price(elements) - la_fuel_price(0);
    la_token *k = la_ctx()->token;
    if (price > 0 && la_token_armed(k))
        LA_CHECK(L, name, la_token_take(k, price));
}

la_tensor *la_raise_no_tensor(lua_State *L, int arg, const char *name)
{
    la_handle *h = la_to_handle(L, arg);
    if (h) la_raise_arg(L, arg, name, "%s", la_freed_text(h));
    la_raise_arg(L, arg, name, "tensor expected, got %s", la_type_text(L, arg));
    return NULL;
}

void la_note_wanted(la_call_args *o, int arg, const char *what)
{
    enum { MOST = sizeof(o->wanted) / sizeof(*o->wanted) };
    if (arg < o->wanted_at) return;
    if (arg > o->wanted_at) o->nwanted = 0;
    o->wanted_at = arg;
    for (int i = 0; i < o->nwanted; i++)
        if (strcmp(o->wanted[i], what) == 0) return;
    if (o->nwanted < MOST) o->wanted[o->nwanted++] = what;
}

const char *la_wanted_text(lua_State *L, const la_call_args *o, int arg,
                           const char *what)
{
    if (arg != o->wanted_at || o->nwanted < 2) return what;
    lua_pushstring(L, o->wanted[0]);
    for (int i = 1; i < o->nwanted; i++) {
        lua_pushstring(L, i == o->nwanted - 1 ? " or " : ", ");
        lua_pushstring(L, o->wanted[i]);
        lua_concat(L, 3);
    }
    return lua_tostring(L, -1);
}
