/*
** Direct convolution of float32 and float64: the tables of conv.h. ROWS, LINES
** and RUNS list the shapes of tiles that exist as code of their own, up to the
** number of vector registers: 32 with AVX512, 16 otherwise.
*/
#include "base/scratch.h"
#include "kernel/conv/conv.h"
#include "kernel/matmul/muladd.h"
#include "simd/permute/deinterleave.h"
#include "simd/permute/transpose.h"

#if VEC_BYTES == 64
#define MR 14
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) \
    ROW(10) ROW(11) ROW(12) ROW(13) ROW(14)
#define HALF_LINES LINE(1) LINE(2) LINE(3) LINE(4)
#define LINES HALF_LINES LINE(5) LINE(6) LINE(7) LINE(8)
#define HALF_RUNS NRUN(1) NRUN(2) NRUN(3) NRUN(4) NRUN(5) NRUN(6) NRUN(7)
#define RUNS HALF_RUNS NRUN(8) NRUN(9) NRUN(10) NRUN(11) NRUN(12) NRUN(13) \
    NRUN(14)
#else
#define MR 6
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6)
#define HALF_LINES LINE(1) LINE(2)
#define LINES HALF_LINES LINE(3)
#define HALF_RUNS NRUN(1) NRUN(2) NRUN(3)
#define RUNS HALF_RUNS NRUN(4) NRUN(5) NRUN(6)
#endif

#define ELEM float
#define VEC f32v
#define VL F32_LANES
#define FMA f32_fma
#define TRANSPOSE f32_transpose
#define EVEN f32_even
#define ODD f32_odd
#define LOAD_N f32_load_n
#define STORE_N f32_store_n
#define NAME(x) x##_f32
#include "kernel/conv/tile.inc"
#include "kernel/conv/channel_lanes.inc"

const la_conv_kernels LA_KERNEL(conv_f32) = {
    MR, F32_LANES, tiles_f32, channels_f32, taps_f32, finish_f32,
    unpack_f32, pack_f32, interleave_f32, split_f32
};

/* float64 is rare: fewer shapes, whose sums still hide the latency. */
#if VEC_BYTES == 64
#undef MR
#undef ROWS
#undef LINES
#undef HALF_LINES
#undef RUNS
#undef HALF_RUNS
#define MR 10
#define ROWS ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) \
    ROW(10)
#define HALF_LINES LINE(1) LINE(2) LINE(3)
#define LINES HALF_LINES LINE(4) LINE(5)
#define HALF_RUNS NRUN(1) NRUN(2) NRUN(3) NRUN(4) NRUN(5)
#define RUNS HALF_RUNS NRUN(6) NRUN(7) NRUN(8) NRUN(9) NRUN(10)
#endif

#define ELEM double
#define VEC f64v
#define VL F64_LANES
#define FMA f64_fma
#define TRANSPOSE f64_transpose
#define EVEN f64_even
#define ODD f64_odd
#define LOAD_N f64_load_n
#define STORE_N f64_store_n
#define NAME(x) x##_f64
#include "kernel/conv/tile.inc"
#include "kernel/conv/channel_lanes.inc"

const la_conv_kernels LA_KERNEL(conv_f64) = {
    MR, F64_LANES, tiles_f64, channels_f64, taps_f64, finish_f64,
    unpack_f64, pack_f64, interleave_f64, split_f64
};
