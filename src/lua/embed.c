/*
** The Lua modules inside the library, so that one file is all a host needs.
**
** The build compresses each file (a third of its size) and passes one row per
** file in lua/ as E(identifier, module, path of the .gz); the assembler takes
** the bytes in. Comments and line numbers stay as they are in the files.
*/
#include "lua/embed.h"

#include <lauxlib.h>

#include "io/zip.h"

#ifndef LA_EMBEDDED
#define LA_EMBEDDED
#endif

typedef struct la_embedded {
    const char *module;         /* "lunarray.nn" */
    const char *packed, *end;   /* its source as a gzip member */
} la_embedded;

/* .pushsection and .popsection keep the section that the compiler is writing
** to. */
#define E(id, module, path) \
    __asm__(".pushsection .rodata\n" \
            "la_text_" #id ":\n .incbin \"" path "\"\n" \
            "la_text_end_" #id ":\n" \
            ".popsection\n"); \
    extern const char la_text_##id[], la_text_end_##id[];
LA_EMBEDDED
#undef E

static const la_embedded table[] = {
#define E(id, module, path) {module, la_text_##id, la_text_end_##id},
    LA_EMBEDDED
#undef E
    {NULL, NULL, NULL}
};

/* require's loader: the chunk gets the module's name, as from a file. Raises
** the compiler's message. "t" refuses bytecode, which could break the
** interpreter's invariants. */
static int load_embedded(lua_State *L)
{
    const la_embedded *e = lua_touserdata(L, lua_upvalueindex(1));
    const char *chunk = lua_pushfstring(L, "=%s", e->module);
    /* A gzip member ends with the size of what was packed. */
    size_t size = (size_t)la_little(e->end - 4, 4);
    char *text = lua_newuserdatauv(L, size, 0);
    if (la_gunzip(text, size, e->packed, (size_t)(e->end - e->packed)))
        return luaL_error(L, "module '%s' cannot be unpacked: out of memory",
                          e->module);
    if (luaL_loadbufferx(L, text, size, chunk, "t")) return lua_error(L);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

void la_open_embedded(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    for (const la_embedded *e = table; e->module; e++) {
        if (lua_getfield(L, -1, e->module) == LUA_TNIL) {
            lua_pushlightuserdata(L, (void *)e);
            lua_pushcclosure(L, load_embedded, 1);
            lua_setfield(L, -3, e->module);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}
