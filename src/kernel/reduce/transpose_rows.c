/* The table entry of reduce_transpose: transpose_rows.h, for callers outside of
** the kernels, and points: rows of two or three elements without gaps, which
** are many. */
#include "kernel/reduce/transpose_rows.h"

#define S(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

#define NAME points4
#define WORD uint32_t
#define LANES 8
#define EVEN(a, b) S(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD(a, b) S(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define ZIP_LOW(x, y) S(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(x, y) S(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#define FIRST(a, b, c) S(S(a, b, 0, 3, 6, 9, 12, 15, 0, 0), c, \
                         0, 1, 2, 3, 4, 5, 10, 13)
#define SECOND(a, b, c) S(S(a, b, 1, 4, 7, 10, 13, 0, 0, 0), c, \
                          0, 1, 2, 3, 4, 8, 11, 14)
#define THIRD(a, b, c) S(S(a, b, 2, 5, 8, 11, 14, 0, 0, 0), c, \
                         0, 1, 2, 3, 4, 9, 12, 15)
#define JOIN_LOW(x, y, z) S(S(x, y, 0, 8, 0, 1, 9, 0, 2, 10), z, \
                            0, 1, 8, 3, 4, 9, 6, 7)
#define JOIN_MIDDLE(x, y, z) S(S(x, y, 0, 3, 11, 0, 4, 12, 0, 5), z, \
                               10, 1, 2, 11, 4, 5, 12, 7)
#define JOIN_HIGH(x, y, z) S(S(x, y, 13, 0, 6, 14, 0, 7, 15, 0), z, \
                             0, 13, 2, 3, 14, 5, 6, 15)
#include "kernel/reduce/loops/points.inc"

#define NAME points8
#define WORD uint64_t
#define LANES 4
#define EVEN(a, b) S(a, b, 0, 2, 4, 6)
#define ODD(a, b) S(a, b, 1, 3, 5, 7)
#define ZIP_LOW(x, y) S(x, y, 0, 4, 1, 5)
#define ZIP_HIGH(x, y) S(x, y, 2, 6, 3, 7)
#define FIRST(a, b, c) S(S(a, b, 0, 3, 6, 0), c, 0, 1, 2, 5)
#define SECOND(a, b, c) S(S(a, b, 1, 4, 7, 0), c, 0, 1, 2, 6)
#define THIRD(a, b, c) S(S(a, b, 2, 5, 0, 0), c, 0, 1, 4, 7)
#define JOIN_LOW(x, y, z) S(S(x, y, 0, 4, 0, 1), z, 0, 1, 4, 3)
#define JOIN_MIDDLE(x, y, z) S(S(x, y, 5, 0, 2, 6), z, 0, 5, 2, 3)
#define JOIN_HIGH(x, y, z) S(S(x, y, 0, 3, 7, 0), z, 6, 1, 2, 7)
#include "kernel/reduce/loops/points.inc"
#undef S

static bool are_points(const la_reduce_rows *r, int64_t size)
{
    return (r->n == 2 || r->n == 3) && (size == 4 || size == 8)
        && r->step == size && r->row_step == r->n * size;
}

static void transpose(const la_reduce_rows *r, int64_t size, int64_t width,
                      char *out)
{
    int64_t done = !are_points(r, size) ? 0
        : size == 4 ? points4_split(r, width, out)
        : points8_split(r, width, out);
    la_reduce_rows rest = *r;
    rest.in += done * r->row_step;
    rest.rows -= done;
    if (rest.rows > 0) transpose_rows(&rest, size, width, out + done * size);
}

static void transpose_back(const char *columns, int64_t size, int64_t width,
                 const la_reduce_rows *r)
{
    int64_t done = !are_points(r, size) ? 0
        : size == 4 ? points4_join(columns, width, r)
        : points8_join(columns, width, r);
    char *to = (char *)r->in;
    for (int64_t i = done; i < r->rows; i++)
        for (int64_t k = 0; k < r->n; k++)
            memcpy(to + i * r->row_step + k * r->step,
                   columns + (k * width + i) * size, (size_t)size);
}

const la_reduce_transpose LA_KERNEL(reduce_transpose) = {
    transpose, transpose_back};
