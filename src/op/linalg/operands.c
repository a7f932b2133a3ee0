/*
** From tensors to batches of matrices, and the run over a batch.
*/
#include "op/linalg/linalg.h"

#include <stdio.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "iter/items.h"
#include "op/frame.h"
#include "op/move/copy.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

la_status la_check_dims(const la_tensor *t, int k)
{
    if (t->ndim >= 2) return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "a matrix or a batch of matrices "
                       "expected, got %d-D", t->ndim);
}

/* The dtype is asked for before the dims: a wrong dtype is the likelier
** mistake, and its message names what is allowed. */
la_status la_check_matrix(const la_frame *f, int k)
{
    const la_tensor *t = la_arg(f, k);
    LA_TRY(la_blame(la_require_dtype(f, (la_dtype)t->dtype), k + 1));
    return la_check_dims(t, k);
}

la_status la_check_square(const la_frame *f, int k)
{
    const la_tensor *t = la_arg(f, k);
    LA_TRY(la_check_matrix(f, k));
    int64_t m = la_sizes(t)[t->ndim - 2], n = la_sizes(t)[t->ndim - 1];
    if (m == n) return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "a square matrix or a batch of them "
                       "expected, got %lld x %lld", (long long)m,
                       (long long)n);
}

/* Matrices are not promoted: a solve in a dtype that nobody asked for would
** hide where digits were lost. PyTorch refuses it likewise. */
la_status la_check_one_dtype(const la_frame *f, int a, int b)
{
    la_dtype x = (la_dtype)la_arg(f, a)->dtype;
    la_dtype y = (la_dtype)la_arg(f, b)->dtype;
    if (x == y) return LA_OK;
    return la_error_at(LA_EDTYPE, b + 1, "expected the dtype of argument %d, "
                       "%s, got %s", a + 1, la_dtype_name(x),
                       la_dtype_name(y));
}

/* The dims of the batch alone: a whole shape is large to copy. */
static void take_batch(const la_tensor *t, int own, la_shape *s)
{
    const int64_t *sizes = la_sizes(t);
    s->ndim = t->ndim - own;
    for (int d = 0; d < s->ndim; d++) s->sizes[d] = sizes[d];
}

la_shape la_batch_shape(const la_tensor *t, int own)
{
    la_shape s;
    take_batch(t, own, &s);
    return s;
}

int64_t la_shape_count(const la_shape *s)
{
    int64_t n = 1;
    for (int d = 0; d < s->ndim; d++) n *= s->sizes[d];
    return n;
}

la_shape la_with_matrix(const la_shape *batch, int64_t m, int64_t n)
{
    la_shape s = *batch;
    s.sizes[s.ndim++] = m;
    if (n >= 0) s.sizes[s.ndim++] = n;
    return s;
}

/* A batch may have LA_MAX_DIMS - 2 dims; a vector that is solved as a column
** can have one more than its result. */
la_status la_matrix_result(la_frame *f, int k, const la_shape *batch,
                           int64_t m, int64_t n, la_dtype dtype)
{
    if (batch->ndim > LA_MAX_DIMS - 2)
        return la_error(LA_ESHAPE, "too many dimensions");
    la_shape s = la_with_matrix(batch, m, n);
    return la_set_output(f, k, s.ndim, s.sizes, NULL, dtype);
}

/* The dtype that a mark stands for. */
static la_dtype marked(la_dtype dtype, char mark)
{
    switch (mark) {
    case '\'': return la_dtype_to_real(dtype);
    case 'c': return la_dtype_to_complex(dtype);
    case 'i': return LA_INT32;
    case 'l': return LA_INT64;
    default: return dtype;
    }
}

/* Most decompositions differ in sizes and dtypes of their results alone, so a
** text says these (linalg.h), and each meta function is one line. */
la_status la_meta_matrices(la_frame *f, bool square, const char *results)
{
    LA_TRY(square ? la_check_square(f, 0) : la_check_matrix(f, 0));
    const la_tensor *a = la_arg(f, 0);
    int64_t m = la_sizes(a)[a->ndim - 2], n = la_sizes(a)[a->ndim - 1];
    la_shape s;
    take_batch(a, 2, &s);
    for (int k = 0; ; k++, results++) {
        s.ndim = a->ndim - 2;
        for (; *results && strchr("mnk", *results); results++)
            s.sizes[s.ndim++] = *results == 'm' ? m : *results == 'n' ? n
                : la_min(m, n);
        la_dtype dtype = marked((la_dtype)a->dtype, *results);
        LA_TRY(la_set_output(f, k, s.ndim, s.sizes, NULL, dtype));
        if (*results && *results != ',') results++;
        if (!*results) return LA_OK;
    }
}

/* PyTorch's rule for solve: b is a batch of vectors where its sizes are those
** of a without the last dim. */
bool la_is_vector(const la_tensor *a, const la_tensor *b)
{
    if (b->ndim == 1) return true;
    return b->ndim == a->ndim - 1
        && la_has_sizes(b, a->ndim - 1, la_sizes(a));
}

/* Rows and columns are compared before batches, because a wrong size of the
** matrix is what users meet first. */
la_status la_solve_shape(const la_frame *f, int ka, int kb, bool left,
                         bool *vector, la_shape *batch)
{
    la_tensor *a = la_arg(f, ka), *b = la_arg(f, kb);
    LA_TRY(la_check_square(f, ka));
    LA_TRY(la_check_one_dtype(f, ka, kb));
    bool column = vector && la_is_vector(a, b);
    if (vector) *vector = column;
    if (!column) LA_TRY(la_check_dims(b, kb));
    if (column && !left)
        return la_error_at(LA_EARG, kb + 1, "left=false needs matrices, got "
                           "vectors");
    int64_t n = la_sizes(a)[a->ndim - 1];
    int64_t have = la_sizes(b)[b->ndim - (column || !left ? 1 : 2)];
    if (n != have)
        return la_error_at(LA_ESHAPE, kb + 1, "%lld %s expected for a matrix "
                           "of %lld x %lld, got %lld", (long long)n,
                           column ? "elements" : left ? "rows" : "columns",
                           (long long)n, (long long)n, (long long)have);
    la_shape x = la_batch_shape(a, 2), y = la_batch_shape(b, column ? 1 : 2);
    return la_shape_broadcast(&x, &y, batch);
}

la_status la_solve_result(la_frame *f, int kb, const la_shape *batch,
                          bool vector)
{
    la_tensor *b = la_arg(f, kb);
    const int64_t *last = la_sizes(b) + b->ndim - (vector ? 1 : 2);
    return la_matrix_result(f, 0, batch, last[0], vector ? -1 : last[1],
                            (la_dtype)b->dtype);
}

/* memset suffices for the zeros of every dtype; the one is cast once per
** element of the diagonal, which is nothing next to the factorization. */
void la_set_identity(const la_field *f, la_gemm_mat a, int64_t m, int64_t n)
{
    la_scalar one = la_scalar_int(1);
    memset(a.data, 0, (size_t)(m * n * f->size));
    for (int64_t i = 0; i < m && i < n; i++)
        la_scalar_cast(&one, f->dtype, la_mat_at(f, a, i, i).data);
}

/* The one step between matrices in row-major order of the batch, or false. */
static bool operands_step_of(const la_tensor *t, const la_shape *batch, int own,
                             int64_t *step)
{
    int64_t span = 1;
    int lead = batch->ndim - (t->ndim - own);
    bool first = true;
    *step = 0;
    for (int d = batch->ndim - 1; d >= 0; d--) {
        int64_t n = batch->sizes[d], own_step = 0;
        if (n == 1) continue;
        if (d >= lead && la_sizes(t)[d - lead] != 1)
            own_step = la_strides(t)[d - lead];
        if (first) *step = own_step;
        else if (own_step != *step * span) return false;
        first = false;
        span *= n;
    }
    return true;
}

la_status la_matrices_copy(la_tensor *t, const la_shape *batch, bool vector,
                           la_tensor **keep)
{
    int own = vector ? 1 : 2;
    const int64_t *last = la_sizes(t) + t->ndim - own;
    la_shape s = la_with_matrix(batch, last[0], vector ? -1 : last[1]);
    LA_TRY(la_tensor_empty(s.ndim, s.sizes, (la_dtype)t->dtype, keep));
    return la_copy_data(*keep, t);
}

/* Kernels take one distance between matrices. Batches that have none (a
** transposed batch, an expanded dim among others) are copied whole; matrices
** of any strides are not. */
la_status la_matrices_of(la_tensor *t, const la_shape *batch, bool vector,
                         la_tensor **keep, la_mats *out)
{
    int own = vector ? 1 : 2;
    int64_t step;
    if (!operands_step_of(t, batch, own, &step)) {
        LA_TRY(la_matrices_copy(t, batch, vector, keep));
        t = *keep;
        operands_step_of(t, batch, own, &step);
    }
    const int64_t *strides = la_strides(t) + t->ndim - own;
    *out = (la_mats){{la_data(t), strides[0], vector ? 1 : strides[1]}, step};
    return LA_OK;
}

la_status la_transposed(la_tensor *t, la_tensor **out)
{
    la_geometry g;
    la_geometry_of(t, &g);
    la_geo_exchange(&g, g.ndim - 2, g.ndim - 1);
    return la_view_make(t, &g, out);
}

/* LAPACK reads columns: the copy of a transposed view has them in its rows. */
la_status la_columns_copy(const la_batch *b, la_tensor **keep)
{
    LA_LET(columns, la_transposed(b->a, &columns));
    return la_matrices_copy(columns, &b->shape, false, keep);
}

la_mats la_matrices_in(const la_tensor *t, int64_t m, int64_t n)
{
    return (la_mats){{t ? la_data(t) : NULL, n, 1}, m * n};
}

/* Factors are computed where the result lies, if that is dense and nobody else
** can see it; an out= tensor is written once, at the end, so that an error
** leaves it as it was. */
la_status la_output_of(la_frame *f, int k, la_tensor **keep)
{
    la_tensor *t = la_result(f, k);
    if (la_is_contiguous(t) && f->form == LA_FUNCTIONAL)
        return la_tensor_same(t, keep);
    return la_tensor_empty(t->ndim, la_sizes(t), (la_dtype)t->dtype, keep);
}

la_status la_output_end(la_frame *f, int k, la_tensor *t)
{
    return t == la_result(f, k) ? LA_OK : la_copy_data(la_result(f, k), t);
}

/* One description of the call for all decompositions: the batch, the sizes of
** a matrix, dense results. la_batch_drop ends it on every way out
** (LA_OPEN_BATCH). */
la_status la_batch_open(la_batch *b, la_frame *f)
{
    b->f = f;
    for (int k = 0; k < LA_MAX_RESULTS; k++) b->out[k] = NULL;
    b->codes = NULL;
    b->info = NULL;
    b->a = la_arg(f, 0);
    b->field = la_field_of((la_dtype)b->a->dtype);
    take_batch(b->a, 2, &b->shape);
    b->count = la_shape_count(&b->shape);
    b->m = la_sizes(b->a)[b->shape.ndim];
    b->n = la_sizes(b->a)[b->shape.ndim + 1];
    b->k = la_min(b->m, b->n);
    for (int k = 0; k < f->nresults; k++)
        LA_TRY(la_output_of(f, k, &b->out[k]));
    return LA_OK;
}

/* Codes are written also where the caller did not ask for them, as errors are
** made of them after the loop: threads raise nothing. */
la_status la_batch_codes(la_batch *b, int k)
{
    if (b->out[k])
        LA_TRY(la_tensor_same(b->out[k], &b->codes));
    else
        LA_TRY(la_tensor_empty(b->shape.ndim, b->shape.sizes, LA_INT32,
                               &b->codes));
    b->info = (int32_t *)(void *)la_data(b->codes);
    return LA_OK;
}

la_status la_batch_end(const la_batch *b)
{
    for (int k = 0; k < b->f->nresults; k++)
        LA_TRY(la_output_end(b->f, k, b->out[k]));
    return LA_OK;
}

void la_batch_drop(la_batch *b)
{
    for (int k = 0; k < LA_MAX_RESULTS; k++) la_tensor_drop(&b->out[k]);
    la_tensor_drop(&b->codes);
}

/* ---- the run ---- */

/* Multiply-adds that are worth a thread, and those of a matrix whose products
** keep several busy. */
#define THREAD_WORK 65536.0
#define LARGE_WORK 4e6

/* A few large matrices go one by one, and their products take the threads;
** many small ones are shared out, each on one thread. The scratch of a thread
** serves all its matrices. */
la_status la_each_matrix(int64_t count, double work, size_t bytes,
                         la_matrix_fn fn, void *context)
{
    int threads = la_in_parallel() ? 1 : la_num_threads();
    if (count == 0) return LA_OK;
    if (count > 1 && (count >= threads || work < LARGE_WORK)) {
        double grain = work < THREAD_WORK ? THREAD_WORK / (work + 1) + 1 : 1;
        la_unit_plan plan = {fn, (int64_t)grain, bytes};
        return la_iter_units(count, &plan, context);
    }
    char *scratch = la_mem_alloc(bytes ? bytes : 1);
    if (!scratch) return LA_ENOMEM;
    la_status status = LA_OK;
    for (int64_t i = 0; i < count && !status; i++)
        status = la_interrupted() ? LA_EINTR : fn(context, i, scratch);
    la_mem_free(scratch, bytes ? bytes : 1);
    return status;
}

typedef struct small_run {
    const la_field *f;
    void (*fn)(const la_small *);
    const la_small *all;
} small_run;

/* Matrices of one call of the kernel: between two looks at the interrupt. */
enum { GROUP = 256 };

static void operands_move_on(const la_field *f, la_mats *a, int64_t i)
{
    if (a->mat.data) a->mat.data += i * a->step * f->size;
}

/* Groups are of fixed size, so that which matrices share the lanes of a kernel
** does not depend on threads. */
static la_status operands_run_group(void *context, int64_t unit, char *scratch)
{
    const small_run *r = context;
    la_small s = *r->all;
    int64_t i = unit * GROUP, rank = la_min(s.m, s.n);
    operands_move_on(r->f, &s.a, i);
    operands_move_on(r->f, &s.b, i);
    operands_move_on(r->f, &s.x, i);
    operands_move_on(r->f, &s.f, i);
    if (s.pivots) s.pivots += i * rank;
    if (s.info) s.info += i;
    if (s.det) s.det += i * r->f->size;
    if (s.tau) s.tau += i * rank * r->f->size;
    if (s.values) s.values += i * rank * la_real_size(r->f);
    s.count = la_min(GROUP, s.count - i);
    r->fn(&s);
    return LA_OK;
}

la_status la_small_run(const la_field *f, void (*fn)(const la_small *),
                       const la_small *s)
{
    small_run r = {f, fn, s};
    int64_t groups = (s->count + GROUP - 1) / GROUP;
    double work = GROUP * ((double)s->m * s->n * (s->n + s->k) + 64) / 8;
    la_unit_plan plan = {operands_run_group, (int64_t)(THREAD_WORK / work) + 1,
                         0};
    if (groups > 1) return la_iter_units(groups, &plan, &r);
    return groups ? operands_run_group(&r, 0, NULL) : LA_OK;
}

/* The first matrix that failed is named, in the order of the batch, whatever
** thread met it first. */
la_status la_check_finite(const int32_t *info, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (!info[i]) continue;
        const char *what = info[i] < 0 ? "has an infinite element or NaN"
                                       : "did not converge";
        if (count == 1)
            return la_error_at(LA_EARG, 1, "the matrix %s", what);
        return la_error_at(LA_EARG, 1, "matrix %lld of the batch %s",
                           (long long)i + 1, what);
    }
    return LA_OK;
}

la_status la_check_info(const int32_t *info, int64_t count, const char *what)
{
    for (int64_t i = 0; i < count; i++) {
        if (!info[i]) continue;
        char where[64] = "the matrix";
        if (count > 1)
            snprintf(where, sizeof where, "matrix %lld of the batch",
                     (long long)i + 1);
        return la_error_at(LA_EARG, 1, "%s %s %d", where, what, (int)info[i]);
    }
    return LA_OK;
}
