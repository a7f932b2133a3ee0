-- What calls cost and how long they take: the walk of spec/c/api/test_fuel.c.
--
-- Calls are those of the golden records, in a table also those that
-- support/row_calls finds for other rows, and a list of hostile ones. Each is
-- made as it is and with its tensors repeated along all or some dims, with
-- integers as they are or scaled too: windows, counts and sizes grow so.
local measured, mode, pattern = ...
local la = require "lunarray"
local modules = require "spec.support.modules"
local records = require "spec.support.records"
local row_calls = require "spec.support.row_calls"

local TENSOR = getmetatable(la.zeros(1))
local MODES = {
  list = {calls = 1, targets = {4000}, dims = {"all"}},
  check = {calls = 1, targets = {20000}, dims = {"all"}, times = 4},
  table = {calls = 2, targets = {4000, 100000}, times = 12, rows = true,
           dims = {"all", "first", "last"}},
}
local how = MODES[mode]
-- One element of mvlgamma takes as long as its argument says, without a look
-- at the deadline.
local LEFT_OUT = {mvlgamma = true, programs = true, operations = true}

local function is_tensor(v)
  return type(v) == "userdata" and getmetatable(v) == TENSOR
end

---------------------------------------------------------------------------
-- Larger calls

local function tiled(t, k, dims)
  local times = {}
  for d = 1, t.ndim do
    local on = dims == "all" or d == (dims == "first" and 1 or t.ndim)
    times[d] = on and t:size(d) > 1 and k or 1
  end
  return t.ndim > 0 and t:tile(times) or t
end

local function scaled(v, k, dims, integers)
  if is_tensor(v) then return tiled(v, k, dims) end
  if math.type(v) == "integer" and integers and v > 1 then return v * k end
  if type(v) ~= "table" or getmetatable(v) then return v end
  local out = {}
  for key, x in pairs(v) do out[key] = scaled(x, k, dims, integers) end
  return out
end

-- Elements and dims of the largest tensor.
local function largest(v)
  if is_tensor(v) then return v:numel(), v.ndim end
  local most, ndim = 0, 1
  if type(v) == "table" and not getmetatable(v) then
    for _, x in pairs(v) do
      local n, d = largest(x)
      if n > most then most, ndim = n, d end
    end
  end
  return most, ndim
end

---------------------------------------------------------------------------
-- Measuring

local found = {}            -- the worst call of each operation

local function note(name, what, fuel, ns, f)
  if mode == "list" then
    print(("%s %s %d"):format(name, what, fuel))
  end
  local rate = ns / math.max(fuel, 1)
  -- The first touch of so much memory takes longer than the work in it.
  if fuel > 10000 then return end
  if ns > 100000 and (not found[name] or found[name].rate < rate) then
    found[name] = {rate = rate, what = what, fuel = fuel, ns = ns,
      f = mode == "check" and f or nil}
  end
end

local function measure(name, what, f)
  local fuel, ns, well = measured(f)
  if not well then return end
  local spent = ns
  for _ = 1, how.times or 0 do
    if spent > 3e8 then break end
    collectgarbage()
    local _, again = measured(f)
    spent, ns = spent + again, math.min(ns, again)
  end
  note(name, what, fuel, ns, f)
end

local function call(name, what, fn, args)
  if mode == "table" and is_tensor(args[1]) then
    what = ("%s %s %s"):format(what, args[1].dtype, args[1].shape)
  end
  measure(name, what, function() fn(table.unpack(args, 1, args.n)) end)
end

local function sizes(name, fn, args)
  local n, ndim = largest(args)
  call(name, "as it is", fn, args)
  if n < 2 then return end
  for _, target in ipairs(how.targets) do
    for _, dims in ipairs(how.dims) do
      local power = dims == "all" and ndim > 0 and 1 / ndim or 1
      local k = math.max(2, math.ceil((target / n) ^ power))
      for _, integers in ipairs{false, true} do
        local ok, big = pcall(scaled, args, k, dims, integers)
        if ok and largest(big) < 10 * target then
          big.n = args.n
          call(name, ("%d %s %s"):format(target, dims, integers), fn, big)
        end
      end
    end
  end
end

---------------------------------------------------------------------------
-- The walk

local function wanted(name)
  return not LEFT_OUT[name] and (not pattern or name:find(pattern))
end

local seen = {}

local function records_of(name, path)
  local n, kinds = 0, {}
  for r in records.each(path) do
    if n == how.calls then return end
    local ok, fn, args, keywords = pcall(records.call_of, r)
    local kind = ok and r.style .. #r.args
      .. (is_tensor(args[1]) and args[1].dtype or "")
    if ok and largest(args) > 0 and not kinds[kind] then
      kinds[kind] = true
      if keywords then
        args.n = args.n + 1
        args[args.n] = keywords
      end
      if pcall(fn, table.unpack(args, 1, args.n)) then
        n, seen[name] = n + 1, true
        sizes(name, fn, args)
      end
    end
  end
end

local function walk()
  for _, path in ipairs(modules.golden()) do
    local name = path:match "([^/]+)%.jsonl$"
    if wanted(name) then records_of(name, path) end
  end
  for _, op in ipairs(how.rows and la.operations() or {}) do
    local known = seen[op.name] or seen[op.row]
    local c = not known and wanted(op.row) and row_calls.find(op)
    if c then sizes(op.row, c.fn, row_calls.arguments(c)) end
  end
end

---------------------------------------------------------------------------
-- Calls that once cost next to nothing

local function hooked()
  local x = la.ones(3, {requires_grad = true})
  for _ = 1, 3000 do x:register_hook(print) end
end

local function hostile()
  local crowd, many = la.zeros(1500, 2), la.rand(3000, 2)
  local m = la.rand(60, 60)
  local list = {
    hooks = hooked,
    max_pool = function() la.max_pool1d(la.rand(1, 1, 6000), 3000, 1) end,
    avg_pool = function() la.avg_pool1d(la.rand(1, 1, 6000), 3000, 1) end,
    svd = function() la.linalg.svd(m) end,
    eig = function() la.eig(m) end,
    unbind = function() many:unbind(1) end,
    split = function() many:split(1) end,
    pdist = function() la.pdist(many[{{1, 300}}]) end,
    cdist = function() la.cdist(many[{{1, 300}}], many[{{1, 300}}], 1) end,
    addbmm = function()
      local b = la.rand(20, 60, 60)
      la.addbmm(m, b, b)
    end,
    index_fill = function()
      m:index_fill(1, la.ones(10000, {dtype = "int64"}), 0)
    end,
    zeta = function() la.special.zeta(la.full({3000}, 1.0001), 0.1) end,
    gamma = function() la.gamma(la.rand(3000)) end,
    fmod = function()
      la.full({3000}, 1e308, {dtype = "float64"}):fmod(3e-308)
    end,
    window = function() return la.kaiser_window(30000) end,
    logspace = function() return la.logspace(0, 1, 30000) end,
    conv_int8 = function()
      local image = la.ones(1, 60, 10, 10, {dtype = "int8"})
      la.integer_conv2d(image, la.ones(60, 60, 5, 5, {dtype = "int8"}))
    end,
    broadcast = function() return la.ones(30000, 1, 2) * la.ones(1, 3, 1) end,
    tostring = function() return tostring(many) end,
    table = function() return la.tensor(many:totable()) end,
  }
  if la.game then
    list.boids = function() la.game.boids(crowd, crowd, {radius = 9}) end
    list.neighbors = function() la.game.neighbors(crowd, 1, {max = 1}) end
    list.nearest = function() la.game.nearest(crowd, crowd, 1) end
    list.poisson = function() la.game.poisson_disc({40, 40}, 1) end
    list.astar = function()
      la.game.astar(la.ones(60, 60), {1, 1}, {60, 60})
    end
  end
  if la.signal then
    local one, rising = la.ones(3000):long(), la.range(3000)
    list.peaks_apart = function()
      la.signal.peaks_apart(la.range(3000), rising, 2900)
      la.signal.peaks_apart(one, rising, 1)
    end
    list.peak_widths = function()
      la.signal.peak_widths(-rising:float(), one, 9e9, 1e9)
    end
    list.medfilt = function() la.signal.medfilt(la.rand(20000), 301) end
  end
  local names = {}
  for name in pairs(list) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    if not pattern or ("hostile " .. name):find(pattern) then
      measure("hostile " .. name, "", list[name])
    end
  end
end

---------------------------------------------------------------------------

-- A compiled call costs what its calls do, up to the rounding of their sum and
-- the call itself. The number of functions that do not.
local function compiled()
  local x, y, faults = la.rand(64, 64), la.rand(2, 3, 32, 32), 0
  local weight = la.rand(4, 3, 3, 3)
  local list = {
    function(a) return a + 1 end,
    function(a) return ((a * 2 + 1):exp() - a):sum() end,
    function(a) return (a:matmul(a) + 1):relu() end,
    function(_, b) return la.conv2d(b, weight) end,
    function(a) return a:softmax(2):sort(1) end,
    function(a) local z = a:clone() z:add_(1) z[1] = 3 return z end,
    function(a) return la.fft.rfft(a % 3) end,
  }
  for k, f in ipairs(list) do
    local g = la.compile(f)
    for _ = 1, 3 do g(x, y) end
    local eager = measured(function() f(x, y) end)
    local again = measured(function() g(x, y) end)
    if math.abs(again - eager) > 3 then
      print(("compiled function %d: %d units, %d as it is"):format(k, again,
                                                                   eager))
      faults = faults + 1
    end
  end
  return faults
end

-- Nanoseconds that adding takes for a unit of fuel.
local function adding()
  local x, best = la.rand(1000000), math.huge
  for _ = 1, 10 do
    local fuel, ns = measured(function() return x + x end)
    best = math.min(best, ns / fuel)
  end
  return best
end

local unit = mode ~= "list" and adding()
walk()
hostile()
if mode == "list" then return 0 end

-- Calls next to additions, in turn: the smallest of many ratios. Of a processor
-- that is shared both take longer, and each only now and then.
local function confirmed(f)
  local least = math.huge
  for _ = 1, 40 do
    local fuel, ns, well = measured(f)
    if not well then return 0 end
    least = math.min(least, ns / math.max(fuel, 1) / adding())
    if least <= 20 then break end
  end
  return least
end

-- The table is read on a quiet machine. A check allows for one where a unit of
-- adding is very cheap; what it is for were calls of 1000 times that.
local LIMIT, faults, names = mode == "table" and 20 or 100, 0, {}
for name in pairs(found) do names[#names + 1] = name end
table.sort(names, function(a, b) return found[a].rate > found[b].rate end)
for _, name in ipairs(names) do
  local f = found[name]
  local ratio = f.rate / unit
  if mode == "check" and ratio > LIMIT then ratio = confirmed(f.f) end
  if mode == "table" or ratio > LIMIT then
    print(("%8.1f x adding (%6.0f ns a unit)  %s %s: %d units, %.0f us")
      :format(ratio, f.rate, name, f.what, f.fuel, f.ns / 1000))
  end
  if ratio > LIMIT then faults = faults + 1 end
end
return mode == "check" and faults + compiled() or 0
