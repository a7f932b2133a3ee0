/*
** Unpacking deflate (RFC 1951) where there is no zlib. The state keeps all that
** a later call needs, so input may end at any bit and output at any byte.
** Prefix codes are canonical: counts of each length and the symbols in order of
** their codes; a table finds those of up to FAST bits at once.
*/
#include "tools/embed/flate/flate.h"

#include <stdbool.h>
#include <string.h>

enum { WINDOW = 1 << 15, LONGEST = 15, FAST = 9, LITERALS = 288, LENGTHS = 30 };
enum { AGAIN = -2 };            /* more input is needed */

typedef enum stage {
    HEAD, NAME, BLOCK, STORED, COPY_STORED, TABLE, CODE_LENGTHS, SYMBOL,
    DISTANCE, MATCH, TAIL, DONE, BROKEN
} stage;

typedef struct prefix_code {
    uint16_t count[LONGEST + 1], symbol[LITERALS];
    uint16_t fast[1 << FAST];   /* symbol << 4 | length, 0: longer */
} prefix_code;

typedef struct inflater_state {
    stage stage;
    int wrap;                   /* 0 raw, 1 zlib, 2 gzip */
    uint64_t hold;              /* bits that were read and not used */
    int bits;
    bool last;                  /* block */
    unsigned length, distance;  /* of the match, or bytes of a stored block */
    int waiting;                /* a symbol that was read; -1: none */
    int nlit, ndist, nlen, at;  /* of the table that is read */
    uint8_t lengths[LITERALS + 32];
    prefix_code literals, distances;
    unsigned char window[WINDOW];
    uint64_t total;             /* bytes written so far */
    uint32_t check;
} inflater_state;

/* ---- bits ---- */

/* Loads at least n bits into 'hold', n <= 48. */
static bool need(la_flate *z, inflater_state *s, int n)
{
    while (s->bits < n) {
        if (!z->avail_in) return false;
        s->hold |= (uint64_t)*z->next_in++ << s->bits;
        z->avail_in--;
        s->bits += 8;
    }
    return true;
}

/* The next n bits, which are there; the first one lowest. */
static unsigned take(inflater_state *s, int n)
{
    unsigned v = (unsigned)(s->hold & ((UINT64_C(1) << n) - 1));
    s->hold >>= n;
    s->bits -= n;
    return v;
}

/* The next symbol, AGAIN, or -1 for a code that is none. */
static int symbol_of(la_flate *z, inflater_state *s, const prefix_code *h)
{
    int code = 0, first = 0, index = 0;
    need(z, s, LONGEST);        /* fewer may do */
    uint16_t quick = h->fast[s->hold & ((1 << FAST) - 1)];
    if (quick && (quick & 15) <= s->bits) {
        take(s, quick & 15);
        return quick >> 4;
    }
    for (int n = 1; n <= LONGEST; n++) {
        if (s->bits < n) return AGAIN;
        int count = h->count[n];
        code |= (int)(s->hold >> (n - 1) & 1);
        if (code - count < first) {
            take(s, n);
            return h->symbol[index + (code - first)];
        }
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

/* ---- prefix codes ---- */

/* The codes in the fast table: of each length in order, lowest bit first. */
static void fill_fast(prefix_code *h)
{
    int code = 0, index = 0;
    memset(h->fast, 0, sizeof h->fast);
    for (int n = 1; n <= FAST; n++, code <<= 1)
        for (int k = 0; k < h->count[n]; k++, code++, index++) {
            int reversed = 0;
            for (int b = 0; b < n; b++)
                reversed |= (code >> b & 1) << (n - 1 - b);
            for (int i = reversed; i < 1 << FAST; i += 1 << n)
                h->fast[i] = (uint16_t)(h->symbol[index] << 4 | n);
        }
}

/* Makes the code of the lengths of n symbols, 0 for those without a code. False
** for lengths that are too many for prefix codes, or that leave codes over:
** only a single code of one bit may. */
static bool make_code(prefix_code *h, const uint8_t *lengths, int n)
{
    uint16_t at[LONGEST + 1];
    int left = 1;
    memset(h->count, 0, sizeof h->count);
    for (int k = 0; k < n; k++) h->count[lengths[k]]++;
    for (int len = 1; len <= LONGEST; len++) {
        left = left * 2 - h->count[len];
        if (left < 0) return false;
    }
    if (left > 0 && n != h->count[0] + h->count[1]) return false;
    at[1] = 0;
    for (int len = 1; len < LONGEST; len++)
        at[len + 1] = (uint16_t)(at[len] + h->count[len]);
    for (int k = 0; k < n; k++)
        if (lengths[k]) h->symbol[at[lengths[k]]++] = (uint16_t)k;
    fill_fast(h);
    return true;
}

/* The codes of blocks that bring none (RFC 1951, 3.2.6). */
static void make_fixed(inflater_state *s)
{
    int k = 0;
    while (k < 144) s->lengths[k++] = 8;
    while (k < 256) s->lengths[k++] = 9;
    while (k < 280) s->lengths[k++] = 7;
    while (k < LITERALS) s->lengths[k++] = 8;
    make_code(&s->literals, s->lengths, LITERALS);
    memset(s->lengths, 5, LENGTHS + 2);
    make_code(&s->distances, s->lengths, LENGTHS + 2);
}

/* ---- stages: Z_OK to go on, Z_BUF_ERROR to wait, or an error ---- */

/* Two bytes of zlib, or ten of gzip with at most a name behind them; a preset
** dictionary is nothing that our files have. */
static int read_head(la_flate *z, inflater_state *s)
{
    if (s->wrap == 0) s->stage = BLOCK;
    if (s->wrap == 0) return Z_OK;
    if (s->wrap == 1) {
        if (!need(z, s, 16)) return Z_BUF_ERROR;
        unsigned method = take(s, 8), flags = take(s, 8);
        if ((method << 8 | flags) % 31 || (method & 15) != 8 || method >> 4 > 7
            || flags & 32) return Z_DATA_ERROR;
        s->check = 1;
        s->stage = BLOCK;
        return Z_OK;
    }
    /* ten bytes: 48 bits of magic, method, flags and time, then 32 more */
    if (s->at == 0) {
        if (!need(z, s, 48)) return Z_BUF_ERROR;
        if (take(s, 24) != 0x088b1f) return Z_DATA_ERROR;
        s->length = take(s, 8);
        take(s, 16);
        if (s->length & ~8u) return Z_DATA_ERROR;   /* but for a name */
        s->at = 1;
    }
    if (!need(z, s, 32)) return Z_BUF_ERROR;
    take(s, 16);
    take(s, 16);
    s->stage = s->length & 8 ? NAME : BLOCK;
    return Z_OK;
}

/* A file's name, up to its 0. */
static int skip_name(la_flate *z, inflater_state *s)
{
    do {
        if (!need(z, s, 8)) return Z_BUF_ERROR;
    } while (take(s, 8));
    s->stage = BLOCK;
    return Z_OK;
}

/* Three bits: is it the last block, and of which of three kinds? */
static int read_block(la_flate *z, inflater_state *s)
{
    if (s->last) {
        take(s, s->bits & 7);   /* the rest of a byte */
        s->stage = TAIL;
        return Z_OK;
    }
    if (!need(z, s, 3)) return Z_BUF_ERROR;
    s->last = take(s, 1);
    switch (take(s, 2)) {
    case 0:
        take(s, s->bits & 7);
        s->stage = STORED;
        return Z_OK;
    case 1:
        make_fixed(s);
        s->stage = SYMBOL;
        return Z_OK;
    case 2:
        s->stage = TABLE;
        return Z_OK;
    default: return Z_DATA_ERROR;
    }
}

/* A length and its complement begin at a whole byte. */
static int read_stored(la_flate *z, inflater_state *s)
{
    if (!need(z, s, 32)) return Z_BUF_ERROR;
    s->length = take(s, 16);
    if (take(s, 16) != (s->length ^ 0xffff)) return Z_DATA_ERROR;
    s->stage = COPY_STORED;
    return Z_OK;
}

/* The order in which lengths of the code of lengths are written. */
static const uint8_t ORDER[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12,
                                  3, 13, 2, 14, 1, 15};

/* How many lengths there are, and the code that they are written in, which
** stands in 'distances' as long as it is needed. */
static int read_table(la_flate *z, inflater_state *s)
{
    if (s->nlen == 0) {
        if (!need(z, s, 14)) return Z_BUF_ERROR;
        s->nlit = (int)take(s, 5) + 257;
        s->ndist = (int)take(s, 5) + 1;
        s->nlen = (int)take(s, 4) + 4;
        s->at = 0;
        memset(s->lengths, 0, 19);
        if (s->nlit > 286 || s->ndist > LENGTHS) return Z_DATA_ERROR;
    }
    for (; s->at < s->nlen; s->at++) {
        if (!need(z, s, 3)) return Z_BUF_ERROR;
        s->lengths[ORDER[s->at]] = (uint8_t)take(s, 3);
    }
    s->nlen = s->at = 0;
    s->stage = CODE_LENGTHS;
    return make_code(&s->distances, s->lengths, 19) ? Z_OK : Z_DATA_ERROR;
}

/* A length of a code, or, from 16 on, repetitions of one; such a symbol may
** wait for its extra bits. */
static int read_lengths(la_flate *z, inflater_state *s)
{
    int all = s->nlit + s->ndist;
    while (s->at < all) {
        int symbol = s->waiting >= 0 ? s->waiting
                                     : symbol_of(z, s, &s->distances);
        if (symbol == AGAIN) return Z_BUF_ERROR;
        if (symbol < 0) return Z_DATA_ERROR;
        if (symbol < 16) {
            s->lengths[s->at++] = (uint8_t)symbol;
            continue;
        }
        int extra = symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        s->waiting = symbol;
        if (!need(z, s, extra)) return Z_BUF_ERROR;
        int times = (int)take(s, extra) + (symbol == 18 ? 11 : 3);
        s->waiting = -1;
        if (s->at + times > all || (symbol == 16 && s->at == 0))
            return Z_DATA_ERROR;
        uint8_t v = symbol == 16 ? s->lengths[s->at - 1] : 0;
        while (times--) s->lengths[s->at++] = v;
    }
    s->stage = SYMBOL;
    return s->lengths[256]
        && make_code(&s->literals, s->lengths, s->nlit)
        && make_code(&s->distances, s->lengths + s->nlit, s->ndist)
        ? Z_OK : Z_DATA_ERROR;
}

/* A byte of output goes to the window as well: matches reach 32 KB back. */
static void put(la_flate *z, inflater_state *s, unsigned char byte)
{
    *z->next_out++ = byte;
    z->avail_out--;
    s->window[s->total++ % WINDOW] = byte;
}

/* Bytes as they are; the first ones may be in 'hold'. */
static int copy_stored(la_flate *z, inflater_state *s)
{
    for (; s->length; s->length--) {
        if (!z->avail_out || !need(z, s, 8)) return Z_BUF_ERROR;
        put(z, s, (unsigned char)take(s, 8));
    }
    s->stage = BLOCK;
    return Z_OK;
}

/* The extra bits of symbol 257 + k of a length, 4 in a row having as many; the
** first value of each follows. The same for distances by twos. */
static int extra_bits(int k, int step)
{
    return k < 2 * step ? 0 : k / step - 1;
}
static unsigned base_of(int k, int step)
{
    int extra = extra_bits(k, step);
    return k < 2 * step ? (unsigned)k : (unsigned)(step + k % step) << extra;
}

/* Literals, up to the next match or the block's end. A symbol waits for space
** or for its extra bits; the end of a block needs neither. */
static int read_symbols(la_flate *z, inflater_state *s)
{
    for (;;) {
        int symbol = s->waiting >= 0 ? s->waiting
                                     : symbol_of(z, s, &s->literals);
        if (symbol == AGAIN) return Z_BUF_ERROR;
        if (symbol < 0 || symbol > 285) return Z_DATA_ERROR;
        s->waiting = symbol;
        if (symbol < 256) {
            if (!z->avail_out) return Z_BUF_ERROR;
            put(z, s, (unsigned char)symbol);
        } else if (symbol == 256) {
            s->stage = BLOCK;
        } else {
            int k = symbol - 257, extra = k == 28 ? 0 : extra_bits(k, 4);
            if (!need(z, s, extra)) return Z_BUF_ERROR;
            s->length = k == 28 ? 258 : 3 + base_of(k, 4) + take(s, extra);
            s->stage = DISTANCE;
        }
        s->waiting = -1;
        if (symbol >= 256) return Z_OK;
    }
}

/* Reads where a match begins; nothing is in front of the first byte. */
static int read_distance(la_flate *z, inflater_state *s)
{
    int k = s->waiting >= 0 ? s->waiting : symbol_of(z, s, &s->distances);
    if (k == AGAIN) return Z_BUF_ERROR;
    if (k < 0 || k >= LENGTHS) return Z_DATA_ERROR;
    s->waiting = k;
    int extra = extra_bits(k, 2);
    if (!need(z, s, extra)) return Z_BUF_ERROR;
    s->waiting = -1;
    s->distance = 1 + base_of(k, 2) + take(s, extra);
    s->stage = MATCH;
    return s->distance <= s->total && s->distance <= WINDOW ? Z_OK
                                                            : Z_DATA_ERROR;
}

/* May reach into what it writes: a run is a match of distance 1. */
static int copy_match(la_flate *z, inflater_state *s)
{
    for (; s->length; s->length--) {
        if (!z->avail_out) return Z_BUF_ERROR;
        put(z, s, s->window[(s->total - s->distance) % WINDOW]);
    }
    s->stage = SYMBOL;
    return Z_OK;
}

/* Checksums, of all output; gzip has its length too. */
static int read_tail(la_flate *z, inflater_state *s)
{
    if (s->wrap && !need(z, s, 32)) return Z_BUF_ERROR;
    if (s->wrap == 1) {
        uint32_t v = 0;
        for (int k = 0; k < 4; k++) v = v << 8 | take(s, 8);
        if (v != s->check) return Z_DATA_ERROR;
    } else if (s->wrap == 2) {
        if (s->at >= 0) {
            uint32_t low = take(s, 16);
            if ((low | (uint32_t)take(s, 16) << 16) != s->check)
                return Z_DATA_ERROR;
            s->at = -1;
        }
        if (!need(z, s, 32)) return Z_BUF_ERROR;
        uint32_t low = take(s, 16);
        if ((low | (uint32_t)take(s, 16) << 16) != (uint32_t)s->total)
            return Z_DATA_ERROR;
    }
    s->stage = DONE;
    return Z_STREAM_END;
}

/* The next thing to do. */
static int step(la_flate *z, inflater_state *s)
{
    switch (s->stage) {
    case HEAD: return read_head(z, s);
    case NAME: return skip_name(z, s);
    case BLOCK: return read_block(z, s);
    case STORED: return read_stored(z, s);
    case COPY_STORED: return copy_stored(z, s);
    case TABLE: return read_table(z, s);
    case CODE_LENGTHS: return read_lengths(z, s);
    case SYMBOL: return read_symbols(z, s);
    case DISTANCE: return read_distance(z, s);
    case MATCH: return copy_match(z, s);
    case TAIL: return read_tail(z, s);
    case DONE: return Z_STREAM_END;
    default: return Z_DATA_ERROR;
    }
}

/* ---- checksums ---- */

/* CRC by half bytes: the remainders of 0 to 15. */
uint32_t la_crc32(uint32_t crc, const unsigned char *bytes, size_t n)
{
    static const uint32_t part[16] = {
        0, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    crc = ~crc;
    for (size_t k = 0; k < n; k++) {
        crc ^= bytes[k];
        crc = crc >> 4 ^ part[crc & 15];
        crc = crc >> 4 ^ part[crc & 15];
    }
    return ~crc;
}

/* RFC 1950; 5,552 bytes is what 32 bits hold without a remainder. */
uint32_t la_adler32(uint32_t sum, const unsigned char *bytes, size_t n)
{
    enum { PRIME = 65521, PIECE = 5552 };
    uint32_t a = sum & 0xffff, b = sum >> 16;
    while (n) {
        size_t piece = n < PIECE ? n : PIECE;
        for (size_t k = 0; k < piece; k++) b += a += bytes[k];
        a %= PRIME;
        b %= PRIME;
        bytes += piece;
        n -= piece;
    }
    return b << 16 | a;
}

/* ---- streams ---- */

/* The memory is that of the whole state, asked once. */
int la_inflate_open(la_flate *z, int bits)
{
    inflater_state *s = z->zalloc(z->opaque, 1, sizeof *s);
    if (!s) return Z_MEM_ERROR;
    memset(s, 0, sizeof *s);
    s->wrap = bits < 0 ? 0 : bits > 15 ? 2 : 1;
    s->waiting = -1;
    z->state = s;
    return Z_OK;
}

/* The bytes from 'from' on were written: into the checksum. */
static const unsigned char *note(la_flate *z, inflater_state *s,
                                 const unsigned char *from)
{
    size_t n = (size_t)(z->next_out - from);
    if (s->wrap == 1 && n) s->check = la_adler32(s->check, from, n);
    if (s->wrap == 2 && n) s->check = la_crc32(s->check, from, n);
    return z->next_out;
}

/* Until input or space ends. Z_BUF_ERROR: there was nothing to do. */
int la_inflate(la_flate *z, int flush)
{
    inflater_state *s = z->state;
    const unsigned char *from = z->next_out, *in = z->next_in;
    unsigned space = z->avail_out;
    int code;
    do {
        if (s->stage == TAIL) from = note(z, s, from);
        code = step(z, s);
    } while (code == Z_OK);
    if (s->stage != TAIL && s->stage != DONE) note(z, s, from);
    if (code == Z_DATA_ERROR) s->stage = BROKEN;
    bool moved = z->next_in != in || z->avail_out != space;
    return code == Z_BUF_ERROR && moved && flush != Z_FINISH ? Z_OK : code;
}

/* May run twice, and after an error. What was read too far, in bits that wait,
** is lost: no stream here has another one behind it. */
int la_inflate_close(la_flate *z)
{
    if (z->state) z->zfree(z->opaque, z->state);
    z->state = NULL;
    return Z_OK;
}
