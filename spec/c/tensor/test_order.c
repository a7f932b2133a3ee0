/* The ordering kernels on every capability of this machine: sorting against
** qsort, selection, search, positions of masks, checks of indices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/cpu.h"
#include "base/philox.h"
#include "kernel/index/index_loops.h"
#include "kernel/random/random_loops.h"
#include "kernel/sort/order.h"

enum { MOST = 60000 };

typedef struct tables {
    const la_key_table *keys;
    const la_order_table *order;
    const la_index_scans *scans;
    const la_random_kernels *random;
} tables;

static tables of_cap(int cap)
{
    return (tables){LA_STUB_AT(keys, cap), LA_STUB_AT(order, cap),
                    LA_STUB_AT(index_scans, cap), LA_STUB_AT(random, cap)};
}

static uint64_t next(uint64_t *state)
{
    la_philox x = {(uint32_t)++*state, 0, 0, 0};
    x = la_philox_words(x, 99);
    return (uint64_t)x.a << 32 | x.b;
}

static int compare(const void *a, const void *b)
{
    const la_item64 *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static const int64_t sizes[] = {0, 1, 2, 23, 24, 25, 47, 48, 49, 64, 300, 1023,
                                4096, 4097, 6000, 60000};
/* how keys are made: all bits, few values, low bits only, rising, upper bits */
static uint64_t make_key(int kind, int64_t i, uint64_t *state, bool wide)
{
    uint64_t r = next(state);
    if (!wide) r >>= 32;
    switch (kind) {
    case 1: return r % 7;
    case 2: return (wide ? (uint64_t)1 << 60 : (uint64_t)1 << 30) + r % 100;
    case 3: return (uint64_t)i;
    case 4: return wide ? r << 50 : (r << 22) & 0xffffffffu;
    /* equal in all bits that a short run holds, but for a few */
    case 5: return i % 1000 ? r % 4096 : r;
    case 6: return wide ? r % 5 << 40 | (r & 0xffff) : r % 5 << 20 | r >> 24;
    case 7: return wide ? r >> 8 : r >> 4;
    default: return r;
    }
}

/* The n / 3 smallest keys, and the last of them. */
static void check_chosen(const la_order_kernels *o, bool wide,
                         const uint64_t *keys, int64_t n,
                         const la_item64 *want)
{
    static uint64_t other[MOST];
    static la_item64 items[MOST], spare[MOST];
    static int64_t at[MOST];
    int64_t k = n / 3, position;
    if (k == 0) return;
    assert_true(o->kth(keys, items, spare, n, k, &position) == want[k - 1].key);
    assert_int_equal(position, want[k - 1].position + 1);
    memcpy(other, keys, (size_t)n * (wide ? 8 : 4));
    o->smallest(other, at, 1, items, spare, n, k);
    for (int64_t i = 0; i < k; i++) {
        assert_true((wide ? other[i] : ((uint32_t *)other)[i]) == want[i].key);
        assert_int_equal(at[i], want[i].position + 1);
    }
}

static void check_sort(const tables *t, bool wide, int kind, int64_t n)
{
    const la_order_kernels *o = &(*t->order)[wide];
    static uint64_t keys[MOST], other[MOST];
    static la_item64 want[MOST], items[MOST], spare[MOST];
    static int64_t at[MOST];
    uint64_t state = (uint64_t)kind * 1000;
    for (int64_t i = 0; i < n; i++) {
        uint64_t k = make_key(kind, i, &state, wide);
        want[i] = (la_item64){k, (uint64_t)i};
        if (wide) keys[i] = k;
        else ((uint32_t *)keys)[i] = (uint32_t)k;
    }
    qsort(want, (size_t)n, sizeof(want[0]), compare);
    size_t bytes = (size_t)n * (wide ? 8 : 4);
    memcpy(other, keys, bytes);
    o->sort_positions(other, at, 1, items, spare, n);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(at[i], want[i].position + 1);
        assert_true((wide ? other[i] : ((uint32_t *)other)[i]) == want[i].key);
    }
    check_chosen(o, wide, keys, n, want);
    o->make_items(items, keys, 0, n);
    o->select_items(items, spare, n, n / 3);
    o->sort_items(items, spare, n / 3);
    o->split_items(items, n / 3, other, at, 1);
    for (int64_t i = 0; i < n / 3; i++)
        assert_int_equal(at[i], want[i].position + 1);
    o->sort_keys(keys, spare, n);
    for (int64_t i = 0; i < n; i++)
        assert_true((wide ? keys[i] : ((uint32_t *)keys)[i]) == want[i].key);
    if (n > 0) {
        memcpy(other, keys, sizeof(keys));
        (*t->keys)[wide ? LA_UINT64 : LA_UINT32].search(keys, n, other, n,
                                                        false, at);
        for (int64_t i = 0; i < n; i++)
            assert_true(want[at[i] - 1].key == want[i].key
                        && (at[i] == 1
                            || want[at[i] - 2].key < want[i].key));
    }
}

static void sorting(void **unused)
{
    (void)unused;
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++)
        for (int wide = 0; wide < 2; wide++)
            for (int kind = 0; kind < 8; kind++)
                for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
                    tables t = of_cap(cap);
                    check_sort(&t, wide, kind, sizes[s]);
                }
}

/* Keys rise with their numbers and give them back. */
static void keys_of_floats(void **unused)
{
    const float x[] = {-__builtin_inff(), -1e30f, -1, -1e-42f, 0, 1e-42f, 1,
                       1e30f, __builtin_inff(), __builtin_nanf("")};
    const int64_t n = sizeof(x) / sizeof(*x);
    (void)unused;
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++) {
        const la_key_kernels *k = &(*of_cap(cap).keys)[LA_FLOAT32];
        uint32_t keys[16], zero[2];
        float back[16], zeros[2] = {-0.0f, 0.0f};
        assert_false(k->encode(keys, (const char *)x, 4, n, 0));
        for (int64_t i = 1; i < n; i++) assert_true(keys[i] > keys[i - 1]);
        k->decode((char *)back, 4, keys, n, 0);
        assert_memory_equal(back, x, (size_t)(n - 1) * 4);
        assert_true(back[n - 1] != back[n - 1]);
        assert_true(k->encode(zero, (const char *)zeros, 4, 2, ~(uint64_t)0));
        assert_int_equal(zero[0], zero[1]);
    }
}

static void scans(void **unused)
{
    int64_t index[1000], found[1000];
    uint8_t mask[1000];
    (void)unused;
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++) {
        const la_index_scans *s = of_cap(cap).scans;
        for (int i = 0; i < 1000; i++) {
            index[i] = i % 2 ? i % 10 + 1 : -(i % 10) - 1;
            mask[i] = i % 3 == 0;
        }
        assert_int_equal(s->bad((char *)index, 8, 1000, 10), -1);
        assert_int_equal(s->bad((char *)index, 8, 1000, 9), 9 - 1 + 1);
        int64_t wrong[] = {0, 11, -11, INT64_MIN, INT64_MAX};
        for (size_t k = 0; k < 5; k++) {
            int64_t keep = index[777];
            index[777] = wrong[k];
            assert_int_equal(s->bad((char *)index, 8, 1000, 10), 777);
            index[777] = keep;
        }
        assert_int_equal(s->bad((char *)index, 8, 1, 0), 0);
        assert_int_equal(s->count(mask, 1000), 334);
        found[334] = -7;
        assert_ptr_equal(s->positions(found, mask, 1000, 0), found + 334);
        assert_int_equal(found[333], 1000);
        assert_int_equal(found[334], -7);
    }
}

/* The published vectors of Philox4x32-10. */
static void philox(void **unused)
{
    la_philox x = la_philox_words((la_philox){0, 0, 0, 0}, 0);
    (void)unused;
    assert_true(x.a == 0x6627e8d5 && x.b == 0xe169c58d && x.c == 0xbc57ac4c
                && x.d == 0x9b00dbd8);
    x = la_philox_words((la_philox){~0u, ~0u, ~0u, ~0u}, ~(uint64_t)0);
    assert_true(x.a == 0x408f276d && x.b == 0x41c83b0e && x.c == 0xa20bc7c6
                && x.d == 0x6d5451fd);
    la_random_call call = {.seed = 0x123456789abcdef, .block = 1 << 20};
    uint32_t words[64 * 3];
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++) {
        of_cap(cap).random->words(words, 0, 3, 64 * 3, &call);
        for (uint32_t i = 0; i < 16; i++) {
            x = la_philox_words((la_philox){(1 << 20) + 32 + i, 0, 0, 0},
                                call.seed);
            assert_true(words[128 + i] == x.a && words[176 + i] == x.d);
        }
    }
}

/* Every fill gives the same bytes on every capability and in any portions. */
static void fills(void **unused)
{
    static uint64_t a[1003], b[1003];
    la_random_call call = {.seed = 5, .a = 1, .b = 3, .low = 7, .range = 1000,
                           .threshold = 1u << 30};
    (void)unused;
    size_t count = (sizeof(la_random_kernels) - sizeof(la_random_fill))
                 / sizeof(la_random_fill);
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++) {
        const la_random_fill *x = la_default_random.uniform;
        const la_random_fill *y = of_cap(cap).random->uniform;
        for (size_t k = 0; k < count; k++) {
            if (!x[k]) continue;
            memset(a, 0, sizeof(a));
            memset(b, 0, sizeof(b));
            x[k](a, 0, 16, 1003, &call);
            y[k](b, 9, 16, 1003, &call);
            y[k](b, 0, 9, 1003, &call);
            assert_memory_equal(a, b, sizeof(a));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting), cmocka_unit_test(keys_of_floats),
        cmocka_unit_test(scans), cmocka_unit_test(philox),
        cmocka_unit_test(fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
