-- Quotients and rests of integers, next to Lua's own: small and large operands
-- in one tensor, so that every way to divide is taken, and more elements than
-- whole vectors hold.
local la = require "lunarray"

local limits = {
  int8 = {7, 127}, int16 = {100, 32767}, int32 = {100, 1 << 20, (1 << 31) - 1},
  int64 = {100, 1 << 20, 1 << 50, 1 << 52, math.maxinteger},
  uint8 = {7, 255}, uint16 = {100, 65535},
  uint32 = {100, 1 << 20, (1 << 32) - 1}
}
local divisors = {1, 2, 3, 7, 10, 100, 127, 12345, 1 << 30, (1 << 31) - 1,
  1 << 50, math.maxinteger, -1, -2, -7, -100, -(1 << 30), math.mininteger}

local function sample(g, dtype, limit)
  local least = dtype:find("^u") and 0 or -limit
  return la.randint(least, limit, {263}, {generator = g, dtype = dtype})
end

local function check(op, f, a, b)
  local got, x = la[op](a, b):totable(), a:totable()
  local y = type(b) == "number" and {} or b:totable()
  for i = 1, #x do
    local by = y[i] or b
    local want = f(x[i], by)
    if got[i] ~= want then
      error(("%s of %d, %d in %s: %d, not %d"):format(op, x[i], by, a.dtype,
        got[i], want), 2)
    end
  end
end

local truth = {
  floor_divide = function(x, y) return x // y end,
  remainder = function(x, y) return x % y end,
  fmod = math.fmod
}

describe("division of integers", function()
  for dtype, limit in pairs(limits) do
    for op, f in pairs(truth) do
      it(op .. " of " .. dtype .. " is Lua's", function()
        local g = la.Generator(3)
        for _, most in ipairs(limit) do
          local a = sample(g, dtype, most)
          for _, other in ipairs(limit) do
            local b = sample(g, dtype, other)
            b[b:eq(0)] = 1
            check(op, f, a, b)
            check(op, f, la.cat{a, sample(g, dtype, limit[1])},
              la.cat{b, b})
          end
          for _, d in ipairs(divisors) do
            local least = dtype:find("^u") and 0 or -limit[#limit] - 1
            if d >= least and d <= limit[#limit] then check(op, f, a, d) end
          end
        end
      end)
    end
  end

  it("of uint64 leaves less than the divisor", function()
    local g = la.Generator(5)
    local all = {dtype = "int64", generator = g}
    local least, most = math.mininteger, math.maxinteger
    for _, shift in ipairs{0, 3, 12, 20, 50} do
      local a = la.randint(least, most, {263}, all):view("uint64")
      local b = (la.randint(0, most, {263}, all) >> shift) + 1
      local q = la.floor_divide(a, b:view("uint64")):view("int64"):totable()
      local r = la.remainder(a, b:view("uint64")):view("int64"):totable()
      local x, y = a:view("int64"):totable(), b:totable()
      for i = 1, #x do
        assert.are.equal(x[i], q[i] * y[i] + r[i])
        assert.is_true(math.ult(r[i], y[i]))
      end
    end
  end)
end)
