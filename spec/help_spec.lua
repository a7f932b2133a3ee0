-- Everything that users can call has a text, and the text is found.
local la = require "lunarray"

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

-- The table behind x.name, where the library keeps methods and properties.
local function methods()
  local index = debug.getregistry()["lunarray.Tensor"].__index
  for k = 1, 20 do
    local _, value = debug.getupvalue(index, k)
    if type(value) == "table" and value.sum then return value end
  end
end

describe("help", function()
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
    for _, name in ipairs(names(methods())) do
      if not known(name) then missing[#missing + 1] = name end
    end
    assert.same({}, missing)
  end)

  for _, part in ipairs{"nn", "optim", "data", "plot", "signal", "image"} do
    it("knows lunarray." .. part, function()
      local missing = {}
      for _, name in ipairs(names(require("lunarray." .. part))) do
        if not known(part .. "." .. name) then missing[#missing + 1] = name end
      end
      assert.same({}, missing)
    end)
  end

  for _, theme in ipairs{"fft", "linalg", "image", "signal", "special",
    "game"} do
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
    for _, part in ipairs{"fft", "signal", "nn", "optim"} do
      local text = la.help(part)
      assert.truthy(text:find("^" .. part .. ": %d+ functions"), part)
      for line in text:gmatch("[^\n]+") do assert.is_true(#line <= 79) end
    end
    assert.truthy(la.help("fft"):find(" irfft2,", 1, true))
    assert.truthy(la.help("nn"):find(" Linear,", 1, true))
  end)

  it("errors of a theme's member show the theme", function()
    local _, text = pcall(la.linalg.cross, 1)
    assert.truthy(text:find("'linalg.cross'", 1, true))
  end)

  it("shows signature and text, all overloads, other names", function()
    assert.truthy(la.help("add"):find("add(Tensor self, Tensor other", 1, true))
    assert.truthy(la.help("max"):find("dim", 1, true))
    assert.truthy(la.help("clip"):find("another name of clamp", 1, true))
    assert.truthy(la.help("add_"):find("add(Tensor self", 1, true))
    assert.truthy(la.help("nn.Linear"):find("in_features", 1, true))
    assert.truthy(la.help("la.fuse"):find("one pass", 1, true))
    assert.equal(la.help("fft.fft"), la.help("la.fft.fft"))
    assert.equal(la.help("add"), la.help("la.add"))
    assert.truthy(la.help("no such"):find("nothing is known", 1, true))
    assert.truthy(la.help("cat"):find("dim dim=1)", 1, true))
    assert.truthy(la.help("rot90"):find("int k=1, dim[] dims=[1, 2])", 1,
      true))
    assert.truthy(la.help("flatten"):find("start_dim=1, dim end_dim=-1)", 1,
      true))
    assert.truthy(la.help("diagonal"):find("int offset=0, dim dim1=1, dim "
      .. "dim2=2)", 1, true))
    for _, op in ipairs(la.operations()) do
      assert.falsy(op.signature:find("dim[%d]?=0"), op.signature)
    end
    local ok, message = pcall(la.help, 3)
    assert.is_false(ok)
    assert.truthy(message:find("name of an operation or function expected, "
      .. "got number", 1, true))
  end)
end)
