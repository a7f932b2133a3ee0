-- A crowd finds its way out of ruins: one flow field, the cheapest way to the
-- exit from every cell, leads all walkers at once. Grey bands are equal
-- distances to the exit, blue lines the ways of the crowd.
--
--   lua5.4 examples/maze.lua [size [walkers [picture.png]]]
local la = require "lunarray"
local game = la.game

local n = tonumber(arg and arg[1]) or 64
local walkers = tonumber(arg and arg[2]) or 300
local picture = arg and arg[3]
la.manual_seed(4)

-- Walls of cells with doors, some of it fallen down.
local walls = la.zeros(n, n, {dtype = "bool"})
for k = 8, n - 4, 8 do walls[{k, {}}], walls[{{}, k}] = true, true end
walls = walls & la.rand(n, n):lt(0.88) & game.fbm(la.stack(la.meshgrid{
  la.arange(n) * 0.15, la.arange(n) * 0.15}, 3), {seed = 3}):gt(-0.25)
local goal = {n // 2 + 1, n}
walls[{goal[1], goal[2]}] = false

-- Cells next to a wall cost more, so that nobody scrapes along.
local cost = (1 + 1 / game.distance_field(walls)):masked_fill(walls, math.huge)
local flow, far = game.flow_field(cost, goal)
local reach = far:isfinite()

-- Walkers start in cells from which there is a way, and follow the field.
local start = reach:nonzero()
local at = start[la.randint(#start, {walkers})]:float()
local trails, steps = la.zeros(n, n), 0
local farthest = far[{at[{{}, 1}]:long(), at[{{}, 2}]:long()}]:max():item()
local left
repeat
  local r, c = at[{{}, 1}]:long(), at[{{}, 2}]:long()
  trails:index_put_({r, c}, la.ones(walkers), true)
  at = at + flow[{r, c}]
  left = (r:ne(goal[1]) | c:ne(goal[2])):sum():item()
  steps = steps + 1
until left == 0 or steps > 4 * n

print(("%d walkers from %d cells are out after %d steps; farthest way: %.1f")
  :format(walkers - left, #start, steps, farthest))
if picture then
  -- Each cell is a square of its own; the bands are smooth between them.
  local side = math.ceil(800 / n)
  local function large(x, mode)
    return la.image.resize(x:unsqueeze(1):float(), side * n, side * n,
      {mode = mode})[1]
  end
  local bands = large(far:masked_fill(~reach, farthest), "bilinear") / 6
  local wall = large(walls, "nearest"):gt(0.5)
  local ground = (0.88 + 0.07 * bands:floor():remainder(2))
    :masked_fill(wall, 0.15)
  local ink = large((trails:clamp_max(8) / 8):sqrt(), "bilinear")
    :masked_fill(wall, 0)
  ink = (ink * 12):round() / 12
  local rgb = la.stack{ground * (1 - ink), ground * (1 - 0.55 * ink), ground}
  la.image.save(rgb:clamp(0, 1), picture)
end
return {left = left, steps = steps, farthest = farthest}
