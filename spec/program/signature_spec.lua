-- Which calls of a compiled function a recording is for, and what comes back:
-- compared with the function itself.
local la = require "lunarray"
local counted = require "spec.support.programs.counted"

describe("a recording", function()
  it("is for numbers of the same bits", function()
    local step, count = counted(function(x, n) return x * n end)
    local x = la.ones(2)
    for _ = 1, 3 do
      assert.equal(-math.huge, 1 / step(x, -0.0)[1]:item())
      assert.equal(math.huge, 1 / step(x, 0.0)[1]:item())
      assert.is_true(step(x, math.huge - math.huge):isnan():all())
      step(x, 0)
    end
    assert.equal(4, count[1])
  end)

  it("is for arguments that share memory in the same way", function()
    local function f(x, y) x:add_(1) return y * 2 end
    local step, count = counted(f)
    local makes = {
      function() return la.ones(3), la.ones(3) end,
      function() local x = la.ones(3) return x, x end,
      function() local x = la.ones(3) return x, x:view(3) end,
      function() local b = la.ones(4) return b[{{1, 3}}], b[{{2, 4}}] end,
      function() local b = la.ones(8) return b[{{1, 3}}], b[{{4, 6}}] end,
    }
    for _ = 1, 3 do
      for _, make in ipairs(makes) do assert.equal(f(make()), step(make())) end
    end
    assert.equal(5, count[1])
  end)

  it("is for arguments that f reaches by itself, too, or does not", function()
    local w = la.zeros(4)
    local function f(x) w:add_(1) return x * 2 end
    for _, order in ipairs{{1, 2, 3, 1, 2, 3}, {2, 1, 3, 2, 1, 3}} do
      local step, count = counted(f)
      for _, way in ipairs(order) do
        local function argument()
          w:fill_(way)
          return way == 1 and la.ones(4) or way == 2 and w or w[{{1, 2}}]
        end
        assert.equal(f(argument()), step(argument()))
      end
      assert.equal(3, count[1])
    end
    local t = {deep = {w}}
    local function g(x) t.deep[1]:mul_(2) return x + 1 end
    local step = la.compile(g)
    w:fill_(1)
    assert.equal(la.full({4}, 3.), step(w))
    assert.equal(la.full({4}, 2.), step(la.ones(4)))
  end)

  it("is for names, layouts and needs of gradients", function()
    local step, count = counted(function(x) return x * 2 end)
    local x = la.randn(2, 3, 4, 5)
    local calls = {x, x:contiguous{memory_format = "channels_last"},
      x:permute(4, 3, 2, 1), x:rename("n", "c", "h", "w"),
      x:clone():requires_grad_()}
    for _ = 1, 2 do
      for _, t in ipairs(calls) do
        local y = step(t)
        assert.same((t * 2).names, y.names)
        assert.same({(t * 2):stride()}, {y:stride()})
        assert.equal(t.requires_grad, y.requires_grad)
      end
    end
    assert.equal(5, count[1])
    local b = la.arange(10):float()
    step, count = counted(function(v) return v * 2 end)
    for i = 1, 5 do
      assert.equal(b[{{i, i + 2}}] * 2, step(b[{{i, i + 2}}]))
    end
    assert.equal(1, count[1])
  end)

  it("is for tables of the same keys, in any order", function()
    local step, count = counted(function(o) return o.a + o.b, o[1] end)
    for i = 1, 4 do
      local o = {}
      local keys = i % 2 == 0 and {"a", "b"} or {"b", "a"}
      for k, key in ipairs(keys) do o[key] = la.full({1}, k) end
      o[1] = "x"
      local sum, text = step(o)
      assert.equal(3, sum:item())
      assert.equal("x", text)
    end
    assert.equal(1, count[1])
  end)
end)

describe("results of a compiled function", function()
  it("are what the arguments' tables have", function()
    local step, count = counted(function(o)
      return o.x, o.sub, o.sub[1], {o.x}
    end)
    for _ = 1, 3 do
      local o = {x = la.ones(1), sub = {la.ones(2), 3}}
      local x, sub, first, list = step(o)
      assert.is_true(rawequal(x, o.x))
      assert.is_true(rawequal(sub, o.sub))
      assert.is_true(rawequal(first, o.sub[1]))
      assert.is_true(rawequal(list[1], o.x))
    end
    assert.equal(1, count[1])
  end)

  it("are one table where f gave one twice", function()
    local step = la.compile(function(x)
      local t = {x * 2}
      t.own = t
      return t, {t, {x + 1}}
    end)
    for _ = 1, 3 do
      local a, b = step(la.ones(1))
      assert.is_true(rawequal(a, b[1]))
      assert.is_true(rawequal(a, a.own))
      assert.equal(2, a[1]:item())
      assert.equal(2, b[2][1]:item())
    end
  end)

  it("go into a table of their structure", function()
    local step, count = counted(function(x)
      return {a = x * 2, b = {x + 1, n = 3, s = "k"}}, x:sum(), nil, 5
    end)
    local outs = {{a = la.empty(3), b = {la.empty(3)}}, la.empty({})}
    for _ = 1, 3 do
      local x = la.randn(3)
      assert.equal(outs, step:into(outs, x))
      assert.equal(x * 2, outs[1].a)
      assert.equal(x + 1, outs[1].b[1])
      assert.equal(x:sum(), outs[2])
    end
    assert.equal(1, count[1])
    for _, bad in ipairs{{{a = la.empty(3), b = {la.empty(4)}}, la.empty({})},
      {{a = la.empty(3)}, la.empty({})}, la.empty(3)} do
      assert.is_false((pcall(step.into, step, bad, la.ones(3))))
    end
  end)

  it("need no memory of Lua where they go into tensors", function()
    local step = la.compile(function(x)
      return {a = x * 2, b = {x + 1}}, x:sum()
    end)
    local x = la.ones(100)
    local outs = {{a = la.empty(100), b = {la.empty(100)}}, la.empty({})}
    for _ = 1, 3 do step:into(outs, x) end
    collectgarbage()
    collectgarbage("stop")
    local before = collectgarbage("count")
    for _ = 1, 100 do step:into(outs, x) end
    local after = collectgarbage("count")
    collectgarbage("restart")
    assert.equal(before, after)
  end)
end)

describe("a compiled function", function()
  it("is a function for what takes one", function()
    local step = la.compile(function(x) return (x * x * x):sum() end)
    for _ = 1, 2 do
      local x = la.randn(3)
      local function f(t) return (t * t * t):sum() end
      assert.equal(la.hessian(f, x), la.hessian(step, x))
      assert.equal(la.jacobian(f, x), la.jacobian(step, x))
    end
  end)
end)
