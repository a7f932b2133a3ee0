/*
** Triangles and diagonals of matrices.
**
** A diagonal k is the elements (r, r + k): 0 is the main one, positive ones lie
** above it. tril keeps what is on and below, triu what is on and above.
*/
#include "base/runtime/memory.h"
#include "iter/items.h"
#include "op/composite.h"
#include "op/move/copy.h"
#include "op/move/move.h"
#include "op/view/view.h"

#define LA_ROWS "op/def/join.def"
#include "base/runtime/interrupt.h"
#include "iter/iter.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* --- tril, triu --- */

/* (self, diagonal): self's sizes. LA_ESHAPE under two dims. */
static la_status meta_triangle(la_frame *f, const char *name)
{
    la_tensor *t = la_arg(f, 0);
    if (t->ndim < 2)
        return la_error_at(LA_ESHAPE, 1, "%s: input tensor must have at least "
                           "2 dimensions", name);
    LA_TRY(la_set_output(f, 0, t->ndim, la_sizes(t), NULL, t->dtype));
    la_copy_names(la_result(f, 0), t);
    return LA_OK;
}

la_status la_meta_tril(la_frame *f) { return meta_triangle(f, "tril"); }
la_status la_meta_triu(la_frame *f) { return meta_triangle(f, "triu"); }

/* One call for all threads. Rows are counted over all dims but the last; 'size'
** is the bytes of an element. */
typedef struct triangle {
    la_strided to, from;
    const int64_t *sizes;
    int ndim;
    int64_t k;
    bool lower;
    size_t size;
} triangle;

/* Rows begin..end-1 of all matrices, counted through. */
static void triangle_rows(int64_t begin, int64_t end, void *context)
{
    const triangle *c = context;
    int64_t rows = c->sizes[c->ndim - 2], columns = c->sizes[c->ndim - 1];
    int64_t size = (int64_t)c->size;
    int64_t strides[4] = {size, c->from.strides[c->ndim - 1], 0, 0};
    for (int64_t n = begin; n < end; n++) {
        int64_t rest = n, r = n % rows;
        char *to = c->to.data + n * columns * size, *from = c->from.data;
        for (int d = c->ndim - 2; d >= 0; d--) {
            from += rest % c->sizes[d] * c->from.strides[d];
            rest /= c->sizes[d];
        }
        /* The first column above the diagonal (tril) or on it (triu). */
        int64_t border = r + c->k + (c->lower ? 1 : 0);
        border = border < 0 ? 0 : border > columns ? columns : border;
        int64_t first = c->lower ? 0 : border;
        int64_t last = c->lower ? border : columns;
        memset(to, 0, (size_t)(first * size));
        memset(to + last * size, 0, (size_t)((columns - last) * size));
        if (last > first)
            la_move_block(c->size, to + first * size,
                          from + first * strides[1], strides, last - first, 1);
    }
}

/* Diagonals beyond the corners are those of the corners: no overflow. */
static la_status fill_triangle(la_frame *f, bool lower)
{
    la_tensor *t = la_arg(f, 0);
    if (t->numel == 0)
        return LA_OK;
    int64_t columns = la_sizes(t)[t->ndim - 1], k = la_arg_int(f, 1);
    int64_t far = la_sizes(t)[t->ndim - 2] + columns + 1;
    triangle c = {
        .to = la_strided_of(la_result(f, 0)), .from = la_strided_of(t),
        .sizes = la_sizes(t), .ndim = t->ndim,
        .k = k > far ? far : k < -far ? -far : k, .lower = lower,
        .size = la_itemsize(t),
    };
    int64_t grain = LA_GRAIN / columns + 1;
    return la_iter_items(t->numel / columns, grain, grain * 16, triangle_rows,
                         &c);
}

LA_FORWARD(la_impl_tril, fill_triangle(f, true))
LA_FORWARD(la_impl_triu, fill_triangle(f, false))

/* --- indices of the triangles --- */

/* How many elements (r, c) of a matrix have c < r + k: rows before -k have
** none, those from columns - k on have all, the row lengths between rise by
** one. Within rows * columns, so nothing overflows. */
static int64_t count_below(int64_t rows, int64_t columns, int64_t k)
{
    int64_t first = k < 0 ? -k : 0, full = columns - k;
    if (first > rows) first = rows;
    if (full > rows) full = rows;
    if (full < first) full = first;
    int64_t rising = full - first, all = (rows - full) * columns;
    return all + rising * (2 * (first + k) + rising - 1) / 2;
}

/* (row, col, offset, dtype) -> [2, count]. LA_EARG for negative sizes,
** LA_ESHAPE for more elements than a tensor can have. */
static la_status meta_indices(la_frame *f, bool lower)
{
    int64_t rows = la_arg_int(f, 0), columns = la_arg_int(f, 1);
    int64_t k = la_arg_int(f, 2), count = 0, sizes[2] = {2, 0}, most;
    if (rows < 0 || columns < 0)
        return la_error_at(LA_EARG, rows < 0 ? 1 : 2, "%s must be "
                           "non-negative, got %lld", rows < 0 ? "row" : "col",
                           (long long)(rows < 0 ? rows : columns));
    if (!la_mul_ok(rows, columns, &most) || most > LA_MAX_NUMEL / 2
        || rows > LA_MAX_NUMEL || columns > LA_MAX_NUMEL)
        return la_error(LA_ESHAPE, "size overflow");
    k = k > columns ? columns : k < -rows ? -rows : k;
    count = count_below(rows, columns, k + (lower ? 1 : 0));
    sizes[1] = lower ? count : rows * columns - count;
    f->scratch[0] = k;
    return la_set_output(f, 0, 2, sizes, NULL,
                         la_has(f, 3) ? f->args[3].dtype : LA_INT64);
}

LA_FORWARD(la_meta_tril_indices, meta_indices(f, true))
LA_FORWARD(la_meta_triu_indices, meta_indices(f, false))

/* Coordinates count from 1. Rows that have nothing are not visited: there may
** be any number of them. */
static void write_indices(la_frame *f, bool lower, int64_t *row,
                          int64_t *column)
{
    int64_t rows = la_arg_int(f, 0), columns = la_arg_int(f, 1);
    int64_t k = f->scratch[0] + (lower ? 1 : 0);
    int64_t begin = lower && k < 0 ? -k : 0;
    int64_t end = !lower && rows > columns - k ? columns - k : rows;
    for (int64_t r = begin; r < end && !la_interrupted(); r++) {
        int64_t border = r + k;
        border = border < 0 ? 0 : border > columns ? columns : border;
        int64_t last = lower ? border : columns;
        for (int64_t c = lower ? 0 : border; c < last; c++) {
            *row++ = r + 1;
            *column++ = c + 1;
        }
    }
}

/* Written as int64 first: the rows' own dtype may be another. */
static la_status impl_indices(la_frame *f, bool lower)
{
    la_tensor *out = la_result(f, 0);
    int64_t count = la_sizes(out)[1];
    LA_LET(list, la_tensor_empty(2, la_sizes(out), LA_INT64, &list));
    int64_t *data = (int64_t *)la_data(list);
    if (count)
        write_indices(f, lower, data, data + count);
    LA_TRY(la_poll());
    return la_move_tensor(out, list);
}

LA_FORWARD(la_impl_tril_indices, impl_indices(f, true))
LA_FORWARD(la_impl_triu_indices, impl_indices(f, false))

/* --- diagonals --- */

/* (self, offset, dim1, dim2): self's last dim becomes a diagonal of the two new
** dims. LA_EARG for equal dims; LA_ESHAPE for a tensor without a dim or with
** too many. */
la_status la_meta_diag_embed(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    int64_t offset = la_arg_int(f, 1), sizes[LA_MAX_DIMS];
    int a, b, n = 0;
    if (t->ndim == 0 || t->ndim >= LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 1, "diag_embed expects 1 to %d "
                           "dimensions, got %d", LA_MAX_DIMS - 1, t->ndim);
    LA_TRY(la_arg_dim(f, 2, t->ndim + 1, &a));
    LA_TRY(la_arg_dim(f, 3, t->ndim + 1, &b));
    if (a == b)
        return la_error(LA_EARG, "diagonal dimensions cannot be identical %d, "
                        "%d", a + 1, b + 1);
    if (offset > LA_MAX_NUMEL || offset < -LA_MAX_NUMEL)
        return la_error_at(LA_ESHAPE, 2, "size overflow");
    int64_t side = la_sizes(t)[t->ndim - 1] + (offset < 0 ? -offset : offset);
    for (int d = 0; d <= t->ndim; d++)
        sizes[d] = d == a || d == b ? side : la_sizes(t)[n++];
    f->scratch[0] = a;
    f->scratch[1] = b;
    return la_set_output(f, 0, t->ndim + 1, sizes, NULL, t->dtype);
}

/* Zeros everywhere, then self to the diagonal view of the result. The zeros
** come from one element with strides of 0. */
la_status la_impl_diag_embed(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out = la_result(f, 0);
    la_strided zeros = la_strided_of(out), from = la_strided_of(t);
    la_strided nothing = {0};
    _Alignas(16) char zero[16] = {0};
    la_geometry g;
    nothing.data = zero;
    LA_TRY(la_move(&zeros, &nothing, out->ndim, la_sizes(out),
                   la_itemsize(out)));
    la_geometry_of(out, &g);
    LA_TRY(la_geo_diagonal(&g, la_arg_int(f, 1), f->scratch[0],
                           f->scratch[1]));
    la_strided to = {.data = zeros.data + (g.offset - out->offset)
                           * (int64_t)la_itemsize(out)};
    for (int d = 0; d < g.ndim; d++)
        to.strides[d] = g.strides[d] * (int64_t)la_itemsize(out);
    return la_move(&to, &from, t->ndim, la_sizes(t), la_itemsize(t));
}

/* A vector becomes a matrix, of a matrix the diagonal is copied. *out is owned.
** LA_ESHAPE for other numbers of dims. */
static la_status diag(la_tensor *t, int64_t k, la_tensor **out)
{
    if (t->ndim == 1)
        return la_run(diag_embed, out, t, k);
    if (t->ndim != 2)
        return la_error_at(LA_ESHAPE, 1, "Supports 1D or 2D tensors. "
                           "Got %dD", t->ndim);
    LA_LET(view, la_run(diagonal, &view, t, k));
    return la_clone_contiguous(view, out);
}

la_status la_impl_diag(la_frame *f)
{
    la_tensor *out;
    return la_give(f, diag(la_arg(f, 0), la_arg_int(f, 1), &out), &out);
}

/* (self, offset): self in row-major order as a diagonal. */
la_status la_impl_diagflat(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    int64_t all = t->numel;
    LA_LET(flat, la_reshape_to(t, 1, &all, &flat));
    return la_give(f, la_run(diag_embed, &out, flat, f->args[1]), &out);
}

/* (self) -> 0-dim; integers are added up in int64, as by sum. */
la_status la_impl_trace(la_frame *f)
{
    la_tensor *t = la_arg(f, 0), *out;
    if (t->ndim != 2)
        return la_error_at(LA_ESHAPE, 1, "expected a matrix, but got "
                           "tensor with dim %d", t->ndim);
    LA_LET(line, la_run(diagonal, &line, t));
    return la_give(f, la_run(sum, &out, line), &out);
}

/* --- fill_diagonal_(self, value, wrap) --- */

/* The rows begin..end-1 of a matrix: their diagonal becomes 'value'. */
static la_status triangle_fill_rows(la_frame *f, int64_t begin, int64_t end)
{
    LA_LET(rows, la_run(narrow, &rows, la_arg(f, 0), 0, begin, end - begin));
    LA_LET(line, la_run(diagonal, &line, rows));
    return la_run_(fill_, line, f->args[1]);
}

/* The diagonal of a tensor of more than two dims: dim after dim it is the
** diagonal of the first one and the last. */
static la_status fill_cube(la_frame *f)
{
    LA_CHAIN(w);
    la_tensor *t = la_arg(f, 0);
    for (int d = 1; d < t->ndim; d++)
        if (la_sizes(t)[d] != la_sizes(t)[0])
            return la_error_at(LA_ESHAPE, 1, "all dimensions of input must be "
                               "of equal length");
    for (int d = t->ndim; d > 1; d--) t = R(diagonal, t, 0, 0, -1);
    if (w->status) return w->status;
    return la_run_(fill_, t, f->args[1]);
}

/* Wrapping, in a matrix with more rows than columns, begins a diagonal anew a
** row below the end of the one before. An expanded tensor is refused here,
** because the views that are filled have no overlap of their own. */
la_status la_impl_fill_diagonal_(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    if (t->ndim < 2)
        return la_error_at(LA_ESHAPE, 1, "dimensions must larger than 1");
    if (la_internal_overlap(t) == LA_OVERLAP_YES)
        return la_error_at(LA_EALIAS, 1, "more than one element of the "
                           "written-to tensor refers to a single memory "
                           "location: clone the tensor first");
    if (t->ndim > 2) {
        LA_TRY(fill_cube(f));
    } else {
        int64_t rows = la_sizes(t)[0], step = la_sizes(t)[1] + 1;
        int64_t last = la_arg_bool(f, 2) ? rows : rows > 0;
        for (int64_t r = 0; r < last; r += step)
            LA_TRY(triangle_fill_rows(f, r, rows));
    }
    return LA_GIVE(f, la_tensor_retain(t));
}
