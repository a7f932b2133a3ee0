/*
** Profiles: an open call is a block of its caller, in a list from the innermost
** out; when it ends, its time goes to a row of each profile that runs and to
** the call around it, as time inside. So self times add up to the time of all.
**
** Lines of the script are asked for once per outermost call; what runs inside
** of it, derivatives but for their nodes too, has the same one. They are kept
** as texts: a chunk may be collected while the profile runs. Blocks are the
** runtime's raw ones, which are not counted: a profile does not measure itself.
*/
#include "modules/profile/record.h"

#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/runtime/local.h"
#include "base/runtime/memory.h"

/* An array that doubles. */
typedef struct list {
    void *items;
    int64_t n, capacity;
} list;

/* Nodes in the order in which they were made: 'sequence' rises. */
typedef struct noted {
    uint64_t sequence;
    int32_t line;
} noted;

/* State that nested profiles share. */
typedef struct shared {
    int refs;
    la_profile_where where;
    void *host;
    list lines;                 /* texts of LA_PROFILE_LINE bytes */
    list line_slots;            /* int32_t: a table by hash */
    list nodes;
} shared;

struct la_profile {
    la_observer observer;       /* the context's while this is the innermost */
    struct la_profile *outer;
    la_runtime *runtime;
    la_context *context;        /* NULL: stopped */
    shared *shared;
    la_observed *open;          /* the innermost; of the innermost profile */
    list rows, row_slots, events;
    int64_t most, begun, ended, used, dropped, lost;
};

/* ---- arrays and tables ---- */

static bool record_reserve(la_runtime *rt, list *l, int64_t n, size_t size)
{
    if (n <= l->capacity) return true;
    int64_t capacity = l->capacity ? 2 * l->capacity : 64;
    void *fresh = la_raw_alloc(rt, (size_t)capacity * size);
    if (!fresh) return false;
    if (l->n) memcpy(fresh, l->items, (size_t)l->n * size);
    la_raw_free(rt, l->items, (size_t)l->capacity * size);
    l->items = fresh;
    l->capacity = capacity;
    return true;
}

static void record_drop(la_runtime *rt, list *l, size_t size)
{
    la_raw_free(rt, l->items, (size_t)l->capacity * size);
    *l = (list){0};
}

/* FNV-1a, for short texts and pointers. */
static uint32_t hash_of(const void *bytes, size_t n, uint32_t h)
{
    for (const unsigned char *b = bytes; n > 0; n--) h = (h ^ *b++) * 16777619u;
    return h;
}

/* A table of indices + 1 with open addressing, 0 where empty, at most half
** full. Makes it anew for one more of 'n'; the hash of index i is hash(p, i).
** False without memory. */
static bool make_slots(la_runtime *rt, list *slots, int64_t n,
                       uint32_t (*hash)(const void *, int64_t), const void *p)
{
    if (2 * (n + 1) <= slots->capacity) return true;
    list fresh = {NULL, 0, slots->capacity ? 2 * slots->capacity : 128};
    fresh.items = la_raw_alloc(rt, (size_t)fresh.capacity * sizeof(int32_t));
    if (!fresh.items) return false;
    int32_t *slot = fresh.items;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = hash(p, i) & (fresh.capacity - 1);
        while (slot[at]) at = (at + 1) & (fresh.capacity - 1);
        slot[at] = (int32_t)i + 1;
    }
    record_drop(rt, slots, sizeof(int32_t));
    *slots = fresh;
    return true;
}

/* ---- lines ---- */

static char *record_line_at(const shared *s, int64_t i)
{
    return (char *)s->lines.items + i * LA_PROFILE_LINE;
}

static uint32_t hash_line(const void *p, int64_t i)
{
    const char *text = record_line_at(p, i);
    return hash_of(text, strlen(text), 2166136261u);
}

/* The index of the text; -1 without memory. */
static int32_t intern(la_runtime *rt, shared *s, const char *text)
{
    int64_t n = s->lines.n;
    if (n == INT32_MAX / 2 || !make_slots(rt, &s->line_slots, n, hash_line, s)
        || !record_reserve(rt, &s->lines, n + 1, LA_PROFILE_LINE)) return -1;
    int32_t *slot = s->line_slots.items;
    int64_t mask = s->line_slots.capacity - 1;
    int64_t at = hash_of(text, strlen(text), 2166136261u) & mask;
    for (; slot[at]; at = (at + 1) & mask)
        if (strcmp(record_line_at(s, slot[at] - 1), text) == 0)
            return slot[at] - 1;
    snprintf(record_line_at(s, n), LA_PROFILE_LINE, "%s", text);
    s->lines.n++;
    slot[at] = (int32_t)n + 1;
    return (int32_t)n;
}

/* Number of the line where the script is now; -1 for nowhere. */
static int32_t line_now(la_profile *p)
{
    char text[LA_PROFILE_LINE];
    shared *s = p->shared;
    if (!s->where(s->host, text, sizeof text)) return -1;
    return intern(p->runtime, s, text);
}

const char *la_profile_line_text(const la_profile *p, int32_t line)
{
    return line < 0 ? "?" : record_line_at(p->shared, line);
}

/* ---- calls ---- */

static int64_t used_here(void)
{
    la_local *t = la_local_here();
    return t ? atomic_load_explicit(&t->used, memory_order_relaxed) : 0;
}

/* The line of the call around, else the script's. */
static int32_t inherited_line(la_profile *p)
{
    return p->open ? p->open->line : line_now(p);
}

static void recorded(la_observer *o, uint64_t sequence)
{
    la_profile *p = (la_profile *)o;
    list *l = &p->shared->nodes;
    if (!record_reserve(p->runtime, l, l->n + 1, sizeof(noted))) return;
    ((noted *)l->items)[l->n++] = (noted){sequence, inherited_line(p)};
}

/* The line that noted the node, or -1: it is older than the profile, or another
** thread's. */
static int32_t line_of_node(const shared *s, uint64_t sequence)
{
    const noted *notes = s->nodes.items;
    int64_t first = 0, n = s->nodes.n;
    while (n > 0) {
        int64_t half = n / 2;
        bool before = notes[first + half].sequence < sequence;
        if (before) first += half + 1;
        n = before ? n - half - 1 : half;
    }
    if (first == s->nodes.n || notes[first].sequence != sequence) return -1;
    return notes[first].line;
}

static void record_begin(la_observer *o, la_observed *c)
{
    la_profile *p = (la_profile *)o;
    c->line = c->kind == LA_OBSERVED_NODE ? line_of_node(p->shared, c->sequence)
                                          : -1;
    if (c->line < 0) c->line = inherited_line(p);
    c->outer = p->open;
    c->depth = p->open ? p->open->depth + 1 : 0;
    c->used = used_here();
    p->open = c;
    c->begun = la_nanoseconds();
}

static bool same_call(const la_observed *a, const la_observed *b)
{
    return a->kind == b->kind && a->name == b->name && a->line == b->line;
}

static uint32_t hash_row(const char *key, int32_t kind, int32_t line)
{
    uint32_t h = hash_of(&key, sizeof key, 2166136261u);
    return hash_of(&line, sizeof line, h ^ (uint32_t)kind);
}

static uint32_t hash_row_at(const void *p, int64_t i)
{
    const la_profile_row *r = la_profile_row_at(p, i);
    return hash_row(r->key, r->kind, r->line);
}

/* A host's operation may be gone, and its name's address be another's. */
static bool is_row_of(const la_profile_row *r, const la_observed *c)
{
    size_t n = c->n < LA_PROFILE_NAME ? c->n : LA_PROFILE_NAME - 1;
    return r->key == c->name && r->kind == (int32_t)c->kind
        && r->line == c->line && strncmp(r->name, c->name, n) == 0
        && r->name[n] == 0;
}

/* The row of the call, made when it is new; NULL without memory. */
static la_profile_row *record_row_of(la_profile *p, const la_observed *c)
{
    int64_t n = p->rows.n;
    if (n == INT32_MAX / 2
        || !make_slots(p->runtime, &p->row_slots, n, hash_row_at, p)
        || !record_reserve(p->runtime, &p->rows, n + 1, sizeof(la_profile_row)))
        return NULL;
    la_profile_row *rows = p->rows.items;
    int32_t *slot = p->row_slots.items;
    int64_t mask = p->row_slots.capacity - 1;
    int64_t at = hash_row(c->name, (int32_t)c->kind, c->line) & mask;
    for (; slot[at]; at = (at + 1) & mask)
        if (is_row_of(&rows[slot[at] - 1], c)) return &rows[slot[at] - 1];
    slot[at] = (int32_t)n + 1;
    p->rows.n++;
    rows[n] = (la_profile_row){.key = c->name, .line = c->line,
                               .kind = (int32_t)c->kind};
    snprintf(rows[n].name, LA_PROFILE_NAME, "%.*s", (int)c->n, c->name);
    return &rows[n];
}

/* One call of a profile; 'again' inside of a call of the same row, which has
** its time already. */
static void record_add(la_profile *p, const la_observed *c, int64_t took,
                       int64_t bytes, bool again)
{
    la_profile_row *r = record_row_of(p, c);
    if (!r) {
        p->lost++;
        return;
    }
    r->count++;
    r->self += took - c->inside;
    r->bytes_self += bytes - c->bytes_inside;
    if (!again) r->total += took;
    if (!again) r->bytes += bytes;
    if (p->events.n >= p->most
        || !record_reserve(p->runtime, &p->events, p->events.n + 1,
                           sizeof(la_profile_event))) {
        p->dropped++;
        return;
    }
    la_profile_event *e = (la_profile_event *)p->events.items + p->events.n++;
    *e = (la_profile_event){
        .row = (int32_t)(r - (la_profile_row *)p->rows.items),
        .depth = c->depth, .begun = c->begun - p->begun, .took = took,
        .bytes = bytes, .used = c->used + bytes - p->used
    };
}

static void record_end(la_observer *o, la_observed *c)
{
    la_profile *p = (la_profile *)o;
    int64_t took = la_nanoseconds() - c->begun;
    int64_t bytes = used_here() - c->used;
    bool again = false;
    for (la_observed *d = c->outer; d && !again; d = d->outer)
        again = same_call(d, c);
    p->open = c->outer;
    if (c->outer) c->outer->inside += took;
    if (c->outer) c->outer->bytes_inside += bytes;
    for (; p; p = p->outer) record_add(p, c, took, bytes, again);
}

/* ---- start and end ---- */

static void leave_shared(la_runtime *rt, shared *s)
{
    if (--s->refs) return;
    record_drop(rt, &s->lines, LA_PROFILE_LINE);
    record_drop(rt, &s->line_slots, sizeof(int32_t));
    record_drop(rt, &s->nodes, sizeof(noted));
    la_raw_free(rt, s, sizeof *s);
}

la_status la_profile_start(la_profile_where where, void *host, int64_t most,
                           la_profile **out)
{
    la_context *c = la_ctx();
    la_runtime *rt = la_runtime_here();
    la_profile *p = la_raw_alloc(rt, sizeof *p);
    la_profile *outer = (la_profile *)c->observer;
    shared *s = !p ? NULL : outer ? outer->shared
                                  : la_raw_alloc(rt, sizeof *s);
    if (!s) {
        la_raw_free(rt, p, sizeof *p);
        return la_error(LA_ENOMEM, "not enough memory for a profile");
    }
    if (!outer) *s = (shared){.where = where, .host = host};
    s->refs++;
    *p = (la_profile){.observer = {record_begin, record_end, recorded},
                      .outer = outer, .runtime = rt, .context = c,
                      .shared = s, .most = most,
                      .open = outer ? outer->open : NULL};
    p->used = used_here();
    p->begun = la_nanoseconds();
    la_observe(c, &p->observer);
    *out = p;
    return LA_OK;
}

void la_profile_stop(la_profile *p)
{
    la_context *c = p->context;
    if (!c) return;
    p->ended = la_nanoseconds();
    p->context = NULL;
    la_observe(c, p->outer ? &p->outer->observer : NULL);
}

void la_profile_free(la_profile *p)
{
    if (!p) return;
    la_runtime *rt = p->runtime;
    record_drop(rt, &p->rows, sizeof(la_profile_row));
    record_drop(rt, &p->row_slots, sizeof(int32_t));
    record_drop(rt, &p->events, sizeof(la_profile_event));
    leave_shared(rt, p->shared);
    la_raw_free(rt, p, sizeof *p);
}

/* ---- reading ---- */

la_profile_sums la_profile_sums_of(const la_profile *p)
{
    int64_t end = p->context ? la_nanoseconds() : p->ended;
    return (la_profile_sums){.rows = p->rows.n, .events = p->events.n,
                             .dropped = p->dropped, .lost = p->lost,
                             .took = end - p->begun};
}

const la_profile_row *la_profile_row_at(const la_profile *p, int64_t i)
{
    return (const la_profile_row *)p->rows.items + i;
}

const la_profile_event *la_profile_event_at(const la_profile *p, int64_t i)
{
    return (const la_profile_event *)p->events.items + i;
}
