-- Comparisons of integer tensors with numbers: by value, for every dtype, all
-- numbers at the ends of the ranges, fractions, infinities and NaN, numbers on
-- either side, every layout, against Lua's own comparison of the values.
local la = require "lunarray"

local DTYPES = {"uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
  "int64", "bool"}
local ELEMENTS = {0, 1, 44, 127, 128, 255, -1, -128, 16777216, 16777217,
  1 << 53, (1 << 53) + 1, math.maxinteger, math.mininteger}
local NUMBERS = {0, 1, -1, 44, 127, 128, 255, 256, 300, -128, -129, 32767,
  32768, 65535, 65536, (1 << 31) - 1, 1 << 31, -(1 << 31) - 1, 1 << 32,
  math.maxinteger, math.mininteger, 0.5, -0.5, -0.0, 43.5, 44.0, 254.5, 255.5,
  256.0, 2.0 ^ 31, 2.0 ^ 53, 2.0 ^ 63, 2.0 ^ 63 - 1024, -2.0 ^ 63, 2.0 ^ 64,
  1.8e19, 16777216.0, 1e-300, 1e300, -1e300, 1 / 0, -1 / 0, 0 / 0}
local RELATIONS = {
  eq = function(a, b) return a == b end, ne = function(a, b) return a ~= b end,
  lt = function(a, b) return a < b end, le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end, ge = function(a, b) return a >= b end,
  logical_and = function(a, b) return a ~= 0 and b ~= 0 end,
  logical_or = function(a, b) return a ~= 0 or b ~= 0 end,
  logical_xor = function(a, b) return (a ~= 0) ~= (b ~= 0) end,
}

local function elements_of(dtype)
  if dtype == "bool" then return {0, 1} end
  local list, range = {}, la.iinfo(dtype)
  local high = dtype == "uint64" and math.maxinteger or range.max
  for _, v in ipairs(ELEMENTS) do
    if v >= range.min and v <= high then list[#list + 1] = v end
  end
  return list
end

-- The same elements contiguous, with gaps, and broadcast from a column.
local function layouts(list, dtype)
  local x = la.tensor(list, {dtype = "int64"}):to(dtype)
  local gaps = la.zeros(#list, 2, {dtype = dtype})
  gaps[{{}, 2}]:copy_(x)
  return {x, gaps[{{}, 2}], x:unsqueeze(2)}
end

local function check(faults, got, list, want, what)
  local flat = got:reshape(-1):totable()
  for i, v in ipairs(list) do
    if flat[i] ~= want(v) then
      faults[#faults + 1] = what .. " of element " .. v
      return
    end
  end
end

describe("an integer tensor and a number", function()
  for _, dtype in ipairs(DTYPES) do
    it("compare by value: " .. dtype, function()
      local faults, list = {}, elements_of(dtype)
      for kind, x in ipairs(layouts(list, dtype)) do
        for _, s in ipairs(NUMBERS) do
          for name, relation in pairs(RELATIONS) do
            local what = ("%s %s in layout %d"):format(name, s, kind)
            check(faults, x[name](x, s), list,
              function(v) return relation(v, s) end, what)
            check(faults, la[name](s, x), list,
              function(v) return relation(s, v) end, "mirrored " .. what)
          end
        end
      end
      assert.equal("", table.concat(faults, "\n", 1, math.min(#faults, 9)))
    end)
  end

  local bytes = la.tensor({1, 44}, {dtype = "uint8"})

  it("compare by value in position, recorded, mapped and searched", function()
    assert.same({0, 0}, bytes:clone():eq_(300):totable())
    assert.same({1, 1}, bytes:clone():gt_(-1):totable())
    local function f(x) return (x + 1):eq(301), x:lt(2.5), x:gt(-1) end
    for _, g in ipairs {la.fuse(f), la.vmap(f), f} do
      local a, b, c = g(bytes)
      assert.same({{false, false}, {true, false}, {true, true}},
        {a:totable(), b:totable(), c:totable()})
    end
    assert.same({false, false}, bytes:isin(300):totable())
    assert.same({true, true}, bytes:isin(300, {invert = true}):totable())
    assert.same({false, true}, bytes:isin(44.0):totable())
    assert.is_false(la.isin(300, bytes):item())
    assert.is_true(la.isin(44, bytes):item())
    assert.same({false, false}, bytes:isclose(300):totable())
    assert.same({false, true}, bytes:isclose(300, 0.99):totable())
  end)

  it("find the position of the number", function()
    local positions = {[300] = {3, 3}, [-1] = {1, 1}, [43.5] = {2, 2},
      [44.5] = {3, 3}, [0.5] = {1, 1}, [1 / 0] = {3, 3}, [-1 / 0] = {1, 1}}
    for s, want in pairs(positions) do
      assert.same(want, {bytes:searchsorted(s):item(),
        bytes:searchsorted(s, {right = true}):item()}, tostring(s))
      assert.equal(want[1], la.bucketize(s, bytes):item())
    end
    assert.same({2, 3}, {bytes:searchsorted(44.0):item(),
      bytes:searchsorted(44.0, {right = true}):item()})
    assert.equal(3, bytes:searchsorted(0 / 0):item())
  end)

  it("compare by value where the number is an integer of 0 dims", function()
    assert.same({false, false}, bytes:eq(la.tensor(300)):totable())
    assert.same({true, true}, la.gt(la.tensor(300), bytes):totable())
    assert.same({false, false}, bytes:isin(la.tensor(300)):totable())
    assert.same({false, false}, bytes:eq(bytes:sum() * 256):totable())
  end)

  it("wrap around in sums and products where they are minus an element",
  function()
    assert.same({0, 43}, (bytes + -1):totable())
    assert.same({2, 45}, (bytes - -1):totable())
    assert.same({254, 211}, (-1 - bytes):totable())
    assert.same({255, 212}, (bytes * -1):totable())
    assert.same({2, 45}, bytes:clone():add_(-255):totable())
    assert.same({0, 43}, la.fuse(function() return bytes + -1 end)():totable())
  end)

  it("do not compute where the number is out of range", function()
    local overflow = "cannot be converted to type uint8 without overflow"
    for _, f in ipairs {
      function() return bytes + 300 end, function() return 300 - bytes end,
      function() return bytes * -256 end, function() return bytes % 256 end,
      function() return bytes // 300 end, function() return bytes | 300 end,
      function() return bytes << 256 end, function() return bytes ~ -1 end,
      function() return bytes:clone():add_(300) end,
      function() return bytes:maximum(300) end,
      function() return bytes:rsub(300) end,
      function() return bytes:clone():put_(la.tensor{1}, 300) end,
      function() return la.addr(300, bytes, bytes) end,
      function() return la.polyval(bytes, 300) end,
      la.fuse(function() return bytes + 300 end),
      function() return la.arange(257, {dtype = "uint8"}) end,
      function() return la.arange(-1, 3, 1, {dtype = "uint8"}) end,
      function() return la.range(256, {dtype = "uint8"}) end,
      function() return la.logspace(0, 3, 4, {dtype = "uint8"}) end,
      function()
        return la.arange(0, 300, 1, {out = la.empty(0, {dtype = "uint8"})})
      end,
    } do
      assert.error_matches(f, overflow, 1, true)
    end
    local there = la.zeros(2, {dtype = "uint8", device = "meta"})
    assert.error_matches(function() return there + 300 end, overflow, 1, true)
    assert.equal("bool", there:eq(300).dtype)
    assert.equal(256, la.arange(256, {dtype = "uint8"}):numel())
    assert.same({0, 100, 200},
      la.arange(0, 300, 100, {dtype = "uint8"}):totable())
    assert.same({2, 1}, la.range(2, 1, -1, {dtype = "uint8"}):totable())
  end)
end)
