/*
** The functions of the binding that src/api calls, for a library without Lua:
** no state has settings, and no name is taken.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include "api/api.h"
#include "grad/grad.h"

la_context *la_context_of(lua_State *L) { return NULL; }

la_status la_backward_on(lua_State *L, la_tensor *t, la_tensor *seed)
{
    return la_run_backward(1, &t, seed ? &seed : NULL, 0, NULL, NULL,
                           LA_BW_ACCUMULATE);
}

bool la_is_lua_name(const char *name, size_t n) { return false; }

/* Model files are read by a module in Lua. */
static la_program *no_models(const char *function)
{
    la_error_clear();
    la_error_named(function, la_error(LA_ESUPPORT, "a library without Lua "
                   "reads no model files: make a .laprog of it with one that "
                   "has Lua (la_program_save_to)"));
    return NULL;
}

LA_API la_program *la_model_load(la_runtime *rt, const void *bytes, size_t n,
                                 const char *format)
{
    (void)rt, (void)bytes, (void)n, (void)format;
    return no_models("la_model_load");
}

LA_API la_program *la_model_load_from(la_runtime *rt, la_source *source,
                                      const char *format)
{
    (void)rt, (void)format;
    if (source && source->size >= sizeof *source && source->close)
        source->close(source->context);
    return no_models("la_model_load_from");
}
