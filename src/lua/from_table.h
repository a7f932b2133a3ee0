/* Making tensors from Lua values, for the parts of the face that need it. */
#ifndef LA_LUA_FROM_TABLE_H
#define LA_LUA_FROM_TABLE_H

#include "lua/binding.h"
#include "op/device_names.h"

typedef struct la_build_options {
    la_dtype dtype;         /* LA_UNDEFINED: by the values */
    la_device device;
    bool requires_grad;
} la_build_options;

/* A dtype string or a table of options at 'at' (nothing there: defaults). */
la_build_options la_read_options(lua_State *L, int at, const char *name);
/* Push a new tensor of the table, number, boolean or tensor at 'at'. */
int la_build_tensor(lua_State *L, int at, const la_build_options *o,
                    const char *name);
/* A list of sizes (or one integer) at 'at'; returns how many. */
int la_read_sizes(lua_State *L, int at, int64_t *sizes, const char *name);
/* src/grad: make a leaf that records, or one that does not. LA_EDTYPE unless
** the dtype is floating or complex, LA_EGRAD when it is no leaf. */
la_status la_require_grad(la_tensor *t, bool on);

#endif
