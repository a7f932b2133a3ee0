/* The bytes of one member, unpacked as they are asked for. zlib's memory comes
** from our allocator, so that it is counted and may fail. */
#include <string.h>

#include "io/flate.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "io/zip.h"

/* Bytes read at a time, and unpacked between looks at the interrupt. */
enum { CHUNK = 64 << 10, PIECE = 1 << 20 };

typedef struct inflater {
    z_stream z;
    bool ended;
    unsigned char chunk[CHUNK];
} inflater;

/* Works in pieces, because the length of zlib's crc32 is an unsigned int. */
uint32_t la_zip_crc(uint32_t crc, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    while (n) {
        uInt piece = n < 1u << 30 ? (uInt)n : 1u << 30;
        crc = (uint32_t)crc32(crc, at, piece);
        at += piece;
        n -= piece;
    }
    return crc;
}

la_status la_zip_crc_polled(uint32_t *crc, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    while (n) {
        size_t piece = n < 4 * PIECE ? n : 4 * PIECE;
        LA_TRY(la_poll());
        *crc = la_zip_crc(*crc, at, piece);
        at += piece;
        n -= piece;
    }
    return LA_OK;
}

/* zlib frees without a size: it stands in front of the block. */
void *la_zip_alloc(void *unused, unsigned items, unsigned size)
{
    int64_t bytes;
    if (!la_mul_ok(items, size, &bytes)) return NULL;
    char *block = la_mem_alloc((size_t)bytes + 64);
    if (!block) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    return block + 64;
}

void la_zip_free(void *unused, void *address)
{
    int64_t bytes;
    if (!address) return;
    memcpy(&bytes, (char *)address - 64, sizeof bytes);
    la_mem_free((char *)address - 64, (size_t)bytes + 64);
}

static la_status corrupt(void)
{
    return la_error(LA_EIO, "malformed .npz file (a deflated member is"
                    " corrupt)");
}

/* The packed bytes are used up but the deflate stream has not ended: nothing
** left to read means that it was cut off. */
static la_status zip_stream_refill(la_zip_stream *s, inflater *f)
{
    int64_t n = s->packed.stream.left;
    if (n > CHUNK) n = CHUNK;
    if (n == 0) return corrupt();
    LA_TRY(s->packed.stream.read(&s->packed.stream, f->chunk, (size_t)n));
    f->z.next_in = f->chunk;
    f->z.avail_in = (uInt)n;
    return LA_OK;
}

/* Unpack at most 'n' bytes into 'out'; tells how many. */
static la_status inflate_some(la_zip_stream *s, unsigned char *out, size_t n,
                              size_t *done)
{
    inflater *f = s->inflate;
    uInt piece = n < PIECE ? (uInt)n : PIECE;
    if (f->ended) return corrupt();
    if (!f->z.avail_in) LA_TRY(zip_stream_refill(s, f));
    f->z.next_out = out;
    f->z.avail_out = piece;
    int code = inflate(&f->z, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) return LA_ENOMEM;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return corrupt();
    f->ended = code == Z_STREAM_END;
    *done = piece - f->z.avail_out;
    return LA_OK;
}

/* All n bytes or an error; the checksum goes along with the bytes as they are
** handed out. */
static la_status read_inflated(la_stream *stream, void *out, size_t n)
{
    la_zip_stream *s = (la_zip_stream *)stream;
    unsigned char *at = out;
    size_t left = n;
    if (n > (uint64_t)stream->left)
        return la_error(LA_EIO, "truncated at byte %lld of a member",
                        (long long)s->member->size);
    while (left) {
        size_t done = 0;
        LA_TRY(inflate_some(s, at, left, &done));
        LA_TRY(la_zip_crc_polled(&s->crc, at, done));
        at += done;
        left -= done;
    }
    stream->left -= (int64_t)n;
    return LA_OK;
}

/* Reads a member that is not packed. */
static la_status read_stored(la_stream *stream, void *out, size_t n)
{
    la_zip_stream *s = (la_zip_stream *)stream;
    if (n > (uint64_t)stream->left)
        return la_error(LA_EIO, "truncated at byte %lld of a member",
                        (long long)s->member->size);
    LA_TRY(s->packed.stream.read(&s->packed.stream, out, n));
    LA_TRY(la_zip_crc_polled(&s->crc, out, n));
    stream->left -= (int64_t)n;
    return LA_OK;
}

/* Negative window bits: a raw deflate stream, without the zlib header that .zip
** leaves out. */
static la_status start_inflate(la_zip_stream *s)
{
    inflater *f = la_mem_alloc(sizeof *f);
    if (!f) return LA_ENOMEM;
    memset(&f->z, 0, sizeof f->z);
    f->ended = false;
    f->z.zalloc = la_zip_alloc;
    f->z.zfree = la_zip_free;
    if (inflateInit2(&f->z, -MAX_WBITS) != Z_OK) {
        la_mem_free(f, sizeof *f);
        return la_error(LA_ENOMEM, "not enough memory to unpack");
    }
    s->inflate = f;
    return LA_OK;
}

la_status la_gunzip(void *out, size_t n, const void *packed, size_t packed_size)
{
    enum { GZIP = 16 };     /* added to the window bits: the gzip format */
    z_stream z = {.next_in = (z_const Bytef *)packed,
                  .avail_in = (uInt)packed_size,
                  .next_out = out, .avail_out = (uInt)n,
                  .zalloc = la_zip_alloc, .zfree = la_zip_free};
    if (inflateInit2(&z, MAX_WBITS + GZIP) != Z_OK)
        return la_error(LA_ENOMEM, "not enough memory to unpack");
    int code = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    if (code != Z_STREAM_END || z.avail_out)
        return la_error(LA_EIO, "malformed gzip member");
    return LA_OK;
}

/* Nothing of the member is read yet; la_zip_stream_close is due whatever the
** status of later reads. */
la_status la_zip_start(la_zip_stream *s, const la_zip *z,
                       const la_zip_member *m)
{
    bool stored = m->method == LA_ZIP_STORED;
    *s = (la_zip_stream){.member = m,
                         .stream = {stored ? read_stored : read_inflated,
                                    m->size}};
    la_range_stream_init(&s->packed, z->source, m->begin,
                         m->begin + m->packed);
    return stored ? LA_OK : start_inflate(s);
}

/* Past the declared size there must be the end of the packed data. */
static la_status check_end(la_zip_stream *s)
{
    inflater *f = s->inflate;
    unsigned char more;
    while (f && !f->ended) {
        size_t done = 0;
        LA_TRY(inflate_some(s, &more, 1, &done));
        if (done)
            return la_error(LA_EIO, "malformed .npz file (a member is longer"
                            " than declared)");
    }
    return LA_OK;
}

/* The checksum is compared only here: a member that was read in part has
** none. */
la_status la_zip_finish(la_zip_stream *s)
{
    if (s->stream.left)
        return la_error(LA_EIO, "malformed .npz file (bytes behind the data)");
    LA_TRY(check_end(s));
    if (s->crc != s->member->crc)
        return la_error(LA_EIO, "malformed .npz file (wrong checksum)");
    return LA_OK;
}

void la_zip_stream_close(la_zip_stream *s)
{
    inflater *f = s->inflate;
    if (!f) return;
    inflateEnd(&f->z);
    la_mem_free(f, sizeof *f);
    s->inflate = NULL;
}
