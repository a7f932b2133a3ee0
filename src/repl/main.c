/*
** The program `lunarray`: stock Lua with the library inside.
**
**   lunarray [options] [script [args]]
**
** Options are those of `lua`: -e code, -l module, -i, -v, -E, -W, - and --, and
** LUA_INIT is run first; there are --help and --version too. Without a script:
** the prompt on a terminal, else the script comes from standard input.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "repl/repl.h"

/* The options of the program lua, which scripts and users know, and ours. */
static void usage(FILE *to)
{
    fputs("usage: lunarray [options] [script [args]]\n"
          "  -e stat       run the string 'stat'\n"
          "  -i            the prompt, after the script\n"
          "  -l mod        require 'mod' into the global 'mod'\n"
          "  -l g=mod      require 'mod' into the global 'g'\n"
          "  -v, --version show the version\n"
          "  -E            ignore environment variables\n"
          "  -W            turn on warnings\n"
          "  -h, --help    show this\n"
          "  --mpi-info    what MPI gives (under mpirun: each rank)\n"
          "  --            stop handling options\n"
          "  -             run standard input\n"
          "  kernel install  make Jupyter know lunarray (kernel --help)\n"
          "Without a script: the prompt (:help there), or standard input.\n",
          to);
}

/* The options, as read once from the command line. */
typedef struct options {
    int script;             /* index of the script's name; argc for none */
    bool prompt, version, ignore_env, warnings, stdin_script, mpi_info, help;
} options;

/* False when an option is unknown; 'bad' is its index then. */
static bool parse_options(int argc, char **argv, options *o, int *bad)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *a = argv[i];
        *bad = i;
        if (!a[1]) {
            o->stdin_script = true;
            break;
        }
        if (!strcmp(a, "--")) {
            i++;
            break;
        }
        if (!strcmp(a, "--mpi-info")) o->mpi_info = true;
        else if (!strcmp(a, "-i")) o->prompt = true;
        else if (!strcmp(a, "-v") || !strcmp(a, "--version"))
            o->version = true;
        else if (!strcmp(a, "-h") || !strcmp(a, "--help")) o->help = true;
        else if (!strcmp(a, "-E")) o->ignore_env = true;
        else if (!strcmp(a, "-W")) o->warnings = true;
        else if (a[1] != 'e' && a[1] != 'l') return false;
        else if (!a[2] && ++i >= argc) return false;
    }
    o->script = i;
    return true;
}

/* -e and -l in their order. */
static bool run_options(lua_State *L, char **argv, int script, bool *any)
{
    for (int i = 1; i < script; i++) {
        char kind = argv[i][0] == '-' ? argv[i][1] : 0;
        if (kind != 'e' && kind != 'l') continue;
        const char *text = argv[i][2] ? argv[i] + 2 : argv[++i];
        *any |= kind == 'e';
        if (!(kind == 'e' ? repl_run_string(L, text, "=(command line)")
                          : repl_require(L, text)))
            return false;
    }
    return true;
}

/* The global 'arg', as lua has it. */
static void set_arg(lua_State *L, int argc, char **argv, int script)
{
    int zero = script < argc ? script : 0;
    lua_createtable(L, argc - zero, zero);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - zero);
    }
    lua_setglobal(L, "arg");
}

typedef struct call {
    int argc;
    char **argv;
    int status;
} call;

#define MPI_INFO "local mpi = require 'lunarray.mpi' local text = mpi.info() " \
    "if mpi.rank == 1 then print(text) end"

/* The word "kernel", unless a script has that name. */
static bool is_kernel(const char *word)
{
    return !strcmp(word, "kernel") && access(word, F_OK) != 0;
}

/* The order of the program lua: -e and -l as they come, the script, then a
** prompt if it is asked for or nothing else was. False after the first error,
** which has been reported. */
static bool run_all(lua_State *L, const call *c, const options *o)
{
    bool any = false, has_script = o->script < c->argc;
    if (!o->ignore_env && !repl_run_init(L)) return false;
    if (!run_options(L, c->argv, o->script, &any)) return false;
    if (o->mpi_info) return repl_run_string(L, MPI_INFO, "=--mpi-info");
    if (has_script && !o->stdin_script && is_kernel(c->argv[o->script]))
        return repl_kernel(L, c->argc - o->script - 1,
                           c->argv + o->script + 1);
    if (has_script) {
        const char *name = o->stdin_script ? NULL : c->argv[o->script];
        if (!repl_run_file(L, name)) return false;
    }
    if (o->prompt || (!has_script && !any && !o->version && isatty(0)))
        return repl_prompt(L);
    if (!has_script && !any && !o->version) return repl_run_file(L, NULL);
    return true;
}

/* All that may raise; the exit status goes to the light userdata at 1. */
static int protected_main(lua_State *L)
{
    call *c = lua_touserdata(L, 1);
    options o = {0};
    int bad = 0;
    luaL_checkversion(L);
    if (!parse_options(c->argc, c->argv, &o, &bad)) {
        const char *option = c->argv[bad];
        bool alone = !strcmp(option, "-e") || !strcmp(option, "-l");
        fprintf(stderr, alone ? "lunarray: '%s' needs argument\n"
                              : "lunarray: unrecognized option '%s'\n", option);
        usage(stderr);
        return 0;
    }
    if (o.help) {
        usage(stdout);
        c->status = EXIT_SUCCESS;
        return 0;
    }
    if (o.version) repl_version();
    if (o.ignore_env) {
        lua_pushboolean(L, 1);
        lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    }
    luaL_openlibs(L);
    repl_open(L);
    set_arg(L, c->argc, c->argv, o.script);
    lua_warning(L, o.warnings ? "@on" : "@off", 0);
    lua_gc(L, LUA_GCGEN, 0, 0);
    if (run_all(L, c, &o)) c->status = EXIT_SUCCESS;
    return 0;
}

/* All that may raise runs protected. Output that could not be flushed counts as
** a failure, or a full disk would go unseen. */
int main(int argc, char **argv)
{
    lua_State *L = luaL_newstate();
    if (!L) {
        fputs("lunarray: not enough memory\n", stderr);
        return EXIT_FAILURE;
    }
    call c = {argc, argv, EXIT_FAILURE};
    lua_pushcfunction(L, protected_main);
    lua_pushlightuserdata(L, &c);
    if (lua_pcall(L, 1, 0, 0)) repl_report(L);
    lua_close(L);
    if (fflush(stdout)) return EXIT_FAILURE;
    return c.status;
}
