/* Two operations of arithmetic in one pass; see two_steps.h. 'chains' has a row
** per first operation, an entry per second one. */
#include "kernel/pointwise/two_steps.h"

#include "kernel/each/drive.h"

#define ARITY 3
#define BEGIN add
#define OPEN(a, b) ((a) + (b))
#include "kernel/pointwise/loops/each_two_steps.inc"
#define BEGIN sub
#define OPEN(a, b) ((a) - (b))
#include "kernel/pointwise/loops/each_two_steps.inc"
#define BEGIN mul
#define OPEN(a, b) ((a) * (b))
#include "kernel/pointwise/loops/each_two_steps.inc"
#define BEGIN div
#define OPEN(a, b) ((a) / (b))
#include "kernel/pointwise/loops/each_two_steps.inc"
#undef ARITY

#define LOOP_(name, tag, cap) name##_##tag##_##cap
#define LOOP(name, tag, cap) LOOP_(name, tag, cap)
#define LOOPS(name) { \
    [LA_FLOAT32] = LOOP(name, f32, LA_CAP), \
    [LA_FLOAT64] = LOOP(name, f64, LA_CAP)}
#define ROW(begin) {                         \
    [LA_CHAIN_ADD] = LOOPS(begin##_add),     \
    [LA_CHAIN_SUB] = LOOPS(begin##_sub),     \
    [LA_CHAIN_MUL] = LOOPS(begin##_mul),     \
    [LA_CHAIN_DIV] = LOOPS(begin##_div),     \
    [LA_CHAIN_SUB_FROM] = LOOPS(begin##_sub_from), \
    [LA_CHAIN_DIV_INTO] = LOOPS(begin##_div_into)}

const la_chains LA_KERNEL(chains) = {
    [LA_CHAIN_ADD] = ROW(add), [LA_CHAIN_SUB] = ROW(sub),
    [LA_CHAIN_MUL] = ROW(mul), [LA_CHAIN_DIV] = ROW(div),
};
