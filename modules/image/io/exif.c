/*
** The orientation that a camera wrote into a JPEG: tag 0x0112 of the first
** directory of its EXIF block, which is a TIFF of its own in a segment APP1.
**
** Nothing in the block is followed but the offset of that directory, and what
** lies outside of the segment does not exist. Anything odd is no orientation.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/image/io/image.h"

enum { APP1 = 0xe1, SCAN = 0xda, END = 0xd9, TIFF = 6, ENTRY = 12,
       MOST_SEGMENTS = 1000, ORIENTATION = 0x0112, SHORT = 3 };

/* The TIFF: 'n' bytes from 'at' on. */
typedef struct block {
    const la_reader *source;
    int64_t at, n;
    bool little;
    la_status status;           /* of a read that failed */
} block;

/* 'n' bytes of the block from 'offset' on. */
static bool exif_get(block *b, int64_t offset, int64_t n, unsigned char *out)
{
    if (offset < 0 || offset > b->n - n) return false;
    b->status = la_reader_read(b->source, b->at + offset, out, (size_t)n);
    return !b->status;
}

static unsigned two(const block *b, const unsigned char *p)
{
    return b->little ? p[0] | (unsigned)p[1] << 8
                     : p[1] | (unsigned)p[0] << 8;
}

static int64_t four(const block *b, const unsigned char *p)
{
    int64_t first = two(b, p), second = two(b, p + 2);
    return b->little ? first | second << 16 : second | first << 16;
}

/* 1 to 8 of the block, or 1. */
static int read_block(block *b)
{
    unsigned char p[ENTRY];
    if (!exif_get(b, 0, 8, p)) return 1;
    b->little = memcmp(p, "II", 2) == 0;
    if ((!b->little && memcmp(p, "MM", 2)) || two(b, p + 2) != 42) return 1;
    int64_t directory = four(b, p + 4);
    if (!exif_get(b, directory, 2, p)) return 1;
    int64_t n = two(b, p);
    for (int64_t k = 0; k < n; k++) {
        if (!exif_get(b, directory + 2 + k * ENTRY, ENTRY, p)) return 1;
        if (two(b, p) != ORIENTATION) continue;
        unsigned value = two(b, p + 8);
        bool is_one = two(b, p + 2) == SHORT && four(b, p + 4) == 1;
        return is_one && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

la_status la_jpeg_orientation(const la_reader *source, int *out)
{
    unsigned char b[4 + TIFF];
    int64_t at = 2;
    *out = 1;
    if (source->size < 4) return LA_OK;
    LA_TRY(la_reader_read(source, 0, b, 2));
    if (b[0] != 0xff || b[1] != 0xd8) return LA_OK;
    for (int k = 0; k < MOST_SEGMENTS && at + 4 <= source->size; k++) {
        LA_TRY(la_reader_read(source, at, b, 4));
        if (b[0] != 0xff || b[1] == SCAN || b[1] == END) return LA_OK;
        if (b[1] == 0xff) {                 /* a byte of filling */
            at++;
            continue;
        }
        int64_t n = b[2] << 8 | b[3], from = at + 4 + TIFF;
        if (n < 2) return LA_OK;
        at += 2 + n;
        if (b[1] != APP1 || n < 2 + TIFF || at > source->size) continue;
        LA_TRY(la_reader_read(source, from - TIFF, b, TIFF));
        if (memcmp(b, "Exif\0\0", TIFF) != 0) continue;
        block whole = {source, from, n - 2 - TIFF, false, LA_OK};
        *out = read_block(&whole);
        return whole.status;
    }
    return LA_OK;
}
