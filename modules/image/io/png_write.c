/*
** Writing PNG: 8 or 16 bits, not interlaced, deflated by zlib at its default
** level. Each row gets the filter whose bytes, taken as signed, have the least
** sum of magnitudes (the heuristic of the specification, section 12.8).
*/
#include <string.h>

#include "io/flate.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "modules/image/io/image.h"
#include "io/zip.h"

enum { FILTERS = 5, PACKED = 32 << 10 };

typedef struct writer {
    la_bytes *out;
    size_t n, step;             /* bytes of a row and of a pixel */
    unsigned char *rows;        /* filtered candidates, this row, the last */
    z_stream z;
    unsigned char packed[PACKED];
} writer;

/* Four bytes, the highest first. */
static void put_big(unsigned char *b, uint32_t v)
{
    for (int i = 0; i < 4; i++) b[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* Length, type, bytes, and the checksum of type and bytes. */
static void put_chunk(la_bytes *out, const char *type, const void *bytes,
                      size_t n)
{
    unsigned char head[8], sum[4];
    put_big(head, (uint32_t)n);
    memcpy(head + 4, type, 4);
    put_big(sum, la_zip_crc(la_zip_crc(0, head + 4, 4), bytes, n));
    la_bytes_put(out, head, sizeof head);
    la_bytes_put(out, bytes, n);
    la_bytes_put(out, sum, sizeof sum);
}

static void put_header(const la_tensor *t, la_bytes *out)
{
    static const unsigned char magic[] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    static const unsigned char kinds[] = {0, 4, 2, 6};
    unsigned char b[13] = {0};
    put_big(b, (uint32_t)la_sizes(t)[1]);
    put_big(b + 4, (uint32_t)la_sizes(t)[0]);
    b[8] = t->dtype == LA_UINT16 ? 16 : 8;
    b[9] = kinds[la_sizes(t)[2] - 1];
    la_bytes_put(out, magic, sizeof magic);
    put_chunk(out, "IHDR", b, sizeof b);
}

/* ---- rows ---- */

/* Residue that filter 'f' leaves of a row; 'up' is the row above. */
static void png_write_filter(int f, const unsigned char *row,
                             const unsigned char *up, unsigned char *out,
    size_t n, size_t step)
{
    out[0] = (unsigned char)f;
    out++;
    for (size_t i = 0; i < n; i++) {
        int a = i < step ? 0 : row[i - step], b = up[i];
        int c = i < step ? 0 : up[i - step];
        int by = f == 0 ? 0 : f == 1 ? a : f == 2 ? b
            : f == 3 ? (a + b) >> 1 : la_png_paeth(a, b, c);
        out[i] = (unsigned char)(row[i] - by);
    }
}

/* The candidate of the least sum. */
static const unsigned char *best_row(writer *w, const unsigned char *row,
                                     const unsigned char *up)
{
    const unsigned char *best = NULL;
    uint64_t least = UINT64_MAX;
    for (int f = 0; f < FILTERS; f++) {
        unsigned char *out = w->rows + (size_t)f * (w->n + 1);
        uint64_t sum = 0;
        png_write_filter(f, row, up, out, w->n, w->step);
        for (size_t i = 1; i <= w->n; i++)
            sum += out[i] < 128 ? out[i] : 256u - out[i];
        if (sum >= least) continue;
        least = sum;
        best = out;
    }
    return best;
}

/* 16-bit samples with the high byte first. */
static void load_row(const la_tensor *t, int64_t y, unsigned char *out,
                     size_t n)
{
    const unsigned char *from = (const unsigned char *)la_data(t)
        + (size_t)y * n;
    if (t->dtype != LA_UINT16) {
        memcpy(out, from, n);
        return;
    }
    for (size_t i = 0; i < n; i += 2) {
        uint16_t v;
        memcpy(&v, from + i, 2);
        out[i] = (unsigned char)(v >> 8);
        out[i + 1] = (unsigned char)v;
    }
}

/* Pack bytes; what zlib gives goes out as chunks of their own. */
static la_status png_write_pack(writer *w, const unsigned char *bytes, size_t n,
                                bool last)
{
    int code = Z_OK;
    do {
        uInt piece = n < 1u << 24 ? (uInt)n : 1u << 24;
        w->z.next_in = (z_const Bytef *)bytes;
        w->z.avail_in = piece;
        code = deflate(&w->z, last && piece == n ? Z_FINISH : Z_NO_FLUSH);
        bytes += piece - w->z.avail_in;
        n -= piece - w->z.avail_in;
        if (w->z.avail_out && code != Z_STREAM_END) continue;
        put_chunk(w->out, "IDAT", w->packed, PACKED - w->z.avail_out);
        w->z.next_out = w->packed;
        w->z.avail_out = PACKED;
        if (w->out->status) return w->out->status;
    } while (n || (last && code != Z_STREAM_END));
    return LA_OK;
}

/* Rows in order; above the first one are zeros. */
static la_status write_rows(writer *w, const la_tensor *t)
{
    unsigned char *row = w->rows + FILTERS * (w->n + 1), *up = row + w->n;
    memset(up, 0, w->n);
    w->z.next_out = w->packed;
    w->z.avail_out = PACKED;
    for (int64_t y = 0, h = la_sizes(t)[0]; y < h; y++) {
        LA_TRY(la_poll());
        load_row(t, y, row, w->n);
        LA_TRY(png_write_pack(w, best_row(w, row, up), w->n + 1, y + 1 == h));
        unsigned char *last = up;
        up = row;
        row = last;
    }
    put_chunk(w->out, "IEND", NULL, 0);
    return w->out->status;
}

la_status la_png_write(const la_tensor *t, la_bytes *out)
{
    writer *w = la_mem_zalloc(sizeof *w);
    if (!w) return LA_ENOMEM;
    w->out = out;
    w->step = (size_t)la_sizes(t)[2] * la_itemsize(t);
    w->n = (size_t)la_sizes(t)[1] * w->step;
    size_t bytes = FILTERS * (w->n + 1) + 2 * w->n;
    w->rows = la_mem_alloc(bytes);
    w->z.zalloc = la_zip_alloc;
    w->z.zfree = la_zip_free;
    la_status status = w->rows ? LA_OK : LA_ENOMEM;
    if (!status && deflateInit(&w->z, Z_DEFAULT_COMPRESSION) != Z_OK)
        status = la_error(LA_ENOMEM, "not enough memory to pack");
    else if (!status) {
        put_header(t, out);
        status = write_rows(w, t);
        deflateEnd(&w->z);
    }
    if (w->rows) la_mem_free(w->rows, bytes);
    la_mem_free(w, sizeof *w);
    return status;
}
