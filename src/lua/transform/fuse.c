/*
** la.fuse(f): a compiled function (compile.c) that is recorded anew where what
** f captures has changed (compile_reach.c). Where f reads values, or calls what
** is no function of its arguments, it runs at each call.
*/
#include "lua/transform/compile.h"

/* Function that la.fuse gives; upvalue LA_UP_OWN is the compiled one. */
static int call_fused(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(LA_UP_OWN));
    lua_insert(L, 1);
    return la_call_compiled(L);
}

/* la.fuse(f) */
static int fn_fuse(lua_State *L)
{
    la_check_callable(L, 1, "fuse");
    la_compiled *c = la_new_compiled(L, 1);
    c->partial = c->watches = true;
    la_closure(L, call_fused);
    return 1;
}

static const la_function functions[] = {
    {"fuse", fn_fuse, 1}, {NULL, NULL, 0}
};
const la_part la_part_fuse = {functions, NULL};
