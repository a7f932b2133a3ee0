-- Calls of operations, keys between brackets, metamethods and attributes.
--
-- LuaJIT's numbers are doubles, so 1.0 is 1: a whole number is an integer
-- argument, and numbers in a table of data make the default dtype of floats.
local bit = require "bit"
local ffi = require "ffi"
local kind = require "lunarray.ffi.declarations"

local MOST, ROOM = 16, 64
local FUNCTION, METHOD, INPLACE = 1, 2, 4

-- The C types of elements that are read as they are.
local CTYPES = {
  bool = "uint8_t", uint8 = "uint8_t", int8 = "int8_t", int16 = "int16_t",
  int32 = "int32_t", int64 = "int64_t", uint16 = "uint16_t",
  uint32 = "uint32_t", uint64 = "uint64_t", float32 = "float",
  float64 = "double"}

return function(C, tensors)
  local calls = {}
  local arguments = ffi.new("la_any[?]", MOST)
  local results = ffi.new("la_any[?]", ROOM)
  local ranges = ffi.new("la_range[?]", MOST)
  local number = ffi.new("la_any[1]")
  local int64, uint64, double =
    ffi.typeof "int64_t", ffi.typeof "uint64_t", ffi.typeof "double"

  local function whole(v)
    return v % 1 == 0 and v > -9007199254740992 and v < 9007199254740992
  end

  -- ---- arguments ----

  -- A table as a list of integers, numbers, tensors or texts; 'anchors' keeps
  -- what C only sees by address.
  local function put_list(slot, list, name, anchors)
    local n, first = #list, list[1]
    local out
    if tensors.is(first) then
      slot.kind, out = kind.TENSORS, ffi.new("la_tensor *[?]", n)
      for i = 1, n do out[i - 1] = tensors.pointer(list[i], name, 5) end
    elseif type(first) == "string" then
      slot.kind, out = kind.TEXTS, ffi.new("const char *[?]", n)
      for i = 1, n do out[i - 1] = list[i] end
    else
      slot.kind = kind.INTEGERS
      for i = 1, n do
        if type(list[i]) ~= "number" then
          error(("%s: list of numbers expected, got %s in it"):format(name,
            type(list[i])), 5)
        end
        if not whole(list[i]) then slot.kind = kind.NUMBERS end
      end
      out = ffi.new(slot.kind == kind.NUMBERS and "double[?]" or "int64_t[?]",
        n + 1, list)
    end
    slot.list, slot.count = out, n
    anchors[#anchors + 1] = out
  end

  local function put(slot, v, name, anchors)
    local t = type(v)
    if t == "number" then
      if whole(v) and (v ~= 0 or 1 / v > 0) then
        slot.kind, slot.integer = kind.INTEGER, v
      else
        slot.kind, slot.number = kind.NUMBER, v
      end
    elseif t == "cdata" then
      if ffi.istype(int64, v) or ffi.istype(uint64, v) then
        slot.kind, slot.integer = kind.INTEGER, v
      elseif ffi.istype(double, v) then
        slot.kind, slot.number = kind.NUMBER, tonumber(v)
      else
        slot.kind, slot.tensor = kind.TENSOR, tensors.pointer(v, name, 4)
      end
    elseif t == "boolean" then
      slot.kind, slot.integer = kind.BOOLEAN, v and 1 or 0
    elseif t == "string" then
      slot.kind, slot.text = kind.TEXT, v
    elseif t == "table" then
      put_list(slot, v, name, anchors)
    elseif v == nil then
      slot.kind = kind.NONE
    else
      error(("%s: tensor, number, boolean, string or table expected, got %s")
        :format(name, t), 4)
    end
  end

  -- A trailing table with string keys holds keywords; what else it holds is an
  -- argument by position. So does an empty one, {dtype = nil}, but behind a
  -- tensor alone, where it is a list: x:reshape {}.
  local function is_keywords(values, n)
    local v = values[n]
    if type(v) ~= "table" then return false end
    if next(v) == nil then
      return n > 2 or n == 2 and not tensors.is(values[1])
    end
    for k in pairs(v) do if type(k) == "string" then return true end end
    return false
  end

  local function put_all(name, n, values, anchors)
    local keywords = is_keywords(values, n) and values[n] or nil
    if keywords and #keywords == 0 then n = n - 1 end
    local count = 0
    local function slot()
      if count == MOST then
        error(name .. ": at most 16 arguments expected", 4)
      end
      local s = arguments[count]
      count = count + 1
      s.name = nil
      return s
    end
    for i = 1, n do put(slot(), values[i], name, anchors) end
    for key, v in pairs(keywords or {}) do
      if type(key) == "string" then
        local s = slot()
        s.name = key
        put(s, v, name, anchors)
      end
    end
    return count
  end

  -- ---- results ----

  local function value_of(r)
    local k = r.kind
    if k == kind.TENSOR then return tensors.made(r.tensor, 4) end
    if k == kind.BOOLEAN then return r.integer ~= 0 end
    if k == kind.NUMBER then return r.number end
    if k == kind.TEXT then return ffi.string(r.text) end
    if k == kind.INTEGER then
      local v = tonumber(r.integer)
      return whole(v) and v or r.integer
    end
  end

  -- Results of a call: several values, or a table where their number depends on
  -- the arguments.
  local function values_of(n, listed)
    if listed then
      local list = {}
      for i = 1, n do list[i] = value_of(results[i - 1]) end
      return list
    end
    if n == 1 then return value_of(results[0]) end
    local out = {}
    for i = 1, n do out[i] = value_of(results[i - 1]) end
    return unpack(out, 1, n)
  end

  -- More results than the array takes: the call is made again with a larger one
  -- only for functions, which have changed nothing.
  local function run(op, name, count)
    local n = C.la_call_any(nil, op, count, arguments, ROOM, results)
    if n < 0 then tensors.raise(4) end
    if n > ROOM then
      for i = 0, ROOM - 1 do C.la_release(results[i].tensor) end
      error(("%s: %d results, %d at most in LuaJIT"):format(name, n, ROOM), 4)
    end
    return n
  end

  -- ---- functions ----

  local function forms_of(op)
    local forms, k = 0, 0
    while C.la_op_schema(op, k) ~= nil do
      forms = bit.bor(forms, C.la_op_forms(op, k))
      k = k + 1
    end
    return forms
  end

  local function is_plain(v)
    local t = type(v)
    return t == "cdata" or t == "number"
  end

  local function function_of(name, op)
    local schema = ffi.string(C.la_op_schema(op, 0))
    local listed = schema:find("-> Tensor[]", 1, true) ~= nil
    local inplace = name:sub(-1) == "_"
    local function general(...)
      local anchors = {...}
      local n = select("#", ...)
      local self = anchors[1]
      local count = put_all(name, n, anchors, anchors)
      local out = is_keywords(anchors, n) and anchors[n].out
      local made = run(op, name, count)
      if inplace or out then
        for i = 0, made - 1 do C.la_release(results[i].tensor) end
        if inplace then return self end
        if tensors.is(out) then return out end
        return unpack(out)
      end
      return values_of(made, listed)
    end
    -- The usual call: one or two tensors and numbers, which need no anchors.
    return function(...)
      local n = select("#", ...)
      local a, b = ...
      if n > 2 or not is_plain(a) or (n == 2 and not is_plain(b)) then
        return general(...)
      end
      arguments[0].name = nil
      put(arguments[0], a, name)
      if n == 2 then
        arguments[1].name = nil
        put(arguments[1], b, name)
      end
      local made = run(op, name, n)
      if inplace then
        C.la_release(results[0].tensor)
        return a
      end
      return values_of(made, listed)
    end
  end

  --- The function of an operation by its name; nil where there is none.
  function calls.named(name)
    local op = C.la_op_find(name)
    if op == nil then return nil end
    if name:sub(-1) ~= "_" and bit.band(forms_of(op), FUNCTION + METHOD) == 0
    then return nil end
    return function_of(name, op)
  end

  local function method(name)
    local op = C.la_op_find(name)
    if op == nil then return nil end
    -- x:add_ is a form of add; fill_ is an operation of its own.
    local own_name = ffi.string(C.la_op_schema(op, 0)):match "^[%w_]+"
    local form = name:sub(-1) == "_" and own_name ~= name and INPLACE or METHOD
    if bit.band(forms_of(op), form) == 0 then return nil end
    return function_of(name, op)
  end

  -- ---- keys ----

  local function bound(v, otherwise)
    if v == nil then return otherwise end
    if type(v) ~= "number" or not whole(v) then
      error("index: a range takes integers, got " .. tostring(v), 5)
    end
    return v
  end

  local function put_range(r, item)
    local t = type(item)
    r.flags, r.tensor = 0, nil
    if t == "number" then
      r.kind, r.first = kind.AT, bound(item)
    elseif item == "..." then
      r.kind = kind.REST
    elseif item == tensors.newaxis then
      r.kind = kind.NEW_AXIS
    elseif t == "table" then
      if next(item) == nil then
        r.kind = kind.WHOLE
        return
      end
      if item[2] == nil and item[3] == nil then
        error(("index: {%s} alone is no range: {%s, %s} is one element long, "
          .. "{%s, nil} can't be told from it: write {%s, -1}"):format(item[1],
          item[1], item[1], item[1], item[1]), 5)
      end
      r.kind, r.step = kind.SPAN, bound(item[3], 1)
      r.first = bound(item[1], r.step < 0 and -1 or 1)
      r.last = bound(item[2], r.step < 0 and 1 or -1)
    elseif tensors.is(item) then
      r.kind, r.tensor = kind.BY, tensors.pointer(item, "index", 4)
    else
      error("index: integer, range, \"...\", la.newaxis or tensor expected, got "
        .. t, 4)
    end
  end

  -- One item, or a list of them: x[i], x[{i, {a, b}}].
  local function put_key(key)
    if type(key) ~= "table" or key == tensors.newaxis then
      put_range(ranges[0], key)
      return 1
    end
    local n = #key
    if n > MOST then error("index: at most 16 items", 4) end
    for i = 1, n do put_range(ranges[i - 1], key[i]) end
    return n
  end

  local function get(x, key)
    local p = tensors.pointer(x, "index", 3)
    local n = put_key(key)
    return tensors.made(C.la_index(nil, p, n, ranges), 3)
  end

  local function set(x, key, v)
    local p = tensors.pointer(x, "index", 3)
    local n = put_key(key)
    number[0].name = nil
    put(number[0], v, "index", {})
    tensors.check(C.la_set_index(nil, p, n, ranges, number[0]), 3)
  end

  -- ---- values ----

  local function text_of(x)
    if x.p == nil then return "lunarray.Tensor: freed" end
    local n = C.la_tensor_text(x.p, nil, 0)
    if n < 0 then tensors.raise(2) end
    local out = ffi.new("char[?]", n + 1)
    C.la_tensor_text(x.p, out, n + 1)
    return ffi.string(out, n)
  end

  local own = {}     -- methods and functions that are no operations

  --- A pointer to the elements, of their C type; in rows without gaps.
  function own.data(x)
    local p = tensors.pointer(x, "data")
    local ctype = CTYPES[ffi.string(C.la_tensor_dtype(p))]
    local data = C.la_tensor_data(p)
    if data == nil then tensors.raise(2) end
    return ffi.cast((ctype or "void") .. " *", data)
  end

  -- A contiguous tensor whose elements C can read.
  local function readable(x)
    local dtype = x.dtype
    local y = x:detach():resolve_conj():resolve_neg()
    if dtype == "float16" or dtype == "bfloat16" then y = y:to "float32" end
    return y:contiguous()
  end

  local function element(data, i, boolean)
    if boolean then return data[i] ~= 0 end
    local v = data[i]
    if type(v) == "number" then return v end
    local near = tonumber(v)
    return whole(near) and near or v
  end

  local function nested(data, sizes, dim, at, boolean)
    if dim > #sizes then return element(data, at, boolean), at + 1 end
    local list = {}
    for i = 1, sizes[dim] do
      list[i], at = nested(data, sizes, dim + 1, at, boolean)
    end
    return list, at
  end

  --- Nested tables of numbers or booleans; {re, im} for complex ones.
  function own.totable(x)
    if x.dtype:find "^complex" then return own.totable(x:view_as_real()) end
    local y = readable(x)
    return (nested(own.data(y), y.shape, 1, 0, x.dtype == "bool"))
  end

  --- The only element, or that at these indices.
  function own.item(x, ...)
    if select("#", ...) > 0 then x = get(x, {...}) end
    if C.la_tensor_numel(tensors.pointer(x, "item")) ~= 1 then
      error("item: one element expected, the sizes are "
        .. table.concat(x.shape, " x "), 2)
    end
    if x.dtype:find "^complex" then
      local pair = own.totable(x:reshape(1))[1]
      return pair[1], pair[2]
    end
    return element(own.data(readable(x)), 0, x.dtype == "bool")
  end

  function own.size(x, dim)
    if dim == nil then return unpack(x.shape) end
    local n = #x.shape
    local v = x.shape[dim < 0 and n + dim + 1 or dim]
    if not v then error(("size: dim %d of %d"):format(dim, n), 2) end
    return v
  end

  local WIDTHS = {bool = 1, uint8 = 1, int8 = 1, int16 = 2, uint16 = 2,
    float16 = 2, bfloat16 = 2, int64 = 8, uint64 = 8, float64 = 8,
    complex64 = 8, complex128 = 16}
  --- Bytes of the elements, without gaps between them.
  function own.nbytes(x) return own.numel(x) * (WIDTHS[x.dtype] or 4) end

  function own.numel(x)
    return tonumber(C.la_tensor_numel(tensors.pointer(x, "numel")))
  end

  function own.backward(x, gradient)
    local p = tensors.pointer(x, "backward")
    local g = gradient and tensors.pointer(gradient, "backward") or nil
    tensors.check(C.la_backward(nil, p, g), 2)
  end

  function own.requires_grad_(x, on)
    local p = tensors.pointer(x, "requires_grad_")
    tensors.check(C.la_set_requires_grad(p, on ~= false), 2)
    return x
  end

  function own.is_floating_point(x) return x.dtype:find "float" ~= nil end
  function own.is_complex(x) return x.dtype:find "complex" ~= nil end
  function own.is_signed(x) return not x.dtype:find "^[ub][io]" end
  function own.dim(x) return x.ndim end
  function own.element_size(x) return WIDTHS[x.dtype] or 4 end
  own.itemsize = own.element_size
  own.tolist = own.totable
  --- How many elements lie between neighbours in each dim, or in one.
  function own.stride(x, dim)
    local p = tensors.pointer(x, "stride")
    local n, list = C.la_tensor_ndim(p), {}
    for i = 1, n do list[i] = tonumber(C.la_tensor_strides(p)[i - 1]) end
    if dim == nil then return unpack(list) end
    return list[dim < 0 and n + dim + 1 or dim]
      or error(("stride: dim %d of %d"):format(dim, n), 2)
  end

  own.free = tensors.free
  own.is_contiguous = function(x)
    return C.la_tensor_contiguous(tensors.pointer(x, "is_contiguous"))
  end
  for _, dtype in ipairs {{"float", "float32"}, {"double", "float64"},
    {"long", "int64"}, {"int", "int32"}, {"half", "float16"}} do
    own[dtype[1]] = function(x) return x:to(dtype[2]) end
  end

  -- ---- attributes ----

  -- A list of sizes that compares and prints as Lua 5.4's.
  local shape = {}
  function shape.__eq(a, b)
    for i = 1, math.max(#a, #b) do if a[i] ~= b[i] then return false end end
    return true
  end
  function shape.__tostring(list) return "{" .. table.concat(list, ", ") .. "}" end

  local attributes = {}
  function attributes.shape(p)
    local list, sizes = {}, C.la_tensor_sizes(p)
    for i = 1, C.la_tensor_ndim(p) do list[i] = tonumber(sizes[i - 1]) end
    return setmetatable(list, shape)
  end
  function attributes.is_leaf(p) return C.la_tensor_is_leaf(p) end
  function attributes.dtype(p) return ffi.string(C.la_tensor_dtype(p)) end
  function attributes.ndim(p) return C.la_tensor_ndim(p) end
  function attributes.requires_grad(p) return C.la_requires_grad(p) end
  function attributes.grad(p)
    local g = C.la_grad_of(p)
    if g == nil then return nil end
    return tensors.made(g, 3)
  end
  for name, operation in pairs {T = "T", mT = "mT", H = "mH", mH = "mH",
    real = "real", imag = "imag"} do
    attributes[name] = function(_, x) return calls.named(operation)(x) end
  end

  -- ---- metamethods ----

  local meta = {}
  local methods = {}

  function meta.__index(x, key)
    if type(key) ~= "string" or key == "..." then return get(x, key) end
    local attribute = attributes[key]
    if attribute then return attribute(tensors.pointer(x, key, 2), x) end
    local f = methods[key]
    if f == nil then
      f = own[key] or method(key) or false
      methods[key] = f
    end
    return f or nil
  end

  function meta.__newindex(x, key, v)
    if key == "requires_grad" then
      own.requires_grad_(x, v)
    elseif key == "grad" and v == nil then
      C.la_zero_grad(tensors.pointer(x, "grad"))
    elseif type(key) == "string" and key ~= "..." then
      error("a tensor has no field '" .. key .. "' to write", 2)
    else
      set(x, key, v)
    end
  end

  function meta.__call(x, ...) return get(x, {...}) end
  function meta.__len(x) return own.size(x, 1) end
  meta.__tostring = text_of
  function meta.__concat(a, b) return tostring(a) .. tostring(b) end

  for event, name in pairs {__add = "add", __sub = "sub", __mul = "mul",
    __div = "div", __mod = "remainder", __pow = "pow", __unm = "neg"} do
    local f
    meta[event] = function(a, b)
      f = f or calls.named(name)
      if event == "__unm" then return f(a) end
      return f(a, b)
    end
  end

  local equal
  function meta.__eq(a, b)
    if not (tensors.is(a) and tensors.is(b)) then return false end
    equal = equal or calls.named "equal"
    return equal(a, b)
  end

  local compare = {}
  local function ordered(name, a, b)
    compare[name] = compare[name] or calls.named(name)
    return own.item(compare[name](a, b))
  end
  function meta.__lt(a, b)
    if not tensors.is(a) then return ordered("gt", b, a) end
    return ordered("lt", a, b)
  end
  function meta.__le(a, b)
    if not tensors.is(a) then return ordered("ge", b, a) end
    return ordered("le", a, b)
  end

  tensors.finish(meta)

  -- ---- from tables ----

  local function sizes_of(data)
    local sizes = {}
    while type(data) == "table" do
      sizes[#sizes + 1] = #data
      data = data[1]
    end
    return sizes, type(data) == "boolean"
  end

  local function fill(out, data, sizes, dim, at)
    if dim > #sizes then
      if type(data) == "table" then
        error("tensor: rows of other depth than the first", 3)
      end
      out[at] = data == true and 1 or data or 0
      return at + 1
    end
    if type(data) ~= "table" or #data ~= sizes[dim] then
      error(("tensor: %d entries expected in a row of dim %d"):format(
        sizes[dim], dim), 3)
    end
    for i = 1, sizes[dim] do
      at = fill(out, data[i], sizes, dim + 1, at)
    end
    return at
  end

  --- A tensor of a nested table: numbers make the default dtype of floats,
  -- booleans bool, {dtype = ...} another.
  function calls.tensor(data, options)
    options = options or {}
    if tensors.is(data) then
      data = calls.named "clone"(data:detach())
      if options.dtype then data = data:to(options.dtype) end
      return own.requires_grad_(data, options.requires_grad or false)
    end
    local sizes, boolean = sizes_of(data)
    local exact = options.dtype == "int64"
    local n = #sizes
    local made = tensors.made(C.la_new(exact and "int64" or "float64", n,
      ffi.new("int64_t[?]", n + 1, sizes)), 2)
    if own.numel(made) > 0 then fill(own.data(made), data, sizes, 1, 0) end
    local dtype = options.dtype or (boolean and "bool")
    if dtype then
      made = exact and made or made:to(dtype)
    else
      made = calls.named "to"(made, calls.named "empty"({}).dtype)
    end
    if options.requires_grad then own.requires_grad_(made) end
    return made
  end

  return calls
end
