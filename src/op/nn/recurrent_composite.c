/*
** Recurrent cells as composites (rnn_cell, lstm_cell, gru_cell), and a sequence
** of steps by them, which is how double backward of 'recurrent' is computed.
*/
#include "base/runtime/memory.h"
#include "op/nn/recurrent.h"
#include "op/composite.h"

#define LA_ROWS "op/def/recurrent.def"
#include "op/call.h"
#include "op/impls.h"

/* The order is that of la_recurrent_kind. */
la_status la_recurrent_kind_of(const la_value *word, int arg,
                               la_recurrent_kind *out)
{
    static const char *const words[] = {"tanh", "relu", "lstm", "gru"};
    for (int k = 0; k < LA_RECURRENT_KINDS; k++)
        if (la_str_is(word, words[k])) {
            *out = (la_recurrent_kind)k;
            return LA_OK;
        }
    return la_error_at(LA_EARG, arg + 1, "'%s' is no kind of cell: 'tanh', "
                       "'relu', 'lstm' or 'gru' expected", LA_QUOTED(word));
}

/* Columns k * n to (k + 1) * n of the gates. */
static la_tensor *block(la_chain *w, la_tensor *t, int k, int64_t n)
{
    int64_t last = -1, from = k * n;
    return R(narrow, t, last, from, n);
}

/* Activation of block k of a + b. */
static la_tensor *gate(la_chain *w, la_tensor *a, la_tensor *b, int k,
                       int64_t n, bool tanh)
{
    la_tensor *x = block(w, a, k, n), *y = block(w, b, k, n);
    la_tensor *sum = R(add, x, y);
    return tanh ? R(tanh, sum) : R(sigmoid, sum);
}

/* Gates in PyTorch's order i, f, g, o; c' = f c + i g, h' = o tanh(c')
** (Hochreiter & Schmidhuber 1997). */
static la_tensor *lstm(la_chain *w, la_tensor *a, la_tensor *b, la_tensor *c,
                       int64_t n, la_tensor **cell)
{
    la_tensor *i = gate(w, a, b, 0, n, false), *f = gate(w, a, b, 1, n, false);
    la_tensor *g = gate(w, a, b, 2, n, true), *o = gate(w, a, b, 3, n, false);
    la_tensor *kept = R(mul, f, c);
    *cell = R(add, kept, R(mul, i, g));
    return R(mul, o, R(tanh, *cell));
}

/* Gates r, z, n; h' = n + z (h - n), n = tanh(x + r y) (Cho et al. 2014, with
** PyTorch's reset gate after the product). */
static la_tensor *gru(la_chain *w, la_tensor *a, la_tensor *b, la_tensor *h,
                      int64_t n)
{
    la_tensor *r = gate(w, a, b, 0, n, false), *z = gate(w, a, b, 1, n, false);
    la_tensor *x = block(w, a, 2, n), *y = block(w, b, 2, n);
    la_tensor *new = R(tanh, R(add, x, R(mul, r, y)));
    return R(add, new, R(mul, z, R(sub, h, new)));
}

/* One step from the two parts of the gates: the new state, and for LSTM the new
** cell. Owned. */
static la_status recurrent_step(la_recurrent_kind kind, la_tensor *gates,
                                la_tensor *hidden, la_tensor *h, la_tensor *c,
                                la_tensor **out, la_tensor **cell)
{
    LA_CHAIN(w);
    int64_t n = la_sizes(h)[h->ndim - 1];
    la_tensor *state = NULL, *result;
    if (kind == LA_LSTM) {
        result = lstm(w, gates, hidden, c, n, &state);
    } else if (kind == LA_GRU) {
        result = gru(w, gates, hidden, h, n);
    } else {
        la_tensor *sum = R(add, gates, hidden);
        result = kind == LA_RNN_TANH ? R(tanh, sum) : R(relu, sum);
    }
    if (w->status) return w->status;
    *out = la_tensor_retain(result);
    if (state) *cell = la_tensor_retain(state);
    return LA_OK;
}

/* ---- many steps ---- */

/* Results of all steps, until they are stacked. */
typedef struct steps {
    int64_t n;
    la_tensor **out, **cell;    /* [n] each, owned */
} steps;

/* Entries of steps that did not run are NULL. */
static void steps_drop(steps *s)
{
    size_t bytes = (size_t)s->n * sizeof(la_tensor *);
    for (int64_t t = 0; s->out && t < s->n; t++) la_tensor_release(s->out[t]);
    for (int64_t t = 0; s->cell && t < s->n; t++) la_tensor_release(s->cell[t]);
    if (s->out) la_mem_free(s->out, bytes);
    if (s->cell) la_mem_free(s->cell, bytes);
}

/* Every step is recorded by autograd, so this is for differentiating twice; the
** kernels of recurrent.c serve the rest. */
la_status la_recurrent_unrolled(la_recurrent_kind kind, la_tensor *gates,
                                la_tensor *weight, la_tensor *bias,
                                la_tensor *h, la_tensor *c, bool reverse,
                                la_tensor **output, la_tensor **cells)
{
    __attribute__((cleanup(steps_drop))) steps s = {la_sizes(gates)[0], NULL,
                                                    NULL};
    size_t bytes = (size_t)s.n * sizeof(la_tensor *);
    s.out = la_mem_zalloc(bytes);
    s.cell = la_mem_zalloc(bytes);
    if (!s.out || !s.cell) return LA_ENOMEM;
    for (int64_t k = 0; k < s.n; k++) {
        int64_t t = reverse ? s.n - 1 - k : k;
        LA_OWNED part = NULL;
        LA_OWNED hidden = NULL;
        LA_TRY(la_run(select, &part, gates, 0, t));
        LA_TRY(la_run(linear, &hidden, h, weight, bias));
        LA_TRY(recurrent_step(kind, part, hidden, h, c, &s.out[t], &s.cell[t]));
        h = s.out[t];
        c = s.cell[t];
    }
    LA_TRY(la_run(stack, output, la_v_tensors(s.out, s.n), 0));
    if (kind != LA_LSTM) return LA_OK;
    return la_run(stack, cells, la_v_tensors(s.cell, s.n), 0);
}

/* ---- cells: (input, state, w_ih, w_hh, b_ih, b_hh) ---- */

/* The cell on products with both weights. Arguments: input, nstates states,
** w_ih, w_hh, b_ih, b_hh. */
static la_status cell(la_frame *f, la_recurrent_kind kind, int nstates)
{
    la_tensor *h = la_arg(f, 1), *out = NULL, *next = NULL;
    const la_value *w = f->args + 1 + nstates;
    LA_LET(gates, la_run(linear, &gates, f->args[0], w[0], w[2]));
    LA_LET(hidden, la_run(linear, &hidden, h, w[1], w[3]));
    int64_t n = la_recurrent_width(kind);
    if (h->ndim < 1 || gates->ndim != hidden->ndim
        || la_sizes(hidden)[hidden->ndim - 1] != n * la_sizes(h)[h->ndim - 1]
        || la_sizes(gates)[gates->ndim - 1]
           != la_sizes(hidden)[hidden->ndim - 1])
        return la_error_at(LA_ESHAPE, 2 + nstates, "the weights of %lld "
                           "gate(s) for a hidden state of its size are "
                           "expected", (long long)n);
    LA_TRY(recurrent_step(kind, gates, hidden, h,
                          nstates == 2 ? la_arg(f, 2) : NULL, &out, &next));
    la_set_result(f, 0, out);
    if (next) la_set_result(f, 1, next);
    return LA_OK;
}

/* lstm_cell(input, h, c, w_ih, w_hh, b_ih, b_hh) -> h, c */
LA_FORWARD(la_impl_lstm_cell, cell(f, LA_LSTM, 2))
/* gru_cell(input, h, w_ih, w_hh, b_ih, b_hh) -> h */
LA_FORWARD(la_impl_gru_cell, cell(f, LA_GRU, 1))
/* rnn_cell(input, h, w_ih, w_hh, b_ih, b_hh, nonlinearity) -> h */
la_status la_impl_rnn_cell(la_frame *f)
{
    bool relu = la_str_is(&f->args[6], "relu");
    if (!relu && !la_str_is(&f->args[6], "tanh"))
        return la_error_at(LA_EARG, 7,
                           "nonlinearity 'tanh' or 'relu' expected, "
                           "got '%s'",
                           LA_QUOTED(&f->args[6]));
    return cell(f, relu ? LA_RNN_RELU : LA_RNN_TANH, 1);
}
