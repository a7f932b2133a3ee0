-- Element-wise arithmetic: layouts, edges, dtypes, refusals. Values come from
-- the golden records; here are the promises that hold between calls.
local la = require "lunarray"

local floats = {"float16", "bfloat16", "float32", "float64"}
local integers = {"uint8", "int8", "int16", "int32", "int64",
  "uint16", "uint32", "uint64"}
local complexes = {"complex32", "complex64", "complex128"}

local raises = require "spec.support.raises"

local function bits(x) return x:contiguous():tostring_raw() end

-- Values of both signs and sizes, and the special ones for floats.
local function sample(dtype, n, seed)
  local function values(step)
    local k = la.arange(n, {dtype = "float64"}) * step
    return (k:remainder(1009) - 504.25) / 37
  end
  local x = values(389 + seed)
  if dtype:find "float" then
    x[1], x[2], x[3], x[4] = 0.0, -0.0, 1 / 0, -1 / 0
  end
  if dtype == "bool" then return x:gt(0) end
  if dtype:find "^uint" then x = x:abs():floor() + 1 end
  if dtype:find "^int" then x = x:sign() * (x:abs():floor() + 1) end
  if dtype:find "complex" then
    return la.complex(x, values(577 + seed)):to(dtype)
  end
  return x:to(dtype)
end

local function operations(dtype)
  local list = {"add", "mul", "eq", "logical_and"}
  local function put(...)
    for _, o in ipairs {...} do list[#list + 1] = o end
  end
  if not dtype:find "complex" then put("lt", "maximum", "fmin") end
  if dtype ~= "bool" then put("sub", "div", "pow") end
  if dtype:find "int" or dtype == "bool" then put("bitwise_xor") end
  if dtype:find "int" then
    put("floor_divide", "remainder", "fmod", "gcd", "bitwise_right_shift")
  elseif dtype:find "^b?float" then
    put("floor_divide", "remainder", "fmod", "copysign", "nextafter")
  end
  return list
end

local function every_dtype()
  local all = {"bool"}
  for _, group in ipairs {floats, integers, complexes} do
    for _, d in ipairs(group) do all[#all + 1] = d end
  end
  return all
end

describe("an element's bits", function()
  it("do not depend on the layout", function()
    for _, dtype in ipairs(every_dtype()) do
      local a, b = sample(dtype, 35 * 18, 1), sample(dtype, 35 * 18, 2)
      local x, y = a:view(35, 18), b:view(35, 18)
      local xt, yt = x:t():contiguous():t(), y:t():contiguous():t()
      local wide = la.stack({x, x}, 3)
      for _, op in ipairs(operations(dtype)) do
        local want = bits(x[op](x, y))
        local what = op .. " " .. dtype
        assert.same(want, bits(xt[op](xt, yt)), what)
        assert.same(want, bits(xt[op](xt, y)), what)
        assert.same(want, bits(x[op](x, yt)), what)
        local gaps = wide:select(3, 1)
        assert.same(want, bits(gaps[op](gaps, y)), what)
        local out = la.empty(18, 35, {dtype = x[op](x, y).dtype}):t()
        if op ~= "maximum" and op ~= "fmin" then
          la[op](x, yt, {out = out})
          assert.same(want, bits(out), what)
        end
      end
    end
  end)

  it("do not depend on the layout of large operands either", function()
    for _, dtype in ipairs {"uint8", "bfloat16", "float32", "float64",
      "complex128"} do
      local a, b = sample(dtype, 301 * 531, 1), sample(dtype, 301 * 531, 2)
      local x, y = a:view(301, 531), b:view(301, 531)
      local yt = y:t():contiguous():t()
      local row, column = y:select(1, 7), y:select(2, 7):unsqueeze(2)
      local flat = {}
      for k, z in ipairs {y, row, column} do
        flat[k] = bits(x + z:expand(301, 531):contiguous())
      end
      assert.same(flat[1], bits(x + yt), dtype)
      assert.same(flat[2], bits(x + row), dtype)
      assert.same(flat[3], bits(x + column), dtype)
      local gaps = la.stack({x, x}, 3):select(3, 1)
      assert.same(flat[1], bits(gaps + yt), dtype)
      local out = la.zeros(301, 1062, {dtype = dtype}):slice(2, 2, 1062, 2)
      assert.same(flat[1], bits(la.add(x, yt, {out = out})), dtype)
      assert.same(bits(x:t() + yt:t()), bits((x + y):t()), dtype)
      assert.same(bits(la.where(yt:eq(x), x, yt)),
        bits(la.where(y:eq(x), x, y)), dtype)
    end
  end)

  it("do not depend on the count, nor on the position", function()
    for _, dtype in ipairs {"float32", "float64", "bfloat16", "int8",
      "complex64"} do
      local a, b = sample(dtype, 100, 3), sample(dtype, 100, 4)
      for _, op in ipairs {"add", "mul", "div", "pow"} do
        local whole = bits(a[op](a, b))
        local size = #whole // 100
        for _, at in ipairs {{1, 1}, {2, 4}, {7, 17}, {3, 99}, {100, 100}} do
          local p, q = a[{{at[1], at[2]}}], b[{{at[1], at[2]}}]
          assert.same(whole:sub((at[1] - 1) * size + 1, at[2] * size),
            bits(p[op](p, q)), op .. " " .. dtype)
        end
      end
    end
  end)

  it("do not depend on the number of threads", function()
    local before = la.get_num_threads()
    local a, b = sample("float32", 300001, 5), sample("float32", 300001, 6)
    local results = {}
    for _, n in ipairs {1, 2, 7} do
      la.set_num_threads(n)
      results[#results + 1] = bits(a:remainder(b)) .. bits(a:lerp(b, 0.3))
        .. bits(a:add(b, {alpha = 0.1}))
    end
    la.set_num_threads(before)
    assert.truthy(results[1] == results[2] and results[1] == results[3])
  end)

  it("of a scalar with a tensor are those of a full tensor", function()
    for _, dtype in ipairs {"float32", "float64", "int16", "complex64"} do
      local a, number = sample(dtype, 77, 7), 3
      local full = la.full({77}, number, {dtype = dtype})
      for _, op in ipairs {"add", "sub", "mul", "div", "eq"} do
        assert.same(bits(a[op](a, full)), bits(a[op](a, number)), op)
      end
      assert.same(bits(full - a), bits(number - a))
      assert.same(bits(full * a), bits(number * a))
    end
    for _, dtype in ipairs {"bfloat16", "float32", "int16", "complex64"} do
      local a = sample(dtype, 40001, 8)   -- more than one thread's share
      local full = la.full({40001}, 3, {dtype = dtype})
      for _, three in ipairs {3, la.tensor(3, {dtype = "int8"})} do
        assert.same(bits(a * full), bits(a * three), dtype)
        assert.same(bits(full - a), bits(three - a), dtype)
        if dtype ~= "complex64" then
          assert.same(bits(a:clamp(full, full + 9)), bits(a:clamp(three, 12)))
        end
      end
    end
  end)

  it("are those of the values written out, past the caches too", function()
    for _, dtype in ipairs {"bfloat16", "float16", "int16", "complex64"} do
      local n = dtype == "complex64" and 1500001 or 7000001
      local few, out = sample(dtype, 1000, 9), la.zeros(n + 3, {dtype = dtype})
      local many = few:unsqueeze(1):expand(n // 1000 + 1, 1000):reshape(-1)
      local want = bits(few + few)
      for at = 1, 3, 2 do
        local y = la.add(many[{{1, n}}], many[{{1, n}}],
          {out = out[{{at, at + n - 1}}]})
        assert.same(want, bits(y[{{1, 1000}}]), dtype)
        assert.same(want, bits(y[{{n - n % 1000 - 999, n - n % 1000}}]))
        assert.same(bits(few[1] + few[1]), bits(y[n]), dtype)
        assert.same(0, out[n + 3]:abs():item())
      end
    end
    local n = 9000001   -- streaming stores
    local a = la.arange(n, {dtype = "float32"})
    local b = a[{{2, n}}]
    local sum, part = a + 1, b + 1
    assert.truthy(sum[{{2, n}}] == part)
    assert.same(n, sum[n]:item())
    assert.same(2.0, part[1]:item())
  end)
end)

describe("edges", function()
  it("0-dim, empty and expanded tensors", function()
    for _, dtype in ipairs(every_dtype()) do
      local z, e = la.ones({}, {dtype = dtype}), la.ones(0, 3, {dtype = dtype})
      assert.same(0, (z + z).ndim)
      assert.same({0, 3}, {table.unpack((e * e).shape)})
      assert.same({0, 3}, {table.unpack((e + z).shape)})
      local wide = z:expand(4, 5)
      assert.truthy((wide * wide) == la.ones(4, 5, {dtype = dtype}))
      assert.same({5, 1}, {(wide * wide):stride()})
    end
  end)

  it("writing into overlapping memory is refused, onto itself works", function()
    local x = la.arange(6, {dtype = "float32"})
    raises("refer to a single memory location", function()
      x[{{2, 6}}]:add_(x[{{1, 5}}])
    end)
    raises("more than one element of the written-to tensor", function()
      la.zeros(1):expand(3):add_(1)
    end)
    x:mul_(x)
    assert.same({0.0, 1.0, 4.0, 9.0, 16.0, 25.0}, x:totable())
    la.add(x, x, {out = x})
    assert.same(50.0, x[6]:item())
  end)

  it("out of another dtype or shape is refused unchanged", function()
    local x, out = la.ones(3) / 3, la.full({3}, 7, {dtype = "int32"})
    raises("can't be cast", la.add, x, x, {out = out})
    assert.same({7, 7, 7}, out:totable())
    raises("doesn't match the broadcast shape", function()
      la.ones(2, 1):mul_(la.ones(2, 3))
    end)
    raises("The size of tensor a (2) must match the size of tensor b (3) at "
      .. "non-singleton dimension 1",
      function() return la.ones(2) + la.ones(3) end)
  end)
end)

describe("integers", function()
  it("divided by zero are an error and nothing is written", function()
    for _, dtype in ipairs(integers) do
      local x = la.full({70}, 5, {dtype = dtype})
      local zero = la.ones(70, {dtype = dtype})
      zero[64] = 0
      local version = x._version
      for _, op in ipairs {"floor_divide", "remainder", "fmod"} do
        raises("integer division by zero", x[op], x, 0)
        raises("integer division by zero", x[op], x, zero)
        raises("integer division by zero", x[op .. "_"], x, zero)
        raises("integer division by zero", x[op], x, zero[64]:expand(70))
      end
      raises("by zero", x.div, x, zero, {rounding_mode = "floor"})
      assert.same(version, x._version)
      assert.truthy(x == la.full({70}, 5, {dtype = dtype}))
    end
  end)

  it("smallest by -1 wraps to itself, without a trap", function()
    for dtype, bit in pairs {int8 = 7, int16 = 15, int32 = 31, int64 = 63} do
      local least = la.full({33}, -1 << bit, {dtype = dtype})
      local by = la.full({33}, -1, {dtype = dtype})
      assert.truthy(least:floor_divide(by) == least)
      assert.truthy(least:div(by, {rounding_mode = "trunc"}) == least)
      assert.truthy(least:remainder(by) == least * 0)
      assert.truthy(least:fmod(by) == least * 0)
      assert.truthy(-least == least)
      assert.truthy(least:abs() == least)
      assert.same(0, least:gcd(least):add(least)[1]:item())
    end
  end)

  it("floor like Lua, in every combination of signs", function()
    for a = -7, 7 do
      for b = -4, 4 do
        if b ~= 0 then
          local x = la.full({5}, a, {dtype = "int32"})
          assert.same(a // b, (x // b)[5]:item())
          assert.same(a % b, (x % b)[5]:item())
          assert.same(math.fmod(a, b), x:fmod(b)[5]:item())
        end
      end
    end
  end)

  -- The number's low bits, as the dtype shows them.
  local function wrapped(v, width, signed)
    if width == 64 then return v end
    v = v & ((1 << width) - 1)
    return signed and v >> (width - 1) == 1 and v - (1 << width) or v
  end
  local function cut(a, b)
    local q = a // b
    return a % b ~= 0 and (a < 0) ~= (b < 0) and q + 1 or q
  end
  -- Small numbers, both ends of the dtype, powers of two and the neighbours
  -- of all these, and random ones of any size.
  local function edge_numbers(width, signed)
    local list, seen = {}, {}
    local function put(v)
      v = wrapped(v, width, signed)
      if not seen[v] and (signed or v >= 0) then
        seen[v], list[#list + 1] = true, v
      end
    end
    for _, v in ipairs {0, 1, 2, 3, 7, 10} do put(v) put(-v) end
    for k = 3, width - 1, 3 do
      for d = -1, 1 do put((1 << k) + d) put(-(1 << k) + d) end
    end
    for d = -2, 2 do put((1 << (width - 1)) + d) end
    math.randomseed(width)
    for _ = 1, 40 do put(math.random(0) >> math.random(0, 63)) end
    return list
  end

  it("are divided exactly, up to the ends of each dtype", function()
    for _, kind in ipairs {{"int8", 8, true}, {"int16", 16, true},
        {"int32", 32, true}, {"int64", 64, true}, {"uint8", 8},
        {"uint16", 16}, {"uint32", 32}} do
      local dtype, width, signed = table.unpack(kind)
      local list = edge_numbers(width, signed)
      local a = la.tensor(list, {dtype = dtype}):unsqueeze(2)
      local nonzero = {}
      for _, v in ipairs(list) do
        if v ~= 0 then nonzero[#nonzero + 1] = v end
      end
      local b = la.tensor(nonzero, {dtype = dtype}):unsqueeze(1)
      local got = {a:floor_divide(b):totable(), a:remainder(b):totable(),
        a:div(b, {rounding_mode = "trunc"}):totable(), a:fmod(b):totable()}
      -- One number for all has a way of its own.
      local many = a:squeeze():repeat_interleave(3)
      for j, y in ipairs(nonzero) do
        local one = la.tensor(y, {dtype = dtype})
        local all = {many:floor_divide(one), many:remainder(one),
          many:div(one, {rounding_mode = "trunc"}), many:fmod(one)}
        for k = 1, 4 do
          local column = all[k][{{1, -1, 3}}]:totable()
          for i = 1, #list do
            if got[k][i][j] ~= column[i] then
              error(("%s %d by the number %d, %d: %d"):format(dtype, list[i],
                y, k, column[i]))
            end
          end
        end
      end
      for i, x in ipairs(list) do
        for j, y in ipairs(nonzero) do
          local want = {x // y, x % y, cut(x, y), x - cut(x, y) * y}
          for k = 1, 4 do
            if got[k][i][j] ~= wrapped(want[k], width, signed) then
              error(("%s %d by %d, %d: %d"):format(dtype, x, y, k,
                got[k][i][j]))
            end
          end
        end
      end
    end
  end)

  it("of 64 bits without a sign are divided by one number", function()
    local list = {0, 1, 2, 9, 1 << 62, math.maxinteger, math.mininteger,
                  math.mininteger + 5, -1, -2, -1000}
    local a = la.tensor(list):view(la.uint64):tile {8}
    for _, d in ipairs {1, 2, 3, 7, 1000, (1 << 40) + 1, math.maxinteger} do
      local q = a:floor_divide(d):view(la.int64)
      local r = a:remainder(d):view(la.int64)
      for i, x in ipairs(list) do
        -- the quotient without a sign, from half of the number
        local want = x >= 0 and x // d or ((x >> 1) // d) << 1
        if x < 0 and not math.ult(x - want * d, d) then want = want + 1 end
        assert.equal(want, q[i]:item())
        assert.equal(x - want * d, r[77 + i]:item())
      end
    end
  end)

  it("shifted too far or by less than 0 are 0, or keep the sign", function()
    local x = la.tensor {-8, 8, 1}
    assert.same({0, 0, 0}, (x << 64):totable())
    assert.same({0, 0, 0}, (x << -1):totable())
    assert.same({-1, 0, 0}, (x >> 64):totable())
    assert.same({-1, 0, 0}, (x >> -1):totable())
    assert.same({-4, 4, 0}, (x >> 1):totable())
    local u = la.tensor({200, 3}, {dtype = "uint8"})
    assert.same({0, 0}, (u >> 8):totable())
    assert.same({144, 6}, (u << 1):totable())
  end)

  it("to negative powers are refused, elements give 0, 1 or -1", function()
    local x = la.tensor {2, 1, -1, 0}
    raises("negative integer powers", function() return x ^ -1 end)
    local e = la.tensor {-1, -1, -3, -2}
    assert.same({0, 1, -1, 0}, x:pow(e):totable())
    assert.same({8, 1, -1, 0}, (x ^ 3):totable())
  end)
end)

describe("floats", function()
  local nan, inf = 0 / 0, 1 / 0

  it("divide by zero without an error", function()
    local x = la.tensor {1.0, -1.0, 0.0}
    assert.same({inf, -inf}, (x / 0)[{{1, 2}}]:totable())
    assert.same({inf, -inf}, (x // 0)[{{1, 2}}]:totable())
    assert.truthy(x:remainder(0):isnan():all())
    assert.truthy(x:fmod(0):isnan():all())
  end)

  it("have the exact remainder, also of huge quotients", function()
    for _, dtype in ipairs {"float32", "float64"} do
      local a = la.tensor({1e30, -1e30, 5.5, -5.5, 1e-40, 7},
        {dtype = dtype})
      local b = la.tensor({3, 3, 2, 2, 1e-42, inf}, {dtype = dtype})
      local want, av, bv = {}, a:totable(), b:totable()
      for i = 1, 6 do want[i] = math.fmod(av[i], bv[i]) end
      assert.same(want, a:fmod(b):totable())
    end
  end)

  it("hand NaN on in maximum, minimum and clamp, not in fmax", function()
    local x, y = la.tensor {nan, 1, nan}, la.tensor {1, nan, nan}
    assert.truthy(la.maximum(x, y):isnan():all())
    assert.truthy(la.minimum(x, y):isnan():all())
    assert.same({1.0, 1.0}, la.fmax(x, y)[{{1, 2}}]:totable())
    assert.same({1.0, 1.0}, la.fmin(x, y)[{{1, 2}}]:totable())
    assert.truthy(x:clamp(0, 2)[1]:isnan():item())
    assert.truthy(x:relu()[1]:isnan():item())
    assert.same({false, false, false}, x:eq(x):logical_and(y:eq(y)):totable())
  end)

  it("compare 16-bit values as their floats do", function()
    for _, dtype in ipairs {"float16", "bfloat16"} do
      local v = la.tensor({0, -0.0, 1, -1, inf, -inf, nan, 2.5, -2.5, 1e-7},
        {dtype = dtype})
      local a, b = v:unsqueeze(1), v:unsqueeze(2)
      for _, op in ipairs {"eq", "ne", "lt", "le", "gt", "ge"} do
        local want = la[op](a:float(), b:float())
        assert.truthy(la[op](a, b) == want, op .. " " .. dtype)
      end
    end
  end)

  it("have neighbours", function()
    local formats = {float16 = {2.0 ^ -24, 2.0 ^ -10, 65504.0},
      bfloat16 = {2.0 ^ -133, 2.0 ^ -7, 0x1.fep127},
      float32 = {2.0 ^ -149, 2.0 ^ -23, 0x1.fffffep127},
      float64 = {2.0 ^ -1074, 2.0 ^ -52, 0x1.fffffffffffffp1023}}
    for dtype, format in pairs(formats) do
      local least, eps, most = table.unpack(format)
      local rows = {{0.0, 1.0, least}, {0.0, -1.0, -least},
        {-0.0, 1.0, least}, {1.0, 2.0, 1 + eps}, {1.0, 0.0, 1 - eps / 2},
        {-1.0, -inf, -1 - eps}, {-1.0, 3.0, -1 + eps / 2}, {most, inf, inf},
        {inf, 0.0, most}, {-inf, inf, -most}, {least, 0.0, 0.0},
        {-least, 5.0, -0.0}, {0.0, -0.0, -0.0}, {2.5, 2.5, 2.5},
        {inf, inf, inf}}
      local a, b, want = {}, {}, {}
      for round = 0, 4 do   -- for the vectors and the rest
        for i, row in ipairs(rows) do
          local at = round * #rows + i
          a[at], b[at], want[at] = row[1], row[2], row[3]
        end
      end
      local got = la.tensor(a, {dtype = dtype})
        :nextafter(la.tensor(b, {dtype = dtype})):double():totable()
      for i, w in ipairs(want) do
        assert.equal(w, got[i], dtype)
        assert.equal(1 / w, 1 / got[i], dtype)
      end
      local hole = la.tensor({nan, 1, nan}, {dtype = dtype})
      assert.truthy(hole:nextafter(la.tensor({1, nan, nan}, {dtype = dtype}))
        :isnan():all())
    end
  end)

  it("of 16 bits have the signs of their floats", function()
    for _, dtype in ipairs {"float16", "bfloat16", "float64"} do
      local v = la.tensor({0, -0.0, 1, -1, inf, -inf, nan, 2.5, -2.5, 1e-7},
        {dtype = dtype}):tile(7)
      local other = la.tensor({-1.0, 1.0, -0.0, 0.0, -nan, nan, 5},
        {dtype = dtype}):tile(10)
      local function same(a, b)
        assert.truthy(a:signbit() == b:signbit(), dtype)
        a = a:nan_to_num(9, inf, -inf):float()
        b = b:nan_to_num(9, inf, -inf):float()
        assert.truthy(a == b, dtype)
      end
      same(-v, -v:float())
      same(v:abs(), v:float():abs())
      same(v:copysign(other), v:float():copysign(other:float()))
      assert.truthy(v:signbit() == v:float():signbit(), dtype)
    end
  end)

  it("scale by powers of two without rounding", function()
    for dtype, low in pairs {float32 = -126, float64 = -1022} do
      local k = la.arange(low, -low, 1, {dtype = "int32"})
      local got = la.full({k:size(1)}, 1.5, {dtype = dtype}):ldexp(k):totable()
      for i, v in ipairs(got) do
        assert.equal(1.5 * 2.0 ^ (low + i - 1), v)
      end
    end
  end)

  it("scale beyond the range of the power alone", function()
    -- {x, exponent, result}: denormals both ways, one rounding, no early inf
    local rows = {
      float32 = {{0x1p-149, 276, 0x1p127}, {0x1.8p127, -276, 0x1p-148},
        {0x1.8p127, -275, 0x1.8p-148}, {0x1p-149, 277, inf},
        {0x1.000006p-1, -148, 0x1p-149}, {0x1.fffffep-1, -127, 0x1p-127},
        {0x1.800002p0, -149, 0x1p-148}, {0x1.7ffffep0, -149, 0x1p-149},
        {0, 1000, 0}, {-3, 2000, -inf}, {inf, -5000, inf}},
      float64 = {{0x1p-1074, 2097, 0x1p1023}, {0x1p1023, -2097, 0x1p-1074},
        {0x1p-1074, 2098, inf}, {0x1.8000000000001p0, -1074, 0x1p-1073},
        {0x1.7ffffffffffffp0, -1074, 0x1p-1074}, {0, 100000, 0}},
      bfloat16 = {{3, -130, 0x1.8p-129}, {0x1p100, -200, 0x1p-100}},
      float16 = {{3, -20, 0x1.8p-19}, {0x1p-24, 39, 0x1p15}, {1, 16, inf}},
    }
    for dtype, list in pairs(rows) do
      for _, row in ipairs(list) do
        local x = la.full({19}, row[1], {dtype = dtype})
        local got = x:ldexp(la.full({19}, row[2], {dtype = "int32"}))
        assert.equal(dtype, got.dtype)
        for _, v in ipairs(got:double():totable()) do
          assert.equal(row[3], v)
        end
      end
    end
    local leaf = la.tensor({1.0, 2, 3}, {requires_grad = true})
    leaf:ldexp(la.tensor {1, -2, 3}):sum():backward()
    assert.same({2.0, 0.25, 8.0}, leaf.grad:totable())
    local power = la.tensor {0.5, -1.5, inf, -inf, nan}
    local got = la.tensor({2, 2, 2, 2, 2}):ldexp(power):totable()
    assert.near(2 ^ 1.5, got[1], 1e-6)
    assert.near(2 ^ -0.5, got[2], 1e-6)
    assert.same({inf, 0.0}, {got[3], got[4]})
    assert.truthy(got[5] ~= got[5])
    for _, dtype in ipairs {"uint16", "uint32", "uint64"} do
      local z = la.ldexp(la.complex(la.ones(2), la.ones(2)),
        la.tensor({3, 40000}):to(dtype))
      assert.same({"complex64", 8.0, inf},
        {z.dtype, z.real[1]:item(), z.imag[2]:item()})
    end
  end)

  it("of two parts have their modulus, at any size", function()
    for dtype, size in pairs {complex64 = 1e30, complex128 = 1e300} do
      local re = {3, -3e-3, 3 * size, 3 / size, inf, nan, nan, 0}
      local im = {-4, 4e-3, 4 * size, 4 / size, nan, -inf, 1, -0.0}
      local z = la.complex(la.tensor(re, {dtype = "float64"}),
        la.tensor(im, {dtype = "float64"})):to(dtype)
      local want = {5, 5e-3, 5 * size, 5 / size, inf, inf, nan, 0}
      for i, v in ipairs(z:abs():double():totable()) do
        if want[i] ~= want[i] then assert.truthy(v ~= v)
        elseif want[i] == inf then assert.equal(inf, v)
        else assert.near(1, (v + 1e-320) / (want[i] + 1e-320), 1e-7) end
      end
    end
  end)

  it("of two parts are divided alike wherever they stand", function()
    local odd = {0.0, -0.0, 1, -2.5, inf, -inf, nan, 1e-40, 1e38, 3}
    for _, dtype in ipairs {"complex64", "complex128"} do
      local part = dtype == "complex64" and "float32" or "float64"
      local re = la.tensor(odd, {dtype = part})
      local x = la.complex(re:repeat_interleave(10), re:tile {10})
      local y = la.cat {x:roll(37), x:roll(3), x:roll(61)}
      x = x:tile {3}
      local got = {x / y, 1 / y, y:reciprocal(), y:abs(), y:angle()}
      for k = 1, 300 do
        local a, b = x[{{k, k}}], y[{{k, k}}]
        local one = {a / b, 1 / b, b:reciprocal(), b:abs(), b:angle()}
        for i, r in ipairs(got) do
          assert.is_true(one[i]:isclose(r[{{k, k}}], 0, 0, true):all())
        end
      end
      local im = la.imag(y)
      assert.is_true(got[5]:isclose(la.atan2(im, la.real(y)), 0, 0, true):all())
      assert.is_true(got[4]:isclose(la.hypot(la.real(y), im), 1e-6, 0, true)
        :all())
      local fine = la.complex(la.randn(99, {dtype = part}),
                              la.randn(99, {dtype = part}))
      assert.is_true((fine / (fine * 2 + 1) * (fine * 2 + 1))
        :isclose(fine, 1e-5, 1e-6):all())
      assert.same({inf}, la.real(la.zeros({1}, {dtype = dtype})
        :reciprocal()):totable())
    end
  end)

  it("round halves to even, and to decimals", function()
    local x = la.tensor {0.5, 1.5, 2.5, -0.5, -1.5}
    assert.same({0.0, 2.0, 2.0, -0.0, -2.0}, x:round():totable())
    assert.same(-inf, 1 / x:round()[4]:item())
    assert.same({1.25, -3.5}, la.tensor({1.254, -3.499},
      {dtype = "float64"}):round {decimals = 2}:totable())
    assert.same(1200.0, la.tensor(1234.0):round {decimals = -2}:item())
  end)
end)

describe("refusals", function()
  it("of alpha follow the dtype", function()
    local x = la.tensor {1, 2}
    raises("For integral input tensors, argument alpha must not be a "
      .. "floating point number.", x.add, x, x, {alpha = 0.5})
    raises("Boolean alpha only supported for Boolean results.",
      x.add, x, x, {alpha = true})
    assert.same({3, 6}, x:add(x, {alpha = 2}):totable())
    assert.same({-1, -2}, x:sub(x, {alpha = 2}):totable())
    assert.same({1, 2}, x:rsub(x, {alpha = 0}):totable())
  end)

  it("of bool subtraction and negation", function()
    local x = la.tensor {true, false}
    raises("two bool tensors", function() return x - x end)
    raises("with a bool tensor", function() return x - 1 end)
    raises("Negation", function() return -x end)
    assert.same({true, false}, (x + x):totable())
    assert.same({true, false}, (x * x):totable())
    assert.same({2, 1}, (x + 1):totable())
  end)

  it("name the dtype a kernel lacks", function()
    local x = la.tensor {1.5}
    raises("not implemented for 'Float'", function() return x & x end)
    raises("not implemented for 'Long'", function()
      return la.tensor {1}:nextafter(la.tensor {2})
    end)
    raises("bool", x.masked_fill, x, la.tensor {1}, 0)
    raises("bool", la.where, x, x, x)
    raises("value cannot be converted", function()
      return la.zeros(2, {dtype = "uint8"}):masked_fill(
        la.tensor {true, false}, 300)
    end)
    raises("at least one of", x.clamp, x)
    raises("rounding_mode", x.div, x, x, {rounding_mode = "up"})
    raises("did not match", la.isclose, x, x:double())
  end)
end)

describe("choice", function()
  it("where takes numbers, any dtypes and layouts", function()
    local c = la.tensor {true, false, true}
    assert.same({1.0, 2.5, 1.0}, la.where(c, 1, la.full({3}, 2.5)):totable())
    assert.same("int64", la.where(c, 1, 2).dtype)
    assert.same("float32", la.where(c, 1, 2.0).dtype)
    for _, dtype in ipairs(every_dtype()) do
      local a, b = sample(dtype, 60, 8), sample(dtype, 60, 9)
      local m = sample("bool", 60, 10)
      local w, picks = bits(la.where(m, a, b)), {}
      local size = #w // 60
      local ra, rb, rm = bits(a), bits(b), m:totable()
      for i = 1, 60 do
        local from = rm[i] and ra or rb
        picks[i] = from:sub((i - 1) * size + 1, i * size)
      end
      assert.same(table.concat(picks), w, dtype)
    end
  end)

  it("masked_fill keeps the dtype and cuts", function()
    local x = la.tensor {1, 2, 3}
    assert.same({1, 2, 2}, x:masked_fill(x:gt(2), 2.5):totable())
    x:masked_fill_(x:lt(2), 9)
    assert.same({9, 2, 3}, x:totable())
  end)

  it("clamp takes numbers and tensors, and one side", function()
    local x = la.tensor {1, 5, 9}
    assert.same({2, 5, 8}, x:clamp(2, 8):totable())
    assert.same({1, 4, 4}, x:clamp({max = 4}):totable())
    assert.same({3, 5, 9}, x:clamp(la.tensor {3, 3, 3}):totable())
    assert.same({2, 2, 2}, x:clamp(8, 2):totable())
    assert.same("float32", x:clamp(1.5).dtype)
  end)

  it("limits beyond the range of an integer dtype stop at its ends", function()
    local x = la.tensor({0, 5, 200}, {dtype = "uint8"})
    local y = la.tensor({0, 100, -100}, {dtype = "int8"})
    assert.same({3, 5, 200}, x:clamp(3, 300):totable())
    assert.same({0, 1, 1}, x:clamp(-1, 1):totable())
    assert.same({0, 5, 200}, x:clamp_min(-1):totable())
    assert.same({0, 5, 200}, x:clamp_max(300):totable())
    assert.same({0, 1, 1}, x:hardtanh():totable())
    assert.same({0, 100, -100}, y:hardtanh(-300, 300):totable())
    raises("the lower limit is outside", x.clamp_min, x, 300)
    raises("the upper limit is outside", x.clamp, x, {max = -1})
    raises("min_val cannot be greater", y.hardtanh, y, 2, 1)
  end)

  it("a number that doesn't fit an integer dtype is refused", function()
    local x = la.tensor({0, 5, 200}, {dtype = "uint8"})
    local first, text = la.tensor {1}, "without overflow"
    raises(text, la.where, x:gt(3), x, 300)
    raises(text, la.where, x:gt(3), -1, x)
    raises(text, x.masked_fill, x, x:gt(3), 300)
    raises(text, x.index_fill, x, 1, first, 300)
    raises(text, x.scatter, x, 1, first, 300)
    raises(text, x.index_put, x, {first}, 300)
    raises(text, x.threshold, x, 3, 300)
    raises(text, x.pow, x, 300)
    raises(text, x.add, x, x, {alpha = 300})
    raises(text, x.addcmul, x, x, x, {value = 300})
    raises(text, la.pad, x, {1, 1}, "constant", 300)
    raises(text, la.linspace, 0, 300, 3, {dtype = "uint8"})
    raises(text, x.long(x).index_fill, x:long(), 1, first, 1e30)
    assert.same({0, 0, 0}, x:add(x, {alpha = -1}):totable())
    assert.same({1, 5, 200}, x:index_fill(1, first, 1.7):totable())
    assert.same({255, 5, 200}, la.where(x:eq(0), 255, x):totable())
  end)

  it("divmod gives both", function()
    local q, r = la.tensor {7, -7}:divmod(2)
    assert.same({3, -4}, q:totable())
    assert.same({1, 1}, r:totable())
  end)
end)
