/* rope: rotary position embedding, as a composite of products. */
#include <math.h>

#include "op/composite.h"
#include "base/libm/libm.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/attention.def"
#include "op/call.h"
#include "op/impls.h"

enum { SELF, POS, BASE, DIMS, SCALE, TRADITIONAL };

/* How many features are rotated: an even number of them. */
static la_status rotated_dims(const la_frame *f, int64_t *dims)
{
    const la_tensor *x = la_arg(f, SELF);
    if (x->ndim < 2)
        return la_error_at(LA_ESHAPE, 1, "at least 2 dims (length, features) "
                           "expected, got %d", x->ndim);
    int64_t features = la_sizes(x)[x->ndim - 1];
    *dims = la_has(f, DIMS) ? la_arg_int(f, DIMS) : features;
    if (*dims >= 0 && *dims <= features && *dims % 2 == 0) return LA_OK;
    return la_error_at(LA_EARG, DIMS + 1, "an even number of features, %lld at "
                       "most, expected, got %lld", (long long)features,
                       (long long)*dims);
}

/* Angles of the pairs of each row, [length, dims / 2] or with pos's dims before
** that; in double where the input is, else in float32. */
static la_tensor *angles(la_chain *w, la_frame *f, int64_t dims)
{
    const la_tensor *x = la_arg(f, SELF), *pos = la_arg(f, POS);
    la_value wide = la_v_dtype(LA_FLOAT64);
    la_value like = la_v_dtype(x->dtype == LA_FLOAT64 ? LA_FLOAT64
                               : LA_FLOAT32);
    double step = -2 / (double)dims * la_m_log(la_arg_float(f, BASE));
    la_tensor *rows = R(to_dtype, f->args[POS], wide);
    if (pos->ndim == 0) {
        rows = R(add, R(arange, la_scalar_int(la_sizes(x)[x->ndim - 2]), wide,
                        la_v_device((la_device)x->device)), rows);
    }
    la_tensor *k = R(arange, la_scalar_int(dims / 2), wide,
                     la_v_device((la_device)x->device));
    la_tensor *rate = R(exp, R(mul, k, step));
    rate = R(mul, rate, la_arg_float(f, SCALE));
    return R(to_dtype, R(mul, R(unsqueeze, rows, -1), rate), like);
}

/* First and second members of the pairs. */
static void halves(la_chain *w, la_tensor *x, int64_t dims, bool traditional,
                   la_tensor *out[2])
{
    int64_t half = dims / 2, pairs[2] = {half, 2};
    la_tensor *head = R(narrow, x, -1, la_v_int(0), dims);
    if (traditional) head = R(unflatten, head, -1, la_v_ints(pairs, 2));
    for (int k = 0; k < 2; k++)
        out[k] = traditional ? R(select, head, -1, k)
            : R(narrow, head, -1, k * half, half);
}

/* The two halves and what is not rotated, side by side. */
static la_tensor *rope_joined(la_chain *w, la_tensor *x, int64_t dims,
                              bool traditional, la_tensor *a, la_tensor *b)
{
    int64_t rest = la_sizes(x)[x->ndim - 1] - dims;
    la_tensor *list[2] = {a, b};
    if (!a || !b) return NULL;
    la_tensor *out = traditional
        ? R(flatten, R(stack, la_v_tensors(list, 2), -1), -2, -1)
        : R(cat, la_v_tensors(list, 2), -1);
    if (rest == 0) return out;
    list[0] = out;
    list[1] = R(narrow, x, -1, dims, rest);
    if (!list[0] || !list[1]) return NULL;
    return R(cat, la_v_tensors(list, 2), -1);
}

/* rope(self, pos, base, dims, scale, traditional) */
la_status la_impl_rope(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, SELF), *part[2];
    int64_t dims = 0;
    bool traditional = la_arg_bool(f, TRADITIONAL);
    if (la_is_complex((la_dtype)la_arg(f, POS)->dtype))
        return la_error_at(LA_EDTYPE, POS + 1, "real positions expected, got "
                           "%s", la_dtype_name(
                               (la_dtype)la_arg(f, POS)->dtype));
    LA_TRY(rotated_dims(f, &dims));
    if (dims == 0) return la_run_result(f, clone, x);
    la_tensor *angle = angles(w, f, dims);
    la_tensor *c = R(cos, angle), *s = R(sin, angle);
    halves(w, x, dims, traditional, part);
    la_tensor *a = R(sub, R(mul, part[0], c), R(mul, part[1], s));
    la_tensor *b = R(add, R(mul, part[0], s), R(mul, part[1], c));
    return la_chain_end(w, f, rope_joined(w, x, dims, traditional, a, b));
}
