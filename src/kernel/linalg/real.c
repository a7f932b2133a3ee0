/* The linear algebra kernels of real numbers. */
#include "base/libm/libm.h"
#include "base/scratch.h"
#include "kernel/linalg/linalg.h"
#include "simd/generic.h"
#include "simd/permute/transpose.h"

#define INLINE static inline __attribute__((always_inline, unused))

#define LANE f32
#define REAL float
#define MASK i32v
#define TAG f32
#define PARTS 1
#include "kernel/linalg/each_linalg.inc"

#define LANE f64
#define REAL double
#define MASK i64v
#define TAG f64
#define PARTS 1
#include "kernel/linalg/each_linalg.inc"
