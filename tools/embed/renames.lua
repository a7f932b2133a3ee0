-- Names at file scope that several sources have: each but the headers' gets a
-- tail. A macro renames it where it stands alone or is pasted together; where a
-- struct of a header has a field of that name the text itself is changed.
local renames = {}

local function region_of(id)
  return id:match("%.h@(.*)$")
end

-- {[name] = number of sources that have it}
local function count_owners(units)
  local seen, counts = {}, {}
  local function add(name, where)
    local key = name .. " " .. where
    if seen[key] then return end
    seen[key] = true
    counts[name] = (counts[name] or 0) + 1
  end
  for id, unit in pairs(units) do
    local where = region_of(id)
    where = where and "@" .. where or id
    for name in pairs(unit.names) do add(name, where) end
    for name in pairs(unit.externs) do add(name, "extern") end
  end
  return counts
end

-- Fields of structs, and tags that wait for a struct, of headers.
local function of_headers(units, shared)
  local fields, forward = {}, {}
  for id, unit in pairs(units) do
    if id == "<system>" or shared[id] then
      for name in pairs(unit.fields) do fields[name] = true end
    end
    if shared[id] then
      for name in pairs(unit.forward) do forward[name] = true end
    end
  end
  return fields, forward
end

local function sorted(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list)
  return list
end
renames.sorted = sorted

-- {[unit, or "@capability" for its headers] = {macro = {[name] = new name},
-- textual = {...}}}
function renames.plan(units, shared)
  local counts = count_owners(units)
  local fields, forward = of_headers(units, shared)
  local result, number = {}, 0
  for _, id in ipairs(sorted(units)) do
    local region = region_of(id)
    local where = region and "@" .. region or id
    if id:sub(1, 1) ~= "<" and not shared[id] then
      for name, kind in pairs(units[id].names) do
        local completes = kind == "tag" and forward[name]
        -- those of windows.h are not seen here: INT32, ERROR, ...
        local capitals = kind == "constant" and name:match("^%u[%u%d_]*$")
        if (counts[name] > 1 or capitals) and not completes then
          local set = result[where]
          if not set then
            number = number + 1
            set = {macro = {}, textual = {},
                   tail = region and "_in_" .. region or "_at" .. number}
            result[where] = set
          end
          local how = fields[name] and "textual" or "macro"
          set[how][name] = name .. set.tail
        end
      end
    end
  end
  return result
end

return renames
