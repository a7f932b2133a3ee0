/* Binding of a program: the tensor that each view is at the moment. Made by the
** first run, kept for the next ones. */
#ifndef LA_PROGRAM_BIND_H
#define LA_PROGRAM_BIND_H

#include "program/program.h"

typedef struct la_prog_bind {
    la_tensor **tensors;    /* [views]: a form, a base, or NULL: borrowed */
    la_tensor **bases;      /* [slots]: owned where the slot is new or taken,
                            ** or lies in the arena */
    la_tensor ***outs;      /* reserved for runs that write given tensors */
} la_prog_bind;

la_status la_bind_new(la_prog *p);
void la_bind_free(la_prog *p);
/* Shows the slot's views on 'base'. LA_EALIAS where a view would begin inside
** of an element. */
la_status la_bind_slot(la_prog *p, int32_t slot, la_tensor *base);
/* The views show nothing, so that they keep no memory. */
void la_bind_clear(la_prog *p, int32_t slot);
/* An owned tensor that the view is: the base itself where it is that. */
la_status la_bind_export(la_prog *p, int32_t view, la_tensor **out);
/* Slots of arguments, of other objects and their gradients, and constants. */
la_status la_bind_entry(la_prog *p, la_tensor *const *arguments);
void la_bind_leave(la_prog *p);
/* The tensor of object 'i' in this run. */
la_tensor *la_bind_object(const la_prog *p, int32_t i,
                          la_tensor *const *arguments);
/* Gives a result its history: a leaf, or one used up. */
la_status la_bind_history(const la_prog_output *o, la_tensor *t);

#endif
