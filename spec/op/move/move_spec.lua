-- Elements that only move: borders, rolls, flips, joins. Each result is
-- compared with one made element by element from where its index says it comes
-- from.
local la = require "lunarray"

-- The index (from 0) that stands at position i of a dim with n elements, of
-- which first..last - 1 are left where the numbers of the border cut.
local source = {
  reflect = function(i, n)
    return i < 0 and -i or i >= n and 2 * n - 2 - i or i
  end,
  replicate = function(i, n) return math.max(0, math.min(n - 1, i)) end,
  circular = function(i, _, first, last)
    return first + (i - first) % (last - first)
  end,
}

-- The result of sizes 'shape' whose element i comes from element from(d, i) of
-- dim d, indices from 0.
local function moved(x, shape, from)
  local index = {}
  for d = 1, x.ndim do
    local list = {}
    for i = 1, shape[d] do list[i] = from(d, i - 1) + 1 end
    index[d] = la.tensor(list, {dtype = "int64"})
  end
  local y = x
  for d = 1, x.ndim do y = y:index_select(d, index[d]) end
  return y
end

local function padded(x, pads, mode)
  local shape, before, after = {}, {}, {}
  for d = 1, x.ndim do
    local k = 2 * (x.ndim - d) + 1
    before[d], after[d] = pads[k] or 0, pads[k + 1] or 0
    shape[d] = x:size(d) + before[d] + after[d]
  end
  return moved(x, shape, function(d, i)
    local n = x:size(d)
    return source[mode](i - before[d], n, math.max(0, -before[d]),
      n + math.min(0, after[d]))
  end)
end

local function rolled(x, shifts)
  local shape = {table.unpack(x.shape)}
  return moved(x, shape, function(d, i)
    return (i - (shifts[d] or 0)) % x:size(d)
  end)
end

local function numbered(dtype, ...)
  local x = la.arange(la.ones(...):numel()):view(...)
  return dtype == "bool" and x:remainder(3):eq(0) or x:to(dtype)
end

local function same(want, got)
  assert.same({table.unpack(want.shape)}, {table.unpack(got.shape)})
  assert.equal(want.dtype, got.dtype)
  assert.is_true(la.equal(want, got))
end

local dtypes = {"bool", "bfloat16", "float32", "float64", "complex64",
  "complex128"}

describe("a border of the tensor's own elements", function()
  local pads = {{2, 1}, {1, 2, 3, 0}, {0, 3, -1, 2}, {-2, -1, 2, 2},
    {5, 4, 4, 3, 1, 1}, {0, 0}, {-1, 3, 2, -2}, {3, -3, -4, 1}}

  for mode in pairs(source) do
    it(mode .. ", every size of element", function()
      for _, dtype in ipairs(dtypes) do
        local x = numbered(dtype, 2, 5, 6)
        for _, p in ipairs(pads) do same(padded(x, p, mode), x:pad(p, mode)) end
      end
    end)

    it(mode .. ", any layout", function()
      local x = numbered("float32", 3, 4, 6, 7)
      local p = {2, 2, 1, 0}
      for _, y in ipairs{x:transpose(3, 4), x:transpose(1, 4), x[{{}, 2}],
        x:narrow(4, 2, 5), x:flip(4), la.arange(5):expand(3, 5)} do
        same(padded(y:contiguous(), p, mode), y:pad(p, mode))
      end
      local last = x:contiguous("channels_last")
      local y = last:pad(p, mode)
      assert.is_true(y:is_contiguous("channels_last"))
      same(padded(x, p, mode), y)
    end)

    it(mode .. ", the same with threads, and for lazy conjugates", function()
      local before = la.get_num_threads()
      local x = la.rand(7, 3, 120, 131)
      la.set_num_threads(1)
      local one = x:pad({3, 2, 1, 4}, mode)
      la.set_num_threads(3)
      local three = x:pad({3, 2, 1, 4}, mode)
      la.set_num_threads(before)
      same(one, three)
      same(padded(x, {3, 2, 1, 4}, mode), one)
      local z = la.complex(la.rand(3, 4), la.rand(3, 4)):conj()
      same(padded(z:resolve_conj(), {1, 2}, mode), z:pad({1, 2}, mode))
    end)
  end

  it("a cut may take everything but the border", function()
    local x = la.tensor{{5., 9, 3, 1}}
    local function row(...) return x:pad(...)[1]:totable() end
    assert.same({3}, row({-4, 1}, "reflect"))
    assert.same({9}, row({-5, 2}, "reflect"))
    assert.same({3}, row({2, -5}, "reflect"))
    assert.same({1}, row({-5, 2}, "replicate"))
    assert.same({5}, row({2, -5}, "replicate"))
    assert.same({9, 3, 1, 9}, row({-1, 1}, "circular"))
    assert.same({3, 5, 9, 3}, row({1, -1}, "circular"))
    for _, p in ipairs{{-4, 1}, {-5, 2}, {2, -5}} do
      assert.is_false(pcall(la.pad, x, p, "circular"))
    end
    for _, p in ipairs{{math.mininteger, math.maxinteger},
      {math.mininteger + 1, math.maxinteger}} do
      assert.is_false(pcall(la.pad, x, p, "replicate"))
      assert.is_false(pcall(la.pad, x, p))
    end
  end)

  it("is an operation of its own, with shapes for the meta device", function()
    local x = numbered("float32", 3, 4)
    same(x:pad({1, 2}, "reflect"), la.border_pad_nd(x, {1, 2}, "reflect"))
    local y = la.zeros(3, 4, {device = "meta"}):pad({1, 2, 1, 0}, "circular")
    assert.same({4, 7}, {table.unpack(y.shape)})
    y = la.zeros(4, 3, {device = "meta"}):roll(1)
    assert.same({4, 3}, {table.unpack(y.shape)})
  end)

  it("refuses what has no source", function()
    local x = la.rand(3, 4)
    local function refused(text, ...)
      local ok, message = pcall(la.pad, ...)
      assert.is_false(ok)
      assert.truthy(tostring(message):find(text, 1, true), tostring(message))
    end
    refused("less than the corresponding", x, {4, 0}, "reflect")
    refused("wrapping around more than once", x, {0, 5}, "circular")
    refused("non-empty", la.zeros(3, 0), {1, 1}, "replicate")
    refused("negative output size", x, {-3, -3}, "reflect")
    refused("even", x, {1}, "reflect")
    refused("twice the number", x, {1, 1, 1, 1, 1, 1}, "reflect")
    local empty = la.zeros(0, 4):pad({1, 1}, "reflect")
    assert.same({0, 6}, {table.unpack(empty.shape)})
    assert.same({3, 0}, {table.unpack(x:pad({-2, -2}, "replicate").shape)})
  end)
end)

describe("roll", function()
  it("moves every size of element along any dims", function()
    for _, dtype in ipairs(dtypes) do
      local x = numbered(dtype, 2, 5, 6)
      for s1 = -3, 7, 5 do
        for s3 = -7, 8, 3 do
          same(rolled(x, {s1, 0, s3}), x:roll({s1, s3}, {1, 3}))
          same(rolled(x, {0, s1 + s3}), x:roll({s1, s3}, {2, 2}))
        end
      end
      same(rolled(x:flatten(), {7}):view(2, 5, 6), x:roll(7))
      same(rolled(x:flatten(), {-61}):view(2, 5, 6), x:roll(-61))
    end
  end)

  it("takes any layout", function()
    local x = numbered("float64", 3, 4, 6, 7)
    for _, y in ipairs{x:transpose(3, 4), x:transpose(1, 4), x[{{}, 2}],
      x:narrow(4, 2, 5), la.arange(5):expand(3, 5)} do
      local plain = y:contiguous()
      same(rolled(plain, {1, 2}), y:roll({1, 2}, {1, 2}))
      same(rolled(plain:flatten(), {4}):view(table.unpack(y.shape)), y:roll(4))
    end
    local y = x:contiguous("channels_last"):roll({1, -2, 3}, {2, 3, 4})
    assert.is_true(y:is_contiguous("channels_last"))
    same(rolled(x, {0, 1, -2, 3}), y)
    same(rolled(x:flatten(), {5}):view(3, 4, 6, 7),
         x:contiguous("channels_last"):roll(5))
    assert.equal(3, la.tensor(3):roll(4):item())
    assert.same({0, 3}, {table.unpack(la.zeros(0, 3):roll(1, 1).shape)})
    assert.has_error(function() la.tensor(3):roll(1, 1) end)
    assert.has_error(function() x:roll({1, 2}, {1}) end)
    assert.has_error(function() x:roll({}) end)
    assert.has_error(function() x:roll(1, 5) end)
  end)

  it("gives gradients back where they came from", function()
    local x = la.rand(3, 4):requires_grad_()
    local w = la.rand(3, 4)
    x:roll({1, 2}, {1, 2}):backward(w)
    same(w:roll({-1, -2}, {1, 2}), x.grad)
    x.grad = nil
    x:roll(5):backward(w)
    same(w:roll(-5), x.grad)
  end)
end)

describe("rows of few elements", function()
  it("are flipped and joined, of every width and size", function()
    for _, dtype in ipairs(dtypes) do
      for w = 1, 70 do
        local x = numbered(dtype, 11, w)
        local back = la.arange(11, 0, -1)
        same(x:index_select(1, back), x:flip(1))
        local y = la.cat({x, x:flip(1), x[{{}, {1, 1}}]}, 2)
        assert.same({11, 2 * w + 1}, {table.unpack(y.shape)})
        same(x, y:narrow(2, 1, w):contiguous())
        same(x:index_select(1, back), y:narrow(2, w + 1, w):contiguous())
        same(x:select(2, 1), y:select(2, 2 * w + 1):contiguous())
        local z = la.stack({x, x:flip(1)}, 2)
        same(x, z:select(2, 1):contiguous())
        same(x:flip(1), z:select(2, 2):contiguous())
      end
    end
  end)

  it("of three bytes leave their neighbours alone", function()
    for n = 1, 9 do
      local x = numbered("uint8", n, 3)
      local guarded = la.full({n + 2, 3}, 77, {dtype = "uint8"})
      guarded[{{2, n + 1}}]:copy_(x:flip(1))
      same(x:index_select(1, la.arange(n, 0, -1)), guarded:narrow(1, 2, n))
      assert.same({77, 77, 77}, guarded[1]:totable())
      assert.same({77, 77, 77}, guarded[n + 2]:totable())
      local wide = numbered("uint8", n, 5)[{{}, {2, 4}}]
      same(wide:index_select(1, la.arange(1, n + 1)), wide:contiguous())
    end
  end)

  it("of any length roll, however near the memory looks", function()
    for _, n in ipairs {70, 300, 511, 513, 1023, 1025, 4000} do
      local x = la.arange(0, 4 * n):view(4, n)
      for _, shift in ipairs {1, 5, 128} do
        local k = shift % n
        same(la.cat({x:narrow(2, n - k + 1, k), x:narrow(2, 1, n - k)}, 2),
             x:roll(shift, 2))
      end
    end
  end)
end)
