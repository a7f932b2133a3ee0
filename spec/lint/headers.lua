-- Every header compiles alone: it includes what it needs.
--   lua5.4 spec/lint/headers.lua [folder ...]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"
local pending = require "pending"

-- Parts of simd/vec.h and of simd/math/math_own.inc, which say so at their
-- heads.
local PARTS = {"^src/simd/isa/isa_", "^src/simd/math/math_f%d%d_",
               "^src/simd/math/math_erf", "^modules/mpi/ranks/"}

local PENDING = {}

local STAMP = "build/obj/headers.clean"

local function is_part(path)
  for _, pattern in ipairs(PARTS) do
    if path:find(pattern) then return true end
  end
  return false
end

-- Whether no header has changed since all were clean.
local function unchanged(roots)
  local pipe = assert(io.popen(("test -e %s && find %s spec/lint/headers.lua "
    .. "-newer %s -name '*.[hl]*' -print 2>&1 || echo new")
    :format(STAMP, roots, STAMP)))
  local text = pipe:read("a")
  pipe:close()
  return text == ""
end

local function errors_of(list)
  local pipe = assert(io.popen("gcc -std=gnu11 -fsyntax-only -Isrc -Iinclude "
    .. "-I. -Ibuild/obj "
    .. "$(pkg-config --cflags lua5.4 2>/dev/null || echo -I/usr/include/lua5.4)"
    .. " -Wno-psabi -DLA_CAP=default -x c " .. table.concat(list, " ")
    .. " 2>&1"))
  local found = {}
  for line in pipe:lines() do
    if line:find(":%d+: .*error:") then found[#found + 1] = line end
  end
  pipe:close()
  return found
end

local function check(...)
  local roots = table.concat({...}, " ")
  if unchanged(roots) then return {} end
  local list = {}
  for _, path in ipairs(files.list(roots, "*.h")) do
    if not is_part(path) then list[#list + 1] = path end
  end
  local found = pending.filter(errors_of(list), PENDING)
  local stamp = #found == 0 and io.open(STAMP, "w")
  if stamp then stamp:close() end
  return found
end

if arg and arg[0] and arg[0]:match("headers%.lua$") then
  files.main(check, table.unpack(arg[1] and arg or {"src", "include"}))
end
return check
