-- vocab.txt: a list of WordPiece's tokens, read as the tokenizers package reads
-- it for BERT: [CLS] and [SEP] stand around a text.
local la = require "lunarray"
local raises = require "spec.support.raises"

local TEXT = table.concat({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
  "hello", "world", "##s", ",", "un", "##aff", "##able"}, "\n") .. "\n"

describe("a vocab.txt", function()
  local t = la.tokenizer.decode(TEXT)

  it("puts its own tokens around", function()
    assert.same({2, 5, 8, 6, 7, 3}, t:encode("Hello, worlds"))
    assert.same({5, 8, 6, 7}, t:encode("Hello, worlds", {special = false}))
    assert.same({2, 3}, t:encode(""))
    assert.same({2, 9, 10, 11, 1, 4, 3}, t:encode("unaffable xyz [MASK]"))
    assert.equal(12, t:count())
    assert.same({1, 0}, la.tokenizer.decode("a\n[UNK]\n"):encode("b a"))
  end)

  it("gives text for ids, a tensor of them, or one", function()
    assert.equal("hello, worlds", t:decode{2, 5, 8, 6, 7, 3})
    assert.equal("hello, worlds", t:decode(la.tensor{{5, 8, 6, 7}}))
    assert.equal("world", t:decode(6))
    assert.equal("", t:decode{})
    raises("decode: a list of ids expected, got string", t.decode, t, "x")
    raises("id 12 at 1: 0 to 11 expected", t.decode, t, {12})
  end)

  it("is text", function()
    raises("no text of tokens", la.tokenizer.decode, "\8\1\0\0onnx")
    raises("no text of tokens", la.tokenizer.decode, "a\n\xff\n")
  end)
end)
