-- Handwritten digits on all ranks: each computes its part of every batch, the
-- gradients are averaged during backward. The losses are those of one rank, to
-- rounding. A file is written each epoch; with the same file the next run, on
-- any number of ranks, goes on where it ended.
--
--   mpirun -n 4 lunarray examples/mpi_digits.lua [epochs] [file.safetensors]

local la = require "lunarray"
local mpi = require "lunarray.mpi"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local data = require "lunarray.data"

local here = arg and arg[0] and arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
local EPOCHS = tonumber(arg and arg[1]) or 10
local path = arg and arg[2]

local images = la.load(here .. "/data/digits_images.npy"):float():div(16)
local labels = la.load(here .. "/data/digits_labels.npy"):long() + 1
local all = data.TensorDataset(images:reshape(-1, 64), labels)
local held = la.range(#images):remainder(5):eq(0)
local function rows(mask) return mask:nonzero():reshape(-1) end
local train = data.Subset(all, rows(~held))
local test = data.Subset(all, rows(held))

la.manual_seed(1)
local net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128),
  nn.ReLU(), nn.Linear(128, 10))
local parallel = mpi.data_parallel(net)
local opt = mpi.zero(optim.Adam, net:parameters(), {lr = 2e-3})
local sampler = data.DistributedSampler(train, {batch_size = 64, seed = 1})
local loader = data.DataLoader(train, {sampler = sampler})

local first = 1
local file = path and mpi.rank == 1 and io.open(path)
if file then file:close() end
if mpi.bcast_value(file ~= nil and file ~= false) then
  local kept = mpi.load(path)
  net:load_state_dict(kept.net)
  opt:load_state_dict(kept.opt)
  first = kept.epoch + 1
end

local start = mpi.clock()
for epoch = first, EPOCHS do
  sampler:set_epoch(epoch)
  local sum = la.zeros(1, {dtype = "float64"})
  for x, y in loader:batches() do
    opt:zero_grad()
    local loss = la.cross_entropy(parallel(x), y) * sampler:weight()
    loss:backward()
    opt:step()
    sum:add_(loss:detach())
  end
  mpi.all_reduce_(sum, "avg")
  if mpi.rank == 1 then
    print(("epoch %2d  loss %.6f"):format(epoch, sum:item() / #sampler))
  end
  if path then
    mpi.save({net = net:state_dict(), opt = opt:state_dict(), epoch = epoch},
      path)
  end
end

if mpi.rank == 1 then
  local x, y = test:batch(la.range(#test))
  local right = la.no_grad(function() return net(x):argmax(2):eq(y) end)
  print(("%.4f of the held-out digits are read; %d rank(s), %.2f s"):format(
    right:double():mean():item(), mpi.size, mpi.clock() - start))
end
