-- A dim of size 1 may have any stride, and the tensor is contiguous all the
-- same. Operations that go straight to memory must not step by it.
local la = require "lunarray"

local function odd(a, b)
  return la.rand(1, a, b):transpose(1, 2)       -- a, 1, b with stride a * b
end

local function plain(x) return la.tensor(x:totable()) end

local calls = {
  linear = function(x)
    return la.linear(x, la.ones(4, x:size(3)), la.ones(4))
  end,
  linear_bare = function(x) return la.linear(x, la.ones(4, x:size(3))) end,
  matmul = function(x) return x:matmul(la.ones(x:size(3), 4)) end,
  bmm = function(x) return x:bmm(la.ones(x:size(1), x:size(3), 2)) end,
  add = function(x) return x + 1 end,
  add_row = function(x) return x + la.ones(x:size(3)) end,
  add_transposed = function(x) return x + x:transpose(1, 2):transpose(1, 2) end,
  sum = function(x) return x:sum(3) end,
  sum_middle = function(x) return x:sum(2) end,
  max = function(x) return (x:max(2)) end,
  softmax = function(x) return x:softmax(3) end,
  softmax_middle = function(x) return x:softmax(2) end,
  cumsum = function(x) return x:cumsum(1) end,
  layer_norm = function(x) return la.layer_norm(x, {x:size(3)}) end,
  sort = function(x) return (x:sort(3)) end,
  cat = function(x) return la.cat({x, x}, 2) end,
  stack = function(x) return la.stack({x, x}, 2) end,
  reshape = function(x) return x:reshape(-1) end,
  flip = function(x) return x:flip(1) end,
  gather = function(x)
    return x:gather(1, la.ones(1, 1, x:size(3), {dtype = "int64"}))
  end,
  index_select = function(x) return x:index_select(1, la.tensor{2, 1}) end,
  conv1d = function(x) return la.conv1d(x, la.ones(2, 1, 3)) end,
  avg_pool1d = function(x) return la.avg_pool1d(x, 2) end,
  clone = function(x) return x:clone() end,
  double = function(x) return x:double() end,
  fused = la.fuse(function(x) return x * 2 + x:abs() end),
  raw = function(x)
    return la.from_raw(x:tostring_raw(), "float32", x.shape)
  end,
}

describe("a stride that never counts", function()
  for name, call in pairs(calls) do
    it("changes nothing for " .. name, function()
      for _, size in ipairs{{3, 5}, {869, 24}, {70, 300}} do
        local x = odd(size[1], size[2])
        assert.is_true(x:is_contiguous())
        local expected, got = call(plain(x)), call(x)
        assert.same({expected:size()}, {got:size()})
        assert.is_true(la.allclose(got, expected, 1e-6, 1e-6))
      end
    end)
  end
end)
