/* Files and functions in C of la.onnx. */
#ifndef LA_ONNX_LUA_H
#define LA_ONNX_LUA_H

#include "io/bytes.h"
#include "io/stream.h"
#include "lua/binding.h"
#include "modules/onnx/io/schema.h"
#include "modules/onnx/io/tensor.h"

/* A file whose bytes tensors may lie in, a userdata whose finalizer lets go of
** the mapping. */
typedef struct la_onnx_file {
    la_mapping *mapping;
    la_bytes read;          /* what a host gave */
    const void *bytes;      /* of one of these, or of an anchored string */
    size_t n;
} la_onnx_file;
la_onnx_file *la_push_onnx_file(lua_State *L);
/* Map the file at 'path'. LA_EIO. */
la_status la_onnx_file_map(la_onnx_file *f, const char *path);

/* Take all bytes of a reader. LA_EIO, LA_ENOMEM. */
la_status la_onnx_file_read(la_onnx_file *f, const la_reader *in);

/* la.onnx.read(path or bytes[, {message=, externals=}]) */
int la_onnx_read(lua_State *L);
/* la.onnx.encode(table[, message]) */
int la_onnx_encode(lua_State *L);
/* la.onnx.write(bytes, path) */
int la_onnx_write(lua_State *L);
/* la.onnx.trace(f, inputs...) */
int la_onnx_trace(lua_State *L);
/* la.onnx._program(program) */
int la_onnx_program(lua_State *L);

#endif
