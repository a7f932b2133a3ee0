/*
** la.fuse(f): a function that runs f with its element-wise operations recorded,
** and computes what f returns in one pass over memory (src/fuse).
**
** What is deferred lives as long as the recording, on the current context. So a
** recording must end on every way out of f, errors included, and its results
** must have been computed before it ends.
*/
#include "fuse/fuse.h"
#include "lua/binding.h"

/* Tensors in returned tables count, tables in them too, to this depth. */
#define MAX_DEPTH 4
#define MAX_WANTED 64        /* no more steps are pending than that */

/* Results to compute. Borrowed: the stack holds their handles, and from the
** scan to la_fuse_values no Lua code runs that could free one. */
typedef struct wanted {
    int n;
    la_tensor *list[MAX_WANTED];    /* borrowed from their handles */
} wanted;

/* Note a tensor once, if it is deferred. */
static void want(wanted *w, la_tensor *t)
{
    while (t && (t->flags & LA_F_BATCHED)) t = t->base;
    if (!t || !(t->flags & LA_F_DEFERRED)) return;
    for (int i = 0; i < w->n; i++)
        if (w->list[i] == t) return;
    if (w->n < MAX_WANTED) w->list[w->n++] = t;
}

/* The value at the top of the stack. Raises nothing, runs no Lua code. lua_next
** reads raw. The recursion is bounded by MAX_DEPTH, for which the caller has
** reserved stack. */
static void want_value(lua_State *L, wanted *w, int depth)
{
    la_handle *h = la_to_handle(L, -1);
    if (h) want(w, h->tensor);
    if (depth == MAX_DEPTH || lua_type(L, -1) != LUA_TTABLE) return;
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        want_value(L, w, depth + 1);
        lua_pop(L, 1);
    }
}

/* Compute the deferred tensors among f's results (the whole stack). */
static la_status fuse_compute(lua_State *L, wanted *w)
{
    w->n = 0;
    for (int i = 1; i <= lua_gettop(L); i++) {
        lua_pushvalue(L, i);
        want_value(L, w, 0);
        lua_pop(L, 1);
    }
    return la_fuse_finish(w->n, w->list);
}

/* The results, then the recording ends, whatever came of that. */
static la_status fuse_finish(lua_State *L, la_state *s)
{
    wanted w;
    la_status status = fuse_compute(L, &w);
    if (status == LA_ENOMEM && la_collect_here(L)) status = fuse_compute(L, &w);
    la_fuse_close();
    for (int i = 0; !status && !s->scopes.depth && i < w.n; i++)
        la_count_bytes(s, w.list[i]);   /* their handles were made without */
    return status;
}

/* Function that la.fuse gives; upvalue LA_UP_OWN is f. Inside another fused or
** compiled function it is a part of that one. f's results are returned as they
** are; errors of f pass through unchanged. A yield across the recording is
** refused by lua_pcall (no continuation), as the recording belongs to this
** thread's context. */
static int call_fused(lua_State *L)
{
    int n = lua_gettop(L);
    la_state *s = la_begin(L, "fuse", 0);
    bool nested = la_fuse_is_open() || s->context.recorder;
    luaL_checkstack(L, 3 * MAX_DEPTH + 4, "too many arguments");
    lua_pushvalue(L, lua_upvalueindex(LA_UP_OWN));
    lua_insert(L, 1);
    if (nested) {
        lua_call(L, n, LUA_MULTRET);
        return lua_gettop(L);
    }
    la_pace_data(L, s);         /* what is dead by now gives its memory back */
    la_enter(L);
    LA_CHECK_TWICE(L, "fuse", la_fuse_open());
    int failed = lua_pcall(L, n, LUA_MULTRET, 0);
    la_enter(L);
    if (!failed && !lua_checkstack(L, 3 * MAX_DEPTH + 4)) {
        lua_pushliteral(L, "fuse: too many results");
        failed = 1;
    }
    la_status status = LA_OK;
    if (failed) {       /* writes of before are done, as they would have been */
        la_fuse_finish(0, NULL);
        la_fuse_close();
    } else status = fuse_finish(L, s);
    if (failed) return lua_error(L);
    if (status) return la_raise(L, "fuse", status);
    la_pace(L, s);
    return lua_gettop(L);
}

/* la.fuse(f) */
static int fn_fuse(lua_State *L)
{
    la_check_callable(L, 1, "fuse");
    lua_pushvalue(L, 1);
    la_closure(L, call_fused);
    return 1;
}

static const la_function functions[] = {
    {"fuse", fn_fuse, 1}, {NULL, NULL, 0}
};
const la_part la_part_fuse = {functions, NULL};
