-- Calls go one way: each folder of src includes only what the table allows, and
-- its objects link only to symbols of those folders.
--   lua5.4 spec/lint/layers.lua [src] [build]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

local allowed = {
  repl = "lua base",
  lua = "base tensor iter op grad fuse vmap io",
  io = "base tensor",
  fuse = "base tensor iter op",
  vmap = "base tensor op",
  grad = "base tensor iter op",
  op = "base tensor iter",
  iter = "base tensor",
  kernel = "base simd",
  simd = "base",
  tensor = "base",
  base = "",
}

-- Single headers and rows that may cross, with the reason.
local crossing = {
  ["kernel/kernel.h"] = "iter op fuse grad lua",  -- the contract of kernels
}

-- Headers of others, and the folders that may see them.
local foreign = {
  ["^lua%.h$"] = "lua repl", ["^lauxlib%.h$"] = "lua repl",
  ["^lualib%.h$"] = "lua repl",
  ["^[a-z0-9]*intrin%.h$"] = "simd", ["^sleef%.h$"] = "simd",
  ["^arm_neon%.h$"] = "simd",
  ["^pthread%.h$"] = "base", ["^threads%.h$"] = "base",
  ["^histedit%.h$"] = "repl", ["^editline"] = "repl",
  ["^zlib%.h$"] = "io",
}

local function has(words, word)
  return (" " .. words .. " "):find(" " .. word .. " ", 1, true) ~= nil
end

-- The contracts between kernels and what calls them: headers that declare
-- tables of kernels, and nothing of their vectors.
local contracts = {}

local function is_contract(path)
  if contracts[path] == nil then
    local ok, text = pcall(files.text, "src/" .. path)
    contracts[path] = ok and path:find("^kernel/[%w_/]+%.h$") ~= nil
      and text:find("LA_STUB_DECLARE", 1, true) ~= nil
      and not text:find('#include "simd/', 1, true)
  end
  return contracts[path]
end

local function may_include(from, path)
  local to = path:match("^([%w_]+)/")
  if not to or to == from or has(allowed[from], to) then return true end
  if crossing[path] and has(crossing[path], from) then return true end
  return has("iter op fuse grad", from) and is_contract(path)
end

local function check_line(from, line)
  local path = line:match('^%s*#%s*include%s*"([^"]+)"')
  if path and not may_include(from, path) then
    return ("%s must not include %s"):format(from, path)
  end
  local system = line:match("^%s*#%s*include%s*<([^>]+)>")
  for pattern, folders in pairs(foreign) do
    if system and system:find(pattern) and not has(folders, from) then
      return ("only %s may include <%s>"):format(folders, system)
    end
  end
end

-- Objects are named after their sources: op.reduce.engine.o.
local function symbols(build)
  local pipe = assert(io.popen(("nm -A -g %s/obj/*.o 2>/dev/null")
    :format(build)))
  local owner, uses = {}, {}
  for line in pipe:lines() do
    local object, kind, name = line:match("([%w_.+]+)%.o:[%x ]* (%a) (%S+)$")
    if object and kind == "U" then
      uses[#uses + 1] = {from = object:match("^[^.]+"), object = object,
                         name = name}
    elseif object then
      owner[name] = object:match("^[^.]+")
    end
  end
  pipe:close()
  return owner, uses
end

-- A table of kernels may be used by the folders that see its contract.
local function may_link(from, to, name)
  if to == from or has(allowed[from], to) then return true end
  return to == "kernel" and has("iter op fuse grad lua", from)
    and name:find("^la_[%w_]+$") ~= nil
end

local function check_symbols(build, found)
  local owner, uses = symbols(build)
  for _, use in ipairs(uses) do
    local to = owner[use.name]
    if to and allowed[use.from] and not may_link(use.from, to, use.name) then
      found[#found + 1] = ("%s.o links to %s of %s"):format(use.object,
                                                           use.name, to)
    end
  end
end

local function check(root, build)
  local found = {}
  check_symbols(build or "build", found)
  for _, path in ipairs(files.list(root, "*.c", "*.h", "*.inc", "*.def")) do
    local from = path:sub(#root + 2):match("^([%w_]+)/")
    for i, line in ipairs(files.lines(path)) do
      local why
      if not allowed[from] then why = "no such layer: " .. tostring(from)
      else why = check_line(from, line) end
      if why then found[#found + 1] = ("%s:%d: %s"):format(path, i, why) end
      if not allowed[from] then break end
    end
  end
  return found
end

if arg and arg[0] and arg[0]:match("layers%.lua$") then
  files.main(check, arg[1] or "src", arg[2])
end
return check
