-- Sizes: 80 columns (a few more pass), 700 lines a file, 60 lines a function,
-- no tabs, no spaces at line ends; the median function has at most 12 lines;
-- no builtin that only one of the compilers has.
package.path = "spec/lint/?.lua;" .. package.path
local files = require "files"

local COLUMNS, TOLERANCE = 80, 4
local FILE, FUNCTION, MEDIAN = 700, 60, 12

-- Rows of tables may be wider: their columns are read across.
local WIDE = {
  ["src/kernel/each/drive.h"] = true,
  ["src/kernel/each/each_complex.inc"] = true,
  ["src/kernel/each/each_int.inc"] = true,
}

local function wide_allowed(path)
  return path:match("%.def$") ~= nil or WIDE[path]
end

local function width(line)
  return utf8.len(line) or #line
end

-- GCC's alone; simd/shuffle.h is for both.
local function is_foreign(path, line)
  return line:find("__builtin_shuffle(", 1, true)
    and path ~= "src/simd/shuffle.h" and not path:find("^spec/")
end

local function check_lines(path, lines, found)
  for i, line in ipairs(lines) do
    local why
    if line:find("\t", 1, true) then why = "a tab"
    elseif line:find("%s$") and not line:find("^#define") then
      why = "space at the end"
    elseif width(line) > COLUMNS + TOLERANCE and not wide_allowed(path) then
      why = width(line) .. " columns"
    elseif is_foreign(path, line) then
      why = "__builtin_shuffle is GCC's alone: VEC_SHUFFLE of simd/shuffle.h"
    end
    if why then found[#found + 1] = ("%s:%d: %s"):format(path, i, why) end
  end
  if #lines > FILE and not wide_allowed(path) then
    found[#found + 1] = ("%s: %d lines"):format(path, #lines)
  end
end

-- A function's body stands between { and } in the first column.
local function check_functions(path, lines, found, lengths)
  local first
  for i, line in ipairs(lines) do
    if line:sub(1, 1) == "{" then first = i
    elseif line:sub(1, 1) == "}" and first then
      local length = i - first + 1
      lengths[#lengths + 1] = length
      if length > FUNCTION then
        found[#found + 1] = ("%s:%d: a function of %d lines")
          :format(path, first, length)
      end
      first = nil
    end
  end
end

local function check(...)
  local found, lengths = {}, {}
  for _, root in ipairs({...}) do
    for _, path in ipairs(files.list(root, "*.c", "*.h", "*.inc", "*.def",
                                     "*.lua")) do
      local lines = files.lines(path)
      check_lines(path, lines, found)
      if path:match("^src/.*%.[ch]$") or path:match("^src/.*%.inc$") then
        check_functions(path, lines, found, lengths)
      end
    end
  end
  table.sort(lengths)
  local median = lengths[(#lengths + 1) // 2] or 0
  if median > MEDIAN then
    found[#found + 1] = ("the median function has %d lines"):format(median)
  end
  return found
end

if arg and arg[0] and arg[0]:match("style%.lua$") then
  files.main(check, table.unpack(arg[1] and arg or {"src", "lua", "spec"}))
end
return check
