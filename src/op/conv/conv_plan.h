/*
** The plan of a direct convolution. The rows of the input that a band of output
** rows needs are copied, with their padding, into scratch memory that stays in
** the second-level cache, and the kernel multiplies from there.
**
** Invariant: what sums depend on (channels of a block, order of taps) follows
** from the kernel's shape alone; bands, columns and tasks may depend on caches
** and threads unless 'fixed'.
*/
#ifndef LA_OP_CONV_CONV_PLAN_H
#define LA_OP_CONV_CONV_PLAN_H

#include "op/conv/method.h"

#define LA_CONV_BLOCK 576   /* taps that are summed at a time, at least one
                            ** channel's */
#define LA_CONV_PART (4 * LA_CONV_BLOCK)  /* taps of one channel that are summed
                                          ** at a time; a multiple of 3 */

typedef struct la_conv_plan {
    const la_conv_kernels *ker;
    int64_t size;           /* of an element */
    int64_t batch, groups, ic, oc;
    la_window w[3];
    const char *src, *weight, *bias;
    char *dst;
    const int64_t *src_step, *dst_step;
    int64_t w_row, w_channel, w_group;   /* steps of the weight, elements */
    bool flip;              /* taps in reverse */
    bool fixed;             /* bands may depend on sizes alone */
    bool lanes;             /* 'channels' of the kernel instead of 'tiles' */
    int64_t panel;          /* output channels of a panel of weights */
    int64_t taps, channels, blocks;      /* channels per block */
    int64_t phases, phase, pitch, height;  /* of the copied rows */
    int64_t band, cols;     /* rows and columns of the output at a time */
    bool triples;           /* the last dim's taps are three neighbours */
    bool same_border;       /* zeros are at the same positions for every unit */
    int64_t bands, col_bands, units;
    int tasks;
    size_t packed_bytes, shift_bytes, scratch_bytes;
    char *packed, *scratch;
    int64_t *shift;
} la_conv_plan;

typedef struct la_conv_unit {
    int64_t n, g, d, row, rows, col, cols;   /* of one unit of work */
} la_conv_unit;

/* Is the scratch of one task, whose units have the fewest rows and columns,
** below LA_CONV_SCRATCH? Follows from the sizes alone. */
bool la_conv_plan_fits(const la_conv *c, const la_window w[3], int64_t ic);
/* The windows of the gradient of x for stride 1, which is a convolution. */
void la_conv_flip(const la_conv *c, la_window w[3]);
/* NULL: no direct method for the dtype. */
const la_conv_kernels *la_conv_kernels_of(la_dtype d);

/* 'fixed': everything that sums depend on follows from the sizes alone.
** Allocates nothing: scratch, packed and shift are the caller's to set. */
void la_conv_plan_make(la_conv_plan *s, const la_conv *c, bool backward,
                       bool fixed);
/* Fewer rows and columns of a unit, so that it has at most 'pixels' where more
** than one; before anything that depends on them. */
void la_conv_plan_shorten(la_conv_plan *s, int64_t pixels);
/* Fills s->shift: where each tap of each channel of a block lies. */
void la_conv_plan_shifts(const la_conv_plan *s);
la_conv_unit la_conv_plan_unit(const la_conv_plan *s, int64_t unit);
/* Rows of 'count' channels from 'first' on for one unit; with same_border
** 'scratch' is zero outside of what earlier units wrote. */
void la_conv_plan_copy(const la_conv_plan *s, char *scratch,
                       const la_conv_unit *p, int64_t first, int64_t count);

/* Helpers of the plans: minimum, ceiling division, and sizes rounded up so that
** every part of the scratch begins at a cache line. */
static inline int64_t la_conv_lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t la_conv_ceil_div(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}
static inline size_t la_conv_aligned(int64_t bytes)
{
    return ((size_t)bytes + 127) & ~(size_t)63;
}

#endif
