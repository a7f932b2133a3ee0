/*
** Structs of lunarray.h that begin with their size.
**
** A host may have been compiled with an older or a newer header. Its struct is
** read into one of ours: what a shorter one lacks is zero; what a longer one
** has more must be zero, or it asks for something that is not known here.
** 'function' begins the texts of errors, 'type' is the struct's name.
*/
#ifndef LA_API_API_STRUCT_H
#define LA_API_API_STRUCT_H

#include <stddef.h>

#include "base/status.h"
#include "io/stream.h"

/* *out = *in, with the 'known' bytes of ours as its size. NULL for 'in' gives
** zeros. LA_EARG as above, and for a size of 0, one without the field itself or
** one that no struct has. *out is set in any case, to zeros where size tells
** nothing: what the host gave with it to be released must be. */
la_status la_struct_read(const char *function, const char *type, const void *in,
                         void *out, size_t known);
#define LA_READ_STRUCT(function, type, in, out) \
    la_struct_read(function, #type, 1 ? (in) : (const type *)0, \
                   1 ? (out) : (type *)0, sizeof(type))

/* The other way: *out, whose size the host has set, gets as much of *in as it
** can take. LA_EARG in the same cases and for NULL. */
la_status la_struct_write(const char *function, const char *type,
                          const void *in, void *out, size_t known);
#define LA_WRITE_STRUCT(function, type, in, out) \
    la_struct_write(function, #type, 1 ? (in) : (const type *)0, \
                    1 ? (out) : (type *)0, sizeof(type))

/* The host's source, read as a struct, and a reader on it, which borrows *out.
** la_source_close(out) is due in any case: *out is zero where nothing has to be
** closed. LA_EARG. */
la_status la_source_read(const char *function, const la_source *source,
                         la_source *out, la_reader *in);

#endif
