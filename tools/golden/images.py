"""Images in files, as Pillow writes them, and the pixels that it reads back:
modules/image/spec/files.lua. Kinds of PNG that Pillow does not write are made
here byte by byte (Pillow reads what it can of them).

    build/peers/bin/python tools/golden/images.py > modules/image/spec/files.lua
"""
import io
import struct
import zlib

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 5, 7
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
          (1, 0, 2, 2), (0, 1, 1, 2)]


def smooth(channels, height=HEIGHT, width=WIDTH):
    y, x = np.mgrid[0:height, 0:width]
    planes = [127 + 120 * np.sin(x / 3 + k) * np.cos(y / 4 + k)
              for k in range(channels)]
    return np.stack(planes, -1).round().astype(np.uint8)


def hexed(name, data):
    text = data.hex()
    lines = [text[i:i + 72] for i in range(0, len(text), 72)]
    return f"    {name} = [[\n" + "\n".join(lines) + "]],\n"


def show(name, data, pixels):
    pixels = np.asarray(pixels)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    planes = np.ascontiguousarray(pixels.transpose(2, 0, 1))
    shape = ", ".join(str(n) for n in planes.shape)
    print(f'  {{name = "{name}", dtype = "{planes.dtype}", '
          f"shape = {{{shape}}},")
    raw = planes.astype(planes.dtype.newbyteorder("<")).tobytes()
    print(hexed("bytes", data) + hexed("pixels", raw) + "  },")


def saved(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def by_pillow(name, image, kind, mode=None, **options):
    data = saved(image, kind, **options)
    back = Image.open(io.BytesIO(data))
    pixels = np.asarray(back.convert(mode) if mode else back)
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8) * 255
    show(name, data, pixels)


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def png(rows, kind, depth, interlaced=0, extra=b"", size=(WIDTH, HEIGHT)):
    header = struct.pack(">IIBBBBB", *size, depth, kind, 0, 0, interlaced)
    packed = zlib.compress(rows)
    # two chunks of pixels, cut anywhere
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra
            + chunk(b"IDAT", packed[:11]) + chunk(b"IDAT", packed[11:])
            + chunk(b"IEND", b""))


def kinds_of_png():
    rgb = smooth(3, 11, 13)
    rows = b""
    for x0, y0, dx, dy in PASSES:
        for row in rgb[y0::dy, x0::dx]:
            rows += b"\0" + row.tobytes() if row.size else b""
    data = png(rows, 2, 8, 1, size=(13, 11))
    assert (np.asarray(Image.open(io.BytesIO(data))) == rgb).all()
    show("interlaced.png", data, rgb)
    grey = smooth(1)[..., 0] >> 6
    rows = b"".join(b"\0" + np.packbits(np.unpackbits(
        row[:, None], axis=1)[:, 6:].ravel()).tobytes() for row in grey)
    key = chunk(b"tRNS", struct.pack(">H", int(grey[1, 2])))
    alpha = np.where(grey == grey[1, 2], 0, 255).astype(np.uint8)
    show("grey2key.png", png(rows, 0, 2, extra=key),
         np.stack([grey * 85, alpha], -1))
    wide = smooth(3).astype(np.uint16) * 257 + np.arange(3, dtype=np.uint16)
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in wide)
    key = chunk(b"tRNS", wide[2, 3].astype(">u2").tobytes())
    alpha = np.where((wide == wide[2, 3]).all(-1), 0, 65535)
    show("rgb16key.png", png(rows, 2, 16, extra=key),
         np.concatenate([wide, alpha[..., None].astype(np.uint16)], -1))


def main():
    print("-- Files of images and their pixels, made by"
          " tools/golden/images.py.\nreturn {")
    rgb = Image.fromarray(smooth(3))
    rgba, grey = Image.fromarray(smooth(4)), rgb.convert("L")
    both, few = rgb.convert("LA"), rgb.quantize(5)
    bits = rgb.convert("1")
    for name, image in (("grey", grey), ("both", both), ("rgb", rgb),
                        ("rgba", rgba), ("bits", bits)):
        by_pillow(name + ".png", image, "png")
    by_pillow("palette.png", few, "png", "RGB")
    by_pillow("clear.png", few, "png", "RGBA", transparency=b"\0\x80")
    wide = Image.fromarray(smooth(1)[..., 0].astype(np.uint16) * 257 + 3)
    by_pillow("grey16.png", wide, "png")
    kinds_of_png()
    large = Image.fromarray(smooth(3, 18, 17))
    for name, options in (
            ("q90.jpg", {"quality": 90}),
            ("full.jpg", {"quality": 95, "subsampling": 0}),
            ("progressive.jpg", {"quality": 75, "progressive": True}),
            ("restart.jpg", {"quality": 85, "restart_marker_blocks": 1})):
        by_pillow(name, large, "jpeg", **options)
    by_pillow("grey.jpg", large.convert("L"), "jpeg", quality=85)
    by_pillow("rgb.bmp", rgb, "bmp")
    show("rgba.bmp", saved(rgba, "bmp"), rgba)     # read as RGB by Pillow
    for name, image in (("grey", grey), ("palette", few), ("bits", bits)):
        by_pillow(name + ".bmp", image, "bmp", "RGB")
    for name, image in (("grey", grey), ("both", both), ("rgb", rgb),
                        ("rgba", rgba)):
        by_pillow(name + ".tga", image, "tga")
    by_pillow("packed.tga", rgb, "tga", compression="tga_rle")
    by_pillow("palette.tga", few, "tga", "RGB")
    print("}")


main()
