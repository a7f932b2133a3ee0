/*
** Numbers in 4 or 8 bits with a scale and a bias per group, and products with
** them. A few rows are multiplied straight from the bytes, which is what
** reading the weights costs; more of them by the matrix product with the
** numbers made.
*/
#include "kernel/nn/quantize.h"

#include "iter/items.h"
#include "op/composite.h"
#include "op/conv/conv.h"
#include "op/move/copy.h"
#include "op/nn/packed_rows.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/quantize.def"
#include "base/runtime/thread_pool.h"
#include "op/call.h"
#include "op/impls.h"

/* ---- checks ---- */

static la_status check_bits(int64_t bits, int64_t group)
{
    if (bits != 4 && bits != 8)
        return la_error(LA_EARG, "bits must be 4 or 8, got %lld",
                        (long long)bits);
    if (group >= 32 && group % 32 == 0 && group <= INT32_MAX) return LA_OK;
    return la_error(LA_EARG, "group must be a positive multiple of 32, got "
                    "%lld", (long long)group);
}

/* Values of uint8 with scales and biases of float32 for their groups; *last is
** the size of the last dim in numbers. */
static la_status check_quantized(const la_frame *f, int first, int64_t *last)
{
    const la_tensor *q = la_arg(f, first), *s = la_arg(f, first + 1);
    const la_tensor *b = la_arg(f, first + 2);
    int64_t bits = la_arg_int(f, first + 3), group = la_arg_int(f, first + 4);
    LA_TRY(check_bits(bits, group));
    if (q->dtype != LA_UINT8 || s->dtype != LA_FLOAT32
        || b->dtype != LA_FLOAT32)
        return la_error_at(LA_EDTYPE, first + 1, "values of uint8, scales and "
                           "biases of float32 are expected, got %s, %s and %s",
                           la_dtype_name((la_dtype)q->dtype),
                           la_dtype_name((la_dtype)s->dtype),
                           la_dtype_name((la_dtype)b->dtype));
    bool fits = q->ndim > 0 && s->ndim == q->ndim && la_same_sizes(s, b);
    for (int d = 0; fits && d < q->ndim - 1; d++)
        fits = la_sizes(q)[d] == la_sizes(s)[d];
    int64_t groups = fits ? la_sizes(s)[s->ndim - 1] : 0;
    if (fits && la_mul_ok(groups, group, last)
        && la_sizes(q)[q->ndim - 1] == *last / 8 * bits) return LA_OK;
    return la_error_at(LA_ESHAPE, first + 1, "values, scales and biases do not "
                       "fit to %lld bits in groups of %lld", (long long)bits,
                       (long long)group);
}

/* ---- quantize ---- */

/* quantize_groups(self, bits, group) */
la_status la_meta_quantize_groups(la_frame *f)
{
    const la_tensor *x = la_arg(f, 0);
    int64_t bits = la_arg_int(f, 1), group = la_arg_int(f, 2);
    int64_t sizes[LA_MAX_DIMS];
    LA_TRY(check_bits(bits, group));
    if (x->ndim < 1 || la_sizes(x)[x->ndim - 1] % group != 0)
        return la_error_at(LA_ESHAPE, 1, "a last dim that groups of %lld "
                           "divide is expected", (long long)group);
    memcpy(sizes, la_sizes(x), (size_t)x->ndim * sizeof *sizes);
    int64_t *last = &sizes[x->ndim - 1], n = *last;
    *last = n / 8 * bits;
    LA_TRY(la_set_output(f, 0, x->ndim, sizes, NULL, LA_UINT8));
    *last = n / group;
    LA_TRY(la_set_output(f, 1, x->ndim, sizes, NULL, LA_FLOAT32));
    return la_set_output(f, 2, x->ndim, sizes, NULL, LA_FLOAT32);
}

/* Groups that run one behind the other, and their numbers. */
typedef struct job {
    la_quantized all;
    float *x;
} job;

/* Groups begin..end of a job. */
static la_quantized part_of(const job *j, int64_t begin, int64_t end)
{
    la_quantized q = j->all;
    q.q += begin * q.group * q.bits / 8;
    q.scale += begin;
    q.bias += begin;
    q.groups = end - begin;
    return q;
}

static void pack_range(int64_t begin, int64_t end, void *context)
{
    const job *j = context;
    la_quantized q = part_of(j, begin, end);
    LA_STUB(quantize)->pack(&q, j->x + begin * q.group);
}

static void unpack_range(int64_t begin, int64_t end, void *context)
{
    const job *j = context;
    la_quantized q = part_of(j, begin, end);
    LA_STUB(quantize)->unpack(&q, j->x + begin * q.group);
}

static la_quantized quantized_of(const la_tensor *q, const la_tensor *scale,
                                 const la_tensor *bias, int64_t bits,
                                 int64_t group)
{
    return (la_quantized){.q = (uint8_t *)la_data(q),
        .scale = (float *)(void *)la_data(scale),
        .bias = (float *)(void *)la_data(bias), .groups = scale->numel,
        .group = group, .bits = (int)bits};
}

#define GRAIN 32768           /* numbers of a thread, at least */

static la_status run_groups(job *j, la_range_fn run)
{
    int64_t grain = GRAIN / j->all.group + 1;
    return la_iter_items(j->all.groups, grain, 16 * grain, run, j);
}

la_status la_impl_quantize_groups(la_frame *f)
{
    if (la_arg(f, 0)->numel == 0) return LA_OK;
    LA_LET(x, la_as_contiguous(la_arg(f, 0), &x));
    job j = {quantized_of(la_result(f, 0), la_result(f, 1), la_result(f, 2),
                          la_arg_int(f, 1), la_arg_int(f, 2)),
             (float *)(void *)la_data(x)};
    return run_groups(&j, pack_range);
}

/* quantize(self, bits, group) */
la_status la_impl_quantize(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    la_value r[LA_MAX_RESULTS];
    LA_LET(wide, la_run(to_dtype, &wide, x, la_v_dtype(LA_FLOAT32)));
    LA_TRY(la_run_many(quantize_groups, r, wide, f->args[1], f->args[2]));
    for (int k = 0; k < 3; k++) la_set_result(f, k, r[k].tensor);
    return LA_OK;
}

/* ---- dequantize ---- */

/* dequantize_groups(self, scales, biases, bits, group) */
la_status la_meta_dequantize_groups(la_frame *f)
{
    const la_tensor *q = la_arg(f, 0);
    int64_t sizes[LA_MAX_DIMS], last = 0;
    LA_TRY(check_quantized(f, 0, &last));
    memcpy(sizes, la_sizes(q), (size_t)q->ndim * sizeof *sizes);
    sizes[q->ndim - 1] = last;
    return la_set_output(f, 0, q->ndim, sizes, NULL, LA_FLOAT32);
}

la_status la_impl_dequantize_groups(la_frame *f)
{
    if (la_result(f, 0)->numel == 0) return LA_OK;
    LA_LET(q, la_as_contiguous(la_arg(f, 0), &q));
    LA_LET(scale, la_as_contiguous(la_arg(f, 1), &scale));
    LA_LET(bias, la_as_contiguous(la_arg(f, 2), &bias));
    job j = {quantized_of(q, scale, bias, la_arg_int(f, 3), la_arg_int(f, 4)),
             (float *)(void *)la_data(la_result(f, 0))};
    return run_groups(&j, unpack_range);
}

/* ---- products ---- */

/* quantized_dots(self, values, scales, biases, bits, group) */
la_status la_meta_quantized_dots(la_frame *f)
{
    const la_tensor *x = la_arg(f, 0), *q = la_arg(f, 1);
    int64_t last = 0;
    LA_TRY(check_quantized(f, 1, &last));
    if (x->ndim != 2 || q->ndim != 2 || la_sizes(x)[1] != last)
        return la_error_at(LA_ESHAPE, 1, "rows of %lld numbers and a matrix of "
                           "values are expected", (long long)last);
    return la_set_output(f, 0, 2, (int64_t[2]){la_sizes(x)[0], la_sizes(q)[0]},
                         NULL, LA_FLOAT32);
}

typedef struct dots {
    la_quantized first;       /* the first row of the weights */
    const float *x, *sums;    /* [rows][in] and their groups' sums */
    float *out;               /* [rows][n] */
    int64_t rows, in, n;
} dots;

/* Rows begin..end of the weights. */
static void dot_range(int64_t begin, int64_t end, void *context)
{
    const dots *d = context;
    const la_quantize_kernels *k = LA_STUB(quantize);
    int64_t groups = d->first.groups;
    for (int64_t i = begin; i < end; i++) {
        la_quantized w = d->first;
        w.q += i * d->in / 8 * w.bits;
        w.scale += i * groups;
        w.bias += i * groups;
        for (int64_t r = 0; r < d->rows; r++)
            d->out[r * d->n + i] = k->dot(&w, d->x + r * d->in,
                                          d->sums + r * groups);
    }
}

la_status la_impl_quantized_dots(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *out = la_result(f, 0);
    int64_t group = la_arg_int(f, 5), minus = -1;
    int64_t split[3] = {la_sizes(out)[0], -1, group};
    if (out->numel == 0) return LA_OK;
    if (la_arg(f, 0)->numel == 0) return la_zero_data(out);
    LA_LET(x, la_as_contiguous(la_arg(f, 0), &x));
    LA_LET(q, la_as_contiguous(la_arg(f, 1), &q));
    LA_LET(scale, la_as_contiguous(la_arg(f, 2), &scale));
    LA_LET(bias, la_as_contiguous(la_arg(f, 3), &bias));
    la_tensor *sums =
        R(sum, R(reshape, x, la_v_ints(split, 3)), la_v_ints(&minus, 1));
    if (w->status) return w->status;
    dots d = {.first = quantized_of(q, scale, bias, la_arg_int(f, 4), group),
              .x = (const float *)(const void *)la_data(x),
              .sums = (const float *)(const void *)la_data(sums),
              .out = (float *)(void *)la_data(out), .rows = la_sizes(x)[0],
              .in = la_sizes(x)[1], .n = la_sizes(q)[0]};
    d.first.groups = d.in / group;
    int64_t grain = GRAIN / (d.in * d.rows) + 1;
    return la_iter_items(d.n, grain, 16 * grain, dot_range, &d);
}

#define FEW_ROWS 12           /* beyond them making the weights pays */

la_status la_rows_by_packed(la_frame *f, const la_packed_weights *kind)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, 0), *out;
    int64_t sizes[LA_MAX_DIMS], flat[2];
    la_dtype dtype = (la_dtype)x->dtype;
    la_value args[LA_MAX_ARGS];
    if (x->ndim < 1 || la_arg(f, 1)->ndim != 2)
        return la_error_at(LA_ESHAPE, x->ndim < 1 ? 1 : 2, "rows of numbers "
                           "and a matrix of %s are expected", kind->word);
    flat[1] = la_sizes(x)[x->ndim - 1];
    flat[0] = flat[1] > 0 ? x->numel / flat[1] : 0;
    la_tensor *wide = R(to_dtype, x, la_v_dtype(LA_FLOAT32));
    if (flat[1] > 0 && flat[0] <= FEW_ROWS) {
        memcpy(sizes, la_sizes(x), (size_t)x->ndim * sizeof *sizes);
        sizes[x->ndim - 1] = la_sizes(la_arg(f, 1))[0];
        memcpy(args, f->args, (size_t)f->nargs * sizeof *args);
        args[0] = la_v_tensor(R(reshape, wide, la_v_ints(flat, 2)));
        out = w->status ? NULL : la_chain_call(w, kind->dots, f->nargs, args);
        out = R(reshape, out, la_v_ints(sizes, x->ndim));
    } else {
        out = R(linear, wide, la_chain_call(w, kind->numbers, kind->args,
                                            f->args + 1));
    }
    return la_chain_end(w, f, R(to_dtype, out, la_v_dtype(dtype)));
}

/* quantized_matmul(self, values, scales, biases, bits, group) */
la_status la_impl_quantized_matmul(la_frame *f)
{
    return la_rows_by_packed(f, &(la_packed_weights){
        LA_OP(quantized_dots), LA_OP(dequantize), 5, "values"});
}
