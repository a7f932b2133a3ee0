/*
** Programs: recorded computations, as data.
**
** A program is a list of steps, each a call of an operation with its arguments.
** Steps name memory by slots: one for each storage that the calls met. A slot
** is an argument's, a tensor's from outside (an object: a parameter, a buffer),
** a gradient's, a constant of the recording, or made by a step. What a step
** reads or writes is a view: a geometry on a slot. So what Lua saw as ten
** tensors on one storage is one slot with ten views, calls that only make views
** need not run again, and what overlaps is plain to see.
**
** Calls are recorded beneath the Autograd key (recorder.c): composites are the
** calls that they made, and a backward pass is its formulas' calls. Gradients
** that leaves get are steps too. A program runs in one of two ways: flat
** (run.c), beneath autograd, with made slots in an arena; or, where a result
** has a history, call by call with autograd above (graph_run.c).
**
** A program belongs to its runtime and is used by one thread at a time.
*/
#ifndef LA_PROGRAM_PROGRAM_H
#define LA_PROGRAM_PROGRAM_H

#include "grad/grad.h"
#include "op/frame.h"
#include "op/look.h"

enum { LA_PROG_NONE = -1 };

typedef enum la_slot_kind {
    LA_SLOT_OBJECT,     /* data of object 'index', or (grad) its gradient's */
    LA_SLOT_CONST,      /* as it was when it was met: 'own' */
    LA_SLOT_STEP        /* by step 'maker' */
} la_slot_kind;

/* Memory of a slot that a step makes. */
typedef enum la_slot_memory {
    LA_MEMORY_ARENA,    /* the plan's: a piece that others use, too */
    LA_MEMORY_NEW,      /* a new storage in each run: somebody keeps it */
    LA_MEMORY_TAKEN     /* what the operation gives, which makes its own */
} la_slot_memory;

typedef struct la_prog_slot {
    uint8_t kind, memory;
    bool grad;          /* of an object: its gradient at the entry */
    bool varies;        /* depends on an argument, or on what was written */
    bool written;       /* by a step */
    bool escapes;       /* a result or a gradient lies in it */
    bool kept;          /* of a step that is kept */
    bool inner;         /* nobody but its group reads it: it has no memory */
    int32_t index;      /* of the object */
    int32_t views;      /* the first of its views; LA_PROG_NONE */
    int32_t eldest;     /* the last of them */
    int64_t low, high;  /* the least and most 'bytes' of these */
    int32_t maker;
    int32_t first, last;    /* the steps that use it first and last */
    int64_t nbytes;     /* of a made slot */
    int64_t origin;     /* of an object: where it began, in bytes */
    int64_t at;         /* in the arena */
    la_tensor *own;     /* the constant; owned */
} la_prog_slot;

/* A geometry on a slot. */
typedef struct la_prog_view {
    int32_t slot, next;     /* the next view of the slot */
    int32_t last;       /* the last step that uses it */
    bool grad;          /* needed a gradient when it was met */
    int32_t step;       /* that made the tensor, or gave it its history;
                        ** LA_PROG_NONE: not known */
    bool whole;         /* is the slot's own tensor: the argument, the object */
    int32_t object;     /* that it is, where another is the slot's */
    int32_t owned;      /* the step, from 1, with which a composite ended whose
                        ** result it is: it owns its memory then; 0: none */
    int64_t bytes;      /* from that tensor's first element, or the storage's */
    la_tensor *form;    /* owned header; bind.c shows it memory */
} la_prog_view;

/* A tensor from outside, by identity. */
typedef struct la_prog_object {
    la_tensor *tensor;      /* owned; NULL for an argument after recording */
    int32_t argument;       /* its number, or LA_PROG_NONE */
    int32_t slot, grad_slot;    /* LA_PROG_NONE: not met */
    bool requires_grad;     /* at the entry */
    bool grad_set;          /* its gradient was replaced inside */
    bool grad_asked, had_grad;  /* ... or looked at before; was there one? */
    bool pinned;            /* its elements decided something: 'version' */
    bool kept;              /* kept steps read it: as of 'kept_version' */
    uint32_t kept_version;
    const la_storage *kept_storage;
    bool geometry;          /* its form must not change: 'form' */
    uint32_t version;
    la_tensor *form;        /* owned header as it was at the entry */
} la_prog_object;

typedef enum la_step_kind {
    LA_STEP_CALL,
    LA_STEP_GRAD,       /* object 'object' gets view 'view' as its gradient */
    LA_STEP_REQUIRE,    /* object 'object' begins (on) or ends to record */
    LA_STEP_LOOK,       /* 'question' about view 'view', answered by 'answer':
                        ** look.c */
    LA_STEP_LOOP        /* la.while_loop, 'loop': loop.c */
} la_step_kind;

/* Two programs of a loop, or of la.cond. Their arguments are the carry, and
** then what each of them uses of what is around. */
typedef struct la_prog_loop {
    struct la_prog *test, *body;
    int32_t ncarry, ntest, nbody;
    bool chooses;       /* la.cond: 'test' runs, or 'body'; the first operand,
                        ** before the carry, tells which */
    int32_t nresults;
} la_prog_loop;

/* A number that is read anew in each run: argument 'arg' of the step. */
typedef struct la_prog_source { int32_t arg, source; } la_prog_source;

typedef struct la_prog_step {
    uint8_t kind, form;
    bool no_grad;       /* gradients were off */
    bool alias;         /* only makes views of its arguments */
    bool dead;          /* its results are not needed */
    bool kept;          /* on constants: its results stay for the next runs */
    int32_t joined;     /* of the first of a group that runs as one: the
                        ** group's number, from 1; else 0 */
    int32_t packed;     /* its entry in 'packs', from 1; 0: none */
    bool pure;          /* no effect but its results, no refusal by values */
    bool on;
    bool owns;          /* views are owners of their memory after it */
    bool early;         /* a question whose answer decides, or what it depends
                        ** on: they run before all others */
    uint8_t nargs, nresults, nsources;
    uint8_t unread;     /* results, a bit each, that no step reads: memory.c */
    int32_t line, source;   /* of the Lua code; index of its name */
    int32_t object, view;
    int32_t results[LA_MAX_RESULTS];    /* views; LA_PROG_NONE: no tensor */
    int32_t outs[LA_MAX_RESULTS];
    uint64_t sequence;      /* of the next node, before it was recorded */
    la_look_question question;
    int64_t answer;
    const la_op *op, *named;    /* in whose name it fails */
    la_value *args;         /* [nargs]; owned lists and texts */
    int32_t *views;         /* [nargs]: of tensors; a list's in 'lists';
                            ** behind 'args' */
    int32_t lists;          /* the first of 'members' that are its lists' */
    int32_t list_results, nlisted;   /* members of a result that is a list */
    la_prog_loop *loop;     /* owned; its operands are members from 'lists' */
    la_prog_source *sources;
} la_prog_step;

/* The view becomes the first one of slot 's'. */
static inline void la_prog_link_view(la_prog_slot *s, la_prog_view *v,
                                     int32_t view)
{
    if (s->views < 0) s->eldest = view;
    if (s->views < 0 || v->bytes < s->low) s->low = v->bytes;
    if (s->views < 0 || v->bytes > s->high) s->high = v->bytes;
    v->next = s->views;
    s->views = view;
}

/* Steps that run as one, a chain (fuse/chain.h) whose operands are views. */
typedef struct la_prog_group {
    struct la_fused *chain;  /* owned */
    int32_t first, end;     /* its first and its last step */
} la_prog_group;

/* A constant matrix of a product, in the order that it reads (pack.c). */
typedef struct la_prog_packed {
    int arg;            /* of the step */
    la_tensor *copy;    /* owned; NULL: none yet */
    const la_storage *storage;      /* what it is a copy of, */
    uint32_t version;               /* as of then */
} la_prog_packed;

/* A result of the whole: a view, or the object itself. */
typedef struct la_prog_output {
    int32_t view, object;
    bool requires_grad;     /* a new leaf that records */
    bool consumed;          /* has a history that was used up inside */
    bool history;           /* has a live one */
} la_prog_output;

typedef struct la_prog_list {
    void *items;
    int32_t n, capacity;
} la_prog_list;

typedef struct la_prog {
    la_prog_list slots, views, objects, steps, outputs, members, names;
    la_prog_list groups, packs;
    struct la_prog_block *blocks;   /* with arguments of steps: build.c */
    int32_t narguments;
    bool eager;             /* can't run as a program: 'why' */
    bool live;              /* a result has a history: graph_run.c */
    bool fast;              /* other roundings than eager's are allowed */
    bool alone;             /* a program of a host's: gradients use their
                            ** memory again: spare.c */
    bool planned, busy;
    bool keeps, fresh;  /* steps are kept; and have their results */
    bool chooses;       /* has early steps */
    bool unfit;        /* the last run ended before it did anything: a question
                        ** had another answer */
    const char *why;
    la_dtype default_dtype;     /* modes of the recording */
    bool no_grad, deterministic, portable, lockstep;
    la_tensor *arena;       /* owned */
    struct la_prog_bind *bind;
    struct la_prog_spare *spare;    /* with 'alone' */
    int64_t arena_bytes, packed_bytes;
    int64_t runs;
    int32_t at;         /* of a run: the next step */
    bool were_fresh;    /* ... 'fresh' at its begin */
    la_tensor **given;  /* ... results to write into, or NULL */
    const la_prog_step *failed;     /* where the last run stopped, or NULL */
    struct la_prog *recorded;   /* as it was before the passes; owned */
    struct la_prog_pass_note *notes;    /* what passes did, for explain */
    int32_t nnotes;
} la_prog;

#define LA_PROG_AT(list, type, i) (&((type *)(list).items)[i])
static inline la_prog_slot *la_prog_slot_at(const la_prog *p, int32_t i)
{
    return LA_PROG_AT(p->slots, la_prog_slot, i);
}
static inline la_prog_view *la_prog_view_at(const la_prog *p, int32_t i)
{
    return LA_PROG_AT(p->views, la_prog_view, i);
}
static inline la_prog_object *la_prog_object_at(const la_prog *p, int32_t i)
{
    return LA_PROG_AT(p->objects, la_prog_object, i);
}
static inline la_prog_step *la_prog_step_at(const la_prog *p, int32_t i)
{
    return LA_PROG_AT(p->steps, la_prog_step, i);
}
static inline la_prog_output *la_prog_output_at(const la_prog *p, int32_t i)
{
    return LA_PROG_AT(p->outputs, la_prog_output, i);
}
/* Group that the step begins. */
static inline la_prog_group *la_prog_group_of(const la_prog *p,
                                              const la_prog_step *s)
{
    return LA_PROG_AT(p->groups, la_prog_group, s->joined - 1);
}
static inline int32_t la_prog_member(const la_prog *p, int32_t i)
{
    return *LA_PROG_AT(p->members, int32_t, i);
}

/* ---- build.c ---- */

la_status la_prog_new(la_prog **out);
void la_prog_free(la_prog *p);
/* One more entry of 'size' bytes, zeroed; NULL without memory. */
void *la_prog_add(la_prog_list *list, size_t size);
void la_prog_drop_list(la_prog_list *list, size_t size);
/* The view of 'slot' that looks like 't', else as 'like': made when there is
** none. Below 0 without memory. */
int32_t la_prog_view_of(la_prog *p, int32_t slot, const la_tensor *t,
                        const la_prog_view *like);
/* The view of the same geometry that needed a gradient, or needed none. */
/* Do the views lie at the same elements? */
bool la_prog_same_view(const la_prog_view *a, const la_prog_view *b);
int32_t la_prog_twin(const la_prog *p, int32_t view, bool grad);
/* n arguments for a step of the program, each nothing yet, with no views, in
** memory that ends with the program. LA_ENOMEM. */
la_status la_prog_take_arguments(la_prog *p, la_prog_step *s, int n);
/* A copy of 'v' that owns what it refers to; tensors stay out of it. */
la_status la_prog_copy_value(la_value *to, const la_value *from);

/* ---- copy.c ---- */

/* A copy of a recording, before any pass has run over it. */
la_status la_prog_copy(const la_prog *from, la_prog **out);
/* The recording, before its passes, is one that runs beneath autograd in any
** case: its results have no history. */
void la_prog_stand_alone(la_prog *p);

/* ---- slice.c ---- */

/* A bit of a source: the number as it was read by the piece before. */
enum { LA_PROG_AGAIN = 1 << 30 };
/* A planned program cut for budgets, planned too; NULL for a short one. */
la_status la_prog_parts(const la_prog *p, la_prog **out);

/* ---- spare.c ---- */

/* Gradients of the run before, whose memory is used again where nobody else has
** a reference: then a training step allocates nothing. */
struct la_prog_spare;
la_status la_spare_new(la_prog *p);
void la_spare_free(la_prog *p);
/* The base of the slot's last run, owned, if it can be written once more; NULL:
** none. */
la_tensor *la_spare_take(la_prog *p, int32_t slot);
/* The tensor that step 'i' gave a leaf in the last run, if it shows 'base' and
** can be given again; NULL. */
la_tensor *la_spare_given(la_prog *p, int32_t i, const la_tensor *base);
/* The slot has this base in the run: of results, if it is one of these. */
void la_spare_hold(la_prog *p, int32_t slot, la_tensor *base);
/* Step 'i' gives 't', which lies in 'base', the slot's. */
void la_spare_keep(la_prog *p, int32_t i, int32_t slot, la_tensor *base,
                   la_tensor *t);

/* ---- recorder.c ---- */

typedef struct la_recorder la_recorder;

/* Line of the Lua code that calls: a line and the chunk's name, NULL outside
** of Lua. */
typedef int (*la_prog_where)(void *host, const char **chunk);

/* Begins on the current context, which records nothing yet: arguments are the
** tensors of the call, each once. LA_ENOMEM. */
la_status la_record_begin(int n, la_tensor *const *arguments,
                          la_prog_where where, void *host, bool partial,
                          la_recorder **out);
/* A result of the call; its number among the outputs, or below 0 where the
** recording came to nothing. */
int la_record_output(la_recorder *r, la_tensor *t);
/* Ends it; *out is owned, NULL where it came to nothing for want of memory.
** 'r' is gone. */
void la_record_end(la_recorder *r, la_prog **out);
/* The recording of this context pauses, or goes on. True: it was on. */
bool la_record_pause(bool pause);
/* The next step reads its argument 'arg' (from 0) from source 'source'. */
void la_record_source(la_recorder *r, int arg, int source);
void *la_record_host(const la_recorder *r);
/* A node of a function in Lua was made, if anything is recorded here. */
void la_record_function(void);
/* The element of 't', a bool, is about to choose what is called next: 1 or 0.
** -1: nothing is recorded. A soft choice is one that only decides which tensor
** shares memory with which: where it can't be known first, it is let go. */
la_status la_record_choice(la_tensor *t, bool soft, int *holds);
/* Tells that Lua does what can't be a part of a program, and why: a text that
** stays. The function runs in each call then. */
void la_record_refuse(const char *why);
/* The program so far; its outputs say which object a tensor is. */
la_prog *la_record_program(la_recorder *r);

/* ---- look.c ---- */

/* While this context records: an answer about 't' became known. */
la_status la_look_record(const la_op *op, const la_look_question *q,
                         la_tensor *t, int64_t answer);
/* Marks the early steps, at the end of a recording. False where a question
** depends on what can't run first. */
bool la_look_mark(la_prog *p);
/* Questions that only tell which result shares memory with what was given are
** let go. */
void la_look_let_go(la_prog *p);
/* Asks question 's' about 't'. An answer that differs, or a refusal of an early
** one, does not fit. */
la_status la_look_again(la_prog *p, la_prog_step *s, const la_tensor *t);

/* ---- loop.c ---- */

struct la_prog_host;

/* Records test and body of a loop, each a program of its own; then, as a step,
** what went through it. */
typedef struct la_loop_record {
    struct la_recorder *outer, *part;
    la_prog_loop *loop;
    int32_t operands[64], n;    /* views of the outer recording */
    la_tensor *tensors[64]; /* which they are; owned */
    bool through[64];       /* the body gives what it got */
} la_loop_record;
/* False: nothing is recorded here, or these can't be a carry. With a condition
** it is la.cond. A tensor whose layout no copy has becomes one in 'carry', made
** by a step and owned by l->tensors. */
bool la_loop_begin(la_loop_record *l, la_tensor *condition, int n,
                   la_tensor **carry);
/* A part begins, and ends with its results. False, with the reason told to the
** recording, where it can't be a part. */
la_status la_loop_part(la_loop_record *l, int n, la_tensor *const *carry);
bool la_loop_part_end(la_loop_record *l, int n, la_tensor *const *results,
                      la_tensor *const *carry);
/* The last carry, copied, becomes the results of a step. */
la_status la_loop_end(la_loop_record *l, int n, la_tensor *const *carry,
                      la_tensor **results);
void la_loop_drop(la_loop_record *l);
/* LA_ESTATE there, and the branch is no part of a program: for what changes
** more than tensors by calls. */
la_status la_loop_hold(void);
void la_loop_free(la_prog_loop *loop);
/* Runs it: out[i] is owned; the operand itself where no pass changed it. */
la_status la_loop_run(const la_prog_step *s, la_tensor *const *operands,
                      la_tensor **out, const struct la_prog_host *host);
int32_t la_loop_operands(const la_prog_step *s);
/* A history that leads to the operands, and tells why there is no
** derivative. */
la_status la_loop_history(la_tensor *t, int n, la_tensor *const *operands);

/* ---- running ---- */

/* Questions of a run to its host. */
typedef struct la_prog_host {
    /* The number of source 'source' into 'v', whose tag says as what. */
    la_status (*read)(void *context, int source, la_value *v);
    /* Frees what is dead; false: nothing. A step that found no memory runs once
    ** more then, as an operation in eager code does. */
    bool (*collect)(void *context);
    void *context;
    struct la_prog_clock *clock;    /* profile: NULL for none */
} la_prog_host;

/* Do the objects look as they did? Arguments have been compared by the
** caller. */
bool la_prog_fits(const la_prog *p, la_tensor *const *arguments);
/* ... and this one? For an argument 't' is what was given. */
bool la_prog_object_fits(const la_prog *p, int32_t i, const la_tensor *t);
/* Runs it: out[i] is owned; a tensor given in out[i] is written, where 'into'
** is set. What a failing call has written stays, as in eager code. */
la_status la_prog_run(la_prog *p, la_tensor *const *arguments, la_tensor **out,
                      bool into, const la_prog_host *host);
/* A run fails before it has done anything where a question has another answer
** than in the recording: p->unfit says so. */
/* Runs it in parts, flat ones only: begin; advance until p->at is the number
** of steps, each time to where the clock (la_nanoseconds) shows 'end'; results;
** leave, also after an error. */
la_status la_prog_begin(la_prog *p, la_tensor *const *arguments);
la_status la_prog_advance(la_prog *p, la_tensor *const *arguments, int64_t end,
                          const la_prog_host *host);
la_status la_prog_results(la_prog *p, la_tensor *const *arguments,
                          la_tensor **out);
/* ... of those that are not NULL in 'given', which are written. */
la_status la_prog_results_into(la_prog *p, la_tensor *const *arguments,
                               la_tensor **out, la_tensor **given);
void la_prog_leave(la_prog *p);
la_status la_prog_run_graph(la_prog *p, la_tensor *const *arguments,
                            la_tensor **out, const la_prog_host *host);
/* Passes and memory, before the first run. 'without' names passes to leave
** out, NULL-ended, or is NULL. */
la_status la_prog_plan(la_prog *p, const char *const *without);

/* ---- memory.c ---- */

enum { LA_PROG_LINE = 64 };     /* pieces of the arena begin at such bytes */
/* Has the slot a piece of the arena? It is made there, or is a constant that
** the program writes, of which each run works on a copy. */
bool la_prog_in_arena(const la_prog *p, const la_prog_slot *s);
/* Are both in use at some step? Their pieces must not overlap then. */
bool la_prog_slots_meet(const la_prog_slot *a, const la_prog_slot *b);

/* ---- check.c ---- */

/* Checks what holds after each pass and of each file: steps read what is there
** by then, results are there. LA_ESTATE names the step. */
la_status la_prog_verify(const la_prog *p);
/* Before a run, in the debug build: slots are used after they are made, pieces
** lie in the arena and those of the same time apart, steps name views, groups
** and packs that there are. */
#ifdef LA_DEBUG
void la_prog_verify_plan(const la_prog *p);
#else
static inline void la_prog_verify_plan(const la_prog *p) {}
#endif

#endif
