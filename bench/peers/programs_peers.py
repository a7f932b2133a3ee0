"""The cases of bench/programs.lua in jax.jit or PyTorch, one thread:
   python bench/peers/programs_peers.py jax|torch|compile NUMBER...
prints the least microseconds of processor time per call, a line for each
number. 'compile' is torch.compile, 'torch' PyTorch's eager mode."""
import os
import sys
import time

os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                           + " --xla_cpu_multi_thread_eigen=false "
                           "intra_op_parallelism_threads=1")
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
WHAT = sys.argv[1]


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

    def conv_net(w, x):
        a = jax.lax.conv_general_dilated(x, w[0], (1, 1), "VALID")
        a = np.maximum(a + w[1][:, None, None], 0)
        a = jax.lax.reduce_window(a, -np.inf, jax.lax.max, (1, 1, 2, 2),
                                  (1, 1, 2, 2), "VALID")
        return a.reshape(64, -1) @ w[2] + w[3]

    def norm(x, w, b):
        return layer_norm(x) * w + b

    def block(w, x):
        n = norm(x, *w[:2])
        q, k, v = [(n @ w[2] + w[3])[:, i * 384:i * 384 + 384]
                   .reshape(64, 6, 64).swapaxes(0, 1) for i in range(3)]
        a = jax.nn.softmax(q @ k.swapaxes(1, 2) / 8) @ v
        x = x + a.swapaxes(0, 1).reshape(64, 384) @ w[4] + w[5]
        h = jax.nn.gelu(norm(x, *w[6:8]) @ w[8] + w[9], approximate=False)
        return x + h @ w[10] + w[11]

    def descent(loss):
        def step(w, x, *y):
            value, g = jax.value_and_grad(loss)(w, x, *y)
            return value, [a - 0.01 * b for a, b in zip(w, g)]
        return step

    def entropy(net):
        def loss(w, x, y):
            z = jax.nn.log_softmax(net(w, x))
            return -np.take_along_axis(z, y[:, None], 1).mean()
        return loss

    c = [rand(8, 1, 3, 3), rand(8), rand(1352, 10) * 0.1, rand(10)]
    e = [rand(384), rand(384), rand(384, 1152) * 0.05, rand(1152),
         rand(384, 384) * 0.05, rand(384), rand(384), rand(384),
         rand(384, 1536) * 0.05, rand(1536), rand(1536, 384) * 0.05, rand(384)]
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
        (descent(entropy(net)), w, rand(64, 64), y), (net, w, rand(1, 64)),
        (descent(entropy(conv_net)), c, rand(64, 1, 28, 28), y),
        (descent(lambda w, x: (block(w, x) ** 2).mean()), e, rand(64, 384))]
    f = jax.jit(cases[n - 1][0])
    return lambda: jax.block_until_ready(f(*cases[n - 1][1:]))


def torch_case(n, compiled):
    import torch
    torch.set_num_threads(1)
    F, nn = torch.nn.functional, torch.nn
    wrap = torch.compile if compiled else lambda f: f

    def run(f, *args):
        f = wrap(f)
        return lambda: f(*args)

    def grad(f, *args):
        leaves = [a.requires_grad_() for a in args]
        summed = wrap(lambda *a: f(*a).sum())
        return lambda: torch.autograd.grad(summed(*leaves), leaves)

    def chain(x, y):
        return torch.tanh((x * 1.5 + y) * y - x)

    def normal(x):
        return (1 + (x * 0.7071067811865476).erf()) * 0.5

    def scholes(s, k, t):
        root = t.sqrt() * 0.2
        d1 = ((s / k).log() + t * 0.05) / root
        return s * normal(d1) - k * (t * -0.03).exp() * normal(d1 - root)

    def bodies(p, v):
        d = p[None] - p[:, None]
        r = (d * d).sum(2, keepdim=True) + 0.01
        v = v + (d / (r * r.sqrt())).sum(1) * 0.001
        return p + v * 0.001, v

    def mlp():
        return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))

    def entropy(z):
        return F.cross_entropy(z, torch.zeros(64, dtype=torch.long))

    def train(net, x, loss):
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        f = wrap(lambda: loss(net(x)))

        def step():
            opt.zero_grad()
            f().backward()
            opt.step()
        return step

    def infer():
        net, x = wrap(mlp()), torch.randn(1, 64)

        def forward():
            with torch.inference_mode():
                return net(x)
        return forward

    def conv():
        return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(1352, 10))

    def block():
        return nn.TransformerEncoderLayer(384, 6, 1536, 0.0, "gelu",
                                          norm_first=True)

    a, b, c = [torch.rand(1000000) for _ in range(3)]
    d, e = torch.rand(300000).double(), torch.rand(300000).double()
    p, q = torch.randn(512, 3), torch.randn(512, 3)
    u, v = torch.randn(256, 3), torch.randn(256, 3)
    return [
        lambda: run(chain, a, b), lambda: run(chain, d, e),
        lambda: grad(chain, torch.rand(300000), torch.rand(300000)),
        lambda: grad(F.gelu, torch.randn(300000)),
        lambda: grad(F.silu, torch.randn(300000)),
        lambda: grad(lambda x: F.layer_norm(x, (768,)), torch.randn(512, 768)),
        lambda: grad(lambda x: -torch.log_softmax(x, 1)[:, 0],
                     torch.randn(512, 1000)),
        lambda: run(scholes, a + 1, b + 1, c + 0.1),
        lambda: run(bodies, u, v),
        lambda: run(lambda p, q: ((p[:, None] - q[None]) ** 2).sum(2), p, q),
        lambda: train(mlp(), torch.randn(64, 64), entropy), infer,
        lambda: train(conv(), torch.randn(64, 1, 28, 28), entropy),
        lambda: train(block(), torch.randn(64, 384),
                      lambda z: z.square().mean()),
    ][n - 1]()


def least(f):
    def batch():
        begun = time.process_time()
        for _ in range(n):
            f()
        return time.process_time() - begun
    for _ in range(3):
        f()
    n = 1
    while batch() < 0.004:
        n *= 2
    times, stop = [], time.process_time() + 0.3
    while time.process_time() < stop or len(times) < 4:
        times.append(batch() / n)
    return min(times) * 1e6


for word in sys.argv[2:]:
    case = (jax_case(int(word)) if WHAT == "jax"
            else torch_case(int(word), WHAT == "compile"))
    print(least(case), flush=True)
