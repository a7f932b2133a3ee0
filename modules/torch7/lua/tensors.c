/* Storages and tensors of Torch7's files. */
#include "modules/torch7/lua/torch7.h"

#include <string.h>

#include "tensor/shape.h"
#include "tensor/tensor.h"

static const struct { const char *word; la_dtype dtype; } kinds[] = {
    {"Byte", LA_UINT8}, {"Char", LA_INT8}, {"Short", LA_INT16},
    {"Int", LA_INT32}, {"Long", LA_INT64}, {"Half", LA_FLOAT16},
    {"Float", LA_FLOAT32}, {"Double", LA_FLOAT64}, {"", LA_FLOAT32}
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool tensors_ends(const char *s, size_t n, const char *with)
{
    size_t m = strlen(with);
    return n >= m && memcmp(s + n - m, with, m) == 0;
}

/* "torch.FloatTensor", "torch.CudaStorage": the dtype, or LA_UNDEFINED. A
** CudaTensor is one of floats. */
static la_dtype tensors_dtype(const char *name, size_t n, bool *storage)
{
    *storage = tensors_ends(name, n, "Storage");
    if (n < 6 || memcmp(name, "torch.", 6)
        || (!*storage && !tensors_ends(name, n, "Tensor"))) return LA_UNDEFINED;
    size_t end = n - (*storage ? 7 : 6), at = 6;
    bool cuda = end - at >= 4 && memcmp(name + at, "Cuda", 4) == 0;
    at += cuda ? 4 : 0;
    for (int k = 0; k < KINDS; k++)
        if (strlen(kinds[k].word) == end - at && (cuda || end > at)
            && memcmp(kinds[k].word, name + at, end - at) == 0)
            return kinds[k].dtype;
    return LA_UNDEFINED;
}

/* ---- storages ---- */

static la_status tensors_read(la_torch7 *t, la_dtype dtype, int64_t n,
                              la_tensor **out)
{
    LA_LET(x, la_tensor_empty(1, &n, dtype, &x));
    LA_TRY(la_cursor_elements(&t->cursor, dtype, la_data(x), n));
    return la_tensor_hand(&x, out);
}

/* Elements in the mapping, where they are there as they are needed. */
static la_status tensors_map(la_torch7 *t, la_dtype dtype, int64_t n,
                             la_tensor **out)
{
    la_cursor *c = &t->cursor;
    int64_t item = (int64_t)la_dtype_size(dtype);
    const uint16_t one = 1;
    bool plain = !c->text && *(const unsigned char *)&one
        && la_cursor_least(c, dtype) == item;
    if (!t->file->mapping || !plain || !n || c->at % item)
        return tensors_read(t, dtype, n, out);
    LA_TRY(la_mapping_tensor(t->file->mapping, c->at, dtype, 1, &n, false,
                             out));
    return la_cursor_skip(c, n * item);
}

static void push_storage(la_torch7 *t, la_dtype dtype)
{
    la_cursor *c = &t->cursor;
    int64_t n = 0;
    la_tensor_box *box = la_push_box(t->L, 1);
    la_torch7_check(t, la_cursor_long(c, &n));
    if (n < 0 || n > (la_cursor_left(c) + 1) / la_cursor_least(c, dtype))
        la_torch7_fail(t, "a storage has more elements than there are bytes");
    int64_t at = c->at;
    la_status status = tensors_map(t, dtype, n, &box->list[0]);
    if (status == LA_ENOMEM && la_collect_here(t->L)) {
        c->at = at;
        status = tensors_map(t, dtype, n, &box->list[0]);
    }
    la_torch7_check(t, status);
}

void la_torch7_open_box(la_torch7 *t)
{
    lua_State *L = t->L;
    la_state *s = la_state_of(L);
    la_tensor_box *box = lua_touserdata(L, -1);
    la_handle *h = la_empty_handle(L, s);
    la_fill_handle(s, h, la_tensor_retain(box->list[0]));
    lua_remove(L, -2);
}

/* ---- tensors ---- */

typedef struct geometry {
    int64_t ndim, sizes[LA_MAX_DIMS], strides[LA_MAX_DIMS], offset;
} geometry;

static la_status tensors_geometry(la_cursor *c, geometry *g)
{
    LA_TRY(la_cursor_int(c, &g->ndim));
    if (g->ndim < 0 || g->ndim > LA_MAX_DIMS)
        return la_error(LA_EIO, "a tensor of %lld dims", (long long)g->ndim);
    for (int64_t d = 0; d < g->ndim; d++)
        LA_TRY(la_cursor_long(c, &g->sizes[d]));
    for (int64_t d = 0; d < g->ndim; d++)
        LA_TRY(la_cursor_long(c, &g->strides[d]));
    LA_TRY(la_cursor_long(c, &g->offset));
    for (int64_t d = 0; d < g->ndim; d++)
        if (g->sizes[d] < 0 || g->strides[d] < 0)
            return la_error(LA_EIO, "a negative size or stride");
    if (g->offset < 1) return la_error(LA_EIO, "an offset before the first");
    g->offset--;
    return LA_OK;
}

/* A tensor without dims has no elements in Torch7. */
static la_status tensors_make(geometry *g, la_dtype dtype, la_tensor *base,
                              la_tensor **out)
{
    int64_t numel = 0;
    if (!g->ndim) g->sizes[g->ndim++] = 0;
    LA_TRY(la_numel((int)g->ndim, g->sizes, &numel));
    if (!numel)
        return la_tensor_empty((int)g->ndim, g->sizes, dtype, out);
    if (!base || base->dtype != dtype || !base->storage)
        return la_error(LA_EIO, "a tensor without a storage of its type");
    return la_tensor_on(base->storage, dtype, (int)g->ndim, g->sizes,
                        g->strides, g->offset, out);
}

/* Push the box of the storage that is the next value, or nil. */
static la_tensor *push_base(la_torch7 *t)
{
    lua_State *L = t->L;
    la_torch7_push(t);
    la_tensor_box *box = luaL_testudata(L, -1, LA_BOX_NAME);
    if (box) return box->list[0];
    if (!lua_isnil(L, -1)) la_torch7_fail(t, "a storage expected");
    return NULL;
}

static void push_strided(la_torch7 *t, la_dtype dtype)
{
    lua_State *L = t->L;
    la_state *s = la_state_of(L);
    char text[LA_ERROR_TEXT];
    geometry g;
    la_tensor *x = NULL;
    la_torch7_check(t, tensors_geometry(&t->cursor, &g));
    la_tensor *base = push_base(t);
    la_handle *h = la_empty_handle(L, s);
    la_status status = tensors_make(&g, dtype, base, &x);
    if (status == LA_ESHAPE) {
        strcpy(text, la_error_message());
        status = la_error(LA_EIO, "%s", text);
    }
    la_torch7_check(t, status);
    la_fill_handle(s, h, x);
    lua_remove(L, -2);
}

bool la_torch7_push_tensor(la_torch7 *t, const char *class_name, size_t n)
{
    bool storage = false;
    la_dtype dtype = tensors_dtype(class_name, n, &storage);
    if (dtype == LA_UNDEFINED) return false;
    if (storage) push_storage(t, dtype);
    else push_strided(t, dtype);
    return true;
}
