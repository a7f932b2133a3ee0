/* Running products; floats and complex numbers in double, integers in int64. */
#include "base/complex.h"
#include "kernel/scan/load.h"

/* The operation and its identity, for the three lists of dtypes. */
#define COMB(a, b) ((a) * (b))
#define IDENT 1
#define SCAN_BODY "kernel/scan/vec4.inc"
#include "kernel/scan/each_real.inc"
#ifndef __AVX512DQ__    /* there are no vectors of 64-bit products before */
#define SERIAL
#endif
#include "kernel/scan/each_int.inc"
#undef SERIAL
#undef COMB
#define COMB(a, b) la_c128_mul(a, b)
#define CARRY double _Complex
#define GET(tag) get_##tag
#define PUT(tag) put_##tag
#include "kernel/scan/each_complex.inc"

const la_scans LA_KERNEL(scan_prod) = {SCAN_REALS, SCAN_INTS, SCAN_COMPLEXES};
