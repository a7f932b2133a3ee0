-- Prints a digest of products of many shapes, layouts and dtypes: run once
-- for each CPU path and number of threads, to be compared.
local la = require "lunarray"

local function digest(t)
  local h = 0
  for s in t:contiguous():tostring_raw():gmatch "........" do
    h = (h * 31 + string.unpack("<I8", s)) & 0xffffffffffff
  end
  return ("%012x"):format(h)
end

la.set_num_threads(tonumber(arg[1]))
la.manual_seed(3)
-- k about the borders of a block, narrow and wide results, vectors
local shapes = {
  {2, 3, 4}, {8, 5, 8}, {16, 16, 16}, {40, 33, 70}, {64, 64, 64},
  {30, 400, 48}, {30, 404, 48}, {20, 784, 34}, {9, 1201, 20}, {130, 90, 110},
  {1, 700, 96}, {96, 700, 1}, {24, 33, 1}, {2, 40000, 1},
  {1, 300000, 1}, {70, 333, 5}, {6, 20000, 40},
  {2, 1000, 2}, {20, 300, 4}, {40, 100, 7}, {5000, 40, 10}, {3000, 100, 30},
  {64, 3, 1}, {100, 4, 1}, {100, 7, 1}, {1, 7, 100}, {50, 5, 1},
}
for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16",
                        "complex64", "complex128"} do
  for _, s in ipairs(shapes) do
    local m, k, n = s[1], s[2], s[3]
    local real = dtype:find "complex" and "float64" or dtype
    local a = (la.rand(m, k, {dtype = real}) - 0.5):to(dtype)
    local b = (la.rand(k, n, {dtype = real}) - 0.5):to(dtype)
    local add = la.ones(m, n, {dtype = dtype})
    print(dtype, m, k, n, digest(a:mm(b)),
          digest(a:t():contiguous():t():mm(b)),
          digest(a:mm(b:t():contiguous():t())),
          digest(la.addmm(add, a, b, {beta = 2, alpha = 0.5})))
  end
end
