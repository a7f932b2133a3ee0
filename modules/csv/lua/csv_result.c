/*
** What la.read_csv gives: columns that were read as a frame, where this build
** has frames, or as a table of tensors and lists of strings.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "lua/embed.h"
#include "modules/csv/lua/csv_reader.h"
#include "op/call.h"

#define WORDS_NAME "lunarray.csv.words"

/* ---- sets of texts ---- */

typedef struct result_words { int64_t n; la_csv_words list[]; } result_words;

static int result_free_words(lua_State *L)
{
    la_enter_state(L);
    result_words *w = lua_touserdata(L, 1);
    for (int64_t k = 0; k < w->n; k++) la_csv_words_free(&w->list[k]);
    return 0;
}

la_csv_words *la_csv_push_words(lua_State *L, int64_t n)
{
    size_t bytes = sizeof(result_words) + (size_t)n * sizeof(la_csv_words);
    result_words *w = la_push_collected(L, bytes, WORDS_NAME,
                                        result_free_words);
    w->n = n;
    return w->list;
}

/* Push a text, its doubled quotes halved in scratch. */
static void result_push_word(lua_State *L, const la_csv_word *w,
                             la_bytes *scratch)
{
    if (!w->doubled) {
        lua_pushlstring(L, w->p, w->n);
        return;
    }
    scratch->n = 0;
    for (size_t i = 0; i < w->n; i++) {
        la_bytes_put_byte(scratch, (unsigned char)w->p[i]);
        i += w->p[i] == '"';
    }
    LA_CHECK(L, "read_csv", scratch->status);
    lua_pushlstring(L, (const char *)scratch->data, scratch->n);
}

/* Push the texts of a column, by number. */
static void result_push_words(lua_State *L, const la_csv_words *w,
                              la_bytes *scratch)
{
    lua_createtable(L, (int)w->n, 0);
    for (int64_t k = 0; k < w->n; k++) {
        result_push_word(L, &w->list[k], scratch);
        lua_rawseti(L, -2, k + 1);
    }
}

/* ---- values ---- */

/* The text of each row as a list on the top; codes and words are there. */
static void result_list(lua_State *L, const la_csv_reader *r,
                        const la_csv_given *c, int64_t k)
{
    result_push_words(L, &c->v->words[0], r->csv.scratch);
    lua_createtable(L, (int)r->rows, 0);
    lua_rawgeti(L, CSV_VALUES, k + 1);
    lua_insert(L, -3);          /* codes, words, list */
    for (int64_t i = 0; i < r->rows; i++) {
        int32_t code = ((const int32_t *)(const void *)c->v->data)[i];
        if (code) lua_rawgeti(L, -2, code);
        else lua_pushliteral(L, "");
        lua_rawseti(L, -2, i + 1);
    }
    lua_replace(L, -3);
    lua_pop(L, 1);
}

/* {codes, words, note} of a column of texts. */
static void result_parts(lua_State *L, const la_csv_reader *r,
                         const la_csv_given *c, int64_t k)
{
    lua_createtable(L, 2, 1);
    lua_rawgeti(L, CSV_VALUES, k + 1);
    lua_rawseti(L, -2, 1);
    result_push_words(L, &c->v->words[0], r->csv.scratch);
    lua_rawseti(L, -2, 2);
    if (*c->note) {
        lua_pushstring(L, c->note);
        lua_setfield(L, -2, "note");
    }
}

/* Column k in its own dtype. */
static void result_push_value(lua_State *L, la_state *s, la_csv_reader *r,
                              int64_t k, bool frame)
{
    la_csv_given *c = &r->columns[k];
    if (c->text) {
        if (frame) result_parts(L, r, c, k);
        else result_list(L, r, c, k);
        return;
    }
    lua_rawgeti(L, CSV_VALUES, k + 1);
    la_dtype want = c->v->forced;
    if (want == LA_UNDEFINED || want == c->v->stored) return;
    la_tensor *t = NULL;
    la_handle *h = la_new_handle(L, s);
    LA_CHECK_TWICE(L, "read_csv", la_run(to_dtype, &t,
             la_check_tensor(L, lua_gettop(L) - 1, "read_csv"),
             la_v_dtype(want)));
    la_fill_handle(s, h, t);
    lua_remove(L, -2);
}

/* ---- results ---- */

/* The list of names on the top becomes the field 'names' of the table under it.
** Where that is a column, the table's own list part has the names. */
static void result_set_names(lua_State *L, const la_csv_reader *r, int table)
{
    const la_csv_given *c = la_csv_given_of(r, "names", 5);
    if (!c || !c->wanted) {
        lua_setfield(L, table, "names");
        return;
    }
    for (lua_Integer k = (lua_Integer)lua_rawlen(L, -1); k > 0; k--) {
        lua_rawgeti(L, -1, k);
        lua_rawseti(L, table, k);
    }
    lua_pop(L, 1);
}

/* The columns by name, and the list of the names, are pushed. */
static void result_columns(lua_State *L, la_state *s, la_csv_reader *r,
                           bool frame)
{
    int64_t n = 0;
    int table = lua_gettop(L) + 1;
    lua_createtable(L, 0, (int)(r->ncolumns < 1 << 20 ? r->ncolumns : 0) + 1);
    lua_newtable(L);
    for (int64_t k = 0; k < r->ncolumns; k++) {
        if (!r->columns[k].wanted) continue;
        lua_rawgeti(L, CSV_NAMES, k + 1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, table + 1, ++n);
        result_push_value(L, s, r, k, frame);
        lua_rawset(L, table);
    }
}

/* A cell that frames could not convert: its line is found, and said. */
static void result_bad_cell(lua_State *L, la_csv_reader *r)
{
    size_t n, m;
    const char *name = luaL_checklstring(L, -4, &n);
    int64_t row = lua_tointeger(L, -3);
    const char *text = luaL_checklstring(L, -2, &m);
    const char *why = luaL_checkstring(L, -1);
    la_csv_field f = {.text = text, .n = m};
    const la_csv_given *c = la_csv_given_of(r, name, n);
    int64_t line = la_csv_line_of(r, row - 1);
    la_raise(L, "read_csv",
             la_csv_in_file(r, la_csv_bad_field(c, line, &f, why)));
}

static void result_frame(lua_State *L, la_state *s, la_csv_reader *r)
{
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.frame");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "_of_csv");
    lua_remove(L, -2);
    result_columns(L, s, r, true);
    lua_insert(L, -2);          /* the names first */
    lua_pushvalue(L, CSV_KINDS);
    lua_call(L, 3, 5);
    if (!lua_isnil(L, -5)) {
        lua_pop(L, 4);
        return;
    }
    result_bad_cell(L, r);
}

void la_csv_push_result(lua_State *L, la_state *s, la_csv_reader *r,
                        bool frame)
{
    if (frame) {
        result_frame(L, s, r);
        return;
    }
    int table = lua_gettop(L) + 1;
    result_columns(L, s, r, false);
    result_set_names(L, r, table);
}
