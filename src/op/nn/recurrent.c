/*
** A recurrent layer over a whole sequence: per step one matrix product with the
** state and one pass of the cell's kernel; the gradient goes back through the
** steps likewise, and leaves what the weights need as one product for the whole
** sequence (grad/formulas).
**
** The products with the inputs are computed by the caller for all steps at
** once: 'gates' [time, batch, width * hidden] with width 1 (RNN), 3 (GRU) or 4
** (LSTM). float32 and float64; la_impl_recurrent_layer converts 16-bit floats.
*/
#include "op/nn/recurrent.h"

#include "iter/items.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/recurrent.def"
#include "base/runtime/interrupt.h"
#include "iter/iter.h"
#include "op/call.h"
#include "op/impls.h"

/* recurrent(gates, weight, bias, h, c, kind, reverse) */
enum { GATES, WEIGHT, BIAS, H, C, KIND, REVERSE };
/* recurrent_backward(grad_output, grad_cells, output, cells, acts, weight, h,
** c, kind, reverse) */
enum { B_GRAD, B_GRAD_CELLS, B_OUTPUT, B_CELLS, B_ACTS, B_WEIGHT, B_H, B_C,
       B_KIND, B_REVERSE };

/* ---- sizes ---- */

typedef struct layer {
    la_recurrent_kind kind;
    int width;                  /* blocks of gates */
    int64_t steps, rows, n;
    la_dtype dtype;
    bool reverse;
} layer;

/* LA_ESHAPE about argument 'arg' (from 0). */
static la_status recurrent_shape_error(const char *what, int arg)
{
    return la_error_at(LA_ESHAPE, arg + 1, "recurrent: %s", what);
}

/* Is 't' a matrix of a x b? */
static bool has_sizes(const la_tensor *t, int64_t a, int64_t b)
{
    return t->ndim == 2 && la_sizes(t)[0] == a && la_sizes(t)[1] == b;
}

/* Sizes from the arguments of 'recurrent', checked. */
static la_status read_layer(const la_frame *f, layer *y)
{
    const la_tensor *g = la_arg(f, GATES), *h = la_arg(f, H);
    y->kind = (la_recurrent_kind)la_arg_int(f, KIND);
    y->width = la_recurrent_width(y->kind);
    y->dtype = (la_dtype)g->dtype;
    y->reverse = la_arg_bool(f, REVERSE);
    if (g->ndim != 3 || la_sizes(g)[0] < 1)
        return recurrent_shape_error("gates of (time, batch, gates) with at "
                                     "least one step are expected", GATES);
    y->steps = la_sizes(g)[0];
    y->rows = la_sizes(g)[1];
    y->n = la_sizes(g)[2] / y->width;
    if (!has_sizes(h, y->rows, y->n) || y->n * y->width != la_sizes(g)[2])
        return recurrent_shape_error("a state of (batch, hidden) is expected",
                                     H);
    if (!has_sizes(la_arg(f, WEIGHT), y->width * y->n, y->n))
        return recurrent_shape_error("a weight of (gates, hidden) is expected",
                                     WEIGHT);
    if (la_arg(f, BIAS) && (la_arg(f, BIAS)->ndim != 1
                            || la_arg(f, BIAS)->numel != y->width * y->n))
        return recurrent_shape_error("a bias with one value per gate is "
                                     "expected", BIAS);
    if ((y->kind == LA_LSTM) != (la_arg(f, C) != NULL))
        return recurrent_shape_error("an LSTM, and only that, has a cell state",
                                     C);
    if (la_arg(f, C) && !has_sizes(la_arg(f, C), y->rows, y->n))
        return recurrent_shape_error("a cell state of (batch, hidden) is "
                                     "expected", C);
    return LA_OK;
}

/* float64 is as complete as float32. */
static const la_recurrent_kernels *kernels(la_dtype d)
{
    return d == LA_FLOAT32 ? LA_STUB(recurrent_f32) : LA_STUB(recurrent_f64);
}

/* ---- one step over the rows, in parallel ---- */

typedef struct pass {
    la_recurrent r;
    la_recurrent_fn fn;
    int64_t size;               /* bytes of n elements */
    int width;
} pass;

/* Pointers that are NULL (no such operand for the kind) stay NULL. */
#define ADVANCE(field, blocks) \
    if (r.field) r.field += begin * (blocks) * p->size

/* Rows (batch entries) begin..end: they are independent. */
static void recurrent_run_rows(int64_t begin, int64_t end, void *context)
{
    const pass *p = context;
    la_recurrent r = p->r;
    ADVANCE(gates, p->width);
    ADVANCE(hidden, p->width);
    ADVANCE(h, 1);
    ADVANCE(c, 1);
    ADVANCE(out, 1);
    ADVANCE(cell, 1);
    ADVANCE(acts, 4);
    ADVANCE(dout, 1);
    ADVANCE(dcell, 1);
    ADVANCE(dgates, p->width);
    ADVANCE(dhidden, p->width);
    ADVANCE(dh, 1);
    ADVANCE(dc, 1);
    r.rows = end - begin;
    p->fn(&r);
}

/* One step's kernel over all rows. */
static la_status recurrent_run_pass(const layer *y, const la_recurrent *r,
                                    la_recurrent_fn fn)
{
    pass p = {*r, fn, y->n * (int64_t)la_dtype_size(y->dtype), y->width};
    int64_t grain = LA_GRAIN / 8 / (y->n * y->width + 1) + 1;
    int64_t rows = y->n > 0 ? y->rows : 0;
    return la_iter_items(rows, grain, LA_ALL_ITEMS, recurrent_run_rows, &p);
}

la_status la_recurrent_step(la_recurrent_kind kind, int64_t rows,
                            const la_recurrent *r)
{
    layer y = {.kind = kind, .width = la_recurrent_width(kind), .rows = rows,
               .n = r->n, .dtype = LA_FLOAT32};
    return recurrent_run_pass(&y, r, kernels(y.dtype)->forward[kind]);
}

/* Step 'step' of a contiguous (time, batch, blocks * n) tensor; NULL for
** none. */
static char *recurrent_at(const layer *y, const la_tensor *t, int64_t step,
                          int blocks)
{
    int64_t size = y->rows * y->n * blocks * (int64_t)la_dtype_size(y->dtype);
    return t ? la_data(t) + step * size : NULL;
}

/* A contiguous tensor; NULL stays NULL. */
static la_status recurrent_plain(la_tensor *t, la_tensor **out)
{
    return t ? la_run(contiguous, out, t) : LA_OK;
}

/* An uninitialised (batch, blocks * n) tensor. */
static la_status buffer(const layer *y, int blocks, la_tensor **out)
{
    int64_t sizes[2] = {y->rows, y->n * blocks};
    return la_tensor_empty(2, sizes, y->dtype, out);
}

/* ---- forward ---- */

/* recurrent(gates, weight, bias, h, c, kind, reverse) -> output [time, batch,
** n], cells (LSTM) and activations (GRU, LSTM) for the backward pass; an empty
** tensor stands for a result that the kind lacks. */
la_status la_meta_recurrent(la_frame *f)
{
    layer y;
    LA_TRY(read_layer(f, &y));
    int64_t sizes[3] = {y.steps, y.rows, y.n}, none = 0;
    LA_TRY(la_set_output(f, 0, 3, sizes, NULL, y.dtype));
    if (y.kind == LA_LSTM) LA_TRY(la_set_output(f, 1, 3, sizes, NULL, y.dtype));
    else LA_TRY(la_set_output(f, 1, 1, &none, NULL, y.dtype));
    sizes[2] = 4 * y.n;
    if (y.width > 1) return la_set_output(f, 2, 3, sizes, NULL, y.dtype);
    return la_set_output(f, 2, 1, &none, NULL, y.dtype);
}

/* hidden = h @ weight^T + bias */
static la_status recurrent_product(la_tensor *hidden, la_tensor *h,
                                   la_tensor *transposed, la_tensor *bias)
{
    if (bias)
        return la_do_out(LA_OP(addmm), hidden, LA_ARGS_(
            la_v_tensor(bias), la_v_tensor(h), la_v_tensor(transposed)));
    return la_do_out(LA_OP(mm), hidden,
                     LA_ARGS_(la_v_tensor(h), la_v_tensor(transposed)));
}

/* Steps in order, or from the last to the first if 'reverse'. The state of a
** step is its slice of the output, so nothing is copied between steps. */
la_status la_impl_recurrent(la_frame *f)
{
    layer y;
    LA_OWNED transposed = NULL;
    la_tensor *out = la_result(f, 0), *cells = NULL, *acts = NULL;
    LA_TRY(read_layer(f, &y));
    if (y.kind == LA_LSTM) cells = la_result(f, 1);
    if (y.width > 1) acts = la_result(f, 2);
    LA_LET(gates, recurrent_plain(la_arg(f, GATES), &gates));
    LA_LET(h, recurrent_plain(la_arg(f, H), &h));
    LA_LET(c, recurrent_plain(la_arg(f, C), &c));
    LA_LET(view, la_run(t, &view, f->args[WEIGHT]));
    /* Once: every step multiplies by it. One row is multiplied by dot products
    ** with the lines of the weight as it is. */
    if (y.rows == 1) LA_TRY(la_tensor_same(view, &transposed));
    else LA_TRY(recurrent_plain(view, &transposed));
    LA_LET(hidden, buffer(&y, y.width, &hidden));
    la_recurrent r = {.n = y.n, .hidden = la_data(hidden), .h = la_data(h),
                      .c = c ? la_data(c) : NULL};
    for (int64_t k = 0; k < y.steps; k++) {
        int64_t t = y.reverse ? y.steps - 1 - k : k;
        LA_OWNED now = NULL;
        LA_TRY(la_poll());
        LA_TRY(recurrent_product(hidden, h, transposed, la_arg(f, BIAS)));
        r.gates = recurrent_at(&y, gates, t, y.width);
        r.out = recurrent_at(&y, out, t, 1);
        r.cell = recurrent_at(&y, cells, t, 1);
        r.acts = recurrent_at(&y, acts, t, 4);
        LA_TRY(recurrent_run_pass(&y, &r, kernels(y.dtype)->forward[y.kind]));
        LA_TRY(la_run(select, &now, out, 0, t));
        la_tensor_release(h);
        h = la_tensor_retain(now);
        r.h = r.out;
        r.c = r.cell;
    }
    return LA_OK;
}

/* ---- backward ---- */

/* Sizes from the arguments of recurrent_backward, which come from a call that
** was checked. */
static void read_back(const la_frame *f, layer *y)
{
    const la_tensor *out = la_arg(f, B_OUTPUT);
    y->kind = (la_recurrent_kind)la_arg_int(f, B_KIND);
    y->width = la_recurrent_width(y->kind);
    y->dtype = (la_dtype)out->dtype;
    y->reverse = la_arg_bool(f, B_REVERSE);
    y->steps = la_sizes(out)[0];
    y->rows = la_sizes(out)[1];
    y->n = la_sizes(out)[2];
}

/* -> gradients of gates, of the hidden part of the gates (GRU, where it
** differs), of h and of c (LSTM). */
la_status la_meta_recurrent_backward(la_frame *f)
{
    layer y;
    read_back(f, &y);
    int64_t sizes[3] = {y.steps, y.rows, y.n * y.width}, none = 0;
    int64_t state[2] = {y.rows, y.n};
    LA_TRY(la_set_output(f, 0, 3, sizes, NULL, y.dtype));
    if (y.kind == LA_GRU) LA_TRY(la_set_output(f, 1, 3, sizes, NULL, y.dtype));
    else LA_TRY(la_set_output(f, 1, 1, &none, NULL, y.dtype));
    LA_TRY(la_set_output(f, 2, 2, state, NULL, y.dtype));
    if (y.kind == LA_LSTM) return la_set_output(f, 3, 2, state, NULL, y.dtype);
    return la_set_output(f, 3, 1, &none, NULL, y.dtype);
}

/* out = dhidden[t] @ weight (+ add, + what reaches the state directly): the
** gradient of the state before step t. */
static la_status to_state(const layer *y, la_tensor *dhidden, int64_t t,
                          la_tensor *weight, la_tensor *direct, la_tensor *add,
                          la_tensor *out)
{
    LA_LET(part, la_run(select, &part, dhidden, 0, t));
    if (add)
        LA_TRY(la_do_out(LA_OP(addmm), out,
                         LA_ARGS_(la_v_tensor(add), la_v_tensor(part),
                                                    la_v_tensor(weight))));
    else
        LA_TRY(la_do_out(LA_OP(mm), out,
                         LA_ARGS_(la_v_tensor(part), la_v_tensor(weight))));
    /* Only a GRU's state reaches the next one without a product (z * h). */
    if (y->kind != LA_GRU) return LA_OK;
    return la_run_(add, out, direct);
}

/* dc += grad_cells[t] */
static la_status add_cell(la_tensor *dc, la_tensor *grad_cells, int64_t t)
{
    if (!grad_cells) return LA_OK;
    LA_LET(part, la_run(select, &part, grad_cells, 0, t));
    return la_run_(add, dc, part);
}

/* Contiguous inputs and buffers of the backward pass, owned. */
typedef struct back {
    la_tensor *grad, *out, *cells, *acts, *h, *c, *dout, *direct;
} back;

/* On every way out of the backward pass. */
static void back_drop(back *b)
{
    la_tensor_release(b->grad);
    la_tensor_release(b->out);
    la_tensor_release(b->cells);
    la_tensor_release(b->acts);
    la_tensor_release(b->h);
    la_tensor_release(b->c);
    la_tensor_release(b->dout);
    la_tensor_release(b->direct);
}

/* Contiguous inputs, so that steps are found by multiplication. */
static la_status back_start(const la_frame *f, const layer *y, back *b)
{
    LA_TRY(recurrent_plain(la_arg(f, B_GRAD), &b->grad));
    LA_TRY(recurrent_plain(la_arg(f, B_OUTPUT), &b->out));
    LA_TRY(recurrent_plain(la_arg(f, B_CELLS), &b->cells));
    LA_TRY(recurrent_plain(la_arg(f, B_ACTS), &b->acts));
    LA_TRY(recurrent_plain(la_arg(f, B_H), &b->h));
    LA_TRY(recurrent_plain(la_arg(f, B_C), &b->c));
    LA_TRY(buffer(y, 1, &b->dout));
    return buffer(y, 1, &b->direct);
}

/* Pointers that the kernel of step t reads and writes; 'before' is the step
** before it, or -1. dout holds the gradient of the state after the step. */
static void set_step(la_frame *f, const layer *y, const back *b, int64_t t,
                     int64_t before, la_recurrent *r)
{
    bool lstm = y->kind == LA_LSTM;
    r->n = y->n;
    r->out = recurrent_at(y, b->out, t, 1);
    r->cell = lstm ? recurrent_at(y, b->cells, t, 1) : NULL;
    r->acts = y->width > 1 ? recurrent_at(y, b->acts, t, 4) : NULL;
    r->h = before < 0 ? la_data(b->h) : recurrent_at(y, b->out, before, 1);
    r->c = !lstm ? NULL : before < 0 ? la_data(b->c)
                                     : recurrent_at(y, b->cells, before, 1);
    r->dout = la_data(b->dout);
    r->dgates = recurrent_at(y, la_result(f, 0), t, y->width);
    r->dhidden = y->kind == LA_GRU ? recurrent_at(y, la_result(f, 1), t,
                                                  y->width)
                                   : r->dgates;
    r->dh = la_data(b->direct);
    if (lstm) r->dcell = r->dc = la_data(la_result(f, 3));
}

/* Backpropagation through time: from the last step to the first, 'dout' being
** the gradient of the state after the step. */
la_status la_impl_recurrent_backward(la_frame *f)
{
    layer y;
    __attribute__((cleanup(back_drop))) back b = {0};
    la_recurrent r = {0};
    read_back(f, &y);
    LA_TRY(back_start(f, &y, &b));
    la_tensor *weight = la_arg(f, B_WEIGHT), *dhidden = la_result(f, 0);
    if (y.kind == LA_GRU) dhidden = la_result(f, 1);
    if (y.kind == LA_LSTM)
        LA_TRY(la_run_(fill_, la_result(f, 3), la_scalar_int(0)));
    for (int64_t k = y.steps - 1; k >= 0; k--) {
        int64_t t = y.reverse ? y.steps - 1 - k : k, step = y.reverse ? -1 : 1;
        LA_OWNED grad = NULL;
        LA_TRY(la_poll());
        LA_TRY(la_run(select, &grad, b.grad, 0, t));
        if (k == y.steps - 1) LA_TRY(la_run_(copy_, b.dout, grad));
        else LA_TRY(to_state(&y, dhidden, t + step, weight, b.direct, grad,
                             b.dout));
        if (y.kind == LA_LSTM)
            LA_TRY(add_cell(la_result(f, 3), la_arg(f, B_GRAD_CELLS), t));
        set_step(f, &y, &b, t, k ? t - step : -1, &r);
        LA_TRY(recurrent_run_pass(&y, &r, kernels(y.dtype)->backward[y.kind]));
    }
    return to_state(&y, dhidden, y.reverse ? y.steps - 1 : 0, weight, b.direct,
                    NULL, la_result(f, 2));
}

/* ---- recurrent_layer: 16-bit floats are computed as float32 ---- */

/* Arguments GATES to C in dtype 'to', in owned[] and args[]. */
static la_status recurrent_convert(la_frame *f, la_dtype to, la_tensor **owned,
                                   la_value *args)
{
    la_dtype from = (la_dtype)la_arg(f, GATES)->dtype;
    for (int k = GATES; k <= C; k++) {
        args[k] = f->args[k];
        if (!la_arg(f, k)) continue;
        if (la_arg(f, k)->dtype != from)
            return la_error_at(LA_EDTYPE, k + 1, "the dtype of the gates, %s, "
                               "is expected", la_dtype_name(from));
        if (from == to) continue;
        LA_TRY(la_run(astype, &owned[k], f->args[k], la_v_dtype(to)));
        args[k] = la_v_tensor(owned[k]);
    }
    return LA_OK;
}

/* Results 0 and 1, converted to dtype d. */
static la_status recurrent_take(la_frame *f, la_value *r, la_dtype d)
{
    la_status status = LA_OK;
    for (int k = 0; k < 2 && !status; k++) {
        la_tensor *out = NULL;
        if (r[k].tensor->dtype == d) {
            out = r[k].tensor;
            la_tensor_retain(out);
        } else {
            status = la_run(astype, &out, r[k].tensor, la_v_dtype(d));
        }
        if (!status) la_set_result(f, k, out);
    }
    return status;
}

/* recurrent_layer(gates, weight, bias, h, c, kind, reverse) -> output, cells:
** what the Lua modules call; the kind is a word. */
la_status la_impl_recurrent_layer(la_frame *f)
{
    la_value args[7], r[LA_MAX_RESULTS];
    la_tensor *owned[5] = {NULL};
    la_recurrent_kind kind;
    la_dtype d = (la_dtype)la_arg(f, GATES)->dtype, wide = d;
    LA_TRY(la_recurrent_kind_of(&f->args[KIND], KIND, &kind));
    if (la_is_half(d)) wide = LA_FLOAT32;
    la_status status = recurrent_convert(f, wide, owned, args);
    args[KIND] = la_v_int(kind);
    args[REVERSE] = f->args[REVERSE];
    if (!status) status = la_do_many(LA_OP(recurrent), r, 7, args);
    for (int k = 0; k < 5; k++) la_tensor_release(owned[k]);
    if (status) return status;
    status = recurrent_take(f, r, d);
    for (int k = 0; k < LA_MAX_RESULTS; k++) la_value_drop(&r[k]);
    return status;
}
