/*
** Operations, values and the dispatcher.
**
** An operation is a row in op/def/ (name, kind, family, dtypes, schema, forms,
** doc; op/families.h). Kind and family give 'meta' (shapes and dtypes of the
** results, no data) and 'impl' (fills them). A call is a frame: arguments in
** the order of the schema as tagged values, the form (functional, in-place,
** out=), and the results. The dispatcher computes the set of keys from the
** arguments and runs the kernel of the highest; a key without a kernel falls
** through.
**
** In C, dims and single indices in a frame count from 0 (the argument parser
** shifts them, by the schema's types dim and index); elements of index tensors
** count from 1 everywhere.
*/
#ifndef LA_OP_OP_H
#define LA_OP_OP_H

#include <string.h>

#include "iter/iter.h"
#include "kernel/kernel.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

/* ---- values ---- */

typedef enum la_tag {
    LA_VNONE,      /* nil, or a default of nil */
    LA_VTENSOR, LA_VTENSORS, LA_VSCALAR, LA_VINT, LA_VFLOAT, LA_VBOOL,
    LA_VINTS, LA_VDTYPE, LA_VSTR, LA_VFORMAT, LA_VDEVICE, LA_VPOINTER,
    LA_VNAMES,
    LA_VFLOATS     /* the bits of doubles as 'ints': la_float_at */
} la_tag;

typedef struct la_value {
    la_tag tag;
    bool given;               /* false: the schema's default */
    union {
        la_tensor *tensor;
        struct { la_tensor **list; int64_t n; } tensors; /* NULL entries too */
        la_scalar scalar;
        int64_t i;
        double d;
        bool b;
        struct { const int64_t *list; int64_t n; } ints;
        la_dtype dtype;
        la_memory_format format;
        la_device device;
        struct { const char *text; size_t n; } str;
        struct { const char *const *list; int64_t n; } names; /* interned */
        void *pointer;
    };
} la_value;

/* ---- keys ---- */

typedef enum la_key {         /* from the inside out */
    LA_KEY_CPU, LA_KEY_META, LA_KEY_EXT,      /* device keys: CPU + device */
    LA_KEY_INPLACE_OR_VIEW = LA_NDEVICES,     /* versions, view tracking */
    LA_KEY_AUTOGRAD,
    LA_KEY_FUSE,                              /* recording for la.fuse */
    LA_NKEYS
} la_key;
typedef uint32_t la_keyset;

/* ---- operations ---- */

typedef struct la_op la_op;
typedef struct la_frame la_frame;
typedef la_status (*la_op_fn)(la_frame *f);

/* How the results of a call are made. */
typedef enum la_form { LA_FUNCTIONAL, LA_INPLACE, LA_OUT } la_form;

/* Forms that a row allows; the Lua binding makes functions and methods from
** it. */
enum {
    LA_FN = 1 << 0,           /* la.name(...) */
    LA_METHOD = 1 << 1,       /* x:name(...) */
    LA_INPLACE_FORM = 1 << 2, /* x:name_(...) */
    LA_OUT_FORM = 1 << 3,     /* out= */
    LA_VIEW_OP = 1 << 4,      /* results share the first argument's storage */
    LA_COMPOSITE = 1 << 5,    /* runs other operations: no key but its own */
    LA_MUTATES = 1 << 6,      /* writes its first argument in every form */
    LA_BITS_OK = 1 << 7,      /* understands conj and neg bits of its inputs */
    LA_NO_GRAD_OP = 1 << 8,   /* results never need a gradient */
    LA_METADATA = 1 << 9,     /* LA_MUTATES geometry or storage, not the data */
    LA_CONJ_OK = 1 << 10,     /* understands conj bits of inputs, no others */
    LA_READS_VALUES = 1 << 11,   /* a composite that looks at elements: there
                              ** are none on the meta device */
    LA_IN_FLOAT32 = 1 << 12,  /* a composite: la_in_float32 runs it */
    LA_SAME_BITS = 1 << 13,   /* on every CPU capability: op/lockstep.h */
    LA_BY_LAPACK = 1 << 14,   /* refused in lockstep */
    LA_MOVES = 1 << 15,       /* copies or fills: needs no kernel on a device
                              ** of the host's, and may mix devices */
    LA_BY_C_LIBRARY = 1 << 16,   /* refused in lockstep */
    LA_ANY = LA_FN | LA_METHOD,
    LA_ALL = LA_FN | LA_METHOD | LA_INPLACE_FORM | LA_OUT_FORM
};

#define LA_MAX_ARGS 16
#define LA_MAX_RESULTS 4

/* Sets of dtypes: what a row computes in. A set is a mask of these bits. */
#define LA_DTYPE_BIT(d) ((uint32_t)1 << (d))
#define LA_DTYPE_SPAN(first, past) (LA_DTYPE_BIT(past) - LA_DTYPE_BIT(first))
enum {
    LA_INTS = LA_DTYPE_SPAN(LA_UINT8, LA_FLOAT16),
    LA_FLOATS = LA_DTYPE_SPAN(LA_FLOAT16, LA_COMPLEX32),
    LA_COMPLEXES = LA_DTYPE_SPAN(LA_COMPLEX32, LA_NDTYPES),
    LA_BOOL_INTS = LA_DTYPE_BIT(LA_BOOL) | LA_INTS,
    LA_REALS = LA_INTS | LA_FLOATS,
    LA_ORDERED = LA_BOOL_INTS | LA_FLOATS,    /* what < is defined for */
    LA_INEXACT = LA_FLOATS | LA_COMPLEXES,
    LA_NUMBERS = LA_REALS | LA_COMPLEXES,     /* no bool */
    LA_ANY_DTYPE = LA_ORDERED | LA_COMPLEXES,
    LA_WIDE_FLOATS = LA_DTYPE_BIT(LA_FLOAT32) | LA_DTYPE_BIT(LA_FLOAT64),
    /* Dtypes of matrix products: complex32 has no kernel. */
    LA_PRODUCTS = LA_NUMBERS & ~LA_DTYPE_BIT(LA_COMPLEX32),
    /* Dtypes of pooling, as in PyTorch: no wide unsigned integers. */
    LA_POOLED = LA_REALS & ~(LA_DTYPE_BIT(LA_UINT16) | LA_DTYPE_BIT(LA_UINT32)
                             | LA_DTYPE_BIT(LA_UINT64)),
    /* Floats that are the parts of a complex dtype. */
    LA_PARTS = LA_FLOATS & ~LA_DTYPE_BIT(LA_BFLOAT16),
    LA_INDICES = LA_DTYPE_BIT(LA_INT32) | LA_DTYPE_BIT(LA_INT64)
};

struct la_schema;             /* op/schema.h */

/* Meaning of a name to a caller: the first overload and the form. */
typedef struct la_callable {
    const la_op *op;
    bool inplace;
} la_callable;

/* State of a row that changes after the start: the schema is parsed at the
** first use, overloads are chained, src/grad hangs in what is its. */
typedef struct la_op_state {
    const struct la_schema *schema;
    const la_op *next;                 /* the next overload of the name */
    const struct la_grad_rule *grad;   /* set by src/grad */
    la_callable calls[2];              /* of a first overload: name, name_ */
} la_op_state;

struct la_op {
    const char *name;         /* of the row: "add", "max_dim" for an overload */
    const char *signature;    /* the schema as written in the row */
    const char *doc;
    uint32_t forms;
    uint32_t dtypes;          /* a set, as above */
    int id;                   /* index in the registry */
    la_op_fn meta, impl;      /* impl NULL: nothing to fill */
    const la_loops *stubs[LA_NCAPS];   /* element-wise kernels of the row */
    const void *reductions[LA_NCAPS];  /* la_reductions of the row */
    int store;                /* la_reduce_mode of a reduction */
    const void *family;       /* la_family of an element-wise row */
    la_op_state *state;
};

struct la_frame {
    const la_op *op;
    la_form form;
    la_keyset keys;           /* not yet run */
    int nargs;
    int nresults;             /* results set so far: no others own anything */
    la_value *args;           /* [nargs], borrowed */
    la_value results[LA_MAX_RESULTS];  /* owned by the caller after LA_OK */
    la_tensor *outs[LA_MAX_RESULTS];   /* in-place: self; out=: as given */
    int64_t scratch[8];       /* the same, for small facts */
};

/* Run the operation: gate, key set, kernels. 'f' has op, form, args and outs.
** On failure no result is owned and operands are as before. */
la_status la_dispatch(la_frame *f);
/* Continues, inside a kernel of key k, with the keys below. */
la_status la_redispatch(la_frame *f, la_key below);

/* Look up by schema name; NULL when there is none. */
const la_op *la_op_lookup(const char *name, size_t n);
const la_op *la_op_at(int id);  /* NULL past the end: walk the registry */
int la_op_count(void);
int la_op_builtin(void);        /* how many of them are rows of ours */
/* The bytes of the row's name, without the overload's. */
static inline size_t la_op_name_length(const la_op *op)
{
    return strcspn(op->signature, ".(");
}
/* The first overload of what users call 'name': a row's name, another name, or
** "theme.name"; state->next leads to the others. NULL for none. By a hash: the
** table is made at the first use, on any thread. */
const la_op *la_op_first(const char *name, size_t n);
/* Callable of a user by that name; rows that only operations of ours call are
** none. "add_" is add in place. Valid as long as the row. */
const la_callable *la_op_callable(const char *name, size_t n);

/* The row of a built-in operation, by name. Rows are symbols: a name that no
** row has is a link error, and no file but the registry depends on the texts
** of all rows. */
#define LA_OP(name) (__extension__ \
    ({ extern const la_op la_row_##name; &la_row_##name; }))

/* Registers the kernel of an operation for a key, or removes it (NULL), in the
** runtime where the thread is. New operations: op/hosted.h. */
la_status la_kernel_register(const la_op *op, la_key key, la_op_fn fn);
/* The kernel that was registered for the operation where the thread is; NULL:
** none. */
la_op_fn la_registered_kernel(const la_op *op, int key);

/* ---- for implementations ---- */

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
/* A string for an error: escaped and clipped, for as long as the block. */
#define LA_QUOTED(v) \
    la_quote((v)->str.text, (v)->str.n, (char[256]){0}, 256)
static inline bool la_str_is(const la_value *v, const char *word)
{
    return v->tag == LA_VSTR && strlen(word) == v->str.n
        && memcmp(v->str.text, word, v->str.n) == 0;
}

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
** 'natural'. LA_EDTYPE where dtype= and out= disagree. */
la_status la_infer_dtype(const la_frame *f, const la_value *asked,
                         la_dtype natural, la_dtype *dtype);
/* The dispatcher's last step of a call with given outputs: temporaries are
** copied to them, results[k] become the given tensors. */
la_status la_finish_outputs(la_frame *f);
/* Release what results hold; what one value holds. */
void la_drop_results(la_frame *f);
void la_value_drop(la_value *v);
/* An owned list of 'n' NULL tensors to fill in (results of split, unbind). */
la_status la_list_new(int64_t n, la_value *out);
/* LA_EDTYPE: the operation does not compute in the dtype; the same unless its
** row says so. */
la_status la_refuse_dtype(const la_frame *f, la_dtype dtype);
static inline la_status la_require_dtype(const la_frame *f, la_dtype dtype)
{
    return f->op->dtypes & LA_DTYPE_BIT(dtype) ? LA_OK
                                               : la_refuse_dtype(f, dtype);
}
/* Set by src/grad and src/fuse: the kernels of their keys for all operations;
** NULL falls through. */
extern la_op_fn la_autograd_kernel, la_fuse_kernel;
/* A call for a device of the host's, which has kernel 'fn' for it or none
** (NULL). LA_EKEY for an operation that needs one. */
la_status la_run_remote(la_frame *f, la_device device, la_op_fn fn);
/* LA_EKEY where an argument is on such a device: for a composite whose body
** reads elements. */
la_status la_check_readable(const la_frame *f);
/* Set by src/vmap: runs a call with batched tensors, or one that draws numbers
** while a vmap runs. */
extern la_op_fn la_vmap_kernel;
/* The body of a composite, on the arguments of the frame as they are. */
la_status la_run_body(la_frame *f);
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

/* ---- calling operations from C ---- */

/* C values as arguments. An argument list converts tensors, integers, scalars,
** booleans and strings by their C type (LA_VALUE); a double is a Scalar there.
** The functions are for what C has no type of its own for. */
static inline la_value la_v_tensor(la_tensor *t)
{
    return (la_value){.tag = t ? LA_VTENSOR : LA_VNONE, .given = true,
                      .tensor = t};
}
static inline la_value la_v_int(int64_t i)
{
    return (la_value){.tag = LA_VINT, .given = true, .i = i};
}
static inline la_value la_v_float(double d)   /* a schema's float */
{
    return (la_value){.tag = LA_VFLOAT, .given = true, .d = d};
}
static inline la_value la_v_bool(bool b)
{
    return (la_value){.tag = LA_VBOOL, .given = true, .b = b};
}
static inline la_value la_v_scalar(la_scalar s)
{
    return (la_value){.tag = LA_VSCALAR, .given = true, .scalar = s};
}
static inline la_value la_v_double(double d)   /* a schema's Scalar */
{
    return la_v_scalar(la_scalar_float(d));
}
static inline la_value la_v_string(const char *s)
{
    return (la_value){.tag = LA_VSTR, .given = true, .str = {s, strlen(s)}};
}
static inline la_value la_v_dtype(la_dtype dtype)
{
    return (la_value){.tag = LA_VDTYPE, .given = true, .dtype = dtype};
}
/* Do numbers without a tensor next to them stay as they are? Element-wise rows
** promote them, complex numbers are numbers themselves, and one of n arguments
** may be a dtype that holds what a Lua number does. */
static inline bool la_keeps_numbers(const la_op *op, int n,
                                    const la_value *args)
{
    if (op->family || op == LA_OP(complex)) return true;
    for (int k = 0; k < n; k++)
        if (args[k].tag == LA_VDTYPE && (args[k].dtype == LA_FLOAT64
                                         || args[k].dtype == LA_COMPLEX128))
            return true;
    return false;
}
static inline la_value la_v_device(la_device device)
{
    return (la_value){.tag = LA_VDEVICE, .given = true, .device = device};
}
static inline la_value la_v_none(void)
{
    return (la_value){.tag = LA_VNONE};
}
static inline la_value la_v_same(la_value v) { return v; }
/* Lists; the elements stay the caller's, and are often compound literals. */
#define la_v_ints(p, n_) ((la_value){.tag = LA_VINTS, .given = true, \
                                     .ints = {(p), (n_)}})
#define la_v_tensors(p, n_) ((la_value){.tag = LA_VTENSORS, .given = true, \
                                        .tensors = {(p), (n_)}})

#define LA_VALUE(a) _Generic((a), la_tensor *: la_v_tensor, int: la_v_int, \
    int64_t: la_v_int, double: la_v_double, float: la_v_double, \
    bool: la_v_bool, la_scalar: la_v_scalar, la_value: la_v_same, \
    char *: la_v_string, const char *: la_v_string)(a)

/* LA_ARGS_(a, b, ...): the number of arguments and their values, for at most
** twelve. */
#define LA_MAP1(a) LA_VALUE(a)
#define LA_MAP2(a, ...) LA_VALUE(a), LA_MAP1(__VA_ARGS__)
#define LA_MAP3(a, ...) LA_VALUE(a), LA_MAP2(__VA_ARGS__)
#define LA_MAP4(a, ...) LA_VALUE(a), LA_MAP3(__VA_ARGS__)
#define LA_MAP5(a, ...) LA_VALUE(a), LA_MAP4(__VA_ARGS__)
#define LA_MAP6(a, ...) LA_VALUE(a), LA_MAP5(__VA_ARGS__)
#define LA_MAP7(a, ...) LA_VALUE(a), LA_MAP6(__VA_ARGS__)
#define LA_MAP8(a, ...) LA_VALUE(a), LA_MAP7(__VA_ARGS__)
#define LA_MAP9(a, ...) LA_VALUE(a), LA_MAP8(__VA_ARGS__)
#define LA_MAP10(a, ...) LA_VALUE(a), LA_MAP9(__VA_ARGS__)
#define LA_MAP11(a, ...) LA_VALUE(a), LA_MAP10(__VA_ARGS__)
#define LA_MAP12(a, ...) LA_VALUE(a), LA_MAP11(__VA_ARGS__)
#define LA_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, NAME, ...) \
    NAME
#define LA_NARGS(...) \
    LA_PICK(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define LA_MAP(...) LA_PICK(__VA_ARGS__, LA_MAP12, LA_MAP11, LA_MAP10, \
    LA_MAP9, LA_MAP8, LA_MAP7, LA_MAP6, LA_MAP5, LA_MAP4, LA_MAP3, LA_MAP2, \
    LA_MAP1, 0)(__VA_ARGS__)
#define LA_ARGS_(...) \
    LA_NARGS(__VA_ARGS__), (const la_value[]){LA_MAP(__VA_ARGS__)}

/* Number i of a list of LA_VFLOATS. */
static inline double la_float_at(const la_value *v, int64_t i)
{
    double d;
    memcpy(&d, &v->ints.list[i], sizeof d);
    return d;
}

/* Call an operation with the first n arguments; the rest get defaults.
** A scalar where the schema says Tensor becomes a wrapped 0-dim tensor. */
la_status la_do(const la_op *op, la_tensor **out, int n, const la_value *args);
la_status la_do_(const la_op *op, la_tensor *self, int n,
                 const la_value *args);
la_status la_do_out(const la_op *op, la_tensor *out, int n,
                    const la_value *args);
la_status la_do_many(const la_op *op, la_value *results, int n,
                     const la_value *args);
/* Calls by a frame with op, form and outs (all of them set); results are the
** caller's. The frame's arguments are gone afterwards. */
la_status la_do_frame(la_frame *f, int n, const la_value *args);
/* The first result becomes result 0 of the composite 'f'. */
la_status la_do_result(la_frame *f, const la_op *op, int n,
                       const la_value *args);
/* The value of a tensor of one element on the CPU; false, without an error, for
** others, and for one that needs a gradient. */
bool la_tensor_to_scalar(const la_tensor *t, la_scalar *out);
/* la_run(add, &r, a, b); la_run_ is the in-place form, whose self
** is passed as the first value as well; la_run_many has 4 results. A row with
** LA_MUTATES (copy_, fill_) is called through la_run_ too. */
#define la_run(name, out, ...) la_do(LA_OP(name), out, LA_ARGS_(__VA_ARGS__))
#define la_run_(name, self, ...) \
    la_do_(LA_OP(name), self, LA_ARGS_(self, __VA_ARGS__))
#define la_run_many(name, results, ...) \
    la_do_many(LA_OP(name), results, LA_ARGS_(__VA_ARGS__))
#define la_run_result(f, name, ...) \
    la_do_result(f, LA_OP(name), LA_ARGS_(__VA_ARGS__))

#endif
