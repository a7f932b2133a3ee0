-- The contract of arguments: what tables mean, which overload speaks, what
-- comes back as the same value.
local la = require "lunarray"
local modules = require "spec.support.modules"

local raises = require "spec.support.raises"

describe("a table as an argument", function()
  local x = la.ones(2, 3)

  it("is data only by la.tensor", function()
    local told = "a tensor of a list is la.tensor{...}"
    raises("bad argument #2 to 'add' (tensor or number expected, got table: "
           .. told, x.add, x, {1, 2, 3})
    raises(told, la.sum, {1, 2, 3})
    raises("#2 to 'mul' (tensor or number expected, got table: " .. told,
           function() return x * {1, 2, 3} end)
    raises("#1 to 'sub' (tensor or number expected, got table: " .. told,
           function() return {1, 2, 3} - x end)
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
    raises("got a list: at most 2 arguments", la.atan2, x, x, {3})
    raises("got a list: at most 1 arguments", la.lgamma, x, {5})
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
    local text = "dimension expected, got 'X': the tensor has no names"
    raises(text, x.sum, x, "X")
    local y = la.zeros(2, 3)
    raises("#2 to 'flatten' (" .. text, y.flatten, y, {"X", "Y"}, "Z")
    raises("#2 to 'flatten' (" .. text, y.flatten, y, "X", "Y", "Z")
    raises("#2 to 'unflatten' (" .. text, y.unflatten, y, "X", {{"Y", 2}})
  end)

  it("takes no name of a dim for an index", function()
    local named = la.zeros(2, 3, {names = {"N", "C"}})
    raises("number expected, got string", named.select, named, 1, "C")
    raises("tensor expected, got string", named.narrow, named, 1, "C", 1)
  end)

  it("says which few dtypes an operation takes", function()
    local y = la.rand(2, 2)
    raises("\"integer_matmul\" not implemented for 'Float': it takes uint8, "
      .. "int8", la.integer_matmul, y, y)
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
    assert.is_true(rawequal(x, x:conj()))
    assert.is_true(rawequal(x, la.conj(x)))
    assert.is_true(rawequal(x, x.real))
    assert.is_true(rawequal(x, la.real(x)))
    local c = la.ones(2, {dtype = "complex64"})
    assert.is_false(rawequal(c, c:conj()))
    assert.is_false(rawequal(c, c.real))
    assert.equal("ConjBackward", c:requires_grad_():conj().grad_fn)
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

describe("x.data", function()
  it("shares the elements, not the history", function()
    local x = la.ones(2, {requires_grad = true})
    assert.is_false(x.data.requires_grad)
    x.data:mul_(3)
    assert.same({3.0, 3.0}, x:detach():totable())
    x.data = la.tensor{1.0, 2, 3}
    assert.same({3}, {x:size()})
    assert.is_true(x.requires_grad)
    raises("tensor expected", function() x.data = 5 end)
    local y = x * 2
    local z = y * y
    y.data:zero_()
    raises("modified by an inplace operation", z.backward, z, la.ones(3))
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
    assert.is_false(la.is_tensor())
  end)
end)

describe("creation options", function()
  local named = {names = {"N", "C"}}

  local function check(name, t, want)
    assert.same(want, t.names and {table.unpack(t.names)}, name)
  end

  it("are those of all creations, of random ones too", function()
    local calls = {
      rand = {2, 3}, randn = {2, 3}, randint = {1, 5, {2, 3}},
      normal = {0, 1, {2, 3}}, zeros = {2, 3}, ones = {2, 3}, empty = {2, 3},
      full = {{2, 3}, 7},
    }
    for name, args in pairs(calls) do
      local function make(options)
        local all = {table.unpack(args)}
        all[#all + 1] = options
        return la[name](table.unpack(all))
      end
      check(name, make(named), {"N", "C"})
      assert.equal("meta", make({device = "meta"}).device)
      assert.equal("float64", make({dtype = "float64"}).dtype)
      assert.is_true(make({dtype = "float64", requires_grad = true})
        .requires_grad)
    end
    check("randperm", la.randperm(3, {names = {"I"}}), {"I"})
    raises("only Tensors of floating point", la.randint, 3, {2},
           {requires_grad = true})
    raises("2 names are needed", la.rand, 2, 3, {names = {"N"}})
  end)

  it("lay random elements out without changing them", function()
    for name, args in pairs{rand = {}, randn = {}, randint = {1, 9}} do
      local all = {table.unpack(args)}
      all[#all + 1] = {2, 3, 4, 5}
      all[#all + 1] = {memory_format = "channels_last", dtype = "float32",
                       requires_grad = true}
      la.manual_seed(3)
      local x = la[name](table.unpack(all))
      assert.same({60, 1, 15, 3}, {x:stride()})
      assert.is_true(x.requires_grad)
      all[#all].memory_format = nil
      la.manual_seed(3)
      assert.is_true(la.equal(x:detach(), la[name](table.unpack(all)):detach()))
    end
  end)

  it("leave an out tensor what it is", function()
    local out = la.empty(3, {requires_grad = true})
    la.no_grad(function() la.rand(3, {out = out}) end)
    assert.is_true(out.requires_grad)
  end)
end)

describe("names of dims", function()
  local x = la.tensor({{3, 1, 2}, {1, 2, 3}}, {names = {"N", "C"}})

  local function names(t) return t.names and {table.unpack(t.names)} end

  it("stay where dims stay", function()
    for _, call in ipairs{{"sort", "C"}, {"topk", 2, "C"}} do
      for _, t in ipairs{x[call[1]](x, call[2], call[3])} do
        assert.same({"N", "C"}, names(t), call[1])
      end
    end
    assert.same({"N", "C"}, names(x:argsort("C")))
    assert.same({"N", "C"}, names(x:index_select("C", la.tensor{1})))
    assert.same({"N", "C"}, names(la.rand_like(x:double())))
    assert.same({"N", "C"}, names(la.randint_like(x, 3)))
    assert.is_nil(names(x:flatten()))
    local cube = la.zeros(2, 3, 4, {names = {"A", "B", "C"}})
    assert.same({"A", "*"}, names(cube:flatten(2, 3)))
    assert.same({"*", "C"}, names(cube:flatten(1, 2)))
    assert.same({"A", "*", "*", "C"}, names(cube:unflatten(2, {3, 1})))
    assert.is_nil(names(la.zeros(2, 3):flatten()))
  end)

  it("are not carried to other sizes", function()
    raises("named dims cannot be resized", x.resize_, x:clone(), 3, 2)
    assert.same({"N", "C"}, names(x:clone():resize_(2, 3)))
  end)
end)

describe("geometry in place", function()
  it("gives an expanded tensor the memory it needs", function()
    for _, f in ipairs{
      function(z) return z:resize_({5}, {memory_format = "contiguous"}) end,
      function(z)
        return z:resize_as_(la.ones(5), {memory_format = "contiguous"})
      end,
    } do
      local z = f(la.ones(1):expand(5))
      assert.same({1}, {z:stride()})
      assert.equal(20, z:untyped_storage_size())
      assert.equal(5, #z:zero_():totable())
    end
  end)

  it("takes no negative strides", function()
    raises("Negative strides", la.ones(4).set_, la.ones(4), la.ones(4), 1, {4},
           {-1})
  end)
end)

describe("an error", function()
  local x = la.ones(3)

  it("says how a thing is written in Lua", function()
    raises("x[{{first, last}}]", function() return x[{1, 2}] end)
    raises("la.stack", la.tensor, {x, x})
    raises("la.tensor{...}", function() x[{{1, 2}}] = {1, 2} end)
    raises("not implemented for 'Long'", la.nanmean, la.tensor{1, 2})
    raises("Use the `~` or", la.sub, x:gt(0), x:gt(0))
  end)

  it("counts no argument of an operation inside", function()
    local message = raises("indices start at 1", la.embedding, la.tensor{0},
                           la.ones(3, 2))
    assert.is_nil(message:find("argument", 1, true))
  end)

  it("clips and escapes what it quotes", function()
    local long = ("\27x"):rep(1000)
    for _, f in ipairs{
      function() x[long] = 1 end,
      function() la.scatter_reduce(x, 1, la.tensor{1}, x, long) end,
      function() la.index_reduce(x, 1, la.tensor{1}, x, long) end,
      function() la.zeros(2, {[long] = 1}) end,
      function() la.tensor{1, [long] = 1} end,
      function() la.tensor{{1, [long] = 1}} end,
      function() la.zeros({2, [long] = 1}, {}) end,
      function() la.ones(2, {names = {"N"}}):sum(long) end,
      function() la.zeros(2, {dtype = long}) end,
      function() la.tensor({1}, {memory_format = long}) end,
    } do
      local message = raises("\\x1Bx", f)
      assert.is_nil(message:find("\27", 1, true))
      assert.is_true(#message < 2000)
    end
  end)

  it("of a module names what it needs", function()
    local nn, optim = require "lunarray.nn", require "lunarray.optim"
    raises("Linear: in_features: number expected, got string", nn.Linear, "a",
           3)
    raises("SGD: a list of parameters expected, got a module: "
           .. "net:parameters()", optim.SGD, nn.Linear(1, 1), {lr = 1})
  end)

  it("of a Lua module names function and argument", function()
    local f = function(t) return t * 2 end
    for name, args in pairs{vjp = {x, x}, jvp = {x, x}, hvp = {x, x},
                            jacobian = {x}, hessian = {x}, gradcheck = {x},
                            gradgradcheck = {x}} do
      local call = la[name]
      raises("bad argument #1 to '" .. name .. "' (function expected, got",
             call, 1, table.unpack(args))
      raises("bad argument #2 to '" .. name .. "' (tensor or list", call, f, 2,
             args[2])
      raises(("bad argument #%d to '%s' (table of options expected, got "
              .. "number)"):format(#args + 2, name), call, f, args[1],
             args[2] or 5, args[2] and 5)
    end
    raises("bad argument #2 to 'vjp' ([1]: tensor expected, got number)",
           la.vjp, f, {1})
    raises("bad argument #3 to 'jvp' (tensor or list", la.jvp, f, x)
    raises("bad argument #1 to 'checkpoint' (function expected", la.checkpoint,
           1)
    for _, name in ipairs{"clip_grad_norm_", "clip_grad_value_"} do
      raises("bad argument #1 to '" .. name .. "' (tensor or list", la[name], 1)
      raises("bad argument #1 to '" .. name .. "' ([1]: tensor expected",
             la[name], {1}, 2)
      raises("bad argument #2 to '" .. name .. "' (number expected, got no "
             .. "value)", la[name], {x})
    end
    raises("must return a tensor", la.jacobian, function() return 1 end, x)
  end)
end)

describe("keywords of", function()
  local x = la.tensor{{1.0, 2, 4}, {3, 1, 5}}

  local function near(want, got)
    assert.is_true(la.allclose(la.tensor(want):float(), got:detach(),
                               {atol = 1e-4}), tostring(got))
  end

  it("cov weigh the observations", function()
    local often, much = la.tensor{1, 2, 3}, la.tensor{0.5, 1.0, 2.0}
    near({{1.7667, 2.0667}, {2.0667, 3.8667}}, x:cov{fweights = often})
    near({{2.5, 3.0}, {3.0, 5.4286}}, x:cov{aweights = much})
    near({{1.0519, 1.5502}, {1.5502, 2.8789}},
         x:cov{correction = 0, fweights = often, aweights = much})
    near(1.7667, x[1]:cov{fweights = often})
    assert.same(x:cov():totable(),
                x:cov{fweights = la.ones(3, {dtype = "int64"})}:totable())
    raises("fweights cannot be negative", x.cov, x,
           {fweights = la.tensor{1, -2, 3}})
    raises("expected fweights to have integral", x.cov, x, {fweights = much})
    raises("expected aweights to have floating", x.cov, x, {aweights = often})
    raises("each of the 3 observations", x.cov, x, {fweights = la.tensor{1}})
    assert.is_true(la.gradcheck(function(t, w) return t:cov{aweights = w} end,
      {x:double():requires_grad_(), much:double():requires_grad_()}))
  end)

  it("embedding limit rows and scale gradients", function()
    local function weight()
      return la.tensor({{1.0, 2}, {3, 4}, {0.1, 0.2}}, {requires_grad = true})
    end
    local w = weight()
    local rows = la.embedding(la.tensor{{1, 2}, {2, 3}}, w,
                              {scale_grad_by_freq = true})
    near({{{1, 2}, {3, 4}}, {{3, 4}, {0.1, 0.2}}}, rows)
    rows:pow(2):sum():backward()
    near({{2, 4}, {6, 8}, {0.2, 0.4}}, w.grad)
    w = weight()
    local limited = la.embedding(la.tensor{1, 3, 1}, w, {max_norm = 1})
    near({{0.4472, 0.8944}, {0.1, 0.2}, {0.4472, 0.8944}}, limited)
    near({{0.4472, 0.8944}, {3, 4}, {0.1, 0.2}}, w)
    limited:sum():backward()
    near({{2, 2}, {0, 0}, {1, 1}}, w.grad)
    local bags = {sum = {{1, 2}, {1.1, 2.2}}, mean = {{1, 2}, {0.55, 1.1}},
                  max = {{1, 2}, {1, 2}}}
    for mode, want in pairs(bags) do
      near(want, la.embedding_bag(la.tensor{1, 2, 2, 3, 1}, weight(),
        la.tensor{1, 4}, {mode = mode, padding_idx = 2}))
    end
    w = weight()
    local bag = la.embedding_bag(la.tensor{1, 2, 2, 3, 1}, w, la.tensor{1, 4},
      {mode = "sum", padding_idx = 1, scale_grad_by_freq = true,
       per_sample_weights = la.tensor{1.0, 2, 3, 4, 5}})
    near({{15, 20}, {0.4, 0.8}}, bag)
    bag:sum():backward()
    near({{0, 0}, {2.5, 2.5}, {4, 4}}, w.grad)
    near({{0.4472, 0.8944}}, la.embedding_bag(la.tensor{{1, 1}}, weight(),
                                             {max_norm = 1}))
    raises("padding_idx must be within", la.embedding_bag, la.tensor{{1}},
           weight(), {padding_idx = 4})
  end)

  it("casts and triangles are PyTorch's", function()
    assert.same({24, 1, 8, 2}, {la.ones(1, 2, 3, 4):double{
      memory_format = "channels_last"}:stride()})
    for _, name in ipairs{"float", "double", "half", "bfloat16", "long", "int",
                          "short", "char", "byte", "bool", "chalf", "cfloat",
                          "cdouble"} do
      local y = la.ones(1, 2, 3, 4)
      y = y[name](y, {memory_format = "channels_last"})
      assert.same({24, 1, 8, 2}, {y:stride()}, name)
    end
    assert.equal("meta", la.tril_indices(3, 3, {device = "meta"}).device)
    assert.equal("meta", la.triu_indices(3, 3, {device = "meta"}).device)
    for _, name in ipairs{"var", "std"} do
      for _, unbiased in ipairs{true, false} do
        local v, m = x[name .. "_mean"](x, unbiased)
        assert.equal(x[name](x, unbiased):item(), v:item())
        assert.equal(x:mean():item(), m:item())
      end
    end
  end)

  it("ctc_loss take lists of lengths", function()
    local logs = la.arange(24):float():view(4, 2, 3):log_softmax(3)
    local targets = la.tensor{{2, 3}, {3, 2}}
    for _, reduction in ipairs{"none", "mean", "sum"} do
      local o = {blank = 1, reduction = reduction}
      assert.same(la.ctc_loss(logs, targets, la.tensor{4, 3}, la.tensor{2, 1},
                              o):totable(),
                  la.ctc_loss(logs, targets, {4, 3}, {2, 1}, o):totable())
    end
  end)

  it("operations at their edges", function()
    local m = la.ones(2, 2, {requires_grad = true})
    m:matrix_power(0):sum():backward()
    assert.same({{0.0, 0.0}, {0.0, 0.0}}, m.grad:totable())
    assert.same({{1.0, 0.0}, {0.0, 1.0}}, m:matrix_power(0):detach():totable())
    assert.same({0}, {la.ones(2, 2):gather(1, la.zeros(0)):size()})
    local z = la.dropout(la.complex(la.ones(100), la.ones(100)), 0.5)
    local kept = z.real:ne(0)
    assert.is_true(la.equal(kept, z.imag:ne(0)))
    assert.is_true(kept:any() and not kept:all())
    assert.equal(2.0, z.real:max():item())
  end)
end)

describe("memory", function()
  it("of dead tensors is found by indexing, too", function()
    collectgarbage() collectgarbage()
    collectgarbage("stop")
    local x, index = la.ones(400, 400), la.range(400)
    local mask = x:gt(0)
    la.set_memory_limit((la.memory()) + (2 << 20))
    local ok, why = pcall(function()
      for _ = 1, 20 do local _ = x[index] end
      for _ = 1, 20 do local _ = x[{mask}] end
      for _ = 1, 20 do local _ = x(index) end
      for _ = 1, 20 do x[index] = la.zeros(400, 400) end
    end)
    la.set_memory_limit(0)
    collectgarbage("restart")
    assert.is_true(ok, why)
  end)

  local function fill()
    for _ = 1, 40 do
      local _, _, cap = la.memory()
      local free = (cap - (la.memory())) // 8 - 300
      if free > 0 then local _ = la.empty(free, {dtype = "float64"}) end
    end
  end

  -- Calls f with the cap full of dead tensors.
  local function at_the_cap(f)
    collectgarbage() collectgarbage()
    collectgarbage("stop")
    la.set_memory_limit((la.memory()) + (3 << 20))
    fill()
    local ok, why = pcall(f)
    la.set_memory_limit(0)
    collectgarbage("restart")
    assert.is_true(ok, why)
    return why
  end

  it("of dead tensors is found by fused functions", function()
    local a, b = la.full({50000}, 2.0), la.full({50000}, 3.0)
    local sum = la.fuse(function(x, y) return x * y + x, {x - y} end)
    assert.equal(8, at_the_cap(function() return sum(a, b):item(7) end))
    local rows = la.fuse(function(x) return (x:view(500, 100) * 2):sum(2) end)
    assert.equal(400, at_the_cap(function() return rows(a):item(7) end))
    -- What was written down is not lost by the first attempt.
    local write = la.fuse(function(x, y)
      x:mul_(y)
      fill()
      return x + 1, x:view(100, 500):matmul(x:view(500, 100))
    end)
    local z, product = at_the_cap(function() return {write(a, b)} end), 0
    z, product = z[1], z[2]
    assert.equal(6, a:item(7))
    assert.equal(7, z:item(7))
    assert.equal(36 * 500, product:item(7, 7))
  end)

  it("of dead tensors is found by what reads and writes files", function()
    local name = os.tmpname()
    local x = la.rand(3, 100, 200)
    local wide = x.mT
    la.save(x, name .. ".npy")
    la.save({x = x, y = la.rand(2, 40000)}, name .. ".npz")
    la.save({x = x}, name .. ".safetensors")
    for _, kind in ipairs{".npy", ".npz", ".safetensors"} do
      local y = at_the_cap(function() return la.load(name .. kind) end)
      assert.is_true(la.equal(x, kind == ".npy" and y or y.x))
    end
    at_the_cap(function() la.save(wide, name .. ".npy") end)
    at_the_cap(function() la.save({x = wide}, name .. ".npz") end)
    assert.is_true(la.equal(wide, la.load(name .. ".npz").x))
    for _, kind in ipairs{"", ".npy", ".npz", ".safetensors"} do
      os.remove(name .. kind)
    end
  end)

  modules.needing("image audio", it)("of dead tensors is found by pictures "
    .. "and sounds", function()
    local name = os.tmpname()
    local x = la.rand(3, 100, 200)
    local sound = la.rand(2, 40000) * 2 - 1
    local png = at_the_cap(function() return la.image.encode(x, "png") end)
    at_the_cap(function() return la.image.decode(png) end)
    at_the_cap(function() la.image.save(x, name .. ".png") end)
    at_the_cap(function() return la.image.load(name .. ".png") end)
    local wav = at_the_cap(function() return la.audio.encode(sound, 8000) end)
    at_the_cap(function() return la.audio.decode(wav) end)
    at_the_cap(function() la.audio.save(sound, name .. ".wav", 8000) end)
    at_the_cap(function() return la.audio.load(name .. ".wav") end)
    for _, kind in ipairs{"", ".png", ".wav"} do os.remove(name .. kind) end
  end)

  it("of dead tensors is found by functions of Lua on elements", function()
    local x = la.ones(50000)
    local y = at_the_cap(function()
      return x:clone():apply_(function(v) return v + 1 end)
    end)
    assert.equal(2, y:item(3))
    y = at_the_cap(function()
      return la.from_function({20000}, function(i)
        return i > 9 and 0.5 or 1
      end)
    end)
    assert.equal(0.5, y:item(10))
  end)
end)

describe("printing", function()
  it("of many dims stays small", function()
    local sizes = {}
    for k = 1, 40 do sizes[k] = 2 end
    assert.is_true(#tostring(la.ones(1):expand(table.unpack(sizes))) < 32768)
    local six = la.zeros(7, 7, 7, 7, 7, 7)
    assert.is_true(#tostring(six) > 100000)     -- all edges, as in PyTorch
  end)
end)

describe("numbers alone", function()
  it("are what la.tensor makes of them", function()
    local calls = {la.sum, la.clone, la.mean,
      function(v) return la.softmax(v, 1) end,
      function(v) return la.cumsum(v, 1) end,
      function(v) return la.reshape(v, 1) end,
      function(v) return la.lerp(v, 1.0, 0.5) end}
    for _, default in ipairs{"float32", "float64"} do
      la.set_default_dtype(default)
      local ok, why = pcall(function()
        for _, f in ipairs(calls) do
          assert.equal(default, f(2.5).dtype)
          assert.is_true(la.equal(f(2.5), f(la.tensor(2.5))))
        end
      end)
      la.set_default_dtype("float32")
      assert.is_true(ok, why)
    end
    assert.equal("int64", la.sum(2).dtype)
    assert.equal("bool", la.clone(true).dtype)
    local wide = la.tensor({0.1}, {dtype = "float64"})
    assert.equal(0.2, (wide + 0.1):item())      -- next to a tensor: full width
    assert.equal(0.1, la.where(wide:gt(5), wide, 0.1):item())
  end)
end)

describe("nonzero", function()
  it("takes as_tuple=false with out", function()
    local x, out = la.tensor{0, 3, 4}, la.zeros({0}, {dtype = "int64"})
    local r = la.nonzero(x, {as_tuple = false, out = out})
    assert.is_true(rawequal(r, out))
    assert.same({{2}, {3}}, out:totable())
    raises("out has no list of tensors", function()
      la.nonzero(x, {as_tuple = true, out = out})
    end)
  end)
end)
