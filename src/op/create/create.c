/*
** Tensors from nothing: empty, zeros, ones, full, eye and their _like and new_
** forms. The metas read the options through la_option_output; the impls
** fill.
*/
#include "op/create/create.h"

#include "base/runtime/context.h"
#include "op/move/copy.h"
#include "tensor/names.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/create.def"
#include "op/frame.h"
#include "op/impls.h"

/* LA_ESHAPE when a size is negative or their product overflows. */
static la_status check_sizes(int ndim, const int64_t *sizes)
{
    int64_t numel;
    for (int d = 0; d < ndim && d < LA_MAX_DIMS; d++)
        if (sizes[d] < 0)
            return la_error(LA_ESHAPE, "size %lld is negative",
                            (long long)sizes[d]);
    return la_numel(ndim, sizes, &numel);
}

/* Integers have no gradients. */
static la_status check_grad(la_dtype dtype, bool grad)
{
    if (grad && !la_is_inexact(dtype))
        return la_error(LA_EDTYPE, "only Tensors of floating point and complex "
                        "dtype can require gradients");
    return LA_OK;
}

/* Strides that the memory format asks for; *plain when they are contiguous,
** 'strides' then being unset. */
static la_status option_strides(const la_frame *f, int first, int ndim,
                                const int64_t *sizes, const la_tensor *like,
                                int64_t *strides, bool *plain)
{
    const la_value *v = &f->args[first + LA_OPT_FORMAT];
    la_memory_format m = v->tag == LA_VFORMAT ? v->format : LA_PRESERVE;
    *plain = m == LA_FORMAT_CONTIGUOUS
        || (m == LA_PRESERVE && (!like || la_is_row_major(like)));
    if (*plain) return LA_OK;
    if (m != LA_PRESERVE) return la_format_strides(m, ndim, sizes, strides);
    la_preserve_strides(like, strides);
    return LA_OK;
}

/* Names and requires_grad, when the result exists. LA_EARG unless there is a
** name for each dim. Marks are set on the result itself, which has no
** history. */
static la_status option_marks(la_frame *f, int first, bool grad)
{
    la_tensor *out = la_result(f, 0);
    const la_value *v = &f->args[first + LA_OPT_NAMES];
    la_names *names;
    if (v->tag == LA_VNAMES) {
        if (v->names.n != out->ndim)
            return la_error(LA_EARG, "%d names are needed, one for each dim, "
                            "got %d", out->ndim, (int)v->names.n);
        LA_TRY(la_names_new(out->ndim, v->names.list, &names));
        la_tensor_set_names(out, names);
    }
    if (grad) out->flags |= LA_F_REQUIRES_GRAD;
    return LA_OK;
}

/* Refusals first (dtype, gradient, sizes, format), then the result. */
la_status la_option_output(la_frame *f, int first, int ndim,
                           const int64_t *sizes, la_dtype otherwise,
                           const la_tensor *like)
{
    int64_t strides[LA_MAX_DIMS];
    bool plain;
    la_dtype dtype;
    LA_TRY(la_infer_dtype(f, &f->args[first + LA_OPT_DTYPE], otherwise,
                          &dtype));
    bool grad = la_arg_bool(f, first + LA_OPT_GRAD);
    LA_TRY(check_grad(dtype, grad));
    LA_TRY(check_sizes(ndim, sizes));
    LA_TRY(option_strides(f, first, ndim, sizes, like, strides, &plain));
    LA_TRY(la_set_output(f, 0, ndim, sizes, plain ? NULL : strides, dtype));
    return option_marks(f, first, grad);
}

/* Sizes from argument k; options from argument 'options' on. */
static la_status create_sized(la_frame *f, int k, int options,
                              la_dtype otherwise)
{
    if (f->args[k].ints.n > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: at most %d dimensions",
                        LA_MAX_DIMS);
    return la_option_output(f, options, (int)f->args[k].ints.n,
                            f->args[k].ints.list, otherwise, NULL);
}

/* Shape, dtype, layout and names of argument 0, unless options say
** otherwise. */
static la_status create_like(la_frame *f, int options)
{
    const la_tensor *t = la_arg(f, 0);
    LA_TRY(la_option_output(f, options, t->ndim, la_sizes(t), t->dtype, t));
    if (!la_has(f, options + LA_OPT_NAMES)) la_copy_names(la_result(f, 0), t);
    return LA_OK;
}

static la_dtype default_dtype(void) { return la_ctx()->default_dtype; }

/* Every element of result 0. */
static la_status fill_result(la_frame *f, la_scalar value)
{
    return la_fill_data(la_result(f, 0), &value);
}

/* --- empty --- */

/* The elements are what the memory held, unless that is no business of the
** caller's: in a sandbox they are zero. An 'out' keeps its own. */
static la_status leave_elements(la_frame *f)
{
    la_storage *s = la_result(f, 0)->storage;
    if (!la_ctx()->zero_memory || f->form != LA_FUNCTIONAL
        || (s->flags & LA_S_NEW_ZERO)) return LA_OK;
    return la_zero_storage(s);
}

/* empty(size, options): uninitialised memory. */
LA_FORWARD(la_meta_empty, create_sized(f, 0, 1, default_dtype()))
LA_FORWARD(la_impl_empty, leave_elements(f))
LA_FORWARD(la_meta_empty_like, create_like(f, 1))
LA_FORWARD(la_impl_empty_like, leave_elements(f))
/* new_empty(self, size, options): self's dtype by default. */
LA_FORWARD(la_meta_new_empty, create_sized(f, 1, 2, la_arg(f, 0)->dtype))
LA_FORWARD(la_impl_new_empty, leave_elements(f))

/* empty_strided(size, stride, options) */
la_status la_meta_empty_strided(la_frame *f)
{
    const la_value *size = &f->args[0], *stride = &f->args[1];
    if (size->ints.n != stride->ints.n)
        return la_error_at(LA_ESHAPE, 2, "as many strides as sizes are needed, "
                           "got %lld for %lld", (long long)stride->ints.n,
                           (long long)size->ints.n);
    if (size->ints.n > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: at most %d dimensions",
                        LA_MAX_DIMS);
    for (int64_t d = 0; d < stride->ints.n; d++)
        if (stride->ints.list[d] < 0)
            return la_error_at(LA_ESHAPE, 2, "stride %lld is negative",
                               (long long)stride->ints.list[d]);
    LA_TRY(check_sizes((int)size->ints.n, size->ints.list));
    la_dtype dtype;
    LA_TRY(la_infer_dtype(f, &f->args[2 + LA_OPT_DTYPE], default_dtype(),
                          &dtype));
    bool grad = la_arg_bool(f, 2 + LA_OPT_GRAD);
    LA_TRY(check_grad(dtype, grad));
    LA_TRY(la_set_output(f, 0, (int)size->ints.n, size->ints.list,
                         stride->ints.list, dtype));
    return option_marks(f, 2, grad);
}
LA_FORWARD(la_impl_empty_strided, leave_elements(f))

/* --- zeros, ones, full --- */

/* A large result allocated by this call may be fresh pages of the system, which
** hold zeros already and are better not touched. */
static la_status zero_result(la_frame *f)
{
    const la_tensor *out = la_result(f, 0);
    if (out != f->outs[0] && out->storage
        && (out->storage->flags & LA_S_NEW_ZERO))
        return LA_OK;
    return fill_result(f, la_scalar_int(0));
}
static la_status one_result(la_frame *f)
{
    return fill_result(f, la_scalar_int(1));
}

/* zeros, zeros_like, new_zeros; ones and the rest take the same arguments. */
LA_FORWARD(la_meta_zeros, create_sized(f, 0, 1, default_dtype()))
LA_FORWARD(la_impl_zeros, zero_result(f))
LA_FORWARD(la_meta_zeros_like, create_like(f, 1))
LA_FORWARD(la_impl_zeros_like, zero_result(f))
LA_FORWARD(la_meta_new_zeros, la_meta_new_empty(f))
LA_FORWARD(la_impl_new_zeros, zero_result(f))
LA_FORWARD(la_meta_ones, create_sized(f, 0, 1, default_dtype()))
LA_FORWARD(la_impl_ones, one_result(f))
LA_FORWARD(la_meta_ones_like, create_like(f, 1))
LA_FORWARD(la_impl_ones_like, one_result(f))
LA_FORWARD(la_meta_new_ones, la_meta_new_empty(f))
LA_FORWARD(la_impl_new_ones, one_result(f))

/* The result is to be filled with argument k. Asked by metas, so that a value
** the dtype cannot hold is an error on the meta device as well. */
static la_status check_fill(const la_frame *f, int k)
{
    return la_fill_check((la_dtype)la_result(f, 0)->dtype, &f->args[k].scalar);
}

/* full(size, fill_value, options): the value's dtype by default. */
la_status la_meta_full(la_frame *f)
{
    LA_TRY(create_sized(f, 0, 2, la_scalar_dtype(&f->args[1].scalar)));
    return check_fill(f, 1);
}
LA_FORWARD(la_impl_full, fill_result(f, f->args[1].scalar))
la_status la_meta_full_like(la_frame *f)
{
    LA_TRY(create_like(f, 2));
    return check_fill(f, 1);
}
LA_FORWARD(la_impl_full_like, fill_result(f, f->args[1].scalar))
la_status la_meta_new_full(la_frame *f)
{
    LA_TRY(create_sized(f, 1, 3, la_arg(f, 0)->dtype));
    return check_fill(f, 2);
}
LA_FORWARD(la_impl_new_full, fill_result(f, f->args[2].scalar))

/* scalar_tensor(s, options): 0-dim, of the default dtype or its complex one. */
la_status la_meta_scalar_tensor(la_frame *f)
{
    la_dtype dtype = default_dtype();
    if (f->args[0].scalar.kind == LA_KCOMPLEX)
        dtype = la_dtype_to_complex(dtype);
    LA_TRY(la_option_output(f, 1, 0, NULL, dtype, NULL));
    return check_fill(f, 0);
}
LA_FORWARD(la_impl_scalar_tensor, fill_result(f, f->args[0].scalar))

/* --- eye --- */

/* eye(n, m, k, options): n x m with ones on diagonal k. */
la_status la_meta_eye(la_frame *f)
{
    int64_t n = la_arg_int(f, 0), m = la_has(f, 1) ? la_arg_int(f, 1) : n;
    int64_t sizes[2] = {n, m};
    if (n < 0)
        return la_error_at(LA_ESHAPE, 1, "n must be greater or equal to 0, got "
                           "%lld", (long long)n);
    if (m < 0)
        return la_error_at(LA_ESHAPE, 2, "m must be greater or equal to 0, got "
                           "%lld", (long long)m);
    return la_option_output(f, 3, 2, sizes, default_dtype(), NULL);
}

/* Zeros, then ones through a view of the diagonal. */
la_status la_impl_eye(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    la_scalar one = la_scalar_int(1);
    la_geometry g;
    LA_TRY(zero_result(f));
    la_geometry_of(out, &g);
    LA_TRY(la_geo_diagonal(&g, la_arg_int(f, 2), 0, 1));
    LA_LET(diagonal, la_view_make(out, &g, &diagonal));
    return la_fill_data(diagonal, &one);
}
