-- Whole computations: as they are written, and compiled (la.compile).
--
--   lua5.4 bench/programs.lua [--cases PATTERN] [--rounds N]
--     [--jax PYTHON] [--torch PYTHON] [--costs 1]
--
-- One thread. Each round measures all cases both ways, the least time counts.
-- With --jax, jax.jit is measured in that interpreter, with --torch PyTorch's
-- eager mode and torch.compile, by peers/programs_peers.py, in the same rounds.
-- Where LUNARRAY_CPU lowers the CPU path, the peers are lowered like it. Prints
-- a table of Markdown: microseconds, compiled / plain, compiled / best peer.
-- With --costs it prints what a call costs besides the kernels, in nanoseconds,
-- and no cases.
package.path = "bench/?.lua;lua/?.lua;lua/?/init.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local timing = require "timing"
local lowered = require "lowered"

local option = require "options"("programs.lua", {cases = "", rounds = "3",
  jax = "", torch = "", costs = ""}, {})
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
  {"convolutional net step, batch 64 of 28 x 28", training(nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(1352, 10)), la.cross_entropy, 0.01), la.randn(64, 1, 28, 28),
    labels},
  {"transformer block step, 64 x 384", training(nn.TransformerEncoderLayer(384,
    6, {dim_feedforward = 1536, dropout = 0, activation = "gelu",
    norm_first = true}), function(y) return y:square():mean() end, 0.01),
    la.randn(64, 384)},
}

-- ---- measuring ----

-- Microseconds of a call: the least of many batches, in time of the processor,
-- which others that use it make no longer.
local function least(f, ...)
  local n, best, stop, args = 1, math.huge, 0, {...}
  for _ = 1, 3 do f(...) end
  local function batch()
    local begun = os.clock()
    for _ = 1, n do f(table.unpack(args)) end
    return os.clock() - begun
  end
  while batch() < 0.004 do n = n * 2 end
  stop = os.clock() + 0.2
  while os.clock() < stop do best = math.min(best, batch()) end
  return best / n * 1e6
end

-- Microseconds by the number of the case, of those that are wanted.
local function peer(python, what, numbers)
  local times = {}
  if python == "" then return times end
  local pipe = assert(io.popen(
    ("%s%s bench/peers/programs_peers.py %s %s 2>/dev/null")
    :format(lowered[os.getenv "LUNARRAY_CPU"] or "", python, what,
    table.concat(numbers, " "))))
  for _, number in ipairs(numbers) do
    times[number] = tonumber(pipe:read "l" or "")
  end
  pipe:close()
  return times
end

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

local wanted, best = {}, {}
for number, case in ipairs(cases) do
  if case[1]:find(option.cases, 1, true) then
    table.insert(wanted, number)
    best[number] = {}
    case.step = la.compile(case[2])
  end
end

local function better(number, what, time)
  local t = best[number]
  if time then t[what] = math.min(time, t[what] or time) end
end

for _ = 1, tonumber(option.rounds) do
  local peers = {jax = peer(option.jax, "jax", wanted),
    torch = peer(option.torch, "torch", wanted),
    compile = peer(option.torch, "compile", wanted)}
  for _, number in ipairs(wanted) do
    local case = cases[number]
    better(number, "plain", least(case[2], table.unpack(case, 3)))
    better(number, "compiled", least(case.step, table.unpack(case, 3)))
    for what, times in pairs(peers) do better(number, what, times[number]) end
  end
end

local function text(x) return x and ("%.1f"):format(x) or "–" end
local function ratio(a, b) return a and b and ("%.2f"):format(a / b) or "–" end
print("| case | plain | compiled | jax.jit | PyTorch | torch.compile "
  .. "| compiled / plain | compiled / best peer |\n"
  .. "| --- | --- | --- | --- | --- | --- | --- | --- |")
for _, number in ipairs(wanted) do
  local t = best[number]
  local peers = math.min(t.jax or math.huge, t.torch or math.huge,
    t.compile or math.huge)
  print(("| %s | %s | %s | %s | %s | %s | %s | %s |"):format(cases[number][1],
    text(t.plain), text(t.compiled), text(t.jax), text(t.torch),
    text(t.compile), ratio(t.compiled, t.plain),
    ratio(t.compiled, peers < math.huge and peers)))
end
