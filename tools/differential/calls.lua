-- The side of run.py that calls lunarray.
--
--   lua calls.lua list      the registry, one row a line
--   lua calls.lua < calls   one expression a line, its results back
--
-- A call is a Lua expression that makes its own tensors, so a line that is
-- reported as a failure is a program. Of each call come back one line per
-- result, tab separated, and a line "end":
--   tensor dtype sizes bytes(hexadecimal)    value number    error message
local la = require "lunarray"

local function list()
  for _, o in pairs(la.operations()) do
    print(table.concat({o.row, o.name, o.forms, o.signature,
      table.concat(o.dtypes, ",")}, "\t"))
  end
end

local function hexadecimal(s)
  return (s:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- A tensor over the bytes: sizes, strides and the first element of the storage.
local function T(dtype, hex, sizes, strides, first)
  local raw = hex:gsub("%x%x", function(h)
    return string.char(tonumber(h, 16))
  end)
  local n = #raw // la.zeros(0, {dtype = dtype}):element_size()
  return la.from_raw(raw, dtype, {n}):as_strided(sizes, strides, first)
end

local function show(v)
  if la.is_tensor(v) then
    return table.concat({"tensor", v.dtype, table.concat(v.shape, ","),
      hexadecimal(v:tostring_raw())}, "\t")
  end
  return "value\t" .. tostring(v)
end

-- Several values, or one table of them: both are a list of results.
local function answer(ok, first, ...)
  if not ok then
    print("error\t" .. tostring(first):gsub("%s+", " "))
    return
  end
  local all = table.pack(first, ...)
  if all.n == 1 and type(first) == "table" then
    all = table.pack(table.unpack(first))
  end
  for k = 1, all.n do print(show(all[k])) end
end

if arg[1] == "list" then
  list()
else
  for line in io.lines() do
    local call = load("local la, T = ... return " .. line)
    answer(pcall(call, la, T))
    print("end")
  end
end
