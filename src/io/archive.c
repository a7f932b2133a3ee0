/* The list of named tensors. */
#include "io/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Twice the capacity, so that n additions cost O(n) copies in all. la_mem has
** no realloc: its blocks come in size classes. */
static la_status grow(la_archive *a)
{
    int64_t capacity = a->capacity ? 2 * a->capacity : 16;
    la_entry *list = la_mem_alloc((size_t)capacity * sizeof *list);
    if (!list) return LA_ENOMEM;
    if (a->n) memcpy(list, a->list, (size_t)a->n * sizeof *list);
    la_mem_free(a->list, (size_t)a->capacity * sizeof *list);
    a->list = list;
    a->capacity = capacity;
    return LA_OK;
}

/* The entry copies the name, which may point into a header that goes away, and
** takes the tensor over, on failure too: the caller never has to release it. */
la_status la_archive_add(la_archive *a, const char *name, size_t n,
                         la_tensor *owned)
{
    LA_OWNED t = owned;
    if (a->n == a->capacity) LA_TRY(grow(a));
    char *copy = la_mem_alloc(n + 1);
    if (!copy) return LA_ENOMEM;
    if (n) memcpy(copy, name, n);
    copy[n] = '\0';
    a->list[a->n++] = (la_entry){copy, n, t};
    t = NULL;
    return LA_OK;
}

void la_archive_free(la_archive *a)
{
    for (int64_t i = 0; i < a->n; i++) {
        la_mem_free(a->list[i].name, a->list[i].n + 1);
        la_tensor_drop(&a->list[i].tensor);
    }
    la_mem_free(a->list, (size_t)a->capacity * sizeof *a->list);
    *a = (la_archive){NULL, 0, 0};
}

/* Bytes as unsigned numbers, a prefix before what it begins; names may hold
** zero bytes, so that strcmp would not do. */
static int compare_names(const void *pa, const void *pb)
{
    const la_entry *a = pa, *b = pb;
    size_t n = a->n < b->n ? a->n : b->n;
    int order = n ? memcmp(a->name, b->name, n) : 0;
    return order ? order : (a->n > b->n) - (a->n < b->n);
}

/* A file with one name twice would load differently in each reader: it is
** refused at both ends, next to each other after the sort. */
la_status la_archive_sort(la_archive *a)
{
    char shown[900];
    if (a->n > 1)
        qsort(a->list, (size_t)a->n, sizeof *a->list, compare_names);
    for (int64_t i = 1; i < a->n; i++)
        if (compare_names(&a->list[i - 1], &a->list[i]) == 0)
            return la_error(LA_EIO, "the name '%s' is there twice",
                            la_quote(a->list[i].name, a->list[i].n, shown,
                                     sizeof shown));
    return LA_OK;
}
