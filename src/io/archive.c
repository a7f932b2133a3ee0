/* The list of named tensors, and the texts about them. */
#include "io/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/runtime/memory.h"

/* One more item of 'size' bytes. Twice the capacity when it is full, so that n
** additions cost O(n) copies in all; la_mem has no realloc, as its blocks come
** in size classes. */
static la_status archive_grow(void *list, int64_t n, int64_t *capacity,
                              size_t size)
{
    void *old, *wider;
    if (n < *capacity) return LA_OK;
    int64_t twice = *capacity ? 2 * *capacity : 16;
    if (!(wider = la_mem_alloc((size_t)twice * size))) return LA_ENOMEM;
    memcpy(&old, list, sizeof old);
    if (n) memcpy(wider, old, (size_t)n * size);
    la_mem_free(old, (size_t)*capacity * size);
    memcpy(list, &wider, sizeof wider);
    *capacity = twice;
    return LA_OK;
}

/* A copy with a NUL behind it, of la_mem_alloc(n + 1); NULL: LA_ENOMEM. */
static char *copy_text(const char *text, size_t n)
{
    char *copy = la_mem_alloc(n + 1);
    if (!copy) return NULL;
    if (n) memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

/* The entry copies the name, which may point into a header that goes away, and
** takes the tensor over, on failure too: the caller never has to release it. */
la_status la_archive_add(la_archive *a, const char *name, size_t n,
                         la_tensor *owned)
{
    LA_OWNED t = owned;
    LA_TRY(archive_grow(&a->list, a->n, &a->capacity, sizeof *a->list));
    char *copy = copy_text(name, n);
    if (!copy) return LA_ENOMEM;
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
    la_notes_free(&a->metadata);
    la_notes_free(&a->skipped);
    *a = (la_archive){0};
}

/* Bytes as unsigned numbers, a prefix before what it begins; names may hold
** zero bytes, so that strcmp would not do. */
static int compare_texts(const char *a, size_t an, const char *b, size_t bn)
{
    size_t n = an < bn ? an : bn;
    int order = n ? memcmp(a, b, n) : 0;
    return order ? order : (an > bn) - (an < bn);
}

static int compare_names(const void *pa, const void *pb)
{
    const la_entry *a = pa, *b = pb;
    return compare_texts(a->name, a->n, b->name, b->n);
}

/* A file with one name twice would load differently in each reader: it is
** refused at both ends, next to each other after the sort. */
la_status la_archive_sort(la_archive *a, la_status fault)
{
    char shown[900];
    if (a->n > 1)
        qsort(a->list, (size_t)a->n, sizeof *a->list, compare_names);
    for (int64_t i = 1; i < a->n; i++)
        if (compare_names(&a->list[i - 1], &a->list[i]) == 0)
            return la_error(fault, "the name '%s' is there twice",
                            la_quote(a->list[i].name, a->list[i].n, shown,
                                     sizeof shown));
    return LA_OK;
}

/* ---- texts ---- */

la_status la_notes_add(la_notes *list, const char *key, size_t n,
                       const char *text, size_t text_n)
{
    LA_TRY(archive_grow(&list->list, list->n, &list->capacity,
                        sizeof *list->list));
    la_note one = {copy_text(key, n), copy_text(text, text_n), n, text_n};
    if (!one.key || !one.text) {
        la_mem_free(one.key, n + 1);
        la_mem_free(one.text, text_n + 1);
        return LA_ENOMEM;
    }
    list->list[list->n++] = one;
    return LA_OK;
}

static int compare_notes(const void *pa, const void *pb)
{
    const la_note *a = pa, *b = pb;
    int order = compare_texts(a->key, a->n, b->key, b->n);
    return order ? order
        : compare_texts(a->text, a->text_n, b->text, b->text_n);
}

void la_notes_sort(la_notes *list)
{
    if (list->n > 1)
        qsort(list->list, (size_t)list->n, sizeof *list->list, compare_notes);
}

void la_notes_free(la_notes *list)
{
    for (int64_t i = 0; i < list->n; i++) {
        la_mem_free(list->list[i].key, list->list[i].n + 1);
        la_mem_free(list->list[i].text, list->list[i].text_n + 1);
    }
    la_mem_free(list->list, (size_t)list->capacity * sizeof *list->list);
    *list = (la_notes){0};
}

/* One pair; decoded strings are never longer than their JSON, so that both fit
** in 'text' of 'capacity' bytes. */
static la_status read_note(la_json *json, char *text, size_t capacity,
                           la_notes *out)
{
    size_t n, m;
    LA_TRY(la_json_string(json, text, capacity, &n));
    LA_TRY(la_json_expect(json, ':'));
    LA_TRY(la_json_string(json, text + n, capacity - n, &m));
    return la_notes_add(out, text, n, text + n, m);
}

static la_status read_notes(la_json *json, char *text, size_t capacity,
                            la_notes *out)
{
    LA_TRY(la_json_expect(json, '{'));
    if (la_json_accept(json, '}')) return LA_OK;
    do {
        LA_TRY(read_note(json, text, capacity, out));
    } while (la_json_accept(json, ','));
    LA_TRY(la_json_expect(json, '}'));
    la_notes_sort(out);
    for (int64_t i = 1; i < out->n; i++) {
        const la_note *a = &out->list[i - 1], *b = &out->list[i];
        if (compare_texts(a->key, a->n, b->key, b->n) == 0)
            return la_json_malformed("a key is there twice");
    }
    return LA_OK;
}

/* la_json_string wants four bytes to spare. */
la_status la_metadata_read(la_json *json, la_notes *out)
{
    size_t capacity = (size_t)(json->end - json->at) + 8;
    char *text = la_mem_alloc(capacity);
    if (!text) return LA_ENOMEM;
    la_status status = read_notes(json, text, capacity, out);
    la_mem_free(text, capacity);
    return status;
}

void la_metadata_put(la_bytes *out, la_notes *list)
{
    la_notes_sort(list);
    la_bytes_put_byte(out, '{');
    for (int64_t i = 0; i < list->n; i++) {
        const la_note *one = &list->list[i];
        if (i) la_bytes_put_byte(out, ',');
        la_json_put(out, one->key, one->n);
        la_bytes_put_byte(out, ':');
        la_json_put(out, one->text, one->text_n);
    }
    la_bytes_put_byte(out, '}');
}
