/* Memory of the host: byte strides and extents, read-only memory, records of
** structs, memory that the host moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <lunarray.h>


typedef struct particle {
    float pos[3], vel[3], mass;
    uint8_t alive;
    double spin;
    float frame[2][2];
} particle;

static const char layout[] =
    "pos:f32x3 vel:f32x3 mass:f32 alive:b8 spin:f64 frame:f32x2x2";

static int released;
static void *last;

static void on_release(void *context, void *data)
{
    assert_ptr_equal(context, &released);
    last = data;
    released++;
}

static int begin(void **state)
{
    (void)state;
    released = 0;
    last = NULL;
    return 0;
}

static lua_State *open_lua(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    assert_int_equal(la_openlibs(L), 0);
    if (luaL_dostring(L, "la = require 'lunarray'"))
        fail_msg("%s", lua_tostring(L, -1));
    return L;
}

static void run(lua_State *L, const char *code)
{
    if (luaL_dostring(L, code)) fail_msg("%s\n%s", code, lua_tostring(L, -1));
    lua_settop(L, 0);
}

/* The code raises an error with 'text' in it. */
static void raises(lua_State *L, const char *code, const char *text)
{
    if (!luaL_dostring(L, code)) fail_msg("no error: %s", code);
    if (!strstr(lua_tostring(L, -1), text))
        fail_msg("%s\n%s", code, lua_tostring(L, -1));
    lua_settop(L, 0);
}

static void has_error(int code, const char *prefix)
{
    assert_int_equal(la_error_code(), code);
    if (strncmp(la_error_text(), prefix, strlen(prefix)))
        fail_msg("%s: %s", prefix, la_error_text());
}

static la_buffer buffer_of(void *data, int ndim, const int64_t *sizes,
                           const int64_t *strides, size_t extent)
{
    la_buffer b;
    memset(&b, 0, sizeof b);
    b.size = sizeof b;
    b.data = data;
    b.dtype = "float32";
    b.ndim = ndim;
    b.sizes = sizes;
    b.byte_strides = strides;
    b.extent = extent;
    b.release = on_release;
    b.context = &released;
    return b;
}

/* ---- la_wrap_ex ---- */

static void test_byte_strides(void **state)
{
    particle p[4];
    int64_t sizes[2] = {4, 3}, strides[2] = {sizeof(particle), 4};
    (void)state;
    memset(p, 0, sizeof p);
    p[2].vel[1] = 7;
    la_buffer b = buffer_of(p[0].vel, 2, sizes, strides, sizeof p - 12);
    la_tensor *t = la_wrap_ex(&b);
    assert_non_null(t);
    assert_int_equal(la_error_code(), 0);
    assert_string_equal(la_error_text(), "");
    assert_ptr_equal(la_tensor_data(t), p[0].vel);
    lua_State *L = open_lua();
    assert_int_equal(la_push(L, t), 0);
    lua_setglobal(L, "v");
    run(L, "assert(v[3][2]:item() == 7) v:add_(1)");
    assert_true(p[3].vel[2] == 1 && p[2].vel[1] == 8 && p[3].mass == 0);
    la_release(t);
    lua_close(L);
    assert_int_equal(released, 1);
    assert_ptr_equal(last, p[0].vel);
}

static void refused(la_buffer b, int code)
{
    int before = released;
    assert_null(la_wrap_ex(&b));
    has_error(code, "la_wrap_ex: ");
    assert_int_equal(released, before + 1);
    assert_ptr_equal(last, b.data);
}

static void test_refusals(void **state)
{
    float m[16];
    int64_t sizes[2] = {4, 3}, strides[2] = {16, 4}, odd[2] = {18, 4};
    int64_t less[2] = {-16, 4}, huge[2] = {INT64_MAX - 3, 4};
    int64_t wide[2] = {INT64_MAX / 2, INT64_MAX / 2}, bad[2] = {-1, 3};
    int64_t none[2] = {0, 3};
    (void)state;
    refused(buffer_of(m, 2, sizes, strides, 59), LA_EARG);
    refused(buffer_of((char *)m + 2, 2, sizes, strides, 0), LA_EARG);
    refused(buffer_of(m, 2, sizes, odd, 0), LA_EARG);
    refused(buffer_of(m, 2, sizes, less, 0), LA_EARG);
    refused(buffer_of(m, 2, sizes, huge, 64), LA_EARG);
    refused(buffer_of(m, 2, wide, NULL, 64), LA_EARG);
    refused(buffer_of(m, 2, sizes, NULL, 47), LA_EARG);
    refused(buffer_of(NULL, 2, sizes, NULL, 0), LA_EARG);
    refused(buffer_of(m, 2, bad, NULL, 0), LA_ESHAPE);
    refused(buffer_of(m, -1, bad, NULL, 0), LA_ESHAPE);
    refused(buffer_of(m, 65, bad, NULL, 0), LA_ESHAPE);
    refused(buffer_of(m, 2, NULL, NULL, 0), LA_ESHAPE);
    la_buffer b = buffer_of(m, 2, sizes, NULL, 0);
    b.dtype = "float31";
    refused(b, LA_EDTYPE);
    b.dtype = NULL;
    refused(b, LA_EDTYPE);
    b.dtype = "float32";
    b.flags = 6;
    refused(b, LA_EARG);
    assert_null(la_wrap_ex(NULL));
    has_error(LA_EARG, "la_wrap_ex: ");
    assert_null(la_wrap((char *)m + 2, "float32", 2, sizes, NULL, on_release,
                        &released));
    assert_int_equal(la_error_code(), LA_EARG);
    released = 0;
    b = buffer_of(NULL, 2, none, strides, 1);
    la_tensor *t = la_wrap_ex(&b);
    assert_non_null(t);
    la_release(t);
    assert_int_equal(released, 1);
}

/* A host that was compiled with a header without the last fields. */
static void test_short_struct(void **state)
{
    float m[6] = {0};
    int64_t sizes[1] = {6};
    (void)state;
    la_buffer b = buffer_of(m, 1, sizes, NULL, 3);
    b.size = offsetof(la_buffer, byte_strides);
    la_tensor *t = la_wrap_ex(&b);
    assert_non_null(t);
    la_release(t);
    assert_int_equal(released, 0);
    b.size = 0;
    assert_null(la_wrap_ex(&b));
    has_error(LA_EARG, "la_wrap_ex: ");
}

/* Every way to write. */
static void test_read_only(void **state)
{
    static const char *const ways[] = {
        "x:add_(1)", "la.add(1, 2, {out = x})", "x[1] = 5", "x[{1, 2}] = 5",
        "x[{{}, 1}] = la.ones(3)", "x[x:gt(0)] = 0", "x:fill_(3)", "x:zero_()",
        "x:apply_(function(v) return v end)",
        "x:map_(x:clone(), function(a, b) return a end)",
        "x:map2_(x:clone(), x:clone(), function(a, b, c) return a end)",
        "x:copy_(la.ones(3, 2))", "x:normal_()", "x:uniform_()", "x:random_()",
        "x:bernoulli_(0.5)", "x:exponential_()", "x:t():mul_(2)",
        "x:view(6):sub_(1)", "x:index_fill_(1, la.tensor{1}, 0)",
        "x:scatter_(1, la.ones(3, 2, {dtype = 'int64'}), 0)",
        "x:index_put_({la.tensor{1}}, la.ones(2))",
        "x:masked_fill_(x:gt(0), 1)", "x:clamp_(0, 1)",
        "la.matmul(la.ones(3, 2), la.ones(2, 2), {out = x})",
        "x:addmm_(la.ones(3, 2), la.ones(2, 2))", ("x:set_data(la.ones(3, 2))"
        " x:add_(1) error 'read-only'"),
        "la.fuse(function() x:add_(1) end)()",
        "la.fuse(function() return la.add(x, 1, {out = x}) end)()",
        "la.fuse(function(y) x:copy_(y * 2) end)(la.ones(3, 2))",
        "la.sort(la.ones(3, 2), {out = {x, la.ones(3, 2):long()}})",
        "la.cumsum(la.ones(3, 2), 1, {out = x})", "la.to_dlpack(x)",
        "x:detach():add_(1)", "x:cumsum_(1)",
    };
    float m[6] = {1, 2, 3, 4, 5, 6};
    int64_t sizes[2] = {3, 2};
    (void)state;
    la_buffer b = buffer_of(m, 2, sizes, NULL, 0);
    b.flags = LA_READ_ONLY;
    la_tensor *t = la_wrap_ex(&b);
    assert_non_null(t);
    lua_State *L = open_lua();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(la_push(L, t), 0);
        lua_setglobal(L, "x");
        if (strstr(ways[i], "set_data")) continue;
        raises(L, ways[i], "read-only");
        assert_int_equal(la_error_code(), LA_ESTATE);
    }
    for (int i = 0; i < 6; i++) assert_true(m[i] == (float)(i + 1));
    assert_null(la_call(L, "add_", t, 1.0));
    assert_int_equal(la_error_code(), LA_ESTATE);
    assert_null(la_to_dlpack(t));
    assert_int_equal(la_error_code(), LA_ESTATE);
    run(L, "assert((x * 2):sum():item() == 42)");
    la_release(t);
    lua_close(L);
    assert_int_equal(released, 1);
}

/* ---- la_rebind ---- */

static void test_rebind(void **state)
{
    float *a = calloc(6, sizeof *a), *b = calloc(6, sizeof *b);
    int64_t sizes[2] = {3, 2};
    (void)state;
    la_tensor *t = la_wrap(a, "float32", 2, sizes, NULL, on_release,
                           &released);
    lua_State *L = open_lua();
    assert_int_equal(la_push(L, t), 0);
    lua_setglobal(L, "x");
    run(L, "row = x[1]; same = x:detach(); x:add_(1)");
    la_tensor *view = la_call(L, "select", t, 1, 1);
    assert_int_equal(la_rebind(t, b, 23), LA_EARG);
    has_error(LA_EARG, "la_rebind: ");
    assert_int_equal(la_rebind(t, (char *)b + 1, 0), LA_EARG);
    assert_int_equal(la_rebind(view, b, 0), LA_EARG);
    run(L, "x:add_(1) assert(row[1]:item() == 2)");
    assert_int_equal(la_rebind(t, b, 24), 0);
    assert_int_equal(la_error_code(), 0);
    free(a);
    assert_ptr_equal(la_tensor_data(t), b);
    assert_null(la_tensor_data(view));
    run(L, "x:add_(3)");
    assert_true(b[5] == 3);
    raises(L, "print(row)", "host memory was moved");
    raises(L, "row:add_(1)", "host memory was moved");
    assert_int_equal(la_error_code(), LA_ESTATE);
    raises(L, "return row:sum()", "host memory was moved");
    raises(L, "return row[1]", "host memory was moved");
    raises(L, "row[1] = 2", "host memory was moved");
    raises(L, "return same:item(1, 1)", "host memory was moved");
    raises(L, "return same:totable()", "host memory was moved");
    raises(L, "return same:t()", "host memory was moved");
    run(L, "assert(x:storage():nbytes() == 24)");
    assert_int_equal(la_rebind(t, NULL, 0), 0);
    raises(L, "x:add_(1)", "host memory was moved");
    assert_null(la_tensor_data(t));
    a = calloc(6, sizeof *a);
    assert_int_equal(la_rebind(t, a, 0), 0);
    free(b);
    run(L, "x:add_(2) row = x[1]");
    assert_true(a[0] == 2);
    la_release(view);
    la_release(t);
    assert_int_equal(released, 0);
    lua_close(L);
    assert_int_equal(released, 1);
    assert_ptr_equal(last, a);
    free(a);
}

static void test_graphs(void **state)
{
    float a[3] = {1, 2, 3}, b[3] = {4, 5, 6};
    int64_t sizes[1] = {3};
    (void)state;
    la_tensor *t = la_wrap(a, "float32", 1, sizes, NULL, NULL, NULL);
    lua_State *L = open_lua();
    assert_int_equal(la_push(L, t), 0);
    lua_setglobal(L, "x");
    run(L, "w = la.ones(3):requires_grad_() y = (w * x):sum()"
           " z = (w * x[{{1, 2}}]:sum()):sum() v = (w * x:detach()):sum()");
    assert_int_equal(la_rebind(t, b, 0), 0);
    raises(L, "y:backward()", "host memory was moved");
    assert_int_equal(la_error_code(), LA_ESTATE);
    raises(L, "v:backward()", "host memory was moved");
    run(L, "y = (w * x):sum() y:backward() assert(w.grad[3]:item() == 6)"
           " u = (w * x):sum() x:add_(1)");
    raises(L, "u:backward()", "modified by an inplace");
    la_release(t);
    lua_close(L);
}

/* Nothing that a script can call crashes or writes after the memory is gone. */
static void test_every_method(void **state)
{
    float a[6] = {1, 2, 3, 4, 5, 6};
    int64_t sizes[2] = {3, 2};
    (void)state;
    la_tensor *t = la_wrap(a, "float32", 2, sizes, NULL, NULL, NULL);
    lua_State *L = open_lua();
    assert_int_equal(la_push(L, t), 0);
    lua_setglobal(L, "x");
    run(L, "gone = x:t() parts = {x:detach(), x[1], x:view(6), x[{{1, 2}}]}");
    assert_int_equal(la_rebind(t, NULL, 0), 0);
    run(L, "local n = 0\n"
           "local function try(table)\n"
           "  for name, f in pairs(table) do\n"
           "    if type(f) == 'function' then\n"
           "      for _, v in ipairs {gone, parts[1], parts[3]} do\n"
           "        pcall(f, v) pcall(f, v, v) pcall(f, v, 1)\n"
           "        pcall(f, v, v, v) pcall(f, v, 1, 1) n = n + 1\n"
           "      end\n"
           "    end\n"
           "  end\n"
           "end\n"
           "try(la) try(la.fft) try(la.linalg) try(la.signal)\n"
           "assert(n > 1500)\n"
           "for _, v in ipairs {gone, parts[1]} do\n"
           "  pcall(la.save, '/dev/null', v)\n"
           "  pcall(la.save, '/dev/null', {a = v})\n"
           "  pcall(la.image.save, '/dev/null/x.png', v)\n"
           "  pcall(la.image.save, '/dev/null/x.jpg', v)\n"
           "  assert(not pcall(tostring, v))\n"
           "end");
    la_release(t);
    lua_close(L);
}

/* ---- records ---- */

static void test_fields(void **state)
{
    particle p[5];
    (void)state;
    memset(p, 0, sizeof p);
    p[4].spin = 2.5;
    p[1].frame[1][0] = 3;
    la_record *r = la_wrap_struct(p, 5, sizeof(particle), layout, 0,
                                  on_release, &released);
    assert_non_null(r);
    la_tensor *spin = la_record_field(r, "spin");
    la_tensor *frame = la_record_field(r, "frame");
    assert_int_equal(la_tensor_ndim(spin), 1);
    assert_ptr_equal(la_tensor_data(spin), &p[0].spin);
    assert_int_equal(la_tensor_ndim(frame), 3);
    assert_int_equal(la_tensor_sizes(frame)[2], 2);
    assert_null(la_record_field(r, "nothing"));
    has_error(LA_EARG, "la_record_field: ");
    lua_State *L = open_lua();
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "q");
    run(L, "assert(rawequal(p, q) and rawequal(p.pos, p.pos) and #p == 5)\n"
           "p.pos = 1 p.vel = la.tensor{1, 2, 3} p.pos:add_(p.vel)\n"
           "p.pos = p.pos * 2 p.alive = true p.mass = la.arange(5)\n"
           "assert(p.spin[5]:item() == 2.5 and p.frame[2][2][1]:item() == 3)\n"
           "local names = {} for k, v in pairs(p) do\n"
           "  names[#names + 1] = k .. v.ndim end\n"
           "assert(table.concat(names, ' ') ==\n"
           "  'pos2 vel2 mass1 alive1 spin1 frame3')\n"
           "local c = p:get('pos') c:zero_() assert(c:is_contiguous())\n"
           "p:set('mass', 3) assert(p:get('mass')[2]:item() == 3)");
    assert_true(p[4].pos[2] == 8 && p[0].pos[0] == 4 && p[3].alive == 1);
    assert_true(p[0].mass == 3);
    raises(L, "return p.nothing", "no field 'nothing' (fields: pos, vel");
    raises(L, "p.nothing = 1", "no field 'nothing'");
    /* the field is written, whatever a script made of its tensor */
    run(L, "local keep = p:get('mass') p.mass:set_(la.zeros(2)) p.mass = 4\n"
           "assert(p:get('mass'):sum():item() == 20)\n"
           "p.mass:unsqueeze_(1) p:set('mass', keep)\n"
           "assert(la.equal(p:get('mass'), keep))");
    raises(L, "p.pos = {1, 2, 3}", "la.tensor{...}");
    raises(L, "p.pos = la.ones(4)", "record.pos: ");
    raises(L, "return p[1]", "name of a field expected");
    run(L, "assert(not tostring(p):find '0x')\n"
           "local x = p.pos x:free() assert(p.pos.ndim == 2)");
    la_release(spin);
    la_release(frame);
    la_record_release(r);
    assert_int_equal(released, 0);
    run(L, "v = p.vel p = nil q = nil collectgarbage() collectgarbage()");
    assert_int_equal(released, 0);
    lua_close(L);
    assert_int_equal(released, 1);
    assert_ptr_equal(last, p);
}

static void layout_fails(const char *text, const char *position)
{
    char memory[64];
    int before = released;
    assert_null(la_wrap_struct(memory, 2, 32, text, 0, on_release, &released));
    has_error(LA_EARG, "la_wrap_struct: ");
    if (!strstr(la_error_text(), position))
        fail_msg("%s: %s", text, la_error_text());
    assert_int_equal(released, before + 1);
}

static void test_layout_errors(void **state)
{
    char memory[64] = {0};
    (void)state;
    layout_fails("", "no field");
    layout_fails("a", "character 1: 'a': a name");
    layout_fails("a:f32 b:f31", "character 7: 'b:f31': unknown type");
    layout_fails("a:f32 a:f32", "character 7: 'a:f32': there is");
    layout_fails("a:f32x0", "'x'");
    layout_fails("a:f32x2x2x2", "at most two");
    layout_fails("a:f32x", "'x'");
    layout_fails("a:f32@", "'@'");
    layout_fails("a:f32@x", "'@'");
    layout_fails("a:f32@29", "past the end");
    layout_fails("a:f32x9", "past the end");
    layout_fails("a:f32x99999999999999999999", "'x'");
    layout_fails("a:f32@99999999999999999999", "'@'");
    layout_fails("a:f32x4611686018427387904", "'x'");
    layout_fails("_:33 a:u8", "past the end");
    layout_fails("_:x a:u8", "'_:'");
    layout_fails("1a:u8", "a name");
    layout_fails("a:u8!", "name:type");
    layout_fails("a :u8", "a name");
    layout_fails("a:", "unknown type");
    layout_fails("a:f32 \xff:f32", "character 7: '\\xFF");
    released = 0;
    assert_null(la_wrap_struct(memory, -1, 32, "a:u8", 0, on_release,
                               &released));
    assert_null(la_wrap_struct(memory, INT64_MAX, 32, "a:u8", 0, on_release,
                               &released));
    assert_null(la_wrap_struct(memory, 1, 0, "a:u8", 0, on_release,
                               &released));
    assert_null(la_wrap_struct(NULL, 1, 32, "a:u8", 0, on_release, &released));
    assert_null(la_wrap_struct(memory, 1, 32, NULL, 0, on_release, &released));
    assert_null(la_wrap_struct(memory, 1, 32, "a:u8", 2, on_release,
                               &released));
    assert_int_equal(released, 6);
    la_record_release(NULL);
    assert_null(la_record_field(NULL, "a"));
    assert_int_equal(la_record_rebind(NULL, memory, 1), LA_EARG);
    assert_int_equal(la_push_record(NULL, NULL), LA_EARG);
}

/* Natural offsets, gaps, offsets; fields that are not aligned are copied. */
static void test_offsets(void **state)
{
    struct { char bytes[22]; } m[3];
    (void)state;
    memset(&m, 0, sizeof m);
    la_record *r = la_wrap_struct(&m, 3, 22,
        "a:u8 b:u16 _:1 c:u8\td:f32@7 e:u8x2\n f:u16x2x2@14 g:u8@14", 0, NULL,
        NULL);
    assert_non_null(r);
    lua_State *L = open_lua();
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    run(L, "p.a = 1 p.b = 0x0203 p.c = 4 p.e = la.tensor{5, 6} p.f = 0x0708\n"
           "p:set('d', la.tensor{1.5, 2.5, 3.5}) p:set('e', 9)\n"
           "assert(p:get('d')[2]:item() == 2.5)\n"
           "assert(p:get('d').dtype == 'float32')"
           " local n = 0 for k, v in pairs(p) do n = n + v.ndim end\n"
           "assert(n == 10)");
    unsigned char *at = (unsigned char *)&m[1];
    float d;
    memcpy(&d, at + 7, 4);
    assert_true(d == 2.5f && at[0] == 1 && at[2] == 3 && at[3] == 2);
    assert_true(at[5] == 4 && at[11] == 9 && at[12] == 9 && at[14] == 8);
    raises(L, "return p.d", "not aligned");
    raises(L, "p.d = 1", "not aligned");
    assert_null(la_record_field(r, "d"));
    has_error(LA_EARG, "la_record_field: ");
    /* fields that share bytes count changes together, others do not */
    run(L, "local f, a = p.f._version, p.a._version p.g = 1\n"
           "assert(p.f._version == f + 1 and p.a._version == a)");
    la_record_release(r);
    lua_close(L);
}

static void test_record_read_only(void **state)
{
    particle p[2];
    char odd[2][5];
    (void)state;
    memset(p, 0, sizeof p);
    memset(odd, 0, sizeof odd);
    la_record *r = la_wrap_struct(p, 2, sizeof *p, layout, LA_READ_ONLY, NULL,
                                  NULL);
    la_record *s = la_wrap_struct(odd, 2, 5, "a:u8 b:f32@1", LA_READ_ONLY,
                                  NULL, NULL);
    lua_State *L = open_lua();
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    assert_int_equal(la_push_record(L, s), 0);
    lua_setglobal(L, "s");
    raises(L, "p.pos = 1", "read-only");
    raises(L, "p.pos:add_(1)", "read-only");
    raises(L, "p.pos[1] = 1", "read-only");
    raises(L, "p:set('pos', 1)", "read-only");
    raises(L, "s:set('b', 1)", "read-only");
    assert_int_equal(la_error_code(), LA_ESTATE);
    run(L, "assert(s:get('b')[1]:item() == 0)");
    la_record_release(r);
    la_record_release(s);
    lua_close(L);
}

static void test_record_rebind(void **state)
{
    particle *a = calloc(3, sizeof *a), *b = calloc(8, sizeof *b);
    (void)state;
    la_record *r = la_wrap_struct(a, 3, sizeof *a, layout, 0, on_release,
                                  &released);
    la_tensor *pos = la_record_field(r, "pos");
    lua_State *L = open_lua();
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    run(L, "old = p.pos view = p.pos[1] w = la.ones(3):requires_grad_()\n"
           "y = (w * p.vel):sum()");
    assert_int_equal(la_record_rebind(r, a, -1), LA_EARG);
    has_error(LA_EARG, "la_record_rebind: ");
    run(L, "old:add_(1)");
    assert_int_equal(la_rebind(pos, b, 0), LA_EARG);
    assert_int_equal(la_record_rebind(r, b, 8), 0);
    free(a);
    assert_null(la_tensor_data(pos));
    raises(L, "old:add_(1)", "host memory was moved");
    raises(L, "return view + 1", "host memory was moved");
    raises(L, "y:backward()", "host memory was moved");
    run(L, "assert(#p == 8 and p.pos.shape[1] == 8)\n"
           "assert(not rawequal(p.pos, old) and rawequal(p.pos, p.pos))\n"
           "p.pos = 2");
    assert_true(b[7].pos[2] == 2);
    assert_int_equal(la_record_rebind(r, NULL, 0), 0);
    free(b);
    raises(L, "return p.pos", "host memory was moved");
    raises(L, "p.pos = 1", "host memory was moved");
    raises(L, "return p:get('pos')", "host memory was moved");
    raises(L, "p:set('pos', 1)", "host memory was moved");
    raises(L, "for k, v in pairs(p) do end", "host memory was moved");
    assert_null(la_record_field(r, "pos"));
    has_error(LA_ESTATE, "la_record_field: ");
    a = calloc(2, sizeof *a);
    assert_int_equal(la_record_rebind(r, a, 2), 0);
    run(L, "p.pos = 5");
    assert_true(a[1].pos[0] == 5);
    la_record_release(r);
    assert_int_equal(released, 0);
    lua_close(L);
    assert_int_equal(released, 1);      /* 'pos' is on memory of before */
    assert_ptr_equal(last, a);
    la_release(pos);
    assert_int_equal(released, 1);
    free(a);
}

/* A record in la.snapshot stands for its fields, also those without a tensor;
** bytes of no field are nobody's but the host's. */
static void test_record_snapshot(void **state)
{
    unsigned char odd[3][8];
    (void)state;
    memset(odd, 1, sizeof odd);
    la_record *r = la_wrap_struct(odd, 3, 8, "a:u8 b:f32@1 c:i8@6", 0, NULL,
                                  NULL);
    lua_State *L = open_lua();
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    run(L, "s, t = la.snapshot(p), la.snapshot{world = {p, p}}");
    for (int k = 0; k < 2; k++) {
        memset(odd, 2, sizeof odd);
        run(L, k ? "s:restore()" : "t:restore()");
        assert_memory_equal(odd[2], "\1\1\1\1\1\2\1\2", 8);
    }
    run(L, "p.a:free()");
    raises(L, "s:restore()", "restore: tensor 1 was freed");
    has_error(LA_ESTATE, "restore: ");
    run(L, "s:free()");
    raises(L, "s:restore()", "restore: the snapshot was freed");
    has_error(LA_ESTATE, "restore: ");
    assert_int_equal(la_record_rebind(r, NULL, 0), 0);
    raises(L, "la.snapshot{p}", "host memory was moved");
    has_error(LA_ESTATE, "record.");
    raises(L, "t.restore(p)", "lunarray.Snapshot expected, got");
    has_error(LA_EARG, "snapshot: ");
    raises(L, "p.get(t, 'a')", "lunarray.Record expected, got");
    has_error(LA_EARG, "record: ");
    la_record_release(r);
    lua_close(L);
}

static void count_passes(void *host, const char *text)
{
    if (strncmp(text, "fuse   pass of ", 15) == 0) ++*(int *)host;
}

/* A frame over structs is one pass: an assignment to a field does not ask for
** what was recorded before. */
static void test_one_pass(void **state)
{
    particle p[64];
    int passes = 0;
    (void)state;
    memset(p, 0, sizeof p);
    la_record *r = la_wrap_struct(p, 64, sizeof *p, layout, 0, NULL, NULL);
    lua_State *L = open_lua();
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    run(L, "p.vel = la.arange(3) f = la.fuse(function(dt)\n"
           "  local pos, vel = p.pos, p.vel vel:mul_(0.5)\n"
           "  pos:add_(vel * dt) p.vel = la.where(pos:gt(0.5), -vel, vel)\n"
           "  p.mass = 2 pos:clamp_(0, 3) end)");
    run(L, "f(2)");             /* records */
    memset(p, 0, sizeof p);
    run(L, "p.vel = la.arange(3)");
    for (int k = 1; k <= 3; k++) {
        la_set_trace(count_passes, &passes);
        run(L, "f(2)");
        la_set_trace(NULL, NULL);

    }
    assert_int_equal(passes, 3);
    assert_true(p[63].pos[1] == 0.25f && p[63].vel[1] == -0.125f);
    la_record_release(r);
    lua_close(L);
}

static void test_empty_record(void **state)
{
    (void)state;
    la_record *r = la_wrap_struct(NULL, 0, 12, "pos:f32x3", 0, NULL, NULL);
    assert_non_null(r);
    lua_State *L = open_lua();
    assert_int_equal(la_push_record(L, r), 0);
    lua_setglobal(L, "p");
    run(L, "assert(#p == 0 and p.pos:numel() == 0) p.pos = 1 p.pos:add_(2)\n"
           "assert(p:get('pos').shape[2] == 3)");
    la_record_release(r);
    lua_close(L);
    L = luaL_newstate();
    r = la_wrap_struct(NULL, 0, 12, "pos:f32x3", 0, NULL, NULL);
    assert_int_equal(la_push_record(L, r), LA_ESTATE);
    assert_int_equal(lua_gettop(L), 0);
    la_record_release(r);
    lua_close(L);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_byte_strides, begin),
        cmocka_unit_test_setup(test_refusals, begin),
        cmocka_unit_test_setup(test_short_struct, begin),
        cmocka_unit_test_setup(test_read_only, begin),
        cmocka_unit_test_setup(test_rebind, begin),
        cmocka_unit_test_setup(test_graphs, begin),
        cmocka_unit_test_setup(test_every_method, begin),
        cmocka_unit_test_setup(test_fields, begin),
        cmocka_unit_test_setup(test_layout_errors, begin),
        cmocka_unit_test_setup(test_offsets, begin),
        cmocka_unit_test_setup(test_record_read_only, begin),
        cmocka_unit_test_setup(test_record_rebind, begin),
        cmocka_unit_test_setup(test_record_snapshot, begin),
        cmocka_unit_test_setup(test_one_pass, begin),
        cmocka_unit_test_setup(test_empty_record, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
