/*
** Files of PyTorch: the three ways in which a pickle and its storages lie in
** them. Nothing is allocated for a storage before its bytes are known to be
** there.
*/
#include "modules/pickle/io/torch_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "base/size.h"
#include "tensor/shape.h"

/* Deflated members of at most so many times the file's bytes, and some more for
** small files. */
enum { RATIO = 64, RATIO_MORE = 1 << 20 };

/* ---- members of zip files ---- */

static int torch_order(const char *a, size_t an, const char *b, size_t bn)
{
    size_t n = an < bn ? an : bn;
    int order = n ? memcmp(a, b, n) : 0;
    return order ? order : (an > bn) - (an < bn);
}

static int torch_compare_members(const void *pa, const void *pb)
{
    const la_zip_member *a = *(const la_zip_member *const *)pa;
    const la_zip_member *b = *(const la_zip_member *const *)pb;
    return torch_order(a->name, a->n, b->name, b->n);
}

const la_zip_member *la_torch_member(const la_torch_file *f,
                                     const char *folder, const char *name,
                                     size_t n)
{
    char path[1024];
    size_t m = strlen(folder);
    int64_t low = 0, high = f->zip.n;
    if (f->prefix_n + m + n > sizeof path) return NULL;
    if (f->prefix_n) memcpy(path, f->prefix, f->prefix_n);
    if (m) memcpy(path + f->prefix_n, folder, m);
    memcpy(path + f->prefix_n + m, name, n);
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        const la_zip_member *at = f->members[mid];
        int order = torch_order(at->name, at->n, path, f->prefix_n + m + n);
        if (!order) return at;
        if (order < 0) low = mid + 1;
        else high = mid;
    }
    return NULL;
}

/* Errors of zip files, which speak of .npz. */
static la_status torch_zip_error(la_status status)
{
    static const char npz[] = "malformed .npz file";
    char text[LA_ERROR_TEXT];
    if (status != LA_EIO) return status;
    strcpy(text, la_error_message());
    if (strncmp(text, npz, sizeof npz - 1)) return status;
    return la_error(LA_EIO, "malformed zip file%s", text + sizeof npz - 1);
}

la_status la_torch_unpack(const la_torch_file *f, const la_zip_member *m,
                          void *out)
{
    __attribute__((cleanup(la_zip_stream_close))) la_zip_stream in = {0};
    LA_TRY(la_zip_start(&in, &f->zip, m));
    LA_TRY(in.stream.read(&in.stream, out, (size_t)m->size));
    return la_zip_finish(&in);
}

/* The name of the folder in the archive: that of the first data.pkl. */
static const la_zip_member *torch_find_data(la_torch_file *f)
{
    static const char name[] = "data.pkl";
    enum { N = sizeof name - 1 };
    for (int64_t i = 0; i < f->zip.n; i++) {
        const la_zip_member *m = f->members[i];
        if (m->n < N || memcmp(m->name + m->n - N, name, N)
            || (m->n > N && m->name[m->n - N - 1] != '/')
            || (m->n > N && memchr(m->name, '/', m->n - N - 1))) continue;
        f->prefix = m->name;
        f->prefix_n = m->n - N;
        return m;
    }
    return NULL;
}

/* Sorted members; none has the name of another. */
static la_status torch_sort_members(la_torch_file *f)
{
    f->members = la_mem_alloc((size_t)f->zip.n * sizeof *f->members);
    if (!f->members) return LA_ENOMEM;
    for (int64_t i = 0; i < f->zip.n; i++) f->members[i] = &f->zip.list[i];
    if (f->zip.n > 1)
        qsort(f->members, (size_t)f->zip.n, sizeof *f->members,
              torch_compare_members);
    for (int64_t i = 1; i < f->zip.n; i++)
        if (torch_compare_members(&f->members[i - 1], &f->members[i]) == 0)
            return la_error(LA_EIO, "malformed zip file (a name is there "
                            "twice)");
    return LA_OK;
}

/* A small file of packed zeros may unpack to a thousand times its bytes. */
static la_status torch_check_sizes(const la_torch_file *f, int64_t limit)
{
    int64_t packed = 0, all = 0, most;
    for (int64_t i = 0; i < f->zip.n; i++) {
        const la_zip_member *m = &f->zip.list[i];
        bool deflated = m->method != LA_ZIP_STORED;
        if (!la_add_ok(all, m->size, &all)
            || (deflated && !la_add_ok(packed, m->size, &packed)))
            return la_error(LA_EIO, "size overflow");
    }
    if (limit) return la_check_limit(all, limit);
    if (!la_mul_ok(f->in->size, RATIO, &most)
        || !la_add_ok(most, RATIO_MORE, &most) || packed <= most) return LA_OK;
    return la_error(LA_EIO, "%lld bytes are packed into a file of %lld: "
                    "{limit = bytes} allows as many", (long long)packed,
                    (long long)f->in->size);
}

static la_status torch_byteorder(la_torch_file *f)
{
    static const char name[] = "byteorder";
    const la_zip_member *m = la_torch_member(f, "", name, sizeof name - 1);
    char text[8] = {0};
    if (!m) return LA_OK;
    if (m->size < 3 || m->size > 7)
        return la_error(LA_EIO, "byteorder: 'little' or 'big' expected");
    LA_TRY(la_torch_unpack(f, m, text));
    bool big = strncmp(text, "big", 3) == 0;
    if (!big && strncmp(text, "little", 6))
        return la_error(LA_EIO, "byteorder: 'little' or 'big' expected");
    const uint16_t one = 1;
    f->swapped = big == *(const unsigned char *)&one;
    return LA_OK;
}

static la_status torch_open_zip(la_torch_file *f, bool lenient, int64_t limit)
{
    static const char constants[] = "constants.pkl";
    LA_TRY(la_zip_open(&f->zip, f->in));
    LA_TRY(torch_sort_members(f));
    LA_TRY(torch_check_sizes(f, limit));
    const la_zip_member *m = torch_find_data(f);
    if (!m) return la_error(LA_EIO, "there is no data.pkl in it");
    f->script = la_torch_member(f, "", constants, sizeof constants - 1) != NULL;
    f->data = la_mem_alloc((size_t)m->size + 1);
    if (!f->data) return LA_ENOMEM;
    f->data_bytes = (size_t)m->size + 1;
    LA_TRY(la_torch_unpack(f, m, f->data));
    LA_TRY(torch_byteorder(f));
    la_reader_of_memory(f->data, (size_t)m->size, &f->data_reader);
    la_pickle_init(&f->pickle, &f->data_reader, 0, m->size, "data.pkl");
    f->pickle.lenient = lenient;
    f->pickle.script = f->script;
    LA_TRY(la_pickle_load(&f->pickle));
    f->root = f->pickle.result;
    return LA_OK;
}

/* ---- storages ---- */

static int torch_compare_storages(const void *pa, const void *pb)
{
    const la_torch_storage *a = pa, *b = pb;
    return torch_order(a->key, a->key_n, b->key, b->key_n);
}

static la_torch_storage *torch_find(const la_torch_file *f, const char *key,
                                    size_t n)
{
    int64_t low = 0, high = f->n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        la_torch_storage *at = &f->list[mid];
        int order = torch_order(at->key, at->key_n, key, n);
        if (!order) return at;
        if (order < 0) low = mid + 1;
        else high = mid;
    }
    return NULL;
}

static la_status torch_storage_fail(const la_torch_storage *s, const char *what)
{
    char shown[300];
    return la_error(LA_EIO, "storage '%s': %s",
                    la_quote(s->key, s->key_n, shown, sizeof shown), what);
}

/* The storage that a persistent id names. */
static la_torch_storage torch_describe(const la_torch_file *f, uint32_t id)
{
    const la_pickle *p = &f->pickle;
    const la_pickle_node *type = la_pickle_item(p, id, 1, LA_PICKLE_GLOBAL);
    const la_pickle_node *key = la_pickle_item(p, id, 2, LA_PICKLE_TEXT);
    bool bytes = type->of == LA_UNDEFINED;
    return (la_torch_storage){
        .key = la_pickle_text(p, key), .key_n = key->n,
        .dtype = bytes ? LA_UINT8 : (la_dtype)type->of, .bytes = bytes,
        .numel = la_pickle_item(p, id, 4, LA_PICKLE_INT)->i
    };
}

/* All storages that the pickle names, sorted, each once. */
static la_status torch_collect(la_torch_file *f)
{
    const la_pickle *p = &f->pickle;
    for (size_t i = 0; i < p->n; i++) f->n += p->nodes[i].kind
        == LA_PICKLE_STORAGE;
    if (!f->n) return LA_OK;
    f->capacity = f->n;
    f->list = la_mem_zalloc((size_t)f->n * sizeof *f->list);
    if (!f->list) return LA_ENOMEM;
    f->n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->nodes[i].kind == LA_PICKLE_STORAGE)
            f->list[f->n++] = torch_describe(f, p->nodes[i].of);
    qsort(f->list, (size_t)f->n, sizeof *f->list, torch_compare_storages);
    int64_t kept = 1;
    for (int64_t i = 1; i < f->n; i++) {
        const la_torch_storage *a = &f->list[kept - 1], *b = &f->list[i];
        if (torch_compare_storages(a, b)) f->list[kept++] = *b;
        else if (a->dtype != b->dtype || a->numel != b->numel
                 || a->bytes != b->bytes)
            return torch_storage_fail(a, "it is there with two types or sizes");
    }
    f->n = kept;
    return LA_OK;
}

/* The bytes of its elements. */
static la_status torch_bytes(const la_torch_storage *s, int64_t *out)
{
    if (s->numel < 0 || s->numel > LA_MAX_NUMEL
        || !la_mul_ok(s->numel, (int64_t)la_dtype_size(s->dtype), out))
        return torch_storage_fail(s, "a number of elements that cannot be");
    return LA_OK;
}

static la_status torch_locate_members(la_torch_file *f)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < f->n; i++) {
        la_torch_storage *s = &f->list[i];
        LA_TRY(torch_bytes(s, &bytes));
        s->member = la_torch_member(f, "data/", s->key, s->key_n);
        if (!s->member && f->script)
            s->member = la_torch_member(f, "constants/", s->key, s->key_n);
        if (!s->member) return torch_storage_fail(s, "its bytes are not there");
        if (s->member->size < bytes)
            return torch_storage_fail(s, "truncated: it has fewer bytes than "
                                      "elements");
        s->at = s->member->begin;
    }
    return LA_OK;
}

/* ---- legacy files ---- */

/* Behind the pickles stand the storages in the order of 'keys': the number of
** elements in 8 bytes, then these. */
static la_status torch_locate_legacy(la_torch_file *f, uint32_t keys)
{
    const la_pickle *p = &f->pickle;
    int64_t at = p->at, bytes = 0;
    unsigned char count[8];
    if (la_pickle_at(p, keys)->kind != LA_PICKLE_LIST)
        return la_error(LA_EIO, "the list of storages is damaged");
    for (uint32_t i = 0; i < la_pickle_at(p, keys)->n; i++) {
        const la_pickle_node *key = la_pickle_item(p, keys, i, LA_PICKLE_TEXT);
        la_torch_storage *s = key
            ? torch_find(f, la_pickle_text(p, key), key->n) : NULL;
        if (!s || s->at)
            return la_error(LA_EIO, "the list of storages is damaged");
        LA_TRY(torch_bytes(s, &bytes));
        LA_TRY(la_reader_read(f->in, at, count, sizeof count));
        if ((int64_t)la_little(count, 8) != s->numel)
            return torch_storage_fail(s, "its number of elements differs");
        s->at = at + 8;
        if (bytes > f->in->size - s->at)
            return torch_storage_fail(s, "truncated");
        at = s->at + bytes;
    }
    for (int64_t i = 0; i < f->n; i++)
        if (!f->list[i].at)
            return torch_storage_fail(&f->list[i], "its bytes are not there");
    return LA_OK;
}

/* 0x1950a86a20f9469cfc6c begins files since version 0.1. */
static bool torch_is_magic(const la_pickle *p, uint32_t node)
{
    static const unsigned char magic[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20,
                                          0x6a, 0xa8, 0x50, 0x19};
    const la_pickle_node *a = la_pickle_at(p, node);
    return a->kind == LA_PICKLE_LONG && a->n == sizeof magic
        && memcmp(la_pickle_text(p, a), magic, sizeof magic) == 0;
}

/* Magic, protocol, facts about the system, the object, the keys of storages. A
** pickle that does not begin so is all of the file. */
static la_status torch_open_legacy(la_torch_file *f, bool lenient)
{
    la_pickle *p = &f->pickle;
    la_pickle_init(p, f->in, 0, f->in->size, "pickle");
    p->lenient = lenient;
    LA_TRY(la_pickle_load(p));
    f->root = p->result;
    if (!torch_is_magic(p, f->root)) return torch_collect(f);
    LA_TRY(la_pickle_load(p));
    const la_pickle_node *protocol = la_pickle_at(p, p->result);
    if (protocol->kind != LA_PICKLE_INT || protocol->i != 1001)
        return la_error(LA_EIO, "the protocol is not 1001");
    LA_TRY(la_pickle_load(p));
    LA_TRY(la_pickle_load(p));
    f->root = p->result;
    LA_TRY(la_pickle_load(p));
    uint32_t keys = p->result;
    LA_TRY(torch_collect(f));
    return torch_locate_legacy(f, keys);
}

/* ---- the whole ---- */

static bool torch_is_zip(const char *first, size_t n)
{
    return n >= 4 && memcmp(first, "PK", 2) == 0;
}

/* A zip file may have other things in it; one with a data.pkl has its name
** behind the first local header, as writers put it in front. */
la_status la_torch_fits(const la_reader *in, bool *yes)
{
    char first[512] = {0};
    size_t n = in->size < 512 ? (size_t)in->size : 512;
    LA_TRY(la_reader_read(in, 0, first, n));
    *yes = n > 2 && first[0] == '\x80' && first[1] >= 0 && first[1] <= 5;
    if (*yes || !torch_is_zip(first, n)) return LA_OK;
    la_torch_file f = {.in = in};
    la_status status = la_zip_open(&f.zip, in);
    if (!status) status = torch_sort_members(&f);
    *yes = !status && torch_find_data(&f) != NULL;
    la_torch_close(&f);
    return status == LA_EIO ? LA_OK : status;
}

static la_status torch_check_begin(const la_reader *in, bool *zip)
{
    char first[265] = {0};
    size_t n = in->size < 265 ? (size_t)in->size : 265;
    LA_TRY(la_reader_read(in, 0, first, n));
    *zip = torch_is_zip(first, n);
    if (n >= 262 && memcmp(first + 257, "ustar", 5) == 0)
        return la_error(LA_EIO, "a tar file, of PyTorch before version 0.1: "
                        "save it anew with a later one");
    return n ? LA_OK : la_error(LA_EIO, "truncated at byte 0");
}

la_status la_torch_open(la_torch_file *f, const la_reader *in, la_mapping *m,
                        bool lenient, int64_t limit)
{
    *f = (la_torch_file){.in = in, .mapping = m};
    LA_TRY(torch_check_begin(in, &f->zipped));
    if (!f->zipped) {
        LA_TRY(la_check_limit(in->size, limit));
        return torch_open_legacy(f, lenient);
    }
    LA_TRY(torch_zip_error(torch_open_zip(f, lenient, limit)));
    LA_TRY(torch_collect(f));
    return torch_locate_members(f);
}

void la_torch_close(la_torch_file *f)
{
    for (int64_t i = 0; i < f->n; i++) {
        la_tensor_drop(&f->list[i].tensor);
        la_tensor_drop(&f->list[i].other);
    }
    la_mem_free(f->list, (size_t)f->capacity * sizeof *f->list);
    la_mem_free(f->members, (size_t)f->zip.n * sizeof *f->members);
    la_mem_free(f->data, f->data_bytes);
    la_pickle_free(&f->pickle);
    la_zip_close(&f->zip);
    *f = (la_torch_file){0};
}

/* ---- tensors ---- */

static void torch_swap(unsigned char *data, int64_t bytes, size_t item)
{
    for (int64_t at = 0; at < bytes; at += (int64_t)item)
        for (size_t i = 0; i < item / 2; i++) {
            unsigned char low = data[at + (int64_t)i];
            data[at + (int64_t)i] = data[at + (int64_t)(item - 1 - i)];
            data[at + (int64_t)(item - 1 - i)] = low;
        }
}

/* Bytes that are no 0 or 1 would be undefined in kernels. */
static void torch_make_bools(unsigned char *data, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++) data[i] = data[i] != 0;
}

/* Into memory of its own. */
static la_status torch_read_storage(const la_torch_file *f,
                                    la_torch_storage *s, int64_t bytes)
{
    LA_LET(t, la_tensor_empty(1, &s->numel, s->dtype, &t));
    unsigned char *data = (unsigned char *)la_data(t);
    size_t item = la_dtype_size(s->dtype);
    if (bytes && s->member && s->member->size == bytes)
        LA_TRY(torch_zip_error(la_torch_unpack(f, s->member, data)));
    else if (bytes && s->member)
        return torch_storage_fail(s, "it has more bytes than elements");
    else if (bytes)
        LA_TRY(la_reader_read(f->in, s->at, data, (size_t)bytes));
    if (f->swapped && !s->bytes && item > 1)
        torch_swap(data, bytes, la_is_complex(s->dtype) ? item / 2 : item);
    if (s->dtype == LA_BOOL) torch_make_bools(data, bytes);
    return la_tensor_hand(&t, &s->tensor);
}

/* Can the storage be left in the mapping? Tensors of one of bytes may have any
** dtype. */
static bool torch_can_map(const la_torch_file *f, const la_torch_storage *s)
{
    size_t item = la_dtype_size(s->dtype);
    size_t align = s->bytes ? 8 : la_is_complex(s->dtype) ? item / 2 : item;
    return f->mapping && !f->swapped && s->dtype != LA_BOOL && s->numel
        && s->at % (int64_t)align == 0
        && (!s->member || s->member->method == LA_ZIP_STORED);
}

static la_status torch_need(la_torch_file *f, la_torch_storage *s)
{
    int64_t bytes = 0;
    if (s->tensor) return LA_OK;
    LA_TRY(torch_bytes(s, &bytes));
    if (torch_can_map(f, s))
        return la_mapping_tensor(f->mapping, s->at, s->dtype, 1, &s->numel,
                                 false, &s->tensor);
    return torch_read_storage(f, s, bytes);
}

/* A tensor's part of its storage. */
typedef struct geometry {
    la_torch_storage *storage;
    la_dtype dtype;
    const la_narrow *narrow;
    int ndim;
    int64_t sizes[LA_MAX_DIMS], strides[LA_MAX_DIMS], offset;
    bool conj, neg;
} geometry;

static la_status torch_damaged(void)
{
    return la_error(LA_EIO, "the arguments of a tensor are damaged");
}

/* A tuple of at most 64 integers from 0 on. */
static la_status torch_read_sizes(const la_pickle *p, uint32_t arguments,
                                  uint32_t k, int64_t *out, int *n)
{
    const la_pickle_node *all = la_pickle_at(p, arguments);
    const la_pickle_node *list = la_pickle_item(p, arguments, k,
                                                LA_PICKLE_TUPLE);
    if (!list) return torch_damaged();
    if (list->n > LA_MAX_DIMS)
        return la_error(LA_EIO, "more than %d dimensions", LA_MAX_DIMS);
    *n = (int)list->n;
    for (uint32_t i = 0; i < list->n; i++) {
        const la_pickle_node *v = la_pickle_item(p, all->items[k], i,
                                                 LA_PICKLE_INT);
        if (!v || v->i < 0) return torch_damaged();
        out[i] = v->i;
    }
    return LA_OK;
}

/* A view of older files: an offset and a number of elements; *offset is moved
** by it. */
static la_status torch_read_view(const la_pickle *p, uint32_t id,
                                 const la_torch_storage *s, int64_t *offset)
{
    const la_pickle_node *all = la_pickle_at(p, id);
    if (all->n < 6 || !la_pickle_item(p, id, 5, LA_PICKLE_TUPLE)) return LA_OK;
    const la_pickle_node *at = la_pickle_item(p, all->items[5], 1,
                                              LA_PICKLE_INT);
    if (!at || at->i < 0 || at->i > s->numel
        || !la_add_ok(*offset, at->i, offset)) return torch_damaged();
    return LA_OK;
}

static la_status torch_read_storage_node(const la_torch_file *f,
                                         const la_pickle_node *node,
                                         geometry *g)
{
    la_torch_storage asked = torch_describe(f, node->of);
    g->storage = torch_find(f, asked.key, asked.key_n);
    if (!g->storage) return torch_damaged();
    g->dtype = g->storage->dtype;
    return torch_read_view(&f->pickle, node->of, g->storage, &g->offset);
}

/* The dtype that version 3 names. */
static la_status torch_read_dtype(const la_pickle *p, uint32_t arguments,
                                  geometry *g)
{
    char shown[100];
    const la_pickle_node *type = la_pickle_item(p, arguments, 6,
                                                LA_PICKLE_GLOBAL);
    if (!type || type->what != LA_GLOBAL_DTYPE) return torch_damaged();
    const char *word = la_pickle_text(p, type) + 6;
    g->narrow = la_pickle_float8(word, type->n - 6);
    g->dtype = (la_dtype)type->of;
    if (g->dtype == LA_UNDEFINED && !g->narrow)
        return la_error(LA_EDTYPE, "there is no dtype %s here",
                        la_quote(word, type->n - 6, shown, sizeof shown));
    return LA_OK;
}

static bool torch_is_true(const la_pickle *p, uint32_t node)
{
    return la_pickle_at(p, node)->kind == LA_PICKLE_BOOL
        && la_pickle_at(p, node)->i;
}

/* {"conj": True, "neg": True}. */
static void torch_read_bits(const la_pickle *p, uint32_t arguments, uint32_t k,
                            geometry *g)
{
    const la_pickle_node *bits = la_pickle_item(p, arguments, k,
                                                LA_PICKLE_DICT);
    for (uint32_t i = 0; bits && i + 1 < bits->n; i += 2) {
        bool on = torch_is_true(p, bits->items[i + 1]);
        if (la_pickle_is(p, bits->items[i], "conj")) g->conj = on;
        if (la_pickle_is(p, bits->items[i], "neg")) g->neg = on;
    }
}

/* _rebuild_tensor(storage, offset, sizes, strides), _v2(..., requires_grad,
** hooks[, bits]), _v3(..., requires_grad, hooks, dtype[, bits]). */
static la_status torch_read_geometry(const la_torch_file *f,
                                     const la_pickle_node *node, geometry *g)
{
    const la_pickle *p = &f->pickle;
    uint32_t a = node->of;
    int n = 0;
    const la_pickle_node *storage = la_pickle_item(p, a, 0, LA_PICKLE_STORAGE);
    const la_pickle_node *offset = la_pickle_item(p, a, 1, LA_PICKLE_INT);
    if (!storage || !offset || offset->i < 0) return torch_damaged();
    g->offset = offset->i;
    LA_TRY(torch_read_storage_node(f, storage, g));
    LA_TRY(torch_read_sizes(p, a, 2, g->sizes, &g->ndim));
    LA_TRY(torch_read_sizes(p, a, 3, g->strides, &n));
    if (n != g->ndim) return torch_damaged();
    bool v3 = node->what == LA_GLOBAL_REBUILD_V3;
    if (v3) LA_TRY(torch_read_dtype(p, a, g));
    torch_read_bits(p, a, v3 ? 7 : 6, g);
    return LA_OK;
}

/* The bytes of a storage as elements of the dtype of the tensor, in the
** machine's order. */
static la_status torch_convert(const la_torch_file *f,
                                  const geometry *g, la_tensor **out)
{
    la_torch_storage *s = g->storage;
    int64_t item = (int64_t)la_dtype_size(g->dtype), n = s->numel / item;
    LA_LET(t, la_tensor_empty(1, &n, g->dtype, &t));
    unsigned char *data = (unsigned char *)la_data(t);
    if (n) memcpy(data, la_data(s->tensor), (size_t)(n * item));
    if (f->swapped && item > 1)
        torch_swap(data, n * item,
                   (size_t)(la_is_complex(g->dtype) ? item / 2 : item));
    if (g->dtype == LA_BOOL) torch_make_bools(data, n);
    return la_tensor_hand(&t, out);
}

static la_status torch_widen(const geometry *g, la_tensor **out)
{
    const la_torch_storage *s = g->storage;
    float table[256];
    LA_LET(t, la_tensor_empty(1, &s->numel, LA_FLOAT32, &t));
    for (unsigned bits = 0; bits < 256; bits++)
        table[bits] = la_narrow_value(g->narrow, bits);
    const unsigned char *from = (unsigned char *)la_data(s->tensor);
    float *to = (float *)la_data(t);
    for (int64_t i = 0; i < s->numel; i++) to[i] = table[from[i]];
    return la_tensor_hand(&t, out);
}

/* The tensor whose storage is taken: that of the file, or its elements as
** others, made once, which all tensors of the storage share. */
static la_status torch_base(la_torch_file *f, const geometry *g,
                            la_tensor **out)
{
    la_torch_storage *s = g->storage;
    LA_TRY(torch_need(f, s));
    bool other = g->dtype != s->dtype && (f->swapped || g->dtype == LA_BOOL);
    if (!g->narrow && !other) return la_tensor_same(s->tensor, out);
    if (s->dtype != LA_UINT8) return torch_damaged();
    if (s->other && (s->other_dtype != g->dtype
                     || s->other_narrow != g->narrow))
        return torch_storage_fail(s, "tensors of two dtypes lie in it");
    if (!s->other)
        LA_TRY(g->narrow ? torch_widen(g, &s->other)
                         : torch_convert(f, g, &s->other));
    s->other_dtype = g->dtype;
    s->other_narrow = g->narrow;
    return la_tensor_same(s->other, out);
}

/* Errors of shapes are the file's. */
static la_status torch_file_error(la_status status)
{
    char text[LA_ERROR_TEXT];
    if (status != LA_ESHAPE && status != LA_EDTYPE && status != LA_EARG)
        return status;
    strcpy(text, la_error_message());
    return la_error(LA_EIO, "%s", text);
}

static la_status torch_make(la_torch_file *f, geometry *g, la_tensor **out)
{
    LA_OWNED base = NULL;
    int64_t numel = 0;
    LA_TRY(la_numel(g->ndim, g->sizes, &numel));
    la_dtype dtype = g->narrow ? LA_FLOAT32 : g->dtype;
    if (g->conj && !la_is_complex(dtype)) return torch_damaged();
    if (!numel)
        return la_tensor_empty_on(LA_CPU, g->ndim, g->sizes, NULL, dtype, out);
    LA_TRY(torch_base(f, g, &base));
    if (!base->storage)
        return la_error(LA_EIO, "the tensor reaches beyond its storage");
    LA_TRY(la_tensor_on(base->storage, dtype, g->ndim, g->sizes, g->strides,
                        g->offset, out));
    if (g->conj) (*out)->flags |= LA_F_CONJ;
    if (g->neg) (*out)->flags |= LA_F_NEG;
    return LA_OK;
}

la_status la_torch_tensor(la_torch_file *f, const la_pickle_node *node,
                          la_tensor **out)
{
    geometry g = {0};
    la_status status;
    if (node->kind == LA_PICKLE_STORAGE) {
        status = torch_read_storage_node(f, node, &g);
        g.ndim = 1;
        if (!status) g.sizes[0] = g.storage->numel - g.offset;
        g.strides[0] = 1;
    } else {
        status = torch_read_geometry(f, node, &g);
    }
    if (!status) status = torch_make(f, &g, out);
    return torch_file_error(status);
}
