/* Limits that a host sets from any thread, and what they have come to. */
#include "base/runtime/token.h"

#include <pthread.h>

#include "base/os/clock.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "lunarray.h"

_Atomic bool la_tensors_shared;
la_token la_no_token = {.deadline = INT64_MAX, .fuel = INT64_MAX, .refs = 1};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

la_token *la_token_new(void)
{
    la_token *k = la_raw_alloc(&la_default_runtime, sizeof *k);
    if (!k) {
        la_error(LA_ENOMEM, "not enough memory");
        return NULL;
    }
    atomic_store(&k->deadline, INT64_MAX);
    atomic_store(&k->fuel, INT64_MAX);
    atomic_store(&k->refs, 1);
    return k;
}

/* ---- a thread's own ---- */

_Thread_local la_token *la_own_token = &la_no_token;

static void thread_ends(void *token)
{
    la_own_token = &la_no_token;
    la_token_release(token);
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ends);
}

la_token *la_token_own(void)
{
    if (la_own_token != &la_no_token) return la_own_token;
    pthread_once(&once, make_key);
    la_token *k = la_token_new();
    if (!k) return NULL;
    if (pthread_setspecific(key, k)) {
        la_token_release(k);
        la_error(LA_ENOMEM, "not enough memory");
        return NULL;
    }
    return la_own_token = k;
}

/* ---- what was reached ---- */

/* The first one counts. No more than atomic stores: a signal handler cancels by
** it. */
static la_status token_reach(la_token *k, la_status code)
{
    int none = LA_OK;
    atomic_compare_exchange_strong(&k->code, &none, (int)code);
    atomic_fetch_or(&k->armed, LA_TOKEN_REACHED);
    return none ? (la_status)none : code;
}

/* LA_OK, or the limit of the host's that was reached. */
static la_status limit_reached(la_token *k)
{
    int code = atomic_load_explicit(&k->code, memory_order_acquire);
    if (code) return (la_status)code;
    int64_t end = atomic_load_explicit(&k->deadline, memory_order_relaxed);
    if (end == INT64_MAX || la_nanoseconds() < end) return LA_OK;
    return token_reach(k, LA_EDEADLINE);
}

la_status la_token_reached(la_token *k)
{
    la_status code = limit_reached(k);
    if (code) return code;
    return atomic_load_explicit(&k->armed, memory_order_relaxed)
        & LA_TOKEN_SPENT ? LA_EFUEL : LA_OK;
}

la_status la_stop_error(la_status code)
{
    switch (code) {
    case LA_ECANCEL: return la_error(code, "stopped by the host");
    case LA_EDEADLINE: return la_error(code, "stopped: the deadline has "
                                       "passed");
    case LA_EFUEL: return la_error(code, "stopped: out of fuel");
    default: return la_error(LA_EINTR, "interrupted");
    }
}

la_status la_token_ask(la_token *k)
{
    la_status code = la_token_armed(k) ? la_token_reached(k) : LA_OK;
    return code ? la_stop_error(code) : LA_OK;
}

/* ---- fuel ---- */

static la_status take_aside(la_token *k, int64_t units)
{
    if (!(atomic_load(&k->armed) & LA_TOKEN_ASIDE)) return LA_OK;
    int_fast64_t left = atomic_load(&k->allowance);
    do {
        if (left < units) {
            atomic_fetch_or(&k->armed, LA_TOKEN_SPENT);
            return la_stop_error(LA_EFUEL);
        }
    } while (!atomic_compare_exchange_weak(&k->allowance, &left,
                                           left - units));
    return LA_OK;
}

void la_token_aside(la_token *k, int64_t units)
{
    atomic_store(&k->allowance, units);
    atomic_fetch_or(&k->armed, LA_TOKEN_ASIDE);
}

int64_t la_token_aside_ends(la_token *k)
{
    atomic_fetch_and(&k->armed, ~(unsigned)(LA_TOKEN_ASIDE | LA_TOKEN_SPENT));
    return atomic_load(&k->allowance);
}

la_status la_token_take(la_token *k, int64_t units)
{
    LA_TRY(la_token_ask(k));
    LA_TRY(take_aside(k, units));
    int_fast64_t left = atomic_load(&k->fuel);
    do {
        if (left == INT64_MAX) return LA_OK;
        if (left < units) return la_stop_error(token_reach(k, LA_EFUEL));
    } while (!atomic_compare_exchange_weak(&k->fuel, &left, left - units));
    return LA_OK;
}

void la_token_give_back(la_token *k, int64_t units)
{
    if (units > 0 && atomic_load(&k->armed) & LA_TOKEN_ASIDE)
        atomic_fetch_add(&k->allowance, units);
    int_fast64_t left = atomic_load(&k->fuel);
    while (units > 0 && left != INT64_MAX
           && !atomic_compare_exchange_weak(&k->fuel, &left, left + units))
        continue;
}

/* ---- memory ---- */

static size_t token_charged(la_token *k)
{
    return atomic_load_explicit(&k->lua, memory_order_relaxed)
        + atomic_load_explicit(&k->tensors, memory_order_relaxed)
        + atomic_load_explicit(&k->blocks, memory_order_relaxed)
        + atomic_load_explicit(&k->plans, memory_order_relaxed);
}

/* The record where the cap does not leave 'bytes' more. */
static la_status look_at_cap(la_token *k, size_t bytes, const char *whose)
{
    size_t cap = atomic_load_explicit(&k->cap, memory_order_relaxed);
    size_t used = cap ? token_charged(k) : 0;
    if (!cap || (used <= cap && bytes <= cap - used)) return LA_OK;
    return la_error(LA_ENOMEM, "%snot enough memory (%zu bytes asked, %zu in"
                    " use, limit %zu)", whose, bytes, used, cap);
}

la_status la_token_charge_lua(la_token *k, size_t bytes)
{
    LA_TRY(look_at_cap(k, bytes, "script: "));
    atomic_fetch_add_explicit(&k->lua, bytes, memory_order_relaxed);
    return LA_OK;
}

void la_token_uncharge_lua(la_token *k, size_t bytes)
{
    atomic_fetch_sub_explicit(&k->lua, bytes, memory_order_relaxed);
}

la_status la_token_pay_slowly(la_token *k, atomic_size_t *count, size_t bytes,
                              la_token **payer)
{
    *payer = NULL;
    if (k == &la_no_token) return LA_OK;
    LA_TRY(look_at_cap(k, bytes, ""));
    if (atomic_fetch_add(count, bytes) == 0) la_token_retain(k);
    *payer = k;
    return LA_OK;
}

void la_token_unpay_slowly(la_token *k, atomic_size_t *count, size_t bytes)
{
    if (atomic_fetch_sub(count, bytes) == bytes) la_token_release(k);
}

void la_token_set_cap(la_token *k, size_t bytes)
{
    atomic_store(&k->cap, bytes);
}

/* ---- for hosts ---- */

LA_API la_token *la_token_retain(la_token *k)
{
    if (k) atomic_fetch_add(&k->refs, 1);
    return k;
}

LA_API void la_token_release(la_token *k)
{
    if (k && atomic_fetch_sub(&k->refs, 1) == 1)
        la_raw_free(&la_default_runtime, k, sizeof *k);
}

/* A deadline that has passed unseen came first. The clock may be read in a
** signal handler (POSIX). */
LA_API void la_cancel(la_token *k)
{
    if (k && !limit_reached(k)) token_reach(k, LA_ECANCEL);
}

LA_API void la_set_deadline(la_token *k, int64_t ns)
{
    if (!k || limit_reached(k)) return;
    int64_t now = la_nanoseconds();
    if (ns <= 0) {
        token_reach(k, LA_EDEADLINE);
        return;
    }
    bool none = ns > INT64_MAX - now;
    atomic_store(&k->deadline, none ? INT64_MAX : now + ns);
    if (none) atomic_fetch_and(&k->armed, ~(unsigned)LA_TOKEN_DEADLINE);
    else atomic_fetch_or(&k->armed, LA_TOKEN_DEADLINE);
}

LA_API void la_set_fuel(la_token *k, int64_t fuel)
{
    if (!k) return;
    atomic_store(&k->fuel, fuel < 0 ? 0 : fuel);
    if (fuel == INT64_MAX)
        atomic_fetch_and(&k->armed, ~(unsigned)LA_TOKEN_FUEL);
    else
        atomic_fetch_or(&k->armed, LA_TOKEN_FUEL);
}

LA_API int64_t la_fuel_left(la_token *k)
{
    return k ? atomic_load(&k->fuel) : 0;
}

LA_API int la_token_code(la_token *k)
{
    return k ? (int)limit_reached(k) : LA_OK;
}

LA_API size_t la_token_memory(la_token *k)
{
    return k ? token_charged(k) : 0;
}

/* Clears the limits of the host; calls that run aside now keep their own
** bound. */
LA_API void la_token_clear(la_token *k)
{
    if (!k) return;
    atomic_store(&k->deadline, INT64_MAX);
    atomic_store(&k->fuel, INT64_MAX);
    atomic_store(&k->code, LA_OK);
    atomic_fetch_and(&k->armed, LA_TOKEN_ASIDE | LA_TOKEN_SPENT);
}
