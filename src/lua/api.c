/*
** The C interface of lunarray.h. Nothing here lets a Lua error out except
** la_check; everything else answers with NULL or a status.
**
** A host may call from any thread and outside of any protected call. So
** calls of Lua run protected, the context that was current is restored on
** return (LA_ENTRY), and the text of the last failure is kept per thread.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <lualib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "lua/autograd.h"
#include "lua/sandbox.h"
#include "op/device_names.h"
#include "op/schema.h"
#include "tensor/dlpack.h"
#include "tensor/hash.h"
#include "tensor/shape.h"

/* ---- states ---- */

/* The module goes into package.loaded and a global. */
static int open_protected(lua_State *L)
{
    luaL_requiref(L, "lunarray", luaopen_lunarray, 1);
    return 0;
}

/* Runs 'opens' and leaves the stack as it was. LA_EARG, LA_ENOMEM, or the error
** record with what it raised. */
static int open_state(lua_State *L, lua_CFunction opens)
{
    if (!L) return la_error(LA_EARG, "a Lua state is needed");
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    lua_pushcfunction(L, opens);
    if (lua_pcall(L, 0, 0, 0) == LUA_OK) return LA_OK;
    return la_lua_error(L, "open");
}

LA_API int la_openlibs(lua_State *L) { return open_state(L, open_protected); }

static int open_closed(lua_State *L)
{
    la_close_unsafe(L);
    lua_settop(L, 0);
    return open_protected(L);
}

/* Files, addresses and settings of the process are closed to its scripts; new
** memory is zeroed, so that nothing of another state shows in it. The memory
** limit is that of the process. */
LA_API int la_open_sandboxed(lua_State *L, const la_limits *limits)
{
    int status = open_state(L, open_closed);
    if (status) return status;
    la_state *s = la_state_of(L);
    s->sandboxed = true;
    s->context.zero_memory = true;
    if (limits && limits->memory) la_mem_set_cap(limits->memory);
    return LA_OK;
}

/* Whatever gives a host a tensor says before that counters are no longer the
** calling thread's alone. Borrowed from the handle at 'arg'; raises a Lua
** error, so only from a lua_CFunction of the host. */
LA_API la_tensor *la_check(lua_State *L, int arg)
{
    la_handle *h = la_to_handle(L, arg);
    la_share_tensors();
    if (!h || !h->tensor)
        luaL_argerror(L, arg, h ? "tensor was freed" : "tensor expected");
    return h ? h->tensor : NULL;
}

/* Borrowed, or NULL for anything but a live tensor; sets no error record. */
LA_API la_tensor *la_test(lua_State *L, int arg)
{
    la_handle *h = L ? la_to_handle(L, arg) : NULL;
    la_share_tensors();
    return h ? h->tensor : NULL;
}

/* A graph belongs to the state that recorded it: its functions run there, and
** nothing keeps two threads out of its nodes. */
static bool recorded_elsewhere(lua_State *L, const la_tensor *t)
{
    const la_state *s = la_state_of(L);
    return (t->flags & LA_F_REQUIRES_GRAD) && t->grad && t->grad->context
        && t->grad->context != &s->context;
}

/* Stack 1: the tensor as a light userdata, borrowed for the call. */
static int push_protected(lua_State *L)
{
    if (recorded_elsewhere(L, lua_touserdata(L, 1)))
        return luaL_error(L, "the tensor was recorded in another Lua state; "
                          "detach() it there first");
    la_push_borrowed(L, la_state_of(L), lua_touserdata(L, 1));
    return 1;
}

/* Retains 't': the caller's reference stays the caller's. Opens the library in
** a state that has not done so. On failure nothing is pushed. */
LA_API int la_push(lua_State *L, la_tensor *t)
{
    if (!L || !t) return la_error(LA_EARG, "a Lua state and a tensor needed");
    if (!lua_checkstack(L, 8)) return la_error(LA_ENOMEM, "Lua stack is full");
    if (!la_state_of(L) && la_openlibs(L)) return la_error_code();
    lua_pushcfunction(L, push_protected);
    lua_pushlightuserdata(L, t);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) return LA_OK;
    return la_lua_error(L, "push");
}

/* ---- tensors ---- */

/* False with the error record set. */
static bool read_dtype(const char *word, la_dtype *out)
{
    *out = word ? la_dtype_parse(word, strlen(word)) : LA_UNDEFINED;
    if (*out != LA_UNDEFINED) return true;
    la_error(LA_EDTYPE, "unknown dtype '%.40s' (known: %s)",
             word ? word : "(null)", la_known_dtypes);
    return false;
}

/* False with the error record set; the sizes themselves are checked where the
** tensor is made. */
static bool fair_shape(int ndim, const int64_t *sizes)
{
    if (ndim >= 0 && ndim <= LA_MAX_DIMS && (sizes || ndim == 0)) return true;
    la_error(LA_ESHAPE, "0 to %d dimensions with sizes expected, got %d",
             LA_MAX_DIMS, ndim);
    return false;
}

/* Owned by the caller and filled with zeros; NULL on failure. */
LA_API la_tensor *la_new(const char *dtype, int ndim, const int64_t *sizes)
{
    la_dtype d;
    la_tensor *t = NULL;
    LA_ENTRY(NULL);
    la_share_tensors();
    if (!read_dtype(dtype, &d) || !fair_shape(ndim, sizes)) return NULL;
    if (la_tensor_empty(ndim, sizes, d, &t)) return NULL;
    if (t->numel) memset(la_data(t), 0, (size_t)t->numel * la_itemsize(t));
    return t;
}

/* 'data' passes to the tensor in any case: 'release' is called for it on
** failure too, once. */
LA_API la_tensor *la_wrap(void *data, const char *dtype, int ndim,
                          const int64_t *sizes, const int64_t *strides,
                          void (*release)(void *, void *), void *context)
{
    la_dtype d;
    la_tensor *t = NULL;
    LA_ENTRY(NULL);
    la_share_tensors();
    if (!read_dtype(dtype, &d) || !fair_shape(ndim, sizes)) {
        if (release) release(context, data);
        return NULL;
    }
    if (la_tensor_wrap(data, d, ndim, sizes, strides, release, context, &t))
        return NULL;
    return t;
}

/* The errors of these four are in the record of the thread (la_error_text). */
LA_API struct DLManagedTensor *la_to_dlpack(la_tensor *t)
{
    struct DLManagedTensor *m = NULL;
    LA_ENTRY(NULL);
    la_dlpack_export(t, &m);
    return m;
}

LA_API struct DLManagedTensorVersioned *la_to_dlpack_versioned(la_tensor *t)
{
    struct DLManagedTensorVersioned *m = NULL;
    LA_ENTRY(NULL);
    la_dlpack_export_versioned(t, &m);
    return m;
}

LA_API la_tensor *la_from_dlpack(struct DLManagedTensor *m)
{
    la_tensor *t = NULL;
    LA_ENTRY(NULL);
    return la_dlpack_import(m, &t) ? NULL : t;
}

LA_API la_tensor *la_from_dlpack_versioned(struct DLManagedTensorVersioned *m)
{
    la_tensor *t = NULL;
    LA_ENTRY(NULL);
    return la_dlpack_import_versioned(m, &t) ? NULL : t;
}

/* Of the values: bits are resolved and any layout is brought to rows first, as
** la.hash does. */
LA_API int la_hash(const la_tensor *t, uint64_t *out)
{
    LA_OWNED conj = NULL;
    LA_OWNED neg = NULL;
    LA_OWNED plain = NULL;
    LA_ENTRY(NULL);
    LA_TRY(la_run(detach, &conj, (la_tensor *)t));
    LA_TRY(la_run(resolve_conj, &neg, conj));
    LA_TRY(la_run(resolve_neg, &plain, neg));
    la_tensor_drop(&neg);
    LA_TRY(la_run(contiguous, &neg, plain));
    if (neg->device != LA_CPU)
        return la_error(LA_EKEY, "hash: the tensor has no data on the CPU");
    LA_TRY(la_tensor_check_bounds(neg));
    return la_tensor_hash(neg, out);
}

LA_API la_tensor *la_retain(la_tensor *t)
{
    return t ? la_tensor_retain(t) : NULL;
}
LA_API void la_release(la_tensor *t)
{
    LA_ENTRY(NULL);
    la_tensor_release(t);
}
LA_API void *la_tensor_data(const la_tensor *t)
{
    return t && la_tensor_check_bounds(t) == LA_OK ? la_data(t) : NULL;
}
LA_API int la_tensor_ndim(const la_tensor *t) { return t ? t->ndim : 0; }
LA_API int64_t la_tensor_numel(const la_tensor *t) { return t ? t->numel : 0; }
LA_API const int64_t *la_tensor_sizes(const la_tensor *t)
{
    return t ? la_sizes(t) : NULL;
}
LA_API const int64_t *la_tensor_strides(const la_tensor *t)
{
    return t ? la_strides(t) : NULL;
}
LA_API const char *la_tensor_dtype(const la_tensor *t)
{
    return t ? la_dtype_name(t->dtype) : NULL;
}
LA_API bool la_tensor_contiguous(const la_tensor *t)
{
    return t && la_is_contiguous(t);
}
LA_API const char *la_error_text(void) { return la_error_message(); }

/* ---- calls ---- */

LA_API la_any la_any_ints(const int64_t *list, int64_t n)
{
    return (la_any){.kind = LA_ARG_INTEGERS, .list = list, .count = n};
}
LA_API la_any la_any_tensors(la_tensor *const *list, int64_t n)
{
    return (la_any){.kind = LA_ARG_TENSORS, .list = list, .count = n};
}
LA_API la_any la_any_named(const char *name, la_any value)
{
    value.name = name;
    return value;
}

/* Dims and indices count from 1 for callers and from 0 in a frame. */
static bool counted(la_type t)
{
    return t == LA_TYPE_DIM || t == LA_TYPE_DIMS || t == LA_TYPE_INDEX
        || t == LA_TYPE_INDICES || t == LA_TYPE_DIMS_VARIADIC;
}

/* Negative ones count from the end on both sides and stay as they are. */
static la_status shifted(int64_t v, la_type t, int64_t *out)
{
    if (!counted(t)) *out = v;
    else if (v == 0) return la_error(LA_EINDEX, "counting starts at 1");
    else *out = v - (v > 0);
    return LA_OK;
}

/* Arguments of one call. Lists that had to be converted are in 'pool'; all else
** is borrowed from the caller. */
typedef struct conversion {
    la_value args[LA_MAX_ARGS];
    int64_t pool[LA_POOL_INTS];
    int used;
} conversion;

/* Converted into the pool, since the caller's list is const. */
static la_status integers(conversion *c, const int64_t *list, int64_t n,
                          la_type t, la_value *v)
{
    if (n > 0 && !list) return la_error(LA_EARG, "no integers given");
    if (n < 0 || n > LA_POOL_INTS - c->used)
        return la_error(LA_EARG, "list of integers is too long");
    int64_t *to = c->pool + c->used;
    c->used += (int)n;
    for (int64_t i = 0; i < n; i++) LA_TRY(shifted(list[i], t, &to[i]));
    *v = la_v_ints(to, n);
    return LA_OK;
}

static la_status type_error(la_type t)
{
    return la_error(LA_EARG, "%s expected", la_type_name(t));
}

/* Texts are borrowed until the call ends. */
static la_status word(const char *text, la_type t, la_value *v)
{
    if (!text) return type_error(t);
    size_t n = strlen(text);
    *v = la_v_string(text);
    if (t == LA_TYPE_DTYPE) {
        *v = la_v_dtype(la_dtype_parse(text, n));
        if (v->dtype == LA_UNDEFINED)
            return la_error(LA_EARG, "unknown dtype '%.40s' (known: %s)", text,
                            la_known_dtypes);
    } else if (t == LA_TYPE_DEVICE) {
        v->tag = LA_VDEVICE;
        if (!la_device_parse(text, n, &v->device))
            return la_error(LA_EARG, "unknown device '%.40s'", text);
    } else if (t == LA_TYPE_FORMAT) {
        v->tag = LA_VFORMAT;
        if (!la_format_parse(text, n, &v->format))
            return la_error(LA_EARG, "unknown memory format '%.40s'", text);
    } else if (t != LA_TYPE_STR) {
        return type_error(t);
    }
    return LA_OK;
}

/* The list is borrowed as it is; NULL entries only where the schema allows
** nil. */
static la_status tensors(const la_any *a, const la_param *p, la_value *v)
{
    la_tensor *const *list = a->list;
    if (p->type != LA_TYPE_TENSORS || a->count < 0 || (a->count && !list))
        return type_error(p->type);
    for (int64_t i = 0; i < a->count; i++)
        if (!list[i] && !p->nullable)
            return la_error(LA_EARG, "tensor %lld of the list is NULL",
                            (long long)i + 1);
    *v = la_v_tensors((la_tensor **)a->list, a->count);
    return LA_OK;
}

/* An integer fits numbers, dims, booleans, and lists as a list of one. */
static la_status integer(conversion *c, const la_any *a, la_type t,
                         la_value *v)
{
    switch (t) {
    case LA_TYPE_TENSOR: case LA_TYPE_SCALAR: case LA_TYPE_FLOAT:
    case LA_TYPE_INT: case LA_TYPE_DIM: case LA_TYPE_INDEX:
        *v = la_v_int(a->integer);
        return shifted(a->integer, t, &v->i);
    case LA_TYPE_BOOL:      /* a comparison in C is an int */
        *v = la_v_bool(a->integer != 0);
        return LA_OK;
    default:
        return la_type_is_ints(t) ? integers(c, &a->integer, 1, t, v)
                                  : type_error(t);
    }
}

/* One argument by the type of its parameter; LA_EARG where it does not fit. */
static la_status convert(conversion *c, const la_any *a, const la_param *p,
                         la_value *v)
{
    la_type t = p->type;
    bool fits = true;
    switch (a->kind) {
    case LA_ARG_NONE: *v = la_v_none(); return LA_OK;
    case LA_ARG_TENSOR:
        *v = la_v_tensor(a->tensor);
        fits = t == LA_TYPE_TENSOR && a->tensor;
        break;
    case LA_ARG_TENSORS: return tensors(a, p, v);
    case LA_ARG_INTEGERS: return la_type_is_ints(t)
        ? integers(c, a->list, a->count, t, v)
        : la_error(LA_EARG, "%s expected, got integers", la_type_name(t));
    case LA_ARG_TEXT: return word(a->text, t, v);
    case LA_ARG_NUMBER:
        *v = la_v_float(a->number);
        fits = t == LA_TYPE_FLOAT || t == LA_TYPE_SCALAR
            || (t == LA_TYPE_TENSOR && !p->no_number);
        break;
    case LA_ARG_BOOLEAN:
        *v = la_v_bool(a->integer != 0);
        fits = t == LA_TYPE_BOOL || t == LA_TYPE_SCALAR || t == LA_TYPE_TENSOR;
        break;
    case LA_ARG_INTEGER: return integer(c, a, t, v);
    default: return la_error(LA_EARG, "an argument is of no known kind");
    }
    return fits ? LA_OK : type_error(t);
}

static int find_param(const la_schema *s, const char *name)
{
    for (int k = 0; k < s->nparams; k++)
        if ((size_t)s->params[k].name.n == strlen(name)
            && memcmp(s->params[k].name.text, name, strlen(name)) == 0)
            return k;
    return -1;
}

/* Integers by position behind each other fill a varargs parameter. *i ends
** behind the last one taken. */
static la_status variadic(conversion *c, int n, const la_any *args, int *i,
                          la_type t, la_value *v)
{
    int64_t list[LA_MAX_DIMS];
    int count = 0;
    while (*i < n && args[*i].kind == LA_ARG_INTEGER && !args[*i].name
           && count < LA_MAX_DIMS) list[count++] = args[(*i)++].integer;
    return integers(c, list, count, t, v);
}

/* Named arguments may come in any order; a later one replaces an earlier one of
** the same parameter. */
static la_status read_args(conversion *c, const la_schema *s, int n,
                           const la_any *args)
{
    int k = 0;
    c->used = 0;
    for (int j = 0; j < s->nparams; j++) c->args[j] = s->params[j].fallback;
    for (int i = 0; i < n;) {
        int at = args[i].name ? find_param(s, args[i].name) : k++;
        if (at < 0 || at >= s->nparams)
            return la_error(LA_EARG, "argument %d fits no parameter", i + 1);
        la_type t = s->params[at].type;
        bool many = (t == LA_TYPE_INTS_VARIADIC || t == LA_TYPE_DIMS_VARIADIC)
            && args[i].kind == LA_ARG_INTEGER;
        if (many) LA_TRY(variadic(c, n, args, &i, t, &c->args[at]));
        else LA_TRY(convert(c, &args[i++], &s->params[at], &c->args[at]));
    }
    return LA_OK;
}

/* A result that is no tensor becomes a 0-dim one. Takes over the value; *out is
** owned, NULL for no value. */
static la_status as_tensor(la_value *v, la_tensor **out)
{
    la_scalar s;
    *out = NULL;
    switch (v->tag) {
    case LA_VTENSOR: *out = v->tensor; return LA_OK;
    case LA_VNONE: return LA_OK;
    case LA_VBOOL: s = la_scalar_bool(v->b); break;
    case LA_VINT: s = la_scalar_int(v->i); break;
    case LA_VFLOAT: s = la_scalar_float(v->d); break;
    case LA_VSCALAR: s = v->scalar; break;
    default:
        la_value_drop(v);
        return la_error(LA_EARG, "the result is no tensor");
    }
    return la_tensor_from_scalar(&s, out);
}

/* Operations are found by their Lua name; overloads in the order of rows.
** Results are owned by the caller after LA_OK. The in-place form of a name
** gives its first argument, retained. */
static la_status call_by_name(const char *name, int n, const la_any *args,
                              la_value *results)
{
    conversion c;
    size_t len = strlen(name);
    bool inplace = len > 1 && name[len - 1] == '_';
    la_status status = LA_EARG;
    bool known = false;
    for (int id = 0; id < la_op_count(); id++) {
        const la_op *op = la_op_at(id);
        size_t own = strcspn(op->signature, ".(");
        bool same = own == len && memcmp(op->signature, name, len) == 0;
        bool form = inplace && own == len - 1
            && memcmp(op->signature, name, own) == 0
            && (op->forms & LA_INPLACE_FORM);
        if (!same && !form) continue;
        known = true;
        const la_schema *s = la_schema_of(op);
        status = read_args(&c, s, n, args);
        if (status) continue;
        if (same) return la_do_many(op, results, s->nparams, c.args);
        LA_TRY(la_do_(op, c.args[0].tensor, s->nparams, c.args));
        la_tensor *self = la_tensor_retain(c.args[0].tensor);
        results[0] = la_v_tensor(self);
        return LA_OK;
    }
    return known ? status
        : la_error(LA_EARG, "there is no operation '%.60s'", name);
}

/* Returns the first result, owned, or NULL. With 'results' all LA_MAX_RESULTS
** entries are written and owned, the first among them; otherwise the others are
** released. */
LA_API la_tensor *la_call_list(lua_State *L, const char *op, int n,
                               const la_any *args, la_tensor **results)
{
    la_value values[LA_MAX_RESULTS] = {{0}};
    la_tensor *outputs[LA_MAX_RESULTS] = {NULL};
    LA_ENTRY(la_context_of(L));
    la_share_tensors();
    if (!op || n < 0 || n > LA_MAX_ARGS || (n > 0 && !args)) {
        la_error(LA_EARG, "an operation and at most %d arguments expected",
                 LA_MAX_ARGS);
        return NULL;
    }
    if (call_by_name(op, n, args, values)) return NULL;
    la_status status = LA_OK;
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (as_tensor(&values[k], &outputs[k])) status = la_error_code();
    for (int k = status || !results ? !status : 0; k < LA_MAX_RESULTS; k++) {
        if (!status && results) results[k] = outputs[k];
        else la_tensor_drop(&outputs[k]);
    }
    return status ? NULL : outputs[0];
}

/* ---- resources ---- */

LA_API int la_set_allocator(void *(*alloc)(void *, size_t, size_t),
                            void (*release)(void *, void *, size_t),
                            void *context)
{
    return la_mem_set_allocator(alloc, release, context);
}
LA_API void la_set_memory_limit(size_t bytes) { la_mem_set_cap(bytes); }

/* ---- operations and devices from outside ---- */

/* The functions on frames are for kernels of a host. Tensors are borrowed from
** the frame; an index out of range gives NULL or 0. */
LA_API la_tensor *la_frame_tensor(la_frame *f, int arg)
{
    la_share_tensors();
    return arg >= 0 && arg < f->nargs ? la_arg(f, arg) : NULL;
}
LA_API int64_t la_frame_integer(la_frame *f, int arg)
{
    if (arg < 0 || arg >= f->nargs) return 0;
    const la_value *v = &f->args[arg];
    return v->tag == LA_VSCALAR ? v->scalar.i : v->tag == LA_VBOOL ? v->b
                                                                   : v->i;
}
LA_API double la_frame_number(la_frame *f, int arg)
{
    if (arg < 0 || arg >= f->nargs) return 0;
    const la_value *v = &f->args[arg];
    return v->tag == LA_VSCALAR ? v->scalar.re
        : v->tag == LA_VINT ? (double)v->i : v->d;
}
LA_API int la_frame_output(la_frame *f, int k, const char *dtype, int ndim,
                           const int64_t *sizes)
{
    la_dtype d;
    if (!read_dtype(dtype, &d) || !fair_shape(ndim, sizes))
        return la_error_code();
    return la_set_output(f, k, ndim, sizes, NULL, d);
}
LA_API la_tensor *la_frame_result(la_frame *f, int k)
{
    la_share_tensors();
    return k >= 0 && k < LA_MAX_RESULTS && f->results[k].tag == LA_VTENSOR
        ? la_result(f, k) : NULL;
}
LA_API int la_fail(const char *text)
{
    return la_error(LA_EARG, "%s", text ? text : "failed");
}
/* Both texts are copied. For the whole process, and seen by states that are
** opened later: closures are created when a state opens. */
LA_API int la_register_op(const char *schema, const char *doc, la_kernel shape,
                          la_kernel fill)
{
    const la_op *op;
    return la_op_register(schema, doc ? doc : "", LA_ANY, (la_op_fn)shape,
                          (la_op_fn)fill, &op);
}
LA_API int la_register_device(const char *name)
{
    la_device d;
    if (!name || la_device_register(name, &d)) return -1;
    return (int)d;
}
LA_API int la_register_kernel(const char *op, int device, la_kernel kernel)
{
    const la_op *row = op ? la_op_find(op, strlen(op)) : NULL;
    if (!row) return la_error(LA_EARG, "there is no operation '%.60s'",
                              op ? op : "(null)");
    if (device < 0 || device >= LA_NDEVICES)
        return la_error(LA_EARG, "there is no device %d", device);
    return la_kernel_register(row, (la_key)device, (la_op_fn)kernel);
}
