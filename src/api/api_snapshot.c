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
#include "fuse/fuse.h"
#include "api/api.h"
#include "tensor/snapshot.h"

/* ---- snapshots ---- */

/* Refusal: calls that a recording has written down run later than it says. */
static const char inside_fuse[] = "not possible inside of la.fuse";

LA_API la_snapshot *la_snapshot_take(int n, la_tensor *const *list)
{
    la_snapshot *s = NULL;
    bool recording = la_fuse_is_open();
    LA_API_ENTRY_IN(la_owner_of(n > 0 && list ? list[0] : NULL));
    la_share_tensors();
    la_status status = recording ? la_error(LA_ESTATE, inside_fuse)
                                 : la_snapshot_make(n, list, &s);
    return la_api_end("la_snapshot_take", status) ? NULL : s;
}

LA_API int la_snapshot_restore(la_snapshot *s)
{
    bool recording = la_fuse_is_open();
    LA_API_ENTRY_IN(s ? la_runtime_at(la_snapshot_owner(s))
                      : la_runtime_chosen());
    la_status status = !s ? la_error(LA_EARG, "no snapshot given")
                     : recording ? la_error(LA_ESTATE, inside_fuse)
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

/* A deferred tensor gets its value on the thread that recorded it. */
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
