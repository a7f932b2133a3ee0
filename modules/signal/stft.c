/*
** Short-time Fourier transforms, with PyTorch's rules: the signal as a matrix
** of overlapping parts, a view, through the window and one transform; and back
** by adding the parts up, over the sum of the squared windows.
*/
#include "op/composite.h"

#define LA_ROWS "modules/signal/ops.def"
#include "base/size.h"
#include "op/call.h"
#include "op/impls.h"

/* The arguments that both take, in the order of their schemas. */
enum { SELF, N_FFT, HOP, WIN, WINDOW, CENTER };
enum { S_PAD = CENTER + 1, S_NORMALIZED, S_ONESIDED };
enum { I_NORMALIZED = CENTER + 1, I_ONESIDED, I_LENGTH, I_COMPLEX };

#define LEAST_OVERLAP 1e-11

typedef struct frames {
    int64_t n_fft, hop, win, batch, count;
    la_tensor *window;        /* n_fft points, or NULL: ones */
    int ndim;                 /* of the batch */
} frames;

static int64_t given_or(const la_frame *f, int k, int64_t otherwise)
{
    return la_has(f, k) ? la_arg_int(f, k) : otherwise;
}

/* The window, with zeros around up to n_fft points: a tensor, the name of one,
** or ones where there is none. */
static la_status read_window(const la_frame *f, la_chain *w, la_dtype real,
                             frames *s)
{
    const la_value *v = &f->args[WINDOW];
    int64_t left = (s->n_fft - s->win) / 2;
    int64_t pads[2] = {left, s->n_fft - s->win - left};
    la_tensor *t = la_arg(f, WINDOW);
    la_value dtype = la_v_dtype(real), none = la_v_none();
    la_value device = la_v_device((la_device)la_arg(f, SELF)->device);
    if (t && (t->ndim != 1 || t->numel != s->win))
        return la_error_at(LA_ESHAPE, WINDOW + 1, "a window of 1 dim and "
                           "win_length = %lld points expected, got %d-D with "
                           "%lld", (long long)s->win, t->ndim,
                           (long long)t->numel);
    if (t && la_is_complex((la_dtype)t->dtype))
        return la_error_at(LA_EDTYPE, WINDOW + 1, "a real window expected");
    if (v->tag == LA_VSTR)
        t = R(signal_window, *v, s->win, false, none, none, none, none, dtype,
              device);
    else if (!t && s->win < s->n_fft)
        t = R(ones, la_v_ints(&s->win, 1), dtype, device);
    if (w->status) return la_blame(w->status, WINDOW + 1);
    if (t && t->dtype != real) t = R(astype, t, dtype);
    if (t && s->win < s->n_fft) t = R(constant_pad_nd, t, la_v_ints(pads, 2));
    s->window = t;
    return w->status;
}

/* Lengths from the arguments, checked. */
static la_status read_lengths(const la_frame *f, frames *s)
{
    s->n_fft = la_arg_int(f, N_FFT);
    if (s->n_fft < 1)
        return la_error_at(LA_EARG, N_FFT + 1, "n_fft must be positive, got "
                           "%lld", (long long)s->n_fft);
    s->hop = given_or(f, HOP, s->n_fft / 4);
    s->win = given_or(f, WIN, s->n_fft);
    if (s->hop < 1)
        return la_error_at(LA_EARG, HOP + 1, "hop_length must be positive, got "
                           "%lld", (long long)s->hop);
    if (s->win >= 1 && s->win <= s->n_fft) return LA_OK;
    return la_error_at(LA_EARG, WIN + 1, "0 < win_length <= n_fft = %lld "
                       "expected, got %lld", (long long)s->n_fft,
                       (long long)s->win);
}

/* The sizes of self before its last 'own' dims, and 'a' and 'b' (negative:
** not) behind them. */
static la_value batch_sizes(const la_tensor *t, int own, int64_t a, int64_t b,
                            int64_t *sizes)
{
    int n = t->ndim - own;
    memcpy(sizes, la_sizes(t), (size_t)n * sizeof(*sizes));
    sizes[n++] = a;
    if (b >= 0) sizes[n++] = b;
    return la_v_ints(sizes, n);
}

static int64_t batch_of(const la_tensor *t, int own)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim - own; d++) n *= la_sizes(t)[d];
    return n;
}

/* ---- stft ---- */

static la_status check_signal(const la_frame *f)
{
    const la_tensor *x = la_arg(f, SELF);
    if (x->ndim > 0 && x->ndim < LA_MAX_DIMS) return LA_OK;
    return la_error_at(LA_ESHAPE, 1, "a signal of at least 1 dim expected, got "
                       "%d-D", x->ndim);
}

/* {batch, length}, with n_fft // 2 samples around it where the parts are
** centred. */
static la_tensor *as_rows(la_chain *w, const la_frame *f, frames *s)
{
    la_tensor *x = la_arg(f, SELF);
    int64_t n = la_sizes(x)[x->ndim - 1], sizes[2] = {s->batch, n};
    int64_t pads[2] = {s->n_fft / 2, s->n_fft / 2};
    x = R(reshape, x, la_v_ints(sizes, 2));
    if (la_arg_bool(f, CENTER))
        x = R(pad, x, la_v_ints(pads, 2), f->args[S_PAD]);
    return x;
}

static la_status check_parts(const la_tensor *rows, frames *s)
{
    int64_t n = la_sizes(rows)[1];
    if (n < s->n_fft)
        return la_error_at(LA_ESHAPE, N_FFT + 1, "n_fft = %lld is more than "
                           "the %lld samples there are", (long long)s->n_fft,
                           (long long)n);
    s->count = 1 + (n - s->n_fft) / s->hop;
    return LA_OK;
}

la_status la_impl_stft(la_frame *f)
{
    LA_CHAIN(w);
    frames s = {.window = NULL};
    int64_t sizes[LA_MAX_DIMS + 1];
    la_tensor *self = la_arg(f, SELF);
    LA_TRY(check_signal(f));
    LA_TRY(read_lengths(f, &s));
    la_dtype d = (la_dtype)self->dtype;
    bool complex = la_is_complex(d);
    bool onesided = la_has(f, S_ONESIDED) ? la_arg_bool(f, S_ONESIDED)
                                          : !complex;
    if (onesided && complex)
        return la_error_at(LA_EARG, S_ONESIDED + 1, "the spectra of a complex "
                           "signal have no second half to leave out");
    s.batch = batch_of(self, 1);
    LA_TRY(read_window(f, w, complex ? la_dtype_to_real(d) : d, &s));
    la_tensor *x = as_rows(w, f, &s);
    if (w->status) return w->status;
    LA_TRY(check_parts(x, &s));
    x = R(unfold, x, 1, s.n_fft, s.hop);
    if (s.window) x = R(mul, x, s.window);
    la_value norm = la_arg_bool(f, S_NORMALIZED) ? la_v_string("ortho")
                                                 : la_v_none();
    x = onesided ? R(fft_rfft, x, la_v_none(), -1, norm)
                 : R(fft_fft, x, la_v_none(), -1, norm);
    x = R(transpose, x, 1, 2);
    if (w->status) return w->status;
    la_value to = batch_sizes(self, 1, la_sizes(x)[1], s.count, sizes);
    return la_chain_end(w, f, R(reshape, x, to));
}
LA_FORWARD(la_impl_stft_named, la_impl_stft(f))

/* ---- istft ---- */

/* Bins and frames of self, and whether its bins are one half. */
static la_status check_spectra(const la_frame *f, const frames *s,
                               bool *onesided)
{
    const la_tensor *x = la_arg(f, SELF);
    if (x->ndim < 2 || la_sizes(x)[x->ndim - 1] < 1)
        return la_error_at(LA_ESHAPE, 1, "spectra {..., bins, frames} with at "
                           "least one frame expected");
    int64_t bins = la_sizes(x)[x->ndim - 2];
    *onesided = la_has(f, I_ONESIDED) ? la_arg_bool(f, I_ONESIDED)
                                      : bins != s->n_fft;
    int64_t want = *onesided ? s->n_fft / 2 + 1 : s->n_fft;
    if (bins != want)
        return la_error_at(LA_ESHAPE, 1, "%lld bins expected of n_fft = %lld, "
                           "got %lld", (long long)want, (long long)s->n_fft,
                           (long long)bins);
    if (*onesided && la_arg_bool(f, I_COMPLEX))
        return la_error_at(LA_EARG, I_COMPLEX + 1, "one half of the bins gives "
                           "a real signal: return_complex needs all of them");
    return LA_OK;
}

/* The sum of the squared windows from 'first' on: LA_EARG where it is next to
** nothing somewhere. */
static la_status overlap_of(la_chain *w, const frames *s, la_dtype real,
                            la_device device, int64_t length, int64_t first,
                            int64_t count, la_tensor **out)
{
    int64_t row[3] = {1, 1, s->n_fft}, sizes[3] = {1, s->count, s->n_fft};
    la_scalar least;
    la_tensor *t = s->window ? R(square, s->window)
        : R(ones, la_v_ints(&s->n_fft, 1), la_v_dtype(real),
            la_v_device(device));
    t = R(expand, R(reshape, t, la_v_ints(row, 3)), la_v_ints(sizes, 3));
    t = R(narrow, R(overlap_add, t, s->hop, length), 1, first, count);
    *out = t;
    if (w->status || count == 0) return w->status;
    t = R(amin, R(detach, t));
    if (w->status || !la_tensor_to_scalar(t, &least)) return w->status;
    if (least.re > LEAST_OVERLAP) return LA_OK;
    return la_error_at(LA_EARG, WINDOW + 1, "the squared windows add up to %g "
                       "somewhere: the signal is lost there (a smaller "
                       "hop_length, another window or center=true)", least.re);
}

/* The parts of the signal, {batch, frames, n_fft}. */
static la_tensor *parts_of(la_chain *w, const la_frame *f, const frames *s,
                           bool onesided)
{
    la_tensor *x = la_arg(f, SELF);
    int64_t bins = la_sizes(x)[x->ndim - 2];
    int64_t sizes[3] = {s->batch, bins, s->count};
    la_value norm = la_arg_bool(f, I_NORMALIZED) ? la_v_string("ortho")
                                                 : la_v_none();
    x = R(transpose, R(reshape, x, la_v_ints(sizes, 3)), 1, 2);
    if (la_arg_bool(f, I_COMPLEX))
        return R(fft_ifft, x, la_v_none(), -1, norm);
    if (!onesided) x = R(narrow, x, 2, 0, s->n_fft / 2 + 1);
    return R(fft_irfft, x, s->n_fft, -1, norm);
}

la_status la_impl_istft(la_frame *f)
{
    LA_CHAIN(w);
    frames s = {.window = NULL};
    int64_t sizes[LA_MAX_DIMS + 1], whole, pads[2] = {0, 0};
    la_tensor *self = la_arg(f, SELF), *overlap = NULL;
    bool onesided = true, center = la_arg_bool(f, CENTER);
    LA_TRY(read_lengths(f, &s));
    LA_TRY(check_spectra(f, &s, &onesided));
    la_dtype real = la_dtype_to_real((la_dtype)self->dtype);
    LA_TRY(read_window(f, w, real, &s));
    s.batch = batch_of(self, 2);
    s.count = la_sizes(self)[self->ndim - 1];
    if (!la_mul_ok(s.count - 1, s.hop, &whole)
        || !la_add_ok(whole, s.n_fft, &whole))
        return la_error(LA_ESHAPE, "size overflow");
    int64_t first = center ? s.n_fft / 2 : 0;
    int64_t length = given_or(f, I_LENGTH, whole - (center ? 2 : 1) * first);
    if (length < 0)
        return la_error_at(LA_EARG, I_LENGTH + 1, "length must not be "
                           "negative, got %lld", (long long)length);
    int64_t count = la_min(length, la_max(0, whole - first));
    LA_TRY(overlap_of(w, &s, real, (la_device)self->device, whole, first,
                      count, &overlap));
    la_tensor *y = parts_of(w, f, &s, onesided);
    if (s.window) y = R(mul, y, s.window);
    y = R(overlap_add, y, s.hop, whole);
    y = R(div, R(narrow, y, 1, first, count), overlap);
    pads[1] = length - count;
    if (pads[1] > 0) y = R(constant_pad_nd, y, la_v_ints(pads, 2));
    la_value to = batch_sizes(self, 2, length, -1, sizes);
    return la_chain_end(w, f, R(reshape, y, to));
}
LA_FORWARD(la_impl_istft_named, la_impl_istft(f))
