/* Helpers that the rules of src/vmap share: a call on the tensors behind the
** headers of another. */
#ifndef LA_VMAP_VMAP_CALL_H
#define LA_VMAP_VMAP_CALL_H

#include "op/frame.h"
#include "op/schema.h"
#include "vmap/vmap.h"

/* Lists that a rule makes for one call: dims, sizes. */
#define LA_VMAP_LISTS 3

typedef struct la_vcall {
    la_frame *f;            /* the call on headers */
    la_vmap *level;
    const la_schema *schema;
    int rank;               /* most dims of any argument, without the batch */
    la_frame g;             /* the call on what is behind them */
    la_value args[LA_MAX_ARGS];     /* of g: tensors and lists are owned */
    int64_t lists[LA_VMAP_LISTS][LA_MAX_DIMS + 1];
    int nlists;
    bool numbers;           /* of no dim, and given one for the call */
} la_vcall;

/* Does the tensor carry the batch of the level? NULL does not. */
static inline bool la_vmap_has(const la_vmap *v, const la_tensor *t)
{
    return t && (t->flags & LA_F_BATCHED) && t->seen_version == v->number;
}
static inline la_tensor *la_varg(const la_vcall *c, int k)
{
    return la_arg(c->f, k);
}
static inline bool la_vmap_arg(const la_vcall *c, int k)
{
    return la_vmap_has(c->level, la_arg(c->f, k));
}

/* The tensor behind 't', with dims of size 1 after the batch up to 'rank'
** dims without it; a tensor without batch as it is. Owned. */
la_status la_vmap_behind(const la_vmap *v, la_tensor *t, int rank,
                         la_tensor **out);
/* la_vmap_behind that expands a tensor without batch to it. */
la_status la_vmap_expanded(const la_vmap *v, la_tensor *t, int rank,
                           la_tensor **out);
/* Put an owned tensor into argument k of g. */
void la_vmap_put(la_vcall *c, int k, la_tensor *owned);
/* A list of n integers for argument k of g, to be filled. */
int64_t *la_vmap_list(la_vcall *c, int k, int64_t n);

/* How tensors come into g: LA_ALIGN: dims of size 1 make all ranks equal, what
** has no batch stays; LA_EXPAND: everything gets the batch, ranks stay. */
typedef enum la_vmap_way { LA_ALIGN, LA_EXPAND } la_vmap_way;
la_status la_vmap_take(la_vcall *c, la_vmap_way way);
/* Run g, outside of the level; its results become those of f. */
la_status la_vmap_run(la_vcall *c);
/* 'owned', a tensor with the batch in front, becomes result k of f. */
la_status la_vmap_result(la_vcall *c, int k, la_tensor *owned);
/* Enters the level for the calls that it makes: while 'v' is not NULL, calls on
** this thread are inside of it. Returns what was before. */
static inline la_vmap *la_vmap_enter(la_vmap *v)
{
    la_context *c = la_ctx();
    la_vmap *before = c->vmap;
    c->vmap = v;
    return before;
}

/* One call per element of the batch, results stacked (loop.c). With 'again'
** each draws the same numbers. */
la_status la_vmap_loop(la_vcall *c, bool again);

/* The row's rule, outside of the level. *done stays false where there is none
** or it does not apply, and then nothing has happened. */
la_status la_vmap_by_rule(la_vcall *c, bool *done);

#endif
