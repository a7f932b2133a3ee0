-- What became of each mistake: a line of build/mutants/results.tsv. Later lines
-- of the same mistake replace earlier ones.
local results = {path = "build/mutants/results.tsv"}

local FIELDS = {"path", "line", "rule", "old", "new", "verdict", "by", "run"}

function results.key(site)
  return site.path .. "\t" .. site.old .. "\t" .. site.new
end

function results.add(site)
  local file = assert(io.open(results.path, "a"))
  local out = {}
  for i, name in ipairs(FIELDS) do
    out[i] = (tostring(site[name] or ""):gsub("[\t\n]", " "))
  end
  file:write(table.concat(out, "\t"), "\n")
  file:close()
end

-- In the order in which they were planted first.
function results.all()
  local list, by_key = {}, {}
  local file = io.open(results.path)
  if not file then return list end
  for line in file:lines() do
    local site, k = {}, 0
    for text in (line .. "\t"):gmatch("(.-)\t") do
      k = k + 1
      site[FIELDS[k]] = text
    end
    site.line = tonumber(site.line)
    local key = results.key(site)
    if not by_key[key] then
      list[#list + 1] = site
      by_key[key] = #list
    else
      list[by_key[key]] = site
    end
  end
  file:close()
  return list
end

return results
