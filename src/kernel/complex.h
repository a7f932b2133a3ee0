/* Complex numbers of kernels: two plain fields, formulas written out. */
#ifndef LA_KERNEL_COMPLEX_H
#define LA_KERNEL_COMPLEX_H

#include "simd/vec.h"

typedef struct c64 { float re, im; } c64;
typedef struct c128 { double re, im; } c128;

#define CX c64
#define PART float
#define CXF(name) c64_##name
#define PARTF(name) name##f
#include "kernel/complex.inc"
#define CX c128
#define PART double
#define CXF(name) c128_##name
#define PARTF(name) name
#include "kernel/complex.inc"

#endif
