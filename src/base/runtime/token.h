/*
** Tokens: how a host bounds the work of a Lua state, or of a thread without
** one.
**
** A token is a record of its own, counted, so that it may outlive its state:
** others cancel by it on any thread. What was reached first (cancel, deadline,
** fuel) stays until la_token_clear. Whoever works looks at 'armed', one load;
** only where that is not 0 is there more to ask.
*/
#ifndef LA_BASE_RUNTIME_TOKEN_H
#define LA_BASE_RUNTIME_TOKEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum {                      /* bits of 'armed' */
    LA_TOKEN_REACHED = 1,   /* 'code' is set */
    LA_TOKEN_DEADLINE = 2,
    LA_TOKEN_FUEL = 4
};

typedef struct la_token {
    atomic_uint armed;
    atomic_int code;                /* la_status of what was reached, or 0 */
    atomic_int_fast64_t deadline;   /* on la_nanoseconds' clock */
    atomic_int_fast64_t fuel;       /* left; INT64_MAX: no end */
    atomic_int refs;
    /* Bytes of Lua, bytes of tensors, and the cap on both (0: none). */
    atomic_size_t lua, tensors, cap;
} la_token;

/* Of contexts whose token nobody has asked for: never armed, not counted. */
extern la_token la_no_token LA_HIDDEN;

/* New, with one reference; NULL when memory is out. It belongs to no runtime,
** since it may outlive one; its block is the default one's. */
la_token *la_token_new(void);
/* This thread's own, in every runtime, made at the first call, borrowed: it is
** let go when the thread ends. NULL when memory is out. */
la_token *la_token_own(void);
extern _Thread_local la_token *la_own_token;    /* or la_no_token */

static inline bool la_token_armed(la_token *k)
{
    return atomic_load_explicit(&k->armed, memory_order_relaxed) != 0;
}
static inline bool la_token_counts(la_token *k)
{
    return (atomic_load_explicit(&k->armed, memory_order_relaxed)
            & LA_TOKEN_FUEL) != 0;
}
/* What has been reached: LA_OK, LA_ECANCEL, LA_EDEADLINE or LA_EFUEL. Looks at
** the clock where there is a deadline. */
la_status la_token_reached(la_token *k);
/* The same, with the error record. */
la_status la_token_ask(la_token *k);
/* Take units of fuel; LA_EFUEL, which stays, when there are not so many left.
** Other limits are asked too. */
la_status la_token_take(la_token *k, int64_t units);
/* Of work that is begun anew and pays again. */
void la_token_give_back(la_token *k, int64_t units);
/* Bytes that Lua has and gives back. LA_ENOMEM, with the record, above the
** cap: nothing is charged then. Does not stay. */
la_status la_token_charge_lua(la_token *k, size_t bytes);
void la_token_uncharge_lua(la_token *k, size_t bytes);
void la_token_set_cap(la_token *k, size_t bytes);
/* For tensors (tensor/storage.h), which count their own bytes. */
static inline bool la_token_is_capped(la_token *k)
{
    return atomic_load_explicit(&k->cap, memory_order_relaxed) != 0;
}
la_status la_token_check_cap(la_token *k, size_t bytes);
/* What an operation with so much work costs. */
static inline int64_t la_fuel_price(int64_t work) { return 1 + work / 1024; }
/* The record of a stop for this reason (also LA_EINTR): returns 'code'. */
la_status la_stop_error(la_status code);
/* Is it one that ends work in the middle? */
static inline bool la_is_stop(la_status s)
{
    return s == LA_EINTR || s == LA_ECANCEL || s == LA_EDEADLINE
        || s == LA_EFUEL;
}

#endif
