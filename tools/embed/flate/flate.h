/*
** zlib's functions of our own for programs of one file: only what src/io and
** modules call, slower, and larger output. An ordinary build takes zlib.
*/
#ifndef TOOLS_EMBED_FLATE_FLATE_H
#define TOOLS_EMBED_FLATE_FLATE_H

#include <stddef.h>
#include <stdint.h>

/* A stream: bytes that wait, memory that is free, both moved on by the calls;
** the functions for memory are asked once, by Init. */
typedef struct la_flate {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned char *next_out;
    unsigned avail_out;
    void *(*zalloc)(void *opaque, unsigned items, unsigned size);
    void (*zfree)(void *opaque, void *block);
    void *opaque, *state;
} la_flate;

/* zlib's functions. 'bits': 15 for a zlib header, 31 for gzip's, -15 for
** none. */
int la_inflate_open(la_flate *, int bits);
int la_inflate(la_flate *, int flush);
int la_inflate_close(la_flate *);
int la_deflate_open(la_flate *);
int la_deflate(la_flate *, int flush);
int la_deflate_close(la_flate *);
uint32_t la_crc32(uint32_t crc, const unsigned char *bytes, size_t n);
uint32_t la_adler32(uint32_t sum, const unsigned char *bytes, size_t n);

typedef la_flate z_stream;
typedef unsigned char Bytef;
typedef unsigned uInt;
#define z_const const
enum {
    Z_OK = 0, Z_STREAM_END = 1, Z_DATA_ERROR = -3, Z_MEM_ERROR = -4,
    Z_BUF_ERROR = -5, Z_NO_FLUSH = 0, Z_FINISH = 4, MAX_WBITS = 15,
    Z_DEFAULT_COMPRESSION = -1
};
#define inflateInit(s) la_inflate_open(s, MAX_WBITS)
#define inflateInit2(s, bits) la_inflate_open(s, bits)
#define inflate(s, flush) la_inflate(s, flush)
#define inflateEnd(s) la_inflate_close(s)
#define deflateInit(s, level) la_deflate_open(s)
#define deflate(s, flush) la_deflate(s, flush)
#define deflateEnd(s) la_deflate_close(s)
#define crc32(crc, bytes, n) la_crc32(crc, bytes, n)

#endif
