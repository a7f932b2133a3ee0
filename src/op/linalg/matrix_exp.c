/*
** matrix_exp: the Taylor polynomial of degree 4, 12 or 18 in few products (P.
** Bader, S. Blanes, F. Casas, "Computing the matrix exponential with an
** optimized Taylor polynomial approximation", Mathematics 7, 2019), of the
** matrix scaled by a power of two so that its error is below that of
** rounding, then squared.
*/
#include <math.h>

#include "op/linalg/linalg.h"
#include "base/libm/libm.h"
#include "op/move/copy.h"
#include "base/runtime/thread_pool.h"
#include "tensor/scalar.h"

#define LA_ROWS "op/def/linalg.def"
#include "base/runtime/interrupt.h"
#include "op/frame.h"
#include "op/impls.h"
#include "tensor/shape.h"

typedef struct job {
    la_field field;
    la_mats x;                /* A at first, then the result */
    int64_t n;
} job;

/* Matrices of scratch: powers A, A^2, A^3, A^6, then combinations. */
enum { A1, A2, A3, A6, C0, C1, C2, C3, C4, MATRICES };

/* 1-norms up to which degrees 4, 12 and 18 do, for float and double. */
static const double limits[2][3] = {
    {5.116619363445086e-02, 1.461661507209034, 3.010066362817634},
    {3.397168839976962e-04, 2.996158913811580e-01, 1.090863719290036}};

/* Rows: coefficients of I, A, A^2, A^3 (and A^6) of each combination. */
static const double t12[4][4] = {
    {9.0198e-16, 0.46932117595418237389, -0.20099424927047284052,
     -0.04623946134063071740},
    {5.31597895759871264183, 1.19926790417132231573, 0.01179296240992997031,
     0.01108844528519167989},
    {0.18188869982170434744, 0.05502798439925399070, 0.09351590770535414968,
     0.00610700528898058230},
    {-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079,
     -0.00675951846863086359}};
static const double t18[5][5] = {
    {0, -1.00365581030144618291e-01, -8.02924648241156932449e-03,
     -8.92138498045729985177e-04, 0},
    {0, 3.97849749499645077844e-01, 1.36783778460411720168,
     4.98289622525382669416e-01, -6.37898194594723280150e-04},
    {-1.09676396052962061844e+01, 1.68015813878906206114,
     5.71779846478865511061e-02, -6.98210122488052056106e-03,
     3.34975017086070470649e-05},
    {-9.04316832390810593223e-02, -6.76404519071381882256e-02,
     6.75961301770459654925e-02, 2.95552570429315521194e-02,
     -1.39180257516060693404e-05},
    {0, 0, -9.23364619367118555360e-02, -1.69364939002081722752e-02,
     -1.40086798182036094347e-05}};

/* One matrix's work: element e of matrix k is at[k], n x n row-major. */
typedef struct work {
    const la_field *f;
    int64_t n;
    char *at[MATRICES];
} work;

static la_status exp_multiply(const work *w, int out, int a, int b)
{
    la_gemm_mat x = {w->at[a], w->n, 1}, y = {w->at[b], w->n, 1};
    la_gemm_mat z = {w->at[out], w->n, 1};
    return la_mat_product(w->f, x, y, z, w->n, w->n, w->n, 0);
}

/* out = sum of c[k] times matrix list[k]; 'out' may be in the list. Real
** factors, so complex matrices are twice as many reals. */
static void exp_combine(const work *w, int out, int count, const double *c,
                        const int *list)
{
    bool single = w->f->dtype == LA_FLOAT32 || w->f->dtype == LA_COMPLEX64;
    int64_t n = w->n * w->n * w->f->size / (single ? 4 : 8);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        if (single) {
            for (int k = 0; k < count; k++)
                sum += c[k] * (double)((float *)w->at[list[k]])[i];
            ((float *)w->at[out])[i] = (float)sum;
        } else {
            for (int k = 0; k < count; k++)
                sum += c[k] * ((double *)w->at[list[k]])[i];
            ((double *)w->at[out])[i] = sum;
        }
    }
}

/* matrix += c I */
static void add_identity(const work *w, int k, double c)
{
    int64_t step = (w->n + 1) * w->f->size;
    char *p = w->at[k];
    bool single = w->f->dtype == LA_FLOAT32 || w->f->dtype == LA_COMPLEX64;
    for (int64_t i = 0; i < w->n; i++, p += step) {
        if (single) *(float *)p += (float)c;
        else *(double *)p += c;
    }
}

/* Combination 'k' of I and the powers with the coefficients of a row. */
static void polynomial(const work *w, int out, const double *row, int powers)
{
    static const int list[] = {A1, A2, A3, A6};
    exp_combine(w, out, powers, row + 1, list);
    add_identity(w, out, row[0]);
}

static void exp_add(const work *w, int out, int a, int b)
{
    exp_combine(w, out, 2, (const double[]){1, 1}, (const int[]){a, b});
}

/* Degree 4: I + A + A^2 (I / 2 + A / 6 + A^2 / 24). */
static la_status degree4(const work *w)
{
    static const double high[] = {1.0 / 6, 1.0 / 24};
    LA_TRY(exp_multiply(w, A2, A1, A1));
    exp_combine(w, C0, 2, high, (const int[]){A1, A2});
    add_identity(w, C0, 0.5);
    LA_TRY(exp_multiply(w, C1, A2, C0));
    exp_add(w, C0, A1, C1);
    add_identity(w, C0, 1);
    return LA_OK;
}

static la_status degree12(const work *w)
{
    LA_TRY(exp_multiply(w, A2, A1, A1));
    LA_TRY(exp_multiply(w, A3, A2, A1));
    for (int k = 0; k < 4; k++) polynomial(w, C0 + k, t12[k], 3);
    LA_TRY(exp_multiply(w, C4, C3, C3));
    exp_add(w, C4, C4, C2);
    exp_add(w, C1, C1, C4);
    LA_TRY(exp_multiply(w, C2, C1, C4));
    exp_add(w, C0, C0, C2);
    return LA_OK;
}

static la_status degree18(const work *w)
{
    LA_TRY(exp_multiply(w, A2, A1, A1));
    LA_TRY(exp_multiply(w, A3, A2, A1));
    LA_TRY(exp_multiply(w, A6, A3, A3));
    for (int k = 0; k < 5; k++) polynomial(w, C0 + k, t18[k], 4);
    LA_TRY(exp_multiply(w, A1, C0, C4));
    exp_add(w, C3, A1, C3);
    exp_add(w, C2, C2, C3);
    LA_TRY(exp_multiply(w, C0, C2, C3));
    exp_add(w, C0, C0, C1);
    return LA_OK;
}

/* The largest sum of absolute values of a row: a norm, as good as the 1-norm
** for the bound. */
static double norm_of(const work *w)
{
    double most = 0;
    for (int64_t i = 0; i < w->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < w->n; j++) {
            la_scalar s = la_scalar_load(
                w->f->dtype, w->at[A1] + (i * w->n + j) * w->f->size);
            sum += la_is_complex(w->f->dtype) ? la_m_hypot(s.re, s.im)
                                              : fabs(s.re);
        }
        if (!(sum <= most)) most = sum;
    }
    return most;
}

static la_status exp_one(void *context, int64_t i, char *scratch)
{
    const job *j = context;
    const la_field *f = &j->field;
    int64_t bytes = j->n * j->n * f->size;
    int squarings = 0, from = C0, to = C1;
    work w = {f, j->n, {NULL}};
    char *x = la_matrix_at(f, &j->x, i).data;
    for (int k = 0; k < MATRICES; k++) w.at[k] = scratch + k * bytes;
    memcpy(w.at[A1], x, (size_t)bytes);
    bool wide = f->dtype == LA_FLOAT64 || f->dtype == LA_COMPLEX128;
    const double *limit = limits[wide];
    double norm = norm_of(&w);
    if (norm > limit[2] && isfinite(norm)) {
        squarings = (int)ceil(la_m_log2(norm / limit[2]));
        exp_combine(&w, A1, 1, (const double[]){ldexp(1, -squarings)},
                    (const int[]){A1});
    }
    if (norm <= limit[0]) LA_TRY(degree4(&w));
    else if (norm <= limit[1]) LA_TRY(degree12(&w));
    else LA_TRY(degree18(&w));
    for (; squarings > 0; squarings--) {
        int t = from;
        if (la_interrupted()) return LA_EINTR;
        LA_TRY(exp_multiply(&w, to, from, from));
        from = to;
        to = t;
    }
    memcpy(x, w.at[from], (size_t)bytes);
    return LA_OK;
}

/* (A) */
LA_FORWARD(la_meta_matrix_exp, la_meta_matrices(f, true, "nn"))

la_status la_impl_matrix_exp(la_frame *f)
{
    LA_OPEN_BATCH(b, f);
    double n = (double)b.n;
    job j = {b.field, la_matrices_in(b.out[0], b.n, b.n), b.n};
    LA_TRY(la_copy_data(b.out[0], b.a));
    if (b.n > 0)
        LA_TRY(la_each_matrix(b.count, 6 * n * n * n,
                              (size_t)(MATRICES * b.n * b.n * b.field.size),
                              exp_one, &j));
    return la_batch_end(&b);
}
