/* Shared by the files of the autograd face. */
#ifndef LA_LUA_GRAD_H
#define LA_LUA_GRAD_H

#include <stdio.h>
#include <stdlib.h>

#include "grad/grad.h"
#include "lua/attr.h"
#include "lua/face.h"

const char *la_node_name(const la_node *n);
void la_forget_history(la_tensor *t);

/* The Lua state on which callbacks of this library state run. */
lua_State *la_lua_of(la_state *s);
/* The error value on top of the stack (popped) as the error record. */
la_status la_lua_error(lua_State *L, const char *what);
/* Push a new handle on a borrowed tensor, from outside a closure of ours. */
void la_push_borrowed(lua_State *L, la_state *s, la_tensor *t);

int la_fn_Function(lua_State *L);

#endif
