-- Tensors from nothing: values, dtype inference, options, errors.
local la = require "lunarray"

local function list(t) return t:totable() end

local raises = require "spec.support.raises"

describe("sizes", function()
  it("come as varargs, a table, or a table with options", function()
    for _, x in ipairs{la.zeros(2, 3), la.zeros({2, 3}), la.zeros{2, 3}} do
      assert.same({2, 3}, {x:size(1), x:size(2)})
    end
    assert.equal("float64", la.zeros{2, 3, dtype = "float64"}.dtype)
    assert.equal("float64", la.zeros(2, {dtype = "float64"}).dtype)
    assert.equal(0, la.zeros{}.ndim)
    assert.equal(0, la.zeros(0, 5):numel())
  end)

  it("are checked before memory is asked for", function()
    raises("negative", la.zeros, -1)
    raises("size overflow", la.zeros, 1 << 40, 1 << 40)
    raises("size overflow", la.zeros, 4194305, 4194305, 211106198978564)
    raises("number has no integer representation", la.zeros, 2.5)
    raises("unknown keyword 'foo'", la.zeros, 2, {foo = 1})
  end)
end)

describe("options", function()
  it("are shared", function()
    local x = la.ones(2, 3, {dtype = "float64", names = {"N", "C"},
                             requires_grad = true})
    assert.equal("float64", x.dtype)
    assert.equal("C", x.names[2])
    assert.is_true(x.requires_grad)
    assert.equal("meta", la.empty(2, {device = "meta"}).device)
    local y = la.zeros(2, 3, 4, 5, {memory_format = "channels_last"})
    assert.equal(1, y:stride(2))
  end)

  it("are checked", function()
    raises("only Tensors of floating point and complex dtype can require "
          .. "gradients", la.ones, 2, {dtype = "int64", requires_grad = true})
    raises("names", la.ones, 2, 3, {names = {"N"}})
    raises("unknown dtype", la.ones, 2, {dtype = "float31"})
  end)

  it("leave the dtype to out", function()
    local out = la.empty(0, {dtype = "int16"})
    assert.equal(out, la.arange(3, {out = out}))
    assert.same({0, 1, 2}, list(out))
  end)
end)

describe("full", function()
  it("takes the dtype from the number", function()
    assert.equal("int64", la.full({2}, 2).dtype)
    assert.equal("float32", la.full({2}, 2.0).dtype)
    assert.equal("bool", la.full({2}, true).dtype)
    assert.equal("uint8", la.full_like(la.zeros(2):byte(), 3).dtype)
    raises("300", la.full, {2}, 300, {dtype = "uint8"})
  end)
end)

describe("like and new", function()
  it("keep dtype and layout", function()
    local x = la.zeros(2, 3, {dtype = "int16"}).T
    local y = la.ones_like(x)
    assert.equal("int16", y.dtype)
    assert.equal(x:stride(1), y:stride(1))
    assert.equal("float64", la.zeros_like(x, {dtype = "float64"}).dtype)
    assert.same({1, 1}, list(x:new_ones(2)))
    assert.same({5, 5}, list(x:new_full({2}, 5)))
    assert.equal("int16", x:new_empty(2).dtype)
    assert.equal(2, la.empty_strided({2, 2}, {1, 2}):stride(2))
    raises("as many strides as sizes", la.empty_strided, {2, 2}, {1})
    raises("size overflow", la.empty_strided, {2, 1}, {math.maxinteger, 2})
  end)
end)

describe("arange and range", function()
  it("count", function()
    assert.same({0, 1, 2}, list(la.arange(3)))
    assert.same({5, 4, 3}, list(la.arange(5, 2, -1)))
    assert.same({0.0, 0.5, 1.0}, list(la.arange(0, 1.5, 0.5)))
    assert.same({1, 2, 3}, list(la.range(3)))
    assert.same({2, 5, 8}, list(la.range(2, 9, 3)))
    assert.same({0.0, 0.5, 1.0}, list(la.range(0, 1, 0.5)))
    assert.equal(0, la.range(3, 1):numel())
    assert.equal(10, la.arange(0, 1, 0.1):numel())
  end)

  it("are exact for large integers", function()
    local first = math.maxinteger - 2
    assert.same({first, first + 1}, list(la.arange(first, math.maxinteger)))
    assert.same({math.mininteger, -(1 << 62), 0},
                list(la.arange(math.mininteger, 1, 1 << 62)))
  end)

  it("refuse nonsense", function()
    raises("step must be nonzero", la.arange, 0, 1, 0)
    raises("inconsistent with step sign", la.arange, 5, 1)
    raises("unsupported range", la.arange, 0, 1 / 0)
    raises("invalid size", la.arange, 0, 1e300)
  end)
end)

describe("linspace and logspace", function()
  it("have exact ends", function()
    for n = 2, 60 do
      local x = la.linspace(-0.1, 0.7, n, {dtype = "float64"})
      assert.equal(-0.1, x[1]:item())
      assert.equal(0.7, x[-1]:item())
    end
    assert.same({3.0}, list(la.linspace(3, 9, 1)))
    assert.same({0, 2, 5}, list(la.linspace(0, 5, 3, {dtype = "int64"})))
    assert.same({0.0, 0.5}, list(la.linspace(0, 1, 2, {endpoint = false})))
    for n = 1, 60 do
      local open = la.linspace(-0.1, 0.7, n, false, {dtype = "float64"})
      local closed = la.linspace(-0.1, 0.7, n + 1, {dtype = "float64"})
      assert.same(list(closed[{{1, n}}]), list(open))
    end
    assert.same({1.0, 10.0, 100.0}, list(la.logspace(0, 2, 3)))
    assert.same({1.0, 2.0, 4.0}, list(la.logspace(0, 2, 3, {base = 2})))
    raises("number of steps must be non-negative", la.linspace, 0, 1, -1)
  end)

  it("do not depend on threads", function()
    local before = la.get_num_threads()
    la.set_num_threads(1)
    local one = la.linspace(0, 1, 300001)
    la.set_num_threads(7)
    local seven = la.linspace(0, 1, 300001)
    la.set_num_threads(before)
    assert.is_true(one:equal(seven))
  end)
end)

describe("eye", function()
  it("has a diagonal", function()
    assert.same({{1.0, 0.0}, {0.0, 1.0}}, list(la.eye(2)))
    assert.same({{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, list(la.eye(2, 3, 1)))
    assert.equal(0, la.eye(0):numel())
    raises("greater or equal to 0", la.eye, -1)
  end)
end)

describe("complex and polar", function()
  it("complex of two numbers keeps all their digits", function()
    local z = la.complex(1.2, 0.1)
    assert.same({1.2, 0.1}, {z.real:item(), z.imag:item()})
    local x = la.ones(2, {dtype = "complex128"})
    assert.equal(1.2, (x * z).real[1]:item())
    assert.equal(0.1, x:lerp(x + 1, z).imag[1]:item())
    assert.equal("complex64", (la.ones(2) * z).dtype)
  end)

  it("complex refuses an out= of another dtype", function()
    local x, other = la.ones(2), la.zeros(2, {dtype = "complex128"})
    assert.has_error(function() la.complex(x, x, {out = other}) end)
    la.complex(x, x, {out = la.zeros(2, {dtype = "complex64"})})
  end)
  it("join parts", function()
    local z = la.complex(la.tensor{1.0, 2.0}, la.tensor{3.0, 4.0})
    assert.equal("complex64", z.dtype)
    assert.same({{1.0, 3.0}, {2.0, 4.0}}, list(la.view_as_real(z)))
    local re, im = la.complex(1, 2):item()
    assert.same({1.0, 2.0}, {re, im})
    local p = la.polar(la.tensor{2.0}, la.tensor{0.0})
    assert.same({{2.0, 0.0}}, list(la.view_as_real(p)))
    raises("Expected both inputs to be Half, Float or Double tensors but got "
          .. "Int and Int", la.complex, la.zeros(2):int(), la.zeros(2):int())
    raises("Expected object of scalar type Float but got scalar type Double "
          .. "for second argument", la.complex, la.zeros(2),
          la.zeros(2):double())
  end)
end)
