-- Learning by trying: a pole on a cart has to be kept upright by pushes to the
-- left or right. Many carts run at once, and a small network is told only how
-- long each lasted (policy gradients, Williams 1992).
--
--   lua5.4 examples/balance.lua [rounds [carts [picture.png]]]
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"
local plot = require "lunarray.plot"

local rounds = tonumber(arg and arg[1]) or 60
local carts = tonumber(arg and arg[2]) or 128
local picture = arg and arg[3]
local STEPS, DT, PUSH = 200, 0.02, 10
la.manual_seed(3)

-- Barto, Sutton and Anderson's cart: position, velocity, angle, its rate.
local function moved(s, right)
  local x, v, a, w = table.unpack(s:unbind(2))
  local sin, cos = a:sin(), a:cos()
  local pull = ((right * 2 - 1) * PUSH + 0.05 * w:square() * sin) / 1.1
  local dw = (9.8 * sin - cos * pull)
    / (0.5 * (4 / 3 - 0.1 * cos:square() / 1.1))
  local dv = pull - 0.05 * dw * cos / 1.1
  return la.stack({x + DT * v, v + DT * dv, a + DT * w, w + DT * dw}, 2)
end

local net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
local opt = optim.Adam(net:parameters(), {lr = 0.02})
local scale = la.tensor{1.0, 1.0, 5.0, 1.0}

local function round(n)
  local s = la.rand(n, 4) * 0.1 - 0.05
  local up = la.ones(n)
  local states, pushes, lasts = {}, {}, {}
  la.no_grad(function()
    for k = 1, STEPS do
      local right = la.rand(n):lt(net(s * scale):squeeze(2):sigmoid()):float()
      states[k], pushes[k], lasts[k] = s, right, up
      s = moved(s, right)
      up = up * s[{{}, 1}]:abs():lt(2.4) * s[{{}, 3}]:abs():lt(0.21)
    end
  end)
  return la.stack(states), la.stack(pushes), la.stack(lasts)
end

local history = {}
for k = 1, rounds do
  local states, pushes, lasts = round(carts)
  -- How long each state still lasted, better or worse than others at that time.
  local rest = lasts:flip(1):cumsum(1):flip(1)
  local better = (rest - rest:mean(2, true)) / (rest:std() + 1e-6) * lasts
  opt:zero_grad()
  local scores = net(states * scale):squeeze(3)
  local loss = la.binary_cross_entropy_with_logits(scores, pushes, better)
  loss:backward()
  opt:step()
  history[k] = lasts:sum(1):mean():item()
end

print(("upright for %.0f of %d steps at first, %.0f at the end"):format(
  history[1], STEPS, history[rounds]))
if picture then
  -- How it learned, and what it does by the pole's angle and its rate.
  local n = 120
  local angle, rate = la.linspace(-0.21, 0.21, n), la.linspace(2, -2, n)
  local s = la.zeros(n, n, 4)
  s[{{}, {}, 3}], s[{{}, {}, 4}] = angle, rate:unsqueeze(2)
  local p = la.no_grad(function() return net(s * scale):sigmoid() end)
  local curve = plot.line(history, {title = "Steps that the pole stays up",
    xlabel = "round", linewidth = 2})
  local map = plot.heatmap(p:squeeze(3):flip(1) * 100, {x = {-12, 12},
    y = {-115, 115}, colormap = "coolwarm", xlabel = "degrees",
    ylabel = "degrees a second", title = "Pushes to the right, %"})
  plot.grid{curve, map, columns = 2}:save(picture, {width = 960, height = 420,
    scale = 1})
end
return {before = history[1], after = history[rounds]}
