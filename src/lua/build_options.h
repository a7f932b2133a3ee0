/* Options of functions that make a tensor of Lua values. */
#ifndef LA_LUA_BUILD_OPTIONS_H
#define LA_LUA_BUILD_OPTIONS_H

#include "lua/binding.h"

typedef struct la_build_options {
    la_dtype dtype;         /* LA_UNDEFINED: by the values */
    la_device device;       /* with has_device */
    bool has_device;
    bool given;             /* by an argument of their own */
    bool requires_grad;
    bool has_format;
    la_memory_format format;
    int nnames;
    const char **names;     /* interned, anchored on the stack; NULL: none */
} la_build_options;

/* Raise "unknown keyword" for a key of the table at 'at' (an absolute index)
** that is not in the NULL-ended list; the error names the whole list. */
void la_check_keywords(lua_State *L, int at, const char *const *known,
                       const char *name);
/* The options at 'at': nil or nothing, a dtype, or a table with 'known' keys.
** May leave an anchor on the stack. Raises for anything else. A table of
** options is read through its metatable, so Lua code may run. */
la_build_options la_read_options(lua_State *L, int at,
                                 const char *const *known, const char *name);
/* Options may stand next to the data in the table at 'at', at its top level:
** la.tensor{1, 2, dtype = "float64"}. They go to 'o'. Raises for any other key
** that is no index, for an index behind a hole, and where options were given by
** an argument as well. What is no table, or has a metatable, has no options. */
void la_read_options_in_data(lua_State *L, int at, const char *const *known,
                             la_build_options *o, const char *name);
/* Raise for element i of a row of data ("[2]", "" for the table itself) whose
** length is n: a hole lies before it. */
void la_raise_hole(lua_State *L, const char *name, const char *row,
                   lua_Integer i, int n);
/* Bring the new tensor in 'h', of which the dtype is right, to the device,
** format and names, and make it a leaf that records. Raises. */
void la_apply_options(lua_State *L, la_handle *h, const la_build_options *o,
                      const char *name);
/* src/grad: make a leaf that records, or one that does not. LA_EDTYPE unless
** the dtype is floating or complex, LA_EGRAD when it is no leaf. */
la_status la_require_grad(la_tensor *t, bool on);

#endif
