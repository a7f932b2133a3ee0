-- Decompositions of small real matrices without full rank, or with subnormal
-- elements: Jacobi's rotations leave columns there whose elements are nearly
-- nothing. Values and products are compared with what was put together.
local la = require "lunarray"

local SHAPES = {{1, 5}, {2, 2}, {3, 3}, {3, 5}, {4, 9}, {5, 1}, {8, 8}, {9, 4}}

local function parts_are_right(m, name, eps)
  local u, s, v = la.linalg.svd(m, false)
  local most = m:abs():max():item()
  local off = ((u * s:unsqueeze(1)):matmul(v) - m):abs():max():item()
  assert.is_true(off <= 64 * eps * most, name .. ": " .. off)
  local k = s:numel()
  local eye = la.eye(k, {dtype = m.dtype})
  assert.is_true((u:t():matmul(u) - eye):abs():max():item() < 64 * eps, name)
  assert.is_true((v:matmul(v:t()) - eye):abs():max():item() < 64 * eps, name)
  assert.is_true((la.linalg.svdvals(m) - s):abs():max():item()
    <= 64 * eps * most, name)
end

describe("a small matrix", function()
  for dtype, eps in pairs{float32 = 2^-24, float64 = 2^-53} do
    it("of rank one, of " .. dtype, function()
      local g = la.Generator(3)
      for _, shape in ipairs(SHAPES) do
        for k = 1, 60 do
          local u = la.randn({shape[1], 1}, {generator = g, dtype = dtype})
          local v = la.randn({1, shape[2]}, {generator = g, dtype = dtype})
          local m = k % 3 == 0 and la.full(shape, k, {dtype = dtype})
            or u:matmul(v)
          parts_are_right(m, ("%d x %d"):format(shape[1], shape[2]), eps)
          assert.equal(1, la.linalg.matrix_rank(m):item())
          assert.is_true(la.isfinite(la.linalg.pinv(m)):all())
          local values, vectors = la.linalg.eigh(m:matmul(m:t()))
          assert.is_true(la.isfinite(values):all())
          assert.is_true(la.isfinite(vectors):all())
        end
      end
    end)

    it("of subnormal elements, of " .. dtype, function()
      local tiny = dtype == "float32" and 2.0^-140 or 2.0^-1050
      local m = la.tensor({{1, 0, 0}, {0, 2 * tiny, tiny}, {0, tiny, 2 * tiny}},
        {dtype = dtype})
      local values, vectors = la.linalg.eigh(m)
      assert.same({tiny, 3 * tiny, 1}, values:totable())
      assert.is_true((vectors:t():matmul(vectors)
        - la.eye(3, {dtype = dtype})):abs():max():item() < 8 * eps)
      local small = la.linalg.svdvals(m)
      assert.equal(1, small[1]:item())
      assert.is_true(small[{{2, 3}}]:max():item() <= 3 * tiny)
      local q, r = la.linalg.qr(la.full({3, 2}, tiny, {dtype = dtype}))
      assert.is_true(la.isfinite(q):all() and la.isfinite(r):all())
      assert.is_true((q:t():matmul(q) - la.eye(2, {dtype = dtype})):abs():max()
        :item() < 8 * eps)
    end)
  end
end)
