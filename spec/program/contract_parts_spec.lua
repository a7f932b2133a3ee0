-- Calls in parts and programs in files, as a page on them would say: what is
-- refused, what goes on after an error, results of every structure.
local la = require "lunarray"

-- The results of a call in parts, in a table.
local function parts(step, ...)
  step:begin(...)
  for _ = 1, 1000 do
    local r = table.pack(step:advance(0))
    if r.n > 0 then
      assert.is_true(r[1])
      return table.pack(table.unpack(r, 2, r.n))
    end
  end
  error("the call has no end")
end

describe("a call in parts", function()
  it("is advanced by numbers, to its end, once", function()
    local step = la.compile(function(x) return x * 2 end)
    for _ = 1, 3 do
      assert.has_error(function() step:advance(1) end,
        "advance: no call has begun: step:begin(...)")
      step:begin(la.ones(2))
      assert.has_error(function() step:begin(la.ones(2)) end,
        "begin: a call has begun: advance it to its end first")
      for _, bad in ipairs{"x", {}, false} do
        local ok, why = pcall(step.advance, step, bad or nil)
        assert.is_false(ok)
        assert.matches("'advance' (number of microseconds expected, got", why,
          1, true)
      end
      local ok, y = step:advance(1e9)
      assert.is_true(ok)
      assert.equal(la.full({2}, 2.), y)
      for _, budget in ipairs{-1, 0 / 0, math.huge, math.mininteger} do
        step:begin(la.ones(2))
        repeat ok, y = step:advance(budget) until ok
        assert.equal(la.full({2}, 2.), y)
      end
    end
  end)

  it("goes on after errors of its steps and of the function", function()
    local step = la.compile(function(x, i) return x:gather(1, i) end)
    local x = la.tensor{4., 5, 6}
    for _ = 1, 3 do
      assert.equal(la.tensor{5.}, parts(step, x, la.tensor{2})[1])
      local ok, why = pcall(parts, step, x, la.tensor{9})
      assert.is_false(ok)
      assert.matches("index 9 .* is out of bounds", why)
    end
    local never = la.compile(function() error("none of it") end)
    for _ = 1, 3 do
      local ok, why = pcall(parts, never, x)
      assert.is_false(ok)
      assert.matches("none of it", why)
    end
  end)

  it("writes what it captures, and has derivatives", function()
    local w = la.ones(3)
    local step = la.compile(function(x)
      w:add_(x)
      return w * 2, {k = w:sum()}
    end)
    for i = 2, 5 do
      local r = parts(step, la.ones(3))
      assert.equal(la.full({3}, 2. * i), r[1])
      assert.equal(la.tensor(3. * i), r[2].k)
      assert.equal(i - 1, w._version)
    end
    local square = la.compile(function(x) return (x * x):sum() end)
    for i = 1, 4 do
      local x = la.full({3}, i * 1., {requires_grad = true})
      parts(square, x)[1]:backward()
      assert.equal(la.full({3}, 2. * i), x.grad)
    end
    local empty = la.compile(function(x) return x:sum(), {x * 2} end)
    for _ = 1, 3 do
      local r = parts(empty, la.zeros(0))
      assert.equal(la.tensor(0.), r[1])
      assert.equal(la.zeros(0), r[2][1])
    end
  end)
end)

describe("a program in a file", function()
  local path
  before_each(function()
    path = os.tmpname()
    os.remove(path)
    path = path .. ".laprog"
  end)
  after_each(function() os.remove(path) end)

  it("takes and gives structures, and refuses others by name", function()
    local w = la.ones(3, 3)
    local step = la.compile(function(x, y)
      return {z = x:matmul(w), q = {y.a + 1}}, 5, "t", true
    end)
    local x, y = la.ones(2, 3), {a = la.ones(2)}
    for _ = 1, 2 do step(x, y) end
    la.save(step, path)
    local p = la.load(path)
    for _ = 1, 3 do
      local r, n, t, b = p(x, y)
      assert.equal(la.full({2, 3}, 3.), r.z)
      assert.equal(la.full({2}, 2.), r.q[1])
      assert.same({5, "t", true}, {n, t, b})
    end
    local function refuses(text, ...)
      local ok, why = pcall(p, ...)
      assert.is_false(ok)
      assert.matches(text, why, 1, true)
    end
    refuses("input 'x': sizes [2, 3] expected, got [3, 3]", la.ones(3, 3), y)
    refuses("input 'x': float32 expected, got float64", x:double(), y)
    refuses("input 'x' lies in memory in another way", la.ones(3, 2):t(), y)
    refuses("input 'x' needs a gradient",
      la.ones(2, 3, {requires_grad = true}), y)
    refuses("other values than it was recorded for")
    refuses("other values than it was recorded for", x, {})
  end)

  it("holds the last signature, or all of them", function()
    local step = la.compile(function(x) return x * 2 end)
    local list = {la.ones(2), la.ones(3), la.tensor(1.), la.zeros(0),
      la.ones(2):long()}
    assert.has_error(function() la.save(step, path) end,
      "save: nothing was recorded yet: call the function first")
    for _, x in ipairs(list) do step(x) end
    la.save(step, path, {all = true})
    local p = la.load(path)
    for _, x in ipairs(list) do assert.equal(x * 2, p(x)) end
    assert.has_error(function() p(la.ones(4)) end)
    la.save(step, path)
    p = la.load(path)
    assert.equal(list[5] * 2, p(list[5]))
    assert.has_error(function() p(la.ones(2)) end)
  end)

  it("holds control flow", function()
    local step = la.compile(function(x)
      return la.cond(x:sum():gt(12), function(a) return a * 2 end,
        function(a) return a - 1 end, x),
        (la.while_loop(function(a) return a:sum():lt(99) end,
          function(a) return a * 2 + 1 end, x)),
        la.scan(function(c, v) return c + v, c * v end, la.tensor(0.), x)
    end)
    for _ = 1, 2 do step(la.ones(3)) end
    la.save(step, path)
    local p = la.load(path)
    for i = 1, 6 do
      local x = la.full({3}, i * 1. + 0.5)
      local want, got = table.pack(step(x)), table.pack(p(x))
      assert.equal(want.n, got.n)
      for k = 1, want.n do assert.equal(want[k], got[k]) end
    end
  end)
end)
