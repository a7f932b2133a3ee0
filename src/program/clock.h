/* How long the steps of a program took, for step:profile. */
#ifndef LA_PROGRAM_CLOCK_H
#define LA_PROGRAM_CLOCK_H

#include <stdint.h>

typedef struct la_prog_clock {
    int32_t n;
    int64_t *ns;        /* [n]: of each step, all runs together */
} la_prog_clock;

static inline void la_prog_count(struct la_prog_clock *c, int32_t step,
                                 int64_t ns)
{
    if (step < c->n) c->ns[step] += ns;
}

#endif
