-- Rows of a few bytes transposed, rolled, repeated, bordered and joined: every
-- size of an element, widths and counts around those where kernels change their
-- way, compared with elements that are picked by positions.
local la = require "lunarray"

local dtypes = {"uint8", "bfloat16", "float32", "float64", "complex128"}
local widths = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33}
local counts = {1, 2, 15, 16, 17, 33, 600}

local function numbered(dtype, ...)
  local x = la.arange(la.ones(...):numel()):view(...)
  return x:remainder(251):to(dtype)
end

-- The positions that f gives for 1..n.
local function at(n, f)
  local list = {}
  for k = 1, n do list[k] = f(k) end
  return la.tensor(list, {dtype = "int64"})
end

local function backwards(n) return at(n, function(k) return n + 1 - k end) end
local function rolled(n, by)
  return at(n, function(k) return (k - 1 - by) % n + 1 end)
end
local function each(n, times)
  return at(n * times, function(k) return (k - 1) // times + 1 end)
end
local function again(n, times)
  return at(n * times, function(k) return (k - 1) % n + 1 end)
end

local function every(check)
  for _, dtype in ipairs(dtypes) do
    for _, w in ipairs(widths) do
      for _, n in ipairs(counts) do
        check(numbered(dtype, n, w), n, w)
      end
    end
  end
end

local function same(want, got) assert.is_true(la.equal(want, got)) end

describe("short rows", function()
  it("are flipped", function()
    every(function(x, n, w)
      local by_rows = x:index_select(1, backwards(n))
      same(by_rows, x:flip(1))
      same(x:index_select(2, backwards(w)), x:flip(2))
      same(by_rows:index_select(2, backwards(w)), x:flip(1, 2))
      same(x:t():index_select(2, backwards(n)), x:t():flip(2))
    end)
    for _, dtype in ipairs(dtypes) do
      for _, w in ipairs {1, 2, 3, 4} do
        local x = numbered(dtype, 3, 20, w)
        same(x:index_select(2, backwards(20)), x:flip(2))
        same(x:index_select(3, backwards(w)), x:flip(3))
      end
    end
  end)

  it("are rolled", function()
    every(function(x, n, w)
      for _, by in ipairs {1, -1, 3} do
        local inside = x:index_select(2, rolled(w, by))
        same(inside, x:roll(by, 2))
        same(x:index_select(1, rolled(n, by)), x:roll(by, 1))
        same(inside:index_select(1, rolled(n, 2)), x:roll({2, by}, {1, 2}))
      end
    end)
  end)

  it("are repeated", function()
    every(function(x, n, w)
      for _, times in ipairs {1, 2, 3, 10} do
        same(x:index_select(1, each(n, times)), x:repeat_interleave(times, 1))
        same(x:index_select(2, each(w, times)), x:repeat_interleave(times, 2))
        same(x:index_select(2, again(w, times)), x:tile(1, times))
        same(x:index_select(1, again(n, times)), x:tile(times, 1))
      end
    end)
  end)

  it("are repeated as often as a list says", function()
    local g = la.Generator(3)
    for _, n in ipairs {1, 2, 9, 300} do
      for _, most in ipairs {0, 1, 8, 30} do
        local c = la.randint(0, most, {n}, {generator = g})
        local want = {}
        for k, times in ipairs(c:totable()) do
          for _ = 1, times do want[#want + 1] = k end
        end
        want = la.tensor(want, {dtype = "int64"})
        same(want, la.repeat_interleave(c))
        same(want, la.repeat_interleave(c:int()):long())
        same(want, la.repeat_interleave(la.stack({c, c}, 2):select(2, 1)))
        same(want:float(), la.arange(n):add(1):float():repeat_interleave(c))
      end
    end
  end)

  it("get a border", function()
    every(function(x, n, w)
      for _, p in ipairs {{1, 0}, {0, 2}, {1, 1}, {0, 0}, {3, 5}} do
        local want = la.full({n, w + p[1] + p[2]}, 7, {dtype = x.dtype})
        want[{{}, {p[1] + 1, p[1] + w}}] = x
        same(want, la.pad(x, p, "constant", 7))
        same(want:t(), la.pad(x:t(), {0, 0, p[1], p[2]}, "constant", 7))
      end
      if w > 2 and n > 2 and x:is_floating_point() then
        local near = at(w + 3, function(k)
          k = k - 2
          return k < 1 and 2 - k or k > w and 2 * w - k or k
        end)
        same(x:index_select(2, near),
             la.pad(x:unsqueeze(1), {2, 1}, "reflect"):squeeze(1))
      end
    end)
  end)

  it("are joined", function()
    every(function(x, _, w)
      local y = x:flip(1)
      local both = la.cat({x, y}, 2)
      same(x, both:narrow(2, 1, w))
      same(y, both:narrow(2, w + 1, w))
      local parts = {x, y, x:flip(2), y:flip(2), x}
      for n = 3, 5 do
        local joined = la.cat(table.move(parts, 1, n, 1, {}), 2)
        for k = 1, n do
          same(parts[k], joined:narrow(2, (k - 1) * w + 1, w))
        end
      end
      local pairs_of = la.stack({x, y}, 3)
      same(x, pairs_of:select(3, 1))
      same(y, pairs_of:select(3, 2))
    end)
    local x, y = numbered("float64", 1700, 300), numbered("float64", 1700, 200)
    local long = la.cat({x, y}, 2)
    same(x, long:narrow(2, 1, 300))
    same(y, long:narrow(2, 301, 200))
  end)

  it("are the same with threads", function()
    local threads, first = la.get_num_threads(), nil
    local x = numbered("uint8", 300001, 3)
    for _, t in ipairs {1, 2, 5} do
      la.set_num_threads(t)
      local got = la.cat({x:flip(1), x:flip(2), x:roll(1, 2),
        x:repeat_interleave(2, 1), la.pad(x, {2, 1})[{{}, {2, 4}}]})
      first = first or got
      same(first, got)
    end
    la.set_num_threads(threads)
  end)
end)
