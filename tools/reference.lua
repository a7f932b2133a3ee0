-- The reference as Markdown, from the table of words (lunarray.help.rows):
--
--   lua5.4 tools/reference.lua OUT
--
-- writes into the folder OUT a page of the families and all words, a page for
-- each family with a heading for each word, and index.json, a list of {word,
-- page, text}: every name, its page with the anchor, and a line about it.
local help = require "lunarray.help"
local page = require "lunarray.help.page"
local rows = require "lunarray.help.rows"

local reference = {}

-- ---- Markdown ----

-- Plain text as Markdown that shows the same.
function reference.escape(text)
  text = text:gsub("[\\`*_<>|~%[%]]", "\\%0"):gsub("&", "&amp;")
  return (text:gsub("^([#+-])", "\\%1"):gsub("^(%d+)([.)])", "%1\\%2"))
end

local escape = reference.escape

-- The anchor that GitHub gives to a heading; 'seen' counts those of a page.
function reference.anchor(text, seen)
  local slug = text:lower():gsub("[^%w%- _]", ""):gsub(" ", "-")
  local n = seen[slug]
  seen[slug] = (n or 0) + 1
  return n and slug .. "-" .. n or slug
end

local function code(text) return "`" .. text .. "`" end

local function fence(out, lines)
  out[#out + 1] = "```text"
  for _, line in ipairs(lines) do out[#out + 1] = line end
  out[#out + 1] = "```\n"
end

-- Paragraphs; lines that begin with blanks are shown as they are.
local function paragraphs(out, text)
  local open, shown = {}, {}
  local function close()
    if open[1] then out[#out + 1] = escape(table.concat(open, " ")) .. "\n" end
    if shown[1] then fence(out, shown) end
    open, shown = {}, {}
  end
  for line in (text .. "\n"):gmatch("(.-)\n") do
    if line == "" or line:find("^%s") ~= nil ~= (shown[1] ~= nil) then
      close()
    end
    local list = line:find("^%s") and shown or open
    if line ~= "" then list[#list + 1] = line end
  end
  close()
end

-- ---- one word ----

local function file_of(family) return "reference-" .. family .. ".md" end

-- A link to a word; the plain name where it has no row of its own, like a theme
-- whose functions are rows.
local function link(name, where)
  local row = help.find(name)
  local target = row and where[row]
  return target and ("[%s](%s)"):format(code(name), target) or code(name)
end

local function links(names, where)
  local list = {}
  for k, name in ipairs(names) do list[k] = link(name, where) end
  return table.concat(list, ", ")
end

-- What each argument means, where the words tell, by name.
local function notes_of(entry)
  local notes = {}
  for _, note in ipairs(entry.notes) do
    local name, text = note:match("^([%w_]+):%s*(.*)$")
    if name then notes[name] = text else notes[#notes + 1] = note end
  end
  return notes
end

-- The arguments of all calls, each name once.
local function arguments_of(row)
  local list, seen = {}, {}
  for _, call in ipairs(row.calls) do
    for _, p in ipairs(call.params or {}) do
      if not seen[p.name] and p.name ~= "self" and p.name ~= "..." then
        seen[p.name] = true
        list[#list + 1] = p
      end
    end
  end
  return list
end

local function default_of(p)
  if p.default then return code(p.default) end
  return p.optional and "may be left out" or p.null and "may be nil" or ""
end

local function add_arguments(row, out)
  local notes, list = notes_of(row.entry), arguments_of(row)
  local useful = false
  for _, p in ipairs(list) do
    useful = useful or p.type or p.default or notes[p.name]
  end
  if useful then
    out[#out + 1] = "| argument | type | default | |\n| --- | --- | --- | --- |"
    for _, p in ipairs(list) do
      out[#out + 1] = ("| %s | %s | %s | %s |"):format(code(p.name),
        p.type or "", default_of(p), escape(notes[p.name] or ""))
      notes[p.name] = nil
    end
    out[#out + 1] = ""
  end
  for _, note in ipairs(notes) do out[#out + 1] = "- " .. escape(note) end
  for name, note in pairs(notes) do
    if type(name) == "string" then
      out[#out + 1] = ("- %s: %s"):format(code(name), escape(note))
    end
  end
  if out[#out]:find("^%- ") then out[#out + 1] = "" end
end

local function fact(out, title, text)
  if text and text ~= "" then
    out[#out + 1] = ("- %s: %s"):format(title, text)
  end
end

-- What the registry knows of an operation, each line once.
local function add_facts(row, out)
  local seen = {}
  for _, op in ipairs(row.ops or {}) do
    local text = ("dtypes: %s; gradient: %s; lockstep: %s"):format(
      page.dtypes(op.dtypes), page.derivative(op), op.lockstep)
    if not seen[text] then out[#out + 1] = "- " .. text end
    seen[text] = true
  end
end

local function names_text(names)
  local list = {}
  for k, name in ipairs(names) do list[k] = code(name) end
  return table.concat(list, ", ")
end

-- "..." alone would have no anchor.
local function heading(row)
  return row.name:find("%w") and row.name or 'x["' .. row.name .. '"]'
end

local function add_word(row, out, where)
  local e = row.entry
  out[#out + 1] = "## " .. escape(heading(row)) .. "\n"
  fence(out, row.signatures)
  local seen = {}
  for _, op in ipairs(row.ops or {}) do
    local text = page.doc(op)
    if not seen[text] then paragraphs(out, text) end
    seen[text] = true
  end
  if e.text ~= "" then paragraphs(out, e.text) end
  add_arguments(row, out)
  for _, text in ipairs(e.errors) do fact(out, "error", escape(text)) end
  fact(out, "also", row.ops and page.forms(row) ~= ""
    and code(page.forms(row)) or nil)
  add_facts(row, out)
  fact(out, "other names", names_text(row.aliases))
  fact(out, "source", e.source and escape(e.source))
  fact(out, "see also", e.see and links(rows.words(e.see), where))
  out[#out + 1] = ""
  local lines = {}
  for line in (page.example(e.example) .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = line
  end
  fence(out, lines)
end

-- ---- all of it ----

-- Rows by family, and where each row is: file and anchor.
local function sorted_rows()
  local families, where, seen = {}, {}, {}
  for _, row in ipairs(rows.all().list) do
    local f = row.family
    families[f] = families[f] or {}
    seen[f] = seen[f] or {}
    table.insert(families[f], row)
  end
  for f, list in pairs(families) do
    table.sort(list, function(a, b) return a.name < b.name end)
    for _, row in ipairs(list) do
      where[row] = file_of(f) .. "#" .. reference.anchor(heading(row),
        seen[f])
    end
  end
  return families, where
end

-- The page of a family as a text.
local function family_page(title, list, where)
  local out, names = {"# " .. title .. "\n"}, {}
  for k, row in ipairs(list) do
    names[k] = ("[%s](%s)"):format(code(row.name), where[row]:match("#.*$"))
  end
  out[2] = table.concat(names, ", ") .. "\n"
  for _, row in ipairs(list) do add_word(row, out, where) end
  return table.concat(out, "\n")
end

local function front_page(families, where)
  local out = {"# All words\n", "What a program can write, by theme. "
    .. "`la.help` and `?` of the prompt show the same texts.\n"}
  for _, family in ipairs(require "lunarray.words") do
    local names = {}
    for k, row in ipairs(families[family[1]] or {}) do
      names[k] = ("[%s](%s)"):format(code(row.name), where[row])
    end
    if names[1] then
      out[#out + 1] = ("## [%s](%s)\n"):format(family[2], file_of(family[1]))
      out[#out + 1] = table.concat(names, ", ") .. "\n"
    end
  end
  return table.concat(out, "\n")
end

local function quoted(text)
  return '"' .. text:gsub('[%c\\"]', function(c)
    return ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function index_text(where)
  local list = {}
  for _, row in ipairs(rows.all().list) do
    for _, name in ipairs{row.name, table.unpack(row.aliases)} do
      list[#list + 1] = ("{\"word\": %s, \"page\": %s, \"text\": %s}"):format(
        quoted(name), quoted(where[row]), quoted(page.brief(row)))
    end
  end
  return "[\n" .. table.concat(list, ",\n") .. "\n]\n"
end

-- Texts of all files by name.
function reference.files()
  local files = {}
  local families, where = sorted_rows()
  for _, family in ipairs(require "lunarray.words") do
    local list = families[family[1]]
    if list then
      files[file_of(family[1])] = family_page(family[2], list, where)
    end
  end
  files["reference.md"] = front_page(families, where)
  files["index.json"] = index_text(where)
  return files
end

-- Run as a program; a spec requires it instead.
if arg and arg[0] and arg[0]:find("reference%.lua$") then
  local out = arg[1]
  if not out then
    io.stderr:write "reference.lua: OUT\n"
    os.exit(2)
  end
  assert(os.execute("mkdir -p '" .. out .. "'"))
  for name, text in pairs(reference.files()) do
    local file = assert(io.open(out .. "/" .. name, "wb"))
    assert(file:write(text))
    assert(file:close())
  end
end

return reference
