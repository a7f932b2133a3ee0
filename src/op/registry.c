/*
** The table of operations. The built-in rows are constant data expanded from
** op/def/, what changes is kept apart in la_op_state; rows from outside are
** appended. Nothing runs at load time.
*/
#include "op/device_names.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "kernel/reduce/reduce.h"
#include "op/families.h"
#include "op/impls.h"
#include "op/schema.h"

/* The extern declarations of families and of element-wise tables. */
#define NEED_ELEMENTWISE(n, fam) NEED_TABLE(fam, n)
#define NEED_SHARED(n, fam) NEED_TABLE fam
#define NEED_TABLE(fam, table) extern const la_family la_family_##fam; \
    LA_STUB_DECLARE(la_loops, table);
#define NEED_STRUCTURED(n, fam)
#define NEED_DYNAMIC(n, fam)
#define NEED_VIEW(n, fam)
#define NEED_METADATA(n, fam)
#define NEED_COMPOSITE(n, fam)
#define NEED_REDUCE(n, fam)
#define OP(n, kind, fam, types, sch, frm, d) \
    NEED_##kind(n, fam) extern const la_op la_row_##n;
#include "op/ops.def"
#undef OP

/* What a kind fills in, and the flags that come with it. */
#define ROW_STRUCTURED(n, fam) .meta = la_meta_##n, .impl = la_impl_##n
#define ROW_DYNAMIC(n, fam) .impl = la_impl_##n
#define ROW_VIEW(n, fam) .meta = la_meta_##n
#define ROW_METADATA(n, fam) .meta = la_meta_##n
#define ROW_COMPOSITE(n, fam) .impl = la_impl_##n
#define ROW_ELEMENTWISE(n, fam) ROW_TABLE(fam, n)
#define ROW_SHARED(n, fam) ROW_TABLE fam
#define ROW_TABLE(fam, table) .family = &la_family_##fam, \
    .stubs = LA_STUB_TABLES(table)
#define ROW_REDUCE(n, fam) ROW_REDUCE_ fam
#define ROW_REDUCE_(rule, table, how) .meta = la_reduce_##rule##_meta, \
    .impl = la_reduce_##rule##_impl, \
    .reductions = LA_STUB_TABLES(reduce_##table), \
    .store = LA_STORE_##how
#define FLAGS_STRUCTURED 0
#define FLAGS_DYNAMIC 0
#define FLAGS_VIEW LA_VIEW_OP
#define FLAGS_METADATA 0
#define FLAGS_COMPOSITE LA_COMPOSITE
#define FLAGS_ELEMENTWISE 0
#define FLAGS_SHARED 0
#define FLAGS_REDUCE 0

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
        .forms = (frm) | FLAGS_##kind, .dtypes = (types), \
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

/* Rows from outside: registered by a host before its scripts run. */
#define MAX_EXTRA 256
typedef struct extra_row {
    la_op op;
    la_op_state state;
    la_schema schema;
} extra_row;
static extra_row *extra[MAX_EXTRA];
static _Atomic int nextra;

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
    return id < NOPS ? builtin[id] : &extra[id - NOPS]->op;
}

int la_op_count(void) { return NOPS + atomic_load(&nextra); }

/* Rows are few and names are looked up when a state opens or by hosts; the
** walk is linear on purpose. */
const la_op *la_op_find(const char *name, size_t n)
{
    for (int i = 0; i < la_op_count(); i++) {
        const char *s = la_op_at(i)->signature;
        size_t len = strcspn(s, "(");
        if (len == n && memcmp(s, name, n) == 0) return la_op_at(i);
    }
    return NULL;
}

/* Registrations come one at a time, whichever thread they are on. */
static atomic_flag registering = ATOMIC_FLAG_INIT;

static void lock_tables(void)
{
    while (atomic_flag_test_and_set(&registering)) continue;
}

static void unlock_tables(void) { atomic_flag_clear(&registering); }

/* A row with its own copies of the texts behind it: signature, doc, name. */
static extra_row *new_row(const char *schema, const char *doc, size_t *bytes)
{
    size_t n = strlen(schema) + 1, m = strlen(doc) + 1;
    size_t word = strcspn(schema, "(");
    *bytes = sizeof(extra_row) + n + m + word + 1;
    extra_row *row = la_mem_zalloc(*bytes);
    if (!row) return NULL;
    char *text = (char *)(row + 1);
    row->op.signature = memcpy(text, schema, n);
    row->op.doc = memcpy(text + n, doc, m);
    row->op.name = memcpy(text + n + m, schema, word);
    return row;
}

static la_status add_row(const char *schema, const char *doc, uint32_t forms,
                         la_op_fn meta, la_op_fn impl, const la_op **out)
{
    int k = atomic_load(&nextra);
    size_t bytes;
    if (la_op_find(schema, strcspn(schema, "(")))
        return la_error(LA_EARG, "operation '%.*s' exists already",
                        (int)strcspn(schema, "("), schema);
    if (k == MAX_EXTRA)
        return la_error(LA_ENOMEM, "at most %d operations can be added",
                        MAX_EXTRA);
    extra_row *row = new_row(schema, doc, &bytes);
    if (!row) return LA_ENOMEM;
    la_status status = la_schema_parse(row->op.signature, &row->schema);
    if (status) {
        la_mem_free(row, bytes);
        return status;
    }
    row->op.forms = forms;
    row->op.dtypes = LA_ANY_DTYPE;
    row->op.id = NOPS + k;
    row->op.meta = meta;
    row->op.impl = impl;
    row->op.state = &row->state;
    row->state.schema = &row->schema;
    extra[k] = row;
    atomic_store(&nextra, k + 1);
    *out = &row->op;
    return LA_OK;
}

la_status la_op_register(const char *schema, const char *doc, uint32_t forms,
                         la_op_fn meta, la_op_fn impl, const la_op **out)
{
    if (!schema || !out || (!meta && !impl))
        return la_error(LA_EARG, "schema, implementation and out are needed");
    lock_tables();
    la_status status = add_row(schema, doc ? doc : "", forms, meta, impl, out);
    unlock_tables();
    return status;
}

bool la_kernels_replaced;

la_status la_kernel_register(const la_op *op, la_key key, la_op_fn fn)
{
    if (!op || key < 0 || key >= LA_NKEYS)
        return la_error(LA_EARG, "an operation and a key are needed");
    op->state->kernel[key] = fn;
    if (key == LA_KEY_CPU || key == LA_KEY_INPLACE_OR_VIEW)
        la_kernels_replaced = true;
    return LA_OK;
}

#define DEVICE_NAME 32
static char devices[LA_NDEVICES][DEVICE_NAME] = {"cpu", "meta"};
static _Atomic int ndevices = LA_DEVICE_EXT;

static la_status add_device(const char *name, size_t n, la_device *out)
{
    int k = atomic_load(&ndevices);
    if (la_device_parse(name, n, out))
        return la_error(LA_EARG, "device '%s' exists already", name);
    if (k == LA_NDEVICES)
        return la_error(LA_EARG, "at most %d devices can be added",
                        LA_NDEVICES - LA_DEVICE_EXT);
    memcpy(devices[k], name, n + 1);
    atomic_store(&ndevices, k + 1);
    *out = (la_device)k;
    return LA_OK;
}

la_status la_device_register(const char *name, la_device *out)
{
    size_t n = strlen(name);
    if (n == 0 || n >= DEVICE_NAME)
        return la_error(LA_EARG, "a device's name has 1 to %d bytes",
                        DEVICE_NAME - 1);
    lock_tables();
    la_status status = add_device(name, n, out);
    unlock_tables();
    return status;
}

const char *la_device_name(la_device d) { return devices[d]; }

bool la_device_parse(const char *name, size_t n, la_device *out)
{
    for (int i = 0; i < atomic_load(&ndevices); i++)
        if (strlen(devices[i]) == n && memcmp(devices[i], name, n) == 0) {
            *out = (la_device)i;
            return true;
        }
    return false;
}

bool la_format_parse(const char *word, size_t n, la_memory_format *out)
{
    static const char *const words[] = {
        [LA_PRESERVE] = "preserve", [LA_FORMAT_CONTIGUOUS] = "contiguous",
        [LA_FORMAT_CHANNELS_LAST] = "channels_last",
        [LA_FORMAT_CHANNELS_LAST_3D] = "channels_last_3d"
    };
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        if (strlen(words[k]) == n && memcmp(words[k], word, n) == 0) {
            *out = (la_memory_format)k;
            return true;
        }
    return false;
}
