/* Limits of a state for hosts (lunarray.h): its token, whose functions are in
** base/runtime/token.c. */
#define LA_INTERNAL
#include "lunarray.h"

#include "api/api.h"
#include "base/runtime/token.h"

/* NULL asks for the calling thread's own token, which calls without a state
** use. */
LA_API la_token *la_token_of(lua_State *L)
{
    la_error_clear();
    if (!L) return la_token_retain(la_token_own());
    la_context *c = la_context_of(L);
    if (c) return la_token_retain(c->token);
    la_error(LA_ESTATE, "la_token_of: the library was not opened in this "
             "state");
    return NULL;
}
