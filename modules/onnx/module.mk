# Resize, GridSample, NonMaxSuppression, RoiAlign, DeformConv.
NEEDS_onnx := vision
