/*
** The walk over a shape by linear position, in boxes of one or two dims: long
** inner loops, few calls. Dim 0 is the fastest.
*/
#include "iter/iter.h"

void la_dim_counter_init(la_dim_counter *c, int ndim, const int64_t *shape,
                         int64_t begin, int64_t end)
{
    c->shape = shape;
    c->ndim = ndim;
    c->begin = c->offset = begin;
    c->end = end;
    for (int d = 0; d < ndim; d++) {
        c->values[d] = shape[d] > 0 ? begin % shape[d] : 0;
        if (shape[d] > 0) begin /= shape[d];
    }
}

bool la_dim_counter_step(const la_dim_counter *c, int64_t step[2])
{
    int64_t left = c->end - c->offset;
    step[0] = step[1] = 1;
    if (left <= 0) return false;
    if (c->ndim == 0) return true;
    step[0] = la_min(c->shape[0] - c->values[0], left);
    if (c->ndim > 1 && step[0] == c->shape[0])
        step[1] = la_min(c->shape[1] - c->values[1], left / c->shape[0]);
    return true;
}

/* Move on by 'carry' along dim d. */
static void move_on(la_dim_counter *c, int d, int64_t carry)
{
    for (; d < c->ndim && carry > 0; d++) {
        int64_t value = c->values[d] + carry;
        carry = value >= c->shape[d];
        c->values[d] = carry ? value - c->shape[d] : value;
    }
}

void la_dim_counter_advance(la_dim_counter *c, const int64_t step[2])
{
    c->offset += step[0] * step[1];
    int d = step[1] != 1;  /* then a whole number of rows was taken */
    move_on(c, d, step[d]);
}

int64_t la_dim_counter_planes(const la_dim_counter *c, const int64_t step[2])
{
    if (c->ndim < 3 || step[0] != c->shape[0] || step[1] != c->shape[1])
        return 0;
    return la_min(c->shape[2] - c->values[2],
                 (c->end - c->offset) / (step[0] * step[1]));
}

void la_dim_counter_skip(la_dim_counter *c, int64_t planes)
{
    c->offset += planes * c->shape[0] * c->shape[1];
    move_on(c, 2, planes);
}
