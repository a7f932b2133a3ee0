/*
** Tables of Lua values as archives: what la.save takes and la.load gives. Each
** tensor and number goes by its keys joined with dots; where that alone would
** not come back as it went (tables in tables, lists, plain values), a text of
** the metadata tells the keys and values of all leaves.
*/
#ifndef LA_LUA_FILES_CHECKPOINT_H
#define LA_LUA_FILES_CHECKPOINT_H

#include "io/archive.h"
#include "lua/binding.h"

/* An empty archive that the collector owns, pushed. */
la_archive *la_push_archive(lua_State *L);

/* The values of the table at 'table' (an argument of "save") join the archive,
** which holds references of its own. Raises for what cannot be saved. Leaves
** the stack as it was. */
void la_collect_values(lua_State *L, la_archive *, int table);

/* Push the archive's values as one table; its tensors move into handles. An
** error on the way, raised as one of 'name', leaves the rest to the archive's
** finalizer. */
void la_push_values(lua_State *L, const char *name, la_archive *);

/* Push a table of texts by their keys, without our own of the metadata. */
void la_push_notes(lua_State *L, const la_notes *);
/* The table of texts at 'at' joins the metadata. Raises, as of argument 'arg'
** of "save". */
void la_collect_metadata(lua_State *L, la_archive *, int at, int arg);

#endif
