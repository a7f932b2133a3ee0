-- Products of conjugated operands: the bit goes to the kernels, nothing is
-- resolved first. Against resolved copies, whole numbers, so that every order
-- of summation is exact, and by the definition.
local la = require "lunarray"

local function whole(dtype, ...)
  local part = dtype == "complex64" and "float32" or "float64"
  return la.complex(la.randint(-2, 3, {...}):to(part),
                    la.randint(-2, 3, {...}):to(part))
end

-- The same values in other layouts, plain and conjugated.
local function layouts(t)
  local down = t:transpose(-2, -1):contiguous():transpose(-2, -1)
  local adjoint = t:conj():resolve_conj():transpose(-2, -1):contiguous()
  return {t, down, t:conj():resolve_conj():conj(),
          adjoint:transpose(-2, -1):conj()}
end

-- By definition, from parts: real numbers alone.
local function product(a, b)
  local ar, ai = la.real(a):unsqueeze(-1), la.imag(a):unsqueeze(-1)
  local br, bi = la.real(b):unsqueeze(-3), la.imag(b):unsqueeze(-3)
  return la.complex((ar * br - ai * bi):sum(-2), (ar * bi + ai * br):sum(-2))
end

local function plain(t) return t:resolve_conj() end

describe("a product of conjugates", function()
  local shapes = {{1, 1, 1}, {2, 2, 2}, {4, 3, 1}, {1, 5, 4}, {3, 0, 2},
                  {7, 16, 9}, {20, 40, 33}, {1, 700, 70}, {70, 700, 1},
                  {80, 2, 2}, {2, 300, 90}}
  for _, dtype in ipairs {"complex64", "complex128"} do
    it("is that of " .. dtype .. " numbers in every layout", function()
      la.manual_seed(21)
      for _, s in ipairs(shapes) do
        local m, k, n = s[1], s[2], s[3]
        local a, b = whole(dtype, m, k), whole(dtype, k, n)
        local want, add = product(a, b), whole(dtype, m, n)
        for _, x in ipairs(layouts(a)) do
          for _, y in ipairs(layouts(b)) do
            assert.is_true(x:mm(y) == want)
            assert.is_true(x:matmul(y) == want)
            assert.is_true(x:mv(y:select(2, 1)) == want:select(2, 1))
            assert.is_true(x[1]:matmul(y) == want[1])
            assert.is_true(x[1]:dot(y:select(2, 1)) == want[1][1])
            assert.is_true(x[1]:conj():vdot(y:select(2, 1)) == want[1][1])
            assert.is_true(la.linear(x, y:t()) == want)
            assert.is_true(la.linear(x, y:t(), add[1]:conj())
              == want + add[1]:conj())
            assert.is_true(la.einsum("ik,kj->ji", {x, y}) == want:t())
            assert.is_true(x:tensordot(y, 1) == want)
            assert.is_true(x:inner(y:t()) == want)
            assert.is_true(la.vecdot(x:conj(), y:t()[1]) == want:select(2, 1))
            assert.is_true(la.chain_matmul {x, y} == want)
          end
        end
      end
    end)

    it("adds conjugates of " .. dtype .. " and scales", function()
      la.manual_seed(22)
      for _, s in ipairs {{2, 3, 4}, {9, 33, 20}, {1, 600, 3}} do
        local m, k, n = s[1], s[2], s[3]
        local a, b = whole(dtype, m, k), whole(dtype, k, n)
        local add = whole(dtype, m, n)
        local opts = {beta = 2, alpha = la.complex(la.tensor(1.0),
                                                   la.tensor(-3.0)):item()}
        local want = add:conj() * 2 + product(a, b) * opts.alpha
        for _, x in ipairs(layouts(a)) do
          for _, y in ipairs(layouts(b)) do
            assert.is_true(la.addmm(add:conj(), x, y, opts) == want)
            assert.is_true(la.addmv(add:select(2, 1):conj(), x, y:select(2, 1),
                                    opts) == want:select(2, 1))
            assert.is_true(la.baddbmm(add:conj(), x:expand(3, m, k),
              y:expand(3, k, n), opts)[3] == want)
            assert.is_true(la.addbmm(add:conj(), x:unsqueeze(1),
                                     y:unsqueeze(1), opts) == want)
            -- the result where the addend lies, itself or with a bit
            local dest = add:clone()
            la.addmm(dest:conj(), x, y, {out = dest})
            assert.is_true(dest == add:conj() + product(a, b))
            dest = add:clone():conj()
            dest:addmm_(x, y)
            assert.is_true(dest == add:conj() + product(a, b))
          end
        end
      end
    end)

    it("is one for every matrix of a batch of " .. dtype, function()
      la.manual_seed(23)
      for _, s in ipairs {{40, 2, 2, 2}, {3, 5, 9, 4}, {2, 30, 40, 50},
                          {4, 1, 90, 7}} do
        local a = whole(dtype, s[1], s[2], s[3])
        local b = whole(dtype, s[1], s[3], s[4])
        local want = product(a, b)
        for _, x in ipairs(layouts(a)) do
          for _, y in ipairs(layouts(b)) do
            assert.is_true(x:bmm(y) == want)
            assert.is_true(x:matmul(y) == want)
            assert.is_true(x[1]:matmul(y) == product(a[1], b))
            assert.is_true(x:matmul(y[1]) == product(a, b[1]))
            assert.is_true(la.einsum("bik,bkj->bij", {x, y}) == want)
          end
        end
      end
    end)
  end

  it("has the bits of a product of resolved copies", function()
    la.manual_seed(24)
    for _, dtype in ipairs {"complex64", "complex128"} do
      for _, s in ipairs {{3, 3, 3}, {1, 900, 9}, {9, 900, 1}, {50, 450, 60}} do
        local a = la.complex(la.randn(s[1], s[2]),
                             la.randn(s[1], s[2])):to(dtype)
        local b = la.complex(la.randn(s[2], s[3]),
                             la.randn(s[2], s[3])):to(dtype)
        for _, x in ipairs {a, a:conj()} do
          for _, y in ipairs {b, b:conj()} do
            assert.is_true(x:mm(y) == plain(x):mm(plain(y)))
            assert.is_true(x:mv(y:select(2, 1))
              == plain(x):mv(plain(y):select(2, 1)))
          end
        end
      end
    end
  end)

  it("makes no copy of an operand", function()
    local a = la.complex(la.randn(40000, 8), la.randn(40000, 8))
    local x = la.complex(la.randn(40000), la.randn(40000))
    local w = la.complex(la.randn(8, 40000), la.randn(8, 40000))
    local calls = {
      function() return a:conj():t():mm(a) end,
      function() return a:t():matmul(a:conj()) end,
      function() return a:conj():t():matmul(x) end,
      function() return a:t():mv(x:conj()) end,
      function() return x:conj():matmul(a) end,
      function() return x:conj():dot(x) end,
      function() return la.linear(a:conj():t(), w:conj()) end,
      function() return la.einsum("ki,kj->ij", {a:conj(), a}) end,
      function() return a:conj():tensordot(a, {{1}, {1}}) end,
      function() return la.vecdot(x, x) end,
      function() return a:conj():t():unsqueeze(1):bmm(a:unsqueeze(1)) end,
    }
    la.set_num_threads(1)
    for i, call in ipairs(calls) do
      call()                       -- what a first call keeps for good
      collectgarbage() collectgarbage()
      la.set_memory_limit((la.memory()) + x:numel() * 8 - 1)
      local ok, message = pcall(call)
      la.set_memory_limit(0)
      assert.is_true(ok, ("call %d: %s"):format(i, tostring(message)))
    end
    la.set_num_threads(2)
  end)

  it("resolves what is no conjugate", function()
    local z = la.complex(la.tensor {{1.0, 2.0}, {3.0, 4.0}},
                         la.tensor {{-1.0, 1.0}, {0.0, 2.0}})
    local negated = la.imag(z:conj())             -- a negative to come
    assert.is_true(negated:mm(negated) == (-la.imag(z)):mm(-la.imag(z)))
    assert.is_true(negated:matmul(negated[1])
                   == (-la.imag(z)):mv(-la.imag(z)[1]))
  end)

  it("passes gradients", function()
    la.manual_seed(25)
    local a = la.complex(la.randn(3, 4), la.randn(3, 4)):requires_grad_()
    local b = la.complex(la.randn(3, 5), la.randn(3, 5)):requires_grad_()
    local function loss(f) return f():abs():sum() end
    loss(function() return a:conj():t():mm(b) end):backward()
    local ga, gb = a.grad:clone(), b.grad:clone()
    a.grad, b.grad = nil, nil
    loss(function() return a:conj():resolve_conj():t():mm(b) end):backward()
    assert.is_true(la.allclose(ga, a.grad))
    assert.is_true(la.allclose(gb, b.grad))
  end)
end)
