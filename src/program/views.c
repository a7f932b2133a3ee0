/* The pass 'views': calls that only make views of their arguments need not run,
** as what reads their results knows the geometry. Left out, they run, but those
** that change the geometry of a tensor: its forms have the new one already. */
#include "program/passes.h"

#include "op/op.h"

la_status la_prog_pass_views(la_prog *p, la_prog_pass_note *note)
{
    for (int32_t i = 0; i < p->steps.n && !p->live; i++) {
        la_prog_step *s = la_prog_step_at(p, i);
        if (s->kind != LA_STEP_CALL || !s->alias) continue;
        if (note->left_out && !(s->op->forms & LA_METADATA)) s->alias = false;
        else note->count++;
    }
    return LA_OK;
}
