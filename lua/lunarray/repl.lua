-- lunarray.repl: what the prompt of the program knows about words.
local repl = {}

-- Everything that can stand before the word: "a.b:c" gives a.b, ":", "c".
local function split(line)
  local path = line:match("[%a_][%w_]*[%w_.:]*$") or ""
  local owner, mark, word = path:match("^(.-)([.:])([%w_]*)$")
  if not owner then return nil, nil, path end
  return owner, mark, word
end

-- The value that a path of names leads to; nothing is called but __index.
local function lookup(path)
  local value = _G
  for name in path:gmatch("[^.:]+") do
    local ok, found = pcall(function() return value[name] end)
    if not ok or found == nil then return nil end
    value = found
  end
  return value
end

local function add_keys(object, seen)
  if type(object) ~= "table" then return end
  local key = nil
  repeat
    key = next(object, key)
    if type(key) == "string" and key:find("^[%a_][%w_]*$") then
      seen[key] = true
    end
  until key == nil
  local meta = getmetatable(object)
  if type(meta) == "table" and rawget(meta, "__index") ~= object then
    add_keys(rawget(meta, "__index"), seen)
  end
end

-- A tensor's metatable is locked: a name of the library is a method when the
-- tensor answers to it.
local function add_methods(tensor, seen)
  for name in pairs(require "lunarray") do
    local ok, found = pcall(function() return tensor[name] end)
    if ok and found ~= nil then seen[name] = true end
    ok, found = pcall(function() return tensor[name .. "_"] end)
    if ok and found ~= nil then seen[name .. "_"] = true end
  end
end

local KEYWORDS = [[and break do else elseif end false for function goto if in
  local nil not or repeat return then true until while]]

local function names_of(owner)
  local seen = {}
  if owner == nil then
    for word in KEYWORDS:gmatch("%a+") do seen[word] = true end
    add_keys(_G, seen)
    return seen
  end
  local value = lookup(owner)
  if type(value) == "string" then value = string end
  if type(value) == "userdata" then add_methods(value, seen)
  else add_keys(value, seen) end
  return seen
end

local function common_prefix(list)
  local prefix = list[1] or ""
  for _, word in ipairs(list) do
    while word:sub(1, #prefix) ~= prefix do prefix = prefix:sub(1, -2) end
  end
  return prefix
end

-- Words that can go on 'line', sorted, and the text that all of them have
-- beyond what is typed.
function repl.complete(line)
  local owner, _, word = split(line)
  if not owner and word == "" then return {}, "" end
  local list = {}
  for name in pairs(names_of(owner)) do
    if name:sub(1, #word) == word then list[#list + 1] = name end
  end
  table.sort(list)
  return list, common_prefix(list):sub(#word + 1)
end

return repl
