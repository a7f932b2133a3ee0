/*
** Readers of la.load and la.mmap besides .npy, .npz and .safetensors. A reader
** is a row READER(name) of readers.def, here or in a module, and a la_loader
** la_loader_<name>. It pushes what is in the file: nested tables of tensors,
** numbers and texts.
**
** The reader is chosen by the extension; where several share one, and in a
** sandbox, where a name may have none, by what the file begins with.
*/
#ifndef LA_LUA_FILES_LOADER_H
#define LA_LUA_FILES_LOADER_H

#define LA_INTERNAL
#include "lunarray.h"

#include "io/map.h"
#include "io/stream.h"
#include "lua/binding.h"

/* A file that is open, a userdata that is to be closed: a host sees it closed
** when its slot of the stack goes, also by an error that a reader raises. */
typedef struct la_open_file {
    const char *name;       /* of the function: "load", "mmap" */
    const char *path;       /* as it was given; in a sandbox the host's name */
    la_reader in;           /* the bytes; in.memory where they are mapped */
    la_mapping *mapping;    /* la.mmap: tensors may lie there, read-only */
    int options;            /* stack index of a table of the reader's options
                            ** and of "limit" and "metadata", or of nil */
    int64_t limit;          /* bytes that may be made of it; 0: any number */
    la_source source;       /* of the host, to be closed */
} la_open_file;

typedef struct la_loader {
    const char *extensions;         /* without the dot, blanks between */
    const char *const *options;     /* ends with NULL; or NULL: none */
    /* Do the bytes look like such a file? Reads little. LA_EIO as the source
    ** says. */
    la_status (*fits)(const la_reader *in, bool *yes);
    /* Push what the file holds; how many values: 1, and where the option
    ** metadata is set those of la.load. Raises, la_load_check. */
    int (*push)(lua_State *L, la_open_file *file);
} la_loader;

/* Raise the error of 'status' as one of the file: its path stands before what
** is wrong with the bytes. */
void la_load_check(lua_State *L, const la_open_file *file, la_status);
/* Raise an error that lies in the file. 'format' is la_error's. */
void la_load_fail(lua_State *L, const la_open_file *, const char *format, ...)
    __attribute__((format(LA_PRINTF, 3, 4)));
/* The mapping of the file, made by la.load too (in.memory is set). LA_EIO for a
** source of the host, which is read. */
la_status la_load_map(la_open_file *file);
/* Closes the file in a slot of the stack before the slot goes. lua_settop would
** close it, too, but that of Lua 5.4.4 goes on with the stack that was there
** before the call of __close. */
void la_load_close(lua_State *L, int at);
/* Push another file of the same folder, open until la_load_close, with the
** options of 'file', and mapped as that is. Raises for a name with parts of a
** path, for a link, and for what is no file; in a sandbox the host is asked for
** it. */
la_open_file *la_load_sibling(lua_State *L, const la_open_file *file,
                              const char *name, size_t n);

/* ---- for la.load itself ---- */

/* Does a reader have the path's extension? */
bool la_is_loaded(const char *path);
/* Push ".pt, .pth, ..., " : the extensions of all readers. */
const char *la_push_extensions(lua_State *L);
/* Push a file that is not open yet; it is closed when its slot goes. */
la_open_file *la_push_load(lua_State *L, const char *name, const char *path);
/* Open the path, or what the host has of that name, and find its reader; NULL
** where no reader knows it. */
la_status la_load_open(lua_State *L, la_open_file *file, const la_loader **out);
/* Raise for a key of the table at 'at' (nil or nothing will do) that is no
** option of the reader, "metadata" or "limit"; NULL: of no reader. */
void la_check_load_options(lua_State *L, int at, const la_loader *reader,
                           const char *name);

#endif
