/* Masks: positions of what is not zero, elements chosen by a mask. */
#include "base/pool.h"
#include "op/index.h"

/* ---- bytes of 0 and 1 ---- */

typedef struct truth_job {
    la_truth run;
    uint8_t *mask;
    const char *data;
    int64_t item;
    int64_t *count;     /* of each block */
} truth_job;

enum { TRUTH_BLOCK = 1 << 16 };

static void truth_blocks(int64_t begin, int64_t end, void *context)
{
    truth_job *j = context;
    j->run(j->mask + begin, j->data + begin * j->item, j->item, end - begin);
}

la_status la_truth_mask(la_tensor *t, la_tensor **mask, int64_t *count)
{
    LA_OWNED plain = NULL;
    LA_OWNED made = NULL;
    LA_TRY(la_run(contiguous, &plain, LA_T(t)));
    LA_TRY(la_tensor_empty(t->ndim, la_sizes(t), LA_BOOL, &made));
    truth_job j = {.run = (*LA_STUB(truths))[t->dtype],
                   .mask = (uint8_t *)la_data(made), .data = la_data(plain),
                   .item = (int64_t)la_itemsize(t)};
    la_parallel_for(t->numel, TRUTH_BLOCK, truth_blocks, &j);
    *count = LA_STUB(index_scans)->count(j.mask, t->numel);
    *mask = la_tensor_retain(made);
    return LA_OK;
}

la_status la_flat_positions(la_tensor *t, la_tensor **out)
{
    LA_OWNED mask = NULL;
    int64_t n;
    LA_TRY(la_truth_mask(t, &mask, &n));
    LA_TRY(la_tensor_empty(1, &n, LA_INT64, out));
    if (n > 0)
        LA_STUB(index_scans)->positions((int64_t *)la_data(*out),
                                        (uint8_t *)la_data(mask), t->numel, 0);
    return LA_OK;
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

/* Rows of coordinates. The last ones of a row of the mask are found first,
** packed at the end of the room that is left, where nothing is lost. */
static void coordinates(int64_t *out, const uint8_t *mask, int ndim,
                        const int64_t *sizes, int64_t rows, int64_t *found)
{
    const la_index_scans *scans = LA_STUB(index_scans);
    int64_t at[LA_MAX_DIMS] = {0}, length = sizes[ndim - 1];
    for (int64_t r = 0; r < rows; r++, mask += length) {
        int64_t n = scans->positions(found, mask, length, 0) - found;
        for (int64_t i = 0; i < n; i++, out += ndim) {
            for (int d = 0; d < ndim - 1; d++) out[d] = at[d] + 1;
            out[ndim - 1] = found[i];
        }
        step_row(at, sizes, ndim);
    }
}

la_status la_impl_nonzero(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    LA_OWNED mask = NULL;
    LA_OWNED found = NULL;
    int64_t sizes[2] = {0, self->ndim};
    LA_TRY(la_truth_mask(self, &mask, &sizes[0]));
    LA_TRY(la_set_output(f, 0, 2, sizes, NULL, LA_INT64));
    int64_t *out = (int64_t *)la_data(la_result(f, 0));
    if (sizes[0] == 0 || self->ndim == 0) return LA_OK;
    const uint8_t *bytes = (uint8_t *)la_data(mask);
    if (self->ndim == 1) {
        LA_STUB(index_scans)->positions(out, bytes, self->numel, 0);
        return LA_OK;
    }
    int64_t length = la_sizes(self)[self->ndim - 1];
    LA_TRY(la_tensor_empty(1, &length, LA_INT64, &found));
    coordinates(out, bytes, self->ndim, la_sizes(self), self->numel / length,
                (int64_t *)la_data(found));
    return LA_OK;
}

/* One list of positions per dim; a 0-dim tensor counts as one of {1}. */
static la_status nonzero_lists(la_frame *f, la_tensor *t)
{
    LA_OWNED wide = NULL;
    LA_OWNED pairs = NULL;
    la_value r[LA_MAX_RESULTS] = {0};
    if (t->ndim == 0) {
        LA_TRY(la_run(unsqueeze, &wide, LA_T(t), LA_I(0)));
        t = wide;
    }
    LA_TRY(la_run(nonzero, &pairs, LA_T(t)));
    LA_TRY(la_run_many(unbind, r, LA_T(pairs), LA_I(1)));
    la_set_result_value(f, 0, r[0]);
    return LA_OK;
}

la_status la_impl_nonzero_tuple(la_frame *f)
{
    la_tensor *out = NULL;
    if (la_arg_bool(f, 1)) return nonzero_lists(f, la_arg(f, 0));
    LA_TRY(la_run(nonzero, &out, f->args[0]));
    la_set_result(f, 0, out);
    return LA_OK;
}

la_status la_impl_where_tuple(la_frame *f)
{
    return nonzero_lists(f, la_arg(f, 0));
}

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
    int64_t total = x->numel / n;
    for (int64_t r = 0; r < total && left > 0; r++) {
        int64_t xo = 0, mo = 0, m = n, hits = 0;
        for (int d = 0; d < nd - 1; d++) {
            xo += at[d] * la_strides(x)[d] * item;
            mo += at[d] * la_strides(mask)[d];
        }
        const char *bytes = la_data(mask) + mo;
        while (m > 0 && !bytes[(m - 1) * mask_step]) m--;
        char *end = moves->compress[la_size_class((size_t)item)]
            (out, la_data(x) + xo, step, bytes, mask_step, m);
        hits = (end - out) / item;
        left -= hits;
        out = end;
        step_row(at, la_sizes(x), nd);
    }
}

la_status la_impl_masked_select(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *mask = la_arg(f, 1);
    la_shape a = la_shape_of(self), b = la_shape_of(mask), s;
    LA_OWNED x = NULL;
    LA_OWNED wide = NULL;
    LA_OWNED bytes = NULL;
    int64_t n;
    if (mask->dtype != LA_BOOL)
        return la_error_at(LA_EDTYPE, 2, "masked_select: expected BoolTensor "
                           "for mask, got %s",
                           la_dtype_name((la_dtype)mask->dtype));
    LA_TRY(la_shape_broadcast(&a, &b, &s));
    LA_TRY(la_run(expand, &x, LA_T(self), LA_IS(s.sizes, s.ndim)));
    LA_TRY(la_run(expand, &wide, LA_T(mask), LA_IS(s.sizes, s.ndim)));
    LA_TRY(la_truth_mask(wide, &bytes, &n));
    LA_TRY(la_set_output(f, 0, 1, &n, NULL, (la_dtype)self->dtype));
    if (n == 0) return LA_OK;
    if (!la_is_contiguous(x)) {
        select_rows(la_data(la_result(f, 0)), x, bytes, n);
        return LA_OK;
    }
    LA_OWNED flat = NULL;
    LA_OWNED flat_bytes = NULL;
    int64_t all = -1;
    LA_TRY(la_run(view, &flat, LA_T(x), LA_IS(&all, 1)));
    LA_TRY(la_run(view, &flat_bytes, LA_T(bytes), LA_IS(&all, 1)));
    select_rows(la_data(la_result(f, 0)), flat, flat_bytes, n);
    return LA_OK;
}

/* ---- masked_scatter ---- */

la_status la_impl_masked_scatter(la_frame *f)
{
    la_tensor *self = la_arg(f, 0), *mask = la_arg(f, 1), *src = la_arg(f, 2);
    la_shape a = la_shape_of(self), b = la_shape_of(mask), s;
    LA_OWNED x = NULL;
    LA_OWNED wide = NULL;
    LA_OWNED places = NULL;
    LA_OWNED flat = NULL;
    LA_OWNED used = NULL;
    int64_t all = -1;
    la_tensor *out = NULL;
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
    LA_TRY(la_run(expand, &x, LA_T(self), LA_IS(s.sizes, s.ndim)));
    LA_TRY(la_run(expand, &wide, LA_T(mask), LA_IS(s.sizes, s.ndim)));
    LA_TRY(la_flat_positions(wide, &places));
    if (src->numel < places->numel)
        return la_error_at(LA_ESHAPE, 3, "masked_scatter: expected self and "
                           "source to have enough elements: %lld are needed "
                           "for the mask, source has %lld",
                           (long long)places->numel, (long long)src->numel);
    LA_TRY(la_run(reshape, &flat, LA_T(src), LA_IS(&all, 1)));
    LA_TRY(la_run(narrow, &used, LA_T(flat), LA_I(0), LA_I(0),
                  LA_I(places->numel)));
    LA_TRY(la_run(put, &out, LA_T(x), LA_T(places), LA_T(used)));
    la_set_result(f, 0, out);
    return LA_OK;
}
