-- Nothing asks the locale of the process: objects use no function of the C
-- library that does, formats with a number of floating point go through
-- la_format, lua/lunarray through lunarray.numbers.
--   lua5.4 spec/lint/locale.lua [build]
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

-- Functions of C that follow the locale, as glibc's objects name them.
local asking = {}
for name in ([[strtod strtof strtold atof setlocale localeconv newlocale
  uselocale nl_langinfo strcoll strxfrm strftime strptime strfmon
  __ctype_b_loc __ctype_toupper_loc __ctype_tolower_loc toupper tolower
  isalpha isalnum isdigit isxdigit isspace isupper islower ispunct isprint
  isgraph iscntrl strcasecmp strncasecmp strcasestr regcomp regexec fnmatch
  glob sscanf fscanf scanf vsscanf __isoc99_sscanf __isoc99_fscanf
  __isoc99_scanf __isoc99_vsscanf __isoc23_sscanf __isoc23_fscanf
  mblen mbtowc wctomb mbstowcs wcstombs mbrlen mbrtowc wcrtomb mbsrtowcs
  wcsrtombs btowc wctob wcwidth wcswidth wcstod wcstol wcscoll iswalpha
  iswspace towupper towlower wprintf swprintf fwprintf wcsftime]])
  :gmatch("%S+") do asking[name] = true end

-- Those that may, with the reason.
local allowed = {
  ["base.os.os_linux __isoc99_fscanf"] = "integers and words of /proc and /sys",
  ["base.os.os_linux __isoc23_fscanf"] = "integers and words of /proc and /sys",
  ["repl.prompt setlocale"] = "the terminal's characters, no numbers",
  ["repl.edit mbrtowc"] = "the terminal's characters",
  ["repl.edit_paint mbrtowc"] = "the terminal's characters",
  ["repl.edit_paint wcwidth"] = "how wide the terminal shows a character",
}

local function check_symbols(build, found)
  local pipe = assert(io.popen(("nm -A -u %s %s/lunarray_mpi.so "
    .. "2>/dev/null"):format(table.concat(files.objects(build), " "), build)))
  for line in pipe:lines() do
    local path, name = line:match("^(%S-):%s+U ([%w_]+)")
    local object = path and (path:match("obj/(.*)%.o$") or "mpi")
    if name and asking[name] and not allowed[object .. " " .. name] then
      found[#found + 1] = ("%s uses %s, which asks the locale"):format(path,
                                                                       name)
    end
  end
  pipe:close()
end

-- printf's and Lua's own, which write the locale's point.
local printers = {}
for name in ([[printf fprintf sprintf snprintf vsnprintf dprintf asprintf
  lua_pushfstring luaL_error]]):gmatch("%S+") do printers[name] = true end

local FLOAT = "%%[-+ #0]*[%d*]*%.?[%d*]*l?[aAeEfFgG]"

local function line_of(text, at)
  local _, n = text:sub(1, at):gsub("\n", "")
  return n + 1
end

-- The texts among the arguments of a call: "(...)".
local function literals(call)
  local list = {}
  for text in call:gmatch('"([^"\n]*)"') do
    list[#list + 1] = text:gsub("%%%%", "")
  end
  return table.concat(list)
end

local function check_c(path, found)
  local text = files.text(path):gsub('\\"', "''")
  for name, at in text:gmatch("([%w_]+)()%s*%(") do
    local call = printers[name] and text:match("^%s*(%b())", at)
    if call and literals(call):find(FLOAT) then
      found[#found + 1] = ("%s:%d: %s writes the locale's point: la_format")
        :format(path, line_of(text, at), name)
    end
  end
end

-- string.format(...) and (...):format; a text that is made elsewhere is not
-- seen, spec/registry/locale_spec.lua runs it.
local function check_lua(path, found)
  local text = files.text(path)
  local function complain(at)
    found[#found + 1] = ("%s:%d: format writes the locale's point: "
      .. "numbers.format"):format(path, line_of(text, at - 1))
  end
  for call, at in text:gmatch("string%.format(%b())()") do
    if literals(call):find(FLOAT) then complain(at) end
  end
  for call, at in text:gmatch("(%b())%s*:format%(()") do
    if literals(call):find(FLOAT) then complain(at) end
  end
end

local function check(build)
  local found = {}
  check_symbols(build or "build", found)
  for _, path in ipairs(files.list("src modules", "*.c", "*.h", "*.inc")) do
    check_c(path, found)
  end
  for _, path in ipairs(files.list("lua modules/*/lua", "*.lua")) do
    -- Examples are run, and shown, as users write them.
    if not path:find("/words/") and not path:find("/numbers%.lua$") then
      check_lua(path, found)
    end
  end
  return found
end

if arg and arg[0] and arg[0]:match("locale%.lua$") then
  files.main(check, arg[1])
end
return check
