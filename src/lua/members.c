/*
** Members of the module and of tensors: what la.name and x:name are.
**
** A state knows some 2,500 functions and a script uses a few dozen. So each is
** made when its name is first asked for, by the __index of the module and of
** the table of methods (foreign.c), and stays there. Its name is looked up in
** tables that belong to the process, of which the first one that has it counts:
** functions of Lua modules, then those of modules, of parts, and rows of
** operations (op/lookup.c). pairs makes what is left.
*/
#include <math.h>
#include <string.h>

#include "lua/attr.h"
#include "lua/bracket.h"
#include "lua/binding.h"
#include "lua/embed.h"
#include "op/op.h"

static const la_part *const parts[] = {
    &la_part_apply, &la_part_storage, &la_part_build, &la_part_info,
    &la_part_attr, &la_part_index, &la_part_random, &la_part_io, &la_part_print,
    &la_part_grad, &la_part_names, &la_part_fuse, &la_part_compile,
    &la_part_recording, &la_part_scope,
    &la_part_share, &la_part_vmap, &la_part_control, &la_part_meta};
#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

#define BINDING(name) extern const la_module la_module_##name;
#include "modules/binding.def"
#undef BINDING
static const struct { const char *name; const la_module *module; } modules[] = {
#define BINDING(name) {#name, &la_module_##name},
#include "modules/binding.def"
#undef BINDING
    {NULL, NULL}
};

/* la.gradcheck, la.progress, ...: functions of Lua modules, which are loaded
** when one is called. Upvalues: the module, the name in it. */
static int call_lazy(lua_State *L)
{
    int n = lua_gettop(L);
    lua_pushcfunction(L, la_require);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_call(L, 1, 1);
    lua_getfield(L, -1, lua_tostring(L, lua_upvalueindex(2)));
    lua_insert(L, 1);
    lua_pop(L, 1);
    lua_call(L, n, LUA_MULTRET);
    return lua_gettop(L);
}

static const struct { const char *name, *module; } lazy[] = {
    {"describe", "lunarray.describe"},
    {"__array_namespace_info__", "lunarray.array_api"},
    {"progress", "lunarray.data"},
    {"gradcheck", "lunarray.autograd"},
    {"gradgradcheck", "lunarray.autograd"},
    {"checkpoint", "lunarray.autograd"},
    {"jacobian", "lunarray.jacobian"},
    {"hessian", "lunarray.jacobian"},
    {"jvp", "lunarray.jacobian"},
    {"vjp", "lunarray.jacobian"},
    {"hvp", "lunarray.jacobian"},
    {"multi_head_attention_forward", "lunarray.multi_head"},
    {"clip_grad_norm_", "lunarray.nn"},
    {"clip_grad_value_", "lunarray.nn"},
};
static const char *const lazy_methods[][2] = {
    {"describe", "describe"}, {"summary", "describe"}};

/* ---- names ---- */

static bool is_same(const char *text, const char *name, size_t n)
{
    return strlen(text) == n && memcmp(text, name, n) == 0;
}

/* NULL where no row of the list has the name. */
static const la_function *row_among(const la_function *row, const char *name,
                                    size_t n)
{
    while (row && row->name && !is_same(row->name, name, n)) row++;
    return row && row->name ? row : NULL;
}

static const la_function *member_row(const char *name, size_t n)
{
    const la_function *row = NULL;
    for (int i = 0; !row && modules[i].name; i++)
        row = row_among(modules[i].module->functions, name, n);
    for (size_t i = 0; !row && i < COUNT(parts); i++)
        row = row_among(parts[i]->functions, name, n);
    return row;
}

static const la_function *method_row(const char *name, size_t n)
{
    const la_function *row = NULL;
    for (size_t i = 0; !row && i < COUNT(parts); i++)
        row = row_among(parts[i]->methods, name, n);
    return row;
}

/* The index in 'lazy'; -1: not there. */
static int lazy_member(const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT(lazy); i++)
        if (is_same(lazy[i].name, name, n)) return (int)i;
    return -1;
}

static int lazy_method(const char *name, size_t n)
{
    for (size_t i = 0; i < COUNT(lazy_methods); i++)
        if (is_same(lazy_methods[i][0], name, n))
            return lazy_member(lazy_methods[i][1], strlen(lazy_methods[i][1]));
    return -1;
}

/* ---- making them ---- */

static bool push_row(lua_State *L, const la_function *row)
{
    if (row) la_push_function(L, row);
    return row != NULL;
}

/* A function of a Lua module, which is only compiled when it is called. */
static bool push_lazy(lua_State *L, int i)
{
    if (i < 0) return false;
    lua_pushstring(L, lazy[i].module);
    lua_pushstring(L, lazy[i].name);
    lua_pushcclosure(L, call_lazy, 2);
    return true;
}

bool la_push_member(lua_State *L, const char *name, size_t n)
{
    return push_lazy(L, lazy_member(name, n))
        || push_row(L, member_row(name, n))
        || la_push_operation(L, name, n, LA_FN);
}

/* An operation's form in place has the name with an underscore. */
bool la_push_method(lua_State *L, const char *name, size_t n)
{
    return push_lazy(L, lazy_method(name, n))
        || push_row(L, method_row(name, n))
        || la_push_operation(L, name, n, LA_METHOD)
        || (n > 1 && name[n - 1] == '_'
            && la_push_operation(L, name, n - 1, LA_INPLACE_FORM));
}

/* Asks the table for the name, which makes it. */
static void ask(lua_State *L, int table, const char *name)
{
    lua_getfield(L, table, name);
    lua_pop(L, 1);
}

static void ask_rows(lua_State *L, int table, const la_function *row)
{
    for (; row && row->name; row++) ask(L, table, row->name);
}

void la_make_members(lua_State *L, int lib)
{
    for (size_t i = 0; i < COUNT(lazy); i++) ask(L, lib, lazy[i].name);
    for (int i = 0; modules[i].name; i++)
        ask_rows(L, lib, modules[i].module->functions);
    for (size_t i = 0; i < COUNT(parts); i++)
        ask_rows(L, lib, parts[i]->functions);
    la_make_operations(L, lib, false);
}

void la_make_methods(lua_State *L, int methods)
{
    for (size_t i = 0; i < COUNT(lazy_methods); i++)
        ask(L, methods, lazy_methods[i][0]);
    for (size_t i = 0; i < COUNT(parts); i++)
        ask_rows(L, methods, parts[i]->methods);
    la_make_operations(L, methods, true);
}

/* ---- what is there from the start ---- */

static const struct { const char *name; double value; } numbers[] = {
    {"pi", 3.141592653589793}, {"e", 2.718281828459045},
    {"inf", INFINITY}, {"nan", NAN},
};
static const char *const texts[][2] = {
    {"ellipsis", "..."}, {"_VERSION", LA_VERSION_TEXT}};

/* la.float32 == "float32", la.pi, ...: attributes of the module. A name that an
** operation has taken keeps the operation. */
static void add_constants(lua_State *L, int lib)
{
    for (int d = 0; d < LA_NDTYPES; d++) {
        const char *name = la_dtype_name((la_dtype)d);
        if (la_push_operation(L, name, strlen(name), LA_FN)) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushstring(L, name);
        lua_setfield(L, lib, name);
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        lua_pushnumber(L, numbers[i].value);
        lua_setfield(L, lib, numbers[i].name);
    }
    for (size_t i = 0; i < COUNT(texts); i++) {
        lua_pushstring(L, texts[i][1]);
        lua_setfield(L, lib, texts[i][0]);
    }
}

/* Functions in C that add to la.name, or make it. */
static const struct {
    const char *name;
    void (*open)(lua_State *L, int lib);
} others[] = {
    {"newaxis", la_open_index}, {"parallel", la_open_parallel},
    {"plot", la_open_plot}, {"snapshot", la_open_snapshots},
    {"cond", la_open_cond},
};

/* Members of modules' themes, and what calls of the themes do. */
static void add_modules(lua_State *L, int lib)
{
    for (int i = 0; modules[i].name; i++) {
        const la_function *row = modules[i].module->members;
        if (!row) continue;
        lua_getfield(L, lib, modules[i].name);
        for (; row->name; row++) {
            la_push_function(L, row);
            lua_setfield(L, -2, row->name);
        }
        if (modules[i].module->call) {
            lua_getmetatable(L, -1);
            lua_pushcfunction(L, modules[i].module->call);
            lua_setfield(L, -2, "__call");
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
}

void la_open_members(lua_State *L, int lib)
{
    add_modules(L, lib);
    add_constants(L, lib);
    for (size_t i = 0; i < COUNT(others); i++) others[i].open(L, lib);
}

bool la_is_lua_name(const char *name, size_t n)
{
    bool is = la_is_theme(name, n) || is_same("autograd", name, n)
        || la_is_embedded(name, n) || lazy_member(name, n) >= 0
        || lazy_method(name, n) >= 0 || member_row(name, n)
        || method_row(name, n);
    for (size_t i = 0; i < COUNT(numbers); i++)
        is |= is_same(numbers[i].name, name, n);
    for (size_t i = 0; i < COUNT(texts); i++)
        is |= is_same(texts[i][0], name, n);
    for (size_t i = 0; i < COUNT(others); i++)
        is |= is_same(others[i].name, name, n);
    for (const la_attr *a = la_attributes; a->name; a++)
        is |= is_same(a->name, name, n);
    for (int d = 0; d < LA_NDTYPES; d++)
        is |= is_same(la_dtype_name((la_dtype)d), name, n);
    return is;
}

