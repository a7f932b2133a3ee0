/*
** Indexing in lunarray.h: ranges of C become the items of op/index/key.h, which
** x[key] in Lua uses too. Nothing here raises a Lua error.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include "api/api.h"
#include "op/index/key.h"

LA_API la_range la_at(int64_t i)
{
    return (la_range){.kind = LA_AT, .first = i};
}
LA_API la_range la_span(int64_t first, int64_t last, int64_t step)
{
    return (la_range){.kind = LA_SPAN, .first = first, .last = last,
                      .step = step};
}
LA_API la_range la_whole(void) { return (la_range){.kind = LA_WHOLE}; }
LA_API la_range la_rest(void) { return (la_range){.kind = LA_REST}; }
LA_API la_range la_new_axis(void) { return (la_range){.kind = LA_NEW_AXIS}; }
LA_API la_range la_by(la_tensor *index)
{
    return (la_range){.kind = LA_BY, .tensor = index};
}

/* Range 'at' (from 0, for messages) as an item. Tensors stay the host's: the
** item borrows. */
static la_status read_range(const la_range *r, int at, la_index_item *it)
{
    *it = (la_index_item){.first = r->first, .last = r->last, .step = r->step};
    if (r->flags)
        return la_error(LA_EARG, "range %d has unknown flags", at + 1);
    switch (r->kind) {
    case LA_AT: it->kind = LA_ITEM_INTEGER; return LA_OK;
    case LA_SPAN:
        it->kind = LA_ITEM_RANGE;
        it->has_first = it->has_last = true;
        return LA_OK;
    case LA_WHOLE:
        it->kind = LA_ITEM_RANGE;
        it->step = 1;
        return LA_OK;
    case LA_REST: it->kind = LA_ITEM_ELLIPSIS; return LA_OK;
    case LA_NEW_AXIS: it->kind = LA_ITEM_NEWAXIS; return LA_OK;
    case LA_BY:
        it->kind = LA_ITEM_TENSOR;
        it->tensor = r->tensor;
        return r->tensor ? LA_OK
            : la_error(LA_EARG, "range %d: the index tensor is NULL", at + 1);
    default:
        return la_error(LA_EARG, "range %d is of no known kind", at + 1);
    }
}

/* The arguments that both functions have. Sets the error record; 'items' has
** LA_MAX_ITEMS entries. */
static la_status api_index_begin(const la_tensor *t, int n,
                                 const la_range *ranges, la_index_item *items)
{
    la_share_tensors();
    if (!t || n < 0 || n > LA_MAX_ITEMS || (n > 0 && !ranges))
        return la_error(LA_EARG, "a tensor and at most %d ranges expected",
                        LA_MAX_ITEMS);
    if (t->owner != la_here.owner)
        return la_error(LA_EARG, "the tensor belongs to another runtime than "
                        "the call");
    for (int i = 0; i < n; i++) LA_TRY(read_range(&ranges[i], i, &items[i]));
    return LA_OK;
}

/* The result is owned by the host; NULL with the error record set. 'L' only
** gives the settings (grad mode, default dtype) and may be NULL. */
LA_API la_tensor *la_index(lua_State *L, la_tensor *t, int n,
                           const la_range *ranges)
{
    la_index_item items[LA_MAX_ITEMS];
    la_tensor *out = NULL;
    LA_API_ENTRY(la_context_of(L));
    la_status status = api_index_begin(t, n, ranges, items);
    if (!status) status = la_index_get(t, n, items, &out);
    return la_api_end("la_index", status) ? NULL : out;
}

/* Numbers a host can assign; a tensor has been handled by the caller. */
static la_status read_value(const la_any *a, la_scalar *out)
{
    switch (a->kind) {
    case LA_ARG_INTEGER: *out = la_scalar_int(a->integer); return LA_OK;
    case LA_ARG_NUMBER: *out = la_scalar_float(a->number); return LA_OK;
    case LA_ARG_BOOLEAN: *out = la_scalar_bool(a->integer != 0); return LA_OK;
    default:
        return la_error(LA_EARG, "number or tensor expected as the value");
    }
}

/* Owners are compared before anything is written: a tensor of another runtime
** must not become part of a graph of this one. */
static la_status api_index_put(la_tensor *t, int n, const la_range *ranges,
                               const la_any *value)
{
    la_index_item items[LA_MAX_ITEMS];
    la_scalar scalar = {0};
    bool tensor = value->kind == LA_ARG_TENSOR && value->tensor;
    LA_TRY(api_index_begin(t, n, ranges, items));
    if (tensor && value->tensor->owner != t->owner)
        return la_error(LA_EARG, "the value belongs to another runtime than "
                        "the tensor");
    if (!tensor) LA_TRY(read_value(value, &scalar));
    return la_index_put(t, n, items, tensor ? value->tensor : NULL, &scalar);
}

LA_API int la_set_index(lua_State *L, la_tensor *t, int n,
                        const la_range *ranges, la_any value)
{
    LA_API_ENTRY(la_context_of(L));
    return la_api_end("la_set_index", api_index_put(t, n, ranges, &value));
}
