-- Fields of structs: rows of a few elements with gaps between them go through
-- loops of their own. They must give the bits of contiguous operands and leave
-- the gaps alone.
local la = require "lunarray"

local function bits(x) return x:contiguous():tostring_raw() end

-- A matrix of structs, and the same with the columns of 'field' replaced.
local function with_field(m, first, last, value)
  local copy = m:clone()
  copy[{{}, {first, last}}] = value
  return copy
end

local ops = {
  add = function(a, b) return a:add_(b) end,
  sub = function(a, b) return a:sub_(b) end,
  mul = function(a, b) return a:mul_(b) end,
  div = function(a, b) return a:div_(b) end,
  scaled = function(a, b) return a:add_(b, {alpha = 0.3}) end,
  swapped = function(a, b) return la.sub(b, a, {out = a}) end,
  maximum = function(a, b) return la.maximum(a, b, {out = a}) end,
  copy = function(a, b) return a:copy_(b) end,
}

local function check(dtype, n, w, structs)
  la.manual_seed(n * 100 + w)
  local m = (la.randn(n, structs) * 8):to(dtype)
  if dtype == "int32" then m[m:eq(0)] = 1 end
  local first, second = {1, w}, {structs - w + 1, structs}
  local others = {
    field = function(t) return t[{{}, second}] end,
    dense = function(t) return t[{{}, second}]:contiguous() end,
    row = function(t) return t[{1, second}] end,
    column = function(t) return t[{{}, {structs, structs}}] end,
    number = function() return dtype == "int32" and 3 or 0.7 end,
    self = function(t) return t[{{}, first}] end,
  }
  for op, f in pairs(ops) do
    for kind, other in pairs(others) do
      local skip = dtype == "int32" and (op == "div" or op == "scaled")
        or kind == "number" and (op == "maximum" or op == "copy"
                                 or op == "swapped")
      if not skip then
        local b = other(m)
        local whole = b         -- no rows: as many elements as the field has
        if kind ~= "number" then
          b = b:clone()
          whole = b:expand(n, w):contiguous()
        end
        local plain = f(m[{{}, first}]:clone(), whole)
        assert.equal(bits(plain), bits(f(m[{{}, first}]:clone(), b)), kind)
        local expected = with_field(m, 1, w, plain)
        local got = m:clone()
        f(got[{{}, first}], other(got))
        assert.equal(bits(expected), bits(got),
          ("%s %s %d x %d of %d, %s"):format(op, dtype, n, w, structs, kind))
      end
    end
  end
end

describe("rows of structs", function()
  for _, dtype in ipairs {"float32", "float64", "float16", "int32"} do
    it("are computed as contiguous ones, " .. dtype, function()
      for _, n in ipairs {1, 2, 3, 4, 5, 7, 33, 1000} do
        for w = 1, 6 do check(dtype, n, w, 2 * w + 1) end
        check(dtype, n, 3, 6)
        check(dtype, n, 4, 8)
      end
    end)
  end

  it("are columns of one field too", function()
    for _, dtype in ipairs {"float32", "float64"} do
      local m = la.randn(501, 7, {dtype = dtype})
      for _, op in ipairs {"add_", "sub_", "mul_", "div_"} do
        local got, expected = m:clone(), m:clone()
        local y = got[{{}, 2}]:contiguous()
        y[op](y, got[{{}, 5}]:contiguous())
        expected[{{}, 2}] = y
        local field = got[{{}, 2}]
        field[op](field, got[{{}, 5}])
        assert.equal(bits(expected), bits(got), op)
      end
    end
  end)

  it("keep NaN, infinities and signs of zero", function()
    local inf, nan = math.huge, 0 / 0
    local m = la.tensor {{0, -0.0, inf, 1}, {-inf, nan, 0, 2}, {1, 2, 3, 3},
                         {0, 0, -0.0, 4}, {nan, inf, -inf, 5}}
    for _, op in ipairs {"add", "sub", "mul", "div"} do
      local field = m[{{}, {1, 3}}]
      local plain = field:contiguous()
      local other = m[{{}, {2, 4}}]:contiguous()
      local got = la.zeros(5, 4)
      la[op](field, m[{{}, {2, 4}}], {out = got[{{}, {1, 3}}]})
      assert.is_true(la.equal(got[{{}, {1, 3}}]:isnan(),
                              plain[op](plain, other):isnan()))
      assert.equal(bits(plain[op](plain, other):nan_to_num()),
                   bits(got[{{}, {1, 3}}]:nan_to_num()))
      assert.equal(0, got[{{}, 4}]:sum():item())
    end
  end)
end)

describe("fields of the same structs", function()
  it("are known to be apart", function()
    -- no copy of the other field: in place the result is that of the values
    local m = la.arange(40):view(4, 10):clone()
    m[{{}, {1, 3}}]:add_(m[{{}, {4, 6}}])
    assert.same({3, 5, 7, 3}, m[{1, {1, 4}}]:totable())
    -- rows that do share elements are read before they are written
    m = la.arange(40):view(4, 10):clone()
    m[{{}, {1, 3}}]:add_(m[{{}, {2, 4}}])
    assert.same({1, 3, 5, 3}, m[{1, {1, 4}}]:totable())
    -- steps of one reach into the other's structs
    m = la.arange(60):to("float32")
    local a = m:as_strided({5, 3}, {10, 1}, 1)
    local b = m:as_strided({5, 3}, {10, 4}, 1)
    local expected = a:contiguous() + b:contiguous()
    a:add_(b)
    assert.same(expected:totable(), a:totable())
  end)
end)
