-- Every operation is whole: a schema that parses, a doc, and golden records or
-- a spec that calls it; and no code tells operations apart by name.
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

local TYPES = {}
for word in ([[Tensor Tensor? Array Array? Tensor[] Tensor?[]
  Number[] Number[]?
  Scalar Scalar? int int? float
  float? bool bool? str str? dtype dtype? dim dim? dim[] dim[]? index index?
  dim[][] cell[] index[] index[]? int[] int[]? int... dim... size[] size[]?
  memory_format? device device? Generator? str[] str[]? names names? float[]
  float[]?]]):gmatch("%S+") do TYPES[word] = true end

local RESULTS = {}
for word in ([[Tensor Tensor[] bool Scalar int int[] dtype str float]])
  :gmatch("%S+") do RESULTS[word] = true end

-- ---- rows ----

-- The rows as the compiler reads them, with the texts that they share filled
-- in: a list of {path, line, text}, one for each line.
local function expanded()
  local list, path, line = {}, "src/op/ops.def", 1
  local pipe = assert(io.popen((os.getenv("CC") or "cc")
    .. " -E -Isrc -I. -Ibuild/obj -x c src/op/ops.def"))
  for text in pipe:lines() do
    local number, name = text:match('^# (%d+) "([^"]+)"')
    if number then
      line, path = tonumber(number), name
    else
      list[#list + 1] = {path = path, line = line, text = text}
      line = line + 1
    end
  end
  pipe:close()
  return list
end

-- Split the text between the row's parentheses at commas outside of strings
-- and brackets; adjacent strings join.
local function split_row(text)
  local fields, field, depth, i = {}, {}, 0, 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == '"' then
      local stop = i + 1
      while text:sub(stop, stop) ~= '"' do
        stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1)
      end
      field[#field + 1] = text:sub(i + 1, stop - 1)
      i = stop
    elseif c == "," and depth == 0 then
      fields[#fields + 1] = table.concat(field)
      field = {}
    elseif not c:find("%s") then
      depth = depth + (c == "(" and 1 or c == ")" and -1 or 0)
      field[#field + 1] = c
    end
    i = i + 1
  end
  fields[#fields + 1] = table.concat(field)
  return fields
end

-- The end of the parenthesis that opens at 'from', strings skipped.
local function closing(text, from)
  local depth, i = 0, from
  while i <= #text do
    local c = text:sub(i, i)
    if c == '"' then
      i = i + 1
      while text:sub(i, i) ~= '"' do
        i = i + (text:sub(i, i) == "\\" and 2 or 1)
      end
    elseif c == "(" then depth = depth + 1
    elseif c == ")" then
      depth = depth - 1
      if depth == 0 then return i end
    end
    i = i + 1
  end
end

-- { {name, kind, family, dtypes, schema, forms, doc, where = path:line}, ... }
local function rows()
  local list, pending, where = {}, nil, nil
  for _, l in ipairs(expanded()) do
    if l.text:find("^OP%(") then pending, where = "", l end
    if pending then
      pending = pending .. l.text .. " "
      local close = closing(pending, 3)
      if close then
        local row = split_row(pending:sub(4, close - 1))
        row.where = ("%s:%d"):format(where.path, where.line)
        list[#list + 1] = row
        pending = nil
      end
    end
  end
  assert(not pending, "a row is not closed")
  return list
end

-- ---- checks of one row ----

-- Commas that part parameters: not those inside of brackets.
local function params_of(text)
  local list, depth, from = {}, 0, 1
  for i = 1, #text do
    local c = text:sub(i, i)
    if c == "[" or c == "(" then depth = depth + 1
    elseif c == "]" or c == ")" then depth = depth - 1
    elseif c == "," and depth == 0 then
      list[#list + 1] = text:sub(from, i - 1)
      from = i + 1
    end
  end
  if text:find("%S") then list[#list + 1] = text:sub(from) end
  return list
end

local function schema_fault(schema)
  local name, params, results =
    schema:match("^([%w_.]+)%((.*)%)%s*%->%s*(.-)%s*$")
  if not name then return "the schema is not 'name(params) -> results'" end
  for _, p in ipairs(params_of(params)) do
    local type_name, word = p:match("^%s*(%S+)%s+([%w_]+)")
    if not p:match("^%s*%*%s*$") and not (word and TYPES[type_name]) then
      return ("parameter '%s' is not understood"):format(p)
    end
  end
  local inner = results:match("^%((.*)%)$") or results
  for _, r in ipairs(params_of(inner)) do
    if not RESULTS[r:match("^%s*(%S+)")] then
      return ("result '%s' is not understood"):format(r)
    end
  end
end

-- How a spec uses an operation: la.name, x:name(, x.name_, x.mH, or a text of
-- names alone (lists that a loop calls; no titles of tests); C by
-- la_run(name, ...) or LA_OP(name). A local variable or a comment of the same
-- name is no use.
local LUA_USES = {"la%.([%a_][%w_]*)", ":([%a_][%w_]*)%s*[%({\"']",
                  "%.([%a_][%w_]*_)%f[^%w_]", "%.(m?[TH])%f[^%w_]"}
local C_USES = {"la_run%(%s*([%a_][%w_]*)", "LA_OP%(([%a_][%w_]*)"}

-- Add the names in 'text' that a pattern of 'uses' or a quoted text has.
local function add_called(names, text, uses)
  local function add(word)
    names[word] = true
    names[word:gsub("_$", "")] = true
  end
  for _, pattern in ipairs(uses) do
    for word in text:gmatch(pattern) do add(word) end
  end
  text = text:gsub('%f[%w]it%s*%(?"[^"\n]*"', "")
  text = text:gsub('%f[%w]describe%s*%(?"[^"\n]*"', "")
  for quoted in text:gmatch('"([%w_%s]*)"') do
    for word in quoted:gmatch("[%a_][%w_]*") do add(word) end
  end
end

-- The rows of a module's theme that its specs and their records call by the
-- theme's names: game.dot of a spec is game_dot.
local function add_module(names, path)
  local theme = path:match("^modules/([%w_]+)/")
  if not theme then return end
  local pattern = path:find("%.lua$") and "%f[%w]" .. theme .. "%.([%a_][%w_]*)"
    or '"call":"([%w_]+)"'
  for word in files.text(path):gmatch(pattern) do
    names[theme .. "_" .. word] = true
  end
end

-- Names that golden records have or specs use.
local function covered_names()
  local names = {}
  for _, path in ipairs(files.list("modules", "*_spec.lua", "*.jsonl")) do
    add_module(names, path)
  end
  for _, path in ipairs(files.list("spec/golden modules/*/spec/golden",
                                   "*.jsonl")) do
    names[path:match("([^/]+)%.jsonl$")] = true
    if path:match("programs") or path:match("autograd") then
      for op in files.text(path):gmatch('"op":"([%w_]+)"') do
        names[op] = true
        names[op:gsub("_$", "")] = true
      end
    end
  end
  for _, path in ipairs(files.list("spec modules", "*_spec.lua")) do
    add_called(names, files.text(path):gsub("%-%-[^\n]*", ""), LUA_USES)
  end
  for _, path in ipairs(files.list("spec modules", "test_*.c")) do
    add_called(names, files.text(path), C_USES)
  end
  return names
end

-- Operations that only others call: named with a leading _, or neither a
-- function nor a method.
local function is_internal(name, forms)
  for word in ("LA_BITS_OK LA_CONJ_OK LA_NO_GRAD_OP LA_VIEW_OP LA_MUTATES "
    .. "LA_METADATA LA_READS_VALUES LA_SAME_BITS "
    .. "LA_BY_C_LIBRARY LA_PURE LA_SIZED_BY_MASKS LA_SIZED LA_KEEPS_NUMBERS "
    .. "LA_OF_HANDLES"):gmatch("%S+") do
    forms = forms:gsub(word, "")
  end
  forms = forms:gsub("LA_BATCH%b()", ""):gsub("LA_COST%b()", "")
    :gsub("LA_ROLE%b()", "")
  return name:sub(1, 1) == "_" or not forms:find("%a")
end

local function row_faults(row, covered, seen)
  local id, schema, doc = row[1], row[5] or "", row[7] or ""
  local faults = {}
  if #row ~= 7 then faults[1] = ("%d columns, want 7"):format(#row) end
  faults[#faults + 1] = schema_fault(schema)
  if #doc < 3 then faults[#faults + 1] = "no doc" end
  local full = schema:match("^[%w_.]+") or id
  if seen[full] then faults[#faults + 1] = "twice, also at " .. seen[full] end
  seen[full] = row.where
  local base = full:match("^[^.]+")
  if not covered[base] and
     not is_internal(base, row[6] or "") then
    faults[#faults + 1] = "no golden records and no spec calls it"
  end
  return faults
end

-- Code asks for properties of rows: a row that is told apart by its name would
-- stand in a second list. Those that still are; the number only falls.
local NAMED = 6

local function add_named(found)
  local named = {}
  for _, path in ipairs(files.list("src modules", "*.c", "*.h", "*.inc")) do
    for i, line in ipairs(files.lines(path)) do
      if line:find("[=!]= *LA_OP%(") then
        named[#named + 1] = ("%s:%d: asks for an operation by its name, not "
          .. "for a property of its row"):format(path, i)
      end
    end
  end
  if #named > NAMED then table.move(named, 1, #named, #found + 1, found) end
end

local function check()
  local found, seen, covered = {}, {}, covered_names()
  add_named(found)
  for _, row in ipairs(rows()) do
    for _, fault in ipairs(row_faults(row, covered, seen)) do
      found[#found + 1] = ("%s: %s: %s"):format(row.where, row[1], fault)
    end
  end
  return found
end

if arg and arg[0] and arg[0]:match("optable%.lua$") then
  files.main(check)
end
return check
