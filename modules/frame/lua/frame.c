/* The table of functions in C that the modules of la.frame use. */
#include "modules/frame/lua/frame.h"

#include <string.h>

/* The Lua side says by a letter what a column's tensor means: 't' codes of
** text, 'd' dates, 'n' numbers. A dtype alone cannot tell int64 from dates. */
static la_table_kind frame_kind(char letter)
{
    return letter == 't' ? LA_TABLE_TEXT : letter == 'd' ? LA_TABLE_DATE
        : LA_TABLE_NUMBER;
}

/* Other dtypes are converted on the Lua side (to float64 or int64), so that
** the engine has one loop for six dtypes and not sixteen. */
static bool frame_is_read(la_dtype d, la_table_kind kind)
{
    if (kind == LA_TABLE_TEXT) return d == LA_INT32;
    if (kind == LA_TABLE_DATE) return d == LA_INT64;
    return d == LA_BOOL || d == LA_INT32 || d == LA_INT64 || d == LA_UINT64
        || d == LA_FLOAT32 || d == LA_FLOAT64;
}

/* Contiguous, on the CPU, with data. */
static la_tensor *frame_check_plain(lua_State *L, int arg, const char *name)
{
    la_tensor *t = la_check_tensor(L, arg, name);
    if (t->ndim != 1 || !(t->flags & LA_F_CONTIGUOUS)
        || t->flags & (LA_F_BATCHED | LA_F_DEFERRED | LA_F_NEG | LA_F_CONJ)
        || (t->numel && (!t->storage || !la_data(t))))
        la_raise_arg(L, arg, name, "a contiguous column with data expected");
    if (t->numel > LA_TABLE_ROWS)
        la_raise_arg(L, arg, name, "a column has at most %I rows here",
                     (LUAI_UACINT)LA_TABLE_ROWS);
    return t;
}

/* An empty column has a pointer as well: callers need not ask. */
la_table_column la_table_arg(lua_State *L, int arg, char letter,
                             const char *name)
{
    la_tensor *t = frame_check_plain(L, arg, name);
    la_table_kind kind = frame_kind(letter);
    if (!frame_is_read((la_dtype)t->dtype, kind))
        la_raise_arg(L, arg, name, "dtype %s can't be used here",
                     la_dtype_name((la_dtype)t->dtype));
    return (la_table_column){t->numel ? la_data(t) : "", (la_dtype)t->dtype,
                             kind, t->numel};
}

/* The pointer is good until Lua runs again. Functions therefore push their
** result first and read arrays anew behind that. */
const void *la_table_array(lua_State *L, int arg, la_dtype dtype, int64_t *n,
                           const char *name)
{
    if (lua_isnoneornil(L, arg)) return NULL;
    la_tensor *t = frame_check_plain(L, arg, name);
    if (t->dtype != dtype)
        la_raise_arg(L, arg, name, "dtype %s expected, got %s",
                     la_dtype_name(dtype), la_dtype_name((la_dtype)t->dtype));
    *n = t->numel;
    return t->numel ? la_data(t) : "";
}

/* Ids come back from Lua, where a script could have changed them: each is
** checked, without a branch per row, before loops use them as indices. */
const int32_t *la_table_ids(lua_State *L, int arg, int64_t n, int64_t count,
                            const char *name)
{
    int64_t have = n;
    const int32_t *ids = la_table_array(L, arg, LA_INT32, &have, name);
    if (have != n)
        la_raise_arg(L, arg, name, "%I rows expected, got %I", (LUAI_UACINT)n,
                     (LUAI_UACINT)have);
    int32_t bad = 0;
    for (int64_t i = 0; ids && i < n; i++)
        bad |= ids[i] < -1 || ids[i] >= count;
    if (bad || (!ids && count != 1))
        la_raise_arg(L, arg, name, "a row is in no group");
    return ids;
}

/* Rows and offsets are checked for the same reason. Both are there or
** neither. */
la_table_parts la_table_parts_arg(lua_State *L, int arg, int64_t n,
                                  const char *name)
{
    int64_t have = n, bounds = 2;
    const int32_t *rows = la_table_array(L, arg, LA_INT32, &have, name);
    const int64_t *at = la_table_array(L, arg + 1, LA_INT64, &bounds, name);
    bool bad = have > n || !rows != !at || bounds < 1;
    for (int64_t i = 0; !bad && rows && i < have; i++)
        bad = rows[i] < 0 || rows[i] >= n;
    for (int64_t k = 0; !bad && at && k < bounds; k++)
        bad = at[k] < (k ? at[k - 1] : 0) || at[k] > have;
    if (bad) la_raise_arg(L, arg, name, "rows of the column expected");
    return (la_table_parts){rows, at, n, bounds - 1};
}

int64_t la_table_count_arg(lua_State *L, int arg, const char *name)
{
    int64_t n = la_check_int(L, arg, name);
    if (n < 0 || n > LA_TABLE_ROWS)
        la_raise_arg(L, arg, name, "a number of groups expected");
    return n;
}

/* The handle is on the stack before the tensor exists: an error of Lua's then
** leaks nothing. */
void *la_table_push(lua_State *L, la_state *s, la_dtype dtype, int64_t n,
                    const char *name)
{
    la_tensor *t = NULL;
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, name, la_tensor_empty(1, &n, dtype, &t));
    la_fill_handle(s, h, t);
    return n ? la_data(t) : NULL;
}

char la_table_letter(lua_State *L, int arg)
{
    return *luaL_checkstring(L, arg);
}

int la_table_word(lua_State *L, int arg, const char *const *words, int n,
                  const char *name)
{
    const char *word = lua_type(L, arg) == LUA_TSTRING ? lua_tostring(L, arg)
                                                       : "";
    for (int k = 0; k < n; k++) if (strcmp(words[k], word) == 0) return k;
    return la_raise_arg(L, arg, name, "'%s' is no word that is known here",
                        word);
}

/* nil is the upvalue of a closure's own, which no function here needs. */
static void frame_add(lua_State *L, const luaL_Reg *row)
{
    for (; row->name; row++) {
        lua_pushnil(L);
        la_closure(L, row->func);
        lua_setfield(L, -2, row->name);
    }
}

/* la.frame._functions(): by name, for the modules of la.frame. */
static int frame_functions(lua_State *L)
{
    lua_newtable(L);
    frame_add(L, la_table_group_functions);
    frame_add(L, la_table_row_functions);
    frame_add(L, la_table_date_functions);
    frame_add(L, la_table_text_functions);
    return 1;
}

/* la.frame(columns[, options]) */
/* The module of Lua holds what la.frame(...) does, and is loaded at the first
** call. */
static int frame_call(lua_State *L)
{
    int n = lua_gettop(L);
    lua_getfield(L, 1, "_call");
    lua_replace(L, 1);
    lua_call(L, n - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static const la_function functions[] = {
    {"read_jsonl", la_read_jsonl, 1}, {"write_jsonl", la_write_jsonl, 2},
    {NULL, NULL, 0}
};
static const la_function members[] = {{"_functions", frame_functions, 0},
                                   {NULL, NULL, 0}};

const la_module la_module_frame = {functions, members, frame_call};
