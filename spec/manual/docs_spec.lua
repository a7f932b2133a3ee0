-- The code blocks of README.md and docs/: those in Lua run, page by page, and
-- print what the page says; those in C are compiled and run; those for a shell
-- are parsed, since they install, build or start other programs. How a page
-- says so: support/documents.lua. Pages of modules that the build does not
-- have, or that need one, are left out.
local la = require "lunarray"
local modules = require "spec.support.modules"
local documents = require "spec.support.documents"

local ROOT = assert(io.popen "pwd"):read "l"
local PROGRAM = os.getenv("LUNARRAY_PROGRAM") or "build/lunarray"
local PATH = PROGRAM:find "^/" and PROGRAM or ROOT .. "/" .. PROGRAM

local function pages()
  local list = {"README.md"}
  local pipe = assert(io.popen "ls docs/*.md examples/*.md modules/*/docs/*.md")
  for path in pipe:lines() do
    local module = path:match "^modules/([%w_]+)/"
    if modules.has(module or documents.needs(path)) then
      list[#list + 1] = path
    end
  end
  pipe:close()
  return list
end

-- A folder to run in, where the project's data are found as from its root.
local function folder()
  local path = assert(io.popen "mktemp -d"):read "l"
  for _, name in ipairs{"spec", "examples", "docs", "modules"} do
    os.execute(("ln -s '%s/%s' '%s/%s'"):format(ROOT, name, path, name))
  end
  return path
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

local function capture(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  return text, pipe:close() == true
end

local function compare(path, block, text)
  if block.expected and not documents.agrees(text, block.expected) then
    error(("%s:%d printed\n%s\nnot\n%s"):format(path, block.first, text,
      block.expected), 0)
  end
end

local function run_lua(path)
  local program, blocks = documents.program(path)
  if program then
    local where = folder()
    local name = path:gsub("/", "_")
    write(where .. "/" .. name, program)
    local text, ok = capture(("cd '%s' && %s %s"):format(where, PATH,
      name))
    os.execute("rm -rf " .. where)
    assert(ok, text)
    local outputs = documents.outputs(text, name)
    for _, block in ipairs(blocks) do
      if block.language == "lua" and block.flag ~= "parsed" then
        compare(path, block, assert(outputs[block.first], block.first))
      end
    end
  end
end

-- A host in C or C++ sees the public header and the shared library.
local function run_c(path, block, compiler)
  local where = folder()
  write(where .. "/block." .. block.language, block.text)
  local text, ok = capture(([[cd '%s' && %s block.* -o block -I%s/include \
    $(pkg-config --cflags lua5.4) %s/build/liblunarray.so.0 \
    -Wl,-rpath,%s/build $(pkg-config --libs lua5.4) -lm && ./block]])
    :format(where, compiler, ROOT, ROOT, ROOT))
  os.execute("rm -rf " .. where)
  assert(ok, ("%s:%d: %s"):format(path, block.first, text))
  compare(path, block, text)
end

local CHECKS = {
  lua = function(path, block)
    assert(load(block.text, ("@%s:%d"):format(path, block.first)))
  end,
  c = function(path, block)
    run_c(path, block, "cc -std=c11 -Wall -Wextra -Werror")
  end,
  cpp = function(path, block)
    run_c(path, block, "c++ -std=c++17 -Wall -Wextra -Werror")
  end,
  sh = function(path, block)
    local name = os.tmpname()
    write(name, block.text)
    local text, ok = capture("sh -n " .. name)
    os.remove(name)
    assert(ok, ("%s:%d: %s"):format(path, block.first, text))
  end,
}

-- A value or false; names of other libraries raise.
local function value_at(root, path)
  local value = root
  for name in path:gmatch("[^.]+") do
    if value == nil then return false end
    local ok, found = pcall(function() return value[name] end)
    if not ok then return false end
    value = found
  end
  return value ~= nil
end

describe("the pages", function()
  local all_it = modules.all() and it or function() end

  all_it("name what is there", function()
    local x, missing = la.ones(2), {}
    for _, path in ipairs(pages()) do
      -- The page of coverage is made from the rows.
      local names = path == "docs/coverage.md" and {} or documents.names(path)
      for _, row in ipairs(names) do
        if not value_at(row.method and x or la, row.name) then
          missing[#missing + 1] = ("%s:%d: %s"):format(path, row.line, row.name)
        end
      end
    end
    assert.same({}, missing)
  end)

  for _, path in ipairs(pages()) do
    it(path .. " says what its code does", function()
      run_lua(path)
      for _, block in ipairs((documents.blocks(path))) do
        local check = CHECKS[block.language]
        -- Under a sanitizer the library in C is another one; once is enough.
        local host = block.language == "c" or block.language == "cpp"
        if check and not (host and PROGRAM ~= "build/lunarray") then
          check(path, block)
        end
      end
    end)
  end

  it("are compared with what is printed", function()
    assert.is_true(documents.agrees("a 1\nb", "a ...\nb"))
    assert.is_true(documents.agrees("tensor([1., 2.])  \n", "tensor([1., 2.])"))
    assert.is_false(documents.agrees("tensor([1, 2])", "tensor([1., 2.])"))
    assert.is_false(documents.agrees("a", "a\nb"))
  end)
end)
