"""Values of la.image's functions on pixels, from SciPy, scikit-image, PyTorch
and Python's colorsys: modules/image/spec/values.lua.

    build/peers/bin/python tools/golden/image_values.py \\
        > modules/image/spec/values.lua

(with scipy and scikit-image installed). Inputs follow from their shape alone:
element i, counted from 0, is (i * 7919 + 13) % 256, or that divided by 255.
"""
import colorsys

import numpy as np
import scipy.ndimage as nd
import torch
import torch.nn.functional as F
from skimage import color


def pixels(shape):
    n = int(np.prod(shape))
    return ((np.arange(n) * 7919 + 13) % 256).reshape(shape).astype(np.uint8)


def floats(shape):
    return pixels(shape) / 255.0


def record(name, shape, args, result, dtype="float64"):
    result = np.asarray(result)
    values = ", ".join(
        str(int(v)) if result.dtype.kind in "bui" else f"{v:.10g}"
        for v in result.ravel())
    shape_text = ", ".join(str(n) for n in shape)
    print(f'  {{name = "{name}", shape = {{{shape_text}}}, dtype = "{dtype}",')
    print(f"    args = {{{args}}},\n    want = {{".replace(
        "}, {false", "},\n      {false"))
    line = ""
    for v in values.split(", "):
        if len(line) + len(v) > 74:
            print(line.rstrip())
            line = ""
        line += v + ", "
    print(line.rstrip() + "}},")


def last(f, x):
    return np.moveaxis(f(np.moveaxis(x, -3, -1)), -1, -3)


def colours():
    shape = (3, 2, 5)
    x = floats(shape)
    hsv = np.array([colorsys.rgb_to_hsv(*p) for p in x.reshape(3, -1).T])
    record("rgb_to_hsv", shape, "", hsv.T.reshape(shape))
    rgb = np.array([colorsys.hsv_to_rgb(*p) for p in x.reshape(3, -1).T])
    record("hsv_to_rgb", shape, "", rgb.T.reshape(shape))
    record("rgb_to_lab", shape, "", last(color.rgb2lab, x))
    lab = np.stack([x[0] * 100, x[1] * 60 - 30, x[2] * 60 - 30])
    record("lab_to_rgb", shape, "scale = {{100, 0}, {60, -30}, {60, -30}}",
           last(color.lab2rgb, lab))
    u = pixels(shape).astype(np.float64)
    grey = 0.299 * u[0] + 0.587 * u[1] + 0.114 * u[2]
    record("rgb_to_gray", shape, "", grey[None] / 255)
    record("rgb_to_gray", shape, "", np.floor(grey[None] + 0.5).astype(int),
           "uint8")
    x = floats((2, 9))
    linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    record("srgb_to_linear", (2, 9), "", linear)
    record("srgb_to_linear", (2, 9), "", linear, "uint8")
    srgb = np.where(x <= 0.0031308, 12.92 * x,
                    1.055 * x ** (1 / 2.4) - 0.055)
    record("linear_to_srgb", (2, 9), "", srgb)


MODES = {"reflect": "mirror", "replicate": "nearest", "circular": "wrap",
         "constant": "constant"}


def filters():
    shape = (2, 5, 6)
    x = floats(shape)
    for ours, theirs in MODES.items():
        record("gaussian_blur", shape, f'0.8, {{mode = "{ours}"}}',
               nd.gaussian_filter(x, (0, 0.8, 0.8), mode=theirs))
        record("gaussian_blur", (1, 3), f'2, {{mode = "{ours}"}}',
               nd.gaussian_filter(floats((1, 3)), 2, mode=theirs))
    record("gaussian_blur", shape, "{0.5, 2}",
           nd.gaussian_filter(x, (0, 0.5, 2), mode="mirror"))
    record("gaussian_blur", shape, "{0, 1}, {radius = 2}",
           nd.gaussian_filter(x, (0, 0, 1), mode="mirror", radius=(0, 0, 2)))
    smooth = nd.gaussian_filter(pixels(shape).astype(np.float64),
                                (0, 1, 1), mode="mirror")
    record("gaussian_blur", shape, "1", np.rint(smooth).astype(int), "uint8")
    for ours, theirs in MODES.items():
        for k, axis in enumerate((-1, -2)):
            kernel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
            kernel = kernel.T if axis == -2 else kernel
            y = nd.correlate(x, kernel[None], mode=theirs)
            assert np.allclose(y[0], nd.sobel(x[0], axis, mode=theirs))
            record("sobel", shape, f'{{mode = "{ours}"}}, pick = {k + 1}', y)


CROSS = "{{false, true, false}, {true, true, true}, {false, true, false}}"
CORNER = "{{true, false}, {true, true}, {false, false}, {false, true}}"


def morphology():
    shape = (2, 5, 6)
    for dtype, x in (("uint8", pixels(shape)), ("float64", floats(shape))):
        for text, size in (("", (3, 3)), ("{2, 5}", (2, 5)),
                           ("{4, 1}", (4, 1)), ("{9, 20}", (9, 20))):
            if dtype == "float64" and text != "{4, 1}":
                continue
            window(shape, dtype, x, text, {"size": size})
    for text in (CROSS, CORNER):
        kernel = np.array(eval(text.replace("{", "[").replace("}", "]")
                               .replace("true", "1").replace("false", "0")))
        window(shape, "uint8", pixels(shape), f"kernel = {text}",
               {"footprint": kernel})


def window(shape, dtype, x, text, how):
    most = 255 if dtype == "uint8" else np.inf
    least = 0 if dtype == "uint8" else -np.inf

    def erode(p):
        return nd.grey_erosion(p, mode="constant", cval=most, **how)

    def dilate(p):
        return nd.grey_dilation(p, mode="constant", cval=least, **how)

    for name, f in (("erode", erode), ("dilate", dilate),
                    ("opening", lambda p: dilate(erode(p))),
                    ("closing", lambda p: erode(dilate(p)))):
        if name in ("opening", "closing") and "9" in text:
            continue
        record(name, shape, text, np.stack([f(p) for p in x]), dtype)


def resampling():
    shape = (2, 5, 6)
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        for size in ((3, 4), (4, 8)):
            for smooth in (True, False):
                can = mode in ("bilinear", "bicubic")
                if smooth != can and size[0] == 3 or smooth and size[0] > 3:
                    continue        # the same again
                text = (f'{size[0]}, {size[1]}, {{mode = "{mode}", '
                        f"antialias = {str(smooth).lower()}}}")
                for dtype, x in (("float64", floats(shape)),
                                 ("uint8", pixels(shape))):
                    if dtype == "uint8" and (mode == "area" or size[0] == 4):
                        continue
                    y = F.interpolate(torch.tensor(x)[None], size=size,
                                      mode=mode, antialias=smooth and can)
                    record("resize", shape, text, y.numpy(), dtype)


def rotation():
    shape = (1, 4, 6)
    for degrees, mode, fill, size in (
            (30, "bilinear", 0, (4, 6)), (-75, "nearest", 0.5, (4, 6)),
            (90, "bilinear", 0, (4, 6)), (200, "bicubic", 1, (4, 6)),
            (30, "bilinear", 2, (7, 8))):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        (h, w), (height, width) = shape[1:], size
        theta = torch.tensor([[[c * width / w, -s * height / w, 0],
                               [s * width / h, c * height / h, 0]]])
        grid = F.affine_grid(theta, (1, 1) + size, align_corners=False)
        x = torch.tensor(floats(shape))[None]
        y, inside = (F.grid_sample(t, grid, mode, "zeros", align_corners=False)
                     for t in (x, torch.ones_like(x)))
        expand = str(size != shape[1:]).lower()
        record("rotate", shape, f'{degrees}, {{mode = "{mode}", fill = {fill}'
               f", expand = {expand}}}", (y + (1 - inside) * fill).numpy())


print("-- Values of la.image's functions, made by"
      " tools/golden/image_values.py.\nreturn {")
colours()
filters()
morphology()
resampling()
rotation()
print("}")
