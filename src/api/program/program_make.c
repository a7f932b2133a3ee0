/* Programs of hosts: how they are made, copied and named, and their end. */
#include "api/program/api_program.h"

#include <stdio.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "grad/grad.h"

/* ---- names ---- */

/* Names are few and compared once each, when they are given. */
static bool make_has_name(const la_notes *names, int64_t but, const char *key,
                          size_t n)
{
    for (int64_t i = 0; i < names->n; i++)
        if (i != but && names->list[i].n == n
            && memcmp(names->list[i].key, key, n) == 0) return true;
    return false;
}

/* A new name behind the others, no two of them the same. */
static la_status make_name(la_notes *names, const char *word, int64_t number)
{
    char text[48];
    do snprintf(text, sizeof text, "%s%lld", word, (long long)number++);
    while (make_has_name(names, -1, text, strlen(text)));
    return la_notes_add(names, text, strlen(text), "", 0);
}

/* The name is completed before the old one goes, so that a failure changes
** nothing. */
la_status la_program_rename(la_program *g, int what, int64_t i,
                            const char *name, size_t n)
{
    la_notes *names = &g->names[what];
    size_t bytes = n + 24;
    char *own = la_mem_alloc(bytes);
    if (!own) return LA_ENOMEM;
    memcpy(own, name, n);
    own[n] = '\0';
    size_t length = n;
    for (int k = 2; make_has_name(names, i, own, length); k++)
        length = n + (size_t)snprintf(own + n, 24, ".%d", k);
    LA_NOTES one = {0};
    la_status status = la_notes_add(&one, own, length, "", 0);
    la_mem_free(own, bytes);
    if (status) return status;
    la_note before = names->list[i];
    names->list[i] = one.list[0];
    one.list[0] = before;
    return LA_OK;
}

/* ---- can it stand alone ---- */

/* Inputs that share memory with one another or with a captured tensor would
** have to do so in each run: only Lua compares that. */
static la_status make_check(const la_prog *p)
{
    if (p->eager)
        return la_error(LA_ESUPPORT, "the function runs as it is, and is no "
                        "program: %s", p->why ? p->why : "no memory");
    for (int32_t i = 0; i < p->objects.n; i++) {
        const la_prog_object *o = la_prog_object_at(p, i);
        if (o->slot < 0) continue;
        int32_t root = la_prog_slot_at(p, o->slot)->index;
        if (o->argument >= 0 ? root != i
            : la_prog_object_at(p, root)->argument >= 0)
            return la_error(LA_ESUPPORT, "an input shares memory with another "
                            "tensor of the program");
    }
    return LA_OK;
}

/* ---- parts ---- */

static la_status make_weight(la_program *g, la_tensor *t, const char *word)
{
    int64_t before = g->names[2].n;
    LA_TRY(make_name(&g->names[2], word, before + 1));
    la_tensor **to = la_prog_add(&g->weights, sizeof *to);
    if (!to) return LA_ENOMEM;      /* the whole program goes */
    *to = la_tensor_retain(t);
    return LA_OK;
}

/* Names by number for what the host has not named yet, and weights for all
** objects that are no arguments: they are what a host may replace. */
static la_status make_parts(la_program *g, la_prog *p)
{
    for (int32_t i = 0; i < p->narguments; i++)
        LA_TRY(make_name(&g->names[0], "input", i + 1));
    for (int32_t i = 0; i < p->outputs.n; i++)
        LA_TRY(make_name(&g->names[1], "output", i + 1));
    for (int32_t i = 0; i < p->objects.n; i++) {
        const la_prog_object *o = la_prog_object_at(p, i);
        if (o->argument < 0) LA_TRY(make_weight(g, o->tensor, "weight."));
    }
    return LA_OK;
}

la_status la_program_make(la_prog *recorded, la_program **out)
{
    la_status status = make_check(recorded);
    la_program *g = status ? NULL : la_mem_zalloc(sizeof *g);
    if (!g) {
        la_prog_free(recorded);
        return status ? status : LA_ENOMEM;
    }
    /* Results of a run of a host have no history. */
    la_prog_stand_alone(recorded);
    atomic_store_explicit(&g->refs, 1, memory_order_relaxed);
    g->owner = la_here.owner;
    g->p = recorded;
    status = make_parts(g, recorded);
    if (status) la_program_drop(g);
    else *out = g;
    return status;
}

/* Numbers that steps read anew are tensors, so that they are written, named and
** set as weights are. */
la_status la_program_make_number(double value, la_tensor **out)
{
    LA_LET(t, la_tensor_empty(0, NULL, LA_FLOAT64, &t));
    memcpy(la_data(t), &value, sizeof value);
    return la_tensor_hand(&t, out);
}

/* One weight may be read as several numbers (a learning rate in each group):
** the first use names it. */
la_status la_program_add_number(la_program *g, int kind, la_tensor *number,
                                const char *name)
{
    int32_t weight = 0;
    while (weight < g->weights.n && la_program_weight_at(g, weight) != number)
        weight++;
    if (weight == g->weights.n) {
        LA_TRY(make_weight(g, number, "number."));
        LA_TRY(la_program_rename(g, 2, weight, name, strlen(name)));
    }
    la_program_number *to = la_prog_add(&g->numbers, sizeof *to);
    if (!to) return LA_ENOMEM;
    to->kind = kind;
    to->weight = weight;
    return LA_OK;
}

/* ---- the plan ---- */

/* The memory of a run is had now: runs allocate nothing. One entry more than
** needed, as no bytes may be NULL. */
static la_status make_walk(la_program *g)
{
    size_t in = (size_t)g->p->narguments, out = (size_t)g->p->outputs.n;
    la_program_walk *w = &g->walk;
    w->versions = la_mem_zalloc((in + 1) * sizeof *w->versions);
    w->in = la_mem_zalloc((in + 1) * sizeof *w->in);
    w->out = la_mem_zalloc((out + 1) * sizeof *w->out);
    w->results = la_mem_zalloc((out + 1) * sizeof *w->results);
    return w->versions && w->in && w->out && w->results ? LA_OK : LA_ENOMEM;
}

/* The last step of making and of reading a program: after it nothing of the
** recording changes, and it can run. */
la_status la_program_finish(la_program *g)
{
    for (int32_t i = 0; i < g->p->slots.n; i++) {
        const la_prog_slot *s = la_prog_slot_at(g->p, i);
        /* Only where something is written are inputs compared with it. */
        g->writes |= s->kind == LA_SLOT_OBJECT && s->written;
    }
    LA_TRY(make_walk(g));
    return la_prog_plan(g->p, NULL);
}

/* ---- copies ---- */

static la_status make_copy_names(const la_notes *from, la_notes *to)
{
    for (int64_t i = 0; i < from->n; i++)
        LA_TRY(la_notes_add(to, from->list[i].key, from->list[i].n, "", 0));
    return LA_OK;
}

static la_status make_copy_parts(const la_program *from, la_program *to)
{
    for (int k = 0; k < LA_PROGRAM_NAMES; k++)
        LA_TRY(make_copy_names(&from->names[k], &to->names[k]));
    for (int32_t i = 0; i < from->weights.n; i++) {
        la_tensor **w = la_prog_add(&to->weights, sizeof *w);
        if (!w) return LA_ENOMEM;
        *w = la_tensor_retain(la_program_weight_at(from, i));
    }
    for (int32_t i = 0; i < from->numbers.n; i++) {
        la_program_number *n = la_prog_add(&to->numbers, sizeof *n);
        if (!n) return LA_ENOMEM;
        *n = *LA_PROG_AT(from->numbers, la_program_number, i);
    }
    la_bytes_put(&to->call, from->call.data, from->call.n);
    LA_TRY(to->call.status);
    /* The plan belongs to one program: a copy makes its own from what was
    ** recorded. */
    LA_TRY(la_prog_copy(from->p->recorded, &to->p));
    to->planner = from->planner;
    if (to->planner) la_take_ref(&to->planner->refs);
    return la_program_finish(to);
}

la_status la_program_copy(const la_program *from, la_program **out)
{
    la_program *to = la_mem_zalloc(sizeof *to);
    if (!to) return LA_ENOMEM;
    atomic_store_explicit(&to->refs, 1, memory_order_relaxed);
    to->owner = from->owner;
    la_status status = make_copy_parts(from, to);
    if (status) la_program_drop(to);
    else *out = to;
    return status;
}

/* ---- the end ---- */

static void make_drop_walk(la_program *g)
{
    la_program_walk *w = &g->walk;
    if (!g->p) return;
    size_t in = (size_t)g->p->narguments, out = (size_t)g->p->outputs.n;
    if (w->on) la_program_stop(g);
    if (w->versions) la_mem_free(w->versions, (in + 1) * sizeof *w->versions);
    if (w->in) la_mem_free(w->in, (in + 1) * sizeof *w->in);
    if (w->out) la_mem_free(w->out, (out + 1) * sizeof *w->out);
    if (w->results) la_mem_free(w->results, (out + 1) * sizeof *w->results);
}

void la_program_drop(la_program *g)
{
    if (!g || !la_drop_ref(&g->refs)) return;
    la_program_drop_others(g);
    make_drop_walk(g);
    la_prog_free(g->parts);
    la_prog_free(g->p);
    for (int k = 0; k < LA_PROGRAM_NAMES; k++) la_notes_free(&g->names[k]);
    for (int32_t i = 0; i < g->weights.n; i++)
        la_tensor_release(la_program_weight_at(g, i));
    la_prog_drop_list(&g->weights, sizeof(la_tensor *));
    la_prog_drop_list(&g->numbers, sizeof(la_program_number));
    la_bytes_free(&g->call);
    la_planner_release(g->planner);
    la_mem_free(g, sizeof *g);
}

void la_program_drop_list(la_prog_list *list)
{
    for (int32_t i = 0; i < list->n; i++)
        la_program_drop(*LA_PROG_AT(*list, la_program *, i));
    la_prog_drop_list(list, sizeof(la_program *));
}
