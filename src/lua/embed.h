/* The Lua modules inside the library; see embed.c. */
#ifndef LA_LUA_EMBED_H
#define LA_LUA_EMBED_H

#include <stddef.h>

#include <lua.h>

typedef struct la_embedded {
    const char *module;         /* "lunarray.nn" */
    const char *text, *end;     /* its source, as it stood in the file */
} la_embedded;

/* Row k, or NULL past the last one. */
const la_embedded *la_embedded_at(int k);

/* Put a loader for every embedded module into package.preload; what stands
** there already is kept. luaopen_lunarray calls it, and so does la_openlibs. */
void la_open_embedded(lua_State *L);

#endif
