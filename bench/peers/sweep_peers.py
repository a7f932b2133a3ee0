"""The cases of bench/sweep_cases.lua in PyTorch, NumPy or jax.

    python bench/peers/sweep_peers.py PEER LIST.json [--threads N]

Prints {"version": ..., "results": {NAME: ns}}. A case that the peer does not
know under its usual name, or refuses, is left out.
"""
import argparse
import json
import os
import sys
import time
import warnings

NUMPY_NAMES = {
    "mul": "multiply", "sub": "subtract", "div": "divide", "neg": "negative",
    "eq": "equal", "ne": "not_equal",
    "lt": "less", "ge": "greater_equal", "asin": "arcsin", "acos": "arccos",
    "atan": "arctan", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2", "pow": "power",
    "bitwise_not": "invert",
    "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
    "clamp": "clip", "amax": "max",
    "amin": "min", "round": "rint", "conj_physical": "conjugate",
    "cat": "concatenate", "add": "add",
}


def quick(f):
    """As timing.quick in bench/timing.lua."""
    clock = time.perf_counter_ns
    stop = clock() + 20_000_000
    for _ in range(8):
        f()
        if clock() > stop:
            break
    n = 1
    while True:
        t = clock()
        for _ in range(n):
            f()
        if clock() - t > 500_000:
            break
        n *= 2
    least = float("inf")
    for _ in range(7):
        t = clock()
        for _ in range(n):
            f()
        least = min(least, (clock() - t) / n)
    return least


def array(a, g):
    import ml_dtypes
    import numpy as np
    kind, shape, fill = a["dtype"], a["shape"], a["fill"]
    dtype = ml_dtypes.bfloat16 if kind == "bfloat16" else np.dtype(kind)
    if fill == "index":
        x = g.integers(0, a["below"], shape)
    elif fill == "sorted" and "below" in a:
        x = np.sort(g.integers(0, a["below"], shape))
    elif fill == "shift":
        x = g.integers(0, 7, shape).astype(dtype)
    elif kind == "bool":
        x = g.random(shape) > 0.5
    elif kind.startswith("complex"):
        x = g.random(shape) + 1j * (g.random(shape) * 0.5 + 0.25)
        x = x.astype(dtype)
    elif "float" in kind:
        ranges = {"over": (0.9, 1.05), "sign": (1.8, -0.95)}
        scale, low = ranges.get(fill, (0.9, 0.05))
        x = (g.random(shape, np.float32) * scale + low).astype(dtype)
    else:
        x = g.integers(1, 100, shape).astype(dtype)
    if fill == "sorted" and "below" not in a:
        x = np.sort(x)
    if a.get("view") == "step":
        x = np.concatenate([x, x], -1)
    return x


def view(x, a):
    if a.get("view") == "t":
        return x.T
    return x[..., ::2] if a.get("view") == "step" else x


def torch_case(case, made):
    import ml_dtypes
    import numpy as np
    import torch
    t = []
    for x, a in zip(made, case["args"]):
        if x.dtype == ml_dtypes.bfloat16:
            x = torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
        else:
            x = torch.from_numpy(np.ascontiguousarray(x))
        t.append(view(x, a))
    x, op, dim, number = t[0], case["op"], case.get("dim"), case.get("number")
    if "to" in case:
        out = torch.empty(x.shape, dtype=getattr(torch, case["to"]))
        return lambda: out.copy_(x)
    if op == "contiguous":
        return x.contiguous
    functional = torch.nn.functional
    f = None
    for module in (torch, functional, torch.special, torch._C._nn,
                   torch.Tensor):
        f = f or getattr(module, op, None)
    if op == "gelu" and case.get("out"):
        f = torch._C._nn.gelu
    if op == "argsort":
        return lambda: torch.argsort(x, dim=dim)
    if case.get("list"):
        return lambda: f(t, dim)
    if "dims" in case:
        return lambda: f(x, case["dims"])
    if "pads" in case:
        return lambda: functional.pad(x, case["pads"])
    if dim is not None and len(t) > 1:
        return lambda: f(x, dim, *t[1:])
    if dim is not None:
        if op in ("norm", "logsumexp"):
            return lambda: f(x, dim=dim)
        return lambda: f(x, dim)
    args = t + ([number] if number is not None else [])
    if case.get("out"):
        out = f(*args).contiguous()
        try:
            f(*args, out=out)
        except TypeError:
            return lambda: f(*args)
        return lambda: f(*args, out=out)
    return lambda: f(*args)


def array_case(xp, case, made, jit):
    import numpy as np
    if xp is np and "bfloat16" in (case["args"][0]["dtype"], case.get("to"),
                                   case.get("what")):
        return None
    op, dim, number = case["op"], case.get("dim"), case.get("number")
    arrays = [view(x, a) for x, a in zip(made, case["args"])]
    if jit:
        import jax
        if op in ("scatter", "scatter_add", "index_add", "nonzero",
                  "masked_select", "unique"):
            return None
        dtype = case["args"][0]["dtype"]
        if dtype not in ("float32", "int32", "bfloat16") \
                or "float64" in (case.get("to"), case.get("what")):
            return None
        arrays = [jax.device_put(np.ascontiguousarray(x)) for x in made]

        def done(f):
            def seen(*xs):
                return f(*[view(x, a) for x, a in zip(xs, case["args"])])
            compiled = jax.jit(seen)
            return lambda: jax.block_until_ready(compiled(*arrays))
    else:
        def done(f):
            return lambda: f(*arrays)
    x = arrays[0]
    name = NUMPY_NAMES.get(op, op)
    if "to" in case:
        if xp is np:
            out = np.empty(x.shape, case["to"])
            return lambda: np.copyto(out, x)
        return done(lambda v: v.astype(case["to"]))
    if op == "contiguous":
        if xp is np:
            return lambda: np.ascontiguousarray(x)
        return done(lambda v: v + 0)
    if case.get("list"):
        f = getattr(xp, name)
        return done(lambda *v: f(v, axis=dim))
    if "dims" in case:
        return done(lambda v: xp.flip(v, case["dims"][0]).copy())
    if "pads" in case:
        last = [tuple(case["pads"])]
        return done(lambda v: xp.pad(v, [(0, 0)] * (v.ndim - 1) + last))
    if op in ("roll", "repeat_interleave"):
        f = xp.roll if op == "roll" else xp.repeat
        return done(lambda v: f(v, number))
    if op in ("index_select", "take"):
        return done(lambda v, i: xp.take(v, i, axis=dim))
    if op == "gather":
        return done(lambda v, i: xp.take_along_axis(v, i, axis=dim))
    if op == "masked_select":
        return lambda: x[arrays[1]]
    if op == "masked_fill":
        return done(lambda v, m: xp.where(m, xp.asarray(number, v.dtype), v))
    if op == "bincount":
        return (lambda: np.bincount(x)) if xp is np else None
    if op in ("sort", "argsort", "median", "unique", "searchsorted", "nonzero",
              "cumsum", "cumprod", "any", "all",
              "sum", "mean", "prod", "amax", "amin", "argmax", "argmin", "var",
              "std", "count_nonzero"):
        f = getattr(xp, name)
        if op in ("cumsum", "cumprod") and not jit and dim is not None \
                and "int" in str(x.dtype):
            return done(lambda v: f(v, axis=dim, dtype="int64"))
        if op in ("unique", "searchsorted", "nonzero"):
            return done(f)
        return done(lambda v: f(v, axis=dim))
    if jit:
        import jax
        f = getattr(xp, name, None) or getattr(jax.nn, op, None) \
            or getattr(jax.scipy.special, op, None)
    else:
        f = getattr(np, name, None)
    rows = ("softmax", "log_softmax", "logsumexp")
    if f is None or case["name"].split()[0] == "reduction" and op not in rows:
        return None
    if op in ("softmax", "log_softmax", "logsumexp"):
        return done(lambda v: f(v, axis=dim))
    if number is not None:
        if not jit:
            n = np.asarray(number, x.dtype)[()]
            out = f(x, n)
            return lambda: f(x, n, out=out)
        return done(lambda v: f(v, number))
    if case.get("out") and not jit:
        out = np.ascontiguousarray(f(*arrays))
        if op == "where":
            return lambda: f(*arrays)
        return lambda: f(*arrays, out=out)
    return done(f)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=("torch", "numpy", "jax"))
    parser.add_argument("list")
    parser.add_argument("--threads", type=int, default=1)
    option = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(option.threads)
    warnings.simplefilter("ignore")
    import numpy as np
    if option.peer == "torch":
        import torch
        torch.set_num_threads(option.threads)
        torch.set_grad_enabled(False)
        version = torch.__version__
    elif option.peer == "jax":
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        import jax.numpy as jnp
        version = jax.__version__
    else:
        version = np.__version__
    with open(option.list) as file:
        cases = json.load(file)
    results = {}
    for case in cases:
        g = np.random.default_rng(7)
        made = [array(a, g) for a in case["args"]]
        try:
            if option.peer == "torch":
                f = torch_case(case, made)
            elif option.peer == "jax":
                f = array_case(jnp, case, made, True)
            else:
                f = array_case(np, case, made, False)
            if f is not None:
                results[case["name"]] = quick(f)
        except Exception as error:  # refused: another dtype, another name
            print(case["name"], "-", option.peer, str(error)[:80],
                  file=sys.stderr)
    print(json.dumps({"version": version, "results": results}))


main()
