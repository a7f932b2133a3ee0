-- Every rank knows what all others send, and so what must come.
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local rank, size = mpi.rank, mpi.size
local F64 = {dtype = "float64"}
local ok, text

local function same(got, want, name)
  assert(la.is_tensor(got) and got.dtype == want.dtype, name)
  assert(got:equal(want), ("%s: rank %d got %s, not %s"):format(name, rank,
    tostring(got), tostring(want)))
end

local DTYPES = {"bool", "uint8", "int8", "uint16", "int16", "uint32", "int32",
  "uint64", "int64", "float16", "bfloat16", "float32", "float64", "complex32",
  "complex64", "complex128"}

-- Small integers, which every dtype but bool has exactly.
local function data(r, dtype, n)
  local t = la.arange(n or 7, {dtype = "int64"}):mul(r):remainder(5)
  return dtype == "bool" and t:gt(1) or t:to(dtype)
end

local function stacked(dtype, n)
  local list = {}
  for r = 1, size do list[r] = data(r, dtype, n):to(dtype) end
  return list
end

local function fold(list, f)
  local out = list[1]
  for k = 2, #list do out = f(out, list[k]) end
  return out
end

for _, dtype in ipairs(DTYPES) do
  local x, all = data(rank, dtype), stacked(dtype)
  same(mpi.all_gather(x), la.cat(all, 1), "all_gather " .. dtype)
  same(mpi.bcast(x:clone(), size), all[size], "bcast " .. dtype)
  local next_rank, last = rank % size + 1, (rank - 2) % size + 1
  local into = la.empty(7, {dtype = dtype})
  assert(mpi.sendrecv(x, next_rank, into, last) == last)
  same(into, all[last], "sendrecv " .. dtype)
  if dtype ~= "bool" then
    same(mpi.all_reduce(x), fold(all, la.add), "sum " .. dtype)
    same(mpi.all_reduce(x, "prod"), fold(all, la.mul), "prod " .. dtype)
  end
  if not dtype:find "complex" and dtype ~= "bool" then
    same(mpi.all_reduce(x, "min"), fold(all, la.minimum), "min " .. dtype)
    same(mpi.all_reduce(x, "max"), fold(all, la.maximum), "max " .. dtype)
  end
  if dtype == "bool" or dtype:find "^u?int" then
    same(mpi.all_reduce(x, "and"), fold(all, la.bitwise_and), "and " .. dtype)
    same(mpi.all_reduce(x, "or"), fold(all, la.bitwise_or), "or " .. dtype)
  else
    assert(not pcall(mpi.all_reduce, x, "or"))
  end
end

-- One word for one dtype after another.
for _, dtype in ipairs(DTYPES) do
  if dtype ~= "bool" then
    same(mpi.all_reduce(data(rank, dtype)), fold(stacked(dtype), la.add),
      "sum again " .. dtype)
  end
end

-- float16: the sum of many is rounded once, not at each meeting of two.
local step = mpi.all_reduce(la.full({3}, rank == 1 and 2048 or 1,
  {dtype = "float16"}))
same(step, la.full({3}, 2048 + size - 1, {dtype = "float32"}):half(), "half")
same(mpi.all_reduce(la.tensor{rank + 0.0}, "avg"), la.tensor{(size + 1) / 2},
  "avg")
assert(not pcall(mpi.all_reduce, la.tensor{1}, "avg"))

-- A NaN on one rank is in the result of all; zeros have the lesser sign.
local nan = 0 / 0
for _, op in ipairs{"min", "max"} do
  local got = mpi.all_reduce(la.tensor{rank == size and nan or 1.0, 2.0}, op)
  assert(got[1]:item() ~= got[1]:item() and got[2]:item() == 2)
end
assert(1 / mpi.all_reduce(la.tensor{rank == 1 and -0.0 or 0.0}, "min"):item()
  < 0)

-- Strided, transposed, conjugated, of one element, empty.
local grid = la.arange(12):reshape(3, 4):add(rank):t()
local sums = mpi.all_reduce(grid)
same(sums, la.arange(12):reshape(3, 4):t() * size + size * (size + 1) // 2,
  "strided")
local wide = la.zeros(4, 6)
mpi.bcast(wide:t():narrow(1, 2, 3), 1)
mpi.all_reduce_(wide:narrow(2, 3, 2):fill_(rank), "max")
same(wide:narrow(2, 3, 2), la.full({4, 2}, size):float(), "in place, strided")
assert(wide:sum():item() == 8 * size)
local z = la.tensor({{1, rank}}, {dtype = "float64"})
local conj = la.complex(z:select(2, 1), z:select(2, 2)):conj()
assert(mpi.all_gather(conj).imag:sum():item() == -size * (size + 1) / 2)
assert(mpi.all_reduce(la.zeros(0)):numel() == 0)
same(mpi.all_gather(la.tensor(rank)), la.range(1, size):long(), "0-dim")

-- ragged
local own = la.full({rank - 1, 2}, rank)
local all, counts = mpi.all_gather(own, {ragged = true})
assert(all:size(1) == size * (size - 1) // 2 and counts[size] == size - 1)
assert(size == 1 or all:max():item() == size)
local at_root = mpi.gather(own, size, {ragged = true})
assert((at_root ~= nil) == (rank == size))
if at_root then same(at_root, all, "gather ragged") end
local eq = mpi.gather(la.full({2}, rank), 1)
if rank == 1 then
  same(eq, la.range(1, size):long():repeat_interleave(2), "gather")
end

-- scatter
local source = rank == 1 and la.arange(2 * size + 1):reshape(-1, 1) or nil
local part = mpi.scatter(source)
local n, before = mpi.part(2 * size + 1, rank, size)
same(part, (la.arange(n) + before):reshape(-1, 1), "scatter")
assert(mpi.scatter_value(rank == 1 and la.range(1, size):totable() or nil)
  == rank)

-- reduce, reduce_scatter, all_to_all
local whole = la.range(1, 3 * size):long()
local summed = mpi.reduce(whole, "sum", size)
if rank == size then same(summed, whole * size, "reduce") else
  assert(summed == nil)
end
same(mpi.reduce_scatter(whole), whole:narrow(1, 3 * rank - 2, 3) * size,
  "reduce_scatter")
local odd = la.ones(2 * size + 1)
local some = mpi.reduce_scatter(odd)
same(some, la.full({(mpi.part(2 * size + 1, rank, size))}, size):float(),
  "reduce_scatter, ragged")
same(mpi.all_to_all(la.full({size}, rank)), la.range(1, size):long(),
  "all_to_all")
local give = {}
for k = 1, size do give[k] = k end
local got, came = mpi.all_to_all(la.full({size * (size + 1) // 2}, rank),
  {counts = give})
assert(got:numel() == rank * size and came[1] == rank)
same(got, la.range(1, size):long():repeat_interleave(rank), "all_to_all counts")

-- Values.
local told = mpi.all_gather_value{rank = rank, list = {1, 2.5, "x", false},
  t = la.full({2, 2}, rank)}
for r = 1, size do
  assert(told[r].rank == r and told[r].list[4] == false)
  same(told[r].t, la.full({2, 2}, r), "value")
end
assert(mpi.bcast_value(rank == size and "tail" or nil, size) == "tail")
assert(mpi.gather_value(nil) == nil or rank == 1)
local loop = {}
loop.loop = loop
assert(not pcall(mpi.send_value, loop, 1))
assert(not pcall(mpi.send_value, print, 1))

-- Requests keep what they use; whoever waits sees the sender.
local box = la.zeros(1000)
local coming = mpi.irecv(box, (rank - 2) % size + 1, {tag = 5})
local going = mpi.isend(la.full({1000}, rank):float(), rank % size + 1,
  {tag = 5})
collectgarbage()
assert(coming:wait() == (rank - 2) % size + 1)
going:wait()
assert(going:test() and box:sum():item() == 1000 * ((rank - 2) % size + 1))
local cells = la.zeros(3, 2):t()
coming = mpi.irecv(cells, rank, {tag = 6})
mpi.isend(la.ones(2, 3), rank, {tag = 6})
collectgarbage()
coming:wait()
assert(cells:sum():item() == 6)

-- Time limits that are kept.
mpi.barrier{timeout = 60}
mpi.barrier{timeout = 60}
do
  local late = la.zeros(2)
  local request = mpi.irecv(late, rank, {tag = 9})
  ok, text = pcall(request.wait, request, 0.01)
  assert(not ok and text:find("not done within 0.01 seconds", 1, true), text)
  mpi.isend(la.ones(2), rank, {tag = 9})
  assert(request:wait(60) == rank and late:sum():item() == 2)
end

-- Groups.
local half = mpi.split(rank % 2, -rank)
assert(half.size == (size + rank % 2) // 2)
assert(half:all_reduce(la.tensor(rank), "max"):item()
  == (rank % 2 == size % 2 and size or size - 1))
assert(half.rank == (half.size - (rank - 1) // 2))
half:free()
assert(mpi.split(rank == 1 and 0 or nil, 0) ~= nil or rank > 1)
assert(mpi.world:node().size == size)

-- Calls of at most 64 bytes give the same as one.
local raw = require "lunarray.mpi.load"
raw.chunk(64)
local long = la.arange(1000):double() + rank
same(mpi.all_reduce(long), la.arange(1000):double() * size
  + size * (size + 1) / 2, "cut all_reduce")
same(mpi.bcast(long:clone(), 2 % size + 1), la.arange(1000):double()
  + 2 % size + 1, "cut bcast")
same(mpi.all_gather(long):narrow(1, 1000 * (size - 1) + 1, 1000),
  la.arange(1000):double() + size, "cut all_gather")
same(mpi.reduce_scatter(la.ones(100 * size)), la.full({100}, size):float(),
  "cut reduce_scatter")
mpi.sendrecv(long, rank % size + 1, box:double(), (rank - 2) % size + 1)
raw.chunk(1 << 30)

-- Prepared calls see what is in the memory when they are called.
do
  local x = la.full({4}, rank, F64)
  local sum = mpi.all_reduce_init(x)
  for k = 1, 3 do
    x:fill_(rank * k)
    sum()
    same(x, la.full({4}, k * size * (size + 1) / 2, F64), "all_reduce_init")
  end
  local most = mpi.world:all_reduce_init(la.tensor{rank}, "max")
  most()
  local box2 = la.full({2}, rank)
  mpi.bcast_init(box2, size)()
  same(box2, la.full({2}, size), "bcast_init")
  local small, large = la.full({2}, rank), la.zeros(2 * size):long()
  local gather = mpi.all_gather_init(small, large)
  gather()
  same(large, la.range(1, size):long():repeat_interleave(2), "all_gather_init")
  small, large = la.full({size}, rank), la.zeros(size):long()
  mpi.all_to_all_init(small, large)()
  same(large, la.range(1, size):long(), "all_to_all_init")
  small, sum = nil, nil
  collectgarbage()
  gather()
  assert(not pcall(mpi.all_reduce_init, la.ones(2, 2):t()))
  assert(not pcall(mpi.all_reduce_init, la.ones(2):half()))
  assert(not pcall(mpi.all_reduce_init, la.ones(2), "avg"))
  assert(not pcall(mpi.all_reduce_init, {}))
  assert(not pcall(mpi.bcast_init, la.ones(2), size + 1))
  assert(not pcall(mpi.all_gather_init, la.ones(2), la.ones(2 * size + 1)))
  assert(not pcall(mpi.all_gather_init, large, large) or size == 0)
  assert(not pcall(mpi.all_to_all_init, la.ones(size), la.ones(size):double()))
  -- What is saved for backward is not changed behind its back.
  local w = la.ones(3, {requires_grad = true})
  local v = w * 2
  local y = v * v
  mpi.all_reduce_init(v:detach())()
  assert(not pcall(y.backward, y:sum()))
end

-- Results into memory that is there; never over what is sent.
do
  local out = la.zeros(size, 3):long()
  assert(mpi.all_gather(la.full({3}, rank), {out = out}) == out)
  same(out, la.range(1, size):long():reshape(-1, 1):expand(size, 3)
    :contiguous(), "all_gather into")
  out = la.zeros(size):long()
  assert(mpi.all_to_all(la.full({size}, rank), {out = out}) == out)
  same(out, la.range(1, size):long(), "all_to_all into")
  assert(not pcall(mpi.all_to_all, out, {out = out}))
  assert(not pcall(mpi.all_gather, out:narrow(1, 1, 1), {out = out}))
  assert(not pcall(mpi.all_gather, out, {out = la.zeros(size)}))
  assert(not pcall(mpi.all_gather, out, {out = la.ones(2, size * size):long()
    :t()}))
end

-- Graphs that saved a value refuse the one that came.
local w = la.ones(3, {requires_grad = true})
local v = w * 2
local y = v * v
mpi.all_reduce_(v:detach())
assert(not pcall(y.backward, y:sum()))

-- Arguments.
assert(not pcall(mpi.send, {1}, 1))
ok, text = pcall(function() mpi.all_reduce_({1}) end)
assert(not ok and text:find("^%S*communicate.lua:%d+: bad argument"), text)
ok, text = pcall(function() mpi.world:all_reduce_(7) end)
assert(not ok and text:find("^%S*communicate.lua:%d+: bad argument"), text)
assert(not pcall(mpi.world.all_reduce_))
half = mpi.split(0)
sums = half:all_reduce_init(la.ones(1))
half:free()
assert(not pcall(half.all_reduce_, half, la.ones(1)) and not pcall(sums))
assert(not pcall(mpi.send, la.ones(1), size + 1))
assert(not pcall(mpi.bcast, la.ones(1), 0))
assert(not pcall(mpi.all_reduce, la.ones(1), "mean"))
assert(not pcall(mpi.all_reduce, la.ones(1):gt(0), "sum"))
assert(not pcall(mpi.recv, la.ones(1, {device = "meta"}), 1))
mpi.barrier()
print("rank " .. rank .. " is done")
