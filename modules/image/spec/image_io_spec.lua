-- la.image: what files of images hold, what is written, what is refused.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"
local samples = require "modules.image.spec.files"
local image = la.image

local files

local function path(name) return files:path(name) end
local function write(name, bytes) return files:write(name, bytes) end
local function read(name) return files:read(name) end

local by_name = require "modules.image.spec.by_name"(samples)

-- The largest difference between two images of equal shapes.
local function off(x, y)
  assert.same(y.shape, x.shape)
  return (x:double() - y:double()):abs():max():item()
end

setup(function()
  files = folder.new()
end)

teardown(function() files:remove() end)

describe("an image", function()
  for _, s in ipairs(samples) do
    it("is read: " .. s.name, function()
      local x = image.decode(s.bytes)
      assert.equal(s.dtype, x.dtype)
      assert.is_true(x:is_contiguous())
      -- decoders of JPEG may differ in the last bit or two
      assert.is_true(off(x, s.want) <= (s.name:find("jpg") and 3 or 0))
      -- the name says nothing, the bytes do
      local file = write("unnamed", s.bytes)
      assert.is_true(la.equal(image.load(file), x))
      local w, h, channels, bits = image.info(file)
      assert.same({s.shape[3], s.shape[2], s.shape[1],
                   s.dtype == "uint16" and 16 or 8}, {w, h, channels, bits})
    end)
  end

  it("is converted to so many channels", function()
    local rgb = by_name["rgb.png"]
    local x = rgb.want:double()
    local grey = (0.299 * x[1] + 0.587 * x[2] + 0.114 * x[3] + 0.5):floor()
    assert.equal(0, off(image.decode(rgb.bytes, {channels = 1}),
                        grey:unsqueeze(1)))
    local full = la.full({1, 5, 7}, 255)
    assert.equal(0, off(image.decode(rgb.bytes, {channels = 2}),
                        la.cat({grey:unsqueeze(1), full}, 1)))
    assert.equal(0, off(image.decode(rgb.bytes, {channels = 4}),
                        la.cat({x, full}, 1)))
    local both = by_name["both.png"]
    local b = both.want
    assert.equal(0, off(image.decode(both.bytes, {channels = 4}),
                        b[la.tensor{1, 1, 1, 2}]))
    assert.equal(0, off(image.decode(both.bytes, {channels = 3}),
                        b[la.tensor{1, 1, 1}]))
    assert.equal(0, off(image.decode(both.bytes, {channels = 1}), b[{{1, 1}}]))
    local wide = by_name["grey16.png"]
    local y = image.decode(wide.bytes, {channels = 4})
    assert.equal("uint16", y.dtype)
    assert.equal(65535, y[4]:min():item())
    assert.equal(0, off(y[{{2, 2}}], wide.want))
  end)

  it("is converted to another dtype", function()
    local s, wide = by_name["rgba.png"], by_name["grey16.png"]
    for _, dtype in ipairs{"float32", "float64", "float16", "bfloat16"} do
      local x = image.decode(s.bytes, {dtype = dtype})
      local exact = dtype == "float64" and "float64" or "float32"
      assert.is_true(la.equal(x, (s.want:to(exact) / 255):to(dtype)))
      local y = image.decode(wide.bytes, {dtype = dtype})
      assert.is_true(la.equal(y, (wide.want:to(exact) / 65535):to(dtype)))
    end
    local narrow = image.decode(wide.bytes, {dtype = "uint8"})
    assert.equal("uint8", narrow.dtype)
    assert.equal(0, off(narrow, (wide.want:double() / 257):round()))
    local more = image.decode(s.bytes, {dtype = "uint16"})
    assert.equal("uint16", more.dtype)
    assert.equal(0, off(more, s.want:double() * 257))
    raises("dtype: uint8, uint16 or a floating one expected, got int32",
           image.decode, s.bytes, {dtype = "int32"})
  end)
end)

describe("an image that is written", function()
  local formats = {png = {1, 2, 3, 4}, tga = {1, 2, 3, 4}, bmp = {3}}
  for format, list in pairs(formats) do
    it("comes back from " .. format, function()
      la.manual_seed(1)
      for _, channels in ipairs(list) do
        for _, size in ipairs{{1, 1}, {1, 9}, {6, 1}, {3, 5}, {40, 33}} do
          local x = la.randint(0, 256, {channels, size[1], size[2]})
            :to("uint8")
          local bytes = image.encode(x, format)
          assert.is_true(la.equal(image.decode(bytes), x))
          image.save(x, path("x." .. format))
          assert.equal(bytes, read("x." .. format))
          assert.is_true(la.equal(image.load(path("x." .. format)), x))
        end
      end
    end)
  end

  it("comes back from PNG with 16 bits", function()
    la.manual_seed(2)
    for channels = 1, 4 do
      local x = la.randint(0, 65536, {channels, 4, 31}):to("uint16")
      local y = image.decode(image.encode(x, "png"))
      assert.equal("uint16", y.dtype)
      assert.is_true(la.equal(y, x))
    end
  end)

  it("is packed when it is smooth", function()
    local y = la.arange(256):view(256, 1):expand(256, 256)
    local x = ((y + y:t()) / 2):to("uint8")
    assert.is_true(#image.encode(x, "png") < 256 * 256 / 20)
  end)

  it("comes back from JPEG as well as its quality says", function()
    local s = by_name["full.jpg"].want
    local last = 0
    for _, limit in ipairs{{100, 3}, {95, 8}, {50, 60}} do
      local bytes = image.encode(s, "jpg", {quality = limit[1]})
      assert.is_true(off(image.decode(bytes), s) <= limit[2])
      assert.is_true(last == 0 or #bytes < last)
      last = #bytes
    end
    local grey = by_name["grey.jpg"].want
    for size = 1, 17, 4 do
      local part = grey[{{}, {1, size}, {1, 18 - size}}]
      local back = image.decode(image.encode(part, "jpeg", {quality = 98}))
      assert.is_true(off(back, part) <= 3)
    end
    -- sharp edges: no value leaves the range of the codes
    local board = la.arange(32):view(32, 1) + la.arange(32):view(1, 32)
    local x = ((board % 2) * 255):to("uint8")
    local back = image.decode(image.encode(x, "jpg", {quality = 100}))
    assert.is_true(off(back, x:unsqueeze(1)) <= 3)
  end)

  it("is grey in BMP by a palette of levels", function()
    local x = la.arange(24):view(4, 6):to("uint8")
    assert.equal(0, off(image.decode(image.encode(x, "bmp"), {channels = 1}),
                        x:unsqueeze(1)))
  end)

  it("may be floating, bool, {height, width}, strided or a gradient's",
    function()
      local values = la.tensor({-1., 0., 0.5 / 255, 1.5 / 255, 2.5 / 255, 1.,
                                2., math.huge, -math.huge}, "float64")
      local want = la.tensor{0, 0, 0, 2, 2, 255, 255, 255, 0}
      local x = values:view(3, 3)
      assert.equal(0, off(image.decode(image.encode(x, "png")),
                          want:view(1, 3, 3)))
      assert.equal(0, off(image.decode(image.encode(x:t(), "png")),
                          want:view(3, 3):t():unsqueeze(1)))
      for _, dtype in ipairs{"float16", "bfloat16", "float32"} do
        local y = la.tensor({0., 0.25, 0.5, 1.}, dtype):view(1, 2, 2)
        assert.equal(0, off(image.decode(image.encode(y, "tga")),
                            (y:float() * 255):round()))
      end
      local mask = la.tensor{{true, false}, {false, true}}
      assert.equal(0, off(image.decode(image.encode(mask, "png")),
                          la.tensor{{{255, 0}, {0, 255}}}))
      local leaf = la.rand(3, 4, 4):requires_grad_()
      assert.is_true(#image.encode(leaf * 1, "png") > 0)
      local flipped = by_name["rgb.png"].want:flip(3)
      assert.is_true(la.equal(image.decode(image.encode(flipped, "png")),
                              flipped))
    end)

  it("goes by the path's end, or by format", function()
    local x = by_name["rgb.png"].want
    for name, magic in pairs{["A.PNG"] = "\x89PNG", ["a.jpeg"] = "\xff\xd8",
                             ["a.JPG"] = "\xff\xd8", ["a.bmp"] = "BM"} do
      image.save(path(name), x)
      assert.equal(magic, read(name):sub(1, #magic))
    end
    image.save(x, path("b.dat"), {format = "png"})
    assert.equal("\x89PNG", read("b.dat"):sub(1, 4))
    raises("must end with .png", image.save, x, path("b.gif"))
    raises("unknown format 'gif'", image.encode, x, "gif")
    raises("quality: an integer from 1 to 100", image.encode, x, "jpg",
           {quality = 0})
    raises("unknown keyword 'level'", image.encode, x, "jpg", {level = 1})
    raises("tensor expected", image.save, 1, path("b.png"))
    raises("path expected", image.save, x, 1)
    raises("NUL byte", image.save, x, "a\0.png")
    raises("string of an image's bytes expected", image.decode, x)
  end)

  it("is refused where the format can't hold it", function()
    local function refused(text, x, format)
      raises(text, image.encode, x, format)
      write("old.png", "old")
      pcall(image.save, x, path("old.png"), {format = format})
      assert.equal("old", read("old.png"))
    end
    refused("NaN", la.tensor{{0. / 0.}}, "png")
    refused("int64 is no dtype of an image", la.ones(2, 2):long(), "png")
    refused("complex64 is no dtype", la.ones(2, 2):to("complex64"), "png")
    refused("5 channels: PNG holds 1 (grey)", la.ones(5, 2, 2), "png")
    refused("4 channels: JPEG holds 1 (grey) or 3", la.ones(4, 2, 2), "jpg")
    refused("2 channels: BMP holds", la.ones(2, 2, 2), "bmp")
    refused("TGA has no 16-bit", la.ones(2, 2):to("uint16"), "tga")
    refused("0 x 4 pixels", la.ones(3, 0, 4), "png")
    refused("got 1 dims", la.ones(3), "png")
    refused("got 4 dims", la.ones(1, 3, 2, 2), "png")
    refused("at most 65535", la.ones(1, 65536):bool(), "tga")
    refused("at most 65535", la.ones(65536, 1):bool(), "jpg")
    refused("meta tensor", la.ones(3, 2, 2):to("meta"), "png")
  end)
end)

-- ---- hostile bytes ----

-- Checksum of a PNG's chunk.
local function crc(text)
  local c = 0xffffffff
  for i = 1, #text do
    c = c ~ text:byte(i)
    for _ = 1, 8 do c = c & 1 == 1 and 0xedb88320 ~ c >> 1 or c >> 1 end
  end
  return c ~ 0xffffffff
end

-- A PNG whose checksums are right, whatever was done to its chunks.
local function mended(bytes)
  local out, at = {bytes:sub(1, 8)}, 9
  while at + 11 <= #bytes do
    local n = (">I4"):unpack(bytes, at)
    if at + 11 + n > #bytes then break end
    local body = bytes:sub(at + 4, at + 7 + n)
    out[#out + 1] = bytes:sub(at, at + 3) .. body .. (">I4"):pack(crc(body))
    at = at + 12 + n
  end
  return table.concat(out) .. bytes:sub(at)
end

local function replaced(bytes, at, with)
  return bytes:sub(1, at - 1) .. with .. bytes:sub(at + #with)
end

describe("a broken image", function()
  it("is an error wherever it is cut", function()
    for _, s in ipairs(samples) do
      -- what stands behind the pixels may be missing: padding, a TGA's footer
      local size = #s.bytes - (s.name:find("tga") and 26 or 4)
      for n = 0, size - 1, #s.bytes > 400 and 7 or 1 do
        local ok, message = pcall(image.decode, s.bytes:sub(1, n))
        assert.is_false(ok, s.name .. " of " .. n .. " bytes")
        assert.truthy(message:find("image.decode", 1, true))
      end
    end
  end)

  it("names its path", function()
    local bytes = by_name["rgb.png"].bytes
    local file = write("broken.png", bytes:sub(1, 60))
    raises("image.load: '" .. file .. "': truncated at byte 60", image.load,
           file)
    raises("'" .. file .. "': ", image.load, write("broken.png", "no image"))
    raises("not an image (PNG, JPEG, BMP, TGA, GIF, PNM, PSD, HDR)", image.load,
           write("broken.png", ("no image"):rep(9)))
    raises("not an image (0 bytes)", image.load, write("broken.png", ""))
    raises("not an image", image.info, file)
    raises("cannot open", image.load, path("missing.png"))
    raises("cannot read", image.load, files.name)
  end)

  it("is an error when its checksum is wrong", function()
    local bytes = by_name["rgb.png"].bytes
    local at = bytes:find("IDAT", 1, true)
    local bad = replaced(bytes, at + 6, string.char(bytes:byte(at + 6) ~ 1))
    raises("malformed PNG", image.decode, bad)
    raises("wrong checksum", image.decode, replaced(bytes, 17, "\1"))
  end)

  it("claims no memory that it can't fill", function()
    local huge = {{0x7fffffff, 0x7fffffff}, {60000, 60000}, {1, 0x7fffffff},
                  {0x7fffffff, 1}, {65535, 65535}, {0, 0}, {0xffffffff, 1}}
    local before = select(2, la.memory())
    for _, size in ipairs(huge) do
      local w, h = size[1], size[2]
      local big = (">I4I4"):pack(w, h)
      local little = ("<I4I4"):pack(w, h)
      local short = ("<I2I2"):pack(w & 0xffff, h & 0xffff)
      for name, bytes in pairs{
          png = mended(replaced(by_name["rgb.png"].bytes, 17, big)),
          inter = mended(replaced(by_name["interlaced.png"].bytes, 17, big)),
          bmp = replaced(by_name["rgb.bmp"].bytes, 19, little),
          tga = replaced(by_name["rgb.tga"].bytes, 13, short),
          rle = replaced(by_name["packed.tga"].bytes, 13, short)} do
        local ok = pcall(image.decode, bytes)
        assert.is_false(ok, name)
      end
    end
    local jpg = by_name["q90.jpg"].bytes
    local at = jpg:find("\xff\xc0", 1, true)
    for _, size in ipairs{{65535, 65535}, {9000, 65535}, {0, 9}, {9, 0}} do
      local bytes = replaced(jpg, at + 5, (">I2I2"):pack(size[1], size[2]))
      assert.is_false((pcall(image.decode, bytes)))
    end
    assert.is_true(select(2, la.memory()) < before + 64 * 2^20)
  end)

  it("never breaks the reader", function()
    local seed = 12345
    local function random(n)        -- 1 to n
      seed = (seed * 6364136223846793005 + 1442695040888963407)
      return (seed >> 33) % n + 1
    end
    for k = 1, 4000 do
      local s = samples[random(#samples)]
      local bytes = s.bytes
      for _ = 1, random(6) do
        local at = random(random(2) == 1 and math.min(#bytes, 60) or #bytes)
        bytes = replaced(bytes, at, string.char(random(256) - 1))
      end
      if random(5) == 1 then bytes = bytes:sub(1, random(#bytes)) end
      if s.name:find("png") and k % 2 == 0 then bytes = mended(bytes) end
      local ok, result = pcall(image.decode, bytes)
      if not ok then assert.equal("string", type(result)) end
    end
  end)

  it("with more codes than a Huffman table holds is refused", function()
    -- after the frame, too, and from a file as from a string
    for name, marker in pairs{["full.jpg"] = "\xff\xc4",
                              ["progressive.jpg"] = "\xff\xda"} do
      local jpg = by_name[name].bytes
      local at = jpg:find(marker, 1, true)
      local table_ = "\xff\xc4\x00\x13\x00" .. ("\x20"):rep(16)
      local bytes = jpg:sub(1, at - 1) .. table_ .. jpg:sub(at)
      raises("bad Huffman table", image.decode, bytes)
      raises("bad Huffman table", image.load, write("x.jpg", bytes))
    end
  end)

  it("and one that is whole stay within a memory limit", function()
    for _, name in ipairs{"interlaced.png", "progressive.jpg", "rgb.bmp",
                          "packed.tga"} do
      local s = by_name[name]
      local good, bad = 0, 0
      for extra = 0, 400000, 5000 do
        collectgarbage()
        la.set_memory_limit(la.memory() + extra)
        local ok, result = pcall(image.decode, s.bytes)
        la.set_memory_limit(0)
        if ok then
          good = good + 1
          assert.is_true(off(result, s.want) <= 3)
        else
          bad = bad + 1
        end
      end
      assert.is_true(good > 0 and bad > 0)
    end
  end)
end)
