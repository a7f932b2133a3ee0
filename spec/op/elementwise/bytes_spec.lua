-- Integer powers, shifts of bytes, divisions of bytes by one number, each
-- against Lua's own integers; whole powers of complex numbers and isclose
-- against their definitions.
local la = require "lunarray"

-- The low bits of v, as the dtype shows them.
local function wrapped(v, width, signed)
  if width == 64 then return v end
  v = v & ((1 << width) - 1)
  return signed and v >> (width - 1) == 1 and v - (1 << width) or v
end

local function all_bytes(signed)
  local list = {}
  for v = signed and -128 or 0, signed and 127 or 255 do list[#list + 1] = v end
  return list
end

describe("of all pairs of bytes", function()
  for _, dtype in ipairs {"uint8", "int8"} do
    local signed = dtype == "int8"
    local list = all_bytes(signed)
    local column = la.tensor(list, {dtype = dtype}):unsqueeze(2)
    local row = la.tensor(list, {dtype = dtype}):unsqueeze(1)
    -- Whole rows, one number for all, and an odd offset with an odd count.
    local function check(name, f, want)
      local a, b = column:expand(256, 256):contiguous(),
        row:expand(256, 256):contiguous()
      local got = f(a, b):totable()
      local odd = f(a:flatten()[{{4, -6}}], b:flatten()[{{4, -6}}]):totable()
      for i, x in ipairs(list) do
        for j, y in ipairs(list) do
          local w = want(x, y)
          if got[i][j] ~= w then
            error(("%s %s of %d, %d: %d, not %d"):format(dtype, name, x, y,
              got[i][j], w))
          end
          local position = (i - 1) * 256 + j - 3
          if odd[position] ~= nil and odd[position] ~= w then error(name) end
        end
      end
      for j, y in ipairs(list) do
        local one = f(a[{{}, j}]:contiguous(), la.tensor(y, {dtype = dtype}))
        assert.truthy(one == f(a, b)[{{}, j}], name .. " by the number " .. y)
      end
    end

    it(dtype .. " are shifted", function()
      check("left shift", la.bitwise_left_shift, function(x, y)
        return y >= 0 and y < 8 and wrapped(x << y, 8, signed) or 0
      end)
      check("right shift", la.bitwise_right_shift, function(x, y)
        if y < 0 or y > 7 then return x < 0 and -1 or 0 end
        return x // (1 << y)
      end)
    end)

    it(dtype .. " are raised", function()
      local powers = {}
      for _, x in ipairs(list) do
        powers[x] = {[0] = 1}
        for y = 1, 255 do
          powers[x][y] = wrapped(powers[x][y - 1] * x, 8, signed)
        end
      end
      check("power", la.pow, function(x, y)
        if y >= 0 then return powers[x][y] end
        return x == 1 and 1 or x == -1 and (y % 2 == 1 and -1 or 1) or 0
      end)
    end)

    it(dtype .. " are divided by one number", function()
      local a = la.tensor(list, {dtype = dtype})
      for _, y in ipairs(list) do
        if y ~= 0 then
          local by = la.tensor(y, {dtype = dtype})
          local q = a:floor_divide(by):totable()
          local short = a[{{2, 72}}]:floor_divide(by):totable()
          for i, x in ipairs(list) do
            assert.same(wrapped(x // y, 8, signed), q[i])
            if i > 1 and i <= 72 then assert.same(q[i], short[i - 1]) end
          end
        end
      end
    end)
  end
end)

describe("powers of integers", function()
  it("wrap in every width", function()
    for _, kind in ipairs {{"int16", 16, true}, {"int32", 32, true},
        {"int64", 64, true}, {"uint16", 16}, {"uint32", 32}} do
      local dtype, width, signed = table.unpack(kind)
      local a, b, want = {}, {}, {}
      for x = signed and -9 or 0, 11 do
        for y = signed and -3 or 0, 40 do
          local r = 1
          for _ = 1, y do r = r * x end
          if y < 0 then
            r = x == 1 and 1 or x == -1 and (y % 2 == 1 and -1 or 1) or 0
          end
          a[#a + 1], b[#b + 1] = x, y
          want[#want + 1] = wrapped(r, width, signed)
        end
      end
      local t = la.tensor(a, {dtype = dtype}):pow(la.tensor(b, {dtype = dtype}))
      assert.same(want, t:totable())
      for _, n in ipairs {4, 5, 21} do
        local by = la.tensor(a, {dtype = dtype}):pow(n):totable()
        for i, x in ipairs(a) do
          local r = 1
          for _ = 1, n do r = r * x end
          assert.same(wrapped(r, width, signed), by[i])
        end
      end
    end
  end)
end)

describe("whole powers of complex numbers", function()
  it("are products", function()
    for dtype, error in pairs {complex64 = 3e-7, complex128 = 1e-14} do
      local re = la.linspace(-1.5, 1.5, 37, {dtype = "float64"})
      local x = la.complex(re, re:flip(1):cos() + 0.1):to(dtype)
      for _, n in ipairs {0, 1, 4, 5, 7, -3, -5, 64} do
        local got, wide = x:pow(n):to("complex128"), x:to("complex128")
        local want = la.ones(37, {dtype = "complex128"})
        for _ = 1, math.abs(n) do want = want * wide end
        if n < 0 then want = 1 / want end
        local gap = ((got - want):abs() / want:abs()):max():item()
        assert.truthy(gap <= error, ("%s to the %d: %g"):format(dtype, n, gap))
      end
    end
  end)
  it("of the imaginary unit are exact", function()
    local want = {[0] = {1, 0}, {0, 1}, {-1, 0}, {0, -1}}
    for _, dtype in ipairs {"complex64", "complex128"} do
      local i = la.complex(la.zeros(3), la.ones(3)):to(dtype)
      for n = -9, 9 do
        local got = la.view_as_real(i:pow(n))[2]
        assert.same(want[n % 4][1], got[1]:item(), n)
        assert.same(want[n % 4][2], got[2]:item(), n)
      end
    end
  end)
  it("of an infinity to the first are itself", function()
    local x = la.complex(la.full({5}, 1 / 0), la.zeros(5))
    assert.truthy(x:pow(1) == x)
  end)
end)

describe("isclose", function()
  local function near(a, b, rtol, atol, nan)
    if a == b then return true end
    if a ~= a or b ~= b then return nan and a ~= a and b ~= b end
    local gap = math.abs(a - b)
    return gap < math.huge and gap <= atol + rtol * math.abs(b)
  end
  it("is its definition, in every dtype and position", function()
    local list, nan = {}, 0 / 0
    for _, a in ipairs {0, 1, 2, 3, 5, 100} do
      for _, b in ipairs {0, 1, 2, 4, 100, 120} do list[#list + 1] = {a, b} end
    end
    local special = {-0.0, 1 / 0, -1 / 0, nan, 1}
    for _, dtype in ipairs {"uint8", "int8", "int16", "int32", "int64", "bool",
        "float16", "bfloat16", "float32", "float64", "complex64",
        "complex128", "complex32"} do
      local pairs_ = {table.unpack(list)}
      if dtype:find "float" or dtype:find "complex" then
        for _, a in ipairs(special) do
          for _, b in ipairs(special) do pairs_[#pairs_ + 1] = {a, b} end
        end
      end
      local x, y = {}, {}
      for i, p in ipairs(pairs_) do
        x[i], y[i] = p[1], p[2]
        if dtype == "bool" then x[i], y[i] = p[1] ~= 0, p[2] ~= 0 end
      end
      local a, b = la.tensor(x):to(dtype), la.tensor(y):to(dtype)
      for _, equal_nan in ipairs {false, true} do
        local got = la.isclose(a, b, 0.25, 0.5, equal_nan):totable()
        for i, p in ipairs(pairs_) do
          local u, w = p[1], p[2]
          if dtype == "bool" then
            u, w = u ~= 0 and 1 or 0, w ~= 0 and 1 or 0
          end
          local want = near(u, w, 0.25, 0.5,
            equal_nan and not dtype:find "int" and dtype ~= "bool")
          if got[i] ~= (want or false) then
            error(("%s %s %s"):format(dtype, p[1], p[2]))
          end
        end
        local one = la.isclose(a, b[7], 0.25, 0.5, equal_nan)
        assert.truthy(one == la.isclose(a, b[7]:expand(#x):contiguous(), 0.25,
          0.5, equal_nan))
      end
    end
  end)
end)

describe("float32 to bfloat16", function()
  it("rounds to decimals by position and by name", function()
    local x = la.tensor({1.25, 15.0}, {dtype = "float64"})
    assert.is_true(x:round(1) == la.round(x, {decimals = 1}))
    assert.same({0.0, 20.0}, x:round(-1):totable())
    assert.same({1.2, 15.0}, x:round_(1):totable())
  end)

  it("rounds to even, in the order of memory", function()
    local words, want = {}, {}
    math.randomseed(5)
    for i = 1, 999 do
      local x = math.random(0) & 0xffffffff
      if i % 7 == 0 then x = x & 0xffff0000 | 0x8000 end       -- halfway
      if i % 11 == 0 then x = x & 0x8000ffff | 0x7f800000 end   -- NaN, infinity
      words[i] = string.pack("<I4", x)
      local nan = x & 0x7fffffff > 0x7f800000
      local near = (x + 0x7fff + (x >> 16 & 1)) >> 16 & 0xffff
      want[i] = string.pack("<I2", nan and x >> 16 | 0x40 or near)
    end
    local x = la.from_raw(table.concat(words), "float32", {999})
    assert.truthy(x:to("bfloat16"):tostring_raw() == table.concat(want))
    assert.truthy(x[{{2, 98}}]:to("bfloat16"):tostring_raw()
      == table.concat(want, "", 2, 98))
  end)
end)

describe("of all 16-bit integers", function()
  local DIVISORS = {1, 2, 3, 7, 10, 127, 128, 255, 256, 257, 1000, 32767, 32768,
    65535, -1, -2, -3, -7, -128, -255, -32767, -32768}
  for _, dtype in ipairs {"uint16", "int16"} do
    local signed = dtype == "int16"
    local least, most = signed and -32768 or 0, signed and 32767 or 65535
    local a = la.arange(least, most + 1):to(dtype)

    local function check(name, got, want)
      local list = got:totable()
      for i = 1, #list do
        local w = want(least + i - 1)
        if list[i] ~= w then
          error(("%s %s of %d: %d, not %d"):format(dtype, name, least + i - 1,
            list[i], w))
        end
      end
    end

    it(dtype .. " are shifted", function()
      for n = signed and -2 or 0, 34 do
        local counts = la.full({most - least + 1}, n, {dtype = dtype})
        local out = n < 0 or n > 15
        check("left shift by " .. n, la.bitwise_left_shift(a, counts),
          function(x) return out and 0 or wrapped(x << n, 16, signed) end)
        check("right shift by " .. n, la.bitwise_right_shift(a, counts),
          function(x)
            if out then return x < 0 and -1 or 0 end
            return x // (1 << n)
          end)
      end
    end)

    it(dtype .. " are shifted each by its own count", function()
      local counts = (la.arange(most - least + 1) % 19):to(dtype)
      check("right shift", la.bitwise_right_shift(a, counts), function(x)
        local n = (x - least) % 19
        if n > 15 then return x < 0 and -1 or 0 end
        return x // (1 << n)
      end)
      check("left shift", la.bitwise_left_shift(a, counts), function(x)
        local n = (x - least) % 19
        return n > 15 and 0 or wrapped(x << n, 16, signed)
      end)
    end)

    it(dtype .. " are divided by one number", function()
      for _, d in ipairs(DIVISORS) do
        if d >= least and d <= most then
          check("quotient by " .. d, la.floor_divide(a, d), function(x)
            return wrapped(x // d, 16, signed)
          end)
          check("remainder by " .. d, la.remainder(a, d), function(x)
            return x % d
          end)
        end
      end
    end)
  end
end)
