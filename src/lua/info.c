/* Information about the library and its dtypes, and its settings. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/cpu.h"
#include "base/os/isa_extension.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/parts.h"
#include "lunarray.h"
#include "op/linalg/lapack_library.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "lua/attr.h"
#include "lua/embed.h"
#include "lua/from_table.h"
#include "op/host/hosted.h"
#include "op/lockstep.h"
#include "op/matmul/gemm_extension.h"
#include "op/op.h"
#include "program/program.h"
#include "tensor/promote.h"
#include "tensor/shape.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef LA_NO_SLEEF
#define SLEEF "none"
#else
#define SLEEF "3.5"
#endif
#ifndef LA_BUILD_FLAGS      /* the Makefile's */
#define LA_BUILD_FLAGS ""
#endif

/* Why a recording comes to nothing: these modes belong to its signature. */
static const char info_refused[] = "it changes a mode that belongs to the "
    "signature";

/* ---- dtypes ---- */

static void field_number(lua_State *L, const char *name, double v)
{
    lua_pushnumber(L, v);
    lua_setfield(L, -2, name);
}

static void field_integer(lua_State *L, const char *name, lua_Integer v)
{
    lua_pushinteger(L, v);
    lua_setfield(L, -2, name);
}

static void field_string(lua_State *L, const char *name, const char *v)
{
    lua_pushstring(L, v);
    lua_setfield(L, -2, name);
}

typedef struct float_row {
    la_dtype dtype;
    int bits, digits;       /* digits: decimal places that survive */
    double eps, max, tiny, smallest;
} float_row;

/* tiny is the smallest normal number, smallest the smallest subnormal one. */
static const float_row floats[] = {
    {LA_FLOAT16, 16, 3, 0x1p-10, 65504.0, 0x1p-14, 0x1p-24},
    {LA_BFLOAT16, 16, 2, 0x1p-7, 0x1.fep127, 0x1p-126, 0x1p-133},
    {LA_FLOAT32, 32, 6, 0x1p-23, FLT_MAX, FLT_MIN, 0x1p-149},
    {LA_FLOAT64, 64, 15, 0x1p-52, DBL_MAX, DBL_MIN, 0x1p-1074},
};

/* finfo([dtype]): bits, eps, max, min, tiny, smallest_normal,
** smallest_subnormal, resolution, dtype. */
static int fn_finfo(lua_State *L)
{
    la_state *s = la_enter(L);
    la_dtype d = lua_isnoneornil(L, 1) ? s->context.default_dtype
                                       : la_check_dtype(L, 1, "finfo");
    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
        const float_row *r = &floats[i];
        if (r->dtype != la_dtype_to_real(d)) continue;
        lua_createtable(L, 0, 11);
        field_integer(L, "bits", r->bits);
        field_number(L, "eps", r->eps);
        field_number(L, "max", r->max);
        field_number(L, "min", -r->max);
        field_number(L, "tiny", r->tiny);
        field_number(L, "smallest_normal", r->tiny);
        field_number(L, "smallest_subnormal", r->smallest);
        field_number(L, "resolution", pow(10, -r->digits));
        field_string(L, "dtype", la_dtype_name(r->dtype));
        return 1;
    }
    return la_raise_arg(L, 1, "finfo", "floating-point or complex dtype "
                        "expected, got %s", la_dtype_name(d));
}

/* iinfo(dtype): bits, max, min, dtype. The largest uint64 does not fit a Lua
** integer: max is the float nearest to it, max_text the exact digits. */
static int fn_iinfo(lua_State *L)
{
    la_dtype d = la_check_dtype(L, 1, "iinfo");
    int bits = (int)la_dtype_size(d) * 8;
    bool is_signed = la_dtype_kind(d) == 'i';
    if (!la_is_integral(d))
        return la_raise_arg(L, 1, "iinfo", "integer dtype expected, got %s",
                            la_dtype_name(d));
    lua_createtable(L, 0, 4);
    field_integer(L, "bits", bits);
    field_string(L, "dtype", la_dtype_name(d));
    field_integer(L, "min", is_signed ? INT64_MIN >> (64 - bits) : 0);
    if (d == LA_UINT64) {
        field_number(L, "max", 18446744073709551615.0);
        field_string(L, "max_text", "18446744073709551615");
    } else {
        field_integer(L, "max", (lua_Integer)(UINT64_MAX
                                              >> (64 - bits + is_signed)));
    }
    return 1;
}

/* can_cast(from, to): by kinds (bool, integer, float, complex), not by range,
** as in PyTorch. */
static int fn_can_cast(lua_State *L)
{
    la_dtype from = la_check_dtype(L, 1, "can_cast");
    lua_pushboolean(L, la_can_cast(from, la_check_dtype(L, 2, "can_cast")));
    return 1;
}

/* Raises for pairs without a common dtype: uint16, uint32 and uint64 join with
** themselves and with floats only. */
static int fn_promote_types(lua_State *L)
{
    la_dtype a = la_check_dtype(L, 1, "promote_types");
    la_dtype b = la_check_dtype(L, 2, "promote_types");
    la_dtype r = la_promote(a, b);
    if (r == LA_UNDEFINED)
        return luaL_error(L, "promote_types: %s and %s have no common dtype; "
                          "convert one with x:to(dtype)", la_dtype_name(a),
                          la_dtype_name(b));
    lua_pushstring(L, la_dtype_name(r));
    return 1;
}

/* result_type(...): tensors, numbers and dtypes; a dtype counts as a tensor
** with dims. */
static int fn_result_type(lua_State *L)
{
    la_result_type r = LA_RESULT_TYPE_INIT;
    la_dtype d;
    la_enter(L);
    for (int i = 1; i <= lua_gettop(L); i++) {
        la_scalar s;
        if (la_to_handle(L, i))
            la_result_type_add(&r, la_check_tensor(L, i, "result_type"));
        else if (la_to_scalar(L, i, &s)) la_result_type_add_scalar(&r, &s);
        else if (lua_type(L, i) == LUA_TSTRING)
            la_result_type_add_dtype(&r, la_check_dtype(L, i, "result_type"));
        else
            return la_raise_arg(L, i, "result_type", "tensor, number or dtype "
                                "expected, got %s", la_type_text(L, i));
    }
    LA_CHECK(L, "result_type", la_result_type_get(&r, &d));
    lua_pushstring(L, la_dtype_name(d));
    return 1;
}

/* 'kind' is a kind of the array API standard or the name of a dtype; unknown
** ones fit nothing. */
static bool kind_fits(la_dtype d, const char *kind)
{
    char k = la_dtype_kind(d);
    if (strcmp(kind, "bool") == 0) return k == 'b';
    if (strcmp(kind, "signed integer") == 0) return k == 'i';
    if (strcmp(kind, "unsigned integer") == 0) return k == 'u';
    if (strcmp(kind, "integral") == 0) return k == 'i' || k == 'u';
    if (strcmp(kind, "real floating") == 0) return k == 'f';
    if (strcmp(kind, "complex floating") == 0) return k == 'c';
    if (strcmp(kind, "numeric") == 0) return k != 'b';
    return strcmp(la_dtype_name(d), kind) == 0;
}

/* isdtype(dtype, kind | dtype | list of them): the array API's kinds. */
static int fn_isdtype(lua_State *L)
{
    la_dtype d = la_check_dtype(L, 1, "isdtype");
    bool yes = false;
    if (lua_istable(L, 2)) {
        lua_Integer n = luaL_len(L, 2);
        luaL_argcheck(L, n <= LA_NDTYPES, 2,
                      "more kinds than there are dtypes");
        for (lua_Integer i = 1; i <= n && !yes; i++) {
            lua_geti(L, 2, i);
            yes = kind_fits(d, luaL_checkstring(L, -1));
            lua_pop(L, 1);
        }
    } else {
        yes = kind_fits(d, luaL_checkstring(L, 2));
    }
    lua_pushboolean(L, yes);
    return 1;
}

/* Sets it for this state only: floats without a dtype get it. */
static int fn_set_default_dtype(lua_State *L)
{
    la_state *s = la_enter(L);
    la_dtype d = la_check_dtype(L, 1, "set_default_dtype");
    if (!la_is_float(d))
        return la_raise_arg(L, 1, "set_default_dtype", "floating-point dtype "
                            "expected, got %s", la_dtype_name(d));
    LA_CHECK(L, "set_default_dtype", la_loop_hold());
    if (s->context.default_dtype != d) la_record_refuse(info_refused);
    s->context.default_dtype = d;
    return 0;
}

static int fn_get_default_dtype(lua_State *L)
{
    lua_pushstring(L, la_dtype_name(la_enter(L)->context.default_dtype));
    return 1;
}

static bool info_is_word(lua_State *L, const char *word)
{
    return lua_type(L, 1) == LUA_TSTRING
        && strcmp(lua_tostring(L, 1), word) == 0;
}

/* use_deterministic(on, "strict" or "lockstep"). The bits of an operation
** depend on no number of threads in any case; "strict" also leaves out the ISA
** extensions, so that they are those of every processor with AVX2 or more;
** "lockstep": those of every machine (op/lockstep.h). A host that made the
** runtime LA_DETERMINISTIC has said the last for good. */
static int fn_use_deterministic(lua_State *L)
{
    la_context *c = &la_enter(L)->context;
    bool lockstep = info_is_word(L, "lockstep");
    bool strict = lockstep || info_is_word(L, "strict");
    if (!strict && lua_type(L, 1) != LUA_TBOOLEAN)
        return la_raise_arg(L, 1, "use_deterministic", "boolean, \"strict\" or "
                            "\"lockstep\" expected, got %s",
                            la_type_text(L, 1));
    if (lockstep) LA_CHECK(L, "use_deterministic", la_lockstep_check());
    LA_CHECK(L, "use_deterministic", la_loop_hold());
    la_record_refuse(info_refused);
    if (c->runtime->flags & LA_DETERMINISTIC) return 0;
    c->deterministic = strict || lua_toboolean(L, 1);
    c->portable = strict;
    c->lockstep = lockstep;
    return 0;
}

/* true, false, "strict" or "lockstep" */
static int fn_is_deterministic(lua_State *L)
{
    const la_context *c = &la_enter(L)->context;
    if (c->lockstep) lua_pushliteral(L, "lockstep");
    else if (c->portable) lua_pushliteral(L, "strict");
    else lua_pushboolean(L, c->deterministic);
    return 1;
}

/* broadcast_shapes(...): each argument a list of sizes or one integer. Raises
** where they do not broadcast. */
static int fn_broadcast_shapes(lua_State *L)
{
    la_shape shape = {0}, next;
    for (int i = 1; i <= lua_gettop(L); i++) {
        next.ndim = la_read_sizes(L, i, next.sizes, "broadcast_shapes");
        LA_CHECK(L, "broadcast_shapes",
                 la_shape_broadcast(&shape, &next, &shape));
    }
    la_push_shape(L, shape.ndim, shape.sizes);
    return 1;
}

/* ---- threads, memory, machine ---- */

/* These settings belong to the runtime, which other states share. */
static void info_refuse_in_sandbox(lua_State *L, const char *name)
{
    if (la_enter(L)->sandboxed)
        luaL_error(L, "%s: not available in a sandbox", name);
}

/* Sets the threads of the runtime; a host's job system has its own. */
static int fn_set_num_threads(lua_State *L)
{
    int64_t n = la_check_int(L, 1, "set_num_threads");
    info_refuse_in_sandbox(L, "set_num_threads");
    if (n < 1 || n > 256)
        return la_raise_arg(L, 1, "set_num_threads", "1 to 256 expected");
    la_set_num_threads((int)n);
    return 0;
}

static int fn_get_num_threads(lua_State *L)
{
    la_enter(L);
    lua_pushinteger(L, la_num_threads());
    return 1;
}

/* memory(): bytes that the library has allocated, the most so far, and the
** limit (0 for none), of the whole runtime. */
static int fn_memory(lua_State *L)
{
    la_enter(L);
    la_mem_info m = la_mem_stat();
    lua_pushinteger(L, (lua_Integer)m.used);
    lua_pushinteger(L, (lua_Integer)m.peak);
    lua_pushinteger(L, (lua_Integer)m.cap);
    return 3;
}

/* Allocations beyond it fail with LA_ENOMEM, those before stay. */
static int fn_set_memory_limit(lua_State *L)
{
    int64_t n = lua_isnoneornil(L, 1) ? 0
        : la_check_int(L, 1, "set_memory_limit");
    info_refuse_in_sandbox(L, "set_memory_limit");
    if (n < 0)
        return la_raise_arg(L, 1, "set_memory_limit", "bytes (0 for none) "
                            "expected");
    la_mem_set_cap((size_t)n);
    return 0;
}

static int fn_cpu_capability(lua_State *L)
{
    lua_pushstring(L, la_cap_name(la_cpu_cap()));
    return 1;
}

static void list_capabilities(lua_State *L)
{
    int n = 0;
    lua_createtable(L, LA_NCAPS, 0);
    for (int c = 0; c < LA_NCAPS; c++) {
        if (!la_cpu_has_cap((la_cap)c)) continue;
        lua_pushstring(L, la_cap_name((la_cap)c));
        lua_rawseti(L, -2, ++n);
    }
    lua_setfield(L, -2, "cpu_available");
}

/* Set table[field] to the names of a set of ISA extensions; the table is on the
** top. */
static void list_extensions(lua_State *L, const char *field, unsigned set)
{
    int n = 0;
    lua_newtable(L);
    for (int l = 0; l < LA_NEXTENSIONS; l++) {
        if (!(set >> l & 1)) continue;
        lua_pushstring(L, la_extension_name((la_extension)l));
        lua_rawseti(L, -2, ++n);
    }
    lua_setfield(L, -2, field);
}

static void info_list_names(lua_State *L)
{
    lua_createtable(L, LA_NDTYPES, 0);
    for (int d = 0; d < LA_NDTYPES; d++) {
        lua_pushstring(L, la_dtype_name((la_dtype)d));
        lua_rawseti(L, -2, d + 1);
    }
    lua_setfield(L, -2, "dtypes");
}

/* The modules of this build, folders of modules/. */
static void list_modules(lua_State *L)
{
    static const char *const names[] = {
#define MODULE(name) #name,
#include "modules/names.def"
#undef MODULE
        NULL
    };
    lua_newtable(L);
    for (int i = 0; names[i]; i++) {
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "modules");
}

/* config(): compiler, CPU capability in use and available, threads, versions
** of libraries, build flags. */
static int fn_config(lua_State *L)
{
    la_begin(L, "config", 0);
    lua_createtable(L, 0, 18);
    /* first: what may run is known only after it has been tried */
    list_extensions(L, "cpu_extensions", la_gemm_extensions());
    list_extensions(L, "cpu_extensions_available", la_cpu_best_extensions());
    field_string(L, "version", LA_VERSION_TEXT);
    field_string(L, "compiler", COMPILER);
    field_string(L, "build_flags", LA_BUILD_FLAGS);
    field_string(L, "cpu_capability", la_cap_name(la_cpu_cap()));
    field_string(L, "cpu_note", la_cpu_note());
    field_string(L, "sleef", SLEEF);
    field_string(L, "blas", "own kernels");
    field_string(L, "lapack", la_lapack_name());
    field_string(L, "lua", LUA_RELEASE);
    field_integer(L, "threads", la_num_threads());
    field_integer(L, "operations", la_op_builtin());
    field_integer(L, "cache_l1", (lua_Integer)la_cpu_cache(1));
    field_integer(L, "cache_l2", (lua_Integer)la_cpu_cache(2));
    field_integer(L, "cache_l3", (lua_Integer)la_cpu_cache(3));
    list_capabilities(L);
    info_list_names(L);
    list_modules(L);
    return 1;
}

/* ---- help ---- */

/* End of the parameter that begins at 's': ", ", ")" or the end. */
static const char *parameter_end(const char *s)
{
    int depth = 0;
    for (; *s; s++) {
        if (*s == '[' || *s == '(') depth++;
        if (depth == 0 && (*s == ')' || (*s == ',' && s[1] == ' '))) break;
        if (*s == ']' || *s == ')') depth--;
    }
    return s;
}

/* A parameter as it is written, but numbers of its default from 0 on count
** from one. */
static void add_from_one(luaL_Buffer *b, const char *s, const char *end)
{
    const char *value = memchr(s, '=', (size_t)(end - s));
    for (; s < end; s++) {
        bool number = value && s > value && *s >= '0' && *s <= '9';
        if (!number || s[-1] == '-') {
            luaL_addchar(b, *s);
            continue;
        }
        char text[32];
        char *past;
        snprintf(text, sizeof text, "%ld", strtol(s, &past, 10) + 1);
        luaL_addstring(b, text);
        s = past - 1;
    }
}

/* A schema as users read it: rows count dims and indices from zero, calls from
** one. */
static void add_signature(luaL_Buffer *b, const char *signature)
{
    const char *s = strchr(signature, '(');
    if (!s) s = signature + strlen(signature);
    luaL_addlstring(b, signature, (size_t)(s - signature));
    while (*s == '(' || *s == ',') {
        size_t open = *s == '(' ? 1 : 2;
        const char *end = parameter_end(s + open);
        bool from_one = strncmp(s + open, "dim", 3) == 0
            || strncmp(s + open, "index", 5) == 0;
        luaL_addlstring(b, s, open);
        if (from_one) add_from_one(b, s + open, end);
        else luaL_addlstring(b, s + open, (size_t)(end - s) - open);
        s = end;
    }
    luaL_addstring(b, s);
}

/* help(name): the text that lunarray.help has (lua/lunarray/help.lua), where
** operations and everything else are one table of words. */
static int fn_help(lua_State *L)
{
    la_enter(L);
    if (lua_type(L, 1) != LUA_TSTRING && !lua_isnone(L, 1))
        return la_raise_arg(L, 1, "help", "name of an operation or function "
                            "expected, got %s", la_type_text(L, 1));
    lua_settop(L, 1);
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.help");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "page");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* With the operation's table and its name on the stack: the field 'aliases', a
** list of its other names. */
static void field_aliases(lua_State *L, const char *name)
{
    static const char *const rows[][2] = {
#define ALIAS(other, target) {target, #other},
#define THEME(theme, target)
#include "op/aliases.def"
#undef THEME
#undef ALIAS
    };
    lua_newtable(L);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i][0], name) != 0) continue;
        lua_pushstring(L, rows[i][1]);
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    lua_setfield(L, -3, "aliases");
}

/* The names of a set of dtypes as a list. */
static void push_dtypes(lua_State *L, uint32_t set)
{
    lua_newtable(L);
    for (int d = 0, n = 0; d < LA_NDTYPES; d++)
        if (set & LA_DTYPE_BIT(d)) {
            lua_pushstring(L, la_dtype_name((la_dtype)d));
            lua_rawseti(L, -2, ++n);
        }
}

/* operations(): the registry as a list of {name, signature, doc, ...}; what
** lunarray.help and the specs walk. 'differentiable' is what the row says,
** 'derivative' whether derivatives.def has rows for it; composite operations
** need none. */
static int fn_operations(lua_State *L)
{
    la_begin(L, "operations", 1024 * (int64_t)la_op_count());
    lua_createtable(L, la_op_count(), 0);
    for (int i = 0; i < la_op_count(); i++) {
        const la_op *op = la_op_at(i);
        if (la_op_withdrawn(op)) continue;
        LA_CHECK(L, "operations", la_poll());
        lua_createtable(L, 0, 13);
        lua_pushlstring(L, op->signature, strcspn(op->signature, ".("));
        field_aliases(L, lua_tostring(L, -1));
        lua_setfield(L, -2, "name");
        field_string(L, "row", op->name);
        luaL_Buffer b;
        luaL_buffinit(L, &b);
        add_signature(&b, op->signature);
        luaL_pushresult(&b);
        lua_setfield(L, -2, "signature");
        field_string(L, "doc", op->doc);
        lua_pushboolean(L, !(op->forms & LA_NO_GRAD_OP));
        lua_setfield(L, -2, "differentiable");
        lua_pushboolean(L, op->state->grad != NULL);
        lua_setfield(L, -2, "derivative");
        lua_pushboolean(L, (op->forms & LA_COMPOSITE) != 0);
        lua_setfield(L, -2, "composite");
        lua_pushboolean(L, (op->forms & LA_METADATA) != 0);
        lua_setfield(L, -2, "metadata");
        field_integer(L, "forms", op->forms);
        field_string(L, "lockstep", la_lockstep_way(op));
        lua_pushboolean(L, op->family != NULL);
        lua_setfield(L, -2, "promotes");
        push_dtypes(L, op->dtypes);
        lua_setfield(L, -2, "dtypes");
        lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    return 1;
}

static const la_function functions[] = {
    {"finfo", fn_finfo, 1}, {"iinfo", fn_iinfo, 1},
    {"can_cast", fn_can_cast, 2}, {"promote_types", fn_promote_types, 2},
    {"result_type", fn_result_type, LA_MANY}, {"isdtype", fn_isdtype, 2},
    {"set_default_dtype", fn_set_default_dtype, 1},
    {"get_default_dtype", fn_get_default_dtype, 0},
    {"use_deterministic", fn_use_deterministic, 1},
    {"use_deterministic_algorithms", fn_use_deterministic, 1},
    {"are_deterministic_algorithms_enabled", fn_is_deterministic, 0},
    {"broadcast_shapes", fn_broadcast_shapes, LA_MANY},
    {"set_num_threads", fn_set_num_threads, 1},
    {"get_num_threads", fn_get_num_threads, 0}, {"memory", fn_memory, 0},
    {"set_memory_limit", fn_set_memory_limit, 1},
    {"cpu_capability", fn_cpu_capability, 0}, {"config", fn_config, 0},
    {"help", fn_help, 1}, {"operations", fn_operations, 0}, {NULL, NULL, 0}
};
const la_part la_part_info = {functions, NULL};
