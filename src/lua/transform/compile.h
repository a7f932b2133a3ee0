/*
** la.compile: what its files share. A compiled function is a userdata; each
** signature that it met is an entry, a userdata too (what step:program()
** gives), whose user value is a table of the Lua values that it refers to.
*/
#ifndef LA_LUA_TRANSFORM_COMPILE_H
#define LA_LUA_TRANSFORM_COMPILE_H

#include "lua/binding.h"
#include "program/passes.h"
#include "program/program.h"

#define LA_COMPILED_NAME "lunarray.Compiled"
#define LA_PROGRAM_NAME "lunarray.Program"

enum {
    LA_COMPILE_DEPTH = 16,      /* tables in tables */
    LA_COMPILE_TENSORS = 250,   /* of the arguments of a call */
    LA_COMPILE_CACHE = 64,
    LA_COMPILE_NUMBERS = 8,     /* recordings for one number before the log
                                ** speaks */
    LA_COMPILE_WATCHED = 256    /* Lua values that a fused function captures */
};

/* A value of the arguments, or of the results, in the order of a walk. */
typedef enum la_sig_kind {
    LA_SIG_NIL, LA_SIG_BOOL, LA_SIG_INT, LA_SIG_FLOAT,
    LA_SIG_VALUE,      /* the very same value: refs[at] */
    LA_SIG_STRING,     /* an equal one: refs[at] */
    LA_SIG_KEYS,       /* a table of 'at' entries: KEY and value of each */
    LA_SIG_KEY,        /* refs[at] */
    LA_SIG_ARGUMENT,   /* arguments: tensor number 'at'; results: that one */
    LA_SIG_STACK,      /* results: argument 'at' of the call */
    LA_SIG_PATH,       /* results: what argument 'at' has behind 'i' keys, which
                       ** follow as KEY */
    LA_SIG_AGAIN,      /* results: the table of number 'at' among them */
    LA_SIG_WATCHED,    /* results: what guard 'at' finds */
    LA_SIG_OUTPUT      /* results: handle 'at' of the outputs */
} la_sig_kind;

/* An ARGUMENT that f reaches by itself, too, is that tensor in every call: the
** ref 'i', if it is not 0. */
typedef struct la_sig {
    uint8_t kind;
    int32_t at;
    union { int64_t i; double d; };
} la_sig;

/* table[key] is what it was: indices in refs. Of a function the key is the
** number of an upvalue. A tensor may be another one, which the value is then:
** it is the call's tensor 'tensor' - 1. The value of a size is a count of the
** table's entries; that of META is its metatable. */
typedef struct la_watch {
    enum { LA_WATCH_FIELD, LA_WATCH_UPVALUE, LA_WATCH_SIZE,
           LA_WATCH_META } kind;
    int32_t table, key, value, tensor;
    const void *table_at;
    int8_t type;            /* of the value in Lua, and what it is: */
    bool integer;
    union { int64_t i; double d; const void *at; };
} la_watch;

/* A number that is read anew. */
typedef struct la_number {
    enum { LA_NUMBER_FIELD, LA_NUMBER_COUNT } kind;
    int32_t table, key;     /* in refs */
} la_number;

/* Two tensors on one storage: arguments a and b, or argument a and object b. */
typedef struct la_shared {
    int32_t a, b;
    int64_t bytes;
} la_shared;

typedef struct la_called {
    la_prog *p;             /* NULL: was never finished */
    la_prog *parts;         /* cut for budgets; NULL: p is short, or unknown */
    bool has_parts;
    la_prog_list items, results, guards, numbers, shared, handles;
    int32_t narguments;     /* values of the call */
    int32_t ntensors, nhandles;     /* distinct ones; outputs with a handle */
    int32_t nrefs, nvalues; /* f's results */
    int32_t runs;
    int32_t names;          /* in refs: {input =, output =, weight =} or 0 */
    int32_t ntables;        /* of the results, where one comes again; else 0 */
    int32_t number, numbered;   /* item that alone differed from another
                            ** recording's; how many such recordings there
                            ** were */
} la_called;

typedef struct la_compiled {
    int n, most;            /* entries; at most so many */
    bool partial, fast;
    bool watches;           /* of la.fuse: what f captures, too */
    int32_t recordings, runs;   /* ... how often */
    uint32_t misses;            /* ... calls without an entry */
    la_called *last;         /* the last signature's */
    la_called *list[LA_COMPILE_CACHE];   /* each anchored in user value 2 */
    const char *without[LA_NPASSES + 1];    /* NULL-ended */
    struct la_walk *walk;       /* of step:begin; NULL: none */
    uint32_t walks;             /* how many have begun */
    bool ended;                 /* its finalizer has run */
} la_compiled;

enum { LA_COMPILED_F = 1, LA_COMPILED_ENTRIES, LA_COMPILED_WALK };

/* A run asks Lua for numbers through this. */
typedef struct la_run_host {
    lua_State *L;
    la_state *state;
    const la_called *e;
    int refs;
} la_run_host;

/* ---- compile_walk.c ---- */

int la_compiled_begin(lua_State *L);        /* step:begin(...) */
int la_compiled_advance(lua_State *L);      /* step:advance(microseconds) */
void la_drop_walk(la_compiled *c);

/* ---- compile_signature.c ---- */

/* Tensors of a call, each once, with the handles that they are in. A finalizer
** may take a handle out of its table: the stack holds number k at 'hold' + k.
** Where that is 0, no Lua code runs while they are used. */
typedef struct la_call_tensors {
    int n, hold;
    la_handle *handles[LA_COMPILE_TENSORS];
    la_tensor *tensors[LA_COMPILE_TENSORS];
} la_call_tensors;

/* Writes the signature of values first..top into the entry, whose refs are at
** 'refs'. Raises. */
void la_write_signature(lua_State *L, la_called *e, int refs, int first,
                        int top, la_call_tensors *c);
/* Have values first..top this signature? Fills 'c'. Raises nothing. */
bool la_match_signature(lua_State *L, const la_called *e, int refs, int first,
                        int top, la_call_tensors *c);
/* After the recording: which arguments share memory. LA_ENOMEM. */
la_status la_note_shared(la_called *e, la_tensor *const *arguments);
/* Do they still, and do the guards hold? */
bool la_match_shared(const la_called *e, la_tensor *const *arguments);
bool la_match_guards(lua_State *L, const la_called *e, int refs,
                     la_call_tensors *c);
/* Pushes 'n' nils, which the handles of 'c' then replace. */
void la_hold_tensors(lua_State *L, la_call_tensors *c, int n);
/* Takes the tensors out of the handles anew, where Lua code has run since.
** Raises as 'name' where one was freed. */
void la_take_tensors(lua_State *L, la_call_tensors *c, const char *name);
/* Number of the tensor in the handle among those of the call, where it joins
** them; below 0: there are too many. */
int la_join_tensor(la_call_tensors *c, la_handle *h);
/* The value on the top, popped, is the guard's. Raises for want of memory. */
void la_watch_value(lua_State *L, la_called *e, int refs, la_watch *g);
/* Pushes the value that guard 'i' looks at. */
void la_push_watched(lua_State *L, const la_called *e, int refs, int32_t i);
/* Behind a recording: did f leave what it captures, and the tables among its
** arguments first..top, as they were? */
bool la_left_alone(lua_State *L, const la_called *e, int refs, int first,
                   int top);
/* The value on the top, popped, as a new ref. Raises for want of memory. */
int32_t la_add_ref(lua_State *L, la_called *e, int refs);
/* One more item. Raises for want of memory. */
la_sig *la_add_sig(lua_State *L, la_prog_list *list, la_sig_kind kind,
                     int32_t at);

/* ---- compile_reach.c ---- */

/* Which tensors of the call does the function at 'f' reach without being given
** them? Marks their items. Raises for want of memory. */
void la_mark_captured(lua_State *L, la_called *e, int refs, int f,
                      la_call_tensors *c);
/* Guards on the Lua values that it and the arguments reach; its tensors join
** those of the call. A text: they can't be watched, and why. Raises for want of
** memory. */
const char *la_watch_captured(lua_State *L, la_called *e, int refs, int f,
                              la_call_tensors *c);

/* ---- compile_record.c ---- */

/* Runs the compiled function at 'self' on the arguments behind it, under a
** recorder; the entry, whose signature is written, gets what comes of it.
** Leaves f's results on the top. Raises f's errors. */
void la_record_call(lua_State *L, la_state *s, la_compiled *c, la_called *e,
                    int self, int refs, la_call_tensors *t);

/* ---- compile_run.c ---- */

/* Runs the entry's program and pushes the results; their number. -1, with
** nothing done, where a value decides otherwise than in the recording. */
int la_run_entry(lua_State *L, la_state *s, la_called *e, int refs,
                 la_call_tensors *c, int first, struct la_prog_clock *clock);

/* Handles for the results, which then take 'out' and are pushed with the rest
** of them: for a run in parts. 'handles' is where the first one is. */
void la_push_handles(lua_State *L, la_state *s, const la_called *e);
int la_give_results(lua_State *L, la_state *s, la_called *e, int refs,
                    int handles, int first, la_tensor **out);
la_prog_host la_run_host_of(struct la_run_host *h, lua_State *L, la_state *s,
                            const la_called *e, int refs);
int la_run_raise(lua_State *L, const la_prog *p, la_status status);

/* Runs it into the tensors of the value at 'outs'. False, with nothing done,
** where results have another structure than that. */
bool la_run_entry_into(lua_State *L, la_state *s, la_called *e, int refs,
                       la_call_tensors *c, int outs);

/* ---- compile.c ---- */

la_compiled *la_check_compiled(lua_State *L, int arg, const char *name);
/* Pushes a compiled function of the function at 'f'. */
la_compiled *la_new_compiled(lua_State *L, int f);
/* A call of the compiled function at 1 with the arguments behind it. */
int la_call_compiled(lua_State *L);
/* The entry for the arguments behind 'self', up to the top of the stack. Pushed
** are its refs, itself and the handles of the tensors: so all of them stay
** while it runs, whatever finalizers do. NULL: none yet, and nothing pushed.
** The first 'tried' ones have been tried; the one that is found is the first
** then. */
la_called *la_find_entry(lua_State *L, la_compiled *c, int self,
                        la_call_tensors *t, int tried);

/* Can the entry's program run, with its plan made? */
bool la_entry_is_ready(la_called *e, const char *const *without);
/* Does somebody else transform what f calls? It is a part of that then. */
bool la_compile_is_inside(const la_state *s);
/* Finds the entry, recorded first where there is none; NULL: f has to run as it
** is. */
la_called *la_ready_entry(lua_State *L, la_state *s, la_compiled *c, int self,
                         la_call_tensors *t);
/* step:into where the program can write into the tensors that were given: the
** function is at 1, they at 2, the arguments behind. False: nothing was
** done. */
bool la_run_into(lua_State *L);

/* Raises: 't' can't take a result of the form 'f', the i-th from 0. */
void la_refuse_out(lua_State *L, int i, const la_tensor *f, const la_tensor *t);

/* ---- compile_methods.c ---- */

extern const la_function la_compiled_methods[], la_entry_methods[];
/* Ends what an entry owns. */
void la_drop_called(la_called *e);
/* How many steps run; pushes the list of them. */
lua_Integer la_count_steps(const la_prog *p);
/* The last signature's; NULL where there is none, or its finalizer has run. */
la_called *la_last_called(const la_compiled *c);
/* The program at stack index 1; raises as 'name'. */
la_called *la_check_program(lua_State *L, const char *name);
void la_push_steps(lua_State *L, const la_prog *p);
/* Push the operation's name, and file and line of its call. */
void la_push_step_name(lua_State *L, const la_prog_step *s);
void la_push_step_line(lua_State *L, const la_prog *p, const la_prog_step *s);

/* ---- compile_explain.c ---- */

/* tostring(p): the steps that run, one to a line. */
int la_program_tostring(lua_State *L);
int la_compiled_explain(lua_State *L);
int la_program_explain(lua_State *L);

#endif
