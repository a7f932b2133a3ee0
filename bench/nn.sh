#!/bin/sh
# Measures convolutions, attention, small products and training against PyTorch
# on one thread and writes bench/NN.md. From the root of the sources, after
# 'make'; PYTHON names an interpreter that has PyTorch.
set -e
out="${TMPDIR:-/tmp}/nn-bench.$$"
mkdir "$out"
export LUA_CPATH="build/?.so;;"
${LUA:-lua5.4} bench/nn_cases.lua > "$out/ours"
${PYTHON:-python3} bench/peers/nn_peers.py > "$out/peer"
${LUA:-lua5.4} bench/train_cases.lua >> "$out/ours"
${PYTHON:-python3} bench/peers/train_peers.py >> "$out/peer"
${LUA:-lua5.4} bench/nn_cases.lua page "$out/ours" "$out/peer"
rm -r "$out"
