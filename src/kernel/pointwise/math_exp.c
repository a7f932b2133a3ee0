/* Exponentials and logarithms; methods in simd/math/math.h. complex64 goes by
** vectors where complex_wide.h has the function, else one by one by C's. */
#include "kernel/pointwise/complex/complex_pairs.h"
#include "kernel/pointwise/complex/complex_wide.h"
#include "kernel/each/drive.h"
#include "simd/math/math.h"

#define NAME exp
#define HEAVY 2
#define COMPLEX_LANES_BOTH
#include "kernel/each/function.inc"

#define NAME exp2
#define HEAVY 2
#define COMPLEX_SINGLE
#include "kernel/each/function.inc"

#define NAME expm1
#define HEAVY 2
#define COMPLEX_LANES
#include "kernel/each/function.inc"

#define NAME log
#define HEAVY 2
#define COMPLEX_LANES
#include "kernel/each/function.inc"

#define NAME log2
#define HEAVY 2
#define COMPLEX_LANES
#include "kernel/each/function.inc"

#define NAME log10
#define HEAVY 2
#define COMPLEX_LANES
#include "kernel/each/function.inc"

#define NAME log1p
#define HEAVY 2
#define COMPLEX_LANES
#include "kernel/each/function.inc"
