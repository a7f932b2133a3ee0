-- lunarray.mpi.comm: a group of ranks and what they say to each other. Ranks,
-- dims and tags of results count as in Lua; lunarray_mpi.so moves contiguous
-- memory, so what is laid out otherwise is packed here, once.
local la = require "lunarray"
local raw = require "lunarray.mpi.load"
local values = require "lunarray.values"
local numbers = require "lunarray.numbers"
local is_tensor = require "lunarray.tensors".is_tensor

local Comm = {}
Comm.__index = Comm

-- MPI has no such numbers: they are reduced as wider ones, and rounded once.
local WIDER = {float16 = "float32", bfloat16 = "float32",
  complex32 = "complex64"}
-- Of what may have lazy bits: is it complex? (Real ones have no conj bit.)
local LAZY = {float16 = false, float32 = false, float64 = false,
  bfloat16 = false, complex32 = true, complex64 = true, complex128 = true}

local checking = os.getenv "LUNARRAY_MPI_DEBUG" == "1"
raw.checking(checking)

-- mpi.debug(true): from now on every collective call compares its name, dtype,
-- sizes and options on all ranks first. All ranks set the same.
function Comm.debug(on)
  checking = on ~= false
  raw.checking(checking)
end

function Comm.wrap(id)
  local rank, size = raw.rank_of(id)
  -- [1] is what the short ways in C take it from.
  return setmetatable({id, id = id, rank = rank, size = size}, Comm)
end

function Comm:__tostring()
  return ("mpi group (rank %d of %d)"):format(self.rank, self.size)
end

-- ---- arguments ----

local function need_tensor(x, name, level)
  if is_tensor(x) then return x end
  error(("bad argument #1 to '%s' (tensor expected, got %s; %s_value takes "
    .. "tables and plain values)"):format(name, type(x), name), level or 3)
end

local function plain(x)
  if not x:is_contiguous() then return false end
  local complex = LAZY[x.dtype]
  return complex == nil or not (x:is_neg() or complex and x:is_conj())
end

-- x as the module takes it; a copy when it is laid out otherwise.
local function packed(x)
  if plain(x) then return x end
  return x:detach():resolve_conj():resolve_neg():contiguous()
end

-- f(memory) writes to x: by way of a packed copy where it must be.
local function written(x, f)
  if plain(x) then return f(x) end
  local copy = packed(x)
  if copy:data_ptr() == x:data_ptr() then copy = copy:clone() end
  local result = f(copy)
  la.no_grad(function() x:detach():copy_(copy) end)
  return result
end

local function fresh(x, sizes)
  return la.empty(sizes or x.shape, {dtype = x.dtype})
end

local function text_of(x)
  if not is_tensor(x) then return "nothing" end
  return x.dtype .. " {" .. table.concat(x.shape, ", ") .. "}"
end

-- All ranks raise the same error when they are about to do different things.
local function agree(self, name, ...)
  local words = {name}
  for k = 1, select("#", ...) do
    words[k + 1] = tostring((select(k, ...)))
  end
  local said = raw.compare(self.id, table.concat(words, " "))
  if not said then return end
  for rank, text in ipairs(said) do said[rank] = "rank " .. rank .. ": " .. text
  end
  error("mpi: the ranks do not agree: " .. table.concat(said, "; "), 3)
end

-- ---- groups ----

-- Ranks of the same colour (an integer from 0) become a group, in the order of
-- 'key' and then of their ranks here; nil for a rank whose colour is nil.
function Comm:split(colour, key)
  local id = raw.split(self.id, colour, key)
  return id and Comm.wrap(id)
end

-- The ranks that share this one's memory: those of its machine.
function Comm:node() return Comm.wrap(raw.local_group(self.id)) end

function Comm:free() raw.free(self.id) end

-- Waits for all. options.timeout (seconds): an error, on those that wait, that
-- names the ranks which did not come, for want of which this would never end.
function Comm:barrier(options)
  local seconds = options and options.timeout
  if not seconds then
    if checking then agree(self, "barrier") end
    return raw.barrier(self.id)
  end
  local missing = raw.barrier_within(self.id, seconds)
  if missing then
    error(numbers.format("mpi.barrier: rank %s did not come within %g s",
      table.concat(missing, ", "), seconds), 2)
  end
end

-- ---- messages ----

local function tag_of(options) return options and options.tag or 0 end

-- Tensors go as they are: the receiver has one of the same dtype and as many
-- elements ready. options: tag (0). send may return before it has arrived.
function Comm:send(x, to, options)
  raw.send(self.id, packed(need_tensor(x, "send")), to, tag_of(options))
end

-- Into x, from that rank or (nil) from any; who sent it. An error unless the
-- message has as many bytes as x.
function Comm:recv(x, from, options)
  need_tensor(x, "recv")
  return written(x, function(memory)
    return raw.recv(self.id, memory, from or 0, tag_of(options))
  end)
end

local Packed = {}       -- a receipt for a tensor that is laid out otherwise
Packed.__index = Packed

function Packed:finish(from)
  if self.x then self.x:detach():copy_(self.copy) end
  self.x = nil
  return from
end
function Packed:wait(seconds) return self:finish(self.request:wait(seconds)) end
function Packed:test()
  local done = self.request:test()
  if done then self:finish() end
  return done
end

-- A request: request:wait() returns when x may be changed again, request:test()
-- tells whether it may. It keeps x's memory alive. request:wait(seconds) is an
-- error when it is not done by then; one may go on waiting.
function Comm:isend(x, to, options)
  return raw.isend(self.id, packed(need_tensor(x, "isend")), to,
    tag_of(options))
end

-- A request; x is there after its wait(), which tells who sent it.
function Comm:irecv(x, from, options)
  need_tensor(x, "irecv")
  local copy = plain(x) and x or fresh(x)
  local request = raw.irecv(self.id, copy, from or 0, tag_of(options))
  if copy == x then return request end
  return setmetatable({x = x, copy = copy, request = request}, Packed)
end

-- Exchange with two ranks at once, without a deadlock; who sent what came.
function Comm:sendrecv(x, to, into, from, options)
  local request = self:irecv(into, from, options)
  self:send(x, to, options)
  return request:wait()
end

-- Any value of nil, booleans, numbers, strings, tensors and tables of them.
function Comm:send_value(value, to, options)
  raw.send_text(self.id, values.pack(value), to, tag_of(options))
end

-- A value and who sent it; options: tag, and wait = false: nothing at all when
-- none is there.
function Comm:recv_value(from, options)
  local text, who = raw.recv_text(self.id, from or 0, tag_of(options),
    not (options and options.wait == false))
  if text then return values.unpack(text), who end
end

-- ---- one to all ----

-- x of the root (1) becomes everybody's; in place.
function Comm:bcast(x, root)
  need_tensor(x, "bcast")
  root = root or 1
  if checking then agree(self, "bcast", text_of(x), "from", root) end
  if self.rank == root then
    raw.bcast(self.id, packed(x), root)
  else
    written(x, function(memory) raw.bcast(self.id, memory, root) end)
  end
  return x
end

-- The root's value, on all ranks.
function Comm:bcast_value(value, root)
  root = root or 1
  if checking then agree(self, "bcast_value from", root) end
  local text = self.rank == root and values.pack(value) or nil
  text = raw.bcast_text(self.id, text, root)
  if self.rank == root then return value end
  return values.unpack(text)
end

-- ---- reductions ----

-- f(memory, op) reduces in place; what MPI does not know goes by a wider dtype,
-- an average by a sum.
local function reduced(self, x, op, f)
  local wide = WIDER[x.dtype]
  local word = op == "avg" and "sum" or op
  if op == "avg" and LAZY[x.dtype] == nil then
    error("mpi: no average of " .. x.dtype .. ": x:double() has one", 3)
  end
  local memory = wide and x:detach():to(wide) or x
  f(memory, word)
  if op == "avg" then
    la.no_grad(function() memory:detach():div_(self.size) end)
  end
  if wide then x:detach():copy_(memory) end
  return x
end

-- What raw.shortcut leaves: another layout, dtypes that MPI does not know,
-- averages, debug mode, errors.
local function all_reduce_any(self, x, op)
  op = op or "sum"
  need_tensor(x, "all_reduce_", 4)
  if checking then agree(self, "all_reduce", text_of(x), op) end
  return written(x, function(memory)
    return reduced(self, memory, op, function(m, word)
      raw.all_reduce(self.id, m, word)
    end)
  end) and x
end

-- x over all ranks by "sum", "prod", "avg", "min", "max" (NaN wins), "and" or
-- "or" (bit by bit); in place. All ranks get the same bits.
Comm.all_reduce_ = raw.shortcut(all_reduce_any)

-- The same function for one group, without its argument.
function Comm.all_reduce_of(group)
  return raw.shortcut(all_reduce_any, group, group.id)
end

local function copy_of(x)
  return x:detach():clone():contiguous():resolve_conj():resolve_neg()
end

function Comm:all_reduce(x, op)
  need_tensor(x, "all_reduce")
  return self:all_reduce_(copy_of(x), op)
end

-- The reduced x on the root (1), nil elsewhere.
function Comm:reduce(x, op, root)
  need_tensor(x, "reduce")
  op, root = op or "sum", root or 1
  if checking then agree(self, "reduce", text_of(x), op, "to", root) end
  local out = reduced(self, copy_of(x), op, function(m, word)
    raw.reduce(self.id, m, word, root)
  end)
  return self.rank == root and out or nil
end

-- ---- parts along dim 1 ----

-- n things in 'size' parts whose lengths differ by one at most: how many the
-- rank has, and how many are before them.
function Comm.part(n, rank, size)
  local base, more = n // size, n % size
  return base + (rank <= more and 1 or 0),
    (rank - 1) * base + math.min(rank - 1, more)
end

local function rows_of(x) return x.ndim == 0 and 1 or x:size(1) end

-- Sizes of a tensor like x with n rows.
local function with_rows(x, n)
  local sizes = {n}
  for d = 2, x.ndim do sizes[d] = x:size(d) end
  return sizes
end

local function row_size(x)
  local n = 1
  for d = 2, x.ndim do n = n * x:size(d) end
  return n
end

-- The number of each rank.
local function numbers_of_all(self, n)
  local out = la.empty({self.size}, {dtype = "int64"})
  raw.all_gather(self.id, la.tensor({n}, {dtype = "int64"}), out)
  return out:totable()
end

local function sum(list)
  local total = 0
  for _, n in ipairs(list) do total = total + n end
  return total
end

-- Triples for raw.exchange: counts[rank] rows, one after the other.
local function pieces(counts, row)
  local list, at = {}, 0
  for rank, n in ipairs(counts) do
    list[#list + 1] = rank
    list[#list + 1] = at * row
    list[#list + 1] = n * row
    at = at + n
  end
  return list
end

-- Where a collective call is to write, with as many elements as come; or nil.
local function target(name, x, options)
  local out = options and options.out
  if not out then return nil end
  if not is_tensor(out) or out.dtype ~= x.dtype or not plain(out) then
    error(("mpi.%s: out is no contiguous tensor of %s"):format(name, x.dtype),
      3)
  end
  return out
end

-- The x of all ranks, one after the other along dim 1 (0-dim ones as a vector).
-- Equal shapes, or with {ragged = true} dims 1 of any size; then the second
-- result lists them. options.out: a contiguous tensor for equal parts.
function Comm:all_gather(x, options)
  need_tensor(x, "all_gather")
  local ragged = options and options.ragged
  if checking then
    agree(self, "all_gather", ragged and x.dtype or text_of(x),
      ragged and "ragged" or "")
  end
  local memory = packed(x)
  if not ragged then
    local out = target("all_gather", x, options)
      or fresh(x, with_rows(x, rows_of(x) * self.size))
    raw.all_gather(self.id, memory, out)
    return out
  end
  local counts, row = numbers_of_all(self, rows_of(x)), row_size(x)
  local out, own = fresh(x, with_rows(x, sum(counts))), {}
  for rank = 1, self.size do
    own[#own + 1] = rank
    own[#own + 1] = 0
    own[#own + 1] = x:numel()
  end
  raw.exchange(self.id, memory, own, out, pieces(counts, row))
  return out, counts
end

-- The same on the root (1); nil elsewhere.
function Comm:gather(x, root, options)
  need_tensor(x, "gather")
  root = root or 1
  local ragged = options and options.ragged
  if checking then
    agree(self, "gather", ragged and x.dtype or text_of(x), "to", root)
  end
  local memory, mine = packed(x), self.rank == root
  if not ragged then
    local out = mine and fresh(x, with_rows(x, rows_of(x) * self.size)) or nil
    raw.gather(self.id, memory, out, root)
    return out
  end
  local counts = numbers_of_all(self, rows_of(x))
  local out = mine and fresh(x, with_rows(x, sum(counts))) or nil
  raw.exchange(self.id, memory, {root, 0, x:numel()}, out,
    mine and pieces(counts, row_size(x)) or {})
  return out, mine and counts or nil
end

local function values_of_all(self, value, gather)
  local bytes = values.pack(value)
  local x = la.from_raw(bytes, "uint8", {#bytes})
  local all, counts = gather(x)
  if not all then return nil end
  local list, at = {}, 1
  local text = all:tobytes()
  for rank = 1, self.size do
    list[rank] = values.unpack(text:sub(at, at + counts[rank] - 1))
    at = at + counts[rank]
  end
  return list
end

-- The values of all ranks as a table by rank.
function Comm:all_gather_value(value)
  return values_of_all(self, value, function(x)
    return self:all_gather(x, {ragged = true})
  end)
end

-- The same on the root (1); nil elsewhere.
function Comm:gather_value(value, root)
  return values_of_all(self, value, function(x)
    return self:gather(x, root, {ragged = true})
  end)
end

-- Each rank's part of the root's x along dim 1; 'x' is looked at on the root
-- alone. Parts differ by one row at most, or have the sizes of options.counts.
function Comm:scatter(x, root, options)
  root = root or 1
  if self.rank == root then need_tensor(x, "scatter") end
  if checking then agree(self, "scatter from", root) end
  local head
  if self.rank == root then
    local counts = options and options.counts
    if not counts then
      counts = {}
      for k = 1, self.size do counts[k] = Comm.part(rows_of(x), k, self.size)
      end
    end
    head = {dtype = x.dtype, shape = {table.unpack(x.shape)}, counts = counts}
    if #counts ~= self.size or sum(counts) ~= rows_of(x) then
      head = {wrong = ("mpi: counts of %d ranks whose sum is %d expected")
        :format(self.size, rows_of(x))}
    end
  end
  head = self:bcast_value(head, root)
  if head.wrong then error(head.wrong, 2) end
  head.shape[1] = head.counts[self.rank]
  local out = la.empty(head.shape, {dtype = head.dtype})
  local sends = {}
  if self.rank == root then sends = pieces(head.counts, row_size(x)) end
  raw.exchange(self.id, sends[1] and packed(x) or nil, sends, out,
    {root, 0, out:numel()})
  return out
end

-- list[rank] of the root, for each rank.
function Comm:scatter_value(list, root)
  root = root or 1
  if checking then agree(self, "scatter_value from", root) end
  if self.rank ~= root then return (self:recv_value(root, {tag = 32766})) end
  for rank = 1, self.size do
    if rank ~= root then self:send_value(list[rank], rank, {tag = 32766}) end
  end
  return list[root]
end

-- This rank's part along dim 1 of the x that is reduced over all.
function Comm:reduce_scatter(x, op)
  need_tensor(x, "reduce_scatter")
  op = op or "sum"
  if checking then agree(self, "reduce_scatter", text_of(x), op) end
  local n, from = Comm.part(rows_of(x), self.rank, self.size)
  if rows_of(x) % self.size ~= 0 or WIDER[x.dtype] or op == "avg"
    or x.ndim == 0 then
    local whole = self:all_reduce(x.ndim == 0 and x:reshape(1) or x, op)
    return whole:narrow(1, from + 1, n):clone()
  end
  local out = fresh(x, with_rows(x, n))
  raw.reduce_scatter(self.id, packed(x), out, op)
  return out
end

-- Part k along dim 1 goes to rank k; what came, in the order of ranks. Parts
-- are equal, or options.counts lists the rows for each rank; then the second
-- result lists how many came from each. options.out: a contiguous tensor for
-- equal parts, not x.
function Comm:all_to_all(x, options)
  need_tensor(x, "all_to_all")
  local counts = options and options.counts
  if checking then
    agree(self, "all_to_all", counts and x.dtype or text_of(x))
  end
  if not counts then
    if rows_of(x) % self.size ~= 0 then
      error(("mpi.all_to_all: dim 1 of size %d is not %d equal parts; give "
        .. "counts"):format(rows_of(x), self.size), 2)
    end
    local out = target("all_to_all", x, options) or fresh(x)
    raw.all_to_all(self.id, packed(x), out)
    return out
  end
  if #counts ~= self.size or sum(counts) ~= rows_of(x) then
    error(("mpi.all_to_all: counts of %d ranks whose sum is %d expected")
      :format(self.size, rows_of(x)), 2)
  end
  local given = la.tensor(counts, {dtype = "int64"})
  local come = la.empty({self.size}, {dtype = "int64"})
  raw.all_to_all(self.id, given, come)
  come = come:totable()
  local out, row = fresh(x, with_rows(x, sum(come))), row_size(x)
  raw.exchange(self.id, packed(x), pieces(counts, row), out, pieces(come, row))
  return out, come
end

require "lunarray.mpi.prepared"(Comm, plain, function(self, name, x, more)
  if checking then agree(self, name, text_of(x), more or "") end
end)

return Comm
