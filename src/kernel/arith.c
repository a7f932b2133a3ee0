/* Sum, difference, product: the loops of add, sub, mul and rsub. */
#include "kernel/complex.h"
#include "kernel/drive.h"

#define NAME add
#define ARITY 2
#define EXPR(a, b) ((a) + (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) + (WIDE)(b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) ((a) | (b))
#include "kernel/each_bool.inc"
#define EXPR(a, b) CXF(add)(a, b)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME sub
#define ARITY 2
#define EXPR(a, b) ((a) - (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) - (WIDE)(b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) CXF(sub)(a, b)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME mul
#define ARITY 2
#define EXPR(a, b) ((a) * (b))
#include "kernel/each_float.inc"
#define EXPR(a, b) ((WIDE)(a) * (WIDE)(b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) ((a) & (b))
#include "kernel/each_bool.inc"
#define EXPR(a, b) CXF(mul)(a, b)
#include "kernel/each_complex.inc"
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
#define EXPR(a, b) CXF(add)(a, CXF(mul)(p0, b))
#include "kernel/each_complex.inc"
#include "kernel/table.inc"
