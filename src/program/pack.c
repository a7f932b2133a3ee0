/*
** The pass "pack": products read constant matrices in the order of rows.
**
** A layer's weight is read transposed, and each product brings its columns
** into order anew. Of a matrix that no call writes, and that is no argument,
** the product gets a copy in the order in which it reads, which is made anew
** when the matrix has been written or has other memory.
**
** Bits stay: only products are meant whose sums are in one order whatever the
** strides (la_gemm_ignores_strides).
*/
#include "program/passes.h"

#include "base/runtime/context.h"
#include "base/runtime/token.h"
#include "op/call.h"
#include "op/matmul/gemm.h"
#include "op/op.h"
#include "program/bind.h"

/* The argument that is the right matrix of a product; below 0: no product. */
static int pack_argument(const la_prog_step *s)
{
    if (s->kind != LA_STEP_CALL || s->kept || !la_prog_runs(s)) return -1;
    return s->op->role == LA_ROLE_product ? 1
        : s->op->role == LA_ROLE_add_product ? 2 : -1;
}

static bool pack_is_constant(const la_prog *p, const la_prog_slot *s)
{
    if (s->varies || s->written) return false;
    return s->kind == LA_SLOT_CONST || (s->kind == LA_SLOT_OBJECT && !s->grad
        && la_prog_object_at(p, s->index)->argument < 0);
}

static bool pack_is_worth(const la_tensor *left, const la_tensor *right)
{
    const int64_t *sizes = la_sizes(right);
    if (right->ndim != 2 || left->ndim != 2 || right->names
        || right->flags & (LA_F_CONJ | LA_F_NEG)) return false;
    if (right->dtype != LA_FLOAT32 && right->dtype != LA_FLOAT64) return false;
    return la_strides(right)[0] == 1 && la_strides(right)[1] >= sizes[0]
        && la_gemm_ignores_strides(la_sizes(left)[0], sizes[1]);
}

la_status la_prog_pass_pack(la_prog *p, la_prog_pass_note *note)
{
    for (int32_t i = 0; i < p->steps.n && !p->live; i++) {
        la_prog_step *s = la_prog_step_at(p, i);
        int k = pack_argument(s);
        if (k < 0) continue;
        const la_prog_view *right = la_prog_view_at(p, s->views[k]);
        const la_prog_view *left = la_prog_view_at(p, s->views[k - 1]);
        if (!pack_is_constant(p, la_prog_slot_at(p, right->slot))
            || !pack_is_worth(left->form, right->form)) continue;
        la_prog_packed *x = la_prog_add(&p->packs, sizeof *x);
        if (!x) return LA_ENOMEM;
        x->arg = k;
        s->packed = p->packs.n;
        note->count++;
    }
    return LA_OK;
}

static la_status pack_copy(la_prog *p, la_prog_packed *x, la_tensor *from)
{
    int64_t bytes = from->numel * (int64_t)la_itemsize(from);
    if (!x->copy) {
        LA_TRY(la_tensor_empty(2, la_sizes(from), (la_dtype)from->dtype,
                               &x->copy));
        p->packed_bytes += bytes;
    }
    x->storage = NULL;              /* it holds nothing while it is written */
    LA_TRY(la_run_(copy_, x->copy, from));
    x->storage = from->storage;
    x->version = la_tensor_version(from) + la_other_writes(from);
    return LA_OK;
}

void la_prog_put_packed(la_prog *p, la_prog_step *s)
{
    la_prog_packed *x = LA_PROG_AT(p->packs, la_prog_packed, s->packed - 1);
    la_value *v = &s->args[x->arg];
    if (la_token_armed(la_ctx()->token)) return;    /* a copy would cost fuel */
    if (v->tensor->counter) return;     /* set_data: versions do not tell */
    uint32_t version = la_tensor_version(v->tensor)
        + la_other_writes(v->tensor);
    bool holds = x->copy && x->storage == v->tensor->storage
        && x->version == version;
    if (!holds && pack_copy(p, x, v->tensor)) {
        la_error_clear();           /* without memory it is read as it lies */
        return;
    }
    v->tensor = x->copy;
}
