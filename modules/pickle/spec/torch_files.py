"""Files of PyTorch and what PyTorch reads from them.

torch_files.py golden FOLDER         writes the files of spec/data
torch_files.py describe OUT FILE...  writes what torch.load gives for FILE...

A description is a text in Lua, name.tree, and name.raw, where the bytes of its
tensors lie: T{dtype, sizes, strides, offset, bytes}.
"""
import collections
import pickle
import struct
import sys
import zipfile
from pathlib import Path

import torch


class Description:
    def __init__(self):
        self.raw = bytearray()

    def tensor(self, t):
        if t.dtype in FLOAT8:
            t = t.to(torch.float32)
            t[t.isnan()] = float("nan")     # of which PyTorch has several
        flat = t.detach().resolve_conj().resolve_neg().contiguous()
        data = flat.reshape(-1).view(torch.uint8).numpy().tobytes()
        at = len(self.raw)
        self.raw += data
        numbers = lambda v: "{" + ", ".join(map(str, v)) + "}"
        return "T{%s, %s, %s, %d, %d, %s}" % (
            quote(str(t.dtype)[6:]), numbers(t.shape), numbers(t.stride()), at,
            len(data), str(t.requires_grad).lower())

    def value(self, v):
        if isinstance(v, torch.Tensor):
            return self.tensor(v)
        if isinstance(v, torch.dtype):
            return quote(str(v)[6:])
        if isinstance(v, (torch.device, torch.layout)):
            return quote(str(v))
        if v is None:
            return "nil"
        if isinstance(v, bool):
            return str(v).lower()
        if isinstance(v, int) and -2**63 <= v < 2**63:
            return "math.mininteger" if v == -2**63 else str(v)
        if isinstance(v, (int, float)):
            return number(float(v))
        if isinstance(v, (str, bytes, bytearray)):
            return quote(v)
        if isinstance(v, (list, tuple)):
            holes = ", n = %d" % len(v) if None in [
                None if x is None else 0 for x in v] else ""
            return "{" + ", ".join(map(self.value, v)) + holes + "}"
        if isinstance(v, (set, frozenset)):
            return "{" + ", ".join(
                "[%s] = true" % self.value(x) for x in v) + "}"
        if isinstance(v, dict):
            return "{" + ", ".join("[%s] = %s" % (self.value(k), self.value(x))
                                   for k, x in v.items()) + "}"
        return self.value(v.item())         # a scalar of NumPy


FLOAT8 = [getattr(torch, name) for name in (
    "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
    "float8_e8m0fnu") if hasattr(torch, name)]


def quote(s):
    if isinstance(s, str):
        s = s.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(c) if 32 <= c < 127 and c not in (34, 92)
                         else "\\%03d" % c for c in s) + '"'


def number(v):
    if v != v:
        return "(0/0)"
    if v in (float("inf"), float("-inf")):
        return "math.huge" if v > 0 else "-math.huge"
    return v.hex()


def write(base, value):
    d = Description()
    base.with_name(base.name + ".tree").write_text(
        "return " + d.value(value) + "\n")
    base.with_name(base.name + ".raw").write_bytes(bytes(d.raw))


# ---- golden files ----

def every_dtype():
    names = ("bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 "
             "bfloat16 float32 float64 complex32 complex64 complex128")
    out = {}
    for name in names.split():
        dtype = getattr(torch, name)
        x = torch.tensor([0, 1, 2, 3, 100, 127]) / (1 if not (
            dtype.is_floating_point or dtype.is_complex) else 7)
        out[name] = x.to(dtype)
    for dtype in FLOAT8:
        every = torch.arange(256, dtype=torch.uint8)
        out[str(dtype)[6:]] = every.view(dtype)
    return out


def layouts():
    x = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
    base = torch.arange(10, dtype=torch.int32)
    c = torch.tensor([1 + 2j, 3 - 4j])
    return {
        "transposed": x.transpose(0, 2), "slice": x[:, 1:, ::2],
        "expanded": torch.tensor([1.5, 2.5]).expand(3, 2),
        "first": base[:5], "rest": base[3:], "whole": base,
        "scalar": torch.tensor(3.25), "empty": torch.empty(0, 3),
        "last": x.unsqueeze(0).to(memory_format=torch.channels_last),
        "conj": c.conj(), "neg": torch.tensor([5 + 6j, 7 - 8j]).conj().imag,
    }


def plain_values():
    shared = [1, 2]
    return {
        "none": None, "yes": True, "no": False, "int": -5, "big": 2**62,
        "huge": 2**100, "least": -2**63, "float": 0.1, "nan": float("nan"),
        "inf": float("-inf"), "text": "h\u00e9 \u4e16\U0001f600\n\0x",
        "bytes": b"\0\xff\xc3z", "array": bytearray(b"ab\xe9"),
        "list": [1, [2.5, "x"], (3, True)], "tuple": (), "holes": [1, None, 3],
        "set": {1, "a"}, "dict": {1: "one", 0: "zero", -2: {"k": [0]}},
        "ordered": collections.OrderedDict(b=1, a=2),
        "count": collections.Counter("aab"), "size": torch.Size([2, 3]),
        "dtype": torch.bfloat16, "device": torch.device("cuda", 1),
        "cpu": torch.device("cpu"), "layout": torch.strided, "a": shared,
        "b": shared, "long": list(range(300)), "1": 1.0,
    }


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 3)
        self.norm = torch.nn.BatchNorm2d(3)
        self.parts = torch.nn.ModuleList([torch.nn.Linear(3, 2, bias=False)])
        self.register_buffer("table", torch.arange(3))
        self.tied = self.parts[0]
        self.constant = torch.ones(2)       # neither parameter nor buffer

    def forward(self, x):
        x = self.norm(self.conv(x)).mean((2, 3)) + self.table
        return self.parts[0](x) + self.tied(x) + self.constant


def training():
    torch.manual_seed(1)
    net = torch.nn.Linear(3, 2)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.1)
    net(torch.ones(4, 3)).square().sum().backward()
    optimiser.step()
    return {"model": net.state_dict(), "optimiser": optimiser.state_dict(),
            "epoch": 3, "parameter": net.weight, "name": "linear"}


def repack(path, to, method):
    """The members anew, as another writer of zip files would."""
    with zipfile.ZipFile(path) as a, zipfile.ZipFile(to, "w", method) as b:
        for info in a.infolist():
            b.writestr(info.filename, a.read(info))


def big_endian(path, to):
    """A file as a machine of the other order of bytes writes it."""
    with zipfile.ZipFile(path) as a, zipfile.ZipFile(to, "w") as b:
        for info in a.infolist():
            data = a.read(info)
            if info.filename.endswith("/byteorder"):
                data = b"big"
            if "/data/" in info.filename:
                data = struct.pack(">%dd" % (len(data) // 8),
                                   *struct.unpack("<%dd" % (len(data) // 8),
                                                  data))
            b.writestr(info.filename, data)


def scalars(protocol):
    import numpy as np
    values = {"f8": np.float64(0.1), "f4": np.float32(0.1),
              "f2": np.float16(0.1), "i1": np.int8(-3), "i8": np.int64(-2**62),
              "u2": np.uint16(65535), "u8": np.uint64(2**64 - 1),
              "b1": np.bool_(True),
              "swapped": np.array(7, ">i4")[()].astype(">i4")}
    return pickle.dumps(values, protocol), values


def golden(folder):
    plain = plain_values()
    for name, value in (("dtypes", every_dtype()), ("layouts", layouts()),
                        ("plain", plain), ("training", training())):
        torch.save(value, folder / (name + ".pt"))
        write(folder / name, torch.load(folder / (name + ".pt")))
    old = {k: v for k, v in layouts().items() if k not in ("conj", "neg")}
    torch.save(old, folder / "legacy.pt", _use_new_zipfile_serialization=False)
    write(folder / "legacy", torch.load(folder / "legacy.pt"))
    repack(folder / "training.pt", folder / "deflated.pt",
           zipfile.ZIP_DEFLATED)
    write(folder / "deflated", torch.load(folder / "training.pt"))
    torch.save({"x": torch.tensor([1.5, -2, 1e300], dtype=torch.float64)},
               folder / "endian.pt")
    big_endian(folder / "endian.pt", folder / "endian.big.pt")
    (folder / "endian.pt").unlink()
    write(folder / "endian.big",
          {"x": torch.tensor([1.5, -2, 1e300], dtype=torch.float64)})
    torch.save({"x": torch.zeros(1 << 20)}, folder / "zeros.pt")
    repack(folder / "zeros.pt", folder / "bomb.pt", zipfile.ZIP_DEFLATED)
    (folder / "zeros.pt").unlink()
    torch.manual_seed(2)
    net = torch.jit.script(Net())
    torch.jit.save(net, folder / "script.pt")
    write(folder / "script", dict(net.state_dict(keep_vars=True)))
    drop = ("dtype", "device", "cpu", "layout", "size")
    rest = {k: v for k, v in plain.items() if k not in drop}
    for name in ("protocols", "scalars"):
        (folder / name).mkdir(exist_ok=True)
    for protocol in range(6):
        some = {k: v for k, v in rest.items()
                if protocol > 2 or k not in ("bytes", "array")}
        (folder / "protocols" / ("%d.pkl" % protocol)).write_bytes(
            pickle.dumps(some, protocol))
        write(folder / "protocols" / ("%d" % protocol), some)
        data, values = scalars(protocol)
        (folder / "scalars" / ("%d.pkl" % protocol)).write_bytes(data)
        write(folder / "scalars" / ("%d" % protocol), values)


def describe(out, files):
    for path in map(Path, files):
        with open(path, "rb") as f:
            zipped = f.read(2) == b"PK"
        names = zipfile.ZipFile(path).namelist() if zipped else []
        if any(n.endswith("/constants.pkl") for n in names):
            module = torch.jit.load(path, map_location="cpu")
            value = dict(module.state_dict(keep_vars=True))
        else:
            value = torch.load(path, map_location="cpu")
        base = out / str(path.resolve()).strip("/").replace("/", "+")
        write(base, value)
        base.with_name(base.name + ".path").write_text(str(path.resolve()))


if __name__ == "__main__":
    if sys.argv[1] == "golden":
        golden(Path(sys.argv[2]))
    else:
        describe(Path(sys.argv[2]), sys.argv[3:])
