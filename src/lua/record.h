/* Records in Lua (record.c) for the public functions on them. */
#ifndef LA_LUA_RECORD_H
#define LA_LUA_RECORD_H

#include "lua/binding.h"
#include "tensor/record.h"

#define LA_RECORD_NAME "lunarray.Record"

/* Push the record's userdata, the one there is in this state or a new one,
** which takes a reference. Raises for want of memory. */
void la_push_record_value(lua_State *L, la_record *r);

#endif
