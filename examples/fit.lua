-- A least squares fit with a confidence band: a tide of two harmonics is
-- measured for three days at uneven times, and its level, amplitudes and their
-- uncertainty are found.
--
--   lua5.4 examples/fit.lua [measurements [picture.png]]

local la = require "lunarray"
local plot = require "lunarray.plot"

local n = tonumber(arg and arg[1]) or 150
local F64 = {dtype = "float64"}
local PERIODS = {12.42, 24}       -- hours: moon, sun
la.manual_seed(11)

-- One column for the level, a cosine and a sine for each period.
local function design(t)
  local columns = {la.ones_like(t)}
  for _, period in ipairs(PERIODS) do
    local phase = t * (2 * math.pi / period)
    columns[#columns + 1] = phase:cos()
    columns[#columns + 1] = phase:sin()
  end
  return la.stack(columns, -1)
end

local truth = la.tensor({2.1, 0.9, 0.4, -0.3, 0.2}, F64)
local t = (la.rand(n, F64) * 72):sort()
local y = design(t):matmul(truth) + la.randn(n, F64) * 0.15

local a = design(t)
local coef = la.linalg.lstsq(a, y:unsqueeze(-1)):squeeze(-1)
local left = y - a:matmul(coef)
local freedom = n - a:size(2)
local variance = left:square():sum() / freedom
-- The covariance of the coefficients, (A'A)^-1 s^2, by a Cholesky factor.
local factor = la.linalg.cholesky(a:t():matmul(a))
local cov = la.cholesky_inverse(factor) * variance
local error = cov:diagonal():sqrt()

print(("noise of %.3f m (0.15 was put in)"):format(variance:sqrt():item()))
local names = {"level", "12.4 h, cos", "12.4 h, sin", "24 h, cos", "24 h, sin"}
for i, name in ipairs(names) do
  print(("  %-12s %7.3f +- %.3f m   (%.1f)"):format(name, coef(i):item(),
    error(i):item(), truth(i):item()))
end

-- The band: two standard errors of the curve at each of its points.
local at = la.linspace(0, 72, 145, F64)
local rows = design(at)
local curve = rows:matmul(coef)
local band = 2 * (rows:matmul(cov) * rows):sum(-1):sqrt()
print(plot.line({curve - band, curve, curve + band},
  {height = 12, title = "water, m, and the band of 95 %"}))
local miss = (curve - rows:matmul(truth)):abs()
local inside = miss:le(band):to("float64"):mean():item()
print(("%.0f %% of the true curve lies inside"):format(inside * 100))

if arg and arg[2] then
  local fine = design(la.linspace(0, 72, 480, F64))
  local mid = fine:matmul(coef)
  local wide = 2 * (fine:matmul(cov) * fine):sum(-1):sqrt()
  local level = la.linspace(4, 0.3, 200, F64):unsqueeze(2)
  local far = (level - mid):abs()
  local image = 1 - 0.3 * far:lt(wide) - 0.5 * far:lt(0.012)
  local r = ((4 - y) / 3.7 * 199 + 1):round():long():clamp(2, 199)
  local c = (t / 72 * 479 + 1):round():long():clamp(2, 479)
  for d = -1, 1 do image[{r + d, c}], image[{r, c + d}] = 0, 0 end
  la.image.save(image, arg[2])
end

return {coef = coef, error = error, truth = truth, inside = inside}
