-- Real networks of packages: agreement with onnxruntime and times next to its
-- own, on one thread. bench/onnx.sh runs it:
--   lua onnx_cases.lua FOLDER NAME      one case, as a line to the output
--   lua onnx_cases.lua FOLDER page      all lines so far, into bench/ONNX.md
-- FOLDER/data is that of onnx_peers.py, which has run before; FOLDER/peers.txt
-- and FOLDER/mine.txt have the lines of both, some for each case: of times the
-- least counts. The page keeps what stands outside of the table.
local folder, wanted = arg[1], arg[2]

local PAGE, BEGIN, END = "bench/ONNX.md", "<!-- table: bench/onnx.sh -->",
  "<!-- end of the table -->"

-- ---- the page ----

-- By name, in order: the least of each number; 'fields' names them.
local function least_of(path, fields)
  local order, rows = {}, {}
  for line in io.lines(path) do
    local name, rest = line:match "^(.-)\t(.*)$"
    if name and not rows[name] then
      order[#order + 1], rows[name] = name, {}
    end
    local k = 0
    for number in (rest or ""):gmatch "[^\t]+" do
      k = k + 1
      local key, value = fields[k], tonumber(number) or number
      local old = rows[name][key]
      if not old or type(value) == "number" and value < old then
        rows[name][key] = value
      end
    end
  end
  return order, rows
end

local function table_text()
  local order, peers = least_of(folder .. "/peers.txt", {"load", "memory",
    "us"})
  local _, mine = least_of(folder .. "/mine.txt", {"load", "memory", "us",
    "mallocs", "difference", "cpu"})
  local lines, sum, count, worst, cpu = {}, 0, 0, 0, "?"
  for _, name in ipairs(order) do
    local a, b = mine[name], peers[name]
    if a then
      local ratio = a.us / b.us
      sum, count, worst = sum + math.log(ratio), count + 1,
        math.max(worst, ratio)
      cpu = a.cpu
      lines[#lines + 1] = ("| %s | %.0f | %.0f | %.2f | %.1f | %.1f | %.1f "
        .. "| %.1f | %.0f | %.1e |"):format(name, a.us, b.us, ratio, a.memory,
        b.memory, a.load, b.load, a.mallocs, a.difference)
    end
  end
  lines[#lines + 1] = ("| geometric mean of %d | | | %.2f | | | | | | worst R "
    .. "%.2f |"):format(count, math.exp(sum / count), worst)
  return ("CPU path %s.\n\n"):format(cpu)
    .. "| network | lunarray | onnxruntime | R | MB | its MB | load | its load "
    .. "| mallocs | difference |\n| --- | --- | --- | --- | --- | --- | --- "
    .. "| --- | --- | --- |\n" .. table.concat(lines, "\n")
end

if wanted == "page" then
  local file = assert(io.open(PAGE))
  local text = file:read "a"
  file:close()
  local _, from = text:find(BEGIN, 1, true)
  local to = text:find(END, 1, true)
  assert(from and to, PAGE .. " lacks the marks of the table")
  file = assert(io.open(PAGE, "w"))
  file:write(text:sub(1, from), "\n", table_text(), "\n", text:sub(to))
  file:close()
  return
end

-- ---- a case ----

local la = require "lunarray"
local has_mallocs, mallocs = pcall(require, "mallocs")
local clock = os.clock
la.set_num_threads(1)
la.set_grad_enabled(false)

local function read_note(name)
  local note, inputs, outputs = nil, {}, {}
  for line in io.lines(folder .. "/data/" .. name .. ".txt") do
    local kind, word, file = line:match("^(%w+)\t(.-)\t(.*)$")
    if not kind then
      note = line
    elseif kind == "in" then
      inputs[word] = la.load(folder .. "/data/" .. file)
    else
      outputs[word] = la.load(folder .. "/data/" .. file)
    end
  end
  return note, inputs, outputs
end

-- The largest difference, as a part of the largest number.
local function difference(got, want)
  local worst = 0
  for name, y in pairs(want) do
    if y:is_floating_point() then
      local limit = y:abs():amax():item()
      local d = (got[name] - y):abs():amax():item()
      if d ~= d then d = math.huge end
      worst = math.max(worst, d / math.max(limit, 1e-30))
    elseif not la.equal(got[name], y) then
      worst = math.huge
    end
  end
  return worst
end

local function best(f)
  for _ = 1, 3 do f() end
  local least, n, spent = math.huge, 1, 0
  while spent < 0.6 do
    local t = clock()
    for _ = 1, n do f() end
    local took = clock() - t
    spent = spent + took
    least = math.min(least, took / n)
    if took < 0.002 then n = n * 2 end
  end
  return least
end

-- MB of this process.
local function resident()
  for line in io.lines "/proc/self/status" do
    local kb = line:match "^VmRSS:%s*(%d+)"
    if kb then return tonumber(kb) / 1024 end
  end
  return 0
end

local path, inputs, outputs = read_note(wanted)
collectgarbage()
local before, began = resident(), clock()
local model = la.onnx.load(folder .. "/models/" .. path)
local got = model:run(inputs)
local first = clock() - began
for _ = 1, 10 do model:run(inputs) end
collectgarbage()
local memory = resident() - before
local worst = math.max(difference(got, outputs),
  difference(model:run(inputs), outputs))
local us = best(function() model:run(inputs) end) * 1e6
local count = 0
if has_mallocs then
  collectgarbage "stop"
  local from = mallocs()
  for _ = 1, 100 do model:run(inputs) end
  count = (mallocs() - from) / 100
end
print(("%s\t%.1f\t%.1f\t%.2f\t%.2f\t%.1e\t%s"):format(wanted, first * 1e3,
  memory, us, count, worst, la.config().cpu_capability))
