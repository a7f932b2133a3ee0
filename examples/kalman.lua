-- A Kalman filter for a thousand tracks at once: positions in the plane are
-- measured with noise, the filter says where each target is and how fast it
-- moves. The state is (x, y, vx, vy); matrices of all tracks are one batch.
--
--   lua5.4 examples/kalman.lua [steps [picture.png]]

local la = require "lunarray"
local plot = require "lunarray.plot"

local TRACKS, DT = 1000, 0.1
local NOISE = 0.5                 -- of a measurement, m
local PUSH = 0.8                  -- of the acceleration, m/s^2
local steps = tonumber(arg and arg[1]) or 100
la.manual_seed(4)
la.set_default_dtype "float64"

local move = la.eye(4)
move[1][3], move[2][4] = DT, DT
local see = la.eye(2, 4)
-- What a push adds to the state: half of DT squared to the position.
local pushed = la.tensor{{DT * DT / 2, 0}, {0, DT * DT / 2}, {DT, 0}, {0, DT}}
local process = pushed:matmul(pushed:t()) * PUSH ^ 2
local noise = la.eye(2) * NOISE ^ 2

-- One step: predict, then correct by the measurement (tracks x 2). The gain is
-- K = P H' S^-1, found by solving S K' = H P as S and P are symmetric.
local function filter(state, cov, measured)
  state = state:matmul(move:t())
  cov = move:matmul(cov):matmul(move:t()) + process
  local s = see:matmul(cov):matmul(see:t()) + noise
  local gain = la.linalg.solve(s, see:matmul(cov)).mT
  local miss = (measured - state:matmul(see:t())):unsqueeze(-1)
  state = state + gain:matmul(miss):squeeze(-1)
  return state, cov - gain:matmul(see):matmul(cov)
end

local truth = la.cat({la.randn(TRACKS, 2) * 10, la.randn(TRACKS, 2)}, 2)
local state = la.zeros(TRACKS, 4)
local cov = (la.eye(4) * 100):expand(TRACKS, 4, 4)

local function rms(x) return x:square():sum(-1):mean():sqrt():item() end

local raw, filtered, speed, inside
local path = {}            -- of the first target: seen, filtered, true
for k = 1, steps do
  truth = truth:matmul(move:t()) + (la.randn(TRACKS, 2) * PUSH)
    :matmul(pushed:t())
  local measured = truth:matmul(see:t()) + la.randn(TRACKS, 2) * NOISE
  state, cov = filter(state, cov, measured)
  local miss = state - truth
  path[k] = la.stack{measured[1], state[{1, {1, 2}}], truth[{1, {1, 2}}]}
  raw = rms(measured - truth:matmul(see:t()))
  filtered, speed = rms(miss[{{}, {1, 2}}]), rms(miss[{{}, {3, 4}}])
  -- The squared distance in units of the covariance is chi-squared with four
  -- degrees of freedom: nine tenths of the tracks lie below 7.78.
  local d = miss:unsqueeze(-1)
  local distance = d.mT:matmul(la.linalg.solve(cov, d)):flatten()
  inside = distance:lt(7.779):to("float64"):mean():item()
  if k == 1 or k % (steps // 4) == 0 then
    print(("step %4d: measured to %.3f m, filtered to %.3f m, speed to "
      .. "%.3f m/s"):format(k, raw, filtered, speed))
  end
end
print(("%.1f %% of the tracks lie in their 90 %% ellipsoid"):format(
  inside * 100))
la.set_default_dtype "float32"
if arg and arg[2] then
  local p = la.stack(path, 3)       -- {seen, filtered, true}, {x, y}, steps
  local fig = plot.scatter(p[1][1], p[1][2], {label = "measured", alpha = 0.6,
    markersize = 4, color = "gray", aspect = "equal", xlabel = "m east",
    ylabel = "m north", title = "One of a thousand tracks"})
  fig:line(p[3][1], p[3][2], {label = "where it was", style = "--"})
  fig:line(p[2][1], p[2][2], {label = "filtered", linewidth = 2.2})
  fig:set{legend = "best"}
  fig:save(arg[2], {width = 800, height = 560, scale = 1})
end

return {raw = raw, filtered = filtered, inside = inside}
