#!/bin/sh
# Measures matrix products against their peers and writes bench/GEMM.md and
# bench/gemm.svg. From the root of the sources, after 'make'. PYTHON names an
# interpreter that has NumPy and PyTorch (left out when there is none), RUN a
# command to run each step under. KEEP=1 keeps the lines measured and measures
# only what is not there yet.
set -e
sizes="${SIZES:-16 32 64 96 128 192 256 384 512 768 1024 1536 2048}"
out="${TMPDIR:-/tmp}/gemm-bench"
mkdir -p "$out"

# Releases older than the processor take AVX2 kernels on it unless told.
if grep -q avx512vl /proc/cpuinfo 2>/dev/null; then
    export OPENBLAS_CORETYPE="${OPENBLAS_CORETYPE:-SkylakeX}"
    export BLIS_ARCH_TYPE="${BLIS_ARCH_TYPE:-skx}"
fi

measure() {  # threads dtype file
    if [ "$1" = 1 ]; then
        $RUN "$out/gemm" "$1" "$2" $sizes > "$3"
    else
        for who in lunarray openblas blis; do
            WHO=$who $RUN "$out/gemm" "$1" "$2" $sizes
        done > "$3"
    fi
    $RUN ${PYTHON:-python3} bench/gemm/gemm_peers.py "$1" "$2" $sizes \
        >> "$3" || true
}

${CC:-gcc} -O2 -Isrc bench/gemm/gemm.c build/liblunarray.a -o "$out/gemm" \
    -lsleef -lz -lm -lpthread -ldl
for threads in ${THREADS:-1 2}; do
    for dtype in ${DTYPES:-float32 float64 complex64}; do
        file="$out/$dtype-$threads.txt"
        [ "$KEEP" ] && [ -s "$file" ] || measure "$threads" "$dtype" "$file"
        files="$files $file"
    done
done
${LUA:-lua5.4} bench/gemm/gemm_page.lua $files
gnuplot bench/gemm.gp
rm bench/gemm.gp bench/gemm.dat
[ "$KEEP" ] || rm -r "$out"
