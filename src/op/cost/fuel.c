/* The payment of calls: scopes, one in the other, and what they owe. */
#include "op/cost/fuel.h"

#include "base/runtime/token.h"
#include "op/op.h"

_Thread_local la_fuel_scope *la_fuel_running;
/* Fuel that the last call paid before it failed for want of memory. */
static _Thread_local int64_t failed_paid;

/* Pays the work known so far, less what is paid already. */
static la_status pay(la_fuel_scope *root, int64_t more)
{
    root->work = la_fuel_plus(root->work, more);
    int64_t due = la_fuel_price(root->work) - root->paid;
    if (due <= 0) return LA_OK;
    LA_TRY(la_token_take(root->token, due));
    root->paid += due;
    return LA_OK;
}

/* Is this call a part of one whose cost is known? */
static bool is_part(const la_fuel_scope *s)
{
    while (s != s->root) {
        s = s->outer;
        if (s->counted) return true;
    }
    return false;
}

/* Objects in the lists that a call is given: each is looked at. */
static int64_t entries(const la_frame *f)
{
    int64_t n = 0;
    for (int k = 0; k < f->nargs; k++)
        if (f->args[k].tag == LA_VTENSORS) n += f->args[k].tensors.n;
    return n;
}

la_status la_fuel_begin(la_fuel_scope *s, const la_frame *f, la_token *k)
{
    la_fuel_scope *outer = la_fuel_running;
    bool inside = outer && outer->root->token == k;
    s->counts = false;
    LA_TRY(la_token_ask(k));
    if (!la_token_counts(k)) return LA_OK;
    *s = (la_fuel_scope){.outer = outer, .token = k, .frame = f,
                         .counts = true};
    s->root = inside ? outer->root : s;
    if (inside && is_part(s)) {
        la_fuel_running = s;
        return LA_OK;
    }
    if (!inside) failed_paid = 0;
    LA_TRY(pay(s->root, (inside ? LA_FUEL_CALL : 0)
               + la_fuel_times(entries(f), LA_FUEL_OBJECT)));
    la_fuel_running = s;
    return LA_OK;
}

/* More than was thought: only the difference is new. */
static la_status raise_to(la_fuel_scope *s, int64_t work)
{
    if (work <= s->own) return LA_OK;
    int64_t more = work - s->own;
    s->own = work;
    return pay(s->root, more);
}

static bool concerns(const la_fuel_scope *s, const la_frame *f)
{
    return s->frame == f && !is_part(s);
}

/* Shapes without data are no work. */
la_status la_fuel_kernel(const la_frame *f)
{
    la_fuel_scope *s = la_fuel_running;
    if (!concerns(s, f) || la_is_meta(f)) return LA_OK;
    s->counted = !(f->op->forms & LA_COMPOSITE);
    return raise_to(s, la_cost_of(f));
}

la_status la_fuel_announce(const la_frame *f, int ndim, const int64_t *sizes)
{
    la_fuel_scope *s = la_fuel_running;
    int64_t n = 1;
    if (!concerns(s, f) || la_is_meta(f)) return LA_OK;
    for (int d = 0; d < ndim; d++) n = la_fuel_times(n, sizes[d]);
    return raise_to(s, n);
}

int64_t la_fuel_lua(int ndim, const int64_t *sizes, int64_t count)
{
    enum { LEAF = 16, ROW = 256 };
    int64_t rows = 1;
    for (int d = 0; d + 1 < ndim && count; d++)
        rows = la_fuel_times(rows, sizes[d]);
    return la_fuel_plus(la_fuel_times(LEAF, count), la_fuel_times(ROW, rows));
}

la_status la_fuel_objects(int64_t n)
{
    return pay(la_fuel_running->root, la_fuel_times(n, LA_FUEL_OBJECT));
}

la_status la_fuel_more(const la_frame *f, int64_t work)
{
    la_fuel_scope *s = la_fuel_running;
    return concerns(s, f) ? pay(s->root, work) : LA_OK;
}

/* Results that nobody announced are paid for when they are there. */
la_status la_fuel_end(la_fuel_scope *s, la_status status)
{
    if (!s->counts) return status;
    if (status == LA_ENOMEM && s->root == s) failed_paid = s->paid;
    if (!status && s->counted && !is_part(s))
        status = raise_to(s, la_cost_of(s->frame));
    la_fuel_running = s->outer;
    return status;
}

int64_t la_fuel_of_failure(void)
{
    int64_t paid = failed_paid;
    failed_paid = 0;
    return paid;
}
