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
  local fig = plot.scatter(t, y, {label = "measured", markersize = 4,
    xlabel = "hours", ylabel = "m", title = "A tide of two harmonics"})
  fig:line(at, curve, {label = "fitted", linewidth = 2})
  fig:band(at, curve - band, curve + band, {label = "two standard errors"})
  fig:line(at, rows:matmul(truth), {label = "the truth", style = "--"})
  fig:set{legend = "outside"}
  fig:save(arg[2], {width = 900, height = 420, scale = 1})
end

return {coef = coef, error = error, truth = truth, inside = inside}
