-- la.cond, la.while_loop and la.scan compiled against plain: structures of
-- every kind, sizes at the edges, errors, derivatives.
local la = require "lunarray"

-- Calls f and f compiled with what make(i) gives: results, errors, arguments
-- and gradients. 'raises' is in the text of errors that f may raise.
local function agree(f, make, raises)
  local step = la.compile(f)
  for i = 1, 6 do
    local a, b = table.pack(make(i)), table.pack(make(i))
    local want = table.pack(pcall(f, table.unpack(a)))
    local got = table.pack(pcall(step, table.unpack(b)))
    assert.equal(want[1], got[1], tostring(got[2]))
    if want[1] then
      for k = 2, want.n do
        assert.equal(want[k].dtype, got[k].dtype)
        assert.equal(want[k], got[k])
      end
    else
      assert.matches(raises or "no error is expected", want[2], 1, true)
      assert.equal((want[2]:gsub("^[^:]+:%d+: ", "")),
        (got[2]:gsub("^[^:]+:%d+: ", "")))
    end
    for k = 1, a.n do
      assert.equal(a[k], b[k])
      assert.equal(a[k]._version, b[k]._version)
      if a[k].is_leaf then assert.equal(a[k].grad, b[k].grad) end
    end
  end
end

local function sign(i) return la.full({3}, i % 2 == 0 and 1. or -1.) end
local function positive(x) return x:sum():gt(0) end

describe("la.cond", function()
  local function double(a) return a * 2 end
  local function less(a) return a - 1 end

  it("takes tensors of no dim and of no element", function()
    local function f(x) return la.cond(positive(x), double, less, x) end
    agree(f, sign)
    agree(f, function(i) return la.tensor(i % 2 == 0 and 1. or -1.) end)
    agree(f, function() return la.zeros(0) end)
    agree(function(x) return la.cond(true, double, less, x) end, sign)
  end)

  it("gives tables and several results", function()
    agree(function(x)
      local r = la.cond(positive(x), function(a) return {a * 2, k = a} end,
        function(a) return {a - 1, k = a + 1} end, x)
      return r[1], r.k
    end, sign)
    agree(function(x)
      return la.cond(positive(x), function(a) return a * 2, a:sum() end,
        function(a) return a - 1, a:mean() end, x)
    end, sign)
  end)

  it("nests, captures, writes and raises", function()
    local w = la.full({3}, 5.)
    agree(function(x)
      return la.cond(positive(x), function(a)
        return la.cond(a:max():gt(1.5), function(b) return b * w end,
          function(b) return b + w end, a)
      end, function(a) return a - w end, x)
    end, function(i) return la.full({3}, i - 2.) end)
    agree(function(x)
      la.cond(positive(x), function(a) return a:add_(1) end,
        function(a) return a:mul_(3) end, x)
      return x
    end, sign)
    agree(function(x)
      return la.cond(positive(x), function() error("no such branch") end, less,
        x)
    end, function(i) return la.full({3}, i - 3.) end, "no such branch")
  end)

  it("has derivatives", function()
    agree(function(x)
      local y = la.cond(positive(x), function(a) return a * a end, la.exp, x)
      y:sum():backward()
      return y
    end, function(i) return sign(i):requires_grad_() end)
  end)

  it("wants one boolean, and stays the condition number", function()
    local function f(x) return la.cond(x:gt(0), double, less, x) end
    for _, g in ipairs{f, la.compile(f)} do
      local ok, why = pcall(g, la.ones(3))
      assert.is_false(ok)
      assert.matches("pred: a boolean or a tensor of one element expected, "
        .. "got bool tensor of {3}", why, 1, true)
    end
    assert.equal(1, la.cond(la.eye(3)):item())
  end)
end)

describe("la.while_loop", function()
  local function small(a) return a:sum():lt(100) end
  local function f(x)
    return la.while_loop(small, function(a) return a * 2 end, x)
  end

  it("makes passes by value, or none", function()
    agree(f, function(i) return la.full({3}, i * 1.) end)
    agree(f, function() return la.full({3}, 1000.) end)
    agree(f, function(i) return la.tensor(i * 1.) end)
    agree(function(x, n)
      return la.while_loop(function(i) return i:lt(n) end,
        function(i, a) return i + 1, a * 1.5 end, la.tensor(0), x)
    end, function(i) return la.full({3}, i * 1.), la.tensor(i) end)
    agree(function(x)
      local r = la.while_loop(function(s) return s.i:lt(3) end, function(s)
        return {i = s.i + 1, v = {s.v[1] * 2}}
      end, {i = la.tensor(0), v = {x}})
      return r.v[1], r.i
    end, sign)
  end)

  it("refuses other structures and sizes, compiled and plain", function()
    local function sizes(x)
      return la.while_loop(small, function(a) return la.cat{a, a} end, x)
    end
    local function more(x)
      return la.while_loop(small, function(a) return a * 2, a end, x)
    end
    for _, g in ipairs{sizes, la.compile(sizes), more, la.compile(more)} do
      local ok, why = pcall(g, la.ones(3))
      assert.is_false(ok)
      assert.matches("'while_loop' %(result%[%d%]: float32 tensor of ", why)
    end
  end)

  it("has derivatives where it is not compiled, else says so", function()
    local x = la.ones(3, {requires_grad = true})
    f(x):sum():backward()
    assert.equal(la.full({3}, 64.), x.grad)
    local step = la.compile(f)
    for _, g in ipairs{la.compile(function(v) return f(v):sum():backward() end),
      function(v) return step(v):sum():backward() end} do
      for _ = 1, 3 do
        local ok, why = pcall(g, la.ones(3, {requires_grad = true}))
        assert.is_false(ok)
        assert.matches("while_loop: a compiled loop has no derivative", why)
      end
    end
  end)
end)

describe("la.scan", function()
  local function f(c, xs)
    return la.scan(function(s, x)
      local n = s * 0.5 + x
      return n, n * 2
    end, c, xs)
  end

  it("runs over rows, none of them, numbers and strides", function()
    agree(f, function(i) return la.zeros(2), la.full({5, 2}, i * 1.) end)
    agree(f, function() return la.zeros(2), la.zeros(0, 2) end)
    agree(f, function() return la.tensor(0.), la.arange(5.) end)
    agree(f, function() return la.zeros(2), la.arange(10.):reshape(2, 5):t()
    end)
    agree(f, function() return la.zeros(1), la.tensor(1.) end,
      "xs has no dims to run over")
  end)

  it("takes and gives tables, and refuses unequal ones", function()
    local function g(c, a, b)
      local last, ys = la.scan(function(s, x)
        return {h = s.h + x.a * x.b}, {y = s.h, z = x.a}
      end, {h = c}, {a = a, b = b})
      return last.h, ys.y, ys.z
    end
    agree(g, function(i)
      return la.zeros(2), la.full({4, 2}, i * 1.), la.full({4, 2}, 2.)
    end)
    agree(g, function() return la.zeros(2), la.ones(4, 2), la.ones(3, 2) end,
      "elements along dim 1, others have")
  end)

  it("has derivatives, also of what it captures", function()
    local w = la.full({2}, 0.5, {requires_grad = true})
    agree(function(c, xs)
      w.grad = nil
      local last, ys = la.scan(function(s, x)
        local n = (s * w + x):tanh()
        return n, n
      end, c, xs)
      last:sum():add(ys:sum()):backward()
      return last, ys, w.grad
    end, function(i)
      return la.zeros(2, {requires_grad = true}),
        la.full({5, 2}, i * 0.25, {requires_grad = true})
    end)
  end)
end)
