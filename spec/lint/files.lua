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

-- C without comments and strings, newlines kept.
function files.bare_c(text)
  text = text:gsub("/%*.-%*/", function(c) return (c:gsub("[^\n]", " ")) end)
  text = text:gsub("//[^\n]*", "")
  return (text:gsub('"[^"\n]*"', '""'))
end

-- Run as a program: print what was found; the exit status says whether.
function files.main(check, ...)
  local found = check(...)
  for _, line in ipairs(found) do print(line) end
  os.exit(#found == 0)
end

return files
