-- Units of source do not need each other in a circle. A unit is a .c with the
-- header of its name, or a header, an .inc or a .def alone; it needs the units
-- that its files include. A circle of units can be read, tested and changed in
-- one piece only. What is drawn from src and modules is checked, without a
-- build.
--   lua5.4 spec/lint/circles.lua
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

-- Circles that are meant, by one of their units, with the reason.
local meant = {
  ["base/runtime/memory"] = "the allocator charges tokens, which it allocates",
  ["lua/binding"] = "the modes of coroutines are a part of the state",
}

local function unit_of(path)
  return (path:gsub("^src/", ""):gsub("%.[ch]$", ""))
end

-- needs[unit][other unit]: the line that says so.
local function drawing()
  local known, needs = {}, {}
  local paths = files.list("src modules", "*.c", "*.h", "*.inc", "*.def")
  for _, path in ipairs(paths) do
    local unit = unit_of(path)
    known[unit], needs[unit] = true, needs[unit] or {}
  end
  for _, path in ipairs(paths) do
    local unit = unit_of(path)
    for i, line in ipairs(files.lines(path)) do
      local other = line:match('^%s*#%s*include%s*"([^"]+)"')
      other = other and unit_of(other)
      if other and known[other] and other ~= unit then
        needs[unit][other] = needs[unit][other]
          or ("%s:%d"):format(path, i)
      end
    end
  end
  return needs
end

-- Lists of units that reach each other, by Tarjan's algorithm.
local function circles(needs)
  local number, low, on, stack, n, found = {}, {}, {}, {}, 0, {}
  local function visit(unit)
    n = n + 1
    number[unit], low[unit] = n, n
    stack[#stack + 1], on[unit] = unit, true
    for other in pairs(needs[unit]) do
      if not number[other] then
        visit(other)
        low[unit] = math.min(low[unit], low[other])
      elseif on[other] then
        low[unit] = math.min(low[unit], number[other])
      end
    end
    if low[unit] < number[unit] then return end
    local circle = {}
    repeat
      local last = table.remove(stack)
      on[last] = nil
      circle[#circle + 1] = last
    until last == unit
    if #circle > 1 then found[#found + 1] = circle end
  end
  for unit in pairs(needs) do
    if not number[unit] then visit(unit) end
  end
  return found
end

-- The includes inside of a circle, sorted: one of them is one too many.
local function arrows(circle, needs)
  local inside, lines = {}, {}
  for _, unit in ipairs(circle) do inside[unit] = true end
  for _, unit in ipairs(circle) do
    for other, line in pairs(needs[unit]) do
      if inside[other] then
        lines[#lines + 1] = ("%s includes %s"):format(line, other)
      end
    end
  end
  table.sort(lines)
  return lines
end

local function is_meant(circle)
  for _, unit in ipairs(circle) do
    if meant[unit] then return true end
  end
end

local function check()
  local needs, found = drawing(), {}
  for _, circle in ipairs(circles(needs)) do
    if not is_meant(circle) then
      table.sort(circle)
      found[#found + 1] = ("circle of %d units: %s\n  %s"):format(
        #circle, table.concat(circle, " "),
        table.concat(arrows(circle, needs), "\n  "))
    end
  end
  table.sort(found)
  return found
end

if arg and arg[0] and arg[0]:match("circles%.lua$") then files.main(check) end
return check
