-- Frame times of a game's script: 100,000 particles, moved by plain arithmetic
-- that makes a temporary of each step, next to 300,000 live Lua tables.
--
--   lua5.4 bench/frames.lua [generational|incremental] [tidy|plain|buffers]
--
-- runs each of the six, or those named. 'plain' leaves temporaries to the
-- collector, 'tidy' frees them at the end of each frame, 'buffers' makes none:
-- the same operations into tensors made once, so that its figures have nothing
-- but the machine in them. Processor time of one thread, in milliseconds: of
-- one run for 'plain', else the least of seven of each figure. Other programs
-- on the machine add to all of them; what is to be compared belongs on an idle
-- one, or 'tidy' next to 'buffers'.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.cpath = here .. "/../build/?.so;" .. package.cpath
local la = require "lunarray"
la.set_num_threads(1)

local N, FRAMES, TABLES = 100000, 1200, 300000
local RUNS = {tidy = 7, plain = 1, buffers = 7}

local function world()
  la.manual_seed(1)
  return la.randn(3, N), la.zeros(3, N), la.rand(N) + 0.5
end

-- One frame: a spring to the middle, drag, a floor that particles jump off. The
-- state is written in place, all else is a new tensor.
local function frame(pos, vel, mass, dt)
  local force = pos * -4 - vel * 0.3
  local next_vel = vel + force / mass * dt
  local next_pos = pos + next_vel * dt
  local under = next_pos[2]:lt(-1)
  next_vel[2] = la.where(under, next_vel[2]:abs() * 0.8, next_vel[2])
  next_pos[2] = next_pos[2]:clamp(-1)
  pos:copy_(next_pos)
  vel:copy_(next_vel)
end

local function with_buffers()
  local force, some = la.zeros(3, N), la.zeros(3, N)
  local next_vel, next_pos = la.zeros(3, N), la.zeros(3, N)
  local y, vy = next_pos[2], next_vel[2]
  local under, up = la.zeros(N, {dtype = "bool"}), la.zeros(N)
  return function(pos, vel, mass, dt)
    la.mul(pos, -4, {out = force})
    force:sub_(la.mul(vel, 0.3, {out = some}))
    la.div(force, mass, {out = some}):mul_(dt)
    la.add(vel, some, {out = next_vel})
    la.add(pos, la.mul(next_vel, dt, {out = some}), {out = next_pos})
    la.lt(y, -1, {out = under})
    la.abs(vy, {out = up}):mul_(0.8)
    vy:copy_(la.where(under, up, vy, {out = up}))
    y:clamp_(-1)
    pos:copy_(next_pos)
    vel:copy_(next_vel)
  end
end

local function heap()
  local list = {}
  for i = 1, TABLES do list[i] = {x = i, y = {i}, name = "entity"} end
  return list
end

-- A fresh heap, then all frames: their times in order of length.
local function run(how)
  collectgarbage()
  local live = heap()
  local pos, vel, mass = world()
  local step = how == "buffers" and with_buffers() or frame
  collectgarbage()              -- what a game does behind a loading screen
  local times = {}
  for i = 1, FRAMES do
    local start = os.clock()
    if how == "tidy" then la.tidy(step, pos, vel, mass, 1 / 60)
    else step(pos, vel, mass, 1 / 60) end
    times[i] = (os.clock() - start) * 1e3
  end
  table.sort(times)
  return times, #live
end

local function measure(mode, how)
  local least = {}
  collectgarbage(mode)
  for _ = 1, RUNS[how] do
    local times = run(how)
    for k, q in ipairs{0.5, 0.9, 0.99, 1} do
      local t = times[math.ceil(q * FRAMES)]
      least[k] = math.min(least[k] or t, t)
    end
  end
  print(("%-12s %-7s  p50 %6.2f  p90 %6.2f  p99 %6.2f  max %6.2f  "
         .. "p99/p50 %.2f"):format(mode, how, least[1], least[2], least[3],
                                   least[4], least[3] / least[1]))
end

local chosen = {}
for _, word in ipairs(arg) do chosen[word] = true end
local function wanted(word, ...)
  for _, other in ipairs{...} do
    if chosen[other] then return chosen[word] end
  end
  return true
end
for _, mode in ipairs{"generational", "incremental"} do
  for _, how in ipairs{"plain", "tidy", "buffers"} do
    if wanted(mode, "generational", "incremental")
       and wanted(how, "plain", "tidy", "buffers") then measure(mode, how) end
  end
end
