-- A talk with a small language model, at the terminal. Words appear as they are
-- computed; what was said stays in the session, so each answer begins at once.
--
--     tools/models.sh chat       (once: models/smollm2.gguf)
--     lunarray examples/chat.lua [model.gguf] [question]
local la = require "lunarray"

local path, question = table.unpack(arg or {})
if path and not path:find "%.gguf$" then path, question = nil, path end
path = path or (os.getenv "LUNARRAY_MODELS" or "models") .. "/smollm2.gguf"

local model = la.llm.load(path, {context = 2048, fast = true})
local session, talk = model:session(), {}

local function answer(text)
  talk[#talk + 1] = {role = "user", content = text}
  local words, begun = {}, nil
  for piece in model:chat(talk, {session = session, max = 300,
    temperature = 0.7, top_p = 0.9, repeat_penalty = 1.1,
    progress = function(done, all)
      io.stderr:write(("\rreading %d of %d "):format(done, all))
      if done == all then io.stderr:write "\r                      \r" end
    end}) do
    begun = begun or os.clock()
    words[#words + 1] = piece
    io.write(piece)
    io.flush()
  end
  talk[#talk + 1] = {role = "assistant", content = table.concat(words)}
  io.stderr:write(("\n[%.0f words a second]\n"):format(
    #words / (os.clock() - (begun or 0))))
end

if question then return answer(question) end
while true do
  io.write "> "
  io.flush()
  local line = io.read()
  if not line or line == "" then break end
  answer(line)
end
