/*
** Calls of LAPACK's routines. Their arguments are pointers; the lengths of
** texts follow at the end, as Fortran compilers pass them.
*/
#include "op/linalg/lapack.h"

#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "tensor/scalar.h"

typedef la_lapack_int num;

la_status la_lapack_run(const la_lapack_plan *p, int64_t count, double work,
                        la_matrix_fn fn, void *context)
{
    /* One that is large enough to be alone gets no threads of ours inside. */
    if (la_lapack_has_locks() && count > 1)
        return la_each_matrix(count, work, p->bytes, fn, context);
    la_status status = LA_OK;
    char *scratch = la_mem_alloc(p->bytes);
    if (!scratch) return LA_ENOMEM;
    la_lapack_enter();
    for (int64_t i = 0; i < count && !status; i++)
        status = la_interrupted() ? LA_EINTR : fn(context, i, scratch);
    la_lapack_leave();
    la_mem_free(scratch, p->bytes);
    return status;
}

/* ---- plans ---- */

static char letter_of(const la_field *f)
{
    return f->dtype == LA_FLOAT32 ? 's' : f->dtype == LA_FLOAT64 ? 'd'
         : f->dtype == LA_COMPLEX64 ? 'c' : 'z';
}

static la_status begin(la_lapack_plan *p, const la_field *f, int64_t m,
                       int64_t n, const char *real, const char *complex)
{
    *p = (la_lapack_plan){.f = *f, .m = m, .n = n};
    LA_TRY(la_lapack_find(la_is_complex(f->dtype) ? complex : real,
                          letter_of(f), &p->fn));
    if (m <= INT32_MAX && n <= INT32_MAX) return LA_OK;
    return la_error(LA_ESHAPE, "a matrix of %lld x %lld is too large for "
                    "LAPACK", (long long)m, (long long)n);
}

/* A size that LAPACK has written as a number of the matrix' type, rounded up
** where float32 may have cut it. */
static int64_t asked_size(const la_field *f, const char *at)
{
    la_scalar s = la_scalar_load(la_dtype_to_real(f->dtype), at);
    return s.re < 0x1p40 ? (int64_t)(s.re * (1 + 0x1p-22)) + 1 : INT64_MAX;
}

/* The bytes of the work arrays; LA_ESHAPE where LAPACK can't count them. */
static la_status finish(la_lapack_plan *p)
{
    if (p->work > INT32_MAX || p->rwork > INT32_MAX || p->iwork > INT32_MAX)
        return la_error(LA_ESHAPE, "a matrix of %lld x %lld needs more memory "
                        "to work in than LAPACK can count", (long long)p->m,
                        (long long)p->n);
    p->bytes = la_whole_lines(p->work * p->f.size)
        + la_whole_lines(p->rwork * la_real_size(&p->f))
        + la_whole_lines(p->iwork * (int64_t)sizeof(num)) + 64;
    return LA_OK;
}

typedef struct arrays {
    char *work, *rwork;
    num *iwork;
} arrays;

static arrays arrays_in(const la_lapack_plan *p, char *scratch)
{
    arrays a = {scratch, scratch + la_whole_lines(p->work * p->f.size), NULL};
    a.iwork = (num *)(void *)(a.rwork + la_whole_lines(
        p->rwork * la_real_size(&p->f)));
    return a;
}

/* ---- symmetric matrices ---- */

typedef void syevd(const char *, const char *, const num *, void *,
                   const num *, void *, void *, const num *, num *,
                   const num *, num *, size_t, size_t);
typedef void heevd(const char *, const char *, const num *, void *,
                   const num *, void *, void *, const num *, void *,
                   const num *, num *, const num *, num *, size_t, size_t);

/* With lengths of -1 it only tells them. */
static int32_t call_eigh(const la_lapack_plan *p, char *a, bool upper,
                         char *values, const arrays *w, num work, num rwork,
                         num iwork)
{
    num n = p->n, info = 0;
    const char *jobz = p->vectors ? "V" : "N", *uplo = upper ? "U" : "L";
    if (la_is_complex(p->f.dtype))
        ((heevd *)p->fn)(jobz, uplo, &n, a, &n, values, w->work, &work,
                         w->rwork, &rwork, w->iwork, &iwork, &info, 1, 1);
    else
        ((syevd *)p->fn)(jobz, uplo, &n, a, &n, values, w->work, &work,
                         w->iwork, &iwork, &info, 1, 1);
    return (int32_t)la_lapack_read(&info, 0);
}

la_status la_plan_eigh(la_lapack_plan *p, const la_field *f, int64_t n,
                       bool vectors)
{
    double work[2] = {0}, rwork[2] = {0}, none[2];
    num iwork = 0;
    LA_TRY(begin(p, f, n, n, "syevd", "heevd"));
    p->vectors = vectors;
    arrays w = {(char *)work, (char *)rwork, &iwork};
    call_eigh(p, (char *)none, false, (char *)none, &w, -1, -1, -1);
    p->work = asked_size(f, (char *)work);
    if (la_is_complex(f->dtype)) p->rwork = asked_size(f, (char *)rwork);
    p->iwork = la_lapack_read(&iwork, 0);
    return finish(p);
}

int32_t la_lapack_eigh(const la_lapack_plan *p, char *a, bool upper,
                       char *values, char *scratch)
{
    arrays w = arrays_in(p, scratch);
    return call_eigh(p, a, upper, values, &w, p->work, p->rwork, p->iwork);
}

/* ---- singular values ---- */

typedef void real_gesdd(const char *, const num *, const num *, void *,
                        const num *, void *, void *, const num *, void *,
                        const num *, void *, const num *, num *, num *,
                        size_t);
typedef void complex_gesdd(const char *, const num *, const num *, void *,
                           const num *, void *, void *, const num *, void *,
                           const num *, void *, const num *, void *, num *,
                           num *, size_t);

static int32_t call_svd(const la_lapack_plan *p, char *a, char *values,
                        char *u, char *vh, const arrays *w, num work)
{
    num m = p->m, n = p->n, info = 0, k = p->full ? n : la_min(m, n);
    const char *jobz = !p->vectors ? "N" : p->full ? "A" : "S";
    if (!p->vectors) k = 1;
    if (la_is_complex(p->f.dtype))
        ((complex_gesdd *)p->fn)(jobz, &m, &n, a, &m, values, u, &m, vh, &k,
                                 w->work, &work, w->rwork, w->iwork, &info,
                                 1);
    else
        ((real_gesdd *)p->fn)(jobz, &m, &n, a, &m, values, u, &m, vh, &k,
                              w->work, &work, w->iwork, &info, 1);
    return (int32_t)la_lapack_read(&info, 0);
}

/* The real numbers that the complex routine needs, by its documentation. */
static int64_t svd_reals(int64_t m, int64_t n, bool vectors)
{
    double few = (double)la_min(m, n), many = (double)la_max(m, n);
    double need = 7 * few;
    if (vectors)
        need = fmax(5 * few * few + 7 * few,
                    2 * many * few + 2 * few * few + few);
    return need < 0x1p40 ? (int64_t)need : INT64_MAX;
}

la_status la_plan_svd(la_lapack_plan *p, const la_field *f, int64_t m,
                      int64_t n, bool vectors, bool full)
{
    double work[2] = {0}, none[2];
    num iwork[8] = {0};
    LA_TRY(begin(p, f, m, n, "gesdd", "gesdd"));
    p->vectors = vectors;
    p->full = full;
    arrays w = {(char *)work, (char *)none, iwork};
    char *a = (char *)none;
    call_svd(p, a, a, a, a, &w, -1);
    p->work = asked_size(f, (char *)work);
    if (la_is_complex(f->dtype)) p->rwork = svd_reals(m, n, vectors);
    p->iwork = 8 * la_min(m, n);
    return finish(p);
}

int32_t la_lapack_svd(const la_lapack_plan *p, char *a, char *values, char *u,
                      char *vh, char *scratch)
{
    arrays w = arrays_in(p, scratch);
    return call_svd(p, a, values, u, vh, &w, p->work);
}

/* ---- what LAPACK must not see ---- */

#define FINITE(type) do { \
    const type *p = (const type *)(const void *)a; \
    for (int64_t i = 0; i < m; i++, p += n * parts) { \
        int64_t first = part == LA_UPPER_PART ? i : 0; \
        int64_t end = part == LA_LOWER_PART ? la_min(i + 1, n) : n; \
        type sum = 0; \
        for (int64_t j = first * parts; j < end * parts; j++) \
            sum += p[j] * 0; \
        if (sum != 0) return false; \
    } \
} while (0)

bool la_all_finite(const la_field *f, const char *a, int64_t m, int64_t n,
                   int part)
{
    int64_t parts = la_is_complex(f->dtype) ? 2 : 1;
    if (la_dtype_to_real(f->dtype) == LA_FLOAT32) FINITE(float);
    else FINITE(double);
    return true;
}
