-- A transformer learns to write like a short story, character by character. The
-- picture shows, for its first 24 characters, which earlier ones (columns) each
-- of them (rows) looks at, one square for each head.
--
--   lua5.4 examples/letters.lua [steps [width [picture.png]]]
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"
local plot = require "lunarray.plot"

local steps = tonumber(arg and arg[1]) or 500
local width, picture = tonumber(arg and arg[2]) or 64, arg and arg[3]
local LENGTH, BATCH, HEADS = 48, 16, 4
la.manual_seed(2)

-- The story as classes of characters.
local story = ""
for line in io.lines("examples/data/tide.txt", "L") do story = story .. line end
local bytes = la.from_raw(story, "uint8", {#story}):long()
local letters, text = bytes:unique{return_inverse = true}
local classes = #letters
local Writer = nn.class "Writer"
function Writer:init()
  self.embed = nn.Embedding(classes, width)
  self.at = nn.Embedding(LENGTH, width)
  self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
  self.look = nn.MultiheadAttention(width, HEADS, {batch_first = true})
  self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
    nn.Linear(4 * width, width))
  self.out = nn.Linear(width, classes)
  self.later = la.ones(LENGTH, LENGTH, {dtype = "bool"}):triu(1)
end
-- Scores of the next character, and what was looked at.
function Writer:forward(x)
  local n = x:size(2)
  local h = self.embed(x) + self.at(la.range(n))
  local q = self.norm1(h)
  local seen, map = self.look(q, q, q, {average_attn_weights = false,
    attn_mask = self.later[{{1, n}, {1, n}}]})
  h = h + seen
  return self.out(h + self.think(self.norm2(h))), map
end

local net = Writer()
local opt = optim.AdamW(net:parameters(), {lr = 4e-3})
local schedule = optim.OneCycleLR(opt, {max_lr = 8e-3, total_steps = steps})
local first, last
for _ = 1, steps do
  local from = la.randint(#text - LENGTH, {BATCH, 1}) + la.arange(LENGTH)
  opt:zero_grad()
  local scores = net(text[from])
  local loss = la.cross_entropy(scores:flatten(1, 2), text[from + 1]:flatten())
  loss:backward()
  opt:step()
  schedule:step()
  last = loss:item() / math.log(2)
  first = first or last
end

local line = text[{{1, LENGTH}}]:unsqueeze(1)
local _, map = la.no_grad(net, line)
for _ = 1, 80 do                        -- writes on
  local scores = la.no_grad(net, line[{{}, {-LENGTH, -1}}])
  local p = (scores[{1, -1}] * 1.5):softmax(1)
  line = la.cat({line, la.multinomial(p, 1):unsqueeze(1)}, 2)
end
print(("%.2f bits per character before, %.2f after %d steps"):format(first,
  last, steps))
print((letters[line[1]]:to("uint8"):tostring_raw():gsub("\n", " ")))
if picture then
  local names, panels = {}, {columns = 2}
  for k = 1, 24 do names[k] = story:sub(k, k):gsub("%s", "_") end
  for head = 1, HEADS do
    panels[head] = plot.heatmap(map[{1, head, {1, 24}, {1, 24}}], {high = 0.8,
      colorbar = false, xnames = names, ynames = names, aspect = "equal",
      title = "head " .. head})
  end
  plot.grid(panels):save(picture, {width = 900, height = 900, scale = 1})
end
return {first = first, last = last}
