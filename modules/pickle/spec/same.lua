-- Values as la.load gives them, compared with a description that
-- torch_files.py wrote: name.tree and name.raw.
--
--   same(value, base) -> nil, or what differs first
--
-- As a program: lua5.4 modules/pickle/spec/same.lua FOLDER compares all files
-- that torch_files.py describe FOLDER FILE... described.
local la = require "lunarray"

local Tensor = {}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end

local function bytes_of(x)
  local flat = x:detach():resolve_conj():resolve_neg():reshape(-1)
  if flat:numel() == 0 then return "" end
  return flat:contiguous():tostring_raw()
end

local function tensor_differs(x, want, raw, path)
  if not la.is_tensor(x) then return path .. ": a tensor expected" end
  local dtype, sizes, strides, at, n, grad = table.unpack(want, 1, 6)
  if x.dtype ~= dtype then return path .. ": " .. x.dtype end
  local given = {x:stride()}
  if #x.shape ~= #sizes then return path .. ": number of dims" end
  for d = 1, #sizes do
    if x.shape[d] ~= sizes[d] then return path .. ": sizes" end
    if n > 0 and given[d] ~= strides[d] then return path .. ": strides" end
  end
  if x.requires_grad ~= grad then return path .. ": requires_grad" end
  if bytes_of(x) ~= raw:sub(at + 1, at + n) then return path .. ": values" end
end

local differs

local function table_differs(x, want, raw, path)
  if type(x) ~= "table" then return path .. ": a table expected" end
  for k, v in pairs(want) do
    local why = differs(x[k], v, raw, path .. "." .. tostring(k))
    if why then return why end
  end
  for k in pairs(x) do
    if want[k] == nil then return path .. ": more keys, " .. tostring(k) end
  end
end

function differs(x, want, raw, path)
  if getmetatable(want) == Tensor then
    return tensor_differs(x, want, raw, path)
  end
  if type(want) == "table" then return table_differs(x, want, raw, path) end
  local equal = x == want and math.type(x) == math.type(want)
    or x ~= x and want ~= want
  if not equal then
    return ("%s: %s, not %s"):format(path, tostring(x), tostring(want))
  end
end

local function same(value, base)
  local description = assert(load(read(base .. ".tree"), base, "t",
    {math = math, T = function(t) return setmetatable(t, Tensor) end}))()
  return differs(value, description, read(base .. ".raw"), "value")
end

local function compare(folder)
  local bad = 0
  for path in io.popen("ls " .. folder .. "/*.path"):lines() do
    local file = read(path)
    for _, load in ipairs {"load", "mmap"} do
      local ok, value = pcall(la[load], file)
      local why = not ok and value or same(value, path:sub(1, -6))
      print(why and "differs" or "same", load, file, why or "")
      bad = bad + (why and 1 or 0)
    end
  end
  os.exit(bad == 0)
end

if arg and arg[0] and arg[0]:match "same%.lua$" then compare(arg[1]) end
return same
