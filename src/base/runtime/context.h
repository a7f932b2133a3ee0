/*
** What belongs to one Lua state (or to a C caller without one): settings that
** operations read. Whoever enters the library makes one current on the calling
** thread before calling down: a closure of a Lua state that of the state, a
** function of the C interface that of the state it is given, or the thread's
** own. With it comes the runtime, where the thread is until it enters another.
** The pointers mean nothing outside of an entry: a state may be closed by
** another thread.
*/
#ifndef LA_BASE_RUNTIME_CONTEXT_H
#define LA_BASE_RUNTIME_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/os/fpmode.h"
#include "base/status.h"

typedef struct la_runtime la_runtime;
typedef struct la_token la_token;
typedef struct la_local la_local;        /* base/runtime/local.h */

/* Position of a thread. base/runtime/passage.h moves it. */
typedef struct la_position {
    la_runtime *runtime;
    la_local *local;            /* NULL: not looked up yet */
    uint64_t serial;            /* the runtime's */
    uint8_t owner;
} la_position;

typedef struct la_generator {   /* Philox4x32-10 state */
    uint64_t seed;
    uint64_t offset;            /* next counter block that nobody drew yet */
} la_generator;

typedef struct la_print_options {
    int precision, threshold, edgeitems, linewidth;
    int sci_mode;       /* -1 decides by the values, 0 never, 1 always */
} la_print_options;

typedef struct la_context {
    la_runtime *runtime;        /* the state's, for good */
    uint64_t serial;            /* ... and its number */
    la_dtype default_dtype;     /* float32 unless set */
    bool no_grad;               /* recording is off */
    bool deterministic;
    bool portable;              /* ... with the bits of AVX2 and AVX512 */
    union {
        struct {
            bool lockstep;      /* ... of every machine: op/lockstep.h */
            bool observed;      /* 'observer' is not NULL */
        };
        uint16_t watched;       /* any of the two: one question for each call */
    };
    bool zero_memory;           /* elements that nobody wrote read as zero */
    bool must_ask;              /* no long work that nothing can stop */
    uint32_t excluded_keys;     /* dispatch keys switched off by guards */
    uint32_t included_keys;
    struct la_recorder *recorder;   /* of a program (src/program), or NULL */
    la_token *token;            /* its limits, runtime/token.h; never NULL */
    struct la_vmap *vmap;       /* the innermost running vmap; NULL for none */
    bool wanted_batched;        /* elements of its tensors were asked for */
    bool small_stack;           /* LAPACK gets that of another thread */
    struct la_observer *observer;   /* op/observe.h; NULL for none */
    char *(*where)(struct la_context *c);   /* anomaly mode: the script's line
                                ** that runs, grad/grad.h; NULL: it is off */
    void *caller;               /* the coroutine whose operation runs, while
                                ** no Lua code can; NULL: not known */
    la_generator generator;
    la_print_options print;
} la_context;

extern _Thread_local la_context *la_current_context;
extern _Thread_local la_position la_here;
extern uint64_t la_owner_serial[];       /* of la_position.owner */
extern _Thread_local _Atomic(la_runtime *) la_chosen_runtime;  /* by la_use */
extern la_runtime la_default_runtime;
/* The runtime this thread is in. */
static inline la_runtime *la_runtime_here(void) { return la_here.runtime; }

la_context *la_context_fallback(void);  /* this thread's own, where it is */
/* Go to a runtime; as la_move_to, it changes nothing but la_here. */
void la_move_to(la_runtime *rt);

/* Makes the settings of 'c' hold from here on, in its runtime. */
static inline void la_make_current(la_context *c)
{
    la_current_context = c;
    if (__builtin_expect(c->serial != la_here.serial, 0))
        la_move_to(c->runtime);
}

static inline la_context *la_ctx(void)
{
    la_context *c = la_current_context;
    return c ? c : la_context_fallback();
}

/* LA_WITHOUT_KEYS(set): until the function ends, the operations that this
** thread runs go without these dispatch keys (1u << key). */
static inline uint32_t la_exclude_keys(uint32_t set)
{
    la_context *c = la_ctx();
    uint32_t before = c->excluded_keys;
    c->excluded_keys = before | set;
    return before;
}
static inline void la_restore_keys(const uint32_t *before)
{
    la_ctx()->excluded_keys = *before;
}
#define LA_WITHOUT_KEYS(set) __attribute__((cleanup(la_restore_keys), unused)) \
    uint32_t keys_before = la_exclude_keys(set)

#endif
