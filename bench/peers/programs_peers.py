"""The cases of bench/programs.lua in jax.jit or PyTorch, one thread:
   python bench/peers/programs_peers.py jax|torch NUMBER
prints the least microseconds per call; nothing where there is no such case."""
import os
import sys
import time

os.environ["XLA_FLAGS"] = ("--xla_cpu_multi_thread_eigen=false "
                           "intra_op_parallelism_threads=1")
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
WHAT, NUMBER = sys.argv[1], int(sys.argv[2])


def jax_case(n):
    import jax
    import jax.numpy as np
    jax.config.update("jax_enable_x64", True)
    key = jax.random.PRNGKey(0)

    def rand(*sizes, dtype="float32"):
        return jax.random.uniform(key, sizes, dtype)

    def chain(x, y):
        return np.tanh((x * 1.5 + y) * y - x)

    def grad(f):
        return jax.grad(lambda *a: f(*a).sum())

    def layer_norm(x):
        c = x - x.mean(-1, keepdims=True)
        return c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5)

    def normal(x):
        return (1 + jax.scipy.special.erf(x * 0.7071067811865476)) * 0.5

    def scholes(s, k, t):
        root = np.sqrt(t) * 0.2
        d1 = (np.log(s / k) + t * 0.05) / root
        return s * normal(d1) - k * np.exp(t * -0.03) * normal(d1 - root)

    def bodies(p, v):
        d = p[None] - p[:, None]
        r = (d * d).sum(2, keepdims=True) + 0.01
        v = v + (d / (r * np.sqrt(r))).sum(1) * 0.001
        return p + v * 0.001, v

    def net(w, x):
        return np.maximum(x @ w[0] + w[1], 0) @ w[2] + w[3]

    def loss(w, x, y):
        z = jax.nn.log_softmax(net(w, x))
        return -np.take_along_axis(z, y[:, None], 1).mean()

    def train(w, x, y):
        value, g = jax.value_and_grad(loss)(w, x, y)
        return value, [a - 0.01 * b for a, b in zip(w, g)]

    w = [rand(64, 128), rand(128), rand(128, 10), rand(10)]
    y = np.zeros(64, "int32")
    big = rand(1000000)
    cases = [
        (chain, big, big), (chain, *[rand(300000, dtype="float64")] * 2),
        (jax.grad(lambda x, y: chain(x, y).sum(), (0, 1)),
         *[rand(300000)] * 2),
        (grad(lambda x: jax.nn.gelu(x, approximate=False)), rand(300000)),
        (grad(jax.nn.silu), rand(300000)),
        (grad(layer_norm), rand(512, 768)),
        (grad(lambda x: -jax.nn.log_softmax(x)[:, 0]), rand(512, 1000)),
        (scholes, big + 1, big + 1, big + 0.1),
        (bodies, rand(256, 3), rand(256, 3)),
        (lambda a, b: ((a[:, None] - b[None]) ** 2).sum(2), rand(512, 3),
         rand(512, 3)),
        (train, w, rand(64, 64), y), (net, w, rand(1, 64))]
    if n > len(cases):
        return None
    f = jax.jit(cases[n - 1][0])
    return lambda: jax.block_until_ready(f(*cases[n - 1][1:]))


def torch_case(n):
    import torch
    torch.set_num_threads(1)
    F = torch.nn.functional

    def grad(f, *args):
        leaves = [a.requires_grad_() for a in args]
        return lambda: torch.autograd.grad(f(*leaves).sum(), leaves)

    def chain(x, y):
        return torch.tanh((x * 1.5 + y) * y - x)

    def mlp():
        return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(),
                                   torch.nn.Linear(128, 10))

    def train():
        net, x = mlp(), torch.randn(64, 64)
        y = torch.zeros(64, dtype=torch.long)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)

        def step():
            opt.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
        return step

    def infer():
        net, x = mlp(), torch.randn(1, 64)

        def run():
            with torch.inference_mode():
                return net(x)
        return run

    a, b = torch.rand(1000000), torch.rand(1000000)
    d, e = torch.rand(300000).double(), torch.rand(300000).double()
    p, q = torch.randn(512, 3), torch.randn(512, 3)
    return {
        1: lambda: lambda: chain(a, b), 2: lambda: lambda: chain(d, e),
        3: lambda: grad(chain, torch.rand(300000), torch.rand(300000)),
        4: lambda: grad(F.gelu, torch.randn(300000)),
        5: lambda: grad(F.silu, torch.randn(300000)),
        6: lambda: grad(lambda x: F.layer_norm(x, (768,)),
                        torch.randn(512, 768)),
        7: lambda: grad(lambda x: -torch.log_softmax(x, 1)[:, 0],
                        torch.randn(512, 1000)),
        10: lambda: lambda: ((p[:, None] - q[None]) ** 2).sum(2),
        11: train, 12: infer,
    }.get(n, lambda: None)()


def least(f):
    f()
    n, spent = 1, 0
    while spent < 0.002:
        begun = time.perf_counter()
        for _ in range(n):
            f()
        spent = time.perf_counter() - begun
        n *= 2 if spent < 0.002 else 1
    times, stop = [], time.perf_counter() + 0.15
    while time.perf_counter() < stop or len(times) < 4:
        begun = time.perf_counter()
        for _ in range(n):
            f()
        times.append((time.perf_counter() - begun) / n)
    return min(times) * 1e6


case = jax_case(NUMBER) if WHAT == "jax" else torch_case(NUMBER)
if case:
    print(least(case))
