-- lunarray.plot.curve: points of a line, as few as the canvas can show, within
-- the rectangle of a plane.
local la = require "lunarray"

local curve = {}

-- ---- fewer points ----

-- Is each x at least as large as the one before? (false where one is NaN)
local function is_sorted(x)
  local n = x:numel()
  return x[{{2, n}}]:ge(x[{{1, n - 1}}]):all()
end

-- Of each column of the canvas the first, the lowest, the highest and the last
-- point: the line through these covers the same pixels (Jugel et al., "M4: A
-- Visualization-Oriented Time Series Data Aggregation", VLDB 2014).
local function decimate(x, y, plane, columns)
  local seen = y:isfinite():logical_and(x:ge(plane.left - 1))
    :logical_and(x:le(plane.right + 1))
  local width = plane.right - plane.left + 2
  local column = ((x - plane.left + 1) * (columns / width)):floor()
    :clamp(0, columns - 1):nan_to_num(0):long() + 1
  local inf = math.huge
  local function reduce(values, how, start)
    return la.full({columns}, start, {dtype = "float64"}):scatter_reduce(1,
      column, values, how)
  end
  local hidden = seen:logical_not()
  local low = reduce(y:masked_fill(hidden, inf), "amin", inf)
  local high = reduce(y:masked_fill(hidden, -inf), "amax", -inf)
  local order = la.arange(1, y:numel() + 1, {dtype = "float64"})
  local first = reduce(order:masked_fill(hidden, inf), "amin", inf)
  local last = reduce(order:masked_fill(hidden, -inf), "amax", -inf)
  local some = low:le(high)
  local function value(at)
    return y:index_select(1, at:masked_fill(some:logical_not(), 1):long())
  end
  local middle = (la.arange(columns, {dtype = "float64"}) + 0.5)
    * (width / columns) + (plane.left - 1)
  local ys = la.stack({value(first), low, high, value(last)}, 2)
    :masked_fill(some:logical_not():unsqueeze(2), 0 / 0):reshape(-1)
  -- A column without points in a line that has few is no gap: leave it out,
  -- unless something in it can't be drawn.
  local holes = reduce(hidden:double(), "amax", 0):gt(0)
  local keep = some:logical_or(holes):repeat_interleave(4)
  local xs = middle:repeat_interleave(4)
  return xs[keep]:totable(), ys[keep]:totable()
end

-- Coordinates of tensors x and y as lists; NaN in either leaves a gap.
function curve.points(x, y, plane)
  local columns = math.max(1, math.ceil(plane.width * plane.canvas.scale))
  if x:numel() > 4 * columns + 4 and is_sorted(x) then
    return decimate(x, y, plane, columns)
  end
  return x:totable(), y:totable()
end

-- ---- within the rectangle ----

local function is_finite(v) return v - v == 0 end

-- The points that a plane shows.
function curve.inside(xs, ys, plane)
  local px, py = {}, {}
  for k = 1, #xs do
    local x, y = xs[k], ys[k]
    if x >= plane.left - 0.01 and x <= plane.right + 0.01
      and y >= plane.top - 0.01 and y <= plane.bottom + 0.01 then
      px[#px + 1], py[#py + 1] = x, y
    end
  end
  return px, py
end

-- The part of a segment within the rectangle: where it begins and ends, from 0
-- to 1, or nil (Liang and Barsky, 1984).
local function clip(x, y, dx, dy, plane, slack)
  local a, b = 0, 1
  local function cut(p, q)
    if p == 0 then return q >= 0 end
    local t = q / p
    if p < 0 then a = math.max(a, t) else b = math.min(b, t) end
    return a <= b
  end
  if cut(-dx, x - plane.left + slack) and cut(dx, plane.right + slack - x)
    and cut(-dy, y - plane.top + slack) and cut(dy, plane.bottom + slack - y)
    then
    return a, b
  end
end

-- Calls draw(xs, ys) for each stretch of the line that is finite and inside. A
-- point between gaps is a stretch of its own.
function curve.runs(xs, ys, plane, draw)
  local px, py = {}, {}
  local function finish()
    if #px > 0 then draw(px, py) end
    px, py = {}, {}
  end
  local slack = plane.canvas.slack or 2
  for k = 1, #xs do
    local x, y, x1, y1 = xs[k], ys[k], xs[k + 1], ys[k + 1]
    local here = is_finite(x) and is_finite(y)
    if here and x1 and is_finite(x1) and is_finite(y1) then
      local a, b = clip(x, y, x1 - x, y1 - y, plane, slack)
      if not a then
        finish()
      else
        if #px == 0 or a > 0 then
          finish()
          px[1], py[1] = x + a * (x1 - x), y + a * (y1 - y)
        end
        px[#px + 1] = x + b * (x1 - x)
        py[#py + 1] = y + b * (y1 - y)
        if b < 1 then finish() end
      end
    elseif here and #px == 0 and clip(x, y, 0, 0, plane, slack) then
      px[1], py[1] = x, y
      finish()
    else
      finish()
    end
  end
  finish()
end

return curve
