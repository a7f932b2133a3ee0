-- Models of ONNX files as programs: the same results as operation by operation
-- for sizes that change, steps that depend on data, weights that change; plans
-- ahead, products in bytes, training through a compiled step.
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"
local protos = require "modules.onnx.spec.support.protos"
local info, node = protos.info, protos.node

local function model(graph, options)
  options = options or {}
  options.bytes = true
  return la.onnx.load(la.onnx.encode{ir_version = 8,
    opset_import = {{domain = "", version = 17}}, graph = graph}, options)
end

-- y = x w, and twice that where the sum of x is positive, else its negative.
local function branching()
  local function branch(op, name)
    return {name = op, node = {node(op, {"y", name}, {op .. "_out"})},
      output = {info(op .. "_out", {"n", 3})}}
  end
  return model({name = "g", input = {info("x", {"n", 2})},
    output = {info("z", {"n", 3})},
    initializer = {{name = "w", tensor = la.tensor{{1., 2, 3}, {4, 5, 6}}},
      {name = "two", tensor = la.tensor(2.)},
      {name = "less", tensor = la.tensor(-1.)},
      {name = "zero", tensor = la.tensor(0.)}},
    node = {node("MatMul", {"x", "w"}, {"p"}), node("Relu", {"p"}, {"q"}),
      node("Sub", {"p", "q"}, {"r"}), node("Add", {"q", "r"}, {"y"}),
      node("ReduceSum", {"x"}, {"s"}, {{name = "keepdims", type = 2, i = 0}}),
      node("Greater", {"s", "zero"}, {"c"}),
      node("If", {"c"}, {"b"}, {
        {name = "then_branch", type = 5, g = branch("Mul", "two")},
        {name = "else_branch", type = 5, g = branch("Div", "less")}}),
      node("Identity", {"b"}, {"i"}), node("Neg", {"i"}, {"j"}),
      node("Neg", {"j"}, {"z"})}})
end

local function network(seed)
  la.manual_seed(seed or 1)
  local net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
  local bytes = la.onnx.save(net, nil, la.ones(2, 6), {inputs = {"x"},
    outputs = {"y"}, dims = {{"n"}}})
  return la.onnx.load(bytes, {bytes = true}), net
end

local function fails(text, f, ...)
  local ok, problem = pcall(f, ...)
  assert.is_false(ok)
  assert.truthy(tostring(problem):find(text, 1, true), problem)
end

describe("a model as a program", function()
  it("chooses branches by data, in between other steps", function()
    local m = branching()
    for _, sign in ipairs{1, -1, 1, -1, 1} do
      for n = 1, 3 do
        local x = la.ones(n, 2) * sign
        local y = x:matmul(la.tensor{{1., 2, 3}, {4, 5, 6}})
        local want = sign > 0 and y * 2 or -y
        assert.is_true(la.equal(m(x), want))
        assert.is_true(la.equal(m:run{x = x}.z, want))
      end
    end
  end)

  it("has branches and loops in compiled functions and files", function()
    local path = os.tmpname() .. ".laprog"
    local function check(m, ...)
      local step = la.compile(function(...) return (m(...)) end)
      local program
      for round = 1, 2 do
        for _, given in ipairs{...} do
          local want = m(table.unpack(given))
          if not program then
            la.save(m:program(table.unpack(given)), path)
            program = la.load(path)
          end
          assert.is_true(la.equal(step(table.unpack(given)), want))
          assert.is_true(la.equal(program(table.unpack(given)), want), round)
        end
      end
      return program
    end
    local x = la.ones(2, 2)
    local p = check(branching(), {x}, {-x}, {x * 3})
    assert.same({{1, 2, 3}, {4, 5, 6}}, p:weights().w:totable())
    assert.matches("program(x) -> z", tostring(p), 1, true)
    -- v doubles while its sum is below 100, at most so many times.
    local body = {name = "body", input = {info("i", {}, 7), info("c", {}, 9),
      info("v", {"n"})}, output = {info("more", {}, 9), info("w", {"n"})},
      node = {node("Add", {"v", "v"}, {"w"}),
        node("ReduceSum", {"w"}, {"s"}, {{name = "keepdims", type = 2, i = 0}}),
        node("Less", {"s", "top"}, {"more"})}}
    local graph = {name = "g", input = {info("x", {"n"}), info("most", {}, 7)},
      output = {info("y", {"n"})},
      initializer = {{name = "top", tensor = la.tensor(100.)}},
      node = {node("Loop", {"most", "", "x"}, {"y"},
        {{name = "body", type = 5, g = body}})}}
    local function most(n) return la.tensor(n, {dtype = "int64"}) end
    local v = la.tensor{1., 2}
    check(model(graph), {v, most(9)}, {v, most(0)}, {v, most(2)},
      {v * 40, most(9)})
    os.remove(path)
    os.remove((path:gsub("%.laprog$", "")))
  end)

  it("has inner names and other outputs", function()
    local m = branching()
    local x = la.tensor{{1., 2}}
    for _ = 1, 3 do
      local out = m:run({x = x}, {outputs = {"q", "c"}})
      assert.same({{9, 12, 15}}, out.q:totable())
      assert.is_true(out.c:item())
    end
  end)

  it("sees weights that change, and gives gradients", function()
    local m, net = network()
    local x = la.randn(4, 6)
    for _ = 1, 3 do assert.is_true(la.equal(m(x), net(x))) end
    la.no_grad(function()
      for _, p in m:named_parameters() do p:mul_(2) end
      for _, p in net:named_parameters() do p:mul_(2) end
    end)
    for _ = 1, 3 do
      la.no_grad(function() assert.is_true(la.equal(m(x), net(x))) end)
    end
    m(x):sum():backward()
    net(x):sum():backward()
    assert.is_true(la.equal(m["0.weight"].grad, net[1].weight.grad))
  end)

  it("keeps what it gave: results are not written again", function()
    local m = network()
    local a, b = la.randn(3, 6), la.randn(3, 6)
    m(a)
    local first = m(a)
    local copy = first:clone()
    m(b)
    assert.is_true(la.equal(first, copy))
  end)

  it("errs with the node's name, also behind the first calls", function()
    local m = model({name = "g", input = {info("x", {"n"}),
      info("i", {"m"}, 7)}, output = {info("y", {"m"})},
      node = {node("Gather", {"x", "i"}, {"g"}), node("Neg", {"g"}, {"y"})}})
    local x = la.tensor{1., 2, 3}
    for _ = 1, 3 do
      assert.same({-3, -1},
        m(x, la.tensor({2, 0}, {dtype = "int64"})):totable())
    end
    fails("node 1 (Gather)", m, x, la.tensor({2, 5}, {dtype = "int64"}))
  end)

  it("stays right for more sizes than are kept", function()
    local m, net = network()
    for round = 1, 3 do
      for n = 1, 40 do
        local x = la.ones(n, 6) * round
        assert.is_true(la.equal(m(x), net(x)))
      end
    end
  end)
end)

describe("plans ahead", function()
  it("are compiled functions and programs", function()
    local m, net = network()
    local step = m:compile{x = {5, 6}}
    local x = la.randn(5, 6)
    assert.is_true(la.equal(step(x), net(x)))
    assert.truthy(step:explain():find("steps"))
    assert.is_true(#step:program():steps() > 0)
    assert.is_true(#m:program(x):steps() > 0)
    assert.is_true(#m:program{x = {2, 6}}:steps() > 0)
    local out = la.zeros(5, 3)
    step:into(out, x)
    assert.is_true(la.equal(out, net(x)))
  end)

  it("follow weights that are asked for later", function()
    local m, net = network()
    local step, x = m:compile{x = {5, 6}}, la.randn(5, 6)
    la.no_grad(function()
      for _, p in m:named_parameters() do p:mul_(2) end
      for _, p in net:named_parameters() do p:mul_(2) end
    end)
    for _ = 1, 3 do assert.is_true(la.equal(step(x), net(x))) end
  end)

  it("run the parts where data decides", function()
    local m = model{name = "g", input = {info("x", {"n"})},
      output = {info("z", {1, "m"}, 7)},
      node = {node("Relu", {"x"}, {"y"}), node("NonZero", {"y"}, {"k"}),
        node("Neg", {"k"}, {"z"})}}
    local step = m:compile{x = {3}}
    assert.same({{0, -2}}, step(la.tensor{1., -1, 2}):totable())
    assert.same({{-1}}, step(la.tensor{-1., 1}):totable())
    fails("node 2 (NonZero)", m.program, m, la.ones(3))
  end)

  it("say what is wrong with sizes and options", function()
    local m = network()
    fails("a size for its dim 1 (n) is missing", m.compile, m)
    fails("2 sizes expected, got 1", m.compile, m, {x = {5}})
    fails("dim 2 has size 6, not 7", m.compile, m, {x = {5, 7}})
    fails("there is no input 'z'", m.compile, m, {z = {5, 6}})
    fails("unknown keyword 'quantise'", m.compile, m, {x = {5, 6}},
      {quantise = "int8"})
    fails("\"int8\" expected", m.compile, m, {x = {5, 6}}, {quantize = "int4"})
    fails("calibrate goes with", m.compile, m, {x = {5, 6}}, {calibrate = {}})
    fails("a list of inputs expected", m.compile, m, {x = {5, 6}},
      {quantize = "int8", calibrate = {}})
    fails("table of sizes by name expected", m.compile, m, la.ones(2))
  end)
end)

describe("products in bytes", function()
  -- The error of 8 bits: a step of the activations and one of the weights.
  local function close(y, want)
    local limit = 0.03 * want:abs():amax():item()
    assert.is_true((y - want):abs():amax():item() < limit)
    assert.is_false(la.equal(y, want))
  end

  it("of own and of calibrated ranges are near", function()
    local m, net = network()
    local x = la.randn(5, 6)
    close(m:compile({x = {5, 6}}, {quantize = "int8"})(x), net(x))
    close(m:compile({x = {5, 6}}, {quantize = "int8",
      calibrate = {la.randn(50, 6), {x = x}}})(x), net(x))
    assert.is_true(la.equal(m(x), net(x)))
  end)

  it("serve convolutions, channel by channel", function()
    la.manual_seed(2)
    local net = nn.Sequential(nn.Conv2d(3, 4, 3, {padding = 1}), nn.ReLU(),
      nn.Conv2d(4, 2, 3))
    la.no_grad(function() net[1].weight:select(1, 1):mul_(100) end)
    local x = la.randn(1, 3, 8, 8)
    local m = la.onnx.load(la.onnx.save(net, nil, x), {bytes = true})
    close(m:compile(nil, {quantize = "int8"})(x), net(x))
  end)
end)

describe("a model in other programs", function()
  it("trains by a compiled step as by plain calls", function()
    local function train(compiled)
      local m = network(3)
      local opt = optim.Adam(m:parameters(), {lr = 0.01})
      local function step(x, y)
        opt:zero_grad()
        local loss = la.cross_entropy(m(x), y)
        loss:backward()
        opt:step()
        return loss
      end
      if compiled then step = la.compile(step) end
      la.manual_seed(5)
      local x, list = la.randn(8, 6), {}
      local y = x:narrow(2, 1, 3):argmax(2)
      for k = 1, 30 do list[k] = step(x, y):item() end
      return list, m:state_dict()
    end
    local plain, a = train(false)
    local losses, b = train(true)
    assert.same(plain, losses)
    assert.is_true(losses[30] < 0.8 * losses[1])
    for name, t in pairs(a) do assert.is_true(la.equal(t, b[name])) end
  end)

  it("is cut, frozen, and joined with layers", function()
    local m = network()
    m:freeze()
    local name
    for _, step in ipairs(m.plan.graph.steps) do
      if step.op == "Tanh" then name = step.outs[1].name end
    end
    local net = nn.Sequential(m:cut(name), nn.Linear(8, 2))
    local x = la.randn(4, 6)
    local want = net(x)
    local step = la.compile(function(t) return net(t) end)
    for _ = 1, 3 do assert.is_true(la.equal(step(x), want)) end
    step(x):sum():backward()
    assert.is_nil(net[1]["0.weight"].grad)
    assert.truthy(net[2].weight.grad)
  end)

  it("is saved again, as a compiled function too", function()
    local m, net = network()
    local x = la.randn(4, 6)
    local step = la.compile(function(t) return m(t) end)
    for _ = 1, 3 do step(x) end
    for _, opset in ipairs{17, 21} do
      local bytes = la.onnx.save(step, nil, x, {dims = {{"n"}},
        opset = opset})
      local again = la.onnx.load(bytes, {bytes = true})
      assert.is_true(la.allclose(again(la.ones(7, 6)), net(la.ones(7, 6))))
    end
  end)
end)
