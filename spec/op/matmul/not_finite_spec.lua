-- What decompositions make of NaN: those that look for values until they
-- converge raise, and least squares with them; the others pass NaN on.
local la = require "lunarray"
local linalg = la.linalg

local function with_nan(batch)
  local x = la.eye(3):tile{batch or 1, 1, 1}
  x[{-1, 2, 1}] = 0 / 0
  return batch and x or x[1]
end

local one = la.ones(3, 1)
local RAISE = {
  svd = linalg.svd, svdvals = linalg.svdvals, eig = linalg.eig,
  eigvals = linalg.eigvals, eigh = linalg.eigh, eigvalsh = linalg.eigvalsh,
  pinv = linalg.pinv, matrix_rank = linalg.matrix_rank, cond = linalg.cond,
  matrix_norm = function(x) return linalg.matrix_norm(x, "nuc") end,
  lstsq = function(x) return linalg.lstsq(x, one) end,
  gelsd = function(x) return linalg.lstsq(x, one, {driver = "gelsd"}) end,
}
local PASS = {
  qr = linalg.qr, lu = function(x) return (select(3, linalg.lu(x))) end,
  inv = linalg.inv, det = linalg.det, matrix_exp = linalg.matrix_exp,
  solve = function(x) return linalg.solve(x, one) end,
  gels = function(x) return (linalg.lstsq(x, one, {driver = "gels"})) end,
}

describe("a matrix with NaN", function()
  for name, f in pairs(RAISE) do
    it("is refused by " .. name, function()
      for _, x in ipairs {with_nan(), with_nan(2)} do
        local ok, why = pcall(f, x)
        assert.is_false(ok)
        assert.truthy(why:find("has an infinite element or NaN", 1, true), why)
      end
    end)
  end

  for name, f in pairs(PASS) do
    it("stays NaN in " .. name, function()
      for _, x in ipairs {with_nan(), with_nan(2)} do
        assert.is_true(f(x):isnan():any())
      end
    end)
  end
end)
