-- From the lines of bench/gemm and bench/gemm_peers.py (files named on the
-- command line) to the page bench/GEMM.md, and data and script for gnuplot.
local results, order, peak = {}, {}, {}
local who_order = {"lunarray", "openblas", "blis", "numpy", "pytorch"}

for _, path in ipairs(arg) do
  for line in io.lines(path) do
    local dtype, threads, n, who, rate, ns = line:match(
      "^(%S+) (%d+) (%d+) (%S+) ([%d.]+) (%d+)$")
    if who == "peak" then
      peak[dtype .. " " .. threads] = tonumber(rate)
    elseif who then
      local key = dtype .. " " .. threads
      if not results[key] then
        results[key] = {}
        order[#order + 1] = key
      end
      local t = results[key]
      n = tonumber(n)
      t[n] = t[n] or {}
      t[n][who] = {rate = tonumber(rate), ns = tonumber(ns)}
    end
  end
end

local function sizes_of(t)
  local list = {}
  for n in pairs(t) do list[#list + 1] = n end
  table.sort(list)
  return list
end

local page = assert(io.open("bench/GEMM.md", "w"))
page:write [[
# Matrix products

GFLOP/s of `n x n` times `n x n`, best of many rounds; OpenBLAS and BLIS are
called from C in the same process, turn by turn with lunarray, NumPy and
PyTorch from Python right after. `bench/gemm.sh` measures and writes this page.
R is lunarray's time divided by that of the fastest other.

![GFLOP/s over n](gemm.svg)
]]
for _, key in ipairs(order) do
  local dtype, threads = key:match("(%S+) (%d+)")
  page:write(("\n## %s, %s thread%s"):format(dtype, threads,
                                             threads == "1" and "" or "s"))
  if peak[key] then
    page:write((": multiply-add peak %.0f GFLOP/s"):format(peak[key]))
  end
  page:write("\n\n| n | ", table.concat(who_order, " | "), " | R |\n|",
             (" --- |"):rep(#who_order + 2), "\n")
  for _, n in ipairs(sizes_of(results[key])) do
    local row, best = results[key][n], math.huge
    page:write("| ", n)
    for _, who in ipairs(who_order) do
      local r = row[who]
      if r and who ~= "lunarray" then best = math.min(best, r.ns) end
      page:write(" | ", r and ("%.1f"):format(r.rate) or "")
    end
    local ours = row.lunarray
    page:write(" | ", ours and best < math.huge
               and ("%.2f"):format(ours.ns / best) or "", " |\n")
  end
end
page:close()

-- One block of data per contestant, for float32 on one thread.
local data = assert(io.open("bench/gemm.dat", "w"))
local plot = results["float32 1"] or {}
for _, who in ipairs(who_order) do
  data:write("# ", who, "\n")
  for _, n in ipairs(sizes_of(plot)) do
    local r = plot[n][who]
    if r then data:write(n, " ", r.rate, "\n") end
  end
  data:write("\n\n")
end
data:close()

local script = assert(io.open("bench/gemm.gp", "w"))
script:write([[
set terminal svg size 800,480 font "sans-serif,13" background "white"
set output "bench/gemm.svg"
set title "float32 matrix product, one thread"
set xlabel "n"
set ylabel "GFLOP/s"
set logscale x 2
set yrange [0:*]
set key bottom right
set grid
]])
local parts = {}
for i, who in ipairs(who_order) do
  parts[i] = ('"bench/gemm.dat" index %d with linespoints lw %d title "%s"')
    :format(i - 1, who == "lunarray" and 3 or 1, who)
end
if peak["float32 1"] then
  parts[#parts + 1] = ('%g with lines dt 2 lc "black" title "peak"')
    :format(peak["float32 1"])
end
script:write("plot ", table.concat(parts, ", \\\n     "), "\n")
script:close()
