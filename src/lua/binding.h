/*
** The Lua binding: what the files of src/lua share.
**
** A tensor in Lua is a full userdata, la_handle: a magic word and an owned
** reference. The order of every call is: parse (may raise, owns nothing), make
** the result handles (may raise, anchored and empty), compute (never raises,
** no Lua code runs), raise or return. Parsing keeps pointers to handles and
** reads the tensors out of them at the very end, so that a finalizer that runs
** meanwhile can't pull a tensor away.
**
** A pointer that la_check_tensor returns is borrowed from its handle. It is
** valid until the next thing that may run Lua code: any allocation in Lua (a
** finalizer may call x:free()), a metamethod, a call. After those it has to be
** looked up again. Errors leave by longjmp, which skips cleanup attributes. So
** whatever is owned at that point must be in a userdata with a finalizer: a
** handle, a box, an archive.
*/
#ifndef LA_LUA_BINDING_H
#define LA_LUA_BINDING_H

#include <lauxlib.h>
#include <lua.h>

#include "api/api.h"
#include "base/runtime/token.h"
#include "lua/lifetime/modes.h"
#include "lua/metatable.h"
#include "lua/versions.h"
#include "op/frame.h"
#include "op/schema.h"
#include "tensor/scalar.h"

typedef struct la_handle {
    uint32_t magic;
    uint32_t slot;          /* in the list of a scope, from 1; 0: in none, and
                            ** LA_SLOT_FRAME: no longer in one */
    la_tensor *tensor;      /* NULL: was freed, or not filled yet */
    struct la_state *state; /* counts it: spares its finalizer an upvalue */
} la_handle;
#define LA_HANDLE_MAGIC UINT32_C(0x6c756e61)
/* The slot of a handle whose tensor went with a frame. */
#define LA_SLOT_FRAME UINT32_MAX
/* Why there is no tensor in the handle. */
static inline const char *la_freed_text(const la_handle *h)
{
    return h->slot == LA_SLOT_FRAME ? "tensor was freed at the end of its "
        "frame: la.keep(t) keeps it" : "tensor was freed";
}

/* Scopes of handles, lua/lifetime/scope.c. Those of all open scopes are one
** list, each scope the part from its first on. */
typedef struct la_scopes {
    struct la_scope *open;  /* [depth]: from the outermost */
    int depth, capacity;
    la_handle **list;       /* anchored by a table; NULL: one that was kept */
    uint32_t n, most;
    uint32_t returned;      /* how many of the innermost outlive it */
    int anchor;             /* registry reference of the table */
    bool wide;              /* the table has grown large: make another */
} la_scopes;

/* Who steps the collector (la_set_collector). */
typedef enum la_policy {
    LA_PACE_AUTO,           /* lua/lifetime/gc_pace.c */
    LA_PACE_FRAME,          /* la_frame_end alone */
    LA_PACE_OFF
} la_policy;

struct la_source;           /* lunarray.h */

/* One per Lua state, a userdata in the registry. */
typedef struct la_state {
    la_context context;
    bool sandboxed;
    bool thrown;            /* a callback's error waits, la_keep_error */
    bool uncompiled;        /* compiled functions run as they are */
    lua_State *main;        /* the main thread */
    lua_State *running;     /* the thread that is inside backward */
    int64_t steps_left;     /* of C in a sandbox, lua/sandbox/guard.h */
    int64_t aside;          /* steps for finalizers, sandbox/guard.h */
    bool finalizing;        /* one of them runs */
    bool closing;           /* lua_close runs them, metatable.h */
    bool closed;            /* ... and has come to this block */
    struct la_pulse *pulse; /* a sandbox's hook, sandbox/guard.h; or NULL */
    /* la_set_stack: scripts go no deeper than 'stack_kept' above the end */
    uintptr_t stack_low;
    size_t stack_kept;      /* 0: no limit */
    /* of la_limits: for la.load in a sandbox; NULL: no files */
    int (*open)(void *context, const char *name, struct la_source *source);
    void *open_context;
    /* the innermost la.Function in its backward */
    struct la_function_call *functions;
    struct la_tie *ties;    /* held by graphs, transform/graph_refs.c,
                            ** transform/collect_ties.c */
    int nties, most_ties;   /* how many; when to look through them */
    uint64_t most_tied;     /* ... with so many bytes in use, whatever nties */
    uint64_t most_charged;  /* ... with so many charged to a state with a cap */
    /* pacing of the collector, see lua/lifetime/gc_pace.c */
    uint32_t since;         /* handles made since the last step */
    uint32_t interval;      /* ... that make the next one due */
    uint32_t steps, cycle;  /* steps in this cycle and in the one before */
    uint32_t streak;        /* steps one after another that ended a cycle */
    uint32_t cycles, seen;  /* cycles ended; those that have been looked at */
    bool watched, young;    /* steps are young collections */
    uint64_t begun, ended;   /* handles created, finalized */
    uint64_t begun_step, ended_step;     /* ... at the last step */
    uint64_t begun_then, ended_then;     /* ... when the last cycle ended */
    uint64_t floor;         /* handles alive then */
    uint64_t found, ended_found;    /* alive and ended, when the dead of a cycle
                                    ** were known */
    uint64_t patience;      /* how many more may be before steps are made, at
                            ** the least */
    uint64_t fresh;         /* data bytes made since the last step */
    uint64_t step_bytes;    /* so many of them are worth one */
    uint64_t bytes;         /* ... since the last cycle, less what steps gave */
    uint64_t untrimmed;     /* ... under a cap, since the last la_os_trim */
    uint64_t blocks_left;   /* bytes of graphs and the like, at the last cycle
                            ** that was made for them */
    la_policy policy;
    size_t frame_bytes;     /* with LA_PACE_FRAME */
    la_scopes scopes;
    la_modes modes;
} la_state;
#define LA_PACE_BYTES ((uint64_t)16 << 20)  /* so many of 'bytes' are much */

/* Closures of ours carry these upvalues; la_closure pushes one. */
enum { LA_UP_STATE = 1, LA_UP_META, LA_UP_OWN, LA_UP_BODY };
/* The state of the running closure. */
static inline la_state *la_up_state(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(LA_UP_STATE));
}
/* Push 'fn' with the state, the tensor metatable and one more upvalue (the
** value on the top of the stack, popped). 'fn' is the body: around it
** floating-point exceptions are masked (la_masked), and it does not begin where
** the stack of the host ends (la_check_stack). Raises for want of memory. */
void la_closure(lua_State *L, lua_CFunction fn);
/* la_closure for what ends something (__close, __gc), wherever the stack is. */
void la_ending_closure(lua_State *L, lua_CFunction fn);
/* la_closure without a body around it, for functions that call la_masked and
** la_check_stack themselves, which spares them an upvalue and a call, or
** compute nothing. */
void la_bare_closure(lua_State *L, lua_CFunction fn);
/* The mode of the thread when the innermost closure of ours was entered, whose
** flags errors hand back, as they leave by longjmp; LA_FP_ANY outside, and
** after another call inside. An error of Lua's own may leave an older one here,
** so nothing but flags is read. */
extern _Thread_local la_fp_mode la_entry_mode;
/* The running closure is called once more, with exceptions masked, in protected
** mode: whichever way it ends, the host's masks are put back. */
int la_call_masked(lua_State *L);
/* The body of the running closure where nothing traps; the mode afterwards is
** 'mode', the one before. It is written, not compared: to read MXCSR takes 5 ns
** (Zen 4), to write it less than 1. */
static inline int la_without_traps(lua_State *L, la_fp_mode mode,
                                   lua_CFunction body)
{
    la_entry_mode = mode;
    int n = body(L);
    la_entry_mode = LA_FP_ANY;
    la_fp_write(mode);
    return n;
}
/* Runs the body masked, whatever the mode. */
static inline int la_masked(lua_State *L, lua_CFunction body)
{
    la_fp_mode mode = la_fp_current();
    return __builtin_expect(la_fp_traps(mode), 0)
        ? la_call_masked(L) : la_without_traps(L, mode, body);
}
/* Is the stack of the host (la_set_stack) used up but for what is kept for
** operations and for errors? Never on another stack than the named one. */
static inline bool la_stack_ends(const la_state *s)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return __builtin_expect(here - s->stack_low < s->stack_kept, 0);
}
/* Guards functions that call scripts, which may call them again. Raises. No
** stack is enough for a state that is closed. */
int la_raise_stack(lua_State *L, const la_state *s);
static inline void la_check_stack(lua_State *L, const la_state *s)
{
    if (la_stack_ends(s)) la_raise_stack(L, s);
}
/* The levels of Lua's stack that la_call_masked adds: where its caller is. */
int la_extra_levels(lua_State *L);
/* The state of L, from the registry (slow); NULL when not opened. Allocates
** nothing, so it can't raise. Needs one free slot of the stack. */
la_state *la_state_of(lua_State *L);
/* The first half of opening: L belongs to 'rt' from here on. LA_ESTATE when it
** belongs to another; LA_ENOMEM. */
la_status la_join_runtime(lua_State *L, la_runtime *rt);
/* The modes of the coroutine L come with it: one load where none has any. */
static inline void la_use_modes(lua_State *L, la_state *s)
{
    if (__builtin_expect(s->modes.thread != NULL, 0) && s->modes.thread != L)
        la_settle_modes(L, s);
}
#define LA_META_NAME "lunarray.Tensor" 
/* The state of the running closure, made current on this thread. Every
** lua_CFunction that calls into the core begins with it, and repeats it after a
** call of Lua code: that may have been inside another state's library. */
static inline la_state *la_enter(lua_State *L)
{
    la_state *s = la_up_state(L);
    la_make_current(&s->context);
    la_use_modes(L, s);
    return s;
}

/* la_enter for a function that is no operation of the dispatcher's: what an
** operation with so many elements costs is taken from the state's token. Raises
** where that has reached a limit. */
void la_charge(lua_State *L, la_token *k, const char *name, int64_t elements);
static inline void la_begin_work(lua_State *L, la_state *s, const char *name,
                                 int64_t elements)
{
    la_token *k = s->context.token;
    if (__builtin_expect(la_token_armed(k), 0)) la_charge(L, k, name, elements);
}
/* Charges a call that has begun for the elements of its largest argument or
** result, where they are known late. Raises as la_begin_work. */
void la_charge_more(lua_State *L, const char *name, int64_t elements);
static inline la_state *la_begin(lua_State *L, const char *name,
                                 int64_t elements)
{
    la_state *s = la_enter(L);
    la_begin_work(L, s, name, elements);
    return s;
}

/* Enters in finalizers without our upvalues: only the runtime of L counts. */
static inline void la_enter_state(lua_State *L)
{
    la_state *s = la_state_of(L);
    if (s) la_make_current(&s->context);
}

/* ---- handles ---- */

/* The handle at 'arg', or NULL when there is something else. A light userdata
** has no length, so that nothing is read through it. */
static inline la_handle *la_to_handle(lua_State *L, int arg)
{
    la_handle *h = lua_touserdata(L, arg);
    if (!h || lua_rawlen(L, arg) != sizeof(*h) || h->magic != LA_HANDLE_MAGIC)
        return NULL;
    return h;
}
/* The slow half of la_check_tensor: raises, never returns. */
la_tensor *la_raise_no_tensor(lua_State *L, int arg, const char *name);
/* A borrowed tensor; raises "tensor expected, got X" / "tensor was freed".
** 'name' is the function's, for the text. Borrowed until Lua code or the
** collector may run. */
static inline la_tensor *la_check_tensor(lua_State *L, int arg,
                                         const char *name)
{
    la_handle *h = la_to_handle(L, arg);
    return h && h->tensor ? h->tensor : la_raise_no_tensor(L, arg, name);
}
/* KIND=debug takes a step of the collector wherever a handle is pushed, so that
** a tensor which nothing anchors dies there, and not once in a while; not where
** the library promised to take none. */
static inline void la_debug_collect(lua_State *L, const la_state *s)
{
#ifdef LA_EAGER_GC
    if (s->policy == LA_PACE_AUTO && s->scopes.depth == 0)
        la_lua_step(L, 0);
#endif
}

/* Push an empty handle without a metatable. May run a collector step and so
** finalizers; raises for want of memory. A handle without a metatable has no
** finalizer: give it one before filling it. */
static inline la_handle *la_bare_handle(lua_State *L, la_state *s)
{
    la_debug_collect(L, s);
    la_handle *h = lua_newuserdatauv(L, sizeof(*h), 0);
    h->magic = LA_HANDLE_MAGIC;
    h->slot = 0;
    h->tensor = NULL;
    h->state = s;
    s->begun++;
    s->since++;
    return h;
}
/* la_new_handle into the innermost open scope, of which there is one: a handle
** without a finalizer. Four slots of the stack. */
la_handle *la_scoped_handle(lua_State *L, la_state *s);
/* Push an empty handle with the metatable (from upvalue LA_UP_META) that is in
** no scope: for what Lua sees as a part of something that lasts. */
static inline la_handle *la_lasting_handle(lua_State *L, la_state *s)
{
    la_handle *h = la_bare_handle(L, s);
    lua_pushvalue(L, lua_upvalueindex(LA_UP_META));
    la_take_handle_metatable(L);
    return h;
}
/* The state's own block is finalized: tensors of handles that are left go with
** the handles' memory. */
void la_close_handles(lua_State *L, const la_state *s);
/* Handle of a tensor that is made now: in the innermost scope, if one is
** open. */
static inline la_handle *la_new_handle(lua_State *L, la_state *s)
{
    return __builtin_expect(s->scopes.depth > 0, 0) ? la_scoped_handle(L, s)
                                                    : la_lasting_handle(L, s);
}
/* Empty handle for functions that are no closures of ours: callbacks, and those
** that run in protected mode. */
la_handle *la_empty_handle(lua_State *L, la_state *s);
/* Operations that set the memory of a tensor take a storage, too: one at 'at'
** is replaced by a flat tensor on all of it, of self's dtype. NULL for anything
** else. Raises for want of memory. */
la_handle *la_take_storage(lua_State *L, int at, const la_handle *self);
/* Count the data of 't' for the pacing: a handle outside of scopes holds it
** from now on. */
static inline void la_count_bytes(la_state *s, const la_tensor *owned)
{
    /* A view whose base nobody else holds stands for the data, too. */
    bool stands = !owned->base
        || atomic_load_explicit(&owned->base->refs, memory_order_relaxed) == 1;
    if (owned->storage && stands) {
        s->fresh += (uint64_t)la_storage_bytes(owned->storage);
        s->bytes += (uint64_t)la_storage_bytes(owned->storage);
    }
}
/* So much of it is gone already. */
static inline void la_uncount_bytes(la_state *s, uint64_t bytes)
{
    s->fresh -= bytes < s->fresh ? bytes : s->fresh;
    s->bytes -= bytes < s->bytes ? bytes : s->bytes;
}
/* Fill a handle: takes over the reference; counts bytes for the pacing. 'h' is
** empty and 'owned' is not NULL. Allocates nothing and raises nothing. */
static inline void la_fill_handle(la_state *s, la_handle *h, la_tensor *owned)
{
    h->tensor = owned;
    if (__builtin_expect(h->slot == 0, 1)) la_count_bytes(s, owned);
}
/* Set the pacing's start values and create the metatable of its watch. Called
** once, while the library is opened; raises for want of memory. */
void la_pace_begin(lua_State *L, la_state *s);
/* Memory is out: a full collection, as dead tensors may hold it. False, and
** nothing is done, where the host has taken the collector over. */
bool la_collect_all(lua_State *L, la_state *s);
/* la_collect_all for the running closure, whose settings are current
** afterwards: its finalizers may have been inside another state's library. */
bool la_collect_here(lua_State *L);
/* After results are pushed: let the collector keep up. May run Lua code. */
void la_pace_now(lua_State *L, la_state *s);
static inline void la_pace(lua_State *L, la_state *s)
{
    if (__builtin_expect(s->since >= s->interval || s->bytes >= LA_PACE_BYTES,
                         0))
        la_pace_now(L, s);
}
/* Paces for data alone, before results are made. A finalizer may run: call it
** before tensors are taken out of their handles. */
void la_pace_data_now(lua_State *L, la_state *s);
static inline void la_pace_data(lua_State *L, la_state *s)
{
    if (__builtin_expect(s->fresh >= s->step_bytes, 0)) la_pace_data_now(L, s);
}

/* Elements of 't' are about to become values of Lua: raises where a program is
** recorded whose next call may find others there. */
void la_raise_read(lua_State *L, const la_tensor *t, const char *name);
static inline void la_check_read(lua_State *L, const la_tensor *t,
                                 const char *name)
{
    if (__builtin_expect(la_up_state(L)->context.recorder != NULL, 0))
        la_raise_read(L, t, name);
}

/* ---- scopes (lua/lifetime/scope.c): la.tidy, la_frame_begin ---- */

/* Open a scope; 'frame' tells la_frame_begin's. LA_ENOMEM. */
la_status la_scope_begin(la_state *s, bool frame);
/* Is a scope open, and the innermost one la_frame_begin's? */
bool la_in_frame(const la_state *s);
/* Close all scopes but the outer 'depth'. Handles that were made in them lose
** their tensors, but for the innermost's 'returned', which pass to the next
** one. Allocates nothing in Lua and raises nothing. */
void la_scope_end(lua_State *L, la_state *s, int depth);
/* Take the tensors of the value at 'arg' out of all scopes: a tensor, a table
** with tensors at any depth. From now on the collector frees them. Raises for
** want of memory. */
void la_keep_value(lua_State *L, la_state *s, int arg);
/* Push a table of the handles in the value at 'arg', each once: those of a list
** in its order, of a record its fields. How many there are. Raises for want of
** memory, and for a record whose memory was taken away. */
int64_t la_list_handles(lua_State *L, int arg);
/* The Lua state is being closed. */
void la_drop_scopes(la_state *s);
void la_open_scopes(lua_State *L, la_state *s, int meta);

/* ---- errors ---- */

/* Raise the thread's error record as a Lua error of function 'name'. The
** position of the running Lua function is prepended. Never returns; int is for
** 'return la_raise(...)' in a lua_CFunction. */
int la_raise(lua_State *L, const char *name, la_status status);
/* "bad argument #arg to 'name' (text)"; self counts as 1. 'fmt' is
** lua_pushfstring's, which knows fewer conversions than printf's. Never
** returns. */
int la_raise_arg(lua_State *L, int arg, const char *name, const char *fmt, ...);
/* luaL_error in src/lua is this: the error is in the thread's record too, for
** the host that reads it after its lua_pcall, with a text that begins with the
** function's name. */
int la_throw(lua_State *L, const char *fmt, ...);
#define luaL_error la_throw
/* And so are the checks of lauxlib.h (lua/check.c): the texts are its own. */
int la_arg_error(lua_State *L, int arg, const char *text);
int la_type_error(lua_State *L, int arg, const char *expected);
void la_check_any(lua_State *L, int arg);
void la_check_type(lua_State *L, int arg, int type);
lua_Integer la_check_integer(lua_State *L, int arg);
lua_Integer la_opt_integer(lua_State *L, int arg, lua_Integer none);
lua_Number la_check_number(lua_State *L, int arg);
const char *la_check_text(lua_State *L, int arg, size_t *n);
const char *la_opt_text(lua_State *L, int arg, const char *none, size_t *n);
void *la_check_userdata(lua_State *L, int arg, const char *name);
#define luaL_argerror la_arg_error
#define luaL_typeerror la_type_error
#define luaL_checkany la_check_any
#define luaL_checktype la_check_type
#define luaL_checkinteger la_check_integer
#define luaL_optinteger la_opt_integer
#define luaL_checknumber la_check_number
#define luaL_checklstring la_check_text
#define luaL_optlstring la_opt_text
#define luaL_checkudata la_check_userdata
/* The text on the top of the stack, with the position of 'level' in front; the
** record's begins with 'name', which this sentence does not. */
int la_throw_as(lua_State *L, const char *name, int level);
/* error(message, level, name) of the Lua modules, which are loaded with it: a
** text is in the thread's record too, with the function's name in front where
** one is given, but of level 0, which is raised again. */
int la_module_error(lua_State *L);
/* Did the library raise the error value at 'index', and is the thread's record
** about it? */
bool la_is_raised(lua_State *L, int index);
/* Is the value a function, or one with __call, such as modules of nn and what
** la.fuse gave? Whether that can be called shows when it is. */
bool la_is_callable(lua_State *L, int at);
/* Raises for what is not. */
void la_check_callable(lua_State *L, int arg, const char *name);
/* Raise unless the status is LA_OK. Only where nothing is owned outside of a
** userdata. */
#define LA_CHECK(L, name, expr) \
    do { la_status st_ = (expr); if (st_) la_raise(L, name, st_); } while (0)
/* LA_CHECK for an expression that is tried once more after la_collect_here: it
** leaves nothing behind when it fails, and takes tensors out of their handles
** itself. */
#define LA_CHECK_TWICE(L, name, expr) \
    do { \
        la_status st_ = (expr); \
        if (st_ == LA_ENOMEM && la_collect_here(L)) st_ = (expr); \
        if (st_) la_raise(L, name, st_); \
    } while (0)
/* {limit = bytes} of the options at 'at', which may be no table; 'fallback'
** without. */
lua_Integer la_read_limit(lua_State *L, int at, const char *name,
                          lua_Integer fallback);
/* "integer", "float", "tensor", "nil" ...: what users call the value. May leave
** a value on the stack (the metatable's __name), which owns the text: read it
** before the stack shrinks. */
const char *la_type_text(lua_State *L, int arg);
/* That text where a tensor is expected: a list is told how to become one. */
const char *la_operand_text(lua_State *L, int arg);

/* ---- arguments (lua/args.c) ---- */

/* Results of parsing, indexed by parameter. handles[k] is NULL unless it is a
** tensor; args[k].tensor stays unset until the tensors are taken. */
typedef struct la_call_args {
    la_value args[LA_MAX_ARGS];
    la_handle *handles[LA_MAX_ARGS];   /* of LA_VTENSOR arguments */
    la_handle *outs[LA_MAX_RESULTS];
    int nouts, out_at[LA_MAX_RESULTS];  /* their indices on the stack */
    int64_t pool[LA_POOL_INTS];        /* lists of integers */
    int used;
    bool exact;     /* A tensor is not taken as a number, since another overload
                    ** may take it as a tensor. */
    int odd_word;   /* where an overload tried before met no dtype; 0: none */
    int wanted_at;  /* the last argument that any overload refused so far, */
    int nwanted;    /* and what was expected there */
    const char *wanted[4];
    int score;      /* two for each argument that fitted, where not all did;
                    ** one for a number that is no index */
} la_call_args;

/* Argument errors where several overloads were tried: each that does not fit
** notes what it expects as argument 'arg'. The text, left on the stack, is
** "dtype, device or tensor" where several came to 'arg', else 'what' alone. */
void la_note_wanted(la_call_args *o, int arg, const char *what);
const char *la_wanted_text(lua_State *L, const la_call_args *o, int arg,
                           const char *what);
/* Parse the arguments 1..top for 'op'. Returns false when they do not fit and
** 'quiet' is set (another overload is tried; out->exact is set before); raises
** otherwise. Leaves anchors on the Lua stack. 'out' is filled as far as parsing
** came. Metamethods of list arguments may run; nothing in 'out' is owned by the
** caller. */
bool la_parse(lua_State *L, const la_op *op, const char *name, bool method,
              bool quiet, la_call_args *out);
/* la_parse for the plainest calls (lua/args_plain.c): true when it has read
** all, and then the Lua stack is as it was; false when la_parse must do it. */
bool la_parse_plain(lua_State *L, const la_schema *s, bool method,
                    la_call_args *out);
/* Single values, for functions that are no operations; raise for others. */
int64_t la_check_int(lua_State *L, int arg, const char *name);
la_dtype la_check_dtype(lua_State *L, int arg, const char *name);
/* A path without NUL bytes, owned by the stack; raises in a sandboxed state. */
const char *la_check_path(lua_State *L, int arg, const char *name);
/* la_check_path in any state, for names that are no paths of the system. */
const char *la_check_name(lua_State *L, int arg, const char *name);
/* The number at 'arg', which is one. */
static inline void la_read_number(lua_State *L, int arg, la_scalar *out)
{
    if (lua_isinteger(L, arg)) *out = la_scalar_int(lua_tointeger(L, arg));
    else *out = la_scalar_float(lua_tonumber(L, arg));
}
/* A number, boolean or one-element tensor as a scalar; false when it is none,
** and for a tensor that was freed or needs a gradient. Raises nothing. */
bool la_to_scalar(lua_State *L, int arg, la_scalar *out);
/* A text for the key on the stack at 'at'; 'quoted' has space for n bytes. */
const char *la_key_text(lua_State *L, int at, char *quoted, size_t n);
/* Raises unless it is a table. */
void la_check_table(lua_State *L, int arg, const char *name);
/* Push the float as tostring() has it, with a point whatever the locale. */
const char *la_push_number(lua_State *L, double v);
bool la_has_string_key(lua_State *L, int table);
/* Does the table have a list part, be it what its __len says? */
bool la_is_list(lua_State *L, int at);
/* A table with __len at 'at' (from 1) is replaced by a plain list of what its
** metamethods give, with its own keys that are strings. Their errors pass. */
void la_take_list(lua_State *L, int at);
/* Keys behind an __index metamethod cannot be listed. Options at 'at' that have
** one are replaced by a plain table: their own keys, and those of 'known' that
** stand behind __index. Its errors pass. */
void la_take_options(lua_State *L, int at, const char *const *known);
/* la_take_options in parts: true where 'at' is such a table; pushes one of its
** own keys. Then each option is looked for, and the table put in its place. */
bool la_open_options(lua_State *L, int at);
void la_see_option(lua_State *L, int at, const char *word, size_t n);
/* Count of {{row, column}, ...}; -1 for a list of something else, or one that
** is too long. */
lua_Integer la_count_cells(lua_State *L, int at);
/* Those n entries as 2 n integers; 0, or the first one that is no such table.
** 'at' is absolute. */
lua_Integer la_read_cells(lua_State *L, int at, lua_Integer n, int64_t *out);
/* n entries {name, size} in the same way. */
lua_Integer la_read_named_sizes(lua_State *L, int at, lua_Integer n,
                                int64_t *sizes, const char **names);
/* The number or boolean as an owned tensor of no dim; NULL for other values.
** Raises when memory is out. */
la_tensor *la_number_tensor(lua_State *L, int arg);
/* Generator of la.Generator at 'arg', or NULL (lua/lifetime/generator.c). */
la_generator *la_to_generator(lua_State *L, int arg);
bool la_is_record(lua_State *L, int arg);   /* lua/lifetime/record_handle.c */

/* Owned references behind a userdata whose finalizer releases them. */
#define LA_BOX_NAME "lunarray.box"
typedef struct la_tensor_box {
    int64_t n;
    la_tensor *list[];
} la_tensor_box;
#define LA_MAX_LIST (1 << 24)   /* entries of a list that is an argument */
#define LA_MAX_OBJECT (1 << 16) /* ... that metamethods give: nobody can stop
                                ** the loop over them */
/* Push a box of n NULL entries; the collector releases what is put in. Raises
** for more than LA_MAX_LIST. */
la_tensor_box *la_push_box(lua_State *L, int64_t n);

void la_push_scalar(lua_State *L, const la_scalar *s);   /* 1 or 2 values */
void la_cut_ties(la_state *s);      /* the Lua state is being closed */

/* ---- the parts ---- */

/* x[key]; the key's type, which is no string (bracket.c). Like those below a
** lua_CFunction: results are pushed, their number is returned, errors raise. */
int la_bracket_get(lua_State *L, int type);
int la_bracket_set(lua_State *L, int type);     /* x[key] = value, the same */
int la_bracket_call(lua_State *L);    /* x(i, j, ...) */
int la_item(lua_State *L);          /* x:item([i, j, ...]) */
int la_tonumber(lua_State *L);      /* x:tonumber() */
int la_tointeger(lua_State *L);     /* x:tointeger() */

/* Push the function of a built-in operation by a name of it, in the form LA_FN,
** LA_METHOD or LA_INPLACE_FORM (the name is without the underscore); false,
** with nothing pushed, when there is none. */
bool la_push_operation(lua_State *L, const char *name, size_t n, uint32_t form);
/* It is the same of the row "theme_name", which is la.theme.name. */
bool la_push_theme_operation(lua_State *L, const char *theme, const char *name);
/* Asks the module, the methods, a theme, for all of their operations. */
void la_make_operations(lua_State *L, int table, bool methods);
void la_make_theme_operations(lua_State *L, const char *theme, int table);
/* la.name and x:name (members.c): push the function, or nothing. */
bool la_push_member(lua_State *L, const char *name, size_t n);
bool la_push_method(lua_State *L, const char *name, size_t n);
/* Asks the module, the methods, for all of their functions, that pairs finds
** them. */
void la_make_members(lua_State *L, int lib);
void la_make_methods(lua_State *L, int methods);
/* Constants, and what else is in the module from the start. */
void la_open_members(lua_State *L, int lib);
/* Push the function of an operation that a host registered, in the form LA_FN
** or LA_METHOD; false, with nothing pushed, when there is none of that name. */
bool la_push_hosted(lua_State *L, const char *name, size_t n, uint32_t form);
/* Push the metamethod for 'event' ("__add"), which runs the operation on its
** two operands; nil if there is no such operation. */
void la_push_operator(lua_State *L, const char *name, const char *event);
void la_open_meta(lua_State *L, int meta, int methods);
/* la.linalg, ... (theme.c): empty, as members come when they are asked for. */
void la_open_themes(lua_State *L, int lib);
void la_open_parallel(lua_State *L, int lib);
void la_open_cond(lua_State *L, int lib);          /* la.cond(pred, f, g) */
bool la_is_theme(const char *name, size_t n);      /* is la.<name> one? */
void la_open_plot(lua_State *L, int lib);          /* la.plot.window */
void la_open_snapshots(lua_State *L, int lib);     /* la.snapshot */
void la_open_embedded(lua_State *L);    /* preload the Lua modules (embed.c) */
/* Metatables for the module and the table of methods: names that are not there
** yet, or not at all (foreign.c). */
void la_open_foreign(lua_State *L, int lib, int methods);
/* A __pairs ends with it: the three values for the table at index 1. */
int la_push_next(lua_State *L);
/* Push nil for the name at stack index 2, or raise where PyTorch or NumPy has
** it. 'where' was asked: "la", ":" for a tensor, a theme. The error shows the
** line at 'level' of the call stack. */
int la_missing_name(lua_State *L, const char *where, int level);

/* A number that cannot be foreseen, not negative as a Lua integer. */
uint64_t la_fresh_seed(void);

/* A function for scripts. More arguments than 'most', counting self, raise: up
** to LA_COUNTED, or LA_MANY where the body looks or hands them on. */
typedef struct la_function {
    const char *name;
    lua_CFunction body;
    int most;
} la_function;
enum { LA_MANY = -1, LA_COUNTED = 4 };
/* Push the function of the row. */
void la_push_function(lua_State *L, const la_function *row);
extern const la_function la_tostring_row;    /* tostring(x) (print.c) */
/* The field __index of the metatable on the top: a table of these methods. */
void la_set_methods(lua_State *L, const la_function *methods);

/* Each part adds functions to the module (at stack 'lib') and methods (at
** stack 'methods'); the tables are NULL-ended. */
typedef struct la_part { const la_function *functions, *methods; } la_part;
extern const la_part la_part_apply, la_part_storage;
extern const la_part la_part_build, la_part_info, la_part_attr, la_part_index,
    la_part_random, la_part_io, la_part_print, la_part_grad, la_part_names,
    la_part_fuse, la_part_compile, la_part_recording, la_part_scope,
    la_part_share, la_part_vmap, la_part_control, la_part_meta;

/* C part of a module (modules/): functions of la, and of the theme that has the
** module's name, and what a call of that theme does; NULL for none. The name is
** la_module_<name>, a row BINDING(name) of its binding.def makes it known. */
typedef struct la_module {
    const la_function *functions, *members;
    lua_CFunction call;
} la_module;

#endif
