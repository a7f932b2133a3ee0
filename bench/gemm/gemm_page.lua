-- From the lines of gemm.c and gemm_peers.py (files named on the
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
called from C, on one thread in the same process alternating with lunarray, on
two each in a process of its own, NumPy and PyTorch from Python right after.
`bench/gemm/gemm.sh` measures and writes this page. R is lunarray's time divided
by that of the fastest other. The peak is that of a loop of independent
multiply-adds of the widest vectors, which needs no memory.

Measured on one core complex of an AMD Zen 5 (AVX512, L2 1 MiB). OpenBLAS
(Debian's and NumPy's) and BLIS do not know it and would take AVX2 kernels: they
were told to take those for AVX512 (OPENBLAS_CORETYPE=SkylakeX,
BLIS_ARCH_TYPE=skx). PyTorch's MKL takes AVX2 on it and can't be told. The clock
of the machine varies by some percent between the lines of a table, less within
a line.

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

-- One block of data per contestant and picture: both real types, one thread.
local shown = {}
for _, dtype in ipairs {"float32", "float64"} do
  if results[dtype .. " 1"] then shown[#shown + 1] = dtype end
end
local data = assert(io.open("bench/gemm.dat", "w"))
for _, dtype in ipairs(shown) do
  local plot = results[dtype .. " 1"]
  for _, who in ipairs(who_order) do
    data:write("# ", dtype, " ", who, "\n")
    for _, n in ipairs(sizes_of(plot)) do
      local r = plot[n][who]
      if r then data:write(n, " ", r.rate, "\n") end
    end
    data:write("\n\n")
  end
end
data:close()

local script = assert(io.open("bench/gemm.gp", "w"))
script:write([[
set terminal svg size 1000,460 font "sans-serif,13" background "white"
set output "bench/gemm.svg"
set multiplot layout 1,2
set xlabel "n"
set ylabel "GFLOP/s"
set logscale x 2
set yrange [0:*]
set key bottom right
set grid
]])
for k, dtype in ipairs(shown) do
  local parts = {}
  for i, who in ipairs(who_order) do
    parts[i] = ('"bench/gemm.dat" index %d with linespoints lw %d title "%s"')
      :format((k - 1) * #who_order + i - 1, who == "lunarray" and 3 or 1, who)
  end
  if peak[dtype .. " 1"] then
    parts[#parts + 1] = ('%g with lines dt 2 lc "black" title "peak"')
      :format(peak[dtype .. " 1"])
  end
  script:write(('set title "%s matrix product, one thread"\n'):format(dtype),
               "plot ", table.concat(parts, ", \\\n     "), "\n")
end
script:close()
