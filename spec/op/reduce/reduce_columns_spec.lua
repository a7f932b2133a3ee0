-- Columns where kernels change their way: a few rows taken in one pass, a few
-- columns side by side, bools that are decided early, variances of numbers near
-- the end of their range.
local la = require "lunarray"

local INTS = {"bool", "uint8", "int8", "uint16", "int16", "int32", "uint32",
              "int64", "uint64"}
local FLOATS = {"float16", "bfloat16", "float32", "float64"}

local function both(f)
  for _, list in ipairs {INTS, FLOATS} do
    for _, dtype in ipairs(list) do f(dtype) end
  end
end

-- Whole numbers whose sums are exact in every dtype; and the same in
-- int64.
local function whole(dtype, ...)
  local x = la.randint(0, dtype == "bool" and 1 or 5, {...})
  return x:to(dtype), x
end

-- The same reduction, row after row.
local function by_steps(x, f)
  local acc = x[1]
  for i = 2, x:size(1) do acc = f(acc, x[i]) end
  return acc
end

local function same(want, got) assert.is_true(got:long():equal(want)) end

describe("a few rows of columns", function()
  both(function(dtype)
    it("are combined as one after another, " .. dtype, function()
      for rows = 1, 33 do
        for _, cols in ipairs {5, 64, 130, 8195} do
          if cols < 1000 or rows < 18 then
            local x, n = whole(dtype, rows, cols)
            same(by_steps(n, function(a, b) return a + b end), x:sum(1))
            same(by_steps(n, la.maximum), x:amax(1))
            same(by_steps(n, la.minimum), x:amin(1))
            local set = n:ne(0):long()
            same(by_steps(set, la.maximum), x:any(1))
            same(by_steps(set, la.minimum), x:all(1))
            same(by_steps(set, function(a, b) return a + b end),
              x:count_nonzero(1))
          end
        end
      end
    end)
  end)

  it("keep the sign of nothing and pass NaN on", function()
    for _, dtype in ipairs(FLOATS) do
      for _, rows in ipairs {7, 8, 11, 16, 21} do
        local x = la.zeros({rows, 70}, {dtype = dtype})
        x[{rows, 69}], x[{1, 3}] = 0 / 0, 0 / 0
        local bad = x:sum(1):isnan()
        assert.equal(2, bad:sum():item())
        assert.is_true(bad:item(69) and bad:item(3))
        assert.is_true(x:amax(1):isnan():equal(bad))
      end
    end
  end)

  it("give the same on two threads and into a view", function()
    for _, dtype in ipairs {"float32", "float64", "bfloat16"} do
      local x = la.randn(10, 40000):to(dtype)
      la.set_num_threads(1)
      local one, mean = x:sum(1), x:mean(1)
      la.set_num_threads(2)
      assert.is_true(x:sum(1):equal(one) and x:mean(1):equal(mean))
      la.set_num_threads(1)
      local pair = la.zeros({40000, 2}, {dtype = dtype})
      la.sum(x, 1, {out = pair:select(2, 2)})
      assert.is_true(pair:select(2, 2):equal(one))
      assert.equal(0, pair:select(2, 1):abs():sum():item())
    end
  end)
end)

-- Where each column's first extreme stands, by comparing in Lua.
local function positions(rows, cols, list, better)
  local out = {}
  for k = 1, cols do
    local at = 1
    for i = 2, rows do
      if better(list[i][k], list[at][k]) then at = i end
    end
    out[k] = at
  end
  return out
end
local function more(a, b) return a > b or (a ~= a and b == b) end
local function less(a, b) return a < b or (a ~= a and b == b) end

describe("positions in a few tall columns", function()
  both(function(dtype)
    it("are of the first extreme, " .. dtype, function()
      for _, shape in ipairs {{256, 1}, {700, 3}, {257, 64}, {1031, 10},
                              {300, 65}} do
        local x = whole(dtype, table.unpack(shape))
        local rare = la.zeros(shape, {dtype = dtype})
        rare[{shape[1] - 3, 1}] = 1
        for _, y in ipairs {x, rare, rare:eq(0):to(dtype)} do
          local list = y:to("float64"):totable()
          assert.same(positions(shape[1], shape[2], list, more),
            y:argmax(1):totable())
          assert.same(positions(shape[1], shape[2], list, less),
            y:argmin(1):totable())
          local values, index = y:max(1)
          assert.same(y:argmax(1):totable(), index:totable())
          assert.is_true(values:equal(y:amax(1)))
        end
      end
    end)
  end)

  it("are those of the columns by blocks, far apart too", function()
    local x = la.randint(0, 3, {5, 300001}):float()
    x[{2, 300001}], x[{4, 70}] = 0 / 0, 0 / 0
    local values, index = x:max(1)
    local low = x:argmin(1)
    for first = 1, 300001, 60000 do
      local last = math.min(first + 59999, 300001)
      local y = x:slice(2, first, last):contiguous()
      local v, i = y:max(1)
      assert.is_true(v:equal(values:slice(1, first, last))
        or la.allclose(v, values:slice(1, first, last), 0, 0, true))
      assert.is_true(i:equal(index:slice(1, first, last)))
      assert.is_true(y:argmin(1):equal(low:slice(1, first, last)))
    end
    assert.equal(2, index:item(300001))
    assert.equal(4, low:item(70))
  end)

  it("are of the first NaN", function()
    for _, dtype in ipairs(FLOATS) do
      local x = la.randn(900, 4):to(dtype)
      for _, i in ipairs {899, 500, 87, 431} do
        x[{i, 2}] = 0 / 0
        x[{900, 3}] = 0 / 0
        local list = x:to("float64"):totable()
        assert.same(positions(900, 4, list, more), x:argmax(1):totable())
        assert.same(positions(900, 4, list, less), x:argmin(1):totable())
      end
    end
  end)
end)

describe("bools", function()
  it("have their first extreme far in a long row", function()
    for threads = 1, 2 do
      la.set_num_threads(threads)
      local x = la.zeros({300001}, {dtype = "bool"})
      assert.equal(1, x:argmax():item())
      assert.equal(1, x:argmin():item())
      for _, i in ipairs {300001, 200000, 131073, 70000, 2} do
        x[i] = true
        assert.equal(i, x:argmax():item())
        assert.equal(i, x:logical_not():argmin():item())
        assert.equal(i, x:slice(1, 1, -1):argmax():item())
      end
    end
    la.set_num_threads(1)
  end)

  it("are largest when any is set, smallest when all are", function()
    for _, n in ipairs {1, 70, 40000, 200000} do
      for _, at in ipairs {1, n // 2 + 1, n} do
        local x = la.zeros({n}, {dtype = "bool"})
        assert.is_false(x:max():item())
        x[at] = true
        assert.is_true(x:max():item() and x:amax():item())
        assert.equal(n == 1, x:min():item())
        local low, high = x:logical_not():aminmax()
        assert.equal("bool", tostring(low.dtype))
        assert.is_false(low:item())
        assert.equal(n > 1, high:item())
      end
    end
  end)
end)

describe("variances", function()
  it("of numbers near the end of float32 are finite", function()
    local x = la.tensor{3e38, -3e38, 1e38, 2.5e38, 3e38}
    local mean, square = 6.5e38 / 5, 0
    for _, v in ipairs(x:totable()) do square = square + (v - mean) ^ 2 end
    local want = math.sqrt(square / 4)
    local function near(y)
      for _, v in ipairs(y:reshape(-1):totable()) do
        assert.is_true(math.abs(v / want - 1) < 1e-6)
      end
    end
    near(x:std())
    near(x:view(1, 5):expand(40, 5):contiguous():std(2))
    near(x:view(5, 1):expand(5, 40):contiguous():std(1))
    near(x:view(5, 1):expand(5, 40):contiguous():slice(2, 1, -1, 3):std(1))
    local y = la.randn(100, 300)
    local plain = y:std(1)
    y:select(2, 7):fill_(3e38)
    y[{50, 7}] = 1e38
    local mixed = y:std(1)
    assert.is_true(math.abs(mixed:item(7) / 2e37 - 1) < 1e-6)
    assert.is_true(mixed:slice(1, 8, -1):equal(plain:slice(1, 8, -1)))
  end)

  it("of infinities and NaN are NaN", function()
    for _, odd in ipairs {1 / 0, -1 / 0, 0 / 0} do
      local x = la.ones(30, 20)
      x[{5, 6}] = odd
      assert.equal(1, x:std(1):isnan():sum():item())
      assert.equal(1, x:var(2):isnan():sum():item())
    end
  end)
end)

describe("running sums and products", function()
  local function steps(x, f)
    local out, acc = {}, x[1]
    out[1] = acc
    for i = 2, x:size(1) do
      acc = f(acc, x[i])
      out[i] = acc
    end
    return la.stack(out, 1)
  end
  local function plus(a, b) return a + b end
  local function times(a, b) return a * b end

  both(function(dtype)
    it("are combined as one after another, " .. dtype, function()
      local float = dtype:find("float")
      for _, n in ipairs {1, 2, 7, 8, 9, 40, 130, 300} do
        for _, m in ipairs {2, 3, 4, 5, 8, 9, 10, 64, 65, 257} do
          if n * m < 20000 then
            local x, wide = whole(dtype, n, m)
            local sums = steps(wide, plus)
            -- Sums of 16-bit floats round what double holds.
            local want = float and sums:double():float():to(dtype) or sums
            assert.is_true(x:cumsum(1):equal(want))
            assert.is_true(x:t():contiguous():cumsum(2):t():equal(want))
            assert.is_true(x:t():cumsum(2):t():equal(want))
            local odd = (wide:remainder(2) * 2 - 1)
            local signs = odd:to(float and dtype or "int64")
            assert.is_true(signs:cumprod(1):long()
              :equal(steps(odd, times)))
            assert.is_true(signs:t():contiguous():cumprod(2):t():long()
              :equal(steps(odd, times)))
          end
        end
      end
    end)
  end)

  it("are the same in place", function()
    for _, dtype in ipairs(FLOATS) do
      for _, shape in ipairs {{50, 3}, {50, 10}, {3, 50}, {50, 200}} do
        local x = la.randn(shape):to(dtype)
        for dim = 1, 2 do
          assert.is_true(x:clone():cumsum_(dim):equal(x:cumsum(dim)))
        end
      end
    end
  end)
end)
