/* Packing and unpacking of our own (tools/embed/flate) against zlib: what one
** writes the other reads, in pieces of any size; on damaged streams both say
** the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/embed/flate/inflate.c"
#include "tools/embed/flate/deflate.c"
/* zlib's own names from here on */
#undef inflateInit
#undef inflateInit2
#undef inflate
#undef inflateEnd
#undef deflateInit
#undef deflate
#undef deflateEnd
#undef crc32
#undef z_const
#define z_stream zlib_stream
#include <zlib.h>

static uint64_t seed = 88172645463325252u;

/* xorshift64 (Marsaglia, 2003) */
static unsigned next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 16);
}

static void *get(void *unused, unsigned items, unsigned size)
{
    return malloc((size_t)items * size);
}
static void give_back(void *unused, void *block) { free(block); }

static unsigned least(size_t a, size_t b)
{
    return (unsigned)(a < b ? a : b);
}

/* In pieces of at most 'in' and 'out' bytes; the last code, and how many bytes
** were written. */
static int unpack(const unsigned char *from, size_t n, unsigned char *to,
                  size_t space, int bits, unsigned in, unsigned out,
                  size_t *done)
{
    la_flate z = {.zalloc = get, .zfree = give_back};
    size_t read = 0;
    *done = 0;
    assert_int_equal(la_inflate_open(&z, bits), 0);
    for (;;) {
        unsigned a = least(n - read, in), b = least(space - *done, out);
        z.next_in = from + read;
        z.avail_in = a;
        z.next_out = to + *done;
        z.avail_out = b;
        int code = la_inflate(&z, 0);
        read += a - z.avail_in;
        *done += b - z.avail_out;
        if (code == Z_OK || (code == Z_BUF_ERROR && read < n && *done < space))
            continue;
        la_inflate_close(&z);
        return code;
    }
}

static size_t pack(const unsigned char *from, size_t n, unsigned char *to,
                   size_t space, unsigned in, unsigned out)
{
    la_flate z = {.zalloc = get, .zfree = give_back};
    size_t read = 0, done = 0;
    int code;
    assert_int_equal(la_deflate_open(&z), 0);
    do {
        unsigned a = least(n - read, in), b = least(space - done, out);
        z.next_in = from + read;
        z.avail_in = a;
        z.next_out = to + done;
        z.avail_out = b;
        code = la_deflate(&z, read + a == n ? Z_FINISH : Z_NO_FLUSH);
        assert_true(code == Z_OK || code == Z_STREAM_END);
        read += a - z.avail_in;
        done += b - z.avail_out;
    } while (code != Z_STREAM_END);
    la_deflate_close(&z);
    return done;
}

/* Noise, long runs, repetitions from nearby, a ramp. */
static void fill(unsigned char *a, size_t n)
{
    int kind = (int)(next_random() % 4);
    for (size_t i = 0; i < n; i++) {
        unsigned v = next_random();
        a[i] = kind == 0 ? (unsigned char)v
            : kind == 1 ? (unsigned char)(v % 10 ? 'a' : v >> 8)
            : kind == 2 && i > 300 && v % 50 ? a[i - 1 - (v >> 8) % 300]
            : kind == 2 ? (unsigned char)v : (unsigned char)(i / 7);
    }
}

enum { CASES = 150, SLACK = 1000 };
static const int WRAPS[] = {15, 31, -15};

/* By zlib with settings of its own; the bytes. */
static size_t pack_by_zlib(const unsigned char *from, size_t n,
                           unsigned char *to, size_t space, int bits)
{
    z_stream z = {0};
    int level = (int)(next_random() % 10), way = (int)(next_random() % 5);
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, bits,
                                  1 + (int)(next_random() % 9), way), Z_OK);
    z.next_in = (z_const Bytef *)from;
    z.avail_in = (uInt)n;
    z.next_out = to;
    z.avail_out = (uInt)space;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return space - z.avail_out;
}

static int unpack_by_zlib(const unsigned char *from, size_t n,
                          unsigned char *to, size_t space, int bits,
                          size_t *done)
{
    z_stream z = {0};
    assert_int_equal(inflateInit2(&z, bits), Z_OK);
    z.next_in = (z_const Bytef *)from;
    z.avail_in = (uInt)n;
    z.next_out = to;
    z.avail_out = (uInt)space;
    int code = inflate(&z, Z_FINISH);
    *done = space - z.avail_out;
    inflateEnd(&z);
    return code;
}

/* One bit is changed, but not in the flags of gzip's header, of which ours
** takes fewer. */
static void check_damaged(unsigned char *packed, size_t m, size_t n, int bits)
{
    unsigned char *ours = malloc(n + SLACK), *theirs = malloc(n + SLACK);
    size_t a, b, at = next_random() % m, done = n + SLACK;
    if (bits == 31 && at == 3) at = 0;
    packed[at] ^= (unsigned char)(1u << next_random() % 8);
    int code = unpack(packed, m, ours, done, bits, 1 + next_random() % 4000,
                      1 + next_random() % 4000, &a);
    int other = unpack_by_zlib(packed, m, theirs, done, bits, &b);
    assert_int_equal(code == Z_STREAM_END, other == Z_STREAM_END);
    if (code == Z_STREAM_END) {
        assert_int_equal(a, b);
        assert_memory_equal(ours, theirs, a);
    }
    free(ours);
    free(theirs);
}

static void reads_what_zlib_writes(void **state)
{
    for (int k = 0; k < CASES; k++) {
        size_t n = next_random() % (k % 10 == 0 ? 200000 : 3000), done;
        size_t space = 2 * n + SLACK;
        unsigned char *a = malloc(n + 1), *b = malloc(space);
        unsigned char *c = malloc(n + 1);
        fill(a, n);
        for (int w = 0; w < 3; w++) {
            size_t m = pack_by_zlib(a, n, b, space, WRAPS[w]);
            assert_int_equal(unpack(b, m, c, n, WRAPS[w],
                                    1 + next_random() % 4000,
                                    1 + next_random() % 4000, &done),
                             Z_STREAM_END);
            assert_int_equal(done, n);
            assert_memory_equal(a, c, n);
            check_damaged(b, m, n, WRAPS[w]);
        }
        free(a);
        free(b);
        free(c);
    }
}

static void writes_what_zlib_reads(void **state)
{
    for (int k = 0; k < CASES; k++) {
        size_t n = next_random() % (k % 10 == 0 ? 200000 : 3000), done;
        size_t space = 2 * n + SLACK;
        unsigned char *a = malloc(n + 1), *b = malloc(space);
        unsigned char *c = malloc(n + 1);
        fill(a, n);
        size_t m = pack(a, n, b, space, 1 + next_random() % 5000,
                        1 + next_random() % 5000);
        assert_int_equal(unpack_by_zlib(b, m, c, n, 15, &done), Z_STREAM_END);
        assert_int_equal(done, n);
        assert_memory_equal(a, c, n);
        free(a);
        free(b);
        free(c);
    }
}

static void sums_are_those_of_zlib(void **state)
{
    static unsigned char a[100003];
    fill(a, sizeof a);
    assert_int_equal(la_crc32(7, a, sizeof a), crc32(7, a, sizeof a));
    assert_int_equal(la_adler32(1, a, sizeof a), adler32(1, a, sizeof a));
    memset(a, 255, sizeof a);
    assert_int_equal(la_adler32(1, a, sizeof a), adler32(1, a, sizeof a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_zlib_writes),
        cmocka_unit_test(writes_what_zlib_reads),
        cmocka_unit_test(sums_are_those_of_zlib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
