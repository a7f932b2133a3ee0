/* The linear algebra kernels of complex numbers. */
#include "base/libm/libm.h"
#include "base/scratch.h"
#include "kernel/linalg/linalg.h"
#include "simd/generic.h"
#include "simd/permute/transpose.h"

#define INLINE static inline __attribute__((always_inline, unused))

#define LANE f32
#define REAL float
#define MASK i32v
#define TAG c64
#define PARTS 2
#include "kernel/linalg/each_linalg.inc"

#define LANE f64
#define REAL double
#define MASK i64v
#define TAG c128
#define PARTS 2
#include "kernel/linalg/each_linalg.inc"
