/*
** Hooks written in Lua.
**
** A hook runs inside la_run_backward, which is no Lua function: an error must
** not leave by longjmp there. So each call is protected, the error value is
** kept in the registry, and the status goes up through the engine until the Lua
** function that called backward raises the value again.
*/
#include "base/runtime/memory.h"
#include "lua/transform/autograd.h"
#include "lua/sandbox/sandbox.h"
#include "program/program.h"
#include "tensor/shape.h"

#include <string.h>

lua_State *la_lua_of(la_state *s)
{
    return s->running ? s->running : s->main;
}

static int push_text(lua_State *L)
{
    la_push_shown(L, 1);
    return 1;
}

/* The text of the value on the top of the stack, which gets one more value that
** keeps it. A value's __tostring is a function like any other: an error in it
** must not leave here, so what has no text is named by its type. */
static const char *text_of_error(lua_State *L)
{
    if (lua_type(L, -1) == LUA_TSTRING) {
        lua_pushvalue(L, -1);
        return lua_tostring(L, -1);
    }
    lua_pushcfunction(L, push_text);
    lua_pushvalue(L, -2);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) return lua_tostring(L, -1);
    return luaL_typename(L, -2);
}

/* The error value on the stack as our record. */
la_status la_lua_error(lua_State *L, const char *what)
{
    const char *text = text_of_error(L);
    bool again = strstr(text, what) != NULL;   /* an inner call said it */
    la_status code = strstr(text, "not enough memory") ? LA_ENOMEM : LA_ELUA;
    la_status status = *what && strstr(text, "stack overflow")
        ? la_error(LA_ELUA, "%s: stack overflow", what)
        : la_error(code, "%s%s%s", again ? "" : what, again ? "" : ": ", text);
    lua_pop(L, 2);
    return status;
}

/* ---- errors of functions that backward calls ---- */

/* Registry: the value that waits (nil as the slot's own address), else false.
** The slot is never empty, so that an assignment takes no memory. */
static const char thrown_key;

void la_open_errors(lua_State *L)
{
    lua_pushboolean(L, false);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &thrown_key);
}

/* A later error of the same backward replaces an earlier one. Storing it takes
** no memory; the text for the record does. */
la_status la_keep_error(lua_State *L, la_state *s, const char *what)
{
    if (lua_isnil(L, -1)) lua_pushlightuserdata(L, (void *)&thrown_key);
    else lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &thrown_key);
    s->thrown = true;
    return la_lua_error(L, what);
}

/* Anomaly mode adds to a text where the operation was recorded. So in anomaly
** mode a text goes by the error record, which has that addition; other values
** are raised as they are. */
int la_raise_kept(lua_State *L, const char *name, la_status status)
{
    la_state *s = la_up_state(L);
    bool thrown = s->thrown;
    s->thrown = false;
    if (!thrown) return la_raise(L, name, status);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &thrown_key);
    la_open_errors(L);
    if (lua_touserdata(L, -1) == &thrown_key) lua_pushnil(L);
    if (s->context.where && lua_type(L, -1) == LUA_TSTRING)
        return la_raise(L, name, status);
    return lua_error(L);
}

/* ---- hooks ---- */

/* Frame that passes through lua_pcall as a light userdata. 'grad' is borrowed
** from the engine for the call; a hook without 'out' has no results. */
typedef struct hook_frame {
    const la_tie *tie;
    la_tensor *grad, **out;
    la_status status;       /* of what the hook returned */
    la_mode_mark mode;      /* the engine's, and whether it is open */
    bool is_open;
} hook_frame;

/* Shape of a gradient as a hook found it: it may change elements in place, but
** not the sizes, which memory behind it and the node's formula have. */
typedef struct hook_watch {
    la_tensor *grad;        /* held; NULL: the leaf has none */
    la_geometry g;
} hook_watch;

static void hook_begin_watch(hook_watch *w, const hook_frame *f)
{
    w->grad = f->out ? f->grad : la_leaf_grad(f->grad);
    if (!w->grad) return;
    la_tensor_retain(w->grad);
    la_geometry_of(w->grad, &w->g);
}

static la_status hook_end_watch(hook_watch *w)
{
    if (!w->grad) return LA_OK;
    bool same = w->grad->ndim == w->g.ndim
        && memcmp(la_sizes(w->grad), w->g.sizes,
                  (size_t)w->g.ndim * sizeof(int64_t)) == 0;
    la_tensor_drop(&w->grad);
    if (same) return LA_OK;
    return la_error(LA_EGRAD, "hook: a hook keeps the gradient's shape");
}

/* The value on the top of the stack; *out gets a reference of its own. Raises
** nothing: the status is the result. */
static la_status take_result(lua_State *L, const hook_frame *f)
{
    la_handle *r = la_to_handle(L, -1);
    if (lua_isnil(L, -1)) return LA_OK;
    if (!r || !r->tensor)
        return la_error(LA_EGRAD, "hook: a hook returns a tensor or nil, got "
                        "%s", r ? "a freed tensor" : luaL_typename(L, -1));
    if (!la_same_sizes(r->tensor, f->grad))
        return la_error(LA_EGRAD, "hook: a hook keeps the gradient's shape");
    if (r->tensor->dtype != f->grad->dtype)
        return la_error(LA_EGRAD, "hook: a hook keeps the gradient's dtype");
    if (r->tensor->device != f->grad->device)
        return la_error(LA_EGRAD, "hook: a hook keeps the gradient's device");
    *f->out = la_tensor_retain(r->tensor);
    return LA_OK;
}

/* Registry: by the reference of a hook the userdata that it hangs on, with weak
** values. */
static const char leaves_key;

/* A hook gets a handle on the gradient, or the leaf's own userdata, which may
** be a key of tables, where that is still there. */
static void push_argument(lua_State *L, la_state *s, const hook_frame *f)
{
    if (!f->out) {
        la_push_weak_table(L, &leaves_key, "v");
        lua_rawgeti(L, -1, f->tie->refs[0]);
        lua_remove(L, -2);
        la_handle *h = la_to_handle(L, -1);
        if (h && h->tensor == f->grad) return;
        lua_pop(L, 1);
    }
    la_push_borrowed(L, s, f->grad);
}

/* Protected body: calls the hook with a handle, takes its result. The hook may
** remove itself: the tie is not looked at after the call. */
static int hook_call(lua_State *L)
{
    hook_frame *f = lua_touserdata(L, 1);
    la_state *s = f->tie->state;
    f->mode = la_open_mode(L, s, s->context.no_grad);
    f->is_open = true;
    lua_pop(L, 1);
    la_tie_push(L, f->tie, 0);
    push_argument(L, s, f);
    lua_call(L, 1, 1);
    f->status = f->out ? take_result(L, f) : LA_OK;
    return 0;
}

/* The engine's callback: runs the hook in protected mode; *out stays as it is
** where the hook returned nil, else it is owned by the caller. */
static la_status hook_run(void *context, la_tensor *grad, la_tensor **out)
{
    hook_frame f = {.tie = context, .grad = grad, .out = out};
    la_state *s = f.tie->state;
    lua_State *L = NULL;
    LA_TRY(la_tie_enter(f.tie, &L));
    lua_pushcfunction(L, hook_call);
    lua_pushlightuserdata(L, &f);
    hook_watch w;
    hook_begin_watch(&w, &f);
    int status = lua_pcall(L, 1, 0, 0);
    la_make_current(&s->context);
    if (f.is_open) la_end_mode(L, s, &f.mode);
    la_status kept = hook_end_watch(&w);
    if (status == LUA_OK && !f.status && kept && f.out) la_tensor_drop(f.out);
    if (status != LUA_OK) return la_keep_error(L, s, "hook");
    return f.status ? f.status : kept;
}

/* When the hook is removed or what it hangs on dies. The registry slot is given
** back if the state still exists. */
static void hook_release(void *context)
{
    la_tie_end(context);
    la_mem_free(context, sizeof(la_tie));
}

la_tie *la_tie_of_hook(const la_hook *h)
{
    return h->run == hook_run ? h->context : NULL;
}

/* The handle of a registered hook: {tensor, id} with remove and __close.
** Removing twice, or after the tensor was freed, does nothing. */
static int hook_remove(lua_State *L)
{
    la_enter_state(L);
    la_check_table(L, 1, "remove");
    lua_rawgeti(L, 1, 1);
    la_handle *h = la_to_handle(L, -1);
    lua_rawgeti(L, 1, 2);
    if (h && h->tensor) la_remove_hook(h->tensor, lua_tointeger(L, -1));
    return 0;
}

/* The tensor's handle is at stack index 1. The table anchors it, so that the id
** stays meaningful. */
static void push_removal(lua_State *L)
{
    static const la_function methods[] = {
        {"remove", hook_remove, 1}, {NULL, NULL, 0}};
    lua_createtable(L, 2, 0);
    if (la_new_metatable(L, "lunarray.hook", "a hook's metatable is locked")) {
        la_set_event(L, "__close", hook_remove);
        la_set_methods(L, methods);
    }
    la_take_metatable(L);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
}

/* The ref is taken before the tie exists: whatever raises until then leaves at
** most a used registry slot. From la_register_hook on the tensor owns the tie,
** also on failure. */
static int add_hook(lua_State *L, bool after, const char *name)
{
    la_state *s = la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, name);
    int64_t id = 0;
    la_begin_work(L, s, name, 0);
    la_check_callable(L, 2, name);
    LA_CHECK(L, name, la_loop_hold());
    la_collect_ties(L, s);
    push_removal(L);
    la_push_weak_table(L, &leaves_key, "v");
    lua_pushvalue(L, 2);
    int ref = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, ref);
    lua_pop(L, 1);
    t = la_check_tensor(L, 1, name);        /* finalizers have run */
    la_tie *h = la_mem_alloc(sizeof(*h));
    if (!h) {
        luaL_unref(L, LUA_REGISTRYINDEX, ref);
        return la_raise(L, name, LA_ENOMEM);
    }
    la_tie_set(h, s, ref, LUA_NOREF);
    LA_CHECK(L, name,
             la_register_hook(t, after, hook_run, h, hook_release, &id));
    lua_pushinteger(L, id);
    lua_rawseti(L, -2, 2);
    return 1;
}

/* x:register_hook(f) */
int la_method_register_hook(lua_State *L)
{
    return add_hook(L, false, "register_hook");
}

/* x:register_post_accumulate_grad_hook(f) */
int la_method_register_after_hook(lua_State *L)
{
    return add_hook(L, true, "register_post_accumulate_grad_hook");
}
