/*
** Running a part of a chain: one iterator over what is read from outside and
** what is wanted, and inside its loop all steps on one block after another.
** Passes with reductions walk over rows instead (fuse_reduce.c).
*/
#include "base/os/cpu.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "base/trace.h"
#include "fuse/fuse_plan.h"
#include "fuse/fuse_verify.h"
#include "tensor/host/host.h"

/* ---- the loop ---- */

/* A part of the box: its first element, counts. */
typedef struct part { int64_t i0, i1, n0, n1; } part;

/* Address of a register's elements for part 'b', and its strides in bytes:
** along a row (*s0) and from row to row (*s1). How long they are kept decides:
** for this part, for all rows of the box, or one per row. */
static char *in_register(const la_fuse_plan *p, int index, const la_fuse_box *x,
                         const part *b, int64_t *s0, int64_t *s1)
{
    const la_fuse_register *g = &p->registers[index];
    char *at = x->registers + g->start;
    *s0 = g->extent == LA_HOLDS_RESULTS ? 0 : g->size;
    switch (g->extent) {
    case LA_HOLDS_ROWS:
        *s1 = g->size * x->n0;
        return at + (x->at + b->i1 * x->n0 + b->i0) * g->size;
    case LA_HOLDS_RESULTS:
        *s1 = g->size;
        return at + b->i1 * g->size;
    default:
        *s1 = g->size * b->n0;
        return at;
    }
}

/* Address of operand 'a' of a line in a part, and its steps there. */
static char *locate_operand(const la_fuse_plan *p, const la_fuse_location *a,
                            const la_fuse_box *x, const part *b, int64_t *s0,
                            int64_t *s1)
{
    *s0 = *s1 = 0;
    if (a->kind == LA_IN_SCALAR) return a->scalar;
    if (a->kind == LA_IN_REGISTER)
        return in_register(p, a->index, x, b, s0, s1);
    *s0 = x->inner[a->index];
    *s1 = x->outer[a->index];
    if (x->copied >> a->index & 1) {
        *s1 = *s0 * x->n0;
        return x->data[a->index];
    }
    return x->data[a->index] + b->i0 * *s0 + b->i1 * *s1;
}

/* One step over one part. Operands without gaps between rows are one run. */
static void fuse_run_line(const la_fuse_plan *p, const la_fuse_line *l,
                          const la_fuse_box *x, const part *b)
{
    char *data[1 + LA_FUSE_SOURCES];
    int64_t strides[2 * (1 + LA_FUSE_SOURCES)];
    bool together = true;
    for (int k = 0; k < l->n; k++) {
        int64_t *s0 = &strides[k], *s1 = &strides[l->n + k];
        data[k] = locate_operand(p, &l->at[k], x, b, s0, s1);
        together &= *s1 == *s0 * b->n0;
    }
    if (l->kind == LA_STEP_REDUCE)
        la_fuse_reduce(p, l, data[1], b->n1, data[0]);
    else if (together) l->loop(data, strides, b->n0 * b->n1, 1, l->params);
    else l->loop(data, strides, b->n0, b->n1, l->params);
}

/* Rows longer than a block are cut, short ones taken several at a time. */
void la_fuse_run_box(const la_fuse_plan *p, int first, int last,
                     const la_fuse_box *x)
{
    part b;
    int64_t block = p->lines[last - 1].kind == LA_STEP_REDUCE ? p->reduce_block
                                                            : p->block;
    int64_t step0 = x->n0 < block ? x->n0 : block;
    int64_t step1 = x->n0 < block ? block / x->n0 : 1;
    for (b.i1 = 0; b.i1 < x->n1; b.i1 += step1) {
        b.n1 = x->n1 - b.i1 < step1 ? x->n1 - b.i1 : step1;
        for (b.i0 = 0; b.i0 < x->n0; b.i0 += step0) {
            b.n0 = x->n0 - b.i0 < step0 ? x->n0 - b.i0 : step0;
            for (int k = first; k < last; k++)
                fuse_run_line(p, &p->lines[k], x, &b);
        }
    }
}

/* A la_loop. */
static void fuse_run_blocks(char **data, const int64_t *strides, int64_t n0,
                            int64_t n1, const void *params)
{
    la_fuse_plan *p = (la_fuse_plan *)params;
    la_fuse_box x = {.n0 = n0, .n1 = n1};
    for (int k = 0; k < p->noperands; k++) {
        x.data[k] = data[k];
        x.inner[k] = strides[k];
        x.outer[k] = strides[p->noperands + k];
    }
    int slot = la_fuse_take_slot(p);
    x.registers = p->arenas + slot * p->arena_bytes;
    if (p->columns.unit && n0 == p->columns.n) la_fuse_run_points(p, &x);
    else la_fuse_run_box(p, 0, p->nlines, &x);
    la_fuse_give_slot(p, slot);
}

/* ---- one pass ---- */

/* Element-wise passes. The grain is divided by the number of steps, as each
** element costs so many operations; arenas are one per thread. */
static la_status iterate(la_fuse_plan *p)
{
    la_iter it;
    la_iter_config c = LA_ITER_CONFIG(LA_IT_BORROWED, p->noutputs,
                                      p->noperands - p->noutputs);
    for (int k = 0; k < p->noperands; k++)
        c.operands[k] = p->operands[k].tensor;
    LA_TRY(la_iter_build(&it, &c));
    la_fuse_find_points(p, &it);
    int64_t grain = LA_GRAIN / (p->nlines < 8 ? p->nlines : 8);
    la_status status = la_fuse_make_arenas(p, 0, 0, la_num_threads());
    if (!status) status = la_iter_for_each(&it, fuse_run_blocks, p, grain);
    la_iter_close(&it);
    return status;
}

static void trace_plan(const la_fuse_plan *p)
{
    la_trace("fuse   pass of %d steps, %d operands (%d written), %d registers,"
             " blocks of %lld elements", p->nlines, p->noperands, p->noutputs,
             p->nregisters, (long long)p->block);
}

/* The host may have moved memory since it was recorded. */
static la_status fuse_check_memory(const la_fuse_plan *p)
{
    for (int k = 0; k < p->noperands; k++) {
        const la_storage *s = p->operands[k].tensor->storage;
        if (s && s->flags & LA_S_MOVED) return la_host_moved();
    }
    return LA_OK;
}

la_status la_fuse_run_plan(la_fuse_plan *p)
{
    la_fuse_plan_verify(p);
    if (__builtin_expect(la_trace_on, 0)) trace_plan(p);
    LA_TRY(fuse_check_memory(p));
    la_status status = p->rows ? la_fuse_run_rows(p) : iterate(p);
    la_clear_upper();
    return status;
}

static size_t kept_bytes(const la_fuse_plan *p)
{
    return offsetof(la_fuse_plan, lines)
        + (size_t)p->nlines * sizeof(la_fuse_line);
}

/* 'wanted' and all pending steps that it needs, in one iteration: laid out, and
** the steps are pending no more. */
static la_status one_pass(la_fused *z, la_fuse_set wanted)
{
    la_fuse_plan *p = la_mem_alloc(sizeof *p), *own = NULL;
    if (!p) return LA_ENOMEM;
    p->memory = NULL;
    p->next = z->plans;
    la_fuse_make_plan(p, z, wanted);
    own = la_mem_alloc(kept_bytes(p));
    if (own) memcpy(own, p, kept_bytes(p));
    la_mem_free(p, sizeof *p);
    if (!own) return LA_ENOMEM;
    z->plans = own;
    for (int i = 0; i < z->nsteps; i++)
        if (wanted >> i & 1) z->steps[i].pending = false;
    return LA_OK;
}

void la_fuse_drop_plans(la_fused *z)
{
    while (z->plans) {
        la_fuse_plan *p = z->plans;
        z->plans = p->next;
        if (p->memory) la_mem_free(p->memory, (size_t)p->bytes);
        la_mem_free(p, kept_bytes(p));
    }
}

/* ---- as many passes as the iterator's operands make necessary ---- */

/* Reads from outside: inputs, and steps that have values. */
typedef struct reads { uint32_t inputs; la_fuse_set steps; } reads;

/* Operands that these reads need in an iterator. */
static int fuse_count(const reads *r)
{
    return __builtin_popcount(r->inputs) + __builtin_popcountll(r->steps);
}

static void fuse_join(reads *r, const reads *more)
{
    r->inputs |= more->inputs;
    r->steps |= more->steps;
}

static bool is_pending(const la_fused *z, const la_fuse_source *from)
{
    return from->kind == LA_FROM_STEP
        && la_fuse_is_pending(&z->steps[from->index]);
}

/* Reads of step i, with those of the pending steps behind it; 'before' has that
** of all of these. */
static reads reads_of(const la_fused *z, int i, const reads *before)
{
    reads r = {0, 0};
    const la_fuse_step *s = &z->steps[i];
    for (int k = 0; k < s->nsources; k++) {
        const la_fuse_source *from = &s->from[k];
        if (is_pending(z, from)) fuse_join(&r, &before[from->index]);
        else if (from->kind == LA_FROM_STEP)
            r.steps |= LA_FUSE_ONE << from->index;
        else if (from->kind == LA_FROM_INPUT)
            r.inputs |= UINT32_C(1) << from->index;
    }
    return r;
}

/* The steps of the set that have no value yet. */
static la_fuse_set pending_of(const la_fused *z, la_fuse_set set)
{
    for (int i = 0; i < z->nsteps; i++)
        if (!la_fuse_is_pending(&z->steps[i])) set &= ~(LA_FUSE_ONE << i);
    return set;
}

/* Note in 'all' what 'wanted' and the steps behind it read, up to the first
** that reads too much for any pass: that one, or -1. */
static int too_much(const la_fused *z, la_fuse_set wanted, reads *all)
{
    la_fuse_set set = la_fuse_needed(z, pending_of(z, wanted));
    for (int i = 0; i < z->nsteps; i++) {
        if (!(set >> i & 1)) continue;
        all[i] = reads_of(z, i, all);
        if (fuse_count(&all[i]) >= LA_ITER_MAX_OPS) return i;
    }
    return -1;
}

/* The first pending step that step i reads; there is one. */
static int first_source(const la_fused *z, int i)
{
    const la_fuse_source *from = z->steps[i].from;
    while (!is_pending(z, from)) from++;
    return from->index;
}

/* Steps behind 'wanted' that would read too much have their sources computed
** first. Afterwards every step of the set fits into a pass of its own. A source
** with a value is read itself, so others before may read more than they did. */
static la_status fuse_cut(la_fused *z, la_fuse_set wanted, reads *all)
{
    for (int i; (i = too_much(z, wanted, all)) >= 0;)
        LA_TRY(one_pass(z, LA_FUSE_ONE << first_source(z, i)));
    return LA_OK;
}

/* Can one pass read and write all of that? */
static bool fuse_fits(const la_fused *z, la_fuse_set wanted, const reads *all)
{
    reads together = {0, 0};
    for (int i = 0; i < z->nsteps; i++)
        if (wanted >> i & 1) fuse_join(&together, &all[i]);
    return __builtin_popcountll(wanted)
        + fuse_count(&together) <= LA_ITER_MAX_OPS;
}

/* One by one; a pass before may have left the value. */
static la_status fuse_run_apart(la_fused *z, la_fuse_set wanted, reads *all)
{
    for (int i = 0; i < z->nsteps; i++) {
        la_fuse_set one = wanted & LA_FUSE_ONE << i;
        if (!pending_of(z, one)) continue;
        LA_TRY(fuse_cut(z, one, all));
        LA_TRY(one_pass(z, one));
    }
    return LA_OK;
}

la_status la_fuse_lay_out(la_fused *z, la_fuse_set wanted)
{
    reads all[LA_FUSE_STEPS];
    la_fuse_verify(z);
    LA_TRY(fuse_cut(z, wanted, all));
    la_fuse_set left = pending_of(z, wanted), writes = left & la_fuse_writes(z);
    if (!left) return LA_OK;
    if (fuse_fits(z, left, all)) return one_pass(z, left);
    if (left != writes) LA_TRY(fuse_run_apart(z, left & ~writes, all));
    return writes ? one_pass(z, writes) : LA_OK;
}
