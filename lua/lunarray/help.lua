-- lunarray.help: the table of words, asked. From it come la.help and "?" of the
-- prompt, completion and "did you mean".
--
--   help.page(name)            what la.help says: always a text
--   help.text(name)            the page of a word, or nil
--   help.find(name)            its row, or nil (lunarray.help.rows)
--   help.names(owner[, word])  what can follow "la.", "x:", "nn.", "net:" ...
--   help.keywords(name)        the keywords that a call takes
--   help.returns(name)         what a call gives: "tensor", "nn.Linear", ...
--   help.name_of(value)        the name of a function or a class of the library
--   help.near(word[, owner])   names like a mistyped one, the nearest first
--   help.search(phrase)        rows that a word or a phrase asks for
--
-- An owner is "la", "tensor" (methods and properties), a theme ("fft"), a
-- module ("nn") or a class ("nn.Module", "optim.Optimizer").
local la = require "lunarray"
local near = require "lunarray.near"
local page = require "lunarray.help.page"
local rows = require "lunarray.help.rows"
local search = require "lunarray.help.search"

local help = {}

-- ---- one word ----

-- The row of a name as it is written in a program: "sum", "la.sum", "x:sum",
-- "sum_", "clip", "fft.rfft", "nn.Linear", "x.shape"; or nil. Fields: name,
-- owner, short, kind ("operation", "function", "method", "property", "class",
-- "value"), calls and signatures, entry (its words), for operations also ops
-- (rows of la.operations()) and forms.
function help.find(name)
  name = name:gsub("%(%)$", "")
  local row = rows.look(rows.all(), name)
  if row and not row.hosted then return row end
  return rows.look(rows.all(true), name)
end

-- A function and a property of one name (la.grad, x.grad) are both told of.
local function second(name, row)
  if name:find("[.:]") then return nil end
  local t = rows.all()
  local other = t.by_name["x:" .. name] or t.by_name["x." .. name]
  return other ~= row and other or nil
end

-- What a theme, a module or a class consists of; nil for other names.
local function members(name)
  local found, list = help.names(name), {}
  for key in pairs(found) do list[#list + 1] = key end
  if #list == 0 or name == "la" or name == "tensor" then return nil end
  table.sort(list)
  local method = found[list[1]].name:find(":", 1, true)
  return page.sentence(("%s: %d %s; la.help(\"%s%s%s\") tells of one"):format(
    name, #list, method and "methods" or "functions and classes", name,
    method and ":" or ".", list[1])) .. page.list(list) .. "\n"
end

-- The page of a word, of a theme or of a module; nil when there is none.
function help.text(name)
  local row = help.find(name)
  if not row then return members((name:gsub("^la%.", ""))) end
  local other = second(name, row)
  local short = name:match("[%w_]+$")
  local head = ""
  if short and row.short ~= short and row.short .. "_" ~= short
    and row.name ~= name:gsub("^la%.", "") then
    head = ("another name of %s:\n"):format(row.name)
  end
  return head .. page.text(row) .. (other and page.text(other) or "")
    .. (members(row.name) or "")
end

local INDEX = [[
la.help("sum") tells of an operation, a function, a method ("x:item"), a
property ("x.shape"), a layer ("nn.Linear") or anything else; of a theme or a
module it lists what is in it:
]]

-- What is about a phrase, in lines; nil when nothing is. Of one word that is
-- like a name only what its meaning gives.
local function about(phrase, others)
  local lines = {}
  for _, found in ipairs(search.rows(phrase)) do
    if #lines == 8 or #others > 0 and found.rank >= 4 then break end
    local brief = found.brief
    if #brief > 54 then
      brief = brief:sub(1, 51):gsub("%s*%S*$", "") .. "..."
    end
    lines[#lines + 1] = ("%-24s %s"):format(found.name, brief)
  end
  return lines[1] and ("about this:\n    %s\n"):format(
    table.concat(lines, "\n    "))
end

-- What la.help(name) says: a page; what is about a phrase, and names that are
-- like it; without a name an index.
function help.page(name)
  if name == nil then
    local parts = {"nn", "optim", "data", "plot"}
    for key, value in next, la do
      if type(value) == "table" then parts[#parts + 1] = key end
    end
    table.sort(parts)
    return INDEX .. page.list(parts) .. "\n"
  end
  local text = help.text(name)
  if text then return text end
  local others = help.near(name)
  local found = about(name, others)
  if found then return "nothing is known by that name; " .. found end
  return #others == 0 and "nothing is known by that name\n"
    or page.sentence("nothing is known by that name; did you mean "
      .. table.concat(others, ", ", 1, math.min(3, #others)) .. "?")
end

-- ---- lists ----

local function add_name(found, name, word, row)
  if name:sub(1, #word) == word then found[name] = row end
end

local function add_tensor_names(found, row, word)
  if row.owner == "tensor" then
    add_name(found, row.short, word, row)
    for _, other in ipairs(row.aliases) do
      add_name(found, other, word, row)
    end
    return
  end
  if not row.forms then return end
  local names = {row.op_name, table.unpack(row.aliases)}
  for _, name in ipairs(names) do
    if row.forms & rows.METHOD ~= 0 and not name:find("%.") then
      add_name(found, name, word, row)
      if row.forms & rows.INPLACE ~= 0 and not name:find("_$") then
        add_name(found, name .. "_", word, row)
      end
    end
  end
end

-- What the module has. Operations of themes have a function there, too, but one
-- writes them as la.fft.rfft.
local function add_functions(found, word)
  local t = rows.all()
  for name in pairs(la) do
    local row = t.by_name[name] or t.by_name["x:" .. name] or t.aliases[name]
    if row and not (name == row.op_name and name ~= row.name) then
      add_name(found, name, word, row)
    end
  end
end

local function add_members(found, owner, word)
  local t, theme = rows.all(), rawget(la, owner)
  for _, row in ipairs(t.list) do
    if row.owner == owner then add_name(found, row.short, word, row) end
  end
  for name in pairs(type(theme) == "table" and theme or {}) do
    local row = t.by_name[owner .. "." .. name]
      or t.aliases[owner .. "." .. name]
    if row then add_name(found, name, word, row) end
  end
end

-- Names that can follow 'owner' and begin with 'word' (all without it), each
-- with its row. Of "tensor" those of methods, in place too, and properties.
function help.names(owner, word)
  local found = {}
  word = word or ""
  if owner == "la" then add_functions(found, word)
  elseif owner ~= "tensor" then add_members(found, owner, word)
  else
    for _, row in ipairs(rows.all().list) do
      add_tensor_names(found, row, word)
    end
  end
  return found
end

local CREATION = {"dtype", "device", "requires_grad", "names", "memory_format"}

-- What may stand in the table of keywords of a call, as a list of {name=,
-- default= (a text), type=}, of all overloads; nil for an unknown name. Every
-- named argument of an operation is a keyword too.
function help.keywords(name)
  local row = help.find(name)
  if not row then return nil end
  local list, seen = {}, {}
  local function add(p)
    if seen[p.name] then return end
    seen[p.name] = true
    list[#list + 1] = {name = p.name, default = p.default, type = p.type}
  end
  for _, call in ipairs(row.calls) do
    for _, p in ipairs(call.params or {}) do
      if p.name == "options" then
        for _, key in ipairs(CREATION) do add {name = key} end
      elseif p.keyword or row.ops and p.name ~= "self" then add(p)
      end
    end
  end
  if row.forms and row.forms & rows.OUT ~= 0 then
    add {name = "out", type = "tensor"}
  end
  return list
end

-- What the first result of a call is: "tensor", "boolean", "list of tensors",
-- the name of a class ("nn.Linear"), or nil where that is not known.
function help.returns(name)
  local row = help.find(name)
  if not row then return nil end
  local first = row.calls[1] and row.calls[1].returns[1]
  if row.kind == "class" and not (first and first.type:find("%.")) then
    return row.name
  end
  return first and first.type
end

-- The name under which a function, a class or a table of the library has a row;
-- nil for other values. Modules count that the program has required.
function help.name_of(value)
  if value == nil then return nil end
  for _, row in ipairs(rows.all().list) do
    local owner = row.owner == "la" and la or rawget(la, row.owner)
      or package and package.loaded["lunarray." .. row.owner]
    if type(owner) == "table" and rawequal(rawget(owner, row.short), value) then
      return row.name
    end
  end
end

-- ---- like words ----

-- Names that 'word' may stand for, the nearest first, at most ten: of one owner
-- or of all. A word of up to three letters may have one wrong, others a third.
function help.near(word, owner)
  local prefix, short = word:match("^(.*[.:])([^.:]+)$")
  short = (short or word):lower()
  local most = math.min(3, #short // 3) + 1
  local found, seen = {}, {}
  local function try(name, shown)
    local d = near.distance(short, name:lower(), most)
    if d <= most and not seen[shown] then
      seen[shown] = true
      found[#found + 1] = {shown, d + (shown:find(prefix or "\0", 1, true) == 1
        and -0.5 or 0)}
    end
  end
  if owner then
    for name in pairs(help.names(owner)) do try(name, name) end
  else
    local t = rows.all()
    for _, row in ipairs(t.list) do try(row.short, row.name) end
    for name in pairs(t.aliases) do try(name:match("[^.:]+$"), name) end
  end
  table.sort(found, function(a, b)
    if a[2] ~= b[2] then return a[2] < b[2] end
    return #a[1] == #b[1] and a[1] < b[1] or #a[1] < #b[1]
  end)
  local list = {}
  for k = 1, math.min(10, #found) do list[k] = found[k][1] end
  return list
end

-- Rows that a word or a phrase asks for, by meaning, name or text, as a list of
-- {name=, brief=, row=}.
help.search = search.rows

-- A line about a row (of find or search).
help.brief = page.brief

return help
