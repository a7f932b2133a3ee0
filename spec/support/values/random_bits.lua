-- Prints a digest of fills of every distribution and dtype: run once for each
-- CPU path, since LUNARRAY_CPU is read when the library starts.
local la = require "lunarray"

local function digest(t)
  local h = 0
  for i, s in string.gmatch(t:tostring_raw(), "()(.)") do
    h = (h * 31 + s:byte()) & 0xffffffffffff
  end
  return ("%012x"):format(h)
end

local fills = {
  {"uniform_", -1, 2}, {"normal_", 1, 2}, {"exponential_", 1.5},
  {"cauchy_", 0, 1}, {"log_normal_"}, {"random_", 3, 40}, {"random_"},
  {"bernoulli_", 0.3}, {"geometric_", 0.2}
}
la.manual_seed(20)
for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16", "int32",
                        "uint8", "int64"} do
  for _, f in ipairs(fills) do
    local x = la.zeros(1003, {dtype = dtype})
    if pcall(x[f[1]], x, table.unpack(f, 2)) then
      print(dtype, f[1], digest(x))
    end
  end
end
print(digest(la.randperm(500)), digest(la.randint(-5, 1 << 40, 99)))
