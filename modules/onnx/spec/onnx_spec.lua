-- Models of ONNX files as modules: inputs, results, parts, training, what bad
-- files get. Files are made by la.onnx.encode and la.onnx.save, which
-- onnx_cases_spec.lua's files of other makers do not depend on.
local la = require "lunarray"
local nn = require "lunarray.nn"

local protos = require "modules.onnx.spec.support.protos"
local info, node = protos.info, protos.node

local function model(graph, options)
  local bytes = la.onnx.encode{ir_version = 8,
    opset_import = {{domain = "", version = 17}}, graph = graph,
    functions = options and options.functions}
  return la.onnx.load(bytes, {bytes = true, freeze = options and options.freeze,
    externals = options and options.externals})
end

-- y = relu(x w + b), z = y + y
local function affine(options)
  return model({name = "g", input = {info("x", {"n", 2})},
    output = {info("z", {"n", 3})},
    initializer = {{name = "w", tensor = la.tensor{{1., 2, 3}, {4, 5, 6}}},
      {name = "b", tensor = la.tensor{-5., 0, 1}}},
    node = {node("Add", {"y", "y"}, {"z"}),
      node("MatMul", {"x", "w"}, {"p"}), node("Add", {"p", "b"}, {"q"}),
      node("Relu", {"q"}, {"y"})}}, options)
end

it("does not write tensors that have no data", function()
  assert.error_matches(function()
    la.onnx.encode{graph = {name = "g", initializer = {{name = "w",
      tensor = la.ones(3, {device = "meta"})}}}}
  end, "on the meta device has no data", 1, true)
end)

describe("a model", function()
  it("runs nodes in any order, by name and by position", function()
    local m = affine()
    local x = la.tensor{{1., 0}}
    assert.same({{0, 4, 8}}, m(x):totable())
    local out = m:run({x = x}, {outputs = {"y", "p"}})
    assert.same({{0, 2, 4}}, out.y:totable())
    assert.same({{1, 2, 3}}, out.p:totable())
    assert.is_nil(out.z)
    assert.same({{0, 4, 8}}, m:run(x).z:totable())
    assert.same({{0, 4, 8}}, m:run{x}.z:totable())
    for _, given in ipairs{m:run(x, {outputs = {"p"}}),
        m:run{x, outputs = {"p"}}, m:run{x = x, outputs = {"p"}}} do
      assert.same({{1, 2, 3}}, given.p:totable())
      assert.is_nil(given.z)
    end
    assert.same({{0, 4, 8}}, m{x = x}.z:totable())
  end)

  it("tells inputs and outputs", function()
    local m = affine()
    assert.equal("x", m:inputs()[1].name)
    assert.equal("float32", m:inputs()[1].dtype)
    assert.same({"n", 2}, m:inputs()[1].shape)
    assert.same({"n", 3}, m:outputs()[1].shape)
    local s = m:summary{x = {4, 2}}
    assert.equal(24, s.multiply_adds)
    assert.matches("everything is supported", tostring(s))
  end)

  it("is a module whose weights train", function()
    local m = affine()
    local names = {}
    for name in m:named_parameters() do names[#names + 1] = name end
    assert.same({"w", "b"}, names)
    m(la.tensor{{1., 1}}):sum():backward()
    assert.same({{0, 2, 2}, {0, 2, 2}}, m.w.grad:totable())
    m:freeze("^w$")
    assert.is_false(m.w.requires_grad)
    assert.is_true(m.b.requires_grad)
    local state = m:state_dict()
    state.b = la.tensor{0., 0, 0}
    m:load_state_dict(state)
    assert.same({{2, 4, 6}}, m(la.tensor{{1., 0}}):detach():totable())
    m:load_state_dict{w = la.zeros(2, 3), b = la.ones(3)}
    assert.same({{2, 2, 2}}, m(la.tensor{{1., 0}}):detach():totable())
    assert.equal(2, #affine{freeze = true}:parameters())
    for _, p in ipairs(affine{freeze = true}:parameters()) do
      assert.is_false(p.requires_grad)
    end
  end)

  it("is cut, copied, and a part of other modules", function()
    local m = affine()
    local part = m:cut("y")
    assert.same({{0, 2, 4}}, part(la.tensor{{1., 0}}):detach():totable())
    assert.same({MatMul = 1, Add = 1, Relu = 1}, part:summary().counts)
    assert.equal(3, part:summary().nodes)
    assert.equal(4, m:summary().nodes)
    local net = nn.Sequential(part, nn.Linear(3, 2))
    assert.equal(4, #net:parameters())
    assert.equal(2, net(la.ones(3, 2)):size(2))
    part.w:detach():zero_()
    assert.same({{0, 0, 2}}, m(la.tensor{{1., 0}}):detach():totable())
    local copy = m:clone()
    copy.b:detach():fill_(3)
    assert.same({{0, 0, 2}}, m(la.tensor{{1., 0}}):detach():totable())
    assert.same({{6, 6, 6}}, copy(la.tensor{{1., 0}}):detach():totable())
  end)

  it("says what is wrong with inputs", function()
    local m = affine()
    local function fails(text, f, ...)
      local ok, problem = pcall(f, ...)
      assert.is_false(ok)
      assert.matches(text, tostring(problem), 1, true)
    end
    fails("input 'x' is missing", m.run, m, {})
    fails("there is no input 'q'", m.run, m, {x = la.ones(1, 2),
      q = la.ones(1)})
    fails("float32 expected, got int64", m.run, m, {x = la.ones(1, 2):long()})
    fails("2 dims expected", m.run, m, {x = la.ones(2)})
    fails("node 2 (MatMul)", m.run, m, {x = la.ones(1, 5)})
    fails("2 inputs given, the model has 1", m.run, m, la.ones(1, 2),
      la.ones(1, 2))
    fails("unknown keyword 'output'", m.run, m, {x = la.ones(1, 2)},
      {output = {"y"}})
    fails("outputs: list of names expected", m.run, m, {x = la.ones(1, 2)},
      {outputs = "y"})
    fails("no value 'nowhere'", m.run, m, {x = la.ones(1, 2)},
      {outputs = {"nowhere"}})
  end)

  it("names everything that is missing before it runs", function()
    local m = model{name = "g", input = {info("x", {1})},
      output = {info("z", {1})}, node = {
        node("Frobnicate", {"x"}, {"y"}, nil, {name = "first"}),
        node("Cast", {"y"}, {"z"}, {{name = "to", type = 2, i = 17}},
          {name = "second"})}}
    local text = tostring(m:summary())
    assert.matches("node 'first' (Frobnicate): there is no operator", text, 1,
      true)
    assert.matches("node 'second' (Cast): a cast to float8e4m3fn", text, 1,
      true)
    local ok, problem = pcall(m, la.ones(1))
    assert.is_false(ok)
    assert.matches("Frobnicate.*float8e4m3fn", problem)
  end)

  it("names attributes and words that no operator has", function()
    local m = model{name = "g", input = {info("x", {1, 1, 4, 4})},
      output = {info("z", {1, 1, 4, 4})},
      initializer = {{name = "w", tensor = la.ones(1, 1, 1, 1)}}, node = {
        node("Conv", {"x", "w"}, {"y"}, {{name = "auto_pad", type = 3,
          s = "WEIRD"}}, {name = "first"}),
        node("Relu", {"y"}, {"v"}, {{name = "alpha", type = 1, f = 1.0}},
          {name = "second"}),
        node("Pad", {"v"}, {"z"}, {{name = "mode", type = 3, s = "mirror"}},
          {name = "third"})}}
    local text = tostring(m:summary())
    for _, part in ipairs{"3 not supported",
        "node 'first' (Conv): auto_pad 'WEIRD'",
        "node 'second' (Relu): the attribute 'alpha'",
        "node 'third' (Pad): mode 'mirror'"} do
      assert.matches(part, text, 1, true)
    end
  end)

  it("takes operators of the caller's", function()
    local graph = {name = "g", input = {info("x", {2})},
      output = {info("z", {2})}, node = {node("Scale", {"x"}, {"z"},
        {{name = "by", type = 1, f = 3.0}}, {domain = "spec.ops"})}}
    local m = model(graph)
    assert.is_false(pcall(m, la.ones(2)))
    la.onnx.register("spec.ops", "Scale", function(inputs, attributes, n)
      assert(n == 1)
      return inputs[1] * attributes.by
    end)
    assert.same({3, 3}, m(la.ones(2)):totable())
  end)

  it("expands functions of the file, with attributes", function()
    local m = model({name = "g", input = {info("x", {2})},
      output = {info("z", {2})}, node = {node("Twice", {"x"}, {"z"},
        {{name = "slope", type = 1, f = 0.5}}, {domain = "own"})}},
      {functions = {{name = "Twice", domain = "own", input = {"a"},
        output = {"c"}, attribute = {"slope"}, opset_import = {{version = 17}},
        node = {node("LeakyRelu", {"a"}, {"b"}, {{name = "alpha", type = 1,
          ref_attr_name = "slope"}}), node("Add", {"b", "b"}, {"c"})}}}})
    assert.same({-1, 4}, m(la.tensor{-1., 2}):totable())
  end)

  it("computes what follows from weights once, and anew when they change",
    function()
      local m = model{name = "g", input = {info("x", {2})},
        output = {info("z", {2})},
        initializer = {{name = "w", tensor = la.tensor{1., 2}}},
        node = {node("Exp", {"w"}, {"e"}), node("Mul", {"x", "e"}, {"z"})}}
      local first = m(la.ones(2))
      assert.is_true(la.allclose(la.tensor{1., 2}:exp(), first))
      m:load_state_dict{w = la.zeros(2)}
      assert.same({1, 1}, m(la.ones(2)):detach():totable())
      la.no_grad(function() m:freeze().w:fill_(1) end)
      assert.is_true(la.allclose(la.ones(2):exp(), m(la.ones(2))))
    end)
end)

-- ---- files ----

describe("a bad file", function()
  local function fails(text, bytes, options)
    options = options or {}
    options.bytes = true
    local ok, problem = pcall(la.onnx.load, bytes, options)
    assert.is_false(ok)
    assert.matches(text, tostring(problem), 1, true)
  end
  local function file(graph, more)
    local m = {ir_version = 8, opset_import = {{version = 17}}, graph = graph}
    for k, v in pairs(more or {}) do m[k] = v end
    return la.onnx.encode(m)
  end

  it("is an error at every length", function()
    local whole = la.onnx.save(function(x) return x:relu() end, nil, la.ones(2))
    for n = 0, #whole - 1 do
      pcall(la.onnx.load, whole:sub(1, n), {bytes = true})
    end
    fails("truncated at byte", whole:sub(1, #whole - 1))
    fails("no graph", "")
  end)

  it("with sizes that its elements do not have", function()
    -- dims 2^62, float32, four bytes
    local t = "\8\128\128\128\128\128\128\128\128\64\16\1\74\4\0\0\0\0"
    fails("graph.initializer[1]", "\58" .. string.char(#t + 2) .. "\42"
      .. string.char(#t) .. t)
    local few = "\8\3\16\1\74\4\0\0\0\0"
    local ok, problem = pcall(la.onnx.read, few, {message = "TensorProto",
      bytes = true})
    assert.is_false(ok)
    assert.matches("12 bytes of float32 are needed, there are 4", problem)
  end)

  it("with a cycle, a value twice, a value from nowhere", function()
    local io = {input = {info("x", {1})}, output = {info("z", {1})}}
    local function nodes(list)
      return file{name = "g", input = io.input, output = io.output, node = list}
    end
    fails("a cycle", nodes{node("Add", {"x", "z"}, {"y"}),
      node("Relu", {"y"}, {"z"})})
    fails("is there twice", nodes{node("Relu", {"x"}, {"z"}),
      node("Neg", {"x"}, {"z"})})
    fails("there is no value 'w'", nodes{node("Add", {"x", "w"}, {"z"})})
  end)

  it("with functions that call each other, or grow without end", function()
    local function f(name, calls, times)
      local list, last = {}, "a"
      for k = 1, times do
        list[k] = node(calls, {last}, {"v" .. k}, nil, {domain = "own"})
        last = "v" .. k
      end
      return {name = name, domain = "own", input = {"a"}, output = {last},
        node = list}
    end
    local graph = {name = "g", input = {info("x", {1})},
      output = {info("z", {1})},
      node = {node("F1", {"x"}, {"z"}, nil, {domain = "own"})}}
    fails("deeper than 64", file(graph, {functions = {f("F1", "F1", 1)}}))
    local list = {}
    for k = 1, 30 do list[k] = f("F" .. k, "F" .. k + 1, 4) end
    list[31] = {name = "F31", domain = "own", input = {"a"}, output = {"b"},
      node = {node("Relu", {"a"}, {"b"})}}
    fails("expand to more than", file(graph, {functions = list}))
  end)

  it("nested too deep", function()
    local function field(tag, s)
      local n, out = #s, ""
      while n > 127 do n, out = n >> 7, out .. string.char(n & 127 | 128) end
      return tag .. out .. string.char(n) .. s
    end
    local graph = ""
    for _ = 1, 30 do      -- a graph in an attribute of a node of a graph
      graph = field("\10", field("\42", field("\50", graph)))
    end
    fails("nested deeper than 64", field("\58", graph))
  end)
end)

describe("external data", function()
  -- A tensor of two floats in a file of that name.
  local function with_external(location, more)
    local entry = "\10\8location\18" .. string.char(#location) .. location
    local t = "\8\2\16\1\66\1w\106" .. string.char(#entry) .. entry
      .. (more or "") .. "\112\1"
    local g = "\42" .. string.char(#t) .. t
    return "\8\8\58" .. string.char(#g) .. g .. "\66\2\16\17"
  end

  it("is given by the function externals", function()
    local asked
    local ok = pcall(la.onnx.read, with_external("w.bin"), {bytes = true,
      externals = function(name)
        asked = name
        return string.pack("<ff", 1.5, 2)
      end})
    assert.is_true(ok)
    assert.equal("w.bin", asked)
  end)

  it("is refused where externals is no function", function()
    for _, wrong in ipairs{5, "w.bin", {}, true} do
      for _, read in ipairs{la.onnx.read, la.onnx.load} do
        local ok, problem = pcall(read, with_external("w.bin"),
          {bytes = true, externals = wrong})
        assert.is_false(ok)
        assert.matches("externals", problem)
        assert.matches("function", problem)
      end
    end
  end)

  it("stays in the folder", function()
    for _, name in ipairs{"../w.bin", "a/../../w.bin", "/etc/passwd", "..",
      "a\\b", "c:x"} do
      local ok, problem = pcall(la.onnx.read, with_external(name),
        {bytes = true, externals = function() return "" end})
      assert.is_false(ok)
      assert.matches("external file", problem)
    end
    local ok, problem = pcall(la.onnx.read, with_external("w.bin"),
      {bytes = true})
    assert.is_false(ok)
    assert.matches("externals", problem)
  end)

  it("is read from the model's folder, through no link", function()
    local folder = os.tmpname()
    os.remove(folder)
    os.execute("mkdir " .. folder)
    local function put(name, text)
      local f = assert(io.open(folder .. "/" .. name, "wb"))
      f:write(text)
      f:close()
    end
    put("m.onnx", with_external("w.bin"))
    put("w.bin", string.pack("<ff", 1.5, 2))
    local m = la.onnx.read(folder .. "/m.onnx")
    assert.same({1.5, 2}, m.graph.initializer[1].tensor:totable())
    os.execute(("mv %s/w.bin %s/v.bin && ln -s v.bin %s/w.bin"):format(folder,
      folder, folder))
    local ok, problem = pcall(la.onnx.read, folder .. "/m.onnx")
    assert.is_false(ok)
    assert.matches("a link leads to it", problem)
    put("v.bin", "abc")
    os.execute(("rm %s/w.bin && mv %s/v.bin %s/w.bin"):format(folder, folder,
      folder))
    ok, problem = pcall(la.onnx.read, folder .. "/m.onnx")
    assert.is_false(ok)
    assert.matches("truncated at byte 3 of the external file", problem)
    os.execute("rm -r " .. folder)
  end)
end)

-- ---- saving ----

describe("onnx.save", function()
  local function same(f, x, options)
    local bytes = la.onnx.save(f, nil, x, options)
    return la.onnx.load(bytes, {bytes = true})
  end

  it("writes layers, with sizes that change", function()
    la.manual_seed(5)
    local list = {
      {nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8),
        nn.Linear(8, 3), nn.Softmax(2)), la.randn(2, 4)},
      {nn.Sequential(nn.Conv2d(1, 4, 3, {padding = 1}), nn.BatchNorm2d(4),
        nn.ReLU(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        la.randn(2, 1, 8, 8)},
      {nn.LSTM(3, 5, {num_layers = 2, bidirectional = true}),
        la.randn(4, 2, 3)},
      {nn.GRU(3, 5), la.randn(4, 2, 3)}, {nn.RNN(3, 5), la.randn(4, 2, 3)},
      {nn.Embedding(7, 3), la.randint(1, 7, {2, 3})},
      {nn.Sequential(nn.Conv1d(2, 4, 3), nn.GroupNorm(2, 4), nn.SiLU(),
        nn.ConvTranspose1d(4, 2, 3)), la.randn(2, 2, 9)},
    }
    for _, entry in ipairs(list) do
      local net, x = entry[1]:eval(), entry[2]
      for _, opset in ipairs{17, 21} do
        local m = same(net, x, {opset = opset, dims = {{"n"}}})
        local y = la.cat({x, x}, 1)
        local want, got = la.no_grad(net, y), m(y)
        assert.is_true(la.allclose(want, got, 1e-4, 1e-5))
        assert.equal("n", m:inputs()[1].shape[1])
      end
    end
  end)

  it("writes functions of several tensors", function()
    local m = same(function(a, b)
      local c = la.cat({a, b}, 2):t()
      return c * 2 - 1, c[2]:sum(), a:gt(b)
    end, {la.randn(3, 2), la.randn(3, 2)}, {outputs = {"c", "s", "g"}})
    local out = m:run{input1 = la.ones(3, 2), input2 = la.zeros(3, 2)}
    assert.same({4, 3}, {out.c:size(1), out.c:size(2)})
    assert.equal(3, out.s:item())
    assert.is_true(out.g:all())
  end)

  it("names what has no form", function()
    local ok, problem = pcall(la.onnx.save, function(x)
      return la.linalg.inv(x):digamma()
    end, nil, la.eye(2))
    assert.is_false(ok)
    assert.matches("no ONNX form: .*inv.*digamma", problem)
  end)
end)
