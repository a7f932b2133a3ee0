/*
** An observer of a context hears what runs there: calls that pass the
** dispatcher, nodes of a backward pass, fused passes. What runs on worker
** threads is part of the call that started it.
**
** Where a context has none, nothing here is called: the dispatcher asks one
** word for it and for lockstep.
*/
#ifndef LA_OP_OBSERVE_H
#define LA_OP_OBSERVE_H

#include <stddef.h>

#include "base/runtime/context.h"

enum la_observed_kind { LA_OBSERVED_CALL, LA_OBSERVED_NODE, LA_OBSERVED_PASS };

/* One thing that runs, a block of whoever runs it. 'name' has n bytes and lives
** as long as the block; 'sequence' is that of a node. The rest is the
** observer's to use. */
typedef struct la_observed {
    enum la_observed_kind kind;
    const char *name;
    size_t n;
    uint64_t sequence;
    const struct la_frame *frame;   /* of a call, with its results once it has
                                    ** ended well; NULL of all else */
    struct la_observer *observer;
    struct la_observed *outer;
    int32_t line, depth;
    int64_t begun, used, inside, bytes_inside;
} la_observed;

/* Functions of an observer; it begins with them. None may raise or run an
** operation. */
typedef struct la_observer {
    void (*begin)(struct la_observer *o, la_observed *c);
    void (*end)(struct la_observer *o, la_observed *c); /* after errors too */
    /* A node is recorded: 'sequence' tells it from others of the thread. */
    void (*recorded)(struct la_observer *o, uint64_t sequence);
} la_observer;

/* ---- for those who run something; la_ctx()->observed is set ---- */

static inline void la_observe_begin(la_observed *c, enum la_observed_kind kind,
                                    const char *name, size_t n,
                                    uint64_t sequence)
{
    la_observer *o = la_ctx()->observer;
    *c = (la_observed){.kind = kind, .name = name, .n = n,
                       .sequence = sequence, .observer = o};
    o->begin(o, c);
}

/* To the observer that heard the begin. */
static inline void la_observe_end(la_observed *c)
{
    c->observer->end(c->observer, c);
}

static inline void la_observe_recorded(uint64_t sequence)
{
    la_observer *o = la_ctx()->observer;
    o->recorded(o, sequence);
}

/* Sets or (NULL) removes the observer of a context. */
static inline void la_observe(la_context *c, la_observer *o)
{
    c->observer = o;
    c->observed = o != NULL;
}

#endif
