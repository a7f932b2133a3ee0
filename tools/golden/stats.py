#!/usr/bin/env python3
"""Records of statistics for spec/golden, by NumPy, SciPy and PyTorch:

    python3 tools/golden/stats.py spec/golden
"""
import sys

import numpy as np
import scipy.special
import torch

from golden import BOTH, Tagged, case, dim, real, write

nan, inf = float("nan"), float("inf")


def numpy_call(fn):
    """'fn' of NumPy with tensors: values come back in the dtype of the first
    one, positions as int64."""
    def call(*args, **kwargs):
        like = args[0].dtype if isinstance(args[0], torch.Tensor) else None

        def plain(v):
            return v.numpy() if isinstance(v, torch.Tensor) else v
        got = fn(*[plain(a) for a in args],
                 **{k: plain(v) for k, v in kwargs.items()})
        out = torch.from_numpy(np.asarray(got).copy())
        if out.is_floating_point() and like and like.is_floating_point:
            return out.to(like)
        return out
    return call


def with_nan(*shape, dtype=torch.float32):
    x = real(*shape, dtype=dtype)
    x.view(-1)[::3] = nan
    return x


def dims(*list_):
    return Tagged("dims", list(list_))


def axis(fn, **fixed):
    """(x, dim, keepdim) of NumPy's function."""
    def call(x, d=None, keepdim=False, **kwargs):
        d = tuple(d) if isinstance(d, list) else d
        names = {"correction": "ddof"}
        kwargs = {names.get(k, k): v for k, v in kwargs.items()}
        return fn(x, axis=d, keepdims=keepdim, **fixed, **kwargs)
    return numpy_call(call)


def without_nan():
    for dtype in BOTH:
        x = with_nan(4, 5, dtype=dtype)
        row = with_nan(3, 4, 2, dtype=dtype)
        none = x.clone()
        none[1] = nan
        for op in ("nanmax", "nanmin"):
            fn = axis(getattr(np, op))
            case(op, fn, x)
            case(op, fn, x.t(), dim(0))
            case(op, fn, none, dim(1), True)
            case(op, fn, row, dims(0, 2))
            case(op, fn, real(3, 4, dtype=dtype), dim(-1))
        case("nanmax", axis(np.nanmax), torch.tensor([[3, 9], [-4, 2]]), dim(0))
        edge = torch.tensor([[nan, -inf], [-inf, nan], [inf, nan]],
                            dtype=dtype)
        case("nanmin", axis(np.nanmin), edge, dim(1))
        for op in ("nanargmax", "nanargmin"):
            fn = axis(getattr(np, op))
            case(op, fn, x, index=True)
            case(op, fn, x, dim(1), index=True)
            case(op, fn, x.t(), dim(0), True, index=True)
        case("nanprod", axis(np.nanprod), x)
        case("nanprod", axis(np.nanprod), none, dim(1), True)
        case("nancumsum", numpy_call(lambda x, d: np.nancumsum(x, d)), x,
             dim(0))
        case("nancumsum", numpy_call(lambda x, d: np.nancumsum(x, d)), x.t(),
             dim(0))
        for op in ("nanvar", "nanstd"):
            fn = axis(getattr(np, op))
            case(op, fn, x, correction=1.0)
            case(op, fn, x, dim(1), correction=0.0)
            case(op, fn, none.t(), dim(0), correction=1.0)
            case(op, fn, row, dims(0, 2), correction=1.0)


def percentiles():
    for dtype in BOTH:
        x, gaps = real(4, 7, dtype=dtype), with_nan(4, 7, dtype=dtype)
        for op, y in (("percentile", x), ("nanpercentile", gaps)):
            def call(x, p, d=None, keepdim=False, interpolation="linear"):
                return getattr(np, op)(x, p, axis=d, keepdims=keepdim,
                                       method=interpolation)
            fn = numpy_call(call)
            for p in (0.0, 12.5, 50.0, 100.0):
                case(op, fn, y, p)
                case(op, fn, y.t(), p, dim(0), True)
            q = torch.tensor([10.0, 90, 33], dtype=torch.float64)
            case(op, fn, y, q, dim(1))
            for how in ("lower", "higher", "nearest", "midpoint"):
                case(op, fn, y, 40.0, dim(1), interpolation=how)


def averages():
    for dtype in BOTH:
        x = real(3, 4, dtype=dtype)

        def call(x, d=None, weights=None, keepdim=False):
            d = tuple(d) if isinstance(d, list) else d
            return np.average(x, axis=d, weights=weights, keepdims=keepdim)
        fn = numpy_call(call)
        case("average", fn, x)
        case("average", fn, x.t(), dims(1, 0), keepdim=True)
        case("average", fn, x, dim(1),
             weights=torch.tensor([1, 2, 0.5, 3], dtype=dtype))
        case("average", fn, x.t(), dim(0),
             weights=torch.tensor([1, 2, 0.5, 3], dtype=dtype))
        case("average", fn, x, weights=real(3, 4, dtype=dtype).abs() + 1)
        for y in (x, x.t(), (x * 8).long()):
            case("ptp", axis(np.ptp), y)
            case("ptp", axis(np.ptp), y, dim(1), True)
        case("ptp", axis(np.ptp), real(2, 3, 4, dtype=dtype), dim(-1))


def polynomials():
    for dtype in BOTH:
        p, x = real(4, dtype=dtype), real(3, 5, dtype=dtype)
        case("polyval", numpy_call(np.polyval), p, x)
        case("polyval", numpy_call(np.polyval), p, x.t()[1])
        case("polyval", numpy_call(np.polyval), p, torch.tensor(
            1.5, dtype=dtype))
        case("polyval", numpy_call(np.polyval), p[:1], x)
        t = torch.arange(9, dtype=dtype) / 2 - 1.25
        y = real(9, dtype=dtype)
        fn = numpy_call(np.polyfit)
        for degree in (0, 1, 2, 4):
            case("polyfit", fn, t, y, degree)
        case("polyfit", fn, t, real(9, 3, dtype=dtype), 2)
        case("polyfit", fn, t, y, 2, w=torch.arange(1, 10, dtype=dtype))
    case("polyval", numpy_call(np.polyval), torch.tensor([2, -1, 3]),
         torch.tensor([0, 5, -7]))
    case("polyfit", numpy_call(np.polyfit), torch.arange(6),
         torch.arange(6).double() ** 2, 2)


def curves():
    for dtype in BOTH:
        xp = torch.tensor([-1.5, -0.5, 0.25, 1, 2], dtype=dtype)
        fp, x = real(5, dtype=dtype), real(4, 6, dtype=dtype)
        fn = numpy_call(np.interp)
        case("interp", fn, x, xp, fp)
        case("interp", fn, x.t(), xp, fp, left=-7.0, right=9.5)
        case("interp", fn, xp, xp, fp)
        case("interp", fn, x, xp[[3, 0, 4, 1, 2]], fp, period=4.0)
        case("interp", fn, x, xp[:1], fp[:1])
        flat = torch.tensor([0, 1, 1, 2], dtype=dtype)
        case("interp", fn, x, flat, fp[:4])
        case("interp", fn, torch.tensor([nan, inf, -inf, 1], dtype=dtype), xp,
             fp)
        phase = real(3, 8, dtype=dtype) * 4
        unwrap = numpy_call(lambda x, dim=-1, **kw: np.unwrap(x, axis=dim,
                                                              **kw))
        case("unwrap", unwrap, phase)
        case("unwrap", unwrap, phase.t(), dim=dim(0))
        case("unwrap", unwrap, phase, discont=5.0)
        case("unwrap", unwrap, phase, period=2.5)
        for data in (x, x.t()):
            case("gradient", torch.gradient, data)
            case("gradient", torch.gradient, data, spacing=0.5, edge_order=2)
            case("gradient", torch.gradient, data, dim=dim(1))
        case("gradient", torch.gradient, x, spacing=[0.5, 2.0])
        grid = [torch.tensor([0, 1, 1.5, 3], dtype=dtype),
                torch.tensor([0, 2, 3, 4.5, 5, 7], dtype=dtype)]
        case("gradient", torch.gradient, x, spacing=grid)
        case("gradient", torch.gradient, x, spacing=grid, edge_order=2)
        case("gradient", torch.gradient, x[:2], spacing=grid[1:], dim=dim(1),
             edge_order=2)
        bins = torch.tensor([0, 0.5, 1.25, 2, 4], dtype=dtype)
        for edges in (bins, bins.flip(0)):
            case("digitize", numpy_call(np.digitize), x, edges, index=True)
            case("digitize", numpy_call(np.digitize), bins, edges, right=True,
                 index=True)
    period = torch.tensor([2, 3, 4, 5, 2, 3, 4, 5])
    for n in (4, 5):
        case("unwrap", numpy_call(np.unwrap), period, period=n)
    case("gradient", torch.gradient, torch.tensor([1, 2, 4, 8]))


def diagonals():
    for shape in ((3, 3), (7, 3), (2, 5), (3, 3, 3), (8, 3)):
        for wrap in (False, True):
            case("fill_diagonal_",
                 lambda x, v, wrap: x.clone().fill_diagonal_(v, wrap),
                 real(*shape), 5.0, wrap, style="method")


def special():
    s = torch.special
    loose = {"rtol": 1e-5, "atol": 1e-6}
    rising = torch.tensor([0.0, 1e-5, 0.3, 1, 2.5, 7, 19, 60])
    edges = torch.tensor([0.0, -0.0, 1, -1, 0.5, -3, inf, nan])
    names = ("erfcx", "entr", "bessel_j0", "bessel_j1", "bessel_y0",
             "bessel_y1", "modified_bessel_k0", "modified_bessel_k1",
             "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
             "spherical_bessel_j0")
    # PyTorch's have errors of 1e-9.
    exact = {"bessel_j0": scipy.special.j0, "bessel_j1": scipy.special.j1,
             "bessel_y0": scipy.special.y0, "bessel_y1": scipy.special.y1}
    for name in names:
        op = "special_" + name if "l_b" in name or "d_b" in name else name
        fn = numpy_call(exact[name]) if name in exact else getattr(s, name)
        for dtype in BOTH:
            case(op, fn, real(4, 5, dtype=dtype).abs() + 0.25)
            case(op, fn, (real(4, 5, dtype=dtype).abs() + 0.25).t())
            case(op, fn, rising.to(dtype), tol=loose)
        case(op, getattr(s, name), torch.tensor([1, 2, 5]))
        case(op, fn, edges[:6], tol=loose)
    case("erfcx", s.erfcx, torch.tensor([-27.0, -3, 27, 50, 1e30, inf, nan],
                                        dtype=torch.float64))
    case("entr", s.entr, edges)
    for dtype in BOTH:
        x = real(4, 5, dtype=dtype).abs() + 0.125
        for op, fn in (("igamma", s.gammainc), ("igammac", s.gammaincc)):
            def call(a, x):
                return fn(torch.tensor(a, dtype=x.dtype), x)
            for a in (0.25, 1.0, 2.5, 40.0):
                case(op, call, a, x)
                case(op, call, a, x.t() * a, tol=loose)
        q = real(3, 4, dtype=dtype).abs() + 0.25
        for order in (1.5, 2.0, 9.0):
            def zeta(order, q):
                return s.zeta(order, q)
            case("zeta", zeta, order, q)
            case("zeta", zeta, order, q.t(), tol=loose)
        case("zeta", zeta, 3.0, -q - 0.0625, tol=loose)
        wide = torch.tensor([0.0, -0.0, 1, -3, 0.1, 1e-30, 6e30, inf, -inf],
                            dtype=dtype)
        case("frexp", torch.frexp, real(4, 5, dtype=dtype))
        case("frexp", torch.frexp, real(4, 5, dtype=dtype).t())
        case("frexp", torch.frexp, wide)
    case("frexp", torch.frexp, torch.tensor([0.1, 6e-8, 65504, -2],
                                            dtype=torch.float16))


if __name__ == "__main__":
    torch.manual_seed(31)
    write(sys.argv[1], (without_nan, percentiles, averages, polynomials,
                        curves, diagonals, special))
