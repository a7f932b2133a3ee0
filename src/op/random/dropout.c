/*
** Dropout of whole channels, alpha_dropout, gumbel_softmax: composites of a
** draw and arithmetic. Plain dropout is in random_composite.c.
*/
#include <math.h>

#include "op/composite.h"

#define LA_ROWS "op/def/random.def"
#include "op/call.h"
#include "op/impls.h"

enum { SELF, P, TRAINING, GENERATOR };

static la_status check_p(const la_frame *f)
{
    double p = la_arg_float(f, P);
    if (p >= 0 && p <= 1) return LA_OK;
    return la_error_at(LA_EARG, P + 1, "dropout probability has to be between "
                       "0 and 1, but got %g", p);
}

/* Nothing is dropped: the result is the argument itself. */
static bool is_off(const la_frame *f)
{
    return !la_arg_bool(f, TRAINING) || la_arg_float(f, P) == 0;
}

/* Result 0 is self itself: without a copy, as in PyTorch. */
static la_status dropout_same(la_frame *f)
{
    return LA_GIVE(f, la_tensor_retain(la_arg(f, SELF)));
}

/* Ones of probability 1 - p, zeros otherwise: one for each entry of the first
** 'kept' dims. */
static la_tensor *mask_of(la_chain *w, const la_frame *f, int kept)
{
    const la_tensor *x = la_arg(f, SELF);
    int64_t sizes[LA_MAX_DIMS];
    for (int d = 0; d < x->ndim; d++) sizes[d] = d < kept ? la_sizes(x)[d] : 1;
    la_value real = la_v_dtype(la_dtype_to_real((la_dtype)x->dtype));
    la_tensor *mask =
        R(new_empty, f->args[SELF], la_v_ints(sizes, x->ndim), real);
    if (!mask) return NULL;
    la_status status = la_run_(bernoulli_, mask,
                               la_v_float(1 - la_arg_float(f, P)),
                               f->args[GENERATOR]);
    if (status) w->status = status;
    return mask;
}

/* The last 'spatial' dims of a channel are kept or dropped together. */
static la_status drop_channels(la_frame *f, int spatial)
{
    LA_CHAIN(w);
    const la_tensor *x = la_arg(f, SELF);
    double p = la_arg_float(f, P);
    LA_TRY(check_p(f));
    if (x->ndim != spatial + 1 && x->ndim != spatial + 2)
        return la_error_at(LA_ESHAPE, 1, "%d or %d dims (batch, channels, "
                           "sizes) expected, got %d", spatial + 1, spatial + 2,
                           x->ndim);
    if (is_off(f)) return dropout_same(f);
    la_tensor *mask = mask_of(w, f, x->ndim - spatial);
    if (p < 1) mask = R(mul, mask, la_scalar_float(1 / (1 - p)));
    return la_chain_end(w, f, R(mul, f->args[SELF], mask));
}

/* dropoutNd(self, p, training, generator) */
LA_FORWARD(la_impl_dropout1d, drop_channels(f, 1))
LA_FORWARD(la_impl_dropout2d, drop_channels(f, 2))
LA_FORWARD(la_impl_dropout3d, drop_channels(f, 3))

/* -scale * alpha of SELU (G. Klambauer et al., Self-Normalizing Neural
** Networks, 2017), to which x -> a x + b is fitted. */
#define SELU_LOW (-1.7580993408473766)

static la_status drop_to_selu(la_frame *f, int kept)
{
    LA_CHAIN(w);
    double p = la_arg_float(f, P);
    LA_TRY(check_p(f));
    if (is_off(f)) return dropout_same(f);
    la_tensor *mask = mask_of(w, f, kept);
    if (p == 1) return la_chain_end(w, f, R(mul, f->args[SELF], mask));
    double a = 1 / sqrt((1 - p) * (1 + p * SELU_LOW * SELU_LOW));
    /* x a + b where kept, low a + b where not; b = -a p low */
    la_tensor *scaled = R(mul, f->args[SELF], R(mul, mask, la_scalar_float(a)));
    la_tensor *shift = R(mul, mask, la_scalar_float(-a * SELU_LOW));
    shift = R(add, shift, la_scalar_float(a * SELU_LOW * (1 - p)));
    return la_chain_end(w, f, R(add, scaled, shift));
}

/* alpha_dropout(self, p, training, generator) */
LA_FORWARD(la_impl_alpha_dropout, drop_to_selu(f, la_arg(f, SELF)->ndim))

/* feature_alpha_dropout drops channels: those are the first two dims. */
la_status la_impl_feature_alpha_dropout(la_frame *f)
{
    const la_tensor *x = la_arg(f, SELF);
    if (x->ndim < 2)
        return la_error_at(LA_ESHAPE, 1, "at least 2 dims (batch, channels) "
                           "expected, got %d", x->ndim);
    return drop_to_selu(f, 2);
}

/* gumbel_softmax(self, tau, hard, dim, generator): the noise is -log of an
** exponential number (E. Jang, S. Gu, B. Poole, 2017). */
la_status la_impl_gumbel_softmax(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *x = la_arg(f, SELF);
    la_value dim = f->args[3];
    la_tensor *noise = R(empty_like, x);
    if (noise)
        w->status = la_run_(exponential_, noise, la_v_float(1), f->args[4]);
    la_tensor *moved = R(sub, x, R(log, noise));
    la_tensor *soft = R(softmax, R(div, moved, f->args[1].d), dim);
    if (!la_arg_bool(f, 2)) return la_chain_end(w, f, soft);
    la_tensor *at = R(argmax, soft, dim, la_v_bool(true));
    la_tensor *zeros = R(zeros_like, soft);
    la_tensor *hard = R(scatter, zeros, dim, at, la_scalar_float(1));
    return la_chain_end(w, f, R(add, R(sub, hard, R(detach, soft)), soft));
}
