/* The reader of a program's file, which several files are. */
#ifndef LA_API_PROGRAM_READER_H
#define LA_API_PROGRAM_READER_H

#include "api/program/api_program.h"
#include "api/program/program_text.h"
#include "op/op.h"

/* A tensor of the file. */
typedef struct la_program_entry {
    la_tensor *tensor;          /* owned */
    int kind;
} la_program_entry;

typedef struct la_program_reader {
    la_jtext_reader t;
    la_archive *archive;        /* sorted; what was taken is NULL there */
    la_prog_list entries, ops;  /* la_program_entry; const la_op * */
    la_prog_list ints;          /* int64_t: a list that is being read */
} la_program_reader;

static inline void la_program_take_status(la_program_reader *r,
                                          la_status status)
{
    if (!r->t.status) r->t.status = status;
}

/* The tensor of entry 'i', which is of that kind or (LA_TEXT_WEIGHT) a captured
** one; NULL behind a failure. */
la_tensor *la_program_entry_of(la_program_reader *r, int64_t i, int kind);

#endif
