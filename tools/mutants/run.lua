-- Plants mistakes in a copy of the tree and says which of them the suite finds:
--   make mutants MUTANTS="--seed 2 --count 100 --path src/grad"
-- Options:
--   --seed N      which mistakes are drawn (1)
--   --count N     how many (300); from one folder after another
--   --path TEXT   in paths with this pattern alone
--   --rest N      specs that do not touch the file run for so many seconds of
--                 the processor, the quickest first (all; 0: none)
--   --most N      the same of those that do, and of C tests (all)
--   --part K/N    every N-th mistake from the K-th on, in a tree of its own: so
--                 several runs can share the processors
--   --survivors   no new mistakes: those that were alive, once more
--   --at FILE:N,  every mistake of these lines, which do not count
--   --page        only writes the page anew
-- A mistake is killed when a spec or a C test fails, or does not come to its
-- end in eight times the time that it takes without, and ten seconds. What has
-- found mistakes in the same file or folder before runs first. Results are
-- kept in build/mutants/results.tsv until 'make clean', and all of them stand
-- on bench/MUTANTS.md.
package.path = "tools/mutants/?.lua;" .. package.path
local plant = require "plant"
local tree = require "tree"
local specs = require "specs"
local results = require "results"
local known = require "known"
local page = require "page"

local PAGE = "bench/MUTANTS.md"
local RUNS = "build/mutants/runs.txt"
local BASELINE = "build/mutants/baseline.tsv"

local options = {seed = 1, count = 300, path = "", rest = math.huge,
                 most = math.huge, part = "1/1", at = false}

local TEXTS = {path = true, part = true, at = true}

local function read_options()
  local i = 1
  while arg[i] do
    local name = arg[i]:match("^%-%-(%l+)$")
    if name == "survivors" or name == "page" then
      options[name] = true
    elseif options[name] ~= nil and arg[i + 1] then
      i = i + 1
      options[name] = TEXTS[name] and arg[i]
        or assert(tonumber(arg[i]), "--" .. name .. ": no number")
    else
      error("unknown option " .. arg[i], 0)
    end
    i = i + 1
  end
end

local function say(...)
  print(string.format(...))
  io.stdout:flush()
end

---------------------------------------------------------------------------
-- Specs and their times

-- These read the sources or build them: they find any change, or none.
local LEFT_OUT = {["spec/host/cross_spec.lua"] = true,
                  ["spec/host/header_spec.lua"] = true,
                  ["spec/host/embed_spec.lua"] = true,
                  ["spec/lint/mutants_spec.lua"] = true}

local function each_spec()
  local _, text = tree.shell("find spec modules -name '*_spec.lua' | LC_ALL=C "
    .. "sort")
  local list = {}
  for path in text:gmatch("[^\n]+") do
    if not LEFT_OUT[path] then list[#list + 1] = path end
  end
  return list
end

-- What is on the list of times goes to 'times'; other runs write there too.
local function read_times(times)
  local file = io.open(BASELINE)
  if not file then return times end
  for line in file:lines() do
    local path, status, seconds = line:match("^(.-)\t(%d+)\t([%d.]+)$")
    times[path] = status == "0" and tonumber(seconds)
  end
  file:close()
  return times
end

local function note_time(times, name, ok, seconds)
  local file = assert(io.open(BASELINE, "a"))
  file:write(("%s\t%d\t%.2f\n"):format(name, ok and 0 or 1, seconds))
  file:close()
  times[name] = ok and seconds
end

-- A spec once without a mistake; false in 'times' for one that fails, which
-- finds nothing.
local function measure(path, times)
  local ok, seconds = tree.clean_spec(path, 900)
  note_time(times, path, ok, seconds)
  if not ok then say("left out, as it fails anyway: %s", path) end
end

---------------------------------------------------------------------------
-- One mistake

-- Seconds of the processor that a spec may take.
local function patience(seconds)
  return math.ceil(10 + 8 * (seconds or 2))
end

local function found_by(name, ok, _, late)
  return not ok and name .. (late and " (time)" or "") or nil
end

-- A spec with the mistake. One that was never timed passes without it as a
-- rule, and is run without it only where it fails.
local function run_spec(name, times)
  if times[name] == nil then read_times(times) end
  if times[name] == false then return nil end
  local ok, seconds, late = tree.spec(name, patience(times[name]))
  if times[name] == nil then
    if ok then
      note_time(times, name, ok, seconds)
    else
      measure(name, times)
      if not times[name] then return nil end
      if late then
        ok, seconds, late = tree.spec(name, patience(times[name]))
      end
    end
  end
  return found_by(name, ok, seconds, late)
end

-- Who of 'list' finds the mistake, specs and C tests (test_name).
local function run_all(site, list, times, budget)
  local spent = 0
  for _, name in ipairs(list) do
    spent = spent + (times[name] or 1)
    if spent > budget then return nil end
    local by
    if name:find("/", 1, true) then
      by = run_spec(name, times)
    elseif tree.build_test(site.path, name) then
      local ok, seconds, late = tree.test(name, 60)
      if ok then note_time(times, name, ok, seconds) end
      by = found_by(name, ok, seconds, late)
    end
    if by then return by end
  end
end

local GOLDEN = "spec/registry/golden_spec.lua"
local GRADS = "spec/registry/derivatives_spec.lua"

-- Operations with golden records, those of modules too.
local recorded = {}
local _, golden = tree.shell("find spec modules -name '*.jsonl'")
for name in golden:gmatch("golden/([%w_]+)%.jsonl") do recorded[name] = true end

local function exists(name) return recorded[name] end

-- The records and derivatives of the operations that the source names alone.
local function by_operations(site)
  local names = specs.operations(tree.text(site.path), exists)
  if #names == 0 or #names > 40 then return nil end
  local list = table.concat(names, ",")
  for spec, variable in pairs({[GOLDEN] = "LUNARRAY_GOLDEN",
                               [GRADS] = "LUNARRAY_GRAD"}) do
    local by = found_by(spec, tree.spec(spec, patience(10),
      ("%s=%s "):format(variable, list)))
    if by then return by end
  end
end

-- Order of 'list': first what has found most mistakes per second of its time,
-- in this file before, then in its folder.
local function proven_first(list, path, times)
  local found, folder = {}, page.folder_of(path)
  for _, site in ipairs(results.all()) do
    local weight = site.path == path and 100
      or page.folder_of(site.path) == folder and 1 or 0
    found[site.by] = (found[site.by] or 0) + weight
  end
  local rank = {}
  for k, spec in ipairs(list) do
    rank[spec] = {(found[spec] or 0) / ((times[spec] or 1) + 0.2), k}
  end
  table.sort(list, function(a, b)
    local x, y = rank[a], rank[b]
    if x[1] ~= y[1] then return x[1] > y[1] end
    return x[2] < y[2]
  end)
end

-- Who finds the mistake, or nil.
local function finder(site, all, times)
  local by = by_operations(site)
  if by then return by end
  local first = specs.of(site.path, all, times)
  proven_first(first, site.path, times)
  by = run_all(site, first, times, options.most)
  if by or options.rest == 0 then return by end
  local seen, rest = {}, {}
  for _, path in ipairs(first) do seen[path] = true end
  for _, path in ipairs(all) do
    if not seen[path] then rest[#rest + 1] = path end
  end
  specs.quick_first(rest, times)
  return run_all(site, rest, times, options.rest)
end

-- False where the mistake does not compile.
local function try(site, all, times)
  local text = plant.into(tree.text(site.path), site)
  if not text then return false end
  local built, why = tree.plant(site.path, text)
  site.verdict, site.by = nil, nil
  if built == "same" then
    site.verdict = "same"
  elseif built then
    site.by = finder(site, all, times)
    site.verdict = site.by and "killed" or "alive"
  end
  if tree.kept then tree.restore() end
  if not built then return false, why end
  if not options.at then results.add(site) end
  return true
end

---------------------------------------------------------------------------
-- Which ones

-- What does not run here: other systems, ISA extensions, texts of the help.
local NOT_HERE = {"/os_[wm]", "^src/base/os/windows", "^src/kernel/amx/",
  "^src/kernel/avx512_bf16/", "^lua/lunarray/words", "/words%.lua$",
  "/spec/", "^src/op/def/", "ops%.def$", "aliases%.def$", "theme%.def$",
  "binding%.def$"}

local function runs_here(path)
  for _, pattern in ipairs(NOT_HERE) do
    if path:find(pattern) then return false end
  end
  return path:find(options.path) ~= nil
end

-- Sources by folder: {name, files = {{path, size}}, total}.
local function folders()
  local by_name, list = {}, {}
  for path, size in tree.sources() do
    if runs_here(path) then
      local name = page.folder_of(path)
      if not by_name[name] then
        by_name[name] = {name = name, files = {}, total = 0}
        list[#list + 1] = by_name[name]
      end
      local folder = by_name[name]
      folder.total = folder.total + size
      table.insert(folder.files, {path = path, size = size})
    end
  end
  return list
end

local sites_of = {}
local function sites(path)
  if not sites_of[path] then
    sites_of[path] = plant.sites(tree.text(path), plant.language_of(path))
  end
  return sites_of[path]
end

-- A file by its bytes, a rule that it has, a site of the rule; nil where it has
-- none.
local function draw(folder)
  local at, file = math.random(folder.total), nil
  for _, f in ipairs(folder.files) do
    file = f
    at = at - f.size
    if at <= 0 then break end
  end
  local by_rule, rules = {}, {}
  for _, site in ipairs(sites(file.path)) do
    if not by_rule[site.rule] then
      by_rule[site.rule] = {}
      rules[#rules + 1] = site.rule
    end
    table.insert(by_rule[site.rule], site)
  end
  if #rules == 0 then return nil end
  local some = by_rule[rules[math.random(#rules)]]
  local site = some[math.random(#some)]
  site.path = file.path
  return site
end

local function report(site, number)
  say("%4d  %-7s %s:%d  %s%s", number, site.verdict, site.path, site.line,
      site.rule, site.by and "  by " .. site.by or "")
  if site.verdict == "alive" then
    say("        %s\n     -> %s", site.old:match("^%s*(.*)"),
        site.new:match("^%s*(.*)"))
  end
end

local function plant_new(all, times)
  math.randomseed(options.seed)
  local list, number, tries = folders(), 0, 0
  local part, parts = options.part:match("^(%d+)/(%d+)$")
  part, parts = tonumber(part), assert(tonumber(parts), "--part: K/N")
  assert(#list > 0, "no source has this path")
  local done = {}
  for _, site in ipairs(results.all()) do done[results.key(site)] = true end
  while number < options.count and tries < 20 * options.count do
    local site = draw(list[tries % #list + 1])
    tries = tries + 1
    local key = site and results.key(site)
    if not site or done[key] then     -- a run that goes on
      number = number + (site and 1 or 0)
    elseif tries % parts ~= part % parts then
      number = number + 1             -- that of another run
      done[key] = true
    else
      done[key] = true
      site.run = "seed " .. math.tointeger(options.seed)
      if try(site, all, times) then
        number = number + 1
        report(site, number)
      end
    end
  end
end

local function plant_again(all, times)
  local number = 0
  for _, site in ipairs(results.all()) do
    if site.verdict == "alive" and site.path:find(options.path)
        and not known.reason(site) then
      number = number + 1
      if not tree.has(site.path)
          or not plant.into(tree.text(site.path), site) then
        site.verdict = "gone"
        results.add(site)
        report(site, number)
      elseif try(site, all, times) then
        report(site, number)
      end
    end
  end
end

local function plant_line(path, line, all, times)
  for k, site in ipairs(sites(path)) do
    if site.line == line then
      site.path = path
      local ok, why = try(site, all, times)
      if ok then report(site, k)
      else say("does not compile: %s\n%s", site.new, why or "") end
    end
  end
end

local function plant_lines(all, times)
  for one in options.at:gmatch("[^,]+") do
    local path, line = one:match("^(.+):(%d+)$")
    assert(path, "--at: FILE:N, ...")
    plant_line(path, tonumber(line), all, times)
  end
end

local function write_page()
  local runs = {}
  local file = io.open(RUNS)
  for line in file and file:lines() or function() end do
    runs[#runs + 1] = line
  end
  if file then file:close() end
  tree.write(PAGE, page.text(results.all(), runs))
end

local function note_run()
  local file = assert(io.open(RUNS, "a"))
  file:write('make mutants MUTANTS="' .. table.concat(arg, " ") .. '"\n')
  file:close()
end

local function main()
  read_options()
  if options.page then return write_page() end
  tree.shell("mkdir -p build/mutants")
  if not options.at then note_run() end
  tree.root = tree.root .. (options.at and "-at"
    or options.part:gsub("/", "of"))
  tree.copy()
  local all, times = each_spec(), read_times({})
  if options.at then return plant_lines(all, times) end
  if options.survivors then plant_again(all, times)
  else plant_new(all, times) end
  write_page()
end

main()
