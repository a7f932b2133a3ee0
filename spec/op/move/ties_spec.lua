-- Operations that choose among equal elements: which value, and which of its
-- positions, in every dtype and for rows of every length where a kernel changes
-- its way, against loops in Lua.
local la = require "lunarray"

local DTYPES = {"uint8", "int8", "int16", "int32", "int64", "float16",
  "bfloat16", "float32", "float64"}
local LENGTHS = {1, 2, 3, 5, 8, 9, 16, 17, 33, 64, 130}

-- f(list of numbers, tensor, what) for rows of few different values.
local function each_row(f)
  la.manual_seed(5)
  for _, dtype in ipairs(DTYPES) do
    for _, n in ipairs(LENGTHS) do
      for _, values in ipairs {1, 2, 3, 7} do
        local x = la.randint(0, values, {n}):to(dtype)
        f(x:totable(), x, ("%s, %d of %d values"):format(dtype, n, values))
      end
    end
  end
end

local function first_at(list, value)
  for i = 1, #list do if list[i] == value then return i end end
end

local function last_at(list, value)
  for i = #list, 1, -1 do if list[i] == value then return i end end
end

local function ends(list)
  local low, high = list[1], list[1]
  for _, v in ipairs(list) do
    low, high = math.min(low, v), math.max(high, v)
  end
  return low, high
end

local function count_of(list, value)
  local n = 0
  for _, v in ipairs(list) do if v == value then n = n + 1 end end
  return n
end

-- The smallest of the values that occur most often.
local function mode_of(list)
  local best, most = nil, 0
  for _, v in ipairs(list) do
    local n = count_of(list, v)
    if n > most or n == most and v < best then best, most = v, n end
  end
  return best
end

describe("among equal elements", function()
  it("mode takes the smallest value of the most frequent", function()
    each_row(function(list, x, what)
      local value, at = la.mode(x, 1)
      assert.equal(mode_of(list), value:item(), what)
      assert.equal(last_at(list, value:item()), at:item(), what)
      local columns = la.stack({x, x}, 2)
      assert.equal(mode_of(list), (la.mode(columns, 1)):item(2), what)
    end)
  end)

  it("argmax, argmin, max and min take the first", function()
    each_row(function(list, x, what)
      local low, high = ends(list)
      assert.equal(first_at(list, high), x:argmax(1):item(), what)
      assert.equal(first_at(list, low), x:argmin(1):item(), what)
      assert.equal(first_at(list, high), x:argmax():item(), what)
      assert.equal(first_at(list, low), x:argmin():item(), what)
      local value, at = x:max(1)
      assert.equal(high, value:item(), what)
      assert.equal(first_at(list, high), at:item(), what)
      value, at = x:min(1)
      assert.equal(low, value:item(), what)
      assert.equal(first_at(list, low), at:item(), what)
    end)
  end)

  it("cummax and cummin take the last so far", function()
    each_row(function(list, x, what)
      for _, name in ipairs {"cummax", "cummin"} do
        local values, at = x[name](x, 1)
        local best, where, want, positions = list[1], 1, {}, {}
        for i, v in ipairs(list) do
          if name == "cummax" and v >= best or name == "cummin" and v <= best
          then
            best, where = v, i
          end
          want[i], positions[i] = best, where
        end
        assert.same(want, values:totable(), what)
        assert.same(positions, at:totable(), what)
      end
    end)
  end)

  it("median and kthvalue are the sorted row's", function()
    each_row(function(list, x, what)
      local sorted = {table.unpack(list)}
      table.sort(sorted)
      local value, at = x:median(1)
      assert.equal(sorted[(#list + 1) // 2], value:item(), what)
      assert.equal(value:item(), list[at:item()], what)
      assert.equal(sorted[(#list + 1) // 2], x:median():item(), what)
      for _, k in ipairs {1, (#list + 2) // 2, #list} do
        value, at = x:kthvalue(k)
        assert.equal(sorted[k], value:item(), what)
        assert.equal(value:item(), list[at:item()], what)
      end
    end)
  end)

  it("a stable sort keeps the order", function()
    each_row(function(list, x, what)
      for _, descending in ipairs {false, true} do
        local order = {}
        for i = 1, #list do order[i] = i end
        table.sort(order, function(a, b)
          if list[a] == list[b] then return a < b end
          if descending then return list[a] > list[b] end
          return list[a] < list[b]
        end)
        local values, at = la.sort(x, 1, {stable = true,
          descending = descending})
        assert.same(order, at:totable(), what)
        for k, i in ipairs(order) do
          assert.equal(list[i], values:item(k), what)
        end
        local best, where = la.topk(x, math.min(3, #list), 1,
          {largest = descending})
        for k = 1, best:numel() do
          assert.equal(list[order[k]], best:item(k), what)
          assert.equal(best:item(k), list[where:item(k)], what)
        end
      end
    end)
  end)

  it("unique counts them all and searchsorted takes a side", function()
    each_row(function(list, x, what)
      local values, back, counts = la.unique(x, {return_inverse = true,
        return_counts = true})
      for k, v in ipairs(values:totable()) do
        assert.equal(count_of(list, v), counts:item(k), what)
      end
      for i, v in ipairs(list) do
        assert.equal(v, values:item(back:item(i)), what)
      end
      local sorted = la.sort(x)
      local row = sorted:totable()
      for _, v in ipairs(values:totable()) do
        local key = la.tensor({v}, {dtype = x.dtype})
        assert.equal(first_at(row, v),
          la.searchsorted(sorted, key):item(), what)
        assert.equal(last_at(row, v) + 1,
          la.searchsorted(sorted, key, {right = true}):item(), what)
      end
    end)
  end)
end)
