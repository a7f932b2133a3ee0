-- The canvas of pixels that figures are drawn on, against distances and areas
-- pixel by pixel: paths, dashes, polygons, rectangles, dots, pictures, clips.
local la = require "lunarray"
local raster = require "lunarray.plot.raster"

local W, H = 13, 11
local BLACK = 0

-- How dark each pixel is, from 0 to 1: rows of numbers.
local function darkness(canvas)
  return (1 - canvas.pixels[1]):view(canvas.h, canvas.w):totable()
end

local function agrees(want, canvas, what)
  for y, row in ipairs(darkness(canvas)) do
    for x, got in ipairs(row) do
      local v = want(x - 0.5, y - 0.5)
      if math.abs(v - got) > 1e-5 then
        error(("%s: %.4f at %d, %d, not %.4f"):format(what, got, x, y, v), 0)
      end
    end
  end
end

local function unit(v) return math.max(0, math.min(v, 1)) end

local function distance(px, py, x0, y0, x1, y1)
  local dx, dy = x1 - x0, y1 - y0
  local length = dx * dx + dy * dy
  local t = length > 0 and unit(((px - x0) * dx + (py - y0) * dy) / length) or 0
  return math.sqrt((px - x0 - t * dx) ^ 2 + (py - y0 - t * dy) ^ 2)
end

-- What a list of segments, 2r wide, covers of the pixel around px, py.
local function covered(segments, r, px, py)
  local best = 0
  for _, s in ipairs(segments) do
    best = math.max(best, unit(r + 0.5 - distance(px, py, table.unpack(s))))
  end
  return best
end

local function segments_of(xs, ys, s)
  local list = {}
  for k = 2, #xs do
    list[#list + 1] = {xs[k - 1] * s, ys[k - 1] * s, xs[k] * s, ys[k] * s}
  end
  if #xs == 1 then list[1] = {xs[1] * s, ys[1] * s, xs[1] * s, ys[1] * s} end
  return list
end

local PATHS = {
  {{2, 9}, {3, 3}}, {{3, 3}, {2, 9}}, {{2, 10}, {2, 8}}, {{10, 2}, {2, 8}},
  {{1.5, 11, 4}, {9, 1.25, 2}}, {{6}, {5}}, {{-3, 20}, {4, 6}},
  {{5, 5}, {-4, 30}}, {{0, 13}, {0, 11}}, {{4, 4.2, 4.4}, {5, 9, 5}}
}

describe("a path", function()
  for _, scale in ipairs {1, 2, 1.5} do
    it("covers pixels by their distance, scale " .. scale, function()
      for k, path in ipairs(PATHS) do
        for _, width in ipairs {0.5, 2, 5} do
          local alpha = width == 2 and 0.5 or 1
          local canvas = raster.new(W, H, scale)
          canvas:path(path[1], path[2], {color = BLACK, width = width,
            alpha = alpha})
          local list = segments_of(path[1], path[2], scale)
          local wide = width * scale
          agrees(function(x, y)
            return covered(list, math.max(wide, 1) / 2, x, y)
              * alpha * math.min(wide, 1)
          end, canvas, ("path %d, %g wide"):format(k, width))
        end
      end
    end)
  end

  it("has dashes of the lengths that are given", function()
    local canvas = raster.new(W, H, 1)
    canvas:path({1, 12}, {5, 5}, {color = BLACK, dash = {3, 2}})
    local list = {{1, 5, 4, 5}, {6, 5, 9, 5}, {11, 5, 12, 5}}
    agrees(function(x, y) return covered(list, 0.5, x, y) end, canvas, "one")
    canvas = raster.new(W, H, 1)
    canvas:path({2, 6, 6}, {2, 2, 10}, {color = BLACK, dash = {3, 1, 2, 2}})
    list = {{2, 2, 5, 2}, {6, 2, 6, 4}, {6, 6, 6, 9}}
    agrees(function(x, y) return covered(list, 0.5, x, y) end, canvas,
      "round a corner")
    canvas = raster.new(W, H, 2)
    canvas:path({1, 11}, {5, 5}, {color = BLACK, dash = {2, 3}})
    list = {{2, 10, 6, 10}, {12, 10, 16, 10}}
    agrees(function(x, y) return covered(list, 1, x, y) end, canvas,
      "scaled")
  end)

  it("stays in the rectangle that is clipped to", function()
    local canvas = raster.new(W, H, 1)
    canvas:clip(2, 3, 5, 4)
    canvas:path({0, 13}, {0, 11}, {color = BLACK, width = 4})
    local list = {{0, 0, 13, 11}}
    agrees(function(x, y)
      return x > 2 and x < 7 and y > 3 and y < 7 and covered(list, 2, x, y)
        or 0
    end, canvas, "clipped")
    canvas:unclip()
    canvas:path({0, 13}, {0, 11}, {color = BLACK, width = 4})
    assert.is_true(darkness(canvas)[1][1] > 0.9)
  end)
end)

describe("an area", function()
  local function overlap(a, b, low) return unit(math.min(b, low + 1)
    - math.max(a, low)) end

  it("of a rectangle covers pixels by their part", function()
    for _, scale in ipairs {1, 2} do
      for _, r in ipairs {{2, 3, 5, 4}, {2.25, 3.5, 5.5, 4.75}, {9, 8, -5, -4},
                          {-3, -3, 30, 30}, {4.2, 5.1, 0.3, 0.2},
                          {4, 4, 0, 3}} do
        local canvas = raster.new(W, H, scale)
        canvas:rect(r[1], r[2], r[3], r[4], {color = BLACK, alpha = 0.5})
        local x0, x1 = math.min(r[1], r[1] + r[3]) * scale,
          math.max(r[1], r[1] + r[3]) * scale
        local y0, y1 = math.min(r[2], r[2] + r[4]) * scale,
          math.max(r[2], r[2] + r[4]) * scale
        agrees(function(x, y)
          return 0.5 * overlap(x0, x1, x - 0.5) * overlap(y0, y1, y - 0.5)
        end, canvas, table.concat(r, " "))
      end
    end
  end)

  it("of a polygon is that of four lines a pixel", function()
    local shapes = {
      {{2, 9, 5}, {2, 4, 9}}, {{1, 12, 12, 1}, {2.5, 2.5, 7.25, 7.25}},
      {{6, 11, 6, 1}, {1, 5, 10, 5}},
      {{1, 11, 11, 6, 1}, {1, 1, 10, 4, 10}},       -- with a notch
      {{-4, 20, 6}, {-4, 3, 30}}
    }
    for n, shape in ipairs(shapes) do
      local xs, ys = shape[1], shape[2]
      local canvas = raster.new(W, H, 1)
      canvas:polygon(xs, ys, {color = BLACK})
      agrees(function(px, py)
        local sum = 0
        for line = 0, 3 do
          local y, cuts = py - 0.5 + (line + 0.5) / 4, {}
          for k = 1, #xs do
            local m = k % #xs + 1
            local low, high = math.min(ys[k], ys[m]), math.max(ys[k], ys[m])
            if y >= low and y < high then
              cuts[#cuts + 1] = xs[k] + (xs[m] - xs[k]) * (y - ys[k])
                / (ys[m] - ys[k])
            end
          end
          table.sort(cuts)
          for k = 1, #cuts, 2 do
            sum = sum + overlap(cuts[k], cuts[k + 1], px - 0.5) / 4
          end
        end
        return math.min(sum, 1)
      end, canvas, "shape " .. n)
    end
  end)
end)

describe("dots", function()
  local xs, ys = {2, 9.5, 10.5, 6}, {3, 7.25, 8, 5}

  it("cover each other as one after the other", function()
    for _, size in ipairs {1, 3, 5} do
      for _, alpha in ipairs {1, 0.4} do
        for _, scale in ipairs {1, 2} do
          local canvas = raster.new(W, H, scale)
          canvas:dots(xs, ys, {color = BLACK, size = size, alpha = alpha})
          agrees(function(x, y)
            local clear = 1
            for k = 1, #xs do
              local d = math.sqrt((x - xs[k] * scale) ^ 2
                + (y - ys[k] * scale) ^ 2)
              clear = clear * (1 - alpha * unit(size / 2 * scale + 0.5 - d))
            end
            return 1 - clear
          end, canvas, "size " .. size)
        end
      end
    end
  end)

  it("may be crosses, squares and triangles", function()
    local function marks(x, y, r)
      return {x = {{x - r, y - r, x + r, y + r}, {x - r, y + r, x + r, y - r}},
        ["+"] = {{x - r, y, x + r, y}, {x, y - r, x, y + r}}}
    end
    for _, name in ipairs {"x", "+"} do
      local canvas = raster.new(W, H, 1)
      canvas:dots(xs, ys, {color = BLACK, size = 4, marker = name})
      local list = {}
      for k = 1, #xs do
        for _, s in ipairs(marks(xs[k], ys[k], 2)[name]) do
          list[#list + 1] = s
        end
      end
      agrees(function(x, y) return covered(list, 0.5, x, y) end, canvas, name)
    end
    for name, shape in pairs {s = {{-2, 2, 2, -2}, {-2, -2, 2, 2}},
                              ["^"] = {{-2, 0, 2}, {2, -2, 2}}} do
      local canvas, other = raster.new(W, H, 1), raster.new(W, H, 1)
      canvas:dots({6}, {5}, {color = BLACK, size = 4, marker = name})
      local px, py = {}, {}
      for k = 1, #shape[1] do
        px[k], py[k] = 6 + shape[1][k], 5 + shape[2][k]
      end
      other:polygon(px, py, {color = BLACK})
      assert.is_true(la.equal(canvas.pixels, other.pixels), name)
    end
  end)
end)

describe("a picture", function()
  it("shows each of its elements over a rectangle", function()
    local image = la.rand(3, 2, 3)
    local canvas = raster.new(W, H, 1)
    canvas:picture(2, 3, 6, 4, image)
    local got = canvas.pixels:view(3, H, W)
    for y = 1, H do
      for x = 1, W do
        local inside = x > 2 and x <= 8 and y > 3 and y <= 7
        for c = 1, 3 do
          local want = inside and image:item(c, (y - 4) // 2 + 1,
            (x - 3) // 2 + 1) or 1
          assert.is_true(math.abs(want - got:item(c, y, x)) < 1e-6)
        end
      end
    end
  end)

  it("blends by a fourth channel, and leaves NaN out", function()
    local image = la.zeros(4, 1, 2)
    image[4][1][1], image[4][1][2] = 0.25, 1
    local canvas = raster.new(4, 2, 1)
    canvas:picture(0, 0, 4, 2, image)
    assert.same({0.75, 0.75, 0, 0, 0.75, 0.75, 0, 0},
      canvas.pixels[1]:totable())
    canvas = raster.new(4, 2, 1)
    canvas:picture(0, 0, 4, 2, la.tensor {{{0 / 0, 0.5}}, {{0, 0.5}},
      {{0, 0.5}}})
    assert.same({1, 1, 0.5, 0.5}, canvas.pixels[1][{{1, 4}}]:totable())
    assert.same({0, 0, 0.5, 0.5}, canvas.pixels[2][{{1, 4}}]:totable())
    canvas:picture(9, 9, 4, 2, image)                 -- outside
    canvas:picture(0, 0, 4, 2, la.zeros(3, 0, 2))     -- nothing
  end)

  it("comes out in 8 bits, rounded", function()
    local canvas = raster.new(2, 1, 1)
    canvas:rect(0, 0, 1, 1, {color = BLACK, alpha = 0.5})
    local image = canvas:image()
    assert.equal("uint8", image.dtype)
    assert.same({3, 1, 2}, {table.unpack(image.shape)})
    assert.is_true(image:item(1, 1, 1) == 127 or image:item(1, 1, 1) == 128)
    assert.equal(255, image:item(1, 1, 2))
  end)
end)
