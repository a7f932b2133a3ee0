/*
** Floats of 8 bits, which are widened to float32: OCP's E4M3 and E5M2, their
** kinds without infinities and with one zero (FNUZ), and powers of two (E8M0).
*/
#ifndef LA_PICKLE_FLOAT8_H
#define LA_PICKLE_FLOAT8_H

#include <stddef.h>

typedef enum la_float8 {
    LA_FLOAT8_NONE, LA_FLOAT8_E4M3FN, LA_FLOAT8_E5M2, LA_FLOAT8_E4M3FNUZ,
    LA_FLOAT8_E5M2FNUZ, LA_FLOAT8_E8M0FNU
} la_float8;

/* The kind of PyTorch's word "float8_e4m3fn"; LA_FLOAT8_NONE. */
la_float8 la_float8_of(const char *word, size_t n);
/* n of them as float32. */
void la_float8_widen(la_float8 kind, const unsigned char *from, float *out,
                     size_t n);

#endif
