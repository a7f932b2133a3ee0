/*
** x:share() and la.open(handle): a tensor goes from one Lua state of the
** process to another without a copy of its elements.
**
** A handle is a string, so that any channel between states carries it. What is
** under way waits in a list of the process, found by a number that cannot be
** guessed; opening takes it out. A tensor belongs to its runtime, so a state of
** another one cannot open it.
*/
#include "base/runtime/memory.h"
#include "base/ascii.h"
#include "grad/grad.h"
#include "lua/build_options.h"
#include "tensor/storage.h"

#include <inttypes.h>
#include <stdatomic.h>

enum { ID_WORDS = 2 };

typedef struct parcel {
    struct parcel *next;
    uint64_t id[ID_WORDS];
    la_tensor *t;               /* owned */
} parcel;

/* Held for a few instructions, so who waits spins. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static parcel *waiting;         /* under the lock */

static void lock_list(void)
{
    while (atomic_flag_test_and_set(&lock)) { }
}

static void unlock_list(void) { atomic_flag_clear(&lock); }

static void refuse_in_sandbox(lua_State *L, const char *name)
{
    if (la_enter(L)->sandboxed)
        luaL_error(L, "%s: not available in a sandbox", name);
}

/* A parcel with a tensor of its own on t's memory: what one state does to its
** header (t_, resize_) the other does not see. */
static la_status share_pack(la_tensor *t, parcel **out)
{
    LA_TRY(la_tensor_check_bounds(t));
    if (!t->storage || t->device == LA_META)
        return la_error(LA_EKEY, "the tensor has no data on the CPU");
    if (la_requires_grad(t))
        return la_error(LA_EGRAD, "the tensor requires grad, and graphs belong "
                        "to one state; share x:detach()");
    parcel *p = la_mem_alloc(sizeof *p);
    if (!p) return la_error(LA_ENOMEM, "not enough memory");
    *p = (parcel){.id = {la_fresh_seed(), la_fresh_seed()}};
    la_status status = la_tensor_alias(t, false, &p->t);
    if (status) la_mem_free(p, sizeof *p);
    else *out = p;
    return status;
}

/* x:share(): the handle. The tensor lives until somebody opens it. */
static int method_share(lua_State *L)
{
    parcel *p = NULL;
    char text[64];
    refuse_in_sandbox(L, "share");
    la_tensor *t = la_check_tensor(L, 1, "share");
    LA_CHECK(L, "share", share_pack(t, &p));
    la_share_tensors();     /* from now on two threads can hold one storage */
    snprintf(text, sizeof text, "lunarray:%016" PRIx64 "%016" PRIx64, p->id[0],
             p->id[1]);
    lock_list();
    p->next = waiting;
    waiting = p;
    unlock_list();
    /* May raise for want of memory: then the parcel stays, as if sent. */
    lua_pushstring(L, text);
    return 1;
}

/* Take the parcel of that number, if it is of this runtime. */
static la_status share_take(const uint64_t *id, la_tensor **out)
{
    parcel *found = NULL;
    bool elsewhere = false;
    lock_list();
    for (parcel **p = &waiting; *p; p = &(*p)->next) {
        if ((*p)->id[0] != id[0] || (*p)->id[1] != id[1]) continue;
        elsewhere = la_owner_of((*p)->t) != la_runtime_here();
        if (elsewhere) break;
        found = *p;
        *p = found->next;
        break;
    }
    unlock_list();
    if (elsewhere)
        return la_error(LA_EARG, "the tensor belongs to another runtime");
    if (!found)
        return la_error(LA_EARG, "no tensor waits under this handle; each one "
                        "is opened once");
    *out = found->t;
    la_mem_free(found, sizeof *found);
    return LA_OK;
}

/* "lunarray:" and the digits of both words; the text has 41 bytes. */
static bool read_handle(const char *text, uint64_t id[ID_WORDS])
{
    if (memcmp(text, "lunarray:", 9) != 0) return false;
    for (int k = 0; k < 32; k++) {
        int digit = la_hex_digit(text[9 + k]);
        if (digit < 0) return false;
        id[k / 16] = id[k / 16] << 4 | (uint64_t)digit;
    }
    return true;
}

/* open(handle): the tensor; its memory is the one that was shared. */
static int fn_open(lua_State *L)
{
    uint64_t id[ID_WORDS] = {0};
    la_tensor *t = NULL;
    refuse_in_sandbox(L, "open");
    size_t n = 0;
    const char *text = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &n)
                                                     : NULL;
    if (!text || n != 41 || !read_handle(text, id))
        return la_raise_arg(L, 1, "open", "handle of x:share() expected, got "
                            "%s", text ? "another string" : la_type_text(L, 1));
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    LA_CHECK(L, "open", share_take(id, &t));
    la_fill_handle(s, h, t);
    return 1;
}

static const la_function functions[] = {
    {"open", fn_open, 1}, {NULL, NULL, 0}
};
static const la_function methods[] = {
    {"share", method_share, 1}, {NULL, NULL, 0}
};
const la_part la_part_share = {functions, methods};
