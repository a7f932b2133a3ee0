-- Special values of the mathematical functions, by function: argument(s),
-- result. Run as a program it prints what differs, so that a spec can run it
-- once per CPU path: LUNARRAY_CPU is read when the library starts.
local la = require "lunarray"

local inf, nan = math.huge, 0 / 0
local pi = math.pi
local M = {}

M.unary = {
  exp = {{0, 1}, {-0.0, 1}, {inf, inf}, {-inf, 0}, {nan, nan}, {1000, inf},
    {-1000, 0}, {1, math.exp(1)}},
  exp2 = {{0, 1}, {10, 1024}, {-1, 0.5}, {inf, inf}, {-inf, 0}, {nan, nan},
    {2000, inf}, {-2000, 0}},
  expm1 = {{0, 0}, {-0.0, -0.0}, {inf, inf}, {-inf, -1}, {nan, nan},
    {1000, inf}, {-1000, -1}, {1e-20, 1e-20}},
  log = {{1, 0}, {0, -inf}, {-0.0, -inf}, {-1, nan}, {inf, inf}, {-inf, nan},
    {nan, nan}},
  log2 = {{1, 0}, {8, 3}, {0.25, -2}, {0, -inf}, {-1, nan}, {inf, inf},
    {nan, nan}},
  log10 = {{1, 0}, {1000, 3}, {0, -inf}, {-1, nan}, {inf, inf}, {nan, nan}},
  log1p = {{0, 0}, {-0.0, -0.0}, {-1, -inf}, {-2, nan}, {inf, inf},
    {-inf, nan}, {nan, nan}, {1e-20, 1e-20}},
  sin = {{0, 0}, {-0.0, -0.0}, {inf, nan}, {-inf, nan}, {nan, nan},
    {1e-20, 1e-20}},
  cos = {{0, 1}, {-0.0, 1}, {inf, nan}, {-inf, nan}, {nan, nan}},
  tan = {{0, 0}, {-0.0, -0.0}, {inf, nan}, {nan, nan}},
  asin = {{0, 0}, {-0.0, -0.0}, {1, pi / 2}, {-1, -pi / 2}, {2, nan},
    {inf, nan}, {nan, nan}},
  acos = {{1, 0}, {-1, pi}, {0, pi / 2}, {2, nan}, {-inf, nan}, {nan, nan}},
  atan = {{0, 0}, {-0.0, -0.0}, {inf, pi / 2}, {-inf, -pi / 2}, {nan, nan}},
  sinh = {{0, 0}, {-0.0, -0.0}, {inf, inf}, {-inf, -inf}, {nan, nan},
    {1000, inf}},
  cosh = {{0, 1}, {inf, inf}, {-inf, inf}, {nan, nan}, {-1000, inf}},
  tanh = {{0, 0}, {-0.0, -0.0}, {inf, 1}, {-inf, -1}, {nan, nan}, {50, 1},
    {1e-20, 1e-20}},
  asinh = {{0, 0}, {-0.0, -0.0}, {inf, inf}, {-inf, -inf}, {nan, nan}},
  acosh = {{1, 0}, {0.5, nan}, {inf, inf}, {-inf, nan}, {nan, nan}},
  atanh = {{0, 0}, {-0.0, -0.0}, {1, inf}, {-1, -inf}, {2, nan}, {nan, nan}},
  sigmoid = {{0, 0.5}, {inf, 1}, {-inf, 0}, {nan, nan}, {1000, 1},
    {-1000, 0}},
  sqrt = {{0, 0}, {-0.0, -0.0}, {4, 2}, {-1, nan}, {inf, inf}, {nan, nan}},
  rsqrt = {{0, inf}, {4, 0.5}, {-1, nan}, {inf, 0}, {nan, nan}},
  cbrt = {{0, 0}, {-0.0, -0.0}, {27, 3}, {-8, -2}, {inf, inf}, {nan, nan}},
  sinc = {{0, 1}, {-0.0, 1}, {nan, nan}},
  erf = {{0, 0}, {-0.0, -0.0}, {inf, 1}, {-inf, -1}, {nan, nan}},
  erfc = {{0, 1}, {inf, 0}, {-inf, 2}, {nan, nan}, {100, 0}},
  erfinv = {{0, 0}, {-0.0, -0.0}, {1, inf}, {-1, -inf}, {2, nan}, {nan, nan}},
  lgamma = {{1, 0}, {2, 0}, {0, inf}, {-1, inf}, {inf, inf}, {nan, nan}},
  digamma = {{0, -inf}, {-0.0, inf}, {-1, nan}, {inf, inf}, {nan, nan}},
  i0 = {{0, 1}, {inf, inf}, {-inf, inf}, {nan, nan}},
  i0e = {{0, 1}, {inf, 0}, {nan, nan}},
  i1 = {{0, 0}, {inf, inf}, {-inf, -inf}, {nan, nan}},
  i1e = {{0, 0}, {inf, 0}, {nan, nan}},
  ndtr = {{0, 0.5}, {inf, 1}, {-inf, 0}, {nan, nan}},
  ndtri = {{0.5, 0}, {0, -inf}, {1, inf}, {2, nan}, {-1, nan}, {nan, nan}},
  log_ndtr = {{-inf, -inf}, {inf, -0.0}, {nan, nan}},
  logit = {{0.5, 0}, {0, -inf}, {1, inf}, {2, nan}, {nan, nan}},
  angle = {{1, 0}, {-1, pi}, {inf, 0}, {-inf, pi}, {nan, nan}},
  silu = {{0, 0}, {inf, inf}, {-inf, nan}, {nan, nan}},
  mish = {{0, 0}, {inf, inf}, {-inf, nan}, {nan, nan}, {30, 30}},
  gelu = {{0, 0}, {inf, inf}, {-inf, nan}, {nan, nan}, {30, 30}},
  elu = {{0, 0}, {inf, inf}, {-inf, -1}, {nan, nan}, {-0.0, -0.0}},
  celu = {{0, 0}, {inf, inf}, {-inf, -1}, {nan, nan}},
  softplus = {{inf, inf}, {-inf, 0}, {nan, nan}, {30, 30}},
  softsign = {{0, 0}, {1, 0.5}, {inf, nan}, {nan, nan}},
  hardshrink = {{0.5, 0}, {1, 1}, {-1, -1}, {nan, nan}, {inf, inf}},
  softshrink = {{0.25, 0}, {1, 0.5}, {-1, -0.5}, {nan, nan}, {inf, inf}},
  hardsigmoid = {{-3, 0}, {3, 1}, {inf, 1}, {-inf, 0}, {nan, nan}},
  hardswish = {{-3, -0.0}, {3, 3}, {inf, inf}, {nan, nan}},
  logsigmoid = {{inf, 0}, {-inf, -inf}, {nan, nan}, {-1000, -1000}},
}

M.binary = {
  pow = {{0, 0, 1}, {nan, 0, 1}, {1, nan, 1}, {2, 10, 1024}, {-2, 3, -8},
    {-2, 2, 4}, {-2, 0.5, nan}, {0, 2, 0}, {-0.0, 3, -0.0}, {-0.0, 2, 0},
    {0, -1, inf}, {-0.0, -1, -inf}, {-0.0, -2, inf}, {inf, 2, inf},
    {inf, -2, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, -3, -0.0},
    {0.5, inf, 0}, {2, inf, inf}, {2, -inf, 0}, {0.5, -inf, inf},
    {-1, inf, 1}, {-1, -inf, 1}, {nan, 1, nan}, {2, nan, nan},
    {1e30, 1e30, inf}, {1e-30, 1e30, 0}, {-8, 1 / 3, nan}},
  atan2 = {{0, 1, 0}, {0, -1, pi}, {-0.0, -1, -pi}, {1, 0, pi / 2},
    {inf, inf, pi / 4}, {inf, -inf, 3 * pi / 4}, {1, inf, 0}, {nan, 1, nan},
    {1, nan, nan}},
  hypot = {{3, 4, 5}, {inf, nan, inf}, {nan, -inf, inf}, {nan, 1, nan},
    {0, -0.0, 0}},
  logaddexp = {{inf, inf, inf}, {-inf, -inf, -inf}, {-inf, 3, 3},
    {inf, -inf, inf}, {nan, 1, nan}, {1, nan, nan}},
  logaddexp2 = {{0, 0, 1}, {inf, inf, inf}, {-inf, -inf, -inf},
    {-inf, 3, 3}, {nan, 1, nan}, {1, nan, nan}},
  xlogy = {{0, 0, 0}, {0, -1, 0}, {0, inf, 0}, {0, nan, nan}, {1, 0, -inf},
    {2, 1, 0}, {nan, 1, nan}},
}

local tolerance = {float64 = 1e-14, float32 = 1e-6, float16 = 2e-3,
  bfloat16 = 1e-2}

local function agrees(got, want, dtype)
  if want ~= want then return got ~= got end
  if want == 0 or want == inf or want == -inf then
    return got == want and (want ~= 0 or 1 / got == 1 / want)
  end
  return math.abs(got - want) <= tolerance[dtype] * math.abs(want)
end

-- Every row of a function in one tensor, repeated so that the vector loop and
-- its tail both meet each value.
local function check(name, rows, dtype, report)
  local arity = #rows[1] - 1
  local columns = {}
  for k = 1, arity do
    local column = {}
    for round = 0, 4 do
      for i, row in ipairs(rows) do column[round * #rows + i] = row[k] end
    end
    columns[k] = la.tensor(column, {dtype = dtype})
  end
  local out = la[name](table.unpack(columns)):to("float64")
  for i = 1, out:size(1) do
    local row = rows[(i - 1) % #rows + 1]
    local got, want = out[i]:item(), row[arity + 1]
    -- A decimal that the dtype rounds has a rounded result too.
    if not agrees(got, want, dtype) and math.abs(row[1]) ~= 1e-20 then
      report(("%s %s(%s): %s, not %s"):format(dtype, name,
        table.concat(row, ", ", 1, arity), got, want))
    end
  end
end

-- Calls report(text) for each difference.
function M.run(report)
  for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16"} do
    for name, rows in pairs(M.unary) do check(name, rows, dtype, report) end
    for name, rows in pairs(M.binary) do
      if dtype == "float32" or dtype == "float64" then
        check(name, rows, dtype, report)
      end
    end
  end
end

if not ... then
  M.run(print)
  print("done " .. la.cpu_capability())
end

return M
