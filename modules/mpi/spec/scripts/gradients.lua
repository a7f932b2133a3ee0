-- Averages of gradients: accumulated ones, parameters that a loss does not
-- reach, half precision, buffers; and files.
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local data = require "lunarray.data"
local rank, size = mpi.rank, mpi.size
local mean = (size + 1) / 2

-- The gradient on rank r is r: its average is the mean of ranks.
local Net = nn.class "Net"
function Net:init(dtype)
  self.used = nn.Parameter(la.full({3}, rank, {dtype = dtype}))
  self.seldom = nn.Parameter(la.ones(2, {dtype = dtype}))
  self:register_buffer("seen", la.full({2}, rank))
end
function Net:forward(both)
  local out = (self.used * rank):sum()
  return both and out + (self.seldom * 2 * rank):sum() or out
end

for _, dtype in ipairs{"float32", "float64", "bfloat16", "float16"} do
  local net = Net(dtype)
  local all = mpi.data_parallel(net, {bucket = 1})
  assert(net.used:eq(1):all() and net.seen:eq(1):all())
  all(true):backward()
  assert(net.used.grad:eq(mean):all(), dtype)
  assert(net.seldom.grad:eq(2 * mean):all(), dtype)
  assert(net.used.grad.dtype == dtype)
  -- Two batches on each rank, one exchange.
  net:zero_grad()
  all:no_sync(function() all(true):backward() end)
  assert(net.used.grad:eq(rank):all())
  all(true):backward()
  assert(net.used.grad:eq(2 * mean):all())
  -- What the loss does not reach is asked for before the next forward.
  net:zero_grad()
  all(false):backward()
  local ok, text = pcall(all, true)
  assert(not ok and text:find("did not reach seldom", 1, true), text)
  all:reduce()
  assert(net.used.grad:eq(mean):all())
  assert(net.seldom.grad:eq(0):all())
  assert(all:train() == net and all.training)
end

-- Samplers: parts make up the whole, in equal lengths or batch by batch.
local set = data.TensorDataset(la.range(1, 11))
local s = data.DistributedSampler(set, {seed = 4})
local seen = mpi.all_gather(s:indices())
assert(seen:unique():numel() == 11 and #s == -(-11 // size))
s:set_epoch(1)
assert(not mpi.all_gather(s:indices()):equal(seen))
s = data.DistributedSampler(set, {batch_size = 4, shuffle = false})
local rows = {}
for index in s:batches() do
  rows[#rows + 1] = mpi.all_gather(index, {ragged = true})
  assert(mpi.all_reduce(la.tensor(s:weight()), "avg"):item() == 1)
end
local kept = size == 4 and 8 or 11
assert(la.cat(rows, 1):equal(la.range(1, kept):long()) and #rows == #s)
assert(not pcall(data.DistributedSampler, set, {batch_size = size - 1}))
assert(not pcall(data.DistributedSampler, set, {rank = 9, size = 2}))

-- States in parts make the same weights, and the same dictionary, as whole.
la.manual_seed(5)
local a, b = nn.Linear(4, 3), nn.Linear(4, 3)
b:load_state_dict(a:state_dict())
local whole = optim.Adam(a:parameters(), {lr = 0.1})
local parts = mpi.zero(optim.Adam, b:parameters(), {lr = 0.1})
local function step(net, opt)
  opt:zero_grad()
  net(la.ones(2, 4)):square():sum():backward()
  opt:step()
end
for _ = 1, 3 do step(a, whole) step(b, parts) end
assert(a.weight:equal(b.weight) and a.bias:equal(b.bias))
local dict = parts:state_dict()
assert(dict.state[1].exp_avg:equal(whole:state_dict().state[1].exp_avg))
local fresh = optim.Adam(b:parameters(), {lr = 1})
fresh:load_state_dict(dict)
parts:load_state_dict(whole:state_dict())
step(a, whole)
step(b, parts)
assert(a.weight:equal(b.weight))

-- Files: any value comes back; a part of a file is an error on all ranks, and
-- so is a disk without space, after which the old file is still there.
local folder = mpi.bcast_value(rank == 1 and os.tmpname() or nil)
local path = folder .. ".safetensors"
mpi.save({name = "x", list = {1, 2.5, {la.ones(2, 2)}}, [7] = false}, path)
local back = mpi.load(path)
assert(back.name == "x" and back.list[3][1]:sum():item() == 4
  and back[7] == false)
if rank == 1 then
  local pid = io.open "/proc/self/stat":read "n"
  os.execute("prlimit --fsize=65536 --pid " .. pid)
end
local ok, text = pcall(mpi.save, {la.zeros(100000)}, path)
assert(not ok, "a full disk")
assert(mpi.load(path).name == "x")
local array = mpi.distribute(la.zeros(20000))
ok, text = pcall(array.save, array, path .. ".npy")
assert(not ok and text:find("rank 1: ", 1, true), text)
assert(rank > 1 or not io.open(path .. ".npy")
  and not io.open(path .. ".npy.part"))
if rank == 1 then
  local file = io.open(path, "rb")
  local bytes = file:read "a"
  file:close()
  file = io.open(path, "wb")
  file:write(bytes:sub(1, #bytes // 2))
  file:close()
end
ok, text = pcall(mpi.load, path)
assert(not ok and text:find(path, 1, true), text)
assert(not pcall(mpi.load, "examples/data/digits_labels.npy"))
assert(not pcall(mpi.save, {print}, path))
if rank == 1 then os.remove(path) os.remove(folder) end

-- Parameters of one size are shared out evenly, in the same way on all ranks.
for count = 1, 40 do
  local params, of = {}, {}
  for k = 1, count do params[k] = la.zeros(3, {requires_grad = true}) end
  local owner = mpi.zero(optim.SGD, params, {lr = 0.1}).owner
  for k = 1, count do of[owner[k]] = (of[owner[k]] or 0) + 1 end
  for r = 1, size do
    local share = of[r] or 0
    assert(share == count // size or share == (count - 1) // size + 1)
  end
  if count == 40 then
    local mine = la.tensor(owner)
    local first = mine:clone()
    mpi.bcast(first)
    assert(first:equal(mine), "owners differ")
  end
end
print("rank " .. rank .. " is done")
