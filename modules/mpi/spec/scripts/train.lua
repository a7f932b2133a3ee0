-- Digits on all ranks: the loss of each batch, one line each, from rank 1.
--   train.lua dtype batches zero|whole|shards
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local data = require "lunarray.data"

local dtype, limit, kind = arg[1], tonumber(arg[2]), arg[3]
la.set_default_dtype(dtype)
local x = la.load "examples/data/digits_images.npy":to(dtype):div(16)
  :reshape(-1, 64)
local y = la.load "examples/data/digits_labels.npy":long() + 1
local set = data.TensorDataset(x:narrow(1, 1, 500), y:narrow(1, 1, 500))

-- Each rank begins with weights of its own: those of rank 1 hold for all.
la.manual_seed(mpi.rank)
local net = nn.Sequential(nn.Linear(64, 24), nn.Tanh(), nn.Linear(24, 10))
local params = net:parameters()
local parallel
if kind == "shards" then mpi.broadcast(net) else
  parallel = mpi.data_parallel(net, {bucket = 1000})
end
local opt = kind == "zero" and mpi.zero(optim.Adam, params, {lr = 1e-2})
  or optim.Adam(params, {lr = 1e-2})
local sampler = data.DistributedSampler(set, {batch_size = 64, seed = 7})
local loader = data.DataLoader(set, {sampler = sampler})

local function step(xb, yb)
  opt:zero_grad()
  local loss = la.cross_entropy(parallel(xb), yb) * sampler:weight()
  loss:backward()
  opt:step()
  return mpi.all_reduce(loss, "avg"):item()
end

-- Every rank has the whole batch, of which it computes its shards.
local whole = data.DistributedSampler(set, {batch_size = 64, seed = 7,
  rank = 1, size = 1})

local function shard_step(index)
  opt:zero_grad()
  local n = #index
  local loss = mpi.backward_shards(params, 8, n, function(first, count)
    local xb, yb = set:batch(index:narrow(1, first, count))
    return la.cross_entropy(net(xb), yb, {reduction = "sum"}) / n
  end)
  opt:step()
  return loss
end

local k = 0
for epoch = 1, 100 do
  sampler:set_epoch(epoch)
  whole:set_epoch(epoch)
  local batches = kind == "shards" and whole:batches() or loader:batches()
  for a, b in batches do
    k = k + 1
    if k > limit then break end
    local loss = kind == "shards" and shard_step(a) or step(a, b)
    if mpi.rank == 1 then print(("%a"):format(loss)) end
  end
  if k > limit then break end
end
local hash = 0
for _, p in ipairs(params) do hash = hash ~ la.hash(p:detach()) end
local hashes = mpi.all_gather_value(hash)
for _, other in ipairs(hashes) do assert(other == hash) end
if mpi.rank == 1 then print(("weights %d"):format(hash)) end
