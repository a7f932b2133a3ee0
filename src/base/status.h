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

#include "base/os/os.h"

/* The codes, with the numbers that lunarray.h gives them. That header is not
** included, so that a word in it rebuilds what uses it and no more; where both
** are seen the first one makes the type, and behind lunarray.h the numbers are
** compared (src/api/api_tensor.c). */
#define LA_STATUS_CODES(X) \
    X(OK, 0) X(EARG, 1) X(ESHAPE, 2) X(EDTYPE, 3) X(EINDEX, 4) X(EALIAS, 5) \
    X(ESTATE, 6) X(ENOMEM, 7) X(EIO, 8) X(EINTR, 9) X(EGRAD, 10) X(EKEY, 11) \
    X(ECANCEL, 12) X(EDEADLINE, 13) X(EFUEL, 14) X(EJOBS, 15) \
    X(ESUPPORT, 16) X(ELUA, 17) X(MORE, 18)
#ifdef LUNARRAY_H
#define LA_STATUS_CODE(name, number) \
    _Static_assert(LA_##name == number, "LA_" #name " is another number");
LA_STATUS_CODES(LA_STATUS_CODE)
#else
#define LA_STATUS_CODE(name, number) LA_##name = number,
typedef enum la_status { LA_STATUS_CODES(LA_STATUS_CODE) } la_status;
#endif
#undef LA_STATUS_CODE

/* Hides lunarray.h's short names for la_tensor_data etc., which are those of
** other functions here. */
#ifndef LA_INTERNAL
#define LA_INTERNAL
#endif

/* Leave the function with the status of 'e' unless it is LA_OK. */
#define LA_TRY(e) \
    do { la_status status_ = (e); if (status_) return status_; } while (0)

/* The record is a thread's, in base/runtime/error.c. */

/* Write the record and return 'code'. At most 1,023 bytes are kept; control
** bytes are escaped; texts that come from users are clipped by the caller, too
** (la_quote). */
la_status la_error(la_status code, const char *format, ...)
    __attribute__((format(LA_PRINTF, 2, 3), cold));

/* la_error that names the argument at fault: 'arg' counts from 1 in the order
** of the operation's schema. The binding says "bad argument #arg". */
la_status la_error_at(la_status code, int arg, const char *format, ...)
    __attribute__((format(LA_PRINTF, 3, 4), cold));

/* Pass 'code' on; where a helper failed without naming an argument, it was
** 'arg'. 0 takes the name away: for errors of an operation inside another. */
la_status la_blame(la_status code, int arg);

/* Passes 'code' on, and takes the function's own name (of 'n' bytes) away from
** the front of the text: "amax(): ", "\"amax\" ". Whoever called the function
** is who users know. */
la_status la_error_unnamed(const char *name, size_t n, la_status code)
    __attribute__((cold));

/* Ends a function of lunarray.h that failed: the record's text begins with
** 'name' from now on, and is of 'code': where a helper left none, a text made
** of the code alone. */
la_status la_error_named(const char *name, la_status code)
    __attribute__((cold));

/* The record of the calling thread: text, code, argument (0 for none). */
const char *la_error_message(void);
la_status la_error_status(void);  /* LA_OK when nothing failed since */
int la_error_arg(void);
void la_error_clear(void);
/* Before the record is read from outside: no failure of a runtime that is
** gone. */
void la_error_check(void);
/* Note for getters: the record as it is, and again so. Only the code is looked
** at where nothing failed. */
enum { LA_ERROR_TEXT = 1024 };
typedef struct la_error_note {
    la_status code;
    int arg;
    char text[LA_ERROR_TEXT];
} la_error_note;
void la_error_keep(la_error_note *out);
void la_error_restore(const la_error_note *note);

/* Copy 'n' bytes of user text into 'out' (of 'capacity' bytes), clipped to 200
** bytes, bytes outside printable ASCII as \xNN. Returns 'out', NUL-terminated
** unless the capacity is 0. */
const char *la_quote(const char *text, size_t n, char *out, size_t capacity);
/* Has the text no control byte but ends of lines? */
bool la_is_harmless(const char *text, size_t n);
/* The text with all others as \xNN, clipped to the capacity, which is not 0,
** and NUL-terminated; its bytes. An error's record is written so. */
size_t la_make_harmless(const char *text, size_t n, char *out, size_t capacity);

#endif
