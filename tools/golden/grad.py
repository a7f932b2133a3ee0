#!/usr/bin/env python3
"""Gradients by PyTorch, as short programs, for spec/golden:

    python3 tools/golden/grad.py spec/golden

A program calls one function on leaves, multiplies the result by weights and
sums it up; spec/golden/order_gradients.jsonl has the gradients of the leaves.
"""
import json
import sys

import torch

from golden import Index, dim, encode, plain, real, tensor

TOLERANCE = {"rtol": 1e-9, "atol": 1e-10}
records = []


class Leaf:
    def __init__(self, t):
        self.t = t.clone().requires_grad_()


def program(op, fn, *args, **kwargs):
    leaves = [a for a in args if isinstance(a, Leaf)]
    names = {id(a): "v%d" % i for i, a in enumerate(leaves)}
    got = fn(*[a.t if isinstance(a, Leaf) else plain(a) for a in args],
             **{k: plain(v) for k, v in kwargs.items()})
    weights = numbers(1, *got.shape)[0]
    loss = (got * weights).sum()
    grads = torch.autograd.grad(loss, [a.t for a in leaves], allow_unused=True)
    call = {"op": op, "style": "function", "out": ["y"],
            "args": [{"ref": names[id(a)]} if isinstance(a, Leaf)
                     else encode(a) for a in args]}
    if kwargs:
        call["kwargs"] = {k: encode(v) for k, v in kwargs.items()}
    records.append({
        "id": "order_gradients-%03d" % (len(records) + 1), "family": "more",
        "op": "program",
        "inputs": [{"name": names[id(a)], "t": tensor(a.t),
                    "requires_grad": True} for a in leaves],
        "steps": [call,
                  {"op": "mul", "style": "method", "out": ["z"],
                   "args": [{"ref": "y"}, encode(weights)]},
                  {"op": "sum", "style": "method", "out": ["loss"],
                   "args": [{"ref": "z"}]}],
        "loss": "loss", "tol": TOLERANCE,
        "expect": {"value": tensor(loss), "grads": {
            names[id(a)]: None if g is None else tensor(g)
            for a, g in zip(leaves, grads)}}})


def numbers(*shape):
    return real(*shape, dtype=torch.float64)


def few(*shape):
    """Small numbers: many are equal, some are zero."""
    return torch.randint(-2, 3, shape).double()


def combined():
    for make in (numbers, few):
        for reduce in ("sum", "prod", "mean", "amax", "amin"):
            for include in (True, False):
                at = torch.randint(0, 4, (3, 5))
                program("scatter_reduce", torch.scatter_reduce,
                        Leaf(make(4, 5)), dim(0), Index(at),
                        Leaf(make(3, 5)), reduce, include_self=include)
                at = torch.randint(0, 6, (4, 3))
                program("scatter_reduce", torch.scatter_reduce,
                        Leaf(make(4, 6)), dim(-1), Index(at),
                        Leaf(make(4, 3)), reduce, include_self=include)
                if reduce == "sum":
                    continue
                at = torch.randint(0, 3, (5,))
                program("index_reduce", torch.index_reduce, Leaf(make(2, 3, 2)),
                        dim(1), Index(at), Leaf(make(2, 5, 2)), reduce,
                        include_self=include)


def distinct(*shape):
    """Which of two equal elements is the quantile is not said."""
    n = torch.Size(shape).numel()
    return (torch.randperm(n).double() / 4 - n / 8).reshape(shape)


def quantiles():
    q = torch.tensor([0.0, 0.3, 0.5, 0.81, 1.0], dtype=torch.float64)
    holes = distinct(4, 7)
    holes[1, 2] = holes[1, 5] = holes[3, 0] = float("nan")
    for op, fn in (("quantile", torch.quantile),
                   ("nanquantile", torch.nanquantile)):
        for how in ("linear", "lower", "higher", "midpoint", "nearest"):
            program(op, fn, Leaf(distinct(3, 6)), Leaf(q), dim(1),
                    interpolation=how)
            program(op, fn, Leaf(distinct(3, 6)), 0.35, dim(0), keepdim=True,
                    interpolation=how)
        program(op, fn, Leaf(distinct(2, 3, 4)), Leaf(q))
        program(op, fn, Leaf(distinct(2, 3, 4)), Leaf(q), keepdim=True)
        program(op, fn, Leaf(distinct(2, 3, 4)), Leaf(q), dim(1), keepdim=True)
        program(op, fn, Leaf(distinct(7)), Leaf(q[1]))
    program("nanquantile", torch.nanquantile, Leaf(holes), Leaf(q), dim(1))


if __name__ == "__main__":
    torch.manual_seed(22)
    combined()
    quantiles()
    with open(sys.argv[1] + "/order_gradients.jsonl", "w") as f:
        for r in records:
            f.write(json.dumps(r, separators=(",", ":")) + "\n")
    print("%d records" % len(records))
