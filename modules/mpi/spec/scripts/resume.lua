-- Training that saves each step, and goes on from the file when there is one:
--   resume.lua file steps [die_at]: rank 2 is killed before that step.
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"

local path, steps, die_at = arg[1], tonumber(arg[2]), tonumber(arg[3])
local generator = la.Generator(3)
local x = la.randn(32, 6, {generator = generator})
local y = la.randn(32, 1, {generator = generator})

la.manual_seed(1)
local net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
local params = net:parameters()
local opt = mpi.zero(optim.Adam, params, {lr = 0.05})
local done = 0
local file = io.open(path)
if file then
  file:close()
  local kept = mpi.load(path)
  net:load_state_dict(kept.net)
  opt:load_state_dict(kept.opt)
  done = kept.done
end
mpi.broadcast(net)

while done < steps do
  if done + 1 == die_at and mpi.rank == 2 then
    local pid = io.open "/proc/self/stat":read "n"
    os.execute("kill -9 " .. pid)
  end
  opt:zero_grad()
  mpi.backward_shards(params, 4, 32, function(first, count)
    local out = net(x:narrow(1, first, count))
    return (out - y:narrow(1, first, count)):square():sum() / 32
  end)
  opt:step()
  done = done + 1
  mpi.save({net = net:state_dict(), opt = opt:state_dict(), done = done}, path)
end
local hash = 0
for _, p in ipairs(params) do hash = hash ~ la.hash(p:detach()) end
if mpi.rank == 1 then print(("weights %x"):format(hash)) end
