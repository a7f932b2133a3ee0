-- out=: which dtype a call computes in, what it may write to, and that shared
-- memory is noticed.
local la = require "lunarray"
local raises = require "spec.support.raises"

local function list(t) return t:totable() end
local function empty(dtype) return la.empty({0}, {dtype = dtype}) end

describe("the dtype of out=", function()
  it("is what sums and scans compute in", function()
    local x = la.full({3}, 60000., {dtype = "float16"})
    assert.equal(180000, la.sum(x, 1, {out = empty "float64"}):item())
    assert.equal(180000, la.nansum(x, 1, {out = empty "float64"}):item())
    assert.equal(60000. ^ 3, la.prod(x, 1, {out = empty "float64"}):item())
    assert.same({60000, 120000, 180000},
      list(la.cumsum(x, 1, {out = empty "float64"})))
    assert.same({6e4, 3.6e9, 2.16e14},
      list(la.cumprod(x, 1, {out = empty "float64"})))
    -- as PyTorch: elements are converted first
    assert.equal(3, la.sum(la.full({3}, 1.5), 1, {out = empty "int64"}):item())
  end)

  it("is what factories make", function()
    local third = la.linspace(0, 1, 4, {out = empty "float64"})
    assert.equal(third[2]:item(), 1 / 3)
    assert.same({3, 3}, list(la.full({2}, 3, {out = empty "int32"})))
  end)

  it("in place is the tensor's: dtype= may not contradict it", function()
    for _, f in ipairs {"cumsum_", "cumprod_"} do
      local x = la.ones(3)
      assert.is_true(rawequal(x, x[f](x, 1, {dtype = "float32"})))
      raises("in place the dtype must be the tensor's, float32, but got int64",
        x[f], x, 1, {dtype = "int64"})
      assert.same({1, 2, 3}, list(la.ones(3, {dtype = "int8"}):cumsum_(1)))
    end
  end)

  it("may not contradict dtype=", function()
    local text = "Expected out tensor to have dtype float32, but got float64"
    for _, f in ipairs {"sum", "prod", "cumsum", "mean"} do
      raises(text, la[f], la.ones(3), 1,
        {dtype = "float32", out = empty "float64"})
    end
    raises(text, la.zeros, 2, {dtype = "float32", out = empty "float64"})
  end)

  it("must hold the result", function()
    local x, mask = la.tensor {1.5, 2.5}, la.tensor {true, false}
    raises("can't be cast", la.where, mask, x, x, {out = empty "int32"})
    raises("can't be cast", la.stack, {x}, {out = empty "int64"})
    raises("can't be cast", la.exp, x:to "complex64", {out = empty "float32"})
    assert.same({1, 0}, list(la.gt(la.tensor {2, 1}, 1,
      {out = empty "float32"})))
  end)

  it("is int64 for positions", function()
    local x = la.tensor {3., 1.}
    local text = "Expected out tensor to have dtype int64"
    for _, f in ipairs {"argmax", "argmin", "argsort", "nonzero"} do
      raises(text, la[f], x, {out = empty "float32"})
    end
    raises(text, la.sort, x, {out = {empty "float32", empty "float32"}})
    raises(text, la.topk, x, 1, {out = {empty "float32", empty "float64"}})
  end)
end)

describe("out=", function()
  it("is on the result's device", function()
    local there, here = la.ones(2, 2, {device = "meta"}), la.ones(2, 2)
    for _, f in ipairs {"exp", "neg", "abs", "ceil", "round", "signbit",
        "isposinf", "logical_not", "sum", "cumsum", "softmax", "diff"} do
      local function call(x, out)
        if f == "cumsum" or f == "softmax" then la[f](x, 1, {out = out})
        else la[f](x, {out = out}) end
      end
      raises("same device", call, there, empty())
      raises("same device", call, here, there)
    end
    raises("same device", la.mm, there, there, {out = empty()})
    raises("same device", la.cat, {there, there}, {out = empty()})
    assert.equal("meta", la.ones(2, 2, {out = there}).device)
  end)

  it("is no empty list", function()
    for _, f in ipairs {"exp", "sum", "argmax"} do
      raises("tensor expected", la[f], la.ones(2), {out = {}})
    end
  end)

  it("is a tensor for each result", function()
    local o = la.zeros(2)
    for _, f in ipairs {"sort", "aminmax", "frexp"} do
      for _, out in ipairs {{}, {o}, o} do
        raises("a list of 2 tensors expected", la[f], la.ones(2), {out = out})
      end
    end
    assert.same({0, 0}, list(o))
  end)

  it("gives each result memory of its own", function()
    local x, o = la.tensor {{3, 1}, {4, 9}}, la.zeros({2, 2}, {dtype = "int64"})
    raises("must not overlap", la.sort, x, {out = {o, o}})
    raises("must not overlap", la.sort, x, {out = {o, o:t()}})
    local row = la.zeros(3)
    raises("must not overlap", la.aminmax, la.ones(2, 2),
      {dim = 1, out = {row[{{1, 2}}], row[{{2, 3}}]}})
    local two = la.zeros(4)
    la.aminmax(la.ones(2, 2), {dim = 1,
      out = {two[{{1, 4, 2}}], two[{{2, 4, 2}}]}})
    assert.same({1, 1, 1, 1}, list(two))
  end)

  it("is taken by joins, pooling and products", function()
    local x = la.rand(3, 3)
    local function same(f, ...)
      local args = table.pack(...)
      local want = f(...)
      local out = empty(want.dtype)
      args[args.n + 1] = {out = out}
      assert.equal(out, f(table.unpack(args, 1, args.n + 1)))
      assert.is_true(want:equal(out))
    end
    for _, f in ipairs {"stack", "hstack", "vstack", "dstack",
                        "column_stack"} do
      same(la[f], {x, x})
    end
    same(la.diag, x) same(la.diff, x) same(la.histc, x, 4)
    same(la.matrix_power, x, 3) same(la.multi_dot, {x, x, x})
    same(la.narrow_copy, x, 1, 1, 2) same(la.linear, x, x)
    same(la.normalize, x) same(la.nonzero, x) same(la.slice_scatter, x, x)
    same(la.tensordot, x, x, 1)
    same(la.avg_pool2d, x:view(1, 1, 3, 3), 2)
    same(la.avg_pool3d, x:view(1, 1, 1, 3, 3), {1, 2, 2})
  end)
end)

describe("out= and gradients", function()
  local TEXT = "out=... arguments don't support automatic differentiation"

  it("exclude each other, in composites too", function()
    local x = la.ones(2, 2, {requires_grad = true})
    for _, name in ipairs {"exp", "std", "matmul", "linear", "kron", "diff",
      "hstack", "fft.fft", "fft.rfft2", "fft.dct", "linalg.norm",
      "linalg.multi_dot"} do
      local f, args = la, {x}
      for part in name:gmatch "[^.]+" do f = f[part] end
      if ("matmul linear kron"):find(name, 1, true) then args[2] = x end
      if ("hstack linalg.multi_dot"):find(name, 1, true) then
        args[1] = {x, x}
      end
      local complex = name == "fft.fft" or name == "fft.rfft2"
      local out = empty(complex and "complex64" or "float32")
      args[#args + 1] = {out = out}
      raises(TEXT, f, table.unpack(args))
      assert.equal(0, out:numel())
      la.no_grad(f, table.unpack(args))
      assert.is_true(out:numel() > 0)
      assert.is_false(out.requires_grad)
    end
    raises(TEXT, la.add, 1, 2, {out = x:detach():requires_grad_()})
    raises(TEXT, la.sort, x, {out = {empty "float32", empty "int64"}})
  end)

  it("go together where a result has no gradient", function()
    local x = la.tensor({1., 3, 2}, {requires_grad = true})
    assert.equal(2, la.argmax(x, {out = empty "int64"}):item())
    assert.same({true, false, false}, list(la.lt(x, 2, {out = empty "bool"})))
    assert.same({{1}, {2}, {3}}, list(la.nonzero(x, {out = empty "int64"})))
  end)
end)

describe("strided memory that is read and written", function()
  it("is read as it was before", function()
    local function sample() return la.arange(6, {dtype = "float32"}) end
    local x = sample()
    x[{{1, 6, 2}}] = x[{{1, 3}}]
    assert.same({0, 1, 1, 3, 2, 5}, list(x))
    x = sample()
    x[{{1, 6, 2}}]:copy_(x[{{1, 3}}])
    assert.same({0, 1, 1, 3, 2, 5}, list(x))
    x = sample()
    x[{{1, 6, 2}}]:add_(x[{{1, 3}}])
    assert.same({0, 1, 3, 3, 6, 5}, list(x))
    x = sample()
    la.neg(x[{{1, 3}}], {out = x[{{1, 6, 2}}]})
    assert.same({0, 1, -1, 3, -2, 5}, list(x))
    x = sample()
    x[{{1, 6, 2}}]:copy_(x[{{2, 4}}]:to "float64")
    assert.same({1, 1, 2, 3, 3, 5}, list(x))
  end)

  it("keeps its gradient", function()
    local w = la.arange(6, {dtype = "float32"}):requires_grad_()
    local y = w * 1
    y[{{1, 6, 2}}]:mul_(y[{{1, 3}}])
    y:sum():backward()
    assert.same({0, 3, 5, 1, 2, 1}, list(w.grad))
  end)
end)
