-- lunarray.plot.contours: lines of one height through a matrix, by marching
-- squares, and the areas between them.
local la = require "lunarray"

local contours = {}

-- ---- lines ----

-- Sides of a cell: 1 below, 2 right, 3 above, 4 left. Which are joined when the
-- corners that are higher are these bits (1 lower left, 2 lower right, 4 upper
-- right, 8 upper left). 5 and 10 are saddles.
local joins = {[1] = {4, 1}, [2] = {1, 2}, [3] = {4, 2}, [4] = {2, 3},
  [6] = {1, 3}, [7] = {4, 3}, [8] = {3, 4}, [9] = {3, 1}, [11] = {3, 2},
  [12] = {2, 4}, [13] = {2, 1}, [14] = {1, 4}}

local function sides_of(bits, a, b, c, d, level)
  if bits ~= 5 and bits ~= 10 then return {joins[bits]} end
  local middle = (a + b + c + d) / 4 >= level
  if (bits == 5) == middle then return {{4, 3}, {2, 1}} end
  return {{4, 1}, {2, 3}}
end

-- Where the line crosses a side of cell j, i: a key that both cells of the side
-- have in common, and the point.
local function crossing(m, side, j, i, level)
  local j2, i2, across = j, i, true
  if side == 3 then j2 = j + 1
  elseif side == 2 then i2, across = i + 1, false
  elseif side == 4 then across = false end
  local key = ((j2 * (m.columns + 1)) + i2) * 2 + (across and 0 or 1)
  local jj, ii = across and j2 or j2 + 1, across and i2 + 1 or i2
  local a, b = m.rows[j2][i2], m.rows[jj][ii]
  local t = (level - a) / (b - a)
  if not (t >= 0 and t <= 1) then t = 0.5 end
  return key, m.xs[i2] + t * (m.xs[ii] - m.xs[i2]),
    m.ys[j2] + t * (m.ys[jj] - m.ys[j2])
end

-- All pieces, by the keys of their ends: ends[key] is a list of other keys.
local function pieces(m, level)
  local points, ends = {}, {}
  local function join(a, b)
    ends[a] = ends[a] or {}
    ends[a][#ends[a] + 1] = b
  end
  for j = 1, #m.rows - 1 do
    local low, high = m.rows[j], m.rows[j + 1]
    for i = 1, m.columns - 1 do
      local a, b, c, d = low[i], low[i + 1], high[i + 1], high[i]
      local bits = (a >= level and 1 or 0) | (b >= level and 2 or 0)
        | (c >= level and 4 or 0) | (d >= level and 8 or 0)
      local whole = (a - a) + (b - b) + (c - c) + (d - d) == 0
      if bits ~= 0 and bits ~= 15 and whole then
        for _, pair in ipairs(sides_of(bits, a, b, c, d, level)) do
          local k1, x1, y1 = crossing(m, pair[1], j, i, level)
          local k2, x2, y2 = crossing(m, pair[2], j, i, level)
          points[k1], points[k2] = {x1, y1}, {x2, y2}
          join(k1, k2)
          join(k2, k1)
        end
      end
    end
  end
  return points, ends
end

local function take(ends, from, to)
  for k, other in ipairs(ends[from]) do
    if other == to then
      table.remove(ends[from], k)
      return
    end
  end
end

-- From one end along the pieces as far as they go.
local function follow(points, ends, key)
  local xs, ys = {points[key][1]}, {points[key][2]}
  while #ends[key] > 0 do
    local after = ends[key][1]
    take(ends, key, after)
    take(ends, after, key)
    key = after
    xs[#xs + 1], ys[#ys + 1] = points[key][1], points[key][2]
  end
  return {xs, ys}
end

-- The lines of a level: a list of {xs, ys} in the mark's x and y. A closed line
-- ends where it began; cells with a corner that is not finite have none.
function contours.lines(mark, level)
  mark.rows = mark.rows or mark.z:totable()
  local m = {rows = mark.rows, columns = mark.z:size(2),
    xs = mark.x:totable(), ys = mark.y:totable()}
  local points, ends = pieces(m, level)
  local keys, lines = {}, {}
  for key in pairs(ends) do keys[#keys + 1] = key end
  table.sort(keys)
  for pass = 1, 2 do      -- open lines first: they begin where one piece ends
    for _, key in ipairs(keys) do
      local n = #ends[key]
      if n == 1 or pass == 2 and n > 0 then
        lines[#lines + 1] = follow(points, ends, key)
      end
    end
  end
  return lines
end

-- ---- areas ----

-- Where 'at' (a tensor of x or y) lies in the increasing 'list': the index of
-- the one before, and the part of the way to the next; NaN outside.
local function locate(list, at)
  local n = list:numel()
  local k = (list:searchsorted(at, {right = true}) - 1):clamp(1, n - 1)
  local a, b = list:index_select(1, k), list:index_select(1, k + 1)
  local part = (at - a) / (b - a)
  local outside = part:lt(-1e-9):logical_or(part:gt(1 + 1e-9))
  return k, part:masked_fill(outside, 0 / 0)
end

-- The step of each of h x w points of the plane, from 0 to 1, row 1 at the top:
-- heights between points of the matrix are bilinear.
function contours.filled(mark, plane, w, h)
  local function axis(range, n)
    local at = (la.arange(n, {dtype = "float64"}) + 0.5) / n
    if range.flip then at = 1 - at end
    at = at * (range.to - range.from) + range.from
    if range.log then return (at * math.log(10)):exp() end
    return at / range.unit
  end
  local i, u = locate(mark.x, axis(plane.xaxis, w))
  local j, v = locate(mark.y, axis(plane.yaxis, h):flip(1))
  local z = mark.z
  local low, high = z:index_select(1, j), z:index_select(1, j + 1)
  v = v:unsqueeze(2)
  local function column(t)
    return t:index_select(2, i) * (1 - u) + t:index_select(2, i + 1) * u
  end
  local height = column(low) * (1 - v) + column(high) * v
  -- How many levels are at most each height, as a part of their number.
  local count = la.zeros(h, w, {dtype = "float64"})
  for _, level in ipairs(mark.levels) do
    count = count + height:ge(level):double()
  end
  return (count / math.max(#mark.levels, 1)):masked_fill(height:isnan(), 0 / 0)
end

return contours
