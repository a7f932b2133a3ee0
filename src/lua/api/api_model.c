/*
** Model files for hosts: a state of its own reads the file by the module onnx,
** records the model, and is closed; what stays is a program.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <lauxlib.h>
#include <string.h>

#include "api/api.h"
#include "api/api_struct.h"
#include "base/runtime/runtime.h"
#include "lua/transform/autograd.h"
#include "lua/transform/host_program.h"

/* The bytes are the argument; dims that the file leaves open have size 1. */
static const char model_script[] =
    "local la, bytes = require 'lunarray', ...\n"
    "local m, sizes = la.onnx.load(bytes, {bytes = true}), {}\n"
    "for _, input in ipairs(m:inputs()) do\n"
    "  local list = {}\n"
    "  for d, n in ipairs(input.shape or {}) do\n"
    "    list[d] = math.type(n) == 'integer' and n or 1\n"
    "  end\n"
    "  sizes[input.name] = list\n"
    "end\n"
    "return m:program(sizes)\n";

/* The bytes, where to. */
static int model_body(lua_State *L)
{
    const la_bytes *bytes = lua_touserdata(L, 1);
    la_program **out = lua_touserdata(L, 2);
    la_taken *t = la_push_taken(L);
    lua_getglobal(L, "lunarray");
    if (lua_getfield(L, -1, "onnx") == LUA_TNIL)
        la_raise(L, "la_model_load", la_error(LA_ESUPPORT, "this build has no "
                                              "module onnx"));
    lua_pop(L, 2);
    if (luaL_loadstring(L, model_script) != LUA_OK) return lua_error(L);
    lua_pushlstring(L, bytes->n ? (const char *)bytes->data : "", bytes->n);
    lua_call(L, 1, 1);
    la_take_programs(L, 4, false, 0, "la_model_load", t);
    la_program **g = LA_PROG_AT(t->list, la_program *, 0);
    *out = *g;
    *g = NULL;
    return 0;
}

/* An error that no status explains came from the script, which means from the
** file: hosts get LA_EIO for it, with the script's text. */
static la_status model_run(lua_State *L, const la_bytes *bytes,
                           la_program **out)
{
    lua_pushcfunction(L, model_body);
    lua_pushlightuserdata(L, (void *)bytes);
    lua_pushlightuserdata(L, out);
    la_error_clear();
    if (lua_pcall(L, 2, 0, 0) == LUA_OK) return LA_OK;
    la_status status = la_error_status();
    if (status) return status;
    status = la_lua_error(L, "la_model_load");
    if (status != LA_ELUA) return status;
    la_error_note note;
    la_error_keep(&note);
    note.code = LA_EIO;         /* of the file */
    la_error_restore(&note);
    return LA_EIO;
}

/* The state belongs to the runtime of the call, and so does what it makes. */
static la_status model_read(const la_bytes *bytes, const char *format,
                            la_program **out)
{
    if (format && strcmp(format, "onnx") != 0)
        return la_error(LA_EARG, "the format of a model is \"onnx\"");
    lua_State *L = la_new_state(la_runtime_here());
    if (!L) return la_error_status();
    la_status status = model_run(L, bytes, out);
    /* Finalizers that run while the state closes may fail and would write over
    ** the record of the failure. */
    la_error_note note;
    la_error_keep(&note);
    lua_close(L);
    la_error_restore(&note);
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
