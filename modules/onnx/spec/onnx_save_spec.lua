-- la.onnx.save of all modules and of functions: files for two opsets, as they
-- are and as programs, which the library reads again, to the same numbers.
-- tools/differential/onnx_files.py asks onnxruntime for the same.
local la = require "lunarray"
local nn = require "lunarray.nn"
local list = require "modules.onnx.spec.support.exports"
local raises = require "spec.support.raises"

-- That la.onnx.save itself compares what it wrote is tested below.
local function saves(f, inputs, opset)
  local bytes = la.onnx.save(f, nil, inputs, {opset = opset})
  local file = la.onnx.read(bytes, {bytes = true})
  assert.equal(opset, file.opset_import[1].version)
end

describe("onnx.save", function()
  for _, row in ipairs(list) do
    it("writes " .. row[1], function()
      local f, inputs = row[2], row[3]
      if nn.is_module(f) then f:eval() end
      local compiled = la.compile(function(...) return f(...) end)
      local is_program = pcall(la.no_grad, compiled, table.unpack(inputs))
      for _, opset in ipairs{17, 21} do
        saves(f, inputs, opset)
        if is_program then saves(compiled:program(), inputs, opset) end
      end
    end)
  end

  it("tries every module of lunarray.nn", function()
    local tried = {}
    for _, row in ipairs(list) do tried[row[1]:match "%w+"] = true end
    -- What holds others, windows at random, a sum over all alignments.
    for name in ([[Module ModuleDict ModuleList ParameterList Sequential
      Parameter FractionalMaxPool2d FractionalMaxPool3d CTCLoss]])
      :gmatch "%w+" do
      tried[name] = true
    end
    local missing = {}
    for name in pairs(nn) do
      if name:find "^%u" and not tried[name] then
        missing[#missing + 1] = name
      end
    end
    assert.same({}, missing)
  end)

  it("takes a program that was loaded", function()
    local path = os.tmpname() .. ".laprog"
    local net = nn.Sequential(nn.Linear(3, 4), nn.Tanh()):eval()
    local step = la.compile(function(x) return net(x) end)
    local x = la.randn(2, 3)
    local want = la.no_grad(step, x)
    la.save(step, path, {names = {weight = net[1].weight}})
    local program = la.load(path)
    os.remove(path)
    local bytes = la.onnx.save(program, nil, x)
    local m = la.onnx.load(bytes, {bytes = true})
    assert.is_true(la.allclose(m(x), want))
    assert.truthy(m:state_dict().weight)
    raises("sizes [2, 3] expected", la.onnx.save, program, nil, la.ones(5, 3))
  end)

  it("gives a program one input for a tensor that it got twice", function()
    local add = la.compile(function(x, y) return x * y end)
    local x = la.randn(3)
    add(x, x)
    local m = la.onnx.load(la.onnx.save(add:program(), nil, {x, x}),
      {bytes = true})
    assert.equal(1, #m:inputs())
    assert.is_true(la.allclose(m(x), x * x))
  end)

  it("leaves inputs as they are", function()
    local x = la.zeros(3)
    local m = la.onnx.load(la.onnx.save(function(t) return t:add_(1) end, nil,
      x), {bytes = true})
    assert.is_true(x == la.zeros(3))
    assert.is_true(m(x) == la.ones(3))
  end)
end)

describe("what onnx.save refuses", function()
  local function refused(pattern, f, ...)
    raises(pattern, la.onnx.save, f, nil, {...})
  end

  it("are operations without a form, by name, if a result needs them",
    function()
      refused("no ONNX form: inv, digamma", function(x)
        return la.linalg.inv(x):digamma()
      end, la.eye(2))
      local m = la.onnx.load(la.onnx.save(function(x)
        local _ = x:digamma()
        return x + 1
      end, nil, la.ones(2)), {bytes = true})
      assert.is_true(m(la.ones(2)) == la.full({2}, 2.0))
    end)

  it("are writes where another tensor shares the memory", function()
    refused("in place, where another tensor shares the memory", function(x)
      local z = x:clone()
      local part = z[1]
      part:fill_(3)
      return z
    end, la.ones(2, 2))
    local w = la.zeros(2)
    refused("in place, on a tensor from outside", function(x)
      return w:add_(x)
    end, la.ones(2))
  end)

  it("are values that Lua read", function()
    refused("right for these inputs alone", function(x)
      return x * x[1]:item()
    end, la.tensor{1.0, 2.0})
    local bytes = la.onnx.save(function(x) return x * x[1]:item() end, nil,
      la.tensor{1.0, 2.0}, {check = false})
    assert.truthy(bytes)
  end)
end)
