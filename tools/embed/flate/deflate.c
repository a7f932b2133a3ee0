/*
** Packing deflate (RFC 1950, 1951) where there is no zlib: blocks with the
** fixed codes, matches found by the last occurrence of their first four bytes.
** Output is a third to a half larger than zlib's.
*/
#include "tools/embed/flate/flate.h"

#include <stdbool.h>
#include <string.h>

enum {
    SPAN = 1 << 15, HASH_BITS = 13, NONE = -1,
    PENDING = SPAN + SPAN / 4 + 64    /* nine bits a byte at most */
};

typedef struct deflater_state {
    unsigned char bytes[2 * SPAN];     /* the block before, and this one */
    int before, n;                      /* bytes of each */
    int32_t last[1 << HASH_BITS];       /* where in 'bytes'; NONE */
    unsigned char pending[PENDING];
    size_t ready, given;                /* bytes of 'pending' */
    uint64_t hold;
    int bits;
    uint32_t check;
    bool ended;
} deflater_state;

/* n bits, the lowest first. */
static void put_bits(deflater_state *s, unsigned v, int n)
{
    s->hold |= (uint64_t)v << s->bits;
    s->bits += n;
    while (s->bits >= 8) {
        s->pending[s->ready++] = (unsigned char)s->hold;
        s->hold >>= 8;
        s->bits -= 8;
    }
}

/* Codes of prefixes stand with their first bit lowest. */
static void put_code(deflater_state *s, unsigned code, int n)
{
    unsigned reversed = 0;
    for (int k = 0; k < n; k++) reversed |= (code >> k & 1) << (n - 1 - k);
    put_bits(s, reversed, n);
}

/* RFC 1951, 3.2.6 */
static void put_symbol(deflater_state *s, unsigned symbol)
{
    if (symbol < 144) put_code(s, 0x30 + symbol, 8);
    else if (symbol < 256) put_code(s, 0x190 + symbol - 144, 9);
    else if (symbol < 280) put_code(s, symbol - 256, 7);
    else put_code(s, 0xc0 + symbol - 280, 8);
}

/* A value from 0 on as a number of a range and its bits: 'step' ranges of each
** length. */
static unsigned range_of(unsigned v, unsigned step, int *extra, unsigned *rest)
{
    *extra = 0;
    *rest = 0;
    if (v < 2 * step) return v;
    while (v >> *extra >= 2 * step) ++*extra;
    *rest = v & ((1u << *extra) - 1);
    return (unsigned)(*extra + 1) * step + (v >> *extra) - step;
}

/* Length 3 to 258, distance 1 to 32,768. */
static void put_match(deflater_state *s, int length, int distance)
{
    int extra = 0;
    unsigned rest = 0;
    unsigned k = length == 258 ? 28
        : range_of((unsigned)length - 3, 4, &extra, &rest);
    put_symbol(s, 257 + k);
    put_bits(s, rest, extra);
    k = range_of((unsigned)distance - 1, 2, &extra, &rest);
    put_code(s, k, 5);
    put_bits(s, rest, extra);
}

/* Hash of four bytes (Knuth's multiplier); equal hashes need not begin a
** match. */
static unsigned hash_of(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v * 2654435761u >> (32 - HASH_BITS);
}

/* The bytes of this block as a block of the fixed codes. */
static void put_block(deflater_state *s, bool last)
{
    const unsigned char *b = s->bytes;
    int end = s->before + s->n;
    put_bits(s, last, 1);
    put_bits(s, 1, 2);
    for (int i = s->before; i < end;) {
        int length = 0, at = NONE;
        if (end - i >= 4) {
            unsigned h = hash_of(b + i);
            at = s->last[h];
            s->last[h] = i;
        }
        if (at != NONE && i - at <= SPAN)
            while (length < 258 && i + length < end
                   && b[at + length] == b[i + length]) length++;
        if (length < 4) {
            put_symbol(s, b[i++]);
            continue;
        }
        put_match(s, length, i - at);
        for (int k = 1; k < length && end - i - k >= 4; k++)
            s->last[hash_of(b + i + k)] = i + k;
        i += length;
    }
    put_symbol(s, 256);
}

/* This block becomes the one before; where strings were moves with it. */
static void next_block(deflater_state *s)
{
    int drop = s->before;
    memmove(s->bytes, s->bytes + drop, (size_t)s->n);
    s->before = s->n;
    s->n = 0;
    for (int k = 0; k < 1 << HASH_BITS; k++)
        s->last[k] = s->last[k] < drop ? NONE : s->last[k] - drop;
}

/* The header says: a window of 32 KB, no dictionary. */
int la_deflate_open(la_flate *z)
{
    deflater_state *s = z->zalloc(z->opaque, 1, sizeof *s);
    if (!s) return Z_MEM_ERROR;
    memset(s, 0, sizeof *s);
    memset(s->last, 0xff, sizeof s->last);
    put_bits(s, 0x78, 8);               /* 32 KB, checked by 31 */
    put_bits(s, 0x01, 8);
    s->check = 1;
    z->state = s;
    return Z_OK;
}

/* Gives the bytes that are ready, as far as there is space. */
static void give(la_flate *z, deflater_state *s)
{
    size_t n = s->ready - s->given;
    if (n > z->avail_out) n = z->avail_out;
    if (n) memcpy(z->next_out, s->pending + s->given, n);
    z->next_out += n;
    z->avail_out -= (unsigned)n;
    s->given += n;
    if (s->given == s->ready) s->given = s->ready = 0;
}

/* The last block, and the checksum behind its last byte: the highest byte
** first, unlike all else. */
static void put_end(deflater_state *s)
{
    put_block(s, true);
    put_bits(s, 0, -s->bits & 7);
    for (int k = 24; k >= 0; k -= 8) put_bits(s, s->check >> k & 255, 8);
    s->ended = true;
}

/* Takes input up to a whole block, which is written when it is full or the last
** one; more input waits until its bytes were given. */
int la_deflate(la_flate *z, int flush)
{
    deflater_state *s = z->state;
    for (;;) {
        give(z, s);
        if (s->ready) return Z_OK;              /* no space for more */
        if (s->ended) return Z_STREAM_END;
        unsigned n = (unsigned)(SPAN - s->n);
        if (n > z->avail_in) n = z->avail_in;
        if (n) {
            memcpy(s->bytes + s->before + s->n, z->next_in, n);
            s->check = la_adler32(s->check, z->next_in, n);
        }
        s->n += (int)n;
        z->next_in += n;
        z->avail_in -= n;
        if (!z->avail_in && flush == Z_FINISH) {
            put_end(s);
        } else if (s->n == SPAN) {
            put_block(s, false);
            next_block(s);
        } else {
            return Z_OK;
        }
    }
}

/* Closes as la_inflate_close does; bytes not given are lost. A stream that did
** not end has no checksum, so that nobody takes it for a whole one. */
int la_deflate_close(la_flate *z)
{
    if (z->state) z->zfree(z->opaque, z->state);
    z->state = NULL;
    return Z_OK;
}
