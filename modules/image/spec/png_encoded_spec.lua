-- PNG files that are encoded here, byte by byte: every kind of pixel and depth,
-- every filter, interlaced and not, in all small sizes, against the samples
-- that they were made of.
local la = require "lunarray"
local image = la.image

-- ---- the format ----

local table_of = {}
for n = 0, 255 do
  local c = n
  for _ = 1, 8 do
    c = c & 1 == 1 and 0xedb88320 ~ (c >> 1) or c >> 1
  end
  table_of[n] = c
end

local function crc(text)
  local c = 0xffffffff
  for k = 1, #text do
    c = table_of[(c ~ text:byte(k)) & 255] ~ (c >> 8)
  end
  return c ~ 0xffffffff
end

local function chunk(name, bytes)
  return (">I4"):pack(#bytes) .. name .. bytes .. (">I4"):pack(crc(name
    .. bytes))
end

-- zlib's format without compression.
local function stored(bytes)
  local a, b = 1, 0
  for k = 1, #bytes do
    a = (a + bytes:byte(k)) % 65521
    b = (b + a) % 65521
  end
  return "\x78\x01\x01" .. ("<I2I2"):pack(#bytes, ~#bytes & 0xffff) .. bytes
    .. (">I2I2"):pack(b, a)
end

local function paeth(a, b, c)
  local p = a + b - c
  local pa, pb, pc = math.abs(p - a), math.abs(p - b), math.abs(p - c)
  if pa <= pb and pa <= pc then return a end
  return pb <= pc and b or c
end

-- A row of bytes behind its filter's number; 'above' is the row before or nil,
-- 'step' the bytes of a pixel.
local function filtered(row, above, step, filter)
  local out = {string.char(filter)}
  for k = 1, #row do
    local a = k > step and row[k - step] or 0
    local b = above and above[k] or 0
    local c = above and k > step and above[k - step] or 0
    local less = ({[0] = 0, a, b, (a + b) // 2, paeth(a, b, c)})[filter]
    out[#out + 1] = string.char((row[k] - less) & 255)
  end
  return table.concat(out)
end

-- Bytes of a row of samples of 'depth' bits.
local function packed(samples, depth)
  local row, byte, bits = {}, 0, 0
  for _, v in ipairs(samples) do
    if depth == 16 then
      row[#row + 1], row[#row + 2] = v >> 8, v & 255
    else
      byte, bits = byte << depth | v, bits + depth
      if bits == 8 then
        row[#row + 1] = byte
        byte, bits = 0, 0
      end
    end
  end
  if bits > 0 then row[#row + 1] = byte << 8 - bits end
  return row
end

-- x, y of the first pixel and steps of each pass.
local ADAM7 = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
               {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

-- at(x, y) is the list of a pixel's samples.
local function pass_of(p, at, pass, filter)
  local out, above = {}, nil
  for y = pass[2], p.height - 1, pass[4] do
    local samples = {}
    for x = pass[1], p.width - 1, pass[3] do
      for _, v in ipairs(at(x, y)) do samples[#samples + 1] = v end
    end
    if #samples == 0 then break end
    local row = packed(samples, p.depth)
    out[#out + 1] = filtered(row, above, math.max(p.channels * p.depth // 8, 1),
      filter(y))
    above = row
  end
  return table.concat(out)
end

local function png(p, at, filter)
  local bytes = {}
  for k, pass in ipairs(p.interlaced and ADAM7 or {{0, 0, 1, 1}}) do
    bytes[k] = pass_of(p, at, pass, filter)
  end
  local head = (">I4I4BBBBB"):pack(p.width, p.height, p.depth, p.colour, 0, 0,
    p.interlaced and 1 or 0)
  return "\x89PNG\r\n\x1a\n" .. chunk("IHDR", head)
    .. (p.extra or "") .. chunk("IDAT", stored(table.concat(bytes)))
    .. chunk("IEND", "")
end

-- ---- checks ----

local KINDS = {
  {colour = 0, channels = 1, depths = {1, 2, 4, 8, 16}},
  {colour = 2, channels = 3, depths = {8, 16}},
  {colour = 4, channels = 2, depths = {8, 16}},
  {colour = 6, channels = 4, depths = {8, 16}}
}

-- Samples that differ in every pixel and channel, with steep steps.
local function sample(p, x, y, c)
  return (x * 97 + y * 61 + c * 131 + x * y * 7) % (1 << p.depth)
end

local function agrees(p, filter, what)
  local bytes = png(p, function(x, y)
    local list = {}
    for c = 1, p.channels do list[c] = sample(p, x, y, c) end
    return list
  end, filter)
  local got, want = image.decode(bytes), {}
  local scale = p.depth < 8 and 255 // ((1 << p.depth) - 1) or 1
  for c = 1, p.channels do
    for y = 1, p.height do
      for x = 1, p.width do
        want[#want + 1] = sample(p, x - 1, y - 1, c) * scale
      end
    end
  end
  assert.equal(p.depth == 16 and "uint16" or "uint8", got.dtype, what)
  assert.same({p.channels, p.height, p.width}, got.shape, what)
  assert.is_true(la.equal(la.tensor(want), got:long():view(-1)), what)
end

describe("a PNG file", function()
  for _, kind in ipairs(KINDS) do
    for _, depth in ipairs(kind.depths) do
      it(("of %d channels with %d bits"):format(kind.channels, depth),
        function()
          for _, interlaced in ipairs {false, true} do
            for width = 1, interlaced and 9 or 3 do
              for _, height in ipairs {1, 2, 3, 5, 8} do
                local p = {width = width, height = height, depth = depth,
                  colour = kind.colour, channels = kind.channels,
                  interlaced = interlaced}
                local what = ("%d x %d, %s"):format(width, height, interlaced)
                agrees(p, function(y) return (y + width) % 5 end, what)
              end
            end
            for filter = 0, 4 do
              agrees({width = 17, height = 12, depth = depth,
                colour = kind.colour, channels = kind.channels,
                interlaced = interlaced}, function() return filter end,
                "filter " .. filter)
            end
          end
        end)
    end
  end

  it("of a palette", function()
    for _, depth in ipairs {1, 2, 4, 8} do
      for _, interlaced in ipairs {false, true} do
        local colours, n = {}, 1 << depth
        for k = 0, n - 1 do
          colours[k + 1] = string.char(k * 7 % 256, k * 31 % 256, 255 - k)
        end
        local p = {width = 11, height = 9, depth = depth, colour = 3,
          channels = 1, interlaced = interlaced,
          extra = chunk("PLTE", table.concat(colours))}
        local got = image.decode(png(p, function(x, y)
          return {sample(p, x, y, 1)}
        end, function(y) return y % 5 end)):to("int64")
        for y = 1, 9 do
          for x = 1, 11 do
            local k = sample(p, x - 1, y - 1, 1)
            assert.same({k * 7 % 256, k * 31 % 256, 255 - k},
              {got:item(1, y, x), got:item(2, y, x), got:item(3, y, x)})
          end
        end
      end
    end
  end)
end)
