-- Which sources and rows a choice of families needs. A family is a module, a
-- folder of src/op, "io" of src/io, or the Lua module "plot"; a row
-- belongs to the folder of the source with its body, element-wise rows to
-- pointwise, reductions to reduce.
local source = require("source")
local families = {}

-- What the binding itself calls: indexing, views, copies, making tensors.
families.always = {"view", "move", "create", "index", "pointwise", "reduce"}

-- The C interface and the binding, which have parts of every family.
local function is_interface(path)
  return path:match("^src/lua/") or path:match("^src/api/")
end

-- The headers of src/io that such a source includes, itself or by headers of
-- these folders. That on the host's structs names streams, for two of many.
local STRUCTS = "api/api_struct.h"
local function io_headers(path, found)
  for _, line in ipairs(source.lines_of(path)) do
    local name = line:match('^#include "([^"]+)"')
    local io_name = name and name:match("^io/(%w+)%.h$")
    if io_name then
      found[io_name] = true
    elseif name and name ~= STRUCTS and is_interface("src/" .. name) then
      io_headers("src/" .. name, found)
    end
  end
  return found
end

-- Folders of src/op without rows of their own, and the family they serve.
local SERVES = {eigen = "linalg"}

-- nil for what every library has.
local known_of = {}
function families.of(path)
  local folder = path:match("^src/op/(%w+)/")
    or path:match("^modules/([%w_]+)/")
  if folder then return SERVES[folder] or folder end
  if not is_interface(path) then return nil end
  if known_of[path] == nil then
    local found = io_headers(path, {})
    found.zip, found.bytes = nil, nil
    known_of[path] = next(found) and "io" or false
  end
  return known_of[path] or nil
end

-- The family of such a file: a module's too.
function families.of_interface(path)
  return (is_interface(path) or path:match("^modules/[%w_]+/lua/"))
    and families.of(path)
end

-- Modules of other programs: the prompt's, the notebook's, and that of MPI.
local ELSEWHERE = {repl = true, kernel = true, mpi = true}

-- Modules and pages that are not named as the family whose operations they use.
local USES = {optim = "nn", lbfgs = "nn", schedule = "nn", multi_head = "nn",
              files = "io"}

-- Is the Lua module, or page of words, one of what is kept? If it is not, the
-- name of its family; nil for what no library in one file has.
function families.has_module(module, kept)
  local theme = module:match("^lunarray%.words%.(%w+)")
    or module:match("^lunarray%.([%w_]+)")
  if ELSEWHERE[theme] then return false end
  theme = USES[theme] or theme
  local left_out = families.known[theme] and not kept(theme)
  return not left_out, left_out and theme or nil
end

-- The rows of a .def file: a function of each row's text (its first word, its
-- name, the whole), and the lines with what that returns.
function families.rewrite(lines, each)
  local out, i = {}, 1
  while i <= #lines do
    local word, name = lines[i]:match("^(%u+)%(([%w_]+),")
    if not word then
      out[#out + 1] = lines[i]
      i = i + 1
    else
      local text, depth = {}, 0
      repeat
        local bare = lines[i]:gsub('\\"', ""):gsub('"[^"]*"', "")
        depth = depth + select(2, bare:gsub("%(", ""))
          - select(2, bare:gsub("%)", ""))
        text[#text + 1] = lines[i]
        i = i + 1
      until depth == 0 or i > #lines
      local row = each(word, name, table.concat(text, "\n"))
      if row then out[#out + 1] = row end
    end
  end
  return out
end

-- {[row] = {family =, path =}} from what the units define.
function families.of_rows(units)
  local rows = {}
  for id, unit in pairs(units) do
    for name, defined in pairs(unit.externs) do
      local row = defined and name:match("^la_impl_(.+)$")
        or defined and name:match("^la_meta_(.+)$")
      local family = row and families.of(id)
      if family then rows[row] = {family = family, path = id} end
    end
  end
  return rows
end

-- The row for an operation that is left out: a composite whose body refuses.
function families.refusing(row, family)
  local name, kind, rest = row:match("^OP%(([%w_]+), (%u+),%s+(.*)$")
  local column = (kind == "SHARED" or kind == "REDUCE") and "^%b()"
    or kind == "FORMULA" and "^%s*R%b()" or "^[%w_]+"
  rest = rest:gsub(column, "NONE", 1)
  local at = #rest    -- cut the doc, the strings behind the forms
  while true do
    local first = rest:sub(1, at):find('[%s,]*"[^\n]*"%)?%s*$')
    if not first then break end
    at = first - 1
  end
  return ('OP(%s, COMPOSITE, %s,\n   "Left out of this build (family %s).")')
    :format(name, rest:sub(1, at), family)
end

-- What the sources define and refer to, by path; the bodies of headers belong
-- to those who include them.
local function links(units)
  local defines, refs = {}, {}
  for id, unit in pairs(units) do
    local path, cap = id:match("^(.+%.c)@?(.*)$")
    if path then
      for name, defined in pairs(unit.externs) do
        if defined and not name:match("^la_left_out_") then
          defines[name] = path
        end
      end
      local set = refs[path] or {}
      refs[path] = set
      local function add(from)
        for name in pairs(from and from.refs or {}) do set[name] = true end
      end
      add(unit)
      for header in pairs(source.headers_below(path)) do
        add(units[header])
        add(units[header .. "@" .. cap])
      end
    end
  end
  return defines, refs
end

-- The set of paths that are needed, and what they miss of the interfaces' own
-- families: {[name] = family}.
function families.closure(units, kept)
  local defines, refs = links(units)
  local paths, todo, missing = {}, {}, {}
  local function need(path)
    if paths[path] then return end
    paths[path], todo[#todo + 1] = true, path
  end
  for path in pairs(refs) do
    local family = families.of(path)
    if not source.is_kernel(path) and not path:match("^src/io/")
       and not path:match("^tools/") and not path:match("^src/grad/formulas/")
       and (not family or kept(family)) then need(path) end
  end
  while #todo > 0 do
    for name in pairs(refs[table.remove(todo)]) do
      local path = defines[name]
      local family = path and families.of_interface(path)
      if family and not kept(family) then
        missing[name] = family
      elseif path then
        need(path)
      end
    end
  end
  return paths, missing
end

return families
