/*
** Writes into given tensors as steps: in place, out= and copy_.
**
** From its call to the end of the pass that computes it, the target's storage
** is owed (LA_S_OWED): it is hidden, so that whatever looks at this memory, be
** it by another view, comes to the gate or to la_tensor_check_bounds and has
** all writes done first. The same tensor as an input of a later step is the
** value of the step.
**
** Writes run together, in the pass in which everything that somebody still
** holds gets its value: no step reads memory of before afterwards. So there
** are never more of them, with all that is read, than one pass takes. Within
** the pass lines are in the order of the calls, and a block is read where it is
** written; what reads the memory at other positions runs before.
*/
#include "fuse/fuse_plan.h"
#include "iter/iter.h"
#include "kernel/move/copy.h"
#include "op/op.h"
#include "tensor/shape.h"

la_fuse_set la_fuse_writes(const la_fuse *z)
{
    la_fuse_set set = 0;
    for (int i = 0; i < z->nsteps; i++)
        if (z->steps[i].write && z->steps[i].pending) set |= LA_FUSE_ONE << i;
    return set;
}

void la_fuse_show(const la_fuse *z)
{
    for (int i = 0; i < z->nsteps && !z->kept; i++) {
        la_storage *s = z->steps[i].tensor->storage;
        if (!z->steps[i].write || !(s->flags & LA_S_OWED)) continue;
        s->flags &= ~(uint32_t)LA_S_OWED;
        if (!(s->flags & LA_S_MOVED)) la_storage_show(s);
    }
}

void la_fuse_hide(const la_fuse *z)
{
    for (int i = 0; i < z->nsteps && !z->kept; i++) {
        la_storage *s = z->steps[i].tensor->storage;
        if (!z->steps[i].write || !z->steps[i].pending) continue;
        s->flags |= LA_S_OWED;
        la_storage_hide(s);
    }
}

/* ---- what is in the way ---- */

/* Is 't' on memory that a pending write of another tensor changes? */
static bool is_owed_elsewhere(const la_fuse *z, const la_tensor *t)
{
    if (!la_fuse_is_owed(t)) return false;
    for (int i = 0; i < z->nsteps; i++) {
        const la_fuse_step *s = &z->steps[i];
        if (s->write && s->pending && s->tensor != t
            && la_pair_overlap(s->tensor, t) != LA_OVERLAP_NO) return true;
    }
    return false;
}

/* How many of n arguments from 'first' on the program has not read yet. */
static int new_inputs(const la_fuse *z, const la_frame *f, int first, int n)
{
    int count = 0;
    for (int k = first; k < first + n; k++) {
        const la_tensor *t = la_arg(f, k);
        bool known = (t->flags & LA_F_WRAPPED) || la_fuse_step_of(z, t) >= 0;
        for (int i = 0; i < z->ninputs; i++) known |= z->inputs[i] == t;
        count += !known;
    }
    return count;
}

/* Would writes and all that is read, with n operands more, be too much for one
** pass? */
static bool is_full(const la_fuse *z, int n)
{
    int all = z->ninputs + n;
    for (int i = 0; i < z->nsteps; i++)
        all += z->steps[i].write || !z->steps[i].pending;
    return all > LA_ITER_MAX_OPS || z->nsteps == z->most
        || z->ninputs + n > LA_FUSE_INPUTS;
}

la_status la_fuse_make_way(la_fuse *z, const la_frame *f, int n)
{
    if (!la_fuse_writes(z)) return LA_OK;
    bool waits = is_full(z, new_inputs(z, f, 0, n));
    for (int k = 0; k < n; k++) waits |= is_owed_elsewhere(z, la_arg(f, k));
    return waits ? la_fuse_start_anew(z) : LA_OK;
}

/* Is anything of the target's memory read through another tensor, in part or
** in another order? */
static bool is_read_otherwise(const la_fuse *z, const la_tensor *target)
{
    for (int i = 0; i < z->ninputs; i++)
        if (z->inputs[i] != target
            && la_pair_overlap(z->inputs[i], target) != LA_OVERLAP_NO)
            return true;
    for (int i = 0; i < z->nsteps; i++) {
        const la_tensor *t = z->steps[i].tensor;
        if (t != target && t->storage
            && la_pair_overlap(t, target) != LA_OVERLAP_NO) return true;
    }
    return false;
}

/* ---- recording ---- */

/* The tensor that the call writes, where it is the only one; else NULL. */
static la_tensor *target_of(const la_frame *f)
{
    bool copies = f->op->role == LA_ROLE_copy;
    if (copies && f->form == LA_FUNCTIONAL) return la_arg(f, 0);
    if (f->form == LA_FUNCTIONAL || (f->op->forms & LA_MUTATES)) return NULL;
    for (int k = 1; k < LA_MAX_RESULTS; k++)
        if (f->outs[k]) return NULL;
    return f->outs[0];
}

bool la_fuse_is_write(const la_frame *f)
{
    const la_tensor *t = target_of(f);
    return t && la_fuse_is_simple(t) && t->storage && t->numel
        && !(t->flags & LA_F_DEFERRED) && !la_grad_flag(t)
        && !(t->storage->flags & LA_S_MOVED)
        && la_internal_overlap(t) == LA_OVERLAP_NO;
}

/* Dims in falling order of their strides: a new result has the order of rows,
** whatever gaps there are. */
bool la_fuse_has_row_order(const la_tensor *t)
{
    for (int d = 0; d < t->ndim; d++) {
        if (la_sizes(t)[d] < 2 || la_strides(t)[d] == 0) return false;
        if (d && la_strides(t)[d - 1] <= la_strides(t)[d]) return false;
    }
    return true;
}

/* The strides of the program that writes 't'; false where the target has an
** order that no program has. */
static bool program_strides(const la_tensor *t, int64_t *strides)
{
    size_t bytes = sizeof(int64_t) * (size_t)t->ndim;
    la_contiguous_strides(t->ndim, la_sizes(t), strides);
    if (la_is_contiguous(t)) return la_is_row_major(t);
    if (la_fuse_has_row_order(t)) return true;
    memcpy(strides, la_strides(t), bytes);
    return t->flags & LA_F_DENSE;
}

/* Operands of other tensors that share elements with the target are copied by
** the dispatcher or refused. */
static bool shares(const la_frame *f, int n, const la_tensor *target)
{
    for (int k = 0; k < n; k++)
        if (la_arg(f, k) != target
            && la_pair_overlap(la_arg(f, k), target) != LA_OVERLAP_NO)
            return true;
    return false;
}

static bool is_of_rows(const la_fuse *z)
{
    for (int i = 0; i < z->nsteps && z->ntrail; i++)
        if (z->steps[i].pending) return true;
    return false;
}

/* The program takes the step on: its shape is that of the target. */
static bool write_fits(la_fuse *z, const la_tensor *t, const int64_t *strides)
{
    return !is_of_rows(z) && la_fuse_begin(z, t->ndim, la_sizes(t), strides);
}

/* 'first' is the first argument that the step reads, of n. */
static void add_step(la_fuse *z, la_frame *f, const la_fuse_call *c,
                     la_tensor *target)
{
    la_fuse_step *s = &z->steps[z->nsteps];
    s->kind = LA_STEP_EACH;
    s->squares = false;
    s->plan = c->plan;
    s->nsources = c->n;
    for (int k = 0; k < c->n; k++)
        la_fuse_take_source(z, &s->from[k], la_arg(f, c->first + k),
                            k < c->nraw ? LA_BOOL : c->dtype);
    for (int i = 0; i < z->nsteps; i++)
        if (z->steps[i].tensor == target && z->steps[i].write) {
            z->steps[i].write = false;
            z->steps[i].replaced = true;
        }
    s->tensor = la_tensor_retain(target);
    s->write = s->pending = true;
    s->replaced = s->renewed = false;
    s->copies = c->copies;
    z->nsteps++;
    la_fuse_hide(z);
    if (!z->kept) la_bump_version(target);
    la_set_result(f, 0, la_tensor_retain(target));
}

la_status la_fuse_record_write(la_fuse *z, la_frame *f, const la_fuse_call *c,
                               bool *done)
{
    la_tensor *target = target_of(f);
    int64_t strides[LA_MAX_DIMS];
    if (target->dtype != c->result || !program_strides(target, strides))
        return LA_OK;
    bool full = is_full(z, 1 + new_inputs(z, f, c->first, c->n));
    if (z->kept && full) return LA_OK;
    bool copies = f->op->role == LA_ROLE_copy;
    if (!z->kept && shares(f, copies ? 2 : c->n, target))
        return LA_OK;
    if (full || (!z->kept && (is_read_otherwise(z, target)
                              || is_owed_elsewhere(z, target))))
        LA_TRY(la_fuse_start_anew(z));
    if (!write_fits(z, target, strides)) return LA_OK;
    add_step(z, f, c, target);
    *done = true;
    return LA_OK;
}

/* copy_ of a tensor of the same dtype, or of one that is broadcast. */
la_status la_fuse_record_copy(la_fuse *z, la_frame *f, bool *done)
{
    la_tensor *target = la_arg(f, 0), *from = la_arg(f, 1);
    la_dtype d = (la_dtype)target->dtype;
    if (from == target || from->dtype != d || (from->flags & LA_F_WRAPPED)
        || from->ndim != target->ndim || !la_fuse_is_simple(from)
        || la_grad_flag(from)
        || memcmp(la_sizes(from), la_sizes(target),
                  sizeof(int64_t) * (size_t)target->ndim) != 0) return LA_OK;
    la_fuse_call c = {.n = 1, .first = 1, .copies = true, .dtype = d,
                      .result = d};
    c.plan.loop = la_fuse_copy_loop(la_dtype_size(d));
    return la_fuse_record_write(z, f, &c, done);
}

la_loop la_fuse_copy_loop(size_t size)
{
    return (*LA_STUB(copy))[la_size_slot(size)];
}
