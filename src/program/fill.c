/* The pass 'fill': calls that take no elements from a tensor, only its sizes,
** become calls without it. So what had made that tensor may be dead, and the
** filled one is a constant. */
#include "program/passes.h"

#include "op/create/create.h"
#include "op/op.h"
#include "tensor/shape.h"

/* Calls with a tensor, the calls with sizes, and the argument where the options
** begin. */
typedef struct fill_pair { const la_op *like, *sized; int first; } fill_pair;

/* The pair of the step's operation; all NULL: it is none of these. */
static fill_pair fill_of(const la_prog_step *s)
{
    const fill_pair pairs[] = {
        {LA_OP(zeros_like), LA_OP(zeros), 1},
        {LA_OP(ones_like), LA_OP(ones), 1},
        {LA_OP(full_like), LA_OP(full), 2}};
    for (int k = 0; k < 3; k++)
        if (pairs[k].like == s->op) return pairs[k];
    return (fill_pair){0};
}

/* The form of the result, where it is what the call with sizes makes; NULL. */
static const la_tensor *fill_form(const la_prog *p, const la_prog_step *s)
{
    if (s->kind != LA_STEP_CALL || s->form != LA_FUNCTIONAL || s->alias
        || s->nsources || s->results[0] < 0)
        return NULL;
    const la_prog_view *v = la_prog_view_at(p, s->results[0]);
    bool plain = la_is_row_major(v->form) && !v->form->names && v->bytes == 0;
    return plain ? v->form : NULL;
}

/* Makes zeros_like of a tensor zeros of its sizes, so that the tensor need not
** live until then. Sizes are a copy of the step's own. */
static la_status fill_step(la_prog_step *s, const fill_pair *pair,
                           const la_tensor *form)
{
    la_value sizes;
    int first = pair->first;
    la_value shape = la_v_ints(la_sizes(form), form->ndim);
    LA_TRY(la_prog_copy_value(&sizes, &shape));
    s->op = pair->sized;
    s->args[0] = sizes;         /* a tensor before, which nobody owns */
    s->views[0] = LA_PROG_NONE;
    s->args[first + LA_OPT_DTYPE] = la_v_dtype((la_dtype)form->dtype);
    s->args[first + LA_OPT_DEVICE] = la_v_device((la_device)form->device);
    s->args[first + LA_OPT_FORMAT] = la_v_none();
    s->pure = true;
    return LA_OK;
}

/* Leaves programs alone that autograd runs above: their steps are calls as they
** were made. */
la_status la_prog_pass_fill(la_prog *p, la_prog_pass_note *note)
{
    for (int32_t i = 0; i < p->steps.n && !p->live; i++) {
        la_prog_step *s = la_prog_step_at(p, i);
        const fill_pair pair = fill_of(s);
        const la_tensor *form = pair.like ? fill_form(p, s) : NULL;
        if (form) LA_TRY(fill_step(s, &pair, form));
        note->count += form != NULL;
    }
    return LA_OK;
}
