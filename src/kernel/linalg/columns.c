/* Passes over columns, of real and of complex numbers. */
#include "kernel/linalg/columns.h"
#include <string.h>

#include "simd/complex_lanes.h"

#define LANE f64
#define REAL double
#define JOIN__(a, b) a##_##b
#define JOIN_(a, b) JOIN__(a, b)
#define GLUE__(a, b) a##b
#define GLUE_(a, b) GLUE__(a, b)
#define FN(name) JOIN_(name, TAG)
#define VL(name) JOIN_(LANE, name)
#define V f64v
#define W ((int)(VEC_BYTES / sizeof(REAL)))
#define INLINE static inline __attribute__((always_inline, unused))

#define TAG f64
#define PARTS 1
#include "kernel/linalg/columns.inc"
#undef TAG
#undef PARTS
#define TAG c128
#define PARTS 2
#include "kernel/linalg/columns.inc"
