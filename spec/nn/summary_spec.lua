-- nn.summary and print(net): layers, shapes, counts.
local la = require "lunarray"
local nn = require "lunarray.nn"

local function row_of(summary, name)
  for _, row in ipairs(summary.rows) do
    if row.name == name then return row end
  end
end

local function shapes(row)
  local list = {}
  for k, output in ipairs(row.outputs) do list[k] = output.shape end
  return list
end

local function digits()
  return nn.Sequential(nn.Conv2d(1, 8, 3, {padding = 1}), nn.BatchNorm2d(8),
    nn.ReLU(), nn.Dropout(0.5), nn.Flatten(), nn.Linear(6272, 10))
end

describe("a summary", function()
  it("tells shapes, counts and bytes", function()
    local s = nn.summary(digits(), {1, 28, 28})
    assert.equal(7, #s.rows)
    assert.same({1, 8, 28, 28}, shapes(row_of(s, "0"))[1])
    assert.same({1, 6272}, shapes(row_of(s, "4"))[1])
    assert.same({1, 10}, shapes(row_of(s, ""))[1])
    assert.equal(8 * 9 + 8, row_of(s, "0").parameters)
    assert.equal(80 + 16 + 62730, s.parameters)
    assert.equal(4 * s.parameters, s.bytes)
    assert.equal(17, s.buffers)
    assert.equal(4 * 28 * 28, s.input_bytes)
    assert.equal(4 * (4 * 8 * 28 * 28 + 6272 + 10), s.output_bytes)
    local text = tostring(s)
    assert.is_truthy(text:find("(0) Conv2d       {1, 8, 28, 28}  float32"
      .. "          80\n", 1, true))
    assert.is_truthy(text:find("\n62,826 parameters (251 KB), buffers 17 "
      .. "(72 bytes)\n", 1, true))
  end)

  it("leaves the net, its buffers and the generator as they are", function()
    local net = digits()
    local calls = 0
    net:register_forward_hook(function() calls = calls + 1 end)
    net[4]:eval()
    la.manual_seed(3)
    local state, before = la.get_rng_state(), {}
    for name, t in pairs(net:state_dict()) do before[name] = t:clone() end
    local weight = net[1].weight
    nn.summary(net, {1, 28, 28}, {batch = 7})
    assert.is_true(la.get_rng_state() == state)
    for name, t in pairs(net:state_dict()) do
      assert.is_true(t == before[name], name)
    end
    assert.is_true(rawequal(weight, net[1].weight))
    assert.is_true(net.training)
    assert.is_true(net[1].training)
    assert.is_false(net[4].training)
    assert.equal(0, calls)
    assert.is_nil(rawget(net[1], "forward"))
    assert.is_nil(weight.grad)
  end)

  it("takes several inputs, dtypes, batches and tensors", function()
    local Two = nn.class "Two"
    function Two:init()
      self.words = nn.Embedding(10, 4)
      self.fc = nn.Linear(3, 4)
    end
    function Two:forward(index, x)
      return self.words(index):sum(2) + self.fc(x), {x}
    end
    local s = nn.summary(Two(), {{6}, {3}}, {batch = 5,
      dtypes = {"int64", "float32"}})
    assert.same({{5, 4}, {5, 3}}, shapes(s.rows[1]))
    assert.same({5, 6, 4}, shapes(row_of(s, "words"))[1])
    assert.equal(5 * 6 * 8 + 5 * 3 * 4, s.input_bytes)
    s = nn.summary(Two(), {la.ones(2, 6, {dtype = "int64"}), la.ones(2, 3)})
    assert.same({2, 4}, shapes(s.rows[1])[1])
    s = nn.summary(nn.Linear(3, 2), {3}, {batch = false})
    assert.same({2}, shapes(s.rows[1])[1])
    s = nn.summary(nn.Linear(3, 2):double(), {3})
    assert.equal("float64", s.rows[1].outputs[1].dtype)
    assert.equal(8 * 8, s.bytes)
  end)

  it("counts shared modules and parameters once", function()
    local Net = nn.class "Net"
    function Net:init()
      self.a = nn.Linear(4, 4)
      self.b = self.a
      self.c = nn.Linear(4, 4)
      self.c.weight = self.a.weight
    end
    function Net:forward(x) return self.c(self.b(self.a(x))) end
    local s = nn.summary(Net(), {4})
    assert.equal(20 + 4, s.parameters)
    assert.equal(2, row_of(s, "a").calls)
    assert.is_true(row_of(s, "b").again)
    assert.equal(4, row_of(s, "c").parameters)
    assert.is_truthy(tostring(s):find("{1, 4} x 2", 1, true))
  end)

  it("runs a forward that looks at values on zeros", function()
    local Net = nn.class "Net"
    function Net:init()
      self.fc, self.seen = nn.Linear(2, 3), 0
      self.scale = la.ones(3)
      self:register_buffer("sum", la.zeros(3))
    end
    function Net:forward(x)
      self.seen = self.seen + 1
      self.sum:add_(1)
      if x:sum():item() ~= 0 then error "values" end
      return self.fc(x) * self.scale
    end
    local net = Net()
    assert.same({1, 3}, shapes(nn.summary(net, {2}).rows[1])[1])
    assert.equal(0, net.seen)
    assert.same({0, 0, 0}, net.sum:totable())
  end)

  it("counts alone without sizes, and what does not train", function()
    local net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    net[1]:requires_grad_(false)
    local s = nn.summary(net)
    assert.equal(9, s.parameters)
    assert.equal(3, s.trainable)
    assert.is_truthy(tostring(s):find("9 parameters %(36 bytes%), 3 train$"))
    assert.is_nil(tostring(s):find("output"))
  end)

  it("tells what is wrong", function()
    local net = nn.Linear(3, 2)
    assert.has_error(function() nn.summary(3) end,
      "bad argument #1 to 'summary' (module expected, got number)")
    assert.has_error(function() nn.summary(net, 3) end)
    assert.has_error(function() nn.summary(net, {3}, {size = 3}) end,
      "summary: unknown option 'size' (known: batch, dtype, dtypes)")
    assert.has_error(function() nn.summary(net, {3}, {batch = -1}) end)
    local ok, text = pcall(nn.summary, net, {4})
    assert.is_false(ok)
    assert.is_truthy(text:find("summary: Linear on inputs {1, 4}: ", 1, true))
    assert.is_true(net.training)
  end)
end)

describe("print(net)", function()
  it("shows counts, and shapes of a class that says nothing", function()
    local Scale = nn.class "Scale"
    function Scale:init() self.w = nn.Parameter(la.ones(2, 3)) end
    assert.equal("Scale(w {2, 3})", tostring(Scale()))
    assert.equal("Sequential(\n  (0): Scale(w {2, 3})\n"
      .. "  (1): Linear(in_features=100, out_features=10, bias=true)\n"
      .. ") -- 1,016 parameters, 4.06 KB",
      tostring(nn.Sequential(Scale(), nn.Linear(100, 10))))
    assert.equal("Sequential(\n  (0): ReLU()\n)",
      tostring(nn.Sequential(nn.ReLU())))
  end)
end)
