"""Writes formats.lua: images of GIF, PNM, PSD and HDR, and their pixels as
Pillow and NumPy read them. formats.py > formats.lua
"""
import io
import struct

import numpy
from PIL import Image, ImageSequence

random = numpy.random.default_rng(5)
rows = []


def wrap(data):
    text = data.hex()
    return "\n".join(text[k:k + 76] for k in range(0, len(text), 76))


def add(name, data, pixels, seconds=None):
    """pixels: {frames, channels, height, width}"""
    pixels = numpy.ascontiguousarray(pixels)
    shown = "" if seconds is None else ",\n    seconds = {%s}" % ", ".join(
        str(s) for s in seconds)
    rows.append('  {name = "%s", dtype = "%s",\n    shape = {%s}%s,\n'
                "    bytes = [[\n%s]],\n    pixels = [[\n%s]],\n  }," % (
                    name, pixels.dtype, ", ".join(map(str, pixels.shape)),
                    shown, wrap(data), wrap(pixels.tobytes())))


def planes(image):
    a = numpy.asarray(image)
    return a.transpose(2, 0, 1) if a.ndim == 3 else a[None]


# ---- GIF ----

def palette_image(w, h, colours, transparent=False):
    image = Image.fromarray(random.integers(0, colours, (h, w), "uint8"), "P")
    image.putpalette(random.integers(0, 256, 3 * colours, "uint8").tobytes())
    return image


def read_gif(data):
    image = Image.open(io.BytesIO(data))
    frames, seconds = [], []
    for frame in ImageSequence.Iterator(image):
        seconds.append(frame.info.get("duration", 0) / 1000)
        frames.append(planes(frame.convert("RGBA")))
    return numpy.stack(frames), seconds


def add_gif(name, images, **options):
    out = io.BytesIO()
    images[0].save(out, "GIF", save_all=len(images) > 1,
                   append_images=images[1:], **options)
    add(name, out.getvalue(), *read_gif(out.getvalue()))


add_gif("one.gif", [palette_image(7, 5, 4)], interlace=0)
add_gif("interlaced.gif", [palette_image(5, 19, 8)], interlace=1)
add_gif("transparent.gif", [palette_image(6, 4, 8)], transparency=3)
smooth = Image.fromarray(numpy.add.outer(numpy.arange(60), numpy.arange(70))
                         .astype("uint8") // 4, "P")
smooth.putpalette(bytes(range(256)) * 3)
add_gif("smooth.gif", [smooth.resize((20, 17))])


def by_hand(frames, w=4, h=3):
    """Frames {x, y, w, h, colours, dispose, transparent} without compression:
    codes of three bits, and a clear code before there are too many."""
    out = b"GIF89a" + struct.pack("<HHBBB", w, h, 0x80, 0, 0)
    out += bytes([255, 0, 0, 0, 255, 0])     # red, green
    for x, y, fw, fh, colours, dispose, transparent in frames:
        flags = dispose << 2 | (transparent is not None)
        out += b"!\xf9\x04" + struct.pack("<BHBB", flags, 7,
                                          transparent or 0, 0)
        out += b"," + struct.pack("<HHHHB", x, y, fw, fh, 0) + b"\x02"
        bits, n = 0, 0
        for k, c in enumerate(colours):
            for code in ([4] if k % 2 == 0 else []) + [c]:
                bits |= code << n
                n += 3
        bits |= 5 << n
        n += 3
        data = bits.to_bytes((n + 7) // 8, "little")
        out += bytes([len(data)]) + data + b"\0"
    return out + b";"


def composed(frames, w=4, h=3):
    """Those frames on a canvas, as browsers show them: disposal 2 leaves a
    transparent rectangle, where Pillow takes the background's colour."""
    canvas, out = numpy.zeros((4, h, w), "uint8"), []
    for x, y, fw, fh, colours, dispose, transparent in frames:
        before = canvas.copy()
        for k, c in enumerate(colours):
            if c != transparent:
                canvas[:, y + k // fw, x + k % fw] = (0, 255, 0, 255) if c \
                    else (255, 0, 0, 255)
        out.append(canvas.copy())
        if dispose == 2:
            canvas[:, y:y + fh, x:x + fw] = 0
        elif dispose == 3:
            canvas = before
    return numpy.stack(out)


for dispose in (0, 1, 2, 3):
    frames = [(0, 0, 4, 3, [0] * 12, 1, None),
              (1, 1, 2, 1, [1, 1], dispose, None),
              (2, 0, 2, 3, [1, 0, 0, 1, 1, 0], dispose, 0),
              (0, 0, 1, 1, [1], 0, None)]
    data = by_hand(frames)
    pixels, seconds = read_gif(data)
    assert dispose == 2 or (pixels == composed(frames)).all()
    add("dispose%d.gif" % dispose, data, composed(frames), seconds)

# ---- PNM ----

grey = random.integers(0, 256, (3, 5), "uint8")
colour = random.integers(0, 256, (2, 3, 3), "uint8")
wide = random.integers(0, 65536, (2, 3), "uint16")
wide_colour = random.integers(0, 65536, (2, 2, 3), "uint16")
bits = random.integers(0, 2, (3, 11), "uint8")


def text(a):
    return "\n".join(" ".join(map(str, r)) for r in a.reshape(len(a), -1))


white = (1 - bits) * 255
add("bits.pbm", ("P1 # a comment\n11 3\n" + text(bits).replace(" ", "") + "\n")
    .encode(), white[None, None])
add("packed.pbm", b"P4\n11 3\n" + numpy.packbits(bits, axis=1).tobytes(),
    white[None, None])
add("text.pgm", ("P2\n# w h\n5 3\n255\n" + text(grey) + "\n").encode(),
    grey[None, None])
add("bytes.pgm", b"P5 5 3 255\n" + grey.tobytes(), grey[None, None])
add("wide.pgm", b"P5\n3 2\n65535\n" + wide.astype(">u2").tobytes(),
    wide[None, None])
add("text.ppm", ("P3 3 2 255\n" + text(colour) + "\n").encode(),
    planes(colour)[None])
add("bytes.ppm", b"P6\n3 2\n255\n" + colour.tobytes(), planes(colour)[None])
add("wide.ppm", b"P6\n2 2\n65535\n" + wide_colour.astype(">u2").tobytes(),
    planes(wide_colour)[None])
seven = random.integers(0, 8, (2, 4))
add("seven.pgm", b"P5\n4 2\n7\n" + seven.astype("uint8").tobytes(),
    ((seven * 255 + 3) // 7).astype("uint8")[None, None])

# ---- PSD ----


def packbits(row):
    return b"".join(bytes([len(row[k:k + 128]) - 1]) + row[k:k + 128]
                    for k in range(0, len(row), 128))


def psd(a, compressed):
    c, h, w = a.shape
    out = b"8BPS" + struct.pack(">H6xHIIHH", 1, c, h, w, 8, 3)
    out += struct.pack(">III", 0, 0, 0) + struct.pack(">H", int(compressed))
    if not compressed:
        return out + a.tobytes()
    packed = [packbits(a[k, y].tobytes()) for k in range(c) for y in range(h)]
    return out + b"".join(struct.pack(">H", len(p)) for p in packed) + b"".join(
        packed)


rgb = random.integers(0, 256, (3, 4, 5), "uint8")
full = numpy.concatenate([rgb, numpy.full((1, 4, 5), 255, "uint8")])
for name, compressed in (("raw", False), ("packed", True)):
    data = psd(rgb, compressed)
    read = planes(Image.open(io.BytesIO(data)).convert("RGBA"))
    assert (read == full).all()
    add(name + ".psd", data, full[None])

# ---- HDR ----


def hdr_values(rgbe):
    scale = numpy.ldexp(1.0, rgbe[..., 3].astype(int) - 136)
    values = rgbe[..., :3] * scale[..., None]
    return numpy.where(rgbe[..., 3:] == 0, 0, values).astype("float32")


def hdr_run(channel):
    """Runs where four bytes are equal, else the bytes as they are."""
    out, k = b"", 0
    while k < len(channel):
        n = 1
        while k + n < len(channel) and n < 100 and channel[k + n] == channel[k]:
            n += 1
        if n >= 4:
            out += bytes([128 + n, channel[k]])
        else:
            out += bytes([n]) + bytes(channel[k:k + n])
        k += n
    return out


head = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n"
rgbe = random.integers(0, 256, (2, 3, 4), "uint8")
rgbe[..., 3] = random.integers(120, 140, (2, 3))
rgbe[0, 0, 3] = 0
add("flat.hdr", head % (2, 3) + rgbe.tobytes(),
    planes(hdr_values(rgbe))[None])
rgbe = random.integers(0, 256, (2, 12, 4), "uint8")
rgbe[..., 3] = 130
rgbe[0, 3:9, :3] = 7
data = head % (2, 12)
for row in rgbe:
    data += bytes([2, 2, 0, 12]) + b"".join(hdr_run(row[:, k])
                                            for k in range(4))
add("runs.hdr", data, planes(hdr_values(rgbe))[None])

print("-- Written by formats.py: files, and what Pillow and NumPy read.\n"
      "return {\n%s\n}" % "\n".join(rows))
