-- The text of tensors: PyTorch's, line by line.
local la = require "lunarray"

local inf, nan = math.huge, 0 / 0

local function prints(text, x) assert.same(text, tostring(x)) end

describe("printing", function()
  after_each(function() la.set_printoptions {profile = "default"} end)

  it("aligns values", function()
    prints("tensor([ 1, -2, 33])", la.tensor {1, -2, 33})
    prints("tensor([ 1.5000, -2.0000,  3.2500])", la.tensor {1.5, -2, 3.25})
    prints("tensor([1., 2.])", la.tensor {1.0, 2.0})
    prints("tensor([[1, 2],\n        [3, 4]])", la.tensor {{1, 2}, {3, 4}})
    prints("tensor([ True, False])", la.tensor {true, false})
  end)

  it("tells what cannot be seen", function()
    prints("tensor([1.], dtype=float64)", la.ones(1, {dtype = "float64"}))
    prints("tensor([1], dtype=int32)", la.ones(1, {dtype = "int32"}))
    prints("tensor([])", la.zeros(0))
    prints("tensor([], dtype=int64)", la.zeros(0, {dtype = "int64"}))
    prints("tensor([], size=(0, 3))", la.zeros(0, 3))
    prints("tensor(..., device='meta', size=(2, 3))",
      la.zeros(2, 3, {device = "meta"}))
    prints("tensor([[1.]], names=('N', 'C'))",
      la.ones(1, 1, {names = {"N", "C"}}))
  end)

  it("shows single values", function()
    prints("tensor(7)", la.tensor(7))
    prints("tensor(2.5000)", la.tensor(2.5))
    prints("tensor(True)", la.tensor(true))
  end)

  it("chooses exponents by the span of values", function()
    prints("tensor([1.0000e-05, 1.0000e+00])", la.tensor {1e-5, 1.0})
    prints("tensor([1.0000e+09])", la.tensor {1e9})
    prints("tensor([100000000.])", la.tensor {1e8})
    prints("tensor([9.9999e-05])", la.tensor({9.9999e-5}))
    prints("tensor([   1.5000, 1000.0000])", la.tensor {1.5, 1000})
  end)

  it("leaves zeros, nan and inf out of the choice", function()
    prints("tensor([nan, inf, -inf])", la.tensor {nan, inf, -inf})
    prints("tensor([1.5000,    nan,   -inf, 0.0000])",
      la.tensor {1.5, nan, -inf, 0.0})
    prints("tensor([0., -0.])", la.tensor {0.0, -0.0})
    prints("tensor([1.4013e-45])", la.tensor {1e-45})
  end)

  it("writes complex numbers", function()
    local z = la.view_as_complex(la.tensor {{1.5, -2.0}, {3.0, 4.0}})
    prints("tensor([1.5000-2.j, 3.0000+4.j])", z)
    prints("tensor([1.5000+2.j, 3.0000-4.j])", z:conj())
  end)

  it("summarises large tensors", function()
    prints("tensor([0., 0., 0.,  ..., 0., 0., 0.])", la.zeros(1001))
    assert.is_nil(tostring(la.zeros(1000)):find("...", 1, true))
    local text = tostring(la.zeros(50, 50))
    local _, lines = text:gsub("\n", "\n")
    assert.same(6, lines)
    assert.truthy(text:find("\n        ...,\n", 1, true))
  end)

  it("separates matrices by empty lines", function()
    prints("tensor([[[0, 1]],\n\n        [[2, 3]]])",
      la.arange(4):view(2, 1, 2))
  end)

  it("breaks rows at the line width", function()
    for line in tostring(la.arange(100)):gmatch("[^\n]+") do
      assert.truthy(#line <= 80)
    end
    la.set_printoptions {linewidth = 20}
    prints("tensor([0, 1, 2, 3,\n        4, 5])", la.arange(6))
  end)

  it("obeys its options", function()
    la.set_printoptions {precision = 2}
    prints("tensor([0.33])", la.tensor {1 / 3})
    la.set_printoptions {sci_mode = true}
    prints("tensor([3.33e-01])", la.tensor {1 / 3})
    la.set_printoptions {sci_mode = false}
    prints("tensor([1000000000.])", la.tensor {1e9})
    la.set_printoptions {threshold = 3, edgeitems = 1}
    prints("tensor([0,  ..., 3])", la.arange(4))
    la.set_printoptions {profile = "default"}
    prints("tensor([0, 1, 2, 3])", la.arange(4))
    assert.has_error(function() la.set_printoptions {width = 3} end)
    assert.has_error(function() la.set_printoptions {precision = -1} end)
    assert.has_error(function() la.set_printoptions {precision = "4"} end)
  end)

  it("prints every dtype", function()
    for _, dtype in ipairs {"uint8", "int8", "int16", "int32", "int64",
      "uint16", "uint32", "uint64"} do
      local tail = dtype == "int64" and "" or ", dtype=" .. dtype
      prints("tensor([1]" .. tail .. ")", la.ones(1, {dtype = dtype}))
    end
    for _, dtype in ipairs {"float16", "bfloat16", "float64"} do
      prints("tensor([1.], dtype=" .. dtype .. ")", la.ones(1, {dtype = dtype}))
    end
    assert.truthy(tostring(la.zeros(1, {dtype = "complex32"}))
      :find("0.+0.j", 1, true))
  end)

  it("is the same in a comma locale", function()
    local old = os.setlocale()
    for _, name in ipairs {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL"} do
      if os.setlocale(name) then break end
    end
    local text = tostring(la.tensor {1.5})
    os.setlocale(old)
    assert.same("tensor([1.5000])", text)
  end)
end)
