/*
** la.read_csv: columns of a file of comma-separated values
** (modules/csv/io/csv.h has the grammar) as tensors, and as texts with numbers.
**
** The file is read into memory, and unpacked there. Its rows are counted, what
** columns hold is guessed from some of them, and all threads fill the columns
** (modules/csv/io/csv_columns.h); those whose guess was wrong are filled again.
** Where that finds anything amiss, the caller walks over the file up to it, for
** an error that names the line. Whatever is owned meanwhile is in a userdata.
*/
#include <stdio.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "io/stream.h"
#include "lua/embed.h"
#include "lua/files/growing_bytes.h"
#include "modules/csv/lua/csv_reader.h"

typedef la_csv_given column;
typedef la_csv_reader reader;

/* ---- errors ---- */

/* A failure with the path in front, unless it is the host's or memory's. */
la_status la_csv_in_file(const reader *r, la_status status)
{
    char shown[300], message[600];
    if (status != LA_EIO) return status;
    strncpy(message, la_error_message(), sizeof message - 1);
    message[sizeof message - 1] = 0;
    return la_error(LA_EIO, "'%s': %s", la_quote(r->path, strlen(r->path),
                    shown, sizeof shown), message);
}

la_status la_csv_bad_field(const column *c, int64_t line, const la_csv_field *f,
                           const char *why)
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
    r->csv = r->t->start;
    for (; la_csv_more(&r->csv); row++) {
        if (row % 1024 == 0) LA_TRY(la_poll());
        LA_TRY(read_row(r, row, each));
    }
    r->rows = row;
    return LA_OK;
}

/* ---- what columns hold ---- */

/* Decides the dtype in which a column is stored while it is filled. */
static void csv_read_decide(column *c)
{
    unsigned seen = c->v->seen;
    unsigned number = LA_CSV_SEEN_INTEGER | LA_CSV_SEEN_FLOAT;
    la_dtype forced = c->v->forced;
    c->text = c->is_text;
    if (forced != LA_UNDEFINED) {
        c->v->stored = la_is_float(forced) ? LA_FLOAT64
            : forced == LA_BOOL || forced == LA_UINT64 ? forced : LA_INT64;
        return;
    }
    c->text = c->text || (seen & LA_CSV_SEEN_TEXT)
        || ((seen & LA_CSV_SEEN_BOOL) && (seen & number));
    c->v->stored = seen == LA_CSV_SEEN_BOOL ? LA_BOOL
        : (seen & ~(LA_CSV_SEEN_TEXT | (unsigned)LA_CSV_SEEN_ROUNDED))
          == LA_CSV_SEEN_INTEGER
        ? LA_INT64 : LA_FLOAT64;
}

/* ---- what is wrong ---- */

/* Only a column of a dtype that was asked for refuses a value: any other takes
** the dtype that holds all it has. */
static la_status refuse_value(reader *r, column *c, int64_t row, int64_t line,
                              const la_csv_field *f)
{
    la_csv_value v;
    char why[80];
    if (c->text || c->v->forced == LA_UNDEFINED) return LA_OK;
    bool gap = la_csv_is_gap(r->t, f);
    if (!gap) la_csv_read_as(f->text, f->n, r->t->marks, &v);
    if (la_csv_store(c->v, row, gap ? NULL : &v)) return LA_OK;
    snprintf(why, sizeof why, "does not fit %s", la_dtype_name(c->v->forced));
    return la_csv_bad_field(c, line, f, why);
}

/* Raises what made la_csv_fill fail: the first fault from the top of the file,
** whichever thread met one first; without any, memory was out. */
static void csv_read_raise(lua_State *L, reader *r)
{
    LA_CHECK(L, "read_csv", la_csv_in_file(r, each_row(r, refuse_value)));
    la_raise(L, "read_csv", LA_ENOMEM);
}

/* Rows before which a line is looked for. */
int64_t la_csv_line_of(reader *r, int64_t row)
{
    la_csv_field f;
    r->csv = r->t->start;
    for (int64_t i = 0; la_csv_more(&r->csv); i++) {
        if (i == row) return r->csv.line;
        do {
            if (la_csv_next(&r->csv, &f)) return 0;
        } while (!f.last);
    }
    return 0;
}

/* ---- arguments ---- */

const char *const la_csv_gaps[LA_CSV_GAPS] = {"", "NA", "NaN", "nan", "null"};

/* The list 'na' (or the usual words) as texts in a userdata at CSV_GAPS. */
static void read_gaps(lua_State *L, reader *r)
{
    if (lua_getfield(L, CSV_OPTIONS, "na") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_createtable(L, LA_CSV_GAPS, 0);
        for (int k = 0; k < LA_CSV_GAPS; k++) {
            lua_pushstring(L, la_csv_gaps[k]);
            lua_rawseti(L, -2, k + 1);
        }
        lua_pushvalue(L, -1);
        lua_setfield(L, CSV_OPTIONS, "na");     /* keeps the texts */
    }
    if (!lua_istable(L, -1))
        la_raise_arg(L, CSV_OPTIONS, "read_csv", "na: list of strings "
                     "expected");
    int64_t n = (int64_t)lua_rawlen(L, -1);
    la_csv_text *gaps
        = lua_newuserdatauv(L, sizeof(la_csv_text) * (size_t)(n + 1), 0);
    for (int64_t k = 0; k < n; k++) {
        if (lua_rawgeti(L, -2, k + 1) != LUA_TSTRING)
            la_raise_arg(L, CSV_OPTIONS, "read_csv", "na: list of strings"
                         " expected");
        gaps[k].p = lua_tolstring(L, -1, &gaps[k].n);
        lua_pop(L, 1);
    }
    r->t->gaps = gaps;
    r->t->ngaps = n;
    lua_replace(L, CSV_GAPS);
    lua_pop(L, 1);
}

/* ---- columns ---- */

column *la_csv_given_of(const reader *r, const char *name, size_t n)
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
        la_raise_arg(L, CSV_OPTIONS, "read_csv", "%s: names of columns "
                     "expected", option);
    const char *name = lua_tolstring(L, -1, &n);
    column *c = la_csv_given_of(r, name, n);
    if (!c)
        la_raise_arg(L, CSV_OPTIONS, "read_csv", "%s: the file has no column "
                     "'%s'", option, la_quote(name, n, shown, sizeof shown));
    return c;
}

/* The names of the first row as the list at CSV_NAMES, or "1", "2", ... */
static la_status csv_read_read_names(lua_State *L, reader *r, bool header)
{
    la_csv_field f = {.last = !la_csv_more(&r->csv)};
    for (r->ncolumns = 0; !f.last; ) {
        LA_TRY(la_csv_next(&r->csv, &f));
        r->ncolumns++;
        if (header) lua_pushlstring(L, f.text, f.n);
        else lua_pushfstring(L, "%I", (LUAI_UACINT)r->ncolumns);
        lua_rawseti(L, CSV_NAMES, r->ncolumns);
    }
    if (header) r->t->start = r->csv;
    return LA_OK;
}

/* One record for each name, at CSV_COLUMNS. */
static void make_columns(lua_State *L, reader *r)
{
    size_t n = (size_t)(r->ncolumns + 1);
    size_t bytes = (sizeof(column) + sizeof(la_csv_column)) * n;
    column *list = lua_newuserdatauv(L, bytes, 0);
    memset(list, 0, bytes);
    lua_replace(L, CSV_COLUMNS);
    r->columns = list;
    r->t->columns = (la_csv_column *)(list + n);
    r->t->ncolumns = r->ncolumns;
    for (int64_t k = 0; k < r->ncolumns; k++) {
        column *c = &list[k];
        char shown[256];
        lua_rawgeti(L, CSV_NAMES, k + 1);
        const char *name = lua_tolstring(L, -1, &c->n);
        if (k && r->ncolumns <= 10000) {
            int64_t all = r->ncolumns;
            r->ncolumns = k;
            if (la_csv_given_of(r, name, c->n))
                luaL_error(L, "read_csv: '%s': column '%s' stands twice",
                           r->path, la_quote(name, c->n, shown, sizeof shown));
            r->ncolumns = all;
        }
        c->name = name;
        c->v = &r->t->columns[k];
        c->v->forced = c->v->stored = LA_UNDEFINED;
        c->wanted = true;
        lua_pop(L, 1);
    }
}

/* {columns=}: the others are not read. */
static void choose_columns(lua_State *L, reader *r)
{
    if (lua_getfield(L, CSV_OPTIONS, "columns") != LUA_TNIL) {
        if (!lua_istable(L, -1))
            la_raise_arg(L, CSV_OPTIONS, "read_csv", "columns: list of names "
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

/* {dtypes=}: a dtype, "text" ("string") or a date's kind by name. The last are
** texts until the frame is made. */
static void force_dtypes(lua_State *L, reader *r)
{
    if (lua_getfield(L, CSV_OPTIONS, "dtypes") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_istable(L, -1))
        la_raise_arg(L, CSV_OPTIONS, "read_csv", "dtypes: table of dtypes by "
                     "name expected");
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_insert(L, -2);
        column *c = check_column(L, r, "dtypes");
        lua_insert(L, -2);
        const char *word = lua_type(L, -1) == LUA_TSTRING
            ? lua_tostring(L, -1) : "";
        bool date = strncmp(word, "date", 4) == 0;
        c->is_text = date || strcmp(word, "string") == 0
            || strcmp(word, "text") == 0;
        if (date) {
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, CSV_KINDS);
        }
        if (!c->is_text)
            c->v->forced = la_dtype_parse(word, strlen(word));
        if (!c->is_text && c->v->forced == LA_UNDEFINED)
            la_raise_arg(L, CSV_OPTIONS, "read_csv", "dtypes: column '%s': "
                         "unknown dtype '%s': a dtype, \"text\", \"date\", "
                         "\"date[unit]\" or \"date:format\" expected",
                         lua_tostring(L, -2), word);
        if (la_is_complex(c->v->forced))
            la_raise_arg(L, CSV_OPTIONS, "read_csv", "dtypes: %s can't be read",
                         word);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* A tensor for column k, in CSV_VALUES, and sets of texts behind those of all
** columns; what was there before goes. */
static void make_value(lua_State *L, la_state *s, reader *r, int64_t k)
{
    column *c = &r->columns[k];
    lua_rawgeti(L, CSV_VALUES, k + 1);
    la_handle *old = la_to_handle(L, -1);
    if (old && old->tensor) la_tensor_release(old->tensor);
    if (old) old->tensor = NULL;
    lua_pop(L, 1);
    c->v->data = NULL;
    c->v->words = NULL;
    if (c->text) {
        int64_t parts = r->t->nparts > 0 ? r->t->nparts : 1;
        c->v->words = la_csv_push_words(L, parts);
        lua_rawseti(L, CSV_VALUES, r->ncolumns + k + 1);
    }
    la_tensor *t = NULL;
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "read_csv",
                   la_tensor_empty(1, &r->rows,
                                   c->text ? LA_INT32 : c->v->stored, &t));
    la_fill_handle(s, h, t);
    c->v->data = la_data(t);
    lua_rawseti(L, CSV_VALUES, k + 1);
}

static void make_values(lua_State *L, la_state *s, reader *r)
{
    for (int64_t k = 0; k < r->ncolumns; k++) {
        if (!r->columns[k].wanted) continue;
        csv_read_decide(&r->columns[k]);
        make_value(L, s, r, k);
    }
}

/* ---- all threads ---- */

/* The columns that guesses were wrong for are made again, and the others are
** passed over from now on. Is there one? */
static bool mend_guesses(lua_State *L, la_state *s, reader *r)
{
    bool again = false;
    for (int64_t k = 0; k < r->ncolumns; k++) {
        column *c = &r->columns[k];
        la_dtype guessed = c->v->stored;
        bool was_passed = c->v->passed;
        c->v->passed = true;
        if (was_passed || c->v->words) continue;
        csv_read_decide(c);
        if (!c->text && c->v->stored == guessed) continue;
        make_value(L, s, r, k);
        c->v->passed = false;
        again = true;
    }
    return again;
}

/* Notes the first cell that is no number in a column of numbers and texts. */
static la_status find_odd_cell(reader *r, column *c, int64_t row, int64_t line,
                               const la_csv_field *f)
{
    la_csv_value v;
    char shown[200];
    (void)row;
    if (!c->text || *c->note || c->is_text || la_csv_is_gap(r->t, f))
        return LA_OK;
    la_csv_read_as(f->text, f->n, r->t->marks, &v);
    if (v.kind == LA_CSV_INTEGER || v.kind == LA_CSV_FLOAT) return LA_OK;
    la_quote(f->text, f->n < 20 ? f->n : 20, shown, sizeof shown);
    snprintf(c->note, sizeof c->note, "line %lld: '%.80s'", (long long)line,
             shown);
    return LA_OK;
}

/* Has the column gaps, so that its integers became doubles, and one that this
** rounds? */
static bool csv_read_rounds(const column *c)
{
    unsigned all = LA_CSV_SEEN_INTEGER | LA_CSV_SEEN_GAP | LA_CSV_SEEN_ROUNDED;
    unsigned seen = c->v->seen & ~(unsigned)LA_CSV_SEEN_WIDE;
    return c->wanted && !c->text && c->v->forced == LA_UNDEFINED && seen == all;
}

/* The integer that a double cannot hold is an error, as for all columns of
** frames. */
static la_status refuse_rounded(reader *r, column *c, int64_t row, int64_t line,
                                const la_csv_field *f)
{
    la_csv_value v;
    (void)row;
    if (!csv_read_rounds(c) || la_csv_is_gap(r->t, f)) return LA_OK;
    la_csv_read_as(f->text, f->n, r->t->marks, &v);
    if (!(la_csv_seen(&v) & LA_CSV_SEEN_ROUNDED)) return LA_OK;
    return la_csv_bad_field(c, line, f, "would be rounded, since the column "
                            "has gaps and becomes float64: dtypes can make it "
                            "\"text\" or \"float64\"");
}

static void refuse_rounding(lua_State *L, reader *r)
{
    bool any = false;
    for (int64_t k = 0; k < r->ncolumns; k++)
        any = any || csv_read_rounds(&r->columns[k]);
    if (any)
        LA_CHECK(L, "read_csv", la_csv_in_file(r, each_row(r, refuse_rounded)));
}

/* Notes for columns that had numbers, too. */
static void note_odd_cells(lua_State *L, reader *r)
{
    const unsigned number = LA_CSV_SEEN_INTEGER | LA_CSV_SEEN_FLOAT;
    bool any = false;
    for (int64_t k = 0; k < r->ncolumns; k++) {
        const column *c = &r->columns[k];
        any = any || (c->wanted && c->text && !c->is_text
                      && (c->v->seen & number));
    }
    if (any)
        LA_CHECK(L, "read_csv", la_csv_in_file(r, each_row(r, find_odd_cell)));
}

/* Which columns are passed over: unwanted ones, and for a sample also those
** that are texts whatever they hold. */
static void pass_columns(reader *r, bool texts)
{
    for (int64_t k = 0; k < r->ncolumns; k++)
        r->t->columns[k].passed = !r->columns[k].wanted
            || (texts && r->columns[k].is_text);
}

static void csv_read_rows(lua_State *L, la_state *s, reader *r)
{
    la_csv_split(r->t);
    LA_CHECK(L, "read_csv", la_region_status(LA_OK));
    pass_columns(r, true);
    la_csv_sample(r->t);
    r->rows = r->t->rows;
    la_charge_more(L, "read_csv", r->rows * r->ncolumns);
    make_values(L, s, r);
    pass_columns(r, false);
    do {
        bool fine = la_csv_fill(r->t);
        LA_CHECK(L, "read_csv", la_region_status(LA_OK));
        if (!fine) csv_read_raise(L, r);
    } while (mend_guesses(L, s, r));
}

/* Texts of all parts get one set. */
static void join_texts(lua_State *L, reader *r)
{
    for (int64_t k = 0; k < r->ncolumns; k++) {
        const column *c = &r->columns[k];
        if (c->wanted && c->v->words && !la_csv_join_words(r->t, c->v))
            la_raise(L, "read_csv", LA_ENOMEM);
    }
}

/* The whole file into the bytes, and zeros behind it. */
enum { BEHIND = 32 };

static la_status csv_read_unpack(la_bytes *bytes, int64_t limit)
{
    static const unsigned char zeros[BEHIND];
    la_bytes out = {0};
    la_status status = la_csv_unpack(bytes->data, bytes->n, limit, &out);
    size_t n = out.n;
    if (!status) {
        la_bytes_put(&out, zeros, BEHIND);
        status = out.status;
    }
    la_bytes_free(status ? &out : bytes);
    if (status) return status;
    *bytes = out;
    bytes->n = n;
    return LA_OK;
}

static la_status csv_read_load(const char *path, int64_t limit, la_bytes *out)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    LA_TRY(la_check_limit(source.size, limit));
    size_t n = (size_t)source.size;
    out->data = la_mem_alloc(n + BEHIND);
    if (!out->data) return LA_ENOMEM;
    out->capacity = n + BEHIND;
    out->n = n;
    memset(out->data + n, 0, BEHIND);
    LA_TRY(la_reader_read(&source, 0, out->data, n));
    return la_csv_is_packed(out->data, n) ? csv_read_unpack(out, limit) : LA_OK;
}

/* The option of that name: one byte of those that are no part of a number;
** 'none' where it is not given. */
static char read_mark(lua_State *L, const char *option, char none)
{
    char mark = none;
    if (lua_getfield(L, CSV_OPTIONS, option) != LUA_TNIL) {
        size_t n = 0;
        const char *p = lua_type(L, -1) == LUA_TSTRING
            ? lua_tolstring(L, -1, &n) : "";
        if (n != 1 || strchr("0123456789+-eE\"\r\n", *p))
            la_raise_arg(L, CSV_OPTIONS, "read_csv", "%s: one character "
                         "expected, no digit, sign or quote", option);
        mark = *p;
    }
    lua_pop(L, 1);
    return mark;
}

/* {decimal=} and {thousands=}. */
static void read_marks(lua_State *L, reader *r)
{
    la_csv_marks m = {read_mark(L, "decimal", '.'),
                      read_mark(L, "thousands", 0)};
    bool odd = m.decimal != '.' || m.thousands;
    if (odd && (m.decimal == m.thousands || m.decimal == r->csv.separator))
        la_raise_arg(L, CSV_OPTIONS, "read_csv", "decimal: '%c' stands for "
                     "something else (sep, thousands)", m.decimal);
    r->t->marks = m;
}

/* {as=}: "frame", which is what is given where the build has frames, or
** "table". */
static bool read_as_frame(lua_State *L)
{
    bool frame = la_is_embedded("frame", 5);
    if (lua_getfield(L, CSV_OPTIONS, "as") != LUA_TNIL) {
        const char *word = lua_type(L, -1) == LUA_TSTRING
            ? lua_tostring(L, -1) : "";
        bool table = strcmp(word, "table") == 0;
        if (!table && strcmp(word, "frame") != 0)
            la_raise_arg(L, CSV_OPTIONS, "read_csv", "as: \"frame\" or "
                         "\"table\" expected");
        if (!table && !frame)
            la_raise_arg(L, CSV_OPTIONS, "read_csv", "as: this build has no "
                         "frames");
        frame = !table;
    }
    lua_pop(L, 1);
    return frame;
}

/* A byte order mark and {skip=} lines are passed over. */
static void csv_read_begin(lua_State *L, reader *r, const la_bytes *bytes)
{
    int exact = 1;
    const char *from = (const char *)bytes->data;
    r->csv.at = from;
    r->csv.end = from + bytes->n;
    r->csv.line = 1;
    r->csv.separator = la_csv_separator(L, CSV_OPTIONS, "read_csv");
    r->csv.scratch = lua_touserdata(L, CSV_SCRATCH);
    if (bytes->n >= 3 && memcmp(from, "\xef\xbb\xbf", 3) == 0) r->csv.at += 3;
    lua_Integer skip = lua_getfield(L, CSV_OPTIONS, "skip") == LUA_TNIL
        ? 0 : lua_tointegerx(L, -1, &exact);
    if (!exact || skip < 0)
        la_raise_arg(L, CSV_OPTIONS, "read_csv", "skip: number of lines "
                     "expected");
    lua_pop(L, 1);
    read_marks(L, r);
    la_csv_skip(&r->csv, skip);
    r->t->start = r->csv;
    LA_CHECK(L, "read_csv", la_csv_unify(&r->csv, (char *)bytes->data
                                         + (r->csv.at - from)));
}

/* la.read_csv(path[, {header=, sep=, dtypes=, na=, skip=, columns=, limit=,
** decimal=, thousands=, as=}]) */
int la_read_csv(lua_State *L)
{
    static const char *const known[] = {"header", "sep", "dtypes", "na",
                                        "skip", "columns", "limit", "decimal",
                                        "thousands", "as", NULL};
    la_state *s = la_begin(L, "read_csv", 0);
    reader r = {.L = L};
    r.path = la_check_path(L, CSV_PATH, "read_csv");
    la_csv_options(L, CSV_OPTIONS, known, "read_csv");
    bool header = la_csv_header(L, CSV_OPTIONS, "read_csv");
    la_bytes *bytes = la_push_bytes(L);
    la_push_bytes(L);
    lua_newtable(L);
    lua_pushnil(L);
    lua_pushnil(L);
    r.t = lua_newuserdatauv(L, sizeof *r.t, 0);
    memset(r.t, 0, sizeof *r.t);
    lua_newtable(L);
    lua_newtable(L);
    bool frame = read_as_frame(L);
    read_gaps(L, &r);
    int64_t limit = la_read_limit(L, CSV_OPTIONS, "read_csv", 0);
    LA_CHECK(L, "read_csv", csv_read_load(r.path, limit, bytes));
    csv_read_begin(L, &r, bytes);
    LA_CHECK(L, "read_csv",
             la_csv_in_file(&r, csv_read_read_names(L, &r, header)));
    make_columns(L, &r);
    choose_columns(L, &r);
    force_dtypes(L, &r);
    csv_read_rows(L, s, &r);
    join_texts(L, &r);
    refuse_rounding(L, &r);
    if (frame) note_odd_cells(L, &r);
    la_csv_push_result(L, s, &r, frame);
    la_bytes_free(bytes);
    la_pace(L, s);
    return 1;
}
