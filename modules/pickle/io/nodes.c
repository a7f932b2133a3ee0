/* The nodes of a pickle: made one behind the other, freed together. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "modules/pickle/io/pickle.h"

void la_pickle_init(la_pickle *p, const la_reader *in, int64_t base,
                    int64_t size, const char *name)
{
    *p = (la_pickle){.in = in, .base = base, .size = size, .name = name};
    if (!in->memory) return;
    p->data = in->memory + base;
    p->have = (size_t)size;
}

void la_pickle_free(la_pickle *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->nodes[i].capacity)
            la_mem_free(p->nodes[i].items,
                        p->nodes[i].capacity * sizeof(uint32_t));
    la_mem_free(p->nodes, p->nodes_capacity * sizeof *p->nodes);
    la_mem_free(p->stack, p->stack_capacity * sizeof *p->stack);
    la_mem_free(p->marks, p->marks_capacity * sizeof *p->marks);
    la_mem_free(p->memo, p->memo_capacity * sizeof *p->memo);
    la_mem_free(p->window, p->window_bytes);
    la_bytes_free(&p->texts);
    *p = (la_pickle){0};
}

la_status la_pickle_fail(const la_pickle *p, const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return la_error(LA_EIO, "%s, byte %lld: %s", p->name,
                    (long long)p->opcode_at, text);
}

/* Twice as many as before, zero behind those. */
la_status la_pickle_grow(void *array, size_t *capacity, size_t n,
                             size_t size)
{
    void *old, *wider;
    size_t more = *capacity ? *capacity : 64;
    if (n <= *capacity) return LA_OK;
    while (more < n) more *= 2;
    if (!(wider = la_mem_zalloc(more * size))) return LA_ENOMEM;
    memcpy(&old, array, sizeof old);
    if (*capacity) memcpy(wider, old, *capacity * size);
    la_mem_free(old, *capacity * size);
    memcpy(array, &wider, sizeof wider);
    *capacity = more;
    return LA_OK;
}

la_status la_pickle_new(la_pickle *p, la_pickle_kind kind, uint32_t *out)
{
    if (p->n >= UINT32_MAX - 1) return la_pickle_fail(p, "too many objects");
    LA_TRY(la_pickle_grow(&p->nodes, &p->nodes_capacity, p->n + 1,
                       sizeof *p->nodes));
    p->nodes[p->n] = (la_pickle_node){.kind = (uint8_t)kind,
                                      .at = p->opcode_at};
    *out = (uint32_t)p->n++;
    return LA_OK;
}

la_status la_pickle_put(la_pickle *p, uint32_t node, uint32_t item)
{
    la_pickle_node *to = &p->nodes[node];
    if (to->n == to->capacity) {
        if (to->n > UINT32_MAX / 4) return la_pickle_fail(p, "too many items");
        uint32_t capacity = to->capacity ? 2 * to->capacity : 4;
        uint32_t *items = la_mem_alloc(capacity * sizeof *items);
        if (!items) return LA_ENOMEM;
        if (to->n) memcpy(items, to->items, to->n * sizeof *items);
        if (to->capacity) la_mem_free(to->items, to->capacity * sizeof *items);
        to->items = items;
        to->capacity = capacity;
    }
    to->items[to->n++] = item;
    return LA_OK;
}

la_status la_pickle_new_text(la_pickle *p, la_pickle_kind kind,
                             const void *text, size_t n, uint32_t *out)
{
    size_t at = p->texts.n;
    la_bytes_put(&p->texts, text, n);
    LA_TRY(p->texts.status);
    LA_TRY(la_pickle_new(p, kind, out));
    p->nodes[*out].own = true;
    p->nodes[*out].i = (int64_t)at;
    p->nodes[*out].n = (uint32_t)n;
    return LA_OK;
}

bool la_pickle_is(const la_pickle *p, uint32_t node, const char *text)
{
    const la_pickle_node *a = la_pickle_at(p, node);
    return a->kind == LA_PICKLE_TEXT && a->n == strlen(text)
        && memcmp(la_pickle_text(p, a), text, a->n) == 0;
}

la_pickle_node *la_pickle_item(const la_pickle *p, uint32_t node, uint32_t k,
                               la_pickle_kind kind)
{
    const la_pickle_node *from = la_pickle_at(p, node);
    if ((from->kind != LA_PICKLE_TUPLE && from->kind != LA_PICKLE_LIST)
        || k >= from->n) return NULL;
    la_pickle_node *item = la_pickle_at(p, from->items[k]);
    return item->kind == kind ? item : NULL;
}
