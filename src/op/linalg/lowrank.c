/*
** Singular values on a random subspace: N. Halko, P. Martinsson and J. Tropp,
** "Finding structure with randomness" (2009), algorithm 5.1 on the basis of
** algorithm 4.4.
*/
#include "op/composite.h"
#include "op/linalg/linalg.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/call.h"
#include "op/impls.h"

/* *q becomes an orthonormal basis of the columns of a *q (adjoint: of a^H *q);
** owned. */
static la_status next_basis(la_tensor *a, bool adjoint, la_tensor **q)
{
    LA_CHAIN(w);
    la_value r[LA_MAX_RESULTS];
    la_tensor *x = R(matmul, adjoint ? R(mH, a) : a, *q);
    LA_TRY(w->status);
    LA_TRY(la_run_many(qr, r, x));
    la_tensor_release(r[1].tensor);
    la_tensor_release(*q);
    *q = r[0].tensor;
    return LA_OK;
}

/* A basis of about the columns of a. */
static la_status basis_of(la_tensor *a, int64_t q, int64_t niter,
                          la_value generator, la_tensor **out)
{
    int64_t sizes[] = {la_sizes(a)[a->ndim - 1], q};
    la_status status = la_run(randn, out, la_v_ints(sizes, 2),
                              la_v_dtype((la_dtype)a->dtype),
                              la_v_device((la_device)a->device), false,
                              la_v_none(), la_v_none(), generator);
    if (!status) status = next_basis(a, false, out);
    for (int64_t i = 0; i < niter && !status; i++) {
        status = next_basis(a, true, out);
        if (!status) status = next_basis(a, false, out);
    }
    return status;
}

/* Results 0 to 2. */
static la_status low_rank(la_frame *f, la_tensor *a, int64_t q, int64_t niter,
                          la_value generator)
{
    LA_CHAIN(w);
    la_value r[LA_MAX_RESULTS];
    bool wide = la_sizes(a)[a->ndim - 2] < la_sizes(a)[a->ndim - 1];
    if (wide) a = R(mH, a);
    LA_TRY(w->status);
    LA_LET(basis, basis_of(a, q, niter, generator, &basis));
    la_tensor *small = R(matmul, R(mH, basis), a);
    LA_TRY(w->status);
    LA_TRY(la_run_many(linalg_svd, r, small, false));
    la_tensor *u = la_chain_own(w, r[0].tensor);
    la_tensor *s = la_chain_own(w, r[1].tensor);
    la_tensor *v = la_chain_own(w, r[2].tensor);
    u = R(matmul, basis, u);
    v = R(mH, v);
    LA_TRY(w->status);
    la_set_result(f, 0, la_tensor_retain(wide ? v : u));
    la_set_result(f, 1, la_tensor_retain(s));
    la_set_result(f, 2, la_tensor_retain(wide ? u : v));
    return LA_OK;
}

/* Two iterations are enough for most matrices; more than these change nothing
** and would not end for a count without bounds. */
#define MOST_ITERATIONS 1000

static la_status check_counts(const la_frame *f, int64_t q, int64_t niter,
                              int arg)
{
    if (q < 0)
        return la_error_at(LA_EARG, 2, "no negative number expected, got %lld",
                           (long long)q);
    if (niter < 0 || niter > MOST_ITERATIONS)
        return la_error_at(LA_EARG, arg, "0 to %d iterations expected, got "
                           "%lld", MOST_ITERATIONS, (long long)niter);
    return LA_OK;
}

/* (A, q, niter, M, generator) */
la_status la_impl_svd_lowrank(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0);
    int64_t q = la_arg_int(f, 1), niter = la_arg_int(f, 2);
    LA_TRY(la_check_matrix(f, 0));
    LA_TRY(check_counts(f, q, niter, 3));
    if (la_arg(f, 3)) a = R(sub, a, la_arg(f, 3));
    LA_TRY(w->status);
    return low_rank(f, a, q, niter, f->args[4]);
}

/* (A, q, center, niter, generator) */
la_status la_impl_pca_lowrank(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *a = la_arg(f, 0);
    int64_t rows = -2;
    LA_TRY(la_check_matrix(f, 0));
    const int64_t *own = la_sizes(a) + a->ndim - 2;
    int64_t most = la_min(own[0], own[1]), niter = la_arg_int(f, 3);
    int64_t q = la_has(f, 1) ? la_arg_int(f, 1) : la_min(6, most);
    LA_TRY(check_counts(f, q, niter, 4));
    if (q > most)
        return la_error_at(LA_EARG, 2, "at most %lld expected, the smaller "
                           "size of A, got %lld", (long long)most,
                           (long long)q);
    if (la_arg_bool(f, 2))
        a = R(sub, a, R(mean, a, la_v_ints(&rows, 1), true));
    LA_TRY(w->status);
    return low_rank(f, a, q, niter, f->args[4]);
}
