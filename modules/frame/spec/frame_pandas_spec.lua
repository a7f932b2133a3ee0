-- la.frame against pandas: the cases of spec/golden/pandas.ndjson, each an
-- expression of Lua and the columns that pandas has for it; those of
-- random.ndjson, which have tables of their own; and the ten tasks of
-- tasks.ndjson, whose lines in Lua are at most 1.2 times those with pandas.
local la = require "lunarray"
local cells = require "modules.frame.spec.frame_cells"

local GOLDEN = "modules/frame/spec/golden/"
local F = la.frame

describe("la.frame, as pandas has it:", function()
  local env = {F = F}
  env.f = la.read_csv(GOLDEN .. "sales.csv", {dtypes = {when = "date"}})
  env.g = la.read_csv(GOLDEN .. "people.csv")
  for _, r in ipairs(cells.records(GOLDEN .. "pandas.ndjson")) do
    it(r.lua, function()
      cells.check(r, assert(load("return " .. r.lua, r.lua, "t", env))())
    end)
  end
end)

describe("la.frame, as pandas has random tables:", function()
  for k, r in ipairs(cells.records(GOLDEN .. "random.ndjson")) do
    it(k .. " " .. r.lua, function()
      local env = {F = F, la = la}
      assert(load(r.setup, r.setup, "t", env))()
      cells.check(r, assert(load("return " .. r.lua, r.lua, "t", env))())
    end)
  end
end)

-- Lines that are not blank.
local function lines(code)
  local n = 0
  for line in (code .. "\n"):gmatch "([^\n]*)\n" do
    n = n + (line:find "%S" and 1 or 0)
  end
  return n
end

describe("la.frame in ten tasks:", function()
  local path = GOLDEN .. "animals.csv"
  local all, theirs = 0, 0
  for _, r in ipairs(cells.records(GOLDEN .. "tasks.ndjson")) do
    it(r.task, function()
      local env = {la = la, F = F, path = path,
        f = la.read_csv(path, {dtypes = {day = "date"}}),
        owners = F{kind = {"cat", "dog"}, owner = {"Bo", "Ann"}}}
      assert(load(r.lua, r.task, "t", env))()
      cells.check(r, env.out)
      all, theirs = all + lines(r.lua), theirs + lines(r.pandas)
      assert.is_true(lines(r.lua) <= math.max(1, 1.2 * lines(r.pandas)))
    end)
  end

  it("in as many lines", function() assert.is_true(all <= 1.2 * theirs) end)
end)
