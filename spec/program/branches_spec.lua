-- Both branches of la.cond run while a program is recorded, and only one is
-- taken: the other leaves nothing behind. What a function with branches makes
-- compiled is what it makes as it is.
local la = require "lunarray"
local optim = require "lunarray.optim"

local YES, NO = la.tensor(true), la.tensor(false)

-- What make()'s function gives and leaves for each truth in turn, eager and
-- compiled. make gives the function and one that looks at what is left.
local function agrees(make)
  local seen = {}
  for k, wrap in ipairs{function(f) return f end, la.compile} do
    la.manual_seed(7)
    local f, look = make()
    f = wrap(f)
    seen[k] = {}
    for _, p in ipairs{YES, NO, YES, NO, NO, YES} do
      local list = {f(p:clone()), look()}
      for i = 1, 2 do list[i] = list[i] and list[i]:tostring_raw() or "none" end
      table.insert(seen[k], table.concat(list, "|"))
    end
  end
  assert.same(seen[1], seen[2])
end

describe("a compiled function that changes a mode", function()
  for name, change in pairs{
    set_grad_enabled = function() la.set_grad_enabled(false) end,
    set_default_dtype = function() la.set_default_dtype "float64" end,
    use_deterministic = function() la.use_deterministic(true) end} do
    it("does so in each call: " .. name, function()
      local w = la.ones(2, {requires_grad = true})
      local function f(x)
        change()
        return x * w + la.zeros(2)
      end
      local modes = {}
      for k, g in ipairs{f, la.compile(f)} do
        modes[k] = {}
        for _ = 1, 3 do
          local y = g(la.ones(2))
          table.insert(modes[k], tostring(y.dtype) .. tostring(y.requires_grad)
            .. tostring(la.is_grad_enabled()) .. la.get_default_dtype()
            .. tostring(la.are_deterministic_algorithms_enabled()))
          la.set_grad_enabled(true)
          la.set_default_dtype "float32"
          la.use_deterministic(false)
        end
      end
      assert.same(modes[1], modes[2])
    end)
  end
end)

describe("branches of la.cond in a program leave alone", function()
  it("gradients that are assigned or dropped", function()
    agrees(function()
      local w = la.zeros(2, {requires_grad = true})
      w.grad = la.ones(2)
      return function(p)
        return (la.cond(p, function()
          w.grad = la.full({2}, 5.0)
          return la.ones(2)
        end, function()
          w:zero_grad()
          return la.zeros(2)
        end))
      end, function() return w.grad end
    end)
  end)

  it("generators", function()
    agrees(function()
      return function(p)
        return (la.cond(p, function() return la.ones(2) end, function()
          la.manual_seed(4)
          return la.rand(2)
        end))
      end, function() return la.rand(3) end
    end)
    agrees(function()
      local g = la.Generator(5)
      return function(p)
        return (la.cond(p, function() return la.ones(2) end, function()
          g:jump()
          return la.zeros(2)
        end))
      end, function() return la.rand(3, {generator = g}) end
    end)
  end)

  it("a need of gradients, names, modes", function()
    agrees(function()
      local w, named = la.zeros(2), la.zeros(2, {names = {"a"}})
      return function(p)
        return (la.cond(p, function() return la.ones(2) end, function()
          w:requires_grad_(true)
          named.names = nil
          la.set_default_dtype "float64"
          local x = la.zeros(2):float()
          la.set_default_dtype "float32"
          return x
        end))
      end, function()
        local dtype = la.get_default_dtype()
        local left = la.tensor{w.requires_grad, named.names ~= nil,
          dtype == "float32"}
        w:requires_grad_(false)
        named.names = {"a"}
        return left
      end
    end)
  end)

  for kind, options in pairs{SGD = {lr = 0.1, momentum = 0.9, dampening = 0.5},
      Adam = {lr = 0.1}, Adagrad = {lr = 0.1, lr_decay = 0.3},
      RMSprop = {lr = 0.1}} do
    it("the state of " .. kind, function()
      agrees(function()
        local w = la.ones(3, {requires_grad = true})
        local opt = optim[kind]({w}, options)
        return function(p)
          opt:zero_grad()
          local loss = w:square():sum()
          loss:backward()
          return (la.cond(p, function()
            opt:step()
            return loss:detach()
          end, function() return loss:detach() * 2 end))
        end, function() return w:detach() end
      end)
    end)
  end

  it("where an error of theirs is caught", function()
    agrees(function()
      local w = la.zeros(2, {requires_grad = true})
      return function(p)
        return (la.cond(p, function()
          pcall(function() w.grad = la.ones(2) end)
          return la.ones(2)
        end, function() return la.zeros(2) end))
      end, function() return w.grad end
    end)
  end)
end)

-- What a call computes lies in the same memory as what the call before did.
describe("parts of a program use what the program computes", function()
  local two = la.tensor(2.)
  local function agrees_on(f, values)
    local step = la.compile(f)
    for _ = 1, 3 do
      for _, value in ipairs(values) do
        local x = la.full({2, 2}, value + 0.0)
        assert.is_true(la.equal(f(x), step(x)), value)
      end
    end
  end

  it("anew in each call, in branches", function()
    agrees_on(function(x)
      local y = x:matmul(x) + 1
      return -la.cond(x:sum():gt(0), function() return (y * two):exp() end,
        function() return (y:t():contiguous() / two):matmul(y) end)
    end, {1, -1, 3, -2, 1})
  end)

  it("anew in each call, in loops", function()
    agrees_on(function(x)
      local y, limit = x:matmul(x) + 1, x:sum() * 10
      local z = la.while_loop(function(v) return v:sum():lt(limit * two) end,
        function(v) return v + (y * two):abs() end, x)
      return z
    end, {1, 3, 2, 3, 1})
  end)
end)
