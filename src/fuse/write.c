/*
** Writes into given tensors as steps: in place, out= and copy_. The same tensor
** as an input of a later step is the value of the step.
**
** Writes run together, in the last pass of a chain: no step reads memory of
** before afterwards. So there are never more of them, with all that is read,
** than one pass takes. Within the pass lines are in the order of the calls, and
** a block is read where it is written. Who lays the chain out sees to it that
** what reads the memory at other positions is none of its steps.
*/
#include "fuse/fuse_plan.h"
#include "iter/iter.h"
#include "kernel/move/copy.h"
#include "op/op.h"
#include "tensor/shape.h"

la_fuse_set la_fuse_writes(const la_fused *z)
{
    la_fuse_set set = 0;
    for (int i = 0; i < z->nsteps; i++)
        if (z->steps[i].write && z->steps[i].pending) set |= LA_FUSE_ONE << i;
    return set;
}

/* How many of n arguments from 'first' on the chain has not read yet. */
static int new_inputs(const la_fused *z, const la_frame *f, int first, int n)
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
static bool is_full(const la_fused *z, int n)
{
    int all = z->ninputs + n;
    for (int i = 0; i < z->nsteps; i++)
        all += z->steps[i].write || !z->steps[i].pending;
    return all > LA_ITER_MAX_OPS || z->nsteps == z->most
        || z->ninputs + n > LA_FUSE_INPUTS;
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

/* The strides of the chain that writes 't'; false where the target has an
** order that no chain has. */
static bool chain_strides(const la_tensor *t, int64_t *strides)
{
    size_t bytes = sizeof(int64_t) * (size_t)t->ndim;
    la_contiguous_strides(t->ndim, la_sizes(t), strides);
    if (la_is_contiguous(t)) return la_is_row_major(t);
    if (la_fuse_has_row_order(t)) return true;
    memcpy(strides, la_strides(t), bytes);
    return t->flags & LA_F_DENSE;
}

static bool is_of_rows(const la_fused *z)
{
    for (int i = 0; i < z->nsteps && z->ntrail; i++)
        if (z->steps[i].pending) return true;
    return false;
}

/* The chain takes the step on: its shape is that of the target. */
static bool write_fits(la_fused *z, const la_tensor *t, const int64_t *strides)
{
    return !is_of_rows(z) && la_fuse_begin(z, t->ndim, la_sizes(t), strides);
}

/* 'first' is the first argument that the step reads, of n. */
static void add_step(la_fused *z, la_frame *f, const la_fuse_call *c,
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
    la_set_result(f, 0, la_tensor_retain(target));
}

la_status la_fuse_record_write(la_fused *z, la_frame *f, const la_fuse_call *c,
                               bool *done)
{
    la_tensor *target = target_of(f);
    int64_t strides[LA_MAX_DIMS];
    if (target->dtype != c->result || !chain_strides(target, strides))
        return LA_OK;
    if (is_full(z, 1 + new_inputs(z, f, c->first, c->n))) return LA_OK;
    if (!write_fits(z, target, strides)) return LA_OK;
    add_step(z, f, c, target);
    *done = true;
    return LA_OK;
}

/* copy_ of a tensor of the same dtype, or of one that is broadcast. */
la_status la_fuse_record_copy(la_fused *z, la_frame *f, bool *done)
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
