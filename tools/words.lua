-- The words of lua/lunarray/words and modules/*/words.lua: what is missing, and
-- their examples.
--   lua5.4 tools/words.lua missing [family]     rows without words or example
--   lua5.4 tools/words.lua fill [family ...]    write outputs of examples
--   lua5.4 tools/words.lua check [family ...]   run, compare; used by specs
-- The module has the texts that it was built with: make, fill, read, make.
-- Examples write files: fill and check are run in a folder of their own. Those
-- of MPI run with LUNARRAY_WORDS_MPI=1 alone.
local root = arg[0]:match("^(.*)tools/words%.lua$")
package.path = root .. "tools/words/?.lua;" .. package.path
local rows = require "lunarray.help.rows"
local run = require "run"

local commands = {}

local function name_set(list)
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  return #list > 0 and set or nil
end

function commands.missing(...)
  local only, n = name_set {...}, 0
  for _, row in ipairs(rows.all().list) do
    if #row.entry.example == 0 and (not only or only[row.family or "none"]) then
      n = n + 1
      print(("%-10s %s"):format(row.family or "none", row.signatures[1]))
    end
  end
  io.stderr:write(n, " rows without an example\n")
end

-- Entries, each once: several names may share one.
local function entries(only)
  local list, seen = {}, {}
  for _, row in ipairs(rows.all().list) do
    if not seen[row.entry] and (not only or only[row.family]) then
      seen[row.entry] = true
      list[#list + 1] = {name = row.name, entry = row.entry}
    end
  end
  return list
end

-- One line for each step that shows something else than is written.
function commands.check(...)
  local only, steps, wrong = name_set {...}, 0, 0
  for _, e in ipairs(entries(only)) do
    local why = run.lacks(e.entry.needs)
    local outputs = not why and run.example(e.entry) or {}
    for k, text in ipairs(outputs) do
      steps = steps + 1
      local want = e.entry.example[k].output
      if text ~= want then
        wrong = wrong + 1
        print(("%s: > %s\n%s\ninstead of\n%s"):format(e.name,
          e.entry.example[k].code, text, want))
      end
    end
    if why then print("left out: " .. e.name .. ": " .. why) end
  end
  print(("%d steps, %d wrong"):format(steps, wrong))
  os.exit(wrong == 0, true)
end

-- A file's lines with the outputs of its examples put in.
local function filled(path, family)
  local lines, out, skipping = {}, {}, false
  local text
  do
    local file = assert(io.open(path))
    text = file:read "a"
    file:close()
  end
  for line in text:gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
  local list = rows.parse(text, family)
  local e, k, outputs, n = nil, 0, nil, 0
  for i, line in ipairs(lines) do
    local code = line:find("^>>? ")
    local marked = line:find("^== ") or line:find("^[:!-] ")
      or line:find("^%l+: ") or line == "]==]"
    if code or marked then skipping = false end
    if line:find("^== ") and not (lines[i - 1] or ""):find("^== ") then
      n = n + 1
      e, k = list[n], 0
      outputs = not run.lacks(e.needs) and run.example(e) or nil
    end
    if not skipping then out[#out + 1] = line end
    if code and not (lines[i + 1] or ""):find("^>> ") then
      k = k + 1
      if outputs then
        skipping = true
        for o in (outputs[k] .. "\n"):gmatch("([^\n]*)\n") do
          if outputs[k] ~= "" then out[#out + 1] = o == "" and "." or o end
        end
      end
    end
  end
  return table.concat(out, "\n") .. "\n", text
end

-- The file of a family: the core's, or a module's.
local function path_of(name)
  local path = root .. "modules/" .. name .. "/words.lua"
  local file = io.open(path)
  if not file then return root .. "lua/lunarray/words/" .. name .. ".lua" end
  file:close()
  return path
end

function commands.fill(...)
  local only = name_set {...}
  for _, family in ipairs(require "lunarray.words") do
    if not only or only[family[1]] then
      local path = path_of(family[1])
      local new, old = filled(path, family[1])
      if new ~= old then
        local file = assert(io.open(path, "w"))
        assert(file:write(new))
        assert(file:close())
        print("filled " .. path)
      end
    end
  end
end

local command = commands[arg[1]]
if not command then
  io.stderr:write("missing, fill or check\n")
  os.exit(2)
end
command(table.unpack(arg, 2))
