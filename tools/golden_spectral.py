#!/usr/bin/env python3
"""Records of what eigenvalues and singular values give, by PyTorch:

    python3 tools/golden_spectral.py spec/golden

Only results that do not depend on the signs, phases and order of vectors.
"""
import sys

import torch

from golden import FIELDS, LOOSE, TOLERANCE, case, square, write


def values():
    L = torch.linalg
    for dtype in FIELDS:
        loose = LOOSE.get(dtype, TOLERANCE[dtype])

        def call(name, fn, *args, **kwargs):
            case(name, fn, *args, tol=loose, **kwargs)
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


if __name__ == "__main__":
    torch.manual_seed(21)
    write(sys.argv[1], (values,))
