--- lunarray for LuaJIT (LÖVE, Neovim, OpenResty, ...): the library without Lua,
-- liblunarray-core, by LuaJIT's FFI. Words, dims and indices are those of Lua
-- 5.4's lunarray; luajit/README.md says what is otherwise.
--   local la = require "lunarray.ffi"
-- LUNARRAY_CORE, a variable of the environment or a global, is the library's
-- path where the system's loader does not find it.
local ffi = require "ffi"
local kind = require "lunarray.ffi.declarations"

local function open()
  local path = rawget(_G, "LUNARRAY_CORE") or os.getenv "LUNARRAY_CORE"
  if path then return ffi.load(path) end
  local found, library = pcall(ffi.load, "lunarray-core")
  if found then return library end
  return ffi.load "liblunarray-core.so.0"
end

local C = open()
local la = {}
local tensors = require "lunarray.ffi.tensors"(C)
local calls = require "lunarray.ffi.calls"(C, tensors)
local programs = require "lunarray.ffi.programs"(C, tensors)

-- ---- operations ----

--- The text of what the operation takes and gives: one line per overload.
-- @param name as it is called: "sum", "fft.fft"
function la.schema(name)
  local op = C.la_op_find(name)
  if op == nil then error("schema: there is no operation '" .. name .. "'", 2) end
  local lines, k = {}, 0
  while C.la_op_schema(op, k) ~= nil do
    lines[k + 1] = ffi.string(C.la_op_schema(op, k))
    k = k + 1
  end
  return table.concat(lines, "\n")
end

--- What it computes, in words.
function la.help(name)
  local op = C.la_op_find(name)
  if op == nil then return nil end
  return la.schema(name) .. "\n" .. ffi.string(C.la_op_doc(op, 0))
end

--- The names of all operations, a list.
function la.operations()
  local names, i = {}, 0
  while true do
    local op = C.la_op_listed(i)
    if op == nil then return names end
    names[i + 1] = ffi.string(C.la_op_schema(op, 0)):match "^[%w_]+"
    i = i + 1
  end
end

-- la.fft, la.linalg, ...: names before the first underscore of an operation.
local themes
local function theme(name)
  if not themes then
    themes = {}
    for _, full in ipairs(la.operations()) do
      local first = full:match "^(%w+)_%w"
      if first then themes[first] = true end
    end
  end
  if not themes[name] then return nil end
  return setmetatable({}, {__index = function(t, member)
    local f = calls.named(name .. "." .. member)
    t[member] = f
    return f
  end})
end

setmetatable(la, {__index = function(t, name)
  if type(name) ~= "string" then return nil end
  local found = calls.named(name) or theme(name)
  t[name] = found
  return found
end})

-- ---- settings ----

--- f(...) with operations that are recorded for gradients.
function la.enable_grad(f, ...)
  return tensors.ending(function(before) C.la_set_grad_enabled(before) end,
    C.la_set_grad_enabled(true), f, ...)
end

--- The dtype of new tensors of floats.
function la.get_default_dtype() return la.empty({}).dtype end

--- What generates random numbers at this moment, for la.set_rng_state.
function la.get_rng_state()
  local state = ffi.new "la_generator_state"
  tensors.check(C.la_get_generator(nil, state), 2)
  return state
end
function la.set_rng_state(state)
  tensors.check(C.la_set_generator(nil, state), 2)
end

-- What lunarray.nn asks: which modules add to it, and what records a program.
function la.config() return {modules = {}, version = la._VERSION} end
function la._recording() end

-- ---- tensors ----

la.tensor = calls.tensor
la.is_tensor = tensors.is

--- A tensor on memory of the host, which must outlive it and its views.
-- @param data a pointer or an array of LuaJIT's
-- @param dtype the dtype of its elements
-- @param sizes a list
function la.wrap(data, dtype, sizes)
  local n = #sizes
  local list = ffi.new("int64_t[?]", n + 1, sizes)
  local t = C.la_wrap(ffi.cast("void *", data), dtype, n, list, nil, nil, nil)
  return tensors.made(t, 2)
end

--- f(...) with operations that are not recorded for gradients.
function la.no_grad(f, ...)
  return tensors.ending(function(before) C.la_set_grad_enabled(before) end,
    C.la_set_grad_enabled(false), f, ...)
end

--- f(...); tensors that are made meanwhile are freed at its end, but those that
-- it returns, in tables too, and those given to la.keep. They cost LuaJIT's
-- collector nothing.
la.tidy = tensors.tidy
la.keep = tensors.keep

--- Draws begin anew from the seed n.
function la.manual_seed(n)
  tensors.check(C.la_seed_generator(nil, n), 2)
end

--- Sets the dtype of new tensors of floats.
function la.set_default_dtype(dtype)
  tensors.check(C.la_set_default_dtype(dtype), 2)
end

--- The tensor of a .npy file, or that of this name in an .npz or .safetensors.
function la.load(path, name)
  return tensors.made(C.la_load(path, name), 2)
end

--- A tensor to a .npy, a table of tensors by name to an .npz or .safetensors.
function la.save(object, path)
  local list = tensors.is(object) and {[""] = object} or object
  local names = {}
  for name in pairs(list) do names[#names + 1] = name end
  table.sort(names)
  local items = ffi.new("la_named[?]", #names + 1)
  for i, name in ipairs(names) do
    items[i - 1].name = name
    items[i - 1].tensor = tensors.pointer(list[name], "save")
  end
  tensors.check(C.la_save(path, #names, items), 2)
end

for _, dtype in ipairs {"bool", "uint8", "int8", "int16", "int32", "int64",
  "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64",
  "complex32", "complex64", "complex128"} do
  la[dtype] = dtype
end
la.newaxis, la.ellipsis = tensors.newaxis, "..."
la.pi, la.inf, la.nan = math.pi, math.huge, 0 / 0
la.load_program = programs.load
la._VERSION = C.la_version()
la.kinds = kind

-- lunarray.nn, optim and data are the files of Lua 5.4's lunarray, which ask for
-- the library by this name.
package.preload["lunarray"] = package.preload["lunarray"]
  or function() return la end
return la
