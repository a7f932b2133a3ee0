/*
** Counts calls of malloc and its kin. Loaded before all else (LD_PRELOAD) it
** stands in front of the C library's; as the module 'mallocs' of Lua it gives
** the count so far: bench/onnx.sh.
*/
#include <lauxlib.h>
#include <lua.h>
#include <stddef.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

static long long calls;

void *malloc(size_t n) { calls++; return __libc_malloc(n); }
void *calloc(size_t n, size_t size) { calls++; return __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { calls++; return __libc_realloc(p, n); }

void *aligned_alloc(size_t alignment, size_t n)
{
    calls++;
    return __libc_memalign(alignment, n);
}

static int count(lua_State *L)
{
    lua_pushinteger(L, calls);
    return 1;
}

int luaopen_mallocs(lua_State *L)
{
    lua_pushcfunction(L, count);
    return 1;
}
