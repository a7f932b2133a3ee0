/*
** Passes: each is a function from a program to a program that computes the
** same bits. They run in the order of passes.def, before the first run; one may
** be left out by its name. la_prog_verify holds after each.
*/
#ifndef LA_PROGRAM_PASSES_H
#define LA_PROGRAM_PASSES_H

#include "program/program.h"

enum {
#define PASS(id, name, always, text) LA_PASS_##id,
#include "program/passes.def"
#undef PASS
    LA_NPASSES
};

/* Work of a pass, for explain: so many of what it deals with, and bytes. */
typedef struct la_prog_pass_note {
    bool left_out;
    int64_t count, bytes;
} la_prog_pass_note;

static inline size_t la_prog_notes_bytes(void)
{
    return LA_NPASSES * sizeof(la_prog_pass_note);
}

#define PASS(id, name, always, text) \
    la_status la_prog_pass_##id(la_prog *p, la_prog_pass_note *note);
#include "program/passes.def"
#undef PASS

const char *la_prog_pass_name(int k);
const char *la_prog_pass_text(int k);
/* The step's arguments are set; a packed copy replaces its matrix. */
void la_prog_put_packed(la_prog *p, la_prog_step *s);
/* Frees what a step owns. */
void la_prog_cut_step(la_prog_step *s);

/* Walks over the views that a step reads (also those that it changes in place)
** and those that it writes: each is given to a function once. */
typedef void (*la_prog_visit)(void *context, int32_t view);
void la_prog_reads(const la_prog *p, const la_prog_step *s, la_prog_visit fn,
                   void *context);
void la_prog_writes(const la_prog *p, const la_prog_step *s, la_prog_visit fn,
                    void *context);
/* View a stands for view b, the whole of another slot of that size: all views
** of b's slot become views of a's. */
void la_prog_stand_for(la_prog *p, int32_t a, int32_t b);
/* Does the step have to run? */
static inline bool la_prog_runs(const la_prog_step *s)
{
    return !s->dead && !s->alias;
}

#endif
