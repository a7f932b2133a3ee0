/* A device of the host's: memory behind handles that no pointer can read, with
** counted copies, a few kernels, and hooks that fail when they are told to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lunarray.h"

/* ---- the device ---- */

/* Block k has the handle (k + 1) << 32: an offset in bytes is added to it
** as to an address, but nothing lies there. */
enum { MOST = 4096 };
typedef struct toy {
    pthread_mutex_t lock;
    char *block[MOST];
    size_t bytes[MOST];
    size_t live;            /* bytes */
    atomic_int in, out, moved;      /* copies */
    bool no_memory, broken, silent;
} toy;

static void *toy_alloc(void *user, size_t bytes, size_t alignment)
{
    toy *d = user;
    void *handle = NULL;
    assert_int_equal(alignment & (alignment - 1), 0);
    if (d->no_memory) return NULL;
    pthread_mutex_lock(&d->lock);
    for (int k = 0; k < MOST && !handle; k++) {
        if (d->block[k]) continue;
        d->block[k] = malloc(bytes);
        memset(d->block[k], 0xcc, bytes);
        d->bytes[k] = bytes;
        d->live += bytes;
        handle = (void *)((uintptr_t)(k + 1) << 32);
    }
    pthread_mutex_unlock(&d->lock);
    return handle;
}

static void toy_release(void *user, void *handle, size_t bytes)
{
    toy *d = user;
    size_t k = (uintptr_t)handle >> 32;
    pthread_mutex_lock(&d->lock);
    if (d->bytes[k - 1] != bytes) abort();
    d->live -= bytes;
    free(d->block[k - 1]);
    d->block[k - 1] = NULL;
    pthread_mutex_unlock(&d->lock);
}

static char *toy_bytes(toy *d, const void *handle, size_t offset, size_t n)
{
    uintptr_t at = (uintptr_t)handle + offset;
    size_t k = at >> 32, first = at & 0xffffffff;
    if (!k || !d->block[k - 1] || first + n > d->bytes[k - 1]) abort();
    return d->block[k - 1] + first;
}

static int toy_fails(toy *d)
{
    if (d->silent) return -7;
    return d->broken ? la_fail("the cable is out") : 0;
}

static int toy_in(void *user, void *block, size_t offset, const void *host,
                  size_t bytes)
{
    toy *d = user;
    d->in++;
    if (toy_fails(d)) return toy_fails(d);
    memcpy(toy_bytes(d, block, offset, bytes), host, bytes);
    return 0;
}

static int toy_out(void *user, void *host, const void *block, size_t offset,
                   size_t bytes)
{
    toy *d = user;
    d->out++;
    if (toy_fails(d)) return toy_fails(d);
    memcpy(host, toy_bytes(d, block, offset, bytes), bytes);
    return 0;
}

static int toy_copy(void *user, void *to, size_t to_offset, const void *from,
                    size_t from_offset, size_t bytes)
{
    toy *d = user;
    d->moved++;
    if (toy_fails(d)) return toy_fails(d);
    memmove(toy_bytes(d, to, to_offset, bytes),
            toy_bytes(d, from, from_offset, bytes), bytes);
    return 0;
}

static la_device_def toy_def(toy *d, const char *name)
{
    return (la_device_def){
        .size = sizeof(la_device_def), .name = name, .user = d,
        .alloc = toy_alloc, .release = toy_release, .copy_in = toy_in,
        .copy_out = toy_out, .copy = toy_copy
    };
}

/* ---- kernels of it: float32, contiguous ---- */

static toy shared = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int device;

/* Element k of what may be a number. */
static float toy_element(la_tensor *t, int64_t k)
{
    float v;
    if (la_tensor_ndim(t) == 0 && (uintptr_t)la_tensor_data(t) >> 44) {
        la_tensor *f = la_call(NULL, "float", t);   /* on the CPU */
        v = *(float *)la_tensor_data(f);
        la_release(f);
        return v;
    }
    memcpy(&v, toy_bytes(&shared, la_tensor_data(t), 4 * (size_t)k, 4), 4);
    return v;
}

static int toy_binary(la_frame *f, float (*fn)(float, float))
{
    la_tensor *a = la_frame_tensor(f, 0), *b = la_frame_tensor(f, 1);
    if (strcmp(la_tensor_dtype(a), "float32") || !la_tensor_contiguous(a))
        return la_fail("the toy knows rows of float32");
    int status = la_frame_output(f, 0, "float32", la_tensor_ndim(a),
                                 la_tensor_sizes(a));
    if (status) return status;
    la_tensor *r = la_frame_result(f, 0);
    for (int64_t k = 0; k < la_tensor_numel(a); k++) {
        float v = fn(toy_element(a, k), toy_element(b, k));
        memcpy(toy_bytes(&shared, la_tensor_data(r), 4 * (size_t)k, 4), &v, 4);
    }
    return 0;
}

static float times(float a, float b) { return a * b; }
static float plus(float a, float b) { return a + b; }
static int toy_mul(la_frame *f) { return toy_binary(f, times); }
static int toy_add(la_frame *f) { return toy_binary(f, plus); }

/* ---- tools ---- */

static lua_State *open_host(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    return L;
}

static void run(lua_State *L, const char *code)
{
    if (luaL_dostring(L, code)) fail_msg("%s", lua_tostring(L, -1));
}

static void expect(int code, const char *words)
{
    if (la_error_code() != code || !strstr(la_error_text(), words))
        fail_msg("code %d, '%s'", la_error_code(), la_error_text());
}

static la_tensor *on_toy(int64_t n)
{
    la_tensor *t = la_call(NULL, "arange", n, la_any_named("dtype",
        la_any_text("float32")), la_any_named("device", la_any_text("toy")));
    assert_non_null(t);
    return t;
}

static int begin(void **state)
{
    la_device_def def = toy_def(&shared, "toy");
    device = la_register_device_ex(NULL, &def);
    assert_true(device > 0);
    assert_int_equal(la_register_kernel_ex(NULL, "mul", device, toy_mul), 0);
    assert_int_equal(la_register_kernel_ex(NULL, "add", device, toy_add), 0);
    return 0;
}

/* ---- tests ---- */

static void registering(void **state)
{
    toy own = {.lock = PTHREAD_MUTEX_INITIALIZER};
    la_device_def def = toy_def(&own, "toy");
    assert_int_equal(la_register_device_ex(NULL, &def), -1);
    expect(LA_EARG, "exists already");
    assert_int_equal(la_register_device_ex(NULL, NULL), -1);
    expect(LA_EARG, "la_register_device_ex: ");
    def.size = 0;
    assert_int_equal(la_register_device_ex(NULL, &def), -1);
    expect(LA_EARG, "size");
    def = toy_def(&own, NULL);
    assert_int_equal(la_register_device_ex(NULL, &def), -1);
    expect(LA_EARG, "name");
    def = toy_def(&own, "a name of more than thirty-one bytes");
    assert_int_equal(la_register_device_ex(NULL, &def), -1);
    expect(LA_EARG, "31 bytes");
    def = toy_def(&own, "half");
    def.copy_out = NULL;
    assert_int_equal(la_register_device_ex(NULL, &def), -1);
    expect(LA_EARG, "hooks");
    assert_int_equal(la_register_kernel_ex(NULL, "nothing", device, toy_mul),
                     LA_EARG);
    expect(LA_EARG, "there is no operation 'nothing'");
    assert_int_equal(la_register_kernel_ex(NULL, "mul", 7, toy_mul), LA_EARG);
    expect(LA_EARG, "there is no device 7");
    assert_int_equal(la_register_kernel_ex(NULL, "mul", -1, toy_mul), LA_EARG);
}

static void from_lua(void **state)
{
    lua_State *L = open_host();
    run(L,
        "la = require 'lunarray'\n"
        "x = la.tensor({{1., 2., 3.}, {4., 5., 6.}}, {device = 'toy'})\n"
        "assert(x.device == 'toy' and x.dtype == 'float32')\n"
        "assert(tostring(x) == \"tensor([[1., 2., 3.],\\n        [4., 5., 6.]]"
        ", device='toy')\", tostring(x))\n"
        "assert(x:item(2, 3) == 6 and x[1][2]:item() == 2)\n"
        "assert(x[{2, 1}]:tonumber() == 4)\n"
        "assert(x:totable()[2][1] == 4 and x:t():totable()[1][2] == 4)\n"
        "assert(x:cpu() == la.tensor{{1., 2., 3.}, {4., 5., 6.}})\n"
        "assert(x:cpu().device == 'cpu' and x:to('cpu').device == 'cpu')\n"
        "assert(x:to('toy') == x or x:to('toy').device == 'toy')\n"
        "assert(x:t():cpu():equal(la.tensor{{1., 4.}, {2., 5.}, {3., 6.}}))\n"
        "assert(la.hash(x) == la.hash(x:cpu()))\n"
        "assert(x:to('float64').device == 'toy')\n"
        "assert(x:to('float64'):cpu().dtype == 'float64')\n"
        "assert(x:to('meta').device == 'meta')\n"
        "assert(tostring(x:storage()):find('24 bytes on toy'))\n"
        "local y = x:clone()\n"
        "y[1] = 0\n"
        "y[{{}, 3}] = la.tensor{7., 8.}\n"
        "assert(y:cpu():equal(la.tensor{{0., 0., 7.}, {4., 5., 8.}}))\n"
        "y[2] = x[1]\n"
        "y:t():narrow(1, 1, 1):fill_(9)\n"
        "assert(y:cpu():equal(la.tensor{{9., 0., 7.}, {9., 2., 3.}}))\n"
        "assert(x:cpu():equal(la.tensor{{1., 2., 3.}, {4., 5., 6.}}))\n"
        "y:resize_({3, 3})\n"
        "assert(y:cpu()[{{1, 2}}]:equal(la.tensor{{9., 0., 7.}, {9., 2., 3.}}"
        "))\n");
    lua_close(L);
    assert_int_equal(shared.live, 0);
}

static void creation(void **state)
{
    lua_State *L = open_host();
    run(L,
        "local la = require 'lunarray'\n"
        "local on = {device = 'toy'}\n"
        "for name, args in pairs{zeros = {2, 3}, ones = {4}, eye = {3},\n"
        "    full = {{2, 2}, 7.}, arange = {5}, linspace = {0, 1, 5},\n"
        "    empty = {3}, hann_window = {8}, scalar_tensor = {2.5},\n"
        "    tril_indices = {3, 3}} do\n"
        "  local here = la[name](table.unpack(args))\n"
        "  args[#args + 1] = on\n"
        "  local there = la[name](table.unpack(args))\n"
        "  assert(there.device == 'toy', name)\n"
        "  assert(name == 'empty' or there:cpu():equal(here), name)\n"
        "end\n"
        "la.manual_seed(5)\n"
        "local a = la.randn(3, 4)\n"
        "la.manual_seed(5)\n"
        "assert(la.randn(3, 4, on):cpu():equal(a))\n"
        "local z = la.zeros(2, {device = 'toy', requires_grad = true,\n"
        "                       names = {'n'}})\n"
        "assert(z.requires_grad and z.is_leaf and z.names[1] == 'n')\n"
        "for _, f in ipairs{'zeros_like', 'ones_like', 'empty_like'} do\n"
        "  assert(la[f](z).device == 'toy')\n"
        "  assert(la[f](z, {device = 'cpu'}).device == 'cpu')\n"
        "end\n"
        "assert(la.full_like(z, 3):totable()[2] == 3)\n"
        "assert(la.zeros_like(a, on).device == 'toy')\n"
        "assert(z:new_ones(4).device == 'toy')\n"
        "local out = la.empty(5, {device = 'toy', dtype = 'int64'})\n"
        "la.arange(5, {out = out})\n"
        "assert(out:totable()[5] == 4)\n"
        "assert(la.from_function({2}, function(i) return i end, on).device\n"
        "       == 'toy')\n"
        "local e = la.zeros(0, 3, on)\n"
        "assert(e:cpu().shape[2] == 3 and tostring(e):find('toy'))\n"
        "assert(la.tensor(1.5, on):item() == 1.5)\n"
        "local c = la.tensor({{1, 2}}, {device = 'toy', dtype = 'complex64'})\n"
        "assert(c:conj():cpu():equal(c:cpu():conj()))\n"
        "local re, im = c:conj():item(1, 1)\n"
        "assert(re == 1 and im == 0 or im)\n");
    lua_close(L);
    assert_int_equal(shared.live, 0);
}

static void without_kernel(void **state)
{
    lua_State *L = open_host();
    run(L,
        "local la = require 'lunarray'\n"
        "local x = la.ones(4, {device = 'toy'})\n"
        "local function fails(f, ...)\n"
        "  local ok, why = pcall(f, ...)\n"
        "  assert(not ok)\n"
        "  for _, word in ipairs{'toy', 'kernel'} do\n"
        "    assert(why:find(word, 1, true), why)\n"
        "  end\n"
        "  return why\n"
        "end\n"
        "assert(fails(la.exp, x):find(\"exp: there is no kernel of 'exp'\"))\n"
        "assert(fails(function() return x - x end):find('sub'))\n"
        "assert(fails(la.sum, x):find(\"'sum'\"))\n"
        "assert(fails(x.exp_, x):find(\"'exp'\"))\n"
        "fails(la.matmul, x, x)\n"
        "fails(la.softmax, x, 1)\n"
        "fails(la.sort, x)\n"
        "fails(la.equal, x, x)\n"
        "fails(la.nonzero, x)\n"
        "fails(la.linear, x, la.ones(2, 4, {device = 'toy'}))\n"
        "fails(la.exp, x, {out = x})\n"
        "local ok, why = pcall(la.mul, x, la.ones(4))\n"
        "assert(not ok and why:find('same device, but found at least two "
        "devices, toy and cpu'), why)\n"
        "assert(not pcall(la.zeros, 2, {device = 'tay'}))\n"
        "assert(x:totable()[4] == 1)\n"
        "local ok, why = pcall(la.save, os.tmpname() .. '.npy', x)\n"
        "assert(not ok and why:find('cpu', 1, true), why)\n"
        "assert(not pcall(la.to_dlpack, x))\n"
        "assert(not pcall(la.snapshot, {x}))\n"
        "assert(not pcall(x.apply_, x, function(v) return v end))\n");
    lua_close(L);
    assert_int_equal(shared.live, 0);
}

static void kernels_and_gradients(void **state)
{
    lua_State *L = open_host();
    run(L,
        "local la = require 'lunarray'\n"
        "local x = la.tensor({1., 2., 3.}, {device = 'toy'})\n"
        "local y = x * x + 1\n"
        "assert(y.device == 'toy')\n"
        "assert(y:cpu():equal(la.tensor{2., 5., 10.}))\n"
        "x:mul_(2)\n"
        "assert(x:cpu():equal(la.tensor{2., 4., 6.}))\n"
        "la.add(x, x, {out = y})\n"
        "assert(y:totable()[3] == 12)\n"
        "local p = la.tensor({1., 2., 3.}, {requires_grad = true})\n"
        "local q = p:to('toy')\n"
        "local loss = (q * q):cpu():sum()\n"
        "loss:backward()\n"
        "assert(p.grad.device == 'cpu')\n"
        "assert(p.grad:equal(la.tensor{2., 4., 6.}))\n"
        "local w = la.ones(3, {device = 'toy', requires_grad = true})\n"
        "; ((w * x):cpu() * 2):sum():backward()\n"
        "assert(w.grad.device == 'toy')\n"
        "assert(w.grad:cpu():equal(la.tensor{4., 8., 12.}))\n"
        "; ((w * x):cpu() * 2):sum():backward()\n"
        "assert(w.grad:cpu():equal(la.tensor{8., 16., 24.}))\n"
        "local v = la.ones(2, {device = 'toy', requires_grad = true})\n"
        "v:view(1, 2):cpu():sum():backward()\n"
        "assert(v.grad:totable()[2] == 1)\n");
    lua_close(L);
    assert_int_equal(shared.live, 0);
}

static void copies_are_counted(void **state)
{
    la_tensor *t = on_toy(1000);
    int in = shared.in, out = shared.out, moved = shared.moved;
    la_tensor *u = la_call(NULL, "clone", t);
    assert_int_equal(shared.moved, moved + 1);
    la_tensor *c = la_call(NULL, "cpu", u);
    assert_int_equal(shared.out, out + 1);
    assert_true(((float *)la_tensor_data(c))[999] == 999);
    la_tensor *back = la_call(NULL, "to", c, "toy");
    assert_int_equal(shared.in, in + 1);
    la_range every = la_span(1, -1, 2);
    la_tensor *v = la_index(NULL, back, 1, &every);
    assert_int_equal(shared.in + shared.out + shared.moved,
                     in + out + moved + 3);      /* a view copies nothing */
    assert_int_equal((uintptr_t)la_tensor_data(v),
                     (uintptr_t)la_tensor_data(back));
    la_tensor *r = la_call(NULL, "narrow", back, 1, 11, 5);
    assert_int_equal((uintptr_t)la_tensor_data(r),
                     (uintptr_t)la_tensor_data(back) + 40);
    char text[64];
    assert_true(la_tensor_text(r, text, sizeof text) > 0);
    assert_string_equal(text,
                        "tensor([10., 11., 12., 13., 14.], device='toy')");
    uint64_t one, two;
    assert_int_equal(la_hash(back, &one), 0);
    assert_int_equal(la_hash(c, &two), 0);
    assert_true(one == two);
    la_tensor *list[] = {t, u, c, back, v, r};
    assert_null(la_snapshot_take(-1, &t));
    assert_int_equal(la_error_code(), LA_EARG);
    assert_null(la_snapshot_take(1, NULL));
    assert_int_equal(la_error_code(), LA_EARG);
    assert_null(la_snapshot_take(1, &t));
    expect(LA_ESUPPORT, "device");
    assert_null(la_to_dlpack(t));
    expect(LA_EKEY, "");
    for (int k = 0; k < 6; k++) la_release(list[k]);
    assert_int_equal(shared.live, 0);
}

static void hooks_fail(void **state)
{
    la_tensor *t = on_toy(8);
    la_tensor *host = la_call(NULL, "ones", 8);
    shared.no_memory = true;
    assert_null(la_call(NULL, "clone", t));
    expect(LA_ENOMEM, "clone: not enough memory on device 'toy' (32 bytes");
    assert_null(la_call(NULL, "to", host, "toy"));
    expect(LA_ENOMEM, "toy");
    assert_null(la_call(NULL, "zeros", 3, la_any_named("device",
                                                       la_any_text("toy"))));
    assert_null(la_call(NULL, "mul", t, t));
    expect(LA_ENOMEM, "mul: ");
    assert_null(la_call(NULL, "resize_", t, 100));
    shared.no_memory = false;
    shared.broken = true;
    assert_null(la_call(NULL, "cpu", t));
    expect(LA_EARG, "the cable is out");
    assert_null(la_call(NULL, "to", host, "toy"));
    expect(LA_EARG, "the cable is out");
    assert_null(la_call(NULL, "clone", t));
    expect(LA_EARG, "clone: the cable is out");
    assert_int_equal(la_tensor_text(t, NULL, 0), -1);
    expect(LA_EARG, "the cable is out");
    assert_null(la_call(NULL, "resize_", t, 100));
    shared.broken = false;
    shared.silent = true;
    assert_null(la_call(NULL, "cpu", t));
    expect(LA_EIO, "copy_out of device 'toy' failed (-7)");
    lua_State *L = open_host();
    assert_int_equal(la_push(L, t), 0);
    lua_setglobal(L, "t");
    run(L, "for _, f in ipairs{'totable', 'item', 'tostring_raw'} do\n"
           "  local ok, why = pcall(t[f], t, f == 'item' and 1 or nil)\n"
           "  assert(not ok and why:find(f .. ': ', 1, true)\n"
           "         and why:find('copy_out', 1, true), why)\n"
           "end\n"
           "assert(not pcall(tostring, t))\n");
    lua_close(L);
    shared.silent = false;
    la_tensor *c = la_call(NULL, "cpu", t);
    assert_true(((float *)la_tensor_data(c))[7] == 7);
    la_release(c);
    la_release(host);
    la_release(t);
    assert_int_equal(shared.live, 0);
}

static void kernels_come_and_go(void **state)
{
    la_tensor *t = on_toy(3), *r;
    assert_null(la_call(NULL, "linear", t, t));
    expect(LA_EKEY, "linear: ");
    assert_int_equal(la_register_kernel_ex(NULL, "linear", device, toy_mul),
                     0);        /* which is made of others elsewhere */
    r = la_call(NULL, "linear", t, t);
    assert_non_null(r);
    la_release(r);
    assert_int_equal(la_register_kernel_ex(NULL, "linear", device, NULL), 0);
    assert_null(la_call(NULL, "linear", t, t));
    r = la_call(NULL, "to", t, "float64");
    assert_null(la_call(NULL, "mul", r, r));
    expect(LA_EARG, "mul: the toy knows rows of float32");
    la_release(r);
    la_release(t);
}

static void of_a_runtime(void **state)
{
    toy own = {.lock = PTHREAD_MUTEX_INITIALIZER};
    la_device_def def = toy_def(&own, "toy");
    la_config c = {.size = sizeof c, .flags = LA_ZERO_MEMORY,
                   .memory = 1 << 20};
    la_memory m = {.size = sizeof m};
    la_runtime *rt = la_runtime_new(&c);
    def.copy = NULL;            /* through the CPU */
    assert_int_equal(la_register_kernel_ex(rt, "mul", 2, toy_mul), LA_EARG);
    int d = la_register_device_ex(rt, &def);
    assert_true(d > 0);
    la_use(rt);
    la_any there = la_any_named("device", la_any_text("toy"));
    la_tensor *t = la_call(NULL, "empty", 1000, there);
    assert_non_null(t);
    assert_int_equal(la_memory_stat(rt, &m), 0);
    assert_true(m.now >= 4000 && m.now < 8000);     /* counted as tensors' */
    la_tensor *host = la_call(NULL, "cpu", t);
    for (int k = 0; k < 1000; k++)
        assert_true(((float *)la_tensor_data(host))[k] == 0);
    assert_null(la_call(NULL, "empty", 300000, there));
    expect(LA_ENOMEM, "limit 1048576");
    la_tensor *u = la_call(NULL, "clone", t);
    assert_non_null(u);
    assert_true(own.in > 0 && own.out > 1 && own.moved == 0);
    assert_null(la_call(NULL, "mul", t, t));        /* kernels are its own */
    expect(LA_EKEY, "toy");
    la_use(NULL);
    la_release(host);
    la_release(u);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    lua_State *one = luaL_newstate(), *two = luaL_newstate();
    assert_int_equal(la_openlibs_in(one, rt), 0);
    assert_int_equal(la_openlibs_in(two, rt), 0);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    expect(LA_ESTATE, "2 Lua states of it are open");
    lua_close(two);
    assert_int_equal(la_runtime_destroy(rt), LA_ESTATE);
    expect(LA_ESTATE, "1 Lua state of it is open");
    lua_close(one);
    la_release(t);              /* outside of it */
    assert_int_equal(own.live, 0);
    la_use(rt);
    assert_int_equal(la_memory_stat(rt, &m), 0);
    la_use(NULL);
    assert_int_equal(la_runtime_destroy(rt), 0);
}

static void of_a_sandbox(void **state)
{
    la_limits limits = {.size = sizeof limits, .memory = 4 << 20};
    lua_State *L = luaL_newstate();
    assert_int_equal(la_open_sandboxed(L, &limits), 0);
    la_token *k = la_token_of(L);
    size_t before = la_token_memory(k);
    run(L, "x = lunarray.empty(1000, {device = 'toy'})\n"
           "assert(x:cpu():equal(lunarray.zeros(1000)))\n"
           "local ok, why = pcall(lunarray.empty, 2000000,\n"
           "                      {device = 'toy'})\n"
           "assert(not ok and why:find('memory'), why)\n");
    assert_true(la_token_memory(k) >= before + 4000);
    lua_close(L);
    assert_int_equal(la_token_memory(k), 0);
    la_token_release(k);
    assert_int_equal(shared.live, 0);
}

/* Without hooks the memory is the library's, which kernels read. */
static void library_memory(void **state)
{
    la_device_def def = {.size = sizeof def, .name = "plain"};
    assert_true(la_register_device_ex(NULL, &def) > device);
    la_tensor *t = la_call(NULL, "full", LA_ARG(la_any_ints((int64_t[]){3}, 1)),
                           2.5, la_any_named("device", la_any_text("plain")));
    assert_non_null(t);
    assert_true(((float *)la_tensor_data(t))[2] == 2.5f);
    la_tensor *other = la_call(NULL, "to", t, "toy");
    la_tensor *host = la_call(NULL, "cpu", other);
    assert_true(((float *)la_tensor_data(host))[2] == 2.5f);
    la_release(t);
    la_release(other);
    la_release(host);
}

/* Tensors of the device made and dropped by several threads. */
static void *work(void *context)
{
    for (int k = 0; k < 50; k++) {
        la_tensor *t = on_toy(100), *r = la_call(NULL, "add", t, t);
        la_tensor *c = la_call(NULL, "cpu", r);
        if (((float *)la_tensor_data(c))[99] != 198) *(int *)context = 1;
        la_release(t);
        la_release(r);
        la_release(c);
    }
    return NULL;
}

static void threads(void **state)
{
    pthread_t thread[4];
    int wrong[4] = {0};
    for (int k = 0; k < 4; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, work, &wrong[k]), 0);
    for (int k = 0; k < 4; k++) {
        pthread_join(thread[k], NULL);
        assert_int_equal(wrong[k], 0);
    }
    assert_int_equal(shared.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registering), cmocka_unit_test(from_lua),
        cmocka_unit_test(creation), cmocka_unit_test(without_kernel),
        cmocka_unit_test(kernels_and_gradients),
        cmocka_unit_test(copies_are_counted), cmocka_unit_test(hooks_fail),
        cmocka_unit_test(kernels_come_and_go),
        cmocka_unit_test(of_a_runtime), cmocka_unit_test(of_a_sandbox),
        cmocka_unit_test(library_memory), cmocka_unit_test(threads)
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
