"""The cases of bench/cases.json in NumPy, PyTorch, jax and numexpr.

    python bench/peers/peers.py PEER [--threads N] [--cases REGEX]
        [--budget SECONDS]

One process is one peer, so that no thread pool disturbs another. Prints
{"version": ..., "results": {NAME: {"min": ns, "median": ns}}}. A case that the
peer can't do, or only by another way than a user would, is left out.
"""
import argparse
import gc
import json
import os
import re
import statistics
import sys
import time

clock = time.perf_counter_ns
F = {"half": 0.5, "one": 1.0, "pow": 2.5, "r2": 0.7071067811865475, "eps": 1e-5}


# ---- timing: as bench/timing.lua ----

def batches(f, budget):
    f()
    warm = clock() + 20_000_000
    while clock() < warm:
        f()
    n = 1
    while True:
        start = clock()
        for _ in range(n):
            f()
        spent = clock() - start
        if spent > 2_000_000:
            break
        n *= 2
    times, stop = [], clock() + int(budget * 1e9)
    least = 7 if spent < 1e8 else 4
    while (clock() < stop or len(times) < least) and len(times) < 200:
        start = clock()
        for _ in range(n):
            f()
        times.append((clock() - start) / n)
    return {"min": min(times), "median": statistics.median(times)}


def frames(f, n=5000):
    for _ in range(50):
        f()
    times = []
    for _ in range(n):
        start = clock()
        f()
        times.append(clock() - start)
    times.sort()
    return {"min": times[0], "median": times[n // 2], "p50": times[n // 2],
            "p99": times[n - n // 100], "max": times[-1]}


def growth(f, n=1000):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096 / 2**20
    for _ in range(5):
        f()
    start = peak = resident()
    t = clock()
    for i in range(n):
        f()
        if i % 50 == 0:
            peak = max(peak, resident())
    mean = (clock() - t) / n
    return {"min": mean, "median": mean, "rss_growth_mib": resident() - start,
            "rss_peak_growth_mib": peak - start}


def inputs(case):
    """NumPy arrays; other peers convert them."""
    import numpy as np
    g = np.random.default_rng(7)
    made = []
    for shape in case["shapes"]:
        x = g.random(shape, dtype=np.float32)
        x = x * np.float32(0.9) + np.float32(0.05)
        kind = case["dtype"]
        if kind in ("int32", "uint8"):
            x = (x * 100).astype(kind)
        elif kind in ("complex64", "complex128"):
            x = (x + 1j * x[::-1]).astype(kind)
        elif kind == "bool":
            x = np.full(shape, case["op"] != "any")
        elif kind in ("float64", "float16"):
            x = x.astype(kind)
        made.append(x)
    if case["op"] == "where":
        made[0] = made[0] > 0.5
    if case["group"] == "linalg":
        n = made[0].shape[-1]
        made[0] = ((made[0] + made[0].swapaxes(-1, -2)) / 2
                   + n * np.eye(n, dtype=made[0].dtype))
    if case["op"] == "blackscholes":
        made = [made[0] * 50 + 75, made[1] * 50 + 75, made[2] + np.float32(0.1)]
    return made + [None] * (3 - len(made))


def labels(x):
    import numpy as np
    return np.random.default_rng(3).integers(0, 10, x.shape[0])


# ---- NumPy, and SciPy for signals ----

def scipy_case(op, x, y):
    try:
        import scipy.signal as S
    except ImportError:
        return None
    sos = S.butter(8, 0.3, output="sos").astype(x.dtype)
    return {"sosfilt": lambda: S.sosfilt(sos, x),
            "find_peaks": lambda: S.find_peaks(x, prominence=0.5, width=1),
            "medfilt": lambda: S.medfilt(x, 5),
            "savgol": lambda: S.savgol_filter(x, 21, 3),
            "resample_poly": lambda: S.resample_poly(x, 3, 2),
            "convolve": lambda: S.convolve(x, y)}.get(op)


def numpy_case(case):
    import numpy as np
    op, form, dim = case["op"], case["variant"], case.get("dim")
    if case["group"] == "signal":
        return scipy_case(op, *inputs(case)[:2])
    if "bfloat16" in (case["dtype"], case.get("out_dtype")):
        return None
    if op == "matmul" and case["dtype"] == "float16":
        return None
    x, y, z = inputs(case)
    c = {k: np.float32(v) for k, v in F.items()}
    ufuncs = {"exp": (np.exp, x), "log": (np.log, x), "sin": (np.sin, x),
              "tanh": (np.tanh, x),
              "sqrt": (np.sqrt, x), "pow2.5": (np.power, x, c["pow"]),
              "add": (np.add, x, y),
              "mul": (np.multiply, x, y), "lt": (np.less, x, y)}
    if op == "add_bt":
        ufuncs[op] = (np.add, x, y.T)
    if op == "add_strided":
        ufuncs[op] = (np.add, x[::2], y)
    if op in ufuncs:
        f, *args = ufuncs[op]
        if form == "inplace":
            return lambda: f(*args, out=x)
        if form == "out":
            out = f(*args, order="C")
            return lambda: f(*args, out=out)
        if op == "add":
            return lambda: x + y
        return lambda: f(*args, order="C")
    if form == "out":
        if op in ("cast", "copy_t"):
            source = x if op == "cast" else x.T
            out = np.empty(source.shape, case.get("out_dtype", x.dtype))
            return lambda: np.copyto(out, source)
        return None
    if op in ("erf", "gelu", "blackscholes"):
        from scipy.special import erf
    w = np.random.default_rng(1)
    if op == "infer":
        w1, b1, w2, b2 = (w.random(s, np.float32)
                          for s in ((64, 128), 128, (128, 10), 10))

    def softmax():
        e = np.exp(x - x.max(1, keepdims=True))
        e /= e.sum(1, keepdims=True)
        return e

    def layernorm():
        m, v = x.mean(1, keepdims=True), x.var(1, keepdims=True)
        return (x - m) / np.sqrt(v + c["eps"]) * y + z

    def blackscholes():
        def normal(d):
            return c["half"] * (c["one"] + erf(d * c["r2"]))
        root = np.float32(0.3) * np.sqrt(z)
        d1 = (np.log(x / y) + np.float32(0.065) * z) / root
        discount = np.exp(np.float32(-0.02) * z)
        return x * normal(d1) - y * discount * normal(d1 - root)

    if op == "particles":
        pos, vel = x.copy(), y - c["half"]
        step, bounced = np.empty_like(pos), np.empty_like(vel)
        low, high = np.empty(pos.shape, bool), np.empty(pos.shape, bool)
        drag, dt, fall, zero, one = (np.float32(v)
                                     for v in (0.999, 0.016, 0.0016, 0, 1))

        def frame():
            nonlocal vel
            np.multiply(vel, drag, out=vel)
            vel[:, 1] -= fall
            np.multiply(vel, dt, out=step)
            np.add(pos, step, out=pos)
            np.less(pos, zero, out=low)
            np.greater(pos, one, out=high)
            np.logical_or(low, high, out=low)
            np.negative(vel, out=bounced)
            np.copyto(vel, bounced, where=low)
            np.clip(pos, zero, one, out=pos)
        return frame
    if op == "rssloop":
        state = [x]

        def grow():
            state[0] = state[0] + y
        return grow
    plain = {
        "empty": lambda: None, "adds": lambda: x + 1,
        "view": lambda: x.reshape(2, 2),
        "slice": lambda: x[1:3], "transpose": lambda: x.T,
        "select": lambda: x[0],
        "item": lambda: x.item(1),
        "fromlist": lambda: np.array([1.0, 2.0, 3.0], np.float32),
        "sigmoid": lambda: c["one"] / (c["one"] + np.exp(-x)),
        "erf": lambda: erf(x),
        "gelu": lambda: c["half"] * x * (c["one"] + erf(x * c["r2"])),
        "where": lambda: np.where(x, y, z),
        "cast": lambda: x.astype(case["out_dtype"]),
        "copy_t": lambda: np.ascontiguousarray(x.T), "copy": lambda: x.copy(),
        "fill": lambda: x.fill(3.0), "norm": lambda: np.linalg.norm(x),
        "softmax": softmax,
        "cumsum": lambda: np.cumsum(x), "sort": lambda: np.sort(x),
        "argsort": lambda: np.argsort(x),
        "topk": lambda: np.sort(np.partition(x, -case["k"])[-case["k"]:]),
        "inv": lambda: np.linalg.inv(x),
        "solve": lambda: np.linalg.solve(x, y),
        "cholesky": lambda: np.linalg.cholesky(x),
        "qr": lambda: np.linalg.qr(x),
        "eigh": lambda: np.linalg.eigh(x),
        "svd": lambda: np.linalg.svd(x),
        "fft": lambda: np.fft.fft(x), "rfft": lambda: np.fft.rfft(x),
        "irfft": lambda: np.fft.irfft(x), "fft2": lambda: np.fft.fft2(x),
        "fft_columns": lambda: np.fft.fft(x, axis=0),
        "matmul": lambda: x @ y, "bmm": lambda: x @ y,
        "matmul_nt": lambda: x @ y.T,
        "linear": lambda: x @ y.T + z, "layernorm": layernorm,
        "blackscholes": blackscholes,
        "chain": lambda: np.tanh(np.float32(1.1) * x + np.float32(0.3))
        * np.float32(0.7) + x * x,
        "infer": lambda: np.maximum(x @ w1 + b1, np.float32(0)) @ w2 + b2,
    }
    if op in ("sum", "mean", "var", "any", "all", "argmax", "max"):
        f = getattr(np, op)
        return (lambda: f(x)) if dim is None else (lambda: f(x, axis=dim))
    return plain.get(op)


# ---- PyTorch ----

def torch_net(torch, op):
    nn = torch.nn
    torch.manual_seed(1)
    if op == "logreg":
        return nn.Linear(784, 10)
    if op == "conv":
        return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(),
                             nn.Linear(1352, 10))
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def torch_case(case):
    import numpy as np
    import torch
    op, form, dim = case["op"], case["variant"], case.get("dim")
    torch.set_grad_enabled(op in ("autograd", "mlp", "logreg", "conv"))
    x, y, z = (None if v is None else torch.from_numpy(np.ascontiguousarray(v))
               for v in inputs(case))
    if op == "istft":
        z = torch.stft(x, 1024, window=torch.hann_window(1024),
                       return_complex=True)
    if case["dtype"] == "bfloat16":
        x, y, z = (None if v is None else v.bfloat16() for v in (x, y, z))
    with_out = {"exp": (torch.exp, x), "log": (torch.log, x),
                "sin": (torch.sin, x), "tanh": (torch.tanh, x),
                "sigmoid": (torch.sigmoid, x), "sqrt": (torch.sqrt, x),
                "erf": (torch.erf, x),
                "pow2.5": (torch.pow, x, 2.5), "add": (torch.add, x, y),
                "mul": (torch.mul, x, y),
                "lt": (torch.lt, x, y), "where": (torch.where, x, y, z)}
    if op == "gelu":
        with_out[op] = (torch._C._nn.gelu, x)
    if op == "add_bt":
        with_out[op] = (torch.add, x, y.t())
    if op == "add_strided":
        with_out[op] = (torch.add, x[::2], y)
    if op in with_out:
        f, *args = with_out[op]
        if form == "inplace":
            return lambda: x.add_(y)
        if form == "out":
            out = f(*args).contiguous()
            return lambda: f(*args, out=out)
        return (lambda: x + y) if op == "add" else (lambda: f(*args))
    if op in ("cast", "copy_t"):
        source = x if op == "cast" else x.t()
        dtype = getattr(torch, case.get("out_dtype") or case["dtype"])
        if form == "out":
            out = torch.empty(source.shape, dtype=dtype)
            return lambda: out.copy_(source)
        if op == "cast":
            return lambda: x.to(dtype)
        return source.contiguous
    if op in ("sum", "mean", "var", "any", "all", "argmax", "max"):
        f = getattr(torch, op)
        return (lambda: f(x)) if dim is None else (lambda: f(x, dim))
    if op in ("mlp", "logreg", "conv"):
        net, target = torch_net(torch, op), torch.from_numpy(labels(x))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)

        def step():
            opt.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(net(x), target).backward()
            opt.step()
        return step
    if op == "autograd":
        y.requires_grad_()
        z.requires_grad_()

        def both():
            y.grad = z.grad = None
            (x * y + z).tanh().sum().backward()
        return both
    if op == "rssloop":
        state = [x]

        def grow():
            state[0] = state[0] + y
        return grow
    if op == "particles":
        pos, vel = x.clone(), y - 0.5
        fall = vel[:, 1]

        def frame():
            vel.mul_(0.999)
            fall.sub_(0.0016)
            pos.add_(vel, alpha=0.016)
            hit = (pos < 0) | (pos > 1)
            vel.copy_(torch.where(hit, -vel, vel))
            pos.clamp_(0, 1)
        return frame
    net = torch_net(torch, op) if op == "infer" else None
    images = torch.nn.functional
    if op == "grid_sample":
        affine = torch.tensor([[[0.9, 0.2, 0.1], [-0.2, 0.9, 0]]])
        grid = images.affine_grid(affine.expand(len(x), 2, 3), x.shape,
                                  align_corners=False)

    def layernorm():
        m, v = x.mean(1, keepdim=True), x.var(1, keepdim=True, correction=0)
        return (x - m) / torch.sqrt(v + 1e-5) * y + z

    def blackscholes():
        def normal(d):
            return 0.5 * (1 + torch.erf(d * F["r2"]))
        root = 0.3 * torch.sqrt(z)
        d1 = (torch.log(x / y) + 0.065 * z) / root
        return x * normal(d1) - y * torch.exp(-0.02 * z) * normal(d1 - root)

    return {
        "empty": lambda: None, "adds": lambda: x + 1,
        "view": lambda: x.view(2, 2),
        "slice": lambda: x[1:3], "transpose": lambda: x.t(),
        "select": lambda: x[0],
        "item": lambda: x[1].item(),
        "fromlist": lambda: torch.tensor([1.0, 2.0, 3.0]),
        "copy": lambda: x.clone(), "fill": lambda: x.fill_(3.0),
        "norm": lambda: torch.norm(x),
        "softmax": lambda: torch.softmax(x, 1),
        "cumsum": lambda: torch.cumsum(x, 0),
        "sort": lambda: torch.sort(x), "argsort": lambda: torch.argsort(x),
        "topk": lambda: torch.topk(x, case["k"]),
        "inv": lambda: torch.linalg.inv(x),
        "solve": lambda: torch.linalg.solve(x, y),
        "cholesky": lambda: torch.linalg.cholesky(x),
        "lu_factor": lambda: torch.linalg.lu_factor(x),
        "qr": lambda: torch.linalg.qr(x),
        "eigh": lambda: torch.linalg.eigh(x),
        "svd": lambda: torch.linalg.svd(x),
        "stft": lambda: torch.stft(x, 1024, window=torch.hann_window(1024),
                                   return_complex=True),
        "istft": lambda: torch.istft(z, 1024, window=torch.hann_window(1024)),
        "fft": lambda: torch.fft.fft(x), "rfft": lambda: torch.fft.rfft(x),
        "irfft": lambda: torch.fft.irfft(x),
        "fft2": lambda: torch.fft.fft2(x),
        "fft_columns": lambda: torch.fft.fft(x, dim=0),
        "matmul": lambda: torch.matmul(x, y),
        "bmm": lambda: torch.bmm(x, y),
        "matmul_nt": lambda: torch.matmul(x, y.t()),
        "linear": lambda: torch.nn.functional.linear(x, y, z),
        "interpolate": lambda: images.interpolate(
            x, case["size"], mode=case["mode"],
            antialias=case.get("antialias", False)),
        "grid_sample": lambda: images.grid_sample(
            x, grid, mode=case["mode"], align_corners=False),
        "layernorm": layernorm,
        "blackscholes": blackscholes, "infer": lambda: net(x),
        "chain": lambda: torch.tanh(1.1 * x + 0.3) * 0.7 + x * x,
    }.get(op)


# ---- jax: compiled, values not donated ----

def jax_case(case):
    import jax
    import jax.numpy as jnp
    import numpy as np
    jax.config.update("jax_enable_x64", True)
    op, dim = case["op"], case.get("dim")
    if case["variant"] != "new":
        return None
    x, y, z = (None if v is None else jnp.asarray(v) for v in inputs(case))
    if case["dtype"] == "bfloat16":
        x, y, z = (None if v is None else v.astype(jnp.bfloat16)
                   for v in (x, y, z))

    def ready(f, *args):
        g = jax.jit(f)
        jax.block_until_ready(g(*args))
        return lambda: jax.block_until_ready(g(*args))

    def layernorm(a, w, b):
        m, v = a.mean(1, keepdims=True), a.var(1, keepdims=True)
        return (a - m) / jnp.sqrt(v + 1e-5) * w + b

    def blackscholes(s, k, t):
        def normal(d):
            return 0.5 * (1 + jax.scipy.special.erf(d * F["r2"]))
        root = 0.3 * jnp.sqrt(t)
        d1 = (jnp.log(s / k) + 0.065 * t) / root
        return s * normal(d1) - k * jnp.exp(-0.02 * t) * normal(d1 - root)

    one = {"exp": jnp.exp, "log": jnp.log, "sin": jnp.sin, "tanh": jnp.tanh,
           "sqrt": jnp.sqrt,
           "sigmoid": jax.nn.sigmoid, "erf": jax.scipy.special.erf,
           "gelu": lambda a: jax.nn.gelu(a, approximate=False),
           "pow2.5": lambda a: a ** jnp.float32(2.5),
           "adds": lambda a: a + 1, "view": lambda a: a.reshape(2, 2),
           "slice": lambda a: a[1:3],
           "transpose": lambda a: a.T, "select": lambda a: a[0],
           "copy_t": lambda a: a.T,
           "cast": lambda a: a.astype(case["out_dtype"]), "cumsum": jnp.cumsum,
           "sort": jnp.sort,
           "argsort": jnp.argsort, "norm": jnp.linalg.norm,
           "softmax": lambda a: jax.nn.softmax(a, axis=1),
           "topk": lambda a: jax.lax.top_k(a, case["k"])[0],
           "chain": lambda a: jnp.tanh(1.1 * a + 0.3) * 0.7 + a * a}
    two = {"add": jnp.add, "mul": jnp.multiply, "lt": jnp.less,
           "matmul": jnp.matmul, "bmm": jnp.matmul,
           "matmul_nt": lambda a, b: a @ b.T, "add_bt": lambda a, b: a + b.T,
           "add_strided": lambda a, b: a[::2] + b}
    three = {"where": jnp.where, "linear": lambda a, w, b: a @ w.T + b,
             "layernorm": layernorm,
             "blackscholes": blackscholes}
    if op in one:
        return ready(one[op], x)
    if op in two:
        return ready(two[op], x, y)
    if op in three:
        return ready(three[op], x, y, z)
    if op in ("sum", "mean", "var", "any", "all", "argmax", "max"):
        return ready(lambda a: getattr(jnp, op)(a, axis=dim), x)
    if op == "item":
        return lambda: x[1].item()
    if op == "fromlist":
        return lambda: jnp.array([1.0, 2.0, 3.0], jnp.float32)
    if op == "autograd":
        grad = jax.jit(jax.grad(lambda w, b: jnp.tanh(x * w + b).sum(),
                                argnums=(0, 1)))
        return lambda: jax.block_until_ready(grad(y, z))
    if op in ("mlp", "logreg", "conv", "infer"):
        return jax_network(jax, jnp, np, op, x, ready)
    if op == "particles":
        def move(pos, vel):
            vel = (vel * 0.999).at[:, 1].add(-0.0016)
            pos = pos + vel * 0.016
            hit = (pos < 0) | (pos > 1)
            return jnp.clip(pos, 0, 1), jnp.where(hit, -vel, vel)
        g, state = jax.jit(move, donate_argnums=(0, 1)), [jnp.array(x), y - 0.5]

        def frame():
            state[:] = g(*state)
            jax.block_until_ready(state)
        return frame
    return {"empty": lambda: None}.get(op)


def jax_network(jax, jnp, np, op, x, ready):
    g = np.random.default_rng(1)

    def weights(*shape):
        return jnp.asarray((g.random(shape, np.float32) - np.float32(0.5))
                           * np.float32(0.1))
    if op == "logreg":
        params = [weights(784, 10), weights(10)]

        def net(p, a):
            return a @ p[0] + p[1]
    elif op == "conv":
        params = [weights(8, 1, 3, 3), weights(8), weights(1352, 10),
                  weights(10)]

        def net(p, a):
            h = jax.lax.conv_general_dilated(a, p[0], (1, 1), "VALID")
            h = h + p[1][None, :, None, None]
            h = jax.lax.reduce_window(jax.nn.relu(h), -jnp.inf, jax.lax.max,
                                      (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
            return h.reshape(h.shape[0], -1) @ p[2] + p[3]
    else:
        params = [weights(64, 128), weights(128), weights(128, 10), weights(10)]

        def net(p, a):
            return jax.nn.relu(a @ p[0] + p[1]) @ p[2] + p[3]
    if op == "infer":
        return ready(net, params, x)
    target = jnp.asarray(labels(x))

    def loss(p):
        rows = jax.nn.log_softmax(net(p, x))
        return -jnp.take_along_axis(rows, target[:, None], 1).mean()
    update = jax.jit(
        lambda p: [a - 0.1 * d for a, d in zip(p, jax.grad(loss)(p))],
        donate_argnums=0)
    state = [update(params)]

    def step():
        state[0] = update(state[0])
        jax.block_until_ready(state[0])
    return step


# ---- numexpr: element-wise expressions ----

def numexpr_case(case):
    import numexpr
    import numpy as np
    numexpr.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    text = {"add": "x+y", "mul": "x*y", "lt": "x<y", "exp": "exp(x)",
            "log": "log(x)", "sin": "sin(x)",
            "tanh": "tanh(x)", "pow2.5": "x**h", "sqrt": "sqrt(x)",
            "sigmoid": "o/(o+exp(-x))",
            "where": "where(x,y,z)", "add_strided": "x+y",
            "chain": "tanh(a*x+b)*c+x*x"}.get(case["op"])
    if not text or case["dtype"] not in ("float32", "float64", "int32") \
            or case["variant"] == "inplace" \
            or case["group"] == "small":
        return None
    x, y, z = inputs(case)
    names = {"x": x[::2] if case["op"] == "add_strided" else x, "y": y, "z": z,
             "h": np.float32(2.5),
             "o": np.float32(1), "a": np.float32(1.1), "b": np.float32(0.3),
             "c": np.float32(0.7)}
    used = {k: v for k, v in names.items() if re.search(r"\b%s\b" % k, text)}
    if case["variant"] == "out":
        out = numexpr.evaluate(text, used)
        return lambda: numexpr.evaluate(text, used, out=out)
    return lambda: numexpr.evaluate(text, used)


PEERS = {"numpy": numpy_case, "torch": torch_case, "jax": jax_case,
         "numexpr": numexpr_case}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("peer", choices=PEERS)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--cases", default="")
    p.add_argument("--budget", type=float, default=0.15)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    p.add_argument("--list", default=os.path.join(here, "cases.json"))
    option = p.parse_args()
    for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR"):
        os.environ[name + "_NUM_THREADS"] = str(option.threads)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if option.threads == 1:
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + (
            " --xla_cpu_multi_thread_eigen=false "
            "intra_op_parallelism_threads=1")
    try:
        module = __import__(option.peer)
    except ImportError:
        print(json.dumps({"version": None, "results": {}}))
        return
    if option.peer == "torch":
        module.set_num_threads(option.threads)
    results = {}
    with open(option.list) as file:
        wanted = [c for c in json.load(file)["cases"]
                  if re.search(option.cases, c["name"])]
    for case in wanted:
        try:
            f = PEERS[option.peer](case)
            if f:
                gc.collect()
                gc.disable()
                way = {"frames": frames, "rssloop": growth,
                       "particles": frames}.get(case["op"])
                results[case["name"]] = (
                    way(f) if way else batches(f, option.budget))
        except Exception as error:  # one case must not lose the others
            print(option.peer, case["name"], repr(error)[:150], file=sys.stderr)
        finally:
            gc.enable()
    print(json.dumps({"version": module.__version__, "results": results}))


main()
