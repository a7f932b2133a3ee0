#!/usr/bin/env python3
"""Records for la.signal, by SciPy and PyTorch:

    python3 modules/signal/spec/data/record.py

Writes scipy.jsonl next to itself: a line per call, {"call", "args", "options",
"expect"}. A tensor is {"dtype", "shape", "data"} (parts of complex numbers in
turn), a table of tensors {"fields": ...}; positions and dims count from 1.
"loose" is a tolerance where results are not the last digits of a well
conditioned sum.
"""
import json
import os

import numpy as np
import scipy.signal as S
import torch

rng = np.random.RandomState(7)
records = []


def randn(*shape, dtype="float64"):
    x = np.round(rng.randn(*shape) * 64) / 64
    if dtype.startswith("complex"):
        x = x + 1j * np.round(rng.randn(*shape) * 64) / 64
    return x.astype(dtype)


def encode(v, digits=None):
    if isinstance(v, dict):
        return {"fields": {k: encode(x, digits) for k, x in v.items()}}
    if isinstance(v, np.ndarray):
        flat = v.reshape(-1)
        if np.iscomplexobj(v):
            flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
        data = flat.tolist()
        if digits and flat.dtype.kind == "f":
            data = [float("%.*g" % (digits, x)) for x in data]
        return {"dtype": str(v.dtype), "shape": list(v.shape), "data": data}
    if isinstance(v, (np.floating, np.integer, np.bool_)):
        return v.item()
    if isinstance(v, (list, tuple)):
        return [encode(x) for x in v]
    return v


def record(call, args, options, expect, loose=None):
    if not isinstance(expect, tuple):
        expect = (expect,)
    r = {"call": call, "args": [encode(a) for a in args],
         "options": {k: encode(v) for k, v in options.items()},
         "expect": [encode(np.asarray(e) if not isinstance(e, dict) else e, 14)
                    for e in expect]}
    if loose:
        r["loose"] = loose
    records.append(r)


# ---- windows ----

WINDOWS = [("boxcar", {}), ("hann", {}), ("hamming", {}), ("blackman", {}),
           ("bartlett", {}), ("triang", {}), ("cosine", {}), ("nuttall", {}),
           ("blackmanharris", {}), ("flattop", {}), ("parzen", {}),
           ("bohman", {}), ("barthann", {}), ("lanczos", {}),
           ("kaiser", {"beta": 8.6}), ("kaiser", {"beta": 0.0}),
           ("gaussian", {"std": 2.5}), ("tukey", {"alpha": 0.3}),
           ("tukey", {"alpha": 0.0}), ("tukey", {"alpha": 1.0}),
           ("exponential", {"tau": 3.0}), ("general_hamming", {"alpha": 0.6})]


def windows():
    for name, p in WINDOWS:
        spec = name
        if name == "exponential":
            spec = (name, None, p["tau"])
        elif p:
            spec = (name, *p.values())
        for n in (1, 2, 3, 8, 13):
            for sym in (False, True):
                w = S.get_window(spec, n, fftbins=not sym)
                record("window", [name, n],
                       {"sym": sym, "dtype": "float64", **p}, w)


# ---- filters ----

def filters():
    ba = [([1.0], [1.0]), ([0.5, 0.25, -0.125], [1.0]),
          ([0.25], [1.0, -0.5]), ([0.5, 0.1], [2.0, -0.75, 0.25, 0.1]),
          (list(S.butter(5, 0.3)[0]), list(S.butter(5, 0.3)[1])),
          (list(S.firwin(41, 0.2)), [1.0])]
    for b, a in ba:
        b, a = np.array(b), np.array(a)
        for shape, axis in (((17,), 0), ((3, 12), -1), ((40, 3), 0),
                            ((2, 11, 5), 1), ((0,), 0), ((2, 0), -1)):
            x = randn(*shape)
            d = axis + 1 if axis >= 0 else axis
            if x.size:
                record("lfilter", [b, a, x, d], {}, S.lfilter(b, a, x, axis))
            n = max(len(a), len(b)) - 1
            state = list(shape)
            state[axis] = n
            if n > 0 and x.size:
                zi = randn(*state)
                record("lfilter", [b, a, x, d], {"zi": zi},
                       S.lfilter(b, a, x, axis, zi=zi))
    c = randn(9, dtype="complex128")
    b = randn(3, dtype="complex128")
    a = np.array([1, 0.3 + 0.2j, -0.1j])
    record("lfilter", [b, a, c], {}, S.lfilter(b, a, c))
    x = randn(20, dtype="float32")
    b32, a32 = np.float32([0.5, 0.25]), np.float32([1, -0.5])
    record("lfilter", [b32, a32, x], {}, S.lfilter(b32, a32, x), 1e-6)
    for order in (1, 2, 5, 8):
        sos = S.butter(order, 0.3, output="sos")
        for shape, axis in (((20,), 0), ((3, 8), -1), ((9, 2), 0),
                            ((5, 18), 0), ((18, 4), 1)):
            x = randn(*shape)
            d = axis + 1 if axis >= 0 else axis
            record("sosfilt", [sos, x, d], {}, S.sosfilt(sos, x, axis))
            state = list(shape)
            state[axis] = 2
            zi = randn(len(sos), *state)
            record("sosfilt", [sos, x, d], {"zi": zi},
                   S.sosfilt(sos, x, axis, zi=zi))
    for b, a in ba[1:]:
        record("lfilter_zi", [np.array(b), np.array(a)], {},
               S.lfilter_zi(b, a), 1e-9)
    sos = S.butter(6, 0.2, output="sos")
    record("sosfilt_zi", [sos], {}, S.sosfilt_zi(sos), 1e-9)
    for pad in ("odd", "even", "constant", None):
        x = randn(3, 40)
        options = {"padtype": pad or False}
        b, a = S.butter(3, 0.25)
        record("filtfilt", [b, a, x], options,
               S.filtfilt(b, a, x, padtype=pad), 1e-10)
        record("filtfilt", [b, a, x.T.copy()], {**options, "dim": 1},
               S.filtfilt(b, a, x.T, 0, padtype=pad), 1e-10)
        sos = S.butter(4, 0.25, output="sos")
        record("sosfiltfilt", [sos, x], options,
               S.sosfiltfilt(sos, x, padtype=pad), 1e-10)
    record("filtfilt", [b, a, x], {"padlen": 5},
           S.filtfilt(b, a, x, padlen=5), 1e-10)
    sos = S.butter(3, [0.2, 0.4], "bandpass", output="sos")
    record("sosfiltfilt", [sos, x], {"padlen": 0},
           S.sosfiltfilt(sos, x, padlen=0), 1e-9)


def design():
    for order in (1, 2, 3, 4, 5, 8):
        for btype, wn in (("lowpass", 0.2), ("highpass", 0.55),
                          ("bandpass", [0.15, 0.4]), ("bandstop", [0.3, 0.6])):
            for output in ("sos", "ba"):
                got = S.butter(order, wn, btype, output=output)
                record("butter", [order, wn],
                       {"btype": btype, "output": output}, got, 1e-9)
    record("butter", [4, 1200.0], {"fs": 8000},
           S.butter(4, 1200.0, fs=8000, output="sos"), 1e-9)
    record("butter", [2, [300.0, 3000.0]], {"fs": 8000, "btype": "band"},
           S.butter(2, [300.0, 3000.0], "band", fs=8000, output="sos"), 1e-9)
    for n, c, o in ((7, 0.3, {}), (8, 0.3, {}), (21, [0.2, 0.5], {}),
                    (21, [0.2, 0.5], {"pass_zero": False}),
                    (15, 0.4, {"pass_zero": False}),
                    (15, 0.4, {"pass_zero": "highpass"}),
                    (31, 0.4, {"width": 0.1}), (9, 0.3, {"scale": False}),
                    (9, 100.0, {"fs": 1000.0}), (9, 0.3, {"window": "hann"}),
                    (9, 0.3, {"window": ["kaiser", 4.0]}), (1, 0.3, {})):
        p = dict(o)
        if isinstance(p.get("window"), list):
            p["window"] = tuple(p["window"])
        record("firwin", [n, c], o, S.firwin(n, c, **p))
    b, a = S.butter(4, 0.3)
    for o in ({}, {"n": 7}, {"n": 8, "whole": True}, {"n": 6, "fs": 100.0}):
        p = dict(o)
        n = p.pop("n", 512)
        record("freqz", [b, a], o, S.freqz(b, a, worN=n, **p), 1e-8)
        sos = S.butter(5, 0.3, output="sos")
        record("sosfreqz", [sos], o, S.freqz_sos(sos, worN=n, **p), 1e-8)
    taps = S.firwin(11, 0.2)
    record("freqz", [taps], {"n": 16}, S.freqz(taps, worN=16))


# ---- peaks ----

def found(got):
    peaks, props = got
    out = {}
    for k, v in props.items():
        if k.endswith(("_bases", "_edges", "_ips")):
            v = v + 1
        out[k] = np.asarray(v)
    return (np.asarray(peaks) + 1, out)


def peaks():
    walk = np.cumsum(randn(120))
    flat = np.array([0, 1, 1, 0, 2, 2, 2, 1, 3, 3, 3, 3, 0, 0, 1, 0.])
    for x in (walk, flat, np.round(walk), np.array([1.0, 2.0]),
              np.zeros(0), np.ones(5), np.array([0, 1, 0.])):
        for o in ({}, {"height": 1.0}, {"height": [None, 2.5]},
                  {"height": [0.5, 3.0]}, {"threshold": 0.5},
                  {"threshold": [0.1, 1.5]}, {"prominence": 1.0},
                  {"prominence": [0.5, 4.0]}, {"width": 2.0},
                  {"width": [1.0, 9.0], "rel_height": 0.8},
                  {"prominence": 0.2, "wlen": 11}, {"plateau_size": 1},
                  {"plateau_size": [2, 3]},
                  {"height": 0.0, "prominence": 0.5, "width": 1.0,
                   "threshold": 0.0, "plateau_size": 1}):
            record("find_peaks", [x], o, found(S.find_peaks(x, **o)))
    for distance in (1, 3, 7.5, 100):
        record("find_peaks", [walk], {"distance": distance, "width": 0.0},
               found(S.find_peaks(walk, distance=distance, width=0)))
    at, _ = S.find_peaks(walk)
    p, l, r = S.peak_prominences(walk, at)
    record("peak_prominences", [walk, at + 1], {}, (p, l + 1, r + 1))
    p, l, r = S.peak_prominences(walk, at, 9)
    record("peak_prominences", [walk, at + 1], {"wlen": 9}, (p, l + 1, r + 1))
    w, h, l, r = S.peak_widths(walk, at, 0.7)
    record("peak_widths", [walk, at + 1, 0.7], {}, (w, h, l + 1, r + 1))


# ---- smoothing, trends ----

def smoothing():
    for shape, k in (((20,), 3), ((20,), 7), ((5, 9), 3), ((5, 9), [1, 5]),
                     ((3, 4, 5), 3), ((3,), 5)):
        x = randn(*shape)
        record("medfilt", [x, k], {}, S.medfilt(x, k))
    x = randn(12).astype("float32")
    record("medfilt", [x], {}, S.medfilt(x))
    i = (randn(15) * 10).astype("int32")
    record("medfilt", [i, 5], {}, S.medfilt(i, 5))
    for w, p, o in ((5, 2, {}), (7, 3, {"deriv": 1, "delta": 0.5}),
                    (7, 3, {"deriv": 2}), (9, 4, {"mode": "mirror"}),
                    (5, 2, {"mode": "nearest"}), (5, 2, {"mode": "wrap"}),
                    (5, 2, {"mode": "constant", "cval": 1.5}),
                    (5, 2, {"mode": "constant"}), (6, 2, {}),
                    (6, 3, {"mode": "nearest"}), (3, 1, {"deriv": 2}),
                    (1, 0, {}), (21, 5, {})):
        x = randn(2, 25)
        record("savgol_filter", [x, w, p], o, S.savgol_filter(x, w, p, **o),
               1e-10)
    x = randn(25, 2)
    record("savgol_filter", [x, 5, 3], {"dim": 1},
           S.savgol_filter(x, 5, 3, axis=0), 1e-10)
    for o, p in (({}, {}), ({"type": "constant"}, {"type": "constant"}),
                 ({"bp": [6, 13]}, {"bp": [5, 12]}), ({"bp": 8}, {"bp": 7}),
                 ({"dim": 1}, {"axis": 0})):
        x = np.cumsum(randn(20, 20), 1)
        record("detrend", [x], o, S.detrend(x, **p), 1e-10)
    t = np.linspace(0, 3, 25)
    for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
        record("chirp", [t, 2.0, 2.5, 7.0], {"method": method},
               S.chirp(t, 2.0, 2.5, 7.0, method), 1e-9)
        record("chirp", [t, 7.0, 2.5, 2.0], {"method": method, "phi": 30},
               S.chirp(t, 7.0, 2.5, 2.0, method, 30), 1e-9)
    record("chirp", [t, 2.0, 2.5, 7.0],
           {"method": "quadratic", "vertex_zero": False},
           S.chirp(t, 2.0, 2.5, 7.0, "quadratic", vertex_zero=False), 1e-9)
    x = np.cumsum(randn(3, 30) * 2, 1)
    record("unwrap", [x], {}, np.unwrap(x))
    record("unwrap", [x], {"dim": 1, "period": 3.0},
           np.unwrap(x, axis=0, period=3.0))
    record("unwrap", [x], {"discont": 4.0}, np.unwrap(x, 4.0))


# ---- convolution, spectra, rates ----

def convolution():
    pairs = [((9,), (4,)), ((4,), (9,)), ((5,), (5,)), ((1,), (3,)),
             ((6, 7), (3, 2)), ((4, 5, 6), (2, 3, 1)), ((3, 4), (5, 6))]
    for sa, sv in pairs:
        for dtype in ("float64", "complex128"):
            a, v = randn(*sa, dtype=dtype), randn(*sv, dtype=dtype)
            for mode in ("full", "same", "valid"):
                for method in ("direct", "fft"):
                    o = {"mode": mode, "method": method}
                    record("convolve", [a, v], o, S.convolve(a, v, **o), 1e-10)
                    record("correlate", [a, v], o, S.correlate(a, v, **o),
                           1e-10)
    a, v = np.arange(-4, 5), np.array([3, -1, 2])
    record("convolve", [a, v], {}, S.convolve(a, v))
    record("convolve", [a, v], {"method": "fft"}, S.convolve(a, v))
    a, v = randn(400), randn(120)
    record("convolve", [a, v], {"mode": "valid"},
           S.convolve(a, v, "valid"), 1e-8)


def spectra():
    x = np.cumsum(randn(2, 300), 1)
    z = randn(90, dtype="complex128")
    record("welch", [x], {}, S.welch(x), 1e-9)
    record("spectrogram", [x], {}, S.spectrogram(x), 1e-9)
    x = x[:, :110].copy()
    for o in ({"fs": 100.0, "nperseg": 64}, {"nperseg": 33, "noverlap": 7},
              {"window": "hann", "nperseg": 50, "nfft": 64},
              {"nperseg": 64, "detrend": "linear", "scaling": "spectrum"},
              {"nperseg": 64, "detrend": False, "mode": "magnitude"},
              {"nperseg": 60, "mode": "complex"}, {"nperseg": 150}):
        record("spectrogram", [x], o, S.spectrogram(x, **o), 1e-9)
    record("spectrogram", [z], {"nperseg": 40}, S.spectrogram(
        z, nperseg=40, return_onesided=False), 1e-9)
    for o in ({"fs": 50.0, "nperseg": 64},
              {"nperseg": 64, "average": "median"},
              {"nperseg": 51, "average": "median", "noverlap": 3},
              {"window": "blackman", "nperseg": 40, "nfft": 51,
               "scaling": "spectrum"}, {"detrend": "linear", "nperseg": 100}):
        record("welch", [x], o, S.welch(x, **o), 1e-9)
    record("welch", [z], {"nperseg": 40}, S.welch(
        z, nperseg=40, return_onesided=False), 1e-9)
    for o in ({}, {"fs": 10.0, "window": "hann"}, {"nfft": 150}, {"nfft": 50},
              {"scaling": "spectrum", "detrend": False}):
        record("periodogram", [x], o, S.periodogram(x, **o), 1e-9)
    for n in (10, 11):
        x = randn(3, n)
        record("hilbert", [x], {}, S.hilbert(x), 1e-10)
        record("hilbert", [x], {"n": 16}, S.hilbert(x, 16), 1e-10)
        record("hilbert", [x.T.copy()], {"dim": 1}, S.hilbert(x.T, axis=0),
               1e-10)


def rates():
    for dtype in ("float64", "complex128"):
        for n in (12, 13):
            x = randn(2, n, dtype=dtype)
            for num in (1, 5, 6, 12, 13, 20, 25):
                record("resample", [x, num], {}, S.resample(x, num, axis=1),
                       1e-10)
            record("resample", [x, 8], {"window": "hann"},
                   S.resample(x, 8, axis=1, window="hann"), 1e-10)
            record("resample", [x, 18], {"window": ["tukey", 0.3]},
                   S.resample(x, 18, axis=1, window=("tukey", 0.3)), 1e-10)
            record("resample", [x, 3], {"dim": 1}, S.resample(x, 3), 1e-10)
        x = randn(2, 31, dtype=dtype)
        for up, down in ((2, 1), (1, 2), (3, 2), (5, 7), (4, 6), (10, 3),
                         (1, 1), (1, 40)):
            record("resample_poly", [x, up, down], {},
                   S.resample_poly(x, up, down, axis=1), 1e-10)
    x = randn(31, 2)
    h = randn(9)
    record("resample_poly", [x, 3, 2], {"dim": 1, "window": h},
           S.resample_poly(x, 3, 2, window=h), 1e-10)
    record("resample_poly", [x[:, 0].copy(), 3, 2], {"window": "hamming"},
           S.resample_poly(x[:, 0], 3, 2, window="hamming"), 1e-10)
    for pad in ("mean", "median", "minimum", "maximum"):
        record("resample_poly", [x, 3, 4], {"dim": 1, "padtype": pad},
               S.resample_poly(x, 3, 4, padtype=pad), 1e-10)


# ---- PyTorch's short-time transforms ----

def short_time():
    x = randn(2, 40)
    z = randn(40, dtype="complex128")
    cases = [(x, 8, {}), (x[0].copy(), 9, {"hop_length": 3}),
             (x, 8, {"hop_length": 3, "center": False, "window": "hann"}),
             (x, 10, {"win_length": 6, "hop_length": 2, "window": "hamming"}),
             (x, 10, {"win_length": 7, "hop_length": 2}),
             (x, 8, {"normalized": True, "onesided": False}),
             (x, 8, {"pad_mode": "constant", "window": randn(8)}),
             (x, 8, {"pad_mode": "replicate"}), (z, 8, {"window": "blackman"})]
    for t, n, o in cases:
        p = dict(o)
        length = p.get("win_length", n)
        if isinstance(p.get("window"), str):
            p["window"] = getattr(torch, p["window"] + "_window")(
                length, dtype=torch.float64)
        elif "window" in p:
            p["window"] = torch.tensor(p["window"])
        got = torch.stft(torch.tensor(t), n, return_complex=True, **p)
        record("stft", [t, n], o, got.resolve_conj().numpy(), 1e-10)
        p.pop("pad_mode", None)
        if p.get("center") is False:
            continue
        back = {k: v for k, v in o.items() if k != "pad_mode"}
        spectra = randn(*got.shape, dtype="complex128")
        for more in ({}, {"length": 30}, {"length": 45},
                     {"return_complex": True}):
            if more.get("return_complex") and not np.iscomplexobj(t):
                continue
            if spectra.shape[-2] == n and "onesided" not in p:
                more = {**more, "onesided": False}
            try:
                y = torch.istft(torch.tensor(spectra), n, **p, **more)
            except RuntimeError:    # no window reaches the end
                continue
            record("istft", [spectra, n], {**back, **more}, y.numpy(), 1e-10)


for part in (windows, filters, design, peaks, smoothing,
             convolution, spectra, rates, short_time):
    part()
folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "scipy.jsonl"), "w") as f:
    for r in records:
        f.write(json.dumps(r, separators=(",", ":")) + "\n")
print(len(records), "records")
