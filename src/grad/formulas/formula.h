/*
** The node of a recorded operation, and what its derivative formula may ask it.
**
** A formula is an expression of operation calls, written with the terms of
** formula_terms.h: R(mul, G, C(A(1))). It is a chain of calls (op/chain.h),
** so formulas need no checks of their own.
*/
#ifndef LA_GRAD_FORMULAS_FORMULA_H
#define LA_GRAD_FORMULAS_FORMULA_H

#include "grad/graph.h"
#include "op/chain.h"

typedef struct la_op_node {
    const la_op *op;
    const la_grad_rule *rule;
    uint32_t wanted;            /* arguments whose gradient is asked for */
    uint32_t saves;             /* what 'saved' holds, in bit order */
    int nargs, nsaved;
    la_value *args;             /* copies; tensors are not among them */
    la_saved *saved;
    la_saved *list;             /* a saved list of tensors */
    int64_t nlist;
    int64_t *sizes;             /* cat: sizes of the list along its dim */
} la_op_node;

/* The node before the call; 'wanted' decides what rows will run. */
la_status la_op_node_new(const la_frame *f, const la_grad_rule *r, int nedges,
                         uint32_t wanted, la_node **out);
/* Keep what the rows will read. An in-place call keeps a clone of self. */
la_status la_op_node_save_args(la_node *n, const la_frame *f, bool inplace);
la_status la_op_node_outputs(la_node *n, int count);
la_status la_op_node_save_results(la_node *n, const la_frame *f);

struct la_formula {
    la_node *node;
    la_op_node *op;
    la_tensor **grads;
    int ngrads;
    uint32_t wanted;            /* of op->wanted, what this run needs */
    la_chain w;
    /* Lists that a row builds for a call. They are here because thread-local
    ** memory is scarce in a library that is loaded late. */
    int64_t ints[2 * LA_MAX_DIMS];
    la_tensor *members[LA_MAX_DIMS];
};

/* ---- what formulas call; 'x' is the formula ---- */

la_tensor *la_x_grad(la_formula *x, int k);       /* zeros if none came */
bool la_x_has_grad(const la_formula *x, int k);   /* did one come? */
la_tensor *la_x_arg(la_formula *x, int k);        /* a saved argument */
la_tensor *la_x_result(la_formula *x, int k);     /* a saved result */
la_tensor *la_x_member(la_formula *x, int64_t i); /* of the saved list */
la_value la_x_value(la_formula *x, int k);        /* an argument by value */
la_tensor *la_x_conj(la_formula *x, la_tensor *t);   /* t itself when real */
/* Zeros of argument k's shape and the gradient's dtype. */
la_tensor *la_x_zeros(la_formula *x, int k);
/* Does this run need the gradient of argument k (of a list: of any member), or
** of edge e? Not when la.grad asks for other inputs alone. */
bool la_x_wants(const la_formula *x, int k);
bool la_x_wants_edge(const la_formula *x, int64_t e);
/* 'g' (borrowed; NULL: none) as the gradient of argument k, if it is wanted:
** for functions of ALL rows, whose 'out' is indexed by the node's edges. */
void la_x_set(la_formula *x, la_tensor **out, int k, la_tensor *g);
/* The entry of 'out' that argument k has. */
la_tensor **la_x_slot(const la_formula *x, la_tensor **out, int k);
/* Was saved argument k given as a number? */
bool la_x_is_number(const la_formula *x, int k);
/* Is the tensor of argument k a result of that operation? */
bool la_x_result_of(const la_formula *x, int k, const la_op *op);
/* Sizes / dtype of argument k as it was; needs a wanted argument. */
const la_output_meta *la_x_meta(la_formula *x, int k, int64_t member);
la_value la_x_sizes(la_formula *x, int k);
int la_x_ndim(la_formula *x, int k);
/* 'g' on the device of input k; meta's stays, as it has no values to bring. */
la_tensor *la_x_on_device(la_formula *x, la_tensor *g, int k);

#endif
