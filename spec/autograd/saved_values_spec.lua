-- What operations save for the backward pass goes when it has run, through
-- written views too: memory is given back, and another pass is refused. With
-- retain_graph it stays, and the same gradients come again.
local la = require "lunarray"

local N = 20000
local BYTES = 8 * N

local function numbers()
  return la.rand(N, {dtype = "float64"}) + 0.5
end

-- Operations in place that save what they read or made.
local WRITES = {
  mul_ = function(x, w) return x:mul_(w) end,
  div_ = function(x, w) return x:div_(w) end,
  pow_ = function(x) return x:pow_(3) end,
  sin_ = function(x) return x:sin_() end,
  exp_ = function(x) return x:exp_() end,
  square_ = function(x) return x:square_() end,
  tanh_ = function(x) return x:tanh_() end,
  sqrt_ = function(x) return x:sqrt_() end,
  lerp_ = function(x, w) return x:lerp_(w, w) end,
  addcmul_ = function(x, w) return x:addcmul_(w, w) end,
  masked_fill_ = function(x, w) return x:masked_fill_(w:gt(1), 2) end,
  clamp_ = function(x) return x:clamp_(0.6, 1.2) end,
  cumsum_ = function(x) return x:cumsum_(1) end,
  index_copy_ = function(x, w)
    return x:index_copy_(1, la.range(N, 1, -1, {dtype = "int64"}), w)
  end
}

-- How the tensor that is written is reached.
local TARGETS = {
  ["itself"] = function(y) return y end,
  ["a view"] = function(y) return y[{{1, N}}] end,
  ["a view of a view"] = function(y) return y:view(2, N // 2):view(N) end,
  ["a flipped view"] = function(y) return y:view(N, 1):t():squeeze(1) end
}

local function settle()
  collectgarbage()
  collectgarbage()
  return la.memory()
end

local names = {}
for name in pairs(WRITES) do
  if la.ones(1)[name] then names[#names + 1] = name end
end
table.sort(names)

for where, target in pairs(TARGETS) do
  describe("what is saved by a write through " .. where, function()
    for _, name in ipairs(names) do
      local write = WRITES[name]

      it("goes with the backward pass: " .. name, function()
        local x, w = numbers():requires_grad_(), numbers()
        w:requires_grad_()
        x.grad, w.grad = la.zeros_like(x), la.zeros_like(w)
        local before = settle()
        local y = x * 1
        do write(target(y), w) end
        local total = y:sum()
        total:backward()
        assert.has_error(function() total:backward() end)
        -- y itself, and small change
        local left = settle() - before
        assert.is_true(left < BYTES + BYTES // 4, left)
        y, total = nil, nil
        assert.is_true(settle() - before < BYTES // 8, settle() - before)
      end)

      it("stays with retain_graph, and then goes: " .. name, function()
        local x, w = numbers():requires_grad_(), numbers():requires_grad_()
        x.grad, w.grad = la.zeros_like(x), la.zeros_like(w)
        local before = settle()
        local y = x * 1
        do write(target(y), w) end
        local total = y:sum()
        total:backward {retain_graph = true}
        local first, other = x.grad:clone(), w.grad:clone()
        total:backward {retain_graph = true}
        assert.is_true(la.allclose(first * 2, x.grad))
        assert.is_true(la.allclose(other * 2, w.grad))
        total:backward()
        assert.is_true(la.allclose(first * 3, x.grad))
        first, other = nil, nil
        assert.has_error(function() total:backward() end)
        local left = settle() - before
        assert.is_true(left < BYTES + BYTES // 4, left)
      end)
    end
  end)
end
