-- lunarray.tokenizer.patterns: how the kinds of BPE that GGUF files name
-- (tokenizer.ggml.pre) cut a text into words: patterns, one after the other.
-- Facts of the models' own tokenizers.
local SHORT = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
local REST = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
local GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+"
  .. "| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"

-- GPT-4's pattern with words of letters, and numbers.
local function words(numbers, letters, signs)
  return SHORT .. "|[^\\r\\n\\p{L}\\p{N}]?" .. (letters or "\\p{L}+") .. "|"
    .. numbers .. "| ?" .. (signs or "[^\\s\\p{L}\\p{N}]+[\\r\\n]*") .. REST
end

local UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
local LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
local function cased(numbers, short)
  local head = "[^\\r\\n\\p{L}\\p{N}]?"
  return head .. UPPER .. "*" .. LOWER .. "+" .. short .. "|" .. head .. UPPER
    .. "+" .. LOWER .. "*" .. short .. "|" .. numbers
    .. "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" .. REST
end

local CHINESE = "[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+"
local POINTED = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
  .. "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*"
  .. REST
local ASIAN = "[\u{4e00}-\u{9fa5}\u{0800}-\u{4e00}\u{ac00}-\u{d7ff}]+"

local LLAMA3 = {words("\\p{N}{1,3}")}
local QWEN2 = {words("\\p{N}")}
local DIGITS = {"\\p{N}", GPT2}
local PLAIN = {GPT2}
local DEEPSEEK3 = {"\\p{N}{1,3}", CHINESE, POINTED}
local GPT4O = {cased("\\p{N}{1,3}", SHORT .. "?")}
local WORDS = " ?[^(\\s|.,!?\u{2026}\u{3002}\u{ff0c}\u{3001}\u{0964}\u{06d4}"
  .. "\u{060c})]+"

local kinds = {
  default = {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"},
  falcon = {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]"},
  ["deepseek-coder"] = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", ASIAN,
                        "\\p{N}"},
  ["deepseek-llm"] = {"[\\r\\n]", "\\s?[\\p{Lu}\\p{Ll}\\p{Lt}]+",
                      "\\s?[!-/:-~\u{ff01}-\u{ff0f}\u{ff1a}-\u{ff5e}"
                        .. "\u{2018}-\u{201f}\u{3000}-\u{3002}]+",
                      "\\s+$", ASIAN, "\\p{N}+"},
  qwen35 = {words("\\p{N}", "[\\p{L}\\p{M}]+",
                  "[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*")},
  tekken = {cased("\\p{N}", "")}, viking = {WORDS, "\\p{N}"},
  gemma4 = {"[^\\n]+|[\\n]+"}, whitespace = {"\\S+"},
  bailingmoe = {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    .. "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
  minicpm5 = {"\\p{N}{1,3}", words("\\p{N}+")},
  superbpe = {"\\p{N}+"}, ["seed-coder"] = {words("\\p{N}", nil,
                                                  "[^\\s\\p{L}\\p{N}]+")},
}

local function same(list, names)
  for name in names:gmatch("%S+") do kinds[name] = list end
end
same(LLAMA3, "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 "
     .. "lfm2 jina-v5-nano dbrx smaug-bpe chatglm-bpe glm4 glm5")
same(QWEN2, "qwen2 deepseek-r1-qwen kormo f2llmv2 stablelm2 hunyuan megrez "
     .. "solar-open grok-2")
same(DIGITS, "starcoder refact command-r smollm codeshell exaone minerva-7b "
     .. "mellum2")
same(PLAIN, "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de "
     .. "a.x-4.0 mellum modern-bert mpt olmo jais trillion granite-docling "
     .. "exaone4 jina-v1-en jina-v2-code roberta-bpe")
same(DEEPSEEK3, "deepseek-v3 hunyuan-dense joyai-llm hy_v4")
same(GPT4O, "gpt-4o llama4 kanana2 talkie minimax-m2 granite-embed-multi-97m "
     .. "tiny_aya cohere2moe")
same({WORDS}, "bloom poro-chat gpt3-finnish")

-- Words that are tokens stay these, whatever the merges say.
local whole = {}
for name in ("minicpm5 llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral "
             .. "midm-2.0 lfm2 jina-v5-nano glm4 glm5 tekken "
             .. "granite-embed-multi-97m"):gmatch("%S+") do
  whole[name] = true
end

return {kinds = kinds, whole = whole}
