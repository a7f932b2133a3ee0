-- Annotations for editors (LuaCATS: lua-language-server, EmmyLua), from the
-- table of words (lunarray.help.rows):
--
--   lua5.4 tools/types.lua OUT
--
-- writes into the folder OUT a file for each module, which declares and never
-- runs. A call takes its arguments by position, with a table of keywords at the
-- end or instead of any of them: each optional argument may be that table,
-- whose fields are a class of their own.
local la = require "lunarray"
local help = require "lunarray.help"
local page = require "lunarray.help.page"
local rows = require "lunarray.help.rows"

local types = {}

-- lunarray.mpi is declared from its words alone: to require it begins MPI.
local MODULES = {"nn", "optim", "data", "plot", "testing", "parallel", "mpi"}
for _, name in ipairs(MODULES) do
  if name ~= "mpi" then require("lunarray." .. name) end
end

-- ---- types ----

local TYPES = {
  tensor = "lunarray.Tensor", ["tensor or number"] = "lunarray.Tensor|number",
  ["tensor or table"] = "any", integer = "integer", number = "number",
  boolean = "boolean", string = "string", dtype = "lunarray.dtype",
  table = "table", list = "table", dim = "lunarray.dim",
  sizes = "lunarray.sizes", generator = "lunarray.Generator",
  ["list of tensors"] = "lunarray.Tensor[]", ["function"] = "function",
  ["list of integers"] = "number|number[]",
  ["list of numbers"] = "number|number[]",
  ["list of dims"] = "lunarray.dim|lunarray.dim[]",
  ["list of names"] = "string[]", ["list of strings"] = "string[]",
  ["list of modules"] = "lunarray.nn.Module[]",
  iterator = "fun(): any, any", net = "self", class = "lunarray.nn.Class",
  loader = "lunarray.data.DataLoader", ["mpi.array"] = "lunarray.mpi.array",
}

-- What stands before all else: names that the types above use.
local HEAD = [[
---@alias lunarray.dtype %s
---@alias lunarray.dim integer|string
---@alias lunarray.sizes number|number[]

---@class lunarray.Generator
---@field [string] function
]]

local function dtype_alias()
  local list = {}
  for _, row in ipairs(rows.all().list) do
    if row.family == "dtypes" and row.kind == "value" then
      list[#list + 1] = ('"%s"'):format(row.short)
    end
  end
  list[#list + 1] = '"bool"'
  table.sort(list)
  return table.concat(list, "|")
end

local BY_NAME = {dtype = "lunarray.dtype", x = "lunarray.Tensor",
  path = "string"}

-- The type of an argument; where none is told, that of its default. Operations
-- take numbers for tensors. Integers are asked for as numbers: the result of a
-- division is one, even where it is whole.
local function type_of(p)
  if p.name == "out" then return "lunarray.Tensor|lunarray.Tensor[]" end
  if p.type == "tensor" then return TYPES["tensor or number"] end
  if p.type == "integer" then return "number" end
  if p.type then return TYPES[p.type] or "any" end
  local d = p.default
  if d == "true" or d == "false" then return "boolean" end
  if d and d:find('^"') then return "string" end
  return BY_NAME[p.name] or "any"
end

local RESERVED = {}
for word in ([[and break do else elseif end false for function goto if in local
  nil not or repeat return then true until while]]):gmatch("%S+") do
  RESERVED[word] = true
end

local function identifier(name)
  if not name:find("^[%a_][%w_]*$") then return "list" end
  return RESERVED[name] and name .. "_" or name
end

-- a.b, or a["end"] where b is a word of Lua.
local function member(owner, name)
  return RESERVED[name] and ('%s["%s"]'):format(owner, name)
    or owner .. "." .. name
end

-- ---- one word ----

-- Texts as comments.
local function add_comment(out, text)
  local line = "---"
  for word in text:gmatch("%S+") do
    if #line + #word > 78 then
      out[#out + 1], line = line, "---"
    end
    line = line .. " " .. word
  end
  out[#out + 1] = line
end

local function add_text(out, row)
  local seen = {}
  for _, op in ipairs(row.ops or {}) do
    local text = page.doc(op)
    if not seen[text] then add_comment(out, text) end
    seen[text] = true
  end
  if row.entry.text ~= "" then add_comment(out, row.entry.text) end
end

-- The class of the keywords of a call, or nil when there are none. All
-- arguments of modules of networks are keywords, too.
local function add_keys(out, row)
  local list = help.keywords(row.name) or {}
  if row.owner == "nn" and row.kind == "class" then
    list = {}
    for _, call in ipairs(row.calls) do
      for _, p in ipairs(call.params) do
        if p.name ~= "..." and not p.many then list[#list + 1] = p end
      end
    end
  end
  if #list == 0 then return nil end
  local name = "lunarray.keys." .. row.name:gsub("^x[.:]", ""):gsub(":", ".")
  out[#out + 1] = "---@class " .. name
  for _, p in ipairs(list) do
    local key = RESERVED[p.name] and ('["%s"]'):format(p.name) or p.name
    if p.name:find("^[%a_]") then               -- not "...", and so on
      out[#out + 1] = ("---@field %s? %s"):format(key, type_of(p))
    end
  end
  out[#out + 1] = ""
  return name
end

-- The arguments by position of a call as {name, type, optional}, 'self' and
-- the table of keywords among them; the last may be "...".
local function positions(call, row, keys)
  local list, method = {}, row.forms and row.forms & rows.METHOD ~= 0
  local last = 0
  for k, p in ipairs(call.params) do
    if not p.optional and not p.null then last = k end
  end
  for k, p in ipairs(call.params) do
    if p.keyword or p.name == "options" then break end
    if k == 1 and (method or p.name == "self") then
      list[1] = {"self", "lunarray.Tensor"}
    elseif p.many or p.name == "..." then
      list[#list + 1] = {"...", keys and "any|" .. keys or "any"}
      return list
    else
      local kind, optional = type_of(p), k > last
      if keys and optional then kind = kind .. "|" .. keys end
      list[#list + 1] = {identifier(p.name), kind, optional}
    end
  end
  if keys then list[#list + 1] = {"keys", keys, true} end
  return list
end

local function results(call, row)
  local list = {}
  for _, r in ipairs(call.returns) do
    local kind = TYPES[r.type] or "any"
    if r.type == "module" then
      kind = row.kind == "class" and "lunarray." .. row.name
        or "lunarray.nn.Module"
    elseif r.type:find("^optim%.") then kind = "lunarray." .. r.type end
    if r.type ~= "..." then list[#list + 1] = {kind, r.name or ""}
    elseif #list == 0 then list[1] = {"any", "..."} end
  end
  return list
end

-- "fun(self: lunarray.Tensor, dim?: integer): lunarray.Tensor"
local function fun_type(call, row, keys)
  local params, returns = {}, {}
  for k, p in ipairs(positions(call, row, keys)) do
    params[k] = ("%s%s: %s"):format(p[1], p[3] and "?" or "", p[2])
  end
  for k, r in ipairs(results(call, row)) do returns[k] = r[1] end
  return ("fun(%s)%s"):format(table.concat(params, ", "),
    returns[1] and ": " .. table.concat(returns, ", ") or "")
end

-- A call by keywords alone, where arguments would be needed by position.
local function needs_keys(call, row, keys)
  if not keys or not (row.ops or row.owner == "nn") then return false end
  local n = 0
  for _, p in ipairs(positions(call, row, keys)) do
    if not p[3] and p[1] ~= "self" and p[1] ~= "..." then n = n + 1 end
  end
  return n > 0 and not (call.params[1] and call.params[1].keyword)
end

-- Declares the function or method 'path' ("la.zeros", "Tensor.sum").
local function add_function(out, row, path)
  if row.calls[1] and not row.calls[1].params then     -- a value of a theme
    add_text(out, row)
    out[#out + 1] = ("---@type any\n%s = nil\n"):format(path)
    return
  end
  local keys = add_keys(out, row)
  add_text(out, row)
  local main = row.calls[1]
  local method = path:find("^Tensor[.%[]")
  local list, names = positions(main, row, keys), {}
  local own = list[1] and list[1][1] == "self"
  if method and not own then
    table.insert(list, 1, {"self", "lunarray.Tensor"})
  end
  for k, p in ipairs(list) do
    if p[1] == "self" and not method then p[1] = "x" end
    names[k] = p[1]
    out[#out + 1] = ("---@param %s%s %s"):format(p[1], p[3] and p[1] ~= "..."
      and "?" or "", p[2])
  end
  for _, r in ipairs(results(main, row)) do
    out[#out + 1] = ("---@return %s %s"):format(r[1], r[2]):gsub(" $", "")
  end
  for k = 2, #row.calls do
    if row.calls[k].params and (not row.ops or row.ops[k]) then
      local other = fun_type(row.calls[k], row, keys)
      if method and not own then
        other = other:gsub("^fun%(", "fun(self: lunarray.Tensor, ")
          :gsub(", %)", ")")
      end
      out[#out + 1] = "---@overload " .. other
    end
  end
  if needs_keys(main, row, keys) then
    local returns = fun_type(main, row, keys):match("%)(: .*)$") or ""
    out[#out + 1] = ("---@overload fun(%skeys: %s)%s"):format(method
      and "self: lunarray.Tensor, " or own and "x: lunarray.Tensor, " or "",
      keys, returns)
  end
  if row.kind == "method" and not method then
    path = path:gsub("%.([%w_]+)$", ":%1")
  end
  out[#out + 1] = path:find("%[") and ("%s = function(%s) end\n"):format(path,
    table.concat(names, ", ")) or ("function %s(%s) end\n"):format(path,
    table.concat(names, ", "))
end

-- ---- the module ----

-- Where a word is declared: "Tensor.sum", "la.zeros", "la.fft.rfft"; nil for
-- words of other modules.
local function path_of(row)
  if row.owner == "tensor" then return member("Tensor", row.short) end
  if row.forms and row.forms & rows.METHOD ~= 0 then
    return member("Tensor", row.op_name)
  end
  if row.owner == "la" then return member("la", row.short) end
  if type(rawget(la, row.owner)) == "table" then
    return member("la." .. row.owner, row.short)
  end
end

local function sorted(t)
  local list = {}
  for key in pairs(t) do list[#list + 1] = key end
  table.sort(list)
  return list
end

-- Declares all that can follow 'owner' ("Tensor", "la", "la.fft"): what is a
-- word of its own, then other names of those and of words elsewhere.
local function add_members(out, owner, found)
  local others = {}
  for _, name in ipairs(sorted(found)) do
    local row, path = found[name], member(owner, name)
    local own = name:find("^[%a_]") and path_of(row)
    local property = row.kind == "property"
    if own and property and owner ~= "Tensor" then      -- la.real(x), x.real
      add_function(out, row, path)
    elseif own == path and row.calls[1].params and not property then
      add_function(out, row, path)
    elseif own ~= path and own and not property then
      others[#others + 1] = ("%s = %s"):format(path, own)
    end
  end
  out.others[#out.others + 1] = table.concat(others, "\n")
end

local OPERATORS = {add = "add", sub = "sub", mul = "mul", div = "div",
  idiv = "idiv", mod = "mod", pow = "pow", band = "band", bor = "bor",
  bxor = "bxor", shl = "shl", shr = "shr"}

local function add_tensor(out, found)
  out[#out + 1] = "---@class lunarray.Tensor"
  for _, name in ipairs(sorted(found)) do
    local row = found[name]
    if row.kind == "property" then
      local r = row.calls[1].returns[1]
      local kind = name == "shape" and "integer[]" or r and TYPES[r.type]
      out[#out + 1] = ("---@field %s %s # %s"):format(name, kind or "any",
        page.brief(row))
    end
  end
  out[#out + 1] = "---@field [integer] any # a view; numbers may be assigned"
  out[#out + 1] = "---@field [table] any # a view or a copy, by the index"
  for _, name in ipairs(sorted(OPERATORS)) do
    out[#out + 1] = ("---@operator %s(lunarray.Tensor|number): "
      .. "lunarray.Tensor"):format(OPERATORS[name])
  end
  out[#out + 1] = "---@operator unm: lunarray.Tensor"
  out[#out + 1] = "---@operator bnot: lunarray.Tensor"
  out[#out + 1] = "---@operator len: integer"
  out[#out + 1] = "---@overload fun(...: any): lunarray.Tensor"
  out[#out + 1] = "local Tensor = {}\n"
  add_members(out, "Tensor", found)
end

local function add_values(out)
  for _, row in ipairs(rows.all().list) do
    local r = row.calls[1] and row.calls[1].returns[1]
    if row.owner == "la" and row.kind == "value" and r
      and row.short:find("^%a") then
      add_comment(out, page.brief(row))
      out[#out + 1] = ("---@type %s\nla.%s = nil\n"):format(
        TYPES[r.type] or "any", row.short)
    end
  end
end

-- The table of a class that another file declares, for what refers to it, or
-- adds to it.
local TENSOR = "---@type lunarray.Tensor\nlocal Tensor = {}\n"
local LIBRARY = "---@class lunarray\nlocal la = {}\n"

local function begin(name, ...)
  local out = {("---@meta %s\n-- Written by tools/types.lua.\n"):format(name),
    ...}
  out.others = {}
  return out
end

local function finish(out, last)
  for _, text in ipairs(out.others) do
    if text ~= "" then out[#out + 1] = text .. "\n" end
  end
  out[#out + 1] = last
  return table.concat(out, "\n") .. "\n"
end

local function tensor_file()
  local out = begin("_", LIBRARY)
  add_tensor(out, help.names("tensor"))
  return finish(out)
end

local function main_file()
  local out = begin("lunarray", HEAD:format(dtype_alias()), TENSOR, LIBRARY)
  add_values(out)
  local found = help.names("la")
  for name, value in next, la do
    if type(value) == "table" then found[name] = nil end
  end
  add_members(out, "la", found)
  return finish(out, "return la")
end

local function theme_file()
  local out = begin("_", TENSOR, LIBRARY)
  for _, theme in ipairs(sorted(la)) do
    if type(la[theme]) == "table" then
      local module = package.loaded["lunarray." .. theme] == la[theme]
        and ("---@type lunarray.%s\n"):format(theme) or ""
      for _, name in ipairs(MODULES) do
        if name == theme then
          out[#out + 1] = module .. ("la.%s = nil\n"):format(theme)
          goto done
        end
      end
      out[#out + 1] = ("la.%s = {}\n"):format(theme)
      add_members(out, "la." .. theme, help.names(theme))
      ::done::
    end
  end
  return finish(out)
end

-- ---- the other modules ----

-- What classes have besides their methods. That objects are called is said of
-- each class: it is not inherited.
local CALL = "---@overload fun(...: any): any"
local FIELDS = {
  ["nn.Module"] = "---@field training boolean\n---@field [string] any\n"
    .. CALL,
  ["optim.Optimizer"] = "---@field param_groups table[]",
  ["mpi.array"] = "---@field [string] any",
}

local function add_class(out, name, parent)
  out[#out + 1] = ("---@class lunarray.%s%s"):format(name, parent or "")
  out[#out + 1] = FIELDS[name] or parent and CALL or nil
end

-- A class whose methods are words: a table, with its methods.
local function add_methods(out, name)
  add_class(out, name)
  out[#out + 1] = name .. " = {}\n"
  local found = help.names(name)
  for _, short in ipairs(sorted(found)) do
    add_function(out, found[short], name .. "." .. short)
  end
end

local function module_file(module)
  local out = {("---@meta lunarray.%s\n-- Written by tools/types.lua.\n")
    :format(module), others = {}}
  out[#out + 1] = ("---@class lunarray.%s\nlocal %s = {}\n"):format(module,
    module)
  local found = help.names(module)
  for _, name in ipairs(sorted(found)) do
    local row = found[name]
    local own = row.owner == module
    if own and not row.calls[1].params then
      local inner = (package.loaded["lunarray." .. module] or {})[name]
      local value = row.calls[1].returns[1]
      if next(help.names(row.name)) and name:find("^%u") then
        add_methods(out, row.name)
      elseif value then
        out[#out + 1] = ("---@type %s\n%s = nil\n"):format(
          TYPES[value.type] or "any", row.name)
      elseif type(inner) == "table" then
        out[#out + 1] = row.name .. " = {}\n"
        for _, short in ipairs(sorted(help.names(row.name))) do
          add_function(out, help.names(row.name)[short],
            row.name .. "." .. short)
        end
      end
    elseif own then
      if module == "nn" and row.kind == "class" then
        add_class(out, row.name, ": lunarray.nn.Module")
        out[#out + 1] = ""
      elseif row.kind == "class" and next(help.names(row.name)) then
        add_class(out, row.name)
        out[#out + 1] = "local " .. name .. " = {}\n"
        for _, short in ipairs(sorted(help.names(row.name))) do
          add_function(out, help.names(row.name)[short], name .. "." .. short)
        end
      end
      add_function(out, row, row.name)
    end
  end
  if module == "mpi" then add_methods(out, "mpi.array") end
  if module == "nn" then
    out[#out + 1] = "---@class lunarray.nn.Class: lunarray.nn.Module\n"
      .. CALL .. "\n"
  end
  out[#out + 1] = "return " .. module
  return table.concat(out, "\n") .. "\n"
end

-- Texts of all files by name. lua-language-server does not read files of more
-- than half a megabyte: the library is three of them.
function types.files()
  local files = {["lunarray.lua"] = main_file(),
    ["lunarray/tensor.lua"] = tensor_file(),
    ["lunarray/themes.lua"] = theme_file()}
  for _, module in ipairs(MODULES) do
    files["lunarray/" .. module .. ".lua"] = module_file(module)
  end
  return files
end

-- Run as a program; a spec requires it instead.
if arg and arg[0] and arg[0]:find("types%.lua$") then
  local out = arg[1]
  if not out then
    io.stderr:write "types.lua: OUT\n"
    os.exit(2)
  end
  assert(os.execute("mkdir -p '" .. out .. "/lunarray'"))
  for name, text in pairs(types.files()) do
    local file = assert(io.open(out .. "/" .. name, "wb"))
    assert(file:write(text))
    assert(file:close())
  end
end

return types
