/*
** Blocks of quantized numbers: the numbers, and products with them. A few rows
** are multiplied by rows of numbers that are made one at a time in the first
** cache; more of them by the matrix product with all the numbers.
*/
#include "modules/gguf/product.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "modules/gguf/kernel/blocks.h"
#include "modules/gguf/kernel/byte_dots.h"
#include "op/composite.h"
#include "op/conv/conv.h"
#include "op/move/copy.h"
#include "op/nn/packed_rows.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/gguf/ops.def"
#include "op/call.h"
#include "op/impls.h"

const la_gguf_type la_gguf_types[] = {
#define TYPE(number, name, size, bytes, dtype) \
    {#name, number, size, bytes, dtype},
#include "modules/gguf/types.def"
#undef TYPE
    {NULL, 0, 0, 0, LA_UNDEFINED}
};

const la_gguf_type *la_gguf_type_of(int64_t number)
{
    for (const la_gguf_type *t = la_gguf_types; t->name; t++)
        if (t->number == number) return t;
    return NULL;
}

static la_unpack_fn unpacker(const la_gguf_type *t)
{
    la_unpack_fn f = LA_STUB(blocks)->unpack[t->number];
    return f ? f : LA_STUB(grid_blocks)->unpack[t->number];
}

/* The type that argument k names, of blocks. */
static la_status block_type(const la_frame *f, int k, const la_gguf_type **out)
{
    const char *word = f->args[k].str.text;
    size_t n = f->args[k].str.n;
    for (const la_gguf_type *t = la_gguf_types; t->name; t++)
        if (strlen(t->name) == n && memcmp(t->name, word, n) == 0
            && t->dtype == LA_UNDEFINED) {
            *out = t;
            return LA_OK;
        }
    char shown[60];
    return la_error_at(LA_EARG, k + 1, "type: a word for quantized blocks like "
                       "'Q4_K' expected, got '%s'",
                       la_quote(word, n < 24 ? n : 24, shown, sizeof shown));
}

/* The numbers of a row of blocks, argument k. */
static la_status row_numbers(const la_frame *f, int k, const la_gguf_type *t,
                             int64_t *out)
{
    const la_tensor *q = la_arg(f, k);
    if (q->dtype != LA_UINT8)
        return la_error_at(LA_EDTYPE, k + 1, "blocks of uint8 are expected, got"
                           " %s", la_dtype_name((la_dtype)q->dtype));
    int64_t last = q->ndim > 0 ? la_sizes(q)[q->ndim - 1] : 1;
    if (last % t->bytes || !la_mul_ok(last / t->bytes, t->size, out))
        return la_error_at(LA_ESHAPE, k + 1, "rows of blocks of %lld bytes (%s)"
                           " are expected, got rows of %lld",
                           (long long)t->bytes, t->name, (long long)last);
    return LA_OK;
}

/* ---- the numbers ---- */

la_status la_meta_gguf_unpack(la_frame *f)
{
    const la_tensor *q = la_arg(f, 0);
    const la_gguf_type *t = NULL;
    int64_t sizes[LA_MAX_DIMS], last = 0;
    LA_TRY(block_type(f, 1, &t));
    LA_TRY(row_numbers(f, 0, t, &last));
    memcpy(sizes, la_sizes(q), (size_t)q->ndim * sizeof *sizes);
    if (q->ndim > 0) sizes[q->ndim - 1] = last;
    return la_set_output(f, 0, q->ndim, sizes, NULL, LA_FLOAT32);
}

typedef struct numbers {
    const uint8_t *blocks;
    float *to;
    const la_gguf_type *type;
    la_unpack_fn unpack;
} numbers;

static void unpack_range(int64_t begin, int64_t end, void *context)
{
    const numbers *j = context;
    j->unpack(j->blocks + begin * j->type->bytes, end - begin,
              j->to + begin * j->type->size);
}

#define GRAIN 32768           /* numbers of a thread, at least */

la_status la_impl_gguf_unpack(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    numbers j = {.to = (float *)(void *)la_data(out)};
    if (out->numel == 0) return LA_OK;
    LA_TRY(block_type(f, 1, &j.type));
    LA_LET(q, la_as_contiguous(la_arg(f, 0), &q));
    j.blocks = (const uint8_t *)la_data(q);
    j.unpack = unpacker(j.type);
    int64_t grain = GRAIN / j.type->size + 1;
    return la_iter_items(out->numel / j.type->size, grain, 16 * grain,
                         unpack_range, &j);
}

/* ---- products ---- */

la_status la_meta_gguf_dots(la_frame *f)
{
    const la_tensor *x = la_arg(f, 0), *q = la_arg(f, 1);
    const la_gguf_type *t = NULL;
    int64_t last = 0;
    LA_TRY(block_type(f, 2, &t));
    LA_TRY(row_numbers(f, 1, t, &last));
    if (x->ndim != 2 || q->ndim != 2 || la_sizes(x)[1] != last)
        return la_error_at(LA_ESHAPE, 1, "rows of %lld numbers and a matrix of "
                           "blocks are expected", (long long)last);
    return la_set_output(f, 0, 2, (int64_t[2]){la_sizes(x)[0], la_sizes(q)[0]},
                         NULL, LA_FLOAT32);
}

typedef struct dots {
    const uint8_t *blocks;
    const float *x;           /* [rows][in] */
    float *out;               /* [rows][n] */
    int64_t rows, in, n, row_bytes, row_blocks, unit;
    la_unpack_fn unpack;
    la_byte_row bytes;        /* of all rows of x, where these are rounded */
    int type;
} dots;

/* Rows of the weights, 'unit' of them, made one at a time. */
static la_status dots_unit(void *context, int64_t unit, char *scratch)
{
    const dots *d = context;
    const la_block_kernels *k = LA_STUB(blocks);
    float *w = (float *)(void *)scratch;
    int64_t end = (unit + 1) * d->unit < d->n ? (unit + 1) * d->unit : d->n;
    for (int64_t i = unit * d->unit; i < end; i++) {
        d->unpack(d->blocks + i * d->row_bytes, d->row_blocks, w);
        for (int64_t r = 0; r < d->rows; r++)
            d->out[r * d->n + i] = k->dot(w, d->x + r * d->in, d->in);
    }
    return LA_OK;
}

/* Rows begin..end of the weights, whose numbers are nowhere kept. */
static void block_range(int64_t begin, int64_t end, void *context)
{
    const dots *d = context;
    float (*dot)(const uint8_t *, int64_t, const float *) =
        LA_STUB(blocks)->dot_blocks[d->type];
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < d->rows; r++)
            d->out[r * d->n + i] = dot(d->blocks + i * d->row_bytes,
                                       d->row_blocks, d->x + r * d->in);
}

#define FEW_BLOCK_ROWS 2      /* beyond them a row's numbers are kept */

/* Rows begin..end of the weights with rounded rows of x. */
static void byte_range(int64_t begin, int64_t end, void *context)
{
    const dots *d = context;
    const la_byte_kernels *k = LA_STUB(byte_dots);
    for (int64_t i = begin; i < end; i++)
        for (int64_t r = 0; r < d->rows; r++) {
            int64_t group = r * d->in / 32;
            la_byte_row x = {d->bytes.q + r * d->in, d->bytes.scale + group,
                             d->bytes.sum + group};
            d->out[r * d->n + i] = k->dot[d->type](
                d->blocks + i * d->row_bytes, d->row_blocks, &x);
        }
}

static la_status byte_dots(dots *d)
{
    int64_t all = d->rows * d->in, groups = all / 32;
    size_t bytes = (size_t)all + (size_t)groups * 2 * sizeof(float);
    char *memory = la_mem_alloc(bytes);
    if (!memory) return LA_ENOMEM;
    d->bytes.scale = (float *)(void *)memory;
    d->bytes.sum = d->bytes.scale + groups;
    d->bytes.q = (int8_t *)(d->bytes.sum + groups);
    LA_STUB(byte_dots)->round(d->x, groups, &d->bytes);
    la_status status = la_iter_items(d->n, d->unit, 16 * d->unit, byte_range,
                                     d);
    la_mem_free(memory, bytes);
    return status;
}

/* gguf_dots(self, blocks, type, fast) */
la_status la_impl_gguf_dots(la_frame *f)
{
    const la_gguf_type *t = NULL;
    la_tensor *out = la_result(f, 0);
    if (out->numel == 0) return LA_OK;
    if (la_arg(f, 0)->numel == 0) return la_zero_data(out);
    LA_TRY(block_type(f, 2, &t));
    LA_LET(x, la_as_contiguous(la_arg(f, 0), &x));
    LA_LET(q, la_as_contiguous(la_arg(f, 1), &q));
    dots d = {.blocks = (const uint8_t *)la_data(q), .type = t->number,
              .x = (const float *)(const void *)la_data(x),
              .out = (float *)(void *)la_data(out), .rows = la_sizes(x)[0],
              .in = la_sizes(x)[1], .n = la_sizes(q)[0],
              .row_bytes = la_sizes(q)[1],
              .row_blocks = la_sizes(q)[1] / t->bytes, .unpack = unpacker(t)};
    d.unit = GRAIN / (d.in * d.rows) + 1;
    if (la_arg_bool(f, 3) && LA_STUB(byte_dots)->dot[t->number])
        return byte_dots(&d);
    if (d.rows <= FEW_BLOCK_ROWS && LA_STUB(blocks)->dot_blocks[t->number])
        return la_iter_items(d.n, d.unit, 16 * d.unit, block_range, &d);
    la_unit_plan plan = {dots_unit, 1, (size_t)d.in * sizeof(float)};
    return la_iter_units((d.n + d.unit - 1) / d.unit, &plan, &d);
}

/* gguf_product(self, blocks, type, fast) */
la_status la_impl_gguf_product(la_frame *f)
{
    return la_rows_by_packed(f, &(la_packed_weights){
        LA_OP(gguf_dots), LA_OP(gguf_unpack), 2, "blocks"});
}
