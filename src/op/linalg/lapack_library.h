/*
** LAPACK, where LUNARRAY_LAPACK names a library with it (as liblapack.so.3 or
** libopenblas.so.0 of Debian), opened when it is first needed: nothing is
** linked to it. OpenBLAS is told to use one thread, as the callers share
** matrices out themselves.
**
** Integers may have 32 or 64 bits. Arguments are la_lapack_int whose value fits
** 31 bits, which either reads; results begin as 0 and are read by
** la_lapack_read.
*/
#ifndef LA_OP_LINALG_LAPACK_LIBRARY_H
#define LA_OP_LINALG_LAPACK_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef int64_t la_lapack_int;
typedef void (*la_lapack_fn)(void);

/* The routine 'stem' (without the letter of its type and the underscore).
** LA_EKEY where there is none. */
la_status la_lapack_find(const char *stem, char letter, la_lapack_fn *out);

/* "LUNARRAY_LAPACK" if it names a library that is found (which this looks for),
** else "none". */
const char *la_lapack_name(void);

/* Did LUNARRAY_LAPACK name a library when this was first asked? Then that
** computes eigenvalues and singular values instead of our own methods, except
** in lockstep. */
bool la_lapack_chosen(void);

/* Calls may run in several threads only if the library can (OpenBLAS without
** threads can't); else one after the other, between la_lapack_try, where it
** says yes, and la_lapack_leave. Nobody waits in it: who comes in vain may have
** to ask whether to go on. */
bool la_lapack_has_locks(void);
bool la_lapack_try(void);
void la_lapack_leave(void);

/* Element i of an array of results, or of one. */
int64_t la_lapack_read(const la_lapack_int *array, int64_t i);

#endif
