-- The code blocks of a Markdown page, and the program that they make together.
--
-- Blocks of Lua run in order, as one program: a local of one block is there in
-- those after it. What a block prints is compared with its comments '--> text',
-- all of them in order, or with the fenced block 'text' that follows it; '...'
-- stands for anything. Without either it may print what it likes. A second
-- word after the language says more: 'parsed' is compiled but not run.
-- A comment of HTML that begins with '<!-- lua' is code that readers don't see.
-- '<!-- needs: image csv -->' names the modules that the page's code is about.
local documents = {}

local function lines_of(path)
  local list = {}
  for line in io.lines(path) do list[#list + 1] = line end
  return list
end

-- '--> text' of a line of code.
local function said(line)
  return line:match("%-%-> ?(.*)$")
end

local function expected_by_comments(lines)
  local list = {}
  for _, line in ipairs(lines) do list[#list + 1] = said(line) end
  return list[1] and table.concat(list, "\n")
end

-- The modules that a page needs: "image csv"; "" for none.
function documents.needs(path)
  for _, line in ipairs(lines_of(path)) do
    local names = line:match("^<!%-%- needs: ([%w_ ]-) %-%->$")
    if names then return names end
  end
  return ""
end

local function block_from(lines, i, language, flag)
  local block = {language = language, flag = flag, first = i + 1, lines = {}}
  local last = language == "hidden" and "^%-%->" or "^```%s*$"
  i = i + 1
  while lines[i] and not lines[i]:find(last) do
    block.lines[#block.lines + 1] = lines[i]
    i = i + 1
  end
  block.text = table.concat(block.lines, "\n") .. "\n"
  block.last = i
  return block
end

-- The blocks {language, flag, first, last, lines, text, expected} of the page;
-- lines are counted from one, 'first' is the line after the fence, 'last' that
-- of the closing one.
function documents.blocks(path)
  local lines, blocks, i = lines_of(path), {}, 1
  while lines[i] do
    local language, flag = lines[i]:match("^```(%w*) ?(%w*)$")
    if lines[i]:find("^<!%-%- lua$") then language, flag = "hidden", "" end
    if language then
      local block = block_from(lines, i, language, flag)
      blocks[#blocks + 1] = block
      i = block.last
    end
    i = i + 1
  end
  for k, block in ipairs(blocks) do
    local after = blocks[k + 1]
    if block.language == "lua" then
      block.expected = expected_by_comments(block.lines)
    end
    if after and after.language == "text"
      and after.first - block.last <= 3 then
      block.expected = after.text:gsub("\n$", "")
    end
  end
  return blocks, #lines
end

local MARK = "\1"

-- The program of a page: its lines are those of the page, so that errors name
-- them. The fences become marks in the output.
function documents.program(path)
  local blocks, count = documents.blocks(path)
  local out = {}
  for i = 1, count do out[i] = "" end
  local found = false
  for _, block in ipairs(blocks) do
    if block.language == "hidden"
      or block.language == "lua" and block.flag ~= "parsed" then
      found = true
      for k, line in ipairs(block.lines) do
        out[block.first + k - 1] = line
      end
      out[block.first - 1] = ("io.write('\\001%d\\n')"):format(block.first)
      out[block.last] = "io.write('\\001\\n')"
    end
  end
  return found and table.concat(out, "\n") .. "\n", blocks
end

-- What each block printed: a table by the block's first line. Errors that were
-- caught begin with a line of the program's file, which is left out.
function documents.outputs(text, name)
  local found = {}
  local where = name:gsub("%p", "%%%0") .. ":%d+: "
  for first, printed in text:gmatch(MARK .. "(%d+)\n([^" .. MARK .. "]*)") do
    found[tonumber(first)] = printed:gsub("\n$", ""):gsub(where, "")
  end
  return found
end

local function trimmed(text)
  return (text:gsub("[ \t]+%f[\n\0]", ""):gsub("%s+$", ""))
end

-- The names of the interface that the code spans of a page use: {line, name},
-- 'la.fft.rfft' or 'x:sum'. In tables only the last column is lunarray's.
function documents.names(path)
  local list, inside = {}, false
  local function look(i, code)
    for name in code:gmatch("%f[%w_.]la%.([%a_][%w_.]*[%w_])") do
      list[#list + 1] = {line = i, name = name}
    end
    for name in code:gmatch("%f[%w_.]x:([%a_][%w_]*)") do
      list[#list + 1] = {line = i, name = name, method = true}
    end
  end
  for i, line in ipairs(lines_of(path)) do
    if line:find("^```") then inside = not inside end
    if not inside then
      local row = line:match("^|.*|(.*|)%s*$")
      for code in (row or line):gmatch("`([^`]+)`") do look(i, code) end
    end
  end
  return list
end

-- Whether 'text' is as expected; '...' of the expectation stands for anything.
function documents.agrees(text, expected)
  text, expected = trimmed(text), trimmed(expected)
  if text == expected then return true end
  local pattern = expected:gsub("[%^%$%(%)%%%.%[%]%*%+%-%?]", "%%%0")
    :gsub("%%%.%%%.%%%.", ".*")
  return text:find("^" .. pattern .. "$") ~= nil
end

return documents
