-- la.vmap: how batches go in and come out, what is refused, gradients, random
-- numbers, and values of torch.func.vmap. Single operations: vmap_rows_spec.
local la = require "lunarray"
local raising = require "spec.support.raises"
local values = require "spec.support.values.vmap_values"

local function raises(f, text) raising(text, f) end

local f64 = {dtype = "float64"}

-- The inputs of tools/golden/vmap.py.
local function make(seed, ...)
  local x = la.arange(la.zeros(...):numel(), f64)
  return ((x * 7 + seed) % 13 - 6):div(4):view(...)
end

local X, Y, W = make(1, 3, 4), make(2, 3, 4), make(3, 2, 4)
local A, B = make(4, 3, 4, 4), make(5, 3, 4, 2)
local P = la.tensor{3, 1, 4}

local function loss(w, x) return w:mv(x):tanh():pow(2):sum() end

local function close(got, want)
  la.testing.assert_close(got, want, {rtol = 1e-10, atol = 1e-12})
end

local cases = {
  dot = function() return la.vmap(la.dot)(X, Y) end,
  columns = function()
    return la.vmap(function(x) return x:cumsum(1) end, 2, 2)(X)
  end,
  shared = function()
    return la.vmap(function(x, w) return w:mv(x) end, {1, false})(X, W)
  end,
  outer = function()
    return la.vmap(la.vmap(la.mul, {false, 1}), {1, false})(X[1], Y[1])
  end,
  solve = function()
    return la.vmap(la.linalg.solve)(A + 3 * la.eye(4, f64), B)
  end,
  softmax = function()
    return la.vmap(function(x) return (x * 2):softmax(-1) end)(X)
  end,
  pick = function()
    return la.vmap(function(x, i)
      return x:index_select(1, i:unsqueeze(1))
    end)(X, P)
  end,
  rows = function() return la.vmap(function(i) return W:t()[i] end)(P) end,
  sorted = function()
    return la.vmap(function(x) return (x:sort{descending = true}) end)(X)
  end,
  norm = function() return la.vmap(la.linalg.matrix_norm)(A) end,
  conv = function()
    local w = W:reshape(2, 1, 4):narrow(3, 1, 3)
    return la.vmap(function(x)
      return la.conv1d(x:reshape(1, 1, 4), w, {padding = 1})
    end)(X)
  end,
  gradient = function()
    return la.vmap(function(w, x)
      w = w:detach():requires_grad_()
      return la.grad(loss(w, x), w)
    end)(W:expand(3, 2, 4), X)
  end,
  jacobian = function()
    return la.vmap(function(x)
      return la.jacobian(function(v) return W:mv(v):exp() end, x)
    end)(X)
  end,
  hessian = function()
    return la.vmap(function(x)
      return la.hessian(function(v) return loss(W, v) end, x)
    end)(X)
  end,
  einsum = function()
    return la.vmap(function(a, b) return la.einsum("ij,jk->ki", a, b) end)(A, B)
  end,
  variance = function()
    return la.vmap(function(a) return a:var{dim = 1, correction = 0} end)(A)
  end,
}

describe("vmap has PyTorch's values for", function()
  for name, f in pairs(cases) do
    it(name, function()
      local want = values[name]
      close(f(), la.tensor({table.unpack(want)}, f64):view(want.shape))
    end)
  end

  it("every case of the file", function()
    for name in pairs(values) do assert.truthy(cases[name], name) end
  end)
end)

describe("vmap's arguments and results", function()
  it("may be tables, with dims of their own", function()
    local f = la.vmap(function(t) return {sum = t.a + t.list[1]}, t.n end,
      {{a = 2, list = {1}}}, {-1, 1})
    local r, n = f{a = X, list = {X:t():contiguous()}, n = "same"}
    close(r.sum, 2 * X)
    assert.equal("same", n)
  end)

  it("that have no batch are shared, and given to all", function()
    local f = la.vmap(function(x, v) return x + v, v end, {1, false})
    local r, w = f(X, Y[1])
    close(r, X + Y[1])
    assert.same({3, 4}, {w:size()})
    close(w[3], Y[1])
    local _, one = la.vmap(function(x) return x, Y end, 1, {1, false})(X)
    assert.equal(Y, one)
  end)

  it("keep strides of the batch dim", function()
    local f = la.vmap(function(x)
      return x:is_contiguous(), x.shape[1], x.ndim, x:numel(), x.dtype
    end, 2)
    assert.same({false, 3, 1, 3, "float64"}, {f(X)})
  end)

  it("say what does not fit", function()
    local f = la.vmap(function(x) return x end)
    raises(function() f(3) end, "none of the arguments")
    raises(function() f(la.tensor(3)) end, "argument 1: a tensor without dims")
    raises(function() f(X, A:transpose(1, 2)) end, "argument 2 has a batch of "
      .. "4 in dim 1, the arguments before it have 3")
    raises(function() la.vmap(f, 3)(X) end, "dimension 3 is out of range")
    raises(function() la.vmap(f, {"a"})(X) end, "argument 1, got string")
    raises(function() la.vmap(f, 1, {false})(X) end, "result 1 differs")
    raises(function() la.vmap(3) end, "function expected")
    raises(function() la.vmap(f, 0) end, "dim or table of dims expected, got 0")
    raises(function() la.vmap(f, 1, 1, {random = 1}) end, "random")
    raises(function() la.vmap(f, 1, 1, {randomness = 1}) end, "'same' expected")
  end)

  it("of no elements, and on the meta device", function()
    local sums, rows = la.vmap(function(x)
      return x:sum(), x:softmax(1)
    end)(la.zeros(0, 4))
    assert.same({0}, {sums:size()})
    assert.same({0, 4}, {rows:size()})
    raises(function() la.vmap(la.msort)(la.zeros(0, 4)) end, "has none")
    local y = la.vmap(function(x) return W:to("meta"):mv(x) end)(X:to("meta"))
    assert.same({3, 2}, {y:size()})
  end)
end)

describe("inside vmap", function()
  local function inside(f, text)
    raises(function() la.vmap(f)(X:clone()) end, text)
  end

  it("elements are not to be seen", function()
    local text = "inside vmap a tensor has no elements to look at"
    inside(function(x) return x:sum():item() end, text)
    inside(function(x) return tostring(x) end, text)
    inside(function(x) return x:totable() end, text)
    inside(function(x) return x:tostring_raw() end, text)
    inside(function(x) return x:data_ptr() end, text)
    inside(function(x) return x:storage() end, text)
    inside(function(x) return x:to_dlpack() end, text)
    inside(function(x) return x:apply_(print) end, text)
    inside(function(x) return la.save("x.npy", x) end, text)
    inside(function(x) return x:equal(x) end, "no answer as a Lua value")
    inside(function(x) return x:allclose(x) end, "no answer as a Lua value")
  end)

  it("shapes that depend on data must agree", function()
    close(la.vmap(la.nonzero)(la.eye(3)), la.tensor{{{1}}, {{2}}, {{3}}})
    inside(function(x) return x:masked_select(x:gt(0)) end, "depends on data")
  end)

  it("what has no batch is not changed by what has", function()
    local z = la.zeros(4, f64)
    inside(function(x) z:add_(x) end, "without batch can't be changed")
    inside(function(x) z[1] = x[1] end, "without batch can't be changed")
    inside(function(x) return la.add(x, 1, {out = z}) end, "out= can't be")
    inside(function(x) return x:resize_(2) end, "sizes and storage")
    inside(function(x) return x:t_() end, "sizes and storage")
  end)

  it("a tensor changes in place, the batch with it", function()
    local x = X:clone()
    la.vmap(function(v)
      v:mul_(2)
      v[1] = 0
      v[{{2, 3}}] = v[4]
    end)(x)
    local want = X * 2
    want[{{}, 1}] = 0
    want[{{}, {2, 3}}] = want[{{}, {4, 4}}]:expand(3, 2)
    close(x, want)
  end)

  it("new tensors of a tensor have its batch", function()
    close(la.vmap(function(x)
      local z = x:new_zeros(2)
      z[2] = x[3]
      return z
    end)(X)[{{}, 2}], X[{{}, 3}])
  end)

  it("elements of the batch index", function()
    close(la.vmap(function(x, i) return x[i] end)(X, P),
      X:gather(2, P:unsqueeze(2)):squeeze(2))
    close(la.vmap(function(i) return W[{"...", i}] end)(P),
      W:index_select(2, P):t())
    local a = A:unsqueeze(1):expand(2, 3, 4, 4)
    local pairs_of = la.tensor{{1, 3}, {2, 4}}
    local got = la.vmap(function(t, i)
      return t[{{}, i}], t[{{}, {}, i}], t[{i:clamp(1, 3), {}, i}]
    end)(a, pairs_of)
    for k = 1, 2 do close(got[k], A[{{}, pairs_of[k]}]) end
    local x = la.vmap(function(v, i)
      v = v:clone()
      v[i] = 7
      return v
    end)(X, P)
    close(x, X:scatter(2, P:unsqueeze(2), la.full({3, 1}, 7, f64)))
  end)

  it("a batch ends with its function", function()
    local kept
    la.vmap(function(x) kept = x return x end)(X)
    raises(function() return kept + 1 end, "which has ended")
    raises(function() return kept[1] end, "which has ended")
    raises(function() return la.vmap(function(x) return x + kept end)(X) end,
      "which has ended")
    raises(function() return kept:item() end, "no elements to look at")
  end)

  it("errors pass, and end it", function()
    raises(function() la.vmap(function() error("mine") end)(X) end, "mine")
    raises(function()
      la.vmap(function(x) return x:sum(3) end)(X)
    end, "dimension 3 is out of range, 1 to 1")
    assert.equal(2, la.randn(2):numel())
    local co = coroutine.wrap(function()
      return pcall(la.vmap(function() coroutine.yield() end), X)
    end)
    assert.is_false((co()))
    assert.equal(2, la.randn(2):numel())
  end)

  it("la.fuse works, and around it", function()
    local function f(x) return (x * 2 + 1):sin():sum(), x * 3 end
    local want, triple = (X * 2 + 1):sin():sum(2), X * 3
    local a, b = la.vmap(la.fuse(f))(X)
    close(a, want)
    close(b, triple)
    a, b = la.fuse(la.vmap(f))(X)
    close(a, want)
    close(b, triple)
  end)
end)

describe("vmap and random numbers", function()
  local function f(x)
    return la.rand(64), x:clone():uniform_(), la.randperm(9), la.randn_like(x),
      la.normal(0, 1, {5}), la.ones(8):dropout(0.5, true), la.bernoulli(x:abs()
      / 4), la.multinomial(la.ones(64), 3), x:dropout(0.5, true)
  end

  it("refuses them unless it is told", function()
    raises(function() la.vmap(f)(X) end, "random numbers are refused")
    close(la.vmap(function(x) return x:dropout(0.5, false) end)(X), X)
  end)

  it("draws for every element, or for all", function()
    local several = {la.vmap(f, 1, 1, {randomness = "different"})(X)}
    local same = {la.vmap(f, 1, 1, {randomness = "same"})(X:expand(3, 3, 4)[1]
      :unsqueeze(1):expand(3, 3, 4))}
    assert.is_false(la.equal(several[1][1], several[1][2]))
    assert.is_false(la.equal(several[5][1], several[5][2]))
    for k, t in ipairs(same) do
      assert.is_true(la.equal(t[1], t[2]) and la.equal(t[1], t[3]), k)
    end
    for _, t in ipairs(several) do assert.equal(3, t.shape[1]) end
    raises(function()
      la.vmap(function() return la.zeros(2):normal_() end, 1, 1,
        {randomness = "different"})(X)
    end, "can't be filled with random numbers")
  end)
end)

describe("vmap and gradients", function()
  it("passes them to what is outside", function()
    local x, y = X:clone():requires_grad_(), X:clone():requires_grad_()
    la.vmap(function(v) return loss(W, v) end)(x):sum():backward()
    local sum = 0
    for k = 1, 3 do sum = sum + loss(W, y[k]) end
    sum:backward()
    close(x.grad, y.grad)
  end)

  it("gives rows of a jacobian", function()
    local x = X[1]:clone():requires_grad_()
    local function f(v) return W:mv(v:sin()):exp() end
    local y = f(x)
    local rows = la.vmap(function(v)
      return (la.grad(y, x, {grad_outputs = v, retain_graph = true}))
    end)(la.eye(2, f64))
    close(rows, la.jacobian(f, x))
  end)

  it("takes them inside, of inner calls too", function()
    local g = la.vmap(function(row)
      return la.vmap(function(v)
        v = v:detach():requires_grad_()
        return la.grad(v:pow(3) * row:sum(), v)
      end)(row)
    end)(X)
    close(g, 3 * X:pow(2) * X:sum(2, true))
    assert.is_false(X.requires_grad)
  end)

  it("refuses a sum over the batch, backward and .grad", function()
    raises(function()
      la.vmap(function(x)
        local w = W:detach():requires_grad_()
        return la.grad(loss(w, x), w)
      end)(X)
    end, "input 1 has no batch")
    local x = X:clone():requires_grad_()
    raises(function() la.vmap(function(v) v:sum():backward() end)(x) end,
      "asked for by la.grad")
    raises(function() la.vmap(function(v) return v.grad end)(x) end, "la.grad")
    local square = la.Function{
      forward = function(_, v) return v * v end,
      backward = function(_, g) return g end,
    }
    close(la.vmap(function(v) return square(v) end)(X), X * X)
    raises(function() la.vmap(function(v) return square(v) end)(x) end,
      "a backward of its own")
  end)
end)
