-- lunarray.help.page: a row of the table of words as text of 79 columns.
local rows = require "lunarray.help.rows"

local page = {}

local COLUMNS = 79
local INDENT = "    "

-- Words in lines of at most COLUMNS, the first after 'first', others 'rest'.
local function wrap(text, first, rest)
  local lines, line = {}, first
  for word in text:gmatch("%S+") do
    local gap = (line == first or line == rest) and "" or " "
    if utf8.len(line .. gap .. word) > COLUMNS and line ~= rest then
      lines[#lines + 1] = line
      line, gap = rest, ""
    end
    line = line .. gap .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- A call in lines; "name = value" stays together.
local function wrap_call(text)
  text = text:gsub(" = ", "\1=\1"):gsub(" %-> ", " ->\1")
  return (wrap(text, "", "      "):gsub("\1", " "))
end

-- Paragraphs are wrapped; lines that begin with blanks stay as they are.
local function paragraphs(text, out)
  local open
  local function close()
    if open then out[#out + 1] = wrap(open, INDENT, INDENT) end
    open = nil
  end
  for line in (text .. "\n"):gmatch("(.-)\n") do
    if line:find("^%s") or line == "" then
      close()
      out[#out + 1] = line == "" and "" or INDENT .. line
    else
      open = open and open .. " " .. line or line
    end
  end
  close()
  while out[#out] == "" do out[#out] = nil end
end

local GROUPS = {
  {"bool", "bool"},
  {"integers", "uint8 int8 uint16 int16 uint32 int32 uint64 int64"},
  {"16-bit floats", "float16 bfloat16"}, {"floats", "float32 float64"},
  {"complex", "complex32 complex64 complex128"},
}

-- A list of dtypes as "all", or by kinds: "integers, floats, complex64".
function page.dtypes(list)
  local has, words, whole = {}, {}, true
  for _, name in ipairs(list) do has[name] = true end
  for _, group in ipairs(GROUPS) do
    local some, n = {}, 0
    for name in group[2]:gmatch("%S+") do
      n = n + 1
      if has[name] then some[#some + 1] = name end
    end
    if #some == n then words[#words + 1] = group[1]
    else
      whole = false
      words[#words + 1] = some[1] and table.concat(some, ", ")
    end
  end
  return whole and "all" or table.concat(words, ", ")
end

-- The other ways to call an operation: as a function, in place, with out=.
function page.forms(row)
  local list, forms = {}, row.forms
  local name = row.owner == "la" and row.short or row.owner .. "." .. row.short
  if forms & rows.FN ~= 0 and forms & rows.METHOD ~= 0 then
    list[#list + 1] = ("la.%s(x, ...)"):format(name)
  end
  if forms & rows.INPLACE ~= 0 and not row.op_name:find("_$") then
    list[#list + 1] = ("x:%s_() in place"):format(row.op_name)
  end
  if forms & rows.OUT ~= 0 then list[#list + 1] = "{out =}" end
  return table.concat(list, ", ")
end

-- What an operation's row says; its parameter self is x in all calls.
function page.doc(op)
  return (op.doc:gsub("%f[%w_]self%f[^%w_]", "x"))
end

-- How gradients pass an operation: "yes", "by its steps" or "no".
function page.derivative(op)
  if not op.differentiable then return "no" end
  return op.derivative and "yes" or op.composite and "by its steps" or "no"
end

-- The calls of an operation, each with what its row says.
local function add_operation(row, out)
  for k, op in ipairs(row.ops) do
    out[#out + 1] = wrap_call(row.signatures[k])
    paragraphs(page.doc(op), out)
  end
end

-- What the registry knows of the operation.
local function add_facts(row, out)
  local forms = page.forms(row)
  if forms ~= "" then out[#out + 1] = wrap("also: " .. forms, INDENT, "      ")
  end
  local seen = {}
  for _, op in ipairs(row.ops) do
    local text = ("dtypes: %s; gradient: %s; lockstep: %s"):format(
      page.dtypes(op.dtypes), page.derivative(op), op.lockstep)
    if not seen[text] then
      out[#out + 1] = wrap(text, INDENT, "      ")
      seen[text] = true
    end
  end
end

-- The steps of an example as a prompt shows them.
function page.example(steps)
  local lines = {}
  for _, step in ipairs(steps) do
    lines[#lines + 1] = "> " .. step.code:gsub("\n", "\n>> ")
    if step.output ~= "" then lines[#lines + 1] = step.output end
  end
  return table.concat(lines, "\n")
end

local function add_words(row, out)
  local e = row.entry
  if e.text ~= "" then paragraphs(e.text, out) end
  for _, note in ipairs(e.notes) do
    out[#out + 1] = wrap(note, INDENT .. "- ", "      ")
  end
  for _, text in ipairs(e.errors) do
    out[#out + 1] = wrap("errors: " .. text, INDENT, "      ")
  end
  if row.ops then add_facts(row, out) end
  if #row.aliases > 0 then
    out[#out + 1] = wrap("other names: " .. table.concat(row.aliases, ", "),
      INDENT, "      ")
  end
  if e.source then
    out[#out + 1] = wrap("source: " .. e.source, INDENT, "      ")
  end
  if e.see then out[#out + 1] = wrap("see: " .. e.see, INDENT, "      ") end
  if #e.example > 0 then
    for line in (page.example(e.example) .. "\n"):gmatch("(.-)\n") do
      out[#out + 1] = line == "" and "" or INDENT .. line
    end
  end
end

-- The whole page of a row, ending with a line break.
function page.text(row)
  local out = {}
  if row.ops then add_operation(row, out)
  else
    for _, text in ipairs(row.signatures) do
      out[#out + 1] = wrap_call(text)
    end
  end
  add_words(row, out)
  return table.concat(out, "\n") .. "\n"
end

-- A line about a row: the first sentence of what it does.
function page.brief(row)
  local text = row.ops and page.doc(row.ops[1]) or row.entry.text
  text = text:gsub("%s+", " ")
  return (text:match("^(.-[%.:;?])%s") or text):gsub("[:;]$", ".")
end

-- A sentence in lines of the page's width.
function page.sentence(text) return wrap(text, "", "") .. "\n" end

-- Names in columns' width, indented.
function page.list(names)
  return wrap(table.concat(names, ", "), INDENT, INDENT)
end

return page
