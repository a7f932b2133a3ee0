-- Throwing a ball into baskets: the aim is found by gradients that go back
-- through the simulated flight, with drag and wind. For each basket the three
-- unknowns are the two parts of the speed at the start and the time of flight;
-- all baskets are solved at once, as rows of one tensor.
--
--   lua5.4 examples/throw.lua [rounds]

local la = require "lunarray"
local optim = require "lunarray.optim"

local GRAVITY, DRAG, WIND, STEPS = 9.81, 0.02, -3, 60
local F64 = {dtype = "float64"}
local baskets = la.tensor({{12, 1}, {25, 8}, {38, 3}}, F64)

-- Positions after each step: a list of (baskets x 2). Drag grows with the
-- square of the speed against the moving air.
local function fly(start, time)
  local gravity = la.tensor({0, -GRAVITY}, F64)
  local air = la.tensor({WIND, 0}, F64)
  local dt = time:unsqueeze(2) / STEPS
  local position, speed, path = la.zeros_like(baskets), start, {}
  for k = 1, STEPS do
    local wind = speed - air
    local pull = gravity - DRAG * wind * wind:square():sum(2, true):sqrt()
    local half = speed + pull * dt / 2
    position, speed = position + half * dt, speed + pull * dt
    path[k] = position
  end
  return path
end

local function miss_of(path)
  return (path[STEPS] - baskets):square():sum(2)
end

-- ---- the aim ----

-- The ball has to be in the basket at the end of its time; among all throws
-- that do it, the weight of the speed picks a soft one. The weight goes to
-- zero, and L-BFGS takes what is left of the miss.
local function aim(rounds)
  local start = la.tensor({{8, 8}, {8, 8}, {8, 8}}, F64):requires_grad_()
  local time = la.full({3}, 1.5, F64):requires_grad_()
  local opt = optim.Adam({{params = {start}, lr = 0.3},
    {params = {time}, lr = 0.03}})
  local schedule = optim.CosineAnnealingLR(opt, {T_max = rounds})
  local miss
  for k = 1, rounds do
    opt:zero_grad()
    miss = miss_of(fly(start, time))
    local soft = 0.02 * (1 - k / rounds) ^ 2
    local loss = miss:sum() + soft * start:square():sum()
    loss:backward()
    opt:step()
    schedule:step()
    if k == 1 or k % (rounds // 4) == 0 then
      local a, b, c = table.unpack(miss:sqrt():totable())
      print(("  round %4d: misses by %.3f, %.3f, %.3f m"):format(k, a, b, c))
    end
  end
  local last = optim.LBFGS({start, time}, {max_iter = 30,
    line_search_fn = "strong_wolfe", tolerance_change = 1e-14})
  last:step(function()
    last:zero_grad()
    local loss = miss_of(fly(start, time)):sum()
    loss:backward()
    return loss
  end)
  return start:detach(), time:detach()
end

-- ---- the picture ----

local function draw(path)
  local wide, high, rows = 40, 14, {}
  for y = 0, high do
    rows[y] = {}
    for x = 0, wide do rows[y][x] = y == 0 and "_" or " " end
  end
  local function mark(x, y, sign)
    x, y = math.floor(x + 0.5), math.floor(y + 0.5)
    if rows[y] and rows[y][x] then rows[y][x] = sign end
  end
  for _, position in ipairs(path) do
    for _, p in ipairs(position:totable()) do mark(p[1], p[2], ".") end
  end
  for _, p in ipairs(baskets:totable()) do mark(p[1], p[2], "U") end
  mark(0, 0, "@")
  for y = high, 0, -1 do
    print("  " .. table.concat(rows[y], "", 0, wide))
  end
end

local rounds = tonumber(arg and arg[1]) or 400
print(("three baskets, wind %g m/s, %d rounds"):format(WIND, rounds))
local start, time = aim(rounds)
local path = la.no_grad(fly, start, time)
print()
draw(path)
print()
for k, v in ipairs(start:totable()) do
  print(("  basket %d at (%g, %g): %.2f m/s at %.1f degrees, %.2f s"):format(k,
    baskets:item(k, 1), baskets:item(k, 2), math.sqrt(v[1] ^ 2 + v[2] ^ 2),
    math.deg(math.atan(v[2], v[1])), time:item(k)))
end
local worst = miss_of(path):max():sqrt():item()
print(("the worst throw misses the middle by %.1f mm"):format(1000 * worst))
return worst
