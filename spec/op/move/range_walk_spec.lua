-- Ranges of every first, last and step over short dims, read and written,
-- against a loop in Lua.
local la = require "lunarray"

-- Positions that {first, last, step} means in a dim of n, or nil where the
-- range can't begin or end there. Ends from the back are negative; what lies
-- outside is cut.
local function positions(n, first, last, step)
  if first < 0 then first = n + 1 + first end
  if last < 0 then last = n + 1 + last end
  if step > 0 then
    first, last = math.max(first, 1), math.min(last, n)
  else
    first, last = math.min(first, n), math.max(last, 1)
  end
  local list = {}
  for i = first, last, step do list[#list + 1] = i end
  return list
end

-- f(n, first, last, step) for all of them.
local function each_range(f)
  for n = 1, 5 do
    for first = -n - 1, n + 1 do
      for last = -n - 1, n + 1 do
        for _, step in ipairs {1, 2, 3, 5, -1, -2, -3, -5} do
          if first ~= 0 and last ~= 0 then f(n, first, last, step) end
        end
      end
    end
  end
end

local function said(n, first, last, step)
  return ("{%d, %d, %d} of %d"):format(first, last, step, n)
end

describe("a range", function()
  it("reads the positions of a loop", function()
    each_range(function(n, first, last, step)
      local x = la.range(1, n, {dtype = "int64"})
      assert.same(positions(n, first, last, step),
        x[{{first, last, step}}]:totable(), said(n, first, last, step))
      if step == 1 then
        assert.same(positions(n, first, last, 1),
          x[{{first, last}}]:totable(), said(n, first, last, 1))
      end
    end)
  end)

  it("reads the same in every dim", function()
    each_range(function(n, first, last, step)
      local x = la.range(1, n * n):reshape(n, n)
      local at = positions(n, first, last, step)
      if #at > 0 then
        local index = la.tensor(at)
        assert.is_true(la.equal(x:index_select(2, index),
          x[{{}, {first, last, step}}]), said(n, first, last, step))
        assert.is_true(la.equal(
          x:index_select(1, index):index_select(2, index),
          x[{{first, last, step}, {first, last, step}}]),
          said(n, first, last, step))
      end
    end)
  end)

  it("writes the same positions", function()
    each_range(function(n, first, last, step)
      local x, want = la.zeros(n), {}
      for i = 1, n do want[i] = 0 end
      local at = positions(n, first, last, step)
      for k, i in ipairs(at) do want[i] = k end
      if #at > 0 then
        x[{{first, last, step}}] = la.range(1, #at)
      else
        x[{{first, last, step}}] = 7
      end
      assert.same(want, x:totable(), said(n, first, last, step))
    end)
  end)

  it("sends gradients to the same positions", function()
    each_range(function(n, first, last, step)
      local x, want = la.ones(n, {requires_grad = true}), {}
      for i = 1, n do want[i] = 0 end
      local at = positions(n, first, last, step)
      for k, i in ipairs(at) do want[i] = k end
      if n == 4 and #at > 0 then
        (x[{{first, last, step}}] * la.range(1, #at)):sum():backward()
        assert.same(want, x.grad:totable(), said(n, first, last, step))
      end
    end)
  end)
end)

describe("iter", function()
  it("counts dims from 1, and from the back", function()
    local x = la.range(1, 24):reshape(2, 3, 4)
    for d = 1, 3 do
      for _, dim in ipairs {d, d - 4} do
        local n = 0
        for i, part in x:iter(dim) do
          n = n + 1
          assert.equal(n, i)
          assert.is_true(la.equal(x:select(d, i), part))
        end
        assert.equal(x:size(d), n)
      end
    end
    local n = 0
    for i, part in x:iter() do
      n = n + 1
      assert.is_true(la.equal(x[i], part))
    end
    assert.equal(2, n)
    for _, dim in ipairs {0, 4, -4} do
      assert.has_error(function() x:iter(dim) end)
    end
  end)
end)
