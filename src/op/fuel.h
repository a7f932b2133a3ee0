/*
** What calls of operations cost where a token counts fuel.
**
** A call costs 1 + work / 1024: work is the elements of its largest argument or
** result, or the multiply-adds of the products and convolutions in it where
** those are more. The same shapes cost the same on every machine. Operations
** inside of an operation cost nothing of their own, but their products count.
** Each part is taken before the work that it stands for.
*/
#ifndef LA_OP_FUEL_H
#define LA_OP_FUEL_H

#include "base/runtime/token.h"
#include "op/frame.h"

typedef struct la_fuel_scope {
    struct la_fuel_scope *outer, *root;
    la_token *token;
    const la_frame *frame;
    int64_t elements, products;     /* of the root: of all calls in it */
    int64_t paid;
    bool counts;            /* fuel; else nothing above is set */
    bool counted;           /* its products are; those inside of it are not */
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
/* A result of these sizes is about to be made. */
la_status la_fuel_announce(const la_frame *f, int ndim, const int64_t *sizes);

#endif
