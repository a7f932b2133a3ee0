/*
** Looks: questions to elements between the calls of a composite. An answer may
** refuse the call (labels that are no classes), and may decide what is called
** next (is any label ignored?). Through la_look a program that is recorded
** knows both: a later run asks again.
*/
#ifndef LA_OP_LOOK_H
#define LA_OP_LOOK_H

#include "op/frame.h"

typedef enum la_look_kind {
#define LOOK(id, decides) LA_LOOK_##id,
#include "op/looks.def"
#undef LOOK
    LA_NLOOKS
} la_look_kind;

/* A question: a and b are its own numbers, arg is the number (from 1) of the
** argument that messages name. */
typedef struct la_look_question {
    uint8_t kind, arg;
    int64_t a, b;
} la_look_question;

/* Does the answer decide what is called next? */
bool la_look_decides(la_look_kind kind);
/* The answer about a tensor with elements on the CPU. An error refuses. */
la_status la_look_ask(const la_look_question *q, const la_tensor *t,
                      int64_t *answer);
/* Asks so for operation 'op', known to a recording. */
la_status la_look(const la_op *op, const la_look_question *q, la_tensor *t,
                  int64_t *answer);
/* May a composite read elements of 't' to choose sizes? LA_ESTATE while a
** program is recorded for which they may be others later. */
la_status la_look_sizes(const la_tensor *t);
/* A composite reads elements of 't' in its own way. What is recorded now can't
** be a program then, where they may be others later. */
la_status la_look_alone(const la_tensor *t);

/* Set by src/program: a question was answered. */
extern la_status (*la_record_look)(const la_op *op, const la_look_question *q,
                                   la_tensor *t, int64_t answer);

/* Set by src/program: an output of a composite takes other sizes. */
extern void (*la_record_resizes)(void);

#endif
