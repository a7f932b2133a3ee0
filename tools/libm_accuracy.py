"""The errors of src/base/libm/*.c against mpmath, in units in the last place.

    cc -O2 -std=gnu11 -ffp-contract=off -fno-math-errno -Isrc -shared -fPIC \\
        src/base/libm/libm_*.c -o libm.so -lm
    python3 tools/libm_accuracy.py libm.so [POINTS [FUNCTION...]]

Random points of each range below and special ones; needs mpmath. The largest
error of results that are normal numbers, where it is, and how many results are
not the nearest double.
"""
import ctypes
import math
import random
import struct
import sys

import mpmath
from mpmath import mp, mpf

mp.prec = 200

POSITIVE = [("log", -1022, 1023), ("lin", 0.5, 2), ("lin", 0, 20)]
CIRCLE = [("lin", -4, 4), ("lin", -2000, 2000), ("sym", -30, 1023),
          ("halves", -3000, 3000)]
SMALL = [("lin", -1, 1), ("sym", -60, -1)]
WIDE = [("lin", -3, 3), ("sym", -60, 1020)]
RANGES = {
    "exp": [("lin", -708, 709.7), ("lin", -1, 1), ("sym", -60, 0)],
    "exp2": [("lin", -1022, 1023), ("lin", -1, 1)],
    "expm1": [("lin", -40, 709), ("lin", -1, 1), ("sym", -60, 0)],
    "log": POSITIVE, "log2": POSITIVE, "log10": POSITIVE,
    "log1p": [("lin", -1, 1), ("sym1", -60, 0), ("log", -60, 1000)],
    "sin": CIRCLE, "cos": CIRCLE, "tan": CIRCLE,
    "sinpi": [("lin", -4, 4), ("sym", -30, 40)],
    "cospi": [("lin", -4, 4), ("sym", -30, 40)],
    "asin": SMALL, "acos": SMALL, "atan": WIDE,
    "sinh": [("lin", -710, 710), ("lin", -1, 1), ("sym", -60, 3)],
    "cosh": [("lin", -710, 710), ("lin", -1, 1)],
    "tanh": [("lin", -22, 22), ("lin", -1, 1), ("sym", -60, 0)],
    "asinh": WIDE, "acosh": [("lin", 1, 3), ("log", 0, 1020)],
    "atanh": SMALL, "cbrt": [("sym", -1022, 1023), ("lin", -8, 8)],
    "erf": [("lin", -6, 6), ("sym", -60, 0)],
    "erfc": [("lin", -6, 26.5), ("lin", -1, 1), ("lin", 0.7, 4)],
    "lgamma": [("lin", 0, 3), ("lin", 3, 20), ("log", -100, 300)],
    "tgamma": [("lin", 0, 171), ("lin", -20, 8), ("lin", -169, -20)],
    "pow": None, "atan2": None, "hypot": None,
}
TRUE = {
    "exp": mpmath.exp, "exp2": lambda x: mpf(2) ** x, "expm1": mpmath.expm1,
    "log": mpmath.log, "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10, "log1p": mpmath.log1p, "sin": mpmath.sin,
    "cos": mpmath.cos, "tan": mpmath.tan, "sinpi": mpmath.sinpi,
    "cospi": mpmath.cospi, "asin": mpmath.asin, "acos": mpmath.acos,
    "atan": mpmath.atan, "sinh": mpmath.sinh, "cosh": mpmath.cosh,
    "tanh": mpmath.tanh, "asinh": mpmath.asinh, "acosh": mpmath.acosh,
    "atanh": mpmath.atanh, "cbrt": lambda x: mpmath.sign(x)
    * mpmath.cbrt(abs(x)), "erf": mpmath.erf, "erfc": mpmath.erfc,
    "lgamma": mpmath.loggamma, "tgamma": mpmath.gamma,
    "pow": lambda x, y: x ** y, "atan2": mpmath.atan2, "hypot": mpmath.hypot,
}


def draw(rng, kind, low, high):
    """A double: even in low..high, or with an even exponent."""
    if kind == "lin":
        return rng.uniform(low, high)
    if kind == "halves":        # next to multiples of a quarter of pi
        return rng.randrange(low, high) * math.pi / 4 * (1 + rng.uniform(
            -1e-15, 1e-15))
    x = math.ldexp(rng.uniform(1, 2), rng.randrange(low, high))
    if kind == "sym1":
        return -x if rng.random() < 0.5 and x < 1 else x
    return -x if kind == "sym" and rng.random() < 0.5 else x


def arguments(rng, name):
    if name == "pow":
        x = draw(rng, *rng.choice([("log", -1022, 1023), ("lin", 0, 3),
                                   ("lin", 0.99, 1.01)]))
        most = 700 / max(abs(math.log(x)), 1e-300) if x not in (0, 1) else 9
        return x, rng.uniform(-1, 1) * min(most, 1e6)
    if name in ("atan2", "hypot"):
        kind = rng.choice([("lin", -2, 2), ("sym", -60, 60),
                           ("sym", -1000, 1000)])
        return draw(rng, *kind), draw(rng, *kind)
    return (draw(rng, *rng.choice(RANGES[name])),)


def ulp(x):
    return math.ldexp(1.0, max(math.frexp(x)[1] - 53, -1074))


def measure(lib, name, points):
    fn = getattr(lib, "la_m_" + name)
    fn.restype = ctypes.c_double
    rng = random.Random(name)
    worst, where, wrong = 0.0, None, 0
    for _ in range(points):
        args = arguments(rng, name)
        fn.argtypes = [ctypes.c_double] * len(args)
        got, true = fn(*args), mpmath.re(TRUE[name](*map(mpf, args)))
        want = float(true)
        if abs(want) < 2.3e-308 or math.isinf(want):
            if got != want and not abs(got - want) <= 5e-324:
                print("   %s%r gives %r, not %r" % (name, args, got, want))
            continue
        error = float(abs(mpf(got) - true) / ulp(want))
        wrong += got != want
        if not error <= worst:
            worst, where = error, args
    print("%-8s %.4f ulp at %s, %.2f %% not the nearest"
          % (name, worst, where, 100.0 * wrong / points))
    return worst


def main():
    lib = ctypes.CDLL(sys.argv[1])
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    for name in sys.argv[3:] or RANGES:
        measure(lib, name, points)


main()
