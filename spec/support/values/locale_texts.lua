-- Writes what the library makes of numbers into a folder, for locale_spec: the
-- texts into the file 'texts', and files of each kind.
--   lua5.4 spec/support/values/locale_texts.lua FOLDER [early|late LOCALE]
-- The locale is set before the library is loaded, or when some of its
-- operations have been called.
local folder, when, name = arg[1], arg[2], arg[3]

local function set_locale()
  if os.setlocale(name) then return end
  io.stderr:write("no locale ", name, "\n")
  os.exit(3)
end

if when == "early" then set_locale() end
local la = require "lunarray"
local nn = require "lunarray.nn"
local plot = require "lunarray.plot"
local out = {}

-- A number by its bits: Lua's own texts of it follow the locale. Lists by their
-- elements.
local function shown(v)
  if type(v) == "function" then return "function" end
  if math.type(v) == "float" then return ("%016x"):format(string.unpack("<I8",
    string.pack("<d", v))) end
  if type(v) ~= "table" or getmetatable(v) then return tostring(v) end
  local parts = {}
  for k = 1, #v do parts[k] = shown(v[k]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function put(label, ...)
  local parts = {label}
  for k = 1, select("#", ...) do parts[k + 1] = shown((select(k, ...))) end
  out[#out + 1] = (table.concat(parts, "\t"):gsub("0x%x%x%x+", "ADDRESS"))
end

local function try(label, f, ...)
  la.manual_seed(7)
  put(label, pcall(f, ...))
end

if when == "late" then
  local _ = tostring(la.zeros(2):exp():softmax(1):std()) .. "done"
  set_locale()
end

---------------------------------------------------------------------------
-- Operations: every schema is read, and most errors about numbers are made.

local function fresh()
  return la.arange(12, {dtype = "float64"}):view(3, 4) / 7 - 0.6
end

-- Made anew for each call, as some write into their arguments.
local function calls()
  local x = fresh()
  return {{}, {x}, {x, 0.5}, {x, x}, {x, -0.25, 1.5}, {x, x, 0.75}, {0.5},
    {0.5, -1.5}, {x, {0.5, 1.5}}, {3, 0.25}}
end
-- Not those that wait, write, or say what the machine does.
local left_out = {config = true, sync = true, synchronize = true}

local done = {}
for _, op in ipairs(la.operations()) do
  local short = op.name:gsub("^.*%.", "")
  if not done[op.name] and not short:find "^empty" and not left_out[short] then
    done[op.name] = true
    put(op.name, op.signature)
    local f = la
    for word in op.name:gmatch("[^.]+") do f = f and f[word] end
    if f == nil then f = fresh()[short] end
    for k = 1, f and #calls() or 0 do
      try(op.name .. " " .. k, f, table.unpack(calls()[k]))
    end
    try("help " .. op.name, function() return la.help(op.name) end)
  end
end

---------------------------------------------------------------------------
-- Texts

local x = fresh()
for _, dtype in ipairs {"float16", "bfloat16", "float32", "float64",
  "complex64"} do
  put("print", (x * 1000):to(dtype), (x * 1e-6):to(dtype), (x * 1e9):to(dtype),
    la.tensor({1., 2}, {dtype = dtype}), la.tensor(0.1, {dtype = dtype}))
end
put("describe", la.describe(x), la.describe(x * 1e7))
try("item", function() return la.tensor(0.5):tointeger() end)
try("key", function() return la.zeros(2, {[0.5] = 1}) end)
try("keyword", function() return la.describe(x, {[0.5] = 1}) end)
try("index", function() return x[0.5] end)
try("close", function()
  require "lunarray.testing".assert_close(x, x + 0.001, {rtol = 0.5e-3,
    atol = 1e-4})
end)
try("scalar", function()
  require "lunarray.testing".assert_close(0.5, 0.75)
end)
try("lr", function()
  require "lunarray.optim".SGD({x:clone():requires_grad_()}, {lr = -0.5})
end)
try("sigma", function() require "lunarray.image".gaussian_blur(x, -0.5) end)
put("modules", nn.Dropout(0.25), nn.LayerNorm(3), nn.BatchNorm1d(2),
  nn.InstanceNorm1d(2), nn.GroupNorm(2, 4), nn.ELU(0.5), nn.LeakyReLU(0.125),
  nn.Softplus {beta = 0.5}, nn.Threshold(0.5, 1.5), nn.Hardtanh(-0.5, 0.5),
  nn.Linear(300, 400))
put("summary", nn.summary(nn.Sequential(nn.Linear(300, 400), nn.Dropout(0.5)),
  {2, 300}))
local leaf = x:clone():requires_grad_()
try("graph", function()
  return require "lunarray.graph".graph((leaf * 0.5):sum())
end)

---------------------------------------------------------------------------
-- Files

local function path(file) return folder .. "/" .. file end

la.write_csv({x = x[1], y = x[2] * 1e-9}, path "a.csv")
local table_of = la.read_csv(path "a.csv")
put("csv", table_of.x, table_of.y)
la.save({x = x}, path "a.npz")
la.save({x = x, n = 3, rate = 0.1, ["0.5"] = x}, path "a.safetensors")
put("loaded", la.load(path "a.safetensors").rate, la.load(path "a.npz").x)
local text = "0.1,1e-320,123456789012345678901234567890.5,1.5e308\n"
local file = assert(io.open(path "b.csv", "wb"))
file:write("a,b,c,d\n", text)
file:close()
local read = la.read_csv(path "b.csv")
for _, key in ipairs {"a", "b", "c", "d"} do put(key, read[key][1]:item()) end
for _, kind in ipairs {".svg", ".txt"} do
  plot.line(x[1] * 1e-3, {title = 0.5, xlim = {0.5, 3.5}, style = "--"})
    :save(path("line" .. kind))
  plot.scatter(x[1], x[2] * 1e9, {alpha = 0.5}):save(path("dots" .. kind))
  plot.hist(x[1], {bins = 3}):save(path("hist" .. kind))
  plot.heatmap(x):save(path("image" .. kind))
end

local texts = assert(io.open(path "texts", "wb"))
texts:write(table.concat(out, "\n"), "\n")
texts:close()
