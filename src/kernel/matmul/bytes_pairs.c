/* Products of bytes by pairs of 16 bits, whose products are added in 32. */
#include "kernel/matmul/bytes_table.inc"
