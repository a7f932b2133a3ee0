/*
** Modes that belong to a coroutine: whether gradients are recorded, and the
** generator of la.fork_rng.
**
** Operations read both from the state's context. The main thread's are the
** state's own; a coroutine has its own from where it opens a scope to where
** that is closed. While any coroutine has some, 'thread' says whose modes the
** context holds; whoever enters the library from another exchanges them. No
** hook tells of a coroutine that yields or is dropped, and none is needed: a
** coroutine's modes hold in it and in those that it resumes, and are not asked
** for otherwise.
*/
#ifndef LA_LUA_MODES_H
#define LA_LUA_MODES_H

#include <lua.h>
#include <stdbool.h>

#include "base/runtime/context.h"

typedef struct la_mode la_mode;
struct la_state;

typedef struct la_modes {
    lua_State *thread;          /* the one that runs; NULL: no coroutine has
                                ** modes of its own, and no anomaly mode asks */
    la_mode *drawn;             /* whose generator the context has; NULL: the
                                ** state's */
    la_generator generator;     /* the state's, while the context has another */
    bool no_grad;               /* the state's */
    int count;                  /* coroutines that have some */
    uint64_t opened;
} la_modes;

/* The context gets the modes of L. Raises and allocates nothing. */
void la_settle_modes(lua_State *L, struct la_state *s);

/* State that a grad mode replaces, on one thread of Lua. */
typedef struct la_mode_mark {
    la_mode *mode;              /* the coroutine's; NULL: the main thread */
    bool had, own, context;
} la_mode_mark;
/* Begins this grad mode on L: pushes what keeps the mark's 'mode' (or nil).
** Raises for want of memory, and then nothing has changed. */
la_mode_mark la_open_mode(lua_State *L, struct la_state *s, bool no_grad);
/* The end of it for C, on L, where L did not yield meanwhile: the context is as
** it was. Raises nothing. */
void la_end_mode(lua_State *L, struct la_state *s, const la_mode_mark *m);
/* The end of a scope's, on any thread, by then. Raises nothing. */
void la_close_mode(lua_State *L, struct la_state *s, const la_mode_mark *m);

/* Fork of the generator: it begins where the one of L is, and ends like a grad
** mode. */
typedef struct la_fork {
    la_mode *mode;
    la_generator saved;
    bool had, ended;
} la_fork;
la_fork la_open_fork(lua_State *L, struct la_state *s);
void la_close_fork(lua_State *L, struct la_state *s, la_fork *f);

#endif
