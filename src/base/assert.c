/* Failure of an invariant in the debug build. */
#include "base/assert.h"

#include "base/status.h"

void la_assert_failed(const char *condition, const char *file, int line)
{
    la_error(LA_ESTATE, "%s:%d: broken invariant: %s", file, line, condition);
    __builtin_trap();
}
