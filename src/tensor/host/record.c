/* Records: the words of a layout, and the tensors of its fields. */
#include "tensor/host/record.h"

#include <string.h>

#include "base/runtime/host_call.h"
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "base/size.h"
#include "tensor/storage.h"

/* The host's memory, held by the record and by the storages of its fields. */
struct la_host_block {
    _Atomic int32_t refs;
    void *data;
    la_release_fn release;
    void *context;
};
typedef struct la_host_block block;

static void block_drop(block *b)
{
    if (!la_drop_ref(&b->refs)) return;
    la_host_release(b->release, b->context, b->data);
    la_mem_free(b, sizeof *b);
}

/* ---- the layout ---- */

static const struct { const char *word; la_dtype dtype; int align; } types[] = {
    {"u8", LA_UINT8, 1}, {"u16", LA_UINT16, 2}, {"u32", LA_UINT32, 4},
    {"u64", LA_UINT64, 8}, {"i8", LA_INT8, 1}, {"i16", LA_INT16, 2},
    {"i32", LA_INT32, 4}, {"i64", LA_INT64, 8}, {"f16", LA_FLOAT16, 2},
    {"bf16", LA_BFLOAT16, 2}, {"f32", LA_FLOAT32, 4}, {"f64", LA_FLOAT64, 8},
    {"b8", LA_BOOL, 1}, {"c64", LA_COMPLEX64, 4}, {"c128", LA_COMPLEX128, 8},
};
enum { TYPES = sizeof types / sizeof *types };

/* 'at' walks over the text, of which a copy becomes the fields' names. */
typedef struct parser {
    const char *text, *at;
    char *names;
    la_record *r;
    int64_t next;           /* first byte behind the field before */
} parser;

/* LA_EARG: what is wrong with the word that begins at 'word'. */
static la_status record_wrong(const parser *p, const char *word,
                              const char *what)
{
    char quoted[208];
    size_t n = strcspn(word, " \t\r\n");
    la_quote(word, n, quoted, sizeof quoted);
    return la_error(LA_EARG, "layout, character %lld: '%s': %s",
                    (long long)(word - p->text) + 1, quoted, what);
}

static bool record_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A number at p->at, 'least' or more; false where there is none or it is above
** LA_MAX_BYTES. */
static bool record_read_number(parser *p, int64_t least, int64_t *out)
{
    *out = 0;
    if (!is_digit(*p->at)) return false;
    for (; is_digit(*p->at); p->at++) {
        *out = *out * 10 + (*p->at - '0');
        if (*out > LA_MAX_BYTES) return false;
    }
    return *out >= least;
}

/* The type word at p->at: its row, or -1. */
static int record_read_type(parser *p)
{
    size_t n = 0;
    while (record_is_letter(p->at[n]) && p->at[n] != 'x') n++;
    while (is_digit(p->at[n])) n++;
    for (int i = 0; i < TYPES; i++)
        if (strlen(types[i].word) == n
            && memcmp(types[i].word, p->at, n) == 0) {
            p->at += n;
            return i;
        }
    return -1;
}

static bool is_taken(const la_record *r, const char *name)
{
    return la_record_find(r, name) != NULL;
}

/* "xN" or "xNxM" behind the type, and the bytes of it all. */
static la_status read_sizes(parser *p, const char *word, la_struct_field *f)
{
    f->ndim = 0;
    f->nbytes = (int64_t)la_dtype_size(f->dtype);
    while (*p->at == 'x') {
        p->at++;
        if (f->ndim == 2)
            return record_wrong(p, word, "at most two sizes, xNxM");
        if (!record_read_number(p, 1, &f->sizes[f->ndim])
            || !la_mul_ok(f->nbytes, f->sizes[f->ndim], &f->nbytes)
            || f->nbytes > LA_MAX_BYTES)
            return record_wrong(p, word,
                                "a size from 1 on expected behind 'x'");
        f->ndim++;
    }
    return LA_OK;
}

/* ":N" of a gap. */
static la_status record_read_gap(parser *p, const char *word)
{
    int64_t n;
    if (!record_read_number(p, 0, &n) || (*p->at && !is_space(*p->at)))
        return record_wrong(p, word, "a number of bytes expected behind '_:'");
    p->next += n;
    if (p->next > p->r->bytes)
        return record_wrong(p, word, "reaches past the end of the struct");
    return LA_OK;
}

/* ":type" with what may follow, of the field whose name was read. */
static la_status record_read_field(parser *p, const char *word,
                                   la_struct_field *f)
{
    int type = record_read_type(p);
    if (type < 0)
        return record_wrong(p, word, "unknown type (known: u8 u16 u32 u64 i8 "
                            "i16 i32 i64 f16 bf16 f32 f64 b8 c64 c128)");
    f->dtype = types[type].dtype;
    LA_TRY(read_sizes(p, word, f));
    int64_t align = types[type].align;
    f->offset = (p->next + align - 1) / align * align;
    if (*p->at == '@') {
        p->at++;
        if (!record_read_number(p, 0, &f->offset))
            return record_wrong(p, word,
                                "an offset in bytes expected behind '@'");
    }
    if (*p->at && !is_space(*p->at))
        return record_wrong(p, word, "name:type, name:typexN or name:typexNxM "
                            "expected, with @offset or without");
    p->next = f->offset + f->nbytes;
    if (p->next > p->r->bytes)
        return record_wrong(p, word, "reaches past the end of the struct");
    return LA_OK;
}

static la_status record_read_word(parser *p)
{
    const char *word = p->at;
    la_struct_field *f = &p->r->fields[p->r->nfields];
    size_t n = 0;
    if (record_is_letter(*word)) while (record_is_letter(word[n])
                                        || is_digit(word[n])) n++;
    if (n == 0 || word[n] != ':')
        return record_wrong(p, word, "a name and ':' expected");
    p->at = word + n + 1;
    if (n == 1 && *word == '_') return record_read_gap(p, word);
    if (p->r->nfields == LA_RECORD_FIELDS)
        return record_wrong(p, word, "more than 1024 fields");
    memcpy(p->names, word, n);
    p->names[n] = '\0';
    if (is_taken(p->r, p->names))
        return record_wrong(p, word, "there is a field of this name already");
    memset(f, 0, sizeof *f);
    f->name = p->names;
    LA_TRY(record_read_field(p, word, f));
    p->names += n + 1;
    p->r->nfields++;
    return LA_OK;
}

static la_status parse(la_record *r, const char *layout, char *names)
{
    parser p = {layout, layout, names, r, 0};
    for (;;) {
        while (is_space(*p.at)) p.at++;
        if (!*p.at) break;
        LA_TRY(record_read_word(&p));
    }
    if (r->nfields == 0) return la_error(LA_EARG, "layout: no field in it");
    return LA_OK;
}

/* Fields that share bytes, also by way of others, have the same group: the
** index of the first of them. */
static void record_find_groups(la_record *r)
{
    la_struct_field *f = r->fields;
    for (int i = 0; i < r->nfields; i++) {
        f[i].group = i;
        for (int j = 0; j < i; j++) {
            bool shares = f[i].offset < f[j].offset + f[j].nbytes
                && f[j].offset < f[i].offset + f[i].nbytes;
            int from = f[i].group, to = f[j].group;
            if (!shares || from == to) continue;
            if (from < to) to = from, from = f[j].group;
            for (int k = 0; k <= i; k++)
                if (f[k].group == from) f[k].group = to;
        }
    }
}

/* ---- life ---- */

/* Words in the text: as many fields at most. */
static size_t count_words(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += !is_space(*text) && (is_space(text[1]) || !text[1]);
    return n < LA_RECORD_FIELDS ? n : LA_RECORD_FIELDS;
}

static la_status record_check_memory(void *data, int64_t count, size_t bytes)
{
    int64_t all;
    if (count < 0 || bytes == 0 || bytes > (size_t)LA_MAX_BYTES
        || !la_mul_ok(count, (int64_t)bytes, &all) || all > LA_MAX_BYTES)
        return la_error(LA_EARG, "%lld structs of %zu bytes: no fair size",
                        (long long)count, bytes);
    if (all && !data)
        return la_error(LA_EARG, "no memory given for %lld structs",
                        (long long)count);
    return LA_OK;
}

/* Record, fields (one more than there are words, where a refused one is read)
** and names in one block. */
static la_status record_allocate(const la_record_memory *m, const char *layout,
                                 la_record **out)
{
    size_t head = (sizeof(la_record) + 15) / 16 * 16;
    size_t fields = (count_words(layout) + 1) * sizeof(la_struct_field);
    size_t bytes = head + fields + strlen(layout) + 1;
    la_record *r = la_mem_zalloc(bytes);
    if (!r) return LA_ENOMEM;
    r->block = la_mem_zalloc(sizeof *r->block);
    if (!r->block) {
        la_mem_free(r, bytes);
        return LA_ENOMEM;
    }
    atomic_init(&r->refs, 1);
    atomic_init(&r->block->refs, 1);
    r->block_bytes = bytes;
    r->owner = la_here.owner;
    r->fields = (la_struct_field *)((char *)r + head);
    r->count = m->count;
    r->bytes = (int64_t)m->bytes;
    r->read_only = m->read_only;
    r->block->data = m->data;
    *out = r;
    la_status status = parse(r, layout, (char *)r->fields + fields);
    if (status) la_record_drop(r);
    return status;
}

static la_status record_make(const la_record_memory *m, const char *layout,
                             la_record **out)
{
    if (!layout) return la_error(LA_EARG, "no layout given");
    LA_TRY(record_check_memory(m->data, m->count, m->bytes));
    return record_allocate(m, layout, out);
}

la_status la_record_new(const la_record_memory *m, const char *layout,
                        la_record **out)
{
    la_record *r = NULL;
    la_status status = record_make(m, layout, &r);
    if (status) {
        la_host_release(m->release, m->context, m->data);
        return status;
    }
    record_find_groups(r);
    r->block->release = m->release;
    r->block->context = m->context;
    *out = r;
    return LA_OK;
}

void la_record_drop(la_record *r)
{
    if (!r || !la_drop_ref(&r->refs)) return;
    la_position before = la_move_to_owner(r->owner);
    for (int i = 0; i < r->nfields; i++)
        if (r->fields[i].storage) la_storage_release(r->fields[i].storage);
    block_drop(r->block);
    la_mem_free(r, r->block_bytes);
    la_move_back(&before);
}

/* ---- fields ---- */

const la_struct_field *la_record_find(const la_record *r, const char *name)
{
    for (int i = 0; i < r->nfields; i++)
        if (strcmp(r->fields[i].name, name) == 0) return &r->fields[i];
    return NULL;
}

bool la_record_has_view(const la_record *r, const la_struct_field *f)
{
    int64_t size = (int64_t)la_dtype_size(f->dtype);
    return f->offset % size == 0 && r->bytes % size == 0
        && (uintptr_t)r->block->data % (uintptr_t)size == 0;
}

/* A la_release_fn of a field's storage. */
static void end_field(void *context, void *data) { block_drop(context); }

/* The storage of the field's group; the record keeps it. */
static la_status storage_of(la_record *r, const la_struct_field *f,
                            la_storage **out)
{
    la_storage **s = &r->fields[f->group].storage;
    if (r->withdrawn) return la_host_moved();
    if (!*s) {
        LA_TRY(la_storage_new(0, LA_CPU, s));
        (*s)->born = 0;         /* the memory was there before */
        (*s)->data = r->block->data;
        (*s)->nbytes = r->count * r->bytes;
        (*s)->flags = LA_S_FIXED | (r->read_only ? LA_S_READ_ONLY : 0);
        (*s)->release = end_field;
        (*s)->context = r->block;
        la_take_ref(&r->block->refs);
    }
    *out = *s;
    return LA_OK;
}

/* Sizes and strides of the field's tensor. */
static void record_layout_of(const la_record *r, const la_struct_field *f,
                             int64_t *sizes, int64_t *strides)
{
    sizes[0] = r->count;
    sizes[1] = f->sizes[0];
    sizes[2] = f->sizes[1];
    strides[0] = r->bytes / (int64_t)la_dtype_size(f->dtype);
    strides[1] = f->ndim == 2 ? f->sizes[1] : 1;
    strides[2] = 1;
}

bool la_record_is_view(const la_record *r, const la_struct_field *f,
                       const la_tensor *t)
{
    int64_t sizes[3], strides[3], size = (int64_t)la_dtype_size(f->dtype);
    size_t bytes = (1 + (size_t)f->ndim) * sizeof(int64_t);
    record_layout_of(r, f, sizes, strides);
    return t->storage && t->storage == r->fields[f->group].storage
        && t->dtype == f->dtype && t->ndim == 1 + f->ndim
        && t->offset * size == f->offset
        && memcmp(la_sizes(t), sizes, bytes) == 0
        && memcmp(la_strides(t), strides, bytes) == 0;
}

la_status la_record_view(la_record *r, const la_struct_field *f,
                         la_tensor **out)
{
    la_storage *s = NULL;
    int64_t sizes[3], strides[3], size = (int64_t)la_dtype_size(f->dtype);
    LA_TRY(storage_of(r, f, &s));
    if (!la_record_has_view(r, f))
        return la_error(LA_EARG, "field '%s' is not aligned to its elements of "
                        "%lld bytes (byte %lld of structs of %lld): it has no "
                        "view, only get and set copy it", f->name,
                        (long long)size, (long long)f->offset,
                        (long long)r->bytes);
    record_layout_of(r, f, sizes, strides);
    return la_tensor_on(s, f->dtype, 1 + f->ndim, sizes, strides,
                        f->offset / size, out);
}

la_status la_record_bytes(la_record *r, const la_struct_field *f,
                          la_tensor **out)
{
    la_storage *s = NULL;
    LA_TRY(storage_of(r, f, &s));
    int64_t sizes[2] = {r->count, f->nbytes}, strides[2] = {r->bytes, 1};
    return la_tensor_on(s, LA_UINT8, 2, sizes, strides, f->offset, out);
}

/* ---- moving ---- */

/* The storages let go of the memory, and the record of them: tensors on them
** stay, and say that it was moved. */
la_status la_record_move(la_record *r, void *data, int64_t count)
{
    if (data) LA_TRY(record_check_memory(data, count, (size_t)r->bytes));
    else if (count < 0)
        return record_check_memory(data, count, (size_t)r->bytes);
    for (int i = 0; i < r->nfields; i++) {
        la_storage *s = r->fields[i].storage;
        if (!s) continue;
        la_host_withdraw(s);
        block_drop(r->block);
        la_storage_release(s);
        r->fields[i].storage = NULL;
    }
    r->block->data = data;
    r->count = data ? count : 0;
    r->withdrawn = !data;
    r->moves++;
    return LA_OK;
}
