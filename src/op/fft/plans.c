/* Plans and their cache; see fft_plan.h. */
#include "op/fft/plans.h"

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "base/runtime/thread_pool.h"
#include "base/runtime/runtime.h"
#include "base/os/thread.h"
#include "base/scratch.h"
#include "op/fft/roots.h"
#include "op/fft/work.h"

/* Longer transforms are split. */
#define FLAT_MOST ((int64_t)1 << 15)

/* ---- factors ---- */

/* The radices of n in order of passes: large ones first, as the second pass
** has as many lanes; primes without a kernel of their own last. Returns what
** is left over. */
static int64_t find_factors(int64_t n, int *radix, int *count)
{
    static const int small[] = {7, 5, 3};
    int twos = 0, k = 0;
    if (n == 6 || n == 9 || n == 10 || n == 12) {    /* one pass by itself */
        radix[0] = (int)n;
        *count = 1;
        return 1;
    }
    for (; n % 2 == 0; n /= 2) twos++;
    while (twos > 4 && twos != 5 && twos != 6 && twos != 9) {
        radix[k++] = 16;
        twos -= 4;
    }
    if (twos == 4) {
        radix[k++] = 16;
        twos = 0;
    }
    for (; twos > 4 || twos == 3; twos -= 3) radix[k++] = 8;
    for (int i = 0; i < 3; i++) {
        if (small[i] == 3 && twos == 2) radix[k++] = 4;
        for (; n % small[i] == 0; n /= small[i]) radix[k++] = small[i];
    }
    if (twos == 1) radix[k++] = 2;
    for (int p = 11; p < LA_FFT_RADIX && p <= n; p += 2)
        for (; n % p == 0; n /= p) radix[k++] = p;
    *count = k;
    return n;
}

/* Cost of n elements, in arbitrary units; 0: n has too large a prime. */
static double cost_of(int64_t n)
{
    int radix[64], count;
    double cost = 0;
    if (find_factors(n, radix, &count) > 1) return 0;
    for (int k = 0; k < count; k++)
        cost += radix[k] > 16 || radix[k] == 11 || radix[k] == 13
            ? 1 + 0.35 * radix[k] : 1.5;
    return cost * (double)n;
}

/* The cheapest length from 'least' on with factors 2, 3, 5. */
static int64_t good_length(int64_t least)
{
    int64_t best = 0;
    double lowest = 0;
    for (int64_t a = 1; a < 2 * least; a *= 5)
        for (int64_t b = a; b < 2 * least; b *= 3) {
            int64_t c = b;
            while (c < least) c *= 2;
            double cost = cost_of(c);
            if (c % 2 == 0 && (!best || cost < lowest)) {
                best = c;
                lowest = cost;
            }
        }
    return best;
}

/* The largest divisor up to the root of n. */
static int64_t middle_divisor(int64_t n, const int *radix, int count)
{
    int64_t best = 1;
    /* All products of factors: few, as equal ones are. */
    LA_SCRATCH(int64_t, list, 4096);
    int have = 1;
    list[0] = 1;
    for (int k = 0; k < count; k++)
        for (int i = 0, end = have; i < end && have < 4096; i++) {
            int64_t d = list[i] * radix[k];
            bool old = d > n / d;
            for (int j = 0; !old && j < have; j++) old = list[j] == d;
            if (!old) list[have++] = d;
        }
    for (int i = 0; i < have; i++) if (list[i] > best) best = list[i];
    return best;
}

/* The largest one with many elements in each part, else the smallest with some:
** each part is work of its own. */
int la_fft_odd_radix(int64_t n)
{
    int large = 0, small = 0;
    if (n % 2 == 0) return 0;
    for (int p = 3; p < LA_FFT_RADIX && p * p <= n / 4; p += 2) {
        if (n % p) continue;
        if (!small) small = p;
        if (n / p >= 16 * p && p < 32) large = p;
    }
    return large ? large : small;
}

/* ---- tables ---- */

static la_status take_memory(la_fft_plan *p, int64_t reals)
{
    p->bytes = (size_t)(reals + 64) * la_dtype_size(p->real);
    p->memory = la_mem_zalloc(p->bytes);
    return p->memory ? LA_OK : LA_ENOMEM;
}

/* w^k for k = first, first + step, ... (mod n), n of them. */
static void put_roots(const la_fft_plan *p, const la_roots *r, int64_t step,
                      int64_t count, char *re, char *im, int64_t stride)
{
    int64_t size = (int64_t)la_dtype_size(p->real) * stride, k = 0;
    LA_EACH_POLLED(i, 0, count) {
        la_roots_put(r, k, p->real, re + i * size, im + i * size);
        k += step;
        if (k >= r->n) k -= r->n;
    }
}

/* Pass i: its factors w^(p c) for c = 1 .. count, then cos and sin of
** 2 pi k / radix. Returns where the next table may begin. */
static char *put_pass(la_fft_plan *p, const la_roots *r, int i, int count,
                      char *at)
{
    int64_t size = (int64_t)la_dtype_size(p->real), m = p->pass[i].m;
    int radix = p->pass[i].radix;
    int64_t lanes = p->n / (m * radix);
    p->pass[i].w = m > 1 ? at : NULL;
    for (int c = 1; m > 1 && c <= count; c++, at += 2 * m * size)
        put_roots(p, r, lanes * c, m, at, at + m * size, 1);
    p->pass[i].roots = at;
    put_roots(p, r, p->n / radix, radix, at, at + size, 2);
    for (int c = 0; c < radix; c++) {     /* of e^x, not e^-x */
        if (size == 4) ((float *)at)[2 * c + 1] *= -1;
        else ((double *)at)[2 * c + 1] *= -1;
    }
    return at + 2 * radix * size;
}

/* Passes with tables of their own: a kernel then reads its factors in the
** order in which it needs them, and shares none of its cache lines with
** another pass. */
static la_status make_flat(la_fft_plan *p, const int *radix, int count)
{
    int64_t reals = 0, m = p->n;
    LA_ROOTS r = {0};
    p->passes = count;
    p->slack = LA_FFT_SLACK;
    for (int i = 0; i < count; i++) {
        m /= radix[i];
        p->pass[i].radix = radix[i];
        p->pass[i].m = m;
        p->slack = la_max(p->slack, LA_FFT_SLACK * (int64_t)radix[i]);
        if (m > 1) reals += 2 * (radix[i] - 1) * m;
        reals += 2 * radix[i];
    }
    LA_TRY(take_memory(p, reals));
    LA_TRY(la_roots_open(&r, p->n));
    char *at = p->memory;
    for (int i = 0; i < count; i++)
        at = put_pass(p, &r, i, radix[i] - 1, at);
    return LA_OK;
}

/* Real lines of odd length: one radix is taken out for whose columns half
** suffices, as the other half are conjugates. */
static la_status make_odd(la_fft_plan *p)
{
    int radix = la_fft_odd_radix(p->n);
    int64_t m = p->n / radix;
    LA_ROOTS r = {0};
    LA_TRY(la_fft_plan_get(m, p->real, false, &p->first));
    p->passes = 1;
    p->pass[0].radix = radix;
    p->pass[0].m = m;
    LA_TRY(take_memory(p, 2 * (radix / 2 * m + radix)));
    LA_TRY(la_roots_open(&r, p->n));
    put_pass(p, &r, 0, radix / 2, p->memory);
    return LA_OK;
}

/* Twiddles of all n would be as large as the line: w^k is the product of a
** step and a leap, two tables of about the root of n each. */
static la_status make_split(la_fft_plan *p, int64_t n1)
{
    const int64_t lanes = LA_FFT_LANES;
    int64_t size = (int64_t)la_dtype_size(p->real), n2 = p->n / n1;
    LA_ROOTS r = {0};
    LA_TRY(la_fft_plan_get(n1, p->real, false, &p->first));
    LA_TRY(la_fft_plan_get(n2, p->real, false, &p->second));
    p->block = 1;
    while (p->block * p->block < p->n) p->block *= 2;
    int64_t leaps = p->n / p->block + 1;
    LA_TRY(take_memory(p, 2 * (n1 * lanes + p->block + leaps)));
    LA_TRY(la_roots_open(&r, p->n));
    char *at = p->memory;
    p->table = at;
    for (int64_t k = 0; k < n1; k++, at += 2 * lanes * size)
        put_roots(p, &r, k, lanes, at, at + lanes * size, 1);
    p->steps = at;
    put_roots(p, &r, 1, p->block, at, at + size, 2);
    at += 2 * p->block * size;
    p->leaps = at;
    put_roots(p, &r, p->block % p->n, leaps, at, at + size, 2);
    return LA_OK;
}

/* An even real line of n is a complex one of n / 2, whose result is taken
** apart by the roots here. */
static la_status plans_make_real(la_fft_plan *p)
{
    int64_t h = p->n / 2, size = (int64_t)la_dtype_size(p->real);
    LA_ROOTS r = {0};
    LA_TRY(la_fft_plan_get(h, p->real, false, &p->first));
    LA_TRY(take_memory(p, 2 * (h / 2 + 1)));
    LA_TRY(la_roots_open(&r, p->n));
    p->table = p->memory;
    put_roots(p, &r, 1, h / 2 + 1, p->memory, p->memory + size, 2);
    return LA_OK;
}

/* Roots of a chirp between looks at the interrupt: each takes 50 ns. */
#define CHIRP_PIECE ((int64_t)1 << 16)

/* w^(k^2) with w = e^(-pi i / n), and the transform of the conjugates at 0, 1,
** ... and -1, -2, ..., divided by the length. */
static la_status make_chirp(la_fft_plan *p)
{
    int64_t n = p->n, length = good_length(2 * n - 1), square = 0;
    int64_t pair = 2 * (int64_t)la_dtype_size(p->real), size = pair / 2;
    LA_ROOTS r = {0};
    LA_TRY(la_fft_plan_get(length, p->real, false, &p->first));
    LA_TRY(take_memory(p, 2 * (n + length)));
    LA_TRY(la_roots_open(&r, 2 * n));
    char *a = p->memory, *b = a + n * pair;
    p->table = a;
    p->steps = b;
    for (int64_t k = 0, end = 0; k < n; k++) {
        if (k == end && (end = la_poll_part(k, n, CHIRP_PIECE)) == k) break;
        char *at = a + k * pair, *c = b + k * pair;
        la_roots_put(&r, square, p->real, at, at + size);
        memcpy(c, at, (size_t)pair);
        if (size == 4) ((float *)c)[1] *= -1;
        else ((double *)c)[1] *= -1;
        if (k > 0) memcpy(b + (length - k) * pair, c, (size_t)pair);
        square = (square + 2 * k + 1) % (2 * n);
    }
    double scale = 1.0 / (double)length;
    la_fft_line to = {b, pair, size, scale, scale};
    la_fft_line from = {b, pair, size, 1, 1};
    return la_fft_line_run(p->first, &from, &to);
}

/* The shortest table first: factors that kernels have; else Bluestein's chirp,
** which is a convolution of a good length. */
static la_status plans_make(la_fft_plan *p)
{
    int radix[64], count;
    if (p->kind == LA_FFT_REAL) return plans_make_real(p);
    if (p->kind == LA_FFT_ODD) return make_odd(p);
    int64_t rest = find_factors(p->n, radix, &count);
    if (rest != 1) {
        p->kind = LA_FFT_CHIRP;
        return make_chirp(p);
    }
    int64_t n1 = p->n > FLAT_MOST ? middle_divisor(p->n, radix, count) : 1;
    if (n1 >= LA_FFT_LANES) {
        p->kind = LA_FFT_SPLIT;
        return make_split(p, n1);
    }
    return make_flat(p, radix, count);
}

/* ---- the cache ---- */

/* The plans kept for one state ('owner'), or for all threads without one. The
** last one used is the first. */
typedef struct share {
    struct share *next;
    la_token *owner;
    la_fft_plan *first;
    size_t bytes;
} share;

/* The runtime's list of shares. Whoever finds it taken goes without the cache,
** so nobody waits. */
static la_kept *cache(void) { return &la_runtime_here()->transforms; }

/* A flag instead of a lock: a thread that does not get it makes the plan anew,
** which costs less than to be stopped while it holds a lock. */
static bool plans_take(la_kept *c)
{
    return !atomic_flag_test_and_set_explicit(&c->taken, memory_order_acquire);
}

static void plans_put_back(la_kept *c)
{
    atomic_flag_clear_explicit(&c->taken, memory_order_release);
}

static size_t plans_size_of(const la_fft_plan *p)
{
    return la_token_price(p->bytes) + la_token_price(sizeof *p);
}

/* The state's token; NULL: there is no state, or it is being closed. */
static la_token *owner_here(void)
{
    la_token *k = la_current_context ? la_current_context->token : NULL;
    return k == &la_no_token ? NULL : k;
}

/* An eighth of a state's cap at most, so that plans cannot crowd out
** tensors. */
static size_t most_for(la_token *k)
{
    size_t cap = k ? atomic_load_explicit(&k->cap, memory_order_relaxed) : 0;
    return cap && cap / 8 < LA_FFT_KEPT ? cap / 8 : LA_FFT_KEPT;
}

void la_fft_plan_release(la_fft_plan *p)
{
    if (atomic_fetch_sub(&p->refs, 1) > 1) return;
    la_fft_plan_drop(&p->first);
    la_fft_plan_drop(&p->second);
    la_token *k = p->payer;
    if (k) la_token_unpay_slowly(k, &k->plans, plans_size_of(p));
    la_mem_free(p->memory, p->bytes);
    la_mem_free(p, sizeof *p);
}

/* Taken: the link to the owner's share, whose end is NULL where it has none. */
static share **link_of(la_kept *c, la_token *owner)
{
    share **at = (share **)&c->first;
    while (*at && (*at)->owner != owner) at = &(*at)->next;
    return at;
}

/* The kept plan, a new reference, moved to the front; NULL where there is
** none, or somebody else is looking. */
static la_fft_plan *plans_find(int64_t n, la_dtype real, bool is_real)
{
    la_fft_plan *p = NULL;
    la_kept *c = cache();
    if (!plans_take(c)) return NULL;
    share *own = *link_of(c, owner_here());
    for (la_fft_plan **at = own ? &own->first : NULL; at && *at;
         at = &(*at)->next) {
        p = *at;
        if (p->n == n && p->real == real
            && (p->kind >= LA_FFT_REAL) == is_real) {
            *at = p->next;
            p->next = own->first;
            own->first = p;
            atomic_fetch_add(&p->refs, 1);
            break;
        }
        p = NULL;
    }
    plans_put_back(c);
    return p;
}

/* The end of the list from where more than 'most' bytes are kept, taken off. */
static la_fft_plan *cut_off(share *own, size_t most)
{
    size_t bytes = 0;
    la_fft_plan **at = &own->first;
    while (*at && bytes + plans_size_of(*at) <= most) {
        bytes += plans_size_of(*at);
        at = &(*at)->next;
    }
    la_fft_plan *rest = *at;
    *at = NULL;
    own->bytes = bytes;
    return rest;
}

static void release_all(la_fft_plan *p)
{
    while (p) {
        la_fft_plan *next = p->next;
        la_fft_plan_release(p);
        p = next;
    }
}

/* A plan that a running transform holds stays until that has ended: it is
** counted. */
static void release_shares(share *s)
{
    while (s) {
        share *next = s->next;
        release_all(s->first);
        la_mem_give(s, sizeof *s);
        s = next;
    }
}

static void release_kept(void)
{
    la_kept *c = cache();
    if (!plans_take(c)) return;
    share *all = c->first;
    c->first = NULL;
    plans_put_back(c);
    release_shares(all);
}

/* Others hold the list for as long as it takes to look through it. */
void la_fft_forget(la_token *k)
{
    la_kept *c = cache();
    while (!plans_take(c)) la_thread_nap(1000);
    share **at = link_of(c, k), *own = *at;
    if (own) {
        *at = own->next;
        own->next = NULL;
    }
    plans_put_back(c);
    release_shares(own);
}

/* With the list taken. The share is the one given unless there is one. */
static la_fft_plan *keep_in(la_kept *c, share **fresh, la_fft_plan *p)
{
    share **at = link_of(c, (*fresh)->owner), *own = *at;
    if (!own) {
        own = *at = *fresh;
        *fresh = NULL;
    }
    atomic_fetch_add(&p->refs, 1);
    p->next = own->first;
    own->first = p;
    own->bytes += plans_size_of(p);
    size_t most = most_for(own->owner);
    return own->bytes > most ? cut_off(own, most) : NULL;
}

static void plans_keep(la_fft_plan *p)
{
    la_kept *c = cache();
    la_token *owner = owner_here();
    la_mem_on_trim(release_kept);
    if (plans_size_of(p) > most_for(owner)) return;
    share *fresh = la_mem_take(sizeof *fresh);
    if (!fresh) {
        la_error_clear();               /* a plan that is not kept works */
        return;
    }
    *fresh = (share){.owner = owner};
    if (plans_take(c)) {
        la_fft_plan *rest = keep_in(c, &fresh, p);
        plans_put_back(c);
        release_all(rest);
    }
    la_mem_give(fresh, sizeof *fresh);
}

/* Pays for the plan, from here on, as one that others may release. */
static la_status plans_charge(la_fft_plan *p)
{
    la_token *k = owner_here();
    la_mem_disown(p->memory, p->bytes);
    la_mem_disown(p, sizeof *p);
    return k ? la_token_pay_slowly(k, &k->plans, plans_size_of(p), &p->payer)
             : LA_OK;
}

la_status la_fft_plan_get(int64_t n, la_dtype real, bool is_real,
                          la_fft_plan **out)
{
    *out = plans_find(n, real, is_real);
    if (*out) return LA_OK;
    la_fft_plan *p = la_mem_zalloc(sizeof *p);
    if (!p) return LA_ENOMEM;
    p->n = n;
    p->real = real;
    p->kind = !is_real ? LA_FFT_FLAT : n % 2 ? LA_FFT_ODD : LA_FFT_REAL;
    atomic_store(&p->refs, 1);
    la_status status = plans_make(p);
    if (!status && la_poll_long(n)) status = la_poll();   /* half made */
    if (!status) status = plans_charge(p);
    if (status) {
        la_fft_plan_release(p);
        return status;
    }
    plans_keep(p);
    *out = p;
    return LA_OK;
}
