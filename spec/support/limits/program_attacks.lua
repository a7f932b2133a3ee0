-- Scripts of a hostile author, for spec/c/api/test_attacks.c as those of
-- attacks.lua: against recordings that go wrong half-way. Finalizers,
-- metamethods and coroutines come in between where a function is recorded, an
-- argument read or a result handed over. 'la' is the library, 'x' a tensor of
-- three ones, and there is the host's shelf of files. They may end in any way.

-- plant(f): a finalizer that calls f at every collection of the garbage.
local PLANT = [[
local la, x = lunarray, x
local function plant(f)
  local function again()
    setmetatable({}, {__gc = function() again() pcall(f) end})
  end
  again()
end
local function churn(n) for i = 1, n or 300 do local t = {{}, {}} end end
]]

local scripts = {
  -- guards: what a function captures changes while it is recorded or compared
  [[local k = 1 local f = la.fuse(function(v) k = k + 1 return v * k end)
    for i = 1, 300 do f(x) end]],
  [[local t = {w = x} local f = la.fuse(function(v) t.w = nil
    local y = v + 1 t.w = x return y * t.w end) for i = 1, 300 do f(x) end]],
  [[local t = setmetatable({}, {__index = function(_, k) return x end})
    local f = la.fuse(function(v) return v * t.a end) for i = 1, 100 do f(x)
    setmetatable(t, {__index = {a = la.ones(i)}}) pcall(f, x) end]],
  [[local t = {w = x} local f = la.fuse(function(v) return v * t.w end) f(x)
    plant(function() t.w = la.ones(1 << 16) t.w = la.ones(3) end)
    for i = 1, 2000 do f(x) churn(20) end]],
  [[local t = {w = x} local f = la.compile(function(v) return v * t.w end) f(x)
    plant(function() t.w:resize_(0) t.w:resize_(3) end)
    for i = 1, 1000 do pcall(f, x) churn(20) end]],
  [[local up = x local f = la.fuse(function(v) return v + up end) f(x)
    plant(function() up:free() up = la.ones(3) end)
    for i = 1, 1000 do pcall(f, x) churn(20) end]],
  [[local deep = {} for i = 1, 1e4 do deep = {deep, i} end
    local f = la.fuse(function(v) return v + deep[2] end)
    for i = 1, 50 do f(x) deep[2] = i end]],
  [[local t = {} for i = 1, 1e5 do t[i] = i end
    local f = la.fuse(function(v) return v + t[5] end)
    for i = 1, 50 do f(x) t[i] = nil end]],
  [[local t = {} t.t = t local f = la.fuse(function(v) return v * #t end)
    for i = 1, 50 do f(x) t[i] = t end]],
  [[local f f = la.fuse(function(v) f = nil return v + 1 end) f(x) f(x)]],
  [[local f = la.fuse(function(v) return v + 1 end)
    local g = la.fuse(function(v) f = la.fuse(g or f) return f(v) end)
    for i = 1, 50 do g(x) end]],
  [[local list = {} for i = 1, 250 do local up = i
    list[i] = function(v) return v + up end end
    local f = la.fuse(function(v) for i = 1, #list do v = list[i](v) end
    return v end) for i = 1, 20 do f(x) list[i] = print or type end]],
  [[local m = {} local t = setmetatable({}, m) m.__index = m m.w = x
    local f = la.fuse(function(v) return v * t.w end) for i = 1, 100 do f(x)
    m.w = i % 2 == 0 and la.ones(3) or 2 m.__index = i % 3 == 0 and m or
    function() return x end end]],
  -- re-entrance
  [[local f f = la.compile(function(v) pcall(f, v) return v + 1 end)
    for i = 1, 30 do f(la.ones(i)) end]],
  [[local f, n = nil, 0 f = la.compile(function(v) n = n + 1
    if n < 150 then return f(la.ones(n)) + 1 end return v end) f(x)]],
  [[local f = la.compile(function(v) return la.compile(function(w)
    return la.fuse(function(u) return u * 2 end)(w) end)(v) end)
    for i = 1, 200 do f(la.ones(i % 9)) end]],
  [[local f, g f = la.compile(function(v) return v + 1 end, {cache = 1})
    g = la.compile(function(v) return f(v) + f(la.ones(5)):sum() end)
    plant(function() f(la.ones(math.random(40))) g(la.ones(3)) end)
    for i = 1, 500 do g(x) f(la.ones(i % 7)) churn(30) end]],
  [[local f = la.compile(function(v) return v * 2 end) f(x)
    plant(function() f:into(x, x) f:begin(x) f:advance(1e6) end)
    for i = 1, 1000 do f(x) churn(10) end]],
  [[local f = la.compile(function(v) return v:exp(), {v, {v + 1}} end) f(x)
    plant(function() for k, s in ipairs(f:program():steps()) do s.op = nil end
    f:explain() end) for i = 1, 300 do f(x) churn(30) end]],
  [[local f = la.compile(function(v) return la.vmap(function(w)
    return la.compile(function(u) return u:sum() end)(w) end)(v) end)
    for i = 1, 100 do f(la.ones(4, i % 5 + 1)) end]],
  [[local f f = la.compile(function(v) f:program() f:explain() f:profile(v)
    f:into(v, v) return v end) for i = 1, 30 do pcall(f, x) end]],
  [[local s = la.snapshot{x} local f = la.compile(function(v) x:add_(1)
    s:restore() return v + x end) for i = 1, 200 do f(x) end]],
  [[local f = la.compile(function(v) local y for i = 1, 9 do
    y = la.tidy(function() return v + i end) end return y end)
    for i = 1, 100 do f(x) end la.tidy(function() f(x) end) f(x)]],
  [[local f = la.compile(function(v) la.tidy(function() v:free() end)
    return v end) for i = 1, 100 do pcall(f, la.ones(3)) end]],
  -- metamethods while arguments are read
  [[local f f = la.compile(function(t) return t.a + 1 end) local t =
    setmetatable({}, {__index = function(t, k) f{a = x} return x end})
    for i = 1, 100 do pcall(f, t) pcall(f, {a = t}) end]],
  [[local m = {__lt = function(a, b) x:resize_(0) return true end}
    local a = setmetatable({}, m) local f = la.compile(function(v)
    return a < a and v + 1 or v end) for i = 1, 50 do pcall(f, x) end]],
  [[local m = {__close = function() x:resize_(0) x:resize_(9) end}
    local f = la.compile(function(v) local c <close> = setmetatable({}, m)
    return v * 2 end) for i = 1, 50 do pcall(f, x) end]],
  [[local m = {__len = function() coroutine.yield() end} local f =
    la.compile(function(v) return v + #setmetatable({}, m) end)
    for i = 1, 50 do coroutine.wrap(f)(x) end]],
  [[local m = {__concat = function() x:free() return 'a' end}
    local f = la.compile(function(v) local s = setmetatable({}, m) .. 'b'
    return v + 1 end) for i = 1, 20 do pcall(f, x) end]],
  [[local m = {__eq = function() error(x) end} local f = la.compile(
    function(v) if setmetatable({}, m) == setmetatable({}, m) then return v end
    end) for i = 1, 50 do pcall(f, x) end]],
  [[local m m = {__add = function(a, b) m.__add = nil return
    getmetatable(a).__mul and a * b or x end, __mul = function() m.__mul = nil
    return x + 1 end} local o = setmetatable({}, m)
    local f = la.compile(function(v) return (v + o) + (o + v) end)
    for i = 1, 50 do pcall(f, x) end]],
  [[local o = setmetatable({}, {__index = function(t, k) error(t) end,
    __tostring = function() error('no') end, __name = ('n'):rep(1e6)})
    for k in pairs(la) do pcall(la[k], o) pcall(la[k], x, o) end]],
  [[local o = setmetatable({}, {__pairs = function(t) return function()
    x:resize_(0) return nil end end, __index = function(_, k) x:resize_(3)
    return k == 1 and x or nil end, __len = function() return 1 end})
    for k in pairs(la) do pcall(la[k], x, o, o) pcall(la[k], o, x) end]],
  [[local co = coroutine.wrap(function() while true do la.compile(function(v)
    coroutine.yield(v) return v end)(x) end end) for i = 1, 20 do pcall(co)
    end]],
  -- coroutines
  [[local f = la.compile(function(v) local co = coroutine.create(function()
    local y = v + 1 coroutine.yield(y) return y * 2 end)
    local _, a = coroutine.resume(co) return a end) for i = 1, 50 do f(x) end]],
  [[local co local f = la.compile(function(v) if not co then co =
    coroutine.create(function() local y = v + 1 coroutine.yield() return y * v
    end) end coroutine.resume(co) return v * 2 end) f(x) f(x)
    coroutine.resume(co) for i = 1, 30 do f(la.ones(i)) end]],
  [[local kept = {} local f = la.compile(function(v) kept[#kept + 1] =
    coroutine.wrap(function() coroutine.yield(v + 1) return v:sum() end)
    kept[#kept]() return v end) for i = 1, 50 do f(la.ones(i)) end
    for i, k in ipairs(kept) do pcall(k) pcall(k) end]],
  [[local f = la.compile(function(v) return v + 1 end) local all = {}
    for i = 1, 60 do all[i] = coroutine.wrap(function() f:begin(la.ones(i))
    coroutine.yield() f:advance(1e6) end) pcall(all[i]) end
    for i = 1, 60 do pcall(all[i]) end]],
  [[local co co = coroutine.wrap(function() local f = la.compile(function(v)
    coroutine.close(coroutine.running()) co() return v end) f(x) end)
    pcall(co) pcall(co)]],
  [[local f = la.compile(function(v) local s <close> = la.no_grad()
    coroutine.wrap(function() local t <close> = la.no_grad()
    coroutine.yield() end)() return v + 1 end) for i = 1, 100 do f(x) end]],
  [[local it = coroutine.wrap(function() for i = 1, 1e6 do
    coroutine.yield(la.ones(i % 50)) end end) local f = la.compile(function(v)
    return v + it():sum() end) for i = 1, 300 do f(x) end]],
  -- caps in the middle of a recording
  [[local f = la.compile(function(v) local t = {} for i = 1, 1e6 do
    t[i] = v:expand(1 << 12, 3):contiguous() end return t end)
    for i = 1, 5 do pcall(f, x) end la.ones(3)]],
  [[local keep = {} local f = la.compile(function(v) for i = 1, 1e5 do
    v = v + 1 keep[#keep + 1] = v:clone() end return v end) pcall(f, x)
    keep = nil f = nil pcall(la.compile(function(v) return v + 1 end), x)]],
  [[local f = la.compile(function(v) return la.cat{v, v} end) local y = x
    while true do y = f(y) end]],
  [[local f = la.compile(function(v) local s = ('x'):rep(1 << 24) return
    v + #s end) for i = 1, 100 do pcall(f, la.ones(i)) end]],
  [[local t = {} for i = 1, 250 do t[i] = la.ones(i) end local f =
    la.compile(function(list) local s = 0 for i = 1, #list do
    s = s + list[i]:sum() end return s end) for i = 1, 30 do t[i] = x
    pcall(f, t) end]],
  [[local f = la.fuse(function(a, b) return a:matmul(b) end)
    for i = 1, 40 do pcall(f, la.ones(1 << i % 13, 1), la.ones(1, 1 << i % 13))
    end]],
  -- autograd in programs
  [[local w = la.ones(3):requires_grad_() local f = la.compile(function(v)
    local y = (v * w):sum() y:backward() return y end)
    w:register_hook(function(g) w:register_hook(error) f(g) return g end)
    for i = 1, 20 do pcall(f, x) end]],
  [[local w = la.ones(3):requires_grad_() local f = la.compile(function(v)
    local y = (v * w):sum() y:backward() w.grad = nil return y end)
    plant(function() w.grad = la.ones(3) w.grad:resize_(0) end)
    for i = 1, 200 do pcall(f, x) churn(50) end]],
  [[local w = la.ones(3):requires_grad_() local f = la.compile(function(v)
    return la.grad((v * w):sum(), {w}) end) plant(function() w:detach_() end)
    for i = 1, 200 do pcall(f, x) churn(50) end]],
  [[local F = la.Function{forward = function(c, v) c:save_for_backward(v)
    v:free() return v end, backward = function(c, g) return g end}
    local f = la.compile(function(v) return F(v) end)
    for i = 1, 50 do pcall(f, la.ones(3):requires_grad_()) end]],
  [[local opt = la.optim or require 'lunarray.optim' local w =
    la.ones(3):requires_grad_() local o = opt.SGD({w}, {lr = 0.1}) local f =
    la.compile(function(v) (v * w):sum():backward() o:step() return w end)
    for i = 1, 30 do pcall(f, x) o.param_groups = nil end]],
  -- branches and loops
  [[local f = la.compile(function(v) return la.while_loop(function(y) y:free()
    return la.tensor(true) end, function(y) return y + 1 end, v) end)
    for i = 1, 20 do pcall(f, la.ones(3)) end]],
  [[local f = la.compile(function(v) return la.while_loop(function(y)
    return y:sum():lt(50) end, function(y) y:resize_(0) return y end,
    v * 1) end) for i = 1, 20 do pcall(f, la.ones(3)) end]],
  [[local n, f = 0, nil f = la.compile(function(v) return la.while_loop(
    function(y) n = n + 1 if n % 5 == 0 then error(y) end
    return y:sum():lt(50) end, function(y) return y * 2 end, v) end)
    for i = 1, 60 do pcall(f, la.ones(3)) end]],
  [[local kept local f = la.compile(function(v) return la.cond(v:sum():gt(0),
    function(a) kept = a + 1 return kept end, function(a) return kept or a end,
    v) end) for i = 1, 60 do pcall(f, la.ones(3) * (-1) ^ i)
    pcall(function() kept:add_(1) end) end]],
  [[local f = la.compile(function(v) return la.cond(v:sum():gt(0), function(a)
    return la.while_loop(function(b) return b:sum():lt(9) end, function(b)
    return la.cond(b:sum():gt(5), function(c) return c + 1 end, function(c)
    return c * 2 end, b) end, a) end, function(a) return a end, v) end)
    for i = 1, 60 do f(la.ones(3) * (i % 4 - 1)) end]],
  [[local f = la.compile(function(v) local c = {v, {v + 1}} c[3] = c
    return la.while_loop(function(a) return a[1]:sum():lt(9) end, function(a)
    return a end, c) end) pcall(f, x) local t = {} t[1] = t
    pcall(la.while_loop, function() return true end, function(a) return a end,
    t)]],
  [[local f = la.compile(function(v) return la.while_loop(function(y)
    return y:sum():lt(50) end, function(y) return la.while_loop(function(z)
    return z:sum():lt(20) end, function(z) return z + 1 end, y) + 1 end, v)
    end) plant(function() f(la.zeros(3)) end) for i = 1, 30 do f(la.zeros(3))
    churn(100) end]],
  [[local f = la.compile(function(v) return la.scan(function(c, e)
    if c:sum():item() > 5 then c:free() end return c + e, c end, v,
    la.ones(9, 3)) end) for i = 1, 20 do pcall(f, x) end]],
  [[la.compile(function(v) return la.cond(setmetatable({}, {__index =
    function() return v end}), function() return v end, function() return v
    end) end)(x)]],
  [[local f = la.compile(function(v) return la.while_loop(function(y)
    return la.tensor(y:sum():item() < 50) end, function(y)
    collectgarbage('count') coroutine.yield() return y end, v) end)
    for i = 1, 20 do coroutine.wrap(function() f(x) end)() end]],
  -- programs as files
  [[local f = la.load('b.laprog') plant(function() f(la.ones(2, 3)) end)
    for i = 1, 300 do f(la.ones(2, 3)) churn(50) end]],
  [[local f = la.load('a.laprog') local g = la.compile(function(v)
    return f(v) + 1 end) for i = 1, 50 do g(la.ones(2, 3)) end
    for _, w in pairs(f:weights()) do w:add_(1) w:requires_grad_() end
    pcall(g, la.ones(2, 3))]],
  [[local f = la.load('a.laprog') local y = f(la.ones(2, 3):requires_grad_())
    pcall(y.backward, y:sum()) la.vmap(f)(la.ones(4, 2, 3))]],
  [[local f = la.load('a.laprog') f(la.ones(3, 2):t()) f(la.ones(1, 3)
    :expand(2, 3)) f(la.ones(2, 6)[{{}, {1, 6, 2}}]) f(la.ones(2, 3):to('meta'))
    ]],
  [[for i = 1, 3000 do local ok, f = pcall(la.load, i .. '.b.laprog') if ok
    then plant(function() f = nil end) pcall(f, la.ones(2, 3)) pcall(f.explain,
    f) pcall(f.steps, f) pcall(f.weights, f) pcall(tostring, f) end end]],
  -- members that are made when they are asked for
  [[for k in pairs(la) do la[k] = nil end for k in pairs(la) do
    rawset(la, k, nil) la[k] = la[k] end]],
  [[local t = {} for k in pairs(la) do t[#t + 1] = k end for i = 1, 50 do
    for k in pairs(la) do la[k] = nil local name = t[i] local _ = la[name] end
    end]],
  [[for k, v in pairs(la) do if type(v) == 'table' then for j in pairs(v) do
    v[j] = nil local _ = v[j] end end end]],
  [[la['a\0b'] = 1 local _ = la['add\0'], la.fft['fft\0x'], x['add\0'],
    la[('n'):rep(1e6)], la[1e308], la[0 / 1], x[{}], la.nn['\0'], 1]],
  [[setmetatable(_G, {__index = function(_, k) la[k] = la[k] return la[k] end})
    for k in pairs(la) do local _ = _G[k] end local _ = nothing.there]],
  [[require = function() return setmetatable({}, {__index = error}) end
    for k in pairs(la) do local _ = la[k] end local _ = la.nn.Linear,
    la.optim.SGD, la.frame, la.llm, la.tokenizer]],
  [[plant(function() for _, k in ipairs{'exp', 'log', 'nn', 'fft'} do la[k] =
    nil end end) for i = 1, 300 do la.exp(x) la.log(x) local _ = la.fft.fft
    churn(40) end]],
  -- frames
  [[local f = la.frame{a = la.arange(4)} for _, k in ipairs{'a\0', '', 1, 1.5,
    true, x, f, 0 / 0 ~= 0 and 'nan', ('k'):rep(1e6), '__index', '__gc',
    'names', '\27[2J'} do pcall(function() return f[k] end)
    pcall(function() f[k] = x end) pcall(la.frame, {[k] = x})
    pcall(f.with, f, {[k] = la.arange(4)}) end tostring(f)]],
  [[local f = la.frame{a = la.arange(4)} local hostile = setmetatable({},
    {__index = function(t, k) f = nil return x end, __len = function()
    return 1 << 40 end, __pairs = function() return function() return {}, {}
    end end, __call = function() return x end, __tostring = function()
    while true do end end, __lt = function() return true end})
    for _, m in ipairs{'with', 'sort', 'group', 'join', 'melt', 'rename',
    'where', 'drop', 'select', 'pivot', 'map', 'agg', 'sample', 'print'} do
    pcall(function() return f[m](f, hostile) end)
    pcall(function() return f[m](f, 'a', hostile) end) end]],
  [[local f = la.frame{a = la.arange(40), b = la.arange(40)} plant(function()
    f.a:resize_(0) f.a:resize_(40) end) for i = 1, 100 do pcall(function()
    f:sort('a') f:group('b'):agg{c = 'sum'} f:join(f, 'a') end) churn(30)
    end]],
  [[local f = la.frame{a = la.arange(9)} f.a:free() pcall(tostring, f)
    pcall(f.sort, f, 'a') pcall(f.describe, f) pcall(f.join, f, f, 'a')
    pcall(f.group, f, 'a')]],
  [[local m = getmetatable(la.frame{a = x}) ESCAPED = type(m) == 'table' and
    pcall(function() m.__gc = function() while true do end end end) and nil
    local f = la.frame{a = x} f = nil churn(1000)]],
  -- texts for tokenizers and models
  [[local t = la.tokenizer.decode('[UNK]\na\n##a\nab\n') for _, s in ipairs{'',
    '\0', ('\0'):rep(1e4), '\xff\xfe', '\xf0\x9f', ('\xcc\x81'):rep(1e4),
    '\xed\xa0\x80', ('a'):rep(1e5), '\xef\xbb\xbfa'} do pcall(t.encode, t, s)
    pcall(t.decode, t, {s}) pcall(t.id, t, s) pcall(t.token, t, s) end]],
  [[local t = la.tokenizer.decode('[UNK]\na\n') local list = setmetatable({},
    {__index = function(_, k) t = nil return k end, __len = function()
    return 1 << 30 end}) local d = t.decode for i = 1, 3 do pcall(d, t, list)
    end]],
  [[local template = require 'lunarray.llm.template' for _, s in ipairs{
    ('{{'):rep(5000), '{% for a in a %}' .. ('{% for b in a %}'):rep(3000),
    '{{ ' .. ('('):rep(3000), '{{ ' .. ('-'):rep(3000) .. '1 }}',
    '{{ ' .. ('not '):rep(3000) .. '1 }}', '{{ a' .. ('[0]'):rep(3000) .. '}}',
    '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}',
    '{% for i in range(1000000000) %}{% endfor %}',
    "{{ 'x' * 1000000000 }}", "{{ messages | tojson(indent=1000000000) }}",
    "{{ 'a' | replace('', 'bbbbbbbb') | replace('', 'cccccc') }}"} do
    local ok, run = pcall(template.compile, s) if ok then local m = {} m.m = m
    pcall(run, {messages = {m}, a = m}) end end]],
  [[local sample = require 'lunarray.llm.sample' local logits = la.ones(9)
    for _, o in ipairs{{temperature = 0 / 0}, {top_k = 1 << 60}, {top_p = -1},
    {allow = function() return {1, 1 << 60, -1, 0.5, x, {}} end}, {allow =
    function() logits:resize_(0) return {1} end}, {allow = function() return
    setmetatable({}, {__len = function() return 1 << 40 end}) end}, {allow =
    x}, {repeat_penalty = 0}, {min_p = 2}} do o.temperature = o.temperature or
    1 pcall(sample.check, 'chat', o) pcall(sample.next, logits, {1, 2}, o,
    math.random) pcall(sample.next, la.full({9}, 0 / 0), {}, o, math.random)
    logits = la.ones(9) end]]
}

-- Objects with finalizers, and what else they may be called with. A table that
-- is older uses each after its own finalizer has run, at a collection and
-- where the state is closed.
local objects = {
  ["la.ones(3)"] = "x", ["la.ones(3):requires_grad_() * 2"] = "x",
  ["la.compile(function(v) return v + 1 end)"] = "x",
  ["la.fuse(function(v) return v + 1 end)"] = "x",
  ["(function() local f = la.compile(function(v) return v + 1 end) f(x)"
    .. " return f end)()"] = "x",
  ["(function() local f = la.fuse(function(v) return v + 1 end) f(x)"
    .. " return f end)()"] = "x",
  ["(function() local f = la.compile(function(v) return v + 1 end) f(x)"
    .. " return f:program() end)()"] = "x",
  ["(function() local f = la.compile(function(v) return v + 1 end) f(x)"
    .. " f:begin(x) return f end)()"] = "1e6",
  ["la.load('a.laprog')"] = "la.ones(2, 3)",
  ["la.load('b.laprog')"] = "la.ones(2, 3)", ["la.snapshot{x}"] = "x",
  ["la.Generator(3)"] = "x", ["x:storage()"] = "3", ["la.no_grad()"] = "x",
  ["la.fork_rng()"] = "x", ["x:iter()"] = "x",
  ["x:clone():requires_grad_():register_hook(function() end)"] = "x",
  ["la.Function{forward = function(c, v) KEPT = c return v * 1 end, backward ="
    .. " function(c, g) return g end}"] = "x",
  ["la.frame{a = la.arange(4)}"] = "'a'",
  ["la.frame{a = la.arange(4)}:group('a')"] = "'a'",
  ["la.tokenizer.decode('[UNK]\\na\\n')"] = "'a b'",
  ["la.tokenizer.native().pattern('a+')"] = "'aab'",
  ["la.onnx.load(la.onnx.encode{ir_version = 8, graph = {name = 'g'}}, {bytes"
    .. " = true})"] = "x",
  ["la.gguf.quantized(la.zeros({2, 18}, {dtype = 'uint8'}), 'q4_0')"] =
    "la.ones(1, 32)",
  ["la.nn.Linear(3, 2)"] = "x", ["la.optim.SGD({x:clone()"
    .. ":requires_grad_()}, {lr = 0.1})"] = "x",
  ["coroutine.wrap(function() local s <close> = la.no_grad() local y = x + 1"
    .. " coroutine.yield(y) return y end)"] = "x"
}
local USE = [[
local function use(o, a)
  pcall(tostring, o) pcall(function() return #o, o + a, o[1], o[a] end)
  for _ = 1, 3 do pcall(o, a) end
  for m in ("add add_ sum view free clone backward item totable program explain"
    .. " profile into begin advance steps weights restore bytes resize_ seed"
    .. " get_state set_state state remove encode decode id token split match"
    .. " sort group agg join apply with parameters forward step zero_grad"
    .. " state_dict dequantize product get set name run close saved"
    .. " save_for_backward"):gmatch('%S+') do
    pcall(function() o[m](o, a) end) pcall(function() o[m](o, o, a) end)
  end
  pcall(la.save, o, 'x.laprog') pcall(la.snapshot, {o}) pcall(la.vmap, o)
  pcall(la.add, o, a) pcall(la.tokenizer.native().split, o, a)
end
local box = setmetatable({}, {__gc = function(b) for i = 1, 2 do use(b.o, b.a)
  end KEPT = b.o end})
]]
local names = {}
for object in pairs(objects) do names[#names + 1] = object end
table.sort(names)
for _, object in ipairs(names) do
  local make = USE .. ("box.o, box.a = %s, %s "):format(object, objects[object])
  scripts[#scripts + 1] = make .. "use(box.o, box.a) box = nil churn(9000)"
  scripts[#scripts + 1] = make .. "BOX = box"
end

for i, script in ipairs(scripts) do scripts[i] = PLANT .. script end
return {programs = scripts}
