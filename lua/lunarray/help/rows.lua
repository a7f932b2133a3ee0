-- lunarray.help.rows: the table of words. One row for every operation,
-- function, method, property, class and method of a class that users can write.
--
-- What the library knows of itself (signatures, dtypes, forms, other names) is
-- asked of la.operations(); what a person needs besides is written in
-- lunarray.words.*, by name:
--
--   == sum                     the name; several, with commas, share a text,
--                              which may be lines of names, one behind another
--   : la.f(x[, {dim=}]) -> tensor      the call, of what is no operation
--   Text in paragraphs.
--   - dim: what this argument means, where its name does not tell
--   ! what raises an error, and what to do then
--   > la.ones(2, 3):sum(1)     an example; ">> " goes on with it
--   tensor([2., 2., 2.])       and what the prompt shows for it
--   see: mean, prod            related words
--   aka: total                 other names of what is no operation
--   source: the paper or book of the method
--   needs: mpi                 what the example can't run without, or a module
--
-- A name is "sum" (operation or function of la), "fft.rfft" (of a theme),
-- "x:item" (method of a tensor), "x.shape" (property), "nn.Linear" (of a
-- module), "nn.Module:parameters" (method of its objects). In a shared text
-- "{1d,2d,3d}" of a call stands for the part that belongs to the name.
local la = require "lunarray"
local signature = require "lunarray.help.signature"

local rows = {}

-- Bits of an operation's forms (src/op/op.h).
local FN, METHOD, INPLACE, OUT = 1, 2, 4, 8

-- ---- reading the words ----

local FIELDS = {see = true, source = true, needs = true, aka = true}

local function new_entry(line, family)
  local names = {}
  for name in line:gmatch("[^,%s]+") do names[#names + 1] = name end
  return {names = names, family = family, calls = {}, text = {}, notes = {},
    errors = {}, example = {}}
end

-- Put a line of an entry where it belongs. The output of an example ends at a
-- line of another kind; an empty line within it is a lone ".".
local function add_line(e, line)
  local mark, rest = line:match("^([:>!-]>?) (.*)$")
  local field, value = line:match("^(%l+): (.*)$")
  local step = e.example[#e.example]
  if FIELDS[field] then
    e[field] = value
    e.open = field
  elseif mark == ">" then
    e.example[#e.example + 1] = {code = rest, output = {}}
    e.open = "output"
  elseif mark == ">>" then step.code = step.code .. "\n" .. rest
  elseif mark == ":" then
    e.calls[#e.calls + 1] = rest
    e.open = "calls"
  elseif e.open == "calls" and line:find("^  ") then
    e.calls[#e.calls] = e.calls[#e.calls] .. " " .. line:match("^%s*(.*)$")
  elseif mark == "-" then
    e.notes[#e.notes + 1] = rest
    e.open = "notes"
  elseif mark == "!" then
    e.errors[#e.errors + 1] = rest
    e.open = "errors"
  elseif FIELDS[e.open] and line:find("^  ") then
    e[e.open] = e[e.open] .. " " .. line:match("^%s*(.*)$")
  elseif e.open == "output" then
    step.output[#step.output + 1] = line == "." and "" or line
  elseif (e.open == "notes" or e.open == "errors") and line:find("^  ") then
    local list = e[e.open]
    list[#list] = list[#list] .. " " .. line:match("^%s*(.*)$")
  else
    e.open = nil
    e.text[#e.text + 1] = line
  end
end

-- The entries of one family's text, in order.
function rows.parse(text, family)
  local list, e = {}, nil
  for line in text:gmatch("([^\n]*)\n") do
    local names = line:match("^== (.*)$")
    if names and e and e.open == "names" then
      local more = new_entry(names).names
      table.move(more, 1, #more, #e.names + 1, e.names)
    elseif names then
      e = new_entry(names, family)
      e.open = "names"
      list[#list + 1] = e
    elseif e then add_line(e, line)
    end
  end
  for _, entry in ipairs(list) do
    entry.open = nil
    entry.text = table.concat(entry.text, "\n"):match("^%s*(.-)%s*$")
    for _, step in ipairs(entry.example) do
      step.output = table.concat(step.output, "\n"):match("^(.-)%s*$")
    end
  end
  return list
end

-- ---- operations ----

local function field(t, name) return t[name] end

-- A name that is not there may be an error, with advice.
local function has(t, name)
  local ok, value = pcall(field, t, name)
  return ok and value ~= nil
end

-- "fft.rfft" of the operation fft_rfft, where la.fft has rfft.
local function public_name(name)
  local theme, rest = name:match("^(%l+)_(.+)$")
  local t = theme and rawget(la, theme)
  if type(t) == "table" and has(t, rest) then
    return theme .. "." .. rest, theme
  end
  return name
end

local function new_operation(op)
  local name, theme = public_name(op.name)
  return {name = name, kind = "operation", owner = theme or "la",
    short = theme and op.name:sub(#theme + 2) or op.name, op_name = op.name,
    ops = {}, calls = {}, aliases = op.aliases}
end

-- All operations that users can write, by name; overloads are one row.
local function add_operations(by_name, list, operations)
  local ours = la.config().operations
  for k, op in ipairs(operations) do
    if op.forms & (FN | METHOD) ~= 0 then
      local row = by_name[public_name(op.name)]
      if not row then
        row = new_operation(op)
        by_name[row.name] = row
        list[#list + 1] = row
      end
      row.ops[#row.ops + 1] = op
      row.calls[#row.calls + 1] = signature.of_schema(op.signature)
      row.forms = (row.forms or 0) | op.forms
      row.hosted = k > ours
    end
  end
end

local KEYWORDS = {["repeat"] = true}

-- What is written for an operation's call: "x:sum(...)" or "la.zeros(...)"; or
-- "x.T" of what is read without a call, as the complex tensor 'sample' tells.
local function write_calls(row, sample)
  row.signatures = {}
  for k, op in ipairs(row.ops) do
    local method = op.forms & METHOD ~= 0
    local name = method and "x:" .. row.op_name
      or row.owner == "la" and "la." .. row.short
      or ("la.%s.%s"):format(row.owner, row.short)
    local text = signature.write(row.calls[k], name, method)
    if method and KEYWORDS[row.op_name] then
      text = text:gsub("^x:(%w+)%(", 'x["%1"](x, ')
    elseif method and not row.hosted
      and type(sample[row.op_name]) ~= "function" then
      row.kind, text = "property", "x." .. row.op_name
    end
    row.signatures[k] = text .. signature.results(row.calls[k])
  end
end

-- ---- everything else ----

local function kind_of(name, call)
  if name:find("^x%.") or name:find("^[%u%l.]+%.[%l_]+$") and not call.params
  then return "property" end
  if name:find(":") then return "method" end
  if not call.params then return "value" end
  return name:match("[%w_]+$"):find("^%u") and "class" or "function"
end

-- The call of the k-th of several names: "{1d,2d,3d}" is its part.
local function expand(text, k)
  return (text:gsub("{([%w_]+,[%w_,]+)}", function(list)
    local n = 0
    for word in list:gmatch("[^,]+") do
      n = n + 1
      if n == k then return word end
    end
  end))
end

local function new_row(name, e, k)
  local owner, short = name:match("^(.*)[.:]([^.:]+)$")
  local row = {name = name, owner = owner == "x" and "tensor" or owner or "la",
    short = short or name, calls = {}, signatures = {}, aliases = {}}
  for i, text in ipairs(e.calls) do
    row.signatures[i] = expand(text, k)
    row.calls[i] = signature.of_text(row.signatures[i])
  end
  row.kind = kind_of(name, row.calls[1] or {})
  return row
end

-- Join the words to the rows; names that are no operations become rows.
local function add_words(by_name, list, unknown)
  for _, family in ipairs(require "lunarray.words") do
    local text = require("lunarray.words." .. family[1])
    for _, e in ipairs(rows.parse(text, family[1])) do
      for k, name in ipairs(e.names) do
        local row = by_name[name]
        if not row and #e.calls > 0 then
          row = new_row(name, e, k)
          by_name[name] = row
          list[#list + 1] = row
        end
        if row and not row.entry then row.entry, row.family = e, family[1]
        else unknown[#unknown + 1] = name
        end
      end
    end
  end
end

-- ---- other names ----

-- Words in a list of words: "mean, fft.fft" gives {"mean", "fft.fft"}.
function rows.words(text)
  local list = {}
  for word in (text or ""):gmatch("[^,%s]+") do list[#list + 1] = word end
  return list
end

local function add_alias(by_name, aliases, name, row)
  if not by_name[name] and not aliases[name] then aliases[name] = row end
end

-- Themes show operations under names of their own: la.linalg.det is la.det.
local function add_themes(by_name, aliases)
  for theme, t in pairs(la) do
    if type(t) == "table" then
      for name in pairs(t) do
        local row = by_name[name] or aliases[name]
        if row then
          add_alias(by_name, aliases, theme .. "." .. name, row)
        end
      end
    end
  end
end

local function name_aliases(by_name, list)
  local aliases = {}
  for _, row in ipairs(list) do
    for _, name in ipairs(rows.words(row.entry.aka)) do
      row.aliases[#row.aliases + 1] = name
    end
    for _, name in ipairs(row.aliases) do
      add_alias(by_name, aliases, name, row)
    end
    if row.op_name then add_alias(by_name, aliases, row.op_name, row) end
  end
  add_themes(by_name, aliases)
  return aliases
end

-- ---- the table ----

-- The row of a name in a table, or nil. "la.sum", "x:sum", "x.shape",
-- "tensor.item" and "sum_" are looked for as written, then without what stands
-- before.
function rows.look(t, name)
  local function known(key) return t.by_name[key] or t.aliases[key] end
  local row = known(name)
  if row then return row end
  local member = name:match("^x[.:](.+)$") or name:match("^tensor[.:](.+)$")
    or name:match("^la%.(.+)$") or name
  row = known(member) or known("x:" .. member) or known("x." .. member)
  if not row and member:find("_$") then
    row = known(member:sub(1, -2))
    if row and not (row.forms and row.forms & INPLACE ~= 0) then
      row = nil
    end
  end
  return row
end

-- What a word is related to and is in this build; the rest are names of modules
-- that are left out.
local function keep_present(t, row)
  local e, present = row.entry, {}
  for _, name in ipairs(rows.words(e.see)) do
    if rows.look(t, name) then present[#present + 1] = name
    else t.absent[#t.absent + 1] = row.name .. " -> " .. name
    end
  end
  e.see = present[1] and table.concat(present, ", ")
end

local function build(operations)
  local t = {list = {}, by_name = {}, unknown = {}, absent = {}}
  add_operations(t.by_name, t.list, operations)
  local sample = la.zeros(1, 1, {dtype = "complex64"})
  for _, row in ipairs(t.list) do write_calls(row, sample) end
  add_words(t.by_name, t.list, t.unknown)
  for _, row in ipairs(t.list) do
    row.entry = row.entry or rows.parse("== " .. row.name .. "\n")[1]
  end
  t.aliases = name_aliases(t.by_name, t.list)
  for _, row in ipairs(t.list) do keep_present(t, row) end
  return t
end

local last, count

-- The table of words: list (in order), by_name, aliases (rows by their other
-- names), unknown, names in words that are no operation of this build or stand
-- there twice, and absent, related words that it does not have. A host may add
-- operations to its runtime and take them away: with 'fresh' the table is made
-- again when their number has changed.
function rows.all(fresh)
  if last and not fresh then return last end
  local operations = la.operations()
  if #operations ~= count then
    last, count = build(operations), #operations
  end
  return last
end

rows.FN, rows.METHOD, rows.INPLACE, rows.OUT = FN, METHOD, INPLACE, OUT

return rows
