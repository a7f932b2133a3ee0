-- Rows and elements through index tensors: every width of a row, every layout,
-- compared with rows that are picked one by one.
local la = require "lunarray"

local dtypes = {"uint8", "bfloat16", "float32", "float64", "complex128"}
local widths = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 127,
  130, 300}

-- n positions in 1..m, some of them counted from the end.
local function indices(n, m, g)
  local i = la.randint(1, m, {n}, {generator = g})
  return la.where(la.rand(n, {generator = g}):gt(0.3), i, i - (m + 1))
end

local function numbered(dtype, ...)
  local x = la.arange(la.ones(...):numel()):view(...)
  return x:remainder(251):to(dtype)
end

local function picked(x, index)
  local rows = {}
  for k, i in ipairs(index:totable()) do rows[k] = x[i] end
  return la.stack(rows)
end

local raises = require "spec.support.raises"

describe("rows through an index", function()
  it("are read, of every width", function()
    local g = la.Generator(5)
    for _, dtype in ipairs(dtypes) do
      for _, w in ipairs(widths) do
        local x, i = numbered(dtype, 9, w), indices(131, 9, g)
        local want = picked(x, i)
        assert.is_true(la.equal(want, x:index_select(1, i)))
        assert.is_true(la.equal(want, x[i]))
        assert.is_true(la.equal(want, la.embedding(i, x)))
        assert.is_true(la.equal(want, x:index_select(1, i:int())))
        assert.is_true(la.equal(want:t(), x:t():index_select(2, i)))
        assert.is_true(la.equal(picked(x, i[{{1, nil, 3}}]),
                                x:index_select(1, i[{{1, nil, 3}}])))
      end
    end
  end)

  it("are written, of every width, the last of equals staying", function()
    local g = la.Generator(6)
    for _, dtype in ipairs(dtypes) do
      for _, w in ipairs(widths) do
        local v, i = numbered(dtype, 131, w), indices(131, 9, g)
        local want = la.zeros(9, w, {dtype = dtype})
        for k, at in ipairs(i:totable()) do want[at] = v[k] end
        local x = la.zeros(9, w, {dtype = dtype})
        assert.is_true(la.equal(want, x:index_copy(1, i, v)))
        x[i] = v
        assert.is_true(la.equal(want, x))
        local transposed = la.zeros(w, 9, {dtype = dtype}):t()
        transposed[i] = v
        assert.is_true(la.equal(want, transposed))
      end
    end
  end)

  it("are those of single elements where a row is one", function()
    local g = la.Generator(7)
    for _, dtype in ipairs(dtypes) do
      for _, n in ipairs {1, 63, 64, 129, 1000} do
        local x, v = numbered(dtype, 40), numbered(dtype, n)
        local front = la.randint(1, 40, {n}, {generator = g})
        for _, i in ipairs {front, indices(n, 40, g), front:int(),
                            la.stack({front, front}, 2):select(2, 2)} do
          local want, put = {}, x:clone()
          for k, at in ipairs(i:totable()) do
            want[k] = x[at]
            put[at] = v[k]
          end
          want = la.stack(want)
          assert.is_true(la.equal(want, x:gather(1, i)))
          assert.is_true(la.equal(want, x:take(i)))
          assert.is_true(la.equal(want, x[i]))
          assert.is_true(la.equal(want, x:view(1, 40)[{la.ones_like(i), i}]))
          assert.is_true(la.equal(want, x:flip(1)[-i]))
          assert.is_true(la.equal(put, x:scatter(1, i, v)))
          assert.is_true(la.equal(put, x:index_copy(1, i, v)))
          assert.is_true(la.equal(put, x:put(i, v)))
          local y = x:clone()
          y[i] = v
          assert.is_true(la.equal(put, y))
        end
      end
    end
  end)

  it("are added in order, 16-bit floats rounded at the end", function()
    local g = la.Generator(8)
    for _, dtype in ipairs {"bfloat16", "float16", "float32", "int8", "bool"} do
      for _, n in ipairs {5, 64, 300} do
        local x = la.randn(6, {generator = g}):mul(4):to(dtype)
        local v = la.randn(n, {generator = g}):mul(4):to(dtype)
        v[1], x[1] = 0, 0
        if dtype == "bfloat16" then
          v[2], v[3], v[4] = math.huge, -math.huge, 0 / 0
        end
        local i = indices(n, 6, g)
        local wide = dtype:find("float16") and "float32" or dtype
        local sum, product = x:to(wide):clone(), x:to(wide):clone()
        for k, at in ipairs(i:totable()) do
          sum[at] = sum[at] + v[k]
          product[at] = product[at] * v[k]
        end
        sum, product = sum:to(dtype), product:to(dtype)
        local same = {equal_nan = true, rtol = 0, atol = 0}
        assert.is_true(la.allclose(sum, x:scatter_add(1, i, v), same))
        assert.is_true(la.allclose(sum, x:index_add(1, i, v), same))
        assert.is_true(la.allclose(sum, x:put(i, v, true), same))
        assert.is_true(la.allclose(product,
                       x:scatter_reduce(1, i, v, "prod"), same))
      end
    end
  end)

  it("are the same with threads", function()
    local threads, first = la.get_num_threads(), nil
    local x, i = la.rand(3000, 20), la.randint(1, 3000, {50000})
    for _, t in ipairs {1, 2, 5} do
      la.set_num_threads(t)
      local got = x[i]
      first = first or got
      assert.is_true(la.equal(first, got))
    end
    la.set_num_threads(threads)
  end)
end)

describe("an index out of range", function()
  local readers = {
    function(x, i) return x:index_select(1, i) end,
    function(x, i) return x:gather(1, i) end,
    function(x, i) return x:take(i) end,
    function(x, i) return x[i] end,
  }

  local writers = {
    function(x, i, v) return x:scatter(1, i, v) end,
    function(x, i, v) return x:scatter_add(1, i, v) end,
    function(x, i, v) return x:scatter_reduce(1, i, v, "mean",
      {include_self = false}) end,
    function(x, i, v) return x:index_copy(1, i, v) end,
    function(x, i, v) return x:index_add(1, i, v) end,
    function(x, i) return x:index_fill(1, i, 5) end,
    function(x, i, v) return x:index_put({i}, v) end,
    function(x, i) return x:view(1, 7)[{la.ones_like(i), i}] end,
    function(x, i) return x:view(7, 1)[{i, la.ones_like(i)}] end,
  }

  it("is found wherever it stands", function()
    for _, n in ipairs {1, 63, 64, 65, 200, 40000} do
      for _, at in ipairs {1, (n + 1) // 2, n} do
        for _, wrong in ipairs {0, 8, -8, math.maxinteger, math.mininteger} do
          local i = la.ones(n, {dtype = "int64"})
          i[at] = wrong
          for _, read in ipairs(readers) do
            raises("index " .. wrong .. " (element " .. at .. ")", read,
                    la.rand(7), i)
          end
          for _, write in ipairs(writers) do
            raises("index " .. wrong, write, la.rand(7), i, la.ones(n))
          end
          raises("index " .. wrong, la.index_select, la.rand(7, 3), 1, i)
          raises("index " .. wrong, la.index_select, la.rand(3, 7), 2, i)
        end
      end
    end
  end)

  it("leaves what is written as it was", function()
    local i = la.ones(300, {dtype = "int64"})
    i[300] = 8
    local x, out = la.zeros(7), la.zeros(300)
    local v = la.ones(300)
    raises("index 8", x.scatter_, x, 1, i, v)
    raises("index 8", x.index_copy_, x, 1, i, v)
    raises("index 8", x.index_put_, x, {i}, v)
    raises("index 8", la.gather, la.ones(7), 1, i, {out = out})
    raises("index 8", la.index_select, la.ones(7), 1, i, {out = out})
    raises("index 8", la.take, la.ones(7), i, {out = out})
    assert.equal(0, x:sum():item())
    assert.equal(0, out:sum():item())
  end)

  it("is found when nothing is read", function()
    local i = la.tensor {8}
    raises("index 8", la.index_select, la.rand(7, 0), 1, i)
    raises("size 0", la.index_select, la.rand(0, 3), 1, la.tensor {1})
  end)
end)

describe("indices that share memory with what is written", function()
  -- Element 89 of the index is element 90 of what is written: after the first
  -- writes it is no valid index any more.
  local far = 1 << 40
  local function pair()
    local all = la.full({400}, 90, {dtype = "int64"})
    return all:as_strided({100}, {2}, 2), all:as_strided({100}, {2}, 4), all
  end
  local src = la.full({100}, far, {dtype = "int64"})
  local function written(call)
    local self, index = pair()
    local apart, own = self:clone(), index:clone()
    call(self, index)
    call(apart, own)
    assert.is_true(la.equal(apart, self))
  end

  it("are read before anything is written", function()
    written(function(x, i) x:scatter_(1, i, src) end)
    written(function(x, i) x:scatter_(1, i, far) end)
    written(function(x, i) x:scatter_add_(1, i, src) end)
    written(function(x, i) x:scatter_reduce_(1, i, src, "prod") end)
    written(function(x, i) x:index_copy_(1, i, src) end)
    written(function(x, i) x:index_add_(1, i, src) end)
    written(function(x, i) x:index_fill_(1, i, far) end)
    written(function(x, i) x:index_reduce_(1, i, src, "prod") end)
    written(function(x, i) x:index_put_({i}, src) end)
    written(function(x, i) x:index_put_({i}, src, true) end)
    written(function(x, i) x[i] = far end)
  end)
end)

describe("what is counted", function()
  it("is the same in several tables as in one", function()
    local g = la.Generator(9)
    for _, top in ipairs {1, 2, 10, 1000, 4096, 4097} do
      for _, n in ipairs {1, 3, 5, 4 * top - 1, 4 * top, 20001} do
        local x = la.randint(1, top, {n}, {generator = g})
        x[n] = top
        local want = la.zeros(top, {dtype = "int64"})
          :index_add(1, x, la.ones(n, {dtype = "int64"}))
        assert.is_true(la.equal(want, la.bincount(x)))
        assert.is_true(la.equal(want, la.bincount(x:int())))
        assert.is_true(la.equal(want:double(),
                                la.bincount(x, la.ones(n):double())))
      end
    end
    for _, bad in ipairs {0, -1, math.mininteger} do
      for _, position in ipairs {1, 7, 1000} do
        local x = la.ones(1000, {dtype = "int64"})
        x[position] = bad
        raises(("value %d at position %d"):format(bad, position), la.bincount,
               x)
      end
    end
  end)

  it("finds its positions between long runs of zeros", function()
    for _, n in ipairs {1, 8, 63, 64, 65, 500, 70000} do
      for _, set in ipairs {{}, {1}, {n}, {1, n}, {n // 2 + 1},
                            {n // 3 + 1, n}} do
        local x = la.zeros(n)
        local seen, want = {}, {}
        for _, k in ipairs(set) do
          if not seen[k] then want[#want + 1] = {k} end
          seen[k], x[k] = true, 1
        end
        local got = x:nonzero()
        assert.same({#want, 1}, {got:size(1), got:size(2)})
        if #want > 0 then assert.same(want, got:totable()) end
      end
    end
  end)
end)

-- Rows of up to 32 elements find their positions several rows at a time.
describe("short rows with indices of their own", function()
  local g = la.Generator(11)

  local function naive(x, at)
    local out = {}
    for i, row in ipairs(at:totable()) do
      out[i] = {}
      for j, k in ipairs(row) do
        out[i][j] = x:item(i, k < 0 and k + x:size(2) + 1 or k)
      end
    end
    return la.tensor(out, {dtype = x.dtype})
  end

  for _, w in ipairs{1, 2, 3, 5, 16, 31, 32, 33, 64} do
    it("of " .. w, function()
      for _, dtype in ipairs{"uint8", "float16", "float32", "float64",
        "complex128"} do
        local wide = la.randint(1, 99, {71, 2 * w + 1}, {generator = g})
          :to(dtype)
        local at = la.randint(1, w, {71, w}, {generator = g})
        at = la.where(la.rand({71, w}, {generator = g}):gt(0.3), at,
          at - w - 1)
        for _, x in ipairs{wide:narrow(2, 2, w):contiguous(),
          wide:narrow(2, 2, w), wide:slice(2, 1, 2 * w, 2)} do
          local want = naive(x, at)
          assert.is_true(x:gather(2, at):equal(want))
          assert.is_true(x:gather(2, at:t():contiguous():t()):equal(want))
          local perm = la.rand({71, w}, {generator = g}):argsort(2)
          local put = x:clone()
          put:scatter_(2, perm, want)
          assert.is_true(put:gather(2, perm):equal(want))
        end
      end
    end)
  end

  it("refuse an index anywhere, and change nothing", function()
    local x = la.arange(1, 301, 1, {dtype = "float32"}):view(-1, 3)
    local before = x:clone()
    for _, wrong in ipairs{0, 4, -4, math.mininteger, math.maxinteger} do
      for _, row in ipairs{1, 21, 22, 99} do
        local at = la.ones({x:size(1), 3}, {dtype = "int64"})
        at[{row, 3}] = wrong
        assert.has_error(function() x:gather(2, at) end)
        assert.has_error(function() x:scatter_(2, at, x * 2) end)
      end
    end
    assert.is_true(x:equal(before))
  end)
end)
