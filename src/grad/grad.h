/*
** Reverse-mode differentiation, PyTorch's.
**
** A node is one recorded operation: edges to the nodes that made its inputs,
** the values that its formula needs with their versions, and what its outputs
** look like. Tensors own the node that made them (grad_meta.fn), nodes own the
** nodes before them; nothing points forward, so a graph is freed when the last
** result goes, without recursion and without allocating. A leaf is reached by
** an accumulator node, which the leaf owns; so a gradient with a history, kept
** in the leaf, makes no cycle.
**
** Formulas (derivatives.def) are calls of operations, so they are recorded and
** differentiate again when create_graph is asked for.
*/
#ifndef LA_GRAD_GRAD_H
#define LA_GRAD_GRAD_H

#include "op/value.h"

typedef struct la_node la_node;

typedef struct la_edge {
    la_node *node;          /* owned; NULL: nothing flows here */
    int slot;               /* which output of 'node' */
} la_edge;

/* A hook sees the gradient of one tensor and may replace it: *replacement is
** owned, NULL leaves the gradient as it is. One that runs 'after' sees the leaf
** to which its gradient has been added; 'replacement' is NULL then. */
typedef la_status (*la_hook_fn)(void *context, la_tensor *grad,
                                la_tensor **replacement);
typedef struct la_hook {
    la_hook_fn run;
    void *context;
    void (*release)(void *context);
    int64_t id;             /* for removal */
    int slot;
    bool after;             /* of a leaf, which has its gradient by then */
} la_hook;
typedef struct la_hook_list la_hook_list;   /* hooks.c; NULL: empty */

typedef struct la_grad_meta {
    la_node *fn;            /* owned; NULL for a leaf */
    int slot;               /* which of fn's outputs it is */
    bool requires_grad;     /* a leaf that was asked to record */
    bool retain;            /* retain_grad was called */
    la_node *accumulator;   /* owned; it only borrows the leaf */
    la_tensor *grad;        /* owned */
    la_hook_list *hooks;    /* of a leaf */
    int64_t keeper;         /* id of the hook of retain_grad */
    const void *context;    /* that recorded it */
} la_grad_meta;

/* A value kept for the formula: an input is the tensor itself, whose history
** can't change while its version stays. A result of the node is kept without
** its history (it would own itself), and a view without its base (whose history
** may come to lead here); histories are put back when the value is read. */
typedef struct la_saved {
    la_tensor *data;        /* owned: the tensor, or an alias */
    la_node *fn;            /* owned: history of an alias, which has none; of a
                            ** result borrowed: the CopySlices that runs its
                            ** node, when a view was written */
    int slot;
    uint32_t version;
    uint32_t others;        /* la_other_writes */
    bool is_result;
    bool is_whole;          /* the tensor itself, whose memory set_data may
                            ** replace: the formula reads the new data then */
} la_saved;

/* Description of an output: gradients are brought to this form. */
#define LA_OUTPUT_DIMS 4
typedef struct la_output_meta {
    int64_t *sizes;         /* 'few', or a block of their own */
    uint8_t ndim, dtype, device;
    int64_t few[LA_OUTPUT_DIMS];
} la_output_meta;

struct la_visitor;

/* A node of a kind: how it computes and what it owns besides the base part. */
typedef struct la_node_class {
    const char *name;
    /* Gradients of the inputs from those of the outputs (NULL entries: none).
    ** Results are owned; entries that edges don't need may stay NULL. */
    la_status (*run)(la_node *n, la_tensor **grads, la_tensor **out);
    void (*clear)(la_node *n);   /* free saved values; may run twice */
    void (*destroy)(la_node *n); /* the rest, when the node dies */
    /* Gives la_visit_node what the class's part holds; NULL: nothing. */
    void (*visit)(const la_node *n, struct la_visitor *v);
} la_node_class;

/* Whoever walks over the references that graphs hold: each one is given to a
** function once. */
typedef struct la_visitor {
    void (*tensor)(struct la_visitor *v, la_tensor *t);
    void (*node)(struct la_visitor *v, la_node *n);
    void (*hook)(struct la_visitor *v, const la_hook *h);
} la_visitor;
/* Counted references alone: no borrowed ones. No recursion. */
void la_visit_tensor(const la_tensor *t, la_visitor *v);
void la_visit_node(la_node *n, la_visitor *v);
void la_visit_saved(const la_saved *s, la_visitor *v);

/* The number that this thread's next node will have. */
uint64_t la_node_sequence(void);

struct la_node {
    _Atomic int32_t refs;
    int32_t nedges, noutputs;
    uint32_t bytes, extra;      /* of the block; where the class's part is */
    const la_node_class *class;
    uint64_t sequence;          /* later operations run first */
    la_edge *edges;             /* inside the block, as are the next three */
    la_output_meta *outputs;
    la_tensor **grads;          /* engine: what has arrived so far, owned */
    la_hook_list *hooks;        /* on outputs, before the node runs */
    uint64_t run;               /* engine: the backward call that is at it */
    int32_t waiting;            /* engine: nodes that still have to send */
    bool needed;                /* engine: on a path to a requested input */
    la_node *next;              /* engine's stack; the chain of release */
    char *trace;                /* anomaly mode: where it was recorded */
};

/* ---- nodes (node.c) ---- */

/* A node with 'extra' bytes of the class after the base part
** (la_node_extra). */
la_status la_node_new(const la_node_class *class, int nedges, int noutputs,
                      size_t extra, la_node **out);
static inline void *la_node_extra(la_node *n) { return (char *)n + n->extra; }
static inline la_node *la_node_retain(la_node *n)
{
    la_take_ref(&n->refs);
    return n;
}
void la_node_release(la_node *n);      /* iterative; NULL is allowed */
/* Output k of 'n' looks like 't'. */
la_status la_node_output(la_node *n, int k, const la_tensor *t);
/* The edge that a gradient of 't' takes: its fn, its accumulator, or none. */
la_status la_gradient_edge(la_tensor *t, la_edge *out);
la_status la_meta_of(la_tensor *t, la_grad_meta **out);  /* new if missing */

/* Make 't' output 'slot' of 'n' (retains n). */
la_status la_set_history(la_tensor *t, la_node *n, int slot);
/* 't' was changed in place by 'n': t's history is n now, and when 't' is a
** view, its base's is too. */
la_status la_rebase_history(la_tensor *t, la_node *n, int slot);
/* LA_EGRAD when 't' may not be changed in place while recording. */
la_status la_check_inplace(la_tensor *t);
/* The node of t, made anew for a view whose root has changed; NULL for a leaf.
** Borrowed. */
la_status la_grad_fn_of(la_tensor *t, la_node **out, int *slot);

la_status la_saved_set(la_saved *s, la_tensor *t, bool is_result);
/* Owned. LA_EGRAD when it was changed in place since, or freed. */
la_status la_unsave(const la_saved *s, la_node *n, la_tensor **out);
void la_saved_clear(la_saved *s);

/* ---- leaves (leaf.c), backward (engine.c) ---- */

bool la_requires_grad(const la_tensor *t);
la_status la_require_grad(la_tensor *t, bool on);
/* Brings a view up to date first. */
la_status la_is_leaf(la_tensor *t, bool *leaf);
la_status la_retain_grad(la_tensor *t);
/* Takes over the context, also on failure. */
la_status la_register_hook(la_tensor *t, bool after, la_hook_fn run,
                           void *context, void (*release)(void *),
                           int64_t *id);
void la_remove_hook(la_tensor *t, int64_t id);
la_tensor *la_leaf_grad(const la_tensor *t);     /* borrowed or NULL */
la_status la_set_grad(la_tensor *t, la_tensor *grad);  /* NULL: none */

enum {
    LA_BW_RETAIN_GRAPH = 1, LA_BW_CREATE_GRAPH = 2, LA_BW_ALLOW_UNUSED = 4,
    LA_BW_ACCUMULATE = 8    /* into .grad, also of the requested inputs */
};
/* Run the graph of 'roots' with 'seeds' (NULL entry: ones, for one-element
** roots). inputs NULL: accumulate into all leaves; otherwise out[i] gets the
** gradient of inputs[i] (NULL when unused). */
la_status la_run_backward(int nroots, la_tensor **roots, la_tensor **seeds,
                      int ninputs, la_tensor **inputs, la_tensor **out,
                      uint32_t flags);

/* Recording on or off for this context; returns what it was. */
bool la_switch_grad(bool on);
bool la_grad_enabled(void);
/* Anomaly mode is on where the context has a function 'where': it writes the
** script's line of the running call, a text of la_mem_alloc with its NUL in the
** last byte, or NULL. */

/* Events that a recorder of programs hears of, on a context that has one; set
** by src/program. A leaf's gradient is looked at, or is about to be added to;
** becomes another tensor (NULL: none); a leaf begins or ends to record; a
** backward pass ran. */
typedef struct la_grad_watch {
    void (*asked)(la_tensor *leaf);
    void (*set)(la_tensor *leaf, la_tensor *grad);
    void (*required)(la_tensor *leaf, bool on);
    void (*ran)(uint32_t flags);
} la_grad_watch;
extern la_grad_watch la_grad_watched;

/* Connects the dispatcher; called when a state opens, idempotent. */
void la_grad_init(void);

/* The tensor becomes a leaf without history, hooks or accumulator. */
void la_forget_history(la_tensor *t);

#endif
