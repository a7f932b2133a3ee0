/*
** lunarray.h: tensors for Lua 5.4 and 5.5, and for C programs that embed Lua.
**
** The library never aborts, exits, prints, changes a signal handler or the
** floating-point mode: it computes with the rounding and the flush to zero of
** the calling thread, without its traps (feenableexcept), and hands the mode
** back with the flags that it had. Functions here do not raise Lua errors
** unless they say so: they return NULL or a status other than 0, and
** la_error_text() tells why (in words made for the user, one record for each
** thread).
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
**
** A host without Lua defines LA_NO_LUA and links liblunarray-core: what takes a
** Lua state takes NULL then, and what is for states alone is left out.
*/
#ifndef LUNARRAY_H
#define LUNARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* major * 10000 + minor * 100 + patch; la_version() is that of the library that
** runs. */
#define LA_VERSION 100

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(LA_DLL)      /* a host that links lunarray.dll */
#define LA_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define LA_API __attribute__((visibility("default")))
#else
#define LA_API
#endif

#if defined(__cplusplus)
#define LA_CAST(type, v) static_cast<type>(v)
#else
#define LA_CAST(type, v) ((type)(v))
#endif

struct lua_State;
typedef struct la_tensor la_tensor;
typedef struct la_runtime la_runtime;
typedef struct la_token la_token;

LA_API int la_version(void);

/* ---- status codes ---- */

/* Of functions that can fail; numbers stay as they are, new ones are added. */
#ifndef LA_STATUS_CODES     /* the library's own files may have them already */
typedef enum la_status {
    LA_OK = 0,
    LA_EARG,        /* an argument has the wrong type or value */
    LA_ESHAPE,      /* sizes do not fit each other or the data */
    LA_EDTYPE,      /* dtype not supported, or a result does not fit it */
    LA_EINDEX,      /* an index or a dimension is out of range */
    LA_EALIAS,      /* operands overlap in memory in a way not allowed */
    LA_ESTATE,      /* freed, read-only, locked, no storage */
    LA_ENOMEM,      /* memory could not be had, or the cap is reached */
    LA_EIO,         /* a file or a stream failed or is malformed */
    LA_EINTR,       /* the host's stop hook asked to stop */
    LA_EGRAD,       /* autograd: no graph, changed in place, freed buffers */
    LA_EKEY,        /* no kernel for this operation on this device */
    LA_ECANCEL,     /* a limit of the state: cancelled by the host, */
    LA_EDEADLINE,   /* its time is over, */
    LA_EFUEL,       /* its fuel is used up */
    LA_EJOBS,       /* the host's job system lost or repeated a range */
    LA_ESUPPORT,    /* not in this build or mode */
    LA_ELUA,        /* error of a script */
    LA_MORE         /* no failure: call again (la_program_step) */
} la_status;
#endif

/* ---- runtimes ---- */

/* A runtime owns allocator, job system, memory cap, log, hooks, mode, and the
** operations and devices that were registered in it. Lua states and tensors
** belong to one for good; nothing of one touches another. The process has a
** default one, made at first use, for which NULL stands; la_set_allocator,
** la_set_memory_limit, la_set_parallel_for, la_set_interrupt and la_register_*
** act on it. Tensors of two runtimes in one call are LA_EARG.
**
** Callbacks come on any thread, several at once, and with no lock of the
** library held. They may call la_release, la_trim and la_memory_stat; the
** allocator's must not make tensors, none may throw. */

/* fn(begin, end, context) for a range of 0..n-1. */
typedef void (*la_job)(int64_t begin, int64_t end, void *context);

/* The host's job system: either parallel_for, or enqueue and finish. None: the
** runtime has threads of its own, 'workers' of them if that is set. Ranges that
** are lost or repeated make the call fail with LA_EJOBS. */
typedef struct la_jobs {
    size_t size;
    void *host;             /* the first argument of the functions */
    int workers;            /* ranges that can run at a time, the caller's
                            ** thread among them; 1: serial; 0: as many as
                            ** there would be threads of the runtime's own */
    /* Returns when all of 0..n-1 ran, each once, in ranges of 'grain' or
    ** more. */
    void (*parallel_for)(void *host, int64_t n, int64_t grain, la_job fn,
                         void *context);
    /* Begins that and gives a task; NULL: it has run already. */
    void *(*enqueue)(void *host, int64_t n, int64_t grain, la_job fn,
                     void *context);
    void (*finish)(void *host, void *task);     /* returns when it is done */
} la_jobs;

enum { LA_LOG_ERROR = 1, LA_LOG_WARNING, LA_LOG_INFO, LA_LOG_DEBUG };

/* Flags of a runtime. */
enum {
    LA_DETERMINISTIC = 1,   /* the same bits on every machine; operations that
                            ** can't promise that fail with LA_ESUPPORT, and
                            ** so do seeds by the system and, in sandboxes,
                            ** clocks */
    LA_ZERO_MEMORY = 2      /* no old bytes in empty() */
};

/* Fields that are 0 or NULL mean the default; so does an all-zero 'jobs'. */
typedef struct la_config {
    size_t size;
    unsigned flags;
    /* Every block, of tensors, threads and records. After NULL caches are given
    ** up and it is asked once more, then the call fails with LA_ENOMEM. */
    void *(*alloc)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *block, size_t bytes);  /* as asked */
    void *alloc_context;
    la_jobs jobs;
    size_t memory;          /* cap on the bytes of all that is made in it:
                            ** tensors, graphs, views, scratch; 0: none */
    void (*log)(void *context, int level, const char *text);
    void *log_context;
    /* Asked every few milliseconds of long work: true makes that call fail with
    ** LA_EINTR. 'token' is that of the state which works. */
    void *stop_context;
    bool (*stop)(void *context, la_token *token);
    uint64_t seed;          /* with which the generator of each state and
                            ** thread begins, and math.random of sandboxes;
                            ** 0: 67280421310721, and math.random by the
                            ** system (in lockstep by that number too) */
} la_config;

/* New; NULL for 'config': all defaults. NULL with LA_EARG or LA_ENOMEM. */
LA_API la_runtime *la_runtime_new(const la_config *config);
/* LA_ESTATE, and nothing ended, while a state or a tensor of it lives or a call
** runs; LA_EARG for the default one and one that has ended. After 0 its threads
** ended, and the allocator has all back. No thread may be about to use it. */
LA_API int la_runtime_destroy(la_runtime *rt);
/* The calling thread's runtime for functions without a state (L == NULL) or a
** tensor: la_call, la_new, la_wrap, la_load, la_from_dlpack. Returns the former
** one; NULL stands for the default. */
LA_API la_runtime *la_use(la_runtime *rt);
LA_API la_runtime *la_runtime_of(const la_tensor *t);    /* borrowed */
/* Threads that a call may use, the caller's among them: its own, or the job
** system's workers. */
LA_API int la_thread_count(la_runtime *rt);
/* Of its own threads, 1 to 256. LA_ESTATE under a host's job system. */
LA_API int la_set_thread_count(la_runtime *rt, int n);

typedef struct la_memory {
    size_t size;
    size_t now, peak;       /* bytes that la_config.memory caps */
    size_t cap;             /* 0: none */
    size_t cached;          /* bytes of free blocks that are kept for reuse */
    int64_t blocks;         /* held from the allocator, of all kinds */
} la_memory;
/* Both on any thread at any time, from callbacks too. */
LA_API int la_memory_stat(la_runtime *rt, la_memory *out);
/* Hands free blocks back to the allocator (but those that other threads keep
** for small tensors); how many bytes. */
LA_API size_t la_trim(la_runtime *rt);
/* Ends the threads of the default runtime and hands back what is free; the next
** use starts afresh. LA_ESTATE while a call of it runs. */
LA_API int la_shutdown(void);

#ifndef LA_NO_LUA
/* ---- Lua states ---- */

/* For require "lunarray": pushes the module table. May raise. */
LA_API int luaopen_lunarray(struct lua_State *L);
/* Open the library as the global 'lunarray' for require, and preload its Lua
** modules (lunarray.nn, ...). 0, or a status when Lua has no memory. */
LA_API int la_openlibs(struct lua_State *L);
/* The same in a runtime, to which the state then belongs for good; NULL: the
** default one. LA_ESTATE when it was opened in another. */
LA_API int la_openlibs_in(struct lua_State *L, la_runtime *rt);
/* As la_openlibs for untrusted scripts, in a fresh state or after
** luaL_openlibs: no files, no addresses, no bytecode, no limits changed from
** Lua, new memory is zero. Of Lua's library it opens what is safe and closes
** the rest: io, debug, package, dofile, loadfile, print, warn, string.dump, os
** but its clocks; load takes text, collectgarbage "count", require what is
** preloaded; lunarray.nn and the other modules are fields too.
** What a token has reached (see below) goes through pcall, xpcall, coroutines,
** __close, __gc and message handlers, and ends loops of plain Lua, which a hook
** watches, and of its string and table functions. So that these take short,
** strings are of at most 16 MiB; the hook comes at each instruction once there
** is one of 4 MiB (plain Lua is slower then); what still ends late is to
** compare two of 16 MiB that are all zeros, 70 ms. A thread of Lua that the
** host has resumed itself (lua_resume) and that a limit has ended is dropped,
** not closed (lua_closethread, lua_resetthread): Lua would run its __close with
** hooks off. Metatables of the host's own objects want a __metatable, for a
** __gc that a script writes there has no limits. Lua's allocator is wrapped to
** be counted. 'limits' may be NULL; fields of 0 set none. A host adds
** functions of its own afterwards. After a status other than 0 no script may
** run: LA_EARG for the struct, LA_ESTATE when the state was opened in another
** runtime, LA_ENOMEM. */
struct la_source;           /* under "files"; its size is set already */
typedef struct la_limits {
    size_t size;            /* sizeof(la_limits) */
    size_t memory;          /* bytes of Lua and of all that the state makes in
                            ** the library (as la_token_memory), together: above
                            ** it LA_ENOMEM, which does not stay and which pcall
                            ** may catch */
    int64_t deadline;       /* as la_set_deadline's, from now */
    int64_t fuel;           /* as la_set_fuel's */
                            /* For la.load(name), any text: fills *source
                            ** and returns 0, or la_fail(). The source is
                            ** read and closed before la.load returns. NULL:
                            ** there are no files. */
    int (*open)(void *context, const char *name, struct la_source *source);
    void *open_context;
    la_runtime *runtime;    /* to which the state belongs for good; NULL: the
                            ** default one */
    void *stack;            /* as la_set_stack's: the lowest address */
    size_t stack_bytes;
} la_limits;
LA_API int la_open_sandboxed(struct lua_State *L, const la_limits *limits);

/* States for hosts that call no function of Lua's themselves. New: one with
** Lua's whole library and lunarray in a runtime (NULL: the default one), or one
** as la_open_sandboxed leaves it. NULL on failure, with the status of opening.
** They end by la_close_state, which is lua_close, on any thread. */
LA_API struct lua_State *la_new_state(la_runtime *rt);
LA_API struct lua_State *la_new_sandbox(const la_limits *limits);
LA_API void la_close_state(struct lua_State *L);        /* NULL is allowed */
/* Runs n bytes of a Lua script (text, no bytecode) protected, and drops what it
** returns. 'name' stands in positions ("a:3:"); NULL: "script". 0 or a status,
** and la_error_text is the error with its position: LA_ELUA for an error of the
** script itself, its syntax too. */
LA_API int la_run_script(struct lua_State *L, const char *text, size_t n,
                         const char *name);
/* Scripts get a global 'print' that calls the host's, on their thread, with one
** line: the texts of its arguments with tabs between, not ended by a newline or
** a zero. In a sandbox no text has an address. The callback must not raise.
** 0, LA_EARG, LA_ESTATE, LA_ENOMEM. */
LA_API int la_set_print(struct lua_State *L,
                        void (*print)(void *context, const char *text,
                                      size_t n), void *context);
/* Pushes the text of the value at that stack index as print shows it, and gives
** it; valid while it is on the stack. May raise (a __tostring, Lua's memory):
** in a lua_CFunction only. */
LA_API const char *la_push_text_of(struct lua_State *L, int index);

/* The tensor at a stack index: raises a Lua error when it is none / NULL. */
LA_API la_tensor *la_check(struct lua_State *L, int arg);
LA_API la_tensor *la_test(struct lua_State *L, int arg);
/* Push a tensor; Lua gets a reference of its own. 0, or a status (nothing is
** pushed then): LA_ESTATE for a state that was never opened, LA_EARG for a
** tensor of another runtime. */
LA_API int la_push(struct lua_State *L, la_tensor *t);
#endif

/* ---- tokens: limits on the work of a state ---- */

/* Each Lua state has a token, and so has each thread for calls without a state.
** What is reached first (la_cancel, the deadline, the end of the fuel) makes
** the running and every later operation of the state fail with its code,
** LA_ECANCEL, LA_EDEADLINE or LA_EFUEL, until la_token_clear; no pcall of a
** sandbox ends it. Workers ask the token of the call that they work for.
** All but la_token_of may be called on any thread at any time, also while the
** state runs or is closed; la_cancel also in a signal handler. They fail with
** nothing, and do nothing with NULL. */

/* New reference, which outlives L; NULL L: the calling thread's own. NULL when
** the library was not opened in L, or without memory. On L's thread. */
LA_API la_token *la_token_of(struct lua_State *L);
LA_API la_token *la_token_retain(la_token *k);      /* returns k */
LA_API void la_token_release(la_token *k);
LA_API void la_cancel(la_token *k);
/* Nanoseconds from now, of a clock that only goes forward; <= 0: has passed;
** INT64_MAX: none. */
LA_API void la_set_deadline(la_token *k, int64_t ns);
/* What may be used from now on; INT64_MAX: no end. An operation costs
** 1 + work / 1024: the elements of its largest argument or result, for most;
** several times that for functions; the multiply-adds of products, the windows
** of pooling, the pairs of points that are compared, n^3 of factorizations;
** operations of several steps their sum. In a sandbox 1,000 instructions of
** Lua's machine cost 1. The same on every machine. What would leave less than 0
** is not begun. */
LA_API void la_set_fuel(la_token *k, int64_t fuel);
LA_API int64_t la_fuel_left(la_token *k);
/* 0, or the code of what was reached first. */
LA_API int la_token_code(la_token *k);
/* Bytes charged to the state now: those of the tensors that it made and of what
** hangs on them (views, graphs, hooks, snapshots, records), until they are
** freed, wherever they went; scratch of its running call, plans that are kept
** for it; and in a sandbox those of Lua. Each block counts with what the system
** loses by it. 0 when the state is closed and nothing of it is left. */
LA_API size_t la_token_memory(la_token *k);
#ifndef LA_NO_LUA
/* The stack on which L's thread runs from now on, for hosts with fibers: its
** lowest address and its bytes; NULL: no limit, as in the beginning. An
** operation takes at most 32 KiB, whatever its arguments, as does what a job
** system runs for it. Scripts of a sandbox that call one another through C
** (gsub, sort, pcall, coroutines, metamethods, load, la.Function, tidy, fuse)
** take 2 KiB for each of 200 levels, indices of tensors 7, 700 KiB in all; with
** this they get the Lua error "stack overflow (stack of the host)" instead, 32
** KiB above 'low', or in the middle of a stack below 64 KiB, so that operations
** that are called there have what they need: fibers of 64 KiB are enough for
** scripts of strangers. A LAPACK that LUNARRAY_LAPACK names takes more and runs
** on another thread then. To be called before L runs on another stack. 0, or
** LA_ESTATE for a state that was not opened. */
LA_API int la_set_stack(struct lua_State *L, void *low, size_t bytes);
#endif
/* Nothing is reached any more: no cancel, no deadline, fuel without end.
** Finalizers (__gc) that a script of a sandbox left have a bound besides, which
** this does not lift and which holds in lua_close: together they take 4,000
** units, and 16 times what its scripts run later; then none is called. */
LA_API void la_token_clear(la_token *k);

/* ---- tensors ---- */

/* New, contiguous, zeroed. NULL on failure. */
LA_API la_tensor *la_new(const char *dtype, int ndim, const int64_t *sizes);
/* New, on the host's own memory, without a copy. Strides in elements, NULL for
** row-major; 'data' is aligned to its elements. 'release' (may be NULL) runs
** exactly once, when the last tensor on the memory is gone, or at once when
** this fails. */
LA_API la_tensor *la_wrap(void *data, const char *dtype, int ndim,
                          const int64_t *sizes, const int64_t *strides,
                          void (*release)(void *context, void *data),
                          void *context);
/* DLPack (dlpack.h of the DMLC project, which need not be included). A struct
** that these give is new: it shares the memory until its consumer calls its
** deleter, strides are always given. NULL for lazy bits, what requires grad,
** another device, and read-only memory without a version. The other two give a
** new tensor; 'm' is taken: its deleter runs exactly once, at once on failure.
** LA_ESTATE for one that a tensor has already; what was released is memory that
** nobody may look at. */
struct DLManagedTensor;
struct DLManagedTensorVersioned;
LA_API struct DLManagedTensor *la_to_dlpack(la_tensor *t);
LA_API struct DLManagedTensorVersioned *la_to_dlpack_versioned(la_tensor *t);
LA_API la_tensor *la_from_dlpack(struct DLManagedTensor *m);
LA_API la_tensor *la_from_dlpack_versioned(struct DLManagedTensorVersioned *m);
/* XXH64, seed 0, of dtype, ndim, sizes and elements; the same for every layout
** and machine. 0, or a status. */
LA_API int la_hash(const la_tensor *t, uint64_t *out);
LA_API la_tensor *la_retain(la_tensor *t);      /* returns t */
LA_API void la_release(la_tensor *t);           /* NULL is allowed */

LA_API void *la_tensor_data(const la_tensor *t);     /* the first element */
LA_API int la_tensor_ndim(const la_tensor *t);
LA_API int64_t la_tensor_numel(const la_tensor *t);
LA_API const int64_t *la_tensor_sizes(const la_tensor *t);
LA_API const int64_t *la_tensor_strides(const la_tensor *t);  /* elements */
LA_API const char *la_tensor_dtype(const la_tensor *t);
LA_API bool la_tensor_contiguous(const la_tensor *t);
/* Are the bytes at la_tensor_data the values, for the CPU to read? Not on a
** device, and not where lazy bits of x:conj() change them. */
LA_API bool la_tensor_plain(const la_tensor *t);
/* Before the host writes to la_tensor_data: graphs that saved the values refuse
** to use them, as after a change in place. 0, or LA_ESTATE for read-only memory
** and for the lazy bits of x:conj(), whose memory has other values. */
LA_API int la_mark_written(la_tensor *t);
/* The text that tostring gives in Lua: its bytes, of which as many as fit are
** written, with a NUL behind; 'out' may be NULL. -1 on failure. */
LA_API int64_t la_tensor_text(const la_tensor *t, char *out, size_t capacity);
#ifndef LA_INTERNAL
#define la_data la_tensor_data
#define la_sizes la_tensor_sizes
#define la_strides la_tensor_strides
#define la_ndim la_tensor_ndim
#define la_numel la_tensor_numel
#define la_dtype_of la_tensor_dtype
#endif

/* ---- memory of the host ---- */

enum {
    LA_READ_ONLY = 1        /* whatever writes fails with LA_ESTATE */
};

typedef struct la_buffer {
    size_t size;            /* sizeof(la_buffer) */
    void *data;
    const char *dtype;      /* "float32", ... */
    int ndim;
    unsigned flags;         /* LA_READ_ONLY or 0 */
    const int64_t *sizes;
    /* not negative and multiples of the element's size, as 'data' is; NULL:
    ** row-major without gaps */
    const int64_t *byte_strides;
    size_t extent;          /* bytes from 'data' on; 0: not checked */
    void (*release)(void *context, void *data);     /* as of la_wrap */
    void *context;
} la_buffer;

/* New, on the host's memory, which may be laid out as it likes: columns of
** structs, rows with gaps. NULL on failure: LA_EARG for a pointer or a stride
** that is no multiple of the element's size and for a layout that reaches past
** 'extent', LA_EDTYPE, LA_ESHAPE; 'release' has run then. */
LA_API la_tensor *la_wrap_ex(const la_buffer *buffer);

/* New: the elements of t, as they are at any time, for reading alone: what
** writes to it or to its views fails with LA_ESTATE. One set of weights serves
** any number of states so, pushed into each, on their threads at once while
** nobody writes t, which can't be resized from now on. NULL on failure:
** LA_EGRAD for what requires grad, LA_EKEY for other devices. */
LA_API la_tensor *la_read_only(la_tensor *t);

/* 'count' structs of 'bytes' each, as one named tensor per field. The layout
** has a word for each field, with spaces between them:
**
**     "pos:f32x3 vel:f32x3 model:f32x4x4 _:4 alive:b8 id:u32@136"
**
** name:type, name:typexN or name:typexNxM (row-major), with "@offset" in bytes
** where it does not stand where C puts it behind the field before; "_:N" skips
** N bytes. Types: u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 b8 c64 c128
** (of a b8 every byte but 0 is true).
** A field whose offset is no multiple of its element's size has no tensor; in
** Lua p:get and p:set copy it.
**
** In Lua: p.pos is a tensor on the structs (the same one until they move),
** p.pos = v copies into it, #p, pairs(p), p:get(name), p:set(name, v). */
typedef struct la_record la_record;

/* New; NULL on failure: LA_EARG with the position in the layout. 'release' runs
** once, when the record and all tensors on its memory are gone, or at once on
** failure. */
LA_API la_record *la_wrap_struct(void *data, int64_t count, size_t bytes,
                                 const char *layout, unsigned flags,
                                 void (*release)(void *context, void *data),
                                 void *context);
/* New: {count}, {count, N} or {count, N, M}. NULL on failure. */
LA_API la_tensor *la_record_field(la_record *r, const char *name);
#ifndef LA_NO_LUA
/* Push a record; Lua gets a reference of its own. 0, or a status (nothing is
** pushed then): LA_ESTATE in a state where the library was not opened. */
LA_API int la_push_record(struct lua_State *L, la_record *r);
#endif
LA_API void la_record_release(la_record *r);    /* NULL is allowed */

/* The host's memory lies at 'data' from now on (grown, remapped, the other of
** two buffers), in the same layout; NULL takes it away until the next rebind.
** What was wrapped goes on: t, or the record and fields that are asked for
** anew. Views of t and tensors of fields that were made before, and graphs that
** saved them, raise "host memory was moved" (LA_ESTATE; la_tensor_data gives
** NULL). 'release' is called for the last memory alone (NULL when it was taken
** away). Not while a call uses the memory. 0, or a status: LA_EARG for a tensor
** that la_wrap or la_wrap_ex did not give and for memory that does not fit;
** nothing has changed then. */
LA_API int la_rebind(la_tensor *t, void *data, size_t extent);
LA_API int la_record_rebind(la_record *r, void *data, int64_t count);

/* ---- every operation, without a script ---- */

/* One argument. 64 bytes, frozen: no field is ever added. */
typedef struct la_any {
    int kind;
    la_tensor *tensor;
    int64_t integer, count;
    double number;
    const char *text;
    const void *list;       /* 'count' integers, tensors, numbers or texts */
    const char *name;       /* of a keyword argument; NULL by position */
} la_any;
enum {
    LA_ARG_NONE,            /* nil: the default, or nothing */
    LA_ARG_TENSOR,
    LA_ARG_INTEGER,
    LA_ARG_NUMBER,
    LA_ARG_BOOLEAN,
    LA_ARG_TEXT,            /* a word, a dtype, a device, a memory format */
    LA_ARG_INTEGERS,        /* int64_t */
    LA_ARG_TENSORS,         /* la_tensor * */
    LA_ARG_NUMBERS,         /* double */
    LA_ARG_TEXTS,           /* const char *: names of dims */
    LA_ARG_TOO_LARGE        /* an integer above INT64_MAX: LA_EARG */
};

/* A list: the elements stay the caller's until the call has returned. */
LA_API la_any la_any_ints(const int64_t *list, int64_t n);
LA_API la_any la_any_tensors(la_tensor *const *list, int64_t n);
LA_API la_any la_any_numbers(const double *list, int64_t n);
LA_API la_any la_any_texts(const char *const *list, int64_t n);
/* A keyword argument, as {alpha = 2} in Lua. "out" takes a tensor, or tensors
** where there are several results. */
LA_API la_any la_any_named(const char *name, la_any value);

/* An operation under a name of Lua's: "add", "add_" (in place), "absolute",
** "linalg.det". Found once, it is called without a look at the name. Borrowed,
** valid until the runtime ends; NULL, without an error, when there is none. On
** any thread. */
typedef struct la_op la_op;
LA_API la_op *la_op_find(const char *name);

/* The first result as a new tensor (a boolean result as a 0-dim
** tensor); NULL on failure. 'results' may be NULL, or an array that takes 4 new
** tensors, the first among them. At most 16 arguments. L gives the settings
** (default dtype, recording, generator) and may be NULL: then those of the
** calling thread itself hold, which no script changes. */
LA_API la_tensor *la_op_call(struct lua_State *L, la_op *op, int n,
                             const la_any *args, la_tensor **results);
/* The same by name. */
LA_API la_tensor *la_call_list(struct lua_State *L, const char *op, int n,
                               const la_any *args, la_tensor **results);
/* For split, unbind and others that give a list: how many results there are,
** of which at most the first 'capacity' are written, new. -1 on failure. */
LA_API int la_call_many(struct lua_State *L, const char *op, int n,
                        const la_any *args, int capacity,
                        la_tensor **results);

/* The results as they are, for bindings of other languages: each a new tensor,
** an integer, a number, a boolean or a dtype's text; a list one by one. How
** many there are, of which at most 'capacity' are written; -1 on failure. */
LA_API int la_call_any(struct lua_State *L, la_op *op, int n,
                       const la_any *args, int capacity, la_any *results);

/* What there is, for bindings of other languages. The i-th operation of the
** thread's runtime, from 0, overloads of a name once; NULL behind the last. */
LA_API la_op *la_op_listed(int64_t i);
/* Overload k, from 0, as its row writes it: "sum.dim(Tensor self, dim[]?
** dim=nil, *, dtype? dtype=nil) -> Tensor". The name ends where the first dot
** or bracket stands. NULL behind the last. */
LA_API const char *la_op_schema(const la_op *op, int overload);
/* A sentence or more on what it computes. */
LA_API const char *la_op_doc(const la_op *op, int overload);
/* The forms that the overload has, as bits: la.name, x:name, x:name_, out. */
enum { LA_OP_FUNCTION = 1, LA_OP_METHOD = 2, LA_OP_INPLACE = 4, LA_OP_OUT = 8 };
LA_API unsigned la_op_forms(const la_op *op, int overload);

/* What la_call and LA_ARGS make of their arguments. */
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
static inline la_any la_any_unsigned(uint64_t v)
{
    la_any a = {LA_ARG_INTEGER, NULL, 0, 0, 0, NULL, NULL, NULL};
    if (v > INT64_MAX) a.kind = LA_ARG_TOO_LARGE;
    else a.integer = LA_CAST(int64_t, v);
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

/* la_call(L, "add", a, 1.5), la_call(L, "rand"): the operation's first result,
** new. Up to 16 tensors, integers of any width, floating-point numbers, bools,
** words, NULL for nil (nullptr in C++, where NULL is 0), and la_any for all
** else. In C++ too, as a template.
** LA_ARGS(a, 1.5): such arguments as a number and a list, for la_op_call(L,
** add, LA_ARGS(a, 1.5), NULL). LA_ARGS() stands for 0, NULL. */
#if !defined(__cplusplus)
static inline la_any la_any_const_tensor(const la_tensor *t)
{
    return la_any_tensor((la_tensor *)t);
}
static inline la_any la_any_long_double(long double v)
{
    return la_any_double((double)v);
}
/* NULL is nothing; no other untyped pointer is an argument. */
static inline la_any la_any_null(const void *p)
{
    la_any a = {LA_ARG_NONE, NULL, 0, 0, 0, NULL, NULL, NULL};
    if (p) a.kind = -1;
    return a;
}
#define LA_ARG(v) _Generic((v), \
    la_tensor *: la_any_tensor, \
    const la_tensor *: la_any_const_tensor, \
    bool: la_any_bool, \
    char: la_any_int, \
    signed char: la_any_int, \
    short: la_any_int, \
    int: la_any_int, \
    long: la_any_int, \
    long long: la_any_int, \
    unsigned char: la_any_unsigned, \
    unsigned short: la_any_unsigned, \
    unsigned: la_any_unsigned, \
    unsigned long: la_any_unsigned, \
    unsigned long long: la_any_unsigned, \
    float: la_any_double, \
    double: la_any_double, \
    long double: la_any_long_double, \
    char *: la_any_text, \
    const char *: la_any_text, \
    void *: la_any_null, \
    la_any: la_any_same)(v)
#define LA_MAP_1(a) LA_ARG(a)
#define LA_MAP_2(a, ...) LA_ARG(a), LA_MAP_1(__VA_ARGS__)
#define LA_MAP_3(a, ...) LA_ARG(a), LA_MAP_2(__VA_ARGS__)
#define LA_MAP_4(a, ...) LA_ARG(a), LA_MAP_3(__VA_ARGS__)
#define LA_MAP_5(a, ...) LA_ARG(a), LA_MAP_4(__VA_ARGS__)
#define LA_MAP_6(a, ...) LA_ARG(a), LA_MAP_5(__VA_ARGS__)
#define LA_MAP_7(a, ...) LA_ARG(a), LA_MAP_6(__VA_ARGS__)
#define LA_MAP_8(a, ...) LA_ARG(a), LA_MAP_7(__VA_ARGS__)
#define LA_MAP_9(a, ...) LA_ARG(a), LA_MAP_8(__VA_ARGS__)
#define LA_MAP_10(a, ...) LA_ARG(a), LA_MAP_9(__VA_ARGS__)
#define LA_MAP_11(a, ...) LA_ARG(a), LA_MAP_10(__VA_ARGS__)
#define LA_MAP_12(a, ...) LA_ARG(a), LA_MAP_11(__VA_ARGS__)
#define LA_MAP_13(a, ...) LA_ARG(a), LA_MAP_12(__VA_ARGS__)
#define LA_MAP_14(a, ...) LA_ARG(a), LA_MAP_13(__VA_ARGS__)
#define LA_MAP_15(a, ...) LA_ARG(a), LA_MAP_14(__VA_ARGS__)
#define LA_MAP_16(a, ...) LA_ARG(a), LA_MAP_15(__VA_ARGS__)
/* The 19th of its arguments. */
#define LA_NTH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, N, ...) N
/* How many there are, 1 to 16; 1 for none. */
#define LA_SIZE_(...) LA_NTH_(__VA_ARGS__, \
    18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
/* 1 where a comma separates some. Nothing is between the parentheses when only
** a function-like macro in front of them and () behind make one. */
#define LA_COMMA_(...) LA_NTH_(__VA_ARGS__, \
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define LA_TO_COMMA_(...) ,
#define LA_IS_0001 ,
#define LA_FIVE_(a, b, c, d, e) a##b##c##d##e
#define LA_EMPTY_4_(a, b, c, d) LA_COMMA_(LA_FIVE_(LA_IS_, a, b, c, d))
#define LA_EMPTY_(...) LA_EMPTY_4_(LA_COMMA_(__VA_ARGS__), \
    LA_COMMA_(LA_TO_COMMA_ __VA_ARGS__), LA_COMMA_(__VA_ARGS__ ()), \
    LA_COMMA_(LA_TO_COMMA_ __VA_ARGS__ ()))
#define LA_JOIN_(a, b) a##b
#define LA_JOIN(a, b) LA_JOIN_(a, b)
#define LA_SOME_1(...) 0, (const la_any *)0
#define LA_SOME_0(...) LA_SIZE_(__VA_ARGS__), \
    (const la_any[]){LA_JOIN(LA_MAP_, LA_SIZE_(__VA_ARGS__))(__VA_ARGS__)}
#define LA_ARGS(...) LA_JOIN(LA_SOME_, LA_EMPTY_(__VA_ARGS__))(__VA_ARGS__)
#define LA_CALL_0(L, op) la_call_list(L, op, 0, (const la_any *)0, NULL)
#define LA_CALL_1(L, op, ...) la_call_list(L, op, LA_SOME_0(__VA_ARGS__), NULL)
#define la_call(...) LA_NTH_(__VA_ARGS__, LA_CALL_1, LA_CALL_1, LA_CALL_1, \
    LA_CALL_1, LA_CALL_1, LA_CALL_1, LA_CALL_1, LA_CALL_1, LA_CALL_1, \
    LA_CALL_1, LA_CALL_1, LA_CALL_1, LA_CALL_1, LA_CALL_1, LA_CALL_1, \
    LA_CALL_1, LA_CALL_0, LA_CALL_0, 0)(__VA_ARGS__)
#endif

/* ---- files ---- */

/* Bytes from the host: 'length' of them. 'read' writes at most 'bytes' to
** 'buffer' and returns how many, 1 at least; -1, perhaps after la_fail, is a
** failure. 'close' runs once, may be NULL. Both run on the calling thread. */
typedef struct la_source {
    size_t size;
    void *context;
    int64_t length;
    int64_t (*read)(void *context, int64_t offset, void *buffer,
                    int64_t bytes);
    void (*close)(void *context);
} la_source;

/* Bytes to the host, from front to back: 0, or la_fail. */
typedef struct la_sink {
    size_t size;
    void *context;
    int (*write)(void *context, const void *bytes, size_t n);
} la_sink;

/* A tensor by its name; 16 bytes, frozen. */
typedef struct la_named {
    const char *name;       /* NULL in a .npy alone, else LA_EARG */
    la_tensor *tensor;
} la_named;

/* New, from a file: a .npy (name NULL), or the tensor of that name in a .npz or
** .safetensors. NULL on failure: LA_EIO for the file, LA_EARG for the name. */
LA_API la_tensor *la_load(const char *path, const char *name);
/* The same from memory, which is copied; the bytes tell the format. */
LA_API la_tensor *la_load_memory(const void *bytes, size_t n,
                                 const char *name);
/* From the host's source, which is closed in any case. */
LA_API la_tensor *la_load_from(la_source *source, const char *name);
/* To a file, by its extension: .npy (one tensor), .npz, .safetensors. 0 or a
** status; an old file stays as it was until all is written. */
LA_API int la_save(const char *path, int n, const la_named *list);
/* To the host: "npy", "npz" or "safetensors". */
LA_API int la_save_to(la_sink *sink, const char *format, int n,
                      const la_named *list);

/* ---- programs ---- */

/* A recorded computation that runs without a script: a network, a training
** step, what la.compile has made of a function. It was recorded for inputs of
** certain dtypes, sizes and strides, and takes those alone. Tensors that the
** function captured are its weights, which have names; steps of the program may
** write them, as a training step does. Numbers that change from call to call
** (a learning rate, the count of an optimiser's steps) are weights of no dim
** and float64.
**
** Results have no history: derivatives are steps of the program's own. Random
** steps draw from the generator of the thread (la_seed_generator with NULL).
** A program counts its references. It runs on any thread, one at a time: for
** several at once there are clones. Its weights are tensors as all others. */
typedef struct la_program la_program;

/* What has names: la_program_name. */
enum { LA_PROGRAM_INPUT, LA_PROGRAM_OUTPUT, LA_PROGRAM_WEIGHT };

#ifndef LA_NO_LUA
/* New: of the compiled function (or the program, or the loaded one) at that
** stack index; of its last signature. It shares the weights with the script.
** NULL on failure: LA_EARG for another value or a function that was not called
** yet, LA_ESUPPORT where the function runs as it is ({partial = true}), or an
** input shares memory with another tensor. */
LA_API la_program *la_program_of(struct lua_State *L, int index);
/* Push a program for scripts, p(...): a clone that shares the weights, which
** p:weights() gives for reading alone. 0, or a status (nothing is pushed then):
** LA_ESTATE for a state that was never opened, LA_EARG for a program of another
** runtime, LA_ENOMEM. */
LA_API int la_push_program(struct lua_State *L, la_program *p);
#endif
/* New, of the file that la.save or la_program_save_to has made; the signature
** that was used last where it has several. 'rt' NULL: the default runtime.
** Nothing is run, and everything is checked: NULL with LA_EIO for a file that
** is damaged or asks for what this build has not, by name. */
LA_API la_program *la_program_load(la_runtime *rt, const void *bytes,
                                   size_t n);
/* From the host's source, which is closed in any case. 'name' is for sources of
** several files, and NULL for the whole. */
LA_API la_program *la_program_load_from(la_runtime *rt, la_source *source,
                                        const char *name);
/* New: a model of another program's file, "onnx" (format NULL, too). Sizes that
** it leaves open are a call's: the first with new ones plans, and 16 plans are
** kept, with a Lua state that read the file. LA_ESUPPORT without Lua or module
** onnx. Where elements choose what is computed (NonZero) that state runs calls,
** with allocations, one clone at a time; no weights then. LA_EIO: the file. */
LA_API la_program *la_model_load(la_runtime *rt, const void *bytes, size_t n,
                                 const char *format);
LA_API la_program *la_model_load_from(la_runtime *rt, la_source *source,
                                      const char *format);
/* To the host, with the weights as they are now: a .safetensors file. 'format'
** NULL or "laprog". 0 or a status: LA_ESUPPORT for what no file can hold. */
LA_API int la_program_save_to(la_program *p, la_sink *sink,
                              const char *format);

LA_API int la_program_inputs(const la_program *p);      /* how many */
LA_API int la_program_outputs(const la_program *p);
/* The name of number i, from 0; NULL past the last. Inputs are named as the
** function's parameters. */
LA_API const char *la_program_name(const la_program *p, int what, int i);

/* The form of number i: dims, or -1 past the last; *dtype (may be NULL) is its
** word, sizes[0..capacity-1] its sizes, -1 for what a file leaves open. */
LA_API int la_program_form(const la_program *p, int what, int i,
                           const char **dtype, int capacity, int64_t *sizes);

/* Runs it. in[i] is borrowed; out[i] is NULL for a new tensor, or one of the
** result's sizes and dtype that is written. Where all are given, nothing is
** allocated from the second run on. 0 or a status: LA_EARG, LA_EDTYPE,
** LA_ESHAPE for other tensors than it was recorded for, LA_EALIAS where one
** shares memory with what the program writes, LA_ESTATE where a weight has
** changed its form or the program runs already. After an error weights are
** what the steps up to there have made of them, and no result is handed
** out. */
LA_API int la_program_run(la_program *p, la_tensor *const *in,
                          la_tensor **out);
/* The same in parts: begin, then step until it is 0. A step returns LA_MORE at
** most 200 microseconds over its budget where there is more to do. Results
** are in 'out', which stays the caller's until then, with the last one. Whoever
** writes an input meanwhile ends the call: LA_EALIAS. */
LA_API int la_program_begin(la_program *p, la_tensor *const *in,
                            la_tensor **out);
LA_API int la_program_step(la_program *p, int64_t nanoseconds);

/* New: shares the weights, and has working memory of its own, so that it may
** run at the same time where no step writes weights. */
LA_API la_program *la_program_clone(la_program *p);
/* Bytes of weights, of copies of them in the order of products, of the memory
** that steps work in. */
enum { LA_BYTES_WEIGHTS, LA_BYTES_PACKED, LA_BYTES_ARENA };
LA_API size_t la_program_bytes(const la_program *p, int what);
/* New: the weight of that name; NULL with LA_EARG. Whoever writes it through a
** pointer says so by la_mark_written: the program follows. */
LA_API la_tensor *la_program_weight(la_program *p, const char *name);
LA_API void la_program_retain(la_program *p);
LA_API void la_program_release(la_program *p);          /* NULL is allowed */

/* ---- gradients ---- */

/* Runs the graph of t backward and adds to the gradients of its leaves.
** 'gradient' is that of t, NULL for a t of one element. Functions and hooks
** that a script gave the graph run in L; for a graph without such, L may be
** NULL. 0 or a status: LA_EGRAD where there is no graph, LA_ESHAPE for a
** gradient of other sizes than t's. */
LA_API int la_backward(struct lua_State *L, la_tensor *t, la_tensor *gradient);
/* t is a leaf whose operations are recorded. 0, or LA_EGRAD for a result of
** operations and LA_EDTYPE for a dtype without gradients. */
LA_API int la_set_requires_grad(la_tensor *t, bool on);
LA_API bool la_requires_grad(const la_tensor *t);   /* or is it recorded? */
LA_API bool la_tensor_is_leaf(la_tensor *t);        /* no result of those */
/* The gradient that has gathered in t, a new reference; NULL, without an
** error, when there is none. */
LA_API la_tensor *la_grad_of(const la_tensor *t);
LA_API void la_zero_grad(la_tensor *t);     /* t has no gradient then */
/* Are operations recorded that this thread calls without a state (L is NULL)?
** They are unless this switched it off, for a step of an optimizer; returns
** what it was. Scripts have la.no_grad. */
LA_API bool la_set_grad_enabled(bool on);

/* ---- indexing, as x[key] in Lua ---- */

/* One item of a key; made by the functions below. Items stand for the dims in
** their order; dims behind the last item stay whole. 64 bytes, frozen. */
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

/* ---- random numbers ---- */

/* A generator of random numbers: these two numbers determine all that it draws
** from here on, on every machine. 'offset' counts blocks of the seed's
** stream. */
typedef struct la_generator_state { uint64_t seed, offset; } la_generator_state;
/* The generator of L, which la.manual_seed seeds and la.rand draws from; NULL:
** that of the thread (la_call without a state). la_seed_generator begins the
** stream of a seed; the others keep and restore it, which a rollback needs
** besides a snapshot. 0 or a status: LA_EARG for NULL, LA_ESTATE for a state
** that was never opened. */
LA_API int la_seed_generator(struct lua_State *L, uint64_t seed);
LA_API int la_get_generator(struct lua_State *L, la_generator_state *out);
LA_API int la_set_generator(struct lua_State *L,
                            const la_generator_state *from);

/* ---- settings of a thread ---- */

/* The dtype of new tensors of floats for calls of this thread without a state:
** "float32" unless this set another, of "float16", "bfloat16", "float32" and
** "float64". 0, or LA_EDTYPE, and nothing has changed. */
LA_API int la_set_default_dtype(const char *dtype);

/* ---- snapshots ---- */

/* The data of tensors at one moment, by copy on write: taking one copies
** nothing, the first write to a tensor afterwards copies what the snapshots of
** it want. Memory of the host is copied at once, and that of tensors whose
** la_tensor_data, la_to_dlpack or x:data_ptr() somebody has asked for. One
** thread at a time uses a snapshot and its tensors; la_snapshot_release may run
** on any. */
typedef struct la_snapshot la_snapshot;
/* New: of n tensors, which it holds from now on. NULL on failure: LA_EARG for a
** NULL, LA_ESTATE for one that has no data, LA_ESUPPORT for one on a device,
** LA_ENOMEM. */
LA_API la_snapshot *la_snapshot_take(int n, la_tensor *const *list);
/* New: of tensors, of all fields of records, and of the generators of Lua
** states (NULL in the list: that of the thread), together. Which of them is at
** fault stands in the text. A record that was rebound since can't be restored:
** LA_ESTATE. Of a state that was closed the generator must not be restored. */
typedef struct la_snapshot_def {
    size_t size;            /* sizeof(la_snapshot_def) */
    int tensors, records, generators;       /* how many there are */
    la_tensor *const *tensor_list;
    la_record *const *record_list;
    struct lua_State *const *generator_list;
} la_snapshot_def;
LA_API la_snapshot *la_snapshot_take_ex(const la_snapshot_def *def);
/* Writes the data back into the same tensors, whose views see it; again and
** again, those of several snapshots in any order. 0 or a status, and nothing is
** written then: LA_ESTATE where a tensor has another shape, dtype or memory by
** now, is read-only, or was freed (only snapshots hold it); LA_ENOMEM. */
LA_API int la_snapshot_restore(la_snapshot *s);
LA_API void la_snapshot_release(la_snapshot *s);        /* NULL is allowed */

/* A slot hands finished tensors from one thread to another, of which none waits
** for the other's work. All but la_slot_release on any thread at any time. */
typedef struct la_slot la_slot;
LA_API la_slot *la_slot_new(void);              /* new; NULL: no memory */
/* Takes a reference; the tensor before, if nobody has fetched it, dies. Who
** publishes writes no more to 't'. 0, or LA_EARG. */
LA_API int la_slot_publish(la_slot *s, la_tensor *t);
/* New: a reference to the latest; NULL, with code 0, before the first. */
LA_API la_tensor *la_slot_acquire(la_slot *s);
LA_API void la_slot_release(la_slot *s);                /* NULL is allowed */

#ifndef LA_NO_LUA
/* ---- frames ---- */

/* Tensors made by scripts are freed at the end of a scope, at once, and cost
** the collector of Lua nothing until then. All four are called on the thread
** that uses L, and return 0 or a status: LA_EARG for no state, LA_ESTATE for
** one in which lunarray was not opened. Scripts have la.tidy(f, ...) and
** la.keep(v).
**
** la_frame_begin opens a scope in L, inside the one before where there is one.
** la_frame_end closes the innermost: tensors that Lua got in it are freed, and
** a script that still has one gets "tensor was freed" from it. References that
** C, graphs and views hold keep their data. LA_ESTATE without a la_frame_begin
** (of this script's function, where la.tidy runs); LA_ENOMEM of begin. */
LA_API int la_frame_begin(struct lua_State *L);
LA_API int la_frame_end(struct lua_State *L);
/* Take the tensor (or the table of tensors, at any depth) at that stack index
** out of all scopes: the collector frees it, as any made outside. Other values,
** those outside of scopes and records, whose fields are in none, are left as
** they are. LA_EARG, LA_ENOMEM; LA_ESTATE for a tensor that was freed. */
LA_API int la_keep(struct lua_State *L, int arg);

/* Who steps the collector of L on account of tensors made outside of scopes. */
enum {
    LA_COLLECT_AUTO,        /* the library, from inside operations */
    LA_COLLECT_FRAME,       /* la_frame_end: LUA_GCSTEP for 'bytes' */
    LA_COLLECT_OFF          /* the host (and Lua, by its own pace) */
};
/* But for AUTO, no operation starts a full collection where memory is out: it
** fails with LA_ENOMEM. LA_EARG for another policy. */
LA_API int la_set_collector(struct lua_State *L, int policy, size_t bytes);
#endif

/* ---- errors ---- */
/* Of the last failure on this thread: its text, and its la_status. */
LA_API const char *la_error_text(void);
LA_API int la_error_code(void);
/* For crash notes: the operation that runs on this thread (or that this thread
** works for), with the dtypes and shapes of its arguments, and " in " each
** operation or part of one around it: "mm(self=float32[2, 3],
** other=float32[3, 4]) in linear(...)". Writes at most n bytes, a NUL at the
** end, and returns how many stand before it: 0 where no operation runs. It
** takes no lock and no memory, so that a signal handler may call it on a thread
** that called the library before. */
LA_API size_t la_describe_call(char *out, size_t n);
#ifndef LA_NO_LUA
/* Text of the error value at that stack index, as lua_pcall leaves it, with the
** position in the script; never NULL, for any value. It is this thread's last
** failure then, with its code where the library raised it, else with LA_ELUA
** (LA_ENOMEM for Lua's own memory). Valid while the value is on the stack and
** nothing else fails. A __tostring of the value runs, protected. */
LA_API const char *la_error_of(struct lua_State *L, int index);
#endif

/* ---- the host's resources ---- */

/* Before the first tensor is made. 0 or a status. Both are called on any thread
** and with no lock of the library's held, so 'alloc' may release tensors to get
** memory; it answers NULL when there is none and must not throw. */
LA_API int la_set_allocator(void *(*alloc)(void *context, size_t bytes,
                                           size_t alignment),
                            void (*release)(void *context, void *block,
                                            size_t bytes), void *context);
LA_API void la_set_memory_limit(size_t bytes);    /* 0: none */
/* The host's job system, as in la_jobs. */
LA_API void la_set_parallel_for(
    void (*run)(void *host, int64_t n, int64_t grain,
                void (*fn)(int64_t begin, int64_t end, void *context),
                void *context), void *host);
/* Asked every few milliseconds of long work, on any thread that works for the
** library and from several at once: true makes the operation fail with
** "interrupted", whatever is answered later. The tensor of an in-place form and
** an 'out' may then be written in part, and count as changed; no other operand
** is touched. Not asked while Lua makes the one string that tostring_raw asks
** for. A LAPACK that LUNARRAY_LAPACK names asks nobody during a call for a
** large matrix. Where a hook or a token could stop the operation, it runs on a
** thread of the library's, also under a job system of the host's, and is
** abandoned when the operation stops; it ends by itself, and la_runtime_destroy
** and la_shutdown wait for it. A state (its token) has one such call at most:
** its next one waits for that, or is stopped meanwhile. In a sandbox matrices
** for which such a LAPACK takes longer than some tenths of a second (1e9
** multiply-adds) are refused. */
LA_API void la_set_interrupt(bool (*stop)(void *host), void *host);
/* Gets a line for each stage of each call; NULL: off. Set it before other
** threads work. */
LA_API void la_set_trace(void (*sink)(void *host, const char *text),
                         void *host);

/* ---- new operations and devices ---- */

typedef struct la_frame la_frame;         /* one call */
/* 0, or a status from la_fail. */
typedef int (*la_kernel)(la_frame *frame);

LA_API la_tensor *la_frame_tensor(la_frame *f, int arg);  /* from 0; NULL nil */
/* A fraction is cut off; what is no number is 0, of both. */
LA_API int64_t la_frame_integer(la_frame *f, int arg);
LA_API double la_frame_number(la_frame *f, int arg);
/* Make result k ready: shape and dtype; also for in-place and out= forms. */
LA_API int la_frame_output(la_frame *f, int k, const char *dtype, int ndim,
                           const int64_t *sizes);
LA_API la_tensor *la_frame_result(la_frame *f, int k);    /* borrowed */
LA_API int la_fail(const char *text);     /* a status with this text */

/* How many arguments the schema has, and each of them: texts, dtypes (as text),
** booleans and lists too. Borrowed from the frame; dims and indices count from
** 0 here. An index out of range, and nil: LA_ARG_NONE. */
LA_API int la_frame_count(la_frame *f);
LA_API la_any la_frame_any(la_frame *f, int arg);
/* 'user' of the la_op_def; NULL in kernels of operations of the library. */
LA_API void *la_frame_user(la_frame *f);

/* A new operation, there at once in every state of the runtime, open ones too:
** la.name, x:name(), la_call. Its kernels run on the thread of the call.
**
** A schema has up to 16 parameters and 4 results:
**
**     blend(Tensor a, Tensor[] more, Scalar k=0.5, *, str mode='add',
**           int[]? at=nil) -> (Tensor mixed, Tensor weights)
**
** Types are Tensor (a number stands for one of no dim), Array (no number does),
** Scalar, int, float, bool, str, dtype, device, memory_format, dim and index
** (from 1 for callers, from 0 in a frame), lists of them: Tensor[], Tensor?[],
** int[], float[], dim[], index[], size[], names, and int... for integers behind
** each other. '?' behind a type: nil may be given; '=' before a default: a
** number, true, false, 'text', [1, 2], nil; behind '*' by name only. Results
** are of type Tensor. */
typedef struct la_op_def {
    size_t size;
    const char *schema;     /* "clip01(Tensor self, Scalar high=1) -> Tensor" */
    const char *doc;        /* for la.help; both texts are copied */
    la_kernel shape;        /* makes the outputs; */
    la_kernel fill;         /* computes them; NULL, or 'shape' is: one does
                            ** both then, and none is there for "meta" */
    void *user;
    void (*drop)(void *user);   /* once: when withdrawn, with the runtime, or
                                ** when registering fails; may be NULL */
} la_op_def;
/* Borrowed; NULL with LA_EARG for a bad schema (and a name with a dot),
** LA_ESTATE for a name that exists, of an operation or of anything else in la
** or in a tensor. Operands that require grad are LA_EGRAD: it has no
** derivative. 'rt' NULL: the default runtime. */
LA_API la_op *la_register_op_ex(la_runtime *rt, const la_op_def *def);
/* Returns when no thread is inside it, and 'drop' has run: its code may be
** unloaded. la.name is nil then, and the name may be registered again; a
** function or handle that was kept raises "operation 'name' was withdrawn"
** (LA_ESTATE). LA_ESTATE, and it stays: from inside itself, or built in. */
LA_API int la_withdraw_op(la_op *op);
/* The same without 'user', for good. */
LA_API int la_register_op(const char *schema, const char *doc, la_kernel shape,
                          la_kernel fill);

/* Memory of a device. Blocks are what 'alloc' gives, and mean what the hooks
** say: nothing here reads behind them. All hooks run on any thread, several at
** once, and with no lock held; they may fail. Bytes count as tensors' bytes,
** for the caps too. The hooks are given together, 'copy' if there is one;
** without any, blocks are the library's own memory. */
typedef struct la_device_def {
    size_t size;
    const char *name;       /* copied, for {device = "toy"}, x:to("toy") */
    void *user;
    void *(*alloc)(void *user, size_t bytes, size_t alignment);
    void (*release)(void *user, void *block, size_t bytes);
    /* 'bytes' from or to the CPU's memory, at 'offset' in the block: 0, or what
    ** la_fail gives, which the call then fails with. */
    int (*copy_in)(void *user, void *block, size_t offset, const void *host,
                   size_t bytes);
    int (*copy_out)(void *user, void *host, const void *block, size_t offset,
                    size_t bytes);
    /* Between two blocks; NULL: through the CPU. */
    int (*copy)(void *user, void *to, size_t to_offset, const void *from,
                size_t from_offset, size_t bytes);
} la_device_def;
/* The device's number, above 0; -1 on failure: LA_EARG, LA_ENOMEM. It stays as
** long as the runtime (NULL: the default one), and 'user' must, too.
**
** Its tensors are made like others (new ones by functions without tensors on
** the CPU, then moved), viewed, copied, filled, printed, read by item and
** totable, moved by x:to("toy") and x:cpu(), and saved for gradients. All else
** takes a kernel: LA_EKEY names the operation and the device. la_tensor_data
** gives block + offset, counted in bytes. */
LA_API int la_register_device_ex(la_runtime *rt, const la_device_def *def);
/* By the operation's name, with that of its overload if there is one ("add",
** "max.dim"); NULL for 'kernel' takes it away. It gets tensors of the device,
** and 0-dim ones of the CPU for numbers; it makes its results by
** la_frame_output. 0, or a status: LA_EARG for an unknown name or device. */
LA_API int la_register_kernel_ex(la_runtime *rt, const char *op, int device,
                                 la_kernel kernel);
/* The same in the default runtime; a device of the library's own memory. */
LA_API int la_register_device(const char *name);
LA_API int la_register_kernel(const char *op, int device, la_kernel kernel);

#ifdef __cplusplus
}

/* la_call and LA_ARGS for C++11 and later. */
inline la_any la_arg(la_any a) { return a; }
inline la_any la_arg(la_tensor *t) { return la_any_tensor(t); }
inline la_any la_arg(const la_tensor *t)
{
    return la_any_tensor(const_cast<la_tensor *>(t));
}
inline la_any la_arg(decltype(nullptr)) { return la_any_tensor(nullptr); }
inline la_any la_arg(const char *text) { return la_any_text(text); }
inline la_any la_arg(char *text) { return la_any_text(text); }
/* Any other pointer would be a bool. */
template <class T> la_any la_arg(T *) = delete;
inline la_any la_arg(bool v) { return la_any_bool(v); }
inline la_any la_arg(char v) { return la_any_int(v); }
inline la_any la_arg(signed char v) { return la_any_int(v); }
inline la_any la_arg(short v) { return la_any_int(v); }
inline la_any la_arg(int v) { return la_any_int(v); }
inline la_any la_arg(long v) { return la_any_int(v); }
inline la_any la_arg(long long v) { return la_any_int(v); }
inline la_any la_arg(unsigned char v) { return la_any_unsigned(v); }
inline la_any la_arg(unsigned short v) { return la_any_unsigned(v); }
inline la_any la_arg(unsigned v) { return la_any_unsigned(v); }
inline la_any la_arg(unsigned long v) { return la_any_unsigned(v); }
inline la_any la_arg(unsigned long long v) { return la_any_unsigned(v); }
inline la_any la_arg(float v) { return la_any_double(static_cast<double>(v)); }
inline la_any la_arg(double v) { return la_any_double(v); }
inline la_any la_arg(long double v)
{
    return la_any_double(static_cast<double>(v));
}

template <size_t N> struct la_arg_array {
    la_any list[N + 1];
    operator const la_any *() const { return list; }
};
template <class... A>
inline la_arg_array<sizeof...(A)> la_arg_list(A... a)
{
    return {{la_arg(a)..., la_any()}};
}
template <class... A>
inline la_tensor *la_call(struct lua_State *L, const char *op, A... a)
{
    return la_call_list(L, op, static_cast<int>(sizeof...(A)),
                        la_arg_list(a...), nullptr);
}
#define LA_ARGS(...) \
    static_cast<int>(sizeof(la_arg_list(__VA_ARGS__)) / sizeof(la_any)) - 1, \
    la_arg_list(__VA_ARGS__)
#endif

#endif
