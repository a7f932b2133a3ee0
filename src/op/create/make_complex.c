/*
** Complex tensors from their parts: complex(real, imag) and polar(abs, angle).
*/
#include "op/move/copy.h"

#define LA_ROWS "op/def/create.def"
#include <string.h>

#include "iter/iter.h"
#include "op/call.h"
#include "op/impls.h"

/* Was it a Lua number? */
static bool is_scalar(const la_tensor *t)
{
    return (t->flags & LA_F_WRAPPED) != 0;
}

/* The dtype of the parts: one of float16, float32, float64 for both. A Lua
** number takes the dtype of the tensor it is paired with, two of them are
** float64. */
static la_status part_dtype(const la_tensor *re, const la_tensor *im,
                            la_dtype *out)
{
    la_dtype a = re->dtype, b = im->dtype;
    if (is_scalar(re) && is_scalar(im)) a = b = LA_FLOAT64;
    else if (is_scalar(re)) a = b;
    else if (is_scalar(im)) b = a;
    if (a != LA_FLOAT16 && a != LA_FLOAT32 && a != LA_FLOAT64)
        return la_error(LA_EDTYPE, "Expected both inputs to be Half, Float or "
                        "Double tensors but got %s and %s", la_dtype_title(a),
                        la_dtype_title(b));
    if (a != b)
        return la_error_at(LA_EDTYPE, 2, "Expected object of scalar type %s "
                           "but got scalar type %s for second argument",
                           la_dtype_title(a), la_dtype_title(b));
    *out = a;
    return LA_OK;
}

/* A new result with the strides that an element-wise operation would choose;
** with out= the usual rules of la_set_output. */
static la_status complex_allocate(la_frame *f, la_dtype dtype)
{
    la_iter_config c = LA_ITER_CONFIG(LA_IT_RESIZE_OUTPUTS | LA_IT_BORROWED,
                                      1, 2);
    c.operands[1] = la_arg(f, 0);
    c.operands[2] = la_arg(f, 1);
    c.static_dtype = dtype;
    LA_ITER it;
    LA_TRY(la_iter_build(&it, &c));
    la_tensor *output = la_iter_output(&it, 0);
    if (!f->outs[0]) return LA_GIVE(f, output);
    /* One of the same strides is written as it is. */
    bool alike = la_same_geometry(output, f->outs[0]);
    la_status status = la_set_output(f, 0, output->ndim, la_sizes(output),
                                     alike ? la_strides(output) : NULL, dtype);
    la_tensor_release(output);
    return status;
}

/* LA_EDTYPE for an out= of another dtype than the result's. */
static la_status check_out(const la_frame *f, la_dtype dtype)
{
    la_dtype have = f->outs[0] ? (la_dtype)f->outs[0]->dtype : LA_UNDEFINED;
    if (have == LA_UNDEFINED || have == dtype) return LA_OK;
    return la_error(LA_EDTYPE, "Expected object of scalar type %s but got "
                    "scalar type %s for argument 'out'", la_dtype_title(dtype),
                    la_dtype_title(have));
}

/* complex(real, imag): broadcast to one shape; of two Lua numbers a wrapped
** scalar, which takes part in promotion as a number does. */
la_status la_meta_complex(la_frame *f)
{
    const la_tensor *re = la_arg(f, 0), *im = la_arg(f, 1);
    la_dtype part = LA_UNDEFINED;
    LA_TRY(part_dtype(re, im, &part));
    LA_TRY(check_out(f, la_dtype_to_complex(part)));
    LA_TRY(complex_allocate(f, la_dtype_to_complex(part)));
    if (is_scalar(re) && is_scalar(im) && !f->outs[0])
        la_result(f, 0)->flags |= LA_F_WRAPPED;
    return LA_OK;
}

/* Copies 'from', broadcast, to part 'which' of each pair. */
static la_status put_part(la_tensor *pairs, int which, la_tensor *from)
{
    LA_LET(part, la_run(select, &part, pairs, -1, which));
    return la_copy_data(part, from);
}

/* The result seen as pairs of reals; a copy for each part. */
la_status la_impl_complex(la_frame *f)
{
    LA_LET(pairs, la_run(view_as_real, &pairs, la_result(f, 0)));
    LA_TRY(put_part(pairs, 0, la_arg(f, 0)));
    return put_part(pairs, 1, la_arg(f, 1));
}

/* polar(abs, angle) = abs * (cos(angle) + i sin(angle)), a composite. */
la_status la_impl_polar(la_frame *f)
{
    la_tensor *abs = la_arg(f, 0), *angle = la_arg(f, 1);
    la_dtype part;
    LA_TRY(part_dtype(abs, angle, &part));
    LA_LET(c, la_run(cos, &c, angle));
    LA_LET(s, la_run(sin, &s, angle));
    LA_LET(re, la_run(mul, &re, abs, c));
    LA_LET(im, la_run(mul, &im, abs, s));
    return la_run_result(f, complex, re, im);
}
