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

-- All characters in their order, with blanks between, which join nothing.
local function every_character(from, to)
  local list = {}
  for c = from, to do
    if c < 0xd800 or c > 0xdfff then list[#list + 1] = utf8.char(c) end
  end
  return table.concat(list, " ")
end

describe("normal forms", function()
  local normalize = la.tokenizer.native().normalize

  it("go through each other, for every character", function()
    for from = 0, 0x2ffff, 0x4000 do
      local text = every_character(from, from + 0x3fff)
      local d, kd = normalize(text, "NFD"), normalize(text, "NFKD")
      assert.is_true(normalize(d, "NFKD") == kd)
      assert.is_true(normalize(kd, "NFKD") == kd)
      assert.is_true(normalize(d, "NFC") == normalize(text, "NFC"))
      assert.is_true(normalize(kd, "NFKC") == normalize(text, "NFKC"))
      assert.is_true(normalize(d, "NFD") == d)
    end
  end)

  it("have single characters of one more form", function()
    assert.equal("K\u{3a9}\u{41}\u{30a}", normalize(
      "\u{212a}\u{2126}\u{212b}", "NFKD"))
    assert.equal("fi\u{1100}\u{1161}", normalize("\u{fb01}\u{ac00}", "NFKD"))
  end)
end)

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
