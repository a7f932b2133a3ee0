-- Real networks of packages: agreement with onnxruntime and times next to its
-- own, on one thread. bench/onnx.sh runs it:
--   lua onnx_cases.lua FOLDER peers.txt [page | PATTERN]
-- FOLDER is that of onnx_peers.py, which has run before; peers.txt its lines.
-- Prints the rows of a table, or writes them to bench/ONNX.md.
package.path = "bench/?.lua;" .. package.path
local la = require "lunarray"
local clock = os.clock
la.set_num_threads(1)
la.set_grad_enabled(false)

local folder, peers, pattern = arg[1], arg[2], arg[3]
local out = io.stdout
if pattern == "page" then
  pattern, out = nil, assert(io.open("bench/ONNX.md", "w"))
  out:write(([[
# Real networks in ONNX files

Times are microseconds of a call in the steady state, one thread, best of many
calls, CPU path %s. R is lunarray's time divided by onnxruntime's of the same
run; load is milliseconds to the first result, for onnxruntime to the ready
session. The difference is the largest one of all results, as a part of their
largest number. The files come in packages of PyPI (`bench/onnx.sh`).

| network | lunarray | onnxruntime | R | load | its load | difference |
| --- | --- | --- | --- | --- | --- | --- |
]]):format(la.config().cpu_capability))
end

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

local sum, count, worst = 0, 0, 0
for line in io.lines(peers) do
  local name, load, us = line:match("^(.-)\t([%d.]+)\t([%d.]+)$")
  if name and (not pattern or name:find(pattern)) then
    local path, inputs, outputs = read_note(name)
    local began = clock()
    local model = la.onnx.load(folder .. "/models/" .. path)
    local got = model:run(inputs)
    local first = clock() - began
    local d = difference(got, outputs)
    local mine = best(function() model:run(inputs) end) * 1e6
    local d2 = difference(model:run(inputs), outputs)
    local ratio = mine / tonumber(us)
    sum, count = sum + math.log(ratio), count + 1
    worst = math.max(worst, ratio)
    out:write(("| %s | %.0f | %.0f | %.2f | %.1f | %s | %.1e |\n"):format(name,
      mine, us, ratio, first * 1e3, load, math.max(d, d2)))
  end
end
out:write(("| geometric mean of %d | | | %.2f | | | worst R %.2f |\n"):format(
  count, math.exp(sum / count), worst))
