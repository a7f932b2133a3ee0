/*
** What runs, how long it takes and what memory it leaves, while a profile is
** on: calls at the gate, nodes of a backward pass, fused passes. What runs on
** worker threads is part of the call that started it.
**
** A profile belongs to a context (base/runtime/context.h). Where none runs,
** nothing here is called: the gate asks one word for it and for lockstep. A
** profile inside of another records in both. Rows hold sums and grow with the
** kinds of calls; single calls, for a picture along the time, are kept up to a
** number. Running out of memory loses a record, which is counted, and never a
** call.
*/
#ifndef LA_OP_PROFILE_H
#define LA_OP_PROFILE_H

#include "op/frame.h"

enum la_profile_kind { LA_PROFILE_CALL, LA_PROFILE_NODE, LA_PROFILE_FUSED };
enum { LA_PROFILE_NAME = 48, LA_PROFILE_LINE = 80 };

/* All calls of one name on one line of the script. Times in nanoseconds;
** 'bytes' are what was allocated less what was freed, so that they may be
** negative, as those of a node that frees what it saved. 'total' has what
** runs inside of it, 'self' has not. */
typedef struct la_profile_row {
    char name[LA_PROFILE_NAME];
    const char *key;            /* where the name came from: only compared */
    int32_t line;               /* of la_profile_line */
    int32_t kind;
    int64_t count, self, total, bytes_self, bytes;
} la_profile_row;

typedef struct la_profile_event {
    int32_t row, depth;         /* calls around it: 0 for none */
    int64_t begun, took;        /* since the profile's start */
    int64_t bytes, used;        /* 'used': at its end, since the start */
} la_profile_event;

/* A call that runs; the caller's block. */
typedef struct la_profile_call {
    struct la_profile_call *outer;
    struct la_profile *profile;
    const char *name;
    size_t n;
    int32_t line, depth;
    enum la_profile_kind kind;
    int64_t begun, used;
    int64_t inside, bytes_inside;   /* of the calls in it */
} la_profile_call;

/* Writes "file:12", at most n bytes with the end, of the script's line that
** runs; false where there is none. It raises nothing. */
typedef bool (*la_profile_where)(void *host, char *text, size_t n);

/* Start one on the current context, inside of what runs there; 'most' single
** calls are kept. LA_ENOMEM. */
la_status la_profile_start(la_profile_where where, void *host, int64_t most,
                           struct la_profile **out);
/* It is the innermost of its context, or stopped before. */
void la_profile_stop(struct la_profile *p);
void la_profile_free(struct la_profile *p);     /* stopped; NULL is allowed */

/* ---- for those who run something; la_ctx()->profiled is set ---- */

void la_profile_begin(la_profile_call *c, enum la_profile_kind kind,
                      const char *name, size_t n);
void la_profile_operation(la_profile_call *c, const la_frame *f);
/* A node is made: 'sequence' tells it from others of the thread. Its derivative
** is shown with the line that runs now. */
void la_profile_node(uint64_t sequence);
void la_profile_derivative(la_profile_call *c, const char *name, size_t n,
                           uint64_t sequence);
/* Ends the call, also after an error. */
void la_profile_end(la_profile_call *c);

/* ---- reading ---- */

typedef struct la_profile_sums {
    int64_t rows, events;
    int64_t dropped;        /* calls that only rows have */
    int64_t lost;           /* ... that nothing has, for want of memory */
    int64_t took;           /* nanoseconds from start to stop, or to now */
} la_profile_sums;
la_profile_sums la_profile_sums_of(const struct la_profile *p);
const la_profile_row *la_profile_row_at(const struct la_profile *p, int64_t i);
const la_profile_event *la_profile_event_at(const struct la_profile *p,
                                            int64_t i);
/* "file:12", or "?". */
const char *la_profile_line_text(const struct la_profile *p, int32_t line);

#endif
