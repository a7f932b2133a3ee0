-- Everything that users can call has a text, and the text is found.
local la = require "lunarray"
local modules = require "spec.support.modules"
local help = require "lunarray.help"
local page = require "lunarray.help.page"
local rows = require "lunarray.help.rows"
local reach = require "spec.support.reach"

local function known(name)
  return not la.help(name):find("^nothing is known")
end

local function names(t)
  local list = {}
  for k in pairs(t) do
    if type(k) == "string" and not k:find("^_") then list[#list + 1] = k end
  end
  table.sort(list)
  return list
end

local function methods_of_tensor() return names(reach.methods()) end

-- What a page has to say of a row, in its order.
local function parts_of(row)
  local e, parts = row.entry, {}
  local function add(text)
    if text and text ~= "" then parts[#parts + 1] = text end
  end
  for k, op in ipairs(row.ops or {}) do
    add(row.signatures[k])
    add(page.doc(op))
  end
  add(e.text)
  for _, text in ipairs(e.notes) do add(text) end
  for _, text in ipairs(e.errors) do add("errors: " .. text) end
  if row.ops then
    local forms = page.forms(row)
    if forms ~= "" then add("also: " .. forms) end
    add("dtypes: " .. page.dtypes(row.ops[1].dtypes))
  end
  if #row.aliases > 0 then
    add("other names: " .. table.concat(row.aliases, ", "))
  end
  add(e.source and "source: " .. e.source)
  add(e.see and "see: " .. e.see)
  for _, step in ipairs(e.example) do
    add("> " .. step.code:gsub("\n", "\n>> "))
    add(step.output)
  end
  return parts
end

local function close_up(text) return (text:gsub("[%s`]+", "")) end

describe("help", function()
  it("says all that is written of a word, in order", function()
    local count = 0
    for _, row in ipairs(rows.all().list) do
      local text, at = close_up(page.text(row)), 1
      for _, part in ipairs(parts_of(row)) do
        local _, e = text:find(close_up(part), at, true)
        assert.truthy(e, ("'%s' is missing in\n%s"):format(part,
          page.text(row)))
        at, count = e + 1, count + 1
      end
    end
    assert.is_true(count > 3000, count)
  end)

  it("knows every function of the module", function()
    local missing = {}
    for _, name in ipairs(names(la)) do
      if type(la[name]) == "function" and not known(name) then
        missing[#missing + 1] = name
      end
    end
    assert.same({}, missing)
  end)

  it("knows every method and property of a tensor", function()
    local missing = {}
    for _, name in ipairs(names(reach.methods())) do
      if not known(name) then missing[#missing + 1] = name end
    end
    assert.same({}, missing)
  end)

  for _, part in ipairs{"nn", "optim", "data", "plot", "signal", "image"} do
    modules.needing(modules.of(part), it)("knows lunarray." .. part,
    function()
      local missing = {}
      for _, name in ipairs(names(require("lunarray." .. part))) do
        if not known(part .. "." .. name) then missing[#missing + 1] = name end
      end
      assert.same({}, missing)
    end)
  end

  local themes = {}
  for name, value in pairs(la) do
    if type(value) == "table" then themes[#themes + 1] = name end
  end
  table.sort(themes)

  for _, theme in ipairs(themes) do
    it("knows la." .. theme, function()
      local missing = {}
      for _, name in ipairs(names(la[theme])) do
        if not known(theme .. "." .. name) then missing[#missing + 1] = name end
      end
      assert.same({}, missing)
      assert.falsy(known(theme .. ".no_such_name"))
    end)
  end

  it("lists the members of themes and modules", function()
    for _, part in ipairs{"fft", "linalg", "nn", "optim"} do
      local text = la.help(part)
      assert.truthy(("\n" .. text):find("\n" .. part .. ": %d+ functions"),
        part)
    end
    assert.truthy(la.help("fft"):find(" irfft2,", 1, true))
    assert.truthy(la.help("nn"):find(" Linear,", 1, true))
  end)

  it("errors of a theme's member show the theme", function()
    local _, text = pcall(la.linalg.cross, 1)
    assert.truthy(text:find("'linalg.cross'", 1, true))
  end)

  it("shows calls and text, all overloads, other names", function()
    assert.truthy(la.help("add"):find("^x:add%(other%[, {alpha = 1}%]%)"))
    assert.truthy(la.help("add"):find("x + alpha * other", 1, true))
    assert.truthy(la.help("max"):find("x:max(dim[, keepdim = false])", 1, true))
    assert.truthy(la.help("max"):find("values: tensor, indices: tensor", 1,
      true))
    assert.truthy(la.help("clip"):find("another name of clamp", 1, true))
    assert.equal(la.help("add_"), la.help("add"))
    assert.equal(la.help("x:add"), la.help("add"))
    assert.truthy(la.help("nn.Linear"):find("in_features", 1, true))
    assert.truthy(la.help("la.fuse"):find("one pass", 1, true))
    assert.equal(la.help("fft.fft"), la.help("la.fft.fft"))
    assert.equal(la.help("add"), la.help("la.add"))
    assert.truthy(la.help("cat"):find("dim = 1]", 1, true))
    assert.truthy(la.help("rot90"):find("[k = 1, dims = {1, 2}]", 1, true))
    assert.truthy(la.help("flatten"):find("[start_dim = 1, end_dim = -1]", 1,
      true))
    assert.truthy(la.help("diagonal"):find("dim1 = 1, dim2 = 2]", 1, true))
    for _, op in ipairs(la.operations()) do
      assert.falsy(op.signature:find("dim[%d]?=0"), op.signature)
    end
  end)

  it("tells what is near to a name that nobody has", function()
    assert.truthy(la.help("no such"):find("^nothing is known"))
    assert.truthy(la.help("sofmax"):find("did you mean softmax", 1, true))
    assert.truthy(la.help("nn.Liner"):find("nn.Linear", 1, true))
    assert.truthy(la.help():find("la.help(\"sum\")", 1, true))
    local ok, message = pcall(la.help, 3)
    assert.is_false(ok)
    assert.truthy(message:find("name of an operation or function expected, "
      .. "got number", 1, true))
  end)

  it("fits into 79 columns", function()
    for _, row in ipairs(rows.all().list) do
      for line in help.text(row.name):gmatch("[^\n]+") do
        assert.is_true((utf8.len(line) or #line) <= 79, row.name)
      end
    end
  end)
end)

-- The interface that completion, "?" and errors stand on.
describe("the table of words", function()
  it("has no word of what does not exist, and none twice", function()
    assert.same({}, rows.all().unknown)
  end)

  it("names what can follow an owner", function()
    local found = help.names("tensor", "is_co")
    assert.truthy(found.is_contiguous and found.is_complex and found.is_conj)
    found = help.names("tensor")
    for _, name in ipairs(methods_of_tensor()) do
      if name ~= "..." then assert.truthy(found[name], name) end
    end
    found = help.names("la")
    for name, value in pairs(la) do
      local theme = name:match("^(%l+)_%w")
      if type(value) == "function" and not name:find("^_")
        and type(rawget(la, theme or 1)) ~= "table" then
        assert.truthy(found[name], name)
      end
    end
    assert.truthy(help.names("fft").rfft and help.names("special").expit)
    assert.truthy(help.names("nn", "Lin").Linear)
    assert.falsy(help.names("nn", "Lin").ReLU)
    assert.same({}, help.names("nobody"))
  end)

  it("knows keywords, with defaults, of all overloads", function()
    local found = {}
    for _, k in ipairs(help.keywords("x:sum")) do found[k.name] = k end
    assert.equal("false", found.keepdim.default)
    assert.truthy(found.dim and found.dtype and found.out)
    assert.falsy(found.self)
    found = {}
    for _, k in ipairs(help.keywords("nn.Conv2d")) do found[k.name] = k end
    assert.truthy(found.stride and found.padding)
    assert.falsy(found.in_channels)
    assert.is_nil(help.keywords("nobody"))
  end)

  it("knows what a call gives", function()
    assert.equal("tensor", help.returns("la.zeros"))
    assert.equal("tensor", help.returns("max"))
    assert.equal("list of tensors", help.returns("split"))
    assert.equal("nn.Linear", help.returns("nn.Linear"))
    assert.is_nil(help.returns("nobody"))
  end)

  it("finds mistyped names and searches texts", function()
    assert.equal("softmax", help.near("sofmax")[1])
    assert.equal("reshape", help.near("rehsape", "tensor")[1])
    assert.same({}, help.near("qqqqqqqq"))
    assert.equal("fft.fft", help.search("fft.fft")[1].name)
    assert.truthy(#help.search("Fourier") > 0)
    assert.same({}, help.search("no such word at all"))
  end)
end)
