/*
** Which packed products run on an ISA extension (see gemm_extension.c).
*/
#ifndef LA_OP_MATMUL_GEMM_EXTENSION_H
#define LA_OP_MATMUL_GEMM_EXTENSION_H

#include "op/matmul/gemm_problem.h"

/* The extension that the packed blocks of a dtype may go to; NULL: none. */
const la_gemm_kernels *la_gemm_extension_of(la_dtype dtype);
/* The extensions in use, as la_cpu_extensions; those of tiles have been
** tried. */
unsigned la_gemm_extensions(void);
/* The table for the packed blocks of one product: 'ker' or an extension's. */
const la_gemm_kernels *la_gemm_extension(const la_gemm *g,
                                         const la_gemm_kernels *ker);

#endif
