#!/bin/sh
# Measures matrix products beside their peers and writes bench/GEMM.md and
# bench/gemm.svg. From the root of the sources, after 'make'. PYTHON names an
# interpreter that has NumPy and PyTorch (left out when there is none).
set -e
sizes="${SIZES:-16 32 64 96 128 192 256 384 512 768 1024 1536 2048}"
out="${TMPDIR:-/tmp}/gemm-bench.$$"
mkdir "$out"
${CC:-gcc} -O2 -Isrc bench/gemm.c build/liblunarray.a -o "$out/gemm" \
    -lsleef -lz -lm -lpthread -ldl
for threads in ${THREADS:-1 2}; do
    for dtype in ${DTYPES:-float32 float64 complex64}; do
        file="$out/$dtype-$threads.txt"
        "$out/gemm" "$threads" "$dtype" $sizes > "$file"
        ${PYTHON:-python3} bench/gemm_peers.py "$threads" "$dtype" $sizes \
            >> "$file" || true
        files="$files $file"
    done
done
${LUA:-lua5.4} bench/gemm_page.lua $files
gnuplot bench/gemm.gp
rm -r "$out" bench/gemm.gp bench/gemm.dat
