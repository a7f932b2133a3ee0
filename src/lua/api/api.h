/*
** How functions of lunarray.h begin and end.
**
** LA_API_ENTRY(c) makes context 'c' current (NULL: the thread's own) until the
** function returns, and forgets what failed before. la_api_end gives the record
** a text that begins with the function's or the operation's name, or leaves it
** empty. Getters and functions that cannot fail have neither.
*/
#ifndef LA_LUA_API_API_H
#define LA_LUA_API_API_H

#include "base/runtime/passage.h"
#include "lua/binding.h"

#define LA_API_ENTRY(c) \
    LA_ENTRY(c);        \
    la_error_clear()

/* LA_API_ENTRY with the thread's own settings in a runtime. */
#define LA_API_ENTRY_IN(rt) \
    LA_ENTRY_IN(rt);        \
    la_error_clear()

static inline la_status la_api_end(const char *name, la_status status)
{
    if (__builtin_expect(status != LA_OK, 0))
        return la_error_named(name, status);
    la_error_clear();
    return LA_OK;
}

/* False with the error record set, for anything but the word of a dtype. */
bool la_api_dtype(const char *word, la_dtype *out);
/* Refuses a number of dims out of range, and missing sizes. */
bool la_api_shape(int ndim, const int64_t *sizes);

#endif
