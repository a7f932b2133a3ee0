/*
** Calls of LAPACK's routines. Their arguments are pointers; the lengths of
** texts follow at the end, as Fortran compilers pass them.
*/
#include "op/linalg/lapack.h"

#include <math.h>
#include <string.h>

#include "base/runtime/background.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "base/os/thread.h"
#include "tensor/scalar.h"

enum { MOST_KEPT = 5 };

/* A call for each matrix: the function, its job and what stays alive for it. */
typedef struct lapack_work {
    la_matrix_fn fn;
    const void *job;
    size_t size;                        /* of the job */
    la_tensor *keep[MOST_KEPT];         /* NULL behind the last */
} lapack_work;

typedef la_lapack_int num;

#define LOCK_NAP 50000      /* nanoseconds */

/* ---- small matrices ---- */

/* Waits for the library: where only one thread at a time may call it, the call
** of another may be a long one. The host is asked before, not in between. */
static la_status take_library(void)
{
    while (!la_interrupted()) {
        if (la_lapack_try()) return LA_OK;
        la_thread_nap(LOCK_NAP);
    }
    return LA_EINTR;
}

/* Each takes a few milliseconds at most, or nobody is there who could stop
** it. */
static la_status run_here(const la_lapack_plan *p, int64_t count, double work,
                          const lapack_work *w)
{
    void *job = (void *)w->job;     /* only read */
    if (la_lapack_has_locks() && count > 1)
        return la_each_matrix(count, work, p->bytes, w->fn, job);
    la_status status = LA_OK;
    char *scratch = la_mem_alloc(p->bytes);
    if (!scratch) return LA_ENOMEM;
    for (int64_t i = 0; i < count && !status; i++) {
        if ((status = take_library()) != LA_OK) break;
        status = w->fn(job, i, scratch);
        la_lapack_leave();
    }
    la_mem_free(scratch, p->bytes);
    return status;
}

/* ---- large ones ---- */

/* Everything that threads which may be abandoned need. Behind it stand the
** job, and scratch for each hand. */
typedef struct away {
    la_background head;
    lapack_work work;
    size_t bytes, scratch;      /* of this block, of each hand */
    char *first;                /* scratch of the first hand */
    int64_t count;
    _Atomic int64_t next;
    atomic_int threads;
} away;

/* Matrices are handed out one by one, because LAPACK takes longer for some. A
** thread that finds the call stopped leaves without a word: the caller has
** gone. */
static void run_away(la_background *e)
{
    away *a = (away *)e;
    char *scratch = a->first
        + a->scratch * (size_t)atomic_fetch_add(&a->threads, 1);
    for (;;) {
        int64_t i = atomic_fetch_add(&a->next, 1);
        if (i >= a->count || !la_background_goes_on(e)) break;
        while (!la_lapack_try()) {
            if (!la_background_goes_on(e)) return;
            la_thread_nap(LOCK_NAP);
        }
        a->work.fn((void *)a->work.job, i, scratch);
        la_lapack_leave();
    }
}

/* The last one out frees the block and gives up the tensors, be it the caller
** or an abandoned thread. */
static void drop_away(la_background *e)
{
    away *a = (away *)e;
    for (int k = 0; k < MOST_KEPT; k++) la_tensor_drop(&a->work.keep[k]);
    la_mem_free(a, a->bytes);
}

/* One allocation holds the head, the job and the scratch of every thread, so
** that an abandoned call owns all that it touches. */
static la_status send_away(const la_lapack_plan *p, int64_t count, int threads,
                           const lapack_work *w)
{
    size_t head = la_whole_lines(sizeof(away));
    size_t job = la_whole_lines((int64_t)w->size);
    size_t scratch = la_whole_lines((int64_t)p->bytes);
    size_t bytes = head + job + scratch * (size_t)threads;
    away *a = la_mem_alloc(bytes);
    if (!a) return LA_ENOMEM;
    *a = (away){.head = {.run = run_away, .drop = drop_away}, .work = *w,
                .bytes = bytes, .scratch = scratch, .count = count};
    a->work.job = memcpy((char *)a + head, w->job, w->size);
    a->first = (char *)a + head + job;
    for (int k = 0; k < MOST_KEPT; k++)
        if (w->keep[k]) la_tensor_retain(w->keep[k]);
    LA_TRY(la_background_run(&a->head, threads, la_share_tensors));
    drop_away(&a->head);
    return LA_OK;
}

/* Multiply-adds of a matrix that LAPACK has behind it in a few milliseconds. */
#define SMALL_WORK 2e6
/* Those of a matrix for which a sandbox has LAPACK at all, some tenths of a
** second. */
#define MOST_UNASKED 1e9

/* Nobody can stop LAPACK from outside. Calls of a few milliseconds run where
** they are; longer ones run on threads that the caller can leave behind. */
static la_status lapack_run(const la_lapack_plan *p, int64_t count,
                             double work, const lapack_work *w)
{
    if (work > MOST_UNASKED && la_ctx()->must_ask)
        return la_error(LA_ESUPPORT, "a matrix of %lld x %lld is too large in "
                        "a sandbox: LAPACK, which computes it, can't be "
                        "stopped (630 x 630 singular values or eigenvalues of "
                        "a Hermitian matrix, 340 x 340 others)",
                        (long long)p->m, (long long)p->n);
    if (!la_ctx()->small_stack
        && (work <= SMALL_WORK || !la_may_be_interrupted()))
        return run_here(p, count, work, w);
    int64_t threads = la_in_parallel() || !la_lapack_has_locks()
        ? 1 : la_min(count, la_num_threads());
    return send_away(p, count, (int)la_min(threads, LA_MOST_BACKGROUND), w);
}

la_status la_lapack_batch(const la_lapack_plan *p, const la_batch *b,
                          double work, la_matrix_fn fn, const void *job,
                          size_t size, la_tensor *copy)
{
    lapack_work w = {fn, job, size,
                     {copy, b->codes, b->out[0], b->out[1], b->out[2]}};
    LA_TRY(lapack_run(p, b->count, work, &w));
    return la_check_finite(b->info, b->count);
}

/* ---- plans ---- */

static char letter_of(const la_field *f)
{
    return f->dtype == LA_FLOAT32 ? 's' : f->dtype == LA_FLOAT64 ? 'd'
         : f->dtype == LA_COMPLEX64 ? 'c' : 'z';
}

static la_status lapack_begin(la_lapack_plan *p, const la_field *f, int64_t m,
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
static la_status lapack_finish(la_lapack_plan *p)
{
    if (p->work > INT32_MAX || p->rwork > INT32_MAX || p->iwork > INT32_MAX
        || p->own > (int64_t)1 << 56)
        return la_error(LA_ESHAPE, "a matrix of %lld x %lld needs more memory "
                        "to work in than LAPACK can count", (long long)p->m,
                        (long long)p->n);
    p->bytes = la_whole_lines(p->work * p->f.size)
        + la_whole_lines(p->rwork * la_real_size(&p->f))
        + la_whole_lines(p->iwork * (int64_t)sizeof(num))
        + la_whole_lines(p->own * p->f.size) + 64;
    return LA_OK;
}

/* Work arrays of a routine, in the order in which lapack_finish counts them. */
typedef struct arrays {
    char *work, *rwork;
    num *iwork;
    char *own;
} arrays;

static arrays arrays_in(const la_lapack_plan *p, char *scratch)
{
    arrays a = {.work = scratch};
    a.rwork = scratch + la_whole_lines(p->work * p->f.size);
    char *next = a.rwork + la_whole_lines(p->rwork * la_real_size(&p->f));
    a.iwork = (num *)(void *)next;
    a.own = next + la_whole_lines(p->iwork * (int64_t)sizeof(num));
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

/* LAPACK is asked how much memory it wants, once per batch; the matrices then
** share the plan. */
la_status la_plan_eigh(la_lapack_plan *p, const la_field *f, int64_t n,
                       bool vectors)
{
    double work[2] = {0}, rwork[2] = {0}, none[2];
    num iwork = 0;
    LA_TRY(lapack_begin(p, f, n, n, "syevd", "heevd"));
    p->vectors = vectors;
    arrays w = {(char *)work, (char *)rwork, &iwork, NULL};
    call_eigh(p, (char *)none, false, (char *)none, &w, -1, -1, -1);
    p->work = asked_size(f, (char *)work);
    if (la_is_complex(f->dtype)) p->rwork = asked_size(f, (char *)rwork);
    p->iwork = la_lapack_read(&iwork, 0);
    return lapack_finish(p);
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
    LA_TRY(lapack_begin(p, f, m, n, "gesdd", "gesdd"));
    p->vectors = vectors;
    p->full = full;
    arrays w = {(char *)work, (char *)none, iwork, NULL};
    char *a = (char *)none;
    call_svd(p, a, a, a, a, &w, -1);
    p->work = asked_size(f, (char *)work);
    if (la_is_complex(f->dtype)) p->rwork = svd_reals(m, n, vectors);
    p->iwork = 8 * la_min(m, n);
    return lapack_finish(p);
}

int32_t la_lapack_svd(const la_lapack_plan *p, char *a, char *values, char *u,
                      char *vh, char *scratch)
{
    arrays w = arrays_in(p, scratch);
    return call_svd(p, a, values, u, vh, &w, p->work);
}

/* ---- general matrices ---- */

typedef void real_geev(const char *, const char *, const num *, void *,
                       const num *, void *, void *, void *, const num *,
                       void *, const num *, void *, const num *, num *,
                       size_t, size_t);
typedef void complex_geev(const char *, const char *, const num *, void *,
                          const num *, void *, void *, const num *, void *,
                          const num *, void *, const num *, void *, num *,
                          size_t, size_t);

/* 'at': n x n for the vectors, then 2 n for the values of real matrices. */
static int32_t call_eig(const la_lapack_plan *p, char *a, char *values,
                        const arrays *w, num work)
{
    num n = p->n, info = 0, one = 1;
    const char *jobvr = p->vectors ? "V" : "N";
    char *v = w->own, *re = work < 0 ? v : v + n * n * p->f.size;
    char *im = work < 0 ? v : re + n * p->f.size;
    if (la_is_complex(p->f.dtype))
        ((complex_geev *)p->fn)("N", jobvr, &n, a, &n, values, v, &one, v, &n,
                                w->work, &work, w->rwork, &info, 1, 1);
    else
        ((real_geev *)p->fn)("N", jobvr, &n, a, &n, re, im, v, &one, v, &n,
                             w->work, &work, &info, 1, 1);
    return (int32_t)la_lapack_read(&info, 0);
}

/* LAPACK's zhseqr has arrays of 48 KiB on its stack, also when it is only asked
** for a length. */
typedef struct question {
    const la_lapack_plan *p;
    double work[2], none[2];
} question;

static void ask_eig(void *context)
{
    question *q = context;
    char *none = (char *)q->none;
    arrays w = {(char *)q->work, none, NULL, none};
    call_eig(q->p, none, none, &w, -1);
}

static void on_large_stack(void (*run)(void *context), void *context)
{
    la_thread *t = NULL;
    bool apart = la_ctx()->small_stack
        && la_thread_start(run, context, &t) == LA_OK;
    if (apart) la_thread_join(t);
    else run(context);
}

la_status la_plan_eig(la_lapack_plan *p, const la_field *f, int64_t n,
                      bool vectors)
{
    question q = {.p = p};
    LA_TRY(lapack_begin(p, f, n, n, "geev", "geev"));
    p->vectors = vectors;
    on_large_stack(ask_eig, &q);
    p->work = asked_size(f, (const char *)q.work);
    if (la_is_complex(f->dtype)) p->rwork = 2 * n;
    p->own = n * n + 2 * n;
    return lapack_finish(p);
}

/* Values and vectors of a real matrix: of a complex pair LAPACK gives the real
** and the imaginary part of the first vector, as two columns. */
#define PAIRS(type) \
static void pairs_##type(const void *own, int64_t n, void *values, \
                         void *vectors) \
{ \
    const type *v = own, *re = v + n * n, *im = re + n; \
    type *value = values, *to = vectors; \
    for (int64_t j = 0; j < n; j++) { \
        value[2 * j] = re[j]; \
        value[2 * j + 1] = im[j]; \
    } \
    for (int64_t j = 0; to && j < n; j++) { \
        int sign = (im[j] > 0) - (im[j] < 0); \
        const type *x = v + (sign < 0 ? j - 1 : j) * n, *y = x + n; \
        for (int64_t i = 0; i < n; i++) { \
            to[2 * (i * n + j)] = x[i]; \
            to[2 * (i * n + j) + 1] = sign ? (type)sign * y[i] : 0; \
        } \
    } \
}
PAIRS(float)
PAIRS(double)

int32_t la_lapack_eig(const la_lapack_plan *p, char *a, char *values,
                      char *vectors, char *scratch)
{
    arrays w = arrays_in(p, scratch);
    int64_t n = p->n, size = p->f.size;
    int32_t info = call_eig(p, a, values, &w, p->work);
    if (info) return info;
    if (p->f.dtype == LA_FLOAT32) pairs_float(w.own, n, values, vectors);
    else if (p->f.dtype == LA_FLOAT64) pairs_double(w.own, n, values, vectors);
    else if (vectors)
        for (int64_t i = 0; i < n * n; i++)
            memcpy(vectors + i * size,
                   w.own + (i % n * n + i / n) * size, (size_t)size);
    return 0;
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
