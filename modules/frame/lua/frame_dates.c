/* Dates for Lua: values of a unit, seen some minutes east of Greenwich. */
#include "modules/frame/lua/frame.h"

#include <string.h>

#include "base/runtime/interrupt.h"

static la_table_unit dates_unit(lua_State *L, int arg, bool stored,
                                const char *name)
{
    const char *word = lua_type(L, arg) == LUA_TSTRING ? lua_tostring(L, arg)
                                                       : "";
    int n = stored ? LA_TABLE_STORED : LA_TABLE_UNITS;
    for (int k = 0; k < n; k++)
        if (strcmp(la_table_unit_names[k], word) == 0) return (la_table_unit)k;
    return (la_table_unit)luaL_error(L, stored
        ? "%s: unit '%s' is none of day, second, millisecond, microsecond, "
          "nanosecond" : "%s: unit '%s' is none of nanosecond, microsecond, "
          "millisecond, second, minute, hour, day, week, month, quarter, year",
        name, word);
}

/* Minutes, less than a day. */
static int dates_offset(lua_State *L, int arg, const char *name)
{
    int64_t v = la_check_int(L, arg, name);
    if (v <= -1440 || v >= 1440)
        luaL_error(L, "%s: an offset of less than a day expected", name);
    return (int)v;
}

/* ---- reading ---- */

/* A unit that holds what is behind the second. */
static la_table_unit dates_needed(la_table_instant t)
{
    if (t.nano % 1000) return LA_TABLE_NANO;
    if (t.nano % 1000000) return LA_TABLE_MICRO;
    if (t.nano) return LA_TABLE_MILLI;
    return t.second ? LA_TABLE_SECOND : LA_TABLE_DAY;
}

/* The text on the top of the stack; false for a gap. */
static bool dates_text(lua_State *L, const char **text, size_t *n)
{
    if (lua_type(L, -1) != LUA_TSTRING) return false;
    *text = lua_tolstring(L, -1, n);
    return true;
}

/* parse(list, n, format or nil, offset, unit or nil): int64 values and unit;
** nil and the first entry at fault. What is no string is a gap. */
static int dates_parse(lua_State *L)
{
    la_state *s = la_begin(L, "date", 0);
    lua_settop(L, 5);
    int64_t n = la_table_count_arg(L, 2, "date");
    const char *format = lua_isnil(L, 3) ? NULL : luaL_checkstring(L, 3);
    int offset = dates_offset(L, 4, "date");
    bool forced = !lua_isnil(L, 5);
    la_table_unit unit = forced ? dates_unit(L, 5, true, "date")
                                : LA_TABLE_DAY;
    luaL_checktype(L, 1, LUA_TTABLE);
    la_charge_more(L, "date", n);
    la_table_instant *t = lua_newuserdatauv(
        L, sizeof *t * (size_t)(n ? n : 1), 0);
    for (int64_t i = 0; i < n; i++) {
        const char *text;
        size_t length;
        if (i % 1024 == 0) LA_CHECK(L, "date", la_poll());
        lua_rawgeti(L, 1, i + 1);
        t[i].nano = -1;
        if (dates_text(L, &text, &length)) {
            if (!la_table_parse(text, length, format, offset, &t[i])) {
                lua_pushnil(L);
                lua_pushinteger(L, i + 1);
                return 2;
            }
            la_table_unit need = dates_needed(t[i]);
            if (!forced && need > unit) unit = need;
        }
        lua_pop(L, 1);
    }
    int64_t *out = la_table_push(L, s, LA_INT64, n, "date");
    for (int64_t i = 0; i < n; i++) {
        if (t[i].nano < 0) out[i] = LA_TABLE_DATE_GAP;
        else if (!la_table_join_instant(t[i], unit, 0, &out[i]))
            return luaL_error(L, "date: entry %I does not fit %ss of 64 bits",
                              (LUAI_UACINT)i + 1, la_table_unit_names[unit]);
    }
    lua_pushstring(L, la_table_unit_names[unit]);
    return 2;
}

/* ---- writing ---- */

/* format(values, unit, offset, format or nil): a list; false for gaps */
static int dates_format(lua_State *L)
{
    char text[512];
    int64_t n = 0;
    la_begin(L, "format", 0);
    lua_settop(L, 4);
    la_table_unit unit = dates_unit(L, 2, true, "format");
    int offset = dates_offset(L, 3, "format");
    const char *format = lua_isnil(L, 4) ? NULL : luaL_checkstring(L, 4);
    la_table_array(L, 1, LA_INT64, &n, "format");
    la_charge_more(L, "format", n);
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        if (i % 1024 == 0) LA_CHECK(L, "format", la_poll());
        const int64_t *v = la_table_array(L, 1, LA_INT64, &n, "format");
        if (v[i] == LA_TABLE_DATE_GAP) {
            lua_pushboolean(L, false);
        } else {
            int m = la_table_format(la_table_split(v[i], unit, offset), unit,
                                    offset, format, text, sizeof text);
            if (m < 0)
                return luaL_error(L, "format: '%s' is no format that is known "
                                  "here (%%Y %%y %%m %%d %%j %%H %%I %%p %%M "
                                  "%%S %%f %%z %%b %%B %%a %%A), or too long",
                                  format ? format : "");
            lua_pushlstring(L, text, (size_t)m);
        }
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* ---- values ---- */

/* f(values, unit, offset, ...): a column of int64 is pushed. */
/* Three arguments are common to all functions of dates: values, the unit that
** they are stored in, the offset of the wall clock. */
static const int64_t *dates_begin(lua_State *L, const char *name,
                                  la_table_unit *unit, int *offset, int64_t *n,
                                  int64_t **out)
{
    la_state *s = la_begin(L, name, 0);
    lua_settop(L, 6);
    *n = 0;
    *unit = dates_unit(L, 2, true, name);
    *offset = dates_offset(L, 3, name);
    if (!la_table_array(L, 1, LA_INT64, n, name))
        luaL_error(L, "%s: values expected", name);
    la_charge_more(L, name, *n);
    *out = la_table_push(L, s, LA_INT64, *n, name);
    return la_table_array(L, 1, LA_INT64, n, name);
}

/* field(..., name): int64; 0 for gaps */
static int dates_field(lua_State *L)
{
    static const char *const words[] = {"year", "month", "day", "hour",
        "minute", "second", "weekday", "yearday", "week", "quarter"};
    la_table_unit unit;
    int offset;
    int64_t n, *out;
    int field = la_table_word(L, 4, words, 10, "date");
    const int64_t *v = dates_begin(L, words[field], &unit, &offset, &n, &out);
    LA_EACH_POLLED (i, 0, n)
        out[i] = v[i] == LA_TABLE_DATE_GAP ? 0
            : la_table_field_of(la_table_split(v[i], unit, offset),
                                (la_table_field)field);
    LA_CHECK(L, words[field], la_poll());
    return 1;
}

typedef bool dates_step(la_table_instant, la_table_unit, int64_t n,
                        la_table_instant *out);

/* step(..., unit, n) of each value. */
/* Days have no time of day to shift, hence offset 0. */
static int dates_each(lua_State *L, const char *name, dates_step *step)
{
    la_table_unit unit;
    int offset;
    int64_t n, *out;
    la_table_instant t;
    const int64_t *v = dates_begin(L, name, &unit, &offset, &n, &out);
    la_table_unit by = dates_unit(L, 4, false, name);
    int64_t count = la_check_int(L, 5, name);
    if (unit == LA_TABLE_DAY) offset = 0;
    LA_EACH_POLLED (i, 0, n) {
        if (v[i] == LA_TABLE_DATE_GAP) out[i] = v[i];
        else if (!step(la_table_split(v[i], unit, offset), by, count, &t)
                 || !la_table_join_instant(t, unit, offset, &out[i]))
            return luaL_error(L, "%s: row %I does not fit", name,
                              (LUAI_UACINT)i + 1);
    }
    LA_CHECK(L, name, la_poll());
    return 1;
}

/* floor(..., unit, n), add(..., unit, n) */
static int dates_floor(lua_State *L)
{
    return dates_each(L, "floor", la_table_floor);
}

static int dates_add(lua_State *L)
{
    return dates_each(L, "add", la_table_add);
}

/* convert(values, unit, 0, other): the same instants, cut below the unit */
static int dates_convert(lua_State *L)
{
    la_table_unit unit;
    int offset;
    int64_t n, *out;
    const int64_t *v = dates_begin(L, "date", &unit, &offset, &n, &out);
    la_table_unit to = dates_unit(L, 4, true, "date");
    LA_EACH_POLLED (i, 0, n) {
        if (v[i] == LA_TABLE_DATE_GAP) out[i] = v[i];
        else if (!la_table_join_instant(la_table_split(v[i], unit, 0), to, 0,
                                        &out[i]))
            return luaL_error(L, "date: row %I does not fit %ss of 64 bits",
                              (LUAI_UACINT)i + 1, la_table_unit_names[to]);
    }
    LA_CHECK(L, "date", la_poll());
    return 1;
}

const luaL_Reg la_table_date_functions[] = {
    {"date_parse", dates_parse}, {"date_format", dates_format},
    {"date_field", dates_field}, {"date_floor", dates_floor},
    {"date_add", dates_add}, {"date_convert", dates_convert}, {NULL, NULL}
};
