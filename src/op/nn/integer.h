/* Products of bytes: kernels, zero points, blocks over threads. */
#ifndef LA_OP_NN_INTEGER_H
#define LA_OP_NN_INTEGER_H

#include "kernel/matmul/bytes.h"
#include "op/frame.h"

/* Those of the processor: their results are the same. */
const la_bytes_kernels *la_bytes_kernels_here(void);

/* Argument k has int8 or uint8. */
la_status la_check_bytes(const la_frame *f, int k);
/* Argument k, if it is there, is one zero point of argument 'of' or n. */
la_status la_check_zero(const la_frame *f, int k, int of, int64_t n);
/* n zero points (NULL: 0) of bytes that are flipped where they must be, for an
** operand with or without sign. */
void la_read_zeros(const la_tensor *zero, const la_tensor *of, bool as_signed,
                   int64_t n, int32_t *to);
/* Argument k, if it is there, is integer_pack of the rows x n matrix that
** is called 'of'. */
la_status la_check_packed(const la_frame *f, int k, const char *of,
                          int64_t rows, int64_t n);

/* n numbers to bytes by their range, which holds 0: their scale and zero
** point. */
void la_quantize_numbers(const float *from, int64_t n, uint8_t *to,
                         float *scale, uint8_t *zero);

/* Bytes of a row of A. */
int64_t la_bytes_row_size(int64_t quads);
/* g->m rows of k bytes, to 'to'; fills g->a, g->rest. */
void la_bytes_rows(la_bytes_block *g, uint8_t *to, int32_t *rest,
                   const uint8_t *src, int64_t rs, int64_t cs, int64_t k,
                   uint8_t flip);
/* All of a product, over threads. */
la_status la_bytes_run(const la_bytes_block *g);

#endif
