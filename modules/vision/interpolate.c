/*
** interpolate as users call it: modes by name, sizes or factors, and what each
** mode allows. A composite of resample and the adaptive means.
*/
#include <math.h>

#include "op/frame.h"
#include "modules/vision/axis.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/vision/ops.def"
#include "op/call.h"
#include "op/impls.h"

enum { INPUT, SIZE, FACTOR, MODE, ALIGN, RECOMPUTE, ANTIALIAS };

#define AREA LA_RESAMPLINGS

static const struct mode {
    const char *name;
    int spatial;              /* dims it is for; 0: one to three */
    int kind;                 /* la_resampling, or AREA */
} modes[] = {
    {"nearest", 0, LA_NEAREST}, {"nearest-exact", 0, LA_NEAREST_EXACT},
    {"linear", 1, LA_LINEAR}, {"bilinear", 2, LA_LINEAR},
    {"bicubic", 2, LA_CUBIC}, {"trilinear", 3, LA_LINEAR},
    {"lanczos", 2, LA_LANCZOS}, {"area", 0, AREA},
};

static la_status find_mode(const la_frame *f, int nd, const struct mode **out)
{
    const la_value *name = &f->args[MODE];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        *out = &modes[i];
        if (!la_str_is(name, modes[i].name)) continue;
        if (modes[i].spatial == 0 || modes[i].spatial == nd) return LA_OK;
        return la_error_at(LA_ESHAPE, 1, "mode '%s' needs %d dims (batch, "
                           "channels, sizes), got %d", modes[i].name,
                           modes[i].spatial + 2, nd + 2);
    }
    return la_error_at(LA_EARG, MODE + 1, "unknown mode '%s': nearest, "
                       "nearest-exact, linear, bilinear, bicubic, trilinear, "
                       "lanczos or area expected",
                       LA_QUOTED(name));
}

/* Options that do not go together. */
static la_status check_options(const la_frame *f, const struct mode *m, int nd)
{
    bool antialias = la_arg_bool(f, ANTIALIAS);
    bool filters = m->kind == LA_LINEAR || m->kind == LA_CUBIC;
    if (la_has(f, SIZE) == la_has(f, FACTOR))
        return la_error(LA_EARG, la_has(f, SIZE) ? "only one of size and "
                        "scale_factor should be given"
                        : "either size or scale_factor should be given");
    if (la_has(f, ALIGN) && !filters)
        return la_error_at(LA_EARG, ALIGN + 1, "align_corners is only for the "
                           "modes linear, bilinear, bicubic and trilinear");
    if (la_has(f, RECOMPUTE) && la_arg_bool(f, RECOMPUTE) && la_has(f, SIZE))
        return la_error_at(LA_EARG, RECOMPUTE + 1, "recompute_scale_factor has "
                           "no meaning where size is given");
    if (antialias && !(nd == 2 && (filters || m->kind == LA_LANCZOS)))
        return la_error_at(LA_EARG, ANTIALIAS + 1, "antialias is only for the "
                           "modes bilinear, bicubic and lanczos of 4 dims");
    if (m->kind == LA_LANCZOS && !antialias)
        return la_error_at(LA_EARG, MODE + 1, "mode 'lanczos' needs "
                           "antialias = true");
    return LA_OK;
}

/* Entries of a list of one or 'nd'. */
static la_status check_list(const la_value *v, int arg, int nd)
{
    if (v->ints.n == 1 || v->ints.n == nd) return LA_OK;
    return la_error_at(LA_EARG, arg + 1, "one number or a list of %d, one for "
                       "each dim after the channels, expected, got %lld", nd,
                       (long long)v->ints.n);
}

/* Sizes of the result, and the factors (bits of doubles) that weights are to be
** made of; *nfactors is 0 where the sizes say all. */
static la_status sizes_of(const la_frame *f, int nd, int64_t *sizes,
                          int64_t *factors, int *nfactors)
{
    const la_tensor *t = la_arg(f, INPUT);
    bool given = la_has(f, SIZE);
    const la_value *v = &f->args[given ? SIZE : FACTOR];
    LA_TRY(check_list(v, given ? SIZE : FACTOR, nd));
    for (int d = 0; d < nd; d++) {
        int64_t k = v->ints.n == 1 ? 0 : d;
        if (given) {
            sizes[d] = v->ints.list[k];
            continue;
        }
        double size = (double)la_sizes(t)[2 + d] * la_float_at(v, k);
        if (!(size >= 0 && size < 0x1p31))
            return la_error_at(LA_EARG, FACTOR + 1, "a scale factor of %g "
                               "makes %g of size %lld", la_float_at(v, k), size,
                               (long long)la_sizes(t)[2 + d]);
        sizes[d] = (int64_t)floor(size);
        factors[d] = v->ints.list[k];
    }
    bool again = la_has(f, RECOMPUTE) && la_arg_bool(f, RECOMPUTE);
    *nfactors = given || again ? 0 : nd;
    return LA_OK;
}

/* Means over windows that share the input out evenly. */
static la_status interpolate_means(la_frame *f, const int64_t *sizes, int nd)
{
    la_tensor *t = la_arg(f, INPUT);
    for (int d = 0; d < nd; d++)
        if (sizes[d] < 1)
            return la_error(LA_ESHAPE, "sizes should be greater than 0, but "
                            "got %lld", (long long)sizes[d]);
    return la_run_result(f, adaptive_avg_pool, t, la_v_ints(sizes, nd));
}

/* (input, size, scale_factor, mode, align_corners, recompute_scale_factor,
** antialias) */
la_status la_impl_interpolate(la_frame *f)
{
    const la_tensor *t = la_arg(f, INPUT);
    const struct mode *m;
    int64_t sizes[3], factors[3];
    int nd = t->ndim - 2, nfactors = 0;
    bool align = la_has(f, ALIGN) && la_arg_bool(f, ALIGN);
    if (nd < 1 || nd > 3)
        return la_error_at(LA_ESHAPE, 1, "3 to 5 dims (batch, channels, sizes) "
                           "expected, got %d", t->ndim);
    LA_TRY(find_mode(f, nd, &m));
    LA_TRY(check_options(f, m, nd));
    LA_TRY(sizes_of(f, nd, sizes, factors, &nfactors));
    if (m->kind == AREA) return interpolate_means(f, sizes, nd);
    la_value scales = la_v_ints(factors, nfactors);
    scales.tag = LA_VFLOATS;
    return la_run_result(f, resample, f->args[INPUT], la_v_ints(sizes, nd),
                         scales, m->kind, align, f->args[ANTIALIAS]);
}
