-- Whole computations: as they are written, and compiled (la.compile).
--
--   lua5.4 bench/programs.lua [--cases PATTERN] [--rounds N]
--     [--python PYTHON [--torch PYTHON]] [--costs 1]
--
-- One thread. Each round measures a case both ways by turns, the least time
-- counts. With --python, jax.jit is measured in that interpreter, with --torch
-- PyTorch's eager mode, by peers/programs_peers.py, in the same rounds. Prints
-- a table of Markdown: microseconds, compiled / plain, compiled / best peer.
-- With --costs it prints what a call costs besides the kernels, in nanoseconds,
-- and no cases.
package.path = "bench/?.lua;lua/?.lua;lua/?/init.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local timing = require "timing"

local option = require "options"("programs.lua", {cases = "", rounds = "3",
  python = "", torch = "", costs = ""}, {})
la.set_num_threads(1)

-- ---- the cases, in the order of programs_peers.py ----

local function grad_of(f)
  return function(...)
    local leaves = {...}
    for k, x in ipairs(leaves) do leaves[k] = x:detach():requires_grad_() end
    return la.grad(f(table.unpack(leaves)):sum(), leaves)
  end
end

local function normal(x) return (1 + (x * 0.7071067811865476):erf()) * 0.5 end
local function black_scholes(s, k, t)
  local root = t:sqrt() * 0.2
  local d1 = ((s / k):log() + t * 0.05) / root
  return s * normal(d1) - k * (t * -0.03):exp() * normal(d1 - root)
end

local function bodies(p, v)
  local d = p:unsqueeze(1) - p:unsqueeze(2)
  local r = (d * d):sum(3, true) + 0.01
  v = v + (d / (r * r:sqrt())):sum(2) * 0.001
  return p + v * 0.001, v
end

local function training(net, loss, rate)
  local opt = optim.SGD(net:parameters(), {lr = rate})
  return function(x, y)
    opt:zero_grad()
    local l = loss(net(x), y)
    l:backward()
    opt:step()
    return l:detach()
  end
end

local F64 = {dtype = "float64"}
local function chain(x, y) return ((x * 1.5 + y) * y - x):tanh() end
local function mlp()
  return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
end
local labels = la.ones({64}, {dtype = "int64"})

local cases = {
  {"chain of five, 1e6 float32", chain, la.rand(1000000), la.rand(1000000)},
  {"chain of five, 3e5 float64", chain, la.rand(300000, F64),
    la.rand(300000, F64)},
  {"chain with gradients, 3e5", grad_of(chain), la.rand(300000),
    la.rand(300000)},
  {"gelu and gradient, 3e5", grad_of(la.gelu), la.randn(300000)},
  {"silu and gradient, 3e5", grad_of(la.silu), la.randn(300000)},
  {"layer norm and gradient, 512 x 768", grad_of(function(x)
    return la.layer_norm(x, {768})
  end), la.randn(512, 768)},
  {"softmax cross entropy and gradient, 512 x 1000", grad_of(function(x)
    return -(x:log_softmax(2)[{{}, 1}])
  end), la.randn(512, 1000)},
  {"Black and Scholes, 1e6", black_scholes, la.rand(1000000) + 1,
    la.rand(1000000) + 1, la.rand(1000000) + 0.1},
  {"n-body step, 256", bodies, la.randn(256, 3), la.randn(256, 3)},
  {"squared distances, 512 x 512 x 3", function(a, b)
    return (a:unsqueeze(2) - b:unsqueeze(1)):square():sum(3)
  end, la.randn(512, 3), la.randn(512, 3)},
  {"MLP step 64-128-10, batch 64", training(mlp(), la.cross_entropy, 0.01),
    la.randn(64, 64), labels},
  {"MLP inference, batch 1", (function()
    local net = mlp()
    return function(x) return la.no_grad(net, x) end
  end)(), la.randn(1, 64)},
}

-- ---- measuring ----

local function least(f, ...)
  local args = {...}
  return timing.batches(function() return f(table.unpack(args)) end, 0.1).min
end

-- Microseconds by the number of the case, from one interpreter.
local function peer(python, what, number)
  if python == "" then return end
  local pipe = assert(io.popen(
    ("%s bench/peers/programs_peers.py %s %d 2>/dev/null")
    :format(python, what, number)))
  local text = pipe:read "a"
  pipe:close()
  return tonumber(text)
end

local function better(a, b) return a and b and math.min(a, b) or a or b end
local function text(x) return x and ("%.1f"):format(x) or "–" end
local function ratio(a, b) return a and b and ("%.2f"):format(a / b) or "–" end

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

local function costs()
  local empty = timing.batches(function() end).min
  print("| cost | ns |\n| --- | --- |")
  for n = 0, 8, 2 do
    local list, f = {}, la.compile(function() end)
    for k = 1, n do list[k] = "a" .. k end
    local call = load(("local f, %s = ... return function() f(%s) end"):format(
      n > 0 and table.concat(list, ", ") or "_", table.concat(list, ", ")))
    for k = 1, n do list[k] = la.ones(4) end
    local t = timing.batches(call(f, table.unpack(list))).min - empty
    print(("| call without a step, %d arguments | %.0f |"):format(n, t))
  end
  local x, before = la.ones(4), nil
  for _, n in ipairs{1, 51, 201} do
    local f = la.compile(steps_of(n))
    local t = timing.batches(function() f(x) end).min - empty
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

if option.costs ~= "" then
  costs()
  os.exit(true)
end

print("| case | plain | compiled | jax.jit | PyTorch | compiled / plain | "
  .. "compiled / best peer |\n| --- | --- | --- | --- | --- | --- | --- |")
for number, case in ipairs(cases) do
  if case[1]:find(option.cases, 1, true) then
    local step, plain, compiled, jax, torch = la.compile(case[2]), nil
    for _ = 1, tonumber(option.rounds) do
      plain = better(plain, least(case[2], table.unpack(case, 3)) / 1000)
      compiled = better(compiled, least(step, table.unpack(case, 3)) / 1000)
      jax = better(jax, peer(option.python, "jax", number))
      torch = better(torch, peer(option.torch, "torch", number))
    end
    print(("| %s | %s | %s | %s | %s | %s | %s |"):format(case[1], text(plain),
      text(compiled), text(jax), text(torch), ratio(compiled, plain),
      ratio(compiled, better(jax, torch))))
  end
end
