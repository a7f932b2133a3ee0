/* A file of Torch7 while its values are made; torch7.c and tensors.c. */
#ifndef LA_TORCH7_TORCH7_H
#define LA_TORCH7_TORCH7_H

#include "lua/binding.h"
#include "lua/files/loader.h"
#include "modules/torch7/io/cursor.h"

enum { LA_TORCH7_PATH = 600 };

typedef struct la_torch7 {
    lua_State *L;
    const la_open_file *file;
    la_open_file shown;         /* its name and path: what an error closes */
    int objects, skipped;       /* indices of tables, torch7.c */
    int depth;
    bool unused;                /* inside of a function: nothing is kept */
    size_t path_n;
    char path[LA_TORCH7_PATH];  /* the keys that lead to the value */
    la_cursor cursor;
} la_torch7;

/* Raise: the path of keys, the byte, what is wrong. */
void la_torch7_check(la_torch7 *, la_status);
void la_torch7_fail(la_torch7 *, const char *what);
/* Push the next value of the file. */
void la_torch7_push(la_torch7 *);
/* Push a tensor or a storage of the class, of which the name is read; what is
** known by its index, and what is a value, are two things for a storage: a box
** and a tensor. False for another class. */
bool la_torch7_push_tensor(la_torch7 *, const char *class_name, size_t n);
/* The box on the top is replaced by a tensor of all elements. */
void la_torch7_open_box(la_torch7 *);

#endif
