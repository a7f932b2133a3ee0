/*
** Two operations of arithmetic in one pass: t = a FIRST b, then t SECOND c, or
** c SECOND t for the two that are reversed. Each is rounded by itself, so that
** the bits are those of two passes; what is saved is a pass over memory.
*/
#ifndef LA_KERNEL_POINTWISE_TWO_STEPS_H
#define LA_KERNEL_POINTWISE_TWO_STEPS_H

#include "kernel/kernel.h"

typedef enum la_two_steps {
    LA_CHAIN_ADD, LA_CHAIN_SUB, LA_CHAIN_MUL, LA_CHAIN_DIV, LA_CHAIN_FIRSTS,
    LA_CHAIN_SUB_FROM = LA_CHAIN_FIRSTS, LA_CHAIN_DIV_INTO, LA_CHAIN_SECONDS
} la_two_steps;

/* Loops by first and second operation, for float32 and float64. The last two of
** the enum can only be second: t is their right operand. */
typedef la_loops la_chains[LA_CHAIN_FIRSTS][LA_CHAIN_SECONDS];
LA_STUB_DECLARE(la_chains, chains);

#endif
