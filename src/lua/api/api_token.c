/* The token of a state for hosts (lunarray.h); the functions on tokens are
** those of base/runtime/token.c. */
#include "base/runtime/token.h"
#include "lua/binding.h"
#include "lunarray.h"

LA_API la_token *la_token_of(lua_State *L)
{
    la_error_clear();
    if (!L) return la_token_retain(la_token_own());
    la_state *s = la_state_of(L);
    if (s) return la_token_retain(s->context.token);
    la_error(LA_ESTATE, "la_token_of: the library was not opened in this "
             "state");
    return NULL;
}
