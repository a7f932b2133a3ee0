/*
** Copies and fills between any two strides, on every CPU path of the machine,
** against a naive walk: each step from -5 to 5, every element size, counts
** around the vectors' lengths, operands that begin or end at guard pages. What
** lies between the elements must stay as it is, whoever writes it meanwhile.
*/
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/runtime/thread_pool.h"
#include "kernel/move/copy.h"

enum { STEPS = 5, NCOUNTS = 16 };
static const int64_t counts[NCOUNTS] = {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 47,
                                        64, 65, 129, 700};

typedef struct tables { const la_size_loops *copy, *fill; } tables;
static const tables paths[LA_NCAPS] = {
#define ROW(cap, arg) [LA_CAP_##cap] = {&la_##cap##_copy, &la_##cap##_fill},
    LA_CAPS(ROW, )
#undef ROW
};

/* ---- memory between two pages that can't be touched ---- */

typedef struct arena {
    char *base, *start, *end;   /* of the usable part */
    size_t total;
} arena;

static arena arena_new(int64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = ((size_t)bytes + page - 1) / page * page;
    arena r = {.total = body + 2 * page};
    r.base = mmap(NULL, r.total, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(r.base != MAP_FAILED);
    r.start = r.base + page;
    r.end = r.start + body;
    mprotect(r.base, page, PROT_NONE);
    mprotect(r.end, page, PROT_NONE);
    return r;
}

static void arena_free(arena *r) { munmap(r->base, r->total); }

/* The first of n elements, 'step' bytes from each other, that fill the arena up
** to one of its ends. */
static char *put_at(const arena *r, int64_t n, int64_t step, int64_t size,
                    bool at_end)
{
    int64_t span = (n - 1) * (step < 0 ? -step : step);
    char *low = at_end ? r->end - span - size : r->start;
    return step < 0 ? low + span : low;
}

static char mixed(int64_t i) { return (char)(i * 37 + i / 251 + 11); }

static void paint(const arena *r)
{
    for (char *p = r->start; p < r->end; p++) *p = mixed(p - r->start);
}

/* ---- one case ---- */

typedef struct strided {
    int64_t size, n, to, from;   /* bytes; from 0: one element for all */
    bool at_end;
} strided;

/* 'got' has what the kernel left, 'want' the same bytes before it. */
static void check(const strided *c, const arena *got, const arena *want,
                  const char *source)
{
    char *out = put_at(want, c->n, c->to, c->size, c->at_end);
    for (int64_t i = 0; i < c->n; i++)
        memcpy(out + i * c->to, source + i * c->from, (size_t)c->size);
    if (memcmp(got->start, want->start, (size_t)(got->end - got->start)))
        fail_msg("size %d, n %d, steps %d and %d", (int)c->size, (int)c->n,
                 (int)c->to, (int)c->from);
}

static void one_copy(const tables *t, const strided *c, arena *a, arena *b,
                     arena *want)
{
    char *data[2] = {put_at(a, c->n, c->to, c->size, c->at_end),
                     put_at(b, c->n, c->from, c->size, c->at_end)};
    int64_t strides[4] = {c->to, c->from, 0, 0};
    paint(want);
    paint(a);
    paint(b);
    (*t->copy)[la_size_slot((size_t)c->size)](data, strides, c->n, 1, NULL);
    check(c, a, want, data[1]);
}

static void one_fill(const tables *t, const strided *c, arena *a, arena *want)
{
    char element[16], *data[1] = {put_at(a, c->n, c->to, c->size, c->at_end)};
    int64_t strides[2] = {c->to, 0};
    for (int k = 0; k < 16; k++) element[k] = (char)(k + 1);
    paint(want);
    paint(a);
    (*t->fill)[la_size_slot((size_t)c->size)](data, strides, c->n, 1, element);
    check(c, a, want, element);
}

static void sweep(int cap, int64_t size, int64_t n)
{
    int64_t bytes = ((n - 1) * STEPS + 1) * size;
    arena a = arena_new(bytes), b = arena_new(bytes), want = arena_new(bytes);
    for (int to = -STEPS; to <= STEPS; to++)
        for (int from = -STEPS; from <= STEPS; from++)
            for (int at_end = 0; at_end < 2 && to; at_end++) {
                strided c = {size, n, to * size, from * size, at_end};
                if (from) one_copy(&paths[cap], &c, &a, &b, &want);
                else one_fill(&paths[cap], &c, &a, &want);
            }
    arena_free(&a);
    arena_free(&b);
    arena_free(&want);
}

static void any_steps(void **state)
{
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++)
        for (int64_t size = 1; size <= 16; size *= 2)
            for (int k = 0; k < NCOUNTS; k++) sweep(cap, size, counts[k]);
}

/* Steps that are no multiple of the element: fields of a record. */
static void odd_steps(void **state)
{
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++)
        for (int64_t size = 1; size <= 16; size *= 2)
            for (int64_t step = size; step < 3 * size + 3; step++) {
                arena a = arena_new(100 * step + size),
                     b = arena_new(100 * step + size),
                     want = arena_new(100 * step + size);
                strided c = {size, 100, step, size, true};
                one_copy(&paths[cap], &c, &a, &b, &want);
                c = (strided){size, 100, size, step, false};
                one_copy(&paths[cap], &c, &a, &b, &want);
                arena_free(&a);
                arena_free(&b);
                arena_free(&want);
            }
}

/* Runs that are filled word by word, from any element of a line. */
static void large_fills(void **state)
{
    const int64_t bytes = 1 << 20;
    char element[16];
    arena a = arena_new(bytes + 256);
    for (int k = 0; k < 16; k++) element[k] = (char)(k * 3 + 1);
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++)
        for (int64_t at = 1; at < 80; at += 13)
            for (int64_t size = 1; size <= 16; size *= 2) {
                int64_t n = bytes / size + at % 5;
                char *data[1] = {a.start + at};
                int64_t strides[2] = {size, 0};
                memset(a.start, 0x55, (size_t)bytes + 256);
                (*paths[cap].fill)[la_size_slot((size_t)size)](
                    data, strides, n, 1, element);
                assert_int_equal(data[0][-1], 0x55);
                assert_int_equal(data[0][n * size], 0x55);
                for (int64_t i = 0; i < n * size; i++)
                    if (data[0][i] != element[i % size])
                        fail_msg("byte %d of %d", (int)i, (int)(n * size));
            }
    arena_free(&a);
}

/* ---- columns of one table, each written by a thread of its own ---- */

enum { ROWS = 3000, SHIFTS = 60 };
typedef struct columns {
    const tables *t;
    int64_t size, count;
    char *table;
    const char *run;
} columns;

static void write_column(int64_t begin, int64_t end, void *context)
{
    const columns *c = context;
    for (int64_t k = begin; k < end; k++)
        for (int shift = 0; shift < SHIFTS; shift++) {
            char *data[2] = {c->table + k * c->size,
                             (char *)c->run + (shift + k) * c->size};
            int64_t strides[4] = {c->size * c->count, c->size, 0, 0};
            (*c->t->copy)[la_size_slot((size_t)c->size)](data, strides, ROWS,
                                                         1, NULL);
        }
}

static void neighbours(void **state)
{
    static char table[ROWS * 4 * 8], run[(ROWS + SHIFTS + 4) * 8];
    for (size_t i = 0; i < sizeof run; i++) run[i] = mixed((int64_t)i);
    la_set_num_threads(4);
    for (int cap = 0; cap <= (int)la_cpu_best_cap(); cap++)
        for (int64_t size = 1; size <= 8; size *= 2)
            for (int64_t count = 2; count <= 4; count++) {
                columns c = {&paths[cap], size, count, table, run};
                la_parallel_for(count, 1, write_column, &c);
                for (int64_t i = 0; i < ROWS * count; i++)
                    assert_memory_equal(table + i * size,
                        run + (i / count + i % count + SHIFTS - 1) * size,
                        (size_t)size);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_steps),
        cmocka_unit_test(odd_steps),
        cmocka_unit_test(large_fills),
        cmocka_unit_test(neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
