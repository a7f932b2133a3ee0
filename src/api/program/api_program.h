/*
** Programs of hosts (la_program): a recording with its plan, the names of what
** goes in and out, and the numbers that steps read anew, with no Lua state.
**
** A program counts its references, belongs to a runtime, and runs beneath
** autograd: its results have no history. Random steps draw from the generator
** of the settings that it runs with.
*/
#ifndef LA_API_PROGRAM_API_PROGRAM_H
#define LA_API_PROGRAM_API_PROGRAM_H

#include "base/lock.h"
#include "io/archive.h"
#include "program/program.h"

typedef struct la_program la_program;

enum { LA_PROGRAM_SIZES = 16 };         /* plans for other sizes, at most */
enum { LA_PROGRAM_NAMES = 3 };  /* inputs, outputs, weights */

/* A number that a step reads in each run: from a weight of no dim, float64. */
typedef struct la_program_number {
    enum { LA_PROGRAM_FIELD, LA_PROGRAM_COUNT } kind;   /* COUNT: rises by one
                                                        ** before */
    int32_t weight;
} la_program_number;

typedef struct la_program_walk {
    bool on;
    la_prog *p;                 /* what runs: the program, or its slices */
    uint32_t *versions;         /* [narguments] */
    la_tensor **in, **out;      /* retained; out: NULL for a new one */
    la_tensor **to;             /* the caller's list of results */
    la_tensor **results;        /* before they are handed out */
} la_program_walk;

/* A planner makes programs for other sizes, of a model of a file. Clones of its
** program share it. */
typedef struct la_planner {
    _Atomic int32_t refs;
    la_long_lock lock;          /* held while it plans */
    void *source;
    bool whole;                 /* no plan has it all: 'run' runs the model */
    /* Results for inputs, new: 'outputs' of them. */
    la_status (*run)(void *source, la_tensor *const *in, int32_t n,
                     la_tensor **out, int32_t outputs);
    /* A program for inputs of these sizes. */
    la_status (*plan)(void *source, la_tensor *const *in, int32_t n,
                      la_program **out);
    void (*close)(void *source);
    la_prog_list open;          /* uint64_t, of inputs, then of outputs: bit d
                                ** of dims that the file leaves open */
} la_planner;

struct la_program {
    _Atomic int32_t refs;
    uint8_t owner;              /* its runtime */
    bool writes;                /* an input or a weight */
    la_prog *p;                 /* planned; p->recorded is what it came of */
    la_prog *parts;             /* the same in slices, for runs in parts; made
                                ** by the first one; NULL: 'p' is short */
    bool has_parts;             /* 'parts' was looked for */
    la_notes names[LA_PROGRAM_NAMES];   /* keys */
    la_prog_list weights;       /* la_tensor *, owned: captured ones in the
                                ** order of the objects, then numbers */
    la_prog_list numbers;       /* by source */
    la_bytes call;              /* how Lua gives and takes the values: JSON, or
                                ** nothing */
    la_program_walk walk;
    la_planner *planner;        /* NULL: these sizes alone */
    la_prog_list others;        /* la_program *, owned: for other sizes, what
                                ** ran last at the end */
    la_program *now;            /* the one of them that the begun call runs */
};

/* ---- program_make.c ---- */

/* A program of a recording, which it takes over, also where it fails. Weights
** are named by position. LA_ESUPPORT where it can't stand alone. */
la_status la_program_make(la_prog *recorded, la_program **out);
/* Another number, whose source is the next one: a weight of no dim, which is a
** new one where the program has it not yet. */
la_status la_program_add_number(la_program *g, int kind, la_tensor *number,
                                const char *name);
/* Such a tensor. */
la_status la_program_make_number(double value, la_tensor **out);
/* Makes the plan, behind the last change of anything above. */
la_status la_program_finish(la_program *g);
/* Replaces a name by another one, which gets a number behind it where somebody
** else of that kind has it. */
la_status la_program_rename(la_program *g, int what, int64_t i,
                            const char *name, size_t n);
la_status la_program_copy(const la_program *from, la_program **out);
void la_program_drop(la_program *g);
static inline la_tensor *la_program_weight_at(const la_program *g, int64_t i)
{
    return *LA_PROG_AT(g->weights, la_tensor *, i);
}
static inline const char *la_program_key(const la_program *g, int what,
                                         int64_t i)
{
    return g->names[what].list[i].key;
}

/* ---- program_sizes.c ---- */

/* A planner, which owns 'source' from here on, also where it fails. */
la_status la_planner_new(void *source, void (*close)(void *),
                         la_planner **out);
void la_planner_release(la_planner *k);
/* Does the file leave dim d of that input or output open? */
bool la_program_is_open(const la_program *g, int what, int i, int d);
/* The program for the sizes of these inputs: g, one that was made before, or a
** new one. g where the inputs are none of the model's, for its check to say. */
la_status la_program_fitting(la_program *g, la_tensor *const *in,
                             la_program **out);
static inline bool la_program_is_whole(const la_program *g)
{
    return g->planner && g->planner->whole;
}
/* Runs the model of such a program; results that are given are written. */
la_status la_program_run_whole(la_program *g, la_tensor *const *in,
                               la_tensor *const *given, la_tensor **out);
void la_program_drop_others(la_program *g);

/* ---- program_run.c ---- */

/* Can tensor t take result i, which has the dtype and sizes of 'form'? */
la_status la_program_check_output(const la_program *g, int32_t i, la_tensor *t,
                                  const la_tensor *form);

/* Settings of the recording that results depend on. */
typedef struct la_program_modes {
    la_dtype default_dtype;
    bool deterministic, portable, lockstep;
} la_program_modes;

/* With the settings at hand: on the thread that is in the program's runtime. */
la_status la_program_call(la_program *g, la_tensor *const *in,
                          la_tensor **out);
/* Runs the calls of the recording, each through the whole dispatcher, so that
** an observer hears what was recorded; all results are new. */
la_status la_program_replay(la_program *g, la_tensor *const *in,
                            la_tensor **out);
la_status la_program_start(la_program *g, bool parts, la_tensor *const *in,
                           la_tensor **out);
/* Runs until all is done, or the clock shows 'end': *done tells. Results that
** nobody gave go to the list that the start was given. */
la_status la_program_go_on(la_program *g, int64_t end, bool *done);
/* The call that has begun is given up. */
void la_program_stop(la_program *g);

/* ---- program_write.c, program_read.c, recording_check.c ---- */

/* The programs, which share what they share. */
la_status la_program_write(int n, la_program *const *list, la_writer *to);
/* All programs in the bytes, each owned; the list is of la_program *. What was
** read before an error is dropped. */
la_status la_program_read(const la_reader *from, int64_t limit,
                          la_prog_list *out);
void la_program_drop_list(la_prog_list *list);
/* A recording out of the text, read as it is: la_program_check behind it. */
struct la_program_reader;
la_prog *la_program_read_recording(struct la_program_reader *r);
/* Does the file's recording hold what every recording holds? Sets what follows
** from the rest. LA_EIO. */
la_status la_program_check(la_prog *p);

#endif
