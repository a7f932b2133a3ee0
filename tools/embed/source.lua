-- The text of a source with its project headers inlined: a guarded header once,
-- templates and tables at each use (template.lua). System headers are collected
-- for the top of the file.
local template = require("template")
local source = {}

-- C without its comments; 'keep': with the ends of lines in them.
local function uncommented(text, keep)
  local out, from, at = {}, 1, 1
  while true do
    local s, _, c = text:find("([\"'/])", at)
    if not s then break end
    at = s + 1
    if c ~= "/" then
      repeat
        local _, e, d = text:find('([\\%' .. c .. "\n])", at)
        at = (e or #text) + 1
        if d == "\\" then at = at + 1 end
      until d ~= "\\"
    else
      local line = text:sub(s, s + 1) == "//"
      if line or text:sub(s, s + 1) == "/*" then
        out[#out + 1] = text:sub(from, s - 1):gsub("[ \t]+$", "")
        if line then
          from = text:find("\n", s, true) or #text + 1
        else
          local _, e = text:find("*/", s + 2, true)
          from = (e or #text) + 1
          out[#out + 1] = " "
          if keep then
            out[#out + 1] = text:sub(s, from - 1):gsub("[^\n]+", "")
          end
        end
        at = from
      end
    end
  end
  out[#out + 1] = text:sub(from)
  return table.concat(out)
end

local cache = {}
local function lines_of(path)
  local list = cache[path]
  if list then return list end
  local file = assert(io.open(path))
  list = {}
  for line in uncommented(file:read("a")):gmatch("[^\n]+") do
    if line:find("%S") then list[#list + 1] = line end
  end
  file:close()
  cache[path] = list
  return list
end
source.lines_of = lines_of

-- The lines of a file as they are, each with its code: what is between comments
-- that go on in the next line. {code =, raw =} per line.
local items_cache = {}
local function items_of(path)
  local list = items_cache[path]
  if list then return list end
  local file = assert(io.open(path))
  local text = file:read("a")
  file:close()
  list = {}
  local next_code = (uncommented(text, true) .. "\n"):gmatch("([^\n]*)\n")
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local before, code = list[#list], next_code()
    if line:find("%S") or before and before.raw ~= "" then
      list[#list + 1] = {raw = line, code = code}
    end
  end
  items_cache[path] = list
  return list
end
source.items_of = items_of

-- Lines of a Lua file without comment lines, indentation and empty lines.
function source.raw_lines(path)
  local out, long = {}, nil
  for line in io.lines(path) do
    local level = not long and line:match("%[(=*)%[")
    if level and not line:find("]" .. level .. "]", 1, true) then
      long = "]" .. level .. "]"
    end
    local code = long and line or line:match("^%s*(.-)%s*$")
    if long or code ~= "" and not code:find("^%-%-") then
      out[#out + 1] = code
    end
    if long and line:find(long, 1, true) then long = nil end
  end
  return out
end

function source.exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- Does the file guard itself against a second inclusion?
local function guarded(lines)
  for i, line in ipairs(lines) do
    local guard = line:match("^#ifndef ([%w_]+_H)%s*$")
    if guard then
      return (lines[i + 1] or ""):match("^#define ([%w_]+)") == guard
    end
    if line:match("^#") then return false end
  end
  return false
end

-- Where the project's headers are found.
source.roots = {"src/", "include/", ""}
function source.find(name)
  for _, root in ipairs(source.roots) do
    if source.exists(root .. name) then return root .. name end
  end
end

source.guarded = guarded

-- What 'path' includes, directly or not, in a set.
local below = {}
local function headers_below(path)
  if below[path] then return below[path] end
  local set = {}
  below[path] = set
  for _, line in ipairs(lines_of(path)) do
    local name = line:match('^%s*#%s*include "([^"]+)"')
    local found = name and source.find(name)
    if found then
      set[found] = true
      for header in pairs(headers_below(found)) do set[header] = true end
    end
  end
  return set
end
source.headers_below = headers_below

-- Kernels are compiled once per capability; the core's lie in src/kernel, those
-- of a module in its folder kernel.
function source.is_kernel(path)
  return path:match("^src/kernel/") ~= nil
    or path:match("^modules/[%w_]+/kernel/") ~= nil
end

-- Is the text of the header the same for every capability? Then it has neither
-- vectors nor tables in it.
local function is_plain(path)
  for _, line in ipairs(lines_of(path)) do
    if line:find("LA_CAP", 1, true) or line:find("LA_KERNEL(", 1, true)
       or line:find("LA_OWN_TABLE(", 1, true)
       or line:find("__AVX", 1, true) or line:find("__FMA", 1, true)
       or line:find("__SSE", 1, true) then return false end
  end
  return path:match("^src/simd/") == nil
end

-- The headers that are written once for the whole file: those that sources
-- outside of src/kernel include, directly or not, and plain ones.
function source.shared_headers(sources, kernels)
  local shared = {}
  for _, path in ipairs(sources) do
    for header in pairs(source.headers_below(path)) do shared[header] = true end
  end
  for _, kernel in ipairs(kernels) do
    for header in pairs(source.headers_below(kernel.path)) do
      local plain = guarded(lines_of(header)) and is_plain(header)
      for other in pairs(source.headers_below(header)) do
        plain = plain and (shared[other] or is_plain(other))
      end
      if plain then shared[header] = true end
    end
  end
  return shared
end

-- A writer: out.put(text); out.region (nil, or a capability's own state).
--   w.shared   the set of shared_headers
--   w.done     headers that were written already
--   w.rewrite  nil, or function(path, text) for the rows of .def files
--   w.on_system(name) for #include <name>
source.dropped = {}
local writer = {}
writer.__index = writer

function source.writer(shared)
  return setmetatable({parts = {}, shared = shared, done = {}, unit = "",
                       strings = {}, systems = {}, macros = {},
                       loose = {}, fresh = {}, base = 0, foreign = {},
                       guarded = {}},
                      writer)
end

-- Identifiers of a line that 'textual' renames: not members, not in strings; of
-- rows calls alone, as their other words are names of their own.
local function renamed(line, textual, in_struct, in_rows)
  local out, at = {}, 1
  while true do
    local s, e = line:find('"[^"]*"', at)
    local piece = line:sub(at, (s or #line + 1) - 1)
    out[#out + 1] = piece:gsub("([%.>]?)(%s*)%f[%w_]([%a_][%w_]*)()",
      function(before, space, word, after)
        if before == "." or not textual[word] then return end
        if before == ">" and piece:find("->" .. space .. word, 1, true) then
          return
        end
        if in_struct and not piece:sub(1, after):find("}")
           and piece:find("^[;,%[:)]", after) then return end
        if piece:find("^%s*##", after) then return end
        if in_rows and not piece:find("^%(", after) then return end
        return before .. space .. textual[word]
      end)
    if not s then break end
    out[#out + 1] = line:sub(s, e)
    at = e + 1
  end
  return table.concat(out)
end

function writer:put(line)
  self.on_chunk = nil
  if self.textual and line:find("[%a_}]") then
    if line:find("struct[%s%w_]*{") or line:find("union[%s%w_]*{") then
      self.in_struct = true
    end
    if line:find("^%s*}") then self.in_struct = false end
    line = renamed(line, self.textual, self.in_struct, self.in_rows)
    if line:find("}[^{]*;") then
      self.in_struct = false
    end
  end
  if self.inline_word then
    line = line:gsub("^static inline%f[ ]", self.inline_word)
  end
  self.parts[#self.parts + 1] = line
end

function writer:mark(unit)
  self.unit = unit
  self:put(("#pragma LA_UNIT %s"):format(unit))
end

-- Where what follows belongs: a unit's own text, or a header.
local function owner(self, path)
  if self.shared[path] then return path end
  if self.region and path:match("%.h$") then
    return path .. "@" .. self.region.name
  end
end

function writer:note_macro(path, name)
  local at = self.macros[self.unit]
  if not at then
    at = {}
    self.macros[self.unit] = at
  end
  if name ~= "bool" then at[name] = path end   -- a unit may borrow its name
  if path:match("%.h$") then self.foreign[name] = self.foreign[name] or "" end
end

function writer:include(name, depth)
  local path = source.find(name)
  if not path then error("no header " .. name) end
  local list = lines_of(path)
  if not guarded(list) then
    local base = self.base
    self.base = depth
    if self.uses then self.uses[path] = (self.uses[path] or 0) + 1 end
    if self.is_template and self.is_template[path] then
      self:use(path)
    else
      self:inline(path)
    end
    self.base = base
    return
  end
  local set = self.shared[path] and self.done or self.region.done
  if set[path] or source.dropped[path] then return end
  if depth == 0 then set[path] = true end
  -- One in another that is for fewer regions stands outside of its condition.
  local mask, outer = self.masks and self.masks[path], self.mask
  local own = self.masks and depth == 0 and mask ~= outer
  if own then self.state:cross() end
  if own and outer then self:put("#endif") end
  if own and mask then self:put(("#if LA_REGION & %d"):format(mask)) end
  if own then self.mask = mask end
  local unit, base = self.unit, self.base
  self:mark(owner(self, path))
  self.base = depth
  -- What stood between conditions before still needs its guard.
  self:inline(path, self.masks and depth == 0 and not self.guarded[path])
  if depth > 0 then self.guarded[path] = true end
  self.base = base
  if own then self.state:cross() end
  if own and mask then self:put("#endif") end
  if own and outer then self:put(("#if LA_REGION & %d"):format(outer)) end
  self.mask = outer
  self:mark(unit)
  if self.loose[path] then self.loose[path].open = false end
end

-- The guarded headers that a unit's own text includes, before that text.
function writer:headers(path)
  for _, line in ipairs(lines_of(path)) do
    local name = line:match('^%s*#%s*include "([^"]+)"')
    local found = name and source.find(name)
    if found and guarded(lines_of(found)) then
      self:include(name, 0)
    elseif found then
      self:headers(found)
    end
  end
end

-- A use of a template.
function writer:use(path)
  local s, before = self.state, self.state.raw
  local in_rows = self.in_rows
  if path:match("%.def$") then self.in_rows = true end
  s.raw = self.base
  template.use(template.parse(path, self:items(path)), s, {
    put = function(text) self:put(text) end,
    chunk = function(entry)
      for word in pairs(self.textual and entry.words or {}) do
        if self.textual[word] then
          for _, line in ipairs(entry.code) do self:put(line) end
          return
        end
      end
      local last = #self.parts
      if self.on_chunk and #self.parts[last] < 64 then
        self.parts[last] = self.parts[last] .. " " .. entry.name
      else
        self.parts[last + 1] = entry.name
      end
      self.on_chunk = true
    end,
    define = function(rest)
      self:define(path, rest)
      s:define(rest:match("^[%w_]+"), rest)
    end,
    undefine = function(name)
      self:undefine(name)
      s:undefine(name)
    end,
    include = function(line, rest) self:include_line(line, rest, s.raw) end,
  })
  s.raw, self.in_rows = before, in_rows
end

-- Lines as they are to stand in the file: {code =, raw =}.
function writer:items(path)
  local list, change = nil, false
  if path:match("%.def$") and self.rewrite then
    local lines = lines_of(path)
    list = self.rewrite(path, lines)
    change = table.concat(list, "\n") ~= table.concat(lines, "\n")
  end
  if self.state and not change then return items_of(path) end
  local out = {}
  for line in table.concat(list or lines_of(path), "\n"):gmatch("[^\n]+") do
    out[#out + 1] = {code = line, raw = line}
  end
  return out
end

-- The whole definition that begins in item i.
local function whole_macro(items, i, rest)
  while items[i].code:find("\\$") and items[i + 1] do
    i = i + 1
    rest = rest .. "\n" .. items[i].code
  end
  return rest
end

-- Lines of 'path', with what they include. 'depth' counts conditions but the
-- guard's.
function writer:inline(path, bare)
  local depth = self.base + (guarded(lines_of(path)) and -1 or 0)
  local guard = bare and "ifndef"   -- the directive of a guard that comes next
  local in_rows, s = self.in_rows, self.state
  if path:match("%.def$") then self.in_rows = true end
  local list, goes_on = self:items(path), false
  for i, item in ipairs(list) do
    local line = item.code
    local word, rest = line:match("^%s*#%s*(%a+)%s*(.*)")
    if word == "if" or word == "ifdef" or word == "ifndef" then
      depth = depth + 1
    elseif word == "endif" then
      depth = depth - 1
    end
    local left_out = guard and word == guard
      and (word ~= "endif" or depth == -1)
    if left_out then guard = word == "ifndef" and "define" or "endif" end
    if s and not goes_on and word ~= "define" and word ~= "undef"
       and next(s.late) then
      if line:find("^%s*#%s*if") then
        s:settle_all()
      else
        s:settle(template.words_of(line))
      end
    end
    if word == "include" then
      self:include_line(line, rest, depth)
    elseif not left_out then
      if word == "define" then
        self:define(path, rest, depth)
        if s then
          local name, whole = rest:match("^[%w_]+"), whole_macro(list, i, rest)
          s:came(name, whole, depth)
          if path:match("%.h$") then self.foreign[name] = whole end
        end
      end
      if word == "undef" then
        self:undefine(rest:match("^[%w_]+"))
        if s then s:went(rest:match("^[%w_]+"), depth) end
      end
      self:keep_loose(path, word, line, rest, depth)
      self:put(item.raw)
    end
    goes_on = (word == "define" or goes_on) and line:find("\\$")
  end
  self.in_rows = in_rows
end

function writer:include_line(line, rest, depth)
  local name = rest:match('^"([^"]+)"')
  local system = rest:match("^<([^>]+)>")
  if name then
    self:include(name, depth)
  elseif system then
    if self.on_system then line = self.on_system(system, line, depth) end
    if line then self:put(line) end
  else
    local macro = rest:match("^[%w_]+")
    self:include(assert(self.strings[macro], "#include " .. rest), depth)
  end
end

function writer:undefine(name)
  self.strings[name] = nil
  for _, list in pairs(self.loose) do
    for i = #list, 1, -1 do
      if list.open and list[i].name == name then table.remove(list, i) end
    end
  end
end

-- Macros of headers without the project's prefix: what is defined by which
-- header, so that other units are without them.
function writer:keep_loose(path, word, line, rest, depth)
  local open = self.open_macro
  if open then
    open[#open + 1] = line
    if not line:find("\\$") then self.open_macro = nil end
    return
  end
  local name = word == "define" and rest:match("^[%w_]+")
  if not name or not path:match("%.h$") or name:match("^LA_")
     or name:match("_H$") or depth ~= 0 then return end
  local of = self.loose[path] or {open = true}
  self.loose[path] = of
  of[#of + 1] = {name = name, line}
  if line:find("\\$") then self.open_macro = of[#of] end
  self.fresh[#self.fresh + 1] = name
end

function writer:open(region)
  self.region = {name = region, done = {}}
  for header in pairs(self.loose) do
    if not self.shared[header] then self.loose[header] = nil end
  end
end

-- Before a unit's headers, the loose macros that are known already; the
-- function undefines them and those that the headers brought.
function writer:loose_macros(path)
  self.fresh = {}
  local headers = {}
  for header in pairs(headers_below(path)) do
    headers[#headers + 1] = header
  end
  -- A header comes after those that it includes: where both define a macro, its
  -- own is the one that holds.
  local function depth(header)
    local n = 0
    for _ in pairs(headers_below(header)) do n = n + 1 end
    return n
  end
  table.sort(headers, function(a, b)
    if depth(a) ~= depth(b) then return depth(a) < depth(b) end
    return a < b
  end)
  local is_defined = {}
  for _, header in ipairs(headers) do
    for _, macro in ipairs(self.loose[header] or {}) do
      if is_defined[macro.name] then self:put("#undef " .. macro.name) end
      is_defined[macro.name] = true
      self:put(table.concat(macro, "\n"))
      self.fresh[#self.fresh + 1] = macro.name
    end
  end
  return function()
    for _, name in ipairs(self.fresh) do self:put("#undef " .. name) end
  end
end

function writer:define(path, rest)
  local name, value = rest:match('^([%w_]+)%s+"([^"]+)"%s*$')
  if name and not self.strings[name] then self.strings[name] = value end
  self:note_macro(path, rest:match("^[%w_]+") or error(path .. rest))
end

return source
