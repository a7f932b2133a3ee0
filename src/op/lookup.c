/*
** Operations by the names that users call.
**
** A table of all names of built-in rows, filled at the first use: rows' names,
** the other names of aliases.def, and "theme.name" where that is not a row's
** name with a dot for its first underscore. Overloads of a name are chained in
** the order of their rows. What hosts registered is few and is looked through.
*/
#include "op/op.h"

#include <stdatomic.h>

#include "op/host/hosted.h"

enum { SLOTS = 4096 };      /* a power of two, more than twice the names */

static struct slot {
    const char *name;       /* NULL: empty */
    size_t n;
    const la_op *op;
} slots[SLOTS];
static _Atomic int ready;    /* 0 no, 1 somebody is at it, 2 yes */

/* FNV-1a. */
static uint32_t lookup_hash(const char *name, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h;
}

/* The slot of the name, or the empty one where it would stand. */
static struct slot *slot_of(const char *name, size_t n)
{
    uint32_t k = lookup_hash(name, n) & (SLOTS - 1);
    while (slots[k].name
           && (slots[k].n != n || memcmp(slots[k].name, name, n) != 0))
        k = (k + 1) & (SLOTS - 1);
    return &slots[k];
}

static void lookup_add(const char *name, size_t n, const la_op *op)
{
    struct slot *s = slot_of(name, n);
    if (!s->name) *s = (struct slot){name, n, op};
}

/* Rows come in their order, so that an overload is the last of its chain. */
static void add_row(const la_op *op)
{
    const la_op *last = slot_of(op->signature, la_op_name_length(op))->op;
    la_op_state *s = op->state;
    s->calls[0] = (la_callable){op, false};
    s->calls[1] = (la_callable){op, true};
    lookup_add(op->signature, la_op_name_length(op), op);
    while (last && last->state->next) last = last->state->next;
    if (last) last->state->next = op;
}

static void fill_table(void)
{
    static const char *const others[][2] = {
#define ALIAS(alias, name) {#alias, name},
#define THEME(theme, name) {#theme "." name, name},
#include "op/aliases.def"
#undef ALIAS
#undef THEME
    };
    for (int id = 0; id < la_op_builtin(); id++) add_row(la_op_at(id));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const la_op *op = slot_of(others[i][1], strlen(others[i][1]))->op;
        if (op) lookup_add(others[i][0], strlen(others[i][0]), op);
    }
}

/* On the first thread that asks; others wait for it. */
static void make_table(void)
{
    int fresh = 0;
    if (atomic_load(&ready) == 2) return;
    if (atomic_compare_exchange_strong(&ready, &fresh, 1)) {
        fill_table();
        atomic_store(&ready, 2);
    }
    while (atomic_load(&ready) != 2) continue;
}

/* "fft.rfft" as "fft_rfft"; NULL for other names. */
static const la_op *of_theme(const char *name, size_t n)
{
    char row[64];
    const char *dot = memchr(name, '.', n);
    if (!dot || n >= sizeof(row)) return NULL;
    memcpy(row, name, n);
    row[dot - name] = '_';
    return slot_of(row, n)->op;
}

const la_op *la_op_first(const char *name, size_t n)
{
    make_table();
    const la_op *op = slot_of(name, n)->op;
    if (!op) op = of_theme(name, n);
    for (int id = la_op_builtin(); !op && id < la_op_count(); id++) {
        const la_op *row = la_op_at(id);
        if (la_op_name_length(row) == n && !la_op_withdrawn(row)
            && memcmp(row->signature, name, n) == 0) op = row;
    }
    return op;
}

static bool has_form(const la_op *op, uint32_t form)
{
    while (op && !(op->forms & form)) op = op->state->next;
    return op != NULL;
}

const la_callable *la_op_callable(const char *name, size_t n)
{
    const la_op *op = la_op_first(name, n);
    if (op) return has_form(op, LA_ANY) ? &op->state->calls[0] : NULL;
    if (n < 2 || name[n - 1] != '_') return NULL;
    op = la_op_first(name, n - 1);
    return op && has_form(op, LA_INPLACE_FORM) ? &op->state->calls[1] : NULL;
}
