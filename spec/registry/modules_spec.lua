-- What the folders of modules/ say is in the build, of those that it has, and
-- not in it of the others. `make test` runs this with each module alone, too.
local la = require "lunarray"
local rows = require "lunarray.help.rows"
local modules = require "spec.support.modules"

local is_here = {}
for _, name in ipairs(modules.names) do is_here[name] = true end

local function text(path)
  local file = io.open(path)
  if not file then return "" end
  local content = file:read "a"
  file:close()
  return content
end

local function words_of(name) return "lunarray.words." .. name end

describe("modules", function()
  it("bring their operations, and those that are left out none", function()
    local known, wrong = {}, {}
    for _, op in ipairs(la.operations()) do known[op.name] = true end
    for _, name in ipairs(modules.every) do
      local table_of_rows = text(("modules/%s/ops.def"):format(name))
      for row in table_of_rows:gmatch '\nOP%(.-"([%w_]+)[.(]' do
        if (known[row] or false) ~= (is_here[name] or false) then
          wrong[#wrong + 1] = name .. ": " .. row
        end
      end
    end
    assert.same({}, wrong)
  end)

  it("bring their words, all of which exist", function()
    local all, wrong = rows.all(), {}
    for _, name in ipairs(modules.every) do
      local found, page = pcall(require, words_of(name))
      local has = text(("modules/%s/words.lua"):format(name)) ~= ""
      assert.equal(has and is_here[name] or false, found, name)
      for _, entry in ipairs(found and rows.parse(page, name) or {}) do
        for _, word in ipairs(entry.names) do
          local row = all.by_name[word]
          if not row or row.family ~= name then wrong[#wrong + 1] = word end
        end
      end
    end
    assert.same({}, wrong)
    assert.same({}, all.unknown)
  end)

  it("bring their themes and functions", function()
    for _, name in ipairs(modules.every) do
      local folder = ("modules/%s/"):format(name)
      for theme in text(folder .. "theme.def"):gmatch "MODULE_THEME%((%w+)" do
        assert.equal(is_here[name] and "table" or "nil", type(la[theme]))
      end
    end
    for name in (os.getenv "LUNARRAY_ALONE" or ""):gmatch "%S+" do
      assert.is_true(is_here[name], name)
    end
  end)
end)
