/* Rows of columns, and values for each row, for Lua. */
#include "modules/frame/lua/frame.h"

#include <math.h>
#include <string.h>

#include "base/half.h"

/* ---- rows ---- */

/* The element that stands for a gap. */
static void rows_gap(la_dtype dtype, char letter, void *out)
{
    double d = NAN;
    float f = NAN;
    la_f16 h = la_f32_to_f16(NAN);
    la_bf16 b = la_f32_to_bf16(NAN);
    int64_t date = LA_TABLE_DATE_GAP;
    memset(out, 0, 16);
    if (letter == 'd') memcpy(out, &date, sizeof date);
    else if (dtype == LA_FLOAT64) memcpy(out, &d, sizeof d);
    else if (dtype == LA_FLOAT32) memcpy(out, &f, sizeof f);
    else if (dtype == LA_FLOAT16) memcpy(out, &h, sizeof h);
    else if (dtype == LA_BFLOAT16) memcpy(out, &b, sizeof b);
}

/* take(tensor, letter, rows): the elements of the rows, gaps for -1 */
static int rows_take(lua_State *L)
{
    char gap[16];
    la_state *s = la_begin(L, "take", 0);
    lua_settop(L, 3);
    la_tensor *t = la_check_tensor(L, 1, "take");
    int64_t n = 0;
    if (t->ndim != 1 || !(t->flags & LA_F_CONTIGUOUS)
        || t->flags & (LA_F_BATCHED | LA_F_DEFERRED)
        || (t->numel && (!t->storage || !la_data(t))))
        la_raise_arg(L, 1, "take", "a contiguous column with data expected");
    char letter = la_table_letter(L, 2);
    la_dtype dtype = (la_dtype)t->dtype;
    la_table_array(L, 3, LA_INT32, &n, "take");
    la_charge_more(L, "take", n);
    rows_gap(dtype, letter, gap);
    void *out = la_table_push(L, s, dtype, n, "take");
    t = la_check_tensor(L, 1, "take");
    const int32_t *rows = la_table_array(L, 3, LA_INT32, &n, "take");
    LA_CHECK(L, "take", la_table_take(t->numel ? la_data(t) : NULL, t->numel,
                                      rows, n, la_itemsize(t), gap, out));
    return 1;
}

/* of_mask(mask): the rows where it is true */
static int rows_of_mask(lua_State *L)
{
    la_state *s = la_begin(L, "filter", 0);
    int64_t n = 0, have = 0, at = 0;
    const uint8_t *mask = la_table_array(L, 1, LA_BOOL, &n, "filter");
    la_charge_more(L, "filter", n);
    for (int64_t i = 0; mask && i < n; i++) have += mask[i] != 0;
    int32_t *rows = la_table_push(L, s, LA_INT32, have, "filter");
    mask = la_table_array(L, 1, LA_BOOL, &n, "filter");
    if (have == n) {
        for (int64_t i = 0; i < n; i++) rows[i] = (int32_t)i;
        return 1;
    }
    for (int64_t i = 0; at < have; i++) {
        rows[at] = (int32_t)i;
        at += mask[i] != 0;
    }
    return 1;
}

/* of_indices(indices, n): rows of indices from 1, or from -1 backwards */
static int rows_of_indices(lua_State *L)
{
    la_state *s = la_begin(L, "frame", 0);
    int64_t n = 0, most = la_table_count_arg(L, 2, "frame");
    la_table_array(L, 1, LA_INT64, &n, "frame");
    int32_t *rows = la_table_push(L, s, LA_INT32, n, "frame");
    const int64_t *from = la_table_array(L, 1, LA_INT64, &n, "frame");
    for (int64_t i = 0; i < n; i++) {
        int64_t v = from[i];
        if (v < 0) v += most + 1;
        if (v < 1 || v > most)
            return luaL_error(L, "frame: row %I is out of range (1 to %I)",
                              (LUAI_UACINT)from[i], (LUAI_UACINT)most);
        rows[i] = (int32_t)(v - 1);
    }
    return 1;
}

/* has_gap(column, letter): the first row, from 1, that is a gap, or nil */
static int rows_has_gap(lua_State *L)
{
    la_begin(L, "isna", 0);
    la_table_column c = la_table_arg(L, 1, la_table_letter(L, 2), "isna");
    uint64_t k[LA_TABLE_BLOCK];
    if (!la_table_may_gap(&c)) return 0;
    for (int64_t i = 0; i < c.n; i += LA_TABLE_BLOCK) {
        int64_t m = c.n - i < LA_TABLE_BLOCK ? c.n - i : LA_TABLE_BLOCK;
        la_table_keys(&c, i, m, k);
        for (int64_t j = 0; j < m; j++) {
            if (k[j] != LA_TABLE_GAP) continue;
            lua_pushinteger(L, i + j + 1);
            return 1;
        }
    }
    return 0;
}

/* ---- values ---- */

typedef struct rows_call {
    la_table_column c;
    la_table_parts parts;
    void *out;
} rows_call;

/* f(column, letter, rows or nil, offsets or nil, ...): a column is pushed. */
/* Every function pushes its result before it takes pointers: making a tensor
** may run a collection, and with it finalizers of the script. */
static rows_call rows_begin(lua_State *L, const char *name, la_dtype dtype)
{
    static int64_t none;
    la_state *s = la_begin(L, name, 0);
    rows_call a;
    lua_settop(L, 9);
    a.c = la_table_arg(L, 1, la_table_letter(L, 2), name);
    la_charge_more(L, name, a.c.n);
    a.out = la_table_push(L, s, dtype, a.c.n, name);
    if (!a.out) a.out = &none;
    a.c = la_table_arg(L, 1, la_table_letter(L, 2), name);
    a.parts = la_table_parts_arg(L, 3, a.c.n, name);
    return a;
}

/* rolling(..., how, size, times or nil, least, center): float64 */
/* A quarter of int64's range bounds the size, so that sums of a row and a size
** cannot overflow. */
static int rows_rolling(lua_State *L)
{
    static const char *const words[] = {"count", "sum", "mean", "var", "std",
                                        "min", "max", "median"};
    rows_call a = rows_begin(L, "rolling", LA_FLOAT64);
    la_table_window w = {
        .how = (la_table_how)la_table_word(L, 5, words, 8, "rolling"),
        .size = la_check_int(L, 6, "rolling"),
        .least = la_check_int(L, 8, "rolling"),
        .center = lua_toboolean(L, 9)};
    int64_t n = a.c.n;
    w.times = la_table_array(L, 7, LA_INT64, &n, "rolling");
    if (n != a.c.n || w.size < 1 || w.size > INT64_MAX / 4 || w.least < 0)
        la_raise_arg(L, 2, "rolling", "a size from 1 on expected");
    LA_CHECK(L, "rolling", la_table_rolling(&a.c, &a.parts, &w, a.out));
    return 1;
}

/* scan(..., word): int64 of integers and booleans, else float64 */
static int rows_scan(lua_State *L)
{
    static const char *const words[] = {"cumsum", "cumprod", "cummax",
                                        "cummin"};
    lua_settop(L, 9);
    int scan = la_table_word(L, 5, words, 4, "cumsum");
    bool whole = !la_is_float(la_table_arg(L, 1, 'n', words[scan]).dtype);
    rows_call a = rows_begin(L, words[scan], whole ? LA_INT64 : LA_FLOAT64);
    LA_CHECK(L, words[scan], whole
             ? la_table_scan_integers(&a.c, &a.parts, (la_table_scan)scan,
                                      a.out)
             : la_table_scan_doubles(&a.c, &a.parts, (la_table_scan)scan,
                                     a.out));
    return 1;
}

/* shift(..., by): rows */
static int rows_shift(lua_State *L)
{
    rows_call a = rows_begin(L, "shift", LA_INT32);
    LA_CHECK(L, "shift", la_table_shift(&a.parts, la_check_int(L, 5, "shift"),
                                        a.out));
    return 1;
}

/* fill(..., back): rows */
/* Rows of the values that fill the gaps; the Lua side takes them from the
** column. */
static int rows_fill(lua_State *L)
{
    bool back = lua_toboolean(L, 5);
    const char *name = back ? "bfill" : "ffill";
    rows_call a = rows_begin(L, name, LA_INT32);
    LA_CHECK(L, name, la_table_fill(&a.c, &a.parts, back, a.out));
    return 1;
}

/* number(...): int64 */
static int rows_number(lua_State *L)
{
    rows_call a = rows_begin(L, "number", LA_INT64);
    LA_CHECK(L, "number", la_table_number(&a.parts, a.out));
    return 1;
}

/* rank(column, letter, ids or nil, count, ties, descending): float64 */
static int rows_rank(lua_State *L)
{
    static const char *const words[] = {"average", "min", "max", "dense",
                                        "first"};
    la_state *s = la_begin(L, "rank", 0);
    lua_settop(L, 6);
    int ties = la_table_word(L, 5, words, 5, "rank");
    int64_t count = la_table_count_arg(L, 4, "rank");
    la_table_column c = la_table_arg(L, 1, la_table_letter(L, 2), "rank");
    la_charge_more(L, "rank", c.n);
    double none, *out = la_table_push(L, s, LA_FLOAT64, c.n, "rank");
    c = la_table_arg(L, 1, la_table_letter(L, 2), "rank");
    const int32_t *ids = la_table_ids(L, 3, c.n, count, "rank");
    LA_CHECK(L, "rank", la_table_rank(&c, ids, (la_table_ties)ties,
                                      lua_toboolean(L, 6), out ? out : &none));
    return 1;
}

const luaL_Reg la_table_row_functions[] = {
    {"take", rows_take}, {"of_mask", rows_of_mask},
    {"of_indices", rows_of_indices}, {"has_gap", rows_has_gap},
    {"rolling", rows_rolling}, {"scan", rows_scan}, {"shift", rows_shift},
    {"fill", rows_fill}, {"number", rows_number}, {"rank", rows_rank},
    {NULL, NULL}
};
