-- Arrays over ranks: every rank computes the whole too, and compares.
local la = require "lunarray"
local mpi = require "lunarray.mpi"
local rank, size = mpi.rank, mpi.size

local function same(got, want, name)
  if mpi.is_array(got) then
    local n, before = mpi.part(want:size(got.dim), rank, size)
    assert(got:to_block():equal(want:narrow(got.dim, before + 1, n)),
      name .. ": the block")
    assert(table.concat(got.shape, " ") == table.concat(want.shape, " "), name)
    got = got:full()
  end
  assert(got.dtype == want.dtype, name .. ": " .. got.dtype)
  assert(got:equal(want), ("%s: %s, not %s"):format(name, tostring(got),
    tostring(want)))
end

local function close(got, want, name)
  if mpi.is_array(got) then got = got:full() end
  assert(la.allclose(got, want, {rtol = 1e-12, atol = 1e-12}), name)
end

la.manual_seed(3)
local F64 = {dtype = "float64"}
local x, y = la.randn(7, 5, 3, F64), la.rand(7, 5, 3, F64)

for dim = 1, 3 do
  local a, b = mpi.distribute(x, dim), mpi.distribute(y, dim)
  same(a, x, "distribute")
  same(a + b * 2 - 1, x + y * 2 - 1, "arithmetic")
  same(2 ^ a, 2 ^ x, "number first")
  same(-a / b, -x / y, "division")
  same(a:exp():clamp(0, 3), x:exp():clamp(0, 3), "methods")
  same(a:lt(b), x:lt(y), "comparison")
  same(a:maximum(b), x:maximum(y), "two arrays")
  same(a + y, x + y, "with a whole tensor")
  same(a + y[1], x + y[1], "broadcast")
  same(a + y:narrow(2, 2, 1), x + y:narrow(2, 2, 1), "broadcast of size 1")
  same(a:clone():add_(b), x + y, "in place")
  same(a:float(), x:float(), "to a dtype")
  for _, d in ipairs{1, 2, 3, -1} do
    close(a:sum(d), x:sum(d), "sum")
    close(a:mean(d), x:mean(d), "mean")
    close(a:var(d), x:var(d), "var")
    same(a:amax(d), x:amax(d), "amax")
    same(a:amin(d), x:amin(d), "amin")
    close(a:prod(d), x:prod(d), "prod")
  end
  close(a:sum(), x:sum(), "sum of all")
  close(a:sum{1, 3}, x:sum{1, 3}, "sum over two dims")
  close(a:std(), x:std(), "std")
  close(a:norm(), x:norm(), "norm")
  same(a:max(), x:max(), "max")
  assert(a:gt(-100):all() and not a:gt(100):any())
  for other = 1, 3 do same(a:redistribute(other), x, "redistribute") end
  local ok, text = pcall(function() return a:cumsum(1) end)
  assert(not ok and text:find("'cumsum' of mpi.array", 1, true), text)
end
assert(not pcall(function()
  return mpi.distribute(x, 1) + mpi.distribute(x, 2)
end))
assert(not pcall(mpi.distribute, x, 4))
same(mpi.distribute(la.tensor{3, 1}):amax(), la.tensor(3), "fewer than ranks")

-- Blocks of any lengths are evened out.
local n = rank == 2 and 6 or 0
same(mpi.from_blocks(la.arange(2 * n):reshape(n, 2)), la.arange(12)
  :reshape(6, 2), "from_blocks")

-- Products.
local a, b = la.randn(9, 6, F64), la.randn(6, 5, F64)
local rows, columns = mpi.distribute(a, 1), mpi.distribute(a, 2)
close(rows:matmul(b), a:matmul(b), "rows by whole")
close(rows:matmul(mpi.distribute(b, 1)), a:matmul(b), "rows by rows")
close(rows:matmul(mpi.distribute(b, 2)), a:matmul(b), "rows by columns")
close(columns:matmul(mpi.distribute(b, 1)), a:matmul(b), "columns by rows")
close(columns:matmul(b), a:matmul(b), "columns by whole")
assert(not pcall(rows.matmul, rows, a))

-- Halos, also wider than a block.
local t = la.arange(10):double()
for width = 1, 4 do
  local padded = la.cat({la.zeros(width, F64), t, la.zeros(width, F64)}, 1)
  local d = mpi.distribute(t)
  same(d:halo(width), padded:narrow(1, d.first, d.count + 2 * width), "halo")
  local ring = la.cat({t:narrow(1, 11 - width, width), t,
    t:narrow(1, 1, width)}, 1)
  same(d:halo(width, "periodic"), ring:narrow(1, d.first, d.count + 2 * width),
    "halo round")
end
local image = la.randn(1, 1, 11, 8, F64)
local kernel = la.randn(1, 1, 3, 3, F64)
close(mpi.distribute(image, 3):stencil(1, function(block)
  return la.conv2d(block, kernel, nil, {padding = {0, 1}})
end), la.conv2d(image, kernel, nil, {padding = 1}), "convolution")

-- Sorting.
for _, values in ipairs{la.randn(101), la.zeros(50), la.arange(37):flip(1),
  la.tensor{2.0, 0 / 0, 1, 0 / 0, 3}, la.randint(0, 4, {60}), la.zeros(0)} do
  local got = mpi.distribute(values):sort():full()
  local want = values:sort()
  assert(got:nan_to_num(9):equal(want:nan_to_num(9)), tostring(got))
end

-- Random numbers: those of one rank alone.
local alone = mpi.split(rank)
for _, dim in ipairs{1, 2} do
  local many = mpi.randn({300, 200}, dim, 5)
  same(many, mpi.randn({300, 200}, dim, 5, {comm = alone}):to_block(),
    "random numbers")
end
local u = mpi.rand({40000}, 1, 8)
local m = u:mean():item()
assert(math.abs(m - 0.5) < 0.01 and not u:full():narrow(1, 1, 10)
  :equal(mpi.rand({40000}, 1, 9):full():narrow(1, 1, 10)))

-- Files.
local name = mpi.bcast_value(rank == 1 and os.tmpname() or nil)
local path = name .. ".npy"
for dim = 1, 3 do
  for _, dtype in ipairs{"float64", "int32", "bool", "complex64"} do
    local whole = x:to(dtype)
    mpi.distribute(whole, dim):save(path)
    mpi.barrier()
    assert(la.load(path):equal(whole), "saved " .. dtype)
    mpi.barrier()
    same(mpi.load_array(path, 4 - dim), whole, "loaded " .. dtype)
  end
end
if rank == 1 then la.save(x:narrow(1, 1, 2), path) end
same(mpi.load_array(path, 2), x:narrow(1, 1, 2), "from a file of la.save")
if rank == 1 then
  local file = io.open(path, "rb")
  local bytes = file:read "a"
  file:close()
  file = io.open(path, "wb")
  file:write(bytes:sub(1, -9))
  file:close()
end
local ok, text = pcall(mpi.load_array, path)
assert(not ok and text:find("rank 1: truncated", 1, true), text)
assert(not pcall(mpi.load_array, path .. ".none"))
ok, text = pcall(function() mpi.distribute(x):save("/nowhere/x.npy") end)
assert(not ok and text:find("/nowhere/x.npy", 1, true), text)
if rank == 1 then os.remove(path) os.remove(name) end
print("rank " .. rank .. " is done")
