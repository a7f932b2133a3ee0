/* Tables of roots of unity; see roots.h. */
#include "op/fft/roots.h"

#include "base/runtime/memory.h"
#include "base/size.h"

/* first - first z / (k (k + 1)) + ..., k two more each time: the rows of sine
** (first = y, k = 2) and cosine (1, 1) for z = y^2, to 2^-100. */
static la_pair alternating(la_pair first, la_pair z, int k)
{
    la_pair total = first, term = first;
    for (; fabs(term.hi) > 0x1p-106; k += 2) {
        la_pair below = {(double)k * (k + 1), 0};
        term = pair_neg(pair_div(pair_mul(term, z), below));
        total = pair_add(total, term);
    }
    return total;
}

/* cos and sin of 2 pi x / (8 n), for x <= n. */
/* Pairs of doubles carry 106 bits, so that products of a step and a leap still
** round to the nearest double. */
static la_unit_root angle(int64_t x, int64_t n)
{
    static const la_pair one = {1, 0};
    la_pair part = pair_div((la_pair){(double)x, 0}, (la_pair){(double)n, 0});
    la_pair y = pair_scale(pair_mul(part, la_half_pi), 0.5);
    la_pair z = pair_mul(y, y);
    return (la_unit_root){alternating(one, z, 1), alternating(y, z, 2)};
}

/* Two tables of about the root of n entries: a root of unity is one product of
** pairs, and n = 2^30 needs no gigabytes. */
la_status la_roots_open(la_roots *r, int64_t n)
{
    int64_t block = 1, leaps;
    while (block * block < n) block *= 2;
    leaps = n / block + 1;
    *r = (la_roots){n, block, NULL,
                    (size_t)(block + leaps) * sizeof(la_unit_root)};
    r->table = la_mem_alloc(r->bytes);
    if (!r->table) return LA_ENOMEM;
    for (int64_t x = 0; x < block; x++) r->table[x] = angle(x, n);
    for (int64_t x = 0; x < leaps; x++)
        r->table[block + x] = angle(x * block, n);
    return LA_OK;
}

void la_roots_close(la_roots *r)
{
    la_mem_free(r->table, r->bytes);
}

/* Root at an angle up to an eighth of the circle: x <= n. */
static la_unit_root first_octant(const la_roots *r, int64_t x)
{
    la_unit_root a = r->table[x & (r->block - 1)];
    la_unit_root b = r->table[r->block + x / r->block];
    if (x < r->block) return a;
    return (la_unit_root){pair_add(pair_mul(a.c, b.c),
                                   pair_neg(pair_mul(a.s, b.s))),
                          pair_add(pair_mul(a.s, b.c), pair_mul(a.c, b.s))};
}

/* Octants are reflected, so that what is 0, 1 or a root of 1/2 is exact, and
** equal values have equal bits. */
static la_unit_root root(const la_roots *r, int64_t k)
{
    int64_t n = r->n, x = 8 * k;
    bool low = x > 4 * n, left;
    if (low) x = 8 * n - x;
    left = x > 2 * n;
    if (left) x = 4 * n - x;
    la_unit_root a = first_octant(r, x > n ? 2 * n - x : x);
    if (x > n) a = (la_unit_root){a.s, a.c};
    if (left) a.c = pair_neg(a.c);
    if (!low) a.s = pair_neg(a.s);
    return a;
}

void la_roots_put(const la_roots *r, int64_t k, la_dtype real, void *re,
                  void *im)
{
    la_unit_root a = root(r, k);
    if (real == LA_FLOAT32) {
        *(float *)re = (float)a.c.hi;
        *(float *)im = (float)a.s.hi;
    } else {
        *(double *)re = a.c.hi;
        *(double *)im = a.s.hi;
    }
}
