-- la.compile: what a compiled function gives and leaves behind is compared with
-- what the function itself does, to the bit.
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"
local counted = require "spec.support.programs.counted"

-- Calls f compiled and as it is with what make(i) gives, and compares.
local function same(f, make, calls, runs)
  local step, count = counted(f)
  for i = 1, calls or 4 do
    la.manual_seed(i)
    local args, others = table.pack(make(i)), {}
    la.manual_seed(i)
    others = table.pack(make(i))
    local a = table.pack(step(table.unpack(args, 1, args.n)))
    local at = la.get_rng_state()
    la.manual_seed(i)
    make(i)
    local b = table.pack(f(table.unpack(others, 1, others.n)))
    assert.equal(at, la.get_rng_state())
    assert.equal(b.n, a.n)
    for k = 1, b.n do assert.equal(b[k], a[k]) end
    for k = 1, args.n do
      if type(args[k]) == "userdata" then assert.equal(others[k], args[k]) end
    end
  end
  assert.equal(runs or 1, count[1])
  return step
end

describe("la.compile", function()
  it("gives a view the history of the call that made it", function()
    local views = {
      function(t) return t:unfold(1, 2, 1) end,
      function(t) return t:as_strided({2, 2}, {1, 2}) end,
      function(t) return t:t() end,
      function(t) return t:diagonal() end}
    for _, view in ipairs(views) do
      local function f(t)
        local y = view(t)
        local order = {}
        for d = 1, y.ndim do order[d] = d end
        return y, y:permute(order) * 2
      end
      local step, x = la.compile(f), la.rand(3, 3):requires_grad_()
      local want = f(x).grad_fn
      for _ = 1, 3 do assert.equal(want, (step(x)).grad_fn) end
    end
  end)

  it("runs f once for a signature", function()
    same(function(x, y) return (x * y + 1):exp():sum(1), x:t() end,
         function() return la.randn(3, 4), la.randn(3, 4) end)
  end)

  it("records again for other sizes, dtypes, layouts and numbers", function()
    local step, count = counted(function(x, n) return x * n end)
    local x = la.randn(2, 3)
    for _ = 1, 2 do
      for _, call in ipairs{{x, 2}, {la.randn(3, 2), 2}, {x:double(), 2},
        {la.randn(3, 2):t(), 2}, {x, 2.0}, {x, 3}, {x, -0.0}, {x, 0.0}} do
        assert.equal(call[1] * call[2], step(call[1], call[2]))
      end
    end
    assert.equal(8, count[1])
  end)

  it("keeps at most 'cache' signatures, the last used ones", function()
    local step, count = counted(function(x, n) return x + n end, {cache = 2})
    local x = la.ones(2)
    for _, n in ipairs{1, 2, 1, 3, 1, 2} do step(x, n) end
    assert.equal(4, count[1])
  end)

  it("gives tables, numbers and what it was given", function()
    local w = la.randn(3)
    local t = {1}
    local step = la.compile(function(x, opts)
      return {a = {x * 2, n = 3}, w = w, t = t}, x, opts, nil, "s", 1.5, true
    end)
    for _ = 1, 3 do
      local x, opts = la.randn(3), {k = la.ones(1), 5}
      local r, y, o, none, s, n, b = step(x, opts)
      assert.equal(x * 2, r.a[1])
      assert.equal(3, r.a.n)
      assert.is_true(rawequal(w, r.w))
      assert.is_true(rawequal(x, y))
      assert.is_true(rawequal(opts, o))
      assert.same({n = 4, nil, "s", 1.5, true}, table.pack(none, s, n, b))
    end
  end)

  it("works in place, with out= and on views", function()
    same(function(x, y)
      x:add_(y)
      x[1]:mul_(2)
      local z = x:t():contiguous()
      la.mul(z, 3, {out = y:t()})
      return z, x[{1, 2}]
    end, function() return la.randn(3, 3), la.randn(3, 3) end)
  end)

  it("writes captured tensors and counts their versions", function()
    local a, b = la.zeros(3), la.zeros(3)
    local step, count = counted(function(x) a:add_(x) return a * 2 end)
    for i = 1, 4 do
      local x = la.full({3}, i)
      local r = step(x)
      b:add_(x)
      assert.equal(b * 2, r)
      assert.equal(b, a)
      assert.equal(b._version, a._version)
    end
    assert.equal(1, count[1])
  end)

  it("makes tensors of Lua values anew in each call", function()
    same(function(x)
      local acc = la.tensor{0.0, 0, 0}
      acc:add_(x)
      return acc
    end, function() return la.randn(3) end)
  end)

  it("sees that captured tensors change", function()
    local w = la.ones(3)
    local step, count = counted(function(x) return x * (w:exp() + 1) end)
    local x = la.randn(3)
    step(x)
    step(x)
    w:mul_(2)
    assert.equal(x * (w:exp() + 1), step(x))
    w.data = la.zeros(3)
    assert.equal(x * (w:exp() + 1), step(x))
    assert.is_true(count[1] <= 2)
  end)

  it("draws the numbers that eager code draws", function()
    same(function(x) return x + la.randn(4), la.dropout(x, 0.5, true) end,
         function() return la.randn(4) end)
    local g, h = la.Generator(3), la.Generator(3)
    local step = la.compile(function(x)
      return x + la.rand(4, {generator = g})
    end)
    for _ = 1, 3 do
      local x = la.randn(4)
      assert.equal(x + la.rand(4, {generator = h}), step(x))
    end
  end)

  it("looks at what arguments share", function()
    local step, count = counted(function(x, y) x:add_(1) return x + y end)
    local base = la.zeros(5)
    for i = 1, 2 do
      local a, b = la.zeros(4), la.zeros(4)
      assert.equal(la.ones(4), step(a, b))
      assert.equal(la.full({4}, 2), step(a:zero_(), a))
      base:zero_()
      assert.same({2, 2, 2, 1}, step(base[{{1, 4}}], base[{{2, 5}}]):totable())
      assert.equal(3 * 1, count[1], i)
    end
  end)

  it("is a part of other transforms and of itself", function()
    local inner = la.compile(function(x) return x * 2 end)
    local outer, count = counted(function(x) return inner(x) + 1 end)
    for _ = 1, 3 do
      local x = la.randn(2, 3)
      assert.equal(x * 2 + 1, outer(x))
      assert.equal(x * 2, la.vmap(inner)(x))
      assert.equal(x * 2 + 1, la.fuse(function(v) return inner(v) + 1 end)(x))
    end
    assert.equal(1, count[1])
    same(function(x) return la.vmap(function(v) return v:sum() * v end)(x) end,
         function() return la.randn(3, 4) end)
  end)

  it("hands on f's errors, and works afterwards", function()
    local step = la.compile(function(x, bad)
      if bad then error({code = 5}) end
      return x + 1
    end)
    local ok, e = pcall(step, la.ones(2), true)
    assert.is_false(ok)
    assert.equal(5, e.code)
    assert.equal(la.full({2}, 2), step(la.ones(2)))
    local add = la.compile(function(x, i) x:add_(1) return x:index_select(1, i)
    end)
    local x = la.zeros(3)
    add(x, la.tensor{1, 2})
    local _, text = pcall(add, x, la.tensor{1, 9})
    assert.matches("index_select", text)
    assert.same({2, 2, 2}, x:totable())
  end)

  it("does not yield out of f", function()
    local step = la.compile(function(x) coroutine.yield() return x end)
    local co = coroutine.create(function() step(la.ones(1)) end)
    local ok, text = coroutine.resume(co)
    assert.is_false(ok)
    assert.matches("yield", text)
    local one = la.compile(function(x) return x * 1 end)
    assert.equal(la.ones(1), one(la.ones(1)))
  end)

  it("refuses to read values that the next call has others of", function()
    local function refuses(name, f, ...)
      local ok, text = pcall(la.compile(f), la.ones(3), la.zeros(3), ...)
      assert.is_false(ok)
      assert.matches("compile_spec.lua:%d+: ", text)
      assert.matches(name, text)
      assert.matches("la.where, la.cond, la.while_loop or la.scan", text)
    end
    refuses("item", function(x) return x:sum():item() end)
    refuses("totable", function(x) return x:totable() end)
    refuses("tostring", function(x) local s = tostring(x) return s end)
    refuses("==", function(x, y) return x * 2 == y end)
    refuses("any", function(x) return x:gt(0):any() end)
    refuses("nonzero", function(x) return x:nonzero() end)
    refuses("index", function(x) return x[x:gt(0)] end)
    refuses("masked_select", function(x) return x:masked_select(x:gt(0)) end)
    refuses("unique", function(x) return x:unique() end)
    local w = la.ones(2)
    assert.equal(la.full({3}, 2), la.compile(function(x)
      return x + w:sum():item() / 2
    end)(la.ones(3)))
  end)

  it("runs Lua between the parts with 'partial'", function()
    local step = la.compile(function(x)
      if x:sum():item() > 0 then return x * 2 end
      return x * 3
    end, {partial = true})
    for _ = 1, 2 do
      assert.same({2, 2}, step(la.ones(2)):totable())
      assert.same({-3, -3}, step(-la.ones(2)):totable())
    end
  end)

  it("has modes in its signature", function()
    local step, count = counted(function(x) return x * 2, la.zeros(1) end)
    local x = la.ones(2, {requires_grad = true})
    for _ = 1, 2 do
      assert.is_true(step(x).requires_grad)
      assert.is_false(la.no_grad(step, x).requires_grad)
      la.set_default_dtype("float64")
      assert.equal("float64", select(2, step(x)).dtype)
      la.set_default_dtype("float32")
    end
    assert.equal(3, count[1])
  end)

  it("tells of itself", function()
    local step = la.compile(function(x) return (x * 2):exp():sum() end)
    assert.is_nil(step:program())
    step(la.ones(2, 3))
    local p = step:program()
    assert.equal(3, #p)
    local steps = p:steps()
    assert.same({"mul", "exp", "sum"},
      {steps[1].op, steps[2].op, steps[3].op})
    assert.same({{2, 3}}, steps[1].shapes)
    assert.is_true(steps[1].line > 0)
    local lines = {}
    for line in tostring(p):gmatch("[^\n]+") do lines[#lines + 1] = line end
    assert.equal("program of 3 steps", lines[1])
    assert.matches("^  mul float32{2, 3}  .*compile_spec.lua:%d+$", lines[2])
    assert.equal(4, #lines)
    local text = step:explain()
    for _, word in ipairs{"steps", "dead", "memory", "arena", "packed",
      "bound by", "compile_spec.lua"} do
      assert.matches(word, text, 1, true)
    end
    local times, result = step:profile(la.ones(2, 3))
    assert.equal(3, #times)
    assert.is_true(times[1].seconds >= 0)
    assert.equal((la.ones(2, 3) * 2):exp():sum(), result)
  end)

  it("says what it is bound by", function()
    local function text(f, ...)
      local step = la.compile(f)
      step(...)
      return step:explain()
    end
    local x, one = la.rand(100000), la.ones(3)
    assert.matches("bound by memory", text(function(a) return a + a end, x))
    assert.matches("bound by arithmetic: functions of elements",
      text(function(a) return (a:exp() + 1):log():sin() end, x))
    assert.matches("bound by arithmetic: products",
      text(function(a) return a:matmul(a) end, la.ones(100, 100)))
    assert.matches("bound by calls", text(function(a) return a + a end, one))
    local walk = text(function(a) return ((a + 1) * a):exp() end, x)
    assert.matches("one walk over memory: 3 steps, reads 400 KB, writes 400 KB",
      walk, 1, true)
    assert.matches(" 100 %%  one walk", walk)
    local kept = text(function(a) return a * la.ones(3):exp() end, one)
    assert.matches("exp float32{3}  [^\n]*its result is kept", kept)
  end)

  it("runs in parts", function()
    local w = la.zeros(8)
    local function f(x, t)
      local y = x
      for _ = 1, 10 do y = y:matmul(x):tanh() end
      w:add_(y[1])
      return y, {k = y + t[1], n = 3}
    end
    local step = la.compile(f)
    for k = 1, 4 do
      local x, t, parts, ok, y, r = la.randn(8, 8), {la.ones(8)}, 0, nil
      step:begin(x, t)
      assert.is_false((pcall(step.begin, step, x, t)))
      repeat
        ok, y, r = step:advance(0.001)
        parts = parts + 1
        if k == 3 and not ok then assert.equal(3, select(2, step(x, t)).n) end
      until ok or parts > 100
      local other = w:clone()
      w:zero_()
      local want = f(x, t)
      assert.equal(want, y)
      assert.equal(want + 1, r.k)
      assert.equal(3, r.n)
      assert.equal(k == 3, other ~= w)
      w:zero_()
    end
    local x = la.randn(8, 8)
    step:begin(x, {la.ones(8)})
    x:add_(1)
    local ok, text = pcall(step.advance, step, 1e6)
    assert.is_false(ok)
    assert.matches("was written", text)
    assert.is_false((pcall(step.advance, step, 1)))
  end)

  it("writes into given tensors", function()
    local step = la.compile(function(x) return x * 2, x:t() end)
    local one = la.compile(function(x) return x:exp() end)
    for _ = 1, 3 do
      local x, a, b, c = la.randn(2, 3), la.empty(2, 3), la.empty(3, 2),
        la.empty(2, 3)
      local version = c._version
      local outs = {a, b}
      assert.equal(outs, step:into(outs, x))
      assert.equal(x * 2, a)
      assert.equal(x:t(), b)
      assert.is_true(rawequal(c, one:into(c, x)))
      assert.equal(x:exp(), c)
      assert.equal(version + 1, c._version)
      assert.equal(x:exp():exp(), one:into(c, c))
      assert.is_false((pcall(one.into, one, la.empty(3, 2), x)))
      assert.is_false((pcall(one.into, one, la.empty(2, 3):double(), x)))
    end
  end)
end)

describe("passes", function()
  -- f compiled in all ways, next to f itself.
  local function agree(f, make, pattern)
    local ways = {la.compile(f), la.compile(f, {without = {"fuse", "same",
      "fold", "dead", "views", "memory", "epilogue", "pack", "layout",
      "threads", "fill", "one"}})}
    for _ = 1, 3 do
      local args = table.pack(make())
      local function copies()
        local list = {}
        for k = 1, args.n do list[k] = args[k]:clone() end
        return list
      end
      local own = copies()
      local want = table.pack(f(table.unpack(own)))
      for _, step in ipairs(ways) do
        local others = copies()
        local got = table.pack(step(table.unpack(others)))
        for k = 1, want.n do assert.equal(want[k], got[k]) end
        for k = 1, args.n do assert.equal(own[k], others[k]) end
      end
    end
    if pattern then assert.matches(pattern, ways[1]:explain()) end
    assert.matches("left out", ways[2]:explain())
  end
  local function large() return la.randn(90, 120), la.randn(90, 120) end

  it("join chains, rows and several results", function()
    agree(function(x, y) return ((x * 1.5 + y):exp() - x) * 0.5 end, large,
          "fuse: [^\n]*: 5\n")
    agree(function(x, y)
      local z = x * y
      local d = z - z:mean(2, true)
      return d / (d * d):mean(2, true):sqrt(), z:sum(2)
    end, large, "fuse: [^\n]*: 8\n")
    agree(function(x, y)
      local a = x * 2
      local b = (a + 1):matmul(y:t())
      local c = (b * 2 + 1):tanh()
      return c:sum(), a, c:t() + 1
    end, large)
    agree(function(x, y)
      x:mul_(2)
      local a = (x + y):sigmoid() * x
      y:add_(a)
      return a * a, (x - y):square():sum()
    end, large)
    agree(function(x, y)        -- results of the chain that are written again
      local a = x * y
      local b = a + 1
      a:add_(b):mul_(y)
      la.exp(a, {out = b})
      return a, b, a + b
    end, large, "fuse: [^\n]*: 6\n")
    agree(function(x, y)        -- the same memory in two geometries
      local a = x:t()
      x:add_(1)
      return a * 2, x:narrow(2, 1, 60):mul_(x:narrow(2, 61, 60)) + 1, y
    end, large)
  end)

  it("pack constant matrices, anew after each write", function()
    local w, b = la.randn(20, 30), la.randn(20)
    local function f(x) return la.linear(x, w, b):relu() end
    for _, dtype in ipairs{"float32", "float64"} do
      w, b = w:to(dtype), b:to(dtype)
      local step, plain = la.compile(f), la.compile(f, {without = {"pack"}})
      for k = 1, 6 do
        for _, rows in ipairs{1, 8, 9, 70} do
          local x = la.randn(rows, 30, {dtype = dtype})
          local want = f(x)
          assert.equal(want, step(x))
          assert.equal(want, plain(x))
        end
        if k == 2 then w:mul_(2) end
        if k == 3 then la.no_grad(w.copy_, w, w * 3) end
      end
      assert.matches("pack: [^\n]*: 1\n", step:explain())
      assert.matches("pack: left out", plain:explain())
      local bytes = dtype == "float32" and "2400 bytes" or "4800 bytes"
      assert.matches("packed: " .. bytes, step:explain())
    end
    local step = la.compile(function(x)     -- written inside: no constant
      w:add_(1)
      return x:matmul(w:t())
    end)
    local own = w:clone()
    for _ = 1, 3 do
      local x = la.randn(12, 30, {dtype = "float64"})
      own:add_(1)
      assert.equal(x:matmul(own:t()), step(x))
    end
    assert.matches("pack: [^\n]*: 0\n", step:explain())
  end)

  it("leave out what repeats, what nobody reads and what is constant",
     function()
    local w = la.randn(4)
    local f = function(x)
      local _ = x:cos()
      return (x * 2):exp() + (x * 2):exp() + w:exp() * la.ones(4)
    end
    agree(f, function() return la.randn(4) end)
    local step = la.compile(f)
    step(la.ones(4))
    local text = step:explain()
    assert.matches("dead: [^\n]*: 1\n", text)
    assert.matches("same: [^\n]*: 2\n", text)
    assert.matches("one: [^\n]*: 1\n", text)
    assert.matches("fold" .. ": [^\n]*: 2\n", text)
    for _ = 1, 3 do
      local x = la.randn(4)
      assert.equal(f(x), step(x))
      w:add_(1)
      assert.equal(f(x), step(x))
    end
  end)

  it("begin a backward pass with constants", function()
    local function f(x)
      x = x:detach():requires_grad_()
      return (la.grad(la.silu(x):sum(), x))
    end
    agree(f, function() return la.randn(40) end)
    local step = la.compile(f)
    step(la.ones(4))
    local text = step:explain()
    assert.matches("fill: [^\n]*: 1\n", text)
    assert.matches("dead: [^\n]*: 2\n", text)
    assert.matches("one: [^\n]*: 1\n", text)
    local function like(x)
      return la.ones_like(x:exp()) * x, la.full_like(x:sum(), 2)
    end
    agree(like, function() return la.randn(5, 3):t() end)
  end)

  it("share memory among what does not meet", function()
    local function f(x)
      for _ = 1, 20 do x = x:matmul(x):tanh() end
      return x
    end
    agree(f, function() return la.randn(8, 8) end)
    local step = la.compile(f)
    step(la.randn(8, 8))
    assert.matches("arena: 512 bytes", step:explain())
  end)

  it("have names", function()
    local ok, text = pcall(la.compile, print, {without = {"nonsense"}})
    assert.is_false(ok)
    assert.matches("unknown pass 'nonsense'", text)
  end)
end)

describe("a compiled training step", function()
  -- Losses, parameters, gradients and how often the step's code ran.
  local function train(make, compiled)
    la.manual_seed(1)
    local net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(),
                              nn.Dropout(0.2), nn.Linear(8, 3))
    local opt = make(net:parameters())
    local runs = 0
    local function one(x, y)
      runs = runs + 1
      opt:zero_grad()
      local loss = la.cross_entropy(net(x), y)
      loss:backward()
      opt:step()
      return loss
    end
    local step, out = compiled and la.compile(one) or one, {}
    for i = 1, 12 do
      if i == 5 then for _, g in ipairs(opt.param_groups) do g.lr = 0.01 end end
      if i == 8 then net:eval() end
      if i == 10 then
        net[1].weight = nn.Parameter(net[1].weight:clone())
        opt = make(net:parameters())
      end
      local x, y = la.randn(16, 6), la.randint(1, 3, {16})
      out[#out + 1] = step(x, y):item()
    end
    for _, p in pairs(net:state_dict()) do out[#out + 1] = p:detach() end
    for _, p in ipairs(net:parameters()) do out[#out + 1] = p.grad end
    for _, s in pairs(opt:state_dict().state) do
      local keys = {}
      for key in pairs(s) do keys[#keys + 1] = key end
      table.sort(keys)
      for _, key in ipairs(keys) do out[#out + 1] = s[key] end
    end
    return out, runs
  end

  for name, make in pairs{
    SGD = function(p) return optim.SGD(p, {lr = 0.05}) end,
    momentum = function(p)
      return optim.SGD(p, {lr = 0.05, momentum = 0.9, nesterov = true})
    end,
    Adam = function(p) return optim.Adam(p, {lr = 0.05, amsgrad = true}) end,
    AdamW = function(p) return optim.AdamW(p, {lr = 0.05}) end,
    RMSprop = function(p)
      return optim.RMSprop(p, {lr = 0.05, momentum = 0.5, centered = true})
    end,
    Adagrad = function(p)
      return optim.Adagrad(p, {lr = 0.05, lr_decay = 0.1})
    end,
  } do
    it("is the eager one: " .. name, function()
      local a, runs = train(make, false)
      local b, recordings = train(make, true)
      assert.equal(12, runs)
      assert.equal(3, recordings)
      assert.equal(#a, #b)
      for i = 1, #a do assert.equal(a[i], b[i], i) end
    end)
  end

  it("adds to gradients that are there", function()
    local w = la.ones(3, {requires_grad = true})
    local v = la.ones(3, {requires_grad = true})
    local function f(p) return function(x) (p * x):sum():backward() end end
    local step, eager = la.compile(f(w)), f(v)
    for i = 1, 5 do
      if i == 4 then w.grad, v.grad = nil, nil end
      local x = la.randn(3)
      step(x)
      eager(x)
      assert.equal(v.grad, w.grad)
    end
  end)

  it("gives a loss whose history is used up", function()
    local w = la.ones(3, {requires_grad = true})
    local step = la.compile(function(x)
      local loss = (w * x):sum()
      loss:backward()
      return loss
    end)
    for _ = 1, 3 do
      local loss = step(la.ones(3))
      assert.is_true(loss.requires_grad)
      local ok, text = pcall(loss.backward, loss)
      assert.is_false(ok)
      assert.matches("second time", text)
    end
  end)

  it("clips gradients and runs hooks", function()
    local function run(compiled)
      la.manual_seed(3)
      local net = nn.Linear(4, 2)
      net.weight:register_hook(function(g) return g * 2 end)
      local opt = optim.SGD(net:parameters(), {lr = 0.1})
      local function one(x)
        opt:zero_grad()
        net(x):square():sum():backward()
        local norm = nn.clip_grad_norm_(net:parameters(), 0.5)
        opt:step()
        return norm
      end
      local step = compiled and la.compile(one) or one
      local norms = {}
      for i = 1, 5 do norms[i] = step(la.randn(3, 4)) end
      return net.weight:detach(), norms
    end
    local a, na = run(false)
    local b, nb = run(true)
    assert.equal(a, b)
    for i = 1, 5 do assert.equal(na[i], nb[i]) end
  end)
end)

describe("derivatives of a compiled function", function()
  local function gradients(f, w, x)
    w.grad, x.grad = nil, nil
    f(x):sum():backward()
    return w.grad, x.grad
  end

  it("are those of the function", function()
    local w = la.randn(4, 4, {requires_grad = true})
    local function f(x)
      local h = x:matmul(w):tanh()
      return h[{1, 1}] + h:sum(1) * h:detach():mean()
    end
    local step, count = counted(f)
    for _ = 1, 4 do
      local x = la.randn(2, 4, {requires_grad = true})
      local gw, gx = gradients(step, w, x)
      local ew, ex = gradients(f, w, x)
      assert.equal(ew, gw)
      assert.equal(ex, gx)
    end
    assert.equal(1, count[1])
  end)

  it("go on from arguments that have a history", function()
    local w = la.randn(3, {requires_grad = true})
    local function f(x) return (x * x):cos() end
    local step = la.compile(f)
    for _ = 1, 3 do
      w.grad = nil
      step(w * 2):sum():backward()
      local g = w.grad
      w.grad = nil
      f(w * 2):sum():backward()
      assert.equal(w.grad, g)
    end
  end)

  it("have derivatives", function()
    local function f(x) return (x * x * x):sum() end
    local step = la.compile(f)
    for _ = 1, 3 do
      local x = la.randn(3, {requires_grad = true})
      local function second(h)
        local g = la.grad(h(x), x, {create_graph = true})
        return la.grad(g:sum(), x)
      end
      assert.equal(second(f), second(step))
    end
  end)

  it("pass through changes in place", function()
    local function f(x)
      local y = x * 2
      y[1]:mul_(x[2])
      y:add_(x:exp())
      return y
    end
    local step = la.compile(f)
    for _ = 1, 3 do
      local x = la.randn(3, {requires_grad = true})
      f(x):sum():backward()
      local g = x.grad
      x.grad = nil
      step(x):sum():backward()
      assert.equal(g, x.grad)
    end
  end)
end)
