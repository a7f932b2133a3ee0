/*
** Background tasks: threads that a caller waits for, or not.
**
** Threads that were abandoned are noted in a list of the runtime, from which
** they are joined: those that have ended when the next task begins, all of
** them when the runtime ends. The list is taken and put back as a whole, so
** that it needs no lock. A runtime has so many at most, and a state (its token)
** one abandoned task: who stops waiting again and again waits for the one
** before, or is stopped there.
**
** Where the hook of an interrupt forks, the child has none of the threads: it
** gives up what they held and reports a stop. What was abandoned before the
** fork is lost to the child.
*/
#include "base/runtime/background.h"

#include "base/os/clock.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "base/runtime/passage.h"
#include "base/runtime/token.h"

enum { MOST_THREADS = 2 * LA_MOST_BACKGROUND };

typedef struct la_abandoned {
    struct la_abandoned *next;
    la_thread *thread;
    atomic_bool ended;
    la_background *task;
} helper;

/* ---- helpers ---- */

static void let_go(la_background *e)
{
    if (atomic_fetch_sub(&e->holders, 1) != 1) return;
    la_token *payer = e->payer;
    e->drop(e);
    if (!payer) return;
    atomic_fetch_sub(&payer->away, 1);
    la_token_release(payer);
}

static void work(void *context)
{
    helper *h = context;
    la_background *e = h->task;
    la_move_to(e->runtime);
    la_fp_mode before = la_fp_adopt(e->mode);
    e->run(e);
    la_fp_restore(before);
    atomic_fetch_sub(&e->working, 1);
    let_go(e);
    atomic_fetch_sub(&la_runtime_here()->background_threads, 1);
    atomic_store(&h->ended, true);
}

static void background_join(helper *h)
{
    la_thread_join(h->thread);
    la_raw_free(la_runtime_here(), h, sizeof *h);
}

static void put_back(la_runtime *rt, helper *h)
{
    helper *first = atomic_load(&rt->abandoned);
    do h->next = first;
    while (!atomic_compare_exchange_weak(&rt->abandoned, &first, h));
}

/* Those that have ended, or all. */
static void join_abandoned(la_runtime *rt, bool all)
{
    helper *h = atomic_exchange(&rt->abandoned, NULL);
    while (h) {
        helper *next = h->next;
        if (all || atomic_load(&h->ended)) background_join(h);
        else put_back(rt, h);
        h = next;
    }
}

void la_background_end(la_runtime *rt)
{
    la_position before = la_here;
    la_move_to(rt);
    join_abandoned(rt, true);
    la_move_back(&before);
}

/* ---- the caller ---- */

static helper *background_start(la_background *e)
{
    helper *h = la_raw_alloc(e->runtime, sizeof *h);
    if (!h) return NULL;
    h->task = e;
    atomic_fetch_add(&e->working, 1);
    atomic_fetch_add(&e->holders, 1);
    atomic_fetch_add(&e->runtime->background_threads, 1);
    if (!la_thread_start(work, h, &h->thread)) return h;
    atomic_fetch_sub(&e->runtime->background_threads, 1);
    atomic_fetch_sub(&e->working, 1);
    atomic_fetch_sub(&e->holders, 1);
    la_raw_free(e->runtime, h, sizeof *h);
    return NULL;
}

static bool wait_for_capacity(la_runtime *rt)
{
    const la_token *k = la_ctx()->token;
    while (atomic_load(&rt->background_threads) >= MOST_THREADS
           || atomic_load(&k->away) > 0) {
        if (la_interrupted()) return false;
        la_thread_nap(1000000);
    }
    return true;
}

bool la_background_goes_on(la_background *e)
{
    return e->alone ? !la_interrupted() : !atomic_load(&e->left);
}

static la_status run_alone(la_background *e)
{
    e->alone = true;
    e->run(e);
    if (!la_interrupted()) return LA_OK;
    let_go(e);
    return LA_EINTR;
}

/* Naps grow with the time that it takes: a sixteenth of it, a millisecond at
** most. 'life' counts forks. */
static bool wait_for(la_background *e, unsigned life)
{
    int64_t begin = la_nanoseconds();
    while (atomic_load(&e->working) > 0) {
        int64_t nap = (la_nanoseconds() - begin) / 16 + 20000;
        la_thread_nap(nap < 1000000 ? nap : 1000000);
        if (la_interrupted() || e->runtime->pool.life != life) return false;
    }
    return true;
}

static void abandon(la_background *e, helper *const *list, int n)
{
    la_runtime *rt = e->runtime;
    la_token *payer = la_ctx()->token;
    if (payer != &la_no_token) {
        e->payer = la_token_retain(payer);
        atomic_fetch_add(&payer->away, 1);
    }
    atomic_store(&e->left, true);
    let_go(e);
    for (int k = 0; k < n; k++) put_back(rt, list[k]);
}

/* The threads are the parent's. */
static la_status give_up(la_background *e, helper *const *list, int n)
{
    for (int k = 0; k < n; k++) {
        la_thread_forget(list[k]->thread);
        la_raw_free(e->runtime, list[k], sizeof *list[k]);
    }
    e->drop(e);
    return la_stop_error(LA_EINTR);
}

la_status la_background_run(la_background *e, int threads, void (*leave)(void))
{
    helper *list[LA_MOST_BACKGROUND];
    la_runtime *rt = e->runtime = la_runtime_here();
    unsigned life = rt->pool.life;
    int n = 0;
    e->mode = la_fp_current();
    atomic_store(&e->holders, 1);
    join_abandoned(rt, false);
    if (!wait_for_capacity(rt)) {
        let_go(e);
        return LA_EINTR;
    }
    while (n < threads && n < LA_MOST_BACKGROUND
           && (list[n] = background_start(e)) != NULL) n++;
    la_error_clear();               /* fewer threads are no failure */
    if (n == 0) return run_alone(e);
    if (!wait_for(e, life)) {
        if (rt->pool.life != life) return give_up(e, list, n);
        if (leave) leave();
        abandon(e, list, n);
        return LA_EINTR;
    }
    for (int k = 0; k < n; k++) background_join(list[k]);
    return LA_OK;
}
