# Resizing, rotations and warps of images.
NEEDS_image := vision
# stb_image computes with what hostile files say.
FLAGS_modules/image/io/stb := -fwrapv -Wno-unused-function $(call known,-ftrivial-auto-var-init=pattern)
