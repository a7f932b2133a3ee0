/*
** A look through the segments of a JPEG before stb_image reads it.
**
** Segments are found as stb finds them: markers are 0xff and another byte, with
** lengths but for those of SOI, EOI and restarts; anything between segments is
** passed over; in packed data a marker is what is not followed by zero.
*/
#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "modules/image/io/image.h"

enum { TABLES = 0xc4, RESTART = 0xd0, START = 0xd8, END = 0xd9, SCAN = 0xda,
       MOST_CODES = 256 };

/* SOF0 to SOF2, the frames that stb reads. */
static bool is_frame(int marker)
{
    return marker >= 0xc0 && marker <= 0xc2;
}

static bool is_bare(int marker)
{
    return marker <= 1 || (marker >= RESTART && marker <= START);
}

/* The tables of a DHT segment, which begins behind its length. Each has 16
** counts of codes behind a byte of its own. */
static la_status check_tables(const la_reader *source, int64_t at, int64_t end)
{
    unsigned char b[17];
    while (at < end) {
        int codes = 0;
        LA_TRY(la_reader_read(source, at, b, sizeof b));
        for (int k = 1; k <= 16; k++) codes += b[k];
        if (codes > MOST_CODES)
            return la_error(LA_EIO, "malformed image (bad Huffman table)");
        at += (int64_t)sizeof b + codes;
    }
    return LA_OK;
}

/* The next marker in packed data from 'at' on, or the end. */
static int64_t skip_packed(const la_reader *source, int64_t at)
{
    const unsigned char *bytes = (const unsigned char *)source->memory;
    while (at + 1 < source->size) {
        const unsigned char *p = memchr(bytes + at, 0xff,
                                        (size_t)(source->size - at - 1));
        if (!p) break;
        at = p - bytes;
        if (p[1] && p[1] != 0xff && !is_bare(p[1])) return at;
        at++;
    }
    return source->size;
}

la_status la_jpeg_check(const la_reader *source, bool whole)
{
    unsigned char b[4];
    int64_t at = 2;
    while (at + (int64_t)sizeof b <= source->size) {
        LA_TRY(la_poll());
        LA_TRY(la_reader_read(source, at, b, sizeof b));
        int marker = b[1];
        if (b[0] != 0xff || marker == 0xff) {
            at++;
            continue;
        }
        if (marker == END || (!whole && is_frame(marker))) break;
        at += 2;
        if (is_bare(marker)) continue;
        int64_t end = at + (b[2] << 8 | b[3]);
        if (marker == TABLES) LA_TRY(check_tables(source, at + 2, end));
        at = end;
        if (marker == SCAN && !whole) break;
        if (marker == SCAN) at = skip_packed(source, at);
    }
    return LA_OK;
}
