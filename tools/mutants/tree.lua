-- The copy of the tree in which mistakes are planted, and what is built in it.
-- A mistake compiles its own objects only, of kernels those of the best CPU
-- path; the others, and the objects of all other sources, are those of the
-- build that was copied. The module is linked at once, the program when a spec
-- that starts it is about to run.
local tree = {root = "build/mutants/tree"}
-- A second copy, in which specs are timed without a mistake.
local function clean() return tree.root .. "-clean" end

local function shell(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read("a")
  local ok, _, status = pipe:close()
  return ok == true, text, status
end
tree.shell = shell

local function inside(command)
  return shell("cd " .. tree.root .. " && " .. command)
end

local function quoted(list)
  local out = {}
  for i, word in ipairs(list) do out[i] = "'" .. word .. "'" end
  return table.concat(out, " ")
end

function tree.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

function tree.write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  file:close()
end

-- A new copy, sources and build alike; times of files stay as they are, so that
-- nothing is built again. What is not copied is built when it is needed.
local LEFT = {".git", "build/mutants", "build/ctest", "build/embed-spec",
  "build/embed", "build/peers", "build/docs", "build/asan", "build/tsan",
  "build/ubsan", "build/debug", "build/cross"}

function tree.copy()
  local words = {}
  for k, path in ipairs(LEFT) do words[k] = "--exclude=./" .. path end
  for _, to in ipairs({tree.root, clean()}) do
    assert(shell(("rm -rf %s && mkdir -p %s"):format(to, to)))
    assert(shell(("tar %s -cf - . | tar -xf - -C %s"):format(
      table.concat(words, " "), to)))
  end
end

-- Text of a source or spec of the tree.
function tree.text(path) return tree.read(tree.root .. "/" .. path) end

-- Paths and sizes of the sources, in an order that is always the same.
function tree.sources()
  local ok, text = inside("find src modules lua -type f \\( -name '*.c' -o "
    .. "-name '*.inc' -o -name '*.def' -o -name '*.lua' \\) -printf '%p %s\\n'"
    .. " | LC_ALL=C sort")
  assert(ok, text)
  local each = text:gmatch("(%S+) (%d+)\n")
  return function()
    local path, size = each()
    return path, tonumber(size)
  end
end

local CAPS = {"default", "avx2", "avx512"}
local function rank(object)
  local caps = object:match("%.([%w+]+)%.o$") or ""
  for k = #CAPS, 1, -1 do
    if caps:find(CAPS[k], 1, true) then return k end
  end
  return 0
end

-- Objects that read 'path': those to compile, and those to leave as they are.
function tree.objects(path)
  if path:find("%.lua$") then return {"build/obj/lua.embed.o"}, {} end
  if path:find("^modules/mpi/ranks/") then
    return {"build/lunarray_mpi.so"}, {}
  end
  local best, made, left = {}, {}, {}
  local _, text = inside(("grep -lFw -- '%s' build/obj/*.d"):format(path))
  for object in text:gmatch("(%S+)d\n") do
    object = object .. "o"
    local stem = rank(object) > 0 and object:match("^(.*)%.[%w+]+%.o$")
      or object
    local other = best[stem]
    if other and rank(other) >= rank(object) then
      left[#left + 1] = object
    else
      left[#left + 1] = other
      best[stem] = object
    end
  end
  for _, object in pairs(best) do made[#made + 1] = object end
  table.sort(made)
  return made, left
end

-- What a mistake changes is kept as a copy, so that the tree can be restored
-- whatever has become of its origin.
local function keep(files)
  for _, file in ipairs(files) do
    inside(("cp -p '%s' '%s.kept'"):format(file, file))
  end
end

local function same_bytes(objects)
  for _, object in ipairs(objects) do
    if not inside(("cmp -s '%s' '%s.kept'"):format(object, object)) then
      return false
    end
  end
  return true
end

local function make(targets, left)
  local words = {}
  for _, object in ipairs(left) do
    words[#words + 1] = "-o"
    words[#words + 1] = object
  end
  return inside("make --no-print-directory " .. quoted(words) .. " "
    .. quoted(targets))
end

-- Plants 'text' in 'path': "built", "same" where the compiler makes the same
-- code of it, nil and what it says where it makes none.
function tree.plant(path, text)
  local made, left = tree.objects(path)
  if #made == 0 then return nil, "no object reads it" end
  tree.kept = {path, table.unpack(made)}
  if path:find("%.lua$") then
    table.insert(tree.kept, "build/obj/" .. path .. ".gz")
  end
  keep(tree.kept)
  tree.write(tree.root .. "/" .. path, text)
  local ok, said = make(made, left)
  if not ok then return nil, said end
  if not path:find("%.lua$") and same_bytes(made) then return "same" end
  ok, said = make({"build/lunarray.so"}, left)
  if not ok then return nil, said end
  tree.planted, tree.has_program = path, false
  return "built"
end

-- May this spec start the program, or load the shared library? Its text, or
-- that of what it requires, says so by these words; more than do is no harm.
local function starts_program(spec)
  local text = tree.text(spec)
  for _, word in ipairs({"program", "PROGRAM", "build/", "support.once",
                         "support.tmux", "support.notebook"}) do
    if text:find(word, 1, true) then return true end
  end
  return spec:find("^spec/prompt/") ~= nil
end

local function need_program()
  if tree.has_program or not tree.planted then return end
  local _, left = tree.objects(tree.planted)
  make({"build/lunarray"}, left)
  tree.has_program = true
end

function tree.build_test(path, name)
  local _, left = tree.objects(path)
  return make({"build/ctest/" .. name}, left)
end

-- Source and objects as before. Objects are newer than the source, and what was
-- linked is linked again with the next mistake.
function tree.restore()
  for _, file in ipairs(tree.kept) do
    inside(("mv '%s.kept' '%s'"):format(file, file))
  end
  tree.planted, tree.kept = nil, nil
end

-- Passed, seconds of the processor, and was it ended by its time? It may take
-- 'seconds' of the processor, and twenty times these on the clock, as other
-- work slows a machine down.
local function limited(folder, command, seconds)
  local ok, said, status = shell((
    "cd %s && ulimit -v 24000000; ulimit -t %d; timeout -k 5 %d %s "
      .. ">/dev/null 2>&1; status=$?; times; exit $status"):format(folder,
    seconds, 20 * seconds, command))
  local spent = 0
  for m, s in (said:match("\n(.*)") or ""):gmatch("(%d+)m([%d.]+)s") do
    spent = spent + 60 * tonumber(m) + tonumber(s)
  end
  return ok, spent, status == 124 or status == 137 or status == 152
end

local SETTINGS = "env LUA_PATH='./?.lua;lua/?.lua;lua/?/init.lua;;' "
  .. "LUA_CPATH='build/?.so;;' LUNARRAY_PROGRAM=build/lunarray "

local function busted(path, more)
  local lua = os.getenv("LUA") or "lua5.4"
  return SETTINGS .. (more or "") .. lua .. " $(command -v busted) "
    .. "--no-keep-going -o plainTerminal " .. path
end

-- Runs a spec until its first failure; 'more' are settings of its own.
function tree.spec(path, seconds, more)
  if starts_program(path) then need_program() end
  return limited(tree.root, busted(path, more), seconds)
end

-- The same without a mistake.
function tree.clean_spec(path, seconds)
  return limited(clean(), busted(path), seconds)
end

function tree.test(name, seconds)
  return limited(tree.root, "build/ctest/" .. name, seconds)
end

return tree
