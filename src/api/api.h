/*
** How functions of lunarray.h begin and end.
**
** LA_API_ENTRY(c) makes context 'c' current (NULL: the thread's own) until the
** function returns, and forgets what failed before. la_api_end gives the record
** a text that begins with the function's or the operation's name, or leaves it
** empty. Getters and functions that cannot fail have neither.
*/
#ifndef LA_API_API_H
#define LA_API_API_H

#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "tensor/tensor.h"

/* The binding's; here it is only handed on. */
typedef struct lua_State lua_State;

/* Functions of the C interface on a tensor run in its runtime. */
static inline la_runtime *la_owner_of(const la_tensor *t)
{
    return t ? la_runtime_at(t->owner) : la_runtime_chosen();
}

/* ---- what the binding defines; api/no_lua.c does where there is none ---- */

/* The settings of a Lua state, with the modes of the coroutine L. NULL without
** a state, or with one that was not opened. */
la_context *la_context_of(lua_State *L);
/* Backward of one tensor, 'seed' NULL for ones, whose hooks and functions in
** Lua run on L; without a state a graph that needs one says so. The current
** context is that of the call. Raises nothing: what a function in Lua raised
** is in the error record. The caller holds 't'. */
la_status la_backward_on(lua_State *L, la_tensor *t, la_tensor *seed);
/* Has la or a tensor a member of that name which is no operation? By the tables
** that those are made of, so it needs no state. */
bool la_is_lua_name(const char *name, size_t n);

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
