/*
** What runs, how long it takes and what memory it leaves, while a profile is
** on: an observer of a context (op/observe.h).
**
** A profile inside of another records in both. Rows hold sums and grow with the
** kinds of calls; single calls, for a picture along the time, are kept up to a
** number. Running out of memory loses a record, which is counted, and never a
** call.
*/
#ifndef LA_PROFILE_RECORD_H
#define LA_PROFILE_RECORD_H

#include "base/status.h"
#include "op/observe.h"

typedef struct la_profile la_profile;
enum { LA_PROFILE_NAME = 48, LA_PROFILE_LINE = 80 };

/* All calls of one name on one line of the script. Times in nanoseconds;
** 'bytes' are what was allocated less what was freed, so that they may be
** negative, as those of a node that frees what it saved. 'total' has what
** runs inside of it, 'self' has not. */
typedef struct la_profile_row {
    char name[LA_PROFILE_NAME];
    const char *key;            /* where the name came from: only compared */
    int32_t line;               /* of la_profile_line */
    int32_t kind;               /* la_observed_kind */
    int64_t count, self, total, bytes_self, bytes;
} la_profile_row;

typedef struct la_profile_event {
    int32_t row, depth;         /* calls around it: 0 for none */
    int64_t begun, took;        /* since the profile's start */
    int64_t bytes, used;        /* 'used': at its end, since the start */
} la_profile_event;

/* Writes "file:12", at most n bytes with the end, of the script's line that
** runs; false where there is none. It raises nothing. */
typedef bool (*la_profile_where)(void *host, char *text, size_t n);

/* Start one on the current context, inside of what runs there; 'most' single
** calls are kept. LA_ENOMEM. */
la_status la_profile_start(la_profile_where where, void *host, int64_t most,
                           la_profile **out);
/* It is the innermost of its context, or stopped before. */
void la_profile_stop(la_profile *p);
void la_profile_free(la_profile *p);     /* stopped; NULL is allowed */

/* ---- reading ---- */

typedef struct la_profile_sums {
    int64_t rows, events;
    int64_t dropped;        /* calls that only rows have */
    int64_t lost;           /* ... that nothing has, for want of memory */
    int64_t took;           /* nanoseconds from start to stop, or to now */
} la_profile_sums;
la_profile_sums la_profile_sums_of(const la_profile *p);
const la_profile_row *la_profile_row_at(const la_profile *p, int64_t i);
const la_profile_event *la_profile_event_at(const la_profile *p,
                                            int64_t i);
/* "file:12", or "?". */
const char *la_profile_line_text(const la_profile *p, int32_t line);

#endif
