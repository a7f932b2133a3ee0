-- Reductions over rows and columns of every length, where kernels change their
-- way: against the same reduction of int64 or float64 elements in Lua, and
-- against each row by itself.
local la = require "lunarray"

local LENGTHS = {1, 2, 3, 8, 9, 32, 33, 63, 64, 65, 100, 128, 129, 300}
local INTS = {"bool", "uint8", "int8", "int16", "uint16", "int32", "uint32",
              "int64"}
local FLOATS = {"float16", "bfloat16", "float32", "float64"}

-- Small whole numbers: sums are exact in every dtype.
local function whole(dtype, ...)
  return la.randint(0, 3, {...}):to(dtype)
end

local function fold(t, f, start)
  local r = start
  for _, x in ipairs(t) do r = r == nil and x or f(r, x) end
  return r
end
local function plus(a, b) return a + b end

local function number(x) return x == true and 1 or x == false and 0 or x end

-- rows[i] = what 'f' makes of row i, as a Lua list.
local function by_rows(x, f)
  local out = {}
  for i, row in ipairs(x:to("float64"):totable()) do out[i] = f(row) end
  return out
end

local function same(want, got)
  assert.same(want, got:to("float64"):totable())
end

local function first_of(better)
  return function(row)
    local at = 1
    for i = 2, #row do if better(row[i], row[at]) then at = i end end
    return at
  end
end

local function each(x)
  local sum = by_rows(x, function(r) return fold(r, plus, 0) end)
  local top = by_rows(x, function(r) return fold(r, math.max) end)
  local low = by_rows(x, function(r) return fold(r, math.min) end)
  local count = by_rows(x, function(r)
    return fold(r, function(n, v) return n + (v ~= 0 and 1 or 0) end, 0)
  end)
  local total = x:sum(2)
  same(la.tensor(sum, {dtype = "float64"}):to(total.dtype):double():totable(),
    total)
  same(top, x:amax(2))
  same(low, x:amin(2))
  same(count, x:count_nonzero(2))
  local any, all, n = x:any(2):bool():totable(), x:all(2):bool():totable(),
    x:size(2)
  for i = 1, #count do
    assert.equal(count[i] > 0, any[i])
    assert.equal(count[i] == n, all[i])
  end
  same(by_rows(x, first_of(function(a, b) return a > b end)), x:argmax(2))
  same(by_rows(x, first_of(function(a, b) return a < b end)), x:argmin(2))
  local values, index = x:max(2)
  same(top, values)
  same(by_rows(x, first_of(function(a, b) return a > b end)), index)
end

describe("rows of every length", function()
  for _, list in ipairs {INTS, FLOATS} do
    for _, dtype in ipairs(list) do
      it("are reduced, " .. dtype, function()
        for _, n in ipairs(LENGTHS) do
          for _, rows in ipairs {1, 67} do
            each(whole(dtype, rows, n))
            each(whole(dtype, n, rows):t())
            each(whole(dtype, rows, 2 * n):slice(2, 1, -1, 2))
          end
        end
      end)
    end
  end

  it("have norms, variances and logarithms of sums", function()
    for _, dtype in ipairs {"float32", "float64"} do
      for _, n in ipairs(LENGTHS) do
        local x = la.randn(70, n):to(dtype)
        for _, y in ipairs {x, x:t():contiguous():t()} do
          local norms = by_rows(x, function(r)
            return math.sqrt(fold(r, function(s, v) return s + v * v end, 0))
          end)
          local sums = by_rows(x, function(r)
            return math.log(fold(r, function(s, v)
              return s + math.exp(v)
            end, 0))
          end)
          local variances = by_rows(x, function(r)
            local m = fold(r, plus, 0) / #r
            return fold(r, function(s, v) return s + (v - m) ^ 2 end, 0) / #r
          end)
          local function near(want, got)
            assert.is_true(la.allclose(got:double(),
              la.tensor(want, {dtype = "float64"}), 1e-5, 1e-5))
          end
          near(norms, y:norm(2, 2))
          near(sums, y:logsumexp(2))
          near(variances, y:var(2, {correction = 0}))
        end
      end
    end
  end)

  it("don't depend on their neighbours", function()
    for _, dtype in ipairs(FLOATS) do
      for _, n in ipairs(LENGTHS) do
        local x = la.randn(131, n):to(dtype)
        for _, name in ipairs {"sum", "mean", "var", "logsumexp", "amax"} do
          local all = x[name](x, 2)
          for _, first in ipairs {1, 60, 125} do
            local some = x:slice(1, first, 131)
            assert.is_true(some[name](some, 2):nan_to_num()
              :equal(all:slice(1, first, 131):nan_to_num()), name)
          end
        end
      end
    end
  end)

  it("pass a NaN on from anywhere, among infinities", function()
    for _, dtype in ipairs(FLOATS) do
      for _, n in ipairs {64, 100, 300, 5000} do
        local x = la.randn(3, n):to(dtype)
        x[{1, n // 2}] = 1 / 0
        x[{2, n // 3 + 1}], x[{2, 1}] = 0 / 0, 1 / 0
        local top, low = x:amax(2):double(), x:amin(2):double()
        assert.equal(1 / 0, top:item(1))
        assert.is_true(low:item(1) < 0 and low:item(1) > -1 / 0)
        assert.is_true(top:isnan():item(2) and low:isnan():item(2))
        assert.is_false(top:isnan():item(3))
        assert.equal(n // 3 + 1, x:argmax(2):item(2))
        assert.equal(n // 2, x:argmax(2):item(1))
      end
    end
  end)
end)

describe("positions in rows", function()
  it("are of the first extreme, wherever it stands", function()
    for _, dtype in ipairs {"float16", "bfloat16", "float32", "float64", "int8",
        "int32", "int64"} do
      for _, n in ipairs {127, 128, 129, 191, 1000, 4096, 4097, 4160, 9001} do
        local at = {}
        for _, k in ipairs {1, 2, 63, 64, 65, 100, n // 2, n - 64, n - 63,
            n - 1, n} do
          if k >= 1 then at[#at + 1] = k end
        end
        local x = la.zeros(#at, n, {dtype = dtype})
        for i, k in ipairs(at) do
          x[{i, {k, n, 7}}] = 1   -- again and again from k on
          if k < n then x[{i, {k + 1, n, 3}}] = -1 end
          x[{i, k}] = 1
        end
        assert.same(at, x:argmax(2):totable())
        assert.same(at, x:neg():argmin(2):totable())
        local v, position = x:max(2)
        assert.same(at, position:totable())
        assert.is_true(v:eq(1):all())
        if dtype:find "float" then
          for i, k in ipairs(at) do x[{i, k}] = 0 / 0 end
          assert.same(at, x:argmax(2):totable())
          for i, k in ipairs(at) do x[{i, k}] = -1 / 0 end
          assert.same(at, x:argmin(2):totable())
          for i, k in ipairs(at) do x[{i, k}] = 1 / 0 end
          assert.same(at, x:argmax(2):totable())
        end
        assert.equal(at[#at], x[#at]:argmax():item())
      end
    end
  end)
end)

describe("positions in rows of integers", function()
  local LIMITS = {uint8 = {0, 255}, int8 = {-128, 127}, int16 = {-32768, 32767},
    int32 = {-2147483648, 2147483647},
    int64 = {math.mininteger, math.maxinteger}}

  it("are of the least and greatest number of the dtype, too", function()
    for dtype, limit in pairs(LIMITS) do
      for _, n in ipairs {32, 64, 65, 200, 2048, 2049, 9001} do
        local x = la.full({19, n}, 5, {dtype = dtype})
        local first, last = {}, {}
        for i = 1, 19 do
          first[i], last[i] = (i * 7919) % (n // 2) + 1, n - i % 3
          x[{i, first[i]}], x[{i, last[i]}] = limit[2], limit[1]
          x[{i, last[i] - 4}] = limit[2]
        end
        assert.same(first, x:argmax(2):totable())
        assert.same(last, x:argmin(2):totable())
        local v, at = x:max(2)
        assert.same(first, at:totable())
        assert.is_true(v:eq(limit[2]):all())
        v, at = x:min(2)
        assert.same(last, at:totable())
        assert.is_true(v:eq(limit[1]):all())
        assert.equal(first[7], x[7]:argmax():item())
      end
    end
  end)
end)

describe("float16 results by the vector", function()
  it("are each the rounded result of their column", function()
    la.manual_seed(5)
    for _, n in ipairs {1, 7, 15, 16, 17, 63, 64, 65, 130, 1000} do
      local x = la.randn(10, n):to "float16"
      x[{3, n}], x[{4, 1 + n // 2}] = 1 / 0, 65504
      x[{5, 1 + n // 2}] = 65504    -- too much for a sum
      local wide = x:float()
      for _, name in ipairs {"sum", "mean", "amax", "amin"} do
        local want = wide[name](wide, 1):to "float16"
        local got = x[name](x, 1)
        assert.equal("float16", got.dtype)
        assert.is_true(la.equal(want, got), name .. n)
        for k = 1, n, 1 + n // 9 do
          local alone = x:select(2, k)
          assert.equal(got[k]:item(), alone[name](alone):item(), name .. n)
        end
      end
    end
  end)
end)

describe("rows by the dozen", function()
  it("have the positions and variances of each alone", function()
    la.manual_seed(12)
    for _, dtype in ipairs(FLOATS) do
      for _, n in ipairs {31, 32, 63, 64, 65, 127, 200, 2048, 2049, 4100} do
        local x = la.randint(-40, 40, {37, n}):to(dtype)
        x[{5, n // 2}], x[{20, n}] = 0 / 0, 1 / 0
        local top, low = x:argmax(2), x:argmin(2)
        local value, index = x:max(2)
        assert.is_true(index == top)
        assert.equal(n // 2, top:item(5))
        assert.equal(n // 2, low:item(5))
        assert.equal(n, top:item(20))
        local var = x:var(2):nan_to_num()
        for i = 1, 37 do
          local row = x[i]
          assert.equal(row:argmax():item(), top:item(i))
          assert.equal(row:argmin():item(), low:item(i))
          if i ~= 5 then
            assert.equal(row[top:item(i)]:item(), value:item(i))
            assert.is_true(row:ge(row[low:item(i)]:item()):all())
          end
          assert.is_true(la.allclose(row:var():nan_to_num(), var[i], 1e-5))
        end
      end
    end
  end)
end)

describe("norms of any order", function()
  it("are roots of sums of powers", function()
    la.manual_seed(13)
    for _, dtype in ipairs {"float16", "bfloat16", "float32", "float64",
        "complex64", "complex128"} do
      local rough = dtype:find "16$" and 1e-2 or 1e-5
      for _, n in ipairs {1, 5, 30, 64, 100, 180} do
        local re, im = la.randn(19, n), la.randn(19, n)
        local x = dtype:find "complex" and la.complex(re, im):to(dtype)
          or re:to(dtype)
        local size = x:to(x:is_complex() and "complex128" or "float64"):abs()
        for _, p in ipairs {0.5, 1, 2, 2.5, 3, 4, -1, -2} do
          local want = size:pow(p):sum(2):pow(1 / p)
          for _, y in ipairs {x, x:t():contiguous():t()} do
            assert.is_true(la.allclose(y:norm(p, 2):double(), want, rough,
              rough), ("%s, %d, %g"):format(dtype, n, p))
          end
          if p >= 1 then   -- others leave the range of halves
            assert.is_true(la.allclose(x:norm(p):double(),
              size:pow(p):sum():pow(1 / p), rough, rough))
          end
          local some = x:slice(2, 1, -1, 2):norm(p, 2):double()
          assert.is_true(la.allclose(some,
            size:slice(2, 1, -1, 2):pow(p):sum(2):pow(1 / p), rough, rough))
        end
      end
    end
  end)
  it("take an infinite part before a NaN in the other", function()
    local x = la.complex(la.tensor {1 / 0, 1, 0 / 0},
      la.tensor {0 / 0, 1, 1}):view(3, 1)
    for _, dtype in ipairs {"complex64", "complex128"} do
      for _, p in ipairs {1, 2, 3, 2.5, math.huge} do
        local y = x:to(dtype):norm(p, 2)
        assert.equal(1 / 0, y:item(1))
        assert.is_true(y:isnan():item(3) and not y:isnan():item(2))
      end
    end
  end)
end)

describe("complex rows and columns", function()
  it("have the sums and products of their elements", function()
    la.manual_seed(14)
    for _, dtype in ipairs {"complex32", "complex64", "complex128"} do
      for _, n in ipairs {1, 2, 5, 33, 64, 65, 100, 129, 300} do
        -- whole numbers of size 1: every product is exact
        local quarters = la.randint(0, 3, {70, n})
        local re = quarters:eq(0):int() - quarters:eq(2):int()
        local im = quarters:eq(1):int() - quarters:eq(3):int()
        local x = la.complex(re:float(), im:float()):to(dtype)
        local quarter = quarters:sum(2):remainder(4)
        local pre = quarter:eq(0):int() - quarter:eq(2):int()
        local pim = quarter:eq(1):int() - quarter:eq(3):int()
        local prod = la.complex(pre:float(), pim:float()):to(dtype)
        local sum = la.complex(re:sum(2):float(), im:sum(2):float()):to(dtype)
        local gap = la.zeros(70, 2 * n):to(dtype)
        gap:slice(2, 1, -1, 2):copy_(x)
        for _, y in ipairs {x, x:t():contiguous():t(),
            gap:slice(2, 1, -1, 2)} do
          assert.is_true(y:sum(2) == sum)
          assert.is_true(y:prod(2) == prod)
          assert.is_true(y:sum({1, 2}) == sum:sum())
        end
        assert.is_true(x:prod() == prod:prod())
      end
    end
  end)
end)

describe("norm layers over rows of every length", function()
  it("have the bits of each row alone, and mean 0 and variance 1", function()
    la.manual_seed(16)
    for _, dtype in ipairs(FLOATS) do
      for _, n in ipairs {1, 2, 4, 5, 16, 31, 33, 64, 100, 300, 3000} do
        local x = la.randn(37, n):to(dtype)
        local w, b = la.randn(n):to(dtype), la.randn(n):to(dtype)
        local y = la.layer_norm(x, {n}, w, b)
        local z = la.rms_norm(x, {n}, w, 1e-6)
        for _, i in ipairs {1, 2, 17, 36, 37} do
          assert.is_true(y[i] == la.layer_norm(x[i], {n}, w, b))
          assert.is_true(z[i] == la.rms_norm(x[i], {n}, w, 1e-6))
        end
        local d = x:double()
        local var = d:var(2, {correction = 0, keepdim = true})
        local centred = (d - d:mean(2, true)) / (var + 1e-5):sqrt()
        local rms = d / (d * d):mean(2, true):add(1e-6):sqrt()
        local rough = ({float16 = 1e-2, bfloat16 = 5e-2})[dtype] or 1e-4
        assert.is_true(la.allclose(y:double(),
          centred * w:double() + b:double(), rough, rough))
        assert.is_true(la.allclose(z:double(), rms * w:double(), rough, rough))
      end
    end
  end)
end)

describe("tall columns", function()
  it("of narrow integers do not overflow", function()
    for dtype, most in pairs {uint8 = 255, int8 = -128, uint16 = 65535,
                              int16 = -32768, int32 = -2147483648} do
      local x = la.full({70001, 3}, most, {dtype = dtype})
      same({70001 * most, 70001 * most, 70001 * most}, x:sum(1))
      same({70001 * most}, x:slice(2, 1, 1):sum(1))
      assert.equal(3 * 70001 * most, x:sum():item())
    end
  end)
  it("that are few run side by side", function()
    la.manual_seed(6)
    for _, list in ipairs {INTS, FLOATS} do
      for _, dtype in ipairs(list) do
        for _, cols in ipairs {1, 2, 3, 10, 33, 63, 64} do
          for _, n in ipairs {127, 128, 515} do
            each(whole(dtype, n, cols):t())
          end
        end
      end
    end
    for _, cols in ipairs {3, 10} do
      local x = la.randn(515, cols)
      local y = x:t():contiguous()
      assert.is_true(la.allclose(x:sum(1), y:sum(2), 1e-4, 1e-4))
      assert.is_true(la.allclose(x:var(1), y:var(2), 1e-4, 1e-5))
      assert.is_true(la.allclose(x:norm(2, 1), y:norm(2, 2), 1e-5, 1e-5))
      x[{300, 2}] = 0 / 0
      assert.same({false, true, false},
        x:amax(1):isnan()[{{1, 3}}]:totable())
    end
  end)
  it("of complex numbers are counted and decided", function()
    for _, dtype in ipairs {"complex32", "complex64", "complex128"} do
      for _, size in ipairs {{300, 3}, {5, 700}, {40, 9}} do
        local re, im = la.zeros(size), la.zeros(size)
        re[{2, 1}], im[{3, 2}] = -0.0, -0.0
        re[{4, 1}], im[{5, 2}], re[{5, 3}] = -2, 1, 0 / 0
        local z, want = la.complex(re, im):to(dtype),
          (re:ne(0) + im:ne(0)):gt(0)
        assert.equal(3, z:count_nonzero():item())
        for d = 1, 2 do
          assert.is_true(z:count_nonzero(d) == want:long():sum(d))
          assert.is_true(z:any(d) == want:any(d))
          assert.is_true(z:add(1):all(d) == z:add(1):ne(0):all(d))
          assert.is_false(z:all(d):any())
        end
        assert.is_true(z:any())
        assert.is_false(z:all())
      end
    end
  end)
  it("are counted and decided", function()
    local x = la.ones(1000, 600):to("bool")
    same(la.full({600}, 1000):totable(), x:count_nonzero(1))
    assert.is_true(x:all(1):all())
    x[{777, 599}] = false
    assert.equal(599, (x:all(1) + 0):argmin():item())
    local y = la.zeros(1000, 600)
    assert.is_false(y:any(1):any())
    y[{256, 3}] = -0.5
    assert.equal(3, (y:any(1) + 0):argmax():item())
  end)
  it("have logarithms of sums, infinite ones too", function()
    local x = la.randn(300, 40):double()
    x:select(2, 1):fill_(-1 / 0)
    x[{5, 2}], x[{290, 3}], x[{7, 4}] = 1 / 0, 0 / 0, -1 / 0
    local want = x:t():contiguous():logsumexp(2)
    local got = x:logsumexp(1)
    assert.is_true(got:isnan():item(3))
    assert.is_true(la.allclose(got, want, 1e-12, 0, true))
    assert.equal(-1 / 0, got:item(1))
    assert.equal(1 / 0, got:item(2))
  end)
end)

describe("running sums and products", function()
  it("of short rows are those of each alone", function()
    local function parts(t)   -- real ones
      if t:is_complex() then t = la.view_as_real(t):select(3, 1) end
      return t:double():totable()
    end
    la.manual_seed(15)
    for _, dtype in ipairs {"bool", "int8", "uint8", "int32", "int64",
        "float16", "bfloat16", "float32", "float64", "complex64"} do
      for _, n in ipairs {1, 2, 3, 4, 7, 8, 9, 12, 31} do
        local x = la.randint(0, 2, {300, n}):to(dtype)
        for _, y in ipairs {x, x:t():contiguous():t(),
            la.cat({x, x}, 2):slice(2, 1, -1, 2)} do
          local sum, prod = y:cumsum(2), y:cumprod(2)
          local xs, ss, ps = parts(y), parts(sum), parts(prod)
          for _, i in ipairs {1, 2, 150, 300} do
            local s, p = 0, 1
            for k = 1, n do
              s, p = s + xs[i][k], p * xs[i][k]
              assert.equal(s, ss[i][k])
              assert.equal(p, ps[i][k])
            end
          end
          local out = la.zeros(n, 300):to(sum.dtype):t()
          la.cumsum(y, 2, {out = out})
          assert.is_true(out == sum)
        end
      end
    end
  end)

  it("are the same on two threads", function()
    local line, side = la.randn(300001), la.randn(300, 5000)
    local had, want = la.get_num_threads(), {}
    for threads = 1, 2 do
      la.set_num_threads(threads)
      local got = {line:cumsum(1), side:cumsum(1), side:cumprod(2),
        side:to("float16"):cumsum(1), (side * 9):to("int32"):cumsum(1)}
      for k, t in ipairs(got) do
        want[k] = want[k] or t
        assert.is_true(t:equal(want[k]))
      end
    end
    la.set_num_threads(had)
    assert.is_true(la.allclose(want[1]:diff(), line:slice(1, 2, -1), 0, 1e-3))
  end)
  for _, dtype in ipairs(INTS) do
    it("of integers are int64, " .. dtype, function()
      for _, n in ipairs {1, 3, 4, 5, 100, 9000} do
        local x = whole(dtype, n)
        local run, want = 0, {}
        for i, v in ipairs(x:totable()) do
          run = run + number(v)
          want[i] = run
        end
        local got = x:cumsum(1)
        assert.equal(la.int64, got.dtype)
        assert.same(want, got:totable())
        assert.same(want, x:repeat_interleave(2):slice(1, 1, -1, 2)
          :cumsum(1):totable())
        local odd = dtype == "bool" and x or x % 5 * 2 + 1
        run, want = 1, {}
        for i, v in ipairs(odd:totable()) do
          run = run * number(v)     -- wraps, as the library's do
          want[i] = run
        end
        assert.same(want, odd:cumprod(1):totable())
        assert.same(want, odd:repeat_interleave(2):slice(1, 1, -1, 2)
          :cumprod(1):totable())
      end
      local m = whole(dtype, 5, 9) + (dtype == "bool" and 0 or 1)
      local product = {}
      for i, row in ipairs(m:totable()) do
        product[i] = {}
        for k, v in ipairs(row) do
          product[i][k] = number(v) * (i > 1 and product[i - 1][k] or 1)
        end
      end
      assert.same(product, m:cumprod(1):totable())
    end)
  end
  for _, dtype in ipairs {"float16", "bfloat16"} do
    it("of 16-bit floats round once, " .. dtype, function()
      for _, n in ipairs {3, 255, 257, 1000} do
        local x = la.rand(n):to(dtype)
        assert.is_true(x:cumsum(1):equal(x:double():cumsum(1):float()
          :to(dtype)))
      end
    end)
  end
end)

-- The gradient of an infinite norm finds its element by equality.
describe("the moduli of complex numbers", function()
  for _, dtype in ipairs {"complex64", "complex128"} do
    for _, n in ipairs {1, 2, 3, 7, 40} do
      it(("are the same in norms, %s, rows of %d"):format(dtype, n), function()
        local x = la.randn(500, n, {dtype = dtype, generator = la.Generator(n)})
        local sizes = x:abs()
        for _, layout in ipairs {x, x:t():contiguous():t()} do
          assert.is_true(layout:norm(math.huge, 2):equal(sizes:amax(2)))
          assert.is_true(layout:norm(-math.huge, 2):equal(sizes:amin(2)))
        end
        local one = x:select(2, 1)
        assert.is_true(one:unsqueeze(2):norm(math.huge, 2):equal(one:abs()))
        assert.equal(sizes:max():item(), x:norm(math.huge):item())
      end)
    end
  end
end)
