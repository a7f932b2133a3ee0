/*
** Running a part of a program: one iterator over what is read from outside and
** what is wanted, and inside its loop all steps on one block after another.
** Results of steps that nobody wants live in registers, pieces of a small
** arena of the thread; a register is free again after its last reader.
*/
#include "base/memory.h"
#include "base/pool.h"
#include "fuse/internal.h"

#define ONE ((la_fuse_set)1)
/* All registers of a thread together: a part of the first-level cache, as the
** blocks of what is read and written must fit beside them. */
#define ARENA_BYTES 20480
#define BLOCK_MOST 2048
#define ALIGN 64
#define MAX_SLOTS 64

/* ---- the plan ---- */

/* Where a step's operand is: an operand of the iterator, a register, or a
** number in the step. */
typedef struct place {
    enum { IN_OPERAND, IN_REGISTER, IN_NUMBER } kind;
    int index;
    int64_t size;             /* of an element */
    char *number;
} place;

typedef struct line {
    la_loop loop;
    la_params params;
    int n;
    place at[1 + LA_FUSE_SOURCES];    /* the result first */
} line;

typedef struct plan {
    int nlines, noutputs, noperands, nregisters;
    line lines[LA_FUSE_STEPS];
    la_tensor *operands[LA_ITER_MAX_OPS];     /* wanted first; borrowed */
    int64_t sizes[LA_FUSE_STEPS];     /* of an element in a register */
    int64_t starts[LA_FUSE_STEPS];    /* of a register, in blocks' bytes */
    int64_t block;            /* elements */
    char *arenas;
    int64_t arena_bytes;      /* of one thread */
    int nslots;
    _Atomic uint64_t busy;    /* slots of the arenas */
} plan;

static la_fuse_set needed_for(const la_fuse *z, la_fuse_set wanted)
{
    la_fuse_set set = wanted;
    for (int i = z->nsteps - 1; i >= 0; i--) {
        const la_fuse_step *s = &z->steps[i];
        if (!(set >> i & 1)) continue;
        for (int k = 0; k < s->nsources; k++) {
            int from = s->from[k].index;
            if (s->from[k].kind == LA_FROM_STEP
                && la_fuse_is_pending(&z->steps[from]))
                set |= ONE << from;
        }
    }
    return set;
}

static int operand_of(plan *p, la_tensor *t)
{
    for (int k = p->noutputs; k < p->noperands; k++)
        if (p->operands[k] == t) return k;
    p->operands[p->noperands] = t;
    return p->noperands++;
}

static int last_reader(const la_fuse *z, la_fuse_set set, int step)
{
    for (int i = z->nsteps - 1; i > step; i--)
        for (int k = 0; (set >> i & 1) && k < z->steps[i].nsources; k++)
            if (z->steps[i].from[k].kind == LA_FROM_STEP
                && z->steps[i].from[k].index == step) return i;
    return step;
}

static int take_register(plan *p, int *free_after, int step, int64_t size)
{
    for (int r = 0; r < p->nregisters; r++)
        if (free_after[r] < step && p->sizes[r] == size) return r;
    p->sizes[p->nregisters] = size;
    return p->nregisters++;
}

static place place_of(plan *p, const la_fuse *z, const la_fuse_source *from,
                      const place *results)
{
    if (from->kind == LA_FROM_NUMBER)
        return (place){.kind = IN_NUMBER, .number = (char *)from->number};
    la_tensor *t = from->kind == LA_FROM_INPUT ? z->inputs[from->index]
                                               : z->steps[from->index].tensor;
    if (from->kind == LA_FROM_STEP && (t->flags & LA_F_DEFERRED))
        return results[from->index];
    return (place){.kind = IN_OPERAND, .index = operand_of(p, t)};
}

static void write_line(plan *p, const la_fuse *z, int i, place *results)
{
    const la_fuse_step *s = &z->steps[i];
    line *l = &p->lines[p->nlines++];
    l->loop = s->plan.loop;
    l->params = s->plan.params;
    l->n = 1 + s->nsources;
    l->at[0] = results[i];
    for (int k = 0; k < s->nsources; k++)
        l->at[k + 1] = place_of(p, z, &s->from[k], results);
}

/* A register serves again from the step after its last reader: no loop writes
** where it reads. */
static void make_plan(plan *p, const la_fuse *z, la_fuse_set wanted)
{
    la_fuse_set set = needed_for(z, wanted);
    place results[LA_FUSE_STEPS];
    int free_after[LA_FUSE_STEPS];
    p->nlines = p->noutputs = p->nregisters = 0;
    for (int i = 0; i < z->nsteps; i++) {
        if (!(wanted >> i & 1)) continue;
        p->operands[p->noutputs] = z->steps[i].tensor;
        results[i] = (place){.kind = IN_OPERAND, .index = p->noutputs++};
    }
    p->noperands = p->noutputs;
    for (int i = 0; i < z->nsteps; i++) {
        if (!(set >> i & 1)) continue;
        if (!(wanted >> i & 1)) {
            int64_t size = (int64_t)la_itemsize(z->steps[i].tensor);
            int r = take_register(p, free_after, i, size);
            free_after[r] = last_reader(z, set, i);
            results[i] = (place){IN_REGISTER, r, size, NULL};
        }
        write_line(p, z, i, results);
    }
}

/* ---- arenas ---- */

/* Blocks are as long as all registers together allow. */
static int64_t lay_out(plan *p)
{
    int64_t bytes = 0;
    for (int r = 0; r < p->nregisters; r++) bytes += p->sizes[r];
    p->block = bytes ? ARENA_BYTES / bytes / ALIGN * ALIGN : BLOCK_MOST;
    if (p->block > BLOCK_MOST) p->block = BLOCK_MOST;
    if (p->block < ALIGN) p->block = ALIGN;
    int64_t at = 0;
    for (int r = 0; r < p->nregisters; r++) {
        p->starts[r] = at;
        at += p->sizes[r] * p->block;
    }
    return at;
}

/* There are as many slots as threads; a host's job system with more of them
** waits for one to come back. */
static int take_slot(plan *p)
{
    for (;;) {
        uint64_t busy = atomic_load(&p->busy);
        int k = busy == UINT64_MAX ? MAX_SLOTS : __builtin_ctzll(~busy);
        if (k < p->nslots
            && atomic_compare_exchange_weak(&p->busy, &busy,
                                            busy | UINT64_C(1) << k))
            return k;
    }
}

static void give_slot(plan *p, int k)
{
    atomic_fetch_and(&p->busy, ~(UINT64_C(1) << k));
}

/* ---- the loop ---- */

typedef struct box {
    char **data;
    const int64_t *strides;
    int noperands;
    int64_t i0, i1, n0, n1;   /* the block: first element, counts */
    char *registers;
} box;

static void run_line(const plan *p, const line *l, const box *x)
{
    char *data[1 + LA_FUSE_SOURCES];
    int64_t strides[2 * (1 + LA_FUSE_SOURCES)];
    for (int k = 0; k < l->n; k++) {
        const place *a = &l->at[k];
        int64_t s0 = 0, s1 = 0;
        if (a->kind == IN_OPERAND) {
            s0 = x->strides[a->index];
            s1 = x->strides[x->noperands + a->index];
            data[k] = x->data[a->index] + x->i0 * s0 + x->i1 * s1;
        } else if (a->kind == IN_REGISTER) {
            s0 = a->size;
            s1 = a->size * x->n0;
            data[k] = x->registers + p->starts[a->index];
        } else {
            data[k] = a->number;
        }
        strides[k] = s0;
        strides[l->n + k] = s1;
    }
    l->loop(data, strides, x->n0, x->n1, &l->params);
}

/* A la_loop. Rows longer than a block are cut, short ones taken several at a
** time. */
static void run_blocks(char **data, const int64_t *strides, int64_t n0,
                       int64_t n1, const void *params)
{
    plan *p = (plan *)params;
    box x = {.data = data, .strides = strides, .noperands = p->noperands};
    int slot = take_slot(p);
    x.registers = p->arenas + slot * p->arena_bytes;
    int64_t step0 = n0 < p->block ? n0 : p->block;
    int64_t step1 = n0 < p->block / 4 ? p->block / n0 : 1;
    for (x.i1 = 0; x.i1 < n1; x.i1 += step1) {
        x.n1 = n1 - x.i1 < step1 ? n1 - x.i1 : step1;
        for (x.i0 = 0; x.i0 < n0; x.i0 += step0) {
            x.n0 = n0 - x.i0 < step0 ? n0 - x.i0 : step0;
            for (int k = 0; k < p->nlines; k++) run_line(p, &p->lines[k], &x);
        }
    }
    give_slot(p, slot);
}

/* ---- one pass ---- */

typedef struct pass {
    plan *p;
    char *memory;             /* of the arenas, unaligned */
    int64_t bytes;
    la_storage *made[LA_ITER_MAX_OPS];
} pass;

static void end_pass(pass *s)
{
    for (int k = 0; s->p && k < s->p->noutputs; k++)
        if (s->made[k]) la_storage_release(s->made[k]);
    if (s->memory) la_mem_free(s->memory, (size_t)s->bytes);
    if (s->p) la_mem_free(s->p, sizeof *s->p);
}

static la_status allocate(pass *s)
{
    plan *p = s->p;
    p->arena_bytes = lay_out(p);
    p->nslots = la_num_threads() < MAX_SLOTS ? la_num_threads() : MAX_SLOTS;
    p->busy = 0;
    s->bytes = p->arena_bytes * p->nslots + ALIGN;
    if (!(s->memory = la_mem_alloc((size_t)s->bytes))) return LA_ENOMEM;
    p->arenas = s->memory + (-(uintptr_t)s->memory & (ALIGN - 1));
    for (int k = 0; k < p->noutputs; k++) {
        const la_tensor *t = p->operands[k];
        LA_TRY(la_storage_new(t->numel * (int64_t)la_itemsize(t), LA_CPU,
                              &s->made[k]));
    }
    return LA_OK;
}

/* The tensors have storage while the iterator runs; deferred they stay until
** it is through. */
static la_status iterate(pass *s)
{
    plan *p = s->p;
    la_iter it;
    la_iter_config c = LA_ITER_CONFIG(LA_IT_BORROWED, p->noutputs,
                                      p->noperands - p->noutputs);
    memcpy(c.operands, p->operands,
           sizeof(p->operands[0]) * (size_t)p->noperands);
    LA_TRY(la_iter_build(&it, &c));
    int64_t grain = LA_GRAIN / (p->nlines < 8 ? p->nlines : 8);
    la_status status = la_iter_for_each(&it, run_blocks, p, grain);
    la_iter_close(&it);
    return status;
}

static la_status run_pass(pass *s, const la_fuse *z, la_fuse_set wanted)
{
    if (!(s->p = la_mem_alloc(sizeof *s->p))) return LA_ENOMEM;
    make_plan(s->p, z, wanted);
    LA_TRY(allocate(s));
    for (int k = 0; k < s->p->noutputs; k++)
        s->p->operands[k]->storage = s->made[k];
    la_status status = iterate(s);
    for (int k = 0; k < s->p->noutputs; k++) {
        la_tensor *t = s->p->operands[k];
        if (status) t->storage = NULL;
        else {
            t->flags &= ~(uint32_t)LA_F_DEFERRED;
            s->made[k] = NULL;
        }
    }
    return status;
}

static la_status one_pass(const la_fuse *z, la_fuse_set wanted)
{
    pass s = {0};
    la_status status = run_pass(&s, z, wanted);
    end_pass(&s);
    return status;
}

/* ---- as many passes as the iterator's operands make necessary ---- */

typedef struct reads { uint32_t inputs; la_fuse_set steps; } reads;

static int count(const reads *r)
{
    return __builtin_popcount(r->inputs) + __builtin_popcountll(r->steps);
}

/* What a step reads from outside, with the pending steps behind it. */
static reads reads_of(const la_fuse *z, int i, const reads *before)
{
    reads r = {0, 0};
    const la_fuse_step *s = &z->steps[i];
    for (int k = 0; k < s->nsources; k++) {
        int from = s->from[k].index;
        if (s->from[k].kind == LA_FROM_INPUT) {
            r.inputs |= UINT32_C(1) << from;
        } else if (s->from[k].kind == LA_FROM_STEP) {
            bool pending = la_fuse_is_pending(&z->steps[from]);
            if (pending) r.inputs |= before[from].inputs;
            r.steps |= pending ? before[from].steps : ONE << from;
        }
    }
    return r;
}

/* Steps behind 'wanted' that would read too much have their sources computed
** first. Afterwards every step of the set fits into a pass of its own. */
static la_status cut(const la_fuse *z, la_fuse_set wanted, reads *all)
{
    la_fuse_set set = needed_for(z, wanted);
    for (int i = 0; i < z->nsteps; i++) {
        const la_fuse_step *s = &z->steps[i];
        if (!(set >> i & 1)) continue;
        all[i] = reads_of(z, i, all);
        for (int k = 0; k < s->nsources; k++) {
            int from = s->from[k].index;
            if (count(&all[i]) < LA_ITER_MAX_OPS) break;
            if (s->from[k].kind != LA_FROM_STEP
                || !la_fuse_is_pending(&z->steps[from])) continue;
            LA_TRY(one_pass(z, ONE << from));
            all[i] = reads_of(z, i, all);
        }
    }
    return LA_OK;
}

la_status la_fuse_run(la_fuse *z, la_fuse_set wanted)
{
    reads all[LA_FUSE_STEPS], together = {0, 0};
    la_fuse_set left = 0;
    int n = 0;
    LA_TRY(cut(z, wanted, all));
    for (int i = 0; i < z->nsteps; i++) {
        if (!(wanted >> i & 1) || !la_fuse_is_pending(&z->steps[i])) continue;
        left |= ONE << i;
        together.inputs |= all[i].inputs;
        together.steps |= all[i].steps;
        n++;
    }
    if (!left || n + count(&together) <= LA_ITER_MAX_OPS)
        return left ? one_pass(z, left) : LA_OK;
    for (int i = 0; i < z->nsteps; i++)
        if ((left >> i & 1) && la_fuse_is_pending(&z->steps[i]))
            LA_TRY(one_pass(z, ONE << i));
    return LA_OK;
}
