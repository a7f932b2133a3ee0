/*
** Convolutions as matrix products, for every dtype: a kernel of one tap, a
** window that is the whole image, and over columns (im2col, Chellapilla et al.
** 2006), which serve whatever no other method does.
**
** Columns are built for some output rows at a time, for a part of a row where
** one has too many, and for some taps where even a few pixels have too many:
** the memory that they take is bounded (MAX_COLUMNS) whatever the sizes.
*/
#include "op/conv/method.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/matmul/gemm.h"

#define MAX_COLUMNS ((int64_t)1 << 20)  /* elements */
#define LEAST_PIXELS 64     /* of a part, where taps are cut */
#define PARTS 8   /* partial weight gradients: fixed, so bits do not depend
                  ** on threads */

/* The smaller of two. */
static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* Output rows of an image, over the first two dims. */
static int64_t rows_of(const la_conv *c) { return c->w[0].out * c->w[1].out; }

/* Some pixels of one image, and some of its lines of columns (channels and
** taps). A part of more than one row has whole rows. */
typedef struct part {
    int64_t row, rows, col, cols, line, lines;
} part;

/* The largest part: rows that fit in MAX_COLUMNS elements, or as much of one
** row, or as many lines. */
static part whole_part(const la_conv *c)
{
    part p = {.rows = 1, .cols = c->w[2].out, .lines = c->ic * la_conv_taps(c)};
    int64_t rows = rows_of(c);
    if (p.lines <= MAX_COLUMNS / la_max(p.cols, 1)) {
        int64_t all = la_max(p.lines * p.cols, 1);
        p.rows = la_max(lesser(MAX_COLUMNS / all, rows), 1);
        return p;
    }
    if (p.lines > MAX_COLUMNS / LEAST_PIXELS)
        p.lines = MAX_COLUMNS / LEAST_PIXELS;
    p.cols = lesser(MAX_COLUMNS / p.lines, p.cols);
    return p;
}

/* The first part of an image. */
static part products_first_part(const la_conv *c)
{
    part p = whole_part(c);
    p.rows = lesser(p.rows, rows_of(c));
    return p;
}

/* The part behind 'p': lines first, then columns, then rows. False: there is
** none. */
static bool products_next_part(const la_conv *c, part *p)
{
    part most = whole_part(c);
    int64_t lines = c->ic * la_conv_taps(c);
    p->line += p->lines;
    if (p->line >= lines) {
        p->line = 0;
        p->col += p->cols;
    }
    if (p->col >= c->w[2].out) {
        p->col = 0;
        p->row += p->rows;
    }
    p->lines = lesser(most.lines, lines - p->line);
    p->cols = lesser(most.cols, c->w[2].out - p->col);
    p->rows = lesser(most.rows, rows_of(c) - p->row);
    return p->row < rows_of(c);
}

/* The scratch of one task. */
static size_t column_bytes(const la_conv *c)
{
    part p = whole_part(c);
    return (size_t)(p.lines * p.rows * p.cols) * la_dtype_size(c->dtype) + 64;
}

/* Channel 'channel' of image n. */
static char *image(const la_conv *c, const char *base, const int64_t *step,
                   int64_t n, int64_t channel)
{
    return (char *)base + (n * step[0] + channel * step[1])
        * (int64_t)la_dtype_size(c->dtype);
}

/* The columns of a part, to be built in 'scratch'. Its columns of the output
** begin where those of a window with less padding do. */
static la_columns products_columns_of(const la_conv *c, int64_t n, int64_t g,
                                      const part *p, char *scratch)
{
    la_columns k = {.first = p->line, .last = p->line + p->lines,
                    .r0 = p->row, .r1 = p->row + p->rows, .cols = scratch,
                    .col_step = p->rows * p->cols};
    memcpy(k.w, c->w, sizeof k.w);
    k.w[2].out = p->cols;
    k.w[2].pad -= p->col * k.w[2].stride;
    k.image = image(c, c->x, c->x_step, n, g * c->ic);
    memcpy(k.image_step, c->x_step + 1, sizeof k.image_step);
    return k;
}

/* A part of y as a matrix of channels x pixels; contiguous rows of one image
** are one run, which set_output's layouts guarantee. */
static la_gemm_mat pixel_matrix(const la_conv *c, int64_t n, int64_t g,
                                int64_t row, int64_t col)
{
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    char *p = image(c, c->y, c->y_step, n, g * c->oc);
    return (la_gemm_mat){p + (row * c->w[2].out + col) * c->y_step[4] * size,
                         c->y_step[1], c->y_step[4]};
}

/* The weights of group g: output channels x (channels, taps). */
static la_gemm_mat weight_matrix(const la_conv *c, char *weight, int64_t g)
{
    int64_t k = c->ic * la_conv_taps(c);
    return (la_gemm_mat){weight + g * c->oc * k
                         * (int64_t)la_dtype_size(c->dtype), k, 1};
}

/* The transpose, by its strides. */
static la_gemm_mat products_transposed(la_gemm_mat m)
{
    return (la_gemm_mat){m.data, m.cs, m.rs};
}

/* ---- y from x ---- */

/* The product adds to what is in 'out' already. */
static void products_add_up(la_gemm *m)
{
    m->add = m->out;
    m->beta = (la_gemm_scalar){1, 0, 1};
}

/* y = weight @ columns, part by part. */
static la_status forward_unit(void *context, int64_t unit, char *scratch)
{
    const la_conv *c = context;
    int64_t n = unit / c->groups, g = unit % c->groups;
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    const la_column_kernels *ker = &(*LA_STUB(columns))[c->dtype];
    part p = products_first_part(c);
    do {
        la_columns k = products_columns_of(c, n, g, &p, scratch);
        la_gemm m;
        la_gemm_init(&m, c->dtype);
        ker->gather(&k);
        m.m = c->oc;
        m.n = k.col_step;
        m.k = p.lines;
        m.a = weight_matrix(c, c->weight, g);
        m.a.data = (char *)m.a.data + p.line * size;
        m.b = (la_gemm_mat){scratch, k.col_step, 1};
        m.out = pixel_matrix(c, n, g, p.row, p.col);
        if (p.line > 0) products_add_up(&m);
        else if (c->bias)
            m.bias = (la_gemm_mat){(char *)c->bias + g * c->oc * size, 1, 0};
        LA_TRY(la_gemm_run(&m));
    } while (products_next_part(c, &p));
    return LA_OK;
}

/* A kernel of one tap (1 x 1), stride 1, no padding, and pixels of x in one
** run. */
static bool is_one_tap(const la_conv *c, la_conv_goal goal)
{
    if (goal == LA_CONV_WEIGHT) return false;
    for (int d = 0; d < 3; d++)
        if (c->w[d].kernel != 1 || c->w[d].stride != 1 || c->w[d].pad != 0)
            return false;
    /* pixels of x are one run, as those of y always are */
    return (c->w[1].in == 1 || c->x_step[3] == c->w[2].in * c->x_step[4])
        && (c->w[0].in == 1 || c->x_step[2] == c->w[1].in * c->x_step[3]);
}

/* The image itself is the matrix of columns: one batched product per group. */
static la_status run_one_tap(const la_conv *c, la_conv_goal goal)
{
    bool backward = goal == LA_CONV_INPUT;
    static const int64_t none = 0;
    la_gemm m;
    for (int64_t g = 0; g < c->groups; g++) {
        la_gemm_mat w = weight_matrix(c, c->weight, g);
        la_gemm_mat x = {image(c, c->x, c->x_step, 0, g * c->ic),
                         c->x_step[1], c->x_step[4]};
        la_gemm_mat y = pixel_matrix(c, 0, g, 0, 0);
        la_gemm_init(&m, c->dtype);
        m.m = backward ? c->ic : c->oc;
        m.k = backward ? c->oc : c->ic;
        m.n = rows_of(c) * c->w[2].out;
        m.a = backward ? products_transposed(w) : w;
        m.b = backward ? y : x;
        m.out = backward ? x : y;
        if (c->bias && !backward)
            m.bias = (la_gemm_mat){(char *)c->bias + g * c->oc
                * (int64_t)la_dtype_size(c->dtype), 1, 0};
        m.nbatch = 1;
        m.batch = &c->batch;
        m.a_step = &none;
        m.b_step = backward ? c->y_step : c->x_step;
        m.out_step = backward ? c->x_step : c->y_step;
        m.add_step = &none;
        LA_TRY(la_gemm_run(&m));
    }
    return LA_OK;
}

/* A single window that covers the whole contiguous image: a linear layer. */
static bool is_one_window(const la_conv *c, la_conv_goal goal)
{
    if (goal == LA_CONV_WEIGHT) return false;
    int64_t step = 1;
    for (int d = 2; d >= 0; d--) {
        const la_window *w = &c->w[d];
        if (w->out != 1 || w->kernel != w->in || w->pad != 0) return false;
        if (w->in > 1 && (w->dilation != 1 || c->x_step[2 + d] != step))
            return false;
        step *= w->in;
    }
    return c->ic == 1 || c->x_step[1] == step;
}

/* Images (rows) times weights, per group. */
static la_status run_one_window(const la_conv *c, la_conv_goal goal)
{
    bool backward = goal == LA_CONV_INPUT;
    int64_t k = c->ic * la_conv_taps(c);
    la_gemm m;
    for (int64_t g = 0; g < c->groups; g++) {
        la_gemm_mat w = weight_matrix(c, c->weight, g);
        la_gemm_mat x = {image(c, c->x, c->x_step, 0, g * c->ic), c->x_step[0],
                         1};
        la_gemm_mat y = {image(c, c->y, c->y_step, 0, g * c->oc), c->y_step[0],
                         c->y_step[1]};
        la_gemm_init(&m, c->dtype);
        m.m = c->batch;
        m.n = backward ? k : c->oc;
        m.k = backward ? c->oc : k;
        m.a = backward ? y : x;
        m.b = backward ? w : products_transposed(w);
        m.out = backward ? x : y;
        if (c->bias && !backward)
            m.bias = (la_gemm_mat){(char *)c->bias + g * c->oc
                * (int64_t)la_dtype_size(c->dtype), 0, 1};
        LA_TRY(la_gemm_run(&m));
    }
    return LA_OK;
}

/* ---- x from y ---- */

/* Zeros in the channels of group g of image n, whatever their strides. */
static void clear_image(const la_conv *c, int64_t n, int64_t g)
{
    size_t size = la_dtype_size(c->dtype);
    for (int64_t ch = 0; ch < c->ic; ch++)
        for (int64_t d = 0; d < c->w[0].in; d++)
            for (int64_t h = 0; h < c->w[1].in; h++) {
                char *row = image(c, c->x, c->x_step, n, g * c->ic + ch)
                    + (d * c->x_step[2] + h * c->x_step[3]) * (int64_t)size;
                if (c->x_step[4] == 1) {
                    memset(row, 0, (size_t)c->w[2].in * size);
                    continue;
                }
                for (int64_t w = 0; w < c->w[2].in; w++)
                    memset(row + w * c->x_step[4] * (int64_t)size, 0, size);
            }
}

/* columns = weight^T @ y, then added to x where they were taken from. */
static la_status input_unit(void *context, int64_t unit, char *scratch)
{
    const la_conv *c = context;
    int64_t n = unit / c->groups, g = unit % c->groups;
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    const la_column_kernels *ker = &(*LA_STUB(columns))[c->dtype];
    part p = products_first_part(c);
    clear_image(c, n, g);
    if (la_conv_pixels(c) == 0) return LA_OK;
    do {
        la_columns k = products_columns_of(c, n, g, &p, scratch);
        la_gemm m;
        la_gemm_init(&m, c->dtype);
        m.m = p.lines;
        m.n = k.col_step;
        m.k = c->oc;
        m.a = products_transposed(weight_matrix(c, c->weight, g));
        m.a.data = (char *)m.a.data + p.line * size;
        m.b = pixel_matrix(c, n, g, p.row, p.col);
        m.out = (la_gemm_mat){scratch, k.col_step, 1};
        LA_TRY(la_gemm_run(&m));
        ker->scatter(&k);
    } while (products_next_part(c, &p));
    return LA_OK;
}

/* ---- weight from x and y ---- */

/* Adds the products of one group of one image to 'sum'; 'first': stores. */
static la_status add_image(const la_conv *c, char *sum, int64_t n, int64_t g,
                           char *scratch, bool first)
{
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    const la_column_kernels *ker = &(*LA_STUB(columns))[c->dtype];
    part p = products_first_part(c);
    do {
        la_columns cols = products_columns_of(c, n, g, &p, scratch);
        la_gemm m;
        la_gemm_init(&m, c->dtype);
        ker->gather(&cols);
        m.m = c->oc;
        m.n = p.lines;
        m.k = cols.col_step;
        m.a = pixel_matrix(c, n, g, p.row, p.col);
        m.b = (la_gemm_mat){scratch, 1, cols.col_step};
        m.out = weight_matrix(c, sum, g);
        m.out.data = (char *)m.out.data + p.line * size;
        if (!first || p.row > 0 || p.col > 0) products_add_up(&m);
        LA_TRY(la_gemm_run(&m));
    } while (products_next_part(c, &p));
    return LA_OK;
}

/* Parts of the batch: fewer for weights of which many copies are too large. */
static int64_t products_parts_of(const la_conv *c)
{
    int64_t count = c->groups * c->oc * c->ic * la_conv_taps(c);
    int64_t bytes = count * (int64_t)la_dtype_size(c->dtype);
    int64_t fit = la_max(LA_CONV_SCRATCH / la_max(bytes, 1), 1);
    return lesser(lesser(PARTS, fit), c->batch);
}

/* Images of part p of the batch, summed into the part's own weights. The parts
** don't depend on the number of threads, so the bits don't either. */
static la_status weight_part(void *context, int64_t p, char *scratch)
{
    const la_conv *c = context;
    int64_t k = c->ic * la_conv_taps(c), parts = products_parts_of(c);
    int64_t first = c->batch * p / parts, last = c->batch * (p + 1) / parts;
    char *sum = c->weight + p * c->groups * c->oc * k
        * (int64_t)la_dtype_size(c->dtype);
    for (int64_t n = first; n < last; n++)
        for (int64_t g = 0; g < c->groups; g++)
            LA_TRY(add_image(c, sum, n, g, scratch, n == first));
    return LA_OK;
}

/* weight = the sum of the parts in order: a row of ones times the parts, which
** works for every dtype that has products. */
static la_status sum_parts(const la_conv *c, char *parts, int64_t n)
{
    int64_t count = c->groups * c->oc * c->ic * la_conv_taps(c);
    double ones[2 * PARTS] = {0};
    char *one = (char *)ones;
    size_t size = la_dtype_size(c->dtype);
    la_scalar s = la_scalar_int(1);
    for (int64_t i = 0; i < n; i++) {
        static const la_f16 half = {0x3c00};
        static const la_bf16 brain = {0x3f80};
        float f = 1;
        double d = 1;
        const void *from = &s.i;
        if (c->dtype == LA_FLOAT16) from = &half;
        else if (c->dtype == LA_BFLOAT16) from = &brain;
        else if (c->dtype == LA_FLOAT32 || c->dtype == LA_COMPLEX64) from = &f;
        else if (c->dtype == LA_FLOAT64 || c->dtype == LA_COMPLEX128) from = &d;
        memcpy(one + (size_t)i * size, from,
               la_is_complex(c->dtype) ? size / 2 : size);
    }
    la_gemm m;
    la_gemm_init(&m, c->dtype);
    m.m = 1;
    m.n = count;
    m.k = n;
    m.a = (la_gemm_mat){one, n, 1};
    m.b = (la_gemm_mat){parts, count, 1};
    m.out = (la_gemm_mat){c->weight, count, 1};
    return la_gemm_run(&m);
}

/* Sums of the parts in a workspace of their own, then the sum of the parts. */
static la_status run_weight_parts(const la_conv *c)
{
    int64_t size = (int64_t)la_dtype_size(c->dtype);
    int64_t count = c->groups * c->oc * c->ic * la_conv_taps(c);
    int64_t parts = products_parts_of(c);
    la_conv with = *c;
    size_t bytes = (size_t)(parts * count * size);
    with.weight = la_mem_alloc(bytes);
    if (!with.weight) return LA_ENOMEM;
    la_unit_plan plan = {weight_part, 1, column_bytes(c)};
    la_status status = la_iter_units(parts, &plan, &with);
    if (!status) status = sum_parts(c, with.weight, parts);
    la_mem_free(with.weight, bytes);
    return status;
}

/* Serves every case with at least one output pixel; for x also none, which
** clears the image. */
static la_status run_columns(const la_conv *c, la_conv_goal goal)
{
    la_unit_plan plan = {goal == LA_CONV_INPUT ? input_unit : forward_unit, 1,
                         column_bytes(c)};
    if (goal == LA_CONV_WEIGHT) return run_weight_parts(c);
    return la_iter_units(c->batch * c->groups, &plan, (void *)c);
}

/* The general method: last in the engine's table. */
static bool serves_all(const la_conv *c, la_conv_goal goal)
{
    (void)c;
    (void)goal;
    return true;
}

/* Methods of this file in the table of engine.c. */
const la_conv_method la_conv_one_tap = {is_one_tap, run_one_tap};
const la_conv_method la_conv_one_window = {is_one_window, run_one_window};
const la_conv_method la_conv_columns = {serves_all, run_columns};
