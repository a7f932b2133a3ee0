/* The Lua face of autograd. */
#include "lua/attr.h"

int la_get_grad(lua_State *L, la_tensor *t) { (void)t; lua_pushnil(L); return 1; }
int la_set_grad(lua_State *L, la_tensor *t) { (void)t; (void)L; return 0; }
int la_get_grad_fn(lua_State *L, la_tensor *t) { (void)t; lua_pushnil(L); return 1; }
int la_get_requires_grad(lua_State *L, la_tensor *t)
{
    lua_pushboolean(L, (t->flags & LA_F_REQUIRES_GRAD) != 0);
    return 1;
}
int la_set_requires_grad(lua_State *L, la_tensor *t) { (void)t; (void)L; return 0; }
int la_get_is_leaf(lua_State *L, la_tensor *t) { (void)t; lua_pushboolean(L, 1); return 1; }
const la_part la_part_grad = {NULL, NULL};

#include "lua/build.h"
la_status la_require_grad(la_tensor *t, bool on)
{
    (void)t;
    return on ? la_error(LA_EGRAD, "recording is not built in") : LA_OK;
}
