/*
** la.write_csv: columns as comma-separated values (modules/csv/io/csv.h has the
** grammar). The whole text is made first, so that an error leaves an old file
** as it was.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "modules/csv/io/csv.h"
#include "io/stream.h"
#include "lua/embed.h"
#include "lua/files/growing_bytes.h"
#include "modules/csv/lua/csv.h"
#include "op/call.h"
#include "tensor/host/remote.h"

/* A column that is written: elements in a row, which a handle in the list at
** W_VALUES owns; codes from 1 of texts, which stand as fields in 'fields', each
** from an offset on; or the list of strings there. */
typedef struct source_column {
    const char *data;           /* NULL: a list */
    size_t size;
    la_dtype dtype;
    const la_bytes *fields;     /* of codes; NULL: others */
    const int64_t *offsets;
    int64_t ntexts;
} source_column;

typedef struct writer {
    lua_State *L;
    la_bytes *out;
    char separator;
    la_csv_text gap;
    int64_t rows, ncolumns;
    source_column *columns;
} writer;

enum { W_COLUMNS = 1, W_PATH, W_OPTIONS, W_BYTES, W_NAMES, W_VALUES };

/* table.sort of the list at 1. */
static int sort_names(lua_State *L)
{
    lua_getglobal(L, "table");
    lua_getfield(L, -1, "sort");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 0);
    return 0;
}

/* The names as the list at W_NAMES: the list in the table, that of 'names', or
** all keys, sorted. */
static void csv_write_list_names(lua_State *L)
{
    bool listed = lua_rawgeti(L, W_COLUMNS, 1) == LUA_TSTRING;
    lua_pop(L, 1);
    for (lua_Integer k = (lua_Integer)lua_rawlen(L, W_COLUMNS); listed && k > 0;
         k--) {
        lua_rawgeti(L, W_COLUMNS, k);
        lua_rawseti(L, W_NAMES, k);
    }
    if (listed) return;
    if (lua_getfield(L, W_COLUMNS, "names") == LUA_TTABLE) {
        lua_replace(L, W_NAMES);
        return;
    }
    lua_pop(L, 1);
    lua_Integer n = 0;
    lua_pushnil(L);
    while (lua_next(L, W_COLUMNS)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            la_raise_arg(L, W_COLUMNS, "write_csv", "names of columns must be "
                         "strings, got a %s", la_type_text(L, -1));
        lua_pushvalue(L, -1);
        lua_rawseti(L, W_NAMES, ++n);
    }
    lua_pushcfunction(L, sort_names);
    lua_pushvalue(L, W_NAMES);
    lua_call(L, 1, 0);
}

/* The values of a tensor in a row, as an owned copy. */
static la_status plain_column(la_tensor *t, la_tensor **out)
{
    if (t->flags & LA_F_BATCHED) return la_refuse_batched();
    if (t->device == LA_META || (t->numel && !t->storage))
        return la_error(LA_ESTATE, "the tensor has no data to save");
    LA_TRY(la_remote_refuse(t));
    if (la_is_complex((la_dtype)t->dtype))
        return la_error(LA_EDTYPE, "complex numbers can't be written: write "
                        "their parts");
    LA_LET(own, la_run(detach, &own, t));
    LA_LET(plain, la_run(resolve_neg, &plain, own));
    return la_run(contiguous, out, plain);
}

/* Is the table on the top {codes, texts}? The codes are pushed. */
static bool csv_write_push_codes(lua_State *L)
{
    if (!lua_istable(L, -1)) return false;
    lua_rawgeti(L, -1, 1);
    const la_handle *h = la_to_handle(L, -1);
    if (h && h->tensor && h->tensor->dtype == LA_INT32) return true;
    lua_pop(L, 1);
    return false;
}

/* The column on the top: a tensor of one dim, a list, or a table of codes and
** their texts. Its number of rows. */
static int64_t check_column_value(lua_State *L, la_state *s, const char *name)
{
    if (csv_write_push_codes(L)) {
        int64_t rows = check_column_value(L, s, name);
        lua_createtable(L, 2, 0);
        lua_insert(L, -2);
        lua_rawseti(L, -2, 1);
        lua_rawgeti(L, -2, 2);
        luaL_checktype(L, -1, LUA_TTABLE);
        lua_rawseti(L, -2, 2);
        lua_remove(L, -2);
        return rows;
    }
    la_handle *h = la_to_handle(L, -1);
    if (!h && lua_istable(L, -1)) return (int64_t)lua_rawlen(L, -1);
    if (!h || !h->tensor || h->tensor->ndim != 1)
        la_raise_arg(L, W_COLUMNS, "write_csv", "column '%s': a tensor of one "
                     "dim or a list of strings expected", name);
    la_tensor *t = NULL;
    la_handle *own = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "write_csv", plain_column(
        la_check_tensor(L, lua_gettop(L) - 1, "write_csv"), &t));
    la_fill_handle(s, own, t);
    lua_remove(L, -2);
    return la_sizes(t)[0];
}

/* Every named column to W_VALUES; all have w->rows elements. */
static void list_columns(lua_State *L, la_state *s, writer *w)
{
    char shown[256];
    size_t n;
    w->ncolumns = (int64_t)lua_rawlen(L, W_NAMES);
    for (int64_t k = 1; k <= w->ncolumns; k++) {
        if (lua_rawgeti(L, W_NAMES, k) != LUA_TSTRING)
            la_raise_arg(L, W_COLUMNS, "write_csv", "names: list of strings "
                         "expected");
        const char *name = lua_tolstring(L, -1, &n);
        la_quote(name, n, shown, sizeof shown);
        lua_pushvalue(L, -1);
        if (lua_gettable(L, W_COLUMNS) == LUA_TNIL)
            la_raise_arg(L, W_COLUMNS, "write_csv", "there is no column '%s'",
                         shown);
        int64_t rows = check_column_value(L, s, shown);
        if (k > 1 && rows != w->rows)
            la_raise_arg(L, W_COLUMNS, "write_csv", "column '%s' has %I "
                         "elements, the one before %I", shown,
                         (LUAI_UACINT)rows, (LUAI_UACINT)w->rows);
        w->rows = rows;
        lua_rawseti(L, W_VALUES, k);
        lua_pop(L, 1);
    }
}

/* The column from 0 of a matrix. */
static la_status matrix_column(la_tensor *x, int64_t k, la_tensor **out)
{
    LA_LET(view, la_run(select, &view, x, 1, k));
    return plain_column(view, out);
}

/* The columns of a matrix, and the option names or "1", "2", ... */
static void split_matrix(lua_State *L, la_state *s, writer *w)
{
    la_tensor *x = la_check_tensor(L, W_COLUMNS, "write_csv");
    if (x->ndim != 2)
        la_raise_arg(L, W_COLUMNS, "write_csv", "a tensor of 2 dims or a table "
                     "of columns expected, got %d dims", x->ndim);
    w->rows = la_sizes(x)[0];
    w->ncolumns = la_sizes(x)[1];
    bool named = lua_getfield(L, W_OPTIONS, "names") == LUA_TTABLE;
    if (named && (int64_t)lua_rawlen(L, -1) != w->ncolumns)
        la_raise_arg(L, W_OPTIONS, "write_csv", "names: %I for %I columns",
                     (LUAI_UACINT)lua_rawlen(L, -1), (LUAI_UACINT)w->ncolumns);
    if (named) lua_pushvalue(L, -1), lua_replace(L, W_NAMES);
    lua_pop(L, 1);
    for (int64_t k = 0; k < w->ncolumns; k++) {
        la_tensor *t = NULL;
        la_handle *h = la_new_handle(L, s);
        LA_CHECK_TWICE(L, "write_csv", matrix_column(
            la_check_tensor(L, W_COLUMNS, "write_csv"), k, &t));
        la_fill_handle(s, h, t);
        lua_rawseti(L, W_VALUES, k + 1);
        if (named) continue;
        lua_pushfstring(L, "%I", (LUAI_UACINT)(k + 1));
        lua_rawseti(L, W_NAMES, k + 1);
    }
}

/* A row that would be an empty line is an empty text in quotes. */
static void end_row(writer *w, size_t began)
{
    if (w->out->n == began) la_bytes_put(w->out, "\"\"", 2);
    la_bytes_put_byte(w->out, '\n');
}

/* The row of names. */
static void write_names(writer *w)
{
    size_t began = w->out->n, n;
    for (int64_t k = 1; k <= w->ncolumns; k++) {
        if (lua_rawgeti(w->L, W_NAMES, k) != LUA_TSTRING)
            la_raise_arg(w->L, W_OPTIONS, "write_csv", "names: list of strings"
                         " expected");
        const char *name = lua_tolstring(w->L, -1, &n);
        if (k > 1) la_bytes_put_byte(w->out, (unsigned)w->separator);
        la_csv_put_text(w->out, name, n, w->separator);
        lua_pop(w->L, 1);
    }
    end_row(w, began);
}

/* Would read_csv take the string for no value? No string is one already. */
static bool reads_as_gap(const writer *w, const char *p, size_t n)
{
    if (n > 0 && n == w->gap.n && memcmp(p, w->gap.p, n) == 0) return true;
    for (int k = 1; k < LA_CSV_GAPS; k++)
        if (strlen(la_csv_gaps[k]) == n && memcmp(p, la_csv_gaps[k], n) == 0)
            return true;
    return false;
}

/* Row i of column k, a tensor: NaN is the gap. */
static void write_number(writer *w, const source_column *c, int64_t i)
{
    size_t began = w->out->n;
    la_csv_put(w->out, c->data + (size_t)i * c->size, c->dtype);
    bool nan = la_is_float(c->dtype) && w->out->n >= 3 && !w->out->status
        && w->out->data[w->out->n - 1] == 'n';
    if (!nan) return;
    w->out->n = began;
    la_csv_put_text(w->out, w->gap.p, w->gap.n, w->separator);
}

/* Row i of a column of codes: a field that was made before. */
static void write_code(writer *w, const source_column *c, int64_t i)
{
    int32_t code;
    memcpy(&code, c->data + (size_t)i * sizeof code, sizeof code);
    if (code >= 1 && code <= c->ntexts)
        la_bytes_put(w->out, c->fields->data + c->offsets[code - 1],
                     (size_t)(c->offsets[code] - c->offsets[code - 1]));
    else la_csv_put_text(w->out, w->gap.p, w->gap.n, w->separator);
}

/* Row i of column k, a list. */
static void write_string(writer *w, int64_t k, int64_t i)
{
    size_t n;
    lua_rawgeti(w->L, W_VALUES, k);
    if (lua_rawgeti(w->L, -1, i + 1) != LUA_TSTRING)
        la_raise_arg(w->L, W_COLUMNS, "write_csv", "strings expected in a "
                     "list, got a %s (numbers belong into a tensor)",
                     la_type_text(w->L, lua_gettop(w->L)));
    const char *p = lua_tolstring(w->L, -1, &n);
    if (reads_as_gap(w, p, n)) la_csv_put_quoted(w->out, p, n);
    else la_csv_put_text(w->out, p, n, w->separator);
    lua_pop(w->L, 2);
}

/* The texts of the list on the top as fields, made once; they and their offsets
** are pushed behind it. */
static void csv_write_fields(lua_State *L, const writer *w, source_column *c)
{
    int list = lua_gettop(L);
    c->ntexts = (int64_t)lua_rawlen(L, list);
    la_bytes *out = la_push_bytes(L);
    int64_t *at = lua_newuserdatauv(L, sizeof *at * (size_t)(c->ntexts + 1), 0);
    for (int64_t k = 0; k < c->ntexts; k++) {
        size_t n;
        at[k] = (int64_t)out->n;
        if (lua_rawgeti(L, list, k + 1) != LUA_TSTRING)
            la_raise_arg(L, W_COLUMNS, "write_csv", "texts expected");
        const char *p = lua_tolstring(L, -1, &n);
        if (n == 0 || reads_as_gap(w, p, n)) la_csv_put_quoted(out, p, n);
        else la_csv_put_text(out, p, n, w->separator);
        lua_pop(L, 1);
        LA_CHECK(L, "write_csv", out->status);
    }
    at[c->ntexts] = (int64_t)out->n;
    c->fields = out;
    c->offsets = at;
}

/* The columns of codes: their texts become fields, which stay on the stack. */
static void csv_write_list_texts(lua_State *L, writer *w)
{
    for (int64_t k = 0; k < w->ncolumns; k++) {
        luaL_checkstack(L, 8, "too many columns");
        lua_rawgeti(L, W_VALUES, k + 1);
        if (!csv_write_push_codes(L)) {
            lua_pop(L, 1);
            continue;
        }
        lua_pop(L, 1);
        lua_rawgeti(L, -1, 2);
        csv_write_fields(L, w, &w->columns[k]);
    }
}

/* Finds the elements of the columns; no more Lua code runs. */
static void find_columns(lua_State *L, writer *w)
{
    size_t n = (size_t)w->ncolumns + 1;
    w->columns = lua_newuserdatauv(L, n * sizeof *w->columns, 0);
    memset(w->columns, 0, n * sizeof *w->columns);
    csv_write_list_texts(L, w);
    for (int64_t k = 0; k < w->ncolumns; k++) {
        lua_rawgeti(L, W_VALUES, k + 1);
        if (w->columns[k].fields) {
            lua_rawgeti(L, -1, 1);
            lua_replace(L, -2);
        }
        la_handle *h = la_to_handle(L, -1);
        if (h) {
            w->columns[k].data = la_data(h->tensor);
            w->columns[k].size = la_itemsize(h->tensor);
            w->columns[k].dtype = (la_dtype)h->tensor->dtype;
        }
        lua_pop(L, 1);
    }
}

/* All rows; raises where a list holds no strings. */
static void csv_write_write_rows(lua_State *L, writer *w)
{
    int top = lua_gettop(L);
    find_columns(L, w);
    for (int64_t i = 0; i < w->rows; i++) {
        size_t began = w->out->n;
        if (i % 1024 == 0) LA_CHECK(L, "write_csv", la_poll());
        for (int64_t k = 0; k < w->ncolumns; k++) {
            if (k > 0) la_bytes_put_byte(w->out, (unsigned)w->separator);
            if (w->columns[k].fields) write_code(w, &w->columns[k], i);
            else if (w->columns[k].data) write_number(w, &w->columns[k], i);
            else write_string(w, k + 1, i);
        }
        end_row(w, began);
        LA_CHECK(L, "write_csv", w->out->status);
    }
    lua_settop(L, top);
}

/* The text becomes the file, whole. */
static la_status csv_write_store(const char *path, const la_bytes *bytes)
{
    LA_WRITER sink = {.fd = -1};
    LA_TRY(la_writer_open(path, &sink));
    LA_TRY(la_writer_write(&sink, bytes->data, bytes->n));
    return la_writer_commit(&sink);
}

/* The option na: what NaN is written as. */
static void csv_write_read_gap(lua_State *L, writer *w)
{
    w->gap = (la_csv_text){"", 0};
    if (lua_getfield(L, W_OPTIONS, "na") == LUA_TSTRING)
        w->gap.p = lua_tolstring(L, -1, &w->gap.n);
    else if (!lua_isnil(L, -1))
        la_raise_arg(L, W_OPTIONS, "write_csv", "na: string expected, got %s",
                     la_type_text(L, lua_gettop(L)));
    lua_pop(L, 1);
}

/* A frame at W_COLUMNS becomes a table of its columns. */
static void csv_write_take_frame(lua_State *L)
{
    if (lua_type(L, W_COLUMNS) != LUA_TTABLE || !la_is_embedded("frame", 5)
        || luaL_getmetafield(L, W_COLUMNS, "__name") == LUA_TNIL) return;
    bool frame = lua_type(L, -1) == LUA_TSTRING
        && strcmp(lua_tostring(L, -1), "lunarray.Frame") == 0;
    lua_pop(L, 1);
    if (!frame) return;
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.frame");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "_csv");
    lua_pushvalue(L, W_COLUMNS);
    lua_call(L, 1, 1);
    lua_replace(L, W_COLUMNS);
    lua_pop(L, 1);
}

/* la.write_csv(columns, path[, {sep=, header=, na=, names=}]) */
int la_write_csv(lua_State *L)
{
    static const char *const known[] = {"sep", "header", "na", "names", NULL};
    la_state *s = la_begin(L, "write_csv", 0);
    writer w = {.L = L};
    const char *path = la_check_path(L, W_PATH, "write_csv");
    la_csv_options(L, W_OPTIONS, known, "write_csv");
    bool header = la_csv_header(L, W_OPTIONS, "write_csv");
    w.separator = la_csv_separator(L, W_OPTIONS, "write_csv");
    csv_write_read_gap(L, &w);
    csv_write_take_frame(L);
    w.out = la_push_bytes(L);
    lua_newtable(L);
    lua_newtable(L);
    if (la_to_handle(L, W_COLUMNS)) {
        split_matrix(L, s, &w);
    } else if (lua_istable(L, W_COLUMNS)) {
        csv_write_list_names(L);
        list_columns(L, s, &w);
    } else {
        la_raise_arg(L, W_COLUMNS, "write_csv", "table of columns or tensor "
                     "expected, got %s", la_type_text(L, W_COLUMNS));
    }
    la_charge_more(L, "write_csv", w.rows * w.ncolumns);
    if (header) write_names(&w);
    csv_write_write_rows(L, &w);
    LA_CHECK(L, "write_csv", w.out->status);
    LA_CHECK(L, "write_csv", csv_write_store(path, w.out));
    la_bytes_free(w.out);
    return 0;
}
