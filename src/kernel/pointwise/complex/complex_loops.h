/*
** Complex numbers of kernels, element by element: two plain fields, formulas
** written out (C's own operators call library functions that recover
** infinities, which PyTorch does not). Vectors of them are in
** simd/complex_lanes.h.
*/
#ifndef LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_LOOPS_H
#define LA_KERNEL_POINTWISE_COMPLEX_COMPLEX_LOOPS_H

#include "kernel/each/drive.h"
#include "simd/isa/unfused.h"

#define CORE_UNFUSED SIMD_UNFUSED

#define CX c64
#define PART float
#define CXF(name) c64_##name
#define PARTF(name) name##f
#include "kernel/pointwise/complex/complex.inc"
#define CX c128
#define PART double
#define CXF(name) c128_##name
#define PARTF(name) name
#include "kernel/pointwise/complex/complex.inc"

#endif
