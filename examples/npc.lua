-- Three characters talk at once, and no frame takes longer than 4 ms for it.
-- They share one system prompt: its keys and values are computed once, and each
-- fork keeps its own words alone.
--
--     tools/models.sh chat       (once: models/smollm2.gguf)
--     lunarray examples/npc.lua models/smollm2.gguf [frames]
--
-- Any chat model of the llama, qwen, gemma, phi or smollm families will do.
local la = require "lunarray"

local path = arg and arg[1]
if not path then
  print("usage: lunarray examples/npc.lua model.gguf [frames]")
  return
end
local BUDGET = 4000                     -- microseconds of a frame
local frames = tonumber(arg[2]) or 600

local model = la.llm.load(path, {context = 1024, fast = true})
local tokenizer = model.tokenizer

local WORLD = {role = "system", content = "You live in Oak Ford, a "
  .. "small village with a mill, a gate and a dragon in the hills. Answer in "
  .. "one short sentence."}
local QUESTIONS = {
  guard = "You guard the gate. A stranger asks: may I come in?",
  miller = "You own the mill. A child asks: why does the wheel go round?",
  witch = "You live in the wood. A knight asks: where is the dragon?",
}

-- The ids that all of the talks begin with.
local function ids_of(question)
  return tokenizer:encode(model:render{WORLD, {role = "user",
                                               content = question}})
end
local shared, a, b = {}, ids_of(QUESTIONS.guard), ids_of(QUESTIONS.witch)
while a[#shared + 1] == b[#shared + 1] do
  shared[#shared + 1] = a[#shared + 1]
end
local world = model:session():feed(shared)

local people = {}
for name, question in pairs(QUESTIONS) do
  local ids = ids_of(question)
  people[#people + 1] = {name = name, words = {},
    session = world:fork():queue(table.move(ids, #shared + 1, #ids, 1, {}))}
end
table.sort(people, function(x, y) return x.name < y.name end)

-- A frame: the characters take the budget one after the other.
local OPTIONS = {temperature = 0.7, top_k = 40, seed = 4}
local function think(frame)
  local person = people[frame % #people + 1]
  if person.done then return end
  local id = person.session:advance(BUDGET, OPTIONS)
  if not id then return end
  if model.ends[id] or #person.words > 60 then person.done = true
  else table.insert(person.words, tokenizer:piece(id)) end
end

local longest, clock = 0, os.clock
for frame = 1, frames do
  local begin = clock()
  think(frame)
  longest = math.max(longest, clock() - begin)
end
for _, person in ipairs(people) do
  print(("%s: %s%s"):format(person.name, table.concat(person.words),
                            person.done and "" or " ..."))
end
print(("%d tokens are shared; the longest frame took %.1f ms"):format(
      #shared, longest * 1000))
