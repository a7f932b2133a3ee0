-- What objects export, as nm reads it: an object of a CPU capability only its
-- la_<cap>_* tables, others only la_* and luaopen_lunarray; the module and the
-- shared library only the names of the public header and the loaders of the Lua
-- modules, and little thread-local memory: a library that is loaded late gets
-- it from a small reserve which all libraries of a process share. What headers
-- declare for other files is named by one.
--   lua5.4 spec/lint/exports.lua [build]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

-- Symbols of 'path' that others can link to.
local function exported(path, flags)
  local list = {}
  local pipe = assert(io.popen(("nm %s --defined-only %s 2>/dev/null")
    :format(flags, path)))
  for line in pipe:lines() do
    local kind, name = line:match("^%x+ (%a) ([^@]+)")
    if kind and kind:match("[A-TV-Zu]") then list[#list + 1] = name end
  end
  pipe:close()
  return list
end

local function check_objects(list, allowed, found)
  for _, path in ipairs(list) do
    for _, name in ipairs(exported(path, "-g")) do
      local ok
      for _, pattern in ipairs(allowed(path)) do
        ok = ok or name:find(pattern)
      end
      if not ok then
        found[#found + 1] = ("%s exports %s"):format(path, name)
      end
    end
  end
end

-- The names that the public header marks.
local function public_names()
  local names = {luaopen_lunarray = true}
  local ok, text = pcall(files.text, "include/lunarray.h")
  if not ok then return names end
  local bare = files.bare_c(text):gsub("%f[^\n%z]%s*#[^\n]*", "")
  for declaration in bare:gmatch("LA_API%s+([^;{]+)[;{]") do
    local name = declaration:match("([%w_]+)%s*%(") or
      declaration:match("([%w_]+)%s*%[?[^%]]*%]?%s*$")
    if name then names[name] = true end
  end
  return names
end

local function check_shared(path, found)
  local public, there = public_names(), {}
  for _, name in ipairs(exported(path, "-D")) do there[name] = true end
  for name in pairs(public) do
    if not there[name] then
      found[#found + 1] = ("%s does not export %s"):format(path, name)
    end
  end
  for name in pairs(there) do
    if not public[name] and not name:find("^__[%a]*san_") and
       not name:find("^luaopen_lunarray_%l") and
       not name:find("^_[a-z]+$") then
      found[#found + 1] = ("%s exports %s, which lunarray.h does not mark")
        :format(path, name)
    end
  end
end

-- Names that hosts link to stay, and whoever makes a new one adds it to the
-- list: the header and the list name the same.
local function check_published(found)
  local ok, text = pcall(files.text, "spec/abi_symbols.txt")
  if not ok then return end
  local public, published = public_names(), {}
  for name in text:gmatch("%S+") do
    published[name] = true
    if not public[name] then
      found[#found + 1] = ("include/lunarray.h lost %s, which was published")
        :format(name)
    end
  end
  for name in pairs(public) do
    if not published[name] then
      found[#found + 1] = ("spec/abi_symbols.txt lacks %s: hosts will link "
        .. "to it"):format(name)
    end
  end
end

-- A name of the last release stays for as long as the major version does: hosts
-- that were linked with it find it in this library (docs/engines.md).
local function check_released(found)
  local pipe = assert(io.popen("git show $(git describe --tags --abbrev=0 "
    .. "2>/dev/null):spec/abi_symbols.txt 2>/dev/null"))
  local released = pipe:read("a")
  pipe:close()
  local public = public_names()
  for name in released:gmatch("la_%S+") do
    if not public[name] then
      found[#found + 1] = ("include/lunarray.h lost %s of the last release")
        :format(name)
    end
  end
end

local MOST_THREAD_LOCAL = 256

local function check_thread_local(path, found)
  local pipe = assert(io.popen("readelf -lW " .. path .. " 2>/dev/null"))
  local size = pipe:read("a"):match("%f[%S]TLS" .. ("%s+0x%x+"):rep(4) ..
                                    "%s+0x(%x+)")
  pipe:close()
  size = size and tonumber(size, 16) or 0
  if size > MOST_THREAD_LOCAL then
    found[#found + 1] = ("%s has %d bytes of thread-local memory, %d at most")
      :format(path, size, MOST_THREAD_LOCAL)
  end
end

-- A function that a header declares is called from another file: where only its
-- own file names it, it is static, and its contract stands there.
local function check_alone(found)
  local named, declared = {}, {}
  for _, root in ipairs{"src", "modules", "spec/c"} do
    for _, path in ipairs(files.list(root, "*.c", "*.h", "*.inc", "*.def")) do
      local bare = files.bare_c(files.text(path))
      for name in bare:gmatch("%f[%w_]la_[%w_]+") do
        local counts = named[name] or {}
        counts[path] = (counts[path] or 0) + 1
        named[name] = counts
      end
      for name in (path:find("%.h$") and bare or "")
        :gmatch("%f[%w_](la_[%w_]+)%([^;{}]*%);") do
        declared[name] = path
      end
    end
  end
  for name, header in pairs(declared) do
    local own, n = nil, 0
    for path in pairs(named[name]) do
      if path ~= header then own, n = path, n + 1 end
    end
    if n == 1 and own:find("%.c$") and named[name][header] == 1 and
      files.bare_c(files.text(own))
        :find("%f[%w_]" .. name .. "%([^;{}]*%)%s*{") then
      found[#found + 1] = ("%s declares %s, which only %s names")
        :format(header, name, own)
    end
  end
end

local function check(build)
  local found = {}
  -- kernel.sort.keys.avx2+avx512.o is the copy for both capabilities
  local core, kernels = {}, {}
  for _, path in ipairs(files.objects(build)) do
    local list = path:find("/obj/kernel.", 1, true) and kernels
      or not path:find("/obj/repl.", 1, true) and core or {}
    list[#list + 1] = path
  end
  check_objects(kernels, function(path)
    local patterns = {}
    local served = path:gsub("%.off%.o$", ".o"):match("%.([%w_+]+)%.o$")
    for cap in served:gmatch("[%w_]+") do
      patterns[#patterns + 1] = "^la_" .. cap .. "_"
    end
    return patterns
  end, found)
  check_objects(core, function()
    return {"^la_", "^luaopen_lunarray"}
  end, found)
  for _, name in ipairs({"lunarray.so", "liblunarray.so.0"}) do
    if io.open(build .. "/" .. name) then
      check_shared(build .. "/" .. name, found)
      check_thread_local(build .. "/" .. name, found)
    end
  end
  check_published(found)
  check_released(found)
  check_alone(found)
  return found
end

if arg and arg[0] and arg[0]:match("exports%.lua$") then
  files.main(check, arg[1] or "build")
end
return check
