/*
** argmax, argmin, and max and min with positions: of the first NaN, or of the
** first of equal extremes (-0.0 and 0.0 are equal).
**
** A contiguous row goes a block at a time, while it is in the nearest cache:
** the kernel of max or min gives its extreme, and only where that wins against
** the row's best so far the block is searched for it, by its bits. Random data
** is searched seldom; ascending data in every block, at twice the time.
** Columns, and short rows that are transposed to columns, carry the best
** element and its row in vectors: elements of 8 and 16 bits are widened to 32,
** unsigned ones shifted to signed ones of the same order.
*/
#include "base/scratch.h"
#include "kernel/reduce/map.h"
#include "kernel/sort/first_set.h"
#include "simd/int_extreme.h"
#include "simd/permute/widen_int.h"

extern const la_reductions LA_OWN_TABLE(reduce_max);
extern const la_reductions LA_OWN_TABLE(reduce_min);
extern const la_reduce_transpose LA_OWN_TABLE(reduce_transpose);

enum {
    BLOCK = 16384,      /* bytes of rows that are looked at together */
    SOME = 64,          /* and how many rows at most */
    SIDE = 512,         /* columns that are looked at together */
    PASS = 8,           /* rows of columns in one pass over the best ones */
    WIDE = 128,         /* few columns become about so many */
    COLUMNS_STRIP = 4 * VEC_BYTES
};

typedef struct arg_kind {
    int64_t size, lane;   /* bytes of an element, and of what it becomes */
    uint64_t inf;         /* bits of an infinity; 0: not floating */
    int last;             /* the byte that nothing wins against, or -1 */
    bool is_bool;
    const la_reduction *extreme;   /* max or min of the same dtype */
    bool (*wins)(const char *x, const char *best);
    bool widened;         /* columns are compared as another type */
    /* of some contiguous rows from 'first' on the positions, from 0; returns
    ** how many rows these were. NULL: none */
    int64_t (*near)(const la_reduce_rows *r, int64_t first, int64_t *index);
    void (*columns)(const char *p, int64_t row, int64_t many, int64_t cols,
                    char *best, char *at, int64_t first);
} arg_kind;

static inline void copy_element(char *to, const char *from, int64_t size)
{
    switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8);
    }
}
static inline uint64_t load_bits(const char *p, int64_t size)
{
    return size == 1 ? reduce_load_u8(p) : size == 2 ? reduce_load_u16(p)
         : size == 4 ? reduce_load_u32(p) : reduce_load_u64(p);
}

/* ---- rows ---- */

#define NAME find_1
#define WORD uint8_t
#include "kernel/reduce/loops/argmax_find.inc"
#define NAME find_2
#define WORD uint16_t
#include "kernel/reduce/loops/argmax_find.inc"
#define NAME find_4
#define WORD uint32_t
#include "kernel/reduce/loops/argmax_find.inc"
#define NAME find_8
#define WORD uint64_t
#include "kernel/reduce/loops/argmax_find.inc"

static int64_t find_nan(const arg_kind *k, const char *p, uint64_t magnitude)
{
    int64_t i = 0;
    while ((load_bits(p + i * k->size, k->size) & magnitude) <= k->inf) i++;
    return i;
}

/* Position of the first of n contiguous elements that equals 'best', which is
** one of them; the first NaN when it is one. */
static int64_t reduce_argmax_find(const arg_kind *k, const char *p, int64_t n,
                                  const char *best)
{
    uint64_t key = load_bits(best, k->size);
    uint64_t magnitude = ((uint64_t)1 << (8 * k->size - 1)) - 1;
    if (k->inf && (key & magnitude) > k->inf) return find_nan(k, p, magnitude);
    bool zero = k->inf && (key & magnitude) == 0;
    switch (k->size) {
    case 1: return find_1(p, n, key, zero);
    case 2: return find_2(p, n, key, zero);
    case 4: return find_4(p, n, key, zero);
    default: return find_8(p, n, key, zero);
    }
}

/* The extremes of rows as elements one after the other. */
static inline void extremes(const arg_kind *k, const la_reduce_rows *r,
                            char *best)
{
    static const la_reduce_args plain = {.mode = LA_STORE_PLAIN};
    int64_t acc[SOME];
    k->extreme->inner(r, (char *)acc, &plain);
    k->extreme->store((const char *)acc, best, r->rows, &plain);
}

/* Position of the extreme bool; all may be the same, and every byte but 0 is
** true. */
static inline int64_t find_bool(const arg_kind *k, const char *p, int64_t n)
{
    int64_t i = 0;
    if (!k->last) {
        const char *first = memchr(p, 0, (size_t)n);
        return first ? first - p : 0;
    }
    while (n - i >= VEC_BYTES && !i32_any(i32_load(p + i) != 0)) i += VEC_BYTES;
    while (i < n && !p[i]) i++;
    return i < n ? i : 0;
}
static void search_bools(const arg_kind *k, const la_reduce_rows *r,
                         int64_t *index, char *value)
{
    for (int64_t i = 0; i < r->rows; i++) {
        const char *p = r->in + i * r->row_step;
        int64_t at = find_bool(k, p, r->n);
        index[i] = at + 1;
        if (value) value[i] = p[at];
    }
}

/* The position in one contiguous row of any length. */
static int64_t search_blocks(const arg_kind *k, const char *p, int64_t n)
{
    int64_t at = 0, some = BLOCK / k->size, length = n < some ? n : some;
    char best[8], x[8];
    if (k->is_bool) return find_bool(k, p, n);
    for (int64_t i = 0; i < n; i += some) {
        int64_t m = n - i < some ? n - i : some;
        la_reduce_rows r = {p + i * k->size, k->size, m, 0, 1};
        extremes(k, &r, x);
        if (i > 0 && !k->wins(x, best)) continue;
        memcpy(best, x, sizeof(x));
        at = i;
        length = m;
        if (k->last >= 0 && (uint8_t)best[0] == k->last) break;
    }
    return at + reduce_argmax_find(k, p + at * k->size, length, best);
}

/* Elements with gaps are brought together, a block at a time. */
static int64_t search_gaps(const arg_kind *k, const char *p, int64_t step,
                           int64_t n)
{
    LA_SCRATCH(char, block, BLOCK);
    int64_t at = 0, some = BLOCK / k->size;
    for (int64_t i = 0; i < n; i += some) {
        int64_t m = n - i < some ? n - i : some;
        reduce_gather_by_size(block, p + i * step, step, m, k->size);
        int64_t j = search_blocks(k, block, m);
        if (i == 0 || k->wins(block + j * k->size, p + at * step)) at = i + j;
    }
    return at;
}

/* Contiguous rows of at most a block: several share a call of the kernel. */
static void search_near(const arg_kind *k, const la_reduce_rows *r,
                        int64_t *index)
{
    char best[SOME * 8];
    const bool passes = k->near && r->n * k->size >= 256
        && r->n * k->size <= BLOCK / 2;
    int64_t some = BLOCK / (r->n * k->size);
    if (some > SOME) some = SOME;
    for (int64_t i = 0, m; i < r->rows; i += m) {
        la_reduce_rows part = *r;
        m = passes ? k->near(r, i, index + i) : 0;
        if (m > 0) continue;
        m = r->rows - i < some ? r->rows - i : some;
        part.in += i * r->row_step;
        part.rows = m;
        extremes(k, &part, best);
        for (int64_t j = 0; j < m; j++)
            index[i + j] = reduce_argmax_find(k, part.in + j * r->row_step,
                                              r->n, best + j * k->size);
    }
}

static void search_columns(const arg_kind *k, const la_reduce_cols *c,
                           bool padded, int64_t *index, char *value);

/* Short rows, transposed: rows become columns. */
static void search_short(const arg_kind *k, const la_reduce_rows *r,
                         int64_t *index, char *value)
{
    LA_SCRATCH(char, transposed, BLOCK);
    const int64_t side = SOME;
    for (int64_t i = 0; i < r->rows; i += side) {
        int64_t m = r->rows - i < side ? r->rows - i : side;
        la_reduce_rows part = {r->in + i * r->row_step, r->step, r->n,
                               r->row_step, m};
        la_reduce_cols c = {transposed, side * k->size, r->n, k->size, m};
        LA_OWN_TABLE(reduce_transpose).rows(&part, k->size, side, transposed);
        search_columns(k, &c, true, index + i,
                       value ? value + i * k->size : NULL);
    }
}

static void search_rows(const arg_kind *k, const la_reduce_rows *r,
                        int64_t *index, char *value)
{
    const bool dense = r->step == k->size;
    int64_t few = k->size == 8 ? 32 : 64;
    if (k->is_bool && dense && r->n >= 32) {
        search_bools(k, r, index, value);
        return;
    }
    if (r->n < few && r->rows >= 8) {
        search_short(k, r, index, value);
        return;
    }
    const bool bits = dense && !k->is_bool;     /* equal ones are the same */
    if (bits && r->n * k->size <= BLOCK)
        search_near(k, r, index);
    else
        for (int64_t i = 0; i < r->rows; i++) {
            const char *p = r->in + i * r->row_step;
            index[i] = bits ? search_blocks(k, p, r->n)
                            : search_gaps(k, p, r->step, r->n);
        }
    for (int64_t i = 0; i < r->rows; i++) {
        if (value)
            copy_element(value + i * k->size,
                         r->in + i * r->row_step + index[i] * r->step, k->size);
        index[i]++;
    }
}

/* ---- columns ---- */

/* The elements at rows 'index' (from 1), or the best ones where they are
** elements. */
static inline void argmax_put_values(const arg_kind *k, const la_reduce_cols *c,
                                     const int64_t *index, const char *best,
                                     char *value)
{
    if (!k->widened) {
        memcpy(value, best, (size_t)(c->cols * k->size));
        return;
    }
    for (int64_t j = 0; j < c->cols; j++)
        copy_element(value + j * k->size, c->in + (index[j] - 1) * c->row_step
                     + j * c->step, k->size);
}

/* Searches at most SIDE columns. 'padded': memory goes on behind them, up to a
** multiple of SOME columns. */
static void search_columns(const arg_kind *k, const la_reduce_cols *c,
                           bool padded, int64_t *index, char *value)
{
    LA_SCRATCH(char, best, SIDE * 8);
    LA_SCRATCH(char, at, SIDE * 8);
    LA_SCRATCH_ROWS(char, tile, PASS, SIDE * 8);
    const int64_t strip = COLUMNS_STRIP / k->lane;
    bool copied = c->step != k->size || (!padded && c->cols < strip);
    int64_t cols = c->cols, some = padded ? c->rows : PASS;
    if (padded || copied) cols = (cols + strip - 1) / strip * strip;
    for (int64_t i = 0, m; i < c->rows; i += m) {
        const char *p = c->in + i * c->row_step;
        m = c->rows - i < some ? c->rows - i : some;
        if (!copied) {
            k->columns(p, c->row_step, m, cols, best, at, i);
            continue;
        }
        for (int64_t j = 0; j < m; j++)
            reduce_gather_by_size(tile[j], p + j * c->row_step, c->step,
                                  c->cols, k->size);
        k->columns(tile[0], sizeof(tile[0]), m, cols, best, at, i);
    }
    cols = c->cols;
    if (k->lane == 4)
        for (int64_t j = 0; j < cols; j++)
            index[j] = (int64_t)((const int32_t *)at)[j] + 1;
    else
        for (int64_t j = 0; j < cols; j++)
            index[j] = ((const int64_t *)at)[j] + 1;
    if (value) argmax_put_values(k, c, index, best, value);
}

/* Does column j's element of row i (from 0) come before that of row 'found'? */
static inline bool earlier(const arg_kind *k, const la_reduce_cols *c,
                           int64_t j, int64_t i, int64_t found)
{
    const char *x = c->in + j * k->size + i * c->row_step;
    const char *best = c->in + j * k->size + found * c->row_step;
    return k->wins(x, best) || (i < found && !k->wins(best, x));
}

/* Few columns without gaps: several rows abreast make a wide one. */
static void search_narrow(const arg_kind *k, const la_reduce_cols *c,
                          int64_t *index, char *value)
{
    int64_t at[WIDE], size = k->size, cols = c->cols;
    int64_t side = WIDE / cols, rows = c->rows / side;
    la_reduce_cols wide = {c->in, side * c->row_step, rows, size, side * cols};
    search_columns(k, &wide, false, at, NULL);
    for (int64_t j = 0; j < side * cols; j++) {
        int64_t col = j % cols, i = (at[j] - 1) * side + j / cols;
        if (j < cols || earlier(k, c, col, i, index[col] - 1))
            index[col] = i + 1;
    }
    la_reduce_cols rest = {c->in + rows * side * c->row_step, c->row_step,
                           c->rows - rows * side, size, cols};
    if (rest.rows > 0) search_columns(k, &rest, false, at, NULL);
    for (int64_t j = 0; rest.rows > 0 && j < cols; j++) {
        int64_t i = rows * side + at[j] - 1;
        if (earlier(k, c, j, i, index[j] - 1)) index[j] = i + 1;
    }
    for (int64_t j = 0; value && j < cols; j++)
        copy_element(value + j * size,
                     c->in + (index[j] - 1) * c->row_step + j * size, size);
}

static void search_cols(const arg_kind *k, const la_reduce_cols *c,
                        int64_t *index, char *value)
{
    if (c->step == k->size && c->row_step == c->cols * k->size
        && c->cols <= WIDE / 4 && c->rows >= WIDE) {
        search_narrow(k, c, index, value);
        return;
    }
    /* A few rows that no cache holds are read abreast. */
    int64_t side = c->rows < 32 && c->row_step >= 1 << 20 ? 64 : SIDE;
    for (int64_t j = 0; j < c->cols; j += side) {
        la_reduce_cols part = *c;
        part.in += j * c->step;
        part.cols = c->cols - j < side ? c->cols - j : side;
        search_columns(k, &part, false, index + j,
                       value ? value + j * k->size : NULL);
    }
}

/* ---- dtypes ---- */

/* Unsigned integers as signed ones of the same order. */
#define SHIFT32(p) (i32_load(p) ^ INT32_MIN)
#define SHIFT64(p) (i64_load(p) ^ INT64_MIN)


#define IDENT(lane) LA_CAT(IDENT_, lane, , )
#define OP argmax
#define EXTREME LA_OWN_TABLE(reduce_max)
#define BEYOND(a, b) ((a) > (b))
#define NOT_BEYOND(a, b) ((a) <= (b))
#define BETTER(lane, a, b) lane##_max(a, b)
#define IDENT_f32 -INFINITY
#define IDENT_f64 -INFINITY
#define IDENT_i32 INT32_MIN
#define IDENT_i64 INT64_MIN
#define LAST(is_signed) ((is_signed) ? 0x7f : 0xff)
#include "kernel/reduce/each/each_argmax.inc"

#define OP argmin
#define EXTREME LA_OWN_TABLE(reduce_min)
#define BEYOND(a, b) ((a) < (b))
#define NOT_BEYOND(a, b) ((a) >= (b))
#define BETTER(lane, a, b) lane##_min(a, b)
#define IDENT_f32 INFINITY
#define IDENT_f64 INFINITY
#define IDENT_i32 INT32_MAX
#define IDENT_i64 INT64_MAX
#define LAST(is_signed) ((is_signed) ? 0x80 : 0)
#include "kernel/reduce/each/each_argmax.inc"

#define ARG(k) {rows_##k, cols_##k}
#define ALL(op) \
    [LA_BOOL] = ARG(op##_b8), [LA_UINT8] = ARG(op##_u8), \
    [LA_INT8] = ARG(op##_i8), [LA_UINT16] = ARG(op##_u16), \
    [LA_INT16] = ARG(op##_i16), [LA_UINT32] = ARG(op##_u32), \
    [LA_INT32] = ARG(op##_i32), [LA_UINT64] = ARG(op##_u64), \
    [LA_INT64] = ARG(op##_i64), [LA_FLOAT16] = ARG(op##_f16), \
    [LA_BFLOAT16] = ARG(op##_bf16), [LA_FLOAT32] = ARG(op##_f32), \
    [LA_FLOAT64] = ARG(op##_f64)

const la_arg_reductions LA_KERNEL(reduce_argmax) = {ALL(argmax)};
const la_arg_reductions LA_KERNEL(reduce_argmin) = {ALL(argmin)};
