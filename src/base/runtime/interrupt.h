/*
** Asking whether to stop, from the inside of long work.
*/
#ifndef LA_BASE_RUNTIME_INTERRUPT_H
#define LA_BASE_RUNTIME_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Long loops ask every few milliseconds (20 at most). la_interrupted, for the
** inside of a region: true means that the loop should end; it stays true until
** the operation has ended. la_poll, for whoever answers with a status: LA_OK,
** or with its text LA_ECANCEL, LA_EDEADLINE or LA_EFUEL (the token of the call
** that began the region) or LA_EINTR (the hook, which is the host's or the
** program's: Ctrl-C). */
typedef bool (*la_interrupt_fn)(void *host);
__attribute__((visibility("default")))
void la_set_interrupt(la_interrupt_fn, void *host);
bool la_interrupted(void);
la_status la_poll(void);
/* Can anybody say yes? A call that could ask nobody may then be made as it
** is. */
bool la_may_be_interrupted(void);
/* Piece bounds for passes that take nanoseconds for each of n elements: where
** the piece that begins at i ends. i itself, which ends the loop, when nothing
** is left or the operation is interrupted. Short passes do not ask, nor do last
** pieces. for (int64_t i = 0, end; (end = la_poll_piece(i, n)) > i; i = end)
** la_poll_part, for what takes longer: of pieces of 'most' elements.
** LA_EACH_POLLED heads the loop over single elements i = first .. n-1 (a break
** leaves the piece alone). */
#define LA_POLL_ELEMENTS ((int64_t)1 << 18)
static inline int64_t la_poll_part(int64_t i, int64_t n, int64_t most)
{
    if (n - i <= most) return n;
    return la_interrupted() ? i : i + most;
}
static inline int64_t la_poll_piece(int64_t i, int64_t n)
{
    return la_poll_part(i, n, LA_POLL_ELEMENTS);
}
#define LA_EACH_POLLED(i, first, n)                                          \
    for (int64_t i = (first), i##_end;                                      \
         (i##_end = la_poll_piece(i, n)) > i; )                             \
        for (; i < i##_end; i++)
/* Polls after a pass over n elements, before the next one relies on it. */
static inline bool la_poll_long(int64_t n)
{
    return n > LA_POLL_ELEMENTS && la_interrupted();
}
/* Elements until the next poll, for an array of n elements that is worked on by
** runs of any length, of which a run takes some. */
static inline int64_t la_poll_every(int64_t n)
{
    return n > LA_POLL_ELEMENTS ? LA_POLL_ELEMENTS : INT64_MAX;
}
static inline bool la_poll_run(int64_t *left, int64_t n)
{
    *left -= n;
    if (*left >= 0) return false;
    *left = LA_POLL_ELEMENTS;
    return la_interrupted();
}

#endif
