-- lunarray.onnx.ops.detect: what detectors end with, by la.vision.
local la = require "lunarray"
local rows = require "lunarray.onnx.rows"

local op = rows.domain("")

-- Corners in order, of boxes given by corners or by centre and size.
local function corners(boxes, centred)
  local a, b, c, d = boxes:select(3, 1), boxes:select(3, 2), boxes:select(3, 3),
    boxes:select(3, 4)
  if centred then
    return la.stack({a - c / 2, b - d / 2, a + c / 2, b + d / 2}, 3)
  end
  return la.stack({la.minimum(b, d), la.minimum(a, c), la.maximum(b, d),
    la.maximum(a, c)}, 3)
end

local function number(t, default)
  if not t or t:numel() == 0 then return default end
  return rows.number(t)
end

function op.NonMaxSuppression(node)
  local centred = node:get("center_point_box", 0) == 1
  return function(boxes, scores, most, overlap, least)
    local limit, found = number(most, 0), {}
    local threshold, lowest = number(overlap, 0.0), number(least, nil)
    local all = corners(boxes, centred)
    for n = 1, scores:size(1) do
      for class = 1, limit > 0 and scores:size(2) or 0 do
        local own, score = all:select(1, n), scores:select(1, n):select(1,
          class)
        local at
        if lowest then
          at = score:gt(lowest):nonzero():flatten()
          own, score = own:index_select(1, at), score:index_select(1, at)
        end
        local kept = la.vision.nms(own, score, threshold, limit)
        if at then kept = at:index_select(1, kept) end
        if kept:numel() > 0 then
          local first = la.full({kept:numel(), 2}, n - 1, {dtype = "int64"})
          first:select(2, 2):fill_(class - 1)
          found[#found + 1] = la.cat({first, kept:unsqueeze(2) - 1}, 2)
        end
      end
    end
    if #found == 0 then return la.zeros({0, 3}, {dtype = "int64"}) end
    return la.cat(found, 1)
  end
end

function op.RoiAlign(node)
  local o = {output_size = {node:get("output_height", 1),
    node:get("output_width", 1)}, spatial_scale = node:get("spatial_scale",
      1.0),
    sampling_ratio = node:get("sampling_ratio", 0), mode = node:get("mode",
      "avg")}
  o.aligned = node:get("coordinate_transformation_mode",
    node.version < 16 and "output_half_pixel" or "half_pixel") == "half_pixel"
  return function(x, boxes, batch)
    local image = (batch:to(boxes.dtype) + 1):unsqueeze(2)
    return la.vision.roi_align(x, la.cat({image, boxes}, 2), o)
  end
end

function op.MaxRoiPool(node)
  local o = {output_size = node:get("pooled_shape"),
    spatial_scale = node:get("spatial_scale", 1.0)}
  return function(x, boxes)
    local image = boxes:narrow(2, 1, 1) + 1
    return la.vision.roi_pool(x, la.cat({image, boxes:narrow(2, 2, 4)}, 2), o)
  end
end

function op.DeformConv(node)
  local a = node.attributes
  local pads = a.pads or {0, 0, 0, 0}
  return function(x, w, offset, bias, mask)
    return la.vision.deform_conv(x, offset, w, {bias = bias, mask = mask,
      stride = a.strides, dilation = a.dilations,
      padding = {pads[1], pads[2]}, groups = node:get("group", 1)})
  end
end
