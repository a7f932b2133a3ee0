-- la.grad_graph: what was recorded, as a list, as text, as pictures.
local la = require "lunarray"
local nn = require "lunarray.nn"

local function count(text, part)
  local n = 0
  for _ in text:gmatch(part) do n = n + 1 end
  return n
end

-- Every start tag of the text has its end tag, in order.
local function check_tags(xml)
  local open = {}
  for slash, name, rest in xml:gmatch "<(/?)(%a+)([^>]*)>" do
    if slash == "/" then
      assert.equal(table.remove(open), name)
    elseif rest:sub(-1) ~= "/" then
      open[#open + 1] = name
    end
  end
  assert.equal(0, #open)
end

describe("the graph of gradients", function()
  it("is a list of nodes with shapes", function()
    local w = la.ones(3, {requires_grad = true, dtype = "float64"})
    local graph = la.grad_graph((w * 2):sum(), {w = w})
    assert.same({"sum", "mul", "AccumulateGrad"},
      {graph[1].name, graph[2].name, graph[3].name})
    assert.same({}, {table.unpack(graph[1].shape)})
    assert.same({3}, {table.unpack(graph[3].shape)})
    assert.equal("float64", graph[3].dtype)
    assert.equal("w", graph[3].label)
    assert.equal(2, graph[1].inputs[1])
    assert.equal("nothing was recorded", tostring(la.grad_graph(w)))
    assert.equal(0, #la.grad_graph(la.ones(2)))
  end)

  it("prints chains, branches and what is used twice", function()
    local w = la.ones(2, {requires_grad = true})
    local v = la.ones(2, {requires_grad = true})
    local h = w:exp()
    local text = tostring(la.grad_graph((h * v + h:sin()):sum(),
      {w = w, v = v}))
    local lines = [[
SumBackward {}
AddBackward {2}
├─ MulBackward {2}
│  ├─ [5] ExpBackward {2}
│  │  AccumulateGrad {2} "w"
│  └─ AccumulateGrad {2} "v"
└─ SinBackward {2}
   ExpBackward, see [5]
]]
    assert.equal(lines, text .. "\n")
  end)

  it("takes names from a module", function()
    local net = nn.Sequential(nn.Linear(3, 2))
    local text = tostring(la.grad_graph(net(la.ones(1, 3)), net))
    assert.is_truthy(text:find('AccumulateGrad {2, 3} "0.weight"', 1, true))
    assert.is_truthy(text:find('AccumulateGrad {2} "0.bias"', 1, true))
  end)

  it("survives long chains and deep branches", function()
    local w = la.ones(1, {requires_grad = true})
    local x, y = w, w
    for _ = 1, 100000 do x = x + 1 end
    local text = tostring(la.grad_graph(x))
    assert.equal(200, count(text, "AddBackward"))
    assert.is_truthy(text:find("\n... 99801 more nodes", 1, true))
    assert.equal(4, select(2, la.grad_graph(x):text(4):gsub("\n", "")))
    for _ = 1, 60 do y = y * 2 + y:exp() end
    text = la.grad_graph(y):text(1000)
    for line in text:gmatch "[^\n]+" do
      assert.is_true(utf8.len(line) < 120, line)
    end
    assert.equal(60, count(text, "ExpBackward {1}\n"))
  end)

  it("is drawn as SVG", function()
    local w = la.ones(2, {requires_grad = true})
    local h = w
    for _ = 1, 5 do h = (h * 2):sin() + h end
    local graph, path = la.grad_graph(h:sum(), {["a<b&\"c"] = w}), os.tmpname()
    local svg = graph:svg(path)
    local file = assert(io.open(path))
    assert.equal(svg, file:read "a")
    file:close()
    os.remove(path)
    check_tags(svg)
    assert.equal(#graph, count(svg, "<rect x="))
    local edges = 0
    for _, node in ipairs(graph) do
      for _, at in ipairs(node.inputs) do
        if at ~= 0 then edges = edges + 1 end
      end
    end
    assert.equal(edges, count(svg, "<path d=\"M[%d.]+ [%d.]+ C"))
    assert.is_truthy(svg:find("a&lt;b&amp;&quot;c", 1, true))
    -- No two boxes overlap.
    local boxes = {}
    for x, y, width, height in svg:gmatch('<rect x="([%d.]+)" y="([%d.]+)" '
      .. 'width="([%d.]+)" height="([%d.]+)"') do
      boxes[#boxes + 1] = {x + 0, y + 0, x + width, y + height}
    end
    for i, a in ipairs(boxes) do
      for k = i + 1, #boxes do
        local b = boxes[k]
        assert.is_true(a[3] <= b[1] or b[3] <= a[1] or a[4] <= b[2]
          or b[4] <= a[2])
      end
    end
    check_tags(la.grad_graph(w):svg())
  end)

  it("is written for Graphviz", function()
    local w = la.ones(2, {requires_grad = true})
    local dot = la.grad_graph(w:exp():sum(), {['"w"'] = w}):dot()
    assert.is_truthy(dot:find("^digraph gradient {\n"))
    assert.is_truthy(dot:find('n3 [label="\\"w\\"\\n{2}"', 1, true))
    assert.is_truthy(dot:find("  n2 -> n1;\n", 1, true))
  end)

  it("refuses what it can't do", function()
    local w = la.ones(1, {requires_grad = true})
    local x = w
    for _ = 1, 3000 do x = x + 1 end
    assert.has_error(function() la.grad_graph(x):svg() end)
    assert.has_error(function() la.grad_graph(x, 3) end)
    assert.has_error(function() la.grad_graph(3) end)
    assert.has_error(function() la.grad_graph(x):dot(3) end)
    assert.has_error(function() la.grad_graph(x):text(0) end,
      "text: a number of lines expected")
    assert.has_error(function() la.grad_graph(x):dot("/no/such/file") end)
  end)
end)
