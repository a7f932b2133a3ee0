/*
** Elements in another order, or several times: flip, roll, rot90, repeat.
**
** No operation here has a loop of its own: flips are copies with negative
** strides, rolls copies of two runs per dim, repetitions copies from views with
** strides of 0. So all of them take the tiles and threads of la_move
** (strided.c).
*/
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/composite.h"
#include "op/move/move.h"
#include "op/view/view.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/join.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "op/look.h"
#include "tensor/shape.h"

/* --- flip --- */

/* Dims as bits. A list that is not given means all dims; an empty list that is
** given means none. */
static la_status flip_mask(const la_frame *f, int ndim, uint64_t *mask)
{
    const la_value *dims = &f->args[1];
    bool all = !dims->given && dims->ints.n == 0;
    return la_dim_mask(all ? -1 : (int)dims->ints.n, dims->ints.list, ndim,
                       mask);
}

/* (self, dims): self's sizes and, where it is dense, its strides. */
la_status la_meta_flip(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    int64_t strides[LA_MAX_DIMS];
    uint64_t mask;
    LA_TRY(la_blame(flip_mask(f, t->ndim, &mask), 2));
    f->scratch[0] = (int64_t)mask;
    la_preserve_strides(t, strides);
    LA_TRY(la_set_output(f, 0, t->ndim, la_sizes(t), strides, t->dtype));
    if (t->names)
        la_tensor_set_names(la_result(f, 0), la_names_retain(t->names));
    return LA_OK;
}

/* The source is read backwards along the dims of the mask. */
la_status la_impl_flip(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out = la_result(f, 0);
    la_strided to = la_strided_of(out), from = la_strided_of(t);
    uint64_t mask = (uint64_t)f->scratch[0];
    if (t->numel == 0)
        return LA_OK;
    for (int d = 0; d < t->ndim; d++) {
        if (!(mask >> d & 1))
            continue;
        from.data += (la_sizes(t)[d] - 1) * from.strides[d];
        from.strides[d] = -from.strides[d];
    }
    return la_move(&to, &from, t->ndim, la_sizes(t), la_itemsize(t));
}

/* flip along one dim of a tensor that has at least 'least' of them. */
static la_status flip_one(la_frame *f, int least, int64_t dim,
                          const char *name)
{
    la_tensor *out;
    if (la_arg(f, 0)->ndim < least)
        return la_error(LA_ESHAPE, "%s: Input must be >= %d-d.", name, least);
    return la_give(f, la_run(flip, &out, f->args[0], la_v_ints(&dim, 1)), &out);
}

la_status la_impl_fliplr(la_frame *f) { return flip_one(f, 2, 1, "fliplr()"); }
la_status la_impl_flipud(la_frame *f) { return flip_one(f, 1, 0, "flipud()"); }

/* A rotation by 90 degrees is a flip and a transposition. */
static la_status flip_and_swap(la_tensor *t, const int64_t *dims,
                               int64_t flipped, la_tensor **out)
{
    LA_LET(back, la_run(flip, &back, t, la_v_ints(&flipped, 1)));
    return la_run(transpose, out, back, dims[0], dims[1]);
}

/* The two dims of rot90, from 0, in d. LA_EARG unless they are two different
** ones, LA_ESHAPE for a tensor with fewer. */
static la_status check_rotation(const la_tensor *t, const la_value *dims,
                                int64_t *d)
{
    int a, b;
    if (dims->ints.n != 2)
        return la_error_at(LA_EARG, 3, "expected total rotation dims == 2, but "
                           "got dims = %lld", (long long)dims->ints.n);
    if (t->ndim < 2)
        return la_error_at(LA_ESHAPE, 1, "expected total dims >= 2, but got "
                           "total dims = %d", t->ndim);
    LA_TRY(la_blame(la_wrap_dim(dims->ints.list[0], t->ndim, &a), 3));
    LA_TRY(la_blame(la_wrap_dim(dims->ints.list[1], t->ndim, &b), 3));
    if (a == b)
        return la_error_at(LA_EARG, 3, "expected rotation dims to be "
                           "different, but got dimension %d twice", a + 1);
    d[0] = a;
    d[1] = b;
    return LA_OK;
}

/* (self, k, dims): k modulo 4, so negative numbers rotate the other way round.
** Always a copy, also for k = 0. */
la_status la_impl_rot90(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    int64_t d[2];
    LA_TRY(check_rotation(t, &f->args[2], d));
    switch (((la_arg_int(f, 1) % 4) + 4) % 4) {
    case 1: return la_give(f, flip_and_swap(t, d, d[1], &out), &out);
    case 2: return la_give(f, la_run(flip, &out, t, la_v_ints(d, 2)), &out);
    case 3: return la_give(f, flip_and_swap(t, d, d[0], &out), &out);
    default: return la_give(f, la_clone_contiguous(t, &out), &out);
    }
}

/* --- roll --- */

/* Either one shift per dim, or one shift and no dim: of the flat tensor. */
static la_status roll_numbers(const la_frame *f)
{
    const la_value *shifts = &f->args[1], *dims = &f->args[2];
    if (shifts->ints.n == 0)
        return la_error_at(LA_EARG, 2, "`shifts` required");
    if (dims->ints.n != shifts->ints.n
        && !(dims->ints.n == 0 && shifts->ints.n == 1))
        return la_error_at(LA_EARG, 3, "shifts and dimensions must align. "
                           "shifts: %lld, dims:%lld",
                           (long long)shifts->ints.n, (long long)dims->ints.n);
    return LA_OK;
}

/* (self, shifts, dims); a dim may be named several times. */
la_status la_meta_roll(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    const la_value *dims = &f->args[2];
    int64_t strides[LA_MAX_DIMS];
    int d;
    LA_TRY(roll_numbers(f));
    for (int64_t k = 0; k < dims->ints.n; k++) {
        LA_TRY(la_blame(la_wrap_dim(dims->ints.list[k], t->ndim, &d), 3));
        if (t->ndim == 0)
            return la_error_at(LA_ESHAPE, 3, "a 0-dim tensor has no dimension "
                               "to roll along");
    }
    LA_TRY(la_format_strides(la_suggest_format(t), t->ndim, la_sizes(t),
                             strides));
    LA_TRY(la_set_output(f, 0, t->ndim, la_sizes(t), strides, t->dtype));
    if (t->names)
        la_tensor_set_names(la_result(f, 0), la_names_retain(t->names));
    return LA_OK;
}

/* Two runs: what comes in at the beginning, and the rest. Shifts of any sign
** and size. An empty dim has no run. */
static la_runs rolled(int64_t size, int64_t shift)
{
    la_runs r = {.n = 0};
    int64_t start = size ? (size - shift % size) % size : 0;
    if (start < size) {
        r.run[r.n].n = size - start;
        r.run[r.n].from = start;
        r.run[r.n++].step = 1;
    }
    if (start > 0) {
        r.run[r.n].n = start;
        r.run[r.n].from = 0;
        r.run[r.n++].step = 1;
    }
    return r;
}

/* Elements in row-major order; the result may lie in another. */
static la_status roll_flat(la_tensor *t, int64_t shift, la_tensor *out)
{
    la_runs runs = rolled(t->numel, shift);
    LA_OWNED plain = NULL;
    int64_t n = t->numel, one = 1;
    LA_LET(flat, la_reshape_to(t, 1, &n, &flat));
    if (la_is_contiguous(out)) plain = la_tensor_retain(out);
    else LA_TRY(la_tensor_empty(t->ndim, la_sizes(t), t->dtype, &plain));
    LA_LET(all, la_tensor_view(plain, 1, &n, &one, plain->offset, &all));
    LA_TRY(la_move_runs(all, flat, &runs));
    return plain == out ? LA_OK : la_move_tensor(out, plain);
}

/* Shifts of one dim add up. */
la_status la_impl_roll(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out = la_result(f, 0);
    const la_value *shifts = &f->args[1], *dims = &f->args[2];
    int64_t shift[LA_MAX_DIMS] = {0};
    la_runs runs[LA_MAX_DIMS];
    int d;
    if (t->numel == 0) return LA_OK;
    if (dims->ints.n == 0) return roll_flat(t, shifts->ints.list[0], out);
    for (int64_t k = 0; k < dims->ints.n; k++) {
        LA_TRY(la_wrap_dim(dims->ints.list[k], t->ndim, &d));
        shift[d] = (shift[d] + shifts->ints.list[k] % la_sizes(t)[d])
                 % la_sizes(t)[d];
    }
    for (d = 0; d < t->ndim; d++) runs[d] = rolled(la_sizes(t)[d], shift[d]);
    return la_move_runs(out, t, runs);
}

/* --- repeat --- */

/* A stride-0 dim stands before each dim that repeats; one copy writes all out,
** and the pairs of dims become one. */
typedef struct repetition {
    int ndim, nwide;
    int64_t thin[LA_MAX_DIMS], wide[LA_MAX_DIMS], result[LA_MAX_DIMS];
} repetition;

/* One more dim of the views; 'thin' is its size in the source, 'wide' in the
** expanded view. LA_ESHAPE beyond the limit of dims. */
static la_status add_wide(repetition *r, int64_t thin, int64_t wide)
{
    if (r->nwide == LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: more than %d dimensions",
                        LA_MAX_DIMS);
    r->thin[r->nwide] = thin;
    r->wide[r->nwide++] = wide;
    return LA_OK;
}

/* One number per dim of the result, n of them; the source's dims are the last
** ones. All sizes are checked before anything is allocated. */
static la_status plan_repeat(const la_tensor *t, int n, const int64_t *times,
                             repetition *r)
{
    int64_t numel;
    r->ndim = n;
    r->nwide = 0;
    for (int d = 0; d < n; d++) {
        int from = d - (n - t->ndim);
        int64_t size = from < 0 ? 1 : la_sizes(t)[from];
        if (times[d] < 0)
            return la_error_at(LA_EARG, 2, "Trying to create tensor with "
                               "negative dimension %lld",
                               (long long)times[d]);
        if (!la_mul_ok(size, times[d], &r->result[d]))
            return la_error_at(LA_ESHAPE, 2, "size overflow");
        if (times[d] != 1)
            LA_TRY(add_wide(r, 1, times[d]));
        LA_TRY(add_wide(r, size, size));
    }
    return la_numel(n, r->result, &numel);
}

/* *out is owned: an [n]-dim contiguous copy. n >= t->ndim, else LA_EARG. */
static la_status repeat(la_tensor *t, int n, const int64_t *times,
                        la_tensor **out)
{
    repetition r;
    if (n < t->ndim)
        return la_error_at(LA_EARG, 2, "Number of dimensions of repeat dims "
                           "can not be smaller than number of dimensions of "
                           "tensor");
    if (n > LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 2, "size overflow: more than %d "
                           "dimensions", LA_MAX_DIMS);
    LA_TRY(plan_repeat(t, n, times, &r));
    LA_LET(thin, la_reshape_to(t, r.nwide, r.thin, &thin));
    LA_LET(wide, la_run(expand, &wide, thin, la_v_ints(r.wide, r.nwide)));
    LA_LET(copy, la_clone_contiguous(wide, &copy));
    return la_view_to(copy, n, r.result, out);
}

la_status la_impl_repeat(la_frame *f)
{
    la_tensor *out;
    return la_give(f, repeat(la_arg(f, 0), (int)f->args[1].ints.n,
                          f->args[1].ints.list, &out), &out);
}

/* tile takes fewer numbers than dims: ones come in front. */
la_status la_impl_tile(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    const la_value *given = &f->args[1];
    int64_t times[LA_MAX_DIMS], n = given->ints.n;
    if (n >= t->ndim)
        return la_give(f, repeat(t, (int)(n > 65 ? 65 : n), given->ints.list,
                              &out), &out);
    for (int d = 0; d < t->ndim; d++) {
        int64_t k = d - (t->ndim - n);
        times[d] = k < 0 ? 1 : given->ints.list[k];
    }
    return la_give(f, repeat(t, t->ndim, times, &out), &out);
}

/* --- repeat_interleave --- */

/* Along dim d each element 'times' times. */
static la_status flip_roll_interleave(la_tensor *t, int d, int64_t times,
                                      la_tensor **out)
{
    int64_t sizes[LA_MAX_DIMS + 1];
    LA_LET(thin, la_run(unsqueeze, &thin, t, d + 1));
    memcpy(sizes, la_sizes(thin), 8u * thin->ndim);
    sizes[d + 1] = times;
    LA_LET(wide, la_run(expand, &wide, thin, la_v_ints(sizes, thin->ndim)));
    LA_LET(copy, la_clone_contiguous(wide, &copy));
    return la_run(flatten, out, copy, d, d + 1);
}

/* The tensor to work on and its dim: without a dim the elements in a row. */
static la_status interleave_input(la_frame *f, int k, la_tensor **in, int *d)
{
    la_tensor *t = la_arg(f, 0);
    int64_t all = t->numel;
    *d = 0;
    if (!la_has(f, k) || t->ndim == 0)
        return la_reshape_to(t, 1, &all, in);
    LA_TRY(la_arg_dim(f, k, t->ndim, d));
    return la_tensor_same(t, in);
}

/* output_size is a promise of the caller, which spares PyTorch's GPUs a
** synchronization; here it is only compared. LA_EARG. */
static la_status check_output_size(const la_frame *f, int k, int64_t size)
{
    if (la_has(f, k) && la_arg_int(f, k) != size)
        return la_error_at(LA_EARG, k + 1, "Invalid "
                           "output_size, expected %lld but got %lld",
                           (long long)size, (long long)la_arg_int(f, k));
    return LA_OK;
}

/* (self, repeats, dim, output_size), one number for all elements. */
la_status la_impl_repeat_interleave(la_frame *f)
{
    la_tensor *out;
    int64_t times = la_arg_int(f, 1), size;
    int d;
    if (times < 0)
        return la_error_at(LA_EARG, 2, "Repeats must be non-negative");
    LA_LET(in, interleave_input(f, 2, &in, &d));
    if (!la_mul_ok(la_sizes(in)[d], times, &size))
        return la_error_at(LA_ESHAPE, 2, "size overflow");
    LA_TRY(check_output_size(f, 3, size));
    return la_give(f, flip_roll_interleave(in, d, times, &out), &out);
}

/* LA_ESHAPE or LA_EDTYPE; values are checked by add_counts. */
static la_status flip_roll_check_counts(const la_tensor *counts, int arg)
{
    if (counts->ndim > 1)
        return la_error_at(LA_ESHAPE, arg, "repeats must be 0-dim or 1-dim "
                           "tensor");
    if (counts->dtype != LA_INT64 && counts->dtype != LA_INT32)
        return la_error_at(LA_EDTYPE, arg, "repeats has to be Long or Int "
                           "tensor");
    return LA_OK;
}

/* Sum of the counts, checked for overflow; LA_EARG for a negative one. */
static la_status add_counts(const int64_t *counts, int64_t n, int arg,
                            int64_t *total)
{
    *total = 0;
    LA_EACH_POLLED(k, 0, n) {
        if (counts[k] < 0)
            return la_error_at(LA_EARG, arg, "repeats can not be negative");
        if (!la_add_ok(*total, counts[k], total))
            return la_error_at(LA_ESHAPE, arg, "size overflow");
    }
    return la_poll_long(n) ? la_poll() : LA_OK;
}

/* Position k (from 1) as often as counts[k] says. While eight more fit,
** so many are written at once: the next go over those that do not
** count. */
static void write_positions(int64_t *list, int64_t total, const int64_t *counts,
                            int64_t n)
{
    int64_t at = 0, left = la_poll_every(total);
    for (int64_t k = 0; k < n && !la_poll_run(&left, counts[k] + 1); k++) {
        int64_t end = at + counts[k];
        for (; at < end && at + 8 <= total; at += 8)
            for (int j = 0; j < 8; j++) list[at + j] = k + 1;
        for (; at < end; at++) list[at] = k + 1;
        at = end;
    }
}

/* counts -> the positions from 1 that index_select takes; int64, owned. */
static la_status flip_roll_positions(la_tensor *counts, int arg,
                                     la_tensor **out)
{
    int64_t total;
    LA_LET(wide, la_run(astype, &wide, counts, la_v_dtype(LA_INT64)));
    LA_LET(plain, la_run(contiguous, &plain, wide));
    LA_TRY(la_look_sizes(plain));
    const int64_t *list = (const int64_t *)la_data(plain);
    LA_TRY(add_counts(list, plain->numel, arg, &total));
    LA_TRY(la_tensor_empty(1, &total, LA_INT64, out));
    write_positions((int64_t *)la_data(*out), total, list, plain->numel);
    return la_poll();
}

/* LA_EKEY where there are no counts to read. */
static la_status check_meta(const la_tensor *t)
{
    if (t->device != LA_CPU)
        return la_error(LA_EKEY, "the result's shape depends on data, and a "
                        "tensor on the meta device has none");
    return LA_OK;
}

/* (repeats) -> positions: the form without a tensor to repeat. */
la_status la_impl_repeat_interleave_self(la_frame *f)
{
    la_tensor *counts = la_arg(f, 0), *out;
    LA_TRY(check_meta(counts));
    if (counts->ndim != 1)
        return la_error_at(LA_ESHAPE, 1, "repeat_interleave only accept 1D "
                           "vector as repeat");
    LA_TRY(flip_roll_check_counts(counts, 1));
    return la_give(f, flip_roll_positions(counts, 1, &out), &out);
}

/* (self, repeats, dim, output_size): one count per element along dim, or a
** single one for all. */
la_status la_impl_repeat_interleave_tensor(la_frame *f)
{
    la_tensor *counts = la_arg(f, 1), *out;
    la_scalar one;
    int d;
    LA_TRY(flip_roll_check_counts(counts, 2));
    LA_TRY(check_meta(counts));
    LA_TRY(la_look_sizes(counts));
    LA_LET(in, interleave_input(f, 2, &in, &d));
    if (counts->numel == 1) {
        one = la_scalar_load(counts->dtype, la_data(counts));
        if (one.i < 0)
            return la_error_at(LA_EARG, 2, "repeats can not be negative");
        return la_give(f, flip_roll_interleave(in, d, one.i, &out), &out);
    }
    if (counts->numel != la_sizes(in)[d])
        return la_error_at(LA_ESHAPE, 2, "repeats must have the same size as "
                           "input along dim, but got repeats.size(1) = %lld "
                           "and input.size(%d) = %lld",
                           (long long)counts->numel, d + 1,
                           (long long)la_sizes(in)[d]);
    LA_LET(index, flip_roll_positions(counts, 2, &index));
    LA_TRY(check_output_size(f, 3, index->numel));
    return la_give(f, la_run(index_select, &out, in, d, index), &out);
}
