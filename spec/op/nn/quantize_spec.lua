-- Numbers in 4 and 8 bits: what comes back, and products with them.
local la = require "lunarray"
local raises = require "spec.support.raises"

-- Scale and bias of a group as MLX chooses them, in Lua's numbers.
local function by_definition(list, bits)
  local low, high, steps = math.huge, -math.huge, 2 ^ bits - 1
  for _, v in ipairs(list) do
    low, high = math.min(low, v), math.max(high, v)
  end
  local below = -low > high
  local s = math.max((high - low) / steps, 1e-7)
  local edge = below and low or high
  s = below and s or -s
  local whole = math.floor(edge / s + 0.5)
  if whole == 0 then return s, 0 end
  return edge / whole, edge
end

describe("quantize", function()
  it("keeps numbers to a step or so, zero and the farther end exactly",
  function()
    la.manual_seed(11)
    for _, bits in ipairs{4, 8} do
      for _, group in ipairs{32, 64, 96} do
        local x = la.randn{3, 5, 2 * group}
        x[{{}, {}, 7}] = 0
        local q, scales, biases = la.quantize(x, {bits = bits, group = group})
        assert.are.equal("uint8", q.dtype)
        assert.are.same({3, 5, 2 * group * bits // 8}, q.shape)
        assert.are.same({3, 5, 2}, scales.shape)
        local y = la.dequantize(q, scales, biases, {bits = bits,
          group = group})
        local gap = (y - x):abs():view(3, 5, 2, group)
        local step = scales:abs():unsqueeze(-1)
        assert.is_true((gap / step):max():item() < 1.6)
        assert.is_true(y[{{}, {}, 7}]:abs():max():item() < 1e-6)
        local list = x[{1, 1, {1, group}}]:totable()
        local s, b = by_definition(list, bits)
        assert.near(s, scales[{1, 1, 1}]:item(), 1e-6)
        assert.near(b, biases[{1, 1, 1}]:item(), 1e-6)
      end
    end
  end)

  it("takes constant groups, 16-bit floats, strides and nothing", function()
    for _, value in ipairs{0, 1, -3} do
      local x = la.full({2, 64}, value + 0.0)
      local back = la.dequantize(la.quantize(x))
      assert.is_true((back - x):abs():max():item() < 1e-6)
    end
    local half = la.randn{4, 64}:half()
    local q = la.quantize(half)
    assert.is_true(q:equal((la.quantize(half:float()))))
    local flipped = la.randn{64, 4}:t()
    assert.is_true((la.quantize(flipped)):equal(
      (la.quantize(flipped:contiguous()))))
    local none = la.quantize(la.zeros{0, 64}, {bits = 8})
    assert.are.same({0, 64}, none.shape)
    assert.are.same({2, 32}, la.quantize(la.zeros({2, 64},
      {device = "meta"})).shape)
  end)

  it("is multiplied as what it stands for", function()
    la.manual_seed(12)
    local before = la.get_num_threads()
    for _, bits in ipairs{4, 8} do
      local w = la.randn{37, 192}
      local q, s, b = la.quantize(w, {bits = bits, group = 64})
      local full = la.dequantize(q, s, b, {bits = bits}):double()
      for _, shape in ipairs{{192}, {1, 192}, {2, 3, 192}, {9, 192},
        {0, 192}} do
        local x = la.randn(shape)
        local y = la.quantized_matmul(x, q, s, b, {bits = bits})
        local want = la.linear(x:double(), full)
        assert.are.same(want.shape, y.shape)
        if y:numel() > 0 then
          assert.is_true((y - want):abs():max():item() < 1e-3)
        end
        la.set_num_threads(3)
        assert.is_true(y:equal(la.quantized_matmul(x, q, s, b,
          {bits = bits})))
        la.set_num_threads(before)
      end
      local half = la.randn{2, 192}:half()
      assert.are.equal("float16",
        la.quantized_matmul(half, q, s, b, {bits = bits}).dtype)
    end
  end)

  it("spans the whole range of float32; infinities make a group NaN",
    function()
      local x = la.zeros{3, 64}
      x[{1, 1}], x[{1, 2}], x[{1, 3}] = 3e38, -3e38, 1e38
      x[{2, 5}], x[{3, 64}] = math.huge, 0 / 0
      for _, bits in ipairs{4, 8} do
        local q, s, b = la.quantize(x, bits)
        local y = la.dequantize(q, s, b, {bits = bits})
        local far = (y[1] - x[1]):abs():max():item()
        assert.is_true(far <= 1.01 * s[{1, 1}]:abs():item())
        assert.is_true((y[{{2, 3}}]:isnan():all()))
      end
    end)

  it("says what is wrong", function()
    local x = la.randn{2, 64}
    local q, s, b = la.quantize(x)
    raises("bits must be", la.quantize, x, {bits = 3})
    raises("multiple of 32", la.quantize, x, {group = 20})
    raises("divide", la.quantize, la.zeros{2, 65})
    raises("divide", la.quantize, la.zeros{})
    raises("not implemented", la.quantize, x:int())
    raises("do not fit", la.dequantize, q, s, b, {bits = 8})
    raises("do not fit", la.dequantize, q, s[1], b[1])
    raises("not implemented for 'Float'", la.dequantize, x, s, b)
    raises("rows of 64", la.quantized_matmul, la.zeros{1, 32}, q, s, b)
    raises("matrix of values", la.quantized_matmul, x, q[1], s[1], b[1])
  end)
end)
