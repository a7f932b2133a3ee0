"""GFLOP/s of NumPy's and PyTorch's matrix products, in the lines that
gemm.c prints: python gemm_peers.py threads dtype n ..."""
import os
import sys
import time

threads, dtype = int(sys.argv[1]), sys.argv[2]
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(threads)

import numpy
try:
    import torch
    torch.set_num_threads(threads)
except ImportError:
    torch = None


# One thread by its own clock, as gemm.c does.
clock = time.thread_time if threads == 1 else time.perf_counter


def best(call, flops):
    inner = max(1, int(2e-3 / (flops / 50e9 + 1e-6)))
    least, stop, rounds = 1e30, clock() + 0.4, 0
    while rounds < 5 or clock() < stop:
        start = clock()
        for _ in range(inner):
            call()
        least = min(least, (clock() - start) / inner)
        rounds += 1
    return least


for n in map(int, sys.argv[3:]):
    flops = 2.0 * n ** 3 * (4 if dtype.startswith("complex") else 1)
    random = numpy.random.default_rng(1)
    a = random.standard_normal((n, n)).astype(dtype)
    b = random.standard_normal((n, n)).astype(dtype)
    calls = {"numpy": lambda: a @ b}
    if torch:
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        calls["pytorch"] = lambda: x @ y
    for who, call in calls.items():
        t = best(call, flops)
        print(dtype, threads, n, who, "%.2f" % (flops / t / 1e9),
              "%.0f" % (t * 1e9), flush=True)
