/* Files of models as userdata: mapped, or read by the host of a sandbox. */
#include "modules/onnx/lua/onnx.h"

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
    return la_push_collected(L, sizeof(la_onnx_file), FILE_NAME, file_gc);
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

/* The host's bytes in pieces, so that a length which it does not have allocates
** little. */
la_status la_onnx_file_read(la_onnx_file *f, const la_reader *in)
{
    char piece[4096];
    for (int64_t at = 0; at < in->size; ) {
        int64_t left = in->size - at;
        size_t n = left < (int64_t)sizeof piece ? (size_t)left : sizeof piece;
        LA_TRY(la_reader_read(in, at, piece, n));
        la_bytes_put(&f->read, piece, n);
        LA_TRY(f->read.status);
        at += (int64_t)n;
    }
    f->bytes = f->read.n ? (const char *)f->read.data : "";
    f->n = f->read.n;
    return LA_OK;
}
