#!/usr/bin/env python3
"""Records of composite operations for spec/golden, by PyTorch:

    python3 tools/golden/composites.py spec/golden
"""
import sys

import torch
import torch.nn.functional as F

from golden import BOTH, Index, Tagged, case, dim, real, write


def joined():
    for dtype in BOTH + (torch.int64,):
        x, y = real(4, dtype=dtype), real(3, dtype=dtype)
        case("vander", torch.vander, x)
        case("vander", torch.vander, x, N=3, increasing=True)
        case("cartesian_prod", lambda l: torch.cartesian_prod(*l), [x, y])
        case("combinations", torch.combinations, x)
        case("combinations", torch.combinations, x, 3)
        case("combinations", torch.combinations, x, with_replacement=True)
        case("diagflat", torch.diagflat, real(2, 3, dtype=dtype).t())
        case("diagflat", torch.diagflat, x, -2)
        case("column_stack", torch.column_stack, [real(4, 2, dtype=dtype), x])
        m = real(3, 4, dtype=dtype).t()
        case("select_scatter", torch.select_scatter, m, y, dim(0),
             Tagged("index", 2))
        case("diagonal_scatter", torch.diagonal_scatter, m, y)
        case("diagonal_scatter", torch.diagonal_scatter, m, y, -1)


def pointwise():
    for dtype in BOTH:
        x = real(4, 6, dtype=dtype)
        case("glu", F.glu, x)
        case("glu", F.glu, x, dim(0))
        case("glu", F.glu, real(3, 4, dtype=dtype).t(), dim=dim(0))
        case("threshold", F.threshold, x, 0.5, -2.0)
        case("threshold", F.threshold, real(4, 6, dtype=dtype).t(), 0.0, 7.0)
        case("polar", torch.polar, x.abs(), real(4, 6, dtype=dtype))
        case("cov", torch.cov, x)
        case("cov", torch.cov, x.t(), correction=0)
        case("corrcoef", torch.corrcoef, x)
        case("mvlgamma", torch.special.multigammaln, x.abs() + 2, 3)
        case("ndtr", torch.special.ndtr, x)
        case("i1", torch.special.i1, x)


def attention():
    call = F.scaled_dot_product_attention
    for dtype in BOTH:
        q, k = real(2, 3, 4, dtype=dtype), real(2, 5, 4, dtype=dtype)
        v = real(2, 5, 3, dtype=dtype)
        case("scaled_dot_product_attention", call, q, k, v)
        case("scaled_dot_product_attention", call, q, k, v, scale=0.75)
        case("scaled_dot_product_attention", call, q, k, v,
             real(3, 5, dtype=dtype))
        case("scaled_dot_product_attention", call, q, k, v,
             torch.tensor([[1, 0, 1, 1, 0], [0, 0, 1, 0, 0],
                           [1, 1, 1, 1, 1]]).bool())
        case("scaled_dot_product_attention", call, k, k, v, is_causal=True)
        case("scaled_dot_product_attention", call, q, k.mT.contiguous().mT,
             v.flip(1))


def unpooled():
    kinds = ((F.max_pool1d, F.max_unpool1d), (F.max_pool2d, F.max_unpool2d),
             (F.max_pool3d, F.max_unpool3d))
    for n, (pool, unpool) in enumerate(kinds, 1):
        name = "max_unpool%dd" % n
        for dtype in BOTH:
            x = real(2, 3, *(7, 6, 5)[:n], dtype=dtype)
            y = real(2, 3, *(6, 4, 8)[:n], dtype=dtype)
            v, at = pool(y, 2, return_indices=True)
            case(name, unpool, v, Index(at), 2)
            v, at = pool(x, 2, return_indices=True)
            case(name, unpool, v, Index(at), [2] * n,
                 output_size=Tagged("size", list(x.shape[2:])))
            case(name, unpool, v, Index(at), 2,
                 output_size=Tagged("size", list(x.shape)))
            v, at = pool(x[0], 2, 3, 1, return_indices=True)
            case(name, unpool, v, Index(at), 2, stride=3, padding=1,
                 output_size=Tagged("size", list(x.shape[2:])))
    x = real(2, 12, 4, dtype=torch.float64)
    case("fold", F.fold, x, Tagged("size", [4, 5]), Tagged("size", [3, 2]),
         padding=0, stride=Tagged("size", [1, 2]), dilation=1)
    case("fold", F.fold, real(8, 9), Tagged("size", [4, 4]),
         Tagged("size", [2, 2]))


if __name__ == "__main__":
    torch.manual_seed(21)
    write(sys.argv[1], (joined, pointwise, attention, unpooled))
