/* Tables of roots of unity; see roots.h. */
#include "op/fft/roots.h"

#include <math.h>

#include "base/memory.h"
#include "base/size.h"

static la_unit_root angle(int64_t x, int64_t n)
{
    long double a = 0.78539816339744830961566L * (long double)x
                  / (long double)n;
    return (la_unit_root){cosl(a), sinl(a)};
}

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

/* Of an angle up to an eighth of the circle: x <= n. */
static la_unit_root first_octant(const la_roots *r, int64_t x)
{
    la_unit_root a = r->table[x & (r->block - 1)];
    la_unit_root b = r->table[r->block + x / r->block];
    if (x < r->block) return a;
    return (la_unit_root){a.c * b.c - a.s * b.s, a.s * b.c + a.c * b.s};
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
    if (left) a.c = -a.c;
    if (!low) a.s = -a.s;
    return a;
}

void la_roots_put(const la_roots *r, int64_t k, la_dtype real, void *re,
                  void *im)
{
    la_unit_root a = root(r, k);
    if (real == LA_FLOAT32) {
        *(float *)re = (float)a.c;
        *(float *)im = (float)a.s;
    } else {
        *(double *)re = (double)a.c;
        *(double *)im = (double)a.s;
    }
}
