-- lunarray.mpi.array_reduce: what joins the blocks of an array: reductions,
-- products, sorting, random numbers, files.
local la = require "lunarray"
local raw = require "lunarray.mpi.load"
local Comm = require "lunarray.mpi.comm"
local array = require "lunarray.mpi.array"
local is_tensor = require "lunarray.tensors".is_tensor

local Array, wrap = array.methods, array.wrap

-- ---- reductions ----

-- The dims that are reduced, as a set; nil: all.
local function dims_of(self, dim)
  local set = {}
  if dim == nil then
    for d = 1, self.ndim do set[d] = true end
    return set
  end
  for _, d in ipairs(type(dim) == "table" and dim or {dim}) do
    if d < 0 then d = d + self.ndim + 1 end
    if d < 1 or d > self.ndim then
      error(("mpi: dim %d of %s"):format(d, tostring(self)), 4)
    end
    set[d] = true
  end
  return set
end

-- Shape without the reduced dims, and what the blocks' dim is then.
local function rest_of(self, set)
  local shape, dim = {}, nil
  for d = 1, self.ndim do
    if not set[d] then
      shape[#shape + 1] = self.shape[d]
      if d == self.dim then dim = #shape end
    end
  end
  return shape, dim
end

-- local_f(block, dims) reduces a block; blocks are joined by 'op'. Where the
-- blocks' dim is reduced all ranks have the result, a tensor.
local function reduced(self, dim, op, local_f)
  local set, list = dims_of(self, dim), {}
  for d in pairs(set) do list[#list + 1] = d end
  table.sort(list)
  local shape, rest = rest_of(self, set)
  local t = local_f(self.block, list)
  if rest then return wrap(self.comm, t, rest, shape) end
  return self.comm:all_reduce_(t:contiguous(), op)
end

function Array:sum(dim)
  return reduced(self, dim, "sum", function(t, dims) return t:sum(dims) end)
end

function Array:prod(dim)
  return reduced(self, dim, "prod", function(t, dims)
    for k = #dims, 1, -1 do t = t:prod(dims[k]) end
    return t
  end)
end

-- The extreme of no elements is the other end of the dtype.
local function extreme(name, op, worst)
  Array[name] = function(self, dim)
    if self:numel() == 0 then
      error("mpi: " .. name .. " of no elements", 2)
    end
    return reduced(self, dim, op, function(t, dims)
      if t:numel() > 0 then return t[name](t, dims) end
      local sizes = {table.unpack(t.shape)}
      for k = #dims, 1, -1 do table.remove(sizes, dims[k]) end
      return la.full(sizes, worst(t.dtype), {dtype = t.dtype})
    end)
  end
end

local function limits(dtype)
  if dtype:find "float" then return {min = -math.huge, max = math.huge} end
  if dtype == "bool" then return {min = false, max = true} end
  return la.iinfo(dtype)
end
extreme("amax", "max", function(dtype) return limits(dtype).min end)
extreme("amin", "min", function(dtype) return limits(dtype).max end)
function Array:max() return self:amax() end
function Array:min() return self:amin() end

local function count_of(self, dim)
  local n = 1
  for d in pairs(dims_of(self, dim)) do n = n * self.shape[d] end
  return n
end

function Array:mean(dim) return self:sum(dim) / count_of(self, dim) end

-- By two passes; options: correction (1).
function Array:var(dim, options)
  local correction = options and options.correction or 1
  local n = count_of(self, dim)
  local mean, set = self:mean(dim), dims_of(self, dim)
  local sizes = {table.unpack(self.shape)}
  for d in pairs(set) do sizes[d] = 1 end
  local centre
  if is_tensor(mean) then centre = mean:reshape(sizes) else
    sizes[self.dim] = self.count
    centre = wrap(self.comm, mean.block:reshape(sizes), self.dim, self.shape)
    centre.shape = {table.unpack(sizes)}
    centre.shape[self.dim] = self.shape[self.dim]
  end
  return (self - centre):square():sum(dim) / (n - correction)
end
function Array:std(dim, options) return self:var(dim, options):sqrt() end

function Array:any()
  return self.comm:all_reduce(la.tensor(self.block:any()), "or"):item()
end
function Array:all()
  return self.comm:all_reduce(la.tensor(self.block:all()), "and"):item()
end

-- The 2-norm of all elements.
function Array:norm() return self:abs():square():sum():sqrt() end

-- ---- products ----

-- c = sum over the blocks of b, which go round the ring: f(c, block, from, n).
local function around(b, f)
  local comm, t = b.comm, b.block:contiguous()
  local right, left = comm.rank % comm.size + 1,
    (comm.rank - 2) % comm.size + 1
  for k = 0, comm.size - 1 do
    local owner = (comm.rank - 1 - k) % comm.size + 1
    local n, before = Comm.part(b.shape[b.dim], owner, comm.size)
    local going, coming, next_t
    if k < comm.size - 1 then
      local next_owner = (comm.rank - 2 - k) % comm.size + 1
      local sizes = {table.unpack(t.shape)}
      sizes[b.dim] = Comm.part(b.shape[b.dim], next_owner, comm.size)
      next_t = la.empty(sizes, {dtype = t.dtype})
      -- The next block is under way while this one is worked on.
      coming = comm:irecv(next_t, left, {tag = 32000})
      going = comm:isend(t, right, {tag = 32000})
    end
    f(t, before + 1, n)
    if going then
      going:wait()
      coming:wait()
      t = next_t
    end
  end
end

-- Matrices: rows of a by blocks of b round a ring (b in blocks of rows or of
-- columns, or whole on all ranks), columns of a by rows of b as sums.
function Array:matmul(b)
  local whole = is_tensor(b)
  if self.ndim ~= 2 or b.ndim ~= 2 or self.shape[2] ~= b:size(1) then
    error(("mpi.matmul: %s by %s"):format(tostring(self), whole and
      "{" .. table.concat(b.shape, ", ") .. "}" or tostring(b)), 2)
  end
  local shape = {self.shape[1], b:size(2)}
  if self.dim == 1 and whole then
    return wrap(self.comm, self.block:matmul(b), 1, shape)
  end
  if self.dim == 1 then
    local c = la.zeros({self.count, shape[2]}, {dtype = self.dtype})
    around(b, function(block, from, n)
      if b.dim == 1 then
        c:addmm_(self.block:narrow(2, from, n), block)
      else
        c:narrow(2, from, n):copy_(self.block:matmul(block))
      end
    end)
    return wrap(self.comm, c, 1, shape)
  end
  local rows = whole and b:narrow(1, self.first, self.count) or b.block
  if not whole and b.dim ~= 1 then
    error("mpi.matmul: columns by columns: redistribute one of them", 2)
  end
  local c = self.comm:reduce_scatter(self.block:matmul(rows))
  return wrap(self.comm, c, 1, shape)
end

-- ---- sorting ----

-- How many elements of the sorted x are at most v; NaN are behind all others.
local function upto(x, v)
  if v ~= v then return x:numel() end
  return la.searchsorted(x, la.tensor({v}, {dtype = x.dtype}),
    {right = true}):item() - 1
end

-- Sorted, ascending; arrays of one dim. Sample sort: splitters out of regular
-- samples of all blocks, one exchange, and blocks are evened out.
function Array:sort()
  if self.ndim ~= 1 or self.dtype:find "complex" then
    error("mpi.sort: an array of one dim with an order expected", 2)
  end
  local comm, x = self.comm, (self.block:sort())
  local n, samples = x:numel(), {}
  for k = 1, n > 0 and comm.size or 0 do
    samples[k] = x[(k * n - n // 2 - 1) // comm.size + 1]:reshape(1)
  end
  local own = samples[1] and la.cat(samples, 1) or x
  local all = comm:all_gather(own, {ragged = true}):sort()
  local counts, at = {}, 0
  for rank = 1, comm.size do
    local upper = n
    if rank < comm.size and all:numel() > 0 then
      local k = rank * all:numel() // comm.size
      upper = k > 0 and math.max(upto(x, all[k]:item()), at) or at
    end
    counts[rank] = upper - at
    at = upper
  end
  local come = comm:all_to_all(x, {counts = counts}):sort()
  return array.from_blocks(come, 1, comm)
end

-- ---- random numbers ----

-- Whole rows are drawn in groups of about this many numbers, each from its own
-- generator: what a group has depends on seed and shape alone.
local GROUP = 1 << 14

local function drawn(name)
  return function(shape, dim, seed, options)
    options = options or {}
    return array.from_function(shape, dim, function(sizes, first)
      local along, rest = dim or 1, 1
      for d, size in ipairs(sizes) do
        if d ~= along then rest = rest * size end
      end
      local rows = math.max(1, GROUP // math.max(rest, 1))
      local parts, at, last = {}, first, first + sizes[along] - 1
      local group_sizes = {table.unpack(sizes)}
      group_sizes[along] = rows
      while at <= last do
        local group = (at - 1) // rows
        local generator = la.Generator((seed * 0x9E3779B97F4A7C15 + group)
          & 0x7FFFFFFFFFFFFFFF)
        local all = la[name](group_sizes, {generator = generator,
          dtype = options.dtype})
        local skip = at - 1 - group * rows
        local n = math.min(rows - skip, last - at + 1)
        parts[#parts + 1] = all:narrow(along, skip + 1, n)
        at = at + n
      end
      if #parts == 0 then return la.empty(sizes, {dtype = options.dtype}) end
      return la.cat(parts, along)
    end, options.comm)
  end
end

-- mpi.rand(shape, dim, seed, {dtype}): the same numbers on any number of ranks.
array.rand, array.randn = drawn "rand", drawn "randn"

-- ---- files ----

local DESCRIPTIONS = {bool = "|b1", uint8 = "|u1", int8 = "|i1",
  uint16 = "<u2", int16 = "<i2", uint32 = "<u4", int32 = "<i4",
  uint64 = "<u8", int64 = "<i8", float16 = "<f2", float32 = "<f4",
  float64 = "<f8", complex64 = "<c8", complex128 = "<c16"}

local function header_of(dtype, shape)
  local text = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }")
    :format(DESCRIPTIONS[dtype], table.concat(shape, ", "),
      #shape == 1 and "," or "")
  local gap = -(10 + #text + 1) % 64
  return "\x93NUMPY\1\0" .. string.pack("<s2", text .. (" "):rep(gap) .. "\n")
end

-- Sizes for raw.file: blocks along one dim of an array in row-major order.
local function layout(shape, dim, first, count)
  local outer, inner = 1, 1
  for d = 1, dim - 1 do outer = outer * shape[d] end
  for d = dim + 1, #shape do inner = inner * shape[d] end
  return outer, shape[dim], first - 1, count, inner
end

-- Each rank has nil or what went wrong; all raise the first of these, and the
-- file that was begun goes.
local function agree(comm, name, path, wrong, begun)
  for rank, text in pairs(comm:all_gather_value(wrong or false)) do
    if text then
      if begun and comm.rank == 1 then os.remove(begun) end
      error(("mpi.%s: '%s': rank %d: %s"):format(name, path, rank, text), 3)
    end
  end
end

-- To one .npy, written by all ranks at once. It is written next to the old file
-- and takes its name when it is whole.
function Array:save(path)
  local comm, temporary = self.comm, path .. ".part"
  if not DESCRIPTIONS[self.dtype] then
    error("mpi.save: .npy has no " .. self.dtype, 2)
  end
  local header = header_of(self.dtype, self.shape)
  local wrong
  if comm.rank == 1 then
    local file, text = io.open(temporary, "wb")
    wrong = text
    if file then
      local ok
      ok, wrong = file:write(header)
      if ok then ok, wrong = file:close() else file:close() end
      if ok then
        wrong = raw.reserve(temporary,
          #header + self:numel() * self.block:element_size())
      end
    end
  end
  agree(comm, "save", path, wrong, temporary)
  local outer, whole, first, count, inner = layout(self.shape, self.dim,
    self.first, self.count)
  agree(comm, "save", path, raw.file(comm.id, temporary,
    self.block:contiguous(), true, outer, whole, first, count, inner, #header),
    temporary)
  wrong = nil
  if comm.rank == 1 then
    local ok, text = os.rename(temporary, path)
    wrong = not ok and text or nil
  end
  agree(comm, "save", path, wrong, temporary)
end

-- dtype, shape and where the data begins; nil and what is wrong.
local function read_header(path)
  local file, text = io.open(path, "rb")
  if not file then return nil, text end
  local head = file:read(10) or ""
  local size = file:seek "end"
  file:seek("set", 10)
  if #head < 10 or head:sub(1, 8) ~= "\x93NUMPY\1\0" then
    file:close()
    return nil, "no .npy of version 1"
  end
  local words = file:read((string.unpack("<I2", head, 9))) or ""
  file:close()
  local descr = words:match "'descr'%s*:%s*'([^']*)'"
  local list = words:match "'shape'%s*:%s*%(([%d%s,]*)%)"
  local dtype
  for name, other in pairs(DESCRIPTIONS) do
    if other == descr then dtype = name end
  end
  if not dtype or not list then return nil, "malformed header" end
  if words:find "'fortran_order'%s*:%s*True" then
    return nil, "columns first (fortran_order)"
  end
  local shape, n = {}, la.empty(0, {dtype = dtype}):element_size()
  for digits in list:gmatch "%d+" do
    shape[#shape + 1] = math.tointeger(tonumber(digits))
    n = n * shape[#shape]
  end
  if #shape == 0 then return nil, "an array without dims" end
  local start = 10 + #words
  if size < start + n then
    return nil, ("truncated: %d bytes, not %d"):format(size, start + n)
  end
  return {dtype = dtype, shape = shape, start = start}
end

-- The .npy in blocks along a dim (1); each rank reads its own.
function array.load_array(path, dim, comm)
  comm = comm or array.world
  local head, wrong
  if comm.rank == 1 then head, wrong = read_header(path) end
  agree(comm, "load_array", path, wrong)
  head = comm:bcast_value(head)
  dim = dim or 1
  if dim < 1 or dim > #head.shape then
    error(("mpi.load_array: dim %d of an array of %d"):format(dim,
      #head.shape), 2)
  end
  local out = array.from_function(head.shape, dim, function(sizes)
    return la.empty(sizes, {dtype = head.dtype})
  end, comm)
  local outer, whole, first, count, inner = layout(head.shape, dim, out.first,
    out.count)
  agree(comm, "load_array", path, raw.file(comm.id, path, out.block, false,
    outer, whole, first, count, inner, head.start))
  return out
end
