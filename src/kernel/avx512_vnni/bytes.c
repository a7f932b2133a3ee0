/*
** Products of bytes by VPDPBUSD: four products are added to a sum of 32 bits at
** once, exactly, so that its results are those of all others.
*/
#ifdef __AVX512VNNI__
#include "kernel/matmul/bytes_table.inc"
#else
#include "kernel/matmul/bytes.h"

const la_bytes_kernels LA_KERNEL(bytes) = {0};
#endif
