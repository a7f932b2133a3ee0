-- How many instructions small calls and kernels take, counted by callgrind: a
-- busy machine does not change them, so that a continuous build can compare.
--
--   lua5.4 bench/instructions.lua [--build DIR] [--cases PATTERN] [--write]
--                                 [--old DIR]
--
-- Each case is called so many times between two marks, with the collection that
-- it causes. The counts are compared with those of another build (--old DIR),
-- else with bench/instructions.tsv, which --write writes anew. What takes more
-- than 5 percent more is named, and the status is 1. A list of another compiler
-- or another Lua is no measure, and is left out of account.
package.path = "bench/?.lua;" .. package.path
local CPU = "avx2"              -- the widest vectors that valgrind knows
local LIMIT = 1.05
local LIST = "bench/instructions.tsv"

-- {name, calls, what is prepared, the call}
local CASES = {
  {"add of 4", 200, "", "local c = a + b"},
  {"add of a number", 200, "", "local c = a + 2"},
  {"add_ in place", 200, "", "a:add_(b)"},
  {"mul with out=", 200, "local o = {out = la.empty(4)}", "la.mul(a, b, o)"},
  {"negative", 200, "", "local c = -a"},
  {"exp of 4", 200, "", "local c = a:exp()"},
  {"eq of 4", 200, "", "local c = a:eq(b)"},
  {"sum of 4", 200, "", "local c = a:sum()"},
  {"sum over a dim", 200, "", "local c = m:sum(1)"},
  {"max over a dim", 200, "", "local v, i = m:max(1)"},
  {"item", 200, "", "local v = a:item(2)"},
  {"x[i]", 200, "", "local r = m[2]"},
  {"x[{i, j}]", 2000, "", "local r = m[{2, 3}]"},
  {"x(i, j)", 200, "", "local r = m(2, 3)"},
  {"x[{{i, j}}]", 2000, "", "local r = m[{{1, 2}}]"},
  {"x[{{}, k}]", 2000, "", "local r = m[{{}, 2}]"},
  {"x[i] = v", 200, "", "a[2] = 1"},
  {"x[mask]", 200, "local k = a:gt(0.5)", "local r = a[k]"},
  {"view", 200, "", "local v = m:view(4, 2, 2)"},
  {"t", 200, "", "local v = m:t()"},
  {"unsqueeze", 200, "", "local v = a:unsqueeze(1)"},
  {"zeros", 200, "", "local z = la.zeros(4)"},
  {"tensor of a table", 200, "local t = {1, 2, 3, 4}",
    "local z = la.tensor(t)"},
  {"totable", 200, "", "local t = a:totable()"},
  {"cat of three", 200, "local l = {a, b, a}", "local c = la.cat(l)"},
  {"stack of two", 200, "local l = {a, b}", "local c = la.stack(l)"},
  {"clone", 200, "", "local c = a:clone()"},
  {"cast", 200, "", "local c = a:double()"},
  {"where", 200, "local k = a:gt(0.5)", "local c = la.where(k, a, b)"},
  {"matmul of 4 x 4", 200, "", "local c = m:matmul(m)"},
  {"linear", 200, "", "local c = la.linear(a, m, b)"},
  {"random of 4", 200, "", "local r = la.rand(4)"},
  {"tidy", 2000, "", "la.tidy(function() local c = a + b end)"},
  {"compiled chain", 200,
    "local f = la.compile(function(x, y) return (x * y + x):tanh() end)",
    "local c = f(a, b)"},
  {"backward", 50, "local w = la.rand(4):requires_grad_()",
    "(w * a):sum():backward()"},
  {"step of a network", 20, [[
    local net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    local opt = optim.SGD(net:parameters(), {lr = 0.01, momentum = 0.9})]],
    "opt:zero_grad() net(m):square():sum():backward() opt:step()"},
  {"add of 4,096", 50, "", "local c = x + y"},
  {"exp of 4,096", 20, "", "local c = x:exp()"},
  {"tanh of 4,096", 20, "", "local c = x:tanh()"},
  {"sum of 4,096", 50, "", "local c = x:sum()"},
  {"argmax of 4,096", 50, "", "local c = x:argmax()"},
  {"sum of rows", 50, "", "local c = q:sum(2)"},
  {"softmax of rows", 20, "", "local c = q:softmax(2)"},
  {"layer_norm", 20, "", "local c = la.layer_norm(q, {64})"},
  {"transposed add", 20, "", "local c = q + q:t()"},
  {"cast to bfloat16", 50, "", "local c = x:bfloat16()"},
  {"cumsum", 50, "", "local c = x:cumsum(1)"},
  {"sort of 1,000", 10, "local s = x[{{1, 1000}}]", "local c = s:sort()"},
  {"matmul of 64 x 64", 10, "", "local c = q:matmul(q)"},
  {"convolution", 10, "local i, w = x:view(1, 4, 32, 32), la.rand(8, 4, 3, 3)",
    "local c = la.conv2d(i, w)"},
  {"gather", 50, "local i = la.randint(1, 64, {64, 64})",
    "local c = q:gather(2, i)"},
  {"fft of 256", 20, "local s = x[{{1, 256}}]", "local c = la.fft.fft(s)"},
  {"normal numbers", 10, "", "local c = la.randn(4096)"},
}

-- ---- the cases, under callgrind ----

-- os.clock is the mark: callgrind writes a part of its file at each.
local SCRIPT = [[
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"
la.set_num_threads(1)
la.manual_seed(1)
collectgarbage "generational"
local mark = os.clock
local a, b, m = la.rand(4), la.rand(4), la.rand(4, 4)
local x, y, q = la.rand(4096), la.rand(4096), la.rand(64, 64)
]]

local CASE = [[
do
  %s
  local function run(n) for _ = 1, n do %s end end
  run(%d)
  collectgarbage()
  mark()
  run(%d)
  mark()
end
]]

local function script_of(cases)
  local parts = {SCRIPT}
  for _, case in ipairs(cases) do
    parts[#parts + 1] = CASE:format(case[3], case[4], case[2], case[2])
  end
  return table.concat(parts)
end

-- Instructions between marks 2 k - 1 and 2 k are those of case k: the parts are
-- numbered from the one that ends at the first mark.
local function counted(cases, build)
  local path, out = os.tmpname(), os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(script_of(cases))
  file:close()
  local command = ("LUA_CPATH='%s/?.so;;' LUA_PATH='./?.lua;lua/?.lua;"
    .. "lua/?/init.lua;;' LUNARRAY_CPU=%s LUNARRAY_NUM_THREADS=1 valgrind -q "
    .. "--tool=callgrind --callgrind-out-file=%s --combine-dumps=yes "
    .. "--dump-before=clock lua5.4 %s"):format(build, CPU, out, path)
  local done = os.execute(command)
  local sums = {}
  for line in io.lines(out) do
    local n = line:match("^summary: (%d+)")
    if n then sums[#sums + 1] = tonumber(n) end
  end
  os.remove(path)
  os.remove(out)
  assert(done and #sums == 2 * #cases + 1, "instructions.lua: " .. command)
  local counts = {}
  for k, case in ipairs(cases) do
    counts[case[1]] = math.floor(sums[2 * k] / case[2] + 0.5)
  end
  return counts
end

-- The least of several runs: a cycle of the collector more or less depends on
-- addresses.
local RUNS = 3
local function counts_of(cases, build)
  local least = counted(cases, build)
  for _ = 2, RUNS do
    for name, n in pairs(counted(cases, build)) do
      least[name] = math.min(least[name], n)
    end
  end
  return least
end

-- ---- what they are compared with ----

-- The compiler of the build, the version of Lua, the CPU path.
local function maker(build)
  local pipe = assert(io.popen(("LUA_CPATH='%s/?.so;;' LUNARRAY_CPU=%s lua5.4 "
    .. "-e 'local la = require\"lunarray\" print(la.config().compiler, "
    .. "la.cpu_capability())'; lua5.4 -v"):format(build, CPU)))
  local text = pipe:read("a")
  pipe:close()
  local compiler, path = text:match("([^\t]+)\t(%w+)")
  return compiler .. ", " .. text:match("Lua [%d.]+") .. ", " .. path
end

local function read_list()
  local list, head = {}, nil
  for line in io.lines(LIST) do
    local name, n = line:match("^(.-)\t(%d+)$")
    if name then list[name] = tonumber(n) else head = line:match("^# (.*)") end
  end
  return list, head
end

local function write_list(cases, counts, head)
  local file = assert(io.open(LIST, "w"))
  file:write("# ", head, "\n")
  for _, case in ipairs(cases) do
    file:write(case[1], "\t", counts[case[1]], "\n")
  end
  file:close()
end

local option = require "options"("instructions.lua",
  {build = "build", cases = "", old = ""}, {write = true})
local cases = {}
for _, case in ipairs(CASES) do
  if case[1]:find(option.cases) then cases[#cases + 1] = case end
end
local head = maker(option.build)
local now = counts_of(cases, option.build)
if option.write then
  write_list(cases, now, head)
  os.exit(0)
end
local before, made_by
if option.old ~= "" then
  before = counts_of(cases, option.old)
else
  before, made_by = read_list()
end
local fair = not made_by or made_by == head
local slower, log_sum, n = 0, 0, 0
for _, case in ipairs(cases) do
  local name = case[1]
  local was = before[name]
  local ratio = was and now[name] / was
  local mark = not was and "new" or fair and ratio > LIMIT and "more" or ""
  if mark == "more" then slower = slower + 1 end
  if ratio then log_sum, n = log_sum + math.log(ratio), n + 1 end
  print(("%-20s %9d %9d  %s %s"):format(name, was or 0, now[name],
    ratio and ("%.3f"):format(ratio) or "-", mark))
end
print(("%d cases, geometric mean %.3f, %d take more than %d %% more"):format(
  #cases, n > 0 and math.exp(log_sum / n) or 1, slower,
  math.floor((LIMIT - 1) * 100 + 0.5)))
if not fair then
  print(("not compared: %s is of %s, the build of %s"):format(LIST, made_by,
    head))
end
os.exit(slower == 0 and 0 or 1)
