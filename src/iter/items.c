/* Items and units over threads; see items.h. */
#include "iter/items.h"

#include <stdatomic.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"

/* ---- items ---- */

typedef struct items {
    la_range_fn run;
    void *context;
    int64_t batch;
} items;

/* Items begin..end of one thread; all stop when one has seen the interrupt. */
static void run_batches(int64_t begin, int64_t end, void *context)
{
    const items *s = context;
    for (int64_t i = begin, last; i < end && !la_interrupted(); i = last) {
        last = end - i > s->batch ? i + s->batch : end;
        s->run(i, last, s->context);
    }
}

/* The last look is for those who stop in the middle of a range, and the only
** one for what is a single batch of a single thread. */
la_status la_iter_items(int64_t n, int64_t grain, int64_t batch,
                        la_range_fn run, void *context)
{
    items s = {run, context, batch};
    if (n > 0 && n <= grain && n <= batch) run(0, n, context);
    else la_parallel_for(n, grain, run_batches, &s);
    return la_poll();
}

/* ---- units ---- */

typedef struct units {
    const la_unit_plan *plan;
    void *context;
    int64_t n, tasks;
    char *scratch;
    size_t each;              /* bytes of scratch from task to task */
    atomic_int status;        /* the first failure of any task */
} units;

/* Task t takes the t-th share of the units, in their order, and one scratch. */
static void run_tasks(int64_t begin, int64_t end, void *context)
{
    units *s = context;
    for (int64_t t = begin; t < end; t++) {
        int64_t u = s->n * t / s->tasks, last = s->n * (t + 1) / s->tasks;
        for (; u < last && !atomic_load(&s->status) && !la_interrupted(); u++) {
            la_status status = s->plan->run(s->context, u,
                                            s->scratch + t * s->each);
            if (status) atomic_store(&s->status, (int)status);
        }
    }
}

/* The text of an error stays with the thread that met it: the two that tasks
** come to are said again. */
static la_status unit_error(la_status status)
{
    if (status == LA_ENOMEM) return la_error(LA_ENOMEM, "not enough memory");
    LA_TRY(la_poll());
    return status;
}

/* Runs at most one task per thread: scratch is allocated here, once for all, so
** that a failure comes before the first write. */
la_status la_iter_units(int64_t n, const la_unit_plan *plan, void *context)
{
    int64_t shares = la_ceil_div(n, la_max(plan->grain, 1)), bytes;
    units s = {.plan = plan, .context = context, .n = n};
    s.each = (plan->bytes + 63) / 64 * 64;
    s.tasks = la_in_parallel() ? 1 : la_min(la_num_threads(), shares);
    if (n <= 0) return LA_OK;
    if (!la_mul_ok(s.tasks, (int64_t)s.each, &bytes))
        return la_error(LA_ENOMEM, "not enough memory");
    s.scratch = la_mem_alloc((size_t)bytes);
    if (!s.scratch) return LA_ENOMEM;
    la_parallel_for(s.tasks, 1, run_tasks, &s);
    la_mem_free(s.scratch, (size_t)bytes);
    return unit_error((la_status)s.status);
}
