-- lunarray.graph: what la.grad_graph gives, drawn: as text, for Graphviz, and
-- as SVG by a layout of its own (lunarray.graph_layout).
local graph = {}

local Graph = {}
Graph.__index = Graph
Graph.__name = "lunarray.Graph"

-- Called by la.grad_graph with the list of nodes.
function graph.new(list) return setmetatable(list, Graph) end

-- name -> tensor, of a module its parameters.
function graph.names(value)
  local named = value.named_parameters
  if type(named) ~= "function" then return value end
  local out = {}
  for name, p in named(value) do out[name] = p end
  return out
end

-- ---- nodes ----

local function title(node)
  local name = node.name:gsub("^_", "")
  if not name:find("^%l") then return name end
  return name:gsub("^%l", string.upper) .. "Backward"
end

-- The lines of a node's box: its name, its shape and dtype, the tensor's name.
local function box_lines(node)
  local lines = {node.label and node.name == "AccumulateGrad" and node.label
    or title(node)}
  if node.label and lines[1] ~= node.label then lines[2] = node.label end
  if node.shape then
    lines[#lines + 1] = tostring(node.shape)
      .. (node.dtype ~= "float32" and " " .. node.dtype or "")
  end
  return lines
end

local function inputs_of(node)
  local list = {}
  for _, at in ipairs(node.inputs) do
    if at ~= 0 then list[#list + 1] = at end
  end
  return list
end

-- ---- text ----

local function line_of(node, at, again)
  local parts = {title(node)}
  if node.shape then parts[2] = tostring(node.shape) end
  if node.dtype and node.dtype ~= "float32" then
    parts[#parts + 1] = node.dtype
  end
  if node.label then parts[#parts + 1] = '"' .. node.label .. '"' end
  if again then
    return ("%s, see [%d]"):format(parts[1], at)
  end
  return table.concat(parts, " ")
end

-- How many nodes take each one's result: those with several get a number.
local function uses(self)
  local count = {}
  for _, node in ipairs(self) do
    for _, at in ipairs(inputs_of(node)) do
      count[at] = (count[at] or 0) + 1
    end
  end
  return count
end

local DEEP = 60     -- columns of branches; what is deeper comes below

-- A node stands above its inputs. One with a single input is followed by it at
-- the same margin, several are branches. A node that was shown is named by its
-- number. At most 'most' lines (200).
function Graph:text(most)
  most = most or 200
  if math.type(most) ~= "integer" or most < 1 then
    error("text: a number of lines expected", 2)
  end
  if #self == 0 then return "nothing was recorded" end
  local count, shown, out = uses(self), {}, {}
  -- Entries: node, what stands before its line, and before those below it.
  local stack, later, numbered = {{1, "", ""}}, {}, {}
  while #stack > 0 and #out < most do
    local entry = table.remove(stack)
    local at, head, below = entry[1], entry[2], entry[3]
    local node, inputs = self[at], inputs_of(self[at])
    local again = shown[at]
    local far = not again and #below > DEEP and #inputs > 0
    local mark = (count[at] or 0) > 1 and not again and not far
      or numbered[at]
    out[#out + 1] = head .. (mark and not far and ("[%d] "):format(at) or "")
      .. line_of(node, at, again or far)
    if far then
      if not numbered[at] then later[#later + 1] = at end
      numbered[at] = true
    elseif not again then
      shown[at] = true
      for k = #inputs, 1, -1 do
        local single, last = #inputs == 1, k == #inputs
        stack[#stack + 1] = {inputs[k],
          single and below or below .. (last and "└─ " or "├─ "),
          single and below or below .. (last and "   " or "│  ")}
      end
    end
    if #stack == 0 and #later > 0 then
      local at_later = table.remove(later, 1)
      if not shown[at_later] then stack[1] = {at_later, "", ""} end
    end
  end
  if #stack > 0 then
    local n = 0
    for _ in pairs(shown) do n = n + 1 end
    out[#out + 1] = ("... %d more nodes"):format(#self - n)
  end
  return table.concat(out, "\n")
end

function Graph:__tostring() return self:text() end

-- ---- files ----

local function written(text, path, name)
  if path == nil then return text end
  if type(path) ~= "string" then
    error(("bad argument #1 to '%s' (file name expected, got %s)"):format(name,
      type(path)), 3)
  end
  local file, message = io.open(path, "w")
  local ok = file
  if file then
    ok, message = file:write(text)
    local closed, why = file:close()
    if not closed then ok, message = nil, why end
  end
  if not ok then error(name .. ": " .. message, 3) end
  return text
end

-- The graph in Graphviz's language; into a file when one is named.
function Graph:dot(path)
  local out = {"digraph gradient {", "  rankdir=TB;",
    '  node [shape=box, fontname="sans-serif", fontsize=11];'}
  for at, node in ipairs(self) do
    local text = table.concat(box_lines(node), "\n"):gsub('[\\"]', "\\%0")
      :gsub("\n", "\\n")
    out[#out + 1] = ('  n%d [label="%s"%s];'):format(at, text,
      node.name == "AccumulateGrad" and ", style=filled, fillcolor=\"#d7e8d4\""
        or "")
    for _, from in ipairs(inputs_of(node)) do
      out[#out + 1] = ("  n%d -> n%d;"):format(from, at)
    end
  end
  out[#out + 1] = "}\n"
  return written(table.concat(out, "\n"), path, "dot")
end

local MOST_BOXES = 2000

-- A picture: leaves above, the result below. Raises for graphs of more than
-- 2,000 nodes, which nobody could read.
function Graph:svg(path)
  if #self > MOST_BOXES then
    error(("svg: %d nodes are too many for a picture (at most %d); "
      .. "tostring shows the first"):format(#self, MOST_BOXES), 2)
  end
  local nodes = {}
  for at, node in ipairs(self) do
    nodes[at] = {lines = box_lines(node), inputs = inputs_of(node),
      leaf = node.name == "AccumulateGrad", result = at == 1}
  end
  return written(require "lunarray.graph_layout".svg(nodes), path, "svg")
end

return graph
