-- Normalisations whose weights and moments have another dtype than the input,
-- as networks in 16 bits keep them: the result has the input's dtype, and each
-- element is rounded to it once.
local la = require "lunarray"

local FLOATS = {"float16", "bfloat16", "float32", "float64"}

-- The call of each word with x of (4, 6, 10) and vectors for its channels.
local WORDS = {
  layer_norm = function(x, v)
    return la.layer_norm(x:transpose(2, 3), {6}, v.weight, v.bias)
  end,
  group_norm = function(x, v)
    return la.group_norm(x, 3, v.weight, v.bias)
  end,
  instance_norm = function(x, v)
    return la.instance_norm(x, nil, nil, v.weight, v.bias)
  end,
  batch_norm = function(x, v)
    return la.batch_norm(x, nil, nil, v.weight, v.bias, true)
  end,
  batch_norm_as_before = function(x, v)
    return la.batch_norm(x, v.mean, v.var, v.weight, v.bias)
  end,
  batch_norm_that_follows = function(x, v)
    return la.batch_norm(x, v.mean:clone(), v.var:clone(), v.weight, v.bias,
      true)
  end,
}

local function vectors(dtype)
  local v = {}
  for k, name in ipairs {"weight", "bias", "mean", "var"} do
    v[name] = (la.range(1, 6) * 0.25 + k):to(dtype)
  end
  return v
end

local function wide(v)
  local list = {}
  for name, t in pairs(v) do list[name] = t:double() end
  return list
end

describe("a norm with vectors of another dtype", function()
  local epsilon = {float16 = 2 ^ -10, bfloat16 = 2 ^ -7, float32 = 2 ^ -20,
    float64 = 2 ^ -48}
  for name, run in pairs(WORDS) do
    it("has its input's dtype: " .. name, function()
      la.manual_seed(3)
      local x = la.randn(4, 6, 10)
      for _, dtype in ipairs(FLOATS) do
        for _, other in ipairs(FLOATS) do
          local input, v = x:to(dtype), vectors(other)
          local got, want = run(input, v), run(input:double(), wide(v))
          assert.equal(dtype, got.dtype, other)
          local e = math.max(epsilon[dtype], other == "float64" and 0
            or 2 ^ -20)
          assert.is_true(la.allclose(got:double(), want, e, e),
            dtype .. " with " .. other)
        end
      end
    end)

    it("has gradients of each one's dtype: " .. name, function()
      local x = la.randn(4, 6, 10):bfloat16():requires_grad_()
      local v = vectors "float32"
      v.weight:requires_grad_()
      v.bias:requires_grad_()
      run(x, v):float():square():sum():backward()
      assert.equal("bfloat16", x.grad.dtype)
      assert.equal("float32", v.weight.grad.dtype)
      assert.equal("float32", v.bias.grad.dtype)
    end)
  end

  it("keeps the imaginary parts of complex vectors", function()
    local x, v = la.randn(4, 6, 10), vectors "complex64"
    for name, t in pairs(v) do v[name] = t + la.complex(0, 1) end
    for _, name in ipairs {"group_norm", "instance_norm", "batch_norm"} do
      assert.equal("complex64", WORDS[name](x, v).dtype)
    end
  end)
end)
