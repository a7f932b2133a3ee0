/* Files and functions in C of la.onnx. */
#ifndef LA_ONNX_LUA_H
#define LA_ONNX_LUA_H

#include "lua/binding.h"
#include "modules/onnx/io/schema.h"
#include "modules/onnx/io/tensor.h"

/* A file whose bytes tensors may lie in, a userdata whose finalizer lets go of
** the mapping. */
typedef struct la_onnx_file {
    la_mapping *mapping;
    const void *bytes;      /* of the mapping, or of an anchored string */
    size_t n;
} la_onnx_file;
la_onnx_file *la_push_onnx_file(lua_State *L);
/* Map the file at 'path'. LA_EIO. */
la_status la_onnx_file_map(la_onnx_file *f, const char *path);

/* la.onnx.read(path or bytes[, {message=, externals=}]) */
int la_onnx_read(lua_State *L);
/* la.onnx.encode(table[, message]) */
int la_onnx_encode(lua_State *L);
/* la.onnx.write(bytes, path) */
int la_onnx_write(lua_State *L);
/* la.onnx.trace(f, inputs...) */
int la_onnx_trace(lua_State *L);

#endif
