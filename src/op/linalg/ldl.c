/*
** ldl_factor and ldl_solve: symmetric or Hermitian indefinite matrices by the
** pivoting of Bunch and Kaufman (Math. Comp. 31, 1977), as LAPACK's sytf2,
** hetf2 and sytrs do for the lower triangle. Rarely the bottleneck, so there is
** one unblocked form, in complex double for every dtype.
*/
#include <complex.h>
#include <math.h>

#include "base/complex.h"
#include "base/runtime/thread_pool.h"
#include "op/linalg/linalg.h"
#include "op/move/copy.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/linalg.def"
#include "base/runtime/interrupt.h"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

#undef I      /* of complex.h, which no name here means */

typedef double complex number;

/* A matrix of numbers, row-major, n columns; 'hermitian' ones are multiplied
** with conjugates. */
typedef struct matrix {
    number *a;
    int64_t n;
    bool hermitian;
} matrix;

#define AT(m, i, j) ((m)->a[(i) * (m)->n + (j)])

static number ldl_conjugate(const matrix *m, number x)
{
    return m->hermitian ? conj(x) : x;
}
static double size_of(number x) { return fabs(creal(x)) + fabs(cimag(x)); }

static void ldl_exchange(number *x, number *y)
{
    number t = *x;
    *x = *y;
    *y = t;
}

/* ---- between memory and numbers ---- */

/* The diagonal of a Hermitian matrix is real: as in LAPACK, what its elements
** have apart from that is not read. */
static void ldl_make_real(matrix *m)
{
    for (int64_t k = 0; m->hermitian && k < m->n; k++)
        AT(m, k, k) = creal(AT(m, k, k));
}

/* All dtypes are factored as complex128: an indefinite factorization is rare
** enough that one code for all matters more than speed. Long rows ask the host
** in between. */
static void ldl_load(const la_field *f, la_gemm_mat a, int64_t m, int64_t n,
                     number *to)
{
    for (int64_t i = 0; i < m; i++)
        LA_EACH_POLLED(j, 0, n) {
            la_scalar s = la_scalar_load(f->dtype,
                                         la_mat_at(f, a, i, j).data);
            __real__ to[i * n + j] = s.re;
            __imag__ to[i * n + j] = la_is_complex(f->dtype) ? s.im : 0;
        }
}

/* Rounds back to the dtype, once. */
static void ldl_store(const la_field *f, const number *from, int64_t m,
                      int64_t n, la_gemm_mat a)
{
    for (int64_t i = 0; i < m; i++)
        LA_EACH_POLLED(j, 0, n) {
            la_scalar s = la_scalar_float(creal(from[i * n + j]));
            if (la_is_complex(f->dtype)) {
                s.kind = LA_KCOMPLEX;
                s.im = cimag(from[i * n + j]);
            }
            la_scalar_cast(&s, f->dtype, la_mat_at(f, a, i, j).data);
        }
}

/* ---- factors ---- */

/* The row to exchange with, and the size of the pivot, 1 or 2; 0 where the
** column is zero. */
static int ldl_choose(const matrix *m, int64_t k, int64_t *row)
{
    const double alpha = (1 + sqrt(17)) / 8;
    double own = size_of(AT(m, k, k)), column = 0, most = 0;
    int64_t big = k;
    *row = k;
    for (int64_t i = k + 1; i < m->n; i++)
        if (size_of(AT(m, i, k)) > column) {
            column = size_of(AT(m, i, k));
            big = i;
        }
    if ((own == 0 && column == 0) || own != own) return 0;
    if (own >= alpha * column) return 1;
    for (int64_t j = k; j < m->n; j++) {
        if (j == big) continue;
        number x = j < big ? AT(m, big, j) : AT(m, j, big);
        most = size_of(x) > most ? size_of(x) : most;
    }
    if (own >= alpha * column * (column / most)) return 1;
    *row = big;
    return size_of(AT(m, big, big)) >= alpha * most ? 1 : 2;
}

/* Rows and columns 'at' and 'row' > at of the lower triangle, from column k. */
static void exchange_symmetric(matrix *m, int64_t k, int64_t at, int64_t row)
{
    for (int64_t i = row + 1; i < m->n; i++)
        ldl_exchange(&AT(m, i, at), &AT(m, i, row));
    for (int64_t j = at + 1; j < row; j++) {
        number x = ldl_conjugate(m, AT(m, j, at));
        AT(m, j, at) = ldl_conjugate(m, AT(m, row, j));
        AT(m, row, j) = x;
    }
    AT(m, row, at) = ldl_conjugate(m, AT(m, row, at));
    ldl_exchange(&AT(m, at, at), &AT(m, row, row));
    if (at > k) ldl_exchange(&AT(m, at, k), &AT(m, row, k));
}

/* The lower triangle alone is updated, column by column; x is the multiple of
** the pivot's row. */
static void eliminate1(matrix *m, int64_t k)
{
    number d = la_c128_div(1, AT(m, k, k));
    for (int64_t j = k + 1; j < m->n; j++) {
        number x = la_c128_mul(ldl_conjugate(m, AT(m, j, k)), d);
        for (int64_t i = j; i < m->n; i++)
            AT(m, i, j) -= la_c128_mul(AT(m, i, k), x);
    }
    for (int64_t i = k + 1; i < m->n; i++)
        AT(m, i, k) = la_c128_mul(AT(m, i, k), d);
}

/* Eliminates by the inverse of the 2 x 2 block at k, scaled by its lower
** element. */
static void eliminate2(matrix *m, int64_t k)
{
    number low = AT(m, k + 1, k), up = ldl_conjugate(m, low);
    number d11 = la_c128_div(AT(m, k + 1, k + 1), low);
    number d22 = la_c128_div(AT(m, k, k), up);
    number t = la_c128_div(1, la_c128_mul(d11, d22) - 1);
    for (int64_t j = k + 2; j < m->n; j++) {
        number x = la_c128_mul(d11, AT(m, j, k)) - AT(m, j, k + 1);
        number y = la_c128_mul(d22, AT(m, j, k + 1)) - AT(m, j, k);
        x = la_c128_div(la_c128_mul(t, x), up);
        y = la_c128_div(la_c128_mul(t, y), low);
        for (int64_t i = j; i < m->n; i++)
            AT(m, i, j) -= la_c128_mul(AT(m, i, k), ldl_conjugate(m, x))
                + la_c128_mul(AT(m, i, k + 1), ldl_conjugate(m, y));
        AT(m, j, k) = x;
        AT(m, j, k + 1) = y;
    }
}

/* Asks for every column of m whether to go on, more often where columns are
** long: 'left' products to the next question. */
static bool goes_on(int64_t *left, int64_t work)
{
    *left -= work;
    if (*left > 0) return true;
    *left = LA_POLL_ELEMENTS;
    return !la_interrupted();
}

/* Returns the first zero pivot from 1, or 0. */
static int32_t factor(matrix *m, int32_t *pivots)
{
    int32_t info = 0;
    int64_t left = LA_POLL_ELEMENTS;
    for (int64_t k = 0; k < m->n; ) {
        int64_t row;
        if (!goes_on(&left, (m->n - k) * (m->n - k) / 2)) return info;
        int size = ldl_choose(m, k, &row);
        if (size == 0 && !info) info = (int32_t)k + 1;
        int64_t at = k + (size == 2);
        if (row != at) exchange_symmetric(m, k, at, row);
        if (size == 1) eliminate1(m, k);
        if (size == 2) eliminate2(m, k);
        pivots[k] = pivots[at] = (int32_t)(size == 2 ? -row - 1 : row + 1);
        k = at + 1;
    }
    return info;
}

/* ---- solutions ---- */

/* Row i of b (k columns) -= x times row j. */
static void ldl_subtract(number *b, int64_t k, int64_t i, int64_t j, number x)
{
    LA_EACH_POLLED(c, 0, k)
        b[i * k + c] -= la_c128_mul(x, b[j * k + c]);
}

static void exchange_rows(number *b, int64_t k, int64_t i, int64_t j)
{
    for (int64_t c = 0; i != j && c < k; c++)
        ldl_exchange(&b[i * k + c], &b[j * k + c]);
}

/* Rows j and j + 1 divided by the 2 x 2 block there. */
static void divide2(const matrix *m, number *b, int64_t k, int64_t j)
{
    number low = AT(m, j + 1, j), up = ldl_conjugate(m, low);
    number x = la_c128_div(AT(m, j, j), up);
    number y = la_c128_div(AT(m, j + 1, j + 1), low);
    number d = la_c128_mul(x, y) - 1;
    LA_EACH_POLLED(c, 0, k) {
        number p = la_c128_div(b[j * k + c], up);
        number q = la_c128_div(b[(j + 1) * k + c], low);
        b[j * k + c] = la_c128_div(la_c128_mul(y, p) - q, d);
        b[(j + 1) * k + c] = la_c128_div(la_c128_mul(x, q) - p, d);
    }
}

/* b (n x k) = (L D L^T)^-1 b */
static void solve(const matrix *m, const int32_t *pivots, number *b, int64_t k)
{
    int64_t n = m->n, left = LA_POLL_ELEMENTS;
    for (int64_t j = 0; j < n; ) {
        int64_t last = pivots[j] < 0 ? j + 1 : j;
        if (!goes_on(&left, (n - j) * k)) return;
        exchange_rows(b, k, last, (pivots[j] < 0 ? -pivots[j] : pivots[j]) - 1);
        for (int64_t i = last + 1; i < n; i++)
            for (int64_t c = j; c <= last; c++)
                ldl_subtract(b, k, i, c, AT(m, i, c));
        if (last > j) divide2(m, b, k, j);
        for (int64_t c = 0; last == j && c < k; c++)
            b[j * k + c] = la_c128_div(b[j * k + c], AT(m, j, j));
        j = last + 1;
    }
    for (int64_t j = n - 1; j >= 0; ) {
        int64_t first = pivots[j] < 0 ? j - 1 : j;
        if (!goes_on(&left, (n - j) * k)) return;
        for (int64_t i = j + 1; i < n; i++)
            for (int64_t c = first; c <= j; c++)
                ldl_subtract(b, k, c, i, ldl_conjugate(m, AT(m, i, c)));
        exchange_rows(b, k, j, (pivots[j] < 0 ? -pivots[j] : pivots[j]) - 1);
        j = first - 1;
    }
}

/* ---- operations ---- */

typedef struct job {
    la_field field;
    la_mats a, x;
    int64_t n, k;
    int32_t *pivots, *info;
    bool hermitian;
} job;

/* The strict upper part is cleared after the factorization, which works in it:
** what is given back is L and D alone. */
static la_status ldl_factor_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    matrix m = {(number *)scratch, j->n, j->hermitian};
    la_gemm_mat a = la_matrix_at(&j->field, &j->x, i);
    ldl_load(&j->field, a, j->n, j->n, m.a);
    ldl_make_real(&m);
    j->info[i] = factor(&m, j->pivots + i * j->n);
    for (int64_t r = 0; r < j->n; r++)
        for (int64_t c = r + 1; c < j->n; c++) AT(&m, r, c) = 0;
    ldl_store(&j->field, m.a, j->n, j->n, a);
    return LA_OK;
}

/* The factors are read anew for each matrix of the batch, since scratch memory
** is a thread's. */
static la_status ldl_solve_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    matrix m = {(number *)scratch, j->n, j->hermitian};
    number *b = m.a + j->n * j->n;
    la_gemm_mat x = la_matrix_at(&j->field, &j->x, i);
    ldl_load(&j->field, la_matrix_at(&j->field, &j->a, i), j->n, j->n, m.a);
    ldl_make_real(&m);
    ldl_load(&j->field, x, j->n, j->k, b);
    solve(&m, j->pivots + i * j->n, b, j->k);
    ldl_store(&j->field, b, j->n, j->k, x);
    return LA_OK;
}

/* (A, *, hermitian) -> LD, pivots */
LA_FORWARD(la_meta_ldl_factor, la_meta_matrices(f, true, "nn,ni"))

/* Bunch and Kaufman's pivots, in LAPACK's numbering from 1, so that they can go
** through files of other libraries. */
la_status la_impl_ldl_factor(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    double n = (double)b.n;
    LA_TRY(la_batch_codes(&b, 2));
    LA_TRY(la_copy_data(b.out[0], b.a));
    job j = {.field = b.field, .n = b.n, .hermitian = la_arg_bool(f, 1),
             .x = la_matrices_in(b.out[0], b.n, b.n), .info = b.info,
             .pivots = (int32_t *)la_data(b.out[1])};
    LA_TRY(la_each_matrix(b.count, n * n * n,
                          (size_t)(b.n * b.n) * sizeof(number), ldl_factor_one,
                          &j));
    LA_TRY(la_check_info(j.info, b.count, LA_SINGULAR));
    return la_batch_end(&b);
}

/* LA_EINDEX unless each pivot names a row at or below its own, and those of
** blocks come in pairs. */
static la_status ldl_check_pivots(const int32_t *p, int64_t count, int64_t n)
{
    for (int64_t i = 0; i < count; i++, p += n)
        for (int64_t r = 0; r < n; r++) {
            bool pair = p[r] < 0 && r + 1 < n && p[r + 1] == p[r];
            int64_t row = p[r] < 0 ? -(int64_t)p[r] : p[r];
            if (row < r + 1 + pair || row > n || (p[r] < 0 && !pair))
                return la_error_at(LA_EINDEX, 2, "pivot %lld, %d, is out of "
                                   "bounds for rows %lld to %lld",
                                   (long long)r + 1, p[r], (long long)r + 1,
                                   (long long)n);
            r += pair;
        }
    return LA_OK;
}

/* (LD, pivots, B, *, hermitian) -> X */
static la_status shape_of(la_frame *f, la_shape *batch)
{
    la_tensor *a = la_arg(f, 0), *p = la_arg(f, 1), *b = la_arg(f, 2);
    LA_TRY(la_check_square(f, 0));
    LA_TRY(la_check_matrix(f, 2));
    LA_TRY(la_check_one_dtype(f, 0, 2));
    if (p->dtype != LA_INT32)
        return la_error_at(LA_EDTYPE, 2, "int32 expected, got %s",
                           la_dtype_name((la_dtype)p->dtype));
    if (p->ndim != a->ndim - 1
        || !la_has_sizes(p, a->ndim - 1, la_sizes(a)))
        return la_error_at(LA_ESHAPE, 2, "one pivot for each row of LD "
                           "expected");
    int64_t n = la_sizes(a)[a->ndim - 1], have = la_sizes(b)[b->ndim - 2];
    if (n != have)
        return la_error_at(LA_ESHAPE, 3, "%lld rows expected, got %lld",
                           (long long)n, (long long)have);
    la_shape x = la_batch_shape(a, 2), y = la_batch_shape(b, 2);
    return la_shape_broadcast(&x, &y, batch);
}

la_status la_meta_ldl_solve(la_frame *f)
{
    la_shape batch;
    la_tensor *b = la_arg(f, 2);
    LA_TRY(shape_of(f, &batch));
    const int64_t *last = la_sizes(b) + b->ndim - 2;
    return la_matrix_result(f, 0, &batch, last[0], last[1],
                            (la_dtype)b->dtype);
}

/* Pivots come from the user: they are checked before a row is exchanged by
** them. */
la_status la_impl_ldl_solve(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    LA_TRY(shape_of(f, &b.shape));
    LA_TRY(la_copy_data(b.out[0], la_arg(f, 2)));
    int64_t n = b.n, k = la_sizes(b.out[0])[b.out[0]->ndim - 1];
    int64_t count = la_shape_count(&b.shape);
    job j = {.field = b.field, .n = n, .k = k, .hermitian = la_arg_bool(f, 3),
             .x = la_matrices_in(b.out[0], n, k)};
    LA_LET(keep, la_matrices_of(b.a, &b.shape, false, &keep, &j.a));
    LA_LET(pivots, la_matrices_copy(la_arg(f, 1), &b.shape, true, &pivots));
    j.pivots = (int32_t *)la_data(pivots);
    LA_TRY(ldl_check_pivots(j.pivots, count, n));
    LA_TRY(la_each_matrix(count, (double)n * (double)n * (double)k,
                          (size_t)(n * (n + k)) * sizeof(number), ldl_solve_one,
                          &j));
    return la_batch_end(&b);
}
