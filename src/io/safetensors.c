/*
** .safetensors: eight bytes with the header's length, a JSON header with
** dtype, shape and offsets of every tensor, and the data without holes.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "io/archive.h"
#include "io/json.h"
#include "io/zip.h"
#include "tensor/shape.h"

enum { LENGTH_BYTES = 8, HEADER_LIMIT = 100 << 20, ALIGN = 8 };

static const struct { const char *word; la_dtype dtype; } dtypes[] = {
    {"BOOL", LA_BOOL}, {"U8", LA_UINT8}, {"I8", LA_INT8}, {"U16", LA_UINT16},
    {"I16", LA_INT16}, {"U32", LA_UINT32}, {"I32", LA_INT32},
    {"U64", LA_UINT64}, {"I64", LA_INT64}, {"F16", LA_FLOAT16},
    {"BF16", LA_BFLOAT16}, {"F32", LA_FLOAT32}, {"F64", LA_FLOAT64},
    {"C64", LA_COMPLEX64}
};
enum { NWORDS = sizeof dtypes / sizeof *dtypes };

/* ---- reading the header ---- */

/* One tensor as the header tells it. */
typedef struct record {
    const char *name;       /* decoded, into the text buffer */
    size_t n;
    const char *word;       /* where there is no such dtype here, else NULL */
    size_t word_n;
    la_dtype dtype;
    int ndim;
    int64_t sizes[LA_MAX_DIMS];
    int64_t begin, end;     /* in the data */
} record;

typedef struct reader {
    la_json json;
    char *text;             /* decoded strings, one after the other */
    size_t used, capacity;
    record *list;
    int64_t n, list_capacity;
    la_mapping *mapping;    /* tensors lie there; NULL: they are read */
    la_archive *out;
} reader;

/* The next string, decoded into the text buffer, which has capacity for the
** whole header: decoding never makes a string longer. */
static la_status safetensors_read_word(reader *r, const char **text, size_t *n)
{
    *text = r->text + r->used;
    LA_TRY(la_json_string(&r->json, r->text + r->used,
                          r->capacity - r->used, n));
    r->used += *n;
    return LA_OK;
}

static bool safetensors_is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(text, word, n) == 0;
}

/* The words of the format's specification; those of 8-bit floats and narrower
** have no dtype here, nor have words of later versions: such a tensor is
** skipped. */
static la_status safetensors_read_dtype(reader *r, record *out)
{
    const char *text;
    size_t n;
    LA_TRY(safetensors_read_word(r, &text, &n));
    for (int i = 0; i < NWORDS; i++)
        if (safetensors_is_word(text, n, dtypes[i].word)) {
            out->dtype = dtypes[i].dtype;
            return LA_OK;
        }
    out->word = text;
    out->word_n = n;
    return LA_OK;
}

/* Sizes may be 0; '[]' is a scalar. Their product is checked with the
** offsets. */
static la_status safetensors_read_shape(reader *r, record *out)
{
    LA_TRY(la_json_expect(&r->json, '['));
    if (la_json_accept(&r->json, ']')) return LA_OK;
    do {
        if (out->ndim == LA_MAX_DIMS)
            return la_error(LA_EIO, "more than %d dimensions", LA_MAX_DIMS);
        LA_TRY(la_json_integer(&r->json, &out->sizes[out->ndim++]));
    } while (la_json_accept(&r->json, ','));
    return la_json_expect(&r->json, ']');
}

static la_status read_offsets(reader *r, record *out)
{
    LA_TRY(la_json_expect(&r->json, '['));
    LA_TRY(la_json_integer(&r->json, &out->begin));
    LA_TRY(la_json_expect(&r->json, ','));
    LA_TRY(la_json_integer(&r->json, &out->end));
    return la_json_expect(&r->json, ']');
}

/* The value of one key of a tensor. */
static la_status safetensors_read_field(reader *r, record *out, int *have)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    const char *text;
    size_t n;
    int k = 0;
    LA_TRY(safetensors_read_word(r, &text, &n));
    while (k < 3 && !safetensors_is_word(text, n, keys[k])) k++;
    if (k == 3) return la_json_malformed("an unknown key");
    if (*have & 1 << k) return la_json_malformed("a key is there twice");
    *have |= 1 << k;
    LA_TRY(la_json_expect(&r->json, ':'));
    return k == 0 ? safetensors_read_dtype(r, out) : k == 1
        ? safetensors_read_shape(r, out)
        : read_offsets(r, out);
}

/* One tensor: its three keys in any order, each exactly once. */
static la_status read_record(reader *r, record *out)
{
    int have = 0;
    LA_TRY(la_json_expect(&r->json, '{'));
    do {
        LA_TRY(safetensors_read_field(r, out, &have));
    } while (la_json_accept(&r->json, ','));
    if (have != 7) return la_json_malformed("a key is missing");
    return la_json_expect(&r->json, '}');
}

/* Twice the capacity; the number of tensors is not known before the header
** ends. */
static la_status add_record(reader *r, const record *one)
{
    if (r->n == r->list_capacity) {
        int64_t capacity = r->list_capacity ? 2 * r->list_capacity : 16;
        record *list = la_mem_alloc((size_t)capacity * sizeof *list);
        if (!list) return LA_ENOMEM;
        if (r->n) memcpy(list, r->list, (size_t)r->n * sizeof *list);
        la_mem_free(r->list, (size_t)r->list_capacity * sizeof *list);
        r->list = list;
        r->list_capacity = capacity;
    }
    r->list[r->n++] = *one;
    return LA_OK;
}

/* A name and its tensor, or the metadata, which may be there once. Names that
** are twice are found when the archive is sorted. */
static la_status safetensors_read_pair(reader *r, bool *metadata)
{
    record one = {0};
    LA_TRY(safetensors_read_word(r, &one.name, &one.n));
    LA_TRY(la_json_expect(&r->json, ':'));
    if (safetensors_is_word(one.name, one.n, "__metadata__")) {
        if (*metadata) return la_json_malformed("a key is there twice");
        *metadata = true;
        return la_metadata_read(&r->json, &r->out->metadata);
    }
    LA_TRY(read_record(r, &one));
    return add_record(r, &one);
}

/* The whole header. The format wants '{' as its first byte and only blanks, no
** other white space, as padding behind '}'. */
static la_status read_records(reader *r)
{
    bool metadata = false;
    if (r->json.at >= r->json.end || *r->json.at != '{')
        return la_json_malformed("'{' was expected");
    r->json.at++;
    if (!la_json_accept(&r->json, '}')) {
        do {
            LA_TRY(safetensors_read_pair(r, &metadata));
        } while (la_json_accept(&r->json, ','));
        LA_TRY(la_json_expect(&r->json, '}'));
    }
    while (r->json.at < r->json.end)
        if (*r->json.at++ != ' ') return la_json_malformed("text after '}'");
    return LA_OK;
}

/* ---- checking offsets, reading data ---- */

/* Orders by begin, then by end: tensors without elements come before the one
** that begins at the same byte. */
static int safetensors_compare_offsets(const void *pa, const void *pb)
{
    const record *a = pa, *b = pb;
    if (a->begin != b->begin) return a->begin > b->begin ? 1 : -1;
    return (a->end > b->end) - (a->end < b->end);
}

/* The bytes between the offsets are those of shape and dtype, so that no later
** step trusts the one where the other differs. */
static la_status safetensors_check_record(const record *r)
{
    int64_t numel, bytes;
    if (r->word) return r->end < r->begin
        ? la_json_malformed("offsets do not fit shape and dtype") : LA_OK;
    LA_TRY(la_numel(r->ndim, r->sizes, &numel));
    if (!la_mul_ok(numel, (int64_t)la_dtype_size(r->dtype), &bytes))
        return la_error(LA_EIO, "size overflow");
    if (r->end < r->begin || r->end - r->begin != bytes)
        return la_json_malformed("offsets do not fit shape and dtype");
    return LA_OK;
}

/* The tensors cover the data from its begin to its end. */
static la_status check_offsets(reader *r, int64_t bytes)
{
    int64_t at = 0;
    if (r->n > 1)
        qsort(r->list, (size_t)r->n, sizeof *r->list,
              safetensors_compare_offsets);
    for (int64_t i = 0; i < r->n; i++) {
        LA_TRY(safetensors_check_record(&r->list[i]));
        if (r->list[i].begin != at)
            return la_json_malformed("tensors overlap or leave holes");
        at = r->list[i].end;
    }
    if (at < bytes) return la_json_malformed("bytes behind the last tensor");
    return LA_OK;
}

/* A bool byte other than 0 and 1 would be undefined behaviour in a kernel. */
static void safetensors_normalise(const record *r, char *data, int64_t bytes)
{
    if (r->dtype == LA_BOOL)
        for (int64_t i = 0; i < bytes; i++) data[i] = data[i] != 0;
}

/* '*out' is new, owned by the caller, contiguous. */
static la_status read_data(const la_reader *s, int64_t base, const record *r,
                           la_tensor **out)
{
    int64_t bytes = r->end - r->begin;
    LA_LET(t, la_tensor_empty(r->ndim, r->sizes, r->dtype, &t));
    if (bytes) {
        LA_TRY(la_reader_read(s, base + r->begin, la_data(t), (size_t)bytes));
        safetensors_normalise(r, la_data(t), bytes);
    }
    return la_tensor_hand(&t, out);
}

/* A tensor in the mapping, when there is one, or a copy of its own. */
static la_status add_data(la_mapping *m, const la_reader *s, int64_t base,
                          const record *r, la_archive *out)
{
    la_tensor *t = NULL;
    if (r->word)
        return la_notes_add(&out->skipped, r->name, r->n, r->word, r->word_n);
    if (m)
        LA_TRY(la_mapping_tensor(m, base + r->begin, r->dtype, r->ndim,
                                 r->sizes, false, &t));
    else
        LA_TRY(read_data(s, base, r, &t));
    return la_archive_add(out, r->name, r->n, t);
}

/* No allocation before the end of the last tensor is known to be there. */
static la_status safetensors_read_tensors(reader *r, const la_reader *s,
                                          int64_t base, la_archive *out)
{
    int64_t last = 0;
    LA_TRY(read_records(r));
    LA_TRY(check_offsets(r, s->size - base));
    if (r->n) last = r->list[r->n - 1].end;
    if (last > s->size - base)
        return la_error(LA_EIO, "truncated at byte %lld", (long long)s->size);
    for (int64_t i = 0; i < r->n; i++)
        LA_TRY(add_data(r->mapping, s, base, &r->list[i], out));
    return la_archive_sort(out, LA_EIO);
}

/* 'text' holds the decoded names until the archive has copied them: a decoded
** string is never longer than its JSON. */
static la_status read_with_text(const la_reader *s, la_mapping *m,
                                const char *header, size_t n, la_archive *out)
{
    reader r = {.json = {header, header + n}, .capacity = n + 8, .mapping = m,
                .out = out};
    if (!(r.text = la_mem_alloc(r.capacity))) return LA_ENOMEM;
    la_status status = safetensors_read_tensors(&r, s,
                                                LENGTH_BYTES + (int64_t)n, out);
    la_mem_free(r.list, (size_t)r.list_capacity * sizeof *r.list);
    la_mem_free(r.text, r.capacity);
    return status;
}

la_status la_safetensors_read(const la_reader *s, la_archive *out)
{
    return la_safetensors_map(s, NULL, out);
}

la_status la_safetensors_map(const la_reader *s, la_mapping *m,
                             la_archive *out)
{
    unsigned char b[LENGTH_BYTES];
    LA_TRY(la_reader_read(s, 0, b, sizeof b));
    uint64_t n = la_little(b, LENGTH_BYTES);
    if (n < 2 || n > HEADER_LIMIT)
        return la_error(LA_EIO, "not a .safetensors file, or a damaged one: "
                        "header of %llu bytes (2 to %d)",
                        (unsigned long long)n, HEADER_LIMIT);
    if (n > (uint64_t)s->size - LENGTH_BYTES)
        return la_error(LA_EIO, "truncated at byte %lld", (long long)s->size);
    char *header = la_mem_alloc((size_t)n);
    if (!header) return LA_ENOMEM;
    la_status status = la_reader_read(s, LENGTH_BYTES, header, (size_t)n);
    if (!status) status = read_with_text(s, m, header, (size_t)n, out);
    la_mem_free(header, (size_t)n);
    return status;
}

/* ---- writing ---- */

static const char *word_of(la_dtype d)
{
    for (int i = 0; i < NWORDS; i++)
        if (dtypes[i].dtype == d) return dtypes[i].word;
    return NULL;
}

static void put_number(la_bytes *t, int64_t v)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)v);
    la_bytes_put(t, digits, (size_t)n);
}

#define PUT(t, literal) la_bytes_put(t, literal, sizeof(literal) - 1)

static int64_t safetensors_bytes_of(const la_tensor *t)
{
    return t->numel * (int64_t)la_itemsize(t);
}

/* Compact JSON without blanks, keys in the order that the reference
** implementation writes. */
static void put_entry(la_bytes *t, const la_entry *e, int64_t at)
{
    const la_tensor *x = e->tensor;
    const char *word = word_of((la_dtype)x->dtype);
    la_json_put(t, e->name, e->n);
    PUT(t, ":{\"dtype\":\"");
    la_bytes_put(t, word, strlen(word));
    PUT(t, "\",\"shape\":[");
    for (int d = 0; d < x->ndim; d++) {
        if (d) PUT(t, ",");
        put_number(t, la_sizes(x)[d]);
    }
    PUT(t, "],\"data_offsets\":[");
    put_number(t, at);
    PUT(t, ",");
    put_number(t, at + safetensors_bytes_of(x));
    PUT(t, "]}");
}

/* The header, blanks behind it so that the data is aligned. */
static void safetensors_put_header(la_bytes *t, la_archive *a)
{
    int64_t at = 0;
    PUT(t, "{");
    if (a->metadata.n) {
        PUT(t, "\"__metadata__\":");
        la_metadata_put(t, &a->metadata);
    }
    for (int64_t i = 0; i < a->n; i++) {
        if (i || a->metadata.n) PUT(t, ",");
        put_entry(t, &a->list[i], at);
        at += safetensors_bytes_of(a->list[i].tensor);
    }
    PUT(t, "}");
    while (t->n % ALIGN) PUT(t, " ");
}

/* Wide dtypes first, so that all data is aligned; then by name. */
static int compare_widths(const void *pa, const void *pb)
{
    const la_entry *a = pa, *b = pb;
    size_t wa = la_itemsize(a->tensor), wb = la_itemsize(b->tensor);
    if (wa != wb) return wa < wb ? 1 : -1;
    size_t n = a->n < b->n ? a->n : b->n;
    int order = n ? memcmp(a->name, b->name, n) : 0;
    return order ? order : (a->n > b->n) - (a->n < b->n);
}

/* Before the first byte is written: an unusable name or dtype leaves an old
** file as it was. */
static la_status check_entries(const la_archive *a)
{
    char shown[900];
    for (int64_t i = 0; i < a->n; i++) {
        const la_entry *e = &a->list[i];
        if (!word_of((la_dtype)e->tensor->dtype))
            return la_error(LA_EDTYPE, ".safetensors has no %s",
                            la_dtype_name((la_dtype)e->tensor->dtype));
        if (!la_json_is_utf8(e->name, e->n)
            || safetensors_is_word(e->name, e->n, "__metadata__"))
            return la_error(LA_EARG, "'%s' cannot be a name in a .safetensors"
                            " file", la_quote(e->name, e->n, shown,
                                              sizeof shown));
    }
    return LA_OK;
}

static la_status write_header(la_archive *a, la_writer *out)
{
    LA_BYTES header = {0};
    unsigned char length[LENGTH_BYTES];
    safetensors_put_header(&header, a);
    LA_TRY(header.status);
    la_put_little(length, header.n, LENGTH_BYTES);
    LA_TRY(la_writer_write(out, length, sizeof length));
    return la_writer_write(out, header.data, header.n);
}

la_status la_safetensors_write(la_archive *a, la_writer *out)
{
    LA_TRY(la_archive_sort(a, LA_EARG));
    LA_TRY(check_entries(a));
    if (a->n > 1) qsort(a->list, (size_t)a->n, sizeof *a->list, compare_widths);
    LA_TRY(write_header(a, out));
    for (int64_t i = 0; i < a->n; i++) {
        const la_tensor *t = a->list[i].tensor;
        if (t->numel)
            LA_TRY(la_writer_write(out, la_data(t),
                                   (size_t)safetensors_bytes_of(t)));
    }
    return LA_OK;
}
