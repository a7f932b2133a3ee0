-- lunarray.help.signature: calls as one writes them in Lua, from the schemas of
-- operations and from the signatures of everything else.
--
-- A schema is "sum.dim(Tensor self, dim dim, bool keepdim=false, *, dtype?
-- dtype=nil) -> Tensor", as la.operations() gives it (dims and indices from 1).
-- A signature is "nn.Linear(in_features, out_features[, bias = true])". Both
-- become the same description of a call:
--   params   list of {name=, type=, default= (a text), optional=, keyword=}
--   returns  list of {name= or nil, type=}
local signature = {}

-- How types of schemas are called in texts and in annotations of editors.
local TYPES = {
  Tensor = "tensor", Array = "tensor or number", Scalar = "number",
  Number = "number", int = "integer", float = "number", bool = "boolean",
  str = "string", dim = "dim", index = "integer", size = "sizes",
  dtype = "dtype", device = "string", memory_format = "string",
  names = "list of names", Generator = "generator",
}

local LISTS = {
  tensor = "list of tensors", integer = "list of integers",
  number = "list of numbers", dim = "list of dims", sizes = "sizes",
  string = "list of strings",
}

-- "int[]?" as "list of integers"; whether nil is allowed; whether it may be
-- written as several arguments.
local function type_of(word)
  local base, marks = word:match("^(%a[%w_]*)(.*)$")
  local name = TYPES[base] or base
  local many = marks:find("...", 1, true) ~= nil
  if marks:find("[]", 1, true) or many then name = LISTS[name] or name end
  return name, marks:sub(-1) == "?", many
end

-- The text between matching brackets split at its commas; brackets and quotes
-- keep what is in them together.
local function split(text)
  local list, depth, from, quote = {}, 0, 1, nil
  for k = 1, #text do
    local c = text:sub(k, k)
    if quote then
      if c == quote then quote = nil end
    elseif c == "'" or c == '"' then quote = c
    elseif c:find("[%[%({]") then depth = depth + 1
    elseif c:find("[%]%)}]") then depth = depth - 1
    elseif c == "," and depth == 0 then
      list[#list + 1] = text:sub(from, k - 1):match("^%s*(.-)%s*$")
      from = k + 1
    end
  end
  local last = text:sub(from):match("^%s*(.-)%s*$")
  if last ~= "" then list[#list + 1] = last end
  return list
end

-- A default of a schema as Lua writes it.
local function lua_value(text)
  if text == "nil" then return nil end
  if text:sub(1, 1) == "[" then
    return "{" .. text:sub(2, -2) .. "}"
  end
  return (text:gsub("^'(.*)'$", '"%1"'))
end

local function schema_params(text)
  local params, keyword = {}, false
  for _, part in ipairs(split(text)) do
    if part == "*" then keyword = true
    else
      local word, name, default = part:match("^(%S+) ([%w_]+)=?(.*)$")
      local kind, null, many = type_of(word)
      params[#params + 1] = {name = name, type = kind, many = many,
        default = default ~= "" and lua_value(default) or nil,
        optional = default ~= "", null = null, keyword = keyword or nil}
    end
  end
  return params
end

local function schema_returns(text)
  local list = {}
  local inner = text:match("^%((.*)%)$")
  for _, part in ipairs(split(inner or text)) do
    local word, name = part:match("^(%S+) ?([%w_]*)$")
    list[#list + 1] = {type = (type_of(word)), name = name ~= "" and name
      or nil}
  end
  return list
end

-- The call that a schema describes.
function signature.of_schema(schema)
  local head, params, returns = schema:match("^([%w_.]+)(%b()) %-> (.*)$")
  return {head = head, params = schema_params(params:sub(2, -2)),
    returns = schema_returns(returns)}
end

-- "name", "name=", "name = 3" or "..."; sets from "{a=, b=}" are keywords.
local function add_param(call, text, optional, keyword)
  local inner = text:match("^{(.*)}$")
  local list = inner and split(inner)
  if list and (#list == 0 or inner:find("=")) then
    for _, part in ipairs(list) do add_param(call, part, true, true) end
    return
  end
  local name, default = text:match("^([%w_.]+)%s*=%s*(.*)$")
  name = name or text:match("^[%w_]+") or text
  call.params[#call.params + 1] = {name = name,
    default = default ~= "" and default or nil, keyword = keyword,
    optional = optional or default ~= nil or nil, many = text:find("...", 1,
      true) and true or nil}
end

-- The parameters in "a, b[, c[, {d=}]]".
local function add_params(call, text, optional)
  local open = text:find("[", 1, true)
  local before = open and text:sub(1, open - 1) or text
  for _, part in ipairs(split(before)) do add_param(call, part, optional) end
  if not open then return end
  local inner = text:match("%b[]", open)
  if not inner then return end
  add_params(call, inner:sub(2, -2):gsub("^%s*,%s*", ""), true)
  add_params(call, text:sub(open + #inner):gsub("^%s*,%s*", ""), optional)
end

-- The call that a signature describes; params is nil for a property.
function signature.of_text(text)
  local left, right = text:match("^(.-)%s*%->%s*(.*)$")
  left = left or text
  local head, inner = left:match("^([%w_.:]+)%s*([%({].*)$")
  local call = {head = head or left, returns = {}}
  for _, part in ipairs(split(right or "")) do
    local name, kind = part:match("^([%w_]+): (.*)$")
    call.returns[#call.returns + 1] = {name = name, type = kind or part}
  end
  if inner then
    call.params = {}
    local body = inner:sub(1, 1) == "(" and inner:match("^%((.*)%)$")
    add_params(call, body or inner)
  end
  return call
end

-- A parameter as it stands in a call: "dim", "keepdim = false", "size...".
local function param_text(p, needed)
  if p.many and p.name ~= "..." then return p.name .. "..." end
  if p.default and not needed then return p.name .. " = " .. p.default end
  if needed and (p.null or p.optional) then
    return p.name .. " or " .. (p.default or "nil")
  end
  return p.keyword and p.name .. " =" or p.name
end

-- The position of the last argument that must be given.
local function last_needed(params)
  local last = 0
  for k, p in ipairs(params) do
    if not p.optional and not p.keyword then last = k end
  end
  return last
end

-- What one writes: "x:sum([dim, keepdim = false, {dtype =}])"; "bias or nil" is
-- an argument that may be nil but not left out. The first parameter is the
-- object when 'method' is true; it is called x otherwise too.
function signature.write(call, name, method)
  local need, may, keys = {}, {}, {}
  local last = last_needed(call.params)
  for k, p in ipairs(call.params) do
    local list = p.keyword and keys or k > last and may or need
    if not (k == 1 and method) then
      list[#list + 1] = p.name == "self" and "x" or param_text(p, k <= last)
    end
  end
  if #keys > 0 then may[#may + 1] = "{" .. table.concat(keys, ", ") .. "}" end
  local text = table.concat(need, ", ")
  if #may > 0 then
    text = ("%s[%s%s]"):format(text, #need > 0 and ", " or "",
      table.concat(may, ", "))
  end
  return ("%s(%s)"):format(name, text)
end

-- " -> values, indices": what comes back, by name where results have one.
function signature.results(call)
  local list = {}
  for k, r in ipairs(call.returns) do
    list[k] = r.name and r.name .. ": " .. r.type or r.type
  end
  return #list > 0 and " -> " .. table.concat(list, ", ") or ""
end

return signature
