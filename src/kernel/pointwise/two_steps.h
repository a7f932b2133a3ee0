/*
** Two operations of arithmetic in one pass: t = a FIRST b, then t SECOND c, or
** c SECOND t for the two that are reversed. Each is rounded by itself, so that
** the bits are those of two passes.
*/
#ifndef LA_KERNEL_POINTWISE_TWO_STEPS_H
#define LA_KERNEL_POINTWISE_TWO_STEPS_H

#include "kernel/kernel.h"

typedef enum la_chain {
    LA_CHAIN_ADD, LA_CHAIN_SUB, LA_CHAIN_MUL, LA_CHAIN_DIV, LA_CHAIN_FIRSTS,
    LA_CHAIN_SUB_FROM = LA_CHAIN_FIRSTS, LA_CHAIN_DIV_INTO, LA_CHAIN_SECONDS
} la_chain;

/* By both, first and second; float32 and float64. */
typedef la_loops la_chains[LA_CHAIN_FIRSTS][LA_CHAIN_SECONDS];
LA_STUB_DECLARE(la_chains, chains);

#endif
