/* Sum, difference, product: the loops of add, sub, mul and rsub. */
#include "kernel/drive.h"
#include "simd/ordered.h"

#define NAME add
#define ARITY 2
#define EXPR(a, b) vordered((a) + (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) + (WIDE)(b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) ((a) | (b))
#include "kernel/each_bool.inc"
#define EXPR(a, b) vordered((a) + (b))
#include "kernel/each_pairs.inc"
#include "kernel/table.inc"

#define NAME sub
#define ARITY 2
#define EXPR(a, b) vordered((a) - (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) - (WIDE)(b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) vordered((a) - (b))
#include "kernel/each_pairs.inc"
#include "kernel/table.inc"

#define NAME mul
#define ARITY 2
#define EXPR(a, b) vordered((a) * (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) * (WIDE)(b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) ((a) & (b))
#include "kernel/each_bool.inc"
#define EXPR(a, b) vcmul(a, b)
#include "kernel/each_pairs.inc"
#include "kernel/table.inc"

/* a + alpha*b with two roundings. */
#define NAME add_scaled
#define ARITY 2
#define NPARAMS 1
#define EXPR(a, b) ((a) + p0 * (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) + (WIDE)p0 * (WIDE)(b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) ((a) | (p0 & (b)))
#include "kernel/each_bool.inc"
#define EXPR(a, b) ((a) + vcmul(p0, b))
#include "kernel/each_pairs.inc"
#include "kernel/table.inc"
