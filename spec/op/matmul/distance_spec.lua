-- cdist and pdist against their definition in float64: orders, shapes, modes of
-- computing, rows that are close and far from zero, derivatives, batches of
-- la.vmap, and that bits depend on two rows alone.
local la = require "lunarray"
local raises = require "spec.support.raises"

local MODES = {"use_mm_for_euclid_dist_if_necessary",
  "donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist"}
local TOLERANCES = {float64 = 1e-14, float32 = 3e-6, bfloat16 = 1e-2}
local ORDERS = {0, 1, 2, 1 / 0, 3, 1.5, 0.5}
local SHAPES = {{{5, 7}, {4, 7}}, {{30, 300}, {70, 300}}, {{3, 33, 5}, {31, 5}},
  {{2, 1, 3, 2}, {5, 4, 2}}, {{1, 9}, {100, 9}}, {{257, 1}, {33, 1}},
  {{3, 0}, {2, 0}}, {{0, 3}, {2, 3}}, {{2, 600}, {2, 600}}}

local function defined(x, y, p)
  local d = x:unsqueeze(-2) - y:unsqueeze(-3)
  if p == 1 / 0 and d:size(-1) == 0 then return d:sum(-1) end
  return la.vector_norm(d, p, -1)
end

-- The largest difference, of the size of 'want'.
local function error_of(got, want)
  if want:numel() == 0 then return 0 end
  local size = math.max(want:abs():max():item(), 1e-3)
  return (got:double() - want):abs():max():item() / size
end

describe("cdist", function()
  before_each(function() la.manual_seed(3) end)

  for _, dtype in ipairs {"float64", "float32", "bfloat16"} do
    local tolerance = TOLERANCES[dtype]
    it("is the norm of differences in " .. dtype, function()
      for _, p in ipairs(ORDERS) do
        for _, shape in ipairs(SHAPES) do
          local x = la.randn(shape[1]):to(dtype)
          local y = la.randn(shape[2]):to(dtype)
          local want = defined(x:double(), y:double(), p)
          for _, mode in ipairs(MODES) do
            local got = la.cdist(x, y, p, mode)
            assert.equal(dtype, got.dtype)
            assert.same({table.unpack(want.shape)}, {table.unpack(got.shape)})
            -- The product has the error of squares.
            local least = mode == MODES[3] and p == 2 and math.sqrt(tolerance)
            local error = error_of(got, want)
            assert.is_true(error <= (least or tolerance),
              ("p %s %s: %g"):format(p, mode, error))
          end
        end
      end
    end)
  end

  it("keeps the digits of rows that are close and far from zero", function()
    for dtype, close in pairs {float32 = 1e-4, float64 = 1e-9} do
      local far = la.randn(40, 16):double() + 100
      local x = far:to(dtype)
      local y = (far + la.randn(40, 16):double() * close):to(dtype)
      local want = defined(x:double(), y:double(), 2)
      -- Pairs that are not close keep half of the digits.
      local worst = ((la.cdist(x, y):double() - want) / want):abs()
      assert.is_true(worst:diagonal():max():item() < 1e-6, dtype)
      assert.is_true(worst:max():item() < 2 * close, dtype)
      local byproduct = la.cdist(x, y, 2, MODES[3]):double()
      assert.is_true(((byproduct - want) / want):abs():max():item() > 0.1)
      local leaf = x:clone():requires_grad_()
      local wide = x:double():requires_grad_()
      la.cdist(leaf, y):sum():backward()
      defined(wide, y:double(), 2):sum():backward()
      assert.is_true(error_of(leaf.grad, wide.grad) < 2 * close, dtype)
    end
  end)

  it("is zero between a row and itself", function()
    local x = la.randn(60, 5) * 1000
    assert.equal(0, la.cdist(x, x):diagonal():abs():max():item())
    local leaf = x:clone():requires_grad_()
    la.cdist(leaf, leaf):sum():backward()
    assert.is_true(leaf.grad:isfinite():all())
  end)

  it("has bits that depend on two rows alone", function()
    local x, y = la.randn(70, 37), la.randn(65, 37)
    for _, p in ipairs {1, 2, 1 / 0} do
      local whole = la.cdist(x, y, p, MODES[2])
      for i = 1, 70, 23 do
        for j = 1, 65, 9 do
          local one = la.cdist(x[{{i, i}}], y[{{j, j}}], p, MODES[2])
          assert.equal(one:item(), whole[i][j]:item())
        end
      end
      local strided = la.cdist(x:t():contiguous():t(), y, p, MODES[2])
      assert.is_true(la.equal(whole, strided))
    end
  end)

  it("tells infinities and NaN", function()
    local nan, inf = 0 / 0, 1 / 0
    local x, y = la.tensor {{nan, 1}, {inf, 0}}, la.tensor {{1., 1}, {inf, 0}}
    for _, p in ipairs {1, 2, inf} do
      local d = la.cdist(x, y, p)
      assert.equal(inf, d[2][1]:item())
      for _, v in ipairs {d[1][1], d[1][2], d[2][2]} do
        assert.is_true(v:isnan():all())
      end
    end
    local many = la.cdist(x:expand(20, 2, 2):reshape(40, 2), y)
    assert.equal(inf, many[2][1]:item())
    assert.is_true(many[1]:isnan():all())
  end)

  it("has the derivatives of the definition", function()
    for _, p in ipairs(ORDERS) do
      for _, shape in ipairs {{{5, 7}, {4, 7}}, {{30, 3}, {2, 30, 3}},
                              {{3, 20}, {28, 20}}} do
        local x, y = la.randn(shape[1]):double(), la.randn(shape[2]):double()
        local leaves = {}
        for k, f in ipairs {la.cdist, defined} do
          local a = x:clone():requires_grad_()
          local b = y:clone():requires_grad_()
          local d = f(a, b, p)
          d:backward(d:detach():mul(3):cos())
          leaves[k] = {a.grad, b.grad}
        end
        for i = 1, 2 do
          assert.is_true(error_of(leaves[1][i], leaves[2][i]) < 1e-13, p)
        end
      end
    end
    local a = la.randn(4, 3):double():requires_grad_()
    local b = la.randn(30, 3):double():requires_grad_()
    for _, p in ipairs {1, 2, 3} do
      local f = function(x, y) return la.cdist(x, y, p) end
      assert.is_true(la.gradcheck(f, {a, b}))
      assert.is_true(la.gradgradcheck(f, {a, b}))
    end
  end)

  it("runs on a batch of la.vmap", function()
    local x, y = la.randn(3, 30, 4), la.randn(3, 6, 4)
    for _, p in ipairs {1, 2, 3} do
      local f = la.vmap(function(a, b) return la.cdist(a, b, p) end)
      assert.is_true(la.allclose(f(x, y), la.cdist(x, y, p)))
      local one = la.vmap(function(a) return la.cdist(a, y[1], p) end)
      assert.is_true(la.allclose(one(x), la.cdist(x, y[1], p)))
    end
  end)

  it("promotes, and refuses other modes", function()
    local wide = la.ones(2, 2):double()
    assert.equal("float64", la.cdist(la.ones(2, 2), wide).dtype)
    raises("compute_mode is 'use_mm_for_euclid_dist_if_necessary'", la.cdist,
      la.ones(2, 2), la.ones(2, 2), 2, "never")
    raises("2 columns expected, got 3", la.cdist, la.ones(2, 2), la.ones(2, 3))
    raises("no negative order", la.cdist, la.ones(2, 2), la.ones(2, 2), -1)
  end)
end)

describe("pdist", function()
  it("is the upper triangle of cdist", function()
    la.manual_seed(4)
    local x = la.randn(40, 6):double()
    for _, p in ipairs(ORDERS) do
      local all, at, got = defined(x, x, p), 1, la.pdist(x, p)
      for i = 1, 40 do
        for j = i + 1, 40 do
          assert.is_true(math.abs(all[i][j]:item() - got[at]:item()) < 1e-12)
          at = at + 1
        end
      end
      assert.equal(at - 1, got:numel())
    end
    assert.is_true(la.gradcheck(la.pdist, {x[{{1, 4}}]:requires_grad_()}))
  end)
end)
