/* Running products; floats and complex numbers in double, integers in int64. */
#include "kernel/scan_load.h"

#define COMB(a, b) ((a) * (b))
#define IDENT 1
#define SCAN_BODY "kernel/scan_fours.inc"
#include "kernel/scan_reals.inc"
#include "kernel/scan_ints.inc"
#include "kernel/scan_complexes.inc"

const la_scans LA_KERNEL(scan_prod) = {SCAN_REALS, SCAN_INTS, SCAN_COMPLEXES};
