/*
** Invariants, checked in the debug build alone (LA_DEBUG): la_assert(condition)
** costs nothing in a release and does not evaluate its condition there. What
** fails is a bug of the library, never of its user: bad input has a status and
** an error record. The record gets the condition and its line, then the
** process traps, so that a debugger stops on the line that called.
*/
#ifndef LA_BASE_ASSERT_H
#define LA_BASE_ASSERT_H

#ifdef LA_DEBUG
#define la_assert(condition) \
    ((condition) ? (void)0 : la_assert_failed(#condition, __FILE__, __LINE__))
#else
#define la_assert(condition) ((void)sizeof(!(condition)))
#endif

/* Writes the error record (la_error_message shows it) and traps. */
void la_assert_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn, cold));

#endif
