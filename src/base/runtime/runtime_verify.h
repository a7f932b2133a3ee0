/* Self-check of a runtime in the debug build; nothing in others. */
#ifndef LA_BASE_RUNTIME_RUNTIME_VERIFY_H
#define LA_BASE_RUNTIME_RUNTIME_VERIFY_H

#include "base/runtime/context.h"

/* Whenever a thread comes into it: it lives, under the number that it was
** given, and its counts can be. */
#ifdef LA_DEBUG
void la_runtime_verify(la_runtime *rt);
#else
static inline void la_runtime_verify(la_runtime *rt) {}
#endif

#endif
