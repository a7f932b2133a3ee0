/* Operations around positions that are made of others: cross, one_hot,
** embedding and bags of it, ravel_multi_index, partition. */
#include "op/index/index.h"

/* ---- cross ---- */

static la_status cross_dim(const la_frame *f, const la_shape *a,
                           const la_shape *b, int *dim)
{
    if (la_has(f, 2)) return la_wrap_dim(la_arg_int(f, 2), a->ndim, dim);
    for (*dim = 0; *dim < a->ndim; ++*dim)
        if (a->sizes[*dim] == 3 && b->sizes[*dim] == 3) return LA_OK;
    return la_error(LA_ESHAPE, "no dimension of size 3 in input");
}

/* The three slices of a vector along its dim, each taken once; then those of
** the result. */
typedef struct slices { la_tensor *of[3]; } slices;

static void slices_drop(slices *s)
{
    for (int k = 0; k < 3; k++) la_tensor_drop(&s->of[k]);
}
#define SLICES __attribute__((cleanup(slices_drop))) slices

static la_status slices_of(la_tensor *t, int dim, slices *s)
{
    for (int64_t k = 0; k < 3; k++)
        LA_TRY(la_run(select, &s->of[k], LA_T(t), LA_I(dim), LA_I(k)));
    return LA_OK;
}

/* Component k of a x b: a[i] * b[j] - a[j] * b[i]. */
static la_status component(const slices *a, const slices *b, int k,
                           la_tensor **out)
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    LA_OWNED p = NULL;
    LA_OWNED q = NULL;
    LA_TRY(la_run(mul, &p, LA_T(a->of[i]), LA_T(b->of[j])));
    LA_TRY(la_run(mul, &q, LA_T(a->of[j]), LA_T(b->of[i])));
    return la_run(sub, out, LA_T(p), LA_T(q));
}

la_status la_impl_cross(la_frame *f)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1), *out = NULL;
    la_shape x = la_shape_of(a), y = la_shape_of(b), s;
    SLICES p = {{NULL}}, q = {{NULL}}, parts = {{NULL}};
    int dim;
    if (x.ndim != y.ndim)
        return la_error(LA_ESHAPE, "linalg.cross: inputs must have the same "
                        "number of dimensions.");
    LA_TRY(cross_dim(f, &x, &y, &dim));
    if (x.ndim == 0 || x.sizes[dim] != 3 || y.sizes[dim] != 3)
        return la_error(LA_ESHAPE, "linalg.cross: inputs dimension %d must "
                        "have length 3. Got %lld and %lld", dim + 1,
                        (long long)(x.ndim ? x.sizes[dim] : 1),
                        (long long)(y.ndim ? y.sizes[dim] : 1));
    LA_TRY(la_shape_broadcast(&x, &y, &s));
    LA_TRY(slices_of(a, dim, &p));
    LA_TRY(slices_of(b, dim, &q));
    for (int k = 0; k < 3; k++) LA_TRY(component(&p, &q, k, &parts.of[k]));
    LA_TRY(la_run(stack, &out, LA_TS(parts.of, 3), LA_I(dim)));
    la_set_result(f, 0, out);
    return LA_OK;
}

/* ---- one_hot ---- */

static int64_t largest(const la_tensor *t)
{
    const int64_t *x = (const int64_t *)la_data(t);
    int64_t most = 0;
    for (int64_t i = 0; i < t->numel; i++) if (x[i] > most) most = x[i];
    return most;
}

la_status la_impl_one_hot(la_frame *f)
{
    la_tensor *self = la_arg(f, 0);
    int64_t classes = la_arg_int(f, 1);
    la_shape s = la_shape_of(self);
    LA_OWNED plain = NULL;
    LA_OWNED out = NULL;
    LA_TRY(la_index_dtype(self, 1, "one_hot()"));
    if (classes == 0 || classes < -1)
        return la_error_at(LA_EARG, 2, "num_classes should be positive");
    LA_OWNED wide = NULL;
    LA_TRY(la_run(astype, &wide, LA_T(self), LA_DT(LA_INT64)));
    LA_TRY(la_run(contiguous, &plain, LA_T(wide)));
    if (classes == -1 && self->numel == 0)
        return la_error_at(LA_EARG, 2, "Can not infer total number of classes "
                           "from empty tensor.");
    if (classes == -1) classes = largest(plain);
    const int64_t *x = (const int64_t *)la_data(plain);
    for (int64_t i = 0; i < plain->numel; i++)
        if (x[i] < 1 || x[i] > classes)
            return la_error_at(LA_EINDEX, 1, "class %lld (element %lld) is "
                               "out of range: classes go from 1 to %lld",
                               (long long)x[i], (long long)i + 1,
                               (long long)classes);
    if (s.ndim == LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 1, "no room for another dimension");
    s.sizes[s.ndim++] = classes;
    LA_TRY(la_tensor_empty(s.ndim, s.sizes, LA_INT64, &out));
    int64_t *to = (int64_t *)la_data(out);
    if (out->numel > 0) memset(to, 0, (size_t)out->numel * sizeof(int64_t));
    for (int64_t i = 0; i < plain->numel; i++) to[i * classes + x[i] - 1] = 1;
    la_set_result(f, 0, la_tensor_retain(out));
    return LA_OK;
}

/* ---- embedding ---- */

static la_status look_up(la_tensor *places, la_tensor *weight, la_tensor **out)
{
    la_shape s = la_shape_of(places);
    LA_OWNED flat = NULL;
    LA_OWNED rows = NULL;
    int64_t all = -1;
    if (weight->ndim != 2)
        return la_error_at(LA_ESHAPE, 2, "'weight' must be 2-D");
    LA_TRY(la_index_dtype(places, 1, "embedding()"));
    if (s.ndim == LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 1, "no room for another dimension");
    s.sizes[s.ndim++] = la_sizes(weight)[1];
    if (places->ndim == 1)
        return la_run(index_select, out, LA_T(weight), LA_I(0), LA_T(places));
    LA_TRY(la_run(reshape, &flat, LA_T(places), LA_IS(&all, 1)));
    LA_TRY(la_run(index_select, &rows, LA_T(weight), LA_I(0), LA_T(flat)));
    return la_run(view, out, LA_T(rows), LA_IS(s.sizes, s.ndim));
}

/* The padding row takes part as a constant: its values come from a detached
** weight, so that no gradient reaches it. */
static la_status look_up_padded(la_tensor *places, la_tensor *weight,
                                int64_t padding, la_tensor **out)
{
    int64_t rows = la_sizes(weight)[0];
    LA_OWNED taken = NULL;
    LA_OWNED fixed = NULL;
    LA_OWNED constant = NULL;
    LA_OWNED is_padding = NULL;
    LA_OWNED mask = NULL;
    if (padding >= rows || padding < -rows)
        return la_error_at(LA_EINDEX, 3, "padding_idx must be within the %lld "
                           "rows of weight", (long long)rows);
    padding += padding < 0 ? rows + 1 : 1;
    LA_TRY(look_up(places, weight, &taken));
    LA_TRY(la_run(detach, &fixed, LA_T(weight)));
    LA_TRY(look_up(places, fixed, &constant));
    LA_TRY(la_run(eq, &is_padding, LA_T(places),
                  LA_S(la_scalar_int(padding))));
    LA_TRY(la_run(unsqueeze, &mask, LA_T(is_padding), LA_I(-1)));
    return la_run(where, out, LA_T(mask), LA_T(constant), LA_T(taken));
}

la_status la_impl_embedding(la_frame *f)
{
    la_tensor *places = la_arg(f, 0), *weight = la_arg(f, 1), *out = NULL;
    bool recorded = (weight->flags & LA_F_REQUIRES_GRAD) != 0;
    if (weight->ndim != 2)
        return la_error_at(LA_ESHAPE, 2, "'weight' must be 2-D");
    if (la_has(f, 2) && recorded)
        LA_TRY(look_up_padded(places, weight, la_arg_int(f, 2), &out));
    else
        LA_TRY(look_up(places, weight, &out));
    la_set_result(f, 0, out);
    return LA_OK;
}

/* ---- bags ---- */

enum { PLACES, WEIGHT, OFFSETS, MODE, PER_SAMPLE, LAST };

/* The bag (from 1) of each position of a list cut at offsets. */
static la_status bags_of(la_frame *f, int64_t n, la_tensor **bags,
                         int64_t *count)
{
    la_tensor *offsets = la_arg(f, OFFSETS);
    LA_OWNED plain = NULL;
    if (!offsets)
        return la_error_at(LA_EARG, OFFSETS + 1, "offsets has to be a 1-D "
                           "tensor when the positions are one list");
    LA_TRY(la_index_dtype(offsets, OFFSETS + 1, "embedding_bag()"));
    if (offsets->ndim != 1)
        return la_error_at(LA_ESHAPE, OFFSETS + 1, "offsets has to be a 1-D "
                           "tensor");
    LA_TRY(la_run(astype, &plain, LA_T(offsets), LA_DT(LA_INT64)));
    LA_OWNED row = NULL;
    LA_TRY(la_run(contiguous, &row, LA_T(plain)));
    const int64_t *at = (const int64_t *)la_data(row);
    int64_t m = row->numel;
    *count = m - (la_arg_bool(f, LAST) && m > 0);
    for (int64_t b = 0; b < m; b++)
        if (at[b] < (b ? at[b - 1] : 1) || at[b] > n + 1 || at[0] != 1)
            return la_error_at(LA_EINDEX, OFFSETS + 1, "offsets must begin "
                               "with 1, not fall and not go beyond %lld, got "
                               "%lld (element %lld)", (long long)n + 1,
                               (long long)at[b], (long long)b + 1);
    LA_TRY(la_tensor_empty(1, &n, LA_INT64, bags));
    int64_t *to = (int64_t *)la_data(*bags);
    for (int64_t i = 0, b = 0; i < n; i++) {
        while (b + 1 < *count && at[b + 1] <= i + 1) b++;
        to[i] = b + 1;
    }
    return LA_OK;
}

/* Sums by how many rows they are of; an empty bag stays zero. */
static la_status means(la_tensor *sums, la_tensor *bags, la_tensor **out)
{
    int64_t count = la_sizes(sums)[0];
    LA_OWNED sizes = NULL;
    LA_OWNED column = NULL;
    LA_TRY(la_tensor_empty(1, &count, (la_dtype)sums->dtype, &sizes));
    LA_TRY(la_run_(fill_, sizes, LA_S(la_scalar_int(0))));
    LA_OWNED ones = NULL;
    LA_TRY(la_tensor_empty(1, la_sizes(bags), (la_dtype)sums->dtype, &ones));
    LA_TRY(la_run_(fill_, ones, LA_S(la_scalar_int(1))));
    LA_TRY(la_run_(index_add, sizes, LA_I(0), LA_T(bags), LA_T(ones)));
    LA_TRY(la_run_(clamp_min, sizes, LA_S(la_scalar_int(1))));
    LA_TRY(la_run(unsqueeze, &column, LA_T(sizes), LA_I(-1)));
    return la_run(div, out, LA_T(sums), LA_T(column));
}

static la_status combine(la_tensor *rows, la_tensor *bags, int64_t count,
                         const la_value *mode, la_tensor **out)
{
    int64_t sizes[2] = {count, la_sizes(rows)[1]};
    LA_OWNED zero = NULL;
    LA_OWNED sums = NULL;
    bool max = la_str_is(mode, "max"), mean = la_str_is(mode, "mean");
    if (!max && !mean && !la_str_is(mode, "sum"))
        return la_error_at(LA_EARG, MODE + 1, "mode has to be one of sum, mean "
                           "or max");
    LA_TRY(la_tensor_empty(2, sizes, (la_dtype)rows->dtype, &zero));
    LA_TRY(la_run_(fill_, zero, LA_S(la_scalar_int(0))));
    if (max)
        return la_run(index_reduce, out, LA_T(zero), LA_I(0), LA_T(bags),
                      LA_T(rows), LA_STR("amax"), LA_B(false));
    LA_TRY(la_run(index_add, &sums, LA_T(zero), LA_I(0), LA_T(bags),
                  LA_T(rows)));
    if (mean) return means(sums, bags, out);
    *out = la_tensor_retain(sums);
    return LA_OK;
}

/* A matrix of positions: each row is a bag. */
static la_status bags_of_rows(la_tensor *places, la_tensor **bags)
{
    int64_t n = places->numel, width = la_sizes(places)[1];
    LA_TRY(la_tensor_empty(1, &n, LA_INT64, bags));
    int64_t *to = (int64_t *)la_data(*bags);
    for (int64_t i = 0; i < n; i++) to[i] = i / width + 1;
    return LA_OK;
}

static la_status weigh(la_frame *f, la_tensor **rows)
{
    la_tensor *w = la_arg(f, PER_SAMPLE), *scaled = NULL;
    LA_OWNED flat = NULL;
    LA_OWNED column = NULL;
    int64_t all = -1;
    if (!w) return LA_OK;
    if (!la_str_is(&f->args[MODE], "sum"))
        return la_error_at(LA_EARG, PER_SAMPLE + 1, "per_sample_weights only "
                           "go with mode='sum'");
    LA_TRY(la_run(reshape, &flat, LA_T(w), LA_IS(&all, 1)));
    LA_TRY(la_run(unsqueeze, &column, LA_T(flat), LA_I(-1)));
    LA_TRY(la_run(mul, &scaled, LA_T(*rows), LA_T(column)));
    la_tensor_release(*rows);
    *rows = scaled;
    return LA_OK;
}

la_status la_impl_embedding_bag(la_frame *f)
{
    la_tensor *places = la_arg(f, PLACES), *out = NULL;
    LA_OWNED flat = NULL;
    LA_OWNED bags = NULL;
    LA_OWNED rows = NULL;
    int64_t all = -1, count = 0;
    if (places->ndim == 2) {
        count = la_sizes(places)[0];
        LA_TRY(bags_of_rows(places, &bags));
    } else if (places->ndim == 1) {
        LA_TRY(bags_of(f, places->numel, &bags, &count));
    } else {
        return la_error_at(LA_ESHAPE, 1, "input has to be a 1-D or 2-D tensor, "
                           "but got tensor of dimension %d", places->ndim);
    }
    LA_TRY(la_run(reshape, &flat, LA_T(places), LA_IS(&all, 1)));
    LA_TRY(look_up(flat, la_arg(f, WEIGHT), &rows));
    LA_TRY(weigh(f, &rows));
    LA_TRY(combine(rows, bags, count, &f->args[MODE], &out));
    la_set_result(f, 0, out);
    return LA_OK;
}

/* ---- flat positions ---- */

static la_status add_position(la_tensor **sum, la_tensor *index, int dim,
                              int64_t size, int64_t stride)
{
    LA_OWNED checked = NULL;
    LA_OWNED wrapped = NULL;
    LA_OWNED low = NULL;
    LA_OWNED end = NULL;
    la_tensor *next = NULL;
    LA_TRY(la_index_dtype(index, 1, "ravel_multi_index()"));
    LA_TRY(la_index_checked(index, size, dim, 1, &checked));
    LA_TRY(la_run(lt, &low, LA_T(checked), LA_S(la_scalar_int(0))));
    LA_TRY(la_run(add, &end, LA_T(checked), LA_S(la_scalar_int(size + 1))));
    LA_TRY(la_run(where, &wrapped, LA_T(low), LA_T(end), LA_T(checked)));
    LA_OWNED zero_based = NULL;
    LA_OWNED part = NULL;
    LA_TRY(la_run(sub, &zero_based, LA_T(wrapped), LA_S(la_scalar_int(1))));
    LA_TRY(la_run(mul, &part, LA_T(zero_based), LA_S(la_scalar_int(stride))));
    if (!*sum) return la_run(add, sum, LA_T(part), LA_S(la_scalar_int(1)));
    LA_TRY(la_run(add, &next, LA_T(*sum), LA_T(part)));
    la_tensor_release(*sum);
    *sum = next;
    return LA_OK;
}

la_status la_impl_ravel_multi_index(la_frame *f)
{
    const la_value *list = &f->args[0], *shape = &f->args[1];
    LA_OWNED sum = NULL;
    int64_t numel, stride = 1, n = shape->ints.n;
    if (list->tensors.n != n || n == 0 || n > LA_MAX_DIMS)
        return la_error_at(LA_EARG, 1, "a tensor of positions for each of the "
                           "%lld dims expected, got %lld", (long long)n,
                           (long long)list->tensors.n);
    LA_TRY(la_numel((int)n, shape->ints.list, &numel));
    for (int64_t d = n - 1; d >= 0; d--) {
        LA_TRY(add_position(&sum, list->tensors.list[d], (int)d,
                            shape->ints.list[d], stride));
        stride *= shape->ints.list[d];
    }
    la_set_result(f, 0, la_tensor_retain(sum));
    return LA_OK;
}

/* ---- partition: a sorted row is one ---- */

static la_status check_k(const la_frame *f)
{
    int dim;
    const la_tensor *x = la_arg(f, 0);
    LA_TRY(la_wrap_dim(la_arg_int(f, 2), x->ndim, &dim));
    int64_t n = x->ndim ? la_sizes(x)[dim] : 1, k = la_arg_int(f, 1);
    if (k != 0 && k <= n && k >= -n) return LA_OK;
    return la_error_at(LA_EINDEX, 2, "k is %lld, 1 to %lld expected",
                       (long long)k, (long long)n);
}

la_status la_impl_partition(la_frame *f)
{
    la_value r[LA_MAX_RESULTS] = {0};
    LA_TRY(check_k(f));
    LA_TRY(la_run_many(sort, r, f->args[0], f->args[2]));
    la_tensor_release(r[1].tensor);
    la_set_result(f, 0, r[0].tensor);
    return LA_OK;
}

la_status la_impl_argpartition(la_frame *f)
{
    la_tensor *out = NULL;
    LA_TRY(check_k(f));
    LA_TRY(la_run(argsort, &out, f->args[0], f->args[2]));
    la_set_result(f, 0, out);
    return LA_OK;
}
