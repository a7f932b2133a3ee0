-- signal.convolve and correlate directly, of more than three dims: against the
-- sums written out in Lua, the method by transforms, and within little memory.
local la = require "lunarray"

-- The full convolution of two tensors of four dims, and its sizes.
local function written_out(a, v)
  local m, n, full = a.shape, v.shape, {}
  for d = 1, 4 do full[d] = m[d] + n[d] - 1 end
  local out = la.zeros(full, {dtype = "float64"})
  local function each(sizes, f)
    for i = 1, sizes[1] do for j = 1, sizes[2] do
      for k = 1, sizes[3] do for l = 1, sizes[4] do f{i, j, k, l} end end
    end end
  end
  each(m, function(p)
    each(n, function(q)
      local at = {}
      for d = 1, 4 do at[d] = p[d] + q[d] - 1 end
      out[at] = out[at]:item() + a[p]:item() * v[q]:item()
    end)
  end)
  return out, m, n
end

local function part(full, m, n, mode)
  if mode == "full" then return full end
  for d = 1, 4 do
    local least, most = math.min(m[d], n[d]), math.max(m[d], n[d])
    local first = mode == "same" and (n[d] - 1) // 2 + 1 or least
    local count = mode == "same" and m[d] or most - least + 1
    full = full:narrow(d, first, count)
  end
  return full
end

describe("signal.convolve of four dims", function()
  for _, dtype in ipairs{"float64", "float32", "int64"} do
    it("is the sum of products in " .. dtype, function()
      for _, sizes in ipairs{{{3, 4, 2, 3}, {2, 3, 2, 1}},
          {{2, 2, 2, 2}, {2, 2, 3, 2}}, {{3, 1, 4, 2}, {1, 1, 1, 1}}} do
        local a = (la.rand(sizes[1]) * 9):floor():to(dtype)
        local v = (la.rand(sizes[2]) * 9 - 4):floor():to(dtype)
        local full, m, n = written_out(a, v)
        for _, mode in ipairs{"full", "same", "valid"} do
          local got = la.signal.convolve(a, v, mode, "direct")
          assert.equal(dtype, got.dtype)
          assert.is_true(la.equal(part(full, m, n, mode), got:double()), mode)
        end
      end
    end)
  end

  it("agrees with transforms in five and six dims", function()
    for _, n in ipairs{5, 6} do
      local a = la.rand({3, 2, 3, 2, 3, 2}, {dtype = "float64"})
      local v = la.rand({2, 2, 1, 2, 2, 1}, {dtype = "float64"})
      if n == 5 then a, v = a[1], v[1] end
      for _, f in ipairs{la.signal.convolve, la.signal.correlate} do
        assert.is_true(la.allclose(f(a, v, "full", "fft"),
                                   f(a, v, "full", "direct")))
      end
    end
  end)

  it("has its gradient", function()
    local a = la.rand(2, 3, 2, 2, {dtype = "float64", requires_grad = true})
    local v = la.rand(2, 2, 1, 2, {dtype = "float64", requires_grad = true})
    assert.is_true(la.gradcheck(function(x, y)
      return la.signal.convolve(x, y, "same", "direct")
    end, {a, v}))
  end)

  it("copies no windows", function()
    local a, v = la.rand(12, 12, 12, 12), la.rand(6, 6, 6, 6)
    la.signal.convolve(a, v, "valid", "direct")
    collectgarbage()
    collectgarbage()
    la.set_memory_limit(la.memory() + (16 << 20))
    local ok, why = pcall(la.signal.convolve, a, v, "same", "direct")
    la.set_memory_limit()
    assert.is_true(ok, why)
  end)
end)
