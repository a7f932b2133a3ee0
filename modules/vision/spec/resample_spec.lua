-- Resampling along rows against the definition of its filters, for sizes around
-- those of vectors: where windows of neighbouring outputs lie close together,
-- and where they are far apart.
local la = require "lunarray"

local function triangle(x)
  x = math.abs(x)
  return x < 1 and 1 - x or 0
end

local function cubic(a)
  return function(x)
    x = math.abs(x)
    if x < 1 then return ((a + 2) * x - (a + 3)) * x * x + 1 end
    return x < 2 and (((x - 5) * x + 8) * x - 4) * a or 0
  end
end

local function lanczos(x)
  local function sinc(v)
    return v == 0 and 1 or math.sin(math.pi * v) / (math.pi * v)
  end
  return math.abs(x) < 3 and sinc(x) * sinc(x / 3) or 0
end

-- Weights [to][from] with a filter that is as wide as the scale, and reaches
-- 'reach' at scale 1: what is outside of the row has no weight.
local function smoothed(from, to, filter, reach)
  local scale, rows = from / to, {}
  local wide = math.max(scale, 1)
  for i = 1, to do
    local center, row, sum = scale * (i - 0.5), {}, 0
    local first = math.max(math.floor(center - reach * wide + 0.5), 0)
    local last = math.min(math.floor(center + reach * wide + 0.5), from)
    for j = 0, from - 1 do
      local w = j >= first and j < last
        and filter((j - center + 0.5) / wide) or 0
      row[j + 1], sum = w, sum + w
    end
    for j = 1, from do row[j] = row[j] / sum end
    rows[i] = row
  end
  return la.tensor(rows, {dtype = "float64"})
end

-- Weights of the neighbours around a point; those outside are the edge's.
local function pointed(from, to, filter, reach)
  local scale, rows = from / to, {}
  for i = 1, to do
    local at, row = scale * (i - 0.5) - 0.5, {}
    if reach == 1 then at = math.max(at, 0) end
    local low = math.floor(at)
    for j = 1, from do row[j] = 0 end
    for j = low - reach + 1, low + reach do
      local k = math.min(math.max(j, 0), from - 1) + 1
      row[k] = row[k] + filter(at - j)
    end
    rows[i] = row
  end
  return la.tensor(rows, {dtype = "float64"})
end

local MODES = {
  {"bilinear", false, pointed, triangle, 1},
  {"bicubic", false, pointed, cubic(-0.75), 2},
  {"bilinear", true, smoothed, triangle, 1},
  {"bicubic", true, smoothed, cubic(-0.5), 2},
  {"lanczos", true, smoothed, lanczos, 3},
}

local SIZES = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 64, 65, 70}
local SCALES = {0.1, 0.4, 0.5, 0.9, 1, 1.07, 1.3, 1.6, 1.9, 2, 2.2, 3.3}

describe("interpolate along a row", function()
  for _, m in ipairs(MODES) do
    local mode, antialias, weights, filter, reach = table.unpack(m)
    it("is its filter: " .. mode .. (antialias and ", antialiased" or ""),
      function()
        for _, to in ipairs(SIZES) do
          for _, scale in ipairs(SCALES) do
            local from = math.max(math.floor(to * scale + 0.5), 1)
            local x = la.rand(3, from, {dtype = "float64"})
            local want = x:matmul(weights(from, to, filter, reach):t())
            -- Positions are of the dtype, and weights change by less than 2
            -- from one pixel to the next.
            for dtype, eps in pairs {float64 = 2^-52, float32 = 2^-23} do
              local tol = (8 + 2 * from) * eps
              local got = la.interpolate(x:to(dtype):view(1, 3, 1, from),
                {size = {1, to}, mode = mode, antialias = antialias})
              local gap = (got:view(3, to):double() - want):abs():max():item()
              assert.is_true(gap < tol, ("%s %d to %d differs by %g"):format(
                dtype, from, to, gap))
            end
          end
        end
      end)
  end
end)
