#!/usr/bin/env python3
"""Records of image operations for spec/golden, by PyTorch:

    python3 tools/golden/vision.py spec/golden
"""
import sys
import warnings

import torch
import torch.nn.functional as F

from golden import BOTH, case, real, size, write


def resized():
    linear = {1: "linear", 2: "bilinear", 3: "trilinear"}
    for n in (1, 2, 3):
        shape = (5, 4, 3)[:n]
        up, down = size([7, 6, 5][:n]), size([3, 3, 2][:n])
        for dtype in BOTH:
            x = real(1, 2 if n < 3 else 1, *shape, dtype=dtype)
            for mode in ("nearest", "nearest-exact", "area", linear[n]):
                case("interpolate", F.interpolate, x, up, mode=mode)
                case("interpolate", F.interpolate, x, down, mode=mode)
                if n < 3:
                    case("interpolate", F.interpolate, x, scale_factor=2.0,
                         mode=mode)
            for to in (up, down):
                case("interpolate", F.interpolate, x, to, mode=linear[n],
                     align_corners=True)
            case("interpolate", F.interpolate, x, mode=linear[n],
                 scale_factor=[1.3, 0.7, 1.6][:n])
            case("interpolate", F.interpolate, x, mode=linear[n],
                 scale_factor=1.3, recompute_scale_factor=True)
    for dtype in BOTH + (torch.uint8,):
        x = real(1, 2, 6, 5, dtype=torch.float64)
        if dtype == torch.uint8:
            x = (x * 30 + 128).clamp(0, 255)
        x = x.to(dtype)
        y = x.to(memory_format=torch.channels_last)
        for mode in ("bilinear", "bicubic"):
            for to in ([3, 4], [8, 7], [12, 3], [6, 9]):
                for smooth in (False, True):
                    case("interpolate", F.interpolate, x, size(to), mode=mode,
                         antialias=smooth)
                    case("interpolate", F.interpolate, y, size(to), mode=mode,
                         antialias=smooth, align_corners=True)
        if dtype != torch.uint8:
            for to in ([3, 4], [8, 7]):
                case("interpolate", F.interpolate, x, size(to), mode="lanczos",
                     antialias=True)


def shuffled():
    for dtype in BOTH + (torch.int64,):
        x = real(2, 8, 2, 3, dtype=dtype)
        case("pixel_shuffle", F.pixel_shuffle, x, 2)
        case("pixel_shuffle", F.pixel_shuffle, x[0], 1)
        case("pixel_unshuffle", F.pixel_unshuffle, x, 1)
        case("pixel_unshuffle", F.pixel_unshuffle,
             real(1, 2, 4, 6, dtype=dtype), 2)
        case("pixel_unshuffle", F.pixel_unshuffle,
             real(3, 2, 6, dtype=dtype).transpose(1, 2), 2)
        case("channel_shuffle", F.channel_shuffle, x, 4)
        case("channel_shuffle", F.channel_shuffle, x[:, :, 0], 2)


def warped():
    for dtype in BOTH:
        for align in (False, True):
            case("affine_grid", F.affine_grid, real(2, 2, 3, dtype=dtype),
                 size([2, 1, 3, 4]), align)
            case("affine_grid", F.affine_grid, real(1, 3, 4, dtype=dtype),
                 size([1, 1, 2, 1, 3]), align)
            for padding in ("zeros", "border", "reflection"):
                for mode in ("bilinear", "nearest", "bicubic"):
                    x = real(2, 2, 4, 3, dtype=dtype)
                    grid = torch.rand(2, 3, 2, 2, dtype=dtype) * 3 - 1.5
                    case("grid_sample", F.grid_sample, x, grid, mode=mode,
                         padding_mode=padding, align_corners=align)
                    if mode == "bicubic":
                        continue
                    x = real(1, 2, 3, 2, 4, dtype=dtype)
                    grid = torch.rand(1, 2, 3, 1, 3, dtype=dtype) * 3 - 1.5
                    case("grid_sample", F.grid_sample, x, grid, mode=mode,
                         padding_mode=padding, align_corners=align)


def pooled():
    for dtype in BOTH:
        for shape in ((2, 5, 3), (1, 6, 2, 3), (2, 4, 1, 2, 2)):
            x = real(*shape, dtype=dtype)
            case("local_response_norm", F.local_response_norm, x, 3)
            case("local_response_norm", F.local_response_norm, x, 2, 0.5)
            case("local_response_norm", F.local_response_norm, x, 5, 0.1, 0.5,
                 2.0)
        for n in (2, 3):
            pool = getattr(F, "fractional_max_pool%dd" % n)
            name = "fractional_max_pool%dd" % n
            x = real(2, 2, *(7, 6, 5)[:n], dtype=dtype)
            u = torch.rand(2, 2, n, dtype=dtype)
            out = size([4, 3, 2][:n])
            case(name, pool, x, 2, output_size=out, _random_samples=u)
            case(name, pool, x, size([3, 2, 2][:n]), output_size=out,
                 _random_samples=u)
            case(name, pool, x[0], 2, output_ratio=[0.6, 0.5, 0.5][:n],
                 _random_samples=u[:1])
            case(name, pool, x, 2, output_size=out, return_indices=True,
                 _random_samples=u, index=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.manual_seed(23)
    write(sys.argv[1], (resized, shuffled, warped, pooled))
