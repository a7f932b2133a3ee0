/*
** Writing JPEG (ITU-T T.81): baseline, 8 bits, one component for grey or three
** (YCbCr, JFIF 1.01), with the quantisation and Huffman tables of annex K.
**
** 'quality' scales the quantisation tables as the Independent JPEG Group's
** library does. The transform is that of Arai, Agui and Nakajima in float32;
** its scale factors are part of the divisors.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "modules/image/io/image.h"

/* ---- tables ---- */

static const unsigned char zigzag[64] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40,
    48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36,
    29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61,
    54, 47, 55, 62, 63};

/* Divisors at quality 50, row by row: luminance, chrominance. */
static const unsigned char divisors[2][64] = {
    {16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13,
     16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56,
     68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103,
     121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99},
    {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26,
     56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99}};

/* Huffman tables: how many codes have each length from 1 on, and the symbols in
** the order of their codes. */
typedef struct table {
    unsigned char id;           /* class and number, as in the file */
    unsigned char lengths[16];
    int n;
    const unsigned char *symbols;
} table;

static const unsigned char dc[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static const unsigned char ac_luminance[] = {
        1, 2, 3, 0, 4, 17, 5, 18, 33, 49, 65, 6, 19, 81, 97, 7, 34, 113, 20,
        50, 129, 145, 161, 8, 35, 66, 177, 193, 21, 82, 209, 240, 36, 51, 98,
        114, 130, 9, 10, 22, 23, 24, 25, 26, 37, 38, 39, 40, 41, 42, 52, 53,
        54, 55, 56, 57, 58, 67, 68, 69, 70, 71, 72, 73, 74, 83, 84, 85, 86, 87,
        88, 89, 90, 99, 100, 101, 102, 103, 104, 105, 106, 115, 116, 117, 118,
        119, 120, 121, 122, 131, 132, 133, 134, 135, 136, 137, 138, 146, 147,
        148, 149, 150, 151, 152, 153, 154, 162, 163, 164, 165, 166, 167, 168,
        169, 170, 178, 179, 180, 181, 182, 183, 184, 185, 186, 194, 195, 196,
        197, 198, 199, 200, 201, 202, 210, 211, 212, 213, 214, 215, 216, 217,
        218, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 241, 242, 243,
        244, 245, 246, 247, 248, 249, 250};
static const unsigned char ac_chrominance[] = {
        0, 1, 2, 3, 17, 4, 5, 33, 49, 6, 18, 65, 81, 7, 97, 113, 19, 34, 50,
        129, 8, 20, 66, 145, 161, 177, 193, 9, 35, 51, 82, 240, 21, 98, 114,
        209, 10, 22, 36, 52, 225, 37, 241, 23, 24, 25, 26, 38, 39, 40, 41, 42,
        53, 54, 55, 56, 57, 58, 67, 68, 69, 70, 71, 72, 73, 74, 83, 84, 85, 86,
        87, 88, 89, 90, 99, 100, 101, 102, 103, 104, 105, 106, 115, 116, 117,
        118, 119, 120, 121, 122, 130, 131, 132, 133, 134, 135, 136, 137, 138,
        146, 147, 148, 149, 150, 151, 152, 153, 154, 162, 163, 164, 165, 166,
        167, 168, 169, 170, 178, 179, 180, 181, 182, 183, 184, 185, 186, 194,
        195, 196, 197, 198, 199, 200, 201, 202, 210, 211, 212, 213, 214, 215,
        216, 217, 218, 226, 227, 228, 229, 230, 231, 232, 233, 234, 242, 243,
        244, 245, 246, 247, 248, 249, 250};

enum { DC_Y, AC_Y, DC_C, AC_C, TABLES };
static const table tables[TABLES] = {
    {0x00, {0, 1, 5, 1, 1, 1, 1, 1, 1}, 12, dc},
    {0x10, {0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d}, 162,
     ac_luminance},
    {0x01, {0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 12, dc},
    {0x11, {0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77}, 162,
     ac_chrominance}};

/* ---- the writer ---- */

typedef struct writer {
    la_bytes *out;
    const unsigned char *data;
    int64_t height, width;
    int channels, sampling;     /* 2: colours at half the resolution */
    unsigned char divisor[2][64];   /* in rows */
    float scale[2][64];         /* what coefficients are multiplied by */
    uint16_t code[TABLES][256];
    unsigned char length[TABLES][256];
    uint32_t bits;              /* not written yet, in the low 'nbits' */
    int nbits;
    int last[3];                /* DC of the last block, by component */
} writer;

/* Codes of one length are consecutive, and the first one of the next length is
** the next one with a zero behind it (annex C). */
static void make_codes(writer *w)
{
    for (int t = 0; t < TABLES; t++) {
        unsigned code = 0;
        for (int length = 1, k = 0; length <= 16; length++, code <<= 1)
            for (int i = 0; i < tables[t].lengths[length - 1]; i++, k++) {
                w->code[t][tables[t].symbols[k]] = (uint16_t)code++;
                w->length[t][tables[t].symbols[k]] = (unsigned char)length;
            }
    }
}

/* 5000 / quality percent below 50, 200 - 2 quality from there on. */
static void make_divisors(writer *w, int quality)
{
    static const float factor[8] = {1.0f, 1.387039845f, 1.306562965f,
        1.175875602f, 1.0f, 0.785694958f, 0.541196100f, 0.275899379f};
    int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 64; k++) {
            int d = (divisors[t][k] * percent + 50) / 100;
            d = d < 1 ? 1 : d > 255 ? 255 : d;
            w->divisor[t][k] = (unsigned char)d;
            w->scale[t][k] = 1.0f / (8.0f * (float)d * factor[k / 8]
                                     * factor[k % 8]);
        }
}

/* ---- the header ---- */

static void put_word(la_bytes *out, unsigned v)
{
    la_bytes_put_byte(out, v >> 8);
    la_bytes_put_byte(out, v);
}

/* SOF0: sizes, and how each component is sampled and divided. */
static void put_frame(writer *w, int parts)
{
    la_bytes *out = w->out;
    put_word(out, 0xffc0);
    put_word(out, 8 + 3 * (unsigned)parts);
    la_bytes_put_byte(out, 8);
    put_word(out, (unsigned)w->height);
    put_word(out, (unsigned)w->width);
    la_bytes_put_byte(out, (unsigned)parts);
    for (int k = 0; k < parts; k++) {
        la_bytes_put_byte(out, (unsigned)k + 1);
        la_bytes_put_byte(out, k == 0 && w->sampling == 2 ? 0x22 : 0x11);
        la_bytes_put_byte(out, k > 0);
    }
}

/* Grey needs those of luminance alone. */
static void put_tables(writer *w, int parts)
{
    la_bytes *out = w->out;
    for (int t = 0; t < (parts > 1 ? 2 : 1); t++) {
        put_word(out, 0xffdb);
        put_word(out, 2 + 65);
        la_bytes_put_byte(out, (unsigned)t);
        for (int k = 0; k < 64; k++)
            la_bytes_put_byte(out, w->divisor[t][zigzag[k]]);
    }
    for (int t = 0; t < (parts > 1 ? 4 : 2); t++) {
        put_word(out, 0xffc4);
        put_word(out, 2 + 17 + (unsigned)tables[t].n);
        la_bytes_put_byte(out, tables[t].id);
        la_bytes_put(out, tables[t].lengths, 16);
        la_bytes_put(out, tables[t].symbols, (size_t)tables[t].n);
    }
}

static void jpeg_write_put_header(writer *w)
{
    static const unsigned char start[] = {0xff, 0xd8, 0xff, 0xe0, 0, 16, 'J',
        'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    int parts = w->channels;
    la_bytes_put(w->out, start, sizeof start);
    put_tables(w, parts);
    put_frame(w, parts);
    put_word(w->out, 0xffda);
    put_word(w->out, 6 + 2 * (unsigned)parts);
    la_bytes_put_byte(w->out, (unsigned)parts);
    for (int k = 0; k < parts; k++) {
        la_bytes_put_byte(w->out, (unsigned)k + 1);
        la_bytes_put_byte(w->out, k ? 0x11 : 0);
    }
    la_bytes_put(w->out, "\0\77\0", 3);
}

/* ---- blocks ---- */

/* A byte of ones is followed by a zero, so that it is no marker. */
static void put_bits(writer *w, unsigned bits, int n)
{
    w->bits = w->bits << n | bits;
    w->nbits += n;
    while (w->nbits >= 8) {
        unsigned byte = w->bits >> (w->nbits - 8) & 255;
        la_bytes_put_byte(w->out, byte);
        if (byte == 255) la_bytes_put_byte(w->out, 0);
        w->nbits -= 8;
    }
    w->bits &= 255;
}

static void put_symbol(writer *w, int t, int symbol)
{
    put_bits(w, w->code[t][symbol], w->length[t][symbol]);
}

/* Bits of a magnitude. */
static int jpeg_write_size_of(int v)
{
    int n = 0;
    for (v = v < 0 ? -v : v; v; v >>= 1) n++;
    return n;
}

/* The low n bits of v, or of v - 1 where it is negative. */
static void jpeg_write_put_value(writer *w, int v, int n)
{
    put_bits(w, (unsigned)(v < 0 ? v - 1 : v) & ((1u << n) - 1), n);
}

/* The transform of eight values, 'gap' apart. */
static void jpeg_write_transform(float *d, int gap)
{
    float a0 = d[0] + d[7 * gap], a7 = d[0] - d[7 * gap];
    float a1 = d[gap] + d[6 * gap], a6 = d[gap] - d[6 * gap];
    float a2 = d[2 * gap] + d[5 * gap], a5 = d[2 * gap] - d[5 * gap];
    float a3 = d[3 * gap] + d[4 * gap], a4 = d[3 * gap] - d[4 * gap];
    float b0 = a0 + a3, b3 = a0 - a3, b1 = a1 + a2, b2 = a1 - a2;
    float z1 = (b2 + b3) * 0.707106781f;
    d[0] = b0 + b1;
    d[4 * gap] = b0 - b1;
    d[2 * gap] = b3 + z1;
    d[6 * gap] = b3 - z1;
    float c0 = a4 + a5, c1 = a5 + a6, c2 = a6 + a7;
    float z5 = (c0 - c2) * 0.382683433f, z2 = c0 * 0.541196100f + z5;
    float z4 = c2 * 1.306562965f + z5, z3 = c1 * 0.707106781f;
    float z11 = a7 + z3, z13 = a7 - z3;
    d[5 * gap] = z13 + z2;
    d[3 * gap] = z13 - z2;
    d[gap] = z11 + z4;
    d[7 * gap] = z11 - z4;
}

/* One block of component 'part'. */
static void jpeg_write_put_block(writer *w, int part, float block[64])
{
    int t = part ? DC_C : DC_Y, coefficients[64], end = 63, zeros = 0;
    for (int k = 0; k < 8; k++) jpeg_write_transform(block + 8 * k, 1);
    for (int k = 0; k < 8; k++) jpeg_write_transform(block + k, 8);
    for (int k = 0; k < 64; k++) {
        float v = block[zigzag[k]] * w->scale[part > 0][zigzag[k]];
        coefficients[k] = (int)(v < 0 ? v - 0.5f : v + 0.5f);
    }
    int step = coefficients[0] - w->last[part], n = jpeg_write_size_of(step);
    w->last[part] = coefficients[0];
    put_symbol(w, t, n);
    jpeg_write_put_value(w, step, n);
    while (end > 0 && !coefficients[end]) end--;
    for (int k = 1; k <= end; k++) {
        int v = coefficients[k];
        if (!v) {
            zeros++;
            continue;
        }
        for (; zeros > 15; zeros -= 16) put_symbol(w, t + 1, 0xf0);
        n = jpeg_write_size_of(v);
        put_symbol(w, t + 1, zeros << 4 | n);
        jpeg_write_put_value(w, v, n);
        zeros = 0;
    }
    if (end < 63) put_symbol(w, t + 1, 0);
}

/* The components of n x n pixels from x, y on; the last row and column go on
** beyond the edge. */
static void load_unit(const writer *w, int64_t x, int64_t y, int n,
                      float out[3][256])
{
    for (int i = 0; i < n * n; i++) {
        int64_t row = y + i / n, column = x + i % n;
        if (row >= w->height) row = w->height - 1;
        if (column >= w->width) column = w->width - 1;
        const unsigned char *p = w->data
            + (row * w->width + column) * w->channels;
        float r = p[0], g, b;
        out[0][i] = r - 128;
        if (w->channels == 1) continue;
        g = p[1];
        b = p[2];
        out[0][i] = 0.299f * r + 0.587f * g + 0.114f * b - 128;
        out[1][i] = -0.168735892f * r - 0.331264108f * g + 0.5f * b;
        out[2][i] = 0.5f * r - 0.418687589f * g - 0.081312411f * b;
    }
}

/* 8 x 8 of the values of a unit, from row and column 'at' on; with 'half' the
** means of its 16 x 16 by four. */
static void load_block(const float *unit, int n, int at, bool half,
                       float out[64])
{
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            const float *p = unit + (half ? 2 * y * n + 2 * x
                                          : y * n + x + at);
            out[8 * y + x] = half
                ? (p[0] + p[1] + p[n] + p[n + 1]) * 0.25f : p[0];
        }
}

/* A minimum coded unit: 8 x 8 pixels, or 16 x 16 where colours have half the
** resolution. */
static void put_unit(writer *w, int64_t x, int64_t y)
{
    float unit[3][256], block[64];
    int n = 8 * w->sampling;
    load_unit(w, x, y, n, unit);
    for (int k = 0; k < w->sampling * w->sampling; k++) {
        load_block(unit[0], n, k / 2 * 8 * n + k % 2 * 8, false, block);
        jpeg_write_put_block(w, 0, block);
    }
    for (int part = 1; part < w->channels; part++) {
        load_block(unit[part], n, 0, w->sampling == 2, block);
        jpeg_write_put_block(w, part, block);
    }
}

void la_jpeg_write(const la_tensor *t, int quality, la_bytes *out)
{
    writer w = {.out = out, .data = (unsigned char *)la_data(t),
                .height = la_sizes(t)[0], .width = la_sizes(t)[1],
                .channels = (int)la_sizes(t)[2]};
    w.sampling = w.channels == 3 && quality <= 90 ? 2 : 1;
    make_codes(&w);
    make_divisors(&w, quality);
    jpeg_write_put_header(&w);
    int n = 8 * w.sampling;
    for (int64_t y = 0; y < w.height && !out->status; y += n) {
        out->status = la_poll();
        for (int64_t x = 0; x < w.width && !out->status; x += n)
            put_unit(&w, x, y);
    }
    put_bits(&w, 0x7f, 7);      /* ones up to the end of the byte */
    put_word(out, 0xffd9);
}
