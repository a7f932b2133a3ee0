/*
** What functions for files of pictures and of sounds share: their arguments and
** what their errors say.
*/
#ifndef LA_LUA_FILES_MEDIA_H
#define LA_LUA_FILES_MEDIA_H

#include <lua.h>

#include "base/status.h"
#include "io/stream.h"
#include "tensor/tensor.h"

/* Has the tensor values, on the processor? LA_ESTATE; asked before anything is
** opened. */
la_status la_media_check(const la_tensor *t);
/* A file's error names its path; the host's and memory's stay as they are. */
la_status la_media_name(la_status status, const char *path);
/* A reader of the string at 1; raises, saying whose bytes are 'expected', where
** it is none. The string stays on the stack meanwhile. */
void la_media_source(lua_State *L, const char *name, const char *expected,
                     la_reader *out);
/* The arguments (x, path) up to the n-th, which may be given as (path, x). */
void la_media_order(lua_State *L, int n);

#endif
