/*
** An LSTM over a whole sequence whose weight is bytes: per step the state in
** bytes, one exact product, and one pass of the cell's kernel.
*/
#include "base/runtime/interrupt.h"
#include "op/conv/conv.h"
#include "op/nn/integer.h"
#include "op/nn/recurrent.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/quantize.def"
#include "op/call.h"
#include "op/impls.h"

/* integer_lstm(gates, weight, scale, h, c, zero, packed, reverse) */
enum { GATES, WEIGHT, SCALE, H, C, ZERO, PACKED, REVERSE };

/* Argument k is a float32 state. */
static la_status check_state(const la_frame *f, int k, int64_t rows, int64_t n)
{
    const la_tensor *t = la_arg(f, k);
    if (t->dtype == LA_FLOAT32 && t->ndim == 2 && la_sizes(t)[0] == rows
        && la_sizes(t)[1] == n)
        return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "integer_lstm: a float32 state of "
                       "(batch, hidden) is expected: (%lld, %lld)",
                       (long long)rows, (long long)n);
}

la_status la_meta_integer_lstm(la_frame *f)
{
    const la_tensor *g = la_arg(f, GATES), *w = la_arg(f, WEIGHT);
    const la_tensor *scale = la_arg(f, SCALE);
    if (g->ndim != 3 || la_sizes(g)[0] < 1 || la_sizes(g)[2] % 4 != 0)
        return la_error_at(LA_ESHAPE, GATES + 1, "integer_lstm: gates of "
                           "(time, batch, 4 * hidden) with at least one step "
                           "are expected");
    int64_t rows = la_sizes(g)[1], width = la_sizes(g)[2], n = width / 4;
    LA_TRY(la_check_bytes(f, WEIGHT));
    if (w->ndim != 2 || la_sizes(w)[0] != n || la_sizes(w)[1] != width)
        return la_error_at(LA_ESHAPE, WEIGHT + 1, "integer_lstm: a weight of "
                           "(hidden, 4 * hidden) is expected: (%lld, %lld)",
                           (long long)n, (long long)width);
    if (scale->dtype != LA_FLOAT32
        || (scale->numel != 1 && (scale->ndim != 1 || scale->numel != width)))
        return la_error_at(LA_ESHAPE, SCALE + 1, "integer_lstm: one float32 "
                           "scale, or %lld of them, expected",
                           (long long)width);
    LA_TRY(check_state(f, H, rows, n));
    LA_TRY(check_state(f, C, rows, n));
    LA_TRY(la_check_zero(f, ZERO, WEIGHT, width));
    LA_TRY(la_check_packed(f, PACKED, "weight", n, width));
    int64_t sizes[3] = {la_sizes(g)[0], rows, n};
    LA_TRY(la_set_output(f, 0, 3, sizes, NULL, LA_FLOAT32));
    return la_set_output(f, 1, 3, sizes, NULL, LA_FLOAT32);
}

/* Operands and scratch of all steps. */
typedef struct integer_steps {
    la_bytes_block g;
    int64_t rows, n;
    uint8_t *bytes, *lines;   /* the state's, and as the product's rows */
    int32_t *state_zero, *rest;
    const float *scale;       /* [4 * n] */
    float *hidden;            /* [rows, 4 * n] */
} integer_steps;

/* hidden = the state h times the weight */
static la_status multiply_state(integer_steps *s, const char *h)
{
    float own;
    uint8_t zero;
    la_quantize_numbers((const float *)(const void *)h, s->rows * s->n,
                        s->bytes, &own, &zero);
    for (int64_t i = 0; i < s->rows; i++) s->state_zero[i] = zero;
    la_bytes_rows(&s->g, s->lines, s->rest, s->bytes, s->n, 1, s->n, 0);
    LA_TRY(la_bytes_run(&s->g));
    const int64_t width = 4 * s->n;
    for (int64_t i = 0; i < s->rows; i++) {
        const int32_t *sum = s->g.out + i * width;
        const float *restrict scale = s->scale;
        float *restrict to = s->hidden + i * width;
        for (int64_t j = 0; j < width; j++)
            to[j] = (float)sum[j] * (own * scale[j]);
    }
    return LA_OK;
}

/* All steps; acts is scratch. */
static la_status run_integer_steps(const la_frame *f, integer_steps *s,
                                   la_recurrent *r, const char *gates)
{
    int64_t steps = la_sizes(la_result(f, 0))[0], size = 4 * s->rows * s->n;
    bool reverse = la_arg_bool(f, REVERSE);
    r->n = s->n;
    r->hidden = (const char *)s->hidden;
    for (int64_t k = 0; k < steps; k++) {
        int64_t t = reverse ? steps - 1 - k : k;
        LA_TRY(la_poll());
        LA_TRY(multiply_state(s, r->h));
        r->gates = gates + 4 * t * size;
        r->out = la_data(la_result(f, 0)) + t * size;
        r->cell = la_data(la_result(f, 1)) + t * size;
        LA_TRY(la_recurrent_step(LA_LSTM, s->rows, r));
        r->h = r->out;
        r->c = r->cell;
    }
    return LA_OK;
}

/* Uninitialised numbers, a rows x n matrix. */
static la_status matrix_of(int64_t rows, int64_t n, la_dtype d, la_tensor **out)
{
    return la_tensor_empty(2, (int64_t[2]){rows, n}, d, out);
}

static int64_t whole_panels(int64_t columns)
{
    return (columns + LA_BYTES_COLUMNS - 1) & -LA_BYTES_COLUMNS;
}

/* Zero points and sums: 2 numbers for each row of the state, those of whole
** panels of the weight, rows of 4 * n sums. */
static void set_numbers(const la_frame *f, integer_steps *s, int32_t *at)
{
    int64_t wide = whole_panels(s->g.n);
    int32_t *b_zero = at + 2 * s->rows;
    s->g.a_zero = s->state_zero = at;
    s->rest = at + s->rows;
    for (int64_t j = s->g.n; j < wide; j++) b_zero[j] = 0;
    la_read_zeros(la_arg(f, ZERO), la_arg(f, WEIGHT), true, s->g.n, b_zero);
    s->g.b_zero = b_zero;
    s->g.out = b_zero + wide;
}

la_status la_impl_integer_lstm(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    if (out->numel == 0) return LA_OK;
    int64_t rows = la_sizes(out)[1], n = la_sizes(out)[2], width = 4 * n;
    LA_LET(gates, la_as_contiguous(la_arg(f, GATES), &gates));
    LA_LET(h, la_as_contiguous(la_arg(f, H), &h));
    LA_LET(c, la_as_contiguous(la_arg(f, C), &c));
    LA_LET(packed, la_arg(f, PACKED)
                   ? la_tensor_same(la_arg(f, PACKED), &packed)
                   : la_run(integer_pack, &packed, f->args[WEIGHT]));
    integer_steps s = {.rows = rows, .n = n,
                       .g = {.m = rows, .n = width, .out_step = width,
                             .quads = (n + 3) / 4,
                             .b = (const uint8_t *)la_data(packed)}};
    LA_LET(bytes, matrix_of(rows, n + la_bytes_row_size(s.g.quads), LA_UINT8,
                            &bytes));
    LA_LET(numbers, matrix_of(1, rows * (width + 2) + whole_panels(width),
                              LA_INT32, &numbers));
    LA_LET(floats, matrix_of(2 * rows + 1, width, LA_FLOAT32, &floats));
    const float *scale = (const float *)(const void *)la_data(la_arg(f, SCALE));
    float *to = (float *)(void *)la_data(floats);
    int64_t step = la_arg(f, SCALE)->numel > 1
                   ? la_strides(la_arg(f, SCALE))[0] : 0;
    for (int64_t j = 0; j < width; j++) to[j] = scale[j * step];
    s.scale = to;
    s.hidden = to + width;
    s.lines = (uint8_t *)la_data(bytes);
    s.bytes = s.lines + rows * la_bytes_row_size(s.g.quads);
    set_numbers(f, &s, (int32_t *)(void *)la_data(numbers));
    la_recurrent r = {.h = la_data(h), .c = la_data(c),
                      .acts = (char *)(s.hidden + rows * width)};
    return run_integer_steps(f, &s, &r, la_data(gates));
}
