/*
** lunarray.h: tensors for Lua 5.4, and for C programs that embed Lua.
**
** The library never aborts, exits, prints, changes a signal handler or the
** floating-point mode. Functions here do not raise Lua errors unless they say
** so: they return NULL or a status other than 0, and la_error_text() tells why
** (in words made for the user, one record per thread).
**
** Ownership: what a function returns as 'new' is yours and ends with
** la_release; arguments are borrowed. Tensors may be used on any thread, one
** thread at a time. Dimensions and indices count from 1 in la_call, as in Lua;
** dtypes are words ("float32").
**
** A host in ten lines:
**
**     lua_State *L = luaL_newstate();
**     luaL_openlibs(L);
**     la_openlibs(L);
**     int64_t sizes[2] = {480, 640};
**     la_tensor *image = la_wrap(pixels, "float32", 2, sizes, NULL, NULL,
**                                NULL);
**     la_push(L, image);
**     lua_setglobal(L, "image");
**     luaL_dostring(L, "image:clamp_(0, 1)");      -- works on 'pixels' itself
**     la_release(image);
*/
#ifndef LUNARRAY_H
#define LUNARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LA_API __attribute__((visibility("default")))
#else
#define LA_API
#endif

struct lua_State;
typedef struct la_tensor la_tensor;

/* ---- Lua states ---- */

/* For require "lunarray": pushes the module table. May raise. */
LA_API int luaopen_lunarray(struct lua_State *L);
/* Open the library as the global 'lunarray' for require, and preload its Lua
** modules (lunarray.nn, ...). 0, or a status when Lua has no memory. */
LA_API int la_openlibs(struct lua_State *L);
/* As la_openlibs for untrusted scripts: no files, no addresses, no bytecode, no
** limits changed from Lua, new memory is zero; 0 for no limit. Of Lua's library
** it opens what is safe and closes the rest: io, debug, package, dofile,
** loadfile, print, warn, string.dump, os but its clocks; load takes text,
** collectgarbage "count", require what is preloaded. A host adds functions of
** its own afterwards. After a status other than 0 no script may run. */
typedef struct la_limits {
    size_t memory;          /* bytes of tensors in the process */
} la_limits;
LA_API int la_open_sandboxed(struct lua_State *L, const la_limits *limits);

/* The tensor at a stack index: raises a Lua error when it is none / NULL. */
LA_API la_tensor *la_check(struct lua_State *L, int arg);
LA_API la_tensor *la_test(struct lua_State *L, int arg);
/* Push a tensor; Lua gets a reference of its own. 0, or a status (nothing is
** pushed then). */
LA_API int la_push(struct lua_State *L, la_tensor *t);

/* ---- tensors ---- */

/* New, contiguous, zeroed. NULL on failure. */
LA_API la_tensor *la_new(const char *dtype, int ndim, const int64_t *sizes);
/* New, on the host's own memory, without a copy. Strides in elements, NULL for
** row-major. 'release' (may be NULL) runs exactly once, when the last tensor on
** the memory is gone, or at once when this fails. */
LA_API la_tensor *la_wrap(void *data, const char *dtype, int ndim,
                          const int64_t *sizes, const int64_t *strides,
                          void (*release)(void *context, void *data),
                          void *context);
/* DLPack (dlpack.h of the DMLC project, which need not be included). A struct
** that these give is new: it shares the memory until its consumer calls its
** deleter, strides are always given. NULL for lazy bits, what requires grad,
** another device, and read-only memory without a version. The other two give a
** new tensor; 'm' is taken: its deleter runs exactly once, at once on
** failure. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
LA_API struct DLManagedTensor *la_to_dlpack(la_tensor *t);
LA_API struct DLManagedTensorVersioned *la_to_dlpack_versioned(la_tensor *t);
LA_API la_tensor *la_from_dlpack(struct DLManagedTensor *m);
LA_API la_tensor *la_from_dlpack_versioned(struct DLManagedTensorVersioned *m);
/* XXH64, seed 0, of dtype, ndim, sizes and elements; the same for every layout
** and machine. 0, or a status. */
LA_API int la_hash(const la_tensor *t, uint64_t *out);
/* New, from a file: a .npy (name NULL), or the tensor of that name in a .npz or
** .safetensors. */
LA_API la_tensor *la_load(const char *path, const char *name);
LA_API la_tensor *la_retain(la_tensor *t);      /* returns t */
LA_API void la_release(la_tensor *t);           /* NULL is allowed */

LA_API void *la_tensor_data(const la_tensor *t);     /* the first element */
LA_API int la_tensor_ndim(const la_tensor *t);
LA_API int64_t la_tensor_numel(const la_tensor *t);
LA_API const int64_t *la_tensor_sizes(const la_tensor *t);
LA_API const int64_t *la_tensor_strides(const la_tensor *t);  /* elements */
LA_API const char *la_tensor_dtype(const la_tensor *t);
LA_API bool la_tensor_contiguous(const la_tensor *t);
#ifndef LA_INTERNAL
#define la_data la_tensor_data
#define la_sizes la_tensor_sizes
#define la_strides la_tensor_strides
#define la_ndim la_tensor_ndim
#define la_numel la_tensor_numel
#define la_dtype_of la_tensor_dtype
#endif

/* ---- every operation, without a script ---- */

typedef struct la_any {
    int kind;
    la_tensor *tensor;
    int64_t integer, count;
    double number;
    const char *text;
    const void *list;       /* 'count' integers or tensors */
    const char *name;       /* of a keyword argument; NULL by position */
} la_any;
enum { LA_ARG_NONE, LA_ARG_TENSOR, LA_ARG_INTEGER, LA_ARG_NUMBER,
       LA_ARG_BOOLEAN, LA_ARG_TEXT, LA_ARG_INTEGERS, LA_ARG_TENSORS };

/* The first result as a new tensor (a number or boolean result as a 0-dim
** tensor); NULL on failure. 'results' may be NULL, or an array that takes 4 new
** tensors. */
LA_API la_tensor *la_call_list(struct lua_State *L, const char *op, int n,
                               const la_any *args, la_tensor **results);
LA_API la_any la_any_ints(const int64_t *list, int64_t n);
LA_API la_any la_any_tensors(la_tensor *const *list, int64_t n);
LA_API la_any la_any_named(const char *name, la_any value);

/* la_call(L, "add", a, b): tensors, integers, doubles, bools, words, or la_any.
** L may be NULL: then the settings of the calling thread's own context hold. */
static inline la_any la_any_tensor(la_tensor *t)
{
    la_any a = {LA_ARG_NONE, NULL, 0, 0, 0, NULL, NULL, NULL};
    a.kind = t ? LA_ARG_TENSOR : LA_ARG_NONE;
    a.tensor = t;
    return a;
}
static inline la_any la_any_int(int64_t v)
{
    la_any a = {LA_ARG_INTEGER, NULL, 0, 0, 0, NULL, NULL, NULL};
    a.integer = v;
    return a;
}
static inline la_any la_any_double(double v)
{
    la_any a = {LA_ARG_NUMBER, NULL, 0, 0, 0, NULL, NULL, NULL};
    a.number = v;
    return a;
}
static inline la_any la_any_bool(bool v)
{
    la_any a = {LA_ARG_BOOLEAN, NULL, 0, 0, 0, NULL, NULL, NULL};
    a.integer = v;
    return a;
}
static inline la_any la_any_text(const char *v)
{
    la_any a = {LA_ARG_TEXT, NULL, 0, 0, 0, NULL, NULL, NULL};
    a.text = v;
    return a;
}
static inline la_any la_any_same(la_any a) { return a; }

#if !defined(__cplusplus)
#define LA_ARG(v) _Generic((v), la_tensor *: la_any_tensor, \
    bool: la_any_bool, int: la_any_int, long: la_any_int, \
    long long: la_any_int, float: la_any_double, double: la_any_double, \
    char *: la_any_text, const char *: la_any_text, la_any: la_any_same)(v)
#define LA_ARGS1(a) LA_ARG(a)
#define LA_ARGS2(a, ...) LA_ARG(a), LA_ARGS1(__VA_ARGS__)
#define LA_ARGS3(a, ...) LA_ARG(a), LA_ARGS2(__VA_ARGS__)
#define LA_ARGS4(a, ...) LA_ARG(a), LA_ARGS3(__VA_ARGS__)
#define LA_ARGS5(a, ...) LA_ARG(a), LA_ARGS4(__VA_ARGS__)
#define LA_ARGS6(a, ...) LA_ARG(a), LA_ARGS5(__VA_ARGS__)
#define LA_ARGS7(a, ...) LA_ARG(a), LA_ARGS6(__VA_ARGS__)
#define LA_ARGS8(a, ...) LA_ARG(a), LA_ARGS7(__VA_ARGS__)
#define LA_NTH(a, b, c, d, e, f, g, h, N, ...) N
#define LA_COUNT(...) LA_NTH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define LA_ALL(...) LA_NTH(__VA_ARGS__, LA_ARGS8, LA_ARGS7, LA_ARGS6, LA_ARGS5,\
    LA_ARGS4, LA_ARGS3, LA_ARGS2, LA_ARGS1, 0)(__VA_ARGS__)
#define la_call(L, op, ...) la_call_list(L, op, LA_COUNT(__VA_ARGS__), \
    (const la_any[]){LA_ALL(__VA_ARGS__)}, NULL)
#endif

/* ---- indexing, as x[key] in Lua ---- */

/* One item of a key; made by the functions below. Items stand for the dims in
** their order; dims behind the last item stay whole. */
typedef struct la_range {
    int kind;
    int flags;              /* 0 */
    int64_t first, last, step;
    la_tensor *tensor;      /* borrowed */
    void *reserved[3];
} la_range;
enum {
    LA_AT,                  /* one index; the dim goes */
    LA_SPAN,                /* first to last, every step-th */
    LA_WHOLE,               /* a whole dim */
    LA_REST,                /* "...": all dims that no other item names */
    LA_NEW_AXIS,            /* a new dim of size 1 */
    LA_BY                   /* a mask (bool), or indices (int64, int32) */
};

/* Indices count from 1, negative ones from the end; both ends of a span belong
** to it and are cut to the size; a negative step falls from first to last. */
LA_API la_range la_at(int64_t i);
LA_API la_range la_span(int64_t first, int64_t last, int64_t step);
LA_API la_range la_whole(void);
LA_API la_range la_rest(void);
LA_API la_range la_new_axis(void);
LA_API la_range la_by(la_tensor *index);

/* New: t[ranges], a view of t unless a span falls or an index tensor is there
** (then a copy). NULL on failure: LA_EINDEX in la_error_text's words. L may be
** NULL, as in la_call. */
LA_API la_tensor *la_index(struct lua_State *L, la_tensor *t, int n,
                           const la_range *ranges);
/* t[ranges] = value, a tensor (broadcast; with indices of t's dtype) or a
** scalar. 0 or a status; t is as it was then. */
LA_API int la_set_index(struct lua_State *L, la_tensor *t, int n,
                        const la_range *ranges, la_any value);

/* ---- errors ---- */
LA_API const char *la_error_text(void);   /* of the last failure, this thread */

/* ---- the host's resources ---- */

/* Before the first tensor is made. 0 or a status. Both are called on any thread
** and with no lock of the library's held, so 'alloc' may release tensors to get
** memory; it answers NULL when there is none and must not throw. */
LA_API int la_set_allocator(void *(*alloc)(void *context, size_t bytes,
                                           size_t alignment),
                            void (*release)(void *context, void *block,
                                            size_t bytes), void *context);
LA_API void la_set_memory_limit(size_t bytes);    /* 0: none */
/* The host's job system: run fn for disjoint ranges that cover 0..n-1, each
** exactly once, on any threads, and return when all are done. */
LA_API void la_set_parallel_for(
    void (*run)(void *host, int64_t n, int64_t grain,
                void (*fn)(int64_t begin, int64_t end, void *context),
                void *context), void *host);
/* Asked every few milliseconds of long work, on any thread that works for the
** library and from several at once: true makes the operation fail with
** "interrupted", whatever is answered later. The tensor of an in-place form and
** an 'out' may then be written in part, and count as changed; no other operand
** is touched. Not asked: within one row of a row-wise operation (layer_norm),
** and while Lua makes the one table or string that totable and tostring_raw
** ask for. */
LA_API void la_set_interrupt(bool (*stop)(void *host), void *host);
/* Gets a line for each stage of each call; NULL: off. Set it before other
** threads work. */
LA_API void la_set_trace(void (*sink)(void *host, const char *text),
                         void *host);

/* ---- new operations and devices ---- */

typedef struct la_frame la_frame;         /* one call */
typedef struct la_op la_op;
/* 0, or a status from la_fail. */
typedef int (*la_kernel)(la_frame *frame);

LA_API la_tensor *la_frame_tensor(la_frame *f, int arg);  /* from 0; NULL nil */
LA_API int64_t la_frame_integer(la_frame *f, int arg);
LA_API double la_frame_number(la_frame *f, int arg);
/* Make result k ready: shape and dtype; also for in-place and out= forms. */
LA_API int la_frame_output(la_frame *f, int k, const char *dtype, int ndim,
                           const int64_t *sizes);
LA_API la_tensor *la_frame_result(la_frame *f, int k);    /* borrowed */
LA_API int la_fail(const char *text);     /* a status with this text */

/* "clip01(Tensor self, Scalar high=1) -> Tensor": 'shape' makes the outputs,
** 'fill' computes them. Available in states that are opened later. */
LA_API int la_register_op(const char *schema, const char *doc, la_kernel shape,
                          la_kernel fill);
/* A device by name, and the kernels of operations on it. Its number, or -1. */
LA_API int la_register_device(const char *name);
LA_API int la_register_kernel(const char *op, int device, la_kernel kernel);

#ifdef __cplusplus
}
#endif

#endif
