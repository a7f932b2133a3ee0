/*
** Tensors by name: what .npz and .safetensors hold.
*/
#ifndef LA_IO_ARCHIVE_H
#define LA_IO_ARCHIVE_H

#include "io/map.h"
#include "io/source.h"
#include "tensor/tensor.h"

typedef struct la_entry {
    char *name;             /* owned, of la_mem_alloc(n + 1); NUL behind it */
    size_t n;               /* may hold any bytes */
    la_tensor *tensor;      /* owned */
} la_entry;

typedef struct la_archive {
    la_entry *list;
    int64_t n, capacity;
} la_archive;

/* Copies the name and takes the tensor over, also when this fails. */
la_status la_archive_add(la_archive *, const char *name, size_t n,
                         la_tensor *owned);
void la_archive_free(la_archive *);
#define LA_ARCHIVE __attribute__((cleanup(la_archive_free))) la_archive
/* By name, bytewise. LA_EIO when a name is there twice. */
la_status la_archive_sort(la_archive *);

/* Everything in the file; the archive is filled as far as it went. */
la_status la_npz_read(const la_source *, la_archive *out);
la_status la_safetensors_read(const la_source *, la_archive *out);

/* The tensors lie in the mapping. */
la_status la_safetensors_map(const la_source *, la_mapping *,
                             la_archive *out);

/* Tensors are contiguous, without bits. Sorts the archive. */
la_status la_npz_write(la_archive *, la_sink *);
la_status la_safetensors_write(la_archive *, la_sink *);

#endif
