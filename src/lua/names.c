/*
** Names of dims as methods: rename, refine_names, align_to. Each returns a
** view; their lists are no arguments that a schema has, so they stand here.
**
** A list is checked against the tensor before the result's handle is made, and
** the tensor is looked up again after: the allocation may run a finalizer that
** changes or frees it.
*/
#include <string.h>

#include "lua/binding.h"
#include "op/call.h"
#include "tensor/names.h"
#include "tensor/shape.h"

typedef const char *name_list[LA_MAX_DIMS];

/* The text at the top of the stack as an interned name; pops it. Interned names
** are never freed, so the pointer outlives the string. */
static const char *pop_name(lua_State *L, const char *fn)
{
    size_t n;
    char quoted[256];
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "%s: names expected, got %s", fn, la_type_text(L, -1));
    const char *word = lua_tolstring(L, -1, &n);
    if (memchr(word, '\0', n))
        luaL_error(L, "%s: '%s' is no name", fn,
                   la_quote(word, n, quoted, sizeof quoted));
    const char *name = la_name_intern(word, n);
    if (!name)
        la_raise(L, fn, LA_ENOMEM);
    lua_pop(L, 1);
    return name;
}

/* Names as varargs from argument 2 on, or as one list. Returns how many. More
** than LA_MAX_DIMS raise. */
static int read_names(lua_State *L, const char *fn, name_list out)
{
    bool list = lua_istable(L, 2);
    lua_Integer n = list ? (lua_Integer)lua_rawlen(L, 2) : lua_gettop(L) - 1;
    if (n > LA_MAX_DIMS)
        luaL_error(L, "%s: at most %d names", fn, LA_MAX_DIMS);
    for (int k = 0; k < (int)n; k++) {
        if (list)
            lua_rawgeti(L, 2, k + 1);
        else
            lua_pushvalue(L, k + 2);
        out[k] = pop_name(L, fn);
    }
    return (int)n;
}

/* The star stands for a dim without a name, as in the list that a user sees.
** Equal names are equal pointers. */
static const char *name_of(const la_tensor *t, int d)
{
    return t->names ? t->names->name[d] : la_name_intern("*", 1);
}

static bool is_star(const char *name) { return strcmp(name, "*") == 0; }
static bool is_dots(const char *name) { return strcmp(name, "...") == 0; }

/* Push a view of 't' with these names; NULL drops them. The view shares storage
** and history; 't' itself keeps its names. */
static int push_named(lua_State *L, la_tensor *t, int n,
                      const char *const *names, const char *fn)
{
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    la_tensor *view;
    t = la_check_tensor(L, 1, fn);      /* finalizers may have run */
    if (names && n != t->ndim)
        return luaL_error(L, "%s: the tensor changed meanwhile", fn);
    la_names *list = NULL;
    if (names)
        LA_CHECK(L, fn, la_names_new(n, names, &list));
    la_status status = la_run(alias, &view, t);
    if (status) {
        la_names_release(list);
        return la_raise(L, fn, status);
    }
    la_tensor_set_names(view, list);
    la_fill_handle(s, h, view);
    return 1;
}

/* "..." in the list stands for the names of all dims that are not listed. 'out'
** has t->ndim entries after it, which is what it returns. */
static int expand_dots(lua_State *L, const la_tensor *t, const char *fn,
                       int n, name_list given, name_list out)
{
    int dots = -1;
    for (int k = 0; k < n; k++)
        if (is_dots(given[k])) {
            if (dots >= 0)
                luaL_error(L, "%s: '...' stands twice in the list", fn);
            dots = k;
        }
    int rest = t->ndim - (n - 1);
    if (dots < 0 ? n != t->ndim : rest < 0)
        luaL_error(L, "%s: %d names for %d dimensions", fn, n, t->ndim);
    for (int k = 0, at = 0; k < n; k++) {
        if (k != dots)
            out[at++] = given[k];
        else
            for (int d = 0; d < rest; d++, at++)
                out[at] = name_of(t, at);
    }
    return t->ndim;
}

/* rename{old = "new"}: only these change. All old names are looked up in the
** tensor, so that two may be exchanged. */
static int rename_by_map(lua_State *L, la_tensor *t)
{
    name_list names;
    for (int d = 0; d < t->ndim; d++)
        names[d] = name_of(t, d);
    lua_pushnil(L);
    while (lua_next(L, 2)) {
        const char *to = pop_name(L, "rename");
        lua_pushvalue(L, -1);
        const char *from = pop_name(L, "rename");
        int d = la_names_find(t->names, from);
        if (d < 0)
            return luaL_error(L, "rename: the tensor has no dimension named "
                              "'%s'", from);
        names[d] = to;
    }
    return push_named(L, t, t->ndim, names, "rename");
}

/* x:rename("N", "C"), x:rename{"N", "C"}, x:rename{C = "channel"},
** x:rename() drops all. */
static int method_rename(lua_State *L)
{
    name_list given, names;
    la_take_list(L, 2);
    la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, "rename");
    bool none = lua_isnoneornil(L, 2);
    bool map = lua_istable(L, 2) && lua_rawlen(L, 2) == 0 && t->ndim > 0;
    if ((none || lua_istable(L, 2)) && lua_gettop(L) > 2)
        return la_raise_arg(L, 3, "rename", "at most 2 arguments expected, "
                            "got %d", lua_gettop(L));
    if (none) return push_named(L, t, 0, NULL, "rename");
    if (map) return rename_by_map(L, t);
    int n = read_names(L, "rename", given);
    n = expand_dots(L, t, "rename", n, given, names);
    return push_named(L, t, n, names, "rename");
}

/* Gives names to dims that have none; others must agree. */
static int method_refine(lua_State *L)
{
    name_list given, names;
    la_take_list(L, 2);
    la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, "refine_names");
    int n = read_names(L, "refine_names", given);
    n = expand_dots(L, t, "refine_names", n, given, names);
    for (int d = 0; d < n; d++) {
        const char *old = name_of(t, d);
        if (old != names[d] && !is_star(old))
            return luaL_error(L, "refine_names: cannot coerce dimension %d "
                              "named '%s' to '%s'", d + 1, old, names[d]);
    }
    return push_named(L, t, n, names, "refine_names");
}

/* --- align_to --- */

typedef struct alignment {
    int n;                            /* dims of the result */
    name_list names;
    int64_t dims[LA_MAX_DIMS];        /* order of the tensor's own dims */
    uint64_t fresh;                   /* dims of size 1 to be put in */
    int used;
} alignment;

static bool is_listed(const char *name, int n, name_list list)
{
    for (int k = 0; k < n; k++)
        if (list[k] == name)
            return true;
    return false;
}

/* The next dim of the result is dim d of the tensor. */
static void put_own(alignment *a, const la_tensor *t, int d)
{
    a->names[a->n++] = name_of(t, d);
    a->dims[a->used++] = d;
}

/* Decide the order before anything is made. Each own dim must be taken exactly
** once; names the tensor does not have become dims of size 1. */
static void plan_alignment(lua_State *L, const la_tensor *t, int n,
                           name_list given, alignment *a)
{
    *a = (alignment){.n = 0};
    if (n > LA_MAX_DIMS - t->ndim)
        luaL_error(L, "align_to: at most %d dimensions", LA_MAX_DIMS);
    for (int k = 0; k < n; k++) {
        int d = la_names_find(t->names, given[k]);
        if (is_dots(given[k])) {
            for (int e = 0; e < t->ndim; e++)
                if (!is_listed(name_of(t, e), n, given))
                    put_own(a, t, e);
        } else if (d >= 0 && !is_star(given[k])) {
            put_own(a, t, d);
        } else {
            a->fresh |= (uint64_t)1 << a->n;
            a->names[a->n++] = given[k];
        }
    }
    if (a->used != t->ndim)
        luaL_error(L, "align_to: every dimension of the tensor must be named "
                   "in the list, or stand under '...'");
}

/* *out is NULL after a failure. Dims of size 1 are inserted in ascending order,
** so that an index of the plan is the index in the result. */
static la_status align(la_tensor *t, const alignment *a, la_tensor **out)
{
    LA_TRY(la_run(permute, out, t, la_v_ints(a->dims, t->ndim)));
    for (int d = 0; d < a->n; d++) {
        la_tensor *next = NULL;
        if (!(a->fresh >> d & 1))
            continue;
        la_status status = la_run(unsqueeze, &next, *out, d);
        la_tensor_release(*out);
        *out = next;
        LA_TRY(status);
    }
    return LA_OK;
}

/* x:align_to("N", "...", "C"): dims in this order, of size 1 where x has none
** of that name. */
static int method_align_to(lua_State *L)
{
    name_list given;
    alignment a;
    la_take_list(L, 2);
    la_state *s = la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, "align_to");
    la_names *names;
    la_tensor *out = NULL;
    int n = read_names(L, "align_to", given);
    plan_alignment(L, t, n, given, &a);
    la_handle *h = la_new_handle(L, s);
    t = la_check_tensor(L, 1, "align_to");  /* finalizers may have run */
    if (a.used != t->ndim)
        return luaL_error(L, "align_to: the tensor changed meanwhile");
    LA_CHECK(L, "align_to", la_names_new(a.n, a.names, &names));
    la_status status = align(t, &a, &out);
    if (status) {
        la_names_release(names);
        return la_raise(L, "align_to", status);
    }
    la_tensor_set_names(out, names);
    la_fill_handle(s, h, out);
    return 1;
}

static const la_function methods[] = {
    {"rename", method_rename, LA_MANY},
    {"refine_names", method_refine, LA_MANY},
    {"align_to", method_align_to, LA_MANY}, {NULL, NULL, 0}
};

const la_part la_part_names = {NULL, methods};
