-- la.tokenizer: ids and texts of small tokenizer.json files against those of
-- the tokenizers package (golden.py).
local la = require "lunarray"
local json = require "lunarray.tokenizer.json"

local function read(name)
  local file = assert(io.open("modules/tokenizer/spec/data/" .. name, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

for _, name in ipairs{"byte_bpe", "gpt2", "piece_bpe", "unigram", "bert",
                      "words"} do
  describe(name, function()
    local text = read(name .. ".json")
    local data = json.decode(text)
    -- the tokenizer as its own text: the value of the first key
    local t = la.tokenizer.decode(text:match('^{"tokenizer":(.*),"texts":'))

    for _, record in ipairs(data.texts) do
      it(("%q"):format(record.text), function()
        assert.same(record.ids, t:encode(record.text))
        assert.same(record.plain, t:encode(record.text, {special = false}))
        assert.equal(record.decoded, t:decode(record.ids))
      end)
    end
  end)
end
