/*
** Reading PNG (Portable Network Graphics, second edition; ISO/IEC 15948).
**
** Every kind of pixel, interlaced or not, comes out as samples of 8 or 16 bits:
** a palette as RGB, or RGBA when it has transparency; a transparent colour as
** an alpha channel. Chunks that say how to show the image (gamma, profiles) are
** passed over. Pixels are unpacked row by row, so that two rows are all that is
** held besides the result, and long images answer an interruption.
*/
#include <string.h>

#include "io/flate.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "modules/image/io/image.h"
#include "io/zip.h"

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };
enum { CHUNK = 64 << 10, HEADER = 13, LARGEST = 0x7fffffff,
       MOST_UNPACKED = 1032 };      /* bytes that a byte of deflate can give */

typedef struct png {
    const la_reader *source;
    int64_t at;                 /* what is read next */
    int64_t width, height;
    int depth, kind;            /* bits of a sample; colour type */
    bool interlaced, keyed;     /* keyed: one colour is transparent */
    int colours, alphas;        /* entries of the palette */
    unsigned char palette[256][4];
    unsigned key[3];
    int64_t left;               /* bytes of the data chunk that is being read */
    uint32_t crc;
    bool started, ended;        /* zlib's state exists; its stream has ended */
    z_stream z;
    unsigned char chunk[CHUNK];
} png;

/* A number of n bytes, the highest first. */
static uint32_t big(const unsigned char *b, int n)
{
    uint32_t v = 0;
    for (int i = 0; i < n; i++) v = v << 8 | b[i];
    return v;
}

static la_status png_read_malformed(const char *what)
{
    return la_error(LA_EIO, "malformed PNG (%s)", what);
}

/* The next n bytes, or "truncated". */
static la_status png_read_get(png *p, void *out, size_t n)
{
    LA_TRY(la_reader_read(p->source, p->at, out, n));
    p->at += (int64_t)n;
    return LA_OK;
}

/* ---- chunks before the pixels ---- */

typedef struct chunk { uint32_t n; char type[5]; } chunk;

/* Length and type of the next chunk; p->crc begins with its type. */
static la_status next_chunk(png *p, chunk *c)
{
    unsigned char head[8];
    LA_TRY(png_read_get(p, head, sizeof head));
    c->n = big(head, 4);
    memcpy(c->type, head + 4, 4);
    c->type[4] = 0;
    if (c->n > LARGEST) return png_read_malformed("length of a chunk");
    p->crc = la_zip_crc(0, head + 4, 4);
    return LA_OK;
}

/* The four bytes behind a chunk. */
static la_status check_crc(png *p)
{
    unsigned char sum[4];
    LA_TRY(png_read_get(p, sum, sizeof sum));
    return big(sum, 4) == p->crc ? LA_OK : png_read_malformed("wrong checksum");
}

/* The whole of a chunk of at most 'most' bytes, and its checksum. */
static la_status read_small(png *p, const chunk *c, unsigned char *out,
                            size_t most)
{
    if (c->n > most) return png_read_malformed("length of a chunk");
    LA_TRY(png_read_get(p, out, c->n));
    p->crc = la_zip_crc(p->crc, out, c->n);
    return check_crc(p);
}

/* Samples of a pixel as they are stored. */
static int samples_of(const png *p)
{
    static const int samples[] = {1, 0, 3, 1, 2, 0, 4};
    return samples[p->kind];
}

/* Depths that each colour type may have, as a set of bits. */
static bool depth_fits(int kind, int depth)
{
    static const unsigned depths[] = {1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 |
        1 << 16, 0, 1 << 8 | 1 << 16, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
        1 << 8 | 1 << 16, 0, 1 << 8 | 1 << 16};
    return kind <= RGBA && depth <= 16 && depths[kind] >> depth & 1;
}

/* Magic and IHDR; sizes up to 2^31 - 1, so that products fit 64 bits but for
** those of new_image. */
static la_status png_read_read_header(png *p)
{
    static const unsigned char magic[] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    unsigned char b[HEADER];
    chunk c;
    LA_TRY(png_read_get(p, b, sizeof magic));
    if (memcmp(b, magic, sizeof magic))
        return png_read_malformed("first bytes");
    LA_TRY(next_chunk(p, &c));
    if (strcmp(c.type, "IHDR") || c.n != HEADER)
        return png_read_malformed("header");
    LA_TRY(read_small(p, &c, b, HEADER));
    p->width = big(b, 4);
    p->height = big(b + 4, 4);
    p->depth = b[8];
    p->kind = b[9];
    p->interlaced = b[12] == 1;
    if (p->width < 1 || p->height < 1 || p->width > LARGEST
        || p->height > LARGEST) return png_read_malformed("width or height");
    if (!depth_fits(p->kind, p->depth))
        return png_read_malformed("kind of pixels");
    if (b[10] || b[11] || b[12] > 1)
        return png_read_malformed("method of packing");
    return LA_OK;
}

static la_status read_palette(png *p, const chunk *c)
{
    unsigned char b[256 * 3];
    if (c->n % 3 || c->n == 0)
        return png_read_malformed("length of the palette");
    LA_TRY(read_small(p, c, b, sizeof b));
    p->colours = (int)c->n / 3;
    for (int i = 0; i < p->colours; i++) {
        memcpy(p->palette[i], b + 3 * i, 3);
        p->palette[i][3] = 255;
    }
    return LA_OK;
}

/* Alpha of the first colours of a palette, or the one transparent colour. */
static la_status read_transparency(png *p, const chunk *c)
{
    unsigned char b[256];
    LA_TRY(read_small(p, c, b, sizeof b));
    if (p->kind == PALETTE) {
        if ((int)c->n > p->colours) return png_read_malformed("transparency");
        p->alphas = (int)c->n;
        for (int i = 0; i < p->alphas; i++) p->palette[i][3] = b[i];
    } else if (p->kind == GREY || p->kind == RGB) {
        int n = samples_of(p);
        if ((int)c->n != 2 * n) return png_read_malformed("transparency");
        for (int i = 0; i < n; i++)
            p->key[i] = big(b + 2 * i, 2) & ((1u << p->depth) - 1);
        p->keyed = true;
    } else {
        return png_read_malformed("transparency");
    }
    return LA_OK;
}

/* All up to the first chunk of pixels, which p->left and p->crc then describe.
** A lower-case type marks a chunk that may be passed over. */
static la_status read_to_pixels(png *p)
{
    chunk c;
    LA_TRY(png_read_read_header(p));
    for (;;) {
        LA_TRY(next_chunk(p, &c));
        if (strcmp(c.type, "IDAT") == 0) break;
        if (strcmp(c.type, "PLTE") == 0) LA_TRY(read_palette(p, &c));
        else if (strcmp(c.type, "tRNS") == 0) LA_TRY(read_transparency(p, &c));
        else if (!(c.type[0] & 0x20))
            return png_read_malformed("unknown chunk");
        else p->at += (int64_t)c.n + 4;
    }
    if (p->kind == PALETTE && !p->colours)
        return png_read_malformed("no palette");
    p->left = c.n;
    return LA_OK;
}

/* Channels of the result. */
static int channels_of(const png *p)
{
    if (p->kind == PALETTE) return p->alphas ? 4 : 3;
    return samples_of(p) + p->keyed;
}

/* Ends at the first chunk of pixels, which need not be whole. */
la_status la_png_info(const la_reader *source, la_image_info *out)
{
    png *p = la_mem_zalloc(sizeof *p);
    if (!p) return LA_ENOMEM;
    p->source = source;
    la_status status = read_to_pixels(p);
    *out = (la_image_info){LA_IMAGE_PNG, p->width, p->height, 0, 8, 1};
    if (!status) out->channels = channels_of(p);
    if (p->depth == 16) out->bits = 16;
    la_mem_free(p, sizeof *p);
    return status;
}

/* ---- the packed pixels ---- */

/* More packed bytes for zlib, from the next chunk where one is used up. */
static la_status png_read_refill(png *p)
{
    chunk c;
    while (p->left == 0) {
        LA_TRY(check_crc(p));
        LA_TRY(next_chunk(p, &c));
        if (strcmp(c.type, "IDAT")) return png_read_malformed("too few pixels");
        p->left = c.n;
    }
    size_t n = p->left < CHUNK ? (size_t)p->left : CHUNK;
    LA_TRY(png_read_get(p, p->chunk, n));
    p->crc = la_zip_crc(p->crc, p->chunk, n);
    p->left -= (int64_t)n;
    p->z.next_in = p->chunk;
    p->z.avail_in = (uInt)n;
    return LA_OK;
}

/* The next n unpacked bytes: all of them, or an error. */
static la_status png_read_unpack(png *p, unsigned char *out, size_t n)
{
    while (n) {
        uInt piece = n < 1u << 24 ? (uInt)n : 1u << 24;
        if (p->ended) return png_read_malformed("too few pixels");
        if (!p->z.avail_in) LA_TRY(png_read_refill(p));
        p->z.next_out = out;
        p->z.avail_out = piece;
        int code = inflate(&p->z, Z_NO_FLUSH);
        if (code == Z_MEM_ERROR) return LA_ENOMEM;
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
            return png_read_malformed("packed pixels");
        p->ended = code == Z_STREAM_END;
        out += piece - p->z.avail_out;
        n -= piece - p->z.avail_out;
    }
    return LA_OK;
}

/* Behind the last row: the stream's own checksum, and the end of the file.
** Bytes behind the pixels inside the stream are passed over, as by others. */
static la_status png_read_read_end(png *p)
{
    unsigned char more;
    chunk c;
    while (!p->ended) {
        la_status status = png_read_unpack(p, &more, 1);
        if (status && !p->ended) return status;
        if (!status) break;
    }
    while (p->left) LA_TRY(png_read_refill(p));
    LA_TRY(check_crc(p));
    for (;;) {
        LA_TRY(next_chunk(p, &c));
        p->at += (int64_t)c.n + 4;
        if (strcmp(c.type, "IEND") == 0) break;
    }
    return LA_OK;
}

/* ---- rows ---- */

/* Undo the filter of a row of n bytes; 'up' is the row before, 'step' the bytes
** of a pixel. */
static la_status unfilter(int filter, unsigned char *row,
                          const unsigned char *up, size_t n, size_t step)
{
    size_t first = n < step ? n : step;
    switch (filter) {
    case 0: break;
    case 1:
        for (size_t i = step; i < n; i++) row[i] += row[i - step];
        break;
    case 2:
        for (size_t i = 0; i < n; i++) row[i] += up[i];
        break;
    case 3:
        for (size_t i = 0; i < first; i++) row[i] += up[i] >> 1;
        for (size_t i = step; i < n; i++)
            row[i] += (unsigned char)((row[i - step] + up[i]) >> 1);
        break;
    case 4:
        for (size_t i = 0; i < first; i++) row[i] += up[i];
        for (size_t i = step; i < n; i++)
            row[i] += (unsigned char)la_png_paeth(row[i - step], up[i],
                                                  up[i - step]);
        break;
    default: return png_read_malformed("filter of a row");
    }
    return LA_OK;
}

/* Sample i of a row, as it is stored. */
static unsigned sample(const png *p, const unsigned char *row, int64_t i)
{
    if (p->depth == 8) return row[i];
    if (p->depth == 16) return (unsigned)row[2 * i] << 8 | row[2 * i + 1];
    int64_t bit = i * p->depth;
    unsigned shift = 8u - (unsigned)p->depth - (unsigned)(bit & 7);
    return row[bit >> 3] >> shift & ((1u << p->depth) - 1);
}

/* Sample i of the result. */
static void png_read_put(unsigned char *out, int64_t i, int depth, unsigned v)
{
    const uint16_t wide = (uint16_t)v;
    if (depth == 16) memcpy(out + 2 * i, &wide, 2);
    else out[i] = (unsigned char)v;
}

/* n pixels of a row to 'out', 'gap' pixels apart. */
static la_status expand(const png *p, const unsigned char *row, int64_t n,
                        unsigned char *out, int64_t gap)
{
    int in = samples_of(p), channels = channels_of(p);
    unsigned most = (1u << p->depth) - 1;
    unsigned scale = p->depth < 8 ? 255 / most : 1;
    if (p->depth == 8 && in == channels && gap == 1) {
        memcpy(out, row, (size_t)n * (size_t)in);
        return LA_OK;
    }
    for (int64_t x = 0; x < n; x++) {
        int64_t to = x * gap * channels;
        bool clear = p->keyed;
        for (int k = 0; k < in; k++) {
            unsigned v = sample(p, row, x * in + k);
            if (p->kind == PALETTE) {
                if ((int)v >= p->colours)
                    return png_read_malformed("colour of a pixel");
                memcpy(out + to, p->palette[v], (size_t)channels);
                continue;
            }
            clear = clear && v == p->key[k];
            png_read_put(out, to + k, p->depth, v * scale);
        }
        if (p->keyed) png_read_put(out, to + in, p->depth,
                                   clear ? 0 : most * scale);
    }
    return LA_OK;
}

/* The rows of an image that is every 'dx'th pixel of every 'dy'th row of the
** result, from x0, y0 on. 'rows' has two rows with a byte before each. */
static la_status read_pass(png *p, unsigned char *rows, size_t capacity,
                           la_tensor *t, const int64_t at[4])
{
    int64_t x0 = at[0], y0 = at[1], dx = at[2], dy = at[3];
    int64_t w = (p->width - x0 + dx - 1) / dx, bits = samples_of(p) * p->depth;
    int64_t pixel = channels_of(p) * (p->depth == 16 ? 2 : 1);
    if (x0 >= p->width || y0 >= p->height) return LA_OK;
    size_t n = (size_t)((w * bits + 7) / 8), step = (size_t)(bits + 7) / 8;
    unsigned char *row = rows, *up = rows + capacity;
    memset(up, 0, n + 1);
    for (int64_t y = y0; y < p->height; y += dy) {
        LA_TRY(la_poll());
        LA_TRY(png_read_unpack(p, row, n + 1));
        LA_TRY(unfilter(row[0], row + 1, up + 1, n, step));
        LA_TRY(expand(p, row + 1, w, (unsigned char *)la_data(t)
                      + (y * p->width + x0) * pixel, dx));
        unsigned char *last = up;
        up = row;
        row = last;
    }
    return LA_OK;
}

/* Bytes of a row as it is packed, with its filter. */
static size_t png_read_row_bytes(const png *p)
{
    return (size_t)((p->width * samples_of(p) * p->depth + 7) / 8) + 1;
}

/* All passes; Adam7 has seven. */
static la_status png_read_read_rows(png *p, la_tensor *t)
{
    static const int64_t whole[4] = {0, 0, 1, 1};
    static const int64_t passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8},
        {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    size_t n = png_read_row_bytes(p);
    unsigned char *rows = la_mem_zalloc(2 * n);
    if (!rows) return LA_ENOMEM;
    la_status status = LA_OK;
    if (!p->interlaced) status = read_pass(p, rows, n, t, whole);
    for (int k = 0; p->interlaced && k < 7 && !status; k++)
        status = read_pass(p, rows, n, t, passes[k]);
    la_mem_free(rows, 2 * n);
    return status ? status : png_read_read_end(p);
}

/* The pixels must be there before memory is asked for: packed, they can be
** 1032 times smaller and no less. */
static la_status png_read_new_image(const png *p, la_tensor **out)
{
    int64_t raw, sizes[3] = {p->height, p->width, channels_of(p)};
    if (!la_mul_ok((int64_t)png_read_row_bytes(p) / (p->interlaced ? 2 : 1),
                   p->height, &raw) || raw / MOST_UNPACKED > p->source->size)
        return png_read_malformed("too few bytes for its width and height");
    return la_tensor_empty(3, sizes, p->depth == 16 ? LA_UINT16 : LA_UINT8,
                           out);
}

/* The caller ends zlib and frees 'p'. */
static la_status read_image(png *p, la_tensor **out)
{
    LA_TRY(read_to_pixels(p));
    LA_LET(t, png_read_new_image(p, &t));
    p->z.zalloc = la_zip_alloc;
    p->z.zfree = la_zip_free;
    if (inflateInit(&p->z) != Z_OK)
        return la_error(LA_ENOMEM, "not enough memory to unpack");
    p->started = true;
    LA_TRY(png_read_read_rows(p, t));
    return la_tensor_hand(&t, out);
}

la_status la_png_read(const la_reader *source, la_tensor **out)
{
    png *p = la_mem_zalloc(sizeof *p);
    if (!p) return LA_ENOMEM;
    p->source = source;
    la_status status = read_image(p, out);
    if (p->started) inflateEnd(&p->z);
    la_mem_free(p, sizeof *p);
    return status;
}
