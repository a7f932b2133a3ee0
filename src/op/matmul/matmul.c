/*
** Products with a kernel: mm, bmm, mv, dot, vdot and those with an addend
** (addmm, addmv, baddbmm, addbmm).
**
** meta checks shapes and dtypes by PyTorch's rules; impl describes the operands
** to la_gemm_run with their strides, so nothing is copied first. All take one
** dtype, any but bool and complex32; lazy conj bits go to the kernels
** (LA_CONJ_OK).
*/
#include "op/matmul/matmul.h"

#include "base/runtime/context.h"
#include "tensor/names.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/matmul.def"
#include "op/frame.h"
#include "op/impls.h"

/* A functional call, with a tensor as first argument, that only the CPU key has
** to handle: nothing is recorded. */
bool la_is_plain_call(const la_frame *f)
{
    if (f->form != LA_FUNCTIONAL || f->keys != 1u << LA_KEY_CPU) return false;
    return f->args[0].tag == LA_VTENSOR;
}

/* Nothing but elements: no names, no lazy bits, not the meta device. */
bool la_is_plain(const la_tensor *t)
{
    return !t->names && t->device == LA_CPU
        && !(t->flags & (LA_F_CONJ | LA_F_NEG | LA_F_BATCHED));
}

/* ---- checks ---- */

/* LA_EDTYPE unless a and b, called 'na' and 'nb' in the message, agree:
** products do not promote. */
static la_status check_same(const la_tensor *a, const la_tensor *b,
                            const char *na, const char *nb)
{
    if (a->dtype == b->dtype) return LA_OK;
    return la_error(LA_EDTYPE, "expected %s and %s to have the same dtype, but "
                    "got: %s != %s", na, nb, la_dtype_name(a->dtype),
                    la_dtype_name(b->dtype));
}

/* LA_EDTYPE for the two dtypes that products have no kernel for. */
la_status la_matmul_supported(const la_tensor *a)
{
    if (a->dtype != LA_BOOL && a->dtype != LA_COMPLEX32) return LA_OK;
    return la_error(LA_EDTYPE, "matrix product not implemented for '%s'; "
                    "convert with :to() first",
                    la_dtype_title(a->dtype));
}

/* LA_ESHAPE; 'name' is the operand's in PyTorch's message. */
static la_status matmul_check_matrix(const la_tensor *t, const char *name)
{
    if (t->ndim == 2) return LA_OK;
    return la_error(LA_ESHAPE, "%s must be a matrix, got %d-D tensor", name,
                    t->ndim);
}

/* a [m, k] and b [k, n]. LA_EDTYPE or LA_ESHAPE; both are matrices. */
static la_status matmul_check_pair(const la_tensor *a, const la_tensor *b)
{
    LA_TRY(check_same(a, b, "m1", "m2"));
    LA_TRY(la_matmul_supported(a));
    if (la_sizes(a)[1] == la_sizes(b)[0]) return LA_OK;
    return la_error(LA_ESHAPE, "mat1 and mat2 shapes cannot be multiplied "
                    "(%lldx%lld and %lldx%lld)", (long long)la_sizes(a)[0],
                    (long long)la_sizes(a)[1], (long long)la_sizes(b)[0],
                    (long long)la_sizes(b)[1]);
}

/* a [n, m, k] and b [n, k, p]. Batches do not broadcast in bmm: LA_ESHAPE. */
static la_status check_batches(const la_tensor *a, const la_tensor *b)
{
    const int64_t *x = la_sizes(a), *y = la_sizes(b);
    if (a->ndim != 3)
        return la_error(LA_ESHAPE, "batch1 must be a 3D tensor");
    if (b->ndim != 3)
        return la_error(LA_ESHAPE, "batch2 must be a 3D tensor");
    LA_TRY(check_same(a, b, "batch1", "batch2"));
    LA_TRY(la_matmul_supported(a));
    if (x[0] == y[0] && x[2] == y[1]) return LA_OK;
    return la_error(LA_ESHAPE, "Expected size for first two dimensions of "
                    "batch2 tensor to be: [%lld, %lld] but got: [%lld, %lld].",
                    (long long)x[0], (long long)x[2], (long long)y[0],
                    (long long)y[1]);
}

/* 'self' must broadcast to the result's sizes. */
static la_status check_addend(const la_tensor *self, int ndim,
                              const int64_t *sizes)
{
    bool fits = self->ndim <= ndim;
    for (int d = 1; fits && d <= self->ndim; d++) {
        int64_t have = la_sizes(self)[self->ndim - d];
        fits = have == sizes[ndim - d] || have == 1;
        if (!fits)
            return la_error(LA_ESHAPE, "The expanded size of the tensor (%lld) "
                            "must match the existing size (%lld) at "
                            "non-singleton dimension %d",
                            (long long)sizes[ndim - d], (long long)have,
                            ndim - d + 1);
    }
    if (fits) return LA_OK;
    return la_error(LA_ESHAPE, "expand: the number of sizes provided (%d) must "
                    "be greater or equal to the number of dimensions in the "
                    "tensor (%d)", ndim, self->ndim);
}

/* Factor 'name', argument k: integers take no fractions, reals no complex
** factor. */
static la_status matmul_check_factor(const la_frame *f, int k, const char *name)
{
    la_kind kind = f->args[k].scalar.kind;
    la_dtype d = (la_dtype)la_arg(f, 1)->dtype;
    if (la_is_integral(d) && kind >= LA_KFLOAT)
        return la_error(LA_EDTYPE, "For integral input tensors, argument %s "
                        "must not be a floating point number.", name);
    if (!la_is_complex(d) && kind == LA_KCOMPLEX)
        return la_error(LA_EDTYPE, "For non-complex input tensors, argument %s "
                        "must not be a complex number.", name);
    return LA_OK;
}

/* ---- names: contracted dims go, the others stay ---- */

/* "*" is the name of a dim without one; NULL without memory for it. */
static const char *name_at(const la_tensor *t, int d)
{
    return t->names ? t->names->name[d] : la_name_intern("*", 1);
}

/* Result dims take name 'd' of a (d >= 0) or of b (~d). from[d] for each of the
** n dims of the result; nothing to do where neither operand has names. */
static la_status matmul_put_names(la_frame *f, const la_tensor *a,
                                  const la_tensor *b, int n, const int *from)
{
    if (!a->names && !b->names) return LA_OK;
    const char *list[LA_MAX_DIMS];
    la_names *names;
    for (int d = 0; d < n; d++) {
        list[d] = from[d] >= 0 ? name_at(a, from[d]) : name_at(b, ~from[d]);
        if (!list[d]) return LA_ENOMEM;
    }
    LA_TRY(la_names_new(n, list, &names));
    la_tensor_set_names(la_result(f, 0), names);
    return LA_OK;
}

/* ---- operands ---- */

/* 't' as a matrix of its dims 'row' and 'col'; -1: a dim that 't' lacks.
** Strides in elements; the memory stays the tensor's. */
static la_gemm_mat mat_of(const la_tensor *t, int row, int col)
{
    return (la_gemm_mat){la_data(t), row < 0 ? 0 : la_strides(t)[row],
                         col < 0 ? 0 : la_strides(t)[col]};
}

/* The lazy bit: kernels conjugate while they read. */
static bool is_conj(const la_tensor *t)
{
    return (t->flags & LA_F_CONJ) != 0;
}

/* Sizes and strides of a batch, which la_gemm refers to. */
typedef struct batch_steps {
    int64_t sizes[LA_MAX_DIMS], a[LA_MAX_DIMS], b[LA_MAX_DIMS],
        out[LA_MAX_DIMS], add[LA_MAX_DIMS];
} batch_steps;

/* Sizes and operands of out = a @ b over the last two dims, the dims before
** being a batch of equal sizes. 'steps' (NULL without a batch) must outlive the
** call of la_gemm_run. */
static void set_operands(la_gemm *g, batch_steps *steps, const la_tensor *a,
                         const la_tensor *b, const la_tensor *out)
{
    int nb = out->ndim - 2;
    g->m = la_sizes(a)[nb];
    g->k = la_sizes(a)[nb + 1];
    g->n = la_sizes(b)[nb + 1];
    g->a = mat_of(a, nb, nb + 1);
    g->b = mat_of(b, nb, nb + 1);
    g->out = mat_of(out, nb, nb + 1);
    g->conj_a = is_conj(a);
    g->conj_b = is_conj(b);
    g->nbatch = nb;
    if (nb == 0) return;
    for (int d = 0; d < nb; d++) {
        steps->sizes[d] = la_sizes(out)[d];
        steps->a[d] = la_strides(a)[d];
        steps->b[d] = la_strides(b)[d];
        steps->out[d] = la_strides(out)[d];
        steps->add[d] = 0;
    }
    g->batch = steps->sizes;
    g->a_step = steps->a;
    g->b_step = steps->b;
    g->out_step = steps->out;
    g->add_step = steps->add;
}

/* Batches that are rows of one long matrix against the same b: one product.
** Innermost batch dims first, as far as strides allow. One product of many rows
** uses the kernel better than many of few. */
static void merge_batch(la_gemm *g)
{
    for (int d = g->nbatch - 1; d >= 0; d--) {
        bool same = g->b_step[d] == 0 || g->batch[d] == 1;
        bool joined = g->a_step[d] == g->m * g->a.rs
            && g->out_step[d] == g->m * g->out.rs;
        if (!same || !joined || g->add.data) return;
        g->m *= g->batch[d];
        g->nbatch = d;
    }
}

/* The stride of 'self' for dim d of a result with ndim dims: 0 where it is
** broadcast. */
static int64_t addend_stride(const la_tensor *self, int ndim, int d)
{
    int own = d - (ndim - self->ndim);
    if (own < 0 || la_sizes(self)[own] == 1) return 0;
    return la_strides(self)[own];
}

/* alpha and beta (arguments 4 and 3) and the addend. A factor of 0 means that
** its operand is not read, so NaN in it does not reach the result. */
static void put_factors(const la_frame *f, la_gemm *g, int ndim, int row,
                        int col)
{
    const la_tensor *self = la_arg(f, 0);
    const la_scalar *beta = &f->args[3].scalar;
    g->beta = la_gemm_scalar_of(beta);
    g->alpha = la_gemm_scalar_of(&f->args[4].scalar);
    if (g->alpha.re == 0 && g->alpha.im == 0) g->k = 0;  /* a, b unread */
    if (g->beta.re == 0 && g->beta.im == 0) return;
    g->add = (la_gemm_mat){la_data(self),
        row < 0 ? 0 : addend_stride(self, ndim, row),
        col < 0 ? 0 : addend_stride(self, ndim, col)};
    g->conj_add = is_conj(self);
}

/* ---- mm ---- */

/* mm: [m, k] @ [k, n] -> [m, n]. */
la_status la_meta_mm(la_frame *f)
{
    static const int from[] = {0, ~1};
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    LA_TRY(matmul_check_matrix(a, "self"));
    LA_TRY(matmul_check_matrix(b, "mat2"));
    LA_TRY(matmul_check_pair(a, b));
    int64_t sizes[2] = {la_sizes(a)[0], la_sizes(b)[1]};
    LA_TRY(la_set_output(f, 0, 2, sizes, NULL, (la_dtype)a->dtype));
    return matmul_put_names(f, a, b, 2, from);
}

la_status la_impl_mm(la_frame *f)
{
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1), *c = la_result(f, 0);
    la_gemm g;
    la_gemm_init(&g, (la_dtype)c->dtype);
    set_operands(&g, NULL, a, b, c);
    return la_gemm_run(&g);
}

/* ---- batches ---- */

/* bmm: [n, m, k] @ [n, k, p] -> [n, m, p]. */
la_status la_meta_bmm(la_frame *f)
{
    static const int from[] = {0, 1, ~2};
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    LA_TRY(check_batches(a, b));
    int64_t sizes[3] = {la_sizes(a)[0], la_sizes(a)[1], la_sizes(b)[2]};
    LA_TRY(la_set_output(f, 0, 3, sizes, NULL, (la_dtype)a->dtype));
    return matmul_put_names(f, a, b, 3, from);
}

la_status la_impl_bmm(la_frame *f)
{
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1), *c = la_result(f, 0);
    la_gemm g;
    batch_steps steps;
    la_gemm_init(&g, (la_dtype)c->dtype);
    set_operands(&g, &steps, a, b, c);
    merge_batch(&g);
    return la_gemm_run(&g);
}

/* batched_mm: as bmm with any number of batch dims, which must be equal (not in
** PyTorch; matmul and einsum expand to it). */
la_status la_meta_batched_mm(la_frame *f)
{
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    int64_t sizes[LA_MAX_DIMS];
    int n = a->ndim, from[LA_MAX_DIMS];
    if (n < 2 || b->ndim != n)
        return la_error(LA_ESHAPE, "batched_mm needs two tensors with the same "
                        "number of dims, at least 2");
    LA_TRY(check_same(a, b, "m1", "m2"));
    LA_TRY(la_matmul_supported(a));
    for (int d = 0; d < n - 2; d++) {
        sizes[d] = la_sizes(a)[d];
        from[d] = d;
        if (sizes[d] != la_sizes(b)[d])
            return la_error(LA_ESHAPE, "batch sizes differ at dimension %d",
                            d + 1);
    }
    sizes[n - 2] = la_sizes(a)[n - 2];
    sizes[n - 1] = la_sizes(b)[n - 1];
    from[n - 2] = n - 2;
    from[n - 1] = ~(n - 1);
    if (la_sizes(a)[n - 1] != la_sizes(b)[n - 2])
        return la_error(LA_ESHAPE, "mat1 and mat2 shapes cannot be multiplied "
                        "(%lldx%lld and %lldx%lld)", (long long)sizes[n - 2],
                        (long long)la_sizes(a)[n - 1],
                        (long long)la_sizes(b)[n - 2],
                        (long long)sizes[n - 1]);
    LA_TRY(la_set_output(f, 0, n, sizes, NULL, (la_dtype)a->dtype));
    return matmul_put_names(f, a, b, n, from);
}

LA_FORWARD(la_impl_batched_mm, la_impl_bmm(f))

/* ---- vectors ---- */

/* m [n, k] and v [k]; 'has_self' is about the message only. */
static la_status matmul_check_vector(const la_tensor *self, const la_tensor *m,
                                     const la_tensor *v, bool has_self)
{
    if (m->ndim != 2 || v->ndim != 1 || self->ndim > 1)
        return la_error(LA_ESHAPE, "vector + matrix @ vector expected, got "
                        "%d, %d, %d", has_self ? self->ndim : 1, m->ndim,
                        v->ndim);
    if (la_sizes(m)[1] != la_sizes(v)[0])
        return la_error(LA_ESHAPE, "size mismatch, got input (%lld), mat "
                        "(%lldx%lld), vec (%lld)", (long long)la_sizes(m)[0],
                        (long long)la_sizes(m)[0], (long long)la_sizes(m)[1],
                        (long long)la_sizes(v)[0]);
    LA_TRY(check_same(m, v, "mat", "vec"));
    return la_matmul_supported(m);
}

/* A vector is a matrix of one column. Without an addend; m [n, k], v [k], out
** [n]. */
static void vector_operands(la_gemm *g, const la_tensor *m, const la_tensor *v,
                            const la_tensor *out)
{
    la_gemm_init(g, (la_dtype)out->dtype);
    g->m = la_sizes(m)[0];
    g->k = la_sizes(m)[1];
    g->n = 1;
    g->a = mat_of(m, 0, 1);
    g->b = mat_of(v, 0, -1);
    g->out = mat_of(out, 0, -1);
    g->conj_a = is_conj(m);
    g->conj_b = is_conj(v);
}

/* mv: [n, k] @ [k] -> [n]. */
la_status la_meta_mv(la_frame *f)
{
    static const int from[] = {0};
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    LA_TRY(matmul_check_vector(b, a, b, false));
    LA_TRY(la_set_output(f, 0, 1, la_sizes(a), NULL, (la_dtype)a->dtype));
    return matmul_put_names(f, a, b, 1, from);
}

la_status la_impl_mv(la_frame *f)
{
    la_gemm g;
    vector_operands(&g, la_arg(f, 0), la_arg(f, 1), la_result(f, 0));
    return la_gemm_run(&g);
}

/* dot, vdot: [k] . [k] -> []; vdot conjugates the first. */
la_status la_meta_dot(la_frame *f)
{
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    if (a->ndim != 1 || b->ndim != 1)
        return la_error(LA_ESHAPE, "1D tensors expected, but got %dD and %dD "
                        "tensors", a->ndim, b->ndim);
    if (a->dtype != b->dtype)
        return la_error(LA_EDTYPE, "dot : expected both vectors to have same "
                        "dtype, but found %s and %s",
                        la_dtype_title(a->dtype),
                        la_dtype_title(b->dtype));
    LA_TRY(la_matmul_supported(a));
    if (a->numel != b->numel)
        return la_error(LA_ESHAPE, "inconsistent tensor size, expected tensor "
                        "[%lld] and src [%lld] to have the same number of "
                        "elements, but got %lld and %lld elements respectively",
                        (long long)a->numel, (long long)b->numel,
                        (long long)a->numel, (long long)b->numel);
    return la_set_output(f, 0, 0, NULL, NULL, (la_dtype)a->dtype);
}

/* A row times a column; conj flips the lazy bit of the row. la_gemm_run chooses
** the kernel, as for every product. */
static la_status run_dot(la_frame *f, bool conj)
{
    la_gemm g;
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    la_gemm_init(&g, (la_dtype)a->dtype);
    g.m = g.n = 1;
    g.k = a->numel;
    g.a = mat_of(a, -1, 0);
    g.b = mat_of(b, 0, -1);
    g.out = mat_of(la_result(f, 0), -1, -1);
    g.conj_a = is_conj(a) != (conj && la_is_complex((la_dtype)a->dtype));
    g.conj_b = is_conj(b);
    return la_gemm_run(&g);
}

LA_FORWARD(la_impl_dot, run_dot(f, false))
LA_FORWARD(la_meta_vdot, la_meta_dot(f))
LA_FORWARD(la_impl_vdot, run_dot(f, true))

/* ---- with an addend ---- */

/* beta * self + alpha * product: self must broadcast to 'sizes' and have the
** operands' dtype. */
static la_status meta_added(la_frame *f, int ndim, const int64_t *sizes)
{
    const la_tensor *self = la_arg(f, 0), *a = la_arg(f, 1);
    LA_TRY(check_addend(self, ndim, sizes));
    if (self->dtype != a->dtype)
        return la_error(LA_EDTYPE,
                        "self and mat2 must have the same dtype, but "
                        "got %s and %s",
                        la_dtype_title(self->dtype), la_dtype_title(a->dtype));
    LA_TRY(matmul_check_factor(f, 3, "beta"));
    LA_TRY(matmul_check_factor(f, 4, "alpha"));
    return la_set_output(f, 0, ndim, sizes, NULL, (la_dtype)a->dtype);
}

/* addmm: self [m, n] or broadcast, [m, k] @ [k, n]. */
la_status la_meta_addmm(la_frame *f)
{
    static const int from[] = {0, ~1};
    const la_tensor *a = la_arg(f, 1), *b = la_arg(f, 2);
    LA_TRY(matmul_check_matrix(a, "mat1"));
    LA_TRY(matmul_check_matrix(b, "mat2"));
    LA_TRY(matmul_check_pair(a, b));
    int64_t sizes[2] = {la_sizes(a)[0], la_sizes(b)[1]};
    LA_TRY(meta_added(f, 2, sizes));
    return matmul_put_names(f, a, b, 2, from);
}

la_status la_impl_addmm(la_frame *f)
{
    la_gemm g;
    const la_tensor *c = la_result(f, 0);
    la_gemm_init(&g, (la_dtype)c->dtype);
    set_operands(&g, NULL, la_arg(f, 1), la_arg(f, 2), c);
    put_factors(f, &g, 2, 0, 1);
    return la_gemm_run(&g);
}

/* addmv: self [n] or [], [n, k] @ [k]. */
la_status la_meta_addmv(la_frame *f)
{
    static const int from[] = {0};
    const la_tensor *a = la_arg(f, 1), *b = la_arg(f, 2);
    LA_TRY(matmul_check_vector(la_arg(f, 0), a, b, true));
    LA_TRY(meta_added(f, 1, la_sizes(a)));
    return matmul_put_names(f, a, b, 1, from);
}

la_status la_impl_addmv(la_frame *f)
{
    la_gemm g;
    vector_operands(&g, la_arg(f, 1), la_arg(f, 2), la_result(f, 0));
    put_factors(f, &g, 1, 0, -1);
    return la_gemm_run(&g);
}

/* baddbmm: self [n, m, p] or broadcast, batches as bmm. */
la_status la_meta_baddbmm(la_frame *f)
{
    static const int from[] = {0, 1, ~2};
    const la_tensor *a = la_arg(f, 1), *b = la_arg(f, 2);
    LA_TRY(check_batches(a, b));
    int64_t sizes[3] = {la_sizes(a)[0], la_sizes(a)[1], la_sizes(b)[2]};
    LA_TRY(meta_added(f, 3, sizes));
    return matmul_put_names(f, a, b, 3, from);
}

la_status la_impl_baddbmm(la_frame *f)
{
    la_gemm g;
    batch_steps steps;
    const la_tensor *c = la_result(f, 0);
    la_gemm_init(&g, (la_dtype)c->dtype);
    set_operands(&g, &steps, la_arg(f, 1), la_arg(f, 2), c);
    steps.add[0] = addend_stride(la_arg(f, 0), 3, 0);
    put_factors(f, &g, 3, 1, 2);
    return la_gemm_run(&g);
}

/* addbmm: the sum over the batch of bmm, plus self [m, p]. */
la_status la_meta_addbmm(la_frame *f)
{
    static const int from[] = {1, ~2};
    const la_tensor *a = la_arg(f, 1), *b = la_arg(f, 2);
    LA_TRY(check_batches(a, b));
    int64_t sizes[2] = {la_sizes(a)[1], la_sizes(b)[2]};
    LA_TRY(meta_added(f, 2, sizes));
    return matmul_put_names(f, a, b, 2, from);
}

/* One product per matrix of the batch, each added to the result so far; the
** first takes beta * self. */
la_status la_impl_addbmm(la_frame *f)
{
    la_gemm g;
    const la_tensor *a = la_arg(f, 1), *b = la_arg(f, 2), *c = la_result(f, 0);
    int64_t size = (int64_t)la_itemsize(c), count = la_sizes(a)[0];
    la_gemm_init(&g, (la_dtype)c->dtype);
    g.m = la_sizes(c)[0];
    g.n = la_sizes(c)[1];
    g.k = la_sizes(a)[2];
    g.a = mat_of(a, 1, 2);
    g.b = mat_of(b, 1, 2);
    g.out = mat_of(c, 0, 1);
    g.conj_a = is_conj(a);
    g.conj_b = is_conj(b);
    put_factors(f, &g, 2, 0, 1);
    if (count == 0) g.k = 0;
    for (int64_t i = 0; i == 0 || i < count; i++) {
        LA_TRY(la_gemm_run(&g));
        g.a.data += la_strides(a)[0] * size;
        g.b.data += la_strides(b)[0] * size;
        g.add = g.out;
        g.conj_add = false;
        g.beta = (la_gemm_scalar){1, 0, 1};
    }
    return LA_OK;
}
