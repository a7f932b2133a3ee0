/*
** Files of tensors, for scripts (io.c) and hosts (api_io.c): formats, and an
** archive from or to whatever has bytes. An .npy is an archive of one tensor
** with the empty name. Nothing here calls Lua.
*/
#ifndef LA_API_FILES_H
#define LA_API_FILES_H

#include "io/archive.h"
#include "op/value.h"

typedef enum la_file_format {
    LA_FILE_NPY, LA_FILE_NPZ, LA_FILE_SAFETENSORS, LA_FILE_UNKNOWN
} la_file_format;

/* Format by the extension of a path, by a word without a dot, by the first
** bytes. */
la_file_format la_file_format_of(const char *path);
la_file_format la_file_format_named(const char *word);
la_status la_file_format_inside(const la_reader *, la_file_format *out);

/* Everything in it. LA_EIO; what was read until then stays the archive's. */
la_status la_file_read(const la_reader *, la_file_format, la_archive *out);
la_status la_file_load(const char *path, la_file_format, la_archive *out);
/* The values of 't', as files hold them, join the archive. LA_ESTATE for a
** tensor without values. */
la_status la_file_add(la_archive *, const char *name, size_t n, la_tensor *t);
/* LA_EARG for an .npy of more or fewer than one tensor. */
la_status la_file_write(la_archive *, la_file_format, la_writer *);
la_status la_file_save(la_archive *, const char *path, la_file_format);

#endif
