-- What the checks share: lists of files, their lines.
local files = {}

-- Paths below 'folder' whose name matches the pattern of find.
function files.list(folder, ...)
  local names = {}
  for _, pattern in ipairs({...}) do
    names[#names + 1] = "-name '" .. pattern .. "'"
  end
  local command = ("find %s -type f \\( %s \\) 2>/dev/null | LC_ALL=C sort")
    :format(folder, table.concat(names, " -o "))
  local list = {}
  local pipe = assert(io.popen(command))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

function files.lines(path)
  local list = {}
  local file = assert(io.open(path))
  for line in file:lines() do list[#list + 1] = line end
  file:close()
  return list
end

function files.text(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

function files.split(text)
  local list = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do list[#list + 1] = line end
  return list
end

-- What people read: sources, headers, rows, Lua, scripts, documents. Data and
-- records of other programs are not among it.
local ROOTS = {"src", "modules", "include", "lua", "spec",
               "examples", "bench", "tools", ".ci", "README.md",
               "CHANGELOG.md", "CONTRIBUTING.md", "Makefile"}
local DATA = {"^spec/golden/", "^spec/nn/training/", "^spec/signal/",
              "^modules/[%w_]+/spec/data/", "^modules/[%w_]+/spec/golden/",
              "^examples/data/", "^bench/results"}

function files.sources(...)
  local roots = select("#", ...) > 0 and {...} or ROOTS
  local list = {}
  for _, root in ipairs(roots) do
    for _, path in ipairs(files.list(root, "*.c", "*.h", "*.inc", "*.def",
                                     "*.lua", "*.md", "*.py", "*.sh", "run",
                                     "Makefile", "*.mk")) do
      local is_data = false
      for _, pattern in ipairs(DATA) do
        is_data = is_data or path:find(pattern) ~= nil
      end
      if not is_data then list[#list + 1] = path end
    end
  end
  return list
end

-- C without comments and strings, newlines kept.
function files.bare_c(text)
  text = text:gsub("/%*.-%*/", function(c) return (c:gsub("[^\n]", " ")) end)
  text = text:gsub("//[^\n]*", "")
  return (text:gsub('"[^"\n]*"', '""'))
end

-- The comments of C alone, newlines kept.
function files.comments_c(text)
  local parts, at = {}, 1
  while true do
    local first, last = text:find("/%*.-%*/", at)
    if not first then break end
    parts[#parts + 1] = text:sub(at, first - 1):gsub("[^\n]", "")
    parts[#parts + 1] = text:sub(first, last)
    at = last + 1
  end
  parts[#parts + 1] = text:sub(at):gsub("[^\n]", "")
  return table.concat(parts)
end

-- Every file of the project.
function files.everything()
  local list = {}
  local pipe = assert(io.popen("find . -type f -not -path './.git/*' "
    .. "-not -path './build/*' 2>/dev/null"))
  for path in pipe:lines() do list[#list + 1] = path:sub(3) end
  pipe:close()
  return list
end

-- The objects of a build, and not those that sources had which are gone.
function files.objects(build)
  local list, record = {}, build .. "/obj/made-by/objects"
  if not io.open(record) then
    error("the lint reads the objects of a build, and there is none in "
      .. build .. ": run make first", 0)
  end
  for path in files.text(record):gmatch("%S+") do
    list[#list + 1] = path
  end
  return list
end

-- Run as a program: print what was found; the exit status says whether.
function files.main(check, ...)
  local found = check(...)
  for _, line in ipairs(found) do print(line) end
  os.exit(#found == 0)
end

return files
