/* Comparisons; the result is bool. */
#include "kernel/complex.h"

#define NAME eq
#define ARITY 2
#define RESULT uint8_t
#define EXPR(a, b) ((a) == (b))
#include "kernel/each_real.inc"
#define EXPR(a, b) ((a) == (b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) ((a) == (b))
#include "kernel/each_bool.inc"
#define EXPR(a, b) ((a).re == (b).re && (a).im == (b).im)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME ne
#define ARITY 2
#define RESULT uint8_t
#define EXPR(a, b) ((a) != (b))
#include "kernel/each_real.inc"
#define EXPR(a, b) ((a) != (b))
#include "kernel/each_bits.inc"
#define EXPR(a, b) ((a) != (b))
#include "kernel/each_bool.inc"
#define EXPR(a, b) ((a).re != (b).re || (a).im != (b).im)
#include "kernel/each_complex.inc"
#include "kernel/table.inc"

#define NAME lt
#define ARITY 2
#define RESULT uint8_t
#define EXPR(a, b) ((a) < (b))
#include "kernel/each_real.inc"
#define EXPR(a, b) ((a) < (b))
#include "kernel/each_int.inc"
#define EXPR(a, b) ((a) < (b))
#include "kernel/each_bool.inc"
#include "kernel/table.inc"

#define NAME le
#define ARITY 2
#define RESULT uint8_t
#define EXPR(a, b) ((a) <= (b))
#include "kernel/each_real.inc"
#define EXPR(a, b) ((a) <= (b))
#include "kernel/each_int.inc"
#define EXPR(a, b) ((a) <= (b))
#include "kernel/each_bool.inc"
#include "kernel/table.inc"

#define NAME gt
#define ARITY 2
#define RESULT uint8_t
#define EXPR(a, b) ((a) > (b))
#include "kernel/each_real.inc"
#define EXPR(a, b) ((a) > (b))
#include "kernel/each_int.inc"
#define EXPR(a, b) ((a) > (b))
#include "kernel/each_bool.inc"
#include "kernel/table.inc"

#define NAME ge
#define ARITY 2
#define RESULT uint8_t
#define EXPR(a, b) ((a) >= (b))
#include "kernel/each_real.inc"
#define EXPR(a, b) ((a) >= (b))
#include "kernel/each_int.inc"
#define EXPR(a, b) ((a) >= (b))
#include "kernel/each_bool.inc"
#include "kernel/table.inc"
