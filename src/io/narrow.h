/*
** Floats of a byte or less, in which files keep weights: those of OCP's 8-bit
** (OFP8) and microscaling (MX) formats. There is no dtype for them: readers
** widen them to float32.
*/
#ifndef LA_IO_NARROW_H
#define LA_IO_NARROW_H

#include <stddef.h>

typedef struct la_narrow la_narrow;

/* The kind by the letters behind "float8": "e4m3fn", "e5m2", their kinds with
** one zero and one NaN "e4m3fnuz" and "e5m2fnuz"; "e2m1" of 4 bits; powers of
** two "e8m0fnu". NULL for others. */
const la_narrow *la_narrow_of(const char *word, size_t n);
int la_narrow_bits(const la_narrow *kind);
/* The value of these bits; those above the kind's are not looked at. */
float la_narrow_value(const la_narrow *kind, unsigned bits);

#endif
