/* Reading columns: keys, numbers, rows. */
#include "modules/frame/frame.h"

#include <math.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/size.h"

/* Scopes end with a call of this (LA_TABLE_OWN), so that a block goes on every
** way out, also when an allocation after it failed. */
void la_table_free(la_table_block *b)
{
    if (b->p) la_mem_free(b->p, b->bytes);
    b->p = NULL;
}

/* One element at least is allocated: NULL then always means that memory ran
** out. The half of SIZE_MAX leaves pointer differences inside ptrdiff_t. */
la_status la_table_alloc(la_table_block *b, int64_t n, size_t size, bool zero)
{
    int64_t bytes;
    if (!la_mul_ok(n > 0 ? n : 1, (int64_t)size, &bytes)
        || (uint64_t)bytes > SIZE_MAX / 2)
        return la_error(LA_ESHAPE, "size overflow");
    b->bytes = (size_t)bytes;
    b->p = zero ? la_mem_zalloc(b->bytes) : la_mem_alloc(b->bytes);
    return b->p ? LA_OK : LA_ENOMEM;
}

/* Loops over keys of columns without gaps are spared one comparison per row,
** and uint64 may hold UINT64_MAX as a value, which as a key equals
** LA_TABLE_GAP. */
bool la_table_may_gap(const la_table_column *c)
{
    return c->kind != LA_TABLE_NUMBER || c->dtype == LA_FLOAT64
        || c->dtype == LA_FLOAT32;
}

/* ---- keys ---- */

/* The range decides how many bits of the keys count (order.c) and whether a
** table over it is small enough (group.c). Gaps are kept out of it, as
** LA_TABLE_GAP would make every range the widest. */
la_table_range la_table_range_of(const uint64_t *k, int64_t n, bool may_gap)
{
    la_table_range r = {UINT64_MAX, 0, false, false};
    for (int64_t i = 0; i < n; i++) {
        if (may_gap && k[i] == LA_TABLE_GAP) {
            r.gaps = true;
            continue;
        }
        r.any = true;
        r.least = k[i] < r.least ? k[i] : r.least;
        r.most = k[i] > r.most ? k[i] : r.most;
    }
    return r;
}

#define COLUMN_SIGN (UINT64_C(1) << 63)

/* Floats: the bits as an integer that rises with the value; both zeros are
** one, every NaN is the gap. */
static inline uint64_t column_float_key(double v)
{
    uint64_t bits;
    if (v != v) return LA_TABLE_GAP;
    v += 0.0;
    memcpy(&bits, &v, sizeof bits);
    return bits & COLUMN_SIGN ? ~bits : bits | COLUMN_SIGN;
}

static void column_float64_keys(const double *p, int64_t n, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = column_float_key(p[i]);
}

/* Keys of the same values as float64: columns of both dtypes then join and
** group with each other. */
static void column_float32_keys(const float *p, int64_t n, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = column_float_key((double)p[i]);
}

/* A flipped sign puts negative numbers before positive ones in the order of
** unsigned integers. */
static void column_int64_keys(const int64_t *p, int64_t n, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (uint64_t)p[i] ^ COLUMN_SIGN;
}

/* The gap is the least value: one less wraps it to the greatest key. */
static void column_date_keys(const int64_t *p, int64_t n, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = ((uint64_t)p[i] ^ COLUMN_SIGN) - 1;
}

static void column_int32_keys(const int32_t *p, int64_t n, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint64_t)(int64_t)p[i] ^ COLUMN_SIGN;
}

/* Code 0 wraps to the gap. */
static void column_text_keys(const int32_t *p, int64_t n, uint64_t *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (uint64_t)(int64_t)p[i] - 1;
}

/* One loop per dtype, so that the compiler makes vectors of it; the switch is
** outside of the loops. Booleans are their bytes. */
void la_table_keys(const la_table_column *c, int64_t from, int64_t n,
                   uint64_t *out)
{
    const char *p = c->data;
    switch (c->dtype) {
    case LA_FLOAT64:
        column_float64_keys((const double *)p + from, n, out);
        return;
    case LA_FLOAT32:
        column_float32_keys((const float *)p + from, n, out);
        return;
    case LA_INT64:
        if (c->kind == LA_TABLE_DATE)
            column_date_keys((const int64_t *)p + from, n, out);
        else column_int64_keys((const int64_t *)p + from, n, out);
        return;
    case LA_INT32:
        if (c->kind == LA_TABLE_TEXT)
            column_text_keys((const int32_t *)p + from, n, out);
        else column_int32_keys((const int32_t *)p + from, n, out);
        return;
    case LA_UINT64:
        memcpy(out, (const uint64_t *)p + from, (size_t)n * sizeof *out);
        return;
    default:
        for (int64_t i = 0; i < n; i++) out[i] = (uint8_t)p[from + i];
    }
}

/* ---- numbers ---- */

/* Gaps of every kind become NaN, the one gap that arithmetic knows. Large int64
** and uint64 are rounded to nearest. */
void la_table_doubles(const la_table_column *c, int64_t from, int64_t n,
                      double *out)
{
    const char *p = c->data;
    switch (c->dtype) {
    case LA_FLOAT64:
        memcpy(out, (const double *)p + from, (size_t)n * sizeof *out);
        return;
    case LA_FLOAT32:
        for (int64_t i = 0; i < n; i++) out[i] = ((const float *)p)[from + i];
        return;
    case LA_UINT64:
        for (int64_t i = 0; i < n; i++)
            out[i] = (double)((const uint64_t *)p)[from + i];
        return;
    default:
        for (int64_t i = 0; i < n; i++) {
            int64_t v = la_table_integer(c, from + i);
            bool gap = c->kind == LA_TABLE_TEXT ? v == 0
                : c->kind == LA_TABLE_DATE && v == LA_TABLE_DATE_GAP;
            out[i] = gap ? NAN : (double)v;
        }
    }
}

/* uint64 keeps its bits; sums of it wrap the same as those of int64. */
int64_t la_table_integer(const la_table_column *c, int64_t i)
{
    const char *p = c->data;
    switch (c->dtype) {
    case LA_INT64: return ((const int64_t *)p)[i];
    case LA_INT32: return ((const int32_t *)p)[i];
    case LA_UINT64: return (int64_t)((const uint64_t *)p)[i];
    default: return (uint8_t)p[i];
    }
}

/* ---- rows ---- */

/* Elements of 8 and 4 bytes are most; memcpy of a known size is a move. */
static bool column_take_8(const char *from, int64_t count, const int32_t *rows,
                          int64_t n, const void *gap, char *out)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t r = rows[i];
        if (r >= count) return false;
        memcpy(out + 8 * i, r < 0 ? (const char *)gap : from + 8 * r, 8);
    }
    return true;
}

static bool column_take_4(const char *from, int64_t count, const int32_t *rows,
                          int64_t n, const void *gap, char *out)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t r = rows[i];
        if (r >= count) return false;
        memcpy(out + 4 * i, r < 0 ? (const char *)gap : from + 4 * r, 4);
    }
    return true;
}

static bool column_take_any(const char *from, int64_t count,
                            const int32_t *rows, int64_t n, size_t size,
                            const void *gap, char *out)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t r = rows[i];
        if (r >= count) return false;
        memcpy(out + (size_t)i * size,
               r < 0 ? (const char *)gap : from + (size_t)r * size, size);
    }
    return true;
}

/* Rows come from a script as well, so each is compared with the count; a
** negative one is the missing row of a join. Pieces end where an interruption
** is due. */
la_status la_table_take(const void *from, int64_t count, const int32_t *rows,
                        int64_t n, size_t size, const void *gap, void *out)
{
    for (int64_t i = 0, end; (end = la_poll_piece(i, n)) > i; i = end) {
        char *to = (char *)out + (size_t)i * size;
        bool fine = size == 8
            ? column_take_8(from, count, rows + i, end - i, gap, to)
            : size == 4
            ? column_take_4(from, count, rows + i, end - i, gap, to)
            : column_take_any(from, count, rows + i, end - i, size, gap, to);
        if (!fine) return la_error(LA_EINDEX, "a row is out of range");
    }
    return la_poll();
}
