/*
** The table of operations. The built-in rows are constant data expanded from
** op/def/, what changes is kept apart in la_op_state. What hosts register, rows
** that are appended, kernels of any row, is the runtime's: others do
** not see it. Nothing runs at load time.
*/
#include "op/host/device_names.h"

#include <stdatomic.h>

#include "base/once.h"
#include "base/runtime/runtime.h"
#include "kernel/reduce/reduce_loops.h"
#include "op/families.h"
#include "op/host/hosted.h"
#include "op/impls.h"
#include "op/schema.h"

/* The extern declarations of families and of the tables that rows name. */
#define NEED_ELEMENTWISE(n, fam) NEED_TABLE(fam, n)
#define NEED_SHARED(n, fam) NEED_TABLE fam
#define NEED_TABLE(fam, table) extern const la_family la_family_##fam; \
    LA_STUB_DECLARE(la_loops, table);
#define NEED_STRUCTURED(n, fam)
#define NEED_DYNAMIC(n, fam)
#define NEED_VIEW(n, fam)
#define NEED_METADATA(n, fam)
#define NEED_COMPOSITE(n, fam)
#define NEED_FORMULA(n, expr)
#define NEED_REDUCE(n, fam) NEED_REDUCTION fam
#define NEED_REDUCTION(rule, table, how) \
    LA_STUB_DECLARE(la_reductions, reduce_##table);
#define OP(n, kind, fam, types, sch, frm, d) \
    NEED_##kind(n, fam) extern const la_op la_row_##n;
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "op/dispatch.h"
#include "op/op.h"
#include "op/ops.def"
#undef OP

/* Fields that a kind fills in, the flags that come with it, its rule on a batch
** and its cost. */
#define ROW_STRUCTURED(n, fam) .meta = la_meta_##n, .impl = la_impl_##n
#define ROW_DYNAMIC(n, fam) .impl = la_impl_##n
#define ROW_VIEW(n, fam) .meta = la_meta_##n
#define ROW_METADATA(n, fam) .meta = la_meta_##n
#define ROW_COMPOSITE(n, fam) .impl = la_impl_##n
#define ROW_FORMULA(n, expr) .impl = la_impl_##n
#define ROW_ELEMENTWISE(n, fam) ROW_TABLE(fam, n)
#define ROW_SHARED(n, fam) ROW_TABLE fam
#define ROW_TABLE(fam, table) .family = &la_family_##fam, \
    .tables = LA_STUB_TABLES(table)
#define ROW_REDUCE(n, fam) ROW_REDUCE_ fam
#define ROW_REDUCE_(rule, table, how) .meta = la_reduce_##rule##_meta, \
    .impl = la_reduce_##rule##_impl, \
    .tables = LA_STUB_TABLES(reduce_##table), \
    .store = LA_STORE_##how
#define FLAGS_STRUCTURED 0
#define FLAGS_DYNAMIC 0
#define FLAGS_VIEW (LA_VIEW_OP | LA_SAME_BITS | LA_ASKS_DTYPE)
#define FLAGS_METADATA LA_SAME_BITS
#define FLAGS_COMPOSITE LA_COMPOSITE
#define FLAGS_FORMULA LA_COMPOSITE
#define FLAGS_ELEMENTWISE 0
#define FLAGS_SHARED 0
#define FLAGS_REDUCE (LA_ASKS_DTYPE | LA_PURE)
#define BATCH_STRUCTURED LA_BATCH_none
#define BATCH_DYNAMIC LA_BATCH_none
#define BATCH_VIEW LA_BATCH_none
#define BATCH_METADATA LA_BATCH_none
#define BATCH_COMPOSITE LA_BATCH_none
#define BATCH_FORMULA LA_BATCH_none
#define BATCH_ELEMENTWISE LA_BATCH_each
#define BATCH_SHARED LA_BATCH_each
#define BATCH_REDUCE LA_BATCH_dims
#define COST_STRUCTURED LA_COST_elements
#define COST_DYNAMIC LA_COST_elements
#define COST_VIEW LA_COST_nothing
#define COST_METADATA LA_COST_nothing
#define COST_COMPOSITE LA_COST_nothing
#define COST_FORMULA LA_COST_nothing
#define COST_ELEMENTWISE LA_COST_elements
#define COST_SHARED LA_COST_elements
#define COST_REDUCE LA_COST_elements

enum {
#define OP(n, kind, fam, types, sch, frm, d) ID_##n,
#include "op/ops.def"
#undef OP
    NOPS
};

static la_op_state states[NOPS];

#define OP(n, kind, fam, types, sch, frm, d) \
    const la_op la_row_##n = { \
        .name = #n, .signature = sch, .doc = d, .id = ID_##n, \
        .forms = (uint32_t)(frm) | FLAGS_##kind, .dtypes = (types), \
        .batch = LA_BATCH_OF(frm) ? LA_BATCH_OF(frm) : BATCH_##kind, \
        .cost = LA_COST_OF(frm) ? LA_COST_OF(frm) : COST_##kind, \
        .role = LA_ROLE_OF(frm), \
        .state = &states[ID_##n], ROW_##kind(n, fam)};
#include "op/ops.def"
#undef OP

static const la_op *const builtin[NOPS] = {
#define OP(n, kind, fam, types, sch, frm, d) &la_row_##n,
#include "op/ops.def"
#undef OP
};

static la_schema schemas[NOPS];
static _Atomic int parsed[NOPS];   /* 0 no, 1 somebody is at it, 2 yes */

enum { KERNEL_BYTES = NOPS * sizeof(la_op_fn) };

/* Never held while a function of the host runs: memory is had before. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void la_lock_tables(void) { pthread_mutex_lock(&lock); }
void la_unlock_tables(void) { pthread_mutex_unlock(&lock); }

static la_op_table *table_here(void)
{
    return atomic_load_explicit(&la_runtime_here()->table,
                                memory_order_acquire);
}

const la_schema *la_schema_first(const la_op *op)
{
    int id = op->id, fresh = 0;
    if (atomic_compare_exchange_strong(&parsed[id], &fresh, 1)) {
        la_schema_parse(op->signature, &schemas[id]);
        atomic_store(&parsed[id], 2);
    }
    while (atomic_load(&parsed[id]) != 2) continue;
    __atomic_store_n(&op->state->schema, &schemas[id], __ATOMIC_RELEASE);
    return &schemas[id];
}

const la_op *la_op_at(int id)
{
    if (id < 0 || id >= la_op_count()) return NULL;
    return id < NOPS ? builtin[id]
        : &atomic_load(&table_here()->rows[id - NOPS])->op;
}

int la_op_builtin(void) { return NOPS; }
int la_op_count(void)
{
    la_op_table *t = table_here();
    return NOPS + (t ? atomic_load(&t->nrows) : 0);
}

/* Looks up the whole name of one row, with its overload's: hosts register
** kernels so. The walk is linear on purpose. */
const la_op *la_op_lookup(const char *name, size_t n)
{
    for (int i = 0; i < la_op_count(); i++) {
        const la_op *op = la_op_at(i);
        if (strcspn(op->signature, "(") == n && !la_op_withdrawn(op)
            && memcmp(op->signature, name, n) == 0) return op;
    }
    return NULL;
}

/* The end of a runtime. */
static void drop_table(la_runtime *rt)
{
    la_op_table *t = atomic_load(&rt->table);
    if (!t) return;
    la_hosted_drop(rt, t);
    for (int k = 0; k < LA_NKEYS; k++)
        la_raw_free(rt, (void *)atomic_load(&t->kernels[k]), KERNEL_BYTES);
    la_raw_free(rt, t, sizeof *t);
    atomic_store(&rt->table, NULL);
}

static void connect(void) { la_op_table_drop = drop_table; }

la_op_table *la_need_table(void)
{
    static la_once once = LA_ONCE;
    la_runtime *rt = la_runtime_here();
    la_op_table *t = table_here(), *none = NULL;
    if (t) return t;
    la_op_table *fresh = la_raw_alloc(rt, sizeof *fresh);
    if (!fresh) {
        la_error(LA_ENOMEM, "no memory for the table of operations");
        return NULL;
    }
    la_run_once(&once, connect);
    if (atomic_compare_exchange_strong(&rt->table, &none, fresh)) return fresh;
    la_raw_free(rt, fresh, sizeof *fresh);
    return none;
}

la_op_fn la_registered_kernel(const la_op *op, int key)
{
    la_op_table *t = table_here();
    if (op->id >= NOPS) return atomic_load(&la_hosted_of(op)->kernels[key]);
    _Atomic(la_op_fn) *list = t ? atomic_load(&t->kernels[key]) : NULL;
    return list ? atomic_load(&list[op->id]) : NULL;
}

/* Kernels of the built-in rows for a key, made when the first kernel comes. */
static _Atomic(la_op_fn) *need_kernels(la_op_table *t, la_key key)
{
    la_runtime *rt = la_runtime_here();
    _Atomic(la_op_fn) *list = atomic_load(&t->kernels[key]), *none = NULL;
    if (list) return list;
    list = la_raw_alloc(rt, KERNEL_BYTES);
    if (!list
        || atomic_compare_exchange_strong(&t->kernels[key], &none, list))
        return list;
    la_raw_free(rt, (void *)list, KERNEL_BYTES);
    return none;
}

la_status la_kernel_register(const la_op *op, la_key key, la_op_fn fn)
{
    if (!op || key < 0 || key >= LA_NKEYS)
        return la_error(LA_EARG, "an operation and a key are needed");
    la_hosted *h = la_hosted_of(op);
    la_op_table *t = la_need_table();
    if (!t) return LA_ENOMEM;
    _Atomic(la_op_fn) *list = h ? h->kernels : need_kernels(t, key);
    if (!list) return la_error(LA_ENOMEM, "no memory for kernels");
    atomic_store(&list[h ? (int)key : op->id], fn);
    if (key == LA_KEY_CPU || key == LA_KEY_INPLACE_OR_VIEW)
        atomic_store(&la_runtime_here()->kernels_replaced, true);
    return LA_OK;
}

static const char *const formats[] = {
    [LA_PRESERVE] = "preserve", [LA_FORMAT_CONTIGUOUS] = "contiguous",
    [LA_FORMAT_CHANNELS_LAST] = "channels_last",
    [LA_FORMAT_CHANNELS_LAST_3D] = "channels_last_3d"
};

const char *la_format_name(la_memory_format f) { return formats[f]; }

bool la_format_parse(const char *word, size_t n, la_memory_format *out)
{
    for (size_t k = 0; k < sizeof(formats) / sizeof(formats[0]); k++)
        if (strlen(formats[k]) == n && memcmp(formats[k], word, n) == 0) {
            *out = (la_memory_format)k;
            return true;
        }
    return false;
}
