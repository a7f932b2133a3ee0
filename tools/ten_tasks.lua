-- What people who are new to the library try first, ten tasks, each in as many
-- lines as a script needs that one would keep: their lines, processor time and
-- wall time. The first use of a part of the library is in them.
--   build/lunarray tools/ten_tasks.lua [FOLDER]
-- Files come and go in FOLDER (one of its own below /tmp). The status is 1 when
-- a task did not give what it should.
local la = require "lunarray"

local here = arg and arg[0] and arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
local folder = arg and arg[1]
if not folder then
  folder = os.tmpname() .. ".d"
  os.remove((folder:gsub("%.d$", "")))
  assert(os.execute("mkdir " .. folder))
end

-- What the tasks find: a table with gaps, a picture, two seconds of sound.
la.manual_seed(7)
local kinds = la.frame.text{"cat", "dog", "hare"}
local file = assert(io.open(folder .. "/animals.csv", "w"))
file:write "kind,day,mass\n"
for k = 1, 300 do
  file:write(("%s,2024-%02d-%02d,%s\n"):format(kinds[k % 3 + 1], k % 12 + 1,
    k % 28 + 1, k % 10 == 0 and "" or k % 3 * 4 + k % 7 / 7))
end
file:close()
local across = la.linspace(0, 1, 300)
la.image.save((across * across:unsqueeze(2)):expand(3, 300, 300),
  folder .. "/photo.png")
local second = la.arange(16000) / 8000
la.audio.save(folder .. "/tone.wav", (second * second * 2000):sin() * 0.5, 8000)

-- {name, lines, what must hold afterwards}; globals go from one to the next.
local TASKS = {
  {"a file with gaps, the mean of each group", [[
animals = la.read_csv(folder .. "/animals.csv", {dtypes = {day = "date"}})
means = animals:group "kind":mean "mass"
]], "#means == 3 and means.mass:isfinite():all()"},

  {"its picture", [[
figure = la.plot.bar(means.kind:totable(), means.mass, {ylabel = "kg"})
figure:save(folder .. "/means.png")
]], "la.image.load(folder .. '/means.png'):size(1) == 3"},

  {"a straight line with a band of 95 %", [[
x, n = la.linspace(0, 10, 60, {dtype = "float64"}), 60
y = 2 * x + 1 + la.randn(n, {dtype = "float64"})
pick = la.randint(1, n, {1000, n})
xs, ys = x[pick], y[pick]
dx = xs - xs:mean(2, true)
slope = (dx * ys):sum(2, true) / dx:square():sum(2, true)
lines = ys:mean(2, true) + slope * (x - xs:mean(2, true))
low, high = lines:quantile(0.025, 1), lines:quantile(0.975, 1)
figure = la.plot.scatter(x, y):line(x, lines:mean(1)):band(x, low, high)
]], "math.abs(slope:mean():item() - 2) < 0.3 and #figure:svg() > 1000"},

  {"a net that reads digits", [[
nn, optim = require "lunarray.nn", require "lunarray.optim"
data, digits = require "lunarray.data", here .. "/../examples/data/digits_"
images = la.load(digits .. "images.npy"):float():flatten(2) / 16
labels = la.load(digits .. "labels.npy"):long() + 1
set = data.TensorDataset(images, labels)
batches = data.DataLoader(set, {batch_size = 32, shuffle = true})
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt, loss = optim.Adam(net:parameters(), {lr = 3e-3}), nn.CrossEntropyLoss()
for epoch = 1, 5 do
  for x, y in batches:batches() do
    opt:zero_grad()
    loss(net(x), y):backward()
    opt:step()
  end
end
right = net(images):argmax(2):eq(labels):float():mean():item()
]], "right > 0.93"},

  {"a picture: read, smaller, blurred, written", [[
photo = la.image.load(folder .. "/photo.png")
small = la.image.gaussian_blur(la.image.resize(photo, 100, 150):float(), 2)
la.image.save(small / 255, folder .. "/small.png")
]], "la.image.load(folder .. '/small.png'):size(3) == 150"},

  {"the spectrogram of a sound", [[
sound, rate = la.audio.load(folder .. "/tone.wav")
f, t, s = la.signal.spectrogram(sound:flatten(), {fs = rate, nperseg = 256})
figure = la.plot.heatmap((s + 1e-12):log10(), {x = {0, 2}, y = {0, rate / 2}})
]], "s:size(1) == 129 and #figure:svg() > 1000"},

  {"a word that one does not know", [[
answer = la.help "moving average"
]], "answer:find('avg_pool1d', 1, true) ~= nil"},

  {"a typing error", [[
message = io.popen(program .. " -e 'la.ones(2):sofmax(1)' 2>&1"):read "a"
]], "message:find('did you mean softmax', 1, true) ~= nil"},

  {"a training saved and resumed", [[
path = folder .. "/net.safetensors"
la.save({net = net:state_dict(), epoch = 5, note = "hi"}, path)
saved = la.load(path)
other = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
other:load_state_dict(saved.net)
]], "other(images):equal(net(images)) and saved.epoch == 5"},

  {"an operation with a derivative of one's own", [[
Cube = la.Function{
  forward = function(ctx, x) ctx:save_for_backward(x) return x * x * x end,
  backward = function(ctx, g) return g * 3 * ctx:saved():square() end}
v = la.tensor({1., 2.}, {requires_grad = true})
Cube(v):sum():backward()
]], "v.grad:equal(la.tensor{3., 12.})"},
}

local clock = la.plot._clock
local env = setmetatable({la = la, folder = folder, here = here,
  program = arg and arg[-1] or "lunarray"},
  {__index = _G})
local failed, all_lines, all_cpu, all_wall = 0, 0, 0, 0
for _, task in ipairs(TASKS) do
  local name, lines, holds = table.unpack(task)
  local _, n = lines:gsub("\n", "")
  local run = assert(load(lines, "=" .. name, "t", env))
  local cpu, wall = os.clock(), clock()
  local ok, why = pcall(run)
  cpu, wall = os.clock() - cpu, clock() - wall
  if ok then
    ok, why = pcall(assert(load("return " .. holds, "=holds", "t", env)))
    if ok and not why then ok, why = false, "not as it should be: " .. holds end
  end
  print(("%-45s %3d lines %7.3f s of processor, %7.3f s%s"):format(name, n, cpu,
    wall, ok and "" or "  FAILED: " .. tostring(why)))
  failed = failed + (ok and 0 or 1)
  all_lines, all_cpu, all_wall = all_lines + n, all_cpu + cpu, all_wall + wall
end
print(("%-45s %3d lines %7.3f s of processor, %7.3f s"):format("all", all_lines,
  all_cpu, all_wall))
if not (arg and arg[1]) then os.execute("rm -r " .. folder) end
os.exit(failed == 0 and 0 or 1, true)
