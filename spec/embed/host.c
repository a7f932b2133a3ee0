/* A host of the library in one file: runs a script in a state that has it as
** the global 'lunarray', after a call from C. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

#include "lunarray.h"

/* Are upper halves of vector registers in use? Then each instruction of SSE
** that follows waits for them, in code that has nothing to do with tensors. */
static int has_upper_halves(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
    if (!__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 1u << 2)) return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return a >> 2 & 1;
#else
    return 0;
#endif
}

static int clears_upper_halves(lua_State *L)
{
    static const char *const names[] = {"neg", "exp", "lgamma", "sum"};
    static float numbers[1000];
    int64_t size = 1000;
    int ok = 1;
    la_tensor *t = la_wrap(numbers, "float32", 1, &size, NULL, NULL, NULL);
    for (int i = 0; i < 4; i++) {
        la_tensor *result = la_call(L, names[i], t);
        if (!result || has_upper_halves()) {
            fprintf(stderr, "%s: %s\n", names[i],
                    result ? "upper halves are in use" : la_error_text());
            ok = 0;
        }
        la_release(result);
    }
    la_release(t);
    return ok;
}

int main(int argc, char **argv)
{
    float numbers[4] = {1, 2, 3, 4};
    int64_t sizes[2] = {2, 2};
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    la_openlibs(L);
    la_tensor *t = la_wrap(numbers, "float32", 2, sizes, NULL, NULL, NULL);
    la_tensor *sum = la_call(L, "sum", t);
    if (!sum || *(const float *)la_tensor_data(sum) != 10) {
        fprintf(stderr, "sum: %s\n", la_error_text());
        return 1;
    }
    la_release(sum);
    la_release(t);
    if (!clears_upper_halves(L)) return 1;
    if (argc < 2 || luaL_dofile(L, argv[1])) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        return 1;
    }
    lua_close(L);
    return 0;
}
