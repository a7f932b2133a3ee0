/*
** Reductions: an iterator is cut into boxes by sizes alone, and every box is
** one job for whatever threads there are. Cutting along kept dims needs
** nothing more. When there are too few outputs for that, the input is cut
** along reduced dims too, each such slice folds into partial outputs of its
** own, and these are folded into the outputs in the order of slices.
*/
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "iter/steps.h"

#define ENOUGH_BOXES 64          /* keeps any sensible number of threads busy */
#define BOX_ELEMENTS LA_GRAIN    /* a box is not worth less */

bool la_iter_is_reduced(const la_iter *it, int d)
{
    for (int k = 0; k < it->noutputs; k++)
        if (it->op[k].strides[d] == 0 && it->shape[d] > 1) return true;
    return false;
}

/* The largest dim of a box that may be halved; -1 when all have size 1. */
static int largest(const la_iter *it, const la_iter_grid *g, bool reduced)
{
    int best = -1;
    for (int d = 0; d < it->ndim; d++)
        if (g->size[d] > 1 && la_iter_is_reduced(it, d) == reduced
            && (best < 0 || g->size[d] >= g->size[best]))
            best = d;
    return best;
}

static void cut(const la_iter *it, la_iter_grid *g, bool reduced)
{
    while (g->count < ENOUGH_BOXES && it->numel / g->count > BOX_ELEMENTS) {
        int d = largest(it, g, reduced);
        if (d < 0) return;
        la_iter_grid_halve(it, g, d);
    }
}

typedef struct reduction {
    const la_iter *it;
    la_loop loop, combine;
    const void *params;
    la_iter_grid grid;
    int64_t slices;            /* boxes along reduced dims */
    int64_t noutputs_elements; /* kept positions */
    char *partial[LA_ITER_MAX_OPS];  /* slices - 1 times the outputs */
    int64_t steps[LA_ITER_MAX_OPS][LA_MAX_DIMS]; /* bytes, in partials */
} reduction;

/* Which slice is box k in? Counts along the reduced dims only. */
static int64_t slice_of(const reduction *r, int64_t k)
{
    int64_t slice = 0, weight = 1;
    for (int d = 0; d < r->it->ndim; d++) {
        int64_t at = k % r->grid.along[d];
        k /= r->grid.along[d];
        if (!la_iter_is_reduced(r->it, d)) continue;
        slice += at * weight;
        weight *= r->grid.along[d];
    }
    return slice;
}

/* Let the part's outputs be those of its slice. */
static void redirect(const reduction *r, int64_t k, la_iter *part)
{
    int64_t slice = slice_of(r, k);
    if (slice == 0) return;
    for (int i = 0; i < r->it->noutputs; i++) {
        la_iter_operand *op = &part->op[i];
        int64_t size = (int64_t)la_dtype_size(op->current), index = k;
        op->data = r->partial[i] + (slice - 1) * r->noutputs_elements * size;
        for (int d = 0; d < r->it->ndim; d++) {
            int64_t first = index % r->grid.along[d] * r->grid.size[d];
            index /= r->grid.along[d];
            op->strides[d] = r->steps[i][d];
            op->data += first * op->strides[d];
        }
    }
}

static void run_boxes(int64_t begin, int64_t end, void *context)
{
    const reduction *r = context;
    la_iter part;
    for (int64_t k = begin; k < end && !la_interrupted(); k++) {
        la_iter_part(r->it, &r->grid, k, &part);
        if (r->slices > 1) redirect(r, k, &part);
        la_iter_range(&part, 0, part.numel, r->loop, r->params);
    }
}

static void count_slices(reduction *r)
{
    r->slices = r->noutputs_elements = 1;
    for (int d = 0; d < r->it->ndim; d++) {
        if (la_iter_is_reduced(r->it, d)) r->slices *= r->grid.along[d];
        else r->noutputs_elements *= r->it->shape[d];
    }
}

/* An iterator over the kept positions, outputs first, then 'slice' partials
** of each; dims that are reduced have size 1. */
static void partial_iter(const reduction *r, int64_t slice, la_iter *p)
{
    const la_iter *it = r->it;
    la_iter_grid whole;
    la_iter_grid_init(it, &whole);
    la_iter_part(it, &whole, 0, p);
    p->noperands = 2 * it->noutputs;
    p->numel = r->noutputs_elements;
    p->needs_cast = false;
    for (int d = 0; d < it->ndim; d++)
        if (la_iter_is_reduced(it, d)) p->shape[d] = 1;
    for (int i = 0; i < it->noutputs; i++) {
        la_iter_operand *in = &p->op[it->noutputs + i];
        int64_t size = (int64_t)la_dtype_size(it->op[i].current);
        in->data = r->partial[i] + (slice - 1) * r->noutputs_elements * size;
        in->tensor = NULL;
        in->current = it->op[i].current;
        in->target = p->op[i].target = in->current;
        in->is_output = false;
        memcpy(in->strides, r->steps[i], sizeof(int64_t) * it->ndim);
    }
}

/* Partial outputs start as copies of the caller's. */
static void seed_partials(const reduction *r)
{
    la_iter p;
    for (int64_t slice = 1; slice < r->slices; slice++) {
        partial_iter(r, slice, &p);
        int n = r->it->noutputs;
        for (int i = 0; i < n; i++) {
            la_iter one;
            la_iter_grid whole;
            la_iter_grid_init(&p, &whole);
            la_iter_part(&p, &whole, 0, &one);
            one.op[0] = p.op[n + i];
            one.op[1] = p.op[i];
            one.noutputs = 1;
            one.noperands = 2;
            la_dtype t = p.op[i].current;
            la_iter_range(&one, 0, one.numel, la_cast_loop(t, t), NULL);
        }
    }
}

static void fold_partials(const reduction *r)
{
    la_iter p;
    for (int64_t slice = 1; slice < r->slices; slice++) {
        partial_iter(r, slice, &p);
        la_iter_range(&p, 0, p.numel, r->combine, r->params);
    }
}

static void partial_steps(reduction *r, int i)
{
    int64_t next = (int64_t)la_dtype_size(r->it->op[i].current);
    for (int d = 0; d < r->it->ndim; d++) {
        bool reduced = la_iter_is_reduced(r->it, d);
        r->steps[i][d] = reduced ? 0 : next;
        if (!reduced) next *= r->it->shape[d];
    }
}

static int64_t partial_bytes(const reduction *r, int i)
{
    return (r->slices - 1) * r->noutputs_elements
        * (int64_t)la_dtype_size(r->it->op[i].current);
}

static void free_partials(reduction *r, int count)
{
    for (int i = 0; i < count; i++)
        la_mem_free(r->partial[i], (size_t)partial_bytes(r, i));
}

static la_status allocate_partials(reduction *r)
{
    for (int i = 0; i < r->it->noutputs; i++) {
        partial_steps(r, i);
        r->partial[i] = la_mem_alloc((size_t)partial_bytes(r, i));
        if (r->partial[i]) continue;
        free_partials(r, i);
        return LA_ENOMEM;
    }
    return LA_OK;
}

static la_status run_sliced(reduction *r)
{
    LA_TRY(allocate_partials(r));
    seed_partials(r);
    la_parallel_for(r->grid.count, 1, run_boxes, r);
    if (!la_interrupted()) fold_partials(r);
    free_partials(r, r->it->noutputs);
    return LA_OK;
}

la_status la_iter_reduce(la_iter *it, la_loop loop, la_loop combine,
                         const void *params)
{
    if (it->numel == 0 || it->device != LA_CPU) return LA_OK;
    if (it->numel <= BOX_ELEMENTS) {
        la_iter_range(it, 0, it->numel, loop, params);
        return LA_OK;
    }
    reduction r = {.it = it, .loop = loop, .combine = combine};
    r.params = params;
    la_iter_grid_init(it, &r.grid);
    cut(it, &r.grid, false);
    if (combine && 2 * it->noutputs <= LA_ITER_MAX_OPS)
        cut(it, &r.grid, true);
    count_slices(&r);
    if (r.slices > 1) LA_TRY(run_sliced(&r));
    else la_parallel_for(r.grid.count, 1, run_boxes, &r);
    return la_interrupted() ? la_error(LA_EINTR, "interrupted") : LA_OK;
}
