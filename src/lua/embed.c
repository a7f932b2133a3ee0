/*
** The Lua modules inside the library, so that one file is all a host needs.
**
** The build compresses each file (a third of its size) and passes one row per
** file in lua/ as E(identifier, module, path of the .gz); the assembler takes
** the bytes in. Comments and line numbers stay as they are in the files.
*/
#include "lua/embed.h"

#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

#include "io/zip.h"
#include "lua/binding.h"
#include "lunarray.h"

#ifndef LA_EMBEDDED
#define LA_EMBEDDED
#endif

typedef struct la_embedded {
    const char *module;         /* "lunarray.nn" */
    const char *packed, *end;   /* its source as a gzip member */
} la_embedded;

/* Members are arrays in front of this in the single file. */
#ifndef LA_EMBEDDED_ARRAYS
/* .pushsection and .popsection keep the section that the compiler is writing
** to; the assembler for Windows has none, and there it is in .text. That for
** WebAssembly wants the size of what a symbol names. */
#ifdef _WIN32
#define INTO_DATA ".section .rdata,\"dr\"\n"
#define OUT_OF_DATA(id) ".text\n"
#elif defined(__wasm__)
#define INTO_DATA ".section .rodata.lunarray,\"\",@\n"
#define OUT_OF_DATA(id) ".size la_text_" #id ", la_text_end_" #id "-la_text_" \
                        #id "\n.text\n"
#else
#define INTO_DATA ".pushsection .rodata\n"
#define OUT_OF_DATA(id) ".popsection\n"
#endif
#define E(id, module, path) \
    __asm__(INTO_DATA \
            "la_text_" #id ":\n .incbin \"" path "\"\n" \
            "la_text_end_" #id ":\n" \
            OUT_OF_DATA(id)); \
    extern const char la_text_##id[], la_text_end_##id[];
LA_EMBEDDED
#undef E
#define END(id) la_text_end_##id
#else
#define END(id) la_text_##id + sizeof la_text_##id - 1
#endif

static const la_embedded table[] = {
#define E(id, module, path) {module, la_text_##id, END(id)},
    LA_EMBEDDED
#undef E
    {NULL, NULL, NULL}
};

/* require without package and its searchers, which a host may have taken
** away. */
int la_require(lua_State *L)
{
    lua_settop(L, 1);
    const char *name = luaL_checkstring(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);   /* at 2 */
    lua_pushvalue(L, 1);
    lua_rawget(L, 2);
    if (lua_toboolean(L, -1)) return 1;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushvalue(L, 1);
    if (lua_rawget(L, -2) != LUA_TFUNCTION)
        return luaL_error(L, "module '%s' not found", name);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, -2);
    lua_rawset(L, 2);
    return 1;
}

bool la_is_embedded(const char *name, size_t n)
{
    for (const la_embedded *e = table; e->module; e++)
        if (la_is_module_name(e->module)
            && strlen(e->module + 9) == n
            && memcmp(e->module + 9, name, n) == 0) return true;
    return false;
}

/* The chunk on the top finds ours as 'require' where the host has none. */
static void give_require(lua_State *L)
{
    bool has = lua_getglobal(L, "require") == LUA_TFUNCTION;
    lua_pop(L, 1);
    if (has) return;
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, la_require);
    lua_setfield(L, -2, "require");
    lua_createtable(L, 0, 1);
    lua_pushglobaltable(L);
    lua_setfield(L, -2, "__index");
    la_set_own_metatable(L, -2);
    if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1);
}

/* Prefix of each module, in its first line: errors that it raises leave a
** record of the failure, as those of C functions do. */
static const char prefix[] = "local error = ... ";

/* Pushes the text as a chunk, or raises. */
static void load_text(lua_State *L, const la_embedded *e, const char *chunk)
{
    /* A gzip member ends with the size of what was packed. */
    size_t size = (size_t)la_little(e->end - 4, 4), n = sizeof prefix - 1;
    char *text = lua_newuserdatauv(L, n + size, 0);
    memcpy(text, prefix, n);
    if (la_gunzip(text + n, size, e->packed, (size_t)(e->end - e->packed)))
        luaL_error(L, "module '%s' cannot be unpacked: out of memory",
                   e->module);
    if (luaL_loadbufferx(L, text, n + size, chunk, "t")) lua_error(L);
}

/* require's loader. Raises the compiler's message. "t" refuses bytecode, which
** could break the interpreter's invariants. */
static int load_embedded(lua_State *L)
{
    const la_embedded *e = lua_touserdata(L, lua_upvalueindex(1));
    const char *chunk = lua_pushfstring(L, "=%s", e->module);
    load_text(L, e, chunk);
    give_require(L);
    lua_pushcfunction(L, la_module_error);
    lua_call(L, 1, 1);
    return 1;
}

void la_open_standard(lua_State *L)
{
    static const luaL_Reg libs[] = {
        {LUA_GNAME, luaopen_base}, {LUA_LOADLIBNAME, luaopen_package},
        {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
        {LUA_IOLIBNAME, luaopen_io}, {LUA_OSLIBNAME, luaopen_os},
        {LUA_STRLIBNAME, luaopen_string}, {LUA_MATHLIBNAME, luaopen_math},
        {LUA_UTF8LIBNAME, luaopen_utf8}, {LUA_DBLIBNAME, luaopen_debug}};
    for (size_t k = 0; k < sizeof(libs) / sizeof(libs[0]); k++) {
        luaL_requiref(L, libs[k].name, libs[k].func, 1);
        lua_pop(L, 1);
    }
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

/* ---- loaders of their own ---- */

/* With the library alone on package.cpath, require "lunarray.nn" finds it by
** the module's first word and calls luaopen_lunarray_nn. */
static int open_first(lua_State *L, const char *module)
{
    luaL_requiref(L, "lunarray", luaopen_lunarray, 0);
    lua_settop(L, 0);
    lua_pushstring(L, module);
    return la_require(L);
}
#define E(id, module, path) \
    LA_API int luaopen_##id(lua_State *L); \
    LA_API int luaopen_##id(lua_State *L) { return open_first(L, module); }
LA_EMBEDDED
#undef E
