-- Products of a matrix and a vector, for every dtype: long and short, in every
-- layout, against float64 arithmetic that is exact here.
local la = require "lunarray"

local real = {"float32", "float64", "float16", "bfloat16", "int8", "uint8",
              "int16", "int32", "int64"}
local complex = {"complex64", "complex128"}

-- Whole numbers, so that every order of summation is exact.
local function whole(dtype, ...)
  local low = dtype:find "uint" and 0 or -2
  if not dtype:find "complex" then
    return la.randint(low, 3, {...}):to(dtype)
  end
  local part = dtype == "complex64" and "float32" or "float64"
  return la.complex(la.randint(-2, 3, {...}):to(part),
                    la.randint(-2, 3, {...}):to(part))
end

local function wider(t)
  return t:to(t:is_complex() and "complex128" or t:is_floating_point()
              and "float64" or "int64")
end

-- By its definition: element-wise products and their sum.
local function sums(a, v)
  return (wider(a) * wider(v)):sum(-1)
end

describe("a matrix times a vector", function()
  local sizes = {{1, 1}, {3, 7}, {9, 33}, {40, 100}, {5, 1700}, {70, 65},
                 {2, 40000}}
  for _, list in ipairs {real, complex} do
    for _, dtype in ipairs(list) do
      it("is a row of sums of " .. dtype, function()
        la.manual_seed(11)
        for _, s in ipairs(sizes) do
          local a, v = whole(dtype, s[1], s[2]), whole(dtype, s[2])
          local want = sums(a, v):to(dtype)
          local down = a:t():contiguous():t()
          local apart = la.stack({v, v}, -1):select(-1, 1)
          for _, x in ipairs {a, down, la.cat({a, a}, 2):narrow(2, 1, s[2])} do
            for _, y in ipairs {v, apart} do
              assert.is_true(x:mv(y) == want)
              assert.is_true(y:matmul(x:t()) == want)
            end
          end
          assert.is_true(a[1]:dot(v) == want[1])
          local add = whole(dtype, s[1])
          assert.is_true(la.addmv(add, a, v, {beta = 2, alpha = 3})
            == (wider(add) * 2 + sums(a, v) * 3):to(dtype))
        end
      end)
    end
  end

  it("takes conjugates", function()
    la.manual_seed(12)
    for _, dtype in ipairs(complex) do
      for _, n in ipairs {1, 3, 8, 33, 100, 20000} do
        local a, b = whole(dtype, n), whole(dtype, n)
        local want = (a:conj():resolve_conj() * b):sum()
        assert.is_true(a:vdot(b) == want)
        assert.is_true(a:conj():dot(b) == want)
        assert.is_true(la.stack({b, b}):mv(a:conj())[1] == want)
        assert.is_true(a:conj():matmul(la.stack({b, b}, -1))[2] == want)
      end
    end
  end)

  it("sums 16-bit floats in float32", function()
    -- 0.25 is lost beside 2048 in either of them, 5,000 of it are not
    for _, dtype in ipairs {"float16", "bfloat16"} do
      local x = la.full({5000}, 0.25):to(dtype)
      x[1] = 2048
      local one = la.ones(5000):to(dtype)
      local want = la.tensor(2048 + 4999 * 0.25):to(dtype)
      assert.is_true(x:dot(one) == want)
      assert.is_true(one:matmul(la.stack({x, x}, -1))[2] == want)
      assert.is_true(la.stack {x, x}:mv(one)[1] == want)
    end
  end)

  it("propagates NaN and infinity in every lane", function()
    for _, dtype in ipairs {"float32", "float16", "bfloat16", "complex64"} do
      local one = la.ones(100):to(dtype)
      for i = 1, 100, 7 do
        local x = one:clone()
        x[i] = 0 / 0
        assert.is_true(x:dot(one):isnan():item())
        assert.is_true(one:matmul(la.stack({one, x}, -1))[2]:isnan():item())
        assert.is_false(one:matmul(la.stack({one, x}, -1))[1]:isnan():item())
      end
    end
  end)
end)
