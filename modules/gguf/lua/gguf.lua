-- lunarray.gguf: GGUF files as tables of tensors, and quantized numbers.
--
-- A file is one tensor of bytes, mapped or read, and what stands in it are
-- views of that tensor. C reads the grammar (la.gguf.parse).
local la = require "lunarray"
local gguf = {}

-- ---- quantized numbers ----

-- Rows of blocks that stand for numbers: type, shape of the numbers, blocks
-- (uint8, {..., bytes of a row}).
local Quantized = {__name = "quantized"}
Quantized.__index = Quantized

-- Is it an object of this kind?
function gguf.is_quantized(x)
  return type(x) == "table" and rawget(x, "blocks") ~= nil
end

-- The object for blocks of a type; the shape of the numbers is theirs but for
-- the last dim.
function gguf.quantized(blocks, type)
  if not la.is_tensor(blocks) then
    error("gguf.quantized: blocks: a tensor of bytes expected", 2)
  end
  local probe = la.gguf.unpack(blocks:narrow(1, 1, 0), type)
  local shape = {table.unpack(probe.shape)}
  shape[1] = blocks.shape[1]
  return setmetatable({blocks = blocks, type = type, shape = shape,
                       dtype = "float32"}, Quantized)
end

-- The float32 numbers.
function Quantized:dequantize()
  return la.gguf.unpack(self.blocks, self.type)
end

-- The numbers of the rows that 'ids' (from 1) names.
function Quantized:rows(ids)
  return la.gguf.unpack(self.blocks:index_select(1, ids), self.type)
end

-- x @ w.T without making w; fast: with x rounded to 8 bits.
function Quantized:product(x, fast)
  return la.gguf.product(x, self.blocks, self.type, fast or false)
end

function Quantized:numel()
  local n = 1
  for _, size in ipairs(self.shape) do n = n * size end
  return n
end

-- How many bytes it takes.
function Quantized:nbytes() return self.blocks:numel() end

function Quantized:__tostring()
  return ("quantized({%s}, %s)"):format(table.concat(self.shape, ", "),
                                        self.type)
end

-- ---- reading ----

-- The tensor that an entry of parse's list describes.
local function view(bytes, info)
  local part = bytes:narrow(1, info.offset + 1, info.bytes)
  if not info.dtype then
    local shape = {table.unpack(info.shape)}
    shape[#shape] = info.row
    return setmetatable({blocks = part:view(shape), type = info.type,
                         shape = info.shape, dtype = "float32"}, Quantized)
  end
  if info.bytes == 0 then return la.zeros(info.shape, {dtype = info.dtype}) end
  local ok, typed = pcall(part.view, part, info.dtype)
  if not ok then typed = part:clone():view(info.dtype) end    -- not aligned
  return typed:view(info.shape)
end

local function tensors_of(bytes, infos, into, path)
  for _, info in ipairs(infos) do
    if into[info.name] then
      error(("load: '%s': tensor '%s' is in another part, too"):format(
            path, info.name), 0)
    end
    into[info.name] = view(bytes, info)
  end
end

-- The names of the other parts of a split file, which lie in its folder, by the
-- path of the first.
function gguf._other_parts(path, metadata)
  local n = metadata["split.count"]
  if math.type(n) ~= "integer" or n < 2 then return {} end
  local five = ("%d"):rep(5)
  local head, at, all = path:match("([^/\\]*)%-(" .. five .. ")%-of%-(" .. five
                                   .. ")%.gguf$")
  if not head or tonumber(all) ~= n then
    error(("load: '%s' is part of a file in %d parts, whose names end in "
           .. "-00001-of-%05d.gguf"):format(path, n, n), 0)
  end
  if tonumber(at) ~= 1 then
    error(("load: '%s' is part %d of %d; load the first one"):format(
          path, tonumber(at), n), 0)
  end
  local names = {}
  for k = 2, n do
    names[#names + 1] = ("%s-%05d-of-%s.gguf"):format(head, k, all)
  end
  return names
end

-- What a tensor of bytes, or a string, holds, as la.load gives it.
function gguf.decode(bytes, name)
  if type(bytes) == "string" then
    bytes = la.from_raw(bytes, "uint8", {#bytes})
  end
  local metadata, infos = la.gguf.parse(bytes, name or "bytes")
  local tensors = {}
  tensors_of(bytes, infos, tensors, name or "bytes")
  return {metadata = metadata, tensors = tensors}
end

-- The tensors of another part join the file.
function gguf.add(file, bytes, name)
  local _, infos = la.gguf.parse(bytes, name)
  tensors_of(bytes, infos, file.tensors, name)
end

-- {metadata =, tensors = {name = tensor or quantized}} of a file, which is
-- mapped, and of its other parts.
function gguf.load(path) return la.load(path) end

-- {version =, metadata =, layout = {{name =, type =, shape =, offset =,
-- bytes =}, ...}}, without tensors.
function gguf.info(path)
  local metadata, layout, version = la.gguf.parse(la.gguf.map(path), path)
  for _, info in ipairs(layout) do info.row = nil end
  return {version = version, metadata = metadata, layout = layout}
end

-- ---- writing ----

local TYPES = {float32 = "F32", float16 = "F16", bfloat16 = "BF16",
               float64 = "F64", int8 = "I8", int16 = "I16", int32 = "I32",
               int64 = "I64"}

-- A value with its type: booleans 7, strings 8, lists 9, integers 4 or 11,
-- floats 6 or 12. A list has one type, that of its first element.
local function pack_scalar(v, kind)
  if kind == 7 then return string.char(v and 1 or 0) end
  if kind == 8 then return string.pack("<s8", v) end
  local form = ({[4] = "<I4", [5] = "<i4", [6] = "<f", [11] = "<i8",
                 [12] = "<d"})[kind]
  return string.pack(form, v)
end

local function kind_of(v)
  if type(v) == "boolean" then return 7 end
  if type(v) == "string" then return 8 end
  if math.type(v) == "integer" then
    return v >= 0 and v < 1 << 32 and 4 or 11
  end
  if type(v) == "number" then
    return string.unpack("<f", string.pack("<f", v)) == v and 6 or 12
  end
  error("gguf.save: metadata: a boolean, number, string or list expected, got "
        .. type(v), 0)
end

-- One kind for all elements of a list: the widest of its numbers.
local function kind_of_list(list)
  local kind = #list > 0 and kind_of(list[1]) or 4
  for _, v in ipairs(list) do
    local k = kind_of(v)
    if k ~= kind then
      if math.type(v) == "integer" and (kind == 4 or kind == 11) then kind = 11
      elseif k == 12 and kind == 6 then kind = 12
      elseif not (k == 6 and kind == 12) then
        error("gguf.save: metadata: a list of one kind of values expected", 0)
      end
    end
  end
  return kind
end

local function pack_value(v)
  if type(v) ~= "table" then
    local kind = kind_of(v)
    return string.pack("<I4", kind) .. pack_scalar(v, kind)
  end
  local kind = kind_of_list(v)
  local parts = {string.pack("<I4I4I8", 9, kind, #v)}
  for i, element in ipairs(v) do parts[i + 1] = pack_scalar(element, kind) end
  return table.concat(parts)
end

local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function bytes_of(t)
  if gguf.is_quantized(t) then
    return t.blocks:contiguous():tostring_raw(), t.type
  end
  local type = TYPES[t.dtype]
  if not type then
    error("gguf.save: no type of GGUF for " .. t.dtype, 0)
  end
  return t:contiguous():tostring_raw(), type
end

local function padded(text, to) return text .. ("\0"):rep(-#text % to) end

-- The bytes of a file of version 3.
function gguf.encode(file)
  local metadata, tensors = file.metadata or {}, file.tensors or {}
  local numbers = la.gguf.types()
  local keys, names = sorted(metadata), sorted(tensors)
  local head = {"GGUF", string.pack("<I4I8I8", 3, #names, #keys)}
  local data, at = {}, 0
  for _, key in ipairs(keys) do
    head[#head + 1] = string.pack("<s8", key) .. pack_value(metadata[key])
  end
  for _, name in ipairs(names) do
    local t = tensors[name]
    local bytes, type = bytes_of(t)
    head[#head + 1] = string.pack("<s8I4", name, #t.shape)
    for d = #t.shape, 1, -1 do
      head[#head + 1] = string.pack("<I8", t.shape[d])
    end
    head[#head + 1] = string.pack("<I4I8", numbers[type], at)
    data[#data + 1] = padded(bytes, 32)
    at = at + #data[#data]
  end
  return padded(table.concat(head), 32) .. table.concat(data)
end

-- Writes {metadata =, tensors =}, as load gives it.
function gguf.save(file, path)
  local bytes = gguf.encode(file)
  if not io then
    error("gguf.save: files are not open to this script; gguf.encode gives the "
      .. "bytes", 0)
  end
  local out, why = io.open(path, "wb")
  if not out then error("gguf.save: " .. why, 0) end
  out:write(bytes)
  out:close()
end

return gguf
