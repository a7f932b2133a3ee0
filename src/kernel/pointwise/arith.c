/*
** Sum, difference, product: the loops of add, sub, mul and rsub, and add_scaled
** for alpha. They are bound by memory, hence vordered (simd/keep_order.h): it
** keeps the loads in ascending address order. bool adds by or and multiplies by
** and.
*/
#include "kernel/each/drive.h"
#include "simd/keep_order.h"

#define ROWS 1
#define NAME add
#define ARITY 2
#define EXPR(a, b) vordered((a) + (b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) + (WIDE)(b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) | (b))
#include "kernel/each/each_bool.inc"
#define EXPR(a, b) vordered((a) + (b))
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define ROWS 1
#define NAME sub
#define ARITY 2
#define EXPR(a, b) vordered((a) - (b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) - (WIDE)(b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) vordered((a) - (b))
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

#define ROWS 1
#define NAME mul
#define ARITY 2
#define EXPR(a, b) vordered((a) * (b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) * (WIDE)(b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) & (b))
#include "kernel/each/each_bool.inc"
#define EXPR(a, b) vcmul(a, b)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

/* a + alpha*b with two roundings. */
#define ROWS 1
#define NAME add_scaled
#define ARITY 2
#define NPARAMS 1
#define EXPR(a, b) ((a) + p0 * (b))
#include "kernel/each/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) + (WIDE)p0 * (WIDE)(b))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b) ((a) | (p0 & (b)))
#include "kernel/each/each_bool.inc"
#define EXPR(a, b) ((a) + vcmul(p0, b))
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"
