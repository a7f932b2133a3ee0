-- A recurrent network learns to write like a short story, character by
-- character: embedding, GRU, linear, trained with AdamW. The last tenth of the
-- story is held out.
--
--   lua5.4 examples/text.lua [steps [characters]]

local la = require "lunarray"
local nn = require "lunarray.nn"
local optim = require "lunarray.optim"

local here = arg and arg[0] and arg[0]:match("^(.*)[/\\][^/\\]*$") or "."
local LENGTH, BATCH, HIDDEN, RATE = 40, 32, 128, 4e-3

-- ---- the story as numbers ----

local file = assert(io.open(here .. "/data/tide.txt"))
-- Line ends within a paragraph are layout: spaces here.
local story = file:read "a":gsub("([^\n])\n([^\n])", "%1 %2")
file:close()

local codes, letters = {}, {}           -- character to class, and back
for c in story:gmatch "." do codes[c] = true end
for c in pairs(codes) do letters[#letters + 1] = c end
table.sort(letters)
for k, c in ipairs(letters) do codes[c] = k end

local function encode(text)
  local list = {}
  for k = 1, #text do list[k] = codes[text:sub(k, k)] end
  return la.tensor(list)
end

local numbers = encode(story)
local cut = #numbers * 9 // 10
local train, test = numbers[{{1, cut}}], numbers[{{cut + 1, #numbers}}]

-- BATCH pieces of the text from random positions, and the same one further on.
local function sample(text, g)
  local from = la.randint(#text - LENGTH, {BATCH, 1}, {generator = g})
  local at = from + la.arange(LENGTH)
  return text[at], text[at + 1]
end

-- ---- the network ----

local Writer = nn.class "Writer"

function Writer:init(classes)
  self.embed = nn.Embedding(classes, 24)
  self.gru = nn.GRU(24, HIDDEN, {batch_first = true})
  self.head = nn.Linear(HIDDEN, classes)
end

-- Scores of the next character at each position, and the state at the end.
function Writer:forward(x, h)
  local out, last = self.gru(self.embed(x), h)
  return self.head(out), last
end

-- Mean bits per character.
local function bits(net, x, y)
  return la.cross_entropy(net(x):flatten(1, 2), y:flatten()) / math.log(2)
end

-- Over the whole of the held-out text, in one piece.
local function bits_of_test(net)
  return la.no_grad(function()
    return bits(net, test[{{1, -2}}]:unsqueeze(1),
      test[{{2, -1}}]:unsqueeze(1)):item()
  end)
end

local function fit(net, steps, g)
  local opt = optim.AdamW(net:parameters(), {lr = RATE})
  local schedule = optim.OneCycleLR(opt, {max_lr = RATE, total_steps = steps})
  local bar <close> = la.progress(steps, {desc = "reading"})
  for k = 1, steps do
    opt:zero_grad()
    local loss = bits(net, sample(train, g))
    loss:backward()
    nn.clip_grad_norm_(net:parameters(), 1)
    opt:step()
    schedule:step()
    if k % 10 == 0 then
      bar:update(k, ("%.2f bits a character"):format(loss:item()))
    end
    if k == 1 or k % math.max(steps // 4, 1) == 0 then
      print(("  step %4d: %.2f bits a character, %.2f on the held-out end")
        :format(k, loss:item(), bits_of_test(net)))
    end
  end
end

-- n characters after 'start'; a lower heat takes fewer risks.
local function write(net, start, n, heat, g)
  local text = {start}
  la.no_grad(function()
    local scores, h = net(encode(start):unsqueeze(1))
    for _ = 1, n do
      local share = (scores[1][-1] / heat):softmax(1)
      local k = share:multinomial(1, {generator = g}):item(1)
      text[#text + 1] = letters[k]
      scores, h = net(la.tensor{{k}}, h)
    end
  end)
  return table.concat(text)
end

-- Lines of at most 72 characters.
local function wrap(text)
  local lines, line = {}, ""
  for gap, word in text:gmatch "(%s*)(%S+)" do
    if gap:find "\n" or #line + 1 + #word > 72 then
      lines[#lines + 1], line = line, word
    else
      line = line == "" and word or line .. " " .. word
    end
  end
  lines[#lines + 1] = line
  return "  " .. table.concat(lines, "\n  ")
end

local steps = math.tointeger(tonumber(arg and arg[1])) or 300
local length = math.tointeger(tonumber(arg and arg[2])) or 300

la.manual_seed(1)
local g = la.Generator(1)
local net = Writer(#letters)
local weights = 0
for _, p in ipairs(net:parameters()) do weights = weights + p:numel() end
print(("%d characters of %d kinds, a network of %d numbers"):format(#numbers,
  #letters, weights))
local start = os.clock()
fit(net, steps, g)
print(("  %.1f s of work\n"):format(os.clock() - start))
print(wrap(write(net, "The clerk ", length, 0.6, g)))
return bits_of_test(net)
