/*
** Failure rehearsal: scripts are run again and again, with allocation number i
** failing, for every i, once or from then on. Each run must end with success or
** with an error that speaks of memory; afterwards the same state works, and
** when it is closed nothing is left.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>
#include "spec/c/modules.h"

#include "base/runtime/memory.h"

static const char *const scripts[] = {
    "local a = la.rand(4, 5); local b = (a + 1) * a:t():contiguous():t()\n"
    "return b:sum()",
    "local a = la.rand(3, 4, 5):to('float64'); a:add_(a:clone()); a:mul_(2)\n"
    "return a:permute(3, 1, 2):reshape(-1):cumsum(1)",
    "local a = la.rand(6, 6); a[{{2, 3}, 1}] = 0; a[a:gt(0.5)] = 1\n"
    "local i = la.tensor{1, 3, 5}; a[i] = a[i] * 2; return a[{i, i}]",
    "local v, i = la.rand(100):sort(); return la.cat({v, v}, 1):unique()",
    "return la.rand(20, 30):matmul(la.rand(30, 10)):softmax(2):argmax(2)",
    "local t = la.rand(7, 3):split(2); return la.stack{t[1], t[2]}",
    "local x = la.rand(5, {requires_grad = true})\n"
    "local y = ((x * x):tanh() + x):sum(); y:backward(); return x.grad",
    "local x = la.rand(4, {requires_grad = true}); local z = la.zeros(6)\n"
    "z[{{1, 4}}] = x * 2; (z * z):sum():backward(); return x.grad",
    "local c = la.zeros(3, {dtype = 'complex64'}):conj() + 1; return c.real",
    "local a = la.rand(2, 3); return tostring(a) .. tostring(a:t())",
    "local a = la.empty(0); return la.add(la.ones(3), 1, {out = a})",
    "local a = la.zeros(2, 3, {names = {'N', 'C'}}); return a:sum('C')",
    "return la.tensor{{1, 2}, {3, 4}}:resize_(100, 100):zero_()",
    "local i = la.image; for _, f in ipairs{'png', 'jpg', 'bmp', 'tga'} do\n"
    "i.decode(i.encode(la.zeros(3, 9, 9), f), {channels = 1}) end",
    "local f = os.tmpname(); local ok, why = pcall(function()\n"
    "la.write_csv({a = la.ones(3), b = {'x', '\"', ''}}, f)\n"
    "return la.read_csv(f, {dtypes = {a = 'float16'}}) end)\n"
    "os.remove(f); return ok or error(why, 0)",
    "local F = la.frame; local f = F{k = {'b', 'a', 'b'}, x = {1, F.gap, 2},\n"
    "d = F.date{'2024-01-01', '2024-01-03', '2024-01-02'}}\n"
    "f:group{'k', 'x'}:agg{s = F.sum'x', q = F.median'x'}\n"
    "f:sort{'k', 'd'}; f:join(f, 'k', {how = 'outer'})\n"
    "f:resample('d', 'day'):sum()\n"
    "f:with{r = F.rolling('x', 2, 'median', {min = 1}), c = F.rank'x'}\n"
    "f:pivot{index = 'k', columns = 'd', values = 'x', agg = 'sum'}\n"
    "return tostring(f:filter(f.d:gt'2024-01-01' ))",
    "local p = os.tmpname(); local ok, why = pcall(function()\n"
    "la.write_csv(la.frame{k = {'b', 'a'}, x = {1, 2}}, p)\n"
    "local f = la.read_csv(p, {thousands = '_'}); la.write_jsonl(f, p)\n"
    "return la.read_jsonl(p) end); os.remove(p)\n"
    "return ok or error(why, 0)",
    "local g, p = la.game, la.rand(40, 2); g.neighbors(p, 0.3)\n"
    "g.nearest(p, p, 3); g.separate(p, 0.3); g.cohere(p, 0.3)\n"
    "g.boids(p, p); g.neighbors(p, 0.3, {max = 2})\n"
    "return g.poisson_disc({3, 3}, 0.4)",
    "local g, p = la.game, la.rand(9, 3); g.quat_rotate(la.rand(9, 4), p)\n"
    "g.transform_points(la.eye(4), p)\n"
    "return g.skin(p, la.rand(3, 4, 4), la.ones({9, 2}, {dtype = 'int64'}),\n"
    "la.rand(9, 2))",
    "local g, c = la.game, la.rand(9, 9); g.astar(c, {1, 1}, {9, 9})\n"
    "g.flow_field(c, {1, 1}); g.distance_field(c)\n"
    "g.decompose(la.eye(4)); return g.worley(c[{{}, {1, 3}}])",
    /* compiled functions: recorded, run, run with autograd */
    "local w = la.rand(4, {requires_grad = true})\n"
    "local f = la.compile(function(x, t) w.grad = nil\n"
    "local l = (x * w + t[1]):tanh():sum(); l:backward()\n"
    "return l, {x:t(), k = x * 2} end)\n"
    "for _ = 1, 3 do f(la.rand(2, 4), {la.ones(4)}) end\n"
    "return f:explain() .. #f:program():steps()",
    "local w = la.rand(4, {requires_grad = true})\n"
    "local f = la.compile(function(x) return (x * w):exp() end)\n"
    "for _ = 1, 2 do f(la.rand(2, 4)):sum():backward() end\n"
    "local g = la.compile(function(x) return x:exp():sum(1) end)\n"
    "for _ = 1, 3 do g:begin(la.rand(2, 4)); repeat until g:advance(1) end",
    "local f = la.compile(function(x) return (x * 2):exp() + x:sum(2, true)\n"
    "end); for _ = 1, 3 do f:into(la.empty(99, 99), la.rand(99, 99)) end",
    /* histories: of written views, of several results, of functions */
    "local x = la.rand(4, {requires_grad = true}); local y = x * 1\n"
    "local v = y[{{1, 2}}]; v:mul_(x[{{3, 4}}]); y:t():add_(1)\n"
    "y:view(2, 2):exp_(); local s = y:sum()\n"
    "s:backward{retain_graph = true}; s:backward(); return x.grad",
    "local x = la.rand(6, {requires_grad = true}); local y = x * 2\n"
    "local a, b = table.unpack(y:split(3)); y[{{1, 6, 2}}]:copy_(a)\n"
    "la.view_as_complex(y:view(3, 2)):mul_(2); (y * y):sum():backward()\n"
    "return x.grad",
    "local x = la.rand(3, {requires_grad = true}); local y = (x * x):sum()\n"
    "y:register_hook(function(g) return g * 2 end)\n"
    "local g = la.grad(y, x, {create_graph = true}); g:sum():backward()\n"
    "return la.checkpoint(function(v) return (v * v):tanh() end, x)",
    "local f = la.Function{forward = function(c, v)\n"
    "c:save_for_backward(v); return v * v end, backward = function(c, g)\n"
    "local v = c:saved(); return g * v * 2 end}\n"
    "local x = la.rand(3, {requires_grad = true}); local y = x * 1\n"
    "y[{{1, 2}}] = f(x)[{{2, 3}}]; y:sum():backward(); return x.grad",
    "local x = la.rand(2, 3, {requires_grad = true})\n"
    "return la.vmap(function(r) local y = r * 1; y[1] = r[2]\n"
    "return (y * y):sum() end)(x):sum():backward()",
    /* lists of integers in nodes of the graph */
    "local x = la.rand(5, 2, {requires_grad = true})\n"
    "local y = la.game.perlin(x):sum() + x:permute(2, 1):sum({1, 2})\n"
    "y:backward(); return x.grad",
};

static lua_State *open_lua(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    assert_int_equal(luaL_dostring(L, "la = require 'lunarray'\n"
                                      "la.set_num_threads(1)"), 0);
    return L;
}

/* True when the script got through without meeting the failure. */
static int attempt(lua_State *L, const char *script, uint64_t i, bool forever)
{
    assert_int_equal(luaL_loadstring(L, script), LUA_OK);
    la_mem_fail_at(i, forever);
    int status = lua_pcall(L, 0, 0, 0);
    la_mem_fail_at(0, false);
    if (status != LUA_OK) {
        const char *why = lua_tostring(L, -1);
        if (!why || !strstr(why, "memory"))
            fail_msg("allocation %d: %s\nin %s", (int)i, why ? why : "(none)",
                     script);
        lua_pop(L, 1);
    }
    return status == LUA_OK;
}

static bool runs_here(const char *script)
{
    lua_State *L = open_lua();
    bool is = is_in_build(L, script);
    lua_close(L);
    return is;
}

static void rehearse(bool forever)
{
    size_t count = sizeof(scripts) / sizeof(scripts[0]);
    for (size_t k = 0; k < count; k++) {
        if (!runs_here(scripts[k])) continue;
        size_t before = la_mem_stat().used;
        lua_State *L = open_lua();
        uint64_t i = 1;
        int quiet = 0;
        /* A retry after a collection may hide one failure: two runs in a row
        ** must succeed before the script is through. */
        for (; quiet < 3 && i < 2000; i++)
            quiet = attempt(L, scripts[k], i, forever) ? quiet + 1 : 0;
        assert_true(i < 2000);
        assert_int_equal(luaL_loadstring(L, scripts[k]), LUA_OK);
        if (lua_pcall(L, 0, 0, 0)) fail_msg("%s", lua_tostring(L, -1));
        lua_close(L);
        if (la_mem_stat().used > before)
            fail_msg("%d bytes are left of: %s",
                     (int)(la_mem_stat().used - before), scripts[k]);
    }
}

static void test_once(void **state)
{
    (void)state;
    rehearse(false);
}

static void test_from_then_on(void **state)
{
    (void)state;
    rehearse(true);
}

static void run(lua_State *L, const char *code)
{
    if (luaL_dostring(L, code)) fail_msg("%s", lua_tostring(L, -1));
}

static void test_cap(void **state)
{
    (void)state;
    lua_State *L = open_lua();
    run(L, "local used = la.memory()\n"
           "la.set_memory_limit(used + (64 << 20))\n"
           "local ok, why = pcall(la.zeros, 17 << 20)\n"
           "assert(not ok and why:find('memory'), why)\n"
           "assert(la.zeros(1 << 20):sum():item() == 0)\n"
           /* dead tensors fill the cap: a collection frees memory */
           "collectgarbage('stop')\n"
           "for i = 1, 40 do local t = la.zeros(1 << 20) end\n"
           "collectgarbage('restart')\n"
           "la.set_memory_limit(0)\n"
           "local _, _, cap = la.memory()\n"
           "assert(cap == 0)\n");
    lua_close(L);
}

static void test_many_discarded(void **state)
{
    (void)state;
#ifdef LA_EAGER_GC
    skip();     /* the pace is the debug build's own */
#endif
    lua_State *L = open_lua();
    run(L, "local heap = {}\n"
           "for i = 1, 200000 do heap[i] = {i} end\n"
           "collectgarbage()\n"
           "local start = la.memory()\n"
           "local most = 0\n"
           "for i = 1, 3000 do\n"
           "  local t = la.empty(1 << 18)\n"
           "  if i % 10 == 0 then\n"
           "    most = math.max(most, la.memory() - start)\n"
           "  end\n"
           "end\n"
           "assert(most <= 128 << 20, most)\n"
           "for _, mode in ipairs{'incremental', 'generational'} do\n"
           "  collectgarbage(mode)\n"
           "  local a, most = la.ones(4), 0\n"
           "  collectgarbage()\n"
           "  local base = la.memory()\n"
           "  for i = 1, 100000 do\n"
           "    local b = a + a\n"
           "    if i % 100 == 0 then\n"
           "      most = math.max(most, la.memory() - base)\n"
           "    end\n"
           "  end\n"
           "  assert(most < 5000 * 400, mode .. ': ' .. most)\n"
           "end\n");
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_from_then_on),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_many_discarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
