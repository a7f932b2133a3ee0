/*
** Calls and values in words, for traces and crash notes. Nothing here
** allocates, locks, fails or asks the locale, so that a signal handler may
** use it.
*/
#ifndef LA_OP_DEBUG_DESCRIBE_H
#define LA_OP_DEBUG_DESCRIBE_H

#include "base/status.h"
#include "op/frame.h"

/* A text that is written piece by piece and clipped at its end; it always ends
** with a NUL. */
typedef struct la_description {
    char *start;
    size_t capacity, at;
} la_description;

void la_describe(la_description *text, const char *format, ...)
    __attribute__((format(LA_PRINTF, 2, 3)));
/* "float32[2, 3]" of a tensor, a number, a list, a name. */
void la_describe_value(la_description *text, const la_value *v);
/* "matmul(self=float32[2, 3], other=float32[3])". Arguments that were not given
** are left out. */
void la_describe_frame(la_description *text, const la_frame *f);
/* The call that runs on this thread, and after " in " each one whose part it
** is. No text where none runs. */
void la_describe_running(la_description *text);

#endif
