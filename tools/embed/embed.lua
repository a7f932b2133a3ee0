-- Writes the library as one C file that one call of a compiler takes, and its
-- headers, into the folder OUT:
--   lua5.4 tools/embed/embed.lua OPTION=VALUE ...
-- The Makefile ("make embed") passes
--   LISTS             the folder with modules/ops.def and the like
--   OUT, CC, CFLAGS   the folder; the preprocessor, to see what sources declare
--   FAMILIES          what is in it (families.lua); empty: everything
--   NEEDS             "image:vision", ...: modules, and those that they need
--   VERSION, CAPS     for the title
--   CORE, LUA_FILES   paths
--   LUA               "no": CORE is without the binding, and so is the header
--   KERNELS           "path:capability:others+that+it+serves", ...
--   SYSTEMS           "linux:posix+unix", ...: files of operating systems
--   DEFINES           "NAME=VALUE", ...
--   COLD              sources that are compiled for size; the kernels of the
--                     lowest capability are, too, where there are others
--   TARGETS           regions that are compiled for their target
package.path = "tools/embed/?.lua;" .. package.path
local source = require("source")
local scan = require("scan")
local families = require("families")
local renames = require("renames")
local systems = require("systems")
local text = require("text")
local sorted = renames.sorted

local option = {}
for _, word in ipairs(arg) do
  local key, value = word:match("^([%w_]+)=(.*)$")
  option[key] = value
end

local function words(list)
  local found = {}
  for word in (list or ""):gmatch("%S+") do found[#found + 1] = word end
  return found
end

local function write(name, content)
  local file = assert(io.open(option.OUT .. "/" .. name, "wb"))
  file:write(content)
  file:close()
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read("a")
  file:close()
  return content
end

local function scanned(plan)
  write("scan.c", text.of(plan))
  local c = option.OUT .. "/scan.c"
  local command = ("%s -E %s %s %s"):format(option.CC, option.CFLAGS or "",
                                            plan.flags or "", c)
  local pipe = assert(io.popen(command))
  local content = pipe:read("a")
  assert(pipe:close(), command)
  local units = scan.units(content, function(name) return name == c end)
  systems.scan(plan.systems, units)
  return units
end

---------------------------------------------------------------------------
-- What goes in

local is_kept, is_whole = {}, false
local function kept(family)
  return is_whole or is_kept[family]
end

-- Modules come with those that they need.
local function keep_needed(left_out)
  repeat
    local more = false
    for _, pair in ipairs(words(option.NEEDS)) do
      local module, other = pair:match("^(.*):(.*)$")
      if is_kept[module] and left_out[other] then
        io.stderr:write(("make embed: without %s there is no %s, which needs "
          .. "it\n"):format(other, module))
        os.exit(2)
      end
      more = more or is_kept[module] and not is_kept[other]
      is_kept[other] = is_kept[other] or is_kept[module]
    end
  until not more
end

-- The words of FAMILIES name what is in it; those that begin with "-" what is
-- left out, of everything where there are no others.
local function read_families(core)
  families.known = {io = true, plot = true}
  for _, path in ipairs(core) do
    local family = families.of(path)
    if family then families.known[family] = true end
  end
  local left_out, named = {}, false
  for _, word in ipairs(words(option.FAMILIES)) do
    local minus, family = word:match("^(%-?)(.*)$")
    if not families.known[family] then
      io.stderr:write(("make embed: there is no family '%s', only %s\n")
        :format(family, table.concat(sorted(families.known), " ")))
      os.exit(2)
    end
    if minus == "" then
      is_kept[family], named = true, true
    else
      left_out[family] = true
    end
  end
  is_whole = not named and not next(left_out)
  for family in pairs(named and {} or families.known) do
    is_kept[family] = true
  end
  for family in pairs(left_out) do is_kept[family] = nil end
  keep_needed(left_out)
  for _, family in ipairs(families.always) do is_kept[family] = true end
end

-- {path =, cap =, also =}, and the regions in their order.
local function read_kernels(plan)
  plan.kernels, plan.regions, plan.targets = {}, {}, {}
  for _, row in ipairs(words(option.KERNELS)) do
    local path, cap, also = row:match("^(.-):([%w_]+):?(.*)$")
    plan.kernels[#plan.kernels + 1] = {path = path, cap = cap,
      also = words((also:gsub("%+", " ")))}
    if not plan.regions[cap] then
      plan.regions[cap] = true
      plan.regions[#plan.regions + 1] = cap
    end
  end
  plan.cold = {}
  for _, path in ipairs(words(option.COLD)) do
    plan.cold[path] = "defined(LA_LEVELS)"
  end
  for _, kernel in ipairs(plan.regions[2] and plan.kernels or {}) do
    if kernel.cap == "default" then
      plan.cold[kernel.path .. "@" .. kernel.cap] = "defined(LA_LEVELS_X86)"
    end
  end
  for _, cap in ipairs(words(option.TARGETS)) do
    plan.targets[cap] = text.targets[cap]
  end
end

local NOT_HERE = '%s: not in this build (family %s is left out)'

-- What a Lua file becomes in the library: its lines without comments and
-- indentation, for lunarray.words without the pages that are left out.
local function text_of(path, module, is_in)
  local lines = source.raw_lines(path)
  if module == "lunarray.words" then
    for i = #lines, 1, -1 do
      local page = lines[i]:match('^{"([%w_]+)",')
      if page and not is_in("lunarray.words." .. page) then
        table.remove(lines, i)
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function gzipped(content)
  write("module.lua", content)
  local path = option.OUT .. "/module.lua"
  local pipe = assert(io.popen(("gzip -9nc '%s'"):format(path), "r"))
  local packed = pipe:read("a")
  assert(pipe:close(), "gzip")
  os.remove(path)
  return packed
end

-- Bytes as string literals: octal escapes of three digits, whatever follows;
-- '?' as well, of which two begin a trigraph.
local function literals(bytes)
  local out = {}
  for from = 1, #bytes, 64 do
    out[#out + 1] = '"' .. bytes:sub(from, from + 63):gsub("[^%w !#-%[%]-~]",
      function(c) return ("\\%03o"):format(c:byte()) end):gsub("%?", "\\077")
      .. '"'
  end
  return table.concat(out, "\n")
end

-- The Lua modules as gzip members, and the rows for src/lua/embed.c. One of a
-- family that is left out says so when it is required.
local function lua_modules()
  local modules, is_there = {}, {}
  for _, path in ipairs(words(option.LUA_FILES)) do
    local module = path:gsub("^lua/", "")
      :gsub("^modules/([%w_]+)/words%.lua$", "lunarray/words/%1.lua")
      :gsub("^modules/[%w_]+/lua/", "lunarray/")
      :gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
    local is_in, family = families.has_module(module, kept)
    is_there[module] = is_in or nil
    if is_in then
      modules[#modules + 1] = {name = module, path = path}
    elseif family and module:find("^lunarray%.[%w_]+$") then
      modules[#modules + 1] = {name = module, content =
        ('error("%s", 0)'):format(NOT_HERE:format(module, family))}
    end
  end
  local texts, rows = {}, ""
  for _, m in ipairs(modules) do
    local id = m.name:gsub("%.", "_")
    local content = m.content
      or text_of(m.path, m.name, function(name) return is_there[name] end)
    texts[#texts + 1] = ("static const char la_text_%s[] ="):format(id)
    texts[#texts + 1] = literals(gzipped(content)) .. ";"
    rows = rows .. (' E(%s, "%s", )'):format(id, m.name)
  end
  return table.concat(texts, "\n") .. "\n#define LA_EMBEDDED" .. rows
end

---------------------------------------------------------------------------
-- What stands for families that are left out

-- An external function, or data, that only a left out source has.
local function stub(name, family, tokens)
  local declaration = table.concat(tokens, " "):gsub("^extern ", "")
  local result, arguments = declaration:match("^(.-)%s*%f[%w_]" .. name
                                              .. "%s*(%b())")
  if not result then return declaration .. ";\n" end
  local message = NOT_HERE:format(name:gsub("^la_", ""), family)
  local refuse = ('la_error(LA_ESUPPORT, "%s")'):format(message)
  local what = refuse .. "; return -1;"
  if result:find("*", 1, true) then
    what = refuse .. "; return NULL;"
  elseif result:find("la_status") then
    what = "return " .. refuse .. ";"
  elseif result:find("void") then
    what = ""
  elseif arguments:match("^%( lua_State %* ?%w* %)$") then
    what = ('return luaL_error(L, "%s");'):format(message)
    arguments = "(lua_State *L)"
  end
  return ("%s %s%s { %s }\n"):format(result, name, arguments, what)
end

local function stubs(units, missing)
  local out = {}
  for _, family in ipairs(sorted(families.known)) do
    if not kept(family) then
      out[#out + 1] = ('la_status la_left_out_%s(la_frame *f)\n{\n    (void)f;'
        .. '\n    return la_error(LA_ESUPPORT, "not in this build (family %s '
        .. 'is left out)");\n}\n'):format(family, family)
    end
  end
  for _, name in ipairs(sorted(missing)) do
    for _, id in ipairs(sorted(units)) do
      local tokens = units[id].prototypes[name]
      if tokens then
        out[#out + 1] = stub(name, missing[name], tokens)
        break
      end
    end
  end
  return table.concat(out)
end

-- Macros that give the rows of left out families one body each.
local function defines_of(refused)
  local list = {}
  for _, word in ipairs(words(option.DEFINES)) do
    local name, value = word:match("^(.-)=(.*)$")
    list[#list + 1] = ("#define %s %s"):format(name or word, value or "1")
  end
  for _, row in ipairs(sorted(refused)) do
    for _, kind in ipairs({"impl", "meta"}) do
      list[#list + 1] = ("#define la_%s_%s la_left_out_%s"):format(kind, row,
        refused[row])
    end
  end
  return list
end

-- Rows of operations and derivatives as they are to stand in the file.
local function rewriter(refused)
  return function(path, lines)
    if not path:match("/def/")
       and not path:match("^modules/[%w_]+/%w+%.def$") then return lines end
    return families.rewrite(lines, function(word, name, row)
      local family = refused[name]
      if not family then return row end
      return word == "OP" and families.refusing(row, family) or nil
    end)
  end
end

-- What regions declare on processors without their extensions.
local function add_portable(plan, units)
  local targets = plan.targets
  plan.targets, plan.flags = {}, "-U__SSE2__"
  for id, unit in pairs(scanned(plan)) do
    units[id] = units[id] or unit
    for name, kind in pairs(unit.names) do
      units[id].names[name] = units[id].names[name] or kind
    end
  end
  plan.targets, plan.flags = targets, nil
end

-- Which rows are refused, and which paths are needed. Sources that are needed
-- for a helper of theirs bring their rows along, and those may need more.
local function choose(plan)
  plan.keep = function(path) return not source.is_kernel(path) end
  local rows, refused = families.of_rows(scanned(plan)), {}
  for row, at in pairs(rows) do
    if not kept(at.family) then refused[row] = at.family end
  end
  plan.keep = function() return true end
  plan.rewrite = rewriter(refused)
  local units, paths, missing
  repeat
    plan.defines = defines_of(refused)
    units = scanned(plan)
    paths, missing = families.closure(units, kept)
    local more = false
    for row in pairs(refused) do
      if paths[rows[row].path] then refused[row], more = nil, true end
    end
  until not more
  plan.tail = stubs(units, missing)
  for _, id in ipairs(sorted(units)) do
    local path = id:match("^(.+%.c)")
    if path and not paths[path] then units[id] = nil end
  end
  plan.keep = function(path) return paths[path] end
  add_portable(plan, units)
  plan.renames = renames.plan(units, plan.shared)
  return units
end

---------------------------------------------------------------------------

local TITLE = [[
/*
** lunarray %s in one file, by "make embed": capabilities %s, families %s.
** SHA-256 of the sources in it, one behind the other: %s.
**
**     gcc -Oz -c lunarray.c%s     for size; -O2 for speed
**
** A host includes lunarray.h and links libm and pthread. Do not edit: the
** sources are where the version comes from. The file includes itself: under
** another name, define LA_SELF as that name in quotes.
**
** In order: templates, which are macros named T_...; the core, file by file
** behind a line with its path; behind #else the kernels, which are compiled
** once for each LA_REGION, a capability of processors.
**
%s*/]]

-- What it was made of: files that are the same give the same hash anywhere.
local function hash_of(units)
  local seen, paths = {}, {}
  local function add(path)
    if path and not seen[path] and source.exists(path) then
      seen[path], paths[#paths + 1] = true, path
    end
  end
  for _, path in ipairs(words(option.LUA_FILES)) do add(path) end
  for id in pairs(units) do add(id:match("^[^@<]+")) end
  table.sort(paths)
  local pipe = assert(io.popen("cat " .. table.concat(paths, " ")
    .. " | sha256sum"))
  local hash = pipe:read("a"):match("^%x+")
  pipe:close()
  return assert(hash, "sha256sum")
end

local function title(units)
  local licence = read("LICENSE"):gsub("[^\n]*\n", function(line)
    return (("** " .. line):gsub(" +\n$", "\n"))
  end)
  return TITLE:format(option.VERSION, option.CAPS,
    is_whole and "all" or table.concat(sorted(is_kept), " "), hash_of(units),
    option.LUA == "no" and "" or " -I/usr/include/lua5.4", licence)
end

assert(os.execute("mkdir -p " .. option.OUT))
local plan = {core = words(option.CORE), renames = {}, defines = defines_of{}}
source.dropped["src/simd/isa/intrinsics.h"] = true
source.roots[#source.roots + 1] = option.LISTS .. "/"
plan.systems = systems.read(option.SYSTEMS)
read_families(plan.core)
read_kernels(plan)
local sources = table.move(plan.core, 1, #plan.core, 1, {})
for _, system in ipairs(plan.systems) do sources[#sources + 1] = system.path end
plan.shared = source.shared_headers(sources, plan.kernels)
plan.lua, plan.title = lua_modules(), title(choose(plan))
write("lunarray.c", text.of(plan, true))
local header = read("include/lunarray.h")
if option.LUA == "no" then
  header = header:gsub("#define LUNARRAY_H\n", "%0#define LA_NO_LUA\n", 1)
end
write("lunarray.h", header)
write("lunarray.hpp", read("include/lunarray.hpp"))
os.remove(option.OUT .. "/scan.c")
