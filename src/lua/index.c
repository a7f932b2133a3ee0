/* Indexing: x[key], x[key] = value, x(i, j), x:item(i, j). */
#include "lua/face.h"

int la_index_get(lua_State *L)
{
    la_state *s = la_enter(L);
    la_tensor *t = la_check_tensor(L, 1, "index");
    int64_t i = la_check_int(L, 2, "index");
    la_handle *h = la_new_handle(L, s);
    la_tensor *row = NULL;
    LA_CHECK(L, "index", la_run(select, &row, LA_T(t), LA_I(0),
                                LA_I(i > 0 ? i - 1 : i)));
    la_fill_handle(s, h, row);
    return 1;
}
int la_index_set(lua_State *L) { return luaL_error(L, "index: read only"); }
int la_index_call(lua_State *L) { return luaL_error(L, "index: read only"); }

int la_item(lua_State *L)
{
    la_scalar s;
    la_tensor *t = la_check_tensor(L, 1, "item");
    if (!la_tensor_to_scalar(t, &s)) return luaL_error(L, "item: one element");
    la_push_scalar(L, &s);
    return s.kind == LA_KCOMPLEX ? 2 : 1;
}
const la_part la_part_index = {NULL, NULL};
