/*
** What calls of operations cost where a token counts fuel.
**
** A call costs 1 + work / 1024. Work is what the row's kind of cost counts
** (op/cost/cost.def): elements, multiply-adds, pairs. A composite costs what
** the operations in it do, and LA_FUEL_CALL for each of them; what an operation
** with a cost of its own calls is part of that cost. Entries of lists count as
** LA_FUEL_OBJECT. The same shapes, and values where these decide, cost the same
** on every machine. Each part is taken before the work that it stands for.
*/
#ifndef LA_OP_COST_FUEL_H
#define LA_OP_COST_FUEL_H

#include "base/runtime/token.h"
#include "op/frame.h"

enum { LA_FUEL_CALL = 256, LA_FUEL_OBJECT = 256 };

typedef struct la_fuel_scope {
    struct la_fuel_scope *outer, *root;
    la_token *token;
    const la_frame *frame;
    int64_t own;            /* work of this call, by its kind */
    int64_t work, paid;     /* of the root: of all calls in it */
    bool counts;            /* fuel; else nothing above is set */
    bool counted;           /* its cost is known: what it calls is part of it */
} la_fuel_scope;

/* The innermost call of this thread that counts; NULL for most. */
extern _Thread_local la_fuel_scope *la_fuel_running
    LA_HIDDEN;

/* Around a call whose token is armed. begin asks all limits; end is called
** after an error too and passes it on, or gives that of results that were not
** announced. */
la_status la_fuel_begin(la_fuel_scope *s, const la_frame *f, la_token *k);
la_status la_fuel_end(la_fuel_scope *s, la_status status);
/* Fuel that the last call on this thread paid, if it failed for want of memory;
** 0 when asked again. A retry pays again, and the cost may not depend on when
** garbage is collected. */
int64_t la_fuel_of_failure(void);

/* The next four are for calls while la_fuel_running is not NULL. */
/* A kernel of the call is about to run, or has its results ready: the cost that
** the row's kind gives from what is known. */
la_status la_fuel_kernel(const la_frame *f);
/* A result of these sizes is about to be made. */
la_status la_fuel_announce(const la_frame *f, int ndim, const int64_t *sizes);
/* So many objects are about to be made. */
la_status la_fuel_objects(int64_t n);
/* Work that shows itself only while the call runs: pairs that are tested,
** steps of a search. */
la_status la_fuel_more(const la_frame *f, int64_t work);

/* Work of a call by its row's kind (op/cost/cost.c), with the results that are
** there. Its arguments have been checked. */
int64_t la_cost_of(const la_frame *f);

/* Work of Lua tables that become a tensor of these sizes and 'count' elements,
** or are made of one. */
int64_t la_fuel_lua(int ndim, const int64_t *sizes, int64_t count);

static inline int64_t la_fuel_times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
static inline int64_t la_fuel_plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

#endif
