-- step:into: results of every structure and layout, and what it refuses,
-- before the plan (the first calls) and with it.
local la = require "lunarray"

describe("results that are written into given tensors", function()
  it("have the structure of the function's", function()
    local step = la.compile(function(x)
      return {a = x * 2, b = {x + 1}}, x:sum()
    end)
    for _ = 1, 3 do
      local x, sum = la.randn(3), la.empty{}
      local t = {a = la.empty(3), b = {la.empty(3)}}
      step:into({t, sum}, x)
      assert.equal(x * 2, t.a)
      assert.equal(x + 1, t.b[1])
      assert.equal(x:sum(), sum)
    end
  end)

  it("may be arguments, views, and overlap arguments", function()
    local function f(x) return (x * 2 + 1):exp() end
    local step = la.compile(f)
    for _ = 1, 3 do
      local x = la.randn(4, 5)
      local want = f(x)
      for _, out in ipairs{la.empty(5, 4):t(),
        la.zeros(8, 10)[{{1, 8, 2}, {1, 10, 2}}], x:clone()} do
        step:into(out, x)
        assert.equal(want, out)
      end
      step:into(x, x)
      assert.equal(want, x)
      local base = la.randn(30)
      local a = base:narrow(1, 1, 20):view(4, 5)
      local b = base:narrow(1, 6, 20):view(4, 5)
      want = f(a:clone())
      step:into(b, a)
      assert.equal(want, b)
      local one = la.empty{}
      step:into(one, la.tensor(1.))
      assert.equal(f(la.tensor(1.)), one)
      step:into(la.empty(0), la.empty(0))
    end
  end)

  it("may be what the function was given or captures", function()
    local w = la.ones(4)
    for _, f in ipairs{function(x) return x end, function() return w end,
      function(x) return x:view(4) end} do
      local step = la.compile(f)
      for _ = 1, 3 do
        local out = la.empty(4)
        step:into(out, la.ones(4))
        assert.equal(la.ones(4), out)
      end
    end
  end)

  it("are refused by name, and nothing is written", function()
    local step = la.compile(function(x) return x * 2, {k = x + 1} end)
    local x = la.ones(2)
    local function refuses(text, outs)
      local ok, why = pcall(step.into, step, outs, x)
      assert.is_false(ok)
      assert.matches(text, why, 1, true)
    end
    for _ = 1, 3 do
      local a = la.zeros(2)
      refuses("into: result 2: float32 tensor of [2] expected, got float32 "
        .. "tensor of [3]", {a, {k = la.zeros(3)}})
      refuses("into: result 2: float32 tensor of [2] expected, got float64 "
        .. "tensor of [2]", {a, {k = la.zeros(2):double()}})
      refuses("into: result 2: a tensor expected, got nil", {a, {}})
      refuses("into: result 2: a tensor expected, got number", {a, {k = 3}})
      refuses("into: result 2: a table as the result expected, got tensor",
        {a, la.zeros(2)})
      refuses("into: result 1: a tensor expected, got nil", {})
      refuses("into: a list of tensors for 2 results expected, got tensor", a)
      assert.equal(la.zeros(2), a)
      assert.equal(0, a._version)
      step(x)
    end
    local one = la.compile(function(v) return v * 2 end)
    for _ = 1, 3 do
      assert.has_error(function() one:into(la.zeros(1):expand(3), la.ones(3))
      end)
      assert.has_error(function()
        one:into(la.zeros(3, {requires_grad = true}), la.ones(3))
      end)
    end
  end)
end)
