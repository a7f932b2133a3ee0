/*
** Status codes and the error record.
**
** Every fallible function of the core returns la_status. The text that a user
** reads is written into a record of the calling thread where the fault is
** known, and travels with the code; nothing below src/lua raises, prints or
** exits. Texts are facts about the call ("size 7 does not fit 6 elements"); the
** Lua binding puts the function's and the argument's name around.
*/
#ifndef LA_BASE_STATUS_H
#define LA_BASE_STATUS_H

#include <stddef.h>

typedef enum la_status {
    LA_OK = 0,
    LA_EARG,     /* an argument has the wrong type or value */
    LA_ESHAPE,   /* sizes do not fit each other or the data */
    LA_EDTYPE,   /* dtype not supported, or a result does not fit it */
    LA_EINDEX,   /* an index or a dimension is out of range */
    LA_EALIAS,   /* operands overlap in memory in a way that is not allowed */
    LA_ESTATE,   /* freed, read-only, locked, no storage */
    LA_ENOMEM,   /* memory could not be had, or the cap is reached */
    LA_EIO,      /* a file or a stream failed or is malformed */
    LA_EINTR,    /* the host asked to stop */
    LA_EGRAD,    /* autograd: no graph, changed in place, freed buffers */
    LA_EKEY      /* no kernel for this operation on this device */
} la_status;

/* Leave the function with the status of 'e' unless it is LA_OK. */
#define LA_TRY(e) \
    do { la_status status_ = (e); if (status_) return status_; } while (0)

/* Write the record and return 'code'. At most 1,023 bytes are kept; control
** bytes of texts that come from users are escaped by the caller (la_quote). */
la_status la_error(la_status code, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* As la_error, and names the argument at fault: 'arg' counts from 1 in the
** order of the operation's schema. The binding says "bad argument #arg". */
la_status la_error_at(la_status code, int arg, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Pass 'code' on; where a helper failed without naming an argument, it was
** 'arg'. 0 takes the name away: for errors of an operation inside another. */
la_status la_blame(la_status code, int arg);

/* The record of the calling thread: text, code, argument (0 for none). */
const char *la_error_message(void);
la_status la_error_code(void);
int la_error_arg(void);
void la_error_clear(void);

/* Copy 'n' bytes of user text into 'out' (of 'capacity' bytes), clipped to 200
** bytes, bytes outside printable ASCII as \xNN. Returns 'out', NUL-terminated
** unless the capacity is 0. */
const char *la_quote(const char *text, size_t n, char *out, size_t capacity);

#endif
