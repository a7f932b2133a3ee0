-- Hooks that finalizers register, in every step of a busy collector; prints how
-- often the hook of the last tensor ran, and its gradient's value.
local la = require "lunarray"
local stock = require "spec.support.interpreter"

local function leaf(values)
  return la.tensor(values, {dtype = "float64", requires_grad = true})
end

local seen = 0
local function hung(finish)
  local y = leaf{1} * 2
  y:register_hook(function(g)
    seen = seen + 1
    return y and g
  end)
  if finish then setmetatable({y}, {__gc = function() hung() end}) end
  return y
end

local restore = stock.busy()
for k = 1, 2000 do hung(k % 3 == 0) end
restore()
hung():backward()

local x = leaf{2};
(x * x):sum():backward()
print(("%d %d"):format(seen, x.grad:item()))
