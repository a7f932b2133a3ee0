-- The orientation in the EXIF block of a JPEG: what each value means, where it
-- is found, and blocks that are damaged.
local la = require "lunarray"
local folder = require "spec.support.folder"
local raises = require "spec.support.raises"
local image = la.image

local H, W = 24, 40
local plain = image.encode(la.arange(H * W):reshape(1, H, W):float() / (H * W),
  "jpg")

-- A TIFF with one directory: entries before the orientation, then it.
local function tiff(value, order, before, offset)
  local list = {order == "<" and "II" or "MM", string.pack(order .. "I2I4", 42,
    offset or 8), ("\0"):rep((offset or 8) - 8)}
  list[#list + 1] = string.pack(order .. "I2", #before + 1)
  for _, tag in ipairs(before) do
    list[#list + 1] = string.pack(order .. "I2I2I4I4", tag, 4, 1, 77)
  end
  list[#list + 1] = string.pack(order .. "I2I2I4I2I2", 0x0112, 3, 1, value, 0)
  list[#list + 1] = ("\0"):rep(4)
  return table.concat(list)
end

local function segment(marker, text)
  return "\xff" .. string.char(marker) .. string.pack(">I2", #text + 2) .. text
end

local function jpeg(...)
  return plain:sub(1, 2) .. table.concat({...}) .. plain:sub(3)
end

local function exif(block) return segment(0xe1, "Exif\0\0" .. block) end

-- Where row 0 and column 0 of what is stored are seen.
local SEEN = {{"top", "left"}, {"top", "right"}, {"bottom", "right"},
  {"bottom", "left"}, {"left", "top"}, {"right", "top"}, {"right", "bottom"},
  {"left", "bottom"}}

local function upright(x, orientation)
  local row, column = table.unpack(SEEN[orientation])
  local wide = row == "top" or row == "bottom"
  local out = la.zeros({1, wide and H or W, wide and W or H}, {dtype = "uint8"})
  for r = 1, H do
    for c = 1, W do
      local at = {top = {r}, bottom = {H + 1 - r}, left = {nil, r},
        right = {nil, H + 1 - r}}
      local along = {left = {nil, c}, right = {nil, W + 1 - c}, top = {c},
        bottom = {W + 1 - c}}
      local y = at[row][1] or along[column][1]
      local z = at[row][2] or along[column][2]
      out[{1, y, z}] = x[{1, r, c}]
    end
  end
  return out
end

local stored = image.decode(plain)

describe("the orientation of a JPEG", function()
  for value = 1, 8 do
    it("orients the image: " .. value, function()
      local want = upright(stored, value)
      for _, order in ipairs {"<", ">"} do
        for _, before in ipairs {{}, {0x010e, 0x010f, 0x0110}} do
          for _, offset in ipairs {8, 26} do
            local bytes = jpeg(exif(tiff(value, order, before, offset)))
            assert.is_true(la.equal(want, image.decode(bytes)))
            assert.is_true(la.equal(stored, image.decode(bytes,
              {apply_exif_orientation = false})))
          end
        end
      end
      local other = segment(0xe0, "JFIF\0" .. ("\0"):rep(9))
        .. segment(0xe1, "http://ns.adobe.com/xap/1.0/\0<x/>")
      local bytes = jpeg(other, exif(tiff(value, ">", {})), segment(0xfe, "x"))
      local got = image.decode(bytes, {channels = 3, dtype = "float32"})
      assert.same({3, want:size(2), want:size(3)}, {got:size(1), got:size(2),
        got:size(3)})
      assert.is_true(got:is_contiguous())
      local files = folder.new()
      local path = files:write("x.jpg", bytes) or files:path("x.jpg")
      assert.is_true(la.equal(want, image.load(path)))
      local w, h = image.info(path)
      assert.same({want:size(3), want:size(2)}, {w, h})
      files:remove()
    end)
  end

  it("is ignored where it is none", function()
    for _, block in ipairs {"", "II", tiff(0, "<", {}), tiff(9, "<", {}),
      tiff(6, "<", {}):gsub("^II", "IX"), (tiff(6, "<", {}):gsub("\42", "\43")),
      tiff(6, "<", {}):sub(1, 20), string.pack("<c2I2I4", "II", 42, 2 ^ 32 - 1),
      string.pack(">c2I2I4I2", "MM", 42, 8, 65535),
      (tiff(6, "<", {}):gsub("\18\1\3\0", "\18\1\4\0"))} do
      assert.is_true(la.equal(stored, image.decode(jpeg(exif(block)))))
    end
    raises("apply_exif_orientation: boolean expected", image.decode, plain,
      {apply_exif_orientation = 1})
  end)

  it("never reads outside of a damaged block", function()
    local block = tiff(6, "<", {1, 2, 3})
    math.randomseed(5)
    for _ = 1, 3000 do
      local at = math.random(#block)
      local bad = block:sub(1, at - 1) .. string.char(math.random(0, 255))
        .. block:sub(at + 1, math.random(at, #block))
      local ok, x = pcall(image.decode, jpeg(exif(bad)))
      assert.is_true(not ok or x:numel() == H * W)
    end
    local bytes = jpeg(exif(block))
    for n = 2, 80 do pcall(image.decode, bytes:sub(1, n)) end
    for n = 0, 9 do
      local x = jpeg("\xff\xe1" .. string.pack(">I2", n))
      pcall(image.decode, x)
    end
  end)
end)
