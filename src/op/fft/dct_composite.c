/*
** Cosine transforms, as SciPy defines them, by Fourier transforms of the same
** length (J. Makhoul, "A fast cosine transform in one and two dimensions",
** IEEE Trans. ASSP 28, 1980) or, of odd lengths and types 1 and 4, of twice the
** length. Composites along the last dim, so that derivatives follow.
*/
#include <math.h>

#include "base/runtime/context.h"
#include "op/composite.h"
#include "op/fft/fft.h"

#define LA_ROWS "op/def/fft.def"
#include "op/frame.h"
#include "op/impls.h"

#define PI 3.14159265358979323846

static const int64_t last = -1;
#define LAST la_v_ints(&last, 1)

/* 0, 1, ... n - 1 in double precision. */
static la_tensor *count_up(la_chain *w, const la_tensor *like, int64_t n)
{
    return R(arange, la_scalar_int(n), la_v_dtype(LA_FLOAT64),
             la_v_device((la_device)like->device));
}

/* x times e^(i (first + step k)) along the last dim. */
static la_tensor *rotated(la_chain *w, la_tensor *x, double first,
                          double step)
{
    if (w->status) return NULL;
    la_tensor *t = count_up(w, x, la_sizes(x)[x->ndim - 1]);
    t = R(add, R(mul, t, step), first);
    t = R(complex, R(cos, t), R(sin, t));
    la_dtype dtype = la_dtype_to_complex((la_dtype)x->dtype);
    return R(mul, x, R(to_dtype, t, la_v_dtype(dtype)));
}

/* x with the first element (and the last one) times a number. */
static la_tensor *dct_weighted(la_chain *w, la_tensor *x, double by, bool both)
{
    if (w->status) return NULL;
    int64_t n = la_sizes(x)[x->ndim - 1];
    la_tensor *t = count_up(w, x, n), *m = R(eq, t, 0);
    if (both) m = R(logical_or, m, R(eq, t, n - 1));
    m = R(to_dtype, m, la_v_dtype((la_dtype)x->dtype));
    return R(mul, x, R(add, R(mul, m, by - 1), 1));
}

static la_tensor *dct_part(la_chain *w, la_tensor *x, int64_t first, int64_t n)
{
    return R(narrow, x, -1, first, n);
}

static la_tensor *dct_joined(la_chain *w, la_tensor *a, la_tensor *b)
{
    la_tensor *both[] = {a, b};
    return R(cat, la_v_tensors(both, 2), -1);
}

static la_tensor *dct_backwards(la_chain *w, la_tensor *x)
{
    return R(flip, x, LAST);
}

/* DCT-I: the transform of x with its mirror image appended is real. */
static la_tensor *dct1(la_chain *w, la_tensor *x, int64_t n)
{
    x = dct_joined(w, x, dct_backwards(w, dct_part(w, x, 1, n - 2)));
    return R(real, R(fft_r2c, x, LAST, 0, true, true));
}

/* Even elements, then odd ones backwards. */
static la_tensor *dct2(la_chain *w, la_tensor *x, int64_t n)
{
    la_tensor *even = R(slice, x, -1, (int64_t)0, n, 2);
    la_tensor *odd = R(slice, x, -1, (int64_t)1, n, 2);
    if (n > 1) x = dct_joined(w, even, dct_backwards(w, odd));
    x = R(fft_r2c, x, LAST, 0, true, true);
    x = R(mul, rotated(w, x, 0, -PI / (2 * (double)n)), 2);
    la_tensor *im = dct_part(w, R(imag, x), 1, (n - 1) / 2);
    return dct_joined(w, R(real, x), R(neg, dct_backwards(w, im)));
}

/* The way back. */
static la_tensor *dct3(la_chain *w, la_tensor *x, int64_t n)
{
    int64_t one[] = {1, 0}, half = n / 2, pair[LA_MAX_DIMS];
    la_tensor *im = dct_backwards(w, dct_part(w, x, n - half, half));
    im = R(neg, R(constant_pad_nd, im, la_v_ints(one, 2)));
    x = R(complex, dct_part(w, x, 0, half + 1), im);
    x = rotated(w, x, 0, PI / (2 * (double)n));
    x = R(fft_c2r, x, LAST, 0, false, n);
    int64_t evens = n - half, fill[] = {0, evens - half};
    la_tensor *odd = dct_backwards(w, dct_part(w, x, evens, half));
    odd = R(constant_pad_nd, odd, la_v_ints(fill, 2));
    la_tensor *both[] = {dct_part(w, x, 0, evens), odd};
    if (w->status) return NULL;
    memcpy(pair, la_sizes(x), (size_t)x->ndim * sizeof *pair);
    pair[x->ndim - 1] = 2 * evens;
    la_tensor *all = R(stack, la_v_tensors(both, 2), -1);
    all = R(reshape, all, la_v_ints(pair, x->ndim));
    return dct_part(w, all, 0, n);
}

/* Even elements and odd ones backwards as parts of complex numbers. */
static la_tensor *dct4_even(la_chain *w, la_tensor *x, int64_t n)
{
    double a = -PI / (8 * (double)n), b = -PI / (double)n;
    int64_t pair[LA_MAX_DIMS];
    la_tensor *im = R(slice, x, -1, (int64_t)1, n, 2);
    x = R(complex, R(slice, x, -1, (int64_t)0, n, 2), dct_backwards(w, im));
    x = R(fft_c2c, rotated(w, x, a, b), LAST, 0, true);
    x = R(mul, rotated(w, x, a, b), 2);
    im = R(neg, dct_backwards(w, R(imag, x)));
    la_tensor *both[] = {R(real, x), im};
    if (w->status) return NULL;
    memcpy(pair, la_sizes(x), (size_t)x->ndim * sizeof *pair);
    pair[x->ndim - 1] = n;
    return R(reshape, R(stack, la_v_tensors(both, 2), -1),
             la_v_ints(pair, x->ndim));
}

static la_tensor *dct4(la_chain *w, la_tensor *x, int64_t n)
{
    double step = -PI / (2 * (double)n);
    int64_t more[] = {0, n};
    if (n % 2 == 0) return dct4_even(w, x, n);
    x = R(constant_pad_nd, rotated(w, x, 0, step), la_v_ints(more, 2));
    x = dct_part(w, R(fft_c2c, x, LAST, 0, true), 0, n);
    return R(real, R(mul, rotated(w, x, step / 2, step), 2));
}

/* The type's transform of real x, of which SciPy's factor is 'scale'; ortho:
** the first and last elements weighted so that it is orthogonal. */
static la_tensor *dct_cosine(la_chain *w, la_tensor *x, int type, double scale,
                             bool ortho)
{
    double root = sqrt(2);
    if (w->status) return NULL;
    int64_t n = la_sizes(x)[x->ndim - 1];
    if (ortho && type != 2 && type != 4) x =
        dct_weighted(w, x, root, type == 1);
    if (type == 1) x = dct1(w, x, n);
    else if (type == 2) x = dct2(w, x, n);
    else x = type == 3 ? dct3(w, x, n) : dct4(w, x, n);
    if (ortho && type < 3) x = dct_weighted(w, x, 1 / root, type == 1);
    return scale == 1 ? x : R(mul, x, scale);
}

/* The call for one part of a complex tensor. */
static la_tensor *part_of(la_chain *w, const la_frame *f, la_tensor *x,
                          bool back)
{
    const la_value *a = f->args;
    return back ? R(fft_idct, x, a[1], a[2], a[3], a[4])
        : R(fft_dct, x, a[1], a[2], a[3], a[4]);
}

/* (x, type, n, dim, norm) */
static la_status dct_transform(la_frame *f, bool back)
{
    LA_CHAIN(w);
    int64_t type = la_arg_int(f, 1), n = 0;
    int norm, dim;
    if (type < 1 || type > 4)
        return la_error_at(LA_EARG, 2, "type must be 1, 2, 3 or 4, got %lld",
                           (long long)type);
    LA_TRY(la_fft_read_norm(f, 4, !back, &norm));
    LA_TRY(la_fft_one_dim(f, 2, false, &dim, &n));
    if (type == 1 && n < 2)
        return la_error_at(LA_ESHAPE, 1, "type 1 needs two elements or more, "
                           "got %lld", (long long)n);
    la_tensor *x = la_arg(f, 0);
    if (la_is_complex((la_dtype)x->dtype)) {
        la_tensor *re = part_of(w, f, R(real, x), back);
        la_tensor *im = part_of(w, f, R(imag, x), back);
        return la_chain_end(w, f, R(complex, re, im));
    }
    x = la_fft_resized(w, la_fft_promoted(w, f, false), dim, n);
    double points = 2 * (double)(type == 1 ? n - 1 : n);
    double scale = norm == 0 ? 1 : norm == 1 ? 1 / sqrt(points) : 1 / points;
    if (back && type != 1 && type != 4) type = 5 - type;
    x = R(transpose, x, dim, -1);
    x = dct_cosine(w, x, (int)type, scale, norm == 1);
    return la_chain_end(w, f, R(transpose, x, dim, -1));
}

LA_FORWARD(la_impl_fft_dct, dct_transform(f, false))
LA_FORWARD(la_impl_fft_idct, dct_transform(f, true))
