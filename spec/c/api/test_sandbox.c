/* Hostile scripts in a sandbox: each is ended, and the host goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

static lua_State *open_with(size_t memory, int64_t fuel)
{
    la_limits limits = {.size = sizeof limits, .memory = memory, .fuel = fuel};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    return L;
}

static void run(lua_State *L, const char *script)
{
    if (luaL_dostring(L, script) != LUA_OK)
        fail_msg("%s: %s", script, lua_tostring(L, -1));
    lua_settop(L, 0);
}

/* ---- endless ---- */

/* None of these would end by itself, or only after minutes; fuel ends each, the
** same way on every machine. */
static const char *const endless[] = {
    "while true do end",
    "for i = 1, math.huge do end",
    "goto on ::on:: goto on",
    "local function f() return f() end f()",
    "while true do pcall(function() while true do end end) end",
    "while true do pcall(error) end",
    "while true do xpcall(function() while true do end end,"
    " function() while true do end end) end",
    "xpcall(function() error() end, function() while true do end end)",
    "pcall(pcall, pcall, function() while true do end end)",
    "local c = coroutine.wrap(function() while true do end end) c()",
    "while true do local c = coroutine.create(function() while true do end end)"
    " coroutine.resume(c) coroutine.close(c) end",
    "local c = coroutine.wrap(function() while true do coroutine.yield() end"
    " end) while true do c() end",
    "local c = coroutine.wrap(function() while true do pcall(coroutine.yield)"
    " end end) while true do pcall(c) end",
    "coroutine.wrap(function() pcall(function() while true do end end)"
    " while true do end end)()",
    "local c = coroutine.wrap(function() local x <close> = setmetatable({},"
    " {__close = function() while true do end end}) while true do end end) c()",
    "local x <close> = setmetatable({}, {__close = function() while true do end"
    " end})",
    "do local x <close> = setmetatable({}, {__close = function() while true do"
    " end end}) error() end",
    "local x <close> = setmetatable({}, {__close = function() while true do"
    " pcall(function() while true do end end) end end}) while true do end",
    "local x = coroutine.create(function() local y <close> = setmetatable({},"
    " {__close = function() while true do end end}) coroutine.yield() end)"
    " coroutine.resume(x) coroutine.close(x)",
    "while true do setmetatable({}, {__gc = function() while true do end end})"
    " end",
    "local m = {__gc = function() end} setmetatable({}, m)"
    " m.__gc = function() while true do end end while true do local t = {} end",
    "local t = setmetatable({}, {__index = function(t, k) while true do end"
    " end}) return t.x",
    "return tostring(setmetatable({}, {__tostring = function() while true do"
    " end end}))",
    "return setmetatable({}, {__eq = function() while true do end end}) == {}",
    "load(function() while true do end end)",
    "load(function() return 'x = 1 ' end)",
    "while true do load('x = 1') end",
    "local s = ('x = 1 '):rep(1000000) while true do load(s) end",
    /* patterns */
    "(('a?'):rep(30) .. ('a'):rep(30)):find(('a?'):rep(30) .. ('a'):rep(30))",
    "('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40) .. 'b')",
    "('a'):rep(30000):find('.-.-.-.-b')",
    "('a'):rep(30000):find('.*.*.*b')",
    "('a'):rep(3000000):find('(.*)(.*)%1%2b')",
    "('a'):rep(100000):match('%b' .. 'ab'):x()",
    "('('):rep(8000000):find('%b()%b()')",
    "('a'):rep(1 << 23):find(('a'):rep(1 << 22) .. 'b', 1, true)",
    "for w in ('a'):rep(30000):gmatch('.-.-.-b') do end",
    "('a'):rep(30000):gsub('.-.-.-b', '')",
    "('a'):rep(30000):gsub('a', function() while true do end end)",
    "while true do ('x'):rep(1000):gsub('.', '%0%0') end",
    "while true do ('x'):rep(1 << 24) end",
    "while true do ('x'):rep(1 << 20):upper():lower():reverse() end",
    "while true do ('%s'):format(('x'):rep(1 << 20)) end",
    "while true do utf8.len(('x'):rep(1 << 20)) end",
    "while true do utf8.char(('x'):rep(100000):byte(1, -1)) end",
    /* tables */
    "local t = {} for i = 1, 1000 do t[i] = i end table.sort(t, function()"
    " while true do end end)",
    "local t = {} for i = 1, 300000 do t[i] = (i * 7919) % 300007 end while"
    " true do table.sort(t) end",
    "table.move({}, 1, 1 << 60, 2)",
    "table.concat(setmetatable({}, {__index = tostring}), '', 1, 1 << 60)",
    "table.concat(setmetatable({}, {__index = function() return '' end}), '',"
    " 1, 1 << 60)",
    "table.insert(setmetatable({}, {__len = function() return 1 << 60 end}), 1,"
    " 0)",
    "table.remove(setmetatable({}, {__len = function() return 1 << 60 end}),"
    " 1)",
    "while true do table.unpack({}, 1, 900000) end",
    "while true do select('#', table.unpack({}, 1, 250)) end",
    /* tensors */
    "local x = lunarray.rand(1000) while true do x:exp_() end",
    "local m = lunarray.rand(300, 300) while true do m:matmul(m) end",
    "while true do pcall(lunarray.rand, 1000) end",
    "while true do lunarray.rand(100):totable() end",
    "while true do tostring(lunarray.ones(10)) end",
    "lunarray.from_function({8000000}, function() return 1 end)",
    "lunarray.ones(5):apply_(function() while true do end end)",
    "local x = lunarray.ones(2, {requires_grad = true})"
    " local y = (x * x):sum() y:register_hook(function() while true do end end)"
    " y:backward()",
    "lunarray.fuse(function(x) while true do x = x + 1 end end)"
    "(lunarray.ones(9))",
    "local set = lunarray.data.TensorDataset(lunarray.ones(8, 2)) while true do"
    " for b in pairs(lunarray.data.DataLoader(set)) do end end",
    "while true do lunarray.nn.Linear(3, 3)(lunarray.ones(2, 3)) end"
};

static void endless_ones_end(void **state)
{
    for (size_t i = 0; i < sizeof(endless) / sizeof(*endless); i++) {
        lua_State *L = open_with(256 << 20, 3000);
        la_token *k = la_token_of(L);
        char *script = malloc(strlen(endless[i]) + 100);
        /* Twice: what comes after the end may not run either. */
        sprintf(script, "local ok = pcall(function() %s end) went_on = true",
                endless[i]);
        if (luaL_loadstring(L, script) != LUA_OK)
            fail_msg("%s: %s", endless[i], lua_tostring(L, -1));
        if (lua_pcall(L, 0, 0, 0) == LUA_OK) fail_msg("%s ended", endless[i]);
        if (la_token_code(k) != LA_EFUEL)
            fail_msg("%s: %d, %s", endless[i], la_token_code(k),
                     lua_tostring(L, -1));
        if (!strstr(lua_tostring(L, -1), "stopped: out of fuel")
            || la_error_code() != LA_EFUEL)
            fail_msg("%s: %s", endless[i], lua_tostring(L, -1));
        lua_settop(L, 0);
        assert_int_not_equal(luaL_dostring(L, "lunarray.ones(2)"), LUA_OK);
        /* finalizers that loop end now, as nothing limits them afterwards */
        lua_gc(L, LUA_GCCOLLECT, 0);
        la_token_clear(k);
        run(L, "assert(not went_on) lunarray.ones(2):add(1)");
        la_set_fuel(k, 100);
        lua_close(L);                       /* finalizers that loop, too */
        la_token_release(k);
        free(script);
    }
}

/* A limit that is reached in a Lua module of ours, in a function of strings or
** tables say, names what the script called. */
static void limits_name_the_users_call(void **state)
{
    static const char *const helpers[] = {"format:", "concat:", "unpack:",
        "select:", "sort:", "insert:", "pcall:", "find:", "match:", "gmatch:",
        "rep:", "next:", "remove:", "control:"};
    int seen = 0;
    for (int fuel = 1; fuel < 400; fuel++) {
        lua_State *L = open_with(256 << 20, fuel);
        la_token *k = la_token_of(L);
        int status = luaL_dostring(L,
            "local i = lunarray.tensor(0) lunarray.while_loop(function(i)"
            " return i:lt(20) end, function(i) return i + 1 end, i)");
        const char *text = lua_tostring(L, -1);
        for (size_t h = 0; status && h < sizeof helpers / sizeof *helpers; h++)
            if (strstr(text, helpers[h])) fail_msg("%d: %s", fuel, text);
        seen += status && strstr(text, "while_loop: stopped: out of fuel");
        lua_settop(L, 0);
        la_token_clear(k);
        lua_close(L);
        la_token_release(k);
        fuel += fuel / 40;
    }
    assert_true(seen > 0);
}

/* Slow by what a thousand instructions do, not by their number. */
static void slow_ones_end(void **state)
{
    static const char *const slow[] = {
        "local function f() pcall(f) f() end f()",
        "local function f(...) return f(1, ...) end f()",
        "local function f() f() end while true do pcall(f) end",
        ("local t = {} for i = 1, 500000 do t[i] = i end while true do"
         " table.unpack(t) end"),
        "while true do local x = ('x'):rep(1 << 23) .. 'y' end"
    };
    for (size_t i = 0; i < sizeof(slow) / sizeof(*slow); i++) {
        lua_State *L = open_with(0, 0);
        la_token *k = la_token_of(L);
        la_set_deadline(k, 100000000);
        if (luaL_dostring(L, slow[i]) == LUA_OK) fail_msg("%s ended", slow[i]);
        assert_int_equal(la_token_code(k), LA_EDEADLINE);
        la_token_release(k);
        lua_close(L);
    }
}

static int cancel(lua_State *L)
{
    la_cancel(lua_touserdata(L, lua_upvalueindex(1)));
    return 0;
}

/* What one instruction does to a long string or a large table takes long: where
** there are such, a script ends at the next one, on every thread of Lua. And
** once it has ended nothing that is to be closed works any more. */
static void long_operands_end_soon(void **state)
{
    static const char *const scripts[] = {
        "local s = ('x'):rep(1 << 23) cancel() n = 1",
        "local s = ('x'):rep(1 << 21) s = s .. s cancel() n = 1",
        "local t = {} for i = 1, 1 << 23 do t[i] = i end cancel() n = 1",
        "local s = coroutine.wrap(function() return ('x'):rep(1 << 23) end)()"
        " cancel() n = 1",
        "local c = coroutine.wrap(function() coroutine.yield() cancel() n = 1"
        " end) c() local s = ('x'):rep(1 << 23) c()",
        "coroutine.wrap(function() local s = ('x'):rep(1 << 23) cancel() n = 1"
        " end)()",
        "local mt = {__close = function() n = 1 end} local function deep(i)"
        " local x <close> = setmetatable({}, mt) if i > 0 then deep(i - 1)"
        " else cancel() while true do end end end deep(100)"
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
        lua_State *L = open_with(0, 0);
        la_token *k = la_token_of(L);
        lua_pushlightuserdata(L, k);
        lua_pushcclosure(L, cancel, 1);
        lua_setglobal(L, "cancel");
        if (luaL_dostring(L, scripts[i]) == LUA_OK)
            fail_msg("%s ended", scripts[i]);
        assert_int_equal(la_token_code(k), LA_ECANCEL);
        if (lua_getglobal(L, "n") != LUA_TNIL)
            fail_msg("%s went on", scripts[i]);
        la_token_clear(k);          /* and then works as before */
        run(L, "n = coroutine.wrap(function() return ('x'):rep(9) end)()");
        la_token_release(k);
        lua_close(L);
    }
}

/* ---- too much ---- */

/* Memory is out, which pcall may catch, and the script goes on. */
static void memory_is_limited(void **state)
{
    static const char *const greedy[] = {
        "local t = {} while true do t[#t + 1] = {} end",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = ('x'):rep(1 << 20) .. #t end",
        "return ('x'):rep(1 << 40)",
        "return ('x'):rep(1 << 24, ('y'):rep(1 << 24))",
        "return (('x'):rep(1 << 24)):gsub('x', ('y'):rep(1 << 20))",
        "return table.concat({('x'):rep(1 << 24), ('x'):rep(1 << 24)})",
        "return ('%s'):rep(30):format(table.unpack((function() local t = {}"
        " for i = 1, 30 do t[i] = ('x'):rep(1 << 20) end return t end)()))",
        "return string.pack('c999999999', '')",
        "return string.pack(('!16Xi16'):rep(1 << 20))",
        "local c = coroutine.create(function(...) while true do coroutine.wrap("
        "function() coroutine.yield(c) end)() end end) local t = {} while true"
        " do t[#t + 1] = coroutine.create(print or error) end",
        "return {table.unpack({}, 1, 1e8)}",
        "return lunarray.ones(1 << 30)",
        "local t = {} while true do t[#t + 1] = lunarray.ones(100000) end",
#ifndef LA_EAGER_GC     /* a collection for each tensor: quadratic */
        "local t = {} while true do t[#t + 1] = lunarray.ones(1) end",
#endif
        "local t = lunarray.zeros(1) while true do t:resize_(2 * #t) end",
        "local x = lunarray.ones(1 << 20) while true do x = lunarray.cat{x, x}"
        " end",
        "return lunarray.ones(1 << 22):totable()"
    };
    for (size_t i = 0; i < sizeof(greedy) / sizeof(*greedy); i++) {
        lua_State *L = open_with(48 << 20, 0);
        la_token *k = la_token_of(L);
        if (luaL_dostring(L, greedy[i]) == LUA_OK)
            fail_msg("%s ended", greedy[i]);
        lua_settop(L, 0);
        assert_int_equal(la_token_code(k), 0);
        assert_true(la_token_memory(k) <= 48 << 20);
        lua_pushstring(L, greedy[i]);
        lua_setglobal(L, "script");
        run(L, "ok, why = pcall(load(script)) assert(not ok)");
        run(L, "assert(type(why) == 'string') script, why = nil"
               " assert(lunarray.ones(1000):sum():item() == 1000)");
        la_token_release(k);
        lua_close(L);
    }
    lua_State *L = open_with(20 << 20, 0);
    run(L, "local t = {} ok, why = pcall(function() while true do t[#t + 1] ="
           " {} end end) t = nil assert(why:find('^script: not enough memory '"
           " .. '%(%d+ bytes asked, %d+ in use, limit 20971520%)'), why)");
    lua_close(L);
}

/* Garbage is collected before the limit is said to be reached, and tensors are
** charged to the state that made them wherever they went. */
static void tensors_are_charged(void **state)
{
    lua_State *L = open_with(16 << 20, 0), *M = open_with(0, 0);
    la_token *k = la_token_of(L), *m = la_token_of(M);
    run(L, "for i = 1, 100 do local x = lunarray.ones(1 << 20) end"
           " ok, why = pcall(lunarray.ones, 1 << 23)"
           " assert(not ok and why:find('ones: not enough memory %(33554') and"
           " why:find('in use, limit 16777216'), why) collectgarbage 'count'");
    lua_gc(L, LUA_GCCOLLECT);
    size_t before = la_token_memory(k), other = la_token_memory(m);
    run(L, "x = lunarray.ones(1 << 20)");
    assert_in_range(la_token_memory(k) - before, 4 << 20, (4 << 20) + 9000);
    lua_getglobal(L, "x");
    la_tensor *x = la_retain(la_test(L, -1));
    lua_pop(L, 1);
    assert_int_equal(la_push(M, x), 0);
    lua_setglobal(M, "x");
    assert_in_range(la_token_memory(m), 0, other + 9000);
    run(L, "y = x:view(-1, 2)[1] x:resize_(1 << 21) x = nil");
    lua_close(L);
    assert_in_range(la_token_memory(k), 8 << 20, (8 << 20) + 1000);
    la_token_release(k);                /* held by what it has paid for */
    la_release(x);
    run(M, "assert(x[{-1}]:item() == x[{-1}]:item())");
    lua_close(M);
    assert_int_equal(la_token_memory(m), 0);
    la_token_release(m);
}

/* Every byte is given back, whoever closes the state. */
static void memory_is_counted(void **state)
{
    lua_State *L = open_with(0, 0);
    la_token *k = la_token_of(L);
    size_t before = la_token_memory(k);
    assert_true(before > 30000);
    run(L, "t = {} for i = 1, 100000 do t[i] = {} end");
    assert_true(la_token_memory(k) > before + 5000000);
    run(L, "t = nil");
    lua_gc(L, LUA_GCCOLLECT);
    assert_true(la_token_memory(k) < before + 500000);
    assert_int_equal(la_open_sandboxed(L, NULL), 0);
    lua_close(L);
    assert_int_equal(la_token_memory(k), 0);
    la_token_release(k);
}

/* ---- what stays as it is ---- */

/* The library of a sandbox gives what Lua's own gives. */
static void replacements_agree(void **state)
{
    static const char script[] = "spec/support/lua_library.lua";
    lua_State *P = luaL_newstate(), *S = open_with(0, 1000000);
    luaL_openlibs(P);
    if (luaL_dofile(P, script) || luaL_dofile(S, script))
        fail_msg("%s, %s", lua_tostring(P, -1), lua_tostring(S, -1));
    const char *a = lua_tostring(P, -1), *b = lua_tostring(S, -1);
    for (size_t i = 0; a[i] || b[i]; i++)
        if (a[i] != b[i]) {
            size_t from = i < 150 ? 0 : i - 150;
            fail_msg("Lua: %.200s\nsandbox: %.200s", a + from, b + from);
        }
    lua_close(P);
    lua_close(S);
}

/* Finalizers run once, later ones first, with the object; again when it is
** marked anew. */
static void finalizers_run(void **state)
{
    lua_State *L = open_with(0, 0);
    run(L, "log = {} local m m = {__gc = function(t) log[#log + 1] = t.name"
           " if t.again then t.again = nil setmetatable(t, m) end end}"
           " for i = 1, 3 do setmetatable({name = i, again = i == 2}, m) end"
           " kept = setmetatable({name = 'kept'}, m)"
           " assert(getmetatable(kept).__gc == m.__gc)"
           " setmetatable({}, {__gc = true}) setmetatable({}, {__gc ="
           " function() error('lost') end}) setmetatable({}, {__gc ="
           " coroutine.yield})");
    for (int i = 0; i < 4; i++) lua_gc(L, LUA_GCCOLLECT);
    run(L, "log = table.concat(log, ' ') assert(log == '3 2 1 2', log)");
    lua_close(L);
}

static void instructions_cost(void **state)
{
    lua_State *L = open_with(0, 1000000);
    la_token *k = la_token_of(L);
    int64_t left = la_fuel_left(k);
    run(L, "for i = 1, 1000000 do end");
    int64_t cost = left - la_fuel_left(k);
    assert_in_range(cost, 999, 1003);
    lua_State *M = open_with(0, 1000000);
    la_token *j = la_token_of(M);
    left = la_fuel_left(j);
    run(M, "for i = 1, 1000000 do end");
    assert_true(left - la_fuel_left(j) == cost);
    la_token_release(j);
    la_token_release(k);
    lua_close(L);
    lua_close(M);
}

static void nothing_shows_an_address(void **state)
{
    lua_State *L = open_with(0, 0);
    run(L, "local la = lunarray local things = {{}, print or error, la.ones,"
           " coroutine.create(error), la, la.nn, la.Generator and"
           " la.Generator() or {}, la.nn.Linear(2, 2), string.gmatch('a', 'a'),"
           " setmetatable({}, {__name = 'mine'}), la.ones(2):storage(),"
           " la.fuse} local function look(s)"
           " assert(not tostring(s):find('0x%x%x%x%x'), s) end"
           " for _, v in ipairs(things) do look(tostring(v))"
           " look(('%s'):format(v))"
           " for _, f in pairs{la.zeros, la.tensor, la.add, la.asarray,"
           " la.load, la.manual_seed, la.cat, error, table.concat,"
           " setmetatable, load,"
           " math.floor, string.rep} do"
           " local _, e = pcall(f, v) look(e) _, e = pcall(f, {v}) look(e)"
           " _, e = pcall(f, 1, {device = v}) look(e)"
           " _, e = pcall(f, 1, {dtype = v}) look(e) end"
           " look(select(2, pcall(string.format, '%d', v)))"
           " look(select(2, pcall(function() return la.ones(1) .. v end)))"
           " look(select(2, pcall(function() return v .. la.ones(1) end)))"
           " look(select(2, pcall(la.tensor, {1, 2, [v] = 3}))) end"
           " assert(math.randomseed() == nil)");
    lua_close(L);
}

static void modules_are_fields(void **state)
{
    lua_State *L = open_with(0, 0);
    run(L, "assert(lunarray.nn.Linear and lunarray.optim and lunarray.data)"
           " assert(lunarray.nn == require 'lunarray.nn')"
           " assert(lunarray.nothing == nil)");
    lua_close(L);
    L = luaL_newstate();                /* a trusted one without require */
    luaL_requiref(L, "_G", luaopen_base, 1);
    luaL_requiref(L, "string", luaopen_string, 1);
    luaL_requiref(L, "table", luaopen_table, 1);
    luaL_requiref(L, "math", luaopen_math, 1);
    luaL_requiref(L, "os", luaopen_os, 1);
    luaL_requiref(L, "io", luaopen_io, 1);
    assert_int_equal(la_openlibs(L), 0);
    run(L, "assert(require == nil and lunarray.nn.Linear(2, 3)(lunarray.ones(4,"
           " 2)).shape[2] == 3 and lunarray.optim.SGD and"
           " lunarray.signal.butter and lunarray.jacobian and lunarray.plot"
           " and lunarray.data)");
    lua_close(L);
}

/* ---- files of the host ---- */

typedef struct shelf {
    unsigned char bytes[8192];
    size_t n;
    int opened, closed, mode;
    lua_State *other;           /* runs a script while it is asked */
} shelf;

static int put_bytes(void *context, const void *bytes, size_t n)
{
    shelf *s = context;
    if (n > sizeof s->bytes - s->n) return la_fail("full");
    memcpy(s->bytes + s->n, bytes, n);
    s->n += n;
    return 0;
}

static int64_t take_bytes(void *context, int64_t offset, void *buffer,
                          int64_t bytes)
{
    shelf *s = context;
    if (s->other) run(s->other, "local x = lunarray.ones(1 << 22)");
    if (s->mode == 1) return -1;
    if (bytes > 40) bytes = 40;
    memcpy(buffer, s->bytes + offset, (size_t)bytes);
    return bytes;
}

static void put_away(void *context)
{
    shelf *s = context;
    s->closed++;
    la_error_text();
    la_release(la_new("nonsense", 0, NULL));
}

static int open_name(void *context, const char *name, la_source *source)
{
    shelf *s = context;
    if (source->size < sizeof *source) return la_fail("too small");
    if (strcmp(name, "../x") == 0) return la_fail("no such name");
    if (strcmp(name, "silent") == 0) return 1;
    s->opened++;
    la_source mine = {sizeof mine, s, (int64_t)s->n, take_bytes, put_away};
    if (s->mode == 2) mine.length = -1;
    *source = mine;
    if (s->mode == 3) source->size = 0;
    if (s->mode == 4) source->size = 1 << 20;
    return 0;
}

static void expect_error(lua_State *L, const char *script, int code,
                         const char *text)
{
    if (luaL_dostring(L, script) == LUA_OK) fail_msg("%s passed", script);
    if (!strstr(lua_tostring(L, -1), text) || la_error_code() != code)
        fail_msg("%s: %d, %s", script, la_error_code(), lua_tostring(L, -1));
    lua_settop(L, 0);
}

/* la.load asks for any name, and what the host does meanwhile changes nothing
** for the script. */
static void names_are_the_hosts(void **state)
{
    shelf *s = calloc(1, sizeof *s);
    la_limits limits = {.size = sizeof limits, .memory = 4 << 20,
                        .fuel = 100000, .open = open_name, .open_context = s};
    la_sink sink = {sizeof sink, s, put_bytes};
    la_tensor *t = la_call(NULL, "arange", 600);
    la_named list[] = {{"a", t}, {"b", t}};
    assert_int_equal(la_save_to(&sink, "npy", 1, list), 0);
    lua_State *L = luaL_newstate();
    limits.runtime = la_runtime_new(NULL);
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    s->other = open_with(0, 0);
    run(L, "local x = lunarray.load 'maps/one' assert(x:sum():item() == 179700)"
           " ok, why = pcall(lunarray.ones, 1 << 22) assert(not ok)");
    lua_close(s->other);
    s->other = NULL;
    run(L, "lunarray.load '' lunarray.load '/etc/passwd'");
    expect_error(L, "lunarray.load '../x'", LA_EARG, "load: no such name");
    expect_error(L, "lunarray.load 'silent'", LA_EIO, "the host has no 'sil");
    expect_error(L, "lunarray.load 'a\\0b'", LA_EARG, "NUL byte");
    expect_error(L, "lunarray.load(7)", LA_EARG, "path expected, got");
    expect_error(L, "lunarray.mmap 'x.npy'", LA_EARG, "files are not open");
    expect_error(L, "lunarray.save(lunarray.ones(2), 'x.npy')", LA_EARG,
                 "files are not open");
    assert_int_equal(s->opened, 3);
    assert_int_equal(s->closed, 3);
    s->mode = 1;
    expect_error(L, "lunarray.load 'x'", LA_EIO, "the host failed to read");
    s->mode = 2;
    expect_error(L, "lunarray.load 'x'", LA_EARG, "a source needs a length");
    assert_int_equal(s->closed, 5);
    s->mode = 3;
    expect_error(L, "lunarray.load 'x'", LA_EARG, "la_source.size is 0");
    s->mode = 4;
    expect_error(L, "lunarray.load 'x'", LA_EARG, "la_source.size is 1048576");
    assert_int_equal(s->closed, 7);
    s->mode = 0;
    s->n = 0;
    la_release(t);
    t = la_call(NULL, "ones", 20);
    list[0].tensor = list[1].tensor = t;
    assert_int_equal(la_save_to(&sink, "npz", 2, list), 0);
    run(L, "local m = lunarray.load 'model' assert(m.a:sum():item() == 20 and"
           " m.b)");
    s->n = 5;
    expect_error(L, "lunarray.load 'model'", LA_EIO, "load: ");
    limits.open = NULL;
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    expect_error(L, "lunarray.load 'x.npy'", LA_EARG, "files are not open");
    la_release(t);
    lua_close(L);
    assert_int_equal(la_runtime_destroy(limits.runtime), 0);
    free(s);
}

static void structs_are_checked(void **state)
{
    la_limits wrong = {.size = 0};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &wrong), LA_EARG);
    assert_int_equal(la_error_code(), LA_EARG);
    la_limits passed = {.size = sizeof passed, .deadline = -1};
    assert_int_equal(la_open_sandboxed(L, &passed), 0);
    assert_int_equal(la_error_code(), 0);
    assert_int_not_equal(luaL_dostring(L, "for i = 1, 5000 do end"), LUA_OK);
    assert_int_equal(la_error_code(), LA_EDEADLINE);
    lua_close(L);
    assert_int_equal(la_open_sandboxed(NULL, NULL), LA_EARG);
}

/* A PNG of 69 bytes that says it has 10000 x 10000 pixels of three bytes, and a
** state whose cap would hold them. */
static const unsigned char large_png[] = {
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 39,
    16, 0, 0, 39, 16, 8, 2, 0, 0, 0, 53, 44, 245, 112, 0, 0, 0, 12, 73, 68,
    65, 84, 120, 156, 99, 96, 160, 61, 0, 0, 0, 100, 0, 1, 134, 100, 60, 53,
    0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130};

static void loads_have_a_default_limit(void **state)
{
    la_limits limits = {.size = sizeof limits, .memory = (size_t)1 << 30};
    (void)state;
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    lua_pushlstring(L, (const char *)large_png, sizeof large_png);
    lua_setglobal(L, "png");
    if (luaL_dostring(L, "return lunarray.image.decode") == LUA_OK) {
        lua_settop(L, 0);
        expect_error(L, "lunarray.image.decode(png)", LA_EIO,
                     "300000000 bytes, more than the limit of 268435456");
        expect_error(L, "lunarray.image.decode(png, {limit = 1000})", LA_EIO,
                     "more than the limit of 1000");
        expect_error(L, "lunarray.image.decode(png, {limit = 1 << 40})", LA_EIO,
                     "too few bytes");
    }
    lua_close(L);
}

/* Decompositions run in a sandbox, and end soon where the deadline says so. */
static void decompositions_end(void **state)
{
    static const char *const calls[] = {
        "svd(x)", "svdvals(x)", "eig(x)", "eigvals(x)", "eigh(x)",
        "eigvalsh(x)", "matrix_norm(x, 2)", "cond(x)", "matrix_rank(x)",
        "pinv(x)", "pivoted_cholesky(x)"};
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char script[100];
        la_limits limits = {.size = sizeof limits,
                            .memory = (size_t)200 << 20};
        lua_State *L = luaL_newstate();
        assert_int_equal(la_open_sandboxed(L, &limits), 0);
        run(L, "la, x = lunarray.linalg, lunarray.eye(30)");
        snprintf(script, sizeof script, "return la.%s", calls[i]);
        run(L, script);
        lua_close(L);
        L = luaL_newstate();
        assert_int_equal(la_open_sandboxed(L, &limits), 0);
        run(L, "la = lunarray.linalg lunarray.manual_seed(1)"
               " x = lunarray.randn(900, 900) x = x:matmul(x.mT)");
        la_token *k = la_token_of(L);
        la_set_deadline(k, 4000000);
        expect_error(L, script, LA_EDEADLINE, "");
        la_token_release(k);
        lua_close(L);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endless_ones_end),
        cmocka_unit_test(slow_ones_end),
        cmocka_unit_test(long_operands_end_soon),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(tensors_are_charged),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(replacements_agree),
        cmocka_unit_test(finalizers_run),
        cmocka_unit_test(instructions_cost),
        cmocka_unit_test(nothing_shows_an_address),
        cmocka_unit_test(modules_are_fields),
        cmocka_unit_test(names_are_the_hosts),
        cmocka_unit_test(structs_are_checked),
        cmocka_unit_test(loads_have_a_default_limit),
        cmocka_unit_test(limits_name_the_users_call),
        cmocka_unit_test(decompositions_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
