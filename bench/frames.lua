-- Frame times of a game's script: 100,000 particles, moved by plain arithmetic
-- that makes a temporary of each step, next to 300,000 live Lua tables.
--
--   lua5.4 bench/frames.lua [generational|incremental] [tidy|plain]
--
-- runs each of the four, or those named. 'plain' leaves temporaries to the
-- collector, 'tidy' frees them at the end of each frame. Processor time of one
-- thread, in milliseconds: of one run for 'plain', for 'tidy' the least of
-- seven of each figure. Other programs on the machine add to all of them; what
-- is to be compared belongs on an idle one.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.cpath = here .. "/../build/?.so;" .. package.cpath
local la = require "lunarray"
la.set_num_threads(1)

local N, FRAMES, TABLES = 100000, 1200, 300000
local RUNS = {tidy = 7, plain = 1}

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
  collectgarbage()              -- what a game does behind a loading screen
  local times = {}
  for i = 1, FRAMES do
    local start = os.clock()
    if how == "tidy" then la.tidy(frame, pos, vel, mass, 1 / 60)
    else frame(pos, vel, mass, 1 / 60) end
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
  print(("%-12s %-5s  p50 %6.2f  p90 %6.2f  p99 %6.2f  max %6.2f  "
         .. "p99/p50 %.2f"):format(mode, how, least[1], least[2], least[3],
                                   least[4], least[3] / least[1]))
end

local chosen = {}
for _, word in ipairs(arg) do chosen[word] = true end
local function wanted(a, b, word)
  return chosen[word] or not (chosen[a] or chosen[b])
end
for _, mode in ipairs{"generational", "incremental"} do
  for _, how in ipairs{"plain", "tidy"} do
    if wanted("generational", "incremental", mode)
       and wanted("plain", "tidy", how) then measure(mode, how) end
  end
end
