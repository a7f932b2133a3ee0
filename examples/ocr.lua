-- Where is text in a picture, and what does it say? Two networks of PaddleOCR:
-- one gives the probability of text for each pixel, one reads a line.
--
--     tools/models.sh text       (once: models/text_det.onnx, text_rec.onnx)
--     lunarray examples/ocr.lua picture.png
local la = require "lunarray"

local folder = os.getenv "LUNARRAY_MODELS" or "models"
local detect, recognise, letters

local function load_models()
  detect = la.onnx.load(folder .. "/text_det.onnx")
  recognise = la.onnx.load(folder .. "/text_rec.onnx")
  letters = {}
  for _, note in ipairs(la.onnx.read(folder .. "/text_rec.onnx")
                        .metadata_props) do
    if note.key == "character" then
      for line in note.value:gmatch "[^\n]+" do letters[#letters + 1] = line end
    end
  end
  letters[#letters + 1] = " "
end

local function resized(x, height, width)
  return (la.image.resize(x, height, width) * 2 - 1):unsqueeze(1)
end

-- Boxes {left, top, right, bottom} of connected pixels of a mask {h, w}.
local function boxes_of(mask)
  local h, w, seen, boxes = mask.shape[1], mask.shape[2], {}, {}
  local rows = mask:to("int64"):totable()
  local function grow(y, x)
    local box, todo = {x, y, x, y}, {y * w + x}
    seen[y * w + x] = true
    while #todo > 0 do
      local at = table.remove(todo)
      y, x = (at - 1) // w, (at - 1) % w + 1
      box[1], box[2] = math.min(box[1], x), math.min(box[2], y)
      box[3], box[4] = math.max(box[3], x), math.max(box[4], y)
      for _, to in ipairs{{y, x - 1}, {y, x + 1}, {y - 1, x}, {y + 1, x}} do
        local v, u = to[1], to[2]
        if v >= 1 and v <= h and u >= 1 and u <= w and rows[v][u] == 1
           and not seen[v * w + u] then
          seen[v * w + u] = true
          todo[#todo + 1] = v * w + u
        end
      end
    end
    return box
  end
  for y = 1, h do
    for x = 1, w do
      if rows[y][x] == 1 and not seen[y * w + x] then
        boxes[#boxes + 1] = grow(y, x)
      end
    end
  end
  return boxes
end

-- The text of a line: the best letter at each step, repeats and blanks dropped.
local function read_line(x)
  local width = math.max(48 * x.shape[3] // x.shape[2], 16)
  local best, last = recognise(resized(x, 48, width))[1]:argmax(2):totable(), 1
  local out = {}
  for _, k in ipairs(best) do
    if k ~= last and k > 1 then out[#out + 1] = letters[k - 1] end
    last = k
  end
  return table.concat(out)
end

-- ocr(image {3, h, w}) -> a list of {text =, left =, top =, right =, bottom =}.
local function ocr(x)
  if not detect then load_models() end
  local h, w, found = x.shape[2], x.shape[3], {}
  local high, wide = (h + 31) // 32 * 32, (w + 31) // 32 * 32
  local p = detect(resized(x, high, wide))[1][1]
  for _, b in ipairs(boxes_of(p:gt(0.3))) do
    -- the network marks the middle of a line: the box is larger
    local more = 0.7 * (b[4] - b[2]) + 1
    local left = math.max(math.floor((b[1] - more) * w / wide), 1)
    local top = math.max(math.floor((b[2] - more) * h / high), 1)
    local right = math.min(math.ceil((b[3] + more) * w / wide), w)
    local bottom = math.min(math.ceil((b[4] + more) * h / high), h)
    if b[4] - b[2] > 2 and b[3] - b[1] > 2 then
      found[#found + 1] = {left = left, top = top, right = right,
        bottom = bottom, text = read_line(x:narrow(2, top, bottom - top + 1)
          :narrow(3, left, right - left + 1))}
    end
  end
  return found
end

if not arg or not arg[1] then return ocr end
for _, line in ipairs(ocr(la.image.load(arg[1], {channels = 3,
                                                 dtype = "float32"}))) do
  print(("%4d %4d  %s"):format(line.left, line.top, line.text))
end
