-- The gallery: each example has under 80 lines and writes a picture, in a run
-- of a moment here; what is found by those that look for something.
local la = require "lunarray"
local modules = require "spec.support.modules"
local gallery = dofile "tools/gallery.lua"

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local page = read "docs/gallery.md"

local function run(name, arguments)
  return (gallery.run(name, arguments))
end

modules.needing("game image signal vision", describe)("the gallery", function()
  it("has twenty", function()
    assert.are.equal(20, #gallery.list)
  end)

  for _, row in ipairs(gallery.list) do
    local name, _, arguments = table.unpack(row)
    it("runs " .. name, function()
      local _, lines = read("examples/" .. name .. ".lua"):gsub("\n", "")
      assert.is_true(lines < 80, lines)
      local shown = "pictures/gallery/" .. name .. ".png"
      assert.is_truthy(page:find(shown, 1, true))
      local bytes = read("docs/" .. shown)
      assert.is_true(#bytes < 700000)
      assert.is_true((">I4"):unpack(bytes, 17) >= 800)     -- as wide as a page
      local path = os.tmpname() .. ".png"
      gallery.run(name, arguments, path)
      local image = la.image.load(path)
      os.remove(path)
      assert.is_true(image:size(2) >= 24 and image:size(3) >= 24)
      assert.is_true(image:float():std():item() > 1)
      assert.are.equal("float32", la.get_default_dtype())
    end)
  end

  for _, row in ipairs(gallery.films) do
    local name, _, arguments = table.unpack(row)
    it("films " .. name, function()
      local shown = "pictures/gallery/" .. name .. ".gif"
      assert.is_truthy(page:find(shown, 1, true))
      local bytes = read("docs/" .. shown)
      assert.equal("GIF89a", bytes:sub(1, 6))
      assert.is_true(#bytes < 1000000)
      local path = os.tmpname() .. ".gif"
      gallery.run(name, arguments, path)
      local film = read(path)
      os.remove(path)
      assert.equal("GIF89a", film:sub(1, 6))
      local _, frames = film:gsub("\33\249\4", "")     -- one before each
      assert.is_true(frames >= 2, frames)
    end)
  end

  it("has air that is not compressed", function()
    assert.is_true(run("fluid", "64 20").divergence < 1e-4)
  end)

  it("moves earth and keeps its amount", function()
    local found = run("terrain", "64 5")
    assert.is_true(found.worn > 0.005)
    assert.is_true(found.height:isfinite():all())
  end)

  it("has worlds between dead and full", function()
    local alive = run("lenia", "96 100").alive
    assert.is_true(alive > 0.02 and alive < 0.9, alive)
    local found = run("reaction", "48 300")
    assert.is_true(found.b:max():item() > 0.1)
    assert.is_true((found.a + found.b):max():item() < 2)
  end)

  it("leads everybody out", function()
    local found = run("maze", "32 50")
    assert.are.equal(0, found.left)
  end)

  it("has normals of length one", function()
    local found = run("bulb", "40 40")
    assert.is_true(found.hit > 0.3 and found.hit < 0.9, found.hit)
    assert.is_true((found.normal:norm(2, 2) - 1):abs():max():item() < 1e-3)
  end)

  it("finds the clouds", function()
    local found = run("clusters", "600 40")
    assert.is_true(found.right > 0.97 and found.miss < 0.3)
  end)

  it("learns", function()
    assert.is_true(run("strokes", "3 4e-3").right > 0.85)
    local text = run("letters", "120 32")
    assert.is_true(text.last < text.first - 1.5)
    local pole = run("balance", "15 64")
    assert.is_true(pole.after > 1.5 * pole.before, pole.after)
    local plate = run("conduct", "80 32")
    assert.is_true(plate.last < plate.first / 5)
    assert.is_true(plate.after < plate.before)
  end)
end)
