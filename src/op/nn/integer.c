/*
** Products of bytes less their zero points, with sums of 32 bits. One operand
** is rows, the other panels (kernel/matmul/bytes.h): a matrix, or the windows
** of an image, whose weights are the rows then.
*/
#include "op/nn/integer.h"

#include <string.h>

#include "base/os/cpu.h"
#include "base/os/isa_extension.h"
#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/conv/conv.h"
#include "op/move/copy.h"
#include "tensor/shape.h"

#define LA_ROWS "op/def/quantize.def"
#include "op/call.h"
#include "op/impls.h"

const la_bytes_kernels *la_bytes_kernels_here(void)
{
    bool vnni = la_cpu_extensions() >> LA_EXTENSION_AVX512_VNNI & 1;
    return vnni && la_avx512_vnni_bytes.block ? &la_avx512_vnni_bytes
                                              : LA_STUB(bytes);
}

/* ---- arguments ---- */

/* Has it one of the two dtypes of bytes? */
static bool is_byte(const la_tensor *t)
{
    return t->dtype == LA_UINT8 || t->dtype == LA_INT8;
}

la_status la_check_bytes(const la_frame *f, int k)
{
    const la_tensor *t = la_arg(f, k);
    if (is_byte(t)) return LA_OK;
    return la_error_at(LA_EDTYPE, k + 1, "int8 or uint8 expected, got %s",
                       la_dtype_name((la_dtype)t->dtype));
}

la_status la_check_zero(const la_frame *f, int k, int of, int64_t n)
{
    const la_tensor *z = la_arg(f, k);
    if (!z || (z->dtype == la_arg(f, of)->dtype
               && (z->numel == 1 || (z->ndim == 1 && z->numel == n))))
        return LA_OK;
    const char *dtype = la_dtype_name((la_dtype)la_arg(f, of)->dtype);
    return la_error_at(LA_ESHAPE, k + 1, "zero point: one %s, or %lld of them, "
                       "expected", dtype, (long long)n);
}

la_status la_check_packed(const la_frame *f, int k, const char *of,
                          int64_t rows, int64_t n)
{
    const la_tensor *t = la_arg(f, k);
    if (!t || (t->dtype == LA_UINT8 && t->ndim == 3 && la_is_contiguous(t)
               && la_sizes(t)[0] == (n + LA_BYTES_COLUMNS - 1)
                                    / LA_BYTES_COLUMNS
               && la_sizes(t)[1] == (rows + 3) / 4 + 1
               && la_sizes(t)[2] == LA_BYTES_PANEL))
        return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "integer_pack of %s expected", of);
}

void la_read_zeros(const la_tensor *zero, const la_tensor *of, bool as_signed,
                   int64_t n, int32_t *to)
{
    bool has_sign = of->dtype == LA_INT8;
    int32_t shift = has_sign == as_signed ? 0 : has_sign ? 128 : -128;
    const uint8_t *p = zero ? (const uint8_t *)la_data(zero) : NULL;
    int64_t step = zero && zero->numel > 1 ? la_strides(zero)[0] : 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t z = !p ? 0 : has_sign ? (int8_t)p[i * step] : p[i * step];
        to[i] = z + shift;
    }
}

/* ---- integer_pack ---- */

/* integer_pack(self) */
la_status la_meta_integer_pack(la_frame *f)
{
    const la_tensor *b = la_arg(f, 0);
    LA_TRY(la_check_bytes(f, 0));
    if (b->ndim != 2)
        return la_error_at(LA_ESHAPE, 1, "a matrix (k, n) expected, got %d "
                           "dims", b->ndim);
    const int64_t *s = la_sizes(b);
    return la_set_output(f, 0, 3, (int64_t[3]){
        (s[1] + LA_BYTES_COLUMNS - 1) / LA_BYTES_COLUMNS, (s[0] + 3) / 4 + 1,
        LA_BYTES_PANEL}, NULL, LA_UINT8);
}

typedef struct pack_job {
    uint8_t *to;
    const uint8_t *src;
    int64_t rs, cs, k, n, step;
    uint8_t flip;
} pack_job;

/* Panels begin..end. */
static void pack_range(int64_t begin, int64_t end, void *context)
{
    const pack_job *j = context;
    const la_bytes_kernels *ker = la_bytes_kernels_here();
    for (int64_t p = begin; p < end; p++) {
        int64_t at = p * LA_BYTES_COLUMNS, n = j->n - at;
        ker->pack(j->to + p * j->step, j->src + at * j->cs, j->rs, j->cs, j->k,
                  n < LA_BYTES_COLUMNS ? n : LA_BYTES_COLUMNS, j->flip);
    }
}

/* A panel is read once and written once. */
#define GRAIN 65536           /* bytes of a thread, at least */

/* Matrix b of a tensor's last two dims, from 'src' on, to panels. */
static la_status pack_matrix(const la_tensor *b, const uint8_t *src,
                             uint8_t *to)
{
    const int64_t *s = la_sizes(b) + b->ndim - 2;
    const int64_t *steps = la_strides(b) + b->ndim - 2;
    pack_job j = {.to = to, .src = src, .rs = steps[0], .cs = steps[1],
                  .k = s[0], .n = s[1],
                  .step = la_bytes_panel((s[0] + 3) / 4),
                  .flip = b->dtype == LA_UINT8 ? 128 : 0};
    int64_t panels = (s[1] + LA_BYTES_COLUMNS - 1) / LA_BYTES_COLUMNS;
    int64_t grain = GRAIN / j.step + 1;
    return la_iter_items(panels, grain, 16 * grain, pack_range, &j);
}

la_status la_impl_integer_pack(la_frame *f)
{
    if (la_result(f, 0)->numel == 0) return LA_OK;
    return pack_matrix(la_arg(f, 0), (const uint8_t *)la_data(la_arg(f, 0)),
                       (uint8_t *)la_data(la_result(f, 0)));
}

/* ---- blocks over threads ---- */

typedef struct block_job {
    la_bytes_block whole;
    int64_t strips;           /* of columns */
} block_job;

/* Rows and columns of a piece: its panels stay in the second cache. */
enum { STRIP = 8 * LA_BYTES_COLUMNS, ROWS = 96 };

/* Pieces of ROWS rows and STRIP columns. */
static void block_range(int64_t begin, int64_t end, void *context)
{
    const block_job *j = context;
    const la_bytes_kernels *ker = la_bytes_kernels_here();
    for (int64_t u = begin; u < end; u++) {
        la_bytes_block g = j->whole;
        int64_t i = u / j->strips * ROWS, at = u % j->strips * STRIP;
        g.m = g.m - i < ROWS ? g.m - i : ROWS;
        g.n = g.n - at < STRIP ? g.n - at : STRIP;
        g.a = (const char *)g.a + i * la_bytes_row_size(g.quads);
        g.a_zero += i;
        g.rest += i;
        g.b += at / LA_BYTES_COLUMNS * la_bytes_panel(g.quads);
        g.b_zero += at;
        g.out += i * g.out_step + at;
        ker->block(&g);
    }
}

la_status la_bytes_run(const la_bytes_block *g)
{
    block_job j = {*g, (g->n + STRIP - 1) / STRIP};
    int64_t work = g->quads * 4 * (g->m < ROWS ? g->m : ROWS) * STRIP;
    int64_t grain = (1 << 21) / (work + 1) + 1;
    return la_iter_items(j.strips * ((g->m + ROWS - 1) / ROWS), grain,
                         4 * grain, block_range, &j);
}

int64_t la_bytes_row_size(int64_t quads)
{
    return 4 * quads * la_bytes_kernels_here()->row_size;
}

void la_bytes_rows(la_bytes_block *g, uint8_t *to, int32_t *rest,
                   const uint8_t *src, int64_t rs, int64_t cs, int64_t k,
                   uint8_t flip)
{
    const la_bytes_kernels *ker = la_bytes_kernels_here();
    int64_t size = la_bytes_row_size(g->quads);
    for (int64_t i = 0; i < g->m; i++) {
        uint32_t sum = (uint32_t)ker->row(to + i * size, src + i * rs, cs, k,
                                          flip);
        rest[i] = (int32_t)((uint32_t)k * (uint32_t)g->a_zero[i] - sum);
    }
    g->a = to;
    g->rest = rest;
}

/* ---- integer_matmul ---- */

/* integer_matmul(self, other, self_zero, other_zero, packed) */
enum { SELF, OTHER, SELF_ZERO, OTHER_ZERO, PACKED };

/* Batches are equal, or other is a matrix. */
static la_status check_operands(const la_frame *f)
{
    const la_tensor *a = la_arg(f, SELF), *b = la_arg(f, OTHER);
    LA_TRY(la_check_bytes(f, SELF));
    LA_TRY(la_check_bytes(f, OTHER));
    int64_t k = a->ndim > 1 ? la_sizes(a)[a->ndim - 1] : -1;
    bool fits = a->ndim > 1 && b->ndim > 1 && la_sizes(b)[b->ndim - 2] == k
        && (b->ndim == 2 || b->ndim == a->ndim);
    for (int d = 0; fits && b->ndim > 2 && d < a->ndim - 2; d++)
        fits = la_sizes(a)[d] == la_sizes(b)[d];
    if (fits) return LA_OK;
    char text[2][80];
    return la_error_at(LA_ESHAPE, OTHER + 1, "(..., m, k) by (k, n) or (..., k,"
                       " n) expected, got %s and %s",
                       la_sizes_text(a->ndim, la_sizes(a), text[0], 80),
                       la_sizes_text(b->ndim, la_sizes(b), text[1], 80));
}

la_status la_meta_integer_matmul(la_frame *f)
{
    int64_t sizes[LA_MAX_DIMS];
    LA_TRY(check_operands(f));
    const la_tensor *a = la_arg(f, SELF), *b = la_arg(f, OTHER);
    int64_t k = la_sizes(b)[b->ndim - 2], n = la_sizes(b)[b->ndim - 1];
    LA_TRY(la_check_zero(f, SELF_ZERO, SELF, la_sizes(a)[a->ndim - 2]));
    LA_TRY(la_check_zero(f, OTHER_ZERO, OTHER, n));
    if (la_arg(f, PACKED) && b->ndim != 2)
        return la_error_at(LA_ESHAPE, OTHER + 1, "a matrix expected next to "
                           "packed, got %d dims", b->ndim);
    LA_TRY(la_check_packed(f, PACKED, "other", k, n));
    memcpy(sizes, la_sizes(a), (size_t)a->ndim * sizeof *sizes);
    sizes[a->ndim - 1] = n;
    return la_set_output(f, 0, a->ndim, sizes, NULL, LA_INT32);
}

/* Scratch of a product: rows, panels, zero points. */
typedef struct product {
    const la_tensor *a, *b;   /* batches of each are contiguous */
    uint8_t *rows, *panels;
    int32_t *a_zero, *rest, *b_zero;
    int64_t k, count;
} product;

/* The products of all batches. */
static la_status run_products(const la_frame *f, la_bytes_block *g,
                              const product *p)
{
    const la_tensor *a = p->a, *b = p->b, *packed = la_arg(f, PACKED);
    const uint8_t *from = (const uint8_t *)la_data(a);
    const uint8_t *matrix = (const uint8_t *)la_data(b);
    if (packed) g->b = (const uint8_t *)la_data(packed);
    else g->b = p->panels;
    for (int64_t i = 0; i < p->count; i++) {
        if (!packed && (i == 0 || b->ndim > 2))
            LA_TRY(pack_matrix(b, matrix + i * p->k * g->n, p->panels));
        la_bytes_rows(g, p->rows, p->rest, from + i * g->m * p->k, p->k, 1,
                      p->k, a->dtype == LA_INT8 ? 128 : 0);
        LA_TRY(la_bytes_run(g));
        g->out += g->m * g->n;
    }
    return LA_OK;
}

/* A matrix of weights with one zero point takes the rows of all batches. */
static la_status allocate_product(const la_frame *f, la_bytes_block *g,
                                  product *p)
{
    const la_tensor *zero = la_arg(f, SELF_ZERO), *a = p->a, *b = p->b;
    int64_t wide = (g->n + LA_BYTES_COLUMNS - 1) & -LA_BYTES_COLUMNS;
    int64_t panels = 0, bytes, rows;
    if (b->ndim == 2 && !(zero && zero->numel > 1)) {
        g->m *= p->count;
        p->count = 1;
    }
    if (!la_arg(f, PACKED)) panels = wide / LA_BYTES_COLUMNS;
    if (!la_mul_ok(panels, la_bytes_panel(g->quads), &panels)
        || !la_mul_ok(g->m, la_bytes_row_size(g->quads) + 8, &rows)
        || !la_add_ok(panels, rows, &bytes)
        || !la_add_ok(bytes, 4 * wide, &bytes))
        return la_error(LA_ENOMEM, "sizes are too large");
    g->a_zero = p->a_zero = la_mem_alloc((size_t)bytes);
    if (!p->a_zero) return LA_ENOMEM;
    p->rest = p->a_zero + g->m;
    p->b_zero = p->rest + g->m;
    p->rows = (uint8_t *)(p->b_zero + wide);
    p->panels = p->rows + g->m * la_bytes_row_size(g->quads);
    memset(p->b_zero, 0, (size_t)wide * sizeof *p->b_zero);
    la_read_zeros(zero, a, false, g->m, p->a_zero);
    la_read_zeros(la_arg(f, OTHER_ZERO), b, true, g->n, p->b_zero);
    g->b_zero = p->b_zero;
    la_status status = run_products(f, g, p);
    la_mem_free(p->a_zero, (size_t)bytes);
    return status;
}

la_status la_impl_integer_matmul(la_frame *f)
{
    la_tensor *out = la_result(f, 0);
    if (out->numel == 0) return LA_OK;
    LA_LET(a, la_as_contiguous(la_arg(f, SELF), &a));
    LA_LET(b, la_arg(f, OTHER)->ndim > 2
              ? la_as_contiguous(la_arg(f, OTHER), &b)
              : la_tensor_same(la_arg(f, OTHER), &b));
    const int64_t *s = la_sizes(a) + a->ndim - 2;
    if (s[1] == 0) return la_zero_data(out);
    la_bytes_block g = {.m = s[0], .n = la_sizes(b)[b->ndim - 1],
                        .quads = (s[1] + 3) / 4,
                        .out = (int32_t *)(void *)la_data(out)};
    g.out_step = g.n;
    product p = {.a = a, .b = b, .k = s[1], .count = out->numel / (g.m * g.n)};
    return allocate_product(f, &g, &p);
}
