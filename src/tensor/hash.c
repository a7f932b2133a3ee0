/* XXH64 after the specification of the xxHash project (XXH64 algorithm
** description, version 0.2), for input that comes in parts. */
#include "tensor/hash.h"

#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"

static const uint64_t P1 = UINT64_C(0x9e3779b185ebca87);
static const uint64_t P2 = UINT64_C(0xc2b2ae3d27d4eb4f);
static const uint64_t P3 = UINT64_C(0x165667b19e3779f9);
static const uint64_t P4 = UINT64_C(0x85ebca77c2b2ae63);
static const uint64_t P5 = UINT64_C(0x27d4eb2f165667c5);

enum { STRIPE = 32, LANES = 4 };

typedef struct hasher {
    uint64_t lane[LANES], total;
    unsigned char rest[STRIPE];     /* total % STRIPE bytes of a stripe */
} hasher;

static uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

/* n little-endian bytes */
static uint64_t hash_word(const unsigned char *p, int n)
{
    uint64_t x = 0;
    for (int i = 0; i < n; i++) x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static uint64_t hash_mix(uint64_t lane, uint64_t x)
{
    return rotate(lane + x * P2, 31) * P1;
}

static void hash_begin(hasher *h)
{
    *h = (hasher){.lane = {P1 + P2, P2, 0, 0 - P1}};
}

static void stripe(hasher *h, const unsigned char *p)
{
    for (int k = 0; k < LANES; k++)
        h->lane[k] = hash_mix(h->lane[k], hash_word(p + 8 * k, 8));
}

static void hash_add(hasher *h, const void *data, size_t n)
{
    const unsigned char *p = data, *end = p + n;
    size_t used = h->total % STRIPE;
    h->total += n;
    if (used > 0) {
        size_t part = n < STRIPE - used ? n : STRIPE - used;
        memcpy(h->rest + used, p, part);
        p += part;
        if (used + part < STRIPE) return;
        stripe(h, h->rest);
    }
    for (; end - p >= STRIPE; p += STRIPE) stripe(h, p);
    if (p < end) memcpy(h->rest, p, (size_t)(end - p));
}

static uint64_t hash_end(const hasher *h)
{
    const unsigned char *p = h->rest, *last = p + h->total % STRIPE;
    uint64_t x = P5;
    if (h->total >= STRIPE) {
        x = rotate(h->lane[0], 1) + rotate(h->lane[1], 7)
          + rotate(h->lane[2], 12) + rotate(h->lane[3], 18);
        for (int k = 0; k < LANES; k++)
            x = (x ^ hash_mix(0, h->lane[k])) * P1 + P4;
    }
    x += h->total;
    for (; last - p >= 8; p += 8)
        x = rotate(x ^ hash_mix(0, hash_word(p, 8)), 27) * P1 + P4;
    for (; last - p >= 4; p += 4)
        x = rotate(x ^ hash_word(p, 4) * P1, 23) * P2 + P3;
    for (; p < last; p++) x = rotate(x ^ *p * P5, 11) * P1;
    x = (x ^ x >> 33) * P2;
    x = (x ^ x >> 29) * P3;
    return x ^ x >> 32;
}

static void add_int64(hasher *h, int64_t v)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)v >> 8 * i);
    hash_add(h, bytes, sizeof(bytes));
}

/* One number of 'size' bytes at 'p' after another in little-endian order; a
** complex element is two. */
static void add_numbers(hasher *h, const char *p, int64_t n, int size)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    hash_add(h, p, (size_t)n * (size_t)size);
#else
    for (int64_t i = 0; i < n; i++, p += size)
        for (int b = size - 1; b >= 0; b--) hash_add(h, p + b, 1);
#endif
}

/* Truth values as 0 and 1, whatever bytes a host has for true. */
static void add_truths(hasher *h, const char *p, int64_t n)
{
    char truth[1024];
    for (int64_t m; n > 0; n -= m, p += m) {
        m = n < (int64_t)sizeof(truth) ? n : (int64_t)sizeof(truth);
        for (int64_t i = 0; i < m; i++) truth[i] = p[i] != 0;
        hash_add(h, truth, (size_t)m);
    }
}

la_status la_tensor_hash(const la_tensor *t, uint64_t *out)
{
    hasher h;
    const char *name = la_dtype_name((la_dtype)t->dtype);
    bool pairs = la_is_complex((la_dtype)t->dtype);
    int size = (int)la_itemsize(t) / (pairs ? 2 : 1);
    int64_t n = t->numel * (pairs ? 2 : 1), i = 0;
    hash_begin(&h);
    hash_add(&h, name, strlen(name) + 1);
    add_int64(&h, t->ndim);
    for (int d = 0; d < t->ndim; d++) add_int64(&h, la_sizes(t)[d]);
    for (int64_t to; (to = la_poll_piece(i, n)) > i; i = to) {
        const char *at = la_data(t) + i * size;
        if (t->dtype == LA_BOOL) add_truths(&h, at, to - i);
        else add_numbers(&h, at, to - i, size);
    }
    *out = hash_end(&h);
    return i < n ? la_poll() : LA_OK;
}
