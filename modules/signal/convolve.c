/*
** Convolution and correlation of two tensors of as many dims: directly, as one
** convolution of one channel, or by Fourier transforms, whichever is faster.
*/
#include <math.h>

#include "op/composite.h"
#include "base/libm/libm.h"
#include "tensor/promote.h"

#define LA_ROWS "modules/signal/ops.def"
#include "base/size.h"
#include "op/frame.h"
#include "op/impls.h"

/* (a, v, mode, method) */
enum { A, V, MODE, METHOD };

/* The part of the full result that is wanted, and both operands in one dtype.
** In the full result, of size a + v - 1 along each dim, element o is the sum of
** a[o - k] v[k]. */
typedef struct problem {
    la_tensor *a, *v;
    la_dtype dtype;
    int ndim;
    int64_t first[LA_MAX_DIMS], count[LA_MAX_DIMS];
} problem;

static int64_t size_of(const la_tensor *t, int d) { return la_sizes(t)[d]; }

static la_status choose_dtype(const la_frame *f, problem *p)
{
    la_result_type type = LA_RESULT_TYPE_INIT;
    la_result_type_add(&type, p->a);
    la_result_type_add(&type, p->v);
    LA_TRY(la_result_type_get(&type, &p->dtype));
    return la_require_dtype(f, p->dtype);
}

/* valid: one holds the other in every dim. */
static la_status check_valid(const problem *p)
{
    bool larger = true, smaller = true;
    for (int d = 0; d < p->ndim; d++) {
        larger = larger && size_of(p->a, d) >= size_of(p->v, d);
        smaller = smaller && size_of(p->a, d) <= size_of(p->v, d);
    }
    if (larger || smaller) return LA_OK;
    return la_error_at(LA_ESHAPE, V + 1, "with mode 'valid' one tensor must be "
                       "at least as large as the other in every dim");
}

/* The part that the mode asks for; 'longest': same is as long as the longer
** operand. */
static la_status choose_part(const la_frame *f, problem *p, bool longest)
{
    const la_value *mode = &f->args[MODE];
    char quoted[80];
    bool same = la_str_is(mode, "same"), valid = la_str_is(mode, "valid");
    if (!same && !valid && !la_str_is(mode, "full"))
        return la_error_at(LA_EARG, MODE + 1, "mode is full, same or valid, "
                           "got '%s'", la_quote(mode->str.text, mode->str.n,
                                                quoted, sizeof(quoted)));
    if (valid) LA_TRY(check_valid(p));
    for (int d = 0; d < p->ndim; d++) {
        int64_t a = size_of(p->a, d), v = size_of(p->v, d);
        int64_t least = la_min(a, v), most = la_max(a, v);
        p->first[d] = 0;
        p->count[d] = a + v - 1;
        if (same) p->count[d] = longest ? most : a;
        if (same) p->first[d] = ((longest ? least : v) - 1) / 2;
        if (valid) p->first[d] = least - 1;
        if (valid) p->count[d] = most - least + 1;
    }
    return LA_OK;
}

/* ---- directly ---- */

/* a with zeros around or cut, so that a correlation with a kernel of v's sizes
** gives the part that is wanted. */
static la_tensor *around(la_chain *w, const problem *p)
{
    int64_t pads[2 * LA_MAX_DIMS];
    bool any = false;
    for (int d = 0; d < p->ndim; d++) {
        int64_t *pad = pads + 2 * (p->ndim - 1 - d);
        pad[0] = size_of(p->v, d) - 1 - p->first[d];
        pad[1] = p->first[d] + p->count[d] - size_of(p->a, d);
        any = any || pad[0] != 0 || pad[1] != 0;
    }
    return any ? R(constant_pad_nd, p->a, la_v_ints(pads, 2 * p->ndim)) : p->a;
}

/* --- more than three dims --- */

/* *sum plus the correlation of the last three dims at one position, the k-th,
** of the kernel's dims before them: those of 'a' are a batch. */
static la_status add_layer(const problem *p, la_tensor *a, la_tensor *kernel,
                           const int64_t *at, int64_t k, la_tensor **sum)
{
    LA_CHAIN(w);
    int lead = p->ndim - 3;
    int64_t sizes[5] = {-1, 1}, layers[5] = {-1, 1};
    memcpy(sizes + 2, la_sizes(a) + lead, 3 * sizeof(*sizes));
    memcpy(layers + 2, la_sizes(kernel) + lead, 3 * sizeof(*layers));
    for (int d = 0; d < lead; d++)
        if (size_of(p->v, d) > 1) a = R(narrow, a, d, at[d], p->count[d]);
    kernel = R(narrow, R(reshape, kernel, la_v_ints(layers, 5)), 0, k, 1);
    a = R(conv3d, R(reshape, a, la_v_ints(sizes, 5)), kernel);
    a = R(reshape, a, la_v_ints(p->count, p->ndim));
    if (*sum) a = R(add, *sum, a);
    LA_TRY(w->status);
    la_tensor_retain(a);
    if (*sum) la_tensor_release(*sum);
    *sum = a;
    return LA_OK;
}

/* One layer after another, so that windows are never copied. */
static la_tensor *by_layers(la_chain *w, const problem *p, la_tensor *a,
                            la_tensor *kernel)
{
    int64_t at[LA_MAX_DIMS] = {0};
    la_tensor *sum = NULL;
    int64_t k = 0;
    int d;
    do {
        la_status status = add_layer(p, a, kernel, at, k++, &sum);
        if (status) {
            if (sum) la_tensor_release(sum);
            return la_chain_fail(w, status);
        }
        for (d = p->ndim - 4; d >= 0; d--) {
            if (++at[d] < size_of(p->v, d)) break;
            at[d] = 0;
        }
    } while (d >= 0);
    return la_chain_own(w, sum);
}

static la_tensor *directly(la_chain *w, problem *p)
{
    int64_t sizes[5] = {1, 1, 1, 1, 1}, dims[LA_MAX_DIMS];
    if (p->v->numel > p->a->numel) {
        la_tensor *t = p->a;
        p->a = p->v;
        p->v = t;
    }
    for (int d = 0; d < p->ndim; d++) dims[d] = d;
    la_tensor *kernel = R(flip, p->v, la_v_ints(dims, p->ndim));
    la_tensor *a = around(w, p);
    if (w->status || p->ndim > 3)
        return w->status ? NULL : by_layers(w, p, a, kernel);
    memcpy(sizes + 2, la_sizes(a), (size_t)p->ndim * sizeof(*sizes));
    a = R(reshape, a, la_v_ints(sizes, p->ndim + 2));
    memcpy(sizes + 2, la_sizes(kernel), (size_t)p->ndim * sizeof(*sizes));
    kernel = R(reshape, kernel, la_v_ints(sizes, p->ndim + 2));
    a = p->ndim == 1 ? R(conv1d, a, kernel)
        : p->ndim == 2 ? R(conv2d, a, kernel) : R(conv3d, a, kernel);
    return R(reshape, a, la_v_ints(p->count, p->ndim));
}

/* ---- by Fourier transforms ---- */

/* The least product of 2, 3, 5 and 7 that is not less than n. */
static int64_t fast_size(int64_t n)
{
    int64_t best = INT64_MAX;
    for (int64_t a = 1; a < 7 * n; a *= 7)
        for (int64_t b = a; b < 5 * n; b *= 5)
            for (int64_t c = b; c < 3 * n; c *= 3) {
                int64_t d = c;
                while (d < n) d *= 2;
                best = la_min(best, d);
            }
    return best;
}

static la_tensor *by_fft(la_chain *w, const problem *p)
{
    int64_t sizes[LA_MAX_DIMS];
    bool integers = la_is_integral(p->dtype), complex = la_is_complex(p->dtype);
    la_tensor *a = p->a, *v = p->v;
    for (int d = 0; d < p->ndim; d++)
        sizes[d] = fast_size(size_of(a, d) + size_of(v, d) - 1);
    if (integers) {
        a = R(astype, a, la_v_dtype(LA_FLOAT64));
        v = R(astype, v, la_v_dtype(LA_FLOAT64));
    }
    la_value s = la_v_ints(sizes, p->ndim);
    a = complex ? R(fft_fftn, a, s) : R(fft_rfftn, a, s);
    v = complex ? R(fft_fftn, v, s) : R(fft_rfftn, v, s);
    a = R(mul, a, v);
    a = complex ? R(fft_ifftn, a, s) : R(fft_irfftn, a, s);
    for (int d = 0; d < p->ndim; d++)
        a = R(narrow, a, d, p->first[d], p->count[d]);
    if (integers) a = R(astype, R(round, a), la_v_dtype(p->dtype));
    return integers ? a : R(contiguous, a);
}

/* Costs in nanoseconds of float32 on one thread, of which only the ratio
** counts: a product and a sum against three transforms, products and copies. */
static bool fft_is_faster(const problem *p)
{
    double products = 1, n = 1;
    for (int d = 0; d < p->ndim; d++) {
        double a = (double)size_of(p->a, d), v = (double)size_of(p->v, d);
        products *= (double)p->count[d] * (a < v ? a : v);
        n *= a + v - 1;
    }
    double direct = products * (la_is_complex(p->dtype) ? 0.11 : 0.055);
    return direct > n * (0.75 * la_m_log2(n) + 6) + 20000;
}

/* ---- the operations ---- */

static la_status choose_method(const la_frame *f, const problem *p, bool *fft)
{
    const la_value *method = &f->args[METHOD];
    char quoted[80];
    *fft = la_str_is(method, "fft");
    if (*fft || la_str_is(method, "direct")) return LA_OK;
    *fft = !la_is_integral(p->dtype) && fft_is_faster(p);
    if (la_str_is(method, "auto")) return LA_OK;
    return la_error_at(LA_EARG, METHOD + 1, "method is direct, fft or auto, "
                       "got '%s'", la_quote(method->str.text, method->str.n,
                                            quoted, sizeof(quoted)));
}

/* 'v' is f's argument, or the conjugate of it in reverse. */
static la_status convolve_run(la_frame *f, la_chain *w, la_tensor *v,
                              bool numpy)
{
    problem p = {.a = la_arg(f, A), .v = v, .ndim = la_arg(f, A)->ndim};
    bool fft = false;
    if (w->status) return w->status;
    if (v->ndim != p.ndim)
        return la_error_at(LA_ESHAPE, V + 1, "two tensors of as many dims "
                           "expected, got %d-D and %d-D", p.ndim, v->ndim);
    LA_TRY(choose_dtype(f, &p));
    if (p.a->dtype != p.dtype) p.a = R(astype, p.a, la_v_dtype(p.dtype));
    if (p.v->dtype != p.dtype) p.v = R(astype, p.v, la_v_dtype(p.dtype));
    if (w->status) return w->status;
    if (p.ndim == 0) return la_chain_end(w, f, R(mul, p.a, p.v));
    LA_TRY(choose_part(f, &p, numpy));
    if (!numpy) LA_TRY(choose_method(f, &p, &fft));
    else fft = !la_is_integral(p.dtype) && fft_is_faster(&p);
    if (p.a->numel == 0 || p.v->numel == 0) {
        int64_t none[LA_MAX_DIMS] = {0};
        return la_chain_end(w, f, R(new_zeros, p.a, la_v_ints(none, p.ndim)));
    }
    return la_chain_end(w, f, fft ? by_fft(w, &p) : directly(w, &p));
}

la_status la_impl_signal_convolve(la_frame *f)
{
    LA_CHAIN(w);
    return convolve_run(f, w, la_arg(f, V), false);
}

la_status la_impl_signal_correlate(la_frame *f)
{
    LA_CHAIN(w);
    int64_t dims[LA_MAX_DIMS];
    la_tensor *v = la_arg(f, V);
    for (int d = 0; d < v->ndim; d++) dims[d] = d;
    if (la_is_complex((la_dtype)v->dtype)) v = R(conj, v);
    if (v && v->ndim > 0) v = R(flip, v, la_v_ints(dims, v->ndim));
    return convolve_run(f, w, v, false);
}

/* NumPy's refuses what has no elements. */
la_status la_impl_convolve(la_frame *f)
{
    LA_CHAIN(w);
    for (int k = A; k <= V; k++) {
        if (la_arg(f, k)->ndim != 1)
            return la_error_at(LA_ESHAPE, k + 1, "a signal of 1 dim expected, "
                               "got %d-D", la_arg(f, k)->ndim);
        if (la_arg(f, k)->numel == 0)
            return la_error_at(LA_ESHAPE, k + 1, "a signal must not be empty");
    }
    return convolve_run(f, w, la_arg(f, V), true);
}
