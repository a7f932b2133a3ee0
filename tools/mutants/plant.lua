-- Where a small mistake can be planted in a source, and the text with it. The
-- mistakes are those that people make: a comparison reversed, a bound off by
-- one, a sign, a factor, a condition dropped, a call left out, a truth
-- exchanged. Each is within one line. Nothing is planted in comments, in texts,
-- or in lines of the preprocessor but #define.
local plant = {}

local function blank(text) return (text:gsub("[^\n]", " ")) end

-- 'text' with all between 'from' and the end of 'close' behind it blanked, and
-- the position after it.
local function blanked(out, text, from, close, plain)
  local _, e = text:find(close, from, plain)
  e = e or #text
  out[#out + 1] = blank(text:sub(from, e))
  return e + 1
end

-- The end of a text in quotes that begins at 'at'.
local function end_of_quoted(text, at)
  local quote, i = text:sub(at, at), at + 1
  while i <= #text do
    local c = text:sub(i, i)
    if c == quote or c == "\n" then return i end
    i = i + (c == "\\" and 2 or 1)
  end
  return #text
end

local function mask_c_piece(out, text, at)
  local two = text:sub(at, at + 1)
  if two == "/*" then return blanked(out, text, at, "*/", true) end
  if two == "//" then return blanked(out, text, at, "[^\n]*") end
  local e = end_of_quoted(text, at)
  out[#out + 1] = blank(text:sub(at, e))
  return e + 1
end

local function mask_lua_piece(out, text, at)
  local level = text:match("^%-%-%[(=*)%[", at) or text:match("^%[(=*)%[", at)
  if level then return blanked(out, text, at, "]" .. level .. "]", true) end
  if text:sub(at, at + 1) == "--" then
    return blanked(out, text, at, "[^\n]*")
  end
  local e = end_of_quoted(text, at)
  out[#out + 1] = blank(text:sub(at, e))
  return e + 1
end

local BEGINS = {c = {"/%*", "//", "[\"']"},
                lua = {"%-%-", "%[=*%[", "[\"']"}}

local function first_of(text, at, patterns)
  local first
  for _, p in ipairs(patterns) do
    local s = text:find(p, at)
    if s and (not first or s < first) then first = s end
  end
  return first
end

-- The code of 'text', of the same length: what is no code is blank.
function plant.code(text, language)
  local out, at = {}, 1
  local piece = language == "c" and mask_c_piece or mask_lua_piece
  while true do
    local s = first_of(text, at, BEGINS[language])
    if not s then break end
    out[#out + 1] = text:sub(at, s - 1)
    at = piece(out, text, s)
  end
  local code = table.concat(out) .. text:sub(at)
  if language == "lua" then return code end
  return (code:gsub("[^\n]+", function(line)
    local word = line:match("^%s*#%s*(%l+)")
    if word and word ~= "define" then return blank(line) end
  end))
end

---------------------------------------------------------------------------
-- Rules

-- Exchanges of operators, which stand between spaces.
local exchanges = {
  comparison = {["<"] = "<=", ["<="] = "<", [">"] = ">=", [">="] = ">",
                ["=="] = "!=", ["!="] = "==", ["~="] = "=="},
  sign = {["+"] = "-", ["-"] = "+"},
  factor = {["*"] = "+", ["/"] = "*", ["//"] = "*"},
  joint = {["&&"] = "||", ["||"] = "&&", ["and"] = "or", ["or"] = "and"}
}

local function exchanged(line, language, add)
  local at = line:find("%S") or 1
  while true do
    local s, e, op = line:find("%s(%S+)%f[%s]", at)
    if not s then return end
    for rule, row in pairs(exchanges) do
      local new = row[op]
      if op == "==" and language == "lua" then new = new and "~=" end
      if new then add(rule, s + 1, e, new) end
    end
    at = e + 1
  end
end

-- Bounds: one more or one less; where a loop begins.
local function off_by_one(line, language, add)
  for at, stop in line:gmatch("() [+-] 1()%f[^%w%.]") do
    add("bound", at, stop - 1, "")
  end
  local head = language == "c" and "for %([^;]-= ()0();" or "for [^,]-= ()1(),"
  local at, stop = line:match(head)
  if at then
    add("bound", at, stop - 1, language == "c" and "1" or "2")
  end
end

local function factors(line, _, add)
  for at, stop in line:gmatch("() [*/] 2()%f[^%w%.]") do
    add("factor", at, stop - 1, "")
  end
end

-- The condition in the parentheses after 'if', where it ends in this line.
local function conditions(line, language, add)
  if language == "c" then
    local at, inner = line:match("%f[%w]if ()(%b())")
    if at then
      add("condition", at, at + #inner - 1, "(!", ")")
      add("condition", at, at + #inner - 1, "(0 && ", ")")
    end
    for s, e in line:gmatch("() && [^&|?;()]+()%f[)&]") do
      add("condition", s, e - 1, "")
    end
    return
  end
  local at, inner = line:match("%f[%w]if ()(.-) then%f[^%w]")
  if at then
    add("condition", at, at + #inner - 1, "not (", ")")
    add("condition", at, at + #inner - 1, "false")
  end
  for s, e in line:gmatch("() and [^()]-()%f[%s]%sthen") do
    add("condition", s, e - 1, "")
  end
end

-- A statement that is one call in a line of its own.
local NO_CALL = {["return"] = true, ["if"] = true, ["for"] = true,
                 ["while"] = true, ["switch"] = true, ["function"] = true}

local function calls(line, language, add)
  local pattern = language == "c" and "^%s+()([%w_]+)%b()();$"
    or "^%s+()([%w_%.:]+)%b()()$"
  local at, name, stop = line:match(pattern)
  if at and not NO_CALL[name] then
    add("call", at, language == "c" and stop or stop - 1,
        language == "c" and ";" or "")
  end
end

local function truths(line, _, add)
  for at, word, stop in line:gmatch("%f[%w_]()(%l+)()%f[^%w_]") do
    if word == "true" then add("truth", at, stop - 1, "false") end
    if word == "false" then add("truth", at, stop - 1, "true") end
  end
end

local RULES = {exchanged, off_by_one, factors, conditions, calls, truths}

function plant.language_of(path)
  return path:find("%.lua$") and "lua" or "c"
end

-- Sites of 'text' in their order: {rule, line, old, new}, with the numbers and
-- texts of lines.
function plant.sites(text, language)
  local sites, code = {}, {}
  for line in (plant.code(text, language) .. "\n"):gmatch("(.-)\n") do
    code[#code + 1] = line
  end
  local number = 0
  for line in (text .. "\n"):gmatch("(.-)\n") do
    number = number + 1
    -- 'new' in place of what stands there, or, with 'behind', around it.
    local function add(rule, from, to, new, behind)
      if behind then new = new .. line:sub(from, to) .. behind end
      sites[#sites + 1] = {rule = rule, line = number, old = line, at = from,
        new = (line:sub(1, from - 1) .. new .. line:sub(to + 1))
          :gsub("%s+$", "")}
    end
    for _, rule in ipairs(RULES) do rule(code[number], language, add) end
  end
  table.sort(sites, function(a, b)
    if a.line ~= b.line then return a.line < b.line end
    if a.at ~= b.at then return a.at < b.at end
    return a.new < b.new
  end)
  return sites
end

-- 'text' with the mistake; nil where the line is no longer there. Lines may
-- have moved: the nearest one of this text is taken.
function plant.into(text, site)
  local lines, best = {}, nil
  for line in (text .. "\n"):gmatch("(.-)\n") do
    lines[#lines + 1] = line
    local n = #lines
    if line == site.old and (not best
        or math.abs(n - site.line) < math.abs(best - site.line)) then
      best = n
    end
  end
  if not best then return nil end
  lines[best] = site.new
  return table.concat(lines, "\n", 1, #lines - 1) .. "\n", best
end

return plant
