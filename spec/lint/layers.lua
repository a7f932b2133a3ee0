-- Calls go one way: each folder of src includes only what the table allows, and
-- its objects link only to symbols of those folders. A module (modules/) sees
-- itself, the modules that it needs, and the headers of CORE; the core sees no
-- module, but for the tables that rows make. The same of files in Lua is in
-- spec/lint/needs.lua.
--   lua5.4 spec/lint/layers.lua [build]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"
local needs = require "needs"

local allowed = {
  repl = "lua base",
  lua = "base tensor iter op grad program fuse vmap io api",
  api = "base tensor iter op grad program fuse vmap io",
  io = "base tensor",
  fuse = "base tensor iter op",
  vmap = "base tensor op",
  program = "base tensor iter op grad fuse",
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
  ["tools/embed/flate/flate.h"] = "io",  -- the one file's, in place of zlib
}

-- The headers of the core that modules may include. A kernel of a module may
-- also include what kernels share (kernel/each and simd), its folder lua what
-- the binding has for functions in C, and its folder io what readers share.
local CORE = [[
  lunarray.h base/ascii.h base/decimal.h base/dtype.h base/format.h
  base/half.h base/once.h base/philox.h base/size.h base/status.h
  base/libm/libm.h
  base/runtime/context.h base/runtime/interrupt.h base/runtime/memory.h
  base/runtime/thread_pool.h base/runtime/token.h kernel/kernel.h
  tensor/promote.h tensor/scalar.h tensor/shape.h tensor/tensor.h iter/items.h
  iter/iter.h op/call.h op/composite.h op/cost/fuel.h op/frame.h op/impls.h
  op/op.h op/value.h op/move/copy.h op/view/view.h op/conv/conv.h
  op/reduce/reduce.h op/lockstep.h grad/formulas/formula.h
  grad/formulas/formula_terms.h
  kernel/sort/sorting.h kernel/matmul/muladd.h base/os/os.h
  tensor/host/remote.h io/bytes.h io/json.h io/map.h io/stream.h io/zip.h
  io/flate.h io/decimal.h io/narrow.h
  op/scalar_range.h base/os/clock.h base/runtime/local.h op/observe.h
  op/create/window.h op/nn/packed_rows.h base/scratch.h base/log.h op/schema.h
]]
local CORE_SET = CORE:gsub("%s+", " ")
local PARTS = {kernel = "^kernel/each/", lua = "^lua/", io = "^io/"}

-- Objects of the core whose tables are made of rows, and the names in them that
-- belong to modules.
local TABLES = {
  ["op.registry"] = "^la_[imf][mea]%l+_", ["grad.derivatives"] = "^la_x_",
  ["lua.members"] = "^la_module_", ["lua.files.loader"] = "^la_loader_",
}

-- What api/api.h declares of the binding, which api/no_lua.c has too.
local BINDING = "la_context_of la_backward_on la_is_lua_name"

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

local needed = needs.read()

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

-- The lists of what the modules add to a table, which the build writes.
local function is_list(path) return path:find("^modules/[%w_]+%.%a+$") end

-- 'from' is a folder of src, or modules/<name>[/kernel].
local function may_see(from, path)
  local module, part = from:match("^modules/([%w_]+)/?(%w*)")
  if not module then
    return is_list(path) or may_include(from, path)
  end
  if needed[module][path:match("^modules/([%w_]+)/")]
    or has(CORE_SET, path) then return true end
  return PARTS[part] and path:find(PARTS[part]) ~= nil
    or part == "kernel" and (path:find("^simd/") ~= nil or is_contract(path))
end

local function check_line(from, line)
  local path = line:match('^%s*#%s*include%s*"([^"]+)"')
  if path and not may_see(from, path) then
    return ("%s must not include %s"):format(from, path)
  end
  from = from:match("^modules/[%w_]+/(%l+)$") or from
  if from == "ranks" then from = "lua" end   -- a library of its own
  local system = line:match("^%s*#%s*include%s*<([^>]+)>")
  for pattern, folders in pairs(foreign) do
    if system and system:find(pattern) and not has(folders, from) then
      return ("only %s may include <%s>"):format(folders, system)
    end
  end
end

-- Objects are named after their sources: op.reduce.engine.o is of op,
-- modules.game.kernel.near.avx2.o of modules.game.
local function owner_of(object)
  return object:match("^modules%.[%w_]+") or object:match("^[^.]+")
end

local function symbols(build)
  local pipe = assert(io.popen("nm -A -g "
    .. table.concat(files.objects(build), " ") .. " 2>/dev/null"))
  local owner, uses = {}, {}
  for line in pipe:lines() do
    local object, kind, name = line:match("([%w_.+]+)%.o:[%x ]* (%a) (%S+)$")
    if object and kind == "U" then
      uses[#uses + 1] = {from = owner_of(object), object = object, name = name}
    elseif object then
      owner[name] = owner_of(object)
    end
  end
  pipe:close()
  return owner, uses
end

-- A table of kernels may be used by the folders that see its contract. Headers
-- say what a module may link to; of other modules, those that it needs.
local function may_link(use, to)
  local from, name = use.from, use.name
  if to == from then return true end
  if to:find("^modules%.") then
    local set = needed[from:match("^modules%.(.*)$") or "core"]
    if set[to:match("^modules%.(.*)$")] then return true end
    local of_rows = TABLES[use.object]
    return of_rows ~= nil and name:find(of_rows) ~= nil
  end
  if from:find("^modules%.") then return to ~= "repl" end
  if not allowed[from] or has(allowed[from], to) then return true end
  if from == "api" and to == "lua" and has(BINDING, name) then return true end
  return to == "kernel" and has("iter op fuse grad lua", from)
    and name:find("^la_[%w_]+$") ~= nil
end

local function check_symbols(build, found)
  local owner, uses = symbols(build)
  for _, use in ipairs(uses) do
    local to = owner[use.name]
    if to and not may_link(use, to) then
      found[#found + 1] = ("%s.o links to %s of %s"):format(use.object,
                                                           use.name, to)
    end
  end
end

local function folder_of(path)
  return path:match("^src/([%w_]+)/")
    or path:match("^(modules/[%w_]+/%a+)/") or path:match("^(modules/[%w_]+)/")
end

local function check(build)
  local found = {}
  check_symbols(build or "build", found)
  needs.check(found)
  for _, path in ipairs(files.list("src modules", "*.c", "*.h", "*.inc",
                                   "*.def")) do
    local from = folder_of(path)
    local known = from and (allowed[from] or from:find("^modules/"))
    if not known then
      found[#found + 1] = path .. ": no such layer: " .. tostring(from)
    elseif not from:find("/spec$") then
      for i, line in ipairs(files.lines(path)) do
        local why = check_line(from, line)
        if why then found[#found + 1] = ("%s:%d: %s"):format(path, i, why) end
      end
    end
  end
  return found
end

if arg and arg[0] and arg[0]:match("layers%.lua$") then
  files.main(check, arg[1])
end
return check
