/* Files of models as userdata: mapped, or read by the host of a sandbox. */
#define LA_INTERNAL
#include "lunarray.h"

#include "modules/onnx/lua/onnx.h"

#include <string.h>

#include "base/runtime/host_call.h"
#include "io/stream.h"

#define FILE_NAME "lunarray.onnx.file"

static int file_gc(lua_State *L)
{
    la_onnx_file *f = lua_touserdata(L, 1);
    la_enter_state(L);
    la_mapping_drop(&f->mapping);
    la_bytes_free(&f->read);
    return 0;
}

la_onnx_file *la_push_onnx_file(lua_State *L)
{
    la_onnx_file *f = lua_newuserdatauv(L, sizeof *f, 0);
    *f = (la_onnx_file){0};
    if (la_new_metatable(L, FILE_NAME, NULL)) {
        lua_pushcfunction(L, file_gc);
        lua_setfield(L, -2, "__gc");
    }
    la_take_metatable(L);
    return f;
}

la_status la_onnx_file_map(la_onnx_file *f, const char *path)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    LA_TRY(la_mapping_open(&source, &f->mapping));
    f->bytes = f->mapping->data;
    f->n = f->mapping->bytes;
    return LA_OK;
}

/* ---- a host's ---- */

/* A host with a newer header may write more than our struct. */
typedef union asked {
    la_source source;
    char longer[4 * sizeof(la_source)];
} asked;

/* Callbacks run with the thread's own settings; those of the script are back
** when they return. */
static la_status file_ask_open(const la_state *s, const char *name, asked *out)
{
    la_host_call call;
    char shown[256];
    memset(out, 0, sizeof *out);
    out->source.size = sizeof out->source;
    la_host_begin(&call);
    if (!la_host_end_with(&call, s->open(s->open_context, name, &out->source)))
        return LA_OK;
    out->source.close = NULL;
    if (la_error_status()) return la_error_status();
    return la_error(LA_EIO, "the host has no '%s'",
                    la_quote(name, strlen(name), shown, sizeof shown));
}

static void file_close(const la_source *source)
{
    la_host_call call;
    if (!source->close) return;
    la_host_begin(&call);
    source->close(source->context);
    la_host_end(&call);
}

/* The host's bytes in pieces, so that a length which it does not have allocates
** little. */
static la_status file_read_all(la_onnx_file *f, const la_source *source)
{
    la_reader in;
    char piece[4096];
    LA_TRY(la_reader_of_source(source, &in));
    for (int64_t at = 0; at < in.size; ) {
        int64_t left = in.size - at;
        size_t n = left < (int64_t)sizeof piece ? (size_t)left : sizeof piece;
        LA_TRY(la_reader_read(&in, at, piece, n));
        la_bytes_put(&f->read, piece, n);
        LA_TRY(f->read.status);
        at += (int64_t)n;
    }
    f->bytes = f->read.n ? (const char *)f->read.data : "";
    f->n = f->read.n;
    return LA_OK;
}

la_status la_onnx_file_ask(la_onnx_file *f, const la_state *s, const char *name)
{
    asked a;
    la_status status = file_ask_open(s, name, &a);
    if (!status) status = file_read_all(f, &a.source);
    file_close(&a.source);
    return status;
}
