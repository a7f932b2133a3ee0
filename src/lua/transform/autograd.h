/* Shared by the files of the autograd binding. */
#ifndef LA_LUA_TRANSFORM_AUTOGRAD_H
#define LA_LUA_TRANSFORM_AUTOGRAD_H

#include <stdio.h>
#include <stdlib.h>

#include "grad/grad.h"
#include "lua/attr.h"
#include "lua/binding.h"

const char *la_node_name(const la_node *n);

/* The Lua state on which callbacks of this library state run. It is the thread
** that called backward, else the main thread: other coroutines may be
** suspended, and no function can be called on those. */
lua_State *la_lua_of(la_state *s);
/* The error value on top of the stack (popped) as the error record. 'what' is
** prepended unless an inner call has already done so. Runs __tostring of the
** error value, unprotected. */
la_status la_lua_error(lua_State *L, const char *what);
/* la_lua_error for a function that backward called: the value also waits to be
** raised as it is by la_raise_kept. */
la_status la_keep_error(lua_State *L, la_state *s, const char *what);
/* Raise the value that a function of the user's raised during this backward,
** else the error record as la_raise does. */
int la_raise_kept(lua_State *L, const char *name, la_status status);
/* Make the slot where errors wait; raises for want of memory. */
void la_open_errors(lua_State *L);
/* Push a new handle on a borrowed tensor, from outside a closure of ours.
** Retains 't'. May run a collector step; raises for want of memory, and then
** nothing is retained. */
void la_push_borrowed(lua_State *L, la_state *s, la_tensor *t);

/* Lua values that a node of the graph holds: a hook, a custom function. They
** stand in the registry; when the state is closed before the graph dies (a host
** may keep tensors), the tie is cut and calls through it are errors. */
typedef struct la_tie {
    la_state *state;            /* NULL: the state was closed */
    int refs[2];                /* registry references, LUA_NOREF for none */
    bool moved;                 /* see lua/transform/collect_ties.c */
    struct la_tie *next, **link;
} la_tie;

/* Take over the references; what was there before is not released. */
void la_tie_set(la_tie *t, la_state *s, int first, int second);
/* Give the references back; may run twice. */
void la_tie_end(la_tie *t);
/* The tie of a hook in Lua, of a custom function's node; NULL for others. */
la_tie *la_tie_of_hook(const la_hook *h);
la_tie *la_tie_of_node(la_node *n);
/* Push value k of the tie; needs 6 slots of the stack. */
void la_tie_push(lua_State *L, const la_tie *t, int k);
/* Free ties that only their own functions keep alive, when there are many. May
** run Lua code. */
void la_collect_ties(lua_State *L, la_state *s);
/* Push the values of a tie that la_collect_ties has moved as a list; nil when
** they are gone. */
void la_tie_push_moved(lua_State *L, const la_tie *t);
/* The state on which the tie's functions run, with free slots on its stack.
** LA_EGRAD when it was closed or its stack is full. */
la_status la_tie_enter(const la_tie *t, lua_State **out);

/* lua_CFunctions: la.Function{...}, la.grad_graph(x) and x:register_hook(f). */
int la_fn_Function(lua_State *L);
int la_fn_grad_graph(lua_State *L);
int la_method_register_hook(lua_State *L);
int la_method_register_after_hook(lua_State *L);

#endif
