#!/usr/bin/env python3
"""Records of what eigenvalues and singular values give, by PyTorch:

    python3 tools/golden/spectral.py spec/golden

Only results that do not depend on the signs, phases and order of vectors.
"""
import sys

import torch

from golden import FIELDS, Tagged, looser, square, write


def values():
    L = torch.linalg
    for dtype in FIELDS:
        call = looser(dtype)
        n = 20 if dtype in (torch.float32, torch.complex128) else 9
        for shape in ((3, 3), (2, 4, 4), (n, n), (3, 5), (2, 5, 3),
                      (n - 2, n), (0, 0), (0, 3, 3), (4, 0)):
            x = square(*shape, dtype=dtype)
            call("svdvals", L.svdvals, x)
            call("svdvals", L.svdvals, x.mT)
            if shape[-1] != shape[-2]:
                continue
            # of one triangle: no records to draw samples of derivatives from
            call("eigvalsh", L.eigvalsh, x, file="eigvalsh_values")
            call("eigvalsh", L.eigvalsh, x, "U", file="eigvalsh_values")


def functions():
    L = torch.linalg
    for dtype in FIELDS:
        call = looser(dtype)
        one, some = square(3, 3, dtype=dtype), square(2, 4, 4, dtype=dtype)
        tall, large = square(2, 5, 3, dtype=dtype), square(9, 11, dtype=dtype)
        rank2 = tall[0] @ square(3, 2, dtype=dtype) @ square(2, 5, dtype=dtype)
        rank2 = rank2 / rank2.abs().max()
        for x in (one, some, tall, tall.mT, large, square(0, 3, dtype=dtype)):
            call("pinv", L.pinv, x)
            call("matrix_rank", L.matrix_rank, x)
            for order in (2, -2, "nuc"):
                if order == -2 and x.numel() == 0:
                    continue
                call("matrix_norm", L.matrix_norm, x, order,
                     file="spectral_norms")
                call("linalg_norm", L.norm, x, order, Tagged("dims", [-2, -1]),
                     file="spectral_norms")
                if order != "nuc":
                    call("cond", L.cond, x, order, file="spectral_norms")
            call("cond", L.cond, x, file="spectral_norms")
        for x in (rank2, rank2 @ rank2, one - one):
            call("pinv", L.pinv, x, rtol=1e-3, file="pinv_rank")
            call("pinv", L.pinv, x, rtol=1e-3, atol=0.1, file="pinv_rank")
            call("pinv", L.pinv, x, atol=0.01, file="pinv_rank")
            call("matrix_rank", L.matrix_rank, x, rtol=1e-3)
            call("matrix_rank", L.matrix_rank, x, atol=0.01)
            call("matrix_rank", L.matrix_rank, x, rtol=1e-4, atol=0.01)
        for x in (one, some, rank2 @ rank2.mH):
            y = x + x.mH
            call("pinv", L.pinv, y, rtol=1e-3, hermitian=True,
                 file="pinv_rank")
            call("matrix_rank", L.matrix_rank, y, hermitian=True, rtol=1e-3)
        call("pinverse", torch.pinverse, some)
        call("pinverse", torch.pinverse, some, 0.5, file="pinv_rank")
        for x, y in ((tall, square(2, 5, 2, dtype=dtype)),
                     (tall.mT, square(2, 3, 2, dtype=dtype)),
                     (large, square(9, 1, dtype=dtype))):
            for driver in ("gelsd", "gelss"):
                call("lstsq", L.lstsq, x, y, driver=driver,
                     file="lstsq_drivers")
        call("cond", L.cond, some, "nuc", file="spectral_norms")
        call("norm", torch.norm, one, "nuc", file="spectral_norms")
        for d in ((0, 1), (2, 0), (1, -1)):
            for keep in (False, True):
                for order in (2, -2, "nuc"):
                    call("matrix_norm", L.matrix_norm, tall, order,
                         Tagged("dims", list(d)), keep, file="spectral_norms")
                call("norm", torch.norm, tall, "nuc", Tagged("dims", list(d)),
                     keep, file="spectral_norms")


if __name__ == "__main__":
    torch.manual_seed(21)
    write(sys.argv[1], (values, functions))
