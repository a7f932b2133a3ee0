-- The pages of the reference have every word, and their links lead somewhere.
local reference = require "tools.reference"
local rows = require "lunarray.help.rows"

local files = reference.files()

-- The headings of a page by their anchors, by GitHub's rules: small letters,
-- digits, "_" and "-"; blanks become "-"; a second one of a name gets "-1".
local function anchors_of(text)
  local found, count, code = {}, {}, false
  for line in text:gmatch("[^\n]*") do
    if line:find("^```") then code = not code end
    local title = not code and line:match("^#+ (.*)$")
    if title then
      title = title:gsub("%[(.-)%]%b()", "%1"):gsub("\\(%p)", "%1")
      local slug = title:lower():gsub("[^%w_ -]", ""):gsub(" ", "-")
      local n = count[slug]
      count[slug] = (n or 0) + 1
      found[n and slug .. "-" .. n or slug] = title
    end
  end
  assert.is_false(code, "a block of code is open at the end")
  return found
end

describe("the reference", function()
  local anchors = {}
  for name, text in pairs(files) do
    if name:find("%.md$") then anchors[name] = anchors_of(text) end
  end

  it("has a heading for every word, where the index says", function()
    local where = {}
    for name, file, anchor in files["index.json"]:gmatch(
      '{"word": "([^"]*)", "page": "([^"#]*)#([^"]*)"') do
      where[name] = {file, anchor}
    end
    for _, row in ipairs(rows.all().list) do
      local at = where[row.name]
      assert.truthy(at, row.name)
      local title = anchors[at[1]][at[2]]
      assert.truthy(title and title:find(row.name, 1, true), row.name)
    end
  end)

  it("has links that lead to words", function()
    local count, wrong = 0, {}
    for name, text in pairs(files) do
      for file, anchor in text:gmatch("%]%(([%w_.-]*)#([^)]*)%)") do
        count = count + 1
        if not (anchors[file == "" and name or file] or {})[anchor] then
          wrong[#wrong + 1] = name .. ": " .. file .. "#" .. anchor
        end
      end
    end
    assert.same({}, wrong)
    assert.is_true(count > 3 * #rows.all().list)
  end)

  it("tells arguments, facts and the example of a word", function()
    local text = files["reference-reduce.md"]:match("\n## cumsum\n.-\n## ")
    assert.truthy(text:find("x:cumsum(dim[, {dtype =}]) -> tensor", 1, true))
    assert.truthy(text:find("| `dim` | dim |  |", 1, true), text)
    assert.truthy(text:find("gradient: yes", 1, true))
    assert.truthy(text:find("\n> la.", 1, true))
  end)

  it("shows signs of Markdown as they are", function()
    assert.equal("a \\* b\\_c \\<d\\> \\[1\\]",
      (reference.escape("a * b_c <d> [1]")))
    assert.equal("\\- a", (reference.escape("- a")))
    assert.equal("\\# a", (reference.escape("# a")))
  end)
end)
