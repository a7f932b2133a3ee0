/* Declarations that la.read_csv and la.write_csv share. */
#ifndef LA_LUA_FILES_CSV_H
#define LA_LUA_FILES_CSV_H

#include "modules/csv/io/csv.h"
#include "lua/binding.h"

/* Texts that stand for no value unless {na=} has others. */
enum { LA_CSV_GAPS = 5 };
extern const char *const la_csv_gaps[LA_CSV_GAPS];

/* The table of options at 'at', the last argument, made when there is none.
** Raises for others and for keys that are not in the NULL-ended list. */
void la_csv_options(lua_State *L, int at, const char *const *known,
                    const char *name);
/* {header=}: true unless it is false. Raises for other types. */
bool la_csv_header(lua_State *L, int at, const char *name);
/* {sep=}: one byte, "," unless given. Raises for what the grammar needs. */
char la_csv_separator(lua_State *L, int at, const char *name);

/* The functions. */
int la_read_csv(lua_State *L);
int la_write_csv(lua_State *L);

#endif
