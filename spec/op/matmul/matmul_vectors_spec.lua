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
    -- 0.25 is lost next to 2048 in either of them, 5,000 of it are not
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
        assert.is_true(x:dot(one):isnan():any())
        assert.is_true(one:matmul(la.stack({one, x}, -1))[2]:isnan():any())
        assert.is_false(one:matmul(la.stack({one, x}, -1))[1]:isnan():any())
      end
    end
  end)
end)

-- Products of every matrix of a batch, element by element.
local function exact(a, b)
  local x, y = wider(a):unsqueeze(-1), wider(b):unsqueeze(-3)
  return (x * y):sum(-2)
end

local function product(a, b)
  return exact(a, b):to(a.dtype)
end

describe("long batches of tiny matrices", function()
  local shapes = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {4, 4, 1},
                  {1, 4, 4}, {3, 4, 3}, {3, 3, 1}, {2, 8, 2}, {5, 3, 2},
                  {5, 5, 5}, {4, 9, 4}, {8, 4, 4}, {4, 4, 8}, {1, 8, 1}}
  for _, list in ipairs {real, complex} do
    for _, dtype in ipairs(list) do
      it("are products of " .. dtype, function()
        la.manual_seed(13)
        for _, s in ipairs(shapes) do
          local m, k, n = s[1], s[2], s[3]
          for _, count in ipairs {8, 37} do
            local a, b = whole(dtype, count, m, k), whole(dtype, count, k, n)
            local want = product(a, b)
            local strided = a:transpose(-2, -1):contiguous():transpose(-2, -1)
            local other = b:transpose(-2, -1):contiguous():transpose(-2, -1)
            assert.is_true(a:matmul(b) == want)
            assert.is_true(strided:matmul(other) == want)
            assert.is_true(a:bmm(other) == want)
            assert.is_true(a:flip(1):bmm(b:flip(1)):flip(1) == want)
            local overlapping = la.cat({a, a}, 1):narrow(1, 1, count)
            assert.is_true(overlapping:bmm(b) == want)
            local every = la.stack({a, a}, 2):select(2, 1)
            assert.is_true(every:bmm(b) == want)
            local out = la.zeros(count, n, m, {dtype = dtype}):transpose(-2, -1)
            la.bmm(a, b, {out = out})
            assert.is_true(out == want)
            out = la.full({count, 2, m, n}, 7):to(dtype)
            la.bmm(a, b, {out = out:select(2, 1)})
            assert.is_true(out:select(2, 1) == want)
            assert.is_true(out:select(2, 2):eq(7):all())
            assert.is_true(a:matmul(b[1]) == product(a, b[1]))
            assert.is_true(a[1]:matmul(b) == product(a[1], b))
            assert.is_true(la.baddbmm(want, a, b) == (want + want):to(dtype))
            assert.is_true(a:unsqueeze(1):matmul(la.stack {b, b})
              == la.stack {want, want})
          end
        end
      end)
    end
  end

  it("are what single products are, bit for bit, on any threads", function()
    la.manual_seed(14)
    local before = la.get_num_threads()
    for _, dtype in ipairs {"float32", "float64"} do
      for _, s in ipairs(shapes) do
        local m, k, n = s[1], s[2], s[3]
        local a = la.randn(5000, m, k):to(dtype)
        local b = la.randn(5000, k, n):to(dtype)
        la.set_num_threads(1)
        local one = a:bmm(b)
        for i = 1, 5000, 613 do
          assert.is_true(a[i]:matmul(b[i]) == one[i])
        end
        local tall = a:view(5000 * m, k):narrow(1, 1, 4999):matmul(b[1])
        assert.is_true(tall[4999] == a:view(5000 * m, k)[4999]:matmul(b[1]))
        la.set_num_threads(3)
        assert.is_true(a:bmm(b) == one)
        assert.is_true(a:view(5000 * m, k):narrow(1, 1, 4999):matmul(b[1])
          == tall)
      end
    end
    la.set_num_threads(before)
  end)

  it("propagate NaN and infinity to their own product only", function()
    local a, b = la.ones(40, 3, 3), la.ones(40, 3, 3)
    a[7][2][2] = 0 / 0
    b[9][1][3] = 1 / 0
    local c = a:bmm(b)
    assert.are.equal(3, c:isnan():sum():item())
    assert.is_true(c[7][2]:isnan():all())
    assert.are.equal(3, c:isinf():sum():item())
  end)
end)

describe("a few columns against long rows", function()
  for _, dtype in ipairs(real) do
    it("are sums of " .. dtype, function()
      la.manual_seed(15)
      for _, s in ipairs {{1, 65}, {3, 100}, {37, 131}, {33, 17000}} do
        for n = 1, 9 do
          local a, b = whole(dtype, s[1], s[2]), whole(dtype, s[2], n)
          local want = product(a, b)
          local other = b:t():contiguous():t()
          local gaps = la.cat({a, a}, 2):narrow(2, 3, s[2])
          assert.is_true(a:mm(b) == want)
          assert.is_true(a:mm(other) == want)
          assert.is_true(b:t():mm(a:t()) == want:t())
          assert.is_true(other:t():mm(a:t()) == want:t())
          assert.is_true(gaps:mm(b) == product(gaps, b))
          local add = whole(dtype, s[1], n)
          assert.is_true(la.addmm(add, a, b, {beta = 2})
            == (wider(add) * 2 + exact(a, b)):to(dtype))
          local out = la.zeros(n, s[1], {dtype = dtype}):t()
          la.mm(a, b, {out = out})
          assert.is_true(out == want)
        end
      end
    end)
  end

  it("have the bits of one column, on any threads", function()
    la.manual_seed(16)
    local before = la.get_num_threads()
    for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16"} do
      local a, b = la.randn(333, 20000):to(dtype), la.randn(20000, 4):to(dtype)
      la.set_num_threads(1)
      local one = a:mm(b)
      for j = 1, 4 do
        assert.is_true(a:mv(b:t()[j]:contiguous()) == one:t()[j])
      end
      la.set_num_threads(3)
      assert.is_true(a:mm(b) == one)
    end
    la.set_num_threads(before)
  end)

  it("have the same bits where the vector's elements lie apart", function()
    la.manual_seed(17)
    for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16"} do
      for _, k in ipairs {17, 100, 4096, 9000} do
        local w, many = la.randn(40, k):to(dtype), la.randn(k, 5):to(dtype)
        local apart = many:t()[3]
        local dense = apart:contiguous()
        assert.is_true(w:mv(apart) == w:mv(dense))
        assert.is_true(apart:unsqueeze(1):mm(w:t())
          == dense:unsqueeze(1):mm(w:t()))
        assert.is_true(apart:dot(w[1]) == dense:dot(w[1]))
      end
    end
  end)
end)
