"""Records what the gguf package makes of blocks of every type.

    python blocks.py > blocks.txt        # with numpy and gguf

A line is: type, blocks in hexadecimal, CRC-32 of their float32 numbers, and the
bits of some of these. The bytes are random, scales are finite.
"""
import struct
import zlib

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import _type_traits, dequantize

# Where the scales of a block of 16-bit floats are.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2],
          "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2],
          "Q5_K": [0, 2], "Q6_K": [208], "IQ2_XXS": [0], "IQ2_XS": [0],
          "IQ3_XXS": [0], "IQ1_S": [0], "IQ4_NL": [0], "IQ3_S": [0],
          "IQ2_S": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64]}

rng = np.random.default_rng(7)
for kind in sorted(_type_traits, key=int):
    name = kind.name
    if name == "BF16":
        continue
    size, width = GGML_QUANT_SIZES[kind]
    n = max(1, 256 // size)
    blocks = rng.integers(0, 256, (n, width), dtype=np.uint8)
    for at in HALVES.get(name, []):
        half = rng.normal(0, 0.1, n).astype(np.float16).view(np.uint8)
        blocks[:, at:at + 2] = half.reshape(n, 2)
    if name == "IQ1_M":     # the exponent is spread over four words
        blocks[:, 55] = blocks[:, 55] & 0x0f | 0x20
    if name == "MXFP4":
        blocks[:, 0] = [0, 1, 100, 119, 121, 123, 125, 127]
    x = dequantize(blocks.reshape(1, -1), kind).astype(np.float32).ravel()
    assert np.isfinite(x).all(), name
    some = x[::37].astype("<f4").tobytes()
    print(name, blocks.tobytes().hex(), "%08x" % zlib.crc32(
        x.astype("<f4").tobytes()), some.hex())
