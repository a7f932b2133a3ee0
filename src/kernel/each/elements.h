/* The elements that kernels read and write, by the tags of their dtypes. */
#ifndef LA_KERNEL_EACH_ELEMENTS_H
#define LA_KERNEL_EACH_ELEMENTS_H

#include "base/half.h"

typedef float f32_elem;
typedef double f64_elem;
typedef la_f16 f16_elem;
typedef la_bf16 bf16_elem;
typedef struct c64 { float re, im; } c64_elem, c64;
typedef struct c128 { double re, im; } c128_elem, c128;

#endif
