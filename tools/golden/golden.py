#!/usr/bin/env python3
"""Records for operations that spec/golden has none of, by PyTorch.

    python3 tools/golden/golden.py spec/golden

Writes one <op>.jsonl per operation below; files of other operations stay. The
format is told in spec/support/records.lua. Needs torch and scipy, as nothing
else in the project does.
"""
import functools
import json
import sys

import scipy.fft
import torch
import torch.nn.functional as F


def number(x):
    if isinstance(x, bool):
        return int(x)
    if isinstance(x, float):
        if x != x:
            return "nan"
        if x in (float("inf"), float("-inf")):
            return "inf" if x > 0 else "-inf"
    return x


def tensor(t, index=False):
    flat = t.detach().resolve_conj().contiguous().reshape(-1)
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(-1)
    r = {"dtype": str(t.dtype)[6:], "shape": list(t.shape),
         "data": [number(v) for v in flat.tolist()]}
    if index:
        r["index"] = 1
    return r


class Index:
    """A tensor of positions; Dim, Size: other arguments with a tag."""
    def __init__(self, t):
        self.t = t


class Tagged:
    def __init__(self, tag, value):
        self.tag, self.value = tag, value


def dim(d):
    return Tagged("dim", d)


def size(s):
    return Tagged("size", s)


def argument(t):
    """As it lies in memory: the whole storage when there are gaps."""
    if t.is_contiguous() or t.is_conj() or t.is_neg():
        return tensor(t)
    n = t.untyped_storage().nbytes() // t.element_size()
    r = tensor(t.as_strided((n,), (1,), 0))
    r.update(shape=list(t.shape), stride=list(t.stride()),
             offset=t.storage_offset())
    return r


def encode(a):
    if isinstance(a, Tagged):
        return {a.tag: a.value}
    if isinstance(a, Index):
        return {"t": tensor(a.t, True)}
    if isinstance(a, torch.Tensor):
        return {"t": argument(a)}
    if isinstance(a, complex):
        return {"complex": [number(a.real), number(a.imag)]}
    if a is None:
        return {"none": 1}
    if isinstance(a, bool):
        return {"bool": a}
    if isinstance(a, int):
        return {"int": a}
    if isinstance(a, float):
        return {"float": number(a)}
    if isinstance(a, str):
        return {"str": a}
    if isinstance(a, torch.dtype):
        return {"dtype": str(a)[6:]}
    return {"list": [encode(v) for v in a]}


def plain(a):
    if isinstance(a, Index):
        return a.t
    if isinstance(a, Tagged):
        return a.value
    if isinstance(a, (list, tuple)):
        return type(a)(plain(v) for v in a)
    return a


TOLERANCE = {torch.float32: {"rtol": 2e-5, "atol": 2e-6},
             torch.float64: {"rtol": 1e-9, "atol": 1e-11},
             torch.complex64: {"rtol": 2e-5, "atol": 2e-6},
             torch.complex128: {"rtol": 1e-9, "atol": 1e-11}}
records = {}


def case(op, fn, *args, style="function", index=False, tol=None, post=(),
         file=None, **kwargs):
    """Record a call. index: the results that hold positions (True: all whole
    ones); post: the arguments that are also compared afterwards; file: its
    name, where that is not the operation's."""
    out = records.setdefault(file or op, [])
    r = {"id": "%s-%03d" % (file or op, len(out) + 1), "family": "more",
         "op": op, "style": style, "args": [encode(a) for a in args]}
    if kwargs:
        r["kwargs"] = {k.lstrip("_"): encode(v) for k, v in kwargs.items()}
    got = fn(*[plain(a) for a in args],
             **{k: plain(v) for k, v in kwargs.items()})
    list_ = list(got) if isinstance(got, (tuple, list)) else [got]
    r["expect"] = {"tensors": [
        tensor(t, not t.is_floating_point() and not t.is_complex()
               and (k in index if isinstance(index, tuple) else index))
        for k, t in enumerate(list_)]}
    if post:
        r["expect"]["post"] = [{"arg": k, "data": tensor(args[k])["data"]}
                               for k in post]
    tol = tol or TOLERANCE.get(list_[0].dtype)
    if tol:
        r["tol"] = tol
    out.append(r)


def real(*shape, dtype=torch.float32):
    return torch.randn(*shape, dtype=torch.float64).mul(64).round().div(32) \
        .to(dtype)


BOTH = (torch.float32, torch.float64)


def convolutions():
    sizes = {1: [(2, 3, 9)], 2: [(2, 4, 7, 8), (4, 5, 6)], 3: [(1, 2, 4, 5, 6)]}
    for n, fn in ((1, F.conv1d), (2, F.conv2d), (3, F.conv3d)):
        name = "conv%dd" % n
        for shape in sizes[n]:
            c = shape[-n - 1]
            for dtype in BOTH:
                x, k = real(*shape, dtype=dtype), (3, 2, 3)[:n]
                w, b = real(6, c, *k, dtype=dtype), real(6, dtype=dtype)
                case(name, fn, x, w)
                case(name, fn, x, w, b)
                case(name, fn, x, w, b, stride=2, padding=1)
                case(name, fn, x, w, b, dilation=2, padding=2)
                case(name, fn, x, w, padding="same")
                case(name, fn, x, w, b, padding="valid")
                if c % 2 == 0:
                    case(name, fn, x, real(6, c // 2, *k, dtype=dtype), b,
                         groups=2)
                case(name, fn, x, real(2 * c, 1, *k, dtype=dtype), groups=c)
    for n, fn in ((1, F.conv_transpose1d), (2, F.conv_transpose2d),
                  (3, F.conv_transpose3d)):
        name = "conv_transpose%dd" % n
        x, k = real(2, 4, *(5, 4, 3)[:n]), (3, 2, 3)[:n]
        w, b = real(4, 3, *k), real(3)
        case(name, fn, x, w)
        case(name, fn, x, w, b)
        case(name, fn, x, w, b, stride=2, padding=1)
        case(name, fn, x, w, b, stride=2, output_padding=1)
        case(name, fn, x, w, dilation=2)
        case(name, fn, x, w, groups=2)


def activations():
    edges = torch.tensor([-200., -30, -6, -3, -1, -0.5, -0.0, 0, 0.5, 1, 3, 6,
                          30, 200, float("inf"), float("-inf"), float("nan")])
    plain_ones = {"hardsigmoid": F.hardsigmoid, "softsign": F.softsign,
                  "tanhshrink": F.tanhshrink, "selu": F.selu,
                  "hardshrink": F.hardshrink, "relu6": F.relu6,
                  "leaky_relu": F.leaky_relu, "hardtanh": F.hardtanh,
                  "hardswish": F.hardswish, "softshrink": F.softshrink,
                  "elu": F.elu, "celu": F.celu, "mish": F.mish,
                  "silu": F.silu, "gelu": F.gelu, "softplus": F.softplus,
                  "logsigmoid": F.logsigmoid}
    for name, fn in plain_ones.items():
        for dtype in BOTH:
            case(name, fn, real(5, 7, dtype=dtype))
        case(name, fn, edges[:14])
        case(name, fn, real(4, 3).t())
    case("leaky_relu", F.leaky_relu, real(9), 0.2)
    case("hardtanh", F.hardtanh, real(9), -0.5, 0.75)
    case("hardshrink", F.hardshrink, real(9), 0.25)
    case("prelu", F.prelu, real(2, 3, 4), real(3))
    case("prelu", F.prelu, real(2, 3), real(1))
    special = torch.special
    case("i0e", special.i0e, edges[:14])
    case("i1e", special.i1e, edges[:14])
    case("i1e", special.i1e, real(30, dtype=torch.float64))
    case("i0e", special.i0e, real(30, dtype=torch.float64))
    case("ndtri", special.ndtri,
         torch.linspace(0, 1, 21, dtype=torch.float64))
    case("log_ndtr", special.log_ndtr, real(30, dtype=torch.float64))
    case("xlog1py", special.xlog1py, real(5, 4).abs(), real(4).abs())


def products():
    for dtype in BOTH:
        x, w, b = real(3, 5, dtype=dtype), real(4, 5, dtype=dtype), \
            real(4, dtype=dtype)
        case("linear", F.linear, x, w)
        case("linear", F.linear, x, w, b)
        case("linear", F.linear, real(2, 3, 5, dtype=dtype), w, b)
        case("linear", F.linear, real(5, dtype=dtype), w, b)
        case("bilinear", F.bilinear, x, real(3, 2, dtype=dtype),
             real(4, 5, 2, dtype=dtype), b)
        case("vecdot", torch.linalg.vecdot, x, real(3, 5, dtype=dtype))
        case("vecdot", torch.linalg.vecdot, x, real(5, dtype=dtype))
        square = real(3, 3, dtype=dtype)
        for n in (0, 1, 2, 3, 5):
            case("matrix_power", torch.linalg.matrix_power, square, n)
        case("matrix_power", torch.linalg.matrix_power,
             real(2, 2, 2, dtype=dtype), 3)
        chain = [real(2, 5, dtype=dtype), real(5, 3, dtype=dtype),
                 real(3, 4, dtype=dtype)]
        case("chain_matmul", lambda *a: torch.linalg.multi_dot(a), *chain)
        case("multi_dot", torch.linalg.multi_dot, chain)
        case("multi_dot", torch.linalg.multi_dot,
             [real(5, dtype=dtype)] + chain[1:])


def norms():
    for dtype in BOTH:
        x = real(2, 3, 4, dtype=dtype)
        for order in (0.0, 1.0, 2.0, 3.0, 0.5, float("inf"), float("-inf")):
            case("vector_norm", torch.linalg.vector_norm, x, order)
            case("vector_norm", torch.linalg.vector_norm, x, order, dim=dim(1))
        case("vector_norm", torch.linalg.vector_norm, x, 2.0,
             dim=Tagged("dims", [0, -1]), keepdim=True)
        w, b = real(3, 4, dtype=dtype), real(3, 4, dtype=dtype)
        case("layer_norm", F.layer_norm, x, size([3, 4]))
        case("layer_norm", F.layer_norm, x, size([4]))
        case("layer_norm", F.layer_norm, x, size([3, 4]), w, b)
        case("layer_norm", F.layer_norm, x, size([3, 4]), w, b, 0.5)
        case("rms_norm", F.rms_norm, x, size([3, 4]))
        case("rms_norm", F.rms_norm, x, size([4]), w[0])
        case("rms_norm", F.rms_norm, x, size([3, 4]), w, 0.5)


def positions():
    i = Index(torch.tensor([0, 2, 1, 2]))
    for reduce in ("prod", "mean", "amax", "amin"):
        for include in (True, False):
            case("index_reduce", torch.Tensor.index_reduce, real(3, 4), dim(0),
                 i, real(4, 4), reduce, style="method", include_self=include)
    case("index_reduce", torch.Tensor.index_reduce, real(2, 3), dim(-1), i,
         real(2, 4), "amax", style="method")
    table = real(5, 3)
    case("embedding", lambda i, w: F.embedding(i, w), Index(
        torch.tensor([[0, 4], [2, 2]])), table)
    case("one_hot", F.one_hot, Index(torch.tensor([0, 2, 1])), 4)
    case("one_hot", F.one_hot, Index(torch.tensor([[0, 2], [1, 0]])))


def casts():
    x = real(3, 4)
    for name in ("short", "int", "long", "char", "byte", "double", "half",
                 "bfloat16", "float", "bool", "cfloat", "cdouble"):
        y = x.abs() if name == "byte" else x
        case(name, getattr(torch.Tensor, name), y, style="method")
    case("type_as", torch.Tensor.type_as, x, torch.zeros(1, dtype=torch.int16),
         style="method")
    case("type_as", torch.Tensor.type_as, torch.tensor([1, 2]), x,
         style="method")


def image(n, dtype=torch.float32):
    return real(2, 3, *(9, 7, 5)[:n], dtype=dtype)


def pools():
    for n in (1, 2, 3):
        most = getattr(F, "max_pool%dd" % n)
        mean = getattr(F, "avg_pool%dd" % n)
        name = "max_pool%dd" % n
        for x in (image(n), image(n, torch.float64), image(n)[0]):
            case(name, most, x, 2)
            case(name, most, x, 3, 2, 1)
            case(name, most, x, size([3, 2, 2][:n]), size([2, 1, 1][:n]),
                 ceil_mode=True)
            case("avg_pool%dd" % n, mean, x, 2)
            case("avg_pool%dd" % n, mean, x, 3, 2, 1)
            case("avg_pool%dd" % n, mean, x, 3, 2, 1, ceil_mode=True,
                 count_include_pad=False)
        case(name, most, image(n), 2, dilation=2)
        case(name, most, image(n), 2, index=True, return_indices=True)
        out = [4, 3, 2][:n]
        for kind in ("avg", "max"):
            name = "adaptive_%s_pool%dd" % (kind, n)
            case(name, getattr(F, name), image(n), size(out))
            case(name, getattr(F, name), image(n), 1)
    case("adaptive_max_pool2d", F.adaptive_max_pool2d, image(2), size([3, 2]),
         index=True, return_indices=True)
    case("lp_pool1d", F.lp_pool1d, image(1).abs(), 2.0, 3)
    case("lp_pool2d", F.lp_pool2d, image(2).abs(), 2.0, 2)
    case("lp_pool2d", F.lp_pool2d, image(2).abs(), 1.0, 2, 1)
    for k, dilation, padding, stride in ((2, 1, 0, 1), (3, 2, 1, 2)):
        columns = F.unfold(image(2), k, dilation, padding, stride)
        case("im2col", F.unfold, image(2), k, dilation, padding, stride)
        case("col2im", F.fold, columns, size([9, 7]), k, dilation, padding,
             stride)


def normalised():
    for dtype in BOTH:
        x = real(2, 6, 5, dtype=dtype)
        w, b = real(6, dtype=dtype), real(6, dtype=dtype)
        mean, var = real(6, dtype=dtype), real(6, dtype=dtype).abs() + 0.5
        for groups in (1, 2, 6):
            case("group_norm", F.group_norm, x, groups)
            case("group_norm", F.group_norm, x, groups, w, b)
        case("instance_norm", F.instance_norm, x)
        case("instance_norm", F.instance_norm, x, None, None, w, b)
        case("instance_norm", F.instance_norm, x, mean, var, w, b, False)
        case("batch_norm", F.batch_norm, x, mean, var)
        case("batch_norm", F.batch_norm, x, mean, var, w, b)
        case("batch_norm", F.batch_norm, x, None, None, w, b, True)
        case("batch_norm", F.batch_norm, real(4, 6, dtype=dtype), mean.clone(),
             var.clone(), w, b, True, 0.3, 0.01)
        case("normalize", F.normalize, x)
        case("normalize", F.normalize, x, 1.0, dim(-1))
        case("renorm", torch.renorm, x, 2.0, dim(0), 3.0)
        case("renorm", torch.renorm, x, 1.0, dim(1), 5.0)
        case("softmin", F.softmin, x, dim(1))
        case("trapezoid", torch.trapezoid, x)
        case("trapezoid", torch.trapezoid, x, dx=0.5)
        case("trapezoid", torch.trapezoid, x, dim=dim(1))
        case("trapezoid", torch.trapezoid, x, real(5, dtype=dtype))
        case("cumulative_trapezoid", torch.cumulative_trapezoid, x)
        case("cumulative_trapezoid", torch.cumulative_trapezoid, x,
             dx=2.0, dim=dim(1))
        holes = x.clone()
        holes[x > 1] = float("nan")
        q = torch.tensor([0.0, 0.25, 0.5, 1.0], dtype=dtype)
        case("nanquantile", torch.nanquantile, holes, q)
        case("nanquantile", torch.nanquantile, holes, q, dim=dim(1))
        case("nanquantile", torch.nanquantile, holes, q, dim=dim(-1),
             keepdim=True, interpolation="nearest")
        case("rrelu", F.rrelu, x)
        case("rrelu", F.rrelu, x, 0.25, 0.5)


def losses():
    for dtype in BOTH:
        x, y = real(4, 3, dtype=dtype), real(4, 3, dtype=dtype).sign()
        for reduction in ("mean", "sum", "none"):
            case("soft_margin_loss", F.soft_margin_loss, x, y,
                 reduction=reduction)


FIELDS = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def square(*shape, dtype):
    """Well away from singular; complex ones have another imaginary part."""
    x = real(*shape, dtype=torch.float64)
    if dtype.is_complex:
        x = torch.complex(x, real(*shape, dtype=torch.float64))
    return (x + 5 * torch.eye(*shape[-2:])).to(dtype)


LOOSE = {torch.float32: {"rtol": 2e-3, "atol": 2e-4},
         torch.complex64: {"rtol": 2e-3, "atol": 2e-4}}


def looser(dtype):
    """case(), within what a decomposition in that dtype may be off by."""
    return functools.partial(case, tol=LOOSE.get(dtype, TOLERANCE[dtype]))


def factored():
    L = torch.linalg
    for dtype in FIELDS:
        call = looser(dtype)
        one, some = square(3, 3, dtype=dtype), square(2, 4, 4, dtype=dtype)
        n = 20 if dtype in (torch.float32, torch.complex128) else 5
        large = square(n, n, dtype=dtype)
        none = square(0, 0, dtype=dtype)
        for x in (one, some, large, one.mT, none):
            call("det", L.det, x)
            call("slogdet", L.slogdet, x)
            call("logdet", torch.logdet, x)
            call("inv", L.inv, x)
            call("lu_factor", L.lu_factor, x)
        wide, tall = square(3, 5, dtype=dtype), square(2, 5, 3, dtype=dtype)
        for x in (one, some, wide, tall, square(n - 2, n, dtype=dtype)):
            call("lu_factor_ex", L.lu_factor_ex, x)
            call("lu", L.lu, x)
            call("qr", L.qr, x)
            # modes without a derivative: the records of qr are differentiated
            call("qr", L.qr, x, "complete", file="qr_modes")
            call("qr", L.qr, x, "r", file="qr_modes")
            call("geqrf", torch.geqrf, x)
        singular = some.clone()
        singular[1, :, 2] = 0
        call("lu_factor_ex", L.lu_factor_ex, singular)
        call("inv_ex", L.inv_ex, some)
        b, row = square(4, 3, dtype=dtype), square(3, 4, dtype=dtype)
        call("solve", L.solve, some, b)
        call("solve", L.solve, some, row, left=False)
        call("solve", L.solve, some, b[:, 0])
        call("solve", L.solve, one, row)
        call("solve", L.solve, large, square(n, 3, dtype=dtype))
        call("solve_ex", L.solve_ex, some, b)
        lu, pivots = L.lu_factor(some)
        call("lu_solve", L.lu_solve, lu, pivots, b)
        call("lu_solve", L.lu_solve, lu, pivots, b, adjoint=True)
        call("lu_solve", L.lu_solve, lu, pivots, row, left=False)
        call("lu_unpack", torch.lu_unpack, lu, pivots)
        call("lu_unpack", torch.lu_unpack, lu, pivots, False, True)
        for upper in (False, True):
            for x, y in ((some, b), (large, square(n, 3, dtype=dtype))):
                call("solve_triangular", L.solve_triangular, x, y, upper=upper)
                call("solve_triangular", L.solve_triangular, x / 10, y,
                     upper=upper, unitriangular=True)
                call("solve_triangular", L.solve_triangular, x, y.mT,
                     upper=upper, left=False)
            for x in (one, some, large):
                x = x @ x.mH + torch.eye(x.shape[-1], dtype=dtype)
                call("cholesky", L.cholesky, x, upper=upper)
                call("cholesky_ex", L.cholesky_ex, x, upper=upper)
                factor = L.cholesky(x, upper=upper)
                call("cholesky_solve", torch.cholesky_solve,
                     square(x.shape[-1], 2, dtype=dtype), factor, upper)
                call("cholesky_inverse", torch.cholesky_inverse, factor, upper)
        a, tau = torch.geqrf(tall)
        call("householder_product", L.householder_product, a, tau)
        call("ormqr", torch.ormqr, a, tau, tall)
        call("ormqr", torch.ormqr, a, tau, tall.mT.contiguous(), False, True)
        for x in (some - 5 * torch.eye(4), large - 5 * torch.eye(n)):
            for hermitian in (False, True):
                y = (x + (x.mH if hermitian else x.mT)).to(dtype)
                ld, pivots = L.ldl_factor(y, hermitian=hermitian)
                call("ldl_factor", L.ldl_factor, y, hermitian=hermitian)
                call("ldl_solve", L.ldl_solve, ld, pivots,
                     square(y.shape[-1], 2, dtype=dtype), hermitian=hermitian)
        for scale in (1e-5, 0.01, 0.2, 1):
            call("matrix_exp", L.matrix_exp, one * scale)
            call("matrix_exp", L.matrix_exp, some * scale)
        call("tensorinv", L.tensorinv, square(6, 6, dtype=dtype).reshape(
            2, 3, 3, 2))
        call("tensorinv", L.tensorinv, square(6, 6, dtype=dtype).reshape(
            6, 3, 2), 1)
        call("tensorsolve", L.tensorsolve, square(6, 6, dtype=dtype).reshape(
            2, 3, 3, 2), square(2, 3, dtype=dtype))
        call("matrix_transpose", lambda x: x.mT, some)
        call("linalg_norm", L.norm, some)
        call("linalg_norm", L.norm, one, "fro")
        call("linalg_norm", L.norm, one, 3, dim(1))
        for order in (1, -1, float("inf"), float("-inf"), "fro"):
            call("matrix_norm", L.matrix_norm, some, order)
            call("matrix_norm", L.matrix_norm, some, order,
                 Tagged("dims", [2, 0]), True)
            call("linalg_norm", L.norm, one, order)
            call("cond", L.cond, some, order)
        call("linalg_vander", L.vander, one)
        call("linalg_vander", L.vander, one, N=5)
        call("linalg_diagonal", L.diagonal, some)
        call("linalg_diagonal", L.diagonal, some, offset=1)
        call("linalg_cross", L.cross, one, square(3, 3, dtype=dtype))
        if dtype.is_complex:
            continue
        for p in (0.0, 1.0, 2.0, 3.0, float("inf")):
            call("cdist", torch.cdist, tall, square(4, 3, dtype=dtype), p)
            call("pdist", F.pdist, row, p)


def spectra():
    T = torch.fft
    n = 12                      # with factors of two kinds
    for dtype in (torch.complex64, torch.complex128):
        part = torch.float32 if dtype == torch.complex64 else torch.float64
        line, box = square(2, n, dtype=dtype), square(2, 3, 5, dtype=dtype)
        for x in (line, real(2, n, dtype=part)):
            for name in ("fft", "ifft"):
                fn, op = getattr(T, name), "fft_" + name
                case(op, fn, x)
                case(op, fn, x, 7)
                case(op, fn, x, 16, dim(0), "ortho")
                case(op, fn, x, None, dim(0), norm="forward")
                case(op, fn, x.t())
        for name in ("irfft", "hfft"):
            fn, op = getattr(T, name), "fft_" + name
            for more in ((), (9,), (6,), (30, dim(0), "ortho"),
                         (None, dim(1), "forward")):
                case(op, fn, line, *more)
        for name in ("rfft", "ihfft"):
            fn, op = getattr(T, name), "fft_" + name
            for more in ((), (9,), (15, dim(0), "ortho"),
                         (None, dim(-1), "forward")):
                case(op, fn, real(2, n, dtype=part), *more)
        for kind in ("", "i"):
            for many in ("2", "n"):
                name = kind + "fft" + many
                fn, op = getattr(T, name), "fft_" + name
                case(op, fn, box)
                case(op, fn, real(2, 3, 5, dtype=part))
                case(op, fn, box, [4, 4], Tagged("dims", [0, 2]), "ortho")
                if many == "n":
                    case(op, fn, box, None, Tagged("dims", [1]))
                    case(op, fn, box, [2, 6])
        for name in ("rfft", "irfft", "hfft", "ihfft"):
            whole = name in ("irfft", "hfft")
            x = box if whole else real(2, 3, 5, dtype=part)
            for many in ("2", "n"):
                fn, op = getattr(T, name + many), "fft_" + name + many
                case(op, fn, x)
                case(op, fn, x, [4, 7], Tagged("dims", [2, 0]), "ortho")
                case(op, fn, x, [3, 4], norm="forward")
    for x in (real(2, 5), real(4, 3, 2), square(3, 4, dtype=torch.complex64)):
        case("fft_fftshift", T.fftshift, x)
        case("fft_ifftshift", T.ifftshift, x)
        case("fft_fftshift", T.fftshift, x, Tagged("dims", [1]))
        case("fft_ifftshift", T.ifftshift, x, Tagged("dims", [1, 0]))
    for count in (1, 2, 7, 8):
        case("fft_fftfreq", T.fftfreq, count)
        case("fft_rfftfreq", T.rfftfreq, count, 0.25)
        case("fft_fftfreq", T.fftfreq, count, 3.0, dtype=torch.float64)


def cosines():
    def by(fn):
        def call(x, type=2, n=None, axis=-1, norm=None):
            return torch.from_numpy(fn(x.numpy(), type, n, axis, norm))
        return call
    for name in ("dct", "idct"):
        fn, op = by(getattr(scipy.fft, name)), "fft_" + name
        for type in (1, 2, 3, 4):
            for dtype in (torch.float32, torch.float64):
                for n in (6, 7):
                    x = real(2, n, dtype=dtype)
                    case(op, fn, x, type)
                    case(op, fn, x, type, None, dim(1), "ortho")
                    case(op, fn, x, type, n + 2, dim(0), "forward")
        case(op, fn, square(2, 5, dtype=torch.complex128))
        case(op, fn, real(1))


def write(folder, parts):
    for make in parts:
        make()
    for op, list_ in records.items():
        with open("%s/%s.jsonl" % (folder, op), "w") as f:
            for r in list_:
                f.write(json.dumps(r, separators=(",", ":")) + "\n")
    print("%d records of %d operations" % (sum(map(len, records.values())),
                                           len(records)))


if __name__ == "__main__":
    torch.manual_seed(20)
    write(sys.argv[1], (
        convolutions,
        activations,
        products,
        norms,
        positions,
        casts,
        pools,
        normalised,
        losses,
        factored,
        spectra,
        cosines))
