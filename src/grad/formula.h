/*
** The node of an operation and the words of its derivative formulas.
**
** A formula is an expression of operation calls: R(mul, G, C(A(1))). Every
** intermediate result belongs to the formula and is released at its end; after
** a failure all further calls return NULL and the status is kept.
*/
#ifndef LA_GRAD_FORMULA_H
#define LA_GRAD_FORMULA_H

#include "grad/graph.h"

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
la_status la_op_node_save_args(la_node *n, const la_frame *f, bool in_place);
la_status la_op_node_outputs(la_node *n, int count);
la_status la_op_node_save_results(la_node *n, const la_frame *f);

#define LA_FORMULA_TEMPS 96
struct la_formula {
    la_node *node;
    la_op_node *op;
    la_tensor **grads;
    int ngrads;
    la_status status;
    int ntemps;
    la_tensor *temps[LA_FORMULA_TEMPS];
    /* Lists that a row makes up for a call. They are here because thread-local
    ** memory is scarce in a library that is loaded late. */
    int64_t numbers[2 * LA_MAX_DIMS];
    la_tensor *members[LA_MAX_DIMS];
};

/* ---- words; 'x' is the formula ---- */

la_tensor *la_x_run(la_formula *x, int op, int n, const la_value *args);
la_tensor *la_x_grad(la_formula *x, int k);       /* zeros if none came */
la_tensor *la_x_arg(la_formula *x, int k);        /* a saved argument */
la_tensor *la_x_result(la_formula *x, int k);     /* a saved result */
la_tensor *la_x_member(la_formula *x, int64_t i); /* of the saved list */
la_value la_x_value(la_formula *x, int k);        /* an argument by value */
la_tensor *la_x_conj(la_formula *x, la_tensor *t);   /* t itself when real */
la_tensor *la_x_own(la_formula *x, la_tensor *owned);
bool la_x_wants(const la_formula *x, int k);
/* Is the tensor of argument k a result of that operation? */
bool la_x_result_of(const la_formula *x, int k, int op);
/* Sizes / dtype of argument k as it was; needs a wanted argument. */
const la_output_meta *la_x_meta(la_formula *x, int k, int64_t member);
la_value la_x_sizes(la_formula *x, int k);
int la_x_ndim(la_formula *x, int k);
la_tensor *la_x_fail(la_formula *x, la_status status);

static inline la_value la_v_tensor(la_tensor *t) { return LA_T(t); }
static inline la_value la_v_int(int i) { return LA_I(i); }
static inline la_value la_v_int64(int64_t i) { return LA_I(i); }
static inline la_value la_v_float(double d)
{
    return LA_S(la_scalar_float(d));
}
static inline la_value la_v_bool(bool b) { return LA_B(b); }
static inline la_value la_v_scalar(la_scalar s) { return LA_S(s); }
static inline la_value la_v_value(la_value v) { return v; }
static inline la_value la_v_text(const char *s) { return LA_STR(s); }

/* A C value as an argument of an operation. */
#define LA_V(a) _Generic((a), la_tensor *: la_v_tensor, int: la_v_int, \
    int64_t: la_v_int64, double: la_v_float, float: la_v_float, \
    bool: la_v_bool, \
    la_scalar: la_v_scalar, la_value: la_v_value, char *: la_v_text, \
    const char *: la_v_text)(a)

#define LA_MAP1(a) LA_V(a)
#define LA_MAP2(a, ...) LA_V(a), LA_MAP1(__VA_ARGS__)
#define LA_MAP3(a, ...) LA_V(a), LA_MAP2(__VA_ARGS__)
#define LA_MAP4(a, ...) LA_V(a), LA_MAP3(__VA_ARGS__)
#define LA_MAP5(a, ...) LA_V(a), LA_MAP4(__VA_ARGS__)
#define LA_MAP6(a, ...) LA_V(a), LA_MAP5(__VA_ARGS__)
#define LA_MAP7(a, ...) LA_V(a), LA_MAP6(__VA_ARGS__)
#define LA_MAP8(a, ...) LA_V(a), LA_MAP7(__VA_ARGS__)
#define LA_PICK(_1, _2, _3, _4, _5, _6, _7, _8, NAME, ...) NAME
#define LA_MAP(...) LA_PICK(__VA_ARGS__, LA_MAP8, LA_MAP7, LA_MAP6, LA_MAP5, \
    LA_MAP4, LA_MAP3, LA_MAP2, LA_MAP1)(__VA_ARGS__)

#define R(name, ...) la_x_run(x, LA_OP_##name, \
    (int)(sizeof((la_value[]){LA_MAP(__VA_ARGS__)}) / sizeof(la_value)), \
    (const la_value[]){LA_MAP(__VA_ARGS__)})
#define G la_x_grad(x, 0)
#define GR(k) la_x_grad(x, k)
#define A(k) la_x_arg(x, k)
#define RES(k) la_x_result(x, k)
#define VAL(k) la_x_value(x, k)
#define C(t) la_x_conj(x, t)
#define SIZES(k) la_x_sizes(x, k)
#define SAVE(k) (1u << (k))
#define SAVE_R(k) (1u << (16 + (k)))

#endif
