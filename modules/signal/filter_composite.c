/*
** lfilter and sosfilt: arguments of any dtype and shape made ready for
** filter_sections, which has the derivatives.
*/
#include "base/runtime/context.h"
#include "op/composite.h"
#include "tensor/promote.h"

#define LA_ROWS "modules/signal/ops.def"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* A cascade on its way: the arguments in the dtype of the run. */
typedef struct ready {
    la_tensor *b, *a;         /* {sections, order + 1} */
    la_tensor *x, *zi;        /* zi NULL: from rest, no state comes back */
    la_dtype dtype, run;      /* of the results; what is computed in */
    int dim;
} ready;

/* The dtypes of a call on these arguments of f: what they promote to, the
** default dtype for integers; 16 bits are computed as 32. */
static la_status choose_dtype(const la_frame *f, const int *args, int n,
                              ready *r)
{
    la_result_type type = LA_RESULT_TYPE_INIT;
    for (int k = 0; k < n; k++)
        la_result_type_add(&type, la_arg(f, args[k]));
    LA_TRY(la_result_type_get(&type, &r->dtype));
    if (!la_is_inexact(r->dtype))
        r->dtype = (la_dtype)la_ctx()->default_dtype;
    r->run = la_is_half(r->dtype) ? LA_FLOAT32
        : r->dtype == LA_COMPLEX32 ? LA_COMPLEX64 : r->dtype;
    return LA_OK;
}

static la_tensor *as_run(la_chain *w, const ready *r, la_tensor *t)
{
    return t->dtype == r->run ? t : R(astype, t, la_v_dtype(r->run));
}

static la_status wrap_dim(const la_tensor *x, int arg, const la_value *dim,
                          ready *r)
{
    if (x->ndim == 0)
        return la_error_at(LA_ESHAPE, arg + 1,
                           "a signal of at least 1 dim expected, got a number");
    return la_wrap_dim(dim->i, x->ndim, &r->dim);
}

/* zi expanded to x's sizes with 'order' along the dim, behind 'sections' where
** that is not negative; argument 'arg' of the call. */
static la_tensor *expand_states(la_chain *w, const ready *r, la_tensor *zi,
                                int64_t sections, int64_t order, int arg)
{
    int64_t sizes[LA_MAX_DIMS + 1], *at = sizes;
    char want[100], got[100];
    if (w->status) return NULL;
    if (sections >= 0) *at++ = sections;
    memcpy(at, la_sizes(r->x), (size_t)r->x->ndim * sizeof(*at));
    at[r->dim] = order;
    int ndim = r->x->ndim + (sections >= 0);
    bool fits = zi->ndim == ndim;
    for (int d = 0; d < ndim && fits; d++)
        fits = la_sizes(zi)[d] == sizes[d] || la_sizes(zi)[d] == 1;
    if (fits && la_has_sizes(zi, ndim, sizes)) return zi;
    if (fits) return R(expand, zi, la_v_ints(sizes, ndim));
    w->status = la_error_at(LA_ESHAPE, arg + 1, "states zi of the sizes %s "
        "expected, got %s", la_sizes_text(ndim, sizes, want, sizeof(want)),
        la_sizes_text(zi->ndim, la_sizes(zi), got, sizeof(got)));
    return NULL;
}

/* The run; y and, where the caller gave zi, the states after it (sections in
** front) become results of f. */
static la_status run_ready(la_frame *f, const ready *r)
{
    la_value v[LA_MAX_RESULTS] = {{.tag = LA_VNONE}};
    LA_TRY(la_run_many(filter_sections, v, r->b, r->a, r->x,
                       la_v_tensor(r->zi), r->dim));
    for (int k = 0; k < 2; k++) {
        la_tensor *t = v[k].tensor, *cast = NULL;
        la_status status = LA_OK;
        if (k == 1 && !r->zi) {
            la_tensor_release(t);
            break;
        }
        if (r->run != r->dtype) {
            status = la_run(astype, &cast, t, la_v_dtype(r->dtype));
            la_tensor_release(t);
            t = cast;
        }
        if (status) {
            if (k == 0) la_tensor_release(v[1].tensor);
            return status;
        }
        la_set_result(f, k, t);
    }
    return LA_OK;
}

/* ---- lfilter: (b, a, x, dim, zi) ---- */

enum { F_B, F_A, F_X, F_DIM, F_ZI };

static la_status check_vector(const la_frame *f, int k, const char *name)
{
    const la_tensor *t = la_arg(f, k);
    if (t->ndim > 1)
        return la_error_at(LA_ESHAPE, k + 1, "the coefficients %s are one "
                           "vector, got %d-D", name, t->ndim);
    if (t->numel > 0) return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "at least one coefficient expected in "
                       "%s", name);
}

/* A row of 'n' coefficients, zeros behind, in the dtype of the run. */
static la_tensor *as_row(la_chain *w, const ready *r, la_tensor *t, int64_t n)
{
    int64_t sizes[2] = {1, -1}, pad[2] = {0, n - t->numel};
    t = R(reshape, as_run(w, r, t), la_v_ints(sizes, 2));
    return pad[1] > 0 ? R(constant_pad_nd, t, la_v_ints(pad, 2)) : t;
}

/* Both over the leading coefficient of a: LA_EARG where that is 0. */
static la_status lfilter_normalise(la_chain *w, ready *r)
{
    la_scalar lead;
    la_tensor *a0 = R(narrow, r->a, 1, 0, 1);
    la_tensor *value = R(detach, a0);
    if (w->status) return w->status;
    if (la_tensor_to_scalar(value, &lead)) {
        if (lead.re == 0 && lead.im == 0)
            return la_error_at(LA_EARG, F_A + 1, "the leading coefficient a[1] "
                               "is 0");
        if (lead.re == 1 && lead.im == 0 && !la_grad_flag(a0)) return LA_OK;
    }
    r->b = R(div, r->b, a0);
    r->a = R(div, r->a, a0);
    return w->status;
}

static la_status lfilter(la_frame *f, la_tensor *zi)
{
    static const int args[] = {F_B, F_A, F_X, F_ZI};
    LA_CHAIN(w);
    ready r = {.zi = NULL};
    LA_TRY(check_vector(f, F_B, "b"));
    LA_TRY(check_vector(f, F_A, "a"));
    LA_TRY(choose_dtype(f, args, zi ? 4 : 3, &r));
    LA_TRY(wrap_dim(la_arg(f, F_X), F_X, &f->args[F_DIM], &r));
    int64_t n = la_max(la_arg(f, F_B)->numel, la_arg(f, F_A)->numel);
    r.x = as_run(w, &r, la_arg(f, F_X));
    r.b = as_row(w, &r, la_arg(f, F_B), n);
    r.a = as_row(w, &r, la_arg(f, F_A), n);
    if (w->status) return w->status;
    LA_TRY(lfilter_normalise(w, &r));
    if (zi) {
        zi = expand_states(w, &r, as_run(w, &r, zi), -1, n - 1, F_ZI);
        r.zi = w->status ? NULL : R(unsqueeze, zi, 0);
    }
    if (w->status) return w->status;
    LA_TRY(run_ready(f, &r));
    if (!zi) return LA_OK;
    la_tensor *zf = f->results[1].tensor, *state = NULL;
    LA_TRY(la_run(select, &state, zf, 0, 0));
    la_tensor_release(zf);
    la_set_result(f, 1, state);
    return LA_OK;
}

LA_FORWARD(la_impl_signal_lfilter, lfilter(f, NULL))
LA_FORWARD(la_impl_signal_lfilter_zi, lfilter(f, la_arg(f, F_ZI)))

/* ---- sosfilt: (sos, x, dim, zi) ---- */

enum { S_SOS, S_X, S_DIM, S_ZI };

/* {sections, 6} with ones for a0, as far as there are values to look at. */
static la_status check_sections(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *sos = la_arg(f, S_SOS);
    la_scalar same;
    if (sos->ndim != 2 || la_sizes(sos)[1] != 6)
        return la_error_at(LA_ESHAPE, S_SOS + 1, "sections {n, 6} with the "
                           "columns b0 b1 b2 a0 a1 a2 expected, got %d-D%s",
                           sos->ndim, sos->ndim == 2 ? " of other sizes" : "");
    la_tensor *lead = R(select, R(detach, sos), 1, 3);
    la_tensor *ones = R(all_dim, R(eq, lead, 1));
    if (w->status) return w->status;
    if (!la_tensor_to_scalar(ones, &same) || same.re != 0) return LA_OK;
    return la_error_at(LA_EARG, S_SOS + 1, "a0, column 4, is 1 in every "
                       "section: divide the section by it");
}

/* Section k of the cascade as a cascade of its own, from *x to *x; its state,
** where there is one, comes back as *zf. Both are owned. */
static la_status run_section(const ready *r, int64_t k, la_tensor **x,
                             la_tensor **zf)
{
    LA_CHAIN(w);
    la_value v[LA_MAX_RESULTS] = {{.tag = LA_VNONE}};
    la_tensor *b = R(narrow, r->b, 0, k, 1);
    la_tensor *a = R(narrow, r->a, 0, k, 1);
    la_tensor *zi = r->zi ? R(narrow, r->zi, 0, k, 1) : NULL;
    if (w->status) return w->status;
    LA_TRY(la_run_many(filter_sections, v, b, a, *x, la_v_tensor(zi), r->dim));
    la_tensor_release(*x);
    *x = v[0].tensor;
    *zf = v[1].tensor;
    return LA_OK;
}

/* Section by section, so that every coefficient and state has its gradient. */
static la_status run_apart(la_frame *f, const ready *r, int64_t sections)
{
    la_value list = {.tag = LA_VNONE};
    la_tensor *x = la_tensor_retain(r->x), *y = NULL, *zf = NULL;
    la_status status = la_list_new(sections, &list);
    for (int64_t k = 0; k < sections && !status; k++)
        status = run_section(r, k, &x, &list.tensors.list[k]);
    if (!status) status = la_run(astype, &y, x, la_v_dtype(r->dtype));
    if (!status && r->zi) {
        LA_OWNED wide = NULL;
        status = la_run(cat, &wide, list, 0);
        if (!status) status = la_run(astype, &zf, wide, la_v_dtype(r->dtype));
    }
    la_value_drop(&list);
    la_tensor_release(x);
    if (status) {
        la_tensor_drop(&y);
        return status;
    }
    la_set_result(f, 0, y);
    if (r->zi) la_set_result(f, 1, zf);
    return LA_OK;
}

static la_status sosfilt(la_frame *f, la_tensor *zi)
{
    static const int args[] = {S_SOS, S_X, S_ZI};
    LA_CHAIN(w);
    ready r = {.zi = NULL};
    la_tensor *sos = la_arg(f, S_SOS), *x = la_arg(f, S_X);
    LA_TRY(check_sections(f));
    LA_TRY(choose_dtype(f, args, zi ? 3 : 2, &r));
    LA_TRY(wrap_dim(x, S_X, &f->args[S_DIM], &r));
    int64_t sections = la_sizes(sos)[0];
    bool apart = la_grad_flag(sos)
        || (zi && (la_grad_flag(zi) || la_grad_flag(x)));
    r.x = as_run(w, &r, x);
    sos = as_run(w, &r, sos);
    r.b = R(narrow, sos, 1, 0, 3);
    r.a = R(narrow, sos, 1, 3, 3);
    if (zi)
        r.zi = expand_states(w, &r, as_run(w, &r, zi), sections, 2, S_ZI);
    if (w->status) return w->status;
    if (apart && sections > 0) return run_apart(f, &r, sections);
    return run_ready(f, &r);
}

LA_FORWARD(la_impl_signal_sosfilt, sosfilt(f, NULL))
LA_FORWARD(la_impl_signal_sosfilt_zi, sosfilt(f, la_arg(f, S_ZI)))
