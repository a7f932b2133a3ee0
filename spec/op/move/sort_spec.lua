-- Order and sets: against a plain Lua sort, on every dtype and size.
local la = require "lunarray"

local inf, nan = math.huge, 0 / 0
local DTYPES = {"bool", "uint8", "int8", "uint16", "int16", "uint32", "int32",
                "uint64", "int64", "float16", "bfloat16", "float32", "float64"}
-- around the limits of the methods: insertion, merging, digits of 6 to 10 bits
local SIZES = {0, 1, 2, 16, 17, 24, 25, 48, 49, 100, 257, 1000, 5000}

local function number(v)
  if type(v) == "boolean" then return v and 1 or 0 end
  return v
end

-- Positions in stable order, by a merge sort of Lua's numbers; NaN last.
local function reference(values, descending)
  local at = {}
  for i = 1, #values do at[i] = i end
  local function before(a, b)
    local x, y = number(values[a]), number(values[b])
    if descending then x, y = y, x end
    if x ~= x or y ~= y then
      if x == x then return true elseif y == y then return false end
      return a < b
    end
    if x ~= y then return x < y end
    return a < b
  end
  local nans = descending and function(a, b)
    local x, y = values[a] ~= values[a], values[b] ~= values[b]
    if x ~= y then return x end
    if x then return a < b end
    return before(a, b)
  end
  table.sort(at, nans or before)
  return at
end

local function sample(n, dtype)
  if dtype == "bool" then return la.randint(0, 1, n):bool() end
  if dtype:find "float" then
    return la.cat {la.randn(n - n // 3, {dtype = dtype}),
                   la.randint(-3, 3, n // 3):to(dtype)}
  end
  local info = la.iinfo(dtype)
  local low = dtype:find "uint" and 0 or -50
  return la.randint(low, 60, n):to(dtype)
end

describe("sort", function()
  for _, dtype in ipairs(DTYPES) do
    it("orders " .. dtype .. " of every length, stably", function()
      la.manual_seed(11)
      for _, n in ipairs(SIZES) do
        if n <= 257 or dtype == "float32" or dtype == "int64" then
          local x = sample(n, dtype)
          for _, descending in ipairs {false, true} do
            local values, at = x:sort(1, descending)
            local want = la.tensor(reference(x:totable(), descending))
              :to("int64")
            assert.is_true(at == want or n == 0, dtype .. " " .. n)
            assert.is_true(values == x[at])
            assert.is_true(x:argsort(1, descending) == at)
          end
          assert.is_true(x:msort() == (x:sort()))
        end
      end
    end)
  end

  it("orders long rows", function()
    la.manual_seed(12)
    local normal = la.randn(60000, {dtype = "float64"})
    local close = la.randint(1, 9, 30000) + (1 << 60)
    local apart = normal * 1e-12 + 1
    apart[7], apart[50000] = 1e300, -1e300
    for _, x in ipairs {la.randn(300000), la.randint(1, 500, 300000),
                        la.randn(200000, {dtype = "float64"}),
                        -- uniform, in one direction, many equal
                        la.rand(70000), la.range(60000):flip(1) * 3,
                        normal:float():relu(), normal:relu(),
                        -- most are equal in all but the last bits
                        apart, apart:float(), la.cat {close, la.range(1000)},
                        la.randint(0, 3, 20000), (normal * 1000):short(),
                        la.exp(normal * 3), la.full({9000}, 2.5)} do
      local n = #x
      local v, at = x:sort()
      local a, b = v[{{1, n - 1}}], v[{{2, n}}]
      assert.is_true(x[at] == v)
      assert.is_true(a:le(b):all())
      local rising = at[{{2, n}}]:gt(at[{{1, n - 1}}])
      assert.is_true(a:lt(b):logical_or(rising):all())
      assert.is_true((at:sort()) == la.range(n))
      assert.is_true(x:msort() == v)
    end
  end)

  it("orders wide integers and doubles whole", function()
    la.manual_seed(5)
    for _, n in ipairs {10, 100, 3000} do
      local x = la.randint(math.mininteger, math.maxinteger, n)
      local at = select(2, x:sort())
      assert.is_true(at == la.tensor(reference(x:totable())))
      -- many that differ in the last bits only
      local y = la.randint(1, 50, n) + (1 << 60)
      assert.is_true(y:argsort() == la.tensor(reference(y:totable())))
    end
  end)

  it("puts NaN last, first when descending, and keeps signs of zero",
     function()
    local x = la.tensor {nan, 1, -inf, 0.0, -0.0, inf, -nan}
    local v, at = x:sort()
    assert.same({3, 4, 5, 2, 6, 1, 7}, at:totable())
    assert.equal(inf, 1 / v:item(2))
    assert.equal(-inf, 1 / v:item(3))
    v, at = x:sort(1, true)
    assert.same({1, 7, 6, 2, 4, 5, 3}, at:totable())
    assert.equal(-inf, 1 / la.tensor {-0.0, 0.0}:msort():item(1))
  end)

  it("knows values that are all there is, or much of it", function()
    la.manual_seed(7)
    for _, dtype in ipairs {"float32", "float64", "int32", "int64"} do
      for _, n in ipairs {4097, 20000} do
        local x = (la.randn(n, {dtype = "float64"}) * 1e6):to(dtype) + 3
        local rare = la.rand(n):gt(0.999)
        local cases = {x:clamp(3, 1e9), x:clamp(-1e9, 3), x:clamp(-10, 10),
          la.full(n, 5):to(dtype), la.where(x:lt(0), 4, x):to(dtype)}
        for values = 2, 20, 3 do
          cases[#cases + 1] = (la.randint(1, values, n) * 99991):to(dtype)
          cases[#cases + 1] = la.where(rare, x, cases[#cases]):to(dtype)
        end
        for _, y in ipairs(cases) do
          local want = y[y:argsort(1, false)]
          assert.is_true(y:msort() == want)
          assert.is_true(want:narrow(1, 2, n - 1)
                           :ge(want:narrow(1, 1, n - 1)):all())
          assert.is_true(y:unique() == want:unique_consecutive())
        end
        if dtype:find "float" then
          local z = la.where(x:gt(0), nan, x):to(dtype)
          assert.same((z:sort()):tostring_raw(), z:msort():tostring_raw())
        end
      end
    end
  end)

  it("works along any dim of any layout", function()
    la.manual_seed(2)
    local x = la.randn(7, 9, 5):transpose(1, 3)
    for dim = 1, 3 do
      local v, at = x:sort(dim)
      assert.is_true(v == x:gather(dim, at))
      assert.is_true((v:narrow(dim, 2, v:size(dim) - 1)
        - v:narrow(dim, 1, v:size(dim) - 1)):ge(0):all())
    end
    assert.equal(1, select(2, la.tensor(3):sort()):item())
    assert.same({0, 3}, {table.unpack((la.zeros(0, 3):sort(1)).shape)})
  end)

  it("knows sorted rows", function()
    local x = la.arange(1000)
    assert.is_true(x:argsort() == la.range(1000))
    assert.is_true(x:argsort(1, true) == la.range(1000):flip(1))
  end)

  it("has no order for complex numbers", function()
    assert.has_error(function() la.zeros(2, {dtype = "complex64"}):sort() end)
  end)

  it("gives the same results at any thread count", function()
    la.manual_seed(8)
    local x, threads = la.randn(50, 3000), la.get_num_threads()
    local first
    for _, t in ipairs {1, 2, 7} do
      la.set_num_threads(t)
      local v, at = x:sort(2)
      local k, kat = x:topk(7, 2)
      local got = la.cat({v:double(), at:double(), k:double(), kat:double()}, 2)
      first = first or got
      assert.is_true(first == got)
    end
    la.set_num_threads(threads)
  end)
end)

describe("topk and kthvalue", function()
  it("agree with sort", function()
    la.manual_seed(4)
    for _, n in ipairs {1, 5, 100, 700, 4096, 5000, 40000} do
      for _, x in ipairs {la.randn(n), la.randint(1, 20, n),
        la.randn(n, {dtype = "float64"}), la.arange(n), -la.arange(n)} do
        for _, k in ipairs {1, 2, 5, 16, 17, n // 50, n // 5, n} do
          if k >= 1 and k <= n then
            for _, largest in ipairs {true, false} do
              local v, at = x:topk(k, 1, largest)
              local sv, sat = x:sort(1, largest)
              assert.is_true(v == sv[{{1, k}}])
              assert.is_true(at == sat[{{1, k}}])
            end
            local v, at = x:kthvalue(k)
            assert.equal((x:sort()):item(k), v:item())
            assert.equal(v:item(), x:item(at:item()))
          end
        end
      end
    end
  end)

  it("take rising and falling rows, NaN as largest", function()
    local x = la.arange(20000):float()
    assert.same({19999, 19998}, (x:topk(2)):totable())
    assert.same({19999, 19998}, (x:flip(1):topk(2)):totable())
    x[10000] = nan
    local v, at = x:topk(2)
    assert.same({10000, 20000}, at:totable())
    assert.equal(2, select(2, la.tensor {1, nan}:kthvalue(2)):item())
  end)

  it("find one element as sort does, along any dim", function()
    la.manual_seed(5)
    for _, dtype in ipairs(DTYPES) do
      for _, shape in ipairs {{}, {1}, {3000}, {7, 33}, {5, 6, 40}} do
        local x = la.randn(shape) * 3
        if dtype:find "float" then
          x = la.where(la.rand(shape):gt(0.5), x * 0, x)
          x = la.where(la.rand(shape):gt(0.95), nan, x)
        end
        x = (dtype:find "uint" and x:abs() or x):to(dtype)
        for d = 1, math.max(1, #shape) do
          for _, largest in ipairs {true, false} do
            local v, at = x:topk(1, d, largest)
            local sv, sat = x:sort(d, largest)
            if #shape > 0 then
              sv, sat = sv:narrow(d, 1, 1), sat:narrow(d, 1, 1)
            end
            assert.is_true(at == sat)
            v, sv = v:double(), sv:double()
            local same = v:eq(sv):logical_and(v:signbit():eq(sv:signbit()))
            assert.is_true(same:logical_or(v:isnan():logical_and(sv:isnan()))
                             :all())
          end
        end
      end
    end
  end)

  it("have partition, too", function()
    la.manual_seed(3)
    local x = la.randn(100)
    for _, k in ipairs {1, 40, 100} do
      local p = x:partition(k)
      assert.equal((x:kthvalue(k)):item(), p:item(k))
      assert.is_true(p[{{1, k}}]:le(p[k]):all())
      assert.is_true(x[x:argpartition(k)] == p)
    end
    assert.has_error(function() x:partition(101) end)
    assert.has_error(function() x:argpartition(0) end)
  end)

  it("check k", function()
    local ok, message = pcall(la.topk, la.zeros(3), 4)
    assert.truthy(not ok and message:find "out of range")
    assert.has_error(function() la.zeros(3):kthvalue(0) end)
    assert.has_error(function() la.zeros(3):kthvalue(4) end)
    assert.same({0}, {table.unpack((la.zeros(3):topk(0)).shape)})
  end)
end)

describe("searching", function()
  it("counts what is below", function()
    la.manual_seed(6)
    for _, m in ipairs {0, 1, 2, 15, 16, 17, 1000} do
      local s = la.randint(1, 40, m):sort()
      local x = la.randint(0, 41, 100)
      local left = la.searchsorted(s, x)
      local right = la.searchsorted(s, x, {right = true})
      assert.is_true(left == s:unsqueeze(1):lt(x:unsqueeze(2)):sum(2) + 1)
      assert.is_true(right == s:unsqueeze(1):le(x:unsqueeze(2)):sum(2) + 1)
      assert.is_true(la.bucketize(x, s) == left)
    end
  end)

  it("takes numbers, rows, a sorter", function()
    local s = la.tensor {1.0, 3.0, 5.0}
    assert.equal(3, s:searchsorted(4):item())
    assert.equal(2, s:searchsorted(3.0, {side = "left"}):item())
    assert.equal(3, s:searchsorted(3.0, {side = "right"}):item())
    assert.equal("int32", s:searchsorted(4, {out_int32 = true}).dtype)
    assert.same({{1, 4}, {1, 2}}, la.searchsorted(
      la.tensor {{1, 2, 3}, {4, 5, 6}}, la.tensor {{1, 9}, {1, 5}}):totable())
    local u = la.tensor {5.0, 1.0, 3.0}
    assert.equal(3, u:searchsorted(4, {sorter = u:argsort()}):item())
    assert.has_error(function()
      s:searchsorted(3.0, {side = "left", right = true})
    end)
  end)

  it("finds members", function()
    local x = la.tensor {1, 5, 2, 5}
    assert.same({false, true, false, true}, x:isin(la.tensor {5, 7}):totable())
    assert.same({true, false, true, false},
                x:isin(la.tensor {5}, {invert = true}):totable())
    assert.same({true, false}, la.tensor {0.5, nan}
      :isin(la.tensor {nan, 0.5}):totable())
    local wide = la.tensor {-0.0, nan, 1, inf, 7, 1e-40}
    assert.same({true, false, true, true, false, false},
                wide:isin(la.tensor {nan, 1, 0, nan, inf}):totable())
    assert.same({true, true, true, true, true, true},
                wide:isin(la.tensor {nan, nan}, {invert = true}):totable())
    local long = la.cat {la.arange(40):float() / 3, la.full(9, nan)}
    assert.equal(40, long:isin(long):sum():item())
    la.manual_seed(1)
    local y, t = la.randint(1, 100, 500), la.randint(1, 100, 30)
    assert.is_true(y:isin(t) == y:unsqueeze(2):eq(t):any(2))
    -- Among few values, which are looked up, and beyond them on both sides.
    for _, dtype in ipairs {"int8", "uint8", "int16", "int64", "bool"} do
      local a = dtype == "bool" and y:gt(50) or y:sub(50):abs():to(dtype)
      local b = dtype == "bool" and t:gt(0) or t:sub(50):abs():to(dtype)
      for _, few in ipairs {1, 3, 20, 30} do
        local tests = b[{{1, few}}]
        local want = a:unsqueeze(2):eq(tests):any(2)
        assert.is_true(a:isin(tests) == want)
        assert.is_true(a:isin(tests, {invert = true}) == want:logical_not())
      end
    end
    local far = la.tensor {math.mininteger, -1, 7, 8, 9, math.maxinteger}
    assert.same({false, false, true, false, true, false},
                far:isin(la.tensor {7, 9, 9}):totable())
    assert.same({true, true, true, false, false, true},
                far:isin(la.tensor {math.mininteger, -1, 7, math.maxinteger})
                  :totable())
  end)
end)

describe("unique", function()
  it("gives values, inverse and counts", function()
    local x = la.tensor {{3, 1}, {3, 2}}
    local v, inverse, counts = x:unique {return_inverse = true,
                                         return_counts = true}
    assert.same({1, 2, 3}, v:totable())
    assert.same({{3, 1}, {3, 2}}, inverse:totable())
    assert.same({1, 1, 2}, counts:totable())
    assert.equal(1, select("#", x:unique()))
    v, counts = x:unique {return_counts = true}
    assert.same({1, 1, 2}, counts:totable())
    la.manual_seed(9)
    local big = la.randint(-500, 500, 30000)
    v, inverse, counts = big:unique(true, true, true)
    assert.is_true(v[inverse] == big)
    assert.equal(30000, counts:sum():item())
  end)

  it("goes by slices of a dim", function()
    local x = la.tensor {{1, 2}, {0, 5}, {1, 2}}
    local v, inverse, counts = x:unique {dim = 1, return_inverse = true,
                                         return_counts = true}
    assert.same({{0, 5}, {1, 2}}, v:totable())
    assert.same({2, 1, 2}, inverse:totable())
    assert.same({1, 2}, counts:totable())
  end)

  it("takes NaN as different from itself, zeros as one", function()
    assert.equal(3, #la.tensor {nan, 1.0, nan}:unique())
    assert.equal(1, #la.tensor {0.0, -0.0}:unique())
  end)

  it("joins runs", function()
    local v, inverse, counts = la.tensor {1, 1, 2, 2, 2, 1}
      :unique_consecutive(true, true)
    assert.same({1, 2, 1}, v:totable())
    assert.same({1, 1, 2, 2, 2, 3}, inverse:totable())
    assert.same({2, 3, 1}, counts:totable())
  end)

  it("joins runs of every length between different elements", function()
    la.manual_seed(10)
    for _, dtype in ipairs {"int16", "int64", "float32", "float64"} do
      for _, n in ipairs {0, 1, 2, 31, 33, 65, 700} do
        for _, rare in ipairs {0, 0.03, 0.5, 0.97, 1} do
          local step = la.rand(n):gt(rare)
          local x = step:to("int64"):cumsum(1):to(dtype)
          if dtype == "float32" and n > 100 then x[{{n - 80, n}}] = nan end
          local t, want, count, at = x:totable(), {}, {}, {}
          for i, e in ipairs(t) do
            if i == 1 or e ~= t[i - 1] then
              want[#want + 1], count[#want + 1] = e, 0
            end
            count[#want] = count[#want] + 1
            at[i] = #want
          end
          local v, inverse, counts = x:unique_consecutive(true, true)
          local alone = x:unique_consecutive()
          assert.equal(#want, #v)
          assert.same(count, counts:totable())
          assert.same(at, inverse:totable())
          for i, e in ipairs(want) do
            assert.is_true(v:item(i) == e or e ~= e and v:item(i) ~= v:item(i))
            assert.is_true(alone:item(i) == v:item(i) or e ~= e)
          end
          assert.equal(#want, #alone)
        end
      end
    end
  end)

  it("has the array standard's forms", function()
    local v, first, inverse, counts = la.tensor {7, 5, 7}:unique_all()
    assert.same({{5, 7}, {2, 1}, {2, 1, 2}, {1, 2}},
                {v:totable(), first:totable(), inverse:totable(),
                 counts:totable()})
    assert.same({5, 7}, la.tensor {7, 5, 7}:unique_values():totable())
    assert.same({1, 2}, select(2, la.tensor {7, 5, 7}:unique_counts())
                :totable())
    assert.same({2, 1, 2}, select(2, la.tensor {7, 5, 7}:unique_inverse())
                :totable())
  end)
end)
