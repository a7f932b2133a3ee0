-- uint64 above the integers of Lua: in by strings and floats, out as floats.
local la = require "lunarray"
local raises = require "spec.support.raises"

local TOP = "18446744073709551615"

local function u64(data) return la.tensor(data, {dtype = "uint64"}) end

describe("uint64 above 2^63", function()
  it("goes in as strings of digits and as floats", function()
    local x = u64 {TOP, "0", 5, 2 ^ 63}
    assert.is_truthy(tostring(x):find(TOP, 1, true))
    assert.is_truthy(tostring(x):find("9223372036854775808", 1, true))
    assert.is_truthy(tostring(u64(TOP)):find(TOP, 1, true))
    local many = {}
    for i = 1, 40 do many[i] = "1844674407370955161" .. i % 6 end
    assert.is_true(la.equal(u64(many)[5], u64(TOP)))
    assert.is_true(la.equal(la.tensor({"7", dtype = "uint64"}), u64 {7}))
    for _, bad in ipairs {"18446744073709551616", "-1", "1.5", "", " 1"} do
      raises("number expected, got string", u64, {bad})
    end
    raises("number expected, got string", la.tensor, {"5"})
    raises("without overflow", u64, {2 ^ 64})
  end)

  it("comes out as floats, never as negative integers", function()
    local x = u64 {TOP, 7}
    assert.equal(2 ^ 64, x[1]:item())
    assert.equal("integer", math.type(x[2]:item()))
    assert.same({2 ^ 64, 7}, x:totable())
    assert.same({{2 ^ 64}}, u64{{TOP}}:totable())
    assert.equal(2 ^ 64, x[1]:tonumber())
    raises("beyond the integers of Lua", x.tointeger, x[1])
    assert.equal(7, x[2]:tointeger())
  end)

  it("keeps its value as a number in other calls", function()
    local top = u64(TOP)
    assert.is_true(la.equal(la.zeros(2, {dtype = "uint64"}):fill_(top),
      u64 {TOP, TOP}))
    assert.equal(2 ^ 64, la.zeros(1):fill_(top):item())
    local x = la.zeros(1, {dtype = "int64"})
    assert.equal(-1, x:fill_(top):item())       -- as copy_ has it
    assert.equal(2 ^ 63, la.full({1}, 2 ^ 63, {dtype = "uint64"}):item())
  end)
end)

describe("unique complex numbers", function()
  local x = la.view_as_complex(la.tensor {{1., 2}, {0, 1}, {1, 2}, {1, -1},
    {0, 1}})

  it("are ordered by real, then by imaginary part", function()
    local values, at, inverse, counts = x:unique_all()
    assert.same({{0.0, 1.0}, {1.0, -1.0}, {1.0, 2.0}}, values:totable())
    assert.same({2, 4, 1}, at:totable())
    assert.same({3, 1, 3, 2, 1}, inverse:totable())
    assert.same({2, 1, 2}, counts:totable())
    assert.same({{0.0, -1.0}, {1.0, -2.0}, {1.0, 1.0}},
      la.unique(x:conj()):totable())
  end)

  it("keep shapes, and go by slices and neighbours", function()
    local m = la.stack {x, x}
    local _, inverse = m:unique {return_inverse = true}
    assert.same({2, 5}, inverse.shape)
    assert.same({1, 5}, m:unique{dim = 1}.shape)
    assert.same({5}, x:unique_consecutive().shape)
    assert.same({0}, la.zeros(0, {dtype = "complex64"}):unique().shape)
    assert.same({1}, la.complex(1, 2):unique_values().shape)
    local nan = la.complex(0 / 0, 1):view(1):expand(3)
    assert.same({3}, nan:unique().shape)
  end)
end)
