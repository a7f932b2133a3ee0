"""Records what PyTorch makes of fifty training steps: values.jsonl.

    python3 spec/nn/training/record.py > spec/nn/training/values.jsonl

A line per case: its name and, for every parameter and buffer by its name, up
to 24 values spread over it, after the last step. All numbers that go in are
made by a rule (fill), so that spec/nn/training_spec.lua builds the same cases
without reading them: first weights, batches and targets, all float64.
"""
import json

import torch
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

STEPS = 50


def fill(shape, key):
    """Numbers in [-1, 1) that look random, the same in Lua."""
    n = 1
    for size in shape:
        n *= size
    values = [((j * 37 + key * 101 + j * j * 13) % 211) / 105.5 - 1
              for j in range(n)]
    return torch.tensor(values).reshape(shape)


def labels(n, classes, key):
    return torch.tensor([(j * 7 + key * 3) % classes for j in range(n)])


def start(module):
    for k, p in enumerate(module.parameters()):
        with torch.no_grad():
            p.copy_(fill(p.shape, k + 1) * 0.5)
            if p.ndim == 1:
                p.add_(0.75)


def spread(t):
    flat = t.detach().reshape(-1)
    step = max(1, -(-flat.numel() // 24))
    return flat[::step].tolist()


def write(name, named, **more):
    line = {"name": name, "values": {k: spread(t) for k, t in named}, **more}
    print(json.dumps(line, separators=(",", ":")), flush=True)


def named(module):
    yield from module.named_parameters()
    yield from module.named_buffers()


def sgd(params):
    return torch.optim.SGD(params, lr=0.02, momentum=0.5)


def train(name, module, forward, make=sgd, steps=STEPS):
    """forward(module, step) is the loss."""
    start(module)
    opt = make(module.parameters())
    for k in range(1, steps + 1):
        opt.zero_grad()
        loss = forward(module, k)
        loss.backward()
        opt.step()
    write(name, named(module), loss=loss.item())


def mse(*shapes):
    """The mean square of the result's distance from made-up numbers."""
    def forward(module, k):
        out = module(*(fill(s, 1000 + 10 * k + i)
                       for i, s in enumerate(shapes)))
        if isinstance(out, tuple):
            out = out[0]
        return F.mse_loss(out, fill(out.shape, 5000 + k))
    return forward


# ---- optimisers, on a small network ----

def perceptron():
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))


def classify(module, k):
    return F.cross_entropy(module(fill((5, 4), 1000 + k)), labels(5, 3, k))


O = torch.optim
optimisers = {
    "SGD": lambda p: O.SGD(p, lr=0.1),
    "SGD momentum": lambda p: O.SGD(p, lr=0.1, momentum=0.9, dampening=0.1,
                                    weight_decay=0.01),
    "SGD nesterov": lambda p: O.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "SGD maximize": lambda p: O.SGD(p, lr=0.01, maximize=True,
                                    weight_decay=0.1),
    "Adam": lambda p: O.Adam(p, lr=0.02),
    "Adam amsgrad": lambda p: O.Adam(p, lr=0.02, betas=(0.8, 0.95),
                                     amsgrad=True, weight_decay=0.1),
    "Adam maximize": lambda p: O.Adam(p, lr=0.01, maximize=True),
    "AdamW": lambda p: O.AdamW(p, lr=0.02, weight_decay=0.1),
    "AdamW amsgrad": lambda p: O.AdamW(p, lr=0.02, amsgrad=True),
    "RMSprop": lambda p: O.RMSprop(p, lr=0.01),
    "RMSprop centered": lambda p: O.RMSprop(
        p, lr=0.01, alpha=0.9, centered=True, momentum=0.5, weight_decay=0.1),
    "Adagrad": lambda p: O.Adagrad(p, lr=0.05),
    "Adagrad decay": lambda p: O.Adagrad(
        p, lr=0.05, lr_decay=0.01, weight_decay=0.1,
        initial_accumulator_value=0.1, eps=1e-6),
}
for name, make in optimisers.items():
    train(name, perceptron(), classify, make)


def second_order(name, steps, **options):
    module = perceptron()
    start(module)
    opt = torch.optim.LBFGS(module.parameters(), **options)
    calls = 0
    for _ in range(steps):
        def closure():
            nonlocal calls
            calls += 1
            opt.zero_grad()
            loss = classify(module, 1) + 0.01 * sum(
                (p * p).sum() for p in module.parameters())
            loss.backward()
            return loss
        loss = opt.step(closure)
    write(name, named(module), loss=loss.item(), calls=calls)


second_order("LBFGS", 4, lr=0.5, max_iter=5)
second_order("LBFGS history", 4, lr=0.3, max_iter=7, history_size=3)
second_order("LBFGS wolfe", 4, max_iter=6, line_search_fn="strong_wolfe")
second_order("LBFGS wolfe long", 2, lr=20, max_iter=8,
             line_search_fn="strong_wolfe")

# ---- layers ----

train("Linear", nn.Linear(4, 3), mse((5, 4)))
train("Linear no bias", nn.Linear(4, 3, bias=False), mse((2, 5, 4)))
train("Bilinear", nn.Bilinear(3, 4, 2), mse((5, 3), (5, 4)))
train("Conv1d", nn.Conv1d(2, 4, 3, stride=2, padding=1, groups=2),
      mse((2, 2, 9)))
train("Conv2d", nn.Conv2d(2, 4, 3, padding=1), mse((2, 2, 5, 6)))
train("Conv2d strided", nn.Conv2d(4, 6, (3, 2), stride=(2, 1), dilation=(1, 2),
                                  groups=2, bias=False), mse((2, 4, 7, 6)))
train("Conv3d", nn.Conv3d(1, 2, 2, padding=1), mse((2, 1, 3, 4, 3)))
train("ConvTranspose1d", nn.ConvTranspose1d(2, 3, 3, stride=2), mse((2, 2, 4)))
train("ConvTranspose2d", nn.ConvTranspose2d(
    2, 4, 3, stride=2, padding=1, output_padding=1, groups=2),
    mse((2, 2, 3, 4)))
for name, pool in {
    "MaxPool2d": nn.MaxPool2d(2), "MaxPool2d padded": nn.MaxPool2d(3, 2, 1),
    "AvgPool2d": nn.AvgPool2d(2), "AvgPool2d padded": nn.AvgPool2d(
        3, 2, 1, count_include_pad=False),
    "AdaptiveAvgPool2d": nn.AdaptiveAvgPool2d((2, 3)),
    "AdaptiveMaxPool2d": nn.AdaptiveMaxPool2d((2, 3)),
    "LPPool2d": nn.LPPool2d(2, 2),
}.items():
    train(name, nn.Sequential(nn.Conv2d(1, 2, 3), pool), mse((2, 1, 8, 9)))
for name, pool in {
    "MaxPool1d": nn.MaxPool1d(2), "AvgPool1d": nn.AvgPool1d(3, 2),
    "AdaptiveAvgPool1d": nn.AdaptiveAvgPool1d(3),
    "AdaptiveMaxPool1d": nn.AdaptiveMaxPool1d(3), "LPPool1d": nn.LPPool1d(2, 3),
}.items():
    train(name, nn.Sequential(nn.Conv1d(1, 2, 3), pool), mse((2, 1, 10)))
train("BatchNorm1d", nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)),
      mse((6, 4)))
train("BatchNorm1d series", nn.BatchNorm1d(3, momentum=None), mse((4, 3, 5)))
train("BatchNorm2d", nn.Sequential(nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3)),
      mse((3, 1, 4, 5)))
train("BatchNorm3d", nn.BatchNorm3d(2), mse((2, 2, 2, 3, 2)))
train("InstanceNorm2d", nn.InstanceNorm2d(3, affine=True), mse((2, 3, 4, 3)))
train("LayerNorm", nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6)),
      mse((5, 4)))
train("LayerNorm 2", nn.LayerNorm((3, 4)), mse((5, 3, 4)))
train("GroupNorm", nn.Sequential(nn.Conv1d(2, 6, 2), nn.GroupNorm(3, 6)),
      mse((3, 2, 5)))
train("RMSNorm", nn.Sequential(nn.Linear(4, 6), nn.RMSNorm(6)), mse((5, 4)))


class HardSigmoid(nn.Module):
    """PyTorch's own has a gradient of 1/6 in float, wrong by 3e-8; and CELU
    below rounds 1/alpha to float in its gradient, so alpha is a power of 2."""

    def forward(self, x):
        return F.relu6(x + 3) / 6


for name, act in {
    "ReLU": nn.ReLU(), "ReLU6": nn.ReLU6(), "Sigmoid": nn.Sigmoid(),
    "Tanh": nn.Tanh(), "SiLU": nn.SiLU(), "Mish": nn.Mish(), "SELU": nn.SELU(),
    "Hardswish": nn.Hardswish(), "Hardsigmoid": HardSigmoid(),
    "LogSigmoid": nn.LogSigmoid(), "Softsign": nn.Softsign(),
    "Tanhshrink": nn.Tanhshrink(), "GELU": nn.GELU(),
    "GELU tanh": nn.GELU(approximate="tanh"), "ELU": nn.ELU(0.7),
    "CELU": nn.CELU(0.5), "LeakyReLU": nn.LeakyReLU(0.2),
    "Softplus": nn.Softplus(2, 1), "Softmax": nn.Softmax(1),
    "LogSoftmax": nn.LogSoftmax(1), "Softmin": nn.Softmin(1),
    "Hardtanh": nn.Hardtanh(-0.5, 0.8), "Hardshrink": nn.Hardshrink(0.3),
    "Softshrink": nn.Softshrink(0.3), "GLU": nn.GLU(1),
    "PReLU": nn.PReLU(6), "Threshold": nn.Threshold(0.1, -0.3),
}.items():
    train(name, nn.Sequential(nn.Linear(4, 6), act), mse((5, 4)))


def lookup(module, k):
    out = module(labels(6, 5, k).reshape(2, 3))
    return F.mse_loss(out, fill(out.shape, 5000 + k))


train("Embedding", nn.Embedding(5, 3), lookup)
train("Embedding padding", nn.Embedding(5, 3, padding_idx=1), lookup)
train("EmbeddingBag", nn.EmbeddingBag(5, 3, mode="mean"), lookup)
for kind in ("RNN", "LSTM", "GRU"):
    make = getattr(nn, kind)
    train(kind, make(3, 4), mse((5, 2, 3)))
    train(kind + " deep", make(3, 2, num_layers=2, bidirectional=True,
                               batch_first=True), mse((2, 5, 3)))

    def cell(module, k):
        state = None
        for t in range(4):
            state = module(fill((2, 3), 1000 + 10 * k + t), state)
        h = state[0] if isinstance(state, tuple) else state
        return F.mse_loss(h, fill(h.shape, 5000 + k))
    train(kind + "Cell", getattr(nn, kind + "Cell")(3, 4), cell)
train("RNN relu", nn.RNN(3, 4, nonlinearity="relu", bias=False),
      mse((5, 2, 3)))
train("MultiheadAttention", nn.MultiheadAttention(4, 2, batch_first=True),
      mse((2, 3, 4), (2, 5, 4), (2, 5, 4)))


def masked(module, k):
    x = fill((2, 4, 4), 1000 + k)
    hide = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
    out = module(x, x, x, attn_mask=hide, need_weights=False)[0]
    return F.mse_loss(out, fill(out.shape, 5000 + k))


train("MultiheadAttention masked",
      nn.MultiheadAttention(4, 2, batch_first=True, bias=False), masked)
train("TransformerEncoderLayer", nn.TransformerEncoderLayer(
    4, 2, 6, dropout=0, batch_first=True), mse((2, 3, 4)))
train("TransformerEncoderLayer first", nn.TransformerEncoderLayer(
    4, 2, 6, dropout=0, activation="gelu", norm_first=True), mse((3, 2, 4)))
train("TransformerEncoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(
    4, 2, 6, dropout=0, batch_first=True), 2, nn.LayerNorm(4)), mse((2, 3, 4)))



def decode(module, k):
    target, memory = fill((3, 2, 4), 1000 + k), fill((5, 2, 4), 2000 + k)
    first, second = ((memory, target) if isinstance(module, nn.Transformer)
                     else (target, memory))
    out = module(first, second, tgt_mask=torch.triu(
        torch.ones(3, 3, dtype=torch.bool), 1))
    return F.mse_loss(out, fill(out.shape, 5000 + k))


train("TransformerDecoderLayer", nn.TransformerDecoderLayer(4, 2, 6, dropout=0),
      decode)
train("TransformerDecoderLayer first", nn.TransformerDecoderLayer(
    4, 2, 6, dropout=0, activation="gelu", norm_first=True), decode)
train("TransformerDecoder", nn.TransformerDecoder(nn.TransformerDecoderLayer(
    4, 2, 6, dropout=0), 2, nn.LayerNorm(4)), decode)
train("Transformer", nn.Transformer(4, 2, 1, 1, 6, dropout=0), decode)

# ---- losses: of a linear map's result, made to fit what the loss wants ----


def loss_case(name, of):
    train("loss " + name, nn.Linear(4, 3), lambda module, k: of(
        module(fill((5, 4), 1000 + k)), k))


def target(k):
    return fill((5, 3), 5000 + k)


def share(k):
    return (target(k) + 1) / 2


def sign(k, n=5):
    return torch.tensor([1.0 if (j + k) % 3 else -1.0 for j in range(n)])


weight = torch.tensor([0.5, 1.0, 2.0])
loss_case("CrossEntropyLoss", lambda x, k: F.cross_entropy(
    x, labels(5, 3, k), weight, label_smoothing=0.1))
loss_case("CrossEntropyLoss sum", lambda x, k: F.cross_entropy(
    x, labels(5, 3, k), ignore_index=1, reduction="sum") / 5)
loss_case("CrossEntropyLoss shares", lambda x, k: F.cross_entropy(
    x, F.softmax(target(k), 1)))
loss_case("NLLLoss", lambda x, k: F.nll_loss(
    F.log_softmax(x, 1), labels(5, 3, k), weight))
loss_case("MSELoss", lambda x, k: F.mse_loss(x, target(k)))
loss_case("L1Loss", lambda x, k: F.l1_loss(x, target(k)))
loss_case("SmoothL1Loss", lambda x, k: F.smooth_l1_loss(x, target(k), beta=0.5))
loss_case("HuberLoss", lambda x, k: F.huber_loss(x, target(k), delta=0.5))
loss_case("BCELoss", lambda x, k: F.binary_cross_entropy(
    torch.sigmoid(x), share(k), weight))
loss_case("BCEWithLogitsLoss", lambda x, k: F.binary_cross_entropy_with_logits(
    x, share(k), pos_weight=weight))
loss_case("KLDivLoss", lambda x, k: F.kl_div(
    F.log_softmax(x, 1), F.softmax(target(k), 1), reduction="batchmean"))
loss_case("KLDivLoss log", lambda x, k: F.kl_div(
    F.log_softmax(x, 1), F.log_softmax(target(k), 1), log_target=True,
    reduction="sum") / 5)
loss_case("SoftMarginLoss", lambda x, k: F.soft_margin_loss(
    x, target(k).sign()))
loss_case("HingeEmbeddingLoss", lambda x, k: F.hinge_embedding_loss(
    x.abs().sum(1), sign(k), margin=1.5))
loss_case("MarginRankingLoss", lambda x, k: F.margin_ranking_loss(
    x[:, 0], x[:, 1], sign(k), margin=0.5))
loss_case("CosineEmbeddingLoss", lambda x, k: F.cosine_embedding_loss(
    x, target(k), sign(k), margin=0.1))
loss_case("TripletMarginLoss", lambda x, k: F.triplet_margin_loss(
    x, target(k), target(k + 1), margin=1, swap=True))
loss_case("GaussianNLLLoss", lambda x, k: F.gaussian_nll_loss(
    x, target(k), x.square() + 0.1, full=True))
loss_case("PoissonNLLLoss", lambda x, k: F.poisson_nll_loss(
    x, 3 * share(k), full=True))
loss_case("PoissonNLLLoss plain", lambda x, k: F.poisson_nll_loss(
    x.square(), 3 * share(k), log_input=False))
loss_case("MultiMarginLoss", lambda x, k: F.multi_margin_loss(
    x, labels(5, 3, k), p=2, margin=0.7, weight=weight))
loss_case("MultiLabelMarginLoss", lambda x, k: F.multilabel_margin_loss(
    x, torch.tensor([[2, 0, -1], [1, -1, 0], [0, 1, 2], [-1, 0, 1],
                     [0, -1, -1]])))
loss_case("MultiLabelSoftMarginLoss",
          lambda x, k: F.multilabel_soft_margin_loss(
              x, share(k).round(), weight))

def alignment(module, k):
    logs = F.log_softmax(module(fill((6, 2, 4), 1000 + k)), 2)
    return F.ctc_loss(logs, torch.tensor([[1, 2, 2], [2, 1, 1]]),
                      torch.tensor([6, 5]), torch.tensor([3, 2]))


train("loss CTCLoss", nn.Linear(4, 3), alignment)

# ---- schedules: the rates and the momentum of each of 30 steps ----

S = torch.optim.lr_scheduler
schedules = {
    "StepLR": lambda o: S.StepLR(o, 4, 0.5),
    "MultiStepLR": lambda o: S.MultiStepLR(o, [3, 3, 11], 0.5),
    "ExponentialLR": lambda o: S.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda o: S.CosineAnnealingLR(o, 12, 0.01),
    "CosineAnnealingWarmRestarts": lambda o: S.CosineAnnealingWarmRestarts(
        o, 4, 2, 0.01),
    "LinearLR": lambda o: S.LinearLR(o, 0.25, 0.9, 7),
    "ConstantLR": lambda o: S.ConstantLR(o, 0.25, 7),
    "PolynomialLR": lambda o: S.PolynomialLR(o, 9, 2),
    "LambdaLR": lambda o: S.LambdaLR(o, lambda k: 1 / (1 + k)),
    "MultiplicativeLR":
        lambda o: S.MultiplicativeLR(o, lambda k: 0.9 + k / 100),
    "OneCycleLR": lambda o: S.OneCycleLR(o, 1, 31),
    "OneCycleLR linear": lambda o: S.OneCycleLR(
        o, 1, 31, pct_start=0.2, anneal_strategy="linear", three_phase=True),
    "CyclicLR": lambda o: S.CyclicLR(o, 0.1, 1, 4, 6, mode="triangular2"),
    "CyclicLR range": lambda o: S.CyclicLR(
        o, 0.1, [1, 2], 4, mode="exp_range", gamma=0.97, cycle_momentum=False),
    "SequentialLR": lambda o: S.SequentialLR(o, [
        S.LinearLR(o, 0.1, 1, 5), S.CosineAnnealingLR(o, 10),
        S.ExponentialLR(o, 0.5)], [5, 20]),
}
for name, make in schedules.items():
    params = [{"params": [torch.zeros(1, requires_grad=True)], "lr": 0.8},
              {"params": [torch.zeros(1, requires_grad=True)]}]
    opt = torch.optim.SGD(params, lr=0.3, momentum=0.5)
    schedule = make(opt)
    rates = []
    for _ in range(30):
        rates.append([group["lr"] for group in opt.param_groups]
                     + [opt.param_groups[0]["momentum"]])
        opt.step()
        schedule.step()
    print(json.dumps({"name": "schedule " + name, "rates": rates},
                     separators=(",", ":")))
