/*
** A chain of operation calls whose intermediate results belong to one box.
**
**     work box WORK = {.n = 0}, *w = &box;
**     la_tensor *d = W(sub, LA_T(x), LA_T(y));
**     return work_end(w, f, W(mul, LA_T(d), LA_T(d)));
**
** After a failure all further calls return NULL and the status is kept.
*/
#ifndef LA_OP_COMPOSITE_H
#define LA_OP_COMPOSITE_H

#include "op/op.h"

#define WORK_ROOM 40

typedef struct work {
    la_status status;
    int n;
    la_tensor *temps[WORK_ROOM];
} work;

static inline void work_drop(work *w)
{
    for (int i = 0; i < w->n; i++) la_tensor_release(w->temps[i]);
}

#define WORK __attribute__((cleanup(work_drop)))

/* A call; the result is the box's. NULL after a failure. */
static inline la_tensor *work_call(work *w, int id, int n,
                                   const la_value *args)
{
    la_tensor *out = NULL;
    if (w->status) return NULL;
    if (w->n == WORK_ROOM) {
        w->status = la_error(LA_EARG, "too many steps");
        return NULL;
    }
    w->status = la_do(id, &out, n, args);
    if (w->status) return NULL;
    w->temps[w->n++] = out;
    return out;
}

#define W(name, ...) work_call(w, LA_OP_##name, LA_ARGS_(__VA_ARGS__))
#define LA_F(x) LA_S(la_scalar_float(x))

/* 't' becomes result 0 of the frame. */
static inline la_status work_end(work *w, la_frame *f, la_tensor *t)
{
    if (w->status) return w->status;
    la_set_result(f, 0, la_tensor_retain(t));
    return LA_OK;
}

#endif
