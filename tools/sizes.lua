-- What the build weighs: stripped sizes of module, libraries and program, and
-- code and data of the objects by folder and CPU capability. An object that
-- serves several capabilities counts for the one it is compiled for (its name's
-- first). With a limit, a stripped module above it is an error (for CI).
--   lua5.4 tools/sizes.lua [build [limit in MB]]
local build, limit = arg[1] or "build", tonumber(arg[2])
local STRIP = os.getenv("STRIP") or "strip"

local function lines(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local list = {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

-- Bytes of a file as it is installed; nil when it was not built.
local function stripped(path, flags)
  local file = io.open(path)
  if not file then return end
  file:close()
  local copy = os.tmpname()
  os.execute(("%s %s -o %s %s"):format(STRIP, flags, copy, path))
  local handle = assert(io.open(copy, "rb"))
  local size = handle:seek("end")
  handle:close()
  os.remove(copy)
  return size
end

-- Code and data of each object: {[folder] = {[capability] = bytes}}.
local function by_folder()
  local sums, caps = {}, {}
  for _, line in ipairs(lines("size $(cat " .. build
                              .. "/obj/made-by/objects)")) do
    local text, data, name = line:match("^%s*(%d+)%s+(%d+).*/([^/]+)%.o$")
    if name then
      local theme, cap = name:match("^(kernel%.[%w_]+)%..*%.([%w_]+)[%w_+]*$")
      if not theme then theme, cap = name:match("^(%w+)"), "core" end
      local row = sums[theme] or {}
      sums[theme] = row
      row[cap] = (row[cap] or 0) + text + data
      caps[cap] = (caps[cap] or 0) + text + data
    end
  end
  return sums, caps
end

local function sorted(set)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list)
  return list
end

local function show_folders()
  local sums, caps = by_folder()
  local columns = sorted(caps)
  local head = ("%-20s"):format("KB")
  for _, cap in ipairs(columns) do head = head .. ("%12s"):format(cap) end
  print(head)
  local function row(title, values)
    local text = ("%-20s"):format(title)
    for _, cap in ipairs(columns) do
      text = text .. ("%12s"):format(values[cap] and
        ("%.0f"):format(values[cap] / 1000) or "")
    end
    print(text)
  end
  for _, theme in ipairs(sorted(sums)) do row(theme, sums[theme]) end
  row("all", caps)
end

for _, file in ipairs({{"lunarray.so", "-s"}, {"liblunarray.so.0", "-s"},
                       {"lunarray", "-s"},
                       {"liblunarray.a", "--strip-unneeded"}}) do
  local size = stripped(build .. "/" .. file[1], file[2])
  if size then print(("%-20s%8.2f MB"):format(file[1], size / 1e6)) end
end
show_folders()
if limit then
  local size = stripped(build .. "/lunarray.so", "-s") or 0
  if size > limit * 1e6 then
    print(("lunarray.so is above %g MB"):format(limit))
    os.exit(1)
  end
end
