/*
** The transforms that all others are made of: along several dims, one after the
** other.
*/
#include "op/fft/fft.h"

#include <math.h>

#include "base/runtime/context.h"

#include "op/fft/fft_run.h"
#include "op/move/copy.h"

#define LA_ROWS "op/def/fft.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* Checked arguments: dims without repetitions, at least one element along each,
** the factor of the result. */
typedef struct request {
    int ndims;
    int dims[LA_MAX_DIMS];
    bool forward;
    double scale;
} request;

/* 'last': the size of the last of the dims in the transform, 0: the tensor's.
** LA_EINDEX, LA_EARG, LA_ESHAPE. */
static la_status read_request(const la_frame *f, int64_t last, request *r)
{
    la_tensor *x = la_arg(f, 0);
    const la_value *dims = &f->args[1];
    double points = 1;
    uint64_t mask;
    LA_TRY(la_dim_mask((int)dims->ints.n, dims->ints.list, x->ndim, &mask));
    r->ndims = (int)dims->ints.n;
    for (int k = 0; k < r->ndims; k++) {
        LA_TRY(la_wrap_dim(dims->ints.list[k], x->ndim, &r->dims[k]));
        int64_t n = la_sizes(x)[r->dims[k]];
        if (k == r->ndims - 1 && last) n = last;
        if (n < 1) return la_fft_check_points(n);
        points *= (double)n;
    }
    int64_t norm = la_arg_int(f, 2);
    r->forward = la_arg_bool(f, 3);
    r->scale = norm == 0 ? 1 : norm == 1 ? 1 / sqrt(points) : 1 / points;
    return LA_OK;
}

la_status la_fft_check_points(int64_t n)
{
    if (n >= 1) return LA_OK;
    return la_error(LA_ESHAPE, "Invalid number of data points (%lld) "
                    "specified", (long long)n);
}

/* One dim of 'in' to one of 'out', which have the same other dims. */
static la_status run_dim(la_tensor *in, la_tensor *out, int dim, int64_t n,
                         la_fft_form form, bool forward, double scale)
{
    la_fft_axis a = {.form = form, .n = n, .backward = !forward,
        .scale = scale, .in = la_data(in), .out = la_data(out),
        .real = la_dtype_to_real((la_dtype)in->dtype)};
    int64_t from = (int64_t)la_itemsize(in), to = (int64_t)la_itemsize(out);
    if (out->numel == 0) return LA_OK;
    a.in_step = la_strides(in)[dim] * from;
    a.out_step = la_strides(out)[dim] * to;
    for (int d = 0; d < in->ndim; d++) {
        if (d == dim) continue;
        a.sizes[a.ndim] = la_sizes(in)[d];
        a.in_strides[a.ndim] = la_strides(in)[d] * from;
        a.out_strides[a.ndim++] = la_strides(out)[d] * to;
    }
    return la_fft_run(&a);
}

/* The first n of the dims from 'in' to 'out', the last of them first, as its
** elements are the closest; 'in' may be 'out'. */
static la_status run_dims(la_tensor *in, la_tensor *out, const request *r,
                          int n, double scale)
{
    for (int k = n - 1; k >= 0; k--) {
        LA_TRY(run_dim(in, out, r->dims[k], la_sizes(out)[r->dims[k]],
                       LA_FFT_C2C, r->forward, scale));
        in = out;
        scale = 1;
    }
    return LA_OK;
}

/* (x, dim, norm, forward) */
la_status la_meta_fft_c2c(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    request r;
    LA_TRY(read_request(f, 0, &r));
    return la_set_output(f, 0, x->ndim, la_sizes(x), NULL, (la_dtype)x->dtype);
}

la_status la_impl_fft_c2c(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *out = la_result(f, 0);
    request r;
    LA_TRY(read_request(f, 0, &r));
    if (r.ndims == 0) return la_copy_data(out, x);
    return run_dims(x, out, &r, r.ndims, r.scale);
}

/* (x, dim, norm, forward, onesided) */
la_status la_meta_fft_r2c(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    la_shape s = la_shape_of(x);
    request r;
    LA_TRY(read_request(f, 0, &r));
    if (r.ndims == 0) return la_error_at(LA_EARG, 2, "a dim is needed");
    int d = r.dims[r.ndims - 1];
    if (la_arg_bool(f, 4)) s.sizes[d] = s.sizes[d] / 2 + 1;
    return la_set_output(f, 0, s.ndim, s.sizes, NULL,
                         la_dtype_to_complex((la_dtype)x->dtype));
}

/* A view of the first n elements of a dim. */
static la_status first_part(la_tensor *t, int dim, int64_t n, la_tensor **out)
{
    la_geometry g;
    la_geometry_of(t, &g);
    LA_TRY(la_geo_slice(&g, dim, 0, n, 1));
    return la_view_make(t, &g, out);
}

/* Elements from n/2 + 1 on of the only transformed dim are the conjugates of
** those before. */
static la_status fill_mirrored(la_tensor *out, int dim)
{
    la_geometry g;
    int64_t n = la_sizes(out)[dim], half = (n - 1) / 2;
    if (half == 0) return LA_OK;
    la_geometry_of(out, &g);
    LA_TRY(la_geo_slice(&g, dim, 1, half + 1, 1));
    LA_LET(from, la_view_make(out, &g, &from));
    la_geometry_of(out, &g);
    LA_TRY(la_geo_slice(&g, dim, n - half, n, 1));
    LA_LET(to, la_view_make(out, &g, &to));
    int64_t d = dim;
    LA_LET(reversed, la_run(flip, &reversed, from, la_v_ints(&d, 1)));
    LA_LET(other, la_run(conj, &other, reversed));
    return la_copy_data(to, other);
}

la_status la_impl_fft_r2c(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *out = la_result(f, 0);
    request r;
    LA_TRY(read_request(f, 0, &r));
    int d = r.dims[r.ndims - 1];
    int64_t n = la_sizes(x)[d];
    LA_LET(half, first_part(out, d, n / 2 + 1, &half));
    LA_TRY(run_dim(x, half, d, n, LA_FFT_R2C, r.forward, r.scale));
    if (!la_arg_bool(f, 4)) {
        LA_WITHOUT_KEYS(~0u << LA_KEY_INPLACE_OR_VIEW);
        LA_TRY(fill_mirrored(out, d));
    }
    return run_dims(out, out, &r, r.ndims - 1, 1);
}

/* (x, dim, norm, forward, n) */
la_status la_meta_fft_c2r(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    la_shape s = la_shape_of(x);
    int64_t n = la_arg_int(f, 4);
    request r;
    LA_TRY(la_fft_check_points(n));
    LA_TRY(read_request(f, n, &r));
    if (r.ndims == 0) return la_error_at(LA_EARG, 2, "a dim is needed");
    int d = r.dims[r.ndims - 1];
    if (s.sizes[d] != n / 2 + 1)
        return la_error_at(LA_ESHAPE, 1, "%lld elements expected for n = %lld, "
                           "got %lld", (long long)(n / 2 + 1), (long long)n,
                           (long long)s.sizes[d]);
    s.sizes[d] = n;
    return la_set_output(f, 0, s.ndim, s.sizes, NULL,
                         la_dtype_to_real((la_dtype)x->dtype));
}

la_status la_impl_fft_c2r(la_frame *f)
{
    la_tensor *x = la_arg(f, 0), *out = la_result(f, 0);
    LA_OWNED t = NULL;
    int64_t n = la_arg_int(f, 4);
    request r;
    LA_TRY(read_request(f, n, &r));
    if (r.ndims > 1) {
        LA_TRY(la_tensor_empty(x->ndim, la_sizes(x), (la_dtype)x->dtype, &t));
        LA_TRY(run_dims(x, t, &r, r.ndims - 1, 1));
        x = t;
    }
    return run_dim(x, out, r.dims[r.ndims - 1], n, LA_FFT_C2R, r.forward,
                   r.scale);
}
