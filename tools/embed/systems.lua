-- Of the files about operating systems all are in the file, each between
-- conditions and behind everything else, as its system headers bring names of
-- their own.
local source = require("source")
local scan = require("scan")
local systems = {}

local CONDITIONS = {
  linux = "defined(__linux__)",
  macos = "defined(__APPLE__)",
  wasm = "defined(__wasm__)",
  windows = "defined(_WIN32)",
}

-- "linux:posix+unix", ...: {{path =, condition =}, ...}, what several systems
-- share first.
function systems.read(rows)
  local conditions, names = {}, {}
  local function add(name, condition)
    if not conditions[name] then
      conditions[name], names[#names + 1] = {}, name
    end
    table.insert(conditions[name], condition)
  end
  for system, shared in rows:gmatch("(%w+):(%S*)") do
    for name in shared:gmatch("%w+") do add(name, CONDITIONS[system]) end
  end
  for system in rows:gmatch("(%w+):%S*") do add(system, CONDITIONS[system]) end
  local list = {}
  for _, name in ipairs(names) do
    list[#list + 1] = {path = ("src/base/os/os_%s.c"):format(name),
                       condition = table.concat(conditions[name], " || ")}
  end
  return list
end

-- What those of other systems than this one declare, whose headers are not
-- here: their text without lines of the preprocessor.
function systems.scan(list, units)
  for _, system in ipairs(list) do
    local text = {"#pragma LA_UNIT " .. system.path}
    for _, line in ipairs(source.lines_of(system.path)) do
      if not line:find("^%s*#") then text[#text + 1] = line end
    end
    units[system.path] = units[system.path]
      or scan.units(table.concat(text, "\n"),
                    function() return true end)[system.path]
  end
end

return systems
