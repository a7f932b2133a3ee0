-- Which of some sentences means most nearly the same as another one? MiniLM, a
-- small BERT, from its safetensors: the 30 lines below are the network.
--
--     tools/models.sh sentences  (once: models/minilm.safetensors, minilm.json)
--     lunarray examples/similar.lua "question" "sentence" "sentence"...
local la = require "lunarray"

local folder = os.getenv "LUNARRAY_MODELS" or "models"
local HEADS, LAYERS, EPS = 12, 6, 1e-12
local w, tokenizer

local function linear(x, name)
  return la.linear(x, w[name .. ".weight"], w[name .. ".bias"])
end
local function norm(x, name)
  return la.layer_norm(x, {x.shape[#x.shape]}, w[name .. ".weight"],
                       w[name .. ".bias"], EPS)
end

local function attend(x, name)
  local n, size = x.shape[1], x.shape[2]
  local function part(which)
    return linear(x, name .. "self." .. which):view(n, HEADS, size // HEADS)
      :transpose(1, 2):unsqueeze(1)
  end
  local y = la.scaled_dot_product_attention(part "query", part "key",
                                            part "value")
  y = y[1]:transpose(1, 2):reshape(n, size)
  return norm(linear(y, name .. "output.dense") + x,
              name .. "output.LayerNorm")
end

-- meaning(text) -> a tensor {384} of length 1: the mean over its tokens.
local function meaning(text)
  w = w or la.load(folder .. "/minilm.safetensors")
  tokenizer = tokenizer or la.tokenizer.load(folder .. "/minilm.json")
  local ids = la.tensor(tokenizer:encode(text)) + 1
  local n = ids:numel()
  local x = w["embeddings.word_embeddings.weight"]:index_select(1, ids)
    + w["embeddings.position_embeddings.weight"]:narrow(1, 1, n)
    + w["embeddings.token_type_embeddings.weight"][1]
  x = norm(x, "embeddings.LayerNorm")
  for k = 0, LAYERS - 1 do
    local name = ("encoder.layer.%d."):format(k)
    x = attend(x, name .. "attention.")
    local y = linear(la.gelu(linear(x, name .. "intermediate.dense")),
                     name .. "output.dense")
    x = norm(x + y, name .. "output.LayerNorm")
  end
  x = x:mean(1)
  return x / x:norm()
end

if not arg or not arg[2] then return meaning end
local asked, found = meaning(arg[1]), {}
for k = 2, #arg do
  found[#found + 1] = {text = arg[k],
                       near = asked:dot(meaning(arg[k])):item()}
end
table.sort(found, function(a, b) return a.near > b.near end)
for _, one in ipairs(found) do
  print(("%5.2f  %s"):format(one.near, one.text))
end
