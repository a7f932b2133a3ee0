-- A policy for a game, from training to the frame: a pilot learns to follow a
-- target, by gradients through the game's own physics. It is written as an ONNX
-- file, which other engines read too, and runs from that file in each frame.
--
--     lunarray examples/policy.lua [steps] [pilots] [policy.onnx]
local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"

local STEPS = tonumber(arg and arg[1]) or 300
local PILOTS = tonumber(arg and arg[2]) or 64
local path = arg and arg[3] or os.tmpname() .. ".onnx"
local DT, FRAMES, FORCE = 0.1, 30, 4

-- What a pilot sees, {pilots, 4}: the way to its target, its speed.
local function see(at, speed, target)
  return la.cat({target - at, speed}, 2)
end
-- A frame of the game: drag, and the force that the pilot asks for.
local function move(at, speed, force)
  speed = speed * (1 - 0.5 * DT) + force * (FORCE * DT)
  return at + speed * DT, speed
end
-- How far pilots are from their targets in the last frames when 'policy' flies
local function fly(policy, target)
  local at, speed, far = la.zeros_like(target), la.zeros_like(target), 0
  for frame = 1, FRAMES do
    at, speed = move(at, speed, policy(see(at, speed, target)))
    if frame > FRAMES // 2 then
      far = far + (target - at):square():sum(2):mean()
    end
  end
  return far / (FRAMES - FRAMES // 2)
end

la.manual_seed(3)
local net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2),
                          nn.Tanh())
local adam = optim.Adam(net:parameters(), {lr = 0.01})
local before
for step = 1, STEPS do
  local loss = fly(net, la.rand(PILOTS, 2) * 4 - 2)
  before = before or loss:item()
  adam:zero_grad()
  loss:backward()
  adam:step()
  if step % 100 == 0 then
    print(("step %4d: %.3f"):format(step, loss:item()))
  end
end

la.onnx.save(net, path, la.ones(1, 4), {inputs = {"seen"}, outputs = {"force"},
                                        dims = {seen = {"pilots"}}})
local pilot = la.onnx.load(path)
local target, longest = la.rand(8, 2) * 4 - 2, 0
local after = la.no_grad(fly, function(seen)
  local begun = os.clock()
  local force = pilot(seen)
  longest = math.max(longest, os.clock() - begun)
  return force
end, target):item()
print(("distance squared: %.3f before, %.3f by the file; %.2f ms at most")
  :format(before, after, 1000 * longest))
if not (arg and arg[3]) then os.remove(path) end
return {before = before, after = after}
