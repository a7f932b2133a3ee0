"""Resident memory of one training step in PyTorch: see program_memory.lua."""
import sys

import torch
from torch import nn


def resident():
    """Resident memory and its peak, in MB."""
    with open("/proc/self/status", encoding="ascii") as f:
        lines = dict(line.split(":", 1) for line in f)
    return [int(lines[k].split()[0]) / 1024 for k in ("VmRSS", "VmHWM")]


def make(case):
    if case == 1:
        return nn.Sequential(nn.Linear(64, 128), nn.ReLU(),
                             nn.Linear(128, 10)), torch.randn(64, 64)
    if case == 2:
        return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(),
                             nn.Linear(1024, 10)), torch.randn(256, 784)
    if case == 3:
        return nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(800, 10)), torch.randn(64, 1, 28, 28)
    return nn.TransformerEncoderLayer(
        384, 6, 1536, dropout=0, batch_first=True), torch.randn(1, 64, 384)


def main():
    case = int(sys.argv[1])
    torch.set_num_threads(1)
    small = nn.Linear(2, 2)
    small(torch.ones(2)).mean().backward()
    torch.optim.Adam(small.parameters()).step()
    base = resident()[0]
    net, x = make(case)
    y = torch.randint(0, 10, (x.shape[0],)) if case < 4 else None
    opt = torch.optim.Adam(net.parameters(), lr=0.001)
    made = resident()[0]
    for _ in range(30):
        opt.zero_grad()
        out = net(x)
        loss = (nn.functional.cross_entropy(out, y) if case < 4
                else out.square().mean())
        loss.backward()
        opt.step()
    print(f"{base:.2f} {made - base:.2f} {resident()[1] - made:.2f}")


main()
