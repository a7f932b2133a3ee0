-- lunarray.graph_layout: pictures of graphs without cycles, in layers.
--
-- The method of Sugiyama, Tagawa and Toda (1981): nodes go to layers by the
-- longest path, edges over several layers get a point in each, the order in a
-- layer comes from the mean position of the neighbours, downwards and upwards
-- by pairs of sweeps, and so do the positions.
local numbers = require "lunarray.numbers"

local layout = {}

local CHARACTER, LINE, PAD = 6.6, 14, 8      -- of a font of 11 pixels
local GAP_X, GAP_Y, MARGIN = 18, 34, 12
local SWEEPS = 12

-- ---- layers ----

-- The layer of each node, 1 for the results: one more than the deepest of those
-- that use it.
local function layers_of(nodes)
  local waiting, layer, ready = {}, {}, {}
  for at in ipairs(nodes) do waiting[at], layer[at] = 0, 1 end
  for _, node in ipairs(nodes) do
    for _, from in ipairs(node.inputs) do waiting[from] = waiting[from] + 1 end
  end
  for at in ipairs(nodes) do
    if waiting[at] == 0 then ready[#ready + 1] = at end
  end
  local k = 0
  while k < #ready do
    k = k + 1
    local at = ready[k]
    for _, from in ipairs(nodes[at].inputs) do
      layer[from] = math.max(layer[from], layer[at] + 1)
      waiting[from] = waiting[from] - 1
      if waiting[from] == 0 then ready[#ready + 1] = from end
    end
  end
  return layer
end

local function size_of(node)
  local width = 0
  for _, line in ipairs(node.lines) do
    width = math.max(width, utf8.len(line) or #line)
  end
  return width * CHARACTER + 2 * PAD, #node.lines * LINE + PAD
end

-- Points with layer, size, neighbours above (towards the leaves) and below;
-- paths: lists of points from an input to its user.
local function points_of(nodes)
  local layer, points, rows, paths = layers_of(nodes), {}, {}, {}
  local function add(point)
    points[#points + 1] = point
    point.above, point.below = {}, {}
    rows[point.layer] = rows[point.layer] or {}
    local row = rows[point.layer]
    row[#row + 1] = point
    point.x = #row
    return point
  end
  for at, node in ipairs(nodes) do
    local w, h = size_of(node)
    add{node = node, layer = layer[at], w = w, h = h}
  end
  for at, node in ipairs(nodes) do
    for _, from in ipairs(node.inputs) do
      local path = {points[from]}
      for k = layer[from] - 1, layer[at] + 1, -1 do
        path[#path + 1] = add{layer = k, w = 4, h = 0}
      end
      path[#path + 1] = points[at]
      for k = 2, #path do
        table.insert(path[k].above, path[k - 1])
        table.insert(path[k - 1].below, path[k])
      end
      paths[#paths + 1] = path
    end
  end
  return rows, paths
end

-- ---- order and positions ----

-- Mean x of the neighbours on one side; its own without any.
local function wish(point, side)
  local list, sum = point[side], 0
  if #list == 0 then return point.x end
  for _, other in ipairs(list) do sum = sum + other.x end
  return sum / #list
end

local function order_row(row, side)
  for k, point in ipairs(row) do point.key, point.was = wish(point, side), k end
  table.sort(row, function(a, b)
    if a.key ~= b.key then return a.key < b.key end
    return a.was < b.was
  end)
  for k, point in ipairs(row) do point.x = k end
end

local function order(rows)
  for sweep = 1, SWEEPS do
    if sweep % 2 == 1 then
      for k = 2, #rows do order_row(rows[k], "below") end
    else
      for k = #rows - 1, 1, -1 do order_row(rows[k], "above") end
    end
  end
end

-- Each point where its neighbours want it, as far as those before it in the row
-- allow; from the left and from the right, and the mean of both.
local function position_row(row, side)
  local n, left, right = #row, {}, {}
  for k = 1, n do
    local x = wish(row[k], side)
    local least = k > 1
      and left[k - 1] + (row[k - 1].w + row[k].w) / 2 + GAP_X
    left[k] = least and math.max(x, least) or x
  end
  for k = n, 1, -1 do
    local x = wish(row[k], side)
    local most = k < n
      and right[k + 1] - (row[k + 1].w + row[k].w) / 2 - GAP_X
    right[k] = most and math.min(x, most) or x
  end
  for k = 1, n do row[k].x = (left[k] + right[k]) / 2 end
end

local function position(rows)
  for _, row in ipairs(rows) do
    local x = 0
    for _, point in ipairs(row) do
      point.x = x + point.w / 2
      x = x + point.w + GAP_X
    end
  end
  for sweep = 1, SWEEPS do
    if sweep % 2 == 1 then
      for k = 2, #rows do position_row(rows[k], "below") end
    else
      for k = #rows - 1, 1, -1 do position_row(rows[k], "above") end
    end
  end
  -- The deepest layer, the leaves', is above.
  local y, least, most = MARGIN, math.huge, -math.huge
  for k = #rows, 1, -1 do
    local height = 0
    for _, point in ipairs(rows[k]) do height = math.max(height, point.h) end
    for _, point in ipairs(rows[k]) do
      point.y = y + height / 2
      least = math.min(least, point.x - point.w / 2)
      most = math.max(most, point.x + point.w / 2)
    end
    y = y + height + GAP_Y
  end
  for _, row in ipairs(rows) do
    for _, point in ipairs(row) do point.x = point.x - least + MARGIN end
  end
  return most - least + 2 * MARGIN, y - GAP_Y + MARGIN
end

-- ---- drawing ----

local ESCAPES = {["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;",
  ['"'] = "&quot;"}

local function escaped(text)
  if not utf8.len(text) then text = text:gsub("[\x80-\xff]", "?") end
  return (text:gsub("%c", " "):gsub('[<>&"]', ESCAPES))
end

local function draw_path(out, path)
  local first, last = path[1], path[#path]
  local parts = {numbers.format("M%.1f %.1f", first.x, first.y + first.h / 2)}
  local x, y = first.x, first.y + first.h / 2
  for k = 2, #path do
    local point = path[k]
    local to = point == last and point.y - point.h / 2 or point.y
    local middle = (y + to) / 2
    parts[k] = numbers.format("C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle,
      point.x, middle, point.x, to)
    x, y = point.x, to
  end
  out[#out + 1] = ('<path d="%s" marker-end="url(#tip)"/>'):format(
    table.concat(parts, " "))
end

local function draw_box(out, point)
  local node = point.node
  out[#out + 1] = numbers.format('<rect x="%.1f" y="%.1f" width="%.1f" '
    .. 'height="%.1f" rx="3" fill="%s"/>', point.x - point.w / 2,
    point.y - point.h / 2, point.w, point.h, node.leaf and "#d7e8d4"
      or node.result and "#f6dfc0" or "#e4e9f2")
  for k, line in ipairs(node.lines) do
    out[#out + 1] = numbers.format('<text x="%.1f" y="%.1f">%s</text>', point.x,
      point.y + (k - (#node.lines + 1) / 2) * LINE + 4, escaped(line))
  end
end

-- The picture of nodes {lines, inputs, leaf, result}: an edge leads from each
-- of the inputs, which are indices, to the node.
function layout.svg(nodes)
  local rows, paths = points_of(nodes)
  local width, height = 2 * MARGIN, 2 * MARGIN
  if #nodes > 0 then
    order(rows)
    width, height = position(rows)
  end
  local out = {numbers.format('<svg xmlns="http://www.w3.org/2000/svg" '
    .. 'width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">', width, height,
      width, height),
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" '
    .. 'markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" '
    .. 'fill="#556"/></marker></defs>',
    '<rect width="100%" height="100%" fill="#fff"/>',
    '<g fill="none" stroke="#556">'}
  for _, path in ipairs(paths) do draw_path(out, path) end
  out[#out + 1] = '</g><g stroke="#889" font-family="sans-serif" '
    .. 'font-size="11" text-anchor="middle">'
    .. '<style>text{stroke:none;fill:#223}</style>'
  for _, row in ipairs(rows) do
    for _, point in ipairs(row) do
      if point.node then draw_box(out, point) end
    end
  end
  out[#out + 1] = "</g></svg>\n"
  return table.concat(out, "\n")
end

return layout
