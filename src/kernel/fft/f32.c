/* The Fourier kernels of single precision. */
#include "base/scratch.h"
#include "kernel/fft/fft.h"
#include "simd/complex_lanes.h"
#include "simd/permute/transpose.h"
#include "simd/isa/unfused.h"

#define INLINE static inline __attribute__((always_inline, unused))

#define LANE f32
#define REAL float
#define REAL_BYTES 4
#include "kernel/fft/each_fft.inc"
