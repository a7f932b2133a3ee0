/* Records in Lua (record_handle.c) for the public functions on them. */
#ifndef LA_LUA_LIFETIME_RECORD_HANDLE_H
#define LA_LUA_LIFETIME_RECORD_HANDLE_H

#include "lua/binding.h"
#include "tensor/host/record.h"

#define LA_RECORD_NAME "lunarray.Record"

/* Push the record's userdata, the one there is in this state or a new one,
** which takes a reference. Raises for want of memory. */
void la_push_record_value(lua_State *L, la_record *r);

/* The value at 'arg' is a record: push the list of the tensors of its fields,
** of their bytes where a field has no tensor. False, with nothing pushed, for
** any other value. Raises where the host took the memory away. Called by a
** closure of the state. */
bool la_push_fields(lua_State *L, int arg);

#endif
