-- Calls in parts: step:begin and step:advance with a budget give what a call
-- gives, to the bit, and cut long calls of operations.
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"

-- The results of a call in parts, and how many there were.
local function sliced(step, ...)
  step:begin(...)
  for n = 1, 1e6 do
    local r = table.pack(step:advance(0))
    if r.n > 0 then
      assert.is_true(r[1])
      return n, table.unpack(r, 2, r.n)
    end
  end
end

describe("a compiled function in parts", function()
  it("cuts long calls by rows", function()
    local x = la.randn(300, 300)
    local step = la.compile(function(a)
      return a:matmul(a):exp():sum(2), a:softmax(2)
    end)
    step(x)
    local y, z = step(x)
    for _ = 1, 3 do
      local n, a, b = sliced(step, x)
      assert.is_true(n > 2 * #step:program() and la.equal(a, y)
        and la.equal(b, z))
    end
  end)

  it("gives the products of every dtype and rank", function()
    local function linear(dtype)
      local x = la.randint(-3, 3, {260, 260}):to(dtype)
      local b = la.randint(-3, 3, {260}):to(dtype)
      return {function(a) return a:matmul(a), la.addmm(b, a, a) end, x},
        {function(a) return a:matmul(a[1]), la.mv(a, a[2]) end, x},
        {function(a) return la.dot(a[1], a[2]), la.outer(a[1], a[2]) end, x},
        {function(a) return la.bmm(a, a), a:matmul(a[1]) end,
          x:view(1, 260, 260):expand(3, 260, 260):clone()}
    end
    for _, dtype in ipairs {"float32", "float64", "float16", "bfloat16",
        "complex64", "complex128", "int64", "int32", "uint8"} do
      la.manual_seed(3)
      for k, case in ipairs {linear(dtype == "uint8" and "int16" or dtype)} do
        local step = la.compile(case[1])
        local y, z = case[1](case[2])
        for _ = 1, 3 do
          local _, a, b = sliced(step, case[2])
          assert.is_true(la.equal(a, y) and la.equal(b, z), dtype .. k)
        end
      end
    end
  end)

  it("trains as whole steps do", function()
    la.manual_seed(1)
    local net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2),
      nn.Linear(128, 1))
    local twin = net:clone()
    local function training(m)
      local opt = optim.Adam(m:parameters())
      return la.compile(function(x, y)
        opt:zero_grad()
        local loss = (m(x) - y):square():mean()
        loss:backward()
        opt:step()
        return loss
      end)
    end
    local a, b = training(net), training(twin)
    local x, y, parts = la.randn(1024, 64), la.randn(1024, 1), 0
    for k = 1, 5 do
      la.manual_seed(k)
      local whole = a(x, y)
      la.manual_seed(k)
      local n, loss = sliced(b, x, y)
      assert.is_true(la.equal(whole, loss))
      parts = n
    end
    assert.is_true(parts > #b:program())
    for name, w in pairs(net:state_dict()) do
      assert.is_true(la.equal(w, twin:state_dict()[name]), name)
    end
  end)

  it("goes on though its recording has left the cache", function()
    local step = la.compile(function(a) return a:exp():sum() end, {cache = 1})
    local x = la.randn(400, 400)
    step(x)
    local want = step(x)
    step:begin(x)
    step:advance(0)
    for i = 1, 3 do
      step(la.ones(i))
      collectgarbage()
    end
    local done, y
    repeat done, y = step:advance(0) until done
    assert.is_true(la.equal(want, y))
  end)
end)
