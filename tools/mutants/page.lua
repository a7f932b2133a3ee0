-- The page of the score: what was planted and killed by folder, and what the
-- suite let through.
local known = require "known"
local page = {}

local HEAD = "# Planted mistakes\n\n"
  .. "`make mutants` plants small mistakes in the sources, one at a time, and "
  .. "runs the suite: a comparison reversed, a bound\noff by one, a sign, a "
  .. "factor, a condition dropped, a call left out, a truth exchanged. The "
  .. "head of\n`tools/mutants/run.lua` has the options. This page says how "
  .. "many of them the suite finds; it is written by that tool.\nA mistake "
  .. "that changes nothing that anybody could see counts apart: the compiler "
  .. "made the same code of it,\n`tools/mutants/known.lua` has the reason, or "
  .. "the line is gone since. The score is what was killed of the others;\n"
  .. "those that were alive are planted again when there are new specs.\n"

function page.folder_of(path)
  return path:match("^src/%w+") or path:match("^modules/%w+")
    or path:match("^lua/lunarray/%w+/") and path:match("^lua/lunarray/%w+")
    or "lua/lunarray"
end

local function counts(list)
  local folders, names = {}, {}
  local total = {planted = 0, same = 0, listed = 0, killed = 0, alive = 0}
  for _, site in ipairs(list) do
    local name = page.folder_of(site.path)
    local c = folders[name]
    if not c then
      c = {planted = 0, same = 0, listed = 0, killed = 0, alive = 0}
      folders[name] = c
      names[#names + 1] = name
    end
    local verdict = site.verdict
    if verdict == "gone" or verdict == "alive" and known.reason(site) then
      verdict = "listed"
    end
    for _, t in ipairs({c, total}) do
      t.planted = t.planted + 1
      t[verdict] = t[verdict] + 1
    end
  end
  table.sort(names)
  return names, folders, total
end

local function row(name, c)
  local n = c.killed + c.alive
  return ("| %s | %d | %d | %d | %d | %d | %s |"):format(name, c.planted,
    c.same, c.listed, c.killed, c.alive,
    n > 0 and ("%.0f %%"):format(100 * c.killed / n) or "-")
end

local function code(text)
  text = text:match("^%s*(.-)%s*$"):gsub("|", "\\|")
  if text == "" then return "(nothing)" end
  return "`" .. text .. "`"
end

-- Lines of the page. 'runs' are the options of each run.
function page.text(list, runs)
  local names, folders, total = counts(list)
  local out = {HEAD, "| folder | planted | same code | no difference | killed "
    .. "| alive | score |", "| --- | --- | --- | --- | --- | --- | --- |"}
  for _, name in ipairs(names) do out[#out + 1] = row(name, folders[name]) end
  out[#out + 1] = row("all", total)
  out[#out + 1] = "\nThe runs that are joined here:\n"
  for _, run in ipairs(runs) do out[#out + 1] = "- `" .. run .. "`" end
  out[#out + 1] = "\n## Alive\n"
  local before = #out
  for _, site in ipairs(list) do
    if site.verdict == "alive" and not known.reason(site) then
      out[#out + 1] = ("- `%s`, line %d (%s):\n  %s\n  became %s"):format(
        site.path, site.line, site.rule, code(site.old), code(site.new))
    end
  end
  if #out == before then out[#out + 1] = "None." end
  return table.concat(out, "\n") .. "\n"
end

return page
