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
#include "tensor/host/lend.h"
#include "tensor/storage.h"

#include <inttypes.h>
#include <stdatomic.h>

enum { ID_WORDS = 2 };

typedef struct parcel {
    struct parcel *next;
    uint64_t id[ID_WORDS];
    la_tensor *t;               /* owned */
    bool many;                  /* opened any number of times, for reading */
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
static la_status share_pack(la_tensor *t, bool many, parcel **out)
{
    LA_TRY(la_tensor_check_bounds(t));
    if (!t->storage || t->device == LA_META)
        return la_error(LA_EKEY, "the tensor has no data on the CPU");
    if (la_requires_grad(t))
        return la_error(LA_EGRAD, "the tensor requires grad, and graphs belong "
                        "to one state; share x:detach()");
    parcel *p = la_mem_alloc(sizeof *p);
    if (!p) return la_error(LA_ENOMEM, "not enough memory");
    *p = (parcel){.id = {la_fresh_seed(), la_fresh_seed()}, .many = many};
    la_status status = many ? la_tensor_lend(t, &p->t)
                            : la_tensor_alias(t, false, &p->t);
    if (status) la_mem_free(p, sizeof *p);
    else *out = p;
    return status;
}

/* The option {many = true}. */
static bool share_many(lua_State *L)
{
    static const char *const known[] = {"many", NULL};
    if (lua_isnoneornil(L, 2)) return false;
    if (!lua_istable(L, 2))
        la_raise_arg(L, 2, "share", "table of options expected, got %s",
                     la_type_text(L, 2));
    la_check_keywords(L, 2, known, "share");
    int type = lua_getfield(L, 2, "many");
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        la_raise_arg(L, 2, "share", "many: boolean expected, got %s",
                     la_type_text(L, lua_gettop(L)));
    return lua_toboolean(L, -1);
}

/* x:share([{many=}]): the handle. The tensor lives until somebody opens it, or
** until unshare. */
static int method_share(lua_State *L)
{
    parcel *p = NULL;
    char text[64];
    refuse_in_sandbox(L, "share");
    bool many = share_many(L);
    la_tensor *t = la_check_tensor(L, 1, "share");
    LA_CHECK(L, "share", share_pack(t, many, &p));
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

/* Take the parcel of that number, if it is of this runtime; one that is opened
** many times stays, and gives its tensor, but where 'last'. */
static la_status share_take(const uint64_t *id, bool last, la_tensor **out)
{
    parcel *found = NULL;
    bool elsewhere = false, stays = false;
    lock_list();
    for (parcel **p = &waiting; *p; p = &(*p)->next) {
        if ((*p)->id[0] != id[0] || (*p)->id[1] != id[1]) continue;
        elsewhere = la_owner_of((*p)->t) != la_runtime_here();
        if (elsewhere) break;
        found = *p;
        *out = found->t;
        stays = found->many && !last;
        if (stays) la_tensor_retain(*out);
        else *p = found->next;
        break;
    }
    unlock_list();
    if (elsewhere)
        return la_error(LA_EARG, "the tensor belongs to another runtime");
    if (!found)
        return la_error(LA_EARG, "no tensor waits under this handle; each one "
                        "is opened once");
    if (!stays) la_mem_free(found, sizeof *found);
    return LA_OK;
}

/* A header of the state's own: t_ and the like change no other's. */
static la_status share_open(const uint64_t *id, la_tensor **out)
{
    LA_OWNED t = NULL;
    LA_TRY(share_take(id, false, &t));
    return la_tensor_alias(t, false, out);
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

/* The handle at 1. */
static void share_check(lua_State *L, const char *name, uint64_t *id)
{
    size_t n = 0;
    refuse_in_sandbox(L, name);
    const char *text = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &n)
                                                     : NULL;
    if (!text || n != 41 || !read_handle(text, id))
        la_raise_arg(L, 1, name, "handle of x:share() expected, got %s",
                     text ? "another string" : la_type_text(L, 1));
}

/* open(handle): the tensor; its memory is the one that was shared. */
static int fn_open(lua_State *L)
{
    uint64_t id[ID_WORDS] = {0};
    la_tensor *t = NULL;
    share_check(L, "open", id);
    la_state *s = la_up_state(L);
    la_handle *h = la_new_handle(L, s);
    LA_CHECK(L, "open", share_open(id, &t));
    la_fill_handle(s, h, t);
    return 1;
}

/* unshare(handle): it opens nothing any more; tensors that it gave stay. */
static int fn_unshare(lua_State *L)
{
    uint64_t id[ID_WORDS] = {0};
    la_tensor *t = NULL;
    share_check(L, "unshare", id);
    LA_CHECK(L, "unshare", share_take(id, true, &t));
    la_tensor_release(t);
    return 0;
}

static const la_function functions[] = {
    {"open", fn_open, 1}, {"unshare", fn_unshare, 1}, {NULL, NULL, 0}
};
static const la_function methods[] = {
    {"share", method_share, 2}, {NULL, NULL, 0}
};
const la_part la_part_share = {functions, methods};
