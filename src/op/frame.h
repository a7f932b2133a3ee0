/*
** A call of an operation: its arguments in the order of the schema as tagged
** values, the form (functional, in-place, out=), and the results. For what
** implements operations; op/op.h has the operation.
**
** In C, dims and single indices in a frame count from 0 (the argument parser
** shifts them, by the schema's types dim and index); elements of index tensors
** count from 1 everywhere.
*/
#ifndef LA_OP_FRAME_H
#define LA_OP_FRAME_H

#include "op/value.h"

/* ---- keys ---- */

typedef enum la_key {         /* from the inside out */
    LA_KEY_CPU, LA_KEY_META, LA_KEY_EXT,      /* device keys: CPU + device */
    LA_KEY_INPLACE_OR_VIEW = LA_NDEVICES,     /* versions, view tracking */
    LA_KEY_RECORD,                            /* recording of a program */
    LA_KEY_AUTOGRAD,
    LA_NKEYS
} la_key;
typedef uint32_t la_keyset;

/* ---- the frame ---- */

typedef struct la_op la_op;     /* op/op.h */
typedef struct la_frame la_frame;
typedef la_status (*la_op_fn)(la_frame *f);

/* The row of a built-in operation, by name. Rows are symbols: a name that no
** row has is a link error, and no file but the registry depends on the texts
** of all rows. */
#define LA_OP(name) (__extension__ \
    ({ extern const la_op la_row_##name; &la_row_##name; }))

#define LA_MAX_ARGS 16
/* Integers of all list arguments of a call together, where it comes from a
** script or a host; lists of scripts may be longer, and allocate then. */
#define LA_POOL_INTS 256
#define LA_MAX_RESULTS 4

/* How the results of a call are made. */
typedef enum la_form { LA_FUNCTIONAL, LA_INPLACE, LA_OUT } la_form;

struct la_frame {
    const la_op *op;
    la_form form;
    la_keyset keys;           /* not yet run */
    int nargs;
    int nresults;             /* results set so far: no others own anything */
    uint32_t unread;          /* results, a bit each, whose elements nobody
                              ** will read: they need not be computed */
    la_value *args;           /* [nargs], borrowed */
    la_value results[LA_MAX_RESULTS];  /* owned by the caller after LA_OK */
    la_tensor *outs[LA_MAX_RESULTS];   /* in-place: self; out=: as given */
    int64_t scratch[8];       /* the same, for small facts */
    const la_frame *outer;    /* the call whose part it is, while it runs */
};

/* ---- arguments ---- */

static inline la_tensor *la_arg(const la_frame *f, int k) /* NULL if nil */
{
    return f->args[k].tag == LA_VTENSOR ? f->args[k].tensor : NULL;
}
static inline bool la_has(const la_frame *f, int k)
{
    return f->args[k].tag != LA_VNONE;
}
static inline int64_t la_arg_int(const la_frame *f, int k)
{
    return f->args[k].i;
}
static inline double la_arg_float(const la_frame *f, int k)
{
    return f->args[k].d;
}
static inline bool la_arg_bool(const la_frame *f, int k)
{
    return f->args[k].b;
}
static inline bool la_is_meta(const la_frame *f)
{
    return (f->keys & (1u << LA_KEY_META)) != 0;
}
/* ... or on a device of the host's, whose memory nobody here reads? */
static inline bool la_lacks_values(const la_frame *f)
{
    return (f->keys & ((1u << LA_KEY_INPLACE_OR_VIEW) - 2)) != 0;
}
/* ---- results ---- */

/* set_output: make result k ready with this shape. Functional: allocates
** (strides NULL: contiguous). In-place: self must have that shape and a dtype
** that 'dtype' can be cast to. out=: resized when it does not fit. When the
** given tensor can't take the values directly (other dtype, overlap with an
** input), results[k] is a fresh temporary, which la_finish_outputs copies to
** it: the dispatcher calls that after impl. */
la_status la_set_output(la_frame *f, int k, int ndim, const int64_t *sizes,
                        const int64_t *strides, la_dtype dtype);
/* Given outputs before any kernel: LA_EARG where one is not on the device that
** the arguments ask for ('keys', those of the arguments), LA_EALIAS where two
** share memory. */
la_status la_check_outputs(const la_frame *f, la_keyset keys);
/* May values of 'dtype' go to output k? LA_EDTYPE where they can't be cast to
** the given tensor's dtype; positions go to int64 alone. */
la_status la_check_out_dtype(const la_frame *f, int k, la_dtype dtype);
/* LA_ESHAPE unless 't' (argument 'arg', from 1, as 'what') broadcasts to the
** sizes of 'to', which it may not enlarge. */
la_status la_check_fits(const la_tensor *t, int arg, const char *what,
                        const la_tensor *to);
/* The dtype to compute in: 'asked' (a dtype= argument), else that of out=, else
** 'natural'. LA_EDTYPE where dtype= is not that of out=, nor that of a tensor
** which is changed in place. */
la_status la_infer_dtype(const la_frame *f, const la_value *asked,
                         la_dtype natural, la_dtype *dtype);
/* The dispatcher's last step of a call with given outputs: temporaries are
** copied to them, results[k] become the given tensors. */
la_status la_finish_outputs(la_frame *f);
/* Release what results hold. */
void la_drop_results(la_frame *f);
/* LA_EDTYPE: the operation does not compute in the dtype; the same unless its
** row says so. */
la_status la_refuse_dtype(const la_frame *f, la_dtype dtype);
la_status la_require_dtype(const la_frame *f, la_dtype dtype);

/* Result k, borrowed: what la_set_output has made ready. */
static inline la_tensor *la_result(const la_frame *f, int k)
{
    return f->results[k].tensor;
}
/* Hand over an owned tensor / other value as result k. */
static inline void la_set_result(la_frame *f, int k, la_tensor *owned)
{
    f->results[k].tag = LA_VTENSOR;
    f->results[k].given = false;
    f->results[k].tensor = owned;
    if (k >= f->nresults) f->nresults = k + 1;
}
void la_set_result_value(la_frame *f, int k, la_value v);

/* Set by src/program: asks, while a program is recorded, whether somebody may
** look at elements of 't' now. LA_ESTATE where the next call may find other
** ones. */
extern la_status (*la_record_read)(const la_tensor *t);
/* Asks that for an operation that looks at an element between its calls: then
** the recording is none, and calls go on. */
extern void (*la_record_peek)(const la_tensor *t);
/* Runs the body of a composite, in whose name its calls fail. */
extern la_status (*la_record_body)(la_frame *f, la_status (*body)(la_frame *));
/* The result of a composite, a view, has become the owner of what it shows. */
extern void (*la_record_owned)(la_tensor *t);
/* A view becomes that: it is no part of its root any more. */
void la_own_memory(la_tensor *t);

/* ---- running it ---- */

/* Run the operation: gate, key set, kernels. 'f' has op, form, args and outs.
** On failure no result is owned and operands are as before. */
la_status la_dispatch(la_frame *f);
/* Continues, inside a kernel of key k, with the keys below. */
la_status la_redispatch(la_frame *f, la_key below);

#endif
