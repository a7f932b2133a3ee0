/* Copies of elements by their size; the contract is in kernel/elements.c. */
#ifndef LA_KERNEL_ELEMENTS_H
#define LA_KERNEL_ELEMENTS_H

#include "kernel/kernel.h"

/* One loop per element size: 1, 2, 4, 8, 16 bytes. */
typedef la_loop la_move_table[5];
LA_STUB_DECLARE(la_move_table, move);

#endif
