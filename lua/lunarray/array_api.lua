-- lunarray.array_api: what la.__array_namespace_info__() tells, after the
-- inspection functions of the Python array API standard (2025.12).
local la = require "lunarray"
local numbers = require "lunarray.numbers"

local array_api = {}

-- The dtypes of each kind, of those that the standard names and of the others.
local KINDS = {
  ["bool"] = "bool",
  ["signed integer"] = "int8 int16 int32 int64",
  ["unsigned integer"] = "uint8 uint16 uint32 uint64",
  ["real floating"] = "float16 bfloat16 float32 float64",
  ["complex floating"] = "complex32 complex64 complex128",
}
KINDS.integral = KINDS["signed integer"] .. " " .. KINDS["unsigned integer"]
KINDS.numeric = KINDS.integral .. " " .. KINDS["real floating"] .. " "
  .. KINDS["complex floating"]

local DEVICES = {cpu = true, meta = true}

local info = {}
info.__index = info

local function check_device(name, options)
  local device = options and options.device
  if device ~= nil and not DEVICES[device] then
    error(("%s: unknown device '%s' (known: cpu, meta)"):format(name,
      numbers.text(device)), 3)
  end
end

-- What depends on data, and how many dims there may be.
function info.capabilities()
  return {["boolean indexing"] = true, ["data-dependent shapes"] = true,
    ["max dimensions"] = 64}
end

function info.default_device() return "cpu" end

function info.devices() return {"cpu", "meta"} end

-- default_dtypes([{device=}]): dtypes of what is made without one.
function info.default_dtypes(_, options)
  check_device("default_dtypes", options)
  local real = la.get_default_dtype()
  return {["real floating"] = real, integral = "int64", indexing = "int64",
    ["complex floating"] = la.result_type(real, "complex32")}
end

-- dtypes([{device=, kind=}]): name to dtype, of one kind or of a list of them.
function info.dtypes(_, options)
  check_device("dtypes", options)
  local kind, out = options and options.kind, {}
  if kind == nil then kind = {"bool", "numeric"} end
  for _, name in ipairs(type(kind) == "table" and kind or {kind}) do
    local list = KINDS[name]
    if not list then
      error(("dtypes: unknown kind '%s' (known: bool, signed integer, unsigned "
        .. "integer, integral, real floating, complex floating, numeric)")
        :format(numbers.text(name)), 2)
    end
    for word in list:gmatch "%S+" do out[word] = word end
  end
  return out
end

function array_api.__array_namespace_info__()
  return setmetatable({}, info)
end

return array_api
