"""Makes small tokenizers with the tokenizers package, and records their ids.

    python golden.py        # with tokenizers; writes data/*.json
"""
import json
import os

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
CORPUS = ["The gate is shut, traveller. Come back when the sun is up.",
          "I don't know what you're asking; we've never met.",
          "Fünf Äpfel kosten 12,50 Euro.", "Слово не воробей.",
          "城门关了。明天再来。", "hello hello help held hold holds holding",
          "one two three 123 4567 89"] * 3
TEXTS = ["", " ", "  ", "Hello world", " hello", "The gate is shut.",
         "don't we've I'LL", "Äpfel Äpfel", "12345 ½ ²", "a\nb\n\n c\t\td",
         "城门 abc。", "слово", "😀 emoji 👩‍👩‍👧", "[MASK]x[CLS] [SEP]",
         "<|end|>hello<|end|>", "holdingholding  holding", "naïve café",
         "ﬁne Ⅳ", "the the  the   the", "\u00a0x\u3000y", "e\u0301\u0327"]
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[MASK]", "<|end|>"]


def byte_bpe():
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
            r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.decoder = decoders.ByteLevel()
    return t, trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def gpt2():
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=True)])
    t.decoder = decoders.ByteLevel()
    t.post_processor = processors.ByteLevel()
    return t, trainers.BpeTrainer(
        vocab_size=350, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def piece_bpe():
    t = Tokenizer(models.BPE(unk_token="[UNK]", fuse_unk=True,
                             byte_fallback=True))
    t.normalizer = normalizers.Sequence([
        normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([
        decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
        decoders.Strip(" ", 1, 0)])
    return t, trainers.BpeTrainer(
        vocab_size=420, show_progress=False, special_tokens=SPECIAL
        + ["<0x%02X>" % b for b in range(256)])


def unigram():
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([
        normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return t, trainers.UnigramTrainer(
        vocab_size=150, special_tokens=SPECIAL, unk_token="[UNK]",
        show_progress=False)


def bert():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return t, trainers.WordPieceTrainer(
        vocab_size=200, special_tokens=SPECIAL, show_progress=False)


def words():
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([
        normalizers.NFD(), normalizers.StripAccents(),
        normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
    return t, trainers.WordLevelTrainer(
        vocab_size=60, special_tokens=SPECIAL, show_progress=False)


for make in (byte_bpe, gpt2, piece_bpe, unigram, bert, words):
    t, trainer = make()
    t.train_from_iterator(CORPUS, trainer)
    t.add_tokens([AddedToken("held", single_word=True, lstrip=True)])
    whole = json.loads(t.to_str())
    whole["added_tokens"] = [a for a in whole["added_tokens"]
                             if not a["content"].startswith("<0x")]
    t = Tokenizer.from_str(json.dumps(whole))
    out = {"tokenizer": whole, "texts": []}
    for text in TEXTS:
        ids = t.encode(text).ids
        out["texts"].append({"text": text, "ids": ids,
                             "plain": t.encode(text,
                                               add_special_tokens=False).ids,
                             "decoded": t.decode(ids)})
    with open(os.path.join(HERE, make.__name__ + ".json"), "w") as f:
        json.dump(out, f, ensure_ascii=False, separators=(",", ":"))
