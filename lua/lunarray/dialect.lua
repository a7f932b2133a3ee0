-- lunarray.dialect: what lunarray.nn, optim and data use of Lua 5.3 and later,
-- for LuaJIT too, which runs the same files (luajit/). They are written without
-- //, bit operators and <close>, which it does not parse.
local dialect = {}

dialect.unpack = table.unpack or unpack     -- luacheck: ignore
dialect.pack = table.pack
  or function(...) return {n = select("#", ...), ...} end

-- LuaJIT has one kind of number: whole ones are integers there.
dialect.type = math.type or function(value)
  if type(value) ~= "number" then return nil end
  return value % 1 == 0 and "integer" or "float"
end
dialect.tointeger = math.tointeger or function(value)
  return value % 1 == 0 and value or nil
end

-- Characters of a text in UTF-8; nil where it is none.
dialect.characters = utf8 and utf8.len or function(text)
  return select(2, text:gsub("[^\128-\191]", ""))
end

-- #object also where Lua does not ask tables for __len.
function dialect.length(object)
  local meta = type(object) == "table" and getmetatable(object)
  local length = type(meta) == "table" and meta.__len
  if length then return length(object) end
  return #object
end

return dialect
