-- What compiled functions take and give: every dtype, sizes at the edges,
-- numbers by kind and value, results that are tensors of their own.
local la = require "lunarray"
local nn = require "lunarray.nn"
local counted = require "spec.support.programs.counted"

-- Calls f and f compiled: both raise, or both give the same.
local function agree(f, ...)
  local step, want = la.compile(f), table.pack(pcall(f, ...))
  for _ = 1, 3 do
    local got = table.pack(pcall(step, ...))
    assert.equal(want[1], got[1], tostring(got[2]))
    for k = 2, want[1] and want.n or 1 do
      local a, b = want[k], got[k]
      assert.equal(a.dtype, b.dtype)
      assert.same(a.shape, b.shape)
      assert.equal(a:tostring_raw(), b:tostring_raw())
      for d = 1, a.ndim do assert.equal(a:stride(d), b:stride(d)) end
    end
  end
end

describe("a compiled function of", function()
  for _, dtype in ipairs{"bool", "uint8", "int8", "int16", "uint16", "int32",
    "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128"} do
    it(dtype .. " gives what the function gives", function()
      local x = la.tensor{1, 0, 1}:to(dtype)
      agree(function(a) return a + a end, x)
      agree(function(a) return a * 2, a:sum() end, x)
      agree(function(a) return a:clone(), a:reshape(3, 1) end, x)
      agree(function(a) return la.where(a:ne(0), a, a * 0), a:flip(1) end, x)
      agree(function(a) return a:exp() end, x)
    end)
  end

  local sizes = {
    ["no dim"] = la.tensor(2.5), ["no element"] = la.zeros(0),
    ["rows of nothing"] = la.zeros(3, 0), ["no rows"] = la.zeros(0, 3),
    ["a transposed matrix"] = la.arange(20.):reshape(4, 5):t(),
    ["steps along both dims"] =
      la.arange(48.):reshape(6, 8)[{{1, 6, 2}, {2, 8, 3}}],
    ["elements on the same memory"] = la.ones(3, 1):expand(3, 4),
    ["four dims"] = la.arange(120.):reshape(2, 3, 4, 5)}
  for name, x in pairs(sizes) do
    it(name .. " gives what the function gives", function()
      agree(function(a) return (a / 50 + 1):exp():sum() end, x)
      agree(function(a) return a + a, a:sum() end, x)
      agree(function(a)
        local b = a:clone()
        b:add_(1):mul_(3)
        return b
      end, x)
      agree(function(a) return a:flatten(), a:unsqueeze(1) end, x)
      agree(function(a) return (a / 50):softmax(-1) end, x)
      agree(function(a) return la.cumsum(a, 1) end, x)
    end)
  end

  it("numbers tells kinds, signs of zero and NaN apart", function()
    local step, count = counted(function(x, k) return x * k end)
    local x = la.ones(2)
    for _ = 1, 2 do
      for _, k in ipairs{1, 1.0, 0.0, -0.0, 0 / 0, math.huge,
        math.mininteger} do
        local y = step(x, k)
        assert.equal((x * k):tostring_raw(), y:tostring_raw())
      end
    end
    assert.equal(7, count[1])
  end)

  it("nested tables keeps their structure", function()
    local step = la.compile(function(t)
      return {a = {t.x * 2, {b = t.y[1] + 1}}, n = nil, s = "k", f = 1.5,
        i = 3, z = false}
    end)
    for _ = 1, 3 do
      local r = step{x = la.ones(2), y = {la.zeros(1)}}
      assert.equal(la.full({2}, 2.), r.a[1])
      assert.equal(la.ones(1), r.a[2].b)
      assert.same({"k", 1.5, "integer", false},
        {r.s, r.f, math.type(r.i), r.z})
    end
    local round = {}
    round.t = round
    assert.has_error(function() step(round) end)
  end)

  it("a tensor gives results that no later call writes", function()
    local step = la.compile(function(x)
      local y = x * 2
      return y, y:view(2, 2), y + 1
    end)
    local kept = {}
    for i = 1, 4 do kept[i] = {step(la.full({4}, i * 1.))} end
    for i = 1, 4 do
      local y, view, z = table.unpack(kept[i])
      assert.equal(la.full({4}, i * 2.), y)
      y:add_(1)
      assert.equal(la.full({2, 2}, i * 2. + 1), view)
      assert.equal(la.full({4}, i * 2. + 1), z)
    end
    local made = la.compile(function(x) return la.ones(2) * 3, x:t() end)
    for _ = 1, 4 do
      local x = la.randn(2, 2)
      local z, t = made(x)
      assert.equal(la.full({2}, 3.), z)
      z:add_(1)
      t:add_(1)
      assert.equal(x:t(), t)
      assert.equal(1, x._version)
    end
  end)

  it("a leaked tensor leaves it the value of the recording", function()
    local leaked
    local step = la.compile(function(x)
      leaked = x * 2
      return leaked + 1
    end)
    step(la.ones(2))
    for _ = 1, 3 do
      step(la.full({2}, 5.))
      assert.equal(la.full({2}, 2.), leaked)
    end
  end)

  it("a module sees parameters that were replaced", function()
    local net = nn.Linear(3, 2)
    local step = la.compile(function(x) return net(x) end)
    local x = la.randn(4, 3)
    for _, value in ipairs{false, 1., 2.} do
      if value then net.weight = nn.Parameter(la.full({2, 3}, value)) end
      for _ = 1, 3 do assert.equal(net(x), step(x)) end
    end
  end)
end)

describe("a call that fails", function()
  for _, without in ipairs{{}, {"fuse"}, {"memory"}} do
    it("leaves what the plain call leaves, without "
        .. (without[1] or "nothing"), function()
      local function f(x, y, i)
        x:add_(1)
        local z = y * 2
        y:mul_(z)
        local q = x:gather(1, i)
        y:add_(5)
        return q + z
      end
      local step = la.compile(f, {without = without})
      for k = 1, 5 do
        local a, b = la.randn(3), la.randn(3)
        local c, d = a:clone(), b:clone()
        local i = la.tensor{1, 2, k == 4 and 9 or 3}
        local ok, got = pcall(step, a, b, i)
        local fine, want = pcall(f, c, d, i)
        assert.equal(k ~= 4, fine)
        assert.equal(fine, ok)
        if fine then
          assert.equal(want, got)
        else
          assert.matches("index 9 .* is out of bounds", got)
        end
        assert.equal(c, a)
        assert.equal(d, b)
        assert.equal(d._version, b._version)
      end
    end)
  end
end)
