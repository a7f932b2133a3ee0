-- lunarray.mpi.array: one array on all ranks, each with a block along one dim.
--
-- Blocks are those of Comm.part: lengths differ by one at most. Element-wise
-- operations are those of the registry that promote dtypes; what is not
-- distributed is an error, and nothing but full() gathers.
local la = require "lunarray"
local raw = require "lunarray.mpi.load"
local Comm = require "lunarray.mpi.comm"
local is_tensor = require "lunarray.tensors".is_tensor

local array = {}
local Array = {}        -- methods
array.methods = Array
local meta = {__name = "mpi.array"}

local function is_array(value) return getmetatable(value) == meta end
array.is_array = is_array

-- ---- making and unmaking ----

-- An array of that global shape whose block on this rank is t.
local function wrap(comm, t, dim, shape)
  local sizes = {}
  for d = 1, #shape do sizes[d] = shape[d] end
  local count, before = Comm.part(sizes[dim], comm.rank, comm.size)
  return setmetatable({comm = comm, block = t, dim = dim, shape = sizes,
    ndim = #sizes, dtype = t.dtype, first = before + 1, count = count}, meta)
end
array.wrap = wrap

local function check_dim(name, dim, ndim)
  if math.type(dim) == "integer" and dim < 0 then dim = dim + ndim + 1 end
  if math.type(dim) ~= "integer" or dim < 1 or dim > ndim then
    error(("mpi.%s: dim %s of an array of %d"):format(name, tostring(dim),
      ndim), 3)
  end
  return dim
end

-- t, which is the same on all ranks, in blocks along a dim (1): each rank keeps
-- its own. Nothing is sent.
function array.distribute(t, dim, comm)
  comm = comm or array.world
  if not is_tensor(t) then
    error("mpi.distribute: tensor expected, got " .. type(t), 2)
  end
  dim = check_dim("distribute", dim or 1, t.ndim)
  local count, before = Comm.part(t:size(dim), comm.rank, comm.size)
  return wrap(comm, t:narrow(dim, before + 1, count):clone(), dim, t.shape)
end

-- The blocks of all ranks, of any lengths along the dim (1), as an array; they
-- are evened out.
function array.from_blocks(t, dim, comm)
  comm = comm or array.world
  dim = check_dim("from_blocks", dim or 1, t.ndim)
  local counts = {}
  for rank, shape in ipairs(comm:all_gather_value({table.unpack(t.shape)})) do
    counts[rank] = shape[dim]
  end
  local shape, total = {table.unpack(t.shape)}, 0
  for _, n in ipairs(counts) do total = total + n end
  shape[dim] = total
  return wrap(comm, array.even_out(comm, t, dim, counts), dim, shape)
end

-- A function of the sizes and positions alone makes the array: f(sizes, first)
-- gives the block of those sizes that begins there along the dim.
function array.from_function(shape, dim, f, comm)
  comm = comm or array.world
  dim = check_dim("from_function", dim or 1, #shape)
  local sizes = {table.unpack(shape)}
  local count, before = Comm.part(shape[dim], comm.rank, comm.size)
  sizes[dim] = count
  return wrap(comm, f(sizes, before + 1), dim, shape)
end

-- The whole, on all ranks.
function Array:full()
  local t = self.block:movedim(self.dim, 1):contiguous()
  local all = self.comm:all_gather(t, {ragged = true})
  return all:movedim(1, self.dim):contiguous()
end

-- This rank's block, not a copy.
function Array:to_block() return self.block end

function Array:size(d)
  if d then return self.shape[check_dim("size", d, self.ndim)] end
  return {table.unpack(self.shape)}
end

function Array:numel()
  local n = 1
  for _, size in ipairs(self.shape) do n = n * size end
  return n
end

function meta:__tostring()
  return ("mpi.array %s {%s}, dim %d over %d ranks"):format(self.dtype,
    table.concat(self.shape, ", "), self.dim, self.comm.size)
end

-- ---- rows from one rank to another ----

-- Intervals of rows (dim 1 of t, contiguous) for each rank: wanted(rank) gives
-- a list of {first, last} of the whole; owned(rank) first and last of what the
-- rank has. Every rank computes both, so nothing is asked.
local function fetch(comm, t, owned, wanted)
  local row = 1
  for d = 2, t.ndim do row = row * t:size(d) end
  local sends, receipts = {}, {}
  local function overlaps(list, first, last, f)
    local at = 0
    for _, piece in ipairs(list) do
      local from, to = math.max(piece[1], first), math.min(piece[2], last)
      if from <= to then f(from, to, at + from - piece[1]) end
      at = at + piece[2] - piece[1] + 1
    end
    return at
  end
  local first, last = owned(comm.rank)
  local total = 0
  for rank = 1, comm.size do
    overlaps(wanted(rank), first, last, function(from, to)
      table.move({rank, (from - first) * row, (to - from + 1) * row}, 1, 3,
        #sends + 1, sends)
    end)
    local theirs, their_last = owned(rank)
    total = overlaps(wanted(comm.rank), theirs, their_last,
      function(from, to, at)
        table.move({rank, at * row, (to - from + 1) * row}, 1, 3,
          #receipts + 1, receipts)
      end)
  end
  local sizes = {total}
  for d = 2, t.ndim do sizes[d] = t:size(d) end
  local out = la.empty(sizes, {dtype = t.dtype})
  raw.exchange(comm.id, t, sends, out, receipts)
  return out
end

-- Blocks whose lengths are 'counts' to those of Comm.part.
function array.even_out(comm, t, dim, counts)
  local starts, total = {}, 0
  for rank, n in ipairs(counts) do
    starts[rank] = total + 1
    total = total + n
  end
  local rows = t:movedim(dim, 1):contiguous()
  local out = fetch(comm, rows, function(rank)
    return starts[rank], starts[rank] + counts[rank] - 1
  end, function(rank)
    local n, before = Comm.part(total, rank, comm.size)
    return {{before + 1, before + n}}
  end)
  return out:movedim(1, dim):contiguous()
end

-- The same array in blocks along another dim.
function Array:redistribute(dim)
  dim = check_dim("redistribute", dim, self.ndim)
  if dim == self.dim then return self end
  local comm, t = self.comm, self.block
  local parts, sends, receipts, at = {}, {}, {}, 0
  for rank = 1, comm.size do
    local n, before = Comm.part(self.shape[dim], rank, comm.size)
    local part = t:narrow(dim, before + 1, n):reshape(-1)
    parts[rank] = part
    table.move({rank, at, part:numel()}, 1, 3, #sends + 1, sends)
    at = at + part:numel()
  end
  local own = Comm.part(self.shape[dim], comm.rank, comm.size)
  local shapes, offset = {}, 0
  for rank = 1, comm.size do
    local sizes, n = {table.unpack(self.shape)}, 1
    sizes[self.dim] = Comm.part(self.shape[self.dim], rank, comm.size)
    sizes[dim] = own
    for _, size in ipairs(sizes) do n = n * size end
    shapes[rank] = {sizes, offset, n}
    table.move({rank, offset, n}, 1, 3, #receipts + 1, receipts)
    offset = offset + n
  end
  local come = la.empty({offset}, {dtype = t.dtype})
  raw.exchange(comm.id, la.cat(parts, 1), sends, come, receipts)
  for rank, s in ipairs(shapes) do
    parts[rank] = come:narrow(1, s[2] + 1, s[3]):reshape(s[1])
  end
  return wrap(comm, la.cat(parts, self.dim), dim, self.shape)
end

-- This rank's block with n more rows on each side along the dim, those of its
-- neighbours; at the ends of the whole those of options.edge: "periodic" (the
-- other end), a number (0), or "none".
function Array:halo(n, edge)
  edge = edge == nil and 0 or edge
  local total, size = self.shape[self.dim], self.comm.size
  local rows = self.block:movedim(self.dim, 1):contiguous()
  local function clipped(rank)
    local count, before = Comm.part(total, rank, size)
    if count == 0 then return {} end
    local first, last = before + 1 - n, before + count + n
    local list = {}
    if edge == "periodic" and first < 1 then
      list[1] = {total + first, total}
    end
    list[#list + 1] = {math.max(first, 1), math.min(last, total)}
    if edge == "periodic" and last > total then
      list[#list + 1] = {1, last - total}
    end
    return list
  end
  if edge == "periodic" and n > total then
    error(("mpi.halo: %d rows around %d"):format(n, total), 2)
  end
  local out = fetch(self.comm, rows, function(rank)
    local count, before = Comm.part(total, rank, size)
    return before + 1, before + count
  end, clipped)
  if type(edge) == "number" and self.count > 0 then
    local missing = {math.max(0, n - self.first + 1),
      math.max(0, self.first + self.count - 1 + n - total)}
    for side = 1, 2 do
      if missing[side] > 0 then
        local sizes = {table.unpack(out.shape)}
        sizes[1] = missing[side]
        local fill = la.full(sizes, edge, {dtype = out.dtype})
        out = la.cat(side == 1 and {fill, out} or {out, fill}, 1)
      end
    end
  end
  return out:movedim(1, self.dim):contiguous()
end

-- An array of the blocks that f makes of those with a halo of n: a stencil or a
-- convolution. f's result is as long along the dim as the block without halo.
function Array:stencil(n, f, edge)
  local out = f(self:halo(n, edge))
  if out:size(self.dim) ~= self.count then
    error(("mpi.stencil: a block of %d rows became %d"):format(self.count,
      out:size(self.dim)), 2)
  end
  local shape = {table.unpack(out.shape)}
  shape[self.dim] = self.shape[self.dim]
  return wrap(self.comm, out, self.dim, shape)
end

-- ---- element by element ----

-- What an operand is on this rank, next to blocks along the dim that stands
-- 'back' dims from the last: of a tensor that all ranks have, its part.
local function operand(value, like, back)
  if is_array(value) then
    if value.ndim - value.dim ~= back
      or value.shape[value.dim] ~= like.shape[like.dim] then
      error(("mpi: %s and %s are not in the same blocks; redistribute one of "
        .. "them"):format(tostring(like), tostring(value)), 4)
    end
    return value.block
  end
  if not is_tensor(value) then return value end
  local dim = value.ndim - back
  if dim < 1 or value:size(dim) == 1 then return value end
  if value:size(dim) ~= like.shape[like.dim] then
    error(("mpi: a tensor of size %d along the dim of %s"):format(
      value:size(dim), tostring(like)), 4)
  end
  return value:narrow(dim, like.first, like.count)
end

-- f of the blocks of all operands, as an array.
local function apply(f, ...)
  local args, like = table.pack(...), nil
  for k = 1, args.n do
    if is_array(args[k]) and (not like or args[k].ndim > like.ndim) then
      like = args[k]
    end
  end
  local back = like.ndim - like.dim
  for k = 1, args.n do args[k] = operand(args[k], like, back) end
  local out = f(table.unpack(args, 1, args.n))
  if not is_tensor(out) then return out end
  local shape = {table.unpack(out.shape)}
  local dim = #shape - back
  shape[dim] = like.shape[like.dim]
  return wrap(like.comm, out, dim, shape)
end
array.apply = apply

-- The registry's element-wise operations, of which the array has methods, and
-- those in place.
local elementwise = {}
for _, op in ipairs(la.operations()) do
  if op.promotes then elementwise[op.name] = true end
end

function Array:to(dtype)
  return apply(function(t) return t:to(dtype) end, self)
end
function Array:clone() return apply(function(t) return t:clone() end, self) end
for _, name in ipairs{"float", "double", "long", "int", "half", "bool"} do
  Array[name] = function(self)
    return apply(function(t) return t[name](t) end, self)
  end
end

local function missing(name)
  return function(self)
    error(("mpi: '%s' of %s is not distributed; x:full() gathers, "
      .. "x:to_block() is this rank's part"):format(name, tostring(self)), 2)
  end
end

function meta.__index(self, name)
  local own = Array[name]
  if own ~= nil then return own end
  local plain = type(name) == "string" and name:gsub("_$", "")
  if elementwise[plain] then
    return function(...)
      local first = ...
      local out = apply(function(t, ...) return t[name](t, ...) end, ...)
      return plain ~= name and first or out
    end
  end
  if type(name) == "string" and la[name] ~= nil then return missing(name) end
end

local operators = {
  __add = function(a, b) return a + b end,
  __sub = function(a, b) return a - b end,
  __mul = function(a, b) return a * b end,
  __div = function(a, b) return a / b end,
  __idiv = function(a, b) return a // b end,
  __mod = function(a, b) return a % b end,
  __pow = function(a, b) return a ^ b end,
}
for name, f in pairs(operators) do
  meta[name] = function(a, b) return apply(f, a, b) end
end
function meta.__unm(a) return apply(function(t) return -t end, a) end

return array
