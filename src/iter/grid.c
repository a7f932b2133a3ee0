/*
** Cutting an iteration into boxes by sizes alone: what 32-bit splitting and
** reductions share. A part is a la_iter that borrows everything and must not
** be closed.
*/
#include "iter/steps.h"

void la_iter_grid_init(const la_iter *it, la_iter_grid *g)
{
    g->count = 1;
    for (int d = 0; d < it->ndim; d++) {
        g->size[d] = it->shape[d];
        g->along[d] = 1;
    }
}

void la_iter_grid_halve(const la_iter *it, la_iter_grid *g, int d)
{
    g->size[d] = (g->size[d] + 1) / 2;
    g->count /= g->along[d];
    g->along[d] = (it->shape[d] + g->size[d] - 1) / g->size[d];
    g->count *= g->along[d];
}

void la_iter_part(const la_iter *it, const la_iter_grid *g, int64_t k,
                  la_iter *part)
{
    part->noutputs = it->noutputs;
    part->noperands = it->noperands;
    part->ndim = it->ndim;
    part->flags = it->flags | LA_IT_BORROWED;
    part->numel = 1;
    part->common = it->common;
    part->device = it->device;
    part->coalesced = true;
    part->is_reduction = it->is_reduction;
    part->same_shape = it->same_shape;
    part->all_scalars = it->all_scalars;
    part->needs_cast = it->needs_cast;
    part->names = NULL;
    for (int i = 0; i < it->noperands; i++) {
        const la_iter_operand *from = &it->op[i];
        la_iter_operand *to = &part->op[i];
        to->tensor = from->tensor;
        to->data = from->data;
        to->current = from->current;
        to->target = from->target;
        to->is_output = from->is_output;
        to->is_read_write = from->is_read_write;
        to->will_resize = to->was_null = to->owned = false;
    }
    for (int d = 0; d < it->ndim; d++) {
        int64_t first = k % g->along[d] * g->size[d];
        int64_t left = it->shape[d] - first;
        k /= g->along[d];
        part->perm[d] = it->perm[d];
        part->shape[d] = left < g->size[d] ? left : g->size[d];
        part->numel *= part->shape[d];
        for (int i = 0; i < it->noperands; i++) {
            part->op[i].strides[d] = it->op[i].strides[d];
            part->op[i].data += first * it->op[i].strides[d];
        }
    }
}

/* --- 32-bit splitting --- */

/* The largest byte distance of an operand's elements in a box. */
static int64_t reach(const la_iter *it, const int64_t *size)
{
    int64_t most = 0;
    for (int k = 0; k < it->noperands; k++) {
        int64_t sum = 1;
        for (int d = 0; d < it->ndim; d++)
            sum += (size[d] - 1) * it->op[k].strides[d];
        if (sum > most) most = sum;
    }
    return most;
}

static bool small(const la_iter *it, const int64_t *size)
{
    int64_t numel = 1;
    for (int d = 0; d < it->ndim; d++) numel *= size[d];
    return numel <= INT32_MAX && reach(it, size) <= INT32_MAX;
}

bool la_iter_fits_32bit(const la_iter *it)
{
    return it->numel == 0 || small(it, it->shape);
}

/* The dim along which some operand reaches furthest. */
static int widest(const la_iter *it, const int64_t *size)
{
    int best = 0;
    int64_t most = -1;
    for (int d = 0; d < it->ndim; d++)
        for (int k = 0; size[d] > 1 && k < it->noperands; k++) {
            int64_t far = (size[d] - 1) * it->op[k].strides[d];
            if (far <= most) continue;
            most = far;
            best = d;
        }
    return best;
}

la_status la_iter_split_32bit(la_iter *it,
                              la_status (*fn)(la_iter *, void *), void *ctx)
{
    if (la_iter_fits_32bit(it)) return fn(it, ctx);
    la_iter_grid g;
    la_iter part;
    la_iter_grid_init(it, &g);
    while (!small(it, g.size))
        la_iter_grid_halve(it, &g, widest(it, g.size));
    for (int64_t k = 0; k < g.count; k++) {
        la_iter_part(it, &g, k, &part);
        LA_TRY(fn(&part, ctx));
    }
    return LA_OK;
}
