/* The Fourier kernels of double precision. */
#include "base/scratch.h"
#include "kernel/fft/fft.h"
#include "simd/complex_lanes.h"
#include "simd/permute/transpose.h"
#include "simd/isa/unfused.h"

#define INLINE static inline __attribute__((always_inline, unused))

#define LANE f64
#define REAL double
#define REAL_BYTES 8
#include "kernel/fft/each_fft.inc"
