/* Inside of the recorder: what it has met (meet.c), and the calls (recorder.c,
** whose head says how it works). */
#ifndef LA_PROGRAM_RECORDER_H
#define LA_PROGRAM_RECORDER_H

#include "program/program.h"

#include <stdatomic.h>

/* A storage and its slot; or a tensor and the step that made it, LA_PROG_NONE
** for one that no step made. */
typedef struct la_met {
    const void *key;            /* NULL: free; another: was used */
    int32_t is;
} la_met;

typedef struct la_met_table {
    la_met *list;
    int32_t n, capacity;        /* n: with those that are gone */
} la_met_table;

enum { LA_RECORD_SOURCES = 16 };

struct la_recorder {
    la_prog *p;
    la_recorder *outer;         /* whose part this one records, or NULL */
    la_met_table storages, tensors;
    uint32_t birth, birth_before;
    bool failed, partial, retained;
    bool ran;                   /* a backward pass */
    bool dry;                   /* refuses calls that leave anything */
    const la_op *composite;     /* whose body runs: the outermost */
    const char *no_graph;       /* why steps can't make the results' history */
    la_prog_where where;
    void *host;
    int nsources;
    la_prog_source sources[LA_RECORD_SOURCES];
    la_prog_list fns;           /* per object: its history at the entry */
};

/* The slot of a storage that was met; LA_PROG_NONE. */
int32_t la_meet_slot_of(const la_recorder *r, const la_storage *s);
int32_t la_meet_new_slot(la_recorder *r, la_slot_kind kind, int32_t index,
                         la_storage *s);
void la_meet_storage_ends(const la_storage *s);
void la_meet_tensor_ends(const la_tensor *t);
/* The tensor comes out of step 'step', which made it if it was not met
** before. */
void la_meet_note_tensor(la_recorder *r, la_tensor *t, int32_t step);
/* The tables end; what is in them is watched no more. */
void la_meet_end(la_recorder *r);
/* Objects: the one that 't' is; a new one; the one that it is or becomes, where
** it comes from outside. LA_PROG_NONE else. */
int32_t la_meet_object_of(const la_recorder *r, const la_tensor *t);
int32_t la_meet_new_object(la_recorder *r, la_tensor *t, int argument);
int32_t la_meet_need_object(la_recorder *r, la_tensor *t);
/* Did the recording make the tensor itself? */
bool la_meet_is_inside(const la_recorder *r, const la_tensor *t);
/* The slot of data from outside: of the root, whose memory views follow. */
int32_t la_meet_outside(la_recorder *r, la_tensor *t);
/* The views that tensors are: of a known slot; of an operand. */
int32_t la_meet_view(la_recorder *r, int32_t slot, const la_tensor *t);
int32_t la_meet_operand(la_recorder *r, la_tensor *t);
int64_t la_meet_origin(const la_tensor *t);
/* One more step, which takes over what 's' owns. */
void la_record_step(la_recorder *r, la_prog_step *s);
/* The recording can't become a program: 'why' is a text that stays. */
void la_record_give_up(la_recorder *r, const char *why);

#endif
