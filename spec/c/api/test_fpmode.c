/* The floating-point mode of a host: whatever it is, calls compute without
** traps, give the same bits on any number of threads, and hand it back. Every
** operation is called that the golden records or the lockstep calls know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fenv.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

#include "lunarray.h"

#if defined(__x86_64__) && defined(__GLIBC__)

enum { MASKS = 0x1f80, FLAGS = 0x3f, FTZ_DAZ = 0x8040 };
enum { OPEN = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };

static unsigned mxcsr(void) { return __builtin_ia32_stmxcsr(); }

static unsigned x87(void)
{
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
}

typedef struct mode {
    const char *name;
    bool traps;
    unsigned bits;          /* of MXCSR: rounding, FTZ and DAZ, flags */
    unsigned bits_x87;
} mode;

/* Rounding of x87 is that of MXCSR three bits lower. */
static const mode modes[] = {
    {"traps", true, 0, 0}, {"nearest", false, 0, 0},
    {"down", false, 0x2000, 0x400}, {"up", false, 0x4000, 0x800},
    {"zero", false, 0x6000, 0xc00}, {"ftz_daz", false, FTZ_DAZ, 0},
    {"traps_up_ftz_daz", true, 0x4000 | FTZ_DAZ, 0x800},
    {"flags", false, FE_INEXACT | FE_DIVBYZERO, 0},
};
enum { COUNT = sizeof modes / sizeof *modes };

static void set_mode(const mode *m)
{
    unsigned traps = m->traps ? (unsigned)OPEN : 0;
    uint16_t control = (uint16_t)(0x33f & ~traps) | (uint16_t)m->bits_x87;
    __asm__ volatile("fnclex; fldcw %0" : : "m"(control));
    __builtin_ia32_ldmxcsr((MASKS & ~(traps << 7)) | m->bits);
}

/* in_mode(name, f, ...): the mode, or nil where it is as before, and what pcall
** gives. The upvalue is a mask of MXCSR: a script's arithmetic raises flags. */
static int in_mode(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    const mode *m = modes;
    fenv_t before;
    for (; strcmp(m->name, name) != 0; m++)
        if (m == modes + COUNT - 1) return luaL_error(L, "no mode %s", name);
    fegetenv(&before);
    set_mode(m);
    unsigned was = mxcsr(), was_x87 = x87();
    int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
    unsigned is = mxcsr(), is_x87 = x87();
    fesetenv(&before);
    unsigned seen = (unsigned)lua_tointeger(L, lua_upvalueindex(1));
    if (((is ^ was) & seen) == 0 && is_x87 == was_x87) lua_pushnil(L);
    else lua_pushfstring(L, "MXCSR %d is %d, x87 %d is %d", (int)was, (int)is,
                         (int)was_x87, (int)is_x87);
    lua_replace(L, 1);
    lua_pushboolean(L, status == LUA_OK);
    lua_insert(L, 2);
    return lua_gettop(L);
}

static lua_State *open(void)
{
    lua_State *L = luaL_newstate();
    assert_non_null(L);
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    lua_pushinteger(L, UINT32_MAX);
    lua_pushcclosure(L, in_mode, 1);
    lua_setglobal(L, "in_mode");
    lua_pushinteger(L, UINT32_MAX & ~(unsigned)FLAGS);
    lua_pushcclosure(L, in_mode, 1);
    lua_setglobal(L, "in_mode_but_flags");
    lua_newtable(L);
    for (int k = 0; k < COUNT; k++) {
        lua_pushstring(L, modes[k].name);
        lua_rawseti(L, -2, k + 1);
    }
    lua_setglobal(L, "modes");
    return L;
}

static void run(const char *code)
{
    lua_State *L = open();
    if (luaL_dostring(L, code)) fail_msg("%s", lua_tostring(L, -1));
    lua_close(L);
}

static void test_operations(void **state)
{
    (void)state;
    run("require 'spec.support.fp_modes'.operations(in_mode, modes)");
}

__attribute__((unused))
static void test_others(void **state)
{
    (void)state;
    run("require 'spec.support.fp_modes'.others(in_mode_but_flags, modes)");
}

static void test_binding(void **state)
{
    (void)state;
    run("require 'spec.support.fp_modes'"
        ".binding(in_mode_but_flags, modes)");
}

/* A message has the same position in front of it as without traps. */
static void test_positions(void **state)
{
    (void)state;
    run("require 'spec.support.fp_modes'.positions(in_mode, modes)");
}

/* ---- the C interface ---- */

static void call_all(void)
{
    float data[3] = {1e30f, -0.0f, 1e-40f};
    int64_t sizes[1] = {3};
    uint64_t hash;
    la_tensor *x = la_wrap(data, "float32", 1, sizes, NULL, NULL, NULL);
    la_tensor *y = la_call(NULL, "exp", x), *z = la_call(NULL, "div", y, y);
    assert_non_null(z);
    assert_int_equal(la_hash(z, &hash), 0);
    assert_int_not_equal(la_set_index(NULL, x, 1, (la_range[]){la_at(1)},
                                      la_any_double(1e300)), 0);
    assert_null(la_call(NULL, "exp", "no tensor"));
    la_snapshot *s = la_snapshot_take(1, &z);
    assert_int_equal(la_snapshot_restore(s), 0);
    la_snapshot_release(s);
    la_release(z);
    la_release(y);
    la_release(x);
}

static void test_c(void **state)
{
    (void)state;
    fenv_t before;
    fegetenv(&before);
    for (int k = 0; k < COUNT; k++) {
        set_mode(&modes[k]);
        unsigned was = mxcsr(), was_x87 = x87();
        call_all();
        unsigned is = mxcsr(), is_x87 = x87();
        fesetenv(&before);
        assert_int_equal(was, is);
        assert_int_equal(was_x87, is_x87);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations),
#ifndef LA_EAGER_GC     /* a collection for each tensor: minutes */
        cmocka_unit_test(test_others),
#endif
        cmocka_unit_test(test_binding), cmocka_unit_test(test_positions),
        cmocka_unit_test(test_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
