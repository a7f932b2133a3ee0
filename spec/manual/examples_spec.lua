-- The examples run, in a small setting, and find what they say they find.
local la = require "lunarray"
local modules = require "spec.support.modules"

-- Runs a script as 'lua path ...' would; returns its value and what it printed.
local function run(path, ...)
  local lines = {}
  local world = setmetatable({arg = {[0] = path, ...}, print = function(...)
    local texts = table.pack(...)
    for k = 1, texts.n do texts[k] = tostring(texts[k]) end
    lines[#lines + 1] = table.concat(texts, "\t")
  end}, {__index = _G})
  local value = assert(loadfile(path, "t", world))()
  return value, table.concat(lines, "\n")
end

describe("examples", function()
  it("digits_cnn trains, saves and loads a network", function()
    local path = os.tmpname() .. ".safetensors"
    local _, text = run("examples/digits_cnn.lua", path, "1")
    assert.is_truthy(text:find("1438 images to learn from, 359 held out", 1,
      true))
    local mean = tonumber(text:match "mean (%d%.%d+)")
    assert.is_true(mean >= 0.98, text)
    assert.is_truthy(text:find("loaded again", 1, true))
    local w = la.load(path)["conv2.weight"]
    assert.are.same({32, 16, 3, 3}, {table.unpack(w.shape)})
    -- The host program in C reads an image with these weights.
    local host = io.open "build/examples/host_digits"
    if host then
      host:close()
      local pipe = assert(io.popen("build/examples/host_digits " .. path
        .. " examples/data 5"))
      local said = pipe:read "a"
      assert.is_true(pipe:close())
      assert.is_truthy(said:find("is a 4", 1, true), said)
    end
    os.remove(path)
  end)

  modules.needing("game image", it)("flock keeps together and off the trees",
  function()
    local path = os.tmpname() .. ".png"
    local found, text = run("examples/flock.lua", "800", "250", path)
    assert.is_true(found.after > found.before + 0.2, text)
    assert.is_true(found.clear > 1, text)
    assert.same({820, 820}, {table.unpack(la.image.load(path).shape, 2)})
    os.remove(path)
  end)

  -- The model comes by tools/models.sh; LUNARRAY_MODELS is its folder. PyTorch
  -- gave the values, for a vowel that comes and goes.
  modules.needing("audio pickle", it)("voice hears as PyTorch does", function()
    local path = (os.getenv "LUNARRAY_MODELS" or "models")
      .. "/silero_vad.jit"
    local model = io.open(path)
    if not model then return end
    model:close()
    local t = la.arange(512 * 12, {dtype = "float64"}) / 16000
    local x = la.zeros(512 * 12, {dtype = "float64"})
    for k = 1, 20 do x = x + (t * (2 * math.pi * 120 * k)):sin() / k end
    x = x * 0.2 * (1 - (t * (6 * math.pi)):cos())
    local heard = run("examples/voice.lua")(path)(x:float())
    local want = la.tensor{0.072595, 0.180854, 0.0904, 0.036825, 0.014393,
      0.006702, 0.00302, 0.002266, 0.005041, 0.019419, 0.028273, 0.185237}
    assert.is_true((heard - want):abs():max():item() < 1e-4)
  end)

  -- Programs with models that tools/models.sh gave, where they are there.
  local function with_model(file, name, f)
    local model = io.open((os.getenv "LUNARRAY_MODELS" or "models")
      .. "/" .. file)
    if not model then return end
    model:close()
    f(run("examples/" .. name .. ".lua"))
  end

  modules.needing("onnx tokenizer", it)("filetype knows Lua and C", function()
    with_model("magika.onnx", "filetype", function(kind)
      local lines = ("local x = require 'y'\nprint(x)\n"):rep(20)
      assert.equal("lua", (kind(lines)))
      local head = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
      assert.equal("png", (kind(head .. ("\0"):rep(99))))
    end)
  end)

  modules.needing("tokenizer", it)("similar finds what means the same",
  function()
    with_model("minilm.safetensors", "similar", function(meaning)
      local asked = meaning "Where is the dragon?"
      local hills = asked:dot(meaning "The beast lives in the hills."):item()
      local bread = asked:dot(meaning "Bread is two coins."):item()
      assert.is_true(hills > 0.3 and bread < 0.15)
    end)
  end)

  modules.needing("onnx", it)("wake hears no word in a vowel", function()
    with_model("wake_word.onnx", "wake", function(listen)
      local t = la.arange(16000 * 2, {dtype = "float64"}) / 16000
      local x = (t * (2 * math.pi * 120)):sin():float()
      assert.is_true(listen(x):max():item() < 0.1)
    end)
  end)

  modules.needing("onnx", it)("policy learns to fly, and its file flies",
  function()
    local path = os.tmpname() .. ".onnx"
    local found = run("examples/policy.lua", "80", "32", path)
    assert.is_true(found.after < found.before / 10)
    os.remove(path)
  end)

  -- What an example in C or C++ says; pending where the build has none.
  local function host_says(name, arguments)
    local host = io.open("build/examples/" .. name)
    if not host then
      pending("no compiler for " .. name)
      return
    end
    host:close()
    local pipe = assert(io.popen(("build/examples/%s %s"):format(name,
      arguments or "")))
    local said = pipe:read "a"
    assert.is_true(pipe:close())
    return said
  end

  local function says(said, text, is_pattern)
    assert.is_truthy(said:find(text, 1, not is_pattern), said)
  end

  it("host_no_lua learns, saves and loads without Lua", function()
    local path = os.tmpname() .. ".safetensors"
    local said = host_says("host_no_lua", path)
    if not said then return end
    local before = tonumber(said:match "before: (%d%.%d+) right")
    local after = tonumber(said:match "after: (%d%.%d+) right")
    assert.is_true(before < 0.6 and after > 0.95, said)
    assert.same({2, 16}, {table.unpack(la.load(path).w1.shape)})
    os.remove(path)
  end)

  it("host_program runs a saved function in slices", function()
    local path = os.tmpname()
    local program = path .. ".laprog"
    local w = la.randn(200, 200)
    local f = la.compile(function(x) return x:matmul(w):tanh() end)
    f(la.zeros(100, 200))
    la.save(f, program)
    local said = host_says("host_program", program .. " 3")
    os.remove(path)
    os.remove(program)
    if said then says(said, "3 frames, %d+ results", true) end
  end)

  it("host_particles moves structs of its own", function()
    local said = host_says "host_particles"
    if not said then return end
    says(said, "particle 4 at (1.000, 0.000, ")
    says(said, "particle 8 at (0.500, 0.000, 5.733)")
    says(said, "on the ground")
  end)

  it("host_rollback comes to the same world with inputs that are late",
    function()
      local said = host_says "host_rollback"
      if said then says(said, "15 times back\nthe same world") end
    end)

  it("host_engine replays frames to the same bits and leaves nothing",
    function()
      local said = host_says "host_engine"
      if not said then return end
      says(said, "frame 1: bomber is off: [^\n]*out of fuel\n", true)
      says(said, "200 frames, 2 of 3 mods run")
      says(said, "half: %d+%.%d+; replays that differ: 0\n"
        .. "blocks that are left: 0", true)
    end)

  it("host_mod switches off the mods that misbehave", function()
    local said = host_says "host_mod"
    if not said then return end
    for _, name in ipairs{"stubborn", "pattern", "undertaker"} do
      says(said, "frame 1: " .. name
        .. " is off: [^\n]*: stopped: out of fuel\n", true)
    end
    says(said, "greedy is off: [^\n]*not enough memory", true)
    says(said, "global 'io'")
    says(said, "weather ran 30 frames\n1 of 6 mods are left")
  end)

  it("throw hits the baskets", function()
    local worst, text = run("examples/throw.lua", "100")
    assert.is_true(worst < 0.01, text)
    assert.is_truthy(text:find("basket 3 at (38, 3)", 1, true))
  end)

  modules.needing("signal", it)("spectrogram hears the melody", function()
    local found, text = run("examples/spectrogram.lua", "20")
    assert.same({"C5", "E5", "G5", "C6", "G5", "E5", "C5"}, found)
    assert.is_truthy(text:find("14000 samples, 257 frequencies at 53 times", 1,
      true))
  end)

  modules.needing("signal", it)("deconvolve finds the lines again", function()
    local after, text = run("examples/deconvolve.lua")
    local lines = la.tensor{60, 75, 160, 176, 190, 300, 420, 436}
    assert.is_true((after - lines):abs():max():item() <= 1, text)
    assert.is_truthy(text:find("8 lines; 4 peaks before, 8 after", 1, true))
  end)

  it("text learns the story", function()
    local before = run("examples/text.lua", "1", "5")
    local after, text = run("examples/text.lua", "40", "30")
    assert.is_true(after < before - 1, text)
    assert.is_truthy(text:find("The clerk", 1, true))
  end)

  it("pca keeps most of the digits in few components", function()
    local found = run("examples/pca.lua", "20")
    assert.near(0.894, found.kept, 0.001)       -- scikit-learn's PCA
    assert.near(1 - found.kept, found.lost, 1e-9)
  end)

  it("kalman halves the error of a thousand tracks", function()
    local found = run("examples/kalman.lua", "60")
    assert.is_true(found.filtered < 0.5 * found.raw)
    assert.near(0.9, found.inside, 0.03)
    assert.are.equal("float32", la.get_default_dtype())
  end)

  it("fit finds a tide within its errors", function()
    local found = run("examples/fit.lua")
    local far = (found.coef - found.truth):abs() / found.error
    assert.is_true(far:max():item() < 3)
    assert.is_true(found.inside > 0.5)
  end)

  modules.needing("stats", it)("polynomial finds the degree", function()
    assert.are.equal(4, run("examples/polynomial.lua").degree)
  end)

  it("neighbours names the digits", function()
    assert.is_true(run("examples/neighbours.lua").right > 0.96)
  end)

  it("eigenmaps tells the moons apart", function()
    local found = run("examples/eigenmaps.lua")
    assert.near(0, found.values(1):item(), 1e-12)
    assert.is_true(found.right > 0.99)
  end)

  modules.needing("vision", it)("pyramid blends pictures without a seam",
  function()
    local found, text = run("examples/pyramid.lua", "128")
    assert.is_true(found.lost < 1e-5, text)
    assert.is_true(found.blended < found.pasted / 5, text)
    assert.is_truthy(text:find("4 levels", 1, true))
  end)

  modules.needing("vision", it)("warp finds the map between two pictures",
  function()
    local miss, text = run("examples/warp.lua", "60")
    assert.is_true(miss < 0.01, text)
    assert.is_truthy(text:find("128 pixels", 1, true))
  end)
end)
