-- la.testing.assert_close: PyTorch's rules and its report, indices from one.
local la = require "lunarray"

local raises = require "spec.support.raises"

local close = la.testing.assert_close
local T = la.tensor
local NAN = 0 / 0

describe("assert_close", function()
  it("passes what is close", function()
    close(T{1.0, 2.0}, T{1.0, 2.000001})
    close(T{1, 2}, T{1, 2})
    close(T{}, T{})
    close(1.0, 1.00000001)
    close(1, 1.0)
    close({a = T{1.0}, 2}, {a = T{1.0}, 2})
    close(T{1.0, NAN}, T{1.0, NAN}, {equal_nan = true})
    close(T{1.0, 1 / 0}, T{1.0, 1 / 0})
    close(T{1.0}, T{1.05}, {rtol = 0.1, atol = 0})
    close(T{1.0}, la.tensor({1.0}, "float64"), {check_dtype = false})
    close(la.ones(2, {device = "meta"}), la.ones(2, {device = "meta"}))
    close(la.ones(2, {requires_grad = true}), la.ones(2))
    close(T({true}), T({true}))
  end)

  it("reports as PyTorch does", function()
    raises("Tensor-likes are not close!\n\n"
      .. "Mismatched elements: 2 / 4 (50.0%)\n"
      .. "Greatest absolute difference: 1.0 at index {2, 2} (up to 1e-05 "
      .. "allowed)\n"
      .. "Greatest relative difference: " .. T{0.2}:item()
      .. " at index {1, 2} (up to 1.3e-06 allowed)", close, T{{1.0, 2}, {3, 4}},
      T{{1.0, 2.5}, {3, 5}})
    raises("Tensor-likes are not equal!\n\n"
      .. "Mismatched elements: 1 / 4 (25.0%)\n"
      .. "Greatest absolute difference: 1 at index {2, 2}\n"
      .. "Greatest relative difference: " .. T{0.2}:item()
      .. " at index {2, 2}", close, T{{1, 2}, {3, 4}}, T{{1, 2}, {3, 5}})
    raises("Scalars are not close!\n\nExpected 2.0 but got 1.0.\n"
      .. "Absolute difference: 1.0 (up to 1e-07 allowed)\n"
      .. "Relative difference: 0.5 (up to 1e-07 allowed)", close, 1.0, 2.0)
    raises("Scalars are not equal!\n\nExpected 2 but got 1.\n"
      .. "Absolute difference: 1\nRelative difference: 0.5", close, 1, 2)
  end)

  it("keeps numbers that wrap, NaN and infinities apart", function()
    local u8 = {dtype = "uint8"}
    raises("Greatest absolute difference: 1 at index {1}\n"
      .. "Greatest relative difference: 1.0 at index {2}", close, T({1, 2}, u8),
      T({2, 1}, u8))
    raises("absolute difference: nan at index {2}", close, T{1.0, NAN},
      T{1.0, NAN})
    raises("absolute difference: inf at index {2}", close, T{1.0, 1 / 0},
      T{1.0, 2.5})
    raises("relative difference: inf at index {2}", close, T{0.0, 1.0},
      T{0.5, 0.0})
    raises("1 / 2 (50.0%)", close, T{true, false}, T{true, true})
    raises("Expected 1.0+2i but got 1.0+1i", close, la.complex(1.0, 1.0),
      la.complex(1.0, 2.0))
  end)

  it("compares shape, dtype, device and strides", function()
    raises("'shape' do not match: {2} != {3}", close, la.ones(2), la.ones(3))
    raises("'dtype' do not match: float32 != float64", close, la.ones(2),
      la.ones(2, {dtype = "float64"}))
    raises("'device' do not match: cpu != meta", close, la.ones(2),
      la.ones(2, {device = "meta"}))
    raises("'stride()' do not match: {1, 2} != {2, 1}", close,
      la.ones(2, 2).mT, la.ones(2, 2), {check_stride = true})
  end)

  it("says where in a table", function()
    raises("The failure occurred for item [2]", close, {T{1}, T{1}},
      {T{1}, T{2}})
    raises('The failure occurred for item ["a"][1]', close, {a = {1}},
      {a = {2}})
    raises("sequences mismatch: 2 != 3", close, {1, 2}, {1, 2, 3})
    raises('Missing keys in the actual mapping: ["b"]\nAdditional keys in the '
      .. 'actual mapping: ["a"]', close, {a = 1}, {b = 1})
  end)

  it("checks its arguments and blames the caller", function()
    raises("got no atol", close, T{1.0}, T{1.0}, {rtol = 0})
    raises("unknown keyword 'tol'", close, T{1.0}, T{1.0}, {tol = 0})
    raises("rtol: number expected, got string", close, 1, 1, {rtol = "a",
      atol = 0})
    raises("table of options expected", close, 1, 1, 3)
    raises("No comparison of a tensor with a string", close, T{1.0}, "a")
    assert.truthy(raises("hello", function()
      close(1, 2, {msg = "hello"})
    end):find("testing_spec.lua:%d+: hello"))
    raises("hello Scalars", close, 1, 2, {msg = function(text)
      return "hello " .. text
    end})
  end)

  it("is an assertion of luassert", function()
    la.testing.luassert(assert)
    assert.tensors_close(T{1.0}, T{1.0})
    local ok, message = pcall(assert.tensors_close, T{1.0}, T{2.0})
    assert.is_false(ok)
    assert.truthy(tostring(message):find("1 / 1 (100.0%)", 1, true))
  end)

  it("has a text for each of its functions", function()
    for name in pairs(require "lunarray.testing") do
      assert.falsy(la.help("testing." .. name):find "^nothing is known")
    end
  end)
end)
