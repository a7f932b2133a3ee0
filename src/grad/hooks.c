/*
** Lists of hooks: arrays in the order of registration, in which ids ascend. A
** hook that is removed leaves a gap, which goes when half of the list is gaps.
** So a hook is added in constant time and found by halving.
*/
#include "base/runtime/memory.h"
#include "grad/graph.h"

struct la_hook_list {
    int64_t n, live, capacity;
    la_hook items[];        /* [capacity]; run is NULL in a gap */
};

static size_t bytes_of(int64_t capacity)
{
    return sizeof(la_hook_list) + (size_t)capacity * sizeof(la_hook);
}

/* The gaps go. */
static void compact(la_hook_list *l)
{
    int64_t n = 0;
    for (int64_t i = 0; i < l->n; i++)
        if (l->items[i].run) l->items[n++] = l->items[i];
    l->n = n;
}

static la_status hooks_grow(la_hook_list **list)
{
    la_hook_list *l = *list;
    int64_t capacity = l ? 2 * l->capacity : 1;
    la_hook_list *more = la_mem_alloc(bytes_of(capacity));
    if (!more) return LA_ENOMEM;
    *more = (la_hook_list){.capacity = capacity};
    if (l) {
        more->n = l->n;
        more->live = l->live;
        memcpy(more->items, l->items, (size_t)l->n * sizeof(la_hook));
        la_mem_free(l, bytes_of(l->capacity));
    }
    *list = more;
    return LA_OK;
}

la_status la_hooks_add(la_hook_list **list, const la_hook *h)
{
    if (!*list || (*list)->n == (*list)->capacity) LA_TRY(hooks_grow(list));
    (*list)->items[(*list)->n++] = *h;
    (*list)->live++;
    return LA_OK;
}

/* The index of the first hook whose id is 'id' or more. */
static int64_t hooks_find(const la_hook_list *l, int64_t id)
{
    int64_t low = 0, high = l->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (l->items[middle].id < id) low = middle + 1;
        else high = middle;
    }
    return low;
}

const la_hook *la_hooks_after(const la_hook_list *l, int64_t after)
{
    if (!l) return NULL;
    for (int64_t i = hooks_find(l, after + 1); i < l->n; i++)
        if (l->items[i].run) return &l->items[i];
    return NULL;
}

void la_hooks_remove(la_hook_list *l, int64_t id, la_hook_fn spared)
{
    int64_t i = l ? hooks_find(l, id) : 0;
    if (!l || i == l->n || l->items[i].id != id || !l->items[i].run
        || l->items[i].run == spared) return;
    la_hook gone = l->items[i];
    l->items[i].run = NULL;
    if (2 * --l->live < l->n) compact(l);
    if (gone.release) gone.release(gone.context);
}

void la_hooks_free(la_hook_list *l)
{
    if (!l) return;
    for (int64_t i = 0; i < l->n; i++)
        if (l->items[i].run && l->items[i].release)
            l->items[i].release(l->items[i].context);
    la_mem_free(l, bytes_of(l->capacity));
}
