-- A transformer learns to write like a short story, character by character. The
-- picture shows, for a line of it, which earlier characters (columns) each
-- character (rows) looks at, one square for each head.
--
--   lua5.4 examples/letters.lua [steps [width [picture.png]]]
local la = require "lunarray"
local nn, optim = require "lunarray.nn", require "lunarray.optim"

local steps = tonumber(arg and arg[1]) or 500
local width = tonumber(arg and arg[2]) or 64
local picture = arg and arg[3]
local LENGTH, BATCH, HEADS = 48, 16, 4
la.manual_seed(2)

-- The story as classes of characters.
local file = assert(io.open "examples/data/tide.txt")
local story = file:read "a"
file:close()
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
-- Scores of the next character at each position, and what was looked at.
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
local map = la.no_grad(function() return select(2, net(line)) end)
for _ = 1, 80 do                        -- writes on
  local scores = la.no_grad(function()
    return (net(line[{{}, {-math.min(LENGTH, line:size(2)), -1}}])) end)
  local p = (scores[{1, -1}] * 1.5):softmax(1)
  line = la.cat({line, la.multinomial(p, 1):unsqueeze(1)}, 2)
end
print(("%.2f bits per character before, %.2f after %d steps"):format(first,
  last, steps))
print((letters[line[1]]:to("uint8"):tostring_raw():gsub("\n", " ")))
if picture then
  local tiles = la.pad(map[1] / map[1]:amax({2, 3}, true), {1, 1, 1, 1})
  local row = la.cat(tiles:unbind(1), 2)
  la.image.save(1 - ((la.image.resize(row:unsqueeze(1), 150, 600,
    {mode = "nearest"}) ^ 0.6) * 12):round() / 12, picture)
end
return {first = first, last = last}
