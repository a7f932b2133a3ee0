-- Operations on every k-th element: the same bits as on a contiguous copy, in
-- new results, in place and in columns of a table, whose other elements stay.
local la = require "lunarray"

local dtypes = {"uint8", "int16", "int32", "int64", "float16", "bfloat16",
  "float32", "float64", "complex64", "complex128"}

local function values(n, dtype)
  local x = la.arange(n, {dtype = "float64"}) * 7 % 23 + 1
  if dtype:match("^complex") then
    return la.complex(x, x * 0.5):to(dtype)
  end
  return x:to(dtype)
end

local function bits(x) return x:contiguous():tostring_raw() end

local calls = {
  add_ = function(x, y) return x:add_(y) end,
  mul_ = function(x) return x:mul_(3) end,
  neg_ = function(x) return x:neg_() end,
  copy_ = function(x, y) return x:copy_(y) end,
  fill_ = function(x) return x:fill_(5) end,
  add = function(x, y) return x + y end,
  where = function(x, y) return la.where(y:eq(x), x, y) end,
}

describe("every k-th element", function()
  for name, call in pairs(calls) do
    it("has the bits of a contiguous copy in " .. name, function()
      for _, dtype in ipairs(dtypes) do
        for k = 1, 5 do
          for _, n in ipairs{1, 7, 33, 64, 130, 700, 2100} do
            local table_ = values(n * k, dtype):view(n, k)
            local before = table_:clone()
            local column = (k + 1) // 2
            local x, y = table_:select(2, column), values(n, dtype)
            local plain = before:select(2, column):contiguous()
            local expected, got = call(plain, y), call(x, y)
            assert.equal(bits(expected), bits(got),
              dtype .. " every " .. k .. " of " .. n)
            for c = 1, k do
              if c ~= column then
                assert.equal(bits(before:select(2, c)),
                  bits(table_:select(2, c)))
              end
            end
          end
        end
      end
    end)
  end

  it("counts from any element, through both operands", function()
    local x, y = values(4000, "float32"), values(4000, "float32")
    for step = 1, 5 do
      for first = 1, 4 do
        local s = {first, 3000 + first, step}
        local a, b = x[{s}], y[{s}]
        assert.equal(bits(a:contiguous() * b:contiguous()), bits(a * b))
      end
    end
  end)
end)

describe("16-bit floats by their bits", function()
  for dtype, infinity in pairs{float16 = 0x7c00, bfloat16 = 0x7f80} do
    local words = {}
    for w = 0, 0xffff do words[w + 1] = ("<I2"):pack(w) end
    local all = la.from_raw(table.concat(words), dtype, {0x10000})

    it("flips and drops the sign of " .. dtype, function()
      local neg, abs = all:neg():tostring_raw(), all:abs():tostring_raw()
      for w = 0, 0xffff do
        assert.equal(w ~ 0x8000, (("<I2"):unpack(neg, 2 * w + 1)))
        assert.equal(w & 0x7fff, (("<I2"):unpack(abs, 2 * w + 1)))
      end
    end)

    it("knows which " .. dtype .. " is true", function()
      local zero, one = la.zeros_like(all), la.ones_like(all)
      local set = all:ne(0)
      assert.equal(0xfffe, set:sum():item())
      assert.is_true(all[infinity + 2]:logical_and(one[1]):item())    -- NaN
      assert.equal(bits(set), bits(all:logical_and(one)))
      assert.equal(bits(set), bits(all:logical_or(zero)))
      assert.equal(bits(set), bits(all:logical_xor(zero)))
      assert.equal(bits(set), bits(all:logical_not():logical_not()))
    end)
  end
end)

describe("the size of complex64 numbers", function()
  it("is the root of the sum of squares to one unit", function()
    for n = 1, 70 do
      local scale = la.tensor{1e-38, 1e-20, 1, 1e10, 2e38}[n % 5 + 1]
      local re, im = (la.rand(n) - 0.5) * scale, la.rand(n) * scale
      local a, b = re:double(), im:double()
      local x = la.complex(re, im)
      local exact = (a * a + b * b):sqrt():float()
      local units = x:abs():view("int32") - exact:view("int32")
      assert.is_true(units:abs():max():item() <= 1)
      assert.equal(bits(x:abs()), bits(la.complex(im, -re):abs()))
    end
  end)

  it("is infinite with an infinite part, else NaN with a NaN", function()
    local inf, nan = math.huge, 0 / 0
    local x = la.complex(la.tensor{inf, nan, -inf, nan, 3, nan, 0},
      la.tensor{nan, -inf, 1, 1, nan, nan, -0.0})
    local got = x:abs():totable()
    for k = 1, 3 do assert.equal(inf, got[k]) end
    for k = 4, 6 do assert.is_true(got[k] ~= got[k]) end
    assert.equal(0, got[7])
  end)
end)
