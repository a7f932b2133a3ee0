/*
** What an index key means: from a list of items to operations on views.
**
** The items are taken from left to right, each on the dim where the one before
** has stopped. Integers, ranges and new axes make a view; index tensors are
** collected into the list that the operations index and index_put go through at
** the end; a falling range is the rising one over the same elements, reversed
** by flip.
**
** Invariant: whoever observes operations sees every one of them. Where autograd
** or a program records, names travel, a trace is shown or a host has put its
** own kernels, each step is a call through the launch gate. For plain tensors
** nothing of that holds: the same view is described in numbers and made once,
** without the views between.
*/
#include "op/index/key.h"

#include "base/runtime/parts.h"
#include "base/runtime/runtime.h"
#include "base/runtime/token.h"
#include "base/trace.h"
#include "op/call.h"
#include "tensor/promote.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

/* State of the walk over the items. While 'quick', the view is only described:
** 'geometry' has the dims of the view so far, 'next' is the dim of the base
** that the next item finds. Otherwise 'view' is the view so far. */
typedef struct key_walk {
    la_tensor *base, *view;         /* view: owned; not there while quick */
    bool quick;
    int next;
    la_geometry geometry;
    int dim;                        /* of the view, where the walk stands */
    la_tensor *lists[LA_MAX_DIMS];  /* for index: borrowed or in owned */
    int nlists, reach;              /* entries; dims of the view they cover */
    bool advanced;                  /* there are lists */
    la_tensor *owned[LA_MAX_DIMS];
    int nowned;
    int64_t reversed[LA_MAX_DIMS];  /* dims of the view that fall */
    int nreversed;
} key_walk;

static void key_walk_drop(key_walk *w)
{
    la_tensor_drop(&w->view);
    while (w->nowned > 0) la_tensor_release(w->owned[--w->nowned]);
}
#define KEY_WALK __attribute__((cleanup(key_walk_drop))) key_walk

/* ---- the view ---- */

static void replace_view(key_walk *w, la_tensor *next)
{
    la_tensor_release(w->view);
    w->view = next;
}

/* Size of the dim that the next item finds. */
static int64_t size_here(const key_walk *w)
{
    return w->quick ? la_sizes(w->base)[w->next] : la_sizes(w->view)[w->dim];
}

/* Appends a dim to the described view; the base has moved on by one dim. */
static void key_add_dim(key_walk *w, int64_t size, int64_t stride)
{
    w->geometry.sizes[w->geometry.ndim] = size;
    w->geometry.strides[w->geometry.ndim++] = stride;
}

/* The walk goes over n dims, which stay whole. */
static void keep_dims(key_walk *w, int n)
{
    w->dim += n;
    if (!w->quick) return;
    for (; n > 0 && w->next < w->base->ndim; n--, w->next++)
        key_add_dim(w, la_sizes(w->base)[w->next],
                    la_strides(w->base)[w->next]);
}

/* Is the view, as it is described, the base over again? */
static bool key_is_whole(const key_walk *w)
{
    const la_geometry *g = &w->geometry;
    size_t bytes = (size_t)g->ndim * sizeof(int64_t);
    return g->ndim == w->base->ndim && g->offset == w->base->offset
        && memcmp(g->sizes, la_sizes(w->base), bytes) == 0
        && memcmp(g->strides, la_strides(w->base), bytes) == 0;
}

/* Makes the described view. Lists can be walked on the base itself, where
** nothing else was asked of it. */
static la_status make_view(key_walk *w)
{
    if (!w->quick) return LA_OK;
    int at = w->dim;
    keep_dims(w, w->base->ndim - w->next);
    w->dim = at;
    w->quick = false;
    if (!w->advanced || !key_is_whole(w))
        return la_view_make(w->base, &w->geometry, &w->view);
    w->view = la_tensor_retain(w->base);
    return LA_OK;
}

/* ---- items ---- */

la_status la_index_out_of_range(int64_t i, int dim, int64_t size)
{
    if (size == 0)
        return la_error(LA_EINDEX, "index %lld is out of bounds for dimension "
                        "%d, which has size 0", (long long)i, dim + 1);
    if (i == 0)
        return la_error(LA_EINDEX, "index 0 is out of bounds for dimension %d "
                        "with size %lld: indices start at 1", dim + 1,
                        (long long)size);
    return la_error(LA_EINDEX, "index %lld is out of bounds for dimension %d "
                    "with size %lld: 1 to %lld or -%lld to -1%s", (long long)i,
                    dim + 1, (long long)size, (long long)size, (long long)size,
                    i == size + 1 ? " (pairs(x) ends there, ipairs(x) does not)"
                                  : "");
}

/* LA_EINDEX: more items than dims. */
static la_status no_dim_left(const la_tensor *t)
{
    if (t->ndim == 0)
        return la_error(LA_EINDEX, "invalid index of a 0-dim tensor. Use "
                        "x:item() to convert a 0-dim tensor to a number");
    return la_error(LA_EINDEX, "too many indices for tensor of dimension %d (a "
                    "range stands in a list of its own: x[{{first, last}}])",
                    t->ndim);
}

static la_status check_dim_left(const key_walk *w)
{
    bool left = w->quick ? w->next < w->base->ndim : w->dim < w->view->ndim;
    return left ? LA_OK : no_dim_left(w->base);
}

/* The dim of the tensor that the next item is about: those behind it are still
** the last ones of the view, whatever became of those before. */
static int dim_of_base(const key_walk *w)
{
    return w->quick ? w->next : w->base->ndim - (w->view->ndim - w->dim);
}

/* One index: the dim goes, the offset moves. LA_EINDEX out of range. */
static la_status take_integer(key_walk *w, int64_t i)
{
    la_tensor *next = NULL;
    LA_TRY(check_dim_left(w));
    int64_t size = size_here(w);
    if (!la_index_in_range(i, size))
        return la_index_out_of_range(i, dim_of_base(w), size);
    i = la_index_from_0(i, size);
    if (w->quick) {
        w->geometry.offset += i * la_strides(w->base)[w->next++];
        return LA_OK;
    }
    LA_TRY(la_run(select, &next, w->view, w->dim, i));
    replace_view(w, next);
    return LA_OK;
}

static int64_t key_clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* A rising range as a half open one from 0. */
static void rising(const la_index_item *it, int64_t size, int64_t *first,
                   int64_t *end)
{
    int64_t a = !it->has_first ? 0 : la_index_from_0(it->first, size);
    int64_t b = !it->has_last ? size
              : it->last >= 0 ? it->last : it->last + size + 1;
    *first = key_clamp(a, 0, size);
    *end = key_clamp(b, *first, size);
}

/* A falling range, as the rising one over the same elements: that ends where
** the falling one begins, and begins at the last element its steps reach. */
static void falling(const la_index_item *it, int64_t size, int64_t *first,
                    int64_t *end)
{
    int64_t a = !it->has_first ? size
              : it->first > 0 ? it->first : it->first + size + 1;
    int64_t b = !it->has_last ? 1
              : it->last >= 0 ? it->last : it->last + size + 1;
    uint64_t step = 0 - (uint64_t)it->step;
    a = key_clamp(a, 0, size);
    b = key_clamp(b, 1, size + 1);
    *end = a;
    *first = a;
    if (a >= b) *first = a - 1 - (int64_t)((uint64_t)(a - b) / step * step);
}

static la_status key_check_range(const la_index_item *it)
{
    if (it->step == 0) return la_error(LA_EARG, "slice step cannot be zero");
    if (it->has_first && it->first == 0)
        return la_error(LA_EINDEX, "a range can't begin with 0: indices start "
                        "at 1");
    return LA_OK;
}

/* The dim of size n becomes one of the range's length. */
static la_status take_range(key_walk *w, const la_index_item *it)
{
    int64_t first, end, step = it->step;
    la_tensor *next = NULL;
    LA_TRY(key_check_range(it));
    LA_TRY(check_dim_left(w));
    int64_t size = size_here(w);
    int d = w->dim;
    keep_dims(w, 1);
    if (!it->has_first && !it->has_last && step == 1) return LA_OK;
    if (step > 0) rising(it, size, &first, &end);
    else falling(it, size, &first, &end);
    if (step < 0) {
        w->reversed[w->nreversed++] = d;
        step = step == INT64_MIN ? INT64_MAX : -step;
    }
    if (w->quick) return la_geo_slice(&w->geometry, d, first, end, step);
    LA_TRY(la_run(slice, &next, w->view, d, first, end, step));
    replace_view(w, next);
    return LA_OK;
}

/* The stride of a dim of size 1 is never stepped; it is chosen so that the dim
** merges with the next. More dims than there may be: unsqueeze says so. */
static la_status take_newaxis(key_walk *w)
{
    la_tensor *next = NULL;
    int left = w->base->ndim - w->next;
    if (w->quick && w->geometry.ndim + left < LA_MAX_DIMS) {
        int64_t stride = left ? size_here(w) * la_strides(w->base)[w->next] : 1;
        key_add_dim(w, 1, stride);
        w->dim++;
        return LA_OK;
    }
    LA_TRY(make_view(w));
    LA_TRY(la_run(unsqueeze, &next, w->view, w->dim));
    replace_view(w, next);
    w->dim++;
    return LA_OK;
}

/* An index tensor for the next 'covers' dims; dims without one, up to here,
** get NULL. */
static void add_list(key_walk *w, la_tensor *t, int covers)
{
    while (w->reach < w->dim && w->nlists < LA_MAX_DIMS) {
        w->lists[w->nlists++] = NULL;
        w->reach++;
    }
    if (w->nlists < LA_MAX_DIMS) w->lists[w->nlists++] = t;
    w->reach += covers;
    keep_dims(w, covers);
    w->advanced = true;
}

/* A truth value is a new dim, of one index or of none. */
static la_status take_truth(key_walk *w, bool yes)
{
    la_tensor *t = NULL;
    int64_t n = yes;
    LA_TRY(make_view(w));
    LA_TRY(la_run(unsqueeze, &t, w->view, w->dim));
    replace_view(w, t);
    LA_TRY(la_tensor_empty(1, &n, LA_INT64, &t));
    w->owned[w->nowned++] = t;
    if (yes) *(int64_t *)la_data(t) = 1;
    add_list(w, t, 1);
    return LA_OK;
}

static la_status key_take_tensor(key_walk *w, la_tensor *t)
{
    la_scalar s;
    bool mask = t->dtype == LA_BOOL;
    bool number = t->ndim == 0
        && (mask || la_is_integral((la_dtype)t->dtype));
    bool batched = (t->flags & LA_F_BATCHED) && !mask;  /* has many values */
    if (number && !batched) {
        if (!la_tensor_to_scalar(t, &s))
            return la_error(LA_ESTATE, "a 0-dim index needs a value");
        return mask ? take_truth(w, s.i != 0) : take_integer(w, s.i);
    }
    if (!mask) LA_TRY(check_dim_left(w));
    add_list(w, t, mask ? t->ndim : 1);
    return LA_OK;
}

/* ---- keys ---- */

/* Dims of the tensor that the items name, so that "..." takes the rest. */
static int named_dims(int n, const la_index_item *items)
{
    int dims = 0;
    for (int i = 0; i < n; i++) {
        const la_index_item *it = &items[i];
        if (it->kind == LA_ITEM_TENSOR && it->tensor->dtype == LA_BOOL)
            dims += it->tensor->ndim;
        else if (it->kind != LA_ITEM_NEWAXIS && it->kind != LA_ITEM_ELLIPSIS)
            dims++;
    }
    return dims;
}

/* Walks the items from left to right; each uses the dims that it names. */
static la_status take_items(key_walk *w, int n, const la_index_item *items)
{
    int rest = w->base->ndim - named_dims(n, items);
    bool ellipsis = false;
    if (rest < 0 && w->base->ndim > 0) return no_dim_left(w->base);
    for (int i = 0; i < n; i++) {
        const la_index_item *it = &items[i];
        switch (it->kind) {
        case LA_ITEM_INTEGER: LA_TRY(take_integer(w, it->first)); break;
        case LA_ITEM_RANGE: LA_TRY(take_range(w, it)); break;
        case LA_ITEM_NEWAXIS: LA_TRY(take_newaxis(w)); break;
        case LA_ITEM_TENSOR: LA_TRY(key_take_tensor(w, it->tensor)); break;
        case LA_ITEM_ELLIPSIS:
            if (ellipsis)
                return la_error(LA_EINDEX, "an index can only have a single "
                                "ellipsis ('...')");
            ellipsis = true;
            keep_dims(w, rest > 0 ? rest : 0);
        }
    }
    return LA_OK;
}

/* No operation on such a tensor is observed by anyone: not by keys of the
** dispatcher, nor by names, limits, a trace or a host's kernels. */
static bool key_is_plain(const la_tensor *t)
{
    const la_context *c = la_ctx();
    return t->ndim > 0 && !t->names && !c->included_keys && !c->observed
        && !la_token_armed(c->token)
        && !(t->flags & LA_F_BATCHED)
        && !la_trace_on && !la_runtime_here()->kernels_replaced
        && t->device == LA_CPU && !la_grad_flag(t);
}

/* Sets of the walk only what is read before it is written: the rest is
** kilobytes. */
static la_status walk_items(key_walk *w, la_tensor *x, int n,
                            const la_index_item *items)
{
    w->view = NULL;
    w->dim = w->next = w->nlists = w->reach = w->nowned = w->nreversed = 0;
    w->advanced = false;
    w->base = x;
    w->quick = n > 0 && key_is_plain(x);
    w->geometry.ndim = 0;
    w->geometry.offset = x->offset;
    if (!w->quick) w->view = la_tensor_retain(x);
    return take_items(w, n, items);
}

static la_status flipped(la_tensor *t, const key_walk *w, la_tensor **out)
{
    return la_run(flip, out, t, la_v_ints(w->reversed, w->nreversed));
}

/* ---- reading ---- */

la_status la_index_get(la_tensor *x, int n, const la_index_item *items,
                       la_tensor **out)
{
    KEY_WALK w;
    la_tensor *next = NULL;
    LA_TRY(walk_items(&w, x, n, items));
    LA_TRY(make_view(&w));
    if (w.nreversed > 0) {
        LA_TRY(flipped(w.view, &w, &next));
        replace_view(&w, next);
    }
    if (w.advanced)
        return la_run(index, out, w.view, la_v_tensors(w.lists, w.nlists));
    if (w.view == x) return la_run(alias, out, x);
    return la_tensor_same(w.view, out);
}

/* The offset of the part of a plain tensor at a point. False for tensors that
** somebody observes and for points that are not there: the walk takes those. */
static inline bool find_point(const la_tensor *x, int n, const int64_t *point,
                              int64_t *offset)
{
    const int64_t *sizes = la_sizes(x), *strides = la_strides(x);
    if (n > x->ndim || !key_is_plain(x)) return false;
    *offset = x->offset;
    for (int d = 0; d < n; d++) {
        if (!la_index_in_range(point[d], sizes[d])) return false;
        *offset += la_index_from_0(point[d], sizes[d]) * strides[d];
    }
    return true;
}

static void point_items(int n, const int64_t *point, la_index_item *items)
{
    for (int d = 0; d < n; d++)
        items[d] = (la_index_item){.kind = LA_ITEM_INTEGER, .first = point[d]};
}

/* The items take a frame that the short way does without. */
static __attribute__((noinline)) la_status
get_walked(la_tensor *x, int n, const int64_t *point, la_tensor **out)
{
    la_index_item items[LA_MAX_POINT];
    if (n == 1 && x->ndim > 0 && la_index_in_range(*point, la_sizes(x)[0]))
        return la_run(select, out, x, 0,
                      la_index_from_0(*point, la_sizes(x)[0]));
    point_items(n, point, items);
    return la_index_get(x, n, items, out);
}

la_status la_index_get_at(la_tensor *x, int n, const int64_t *point,
                          la_tensor **out)
{
    int64_t offset;
    if (!find_point(x, n, point, &offset)) return get_walked(x, n, point, out);
    return la_tensor_view(x, x->ndim - n, la_sizes(x) + n, la_strides(x) + n,
                          offset, out);
}

/* ---- writing ---- */

/* The value as the view takes it: leading dims of size 1 are dropped. */
static la_status fit_value(const key_walk *w, la_tensor *value,
                           la_tensor **out)
{
    la_tensor *next = NULL;
    la_tensor *cut = la_tensor_retain(value);
    while (cut->ndim > w->view->ndim && la_sizes(cut)[0] == 1) {
        la_status status = la_run(select, &next, cut, 0, 0);
        la_tensor_release(cut);
        if (status) return status;
        cut = next;
    }
    *out = cut;
    return LA_OK;
}

/* A 0-dim value is a number: it may come from the memory that is written. So
** may a value that is broadcast: expanded it is no dense tensor any more, and
** the dispatcher copies it before the first element is written. */
static la_status put_view(key_walk *w, la_tensor *value)
{
    LA_OWNED wide = NULL;
    LA_LET(cut, fit_value(w, value, &cut));
    if (cut->ndim == 0 && cut->storage == w->view->storage) {
        LA_TRY(la_run(clone, &wide, cut));
        return la_run_(copy_, w->view, wide);
    }
    bool shared = cut->storage == w->view->storage
        && cut->numel != w->view->numel;
    if (w->nreversed == 0 && !shared) return la_run_(copy_, w->view, cut);
    LA_TRY(la_run(expand, &wide, cut,
                  la_v_ints(la_sizes(w->view), w->view->ndim)));
    if (w->nreversed == 0) return la_run_(copy_, w->view, wide);
    LA_LET(back, flipped(wide, w, &back));
    return la_run_(copy_, w->view, back);
}

/* Through index tensors; where dims fall, by way of a flipped copy. */
static la_status put_lists(key_walk *w, la_value value)
{
    la_value lists = la_v_tensors(w->lists, w->nlists);
    if (w->nreversed == 0)
        return la_run_(index_put, w->view, lists, value);
    LA_LET(copy, flipped(w->view, w, &copy));
    LA_TRY(la_run_(index_put, copy, lists, value));
    LA_LET(back, flipped(copy, w, &back));
    return la_run_(copy_, w->view, back);
}

/* One element through a mask is a number too, of any dtype that fits; the
** general form demands the target's dtype. */
static bool is_masked_number(const key_walk *w, const la_tensor *value)
{
    return value->numel == 1 && w->nlists == 1 && w->lists[0]
        && w->lists[0]->dtype == LA_BOOL && value->dtype != w->view->dtype
        && la_can_cast((la_dtype)value->dtype, (la_dtype)w->view->dtype);
}

/* Writes through views where no index tensor is among the items, else by
** index_put. */
static la_status key_put_tensor(key_walk *w, la_tensor *value)
{
    if (!w->advanced) return put_view(w, value);
    if (!is_masked_number(w, value)) return put_lists(w, la_v_tensor(value));
    LA_LET(number, la_run(astype, &number, value,
                          la_v_dtype((la_dtype)w->view->dtype)));
    return put_lists(w, la_v_tensor(number));
}

/* index_put takes no scalar, and demands the target's dtype. */
static la_status key_put_scalar(key_walk *w, const la_scalar *s)
{
    if (!w->advanced) return la_run_(fill_, w->view, *s);
    LA_LET(one, la_tensor_empty(0, NULL, (la_dtype)w->view->dtype, &one));
    LA_TRY(la_run_(fill_, one, *s));
    return put_lists(w, la_v_tensor(one));
}

/* Shortcut for the gate and fill_ on the one element at 'offset' of the storage
** of a plain tensor. False, and nothing is done, for all that is not as usual
** (no memory of its own, lazy bits, read-only, in a snapshot, a scalar that
** does not fit): the operation finds the same and has the words for it. */
static bool put_element(la_tensor *t, int64_t offset, const la_scalar *s)
{
    la_dtype d = (la_dtype)t->dtype;
    int64_t item = (int64_t)la_dtype_size(d);
    if (!t->storage || (t->flags & (LA_F_CONJ | LA_F_NEG))
        || !t->storage->data || (offset + 1) * item > t->storage->nbytes
        || (t->storage->flags & (LA_S_READ_ONLY | LA_S_WATCHED))) return false;
    if (la_scalar_store(s, d, t->storage->data + offset * item)) {
        la_error_clear();
        return false;
    }
    la_bump_version(t);
    return true;
}

static bool is_element(const key_walk *w)
{
    return w->quick && !w->advanced && w->geometry.ndim == 0
        && w->next == w->base->ndim;
}

la_status la_index_put(la_tensor *x, int n, const la_index_item *items,
                       la_tensor *value, const la_scalar *scalar)
{
    KEY_WALK w;
    LA_TRY(walk_items(&w, x, n, items));
    if (!value && is_element(&w) && put_element(x, w.geometry.offset, scalar))
        return LA_OK;
    LA_TRY(make_view(&w));
    if (!value) return key_put_scalar(&w, scalar);
    return key_put_tensor(&w, value);
}

static __attribute__((noinline)) la_status
put_walked(la_tensor *x, int n, const int64_t *point, const la_scalar *scalar)
{
    la_index_item items[LA_MAX_POINT];
    point_items(n, point, items);
    return la_index_put(x, n, items, NULL, scalar);
}

la_status la_index_put_at(la_tensor *x, int n, const int64_t *point,
                          const la_scalar *scalar)
{
    int64_t offset;
    if (n == x->ndim && find_point(x, n, point, &offset)
        && put_element(x, offset, scalar)) return LA_OK;
    return put_walked(x, n, point, scalar);
}
