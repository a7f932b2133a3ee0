-- Resident memory of training steps, next to PyTorch: a table of Markdown in
-- MB. Each case runs in a process of its own: 'made' is what a process takes
-- that has made network, optimiser and batch, above one that has loaded the
-- library and trained a layer of 2 x 2 by a step; 'steps' what 30 steps add at
-- their peak, gradients and the state of the optimiser included. The columns
-- are the sum of both.
--
--   lua5.4 bench/program_memory.lua [--torch INTERPRETER]
--
-- One thread. The same cases in Python: peers/program_memory.py.
package.path = "bench/?.lua;lua/?.lua;lua/?/init.lua;" .. package.path
package.cpath = "build/?.so;" .. package.cpath

local CASES = {"MLP 64-128-10, batch 64", "MLP 784-1024-10, batch 256",
  "convolutional net, batch 64 of 28 x 28", "transformer block, 64 x 384"}

-- ---- a child: one case ----

-- Resident memory and its peak, in MB.
local function resident()
  local text = assert(io.open("/proc/self/status")):read("a")
  return tonumber(text:match("VmRSS:%s*(%d+)")) / 1024,
    tonumber(text:match("VmHWM:%s*(%d+)")) / 1024
end

local function make(la, nn, case)
  if case == 1 then
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)),
      la.randn(64, 64), 10
  elseif case == 2 then
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 10)),
      la.randn(256, 784), 10
  elseif case == 3 then
    return nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
      nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
      nn.Linear(800, 10)), la.randn(64, 1, 28, 28), 10
  end
  return nn.TransformerEncoderLayer(384, 6, {dim_feedforward = 1536,
    dropout = 0, batch_first = true}), la.randn(1, 64, 384)
end

local function child(case, way)
  local la = require "lunarray"
  local nn, optim = require "lunarray.nn", require "lunarray.optim"
  la.set_num_threads(1)
  -- What a library loads with its first step is not counted.
  local small = nn.Linear(2, 2)
  small(la.ones(2)):mean():backward()
  optim.Adam(small:parameters()):step()
  local base = resident()
  local net, x, classes = make(la, nn, case)
  local y = classes and la.randint(1, classes, {x:size(1)})
  local opt = optim.Adam(net:parameters(), {lr = 0.001})
  local function step(input, target)
    opt:zero_grad()
    local out = net(input)
    local loss = target and la.cross_entropy(out, target)
      or out:square():mean()
    loss:backward()
    opt:step()
    return loss
  end
  if way == "compiled" then step = la.compile(step) end
  local made = resident()
  for _ = 1, 30 do step(x, y) end
  local _, peak = resident()
  print(("%.2f %.2f %.2f"):format(base, made - base, peak - made))
end

if arg[1] == "--case" then
  child(tonumber(arg[2]), arg[3])
  return
end

-- ---- the parent ----

local option = require "options"("program_memory.lua", {torch = ""}, {})

local function ask(command)
  local pipe = assert(io.popen(command))
  local base, made, steps = pipe:read("n", "n", "n")
  pipe:close()
  assert(steps, command)
  return {base = base, made = made, steps = steps}
end

print("| case | plain | compiled | PyTorch | compiled / PyTorch |\n"
  .. "| --- | --- | --- | --- | --- |")
for k, name in ipairs(CASES) do
  local own = "lua5.4 bench/program_memory.lua --case " .. k
  local plain, compiled = ask(own .. " plain"), ask(own .. " compiled")
  local peer = option.torch ~= "" and ask(option.torch
    .. " bench/peers/program_memory.py " .. k)
  print(("| %s | %.1f | %.1f | %s | %s |"):format(name,
    plain.made + plain.steps, compiled.made + compiled.steps,
    peer and ("%.1f"):format(peer.made + peer.steps) or "",
    peer and ("%.2f"):format((compiled.made + compiled.steps)
      / (peer.made + peer.steps)) or ""))
  io.stdout:flush()
end
