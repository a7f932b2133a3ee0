-- lunarray.data: datasets, batches, progress bars.
local la = require "lunarray"
local dialect = require "lunarray.dialect"
local numbers = require "lunarray.numbers"
local positions = require "lunarray.positions"
local is_tensor = require "lunarray.tensors".is_tensor

local floor, length = math.floor, dialect.length

local data = {}

-- ---- datasets: #set, set:get(k) gives the parts of sample k, set:batch(index)
-- those of many at once (index is an int64 tensor from 1) ----

local TensorDataset = {}
TensorDataset.__index = TensorDataset
TensorDataset.__len = function(self) return self.tensors[1]:size(1) end

function data.TensorDataset(...)
  local tensors = {...}
  if #tensors == 0 then
    error("TensorDataset: at least one tensor expected", 2)
  end
  for k, t in ipairs(tensors) do
    if not is_tensor(t) then
      error(string.format("bad argument #%d to 'TensorDataset' (tensor "
        .. "expected, got %s)", k, type(t)), 2)
    end
    if t.ndim == 0 or t:size(1) ~= tensors[1]:size(1) then
      error("TensorDataset: size mismatch between tensors", 2)
    end
  end
  return setmetatable({tensors = tensors}, TensorDataset)
end

function TensorDataset:get(k)
  local out = {}
  for i, t in ipairs(self.tensors) do out[i] = t[k] end
  return dialect.unpack(out)
end

function TensorDataset:batch(index)
  local out = {}
  for i, t in ipairs(self.tensors) do out[i] = t:index_select(1, index) end
  return dialect.unpack(out)
end

-- Some samples of a set, by their numbers.
local Subset = {}
Subset.__index = Subset
Subset.__len = function(self) return self.indices:numel() end

function data.Subset(dataset, indices)
  if type(indices) == "table" then indices = la.tensor(indices) end
  return setmetatable({dataset = dataset, indices = indices}, Subset)
end

function Subset:get(k) return self.dataset:get(self.indices:item(k)) end

function Subset:batch(index)
  return data.fetch(self.dataset, self.indices:index_select(1, index))
end

-- The stacked samples of a batch: tensors are stacked, numbers make a tensor,
-- anything else stays a list.
local function collate(samples)
  local out = {}
  for part = 1, samples[1].n do
    local column = {}
    for k, sample in ipairs(samples) do column[k] = sample[part] end
    if is_tensor(column[1]) then out[part] = la.stack(column)
    elseif type(column[1]) == "number" then out[part] = la.tensor(column)
    else out[part] = column end
  end
  return dialect.unpack(out, 1, samples[1].n)
end
data.collate = collate

local function samples_of(dataset, index)
  local samples = {}
  for k, at in ipairs(index:totable()) do
    if dataset.get then samples[k] = dialect.pack(dataset:get(at))
    else samples[k] = dialect.pack(dataset[at]) end
  end
  return samples
end

-- The parts of the samples at 'index', by the set's own batch when it has one.
function data.fetch(dataset, index)
  if dataset.batch then return dataset:batch(index) end
  return collate(samples_of(dataset, index))
end

-- Sizes that are counts (their sum is #dataset) or fractions (their sum is 1).
local function counts_of(total, lengths)
  local sum, fractions = 0, false
  for _, n in ipairs(lengths) do
    sum = sum + n
    fractions = fractions or n ~= math.floor(n)
  end
  if not fractions and sum == total then return lengths end
  if math.abs(sum - 1) > 1e-6 then
    error("random_split: Sum of input lengths does not equal the length of the "
      .. "input dataset!", 3)
  end
  local counts, used = {}, 0
  for k, n in ipairs(lengths) do
    counts[k] = math.floor(total * n)
    used = used + counts[k]
  end
  for k = 0, total - used - 1 do
    local at = k % #counts + 1
    counts[at] = counts[at] + 1
  end
  return counts
end

-- Subsets of these lengths, drawn without replacement; as many results as
-- lengths. options: generator.
function data.random_split(dataset, lengths, options)
  local counts = counts_of(length(dataset), lengths)
  local order = la.randperm(length(dataset), {generator = options
    and options.generator})
  local out, from = {}, 0
  for k, n in ipairs(counts) do
    out[k] = data.Subset(dataset, order:narrow(1, from + 1, n))
    from = from + n
  end
  return dialect.unpack(out)
end

-- ---- loader ----

local DataLoader = {}
DataLoader.__index = DataLoader

local known = {batch_size = true, shuffle = true, generator = true,
  drop_last = true, collate = true, sampler = true}

-- options: batch_size (1), shuffle, generator, drop_last, collate (a function
-- of the list of samples, each a packed list of parts), sampler (an object with
-- indices(), or with batches() and #: see DistributedSampler).
function data.DataLoader(dataset, options)
  local self = {dataset = dataset, batch_size = 1, shuffle = false,
    drop_last = false}
  for key, value in pairs(positions.own(options or {}, known)) do
    if not known[key] then
      error("DataLoader: unknown option '" .. numbers.text(key) .. "' (known: "
        .. "batch_size, collate, drop_last, generator, sampler, shuffle)", 2)
    end
    self[key] = value
  end
  if dialect.type(self.batch_size) ~= "integer" or self.batch_size < 1 then
    error("DataLoader: batch_size should be a positive integer, but got "
      .. numbers.text(self.batch_size), 2)
  end
  return setmetatable(self, DataLoader)
end

function DataLoader:__len()
  local sampler = self.sampler
  if sampler and sampler.batches then return length(sampler) end
  local n = sampler and length(sampler) or length(self.dataset)
  if self.drop_last then return floor(n / self.batch_size) end
  return floor((n + self.batch_size - 1) / self.batch_size)
end

local function order_of(self, n)
  if self.sampler then return self.sampler:indices() end
  if self.shuffle then
    return la.randperm(n, {generator = self.generator})
  end
  return la.range(1, n, {dtype = "int64"})
end

local function fetch(self, index)
  if self.collate then
    return self.collate(samples_of(self.dataset, index))
  end
  return data.fetch(self.dataset, index)
end

-- for xb, yb in loader:batches() do: each call goes over the set once.
function DataLoader:batches()
  local sampler = self.sampler
  if sampler and sampler.batches then
    local next_index = sampler:batches()
    return function()
      local index = next_index()
      if index then return fetch(self, index) end
    end
  end
  local total = sampler and length(sampler) or length(self.dataset)
  local order, from = nil, 1
  local last = self.drop_last and total - self.batch_size + 1 or total
  return function()
    if from > last then return nil end
    order = order or order_of(self, total)
    local n = math.min(self.batch_size, total - from + 1)
    local index = order:narrow(1, from, n)
    from = from + n
    return fetch(self, index)
  end
end

-- ---- samples for one of many processes ----

local DistributedSampler = {}

local sampler_options = {rank = true, size = true, shuffle = true, seed = true,
  drop_last = true, batch_size = true}

-- Which samples are this rank's. options: rank (from 1) and size, those of
-- lunarray.mpi where it was required; shuffle (true), seed (0), drop_last;
-- batch_size: of all ranks together.
-- Without batch_size every rank gets as many samples, rank, rank + size, ... of
-- one order, which begins anew to be long enough (or is cut: drop_last). With
-- it, each batch of that order is cut in parts that differ by a sample at most:
-- ranks together do what one process does; weight() is the part's length times
-- size over the batch's, by which the mean loss of the part is multiplied. A
-- last batch with fewer samples than ranks is left out.
function data.DistributedSampler(dataset, options)
  local mpi = package and package.loaded["lunarray.mpi"] or {}
  local self = {total = length(dataset), rank = mpi.rank, size = mpi.size,
    shuffle = true, seed = 0, drop_last = false, epoch = 0}
  for key, value in pairs(positions.own(options or {},
    sampler_options)) do
    if not sampler_options[key] then
      error("DistributedSampler: unknown option '" .. numbers.text(key)
        .. "' (known: batch_size, drop_last, rank, seed, shuffle, size)", 2)
    end
    self[key] = value
  end
  if not self.rank or not self.size or self.rank < 1
    or self.rank > self.size then
    error("DistributedSampler: rank from 1 to size expected (require "
      .. "lunarray.mpi first, or give rank and size)", 2)
  end
  if self.batch_size and self.batch_size < self.size then
    error(("DistributedSampler: a batch_size of %d for %d ranks")
      :format(self.batch_size, self.size), 2)
  end
  local methods = {}
  for name, f in pairs(DistributedSampler) do methods[name] = f end
  if not self.batch_size then methods.batches = nil end
  return setmetatable(self, {__index = methods,
    __len = DistributedSampler.__len})
end

-- Another epoch is another order, the same on all ranks.
function DistributedSampler:set_epoch(epoch) self.epoch = epoch end

local function whole_order(self)
  if not self.shuffle then
    return la.range(1, self.total, {dtype = "int64"})
  end
  local generator = la.Generator(self.seed + self.epoch)
  return la.randperm(self.total, {generator = generator})
end

-- How many batches, or samples of this rank, there are.
function DistributedSampler:__len()
  local n, b = self.total, self.batch_size or self.size
  if not self.batch_size then
    return floor((self.drop_last and n or n + b - 1) / b)
  end
  local rest = n % b
  return floor(n / b) + ((rest >= self.size and not self.drop_last) and 1 or 0)
end

function DistributedSampler:indices()
  local order, n = whole_order(self), length(self) * self.size
  while #order < n do order = la.cat({order, order}, 1) end
  return order:narrow(1, 1, n):reshape(-1, self.size):select(2, self.rank)
end

function DistributedSampler:batches()
  local order, from, k, count = whole_order(self), 0, 0, length(self)
  return function()
    if k == count then return nil end
    k = k + 1
    local n = math.min(self.batch_size, self.total - from)
    local base, more = floor(n / self.size), n % self.size
    local own = base + (self.rank <= more and 1 or 0)
    local first = (self.rank - 1) * base + math.min(self.rank - 1, more)
    self.share = own * self.size / n
    local index = order:narrow(1, from + first + 1, own)
    from = from + n
    return index
  end
end

function DistributedSampler:weight() return self.share or 1 end

-- ---- progress ----

local Progress = {}
Progress.__index = Progress

local function clock_text(seconds)
  if seconds ~= seconds or seconds == math.huge then return "?" end
  seconds = math.floor(seconds + 0.5)
  if seconds >= 3600 then
    return string.format("%d:%02d:%02d", floor(seconds / 3600),
      floor(seconds / 60) % 60, seconds % 60)
  end
  return string.format("%d:%02d", floor(seconds / 60), seconds % 60)
end

-- os.time counts whole seconds; os.clock stands still while we wait.
local function now(self)
  return math.max(os.difftime(os.time(), self.wall), os.clock() - self.cpu)
end

local function line_of(self)
  local spent = now(self)
  local rate = spent > 0 and self.k / spent or 0
  local part = self.total > 0 and math.min(self.k / self.total, 1) or 1
  local filled = math.floor(part * 20)
  local left = rate > 0 and (self.total - self.k) / rate or math.huge
  return numbers.format("%s%3d%% [%s%s] %d/%d, %.1f/s, %s left%s",
    self.desc and self.desc .. " " or "", math.floor(part * 100),
    ("#"):rep(filled), (" "):rep(20 - filled), self.k, self.total, rate,
    clock_text(left), self.text and " " .. self.text or "")
end

local function draw(self, always)
  if self.quiet then return end
  local t = now(self)
  if not always and t - self.drawn < 0.1 then return end
  self.drawn = t
  local line = line_of(self)
  local gap = math.max(self.width - #line, 0)
  self.width = #line
  self.file:write("\r", line, (" "):rep(gap))
  self.file:flush()
end

-- k steps are done; text stands behind the bar.
function Progress:update(k, text)
  self.k, self.text = k, text or self.text
  draw(self, k >= self.total)
end

function Progress:close()
  if self.closed then return end
  self.closed = true
  draw(self, true)
  if not self.quiet then self.file:write("\n") end
end
Progress.__close = Progress.close

function Progress:__call()
  if self.step >= self.total then
    self.k = self.total
    self:close()
    return nil
  end
  if self.step > 0 then self:update(self.step) end
  self.step = self.step + 1
  return self.step
end

local terminal

-- Standard error is shown to somebody when the variable TERM names a terminal
-- and the shell says so; asked once.
local function on_terminal()
  if terminal == nil then
    terminal = false
    local kind = os.getenv and os.getenv "TERM"       -- none in a sandbox
    if kind and kind ~= "" and kind ~= "dumb" and os.execute then
      terminal = os.execute "test -t 2" == true
    end
  end
  return terminal
end

-- la.progress(n): "for i in la.progress(100) do", or an object with
-- update(k[, text]) and close(). la.progress(list) goes over a list, the rows
-- of a tensor or the batches of a loader. Quiet when standard error is no
-- terminal. options: desc, file, quiet.
function data.progress(what, options)
  options = options or {}
  local list = (type(what) == "table" or la.is_tensor(what)) and what or nil
  local count = list and length(list) or what
  local total = type(count) == "number" and dialect.tointeger(count)
  if not total then
    error("bad argument #1 to 'progress' (number of steps or list expected, "
      .. "got " .. type(what) .. ")", 2)
  end
  local quiet = options.quiet
  if quiet == nil then quiet = not options.file and not on_terminal() end
  if not (options.file or io) then quiet = true end
  local self = setmetatable({total = total, desc = options.desc, k = 0,
    step = 0, width = 0, drawn = -1, wall = os.time(), cpu = os.clock(),
    file = options.file or io and io.stderr, quiet = quiet}, Progress)
  if not list then return self, nil, nil, self end
  local batch = getmetatable(list) == DataLoader and list:batches()
  return function()
    local k = self()
    if k and batch then return batch() end
    if k then return list[k] end
  end, nil, nil, self
end

setmetatable(data, {__index = function(_, name)
  return require("lunarray.foreign").missing(name, "data")
end, __metatable = false})

return data
