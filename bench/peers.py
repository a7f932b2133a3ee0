"""The cases of bench/run.lua in NumPy and PyTorch, one thread.
Prints a line per case: peer, case, seconds."""
import gc
import sys
import time

clock = time.perf_counter


def best(f):
    f()
    n = 1
    while True:
        t = clock()
        for _ in range(n):
            f()
        if clock() - t > 0.002:
            break
        n *= 2
    least = 1e30
    for _ in range(25):
        t = clock()
        for _ in range(n):
            f()
        least = min(least, (clock() - t) / n)
    return least


def mean(f):
    for _ in range(10000):
        f()
    r = range(300000)
    t = clock()
    for _ in r:
        f()
    return (clock() - t) / 300000


def numpy_cases():
    import numpy as np
    g = np.random.default_rng(7)
    rand = lambda *s: g.random(s, dtype=np.float32)
    a, b, m, sq, ten, k = rand(4), rand(4), rand(2, 2), rand(4, 4), rand(10), rand(1000)
    x6, y6, o6 = rand(10**6), rand(10**6), rand(10**6)
    x7, y7, o7 = rand(10**7), rand(10**7), rand(10**7)
    q = rand(1000, 1000)
    w = q[:512, :512]
    small = {
        "small_add": lambda: a + b, "small_add_": lambda: np.add(a, b, out=a),
        "small_add_number": lambda: a + 1, "small_view": lambda: a.reshape(2, 2),
        "small_slice": lambda: a[1:3], "small_t": lambda: m.T, "small_select": lambda: m[0],
        "small_item": lambda: a.item(1), "small_sum10": lambda: ten.sum(),
        "small_matmul4": lambda: sq @ sq,
        "small_from_list": lambda: np.array([1.0, 2.0, 3.0], dtype=np.float32),
        "small_add1000": lambda: k + k,
    }
    large = {
        "add_1e6_out": lambda: np.add(x6, y6, out=o6), "add_1e6_new": lambda: x6 + y6,
        "mul_1e6_out": lambda: np.multiply(x6, y6, out=o6), "exp_1e6_out": lambda: np.exp(x6, out=o6),
        "log_1e6_out": lambda: np.log(x6, out=o6), "sin_1e6_out": lambda: np.sin(x6, out=o6),
        "tanh_1e6_out": lambda: np.tanh(x6, out=o6), "sum_1e6": lambda: x6.sum(), "max_1e6": lambda: x6.max(),
        "copy_t_1000": lambda: np.ascontiguousarray(q.T), "add_bt_1000": lambda: q + q.T,
        "sort_1e6": lambda: np.sort(x6), "matmul_512": lambda: w @ w,
        "add_1e7_out": lambda: np.add(x7, y7, out=o7), "sum_1e7": lambda: x7.sum(),
        "exp_1e7_out": lambda: np.exp(x7, out=o7),
    }
    return small, large


def torch_cases():
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(7)
    rand = torch.rand
    a, b, m, sq, ten, k = rand(4), rand(4), rand(2, 2), rand(4, 4), rand(10), rand(1000)
    x6, y6, o6 = rand(10**6), rand(10**6), rand(10**6)
    x7, y7, o7 = rand(10**7), rand(10**7), rand(10**7)
    q = rand(1000, 1000)
    w = q[:512, :512]
    small = {
        "small_add": lambda: a + b, "small_add_": lambda: a.add_(b), "small_add_number": lambda: a + 1,
        "small_view": lambda: a.view(2, 2), "small_slice": lambda: a[1:3], "small_t": lambda: m.t(),
        "small_select": lambda: m[0], "small_item": lambda: a[1].item(), "small_sum10": lambda: ten.sum(),
        "small_matmul4": lambda: sq @ sq, "small_from_list": lambda: torch.tensor([1.0, 2.0, 3.0]),
        "small_add1000": lambda: k + k,
    }
    large = {
        "add_1e6_out": lambda: torch.add(x6, y6, out=o6), "add_1e6_new": lambda: x6 + y6,
        "mul_1e6_out": lambda: torch.mul(x6, y6, out=o6), "exp_1e6_out": lambda: torch.exp(x6, out=o6),
        "log_1e6_out": lambda: torch.log(x6, out=o6), "sin_1e6_out": lambda: torch.sin(x6, out=o6),
        "tanh_1e6_out": lambda: torch.tanh(x6, out=o6), "sum_1e6": lambda: x6.sum(), "max_1e6": lambda: x6.max(),
        "copy_t_1000": lambda: q.t().contiguous(), "add_bt_1000": lambda: q + q.t(),
        "sort_1e6": lambda: torch.sort(x6), "matmul_512": lambda: w @ w,
        "add_1e7_out": lambda: torch.add(x7, y7, out=o7), "sum_1e7": lambda: x7.sum(),
        "exp_1e7_out": lambda: torch.exp(x7, out=o7),
    }
    return small, large


for peer, make in (("numpy", numpy_cases), ("torch", torch_cases)):
    try:
        small, large = make()
    except ImportError:
        continue
    if peer == "torch":
        import torch
        torch.set_grad_enabled(False)
    for cases, timer in ((small, mean), (large, best)):
        for name, f in cases.items():
            print(peer, name, timer(f), flush=True)
            gc.collect()
sys.exit(0)
