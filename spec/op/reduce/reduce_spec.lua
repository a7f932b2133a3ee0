-- Reductions, scans and row-wise functions: layouts against plain loops, equal
-- bits at any number of threads, and the answers for empty and odd input.
local la = require "lunarray"

local function flat(x)
  local out = {}
  local function go(v)
    if type(v) == "table" then for i = 1, #v do go(v[i]) end
    else out[#out + 1] = v end
  end
  go(x:totable())
  return out
end

-- One list of values per result of reducing 'dim' of a tensor.
local function lines(x, dim)
  local moved = x:transpose(dim, -1):contiguous()
  local n = x.shape[dim]
  local values, out = flat(moved), {}
  for i = 0, #values // n - 1 do
    local line = {}
    for j = 1, n do line[j] = values[i * n + j] end
    out[#out + 1] = line
  end
  return out
end

local function result(y, dim)   -- keepdim = true
  return flat(y:transpose(dim, -1):contiguous())
end

local NAIVE = {}
function NAIVE.sum(l) local s = 0 for i = 1, #l do s = s + l[i] end return s end
function NAIVE.mean(l) return NAIVE.sum(l) / #l end
function NAIVE.prod(l)
  local s = 1
  for i = 1, #l do s = s * l[i] end
  return s
end
function NAIVE.amax(l) return math.max(table.unpack(l)) end
function NAIVE.amin(l) return math.min(table.unpack(l)) end
function NAIVE.var(l)
  local m, s = NAIVE.mean(l), 0
  for i = 1, #l do s = s + (l[i] - m) ^ 2 end
  return s / (#l - 1)
end
function NAIVE.std(l) return math.sqrt(NAIVE.var(l)) end
function NAIVE.norm(l)
  local s = 0
  for i = 1, #l do s = s + l[i] ^ 2 end
  return math.sqrt(s)
end
function NAIVE.logsumexp(l)
  local m, s = NAIVE.amax(l), 0
  for i = 1, #l do s = s + math.exp(l[i] - m) end
  return m + math.log(s)
end
function NAIVE.argmax(l)
  local at = 1
  for i = 2, #l do if l[i] > l[at] then at = i end end
  return at
end
function NAIVE.argmin(l)
  local at = 1
  for i = 2, #l do if l[i] < l[at] then at = i end end
  return at
end
function NAIVE.median(l)
  local s = table.move(l, 1, #l, 1, {})
  table.sort(s)
  return s[(#s + 1) // 2]
end

local CALL = {
  norm = function(x, d) return x:norm(2, d, true) end,
  var = function(x, d) return x:var(d, {keepdim = true}) end,
  std = function(x, d) return x:std(d, {keepdim = true}) end,
  median = function(x, d) return (x:median(d, true)) end,
}

local function layouts(dtype)
  local g = la.Generator(7)
  local function r(...)
    return la.rand({...}, {generator = g}):to(dtype) * 2 - 1
  end
  return {
    rows = r(33, 70), tiny_rows = r(200, 10), tall = r(3000, 3),
    wide = r(3, 3000), transposed = r(70, 33):t(), cube = r(7, 40, 9),
    every_second = r(40, 60)[{{1, -1, 2}, {1, -1, 2}}],
    expanded = r(1, 50):expand(20, 50), middle = r(30, 5, 16):transpose(1, 2),
  }
end

local function near(got, want, scale)
  return math.abs(got - want) <= scale * (1 + math.abs(want))
end

describe("reductions of every layout", function()
  for _, dtype in ipairs {"float32", "float64"} do
    local scale = dtype == "float32" and 3e-5 or 1e-11
    for name, naive in pairs(NAIVE) do
      it(name .. " of " .. dtype, function()
        for layout, x in pairs(layouts(dtype)) do
          for dim = 1, x.ndim do
            local call = CALL[name]
            local y = call and call(x, dim) or x[name](x, dim, true)
            local got = result(y, dim)
            for i, line in ipairs(lines(x, dim)) do
              local want = naive(line)
              assert(near(got[i], want, scale), ("%s, dim %d, result %d: %s, "
                .. "wanted %s"):format(layout, dim, i, got[i], want))
            end
          end
        end
      end)
    end
  end

  it("takes several dims at once", function()
    local x = la.rand(4, 5, 6, 7):to("float64")
    local a = x:sum({1, 3})
    local b = x:sum(3):sum(1)
    assert.same({5, 7}, {a.shape[1], a.shape[2]})
    assert.is_true(la.allclose(a, b))
    assert.is_true(la.allclose(x:sum({-1, 2}, true),
                               x:sum(4, true):sum(2, true)))
    assert.is_true(la.allclose(x:amax({1, 4}), x:amax(4):amax(1)))
  end)

  it("knows log(1 + exp(x)) at the ends of its steps", function()
    local x = la.range(-200, 0, {dtype = "float64"}) * 0.5
    local want, pair = x:exp():log1p(), la.stack({la.zeros_like(x), x}, 2)
    local function worst()
      local got = pair:logcumsumexp(2)[{{}, 2}]
      return ((got - want):abs() / want):max():item()
    end
    assert.is_true(worst() < 1e-15)
    la.use_deterministic "lockstep"
    local ok, w = pcall(worst)
    la.use_deterministic(false)
    assert.is_true(ok and w < 1e-15, w)
  end)

  it("sums small integers and bools to int64", function()
    for _, dtype in ipairs {"uint8", "int8", "int16", "int32", "bool"} do
      local x = la.ones(1000, 7, {dtype = dtype})
      assert.equal("int64", x:sum().dtype)
      assert.equal(7000, x:sum():item())
      assert.equal(1000, x:sum(1):totable()[7])
      assert.equal(7, x:sum(2):totable()[1000])
    end
  end)
end)

describe("results at 1, 2 and 7 threads", function()
  local before = la.get_num_threads()
  after_each(function() la.set_num_threads(before) end)

  local CASES = {
    sum = function(x) return x:sum() end,
    sum_first = function(x) return x:sum(1) end,
    sum_last = function(x) return x:sum(2) end,
    mean = function(x) return x:mean() end,
    var = function(x) return x:var() end,
    var_first = function(x) return x:var(1) end,
    norm = function(x) return x:norm() end,
    prod = function(x) return (x + 0.5):prod(2) end,
    cumsum = function(x) return x:reshape(-1):cumsum(1) end,
    cumprod = function(x) return (x + 0.5):reshape(-1):cumprod(1) end,
    cumsum_complex = function(x)
      return x:to("complex128"):reshape(-1):cumsum(1)
    end,
    cumprod_complex = function(x)
      return la.polar(la.ones_like(x), x):reshape(-1):cumprod(1)
    end,
    logcumsumexp = function(x)
      return x:double():reshape(-1):logcumsumexp(1)
    end,
    softmax = function(x) return x:softmax(2) end,
    log_softmax = function(x) return x:log_softmax(1) end,
    layer_norm = function(x) return la.layer_norm(x, {x.shape[2]}) end,
    logsumexp = function(x) return x:reshape(-1):logsumexp(1) end,
    argmax = function(x) return x:argmax() end,
    max = function(x) return (x:max(1)) end,
  }
  for name, f in pairs(CASES) do
    it("have equal bits: " .. name, function()
      la.manual_seed(3)
      for _, shape in ipairs {{1000, 300}, {200000, 3}, {3, 100000}} do
        local x = la.rand(shape)
        la.set_num_threads(1)
        local one = f(x)
        for _, n in ipairs {2, 7} do
          la.set_num_threads(n)
          assert.is_true(la.equal(f(x), one))
        end
      end
    end)
  end
end)

describe("accuracy", function()
  it("of float32 sums stays with the size", function()
    local x = la.full({10000000}, 0.1)
    assert(near(x:sum():item(), 1000000.0149, 1e-6))
  end)
  it("of the variance does not suffer from a large mean", function()
    local x = la.rand(100000):to("float64")
    assert(near((x + 1e6):var():item(), x:var():item(), 1e-7))
    local y = x:to("float32")
    assert(near((y + 64):var():item(), y:var():item(), 1e-4))
  end)
  it("of 16-bit sums is that of float32", function()
    local x = la.full({4096}, 1.0, {dtype = "bfloat16"})
    assert.equal(4096.0, x:sum():item())
  end)
end)

describe("NaN", function()
  local nan = 0 / 0
  it("wins in extremes, at its first position", function()
    local x = la.tensor {1.0, nan, 3.0, nan}
    assert.is_true(x:max():isnan():all())
    assert.is_true(x:min():isnan():all())
    assert.equal(2, x:argmax():item())
    assert.equal(2, x:argmin():item())
    local v, i = x:max(1)
    assert.is_true(v:isnan():all())
    assert.equal(2, i:item())
  end)
  it("is left out where asked", function()
    local x = la.tensor {1.0, nan, 3.0, 8.0}
    assert.equal(12.0, x:nansum():item())
    assert.equal(4.0, x:nanmean():item())
    assert.equal(3.0, x:nanmedian():item())
  end)
  -- nansum in any dtype is the sum without what is not a number: an integer
  -- can't hold the NaN, so it goes before the conversion.
  it("is left out before a conversion to any dtype", function()
    for _, from in ipairs {"float16", "bfloat16", "float32", "float64"} do
      local x = la.tensor({1.0, nan, 3.0}, {dtype = from})
      local zeros = la.tensor({1.0, 0.0, 3.0}, {dtype = from})
      for _, to in ipairs {"bool", "uint8", "int8", "int32", "int64",
          "float16", "float64"} do
        local want = zeros:sum {dtype = to}
        assert.is_true(la.equal(want, x:nansum {dtype = to}), from .. to)
        assert.is_true(la.equal(want, x:nansum(1, false, {dtype = to})))
        assert.is_true(la.equal(want:zero_(),
          x[{{2, 2}}]:nansum {dtype = to}), from .. to)
      end
      for _, to in ipairs {"bool", "int8", "int64"} do
        assert.has_error(function() x:nanmean {dtype = to} end)
      end
    end
  end)
  it("does not keep integers from any dtype", function()
    for _, from in ipairs {"bool", "uint8", "int16", "int64"} do
      local x = la.tensor({{1, 0}, {1, 1}}, {dtype = from})
      for _, to in ipairs {"int8", "float32", "complex64", "complex128"} do
        assert.is_true(la.equal(x:sum({2}, {dtype = to}),
          x:nansum({2}, {dtype = to})), from .. to)
      end
    end
  end)
end)

describe("empty input", function()
  local none = la.zeros(0, 3)
  it("gives the identity where there is one", function()
    assert.equal(0.0, none:sum():item())
    assert.equal(1.0, none:prod():item())
    assert.is_true(none:mean():isnan():all())
    assert.is_true(none:all())
    assert.is_false(none:any())
    assert.same({0.0, 0.0, 0.0}, none:sum(1):totable())
  end)
  it("is an error where there is none", function()
    assert.has_error(function() none:max() end)
    assert.has_error(function() none:amax(1) end)
    assert.has_error(function() none:argmax() end)
    assert.has_no_error(function() none:amax(2) end)
  end)
end)

describe("arguments", function()
  local x = la.rand(2, 3)
  it("out of range or twice are refused", function()
    assert.has_error(function() x:sum(3) end)
    assert.has_error(function() x:sum(0) end)
    assert.has_error(function() x:sum({1, -2}) end)
    assert.has_error(function() x:softmax() end)
    assert.has_error(function() la.arange(3):mean() end)
  end)
  it("keepdim and dtype shape the result", function()
    assert.same({1, 3}, {x:sum(1, true).shape[1], x:sum(1, true).shape[2]})
    assert.equal("float64", x:sum({dtype = "float64"}).dtype)
  end)
  it("out= is written and resized when empty", function()
    local out = la.empty(0)
    local r = la.sum(x, 1, {out = out})
    assert.is_true(la.equal(out, x:sum(1)))
    assert.is_true(r:is_set_to(out))
  end)
  it("out= of a truth value is bool or uint8", function()
    for _, o in ipairs(la.operations()) do
      if o.row == "any_dim" or o.row == "all_dim" then
        for _, dtype in ipairs {"int8", "int64", "float32", "complex64"} do
          local out = la.zeros(2, {dtype = dtype})
          assert.has_error(function() la[o.name](x, 2, {out = out}) end)
        end
        la[o.name](x, 2, {out = la.zeros(2, {dtype = "bool"})})
        la[o.name](x, 2, {out = la.zeros(2, {dtype = "uint8"})})
      end
    end
  end)
  it("out= says in which dtype a mean is computed", function()
    local z = la.complex(la.tensor {1.0, 2.0}, la.tensor {3.0, 5.0})
    for _, v in ipairs {x[1], z} do
      for _, dtype in ipairs {"bfloat16", "float32", "float64", "complex64"} do
        local out = la.zeros({}, {dtype = dtype})
        assert.is_true(la.equal(v:mean {dtype = dtype},
          la.mean(v, 1, {out = out})))
      end
      local whole = la.zeros({}, {dtype = "int64"})
      assert.has_error(function() la.mean(v, 1, {out = whole}) end)
    end
    assert.has_error(function()
      la.mean(la.arange(3), 1, {out = la.zeros({})})
    end)
  end)
  it("out= of extremes has the input's dtype in every result", function()
    local wide = la.zeros(2, {dtype = "float64"})
    for _, out in ipairs {{wide, la.zeros(2)}, {la.zeros(2), wide}} do
      assert.has_error(function() x:aminmax {dim = 2, out = out} end)
    end
  end)
end)

describe("scans", function()
  it("are running results", function()
    local x = la.tensor {3.0, 1.0, 2.0, 5.0}
    assert.same({3.0, 4.0, 6.0, 11.0}, x:cumsum(1):totable())
    assert.same({3.0, 3.0, 6.0, 30.0}, x:cumprod(1):totable())
    local v, i = x:cummin(1)
    assert.same({3.0, 1.0, 1.0, 1.0}, v:totable())
    assert.same({1, 2, 2, 2}, i:totable())
  end)
  it("follow any dim and layout", function()
    for _, x in pairs(layouts "float64") do
      for dim = 1, x.ndim do
        local got = lines(x:cumsum(dim), dim)
        for k, line in ipairs(lines(x, dim)) do
          local s = 0
          for j = 1, #line do
            s = s + line[j]
            assert(near(got[k][j], s, 1e-11))
          end
        end
      end
    end
  end)
end)

describe("counting", function()
  it("puts value k in slot k", function()
    assert.same({1, 0, 2}, la.bincount(la.tensor {3, 1, 3}):totable())
    assert.has_error(function() la.bincount(la.tensor {0, 1}) end)
    for _, bad in ipairs {0, -3, math.mininteger} do
      local ok, message = pcall(la.bincount, la.tensor {1, 2, 3, 4, 5, bad})
      assert.truthy(not ok and message:find("value " .. bad .. " at position 6",
                                            1, true))
    end
    assert.same({1, 1, 1, 1, 1}, la.tensor {5, 4, 3, 2, 1}:bincount():totable())
  end)
  it("by bins covers both ends", function()
    local x = la.tensor {0.0, 0.5, 1.0, 2.0, 4.0}
    assert.same({2.0, 1.0, 1.0, 1.0}, x:histc(4, 0, 4):totable())
    -- The bin is that between whose edges a value lies, also at an edge, where
    -- bins are as narrow as rounding, or the range is all there is.
    la.manual_seed(6)
    for _, r in ipairs {{-1, 1, 10}, {0.1, 0.7, 7}, {0, 3e-320, 5},
                        {1e16, 1e16 + 20, 40}, {-1e300, 1e300, 9},
                        {1, 1 + 2^-50, 3}, {-5, 1e-9, 1000}} do
      local low, high, bins = table.unpack(r)
      local a = la.rand(400, {dtype = "float64"}) * (high - low) + low
      local e = la.linspace(low, high, bins + 1, {dtype = "float64"})
      a = la.cat {a:clamp(low, high), e:clamp(low, high),
                  la.tensor({low, high}, {dtype = "float64"})}
      local got, edges = la.histogram(a, bins)
      local want, t, at = {}, a:totable(), edges:totable()
      for k = 1, bins do want[k] = 0 end
      for _, v in ipairs(t) do
        local k = bins
        while k > 1 and v < at[k] do k = k - 1 end
        want[k] = want[k] + 1
      end
      assert.same(want, got:totable())
    end
    local _, ends = la.histogram(la.ones(3), 2)
    assert.same({0.5, 1, 1.5}, ends:totable())
    _, ends = la.histogram(la.zeros(0), 4)
    assert.same({0, 0.25, 0.5, 0.75, 1}, ends:totable())
    local h, edges = la.histogram(x, 2)
    assert.same({3.0, 2.0}, h:totable())
    assert.same({0.0, 2.0, 4.0}, edges:totable())
  end)
end)

describe("statistics of several rows", function()
  it("cov and corrcoef", function()
    local x = la.tensor {{1.0, 2.0, 3.0}, {6.0, 4.0, 2.0}}
    assert.same({{1.0, -2.0}, {-2.0, 4.0}}, x:cov():totable())
    local half = la.tensor({1.0, 2.0, 4.0}, {dtype = "float16"})
    local much = la.tensor {0.25, 0.5, 0.25}
    assert.equal("float32", half:cov{aweights = much}.dtype)
    assert.equal("float16", half:cov{aweights = much:half()}.dtype)
    for _, weights in ipairs{la.zeros(3), la.zeros(0)} do
      local ok, why = pcall(la.cov, x[{{}, {1, weights:numel()}}],
        {aweights = weights})
      assert.is_false(ok)
      assert.truthy(why:find("weights sum to zero", 1, true))
    end
    local r = la.tensor {{1.0, -1.0}, {-1.0, 1.0}}
    assert.is_true(la.allclose(x:corrcoef(), r))
  end)
  it("segments", function()
    local x = la.tensor {1.0, 2.0, 3.0, 4.0}
    local l = la.tensor {1, 3}
    assert.same({1.0, 9.0}, x:segment_reduce("sum", {lengths = l}):totable())
    assert.same({1.0, 4.0}, x:segment_reduce("max", {lengths = l}):totable())
  end)

  it("of segments refuse offsets that are no positions", function()
    local x, far = la.ones(5), math.mininteger
    for _, list in ipairs{{far, far}, {far, math.maxinteger}, {0, 2}, {3, 2},
                          {1, math.maxinteger}, {math.maxinteger, far}} do
      local ok, message = pcall(x.segment_reduce, x, "sum", {
        offsets = la.tensor(list, "int64")})
      assert.is_false(ok)
      assert.matches("segment 1 leaves the 5 elements", message)
    end
  end)
end)

describe("quantile", function()
  it("between a number and an infinity is that infinity", function()
    local inf = math.huge
    local function q(t, p) return la.quantile(la.tensor(t), p):item() end
    assert.equal(inf, q({inf, inf}, 0.5))
    assert.equal(-inf, q({-inf, -inf, 1}, 0.25))
    assert.equal(-inf, q({-inf, 1, 2}, 0.25))
    assert.equal(inf, q({1, inf}, 0.5))
    assert.equal(1.5, q({-inf, 1, 2}, 0.75))
    local none = q({-inf, inf}, 0.5)
    assert.is_true(none ~= none)
  end)

  it("and gather keep the names of their dims", function()
    local x = la.zeros(2, 3, {names = {"N", "C"}})
    assert.same({"N"}, la.quantile(x, 0.5, 2).names)
    assert.same({"*", "N", "C"},
      la.nanquantile(x, la.tensor{0.5, 0.2}, 2, {keepdim = true}).names)
    assert.is_nil(la.quantile(la.zeros(2, 3), 0.5, 2).names)
    local i = la.ones(2, 2, {dtype = "int64"})
    assert.same({"N", "C"}, x:gather(2, i).names)
    assert.same({"N", "C"}, la.zeros(2, 3):gather(2, i:rename("N", "C")).names)
    assert.has_error(function() x:gather(2, i:rename("N", "K")) end)
  end)
end)

describe("diff", function()
  it("of nothing is the tensor itself, of order 0 a copy", function()
    local x, y = la.ones(0, 3), la.ones(3)
    assert.is_true(rawequal(x, x:diff{dim = 1}))
    assert.is_false(rawequal(y, y:diff(0)))
    assert.are_not.equal(y:data_ptr(), y:diff(0):data_ptr())
    assert.same({0}, la.ones(1):diff().shape)
  end)
end)
