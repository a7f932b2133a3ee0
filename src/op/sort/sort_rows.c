/* Rows and their working memory; see order.h. */
#include "op/sort/order.h"

#include "base/runtime/memory.h"

/* The kernels of a dtype; LA_EDTYPE for complex numbers. Keys are unsigned
** integers in the order of the elements, 32 bits wide where these fit. */
la_status la_order_of(la_dtype d, const char *what, la_order *out)
{
    const la_key_kernels *key = &(*LA_STUB(keys))[d];
    if (!key->encode)
        return la_error(LA_EDTYPE, "%s does not support complex dtypes, got %s",
                        what, la_dtype_name(d));
    out->key = key;
    out->order = &(*LA_STUB(order))[key->wide];
    out->key_bytes = key->wide ? 8 : 4;
    out->item_bytes = key->wide ? (int64_t)sizeof(la_item64) : 8;
    return LA_OK;
}

/* Key of zero, by encoding one: the two zeros of floats share a key, which
** callers look for to restore signs. */
uint64_t la_key_of_zero(const la_order *o, uint64_t flip)
{
    uint64_t zero = 0, key[2] = {0};
    o->key->encode(key, (const char *)&zero, 1, 1, flip);
    return la_key_at(o, key, 0);
}

/* False where the dtype has no NaN; every NaN has this one key. */
bool la_key_of_nan(const la_order *o, la_dtype d, uint64_t flip, uint64_t *out)
{
    la_scalar nan = la_scalar_float(__builtin_nan(""));
    uint64_t bits = 0, key[2] = {0};
    if (!la_is_float(d)) return false;
    la_scalar_cast(&nan, d, &bits);
    o->key->encode(key, (const char *)&bits, 1, 1, flip);
    *out = la_key_at(o, key, 0);
    return true;
}

/* Rows are counted in row-major order of the other dims, whatever the
** strides. */
int64_t la_row_offset(const la_tensor *t, int dim, int64_t r)
{
    int64_t at = 0;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (d == dim) continue;
        int64_t n = la_sizes(t)[d];
        if (r < n) return (at + r * la_strides(t)[d]) * (int64_t)la_itemsize(t);
        at += r % n * la_strides(t)[d];
        r /= n;
    }
    return at * (int64_t)la_itemsize(t);
}

/* Ordering a row costs several passes over it: half the usual grain. */
la_status la_rows_run(int64_t rows, int64_t length, size_t bytes,
                      la_unit_fn fn, void *context)
{
    la_unit_plan plan = {fn, 16384 / la_max(length, 1), bytes};
    return la_iter_units(rows, &plan, context);
}

/* May be called again, and before anything was allocated. */
void la_work_drop(la_work *w)
{
    if (w->block) la_mem_free(w->block, w->bytes);
    w->block = NULL;
}

/* count elements of 'size' bytes, not initialised; at least a byte, so that a
** NULL block always means none. */
la_status la_work_get(la_work *w, int64_t count, int64_t size)
{
    int64_t bytes;
    if (!la_mul_ok(count, size, &bytes))
        return la_error(LA_ESHAPE, "size overflow");
    w->bytes = bytes ? (size_t)bytes : 1;
    w->block = la_mem_alloc(w->bytes);
    return w->block ? LA_OK : LA_ENOMEM;
}
