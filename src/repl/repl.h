/* Declarations that the files of the program share. */
#ifndef LA_REPL_REPL_H
#define LA_REPL_REPL_H

#include <stdbool.h>

#include <lua.h>

/* ---- interrupt.c: Ctrl-C ---- */

/* Make coroutines and the library's loops stoppable; once per state. */
void repl_interrupt_open(lua_State *L);
/* Ctrl-C raises "interrupted!" from here on in what L runs; until the second
** call it stays raised, whatever catches it. */
void repl_listen(lua_State *L);
void repl_stop_listening(lua_State *L);

/* ---- run_chunk.c: chunks and their errors ---- */

/* Make the library known: preloaded, and as the global 'la'. */
void repl_open(lua_State *L);
void repl_version(void);

/* Call the function below 'nargs' arguments with a traceback handler; Ctrl-C
** interrupts it. A status of Lua's; the message or the results are on top. */
int repl_call(lua_State *L, int nargs, int nresults);
/* These print the error and return false when there is one. */
bool repl_run_string(lua_State *L, const char *code, const char *chunk);
bool repl_run_file(lua_State *L, const char *path);  /* NULL: stdin */
bool repl_require(lua_State *L, const char *module);  /* "g=module" too */
bool repl_run_init(lua_State *L);  /* the code of LUA_INIT, if any */
/* Print the error message on the top of the stack, and pop it. */
void repl_report(lua_State *L);

/* ---- prompt.c: the prompt; true at a regular end of input ---- */
bool repl_prompt(lua_State *L);
/* lunarray kernel ARGS: the kernel of Jupyter (lunarray.kernel). */
bool repl_kernel(lua_State *L, int argc, char **argv);

#endif
