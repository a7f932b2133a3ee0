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
    LA_TOKEN_FUEL = 4,
    LA_TOKEN_ASIDE = 8,     /* work goes on that has an allowance */
    LA_TOKEN_SPENT = 16     /* ... which is used up */
};

typedef struct la_token {
    atomic_uint armed;
    atomic_int code;                /* la_status of what was reached, or 0 */
    atomic_int_fast64_t deadline;   /* on la_nanoseconds' clock */
    atomic_int_fast64_t fuel;       /* left; INT64_MAX: no end */
    atomic_int_fast64_t allowance;  /* left, with LA_TOKEN_ASIDE */
    atomic_int refs;
    /* Bytes of Lua, bytes of tensors, bytes of all other blocks (la_mem_alloc:
    ** graphs, views, scratch), bytes of plans that are kept, which any thread
    ** may give up, and the cap on their sum (0: none). */
    atomic_size_t lua, tensors, blocks, plans, cap;
    atomic_uint words;              /* new names of dims, tensor/names.c */
    atomic_int away;                /* tasks that nobody waits for any more,
                                    ** base/runtime/background.c */
} la_token;

/* Token of contexts whose own nobody has asked for: never armed, not
** counted. */
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
            & (LA_TOKEN_FUEL | LA_TOKEN_ASIDE)) != 0;
}
/* Limit that has been reached: LA_OK, LA_ECANCEL, LA_EDEADLINE or LA_EFUEL.
** Looks at the clock where there is a deadline. */
la_status la_token_reached(la_token *k);
/* la_token_reached with the error record. */
la_status la_token_ask(la_token *k);
/* Take units of fuel; LA_EFUEL, which stays, when there are not so many left.
** Other limits are asked too. */
la_status la_token_take(la_token *k, int64_t units);
/* Gives back fuel of work that is begun anew and pays again. */
void la_token_give_back(la_token *k, int64_t units);
/* Work that a state does aside (finalizers) has at most so many units, whatever
** the host's limits are, until la_token_aside_ends, which returns what is left.
** What it takes comes from the fuel as well; once it has used all, it is
** stopped as by LA_EFUEL, which does not stay. On the state's thread. */
void la_token_aside(la_token *k, int64_t units);
int64_t la_token_aside_ends(la_token *k);
/* Bytes that Lua has and gives back. LA_ENOMEM, with the record, above the
** cap: nothing is charged then. Does not stay. */
la_status la_token_charge_lua(la_token *k, size_t bytes);
void la_token_uncharge_lua(la_token *k, size_t bytes);
void la_token_set_cap(la_token *k, size_t bytes);
static inline bool la_token_is_capped(la_token *k)
{
    return atomic_load_explicit(&k->cap, memory_order_relaxed) != 0;
}

/* Counters of references, versions and bytes need the processor's locked
** instructions, each as long as a small view takes altogether, only when two
** threads can hold the same tensor. Scripts can't pass tensors between states,
** and ranges of a parallel region see pointers only; so it begins when a host
** takes a tensor into C, and the thread that hands it out says so before. For
** good: what was counted plainly is seen by who is given the tensor later. */
extern _Atomic bool la_tensors_shared LA_HIDDEN;
static inline void la_share_tensors(void)
{
    atomic_store_explicit(&la_tensors_shared, true, memory_order_relaxed);
}
static inline bool la_alone(void)
{
    return !atomic_load_explicit(&la_tensors_shared, memory_order_relaxed);
}

/* Charge for a block of so many bytes: what the system loses by it, which has a
** line of 64 bytes more for each, and whole lines of small ones. */
static inline size_t la_token_price(size_t bytes)
{
    return bytes > 1024 ? bytes + 64 : ((bytes + 63) & ~(size_t)63) + 64;
}

/* Bytes in 'count', k->tensors or k->blocks, until la_token_unpay on whatever
** thread; while there are any, that count holds the token. LA_ENOMEM above the
** cap, with the record: nothing is charged then. Does not stay. Contexts that
** have no token of their own pay nothing: *payer is NULL. */
la_status la_token_pay_slowly(la_token *k, atomic_size_t *count, size_t bytes,
                              la_token **payer);
void la_token_unpay_slowly(la_token *k, atomic_size_t *count, size_t bytes);

static inline la_status la_token_pay(la_token *k, atomic_size_t *count,
                                     size_t bytes, la_token **payer)
{
    size_t had = atomic_load_explicit(count, memory_order_relaxed);
    if (__builtin_expect(!had || la_token_is_capped(k) || !la_alone(), 0))
        return la_token_pay_slowly(k, count, bytes, payer);
    atomic_store_explicit(count, had + bytes, memory_order_relaxed);
    *payer = k;
    return LA_OK;
}

static inline void la_token_unpay(la_token *k, atomic_size_t *count,
                                  size_t bytes)
{
    size_t had = atomic_load_explicit(count, memory_order_relaxed);
    if (__builtin_expect(had == bytes || !la_alone(), 0))
        la_token_unpay_slowly(k, count, bytes);
    else
        atomic_store_explicit(count, had - bytes, memory_order_relaxed);
}
/* Fuel for an operation with so much work. */
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
