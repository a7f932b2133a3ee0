-- Images that are read only: GIF with its frames, PNM, PSD, HDR.
local la = require "lunarray"
local raises = require "spec.support.raises"
local samples = require "modules.image.spec.formats"
local image = la.image
local by_name = require "modules.image.spec.by_name"(samples)

-- Equal but for the colour of what can't be seen.
local function same(x, want)
  if want.ndim == 4 and want:size(2) == 4 then
    local seen = want[{{}, {4, 4}}]:gt(0)
    x, want = x:where(seen, 0), want:where(seen, 0)
  end
  assert.equal(want.dtype, x.dtype)
  assert.is_true(la.equal(x, want))
end

describe("an image that is read only", function()
  for _, s in ipairs(samples) do
    it("is read: " .. s.name, function()
      local x, seconds = image.decode(s.bytes, {frames = true})
      same(x, s.want)
      assert.same(s.seconds or {0}, seconds:totable())
      same(image.decode(s.bytes):unsqueeze(1), s.want[{{1, 1}}])
      local path = os.tmpname()
      local file = assert(io.open(path, "wb"))
      file:write(s.bytes)
      file:close()
      same(image.load(path, {frames = true}), s.want)
      local bits = {uint8 = 8, uint16 = 16, float32 = 32}
      assert.same({s.shape[4], s.shape[3], s.shape[2], bits[s.dtype]},
                  {image.info(path)})
      os.remove(path)
    end)
  end

  it("is converted", function()
    local s = by_name["bytes.ppm"]
    assert.same({1, 4, 2, 3}, image.decode(s.bytes, {frames = true,
                                                     channels = 4}).shape)
    local hdr = by_name["flat.hdr"]
    local x = image.decode(hdr.bytes)
    assert.is_true(la.equal(image.decode(hdr.bytes, {dtype = "float64"}),
                            x:double()))
    assert.is_true(la.equal(image.decode(hdr.bytes, {dtype = "uint8"}),
                            (x:clamp(0, 1) * 255):round():to("uint8")))
    local grey = image.decode(hdr.bytes, {channels = 1})
    assert.is_true((grey[1] - (0.299 * x[1] + 0.587 * x[2] + 0.114 * x[3]))
      :abs():max():item() <= 1e-6 * x:max():item())
    local gif = image.decode(by_name["dispose2.gif"].bytes,
                             {frames = true, channels = 3, dtype = "float32"})
    assert.same({4, 3, 3, 4}, gif.shape)
    assert.equal(1, gif:max():item())
  end)

  it("is one frame, where it has no others", function()
    local png = image.encode(la.ones(3, 2, 2), "png")
    local x, seconds = image.decode(png, {frames = true})
    assert.same({1, 3, 2, 2}, x.shape)
    assert.same({0}, seconds:totable())
    assert.equal(1, select("#", image.decode(png)))
    raises("frames: boolean expected, got number", image.decode, png,
           {frames = 1})
  end)

  it("is what plot.animate writes", function()
    local plot = require "lunarray.plot"
    local colours = la.tensor{{0, 255, 128}, {255, 0, 64}}:to("uint8")
    local list = {}
    for k = 1, 2 do list[k] = colours[k]:view(3, 1, 1):expand(3, 4, 6) end
    local bytes = plot.animate(list, nil, {fps = 20})
    local x, seconds = image.decode(bytes, {frames = true, channels = 3})
    assert.same({0.05, 0.05}, seconds:totable())
    assert.is_true(la.equal(x, la.stack(list, 1)))
  end)

  it("is within the limit of all its frames", function()
    local bytes = by_name["dispose0.gif"].bytes
    image.decode(bytes, {frames = true, limit = 4 * 4 * 4 * 3})
    raises("limit", image.decode, bytes, {frames = true,
                                          limit = 4 * 4 * 4 * 3 - 1})
    image.decode(bytes, {limit = 4 * 4 * 3})
  end)

  it("is an error where it is cut", function()
    for _, s in ipairs(samples) do
      local size = #s.bytes
      -- A GIF without its trailer is whole; a text ends in a line's end, and
      -- its last number may lose digits.
      size = s.name:find("gif") and size - 2 or s.name:find("text") and size - 4
        or s.name:find("bits") and size - 2 or size - 1
      for n = 0, size do
        local ok, message = pcall(image.decode, s.bytes:sub(1, n),
                                  {frames = true})
        -- of a GIF, whole frames may be left
        if not s.name:find("dispose") then
          assert.is_false(ok, s.name .. " of " .. n .. " bytes")
        end
        assert.truthy(ok or message:find("image.decode", 1, true))
      end
    end
  end)

  it("claims no memory that it can't fill", function()
    local before = select(2, la.memory())
    local function bad(bytes) assert.is_false((pcall(image.decode, bytes))) end
    bad("P5 2147483647 2147483647 255\n")
    bad("P6 60000 60000 255\n")
    bad("P1 99999 99999\n0")
    bad("P5 99999999999 1 255\n0")
    bad("#?RGBE\nFORMAT=32-bit_rle_rgbe\n\n-Y 60000 +X 30000\n")
    bad("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y -1 +X -1\n")
    bad("8BPS" .. (">I2"):pack(1) .. ("\0"):rep(6)
        .. (">I2I4I4I2I2"):pack(3, 30000, 30000, 8, 3) .. ("\0"):rep(14))
    local gif = by_name["one.gif"].bytes
    bad(gif:sub(1, 6) .. "\xff\xff\xff\xff" .. gif:sub(11))
    assert.is_true(select(2, la.memory()) < before + 64 * 2^20)
  end)

  it("never breaks the reader", function()
    local seed = 999
    local function random(n)        -- 1 to n
      seed = (seed * 6364136223846793005 + 1442695040888963407)
      return (seed >> 33) % n + 1
    end
    local before = la.memory()
    for k = 1, 6000 do
      local s = samples[k % #samples + 1]
      local bytes = {s.bytes:byte(1, -1)}
      for _ = 1, random(4) do
        bytes[random(#bytes)] = random(4) == 1 and ({0, 255, 128, 1})[random(4)]
          or random(256) - 1
      end
      pcall(image.decode, string.char(table.unpack(bytes)),
            {frames = true, limit = 2^24})
    end
    collectgarbage()
    collectgarbage()
    assert.is_true(la.memory() <= before + 2^20)
  end)
end)
