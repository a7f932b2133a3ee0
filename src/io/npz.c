/*
** .npz: a zip file of .npy members. Read stored and deflated, written stored,
** as NumPy does; members get zip64 records where 32 bits do not do. Metadata is
** a member of its own, a JSON object, which NumPy gives as bytes.
*/
#include <string.h>

#include "base/runtime/memory.h"
#include "io/archive.h"
#include "io/npy.h"
#include "io/zip.h"

/* ---- reading ---- */

#define METADATA "__metadata__.json"
enum { METADATA_BYTES = sizeof METADATA - 1, METADATA_LIMIT = 100 << 20 };

static la_status read_text(la_zip_stream *in, char *text, size_t n,
                           la_notes *out)
{
    la_json json = {text, text + n};
    LA_TRY(in->stream.read(&in->stream, text, n));
    LA_TRY(la_zip_finish(in));
    return la_metadata_read(&json, out);
}

static la_status read_metadata(const la_zip *z, const la_zip_member *m,
                               la_notes *out)
{
    __attribute__((cleanup(la_zip_stream_close))) la_zip_stream in = {0};
    if (m->size > METADATA_LIMIT)
        return la_error(LA_EIO, "metadata of %lld bytes, %d at most",
                        (long long)m->size, METADATA_LIMIT);
    LA_TRY(la_zip_start(&in, z, m));
    size_t n = (size_t)m->size;
    char *text = la_mem_alloc(n + 1);
    if (!text) return LA_ENOMEM;
    la_status status = read_text(&in, text, n, out);
    la_mem_free(text, n + 1);
    return status;
}

/* The key is the name without ".npy"; it is never used as a path. */
static la_status read_member(const la_zip *z, const la_zip_member *m,
                             la_archive *out)
{
    __attribute__((cleanup(la_zip_stream_close))) la_zip_stream in = {0};
    char shown[900];
    size_t n = m->n;
    if (n == METADATA_BYTES && memcmp(m->name, METADATA, n) == 0
        && !out->metadata.n)
        return read_metadata(z, m, &out->metadata);
    if (n < 4 || memcmp(m->name + n - 4, ".npy", 4))
        return la_error(LA_EIO, "the member '%s' is no .npy file",
                        la_quote(m->name, n, shown, sizeof shown));
    LA_TRY(la_zip_start(&in, z, m));
    LA_LET(t, la_npy_read(&in.stream, &t));
    LA_TRY(la_zip_finish(&in));
    la_tensor *taken = t;
    t = NULL;
    return la_archive_add(out, m->name, n - 4, taken);
}

la_status la_npz_read(const la_reader *source, la_archive *out)
{
    LA_ZIP z = {0};
    int64_t bytes = 0;
    LA_TRY(la_zip_open(&z, source));
    for (int64_t i = 0; i < z.n; i++)
        if (!la_add_ok(bytes, z.list[i].size, &bytes)) bytes = INT64_MAX;
    LA_TRY(la_check_limit(bytes, out->limit));
    for (int64_t i = 0; i < z.n; i++)
        LA_TRY(read_member(&z, &z.list[i], out));
    return la_archive_sort(out, LA_EIO);
}

/* ---- writing ---- */

enum { LOCAL = 30, ENTRY = 46, EXTRA = 28, NAME_MAX_BYTES = 65535 - 4 };
#define LIMIT ((int64_t)0xffffffff)

/* A tensor by its name, or the metadata. */
typedef struct member {
    const char *name;
    size_t n;
    const char *suffix;         /* of four bytes, or "" */
    const la_tensor *tensor;    /* or NULL: these bytes */
    const la_bytes *bytes;
} member;

/* Facts for the directory about a member that was written. */
typedef struct written {
    int64_t at, size;
    uint32_t crc;
} written;

static size_t name_bytes(const member *m)
{
    return m->n + strlen(m->suffix);
}

static la_status size_of(const member *m, int64_t *out)
{
    if (m->tensor) return la_npy_size(m->tensor, out);
    *out = (int64_t)m->bytes->n;
    return LA_OK;
}

static la_status give_data(const member *m,
                           la_status (*put)(void *, const void *, size_t),
                           void *sink)
{
    if (m->tensor) return la_npy_write(m->tensor, put, sink);
    return put(sink, m->bytes->data, m->bytes->n);
}

static la_status add_to_crc(void *crc, const void *bytes, size_t n)
{
    return la_zip_crc_polled(crc, bytes, n);
}

static la_status to_sink(void *sink, const void *bytes, size_t n)
{
    return la_writer_write(sink, bytes, n);
}

static unsigned char *npz_put(unsigned char *at, uint64_t v, int n)
{
    la_put_little(at, v, n);
    return at + n;
}

/* A 32-bit field of this value; all ones say that it stands in the zip64
** field. */
static uint64_t npz_cut(int64_t v)
{
    return v >= LIMIT ? (uint64_t)LIMIT : (uint64_t)v;
}

/* The fields that local headers and directory entries share, from "version
** needed" to the length of the name. Times are 1980-01-01: the same tensors
** give the same bytes. */
static unsigned char *put_common(unsigned char *at, const written *w, size_t n,
                                 bool wide)
{
    at = npz_put(at, wide ? 45 : 20, 2);
    at = npz_put(at, 1 << 11, 2);       /* names are UTF-8 */
    at = npz_put(at, LA_ZIP_STORED, 2);
    at = npz_put(at, 0, 2);
    at = npz_put(at, 0x21, 2);
    at = npz_put(at, w->crc, 4);
    at = npz_put(at, npz_cut(w->size), 4);
    at = npz_put(at, npz_cut(w->size), 4);
    return npz_put(at, n, 2);
}

static la_status write_name(la_writer *out, const member *m)
{
    LA_TRY(la_writer_write(out, m->name, m->n));
    return la_writer_write(out, m->suffix, strlen(m->suffix));
}

/* The local header. A member of 4 GiB or more has its sizes in the zip64 extra
** field (tag 1), both, as the format asks for in local headers (APPNOTE
** 4.5.3). */
static la_status write_local(la_writer *out, const member *m,
                             const written *w)
{
    unsigned char b[LOCAL] = "PK\3\4", extra[20];
    bool wide = w->size >= LIMIT;
    npz_put(put_common(b + 4, w, name_bytes(m), wide), wide ? 20 : 0, 2);
    LA_TRY(la_writer_write(out, b, sizeof b));
    LA_TRY(write_name(out, m));
    if (!wide) return LA_OK;
    unsigned char *at = npz_put(npz_put(extra, 1, 2), 16, 2);
    npz_put(npz_put(at, (uint64_t)w->size, 8), (uint64_t)w->size, 8);
    return la_writer_write(out, extra, sizeof extra);
}

/* The data goes by twice, first for the checksum: the local header stands
** before it, and a sink cannot seek back. */
static la_status write_member(la_writer *out, const member *m, written *w)
{
    char shown[900];
    if (m->n > NAME_MAX_BYTES || memchr(m->name, 0, m->n))
        return la_error(LA_EARG, "'%s' cannot be a name in an .npz file",
                        la_quote(m->name, m->n, shown, sizeof shown));
    w->at = out->at;
    w->crc = 0;
    LA_TRY(size_of(m, &w->size));
    LA_TRY(give_data(m, add_to_crc, &w->crc));
    LA_TRY(write_local(out, m, w));
    return give_data(m, to_sink, out);
}

/* The entry of the central directory. Here the zip64 field holds only what does
** not fit in 32 bits, sizes first, then the offset. Mode 0644 of a regular
** file, so that unzip gives readable files. */
static la_status write_entry(la_writer *out, const member *m,
                             const written *w)
{
    unsigned char b[ENTRY] = "PK\1\2", extra[EXTRA];
    bool wide = w->size >= LIMIT || w->at >= LIMIT;
    int n = 0;
    if (w->size >= LIMIT) {
        npz_put(npz_put(extra + 4, (uint64_t)w->size, 8), (uint64_t)w->size, 8);
        n = 16;
    }
    if (w->at >= LIMIT) {
        npz_put(extra + 4 + n, (uint64_t)w->at, 8);
        n += 8;
    }
    npz_put(npz_put(extra, 1, 2), (uint64_t)n, 2);
    npz_put(b + 4, 3 << 8 | 45, 2);     /* made on Unix */
    unsigned char *at = put_common(b + 6, w, name_bytes(m), wide);
    at = npz_put(at, wide ? (uint64_t)n + 4 : 0, 2);
    memset(at, 0, 6);               /* comment, disk, internal attributes */
    npz_put(at + 6, UINT64_C(0100644) << 16, 4);
    npz_put(at + 10, npz_cut(w->at), 4);
    LA_TRY(la_writer_write(out, b, sizeof b));
    LA_TRY(write_name(out, m));
    return wide ? la_writer_write(out, extra, (size_t)n + 4) : LA_OK;
}

/* The zip64 end record and the locator that points to it: 'at' and 'bytes' are
** the offset and size of the central directory. */
static la_status write_end64(la_writer *out, int64_t n, int64_t at,
                             int64_t bytes)
{
    unsigned char b[56] = "PK\6\6", locator[20] = "PK\6\7";
    int64_t here = out->at;
    npz_put(b + 4, 44, 8);
    npz_put(b + 12, 3 << 8 | 45, 2);
    npz_put(b + 14, 45, 2);
    npz_put(b + 24, (uint64_t)n, 8);
    npz_put(b + 32, (uint64_t)n, 8);
    npz_put(b + 40, (uint64_t)bytes, 8);
    npz_put(b + 48, (uint64_t)at, 8);
    npz_put(locator + 8, (uint64_t)here, 8);
    npz_put(locator + 16, 1, 4);
    LA_TRY(la_writer_write(out, b, sizeof b));
    return la_writer_write(out, locator, sizeof locator);
}

/* 65,535 members or offsets of 4 GiB need the zip64 end record first. */
static la_status write_end(la_writer *out, int64_t n, int64_t at, int64_t bytes)
{
    unsigned char b[22] = "PK\5\6";
    if (n >= 0xffff || at >= LIMIT || bytes >= LIMIT)
        LA_TRY(write_end64(out, n, at, bytes));
    npz_put(b + 8, n < 0xffff ? (uint64_t)n : 0xffff, 2);
    npz_put(b + 10, n < 0xffff ? (uint64_t)n : 0xffff, 2);
    npz_put(b + 12, npz_cut(bytes), 4);
    npz_put(b + 16, npz_cut(at), 4);
    return la_writer_write(out, b, sizeof b);
}

/* Member 'i' of an archive: the tensors, then the metadata. */
static member member_at(const la_archive *a, const la_bytes *metadata,
                        int64_t i)
{
    if (i == a->n)
        return (member){METADATA, METADATA_BYTES, "", NULL, metadata};
    const la_entry *e = &a->list[i];
    return (member){e->name, e->n, ".npy", e->tensor, NULL};
}

/* All members, then the directory with what is known of each by then. */
static la_status write_all(const la_archive *a, const la_bytes *metadata,
                           la_writer *out, written *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        member m = member_at(a, metadata, i);
        LA_TRY(write_member(out, &m, &list[i]));
    }
    int64_t at = out->at;
    for (int64_t i = 0; i < n; i++) {
        member m = member_at(a, metadata, i);
        LA_TRY(write_entry(out, &m, &list[i]));
    }
    return write_end(out, n, at, out->at - at);
}

/* Members are sorted by name: the same tensors give the same bytes. */
la_status la_npz_write(la_archive *a, la_writer *out)
{
    LA_BYTES metadata = {0};
    LA_TRY(la_archive_sort(a, LA_EARG));
    int64_t n = a->n + (a->metadata.n > 0);
    if (a->metadata.n) la_metadata_put(&metadata, &a->metadata);
    LA_TRY(metadata.status);
    size_t bytes = (size_t)n * sizeof(written);
    written *list = la_mem_alloc(bytes);
    if (!list) return LA_ENOMEM;
    la_status status = write_all(a, &metadata, out, list, n);
    la_mem_free(list, bytes);
    return status;
}
