-- The copy of the tree in which mistakes are planted, and what is built in it.
-- A mistake compiles its own objects only, of kernels those of the best CPU
-- path; the others, and the objects of all other sources, are those of the
-- build that was copied.
local tree = {root = "build/mutants/tree", origin = "."}

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
  assert(shell("rm -rf " .. tree.root .. " && mkdir -p " .. tree.root))
  assert(shell("tar " .. table.concat(words, " ") .. " -cf - . | tar -xf - -C "
    .. tree.root))
end

function tree.sources()
  local ok, text = shell("find src modules lua -type f \\( -name '*.c' -o "
    .. "-name '*.inc' -o -name '*.def' -o -name '*.lua' \\) | LC_ALL=C sort")
  assert(ok, text)
  local list = {}
  for path in text:gmatch("[^\n]+") do list[#list + 1] = path end
  return list
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
  local _, text = shell(("grep -lFw -- '%s' build/obj/*.d"):format(path))
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

local function same_bytes(objects)
  for _, object in ipairs(objects) do
    if not shell(("cmp -s '%s' '%s/%s'"):format(object, tree.root, object)) then
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
  tree.write(tree.root .. "/" .. path, text)
  local ok, said = make(made, left)
  if not ok then return nil, said end
  if not path:find("%.lua$") and same_bytes(made) then return "same" end
  ok, said = make({"build/lunarray.so", "build/lunarray"}, left)
  if not ok then return nil, said end
  return "built"
end

function tree.build_test(path, name)
  local _, left = tree.objects(path)
  return make({"build/ctest/" .. name}, left)
end

-- Source and objects as before. Objects are newer than the source, and what was
-- linked is linked again.
function tree.restore(path)
  local made = tree.objects(path)
  shell(("cp -p '%s' '%s/%s'"):format(path, tree.root, path))
  if path:find("%.lua$") then
    made[#made + 1] = "build/obj/" .. path .. ".gz"
  end
  for _, object in ipairs(made) do
    shell(("cp '%s' '%s/%s'"):format(object, tree.root, object))
  end
end

-- Passed, seconds, and was it ended by its time?
local function limited(command, seconds)
  local begun = os.time()
  local ok, _, status = inside(("ulimit -v 24000000; timeout -k 5 %d %s")
    :format(seconds, command))
  return ok, os.time() - begun, status == 124 or status == 137
end

local SETTINGS = "env LUA_PATH='./?.lua;lua/?.lua;lua/?/init.lua;;' "
  .. "LUA_CPATH='build/?.so;;' LUNARRAY_PROGRAM=build/lunarray "

-- Runs a spec until its first failure; 'more' are settings of its own.
function tree.spec(path, seconds, more)
  local lua = os.getenv("LUA") or "lua5.4"
  return limited(SETTINGS .. (more or "") .. lua .. " $(command -v busted) "
    .. "--no-keep-going -o plainTerminal " .. path, seconds)
end

function tree.test(name, seconds)
  return limited("build/ctest/" .. name, seconds)
end

return tree
