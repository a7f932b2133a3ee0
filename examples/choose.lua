-- What does a guard do? A language model that may only answer with one of the
-- words that a game knows: 'allow' leaves the tokens that go on with one.
--
--     tools/models.sh chat       (once: models/smollm2.gguf)
--     lunarray examples/choose.lua [model.gguf]
local la = require "lunarray"

local path = arg and arg[1]
  or (os.getenv "LUNARRAY_MODELS" or "models") .. "/smollm2.gguf"
local model = la.llm.load(path, {context = 512, fast = true})
local tokenizer = model.tokenizer

-- choose(text, words) -> the one that goes on with the text, and how probable
-- it is among them.
local function choose(text, words)
  local session = model:session()
  session:feed(tokenizer:encode(text))
  local lists, said = {}, {}
  for k, word in ipairs(words) do
    lists[k] = tokenizer:encode(" " .. word, {parse = false})
  end
  local p = 1
  while true do
    -- the next tokens of the words that begin with what was said
    local next_ids, done = {}, nil
    for k, list in ipairs(lists) do
      local same = true
      for i = 1, #said do same = same and list[i] == said[i] end
      if same and #list == #said then done = words[k] end
      if same and list[#said + 1] then
        next_ids[#next_ids + 1] = list[#said + 1]
      end
    end
    if done or #next_ids == 0 then return done, p end
    local id = session:sample{temperature = 0,
                              allow = function() return next_ids end}
    local among = session:logits():index_select(1, la.tensor(next_ids) + 1)
    p = p * (session:logits()[id + 1] - among:logsumexp(1)):exp():item()
    said[#said + 1] = id
    session:feed{id}
  end
end

local WORDS = {"open", "attack", "call for help", "ignore"}
-- What the guard did before: a small model follows examples.
local BEFORE = {{"A merchant shows his pass.", "open"},
  {"A thief draws a sword.", "attack"}, {"A bird sings on the wall.", "ignore"},
  {"The mill is on fire.", "call for help"}, {"My brother comes back.", "open"},
  {"The wind blows.", "ignore"}, {"A wolf jumps at me.", "attack"},
  {"An army comes.", "call for help"}}
local function guard(event)
  local lines = {}
  for _, pair in ipairs(BEFORE) do
    lines[#lines + 1] = pair[1] .. "\nThe guard's action: " .. pair[2] .. "\n"
  end
  lines[#lines + 1] = event .. "\nThe guard's action:"
  return choose(table.concat(lines, "\n"), WORDS)
end

if arg and arg[0] and not arg[0]:find "choose" then return guard end
for _, event in ipairs{"My cousin comes back.", "A goblin draws a knife.",
                       "The tower is on fire.", "A cat sits on the wall."} do
  local word, p = guard(event)
  print(("%-40s %-14s %.2f"):format(event, word, p))
end
