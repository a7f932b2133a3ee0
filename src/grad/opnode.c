/*
** Nodes of operations: what they save of a call, and how a formula reads it.
**
** A node keeps the tensors that its rows will read (with their versions), the
** other arguments by value, and sizes of inputs and outputs. Temporaries of a
** formula live until the row has run.
*/
#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "grad/formulas/formula.h"
#include "op/call.h"
#include "op/op.h"
#include "op/schema.h"
#include "tensor/scalar.h"

static la_status opnode_run(la_node *n, la_tensor **grads, la_tensor **out);
static void opnode_clear(la_node *n);
static void opnode_destroy(la_node *n);
static void opnode_visit(const la_node *n, la_visitor *v);

static const la_node_class class_operation =
    {"Operation", opnode_run, opnode_clear, opnode_destroy,
                                              opnode_visit};

bool la_is_op_node(const la_node *n) { return n->class == &class_operation; }

/* ---- used up ---- */

/* Has a pass freed values of this node, that a second one would miss? */
static bool opnode_is_spent(const la_node *n)
{
    if (!n->run) return false;
    const la_node *inner = la_slices_inner(n);
    if (inner) n = inner;       /* what it saved is freed with the slices */
    if (n->class != &class_operation) return n->class->clear != NULL;
    const la_op_node *o = la_node_extra((la_node *)n);
    for (int k = 0; k < o->nsaved; k++)
        if (!o->saved[k].data) return true;
    return false;
}

bool la_history_is_spent(const la_node *n)
{
    enum { MOST = 64 };         /* of a longer one it is taken for granted */
    const la_node *list[MOST];
    int count = 1;
    list[0] = n;
    for (int i = 0; i < count; i++) {
        if (opnode_is_spent(list[i])) return true;
        for (int e = 0; e < list[i]->nedges; e++) {
            const la_node *from = list[i]->edges[e].node;
            if (!from || !from->nedges) continue;
            if (count == MOST) return true;
            list[count++] = from;
        }
    }
    return false;
}

/* ---- keeping ---- */

/* False without memory; the list is empty then. */
static bool copy_ints(la_value *v)
{
    size_t bytes = (size_t)v->ints.n * sizeof(int64_t);
    int64_t *list = bytes ? la_mem_alloc(bytes) : NULL;
    if (list) memcpy(list, v->ints.list, bytes);
    if (bytes && !list) v->ints.n = 0;
    v->ints.list = list;
    return !bytes || list;
}

/* Text arguments are one of the schemas' words; the node refers to this table,
** so that nothing points into a Lua string, which may be collected. */
static void opnode_copy_text(la_value *v)
{
    static const char *const words[] = {"trunc", "floor", "none", "tanh",
        "sum", "mean", "prod", "amax", "amin", "constant", "reflect",
        "replicate", "circular", "linear", "lower", "higher", "nearest",
        "midpoint", "left", "right", "bilinear", "bicubic", "area", "zeros",
        "border", "reflection", "same", "valid", "ij", "xy"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (la_str_is(v, words[i])) {
            v->str.text = words[i];
            return;
        }
    v->tag = LA_VNONE;
}

/* Tensors are not copied here: those that are needed are saved with
** versions. */
static inline bool copy_value(la_value *to, const la_value *from)
{
    if (from->tag == LA_VTENSOR) {      /* the rest is zero */
        to->tag = LA_VTENSOR;
        return true;
    }
    *to = *from;
    if (from->tag == LA_VTENSORS) to->tensors.list = NULL;
    if (from->tag == LA_VSTR) opnode_copy_text(to);
    if (from->tag == LA_VPOINTER) to->pointer = NULL;
    return (from->tag != LA_VINTS && from->tag != LA_VFLOATS) || copy_ints(to);
}

/* Few are set, and the plain CPU level has no instruction for it. */
static inline int opnode_count_bits(uint32_t set)
{
    int n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

/* One block: node, la_op_node, arguments, saved values. */
la_status la_op_node_new(const la_frame *f, const la_grad_rule *r, int nedges,
                         uint32_t wanted, la_node **out)
{
    int nsaved = 0, nout = la_schema_of(f->op)->nresults;
    uint32_t saves = la_saves_of(r, wanted);
    nsaved = opnode_count_bits(saves);
    size_t extra = sizeof(la_op_node) + (size_t)f->nargs * sizeof(la_value)
        + (size_t)nsaved * sizeof(la_saved);
    LA_TRY(la_node_new(&class_operation, nedges, nout, extra, out));
    la_op_node *o = la_node_extra(*out);
    if (la_anomaly_on()) (*out)->trace = la_anomaly_where();
    o->op = f->op;
    o->rule = r;
    o->wanted = wanted;
    o->saves = saves;
    o->nargs = f->nargs;
    o->nsaved = nsaved;
    o->args = (la_value *)(o + 1);
    o->saved = (la_saved *)(o->args + f->nargs);
    for (int k = 0; k < f->nargs; k++)
        if (!copy_value(&o->args[k], &f->args[k])) {
            la_node_release(*out);
            *out = NULL;
            return LA_ENOMEM;
        }
    return LA_OK;
}

/* The saved value that bit 'bit' stands for: they are stored in bit order. */
static la_saved *opnode_slot_of(la_op_node *o, int bit)
{
    return &o->saved[opnode_count_bits(o->saves & ((1u << bit) - 1))];
}

/* All members of a list of tensors (index tensors). */
static la_status save_list(la_op_node *o, const la_value *v)
{
    int64_t bytes;
    if (!la_mul_ok(v->tensors.n, sizeof(la_saved), &bytes)) return LA_ENOMEM;
    o->list = la_mem_zalloc(bytes ? (size_t)bytes : 1);
    if (!o->list) return LA_ENOMEM;
    o->nlist = v->tensors.n;
    for (int64_t i = 0; i < o->nlist; i++)
        if (v->tensors.list[i])
            LA_TRY(la_saved_set(&o->list[i], v->tensors.list[i], false));
    return LA_OK;
}

/* An in-place call: a clone of the values before the change, with the history
** that they had. */
static la_status save_self(la_saved *s, la_tensor *self)
{
    la_tensor *copy = NULL;
    la_context *c = la_ctx();
    bool before = c->no_grad;
    c->no_grad = true;
    la_status status = la_run(clone, &copy, self);
    c->no_grad = before;
    if (!status) status = la_saved_set(s, copy, false);
    if (copy) la_tensor_release(copy);
    la_node *fn = NULL;
    if (!status) status = la_grad_fn_of(self, &fn, &s->slot);
    if (!status && fn) s->fn = la_node_retain(fn);
    return status;
}

/* A list joined along a dim: the formula needs every member's size there. An
** empty vector takes no part in a join of other ranks. */
static la_status save_sizes(la_op_node *o, const la_frame *f)
{
    const la_value *v = &f->args[0];
    if (f->nargs < 2 || f->args[1].tag != LA_VINT) return LA_OK;
    size_t n = (size_t)v->tensors.n;
    o->sizes = la_mem_zalloc((n ? n : 1) * sizeof(int64_t));
    if (!o->sizes) return LA_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const la_tensor *t = v->tensors.list[i];
        int64_t d = f->args[1].i;
        if (d < 0) d += t->ndim;
        if (d >= 0 && d < t->ndim) o->sizes[i] = la_sizes(t)[d];
    }
    return LA_OK;
}

/* Saved values in the order of the bits of 'saves'. */
la_status la_op_node_save_args(la_node *n, const la_frame *f, bool inplace)
{
    la_op_node *o = la_node_extra(n);
    uint32_t saves = o->saves & 0xffff;
    if (f->nargs > 0 && f->args[0].tag == LA_VTENSORS)
        LA_TRY(save_sizes(o, f));
    la_saved *s = o->saved;
    for (int k = 0; saves >> k; k++) {
        const la_value *v = &f->args[k];
        if (!(saves >> k & 1)) continue;
        if (v->tag == LA_VTENSORS) LA_TRY(save_list(o, v));
        else if (v->tag == LA_VTENSOR) {
            bool self = inplace && v->tensor == f->outs[0];
            LA_TRY(self ? save_self(s, v->tensor)
                        : la_saved_set(s, v->tensor, false));
        }
        s++;
    }
    return LA_OK;
}

/* Lists of results are longer than the schema says. */
la_status la_op_node_outputs(la_node *n, int count)
{
    if (count <= n->noutputs) return LA_OK;
    size_t meta = (size_t)count * sizeof(la_output_meta);
    size_t grads = (size_t)count * sizeof(la_tensor *);
    la_output_meta *o = la_mem_zalloc(meta);
    la_tensor **g = o ? la_mem_zalloc(grads) : NULL;
    if (!g) {
        if (o) la_mem_free(o, meta);
        return LA_ENOMEM;
    }
    n->outputs = o;
    n->grads = g;
    n->noutputs = count;
    return LA_OK;
}

/* Saves aliases without history: a node must not own itself. */
la_status la_op_node_save_results(la_node *n, const la_frame *f)
{
    la_op_node *o = la_node_extra(n);
    if (!(o->saves >> 16)) return LA_OK;
    for (int k = 0; k < f->nresults; k++)
        if ((o->saves >> (16 + k) & 1) && f->results[k].tag == LA_VTENSOR) {
            la_saved *s = opnode_slot_of(o, 16 + k);
            LA_TRY(la_saved_set(s, f->results[k].tensor, true));
            s->slot = k;
            s->fn = la_slices_around(f->results[k].tensor, n);
        }
    return LA_OK;
}

/* Frees what is saved; may run twice. */
static void opnode_clear(la_node *n)
{
    la_op_node *o = la_node_extra(n);
    for (int k = 0; k < o->nsaved; k++) la_saved_clear(&o->saved[k]);
    for (int64_t i = 0; i < o->nlist; i++) la_saved_clear(&o->list[i]);
    size_t bytes = o->nlist ? (size_t)o->nlist * sizeof(la_saved) : 1;
    if (o->list) la_mem_free(o->list, bytes);
    o->list = NULL;
    o->nlist = 0;
}

static void opnode_visit(const la_node *n, la_visitor *v)
{
    const la_op_node *o = la_node_extra((la_node *)n);
    for (int k = 0; k < o->nsaved; k++) la_visit_saved(&o->saved[k], v);
    for (int64_t i = 0; i < o->nlist; i++) la_visit_saved(&o->list[i], v);
}

/* The rest, when the node dies. */
static void opnode_destroy(la_node *n)
{
    la_op_node *o = la_node_extra(n);
    int64_t members = o->args[0].tag == LA_VTENSORS ? o->args[0].tensors.n : 0;
    if (o->sizes)
        la_mem_free(o->sizes, (size_t)(members ? members : 1)
                    * sizeof(int64_t));
    for (int k = 0; k < o->nargs; k++) {
        la_value *v = &o->args[k];
        if ((v->tag == LA_VINTS || v->tag == LA_VFLOATS) && v->ints.n > 0)
            la_mem_free((void *)v->ints.list,
                        (size_t)v->ints.n * sizeof(int64_t));
    }
}

/* ---- reading ---- */

bool la_x_has_grad(const la_formula *x, int k)
{
    return k < x->ngrads && x->grads[k];
}

/* Zeros stand for a result whose gradient never arrived. */
la_tensor *la_x_grad(la_formula *x, int k)
{
    if (x->w.status) return NULL;
    if (la_x_has_grad(x, k)) return x->grads[k];
    const la_output_meta *o = &x->node->outputs[k];
    la_tensor *zero = NULL;
    la_status status = la_run(zeros, &zero, la_v_ints(o->sizes, o->ndim),
                              la_v_dtype((la_dtype)o->dtype));
    return la_chain_take(&x->w, status, zero);
}

/* The saved tensor with its history. */
static la_tensor *unsave(la_formula *x, const la_saved *s)
{
    la_tensor *t = NULL;
    if (x->w.status) return NULL;
    la_status status = la_unsave(s, x->node, &t);
    return la_chain_take(&x->w, status, t);
}

/* A wrapped scalar promotes as the default dtype: log(1/3) of a formula would
** be float32. Where the result is float64 it becomes a tensor of that dtype. */
static la_tensor *in_full(la_formula *x, la_tensor *t)
{
    la_dtype d = (la_dtype)x->node->outputs[0].dtype, to = LA_FLOAT64;
    la_tensor *out = NULL;
    if (!t || !(t->flags & LA_F_WRAPPED) || t->dtype == LA_BOOL
        || (d != LA_FLOAT64 && d != LA_COMPLEX128))
        return t;
    if (la_is_complex((la_dtype)t->dtype)) to = LA_COMPLEX128;
    la_scalar s = la_scalar_load((la_dtype)t->dtype, la_data(t));
    la_status status = la_tensor_empty(0, NULL, to, &out);
    if (status) return la_chain_fail(&x->w, status);
    la_scalar_cast(&s, to, la_data(out));
    return la_chain_own(&x->w, out);
}

/* nil arguments were not saved and read as NULL, which is nil again. */
la_tensor *la_x_arg(la_formula *x, int k)
{
    if (x->op->args[k].tag != LA_VTENSOR) return NULL;
    return in_full(x, unsave(x, opnode_slot_of(x->op, k)));
}

la_tensor *la_x_result(la_formula *x, int k)
{
    return unsave(x, opnode_slot_of(x->op, 16 + k));
}

/* NULL for an index that is nil (a full slice). */
la_tensor *la_x_member(la_formula *x, int64_t i)
{
    if (i >= x->op->nlist)
        return la_chain_fail(&x->w, la_error(LA_EGRAD,
                                             "saved values were freed"));
    return x->op->list[i].data ? unsave(x, &x->op->list[i]) : NULL;
}

la_value la_x_value(la_formula *x, int k) { return x->op->args[k]; }

la_tensor *la_x_conj(la_formula *x, la_tensor *t)
{
    if (!t || !la_is_complex((la_dtype)t->dtype)) return t;
    return la_chain_call(&x->w, LA_OP(conj), 1, (la_value[]){la_v_tensor(t)});
}

/* The shape is known from the edge, so the argument need not be saved. */
la_tensor *la_x_zeros(la_formula *x, int k)
{
    la_tensor *zero = NULL;
    const la_output_meta *o = la_x_meta(x, k, 0);
    if (x->w.status) return NULL;
    la_status status = la_run(zeros, &zero, la_v_ints(o->sizes, o->ndim),
                              la_v_dtype((la_dtype)x->node->outputs[0].dtype));
    return la_chain_take(&x->w, status, zero);
}

bool la_x_is_number(const la_formula *x, int k)
{
    if (x->op->args[k].tag != LA_VTENSOR) return false;
    const la_tensor *t = opnode_slot_of(x->op, k)->data;
    return t && t->flags & LA_F_WRAPPED;
}

bool la_x_wants(const la_formula *x, int k) { return x->wanted >> k & 1; }

/* A run marks the nodes that lead to the requested inputs. One that runs inside
** of another (CopySlices) is in no run itself: all of it is needed. */
static bool is_needed(const la_node *n, int64_t e)
{
    const la_node *to = n->edges[e].node;
    return to && (to->needed || !n->run);
}

bool la_x_wants_edge(const la_formula *x, int64_t e)
{
    return is_needed(x->node, e);
}

/* The first edge of argument k. */
static int edge_of(const la_formula *x, int k)
{
    int e = 0;
    for (int i = 0; i < k; i++) {
        const la_value *v = &x->op->args[i];
        if (v->tag == LA_VTENSOR) e++;
        if (v->tag == LA_VTENSORS) e += (int)v->tensors.n;
    }
    return e;
}

/* Edges count every tensor of the call, lists with all their members. */
la_tensor **la_x_slot(const la_formula *x, la_tensor **out, int k)
{
    return out + edge_of(x, k);
}

void la_x_set(la_formula *x, la_tensor **out, int k, la_tensor *g)
{
    if (!g || x->w.status || !la_x_wants(x, k)) return;
    *la_x_slot(x, out, k) = la_tensor_retain(g);
}

bool la_x_result_of(const la_formula *x, int k, const la_op *op)
{
    la_node *n = x->node->edges[edge_of(x, k)].node;
    return n && n->class == &class_operation
        && ((la_op_node *)la_node_extra(n))->op == op;
}

/* Description that the node of the input has of its output; a 0-dim float32 for
** inputs without an edge. */
const la_output_meta *la_x_meta(la_formula *x, int k, int64_t member)
{
    static const la_output_meta none = {.dtype = LA_FLOAT32};
    const la_edge *e = &x->node->edges[edge_of(x, k) + member];
    return e->node ? &e->node->outputs[e->slot] : &none;
}

la_value la_x_sizes(la_formula *x, int k)
{
    const la_output_meta *o = la_x_meta(x, k, 0);
    return la_v_ints(o->sizes, o->ndim);
}

int la_x_ndim(la_formula *x, int k) { return la_x_meta(x, k, 0)->ndim; }

la_tensor *la_x_on_device(la_formula *x, la_tensor *g, int k)
{
    la_tensor *there = NULL;
    la_device want = (la_device)la_x_meta(x, k, 0)->device;
    if (!g || g->device == want || g->device == LA_META) return g;
    la_status status = la_run(to_device, &there, g, la_v_device(want));
    return la_chain_take(&x->w, status, there);
}

/* ---- running ---- */

/* The rows whose argument's gradient is wanted. */
static la_status opnode_run_rows(la_formula *x, la_tensor **out)
{
    const la_grad_rule *r = x->op->rule;
    for (int k = 0; k < r->nrows; k++) {
        int arg = r->rows[k].arg;
        if (!la_x_wants(x, arg)) continue;
        la_tensor *g = r->rows[k].fn(x);
        if (x->w.status) return x->w.status;
        if (g) out[edge_of(x, arg)] = la_tensor_retain(g);
        la_chain_drop(&x->w);
    }
    return LA_OK;
}

/* The arguments whose gradients the run asks for: mostly all that were wanted
** when the call was recorded. */
static uint32_t needed_args(const la_node *n, const la_op_node *o)
{
    uint32_t needed = 0;
    int e = 0, all = 1;
    for (int i = 0; i < n->nedges && all; i++)
        all = !n->edges[i].node || is_needed(n, i);
    if (all) return o->wanted;
    for (int k = 0; k < o->nargs; k++) {
        const la_value *v = &o->args[k];
        int64_t members = v->tag == LA_VTENSOR ? 1
            : v->tag == LA_VTENSORS ? v->tensors.n : 0;
        for (; members > 0; members--, e++)
            if (is_needed(n, e)) needed |= 1u << k;
    }
    return o->wanted & needed;
}

/* Runs the rows, or the one function, of the operation. */
static la_status opnode_run(la_node *n, la_tensor **grads, la_tensor **out)
{
    la_formula x;       /* its lists stay as they are: zeroing 2 KB costs */
    x.node = n;
    x.op = la_node_extra(n);
    x.grads = grads;
    x.ngrads = n->noutputs;
    x.wanted = needed_args(n, x.op);
    x.w.status = LA_OK;
    x.w.n = 0;
    la_status status = x.op->rule->all ? x.op->rule->all(&x, out)
                                       : opnode_run_rows(&x, out);
    if (!status) status = x.w.status;
    la_chain_drop(&x.w);
    return status;
}

/* Name for messages: the operation, or the class of other nodes. */
const char *la_op_node_name(const la_node *n)
{
    if (n->class != &class_operation) return n->class->name;
    return ((la_op_node *)la_node_extra((la_node *)n))->op->name;
}
