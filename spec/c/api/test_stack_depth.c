/* How much stack operations take, on a stack that was painted before each call:
** 32 KiB at most, as lunarray.h says, of every row and its gradients, in sizes
** and layouts in which kernels change their way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>

#include "lunarray.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) \
    && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__) \
    && !defined(__clang__)
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 2 << 20 };
#define PAINT UINT64_C(0x5aa55aa5c33cc33c)

static ucontext_t host, fiber;
static volatile uint64_t *low, *painted;    /* the end; all below is painted */
static lua_State *running;
static const char *code;
static bool failed;

/* The callers' frames and what they keep below the stack pointer stay. */
static __attribute__((noinline)) volatile uint64_t *paint(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    volatile uint64_t *top = (uint64_t *)(here / 8 * 8 - 512);
    for (volatile uint64_t *p = painted; p < top; p++) *p = PAINT;
    return top;
}

/* depth(f, ...): the bytes that were written below, and what pcall gives. */
static int depth(lua_State *L)
{
    volatile uint64_t *top = paint();
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    volatile uint64_t *p = low;
    while (*p == PAINT) p++;
    painted = p;
    lua_pushboolean(L, status == LUA_OK);
    lua_insert(L, 1);
    lua_pushinteger(L, (lua_Integer)((top - p) * 8));
    lua_insert(L, 1);
    return lua_gettop(L);
}

static void body(void)
{
    failed = luaL_dostring(running, code) != LUA_OK;
}

static void run(const char *text)
{
    char *whole = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(whole != MAP_FAILED);
    low = painted = (uint64_t *)(void *)whole;
    running = luaL_newstate();
    assert_non_null(running);
    luaL_openlibs(running);
    assert_int_equal(la_openlibs(running), 0);
    assert_int_equal(la_set_stack(running, whole, STACK), 0);
    lua_pushcfunction(running, depth);
    lua_setglobal(running, "depth");
    code = text;
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = whole;
    fiber.uc_stack.ss_size = STACK;
    fiber.uc_link = &host;
    makecontext(&fiber, body, 0);
    assert_int_equal(swapcontext(&host, &fiber), 0);
    if (failed) fail_msg("%s", lua_tostring(running, -1));
    print_message("%d bytes\n", (int)lua_tointeger(running, -1));
    lua_close(running);
    munmap(whole, STACK);
}

#define WALK(name) \
    "return require 'spec.support.limits.stack_walk'." name "(depth, 32768)"

static void test_operations(void **state)
{
    (void)state;
    run(WALK("operations"));
}

static void test_gradients(void **state)
{
    (void)state;
    run(WALK("gradients"));
}

static void test_sizes(void **state)
{
    (void)state;
    run(WALK("sizes"));
}
#else
static void test_operations(void **state)
{
    (void)state;
    skip();
}
#define test_gradients test_operations
#define test_sizes test_operations
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
