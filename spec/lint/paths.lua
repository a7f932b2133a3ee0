-- Files that comments and documents name exist: "op/call.c" is some path that
-- ends so, "call.c" any file of that name.
--   lua5.4 spec/lint/paths.lua [path ...]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"
local pending = require "pending"

-- Files of the system, of users and of other programs.
local ELSEWHERE = [[
  stdio.h string.h setjmp.h stdarg.h stddef.h lua.h lauxlib.h lualib.h sleef.h
  zlib.h cmocka.h pthread.h histedit.h stdint.h stb/stb_image.h stb_image.h
  script.lua init.lua run.lua modules/ops.def binding.def names.def
]]

local PENDING = {}

local function suffixes_of(list)
  local known = {}
  for _, path in ipairs(list) do
    local rest = path
    while rest do
      known[rest] = true
      rest = rest:match("^[^/]*/(.*)$")
    end
  end
  for name in ELSEWHERE:gmatch("%S+") do known[name] = true end
  return known
end

local KINDS = {c = true, h = true, inc = true, def = true, lua = true,
               md = true, sh = true, py = true, lua_ = true}

-- The comments of a file: line number and text; all of it for a document.
local function prose(path)
  local text = files.text(path)
  if path:find("%.md$") or path:find("%.py$") or path:find("%.sh$") then
    return files.split(text)
  end
  if path:find("%.lua$") then
    local lines = files.split(text)
    for i, line in ipairs(lines) do lines[i] = line:match("%-%-(.*)$") or "" end
    return lines
  end
  return files.split(files.comments_c(text))
end

local function check(...)
  local known = suffixes_of(files.everything())
  local found = {}
  for _, path in ipairs(files.sources(...)) do
    for i, line in ipairs(prose(path)) do
      for name, kind in line:gmatch("%f[%w_/.]([%w_/%-]+%.(%l+))%f[^%w_]") do
        if KINDS[kind] and not known[name:gsub("^/", "")] then
          found[#found + 1] = ("%s:%d: no file %s"):format(path, i, name)
        end
      end
    end
  end
  return pending.filter(found, PENDING)
end

if arg and arg[0] and arg[0]:match("paths%.lua$") then
  if arg[1] then PENDING = {} end
  files.main(check, table.unpack(arg))
end
return check
