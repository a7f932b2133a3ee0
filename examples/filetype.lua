-- What is this file? The network of magika, which reads the first and the last
-- 1024 bytes and knows 214 kinds.
--
--     tools/models.sh files      (once: models/magika.onnx, models/magika.json)
--     lunarray examples/filetype.lua FILE...
local la = require "lunarray"
local json = require "lunarray.tokenizer.json"

local folder = os.getenv "LUNARRAY_MODELS" or "models"
local SIDE, BLOCK, NONE = 1024, 4096, 256

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- The bytes of both ends without white space, and 256 where there are none.
local function features(text)
  local first = text:sub(1, BLOCK):gsub("^%s+", ""):sub(1, SIDE)
  local last = text:sub(-BLOCK):gsub("%s+$", ""):sub(-SIDE)
  local x = la.full({1, 2 * SIDE}, NONE, {dtype = "int32"})
  local function put(at, part)
    if part == "" then return end
    x[1]:narrow(1, at, #part):copy_(la.from_raw(part, "uint8", {#part}))
  end
  put(1, first)
  put(2 * SIDE - #last + 1, last)
  return x
end

local model, labels
-- kind(text) -> the most probable kind of a file with these bytes, and how
-- probable it is.
local function kind(text)
  model = model or la.onnx.load(folder .. "/magika.onnx")
  labels = labels or json.decode(read(folder .. "/magika.json"))
    .target_labels_space
  local p, at = model(features(text))[1]:max(1)
  return labels[at:item()], p:item()
end

if not arg or not arg[1] then return kind end
for _, path in ipairs(arg) do
  print(("%-40s %-12s %.0f %%"):format(path, (function(label, p)
    return label, 100 * p
  end)(kind(read(path)))))
end
