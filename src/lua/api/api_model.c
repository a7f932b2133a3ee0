/*
** Model files for hosts: a state of its own reads the file by the module onnx
** and records the model as a program. It stays where the file leaves sizes
** open, to plan for others.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <lauxlib.h>
#include <string.h>

#include "api/api.h"
#include "api/api_struct.h"
#include "base/runtime/runtime.h"
#include "lua/attr.h"
#include "lua/embed.h"
#include "lua/transform/autograd.h"
#include "lua/transform/host_program.h"

/* registry: the function of sizes, or of inputs */
static const char model_again;

/* The program at 'at', which leaves the state: nothing in it counts any more as
** that state's memory. */
static la_program *model_take(lua_State *L, int at)
{
    la_taken *t = la_push_taken(L);
    la_take_programs(L, at, false, 0, "la_model_load", t);
    la_program **g = LA_PROG_AT(t->list, la_program *, 0), *out = *g;
    *g = NULL;
    lua_pop(L, 1);
    return out;
}

/* The bits at 'at', a list: which dims are open. */
static la_status model_bits(lua_State *L, int at, la_prog_list *to)
{
    lua_Integer n = luaL_len(L, at);
    for (lua_Integer i = 1; i <= n; i++) {
        uint64_t *bits = la_prog_add(to, sizeof *bits);
        if (!bits) return LA_ENOMEM;
        lua_rawgeti(L, at, i);
        *bits = (uint64_t)lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    return LA_OK;
}

/* The script says this for a planner; nothing where the file fixes sizes. */
typedef struct model_kind {
    la_prog_list open;
    bool whole;
} model_kind;

/* The bytes, where to, and the kind. What plans for other sizes, or runs the
** model, stays in the registry. */
static int model_body(lua_State *L)
{
    const la_bytes *bytes = lua_touserdata(L, 1);
    lua_getglobal(L, "lunarray");
    if (lua_getfield(L, -1, "onnx") == LUA_TNIL)
        la_raise(L, "la_model_load", la_error(LA_ESUPPORT, "this build has no "
                                              "module onnx"));
    lua_settop(L, 3);
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.onnx.host");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "program");
    lua_pushlstring(L, bytes->n ? (const char *)bytes->data : "", bytes->n);
    lua_call(L, 1, 4);
    la_program **out = lua_touserdata(L, 2);
    *out = model_take(L, 5);
    if (lua_isnil(L, 6)) return 0;
    model_kind *kind = lua_touserdata(L, 3);
    kind->whole = lua_toboolean(L, 8);
    LA_CHECK(L, "la_model_load", model_bits(L, 7, &kind->open));
    lua_settop(L, 6);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &model_again);
    return 0;
}

/* The inputs, how many, where to. Plans depend on sizes alone, so that the
** elements stay with the host. */
static int model_again_body(lua_State *L)
{
    la_tensor *const *in = lua_touserdata(L, 1);
    lua_Integer n = lua_tointeger(L, 2);
    la_program **out = lua_touserdata(L, 3);
    luaL_checkstack(L, (int)n + 20, "too many inputs");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &model_again);
    for (lua_Integer i = 0; i < n; i++)
        la_push_shape(L, in[i]->ndim, la_sizes(in[i]));
    lua_call(L, (int)n, 1);
    *out = model_take(L, lua_gettop(L));
    return 0;
}

/* A tensor of the host's is borrowed for the call. */
typedef struct model_values {
    la_tensor *const *in;
    la_tensor **out;
    int32_t n, outputs;
} model_values;

/* The function gets new handles of the inputs, and its results are retained for
** the caller, who drops them also where a later one is no tensor. */
static int model_run_body(lua_State *L)
{
    const model_values *v = lua_touserdata(L, 1);
    luaL_checkstack(L, v->n + v->outputs + 20, "too many inputs or outputs");
    lua_rawgetp(L, LUA_REGISTRYINDEX, &model_again);
    for (int32_t i = 0; i < v->n; i++)
        if (la_push(L, v->in[i]))
            la_raise(L, "la_program_run", la_error_status());
    lua_call(L, v->n, v->outputs);
    for (int32_t i = 0; i < v->outputs; i++) {
        la_tensor *t = la_test(L, 2 + i);
        if (!t) la_raise(L, "la_program_run", la_error(LA_EIO, "result %d of "
                         "the model is no tensor", i + 1));
        v->out[i] = la_tensor_retain(t);
    }
    lua_settop(L, 0);
    return 0;
}

/* The entry of a model's state calls the function with the arguments behind it.
** An error that no status explains came from the script, which means from the
** file: hosts get LA_EIO for it, with the script's text. The state's settings
** are current meanwhile, and then the caller's again: those of a state that is
** closed next must not stay. */
static la_status model_call(lua_State *L, int arguments)
{
    LA_ENTRY_IN(la_runtime_here());
    la_error_clear();
    if (lua_pcall(L, arguments, 0, 0) == LUA_OK) return LA_OK;
    la_status status = la_error_status();
    if (!status) status = la_lua_error(L, "la_model_load");
    else lua_pop(L, 1);
    if (status != LA_ELUA) return status;
    la_error_note note;
    la_error_keep(&note);
    note.code = LA_EIO;         /* of the file */
    la_error_restore(&note);
    return LA_EIO;
}

/* Finalizers that run while the state closes may fail and would write over the
** record of a failure. */
static void model_close(void *state)
{
    la_error_note note;
    LA_ENTRY_IN(la_runtime_here());
    la_error_keep(&note);
    lua_close(state);
    la_error_restore(&note);
}

/* A planner's plan: a program for inputs of these sizes, the caller's. */
static la_status model_plan(void *state, la_tensor *const *in, int32_t n,
                            la_program **out)
{
    lua_State *L = state;
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    lua_pushcfunction(L, model_again_body);
    lua_pushlightuserdata(L, (void *)in);
    lua_pushinteger(L, n);
    lua_pushlightuserdata(L, out);
    la_status status = model_call(L, 3);
    lua_settop(L, 0);
    return status;
}

/* A planner's run: the outputs of a model whose sizes depend on data, which no
** program can have; out[i] is the caller's. */
static la_status model_eval(void *state, la_tensor *const *in, int32_t n,
                            la_tensor **out, int32_t outputs)
{
    lua_State *L = state;
    model_values v = {in, out, n, outputs};
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    lua_pushcfunction(L, model_run_body);
    lua_pushlightuserdata(L, &v);
    la_status status = model_call(L, 1);
    lua_settop(L, 0);
    return status;
}

/* The state ends with the last program that may ask it for another plan, or
** now where none will. */
static la_status model_keep(lua_State *L, model_kind *kind, la_program *g)
{
    if (!kind->open.n) {
        model_close(L);
        return LA_OK;
    }
    LA_TRY(la_planner_new(L, model_close, &g->planner));
    g->planner->plan = model_plan;
    g->planner->run = model_eval;
    g->planner->whole = kind->whole;
    g->planner->open = kind->open;
    kind->open = (la_prog_list){0};
    return LA_OK;
}

/* Reads the model in the fresh state L: its program, and what kind it is. */
static la_status model_run(lua_State *L, const la_bytes *bytes,
                           model_kind *kind, la_program **out)
{
    lua_pushcfunction(L, model_body);
    lua_pushlightuserdata(L, (void *)bytes);
    lua_pushlightuserdata(L, out);
    lua_pushlightuserdata(L, kind);
    return model_call(L, 3);
}

/* The state belongs to the runtime of the call, and so does what it makes. */
static la_status model_read(const la_bytes *bytes, const char *format,
                            la_program **out)
{
    model_kind kind = {0};
    la_program *g = NULL;
    if (format && strcmp(format, "onnx") != 0)
        return la_error(LA_EARG, "the format of a model is \"onnx\"");
    lua_State *L = la_new_state(la_runtime_here());
    if (!L) return la_error_status();
    la_status status = model_run(L, bytes, &kind, &g);
    if (status) model_close(L);
    else status = model_keep(L, &kind, g);
    la_prog_drop_list(&kind.open, sizeof(uint64_t));
    if (status) la_program_drop(g);
    else *out = g;
    return status;
}

LA_API la_program *la_model_load(la_runtime *rt, const void *bytes, size_t n,
                                 const char *format)
{
    la_program *g = NULL;
    la_bytes all = {.data = (unsigned char *)bytes, .n = n};
    LA_API_ENTRY_IN(rt ? rt : &la_default_runtime);
    la_share_tensors();
    la_status status = bytes && n ? model_read(&all, format, &g)
        : la_error(LA_EARG, "no bytes given");
    return la_api_end("la_model_load", status) ? NULL : g;
}

/* All of the source, which the module reads as a text. */
static la_status model_bytes(const la_reader *in, la_bytes *out)
{
    char piece[4096];
    for (int64_t at = 0; at < in->size && !out->status;) {
        size_t n = in->size - at < (int64_t)sizeof piece
            ? (size_t)(in->size - at) : sizeof piece;
        LA_TRY(la_reader_read(in, at, piece, n));
        la_bytes_put(out, piece, n);
        at += (int64_t)n;
    }
    return out->status;
}

/* The source is closed in every case, before its bytes are read as a model. */
static la_status model_source(const la_source *source, const char *format,
                              la_program **out)
{
    la_source s;
    la_reader in;
    LA_BYTES bytes = {0};
    la_status status = la_source_read("la_model_load_from", source, &s, &in);
    if (!status) status = model_bytes(&in, &bytes);
    la_source_close(&s);
    return status ? status : model_read(&bytes, format, out);
}

LA_API la_program *la_model_load_from(la_runtime *rt, la_source *source,
                                      const char *format)
{
    la_program *g = NULL;
    LA_API_ENTRY_IN(rt ? rt : &la_default_runtime);
    la_share_tensors();
    la_status status = model_source(source, format, &g);
    return la_api_end("la_model_load_from", status) ? NULL : g;
}
