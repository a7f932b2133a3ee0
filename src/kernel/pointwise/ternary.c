/* where, lerp, addcmul, addcdiv. */
#include "kernel/pointwise/complex/complex_loops.h"

/* An element of 16 bytes. */
typedef struct pair16 { uint64_t low, high; } pair16;
/* Chooses by bits: compilers make a branch, not vectors, of a choice between
** two loads. */
static inline pair16 choose16(uint8_t a, pair16 b, pair16 c)
{
    uint64_t all = 0 - (uint64_t)(a != 0);
    return (pair16){c.low ^ ((b.low ^ c.low) & all),
                    c.high ^ ((b.high ^ c.high) & all)};
}

#define NAME where
#define ARITY 3
#define IN1 uint8_t
#define EXPR(a, b, c) RAW_CHOOSE(a, b, c)
#include "kernel/each/each_raw.inc"
#include "kernel/each/table.inc"

/* Interpolates from the nearer end, so that both ends are met exactly. */
#define BETWEEN(a, b, c) vselect(vabs(c) < vset(c, 0.5), \
    (a) + (c) * ((b) - (a)), (b) - ((b) - (a)) * (1 - (c)))
#define BETWEEN_COMPLEX(a, b, c) \
    vselect(VPICK_(a, csquares)(c) < vset(c, 0.25), (a) + vcmul(c, (b) - (a)), \
    (b) - vcmul((b) - (a), VPICK_(a, cone)() - (c)))

#define NAME lerp
#define ARITY 3
#define EXPR(a, b, c) BETWEEN(a, b, c)
#include "kernel/each/each_float.inc"
#define EXPR(a, b, c) BETWEEN_COMPLEX(a, b, c)
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

/* a + p0*b*c */
#define NAME addcmul
#define ARITY 3
#define NPARAMS 1
#define EXPR(a, b, c) ((a) + p0 * (b) * (c))
#include "kernel/each/each_float.inc"
#define EXPR(a, b, c) ((WIDE)(a) + (WIDE)p0 * (WIDE)(b) * (WIDE)(c))
#include "kernel/each/each_bits.inc"
#define EXPR(a, b, c) ((a) + vcmul(vcmul(p0, b), c))
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"

/* a + p0*b/c */
#define NAME addcdiv
#define ARITY 3
#define NPARAMS 1
#define EXPR(a, b, c) ((a) + p0 * (b) / (c))
#include "kernel/each/each_float.inc"
#define EXPR(a, b, c) ((a) + vcdiv(vcmul(p0, b), c))
#include "kernel/each/each_complex_vec.inc"
#include "kernel/each/table.inc"
