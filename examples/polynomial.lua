-- Polynomial regression: which degree describes the data, judged by points
-- that were held out.
--
--   lua5.4 examples/polynomial.lua [highest degree]

local la = require "lunarray"

local F64 = {dtype = "float64"}
local highest = tonumber(arg and arg[1]) or 9
la.manual_seed(3)

local truth = la.tensor({0.5, -2, -1, 4, 1}, F64)   -- the highest power first
local x = la.rand(120, F64) * 4 - 2
local y = la.polyval(truth, x) + la.randn(120, F64) * 0.8
local held = la.arange(1, 121) % 3
local learn, check = held:ne(0), held:eq(0)

local best, score = nil, math.huge
for degree = 0, highest do
  local p = la.polyfit(x[learn], y[learn], degree)
  local function rms(mask)
    return (la.polyval(p, x[mask]) - y[mask]):square():mean():sqrt():item()
  end
  local seen, unseen = rms(learn), rms(check)
  print(("degree %d: %.3f on the points of the fit, %.3f on the others")
    :format(degree, seen, unseen))
  -- A higher degree has to be better by more than chance.
  if unseen < score * 0.98 then best, score = degree, unseen end
end
local p = la.polyfit(x, y, best)
print("degree " .. best .. ": " .. tostring(p))

return {degree = best, rms = score}
