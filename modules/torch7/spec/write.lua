-- Files of Torch7, written by the description of its format: the tests' own
-- writer. write(value, {text = false, long = 8}) -> bytes.
--
-- Values: nil, booleans, numbers, strings, tables; {class = "nn.Linear",
-- fields = {...}}; {storage = "Float", ...numbers}; {tensor = "Float", sizes =,
-- strides =, offset = 1, data = a storage}; {code = "bytes", upvalues = {...}},
-- with numbered = true in the form that has a number. The same table is the
-- same object.
local FORMATS = {Byte = "B", Char = "b", Short = "<i2", Int = "<i4",
                 Long = "<i8", Float = "<f", Double = "<d", Half = "<I2"}

return function(value, how)
  how = how or {}
  local out, numbers, count = {}, {}, 0
  local function put(s) out[#out + 1] = s end
  local function int(v)
    put(how.text and ("%d\n"):format(v) or string.pack("<i4", v))
  end
  local function long(v)
    put(how.text and ("%d\n"):format(v)
        or string.pack(how.long == 4 and "<i4" or "<i8", v))
  end
  local function double(v)
    put(how.text and ("%.17g\n"):format(v) or string.pack("<d", v))
  end
  local function chars(s) put(how.text and #s > 0 and s .. "\n" or s) end
  local function text(s) int(#s) chars(s) end

  local function elements(kind, list)
    local format = FORMATS[kind] or FORMATS[kind:match "^Cuda(.+)"] or "<f"
    if kind == "Long" and how.long == 4 then format = "<i4" end
    local raw = not how.text or kind == "Byte" or kind == "Char"
    local all = {}
    for k, v in ipairs(list) do
      all[k] = raw and string.pack(format, v)
        or (format:find "[fd]" and "%.17g" or "%d"):format(v)
    end
    put(table.concat(all, raw and "" or " ") .. (how.text and "\n" or ""))
  end

  local object

  -- The tag and the number; is it the first time?
  local function begin(tag, v)
    int(tag)
    local known = numbers[v]
    if not known then
      count = count + 1
      numbers[v] = count
    end
    int(numbers[v])
    return not known
  end

  local function class(name)
    text "V 1"
    text(name)
  end

  local function put_tensor(v)
    if not begin(4, v) then return end
    class("torch." .. v.tensor .. "Tensor")
    int(#v.sizes)
    for _, n in ipairs(v.sizes) do long(n) end
    for _, n in ipairs(v.strides) do long(n) end
    long(v.offset or 1)
    object(v.data)
  end

  local function put_storage(v)
    if not begin(4, v) then return end
    class("torch." .. v.storage .. "Storage")
    long(v.count or #v)
    elements(v.storage, v)
  end

  local function put_table(v)
    if not begin(3, v) then return end
    local n = 0
    for _ in pairs(v) do n = n + 1 end
    int(n)
    for k, x in pairs(v) do
      object(k)
      object(x)
    end
  end

  local function put_function(v)
    if not v.numbered then int(6)
    elseif not begin(8, v) then return end
    text(v.code)
    object(v.upvalues)
  end

  local function put_object(v)
    if v.tensor then return put_tensor(v) end
    if v.storage then return put_storage(v) end
    if v.code then return put_function(v) end
    if not v.class then return put_table(v) end
    if not begin(4, v) then return end
    if v.old then text(v.class) else class(v.class) end
    object(v.fields)
  end

  function object(v)
    local kind = type(v)
    if v == nil then int(0)
    elseif kind == "number" then int(1) double(v)
    elseif kind == "string" then int(2) text(v)
    elseif kind == "boolean" then int(5) int(v and 1 or 0)
    else put_object(v) end
  end

  object(value)
  return table.concat(out)
end
