-- What a call of a compiled function costs besides its kernels, in nanoseconds,
-- and what single passes give, in microseconds: two tables of Markdown.
--
--   lua5.4 bench/program_costs.lua [--rounds N]
--
-- One thread; the least time of all rounds counts.
package.path = "bench/?.lua;lua/?.lua;lua/?/init.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath
local la = require "lunarray"
local nn = require "lunarray.nn"
local timing = require "timing"

local option = require "options"("program_costs.lua", {rounds = "3"}, {})
la.set_num_threads(1)

local function least(f, ...)
  local args = {...}
  return timing.batches(function() return f(table.unpack(args)) end, 0.1).min
end

local function better(a, b) return a and math.min(a, b) or b end

local function chain(x, y) return ((x * 1.5 + y) * y - x):tanh() end

-- ---- what a call costs besides its kernels ----

-- Least nanoseconds of one call by itself, of new functions that 'make' gives.
local function once(make)
  local best = math.huge
  for _ = 1, 200 do
    local f = make()
    collectgarbage()
    local t = timing.clock()
    f()
    best = math.min(best, (timing.clock() - t) * 1e9)
  end
  return best
end

local function steps_of(n)
  return function(x)
    local y = x
    for _ = 1, n do y = y + x end
    return y
  end
end

local function quiet(f)
  local best = math.huge
  for _ = 1, tonumber(option.rounds) do
    best = math.min(best, timing.batches(f).min)
  end
  return best
end

local function costs()
  local empty = quiet(function() end)
  print("| cost | ns |\n| --- | --- |")
  for n = 0, 8, 2 do
    local list, f = {}, la.compile(function() end)
    for k = 1, n do list[k] = "a" .. k end
    local call = load(("local f, %s = ... return function() f(%s) end"):format(
      n > 0 and table.concat(list, ", ") or "_", table.concat(list, ", ")))
    for k = 1, n do list[k] = la.ones(4) end
    local t = quiet(call(f, table.unpack(list))) - empty
    print(("| call without a step, %d arguments | %.0f |"):format(n, t))
  end
  local x, before = la.ones(4), nil
  for _, n in ipairs{1, 51, 201} do
    local f = la.compile(steps_of(n))
    local t = quiet(function() f(x) end) - empty
    if before then
      print(("| each of %d more steps, on 4 elements, with its kernel | %.1f |")
        :format(n - before[1], (t - before[2]) / (n - before[1])))
    else print(("| call of one step, with its kernel | %.0f |"):format(t)) end
    before = {n, t}
  end
  for _, size in ipairs{4, 1000} do
    local y, body = la.ones(size), steps_of(50)
    local plain = once(function() return function() body(y) end end)
    local record = once(function()
      local f = la.compile(body)
      return function() f(y) end
    end)
    local plan = once(function()
      local f = la.compile(body)
      f(y)
      return function() f(y) end
    end)
    print(("| 50 steps on %d elements: plain %.0f, recording | %.1f times |")
      :format(size, plain, record / plain))
    print(("| the call after it, which makes the plan | %.1f times |"):format(
      plan / plain))
  end
end

-- ---- what single passes give ----

local function linear(x, w, b) return la.linear(x, w, b) end
local function rows(x) return x / (x * x):sum(2, true):sqrt() end

local function passes()
  local layer = {la.randn(1536, 384), la.randn(1536)}
  local net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
  local list = {
    {"fuse", "chain of five, 1e6 float32", chain, la.rand(1000000),
      la.rand(1000000)},
    {"fuse", "chain of five, 64 float32", chain, la.rand(64), la.rand(64)},
    {"fuse", "50 sums, 4 float32", steps_of(50), la.rand(4)},
    {"fuse", "rows over their norm, 512 x 768", rows, la.randn(512, 768)},
    {"fuse", "rows over their norm, 4 x 64", rows, la.randn(4, 64)},
    {"pack", "MLP 64-128-10, batch 16", function(x)
      return la.no_grad(net, x)
    end, la.randn(16, 64)},
    {"pack", "linear layer 384 to 1536, batch 32", function(x)
      return linear(x, layer[1], layer[2])
    end, la.randn(32, 384)},
  }
  print("| pass | case | without | with | with / without |\n"
    .. "| --- | --- | --- | --- | --- |")
  for _, case in ipairs(list) do
    local with, without
    local f = la.compile(case[3])
    local g = la.compile(case[3], {without = {case[1]}})
    for _ = 1, tonumber(option.rounds) do
      with = better(with, least(f, table.unpack(case, 4)) / 1000)
      without = better(without, least(g, table.unpack(case, 4)) / 1000)
    end
    print(("| `%s` | %s | %.2f | %.2f | %.2f |"):format(case[1], case[2],
      without, with, with / without))
  end
end

costs()
print()
passes()
