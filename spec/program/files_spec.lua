-- Programs as files: a loaded one gives what the compiled function gives, to
-- the bit, and leaves the same behind; damage and what is unknown is an error.
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"

local path = os.tmpname()
os.remove(path)
path = path .. ".laprog"

local function again(step, options)
  la.save(step, path, options)
  return la.load(path)
end

local function same(a, b)
  assert.same(a:totable(), b:totable())
  assert.equal(a.dtype, b.dtype)
end

describe("a program in a file", function()
  after_each(function() os.remove(path) end)

  it("is a .safetensors with the captured tensors", function()
    la.manual_seed(1)
    local net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    local f = la.compile(function(x) return net(x) end)
    local x = la.randn(5, 3)
    local y = f(x)
    local p = again(f, {names = {net = net:state_dict()}})
    same(y, p(x))
    assert.is_false(p(x).requires_grad)
    assert.equal(3, #p)
    assert.same({"addmm", "tanh", "addmm"}, {p:steps()[1].op, p:steps()[2].op,
      p:steps()[3].op})
    assert.equal("program(x) -> output1: 3 steps, 4 weights", tostring(p))
    local weights = p:weights()
    same(net[1].weight, weights["net.0.weight"])
    la.no_grad(function() weights["net.2.bias"]:add_(1) end)
    assert.is_true(la.allclose(p(x), y + 1))
    local other = path:gsub("laprog$", "safetensors")
    os.rename(path, other)
    local tensors, texts = la.load(other, {metadata = true})
    os.remove(other)
    same(net[3].bias, tensors.net and tensors.net[2].bias
      or tensors["net.2.bias"])
    assert.is_string(texts["lunarray.program"])
  end)

  local optimisers = {
    SGD = {lr = 0.1, momentum = 0.9}, Adam = {lr = 0.01},
    AdamW = {lr = 0.01, amsgrad = true}, RMSprop = {lr = 0.01},
    Adagrad = {lr = 0.1, lr_decay = 0.1},
  }
  for name, options in pairs(optimisers) do
    it("goes on training with " .. name, function()
      la.manual_seed(2)
      local net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(),
        nn.Dropout(0.1), nn.Linear(8, 1))
      local opt = optim[name](net:parameters(), options)
      local step = la.compile(function(x, y)
        opt:zero_grad()
        local loss = (net(x) - y):square():mean()
        loss:backward()
        opt:step()
        return loss
      end)
      local x = la.randn(16, 4)
      local y = x:sum(2, true)
      for _ = 1, 3 do step(x, y) end
      local p = again(step, {names = net:state_dict()})
      local losses = {}
      la.manual_seed(7)
      for i = 1, 6 do losses[i] = step(x, y):item() end
      la.manual_seed(7)
      for i = 1, 6 do assert.equal(losses[i], p(x, y):item()) end
      local weights = p:weights()
      for key, w in pairs(net:state_dict()) do same(w, weights[key]) end
      assert.equal(options.lr, weights.lr:item())
      -- and once more from there
      p = again(p)
      la.manual_seed(8)
      local loss = step(x, y):item()
      la.manual_seed(8)
      assert.equal(loss, p(x, y):item())
    end)
  end

  it("takes and gives what the function does", function()
    local w = la.ones(2)
    local f = la.compile(function(x, o)
      return {sum = x + o.y * o.k, list = {x, w}, text = "t"}, 7, x, nil, true
    end)
    local x, y = la.tensor{1., 2}, la.tensor{3., 4}
    f(x, {y = y, k = 2})
    local p = again(f)
    local r, seven, first, none, yes = p(x, {y = y, k = 2})
    same(la.tensor{7., 10}, r.sum)
    assert.equal(x, first)
    assert.equal("t", r.text)
    assert.equal(7, seven)
    assert.is_nil(none)
    assert.is_true(yes)
    same(w, r.list[2])
    assert.error_matches(function() p(x, {y = y, k = 3}) end, "other values")
    assert.error_matches(function() p(x) end, "other values")
    assert.equal("program(x, o.y) -> ", tostring(p):match("^.-%-> "))
  end)

  it("keeps all signatures, or the last", function()
    local f = la.compile(function(x) return x * 2 end)
    f(la.ones(2))
    f(la.ones(3, 3))
    local p = again(f)
    same(la.ones(3, 3) * 2, p(la.ones(3, 3)))
    assert.error_matches(function() p(la.ones(2)) end,
      "sizes %[3, 3%] expected")
    p = again(f, {all = true})
    same(la.ones(3, 3) * 2, p(la.ones(3, 3)))
    same(la.ones(2) * 2, p(la.ones(2)))
    assert.error_matches(function() p(la.ones(4)) end, "none of its 2")
  end)

  it("holds every dtype, views, tied and transposed tensors", function()
    for _, dtype in ipairs{"bool", "uint8", "int64", "float16", "bfloat16",
      "float64", "complex64", "complex128"} do
      local w = la.ones(2, 3, {dtype = dtype})
      local f = la.compile(function(x) return w:t():clone(), x end)
      local y = f(la.ones(1))
      same(y, (again(f)(la.ones(1))))
    end
    local w = la.range(1., 12):reshape(3, 4)
    local part, crossed = w[{2}], w:t():contiguous():t()
    local f = la.compile(function(x)
      w:add_(1)
      return x * part + crossed:sum(1), crossed
    end)
    local x = la.ones(4)
    f(x)
    local p = again(f, {names = {w = w, part = part}})
    for _ = 1, 3 do
      local a, b = f(x)
      local c, d = p(x)
      same(a, c)
      same(b, d)
    end
    same(w, p:weights().w)
    same(part, p:weights().part)
  end)

  it("adds to a gradient that was there", function()
    local w = la.tensor({1., 2}, {requires_grad = true})
    local f = la.compile(function(x) (w * x):sum():backward() end)
    local x = la.ones(2)
    f(x)
    f(x)
    local p = again(f, {names = {w = w}})
    f(x)
    p(x)
    same(w.grad, p:weights().w.grad)
  end)

  it("asks and loops as the function does", function()
    local w = la.tensor{0.5, 0.25}
    local f = la.compile(function(x, labels)
      local y, n = la.while_loop(function(v, _) return v:sum():lt(100) end,
        function(v, k) return v * 2 + w, k + 1 end, x, la.tensor(0))
      return y, n, la.cross_entropy(x:reshape(1, 2), labels)
    end)
    local x, labels = la.tensor{1., 2}, la.tensor{2}
    f(x, labels)
    local p = again(f)
    for _, first in ipairs{1., 30., 200.} do    -- the last: without a pass
      local y, n, loss = f(x * first, labels)
      local a, b, c = p(x * first, labels)
      same(y, a)
      same(n, b)
      same(loss, c)
    end
    assert.error_matches(function() p(x, la.tensor{3}) end, "class label 3")
    p = again(p)
    same((f(x, labels)), (p(x, labels)))
  end)

  it("takes the branch that each call asks for", function()
    local w = la.tensor{3., 4}
    local f = la.compile(function(x)
      local y, n = la.cond(x:sum():gt(0), function(v) return v * w, v:sum() end,
        function(v) return v - 1, v:amax() end, x)
      return (la.cond(n:lt(2), function() return y * 2 + n end,
        function() return y * 1 end))
    end)
    f(la.ones(2))
    local p = again(f, {names = {w = w}})
    for _ = 1, 2 do
      for _, value in ipairs{1., -1., 0.1, -5., 7.} do
        local x = la.tensor{value, 0.5}
        same(f(x), p(x))
        f:begin(x)
        local done, y
        repeat done, y = f:advance(0) until done
        same(y, p(x))
      end
      p = again(p)
    end
    p:weights().w:fill_(-1)
    assert.same({-1, -0.5}, p(la.tensor{1., 0.5} * 2):div(2):totable())
  end)

  it("refuses what it can't be", function()
    local f = la.compile(function(x)
      if x:sum():item() > 0 then return x end
      return -x
    end, {partial = true})
    assert.error_matches(function() la.save(f, path) end,
      "nothing was recorded")
    f(la.ones(2))
    assert.error_matches(function() la.save(f, path) end, "no program")
    assert.error_matches(function() la.save({}, path) end, "compiled function")
    local g = la.compile(function(x) return x * 2 end)
    g(la.ones(2))
    assert.error_matches(function() la.save(g, "x.npy") end, "tensor expected")
    assert.error_matches(function() la.save(g, path, {some = 1}) end,
      "unknown keyword")
    local p = again(g)
    assert.error_matches(function()
      p(la.ones(2, {requires_grad = true}))
    end, "needs a gradient")
    assert.error_matches(function()
      la.compile(function(x) return p(x) end)(la.ones(2))
    end, "no part of la.compile")
    assert.error_matches(function() p(la.ones(2):double()) end,
      "float32 expected, got float64")
    assert.is_nil(io.open(path .. ".tmp"))
  end)

  it("refuses names of tensors that it has not", function()
    local w, b = la.ones(2), la.ones(2)
    local f = la.compile(function(x) return x * w end)
    f(la.ones(2))
    for _, names in ipairs{{w = w:clone()}, {b}, {{deep = {b}}}} do
      assert.error_matches(function() la.save(f, path, {names = names}) end,
        "names: the function captured none of these")
    end
    local p = again(f, {names = {w = w, b = b}})
    same(w, p:weights().w)
    la.save(f, path, {names = {}})
    assert.error_matches(function() la.save(p, path, {names = {w = w}}) end,
      "names: a loaded program has the names of its file")
  end)

  it("names what is unknown", function()
    local g = la.compile(function(x) return x:exp() end)
    g(la.ones(2))
    la.save(g, path)
    local text = assert(io.open(path, "rb")):read "a"
    local function refused(from, to, word)
      local file = assert(io.open(path, "wb"))
      file:write((text:gsub(from, to)))
      file:close()
      assert.error_matches(function() la.load(path) end, word)
    end
    refused('\\"exp\\"', '\\"exq\\"', "'exq', an operation that is not")
    refused("exp%(Tensor self", "exp(Tensor selg", "other arguments here")
    refused('\\"format\\":1', '\\"format\\":9', "format 9")
    refused('\\"slots\\"', '\\"slotz\\"', "'slotz' where 'slots'")
    refused("lunarray.program", "lunarray.progran", "no program")
  end)
end)
