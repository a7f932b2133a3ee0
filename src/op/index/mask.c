/* Masks: positions of what is not zero, elements chosen by a mask. */
#include "iter/items.h"
#include "op/index/index.h"
#include "op/sort/order.h"

#define LA_ROWS "op/def/index.def"
#include "base/runtime/interrupt.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* ---- bytes of 0 and 1 ---- */

/* A mask and how many are set in each block of it: whoever writes what the
** mask chooses can begin at any block. */
typedef struct truth {
    la_tensor *mask;
    la_work counts;             /* of the blocks; then where each begins */
    int64_t n, blocks, total;
    la_truth run;
    const char *data;
    int64_t item, *out;
} truth;

/* Both are safe to drop before they are set. */
static void truth_drop(truth *t)
{
    la_tensor_drop(&t->mask);
    la_work_drop(&t->counts);
}
#define TRUTH __attribute__((cleanup(truth_drop))) truth

/* Elements of a block; POLLED blocks between two looks at the interruption. */
enum { TRUTH_BLOCK = 1 << 16, POLLED = 4 };

/* Elements of a block; the last may be shorter. */
static int64_t block_size(const truth *j, int64_t block)
{
    int64_t left = j->n - block * TRUTH_BLOCK;
    return left < TRUTH_BLOCK ? left : TRUTH_BLOCK;
}

/* Blocks begin..end: bytes of 0 and 1, and how many are set. */
static void truth_blocks(int64_t begin, int64_t end, void *context)
{
    truth *j = context;
    int64_t *counts = j->counts.block;
    for (int64_t b = begin; b < end; b++) {
        int64_t at = b * TRUTH_BLOCK, n = block_size(j, b);
        uint8_t *mask = (uint8_t *)la_data(j->mask) + at;
        j->run(mask, j->data + at * j->item, j->item, n);
        counts[b] = LA_STUB(index_scans)->count(mask, n);
    }
}

/* Fills *j (t not zero); counts become where each block's results begin. The
** only pass over t: what follows reads the bytes. LA_ENOMEM, LA_EINTR or
** LA_OK. */
static la_status find_truth(la_tensor *t, truth *j)
{
    LA_OWNED plain = NULL;
    if (la_is_contiguous(t)) plain = la_tensor_retain(t);
    else LA_TRY(la_run(contiguous, &plain, t));
    LA_TRY(la_tensor_empty(t->ndim, la_sizes(t), LA_BOOL, &j->mask));
    j->n = t->numel;
    j->blocks = (j->n + TRUTH_BLOCK - 1) / TRUTH_BLOCK;
    j->run = (*LA_STUB(truths))[t->dtype];
    j->data = la_data(plain);
    j->item = (int64_t)la_itemsize(t);
    LA_TRY(la_work_get(&j->counts, j->blocks, sizeof(int64_t)));
    LA_TRY(la_iter_items(j->blocks, 1, POLLED, truth_blocks, j));
    int64_t *counts = j->counts.block;
    for (int64_t b = 0; b < j->blocks; b++) {
        int64_t some = counts[b];
        counts[b] = j->total;
        j->total += some;
    }
    return LA_OK;
}

/* Each block writes from where its results begin: no order among threads. */
static void position_blocks(int64_t begin, int64_t end, void *context)
{
    const truth *j = context;
    const int64_t *starts = j->counts.block;
    const uint8_t *mask = (uint8_t *)la_data(j->mask);
    for (int64_t b = begin; b < end; b++)
        LA_STUB(index_scans)->positions(j->out + starts[b],
                                        mask + b * TRUTH_BLOCK,
                                        block_size(j, b), b * TRUTH_BLOCK);
}

/* All positions in the flat tensor, from 1. */
static la_status flat_positions(truth *j, int64_t *out)
{
    j->out = out;
    return la_iter_items(j->blocks, 1, POLLED, position_blocks, j);
}

/* Two passes: the first counts by blocks, so that the result has its size
** before a thread writes its part. */
la_status la_flat_positions(la_tensor *t, la_tensor **out)
{
    TRUTH j = {.total = 0};
    LA_TRY(find_truth(t, &j));
    LA_TRY(la_tensor_empty(1, &j.total, LA_INT64, out));
    return flat_positions(&j, (int64_t *)la_data(*out));
}

/* ---- nonzero ---- */

/* The next row in row-major order: coordinates from 0 of all dims but the
** last. */
static void step_row(int64_t *at, const int64_t *sizes, int ndim)
{
    for (int d = ndim - 2; d >= 0; d--) {
        if (++at[d] < sizes[d]) return;
        at[d] = 0;
    }
}

/* Rows of coordinates. The last ones of a piece of the mask's row are found
** first, in 'found'. Nothing of use when interrupted. */
static void mask_coordinates(int64_t *out, const uint8_t *mask, int ndim,
                             const int64_t *sizes, int64_t rows, int64_t *found)
{
    const la_index_scans *scans = LA_STUB(index_scans);
    int64_t at[LA_MAX_DIMS] = {0}, length = sizes[ndim - 1];
    int64_t left = la_poll_every(rows * length);
    for (int64_t r = 0; r < rows && !la_poll_run(&left, length); r++) {
        for (int64_t k = 0, end; (end = la_poll_piece(k, length)) > k; ) {
            int64_t n = scans->positions(found, mask + k, end - k, k) - found;
            k = end;
            for (int64_t i = 0; i < n; i++, out += ndim) {
                for (int d = 0; d < ndim - 1; d++) out[d] = at[d] + 1;
                out[ndim - 1] = found[i];
            }
        }
        mask += length;
        step_row(at, sizes, ndim);
    }
}

/* (self) -> [count, ndim], row-major, from 1. */
la_status la_impl_nonzero(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    TRUTH j = {.total = 0};
    LA_TRY(find_truth(self, &j));
    int64_t sizes[2] = {j.total, self->ndim};
    LA_TRY(la_set_output(f, 0, 2, sizes, NULL, LA_INT64));
    int64_t *out = (int64_t *)la_data(la_result(f, 0));
    if (sizes[0] == 0 || self->ndim == 0) return LA_OK;
    const uint8_t *bytes = (uint8_t *)la_data(j.mask);
    if (self->ndim == 1) return flat_positions(&j, out);
    int64_t length = la_sizes(self)[self->ndim - 1];
    LA_LET(found, la_tensor_empty(1, &length, LA_INT64, &found));
    mask_coordinates(out, bytes, self->ndim, la_sizes(self),
                     self->numel / length, (int64_t *)la_data(found));
    return LA_OK;
}

/* One list of positions per dim; a 0-dim tensor counts as one of {1}. */
static la_status nonzero_lists(la_frame *f, la_tensor *t)
{
    LA_OWNED wide = NULL;
    la_value r[LA_MAX_RESULTS] = {0};
    if (t->ndim == 0) {
        LA_TRY(la_run(unsqueeze, &wide, t, 0));
        t = wide;
    }
    LA_LET(pairs, la_run(nonzero, &pairs, t));
    LA_TRY(la_run_many(unbind, r, pairs, 1));
    la_set_result_value(f, 0, r[0]);
    return LA_OK;
}

/* (self, as_tuple): by default one matrix, a row per element. */
la_status la_impl_nonzero_tuple(la_frame *f)
{
    if (la_arg_bool(f, 1)) return nonzero_lists(f, la_arg(f, 0));
    return la_run_result(f, nonzero, f->args[0]);
}

/* (self, as_tuple): what out is for. LA_EARG for a list. */
la_status la_impl_nonzero_rows(la_frame *f)
{
    if (la_arg_bool(f, 1))
        return la_error_at(LA_EARG, 2, "out has no list of tensors: as_tuple "
                           "must be false");
    return la_run_result(f, nonzero, f->args[0]);
}

/* where(condition) alone: nonzero's lists. */
LA_FORWARD(la_impl_where_tuple, nonzero_lists(f, la_arg(f, 0)))

/* ---- masked_select ---- */

/* Compress row by row; the last row ends at its last set byte, so that nothing
** is written beyond the result. */
static void select_rows(char *out, la_tensor *x, la_tensor *mask, int64_t left)
{
    int nd = x->ndim, item = (int)la_itemsize(x);
    int64_t at[LA_MAX_DIMS] = {0}, n = nd ? la_sizes(x)[nd - 1] : 1;
    int64_t step = nd ? la_strides(x)[nd - 1] * item : item;
    int64_t mask_step = nd ? la_strides(mask)[nd - 1] : 1;
    const la_index_moves *moves = LA_STUB(index_moves);
    int64_t total = x->numel / n, until = la_poll_every(x->numel);
    for (int64_t r = 0; r < total && left > 0; r++) {
        int64_t xo = 0, mo = 0, hits = 0;
        for (int d = 0; d < nd - 1; d++) {
            xo += at[d] * la_strides(x)[d] * item;
            mo += at[d] * la_strides(mask)[d];
        }
        if (la_poll_run(&until, n)) return;
        for (int64_t k = 0, end; (end = la_poll_piece(k, n)) > k; k = end) {
            const char *bytes = la_data(mask) + mo + k * mask_step;
            int64_t m = end - k;
            while (m > 0 && !bytes[(m - 1) * mask_step]) m--;
            char *next = moves->compress[la_size_class((size_t)item)]
                (out, la_data(x) + xo + k * step, step, bytes, mask_step, m);
            hits += (next - out) / item;
            out = next;
        }
        left -= hits;
        step_row(at, la_sizes(x), nd);
    }
}

/* Selected elements of one contiguous row, block by block. */
typedef struct chosen {
    const truth *where;
    const char *from;
    char *to;
    int64_t item;
} chosen;

static void select_blocks(int64_t begin, int64_t end, void *context)
{
    const chosen *c = context;
    const int64_t *starts = c->where->counts.block;
    const char *mask = la_data(c->where->mask);
    int size = la_size_class((size_t)c->item);
    for (int64_t b = begin; b < end; b++) {
        int64_t at = b * TRUTH_BLOCK, n = block_size(c->where, b);
        while (n > 0 && !mask[at + n - 1]) n--;
        LA_STUB(index_moves)->compress[size](c->to + starts[b] * c->item,
                                             c->from + at * c->item, c->item,
                                             mask + at, 1, n);
    }
}

/* The mask has x's sizes. Only a contiguous x is shared by threads: of other
** layouts the rows are read one after another. */
la_status la_select_masked(la_frame *f, la_tensor *x, la_tensor *mask)
{
    TRUTH j = {.total = 0};
    LA_TRY(find_truth(mask, &j));
    LA_TRY(la_set_output(f, 0, 1, &j.total, NULL, (la_dtype)x->dtype));
    if (j.total == 0) return LA_OK;
    char *to = la_data(la_result(f, 0));
    if (!la_is_contiguous(x)) {
        select_rows(to, x, j.mask, j.total);
        return LA_OK;
    }
    chosen c = {&j, la_data(x), to, (int64_t)la_itemsize(x)};
    return la_iter_items(j.blocks, 1, POLLED, select_blocks, &c);
}

/* (self, mask): both broadcast; LA_EDTYPE unless the mask is bool. */
la_status la_impl_masked_select(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *mask = la_arg(f, 1);
    la_shape a = la_shape_of(self), b = la_shape_of(mask), s;
    if (mask->dtype != LA_BOOL)
        return la_error_at(LA_EDTYPE, 2, "masked_select: expected BoolTensor "
                           "for mask, got %s",
                           la_dtype_name((la_dtype)mask->dtype));
    LA_TRY(la_shape_broadcast(&a, &b, &s));
    if (la_same_sizes(self, mask)) return la_select_masked(f, self, mask);
    LA_LET(x, la_run(expand, &x, self, la_v_ints(s.sizes, s.ndim)));
    LA_LET(wide, la_run(expand, &wide, mask, la_v_ints(s.sizes, s.ndim)));
    return la_select_masked(f, x, wide);
}

/* ---- masked_scatter ---- */

/* (self, mask, source): the n-th set position takes the n-th element of source.
** LA_ESHAPE where source has too few. */
la_status la_impl_masked_scatter(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *mask = la_arg(f, 1), *src = la_arg(f, 2);
    la_shape a = la_shape_of(self), b = la_shape_of(mask), s;
    int64_t all = -1;
    if (mask->dtype != LA_BOOL)
        return la_error_at(LA_EDTYPE, 2, "masked_scatter_ only supports "
                           "boolean masks, but got mask with dtype %s",
                           la_dtype_name((la_dtype)mask->dtype));
    if (src->dtype != self->dtype)
        return la_error_at(LA_EDTYPE, 3, "masked_scatter: expected self and "
                           "source to have same dtypes but got %s and %s",
                           la_dtype_name((la_dtype)self->dtype),
                           la_dtype_name((la_dtype)src->dtype));
    LA_TRY(la_shape_broadcast(&a, &b, &s));
    LA_LET(x, la_run(expand, &x, self, la_v_ints(s.sizes, s.ndim)));
    LA_LET(wide, la_run(expand, &wide, mask, la_v_ints(s.sizes, s.ndim)));
    LA_LET(positions, la_flat_positions(wide, &positions));
    if (src->numel < positions->numel)
        return la_error_at(LA_ESHAPE, 3, "masked_scatter: expected self and "
                           "source to have enough elements: %lld are needed "
                           "for the mask, source has %lld",
                           (long long)positions->numel, (long long)src->numel);
    LA_LET(flat, la_run(reshape, &flat, src, la_v_ints(&all, 1)));
    LA_LET(used, la_run(narrow, &used, flat, 0, 0, positions->numel));
    return la_run_result(f, put, x, positions, used);
}
