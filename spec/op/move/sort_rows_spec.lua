-- Sorting short rows, many at a time: compared with sorting in Lua, by value
-- and position, NaN last.
local la = require "lunarray"

local dtypes = {"bool", "int8", "uint8", "int16", "int32", "int64", "float16",
  "bfloat16", "float32", "float64"}
local lengths = {2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 48, 63, 64,
  65, 66, 127, 128, 129, 255, 256, 257}

local function before(a, b)    -- NaN is the largest, both zeros are one value
  if a ~= a then return false end
  return b ~= b or a < b
end

-- Rows of 'x' (a table of tables) as sorted values and 1-based positions.
local function naive(rows, descending)
  local values, positions = {}, {}
  for r, row in ipairs(rows) do
    local at = {}
    for i = 1, #row do at[i] = i end
    table.sort(at, function(i, j)
      local a, b = row[i], row[j]
      if descending then a, b = b, a end
      if before(a, b) then return true end
      if before(b, a) then return false end
      return i < j
    end)
    values[r], positions[r] = {}, at
    for k, i in ipairs(at) do values[r][k] = row[i] end
  end
  return values, positions
end

local function as_numbers(t)
  return t.dtype == "bool" and t:int():totable() or t:totable()
end

local function check(x, descending)
  local want_v, want_i = naive(as_numbers(x), descending)
  local v, i = la.sort(x, 2, descending)
  assert.same(want_i, i:totable())
  assert.same(want_i, la.argsort(x, 2, descending):totable())
  local got = as_numbers(v)
  for r, row in ipairs(want_v) do
    for k, e in ipairs(row) do
      local g = got[r][k]
      assert.is_true(e == g and 1 / e == 1 / g or e ~= e and g ~= g)
    end
  end
end

describe("short rows", function()
  it("are sorted, of every length and dtype", function()
    la.manual_seed(11)
    for _, dtype in ipairs(dtypes) do
      for _, n in ipairs(lengths) do
        check((la.randn(11, n) * 40):to(dtype), n % 2 == 0)
      end
    end
  end)

  it("keep the order of equals, zeros their signs, NaN last", function()
    la.manual_seed(12)
    for _, dtype in ipairs {"float32", "float64", "bfloat16"} do
      for _, n in ipairs {6, 10, 33, 64, 100} do
        local x = la.randint(-1, 1, {9, n}):to(dtype)
        x = la.where(la.rand(9, n):gt(0.7), -x * 0, x)
        x = la.where(la.rand(9, n):gt(0.9), 0 / 0, x)
        x = la.where(la.rand(9, n):gt(0.9), -math.huge, x):to(dtype)
        check(x, false)
        check(x, true)
      end
    end
  end)

  it("differ in the lowest bits only, or in all", function()
    la.manual_seed(13)
    for _, n in ipairs {5, 20, 64, 100} do
      local low = la.randint(0, 3, {10, n}) + (1 << 53)
      check(low, false)
      local wide = la.where(la.rand(10, n):gt(0.5), low * 512, -low * 512)
      check(wide + la.randint(0, 60, {10, n}), false)
      check(wide + la.randint(0, 3, {10, n}), true)
      local edge = la.full({3, n}, math.maxinteger, {dtype = "int64"})
      edge[{{}, {1, n // 2}}] = math.mininteger
      check(edge, false)
      check(1 + la.rand(10, n, {dtype = "float64"}) * 2.0 ^ -47, false)
      check(la.randn(10, n, {dtype = "float64"}), false)
    end
  end)

  -- Keys are sorted by their upper bits with a position first: equal ones must
  -- stay as they are, those that differ below be put right, however many.
  it("have many equals, or differ below the bits that fit", function()
    la.manual_seed(15)
    for _, n in ipairs {17, 100, 256, 300, 1000, 4096, 5000} do
      for _, dtype in ipairs {"float32", "float64"} do
        local x = la.randn(2, n):to(dtype)
        check(la.relu(x), false)
        check(la.where(x:gt(0), x, -x * 0), true)
        check(la.where(x:gt(0.5), 0 / 0, x), false)
        check((x * 2):round(), false)
        check(1 + x * 2.0 ^ -20, true)
        check(la.where(x:gt(2), 1e30, 1 + x * 2.0 ^ -20), false)
        check(la.sort(x, 2), false)
        check(la.sort(x, 2, true), false)
      end
      local most = la.randint(0, 50, {2, n})
      most[{{}, 1}] = math.maxinteger
      check(most, false)
      check(la.where(most:gt(25), most - (1 << 40), most), true)
      check(most:flip({2}), false)
    end
  end)

  it("lie anywhere, and are the same with threads", function()
    la.manual_seed(14)
    local x = la.randn(3, 20, 5)
    local v, i = la.sort(x, 2)
    for a = 1, 3 do
      for b = 1, 5 do
        local want, at = la.sort(x[{a, {}, b}]:contiguous())
        assert.is_true(la.equal(want, v[{a, {}, b}]))
        assert.is_true(la.equal(at, i[{a, {}, b}]))
      end
    end
    local long = la.relu(la.randn(300, 5))
    v, i = la.sort(long, 1)
    for b = 1, 5 do
      local want, at = la.sort(long[{{}, b}]:contiguous())
      assert.is_true(la.equal(want, v[{{}, b}]))
      assert.is_true(la.equal(at, i[{{}, b}]))
    end
    local y, threads, first = la.randn(20011, 13), la.get_num_threads(), nil
    for _, t in ipairs {1, 2, 5} do
      la.set_num_threads(t)
      local values, positions = la.sort(y, 2)
      first = first or {values, positions}
      assert.is_true(la.equal(first[1], values))
      assert.is_true(la.equal(first[2], positions))
    end
    la.set_num_threads(threads)
  end)
end)
