-- The contract of arguments: what tables mean, which overload speaks, what comes
-- back as the same value.
local la = require "lunarray"

local raises = require "spec.support.raises"

describe("a table as an argument", function()
  local x = la.ones(2, 3)

  it("is data only by la.tensor", function()
    local told = "a tensor of a list is la.tensor{...}"
    raises("bad argument #2 to 'add' (tensor or number expected, got table: "
           .. told, x.add, x, {1, 2, 3})
    raises(told, la.sum, {1, 2, 3})
    raises(told, x.add, x, {1, 2, alpha = 2})
    raises(told, la.where, {true}, 1, 2)
    raises("one dimension expected, got a table", x.max, x, {1, 2})
  end)

  it("has nothing left over", function()
    raises("the list has 2 entries, and also the key [5]", la.zeros,
           {2, 3, [5] = 1})
    raises("the key 'extra'", x.sum, x, {1, extra = 2}, true)
    raises("unknown keyword 'extra'", la.zeros, {2, 3, extra = 2})
    raises("unknown keyword 'extra'", x.sum, x, {1, extra = 2})
    raises("the key [4]", la.cat, {x, x, [4] = x}, 1)
    raises("the key 'n'", la.cat, {x, x, n = 2}, 1)
    raises("the key 'n'", la.tensordot, x, x, {{1, n = 1}, {1}})
    raises("the key [1.5]", la.zeros, {2, [1.5] = 1}, {})
    raises("got one with the key [1]", la.gamma, 2, 1, {3})
    raises("got one with the key [1]", la.bernoulli, 0.3, {5})
    raises("the key", la.zeros, 2, {names = {"N", x = 1}})
  end)

  it("takes sizes and keywords in one", function()
    local z = la.zeros{2, 3, dtype = "float64", names = {"N", "C"}}
    assert.same({2, 3}, {z:size()})
    assert.equal("float64", z.dtype)
    assert.same({"N", "C"}, {table.unpack(z.names)})
  end)

  it("is blamed by the name of the keyword in it", function()
    raises("bad argument 'keepdim' to 'sum' (boolean expected, got string)",
           x.sum, x, {keepdim = "yes"})
    raises("bad argument 'dtype' to 'zeros' (unknown dtype 'float33'",
           la.zeros, 2, {dtype = "float33"})
    raises("bad argument 'inputs' to 'backward'", x.backward, x, nil,
           {inputs = 5})
    raises("bad argument 'grad_outputs' to 'grad' ([1]: tensor expected",
           la.grad, x, x, {grad_outputs = {5}})
  end)
end)

describe("an overload", function()
  local x = la.tensor{-1.0, 2.0}

  it("is chosen among those of the form", function()
    local mask = x:gt(0)
    assert.same({9.0, 2.0}, x:where(mask, 9):totable())
    assert.same({9.0, 2.0}, x:where(mask, la.tensor{9.0}):totable())
    assert.same({-1.0, 2.0}, la.where(mask, x, -1):totable())
    assert.same({{2}}, {mask:where()[1]:totable()})
  end)

  it("speaks when most of the arguments fit it", function()
    raises("unknown keyword 'keepdims' (known: self, dim, keepdim, out)",
           x.max, x, {dim = 1, keepdims = true})
    raises("unknown keyword 'nams' (known: low, high, size", la.randint, 1, 3,
           {2, 3}, {nams = {"N"}})
    raises("number has no integer representation", x.narrow, x, 1, 1.5, 1)
    raises("number has no integer representation", x.repeat_interleave, x, 1.5)
  end)

  it("does not take a number for a tensor that gives only its form", function()
    for _, name in ipairs{"max", "min"} do
      raises("dimension 0: counting starts at 1", x[name], x, 0)
      raises("dimension 0: counting starts at 1", la[name], x, 0)
      raises("number has no integer representation", x[name], x, 0.5)
    end
    raises("got number", x.to, x, 5)
    raises("'to'", x.to, x, true)
    raises("got number", x.type_as, x, 5)
    raises("got number", x.view_as, x, 5)
    raises("got number", x.expand_as, x, 5)
    raises("got number", x.reshape_as, x, 5)
    raises("got number", la.ones(1).set_data, la.ones(1), 5)
    raises("got number", la.ones(1).resize_as_, la.ones(1), 5)
    raises("got number", la.ones(1).set_, la.ones(1), 5)
  end)

  it("says which dims have names", function()
    local named = la.zeros(2, 3, {names = {"N", "C"}})
    raises("the tensor has no dimension named 'X'", named.sum, named, "X")
    raises("number expected, got string", x.sum, x, "X")
  end)
end)

describe("sizes and strides", function()
  it("are several integers", function()
    local h, w = la.zeros(4, 5):size()
    assert.same({4, 5}, {h, w})
    assert.same({5, 1}, {la.zeros(4, 5):stride()})
    assert.equal(0, select("#", la.tensor(1):size()))
    assert.equal(0, select("#", la.tensor(1):stride()))
    assert.equal(64, select("#", la.ones(1):expand(table.unpack(
      la.ones(64, {dtype = "int64"}):totable())):size()))
    assert.equal(5, la.zeros(4, 5):size(2))
    assert.equal(5, la.zeros(4, 5):stride(-2))
    assert.same({3, 4}, {la.zeros(la.ones(3, 4):size()):size()})
    raises("dimension 0: counting starts at 1", la.ones(2).size, la.ones(2), 0)
  end)
end)

describe("the same value", function()
  local x = la.ones(2, 3)

  it("comes back from an operation that returns its argument", function()
    assert.is_true(rawequal(x, x:contiguous()))
    assert.is_true(rawequal(x, x:to("float32")))
    assert.is_true(rawequal(x, x:to("cpu")))
    assert.is_true(rawequal(x, x:float()))
    assert.is_true(rawequal(x, x:type_as(la.ones(1))))
    assert.is_true(rawequal(x, la.positive(x)))
    assert.is_true(rawequal(x, x:resolve_conj()))
    assert.equal("known", ({[x] = "known"})[x:contiguous()])
    assert.is_false(rawequal(x, x:clone()))
    assert.is_false(rawequal(x, x:view(2, 3)))
    collectgarbage() collectgarbage()
    local used = la.memory()
    for _ = 1, 2000 do x:contiguous() end
    assert.equal(used, (la.memory()))
  end)

  it("is the gradient", function()
    local y = la.ones(2, {requires_grad = true})
    y:sum():backward()
    assert.is_true(rawequal(y.grad, y.grad))
    local g = y.grad
    collectgarbage() collectgarbage()
    assert.is_true(rawequal(g, y.grad))
    local seen = {[g] = true}
    assert.is_true(seen[y.grad])
    local own = la.zeros(2)
    y.grad = own
    assert.is_true(rawequal(own, y.grad))
    own:free()
    assert.same({0.0, 0.0}, y.grad:totable())
    y.grad = nil
    assert.is_nil(y.grad)
    for _ = 1, 100 do           -- addresses come again
      y:sum():backward()
      assert.same({1.0, 1.0}, y.grad:totable())
      y.grad = nil
    end
    raises("can't assign a tensor as its own grad", function() y.grad = y end)
  end)
end)

describe("an operator", function()
  it("asks the other value's metamethod", function()
    local events = {}
    local mt = {}
    for _, event in ipairs{"add", "sub", "mul", "div", "idiv", "mod", "pow",
                           "band", "bor", "bxor", "shl", "shr"} do
      mt["__" .. event] = function(a, b)
        events[event] = la.is_tensor(a) and not la.is_tensor(b)
        return event
      end
    end
    local x, other = la.ones(2, {dtype = "int64"}), setmetatable({}, mt)
    assert.same({"add", "sub", "mul", "div", "idiv", "mod", "pow"},
                {x + other, x - other, x * other, x / other, x // other,
                 x % other, x ^ other})
    assert.same({"band", "bor", "bxor", "shl", "shr"},
                {x & other, x | other, x ~ other, x << other, x >> other})
    for event, right in pairs(events) do assert.is_true(right, event) end
    raises("tensor or number expected, got table", function() return x + {} end)
    raises("tensor or number expected, got string",
           function() return x + "1" end)
    raises("tensor or number expected", function() return {} + x end)
  end)
end)

describe("dtypes", function()
  it("take part in result_type", function()
    assert.equal("float32", la.result_type("float32", "int64"))
    assert.equal("int16", la.result_type("int16", 3))
    assert.equal("float32", la.result_type("int16", 3.5))
    assert.equal("float16", la.result_type("float16", la.tensor(1.0)))
    assert.equal("float32", la.result_type("float16", la.ones(1)))
    raises("unknown dtype 'float33'", la.result_type, "float33", 1)
  end)

  it("are told from tensors by is_tensor", function()
    assert.is_true(la.is_tensor(la.ones(1)))
    for _, v in ipairs{1, "x", {}, io.stdout, la.Generator()} do
      assert.is_false(la.is_tensor(v))
    end
    assert.is_false(la.is_tensor(nil))
    raises("value expected", la.is_tensor)
  end)
end)
