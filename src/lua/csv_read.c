/*
** la.read_csv: columns of a file of comma-separated values (io/csv.h has the
** grammar) as tensors and lists.
**
** The file is read into memory and walked over twice: once to see what its
** columns hold and how many rows there are, once to fill them. Whatever is
** owned meanwhile is in a userdata, as strings are made on the way.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "io/csv.h"
#include "io/stream.h"
#include "lua/bytes.h"
#include "lua/csv.h"

typedef struct column {
    const char *name;           /* of the list of names */
    size_t n;
    bool wanted, text;          /* text: a list of strings */
    la_dtype forced, stored;    /* LA_UNDEFINED: not forced */
    bool is_text, is_float, is_bool, is_integer, is_wide, has_gap;  /* seen */
    char *data;                 /* of the tensor that is filled */
} column;

typedef struct reader {
    lua_State *L;
    const char *path;
    la_csv start, csv;          /* the first row; where reading is */
    column *columns;
    int64_t ncolumns, rows;
    la_csv_text *gaps;                 /* what stands for no value */
    int64_t ngaps;
} reader;

/* Where things stand on the stack while a file is read. */
enum { PATH = 1, OPTIONS, FILE_BYTES, SCRATCH, NAMES, COLUMNS, GAPS, VALUES,
       RESULT };

/* ---- errors ---- */

/* A failure with the path in front, unless it is the host's or memory's. */
static la_status in_file(const reader *r, la_status status)
{
    char shown[300], message[600];
    if (status != LA_EIO) return status;
    strncpy(message, la_error_message(), sizeof message - 1);
    message[sizeof message - 1] = 0;
    return la_error(LA_EIO, "'%s': %s", la_quote(r->path, strlen(r->path),
                    shown, sizeof shown), message);
}

/* The field of a column can't be what its dtype asks for. */
static la_status bad_field(const column *c, int64_t line,
                           const la_csv_field *f, const char *why)
{
    char name[200], shown[200];
    la_quote(c->name, c->n < 40 ? c->n : 40, name, sizeof name);
    la_quote(f->text, f->n < 40 ? f->n : 40, shown, sizeof shown);
    return la_error(LA_EIO, "line %lld: column '%s': '%s' %s", (long long)line,
                    name, shown, why);
}

/* A row of n fields where others have 'want'. */
static la_status bad_row(int64_t line, int64_t n, int64_t want)
{
    return la_error(LA_EIO, "line %lld has %lld field%s, %lld expected",
                    (long long)line, (long long)n, n == 1 ? "" : "s",
                    (long long)want);
}

/* ---- rows ---- */

typedef la_status (*field_fn)(reader *, column *, int64_t row, int64_t line,
                              const la_csv_field *);

/* One row, each wanted field of which goes to 'each'. */
static la_status read_row(reader *r, int64_t row, field_fn each)
{
    la_csv_field f = {.last = false};
    int64_t n = 0, line = r->csv.line;
    while (!f.last) {
        int64_t at = r->csv.line;
        LA_TRY(la_csv_next(&r->csv, &f));
        if (n < r->ncolumns && r->columns[n].wanted)
            LA_TRY(each(r, &r->columns[n], row, at, &f));
        n++;
    }
    return n == r->ncolumns ? LA_OK : bad_row(line, n, r->ncolumns);
}

/* All rows, from the first one on. */
static la_status each_row(reader *r, field_fn each)
{
    int64_t row = 0;
    r->csv = r->start;
    for (; la_csv_more(&r->csv); row++) {
        if (row % 1024 == 0) LA_TRY(la_poll());
        LA_TRY(read_row(r, row, each));
    }
    r->rows = row;
    return LA_OK;
}

/* Is it one of the texts that stand for no value? */
static bool is_gap(const reader *r, const la_csv_field *f)
{
    for (int64_t k = 0; k < r->ngaps; k++)
        if (r->gaps[k].n == f->n && memcmp(r->gaps[k].p, f->text, f->n) == 0)
            return true;
    return false;
}

/* ---- the first pass: what columns hold ---- */

/* Columns whose dtype is known, or that hold texts, are passed over. */
static la_status look_at(reader *r, column *c, int64_t row, int64_t line,
                         const la_csv_field *f)
{
    la_csv_value v;
    if (c->text || c->forced != LA_UNDEFINED || c->is_text) return LA_OK;
    if (is_gap(r, f)) {
        c->has_gap = true;
        return LA_OK;
    }
    la_csv_read(f->text, f->n, &v);
    switch (v.kind) {
    case LA_CSV_TEXT: c->is_text = true; break;
    case LA_CSV_FLOAT: c->is_float = true; break;
    case LA_CSV_BOOL: c->is_bool = true; break;
    case LA_CSV_INTEGER:
        c->is_integer = true;
        if (v.magnitude > (uint64_t)INT64_MAX + v.negative) c->is_wide = true;
    }
    return LA_OK;
}

/* What a column is stored as while it is filled. */
static void decide(column *c)
{
    bool number = c->is_integer || c->is_float;
    if (c->forced != LA_UNDEFINED) {
        c->stored = la_is_float(c->forced) ? LA_FLOAT64
            : c->forced == LA_BOOL || c->forced == LA_UINT64 ? c->forced
                                                             : LA_INT64;
        return;
    }
    c->text = c->text || c->is_text
        || (c->is_bool && (number || c->has_gap));
    c->stored = c->is_bool ? LA_BOOL
        : c->is_integer && !c->is_float && !c->is_wide && !c->has_gap
        ? LA_INT64 : LA_FLOAT64;
}

/* ---- the second pass: values ---- */

/* Does an integer fit an integer dtype? */
static bool fits(const la_csv_value *v, la_dtype dtype)
{
    int bits = 8 * (int)la_dtype_size(dtype);
    bool is_signed = la_dtype_kind(dtype) == 'i';
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
    if (v->negative && !is_signed) return v->magnitude == 0;
    return v->magnitude <= most + v->negative;
}

/* A gap is NaN among floats, and an error among integers. */
static la_status fill_number(reader *r, column *c, int64_t row, int64_t line,
                             const la_csv_field *f)
{
    la_csv_value v;
    bool gap = is_gap(r, f);
    la_dtype want = c->forced == LA_UNDEFINED ? c->stored : c->forced;
    char why[80];
    snprintf(why, sizeof why, "does not fit %s", la_dtype_name(want));
    la_csv_read(f->text, f->n, &v);
    if (c->stored == LA_FLOAT64) {
        if (!gap && v.kind != LA_CSV_INTEGER && v.kind != LA_CSV_FLOAT)
            return bad_field(c, line, f, why);
        double d = gap ? NAN : v.number;
        memcpy(c->data + 8 * row, &d, sizeof d);
        return LA_OK;
    }
    bool truth = want == LA_BOOL
        && (v.kind == LA_CSV_BOOL
            || (v.kind == LA_CSV_INTEGER && v.magnitude <= 1 && !v.negative));
    if (gap || (want == LA_BOOL ? !truth
                : v.kind != LA_CSV_INTEGER || !fits(&v, want)))
        return bad_field(c, line, f, why);
    if (want == LA_BOOL) c->data[row] = (char)v.magnitude;
    uint64_t bits = v.negative ? -v.magnitude : v.magnitude;
    if (want != LA_BOOL) memcpy(c->data + 8 * row, &bits, sizeof bits);
    return LA_OK;
}

/* Strings go to the list of their column, which may raise. What stands in
** quotes is a string, whatever it says. */
static la_status fill(reader *r, column *c, int64_t row, int64_t line,
                      const la_csv_field *f)
{
    if (!c->text) return fill_number(r, c, row, line, f);
    lua_rawgeti(r->L, VALUES, c - r->columns + 1);
    if (!f->quoted && is_gap(r, f)) lua_pushliteral(r->L, "");
    else lua_pushlstring(r->L, f->text, f->n);
    lua_rawseti(r->L, -2, row + 1);
    lua_pop(r->L, 1);
    return LA_OK;
}

/* ---- arguments ---- */

const char *const la_csv_gaps[LA_CSV_GAPS] = {"", "NA", "NaN", "nan", "null"};

/* The list 'na' (or the usual words) as texts in a userdata at GAPS. */
static void read_gaps(lua_State *L, reader *r)
{
    if (lua_getfield(L, OPTIONS, "na") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_createtable(L, LA_CSV_GAPS, 0);
        for (int k = 0; k < LA_CSV_GAPS; k++) {
            lua_pushstring(L, la_csv_gaps[k]);
            lua_rawseti(L, -2, k + 1);
        }
        lua_pushvalue(L, -1);
        lua_setfield(L, OPTIONS, "na");     /* keeps the texts */
    }
    if (!lua_istable(L, -1))
        la_raise_arg(L, OPTIONS, "read_csv", "na: list of strings expected");
    r->ngaps = (int64_t)lua_rawlen(L, -1);
    size_t bytes = sizeof(la_csv_text) * (size_t)(r->ngaps + 1);
    r->gaps = lua_newuserdatauv(L, bytes, 0);
    for (int64_t k = 0; k < r->ngaps; k++) {
        if (lua_rawgeti(L, -2, k + 1) != LUA_TSTRING)
            la_raise_arg(L, OPTIONS, "read_csv", "na: list of strings"
                         " expected");
        r->gaps[k].p = lua_tolstring(L, -1, &r->gaps[k].n);
        lua_pop(L, 1);
    }
    lua_replace(L, GAPS);
    lua_pop(L, 1);
}

/* ---- columns ---- */

/* The column of that name, or NULL. */
static column *find(const reader *r, const char *name, size_t n)
{
    for (int64_t k = 0; k < r->ncolumns; k++)
        if (r->columns[k].n == n && memcmp(r->columns[k].name, name, n) == 0)
            return &r->columns[k];
    return NULL;
}

/* The column that the string on the top of the stack names. */
static column *check_column(lua_State *L, reader *r, const char *option)
{
    size_t n;
    char shown[256];
    if (lua_type(L, -1) != LUA_TSTRING)
        la_raise_arg(L, OPTIONS, "read_csv", "%s: names of columns expected",
                     option);
    const char *name = lua_tolstring(L, -1, &n);
    column *c = find(r, name, n);
    if (!c)
        la_raise_arg(L, OPTIONS, "read_csv", "%s: the file has no column '%s'",
                     option, la_quote(name, n, shown, sizeof shown));
    return c;
}

/* The names of the first row as the list at NAMES, or "1", "2", ... */
static la_status read_names(lua_State *L, reader *r, bool header)
{
    la_csv_field f = {.last = !la_csv_more(&r->csv)};
    for (r->ncolumns = 0; !f.last; ) {
        LA_TRY(la_csv_next(&r->csv, &f));
        r->ncolumns++;
        if (header) lua_pushlstring(L, f.text, f.n);
        else lua_pushfstring(L, "%I", (LUAI_UACINT)r->ncolumns);
        lua_rawseti(L, NAMES, r->ncolumns);
    }
    if (header) r->start = r->csv;
    return LA_OK;
}

/* One record for each name, at COLUMNS. */
static void make_columns(lua_State *L, reader *r)
{
    size_t bytes = sizeof(column) * (size_t)(r->ncolumns + 1);
    column *list = lua_newuserdatauv(L, bytes, 0);
    memset(list, 0, bytes);
    lua_replace(L, COLUMNS);
    r->columns = list;
    for (int64_t k = 0; k < r->ncolumns; k++) {
        column *c = &list[k];
        char shown[256];
        lua_rawgeti(L, NAMES, k + 1);
        const char *name = lua_tolstring(L, -1, &c->n);
        if (k && r->ncolumns <= 10000) {
            int64_t all = r->ncolumns;
            r->ncolumns = k;
            if (find(r, name, c->n))
                luaL_error(L, "read_csv: '%s': column '%s' stands twice",
                           r->path, la_quote(name, c->n, shown, sizeof shown));
            r->ncolumns = all;
        }
        if (c->n == 5 && memcmp(name, "names", 5) == 0)
            luaL_error(L, "read_csv: '%s': a column called 'names' would hide "
                       "the list of names: rename it in the file, or use "
                       "{header = false, skip = 1}", r->path);
        c->name = name;
        c->forced = c->stored = LA_UNDEFINED;
        c->wanted = true;
        lua_pop(L, 1);
    }
}

/* {columns=}: the others are not read. */
static void choose_columns(lua_State *L, reader *r)
{
    if (lua_getfield(L, OPTIONS, "columns") != LUA_TNIL) {
        if (!lua_istable(L, -1))
            la_raise_arg(L, OPTIONS, "read_csv", "columns: list of names "
                         "expected");
        for (int64_t k = 0; k < r->ncolumns; k++) r->columns[k].wanted = false;
        for (lua_Integer k = 1, n = (lua_Integer)lua_rawlen(L, -1); k <= n;
             k++) {
            lua_rawgeti(L, -1, k);
            check_column(L, r, "columns")->wanted = true;
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

/* {dtypes=}: a dtype or "string" by name. */
static void force_dtypes(lua_State *L, reader *r)
{
    if (lua_getfield(L, OPTIONS, "dtypes") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_istable(L, -1))
        la_raise_arg(L, OPTIONS, "read_csv", "dtypes: table of dtypes by name "
                     "expected");
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_insert(L, -2);
        column *c = check_column(L, r, "dtypes");
        lua_insert(L, -2);
        const char *word = lua_type(L, -1) == LUA_TSTRING
            ? lua_tostring(L, -1) : "";
        c->text = strcmp(word, "string") == 0;
        if (!c->text) c->forced = la_check_dtype(L, lua_gettop(L), "read_csv");
        if (la_is_complex(c->forced))
            la_raise_arg(L, OPTIONS, "read_csv", "dtypes: %s can't be read",
                         word);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* A list or a tensor for each column, at VALUES. */
static void make_values(lua_State *L, la_state *s, reader *r)
{
    for (int64_t k = 0; k < r->ncolumns; k++) {
        column *c = &r->columns[k];
        if (!c->wanted) continue;
        decide(c);
        if (c->text) {
            lua_createtable(L, r->rows < INT32_MAX ? (int)r->rows : 0, 0);
        } else {
            la_tensor *t = NULL;
            la_handle *h = la_new_handle(L, s);
            LA_CHECK(L, "read_csv",
                     la_tensor_empty(1, &r->rows, c->stored, &t));
            la_fill_handle(s, h, t);
            c->data = la_data(t);
        }
        lua_rawseti(L, VALUES, k + 1);
    }
}

/* Column k in its own dtype is pushed. */
static void push_value(lua_State *L, la_state *s, reader *r, int64_t k)
{
    column *c = &r->columns[k];
    lua_rawgeti(L, VALUES, k + 1);
    if (c->text || c->forced == LA_UNDEFINED || c->forced == c->stored) return;
    la_tensor *t = NULL;
    la_handle *h = la_new_handle(L, s);
    LA_CHECK(L, "read_csv", la_run(to_dtype, &t,
             la_check_tensor(L, lua_gettop(L) - 1, "read_csv"),
             la_v_dtype(c->forced)));
    la_fill_handle(s, h, t);
    lua_remove(L, -2);
}

/* The table of columns with its list of names, on the top. */
static void push_result(lua_State *L, la_state *s, reader *r)
{
    int64_t n = 0;
    lua_createtable(L, 0, (int)(r->ncolumns < 1 << 20 ? r->ncolumns : 0) + 1);
    lua_newtable(L);
    for (int64_t k = 0; k < r->ncolumns; k++) {
        if (!r->columns[k].wanted) continue;
        lua_rawgeti(L, NAMES, k + 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, RESULT + 1, ++n);
        push_value(L, s, r, k);
        lua_rawset(L, RESULT);
    }
    lua_setfield(L, RESULT, "names");
}

/* The whole file into the bytes. */
static la_status load(const char *path, la_bytes *out)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    size_t n = (size_t)source.size;
    out->data = la_mem_alloc(n ? n : 1);
    if (!out->data) return LA_ENOMEM;
    out->capacity = n ? n : 1;
    out->n = n;
    return la_reader_read(&source, 0, out->data, n);
}

/* A byte order mark and {skip=} lines are passed over. */
static void begin(lua_State *L, reader *r, const la_bytes *bytes)
{
    int exact = 1;
    const char *from = (const char *)bytes->data;
    r->csv.at = from;
    r->csv.end = from + bytes->n;
    r->csv.line = 1;
    r->csv.separator = la_csv_separator(L, OPTIONS, "read_csv");
    r->csv.scratch = lua_touserdata(L, SCRATCH);
    if (bytes->n >= 3 && memcmp(from, "\xef\xbb\xbf", 3) == 0) r->csv.at += 3;
    lua_Integer skip = lua_getfield(L, OPTIONS, "skip") == LUA_TNIL
        ? 0 : lua_tointegerx(L, -1, &exact);
    if (!exact || skip < 0)
        la_raise_arg(L, OPTIONS, "read_csv", "skip: number of lines expected");
    lua_pop(L, 1);
    la_csv_skip(&r->csv, skip);
    r->start = r->csv;
}

/* la.read_csv(path[, {header=, sep=, dtypes=, na=, skip=, columns=}]) */
int la_read_csv(lua_State *L)
{
    static const char *const known[] = {"header", "sep", "dtypes", "na",
                                        "skip", "columns", NULL};
    la_state *s = la_begin(L, "read_csv", 0);
    reader r = {.L = L};
    r.path = la_check_path(L, PATH, "read_csv");
    la_csv_options(L, OPTIONS, known, "read_csv");
    bool header = la_csv_header(L, OPTIONS, "read_csv");
    la_bytes *bytes = la_push_bytes(L);
    la_push_bytes(L);
    lua_newtable(L);
    lua_pushnil(L);
    lua_pushnil(L);
    lua_newtable(L);
    read_gaps(L, &r);
    LA_CHECK(L, "read_csv", load(r.path, bytes));
    begin(L, &r, bytes);
    LA_CHECK(L, "read_csv", in_file(&r, read_names(L, &r, header)));
    make_columns(L, &r);
    choose_columns(L, &r);
    force_dtypes(L, &r);
    LA_CHECK(L, "read_csv", in_file(&r, each_row(&r, look_at)));
    la_charge_more(L, "read_csv", r.rows * r.ncolumns);
    make_values(L, s, &r);
    LA_CHECK(L, "read_csv", in_file(&r, each_row(&r, fill)));
    la_bytes_free(bytes);
    push_result(L, s, &r);
    la_pace(L, s);
    return 1;
}
