-- Templates: files without a guard that sources include again and again with
-- other macros. The code between two directives of one is a macro of the single
-- file, which is expanded at each use with the macros of that moment. The
-- directives are followed here, as far as the sources alone decide them, so
-- that a use is the definitions that changed and the names of those macros.
local template = {}

local function source_is_kernel(path)
  return path:find("kernel/", 1, true) or path:find("^src/simd/")
end

---------------------------------------------------------------------------
-- What an expression of #if is worth: a number, or nil where it depends on the
-- compiler or on what a header defines.

local LEVELS = {["||"] = 1, ["&&"] = 2, ["=="] = 3, ["!="] = 3, ["<"] = 4,
  [">"] = 4, ["<="] = 4, [">="] = 4, ["+"] = 5, ["-"] = 5, ["*"] = 6}

local function truth(x) return x and 1 or 0 end
local COMPUTE = {
  ["=="] = function(a, b) return truth(a == b) end,
  ["!="] = function(a, b) return truth(a ~= b) end,
  ["<"] = function(a, b) return truth(a < b) end,
  [">"] = function(a, b) return truth(a > b) end,
  ["<="] = function(a, b) return truth(a <= b) end,
  [">="] = function(a, b) return truth(a >= b) end,
  ["+"] = function(a, b) return a + b end,
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
}

local function joined(op, a, b)
  if op == "&&" then
    if a == 0 or b == 0 then return 0 end
    return a and b and 1
  elseif op == "||" then
    if a and a ~= 0 or b and b ~= 0 then return 1 end
    return a and b and 0
  end
  return a and b and COMPUTE[op](a, b)
end

local function tokens_of(text)
  local list, at = {}, 1
  while true do
    at = text:find("%S", at)
    if not at then return list end
    local s = text:match("^[%w_]+", at) or text:match("^[&|=!<>][&|=]", at)
      or text:sub(at, at)
    list[#list + 1] = s
    at = at + #s
  end
end

-- lookup(name): nil (unknown), false (not defined) or the text of the macro.
function template.evaluate(text, lookup, depth)
  local list, i = tokens_of(text), 1
  local expression
  local function primary()
    local token = list[i]
    i = i + 1
    if token == "!" then
      local x = primary()
      return x and truth(x == 0)
    elseif token == "-" then
      local x = primary()
      return x and -x
    elseif token == "(" then
      local x = expression(1)
      i = i + 1
      return x
    elseif token == "defined" then
      local inner = list[i] == "("
      local value = lookup(list[inner and i + 1 or i])
      i = i + (inner and 3 or 1)
      if value == nil then return nil end
      return truth(value)
    elseif token and token:find("^%d") then
      return math.tointeger(tonumber((token:gsub("[uUlL]+$", ""))))
    elseif token and token:find("^[%a_]") then
      if list[i] == "(" then error("call") end
      local value = lookup(token)
      if not value then return value == false and 0 or nil end
      if (depth or 0) > 20 then return nil end
      return template.evaluate(value, lookup, (depth or 0) + 1)
    end
    error("token")
  end
  function expression(level)
    local x = primary()
    while true do
      local op = list[i]
      local is = LEVELS[op]
      if not is or is < level then return x end
      i = i + 1
      x = joined(op, x, expression(is + 1))
    end
  end
  local fine, x = pcall(expression, 1)
  return fine and i > #list and x or nil
end

---------------------------------------------------------------------------
-- The parts of a template

local used, parsed = {}, {}
template.list = {}      -- the parsed ones, in the order of their first use

local function words_of(text)
  local words = {}
  for word in text:gmatch("[%a_][%w_]*") do words[word] = true end
  return words
end
template.words_of = words_of

-- {kind = "code", name =, words =, raw =} and {kind = a directive's word,
-- rest =, text =}, from {code =, raw =} per line.
function template.parse(path, items)
  if parsed[path] then return parsed[path] end
  local base = "T_" .. path:match("([^/]+)%.%w+$")
  if used[base] then
    base = "T_" .. path:match("([^/]+)/[^/]+$") .. "_" .. base:sub(3)
  end
  while used[base] do base = base .. "_" end
  used[base] = true
  local list, chunk, open, pieces = {path = path}, nil, nil, 0
  local tail = false    -- in a comment that begins behind a directive
  for _, item in ipairs(items) do
    local code, raw = item.code, item.raw
    if code:find("%S") then
      tail = code:find("^%s*#") and raw:find("/%*") and not raw:find("%*/")
    end
    local word, rest = code:match("^%s*#%s*(%a+)%s*(.*)")
    if open then
      open.text = open.text .. "\n" .. code
      open.rest = open.rest .. "\n" .. code
      if not code:find("\\$") then open = nil end
    elseif word then
      chunk = nil
      list[#list + 1] = {kind = word, rest = rest, text = code}
      if code:find("\\$") then open = list[#list] end
    elseif code:find("%S") then
      if not chunk then
        pieces = pieces + 1
        chunk = {kind = "code", name = base .. "_" .. pieces, raw = {},
                 code = {}}
        list[#list + 1] = chunk
      end
      chunk.raw[#chunk.raw + 1] = raw
      chunk.code[#chunk.code + 1] = code
    elseif chunk then
      chunk.raw[#chunk.raw + 1] = raw
    elseif not tail then
      list[#list + 1] = {kind = "comment", text = raw}
    end
    if raw:find("%*/") then tail = false end
  end
  for _, entry in ipairs(list) do
    if entry.code then
      entry.words = words_of(table.concat(entry.code, "\n"))
    end
  end
  parsed[path] = list
  template.list[#template.list + 1] = list
  return list
end

function template.forget()
  used, parsed, template.list = {}, {}, {}
end

-- The macros of all templates that were used, their directives as comments.
function template.definitions()
  local out = {}
  for _, list in ipairs(template.list) do
    out[#out + 1] = ("\n/* ---- the template %s */"):format(list.path)
    for _, entry in ipairs(list) do
      if entry.kind == "code" then
        local raw = entry.raw
        while not raw[#raw]:find("%S") do raw[#raw] = nil end
        local text = table.concat(raw, " \\\n")
        if source_is_kernel(list.path) then
          text = ("\n" .. text):gsub("\nstatic inline%f[ ]", "\nLA_INLINE")
            :sub(2)
        end
        out[#out + 1] = "#define " .. entry.name .. " \\\n" .. text
      elseif entry.kind == "comment" then
        out[#out + 1] = entry.text
      elseif not entry.text:find("/*", 1, true) then
        out[#out + 1] = "/* " .. entry.text .. " */"
      end
    end
  end
  return table.concat(out, "\n")
end

---------------------------------------------------------------------------
-- What is defined while a unit is written. A macro that a template undefines
-- stays until another definition comes, or code that names it: most come again.

local state = {}
state.__index = state

-- put(text); is_foreign(name): may a header or the compiler define it?
-- text_of(name): of a header's macro
function template.state(put, is_foreign, text_of)
  return setmetatable({put = put, is_foreign = is_foreign, text_of = text_of,
    known = {}, late = {}, raw = 0, open = {}}, state)
end

local function value_of(rest)
  return rest:match("^[%w_]+%s*(.-)%s*$"), rest:match("^[%w_]+%(") ~= nil
end

function state:lookup(name)
  local is = self.known[name]
  if is then
    if is.unknown then return nil end
    if is.wanted == nil then return false end
    local value, call = value_of(is.wanted)
    return call and "" or value
  end
  if self.is_foreign(name) then return nil end
  return false
end

-- Raw: within a condition that the compiler decides.
function state:define(name, rest)
  local is = self.known[name]
  if not is then
    is = {unknown = self.is_foreign(name)}
    self.known[name] = is
  end
  if self.raw > 0 then
    if is.emitted and not is.wanted then self.put("#undef " .. name) end
    self.put("#define " .. rest)
    is.unknown, is.emitted, is.wanted = true, nil, rest
  elseif is.unknown then
    self.put("#undef " .. name .. "\n#define " .. rest)
    is.unknown, is.emitted, is.wanted = nil, rest, rest
  elseif is.emitted == rest then
    is.wanted = rest
  else
    self.put((is.emitted and "#undef " .. name .. "\n" or "")
      .. "#define " .. rest)
    is.emitted, is.wanted = rest, rest
  end
  self.late[name] = nil
end

function state:undefine(name)
  local is = self.known[name]
  if not is then
    if not self.is_foreign(name) then return end
    is = {unknown = true}
    self.known[name] = is
  end
  if self.raw > 0 then
    self.put("#undef " .. name)
    is.unknown, is.emitted, is.wanted = true, nil, nil
  elseif is.unknown then
    self.put("#undef " .. name)
    is.unknown, is.emitted, is.wanted = nil, nil, nil
  elseif is.emitted then
    is.wanted = nil
    self.late[name] = true
  end
end

-- The unit's own text defines or undefines it, now.
function state:came(name, rest, depth)
  if self.late[name] then
    self.put("#undef " .. name)
    self.late[name] = nil
  end
  self.known[name] = {unknown = depth > 0 or nil, emitted = rest, wanted = rest}
end
function state:went(name, depth)
  self.late[name] = nil
  self.known[name] = {unknown = depth > 0 or nil}
end

-- In the order of the names, so that a file is the same each time.
local function undefine_late(self, names)
  table.sort(names)
  for _, name in ipairs(names) do
    self.put("#undef " .. name)
    self.known[name].emitted, self.late[name] = nil, nil
  end
end

-- Before a condition whose branches may define anything.
function state:settle_all()
  local names = {}
  for name in pairs(self.late) do names[#names + 1] = name end
  undefine_late(self, names)
end

local function copied(known, late)
  local copy = {known = {}, late = {}}
  for name, is in pairs(known) do
    copy.known[name] = {unknown = is.unknown, emitted = is.emitted,
                        wanted = is.wanted}
  end
  for name in pairs(late) do copy.late[name] = true end
  return copy
end

-- A condition that the compiler decides: each branch begins with the same
-- macros, and behind it those are known that are the same in all.
function state:open_branches()
  table.insert(self.open, {start = copied(self.known, self.late), ends = {}})
end

function state:next_branch()
  local top = self.open[#self.open]
  table.insert(top.ends, {known = self.known, late = self.late})
  local start = copied(top.start.known, top.start.late)
  self.known, self.late = start.known, start.late
end

local NONE = {}
function state:close_branches(has_else)
  local top = table.remove(self.open)
  table.insert(top.ends, {known = self.known, late = self.late})
  if not has_else then table.insert(top.ends, top.start) end
  self.known, self.late = {}, {}
  local names = {}
  for _, branch in ipairs(top.ends) do
    for name in pairs(branch.known) do names[name] = true end
  end
  local list = {}
  for name in pairs(names) do list[#list + 1] = name end
  table.sort(list)
  for _, name in ipairs(list) do
    local one = top.ends[1].known[name] or NONE
    local same, gone = true, true
    for _, branch in ipairs(top.ends) do
      local is = branch.known[name]
        or {unknown = self.is_foreign(name) or nil}
      same = same and is.unknown == one.unknown and is.emitted == one.emitted
        and is.wanted == one.wanted
      gone = gone and not is.unknown and is.wanted == nil
    end
    if same then
      self.known[name] = one
      self.late[name] = top.ends[1].late[name]
    elseif gone then
      self.put("#undef " .. name)
      self.known[name] = {}
    else
      for _, branch in ipairs(top.ends) do
        assert(not branch.late[name], name)     -- undefined in this one alone
      end
      self.known[name] = {unknown = true}
    end
  end
end

-- At the edge of what only some regions have: what is defined there is, for
-- others, unknown.
function state:cross()
  self:settle_all()
  for _, is in pairs(self.known) do
    if is.emitted then is.unknown, is.emitted = true, nil end
  end
end

-- Before text with these words: what they could reach must be what it is.
function state:settle(words)
  if not next(self.late) then return end
  local seen, queue, names = {}, {}, {}
  for word in pairs(words) do
    seen[word] = true
    queue[#queue + 1] = word
  end
  while #queue > 0 do
    local word = table.remove(queue)
    if self.late[word] then
      names[#names + 1] = word
    else
      local is = self.known[word]
      local text = is and is.wanted or not is and self.text_of(word)
      for other in (text or ""):gmatch("[%a_][%w_]*") do
        if not seen[other] then
          seen[other] = true
          queue[#queue + 1] = other
        end
      end
    end
  end
  undefine_late(self, names)
end

---------------------------------------------------------------------------
-- One use

-- w: chunk(name), put(text), include(rest), note(name)
function template.use(list, s, w)
  local stack = {}                  -- of conditions
  local function live()
    local top = stack[#stack]
    return not top or top.raw or top.live
  end
  local function lookup(name) return s:lookup(name) end
  local function value(entry)
    if entry.kind == "ifdef" or entry.kind == "ifndef" then
      local x = lookup(entry.rest:match("^[%w_]+"))
      if x == nil then return nil end
      return truth((x ~= false) == (entry.kind == "ifdef"))
    end
    return template.evaluate(entry.rest:gsub("\\\n", " "), lookup)
  end
  local function open_raw(top, text, i)
    local words = words_of(text)    -- and those of the other branches
    local depth = 0
    for k = i + 1, #list do
      local kind = list[k].kind
      if kind:find("^if") then depth = depth + 1 end
      if kind == "endif" then depth = depth - 1 end
      if depth < 0 then break end
      if depth == 0 and kind == "elif" then
        for word in pairs(words_of(list[k].rest)) do words[word] = true end
      end
      -- What one branch defines must not be there in the others.
      if kind == "define" or kind == "undef" then
        words[list[k].rest:match("^[%w_]+")] = true
      elseif kind == "include" then
        s:settle_all()
      end
    end
    s:settle(words)
    w.put(text)
    s:open_branches()
    top.raw = true
  end
  for i, entry in ipairs(list) do
    local kind, top = entry.kind, stack[#stack]
    if kind == "if" or kind == "ifdef" or kind == "ifndef" then
      local is = {outer = live()}
      if not is.outer then
        is.taken = true
      else
        local x = value(entry)
        if x == nil then open_raw(is, entry.text, i)
        else is.live, is.taken = x ~= 0, x ~= 0 end
      end
      stack[#stack + 1] = is
    elseif kind == "elif" or kind == "else" then
      if top.raw then
        w.put(entry.text)
        s:next_branch()
        top.has_else = kind == "else"
      elseif top.taken then
        top.live = false
      elseif kind == "else" then
        top.live, top.taken = true, true
      else
        local x = value(entry)
        if x == nil then open_raw(top, "#if " .. entry.rest, i)
        else top.live, top.taken = x ~= 0, x ~= 0 end
      end
    elseif kind == "endif" then
      stack[#stack] = nil
      if top.raw then
        w.put("#endif")
        s:close_branches(top.has_else)
      end
    elseif kind ~= "comment" and live() then
      if kind == "code" then
        s:settle(entry.words)
        w.chunk(entry)
      elseif kind == "define" then
        w.define(entry.rest)
      elseif kind == "undef" then
        w.undefine(entry.rest:match("^[%w_]+"))
      elseif kind == "include" then
        w.include(entry.text, entry.rest)
      else
        w.put(entry.text)
      end
    end
  end
end

return template
