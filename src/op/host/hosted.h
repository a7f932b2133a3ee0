/*
** What hosts register in a runtime: operations and kernels. A row of
** theirs has what the host gave, a count of the threads that are inside, and a
** mark once it is withdrawn.
**
** A row is not freed before its runtime ends: functions of scripts, handles and
** graphs point at it. One that was withdrawn answers with an error; its name
** and its index are for the next one.
*/
#ifndef LA_OP_HOST_HOSTED_H
#define LA_OP_HOST_HOSTED_H

#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "lunarray.h"
#include "op/host/device_names.h"
#include "op/op.h"
#include "op/schema.h"

typedef struct la_hosted {
    la_op op;               /* first: la_hosted_of */
    la_op_state state;
    la_schema schema;
    la_kernel shape, fill;  /* the host's; either may be NULL */
    void *user;
    void (*drop)(void *user);
    _Atomic(la_op_fn) kernels[LA_NKEYS];    /* registered for it by key */
    la_runtime *runtime;
    struct la_hosted *older;    /* of the runtime, withdrawn or not */
    size_t bytes;               /* of its block, with the texts */
    _Atomic int inside;
    _Atomic bool withdrawn;
} la_hosted;

enum { LA_MOST_HOSTED = 1024 };

/* Registrations in a runtime. Written under the lock, read by all: an entry is
** complete before its counter or its pointer says so. */
typedef struct la_op_table {
    _Atomic(la_hosted *) rows[LA_MOST_HOSTED];
    _Atomic int nrows;          /* how many are in use */
    la_hosted *newest;          /* the list of all; under the lock */
    /* Kernels by key, then by a built-in operation's id; NULL: none for this
    ** key. */
    _Atomic(_Atomic(la_op_fn) *) kernels[LA_NKEYS];
} la_op_table;

/* The table of the runtime where the thread is, made at the first registration;
** NULL without memory, with the error record set. */
la_op_table *la_need_table(void);

static inline la_hosted *la_hosted_of(const la_op *op)
{
    return op->id >= la_op_builtin() ? (la_hosted *)op : NULL;
}

typedef bool (*la_name_test)(const char *name, size_t n);
/* A new operation from the lunarray.h struct, whose texts are copied, for the
** runtime where the thread is. 'drop' is the caller's to run when this fails.
** LA_EARG for a bad schema or no kernel, LA_ESTATE for a name that exists: of
** an operation, or one that 'is_known' knows. On any thread. */
la_status la_op_register(const la_op_def *def, la_name_test is_known,
                         const la_op **out);
/* No thread is inside afterwards, and 'drop' has run. LA_ESTATE for a row of
** ours, from inside itself, and for one that was withdrawn. */
la_status la_op_withdraw(const la_op *op);
bool la_op_withdrawn(const la_op *op);
/* Lets a host's kernel make objects that belong to its call: with the call's
** settings, whatever the host has run meanwhile, until la_leave_context. */
la_passage la_enter_kernel_call(void);
/* May it be called where the thread is? LA_ESTATE: operation 'name' was
** withdrawn; LA_EARG: it is another runtime's. */
la_status la_op_usable(const la_op *op);

/* A host's kernel for a device, of an operation of any kind: what it answers is
** a status of ours, and all results are there after LA_OK. */
la_status la_hosted_kernel(la_frame *f, la_op_fn fn);

/* The end of a runtime: every 'drop' that has not run, then the rows go. */
void la_hosted_drop(la_runtime *rt, la_op_table *t);

/* One registration at a time. */
void la_lock_tables(void);
void la_unlock_tables(void);

#endif
