/* Groups, orders, joins and values of groups for Lua. */
#include "modules/frame/lua/frame.h"

#include <math.h>
#include <string.h>

#include "base/runtime/memory.h"

enum { GROUPS_KEYS = 64 };      /* columns of keys at most */

/* ---- keys ---- */

/* How many columns the list at 1 has; they are pushed. */
static int groups_push_keys(lua_State *L, const char *name)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    int64_t n = (int64_t)lua_rawlen(L, 1);
    if (n < 1 || n > GROUPS_KEYS)
        la_raise_arg(L, 1, name, "from 1 to %d columns expected", GROUPS_KEYS);
    luaL_checkstack(L, (int)n + 8, "too many columns");
    for (int64_t k = 1; k <= n; k++) lua_rawgeti(L, 1, k);
    return (int)n;
}

/* The columns at 'at' and behind it; their letters are the string at 2. */
static int64_t groups_keys(lua_State *L, int at, int nkeys,
                           la_table_column *keys, const char *name)
{
    size_t n;
    const char *letters = luaL_checklstring(L, 2, &n);
    if ((int)n != nkeys) la_raise_arg(L, 2, name, "a letter for each column");
    for (int k = 0; k < nkeys; k++) {
        keys[k] = la_table_arg(L, at + k, letters[k], name);
        if (keys[k].n != keys[0].n)
            la_raise_arg(L, 1, name, "columns of one length expected");
    }
    return keys[0].n;
}

/* Rows in memory of ours as a tensor. */
static la_status groups_rows(const la_table_block *from, int64_t n,
                             la_tensor **out)
{
    LA_TRY(la_tensor_empty(1, &n, LA_INT32, out));
    if (n) memcpy(la_data(*out), from->p, (size_t)n * sizeof(int32_t));
    return LA_OK;
}

static la_status groups_find(const la_table_column *keys, int nkeys, int64_t n,
                             bool sorted, bool skip, la_tensor **ids,
                             la_tensor **first, int64_t *count)
{
    la_table_grouping g = {.first = {NULL, 0}};
    la_status status = la_tensor_empty(1, &n, LA_INT32, ids);
    if (!status) {
        int32_t none;
        g.ids = n ? (int32_t *)la_data(*ids) : &none;
        status = la_table_group(keys, nkeys, n, sorted, skip, &g);
    }
    if (!status) status = groups_rows(&g.first, g.count, first);
    *count = g.count;
    la_table_free(&g.first);
    if (status) {
        if (*ids) la_tensor_release(*ids);
        *ids = NULL;
    }
    return status;
}

/* group(columns, letters, sorted, skip): ids, their number, first rows */
static int groups_group(lua_State *L)
{
    la_state *s = la_begin(L, "group", 0);
    lua_settop(L, 4);
    la_table_column keys[GROUPS_KEYS];
    int nkeys = groups_push_keys(L, "group");
    la_charge_more(L, "group", groups_keys(L, 5, nkeys, keys, "group"));
    bool sorted = lua_toboolean(L, 3), skip = lua_toboolean(L, 4);
    la_handle *ids = la_new_handle(L, s), *first = la_new_handle(L, s);
    la_tensor *a = NULL, *b = NULL;
    int64_t count = 0, n = groups_keys(L, 5, nkeys, keys, "group");
    LA_CHECK(L, "group", groups_find(keys, nkeys, n, sorted, skip, &a, &b,
                                     &count));
    la_fill_handle(s, ids, a);
    la_fill_handle(s, first, b);
    lua_pushinteger(L, count);
    lua_insert(L, -2);
    return 3;
}

/* order(columns, letters, descending, first): rows; the last two are strings of
** a letter for each column, "y" for yes */
static int groups_order(lua_State *L)
{
    la_state *s = la_begin(L, "sort", 0);
    lua_settop(L, 4);
    la_table_column columns[GROUPS_KEYS];
    la_table_key keys[GROUPS_KEYS];
    int nkeys = groups_push_keys(L, "sort");
    int64_t n = groups_keys(L, 5, nkeys, columns, "sort");
    size_t a, b;
    const char *down = luaL_checklstring(L, 3, &a);
    const char *first = luaL_checklstring(L, 4, &b);
    if ((int)a != nkeys || (int)b != nkeys)
        la_raise_arg(L, 3, "sort", "a letter for each column");
    la_charge_more(L, "sort", n);
    int32_t none, *rows = la_table_push(L, s, LA_INT32, n, "sort");
    groups_keys(L, 5, nkeys, columns, "sort");
    for (int k = 0; k < nkeys; k++)
        keys[k] = (la_table_key){columns[k], down[k] == 'y', first[k] == 'y'};
    LA_CHECK(L, "sort", la_table_order(keys, nkeys, n, n ? rows : &none));
    return 1;
}

/* segments(ids, count): rows by group, offsets */
static int groups_segments(lua_State *L)
{
    la_state *s = la_begin(L, "group", 0);
    int64_t n = 0, count = la_table_count_arg(L, 2, "group");
    la_table_array(L, 1, LA_INT32, &n, "group");
    la_charge_more(L, "group", n);
    const int32_t *ids = la_table_ids(L, 1, n, count, "group");
    int64_t have = 0;
    for (int64_t i = 0; i < n; i++) have += ids[i] >= 0;
    int32_t *rows = la_table_push(L, s, LA_INT32, have, "group");
    int64_t *offsets = la_table_push(L, s, LA_INT64, count + 1, "group");
    ids = la_table_ids(L, 1, n, count, "group");
    LA_CHECK(L, "group", la_table_segments(ids, n, count, rows, offsets));
    return 2;
}

/* ---- joins ---- */

typedef struct groups_pairs {
    const int32_t *left, *right;
    int64_t nleft, nright, count;
    bool keep;
} groups_pairs;

static la_status groups_match(const groups_pairs *p, la_tensor **l,
                              la_tensor **r)
{
    la_table_match m = {{NULL, 0}, {NULL, 0}, 0};
    la_status status = la_table_join(p->left, p->nleft, p->right, p->nright,
                                     p->count, p->keep, &m);
    if (!status) status = groups_rows(&m.left, m.n, l);
    if (!status) status = groups_rows(&m.right, m.n, r);
    if (status && *l) {
        la_tensor_release(*l);
        *l = NULL;
    }
    la_table_free(&m.left);
    la_table_free(&m.right);
    return status;
}

/* join(left, right, count, keep): rows of the left, of the right */
static int groups_join(lua_State *L)
{
    la_state *s = la_begin(L, "join", 0);
    groups_pairs p = {.count = la_table_count_arg(L, 3, "join"),
                      .keep = lua_toboolean(L, 4)};
    la_table_array(L, 1, LA_INT32, &p.nleft, "join");
    la_table_array(L, 2, LA_INT32, &p.nright, "join");
    la_charge_more(L, "join", p.nleft + p.nright);
    la_handle *left = la_new_handle(L, s), *right = la_new_handle(L, s);
    la_tensor *a = NULL, *b = NULL;
    p.left = la_table_ids(L, 1, p.nleft, p.count, "join");
    p.right = la_table_ids(L, 2, p.nright, p.count, "join");
    if (!p.left || !p.right) return luaL_error(L, "join: ids expected");
    LA_CHECK(L, "join", groups_match(&p, &a, &b));
    la_fill_handle(s, left, a);
    la_fill_handle(s, right, b);
    return 2;
}

/* match(left, right, letter): ids of both, -1 for gaps and for what the right
** has not, and their number */
static int groups_match_keys(lua_State *L)
{
    la_state *s = la_begin(L, "join", 0);
    lua_settop(L, 3);
    char letter = la_table_letter(L, 3);
    int64_t count = 0, n = la_table_arg(L, 1, letter, "join").n;
    int64_t m = la_table_arg(L, 2, letter, "join").n;
    la_charge_more(L, "join", n + m);
    int32_t none, *l = la_table_push(L, s, LA_INT32, n, "join");
    int32_t *r = la_table_push(L, s, LA_INT32, m, "join");
    la_table_column left = la_table_arg(L, 1, letter, "join");
    la_table_column right = la_table_arg(L, 2, letter, "join");
    if (left.dtype != right.dtype)
        la_raise_arg(L, 2, "join", "columns of one dtype expected");
    LA_CHECK(L, "join", la_table_match_keys(&left, &right, n ? l : &none,
                                            m ? r : &none, &count));
    lua_pushinteger(L, count);
    return 3;
}

/* is_whole(rows, n): are they all n rows in their order? */
static int groups_is_whole(lua_State *L)
{
    la_begin(L, "join", 0);
    int64_t n = 0, whole = luaL_checkinteger(L, 2), i = 0;
    const int32_t *rows = la_table_array(L, 1, LA_INT32, &n, "join");
    if (n == whole) while (i < n && rows[i] == i) i++;
    lua_pushboolean(L, i == whole);
    return 1;
}

/* twice(ids, count): the first row, from 1, whose id was met before, or nil */
static int groups_twice(lua_State *L)
{
    la_begin(L, "join", 0);
    int64_t row, n = 0, count = la_table_count_arg(L, 2, "join");
    la_table_array(L, 1, LA_INT32, &n, "join");
    const int32_t *ids = la_table_ids(L, 1, n, count, "join");
    LA_CHECK(L, "join", la_table_twice(ids, n, count, &row));
    if (row < 0) lua_pushnil(L);
    else lua_pushinteger(L, row + 1);
    return 1;
}

/* ---- one value for each group: f(column, letter, ids or nil, count, ...) */

typedef struct groups_call {
    la_table_column c;
    const int32_t *ids;
    int64_t count;
} groups_call;

/* Arguments as they are now. */
static groups_call groups_args(lua_State *L, const char *name)
{
    groups_call a = {.c = la_table_arg(L, 1, la_table_letter(L, 2), name),
                     .count = la_table_count_arg(L, 4, name)};
    a.ids = la_table_ids(L, 3, a.c.n, a.count, name);
    return a;
}

/* Pushes n outputs of 'count' elements, and reads the arguments. */
static groups_call groups_begin(lua_State *L, const char *name,
                                const la_dtype *dtypes, int n, void **out)
{
    la_state *s = la_begin(L, name, 0);
    static int64_t none;        /* where there are no groups */
    lua_settop(L, 6);
    int64_t count = la_table_count_arg(L, 4, name);
    la_charge_more(L, name, groups_args(L, name).c.n);
    for (int k = 0; k < n; k++) {
        out[k] = la_table_push(L, s, dtypes[k], count, name);
        if (!out[k]) out[k] = &none;
    }
    return groups_args(L, name);
}

/* pick(..., "first", "last", "min" or "max"): rows */
static int groups_pick(lua_State *L)
{
    static const char *const words[] = {"first", "last", "min", "max"};
    void *out;
    lua_settop(L, 6);
    int pick = la_table_word(L, 5, words, 4, "agg");
    groups_call a = groups_begin(L, words[pick], &(la_dtype){LA_INT32}, 1,
                                 &out);
    LA_CHECK(L, words[pick], la_table_pick_rows(&a.c, a.ids, a.count,
                                                (la_table_pick)pick, out));
    return 1;
}

static int groups_count(lua_State *L)
{
    void *out;
    groups_call a = groups_begin(L, "count", &(la_dtype){LA_INT64}, 1, &out);
    LA_CHECK(L, "count", la_table_count(&a.c, a.ids, a.count, out));
    return 1;
}

/* sum(..., prod): float64, and int64 counts */
static int groups_sum(lua_State *L)
{
    void *out[2];
    bool prod = lua_toboolean(L, 5);
    const char *name = prod ? "prod" : "sum";
    groups_call a = groups_begin(L, name, (la_dtype[]){LA_FLOAT64, LA_INT64}, 2,
                                 out);
    LA_CHECK(L, name, la_table_sum(&a.c, a.ids, a.count, prod, out[0], out[1]));
    return 2;
}

/* isum(..., prod): int64 */
static int groups_sum_integers(lua_State *L)
{
    void *out;
    bool prod = lua_toboolean(L, 5);
    const char *name = prod ? "prod" : "sum";
    groups_call a = groups_begin(L, name, &(la_dtype){LA_INT64}, 1, &out);
    LA_CHECK(L, name, la_table_sum_integers(&a.c, a.ids, a.count, prod, out));
    return 1;
}

/* squares(..., means): float64 */
static int groups_squares(lua_State *L)
{
    void *out;
    groups_call a = groups_begin(L, "var", &(la_dtype){LA_FLOAT64}, 1, &out);
    int64_t n = -1;
    const double *means = la_table_array(L, 5, LA_FLOAT64, &n, "var");
    if (n != a.count) la_raise_arg(L, 5, "var", "a mean for each group");
    LA_CHECK(L, "var", la_table_squares(&a.c, a.ids, a.count, means, out));
    return 1;
}

/* quantile(..., q): float64 */
static int groups_quantile(lua_State *L)
{
    void *out;
    double q = luaL_checknumber(L, 5);
    if (!(q >= 0 && q <= 1))
        la_raise_arg(L, 2, "quantile", "a number from 0 to 1 expected");
    groups_call a = groups_begin(L, "quantile", &(la_dtype){LA_FLOAT64}, 1,
                                 &out);
    LA_CHECK(L, "quantile", la_table_quantile(&a.c, a.ids, a.count, q, out));
    return 1;
}

static int groups_nunique(lua_State *L)
{
    void *out;
    groups_call a = groups_begin(L, "nunique", &(la_dtype){LA_INT64}, 1, &out);
    LA_CHECK(L, "nunique", la_table_nunique(&a.c, a.ids, a.count, out));
    return 1;
}

const luaL_Reg la_table_group_functions[] = {
    {"group", groups_group}, {"order", groups_order},
    {"segments", groups_segments}, {"join", groups_join},
    {"match", groups_match_keys}, {"is_whole", groups_is_whole},
    {"twice", groups_twice}, {"pick", groups_pick}, {"count", groups_count},
    {"sum", groups_sum}, {"isum", groups_sum_integers},
    {"squares", groups_squares}, {"quantile", groups_quantile},
    {"nunique", groups_nunique}, {NULL, NULL}
};
