/* Operations from outside: registering, running and withdrawing them. */
#include "op/host/hosted.h"

#include <stdatomic.h>

#include "base/runtime/host_call.h"
#include "base/os/thread.h"
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "op/op.h"

/* ---- running ---- */

/* The host's functions that this thread is inside, innermost first. */
typedef struct visit {
    la_hosted *row;
    struct visit *outer;
} visit;
static _Thread_local visit *innermost;

bool la_op_withdrawn(const la_op *op)
{
    la_hosted *h = la_hosted_of(op);
    return h && atomic_load(&h->withdrawn);
}

static la_status withdrawn_error(const la_op *op)
{
    return la_error(LA_ESTATE, "operation '%.*s' was withdrawn",
                    (int)la_op_name_length(op), op->signature);
}

la_status la_op_usable(const la_op *op)
{
    la_hosted *h = la_hosted_of(op);
    if (!h) return LA_OK;
    if (atomic_load(&h->withdrawn)) return withdrawn_error(op);
    return h->runtime == la_runtime_here() ? LA_OK
        : la_error(LA_EARG, "the operation belongs to another runtime");
}

/* A host may return anything: what is no status of ours, or has no text, is
** LA_EARG. */
static la_status read_status(int status)
{
    if (status == LA_OK) return LA_OK;
    if (la_error_status() && status == (int)la_error_status())
        return la_error_status();
    return la_error(LA_EARG, "the host's kernel failed (%d)", status);
}

/* The innermost call of a kernel on this thread. */
static _Thread_local const la_host_call *kernel_call;

static la_status call_host(la_frame *f, la_kernel fn)
{
    la_host_call call;
    const la_host_call *outer = kernel_call;
    la_host_begin(&call);
    kernel_call = &call;
    int status = fn(f);
    kernel_call = outer;
    return read_status(la_host_end_with(&call, status));
}

la_passage la_enter_kernel_call(void)
{
    la_passage before = {la_current_context, la_here, la_fp_current()};
    if (kernel_call) la_leave_context(&kernel_call->before);
    return before;
}

/* A host's function of an operation of the library is in no count: nobody
** withdraws it. The count rises before the mark is looked at, and whoever
** withdraws sets the mark before looking at the count: one of the two sees the
** other. */
static la_status visit_host(la_frame *f, la_kernel fn)
{
    la_hosted *h = la_hosted_of(f->op);
    if (!h) return call_host(f, fn);
    visit here = {h, innermost};
    la_status status;
    atomic_fetch_add(&h->inside, 1);
    innermost = &here;
    if (atomic_load(&h->withdrawn)) status = withdrawn_error(f->op);
    else status = call_host(f, fn);
    innermost = here.outer;
    atomic_fetch_sub(&h->inside, 1);
    return status;
}

/* Whoever called it counts on every tensor that the schema names. In place and
** with out= they are there already. */
static la_status check_results(const la_frame *f)
{
    const la_schema *s = la_schema_of(f->op);
    if (f->form != LA_FUNCTIONAL || (f->op->forms & LA_MUTATES)) return LA_OK;
    for (int k = 0; k < s->nresults; k++)
        if (s->results[k] == LA_VTENSOR && f->results[k].tag != LA_VTENSOR)
            return la_error(LA_EARG, "the host's kernel made no result %d",
                            k + 1);
    return LA_OK;
}

la_status la_hosted_kernel(la_frame *f, la_op_fn fn)
{
    LA_TRY(visit_host(f, (la_kernel)fn));
    return check_results(f);
}

/* A function that is alone computes, too, and would read what a meta tensor has
** not. */
static la_status run_shape(la_frame *f)
{
    la_hosted *h = la_hosted_of(f->op);
    if (!h->fill && (f->keys >> LA_KEY_META & 1))
        return la_error(LA_EKEY, "there is no kernel of '%s' for device 'meta'",
                        f->op->name);
    LA_TRY(visit_host(f, h->shape));
    return h->fill ? LA_OK : check_results(f);
}

static la_status run_fill(la_frame *f)
{
    LA_TRY(visit_host(f, la_hosted_of(f->op)->fill));
    return check_results(f);
}

/* ---- registering ---- */

/* Texts stand behind the row: signature, doc, name, and a second signature for
** the schema to point into. */
static la_hosted *new_row(const char *schema, const char *doc, char **parsed)
{
    size_t n = strlen(schema) + 1, m = strlen(doc) + 1;
    size_t word = strcspn(schema, "(");
    size_t bytes = sizeof(la_hosted) + 2 * n + m + word + 1;
    la_hosted *row = la_raw_alloc(la_runtime_here(), bytes);
    if (!row) {
        la_error(LA_ENOMEM, "no memory for the operation");
        return NULL;
    }
    char *text = (char *)(row + 1);
    row->bytes = bytes;
    row->op.signature = memcpy(text, schema, n);
    row->op.doc = memcpy(text + n, doc, m);
    row->op.name = memcpy(text + n + m, schema, word);
    *parsed = memcpy(text + n + m + word + 1, schema, n);
    return row;
}

/* Texts that are defaults end with NUL, not with a quote: la_frame_any. */
static void end_texts(la_schema *s)
{
    for (int k = 0; k < s->nparams; k++) {
        la_value *v = &s->params[k].fallback;
        if (v->tag == LA_VSTR) ((char *)v->str.text)[v->str.n] = '\0';
    }
}

static void fill_row(la_hosted *row, const la_op_def *def)
{
    row->op.forms = LA_ANY;
    row->op.dtypes = LA_ANY_DTYPE;
    row->op.meta = def->shape ? run_shape : NULL;
    row->op.impl = def->fill ? run_fill : NULL;
    row->op.state = &row->state;
    row->state.schema = &row->schema;
    row->state.calls[0] = (la_callable){&row->op, false};
    row->state.calls[1] = (la_callable){&row->op, true};
    row->runtime = la_runtime_here();
    row->shape = def->shape;
    row->fill = def->fill;
    row->user = def->user;
    row->drop = def->drop;
}

/* la_frame_output makes tensors and nothing else. Overloads are for operations
** of one name, of which a host's has one. */
static la_status check_schema(const la_op *op, const la_schema *s)
{
    if (op->signature[la_op_name_length(op)] == '.')
        return la_error(LA_EARG, "a name without a dot expected, got '%.60s'",
                        op->name);
    for (int k = 0; k < s->nresults; k++)
        if (s->results[k] != LA_VTENSOR)
            return la_error(LA_EARG, "result %d is no Tensor", k + 1);
    return LA_OK;
}

/* LA_ESTATE for a name that means something already: of an operation, of its
** form in place, or one that 'is_known' knows. */
static la_status check_name(const la_op *op, la_name_test is_known)
{
    size_t n = la_op_name_length(op);
    if (la_op_first(op->name, n) || la_op_callable(op->name, n))
        return la_error(LA_ESTATE, "operation '%s' exists already", op->name);
    return !is_known(op->name, n) ? LA_OK
        : la_error(LA_ESTATE, "'%s' exists already: it is no operation, but a "
                   "name of the library", op->name);
}

/* The first index that is free, or held by a row that was withdrawn. The lock
** is held. */
static la_status add_row(la_op_table *t, la_hosted *row, la_name_test is_known)
{
    int k = 0, used = atomic_load(&t->nrows);
    LA_TRY(check_name(&row->op, is_known));
    while (k < used && !atomic_load(&atomic_load(&t->rows[k])->withdrawn)) k++;
    if (k == LA_MOST_HOSTED)
        return la_error(LA_ENOMEM, "at most %d operations can be added",
                        LA_MOST_HOSTED);
    row->op.id = la_op_builtin() + k;
    row->older = t->newest;
    t->newest = row;
    atomic_store(&t->rows[k], row);
    if (k == used) atomic_store(&t->nrows, k + 1);
    return LA_OK;
}

la_status la_op_register(const la_op_def *def, la_name_test is_known,
                         const la_op **out)
{
    char *parsed;
    if (!def->schema || (!def->shape && !def->fill))
        return la_error(LA_EARG, "a schema and a kernel are needed");
    la_op_table *t = la_need_table();
    const char *schema = def->schema + strspn(def->schema, " \t\r\n");
    la_hosted *row = t ? new_row(schema, def->doc ? def->doc : "", &parsed)
                       : NULL;
    if (!row) return LA_ENOMEM;
    fill_row(row, def);
    la_status status = la_schema_parse(parsed, &row->schema);
    if (!status) status = check_schema(&row->op, &row->schema);
    if (!status) {
        end_texts(&row->schema);
        la_lock_tables();
        status = add_row(t, row, is_known);
        la_unlock_tables();
    }
    if (status) la_raw_free(la_runtime_here(), row, row->bytes);
    else *out = &row->op;
    return status;
}

/* ---- withdrawing ---- */

static bool is_inside(const la_hosted *h)
{
    for (const visit *v = innermost; v; v = v->outer)
        if (v->row == h) return true;
    return false;
}

static void hosted_drop(const la_hosted *h)
{
    la_host_call call;
    if (!h->drop) return;
    la_host_begin(&call);
    h->drop(h->user);
    la_host_end(&call);
}

la_status la_op_withdraw(const la_op *op)
{
    la_hosted *h = la_hosted_of(op);
    int n = (int)la_op_name_length(op);
    if (!h)
        return la_error(LA_ESTATE, "operation '%.*s' is built in", n,
                        op->signature);
    if (is_inside(h))
        return la_error(LA_ESTATE, "operation '%.*s' cannot be withdrawn from "
                        "inside itself", n, op->signature);
    if (atomic_exchange(&h->withdrawn, true)) return withdrawn_error(op);
    while (atomic_load(&h->inside)) la_thread_nap(20000);
    hosted_drop(h);
    return LA_OK;
}

void la_hosted_drop(la_runtime *rt, la_op_table *t)
{
    for (la_hosted *h = t->newest; h; h = h->older)
        if (!atomic_exchange(&h->withdrawn, true)) hosted_drop(h);
    while (t->newest) {
        la_hosted *h = t->newest;
        t->newest = h->older;
        la_raw_free(rt, h, h->bytes);
    }
}
