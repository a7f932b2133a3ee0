/*
** cross: c_k = a_i * b_j - a_j * b_i over a dim of size 3, (k, i, j) cyclic. A
** composite of select, mul, sub and stack, so each component is one
** element-wise pass and the derivative is that of its parts. Works for every
** dtype of mul.
*/
#include "op/frame.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/index.def"
#include "op/call.h"
#include "op/impls.h"

/* The dim of the vectors: argument 2, else the first that has size 3 in
** both. */
static la_status cross_dim(const la_frame *f, const la_shape *a,
                           const la_shape *b, int *dim)
{
    if (la_has(f, 2)) return la_wrap_dim(la_arg_int(f, 2), a->ndim, dim);
    for (*dim = 0; *dim < a->ndim; ++*dim)
        if (a->sizes[*dim] == 3 && b->sizes[*dim] == 3) return LA_OK;
    return la_error(LA_ESHAPE, "no dimension of size 3 in input");
}

/* The three components of a vector along its dim: each is selected once and
** read twice. */
typedef struct slices { la_tensor *of[3]; } slices;

static void slices_drop(slices *s)
{
    for (int k = 0; k < 3; k++) la_tensor_drop(&s->of[k]);
}
#define SLICES __attribute__((cleanup(slices_drop))) slices

static la_status slices_of(la_tensor *t, int dim, slices *s)
{
    for (int64_t k = 0; k < 3; k++)
        LA_TRY(la_run(select, &s->of[k], t, dim, k));
    return LA_OK;
}

/* Component k of a x b: a[i] * b[j] - a[j] * b[i]. */
static la_status component(const slices *a, const slices *b, int k,
                           la_tensor **out)
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    LA_LET(p, la_run(mul, &p, a->of[i], b->of[j]));
    LA_LET(q, la_run(mul, &q, a->of[j], b->of[i]));
    return la_run(sub, out, p, q);
}

/* Shapes broadcast except for their number of dims, which must agree; LA_ESHAPE
** when the dim of either does not have size 3. */
la_status la_impl_cross(la_frame *f)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    la_shape x = la_shape_of(a), y = la_shape_of(b), s;
    SLICES p = {{NULL}}, q = {{NULL}}, parts = {{NULL}};
    int dim;
    if (x.ndim != y.ndim)
        return la_error(LA_ESHAPE, "linalg.cross: inputs must have the same "
                        "number of dimensions.");
    LA_TRY(cross_dim(f, &x, &y, &dim));
    if (x.ndim == 0 || x.sizes[dim] != 3 || y.sizes[dim] != 3)
        return la_error(LA_ESHAPE, "linalg.cross: inputs dimension %d must "
                        "have length 3. Got %lld and %lld", dim + 1,
                        (long long)(x.ndim ? x.sizes[dim] : 1),
                        (long long)(y.ndim ? y.sizes[dim] : 1));
    LA_TRY(la_shape_broadcast(&x, &y, &s));
    LA_TRY(slices_of(a, dim, &p));
    LA_TRY(slices_of(b, dim, &q));
    for (int k = 0; k < 3; k++) LA_TRY(component(&p, &q, k, &parts.of[k]));
    return la_run_result(f, stack, la_v_tensors(parts.of, 3), dim);
}
