-- lunarray.mpi.train: one network on all ranks, each with its part of a batch.
--
-- A parameter's hook runs when its gradient of this backward is complete. It
-- copies the gradient into its bucket; a bucket that is full is reduced while
-- the layers below are still computed. The last hook waits for all buckets and
-- puts the averages into the gradients, so that loss:backward() is all.
local la = require "lunarray"
local raw = require "lunarray.mpi.load"
local Comm = require "lunarray.mpi.comm"
local values = require "lunarray.values"

local train = {}

-- MPI reduces no half: such gradients are summed in float32.
local WIDER = {float16 = "float32", bfloat16 = "float32"}

-- ---- buckets ----

-- Parameters in the order in which backward reaches them, in buckets of about
-- 'bytes'; dtypes apart, since a bucket is one tensor.
local function make_buckets(params, bytes)
  local buckets, open = {}, {}
  for k = #params, 1, -1 do
    local p = params[k]
    local dtype = WIDER[p.dtype] or p.dtype
    local bucket = open[dtype]
    if not bucket or bucket.bytes >= bytes then
      bucket = {dtype = dtype, bytes = 0, n = 0, parts = {}}
      open[dtype] = bucket
      buckets[#buckets + 1] = bucket
    end
    bucket.parts[#bucket.parts + 1] = {p = p, from = bucket.n}
    bucket.n = bucket.n + p:numel()
    bucket.bytes = bucket.n * p:element_size()
  end
  for _, bucket in ipairs(buckets) do
    bucket.flat = la.zeros({bucket.n}, {dtype = bucket.dtype})
    bucket.left = #bucket.parts
    for _, part in ipairs(bucket.parts) do
      part.view = bucket.flat:narrow(1, part.from + 1, part.p:numel())
        :view(part.p.shape)
    end
  end
  return buckets
end

local Parallel = {}

-- Begin the sums of all buckets that are full, in their order: the same on all
-- ranks. What is under way gets a chance to go on.
local function launch(self)
  local state = self.parallel
  while true do
    local bucket = state.buckets[state.next]
    if not bucket or bucket.left > 0 then break end
    state.next = state.next + 1
    if bucket.bytes > raw.chunk() then
      raw.all_reduce(state.comm.id, bucket.flat, "sum")
    else
      bucket.request = raw.iall_reduce(state.comm.id, bucket.flat, "sum")
    end
  end
  for k = 1, state.next - 1 do
    local request = state.buckets[k].request
    if request then request:test() end
  end
end

-- All sums are there: their averages become the gradients. 'last' has none
-- yet: what is returned becomes it.
local function finish(self, last)
  local state = self.parallel
  local size, result = state.comm.size, nil
  for _, bucket in ipairs(state.buckets) do
    if bucket.request then bucket.request:wait() end
    bucket.request = nil
    bucket.flat:div_(size)
    bucket.left = #bucket.parts
    for _, part in ipairs(bucket.parts) do
      part.ready = false
      if part.p == last then
        part.p.grad = nil
        result = part.view:to(part.p.dtype)
        if result:data_ptr() == part.view:data_ptr() then
          result = result:clone()
        end
      elseif part.p.grad then
        part.p.grad:copy_(part.view)
      else
        part.p.grad = part.view:to(part.p.dtype):clone()
      end
    end
  end
  state.next, state.reached = 1, 0
  return result
end

local function ready(self, bucket, part, gradient)
  local state = self.parallel
  if part.ready then
    error("mpi.data_parallel: a second backward before the first has reached "
      .. "all parameters", 0)
  end
  local p = part.p
  part.ready = true
  state.reached = state.reached + 1
  part.view:copy_(gradient)
  if p.grad then part.view:add_(p.grad) end
  bucket.left = bucket.left - 1
  launch(self)
  if state.next > #state.buckets then return finish(self, p) end
end

local function add_hooks(self)
  local state = self.parallel
  for _, bucket in ipairs(state.buckets) do
    for _, part in ipairs(bucket.parts) do
      part.p:register_hook(function(gradient)
        if state.paused then return nil end
        return la.no_grad(ready, self, bucket, part, gradient)
      end)
    end
  end
end

-- Names of the parameters that the last backward did not reach; nil where it
-- reached all or none.
local function unfinished(self)
  local state = self.parallel
  if state.reached == 0 then return nil end
  local missed, names = {}, {}
  for _, bucket in ipairs(state.buckets) do
    for _, part in ipairs(bucket.parts) do
      if not part.ready then missed[part.p] = true end
    end
  end
  for name, p in self.module:named_parameters() do
    if missed[p] then names[#names + 1] = name end
  end
  return names
end

-- After a backward that did not reach all parameters: what is missing counts as
-- zero. Every rank calls it, and only then.
function Parallel:reduce()
  local state = self.parallel
  la.no_grad(function()
    for _, bucket in ipairs(state.buckets) do
      for _, part in ipairs(bucket.parts) do
        if not part.ready then
          part.ready = true
          part.view:zero_()
          if part.p.grad then part.view:add_(part.p.grad) end
          bucket.left = bucket.left - 1
        end
      end
    end
    launch(self)
    finish(self)
  end)
  return self
end

-- Gradients of f's backward gather on each rank; those of the next one outside
-- are averaged with them. For accumulation over several small batches.
function Parallel:no_sync(f, ...)
  local state = self.parallel
  state.paused = true
  local results = table.pack(pcall(f, ...))
  state.paused = false
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

-- Parameters and buffers of rank 1 for all.
function train.broadcast(module, comm)
  comm = comm or train.world
  for _, t in ipairs(module:parameters()) do comm:bcast(t:detach()) end
  for _, t in ipairs(module:buffers()) do comm:bcast(t) end
end

function Parallel:broadcast()
  train.broadcast(self.module, self.parallel.comm)
  return self
end

local function forward(self, ...)
  local names = unfinished(self)
  if names then
    error("mpi.data_parallel: the last backward did not reach "
      .. table.concat(names, ", ") .. ": call net:reduce() after backward, "
      .. "before the optimiser's step", 2)
  end
  return self.module(...)
end

local meta = {
  __index = function(self, name)
    local own = Parallel[name]
    if own ~= nil then return own end
    local module = rawget(self, "module")
    local value = module[name]
    if type(value) ~= "function" then return value end
    -- net:train() and the like are the module's.
    return function(first, ...)
      if first == self then return value(module, ...) end
      return value(first, ...)
    end
  end,
  __call = forward,
  __tostring = function(self)
    return "data_parallel of " .. tostring(self.module)
  end,
}

-- The module with gradients that are averaged over the ranks during backward;
-- parameters and buffers become those of rank 1. Each rank computes the mean
-- loss of its part of the batch; where parts differ in length, weighed by
-- sampler:weight(). options: comm, bucket (bytes, 4 MiB).
function train.data_parallel(module, options)
  options = options or {}
  local params = {}
  for _, p in ipairs(module:parameters()) do
    if p.requires_grad then params[#params + 1] = p end
  end
  local self = setmetatable({module = module, parallel = {
    comm = options.comm or train.world, next = 1, reached = 0, paused = false,
    buckets = make_buckets(params, options.bucket or 1 << 22)}}, meta)
  self:broadcast()
  add_hooks(self)
  return self
end

-- ---- the same bits, whatever the number of ranks ----

-- Pairs, pairs of pairs, ...: rows of x (shards x numbers) in one order.
local function tree_sum(x)
  local n = x:size(1)
  while n > 1 do
    local half = n // 2
    local even = x:narrow(1, 1, 2 * half)
      :reshape(half, 2, x:size(2))
    local sums = even:select(2, 1) + even:select(2, 2)
    if n % 2 == 1 then sums = la.cat({sums, x:narrow(1, n, 1)}, 1) end
    x, n = sums, half + n % 2
  end
  return x:select(1, 1)
end

-- Every rank gets its columns of all shards, adds them up by the tree, and all
-- columns are gathered.
local function sum_of_shards(comm, own, shards)
  local columns = own:size(2)
  local mine = Comm.part(columns, comm.rank, comm.size)
  local all = la.empty({shards, mine}, {dtype = own.dtype})
  local sends, receipts = {}, {}
  local function note(list, rank, from, n)
    local k = #list
    list[k + 1], list[k + 2], list[k + 3] = rank, from, n
  end
  for rank = 1, comm.size do
    local n, before = Comm.part(columns, rank, comm.size)
    for row = 1, own:size(1) do
      note(sends, rank, (row - 1) * columns + before, n)
    end
    local count, first = Comm.part(shards, rank, comm.size)
    for row = first, first + count - 1 do
      note(receipts, rank, row * mine, mine)
    end
  end
  raw.exchange(comm.id, own, sends, all, receipts)
  return (comm:all_gather(tree_sum(all), {ragged = true}))
end

-- Gradients of n samples in a fixed number of shards: f(first, count) gives the
-- loss of those samples, a sum over them (divided by n). A shard is computed by
-- one rank, and shards are added in one order, so the bits are the same on any
-- number of ranks up to that of shards. Returns the loss; adds to gradients.
-- For a plain module (mpi.broadcast(net) first), not for one of data_parallel.
function train.backward_shards(params, shards, n, f, comm)
  comm = comm or train.world
  if comm.size > shards then
    error(("mpi.backward_shards: %d shards for %d ranks"):format(shards,
      comm.size), 2)
  end
  local total = 1
  for _, p in ipairs(params) do total = total + p:numel() end
  local own, before = Comm.part(shards, comm.rank, comm.size)
  local flat = la.zeros({own, total}, {dtype = params[1].dtype})
  for k = 1, own do
    local count, first = Comm.part(n, before + k, shards)
    if count > 0 then
      local loss = f(first + 1, count)
      local at = 1
      local grads = {la.grad(loss, params, {allow_unused = true})}
      for i, p in ipairs(params) do
        if grads[i] then
          flat[k]:narrow(1, at, p:numel()):copy_(grads[i]:reshape(-1))
        end
        at = at + p:numel()
      end
      flat[k]:narrow(1, total, 1):copy_(loss:detach():reshape(1))
    end
  end
  local sums, at = sum_of_shards(comm, flat, shards), 1
  for _, p in ipairs(params) do
    local g = sums:narrow(1, at, p:numel()):view(p.shape)
    p.grad = p.grad and p.grad:add(g) or g:clone()
    at = at + p:numel()
  end
  return sums[total]:item()
end

-- ---- states of the optimiser in parts ----

local Zero = {}
Zero.__index = function(self, name)
  if Zero[name] ~= nil then return Zero[name] end
  return rawget(self, "inner")[name]
end

-- Whose each parameter is: the largest first, to whom has least.
local function owners(params, size)
  local order, load, owner = {}, {}, {}
  for k in ipairs(params) do order[k] = k end
  table.sort(order, function(a, b)
    local m, n = params[a]:numel(), params[b]:numel()
    if m ~= n then return m > n end
    return a < b
  end)
  for rank = 1, size do load[rank] = 0 end
  for _, k in ipairs(order) do
    local least = 1
    for rank = 2, size do
      if load[rank] < load[least] then least = rank end
    end
    owner[k] = least
    load[least] = load[least] + params[k]:numel()
  end
  return owner
end

-- An optimiser whose states are in parts (ZeRO, stage 1): each rank keeps the
-- states of its parameters, steps those, and sends them to all.
-- mpi.zero(optim.Adam, net:parameters(), {lr = 1e-3}); options.comm.
function train.zero(class, params, options)
  local given, comm = options or {}, train.world
  if given.comm then
    comm = given.comm
    given = setmetatable({}, {__index = options})
    for key, value in pairs(options) do given[key] = value end
    given.comm = nil
  end
  local owner, own, index = owners(params, comm.size), {}, {}
  for k, p in ipairs(params) do
    if owner[k] == comm.rank then
      own[#own + 1] = p
      index[#own] = k
    end
  end
  -- An optimiser wants a parameter; this one never has a gradient.
  if #own == 0 then own[1] = la.zeros(1) end
  return setmetatable({inner = class(own, given), params = params,
    owner = owner, index = index, comm = comm}, Zero)
end

function Zero:zero_grad()
  for _, p in ipairs(self.params) do p.grad = nil end
end

function Zero:step(closure)
  local loss = self.inner:step(closure)
  for k, p in ipairs(self.params) do
    self.comm:bcast(p:detach(), self.owner[k])
  end
  return loss
end

-- The whole state on all ranks, as the optimiser on one rank has it.
function Zero:state_dict()
  local dict = self.inner:state_dict()
  local own = {}
  for n, k in ipairs(self.index) do own[k] = dict.state[n] end
  local state = {}
  for _, part in ipairs(self.comm:all_gather_value(own)) do
    for k, entry in pairs(part) do state[k] = entry end
  end
  local group = dict.param_groups[1]
  group.params = {}
  for k in ipairs(self.params) do group.params[k] = k end
  return {state = state, param_groups = {group}}
end

local function part_of(dict, index)
  local state, params = {}, {}
  for n, k in ipairs(index) do state[n] = dict.state[k] end
  for n = 1, math.max(#index, 1) do params[n] = n end
  local group = {}
  for key, value in pairs(dict.param_groups[1]) do group[key] = value end
  group.params = params
  return {state = state, param_groups = {group}}
end

-- A state of any number of ranks, also of the optimiser on one.
function Zero:load_state_dict(dict)
  if type(dict) ~= "table" or not dict.param_groups then
    error("mpi.zero: load_state_dict wants the table of state_dict (mpi.load "
      .. "gives it)", 2)
  end
  self.inner:load_state_dict(part_of(dict, self.index))
end

-- ---- checkpoints ----

-- What a file keeps besides the tensors, as a tensor of bytes of this name.
local STRUCTURE = "structure"

-- f on rank 1; its error is everybody's, with name of the call and path.
local function on_first(comm, name, path, f)
  local told
  if comm.rank == 1 then
    local ok, result = pcall(f)
    told = {ok = ok, result = ok and result or tostring(result)}
  end
  told = comm:bcast_value(told, 1)
  if not told.ok then
    error(("mpi.%s: '%s': %s"):format(name, path,
      told.result:gsub("^[^:\n]+:%d+: ", "")), 3)
  end
  return told.result
end

-- The value of rank 1 (tables, plain values and tensors) to a .safetensors or
-- .npz; every rank calls it, rank 1 writes. An old file stays as it was until
-- all is written, so it is there after a full disk too.
function train.save(value, path, comm)
  on_first(comm or train.world, "save", path, function()
    local tensors = {}
    local text = values.pack(value, tensors)
    local list = {[STRUCTURE] = la.from_raw(text, "uint8", {#text})}
    for k, t in ipairs(tensors) do list["tensor" .. k] = t end
    la.save(list, path)
  end)
end

-- The value on all ranks, however many there are. An error, on all of them,
-- for a file that is not whole.
function train.load(path, comm)
  return on_first(comm or train.world, "load", path, function()
    local list = la.load(path)
    if type(list) ~= "table" or not list[STRUCTURE] then
      error("not written by mpi.save", 0)
    end
    local tensors = {}
    for name, t in pairs(list) do
      local k = math.tointeger(tonumber(name:match "^tensor(%d+)$"))
      if k then tensors[k] = t end
    end
    return values.unpack(list[STRUCTURE]:tobytes(), tensors)
  end)
end

return train
