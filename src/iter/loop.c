/*
** Running a loop over an iterator: whole, by ranges, in parallel, and through
** buffers where the dtype in memory is not the dtype of the loop.
**
** Every path ends in calls of the kernel on a box of two dims. What a kernel
** computes for an element depends on nothing but the element, so the cutting
** (by threads, by buffers, by polls of the interrupt) never shows.
*/
#include <string.h>

#include "base/os/clock.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/thread_pool.h"
#include "base/scratch.h"
#include "iter/steps.h"

/* Elements between two looks at the interruption: while it is not known how
** slow a function is (the slowest, zeta, take a microsecond for each), and
** where it is a quick one. */
#define UNKNOWN ((int64_t)1 << 13)
#define POLLED ((int64_t)1 << 16)
#define QUICK 500000        /* nanoseconds */

/* A loop with its arguments, and the strides in the kernel's order. */
typedef struct runner {
    const la_iter *it;
    la_loop loop;
    const void *params;
    int64_t strides[2 * LA_ITER_MAX_OPS];
    int64_t unknown;        /* elements of a first piece */
} runner;

static void runner_init(runner *r, const la_iter *it, la_loop loop,
                        const void *params)
{
    int n = it->noperands;
    r->it = it;
    r->loop = loop;
    r->params = params;
    r->unknown = UNKNOWN;
    for (int k = 0; k < n; k++) {
        r->strides[k] = it->ndim > 0 ? it->op[k].strides[0] : 0;
        r->strides[n + k] = it->ndim > 1 ? it->op[k].strides[1] : 0;
    }
}

/* The operands at the counter's position. */
static void loop_locate(const la_iter *it, const int64_t *values, char **data)
{
    for (int k = 0; k < it->noperands; k++) {
        const la_iter_operand *op = &it->op[k];
        char *p = op->data;
        for (int d = 0; d < it->ndim; d++) p += values[d] * op->strides[d];
        data[k] = p;
    }
}

/* --- conversion through buffers --- */

#define BUFFER_BYTES 16384

/* One operand's buffer in a walk over a box. Along a dim that the operand does
** not move in (stride 0) the buffer does not either. */
typedef struct buffer {
    char *memory;              /* NULL: the operand is used in place */
    int64_t inner, outer;      /* byte steps of what the kernel is given */
    la_loop load, store;
} buffer;

typedef struct box {
    int64_t n[2];              /* elements, rows */
    const int64_t *strides;    /* of the operands in memory */
    int count;                 /* operands */
} box;

/* Elements per chunk, such that all buffers fit in BUFFER_BYTES. */
static int64_t chunk_elements(const la_iter *it)
{
    size_t bytes = 0;
    for (int k = 0; k < it->noperands; k++)
        if (it->op[k].current != it->op[k].target)
            bytes += la_dtype_size(it->op[k].target);
    return (int64_t)(BUFFER_BYTES / bytes) & ~(int64_t)15;
}

static void buffers_init(const la_iter *it, char *memory, int64_t chunk,
                         buffer *b)
{
    for (int k = 0; k < it->noperands; k++) {
        const la_iter_operand *op = &it->op[k];
        b[k].memory = NULL;
        b[k].load = b[k].store = NULL;
        if (op->current == op->target) continue;
        b[k].memory = memory;
        memory += chunk * (int64_t)la_dtype_size(op->target);
        if (!op->is_output || op->is_read_write)
            b[k].load = la_cast_loop(op->target, op->current);
        if (op->is_output)
            b[k].store = la_cast_loop(op->current, op->target);
    }
}

/* Convert what the box covers of operand k, into the buffer or out of it. */
static void loop_convert(const buffer *b, la_loop cast, const box *x, int k,
                         char *at, bool out)
{
    int64_t s0 = x->strides[k], s1 = x->strides[x->count + k];
    char *in_data[2] = {b->memory, at}, *out_data[2] = {at, b->memory};
    int64_t in_strides[4] = {b->inner, s0, b->outer, s1};
    int64_t out_strides[4] = {s0, b->inner, s1, b->outer};
    cast(out ? out_data : in_data, out ? out_strides : in_strides,
         b->inner ? x->n[0] : 1, b->outer ? x->n[1] : 1, NULL);
}

/* The kernel on a box small enough for the buffers. */
static void run_buffered(const runner *r, buffer *b, const box *x, char **data)
{
    const la_iter *it = r->it;
    char *given[LA_ITER_MAX_OPS];
    int64_t strides[2 * LA_ITER_MAX_OPS];
    for (int k = 0; k < x->count; k++) {
        int64_t s0 = x->strides[k], s1 = x->strides[x->count + k];
        if (b[k].memory) {
            int64_t size = (int64_t)la_dtype_size(it->op[k].target);
            b[k].inner = s0 ? size : 0;
            b[k].outer = s1 ? size * (s0 ? x->n[0] : 1) : 0;
            if (b[k].load) loop_convert(&b[k], b[k].load, x, k, data[k], false);
            s0 = b[k].inner;
            s1 = b[k].outer;
        }
        given[k] = b[k].memory ? b[k].memory : data[k];
        strides[k] = s0;
        strides[x->count + k] = s1;
    }
    r->loop(given, strides, x->n[0], x->n[1], r->params);
    for (int k = 0; k < it->noutputs; k++)
        if (b[k].store) loop_convert(&b[k], b[k].store, x, k, data[k], true);
}

/* A box in pieces: parts of a row when rows are long, else several rows. */
static void cut_box(const runner *r, buffer *b, int64_t chunk, char **data,
                    const int64_t n[2])
{
    int count = r->it->noperands;
    box x = {.strides = r->strides, .count = count};
    int64_t step0 = n[0] < chunk ? n[0] : chunk;
    int64_t step1 = n[0] < chunk ? chunk / n[0] : 1;
    for (int64_t i = 0; i < n[1]; i += step1) {
        x.n[1] = n[1] - i < step1 ? n[1] - i : step1;
        for (int64_t j = 0; j < n[0]; j += step0) {
            char *at[LA_ITER_MAX_OPS];
            x.n[0] = n[0] - j < step0 ? n[0] - j : step0;
            for (int k = 0; k < count; k++)
                at[k] = data[k] + j * r->strides[k]
                      + i * r->strides[count + k];
            run_buffered(r, b, &x, at);
        }
    }
}

static void range_buffered(const runner *r, int64_t begin, int64_t end)
{
    const la_iter *it = r->it;
    LA_SCRATCH(char, memory, BUFFER_BYTES);
    char *data[LA_ITER_MAX_OPS];
    buffer b[LA_ITER_MAX_OPS];
    la_dim_counter c;
    int64_t step[2], chunk = chunk_elements(it);
    buffers_init(it, memory, chunk, b);
    la_dim_counter_init(&c, it->ndim, it->shape, begin, end);
    while (la_dim_counter_step(&c, step)) {
        loop_locate(it, c.values, data);
        cut_box(r, b, chunk, data, step);
        la_dim_counter_advance(&c, step);
    }
}

/* --- numbers --- */

/* An input of one element is converted once, before the loop: the others can
** then be used where they are. 'before' keeps what is put back after it. */
typedef struct numbers {
    char value[LA_ITER_MAX_OPS][16] __attribute__((aligned(16)));
    struct { char *data; la_dtype current; } before[LA_ITER_MAX_OPS];
} numbers;

static bool loop_is_number(const la_iter *it, int k)
{
    for (int d = 0; d < it->ndim; d++)
        if (it->op[k].strides[d] != 0) return false;
    return k >= it->noutputs && it->op[k].current != it->op[k].target;
}

static void settle_numbers(la_iter *it, numbers *x)
{
    const int64_t none[4] = {0};
    bool needs_cast = false;
    for (int k = 0; k < it->noperands; k++) {
        la_iter_operand *op = &it->op[k];
        x->before[k].data = op->data;
        x->before[k].current = op->current;
        if (loop_is_number(it, k)) {
            char *data[2] = {x->value[k], op->data};
            la_cast_loop(op->target, op->current)(data, none, 1, 1, NULL);
            op->data = x->value[k];
            op->current = op->target;
        }
        needs_cast |= op->current != op->target;
    }
    it->needs_cast = needs_cast;
}

static void unsettle_numbers(la_iter *it, const numbers *x)
{
    for (int k = 0; k < it->noperands; k++) {
        it->op[k].data = x->before[k].data;
        it->op[k].current = x->before[k].current;
    }
    it->needs_cast = true;
}

/* --- ranges --- */

static void range_flat(const runner *r, int64_t begin, int64_t end)
{
    char *data[LA_ITER_MAX_OPS];
    for (int k = 0; k < r->it->noperands; k++)
        data[k] = r->it->op[k].data + begin * r->strides[k];
    r->loop(data, r->strides, end - begin, 1, r->params);
}

/* Whole planes along dim 2: from one to the next is an addition. */
static void loop_run_planes(const runner *r, char *const *data, int64_t planes)
{
    const la_iter *it = r->it;
    char *given[LA_ITER_MAX_OPS];
    for (int64_t i = 0; i < planes; i++) {
        for (int k = 0; k < it->noperands; k++)
            given[k] = data[k] + i * it->op[k].strides[2];
        r->loop(given, r->strides, it->shape[0], it->shape[1], r->params);
    }
}

static void range_boxes(const runner *r, int64_t begin, int64_t end)
{
    char *data[LA_ITER_MAX_OPS];
    int64_t step[2];
    la_dim_counter c;
    la_dim_counter_init(&c, r->it->ndim, r->it->shape, begin, end);
    while (la_dim_counter_step(&c, step)) {
        int64_t planes = la_dim_counter_planes(&c, step);
        loop_locate(r->it, c.values, data);
        if (planes > 1) {
            loop_run_planes(r, data, planes);
            la_dim_counter_skip(&c, planes);
            continue;
        }
        r->loop(data, r->strides, step[0], step[1], r->params);
        la_dim_counter_advance(&c, step);
    }
}

static void range_in_order(const runner *r, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        if (r->it->needs_cast) range_buffered(r, i, i + 1);
        else range_boxes(r, i, i + 1);
}

static void loop_run_range(const runner *r, int64_t begin, int64_t end)
{
    if (begin >= end) return;
    if (r->it->flags & LA_IT_IN_ORDER) range_in_order(r, begin, end);
    else if (r->it->needs_cast) range_buffered(r, begin, end);
    else if (r->it->ndim <= 1) range_flat(r, begin, end);
    else range_boxes(r, begin, end);
}

void la_iter_range(const la_iter *it, int64_t begin, int64_t end, la_loop loop,
                   const void *params)
{
    runner r;
    runner_init(&r, it, loop, params);
    loop_run_range(&r, begin, end);
}

/* Elements of a piece between two looks: whole tiles of rows, as a transpose
** that is cut inside of its tiles takes twice as long, unless rows are long. */
static int64_t piece(const la_iter *it)
{
    const int64_t rows = 64;
    if (it->ndim < 2 || it->shape[0] > 16 * POLLED / rows) return POLLED;
    int64_t tile = rows * it->shape[0];
    return tile > POLLED ? tile : POLLED / tile * tile;
}

/* Too few elements to read the clock for. */
static void loop_run_short(const runner *r, int64_t begin, int64_t end)
{
    for (int64_t i = begin, stop; (stop = la_poll_part(i, end, r->unknown)) > i;
         i = stop)
        loop_run_range(r, i, stop);
}

/* A range with a look at the interrupt flag now and then. The first piece tells
** how slow the function is. Pieces grow while they are quick: what a cut costs
** (a transpose loads the lines at it twice) is then little for each function.
*/
static void run_polling(int64_t begin, int64_t end, void *context)
{
    const runner *r = context;
    if (end - begin <= POLLED || r->unknown < UNKNOWN) {
        loop_run_short(r, begin, end);
        return;
    }
    int64_t start = la_nanoseconds();
    loop_run_range(r, begin, begin + UNKNOWN);
    int64_t before = la_nanoseconds();
    bool quick = before - start < QUICK * UNKNOWN / POLLED;
    int64_t most = quick ? piece(r->it) : UNKNOWN;
    for (int64_t i = begin + UNKNOWN, stop;
         (stop = la_poll_part(i, end, most - i % most)) > i; i = stop) {
        loop_run_range(r, i, stop);
        int64_t now = la_nanoseconds();
        if (now - before < QUICK && most < end - begin) most *= 2;
        before = now;
    }
}

static la_status after(const la_iter *it)
{
    if (it->numel >= POLLED) LA_TRY(la_poll());
    return LA_OK;
}

la_status la_iter_serial(la_iter *it, la_loop loop, const void *params)
{
    if (it->numel == 0 || it->device != LA_CPU) return LA_OK;
    runner r;
    runner_init(&r, it, loop, params);
    run_polling(0, it->numel, &r);
    return after(it);
}

la_status la_iter_for_each(la_iter *it, la_loop loop, const void *params,
                           int64_t grain)
{
    if (it->numel == 0 || it->device != LA_CPU) return LA_OK;
    runner r;
    runner_init(&r, it, loop, params);
    if (grain < LA_GRAIN / 8) r.unknown = grain;     /* a slow loop */
    if (it->numel < grain) {
        loop_run_range(&r, 0, it->numel);
        return LA_OK;
    }
    if (it->flags & LA_IT_IN_ORDER) {
        run_polling(0, it->numel, &r);
        return after(it);
    }
    numbers x;
    bool settle = it->needs_cast;
    if (settle) settle_numbers(it, &x);
    la_parallel_for(it->numel, grain, run_polling, &r);
    if (settle) unsettle_numbers(it, &x);
    return after(it);
}
