/*
** la.fft: conversions, sizes and norms around the transforms of fft.c, as
** PyTorch has them.
*/
#include "base/runtime/context.h"
#include "op/composite.h"
#include "op/fft/fft.h"

#define LA_ROWS "op/def/fft.def"
#include "op/call.h"
#include "op/impls.h"
#include "op/op.h"
#include "tensor/shape.h"

/* ---- arguments ---- */

/* norm: 0 none, 1 by the root of n, 2 by n. Which of the two directions
** divides is PyTorch's 'backward' (the default) or 'forward'. */
la_status la_fft_read_norm(const la_frame *f, int k, bool forward, int *norm)
{
    const la_value *v = &f->args[k];
    char quoted[256];
    *norm = forward ? 0 : 2;
    if (v->tag == LA_VNONE || la_str_is(v, "backward")) return LA_OK;
    *norm = forward ? 2 : 0;
    if (la_str_is(v, "forward")) return LA_OK;
    *norm = 1;
    if (la_str_is(v, "ortho")) return LA_OK;
    return la_error_at(LA_EARG, k + 1, "Invalid normalization mode: \"%s\" "
                       "(backward, forward or ortho)",
                       la_quote(v->str.text, v->str.n, quoted, sizeof quoted));
}

/* 16-bit floats have no transform and are refused, as on PyTorch's CPU.
** Integers become the default dtype. */
la_tensor *la_fft_promoted(la_chain *w, const la_frame *f, bool complex)
{
    la_tensor *x = la_arg(f, 0);
    la_dtype dtype = (la_dtype)x->dtype, to = dtype;
    if (dtype == LA_BOOL || la_is_integral(dtype)) to = la_ctx()->default_dtype;
    if (to != LA_FLOAT32 && to != LA_FLOAT64 && !la_is_complex(to))
        w->status = la_refuse_dtype(f, to);
    else if (!(f->op->dtypes & LA_DTYPE_BIT(to)))
        w->status = la_refuse_dtype(f, to);
    if (w->status) return NULL;
    if (complex) to = la_dtype_to_complex(to);
    return to == dtype ? x : R(to_dtype, x, la_v_dtype(to));
}

/* Shorter lines are zeros at the end, longer ones are cut: the transform then
** is of n points, as in PyTorch and NumPy. */
la_tensor *la_fft_resized(la_chain *w, la_tensor *x, int dim, int64_t n)
{
    int64_t pads[2 * LA_MAX_DIMS] = {0};
    if (w->status) return NULL;
    int64_t have = la_sizes(x)[dim];
    if (have == n) return x;
    if (have > n) return R(narrow, x, dim, (int64_t)0, n);
    int at = 2 * (x->ndim - 1 - dim);
    pads[at + 1] = n - have;
    return R(constant_pad_nd, x, la_v_ints(pads, at + 2));
}

/* 2 (m - 1) elements of none. */
static la_status no_elements(int dim)
{
    return la_error_at(LA_ESHAPE, 1, "x has no elements along dim %d: say how "
                       "many the result has", dim + 1);
}

/* The dims of a call and their sizes in the transform. */
typedef struct extent {
    int n;
    int64_t dims[LA_MAX_DIMS], sizes[LA_MAX_DIMS];
} extent;

la_status la_fft_one_dim(const la_frame *f, int k, bool half, int *dim,
                         int64_t *n)
{
    la_tensor *x = la_arg(f, 0);
    if (x->ndim == 0)
        return la_error_at(LA_EINDEX, 1, "Dimension specified as %lld but "
                           "tensor has no dimensions",
                           (long long)la_counted(la_arg_int(f, k + 1)));
    LA_TRY(la_blame(la_wrap_dim(la_arg_int(f, k + 1), x->ndim, dim), k + 2));
    *n = la_sizes(x)[*dim];
    if (half) *n = 2 * (*n - 1);
    if (half && *n < 0 && !la_has(f, k)) return no_elements(*dim);
    if (la_has(f, k)) *n = la_arg_int(f, k);
    return la_blame(la_fft_check_points(*n), la_has(f, k) ? k + 1 : 1);
}

/* (x, n, dim, norm). 'half': x has the first half of the elements, whose
** number defaults to 2 (m - 1). */
static la_status one_dim(const la_frame *f, bool half, extent *e)
{
    int dim;
    e->n = 1;
    LA_TRY(la_fft_one_dim(f, 1, half, &dim, &e->sizes[0]));
    e->dims[0] = dim;
    return LA_OK;
}

/* (x, s, dim, norm), of any number of dims. */
static la_status many_dims(const la_frame *f, bool half, extent *e)
{
    la_tensor *x = la_arg(f, 0);
    const la_value *s = &f->args[1], *dims = &f->args[2];
    bool sized = la_has(f, 1), named = la_has(f, 2);
    int n = named ? (int)dims->ints.n : sized ? (int)s->ints.n : x->ndim;
    uint64_t mask;
    *e = (extent){.n = n};
    if (named && sized && dims->ints.n != s->ints.n)
        return la_error_at(LA_EARG, 2, "When given, dim and shape arguments "
                           "must have the same length");
    if (n > x->ndim)
        return la_error_at(LA_ESHAPE, 2, "Got shape with %d values but input "
                           "tensor only has %d dimensions.", n, x->ndim);
    if (named)
        LA_TRY(la_blame(la_dim_mask(n, dims->ints.list, x->ndim, &mask), 3));
    for (int k = 0; k < n; k++) {
        int dim = x->ndim - n + k;
        if (named) LA_TRY(la_wrap_dim(dims->ints.list[k], x->ndim, &dim));
        int64_t m = la_sizes(x)[dim];
        bool given = sized && s->ints.list[k] != -1;
        e->dims[k] = dim;
        e->sizes[k] = half && k == n - 1 ? 2 * (m - 1) : m;
        if (e->sizes[k] < 0 && !given) return no_elements(dim);
        if (given) e->sizes[k] = s->ints.list[k];
        LA_TRY(la_blame(la_fft_check_points(e->sizes[k]), given ? 2 : 1));
    }
    return LA_OK;
}

/* 'x' with the sizes of a transform; 'half': what is read of the last one. */
static la_tensor *fitted(la_chain *w, la_tensor *x, const extent *e, bool half)
{
    for (int k = 0; k < e->n; k++) {
        int64_t n = e->sizes[k];
        if (half && k == e->n - 1) n = n / 2 + 1;
        x = la_fft_resized(w, x, (int)e->dims[k], n);
    }
    return x;
}

typedef la_status extent_fn(const la_frame *f, bool half, extent *e);

static la_value dims_of(const extent *e) { return la_v_ints(e->dims, e->n); }

/* ---- the forms ---- */

/* fft, ifft and those of more dims; of real tensors and one dim half is
** computed. */
static la_status complex_form(la_frame *f, extent_fn *extent_of, bool forward)
{
    LA_CHAIN(w);
    extent e;
    int norm;
    LA_TRY(la_fft_read_norm(f, 3, forward, &norm));
    LA_TRY(extent_of(f, false, &e));
    bool real = !la_is_complex((la_dtype)la_arg(f, 0)->dtype) && e.n > 0;
    la_tensor *x = fitted(w, la_fft_promoted(w, f, !real), &e, false);
    if (real)
        x = R(fft_r2c, x, dims_of(&e), norm, forward, false);
    else x = R(fft_c2c, x, dims_of(&e), norm, forward);
    return la_chain_end(w, f, x);
}

/* rfft; ihfft (not forward): of the dims before the last one too. */
static la_status real_form(la_frame *f, extent_fn *extent_of, bool forward,
                           const char *what)
{
    LA_CHAIN(w);
    extent e;
    int norm;
    LA_TRY(la_fft_read_norm(f, 3, forward, &norm));
    LA_TRY(extent_of(f, false, &e));
    if (e.n == 0)
        return la_error_at(LA_EARG, 3, "%s must transform at least one axis",
                           what);
    la_tensor *x = fitted(w, la_fft_promoted(w, f, false), &e, false);
    x = R(fft_r2c, x, dims_of(&e), norm, forward, true);
    return la_chain_end(w, f, x);
}

/* irfft; hfft (forward). */
static la_status half_form(la_frame *f, extent_fn *extent_of, bool forward,
                           const char *what)
{
    LA_CHAIN(w);
    extent e;
    int norm;
    LA_TRY(la_fft_read_norm(f, 3, forward, &norm));
    LA_TRY(extent_of(f, true, &e));
    if (e.n == 0)
        return la_error_at(LA_EARG, 3, "%s must transform at least one axis",
                           what);
    la_tensor *x = fitted(w, la_fft_promoted(w, f, true), &e, true);
    x = R(fft_c2r, x, dims_of(&e), norm, forward, e.sizes[e.n - 1]);
    return la_chain_end(w, f, x);
}

/* Eighteen names, three forms: what comes in and goes out (complex, real,
** half), over one dim or many, forward or back. */
#define FORM(name, form, ...) \
    la_status la_impl_fft_##name(la_frame *f) { return form(f, __VA_ARGS__); }

FORM(fft, complex_form, one_dim, true)
FORM(ifft, complex_form, one_dim, false)
FORM(fft2, complex_form, many_dims, true)
FORM(ifft2, complex_form, many_dims, false)
FORM(fftn, complex_form, many_dims, true)
FORM(ifftn, complex_form, many_dims, false)
FORM(rfft, real_form, one_dim, true, "rfft")
FORM(rfft2, real_form, many_dims, true, "rfft2")
FORM(rfftn, real_form, many_dims, true, "rfftn")
FORM(ihfft, real_form, one_dim, false, "ihfft")
FORM(ihfft2, real_form, many_dims, false, "ihfft2")
FORM(ihfftn, real_form, many_dims, false, "ihfftn")
FORM(irfft, half_form, one_dim, false, "irfft")
FORM(irfft2, half_form, many_dims, false, "irfft2")
FORM(irfftn, half_form, many_dims, false, "irfftn")
FORM(hfft, half_form, one_dim, true, "hfft")
FORM(hfft2, half_form, many_dims, true, "hfft2")
FORM(hfftn, half_form, many_dims, true, "hfftn")

/* ---- shifts ---- */

/* (x, dim): each dim rolled by half of its size. */
static la_status fft_shift(la_frame *f, bool back)
{
    la_tensor *x = la_arg(f, 0);
    int64_t dims[LA_MAX_DIMS], by[LA_MAX_DIMS];
    bool named = la_has(f, 1);
    int n = named ? (int)f->args[1].ints.n : x->ndim;
    uint64_t mask;
    if (named)
        LA_TRY(la_blame(la_dim_mask(n, f->args[1].ints.list, x->ndim, &mask),
                        2));
    for (int k = 0; k < n; k++) {
        int d = k;
        if (named) LA_TRY(la_wrap_dim(f->args[1].ints.list[k], x->ndim, &d));
        dims[k] = d;
        by[k] = x->ndim ? (la_sizes(x)[d] + back) / 2 : 0;
    }
    if (n == 0 || x->ndim == 0) return la_run_result(f, clone, x);
    return la_run_result(f, roll, x, la_v_ints(by, n), la_v_ints(dims, n));
}

LA_FORWARD(la_impl_fft_fftshift, fft_shift(f, false))
LA_FORWARD(la_impl_fft_ifftshift, fft_shift(f, true))
