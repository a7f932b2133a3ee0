/* Declarations that the files of src/grad share beyond grad.h. */
#ifndef LA_GRAD_GRAPH_H
#define LA_GRAD_GRAPH_H

#include "grad/grad.h"
#include "op/frame.h"

/* Hooks in the order of registration (hooks.c). The one with the smallest id
** above 'after', valid until the list changes; NULL for none. Removal leaves
** hooks alone that run 'spared', and unknown ids are ignored. */
la_status la_hooks_add(la_hook_list **list, const la_hook *h);
const la_hook *la_hooks_after(const la_hook_list *l, int64_t after);
void la_hooks_remove(la_hook_list *l, int64_t id, la_hook_fn spared);
void la_hooks_free(la_hook_list *l);
la_status la_keep_on(la_grad_meta *m);      /* the hook of retain_grad */
void la_keep_off(la_grad_meta *m);
bool la_is_accumulator(const la_node *n);
void la_forget_leaf(la_node *accumulator, la_hook_list **hooks);
/* The leaf's hooks on the gradient that has arrived at its accumulator. */
la_status la_run_leaf_hooks(la_node *accumulator);
bool la_accumulator_waits(la_node *accumulator);
void la_grad_init_node(void);

/* Nobody else can see the memory of 't': one reference to it and its
** storage. */
bool la_exclusive(const la_tensor *t);
const char *la_node_name(const la_node *n);
const char *la_op_node_name(const la_node *n);
/* Made before its call runs, as nodes of operations are? That of a view of the
** storage, la_view_history, is made behind. */
bool la_is_op_node(const la_node *n);
/* The history of a view as a part of the storage of 'of': its root, or the view
** that it was made of. */
la_status la_view_history(la_tensor *view, la_tensor *of);
/* The CopySlices that runs 'n', by which the view 't' was just written, or
** NULL. Borrowed. */
la_node *la_slices_around(const la_tensor *t, const la_node *n);
/* The node that the CopySlices 'n' runs; NULL for others. Borrowed. */
const la_node *la_slices_inner(const la_node *n);
/* Result that such an 'n' left in the view: an alias of 'data' (owned) whose
** history is the view's part of the CopySlices 's'. The node itself runs inside
** of 's' and must not be an edge of anything: it would run, and free what it
** saved, twice. */
la_status la_written_result(la_node *s, la_tensor *data, la_tensor **out);
/* Did a pass free what another one through the history needs? */
bool la_history_is_spent(const la_node *n);
/* Text of anomaly mode for a new node, or NULL. */
char *la_anomaly_where(void);
bool la_anomaly_on(void);

/* A gradient brought to the form of an output: broadcasting is undone by
** summing, the dtype is converted. Takes over 'grad'. LA_EGRAD names the node
** that gave it and, where 'at' > 0, which of its gradients it is. */
la_status la_validate_grad(const la_output_meta *o, const char *name, int at,
                           la_tensor **grad);

/* ---- rules: what derivatives.def becomes ---- */

#define LA_MAX_EDGES 64         /* lists (cat, stack) are longer: own array */

typedef struct la_formula la_formula;
/* The gradient of one argument, borrowed; NULL: none. */
typedef la_tensor *(*la_grad_fn)(la_formula *x);

typedef struct la_grad_row {
    const la_op *op;
    int arg;                    /* which argument, from 0; of 'all' a bit set */
    uint32_t saves;             /* bit k: argument k; bit 16+k: result k */
    la_grad_fn fn;
    la_status (*all)(la_formula *x, la_tensor **out);
} la_grad_row;

/* One operation: a row per differentiable input, or one function for all that
** sets owned gradients at the indices of the edges. */
typedef struct la_grad_rule {
    const char *name;
    const la_grad_row *rows;
    int nrows;
    la_status (*all)(la_formula *x, la_tensor **out);
    uint32_t all_saves;
    uint32_t args;              /* all arguments that have a derivative */
} la_grad_rule;

/* Values to save when the gradients of 'wanted' will be asked for. */
static inline uint32_t la_saves_of(const la_grad_rule *r, uint32_t wanted)
{
    uint32_t saves = r->all_saves;
    for (int k = 0; k < r->nrows; k++)
        if (wanted >> r->rows[k].arg & 1) saves |= r->rows[k].saves;
    return saves;
}

void la_grad_bind(void);        /* connects the rows with the operations */

#endif
