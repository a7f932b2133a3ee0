/* Packed tables: .csv.gz, one gzip member or several (RFC 1952). */
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "io/flate.h"
#include "modules/csv/io/csv.h"

enum { GZIP_WINDOW = MAX_WBITS + 16, GZIP_PIECE = 1 << 16 };

bool la_csv_is_packed(const void *bytes, size_t n)
{
    return n >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
}

/* One member to the end of 'out'; what is left stands in z. */
static la_status gzip_member(z_stream *z, unsigned char *scratch, int64_t limit,
                             la_bytes *out)
{
    int code = Z_OK;
    while (code != Z_STREAM_END) {
        z->next_out = scratch;
        z->avail_out = GZIP_PIECE;
        code = inflate(z, Z_NO_FLUSH);
        if ((code != Z_OK && code != Z_STREAM_END)
            || (code == Z_OK && z->avail_out == GZIP_PIECE))
            return la_error(LA_EIO, "malformed or truncated gzip file");
        la_bytes_put(out, scratch, GZIP_PIECE - z->avail_out);
        LA_TRY(out->status);
        if (limit && out->n > (uint64_t)limit)
            return la_error(LA_EIO, "the unpacked file has more bytes than the "
                            "limit of %lld", (long long)limit);
        LA_TRY(la_poll());
    }
    return LA_OK;
}

static la_status gzip_all(const unsigned char *from, size_t n, int64_t limit,
                          unsigned char *scratch, la_bytes *out)
{
    la_status status = LA_OK;
    while (!status && n > 0) {
        z_stream z;
        memset(&z, 0, sizeof z);
        uInt some = n > (1u << 30) ? 1u << 30 : (uInt)n;
        z.next_in = (unsigned char *)from;
        z.avail_in = some;
        if (inflateInit2(&z, GZIP_WINDOW) != Z_OK) return LA_ENOMEM;
        status = gzip_member(&z, scratch, limit, out);
        inflateEnd(&z);
        from += some - z.avail_in;
        n -= some - z.avail_in;
        /* Zeros may follow the last member. */
        while (n > 0 && !*from) from++, n--;
    }
    return status;
}

la_status la_csv_unpack(const void *bytes, size_t n, int64_t limit,
                        la_bytes *out)
{
    unsigned char *scratch = la_mem_alloc(GZIP_PIECE);
    if (!scratch) return LA_ENOMEM;
    la_status status = gzip_all(bytes, n, limit, scratch, out);
    la_mem_free(scratch, GZIP_PIECE);
    return status;
}
