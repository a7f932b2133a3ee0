"""Values of torch.func.vmap for spec/vmap/vmap_spec.lua.

    python tools/golden/vmap.py > spec/support/values/vmap_values.lua

Inputs are made by a formula that the spec repeats: element i of a tensor of
seed s is ((7 i + s) mod 13 - 6) / 4.
"""
import torch
from torch.func import grad, hessian, jacrev, vmap

torch.set_default_dtype(torch.float64)


def make(seed, *shape):
    n = 1
    for size in shape:
        n *= size
    return (((torch.arange(n) * 7 + seed) % 13 - 6) / 4).reshape(shape)


X, Y, W = make(1, 3, 4), make(2, 3, 4), make(3, 2, 4)
A, B = make(4, 3, 4, 4), make(5, 3, 4, 2)
P = torch.tensor([2, 0, 3])


def loss(w, x):
    return (w @ x).tanh().pow(2).sum()


cases = {
    "dot": lambda: vmap(torch.dot)(X, Y),
    "columns": lambda: vmap(lambda x: x.cumsum(0), 1, 1)(X),
    "shared": lambda: vmap(lambda x, w: w @ x, (0, None))(X, W),
    "outer": lambda: vmap(vmap(lambda x, y: x * y, (None, 0)),
                          (0, None))(X[0], Y[0]),
    "solve": lambda: vmap(torch.linalg.solve)(A + 3 * torch.eye(4), B),
    "softmax": lambda: vmap(lambda x: torch.softmax(x * 2, -1))(X),
    "pick": lambda: vmap(lambda x, i: torch.index_select(
        x, 0, i.unsqueeze(0)))(X, P),
    "rows": lambda: vmap(lambda i: W.t()[i])(P),
    "sorted": lambda: vmap(lambda x: torch.sort(x, descending=True)[0])(X),
    "norm": lambda: vmap(lambda a: torch.linalg.matrix_norm(a))(A),
    "conv": lambda: vmap(lambda x: torch.conv1d(
        x.reshape(1, 1, 4), W.reshape(2, 1, 4)[:, :, :3], padding=1))(X),
    "gradient": lambda: vmap(grad(loss), (None, 0))(W, X),
    "jacobian": lambda: vmap(jacrev(lambda x: (W @ x).exp()))(X),
    "hessian": lambda: vmap(hessian(lambda x: loss(W, x)))(X),
    "einsum": lambda: vmap(lambda a, b: torch.einsum("ij,jk->ki", a, b))(A, B),
    "variance": lambda: vmap(lambda a: a.var(0, correction=0))(A),
}

print("-- Made by tools/golden/vmap.py: what torch.func.vmap gives.")
print("return {")
for name, f in cases.items():
    y = f().contiguous()
    line = "  %s = {shape = {%s}," % (name, ", ".join(map(str, y.shape)))
    print(line)
    words = ["%.15g," % v for v in y.flatten().tolist()]
    row = "   "
    for word in words:
        if len(row) + 1 + len(word) > 78:
            print(row)
            row = "   "
        row += " " + word
    print(row)
    print("  },")
print("}")
