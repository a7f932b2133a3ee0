/*
** What is left of a Lua state's handles when it closes.
**
** Lua sets no finalizer while it closes a state: of a tensor that a finalizer
** makes there, nothing tells us when its handle goes. To ask at each handle
** whether a finalizer runs would cost a small call a twentieth of its time. So
** the state's own block, which Lua finalizes last, looks whether handles are
** left. If so, it puts itself before the allocator of the Lua state, by which
** lua_close gives all memory back, and the tensor of a handle goes with the
** handle's memory.
*/
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "lua/binding.h"

typedef struct closing {
    lua_Alloc next;
    void *next_data;
    const la_state *state;      /* a number from here on: it may be freed */
    const char *main;           /* lies in the last block of all */
    la_runtime *runtime;
} closing;

/* Userdata end with what is in them. A tensor that was dropped left NULL. */
static void drop_tensor(const closing *c, char *block, size_t bytes)
{
    la_handle *h = (la_handle *)(void *)(block + bytes - sizeof(*h));
    if (bytes % sizeof(void *) || h->magic != LA_HANDLE_MAGIC) return;
    if (h->state != c->state || !h->tensor) return;
    LA_ENTRY_IN(c->runtime);
    la_tensor_drop(&h->tensor);
}

static void *allocate(void *data, void *block, size_t before, size_t after)
{
    closing *c = data;
    if (!block || after)
        return c->next(c->next_data, block, before, after);
    if (before > sizeof(la_handle)) drop_tensor(c, block, before);
    const char *from = block;
    closing copy = *c;
    if (c->main >= from && c->main < from + before) {
        LA_ENTRY_IN(copy.runtime);
        la_mem_free(c, sizeof(*c));
    }
    return copy.next(copy.next_data, block, before, 0);
}

/* Tensors that are left stay, where there is no memory for the record. */
void la_close_handles(lua_State *L, const la_state *s)
{
    if (s->begun == s->ended) return;
    closing *c = la_mem_alloc(sizeof(*c));
    if (!c) return;
    c->state = s;
    c->main = (const char *)s->main;
    c->runtime = s->context.runtime;
    c->next = lua_getallocf(L, &c->next_data);
    lua_setallocf(L, allocate, c);
}
