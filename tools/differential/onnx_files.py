#!/usr/bin/env python3
"""Files of la.onnx.save in onnx.checker and onnxruntime.

    lua tools/differential/onnx_files.lua FOLDER
    python tools/differential/onnx_files.py FOLDER

Results are compared with those that lunarray gave. Prints what differs, and the
count; the exit status is 1 if anything did.
"""

import glob
import sys

import numpy as np
import onnx
import onnxruntime as ort

folder = sys.argv[1]


def arrays(stem):
    files = glob.glob(f"{folder}/{stem}[0-9]*.npy")
    return [np.load(f"{folder}/{stem}{k + 1}.npy") for k in range(len(files))]


def differs(path, number):
    """What is wrong with the file, or nothing."""
    onnx.checker.check_model(f"{folder}/{path}", full_check=True)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(f"{folder}/{path}", options,
                                   ["CPUExecutionProvider"])
    inputs, wanted = arrays(f"{number}.in"), arrays(f"{number}.out")
    names = [i.name for i in session.get_inputs()]
    distinct = []
    for x in inputs:
        if len(names) == len(inputs) or not any(
                np.array_equal(x, y) for y in distinct):
            distinct.append(x)
    results = session.run(None, dict(zip(names, distinct)))
    if len(results) != len(wanted):
        return f"{len(results)} results, not {len(wanted)}"
    for k, (got, want) in enumerate(zip(results, wanted)):
        if got.dtype != want.dtype or got.shape != want.shape:
            return f"result {k + 1}: {got.dtype}{got.shape}, not " \
                f"{want.dtype}{want.shape}"
        if want.dtype.kind != "f":
            if not np.array_equal(got, want):
                return f"result {k + 1} differs"
        else:
            finite = want[np.isfinite(want)]
            limit = np.abs(finite).max() if finite.size else 0
            if not np.allclose(got, want, 1e-4, 1e-5 * (1 + limit),
                               equal_nan=True):
                return f"result {k + 1} differs by " \
                    f"{np.abs(got - want).max():.1e}"
    return None


def main():
    total, bad = 0, 0
    for line in open(f"{folder}/index.txt"):
        name, path, number = line.rstrip("\n").split("\t")
        total += 1
        try:
            problem = differs(path, number)
        except Exception as e:
            problem = f"{type(e).__name__}: {str(e).splitlines()[0][:300]}"
        if problem:
            bad += 1
            print(f"{name} ({path}): {problem}")
    print(f"{total - bad} of {total} files agree with onnxruntime "
          f"{ort.__version__}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
