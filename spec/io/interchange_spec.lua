-- NumPy, safetensors' own package, PyTorch and Python's wave module read what
-- is written here, and the other way round, where they are installed
-- (LUNARRAY_PYTHON names another python3). The other side of each test is
-- spec/support/interchange.py.
local la = require "lunarray"
local modules = require "spec.support.modules"
local folder = require "spec.support.folder"

local PYTHON = os.getenv "LUNARRAY_PYTHON" or "python3"
local INTEGERS = {"uint8", "int8", "uint16", "int16", "uint32", "int32",
                  "uint64", "int64"}
local PLAIN = {"bool", "float16", "float32", "float64",
               table.unpack(INTEGERS)}
local COMPLEX = {"complex64", "complex128"}
local SOUNDS = {uint8 = {{0, 128}, {1, 255}},
                int16 = {{-32768, 5}, {0, 32767}}}

local files

-- The lines that the script prints; an error of its own is a bad one.
local function run(mode)
  local pipe = assert(io.popen(("%s spec/support/interchange.py %s %s 2>&1")
    :format(PYTHON, mode, files.name)))
  local text = pipe:read "a"
  pipe:close()
  return text
end

-- Which packages are not there: nil for all without Python.
local function missing_packages()
  local pipe = assert(io.popen(PYTHON .. " -c 'import importlib.util as u\n"
    .. "for n in (\"numpy\", \"safetensors\", \"torch\"):\n"
    .. "  print(n, u.find_spec(n) is not None)' 2>/dev/null"))
  local text = pipe:read "a"
  if not pipe:close() then return nil end
  local missing = {}
  for name, there in text:gmatch "(%w+) (%w+)" do
    missing[name] = there == "False" or nil
  end
  return missing
end

local missing = missing_packages()

-- As sample() of the script.
local function sample(dtype)
  local x = la.arange(12):view(3, 4)
  if dtype == "bool" then return (x % 3):eq(0) end
  if dtype:find "^complex" then
    return la.complex(x:double() / 2, -x:double()):to(dtype)
  end
  return (dtype:find "int" and x or x:double() / 2):to(dtype)
end

local function samples(list)
  local all = {}
  for _, dtype in ipairs(list) do all[dtype] = sample(dtype) end
  return all
end

local function same(want, x, what)
  assert.equal(want.dtype, x.dtype, what)
  assert.same(want.shape, x.shape, what)
  assert.is_true(la.equal(want, x), what)
end

local function everything()
  local list = {table.unpack(PLAIN)}
  for _, dtype in ipairs(COMPLEX) do list[#list + 1] = dtype end
  return list
end

-- A test where Python and its packages are there, or the word of what is not.
local function it_runs(name, needs, f)
  local lacks = not missing and PYTHON or nil
  for _, package in ipairs(needs) do
    if missing and missing[package] then lacks = package end
  end
  if lacks then pending(name .. ": left out, there is no " .. lacks)
  else it(name, f) end
end

modules.needing("csv audio", describe)("files between lunarray and Python",
function()
  local checked, wrote

  setup(function()
    files = folder.new()
    if not missing then return end
    local all = samples(everything())
    for dtype, x in pairs(all) do
      la.save(x, files:path("lua_" .. dtype .. ".npy"))
    end
    la.save(all, files:path "lua.npz")
    la.save(samples(PLAIN), files:path "lua.safetensors")
    la.save({x = sample("bfloat16")}, files:path "lua_bfloat16.safetensors")
    la.save(la.zeros(0, 3), files:path "lua_empty.npy")
    la.save(la.tensor(1.5), files:path "lua_scalar.npy")
    la.write_csv({i = la.arange(12), f = la.arange(12):double() / 7},
                 files:path "lua.csv")
    for dtype, values in pairs(SOUNDS) do
      la.audio.save(la.tensor(values, dtype),
                    files:path("lua_" .. dtype .. ".wav"), 8000)
    end
    checked, wrote = run "check", run "write"
  end)

  teardown(function() files:remove() end)

  local function all_good(mark)
    for _, text in ipairs{checked, wrote} do
      assert.is_nil(text:find("bad ", 1, true), text)
      assert.truthy(text:find("ok " .. mark, 1, true), text)
    end
  end

  it_runs("are read by Python's wave module, and back", {}, function()
    all_good "wave"
    for dtype, values in pairs(SOUNDS) do
      local x, rate = la.audio.load(files:path("py_" .. dtype .. ".wav"),
                                    {dtype = dtype})
      same(la.tensor(values, dtype), x, dtype)
      assert.equal(8000, rate)
    end
  end)

  it_runs("are read by NumPy, and back", {"numpy"}, function()
    all_good "numpy"
    local plain = la.load(files:path "py.npz")
    local small = la.load(files:path "py_small.npz")
    for _, dtype in ipairs(everything()) do
      local x = sample(dtype)
      same(x, la.load(files:path("py_" .. dtype .. ".npy")), dtype)
      same(x, plain[dtype], dtype)
      same(x, small[dtype], dtype)
    end
    same(sample "float32", la.load(files:path "py_fortran.npy"), "fortran")
    same(sample "int32", la.load(files:path "py_big.npy"), "big-endian")
    same(la.zeros(0, 3), la.load(files:path "py_empty.npy"), "empty")
    same(la.tensor(1.5), la.load(files:path "py_scalar.npy"), "scalar")
    local t = la.read_csv(files:path "py.csv")
    same(la.arange(12), t.i, "csv")
    same(la.arange(12):double() / 7, t.f, "csv")
  end)

  it_runs("are read by safetensors, and back", {"numpy", "safetensors"},
          function()
    all_good "safetensors"
    local t = la.load(files:path "py.safetensors")
    for _, dtype in ipairs(PLAIN) do same(sample(dtype), t[dtype], dtype) end
  end)

  it_runs("are read by PyTorch, and back", {"numpy", "safetensors", "torch"},
          function()
    all_good "torch"
    same(sample "bfloat16",
         la.load(files:path "py_bfloat16.safetensors").x, "bfloat16")
  end)
end)
