/*
** The public functions on snapshots and slots (lunarray.h).
**
** A snapshot is of one runtime, that of its tensors, and so is all it does. A
** slot has one for its own memory alone: what is published may be of another,
** and a tensor that is dropped goes back to its own.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include "base/lock.h"
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "program/program.h"
#include "api/api.h"
#include "api/api_struct.h"
#include "tensor/host/record.h"
#include "tensor/snapshot.h"

/* ---- snapshots ---- */

/* Why a recording comes to nothing. */
static const char host_snapshot[] = "the host takes or restores a snapshot";

LA_API la_snapshot *la_snapshot_take(int n, la_tensor *const *list)
{
    la_snapshot *s = NULL;
    la_record_refuse(host_snapshot);
    LA_API_ENTRY_IN(la_owner_of(n > 0 && list ? list[0] : NULL));
    la_share_tensors();
    la_status status = la_snapshot_make(n, list, &s);
    return la_api_end("la_snapshot_take", status) ? NULL : s;
}

/* The tensors of a definition: those that it lists, and the bytes of each
** record's fields; 'owned' from 'def->tensors' on. */
typedef struct snapshot_list {
    int64_t n, given;
    la_tensor **list;
    size_t bytes;
} snapshot_list;

static void snapshot_list_free(snapshot_list *l)
{
    for (int64_t k = l->given; k < l->n; k++) la_tensor_release(l->list[k]);
    la_mem_free(l->list, l->bytes);
}
#define SNAPSHOT_LIST __attribute__((cleanup(snapshot_list_free))) snapshot_list

/* Looks at everything before memory is taken. */
static la_status snapshot_check(const la_snapshot_def *def)
{
    if (def->tensors < 0 || def->records < 0 || def->generators < 0)
        return la_error(LA_EARG, "numbers below zero");
    if ((def->tensors && !def->tensor_list)
        || (def->records && !def->record_list)
        || (def->generators && !def->generator_list))
        return la_error(LA_EARG, "a list is missing");
    for (int k = 0; k < def->records; k++)
        if (!def->record_list[k])
            return la_error(LA_EARG, "record %d is NULL", k + 1);
    return LA_OK;
}

/* One list of all: given tensors first, then the bytes of every field of every
** record, which the snapshot owns. */
static la_status snapshot_fill(const la_snapshot_def *def, snapshot_list *l)
{
    int64_t n = def->tensors;
    for (int k = 0; k < def->records; k++) n += def->record_list[k]->nfields;
    l->bytes = (size_t)(n ? n : 1) * sizeof *l->list;
    l->list = la_mem_alloc(l->bytes);
    if (!l->list) return LA_ENOMEM;
    for (; l->n < def->tensors; l->n++) l->list[l->n] = def->tensor_list[l->n];
    l->given = l->n;
    for (int k = 0; k < def->records; k++) {
        la_record *r = def->record_list[k];
        for (int i = 0; i < r->nfields; i++, l->n++)
            LA_TRY(la_record_bytes(r, &r->fields[i], &l->list[l->n]));
    }
    return LA_OK;
}

/* Generators are copied by value, together with where they were: a restored
** state must continue the same numbers. */
static la_status snapshot_note(const la_snapshot_def *def, la_snapshot *s)
{
    size_t bytes = (size_t)def->generators * sizeof(la_snapshot_generator);
    if (!bytes) return LA_OK;
    la_snapshot_generator *list = la_mem_alloc(bytes);
    la_status status = list ? LA_OK : LA_ENOMEM;
    for (int k = 0; !status && k < def->generators; k++) {
        lua_State *L = def->generator_list[k];
        la_context *c = la_context_of(L);
        if (L && !c)
            status = la_error(LA_ESTATE, "state %d was never opened", k + 1);
        else
            list[k] = (la_snapshot_generator){
                c ? &c->generator : NULL,
                c ? c->generator : la_ctx()->generator};
    }
    if (!status) status = la_snapshot_note(s, def->generators, list);
    la_mem_free(list, bytes);
    return status;
}

/* A snapshot is whole, or there is none. */
static la_status snapshot_of(const la_snapshot_def *def, la_snapshot **out)
{
    SNAPSHOT_LIST l = {0};
    LA_TRY(snapshot_fill(def, &l));
    LA_TRY(la_snapshot_make(l.n, l.list, out));
    la_snapshot_own(*out, l.given);
    la_status status = snapshot_note(def, *out);
    if (status) {
        la_snapshot_drop(*out);
        *out = NULL;
    }
    return status;
}

/* The runtime is that of the first tensor or record. */
LA_API la_snapshot *la_snapshot_take_ex(const la_snapshot_def *given)
{
    static const char name[] = "la_snapshot_take_ex";
    la_snapshot *s = NULL;
    la_snapshot_def def;
    la_record_refuse(host_snapshot);
    la_status status = given
        ? LA_READ_STRUCT(name, la_snapshot_def, given, &def)
        : la_error(LA_EARG, "no definition given");
    if (!status) status = snapshot_check(&def);
    if (status) {
        la_error_named(name, status);
        return NULL;
    }
    LA_API_ENTRY_IN(!def.tensors && def.records
                    ? la_runtime_at(def.record_list[0]->owner)
                    : la_owner_of(def.tensors ? def.tensor_list[0] : NULL));
    la_share_tensors();
    status = snapshot_of(&def, &s);
    return la_api_end(name, status) ? NULL : s;
}

LA_API int la_snapshot_restore(la_snapshot *s)
{
    la_record_refuse(host_snapshot);
    LA_API_ENTRY_IN(s ? la_runtime_at(la_snapshot_owner(s))
                      : la_runtime_chosen());
    la_status status = !s ? la_error(LA_EARG, "no snapshot given")
                     : la_snapshot_put_back(s);
    return la_api_end("la_snapshot_restore", status);
}

/* On any thread, also while another uses the tensors: what they share with it
** is under the lock of tensor/snapshot.c. */
LA_API void la_snapshot_release(la_snapshot *s)
{
    la_snapshot_drop(s);
}

/* ---- the generator of a state ---- */

/* Settings of the call at hand, which ends with 'status'; NULL where L is no
** state of ours. Inside of la.fork_rng it is the fork's generator. */
static la_generator *generator_of(lua_State *L, const void *given,
                                  la_status *status)
{
    *status = LA_OK;
    if (!given) *status = la_error(LA_EARG, "no generator's state given");
    if (L && !la_context_of(L))
        *status = la_error(LA_ESTATE, "the Lua state was never opened "
                           "(la_openlibs)");
    return *status ? NULL : &la_ctx()->generator;
}

LA_API int la_get_generator(lua_State *L, la_generator_state *out)
{
    la_status status;
    LA_API_ENTRY(la_context_of(L));
    const la_generator *g = generator_of(L, out, &status);
    if (g) *out = (la_generator_state){g->seed, g->offset};
    return la_api_end("la_get_generator", status);
}

LA_API int la_set_generator(lua_State *L, const la_generator_state *from)
{
    la_status status;
    LA_API_ENTRY(la_context_of(L));
    la_generator *g = generator_of(L, from, &status);
    if (g) *g = (la_generator){from->seed, from->offset};
    return la_api_end("la_set_generator", status);
}

LA_API int la_seed_generator(lua_State *L, uint64_t seed)
{
    la_status status;
    LA_API_ENTRY(la_context_of(L));
    la_generator *g = generator_of(L, &seed, &status);
    if (g) *g = (la_generator){.seed = seed};
    return la_api_end("la_seed_generator", status);
}

/* ---- slots ---- */

/* The lock is held for the exchange of a pointer; tensors die outside of it. */
struct la_slot {
    la_lock lock;
    la_tensor *latest;          /* owned; NULL before the first */
    uint8_t owner;              /* the runtime of the slot; tensors may be of
                                ** others */
};

/* The slot belongs to the runtime that is current when it is made, as tensors
** do. */
static la_status new_slot(la_slot **out)
{
    la_slot *s = la_mem_alloc(sizeof *s);
    if (!s) return LA_ENOMEM;
    s->latest = NULL;
    s->owner = la_here.owner;
    if (!la_lock_init(&s->lock)) {
        la_mem_free(s, sizeof *s);
        return la_error(LA_ENOMEM, "no lock can be made");
    }
    *out = s;
    return LA_OK;
}

LA_API la_slot *la_slot_new(void)
{
    la_slot *s = NULL;
    LA_API_ENTRY(NULL);
    la_share_tensors();
    la_api_end("la_slot_new", new_slot(&s));
    return s;
}

/* The old tensor is released after the lock is dropped: its release may call
** the host. */
static la_status publish(la_slot *s, la_tensor *t)
{
    if (!s || !t) return la_error(LA_EARG, "a slot and a tensor are needed");
    if (t->device == LA_CPU) LA_TRY(la_tensor_check_bounds(t));
    la_tensor *before;
    la_tensor_retain(t);
    la_lock_take(&s->lock);
    before = s->latest;
    s->latest = t;
    la_lock_drop(&s->lock);
    la_tensor_release(before);
    return LA_OK;
}

LA_API int la_slot_publish(la_slot *s, la_tensor *t)
{
    LA_API_ENTRY_IN(la_owner_of(t));
    la_share_tensors();
    return la_api_end("la_slot_publish", publish(s, t));
}

/* The reference is taken under the lock: who publishes meanwhile may drop the
** slot's own. */
LA_API la_tensor *la_slot_acquire(la_slot *s)
{
    la_tensor *t = NULL;
    LA_API_ENTRY(NULL);
    if (!s) {
        la_api_end("la_slot_acquire", la_error(LA_EARG, "no slot given"));
        return NULL;
    }
    la_lock_take(&s->lock);
    if (s->latest) t = la_tensor_retain(s->latest);
    la_lock_drop(&s->lock);
    la_api_end("la_slot_acquire", LA_OK);
    return t;
}

LA_API void la_slot_release(la_slot *s)
{
    if (!s) return;
    la_position before = la_move_to_owner(s->owner);
    la_tensor_release(s->latest);
    la_lock_destroy(&s->lock);
    la_mem_free(s, sizeof *s);
    la_move_back(&before);
}
