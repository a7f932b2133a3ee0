"""Builds the ONNX project's backend tests into a folder:

    python modules/onnx/spec/support/cases.py FOLDER

Each case is FOLDER/<kind>/<name> with model.onnx, files input_<i>.pb and
output_<i>.pb in test_data_set_<k>, and limits.txt with its relative and
absolute tolerance. The package onnx makes them (node, simple) or brings them
(pytorch-*); a case that this version fails to make is named and left out.
"""
import os
import shutil
import sys
import warnings

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.model import collect_testcases as models
from onnx.backend.test.case.node import collect_testcases as nodes
import onnx.backend.test.loader as loader


def message(value, info):
    kind = info.type.WhichOneof("value")
    if isinstance(value, (TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    return numpy_helper.from_array(numpy.asarray(value), info.name)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def build(case, folder):
    model = case.model
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    write(os.path.join(folder, "model.onnx"), model.SerializeToString())
    write(os.path.join(folder, "limits.txt"),
          f"{case.rtol or 1e-3} {case.atol or 1e-7}\n".encode())
    for k, (inputs, outputs) in enumerate(case.data_sets):
        data = os.path.join(folder, f"test_data_set_{k}")
        os.makedirs(data)
        for word, values, infos in (("input", inputs, model.graph.input),
                                    ("output", outputs, model.graph.output)):
            for i, value in enumerate(values):
                write(os.path.join(data, f"{word}_{i}.pb"),
                      message(value, infos[i]).SerializeToString())


def main(target):
    count = 0
    for case in list(nodes(None)) + list(models()):
        if case.model is None or case.data_sets is None:
            continue
        folder = os.path.join(target, case.kind, case.name)
        try:
            build(case, folder)
            count += 1
        except Exception as error:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"not tensor: {case.name}: {error!r:.200}")
    data = os.path.join(os.path.dirname(loader.__file__), "..", "data")
    for kind in ("pytorch-converted", "pytorch-operator", "simple"):
        source = os.path.join(data, kind)
        for name in sorted(os.listdir(source)) if os.path.isdir(source) else ():
            folder = os.path.join(target, kind, name)
            if not os.path.isdir(folder):
                shutil.copytree(os.path.join(source, name), folder)
                count += 1
    print(count, "cases")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main(sys.argv[1])
