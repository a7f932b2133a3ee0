-- Runs the parts of the suite that are named and counts what they say:
--   lua5.4 spec/run.lua lint ctest specs
-- Parts: lint, ctest, specs (best CPU path), specs-each-path, locale (of these
-- two: where numbers have a comma; one path is that of Lua 5.5, where pip gives
-- its sources), clang, asan, ubsan, tsan, valgrind, lua55, modules (each
-- alone), rock (where luarocks is), packages, release (its artefacts in empty
-- trees), sizes, instructions (of small calls, next to a list), embed (the one
-- file; of it whole, small), cross (its compilers permitting; of it aarch64,
-- mingw, musl, wasi).
-- The last line is "N passed, N failed"; with LUNARRAY_SUMMARY set it goes to
-- that file instead.
-- Only lua55, modules, rock, packages, release, embed and cross build.
--
-- All is cut into jobs for one processor each, which run as many at a time as
-- there are processors, the longest first: none waits while another builds,
-- links or emulates. A job's lines are printed when it has ended.
package.path = "./?.lua;spec/lint/?.lua;" .. package.path

local tally = require "spec.support.tally"
local capture, count, headline = tally.capture, tally.count, tally.headline

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

---------------------------------------------------------------------------
-- Jobs

-- Jobs of one group are counted together. {group =, command =, read =}:
-- read(text, ok) is what has passed and failed, by the output; 'long' ones are
-- begun before others.
local groups, jobs = {}, {}

-- 'is_shown': the output is printed, in place of a line for the group.
local function new_group(title, is_shown)
  local group = {title = title, open = 0, passed = 0, failed = 0,
                 is_shown = is_shown}
  groups[#groups + 1] = group
  return group
end

local function add_job(group, command, read_output, long)
  group.open = group.open + 1
  jobs[#jobs + 1] = {group = group, command = command, read = read_output,
                     long = long or 0, index = #jobs}
end

-- What failed, by group, which is said once more at the end: one reads the last
-- lines of a long log first.
local failures = {}

local function note_failures(title, text)
  local n = #failures
  local lines = {}
  for line in text:gmatch("[^\n]+") do lines[#lines + 1] = line end
  for k, line in ipairs(lines) do
    if line:find("^Failure %->") or line:find("^Error %->")
       or line:find("^%[  FAILED  %] %a")
       or line:find("^  ?[%w_/]+%.%w+:%d+: ") then
      failures[#failures + 1] = title .. ": " .. line:sub(1, 160)
      if line:find("%->") then
        for i = k + 1, math.min(k + 2, #lines) do
          failures[#failures + 1] = "  " .. lines[i]:sub(1, 240)
        end
      end
    end
  end
  if #failures == n then
    failures[#failures + 1] = title .. ": " .. (lines[#lines] or ""):sub(1, 240)
  end
end

-- Output of a job that has ended is read, and its group reported when it was
-- the last of it.
local function job_ended(job, text, ok)
  local group = job.group
  local passed, failed = job.read(text, ok)
  if not ok and failed == 0 then failed = 1 end
  if group.is_shown then
    io.stdout:write((text:gsub("%d+ passed, %d+ failed\n$", "")))
  elseif failed > 0 then
    print(text)
  end
  if failed > 0 then note_failures(group.title, text) end
  count(passed, failed)
  group.passed, group.failed = group.passed + passed, group.failed + failed
  group.open = group.open - 1
  if group.open == 0 and not group.is_shown then
    print(("%-28s %4d passed, %d failed")
      :format(group.title, group.passed, group.failed))
  end
  io.stdout:flush()
end

-- In 'folder', one script for each job, in the order in which they begin.
local function write_jobs(folder)
  table.sort(jobs, function(a, b)
    if a.long ~= b.long then return a.long > b.long end
    return a.index < b.index
  end)
  for i, job in ipairs(jobs) do
    local file = assert(io.open(("%s/%d.sh"):format(folder, i), "w"))
    file:write(("%s > %s/%d.out 2>&1\necho %d $?\n")
      :format(job.command, folder, i, i))
    file:close()
  end
end

local function run_jobs()
  if #jobs == 0 then return end
  headline("all parts")
  local folder = capture("mktemp -d"):match("%S+")
  write_jobs(folder)
  local pipe = assert(io.popen(
    ("seq -f %s/%%g.sh %d | xargs -P $(nproc) -n 1 sh"):format(folder, #jobs)))
  for line in pipe:lines() do
    local index, status = line:match("^(%d+) (%d+)$")
    local file = assert(io.open(folder .. "/" .. index .. ".out"))
    job_ended(jobs[tonumber(index)], file:read("a"), status == "0")
    file:close()
  end
  pipe:close()
  for _, group in ipairs(groups) do
    if group.open > 0 then
      print(group.title .. ": a process did not end in order")
      count(0, 1)
    end
  end
  os.execute("rm -rf " .. folder)
end

local function count_part(text)
  local passed, failed = text:match("(%d+) passed, (%d+) failed\n$")
  return tonumber(passed) or 0, tonumber(failed) or 1
end

-- A part as a process of its own.
local function apart(name, long)
  add_job(new_group(name, true),
          ("env -u LUNARRAY_SUMMARY %s spec/run.lua %s"):format(
            os.getenv("LUA") or "lua5.4", name), count_part, long)
end

---------------------------------------------------------------------------
-- Lint

local function report(name, found)
  for i = 1, math.min(#found, 40) do print("  " .. found[i]) end
  if #found > 40 then print(("  ... and %d more"):format(#found - 40)) end
  local good = #found == 0
  print(("lint %s: %s"):format(name, good and "ok" or #found .. " found"))
  count(good and 1 or 0, good and 0 or 1)
end

local function luacheck()
  local folders = ""
  for _, name in ipairs({"lua", "modules", "spec", "examples", "bench"}) do
    if exists(name) then folders = folders .. " " .. name end
  end
  local text, ok = capture("luacheck --no-color -q" .. folders)
  local found = {}
  if not ok then
    for line in text:gmatch("[^\n]+") do found[#found + 1] = line end
  end
  return found
end

local function lint()
  headline("lint")
  if not exists("build/obj/made-by/objects") then
    print("lint reads the objects of a build: run make first")
    return count(0, 1)
  end
  report("layers", require "layers"("build"))
  report("circles", require "circles"())
  report("style", require "style"("src", "modules", "include", "lua", "spec",
                                  "examples", "bench", "tools"))
  report("words", require "words"())
  report("paths", require "paths"())
  report("comments", require "comments"("src modules"))
  report("headers", require "headers"("src", "modules", "include"))
  report("exports", require "exports"("build"))
  report("frames", require "frames"("build"))
  report("contracted", require "contracted"("build"))
  report("locale", require "locale"("build"))
  report("versions", require "versions"("build"))
  report("metatables", require "metatables"("src", "modules"))
  report("operations", require "optable"())
  report("luacheck", luacheck())
end

---------------------------------------------------------------------------
-- Modules

-- The modules of the build, by its own list; all before there is one.
local function module_names()
  local names = {}
  local file = io.open("build/obj/modules/names.def")
  if file then
    for name in file:read("a"):gmatch("MODULE%(([%w_]+)%)") do
      names[#names + 1] = name
    end
    file:close()
    return names
  end
  for path in capture("ls -d modules/*/README.md"):gmatch("modules/([%w_]+)") do
    names[#names + 1] = path
  end
  return names
end

-- The paths below spec and the modules of the build whose names are like this,
-- the largest first.
local function paths_like(pattern, folder)
  local found = {}
  local folders = folder
  for _, name in ipairs(module_names()) do
    folders = folders .. " modules/" .. name
  end
  local pipe = assert(io.popen(("find %s -name '%s' | xargs ls -S")
    :format(folders, pattern)))
  for path in pipe:lines() do found[#found + 1] = path end
  pipe:close()
  return found
end

---------------------------------------------------------------------------
-- C tests

-- cmocka's own lines: "[  PASSED  ] 9 test(s).", and one per failure.
local function count_cmocka(text)
  return tonumber(text:match("%[  PASSED  %] (%d+) test")) or 0,
         tonumber(text:match("%[  FAILED  %] (%d+) test")) or 0
end

-- 'long': those of a sanitizer take minutes, of ThreadSanitizer the attacks an
-- hour where others compute, too; they begin before the specs.
local function ctest(build, wrapper, long)
  local group = new_group("C tests of " .. build)
  for _, path in ipairs(paths_like("test_*.c", "spec/c")) do
    local program = build .. "/ctest/" .. path:match("([^/]+)%.c$")
    add_job(group, ("%s timeout %d %s"):format(wrapper or "",
            long and 7200 or 300, program), count_cmocka, long)
  end
end

---------------------------------------------------------------------------
-- Specs

local function count_busted(text)
  local good, bad, wrong =
    text:match("(%d+) success%a* / (%d+) failure%a* / (%d+) error")
  if not good then return 0, 1 end
  return tonumber(good), tonumber(bad) + tonumber(wrong)
end

local FILES_PER_JOB = 4

local function spec_files() return paths_like("*_spec.lua", "spec") end

-- The files of specs with one of these patterns in their paths, and the others.
local function parted(patterns)
  local found, rest = {}, {}
  for _, path in ipairs(spec_files()) do
    local is = false
    for _, pattern in ipairs(patterns) do
      is = is or path:find(pattern) ~= nil
    end
    table.insert(is and found or rest, path)
  end
  return found, rest
end

-- 'lua' runs busted, or another 'runner'; 'settings' are variables of the
-- environment; 'files' are all by default; 'seconds' are for one job.
local SHARED = "/usr/share/lua/5.4/"
local PATHS = "./?.lua;lua/?.lua;lua/?/init.lua;" .. SHARED .. "?.lua;"
  .. SHARED .. "?/init.lua;;"

local function specs(title, lua, settings, files, runner, seconds)
  files = files or spec_files()
  local group = new_group(title)
  local busted = runner or (capture("command -v busted"):match("%S+")
    or "busted") .. " -o plainTerminal"
  -- The longest files lead, each with short ones after it.
  local count_jobs = math.ceil(#files / FILES_PER_JOB)
  for first = 1, count_jobs do
    local some = {}
    for i = first, #files, count_jobs do some[#some + 1] = files[i] end
    add_job(group, ("%s LUA_PATH='%s' timeout %d %s %s %s"):format(
      settings, PATHS, seconds or 1500, lua, busted, table.concat(some, " ")),
      count_busted)
  end
end

local function stock(title, settings, files)
  specs(title, os.getenv("LUA") or "lua5.4",
        settings .. " LUNARRAY_PROGRAM=build/lunarray LUA_CPATH='build/?.so;;'",
        files)
end

-- CPU paths of this machine, and behind them its ISA extensions, best last.
local function paths()
  local names = capture("LUA_CPATH='build/?.so;;' lua5.4 -e "
    .. "\"local c = require'lunarray'.config() "
    .. "print(table.concat(c.cpu_available, ' '), "
    .. "table.concat(c.cpu_extensions_available, ' '))\"")
  local list = {}
  for name in names:gmatch("[%w_]+") do
    if name ~= "amx_fp16" then list[#list + 1] = name end
  end
  return list[1] and list or {"default"}
end

-- Specs of texts, files and values in a process with a comma for the point:
-- numbers come and go as ever. (spec/registry/locale_spec.lua compares all that
-- is printed.)
local COMMA_SPECS = "golden print types create archive mmap errors help plot "
  .. "plot_live graph"

-- The files of specs by their names, in whichever folder.
local function named_specs(words)
  local path_of, files = {}, {}
  for _, path in ipairs(spec_files()) do
    path_of[path:match("([^/]+)_spec%.lua$")] = path
  end
  for name in words:gmatch("%S+") do
    files[#files + 1] = path_of[name] or error("no spec " .. name)
  end
  return files
end

local function comma_locale()
  local folder = "build/locale"
  local text, ok = capture(("mkdir -p %s && localedef -i de_DE -f UTF-8 "
    .. "%s/de_DE.UTF-8"):format(folder, folder))
  if not ok then
    print(text)
    return count(0, 1)
  end
  specs("a locale with a comma", (os.getenv("LUA") or "lua5.4")
    .. " -e 'assert(os.setlocale(\"de_DE.UTF-8\"))'",
    "LUNARRAY_PROGRAM=build/lunarray LUA_CPATH='build/?.so;;' LOCPATH="
    .. folder, named_specs(COMMA_SPECS))
end

-- Of the core without modules: what shows, makes and describes tensors, and all
-- that tells what there is.
local CORE_SPECS = "modules words help reference types docs site foreign "
  .. "inner_names create copy view index print pointwise autograd nn_modules "
  .. "functions optim plot archive"

-- The build in its folder build/alone/<name> has one module and what it needs:
-- objects of build/obj, linked with other lists. Its specs, and whether all
-- that it says is there, and nothing else.
local function add_alone(group, name, files)
  local build = "build/alone/" .. (name == "" and "none" or name)
  local make = ("env -u MAKEFLAGS -u MFLAGS make -s MODULES='%s' BUILD=%s "
    .. "BORROW=build/obj %s/lunarray.so %s/lunarray")
    :format(name, build, build, build)
  local busted = capture("command -v busted"):match("%S+") or "busted"
  add_job(group, ("(%s && LUNARRAY_ALONE='%s' LUNARRAY_PROGRAM=%s/lunarray "
    .. "LUA_CPATH='%s/?.so;;' LUA_PATH='./?.lua;lua/?.lua;lua/?/init.lua;;' "
    .. "timeout 600 %s %s -o plainTerminal %s)"):format(make, name, build,
      build, os.getenv("LUA") or "lua5.4", busted, table.concat(files, " ")),
    count_busted)
end

local function modules()
  local group = new_group("modules alone")
  add_alone(group, "", named_specs(CORE_SPECS))
  for _, name in ipairs(module_names()) do
    local files = {"spec/registry/modules_spec.lua"}
    for path in capture(("ls modules/%s/spec/*_spec.lua"):format(name))
      :gmatch("%S+_spec%.lua") do
      if name ~= "mpi" then files[#files + 1] = path end    -- ranks take long
    end
    add_alone(group, name, files)
  end
  -- One more that only a page of the manual has.
  add_job(group, (os.getenv("LUA") or "lua5.4")
    .. " spec/support/page_module.lua", count_busted)
end

-- Extensions have products of matrices of 16-bit floats and bytes alone: these
-- differ between the paths from avx512 on. All specs run on the best one.
local PRODUCTS = {"^spec/op/matmul/", "^spec/op/nn/", "^spec/nn/",
  "/golden_spec", "/lockstep_spec", "^modules/onnx/", "^modules/llm/",
  "^modules/gguf/"}

-- The interpreter of Lua 5.5 in build/lua55, the module for it in
-- build/lua55/build, of which only what sees Lua's headers is compiled.
-- busted's modules in C are those of 5.4: the suite's own runner is used.
local FOR_55 = [[
top=$PWD/build/lua55
env -u MAKEFLAGS make -s -j$(nproc) BUILD=build/lua55/build \
    BORROW=build/obj BORROW_LUA=no LUA_VERSION=5.5 \
    LUA_CFLAGS=-I$top/include \
    LUA_LIBS="-L$top/lib -Wl,-rpath,$top/lib -llua5.5" \
    build/lua55/build/lunarray.so build/lua55/build/lunarray]]
-- What tells about compilers, installed files or MPI is the same for both; the
-- manual shows numbers with the digits of 5.4.
local NOT_FOR_55 = {"mpi/", "host/", "manual/"}

-- The specs on Lua 5.5 and a CPU path, the best by default. Returns the files
-- of those that are not for it, nil where there is no Lua 5.5.
local function lua55(path)
  local text, ok, status = capture("tools/lua55.sh build/lua55")
  if status == 3 then
    print("Lua 5.5 is left out: " .. text:match("[^\n]*"))
    return nil
  end
  if ok then text, ok = capture("{ " .. FOR_55 .. "\n}") end
  if not ok then
    print(text)
    count(0, 1)
    return nil
  end
  local lua = "build/lua55/bin/lua5.5"
  local rest, files = parted(NOT_FOR_55)
  files[#files + 1] = "spec/host/lua_versions_spec.lua"
  specs("Lua 5.5" .. (path and ", CPU path " .. path or ""), lua,
    (path and "LUNARRAY_CPU=" .. path or "")
    .. " LUNARRAY_PROGRAM=build/lua55/build/lunarray LUA=" .. lua
    .. " LUA_CPATH='build/lua55/build/?.so'", files, "spec/support/runner.lua")
  return rest
end

-- All specs on each path. One that is not the best takes Lua 5.5 where it is,
-- with the specs that are for both.
local function specs_each_path()
  local names = paths()
  for k, name in ipairs(names) do
    local files
    if k < #names and name:find "^avx512" then files = parted(PRODUCTS) end
    if k < #names and name == "avx2" then files = lua55(name) end
    stock("CPU path " .. name, "LUNARRAY_CPU=" .. name, files)
  end
  comma_locale()
end

-- A sanitizer's build: its own program runs busted.
local function sanitized(kind, options, wrapper)
  wrapper = wrapper or ""
  return function()
    local build = "build/" .. kind
    ctest(build, options .. " " .. wrapper, 1)
    -- specs that start a stock lua5.4 find the plain module
    specs(kind, wrapper .. build .. "/lunarray", options ..
      (" LUA_CPATH='build/?.so;;' LUNARRAY_PROGRAM=%s/lunarray"):format(build),
      nil, nil, 7200)
  end
end

local function valgrind()
  ctest("build/debug", "valgrind -q --error-exitcode=9 --leak-check=full "
    .. "--errors-for-leak-kinds=definite ")
end

-- The other compiler takes every source too; its code is not optimised, and
-- has assertions, red zones and a collector step at each push of a handle. Not
-- the specs about the collector's pace.
local CLANG_SPECS = "create copy view index iter print move reduce pointwise "
  .. "autograd fuse fuse_rows nn_modules optim archive help "
  .. "hardening_arguments hardening_views hardening_autograd"

local function clang()
  local build = "build/debug-clang"
  ctest(build)
  specs("debug build", os.getenv("LUA") or "lua5.4",
        ("LUNARRAY_PROGRAM=%s/lunarray LUA_CPATH='%s/?.so;;'")
          :format(build, build),
        named_specs(CLANG_SPECS))
end

-- Parts that are one job each: alone they run in this process, else in one of
-- their own. The number: the longest begin first.
local whole_parts = require "spec.support.whole_parts"
whole_parts.lint = {lint, 2}

local lists = {cross = {"aarch64", "mingw", "musl", "wasi"},
               embed = {"whole", "small", "no-lua"}}

local parts = {
  ctest = function() ctest("build") end,
  specs = function()
    stock("best CPU path", "")
    comma_locale()
  end,
  locale = comma_locale,
  lua55 = function() lua55() end,
  clang = clang,
  modules = modules,
  ["specs-each-path"] = specs_each_path,
  asan = sanitized("asan",
    "ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 "
    .. "LSAN_OPTIONS=suppressions=spec/support/lsan.supp:print_suppressions=0 "
    .. "UBSAN_OPTIONS=print_stacktrace=1"),
  ubsan = sanitized("ubsan", "UBSAN_OPTIONS=print_stacktrace=1"),
  -- Its shadow lies at fixed addresses, where the system may put others: not
  -- where it may be told not to choose.
  tsan = sanitized("tsan", "TSAN_OPTIONS=halt_on_error=0:memory_limit_mb=6000"
    .. ":allocator_may_return_null=1", "$(setarch -R true 2> /dev/null"
    .. " && echo setarch -R) "),
  valgrind = valgrind,
}

local wanted = {}
for _, name in ipairs(arg) do
  for _, part in ipairs(lists[name] or {name}) do
    if not parts[part] and not whole_parts[part] then
      io.stderr:write("run.lua: no part '" .. part .. "'\n")
      os.exit(2)
    end
    wanted[#wanted + 1] = part
  end
end
for _, name in ipairs(wanted) do
  local part = whole_parts[name]
  if not part then
    parts[name]()
  elseif #wanted == 1 then
    part[1]()
  else
    apart(name, part[2])
  end
end
run_jobs()

if #failures > 0 then
  print("== what failed")
  for k = 1, math.min(#failures, 40) do print(failures[k]) end
end
local line = ("%d passed, %d failed"):format(tally.passed, tally.failed)
local path = os.getenv("LUNARRAY_SUMMARY")
if path and exists(path:match("^(.*)/[^/]*$") or ".") then
  local file = assert(io.open(path, "w"))
  file:write(line, "\n")
  file:close()
else
  print(line)
end
os.exit(tally.failed == 0)
