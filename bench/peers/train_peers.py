"""The cases of bench/train_cases.lua in PyTorch, on one thread."""
import best as timing
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)


def best(name, call):
    timing.best(name, call, 20, 0.3)


def step(name, net, x, classes, make):
    opt = make(net.parameters())
    y = torch.randint(0, classes, (len(x),))

    def whole():
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()

    best("training step, " + name, whole)
    best("optimiser's step, " + name, opt.step)


def perceptron():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


step("64-128-10, batch 64, SGD", perceptron(), torch.randn(64, 64), 10,
     lambda p: torch.optim.SGD(p, lr=0.01))
step("64-128-10, batch 64, Adam", perceptron(), torch.randn(64, 64), 10,
     torch.optim.Adam)
step("convolutional network on digits, batch 32, Adam", nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32),
    nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10)),
    torch.randn(32, 1, 8, 8), 10, torch.optim.Adam)
for kind in ("RNN", "LSTM", "GRU"):
    net = getattr(nn, kind)(24, 128, batch_first=True)
    x = torch.randn(32, 40, 24)

    def forward():
        with torch.no_grad():
            net(x)

    def both():
        net.zero_grad()
        net(x)[0].sum().backward()

    best(f"{kind} 24 to 128, 40 steps, batch 32, forward", forward)
    best(f"{kind} 24 to 128, 40 steps, batch 32, and backward", both)
