/* Writing BMP and TGA: rows of bytes behind a header, not packed. */
#include <string.h>

#include "modules/image/io/image.h"
#include "io/zip.h"

/* Pixels of 'channels' bytes with red and blue exchanged: both formats keep
** blue first. */
static void put_pixels(la_bytes *out, const unsigned char *row, int64_t n,
                       int channels)
{
    unsigned char b[4];
    if (channels < 3) {
        la_bytes_put(out, row, (size_t)n * (size_t)channels);
        return;
    }
    for (int64_t x = 0; x < n; x++, row += channels) {
        memcpy(b, row, (size_t)channels);
        b[0] = row[2];
        b[2] = row[0];
        la_bytes_put(out, b, (size_t)channels);
    }
}

/* Rows from below, filled up to multiples of four bytes; grey as a palette of
** its levels. Header: BITMAPFILEHEADER and BITMAPINFOHEADER. */
void la_bmp_write(const la_tensor *t, la_bytes *out)
{
    enum { FILE_HEADER = 14, INFO_HEADER = 40 };
    int64_t h = la_sizes(t)[0], w = la_sizes(t)[1], c = la_sizes(t)[2];
    size_t row = (size_t)(w * c), gap = (4 - row % 4) % 4;
    size_t begin = FILE_HEADER + INFO_HEADER + (c == 1 ? 1024 : 0);
    unsigned char b[FILE_HEADER + INFO_HEADER] = {'B', 'M'};
    la_put_little(b + 2, begin + (row + gap) * (size_t)h, 4);
    la_put_little(b + 10, begin, 4);
    la_put_little(b + 14, INFO_HEADER, 4);
    la_put_little(b + 18, (uint64_t)w, 4);
    la_put_little(b + 22, (uint64_t)h, 4);
    la_put_little(b + 26, 1, 2);
    la_put_little(b + 28, 8 * (uint64_t)c, 2);
    la_bytes_put(out, b, sizeof b);
    for (unsigned v = 0; c == 1 && v < 256; v++) {
        unsigned char entry[4] = {(unsigned char)v, (unsigned char)v,
                                  (unsigned char)v, 0};
        la_bytes_put(out, entry, sizeof entry);
    }
    const unsigned char *data = (unsigned char *)la_data(t), none[4] = {0};
    for (int64_t y = h - 1; y >= 0; y--) {
        put_pixels(out, data + (size_t)y * row, w, (int)c);
        la_bytes_put(out, none, gap);
    }
}

/* Rows from above (bit 5 of the descriptor, whose low bits count those of
** alpha); type 3 is grey, 2 has colours. */
void la_tga_write(const la_tensor *t, la_bytes *out)
{
    int64_t h = la_sizes(t)[0], w = la_sizes(t)[1];
    int c = (int)la_sizes(t)[2];
    unsigned char b[18] = {0};
    b[2] = c < 3 ? 3 : 2;
    la_put_little(b + 12, (uint64_t)w, 2);
    la_put_little(b + 14, (uint64_t)h, 2);
    b[16] = (unsigned char)(8 * c);
    b[17] = c % 2 ? 0x20 : 0x28;
    la_bytes_put(out, b, sizeof b);
    const unsigned char *data = (unsigned char *)la_data(t);
    for (int64_t y = 0; y < h; y++)
        put_pixels(out, data + y * w * c, w, c);
}
