"""Cases of operators of com.microsoft with onnxruntime's results:

    python modules/onnx/spec/support/microsoft.py FILE

writes them as modules/onnx/spec/support/cases.lua packs cases. The packages
onnx and onnxruntime make them.
"""
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

R = np.random.default_rng(3)
KINDS = {np.dtype("float32"): TensorProto.FLOAT,
         np.dtype("int64"): TensorProto.INT64,
         np.dtype("int32"): TensorProto.INT32,
         np.dtype("uint8"): TensorProto.UINT8,
         np.dtype("int8"): TensorProto.INT8}


def f(*shape):
    return R.standard_normal(shape).astype(np.float32)


def ints(values, kind=np.int32):
    return np.array(values, kind)


def angles(n, width):
    at = np.arange(n)[:, None] / 100 ** (np.arange(width) / width)
    return np.cos(at).astype(np.float32), np.sin(at).astype(np.float32)


CASES = []


def case(name, op, inputs, outputs, **attributes):
    CASES.append((name, op, inputs, outputs, attributes))


case("attention", "Attention", [f(2, 3, 8), f(8, 24), f(24)], 1, num_heads=2)
case("attention_one_way", "Attention",
     [f(2, 3, 8), f(8, 24), f(24), ints([3, 2])], 1, num_heads=2,
     unidirectional=1)
case("attention_raw_mask", "Attention",
     [f(2, 3, 8), f(8, 24), f(24), ints([[1, 1, 0], [1, 1, 1]])], 1,
     num_heads=2)
case("attention_past", "Attention",
     [f(1, 2, 8), f(8, 24), f(24), None, f(2, 1, 2, 3, 4)], 2, num_heads=2,
     unidirectional=1)
case("attention_bias_widths", "Attention",
     [f(1, 3, 8), f(8, 20), f(20), None, None, f(1, 2, 3, 3)], 1, num_heads=2,
     qkv_hidden_sizes=[8, 8, 4], scale=0.3)
case("multi_head", "MultiHeadAttention", [f(2, 3, 8), f(2, 5, 8), f(2, 5, 8)],
     1, num_heads=2)
case("multi_head_bias_mask", "MultiHeadAttention",
     [f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), f(24),
      ints([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])], 1, num_heads=2)
case("multi_head_lengths_add", "MultiHeadAttention",
     [f(2, 3, 8), f(2, 5, 8), f(2, 5, 8), None, ints([5, 2]), f(1, 2, 3, 5)],
     1, num_heads=2, scale=0.2)
case("multi_head_past", "MultiHeadAttention",
     [f(1, 2, 8), f(1, 2, 8), f(1, 2, 8), None, None, None, f(1, 2, 3, 4),
      f(1, 2, 3, 4)], 3, num_heads=2, unidirectional=1)
case("multi_head_crossed", "MultiHeadAttention",
     [f(1, 2, 8), f(1, 2, 6, 4), f(1, 2, 6, 4)], 1, num_heads=2)
COS, SIN = angles(16, 4)
case("rotary", "RotaryEmbedding", [f(2, 3, 16), ints([2], np.int64), COS, SIN],
     1)
case("rotary_heads_interleaved", "RotaryEmbedding",
     [f(1, 2, 3, 8), ints([[4, 0, 9]], np.int64), COS, SIN], 1, interleaved=1)
case("rotary_part", "RotaryEmbedding",
     [f(1, 3, 24), ints([[1, 2, 3]], np.int64), COS, SIN], 1, num_heads=2,
     rotary_embedding_dim=8)
case("group_query_prompt", "GroupQueryAttention",
     [f(1, 3, 32), f(1, 3, 16), f(1, 3, 16), None, None, ints([2]),
      ints(3)], 3, num_heads=2, kv_num_heads=1)
case("group_query_token", "GroupQueryAttention",
     [f(2, 1, 64), f(2, 1, 32), f(2, 1, 32), f(2, 2, 5, 16),
      f(2, 2, 5, 16), ints([5, 3]), ints(6), *angles(8, 8)], 3,
     num_heads=4, kv_num_heads=2,
     do_rotary=1)
case("group_query_packed_window", "GroupQueryAttention",
     [f(1, 6, 64), None, None, None, None, ints([5]), ints(6),
      *angles(8, 8)], 3,
     num_heads=2, kv_num_heads=1, do_rotary=1, local_window_size=2,
     rotary_interleaved=1)
case("group_query_softcap", "GroupQueryAttention",
     [f(1, 4, 32), f(1, 4, 32), f(1, 4, 32), None, None, ints([3]), ints(4)],
     3, num_heads=2, kv_num_heads=2, softcap=1.5, scale=0.5)
case("skip_layer_norm", "SkipLayerNormalization",
     [f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)], 1, epsilon=1e-5)
case("skip_simplified_layer_norm", "SkipSimplifiedLayerNormalization",
     [f(2, 3, 8), f(2, 3, 8), f(8)], 1, epsilon=1e-5)
case("embed_layer_norm", "EmbedLayerNormalization",
     [ints([[1, 4, 2], [0, 3, 3]]), ints([[0, 0, 1], [1, 1, 0]]), f(6, 8),
      f(5, 8), f(2, 8), f(8), f(8), ints([[1, 1, 0], [1, 1, 1]])], 2)
case("fused_matmul", "FusedMatMul", [f(2, 4, 3), f(2, 5, 4)], 1, transA=1,
     transB=1, alpha=0.5)
case("gelu", "Gelu", [f(3, 5)], 1)
case("bias_gelu", "BiasGelu", [f(3, 5), f(5)], 1)
case("fast_gelu", "FastGelu", [f(3, 5), f(5)], 1)
case("quick_gelu", "QuickGelu", [f(3, 5)], 1)
case("matmul_nbits", "MatMulNBits",
     [f(3, 40), R.integers(0, 256, (5, 3, 8)).astype(np.uint8), f(5 * 3)], 1,
     K=40, N=5, bits=4, block_size=16)
case("dynamic_quantize_matmul", "DynamicQuantizeMatMul",
     [f(3, 8), R.integers(-128, 128, (8, 5)).astype(np.int8), f(1)], 1)
case("matmul_integer_to_float", "MatMulIntegerToFloat",
     [R.integers(0, 256, (3, 8)).astype(np.uint8),
      R.integers(-128, 128, (8, 5)).astype(np.int8), f(1), f(5),
      np.array(7, np.uint8)], 1)


def byte_weights(directions, rows, columns, kind=np.int8):
    limits = np.iinfo(kind)
    return R.integers(limits.min, limits.max + 1,
                      (directions, rows, columns)).astype(kind)


def scales(*shape):
    return (R.random(shape) * 0.006 + 0.001).astype(np.float32)


def quantized_lstm(directions, per_gate=False, kind=np.int8, bias=True,
                   lengths=None, states=False, peepholes=False):
    steps, batch, width, n = 6, 2, 5, 7
    shape = (directions, 4 * n) if per_gate else (directions,)
    zero = np.zeros if kind == np.int8 else lambda s, k: np.full(s, 131, k)
    return [f(steps, batch, width),
            byte_weights(directions, width, 4 * n, kind),
            byte_weights(directions, n, 4 * n, kind),
            f(directions, 8 * n) if bias else None, lengths,
            f(directions, batch, n) if states else None,
            f(directions, batch, n) if states else None,
            f(directions, 3 * n) if peepholes else None,
            scales(*shape), zero(shape, kind), scales(*shape),
            zero(shape, kind)]


case("dynamic_quantize_lstm", "DynamicQuantizeLSTM", quantized_lstm(1), 3,
     hidden_size=7)
case("dynamic_quantize_lstm_both", "DynamicQuantizeLSTM",
     quantized_lstm(2, kind=np.uint8, states=True), 3, hidden_size=7,
     direction="bidirectional")
case("dynamic_quantize_lstm_per_gate_reverse", "DynamicQuantizeLSTM",
     quantized_lstm(1, per_gate=True, bias=False, states=True), 3,
     hidden_size=7, direction="reverse")
case("dynamic_quantize_lstm_peepholes", "DynamicQuantizeLSTM",
     quantized_lstm(1, peepholes=True), 3, hidden_size=7)
case("dynamic_quantize_lstm_lengths", "DynamicQuantizeLSTM",
     quantized_lstm(2, lengths=ints([6, 4])), 3, hidden_size=7,
     direction="bidirectional")
case("dynamic_quantize_lstm_clip", "DynamicQuantizeLSTM",
     quantized_lstm(1), 3, hidden_size=7, clip=0.5)
case("dynamic_quantize_lstm_functions", "DynamicQuantizeLSTM",
     quantized_lstm(1, states=True), 3, hidden_size=7,
     activations=["HardSigmoid", "Softsign", "Tanh"])


def build(op, inputs, outputs, attributes):
    names, values = [], []
    for k, x in enumerate(inputs):
        names.append("" if x is None else f"x{k}")
        if x is not None:
            values.append((f"x{k}", x))
    results = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op, names, results, domain="com.microsoft",
                            **attributes)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, KINDS[x.dtype], x.shape)
         for n, x in values],
        [onnx.ValueInfoProto(name=n) for n in results])
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    return model, dict(values)


# States of sequences that have ended count in onnxruntime's ranges otherwise: a
# byte may differ by one.
LIMITS = {"dynamic_quantize_lstm_lengths": b"1e-4 4e-3\n"}
# Threads quantize the states of their own sequences: their number would change
# the results of DynamicQuantizeLSTM.
OPTIONS = ort.SessionOptions()
OPTIONS.intra_op_num_threads = 1
with open(sys.argv[1], "wb") as file:
    for name, op, inputs, outputs, attributes in CASES:
        model, given = build(op, inputs, outputs, attributes)
        session = ort.InferenceSession(model.SerializeToString(), OPTIONS,
                                       providers=["CPUExecutionProvider"])
        results = session.run(None, given)
        texts = {"model.onnx": model.SerializeToString(),
                 "limits.txt": LIMITS.get(name, b"1e-4 1e-5\n")}
        data = "test_data_set_0/"
        for k, x in enumerate(given.values()):
            texts[f"{data}input_{k}.pb"] = \
                numpy_helper.from_array(x).SerializeToString()
        for k, y in enumerate(results):
            texts[f"{data}output_{k}.pb"] = \
                numpy_helper.from_array(y).SerializeToString()
        for path, text in texts.items():
            file.write(f"microsoft_{name}/{path} {len(text)}\n".encode())
            file.write(text)
