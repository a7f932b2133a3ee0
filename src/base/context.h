/*
** What belongs to one Lua state (or to a C caller without one): settings that
** operations read. Whoever enters the library makes one current on the calling
** thread before calling down: a closure of a Lua state that of the state, a
** function of the C interface that of the state it is given, or the thread's
** own. The pointer means nothing outside of an entry: a state may be closed by
** another thread.
*/
#ifndef LA_BASE_CONTEXT_H
#define LA_BASE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

typedef struct la_generator {   /* Philox4x32-10 state */
    uint64_t seed;
    uint64_t offset;            /* next counter block that nobody drew yet */
} la_generator;

typedef struct la_print_options {
    int precision, threshold, edgeitems, linewidth;
    int sci_mode;       /* -1 decides by the values, 0 never, 1 always */
} la_print_options;

typedef struct la_context {
    la_dtype default_dtype;     /* float32 unless set */
    bool no_grad;               /* recording is off */
    bool deterministic;
    bool portable;              /* ... with the bits of AVX2 and AVX512 */
    bool zero_memory;           /* elements that nobody wrote read as zero */
    uint32_t excluded_keys;     /* dispatch keys switched off by guards */
    uint32_t included_keys;
    struct la_fuse *fuse;       /* the open recording; NULL for none */
    la_generator generator;
    la_print_options print;
} la_context;

void la_context_init(la_context *);

extern _Thread_local la_context *la_current_context;
la_context *la_context_fallback(void);  /* this thread's own */

/* For the C interface: LA_ENTRY(c) makes 'c' current (NULL: the thread's own)
** until the function ends, and then the one before again, for a host that
** calls from within a script. */
static inline la_context *la_enter_context(la_context *c)
{
    la_context *before = la_current_context;
    la_current_context = c;
    return before;
}
static inline void la_leave_context(la_context **before)
{
    la_current_context = *before;
}
#define LA_ENTRY(c) __attribute__((cleanup(la_leave_context), unused)) \
    la_context *context_before = la_enter_context(c)

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
