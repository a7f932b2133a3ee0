"""The cases of bench/nn_cases.lua in PyTorch, on one thread."""
import best as timing
import torch
import torch.nn.functional as F

torch.set_num_threads(1)


def best(name, call):
    timing.best(name, call, 1, 0.1)


for n in (4, 16, 64):
    a, b = torch.randn(n, n), torch.randn(n, n)
    best(f"mm {n}", lambda: a @ b)
a, x = torch.randn(2048, 2048), torch.randn(2048)
best("mv 2048", lambda: a @ x)
p, q = torch.randn(64, 64, 64), torch.randn(64, 64, 64)
best("bmm 64x64x64", lambda: p @ q)
i, w, b = torch.randn(64, 784), torch.randn(128, 784), torch.randn(128)
best("linear 64x784x128", lambda: F.linear(i, w, b))
for n, ic, oc, s in ((16, 1, 8, 8), (16, 8, 16, 8), (64, 16, 16, 8),
                     (16, 64, 64, 8), (64, 64, 64, 8), (16, 1, 8, 28),
                     (64, 1, 8, 28), (64, 16, 32, 28), (16, 64, 64, 28),
                     (16, 3, 16, 56), (16, 64, 64, 56)):
    name = f"conv2d 3x3 {n}x{ic}x{s}x{s} to {oc}"
    x, w = torch.randn(n, ic, s, s), torch.randn(oc, ic, 3, 3)
    b = torch.randn(oc)
    g = torch.randn(n, oc, s, s)

    def back(which):
        return torch.ops.aten.convolution_backward(
            g, x, w, [oc], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, which)

    best(name, lambda: F.conv2d(x, w, b, padding=1))
    best(name + ", input gradient", lambda: back([True, False, False]))
    best(name + ", weight gradient", lambda: back([False, True, False]))
for form in (torch.contiguous_format, torch.channels_last):
    x = torch.randn(16, 64, 56, 56).contiguous(memory_format=form)
    w = torch.randn(64, 1, 3, 3)
    name = "depthwise 3x3 16x64x56x56"
    if form != torch.contiguous_format:
        name += " channels_last"
    best(name, lambda: F.conv2d(x, w, padding=1, groups=64))
    best(name + ", weight gradient",
         lambda: torch.ops.aten.convolution_backward(
             x, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 64,
             [False, True, False]))
x = torch.randn(16, 64, 28, 28).contiguous(memory_format=torch.channels_last)
w = torch.randn(64, 64, 3, 3)
best("conv2d 3x3 16x64x28x28 to 64 channels_last",
     lambda: F.conv2d(x, w, padding=1))
image, w = torch.randn(16, 64, 28, 28), torch.randn(64, 64, 3, 3)
for form in (torch.contiguous_format, torch.channels_last):
    x = image.contiguous(memory_format=form)
    g = F.conv2d(x, w, stride=2, padding=1)
    name = "conv2d 3x3 stride 2 16x64x28x28 to 64"
    if form != torch.contiguous_format:
        name += " channels_last"

    def back(which):
        return torch.ops.aten.convolution_backward(
            g, x, w, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1, which)

    best(name, lambda: F.conv2d(x, w, stride=2, padding=1))
    best(name + ", input gradient", lambda: back([True, False, False]))
    best(name + ", weight gradient", lambda: back([False, True, False]))
x, w = torch.randn(16, 64, 14, 14), torch.randn(64, 32, 4, 4)
best("conv_transpose2d 4x4 stride 2 16x64x14x14 to 32",
     lambda: F.conv_transpose2d(x, w, stride=2, padding=1))
for form in (torch.contiguous_format, torch.channels_last):
    x = torch.randn(16, 64, 56, 56).contiguous(memory_format=form)
    suffix = "" if form == torch.contiguous_format else " channels_last"
    best("max_pool2d 2 16x64x56x56" + suffix, lambda: F.max_pool2d(x, 2))
    best("avg_pool2d 3 stride 2 16x64x56x56" + suffix,
         lambda: F.avg_pool2d(x, 3, 2, 1))
    best("adaptive_avg_pool2d 7 16x64x56x56" + suffix,
         lambda: F.adaptive_avg_pool2d(x, 7))
    leaf, g = x.clone().requires_grad_(True), F.max_pool2d(x, 3, 2, 1)

    def pooled():
        F.max_pool2d(leaf, 3, 2, 1).backward(g)
        leaf.grad = None

    best("max_pool2d 3 stride 2 16x64x56x56, and backward" + suffix, pooled)
s = torch.randn(1, 8, 1024, 64)
best("attention 8x1024x64", lambda: F.scaled_dot_product_attention(s, s, s))
best("attention 8x1024x64 causal",
     lambda: F.scaled_dot_product_attention(s, s, s, is_causal=True))
q, k, v = (s.clone().requires_grad_(True) for _ in range(3))


def both():
    F.scaled_dot_product_attention(q, k, v).backward(s)
    q.grad = k.grad = v.grad = None


best("attention 8x1024x64, forward and gradients", both)
