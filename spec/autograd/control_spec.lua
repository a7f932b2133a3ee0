-- la.cond, la.while_loop and la.scan against plain Lua: values, derivatives,
-- batches, random numbers, and what they refuse.
local la = require "lunarray"
local raises = require "spec.support.raises"
local modules = require "lunarray.nn"

local F64 = {dtype = "float64"}
local function same(want, got)
  assert.is_true(want.shape == got.shape and want.dtype == got.dtype
    and want:equal(got), tostring(want) .. "\n" .. tostring(got))
end

describe("cond", function()
  local x = la.tensor({1.5, -2}, F64)
  local function twice(v) return v * 2, "f" end
  local function minus(v) return -v, "g" end

  it("runs the branch that is taken, and no other", function()
    for _, pred in ipairs{true, la.tensor(true), la.ones(1, 1),
      la.tensor(-3)} do
      local y, name = la.cond(pred, twice, error, x)
      same(x * 2, y)
      assert.equal("f", name)
    end
    for _, pred in ipairs{false, la.tensor(false), la.tensor(-0.0)} do
      local y, name = la.cond(pred, error, minus, x)
      same(-x, y)
      assert.equal("g", name)
    end
    assert.equal(0, select("#", la.cond(true, function() end, twice)))
    assert.equal(3, select("#", la.cond(true, function()
      return nil, 1, nil
    end, twice)))
  end)

  it("takes whatever can be called", function()
    local layer = modules.Linear(2, 3, F64)
    same(layer(x), (la.cond(true, layer, error, x)))
    same(x:exp(), (la.cond(false, error, la.exp, x)))
  end)

  it("stays the condition number", function()
    local a = la.tensor({{2, 0}, {0, 4}}, F64)
    same(la.tensor(2, F64), la.linalg.cond(a, 1))
    same(la.tensor(2, F64), la.cond(a, 1))
    same(la.tensor(2, F64), la.cond(a, {p = 1}))
    raises("bad argument #1 to 'cond'", la.cond, true)
    raises("cond", la.cond)
  end)

  it("has the derivatives of the branch", function()
    assert.is_true(la.gradcheck(function(v)
      return (la.cond(v:sum():lt(0), function(a) return a:sin() * v end,
        la.exp, v))
    end, x:clone():requires_grad_()))
  end)

  it("chooses within a batch", function()
    local rows = la.tensor({{1, 2}, {-3, 1}, {0, 0}}, F64):requires_grad_()
    local f = la.vmap(function(v)
      return la.cond(v:sum():gt(0), function(a) return {a * 2, k = 1} end,
        function(a) return {a:exp(), k = 1} end, v)
    end, 1, {{1, k = false}})
    local y = f(rows)
    assert.equal(1, y.k)
    same(la.stack{rows[1] * 2, rows[2]:exp(), rows[3]:exp()}, y[1])
    local g = la.grad(y[1]:sum(), rows)
    same(la.stack{la.full({2}, 2, F64), rows[2]:exp(), rows[3]:exp()}:detach(),
      g)
    same(la.tensor({2, 8}, F64), la.vmap(function(v)
      return la.vmap(function(e)
        return (la.cond(e:gt(1), function(a) return a ^ 3 end,
          function(a) return a * 2 end, e))
      end)(v):sum()
    end)(la.tensor({{1, 0}, {2, 0}}, F64)))
  end)

  it("says what is wrong", function()
    raises("bad argument #2 to 'cond' (function expected, got table)", la.cond,
      true, {}, error)
    raises("bad argument #3 to 'cond' (function expected, got no value)",
      la.cond, true, error)
    raises("bad argument #1 to 'cond' (pred: a boolean or a tensor of one "
      .. "element expected, got float64 tensor of {2})", la.cond, x, twice,
      minus)
    raises("bad argument #1 to 'cond' (pred: a boolean or a tensor of one "
      .. "element expected, got nil)", la.cond, nil, twice, minus)
    raises("result[1]: float64 tensor of {1}, but the second function's has "
      .. "float64 tensor of {} there", la.vmap(function(v)
        return la.cond(v:gt(0), function() return v:reshape(1) end,
          function() return v end)
      end), x)
    raises("f and g: a value that differs", la.vmap(function(v)
      return la.cond(v:gt(0), twice, minus, v)
    end), x)
    raises("mine", la.cond, true, function() error("mine") end, minus)
  end)
end)

describe("while_loop", function()
  it("is while", function()
    local n, x = la.while_loop(function(i) return i:lt(5) end,
      function(i, v) return i + 1, v * 2 end, la.tensor(0), la.ones(2))
    same(la.tensor(5), n)
    same(la.full({2}, 32.), x)
    local i, t = la.while_loop(function(k) return k < 3 end,
      function(k, list) return k + 1, {a = list.a + k} end, 0,
      {a = la.zeros(1)})
    assert.equal(3, i)
    same(la.full({1}, 3.), t.a)
    same(la.ones(2), la.while_loop(function() return false end, error,
      la.ones(2)))
    assert.equal(0, select("#", la.while_loop(function() return false end,
      error)))
  end)

  it("has derivatives by every iteration", function()
    assert.is_true(la.gradcheck(function(x)
      return (la.while_loop(function(y) return y:sum():lt(100) end,
        function(y) return y * x + x end, x))
    end, la.tensor({1.5, 2.5}, F64):requires_grad_()))
  end)

  it("goes on until all of a batch are done", function()
    local steps = la.vmap(function(n)
      return select(2, la.while_loop(function(k) return k:ne(1) end,
        function(k, count)
          return la.where((k % 2):eq(0), k // 2, 3 * k + 1), count + 1
        end, n, la.tensor(0)))
    end)
    same(la.tensor{0, 1, 7, 111, 16}, steps(la.tensor{1, 2, 3, 27, 7}))
    local x = la.tensor({4, 9}, F64):requires_grad_()
    local root = la.vmap(function(v)
      return (la.while_loop(function(y) return (y * y - v):abs():gt(1e-12) end,
        function(y) return (y + v / y) / 2 end, la.ones_like(v)))
    end)(x)
    local g = la.grad(root:sum(), x)
    assert.is_true(la.allclose(g, 0.5 / x:detach():sqrt()))
  end)

  it("says what is wrong", function()
    local function yes() return true end
    raises("bad argument #1 to 'while_loop' (function expected", la.while_loop)
    raises("bad argument #2 to 'while_loop' (function expected", la.while_loop,
      yes, 3)
    raises("bad argument #1 to 'while_loop' (its result: a boolean or a tensor "
      .. "of one element expected, got float32 tensor of {3})", la.while_loop,
      function(x) return x end, yes, la.ones(3))
    raises("(result[1]: float32 tensor of {2}, but the value before has "
      .. "float32 tensor of {1} there)", la.while_loop, yes, function(x)
        return la.cat{x, x}
      end, la.ones(1))
    raises("(result[2] is missing, which the value before has)", la.while_loop,
      yes, function(x) return x end, la.ones(1), la.ones(1))
    raises("'while_loop'", la.while_loop, yes, function(x) return x, x end,
      la.ones(1))
  end)
end)

describe("scan", function()
  local function step(c, x) return c * x + 1, c:sin() end

  it("is a loop over dim 1", function()
    local xs, c, list = la.rand(5, 3, F64), la.zeros(3, F64), {}
    local carry, ys = la.scan(step, c, xs)
    for i = 1, 5 do c, list[i] = step(c, xs[i]) end
    same(c, carry)
    same(la.stack(list), ys)
    local columns = xs:t():contiguous():t()
    same(ys, select(2, la.scan(step, la.zeros(3, F64), columns)))
  end)

  it("takes and gives tables, and nothing", function()
    local carry, ys = la.scan(function(c, x)
      return {n = c.n + 1, s = c.s + x.a * x[1]}, {c.s, {m = x.a}}
    end, {n = la.tensor(0), s = la.zeros(2)}, {a = la.arange(3), la.ones(3, 2)})
    same(la.tensor(3), carry.n)
    same(la.full({2}, 3.), carry.s)
    same(la.tensor{{0., 0}, {0, 0}, {1, 1}}, ys[1])
    same(la.arange(3), ys[2].m)
    local last, none = la.scan(function(c, x) return c + x end, la.tensor(0),
      la.arange(4))
    same(la.tensor(6), last)
    assert.is_nil(none)
    local empty, squares = la.scan(function(_, x) return nil, x * x end, nil,
      la.arange(4))
    assert.is_nil(empty)
    same(la.tensor{0, 1, 4, 9}, squares)
  end)

  it("keeps y as it was, whatever later steps write", function()
    local total = la.zeros(2)
    local _, ys = la.scan(function(c, x) return c, total:add_(x) end,
      la.zeros(1), la.ones(3, 2))
    same(la.tensor{{1., 1}, {2, 2}, {3, 3}}, ys)
  end)

  it("has derivatives by init, xs and what it captures", function()
    local w = la.rand(3, F64):requires_grad_()
    assert.is_true(la.gradcheck(function(init, xs, v)
      local c, ys = la.scan(function(c, x) return (c * v + x):tanh(), c * x end,
        init, xs)
      return c, ys
    end, {la.rand(3, F64):requires_grad_(), la.rand(4, 3, F64):requires_grad_(),
      w}))
    assert.is_true(la.gradgradcheck(function(xs)
      return (la.scan(function(c, x) return c * x, nil end, la.ones(2, F64),
        xs))
    end, la.rand(3, 2, F64):requires_grad_()))
  end)

  it("runs within a batch", function()
    local xs = la.rand(4, 3, F64)
    local carry, ys = la.vmap(function(row)
      return la.scan(function(c, x) return c + x, c * x end, la.tensor(0., F64),
        row)
    end)(xs)
    for i = 1, 4 do
      local c, y = la.scan(function(c, x) return c + x, c * x end,
        la.tensor(0., F64), xs[i])
      same(c, carry[i])
      same(y, ys[i])
    end
  end)

  it("asks for the sizes of y where xs is empty", function()
    local init = la.ones(2, F64):requires_grad_()
    local state = la.get_rng_state()
    local carry, ys = la.scan(function(c, x)
      c:add_(1)
      return c, {c + la.rand(2), k = x:gt(0)}
    end, init, la.zeros(0, 2))
    assert.equal(init, carry)
    same(la.ones(2, F64), carry:detach())
    same(la.zeros(0, 2, F64), ys[1])
    same(la.zeros({0, 2}, {dtype = "bool"}), ys.k)
    assert.is_false(ys[1].requires_grad)
    assert.is_true(la.get_rng_state():equal(state))
    local _, none = la.scan(function(c) return c end, init, la.zeros(0))
    assert.is_nil(none)
  end)

  it("says what is wrong", function()
    local function f(c, x) return c + x, c end
    raises("bad argument #1 to 'scan' (function expected", la.scan, 1)
    raises("bad argument #3 to 'scan' (tensor or list of tensors expected, got "
      .. "no value)", la.scan, f, la.zeros(1))
    raises("bad argument #3 to 'scan' (xs has no dims to run over)", la.scan, f,
      la.zeros(1), la.tensor(1))
    raises("bad argument #3 to 'scan' (xs[b] has 3 elements along dim 1, "
      .. "others have 2)", la.scan, f, la.zeros(1),
      {la.ones(2), b = la.ones(3)})
    raises("bad argument #3 to 'scan' (xs[1]: tensor expected, got number)",
      la.scan, f, la.zeros(1), {1})
    raises("bad argument #3 to 'scan' (xs: a table without tensors)", la.scan,
      f, la.zeros(1), {})
    raises("bad argument #1 to 'scan' (carry: float32 tensor of {2}, but init "
      .. "has float32 tensor of {1} there)", la.scan, f, la.zeros(1),
      la.ones(3, 2))
    raises("bad argument #1 to 'scan' (y: tensor expected, got number)",
      la.scan, function(c) return c, 1 end, la.zeros(1), la.ones(3))
    local n = 0
    raises("bad argument #1 to 'scan' (y: float32 tensor of {2}, but y of the "
      .. "first step has float32 tensor of {1} there)", la.scan, function(c)
        n = n + 1
        return c, la.ones(n)
      end, la.zeros(1), la.ones(3))
    local deep = {}
    deep[1] = deep
    raises("scan: tables in tables, more than 16 deep", la.scan, f, nil, deep)
  end)
end)
