/* Running sums; floats and complex numbers in double, integers in int64. */
#include "kernel/scan/load.h"

/* The operation and its identity, for the three lists of dtypes. */
#define COMB(a, b) ((a) + (b))
#define IDENT 0
#define SCAN_BODY "kernel/scan/vec4.inc"
#include "kernel/scan/each_real.inc"
#include "kernel/scan/each_int.inc"
#undef IDENT
#define IDENT ((scan_pair){0, 0})
#define CARRY scan_pair
#define GET(tag) pair_get_##tag
#define PUT(tag) pair_put_##tag
#include "kernel/scan/each_complex.inc"

const la_scans LA_KERNEL(scan_sum) = {SCAN_REALS, SCAN_INTS, SCAN_COMPLEXES};
