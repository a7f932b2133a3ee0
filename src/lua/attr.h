/* Attributes: x.name, read by 'get' and, where it is not NULL, assigned by
** 'set' (the value is at stack index 3). */
#ifndef LA_LUA_ATTR_H
#define LA_LUA_ATTR_H

#include "lua/binding.h"

/* 'get' pushes one value and returns 1; 'set' pushes nothing. Both may raise;
** the tensor is borrowed from its handle at stack index 1. */
typedef struct la_attr {
    const char *name;
    int (*get)(lua_State *L, la_tensor *t);
    int (*set)(lua_State *L, la_tensor *t);
} la_attr;

extern const la_attr la_attributes[];   /* ends with a NULL name */

/* Those of autograd stand in lua/transform/autograd.c. */
int la_get_grad(lua_State *L, la_tensor *t);
int la_set_grad_attr(lua_State *L, la_tensor *t);
int la_get_grad_fn(lua_State *L, la_tensor *t);
int la_get_requires_grad(lua_State *L, la_tensor *t);
int la_assign_requires_grad(lua_State *L, la_tensor *t);
int la_get_is_leaf(lua_State *L, la_tensor *t);

/* Push a list of n integers (copied) with == and tostring, like x.shape. May
** run a collector step. The metatable is shared by all such lists of the
** state. */
void la_push_shape(lua_State *L, int n, const int64_t *list);

#endif
