/*
** Runtimes: their list, how threads are in them, and how they end.
**
** One lock guards the list and who is in which runtime. It is taken when a
** thread comes into a runtime for the first time, when a thread or a runtime
** ends, and around forks, and is never held while a function of the host runs.
** A lock of a runtime's memory may be taken inside of it, not the other way
** round.
*/
#include "base/runtime/runtime.h"

#include <string.h>

#include "base/runtime/background.h"
#include "base/runtime/device.h"
#include "base/runtime/local.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "base/runtime/passage.h"
#include "base/runtime/thread_pool.h"
#include "base/runtime/token.h"
#include "base/scratch.h"
#include "lunarray.h"

enum { MOST = 256 };
/* PyTorch's default seed, so that an unseeded run can be compared. */
#define DEFAULT_SEED UINT64_C(67280421310721)

la_runtime la_default_runtime = {
    .memory = {.lock = PTHREAD_MUTEX_INITIALIZER},
    .pool = LA_POOL_INIT, .transforms = {.taken = ATOMIC_FLAG_INIT}
};
uint64_t la_owner_serial[MOST];

static la_runtime *runtimes[MOST] = {&la_default_runtime};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static uint64_t serials;        /* the last one given away */
static unsigned last_number;

static la_context emergency;    /* without memory for a thread's own */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

void (*la_op_table_drop)(la_runtime *rt);

/* Locals of this thread in runtimes, a list under the lock; true while a local
** is made or the thread ends. */
static _Thread_local la_local *locals;
static _Thread_local bool busy;

/* ---- forks ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST; i++)
        if (runtimes[i]) pthread_mutex_lock(&runtimes[i]->memory.lock);
}

static void after_fork(void)
{
    for (int i = 0; i < MOST; i++)
        if (runtimes[i]) pthread_mutex_unlock(&runtimes[i]->memory.lock);
    pthread_mutex_unlock(&lock);
}

/* Only the forking thread is left. */
static void in_child(void)
{
    pthread_cond_init(&left, NULL);
    la_scratch_forked();
    for (int i = 0; i < MOST; i++) {
        if (!runtimes[i]) continue;
        runtimes[i]->leaving = 0;
        atomic_store(&runtimes[i]->abandoned, NULL);
        atomic_store(&runtimes[i]->background_threads, 0);
        la_pool_forked(&runtimes[i]->pool);
    }
    after_fork();
}

static void runtime_thread_ends(void *unused);

static void runtime_start(void)
{
    pthread_key_create(&key, runtime_thread_ends);
    la_os_at_fork(before_fork, after_fork, in_child);
}

void la_runtimes_start(void) { pthread_once(&once, runtime_start); }

/* ---- where a thread is ---- */

void la_position_check(void)
{
    uint64_t serial = __atomic_load_n(&la_owner_serial[la_here.owner],
                                      __ATOMIC_RELAXED);
    if (serial != la_here.serial) la_move_to(la_runtime_chosen());
}

la_runtime *la_runtime_at(uint8_t owner) { return runtimes[owner]; }

la_position la_move_to_owner(uint8_t owner)
{
    la_position before = la_here;
    la_move_to(runtimes[owner]);
    return before;
}

/* ---- what a thread has in a runtime ---- */

/* The lock is held. */
static la_local *find_local(const la_runtime *rt)
{
    la_local *t = locals;
    while (t && t->runtime != rt) t = t->sibling;
    return t;
}

static void unlink_local(la_local *t)
{
    *t->from = t->sibling;
    if (t->sibling) t->sibling->from = t->from;
}

static void link_local(la_local *t)
{
    t->sibling = locals;
    t->from = &locals;
    if (locals) locals->from = &t->sibling;
    locals = t;
}

/* A new one joins. The allocator may have come back for memory meanwhile. */
static la_local *add_local(la_runtime *rt, la_local *fresh)
{
    fresh->runtime = rt;
    fresh->chosen = &la_chosen_runtime;
    pthread_mutex_lock(&lock);
    la_local *t = find_local(rt);
    if (!t) link_local(fresh);
    pthread_mutex_unlock(&lock);
    if (t) {
        la_raw_free(rt, fresh, sizeof *fresh);
        return t;
    }
    la_local_join(fresh);
    return fresh;
}

la_local *la_local_make(void)
{
    la_runtime *rt = la_here.runtime;
    if (busy) return NULL;
    la_runtimes_start();
    pthread_mutex_lock(&lock);
    la_local *t = find_local(rt);
    pthread_mutex_unlock(&lock);
    if (!t) {
        busy = true;
        t = pthread_setspecific(key, &locals)
            ? NULL : la_raw_alloc(rt, sizeof *t);
        if (t) t = add_local(rt, t);
        busy = false;
    }
    return la_here.local = t;
}

/* 't' is linked nowhere among the thread's any more. */
static void runtime_leave(la_local *t)
{
    la_runtime *rt = t->runtime;
    la_position_forget(t);
    la_error_clear();
    la_local_leave(t);
    pthread_mutex_lock(&lock);
    rt->leaving--;
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&lock);
}

static void runtime_thread_ends(void *unused)
{
    busy = true;
    for (;;) {
        pthread_mutex_lock(&lock);
        la_local *t = locals;
        if (t) {
            unlink_local(t);
            t->runtime->leaving++;
        }
        pthread_mutex_unlock(&lock);
        if (!t) break;
        runtime_leave(t);
    }
    busy = false;
}

void la_local_forget(void)
{
    pthread_mutex_lock(&lock);
    la_local *t = find_local(&la_default_runtime);
    if (t) {
        unlink_local(t);
        t->runtime->leaving++;
    }
    pthread_mutex_unlock(&lock);
    if (t) runtime_leave(t);
}

bool la_local_is_mine(const la_local *local)
{
    pthread_mutex_lock(&lock);
    la_local *t = locals;
    while (t && t != local) t = t->sibling;
    pthread_mutex_unlock(&lock);
    return t != NULL;
}

/* ---- its settings there ---- */

void la_context_init(la_context *c, la_runtime *rt)
{
    bool deterministic = (rt->flags & LA_DETERMINISTIC) != 0;
    *c = (la_context){
        .runtime = rt, .serial = rt->serial,
        .default_dtype = LA_FLOAT32,
        .token = &la_no_token,
        .deterministic = deterministic, .portable = deterministic,
        .lockstep = deterministic,
        .zero_memory = (rt->flags & LA_ZERO_MEMORY) != 0,
        .generator = {.seed = rt->seed ? rt->seed : DEFAULT_SEED},
        .print = {.precision = 4, .threshold = 1000, .edgeitems = 3,
                  .linewidth = 80, .sci_mode = -1}
    };
}

/* Shared settings, used when there is no memory for a thread's own: the call is
** about to fail anyway. */
la_context *la_context_fallback(void)
{
    la_local *local = la_local_here();
    la_context *c = local ? &local->context : &emergency;
    if (!c->runtime) la_context_init(c, la_runtime_here());
    c->token = la_own_token;
    return c;
}

/* ---- the runtime of la_use ---- */

/* The thread's local in it is how the end of the runtime finds the choice. */
void la_runtime_choose(la_runtime *rt)
{
    la_position before = la_here;
    la_move_to(rt);
    la_local_here();
    la_move_back(&before);
    atomic_store_explicit(&la_chosen_runtime, rt, memory_order_relaxed);
}

/* ---- making one ---- */

/* The number goes round, so that it is long before one comes again. */
static bool take_number(la_runtime *rt)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned k = 0; k < MOST && !found; k++) {
        last_number = (last_number + 1) % MOST;
        found = !runtimes[last_number];
    }
    if (found) {
        rt->owner = (uint8_t)last_number;
        rt->serial = ++serials;
        __atomic_store_n(&la_owner_serial[last_number], rt->serial,
                         __ATOMIC_RELAXED);
        runtimes[last_number] = rt;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* The struct itself is a block of the allocator that it will hold. */
static la_runtime *new_struct(const la_config *c)
{
    la_runtime first = {.memory = {.alloc = c->alloc, .release = c->release,
                                   .context = c->alloc_context}};
    la_runtime *rt = la_raw_alloc(&first, sizeof *rt);
    if (!rt) {
        la_error(LA_ENOMEM, "la_runtime_new: the allocator gave no memory");
        return NULL;
    }
    rt->memory = first.memory;
    return rt;
}

/* The number comes last: with it the runtime is in the list, where other
** threads find it, so it has to be whole by then. */
la_runtime *la_runtime_make(const la_config *c)
{
    la_runtimes_start();
    la_runtime *rt = new_struct(c);
    if (!rt) return NULL;
    la_memory_begin(&rt->memory);
    la_pool_begin(&rt->pool);
    atomic_flag_clear(&rt->transforms.taken);
    rt->flags = c->flags;
    rt->seed = c->seed;
    rt->jobs = c->jobs;
    if (!la_has_jobs(&c->jobs) && c->jobs.workers > 0)
        atomic_store(&rt->pool.wanted, c->jobs.workers > LA_MAX_THREADS
                     ? LA_MAX_THREADS : c->jobs.workers);
    rt->memory.cap = c->memory;
    atomic_store(&rt->memory.careful, c->memory != 0);
    rt->log = c->log;
    rt->log_context = c->log_context;
    rt->stop = c->stop;
    rt->stop_context = c->stop_context;
    if (take_number(rt)) return rt;
    la_raw_free(rt, rt, sizeof *rt);
    la_error(LA_ENOMEM, "la_runtime_new: there are %d runtimes already", MOST);
    return NULL;
}

/* ---- ending one ---- */

/* Free blocks and threads go first: they are no reason to live. */
static la_status check_unused(la_runtime *rt)
{
    la_position before = la_here;
    int states = atomic_load(&rt->states);
    if (states)
        return la_error(LA_ESTATE, "la_runtime_destroy: %d Lua state%s of it "
                        "%s open", states, states == 1 ? "" : "s",
                        states == 1 ? "is" : "are");
    la_background_end(rt);
    la_move_to(rt);
    la_memory_trim();
    size_t used = la_memory_used(rt);
    bool idle = used || la_pool_end(&rt->pool);
    la_move_back(&before);
    if (used)
        return la_error(LA_ESTATE, "la_runtime_destroy: tensors of it live, "
                        "%zu bytes with their headers", used);
    if (!idle)
        return la_error(LA_ESTATE, "la_runtime_destroy: a call of it runs");
    return LA_OK;
}

/* A runtime that has ended is not looked at. */
static bool is_listed(const la_runtime *rt)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST && !found; i++) found = runtimes[i] == rt;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Nobody finds it any more: threads that were in it forget it. */
static void unlist(la_runtime *rt)
{
    pthread_mutex_lock(&lock);
    runtimes[rt->owner] = NULL;
    __atomic_store_n(&la_owner_serial[rt->owner], UINT64_MAX,
                     __ATOMIC_RELAXED);
    while (rt->leaving) pthread_cond_wait(&left, &lock);
    for (la_local *t = rt->memory.locals; t; t = t->next) {
        la_runtime *it = rt;
        unlink_local(t);
        atomic_compare_exchange_strong(t->chosen, &it, &la_default_runtime);
    }
    pthread_mutex_unlock(&lock);
}

la_status la_runtime_end(la_runtime *rt)
{
    if (!rt || rt == &la_default_runtime)
        return la_error(LA_EARG, "la_runtime_destroy: the default runtime "
                        "stays (la_shutdown ends its threads)");
    if (!is_listed(rt))
        return la_error(LA_EARG, "la_runtime_destroy: the runtime has ended "
                        "already");
    LA_TRY(check_unused(rt));
    uint64_t serial = rt->serial;
    if (la_op_table_drop) la_op_table_drop(rt);
    la_devices_drop(rt);
    unlist(rt);
    /* Its states are closed: a context of one is not looked at. */
    if (la_here.serial == serial) {
        la_move_to(&la_default_runtime);
        la_current_context = NULL;
    }
    la_position_forget_runtime(serial);
    la_error_clear();
    la_memory_end(rt);
    la_runtime last = {.memory = {.alloc = rt->memory.alloc,
                                  .release = rt->memory.release,
                                  .context = rt->memory.context}};
    la_raw_free(&last, rt, sizeof *rt);
    return LA_OK;
}

