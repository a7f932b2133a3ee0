/*
** The directory of a zip file, read from its end: end record, zip64 records
** where they are needed, central directory, and the local header of every
** member. Nothing that the file says is believed before it fits the file.
*/
#include <stdlib.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "io/zip.h"

enum {
    END_BYTES = 22, LOCATOR_BYTES = 20, END64_BYTES = 56, ENTRY_BYTES = 46,
    LOCAL_BYTES = 30, COMMENT_MAX = 65535,
    RATIO_MAX = 1032        /* what deflate can reach at most */
};

static la_status directory_malformed(const char *what)
{
    return la_error(LA_EIO, "malformed .npz file (%s)", what);
}

/* Fields of the end record. */
typedef struct ending {
    uint64_t entries, bytes, at;
    int64_t end;            /* where the directory must end */
} ending;

/* A file of another kind, or a part of one of this. */
static la_status no_end(const la_reader *s)
{
    char start[2] = "";
    if (s->size >= 2) LA_TRY(la_reader_read(s, 0, start, 2));
    if (s->size >= 2 && memcmp(start, "PK", 2))
        return la_error(LA_EIO, "not an .npz file (the first bytes are wrong)");
    return la_error(LA_EIO, "truncated at byte %lld (no end of a zip file)",
                    (long long)s->size);
}

/* The offset of the end record: the last signature whose comment fits. */
static la_status find_end(const la_reader *s, int64_t *at)
{
    int64_t n = s->size < END_BYTES + COMMENT_MAX ? s->size
                                                  : END_BYTES + COMMENT_MAX;
    if (n < END_BYTES) return no_end(s);
    char *tail = la_mem_alloc((size_t)n);
    if (!tail) return LA_ENOMEM;
    la_status status = la_reader_read(s, s->size - n, tail, (size_t)n);
    *at = -1;
    for (int64_t i = n - END_BYTES; !status && i >= 0 && *at < 0; i--)
        if (memcmp(tail + i, "PK\5\6", 4) == 0
            && (int64_t)la_little(tail + i + 20, 2) == n - i - END_BYTES)
            *at = s->size - n + i;
    la_mem_free(tail, (size_t)n);
    if (!status && *at < 0) return no_end(s);
    return status;
}

/* The zip64 end record stands right before its locator, which stands right
** before the end record; both must, or sizes could be read from data. */
static la_status read_end64(const la_reader *s, int64_t end_at, ending *e)
{
    unsigned char locator[LOCATOR_BYTES], b[END64_BYTES];
    int64_t at = end_at - LOCATOR_BYTES;
    if (at < 0) return directory_malformed("no zip64 record");
    LA_TRY(la_reader_read(s, at, locator, sizeof locator));
    if (memcmp(locator, "PK\6\7", 4))
        return directory_malformed("no zip64 record");
    uint64_t offset = la_little(locator + 8, 8);
    if (offset > (uint64_t)at || (uint64_t)at - offset < END64_BYTES)
        return directory_malformed("the zip64 record is at a wrong offset");
    LA_TRY(la_reader_read(s, (int64_t)offset, b, sizeof b));
    if (memcmp(b, "PK\6\6", 4)) return directory_malformed("no zip64 record");
    if (la_little(b + 16, 4) || la_little(b + 20, 4)
        || la_little(b + 24, 8) != la_little(b + 32, 8))
        return directory_malformed("several disks");
    *e = (ending){la_little(b + 32, 8), la_little(b + 40, 8),
                  la_little(b + 48, 8), (int64_t)offset};
    return LA_OK;
}

/* Writers may add a zip64 record that nothing needs (PyTorch's does): it says
** the same. */
static la_status read_spare64(const la_reader *s, int64_t end_at, ending *e)
{
    ending other = {0};
    char mark[4];
    if (end_at < LOCATOR_BYTES || e->at > (uint64_t)end_at
        || e->bytes >= (uint64_t)end_at - e->at) return LA_OK;
    LA_TRY(la_reader_read(s, end_at - LOCATOR_BYTES, mark, sizeof mark));
    if (memcmp(mark, "PK\6\7", 4)) return LA_OK;
    LA_TRY(read_end64(s, end_at, &other));
    if (other.entries != e->entries || other.bytes != e->bytes
        || other.at != e->at)
        return directory_malformed("the directory is at a wrong offset");
    e->end = other.end;
    return LA_OK;
}

/* Find the central directory: it must end where the end record begins, so that
** no bytes hide between them. */
static la_status read_end(const la_reader *s, ending *e)
{
    unsigned char b[END_BYTES];
    int64_t at = 0;
    LA_TRY(find_end(s, &at));
    LA_TRY(la_reader_read(s, at, b, sizeof b));
    if (la_little(b + 4, 2) || la_little(b + 6, 2)
        || la_little(b + 8, 2) != la_little(b + 10, 2))
        return directory_malformed("several disks");
    *e = (ending){la_little(b + 10, 2), la_little(b + 12, 4),
                  la_little(b + 16, 4), at};
    if (e->entries == 0xffff || e->bytes == 0xffffffff || e->at == 0xffffffff)
        LA_TRY(read_end64(s, at, e));
    else LA_TRY(read_spare64(s, at, e));
    if (e->at > (uint64_t)e->end || e->bytes != (uint64_t)e->end - e->at)
        return directory_malformed("the directory is at a wrong offset");
    if (e->entries > e->bytes / ENTRY_BYTES)
        return directory_malformed("more members than the directory can hold");
    return LA_OK;
}

/* ---- entries ---- */

/* Sizes of 0xffffffff stand in the zip64 field, in this order. */
static la_status read_extra64(const unsigned char *extra, size_t n,
                              la_zip_member *m)
{
    int64_t *wanted[3] = {&m->size, &m->packed, &m->header};
    while (n >= 4) {
        size_t id = la_little(extra, 2), length = la_little(extra + 2, 2);
        if (length > n - 4)
            return directory_malformed("an extra field is too long");
        const unsigned char *at = extra + 4, *end = at + length;
        for (int i = 0; id == 1 && i < 3; i++) {
            if (*wanted[i] != 0xffffffff) continue;
            if (end - at < 8)
                return directory_malformed("a zip64 field is too short");
            *wanted[i] = (int64_t)la_little(at, 8);
            if (*wanted[i] < 0)
                return directory_malformed("a size of 2^63 or more");
            at += 8;
        }
        extra = end;
        n -= 4 + length;
    }
    return LA_OK;
}

/* Refuses what the entry alone can show to be false, before anything is
** allocated for the member. */
static la_status check_member(const la_zip_member *m, unsigned flags,
                              unsigned disk)
{
    if (flags & 1) return la_error(LA_EIO, "encrypted members cannot be read");
    if (disk) return directory_malformed("several disks");
    if (m->method != LA_ZIP_STORED && m->method != LA_ZIP_DEFLATED)
        return la_error(LA_EIO, "compression method %d is not known (stored"
                        " and deflated are)", m->method);
    if (m->method == LA_ZIP_STORED && m->size != m->packed)
        return directory_malformed("sizes of a stored member differ");
    if (m->size / RATIO_MAX > m->packed)
        return directory_malformed("a member is larger than its bytes can "
                                   "hold");
    if (memchr(m->name, 0, m->n))
        return directory_malformed("NUL byte in a name");
    return LA_OK;
}

/* The entry at 'at' in the directory; moves on. */
static la_status read_entry(const la_zip *z, size_t *at, la_zip_member *m)
{
    const unsigned char *b = (unsigned char *)z->directory + *at;
    size_t left = z->directory_bytes - *at;
    if (left < ENTRY_BYTES || memcmp(b, "PK\1\2", 4))
        return directory_malformed("a directory entry is broken");
    size_t name = la_little(b + 28, 2), extra = la_little(b + 30, 2);
    size_t comment = la_little(b + 32, 2);
    if (name + extra + comment > left - ENTRY_BYTES)
        return directory_malformed("a directory entry is broken");
    *m = (la_zip_member){
        .name = (const char *)b + ENTRY_BYTES, .n = name,
        .method = (int)la_little(b + 10, 2),
        .crc = (uint32_t)la_little(b + 16, 4),
        .packed = (int64_t)la_little(b + 20, 4),
        .size = (int64_t)la_little(b + 24, 4),
        .header = (int64_t)la_little(b + 42, 4)
    };
    *at += ENTRY_BYTES + name + extra + comment;
    LA_TRY(read_extra64(b + ENTRY_BYTES + name, extra, m));
    return check_member(m, (unsigned)la_little(b + 8, 2),
                        (unsigned)la_little(b + 34, 2));
}

/* The local header tells where the data begins; it must be the same member. */
static la_status read_local(const la_zip *z, la_zip_member *m)
{
    unsigned char b[LOCAL_BYTES];
    if (m->header > z->directory_at - LOCAL_BYTES)
        return directory_malformed("a member is at a wrong offset");
    LA_TRY(la_reader_read(z->source, m->header, b, sizeof b));
    if (memcmp(b, "PK\3\4", 4) || (int)la_little(b + 8, 2) != m->method
        || la_little(b + 26, 2) != m->n)
        return directory_malformed("a member differs from its directory entry");
    m->begin = m->header + LOCAL_BYTES + (int64_t)m->n
        + (int64_t)la_little(b + 28, 2);
    if (m->begin > z->directory_at || m->packed > z->directory_at - m->begin)
        return directory_malformed("a member is at a wrong offset");
    return LA_OK;
}

static int compare_offsets(const void *pa, const void *pb)
{
    const la_zip_member *a = pa, *b = pb;
    return (a->header > b->header) - (a->header < b->header);
}

/* Members that share bytes are how a small file unpacks to a huge one. */
static la_status check_overlap(la_zip *z)
{
    if (z->n > 1)
        qsort(z->list, (size_t)z->n, sizeof *z->list, compare_offsets);
    for (int64_t i = 1; i < z->n; i++)
        if (z->list[i].header < z->list[i - 1].begin + z->list[i - 1].packed)
            return directory_malformed("members overlap");
    return LA_OK;
}

/* ---- the whole ---- */

static la_status read_directory(la_zip *z, const ending *e)
{
    size_t at = 0;
    z->directory_at = (int64_t)e->at;
    z->directory_bytes = (size_t)e->bytes;
    z->directory = la_mem_alloc(z->directory_bytes);
    if (!z->directory) return LA_ENOMEM;
    LA_TRY(la_reader_read(z->source, z->directory_at, z->directory,
                          z->directory_bytes));
    z->n = (int64_t)e->entries;
    z->list = la_mem_zalloc((size_t)z->n * sizeof *z->list);
    if (!z->list) return LA_ENOMEM;
    for (int64_t i = 0; i < z->n; i++) {
        LA_TRY(read_entry(z, &at, &z->list[i]));
        LA_TRY(read_local(z, &z->list[i]));
    }
    if (at != z->directory_bytes)
        return directory_malformed("bytes between the records");
    return check_overlap(z);
}

la_status la_zip_open(la_zip *z, const la_reader *source)
{
    ending e = {0};
    *z = (la_zip){.source = source};
    LA_TRY(read_end(source, &e));
    return read_directory(z, &e);
}

void la_zip_close(la_zip *z)
{
    la_mem_free(z->directory, z->directory_bytes);
    la_mem_free(z->list, (size_t)z->n * sizeof *z->list);
    *z = (la_zip){0};
}
