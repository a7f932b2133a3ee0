/* Bytes of a tensor that somebody outside points at. The storage is marked as
** lent, so that its bytes never move, and what reads them holds a reference of
** its own: the last reader may end on any thread, long after the tensor. */
#include "tensor/host/lend.h"

#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"

la_status la_tensor_hold(la_tensor *t, la_tensor **out)
{
    LA_TRY(la_tensor_alias(t, false, out));
    if ((*out)->storage)
        __atomic_fetch_or(&(*out)->storage->flags, LA_S_LENT, __ATOMIC_RELAXED);
    return LA_OK;
}

/* A la_release_fn: the last reader is gone, on any thread. */
static void lent_back(void *context, void *data)
{
    la_tensor *own = context;
    la_position before = la_move_to_owner(own->owner);
    la_tensor_release(own);
    la_move_back(&before);
}

la_status la_tensor_lend(la_tensor *t, la_tensor **out)
{
    la_tensor *own = NULL;
    LA_TRY(la_tensor_check_bounds(t));
    if (t->device != LA_CPU || !t->storage)
        return la_error(LA_EKEY, "the tensor has no data on the CPU");
    if (la_grad_flag(t))
        return la_error(LA_EGRAD, "the tensor requires grad, and graphs belong "
                        "to one state; use detach() first");
    if (t->flags & (LA_F_CONJ | LA_F_NEG))
        return la_error(LA_ESTATE, "a conjugate or negated view has other "
                        "bytes; use resolve_conj() or resolve_neg()");
    LA_TRY(la_tensor_hold(t, &own));
    LA_TRY(la_tensor_wrap(la_data(own), (la_dtype)own->dtype, own->ndim,
                          la_sizes(own), la_strides(own), lent_back, own, out));
    (*out)->storage->flags |= LA_S_READ_ONLY;
    return LA_OK;
}
