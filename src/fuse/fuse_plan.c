/*
** Plans: which steps a pass runs, in which order, and where their operands are.
**
** Reductions part a pass into phases. Phase k is first the reductions of what
** earlier phases computed, then steps on their results, then the element-wise
** steps that need those. Results that nobody wants live in registers, pieces of
** a small arena of the thread; a register is free again after its last reader.
*/
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "fuse/fuse_plan.h"

/* The blocks of all registers and of what is read and written, together: the
** first-level cache. */
#define BLOCK_BYTES 32768
#define ROWS_BYTES 40960      /* the same where there are reductions; where
                              ** operands are packed, registers alone */
#define BLOCK_MOST 2048
#define SHORT_ROW 4096        /* elements: rows that are not cut to blocks, */
#define REDUCE_BLOCK 8192       /* but taken together, as each call costs */
#define ALIGN 64
#define MAX_SLOTS 64

la_fuse_set la_fuse_needed(const la_fused *z, la_fuse_set wanted)
{
    la_fuse_set set = wanted;
    for (int i = z->nsteps - 1; i >= 0; i--) {
        const la_fuse_step *s = &z->steps[i];
        if (!(set >> i & 1)) continue;
        for (int k = 0; k < s->nsources; k++) {
            int from = s->from[k].index;
            if (s->from[k].kind == LA_FROM_STEP
                && la_fuse_is_pending(&z->steps[from]))
                set |= LA_FUSE_ONE << from;
        }
    }
    return set;
}

/* ---- order ---- */

enum { REGISTERS = LA_FUSE_STEPS + LA_FUSE_OPERANDS };

typedef struct order {
    la_fuse_set set, wanted;
    int n, step[LA_FUSE_STEPS];       /* steps in the order of the pass */
    int phase[LA_FUSE_STEPS];         /* the rest is by step */
    int last[LA_FUSE_STEPS];          /* position of the last reader */
    bool crosses[LA_FUSE_STEPS];      /* read when its block is gone */
    int first[LA_FUSE_STEPS];         /* the step run in its loop, or -1 */
    int side[LA_FUSE_STEPS];          /* which of its sources that is */
    int free_after[REGISTERS];        /* by register: its last reader */
} order;

/* Does the reduction read squares that it can compute itself? */
static bool reduces_squares(const la_fused *z, const la_fuse_step *s)
{
    if (s->kind != LA_STEP_REDUCE || s->from[0].kind != LA_FROM_STEP)
        return false;
    const la_fuse_step *from = &z->steps[s->from[0].index];
    return s->reduction.squares && from->squares && la_fuse_is_pending(from)
        && z->n > s->reduction.squares->transpose_max;
}

/* Operands that step i reads in a pass: how many, and the k-th. */
static int nsources(const order *o, const la_fused *z, int i)
{
    return o->first[i] < 0 ? z->steps[i].nsources : 3;
}

static const la_fuse_source *plan_source_of(const order *o, const la_fused *z,
                                            int i, int k)
{
    const la_fuse_step *s = &z->steps[i];
    if (reduces_squares(z, s)) return &z->steps[s->from[0].index].from[0];
    if (o->first[i] < 0) return &s->from[k];
    return k < 2 ? &z->steps[o->first[i]].from[k] : &s->from[1 - o->side[i]];
}

/* The step of the pass that it is, or -1. */
static int plan_behind(const order *o, const la_fused *z, int i, int k)
{
    const la_fuse_source *from = plan_source_of(o, z, i, k);
    return from->kind == LA_FROM_STEP && o->set >> from->index & 1
        ? from->index : -1;
}

static void find_set(order *o, const la_fused *z)
{
    for (int i = z->nsteps - 1; i >= 0; i--) {
        o->first[i] = -1;
        for (int k = 0; k < nsources(o, z, i) && o->set >> i & 1; k++) {
            const la_fuse_source *from = plan_source_of(o, z, i, k);
            if (from->kind == LA_FROM_STEP
                && la_fuse_is_pending(&z->steps[from->index]))
                o->set |= LA_FUSE_ONE << from->index;
        }
    }
}

static void plan_find_phases(order *o, const la_fused *z)
{
    for (int i = 0; i < z->nsteps; i++) {
        const la_fuse_step *s = &z->steps[i];
        o->phase[i] = 0;
        for (int k = 0; k < nsources(o, z, i) && o->set >> i & 1; k++) {
            int from = plan_behind(o, z, i, k);
            if (from < 0) continue;
            int phase = o->phase[from] + (s->kind == LA_STEP_REDUCE);
            if (phase > o->phase[i]) o->phase[i] = phase;
        }
    }
}

/* Steps that only later phases read are computed there: they need not be
** kept. */
static void delay(order *o, const la_fused *z)
{
    int latest[LA_FUSE_STEPS];
    for (int i = 0; i < z->nsteps; i++) latest[i] = LA_FUSE_STEPS;
    for (int i = z->nsteps - 1; i >= 0; i--) {
        const la_fuse_step *s = &z->steps[i];
        if (!(o->set >> i & 1)) continue;
        if (s->kind == LA_STEP_EACH && !(o->wanted >> i & 1)
            && latest[i] < LA_FUSE_STEPS)
            o->phase[i] = latest[i];
        for (int k = 0; k < nsources(o, z, i); k++) {
            int from = plan_behind(o, z, i, k);
            int phase = o->phase[i] - (s->kind == LA_STEP_REDUCE);
            if (from >= 0 && phase < latest[from]) latest[from] = phase;
        }
    }
}

/* Does a step between 'from' and i write memory that 'from' reads? It would be
** too late to read it in the loop of i. */
static bool is_written_between(const order *o, const la_fused *z, int from,
                               int i)
{
    const la_fuse_step *s = &z->steps[from];
    for (int j = from + 1; j < i; j++) {
        if (!z->steps[j].write || !(o->wanted >> j & 1)) continue;
        for (int k = 0; k < s->nsources; k++) {
            const la_fuse_source *x = &s->from[k];
            const la_tensor *t = x->kind == LA_FROM_INPUT ? z->inputs[x->index]
                : x->kind == LA_FROM_STEP ? z->steps[x->index].tensor : NULL;
            if (t == z->steps[j].tensor) return true;
        }
    }
    return false;
}

/* Steps that one other reads, in the same phase, run in its loop where there is
** one for both. */
static void find_chains(order *o, const la_fused *z)
{
    int readers[LA_FUSE_STEPS] = {0};
    for (int i = 0; i < z->nsteps; i++)
        for (int k = 0; k < nsources(o, z, i) && o->set >> i & 1; k++)
            if (plan_behind(o, z, i, k) >= 0) readers[plan_behind(o, z, i,
                                                                  k)]++;
    for (int i = z->nsteps - 1; i >= 0; i--)
        for (int k = 0; k < nsources(o, z, i) && o->set >> i & 1; k++) {
            int from = plan_behind(o, z, i, k);
            if (from < 0 || o->wanted >> from & 1 || readers[from] > 1
                || o->phase[from] != o->phase[i]
                || is_written_between(o, z, from, i)
                || !la_fuse_chain(&z->steps[from], &z->steps[i], k)) continue;
            o->first[i] = from;
            o->side[i] = k;
            o->set &= ~(LA_FUSE_ONE << from);
            break;
        }
}

static void sort(order *o, const la_fused *z)
{
    static const int rank[] = {
        [LA_STEP_REDUCE] = 0, [LA_STEP_ROW] = 1, [LA_STEP_EACH] = 2};
    int total = __builtin_popcountll(o->set);
    o->n = 0;
    for (int key = 0; o->n < total; key++)
        for (int i = 0; i < z->nsteps; i++)
            if ((o->set >> i & 1)
                && 3 * o->phase[i] + rank[z->steps[i].kind] == key)
                o->step[o->n++] = i;
}

static void find_readers(order *o, const la_fused *z, bool short_rows)
{
    for (int at = 0; at < o->n; at++) {
        int i = o->step[at];
        const la_fuse_step *s = &z->steps[i];
        o->last[i] = at;
        o->crosses[i] = false;
        for (int k = 0; k < nsources(o, z, i); k++) {
            int from = plan_behind(o, z, i, k);
            if (from < 0) continue;
            o->last[from] = at;
            bool reduces = s->kind == LA_STEP_REDUCE;
            o->crosses[from] |= o->phase[i] - reduces != o->phase[from]
                || (reduces && !short_rows);
        }
    }
    /* what reads a copy may find it in the register of its source */
    for (int at = o->n - 1; at >= 0; at--) {
        int i = o->step[at];
        int from = z->steps[i].copies ? plan_behind(o, z, i, 0) : -1;
        if (from >= 0 && o->last[from] < o->last[i]) o->last[from] = o->last[i];
    }
}

static void find_order(order *o, const la_fused *z, la_fuse_set wanted,
                       bool short_rows)
{
    o->set = o->wanted = wanted;
    find_set(o, z);
    plan_find_phases(o, z);
    delay(o, z);
    find_chains(o, z);
    sort(o, z);
    find_readers(o, z, short_rows);
}

/* ---- locations of operands ---- */

static bool lacks_row(const la_fused *z, const la_fuse_step *s)
{
    return s->kind != LA_STEP_EACH && s->tensor->ndim != z->shape.ndim;
}

static int operand_of(la_fuse_plan *p, la_tensor *t, bool short_of)
{
    for (int k = 0; k < p->noutputs; k++)
        if (p->operands[k].given && p->operands[k].tensor == t) return k;
    for (int k = p->noutputs; k < p->noperands; k++)
        if (p->operands[k].tensor == t && p->operands[k].short_of == short_of)
            return k;
    p->operands[p->noperands] = (la_fuse_operand){t, short_of, false, false,
                                                  -1};
    return p->noperands++;
}

/* Elements with gaps between them are packed into a register once, and from
** one when they are written. */
static bool is_scattered(const la_fused *z, const la_tensor *t)
{
    return z->ntrail == 0 && t->ndim == z->shape.ndim
        && !(t->flags & LA_F_DENSE) && !la_fuse_is_repeated(t)
        && memcmp(la_sizes(t), z->shape.sizes,
                  sizeof(int64_t) * (size_t)t->ndim) == 0;
}

static void write_copy(la_fuse_plan *p, la_fuse_location to,
                       la_fuse_location from, size_t size)
{
    la_fuse_line *l = &p->lines[p->nlines++];
    l->kind = LA_STEP_EACH;
    l->step = -1;
    l->loop = la_fuse_copy_loop(size);
    l->params = NULL;
    l->n = 2;
    l->at[0] = to;
    l->at[1] = from;
}

/* The register with operand k's elements, which a line before fills. */
static la_fuse_location plan_load(la_fuse_plan *p, order *o, int k)
{
    la_fuse_operand *x = &p->operands[k];
    size_t size = la_itemsize(x->tensor);
    p->packs = true;
    if (x->loaded < 0) {
        x->loaded = la_fuse_add_register(p, (int64_t)size);
        o->free_after[x->loaded] = LA_FUSE_STEPS;
        write_copy(p, (la_fuse_location){LA_IN_REGISTER, x->loaded, NULL},
                   (la_fuse_location){LA_IN_OPERAND, k, NULL}, size);
    }
    return (la_fuse_location){LA_IN_REGISTER, x->loaded, NULL};
}

/* A register serves again from the step after its last reader: no loop writes
** where it reads. */
static int take_register(la_fuse_plan *p, int *free_after, int at,
                         la_fuse_register like)
{
    for (int r = 0; r < p->nregisters; r++)
        if (free_after[r] < at && p->registers[r].size == like.size
            && p->registers[r].extent == like.extent) return r;
    p->registers[p->nregisters] = like;
    return p->nregisters++;
}

/* Location of the k-th operand of step i; 'results' by step are those of the
** pending ones. */
static la_fuse_location location_of(la_fuse_plan *p, order *o, int i,
                                    int k, const la_fuse_location *results)
{
    const la_fused *z = p->z;
    const la_fuse_step *s = &z->steps[i];
    const la_fuse_source *from = plan_source_of(o, z, i, k);
    if (from->kind == LA_FROM_SCALAR)
        return (la_fuse_location){LA_IN_SCALAR, 0, (char *)from->scalar};
    la_tensor *t = from->kind == LA_FROM_INPUT ? z->inputs[from->index]
                                               : z->steps[from->index].tensor;
    if (from->kind == LA_FROM_STEP
        && la_fuse_is_pending(&z->steps[from->index]))
        return results[from->index];
    bool short_of = s->kind == LA_STEP_ROW && lacks_row(z, s);
    int at = operand_of(p, t, short_of);
    if (is_scattered(z, t)) return plan_load(p, o, at);
    return (la_fuse_location){LA_IN_OPERAND, at, NULL};
}

static void write_line(la_fuse_plan *p, order *o, int i,
                       const la_fuse_location *results)
{
    const la_fuse_step *s = &p->z->steps[i];
    la_fuse_location at[1 + LA_FUSE_SOURCES];
    for (int k = 0; k < nsources(o, p->z, i); k++)
        at[k] = location_of(p, o, i, k, results);     /* may write lines */
    la_fuse_line *l = &p->lines[p->nlines++];
    int first = o->first[i];
    p->rows |= s->kind != LA_STEP_EACH;
    l->kind = s->kind;
    l->step = i;
    l->loop = first < 0 ? s->plan.loop
        : la_fuse_chain(&p->z->steps[first], s, o->side[i]);
    l->params = &s->plan.params;
    if (s->kind == LA_STEP_REDUCE) {
        l->reduction = s->reduction;
        if (reduces_squares(p->z, s))
            l->reduction.kernel = s->reduction.squares;
    }
    l->n = 1 + nsources(o, p->z, i);
    l->at[0] = results[i];
    for (int k = 1; k < l->n; k++) l->at[k] = at[k - 1];
}

static la_fuse_location new_register(la_fuse_plan *p, order *o, int at)
{
    int i = o->step[at];
    const la_fuse_step *s = &p->z->steps[i];
    la_fuse_register like = {.size = (int64_t)la_itemsize(s->tensor)};
    like.extent = s->kind != LA_STEP_EACH ? LA_HOLDS_RESULTS
        : o->crosses[i] ? LA_HOLDS_ROWS : LA_HOLDS_BLOCK;
    int r = take_register(p, o->free_after, at, like);
    o->free_after[r] = o->last[i];
    return (la_fuse_location){LA_IN_REGISTER, r, NULL};
}

/* A step whose target has gaps: the result in a register, which later steps
** read, and from there to the target. A copy of a register has it already. */
static void write_packed(la_fuse_plan *p, order *o, int at,
                         la_fuse_location *results)
{
    int i = o->step[at];
    const la_fuse_step *s = &p->z->steps[i];
    la_fuse_location out = results[i];
    p->packs = true;
    if (s->copies) results[i] = location_of(p, o, i, 0, results);
    if (!s->copies || results[i].kind != LA_IN_REGISTER) {
        results[i] = new_register(p, o, at);
        write_line(p, o, i, results);
    }
    write_copy(p, out, results[i], la_itemsize(s->tensor));
}

/* Blocks are as long as all that a line may touch allows, so that what one
** writes is still there for the next; and not longer than pays for a call. */
static int64_t plan_block_of(const la_fuse_plan *p)
{
    int64_t bytes = 0;
    int64_t most = p->rows || p->packs ? ROWS_BYTES : BLOCK_BYTES;
    bool outside = p->rows || !p->packs;
    for (int r = 0; r < p->nregisters; r++)
        if (p->registers[r].extent != LA_HOLDS_RESULTS)
            bytes += p->registers[r].size;
    for (int k = 0; outside && k < p->noperands; k++)
        if (!p->operands[k].results)
            bytes += (int64_t)la_itemsize(p->operands[k].tensor);
    int64_t n = bytes ? most / bytes / ALIGN * ALIGN : BLOCK_MOST;
    return n > BLOCK_MOST ? BLOCK_MOST : n < ALIGN ? ALIGN : n;
}

void la_fuse_make_plan(la_fuse_plan *p, const la_fused *z, la_fuse_set wanted)
{
    order o;
    la_fuse_location results[LA_FUSE_STEPS];
    p->z = z;
    p->short_rows = z->ntrail && z->n <= SHORT_ROW;
    find_order(&o, z, wanted, p->short_rows);
    p->nlines = p->noutputs = p->nregisters = 0;
    p->rows = p->packs = false;
    for (int i = 0; i < z->nsteps; i++) {
        const la_fuse_step *s = &z->steps[i];
        if (!(wanted >> i & 1)) continue;
        p->operands[p->noutputs] = (la_fuse_operand){
            s->tensor, lacks_row(z, s), s->kind != LA_STEP_EACH, s->write, -1};
        results[i] = (la_fuse_location){LA_IN_OPERAND, p->noutputs++, NULL};
    }
    p->noperands = p->noutputs;
    for (int at = 0; at < o.n; at++) {
        int i = o.step[at];
        bool packed = z->steps[i].write && (wanted >> i & 1)
            && is_scattered(z, z->steps[i].tensor);
        if (packed) {
            write_packed(p, &o, at, results);
            continue;
        }
        if (!(wanted >> i & 1)) results[i] = new_register(p, &o, at);
        write_line(p, &o, i, results);
    }
    p->block = plan_block_of(p);
    p->reduce_block = REDUCE_BLOCK;
    p->nkept = p->nregisters;
}

/* ---- arenas ---- */

int la_fuse_add_register(la_fuse_plan *p, int64_t size)
{
    p->registers[p->nregisters] = (la_fuse_register){LA_HOLDS_BLOCK, size, 0};
    return p->nregisters++;
}

la_status la_fuse_make_arenas(la_fuse_plan *p, int64_t elements,
                              int64_t results, int nslots)
{
    int64_t at = 0, most = p->block;
    if (p->rows && p->short_rows) most = p->reduce_block;
    if (p->rows && most > elements) most = elements;
    for (int r = 0; r < p->nregisters; r++) {
        la_fuse_register *g = &p->registers[r];
        int64_t n = g->extent == LA_HOLDS_BLOCK ? most
            : g->extent == LA_HOLDS_ROWS ? elements : results;
        g->start = at;
        at += (n * g->size + ALIGN - 1) / ALIGN * ALIGN;
    }
    p->arena_bytes = at;
    p->nslots = nslots < MAX_SLOTS ? nslots : MAX_SLOTS;
    p->busy = 0;
    int64_t bytes = at * p->nslots + ALIGN;
    if (p->memory && p->bytes != bytes) {       /* of a run before */
        la_mem_free(p->memory, (size_t)p->bytes);
        p->memory = NULL;
    }
    p->bytes = bytes;
    if (!p->memory && !(p->memory = la_mem_alloc((size_t)bytes)))
        return LA_ENOMEM;
    p->arenas = p->memory + (-(uintptr_t)p->memory & (ALIGN - 1));
    return LA_OK;
}

/* There are as many slots as threads; a host's job system with more of them
** waits for one to come back. */
int la_fuse_take_slot(la_fuse_plan *p)
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

void la_fuse_give_slot(la_fuse_plan *p, int k)
{
    atomic_fetch_and(&p->busy, ~(UINT64_C(1) << k));
}
