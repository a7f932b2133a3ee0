-- la.vision.nms, roi_align, roi_pool and deform_conv against their definitions,
-- element by element in plain Lua, and their derivatives against differences.
local la = require "lunarray"
local vision = la.vision

local F64 = {dtype = "float64"}

-- ---- definitions ----

local function overlap(a, b)
  local w = math.min(a[3], b[3]) - math.max(a[1], b[1])
  local h = math.min(a[4], b[4]) - math.max(a[2], b[2])
  if w <= 0 or h <= 0 then return 0 end
  local function area(r) return (r[3] - r[1]) * (r[4] - r[2]) end
  return w * h / (area(a) + area(b) - w * h)
end

local function kept(boxes, scores, threshold)
  local order, out = {}, {}
  for k = 1, #scores do order[k] = k end
  table.sort(order, function(i, j)
    if scores[i] ~= scores[j] then return scores[i] > scores[j] end
    return i < j
  end)
  for _, k in ipairs(order) do
    local stays = true
    for _, other in ipairs(out) do
      stays = stays and overlap(boxes[other], boxes[k]) <= threshold
    end
    if stays then out[#out + 1] = k end
  end
  return out
end

-- An image at a point: zero from one element outside on, for roi_align.
local function at_edge(plane, y, x)
  local h, w = #plane, #plane[1]
  if y < -1 or y > h or x < -1 or x > w then return 0 end
  y, x = math.min(math.max(y, 0), h - 1), math.min(math.max(x, 0), w - 1)
  local i, j = math.floor(y), math.floor(x)
  local fy, fx = y - i, x - j
  local function get(r, c)
    return plane[math.min(r, h - 1) + 1][math.min(c, w - 1) + 1]
  end
  return (1 - fy) * ((1 - fx) * get(i, j) + fx * get(i, j + 1))
    + fy * ((1 - fx) * get(i + 1, j) + fx * get(i + 1, j + 1))
end

-- An image at a point among zeros.
local function at_zero(plane, y, x)
  local i, j = math.floor(y), math.floor(x)
  local sum = 0
  for r = i, i + 1 do
    for c = j, j + 1 do
      local weight = (1 - math.abs(y - r)) * (1 - math.abs(x - c))
      local row = plane[r + 1]
      sum = sum + weight * (row and row[c + 1] or 0)
    end
  end
  return sum
end

local function aligned(plane, box, size, n, shift)
  local y1, x1 = box[3] - shift, box[2] - shift
  local h, w = box[5] - shift - y1, box[4] - shift - x1
  if shift == 0 then h, w = math.max(h, 1), math.max(w, 1) end
  local out = {}
  for i = 0, size - 1 do
    for j = 0, size - 1 do
      local sum = 0
      for a = 0, n - 1 do
        for b = 0, n - 1 do
          sum = sum + at_edge(plane, y1 + (i + (a + 0.5) / n) * h / size,
            x1 + (j + (b + 0.5) / n) * w / size)
        end
      end
      out[#out + 1] = sum / (n * n)
    end
  end
  return out
end

local function close(want, got, tolerance)
  for k, v in ipairs(want) do
    assert(math.abs(v - got[k]) <= (tolerance or 1e-9),
      ("element %d: %g, not %g"):format(k, got[k], v))
  end
end

-- ---- nms ----

describe("vision.nms", function()
  it("keeps what the definition keeps", function()
    la.manual_seed(3)
    for _, n in ipairs{0, 1, 2, 17, 200} do
      local corner = la.rand(n, 2) * 8
      local boxes = la.cat({corner, corner + la.rand(n, 2) * 4 + 0.1}, 2)
      local scores = (la.rand(n) * 16):floor() / 16       -- some are equal
      for _, threshold in ipairs{0.0, 0.3, 0.9} do
        local want = n > 0
          and kept(boxes:totable(), scores:totable(), threshold) or {}
        local got = vision.nms(boxes, scores, threshold)
        assert.same(want, got:totable())
        assert.equal("int64", got.dtype)
        local few = vision.nms(boxes, scores, threshold, 3)
        assert.same({table.unpack(want, 1, 3)}, few:totable())
      end
    end
  end)

  it("takes any floating dtype and layout", function()
    local boxes = la.tensor{{0., 0, 2, 2}, {0, 0, 2, 2}, {4, 4, 5, 5}}
    for _, dtype in ipairs{"float16", "bfloat16", "float64"} do
      assert.same({3, 1}, vision.nms(boxes:to(dtype),
        la.tensor({0.5, 0.5, 0.9}, {dtype = dtype}), 0.5):totable())
    end
    local columns = boxes:t():contiguous():t()
    assert.same({3, 1}, vision.nms(columns, la.tensor{0.5, 0.5, 0.9}, 0.5)
      :totable())
  end)

  it("says what is wrong", function()
    assert.error_matches(function()
      vision.nms(la.ones(3, 5), la.ones(3), 0.5)
    end, "boxes of n x 4 expected")
    assert.error_matches(function()
      vision.nms(la.ones(3, 4), la.ones(2), 0.5)
    end, "a score for each of 3 boxes")
  end)
end)

-- ---- regions ----

describe("vision.roi_align", function()
  local x = la.randn(2, 3, 6, 7, F64)
  local boxes = la.tensor({{1, 0.5, 1, 4.25, 5}, {2, -2, -1.5, 3, 2.5},
    {2, 3, 3, 3.2, 3.1}, {1, 0, 0, 9, 9}}, F64)

  it("is the mean of samples", function()
    for _, shift in ipairs{0, 0.5} do
      local y = vision.roi_align(x, boxes, 3, {sampling_ratio = 2,
        aligned = shift > 0})
      assert.same({4, 3, 3, 3}, {y:size(1), y:size(2), y:size(3), y:size(4)})
      for k, box in ipairs(boxes:totable()) do
        local plane = x:select(1, math.tointeger(box[1])):select(1, 2):totable()
        close(aligned(plane, box, 3, 2, shift),
          y:select(1, k):select(1, 2):flatten():totable())
      end
    end
  end)

  it("has a derivative, and no boxes give none", function()
    assert.is_true(la.gradcheck(function(v)
      return vision.roi_align(v, boxes, {2, 3}, {sampling_ratio = 1})
    end, la.randn(2, 1, 4, 5, F64):requires_grad_(true)))
    assert.equal(0, vision.roi_align(x, la.zeros(0, 5, F64), 2):size(1))
    assert.error_matches(function()
      vision.roi_align(x, la.tensor({{3., 0, 0, 1, 1}}, F64), 2)
    end, "box 1 is of no image")
  end)
end)

describe("vision.roi_pool", function()
  it("is the largest of each cell", function()
    local x = la.range(36):to("float64"):reshape(1, 1, 6, 6)
    local y = vision.roi_pool(x, la.tensor({{1, 0, 0, 3, 3}, {1, 2, 4, 9, 9}},
      F64), 2)
    assert.same({8, 10, 20, 22}, y:select(1, 1):flatten():totable())
    assert.same({36, 0, 0, 0}, y:select(1, 2):flatten():totable())
  end)
end)

-- ---- deform_conv ----

describe("vision.deform_conv", function()
  it("is a convolution where nothing moves", function()
    local x, w = la.randn(2, 4, 7, 6, F64), la.randn(6, 2, 3, 2, F64)
    local want = la.conv2d(x, w, nil, {2, 1}, {1, 1}, {1, 2}, 2)
    local offset = la.zeros(2, 12, want:size(3), want:size(4), F64)
    local y = vision.deform_conv(x, offset, w, {stride = {2, 1},
      padding = {1, 1}, dilation = {1, 2}})
    assert.is_true(la.allclose(want, y, 1e-9, 1e-9))
  end)

  it("reads where the offsets say, times the mask", function()
    local x, w = la.randn(1, 2, 4, 5, F64), la.randn(1, 2, 2, 2, F64)
    local offset, mask = la.randn(1, 16, 3, 4, F64), la.rand(1, 8, 3, 4, F64)
    local y = vision.deform_conv(x, offset, w, {mask = mask,
      bias = la.tensor({0.5}, F64)}):flatten():totable()
    local want = {}
    for i = 1, 3 do
      for j = 1, 4 do
        local sum = 0.5
        for c = 1, 2 do
          local plane = x:select(1, 1):select(1, c):totable()
          for tap = 0, 3 do
            local at = (c - 1) * 4 + tap
            local dy = offset[1][2 * at + 1][i][j]:item()
            local dx = offset[1][2 * at + 2][i][j]:item()
            sum = sum + mask[1][at + 1][i][j]:item()
              * w[1][c][tap // 2 + 1][tap % 2 + 1]:item()
              * at_zero(plane, i - 1 + tap // 2 + dy, j - 1 + tap % 2 + dx)
          end
        end
        want[#want + 1] = sum
      end
    end
    close(want, y)
  end)
end)
