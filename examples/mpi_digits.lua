-- Handwritten digits on all ranks: each computes its part of every batch, the
-- gradients are averaged during backward. The losses are those of one rank, to
-- rounding. A file is written each epoch; with the same file the next run, on
-- any number of ranks, goes on where it ended.
--
--   mpirun -n 4 lunarray examples/mpi_digits.lua [epochs [file.safetensors|-
--     [mlp|cnn [batch]]]]
--
-- What more ranks give grows with the work between two sums of gradients. The
-- fully connected network (mlp) adds up 50,826 numbers for 0.3 MFLOP a sample,
-- a few milliseconds an epoch: it shows the loss curve, not speed. The
-- convolutional one (cnn) has 30,634 for 5.4 MFLOP; modules/mpi/docs/mpi.md has
-- its times.

local la = require "lunarray"
local mpi = require "lunarray.mpi"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local data = require "lunarray.data"

local here = arg and arg[0] and arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
local EPOCHS = tonumber(arg and arg[1]) or 10
local path = arg and arg[2] ~= "-" and arg[2] or nil
local KIND = arg and arg[3] or "mlp"
local BATCH = tonumber(arg and arg[4]) or 64

local images = la.load(here .. "/data/digits_images.npy"):float():div(16)
local labels = la.load(here .. "/data/digits_labels.npy"):long() + 1
local all = data.TensorDataset(images:reshape(-1, 64), labels)
local held = la.range(#images):remainder(5):eq(0)
local function rows(mask) return mask:nonzero():reshape(-1) end
local train = data.Subset(all, rows(~held))
local test = data.Subset(all, rows(held))

la.manual_seed(1)
local net
if KIND == "cnn" then
  net = nn.Sequential(nn.Unflatten(2, {1, 8, 8}),
    nn.Conv2d(1, 32, 3, {padding = 1}), nn.ReLU(),
    nn.Conv2d(32, 32, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(64 * 2 * 2, 10))
else
  net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128),
    nn.ReLU(), nn.Linear(128, 10))
end
local parallel = mpi.data_parallel(net)
local opt = mpi.zero(optim.Adam, net:parameters(), {lr = 2e-3})
local sampler = data.DistributedSampler(train, {batch_size = BATCH, seed = 1})
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

local start, epochs = mpi.clock(), {}
for epoch = first, EPOCHS do
  mpi.barrier()
  local begun = mpi.clock()
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
  epochs[#epochs + 1] = mpi.clock() - begun
  if mpi.rank == 1 then
    print(("epoch %2d  loss %.6f"):format(epoch, sum:item() / #sampler))
  end
  if path then
    mpi.save({net = net:state_dict(), opt = opt:state_dict(), epoch = epoch},
      path)
  end
end

local spent = mpi.clock() - start

if mpi.rank == 1 then
  table.sort(epochs)
  local x, y = test:batch(la.range(#test))
  local right = la.no_grad(function() return net(x):argmax(2):eq(y) end)
  print(("%.4f of the held-out digits are read; %d rank(s), %.2f s, "
    .. "epochs of %.4f s (median), %.4f s (fastest)"):format(
    right:double():mean():item(), mpi.size, spent,
    epochs[(#epochs + 1) // 2] or 0, epochs[1] or 0))
end
