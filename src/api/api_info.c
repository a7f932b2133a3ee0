/* The list of operations, for bindings of other languages (lunarray.h). */
#define LA_INTERNAL
#include "lunarray.h"

#include "api/api.h"
#include "op/op.h"

_Static_assert((int)LA_OP_FUNCTION == LA_FN && (int)LA_OP_METHOD == LA_METHOD
               && (int)LA_OP_INPLACE == LA_INPLACE_FORM
               && (int)LA_OP_OUT == LA_OUT_FORM, "forms of operations");

/* Has the row a form that users call, and is it the first of its name? */
static bool is_listed(const la_op *op)
{
    return (op->forms & LA_ALL) != 0
        && la_op_first(op->signature, la_op_name_length(op)) == op;
}

/* A walk for each call. Hosts list operations once, and an operation may be
** withdrawn between two calls. */
LA_API la_op *la_op_listed(int64_t i)
{
    LA_ENTRY_IN(la_runtime_chosen());
    for (int id = 0; i >= 0 && id < la_op_count(); id++) {
        const la_op *op = la_op_at(id);
        if (op && is_listed(op) && i-- == 0)
            return (la_op *)&op->state->calls[0];
    }
    return NULL;
}

/* Overloads of a row's name are a chain. */
static const la_op *overload_of(const la_op *op, int k)
{
    while (op && k-- > 0) op = op->state->next;
    return op;
}

/* The row behind a handle; NULL where there is none. */
static const la_op *row_of(const la_op *handle, int k)
{
    const la_callable *what = (const la_callable *)handle;
    return what && k >= 0 ? overload_of(what->op, k) : NULL;
}

LA_API const char *la_op_schema(const la_op *op, int overload)
{
    const la_op *row = row_of(op, overload);
    return row ? row->signature : NULL;
}

LA_API const char *la_op_doc(const la_op *op, int overload)
{
    const la_op *row = row_of(op, overload);
    return row ? row->doc : NULL;
}

LA_API unsigned la_op_forms(const la_op *op, int overload)
{
    const la_op *row = row_of(op, overload);
    return row ? row->forms & LA_ALL : 0;
}
