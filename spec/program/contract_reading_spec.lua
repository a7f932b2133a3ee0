-- Reading values in compiled functions: each way to do it that Lua has is an
-- error that names the line and what to use, or raises as Lua does; what does
-- not depend on an argument may be read.
local la = require "lunarray"

local x = la.tensor{1., -2, 3}
local counts = la.tensor({1, 2, 2}, {dtype = "int64"})
local written = la.zeros(3)

local refused = {
  item = {function(a) return a:sum():item() end, x},
  totable = {function(a) return a:totable() end, x},
  tostring = {function(a) return tostring(a) end, x},
  ["tostring of a result"] = {function(a) return "" .. tostring(a * 1) end, x},
  tostring_raw = {function(a) return a:tostring_raw() end, x},
  any = {function(a) if a:gt(0):any() then return a end return -a end, x},
  ["=="] = {function(a) return a == a * 2 end, x},
  ["<"] = {function(a) if a:sum() < 3 then return a end return -a end, x},
  equal = {function(a) return la.equal(a, a * 2) end, x},
  allclose = {function(a) return la.allclose(a, a * 2) end, x},
  nonzero = {function(a) return a:nonzero() end, x},
  argwhere = {function(a) return la.argwhere(a) end, x},
  ["where of one argument"] = {function(a) return la.where(a:gt(0)) end, x},
  ["a mask"] = {function(a) return a[a:gt(0)] end, x},
  masked_select = {function(a) return a:masked_select(a:gt(0)) end, x},
  unique = {function(a) return a:unique() end, x},
  bincount = {function(a) return la.bincount(a) end, counts},
  repeat_interleave = {function(a) return la.repeat_interleave(a, a) end,
    counts},
  ["a captured tensor that is written"] = {function(a)
    written:add_(a)
    return written:sum():item()
  end, x},
  ["an index of a table"] = {function(a)
    return ({10, 20, 30})[a:sum():long():item()]
  end, x}}

describe("a compiled function", function()
  for name, case in pairs(refused) do
    it("refuses " .. name, function()
      local step = la.compile(case[1])
      for _ = 1, 2 do
        local ok, why = pcall(step, case[2])
        assert.is_false(ok)
        assert.matches("contract_reading_spec.lua:%d+: ", why)
        assert.matches("la.where, la.cond, la.while_loop or la.scan", why)
      end
    end)
    it("runs with 'partial' with " .. name, function()
      local step = la.compile(case[1], {partial = true})
      for k = 1, 3 do
        local a = case[2] * k
        local before = written:clone()
        local want = case[1](a)
        written:copy_(before)
        local got = step(a)
        if la.is_tensor(want) then assert.equal(want, got)
        else assert.same(want, got) end
      end
    end)
  end

  it("reads what does not depend on an argument", function()
    local step = la.compile(function(a)
      return a * la.full({2}, 3):sum():item() * a:size(1) * a.ndim
    end)
    for _ = 1, 3 do assert.equal(la.full({2}, 12.), step(la.ones(2))) end
  end)

  it("runs the Lua between parts with derivatives", function()
    local w = la.randn(3, {requires_grad = true})
    local function f(a)
      local loss = (a * w):square():sum()
      if loss:item() > 1 then loss = loss * 0.5 end
      loss:backward()
      local grad = w.grad
      w.grad = nil
      return loss, grad
    end
    local step = la.compile(f, {partial = true})
    for i = 1, 5 do
      local a = la.full({3}, i * 0.3)
      local want, grad = f(a)
      local got, other = step(a)
      assert.equal(want, got)
      assert.equal(grad, other)
    end
  end)

  it("may run coroutines to their end", function()
    local step = la.compile(function(a)
      local make = coroutine.wrap(function()
        coroutine.yield(a * 2)
        coroutine.yield(a * 3)
      end)
      return make() + make()
    end)
    for _ = 1, 3 do assert.equal(la.full({1}, 5.), step(la.ones(1))) end
    local again = coroutine.wrap(function()
      coroutine.yield(step(la.ones(1)))
      return step(la.full({1}, 2.))
    end)
    assert.equal(la.full({1}, 5.), again())
    assert.equal(la.full({1}, 10.), again())
  end)

  it("may call itself", function()
    local step
    step = la.compile(function(a, n)
      if n > 0 then return step(a * 2, n - 1) end
      return a + 1
    end)
    for _ = 1, 3 do assert.equal(la.full({1}, 9.), step(la.ones(1), 3)) end
  end)
end)

describe("explain", function()
  it("says what to do before the first call", function()
    local step = la.compile(function(a) return a end)
    assert.has_error(function() step:explain() end,
      "explain: nothing was recorded yet: call the function first")
    assert.is_nil(step:program())
  end)

  it("tells of a program without steps", function()
    local step = la.compile(function(a) return a end)
    step(la.ones(2))
    assert.equal(0, #step:program())
    assert.matches("bound by calls", step:explain())
  end)
end)
