-- Matrix products: shapes, errors, dtypes, aliasing, einsum, threads.
local la = require "lunarray"
local once = require "spec.support.once"

-- The product by its definition, in Lua numbers.
local function naive(a, b)
  local x, y, out = a:totable(), b:totable(), {}
  for i = 1, #x do
    out[i] = {}
    for j = 1, #y[1] do
      local sum = 0.0
      for k = 1, #y do sum = sum + x[i][k] * y[k][j] end
      out[i][j] = sum
    end
  end
  return la.tensor(out, {dtype = "float64"})
end

local function counted(...)
  local t = la.arange(la.zeros(...):numel()):to("float64")
  return (t % 7 - 3):view(...)
end

local raises = require "spec.support.raises"

describe("matmul", function()
  it("is the sum of products for every layout", function()
    for _, s in ipairs {{1, 1, 1}, {2, 3, 4}, {17, 5, 9}, {33, 40, 20},
                        {1, 50, 7}, {50, 1, 7}, {6, 16, 300}} do
      local m, n, k = s[1], s[2], s[3]
      local a, b = counted(m, k), counted(k, n)
      local want = naive(a, b)
      for _, x in ipairs {a, a:t():contiguous():t(), a:flip(1):flip(1)} do
        for _, y in ipairs {b, b:t():contiguous():t()} do
          assert.is_true(x:mm(y) == want)
          assert.is_true(x:matmul(y) == want)
        end
      end
    end
  end)

  it("takes vectors on either side", function()
    local a, v = counted(4, 3), la.tensor {1.0, 2.0, 3.0}
    v = v:to("float64")
    assert.same({4}, {table.unpack(a:matmul(v).shape)})
    assert.is_true(a:matmul(v) == a:mv(v))
    assert.is_true(v:matmul(a:t()) == a:mv(v))
    assert.are.equal(14.0, v:matmul(v):item())
  end)

  it("broadcasts batches without copying them", function()
    local a, b = counted(2, 1, 3, 4), counted(5, 4, 6)
    local c = a:matmul(b)
    assert.same({2, 5, 3, 6}, {table.unpack(c.shape)})
    for i = 1, 2 do
      for j = 1, 5 do
        assert.is_true(c[i][j] == a[i][1]:mm(b[j]))
      end
    end
  end)

  it("has zeros for an empty sum and empty results", function()
    assert.is_true(la.ones(2, 0):mm(la.ones(0, 3)) == la.zeros(2, 3))
    assert.same({0, 3}, {table.unpack(la.ones(0, 2):mm(la.ones(2, 3)).shape)})
    assert.same({2, 0, 3},
                {table.unpack(la.ones(2, 0, 4):bmm(la.ones(2, 4, 3)).shape)})
    assert.are.equal(0, la.ones(0):dot(la.ones(0)):item())
  end)

  it("wraps integers and refuses bool", function()
    local a = la.full({2, 2}, 100, {dtype = "int8"})
    assert.are.equal(32, a:mm(a)[1][1]:item())   -- 20000 modulo 256
    raises("Bool", function()
      return la.ones(2, 2, {dtype = "bool"}):mm(la.ones(2, 2, {dtype = "bool"}))
    end)
  end)

  it("names sizes and dtypes that do not fit", function()
    raises("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
           la.mm, la.ones(2, 3), la.ones(2, 3))
    raises("expected m1 and m2 to have the same dtype",
           la.mm, la.ones(2, 2), la.ones(2, 2):double())
    raises("at least 1D", la.matmul, la.tensor(1.0), la.ones(2))
  end)

  it("writes into out=, also where it overlaps an operand", function()
    local a, b = counted(3, 3), counted(3, 3)
    local want = a:mm(b)
    local out = la.empty(0, {dtype = "float64"})
    assert.is_true(la.mm(a, b, {out = out}) == want and out == want)
    la.mm(a, b, {out = a})
    assert.is_true(a == want)
    raises("doesn't match", function()
      la.addmm(la.zeros(1, 3), la.ones(2, 2), la.ones(2, 3))
      local x = la.zeros(1, 3)
      x:addmm_(la.ones(2, 2), la.ones(2, 3))
    end)
    raises("single memory location", function()
      la.mm(b, b, {out = la.zeros(1, 3, {dtype = "float64"}):expand(3, 3)})
    end)
  end)

  it("does not read self when beta is 0", function()
    local nan = la.full({2, 2}, 0 / 0)
    local one = la.eye(2)
    assert.is_true(nan:addmm(one, one, {beta = 0}) == one)
    assert.is_true(nan:clone():addmm_(one, one, {beta = 0}) == one)
  end)

  it("propagates NaN and infinity", function()
    local a = la.ones(40, 40)
    a[3][5] = 0 / 0
    a[4][6] = 1 / 0
    local c = a:mm(la.ones(40, 40))
    assert.is_true(c[3]:isnan():all())
    assert.is_true(c[4]:eq(1 / 0):all())
    assert.is_true(c[5]:eq(40):all())
  end)

  it("gives the same bits at any number of threads", function()
    local before = la.get_num_threads()
    local a, b = la.randn(150, 700), la.randn(700, 130)
    la.set_num_threads(1)
    local one = a:mm(b)
    local v = a:mv(b:t()[1])
    for _, n in ipairs {2, 3, 7} do
      la.set_num_threads(n)
      assert.is_true(a:mm(b) == one)
      assert.is_true(a:mv(b:t()[1]) == v)
    end
    la.set_num_threads(before)
  end)
end)

describe("a product of a few columns", function()
  it("is exact however rows and columns lie", function()
    for _, s in ipairs {{2, 3000, 2}, {9, 700, 3}, {20, 300, 4}, {40, 90, 7},
                        {3000, 10, 10}, {500, 70, 31}, {7, 20000, 2}} do
      local m, k, n = s[1], s[2], s[3]
      local a, b = counted(m, k), counted(k, n)
      local want = (a:unsqueeze(3) * b:unsqueeze(1)):sum(2)
      for _, dtype in ipairs {"float32", "float64", "int32"} do
        for _, x in ipairs {a, a:t():contiguous():t()} do
          for _, y in ipairs {b, b:t():contiguous():t(),
                              la.cat({b, b}, 2):narrow(2, 1, n)} do
            local p, q = x:to(dtype), y:to(dtype)
            assert.is_true(p:mm(q):to "float64" == want)
            assert.is_true(la.addmm(p:mm(q), p, q, {alpha = -1}):eq(0):all())
          end
        end
      end
    end
  end)

  it("adds an outer product in one pass, beta and alpha as given", function()
    local s, u, v = counted(5, 7), counted(5), counted(7)
    local outer = u:unsqueeze(2) * v
    for _, dtype in ipairs {"float32", "float64", "complex64", "int64"} do
      local a, b, c = s:to(dtype), u:to(dtype), v:to(dtype)
      assert.is_true(la.addr(a, b, c):to "float64" == s + outer)
      assert.is_true(la.addr(a, b, c, {beta = 3, alpha = -2}):to "float64"
        == s * 3 - outer * 2)
      assert.is_true(a:clone():addr_(b, c):to "float64" == s + outer)
    end
    local nan = la.full({5, 7}, 0 / 0)
    assert.has_error(function()
      la.addr(la.ones(2, 2, 2, 2), la.ones(2), la.ones(2))
    end)
    assert.is_true(la.addr(nan, u:to "float32", v:to "float32", {beta = 0})
      == outer:to "float32")
  end)
end)

describe("einsum", function()
  it("does what other operations do", function()
    local a, b = counted(3, 4), counted(4, 5)
    assert.is_true(la.einsum("ij,jk->ik", a, b) == a:mm(b))
    assert.is_true(la.einsum("ij,jk", a, b) == a:mm(b))
    assert.is_true(la.einsum("ij->ji", a) == a:t())
    assert.is_true(la.einsum("ij->", a) == a:sum())
    assert.is_true(la.einsum("ii->i", la.eye(3)) == la.ones(3))
    assert.is_true(la.einsum("i,j->ij", a[1], b[1]) == la.outer(a[1], b[1]))
    assert.is_true(la.einsum("ij,ij->j", a, a) == (a * a):sum(1))
  end)

  it("broadcasts an ellipsis and chooses a path", function()
    local a, b = counted(2, 1, 3, 4), counted(5, 4, 6)
    assert.is_true(la.einsum("...ij,...jk->...ik", a, b) == a:matmul(b))
    local x, y, z = counted(2, 30), counted(30, 40), counted(40, 3)
    assert.is_true(la.einsum("ab,bc,cd->ad", x, y, z) == x:mm(y):mm(z))
  end)

  -- The product of a chain of matrices in the order with the fewest
  -- multiplications, and that order's number of them.
  local function best_product(list, from, to)
    if from == to then return list[from], 0 end
    local least, best = math.huge, nil
    for k = from, to - 1 do
      local a, one = best_product(list, from, k)
      local b, two = best_product(list, k + 1, to)
      local cost = one + two + a:size(1) * a:size(2) * b:size(2)
      if cost < least then least, best = cost, {a, b} end
    end
    return best[1]:mm(best[2]), least
  end

  it("contracts up to six operands in the cheapest order", function()
    la.manual_seed(2)
    local sizes = {{31, 37, 41, 2}, {3, 29, 5, 43, 7}, {19, 2, 53, 3, 23},
      {11, 47, 13, 5, 31, 17}, {41, 5, 37, 7, 29, 3, 23}}
    for _, n in ipairs(sizes) do
      local list, words = {}, {}
      for i = 1, #n - 1 do
        list[i] = la.randn(n[i], n[i + 1])
        words[i] = ("abcdefg"):sub(i, i + 1)
      end
      local equation = table.concat(words, ",") .. "->a"
        .. ("abcdefg"):sub(#n, #n)
      assert.is_true(la.equal(la.einsum(equation, list),
        (best_product(list, 1, #list))))
    end
  end)

  it("multiplies element by element", function()
    la.manual_seed(3)
    for _, dtype in ipairs {"float32", "float64", "float16", "complex64",
                            "int64"} do
      for _, n in ipairs {{200, 3, 3}, {40, 30, 7}, {2, 3, 4}, {300, 1, 5},
                          {4, 200, 3}} do
        local a = (la.randn(n[1], n[2]) * 5):to(dtype)
        local b = (la.randn(n[1], n[3]) * 5):to(dtype)
        local want = a:unsqueeze(3) * b:unsqueeze(2)
        assert.is_true(la.equal(want, la.einsum("bi,bj->bij", a, b)))
        assert.is_true(la.equal(want:transpose(2, 3),
          la.einsum("bi,bj->bji", a, b)))
      end
    end
    local a = la.randn(150, 2):double():requires_grad_()
    local b = la.randn(150, 3):double():requires_grad_()
    assert.is_true(la.gradcheck(function(x, y)
      return la.einsum("bi,bj->bij", x, y):sum(1)
    end, {a, b}))
  end)

  it("explains what is wrong with an equation", function()
    raises("number of subscripts in the equation (2)", la.einsum, "ij",
           la.ones(2))
    raises("does not appear", la.einsum, "ij->k", la.ones(2, 3))
    raises("does not broadcast", la.einsum, "ij,jk->ik", la.ones(2, 3),
           la.ones(2, 3))
    raises("[a-zA-Z]", la.einsum, "i%->i", la.ones(2))
  end)
end)

describe("other products", function()
  it("vecdot counts dims in what both broadcast to", function()
    local x, y = la.rand(3, 3), la.rand(3)
    for dim = -2, 2 do
      if dim ~= 0 then
        local want = (x * y):sum(dim)
        assert.is_true(la.allclose(want, la.vecdot(x, y, {dim = dim})))
        assert.is_true(la.allclose(want, la.vecdot(y, x, {dim = dim})))
      end
    end
  end)
  it("vecdot broadcasts numbers and vectors of one element", function()
    assert.same(5.0, la.vecdot(la.tensor(2.5), la.tensor(2.0)):item())
    assert.same(12.0, la.vecdot(la.tensor{1.0, 2, 3}, la.tensor{2.0}):item())
    assert.same({6, 15}, la.vecdot(la.tensor{{1, 2, 3}, {4, 5, 6}},
      la.tensor(1)):totable())
    assert.has_error(function() la.vecdot(la.ones(2), la.ones(3)) end)
  end)

  it("agree with matmul", function()
    local a, b = counted(3, 4), counted(4, 3)
    assert.is_true(la.tensordot(a, b, {dims = 1}) == a:mm(b))
    assert.is_true(la.tensordot(a, b, {dims = {{1}, {2}}}) == b:mm(a):t())
    assert.is_true(la.linear(a, b:t()) == a:mm(b))
    assert.is_true(la.linear(a, b:t(), la.ones(3):double()) == a:mm(b) + 1)
    assert.is_true(la.inner(a, a) == a:mm(a:t()))
    assert.is_true(la.matrix_power(a:mm(b), 3)
                   == a:mm(b):mm(a):mm(b):mm(a):mm(b))
    assert.is_true(la.matrix_power(a:mm(b), 0) == la.eye(3):double())
    local p, q = la.rand(2, 4, 3):transpose(1, 2), la.rand(4, 2, 3)
    assert.is_true(la.equal(la.kron(p:contiguous(), q), la.kron(p, q)))
    assert.is_true(la.kron(la.eye(2), la.ones(1, 2))
                   == la.tensor {{1., 1., 0., 0.}, {0., 0., 1., 1.}})
    assert.is_true(la.multi_dot {a, b, a} == a:mm(b):mm(a))
  end)
end)

describe("the bits of a product", function()
  local function digests(cap, threads)
    local pipe = assert(io.popen(
      ("LUNARRAY_CPU=%s LUA_CPATH='%s' LUA_PATH='%s' lua5.4 "
       .. "spec/support/values/product_bits.lua %d"):format(cap, package.cpath,
                                                    package.path, threads)))
    local text = pipe:read "a"
    pipe:close()
    assert.truthy(#text > 5000)
    return text
  end

  once("depend neither on threads nor on the width of vectors", function()
    local one = digests("avx512", 1)
    assert.equal(one, digests("avx512", 2))
    assert.equal(one, digests("avx2", 1))
    assert.equal(one, digests("avx2", 3))
    -- without fused multiply-add the bits are others, but one row of threads
    assert.equal(digests("default", 1), digests("default", 2))
  end)
end)

describe("a product without the dispatcher's second walk", function()
  -- names, gradients and lazy bits take the general way: the same numbers
  it("has the bits of the general one", function()
    la.manual_seed(5)
    local v, w, m = la.rand(70), la.rand(70), la.rand(70, 30)
    local b, c = la.rand(4, 9, 70), la.rand(4, 70, 30)
    for _, p in ipairs {{v, w}, {v, m}, {m:t(), v}, {b, c}, {b, m},
                        {m:t(), m}} do
      local x, y = p[1], p[2]
      local general = x:detach():requires_grad_():matmul(y)
      local plain = x:matmul(y)
      assert.same({table.unpack(general.shape)}, {table.unpack(plain.shape)})
      assert.is_true(plain == general:detach())
    end
  end)

  it("is linear in any layout, with and without bias", function()
    la.manual_seed(6)
    local w, bias = la.rand(33, 20), la.rand(33)
    local wide = la.rand(66):view(33, 2):select(2, 1)
    for _, x in ipairs {la.rand(7, 20), la.rand(20, 7):t(), la.rand(2, 5, 20),
                        la.rand(5, 2, 20):transpose(1, 2), la.rand(20),
                        la.rand(0, 20), la.rand(3, 0, 20)} do
      for _, weight in ipairs {w, w:t():contiguous():t()} do
        for _, b in ipairs {false, bias, wide} do
          local general = la.linear(x:detach():requires_grad_(), weight,
                                    b or nil)
          local plain = la.linear(x, weight, b or nil)
          assert.same({table.unpack(general.shape)},
                      {table.unpack(plain.shape)})
          assert.is_true(plain == general:detach())
        end
      end
    end
  end)

  it("may be shorter and narrower than there are threads", function()
    local before = la.get_num_threads()
    for _, dtype in ipairs {"float32", "float64", "bfloat16", "complex64"} do
      for _, size in ipairs {{5, 6}, {17, 3}, {2, 33}, {40, 40}} do
        local k = 3000000 // (size[1] * size[2])    -- enough for threads
        local a = la.randint(-3, 4, {size[1], k}):to(dtype)
        local b = la.randint(-3, 4, {k, size[2]}):to(dtype)
        la.set_num_threads(1)
        local want = a:mm(b)
        for threads = 2, 4 do
          la.set_num_threads(threads)
          assert.is_true(la.equal(want, a:mm(b)))
        end
      end
    end
    la.set_num_threads(before)
  end)

  -- The part with fewer rows may be one block where the other is two.
  it("has scratch for every part of a product cut between threads", function()
    local before = la.get_num_threads()
    for m = 140, 340, 7 do
      local a, b = la.rand(m, 500), la.rand(500, 96)
      la.set_num_threads(1)
      local one = a:matmul(b)
      for threads = 2, 4 do
        la.set_num_threads(threads)
        assert.is_true(a:matmul(b) == one)
      end
    end
    la.set_num_threads(before)
  end)

  it("keeps the errors", function()
    raises("shapes cannot be multiplied", la.matmul, la.rand(3), la.rand(4, 2))
    raises("dtype", la.matmul, la.rand(4), la.rand(4, 2):to "float64")
    raises("Bool", la.matmul, la.ones(4):to "bool", la.ones(4, 2):to "bool")
    raises("shapes cannot be multiplied", la.linear, la.rand(2, 3),
           la.rand(4, 5))
    raises("dtype", la.linear, la.rand(2, 3), la.rand(4, 3):to "float64")
    for _, d in ipairs{"float32", "int16"} do
      local x, w = la.ones(1, 4, {dtype = d}), la.ones(1, 4, {dtype = d})
      for _, sizes in ipairs{{4}, {3, 3}, {2, 1}} do
        raises("", la.linear, x, w, la.ones(sizes, {dtype = d}))
      end
      raises("a bias of shape [2, 3] does not fit a result of shape [3]",
        la.linear, x[1], la.ones(3, 4, {dtype = d}),
        la.ones(2, 3, {dtype = d}))
    end
  end)
end)

describe("addr", function()
  it("has the dtype of its tensors, whatever the factors are", function()
    local i = la.ones(2, {dtype = "int32"})
    local h = la.ones(2, {dtype = "float16"})
    assert.equal("float16", la.addr(i, i, h, {beta = -0.75}).dtype)
    assert.equal("bfloat16", la.addr(h:bfloat16(), i, i, {alpha = 0.5}).dtype)
    assert.equal("bool", la.addr(i:bool(), i:bool(), i:bool()).dtype)
    local c = la.zeros(2, {dtype = "complex128"})
    assert.equal(2.754 * 10000,
      la.addr(c, i:to("int8") * 100, i:to("int8") * 100, {alpha = 2.754})
        .real[{1, 1}]:item())
    assert.same({{0.25, 0.25}, {0.25, 0.25}},
      la.addr(i, i, h, {beta = -0.75}):totable())
  end)
end)
