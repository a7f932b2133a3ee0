-- Calls in every floating-point mode of a host, for test_fpmode.c, which
-- gives in_mode(name, f, ...): what the mode has become, or nil where it is the
-- one before, then the results of pcall.
local la = require "lunarray"
local records = require "spec.support.records"
local samples = require "spec.support.samples"

local fp_modes = {}

local MOST = 6                  -- records of an operation

local function hash(v)
  if type(v) == "table" then
    local list = {}
    for i, e in ipairs(v) do list[i] = hash(e) end
    return table.concat(list, " ")
  end
  local ok, h = pcall(la.hash, v)
  if type(v) == "userdata" and ok then return ("%x"):format(h) end
  return type(v) == "userdata" and "?" or tostring(v)
end

-- Results whose bits may differ: memory that nobody wrote.
local unwritten = {empty = true, empty_like = true, new_empty = true,
  empty_strided = true, empty_permuted = true, new_empty_strided = true,
  resize_ = true, resize_as_ = true}

-- The call of one record in one mode: nil, or what is wrong; and the bits.
local function run(in_mode, mode, r)
  local f, args, keywords = records.call_of(r)
  local n = args.n
  if keywords then n = n + 1; args[n] = keywords end
  la.manual_seed(7)
  local out = table.pack(in_mode(mode, f, table.unpack(args, 1, n)))
  local bits = {tostring(out[2])}
  for i = 3, out[2] and out.n or 2 do bits[#bits + 1] = hash(out[i]) end
  return out[1], table.concat(bits, " ")
end

local function paths()
  local pipe = assert(io.popen("LC_ALL=C ls spec/golden/*.jsonl"))
  local list = {}
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

-- The first records, and all that raise.
local function each_record(visit)
  for _, path in ipairs(paths()) do
    local n = 0
    for r in records.each(path) do
      if r.op ~= "program" then
        n = n + 1
        if n <= MOST or r.expect.error then visit(r) end
      end
    end
  end
end

local function add(list, ...) list[#list + 1] = ("%s: %s: %s"):format(...) end

local function finish(wrong)
  assert(#wrong == 0, ("%d calls:\n  %s"):format(#wrong,
    table.concat(wrong, "\n  ", 1, math.min(#wrong, 20))))
end

-- The same bits with one thread and with several, and with traps as without.
function fp_modes.operations(in_mode, modes)
  local wrong, most = {}, la.get_num_threads()
  each_record(function(r)
    local bits = {}
    for _, mode in ipairs(modes) do
      la.set_num_threads(1)
      local why, one = run(in_mode, mode, r)
      if why then add(wrong, r.id, mode, why) end
      la.set_num_threads(math.max(2, most))
      local _, several = run(in_mode, mode, r)
      bits[mode] = one
      if not unwritten[r.op] and one ~= several then
        add(wrong, r.id, mode, "other bits on threads")
      end
    end
    if not unwritten[r.op] and bits.traps ~= bits.nearest then
      add(wrong, r.id, "traps", bits.traps .. " for " .. bits.nearest)
    end
  end)
  la.set_num_threads(most)
  finish(wrong)
end

-- What runs over several threads.
local function large(f)
  return function() return f(la.linspace(-1e30, 1e30, 300000)) end
end

-- What a row may take whose calls are written out nowhere: some fit.
local function guesses()
  local x, q = la.rand(3, 4), la.rand(4)
  local lots = la.tensor{1, 2, 2}
  return {{x}, {x, x}, {x, x, x}, {x, 1}, {x, 2, 1}, {x, lots}, {q, q}, {4},
    {q}, {la.rand(4, 4)}, {x, 0.5}, {{3, 4}}, {x, {3, 4}}, {x, "float64"},
    {x, la.rand(5, 4)}, {la.rand(5, 2), 0.5}, {1, {3, 4}}, {x, {1, 2}}, {}}
end

-- Calls of operations without records of their own: (f, arguments).
local function each_other(visit)
  local recorded, done = {}, {}
  each_record(function(r) recorded[r.op:gsub("_$", "")] = true end)
  for _, op in ipairs(la.operations()) do
    local theme, name = op.name:match("^(%a+)_(.+)$")
    local f = la[op.name] or la.zeros(1, 1)[op.name]
      or theme and type(la[theme]) == "table" and la[theme][name]
    local known = done[op.name] or recorded[op.name:gsub("_$", "")]
    if type(f) == "function" and not known then
      done[op.name] = true
      for k, s in ipairs(samples.of(op.name)) do
        if k <= MOST then visit(op.name, s.f, s.inputs) end
      end
      for k = 1, #guesses() do
        visit(op.name, f, function() return guesses()[k] end)
      end
    end
  end
end

function fp_modes.others(in_mode, modes)
  local wrong = {}
  each_other(function(name, f, arguments)
    local bits = {}
    for _, mode in ipairs(modes) do
      la.manual_seed(7)
      local out = table.pack(in_mode(mode, f, table.unpack(arguments())))
      if out[1] then add(wrong, name, mode, out[1]) end
      bits[mode] = tostring(out[2])
      for i = 3, out[2] and out.n or 2 do
        bits[mode] = bits[mode] .. " " .. hash(out[i])
      end
    end
    if not unwritten[name] and bits.traps ~= bits.nearest then
      add(wrong, name, "traps", bits.traps .. " for " .. bits.nearest)
    end
  end)
  finish(wrong)
end

-- What is no operation: conversions, texts, indices, graphs, files.
local nan, inf = 0 / 0, math.huge
local function odd() return la.tensor{nan, inf, -inf, 0, 1e-40, 3.7} end
local calls = {
  from_table = function()
    return la.tensor({1e300, nan}, {dtype = "float32"})
  end,
  to_int = function() return odd():to("int32") end,
  item = function() return la.tensor{nan}:item() end,
  tointeger = function() return la.tensor{1e300}:tointeger() end,
  totable = function() return odd():half():totable() end,
  text = function() return tostring(odd()) end,
  less = function() return la.tensor{nan} < 1 end,
  equal = function() return odd() == odd() end,
  concat = function() return "x " .. odd() end,
  get = function() return odd()[{{1, 3}}] end,
  put = function() local x = odd() x[1] = 1e300 return x end,
  attribute = function() return la.ones(2, 2).T end,
  pairs = function() for _, row in pairs(odd()) do assert(row) end end,
  length = function() return #odd() end,
  apply = function() return odd():apply_(function(v) return v * 2 end) end,
  backward = function()
    local x = odd():requires_grad_()
    ;(x * 1e38):exp():sum():backward()
    return x.grad
  end,
  fuse = function()
    return la.fuse(function(x) return (x * 1e38):exp() end)(odd())
  end,
  vmap = function()
    return la.vmap(function(x) return x:exp() / 0 end)(odd())
  end,
  tidy = function() return la.tidy(function() return odd() * 1e38 end) end,
  hash = function() return la.hash(odd()) end,
  describe = function() return la.describe(odd()) end,
  inverse = function() return la.inverse(la.zeros(3, 3)) end,
  svd = function() return la.linalg.svdvals(la.rand(50, 50)) end,
  mean = function() return la.zeros(0):mean() end,
  normal = function() return la.randn(5) end,
  no_grad = function() local _ <close> = la.no_grad() return odd() / 0 end,
  snapshot = function() la.snapshot{odd()}:restore() end,
  plot = function() return la.plot and la.plot.line(la.rand(20)) end,
  save = function()
    local path = os.tmpname()
    la.write_csv(path, la.tensor{{nan, 1e300}, {1e-310, 2}})
    local x = la.read_csv(path)
    os.remove(path)
    return x
  end,
  raise = function() la.ones(2).exp(nan, nan) end,
  raise_late = function() return odd():reshape(7) end,
  raise_in_function = function()
    odd():apply_(function() error(la.rand(2) * 1e38) end)
  end,
  large_exp = large(function(x) return x:exp() end),
  large_sum = large(function(x) return (x * 1e30):sum() end),
  large_sort = large(function(x) return (x:sort()) end),
  large_softmax = large(function(x) return x:softmax(1) end),
  large_matmul = large(function(x)
    return x:view(300, 1000):matmul(x:view(1000, 300))
  end),
}

function fp_modes.binding(in_mode, modes)
  local wrong = {}
  for name, f in pairs(calls) do
    for _, mode in ipairs(modes) do
      local why = in_mode(mode, f)
      if why then add(wrong, name, mode, why) end
    end
  end
  finish(wrong)
end

local raising = {
  function() la.ones(2):reshape(7) end, function() la.sum("x") end,
  function() la.ones(2).nothing = 1 end, function() return la.ones(2)[7] end,
  function() la.manual_seed("x") end, function() la.no_grad(1, 2) end,
  function() la.tensor{{1}, {1, 2}} end, function() return #la.ones() end,
  function() la.ones(2):apply_(1) end, function() la.set_printoptions(1) end,
}

function fp_modes.positions(in_mode)
  local wrong = {}
  for i, f in ipairs(raising) do
    local _, ok, want = in_mode("nearest", f)
    local _, again, got = in_mode("traps", f)
    if ok ~= again or want ~= got then
      add(wrong, i, tostring(got), tostring(want))
    end
  end
  finish(wrong)
end

return fp_modes
