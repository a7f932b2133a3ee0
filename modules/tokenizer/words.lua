-- lunarray.words.tokenizer: texts as ids. The format is in lunarray.help.rows.
return [==[
= Tokenizers
== tokenizer
: la.tokenizer
Converts texts to the numbers that language models know, and back.
> t = la.tokenizer.decode("[UNK]\nhello\nworld\n##s\n")
> t:encode("Hello worlds")[3], t:decode{1, 2, 3}
3    hello worlds
see: tokenizer.load, llm
== tokenizer.load
: la.tokenizer.load(path) -> tokenizer
A tokenizer from tokenizer.json, a GGUF file or vocab.txt: byte pair encoding,
WordPiece, Unigram, SentencePiece. t:encode(text[, {special =, parse = true}])
gives a list of ids, from 0 as the file has them. special puts the file's own
tokens around (it is true for a tokenizer.json that says so and for a vocab.txt
with [CLS] and [SEP], else false); parse finds special tokens in the text.
t:decode(ids[, {special = false}]) gives the text; t:count() is the size of the
vocabulary, t:count(text) the number of ids of a text; t:token(id),
t:id(token), t:piece(id).
> out = io.open("vocab.txt", "w")
> _ = out:write("[UNK]\n[CLS]\n[SEP]\nhi\n"):close()
> t = la.tokenizer.load("vocab.txt")
> t, #t:encode("hi"), #t:encode("hi", {special = false})
tokenizer(WordPiece, 4 tokens)    3    1
! A damaged file; a model, a pattern or a part of a pipeline that is not known.
see: tokenizer.decode, gguf.load
== tokenizer.decode
: la.tokenizer.decode(bytes) -> tokenizer
Reads a tokenizer from the bytes of a file, as tokenizer.load does from a file.
> la.tokenizer.decode("[UNK]\na\nb\n"):count()
3
see: tokenizer.load
== tokenizer.from_metadata
: la.tokenizer.from_metadata(metadata) -> tokenizer
A tokenizer from the metadata of a GGUF file.
> data = {["tokenizer.ggml.model"] = "llama"}
> data["tokenizer.ggml.tokens"] = {"<unk>", "\u{2581}a", "b"}
> data["tokenizer.ggml.scores"] = {0, -1, -2}
> la.tokenizer.from_metadata(data):decode{1, 2}
ab
see: tokenizer.load, gguf.info
== tokenizer.native
: la.tokenizer.native() -> table
The functions in C that tokenizers are made of: vocabularies, patterns, normal
forms of Unicode.
> la.tokenizer.native().normalize("e\u{301}", "NFC") == "\u{e9}"
true
see: tokenizer.load
]==]
