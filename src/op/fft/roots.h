/*
** Roots of unity e^(-2 pi i k / n) for tables: computed in numbers of two parts
** and rounded at the end, without a sine for each, and the same bits on every
** machine.
*/
#ifndef LA_OP_FFT_ROOTS_H
#define LA_OP_FFT_ROOTS_H

#include <stdint.h>

#include "base/dtype.h"
#include "base/libm/libm_parts.h"
#include "base/status.h"

typedef struct la_unit_root { la_pair c, s; } la_unit_root;

typedef struct la_roots {
    int64_t n, block;
    la_unit_root *table;           /* e^(2 pi i x / 8 n) for x < block, then for
                              ** multiples of block up to n */
    size_t bytes;
} la_roots;

la_status la_roots_open(la_roots *r, int64_t n);
void la_roots_close(la_roots *r);
#define LA_ROOTS __attribute__((cleanup(la_roots_close))) la_roots
/* Real and imaginary part for 0 <= k < n to 're' and 'im' of dtype 'real'. */
void la_roots_put(const la_roots *r, int64_t k, la_dtype real, void *re,
                  void *im);

#endif
