/* Gradients in lunarray.h. Nothing here raises a Lua error. */
#define LA_INTERNAL
#include "lunarray.h"

#include "api/api.h"
#include "grad/grad.h"

/* Hooks and functions of a script run on L; without one, or with one that was
** never opened, a graph that needs it says so. */
LA_API int la_backward(lua_State *L, la_tensor *t, la_tensor *gradient)
{
    LA_API_ENTRY(la_context_of(L));
    la_share_tensors();
    if (!t)
        return la_api_end("la_backward", la_error(LA_EARG, "tensor expected"));
    la_grad_init();             /* no state may ever have been opened */
    la_tensor_retain(t);        /* a hook may free the handle it came from */
    la_status status = la_backward_on(L, t, gradient);
    la_tensor_release(t);
    return la_api_end("la_backward", status);
}

/* Only of leaves: a result of operations records because they did. */
LA_API int la_set_requires_grad(la_tensor *t, bool on)
{
    LA_API_ENTRY_IN(la_owner_of(t));
    la_grad_init();
    return la_api_end("la_set_requires_grad", t ? la_require_grad(t, on)
                      : la_error(LA_EARG, "tensor expected"));
}

/* Another reference on the one gradient: what a later backward adds is seen in
** it as long as nobody took it away by la_zero_grad. */
LA_API la_tensor *la_grad_of(const la_tensor *t)
{
    LA_API_ENTRY_IN(la_owner_of(t));
    la_share_tensors();
    if (!t) {
        la_api_end("la_grad_of", la_error(LA_EARG, "tensor expected"));
        return NULL;
    }
    la_tensor *g = la_leaf_grad(t);
    return g ? la_tensor_retain(g) : NULL;
}

/* The gradient goes, rather than being filled with zeros: the next backward
** need not add. Cannot fail, so the record stays. */
LA_API void la_zero_grad(la_tensor *t)
{
    LA_ENTRY_IN(la_owner_of(t));
    if (t) la_set_grad(t, NULL);
}

/* The thread's own settings are those of calls without a state. A setter of a
** setting cannot fail: the record stays. */
LA_API bool la_tensor_is_leaf(la_tensor *t)
{
    LA_ENTRY_IN(la_owner_of(t));
    bool leaf = true;
    return !t || la_is_leaf(t, &leaf) || leaf;
}

LA_API bool la_set_grad_enabled(bool on)
{
    LA_ENTRY(NULL);
    return la_switch_grad(on);
}
