/* A host of the library in one file: runs a script in a state that has it as
** the global 'lunarray', after a call from C. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

#include "lunarray.h"

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
    if (argc < 2 || luaL_dofile(L, argv[1])) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        return 1;
    }
    lua_close(L);
    return 0;
}
