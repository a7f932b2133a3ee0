-- Faults in what users hang into a graph: each is an error that says where,
-- the engine works afterwards, and nothing stays behind. The C side, with
-- millions of nodes, is in spec/c/op/test_grad.c.
local la = require "lunarray"
local program = require "spec.support.program"
local stock = require "spec.support.interpreter"

local F64 = {dtype = "float64"}
local function leaf(values)
  return la.tensor(values, {dtype = "float64", requires_grad = true})
end

local raises = require "spec.support.raises"

local function collect() collectgarbage() collectgarbage() end

-- Live bytes before and after 'rounds' of f, when all has been collected.
local function growth(rounds, f)
  for k = 1, 50 do f(k) end
  collect()
  local before = la.memory()
  for k = 1, rounds do f(k) end
  collect()
  return la.memory() - before
end

local function engine_works()
  local x = leaf{1, 2}
  ;(x * x):sum():backward()
  assert.are.same({2.0, 4.0}, x.grad:totable())
end

---------------------------------------------------------------------------

-- What a function called by the engine may do wrong: name, function, and a
-- word of the error.
local function bad_results()
  return {
    {"gives a number", function() return 3 end, "number"},
    {"gives a string", function() return "g" end, "string"},
    {"gives another shape", function() return la.ones(5, F64) end, "shape"},
    {"gives a freed tensor", function(g)
      local t = g * 2
      t:free()
      return t
    end, "freed"},
  }
end

-- What a function called by the engine may raise.
local own_errors = {
  {"raises", function() error("my own words", 0) end, "my own words"},
  {"raises zeros and escapes", function() error("a\0b\27[1m", 0) end,
    "a\0b\27[1m"},
  {"raises a table", function() error(la) end, la},
  {"raises nil", function() error() end, nil},
  {"raises false", function() error(false) end, false},
  {"yields", function() coroutine.yield() end,
    "attempt to yield from outside a coroutine"},
}

local function check_own(row, f)
  for _ = 1, 2 do           -- nothing of the first is left for the second
    local ok, why = pcall(f)
    assert.is_false(ok)
    if row[3] == nil then
      assert.is_true(stock.is_no_error(why), tostring(why))
    else
      assert.is_true(rawequal(why, row[3]), tostring(why))
    end
  end
  raises("does not require grad", function() la.ones(2):sum():backward() end)
  engine_works()
end

describe("a hook that", function()
  for _, row in ipairs(own_errors) do
    it(row[1] .. " ends backward with that value", function()
      local x = leaf{1, 2}
      for _, t in ipairs{x, x * 3} do
        local h = t:register_hook(row[2])
        check_own(row, function() (t * 2):sum():backward() end)
        h:remove()
      end
      local y = x * 3
      y:register_hook(row[2])
      check_own(row, function() return la.grad((y * 2):sum(), x) end)
    end)
  end

  for _, row in ipairs(bad_results()) do
    it(row[1] .. " ends backward with an error", function()
      local x = leaf{1, 2}
      for _, t in ipairs{x, x * 3} do
        local h = t:register_hook(row[2])
        raises("hook", function() (t * 2):sum():backward() end)
        raises(row[3], function() (t * 2):sum():backward() end)
        h:remove()
      end
      engine_works()
    end)
  end

  it("gives another dtype ends backward with an error", function()
    local x = leaf{1, 2}
    local h = x:register_hook(function(g) return g:float() end)
    raises("dtype", function() (x * 2):sum():backward() end)
    h:remove()
    engine_works()
  end)

  it("yields in a coroutine does not leave it", function()
    local x = leaf{1}
    x:register_hook(function() coroutine.yield(1) end)
    local co = coroutine.create(function() (x * 2):sum():backward() end)
    local ok, why = coroutine.resume(co)
    assert.is_false(ok)
    assert.is_truthy(tostring(why):find("yield across a C-call boundary", 1,
      true), tostring(why))
    assert.are.equal("dead", coroutine.status(co))
    engine_works()
  end)

  it("frees its tensors changes nothing for others", function()
    local x = leaf{1, 2}
    local y = x * 3
    y:register_hook(function(g)
      y:free()
      g:free()
    end)
    local z = (y * y):sum()
    z:backward()
    assert.are.same({18.0, 36.0}, x.grad:totable())
    assert.is_false(pcall(function() return y + 1 end))
  end)

  it("frees the leaf itself is safe", function()
    local x = leaf{1, 2}
    local seen = 0
    x:register_hook(function()
      seen = seen + 1
      x:free()
      collect()
    end)
    local z = (x * 3):sum()
    z:backward()
    assert.are.equal(1, seen)
    engine_works()
  end)

  it("outlives its leaf as long as the graph does", function()
    local seen = 0
    local z
    do
      local x = leaf{1, 2}
      x:register_hook(function() seen = seen + 1 end)
      z = (x * 3):sum()
    end
    collect()
    z:backward()
    assert.are.equal(1, seen)
  end)

  it("calls backward runs that, too", function()
    local x, w = leaf{1, 2}, leaf{3, 4}
    local order = {}
    x:register_hook(function(g)
      order[#order + 1] = "outer"
      la.enable_grad(function() (w * w):sum():backward() end)
      order[#order + 1] = "inner"
      return g * 2
    end)
    ;(x * 3):sum():backward()
    assert.are.same({"outer", "inner"}, order)
    assert.are.same({6.0, 6.0}, x.grad:totable())
    assert.are.same({6.0, 8.0}, w.grad:totable())
  end)

  it("calls backward on the graph that runs keeps both apart", function()
    local x = leaf{2}
    local y = x * x
    local once = true
    local z = (y * 3):sum()
    y:register_hook(function()
      if not once then return end
      once = false
      z:backward{retain_graph = true}
    end)
    z:backward{retain_graph = true}
    assert.are.same({24.0}, x.grad:totable())
  end)

  it("calls backward 10,000 deep gets an error, not a crash", function()
    local depth = 0
    local function deeper()
      depth = depth + 1
      if depth > 10000 then return end
      local x = leaf{1}
      x:register_hook(function() la.enable_grad(deeper) end)
      ;(x * 2):sum():backward()
    end
    raises("stack overflow", deeper)
    assert.is_true(depth < 10000)
    engine_works()
  end)

  it("fails leaks nothing", function()
    assert.is_true(growth(2000, function()
      local x = leaf{1, 2}
      local y = x * 3
      y:register_hook(function() error("no") end)
      pcall(function() (y * y):sum():backward() end)
    end) <= 4096)
  end)
end)

describe("a custom backward that", function()
  local function through(backward)
    return la.Function{
      forward = function(_, x) return x * 1 end,
      backward = function(_, g) return backward(g) end,
    }
  end

  for _, row in ipairs(own_errors) do
    it(row[1] .. " ends backward with that value", function()
      local f, x = through(row[2]), leaf{1, 2}
      check_own(row, function() f(x):sum():backward() end)
    end)
  end

  for _, row in ipairs(bad_results()) do
    it(row[1] .. " ends backward with an error", function()
      local f, x = through(row[2]), leaf{1, 2}
      raises(row[3], function() f(x):sum():backward() end)
      raises("CustomFunction", function()
        local why = raises(row[3], function() f(x):sum():backward() end)
        error(why:find("custom backward", 1, true) and "CustomFunction" or why)
      end)
      engine_works()
    end)
  end

  it("gives another float dtype is converted, as everywhere", function()
    local f, x = through(function(g) return g:float() end), leaf{1, 2}
    f(x):sum():backward()
    assert.are.equal("float64", x.grad.dtype)
  end)

  it("gives nil passes nothing on", function()
    local f, x = through(function() return nil end), leaf{1, 2}
    f(x):sum():backward()
    assert.is_nil(x.grad)
  end)

  it("gives too many results ends with an error", function()
    local f, x = through(function(g) return g, g end), leaf{1}
    raises("2 gradients for 1 inputs", function() f(x):sum():backward() end)
  end)

  it("calls backward 10,000 deep gets an error", function()
    local f
    f = through(function(g)
      la.enable_grad(function() f(leaf{1}):sum():backward() end)
      return g
    end)
    raises("stack overflow", function() f(leaf{1}):sum():backward() end)
    engine_works()
  end)

  it("frees what it was given is safe", function()
    local f = through(function(g)
      local out = g * 2
      g:free()
      return out
    end)
    local x = leaf{1, 2}
    f(x):sum():backward()
    assert.are.same({2.0, 2.0}, x.grad:totable())
  end)

  it("has more than 64 inputs gets a gradient for each", function()
    local sum = la.Function{
      forward = function(_, ...)
        local total = 0
        for _, x in ipairs{...} do total = total + x end
        return total
      end,
      backward = function(ctx, g)
        local out = {}
        for k = 1, #ctx.needs_input_grad do out[k] = g * k end
        return table.unpack(out)
      end,
    }
    local inputs = {}
    for k = 1, 200 do inputs[k] = leaf{k} end
    sum(table.unpack(inputs)):sum():backward()
    for k = 1, 200 do assert.are.equal(k, inputs[k].grad:item()) end
  end)
end)

---------------------------------------------------------------------------

describe("backward", function()
  it("has three errors of its own", function()
    local x = leaf{1, 2}
    local y = (x * x):sum()
    y:backward()
    local again = raises("second time", y.backward, y)
    local none = raises("does not require grad", la.ones(1).backward,
                        la.ones(1))
    local many = raises("scalar outputs", function() (x * 2):backward() end)
    for _, why in ipairs{again, none, many} do
      assert.is_truthy(why:find("backward", 1, true), why)
    end
  end)

  it("says which value was changed in place, and by how much", function()
    local x = leaf{1, 2}
    local y = x * 1
    local z = y:exp():sum()
    local e = y:tanh()
    local w = e:sum()
    e:mul_(2)
    raises("modified by an inplace operation: tanh", w.backward, w)
    raises("version", w.backward, w)
    z:backward()
  end)

  it("in anomaly mode shows NaN, and the line that made them", function()
    local x = leaf{0, 4}
    local function f() (x - 1):sqrt():sum():backward() end
    f()
    assert.is_true(la.isnan(x.grad):any())
    local why = raises("derivative of sqrt has NaN values", la.detect_anomaly,
                       f)
    assert.is_truthy(why:find("hardening_autograd_spec.lua:" .. debug.getinfo(f,
      "S").linedefined, 1, true), why)
    raises("derivative of sqrt has NaN values", la.detect_anomaly, function()
      la.detect_anomaly(function() end)         -- the outer one goes on
      f()
    end)
    x.grad = nil
    f()                             -- only there
    raises("second time", la.detect_anomaly, function()
      local y = (x * x):sum()
      y:backward()
      y:backward()
    end)
  end)

  it("fails before anything changed when arguments are wrong", function()
    local x = leaf{1, 2}
    local y = x * 2
    raises("shape", y.backward, y, la.ones(3, F64))
    raises("unknown keyword", y.backward, y, {retain = true})
    raises("tensor", y.backward, y, 3)
    raises("does not require grad", y.backward, y,
      {gradient = la.ones(2, F64), inputs = {la.ones(2)}})
    assert.is_nil(x.grad)
    y:backward(la.ones(2, F64))
    assert.are.same({2.0, 2.0}, x.grad:totable())
  end)

  it("refuses to change sizes or storage of what was recorded", function()
    local y = leaf{1, 2} * 2
    raises("requires grad", y.resize_, y, 5)
    raises("requires grad", y.set_, y, la.ones(3, F64))
    raises("requires grad", y.as_strided_, y, {1}, {1})
    assert.are.same({2}, {table.unpack(y.shape)})
  end)

  it("zeroes the history of what was overwritten", function()
    local x = leaf{1, 2}
    local y = x * 2
    y:uniform_()
    y:sum():backward()
    assert.are.same({0.0, 0.0}, (x.grad or la.zeros(2, F64)):totable())
    local z = x * 2
    z:gt_(1)
    z:sum():backward()
    assert.are.same({0.0, 0.0}, (x.grad or la.zeros(2, F64)):totable())
    raises("leaf Variable", x.uniform_, x)
  end)
end)

---------------------------------------------------------------------------

describe("memory", function()
  it("stays flat when a hook captures its own tensor", function()
    local n = 100000
    assert.is_true(growth(n, function()
      local x = leaf{1}
      local y
      y = x * 2
      y:register_hook(function(g) return g * y:detach() end)
    end) < 8 * 1024 * 1024)
  end)

  it("stays flat when few hooks capture large tensors", function()
    local x, most = la.ones(1000000, {requires_grad = true}), 0
    local before = la.memory()
    for _ = 1, 300 do
      local y = x * 2
      y:register_hook(function(g) return g * y:detach() end)
      most = math.max(most, la.memory() - before)
    end
    assert.is_true(most < 300 * 1024 * 1024, most)
  end)

  it("stays flat when a leaf's hook captures the leaf", function()
    assert.is_true(growth(20000, function()
      local x = leaf{1}
      x:register_hook(function(g) return g * x:detach() end)
      ;(x * 2):sum():backward()
    end) < 8 * 1024 * 1024)
  end)

  it("stays flat when a custom function keeps its results", function()
    local f = la.Function{
      forward = function(ctx, x)
        ctx.kept = {x * 2, x * 3}
        return table.unpack(ctx.kept)
      end,
      backward = function(_, g, h) return g * 2 + h * 3 end,
    }
    assert.is_true(growth(20000, function() f(leaf{1}) end) < 8 * 1024 * 1024)
    assert.is_true(growth(20000, function()
      local result
      local own = la.Function{
        forward = function(_, x) return x * 2 end,
        backward = function(_, g) return g * result:detach() end,
      }
      result = own(leaf{1})
      result:sum():backward()
    end) < 8 * 1024 * 1024)
  end)

  -- Graphs that never run backward, and those whose backward fails: nothing
  -- may lead from a node back to itself.
  local dropped = {
    ["a tensor times its own view"] = function(y) y:mul_(y:view(4)) end,
    ["a tensor times itself"] = function(y) y:mul_(y) end,
    ["a result kept by its node"] = function(y) y:tanh_() end,
    ["a part made of other parts"] = function(y) y[1] = y[2] * y[3] end,
    ["a view times another"] = function(y)
      local v = y[{{1, 2}}]
      y:mul_(2)
      v:mul_(y[{{3, 4}}])
    end,
    ["a history in a gradient"] = function(y, x)
      la.grad((y * y):sum(), x, {create_graph = true}):sum():backward()
    end,
    ["a retained gradient"] = function(y)
      y:retain_grad()
      ;(y * y):sum():backward()
    end,
    ["a checkpoint"] = function(y)
      la.checkpoint(function(a) return (a * a):tanh() end, y):sum():backward()
    end,
    ["pieces"] = function(y)
      local a = y:split(2)
      ;(a[1] * a[2]):sum():backward()
    end,
    ["a failing backward"] = function(y)
      local z = (y * y):sum()
      y:add_(1)
      pcall(z.backward, z)
    end,
  }
  for what, f in pairs(dropped) do
    it("stays flat with " .. what, function()
      assert.is_true(growth(1000, function()
        local x = leaf{1, 2, 3, 4}
        f(x * 1, x)
      end) <= 8192, what)
    end)
  end

  it("keeps hooks that a living graph still needs", function()
    local seen = 0
    local results = {}
    for k = 1, 3000 do
      local x = leaf{k}
      local y = x * 2
      y:register_hook(function(g)
        seen = seen + 1
        return g * 3
      end)
      results[k] = {x, y * 5}
    end
    for _ = 1, 3000 do      -- and many that nothing needs
      local y
      y = leaf{1} * 2
      y:register_hook(function() return y end)
    end
    collect()
    for k = 1, 3000 do results[k][2]:backward() end
    assert.are.equal(3000, seen)
    assert.are.same({30.0}, results[3000][1].grad:totable())
  end)

  -- In a program of its own: each whole collection walks over all that is
  -- alive, here what busted holds.
  it("may come from finalizers, in every step of a busy collector", function()
    local got = program.run("spec/support/limits/finalizer_hooks.lua")
    assert.are.same({out = "1 4\n", err = "", status = 0}, got)
    engine_works()
  end)

  it("is given back while backward runs", function()
    local x = la.ones(256, 1024, {requires_grad = true})
    local function peak_of(steps)
      local y = x
      for _ = 1, steps do y = y:exp() end     -- each keeps its result: 1 MiB
      local loss = y:sum()
      y = nil
      collect()
      local before = la.memory()
      local most = 0
      x.grad = nil
      local h = x:register_hook(function() most = la.memory() end)
      loss:backward()
      h:remove()
      return before - most
    end
    local freed = peak_of(30)
    assert.is_true(freed > 24 * 1024 * 1024, ("only %d freed"):format(freed))
  end)

  it("stays flat over 10,000 steps of training", function()
    local w = la.randn(8, 4, {requires_grad = true})
    local b = la.zeros(4, {requires_grad = true})
    local x, t = la.randn(16, 8), la.randint(4, {16})
    assert.is_true(growth(10000, function()
      w.grad, b.grad = nil, nil
      la.cross_entropy(la.linear(x, w:t(), b), t):backward()
      la.no_grad(function()
        w:sub_(w.grad, {alpha = 0.1})
        b:sub_(b.grad, {alpha = 0.1})
      end)
    end) <= 64 * 1024)
  end)
end)

describe("in-place changes of a leaf that needs a gradient", function()
  local makers = {
    tensor = function() return leaf{1, 2} end,
    ones = function() return la.ones(2, {requires_grad = true}) end,
    ["full"] = function() return la.full({2}, 1.5, {requires_grad = true}) end,
    randn = function() return la.randn(2, {requires_grad = true}) end,
    ["ones and requires_grad_"] =
      function() return la.ones(2):requires_grad_() end,
  }
  for name, make in pairs(makers) do
    it("are refused: " .. name, function()
      local x = make()
      local before = x:detach():clone()
      raises("a leaf Variable that requires grad", x.add_, x, 1)
      raises("a leaf Variable that requires grad", x.zero_, x)
      raises("a view of a leaf Variable", function() x[1] = 3 end)
      raises("a view of a leaf Variable", function() x:view(2, 1):mul_(2) end)
      assert.is_true(x:detach() == before)
      assert.is_true(x.is_leaf)
      la.no_grad(function() x:add_(1) end)
      assert.is_true(x:detach() == before + 1)
    end)
  end
end)

describe("gradients from Lua functions", function()
  local function backward_of(give)
    local f = la.Function{
      forward = function(_, x) return x * 2 end,
      backward = function(_, g) return give(g) end,
    }
    local x = la.ones(2, {requires_grad = true})
    return pcall(function() f(x):sum():backward() end)
  end
  local function hooked(give, on_leaf)
    local x = la.ones(2, {requires_grad = true})
    local y = on_leaf and x or x * 2
    y:register_hook(give)
    local ok, why = pcall(function() (y * 3):sum():backward() end)
    assert.is_nil(x.grad)
    return ok, why
  end

  it("of a custom backward are on the input's device, and real", function()
    local ok, why = backward_of(function(g) return g:to("meta") end)
    assert.is_false(ok)
    assert.is_truthy(tostring(why):find("expected device cpu but got meta"))
    ok, why = backward_of(function(g) return g:cfloat() end)
    assert.is_false(ok)
    assert.is_truthy(tostring(why):find("a real input is complex"))
    assert.is_true(backward_of(function(g) return g:double() end))
  end)

  it("of a hook are like the one it got", function()
    for _, on_leaf in ipairs{true, false} do
      for word, give in pairs{device = function(g) return g:to("meta") end,
        dtype = function(g) return g:cfloat() end,
        shape = function(g) return g:sum() end} do
        local ok, why = hooked(give, on_leaf)
        assert.is_false(ok)
        assert.is_truthy(tostring(why):find("keeps the gradient's " .. word),
          why)
      end
    end
  end)

  it("are never the tensor itself, nor on another device", function()
    local x = la.ones(2, {requires_grad = true})
    local ok, why = pcall(function() x.grad = x end)
    assert.is_false(ok)
    assert.is_truthy(tostring(why):find("as its own grad"), why)
    local y, square = la.ones(2), la.ones(2, 2, {requires_grad = true})
    for _, cycle in ipairs{
      function() x.grad = y y.grad = x end,
      function() x.grad = y x.grad.grad = x end,
      function()
        local z = la.ones(2)
        x.grad, y.grad, z.grad = y, z, x
      end,
      function() square.grad = square:t() end,
      function() square.grad = square:view(2, 2) end} do
      x.grad, y.grad = nil, nil
      ok, why = pcall(cycle)
      assert.is_false(ok)
      assert.is_truthy(tostring(why):find("keep itself alive"), why)
    end
    square.grad = square:detach():t()
    x.grad, y.grad = nil, nil
    ok, why = pcall(function() x.grad = la.ones(2, {device = "meta"}) end)
    assert.is_false(ok)
    assert.is_truthy(tostring(why):find("different device"), why)
    assert.is_nil(x.grad)
  end)

  it("of a custom backward are named by their number when they don't fit",
    function()
      local function message(wrong, ...)
        local args = table.pack(...)
        local f = la.Function{forward = function(_, _, a) return a * 1 end,
          backward = function(ctx, g)
            if ctx.needs_input_grad[3] then return nil, g, wrong end
            return nil, wrong
          end}
        local ok, why = pcall(function()
          f(table.unpack(args)):sum():backward()
        end)
        assert.is_false(ok)
        return tostring(why)
      end
      local x = la.ones(2, {requires_grad = true})
      assert.is_truthy(message(la.ones(7), 3, x):find("invalid gradient at "
        .. "index 2: got shape [7] but expected", 1, true))
      local y = la.ones(3, {requires_grad = true})
      assert.is_truthy(message(la.ones(7), 3, x, y):find("at index 3: got "
        .. "shape [7]", 1, true))
      assert.is_truthy(message(la.ones(3, {device = "meta"}), 3, x, y):find(
        "at index 3: expected device cpu", 1, true))
    end)
end)
