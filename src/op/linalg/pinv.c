/*
** Pseudo-inverses and ranks: what is made of singular values above a tolerance.
*/
#include "op/composite.h"
#include "op/linalg/linalg.h"
#include "op/move/copy.h"

#define LA_ROWS "op/def/linalg.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Arguments 'atol' and 'rtol', which may be nil, as batches with a last dim of
** their own. */
typedef struct limits {
    la_tensor *atol, *rtol;
    double epsilon;           /* rtol where neither is given */
} limits;

/* Without limits of the caller's, values below max(m, n) times the unit of the
** dtype are zero, relative to the
** largest one, as in PyTorch. */
static limits limits_of(la_chain *w, const la_frame *f, int atol, int rtol)
{
    la_tensor *a = la_arg(f, 0);
    const int64_t *own = la_sizes(a) + a->ndim - 2;
    bool single = la_dtype_to_real((la_dtype)a->dtype) == LA_FLOAT32;
    limits l = {NULL, NULL, (single ? 0x1p-23 : 0x1p-52)
                * (double)la_max(own[0], own[1])};
    if (la_has(f, atol)) l.atol = R(unsqueeze, la_arg(f, atol), -1);
    if (la_has(f, rtol)) l.rtol = R(unsqueeze, la_arg(f, rtol), -1);
    return l;
}

/* Which of the values, at least one of each matrix, don't count as zero. */
static la_tensor *counted(la_chain *w, la_tensor *s, limits l)
{
    int64_t last = -1;
    la_tensor *most = R(amax, s, la_v_ints(&last, 1), true), *limit;
    if (l.rtol) limit = R(mul, most, l.rtol);
    else limit = R(mul, most, l.epsilon);
    if (!l.atol) return R(gt, s, limit);
    if (!l.rtol) limit = R(where, R(gt, l.atol, 0), 0.0, limit);
    return R(logical_and, R(gt, s, limit), R(gt, s, l.atol));
}

/* The batch of A and of the tolerances, real ones, in arguments 1 and 2. */
static la_status batch_of(const la_frame *f, la_shape *batch)
{
    *batch = la_batch_shape(la_arg(f, 0), 2);
    for (int k = 1; k <= 2; k++) {
        if (!la_has(f, k)) continue;
        la_dtype dtype = (la_dtype)la_arg(f, k)->dtype;
        if (la_is_complex(dtype))
            return la_error_at(LA_EDTYPE, k + 1, "real tolerances expected, "
                               "got %s", la_dtype_name(dtype));
        la_shape own = la_batch_shape(la_arg(f, k), 0), both;
        LA_TRY(la_blame(la_shape_broadcast(batch, &own, &both), k + 1));
        *batch = both;
    }
    return LA_OK;
}

/* ---- pinv ---- */

/* (A, rtol, atol, hermitian) */
la_status la_meta_pinv(la_frame *f)
{
    la_tensor *a = la_arg(f, 0);
    if (la_arg_bool(f, 3)) LA_TRY(la_check_square(f, 0));
    else LA_TRY(la_check_matrix(f, 0));
    la_shape batch;
    LA_TRY(batch_of(f, &batch));
    const int64_t *own = la_sizes(a) + a->ndim - 2;
    return la_matrix_result(f, 0, &batch, own[1], own[0],
                            (la_dtype)a->dtype);
}

/* The reciprocals of values whose sizes are counted, 0 for the others. */
static la_tensor *reciprocals(la_chain *w, la_tensor *values, limits l)
{
    la_tensor *some = counted(w, R(abs, values), l);
    return R(where, some, R(reciprocal, values), 0.0);
}

/* V diag(1 / s) U^H, or the same by eigenvalues of a Hermitian matrix. */
la_status la_impl_pinv(la_frame *f)
{
    LA_CHAIN(w);
    la_value r[LA_MAX_RESULTS];
    la_tensor *a = la_arg(f, 0), *inverse;
    limits l = limits_of(w, f, 2, 1);
    LA_TRY(w->status);
    if (la_result(f, 0)->numel == 0) return LA_OK;
    bool hermitian = la_arg_bool(f, 3);
    if (hermitian) LA_TRY(la_run_many(eigh, r, a));
    else LA_TRY(la_run_many(linalg_svd, r, a, false));
    LA_OWNED x = r[0].tensor;
    LA_OWNED y = r[1].tensor;
    LA_OWNED z = hermitian ? NULL : r[2].tensor;
    inverse = R(unsqueeze, reciprocals(w, hermitian ? x : y, l), -2);
    if (hermitian)
        inverse = R(matmul, R(mul, y, inverse), R(mH, y));
    else
        inverse = R(matmul, R(mul, R(mH, z), inverse), R(mH, x));
    LA_TRY(w->status);
    return la_copy_data(la_result(f, 0), inverse);
}

/* (self, rcond) */
/* ---- rank ---- */

/* (A, atol, rtol, hermitian) */
la_status la_impl_matrix_rank(la_frame *f)
{
    LA_CHAIN(w);
    int64_t last = -1;
    bool hermitian = la_arg_bool(f, 3);
    if (hermitian) LA_TRY(la_check_square(f, 0));
    else LA_TRY(la_check_matrix(f, 0));
    la_tensor *a = R(detach, la_arg(f, 0));
    la_tensor *s = hermitian ? R(abs, R(eigvalsh, a)) : R(svdvals, a);
    LA_TRY(w->status);
    if (la_sizes(s)[s->ndim - 1] == 0) {
        la_shape batch;
        LA_TRY(batch_of(f, &batch));
        return la_chain_end(w, f, R(zeros, la_v_ints(batch.sizes, batch.ndim),
                                    la_v_dtype(LA_INT64),
                                    la_v_device((la_device)s->device)));
    }
    la_tensor *some = counted(w, s, limits_of(w, f, 1, 2));
    return la_chain_end(w, f, R(sum, some, la_v_ints(&last, 1)));
}
