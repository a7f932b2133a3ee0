"""The other side of spec/io/interchange_spec.lua: reads what lunarray wrote
into a folder (check), or writes files of its own there (write), with each
package that is installed. Prints lines: "ok WHAT", "bad WHAT: WHY", "missing
PACKAGE"."""
import importlib
import sys

mode, folder = sys.argv[1], sys.argv[2]
INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
            "int64"]
PLAIN = ["bool"] + INTEGERS + ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]


def path(name):
    return folder + "/" + name


def package(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        print("missing " + name)


np = package("numpy")
torch = package("torch")
safe = package("safetensors")


def sample(dtype):
    """3 x 4: 0, 1, ...; halves of them, and an imaginary part, for others."""
    x = np.arange(12).reshape(3, 4)
    if dtype == "bool":
        return x % 3 == 0
    if dtype in INTEGERS:
        return x.astype(dtype)
    if dtype in COMPLEX:
        return (x / 2 - 1j * x).astype(dtype)
    return (x / 2).astype(dtype)


def same(what, got, want):
    got = np.asarray(got)
    if got.dtype != want.dtype or got.shape != want.shape:
        print("bad %s: %s %s" % (what, got.dtype, got.shape))
    elif not np.array_equal(got, want):
        print("bad %s: %s" % (what, got.tolist()))
    else:
        print("ok " + what)


def attempt(what, f):
    try:
        f()
    except Exception as error:
        print("bad %s: %s: %s" % (what, type(error).__name__,
                                  str(error).replace("\n", " ")))


def check_numpy():
    archive = np.load(path("lua.npz"))
    for dtype in PLAIN + COMPLEX:
        same("npy " + dtype, np.load(path("lua_%s.npy" % dtype)),
             sample(dtype))
        same("npz " + dtype, archive[dtype], sample(dtype))
    same("npy empty", np.load(path("lua_empty.npy")),
         np.zeros((0, 3), "float32"))
    same("npy scalar", np.load(path("lua_scalar.npy")),
         np.array(1.5, "float32"))
    table = np.genfromtxt(path("lua.csv"), delimiter=",", names=True)
    same("csv integers", table["i"], sample("float64").reshape(-1) * 2)
    same("csv floats", table["f"], np.arange(12) / 7)


def write_numpy():
    for dtype in PLAIN + COMPLEX:
        np.save(path("py_%s.npy" % dtype), sample(dtype))
    np.save(path("py_fortran.npy"), np.asfortranarray(sample("float32")))
    np.save(path("py_big.npy"), sample("int32").astype(">i4"))
    np.save(path("py_empty.npy"), np.zeros((0, 3), "float32"))
    np.save(path("py_scalar.npy"), np.array(1.5, "float32"))
    everything = {dtype: sample(dtype) for dtype in PLAIN + COMPLEX}
    np.savez(path("py.npz"), **everything)
    np.savez_compressed(path("py_small.npz"), **everything)
    np.savetxt(path("py.csv"), np.stack([np.arange(12), np.arange(12) / 7], 1),
               delimiter=",", header="i,f", comments="", fmt="%.17g")


def check_safetensors():
    from safetensors.numpy import load_file
    got = load_file(path("lua.safetensors"))
    for dtype in PLAIN:
        same("safetensors " + dtype, got[dtype], sample(dtype))


def write_safetensors():
    from safetensors.numpy import save_file
    save_file({dtype: sample(dtype) for dtype in PLAIN},
              path("py.safetensors"), {"made": "by safetensors"})


def check_torch():
    from safetensors.torch import load_file
    got = load_file(path("lua_bfloat16.safetensors"))["x"]
    assert got.dtype == torch.bfloat16
    same("torch bfloat16", got.float().numpy(), sample("float32"))
    for dtype in ["bool", "int64", "float16", "complex64"]:
        same("torch " + dtype,
             torch.from_numpy(np.load(path("lua_%s.npy" % dtype))).numpy(),
             sample(dtype))


def write_torch():
    from safetensors.torch import save_file
    save_file({"x": torch.from_numpy(sample("float32")).bfloat16()},
              path("py_bfloat16.safetensors"))
    print("ok torch bfloat16 written")


WAVES = {"uint8": (1, [0, 1, 128, 255]), "int16": (2, [-32768, 0, 5, 32767])}


def check_wave():
    import wave
    for dtype, (size, values) in WAVES.items():
        with wave.open(path("lua_%s.wav" % dtype)) as f:
            form = (f.getnchannels(), f.getsampwidth(), f.getframerate())
            data = f.readframes(10)
        want = b"".join((v % 256 ** size).to_bytes(size, "little")
                        for v in values)
        good = form == (2, size, 8000) and data == want
        print(("ok wave " if good else "bad wave ") + dtype)


def write_wave():
    import wave
    for dtype, (size, values) in WAVES.items():
        with wave.open(path("py_%s.wav" % dtype), "wb") as f:
            f.setparams((2, size, 8000, 0, "NONE", ""))
            f.writeframes(b"".join((v % 256 ** size).to_bytes(size, "little")
                                   for v in values))
        print("ok wave %s written" % dtype)


attempt("wave", globals()[mode + "_wave"])
if np:
    attempt("numpy", globals()[mode + "_numpy"])
    print("ok numpy")
if np and safe:
    attempt("safetensors", globals()[mode + "_safetensors"])
    print("ok safetensors")
if np and safe and torch:
    attempt("torch", globals()[mode + "_torch"])
    print("ok torch")
