/*
** Work over threads that is no iteration over elements (iter.h): items in
** ranges, and units that need scratch. Operations share their loops out here
** and not by la_parallel_for themselves, so that the look at the interrupt and
** its error are written once.
*/
#ifndef LA_ITER_ITEMS_H
#define LA_ITER_ITEMS_H

#include "base/runtime/thread_pool.h"
#include "base/size.h"

#define LA_ALL_ITEMS INT64_MAX

/* Call 'run' for ranges that cover 0 .. n-1 once, none longer than 'batch',
** with a look at the interrupt before each; a thread gets at least 'grain'
** items. A 'run' that stops by itself at an interrupt may take LA_ALL_ITEMS.
** How the items are cut depends on the number of threads: results must not
** depend on it. LA_EINTR, some items may be missing, or LA_OK. */
la_status la_iter_items(int64_t n, int64_t grain, int64_t batch,
                        la_range_fn run, void *context);

/* One unit; 'scratch' is aligned to 64 bytes, with what the last unit left. */
typedef la_status (*la_unit_fn)(void *context, int64_t unit, char *scratch);
typedef struct la_unit_plan {
    la_unit_fn run;
    int64_t grain;            /* least units of one thread */
    size_t bytes;             /* of scratch for each thread */
} la_unit_plan;
/* Call plan->run for units 0 .. n-1, over threads, with a look at the interrupt
** before each. The first failure stops all and is returned; LA_ENOMEM comes
** before any unit when there is no scratch. */
la_status la_iter_units(int64_t n, const la_unit_plan *plan, void *context);

#endif
