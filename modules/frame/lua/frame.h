/*
** What the functions in C of la.frame share.
**
** They work on plain columns: contiguous tensors of one dim, of the dtypes that
** the engine reads (modules/frame/frame.h), next to a letter for the kind: "n"
** numbers, "t" codes of text, "d" dates. The modules in Lua bring columns to
** that form. Scripts could call these functions with anything, so ids and rows
** are checked here, too.
*/
#ifndef LA_MODULES_FRAME_LUA_FRAME_H
#define LA_MODULES_FRAME_LUA_FRAME_H

#include "lua/binding.h"
#include "modules/frame/frame.h"

/* The column at 'arg' of the kind's letter; raises for other tensors. */
la_table_column la_table_arg(lua_State *L, int arg, char kind,
                             const char *name);
/* Elements of a contiguous tensor of one dim and that dtype at 'arg'; NULL for
** nil, where 'n' stays; *n is set. */
const void *la_table_array(lua_State *L, int arg, la_dtype, int64_t *n,
                           const char *name);
/* Ids at 'arg' (or nil: NULL) for n rows, below 'count'. */
const int32_t *la_table_ids(lua_State *L, int arg, int64_t n, int64_t count,
                            const char *name);
/* Rows at 'arg' and offsets behind it, or two nils; for n rows. */
la_table_parts la_table_parts_arg(lua_State *L, int arg, int64_t n,
                                  const char *name);
/* A number of groups; raises for what is none. */
int64_t la_table_count_arg(lua_State *L, int arg, const char *name);
/* Push a new column; its elements. May run finalizers: take the arguments'
** elements afterwards. */
void *la_table_push(lua_State *L, la_state *s, la_dtype, int64_t n,
                    const char *name);
/* The kind's letter in the string at 'arg'. */
char la_table_letter(lua_State *L, int arg);
/* Index in the list of the word at 'arg'; raises for others. */
int la_table_word(lua_State *L, int arg, const char *const *words, int n,
                  const char *name);

extern const luaL_Reg la_table_group_functions[], la_table_row_functions[],
    la_table_date_functions[], la_table_text_functions[];
int la_read_jsonl(lua_State *L);
int la_write_jsonl(lua_State *L);

#endif
