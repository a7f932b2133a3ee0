/*
** la.read_jsonl and la.write_jsonl: tables as lines of JSON objects (RFC 8259),
** one a row.
**
** A value is a number, a string, true, false or null: what a column can hold.
** Columns come in the order in which their names are met; a name that a line
** lacks is a gap. The whole text is made before a file is written.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "io/json.h"
#include "io/stream.h"
#include "lua/embed.h"
#include "lua/files/growing_bytes.h"
#include "modules/csv/io/csv.h"
#include "modules/frame/lua/frame.h"

/* ---- reading ---- */

typedef struct jsonl_reader {
    const char *at, *end;
    int64_t line;
    la_bytes *scratch;
} jsonl_reader;

enum { J_PATH = 1, J_OPTIONS, J_BYTES, J_SCRATCH, J_NAMES, J_COLUMNS };

/* A line is how editors and other tools count such a file. */
static la_status jsonl_fault(const jsonl_reader *r, const char *why)
{
    return la_error(LA_EIO, "line %lld: %s", (long long)r->line, why);
}

static void jsonl_blanks(jsonl_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'
                              || *r->at == '\r')) r->at++;
}

static bool jsonl_char(jsonl_reader *r, char c)
{
    jsonl_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool jsonl_escape(jsonl_reader *r)
{
    la_json j = {r->at, r->end};
    char text[4];
    size_t n;
    if (la_json_escape(&j, text, &n)) return false;
    r->at = j.at;
    la_bytes_put(r->scratch, text, n);
    return true;
}

/* The string whose first quote was read, in scratch. The reader of headers
** (io/json.h) goes byte by byte and checks UTF-8; here the next quote or
** backslash is found by vectors, as most of a file is plain text. Escapes are
** read by the same function. */
static la_status jsonl_string(jsonl_reader *r)
{
    r->scratch->n = 0;
    for (;;) {
        const char *p = la_csv_find(r->at, r->end, '"', '\\');
        la_bytes_put(r->scratch, r->at, (size_t)(p - r->at));
        if (p == r->end)
            return jsonl_fault(r, "a string without its end");
        r->at = p + 1;
        if (*p == '"') return r->scratch->status;
        if (!jsonl_escape(r))
            return jsonl_fault(r, "an escape that JSON has not");
    }
}

static bool jsonl_word(jsonl_reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* Push a number; false for what is none. */
/* Numbers are read by the reader of CSV, so that a column has the same bits
** from both formats. Integers beyond 64 bits become floats. */
static bool jsonl_number(lua_State *L, jsonl_reader *r)
{
    la_csv_value v;
    const char *from = r->at;
    while (r->at < r->end && memchr("+-.0123456789eE", *r->at, 15)) r->at++;
    if (from == r->at || *from == '+' || *from == '.') return false;
    la_csv_read(from, (size_t)(r->at - from), &v);
    if (v.kind == LA_CSV_INTEGER
        && v.magnitude <= (uint64_t)INT64_MAX + v.negative)
        lua_pushinteger(L, (lua_Integer)(v.negative ? -v.magnitude
                                                    : v.magnitude));
    else if (v.kind == LA_CSV_INTEGER || v.kind == LA_CSV_FLOAT)
        lua_pushnumber(L, v.number);
    else return false;
    return true;
}

/* Push a value. */
static la_status jsonl_value(lua_State *L, jsonl_reader *r)
{
    jsonl_blanks(r);
    if (jsonl_char(r, '"')) {
        LA_TRY(jsonl_string(r));
        lua_pushlstring(L, (const char *)r->scratch->data, r->scratch->n);
    } else if (jsonl_word(r, "true")) {
        lua_pushboolean(L, true);
    } else if (jsonl_word(r, "false")) {
        lua_pushboolean(L, false);
    } else if (jsonl_word(r, "null")) {
        lua_pushnil(L);
    } else if (r->at < r->end && (*r->at == '{' || *r->at == '[')) {
        return jsonl_fault(r, "a list or an object is no value of a column");
    } else if (!jsonl_number(L, r)) {
        return jsonl_fault(r, "a number, a string, true, false or null "
                           "expected");
    }
    return LA_OK;
}

/* The list of the column whose name is in scratch, made when it is new. */
/* A new name is entered twice, in order and by key: the frame has its columns
** in the order in which the file names them. */
static void jsonl_column(lua_State *L, jsonl_reader *r)
{
    lua_pushlstring(L, (const char *)r->scratch->data, r->scratch->n);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, J_COLUMNS) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, J_NAMES, (lua_Integer)lua_rawlen(L, J_NAMES) + 1);
        lua_newtable(L);
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, J_COLUMNS);
    }
    lua_remove(L, -2);
}

/* An object to row 'row' of the columns. */
static la_status jsonl_object(lua_State *L, jsonl_reader *r, int64_t row)
{
    if (!jsonl_char(r, '{')) return jsonl_fault(r, "an object expected");
    if (jsonl_char(r, '}')) return LA_OK;
    do {
        if (!jsonl_char(r, '"')) return jsonl_fault(r, "a name expected");
        LA_TRY(jsonl_string(r));
        jsonl_column(L, r);
        if (!jsonl_char(r, ':')) return jsonl_fault(r, "':' expected");
        LA_TRY(jsonl_value(L, r));
        lua_rawseti(L, -2, row);
        lua_pop(L, 1);
    } while (jsonl_char(r, ','));
    return jsonl_char(r, '}') ? LA_OK : jsonl_fault(r, "',' or '}' expected");
}

/* Each line is its own text with its own end, so that a missing brace cannot
** swallow the lines behind it. Empty lines are no rows. */
static la_status jsonl_rows(lua_State *L, jsonl_reader *r, int64_t *rows)
{
    const char *end = r->end;
    for (*rows = 0; r->at < end; r->line++) {
        if (*rows % 1024 == 0) LA_TRY(la_poll());
        const char *stop = memchr(r->at, '\n', (size_t)(end - r->at));
        r->end = stop ? stop : end;
        jsonl_blanks(r);
        if (r->at < r->end) {
            LA_TRY(jsonl_object(L, r, ++*rows));
            jsonl_blanks(r);
            if (r->at < r->end)
                return jsonl_fault(r, "something behind the object");
        }
        r->at = stop ? stop + 1 : end;
    }
    return LA_OK;
}

/* The whole file is read first: lines are then found in memory, and the file
** may change afterwards. */
static la_status jsonl_load(const char *path, la_bytes *out)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    size_t n = (size_t)source.size + 1;
    out->data = la_mem_alloc(n);
    if (!out->data) return LA_ENOMEM;
    out->capacity = n;
    out->n = n - 1;
    return la_reader_read(&source, 0, out->data, out->n);
}

/* A function of the module lunarray.frame. */
static void jsonl_push_function(lua_State *L, const char *name)
{
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.frame");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

/* la.read_jsonl(path): a frame */
int la_read_jsonl(lua_State *L)
{
    int64_t rows = 0;
    la_begin(L, "read_jsonl", 0);
    const char *path = la_check_path(L, J_PATH, "read_jsonl");
    lua_settop(L, J_OPTIONS);
    la_bytes *bytes = la_push_bytes(L);
    jsonl_reader r = {.line = 1, .scratch = la_push_bytes(L)};
    lua_newtable(L);
    lua_newtable(L);
    LA_CHECK(L, "read_jsonl", jsonl_load(path, bytes));
    la_charge_more(L, "read_jsonl", (int64_t)bytes->n);
    r.at = (const char *)bytes->data;
    r.end = r.at + bytes->n;
    if (bytes->n >= 3 && memcmp(r.at, "\xef\xbb\xbf", 3) == 0) r.at += 3;
    LA_CHECK(L, "read_jsonl", jsonl_rows(L, &r, &rows));
    la_bytes_free(bytes);
    jsonl_push_function(L, "_of_lists");
    lua_pushvalue(L, J_NAMES);
    lua_pushvalue(L, J_COLUMNS);
    lua_pushinteger(L, rows);
    lua_call(L, 3, 1);
    return 1;
}

/* ---- writing ---- */

static void jsonl_put_string(la_bytes *out, const char *p, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    la_bytes_put_byte(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        const char *word = c == '"' ? "\\\"" : c == '\\' ? "\\\\"
            : c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : NULL;
        if (word) {
            la_bytes_put(out, word, 2);
        } else if (c < 32) {
            la_bytes_put(out, "\\u00", 4);
            la_bytes_put_byte(out, (unsigned char)hex[c >> 4]);
            la_bytes_put_byte(out, (unsigned char)hex[c & 15]);
        } else {
            la_bytes_put_byte(out, c);
        }
    }
    la_bytes_put_byte(out, '"');
}

/* A column: elements, or codes whose texts are 'texts', each from an offset. */
typedef struct jsonl_source {
    la_table_column c;
    const la_bytes *key, *texts;
    const int64_t *offsets;
    int64_t count;
} jsonl_source;

enum { W_NAMES = 1, W_VALUES, W_LETTERS, W_CATEGORIES, W_PATH, W_OUT };

/* Texts of the list on the top as JSON, one behind the other; pushed. */
static void jsonl_texts(lua_State *L, jsonl_source *to)
{
    int list = lua_gettop(L);
    int64_t n = (int64_t)lua_rawlen(L, list);
    la_bytes *out = la_push_bytes(L);
    int64_t *offsets = lua_newuserdatauv(L, sizeof(int64_t) * (size_t)(n + 1),
                                         0);
    for (int64_t k = 0; k < n; k++) {
        size_t m;
        offsets[k] = (int64_t)out->n;
        lua_rawgeti(L, list, k + 1);
        const char *p = luaL_checklstring(L, -1, &m);
        jsonl_put_string(out, p, m);
        lua_pop(L, 1);
        LA_CHECK(L, "write_jsonl", out->status);
    }
    offsets[n] = (int64_t)out->n;
    to->texts = out;
    to->offsets = offsets;
    to->count = n;
}

/* The columns; what they need stays on the stack. */
static void jsonl_sources(lua_State *L, int n, jsonl_source *list)
{
    const char *letters = luaL_checkstring(L, W_LETTERS);
    luaL_checkstack(L, 6 * n + 16, "too many columns");
    for (int k = 0; k < n; k++) {
        size_t m;
        la_bytes *key = la_push_bytes(L);
        lua_rawgeti(L, W_NAMES, k + 1);
        const char *name = luaL_checklstring(L, -1, &m);
        jsonl_put_string(key, name, m);
        la_bytes_put_byte(key, ':');
        LA_CHECK(L, "write_jsonl", key->status);
        list[k].key = key;
        if (letters[k] == 't') {
            lua_rawgeti(L, W_CATEGORIES, k + 1);
            jsonl_texts(L, &list[k]);
        }
    }
    for (int k = 0; k < n; k++) lua_rawgeti(L, W_VALUES, k + 1);
    for (int k = 0; k < n; k++)
        list[k].c = la_table_arg(L, lua_gettop(L) - n + 1 + k, letters[k],
                                 "write_jsonl");
}

/* Row i of a column; NaN and infinities are null, as JSON has none. */
static void jsonl_put(la_bytes *out, const jsonl_source *s, int64_t i)
{
    size_t began = out->n, size = la_dtype_size(s->c.dtype);
    la_bytes_put(out, s->key->data, s->key->n);
    if (s->texts) {
        int32_t code = ((const int32_t *)s->c.data)[i];
        if (code >= 1 && code <= s->count)
            la_bytes_put(out, s->texts->data + s->offsets[code - 1],
                         (size_t)(s->offsets[code] - s->offsets[code - 1]));
        else la_bytes_put(out, "null", 4);
        return;
    }
    began = out->n;
    la_csv_put(out, (const char *)s->c.data + (size_t)i * size, s->c.dtype);
    if (out->status || out->n < began + 3) return;
    unsigned char end = out->data[out->n - 1];
    if (la_is_float(s->c.dtype) && (end == 'n' || end == 'f')) {
        out->n = began;
        la_bytes_put(out, "null", 4);
    }
}

static la_status jsonl_write_rows(const jsonl_source *list, int n, int64_t rows,
                                  la_bytes *out)
{
    for (int64_t i = 0; i < rows; i++) {
        if (i % 1024 == 0) LA_TRY(la_poll());
        for (int k = 0; k < n; k++) {
            la_bytes_put_byte(out, k ? ',' : '{');
            jsonl_put(out, &list[k], i);
        }
        la_bytes_put(out, n ? "}\n" : "{}\n", n ? 2 : 3);
        LA_TRY(out->status);
    }
    return LA_OK;
}

static la_status jsonl_store(const char *path, const la_bytes *bytes)
{
    LA_WRITER sink = {.fd = -1};
    LA_TRY(la_writer_open(path, &sink));
    LA_TRY(la_writer_write(&sink, bytes->data, bytes->n));
    return la_writer_commit(&sink);
}

/* la.write_jsonl(frame, path) */
int la_write_jsonl(lua_State *L)
{
    la_begin(L, "write_jsonl", 0);
    const char *path = la_check_path(L, 2, "write_jsonl");
    jsonl_push_function(L, "_parts");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 4);          /* names, values, letters, categories */
    lua_rotate(L, 1, 4);        /* ... to the front: the path is at 6 */
    lua_remove(L, W_PATH);
    la_bytes *out = la_push_bytes(L);
    int n = (int)lua_rawlen(L, W_NAMES);
    jsonl_source *list = lua_newuserdatauv(L, sizeof *list * (size_t)(n + 1),
                                           0);
    memset(list, 0, sizeof *list * (size_t)(n + 1));
    jsonl_sources(L, n, list);
    int64_t rows = n ? list[0].c.n : 0;
    for (int k = 0; k < n; k++)
        if (list[k].c.n != rows)
            return luaL_error(L, "write_jsonl: columns of one length expected");
    la_charge_more(L, "write_jsonl", rows * n);
    LA_CHECK(L, "write_jsonl", jsonl_write_rows(list, n, rows, out));
    LA_CHECK(L, "write_jsonl", jsonl_store(path, out));
    la_bytes_free(out);
    return 0;
}
